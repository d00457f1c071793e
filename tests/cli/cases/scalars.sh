# SPDX-License-Identifier: MIT
# Numbers take the type of their parameter, or the one that is stated.
. "$CASE_LIB"
show() {
    quern elementwise "$1 a" "$1 y" 'y = a' "a=$2" --size 1
}
show int32 0x10
show int32 -7
show int64 -9223372036854775808
show uint64 18446744073709551615
show float32 2.5
show float64 1e-3
show float64 .5
show float64 -inf
show float64 nan
show float32 3
show bool true
show bool False
show complex64 1+2j
show complex128 -1.5e3-2.5e-1j
show complex64 2
show T float16:0.1
show T int8:-128
show T complex128:1-2j
show T uint64:0xffffffffffffffff
show T 7
show T 7.5
show T true
show T 1j
show int32 2.0
show uint8 2.55e2
show T int8:-1.28e2
show T bool:2
show bool 0.5
show float16 65519
show float32 inf
show complex64 -infj
try quern elementwise '' 'float32 y' 'y = 1'
show int32 0.5 2>&1
show int8 -128.5 2>&1
quern elementwise 'int8 a, int8 b, int8 c' 'int32 x' 'x = a + b + c' a=1.5 b=2 c=2.5 \
    x=zeros:int32:1:- 2>&1
for wrong in 'int64 nan' 'float16 70000' 'float16 float32:7e4' \
    'float32 -1e39' 'bfloat16 3.4e38' 'complex64 1e39j' 'bool 1+2j' 'float64 0j'; do
    try show ${wrong% *} ${wrong#* }
done
try quern elementwise 'uint8 a' 'uint8 y' 'y = a' a=300 --size 1
