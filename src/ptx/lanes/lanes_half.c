/* SPDX-License-Identifier: MIT
 *
 * Arithmetic of f16, bf16 and their pairs. Every instruction here has a form for the single half
 * and one for the pair, whose name ends in x2. A row names the single one and makes both: a pair
 * register is simply 64 halves in a row. Sums of f16 are exact enough in f32; products of bf16, and
 * every fma, go through f64 rounded to odd.
 */
#include "ptx/lanes/lanes_half.h"
#include "ptx/lanes/lanes_approx.h"

/* As OP, over `count` halves. */
#define WALK(id, count, A, B, C, expression)                                                       \
    LANE_FUNCTION(id)                                                                              \
    {                                                                                              \
        u16 r[count];                                                                              \
        NO_CARRY;                                                                                  \
        for (int l = 0; l < (count); l++) {                                                        \
            SOURCES(A, B, C);                                                                      \
            r[l] = (u16)(expression);                                                              \
        }                                                                                          \
        put(dp, r, sizeof r, mask);                                                                \
    }
#define HALVES(id, D, A, B, C, expression)                                                         \
    WALK(id, QN_LANES, A, B, C, expression)                                                        \
    WALK(id##x2, 2 * QN_LANES, A, B, C, expression)

/* In place of ENTRY: the lines of the single and of the pair. */
#define ENTRIES(...) ENTRIES_(__VA_ARGS__)
#define ENTRIES_(id, name, KIND, D, A, B, C, ...)                                                  \
    {name, id, BITS_##D, BITS_##A, BITS_##B, BITS_##C, NULL, false},                               \
        {name "x2", id##x2, 2 * BITS_##D, 2 * BITS_##A, 2 * BITS_##B, 2 * BITS_##C, NULL, false},

static inline u32 result_f16(f32 x, bool ftz, bool sat)
{
    const bool tiny = ftz && fabsf(x) < 0x1.ffep-15f; /* decided before it is rounded up */
    return to_f16(clamp_unit32(tiny ? copysignf(0.0f, x) : x, sat), TO_NEAREST);
}

static inline f32 odd_fma(f32 a, f32 b, f32 c)
{
    return round32(sum_to_odd((f64)a * b, c), TO_ODD);
}

static inline f32 odd_mul(f32 a, f32 b)
{
    return round32((f64)a * b, TO_ODD);
}

/* .NaN: r, made of a and b, unless one of them is NaN. */
static inline f32 unless_nan(f32 r, f32 a, f32 b)
{
    return a != a || b != b ? NAN_F32 : r;
}

/* neg and abs give the one NaN. */
static inline u32 tidy_f16(u32 h)
{
    return (h & 0x7fff) > 0x7c00 ? NAN_F16 : h;
}

static inline u32 tidy_bf16(u32 h)
{
    return (h & 0x7fff) > 0x7f80 ? NAN_F16 : h;
}

/* clang-format off */
/* f16 with all flags, each under its name with .rn and without. */
#define FLAGS(X, id, op, C, value)                                                                 \
    X(id##_f16, op ".rn.f16", HALVES, u16, f16, f16, C, result_f16(value, 0, 0))                   \
    X(id##_f16, op ".f16", SAME, u16, f16, f16, C, )                                               \
    X(id##_ftz_f16, op ".rn.ftz.f16", HALVES, u16, ftz_f16, ftz_f16, ftz_##C,                      \
      result_f16(value, 1, 0))                                                                     \
    X(id##_ftz_f16, op ".ftz.f16", SAME, u16, f16, f16, C, )                                       \
    X(id##_sat_f16, op ".rn.sat.f16", HALVES, u16, f16, f16, C, result_f16(value, 0, 1))           \
    X(id##_sat_f16, op ".sat.f16", SAME, u16, f16, f16, C, )                                       \
    X(id##_ftz_sat_f16, op ".rn.ftz.sat.f16", HALVES, u16, ftz_f16, ftz_f16, ftz_##C,              \
      result_f16(value, 1, 1))                                                                     \
    X(id##_ftz_sat_f16, op ".ftz.sat.f16", SAME, u16, f16, f16, C, )

#define ARITHMETIC(X)                                                                              \
    FLAGS(X, add, "add", none, a + b)                                                              \
    FLAGS(X, sub, "sub", none, a - b)                                                              \
    FLAGS(X, mul, "mul", none, a * b)                                                              \
    FLAGS(X, fused, "fma", f16, odd_fma(a, b, c))                                                  \
    X(fused_relu_f16, "fma.rn.relu.f16", HALVES, u16, f16, f16, f16,                               \
      result_f16(relu32(odd_fma(a, b, c), 1), 0, 0))                                               \
    X(fused_ftz_relu_f16, "fma.rn.ftz.relu.f16", HALVES, u16, ftz_f16, ftz_f16, ftz_f16,           \
      result_f16(relu32(odd_fma(a, b, c), 1), 1, 0))                                               \
    X(add_bf16, "add.rn.bf16", HALVES, u16, bf16, bf16, none, to_bf16(a + b, TO_NEAREST))          \
    X(add_bf16, "add.bf16", SAME, u16, bf16, bf16, none, )                                         \
    X(sub_bf16, "sub.rn.bf16", HALVES, u16, bf16, bf16, none, to_bf16(a - b, TO_NEAREST))          \
    X(sub_bf16, "sub.bf16", SAME, u16, bf16, bf16, none, )                                         \
    X(mul_bf16, "mul.rn.bf16", HALVES, u16, bf16, bf16, none, to_bf16(odd_mul(a, b), TO_NEAREST))  \
    X(mul_bf16, "mul.bf16", SAME, u16, bf16, bf16, none, )                                         \
    X(fused_bf16, "fma.rn.bf16", HALVES, u16, bf16, bf16, bf16,                                    \
      to_bf16(odd_fma(a, b, c), TO_NEAREST))                                                       \
    X(fused_relu_bf16, "fma.rn.relu.bf16", HALVES, u16, bf16, bf16, bf16,                          \
      to_bf16(relu32(odd_fma(a, b, c), 1), TO_NEAREST))

/* The result is one of the operands, so .ftz matters only where these are read. */
#define EXTREMES(X)                                                                                \
    X(smaller_f16, "min.f16", HALVES, u16, f16, f16, none, to_f16(min32(a, b), TO_NEAREST))        \
    X(smaller_xor_f16, "min.xorsign.abs.f16", HALVES, u16, f16, f16, none,                         \
      to_f16(xorsign32(min32(fabsf(a), fabsf(b)), a, b), TO_NEAREST))                              \
    X(smaller_nan_f16, "min.NaN.f16", HALVES, u16, f16, f16, none,                                 \
      to_f16(unless_nan(min32(a, b), a, b), TO_NEAREST))                                           \
    X(smaller_nan_xor_f16, "min.NaN.xorsign.abs.f16", HALVES, u16, f16, f16, none,                 \
      to_f16(unless_nan(xorsign32(min32(fabsf(a), fabsf(b)), a, b), a, b), TO_NEAREST))            \
    X(smaller_ftz_f16, "min.ftz.f16", HALVES, u16, ftz_f16, ftz_f16, none,                         \
      to_f16(min32(a, b), TO_NEAREST))                                                             \
    X(smaller_ftz_xor_f16, "min.ftz.xorsign.abs.f16", HALVES, u16, ftz_f16, ftz_f16, none,         \
      to_f16(xorsign32(min32(fabsf(a), fabsf(b)), a, b), TO_NEAREST))                              \
    X(smaller_ftz_nan_f16, "min.ftz.NaN.f16", HALVES, u16, ftz_f16, ftz_f16, none,                 \
      to_f16(unless_nan(min32(a, b), a, b), TO_NEAREST))                                           \
    X(smaller_ftz_nan_xor_f16, "min.ftz.NaN.xorsign.abs.f16", HALVES, u16, ftz_f16, ftz_f16, none, \
      to_f16(unless_nan(xorsign32(min32(fabsf(a), fabsf(b)), a, b), a, b), TO_NEAREST))            \
    X(smaller_bf16, "min.bf16", HALVES, u16, bf16, bf16, none, to_bf16(min32(a, b), TO_NEAREST))   \
    X(smaller_xor_bf16, "min.xorsign.abs.bf16", HALVES, u16, bf16, bf16, none,                     \
      to_bf16(xorsign32(min32(fabsf(a), fabsf(b)), a, b), TO_NEAREST))                             \
    X(smaller_nan_bf16, "min.NaN.bf16", HALVES, u16, bf16, bf16, none,                             \
      to_bf16(unless_nan(min32(a, b), a, b), TO_NEAREST))                                          \
    X(smaller_nan_xor_bf16, "min.NaN.xorsign.abs.bf16", HALVES, u16, bf16, bf16, none,             \
      to_bf16(unless_nan(xorsign32(min32(fabsf(a), fabsf(b)), a, b), a, b), TO_NEAREST))           \
    X(larger_f16, "max.f16", HALVES, u16, f16, f16, none, to_f16(max32(a, b), TO_NEAREST))         \
    X(larger_xor_f16, "max.xorsign.abs.f16", HALVES, u16, f16, f16, none,                          \
      to_f16(xorsign32(max32(fabsf(a), fabsf(b)), a, b), TO_NEAREST))                              \
    X(larger_nan_f16, "max.NaN.f16", HALVES, u16, f16, f16, none,                                  \
      to_f16(unless_nan(max32(a, b), a, b), TO_NEAREST))                                           \
    X(larger_nan_xor_f16, "max.NaN.xorsign.abs.f16", HALVES, u16, f16, f16, none,                  \
      to_f16(unless_nan(xorsign32(max32(fabsf(a), fabsf(b)), a, b), a, b), TO_NEAREST))            \
    X(larger_ftz_f16, "max.ftz.f16", HALVES, u16, ftz_f16, ftz_f16, none,                          \
      to_f16(max32(a, b), TO_NEAREST))                                                             \
    X(larger_ftz_xor_f16, "max.ftz.xorsign.abs.f16", HALVES, u16, ftz_f16, ftz_f16, none,          \
      to_f16(xorsign32(max32(fabsf(a), fabsf(b)), a, b), TO_NEAREST))                              \
    X(larger_ftz_nan_f16, "max.ftz.NaN.f16", HALVES, u16, ftz_f16, ftz_f16, none,                  \
      to_f16(unless_nan(max32(a, b), a, b), TO_NEAREST))                                           \
    X(larger_ftz_nan_xor_f16, "max.ftz.NaN.xorsign.abs.f16", HALVES, u16, ftz_f16, ftz_f16, none,  \
      to_f16(unless_nan(xorsign32(max32(fabsf(a), fabsf(b)), a, b), a, b), TO_NEAREST))            \
    X(larger_bf16, "max.bf16", HALVES, u16, bf16, bf16, none, to_bf16(max32(a, b), TO_NEAREST))    \
    X(larger_xor_bf16, "max.xorsign.abs.bf16", HALVES, u16, bf16, bf16, none,                      \
      to_bf16(xorsign32(max32(fabsf(a), fabsf(b)), a, b), TO_NEAREST))                             \
    X(larger_nan_bf16, "max.NaN.bf16", HALVES, u16, bf16, bf16, none,                              \
      to_bf16(unless_nan(max32(a, b), a, b), TO_NEAREST))                                          \
    X(larger_nan_xor_bf16, "max.NaN.xorsign.abs.bf16", HALVES, u16, bf16, bf16, none,              \
      to_bf16(unless_nan(xorsign32(max32(fabsf(a), fabsf(b)), a, b), a, b), TO_NEAREST))

#define OTHERS(X)                                                                                  \
    X(negative_f16, "neg.f16", HALVES, u16, u16, none, none, tidy_f16(a ^ 0x8000))                 \
    X(negative_ftz_f16, "neg.ftz.f16", HALVES, u16, u16, none, none,                               \
      tidy_f16(flush_f16(a, 1) ^ 0x8000))                                                          \
    X(negative_bf16, "neg.bf16", HALVES, u16, u16, none, none, tidy_bf16(a ^ 0x8000))              \
    X(absolute_f16, "abs.f16", HALVES, u16, u16, none, none, tidy_f16(a & 0x7fff))                 \
    X(absolute_ftz_f16, "abs.ftz.f16", HALVES, u16, u16, none, none,                               \
      tidy_f16(flush_f16(a, 1) & 0x7fff))                                                          \
    X(absolute_bf16, "abs.bf16", HALVES, u16, u16, none, none, tidy_bf16(a & 0x7fff))              \
    X(ex2_f16, "ex2.approx.f16", HALVES, u16, f16, none, none, to_f16(exp2_32(a), TO_NEAREST))     \
    X(ex2_bf16, "ex2.approx.ftz.bf16", HALVES, u16, bf16, none, none,                              \
      to_bf16(flush32(exp2_32(flush32(a, 1)), 1), TO_NEAREST))                                     \
    X(hyperbolic_f16, "tanh.approx.f16", HALVES, u16, f16, none, none,                             \
      to_f16(tanh_32(a), TO_NEAREST))                                                              \
    X(hyperbolic_bf16, "tanh.approx.bf16", HALVES, u16, bf16, none, none,                          \
      to_bf16(tanh_32(a), TO_NEAREST))
/* clang-format on */

#define ALL(X) ARITHMETIC(X) EXTREMES(X) OTHERS(X)
ALL(DEFINE)
PUBLISH(half, ALL(ENTRIES))
