/* SPDX-License-Identifier: MIT
 *
 * Atomic operations of many threads, whose final values do not depend on the order.
 */
#include <cuda_fp16.h>
__device__ int lost;
extern "C" __global__ void k(const int *x, int *i, unsigned *u, unsigned long long *l, long long *s,
                             float *f, double *d, __half2 *h)
{
    __shared__ int si[8];
    __shared__ unsigned su[4];
    __shared__ unsigned long long sl[4];
    __shared__ float sf;
    int t = threadIdx.x + blockIdx.x * blockDim.x, v = x[t];
    if (threadIdx.x < 8)
        si[threadIdx.x] = threadIdx.x < 4 ? 0 : -1;
    if (threadIdx.x < 4)
        su[threadIdx.x] = sl[threadIdx.x] = 0;
    if (threadIdx.x == 0)
        sf = 0;
    __syncthreads();
    atomicAdd(i, v);
    atomicMin(i + 1, v);
    atomicMax(i + 2, v);
    atomicAnd(i + 3, v | 0xff);
    atomicOr(i + 4, v);
    atomicXor(i + 5, v);
    atomicSub(i + 6, v);
    atomicAdd(u, v);
    atomicMin(u + 1, v);
    atomicMax(u + 2, v);
    atomicInc(u + 3, 100);
    atomicDec(u + 4, 37);
    atomicAnd(u + 5, v | 1);
    atomicOr(u + 6, v);
    atomicAdd(l, v);
    atomicMin(l + 1, 1ull << (v & 63));
    atomicMax(l + 2, 1ull << (v & 63));
    atomicAnd(l + 3, ~(1ull << (v & 63)));
    atomicOr(l + 4, 1ull << (v & 63));
    atomicXor(l + 5, 1ull << (v & 63));
    atomicMin(s, (long long)v << 20);
    atomicMax(s + 1, (long long)v << 20);
    atomicAdd(f, (float)(v % 64));
    atomicAdd(d, v * 0.5);
    atomicAdd(h, __floats2half2_rn(1.f, -1.f));
    atomicAdd(&si[v & 3], v);
    atomicMax(&si[4 + (v & 3)], t);
    atomicAdd(&su[v & 3], 1u);
    atomicAdd(&sl[v & 3], 1ull << 33);
    atomicAdd(&sf, (float)(v & 7));
    unsigned old = i[8], want;
    do {
        want = old;
        old = atomicCAS((unsigned *)i + 8, want, want + (v & 3));
    } while (old != want);
    __syncthreads();
    if (threadIdx.x < 8)
        atomicAdd(i + 16 + threadIdx.x, si[threadIdx.x]);
    if (threadIdx.x < 4) {
        atomicAdd(u + 16 + threadIdx.x, su[threadIdx.x]);
        atomicAdd(l + 16 + threadIdx.x, sl[threadIdx.x]);
    }
    if (threadIdx.x == 0) {
        atomicAdd(f + 1, sf);
        atomicAdd(&lost, 1);
        __threadfence();
    }
}
