// SPDX-License-Identifier: MIT
//
// float8: the 8-bit floats for snippets: a byte in memory, a float in every expression. float8_e4m3fn
// has 4 bits of exponent, 3 of fraction and no infinity; float8_e5m2 is the upper byte of a float16.
// A conversion from float or double rounds once, to nearest even, and what is too large, infinity
// too, becomes the largest finite number, as with CUDA's __nv_fp8_e4m3 and __nv_fp8_e5m2.
#pragma once
#define QUERN_HAS_FLOAT8 1
#include <quern/odd.cuh>

namespace quern
{

__device__ __forceinline__ float e4m3_value(unsigned char bits)
{
    const unsigned m = bits & 0x7f;
    const float v = m < 8 ? m * 0x1p-9f : __uint_as_float((m << 20) + (120u << 23));
    return copysignf(m == 0x7f ? __uint_as_float(0x7fffffff) : v, (signed char)bits < 0 ? -1.f : 1.f);
}
__device__ __forceinline__ float e5m2_value(unsigned char bits)
{
    const unsigned m = bits & 0x7f;
    const float v = m < 4 ? m * 0x1p-16f : __uint_as_float((m << 21) + (112u << 23));
    const float special = __uint_as_float(0x7f800000u | (m & 3) << 21);
    return copysignf(m < 0x7c ? v : special, (signed char)bits < 0 ? -1.f : 1.f);
}

#if __CUDA_ARCH__ >= 890
__device__ __forceinline__ unsigned char e4m3_bits(float v)
{
    unsigned short pair;
    asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(pair) : "f"(0.f), "f"(v));
    return (unsigned char)pair;
}
__device__ __forceinline__ unsigned char e5m2_bits(float v)
{
    unsigned short pair;
    asm("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;" : "=h"(pair) : "f"(0.f), "f"(v));
    return (unsigned char)pair;
}
#else
// F: bits of the fraction; BIAS: of the exponent; LARGEST: the code of the largest finite number.
template <int F_, int BIAS_, unsigned LARGEST_>
__device__ __forceinline__ unsigned char float8_bits(float v)
{
    const unsigned u = __float_as_uint(v) & 0x7fffffffu, sign = __float_as_uint(v) >> 24 & 0x80;
    if (u > 0x7f800000u) {
        return 0x7f;
    }
    // A subnormal: in units of the last place.
    const unsigned small = (unsigned)__float2int_rn(__uint_as_float(u) * (1u << (BIAS_ + F_ - 1)));
    const unsigned half = (1u << (22 - F_)) - 1;
    const unsigned normal =
        (u + half + (u >> (23 - F_) & 1) - ((127u - BIAS_) << 23)) >> (23 - F_);
    const unsigned code = u < (128u - BIAS_) << 23                           ? small
                          : u > ((127u - BIAS_) << 23) + (LARGEST_ << (23 - F_)) ? LARGEST_
                                                                                 : normal;
    return (unsigned char)(code | sign);
}
__device__ __forceinline__ unsigned char e4m3_bits(float v)
{
    return float8_bits<3, 7, 0x7e>(v);
}
__device__ __forceinline__ unsigned char e5m2_bits(float v)
{
    return float8_bits<2, 15, 0x7b>(v);
}
#endif

__device__ __forceinline__ unsigned char e4m3_bits(double v)
{
    return e4m3_bits(to_odd(v));
}
__device__ __forceinline__ unsigned char e5m2_bits(double v)
{
    return e5m2_bits(to_odd(v));
}

} // namespace quern

// One class for both. Whatever converts to a float is assigned.
#define QUERN_FLOAT8(NAME, BITS, VALUE)                                                            \
    struct NAME {                                                                                  \
        unsigned char bits;                                                                        \
        NAME() = default;                                                                          \
        __device__ NAME(float v) : bits(quern::BITS(v)) {}                                         \
        __device__ NAME(double v) : bits(quern::BITS(v)) {}                                        \
        QUERN_FROM_INTEGERS(NAME, quern::BITS)                                                     \
        template <typename F_> __device__ NAME &operator=(const F_ &v) { return *this = NAME(v); } \
        __device__ operator float() const { return quern::VALUE(bits); }                           \
        __device__ NAME &operator+=(float v) { return *this = (float)*this + v; }                  \
        __device__ NAME &operator-=(float v) { return *this = (float)*this - v; }                  \
        __device__ NAME &operator*=(float v) { return *this = (float)*this * v; }                  \
        __device__ NAME &operator/=(float v) { return *this = (float)*this / v; }                  \
        __device__ NAME &operator++() { return *this += 1.0f; }                                    \
        __device__ NAME &operator--() { return *this -= 1.0f; }                                    \
        __device__ NAME operator++(int) { NAME v = *this; return *this += 1.0f, v; }               \
        __device__ NAME operator--(int) { NAME v = *this; return *this -= 1.0f, v; }               \
    };
QUERN_FLOAT8(float8_e4m3fn, e4m3_bits, e4m3_value)
QUERN_FLOAT8(float8_e5m2, e5m2_bits, e5m2_value)
#undef QUERN_FLOAT8

#ifdef QUERN_HAS_HALF
// Any 8-bit float is a half exactly, of both kinds.
#define QUERN_FLOAT8_HALF(NAME, FLOAT8)                                                            \
    __device__ __forceinline__ NAME::NAME(const FLOAT8 &v) : NAME((float)v) {}                     \
    __device__ __forceinline__ NAME &NAME::operator=(const FLOAT8 &v) { return *this = NAME(v); }
QUERN_FLOAT8_HALF(float16, float8_e4m3fn)
QUERN_FLOAT8_HALF(float16, float8_e5m2)
QUERN_FLOAT8_HALF(bfloat16, float8_e4m3fn)
QUERN_FLOAT8_HALF(bfloat16, float8_e5m2)
#undef QUERN_FLOAT8_HALF
#endif

namespace quern
{

// They mix with complex numbers as floats; complex.cuh declares the same.
template <typename T_> struct real_number;
template <> struct real_number<float8_e4m3fn> {
    typedef float type;
};
template <> struct real_number<float8_e5m2> {
    typedef float type;
};

} // namespace quern
