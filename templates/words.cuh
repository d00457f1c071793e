// SPDX-License-Identifier: MIT
//
// words: packs on their way from memory, as the words that were read. In: an address. Out: the pack.
// They are read in one step and become elements in another, so that the reads of several packs are
// under way at once, and take no more registers than words.
#pragma once

namespace quern
{

// N elements of T that lie on in memory, in whole words of W bytes.
template <typename T_, int N_, int W_> struct alignas(W_) run {
    typedef typename word<W_>::type word_type;
    T_ v[N_];

    __device__ __forceinline__ void load(const void *from)
    {
        *this = *(const run *)from;
    }
    __device__ __forceinline__ void store(void *to) const
    {
        const word_type *const w = (const word_type *)this;
#pragma unroll
        for (int k = 0; k < (int)(sizeof(run) / W_); k++) {
            store_word((char *)to + k * W_, w[k]);
        }
    }
};

// A whole number of B bytes.
template <int B_> struct number {
    typedef typename word<B_>::type type;
};
template <> struct number<8> {
    typedef unsigned long long type;
};

// A pack that is aligned.
template <typename P_> struct held {
    typedef typename P_::word_type word_type;
    static constexpr int count = sizeof(P_) / sizeof(word_type);
    word_type word[count];

    __device__ __forceinline__ void load(const void *from)
    {
#pragma unroll
        for (int k = 0; k < count; k++) {
            word[k] = ((const word_type *)from)[k];
        }
    }
    // Elements [low, high) of it, and nothing beside; so seldom that short code matters more.
    __device__ __forceinline__ void load_some(const void *from, int low, int high)
    {
        constexpr int bytes = sizeof(P_::v[0]), half = 8 / bytes;
        constexpr int pieces = (sizeof(P_) + 15) / 16, words = 16 / sizeof(word_type);
        typedef typename number<bytes>::type element;
#pragma unroll
        for (int piece = 0; piece < pieces; piece++) {
            alignas(16) unsigned long long part[2] = {0, 0};
            const int first = 2 * half * piece;
#pragma unroll 1
            for (int k = max(low, first); k < min(high, first + 2 * half); k++) {
                const unsigned long long one = (unsigned long long)((const element *)from)[k]
                                               << 8 * bytes * (k % half);
                part[0] |= k - first < half ? one : 0;
                part[1] |= k - first < half ? 0 : one;
            }
            const word_type *const filled = (const word_type *)part;
#pragma unroll
            for (int k = 0; k < words && k + words * piece < count; k++) {
                word[words * piece + k] = filled[k];
            }
        }
    }
    // As P, or as another pack of so many bytes.
    template <typename To_> __device__ __forceinline__ void give(To_ &to) const
    {
        to.load(word);
    }
};

// A pack of narrow elements that lies at any multiple of theirs, in aligned words of 4 bytes; of the
// first and the last of them a part may belong to what lies beside.
template <typename P_> struct shifted {
    static constexpr int count = sizeof(P_) / 4;
    unsigned word[count + 1], shift;

    __device__ __forceinline__ void load(const void *from)
    {
        const unsigned past = (unsigned)(size_t)from & 3;
        const unsigned *const first = (const unsigned *)((const char *)from - past);
#pragma unroll
        for (int k = 0; k < count; k++) {
            word[k] = first[k];
        }
        // An aligned pack has no word beyond its last, and needs none.
        word[count] = first[past != 0 ? count : count - 1];
        shift = past * 8;
    }
    // Element by element, and nothing beside: where memory ends, so seldom that short code matters
    // more.
    __device__ __forceinline__ void load_each(const void *from)
    {
        static_assert(count <= 4);
        constexpr int bytes = sizeof(P_::v[0]);
        typedef typename quern::word<bytes>::type element;
        unsigned long long part[2] = {0, 0};
#pragma unroll 1
        for (int k = 0; k < 4 * count; k += bytes) {
            const unsigned long long one =
                (unsigned long long)*(const element *)((const char *)from + k) << 8 * (k % 8);
            part[0] |= k < 8 ? one : 0;
            part[1] |= k < 8 ? 0 : one;
        }
#pragma unroll
        for (int k = 0; k < count; k++) {
            word[k] = (unsigned)(part[k / 2] >> 32 * (k % 2));
        }
        word[count] = shift = 0;
    }
    template <typename To_> __device__ __forceinline__ void give(To_ &to) const
    {
        alignas(16) unsigned part[count];
#pragma unroll
        for (int k = 0; k < count; k++) {
            part[k] = __funnelshift_r(word[k], word[k + 1], shift);
        }
        to.load(part);
    }
};

// A pack whose last element comes first in memory, held as H holds it; its elements are narrow, of S
// bytes.
template <template <typename> class H_, typename P_, int S_> struct turned : H_<P_> {
    __device__ __forceinline__ void give(P_ &to) const
    {
        constexpr int count = sizeof(P_) / 4;
        P_ there;
        H_<P_>::give(there);
        alignas(16) unsigned part[count];
        const unsigned *const word = (const unsigned *)&there;
#pragma unroll
        for (int k = 0; k < count; k++) {
            part[k] = __byte_perm(word[count - 1 - k], 0, S_ == 1 ? 0x0123 : 0x1032);
        }
        to.load(part);
    }
};

// What the threads of a warp take of a run that lies on in memory, B bytes for each, on its way to
// shared memory: neighbouring threads read neighbouring words of 16 bytes, whatever their own bytes
// are. Both ends are aligned to those. The warp calls.
template <int B_> struct relay {
    static constexpr int words = 2 * B_, steps = (words + 31) / 32;
    uint4 word[steps];

    __device__ __forceinline__ static bool there(int step)
    {
        return 32 * step + 32 <= words || 32 * step + threadIdx.x % 32 < words;
    }
    __device__ __forceinline__ void load(const void *from)
    {
#pragma unroll
        for (int k = 0; k < steps; k++) {
            if (there(k)) {
                word[k] = ((const uint4 *)from)[32 * k + threadIdx.x % 32];
            }
        }
    }
    __device__ __forceinline__ void put(void *to) const
    {
#pragma unroll
        for (int k = 0; k < steps; k++) {
            if (there(k)) {
                ((uint4 *)to)[32 * k + threadIdx.x % 32] = word[k];
            }
        }
    }
};

} // namespace quern
