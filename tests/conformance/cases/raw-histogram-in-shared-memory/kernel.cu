// SPDX-License-Identifier: MIT
extern "C" __global__ void hist(const unsigned char* x, unsigned* h, int n) { __shared__ unsigned s[16]; if (threadIdx.x < 16) s[threadIdx.x] = 0; __syncthreads(); for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&s[x[i] & 15], 1u); __syncthreads(); if (threadIdx.x < 16) atomicAdd(&h[threadIdx.x], s[threadIdx.x]); }
