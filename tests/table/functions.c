/* SPDX-License-Identifier: MIT
 *
 * functions: CUDA's mathematical functions of every real dtype, and of every pair of them, compared
 * with the host's. In: `table_functions [PART/PARTS]`, the device from QUERN_DEVICE. Out: one line
 * with how many rows were right, and one for each answer that was not; status 1 if there was any. A
 * row is a dtype, or a pair, with all functions in one kernel.
 *
 * Integers count as double, as in C++, unless CUDA takes them together with a float; the type of
 * the answer is checked, too.
 */
#include "table.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 4, MOST = 96 };

/* ---- the functions -------------------------------------------------------------------------- */

typedef struct function {
    const char *call;
    double (*host)(double x, double w, double v);
    int bytes; /* of the answer; 0: of float or double, as the arguments are */
} function;

#define HOST(NAME, EXPRESSION)                                                                     \
    static double host_##NAME(double x, double w, double v)                                        \
    {                                                                                              \
        (void)w;                                                                                   \
        (void)v;                                                                                   \
        return EXPRESSION;                                                                         \
    }
#define ONE(NAME) HOST(NAME, NAME(x))
#define TWO(NAME) HOST(NAME, NAME(x, w))
ONE(acosh)
ONE(asinh)
ONE(atan)
ONE(cbrt)
ONE(ceil)
ONE(cos)
ONE(cosh)
ONE(erf)
ONE(erfc)
ONE(exp)
ONE(exp2)
ONE(expm1)
ONE(fabs)
ONE(floor)
ONE(j0)
ONE(j1)
ONE(lgamma)
ONE(log)
ONE(log10)
ONE(log1p)
ONE(log2)
ONE(logb)
ONE(nearbyint)
ONE(rint)
ONE(round)
ONE(sin)
ONE(sinh)
ONE(sqrt)
ONE(tan)
ONE(tanh)
ONE(tgamma)
ONE(trunc)
ONE(y0)
ONE(y1)
HOST(acos, acos(x / 8))
HOST(asin, asin(x / 8))
HOST(atanh, atanh(x / 8))
HOST(exp10, pow(10, x))
HOST(rsqrt, 1 / sqrt(x))
HOST(rcbrt, 1 / cbrt(x))
HOST(sinpi, fmod(x, 1) == 0 ? 0 : sin(3.14159265358979323846 * x))
HOST(cospi, cos(3.14159265358979323846 * x))
HOST(normcdf, 0.5 * erfc(-x * 0.70710678118654752440))
HOST(normcdfinv, x == 1 ? (double)INFINITY : (double)NAN)
HOST(ilogb, ilogb(x))
HOST(same, x)
HOST(zero, 0 * x)
HOST(one, 1 + 0 * x)
HOST(four, 4 * x)
HOST(jn, jn(2, x))
HOST(yn, yn(2, x))
HOST(frexp, frexp(x, &(int){0}))
TWO(atan2)
TWO(copysign)
TWO(fdim)
TWO(fmax)
TWO(fmin)
TWO(fmod)
TWO(hypot)
TWO(pow)
TWO(remainder)
HOST(fma, fma(x, w, x))
HOST(remquo, remainder(x, w))

