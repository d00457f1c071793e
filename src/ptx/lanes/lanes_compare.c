/* SPDX-License-Identifier: MIT
 *
 * Comparisons of integers, f32 and f64, in setp and set. Floating-point comparisons are ordered
 * (false with a NaN) or end in u (true).
 */
#include "ptx/lanes/lanes_compare.h"

/* clang-format off */
#define EQUALITY(Y, type, T, bits_of)                                                              \
    Y(eq_##type, "eq", "", #type, T, bits_of, a == b)                                              \
    Y(ne_##type, "ne", "", #type, T, bits_of, a != b)
#define ORDER(Y, type, T, bits_of)                                                                 \
    EQUALITY(Y, type, T, bits_of)                                                                  \
    Y(lt_##type, "lt", "", #type, T, bits_of, a < b)                                               \
    Y(le_##type, "le", "", #type, T, bits_of, a <= b)                                              \
    Y(gt_##type, "gt", "", #type, T, bits_of, a > b)                                               \
    Y(ge_##type, "ge", "", #type, T, bits_of, a >= b)
#define UNSIGNED_ORDER(Y, type, T, bits_of)                                                        \
    ORDER(Y, type, T, bits_of)                                                                     \
    Y(lo_##type, "lo", "", #type, T, bits_of, a < b)                                               \
    Y(ls_##type, "ls", "", #type, T, bits_of, a <= b)                                              \
    Y(hi_##type, "hi", "", #type, T, bits_of, a > b)                                               \
    Y(hs_##type, "hs", "", #type, T, bits_of, a >= b)

#define ALL(Y)                                                                                     \
    EQUALITY(Y, b16, u16, 16)                                                                      \
    EQUALITY(Y, b32, u32, 32)                                                                      \
    EQUALITY(Y, b64, u64, 64)                                                                      \
    UNSIGNED_ORDER(Y, u16, u16, 16)                                                                \
    UNSIGNED_ORDER(Y, u32, u32, 32)                                                                \
    UNSIGNED_ORDER(Y, u64, u64, 64)                                                                \
    ORDER(Y, s16, s16, 16)                                                                         \
    ORDER(Y, s32, s32, 32)                                                                         \
    ORDER(Y, s64, s64, 64)                                                                         \
    FLOAT_ORDER(Y, f32, "", "f32", f32, 32, a, b)                                                  \
    FLOAT_ORDER(Y, ftz_f32, ".ftz", "f32", f32, 32, flush32(a, 1), flush32(b, 1))                  \
    FLOAT_ORDER(Y, f64, "", "f64", f64, 64, a, b)
/* clang-format on */

ALL(FUNCTIONS)
PUBLISH(compare, ALL(ENTRIES))
