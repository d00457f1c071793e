// SPDX-License-Identifier: MIT
//
// freight: what a thread has of each box whose operands are whole words: words on their way to shared
// memory, and where it takes the elements of its packs. In: places, which are the same in all boxes.
// Out: words in shared memory. The thing to know: shared memory has the bytes of an operand in the
// order of memory; after each 2^G and each 2^(G + 5) of them an element's width is left out, 4 bytes at
// least, so that threads meet in different banks. The host has tried which G does best.
#pragma once

namespace quern
{

// Where byte `at` is kept of elements of S_ bytes.
template <int S_, int G_> __device__ __forceinline__ constexpr int berth(int at)
{
    constexpr int gap = S_ < 4 ? 4 : S_;
    return at + ((at >> G_) + (at >> (G_ + 5))) * gap;
}

// N_ numbers below 2^16, two in a register.
template <int N_> struct berths {
    unsigned pairs[(N_ + 1) / 2];

    __device__ __forceinline__ void set(int k, int value)
    {
        pairs[k / 2] = k % 2 == 0 ? (unsigned)value & 0xffffu : pairs[k / 2] | (unsigned)value << 16;
    }
    __device__ __forceinline__ int operator[](int k) const
    {
        unsigned pair = pairs[k / 2];
        asm volatile("" : "+r"(pair)); // or the compiler takes all pairs apart in front of the loop
        return (int)(k % 2 == 0 ? pair & 0xffffu : pair >> 16);
    }
};

// A thread's N_ words of W_ bytes, of elements of S_ bytes, for which blocks have 256 threads.
template <int S_, int G_, int W_, int N_> struct freight {
    static constexpr int grain = S_ < 4 ? 4 : S_, room = berth<S_, G_>(256 * N_ * W_);
    typedef typename word<W_>::type word_type;
    typedef typename word<grain>::type part;
    int from[N_];
    unsigned whole, last; // bits for the words that a box has, and the last one of a batch
    word_type held[N_];

    __device__ __forceinline__ void load(const char *box, bool part)
    {
        const unsigned has = part ? last : whole;
#pragma unroll
        for (int k = 0; k < N_; k++) {
            if (has >> k & 1) {
                held[k] = *(const word_type *)(box + from[k]);
            }
        }
    }
    __device__ __forceinline__ void put(unsigned char *tile) const
    {
#pragma unroll
        for (int k = 0; k < N_; k++) {
            part *const to = (part *)(tile + berth<S_, G_>(((int)threadIdx.x + 256 * k) * W_));
#pragma unroll
            for (int j = 0; j < W_ / grain; j++) {
                to[j] = ((const part *)&held[k])[j];
            }
        }
    }
};

} // namespace quern
