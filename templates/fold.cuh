// SPDX-License-Identifier: MIT
//
// fold: what reductions and scans are made of: the walk over kept and reduced dimensions, values
// that need no constructor, and the combining of the values of a block's threads, and of blocks.
//
// The thing to know: values are combined in pairs of neighbours, then pairs of pairs, always the
// left one first. So the order is that of the threads, and the same for every launch.
#pragma once

namespace quern
{

// The walk over D dimensions, the kept ones first, of K operands: layout.h has its fields.
template <typename I_, int D_, int K_> struct fold {
    QUERN_FOLD(QUERN_NUMBER, QUERN_DIVIDERS, QUERN_TABLE, D_, K_)
};

// A value that is not there yet: no constructor runs.
template <typename T_> union slot {
    T_ value;
    __device__ slot()
    {
    }
    __device__ slot(const slot &other)
    {
        value = other.value;
    }
    __device__ slot &operator=(const slot &other)
    {
        value = other.value;
        return *this;
    }
};

// Elements `at` to `end` - 1 in batches of TOGETHER_, and what is left one by one. `body` receives where
// a batch begins, and its size, which the compiler knows once it is inlined. KNOWN_: how many there
// are, if that is known: then there is no loop.
template <int TOGETHER_, int KNOWN_, typename F_>
__device__ __forceinline__ void in_batches(int at, int end, const F_ &body)
{
#pragma unroll(KNOWN_ > 0 ? KNOWN_ : 1)
    for (; at + TOGETHER_ <= end; at += TOGETHER_) {
        body(at, TOGETHER_);
    }
#pragma unroll(KNOWN_ > 0 ? KNOWN_ : 1)
    for (; at < end; at++) {
        body(at, 1);
    }
}

// The slot of another thread of the warp, 4 bytes at a time, each as `take` gets it.
template <typename T_, typename F_>
__device__ __forceinline__ slot<T_> by_words(const slot<T_> &own, const F_ &take)
{
    constexpr int words = (sizeof(T_) + 3) / 4;
    unsigned word[words] = {};
    memcpy(word, &own, sizeof(T_));
#pragma unroll
    for (int k = 0; k < words; k++) {
        word[k] = take(word[k]);
    }
    slot<T_> other;
    memcpy(&other, word, sizeof(T_));
    return other;
}

// That of the thread `distance` places up; or of the one with which this one exchanges theirs.
template <typename T_>
__device__ __forceinline__ slot<T_> shuffle_down(const slot<T_> &own, int distance)
{
    return by_words(own,
                    [&](unsigned word) { return __shfl_down_sync(0xffffffffu, word, distance); });
}
template <typename T_>
__device__ __forceinline__ slot<T_> exchanged(const slot<T_> &own, int distance)
{
    return by_words(own,
                    [&](unsigned word) { return __shfl_xor_sync(0xffffffffu, word, distance); });
}

// The fold of the COUNT values from `value(FROM)` on, in their order, but by halves: two neighbours
// first, then two of these. Which of two neighbours has the lower position the compiler knows, so half
// of the comparisons of positions are not there when the kernel runs.
template <int FROM_, int COUNT_, typename V_, typename F_>
__device__ __forceinline__ auto by_halves(const V_ &value, const F_ &reduce)
{
    if constexpr (COUNT_ == 1) {
        return value(FROM_);
    } else {
        const auto low = by_halves<FROM_, COUNT_ / 2>(value, reduce);
        return reduce(low, by_halves<FROM_ + COUNT_ / 2, COUNT_ - COUNT_ / 2>(value, reduce));
    }
}

// A value without its position, and a number that tells which of the elements it is.
template <typename T_, typename I_> struct nth {
    T_ value;
    I_ number;
};

// One of two, word by word: a conditional expression of structures would be a branch.
template <typename T_, typename I_>
__device__ __forceinline__ nth<T_, I_> chosen(bool second, const nth<T_, I_> &a,
                                              const nth<T_, I_> &b)
{
    constexpr int words = sizeof(T_) / 4;
    static_assert(sizeof(T_) % 4 == 0, "a structure with a position is of whole words");
    unsigned one[words], other[words];
    memcpy(one, &a.value, sizeof one);
    memcpy(other, &b.value, sizeof other);
#pragma unroll
    for (int k = 0; k < words; k++) {
        one[k] = second ? other[k] : one[k];
    }
    nth<T_, I_> is;
    memcpy(&is.value, one, sizeof one);
    is.number = second ? b.number : a.number;
    return is;
}

// Combine the slots of the workers `at` = 0 ... count - 1 of each output into worker 0's. `workers`: a
// power of two, the same for the block. Rows: the workers of an output are neighbours in the block.
// `shared`: a slot for each warp, free again behind the block's next barrier. Within warps by shuffles,
// where what others than every second come to is not looked at; then between warps. The slots that are
// written for one distance are not those that were read for the one before: a barrier for each is
// enough.
template <typename T_, typename I_, typename F_>
__device__ __forceinline__ void combine_rows(slot<T_> &own, int at, I_ count, int workers,
                                             const F_ &reduce, slot<T_> *shared)
{
#pragma unroll 1
    for (int distance = 1; distance < workers && distance < 32; distance *= 2) {
        const slot<T_> other = shuffle_down(own, distance);
        if (at + distance < count) {
            own.value = reduce(own.value, other.value);
        }
    }
#pragma unroll 1
    for (int distance = 32; distance < workers; distance *= 2) {
        if ((at & (distance - 1)) == 0) {
            shared[threadIdx.x / 32] = own;
        }
        __syncthreads();
        if ((at & (2 * distance - 1)) == 0 && at + distance < count) {
            own.value = reduce(own.value, shared[(threadIdx.x + distance) / 32].value);
        }
    }
}

// The same with columns: `own` are N outputs side by side, M of them combined at once, and the workers
// of an output are `beside` threads apart. `shared`: M slots for each of the B threads of a block.
template <int B_, int M_, int N_, typename T_, typename I_, typename F_>
__device__ __forceinline__ void combine_columns(slot<T_> (&own)[N_], int at, I_ count, int workers,
                                                int beside, const F_ &reduce, slot<T_> *shared)
{
#pragma unroll
    for (int first = 0; first < N_; first += M_) {
#pragma unroll 1
        for (int distance = 1; distance < workers; distance *= 2) {
            if ((at & (distance - 1)) == 0) {
#pragma unroll
                for (int k = 0; k < M_ && first + k < N_; k++) {
                    shared[k * B_ + threadIdx.x] = own[first + k];
                }
            }
            __syncthreads();
            if ((at & (2 * distance - 1)) == 0 && at + distance < count) {
#pragma unroll
                for (int k = 0; k < M_ && first + k < N_; k++) {
                    own[first + k].value =
                        reduce(own[first + k].value,
                               shared[k * B_ + threadIdx.x + distance * beside].value);
                }
            }
        }
        if (M_ < N_) {
            __syncthreads();
        }
    }
}

// True in the block that comes last of `splits` that share a counter, which is zero again after it.
// What the others wrote to global memory before is there to be read.
__device__ __forceinline__ bool is_last_block(unsigned *counter, unsigned splits)
{
    __threadfence();
    __syncthreads();
    const bool last =
        __syncthreads_or(threadIdx.x == 0 && atomicInc(counter, splits - 1) == splits - 1);
    __threadfence();
    return last;
}

// What blocks leave that share outputs, a value each for every output: the last block of a bunch
// combines what its bunch has left, and leaves that, until one bunch is all. So the block that ends
// an output has few values to read one after another, while no other block works. Values are bunched
// by powers of two; or, where a whole block reads those of one output, not at all.
template <bool BUNCHED_> struct left_values {
    unsigned count; // values of the bunch
    unsigned index, members, counter;
    int scale, apart; // exponents

    __device__ left_values(unsigned part, unsigned parts, unsigned group)
        : count(0), index(part), members(parts), counter(group), scale(0), apart(0)
    {
    }
    // Where this block leaves its own; behind are_there(), where value k of its bunch is.
    __device__ unsigned own() const
    {
        return index << scale;
    }
    __device__ unsigned at(unsigned k) const
    {
        return own() + (k << apart);
    }
    __device__ bool are_all() const
    {
        return members == 1;
    }
    // Behind the writing of this block's: true in the last block of the bunch. `groups`: outputs,
    // or those of a block, that have values of their own. `readers`: values read at once.
    __device__ bool are_there(unsigned *counters, unsigned groups, unsigned readers)
    {
        if constexpr (!BUNCHED_) {
            count = members;
            members = 1;
            index = 0;
            return is_last_block(counters + counter, count);
        }
        int shift = 5; // four for each reader, or 32; all, if they are not twice as many
        while (2u << shift <= (members <= 8 * readers ? members : 4 * readers)) {
            shift++;
        }
        shift += members <= 8 * readers;
        const unsigned bunch = index >> shift, left = members - (bunch << shift);
        count = left < 1u << shift ? left : 1u << shift;
        const bool last = is_last_block(counters + counter + bunch * groups, count);
        members = ((members - 1) >> shift) + 1;
        counter += members * groups;
        index = bunch;
        apart = scale;
        scale += shift;
        return last;
    }
};

// The same number, but the compiler does not know: it computes anew what depends on it instead of
// keeping that in registers.
__device__ __forceinline__ int anew(int n)
{
    asm volatile("" : "+r"(n));
    return n;
}
__device__ __forceinline__ long long anew(long long n)
{
    asm volatile("" : "+l"(n));
    return n;
}

// The same for what a register holds, so that what was made of it is made again and not kept.
template <typename T_> __device__ __forceinline__ void renew(T_ &v)
{
    constexpr int words = sizeof(T_) / 4;
    unsigned word[words > 0 ? words : 1];
    memcpy(word, &v, words * 4);
#pragma unroll
    for (int k = 0; k < words; k++) {
        asm volatile("" : "+r"(word[k]));
    }
    memcpy(&v, word, words * 4);
    if constexpr (sizeof(T_) % 4 >= 2) {
        unsigned short half;
        memcpy(&half, (const char *)&v + words * 4, 2);
        asm volatile("" : "+h"(half));
        memcpy((char *)&v + words * 4, &half, 2);
    }
}

// Integers of at most 16 bits, of which some thousands add up in 32.
template <typename T_> constexpr bool is_narrow = false;
template <> constexpr bool is_narrow<bool> = true;
template <> constexpr bool is_narrow<char> = true;
template <> constexpr bool is_narrow<signed char> = true;
template <> constexpr bool is_narrow<unsigned char> = true;
template <> constexpr bool is_narrow<short> = true;
template <> constexpr bool is_narrow<unsigned short> = true;

// True for a number that has all integers of a byte, signed or not, in their order.
template <typename T_, bool SIGNED_> __device__ constexpr bool holds_bytes()
{
    if constexpr (__is_class(T_)) {
        return false;
    } else {
        return SIGNED_ ? T_(-1) < T_(0) : T_(127) < T_(128);
    }
}

// What map gives where reduce adds up in R, which has 64 bits: integers as narrow as these as an int, so
// that those of a few units are added up so, by half the instructions.
template <typename R_, typename T_> __device__ __forceinline__ auto mapped(T_ v)
{
    if constexpr (is_narrow<T_>) {
        return (int)v;
    } else {
        return static_cast<R_>(v);
    }
}

// A value that is made once: what needs it several times has it from a register.
template <typename T_> __device__ __forceinline__ T_ settled(T_ v)
{
    constexpr int words = sizeof(T_) / 4;
    static_assert(sizeof(T_) % 4 == 0, "values are of whole words");
    unsigned word[words];
    memcpy(word, &v, sizeof v);
#pragma unroll
    for (int k = 0; k < words; k++) {
        asm("" : "+r"(word[k]));
    }
    memcpy(&v, word, sizeof v);
    return v;
}

} // namespace quern
