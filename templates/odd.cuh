// SPDX-License-Identifier: MIT
//
// odd: numbers on their way to a float of 16 or 8 bits. In: a number. Out: a float that rounds as the
// number does. It is rounded to odd, towards zero with the last bit set unless it is exact, which keeps
// what decides the second rounding (Boldo and Melquiond, "When double rounding is odd", 2005). Integers
// of 16 bits are exact, and others cost less so than by way of double.
#pragma once

namespace quern
{

__device__ __forceinline__ float odd_unless(bool exact, float towards_zero)
{
    return exact ? towards_zero : __uint_as_float(__float_as_uint(towards_zero) | 1u);
}
__device__ __forceinline__ float to_odd(double v)
{
    const float f = __double2float_rz(v);
    return odd_unless((double)f == v, f);
}
// An integer's float towards zero is no larger, and converts back.
__device__ __forceinline__ float to_odd(int v)
{
    const float f = __int2float_rz(v);
    return odd_unless(__float2int_rz(f) == v, f);
}
__device__ __forceinline__ float to_odd(unsigned v)
{
    const float f = __uint2float_rz(v);
    return odd_unless(__float2uint_rz(f) == v, f);
}
__device__ __forceinline__ float to_odd(long long v)
{
    const float f = __ll2float_rz(v);
    return odd_unless(__float2ll_rz(f) == v, f);
}
__device__ __forceinline__ float to_odd(unsigned long long v)
{
    const float f = __ull2float_rz(v);
    return odd_unless(__float2ull_rz(f) == v, f);
}

// Pointers convert to bool, and must not to numbers.
template <typename T_> struct truth_value;
template <> struct truth_value<bool> {
    typedef int type;
};

} // namespace quern

// Constructors of class NAME, whose `bits` BITS(float) gives, from every integer.
#define QUERN_FROM_INTEGERS(NAME, BITS)                                                            \
    template <typename B_, typename quern::truth_value<B_>::type = 0>                              \
    __device__ NAME(B_ v) : bits(BITS((float)v)) {}                                                \
    __device__ NAME(char v) : bits(BITS((float)v)) {}                                              \
    __device__ NAME(signed char v) : bits(BITS((float)v)) {}                                       \
    __device__ NAME(unsigned char v) : bits(BITS((float)v)) {}                                     \
    __device__ NAME(short v) : bits(BITS((float)v)) {}                                             \
    __device__ NAME(unsigned short v) : bits(BITS((float)v)) {}                                    \
    __device__ NAME(int v) : bits(BITS(quern::to_odd(v))) {}                                       \
    __device__ NAME(unsigned v) : bits(BITS(quern::to_odd(v))) {}                                  \
    __device__ NAME(long v) : bits(BITS(quern::to_odd((long long)v))) {}                           \
    __device__ NAME(unsigned long v) : bits(BITS(quern::to_odd((unsigned long long)v))) {}         \
    __device__ NAME(long long v) : bits(BITS(quern::to_odd(v))) {}                                 \
    __device__ NAME(unsigned long long v) : bits(BITS(quern::to_odd(v))) {}
