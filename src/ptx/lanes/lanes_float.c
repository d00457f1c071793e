/* SPDX-License-Identifier: MIT
 *
 * f32 arithmetic in every rounding, with .ftz and .sat; min, max, sign operations and tests.
 */
#include "ptx/lanes/lanes_math.h"

/** Finite 1, infinite 2, NaN 4; normal (zeros too) 8, subnormal 16. */
static inline u32 class32(f32 x)
{
    const u32 magnitude = bits32(x) & ~SIGN32;
    const u32 kind = magnitude < 0x7f800000u ? 1 : magnitude == 0x7f800000u ? 2 : 4;
    const bool normal = kind == 1 && (magnitude >= 0x00800000u || magnitude == 0);
    const bool subnormal = magnitude < 0x00800000u && magnitude != 0;
    return kind | (normal ? 8 : 0) | (subnormal ? 16 : 0);
}

static inline f32 min_nan32(f32 a, f32 b)
{
    return a != a || b != b ? NAN_F32 : min32(a, b);
}

static inline f32 max_nan32(f32 a, f32 b)
{
    return a != a || b != b ? NAN_F32 : max32(a, b);
}

/** min or max of magnitudes with the product's sign: .xorsign.abs */
static inline f32 xorsign32(f32 magnitude, f32 a, f32 b)
{
    const u32 sign = (bits32(a) ^ bits32(b)) & SIGN32;
    return magnitude != magnitude ? magnitude : from32((bits32(magnitude) & ~SIGN32) | sign);
}

