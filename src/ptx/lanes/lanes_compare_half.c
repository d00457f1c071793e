/* SPDX-License-Identifier: MIT
 *
 * Comparisons of f16, bf16 and their pairs. setp of pairs has two destinations, one
 * for each half, others one. set
 * exists without a combining predicate, to the types that the ISA lists.
 */
#include "ptx/lanes/lanes_compare.h"
#include "ptx/lanes/lanes_half.h"

/* The low and the high half of a pair register. */
#define BITS_low     32
#define BITS_high    32
#define READ_low(p)  (((const reg_u32 *)(p))[l] & 0xffff)
#define READ_high(p) (((const reg_u32 *)(p))[l] >> 16)
typedef u32 work_low;
typedef u32 work_high;

static __attribute__((noinline)) void put_set16(void *dp, u32 bits, u32 one, u32 mask)
{
    u16 r[QN_LANES];
    LANES r[l] = (u16)(bits & lane_bit[l] ? one : 0);
    put(dp, r, sizeof r, mask);
}

static __attribute__((noinline)) void put_set_pair(void *dp, u32 low, u32 high, u32 one, u32 mask)
{
    u32 r[QN_LANES];
    LANES r[l] = (low & lane_bit[l] ? one : 0) | (high & lane_bit[l] ? one << 16 : 0);
    put(dp, r, sizeof r, mask);
}

