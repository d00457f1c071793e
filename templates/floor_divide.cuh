// SPDX-License-Identifier: MIT
//
// floor_divide: the small functions that CuPy's texts have without a header, for texts that name one:
// _floor_divide and iszero. In: numbers of any types. Out: the quotient rounded down, in the type of a
// sum (0 where an integer is divided by 0, as CuPy has it); whether a number is 0.
//
// Both have a pack of further arguments, which makes them the worse match beside any function of the
// same name in a preamble.
#pragma once

namespace quern
{

template <bool FLOATING_> struct floor_quotient {
    template <typename C_> static __device__ __forceinline__ C_ of(C_ x, C_ y)
    {
        if (y == 0) {
            return 0;
        }
        const C_ q = x / y;
        const bool has_sign = C_(-1) < C_(1);
        return q - (C_)(has_sign && ((x ^ y) >> (8 * sizeof(C_) - 1)) != 0 && q * y != x);
    }
};
template <> struct floor_quotient<true> {
    template <typename C_> static __device__ __forceinline__ C_ of(C_ x, C_ y)
    {
        return floor(x / y);
    }
};

} // namespace quern

template <typename A_, typename B_, typename... Q_>
__device__ __forceinline__ auto _floor_divide(A_ a, B_ b, Q_...) -> decltype(a + b)
{
    typedef decltype(a + b) C_;
    return quern::floor_quotient<C_(1) / 2 != 0>::of((C_)a, (C_)b);
}

template <typename A_, typename... Q_> __device__ __forceinline__ bool iszero(A_ v, Q_...)
{
    return v == A_(0);
}
