// SPDX-License-Identifier: MIT
//
// half: float16 and bfloat16 for snippets: 2 bytes in memory, a float in every expression. Conversion
// from float and double rounds once, to nearest even.
#pragma once
#define QUERN_HAS_HALF 1
#include <quern/odd.cuh>

namespace quern {

// The bits of a half go through a move: ptxas 13.0 stores the low byte of what a conversion to f16 or
// bf16 has put into a register as the number converted to 8 bits ("st.u8" with F2I.U8.F16), as packed
// records need it. It forgets the type at a move, and the move costs nothing.
__device__ __forceinline__ unsigned short half_bits(float v)
{
    unsigned short bits;
    asm("{.reg .b16 h; cvt.rn.f16.f32 h, %1; mov.b16 %0, h;}" : "=h"(bits) : "f"(v));
    return bits;
}
__device__ __forceinline__ unsigned short half_bits(double v)
{
    unsigned short bits;
    asm("{.reg .b16 h; cvt.rn.f16.f64 h, %1; mov.b16 %0, h;}" : "=h"(bits) : "d"(v));
    return bits;
}
__device__ __forceinline__ float half_value(unsigned short bits)
{
    float v;
    asm("cvt.f32.f16 %0, %1;" : "=f"(v) : "h"(bits));
    return v;
}

__device__ __forceinline__ unsigned short bfloat_bits(float v)
{
#if __CUDA_ARCH__ >= 800
    unsigned short bits;
    asm("{.reg .b16 h; cvt.rn.bf16.f32 h, %1; mov.b16 %0, h;}" : "=h"(bits) : "f"(v));
    return bits;
#else
    unsigned u = __float_as_uint(v);
    if ((u & 0x7fffffffu) > 0x7f800000u) {
        return 0x7fff;
    }
    return (unsigned short)((u + 0x7fffu + (u >> 16 & 1)) >> 16);
#endif
}
__device__ __forceinline__ unsigned short bfloat_bits(double v)
{
    return bfloat_bits(to_odd(v));
}
__device__ __forceinline__ float bfloat_value(unsigned short bits)
{
    return __uint_as_float((unsigned)bits << 16);
}

}  // namespace quern

struct float16;
struct bfloat16;
struct float8_e4m3fn;
struct float8_e5m2;

// One class for both. `OTHER`: the other one. It is assigned, but does not convert to this one by itself:
// else `c ? x : y` of both would be ambiguous; so it is a float, as every expression of both. An 8-bit
// float converts, because none of these converts to one by itself; float8.cuh, which comes behind, tells
// how.
#define QUERN_HALF(NAME, OTHER, BITS, VALUE)                                                       \
    struct NAME {                                                                                  \
        unsigned short bits;                                                                       \
        NAME() = default;                                                                          \
        __device__ NAME(float v) : bits(quern::BITS(v)) {}                                         \
        __device__ NAME(double v) : bits(quern::BITS(v)) {}                                        \
        QUERN_FROM_INTEGERS(NAME, quern::BITS)                                                     \
        __device__ NAME(const float8_e4m3fn &v);                                                   \
        __device__ NAME(const float8_e5m2 &v);                                                     \
        __device__ NAME &operator=(const OTHER &v);                                                \
        __device__ NAME &operator=(const float8_e4m3fn &v);                                        \
        __device__ NAME &operator=(const float8_e5m2 &v);                                          \
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
QUERN_HALF(float16, bfloat16, half_bits, half_value)
QUERN_HALF(bfloat16, float16, bfloat_bits, bfloat_value)
#undef QUERN_HALF

__device__ __forceinline__ float16 &float16::operator=(const bfloat16 &v)
{
    return *this = (float)v;
}
__device__ __forceinline__ bfloat16 &bfloat16::operator=(const float16 &v)
{
    return *this = (float)v;
}
