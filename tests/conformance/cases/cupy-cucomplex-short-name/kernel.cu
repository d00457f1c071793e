// SPDX-License-Identifier: MIT
#include <cuComplex.h>
extern "C" __global__ void k(const cuComplex *x, const cuComplex *y, cuComplex s, cuComplex *z, float *m, int n)
{
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k < n) {
        cuComplex v = cuCmulf(cuCaddf(x[k], y[k]), cuConjf(y[k]));
        z[k] = cuCfmaf(cuCsubf(v, x[k]), s, cuCdivf(x[k], make_cuComplex(1.5, -0.5)));
        m[k] = cuCabsf(v) + cuCrealf(x[k]) * cuCimagf(y[k]);
    }
}
