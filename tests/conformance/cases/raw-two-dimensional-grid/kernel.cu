// SPDX-License-Identifier: MIT
extern "C" __global__ void tr(const float* x, float* y, int h, int w) { int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y * blockDim.y + threadIdx.y; if (r < h && c < w) y[c * h + r] = x[r * w + c]; }
