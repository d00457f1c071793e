/* SPDX-License-Identifier: MIT
 *
 * cvt to and from f16, bf16, tf32 and the 8-bit floats, and cvt.pack. What is narrower than f32 is
 * made from an f32 that is exact or rounded to odd, so there is only ever one rounding.
 */
#include "ptx/lanes/lanes_convert.h"
#include "ptx/lanes/lanes_half.h"

/* From f64 a NaN keeps its sign and the top of its payload. */
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

/* No larger than the largest finite value; infinities too. NaN stays. */
static inline u32 finite_f16(u32 h)
{
    return (h & 0x7fff) == 0x7c00 ? h - 1 : h;
}

static inline u32 finite_bf16(u32 h)
{
    return (h & 0x7fff) == 0x7f80 ? h - 1 : h;
}

static inline u32 relu_f16(u32 h)
{
    return to_f16(relu32(from_f16(h), 1), TO_NEAREST);
}

/* f32 with 10 bits of fraction: ties away, to even, or cut off. */
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
/* To H, f16 or bf16, in four roundings. */
#define ROUNDINGS(X, id, flags, H, S, value)                                                       \
    X(cvt_rn_##id, "cvt.rn" flags "." #H "." #S, OP, u16, S, none, none,                           \
      to_##H(value, TO_NEAREST))                                                                   \
    X(cvt_rz_##id, "cvt.rz" flags "." #H "." #S, OP, u16, S, none, none, to_##H(value, TO_ZERO))   \
    X(cvt_rm_##id, "cvt.rm" flags "." #H "." #S, OP, u16, S, none, none, to_##H(value, DOWN))      \
    X(cvt_rp_##id, "cvt.rp" flags "." #H "." #S, OP, u16, S, none, none, to_##H(value, UP))

/* .ftz is about f32 operands of other instructions: a subnormal still rounds up or down here. */
#define TO_HALF(X)                                                                                 \
    ROUNDINGS(X, f16_u8, "", f16, u8, round32(WIDEN(a), TO_ODD))                                   \
    ROUNDINGS(X, f16_s8, "", f16, s8, round32(WIDEN(a), TO_ODD))                                   \
    ROUNDINGS(X, f16_u16, "", f16, u16, round32(WIDEN(a), TO_ODD))                                 \
    ROUNDINGS(X, f16_s16, "", f16, s16, round32(WIDEN(a), TO_ODD))                                 \
    ROUNDINGS(X, f16_u32, "", f16, u32, round32(WIDEN(a), TO_ODD))                                 \
    ROUNDINGS(X, f16_s32, "", f16, s32, round32(WIDEN(a), TO_ODD))                                 \
    ROUNDINGS(X, f16_u64, "", f16, u64, round32(WIDEN(a), TO_ODD))                                 \
    ROUNDINGS(X, f16_s64, "", f16, s64, round32(WIDEN(a), TO_ODD))                                 \
    ROUNDINGS(X, f16_f32, "", f16, f32, a)                                                         \
    ROUNDINGS(X, f16_bf16, "", f16, bf16, a)                                                       \
    ROUNDINGS(X, f16_f32_ftz, ".ftz", f16, f32, a)                                                 \
    ROUNDINGS(X, f16_f32_sat, ".sat", f16, f32, clamp_unit32(a, 1))                                \
    ROUNDINGS(X, f16_f32_ftz_sat, ".ftz.sat", f16, f32, clamp_unit32(a, 1))                        \
    ROUNDINGS(X, f16_f64_sat, ".sat", f16, f64, clamp_unit32(round32(a, TO_ODD), 1))               \
    X(cvt_rn_f16_f64, "cvt.rn.f16.f64", OP, u16, f64, none, none,                                  \
      a == a ? to_f16(round32(a, TO_ODD), TO_NEAREST) : nan_f16((f32)a))                           \
    X(cvt_rz_f16_f64, "cvt.rz.f16.f64", OP, u16, f64, none, none,                                  \
      a == a ? to_f16(round32(a, TO_ODD), TO_ZERO) : nan_f16((f32)a))                              \
    X(cvt_rm_f16_f64, "cvt.rm.f16.f64", OP, u16, f64, none, none,                                  \
      a == a ? to_f16(round32(a, TO_ODD), DOWN) : nan_f16((f32)a))                                 \
    X(cvt_rp_f16_f64, "cvt.rp.f16.f64", OP, u16, f64, none, none,                                  \
      a == a ? to_f16(round32(a, TO_ODD), UP) : nan_f16((f32)a))                                   \
    X(cvt_rn_relu_f16, "cvt.rn.relu.f16.f32", OP, u16, f32, none, none,                            \
      to_f16(relu32(a, 1), TO_NEAREST))                                                            \
    X(cvt_rz_relu_f16, "cvt.rz.relu.f16.f32", OP, u16, f32, none, none,                            \
      to_f16(relu32(a, 1), TO_ZERO))                                                               \
    ROUNDINGS(X, bf16_u8, "", bf16, u8, round32(WIDEN(a), TO_ODD))                                 \
    ROUNDINGS(X, bf16_s8, "", bf16, s8, round32(WIDEN(a), TO_ODD))                                 \
    ROUNDINGS(X, bf16_u16, "", bf16, u16, round32(WIDEN(a), TO_ODD))                               \
    ROUNDINGS(X, bf16_s16, "", bf16, s16, round32(WIDEN(a), TO_ODD))                               \
    ROUNDINGS(X, bf16_u32, "", bf16, u32, round32(WIDEN(a), TO_ODD))                               \
    ROUNDINGS(X, bf16_s32, "", bf16, s32, round32(WIDEN(a), TO_ODD))                               \
    ROUNDINGS(X, bf16_u64, "", bf16, u64, round32(WIDEN(a), TO_ODD))                               \
    ROUNDINGS(X, bf16_s64, "", bf16, s64, round32(WIDEN(a), TO_ODD))                               \
    ROUNDINGS(X, bf16_f32, "", bf16, f32, a)                                                       \
    ROUNDINGS(X, bf16_f16, "", bf16, f16, a)                                                       \
    X(cvt_rn_bf16_f64, "cvt.rn.bf16.f64", OP, u16, f64, none, none,                                \
      a == a ? to_bf16(round32(a, TO_ODD), TO_NEAREST) : nan_bf16((f32)a))                         \
    X(cvt_rz_bf16_f64, "cvt.rz.bf16.f64", OP, u16, f64, none, none,                                \
      a == a ? to_bf16(round32(a, TO_ODD), TO_ZERO) : nan_bf16((f32)a))                            \
    X(cvt_rm_bf16_f64, "cvt.rm.bf16.f64", OP, u16, f64, none, none,                                \
      a == a ? to_bf16(round32(a, TO_ODD), DOWN) : nan_bf16((f32)a))                               \
    X(cvt_rp_bf16_f64, "cvt.rp.bf16.f64", OP, u16, f64, none, none,                                \
      a == a ? to_bf16(round32(a, TO_ODD), UP) : nan_bf16((f32)a))                                 \
    X(cvt_rn_relu_bf16, "cvt.rn.relu.bf16.f32", OP, u16, f32, none, none,                          \
      to_bf16(relu32(a, 1), TO_NEAREST))                                                           \
    X(cvt_rz_relu_bf16, "cvt.rz.relu.bf16.f32", OP, u16, f32, none, none,                          \
      to_bf16(relu32(a, 1), TO_ZERO))

#define FROM_HALF(X)                                                                               \
    TO_INTEGER(X, u8, f16, "", "f16", f, 0)                                                        \
    TO_INTEGER(X, s8, f16, "", "f16", f, 0)                                                        \
    TO_INTEGER(X, u16, f16, "", "f16", f, 0)                                                       \
    TO_INTEGER(X, s16, f16, "", "f16", f, 0)                                                       \
    TO_INTEGER(X, u32, f16, "", "f16", f, 0)                                                       \
    TO_INTEGER(X, s32, f16, "", "f16", f, 0)                                                       \
    TO_INTEGER(X, u64, f16, "", "f16", f, SIGN64)                                                  \
    TO_INTEGER(X, s64, f16, "", "f16", f, SIGN64)                                                  \
    X(cvt_f32_f16, "cvt.f32.f16", OP, f32, f16, none, none, canonical32(a))                        \
    X(cvt_f32_ftz_f16, "cvt.ftz.f32.f16", OP, f32, f16, none, none, result32(a, 1, 0))             \
    X(cvt_f32_sat_f16, "cvt.sat.f32.f16", OP, f32, f16, none, none, clamp_unit32(a, 1))            \
    X(cvt_f64_f16, "cvt.f64.f16", OP, f64, f16, none, none, quiet64(a))                            \
    X(cvt_f64_sat_f16, "cvt.sat.f64.f16", OP, f64, f16, none, none, clamp_unit64(a, 1))            \
    X(cvt_same_f16, "cvt.f16.f16", OP, u16, f16, none, none, to_f16(a, TO_NEAREST))                \
    X(cvt_same_sat_f16, "cvt.sat.f16.f16", OP, u16, f16, none, none,                               \
      to_f16(clamp_unit32(a, 1), TO_NEAREST))                                                      \
    X(cvt_rni_f16_f16, "cvt.rni.f16.f16", OP, u16, f16, none, none, to_f16(rintf(a), TO_NEAREST))  \
    X(cvt_rzi_f16_f16, "cvt.rzi.f16.f16", OP, u16, f16, none, none, to_f16(truncf(a), TO_NEAREST)) \
    X(cvt_rmi_f16_f16, "cvt.rmi.f16.f16", OP, u16, f16, none, none, to_f16(floorf(a), TO_NEAREST)) \
    X(cvt_rpi_f16_f16, "cvt.rpi.f16.f16", OP, u16, f16, none, none, to_f16(ceilf(a), TO_NEAREST))  \
    TO_INTEGER(X, u8, bf16, "", "bf16", f, 0)                                                      \
    TO_INTEGER(X, s8, bf16, "", "bf16", f, 0)                                                      \
    TO_INTEGER(X, u16, bf16, "", "bf16", f, 0)                                                     \
    TO_INTEGER(X, s16, bf16, "", "bf16", f, 0)                                                     \
    TO_INTEGER(X, u32, bf16, "", "bf16", f, 0)                                                     \
    TO_INTEGER(X, s32, bf16, "", "bf16", f, 0)                                                     \
    TO_INTEGER(X, u64, bf16, "", "bf16", f, SIGN64)                                                \
    TO_INTEGER(X, s64, bf16, "", "bf16", f, SIGN64)                                                \
    X(cvt_f32_bf16, "cvt.f32.bf16", OP, u32, u16, none, none, a << 16)                             \
    X(cvt_f32_ftz_bf16, "cvt.ftz.f32.bf16", OP, f32, bf16, none, none, result32(a, 1, 0))          \
    X(cvt_f32_sat_bf16, "cvt.sat.f32.bf16", OP, f32, bf16, none, none, clamp_unit32(a, 1))         \
    X(cvt_f64_bf16, "cvt.f64.bf16", OP, f64, bf16, none, none, quiet64(a))                         \
    X(cvt_f64_sat_bf16, "cvt.sat.f64.bf16", OP, f64, bf16, none, none, clamp_unit64(a, 1))         \
    X(cvt_same_bf16, "cvt.bf16.bf16", OP, u16, bf16, none, none, to_bf16(a, TO_NEAREST))           \
    X(cvt_same_sat_bf16, "cvt.sat.bf16.bf16", OP, u16, bf16, none, none,                           \
      to_bf16(clamp_unit32(a, 1), TO_NEAREST))                                                     \
    X(cvt_rni_bf16_bf16, "cvt.rni.bf16.bf16", OP, u16, bf16, none, none,                           \
      to_bf16(rintf(a), TO_NEAREST))                                                               \
    X(cvt_rzi_bf16_bf16, "cvt.rzi.bf16.bf16", OP, u16, bf16, none, none,                           \
      to_bf16(truncf(a), TO_NEAREST))                                                              \
    X(cvt_rmi_bf16_bf16, "cvt.rmi.bf16.bf16", OP, u16, bf16, none, none,                           \
      to_bf16(floorf(a), TO_NEAREST))                                                              \
    X(cvt_rpi_bf16_bf16, "cvt.rpi.bf16.bf16", OP, u16, bf16, none, none,                           \
      to_bf16(ceilf(a), TO_NEAREST))

/* Two f32 into a pair: a above b. */
#define PAIRS(X)                                                                                   \
    X(cvt_rn_f16x2, "cvt.rn.f16x2.f32", OP, u32, f32, f32, none,                                   \
      pack16(to_f16(a, TO_NEAREST), to_f16(b, TO_NEAREST)))                                        \
    X(cvt_rz_f16x2, "cvt.rz.f16x2.f32", OP, u32, f32, f32, none,                                   \
      pack16(to_f16(a, TO_ZERO), to_f16(b, TO_ZERO)))                                              \
    X(cvt_rn_relu_f16x2, "cvt.rn.relu.f16x2.f32", OP, u32, f32, f32, none,                         \
      pack16(to_f16(relu32(a, 1), TO_NEAREST), to_f16(relu32(b, 1), TO_NEAREST)))                  \
    X(cvt_rz_relu_f16x2, "cvt.rz.relu.f16x2.f32", OP, u32, f32, f32, none,                         \
      pack16(to_f16(relu32(a, 1), TO_ZERO), to_f16(relu32(b, 1), TO_ZERO)))                        \
    X(cvt_rn_finite_f16x2, "cvt.rn.satfinite.f16x2.f32", OP, u32, f32, f32, none,                  \
      pack16(finite_f16(to_f16(a, TO_NEAREST)), finite_f16(to_f16(b, TO_NEAREST))))                \
    X(cvt_rn_relu_finite_f16x2, "cvt.rn.relu.satfinite.f16x2.f32", OP, u32, f32, f32, none,        \
      pack16(finite_f16(to_f16(relu32(a, 1), TO_NEAREST)),                                         \
             finite_f16(to_f16(relu32(b, 1), TO_NEAREST))))                                        \
    X(cvt_rn_bf16x2, "cvt.rn.bf16x2.f32", OP, u32, f32, f32, none,                                 \
      pack16(to_bf16(a, TO_NEAREST), to_bf16(b, TO_NEAREST)))                                      \
    X(cvt_rz_bf16x2, "cvt.rz.bf16x2.f32", OP, u32, f32, f32, none,                                 \
      pack16(to_bf16(a, TO_ZERO), to_bf16(b, TO_ZERO)))                                            \
    X(cvt_rn_relu_bf16x2, "cvt.rn.relu.bf16x2.f32", OP, u32, f32, f32, none,                       \
      pack16(to_bf16(relu32(a, 1), TO_NEAREST), to_bf16(relu32(b, 1), TO_NEAREST)))                \
    X(cvt_rz_relu_bf16x2, "cvt.rz.relu.bf16x2.f32", OP, u32, f32, f32, none,                       \
      pack16(to_bf16(relu32(a, 1), TO_ZERO), to_bf16(relu32(b, 1), TO_ZERO)))                      \
    X(cvt_rn_finite_bf16x2, "cvt.rn.satfinite.bf16x2.f32", OP, u32, f32, f32, none,                \
      pack16(finite_bf16(to_bf16(a, TO_NEAREST)), finite_bf16(to_bf16(b, TO_NEAREST))))            \
    X(cvt_rn_relu_finite_bf16x2, "cvt.rn.relu.satfinite.bf16x2.f32", OP, u32, f32, f32, none,      \
      pack16(finite_bf16(to_bf16(relu32(a, 1), TO_NEAREST)),                                       \
             finite_bf16(to_bf16(relu32(b, 1), TO_NEAREST))))

#define EIGHT_BITS(X)                                                                              \
    X(cvt_e4m3_f32, "cvt.rn.satfinite.e4m3x2.f32", OP, u16, f32, f32, none,                        \
      to_e4m3(a) << 8 | to_e4m3(b))                                                                \
    X(cvt_relu_e4m3_f32, "cvt.rn.satfinite.relu.e4m3x2.f32", OP, u16, f32, f32, none,              \
      to_e4m3(relu32(a, 1)) << 8 | to_e4m3(relu32(b, 1)))                                          \
    X(cvt_e4m3_f16x2, "cvt.rn.satfinite.e4m3x2.f16x2", OP, u16, u32, none, none,                   \
      to_e4m3(from_f16(a >> 16)) << 8 | to_e4m3(from_f16(a & 0xffff)))                             \
    X(cvt_relu_e4m3_f16x2, "cvt.rn.satfinite.relu.e4m3x2.f16x2", OP, u16, u32, none, none,         \
      to_e4m3(relu32(from_f16(a >> 16), 1)) << 8 | to_e4m3(relu32(from_f16(a & 0xffff), 1)))       \
    X(cvt_f16x2_e4m3, "cvt.rn.f16x2.e4m3x2", OP, u32, u16, none, none,                             \
      pack16(from_e4m3(a >> 8), from_e4m3(a & 0xff)))                                              \
    X(cvt_relu_f16x2_e4m3, "cvt.rn.relu.f16x2.e4m3x2", OP, u32, u16, none, none,                   \
      pack16(relu_f16(from_e4m3(a >> 8)), relu_f16(from_e4m3(a & 0xff))))                          \
    X(cvt_e5m2_f32, "cvt.rn.satfinite.e5m2x2.f32", OP, u16, f32, f32, none,                        \
      to_e5m2(a) << 8 | to_e5m2(b))                                                                \
    X(cvt_relu_e5m2_f32, "cvt.rn.satfinite.relu.e5m2x2.f32", OP, u16, f32, f32, none,              \
      to_e5m2(relu32(a, 1)) << 8 | to_e5m2(relu32(b, 1)))                                          \
    X(cvt_e5m2_f16x2, "cvt.rn.satfinite.e5m2x2.f16x2", OP, u16, u32, none, none,                   \
      to_e5m2(from_f16(a >> 16)) << 8 | to_e5m2(from_f16(a & 0xffff)))                             \
    X(cvt_relu_e5m2_f16x2, "cvt.rn.satfinite.relu.e5m2x2.f16x2", OP, u16, u32, none, none,         \
      to_e5m2(relu32(from_f16(a >> 16), 1)) << 8 | to_e5m2(relu32(from_f16(a & 0xffff), 1)))       \
    X(cvt_f16x2_e5m2, "cvt.rn.f16x2.e5m2x2", OP, u32, u16, none, none,                             \
      pack16(from_e5m2(a >> 8), from_e5m2(a & 0xff)))                                              \
    X(cvt_relu_f16x2_e5m2, "cvt.rn.relu.f16x2.e5m2x2", OP, u32, u16, none, none,                   \
      pack16(relu_f16(from_e5m2(a >> 8)), relu_f16(from_e5m2(a & 0xff))))

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

#define ALL(X) TO_HALF(X) FROM_HALF(X) PAIRS(X) EIGHT_BITS(X) OTHERS(X)
/* clang-format on */

ALL(DEFINE)
PUBLISH(convert_half, ALL(ENTRY))
