/* SPDX-License-Identifier: MIT
 *
 * Integer division, which CPUs have no vectors for: quotients are taken in floating point where
 * that is exact. Dividing by zero gives all ones, as quotient and as remainder; the least
 * integer divided by -1 wraps.
 *
 * Why it is exact: a quotient of integers below 2^52 that is not an integer lies at least 1/b below
 * the next one, which is more than half a unit in its last place; so rounding never reaches it.
 */
#include "ptx/lanes/lanes_math.h"

#define TWO_52 0x1p52

/* An integer below 2^52 as f64: put below the exponent of 2^52, which is then subtracted. No CPU
 * before AVX-512 converts these in vectors. */
static inline f64 widen52(u64 x)
{
    return from64(x | 0x4330000000000000u) - TWO_52;
}

/* a / b rounded down, both below 2^52. Adding 2^52 leaves the nearest integer in the low bits,
 * which may be one too high. */
static inline u64 divide52(u64 a, u64 b)
{
    const f64 quotient = widen52(a) / widen52(b), rounded = quotient + TWO_52;
    const u64 q = bits64(rounded) & 0x000fffffffffffffu;
    return b == 0 ? ~(u64)0 : rounded - TWO_52 > quotient ? q - 1 : q;
}

static inline s32 divide_s32(s32 a, s32 b)
{
    const f64 quotient = (f64)a / (f64)(b == 0 ? 1 : b);
    return b == 0 ? -1 : quotient > (f64)INT32_MAX ? INT32_MIN : (s32)quotient;
}

static inline u32 divide_u16(u32 a, u32 b)
{
    return b == 0 ? 0xffff : (u32)(s32)((f32)(s32)a / (f32)(s32)b);
}

static inline s32 divide_s16(s32 a, s32 b)
{
    return b == 0 ? -1 : (s32)((f32)a / (f32)b);
}

/* Quotients of 64 bits: by floating point when all lanes in the mask have values below 2^52. */
static __attribute__((noinline)) void divide64(u64 *restrict q, const u64 *a, const u64 *b,
                                               u32 mask)
{
    u64 used = 0;
    LANES used |= mask >> l & 1 ? a[l] | b[l] : 0;
    if (used >> 52 == 0) {
        LANES q[l] = divide52(a[l] & 0x000fffffffffffffu, b[l] & 0x000fffffffffffffu);
        return;
    }
    for (u32 rest = mask; rest != 0; rest &= rest - 1) {
        const int l = __builtin_ctz(rest);
        q[l] = b[l] == 0 ? ~(u64)0 : a[l] / b[l];
    }
}

static inline u64 magnitude64(s64 x)
{
    return x < 0 ? 0u - (u64)x : (u64)x;
}

/* `value` of the lane's a, b and quotient q. */
#define DIVIDE_U64(id, D, A, B, C, value)                                                          \
    LANE_FUNCTION(id)                                                                              \
    {                                                                                              \
        u64 x[QN_LANES], y[QN_LANES], r[QN_LANES] = {0};                                           \
        (void)cp, NO_CARRY;                                                                        \
        memcpy(x, ap, sizeof x);                                                                   \
        memcpy(y, bp, sizeof y);                                                                   \
        divide64(r, x, y, mask);                                                                   \
        LANES                                                                                      \
        {                                                                                          \
            const u64 a = x[l], b = y[l], q = r[l];                                                \
            (void)a, (void)b;                                                                      \
            r[l] = (value);                                                                        \
        }                                                                                          \
        put(dp, r, sizeof r, mask);                                                                \
    }
#define DIVIDE_S64(id, D, A, B, C, value)                                                          \
    LANE_FUNCTION(id)                                                                              \
    {                                                                                              \
        u64 x[QN_LANES], y[QN_LANES], r[QN_LANES] = {0};                                           \
        (void)cp, NO_CARRY;                                                                        \
        LANES x[l] = magnitude64(READ_s64(ap));                                                    \
        LANES y[l] = magnitude64(READ_s64(bp));                                                    \
        divide64(r, x, y, mask);                                                                   \
        LANES                                                                                      \
        {                                                                                          \
            const s64 a = READ_s64(ap), b = READ_s64(bp);                                          \
            const u64 q = b != 0 && (a ^ b) < 0 ? 0u - r[l] : r[l];                                \
            r[l] = (value);                                                                        \
        }                                                                                          \
        put(dp, r, sizeof r, mask);                                                                \
    }
#define FOURTH_DIVIDE_U64 false
#define FOURTH_DIVIDE_S64 false

/* clang-format off */
#define DIVISIONS(X)                                                                               \
    X(div_u16, "div.u16", OP, u16, u16, u16, none, divide_u16(a, b))                               \
    X(div_s16, "div.s16", OP, u16, s16, s16, none, divide_s16(a, b))                               \
    X(div_u32, "div.u32", OP, u32, u32, u32, none, divide52(a, b))                                 \
    X(div_s32, "div.s32", OP, s32, s32, s32, none, divide_s32(a, b))                               \
    X(div_u64, "div.u64", DIVIDE_U64, u64, u64, u64, none, q)                                      \
    X(div_s64, "div.s64", DIVIDE_S64, s64, s64, s64, none, q)                                      \
    X(rem_u16, "rem.u16", OP, u16, u16, u16, none, b == 0 ? ~0u : a - divide_u16(a, b) * b)        \
    X(rem_s16, "rem.s16", OP, u16, s16, s16, none, b == 0 ? -1 : a - divide_s16(a, b) * b)         \
    X(rem_u32, "rem.u32", OP, u32, u32, u32, none, b == 0 ? ~0u : a - (u32)divide52(a, b) * b)     \
    X(rem_s32, "rem.s32", OP, u32, s32, s32, none,                                                 \
      b == 0 ? ~0u : (u32)a - (u32)divide_s32(a, b) * (u32)b)                                      \
    X(rem_u64, "rem.u64", DIVIDE_U64, u64, u64, u64, none, b == 0 ? q : a - q * b)                 \
    X(rem_s64, "rem.s64", DIVIDE_S64, s64, s64, s64, none, b == 0 ? q : (u64)a - q * (u64)b)
/* clang-format on */

DIVISIONS(DEFINE)
PUBLISH(divide, DIVISIONS(ENTRY))
