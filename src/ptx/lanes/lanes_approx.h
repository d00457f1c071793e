/* SPDX-License-Identifier: MIT
 *
 * lanes_approx: the approximate functions, computed in f64 with short polynomials and rounded once.
 * They are within one unit in the last place of f32, so within every bound of the PTX ISA, and they
 * use plain IEEE operations only, so their bits do not depend on the CPU.
 */
#ifndef QN_LANES_APPROX_H
#define QN_LANES_APPROX_H

#include "ptx/lanes/lanes_math.h"

#define ROUNDER 0x1.8p52 /* adding it leaves the nearest integer in the low bits */

/** 2^x for |x| below 1000: 2^f by its series, |f| <= 1/2, then the integer part is added to the
 * exponent. */
static inline f64 exp2_64(f64 x)
{
    const f64 shifted = x + ROUNDER, f = x - (shifted - ROUNDER);
    f64 p = 0x1.e4cf5158b8ecap-28;
    p = p * f + 0x1.b5253d395e7c4p-24;
    p = p * f + 0x1.62c0223a5c824p-20;
    p = p * f + 0x1.ffcbfc588b0c7p-17;
    p = p * f + 0x1.430912f86c787p-13;
    p = p * f + 0x1.5d87fe78a6731p-10;
    p = p * f + 0x1.3b2ab6fba4e77p-7;
    p = p * f + 0x1.c6b08d704a0cp-5;
    p = p * f + 0x1.ebfbdff82c58fp-3;
    p = p * f + 0x1.62e42fefa39efp-1;
    p = p * f + 1.0;
    return from64(bits64(p) + (bits64(shifted) << 52));
}

static inline f32 exp2_32(f32 x)
{
    const f64 wide = x;
    return (f32)exp2_64(wide > 200.0 ? 200.0 : wide < -200.0 ? -200.0 : wide);
}

/** x = m 2^e with m from sqrt 1/2 to sqrt 2; log2 m by the series of the inverse hyperbolic
 * tangent. The two constants that make `raised` and m add up to 1.0, so m is x with another
 * exponent; e is read off as the low bits of an f64 near 2^52. */
static inline f32 log2_32(f32 x)
{
    const u64 u = bits64((f64)x);
    const u64 raised = u + 0x00095f619980c433u; /* carries into the exponent where m > sqrt 2 */
    const f64 e = from64(0x4330000000000000u | (raised >> 52 & 0x7ff)) - (0x1p52 + 1023.0);
    const f64 m = from64((raised & 0x000fffffffffffffu) + 0x3fe6a09e667f3bcdu);
    const f64 f = (m - 1.0) / (m + 1.0), g = f * f;
    f64 p = 1.0 / 17;
    p = p * g + 1.0 / 15;
    p = p * g + 1.0 / 13;
    p = p * g + 1.0 / 11;
    p = p * g + 1.0 / 9;
    p = p * g + 1.0 / 7;
    p = p * g + 1.0 / 5;
    p = p * g + 1.0 / 3;
    p = p * g + 1.0;
    const f32 r = (f32)(e + f * p * 0x1.71547652b82fep+1); /* 2 / ln 2 */
    return x > 0.0f ? (x < INFINITY ? r : x) : x == 0.0f ? -INFINITY : NAN_F32;
}

/** sin(x + turn * pi/2). Accurate up to |x| of about 10^6; the ISA asks for less. pi/2 is
 * subtracted in two parts, of which the first has so few bits that its product with q is exact. */
static inline f32 sine_32(f32 x, u64 turn)
{
    const f64 wide = x, shifted = wide * 0x1.45f306dc9c883p-1 + ROUNDER, q = shifted - ROUNDER;
    const f64 rest = (wide - q * 0x1.921fb544p+0) - q * 0x1.0b4611a626331p-34;
    const f64 r = rest > 1.0 ? 1.0 : rest < -1.0 ? -1.0 : rest, s = r * r;
    const u64 quadrant = bits64(shifted) + turn;
    f64 sine = 0x1.6124613a86d09p-33;
    sine = sine * s - 0x1.ae64567f544e4p-26;
    sine = sine * s + 0x1.71de3a556c734p-19;
    sine = sine * s - 0x1.a01a01a01a01ap-13;
    sine = sine * s + 0x1.1111111111111p-7;
    sine = sine * s - 0x1.5555555555555p-3;
    sine = r * (1.0 + s * sine); /* keeps -0 */
    f64 cosine = -0x1.93974a8c07c9dp-37;
    cosine = cosine * s + 0x1.1eed8eff8d898p-29;
    cosine = cosine * s - 0x1.27e4fb7789f5cp-22;
    cosine = cosine * s + 0x1.a01a01a01a01ap-16;
    cosine = cosine * s - 0x1.6c16c16c16c17p-10;
    cosine = cosine * s + 0x1.5555555555555p-5;
    cosine = 1.0 - 0.5 * s + s * s * cosine;
    const f64 value = quadrant & 1 ? cosine : sine;
    const f32 result = (f32)(quadrant & 2 ? -value : value);
    return fabsf(x) < INFINITY ? result : NAN_F32;
}

static inline f32 tanh_32(f32 x)
{
    const f64 a = fabs((f64)x);
    const f64 e = exp2_64((a > 20.0 ? 20.0 : a) * 0x1.71547652b82fep+1);
    const f32 r = copysignf((f32)((e - 1.0) / (e + 1.0)), x);
    return a < 0x1p-12 ? x : r;
}

/** Cut to the upper half of an f64: what the seeds of f64 division and root return. */
static inline f64 upper_half(f64 x)
{
    return from64(bits64(x) & 0xffffffff00000000u);
}

static inline f64 flush64(f64 x)
{
    const u64 u = bits64(x);
    return (u & 0x7ff0000000000000u) == 0 ? from64(u & SIGN64) : x;
}

#endif /* QN_LANES_APPROX_H */
