# SPDX-License-Identifier: MIT
# Running sums and extremes along an axis, and what POST may do with them.
. "$CASE_LIB"
sum() {
    quern scan 'T x' 'T y' x 'a + b' 'y = a' 0 "$@"
}
sum x=arange:int64:10
sum x=arange:int64:10 --exclusive
sum x=arange:int64:3x4
sum x=arange:int64:3x4 --axis=0
sum x=arange:int64:3x4 --axis=-1 --exclusive
sum x=arange:int64:3x4.T --axis=1
sum 'x=arange:int64:10[::-1]' 'y=zeros:int64:10[::-1]:-'
sum x=arange:int64:6 y=y.npy
copy x=y.npy
sum x=zeros:int64:0
sum x=zeros:int64:2x0 --axis=0
sum x=ones:int32:100000 'y=zeros:int32:100000:y.npy'
copy 'x=y.npy[::9999]'
echo '-- operators, types'
quern scan 'T x' 'T y' x 'max(a, b)' 'y = a' '' 'x=arange:float32:6[::-1]'
quern scan 'T x' 'T y' x 'a * 10 + b' 'y = a' '' 'x=arange:int64:6[1:2]'
quern scan 'T x' 'T y' x 'a + b' 'y = a' 100 x=ones:int32:4
quern scan 'int8 x' 'int64 y' x 'a + b' 'y = a' '' x=ones:int8:300 y=y.npy
copy 'x=y.npy[-3:]'
quern scan 'int8 x' 'bool y' x 'a + b' 'y = a > 2' '' x=ones:int8:5 --scan-type=int
quern scan 'T x, T k' 'T y, T z' 'x * k' 'a + b' 'y = a; z = x' '' x=arange:float64:4 k=0.5
quern scan 'int32 x' 'raw int32 kept' 'x % 3 == 0' 'a + b' 'if (x % 3 == 0) kept[a - 1] = x' '' \
    x=arange:int32:10 kept=zeros:int32:4:-
quern scan 'raw T w' 'T y' 'w[_J % 2] * _J' 'a + b' 'y = a' '' w=arange:int64:2 --size=6
quern scan 'T x' 'T y' 'x * N' 'a + b' 'y = a' '' x=ones:int32:4 --option=-DN=7
