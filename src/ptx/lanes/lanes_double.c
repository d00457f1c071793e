/* SPDX-License-Identifier: MIT
 *
 * f64 arithmetic in every rounding. To nearest is the CPU's own; the directed roundings, which
 * programs rarely use, compute in 128-bit floating point, where products are exact and sums are
 * rounded to odd, and compare the result to nearest with that. The last three operands of result64
 * give the order in which NaNs are looked for.
 */
#include "ptx/lanes/lanes_math.h"

#ifdef __SIZEOF_FLOAT128__
typedef __float128 quad;
#else
typedef long double quad; /* IEEE quadruple on the 64-bit Linux ports that lack __float128 */
#endif

static inline quad quad_sum_to_odd(quad a, quad b)
{
    const quad s = a + b, t = s - a;
    const quad rest = (a - (s - t)) + (b - t);
    u128 u;
    memcpy(&u, &s, sizeof u);
    if ((rest > 0 || rest < 0) && (u & 1) == 0) {
        u = (rest > 0) == (s > 0) ? u + 1 : u - 1;
    }
    quad odd;
    memcpy(&odd, &u, sizeof odd);
    return odd;
}

/* `nearest` is the exact result rounded to nearest, which may be too low or too high; step it as
 * the mode says. */
static inline f64 directed(f64 nearest, bool too_low, bool too_high, int mode)
{
    const u64 u = bits64(nearest), outward = u + 1, inward = u - 1;
    const bool negative = u >> 63;
    switch (mode) {
    case TO_ZERO:
        return from64((negative ? too_low : too_high) ? inward : u);
    case DOWN:
        return from64(!too_high ? u : negative ? outward : inward);
    case UP:
        return from64(!too_low ? u : negative ? inward : outward);
    default:
        return nearest;
    }
}

static inline f64 round64(quad exact, int mode)
{
    const f64 nearest = (f64)exact;
    return directed(nearest, nearest<exact, nearest> exact, mode);
}

static inline f64 add64(f64 a, f64 b, int mode)
{
    const f64 s = a + b;
    if (mode == TO_NEAREST || s != s) {
        return s;
    }
    return s == 0.0 ? zero_sign(s, a, b, mode) : round64(quad_sum_to_odd(a, b), mode);
}

static inline f64 mul64(f64 a, f64 b, int mode)
{
    return mode == TO_NEAREST ? a * b : round64((quad)a * b, mode);
}

static inline f64 fma64(f64 a, f64 b, f64 c, int mode)
{
    if (mode == TO_NEAREST) {
        return fma(a, b, c);
    }
    const quad product = (quad)a * b, sum = quad_sum_to_odd(product, c);
    if (sum == 0) {
        const f64 sign = __builtin_signbit(a) != __builtin_signbit(b) ? -0.0 : 0.0;
        return zero_sign((f64)sum, sign, c, mode);
    }
    return round64(sum, mode);
}

/* Compare a / b with the quotient by multiplying back, which 128 bits hold exactly. */
static inline f64 div64(f64 a, f64 b, int mode)
{
    const f64 q = a / b;
    if (mode == TO_NEAREST || q != q || b == 0.0 || isinf(a) || isinf(b)) {
        return q;
    }
    const quad back = (quad)q * b;
    const bool less = b > 0 ? back < a : back > a, more = b > 0 ? back > a : back < a;
    return directed(q, less, more, mode);
}

static inline f64 sqrt64(f64 a, int mode)
{
    const f64 root = sqrt(a);
    const quad back = (quad)root * root;
    return mode == TO_NEAREST || !(a > 0.0) || isinf(a) ? root
                                                        : directed(root, back<a, back> a, mode);
}

static inline f64 min64(f64 a, f64 b)
{
    const f64 r = a == b ? from64(bits64(a) | bits64(b)) : a < b ? a : b;
    return b != b ? a : a != a ? b : r;
}

static inline f64 max64(f64 a, f64 b)
{
    const f64 r = a == b ? from64(bits64(a) & bits64(b)) : a > b ? a : b;
    return b != b ? a : a != a ? b : r;
}

static inline u32 class64(f64 x)
{
    const u64 magnitude = bits64(x) & ~SIGN64, infinity = 0x7ff0000000000000u;
    const u32 kind = magnitude < infinity    ? FINITE
                     : magnitude == infinity ? INFINITE
                                             : NOT_A_NUMBER;
    const bool normal = kind == FINITE && (magnitude >= 0x0010000000000000u || magnitude == 0);
    const bool subnormal = magnitude < 0x0010000000000000u && magnitude != 0;
    return kind | (normal ? NORMAL : 0) | (subnormal ? SUBNORMAL : 0);
}

