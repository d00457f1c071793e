/* SPDX-License-Identifier: MIT
 *
 * f32 arithmetic in every rounding, with .ftz and .sat; min, max, sign operations and tests. The
 * arithmetic is written in families, because each operation and rounding exists plain, with .ftz,
 * with .sat and with both.
 */
#include "ptx/lanes/lanes_math.h"

static inline u32 class32(f32 x)
{
    const u32 magnitude = bits32(x) & ~SIGN32;
    const u32 kind = magnitude < 0x7f800000u    ? FINITE
                     : magnitude == 0x7f800000u ? INFINITE
                                                : NOT_A_NUMBER;
    const bool normal = kind == FINITE && (magnitude >= 0x00800000u || magnitude == 0);
    const bool subnormal = magnitude < 0x00800000u && magnitude != 0;
    return kind | (normal ? NORMAL : 0) | (subnormal ? SUBNORMAL : 0);
}

/* .NaN: one NaN wins. */
static inline f32 min_nan32(f32 a, f32 b)
{
    return a != a || b != b ? NAN_F32 : min32(a, b);
}

static inline f32 max_nan32(f32 a, f32 b)
{
    return a != a || b != b ? NAN_F32 : max32(a, b);
}

/* A result with .ftz that was `unrounded` before it became r; looked at only when `exact`. */
static inline f32 result_ftz32(f32 r, f64 unrounded, int mode, bool exact, bool sat)
{
    return result32(exact ? flush_exact32(r, unrounded, mode) : r, 1, sat);
}

