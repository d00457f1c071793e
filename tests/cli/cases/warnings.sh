# SPDX-License-Identifier: MIT
# What the compiler warns of, at its place, each run; outputs that nobody assigns.
. "$CASE_LIB"
e() {
    try quern elementwise 'T x' 'T y' "$@" x=arange:int32:3
}
echo '-- warnings: compiled, and from the cache'
e 'x * 2; y = x'
e 'x * 2; y = x'
e 'x * 2; y = x' --quiet
e 'y = x;
int unused;' --preamble '#define N 3' --explain | sed '/^-> \|warning/!d'
try quern reduce 'T x' 'T y' 'int u; return x;' 'a + b' 'y = a' 0 x=arange:int32:3
try quern reduce 'T x' 'float64 y' 'x' 'a + b' 'y = a' 0 x=arange:int32:3 --reduce-type 'struct { double v; }' \
    --preamble '' | sed 4q
cat >k.cu <<'END'
extern "C" __global__ void k(int *x)
{
    int unused;
    *x + 1;
    *x = 3;
}
END
try quern raw k.cu --kernel k --grid 1 --block 1 ones:int32:1:-
try quern raw k.cu --kernel k --grid 1 --block 1 ones:int32:1:-
try quern raw k.cu --kernel k --grid 1 --block 1 ones:int32:1 --quiet
mkdir d
cp k.cu d
try quern raw d/k.cu --kernel k --grid 1 --block 1 ones:int32:1:- # the same image
echo '-- outputs that are never assigned'
e 'x * 2'
e ''
e 'y == 2'
e 'x * 2' --preamble '__device__ int f(int x) { return x; }'
echo '#define N 1' >ok.h
e 'x * 2' --preamble '#include "ok.h"' --option=-I.
try quern reduce 'T x' 'T y' x 'a + b' 'a' 0 x=arange:int32:3
try quern scan 'T x' 'T y, T z' x 'a + b' 'y = a' 0 x=arange:int32:3 z=zeros:int32:3:-
try quern elementwise 'T x' 'T y, T z' '-y' x=arange:int32:3
echo '-- outputs that are'
e 'f(x, y)' --preamble '__device__ void f(int x, int &y) { y = x; }'
e 'f(x, y)' --preamble '#define f(a, b) b = a'
e 'SET' --preamble '#define SET y = x'
e 'SET' --option=-DSET='y=x'
echo '#define SET y = x' >set.h
e 'SET' --preamble '#include "set.h"' --option=-I.
e 'T *p = &y; *p = x'
e 'auto &&r = y; r = x'
e 'T &r(y); r = x'
e 'auto f = [](T &v) { v = 3; }; f(y)'
e 'if (x > 1) y = x; else y = 5'
echo '-- an input that reduce and post hide'
try quern reduce 'T x, T a' 'T y' 'x' 'a + b' 'y = a' 0 x=arange:int32:3 a=2
try quern reduce 'T a, T b' 'T y' 'a * b' 'a + b' 'y = a' 0 a=arange:int32:3 b=2