/* clang-format off */
/* Rows for the four roundings of an operation. CALL(ftz, mode) is its value. */
#define FLAGS(X, id, op, B, C, mode, CALL)                                                         \
    X(id, op ".f32", OP, f32, f32, B, C, result32(CALL(0, mode), 0, 0))                            \
    X(id##_ftz, op ".ftz.f32", OP_FTZ, f32, f32, B, C, result32(FLUSHED(CALL, mode), 1, 0))
#define FLAGS_SAT(X, id, op, B, C, mode, CALL)                                                     \
    FLAGS(X, id, op, B, C, mode, CALL)                                                             \
    X(id##_sat, op ".sat.f32", OP, f32, f32, B, C, result32(CALL(0, mode), 0, 1))                  \
    X(id##_ftz_sat, op ".ftz.sat.f32", OP_FTZ, f32, f32, B, C, result32(FLUSHED(CALL, mode), 1, 1))
#define FLUSHED(CALL, mode) (exact ? flush_exact32(CALL(1, mode), CALL##_EXACT, mode) : CALL(1, mode))
#define ALIAS(X, id, op, B, C)                                                                     \
    X(id, op ".f32", SAME, f32, f32, B, C, )                                                       \
    X(id##_ftz, op ".ftz.f32", SAME, f32, f32, B, C, )                                             \
    X(id##_sat, op ".sat.f32", SAME, f32, f32, B, C, )                                             \
    X(id##_ftz_sat, op ".ftz.sat.f32", SAME, f32, f32, B, C, )
#define ROUNDINGS(X, id, op, B, C, CALL, F)                                                        \
    F(X, id##_rn, op ".rn", B, C, TO_NEAREST, CALL)                                                \
    F(X, id##_rz, op ".rz", B, C, TO_ZERO, CALL)                                                   \
    F(X, id##_rm, op ".rm", B, C, DOWN, CALL)                                                      \
    F(X, id##_rp, op ".rp", B, C, UP, CALL)

#define IN(x, ftz)      flush32(x, ftz)
#define ADD(ftz, mode)  add32(IN(a, ftz), IN(b, ftz), mode)
#define SUB(ftz, mode)  add32(IN(a, ftz), -IN(b, ftz), mode)
#define MUL(ftz, mode)  mul32(IN(a, ftz), IN(b, ftz), mode)
#define FMA(ftz, mode)  fma32(IN(a, ftz), IN(b, ftz), IN(c, ftz), mode)
#define DIV(ftz, mode)  div32(IN(a, ftz), IN(b, ftz), mode)
#define RCP(ftz, mode)  div32(1.0f, IN(a, ftz), mode)
#define SQRT(ftz, mode) sqrt32(IN(a, ftz), mode)

/* The values before rounding to f32, of flushed operands; NaN where no rounding can matter. */
#define ADD_EXACT  NAN
#define SUB_EXACT  NAN
#define MUL_EXACT  ((f64)IN(a, 1) * IN(b, 1))
#define FMA_EXACT  sum_to_odd((f64)IN(a, 1) * IN(b, 1), IN(c, 1))
#define DIV_EXACT  ((f64)IN(a, 1) / IN(b, 1))
#define RCP_EXACT  (1.0 / IN(a, 1))
#define SQRT_EXACT NAN
#define MIN_EXACT  NAN
#define MAX_EXACT  NAN

#define MIN(ftz, mode)  min32(IN(a, ftz), IN(b, ftz))
#define MAX(ftz, mode)  max32(IN(a, ftz), IN(b, ftz))
#define MIN_NAN(ftz, mode) min_nan32(IN(a, ftz), IN(b, ftz))
#define MAX_NAN(ftz, mode) max_nan32(IN(a, ftz), IN(b, ftz))
#define XORSIGN(of, ftz) xorsign32(of(fabsf(IN(a, ftz)), fabsf(IN(b, ftz))), IN(a, ftz), IN(b, ftz))
#define MIN_XOR(ftz, mode) XORSIGN(min32, ftz)
#define MAX_XOR(ftz, mode) XORSIGN(max32, ftz)
#define MIN_NAN_XOR(ftz, mode) XORSIGN(min_nan32, ftz)
#define MAX_NAN_XOR(ftz, mode) XORSIGN(max_nan32, ftz)

#define ARITHMETIC(X)                                                                              \
    ROUNDINGS(X, add, "add", f32, none, ADD, FLAGS_SAT)                                            \
    ALIAS(X, add_rn, "add", f32, none)                                                             \
    ROUNDINGS(X, sub, "sub", f32, none, SUB, FLAGS_SAT)                                            \
    ALIAS(X, sub_rn, "sub", f32, none)                                                             \
    ROUNDINGS(X, mul, "mul", f32, none, MUL, FLAGS_SAT)                                            \
    ALIAS(X, mul_rn, "mul", f32, none)                                                             \
    ROUNDINGS(X, fused, "fma", f32, f32, FMA, FLAGS_SAT)                                             \
    ALIAS(X, fused_rn, "mad.rn", f32, f32)                                                           \
    ALIAS(X, fused_rz, "mad.rz", f32, f32)                                                           \
    ALIAS(X, fused_rm, "mad.rm", f32, f32)                                                           \
    ALIAS(X, fused_rp, "mad.rp", f32, f32)                                                           \
    ROUNDINGS(X, div, "div", f32, none, DIV, FLAGS)                                                \
    ROUNDINGS(X, rcp, "rcp", none, none, RCP, FLAGS)                                               \
    ROUNDINGS(X, root, "sqrt", none, none, SQRT, FLAGS)                                            \
    FLAGS(X, min, "min", f32, none, 0, MIN)                                                        \
    FLAGS(X, max, "max", f32, none, 0, MAX)

/* .ftz stands before .NaN and .xorsign.abs */
#define EXTREME(X, id, op, modifiers, CALL)                                                        \
    X(id, op modifiers ".f32", OP, f32, f32, f32, none, result32(CALL(0, 0), 0, 0))                \
    X(id##_ftz, op ".ftz" modifiers ".f32", OP, f32, f32, f32, none, result32(CALL(1, 0), 1, 0))
#define EXTREMES(X)                                                                                \
    EXTREME(X, min_nan, "min", ".NaN", MIN_NAN)                                                    \
    EXTREME(X, max_nan, "max", ".NaN", MAX_NAN)                                                    \
    EXTREME(X, min_xor, "min", ".xorsign.abs", MIN_XOR)                                            \
    EXTREME(X, max_xor, "max", ".xorsign.abs", MAX_XOR)                                            \
    EXTREME(X, min_nan_xor, "min", ".NaN.xorsign.abs", MIN_NAN_XOR)                                \
    EXTREME(X, max_nan_xor, "max", ".NaN.xorsign.abs", MAX_NAN_XOR)

#define SIGNS(X)                                                                                   \
    X(neg, "neg.f32", OP, f32, f32, none, none, canonical32(-a)) \
    X(neg_ftz, "neg.ftz.f32", OP, f32, f32, none, none, canonical32(-IN(a, 1))) \
    X(absolute, "abs.f32", OP, f32, f32, none, none, canonical32(fabsf(a))) \
    X(absolute_ftz, "abs.ftz.f32", OP, f32, f32, none, none, canonical32(fabsf(IN(a, 1)))) \
    X(copy_sign, "copysign.f32", OP, u32, u32, u32, none, (b & ~SIGN32) | (a & SIGN32))
/* clang-format on */

/** testp: a predicate of the lanes whose class is among `classes`. */
#define TESTP(id, D, A, B, C, classes)                                                             \
    LANE_FUNCTION(id)                                                                              \
    {                                                                                              \
        u32 bits = 0;                                                                              \
        (void)bp, (void)cp, NO_CARRY;                                                              \
        LANES bits |= (u32)((class32(READ_f32(ap)) & (classes)) != 0) << l;                        \
        put_pred(dp, bits, mask);                                                                  \
    }
#define FOURTH_TESTP false
#define TESTS(X)                                                                                   \
    X(testp_finite, "testp.finite.f32", TESTP, pred, f32, none, none, 1)                           \
    X(testp_infinite, "testp.infinite.f32", TESTP, pred, f32, none, none, 2)                       \
    X(testp_number, "testp.number.f32", TESTP, pred, f32, none, none, 3)                           \
    X(testp_nan, "testp.notanumber.f32", TESTP, pred, f32, none, none, 4)                          \
    X(testp_normal, "testp.normal.f32", TESTP, pred, f32, none, none, 8)                           \
    X(testp_subnormal, "testp.subnormal.f32", TESTP, pred, f32, none, none, 16)

#define ALL(X) ARITHMETIC(X) EXTREMES(X) SIGNS(X) TESTS(X)
ALL(DEFINE)
PUBLISH(float, ALL(ENTRY))
