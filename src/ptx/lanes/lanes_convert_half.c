/* SPDX-License-Identifier: MIT
 *
 * cvt to and from f16, bf16, tf32 and the 8-bit floats, and cvt.pack. What is narrower than f32 is
 * made from an f32 that is exact or rounded to odd, so there is only ever one rounding.
 */
#include "ptx/lanes/lanes_convert.h"
#include "ptx/lanes/lanes_half.h"

#define NARROW_f16(x, mode)  to_f16(x, mode)
#define NARROW_bf16(x, mode) to_bf16(x, mode)
#define FROM_f16(h)          from_f16(h)
#define WIDE_f16(h)          bits32(canonical32(from_f16(h)))
#define WIDE_bf16(h)         ((h) << 16)
#define FROM_bf16(h)         from_bf16(h)
#define ODD_f64(x)           round32(x, TO_ODD)
#define REGISTER_f16         u16
#define REGISTER_bf16        u16
#define REGISTER_f32         f32
#define REGISTER_f64         f64

static inline u32 nan_f16(f32 nan)
{
    return (bits32(nan) >> 16 & 0x8000) | 0x7e00 | (bits32(nan) >> 13 & 0x3ff);
}

static inline u32 nan_bf16(f32 nan)
{
    return bits32(nan) >> 16 | 0x40;
}

static inline u32 pack16(u32 high, u32 low)
{
    return high << 16 | low;
}

/** No larger than the largest finite value; infinities too. NaN stays. */
static inline u32 finite_f16(u32 h)
{
    return (h & 0x7fff) == 0x7c00 ? h - 1 : h;
}

static inline u32 finite_bf16(u32 h)
{
    return (h & 0x7fff) == 0x7f80 ? h - 1 : h;
}

/** f32 with 10 bits of fraction: ties away, to even, or cut off. */
static inline u32 to_tf32(f32 x, int mode, bool ties_away)
{
    const u32 u = bits32(x);
    const u32 half = ties_away ? 0x1000 : mode == TO_NEAREST ? 0xfff + (u >> 13 & 1) : 0;
    const bool finite = (u & ~SIGN32) < 0x7f800000u;
    return x != x && !ties_away ? 0x7fffe000u : (u + (finite ? half : 0)) & ~0x1fffu;
}

static inline s32 saturate(s32 x, s32 least, s32 most)
{
    return x < least ? least : x > most ? most : x;
}

