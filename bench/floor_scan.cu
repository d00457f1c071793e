// SPDX-License-Identifier: MIT
//
// The floor of scans: CUB's device-wide inclusive sum (whose bits may vary for floats), and what
// copying the same bytes takes.
// Build and run on a GPU machine: nvcc -O3 -std=c++17 -arch=sm_90 -o floor floor_scan.cu && ./floor
#include "floor.cuh"

#include <cub/cub.cuh>

template <typename T> static void measure(const char *name)
{
    long bytes = 1L << 30, n = bytes / sizeof(T);
    T *x, *y;
    CHECK(cudaMalloc(&x, bytes));
    CHECK(cudaMalloc(&y, bytes));
    CHECK(cudaMemset(x, 0, bytes));
    void *space = nullptr;
    size_t size = 0;
    auto scan = [&] { return cub::DeviceScan::InclusiveSum(space, size, x, y, n); };
    CHECK(scan());
    CHECK(cudaMalloc(&space, size));
    const std::string what = std::string("cumsum ") + name + " n=" + std::to_string(n);
    report("scan", "cub", what, 2.0 * bytes, median_ms(scan));
    report("scan", "cudaMemcpy", what, 2.0 * bytes,
           median_ms([&] { return cudaMemcpyAsync(y, x, bytes, cudaMemcpyDeviceToDevice); }));
    CHECK(cudaFree(space));
    CHECK(cudaFree(x));
    CHECK(cudaFree(y));
}

int main()
{
    measure<signed char>("int8");
    measure<int>("int32");
    measure<float>("float32");
    measure<double>("float64");
    return 0;
}
