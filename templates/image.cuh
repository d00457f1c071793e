// SPDX-License-Identifier: MIT
//
// image: the runs of a box of a scan or a map, on their way to shared memory and back. In: a run,
// bytes that lie on in memory, of elements of I bytes. Out: the same bytes, as far behind a multiple
// of 16 as in memory. The thing to know: some neighbouring threads, a power of two, take a run, so
// that short ones leave few of them idle. Where a box lies (site.cuh) a few threads find for all.
#pragma once

namespace quern
{

// How the block shares out runs of at most so many bytes: a run has `1 << shift` threads, of which
// this one is `mine`; its first run, and how many runs on the next one is. A thread has several
// words of long runs, unless the block has few.
struct sharing {
    int shift, mine, first, abreast;

    __device__ __forceinline__ sharing(int bytes, int runs) : shift(0)
    {
        const int words = (bytes + 30) / 16; // wherever the run begins
        while (1 << shift < words && shift < 2) {
            shift++;
        }
        while (shift < 5 && 6 << shift <= words) {
            shift++;
        }
        while (1 << shift < words && runs << shift <= 128) {
            shift++;
        }
        mine = threadIdx.x & ((1 << shift) - 1);
        first = threadIdx.x >> shift;
        abreast = 256 >> shift;
    }
};

// A number that the compiler keeps, where it would rather compute it again and again.
__device__ __forceinline__ int settled(int n)
{
    asm volatile("" : "+r"(n));
    return n;
}

// Begin to bring a run in, of elements of I bytes. `low`, `high`: what memory there is, in bytes from
// its begin. Mostly that has all of the run's words; else elements are asked one by one where it does
// not, as far as it goes.
template <int I_>
__device__ __forceinline__ void bring_run(char *to, const char *from, int bytes,
                                          const sharing &share, int low, int high)
{
    typedef typename word<I_>::type element;
    const int past = (int)((size_t)from & 15), step = 16 << share.shift;
    int at = 16 * share.mine - past;
    if (low <= -past && high >= bytes + 15) {
        bring_words(to, from, at, bytes, step);
        return;
    }
#pragma unroll 1
    for (; at < bytes; at += step) {
        if (at >= low && at + 16 <= high) {
            bring_word(to + at, from + at);
        } else {
#pragma unroll 1
            for (int b = max(at, max(low, 0)); b < min(at + 16, min(bytes, high)); b += I_) {
                *(element *)(to + b) = *(const element *)(from + b);
            }
        }
    }
}

// Begin to bring an element in, of those that go one by one.
template <int I_> __device__ __forceinline__ void bring_element(void *to, const void *from)
{
    if constexpr (I_ >= 4) {
        bring_word<I_>(to, from);
    } else {
        *(typename word<I_>::type *)to = *(const typename word<I_>::type *)from;
    }
}

// S bytes of an end, at byte `at` of the run, if its length `has` them.
template <int S_, int I_>
__device__ __forceinline__ void take_piece(char *to, const char *from, int at, int has)
{
    typedef typename word<S_>::type piece;
    if (S_ >= I_ && (has & S_) != 0) {
        *(piece *)(to + at) = *(const piece *)(from + at);
    }
}

// Take a run back: in words, and what is in front of the first and behind the last by one thread
// each, in pieces that grow towards the words.
template <int I_>
__device__ __forceinline__ void take_run(char *to, const char *from, int bytes,
                                         const sharing &share)
{
    typedef typename word<I_>::type element;
    const run_words words(to, bytes);
#pragma unroll 1
    for (int k = share.mine; k < words.count; k += 1 << share.shift) {
        const int at = words.head + 16 * k;
        store_word(to + at, *(const uint4 *)(from + at));
    }
    if (bytes < 31) { // there may be no word
#pragma unroll 1
        for (int k = share.mine * I_; k < bytes - 16 * words.count; k += I_ << share.shift) {
            const int at = words.single(k);
            *(element *)(to + at) = *(const element *)(from + at);
        }
        return;
    }
    if (share.mine == 0) {
        const int head = words.head;
        take_piece<1, I_>(to, from, 0, head);
        take_piece<2, I_>(to, from, head & 1, head);
        take_piece<4, I_>(to, from, head & 3, head);
        take_piece<8, I_>(to, from, head & 7, head);
    }
    if (share.mine == 1) { // runs of two words and more have several threads
        const int end = words.head + 16 * words.count, rest = bytes - end;
        take_piece<8, I_>(to, from, end, rest);
        take_piece<4, I_>(to, from, end + (rest & 8), rest);
        take_piece<2, I_>(to, from, end + (rest & 12), rest);
        take_piece<1, I_>(to, from, end + (rest & 14), rest);
    }
}

} // namespace quern
