// SPDX-License-Identifier: MIT
//
// The floor of reductions: CUB's device-wide sum of everything, and its segmented sum of rows.
// Build and run on a GPU machine: nvcc -O3 -std=c++17 -arch=sm_90 -o floor floor_reduction.cu && ./floor
#include "floor.cuh"

#include <cub/cub.cuh>
#include <cuda_fp16.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

struct row_begin {
    long width;
    __host__ __device__ long operator()(long row) const
    {
        return row * width;
    }
};

template <typename T> static void measure(const char *name, bool rows)
{
    long bytes = 1L << 30, n = bytes / sizeof(T);
    T *x, *y;
    CHECK(cudaMalloc(&x, bytes));
    CHECK(cudaMalloc(&y, bytes / 2));
    CHECK(cudaMemset(x, 0, bytes));
    void *space = nullptr;
    size_t size = 0;
    auto all = [&] { return cub::DeviceReduce::Sum(space, size, x, y, n); };
    CHECK(all());
    CHECK(cudaMalloc(&space, size));
    report("reduction", "cub", std::string("sum all ") + name + " n=" + std::to_string(n), bytes,
           median_ms(all));
    CHECK(cudaFree(space));
    long widths[] = {16384, 256, n / 256, 16, n / 16};
    for (long width : widths) {
        if (!rows) {
            break;
        }
        long count = n / width;
        auto begins = thrust::make_transform_iterator(thrust::make_counting_iterator(0L),
                                                      row_begin{width});
        space = nullptr;
        auto segments = [&] {
            return cub::DeviceSegmentedReduce::Sum(space, size, x, y, (int)count, begins,
                                                   begins + 1);
        };
        CHECK(segments());
        CHECK(cudaMalloc(&space, size));
        report("reduction", "cub",
               std::string("sum axis=1 ") + name + " " + std::to_string(count) + "x" +
                   std::to_string(width),
               bytes + count * sizeof(T), median_ms(segments));
        CHECK(cudaFree(space));
    }
    CHECK(cudaFree(x));
    CHECK(cudaFree(y));
}

int main()
{
    measure<signed char>("int8", false);
    measure<__half>("float16", false);
    measure<int>("int32", false);
    measure<float>("float32", true);
    measure<double>("float64", false);
    return 0;
}
