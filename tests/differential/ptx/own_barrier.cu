/* SPDX-License-Identifier: MIT
 *
 * Named barriers of part of a block: one warp makes, another takes; and the reducing ones.
 */
extern "C" __global__ void k(const int *x, int *o)
{
    __shared__ int box[32];
    int t = threadIdx.x, w = t >> 5, l = t & 31;
    if (w == 0) {
        for (int i = 0; i < 4; i++) {
            box[l] = x[i * 32 + l] * 3;
            asm volatile("bar.sync 1, 64;" ::: "memory");
            asm volatile("bar.sync 2, 64;" ::: "memory");
        }
    } else if (w == 1) {
        int s = 0;
        for (int i = 0; i < 4; i++) {
            asm volatile("bar.sync 1, 64;" ::: "memory");
            s = s * 5 + box[31 - l];
            asm volatile("bar.sync 2, 64;" ::: "memory");
        }
        o[l] = s;
    } else if (w == 2) {
        asm volatile("bar.arrive 3, 64;" ::: "memory");
    } else {
        asm volatile("bar.sync 3, 64;" ::: "memory");
    }
    int c = __syncthreads_count(x[t] > 0) + 1000 * __syncthreads_and(x[t] > -100) +
            10000 * __syncthreads_or(x[t] == 7);
    o[32 + t] = c;
}
