/* SPDX-License-Identifier: MIT
 *
 * lanes_math: floating-point pieces that several lanes files share: bit access, NaN and subnormal
 * rules, and exact directed rounding. Every f32 operation can be had in f64 without loss once the
 * inexact sums are rounded to odd (the last bit set when something was cut off): rounding that to
 * f32 in any direction gives what one rounding of the exact value gives. In bits, u + 1 is the next
 * number away from zero and u - 1 the next towards it. No rounding mode is ever switched. `mode`,
 * `ftz` and `sat` are constants at every call, so the tests fold away.
 */
#ifndef QN_LANES_MATH_H
#define QN_LANES_MATH_H

#include "ptx/lanes/lanes_op.h"
#include <math.h>

/** To nearest even, toward zero, down, up; TO_ODD keeps what a later rounding needs. */
enum { TO_NEAREST, TO_ZERO, DOWN, UP, TO_ODD };

/** What testp asks for. A zero is normal. */
enum { FINITE = 1, INFINITE = 2, NOT_A_NUMBER = 4, NORMAL = 8, SUBNORMAL = 16 };

#define NAN_F16 0x7fffu
#define NAN_F32 from32(0x7fffffffu)
#define NAN_F64 from64(0xfff8000000000000u) /* of invalid operations; others keep a payload */
#define SIGN32  0x80000000u
#define SIGN64  0x8000000000000000u

static inline u32 bits32(f32 x)
{
    u32 u;
    memcpy(&u, &x, sizeof u);
    return u;
}

static inline f32 from32(u32 u)
{
    f32 x;
    memcpy(&x, &u, sizeof x);
    return x;
}

static inline u64 bits64(f64 x)
{
    u64 u;
    memcpy(&u, &x, sizeof u);
    return u;
}

static inline f64 from64(u64 u)
{
    f64 x;
    memcpy(&x, &u, sizeof x);
    return x;
}

/** A subnormal becomes a zero of its sign, when `ftz`. */
static inline f32 flush32(f32 x, bool ftz)
{
    const u32 u = bits32(x);
    return ftz && (u & 0x7f800000u) == 0 ? from32(u & SIGN32) : x;
}

/* An f32 whose subnormals are read as zeros; ftz_none: no operand. */
#define BITS_ftz_f32     32
#define BITS_ftz_none    0
#define READ_ftz_f32(p)  flush32(READ_f32(p), 1)
#define READ_ftz_none(p) READ_none(p)
typedef f32 work_ftz_f32;
typedef u32 work_ftz_none;

static inline f32 canonical32(f32 x)
{
    return x == x ? x : NAN_F32;
}

static inline f64 quiet64(f64 x)
{
    return x == x ? x : from64(bits64(x) | 0x0008000000000000u);
}

/** An f64 result. A NaN is the first operand that is one, quieted, in the order in which GPUs look.
 * All choices are computed, the last first, because compilers vectorise that. */
static inline f64 result64(f64 r, f64 first, f64 second, f64 third)
{
    f64 nan = NAN_F64;
    nan = third != third ? quiet64(third) : nan;
    nan = second != second ? quiet64(second) : nan;
    nan = first != first ? quiet64(first) : nan;
    return r == r ? r : nan;
}

/** To [0, 1], NaN to +0, when `sat`. */
static inline f32 clamp_unit32(f32 x, bool sat)
{
    return !sat ? x : x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f;
}

static inline f64 clamp_unit64(f64 x, bool sat)
{
    return !sat ? x : x > 0.0 ? (x < 1.0 ? x : 1.0) : 0.0;
}

/** What every f32 result goes through. */
static inline f32 result32(f32 x, bool ftz, bool sat)
{
    return clamp_unit32(flush32(canonical32(x), ftz), sat);
}