/* clang-format off */
/* To f16 or bf16 (H) from integers and from wider floats, in four roundings. */
#define FOUR(X, id, H, S, flags, value, sat)                                                       \
    X(cvt_rn_##id, "cvt.rn" flags "." #H "." #S, OP, u16, REGISTER_##S, none, none,                \
      NARROW_##H(clamp_unit32(value, sat), TO_NEAREST))                                            \
    X(cvt_rz_##id, "cvt.rz" flags "." #H "." #S, OP, u16, REGISTER_##S, none, none,                \
      NARROW_##H(clamp_unit32(value, sat), TO_ZERO))                                               \
    X(cvt_rm_##id, "cvt.rm" flags "." #H "." #S, OP, u16, REGISTER_##S, none, none,                \
      NARROW_##H(clamp_unit32(value, sat), DOWN))                                                  \
    X(cvt_rp_##id, "cvt.rp" flags "." #H "." #S, OP, u16, REGISTER_##S, none, none,                \
      NARROW_##H(clamp_unit32(value, sat), UP))
#define REGISTER_u8  u8
#define REGISTER_s8  s8
#define REGISTER_u16 u16
#define REGISTER_s16 s16
#define REGISTER_u32 u32
#define REGISTER_s32 s32
#define REGISTER_u64 u64
#define REGISTER_s64 s64
#define INT_TO_HALF(X, H, S) FOUR(X, H##_##S, H, S, "", round32(WIDEN_##S(a), TO_ODD), 0)
/* From f64 a NaN keeps its sign and the top of its payload. */
#define NAN_KEPT(X, H, flags, sat, rounding, mode)                                                 \
    X(cvt_##rounding##_##H##_f64, "cvt." #rounding "." #H ".f64", OP, u16, f64, none, none,        \
      a == a ? NARROW_##H(ODD_f64(a), mode) : nan_##H((f32)a))
/* .ftz is about f32 operands of other instructions: a subnormal still rounds up or down here. */
#define SATURATED(X)                                                                               \
    FOUR(X, f16_f32_ftz, f16, f32, ".ftz", a, 0)                                                   \
    FOUR(X, f16_f32_sat, f16, f32, ".sat", a, 1)                                                   \
    FOUR(X, f16_f32_ftz_sat, f16, f32, ".ftz.sat", a, 1)                                           \
    FOUR(X, f16_f64_sat, f16, f64, ".sat", ODD_f64(a), 1)
#define TO_HALF(X, H)                                                                              \
    FROM_INTS(X, INT_TO_HALF, H)                                                                   \
    FOUR(X, H##_f32, H, f32, "", a, 0)                                                             \
    NAN_KEPT(X, H, "", 0, rn, TO_NEAREST) NAN_KEPT(X, H, "", 0, rz, TO_ZERO)                       \
    NAN_KEPT(X, H, "", 0, rm, DOWN) NAN_KEPT(X, H, "", 0, rp, UP)                                  \
    X(cvt_rn_relu_##H, "cvt.rn.relu." #H ".f32", OP, u16, f32, none, none,                         \
      NARROW_##H(relu32(a, 1), TO_NEAREST))                                                        \
    X(cvt_rz_relu_##H, "cvt.rz.relu." #H ".f32", OP, u16, f32, none, none,                         \
      NARROW_##H(relu32(a, 1), TO_ZERO))

/* From f16 or bf16 to integers and to floats. */
#define HALF_TO_INT_(X, D, H, rounding, function)                                                  \
    X(cvt_##rounding##_##D##_##H, "cvt." #rounding "." #D "." #H, OP, store_##D, u16, none, none,  \
      INTEGRAL(D, function(FROM_##H(a)), NAN_f32_##D))                                             \
    X(cvt_##rounding##_##D##_##H, "cvt." #rounding ".sat." #D "." #H, SAME, store_##D, u16, none,  \
      none, )
#define HALF_TO_INT(X, D, H)                                                                       \
    HALF_TO_INT_(X, D, H, rni, rintf) HALF_TO_INT_(X, D, H, rzi, truncf)                           \
    HALF_TO_INT_(X, D, H, rmi, floorf) HALF_TO_INT_(X, D, H, rpi, ceilf)
#define HALF_INTEGRAL(X, H, rounding, function)                                                    \
    X(cvt_##rounding##_##H##_##H, "cvt." #rounding "." #H "." #H, OP, u16, u16, none, none,        \
      NARROW_##H(function(FROM_##H(a)), TO_NEAREST))
#define FROM_HALF(X, H)                                                                            \
    TO_INTS(X, HALF_TO_INT, H)                                                                     \
    X(cvt_f32_##H, "cvt.f32." #H, OP, u32, u16, none, none, WIDE_##H(a))              \
    X(cvt_f32_ftz_##H, "cvt.ftz.f32." #H, OP, f32, u16, none, none,                                \
      flush32(canonical32(FROM_##H(a)), 1))                                                        \
    X(cvt_f32_sat_##H, "cvt.sat.f32." #H, OP, f32, u16, none, none, clamp_unit32(FROM_##H(a), 1))  \
    X(cvt_f64_##H, "cvt.f64." #H, OP, f64, u16, none, none, quiet64((f64)FROM_##H(a)))              \
    X(cvt_f64_sat_##H, "cvt.sat.f64." #H, OP, f64, u16, none, none,                                \
      clamp_unit64(FROM_##H(a), 1))                                                                \
    X(cvt_same_##H, "cvt." #H "." #H, OP, u16, u16, none, none,                                    \
      NARROW_##H(FROM_##H(a), TO_NEAREST))                                                         \
    X(cvt_same_sat_##H, "cvt.sat." #H "." #H, OP, u16, u16, none, none,                            \
      NARROW_##H(clamp_unit32(FROM_##H(a), 1), TO_NEAREST))                                        \
    HALF_INTEGRAL(X, H, rni, rintf) HALF_INTEGRAL(X, H, rzi, truncf)                               \
    HALF_INTEGRAL(X, H, rmi, floorf) HALF_INTEGRAL(X, H, rpi, ceilf)

#define BETWEEN_HALVES(X)                                                                          \
    FOUR(X, f16_bf16, f16, bf16, "", FROM_bf16(a), 0)                                              \
    FOUR(X, bf16_f16, bf16, f16, "", FROM_f16(a), 0)
/* clang-format on */

/* Two f32 into a pair: a above b. */
/* clang-format off */
#define PAIR_ROW(X, H, id, flags, mode, relu, FINITE)                                              \
    X(cvt_##id##_##H##x2, "cvt." flags "." #H "x2.f32", OP, u32, f32, f32, none,                   \
      pack16(FINITE(NARROW_##H(relu32(a, relu), mode)), FINITE(NARROW_##H(relu32(b, relu), mode))))
#define AS_IS(h) (h)
#define PAIR_ROWS(X, H)                                                                            \
    PAIR_ROW(X, H, rn, "rn", TO_NEAREST, 0, AS_IS)                                                 \
    PAIR_ROW(X, H, rz, "rz", TO_ZERO, 0, AS_IS)                                                    \
    PAIR_ROW(X, H, rn_relu, "rn.relu", TO_NEAREST, 1, AS_IS)                                       \
    PAIR_ROW(X, H, rz_relu, "rz.relu", TO_ZERO, 1, AS_IS)                                          \
    PAIR_ROW(X, H, rn_finite, "rn.satfinite", TO_NEAREST, 0, finite_##H)                           \
    PAIR_ROW(X, H, rn_relu_finite, "rn.relu.satfinite", TO_NEAREST, 1, finite_##H)

#define EIGHT_BITS(X, E)                                                                           \
    X(cvt_##E##_f32, "cvt.rn.satfinite." #E "x2.f32", OP, u16, f32, f32, none,                     \
      to_##E(a) << 8 | to_##E(b))                                                                  \
    X(cvt_relu_##E##_f32, "cvt.rn.satfinite.relu." #E "x2.f32", OP, u16, f32, f32, none,           \
      to_##E(relu32(a, 1)) << 8 | to_##E(relu32(b, 1)))                                            \
    X(cvt_##E##_f16x2, "cvt.rn.satfinite." #E "x2.f16x2", OP, u16, u32, none, none,                \
      to_##E(from_f16(a >> 16)) << 8 | to_##E(from_f16(a & 0xffff)))                               \
    X(cvt_relu_##E##_f16x2, "cvt.rn.satfinite.relu." #E "x2.f16x2", OP, u16, u32, none, none,      \
      to_##E(relu32(from_f16(a >> 16), 1)) << 8 | to_##E(relu32(from_f16(a & 0xffff), 1)))         \
    X(cvt_f16x2_##E, "cvt.rn.f16x2." #E "x2", OP, u32, u16, none, none,                            \
      pack16(from_##E(a >> 8), from_##E(a & 0xff)))                                                \
    X(cvt_relu_f16x2_##E, "cvt.rn.relu.f16x2." #E "x2", OP, u32, u16, none, none,                  \
      pack16(to_f16(relu32(from_f16(from_##E(a >> 8)), 1), TO_NEAREST),                            \
             to_f16(relu32(from_f16(from_##E(a & 0xff)), 1), TO_NEAREST)))

#define OTHERS(X)                                                                                  \
    X(tf32_rna, "cvt.rna.tf32.f32", OP, u32, f32, none, none, to_tf32(a, TO_NEAREST, 1))           \
    X(tf32_rn, "cvt.rn.tf32.f32", OP, u32, f32, none, none, to_tf32(a, TO_NEAREST, 0))             \
    X(tf32_rz, "cvt.rz.tf32.f32", OP, u32, f32, none, none, to_tf32(a, TO_ZERO, 0))                \
    X(tf32_rn_relu, "cvt.rn.relu.tf32.f32", OP, u32, f32, none, none,                              \
      to_tf32(relu32(a, 1), TO_NEAREST, 0))                                                        \
    X(tf32_rz_relu, "cvt.rz.relu.tf32.f32", OP, u32, f32, none, none,                              \
      to_tf32(relu32(a, 1), TO_ZERO, 0))                                                           \
    X(pack_s16, "cvt.pack.sat.s16.s32", OP, u32, s32, s32, none,                                   \
      pack16((u32)saturate(a, INT16_MIN, INT16_MAX), saturate(b, INT16_MIN, INT16_MAX) & 0xffff))  \
    X(pack_u16, "cvt.pack.sat.u16.s32", OP, u32, s32, s32, none,                                   \
      pack16((u32)saturate(a, 0, UINT16_MAX), (u32)saturate(b, 0, UINT16_MAX)))                    \
    X(pack_s8, "cvt.pack.sat.s8.s32.b32", OP, u32, s32, s32, u32,                                  \
      c << 16 | (saturate(a, INT8_MIN, INT8_MAX) & 0xff) << 8 |                                    \
          (saturate(b, INT8_MIN, INT8_MAX) & 0xff))                                                \
    X(pack_u8, "cvt.pack.sat.u8.s32.b32", OP, u32, s32, s32, u32,                                  \
      c << 16 | (u32)saturate(a, 0, UINT8_MAX) << 8 | (u32)saturate(b, 0, UINT8_MAX))

#define ALL(X)                                                                                     \
    TO_HALF(X, f16)                                                                                \
    TO_HALF(X, bf16)                                                                               \
    SATURATED(X)                                                                                   \
    FROM_HALF(X, f16)                                                                              \
    FROM_HALF(X, bf16)                                                                             \
    BETWEEN_HALVES(X)                                                                              \
    PAIR_ROWS(X, f16)                                                                              \
    PAIR_ROWS(X, bf16)                                                                             \
    EIGHT_BITS(X, e4m3)                                                                            \
    EIGHT_BITS(X, e5m2)                                                                            \
    OTHERS(X)
/* clang-format on */

ALL(DEFINE)
PUBLISH(convert_half, ALL(ENTRY))
