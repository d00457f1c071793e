/* SPDX-License-Identifier: MIT
 *
 * Comparisons of f16, bf16 and their pairs. A row (lanes_compare.h) makes the instructions of the
 * single half and of the pair. setp of pairs has two destinations, one for each half, others one.
 * set exists without a combining predicate, to the types that the ISA lists.
 */
#include "ptx/lanes/lanes_compare.h"
#include "ptx/lanes/lanes_half.h"

/* The low and the high half of a pair register, as f32. */
#define LOW(p)               (((const reg_u32 *)(p))[l] & 0xffff)
#define HIGH(p)              (((const reg_u32 *)(p))[l] >> 16)
#define BITS_low_f16         32
#define BITS_high_f16        32
#define BITS_low_ftz_f16     32
#define BITS_high_ftz_f16    32
#define BITS_low_bf16        32
#define BITS_high_bf16       32
#define READ_low_f16(p)      from_f16(LOW(p))
#define READ_high_f16(p)     from_f16(HIGH(p))
#define READ_low_ftz_f16(p)  from_f16(flush_f16(LOW(p), 1))
#define READ_high_ftz_f16(p) from_f16(flush_f16(HIGH(p), 1))
#define READ_low_bf16(p)     from_bf16(LOW(p))
#define READ_high_bf16(p)    from_bf16(HIGH(p))
typedef f32 work_low_f16;
typedef f32 work_high_f16;
typedef f32 work_low_ftz_f16;
typedef f32 work_high_ftz_f16;
typedef f32 work_low_bf16;
typedef f32 work_high_bf16;

#define ONE_f16     0x3c00
#define ONE_ftz_f16 0x3c00
#define ONE_bf16    0x3f80

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

/* clang-format off */
/* The functions of a row: of pairs, p is the low half's result and q the high half's. */
#define FUNCTIONS(id, op, ftz, type, T, condition)                                                 \
    COMPARE(id, T, condition)                                                                      \
    SETP_FUNCTIONS(p_, id, id)                                                                     \
    WRITE_SET16(set_##id, id, ONE_##T)                                                             \
    WRITE_SET16(seti_##id, id, 0xffff)                                                             \
    WRITE_SET32(setw_##id, id)                                                                     \
    COMPARE(id##x2_low, low_##T, condition)                                                        \
    COMPARE(id##x2_high, high_##T, condition)                                                      \
    SETP_FUNCTIONS(p_, id##x2, id##x2_low)                                                         \
    SETP_FUNCTIONS(q_, id##x2, id##x2_high)                                                        \
    WRITE_PAIR(set_##id##x2, id##x2, ONE_##T)                                                      \
    WRITE_PAIR(seti_##id##x2, id##x2, 0xffff)

/* The lines of a row in the set. */
#define ENTRIES(id, op, ftz, type, T, condition)                                                   \
    SETP_ENTRIES(id, op, ftz "." type, 16, NO_SECOND)                                              \
    {"set." op ftz "." type "." type, set_##id, 16, 16, 16, 0, NULL, false},                       \
    {"set." op ftz ".u16." type, seti_##id, 16, 16, 16, 0, NULL, false},                           \
    {"set." op ftz ".s16." type, seti_##id, 16, 16, 16, 0, NULL, false},                           \
    {"set." op ftz ".u32." type, setw_##id, 32, 16, 16, 0, NULL, false},                           \
    {"set." op ftz ".s32." type, setw_##id, 32, 16, 16, 0, NULL, false},                           \
    SETP_ENTRIES(id##x2, op, ftz "." type "x2", 32, SECOND)                                        \
    {"set." op ftz "." type "x2." type "x2", set_##id##x2, 32, 32, 32, 0, NULL, false},            \
    {"set." op ftz ".u32." type "x2", seti_##id##x2, 32, 32, 32, 0, NULL, false},                  \
    {"set." op ftz ".s32." type "x2", seti_##id##x2, 32, 32, 32, 0, NULL, false},

#define ALL(X)                                                                                     \
    FLOATS(X, f16, "", "f16")                                                                      \
    FLOATS(X, ftz_f16, ".ftz", "f16")                                                              \
    FLOATS(X, bf16, "", "bf16")
/* clang-format on */

ALL(FUNCTIONS)
PUBLISH(compare_half, ALL(ENTRIES))
