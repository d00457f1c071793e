/* SPDX-License-Identifier: MIT
 *
 * The kernels of test_ptx_sync.c that need compute capability 9.0: mbarrier, bulk copies, clusters.
 * sync_90.ptx is what NVRTC 13.0 makes of this file with --gpu-architecture=compute_90 -lineinfo.
 */
typedef unsigned u32;
typedef unsigned long long u64;
__device__ u32 at(const void *shared)
{
    return (u32)__cvta_generic_to_shared(shared);
}
__device__ void init(u64 *bar, u32 count)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(at(bar)), "r"(count) : "memory");
}
__device__ u64 arrive(u64 *bar)
{
    u64 state;
    asm volatile("mbarrier.arrive.shared::cta.b64 %0, [%1];" : "=l"(state) : "r"(at(bar)) : "memory");
    return state;
}
__device__ bool test(u64 *bar, u64 state)
{
    u32 over;
    asm volatile("{ .reg .pred p; mbarrier.test_wait.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                 : "=r"(over) : "r"(at(bar)), "l"(state) : "memory");
    return over;
}
__device__ void wait_parity(u64 *bar, u32 parity)
{
    asm volatile("{ .reg .pred p; again: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1, 1000; @!p bra again; }"
                 ::"r"(at(bar)), "r"(parity) : "memory");
}
__device__ u32 pending(u64 state)
{
    u32 count;
    asm("mbarrier.pending_count.b64 %0, %1;" : "=r"(count) : "l"(state));
    return count;
}
extern "C" {
/* Values handed to a neighbour over several phases, by state and by parity. */
__global__ void phases(int *o)
{
    __shared__ u64 bar, second;
    __shared__ int box[128];
    int t = threadIdx.x, sum = 0;
    if (t == 0) {
        init(&bar, 128);
        init(&second, 128);
    }
    __syncthreads();
    for (int k = 0; k < 5; k++) {
        box[t] = t * (k + 1);
        u64 state = arrive(&bar);
        while (!test(&bar, state)) {
        }
        sum = sum * 3 + box[(t + 1) % 128];
        arrive(&second);
        wait_parity(&second, k & 1);
    }
    o[t] = sum;
}
/* Some leave for good; what is pending is told; a count larger than one arrives at once. */
__global__ void counts(int *o)
{
    __shared__ u64 bar;
    int t = threadIdx.x;
    if (t == 0) {
        init(&bar, 40);
        u64 before;
        asm volatile("mbarrier.arrive.shared::cta.b64 %0, [%1], 8;" : "=l"(before) : "r"(at(&bar)) : "memory");
        o[32] = pending(before);
        o[33] = pending(arrive(&bar));
    }
    __syncwarp();
    if (t > 0 && t < 8) {
        asm volatile("mbarrier.arrive_drop.shared::cta.b64 _, [%0];" ::"r"(at(&bar)) : "memory");
    } else if (t >= 8) {
        arrive(&bar);
    }
    wait_parity(&bar, 0);
    if (t == 31) o[34] = pending(arrive(&bar)); /* 40 less the 7 that dropped out */
    o[t] = 1;
    __syncwarp();
    if (t == 0) asm volatile("mbarrier.inval.shared::cta.b64 [%0];" ::"r"(at(&bar)) : "memory");
}
/* Into shared memory with an mbarrier that counts bytes, and out of it again. */
__global__ void bulk(const int *x, int *o)
{
    __shared__ alignas(16) int box[256];
    __shared__ u64 bar;
    int t = threadIdx.x;
    if (t == 0) {
        init(&bar, 1);
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                     ::"r"(at(box)), "l"(x), "r"(512), "r"(at(&bar)) : "memory");
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                     ::"r"(at(box + 128)), "l"(x + 256), "r"(512), "r"(at(&bar)) : "memory");
        asm volatile("{ .reg .b64 s; mbarrier.arrive.expect_tx.shared::cta.b64 s, [%0], 1024; }" ::"r"(at(&bar)) : "memory");
    }
    __syncthreads();
    wait_parity(&bar, 0);
    box[t] = box[t] + 1;
    box[128 + t] = box[128 + t] * 2;
    __syncthreads();
    if (t == 0) {
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 1024;" ::"l"(o), "r"(at(box)) : "memory");
        asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" ::: "memory");
    }
}
__global__ void bulk_odd(const int *x)
{
    __shared__ alignas(16) int box[256];
    __shared__ u64 bar;
    init(&bar, 1);
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                 ::"r"(at(box)), "l"(x + 1), "r"(64), "r"(at(&bar)) : "memory");
}
__global__ void too_many(int *o)
{
    __shared__ u64 bar;
    if (threadIdx.x == 0) init(&bar, 3);
    __syncwarp();
    arrive(&bar);
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0], 4;" ::"r"(at(&bar)) : "memory");
    *o = 1;
}
__global__ void not_made(int *o)
{
    __shared__ u64 bar;
    *o = test(&bar, 0);
}
/* Every block is a cluster of its own. */
__global__ void clusters(int *o)
{
    __shared__ int box[64];
    int t = threadIdx.x;
    u32 rank, size, theirs;
    asm("mov.u32 %0, %%cluster_ctarank; mov.u32 %1, %%cluster_nctarank;" : "=r"(rank), "=r"(size));
    box[t] = t + blockIdx.x * 100;
    if (t % 2) asm volatile("barrier.cluster.arrive.release;" ::: "memory");
    else asm volatile("barrier.cluster.arrive;" ::: "memory");
    if (t == 63) return;
    asm volatile("barrier.cluster.wait.acquire;" ::: "memory");
    asm("mapa.shared::cluster.u32 %0, %1, 0;" : "=r"(theirs) : "r"(at(box + (63 - t))));
    int value;
    asm volatile("ld.shared::cluster.s32 %0, [%1];" : "=r"(value) : "r"(theirs));
    o[blockIdx.x * 64 + t] = value + rank * 1000 + size * 10000;
    asm volatile("griddepcontrol.wait; griddepcontrol.launch_dependents;" ::: "memory");
}
__global__ void cluster_of_two(int *o)
{
    __shared__ int box;
    u32 theirs;
    asm("mapa.shared::cluster.u32 %0, %1, 1;" : "=r"(theirs) : "r"(at(&box)));
    *o = theirs;
}
__global__ void arrives_twice(int *o)
{
    asm volatile("barrier.cluster.arrive;" ::: "memory");
    if (threadIdx.x < 3) asm volatile("barrier.cluster.arrive;" ::: "memory");
    asm volatile("barrier.cluster.wait;" ::: "memory");
    *o = 1;
}
__global__ void elects(int *o)
{
    u32 chosen;
    int t = threadIdx.x;
    if (t >= 5 && t < 20) {
        asm volatile("{ .reg .pred p; .reg .b32 r; elect.sync r|p, 0x000fffe0; selp.u32 %0, 1, 0, p; @p add.u32 %0, %0, r; }"
                     : "=r"(chosen));
        o[t] = chosen;
    }
}
}
