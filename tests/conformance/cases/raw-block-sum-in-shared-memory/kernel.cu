// SPDX-License-Identifier: MIT
extern "C" __global__ void bsum(const float* x, float* out, int n) {
 __shared__ float s[256]; int t = threadIdx.x; int i = blockIdx.x * 256 + t;
 s[t] = i < n ? x[i] : 0.f; __syncthreads();
 for (int k = 128; k > 0; k >>= 1) { if (t < k) s[t] += s[t + k]; __syncthreads(); }
 if (t == 0) out[blockIdx.x] = s[0];
}
