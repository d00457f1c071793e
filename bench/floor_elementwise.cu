// SPDX-License-Identifier: MIT
//
// The floor of elementwise bandwidth: `2x+y` with 16-byte vectors by hand, one pack a thread.
// Build and run on a GPU machine: nvcc -O3 -std=c++17 -arch=sm_90 -o floor floor_elementwise.cu && ./floor
#include "floor.cuh"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

struct complex64 {
    float re, im;
};
__device__ inline complex64 axpy(complex64 x, complex64 y)
{
    return {2.0f * x.re + y.re, 2.0f * x.im + y.im};
}
__device__ inline __half axpy(__half x, __half y)
{
    return __float2half(2.0f * __half2float(x) + __half2float(y));
}
__device__ inline __nv_bfloat16 axpy(__nv_bfloat16 x, __nv_bfloat16 y)
{
    return __float2bfloat16(2.0f * __bfloat162float(x) + __bfloat162float(y));
}
template <typename T> __device__ inline T axpy(T x, T y) { return T(2) * x + y; }

template <typename T, int V> struct alignas(16) pack {
    T v[V];
};

template <typename T, int V>
__global__ void by_hand(const T *__restrict__ x, const T *__restrict__ y, T *__restrict__ z, long n)
{
    long i = (long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i * V < n) {
        pack<T, V> a = ((const pack<T, V> *)x)[i], b = ((const pack<T, V> *)y)[i], c;
#pragma unroll
        for (int j = 0; j < V; j++) {
            c.v[j] = axpy(a.v[j], b.v[j]);
        }
        ((pack<T, V> *)z)[i] = c;
    }
}

template <typename T> static void measure(const char *name)
{
    const int V = 16 / sizeof(T);
    long bytes = 1L << 30, n = bytes / sizeof(T);
    T *x, *y, *z;
    CHECK(cudaMalloc(&x, bytes));
    CHECK(cudaMalloc(&y, bytes));
    CHECK(cudaMalloc(&z, bytes));
    std::vector<unsigned char> host(bytes);
    for (long k = 0; k < bytes; k++) {
        host[k] = (unsigned char)((k * 2654435761UL) >> 13 & 0x3f);
    }
    CHECK(cudaMemcpy(x, host.data(), bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(y, host.data(), bytes, cudaMemcpyHostToDevice));
    double ms = median_ms([&] {
        by_hand<T, V><<<(n / V + 255) / 256, 256>>>(x, y, z, n);
        return cudaGetLastError();
    });
    report("elementwise", "by hand", std::string("2x+y ") + name + " n=" + std::to_string(n),
           3.0 * bytes, ms);
    CHECK(cudaFree(x));
    CHECK(cudaFree(y));
    CHECK(cudaFree(z));
}

int main()
{
    measure<signed char>("int8");
    measure<__half>("float16");
    measure<__nv_bfloat16>("bfloat16");
    measure<int>("int32");
    measure<float>("float32");
    measure<double>("float64");
    measure<complex64>("complex64");
    return 0;
}
