/* SPDX-License-Identifier: MIT
 *
 * lanes_compare: how comparisons are written. A row is one condition on one type:
 *
 *     X(id, "operator", "" or ".ftz", "type", T, condition on a and b)
 *     X(lt_s32, "lt", "", "s32", s32, a < b)
 *
 * and makes all instructions that ask for it: setp and set, alone and combined with a predicate. A
 * compare function gives a word of bits for all lanes; each instruction is a thin function around
 * it.
 */
#ifndef QN_LANES_COMPARE_H
#define QN_LANES_COMPARE_H

#include "ptx/lanes/lanes_math.h"

/* Lane l's bit, in words as wide as the operands, so that comparisons stay in vectors. */
#define BIT_ROW(n) 1u << n, 1u << (n + 1), 1u << (n + 2), 1u << (n + 3)
#define BIT_TABLE                                                                                  \
    {                                                                                              \
        BIT_ROW(0), BIT_ROW(4), BIT_ROW(8), BIT_ROW(12), BIT_ROW(16), BIT_ROW(20), BIT_ROW(24),    \
            BIT_ROW(28)                                                                            \
    }
static const u32 lane_bit[QN_LANES] = BIT_TABLE;
static const u64 lane_bit_wide[QN_LANES] = BIT_TABLE;
#define LANE_BIT_16       u32, lane_bit
#define LANE_BIT_32       u32, lane_bit
#define LANE_BIT_64       u64, lane_bit_wide
#define LANE_BIT(bits)    LANE_BIT_OF(bits)
#define LANE_BIT_OF(bits) LANE_BIT_##bits

/** bits_<id>: the lanes of operands of type T for which the condition holds. */
#define COMPARE(id, T, condition) COMPARE_(id, T, condition, LANE_BIT(BITS_##T))
#define COMPARE_(...)             COMPARE__(__VA_ARGS__)
#define COMPARE__(id, T, condition, word, table)                                                   \
    static __attribute__((noinline)) u32 bits_##id(const void *ap, const void *bp)                 \
    {                                                                                              \
        word bits = 0;                                                                             \
        LANES                                                                                      \
        {                                                                                          \
            const work_##T a = READ_##T(ap), b = READ_##T(bp);                                     \
            bits |= (condition) ? table[l] : 0;                                                    \
        }                                                                                          \
        return (u32)bits;                                                                          \
    }

/* A function that writes `value` of bits and the combining predicate's word c. */
#define WRITE_PRED(id, compare, value)                                                             \
    LANE_FUNCTION(id)                                                                              \
    {                                                                                              \
        const u32 c = cp ? *(const reg_u32 *)cp : 0;                                               \
        const u32 bits = bits_##compare(ap, bp);                                                   \
        (void)c, NO_CARRY;                                                                         \
        put_pred(dp, value, mask);                                                                 \
    }

/** set: all ones (integers) or 1.0 (f32) where the bit is set. */
static __attribute__((noinline)) void put_set(void *dp, u32 bits, u32 one, u32 mask)
{
    u32 r[QN_LANES];
    LANES r[l] = bits & lane_bit[l] ? one : 0;
    put(dp, r, sizeof r, mask);
}

#define WRITE_SET(id, compare, value, one)                                                         \
    LANE_FUNCTION(id)                                                                              \
    {                                                                                              \
        const u32 c = cp ? *(const reg_u32 *)cp : 0;                                               \
        const u32 bits = bits_##compare(ap, bp);                                                   \
        (void)c, NO_CARRY;                                                                         \
        put_set(dp, value, one, mask);                                                             \
    }

/* clang-format off */
/** setp: the four functions of the destination p_ or q_, alone and with .and, .or and .xor. */
#define SETP_FUNCTIONS(p, id, compare)                                                             \
    WRITE_PRED(p##id, compare, bits)                                                               \
    WRITE_PRED(p##and_##id, compare, bits & c)                                                     \
    WRITE_PRED(p##or_##id, compare, bits | c)                                                      \
    WRITE_PRED(p##xor_##id, compare, bits ^ c)

/** setp's four lines in the set; SECOND where it can be p|q, else NO_SECOND. */
#define SETP_ENTRIES(id, op, ends, width, second)                                                  \
    {"setp." op ends, p_##id, 1, width, width, 0, second(q_##id), false},                          \
    {"setp." op ".and" ends, p_and_##id, 1, width, width, 1, second(q_and_##id), false},           \
    {"setp." op ".or" ends, p_or_##id, 1, width, width, 1, second(q_or_##id), false},              \
    {"setp." op ".xor" ends, p_xor_##id, 1, width, width, 1, second(q_xor_##id), false},
#define SECOND(q)    q
#define NO_SECOND(q) NULL

/* The fourteen operators of a floating-point type. `ne` is written so that NaN makes it false. */
#define FLOATS(X, T, ftz, type)                                                                    \
    X(eq_##T, "eq", ftz, type, T, a == b)                                                          \
    X(ne_##T, "ne", ftz, type, T, a < b || a > b)                                                  \
    X(lt_##T, "lt", ftz, type, T, a < b)                                                           \
    X(le_##T, "le", ftz, type, T, a <= b)                                                          \
    X(gt_##T, "gt", ftz, type, T, a > b)                                                           \
    X(ge_##T, "ge", ftz, type, T, a >= b)                                                          \
    X(equ_##T, "equ", ftz, type, T, !(a < b || a > b))                                             \
    X(neu_##T, "neu", ftz, type, T, a != b)                                                        \
    X(ltu_##T, "ltu", ftz, type, T, !(a >= b))                                                     \
    X(leu_##T, "leu", ftz, type, T, !(a > b))                                                      \
    X(gtu_##T, "gtu", ftz, type, T, !(a <= b))                                                     \
    X(geu_##T, "geu", ftz, type, T, !(a < b))                                                      \
    X(num_##T, "num", ftz, type, T, a == a && b == b)                                              \
    X(nan_##T, "nan", ftz, type, T, a != a || b != b)
/* clang-format on */

#endif /* QN_LANES_COMPARE_H */
