/* SPDX-License-Identifier: MIT
 *
 * Comparisons of integers, f32 and f64, in setp and set. Floating-point comparisons are ordered
 * (false with a NaN) or end in u (true). lanes_compare.h explains how to read a row.
 */
#include "ptx/lanes/lanes_compare.h"

#define ONE_F32 0x3f800000u

/* clang-format off */
/* The functions of a row: q has the comparison inverted; set gives all ones, setf gives 1.0. */
#define FUNCTIONS(id, op, ftz, type, T, condition)                                                 \
    COMPARE(id, T, condition)                                                                      \
    SETP_FUNCTIONS(p_, id, id)                                                                     \
    WRITE_PRED(q_##id, id, ~bits)                                                                  \
    WRITE_PRED(q_and_##id, id, ~bits & c)                                                          \
    WRITE_PRED(q_or_##id, id, ~bits | c)                                                           \
    WRITE_PRED(q_xor_##id, id, ~bits ^ c)                                                          \
    WRITE_SET(set_##id, id, bits, 0xffffffffu)                                                     \
    WRITE_SET(set_and_##id, id, bits & c, 0xffffffffu)                                             \
    WRITE_SET(set_or_##id, id, bits | c, 0xffffffffu)                                              \
    WRITE_SET(set_xor_##id, id, bits ^ c, 0xffffffffu)                                             \
    WRITE_SET(setf_##id, id, bits, ONE_F32)                                                        \
    WRITE_SET(setf_and_##id, id, bits & c, ONE_F32)                                                \
    WRITE_SET(setf_or_##id, id, bits | c, ONE_F32)                                                 \
    WRITE_SET(setf_xor_##id, id, bits ^ c, ONE_F32)

/* The lines of a row in the set. */
#define ENTRIES(id, op, ftz, type, T, condition)                                                   \
    SETP_ENTRIES(id, op, ftz "." type, BITS_##T, SECOND)                                           \
    {"set." op ftz ".u32." type, set_##id, 32, BITS_##T, BITS_##T, 0, NULL, false},                \
    {"set." op ftz ".s32." type, set_##id, 32, BITS_##T, BITS_##T, 0, NULL, false},                \
    {"set." op ftz ".f32." type, setf_##id, 32, BITS_##T, BITS_##T, 0, NULL, false},               \
    {"set." op ".and" ftz ".u32." type, set_and_##id, 32, BITS_##T, BITS_##T, 1, NULL, false},     \
    {"set." op ".and" ftz ".s32." type, set_and_##id, 32, BITS_##T, BITS_##T, 1, NULL, false},     \
    {"set." op ".and" ftz ".f32." type, setf_and_##id, 32, BITS_##T, BITS_##T, 1, NULL, false},    \
    {"set." op ".or" ftz ".u32." type, set_or_##id, 32, BITS_##T, BITS_##T, 1, NULL, false},       \
    {"set." op ".or" ftz ".s32." type, set_or_##id, 32, BITS_##T, BITS_##T, 1, NULL, false},       \
    {"set." op ".or" ftz ".f32." type, setf_or_##id, 32, BITS_##T, BITS_##T, 1, NULL, false},      \
    {"set." op ".xor" ftz ".u32." type, set_xor_##id, 32, BITS_##T, BITS_##T, 1, NULL, false},     \
    {"set." op ".xor" ftz ".s32." type, set_xor_##id, 32, BITS_##T, BITS_##T, 1, NULL, false},     \
    {"set." op ".xor" ftz ".f32." type, setf_xor_##id, 32, BITS_##T, BITS_##T, 1, NULL, false},

#define EQUALITY(X, T)                                                                             \
    X(eq_##T, "eq", "", #T, T, a == b)                                                             \
    X(ne_##T, "ne", "", #T, T, a != b)
#define ORDER(X, T)                                                                                \
    X(lt_##T, "lt", "", #T, T, a < b)                                                              \
    X(le_##T, "le", "", #T, T, a <= b)                                                             \
    X(gt_##T, "gt", "", #T, T, a > b)                                                              \
    X(ge_##T, "ge", "", #T, T, a >= b)

/* Other names: equality does not depend on signs, and unsigned order has names of its own. */
#define EQUALITY_NAMES(X, type, T)                                                                 \
    X(eq_##T, "eq", "", type, T, )                                                                 \
    X(ne_##T, "ne", "", type, T, )
#define ORDER_NAMES(X, T)                                                                          \
    X(lt_##T, "lo", "", #T, T, )                                                                   \
    X(le_##T, "ls", "", #T, T, )                                                                   \
    X(gt_##T, "hi", "", #T, T, )                                                                   \
    X(ge_##T, "hs", "", #T, T, )

#define COMPARISONS(X)                                                                             \
    EQUALITY(X, u16)                                                                               \
    EQUALITY(X, u32)                                                                               \
    EQUALITY(X, u64)                                                                               \
    ORDER(X, u16)                                                                                  \
    ORDER(X, u32)                                                                                  \
    ORDER(X, u64)                                                                                  \
    ORDER(X, s16)                                                                                  \
    ORDER(X, s32)                                                                                  \
    ORDER(X, s64)                                                                                  \
    FLOATS(X, f32, "", "f32")                                                                      \
    FLOATS(X, ftz_f32, ".ftz", "f32")                                                              \
    FLOATS(X, f64, "", "f64")
#define NAMES(X)                                                                                   \
    EQUALITY_NAMES(X, "b16", u16)                                                                  \
    EQUALITY_NAMES(X, "b32", u32)                                                                  \
    EQUALITY_NAMES(X, "b64", u64)                                                                  \
    EQUALITY_NAMES(X, "s16", u16)                                                                  \
    EQUALITY_NAMES(X, "s32", u32)                                                                  \
    EQUALITY_NAMES(X, "s64", u64)                                                                  \
    ORDER_NAMES(X, u16)                                                                            \
    ORDER_NAMES(X, u32)                                                                            \
    ORDER_NAMES(X, u64)
/* clang-format on */

COMPARISONS(FUNCTIONS)
PUBLISH(compare, COMPARISONS(ENTRIES) NAMES(ENTRIES))
