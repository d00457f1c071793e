// SPDX-License-Identifier: MIT
//
// stock: what the threads of a block hold of an operand while the block waits: words of units, each
// thread's own. In: units of BYTES_ bytes in memory, aligned to words. Out: their elements, N_ units
// at once and in their order, as often as they are asked for.
//
// The thing to know: PARKED_ units of a thread lie in shared memory, to which they go without
// passing through registers, and OWN_ more in registers: a processor holds more in both than in
// either. The compiler knows which of those in registers is meant: their loops are unrolled.
#pragma once

namespace quern
{

template <int BYTES_, int PARKED_, int OWN_, int THREADS_> struct stock {
    static constexpr int parts = BYTES_ / 16;
    static_assert(BYTES_ % 16 == 0, "units are of whole words");
    uint4 *room; // in shared memory, where a warp's words begin a row of the banks
    uint4 own[OWN_][parts];

    __device__ __forceinline__ explicit stock(void *memory) : room((uint4 *)memory + threadIdx.x) {}

    __device__ __forceinline__ uint4 *place(int step, int part) const
    {
        return room + (step * parts + part) * THREADS_;
    }
    // Begin to bring unit `step`, one of those in shared memory; of those in registers.
    __device__ __forceinline__ void bring(int step, const char *from)
    {
#pragma unroll
        for (int j = 0; j < parts; j++) {
            bring_word(place(step, j), from + 16 * j);
        }
    }
    __device__ __forceinline__ void load(int step, const char *from)
    {
#pragma unroll
        for (int j = 0; j < parts; j++) {
            own[step - PARKED_][j] = ((const uint4 *)from)[j];
        }
    }
    // Put elements where they would be brought to.
    template <typename T_, int L_> __device__ __forceinline__ void put(int step, const T_ (&v)[L_])
    {
        uint4 word[parts];
        memcpy(word, v, sizeof word);
#pragma unroll
        for (int j = 0; j < parts; j++) {
            *place(step, j) = word[j];
        }
    }
    // The elements of units `step` ... `step` + N_ - 1, which all lie in shared memory, or
    // (`registers`) do not.
    template <int N_, typename T_, int L_>
    __device__ __forceinline__ void take(bool registers, int step, T_ (&v)[N_][L_]) const
    {
        uint4 word[N_][parts];
#pragma unroll
        for (int k = 0; k < N_; k++) {
#pragma unroll
            for (int j = 0; j < parts; j++) {
                word[k][j] = registers ? own[step - PARKED_ + k][j] : *place(step + k, j);
            }
        }
        memcpy(v, word, sizeof word);
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
