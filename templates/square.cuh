// SPDX-License-Identifier: MIT
//
// square: L elements of each of L columns on their way from memory to L lines. In: where the first
// column begins. Out: the lines, each as whole words. The elements take B bytes, 1 or 2, and L of
// them one word or two; they change places in registers, a byte permutation for each word that
// two words give.
#pragma once

namespace quern
{

template <int B_, int L_> struct square {
    static constexpr int words = B_ * L_ / 4;
    unsigned column[L_][words];

    // Columns that lie at multiples of their size, `stride` bytes apart.
    __device__ __forceinline__ void load(const char *from, long long stride)
    {
#pragma unroll
        for (int k = 0; k < L_; k++) {
            move<words>(column[k], from + k * stride);
        }
    }

    // Columns that lie anywhere: of the first and last words a part may belong to what lies beside.
    __device__ __forceinline__ void load_shifted(const char *from, long long stride)
    {
#pragma unroll
        for (int k = 0; k < L_; k++) {
            const char *const at = from + k * stride;
            const unsigned past = (unsigned)(size_t)at & 3;
            const unsigned *const first = (const unsigned *)(at - past);
            unsigned word = first[0];
#pragma unroll
            for (int w = 0; w < words; w++) {
                // An aligned column has no word beyond its last, and needs none.
                const unsigned next =
                    w + 1 < words ? first[w + 1] : *(const unsigned *)(at + 4 * w + (4 - past) % 4);
                column[k][w] = __funnelshift_r(word, next, past * 8);
                word = next;
            }
        }
    }

    // The lines, `pitch` bytes apart.
    __device__ __forceinline__ void store(void *to, int pitch) const
    {
#pragma unroll
        for (int k = 0; k < L_; k++) {
            unsigned line[words];
#pragma unroll
            for (int w = 0; w < words; w++) {
                line[w] = B_ == 1 ? bytes(k) : halves(k, w);
            }
            move<words>((char *)to + k * pitch, line);
        }
    }

private:
    template <int W_> static __device__ __forceinline__ void move(void *to, const void *from)
    {
        if constexpr (W_ == 1) {
            *(unsigned *)to = *(const unsigned *)from;
        } else {
            *(uint2 *)to = *(const uint2 *)from;
        }
    }

    // Line `k` of 4 x 4 bytes.
    __device__ __forceinline__ unsigned bytes(int k) const
    {
        const unsigned pairs = k < 2 ? 0x5140 : 0x7362;
        const unsigned low = __byte_perm(column[0][0], column[1][0], pairs);
        const unsigned high = __byte_perm(column[L_ / 2][0], column[L_ - 1][0], pairs);
        return __byte_perm(low, high, k % 2 == 0 ? 0x5410 : 0x7632);
    }

    // Word `w` of line `k` of halves.
    __device__ __forceinline__ unsigned halves(int k, int w) const
    {
        return __byte_perm(column[2 * w][k / 2], column[2 * w + 1][k / 2],
                           k % 2 == 0 ? 0x5410 : 0x7632);
    }
};

} // namespace quern
