# SPDX-License-Identifier: MIT
# Sums, norms and extremes, along all kinds of axes.
. "$CASE_LIB"
sum() {
    quern reduce 'T x' 'T y' x 'a + b' 'y = a' 0 "$@"
}
x=arange:int64:2x3x4
sum x=$x
sum x=$x --axis=0
sum x=$x --axis=1,2
sum x=$x --axis -1,0
sum x=$x --axis=2 --keepdims
sum x=$x --keepdims
sum x=$x.T --axis=0
sum "x=${x}[::-1, 1:, ::2]" --axis=1
sum x=arange:int64:5 y=y.npy
copy x=y.npy
sum x=arange:int64:2x3 'y=zeros:int64:4[::2]:-' --axis=1
sum x=zeros:float32:0x3 --axis=0
sum x=zeros:float32:0x3 --axis=1
echo '-- identity, types'
quern reduce 'T x' 'T y' x 'a + b' 'y = a' 100 x=ones:int32:1000
quern reduce 'T x' 'T y' '-x - 5' 'max(a, b)' 'y = a' '' x=arange:float32:1000
quern reduce 'T x' 'T y' '-x - 5' 'max(a, b)' 'y = a' -1e30f x=arange:float32:1000
quern reduce 'int8 x' 'int8 y' x 'a + b' 'y = a > 1000' 0 x=ones:int8:2000 --reduce-type=int
quern reduce 'T x' 'bool any, int64 count' 'x > 2' 'a + b' 'any = a > 0; count = a' 0 \
    --reduce-type='long long' x=arange:int32:8
quern reduce 'T x, T w, T k' 'T y' 'x * w' 'a + b' 'y = a * k' 0 x=arange:float64:2x3 \
    w=ones:float64:3 k=0.5 --axis=1
echo '-- positions, statements, order'
quern reduce 'float32 x' 'float32 y, int64 at' 'pair{x, _J}' 'a.v >= b.v ? a : b' \
    'y = a.v; at = a.at' '' --preamble 'struct pair { float v; long long at; };' \
    --reduce-type=pair 'x=arange:float32:3x4[::-1]' --axis=0
quern reduce 'T x' 'T y' 'if (x % 2) return x; return 0;' 'T s = a + b; return s;' 'y = a' 0 \
    x=arange:int64:10
quern reduce 'int64 x' 'int64 y' x 'a * 10 + b' 'y = a' '' 'x=arange:int64:10[1:2]' --ordered
quern reduce 'raw T w' 'T y' 'w[_J % 2] * _J' 'a + b' 'y = a' 0 w=arange:int64:2 --size=10
quern reduce 'T x' 'T y' 'x * SCALE' 'a + b' 'y = a' 0 x=ones:int32:4 --option=-DSCALE=7
quern reduce 'T x' 'T y' 'x * SCALE' 'a + b' 'y = a' 0 x=ones:int32:4 --options '-DA -DSCALE=3'
