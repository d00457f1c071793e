/* SPDX-License-Identifier: MIT
 *
 * CUB's primitives of a block: loads and stores through shared memory, both reductions, a scan, a
 * radix sort of pairs, a histogram, an exchange and the heads of runs.
 */
#include <cub/block/block_discontinuity.cuh>
#include <cub/block/block_exchange.cuh>
#include <cub/block/block_histogram.cuh>
#include <cub/block/block_load.cuh>
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/block/block_store.cuh>

typedef cub::BlockLoad<int, 128, 4, cub::BLOCK_LOAD_WARP_TRANSPOSE> loads;
typedef cub::BlockStore<int, 128, 4, cub::BLOCK_STORE_TRANSPOSE> stores;
typedef cub::BlockReduce<int, 128, cub::BLOCK_REDUCE_WARP_REDUCTIONS> by_warps;
typedef cub::BlockReduce<int, 128, cub::BLOCK_REDUCE_RAKING> by_rakes;
typedef cub::BlockScan<int, 128> scans;
typedef cub::BlockRadixSort<int, 128, 4, int> sorts;
typedef cub::BlockHistogram<unsigned char, 128, 4, 64, cub::BLOCK_HISTO_ATOMIC> histograms;
typedef cub::BlockExchange<int, 128, 4> exchanges;
typedef cub::BlockDiscontinuity<int, 128> heads;

extern "C" __global__ void k(const int *x, int *sums, int *scanned, int *keys, int *places,
                             int *counts, int *striped, int *is_head)
{
    __shared__ union {
        loads::TempStorage load;
        stores::TempStorage store;
        by_warps::TempStorage warps;
        by_rakes::TempStorage rakes;
        scans::TempStorage scan;
        sorts::TempStorage sort;
        histograms::TempStorage histogram;
        exchanges::TempStorage exchange;
        heads::TempStorage head;
    } s;
    __shared__ int bins[64];
    const int t = threadIdx.x;
    int v[4], w[4], order[4], flags[4];
    unsigned char small[4];
    loads(s.load).Load(x, v);
    __syncthreads();
    const int sum = by_warps(s.warps).Sum(v);
    __syncthreads();
    const int largest = by_rakes(s.rakes).Reduce(v, cuda::maximum<int>());
    __syncthreads();
    if (t == 0) {
        sums[0] = sum;
        sums[1] = largest;
    }
    scans(s.scan).InclusiveSum(v, w);
    __syncthreads();
    stores(s.store).Store(scanned, w);
    __syncthreads();
    for (int i = 0; i < 4; i++) {
        w[i] = v[i];
        order[i] = t * 4 + i;
        small[i] = v[i] & 63;
    }
    sorts(s.sort).Sort(w, order);
    __syncthreads();
    heads(s.head).FlagHeads(flags, w, cuda::std::not_equal_to<int>());
    __syncthreads();
    stores(s.store).Store(keys, w);
    __syncthreads();
    stores(s.store).Store(places, order);
    __syncthreads();
    stores(s.store).Store(is_head, flags);
    __syncthreads();
    histograms(s.histogram).Histogram(small, bins);
    __syncthreads();
    if (t < 64) {
        counts[t] = bins[t];
    }
    exchanges(s.exchange).BlockedToStriped(v);
    for (int i = 0; i < 4; i++) {
        striped[i * 128 + t] = v[i];
    }
}
