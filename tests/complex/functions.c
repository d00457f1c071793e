/* SPDX-License-Identifier: MIT
 *
 * functions: the complex functions, with their references. docs/signatures.md states the bounds.
 */
#include "complex_test.h"
#include <math.h>

/* ---- libm ----------------------------------------------------------------------------------- */

#define LIBM(NAME, CALL)                                                                           \
    static wide libm_##NAME(wide x, wide z)                                                        \
    {                                                                                              \
        (void)z;                                                                                   \
        return CALL;                                                                               \
    }
LIBM(abs, cabsl(x))
LIBM(arg, cargl(x))
LIBM(conj, conjl(x))
LIBM(proj, cprojl(x))
LIBM(exp, cexpl(x))
LIBM(log, clogl(x))
LIBM(log10, clog10l(x))
LIBM(sqrt, csqrtl(x))
LIBM(sin, csinl(x))
LIBM(cos, ccosl(x))
LIBM(tan, ctanl(x))
LIBM(sinh, csinhl(x))
LIBM(cosh, ccoshl(x))
LIBM(tanh, ctanhl(x))
LIBM(asin, casinl(x))
LIBM(acos, cacosl(x))
LIBM(atan, catanl(x))
LIBM(asinh, casinhl(x))
LIBM(acosh, cacoshl(x))
LIBM(atanh, catanhl(x))
LIBM(multiply, x *z)
LIBM(rint, CMPLXL(rintl(creall(x)), rintl(cimagl(x))))
LIBM(log2, CMPLXL(creall(clogl(x)) / M_LN2l, cimagl(clogl(x)) / M_LN2l))

/* By Annex G's formulas, where compilers differ in the signs of zeros. */
static wide libm_divide(wide x, wide z)
{
    long double a = creall(x), b = cimagl(x), c = creall(z), d = cimagl(z), n = c * c + d * d;
    if (!isfinite(a) || !isfinite(b) || isnan(n) || n == 0) {
        return x / z;
    }
    if (isinf(n)) { /* so is z, in this range */
        c = copysignl(isinf(c), c);
        d = copysignl(isinf(d), d);
        return CMPLXL(0 * (a * c + b * d), 0 * (b * c - a * d));
    }
    return CMPLXL((a * c + b * d) / n, (b * c - a * d) / n);
}

/* log(1 + x), whose sum is not rounded where the result is small. */
static wide libm_log1p(wide x, wide z)
{
    (void)z;
    long double re = creall(x), im = cimagl(x), more = im == 0 ? re : re + im * im / 2;
    bool tiny = fabsl(re) < 1e-10L && fabsl(im) < 1e-10L;
    return tiny ? CMPLXL(more, im) : clogl(CMPLXL(1 + re, im));
}

static wide libm_expm1(wide x, wide z)
{
    (void)z;
    long double re = creall(x), im = cimagl(x);
    wide w = cexpl(x);
    return fabsl(re) < 1e-10L && fabsl(im) < 1e-10L ? x : CMPLXL(creall(w) - 1, cimagl(w));
}

/* An angle of 0 stays one for infinite magnitudes; libm has no such function. */
static wide libm_polar(wide x, wide z)
{
    (void)z;
    long double m = creall(x), t = cimagl(x);
    return CMPLXL(m * cosl(t), t == 0 && isinf(m) ? copysignl(1, m) * t : m * sinl(t));
}

/* ---- MPC ------------------------------------------------------------------------------------ */

#define EXACT(NAME, CALL)                                                                          \
    static void exact_##NAME(mpc_ptr y, mpc_srcptr x, mpc_srcptr z)                                \
    {                                                                                              \
        (void)z;                                                                                   \
        CALL;                                                                                      \
    }
#define EXACT_MPC(NAME) EXACT(NAME, mpc_##NAME(y, x, MPC_RNDNN))
EXACT_MPC(exp)
EXACT_MPC(log)
EXACT_MPC(log10)
EXACT_MPC(sqrt)
EXACT_MPC(sin)
EXACT_MPC(cos)
EXACT_MPC(sinh)
EXACT_MPC(cosh)
EXACT_MPC(asin)
EXACT_MPC(acos)
EXACT_MPC(atan)
EXACT_MPC(asinh)
EXACT_MPC(acosh)
EXACT_MPC(atanh)
EXACT(multiply, mpc_mul(y, x, z, MPC_RNDNN))
EXACT(divide, mpc_div(y, x, z, MPC_RNDNN))
EXACT(pow, mpc_pow(y, x, z, MPC_RNDNN))

