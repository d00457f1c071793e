// SPDX-License-Identifier: MIT
//
// keys: the greatest or the least of bytes, and which element it is, by two at once. In: words of packs
// of bytes. Out: keys of 16 bits, a byte above its rank among some elements, of which one instruction
// compares two pairs (compute capability 9.0). Of equal bytes the one with the lower rank is FIRST, or
// else the one with the higher. Bools are 0 or any other byte.
#pragma once

// Elsewhere a pair takes as long as two numbers. A test may ask for it nonetheless.
#ifndef QUERN_PAIRS
#define QUERN_PAIRS (__CUDA_ARCH__ >= 900)
#endif

namespace quern
{

template <bool SIGNED_, bool GREATEST_>
__device__ __forceinline__ unsigned better_pair(unsigned a, unsigned b)
{
#if __CUDA_ARCH__ >= 900
    unsigned v;
    if constexpr (SIGNED_ && GREATEST_) {
        asm("max.s16x2 %0, %1, %2;" : "=r"(v) : "r"(a), "r"(b));
    } else if constexpr (SIGNED_) {
        asm("min.s16x2 %0, %1, %2;" : "=r"(v) : "r"(a), "r"(b));
    } else if constexpr (GREATEST_) {
        asm("max.u16x2 %0, %1, %2;" : "=r"(v) : "r"(a), "r"(b));
    } else {
        asm("min.u16x2 %0, %1, %2;" : "=r"(v) : "r"(a), "r"(b));
    }
    return v;
#else
    const unsigned flip = SIGNED_ ? 0x8000u : 0;
    const unsigned low = ((a ^ flip) & 0xffff) < ((b ^ flip) & 0xffff) ? b : a;
    const unsigned other_low = low == a ? b : a;
    const unsigned high = (a ^ flip << 16) >> 16 < (b ^ flip << 16) >> 16 ? b : a;
    const unsigned other_high = high == a ? b : a;
    return ((GREATEST_ ? low : other_low) & 0xffff) | ((GREATEST_ ? high : other_high) & 0xffff0000u);
#endif
}

// Of L lanes.
template <int L_, bool SIGNED_, bool BOOL_, bool GREATEST_, bool FIRST_> struct byte_keys {
    unsigned pair[L_ / 2];

    // A unit whose elements have all the same rank, of up to 256; with `more`, beside those before.
    template <typename H_> __device__ __forceinline__ void take(const H_ &held, int rank, bool more)
    {
        alignas(16) unsigned word[L_ / 4];
        words_of(word, held);
        const unsigned beside = coded(rank);
#pragma unroll
        for (int k = 0; k < L_ / 4; k++) {
            put(2 * k, __byte_perm(word[k], beside, 0x1404), more);
            put(2 * k + 1, __byte_perm(word[k], beside, 0x3424), more);
        }
    }
    __device__ __forceinline__ int key(int lane) const
    {
        const unsigned own = lane % 2 == 0 ? pair[lane / 2] << 16 : pair[lane / 2] & 0xffff0000u;
        return SIGNED_ ? (int)own >> 16 : (int)(own >> 16);
    }
    // The best of a unit's elements, ranked by their lanes, or from the last lane on if it `falls`.
    template <typename H_> static __device__ __forceinline__ int best(const H_ &held, bool falls)
    {
        alignas(16) unsigned word[L_ / 4];
        words_of(word, held);
        unsigned pairs = 0;
#pragma unroll
        for (int k = 0; k < L_ / 4; k++) {
            unsigned beside = 0;
#pragma unroll
            for (int lane = 0; lane < 4; lane++) {
                beside |= coded(falls ? L_ - 1 - (4 * k + lane) : 4 * k + lane) << 8 * lane;
            }
            const unsigned own = better(__byte_perm(word[k], beside, 0x1504),
                                        __byte_perm(word[k], beside, 0x3726));
            pairs = k == 0 ? own : better(pairs, own);
        }
        const byte_keys both{{better(pairs, pairs >> 16)}};
        return both.key(0);
    }
    static __device__ __forceinline__ int value(int key)
    {
        return BOOL_ ? key >> 8 != 0 : key >> 8;
    }
    static __device__ __forceinline__ int rank(int key)
    {
        return (int)coded(key & 255);
    }

private:
    static __device__ __forceinline__ unsigned coded(int rank)
    {
        return GREATEST_ == FIRST_ ? 255u - (unsigned)rank : (unsigned)rank;
    }
    static __device__ __forceinline__ unsigned better(unsigned a, unsigned b)
    {
        return better_pair<SIGNED_, GREATEST_>(a, b);
    }
    __device__ __forceinline__ void put(int k, unsigned own, bool more)
    {
        pair[k] = more ? better(pair[k], own) : own;
    }
    template <typename H_>
    static __device__ __forceinline__ void words_of(unsigned (&word)[L_ / 4], const H_ &held)
    {
        pack<unsigned char, L_> bytes;
        held.give(bytes);
        memcpy(word, &bytes, sizeof word);
        if constexpr (BOOL_) {
#pragma unroll
            for (int k = 0; k < L_ / 4; k++) {
                const unsigned low = (word[k] & 0x7f7f7f7fu) + 0x7f7f7f7fu;
                word[k] = (low | word[k]) & 0x80808080u;
            }
        }
    }
};

} // namespace quern
