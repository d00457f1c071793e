/* SPDX-License-Identifier: MIT
 *
 * CUB's primitives of a warp: a sum, a sum by segments, scans of half a warp and a merge sort.
 */
#include <cub/warp/warp_merge_sort.cuh>
#include <cub/warp/warp_reduce.cuh>
#include <cub/warp/warp_scan.cuh>

typedef cub::WarpReduce<int> reductions;
typedef cub::WarpScan<int, 16> scans;
typedef cub::WarpMergeSort<int, 2, 32> sorts;

struct below {
    __device__ bool operator()(int a, int b) const
    {
        return a < b;
    }
};

extern "C" __global__ void k(const int *x, int *sums, int *segments, int *before, int *totals,
                             int *sorted)
{
    __shared__ reductions::TempStorage reduction[4];
    __shared__ scans::TempStorage scan[8];
    __shared__ sorts::TempStorage sort[4];
    const int t = threadIdx.x, w = t / 32, v = x[t];
    const bool is_head = v % 4 == 0;
    const int sum = reductions(reduction[w]).Sum(v);
    if (t % 32 == 0) {
        sums[w] = sum;
    }
    __syncwarp();
    const int segment = reductions(reduction[w]).HeadSegmentedSum(v, is_head);
    segments[t] = t % 32 == 0 || is_head ? segment : 0;
    scans(scan[t / 16]).ExclusiveSum(v, before[t], totals[t]);
    int pair[2] = {v, x[t + 128]};
    sorts(sort[w]).Sort(pair, below());
    sorted[2 * t] = pair[0];
    sorted[2 * t + 1] = pair[1];
}
