/* SPDX-License-Identifier: MIT
 *
 * numbers: the two types, and distances in ulp.
 */
#include "complex_test.h"
#include <math.h>

const format formats[2] = {
    {"complex64", QUERN_COMPLEX64, 24, -126, 128},
    {"complex128", QUERN_COMPLEX128, 53, -1022, 1024},
};

double rounded(precision p, long double value)
{
    return p == SINGLE ? (double)(float)value : (double)value;
}

/* Numbers beyond the largest count as the first that is too large. */
static void clip(mpfr_ptr v, int most)
{
    if (mpfr_inf_p(v) || (mpfr_regular_p(v) && mpfr_get_exp(v) > most)) {
        mpfr_set_si_2exp(v, mpfr_signbit(v) ? -1 : 1, most, MPFR_RNDN);
    }
}

double error_in_ulp(precision p, double got, mpfr_srcptr exact, mpfr_srcptr size)
{
    const format *f = &formats[p];
    if (isnan(got) || mpfr_nan_p(exact)) {
        return isnan(got) && mpfr_nan_p(exact) ? 0 : INFINITY;
    }
    mpfr_t a, b, s;
    mpfr_inits2(REFERENCE_BITS, a, b, s, NULL);
    mpfr_set_d(a, got, MPFR_RNDN);
    mpfr_set(b, exact, MPFR_RNDN);
    mpfr_set(s, size, MPFR_RNDN);
    clip(a, f->most);
    clip(b, f->most);
    clip(s, f->most);
    long exponent = mpfr_zero_p(s) ? f->least : (long)mpfr_get_exp(s) - 1;
    exponent = exponent < f->least ? f->least : exponent;
    mpfr_sub(a, a, b, MPFR_RNDA);
    mpfr_mul_2si(a, a, f->bits - 1 - exponent, MPFR_RNDA);
    double error = fabs(mpfr_get_d(a, MPFR_RNDA));
    mpfr_clears(a, b, s, NULL);
    return error;
}
