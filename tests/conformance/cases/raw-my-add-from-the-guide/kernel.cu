// SPDX-License-Identifier: MIT
extern "C" __global__ void my_add(const float* x1, const float* x2, float* y) { int tid = blockDim.x * blockIdx.x + threadIdx.x; y[tid] = x1[tid] + x2[tid]; }
