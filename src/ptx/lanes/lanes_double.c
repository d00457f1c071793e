/* SPDX-License-Identifier: MIT
 *
 * f64 arithmetic in every rounding. To nearest is the CPU's own; the directed roundings, which
 * programs rarely use, compute in 128-bit floating point, where products are exact and sums are
 * rounded to odd, and compare the result to nearest with that.
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

/** `nearest` is `exact` rounded to nearest; step it to where the mode says. */
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

/** Compare a / b with the quotient by multiplying back, which 128 bits hold exactly. */
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
    const u32 kind = magnitude < infinity ? 1 : magnitude == infinity ? 2 : 4;
    const bool normal = kind == 1 && (magnitude >= 0x0010000000000000u || magnitude == 0);
    const bool subnormal = magnitude < 0x0010000000000000u && magnitude != 0;
    return kind | (normal ? 8 : 0) | (subnormal ? 16 : 0);
}

/* clang-format off */
#define ROUNDINGS(X, id, op, B, C, CALL)                                                           \
    X(id##_rn, op ".rn.f64", OP, f64, f64, B, C, CALL(TO_NEAREST))                    \
    X(id##_rz, op ".rz.f64", SLOW, f64, f64, B, C, CALL(TO_ZERO))                     \
    X(id##_rm, op ".rm.f64", SLOW, f64, f64, B, C, CALL(DOWN))                        \
    X(id##_rp, op ".rp.f64", SLOW, f64, f64, B, C, CALL(UP))

#define ADD(mode) result64(add64(a, b, mode), b, a, a)
#define SUB(mode) result64(add64(a, -b, mode), b, a, a)
#define MUL(mode) result64(mul64(a, b, mode), b, a, a)
#define FMA(mode) result64(fma64(a, b, c, mode), b, c, a)
#define DIV(mode) result64(div64(a, b, mode), a, b, b)
#define RCP(mode) result64(div64(1.0, a, mode), a, a, a)
#define SQRT(mode) result64(sqrt64(a, mode), a, a, a)

#define ARITHMETIC(X)                                                                              \
    ROUNDINGS(X, add, "add", f64, none, ADD)                                                       \
    X(add_rn, "add.f64", SAME, f64, f64, f64, none, )                                              \
    ROUNDINGS(X, sub, "sub", f64, none, SUB)                                                       \
    X(sub_rn, "sub.f64", SAME, f64, f64, f64, none, )                                              \
    ROUNDINGS(X, mul, "mul", f64, none, MUL)                                                       \
    X(mul_rn, "mul.f64", SAME, f64, f64, f64, none, )                                              \
    ROUNDINGS(X, fused, "fma", f64, f64, FMA)                                                      \
    X(fused_rn, "mad.rn.f64", SAME, f64, f64, f64, f64, )                                          \
    X(fused_rz, "mad.rz.f64", SAME, f64, f64, f64, f64, )                                          \
    X(fused_rm, "mad.rm.f64", SAME, f64, f64, f64, f64, )                                          \
    X(fused_rp, "mad.rp.f64", SAME, f64, f64, f64, f64, )                                          \
    ROUNDINGS(X, quotient, "div", f64, none, DIV)                                                  \
    ROUNDINGS(X, inverse, "rcp", none, none, RCP)                                                  \
    ROUNDINGS(X, root, "sqrt", none, none, SQRT)                                                   \
    X(smaller, "min.f64", OP, f64, f64, f64, none, result64(min64(a, b), b, a, a))                       \
    X(larger, "max.f64", OP, f64, f64, f64, none, result64(max64(a, b), b, a, a))                        \
    X(negative, "neg.f64", OP, f64, f64, none, none, a == a ? -a : quiet64(a)) \
    X(absolute, "abs.f64", OP, f64, f64, none, none, a == a ? fabs(a) : quiet64(a)) \
    X(copy_sign, "copysign.f64", OP, u64, u64, u64, none, (b & ~SIGN64) | (a & SIGN64))
/* clang-format on */

/** testp: a predicate of the lanes whose class is among `classes`. */
#define TESTP(id, D, A, B, C, classes)                                                             \
    LANE_FUNCTION(id)                                                                              \
    {                                                                                              \
        u32 bits = 0;                                                                              \
        (void)bp, (void)cp, NO_CARRY;                                                              \
        LANES bits |= (u32)((class64(READ_f64(ap)) & (classes)) != 0) << l;                        \
        put_pred(dp, bits, mask);                                                                  \
    }
#define FOURTH_TESTP false
#define TESTS(X)                                                                                   \
    X(testp_finite, "testp.finite.f64", TESTP, pred, f64, none, none, 1)                           \
    X(testp_infinite, "testp.infinite.f64", TESTP, pred, f64, none, none, 2)                       \
    X(testp_number, "testp.number.f64", TESTP, pred, f64, none, none, 3)                           \
    X(testp_nan, "testp.notanumber.f64", TESTP, pred, f64, none, none, 4)                          \
    X(testp_normal, "testp.normal.f64", TESTP, pred, f64, none, none, 8)                           \
    X(testp_subnormal, "testp.subnormal.f64", TESTP, pred, f64, none, none, 16)

#define ALL(X) ARITHMETIC(X) TESTS(X)
ALL(DEFINE)
PUBLISH(double, ALL(ENTRY))
