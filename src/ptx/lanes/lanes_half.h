/* SPDX-License-Identifier: MIT
 *
 * lanes_half: f16, bf16 and the 8-bit floats as bit patterns, to f32 and back. Everything works on
 * the bits of f32 and vectorises at every level. Narrowing in any direction is right when the f32
 * is exact or was rounded to odd. Exponents are rebiased by adding the difference of the biases:
 * 112 << 23 for f16 and e5m2, 120 << 23 for e4m3. To nearest, a subnormal result comes from adding
 * a power of two so large that the sum is rounded where its last bit is.
 */
#ifndef QN_LANES_HALF_H
#define QN_LANES_HALF_H

#include "ptx/lanes/lanes_math.h"

static inline f32 from_f16(u32 h)
{
    const u32 magnitude = (h & 0x7fff) << 13;
    const u32 normal = magnitude + (112u << 23);
    const u32 infinite = magnitude + (224u << 23);
    const f32 subnormal = from32(magnitude + (113u << 23)) - from32(113u << 23);
    const u32 u = magnitude < 1u << 23      ? bits32(subnormal)
                  : magnitude < 0x1fu << 23 ? normal
                                            : infinite;
    return from32(u | (h & 0x8000) << 16);
}

static inline f32 from_bf16(u32 h)
{
    return from32(h << 16);
}

/** A truncated magnitude, plus one when it must be rounded away from zero. */
static inline u32 step_away(u32 truncated, bool inexact, bool negative, int mode)
{
    return truncated + (inexact & ((mode == UP && !negative) || (mode == DOWN && negative)));
}

static inline u32 to_f16(f32 x, int mode)
{
    const u32 u = bits32(x) & ~SIGN32, sign = bits32(x) >> 16 & 0x8000;
    u32 r;
    if (mode == TO_NEAREST) {
        const u32 subnormal = bits32(from32(u) + 0.5f) - 0x3f000000u;
        const u32 normal = (u + 0xfff + (u >> 13 & 1) - (112u << 23)) >> 13;
        r = u < 0x38800000u ? subnormal : u < 0x47800000u ? normal : 0x7c00;
    } else {
        const f32 units = from32(u < 0x38800000u ? u : 0) * 0x1p24f;
        const u32 whole = (u32)(s32)units;
        const u32 truncated = u < 0x38800000u   ? whole
                              : u < 0x47800000u ? (u - (112u << 23)) >> 13
                                                : 0x7bff;
        const bool inexact = u < 0x38800000u   ? (f32)(s32)whole != units
                             : u < 0x47800000u ? (u & 0x1fff) != 0
                                               : true;
        r = u == 0x7f800000u ? 0x7c00 : step_away(truncated, inexact, sign != 0, mode);
    }
    return u > 0x7f800000u ? NAN_F16 : r | sign;
}

static inline u32 to_bf16(f32 x, int mode)
{
    const u32 u = bits32(x) & ~SIGN32, sign = bits32(x) >> 16 & 0x8000;
    const u32 r = mode == TO_NEAREST ? (u + 0x7fff + (u >> 16 & 1)) >> 16
                                     : step_away(u >> 16, (u & 0xffff) != 0, sign != 0, mode);
    return u > 0x7f800000u ? NAN_F16 : r | sign;
}

/** A subnormal f16 becomes zero. */
static inline u32 flush_f16(u32 h, bool ftz)
{
    return ftz && (h & 0x7c00) == 0 ? h & 0x8000 : h;
}

/* Halves are read as f32; ftz_f16 with subnormals as zeros. */
#define BITS_f16        16
#define BITS_ftz_f16    16
#define BITS_bf16       16
#define READ_f16(p)     from_f16(READ_u16(p))
#define READ_ftz_f16(p) from_f16(flush_f16(READ_u16(p), 1))
#define READ_bf16(p)    from_bf16(READ_u16(p))
typedef f32 work_f16;
typedef f32 work_ftz_f16;
typedef f32 work_bf16;

/** Negative to +0; NaN stays. */
static inline f32 relu32(f32 x, bool relu)
{
    return relu && (x < 0.0f || x == 0.0f) ? 0.0f : x;
}

/* 8-bit floats, to nearest even with overflow to the largest finite value. */
static inline u32 to_e4m3(f32 x)
{
    const u32 u = bits32(x) & ~SIGN32, sign = bits32(x) >> 24 & 0x80;
    const u32 subnormal = bits32(from32(u) + 0x1p14f) - bits32(0x1p14f);
    const u32 normal = (u + 0x7ffff + (u >> 20 & 1) - (120u << 23)) >> 20;
    const u32 r = u < 0x3c800000u ? subnormal : u >= 0x43e00000u ? 0x7e : normal;
    return u > 0x7f800000u ? 0x7f : r | sign;
}

static inline u32 to_e5m2(f32 x)
{
    const u32 u = bits32(x) & ~SIGN32, sign = bits32(x) >> 24 & 0x80;
    const u32 subnormal = bits32(from32(u) + 0x1p7f) - bits32(0x1p7f);
    const u32 normal = (u + 0xfffff + (u >> 21 & 1) - (112u << 23)) >> 21;
    const u32 r = u < 0x38800000u ? subnormal : u >= 0x47600000u ? 0x7b : normal;
    return u > 0x7f800000u ? 0x7f : r | sign;
}

/** To f16 bits, always exact. */
static inline u32 from_e4m3(u32 e)
{
    const u32 magnitude = e & 0x7f;
    const f32 subnormal = (f32)(s32)magnitude * 0x1p-9f;
    const f32 x = magnitude < 8 ? subnormal : from32((magnitude << 20) + (120u << 23));
    return magnitude == 0x7f ? NAN_F16 : to_f16(x, TO_NEAREST) | (e & 0x80) << 8;
}

static inline u32 from_e5m2(u32 e)
{
    return (e & 0x7f) > 0x7c ? NAN_F16 : e << 8;
}

#endif /* QN_LANES_HALF_H */