/* clang-format off */
#define ARITHMETIC(X)                                                                              \
    X(add_rn, "add.rn.f64", OP, f64, f64, f64, none, result64(add64(a, b, TO_NEAREST), b, a, a))   \
    X(add_rz, "add.rz.f64", SLOW, f64, f64, f64, none, result64(add64(a, b, TO_ZERO), b, a, a))    \
    X(add_rm, "add.rm.f64", SLOW, f64, f64, f64, none, result64(add64(a, b, DOWN), b, a, a))       \
    X(add_rp, "add.rp.f64", SLOW, f64, f64, f64, none, result64(add64(a, b, UP), b, a, a))         \
    X(add_rn, "add.f64", SAME, f64, f64, f64, none, )                                              \
    X(sub_rn, "sub.rn.f64", OP, f64, f64, f64, none, result64(add64(a, -b, TO_NEAREST), b, a, a))  \
    X(sub_rz, "sub.rz.f64", SLOW, f64, f64, f64, none, result64(add64(a, -b, TO_ZERO), b, a, a))   \
    X(sub_rm, "sub.rm.f64", SLOW, f64, f64, f64, none, result64(add64(a, -b, DOWN), b, a, a))      \
    X(sub_rp, "sub.rp.f64", SLOW, f64, f64, f64, none, result64(add64(a, -b, UP), b, a, a))        \
    X(sub_rn, "sub.f64", SAME, f64, f64, f64, none, )                                              \
    X(mul_rn, "mul.rn.f64", OP, f64, f64, f64, none, result64(mul64(a, b, TO_NEAREST), b, a, a))   \
    X(mul_rz, "mul.rz.f64", SLOW, f64, f64, f64, none, result64(mul64(a, b, TO_ZERO), b, a, a))    \
    X(mul_rm, "mul.rm.f64", SLOW, f64, f64, f64, none, result64(mul64(a, b, DOWN), b, a, a))       \
    X(mul_rp, "mul.rp.f64", SLOW, f64, f64, f64, none, result64(mul64(a, b, UP), b, a, a))         \
    X(mul_rn, "mul.f64", SAME, f64, f64, f64, none, )                                              \
    X(fused_rn, "fma.rn.f64", OP, f64, f64, f64, f64,                                              \
      result64(fma64(a, b, c, TO_NEAREST), b, c, a))                                               \
    X(fused_rz, "fma.rz.f64", SLOW, f64, f64, f64, f64,                                            \
      result64(fma64(a, b, c, TO_ZERO), b, c, a))                                                  \
    X(fused_rm, "fma.rm.f64", SLOW, f64, f64, f64, f64, result64(fma64(a, b, c, DOWN), b, c, a))   \
    X(fused_rp, "fma.rp.f64", SLOW, f64, f64, f64, f64, result64(fma64(a, b, c, UP), b, c, a))     \
    X(fused_rn, "mad.rn.f64", SAME, f64, f64, f64, f64, )                                          \
    X(fused_rz, "mad.rz.f64", SAME, f64, f64, f64, f64, )                                          \
    X(fused_rm, "mad.rm.f64", SAME, f64, f64, f64, f64, )                                          \
    X(fused_rp, "mad.rp.f64", SAME, f64, f64, f64, f64, )                                          \
    X(quotient_rn, "div.rn.f64", OP, f64, f64, f64, none,                                          \
      result64(div64(a, b, TO_NEAREST), a, b, b))                                                  \
    X(quotient_rz, "div.rz.f64", SLOW, f64, f64, f64, none,                                        \
      result64(div64(a, b, TO_ZERO), a, b, b))                                                     \
    X(quotient_rm, "div.rm.f64", SLOW, f64, f64, f64, none, result64(div64(a, b, DOWN), a, b, b))  \
    X(quotient_rp, "div.rp.f64", SLOW, f64, f64, f64, none, result64(div64(a, b, UP), a, b, b))    \
    X(inverse_rn, "rcp.rn.f64", OP, f64, f64, none, none,                                          \
      result64(div64(1.0, a, TO_NEAREST), a, a, a))                                                \
    X(inverse_rz, "rcp.rz.f64", SLOW, f64, f64, none, none,                                        \
      result64(div64(1.0, a, TO_ZERO), a, a, a))                                                   \
    X(inverse_rm, "rcp.rm.f64", SLOW, f64, f64, none, none,                                        \
      result64(div64(1.0, a, DOWN), a, a, a))                                                      \
    X(inverse_rp, "rcp.rp.f64", SLOW, f64, f64, none, none, result64(div64(1.0, a, UP), a, a, a))  \
    X(root_rn, "sqrt.rn.f64", OP, f64, f64, none, none, result64(sqrt64(a, TO_NEAREST), a, a, a))  \
    X(root_rz, "sqrt.rz.f64", SLOW, f64, f64, none, none, result64(sqrt64(a, TO_ZERO), a, a, a))   \
    X(root_rm, "sqrt.rm.f64", SLOW, f64, f64, none, none, result64(sqrt64(a, DOWN), a, a, a))      \
    X(root_rp, "sqrt.rp.f64", SLOW, f64, f64, none, none, result64(sqrt64(a, UP), a, a, a))

#define OTHERS(X)                                                                                  \
    X(smaller, "min.f64", OP, f64, f64, f64, none, result64(min64(a, b), b, a, a))                 \
    X(larger, "max.f64", OP, f64, f64, f64, none, result64(max64(a, b), b, a, a))                  \
    X(negative, "neg.f64", OP, f64, f64, none, none, a == a ? -a : quiet64(a))                     \
    X(absolute, "abs.f64", OP, f64, f64, none, none, a == a ? fabs(a) : quiet64(a))                \
    X(copy_sign, "copysign.f64", OP, u64, u64, u64, none, (b & ~SIGN64) | (a & SIGN64))

#define TESTS(X)                                                                                   \
    X(testp_finite, "testp.finite.f64", TEST, pred, f64, none, none, class64(a) & FINITE)          \
    X(testp_infinite, "testp.infinite.f64", TEST, pred, f64, none, none, class64(a) & INFINITE)    \
    X(testp_number, "testp.number.f64", TEST, pred, f64, none, none,                               \
      class64(a) & (FINITE | INFINITE))                                                            \
    X(testp_nan, "testp.notanumber.f64", TEST, pred, f64, none, none, class64(a) & NOT_A_NUMBER)   \
    X(testp_normal, "testp.normal.f64", TEST, pred, f64, none, none, class64(a) & NORMAL)          \
    X(testp_subnormal, "testp.subnormal.f64", TEST, pred, f64, none, none, class64(a) & SUBNORMAL)
/* clang-format on */

#define ALL(X) ARITHMETIC(X) OTHERS(X) TESTS(X)
ALL(DEFINE)
PUBLISH(double, ALL(ENTRY))
