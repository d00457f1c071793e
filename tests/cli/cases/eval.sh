# SPDX-License-Identifier: MIT
# Expressions: types come from the values, and operations have NumPy's meaning.
. "$CASE_LIB"
try quern eval 'sqrt(x*x + y*y)' x=arange:int8:5 y=2
try quern eval 'x / 2' x=arange:int32:4
try quern eval 'x % 3 - 7 // 2' x=arange:int16:-5:5
try quern eval 'clip(x / 2, low, 1) > 0.5 ? x : -x' x=arange:int16:5 low=0.25
try quern eval 'x + a' x=1 a=float16:1
try quern eval 'x * a' x=ones:float32:3 a=2.5
try quern eval 'x * a' x=ones:float32:3 a=float64:2.5
try quern eval 'x < 300' x=arange:uint8:3
try quern eval 'a ** 10 + b' a=2 b=0.5
try quern eval 'x' x=2 --dtype=float16

# files: the result has the dtype that follows from theirs
try quern eval 'x + 1' x=arange:uint8:2x3 result=r.npy
try quern eval 'x - y' x=r.npy 'y=r.npy.T[:1, :1]'
try quern eval 'x * 1000' x=zeros:float64:3 result=zeros:float32:3:-
printf 'x +\n  offset\n' >text
try quern eval @text x=r.npy offset=0.5 result=-
try quern eval 'x + 1' x=arange:float32:3 --explain | sed '/^registers/d; s/^\(key\|target\|image\|occupancy\).*/\1 .../'

# what is wrong, with its place
try quern eval 'x + yy' x=2 y=3
try quern eval 'sqroot(x)' x=2.0
try quern eval 'x + 300' x=arange:uint8:3
try quern eval 'x + a' x=arange:uint8:3 a=300
try quern eval 'x & 1.5' x=1
try quern eval 'x +' x=1
try quern eval @text x=r.npy
try quern eval '1 + 1'
try quern eval 'x'
try quern eval 'x' x=1 y=2
try quern eval 'x' x=1 x=2
try quern eval 'x' 2x=1
try quern eval 'x' x
try quern eval 'x' x=1 --dtype=float31
try quern eval 'x' x=1 result=2
try quern eval
