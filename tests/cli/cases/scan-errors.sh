# SPDX-License-Identifier: MIT
# Axes, identities and arguments that do not fit.
. "$CASE_LIB"
sum() {
    try quern scan 'T x' 'T y' x 'a + b' 'y = a' "$@" --quiet
}
x=arange:int64:2x3
sum 0
sum 0 x=$x --axis=2
sum 0 x=$x --axis=-3
sum 0 x=$x --axis=0,1
sum '' x=$x --axis=1 --exclusive
sum 0 x=$x y=zeros:int64:2 --axis=1
sum 0 x=7
try quern scan 'T x' 'T y' x 'a + b' 'y = a'
try quern scan 'T x' 'T y' x 'a + b' 'y = a' x=$x
try quern scan 'T x' 'T y' x 'a + b' 'y = a' 0 x=$x --keepdims
try quern scan 'T x' 'T y' x '' 'y = a' 0 x=$x
try quern scan 'T x' 'T y' x 'a + c' 'y = a' 0 x=$x | sed 4q
try quern scan 'T x' 'T y' x 'a + b' 'y = a' none x=$x | sed 4q
try quern scan 'T x' 'T y' x 'a + b' 'y = a' 0 x=$x --scan-type=nothing | sed 4q
