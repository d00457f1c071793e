// SPDX-License-Identifier: MIT
//
// index: where a thread's elements lie. The host fills these structures (src/engine/calls/marshal.c) byte
// by byte, so their members are all 4- or 8-byte numbers without padding between them.
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

// The walk of K operands over D dimensions, the innermost in packs. D counts the outer ones.
template <typename I_, int D_, int K_> struct space {
    I_ packs;                           // whole packs of the walk
    I_ inner;                           // elements of the innermost dimension
    I_ head;                            // elements before the first pack
    I_ count;                           // elements of the whole walk
    divider<I_> row;                    // packs of a row
    divider<I_> outer[D_ > 0 ? D_ : 1]; // extents, outermost first
    I_ stride[K_ > 0 ? K_ : 1][D_ + 1]; // bytes, outermost first, the innermost last
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
