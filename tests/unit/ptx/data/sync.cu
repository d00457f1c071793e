/* SPDX-License-Identifier: MIT
 *
 * The kernels of test_ptx_sync.c: threads that wait for one another. sync.ptx is what NVRTC 13.0
 * makes of this file with --gpu-architecture=compute_75 -lineinfo.
 */
typedef unsigned u32;
#define SYNC(id, count) asm volatile("bar.sync " #id ", " #count ";" ::: "memory")
extern "C" {
int printf(const char *, ...);
/* A lock that lanes of a warp, warps and blocks take from one another. */
__global__ void locks(int *lock, volatile int *count)
{
    while (atomicCAS(lock, 0, 1) != 0) {
    }
    __threadfence();
    *count = *count + 1;
    __threadfence();
    atomicExch(lock, 0);
}
/* Lanes 16 to 31 wait in a loop whose branches part and meet again; lanes 0 to 15 make them go on
 * behind it, one after the other. */
__global__ void patience(volatile int *turn, int *steps)
{
    int lane = threadIdx.x, tries = 0;
    if (lane >= 16) {
        while (*turn < lane) {
            tries++;
            if ((tries + lane) % 3 == 0) {
                tries += *turn & 1;
                for (int k = 0; k < (lane & 3); k++) tries += *turn > 40;
            }
        }
    } else {
        while (*turn != lane) {
        }
    }
    steps[lane] = *turn;
    __threadfence();
    if (lane < 16) *turn = lane == 15 ? 16 : lane + 1;
    else atomicMax((int *)turn, lane + 1);
}
/* Warps pass a token round and round. */
__global__ void ring(int rounds, int *o)
{
    __shared__ volatile int token;
    int warp = threadIdx.x / 32, warps = blockDim.x / 32;
    if (threadIdx.x == 0) token = 0;
    __syncthreads();
    for (int k = 0; k < rounds; k++) {
        if (threadIdx.x % 32 == 0) {
            while (token != k * warps + warp) __nanosleep(20);
            o[k * warps + warp] = warp;
            __threadfence_block();
            token = token + 1;
        }
        __syncwarp();
    }
}
/* Blocks that wait for the sum of the block before: what a scan in one launch does. */
__global__ void look_back(const int *x, int *sums, volatile int *flags)
{
    __shared__ int sum;
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    atomicAdd(&sum, x[blockIdx.x * blockDim.x + threadIdx.x]);
    __syncthreads();
    if (threadIdx.x == 0) {
        int before = 0;
        if (blockIdx.x > 0) {
            while (flags[blockIdx.x - 1] == 0) {
            }
            __threadfence();
            before = ((volatile int *)sums)[blockIdx.x - 1];
        }
        sums[blockIdx.x] = before + sum;
        __threadfence();
        flags[blockIdx.x] = 1;
    }
}
/* A barrier of all blocks made by hand, passed several times. */
__global__ void meet(int rounds, u32 *arrived, int *o)
{
    for (int k = 1; k <= rounds; k++) {
        __syncthreads();
        if (threadIdx.x == 0) {
            o[blockIdx.x] += k;
            __threadfence();
            atomicAdd(arrived, 1);
            while (*(volatile u32 *)arrived < k * gridDim.x) {
            }
            __threadfence();
            int next = ((volatile int *)o)[(blockIdx.x + 1) % gridDim.x];
            o[gridDim.x + blockIdx.x] += next > 0;
        }
    }
}
/* Blocks that wait for the block behind them. */
__global__ void look_ahead(volatile int *flags, int *o)
{
    if (threadIdx.x == 0) {
        while (blockIdx.x + 1 < gridDim.x && flags[blockIdx.x + 1] == 0) {
        }
        __threadfence();
        o[blockIdx.x] = blockIdx.x + 1 < gridDim.x ? ((volatile int *)o)[blockIdx.x + 1] + 1 : 1;
        __threadfence();
        flags[blockIdx.x] = 1;
    }
}
__global__ void forever(volatile int *flag)
{
    if (threadIdx.x < 40) {
        while (*flag == 0) {
        }
    }
    __syncthreads();
}
__global__ void syncs_forever(volatile int *flag)
{
    do {
        __syncthreads();
    } while (*flag == 0);
}
/* Threads that have exited are not waited for: alone, in part of a warp, at a barrier with a count.
 */
__global__ void leavers(int *o)
{
    int t = threadIdx.x;
    if (t % 4 == 1) return;
    __syncthreads();
    o[t] = 1;
    if (t >= 64) return;
    if (t % 4 == 2) SYNC(1, 64);
    else SYNC(1, 64);
    o[t] = 2;
}
__global__ void chatter(int lines)
{
    for (int k = 0; k < lines; k++) printf("%d %d %d\n", (int)blockIdx.x, (int)threadIdx.x, k);
}
__global__ void two_barriers(int *o)
{
    if (threadIdx.x >= 96) return;
    if (threadIdx.x < 32) SYNC(1, 64);
    else SYNC(2, 96);
    o[threadIdx.x] = 1;
}
__global__ void short_of_one(int *o)
{
    if (threadIdx.x >= 32) SYNC(3, 96);
    o[threadIdx.x] = 1;
}
}
