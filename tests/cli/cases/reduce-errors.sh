# SPDX-License-Identifier: MIT
# Axes, identities, arguments and code that do not fit.
. "$CASE_LIB"
sum() {
    try quern reduce 'T x' 'T y' x 'a + b' 'y = a' 0 "$@" --quiet
}
x=arange:int64:2x3
sum
sum x=$x --axis=2
sum x=$x --axis=-3
sum x=$x --axis=1,1
sum x=$x --axis=1,-1
sum x=$x --axis=0,x
sum x=$x --axis=
sum x=$x --axis=99999999999
sum x=$x --axis=0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0
sum x=$x y=zeros:int64:3 --axis=1
sum x=$x y=zeros:int32:2 --axis=1
sum x=2
echo '-- nothing to reduce'
try quern reduce 'T x' 'T y' x 'max(a, b)' 'y = a' '' x=zeros:int64:0 --quiet
try quern reduce 'T x' 'T y' x 'max(a, b)' 'y = a' '' x=zeros:int64:3x0 --axis=1 --quiet
try quern reduce 'T x' 'T y' x 'max(a, b)' 'y = a' '' x=zeros:int64:3x0 --axis=0
echo '-- code'
try quern reduce 'T x' 'T y' x 'a + b' 'y = a'
try quern reduce 'T x' 'T y' x 'a + b' 'y = a' x=$x
try quern reduce 'T x' 'T y' 'x==4' 'a + b' 'y = a' 0 x=$x
try quern reduce 'T x' 'T y' x 'a + b' 'y = a' 0 --keepdim
try quern reduce 'T x, T a' 'T y' 'x' 'a + b' 'y = a' 0 x=$x a=1 --quiet
try quern reduce 'T x' 'T y' '' 'a + b' 'y = a' 0 x=$x --quiet
try quern reduce 'T x' 'T y' x 'a + c' 'y = a' 0 x=$x --quiet | sed 4q
try quern reduce 'T x' 'T y' 'x * w' 'a + b' 'y = a' 0 x=$x --quiet | sed 4q
try quern reduce 'T x' 'T y' x 'a + b' 'y = z' 0 x=$x --quiet | sed 4q
try quern reduce 'T x' 'T y' x 'a + b' 'y = a' none x=$x --quiet | sed 4q
try quern reduce 'T x' 'T y' x 'a + b' 'y = a' 0 x=$x --reduce-type=nothing --quiet | sed 4q
try quern reduce 'T x' 'T y' x 'a + b' 'y = a' 0 x=$x --preamble 'int f(' --quiet | sed 4q
