// SPDX-License-Identifier: MIT
#include <cuComplex.h>
extern "C" __global__ void k(const cuComplex *x, cuDoubleComplex *z, int n)
{
    int k = threadIdx.x;
    if (k < n) z[k] = exp(cuComplexFloatToDouble(x[k])) + make_cuDoubleComplex(1, 2) * 2.0;
}
