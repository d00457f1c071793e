// SPDX-License-Identifier: MIT
#include <cuComplex.h>
extern "C" __global__ void k(const cuDoubleComplex *x, const cuDoubleComplex *y, cuDoubleComplex s, cuDoubleComplex *z, double *m, int n)
{
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k < n) {
        cuDoubleComplex v = cuCmul(cuCadd(x[k], y[k]), cuConj(y[k]));
        z[k] = cuCfma(cuCsub(v, x[k]), s, cuCdiv(x[k], make_cuDoubleComplex(1.5, -0.5)));
        m[k] = cuCabs(v) + cuCreal(x[k]) * cuCimag(y[k]);
    }
}
