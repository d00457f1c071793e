// SPDX-License-Identifier: MIT
#include <cuComplex.h>
extern "C" __global__ void k(const cuFloatComplex *x, const cuFloatComplex *y, cuFloatComplex s, cuFloatComplex *z, float *m, int n)
{
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k < n) {
        cuFloatComplex v = cuCmulf(cuCaddf(x[k], y[k]), cuConjf(y[k]));
        z[k] = cuCfmaf(cuCsubf(v, x[k]), s, cuCdivf(x[k], make_cuFloatComplex(1.5, -0.5)));
        m[k] = cuCabsf(v) + cuCrealf(x[k]) * cuCimagf(y[k]);
    }
}
