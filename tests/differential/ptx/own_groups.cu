/* SPDX-License-Identifier: MIT
 *
 * Cooperative groups: tiles of two sizes, groups by label and by predicate, coalesced threads.
 */
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

namespace cg = cooperative_groups;

extern "C" __global__ void k(const int *x, int *tiles, int *labels, int *active)
{
    const int t = threadIdx.x, v = x[t];
    const auto block = cg::this_thread_block();
    const auto half = cg::tiled_partition<16>(block);
    const auto warp = cg::tiled_partition<32>(block);
    tiles[t] = cg::reduce(half, v, cg::plus<int>());
    tiles[128 + t] = cg::inclusive_scan(half, v);
    tiles[256 + t] = cg::exclusive_scan(half, v, cg::bit_xor<int>());
    tiles[384 + t] = cg::reduce(half, v, cg::greater<int>());
    tiles[512 + t] = (int)cg::reduce(warp, (float)v, cg::less<float>());
    tiles[640 + t] =
        warp.shfl_xor(v, 3) + warp.any(v > 3) + (int)warp.ballot(v & 1) + (int)warp.match_any(v);
    const auto label = cg::labeled_partition(warp, v % 3);
    labels[t] = cg::reduce(label, v, cg::plus<int>());
    labels[128 + t] = cg::inclusive_scan(label, v);
    const auto parity = cg::binary_partition(warp, v & 1);
    labels[256 + t] = (int)parity.size() * 100 + (int)parity.thread_rank();
    active[t] = 0;
    if (v % 5 < 2) {
        const auto group = cg::coalesced_threads();
        active[t] = (int)group.size() * 100 + (int)group.thread_rank() + 10000 * group.shfl(v, 0);
        group.sync();
    }
}
