# SPDX-License-Identifier: MIT
# What is declared, used and defined nowhere: its name, and the place that uses it.
. "$CASE_LIB"
case ${QUERN_DEVICE:-} in cuda*) echo "skipped: NVRTC's assembler says this for a GPU" && exit 77 ;; esac
try quern elementwise 'T x' 'T y' 'y = f(x)' x=ones:float32:3 --preamble '__device__ float f(float);'
try quern reduce 'T x' 'T y' 'x' 'a + b' 'y = ns::post(a)' 0 x=ones:float32:3 \
    --preamble 'namespace ns { __device__ float post(float); }'
try quern elementwise 'T x' 'T y' 'if (x > 5) y = f(x)' x=ones:float32:3 \
    --preamble '__device__ float f(float x);'
cat >two.cu <<'SOURCE'
extern __device__ int table[4];
extern "C" __global__ void k(int *x)
{
    x[0] = table[x[1]];
}
SOURCE
try quern raw two.cu --kernel k --grid 1 --block 1 --option=-rdc=true zeros:int32:2
try quern elementwise 'T x' 'T y' 'y = f(x)' x=ones:float32:3 \
    --preamble '__device__ float f(float x) { return -x; }'
