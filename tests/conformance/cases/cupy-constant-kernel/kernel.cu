// SPDX-License-Identifier: MIT
#include <cupy/math_constants.h>
extern "C" __global__ void fill(double *y, float *z)
{
    y[threadIdx.x] = threadIdx.x & 1 ? CUDART_INF : CUDART_NAN;
    z[threadIdx.x] = threadIdx.x & 1 ? -CUDART_INF_F : CUDART_NAN_F;
}
