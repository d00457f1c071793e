// SPDX-License-Identifier: MIT
extern "C" __global__ void rev(int* x, int n) { extern __shared__ int s[]; int t = threadIdx.x; s[t] = x[t]; __syncthreads(); x[t] = s[n - 1 - t]; }
