/* SPDX-License-Identifier: MIT
 *
 * Lanes that part and meet again: early returns, nested loops, shuffles and votes of part of a
 * warp.
 */
extern "C" __global__ void k(const int *x, int *o)
{
    int t = threadIdx.x, v = x[t], s = 0;
    if (t % 32 >= 28) {
        o[t] = -1;
        return;
    }
    for (int i = 0; i < (v & 15); i++) {
        if ((v + i) % 5 == 0)
            continue;
        for (int j = i; j < 20; j++) {
            if ((v ^ j) % 7 == 3)
                break;
            s += v * j - i;
            if (s > 50000)
                goto out;
        }
    }
out:
    __syncwarp(0x0fffffff);
    if (t & 1) {
        s += __shfl_up_sync(0x0aaaaaaa, s, 2);
        s ^= __popc(__ballot_sync(0x0aaaaaaa, v & 2)) << 8;
    } else {
        s -= __shfl_xor_sync(0x05555555, s, 2, 8);
        s ^= __any_sync(0x05555555, v > 40) << 9;
    }
    __syncwarp(0x0fffffff);
    unsigned same = __match_any_sync(0x0fffffff, v & 3);
    int leader = __ffs(same) - 1;
    s += __shfl_sync(same, s, leader) * 3;
    do {
        s = s / 3 + (s & 1);
    } while (s > 1000);
    o[t] = s;
}
