/* SPDX-License-Identifier: MIT
 *
 * lanes_compare: how comparisons are written. A compare function gives a word of bits for all
 * lanes; setp (alone and combined with a predicate, and its second destination) and set are thin
 * functions around it. A row is
 *
 *     Y(id, "operator", "" or ".ftz", "type", T, width, condition on a and b)
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
#define LANE_BIT_16 u32, lane_bit
#define LANE_BIT_32 u32, lane_bit
#define LANE_BIT_64 u64, lane_bit_wide

#define COMPARE_(id, T, condition, word, table)                                                    \
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
#define COMPARE(...) COMPARE_(__VA_ARGS__)

/* A function that writes `value` of bits and the combining predicate's word c. */
#define WRITE_PRED(id, compare, value)                                                             \
    LANE_FUNCTION(id)                                                                              \
    {                                                                                              \
        const u32 c = cp != NULL ? *(const reg_u32 *)cp : 0;                                       \
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
        const u32 c = cp != NULL ? *(const reg_u32 *)cp : 0;                                       \
        const u32 bits = bits_##compare(ap, bp);                                                   \
        (void)c, NO_CARRY;                                                                         \
        put_set(dp, value, one, mask);                                                             \
    }

/* All functions of one comparison. The name's parts: operator, then .ftz or nothing, then type. */
#define ONE_F32 0x3f800000u
#define COMBINED(id, suffix, value, inverse)                                                       \
    WRITE_PRED(p_##id##suffix, id, value)                                                          \
    WRITE_PRED(q_##id##suffix, id, inverse)                                                        \
    WRITE_SET(set_##id##suffix, id, value, 0xffffffffu)                                            \
    WRITE_SET(setf_##id##suffix, id, value, ONE_F32)
#define FUNCTIONS(id, op, ftz, type, T, bits_of, condition)                                        \
    COMPARE(id, T, condition, LANE_BIT_##bits_of)                                                  \
    COMBINED(id, , bits, ~bits)                                                                    \
    COMBINED(id, _and, bits &c, ~bits &c)                                                          \
    COMBINED(id, _or, bits | c, ~bits | c)                                                         \
    COMBINED(id, _xor, bits ^ c, ~bits ^ c)

#define ENTRIES_OF(id, suffix, names, ftz, type, T, c_bits)                                        \
    {"setp." names ftz "." type,                                                                   \
     p_##id##suffix,                                                                               \
     1,                                                                                            \
     BITS_##T,                                                                                     \
     BITS_##T,                                                                                     \
     c_bits,                                                                                       \
     q_##id##suffix,                                                                               \
     false},                                                                                       \
        {"set." names ftz ".u32." type,                                                            \
         set_##id##suffix,                                                                         \
         32,                                                                                       \
         BITS_##T,                                                                                 \
         BITS_##T,                                                                                 \
         c_bits,                                                                                   \
         NULL,                                                                                     \
         false},                                                                                   \
        {"set." names ftz ".s32." type,                                                            \
         set_##id##suffix,                                                                         \
         32,                                                                                       \
         BITS_##T,                                                                                 \
         BITS_##T,                                                                                 \
         c_bits,                                                                                   \
         NULL,                                                                                     \
         false},                                                                                   \
        {"set." names ftz ".f32." type,                                                            \
         setf_##id##suffix,                                                                        \
         32,                                                                                       \
         BITS_##T,                                                                                 \
         BITS_##T,                                                                                 \
         c_bits,                                                                                   \
         NULL,                                                                                     \
         false},
#define ENTRIES(id, op, ftz, type, T, bits_of, condition)                                          \
    ENTRIES_OF(id, , op, ftz, type, T, 0)                                                          \
    ENTRIES_OF(id, _and, op ".and", ftz, type, T, 1)                                               \
    ENTRIES_OF(id, _or, op ".or", ftz, type, T, 1)                                                 \
    ENTRIES_OF(id, _xor, op ".xor", ftz, type, T, 1)

/* clang-format off */
/* The fourteen operators on x and y, which are expressions of a and b. */
#define FLOAT_ORDER(Y, suffix, ftz, type, T, bits_of, x, y)                                        \
    Y(eq_##suffix, "eq", ftz, type, T, bits_of, (x) == (y))                                        \
    Y(ne_##suffix, "ne", ftz, type, T, bits_of, ((x) < (y)) || ((x) > (y)))                         \
    Y(lt_##suffix, "lt", ftz, type, T, bits_of, (x) < (y))                                         \
    Y(le_##suffix, "le", ftz, type, T, bits_of, (x) <= (y))                                        \
    Y(gt_##suffix, "gt", ftz, type, T, bits_of, (x) > (y))                                         \
    Y(ge_##suffix, "ge", ftz, type, T, bits_of, (x) >= (y))                                        \
    Y(equ_##suffix, "equ", ftz, type, T, bits_of, !(((x) < (y)) || ((x) > (y))))                    \
    Y(neu_##suffix, "neu", ftz, type, T, bits_of, (x) != (y))                                      \
    Y(ltu_##suffix, "ltu", ftz, type, T, bits_of, !((x) >= (y)))                                   \
    Y(leu_##suffix, "leu", ftz, type, T, bits_of, !((x) > (y)))                                    \
    Y(gtu_##suffix, "gtu", ftz, type, T, bits_of, !((x) <= (y)))                                   \
    Y(geu_##suffix, "geu", ftz, type, T, bits_of, !((x) < (y)))                                    \
    Y(num_##suffix, "num", ftz, type, T, bits_of, ((x) == (x)) && ((y) == (y)))                             \
    Y(nan_##suffix, "nan", ftz, type, T, bits_of, ((x) != (x)) || ((y) != (y)))
/* clang-format on */

#endif /* QN_LANES_COMPARE_H */
