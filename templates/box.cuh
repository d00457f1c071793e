// SPDX-License-Identifier: MIT
//
// box: inputs of a box on their way to shared memory. In: where a box begins in an operand's
// memory, and a table of where its runs lie from there; a run is what lies on in memory but for
// small gaps. Out: the runs in shared memory. They go in pieces of 16 bytes, aligned in both: a byte
// lies as far from a multiple of 16 here as there, so nothing is shifted.
#pragma once

namespace quern
{

// All memory of an operand, in bytes from its first element.
struct memory {
    long long low, high;

    __device__ void reach(long long by)
    {
        low += min(by, 0ll);
        high += max(by, 0ll);
    }
};

// An operand of a box: the address where it begins, less `past` bytes, a multiple of 16, and what
// memory the operand has from there.
struct place {
    long long at;
    int past, low, high;

    __device__ void begin(const void *array, long long base, const memory &m)
    {
        past = (int)((long long)array + base) & 15;
        at = (long long)array + base - past;
        low = (int)max(m.low - base + past, -(1ll << 30));
        high = (int)min(m.high - base + past, 1ll << 30);
    }
};

// Where parts of a box are read `across`, and lie a multiple of 8 apart in memory, they would meet
// in few banks: they lie an odd number of words apart in shared memory, and pieces are not aligned.
__device__ __forceinline__ bool is_odd(int stride, bool across)
{
    return across && stride % 8 == 0;
}
// How far the parts of a box lie from each other in shared memory that take `bytes` and in memory
// are `stride` apart: so far that no pieces of two overlap, which have up to 15 bytes beside each
// end, or less where both ends are aligned as in memory; `odd`: inside there are some that are not.
// And as far as in memory from a multiple of 16, so that pieces stay aligned.
__device__ __forceinline__ int pitch(int bytes, int stride, bool across, bool odd)
{
    const int least = bytes + (odd || is_odd(stride, across) ? 30 : 15);
    return is_odd(stride, across) ? least + ((4 - least) & 7) : least + ((abs(stride) - least) & 15);
}

// A piece: its run begins `offset` bytes from the box and takes `bytes`, 16 * `before` of them
// before it, and is kept at `spot`. `part`: bits for the cuts along which the last box has the run.
__device__ __forceinline__ int2 piece(int offset, int spot, int before, int bytes, unsigned part)
{
    const int beyond = min(max(16 * before - bytes, -1), 15) + 1;
    return make_int2(offset + 16 * before,
                     (int)((unsigned)(spot + 16 * before) | part << 16 | (unsigned)beyond << 19));
}

// Pieces of an input, T of a thread under way at once. The first of a run may begin before it; the
// last is left out where it would begin after it.
template <int T_>
__device__ __forceinline__ void fetch_pieces(unsigned char *tile, const int2 *pieces, unsigned need,
                                             int count, bool aligned, const char *array,
                                             const place &box)
{
    // From an argument of the kernel, so that the compiler knows which memory it is.
    const char *const begin = array + (box.at - (long long)array);
    const unsigned needs = need << 16;
#pragma unroll 1
    for (int first = threadIdx.x; first < count; first += 256 * T_) {
        uint4 held[T_];
        int to[T_];
        bool beyond = false;
#pragma unroll
        for (int turn = 0; turn < T_; turn++) {
            const int2 p = pieces[min(first + 256 * turn, count - 1)];
            const int offset = p.x + box.past, past = offset & 15, from = offset - past;
            const bool has = past >= p.y >> 19 && (p.y & needs) == needs;
            const bool inside = from >= box.low && from + 16 <= box.high;
            beyond |= has && !inside;
            to[turn] = has && inside ? (p.y & 0xffff) + box.past - past : -1;
            if (to[turn] >= 0) {
                held[turn] = *(const uint4 *)(begin + from);
            }
        }
#pragma unroll
        for (int turn = 0; turn < T_; turn++) {
            if (to[turn] >= 0 && aligned) {
                *(uint4 *)(tile + to[turn]) = held[turn];
            } else if (to[turn] >= 0) {
                unsigned *const words = (unsigned *)(tile + to[turn]);
                words[0] = held[turn].x;
                words[1] = held[turn].y;
                words[2] = held[turn].z;
                words[3] = held[turn].w;
            }
        }
        if (beyond) { // of a piece that the operand's memory has in part
#pragma unroll 1
            for (int at = first; at < min(first + 256 * T_, count); at += 256) {
                const int2 p = pieces[at];
                const int offset = p.x + box.past, past = offset & 15, from = offset - past;
                const bool inside = from >= box.low && from + 16 <= box.high;
                if (past >= p.y >> 19 && (p.y & needs) == needs && !inside) {
#pragma unroll 1
                    for (int k = max(from, box.low); k < min(from + 16, box.high); k++) {
                        tile[(p.y & 0xffff) + box.past - past + k - from] =
                            *(const unsigned char *)(begin + k);
                    }
                }
            }
        }
    }
}

// Division of a number below 2^15 by one that is not known to the compiler.
struct part {
    int by;
    unsigned magic;

    __device__ part(int by) : by(by), magic(0x80000000u / (unsigned)by + 1)
    {
    }
    __device__ int of(int n) const
    {
        return (int)__umulhi((unsigned)n * 2, magic);
    }
};

} // namespace quern