/** a + b rounded to odd; `rest` is the exact error of the sum (Knuth's two-sum). */
static inline f64 sum_to_odd(f64 a, f64 b)
{
    const f64 s = a + b, t = s - a;
    const f64 rest = (a - (s - t)) + (b - t); /* NaN when s is not finite */
    const u64 u = bits64(s);
    const bool inexact = (rest > 0.0) | (rest < 0.0);
    const u64 step = (rest > 0.0) == (s > 0.0) ? u + 1 : u - 1;
    return from64((inexact && (u & 1) == 0) ? step : u);
}

/** An exact or odd-rounded f64 to f32. */
static inline f32 round32(f64 s, int mode)
{
    const f32 nearest = (f32)s;
    const f64 back = (f64)nearest;
    const u32 u = bits32(nearest);
    const u32 outward = u + 1, inward = u - 1;
    switch (mode) {
    case TO_ZERO:
        return from32(fabs(back) > fabs(s) ? inward : u);
    case DOWN:
        return from32(back > s ? (u & SIGN32 ? outward : inward) : u);
    case UP:
        return from32(back < s ? (u & SIGN32 ? inward : outward) : u);
    case TO_ODD:
        return from32(((fabs(back) > fabs(s)) ? inward : u) | (u32)((back > s) | (back < s)));
    default:
        return nearest;
    }
}

/** Zero when `exact`, of which r is the rounding, would be below the least normal number if it were
 * rounded to 24 bits with no limit to the exponent: that is how GPUs decide what .ftz flushes. */
static inline f32 flush_exact32(f32 r, f64 exact, int mode)
{
    const bool tiny = fabsf(round32(exact * 0x1p24, mode)) < 0x1p-102f;
    return tiny ? from32(bits32(r) & SIGN32) : r;
}

/** An exact sum of zero is -0 when rounding down, unless both terms are +0. */
static inline f64 zero_sign(f64 sum, f64 a, f64 b, int mode)
{
    return mode == DOWN && sum == 0.0 ? from64((bits64(a) | bits64(b)) & SIGN64) : sum;
}

static inline f32 add32(f32 a, f32 b, int mode)
{
    return mode == TO_NEAREST ? a + b : round32(zero_sign(sum_to_odd(a, b), a, b, mode), mode);
}

static inline f32 mul32(f32 a, f32 b, int mode)
{
    return mode == TO_NEAREST ? a * b : round32((f64)a * b, mode);
}

static inline f32 fma32(f32 a, f32 b, f32 c, int mode)
{
#ifdef __FMA__
    if (mode == TO_NEAREST) {
        return __builtin_fmaf(a, b, c);
    }
#endif
    const f64 product = (f64)a * b;
    return round32(zero_sign(sum_to_odd(product, c), product, c, mode), mode);
}

/* A quotient or root of 24-bit numbers is never close enough to an f32, or to the middle of two,
 * for the rounding to f64 to matter. */
static inline f32 div32(f32 a, f32 b, int mode)
{
    return mode == TO_NEAREST ? a / b : round32((f64)a / b, mode);
}

static inline f32 sqrt32(f32 a, int mode)
{
    return mode == TO_NEAREST ? sqrtf(a) : round32(sqrt((f64)a), mode);
}

/* min and max: a NaN loses to a number, -0 is below +0 (equal operands differ in their sign at
 * most, so or-ing or and-ing their bits chooses between the zeros). */
static inline f32 min32(f32 a, f32 b)
{
    const f32 r = a == b ? from32(bits32(a) | bits32(b)) : a < b ? a : b;
    return canonical32(b != b ? a : a != a ? b : r);
}

static inline f32 max32(f32 a, f32 b)
{
    const f32 r = a == b ? from32(bits32(a) & bits32(b)) : a > b ? a : b;
    return canonical32(b != b ? a : a != a ? b : r);
}

/** .xorsign.abs: `magnitude`, the min or max of the absolute values, with the product's sign. */
static inline f32 xorsign32(f32 magnitude, f32 a, f32 b)
{
    const u32 sign = (bits32(a) ^ bits32(b)) & SIGN32;
    return magnitude != magnitude ? magnitude : from32((bits32(magnitude) & ~SIGN32) | sign);
}

#endif /* QN_LANES_MATH_H */
