// SPDX-License-Identifier: MIT
#include "cupy/carray.cuh"
extern "C" __global__ void scale(const double *x, double *y, long long n)
{
    CUPY_FOR(k, n) y[k] = x[k] * M_PI;
}
