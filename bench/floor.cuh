// SPDX-License-Identifier: MIT
//
// What the floors share: a check of CUDA's calls, the median time of a launch, and a line as the
// benchmarks of Quern print it.
#ifndef QUERN_BENCH_FLOOR_CUH
#define QUERN_BENCH_FLOOR_CUH

#include <algorithm>
#include <cstdio>
#include <cstdlib>
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

// Of `run`, which launches and returns what CUDA said to it.
template <typename F> static double median_ms(F run)
{
    const int warm_ups = 3, runs = 15;
    cudaEvent_t begin, end;
    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreate(&end));
    std::vector<float> times;
    for (int r = -warm_ups; r < runs; r++) {
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
    CHECK(cudaEventDestroy(begin));
    CHECK(cudaEventDestroy(end));
    std::sort(times.begin(), times.end());
    return times[times.size() / 2];
}

static void report(const char *bench, const char *peer, const std::string &what, double bytes,
                   double ms)
{
    printf("{\"bench\": \"%s\", \"peer\": \"%s\", \"case\": \"%s\", \"metric\": \"GB/s\", "
           "\"value\": %.4f}\n",
           bench, peer, what.c_str(), bytes / ms / 1e6);
}

#endif // QUERN_BENCH_FLOOR_CUH
