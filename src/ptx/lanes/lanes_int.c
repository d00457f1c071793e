/* SPDX-License-Identifier: MIT
 *
 * Integer arithmetic: add, sub, mul, mad, min, max, sad, carries, and the 24-bit forms. Sums and
 * products are computed in unsigned types, where they wrap; so one function serves both signs.
 */
#include "ptx/lanes/lanes_op.h"

static inline s32 clamp32(s64 x)
{
    return (s32)(x > INT32_MAX ? INT32_MAX : x < INT32_MIN ? INT32_MIN : x);
}

static inline u64 high_u64(u64 a, u64 b)
{
    return (u64)((u128)a * b >> 64);
}

static inline u64 high_s64(s64 a, s64 b)
{
    return (u64)((s128)a * b >> 64);
}

static inline s32 low24(s32 x)
{
    return (s32)((u32)x << 8) >> 8;
}

/* The condition code of a difference is the carry of a + ~b + 1: set when nothing was borrowed.
 * NVRTC relies on it: it reads the code of sub.cc with addc. */
static inline u32 carry_add32(u32 a, u32 b, u32 cin, u32 *cout)
{
    const u64 sum = (u64)a + b + cin;
    *cout = (u32)(sum >> 32);
    return (u32)sum;
}

static inline u64 carry_add64(u64 a, u64 b, u32 cin, u32 *cout)
{
    const u64 part = a + b, sum = part + cin;
    *cout = (u32)(part < a) | (u32)(sum < part);
    return sum;
}

