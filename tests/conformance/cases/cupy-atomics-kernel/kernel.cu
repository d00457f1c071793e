// SPDX-License-Identifier: MIT
#include <cupy/atomics.cuh>
extern "C" __global__ void extremes(const float *x, float *most, double *least, int n)
{
    CUPY_FOR(k, n) {
        atomicMax(most, x[k]);
        atomicMin(least, (double)x[k]);
    }
}
