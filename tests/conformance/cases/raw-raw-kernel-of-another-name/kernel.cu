// SPDX-License-Identifier: MIT
extern "C" __global__ void k(int* x) { x[0] = 1; }
