// SPDX-License-Identifier: MIT
#include <cupy/complex.cuh>
template <typename T> __global__ void turn(const complex<T> *x, complex<T> *y, int n)
{
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k < n) y[k] = thrust::exp(complex<T>(0, k)) * x[k] + conj(x[k]) * T(0.5);
}
