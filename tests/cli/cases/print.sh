# SPDX-License-Identifier: MIT
# Arrays are printed as NumPy 2.4 prints them.
. "$CASE_LIB"
for dtype in bool int8 uint64 float16 bfloat16 float32 float64 complex64 complex128; do
    copy "x=arange:$dtype:2x3"
done
copy x=arange:int32:1001
copy x=arange:int64:40x30
copy x=arange:float32:2x2x2
copy x=arange:uint8:300
copy x=zeros:float64:0
copy x=zeros:float64:3x0x2
copy 'x=ones:float32:()'
copy 'x=ones:int16:()'
copy 'x=ones:bool:()'
copy 'x=ones:complex64:()'
f() {
    quern elementwise 'int32 k' "$1 y" "y = $2" "k=arange:int32:$3"
}
f float64 'k / 10.0' 5
f float32 'k * 1e-5f' 4
f float32 'k * 12345.678f' 4
f float64 '1.0 / k' 4
f float64 '-1.0 / (k - 1)' 3
f float64 'k == 1 ? 0.0 / 0.0 : k' 3
f float64 '-k * 1e300' 3
f float64 'k * 5e-324' 3
f float32 '-0.0f * k' 3
f float32 '16777216.f + 2 * k' 3
f float64 '1e8 * k' 3
f float64 'k * 0.1 + 100' 12
f complex64 'complex<float>(k, -k)' 3
f complex128 'complex<double>(0.5 * k, 1e-7)' 3
f int64 '-9223372036854775807LL - 1 + k' 2
g() {
    quern elementwise "$1 x" "$1 y" "y = $2" "x=ones:$1:()"
}
g float64 'x * 3 * 0.1'
g float64 'x * 1e16'
g float32 'x * 0.1f'
g float16 'x * float16(0.1f)'
g complex128 'x * complex<double>(1, -2.5)'
g complex128 'x * complex<double>(0, 2)'
