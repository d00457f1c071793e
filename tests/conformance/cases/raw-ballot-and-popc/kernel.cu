// SPDX-License-Identifier: MIT
extern "C" __global__ void vote(const float* x, unsigned* out) { unsigned m = __ballot_sync(0xffffffffu, x[threadIdx.x] > 0); if ((threadIdx.x & 31) == 0) { out[threadIdx.x / 32 * 2] = m; out[threadIdx.x / 32 * 2 + 1] = __popc(m); } }
