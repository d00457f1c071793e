// SPDX-License-Identifier: MIT
//
// lines: runs of memory on their way to shared memory and back. In: a run of whole elements. Out:
// the same bytes, as far behind a multiple of 128 as in memory. The whole block calls.
//
// The thing to know: all but the ends go in words of 16 bytes, and the words of a line of the cache
// arrive together. They take one turn where they fill one row of the banks, else two: on an H200 a
// scan went at 0.84 of a copy's speed with its room 48 bytes out of step, at 0.90 in step.
#pragma once

namespace quern
{

constexpr int line_threads = 256; // of a block

// How far behind the beginning of a line of the cache an address is.
__device__ __forceinline__ int phase(const void *at)
{
    return (int)((size_t)at % 128);
}

// The words of a run of `bytes` that begins at `at`, and the bytes before the first.
struct run_words {
    int head, count;

    __device__ __forceinline__ run_words(const void *at, int bytes)
        : head(min((int)(-(size_t)at & 15), bytes)), count((bytes - head) / 16)
    {
    }
    // Where byte `k` of those that no word has lies in the run.
    __device__ __forceinline__ int single(int k) const
    {
        return k < head ? k : k + 16 * count;
    }
};

// Where byte `at` lies. With GAP_, a word is left out after so many bytes, so that what lies a power
// of two apart meets other banks.
template <int GAP_> __device__ __forceinline__ int spot(int at)
{
    if constexpr (GAP_ > 0) {
        return at + at / GAP_ * 16;
    }
    return at;
}

// Begin to bring a run of elements of I bytes in. `to`: aligned to 128 bytes.
template <int I_, int GAP_ = 0>
__device__ __forceinline__ void bring(char *to, const char *from, int bytes)
{
    typedef typename word<I_>::type element;
    const run_words words(from, bytes);
    const int first = phase(from);
#pragma unroll 4
    for (int k = threadIdx.x; k < words.count; k += line_threads) {
        const int at = words.head + 16 * k;
        bring_word(to + spot<GAP_>(first + at), from + at);
    }
    const int singles = bytes - 16 * words.count;
#pragma unroll 1
    for (int k = threadIdx.x * I_; k < singles; k += line_threads * I_) {
        const int at = words.single(k);
        *(element *)(to + spot<GAP_>(first + at)) = *(const element *)(from + at);
    }
}

// The same, with both ends in words, too, that lie between `least` and `most`, where all is memory.
template <int I_>
__device__ __forceinline__ void bring_words(char *to, const char *from, int bytes,
                                            const char *least, const char *most)
{
    typedef typename word<I_>::type element;
    const int off = (int)((size_t)from & 15), end = off + bytes;
    const char *const start = from - off;
    to += phase(start);
    // The words are those from byte `first` to `last`; `head` bytes lie in front of them, and others
    // from `rest` on behind them.
    const int first = start < least ? 16 : 0;
    const int last = start + (end + 15) / 16 * 16 > most ? end / 16 * 16 : end;
#pragma unroll 2
    for (int k = first + 16 * threadIdx.x; k < last; k += 16 * line_threads) {
        bring_word(to + k, start + k);
    }
    const int head = max(min(first, end) - off, 0), rest = max(last, off + head);
#pragma unroll 1
    for (int k = threadIdx.x * I_; k < head + end - rest; k += line_threads * I_) {
        const int at = k < head ? off + k : rest + k - head;
        *(element *)(to + at) = *(const element *)(start + at);
    }
}

// Take a run back that begins at byte `first` of shared memory, as far behind a multiple of 16 as in
// memory.
template <int I_, int GAP_ = 0>
__device__ __forceinline__ void take_back(char *to, const char *from, int first, int bytes)
{
    typedef typename word<I_>::type element;
    const run_words words(to, bytes);
#pragma unroll 4
    for (int k = threadIdx.x; k < words.count; k += line_threads) {
        const int at = words.head + 16 * k;
        *(uint4 *)(to + at) = *(const uint4 *)(from + spot<GAP_>(first + at));
    }
    const int singles = bytes - 16 * words.count;
#pragma unroll 1
    for (int k = threadIdx.x * I_; k < singles; k += line_threads * I_) {
        const int at = words.single(k);
        *(element *)(to + at) = *(const element *)(from + spot<GAP_>(first + at));
    }
}

// Put a pack into shared memory, in one access.
template <typename P_> __device__ __forceinline__ void put_pack(void *to, const P_ &pack)
{
    constexpr int words = sizeof(P_) / 4;
    if constexpr (words == 1 || words == 2 || words == 4) {
        unsigned word[words];
        memcpy(word, &pack, sizeof pack);
        const unsigned at = (unsigned)__cvta_generic_to_shared(to);
        if constexpr (words == 1) {
            asm volatile("st.shared.b32 [%0], %1;" ::"r"(at), "r"(word[0]) : "memory");
        } else if constexpr (words == 2) {
            asm volatile("st.shared.v2.b32 [%0], {%1, %2};" ::"r"(at), "r"(word[0]), "r"(word[1])
                         : "memory");
        } else {
            asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(at), "r"(word[0]),
                         "r"(word[1]), "r"(word[2]), "r"(word[3])
                         : "memory");
        }
    } else {
        *(P_ *)to = pack;
    }
}

} // namespace quern
