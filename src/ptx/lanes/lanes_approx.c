/* SPDX-License-Identifier: MIT
 *
 * The approximate instructions on f32, and the seeds on f64 that use its upper half only.
 */
#include "ptx/lanes/lanes_approx.h"

static inline f32 rsqrt_32(f32 x)
{
    return (f32)(1.0 / sqrt((f64)x));
}

/** div.approx multiplies by a reciprocal, which vanishes for |b| above 2^126. */
static inline f32 divide_approx(f32 a, f32 b)
{
    return fabsf(b) > 0x1p126f ? a * copysignf(0.0f, b) : a / b;
}

static inline f64 upper_in(u64 a)
{
    return flush64(from64(a & 0xffffffff00000000u));
}

static inline f64 upper_out(f64 x)
{
    return x == x ? upper_half(flush64(x)) : from64(0x7fffffff00000000u);
}

/* clang-format off */
#define UNARY(X, id, op, CALL)                                                                     \
    X(id, op ".approx.f32", OP, f32, f32, none, none, result32(CALL(a), 0, 0))                     \
    X(id##_ftz, op ".approx.ftz.f32", OP, f32, f32, none, none,                                    \
      result32(CALL(flush32(a, 1)), 1, 0))
#define DIVIDE(X, id, op, CALL)                                                                    \
    X(id, op ".f32", OP, f32, f32, f32, none, result32(CALL(a, b), 0, 0))                          \
    X(id##_ftz, op ".ftz.f32", OP, f32, f32, f32, none,                                            \
      result32(CALL(flush32(a, 1), flush32(b, 1)), 1, 0))
#define RCP(x)         (1.0f / (x))
#define QUOTIENT(x, y) ((x) / (y))
#define SIN(x)         sine_32(x, 0)
#define COS(x)         sine_32(x, 1)

#define ALL(X)                                                                                     \
    UNARY(X, ex2, "ex2", exp2_32)                                                                  \
    UNARY(X, lg2, "lg2", log2_32)                                                                  \
    UNARY(X, sine, "sin", SIN)                                                                     \
    UNARY(X, cosine, "cos", COS)                                                                   \
    UNARY(X, rcp, "rcp", RCP)                                                                      \
    UNARY(X, rsqrt, "rsqrt", rsqrt_32)                                                             \
    UNARY(X, root, "sqrt", sqrtf)                                                                  \
    X(hyperbolic, "tanh.approx.f32", OP, f32, f32, none, none, canonical32(tanh_32(a)))            \
    DIVIDE(X, div_approx, "div.approx", divide_approx)                                             \
    DIVIDE(X, div_full, "div.full", QUOTIENT)                                                      \
    X(rcp_64, "rcp.approx.ftz.f64", OP, f64, u64, none, none, upper_out(1.0 / upper_in(a)))        \
    X(rsqrt_ftz_64, "rsqrt.approx.ftz.f64", OP, f64, u64, none, none,                              \
      upper_out(1.0 / sqrt(upper_in(a))))                                                          \
    X(rsqrt_64, "rsqrt.approx.f64", OP, f64, f64, none, none, result64(1.0 / sqrt(a), a, a, a))
/* clang-format on */

ALL(DEFINE)
PUBLISH(approx, ALL(ENTRY))
