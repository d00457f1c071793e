/* SPDX-License-Identifier: MIT
 *
 * The approximate instructions on f32, and those on f64, which use only its upper half.
 */
#include "ptx/lanes/lanes_approx.h"

static inline f32 rsqrt_32(f32 x)
{
    return (f32)(1.0 / sqrt((f64)x));
}

/* div.approx multiplies by a reciprocal, which vanishes for |b| above 2^126. */
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
#define ALL(X)                                                                                     \
    X(ex2, "ex2.approx.f32", OP, f32, f32, none, none, canonical32(exp2_32(a)))                    \
    X(ex2_ftz, "ex2.approx.ftz.f32", OP, f32, ftz_f32, none, none, result32(exp2_32(a), 1, 0))     \
    X(lg2, "lg2.approx.f32", OP, f32, f32, none, none, canonical32(log2_32(a)))                    \
    X(lg2_ftz, "lg2.approx.ftz.f32", OP, f32, ftz_f32, none, none, result32(log2_32(a), 1, 0))     \
    X(sine, "sin.approx.f32", OP, f32, f32, none, none, canonical32(sine_32(a, 0)))                \
    X(sine_ftz, "sin.approx.ftz.f32", OP, f32, ftz_f32, none, none, result32(sine_32(a, 0), 1, 0)) \
    X(cosine, "cos.approx.f32", OP, f32, f32, none, none, canonical32(sine_32(a, 1)))              \
    X(cosine_ftz, "cos.approx.ftz.f32", OP, f32, ftz_f32, none, none,                              \
      result32(sine_32(a, 1), 1, 0))                                                               \
    X(rcp, "rcp.approx.f32", OP, f32, f32, none, none, canonical32(1.0f / a))                      \
    X(rcp_ftz, "rcp.approx.ftz.f32", OP, f32, ftz_f32, none, none, result32(1.0f / a, 1, 0))       \
    X(rsqrt, "rsqrt.approx.f32", OP, f32, f32, none, none, canonical32(rsqrt_32(a)))               \
    X(rsqrt_ftz, "rsqrt.approx.ftz.f32", OP, f32, ftz_f32, none, none,                             \
      result32(rsqrt_32(a), 1, 0))                                                                 \
    X(root, "sqrt.approx.f32", OP, f32, f32, none, none, canonical32(sqrtf(a)))                    \
    X(root_ftz, "sqrt.approx.ftz.f32", OP, f32, ftz_f32, none, none, result32(sqrtf(a), 1, 0))     \
    X(hyperbolic, "tanh.approx.f32", OP, f32, f32, none, none, canonical32(tanh_32(a)))            \
    X(div_approx, "div.approx.f32", OP, f32, f32, f32, none, canonical32(divide_approx(a, b)))     \
    X(div_approx_ftz, "div.approx.ftz.f32", OP, f32, ftz_f32, ftz_f32, none,                       \
      result32(divide_approx(a, b), 1, 0))                                                         \
    X(div_full, "div.full.f32", OP, f32, f32, f32, none, canonical32(a / b))                       \
    X(div_full_ftz, "div.full.ftz.f32", OP, f32, ftz_f32, ftz_f32, none, result32(a / b, 1, 0))    \
    X(rcp_64, "rcp.approx.ftz.f64", OP, f64, u64, none, none, upper_out(1.0 / upper_in(a)))        \
    X(rsqrt_ftz_64, "rsqrt.approx.ftz.f64", OP, f64, u64, none, none,                              \
      upper_out(1.0 / sqrt(upper_in(a))))                                                          \
    X(rsqrt_64, "rsqrt.approx.f64", OP, f64, f64, none, none, result64(1.0 / sqrt(a), a, a, a))
/* clang-format on */

ALL(DEFINE)
PUBLISH(approx, ALL(ENTRY))