static const function ones[] = {
    {"acosh(x)", host_acosh, 0},
    {"asinh(x)", host_asinh, 0},
    {"atan(x)", host_atan, 0},
    {"cbrt(x)", host_cbrt, 0},
    {"ceil(x)", host_ceil, 0},
    {"cos(x)", host_cos, 0},
    {"cosh(x)", host_cosh, 0},
    {"erf(x)", host_erf, 0},
    {"erfc(x)", host_erfc, 0},
    {"exp(x)", host_exp, 0},
    {"exp2(x)", host_exp2, 0},
    {"expm1(x)", host_expm1, 0},
    {"fabs(x)", host_fabs, 0},
    {"floor(x)", host_floor, 0},
    {"j0(x)", host_j0, 0},
    {"j1(x)", host_j1, 0},
    {"lgamma(x)", host_lgamma, 0},
    {"log(x)", host_log, 0},
    {"log10(x)", host_log10, 0},
    {"log1p(x)", host_log1p, 0},
    {"log2(x)", host_log2, 0},
    {"logb(x)", host_logb, 0},
    {"nearbyint(x)", host_nearbyint, 0},
    {"rint(x)", host_rint, 0},
    {"round(x)", host_round, 0},
    {"sin(x)", host_sin, 0},
    {"sinh(x)", host_sinh, 0},
    {"sqrt(x)", host_sqrt, 0},
    {"tan(x)", host_tan, 0},
    {"tanh(x)", host_tanh, 0},
    {"tgamma(x)", host_tgamma, 0},
    {"trunc(x)", host_trunc, 0},
    {"y0(x)", host_y0, 0},
    {"y1(x)", host_y1, 0},
    {"acos(x / 8.0)", host_acos, 8},
    {"asin(x / 8.0)", host_asin, 8},
    {"atanh(x / 8.0)", host_atanh, 8},
    {"exp10(x)", host_exp10, 0},
    {"rsqrt(x)", host_rsqrt, 0},
    {"rcbrt(x)", host_rcbrt, 0},
    {"sinpi(x)", host_sinpi, 0},
    {"cospi(x)", host_cospi, 0},
    {"normcdf(x)", host_normcdf, 0},
    {"normcdfinv(x)", host_normcdfinv, 0},
    {"erfinv(erf(x / 4.0)) * 4", host_same, 8},
    {"erfcinv(erfc(x))", host_same, 0},
    {"erfcx(0 * int(x))", host_one, 8},
    {"cyl_bessel_i0(0 * int(x))", host_one, 8},
    {"cyl_bessel_i1(0 * int(x))", host_zero, 8},
    {"ilogb(x)", host_ilogb, 4},
    {"lround(x)", host_round, 8},
    {"llround(x)", host_round, 8},
    {"lrint(x)", host_rint, 8},
    {"llrint(x)", host_rint, 8},
    {"isnan(x)", host_zero, -1},
    {"isinf(x)", host_zero, -1},
    {"isfinite(x)", host_one, -1},
    {"signbit(x)", host_zero, -1},
    {"ldexp(x, 2)", host_four, 0},
    {"scalbn(x, 2)", host_four, 0},
    {"scalbln(x, 2)", host_four, 0},
    {"jn(2, x)", host_jn, 0},
    {"yn(2, x)", host_yn, 0},
    {"frexp(x, &power)", host_frexp, 0},
    {"abs(x)", host_fabs, -1},
    {"sqrt(2 * 8)", host_four, -2},
};

static const function twos[] = {
    {"atan2(x, w)", host_atan2, 0},
    {"copysign(x, w)", host_copysign, 0},
    {"fdim(x, w)", host_fdim, 0},
    {"fmax(x, w)", host_fmax, 0},
    {"fmin(x, w)", host_fmin, 0},
    {"fmod(x, w)", host_fmod, 0},
    {"hypot(x, w)", host_hypot, 0},
    {"pow(x, w)", host_pow, 0},
    {"remainder(x, w)", host_remainder, 0},
    {"fma(x, w, x)", host_fma, 0},
    {"remquo(x, w, &power)", host_remquo, 0},
    {"max(x, w)", host_fmax, -1},
    {"min(x, w)", host_fmin, -1},
};

/* ---- one row -------------------------------------------------------------------------------- */

typedef struct table {
    quern_engine *engine;
    rows rows;
} table;

/* A kernel with each call's answers, then the size of their types. */
static quern_kernel *define(table *t, const function *functions, size_t count, bool two)
{
    static char text[16384];
    size_t used = (size_t)snprintf(text, sizeof text, "int power;\n");
    for (size_t f = 0; f < count; f++) {
        used += (size_t)snprintf(text + used, sizeof text - used,
                                 "z[%zu + i] = (double)(%s); z[%zu + i] = sizeof(%s);\n", f * COUNT,
                                 functions[f].call, (count + f) * COUNT, functions[f].call);
    }
    quern_kernel *kernel;
    check(
        quern_elementwise(&kernel, t->engine, two ? "S x, T w" : "T x", "raw double z", text, NULL),
        "kernel");
    return kernel;
}

static bool counts_as_float(quern_dtype d)
{
    return d == QUERN_FLOAT32 || halves(d);
}

static bool is_near(double got, double expected, bool rough)
{
    const double reach = rough ? 2e-5 : 1e-12;
    return fabs(got - expected) <= reach * (1 + fabs(expected)) ||
           (isinf(expected) && got == expected) || (isnan(got) && isnan(expected));
}

