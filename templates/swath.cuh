// SPDX-License-Identifier: MIT
//
// swath: what a warp has of rows that lie at any alignment, in aligned words. In: where each lane's
// unit of a row begins, and how much of the row lies around it. Out: units in registers; results in
// memory. In between, each position has a row of words in shared memory.
//
// The thing to know: a unit begins in one word and ends in the next. Results go back in words that
// begin inside a unit: those of a swath end where those of the next begin, so that memory gets
// whole words but where rows end. For that, neighbouring swaths have two units in common: what the
// last two lanes have is read, and not written. Where each lane writes its own unit instead, memory
// gets parts of sectors, which takes several times as long.
#pragma once

namespace quern
{

constexpr int swath_units = 30; // of a swath's own: QN_SWATH_UNITS

// L elements of T of each lane. Addresses are those of the lane's unit, and places in a row the
// lane's; `front` and `behind` say how many bytes of the row lie in front of an address and from it
// on, as far as they matter. The warp calls.
template <typename T_, int L_> struct swath {
    static constexpr int item = sizeof(T_), size = L_ * item, parts = size / 4; // of a unit
    static constexpr int bytes = 32 * size;                                     // of a row
    static_assert(size == 4 || size == 8 || size == 16, "a unit is as large as a word");
    typedef typename word<size>::type word_type;
    typedef typename word < item<4 ? item : 4>::type element; // what is moved one by one

    __device__ __forceinline__ static int off(const char *at)
    {
        return (int)((size_t)at % size);
    }
    // The word in which `at` lies.
    __device__ __forceinline__ static const char *word_of(const char *at)
    {
        return (const char *)((size_t)at & ~(size_t)(size - 1));
    }
    // True when a lane's word belongs to its row whole, wherever that lies.
    __device__ __forceinline__ static bool has_word(int front, int behind)
    {
        return front >= size && behind >= size;
    }
    // Begin to bring it.
    __device__ __forceinline__ static void bring(char *to, const char *at)
    {
        bring_word<size>(to, word_of(at));
    }
    // The same of a word of which the row may have a part. `alone`: there may be no memory beside
    // the row.
    __device__ __forceinline__ static void bring_some(char *to, const char *at, int front,
                                                      int behind, bool alone)
    {
        const int low = max(off(at) - front, 0), high = min(behind + off(at), size);
        if (low >= high) {
            return;
        }
        if (!alone || (low == 0 && high == size)) {
            bring(to, at);
            return;
        }
#pragma unroll 1
        for (int k = low; k < high; k += sizeof(element)) {
            *(element *)(to + k) = *(const element *)(word_of(at) + k);
        }
    }

    // A unit, of which the row has the first `there` elements: the others repeat the first.
    // `place`: where it lies in memory, of which the last bits matter.
    template <typename P_>
    __device__ __forceinline__ static void take(P_ &to, const char *from, unsigned place, int there)
    {
        const word_type both[2] = {((const word_type *)from)[0], ((const word_type *)from)[1]};
        unsigned all[2 * parts], part[parts];
        memcpy(all, both, sizeof all);
        splice<item>(part, all, (int)(place % size));
        if (there < L_) {
            repeat(part, there);
        }
        alignas(16) unsigned words[parts];
        whole(words, part);
        to.load(words);
    }
    // What has bytes on one side and words on the other goes by words: or the compiler takes all
    // words apart.
    __device__ __forceinline__ static void whole(unsigned (&to)[parts],
                                                 const unsigned (&from)[parts])
    {
#pragma unroll
        for (int j = 0; j < parts; j++) {
            unsigned word = from[j];
            asm volatile("" : "+r"(word));
            to[j] = word;
        }
    }
    __device__ __forceinline__ static void repeat(unsigned (&part)[parts], int there)
    {
        if constexpr (item > 4) {
#pragma unroll
            for (int j = item / 4; j < parts; j++) {
                part[j] = part[j % (item / 4)];
            }
        } else {
            const unsigned first =
                item < 4 ? __byte_perm(part[0], 0, item == 1 ? 0 : 0x1010) : part[0];
#pragma unroll
            for (int j = 0; j < parts; j++) {
                const unsigned gone = ~0ull << 8 * min(max(there * item - 4 * j, 0), 4);
                part[j] = (part[j] & ~gone) | (first & gone);
            }
        }
    }

    // True when the word that begins in a lane's unit is to be written whole, wherever that lies.
    __device__ __forceinline__ static bool gives_word(int behind)
    {
        return threadIdx.x % 32 < swath_units && behind >= 2 * size;
    }
    // Results to the unit at `at`. `room`: for a row, which lanes still read when they return.
    // `has`: what gives_word() says. `first`: the swath is the first of its row, and the last
    // lane's word is that in which the row begins.
    template <typename P_>
    __device__ __forceinline__ static void give(char *at, const P_ &p, char *room, int behind,
                                                bool has, bool first)
    {
        const int lane = threadIdx.x % 32, past = (int)(-(unsigned)(size_t)at % size);
        unsigned packed[parts], own[parts], part[parts];
        memcpy(packed, &p, size);
        whole(own, packed);
        word_type both[2];
        memcpy(&both[0], own, size);
        *(word_type *)room = both[0];
        __syncwarp();
        both[1] = *(const word_type *)(room + (lane < 31 ? size : -31 * size));
        unsigned all[2 * parts];
        memcpy(all, both, sizeof all);
        splice<item>(part, all, past);
        if (has) {
            word_type whole;
            memcpy(&whole, part, size);
            store_word((char *)word_of(at + size - 1), whole);
        } else if (lane < swath_units) {
            give_some(at + past, part, 0, min(behind - past, size));
        } else if (lane == 31 && first && past > 0) {
            give_some(at + past - 32 * size, part, size - past, size);
        }
    }
    __device__ __forceinline__ static void give_some(char *at, const unsigned (&part)[parts],
                                                     int low, int high)
    {
        unsigned long long half[2] = {0, 0};
        memcpy(half, part, size);
#pragma unroll 1
        for (int k = low; k < high;) {
            const unsigned long long rest = (k < 8 ? half[0] : half[1]) >> 8 * (k % 8);
            if (item < 4 && k % 4 == 0 && k + 4 <= high) {
                *(unsigned *)(at + k) = (unsigned)rest;
                k += 4;
            } else {
                *(element *)(at + k) = (element)rest;
                k += sizeof(element);
            }
        }
    }
};

} // namespace quern
