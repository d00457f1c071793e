// SPDX-License-Identifier: MIT
//
// For bench_bare: nvcc -arch=sm_90 -cubin -o saxpy.cubin saxpy.cu
extern "C" __global__ void saxpy(float a, const float *x, const float *y, float *z, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        z[i] = a * x[i] + y[i];
    }
}
