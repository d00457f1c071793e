# SPDX-License-Identifier: MIT
. "$CASE_LIB"
add() {
    try quern elementwise 'T x, T y' 'T z' 'z = x + y' "$@" --quiet
}
add x=ones:float32:3x4 y=ones:float32:3
add x=ones:float32:3 y=ones:float64:3
add x=ones:float32:3 y=ones:float32:3 z=zeros:float32:4
add x=ones:float32:3 y=ones:float32:3 z=zeros:int32:3
try quern elementwise 'float32 x' 'float32 y' 'y = x' x=ones:int64:3 --quiet
try quern elementwise 'T x' 'T y' 'y = x' x=ones:float32:3 --size 5 --quiet
try quern elementwise '' 'raw float32 y' 'y[i] = i' y=zeros:float32:3 --quiet
