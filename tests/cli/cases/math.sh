# SPDX-License-Identifier: MIT
#
# Mathematical functions of integers, where tests/table/functions.c does not look: in every text, beside
# functions of a preamble's own, and beside libcu++'s.
. "$CASE_LIB"
try quern elementwise 'int x' 'float y' 'y = 1 + sqrt(x)' x=arange:int32:5
try quern elementwise 'T x' 'double y' 'y = pow(x, 2) + sqrt(i)' x=arange:uint8:3
try quern elementwise 'T x' 'double y' 'y = half_of(x)' x=arange:int64:3 \
    --preamble '__device__ double half_of(int v) { return sqrt(v) / 2; }'
try quern elementwise 'T x' 'double y' 'y = F(x)' x=arange:int64:3 --option=-DF=sqrt
try quern reduce 'T x' 'double y' 'sqrt(x)' 'fmax(a, b)' 'y = floor(a)' 'floor(0)' x=arange:int32:10
try quern scan 'T x' 'double y' 'fabs(x)' 'a + b' 'y = hypot(a, 0)' '' x=arange:int16:4

# The preamble's own functions come first, templates too.
try quern elementwise 'int x' 'float y' 'y = sqrt(x)' x=arange:int32:3 \
    --preamble '__device__ float sqrt(int v) { return v + 70; }'
try quern elementwise 'int x' 'float y' 'y = sqrt(x)' x=arange:int32:3 \
    --preamble 'template <typename T> __device__ T sqrt(T v) { return v + 70; }'
try quern elementwise 'int x, double w' 'double y' 'y = hypot(x, w)' x=arange:int32:3 w=ones:float64:3 \
    --preamble 'template <typename A, typename B> __device__ A hypot(A a, B b) { return a + 70; }'
try quern elementwise 'int x, complex64 z' 'complex64 y' 'y = sqrt(x) + sqrt(z) + pow(z, x) + abs(z)' x=ones:int32:2 \
    z=ones:complex64:2
try quern elementwise 'float x' 'float y' 'float y0 = x, exp2 = 2; y = y0 * exp2' x=ones:float32:2