#define WRITE_SET16(id, compare, one)                                                              \
    LANE_FUNCTION(id)                                                                              \
    {                                                                                              \
        (void)cp, NO_CARRY;                                                                        \
        put_set16(dp, bits_##compare(ap, bp), one, mask);                                          \
    }
#define WRITE_SET32(id, compare)                                                                   \
    LANE_FUNCTION(id)                                                                              \
    {                                                                                              \
        (void)cp, NO_CARRY;                                                                        \
        put_set(dp, bits_##compare(ap, bp), 0xffffffffu, mask);                                    \
    }
#define WRITE_PAIR(id, compare, one)                                                               \
    LANE_FUNCTION(id)                                                                              \
    {                                                                                              \
        (void)cp, NO_CARRY;                                                                        \
        put_set_pair(dp, bits_##compare##_low(ap, bp), bits_##compare##_high(ap, bp), one, mask);  \
    }

#define SINGLE(id, op, ftz, type, T, bits_of, condition)                                           \
    COMPARE(id, T, condition, LANE_BIT_##bits_of)                                                  \
    WRITE_PRED(p_##id, id, bits)                                                                   \
    WRITE_PRED(p_##id##_and, id, bits &c)                                                          \
    WRITE_PRED(p_##id##_or, id, bits | c)                                                          \
    WRITE_PRED(p_##id##_xor, id, bits ^ c)                                                         \
    WRITE_SET16(set_##id, id, ONE_##T)                                                             \
    WRITE_SET16(seti_##id, id, 0xffff)                                                             \
    WRITE_SET32(setw_##id, id)

/* setp of pairs: p is the low half's result and q the high half's. */
#define SETP(p, q, id, value)                                                                      \
    WRITE_PRED(p, id##_low, value)                                                                 \
    WRITE_PRED(q, id##_high, value)
#define DOUBLE(id, op, ftz, type, T, bits_of, condition)                                           \
    COMPARE(id##_##T, T, condition, LANE_BIT_##bits_of)
#define PAIRED(id, ones)                                                                           \
    SETP(p_##id, q_##id, id, bits)                                                                 \
    SETP(p_##id##_and, q_##id##_and, id, bits &c)                                                  \
    SETP(p_##id##_or, q_##id##_or, id, bits | c)                                                   \
    SETP(p_##id##_xor, q_##id##_xor, id, bits ^ c)                                                 \
    WRITE_PAIR(set_##id, id, ones)                                                                 \
    WRITE_PAIR(seti_##id, id, 0xffff)

#define SETP_ENTRY(id, suffix, names, ftz, type, width, c_bits)                                    \
    {"setp." names ftz "." type, p_##id##suffix, 1, width, width, c_bits,                          \
     Q_##width(id##suffix),      false},
#define Q_16(id) NULL /* only pairs have a second destination */
#define Q_32(id) q_##id
#define SETP_ENTRIES(id, op, ftz, type, width)                                                     \
    SETP_ENTRY(id, , op, ftz, type, width, 0)                                                      \
    SETP_ENTRY(id, _and, op ".and", ftz, type, width, 1)                                           \
    SETP_ENTRY(id, _or, op ".or", ftz, type, width, 1)                                             \
    SETP_ENTRY(id, _xor, op ".xor", ftz, type, width, 1)
#define SET_ENTRY(function, op, ftz, to, type, d_width, width)                                     \
    {"set." op ftz "." to "." type, function, d_width, width, width, 0, NULL, false},

/* clang-format off */
#define SINGLE_ENTRIES(id, op, ftz, type, T, bits_of, condition)                                   \
    SETP_ENTRIES(id, op, ftz, type, 16)                                                            \
    SET_ENTRY(set_##id, op, ftz, type, type, 16, 16)                                               \
    SET_ENTRY(seti_##id, op, ftz, "u16", type, 16, 16)                                             \
    SET_ENTRY(seti_##id, op, ftz, "s16", type, 16, 16)                                             \
    SET_ENTRY(setw_##id, op, ftz, "u32", type, 32, 16)                                             \
    SET_ENTRY(setw_##id, op, ftz, "s32", type, 32, 16)
#define PAIR_ENTRIES(id, op, ftz, type)                                                            \
    SETP_ENTRIES(id, op, ftz, type, 32)                                                            \
    SET_ENTRY(set_##id, op, ftz, type, type, 32, 32)                                               \
    SET_ENTRY(seti_##id, op, ftz, "u32", type, 32, 32)                                             \
    SET_ENTRY(seti_##id, op, ftz, "s32", type, 32, 32)

#define F16S(Y, suffix, T, ftz)                                                                    \
    FLOAT_ORDER(Y, suffix, ftz, "f16", T, 32, from_f16(a), from_f16(b))
#define F16S_FTZ(Y, suffix, T, ftz)                                                                \
    FLOAT_ORDER(Y, suffix, ftz, "f16", T, 32, from_f16(flush_f16(a, 1)), from_f16(flush_f16(b, 1)))
#define BF16S(Y, suffix, T, ftz)                                                                   \
    FLOAT_ORDER(Y, suffix, ftz, "bf16", T, 32, from_bf16(a), from_bf16(b))
/* The operators of a pair, for what is not a comparison by itself. */
#define OPERATORS(Z, suffix, ...)                                                                  \
    Z(eq_##suffix, "eq", __VA_ARGS__) Z(ne_##suffix, "ne", __VA_ARGS__)                            \
    Z(lt_##suffix, "lt", __VA_ARGS__) Z(le_##suffix, "le", __VA_ARGS__)                            \
    Z(gt_##suffix, "gt", __VA_ARGS__) Z(ge_##suffix, "ge", __VA_ARGS__)                            \
    Z(equ_##suffix, "equ", __VA_ARGS__) Z(neu_##suffix, "neu", __VA_ARGS__)                        \
    Z(ltu_##suffix, "ltu", __VA_ARGS__) Z(leu_##suffix, "leu", __VA_ARGS__)                        \
    Z(gtu_##suffix, "gtu", __VA_ARGS__) Z(geu_##suffix, "geu", __VA_ARGS__)                        \
    Z(num_##suffix, "num", __VA_ARGS__) Z(nan_##suffix, "nan", __VA_ARGS__)
/* clang-format on */

#define ONE_u16       0x3c00 /* of f16; bf16's singles have their own type */
#define ONE_brain     0x3f80
#define BITS_brain    16
#define READ_brain(p) READ_u16(p)
typedef u32 work_brain;

F16S(SINGLE, f16, u16, "")
F16S_FTZ(SINGLE, ftz_f16, u16, ".ftz")
BF16S(SINGLE, bf16, brain, "")
F16S(DOUBLE, f16x2, low, "")
F16S(DOUBLE, f16x2, high, "")
F16S_FTZ(DOUBLE, ftz_f16x2, low, ".ftz")
F16S_FTZ(DOUBLE, ftz_f16x2, high, ".ftz")
BF16S(DOUBLE, bf16x2, low, "")
BF16S(DOUBLE, bf16x2, high, "")

#define PAIR_FUNCTIONS(id, op, ones) PAIRED(id, ones)
OPERATORS(PAIR_FUNCTIONS, f16x2, 0x3c00)
OPERATORS(PAIR_FUNCTIONS, ftz_f16x2, 0x3c00)
OPERATORS(PAIR_FUNCTIONS, bf16x2, 0x3f80)

#define ALL                                                                                        \
    F16S(SINGLE_ENTRIES, f16, u16, "")                                                             \
    F16S_FTZ(SINGLE_ENTRIES, ftz_f16, u16, ".ftz")                                                 \
    BF16S(SINGLE_ENTRIES, bf16, brain, "")                                                         \
    OPERATORS(PAIR_ENTRIES, f16x2, "", "f16x2")                                                    \
    OPERATORS(PAIR_ENTRIES, ftz_f16x2, ".ftz", "f16x2")                                            \
    OPERATORS(PAIR_ENTRIES, bf16x2, "", "bf16x2")
PUBLISH(compare_half, ALL)
