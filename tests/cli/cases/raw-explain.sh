# SPDX-License-Identifier: MIT
# What is known of a kernel, without its arguments; nothing runs.
QUERN_CACHE_DIR=$PWD/cache
export QUERN_CACHE_DIR
cat >k.cu <<'END'
extern "C" __global__ void add(const float *x, double *y, short k, float4 v)
{
    __shared__ float s[16];
    s[threadIdx.x % 16] = x[threadIdx.x];
    __syncthreads();
    y[threadIdx.x] = s[0] + k + v.x;
}
extern "C" __global__ void none() {}
END
quern raw k.cu --kernel add --explain >first
grep -c 'arguments: 4, of 8, 8, 2 and 16 bytes' first
grep 'kernel\|image' first
quern raw k.cu --kernel add --explain --block 64 --grid 2 | grep -o 'from cache\|64 bytes shared'
quern raw k.cu --kernel none --explain | grep 'arguments'
quern raw k.cu --kernel add --explain zeros:float32:64 zeros:float64:64:o.npy int16:1 \
    bytes:00000000000000000000000000000000 --block 64 --grid 1 | grep -c threads
ls
