// SPDX-License-Identifier: MIT
//
// box: inputs of a box on their way to shared memory, and what the box gives of the output. In: where
// a box begins in an operand's memory, and a table of where its runs lie from there; a run is what
// lies on in memory but for small gaps. Out: the runs in shared memory; which elements of a run of
// the output are given in packs. Runs go in pieces of 16 bytes, aligned in both: a byte lies as far
// from a multiple of 16 here as there, so nothing is shifted.
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

// How far the parts of a box lie from each other in shared memory that take `bytes` and in memory
// are `stride` apart: so far that no pieces of two overlap, which have up to 15 bytes beside each
// end; as far as in memory from a multiple of 16, so that pieces are aligned in both; and no multiple
// of 32, so that parts meet other banks.
__device__ __forceinline__ int pitch(int bytes, int stride)
{
    const int least = bytes + 15, pitch = least + ((abs(stride) - least) & 15);
    return pitch % 32 == 0 ? pitch + 16 : pitch;
}

// Elements from one scan to the next, of `piece` elements of B bytes: an odd number of words, so that
// threads meet in different banks.
template <int B_> __device__ __forceinline__ int box_pitch(int piece)
{
    constexpr int word = B_ < 4 ? 4 / B_ : 1;
    return piece <= max(word, 2) ? piece : ((piece + word - 1) / word | 1) * word;
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

// A run of an input: it begins `offset` bytes from the box, and is kept at `spot`. `part`: bits for
// the cuts along which the last box has the run.
__device__ __forceinline__ int2 box_run(int offset, int spot, unsigned part)
{
    return make_int2(offset, (int)((unsigned)spot | part << 16));
}

// Begin to bring runs of `bytes` in, each in so many pieces. The first of a run may begin before it;
// the last is left out where it would begin after it.
__device__ __forceinline__ void fetch_runs(unsigned char *tile, const int2 *runs, unsigned need,
                                           int count, const part &pieces, int bytes,
                                           const char *array, const place &box)
{
    // From an argument of the kernel, so that the compiler knows which memory it is.
    const char *const begin = array + (box.at - (long long)array);
    const unsigned needs = need << 16;
#pragma unroll 2
    for (int at = threadIdx.x; at < count * pieces.by; at += 256) {
        const int own = pieces.of(at), on = 16 * (at - own * pieces.by);
        const int2 r = runs[own];
        const int offset = r.x + box.past, past = offset & 15, from = offset + on - past;
        unsigned char *const to = tile + ((r.y & 0xffff) + box.past + on - past);
        if (on - past >= bytes || (r.y & needs) != needs) {
            continue;
        }
        if (from < box.low || from + 16 > box.high) { // the operand's memory has a part of it
#pragma unroll 1
            for (int k = max(from, box.low); k < min(from + 16, box.high); k++) {
                to[k - from] = *(const unsigned char *)(begin + k);
            }
        } else {
            bring_word(to, begin + from);
        }
    }
}

// What a box gives of a run of the output: elements `low` ... `high` - 1, of which packs, aligned in
// memory, have those from `head` on. `offset`: where its first element lies from a multiple of 16
// bytes, or of 32 if the box begins `early`; `here`: elements of the run in this box. One that begins
// so many elements of the run early gives them, and as many at its end, only as far as whole sectors
// do; the `first` box has nothing before, and the `last` all that is left.
template <int B_, int L_> struct window {
    int low, head, high;

    __device__ __forceinline__ window(int offset, int here) : low(0), high(here)
    {
        begin(offset);
    }
    __device__ __forceinline__ window(int offset, int here, int early, bool first, bool last)
        : low(early), high(here)
    {
        const int past = ((offset + early * B_) & 31) / B_;
        low -= first ? 0 : past;
        high -= last ? 0 : past;
        begin(offset);
    }

    // Which element is the `k`th of 2 L_ that no pack has: L_ before the first, L_ behind the last.
    // -1: there is none.
    __device__ __forceinline__ int end(int k) const
    {
        const int at = k < L_ ? low + k : head + ((high - head) & ~(L_ - 1)) + k - L_;
        return at < (k < L_ ? head : high) ? at : -1;
    }

private:
    __device__ __forceinline__ void begin(int offset)
    {
        head = min(low + (-(offset + low * B_) & (B_ * L_ - 1)) / B_, high);
    }
};

} // namespace quern
