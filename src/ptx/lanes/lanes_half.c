/* SPDX-License-Identifier: MIT
 *
 * Arithmetic of f16, bf16 and their pairs. A pair register is simply 64 halves in a row. Sums of
 * f16 are exact enough in f32; products of bf16, and every fma, go through f64 rounded to odd.
 */
#include "ptx/lanes/lanes_half.h"
#include "ptx/lanes/lanes_approx.h"

/* A register of pairs, read half by half. */
#define BITS_pair    32
#define READ_pair(p) ((const reg_u16 *)(p))[l]
typedef u32 work_pair;

/** As OP, over `count` halves. */
#define HALVES(count, id, A, B, C, expression)                                                     \
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
#define ONE(id, D, A, B, C, expression) HALVES(QN_LANES, id, A, B, C, expression)
#define TWO(id, D, A, B, C, expression) HALVES(2 * QN_LANES, id, A, B, C, expression)
#define FOURTH_ONE                      false
#define FOURTH_TWO                      false

static inline u32 result_f16(f32 x, bool ftz, bool sat)
{
    const bool tiny = ftz && fabsf(x) < 0x1.ffep-15f; /* before it is rounded up */
    return to_f16(clamp_unit32(tiny ? copysignf(0.0f, x) : x, sat), TO_NEAREST);
}

static inline u32 result_bf16(f32 x, bool sat)
{
    return to_bf16(clamp_unit32(x, sat), TO_NEAREST);
}

static inline f32 odd_fma(f32 a, f32 b, f32 c)
{
    return round32(sum_to_odd((f64)a * b, c), TO_ODD);
}

static inline f32 odd_mul(f32 a, f32 b)
{
    return round32((f64)a * b, TO_ODD);
}