/* One function for s and u of a width. */
#define WRAPPING(X, id, op, C16, C32, C64, ...)                                                    \
    X(id##_16, op ".u16", OP, u16, u16, u16, C16, __VA_ARGS__)                                     \
    X(id##_16, op ".s16", SAME, u16, u16, u16, C16, )                                              \
    X(id##_32, op ".u32", OP, u32, u32, u32, C32, __VA_ARGS__)                                     \
    X(id##_32, op ".s32", SAME, u32, u32, u32, C32, )                                              \
    X(id##_64, op ".u64", OP, u64, u64, u64, C64, __VA_ARGS__)                                     \
    X(id##_64, op ".s64", SAME, u64, u64, u64, C64, )

#define BOTH_SIGNS(X, id, op, ...)                                                                 \
    X(id##_u16, op ".u16", OP, u16, u16, u16, none, __VA_ARGS__)                                   \
    X(id##_s16, op ".s16", OP, s16, s16, s16, none, __VA_ARGS__)                                   \
    X(id##_u32, op ".u32", OP, u32, u32, u32, none, __VA_ARGS__)                                   \
    X(id##_s32, op ".s32", OP, s32, s32, s32, none, __VA_ARGS__)                                   \
    X(id##_u64, op ".u64", OP, u64, u64, u64, none, __VA_ARGS__)                                   \
    X(id##_s64, op ".s64", OP, s64, s64, s64, none, __VA_ARGS__)

/* clang-format off */
#define SUMS(X)                                                                                    \
    WRAPPING(X, add, "add", none, none, none, a + b)                                               \
    WRAPPING(X, sub, "sub", none, none, none, a - b)                                               \
    WRAPPING(X, mul, "mul.lo", none, none, none, a * b)                                            \
    WRAPPING(X, mad, "mad.lo", u16, u32, u64, a * b + c)                                           \
    BOTH_SIGNS(X, min, "min", a < b ? a : b)                                                       \
    BOTH_SIGNS(X, max, "max", a > b ? a : b)                                                       \
    X(add_sat, "add.sat.s32", OP, s32, s32, s32, none, clamp32((s64)a + b))                        \
    X(sub_sat, "sub.sat.s32", OP, s32, s32, s32, none, clamp32((s64)a - b))                        \
    X(neg_16, "neg.s16", OP, u16, u16, none, none, 0u - a)                                         \
    X(neg_32, "neg.s32", OP, u32, u32, none, none, 0u - a)                                         \
    X(neg_64, "neg.s64", OP, u64, u64, none, none, 0u - a)                                         \
    X(abs_16, "abs.s16", OP, u16, s16, none, none, a < 0 ? -a : a)                                 \
    X(abs_32, "abs.s32", OP, u32, s32, none, none, a < 0 ? 0u - (u32)a : (u32)a)                   \
    X(abs_64, "abs.s64", OP, u64, s64, none, none, a < 0 ? 0u - (u64)a : (u64)a)                   \
    X(sad_u16, "sad.u16", OP, u16, u16, u16, u16, (a < b ? b - a : a - b) + c)                     \
    X(sad_s16, "sad.s16", OP, u16, s16, s16, u16, (u32)(a < b ? b - a : a - b) + c)                \
    X(sad_u32, "sad.u32", OP, u32, u32, u32, u32, (a < b ? b - a : a - b) + c)                     \
    X(sad_s32, "sad.s32", OP, u32, s32, s32, u32, (a < b ? (u32)b - (u32)a : (u32)a - (u32)b) + c) \
    X(sad_u64, "sad.u64", OP, u64, u64, u64, u64, (a < b ? b - a : a - b) + c)                     \
    X(sad_s64, "sad.s64", OP, u64, s64, s64, u64, (a < b ? (u64)b - (u64)a : (u64)a - (u64)b) + c)

#define PRODUCTS(X)                                                                                \
    X(hi_u16, "mul.hi.u16", OP, u16, u16, u16, none, a * b >> 16)                                  \
    X(hi_s16, "mul.hi.s16", OP, u16, s16, s16, none, a * b >> 16)                                  \
    X(hi_u32, "mul.hi.u32", OP, u32, u32, u32, none, (u64)a * b >> 32)                             \
    X(hi_s32, "mul.hi.s32", OP, u32, s32, s32, none, (s64)a * b >> 32)                             \
    X(hi_u64, "mul.hi.u64", OP, u64, u64, u64, none, high_u64(a, b))                               \
    X(hi_s64, "mul.hi.s64", OP, u64, s64, s64, none, high_s64(a, b))                               \
    X(wide_u16, "mul.wide.u16", OP, u32, u16, u16, none, a * b)                                    \
    X(wide_s16, "mul.wide.s16", OP, u32, s16, s16, none, a * b)                                    \
    X(wide_u32, "mul.wide.u32", OP, u64, u32, u32, none, (u64)a * b)                               \
    X(wide_s32, "mul.wide.s32", OP, u64, s32, s32, none, (s64)a * b)                               \
    X(mad_hi_u16, "mad.hi.u16", OP, u16, u16, u16, u16, (a * b >> 16) + c)                         \
    X(mad_hi_s16, "mad.hi.s16", OP, u16, s16, s16, u16, (u32)(a * b >> 16) + c)                    \
    X(mad_hi_u32, "mad.hi.u32", OP, u32, u32, u32, u32, ((u64)a * b >> 32) + c)                    \
    X(mad_hi_s32, "mad.hi.s32", OP, u32, s32, s32, u32, (u32)((s64)a * b >> 32) + c)               \
    X(mad_hi_u64, "mad.hi.u64", OP, u64, u64, u64, u64, high_u64(a, b) + c)                        \
    X(mad_hi_s64, "mad.hi.s64", OP, u64, s64, s64, u64, high_s64(a, b) + c)                        \
    X(mad_hi_sat, "mad.hi.sat.s32", OP, s32, s32, s32, s32, clamp32(((s64)a * b >> 32) + c))       \
    X(mad_wide_u16, "mad.wide.u16", OP, u32, u16, u16, u32, a * b + c)                             \
    X(mad_wide_s16, "mad.wide.s16", OP, u32, s16, s16, u32, (u32)(a * b) + c)                      \
    X(mad_wide_u32, "mad.wide.u32", OP, u64, u32, u32, u64, (u64)a * b + c)                        \
    X(mad_wide_s32, "mad.wide.s32", OP, u64, s32, s32, u64, (u64)((s64)a * b) + c)                 \
    X(lo24_u, "mul24.lo.u32", OP, u32, u32, u32, none, (a & 0xffffff) * (b & 0xffffff))            \
    X(lo24_s, "mul24.lo.s32", OP, u32, s32, s32, none, (s64)low24(a) * low24(b))                   \
    X(hi24_u, "mul24.hi.u32", OP, u32, u32, u32, none, (u64)(a & 0xffffff) * (b & 0xffffff) >> 16) \
    X(hi24_s, "mul24.hi.s32", OP, u32, s32, s32, none, (s64)low24(a) * low24(b) >> 16)             \
    X(mad_lo24_u, "mad24.lo.u32", OP, u32, u32, u32, u32, (a & 0xffffff) * (b & 0xffffff) + c)     \
    X(mad_lo24_s, "mad24.lo.s32", OP, u32, s32, s32, u32, (u32)((s64)low24(a) * low24(b)) + c)     \
    X(mad_hi24_u, "mad24.hi.u32", OP, u32, u32, u32, u32,                                          \
      (u32)((u64)(a & 0xffffff) * (b & 0xffffff) >> 16) + c)                                       \
    X(mad_hi24_s, "mad24.hi.s32", OP, u32, s32, s32, u32,                                          \
      (u32)((s64)low24(a) * low24(b) >> 16) + c)                                                   \
    X(mad_hi24_sat, "mad24.hi.sat.s32", OP, s32, s32, s32, s32,                                    \
      clamp32((s64)(s32)((s64)low24(a) * low24(b) >> 16) + c))

/* A carry form in its four types. */
#define CARRIES(X, id, op, KIND, c32, c64, e32, e64)                                               \
    X(id##_32, op ".u32", KIND, u32, u32, u32, c32, e32)                                           \
    X(id##_32, op ".s32", SAME, u32, u32, u32, c32, )                                              \
    X(id##_64, op ".u64", KIND, u64, u64, u64, c64, e64)                                           \
    X(id##_64, op ".s64", SAME, u64, u64, u64, c64, )
#define HIGH_CARRIES(X, id, op, KIND, cin)                                                         \
    X(id##_u32, op ".u32", KIND, u32, u32, u32, u32,                                               \
      carry_add32((u32)((u64)a * b >> 32), c, cin, &cout))                                         \
    X(id##_s32, op ".s32", KIND, u32, s32, s32, u32,                                               \
      carry_add32((u32)((s64)a * b >> 32), c, cin, &cout))                                         \
    X(id##_u64, op ".u64", KIND, u64, u64, u64, u64, carry_add64(high_u64(a, b), c, cin, &cout))   \
    X(id##_s64, op ".s64", KIND, u64, s64, s64, u64, carry_add64(high_s64(a, b), c, cin, &cout))

#define CARRY_FORMS(X)                                                                             \
    CARRIES(X, add_cc, "add.cc", CC, none, none, carry_add32(a, b, 0, &cout),                      \
            carry_add64(a, b, 0, &cout))                                                           \
    CARRIES(X, addc, "addc", CIN, none, none, carry_add32(a, b, cin, &cout),                       \
            carry_add64(a, b, cin, &cout))                                                         \
    CARRIES(X, addc_cc, "addc.cc", CC, none, none, carry_add32(a, b, cin, &cout),                  \
            carry_add64(a, b, cin, &cout))                                                         \
    CARRIES(X, sub_cc, "sub.cc", CC, none, none, carry_add32(a, ~b, 1, &cout),                     \
            carry_add64(a, ~b, 1, &cout))                                                          \
    CARRIES(X, subc, "subc", CIN, none, none, carry_add32(a, ~b, cin, &cout),                      \
            carry_add64(a, ~b, cin, &cout))                                                        \
    CARRIES(X, subc_cc, "subc.cc", CC, none, none, carry_add32(a, ~b, cin, &cout),                 \
            carry_add64(a, ~b, cin, &cout))                                                        \
    CARRIES(X, mad_cc, "mad.lo.cc", CC, u32, u64, carry_add32(a * b, c, 0, &cout),                 \
            carry_add64(a * b, c, 0, &cout))                                                       \
    CARRIES(X, madc, "madc.lo", CIN, u32, u64, carry_add32(a * b, c, cin, &cout),                  \
            carry_add64(a * b, c, cin, &cout))                                                     \
    CARRIES(X, madc_cc, "madc.lo.cc", CC, u32, u64, carry_add32(a * b, c, cin, &cout),             \
            carry_add64(a * b, c, cin, &cout))                                                     \
    HIGH_CARRIES(X, mad_hi_cc, "mad.hi.cc", CC, 0)                                                 \
    HIGH_CARRIES(X, madc_hi, "madc.hi", CIN, cin)                                                  \
    HIGH_CARRIES(X, madc_hi_cc, "madc.hi.cc", CC, cin)
/* clang-format on */

SUMS(DEFINE)
PRODUCTS(DEFINE)
CARRY_FORMS(DEFINE)
PUBLISH(int, SUMS(ENTRY) PRODUCTS(ENTRY) CARRY_FORMS(ENTRY))