/* clang-format off */
/* A sum: when it is subnormal it is exact, so .ftz only has to flush it. */
#define SUM(X, id, op, value)                                                                      \
    X(id, op ".f32", OP, f32, f32, f32, none, result32(value, 0, 0))                               \
    X(id##_ftz, op ".ftz.f32", OP, f32, ftz_f32, ftz_f32, none, result32(value, 1, 0))             \
    X(id##_sat, op ".sat.f32", OP, f32, f32, f32, none, result32(value, 0, 1))                     \
    X(id##_ftz_sat, op ".ftz.sat.f32", OP, f32, ftz_f32, ftz_f32, none, result32(value, 1, 1))

/* A product, with a third operand of type C or none. */
#define PRODUCT(X, id, op, C, mode, value, unrounded)                                              \
    X(id, op ".f32", OP, f32, f32, f32, C, result32(value, 0, 0))                                  \
    X(id##_ftz, op ".ftz.f32", OP_FTZ, f32, ftz_f32, ftz_f32, ftz_##C,                             \
      result_ftz32(value, unrounded, mode, exact, 0))                                              \
    X(id##_sat, op ".sat.f32", OP, f32, f32, f32, C, result32(value, 0, 1))                        \
    X(id##_ftz_sat, op ".ftz.sat.f32", OP_FTZ, f32, ftz_f32, ftz_f32, ftz_##C,                     \
      result_ftz32(value, unrounded, mode, exact, 1))

/* A quotient by an operand of type B, or of one by a. There is no .sat. */
#define QUOTIENT(X, id, op, B, mode, value, unrounded)                                             \
    X(id, op ".f32", OP, f32, f32, B, none, result32(value, 0, 0))                                 \
    X(id##_ftz, op ".ftz.f32", OP_FTZ, f32, ftz_f32, ftz_##B, none,                                \
      result_ftz32(value, unrounded, mode, exact, 0))

/* Another name of a sum or product. */
#define ALIAS(X, id, op, C)                                                                        \
    X(id, op ".f32", SAME, f32, f32, f32, C, )                                                     \
    X(id##_ftz, op ".ftz.f32", SAME, f32, f32, f32, C, )                                           \
    X(id##_sat, op ".sat.f32", SAME, f32, f32, f32, C, )                                           \
    X(id##_ftz_sat, op ".ftz.sat.f32", SAME, f32, f32, f32, C, )

#define ARITHMETIC(X)                                                                              \
    SUM(X, add_rn, "add.rn", add32(a, b, TO_NEAREST))                                              \
    SUM(X, add_rz, "add.rz", add32(a, b, TO_ZERO))                                                 \
    SUM(X, add_rm, "add.rm", add32(a, b, DOWN))                                                    \
    SUM(X, add_rp, "add.rp", add32(a, b, UP))                                                      \
    ALIAS(X, add_rn, "add", none)                                                                  \
    SUM(X, sub_rn, "sub.rn", add32(a, -b, TO_NEAREST))                                             \
    SUM(X, sub_rz, "sub.rz", add32(a, -b, TO_ZERO))                                                \
    SUM(X, sub_rm, "sub.rm", add32(a, -b, DOWN))                                                   \
    SUM(X, sub_rp, "sub.rp", add32(a, -b, UP))                                                     \
    ALIAS(X, sub_rn, "sub", none)                                                                  \
    PRODUCT(X, mul_rn, "mul.rn", none, TO_NEAREST, mul32(a, b, TO_NEAREST), (f64)a * b)            \
    PRODUCT(X, mul_rz, "mul.rz", none, TO_ZERO, mul32(a, b, TO_ZERO), (f64)a * b)                  \
    PRODUCT(X, mul_rm, "mul.rm", none, DOWN, mul32(a, b, DOWN), (f64)a * b)                        \
    PRODUCT(X, mul_rp, "mul.rp", none, UP, mul32(a, b, UP), (f64)a * b)                            \
    ALIAS(X, mul_rn, "mul", none)                                                                  \
    PRODUCT(X, fused_rn, "fma.rn", f32, TO_NEAREST, fma32(a, b, c, TO_NEAREST),                    \
            sum_to_odd((f64)a * b, c))                                                             \
    PRODUCT(X, fused_rz, "fma.rz", f32, TO_ZERO, fma32(a, b, c, TO_ZERO),                          \
            sum_to_odd((f64)a * b, c))                                                             \
    PRODUCT(X, fused_rm, "fma.rm", f32, DOWN, fma32(a, b, c, DOWN), sum_to_odd((f64)a * b, c))     \
    PRODUCT(X, fused_rp, "fma.rp", f32, UP, fma32(a, b, c, UP), sum_to_odd((f64)a * b, c))         \
    ALIAS(X, fused_rn, "mad.rn", f32)                                                              \
    ALIAS(X, fused_rz, "mad.rz", f32)                                                              \
    ALIAS(X, fused_rm, "mad.rm", f32)                                                              \
    ALIAS(X, fused_rp, "mad.rp", f32)                                                              \
    QUOTIENT(X, div_rn, "div.rn", f32, TO_NEAREST, div32(a, b, TO_NEAREST), (f64)a / b)            \
    QUOTIENT(X, div_rz, "div.rz", f32, TO_ZERO, div32(a, b, TO_ZERO), (f64)a / b)                  \
    QUOTIENT(X, div_rm, "div.rm", f32, DOWN, div32(a, b, DOWN), (f64)a / b)                        \
    QUOTIENT(X, div_rp, "div.rp", f32, UP, div32(a, b, UP), (f64)a / b)                            \
    QUOTIENT(X, rcp_rn, "rcp.rn", none, TO_NEAREST, div32(1.0f, a, TO_NEAREST), 1.0 / a)           \
    QUOTIENT(X, rcp_rz, "rcp.rz", none, TO_ZERO, div32(1.0f, a, TO_ZERO), 1.0 / a)                 \
    QUOTIENT(X, rcp_rm, "rcp.rm", none, DOWN, div32(1.0f, a, DOWN), 1.0 / a)                       \
    QUOTIENT(X, rcp_rp, "rcp.rp", none, UP, div32(1.0f, a, UP), 1.0 / a)

/* Never subnormal when the operand is not, so .ftz matters only where that is read. The same holds
 * of min and max, whose result is one of the operands. */
#define ROOTS(X)                                                                                   \
    X(root_rn, "sqrt.rn.f32", OP, f32, f32, none, none, canonical32(sqrt32(a, TO_NEAREST)))        \
    X(root_rz, "sqrt.rz.f32", OP, f32, f32, none, none, canonical32(sqrt32(a, TO_ZERO)))           \
    X(root_rm, "sqrt.rm.f32", OP, f32, f32, none, none, canonical32(sqrt32(a, DOWN)))              \
    X(root_rp, "sqrt.rp.f32", OP, f32, f32, none, none, canonical32(sqrt32(a, UP)))                \
    X(root_rn_ftz, "sqrt.rn.ftz.f32", OP, f32, ftz_f32, none, none,                                \
      canonical32(sqrt32(a, TO_NEAREST)))                                                          \
    X(root_rz_ftz, "sqrt.rz.ftz.f32", OP, f32, ftz_f32, none, none,                                \
      canonical32(sqrt32(a, TO_ZERO)))                                                             \
    X(root_rm_ftz, "sqrt.rm.ftz.f32", OP, f32, ftz_f32, none, none, canonical32(sqrt32(a, DOWN)))  \
    X(root_rp_ftz, "sqrt.rp.ftz.f32", OP, f32, ftz_f32, none, none, canonical32(sqrt32(a, UP)))

#define EXTREMES(X)                                                                                \
    X(min, "min.f32", OP, f32, f32, f32, none, result32(min32(a, b), 0, 0))                        \
    X(max, "max.f32", OP, f32, f32, f32, none, result32(max32(a, b), 0, 0))                        \
    X(min_nan, "min.NaN.f32", OP, f32, f32, f32, none, result32(min_nan32(a, b), 0, 0))            \
    X(max_nan, "max.NaN.f32", OP, f32, f32, f32, none, result32(max_nan32(a, b), 0, 0))            \
    X(min_xor, "min.xorsign.abs.f32", OP, f32, f32, f32, none,                                     \
      xorsign32(min32(fabsf(a), fabsf(b)), a, b))                                                  \
    X(max_xor, "max.xorsign.abs.f32", OP, f32, f32, f32, none,                                     \
      xorsign32(max32(fabsf(a), fabsf(b)), a, b))                                                  \
    X(min_nan_xor, "min.NaN.xorsign.abs.f32", OP, f32, f32, f32, none,                             \
      xorsign32(min_nan32(fabsf(a), fabsf(b)), a, b))                                              \
    X(max_nan_xor, "max.NaN.xorsign.abs.f32", OP, f32, f32, f32, none,                             \
      xorsign32(max_nan32(fabsf(a), fabsf(b)), a, b))                                              \
    X(min_ftz, "min.ftz.f32", OP, f32, ftz_f32, ftz_f32, none,                                     \
      result32(min32(a, b), 0, 0))                                                                 \
    X(max_ftz, "max.ftz.f32", OP, f32, ftz_f32, ftz_f32, none,                                     \
      result32(max32(a, b), 0, 0))                                                                 \
    X(min_ftz_nan, "min.ftz.NaN.f32", OP, f32, ftz_f32, ftz_f32, none,                             \
      result32(min_nan32(a, b), 0, 0))                                                             \
    X(max_ftz_nan, "max.ftz.NaN.f32", OP, f32, ftz_f32, ftz_f32, none,                             \
      result32(max_nan32(a, b), 0, 0))                                                             \
    X(min_ftz_xor, "min.ftz.xorsign.abs.f32", OP, f32, ftz_f32, ftz_f32, none,                     \
      xorsign32(min32(fabsf(a), fabsf(b)), a, b))                                                  \
    X(max_ftz_xor, "max.ftz.xorsign.abs.f32", OP, f32, ftz_f32, ftz_f32, none,                     \
      xorsign32(max32(fabsf(a), fabsf(b)), a, b))                                                  \
    X(min_ftz_nan_xor, "min.ftz.NaN.xorsign.abs.f32", OP, f32, ftz_f32, ftz_f32, none,             \
      xorsign32(min_nan32(fabsf(a), fabsf(b)), a, b))                                              \
    X(max_ftz_nan_xor, "max.ftz.NaN.xorsign.abs.f32", OP, f32, ftz_f32, ftz_f32, none,             \
      xorsign32(max_nan32(fabsf(a), fabsf(b)), a, b))

#define SIGNS(X)                                                                                   \
    X(neg, "neg.f32", OP, f32, f32, none, none, canonical32(-a))                                   \
    X(neg_ftz, "neg.ftz.f32", OP, f32, ftz_f32, none, none, canonical32(-a))                       \
    X(absolute, "abs.f32", OP, f32, f32, none, none, canonical32(fabsf(a)))                        \
    X(absolute_ftz, "abs.ftz.f32", OP, f32, ftz_f32, none, none, canonical32(fabsf(a)))            \
    X(copy_sign, "copysign.f32", OP, u32, u32, u32, none, (b & ~SIGN32) | (a & SIGN32))

#define TESTS(X)                                                                                   \
    X(testp_finite, "testp.finite.f32", TEST, pred, f32, none, none, class32(a) & FINITE)          \
    X(testp_infinite, "testp.infinite.f32", TEST, pred, f32, none, none, class32(a) & INFINITE)    \
    X(testp_number, "testp.number.f32", TEST, pred, f32, none, none,                               \
      class32(a) & (FINITE | INFINITE))                                                            \
    X(testp_nan, "testp.notanumber.f32", TEST, pred, f32, none, none, class32(a) & NOT_A_NUMBER)   \
    X(testp_normal, "testp.normal.f32", TEST, pred, f32, none, none, class32(a) & NORMAL)          \
    X(testp_subnormal, "testp.subnormal.f32", TEST, pred, f32, none, none, class32(a) & SUBNORMAL)
/* clang-format on */

#define ALL(X) ARITHMETIC(X) ROOTS(X) EXTREMES(X) SIGNS(X) TESTS(X)
ALL(DEFINE)
PUBLISH(float, ALL(ENTRY))
