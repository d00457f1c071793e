// SPDX-License-Identifier: MIT
//
// pack: several elements side by side, moved in accesses of up to 16 bytes.
#pragma once
#define QUERN_HAS_PACK 1

namespace quern
{

template <int B_> struct word;
template <> struct word<1> {
    typedef unsigned char type;
};
template <> struct word<2> {
    typedef unsigned short type;
};
template <> struct word<4> {
    typedef unsigned type;
};
template <> struct word<8> {
    typedef uint2 type;
};
template <> struct word<16> {
    typedef uint4 type;
};

__device__ __forceinline__ void store_word(void *to, unsigned char v)
{
    *(unsigned char *)to = v;
}
__device__ __forceinline__ void store_word(void *to, unsigned short v)
{
    *(unsigned short *)to = v;
}
__device__ __forceinline__ void store_word(void *to, unsigned v)
{
    *(unsigned *)to = v;
}
// Written out because the compiler splits a vector store whose parts it has taken apart.
__device__ __forceinline__ void store_word(void *to, uint2 v)
{
    asm volatile("st.global.v2.b32 [%0], {%1, %2};" ::"l"(to), "r"(v.x), "r"(v.y));
}
__device__ __forceinline__ void store_word(void *to, uint4 v)
{
    asm volatile("st.global.v4.b32 [%0], {%1, %2, %3, %4};" ::"l"(to), "r"(v.x), "r"(v.y), "r"(v.z),
                 "r"(v.w));
}

// Begin to bring a word of 4, 8 or 16 bytes to shared memory, without passing through registers where
// the GPU can (compute capability 8.0 and later).
template <int B_ = 16> __device__ __forceinline__ void bring_word(void *to, const void *from)
{
#if __CUDA_ARCH__ >= 800
    const unsigned room = (unsigned)__cvta_generic_to_shared(to);
    if constexpr (B_ == 16) {
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(room), "l"(from) : "memory");
    } else {
        asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(room), "l"(from), "n"(B_)
                     : "memory");
    }
#else
    *(typename word<B_>::type *)to = *(const typename word<B_>::type *)from;
#endif
}
// The same of words of 16 bytes, from byte `at` on each `step`th as long as it lies below `end`. The
// place in shared memory is converted once.
__device__ __forceinline__ void bring_words(void *to, const void *from, int at, int end, int step)
{
#if __CUDA_ARCH__ >= 800
    const unsigned room = (unsigned)__cvta_generic_to_shared(to);
#pragma unroll 1
    for (; at < end; at += step) {
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(room + at),
                     "l"((const char *)from + at)
                     : "memory");
    }
#else
#pragma unroll 1
    for (; at < end; at += step) {
        bring_word((char *)to + at, (const char *)from + at);
    }
#endif
}
// Wait for all words that this thread has begun to bring.
__device__ __forceinline__ void await_words()
{
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

// Of two words that follow each other in memory, N parts of 4 bytes each, as many from byte `off` of
// the first on. S_: what `off` is a multiple of.
template <int S_, int N_>
__device__ __forceinline__ void splice(unsigned (&to)[N_], const unsigned (&both)[2 * N_], int off)
{
    unsigned part[2 * N_];
    memcpy(part, both, sizeof part);
#pragma unroll
    for (int step = N_ / 2; step > 0 && 4 * step >= S_; step /= 2) {
#pragma unroll
        for (int j = 0; j < 2 * N_ - step; j++) {
            part[j] = off & 4 * step ? part[j + step] : part[j];
        }
    }
#pragma unroll
    for (int j = 0; j < N_; j++) {
        to[j] = S_ < 4 ? __funnelshift_r(part[j], part[j + 1], 8 * (off & 3)) : part[j];
    }
}

// L elements of T. W: bytes of one access.
template <typename T_, int L_> struct alignas(sizeof(T_) * L_ < 16 ? sizeof(T_) * L_ : 16) pack {
    static constexpr int W_ = sizeof(T_) * L_ < 16 ? sizeof(T_) * L_ : 16;
    typedef typename word<W_>::type word_type;
    T_ v[L_];

    __device__ __forceinline__ void load(const void *from)
    {
        *this = *(const pack *)from;
    }
    __device__ __forceinline__ void store(void *to) const
    {
        const word_type *w = (const word_type *)this;
#pragma unroll
        for (int k = 0; k < (int)(sizeof(pack) / W_); k++) {
            store_word((char *)to + k * W_, w[k]);
        }
    }
};

// The last element becomes the first.
template <typename P_> __device__ __forceinline__ void turn(P_ &p)
{
    const P_ before = p;
    constexpr int count = sizeof p.v / sizeof p.v[0];
#pragma unroll
    for (int k = 0; k < count; k++) {
        p.v[k] = before.v[count - 1 - k];
    }
}

// Store the packs of a warp's threads, of several words each, to `to`. Where `all` threads do so
// side by side, through shared memory, so that neighbours write words that lie on: else each word
// would be half a sector. `shared`: R_ words for each thread of the block, of which this warp alone
// uses its own threads' now; 0: there is no room.
template <int R_, typename P_>
__device__ __forceinline__ void give_by_warp(const P_ &own, char *to, bool all, void *shared)
{
    constexpr int words = sizeof(P_) / 16;
    constexpr int each = words < 4 && words <= R_ ? words : R_ < 2 ? 1 : R_ < 4 ? 2 : 4;
    static_assert(words % each == 0, "packs have as many words as a power of two");
    const int lane = threadIdx.x % 32;
    const unsigned long long first = all ? __shfl_sync(~0u, (unsigned long long)to, 0) : 0;
    if (R_ == 0 || !all || !__all_sync(~0u, (unsigned long long)to == first + lane * sizeof(P_))) {
        own.store(to);
        return;
    }
    // Of a thread the words change places, so that threads meet in different banks.
    const auto place = [&](int thread, int k) {
        return thread * each + (k ^ (thread * each / 8 & (each - 1)));
    };
    uint4 *const room = (uint4 *)shared + threadIdx.x / 32 * 32 * each;
#pragma unroll
    for (int begin = 0; begin < words; begin += each) {
#pragma unroll
        for (int k = 0; k < each; k++) {
            room[place(lane, k)] = ((const uint4 *)&own)[begin + k];
        }
        __syncwarp();
#pragma unroll
        for (int k = 0; k < each; k++) {
            const int word = 32 * k + lane, thread = word / each, on = word % each;
            store_word((char *)first + thread * sizeof(P_) + (begin + on) * 16,
                       room[place(thread, on)]);
        }
        __syncwarp();
    }
}

} // namespace quern