static quern_array *numbers(table *t, quern_dtype dtype, int first, double *values)
{
    unsigned char bytes[COUNT * 16];
    const size_t size = quern_dtype_size(dtype);
    const int64_t count = COUNT;
    quern_array *array;
    for (int k = 0; k < COUNT; k++) {
        number v = whole(first + k);
        v.re += !integers(dtype) && dtype != QUERN_BOOL && k % 2 ? 0.25 : 0;
        number_store(bytes + (size_t)k * size, dtype, v);
        values[k] = number_load(bytes + (size_t)k * size, dtype).re;
    }
    check(quern_array_from(&array, t->engine, dtype, 1, &count, bytes), "numbers");
    return array;
}

/* The dtypes of the arguments; `b` is NONE where there is but one. */
static void run_row(table *t, quern_kernel *kernel, const function *functions, size_t count,
                    quern_dtype a, quern_dtype b)
{
    const bool two = b != QUERN_DTYPE_NONE;
    const bool any_float = counts_as_float(a) || counts_as_float(b);
    const bool is_float = any_float && a != QUERN_FLOAT64 && b != QUERN_FLOAT64;
    double x[COUNT], w[COUNT] = {0};
    static double z[2 * MOST * COUNT];
    const int64_t length = (int64_t)(2 * count * COUNT);
    quern_array *out = NULL, *one = numbers(t, a, 1, x), *other = two ? numbers(t, b, 2, w) : NULL;
    check(quern_array_new(&out, t->engine, QUERN_FLOAT64, 1, &length), "answers");
    const quern_value values[] = {quern_value_array(one), quern_value_array(two ? other : out),
                                  quern_value_array(out)};
    if (quern_call_n(kernel, values, two ? 3 : 2, NULL) != QUERN_OK) {
        printf("FAILED: %s %s: %s", quern_dtype_name(a), two ? quern_dtype_name(b) : "",
               quern_last_error_text());
        t->rows.failed++;
    } else {
        check(quern_array_read(out, z, (size_t)length * sizeof *z), "read");
        for (size_t f = 0; f < count; f++) {
            bool right = true;
            const int bytes = functions[f].bytes > 0 ? functions[f].bytes : is_float ? 4 : 8;
            for (int k = 0; k < COUNT; k++) {
                const double expected =
                    functions[f].bytes == -2 ? 4 : functions[f].host(x[k], w[k], 0);
                right &= is_near(z[f * COUNT + (size_t)k], expected, any_float);
            }
            right &= functions[f].bytes < 0 || z[(count + f) * COUNT] == bytes;
            if (!right) {
                printf("FAILED: %s of %s %s: %.17g of %g bytes, the host has %.17g\n",
                       functions[f].call, quern_dtype_name(a), two ? quern_dtype_name(b) : "",
                       z[f * COUNT + 1], z[(count + f) * COUNT], functions[f].host(x[1], w[1], 0));
                t->rows.failed++;
            }
        }
    }
    t->rows.run++;
    quern_array_release(one);
    quern_array_release(other);
    quern_array_release(out);
}

int main(int argc, char **argv)
{
    table t = {.rows = rows_asked(argc, argv)};
    const size_t one_count = sizeof ones / sizeof *ones, two_count = sizeof twos / sizeof *twos;
    check(quern_open(&t.engine, NULL), "open");
    quern_kernel *one = define(&t, ones, one_count, false),
                 *two = define(&t, twos, two_count, true);
    for (quern_dtype a = QUERN_BOOL; a <= QUERN_FLOAT8_E5M2; a++) {
        if (!complexes(a) && rows_next(&t.rows)) {
            run_row(&t, one, ones, one_count, a, QUERN_DTYPE_NONE);
        }
        for (quern_dtype b = QUERN_BOOL; b <= QUERN_FLOAT8_E5M2; b++) {
            if (!complexes(a) && !complexes(b) && rows_next(&t.rows)) {
                run_row(&t, two, twos, two_count, a, b);
            }
        }
    }
    quern_kernel_release(one);
    quern_kernel_release(two);
    quern_close(t.engine);
    return rows_report(&t.rows, "rows of functions");
}