/* The result is real. */
#define EXACT_REAL(NAME)                                                                           \
    EXACT(NAME, mpc_set_ui(y, 0, MPC_RNDNN); mpc_##NAME(mpc_realref(y), x, MPFR_RNDN))
EXACT_REAL(abs)
EXACT_REAL(arg)
EXACT_REAL(norm)

static void exact_log2(mpc_ptr y, mpc_srcptr x, mpc_srcptr z)
{
    (void)z;
    mpfr_t ln_2;
    mpfr_init2(ln_2, REFERENCE_BITS);
    mpfr_const_log2(ln_2, MPFR_RNDN);
    mpc_log(y, x, MPC_RNDNN);
    mpc_div_fr(y, y, ln_2, MPC_RNDNN);
    mpfr_clear(ln_2);
}

/* log|1 + x|, the sum of squares exactly: MPC takes long near 0. */
static void exact_log1p(mpc_ptr y, mpc_srcptr x, mpc_srcptr z)
{
    (void)z;
    mpfr_t re, im;
    mpfr_init2(re, 4400);
    mpfr_init2(im, 4400);
    mpfr_add_ui(re, mpc_realref(x), 2, MPFR_RNDN);
    mpfr_mul(re, re, mpc_realref(x), MPFR_RNDN);
    mpfr_sqr(im, mpc_imagref(x), MPFR_RNDN);
    mpfr_add(re, re, im, MPFR_RNDN);
    mpfr_log1p(mpc_realref(y), re, MPFR_RNDN);
    mpfr_div_2ui(mpc_realref(y), mpc_realref(y), 1, MPFR_RNDN);
    mpfr_add_ui(re, mpc_realref(x), 1, MPFR_RNDN);
    mpfr_atan2(mpc_imagref(y), mpc_imagref(x), re, MPFR_RNDN);
    mpfr_clears(re, im, NULL);
}

/* x + x^2 / 2, in place of a difference, for a tiny x. */
static bool exact_tiny(mpc_ptr y, mpc_srcptr x)
{
    mpfr_t size;
    mpfr_init2(size, 16);
    mpc_abs(size, x, MPFR_RNDU);
    bool tiny = mpfr_cmp_d(size, 0x1p-130) < 0;
    if (tiny) {
        mpc_sqr(y, x, MPC_RNDNN);
        mpc_div_2ui(y, y, 1, MPC_RNDNN);
        mpc_add(y, y, x, MPC_RNDNN);
    }
    mpfr_clear(size);
    return tiny;
}

static void exact_expm1(mpc_ptr y, mpc_srcptr x, mpc_srcptr z)
{
    (void)z;
    if (!exact_tiny(y, x)) {
        mpc_t power;
        mpc_init2(power, 400);
        mpc_exp(power, x, MPC_RNDNN);
        mpc_sub_ui(y, power, 1, MPC_RNDNN);
        mpc_clear(power);
    }
}

/* (sinh x cosh x + i sin y cos y) / (sinh^2 x + cos^2 y): MPC takes forever near the poles. */
static void exact_tanh(mpc_ptr y, mpc_srcptr x, mpc_srcptr z)
{
    (void)z;
    mpfr_t sh, ch, s, c, d;
    if (mpfr_cmpabs_ui(mpc_realref(x), 100000) > 0) {
        mpc_set_d_d(y, mpfr_signbit(mpc_realref(x)) ? -1 : 1, 0, MPC_RNDNN);
        return;
    }
    mpfr_inits2(2 * REFERENCE_BITS, sh, ch, s, c, d, NULL);
    mpfr_sinh_cosh(sh, ch, mpc_realref(x), MPFR_RNDN);
    mpfr_sin_cos(s, c, mpc_imagref(x), MPFR_RNDN);
    mpfr_fmma(d, sh, sh, c, c, MPFR_RNDN);
    mpfr_mul(s, s, c, MPFR_RNDN);
    mpfr_div(mpc_imagref(y), s, d, MPFR_RNDN);
    mpfr_div(sh, sh, d, MPFR_RNDN);
    mpfr_mul(mpc_realref(y), sh, ch, MPFR_RNDN);
    mpfr_clears(sh, ch, s, c, d, NULL);
}

/* -i tanh(i x) */
static void exact_tan(mpc_ptr y, mpc_srcptr x, mpc_srcptr z)
{
    mpc_t turned;
    mpc_init2(turned, 53);
    mpc_mul_i(turned, x, 1, MPC_RNDNN);
    exact_tanh(y, turned, z);
    mpc_mul_i(y, y, -1, MPC_RNDNN);
    mpc_clear(turned);
}

static void exact_polar(mpc_ptr y, mpc_srcptr x, mpc_srcptr z)
{
    (void)z;
    mpfr_sin_cos(mpc_imagref(y), mpc_realref(y), mpc_imagref(x), MPFR_RNDN);
    mpfr_mul(mpc_realref(y), mpc_realref(y), mpc_realref(x), MPFR_RNDN);
    mpfr_mul(mpc_imagref(y), mpc_imagref(y), mpc_realref(x), MPFR_RNDN);
}

/* ---- the table ------------------------------------------------------------------------------ */

#define UNARY(NAME)                                                                                \
    .name = #NAME, .operation = "y = " #NAME "(x)", .arity = 1, .libm = libm_##NAME,               \
    .exact = exact_##NAME

/* clang-format off: one row per function */
const function functions[] = {
    {UNARY(abs), .real = true, .bound = {2, 2}},
    {UNARY(arg), .real = true, .bound = {3, 3}},
    {"norm", "y = norm(x)", 1, .real = true, .exact = exact_norm, .bound = {2, 2}},
    {"conj", "y = conj(x)", 1, .libm = libm_conj},
    {"proj", "y = proj(x)", 1, .libm = libm_proj},
    {"rint", "y = rint(x)", 1, .libm = libm_rint},
    {"polar", "y = polar(x.real(), x.imag())", 1, .libm = libm_polar, .exact = exact_polar,
     .bound = {4, 4}},
    {"multiply", "y = x * z", 2, .normwise = true, .spoilt = true, .finite = true,
     .libm = libm_multiply, .exact = exact_multiply, .bound = {3, 3}},
    {"annex G *", "y = x * z", 2, "-DQUERN_ANNEX_G", .normwise = true, .spoilt = true,
     .libm = libm_multiply, .exact = exact_multiply, .bound = {3, 3}},
    {"divide", "y = x / z", 2, .libm = libm_divide, .exact = exact_divide, .bound = {10, 6}},
    {UNARY(sqrt), .bound = {4, 4}},
    {UNARY(exp), .bound = {5, 5}},
    {UNARY(expm1), .normwise = true, .bound = {6, 6}},
    {UNARY(log), .bound = {4, 4}},
    {UNARY(log2), .bound = {5, 5}},
    {UNARY(log10), .bound = {5, 5}},
    {UNARY(log1p), .normwise = true, .bound = {5, 5}},
    {UNARY(sin), .bound = {6, 6}},
    {UNARY(cos), .bound = {6, 6}},
    {UNARY(tan), .bound = {8, 8}},
    {UNARY(sinh), .bound = {6, 6}},
    {UNARY(cosh), .bound = {6, 6}},
    {UNARY(tanh), .bound = {8, 8}},
    {UNARY(asin), .bound = {6, 6}},
    {UNARY(acos), .bound = {6, 6}},
    {UNARY(atan), .bound = {5, 5}},
    {UNARY(asinh), .bound = {6, 6}},
    {UNARY(acosh), .bound = {6, 6}},
    {UNARY(atanh), .bound = {5, 5}},
    {"pow", "y = pow(x, z)", 2, "-DQUERN_FAST_DOUBLE=0", .normwise = true, .exact = exact_pow,
     .bound = {10, 10}},
    {"wide pow", "y = pow(x, z)", 2, "-DQUERN_FAST_DOUBLE=1", .normwise = true, .exact = exact_pow,
     .bound = {10, 10}},
};
/* clang-format on */

const size_t function_count = sizeof functions / sizeof functions[0];