static inline f32 extreme(f32 a, f32 b, bool most, bool nan)
{
    const f32 r = most ? max32(a, b) : min32(a, b);
    return nan && (a != a || b != b) ? NAN_F32 : r;
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

/** .xorsign.abs on bits: the magnitudes' min or max with the product's sign. */
static inline u32 xorsign(u32 magnitude, u32 a, u32 b)
{
    return (magnitude & 0x7fff) > 0x7c00 ? magnitude : (magnitude & 0x7fff) | ((a ^ b) & 0x8000);
}

static inline u32 xorsign_bf16(u32 magnitude, u32 a, u32 b)
{
    return (magnitude & 0x7fff) > 0x7f80 ? magnitude : (magnitude & 0x7fff) | ((a ^ b) & 0x8000);
}

static inline f32 operand(u32 h, bool ftz)
{
    return from_f16(flush_f16(h, ftz));
}

/* clang-format off */
#define PAIR_none none
#define PAIR_u16  pair

/* A row for the single and one for the pair. */
#define F16(X, id, op, B, C, ...)                                                                  \
    X(id##_f16, op ".f16", ONE, u16, u16, B, C, __VA_ARGS__)                                       \
    X(id##_f16x2, op ".f16x2", TWO, pair, pair, PAIR_##B, PAIR_##C, __VA_ARGS__)
#define BF16(X, id, op, B, C, ...)                                                                 \
    X(id##_bf16, op ".bf16", ONE, u16, u16, B, C, __VA_ARGS__)                                     \
    X(id##_bf16x2, op ".bf16x2", TWO, pair, pair, PAIR_##B, PAIR_##C, __VA_ARGS__)
#define SAME_F16(X, id, op, B, C)                                                                  \
    X(id##_f16, op ".f16", SAME, u16, u16, B, C, )                                                 \
    X(id##_f16x2, op ".f16x2", SAME, pair, pair, PAIR_##B, PAIR_##C, )
#define SAME_BF16(X, id, op, B, C)                                                                 \
    X(id##_bf16, op ".bf16", SAME, u16, u16, B, C, )                                               \
    X(id##_bf16x2, op ".bf16x2", SAME, pair, pair, PAIR_##B, PAIR_##C, )

/* f16 with .ftz and .sat; CALL(ftz) is the value in f32. Each under its name with and without .rn. */
#define F16_FLAG(X, id, op, flags, B, C, ftz, sat, CALL)                                           \
    F16(X, id, op ".rn" flags, B, C, result_f16(CALL(ftz), ftz, sat))                              \
    SAME_F16(X, id, op flags, B, C)
#define F16_FLAGS(X, id, op, B, C, CALL)                                                           \
    F16_FLAG(X, id, op, "", B, C, 0, 0, CALL)                                                      \
    F16_FLAG(X, id##_ftz, op, ".ftz", B, C, 1, 0, CALL)                                            \
    F16_FLAG(X, id##_sat, op, ".sat", B, C, 0, 1, CALL)                                            \
    F16_FLAG(X, id##_ftz_sat, op, ".ftz.sat", B, C, 1, 1, CALL)

#define ADD(ftz) (operand(a, ftz) + operand(b, ftz))
#define SUB(ftz) (operand(a, ftz) - operand(b, ftz))
#define MUL(ftz) (operand(a, ftz) * operand(b, ftz))
#define FMA(ftz) odd_fma(operand(a, ftz), operand(b, ftz), operand(c, ftz))
#define FMA_RELU(ftz) relu32(FMA(ftz), 1)

#define SUMS(X)                                                                                    \
    F16_FLAGS(X, add, "add", u16, none, ADD)                                                       \
    F16_FLAGS(X, sub, "sub", u16, none, SUB)                                                       \
    F16_FLAGS(X, mul, "mul", u16, none, MUL)                                                       \
    F16_FLAGS(X, fused, "fma", u16, u16, FMA)                                                      \
    F16(X, fused_relu, "fma.rn.relu", u16, u16, result_f16(FMA_RELU(0), 0, 0))                     \
    F16(X, fused_ftz_relu, "fma.rn.ftz.relu", u16, u16, result_f16(FMA_RELU(1), 1, 0))             \
    BF16(X, add, "add.rn", u16, none, result_bf16(from_bf16(a) + from_bf16(b), 0))                 \
    SAME_BF16(X, add, "add", u16, none)                                                            \
    BF16(X, sub, "sub.rn", u16, none, result_bf16(from_bf16(a) - from_bf16(b), 0))                 \
    SAME_BF16(X, sub, "sub", u16, none)                                                            \
    BF16(X, mul, "mul.rn", u16, none, result_bf16(odd_mul(from_bf16(a), from_bf16(b)), 0))         \
    SAME_BF16(X, mul, "mul", u16, none)                                                            \
    BF16(X, fused, "fma.rn", u16, u16,                                                             \
         result_bf16(odd_fma(from_bf16(a), from_bf16(b), from_bf16(c)), 0))                        \
    BF16(X, fused_relu, "fma.rn.relu", u16, u16,                                                   \
         result_bf16(relu32(odd_fma(from_bf16(a), from_bf16(b), from_bf16(c)), 1), 0))

#define F16_EXTREME(X, id, op, modifiers, ftz, most, nan)                                          \
    F16(X, id, op modifiers, u16, none,                                                            \
        result_f16(extreme(operand(a, ftz), operand(b, ftz), most, nan), ftz, 0))
#define F16_XORSIGN(X, id, op, modifiers, ftz, most, nan)                                          \
    F16(X, id, op modifiers ".xorsign.abs", u16, none,                                             \
        xorsign(result_f16(extreme(operand(a & 0x7fff, ftz), operand(b & 0x7fff, ftz), most, nan), \
                           ftz, 0), a, b))
#define BF16_EXTREME(X, id, op, modifiers, most, nan)                                              \
    BF16(X, id, op modifiers, u16, none,                                                           \
         result_bf16(extreme(from_bf16(a), from_bf16(b), most, nan), 0))                           \
    BF16(X, id##_xor, op modifiers ".xorsign.abs", u16, none,                                      \
         xorsign_bf16(result_bf16(extreme(from_bf16(a & 0x7fff), from_bf16(b & 0x7fff), most, nan), \
                                  0), a, b))
#define EXTREMES_OF(X, id, op, most)                                                               \
    F16_EXTREME(X, id, op, "", 0, most, 0)                                                         \
    F16_EXTREME(X, id##_ftz, op, ".ftz", 1, most, 0)                                               \
    F16_EXTREME(X, id##_nan, op, ".NaN", 0, most, 1)                                               \
    F16_EXTREME(X, id##_ftz_nan, op, ".ftz.NaN", 1, most, 1)                                       \
    F16_XORSIGN(X, id##_xor, op, "", 0, most, 0)                                                   \
    F16_XORSIGN(X, id##_ftz_xor, op, ".ftz", 1, most, 0)                                           \
    F16_XORSIGN(X, id##_nan_xor, op, ".NaN", 0, most, 1)                                           \
    F16_XORSIGN(X, id##_ftz_nan_xor, op, ".ftz.NaN", 1, most, 1)                                   \
    BF16_EXTREME(X, id, op, "", most, 0)                                                           \
    BF16_EXTREME(X, id##_nan, op, ".NaN", most, 1)
#define EXTREMES(X)                                                                                \
    EXTREMES_OF(X, smaller, "min", 0)                                                              \
    EXTREMES_OF(X, larger, "max", 1)

#define OTHERS(X)                                                                                  \
    F16(X, negative, "neg", none, none, tidy_f16(a ^ 0x8000))                                      \
    F16(X, negative_ftz, "neg.ftz", none, none, tidy_f16(flush_f16(a, 1) ^ 0x8000))                \
    BF16(X, negative, "neg", none, none, tidy_bf16(a ^ 0x8000))                                    \
    F16(X, absolute, "abs", none, none, tidy_f16(a & 0x7fff))                                      \
    F16(X, absolute_ftz, "abs.ftz", none, none, tidy_f16(flush_f16(a, 1) & 0x7fff))                \
    BF16(X, absolute, "abs", none, none, tidy_bf16(a & 0x7fff))                                    \
    F16(X, ex2, "ex2.approx", none, none, to_f16(exp2_32(from_f16(a)), TO_NEAREST))                \
    BF16(X, ex2, "ex2.approx.ftz", none, none,                                                     \
         to_bf16(flush32(exp2_32(flush32(from_bf16(a), 1)), 1), TO_NEAREST))                       \
    F16(X, hyperbolic, "tanh.approx", none, none, to_f16(tanh_32(from_f16(a)), TO_NEAREST))        \
    BF16(X, hyperbolic, "tanh.approx", none, none, to_bf16(tanh_32(from_bf16(a)), TO_NEAREST))
/* clang-format on */

#define ALL(X) SUMS(X) EXTREMES(X) OTHERS(X)
ALL(DEFINE)
PUBLISH(half, ALL(ENTRY))
