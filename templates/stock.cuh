// SPDX-License-Identifier: MIT
//
// stock: what the threads of a block hold of an operand while the block waits: words of units, each
// thread's own. In: units of BYTES_ bytes in memory, aligned to words of 16 bytes, or of 4 or 8. Out:
// their elements, N_ units at once and in their order, as often as they are asked for.
//
// The thing to know: PARKED_ units of a thread lie in shared memory, to which they go without
// passing through registers, and OWN_ more in registers: a processor holds more in both than in
// either. The compiler knows which of those in registers is meant: their loops are unrolled.
#pragma once

namespace quern
{

template <int BYTES_, int PARKED_, int OWN_, int THREADS_> struct stock {
    static constexpr int size = BYTES_ < 16 ? BYTES_ : 16, parts = BYTES_ / size; // of a word
    static_assert(BYTES_ % size == 0, "units are of whole words");
    typedef typename word<size>::type word_type;
    word_type *room; // in shared memory, where a warp's words begin a row of the banks
    word_type own[OWN_ > 0 ? OWN_ : 1][parts];

    __device__ __forceinline__ explicit stock(void *memory)
        : room((word_type *)memory + threadIdx.x)
    {
    }

    __device__ __forceinline__ word_type *place(int step, int part) const
    {
        return room + (step * parts + part) * THREADS_;
    }
    // Begin to bring unit `step`, one of those in shared memory; of those in registers.
    __device__ __forceinline__ void bring(int step, const char *from)
    {
#pragma unroll
        for (int j = 0; j < parts; j++) {
            bring_word<size>(place(step, j), from + size * j);
        }
    }
    __device__ __forceinline__ void load(int step, const char *from)
    {
#pragma unroll
        for (int j = 0; j < parts; j++) {
            own[step - PARKED_][j] = ((const word_type *)from)[j];
        }
    }
    // Put elements where they would be brought to.
    template <typename T_, int L_> __device__ __forceinline__ void put(int step, const T_ (&v)[L_])
    {
        word_type words[parts];
        memcpy(words, v, sizeof words);
#pragma unroll
        for (int j = 0; j < parts; j++) {
            *place(step, j) = words[j];
        }
    }
    // The elements of units `step` ... `step` + N_ - 1, which all lie in shared memory, or
    // (`registers`) do not.
    template <int N_, typename T_>
    __device__ __forceinline__ void take(bool registers, int step, T_ (&v)[N_]) const
    {
        word_type words[N_][parts];
#pragma unroll
        for (int k = 0; k < N_; k++) {
#pragma unroll
            for (int j = 0; j < parts; j++) {
                words[k][j] = registers ? own[step - PARKED_ + k][j] : *place(step + k, j);
            }
        }
        memcpy(v, words, sizeof words);
    }
};

// Elements of a unit to memory, which is aligned to words.
template <typename T_, int L_>
__device__ __forceinline__ void give_words(char *to, const T_ (&v)[L_])
{
    uint4 word[sizeof v / 16];
    memcpy(word, v, sizeof v);
#pragma unroll
    for (int j = 0; j < (int)(sizeof v / 16); j++) {
        store_word(to + 16 * j, word[j]);
    }
}

} // namespace quern
