# SPDX-License-Identifier: MIT
# The place in the snippet, not in the generated source.
. "$CASE_LIB"
try quern elementwise 'float32 x' 'float32 y' 'y = x;
y = undeclared(x);' x=ones:float32:2 | sed 4q
try quern elementwise 'float32 x' 'float32 y' 'y = undeclared' x=ones:float32:2 --show-source |
    grep -c 'y = undeclared' >count
[ "$(cat count)" -ge 1 ] && echo shown
quern elementwise 'float32 x' 'float32 y' 'y = undeclared' x=ones:float32:2 y=o.npy >/dev/null 2>&1
echo "-> $?"
ls o.npy 2>/dev/null
true

echo '-- messages of several lines: place, types, candidates'
cat >h.h <<'E'
__device__ float h(float *);
__device__ float h(const char *);
E
e() {
    try quern elementwise 'float32 x' 'float32 y' "$@" x=ones:float32:2
}
e 'y = 1 + h(x)' --preamble '#include "h.h"' --option=-I.
e 'y = A() * x' --preamble 'struct A {};
__device__ int operator*(A, A);'
e 'y = g(0)' --preamble 'template <class T> __device__ T g(T x)
{
    return x->y;
}'

echo '-- which text ends too early'
for open in 'namespace a {' '__device__ int f() { return 1;' '/* ' '#if 1' 'struct A {}' 'R"(' \
    'template <class T>' '#define M(x) x \'; do
    e 'y = x' --preamble "$open"
done
e 'y = x +'
e 'y = x; }'
e 'y = x' --loop-prep 'float p ='
e 'y = x' --after-loop 'printf('
for text in 'a +' '-'; do
    try quern reduce 'T x' 'T y' "$text" 'a + b' 'y = a' 0 x=arange:int32:9
    try quern reduce 'T x' 'T y' x "$text" 'y = a' 0 x=arange:int32:9
    try quern reduce 'T x' 'T y' x 'a + b' "y = $text" 0 x=arange:int32:9
    try quern reduce 'T x' 'T y' x 'a + b' 'y = a' "1 $text" x=arange:int32:9
    try quern scan 'T x' 'T y' x "$text" 'y = a' 0 x=arange:int32:9
    try quern scan 'T x' 'T y' x 'a + b' 'y = a' "1 $text" x=arange:int32:9
done
try quern reduce 'T x' 'T y' 'x;' 'a + b' 'y = a' 0 x=arange:int32:9
try quern scan 'T x' 'T y' 'x' 'a + b;' 'y = a' 0 x=arange:int32:9

echo '-- headers of the user'
mkdir inc
echo '#include "bad.h"' >inc/mid.h
printf '// a header\n__device__ int a() { return zz; }\n' >inc/bad.h
e 'y = x' --preamble '
#include "mid.h"' --option=-Iinc
printf '#include "inc/mid.h"\n__global__ void k() {}\n' >k.cu
try quern raw k.cu --kernel k --grid 1 --block 1

echo '-- a macro that breaks the code around the texts'
e 'y = x' --preamble '#define x 3'

echo '-- names of kernels that C++, CUDA or the signature has taken'
for name in int sin main T threadIdx int8-t; do
    try quern elementwise 'T x' 'T y' 'y = x' x=ones:float32:2 --name=$name
done
