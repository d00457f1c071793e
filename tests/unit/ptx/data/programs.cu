/* SPDX-License-Identifier: MIT
 *
 * The kernels of test_ptx_programs.c: what programs write with cooperative groups and libcu++.
 * programs_75.ptx and programs_90.ptx are what NVRTC 13.0 makes of this file with
 * --gpu-architecture=compute_75 and compute_90 and CUDA's folders include and include/cccl, without
 * comments and unused constants. For 9.0 the library's barriers are mbarriers and its copies bulk copies.
 */
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda/semaphore>
namespace cg = cooperative_groups;
using barrier = cuda::barrier<cuda::thread_scope_block>;
extern "C" {
/* Blocks of 64: sums by label, ranks of those that are left, a scan within tiles of 16. */
__global__ void groups(const int *x, int *o)
{
    auto block = cg::this_thread_block();
    auto warp = cg::tiled_partition<32>(block);
    int t = threadIdx.x, v = x[t];
    auto part = cg::labeled_partition(warp, v % 3);
    o[t] = cg::reduce(part, v, cg::plus<int>());
    o[64 + t] = -1;
    if (v % 5 < 2) {
        auto left = cg::coalesced_threads();
        o[64 + t] = left.size() * 100 + left.thread_rank();
    }
    o[128 + t] = cg::inclusive_scan(cg::tiled_partition<16>(block), v);
}
/* Pieces of 128 come by memcpy_async into shared memory; some threads leave before the end. */
__global__ void copies(const int *x, int *o)
{
    __shared__ barrier bar;
    alignas(16) __shared__ int box[128];
    auto block = cg::this_thread_block();
    int t = threadIdx.x;
    if (t == 0) init(&bar, 128);
    block.sync();
    for (int step = 0; step < 3; step++) {
        cuda::memcpy_async(block, box, x + step * 128, cuda::aligned_size_t<16>(512), bar);
        bar.arrive_and_wait();
        o[step * 128 + t] = box[127 - t];
        bar.wait(bar.arrive());
    }
    if (t < 100) {
        bar.arrive_and_drop();
        return;
    }
    bar.arrive_and_wait();
    o[384 + t - 100] = 1;
}
/* Half of the block makes, the other half takes, through a pipeline of two stages. */
__global__ void stages(const int *x, int *o)
{
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    __shared__ int box[2][64];
    auto role = threadIdx.x < 64 ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer;
    auto pipe = cuda::make_pipeline(cg::this_thread_block(), &state, role);
    int sum = 0;
    for (int i = 0; i < 6; i++) {
        if (threadIdx.x < 64) {
            pipe.producer_acquire();
            box[i % 2][threadIdx.x] = x[i * 64 + threadIdx.x] * 2;
            pipe.producer_commit();
        } else {
            pipe.consumer_wait();
            sum = sum * 3 + box[i % 2][127 - threadIdx.x];
            pipe.consumer_release();
        }
    }
    if (threadIdx.x >= 64) o[threadIdx.x - 64] = sum;
}
/* One thread at a time, by a semaphore. */
__global__ void one_by_one(int *o)
{
    using semaphore = cuda::binary_semaphore<cuda::thread_scope_block>;
    __shared__ semaphore free;
    __shared__ int passed;
    if (threadIdx.x == 0) {
        new (&free) semaphore(1);
        passed = 0;
    }
    __syncthreads();
    free.acquire();
    passed = passed + 1;
    free.release();
    __syncthreads();
    o[threadIdx.x] = passed;
}
}
