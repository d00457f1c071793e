// SPDX-License-Identifier: MIT
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void g(int* x, int* y, int n) { auto grid = cg::this_grid(); int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] *= 2; grid.sync(); if (i < n) y[i] = x[n - 1 - i]; }
