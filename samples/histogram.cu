// SPDX-License-Identifier: MIT
//
// How often each of 256 bytes occurs among n. Each block counts in shared memory, where conflicts
// are cheap, and adds its counts to the result once.
extern "C" __global__ void histogram(const unsigned char *x, unsigned *count, int n)
{
    extern __shared__ unsigned own[]; // 256
    for (int k = threadIdx.x; k < 256; k += blockDim.x) {
        own[k] = 0;
    }
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        atomicAdd(&own[x[i]], 1u);
    }
    __syncthreads();
    for (int k = threadIdx.x; k < 256; k += blockDim.x) {
        if (own[k] > 0) {
            atomicAdd(&count[k], own[k]);
        }
    }
}
