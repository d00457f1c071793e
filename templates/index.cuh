// SPDX-License-Identifier: MIT
//
// index: where a thread's elements lie. The host fills quern::space; layout.h has its fields.
#pragma once

namespace quern
{

// Division by a run-time constant. 32 bits: by multiplication (Granlund and Montgomery, "Division
// by Invariant Integers using Multiplication", 1994, figure 4.1), for dividends below 2^31.
template <typename I_> struct divider;

template <> struct divider<int> {
    int value;
    unsigned magic, shift, unused;
    __device__ int divide(int n) const
    {
        return (int)((__umulhi((unsigned)n, magic) + (unsigned)n) >> shift);
    }
};

template <> struct divider<long long> {
    long long value, unused;
    __device__ long long divide(long long n) const
    {
        return (long long)((unsigned long long)n / (unsigned long long)value);
    }
};

// A product of 64 bits. Of 32-bit factors it is one instruction, and the sum that it goes into with it;
// where one factor is a constant of a loop, the compiler would widen that before the loop, and multiply
// 64 bits with several.
__device__ __forceinline__ long long product(int a, int b)
{
    long long wide;
    asm("mul.wide.s32 %0, %1, %2;" : "=l"(wide) : "r"(a), "r"(b));
    return wide;
}
__device__ __forceinline__ long long product(long long a, long long b)
{
    return a * b;
}

// The kinds of fields of layout.h, where I_ is the type of positions.
#define QUERN_NUMBER(name)      I_ name;
#define QUERN_DIVIDER(name)     divider<I_> name;
#define QUERN_DIVIDERS(name, n) divider<I_> name[QUERN_SOME(n)];
#define QUERN_TABLE(name, n, m) I_ name[QUERN_SOME(n)][QUERN_SOME(m)];

// The walk of K operands over D dimensions, the innermost in packs. D counts the outer ones.
template <typename I_, int D_, int K_> struct space {
    QUERN_SPACE(QUERN_NUMBER, QUERN_DIVIDER, QUERN_DIVIDERS, QUERN_TABLE, D_, K_)
};

// `_ind` of a snippet: the position along every axis.
template <int N_> struct indexer {
    ptrdiff_t at[N_ > 0 ? N_ : 1];
    ptrdiff_t count;
    __device__ ptrdiff_t size() const
    {
        return count;
    }
    __device__ const ptrdiff_t *get() const
    {
        return at;
    }
};

} // namespace quern
