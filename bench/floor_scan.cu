// SPDX-License-Identifier: MIT
//
// The floor of scans: CUB's device-wide inclusive sum (whose bits may vary for floats), and what
// copying the same bytes takes.
// Build and run on a GPU machine: nvcc -O3 -std=c++17 -arch=sm_90 -o floor floor_scan.cu && ./floor
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cub/cub.cuh>
#include <string>
#include <vector>

#define CHECK(call)                                                                                \
    do {                                                                                           \
        cudaError_t e_ = (call);                                                                   \
        if (e_ != cudaSuccess) {                                                                   \
            fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(e_));                            \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

template <typename F> static double median_ms(F run)
{
    cudaEvent_t begin, end;
    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreate(&end));
    std::vector<float> times;
    for (int r = -3; r < 15; r++) {
        float ms;
        CHECK(cudaEventRecord(begin));
        CHECK(run());
        CHECK(cudaEventRecord(end));
        CHECK(cudaEventSynchronize(end));
        CHECK(cudaEventElapsedTime(&ms, begin, end));
        if (r >= 0) {
            times.push_back(ms);
        }
    }
    std::sort(times.begin(), times.end());
    return times[times.size() / 2];
}

static void report(const char *peer, const std::string &what, double bytes, double ms)
{
    printf("{\"bench\": \"scan\", \"peer\": \"%s\", \"case\": \"%s\", \"metric\": \"GB/s\", "
           "\"value\": %.4f}\n",
           peer, what.c_str(), bytes / ms / 1e6);
}

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
    report("cub", what, 2.0 * bytes, median_ms(scan));
    report("cudaMemcpy", what, 2.0 * bytes,
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
