/* SPDX-License-Identifier: MIT
 *
 * special: every complex function at every combination of special parts, compared with libm. In:
 * `complex_special [NAME]`, for one function instead of all; the device from QUERN_DEVICE. Out: a
 * line for each function and type, and one for each of the first wrong results; status 1 if there
 * is any. NaN must be NaN, infinities and zeros must have the right sign, and finite results must
 * be near: complex_accuracy says how near. Where Annex G leaves a sign open, either is right:
 * free_sign() lists those cases.
 */
#include "complex_test.h"
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PARTS 19
#define SHOWN 8

/* The special parts of a type. */
static void special_parts(precision p, double *parts)
{
    double most = p == SINGLE ? FLT_MAX : DBL_MAX, least = ldexp(1, formats[p].least);
    double step = ldexp(1, formats[p].least - formats[p].bits + 1);
    const double sizes[] = {0, step, least - step, least, 0.5, 1, 2.5, most, INFINITY};
    for (size_t k = 0; k < 9; k++) {
        parts[2 * k] = sizes[k];
        parts[2 * k + 1] = -sizes[k];
    }
    parts[PARTS - 1] = NAN;
}

/* Fill in all arguments; returns how many there are. */
static size_t special_arguments(precision p, int arity, double *x, double *z)
{
    double parts[PARTS];
    special_parts(p, parts);
    size_t pairs = PARTS * PARTS, count = arity == 2 ? pairs * pairs : pairs;
    for (size_t k = 0; k < count; k++) {
        x[2 * k] = parts[k % PARTS];
        x[2 * k + 1] = parts[k / PARTS % PARTS];
        z[2 * k] = parts[k / pairs % PARTS];
        z[2 * k + 1] = parts[k / pairs / PARTS % PARTS];
    }
    return count;
}

static bool same(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

/* Whether C leaves the sign of a zero or infinite part of the result open. */
static bool free_sign(const function *f, const double *x, int part)
{
    static const struct {
        const char *names;
        double re, im; /* sizes of the argument's parts */
        int part;
    } open[] = {
        {"exp expm1", -INFINITY, INFINITY, 0},
        {"exp", -INFINITY, INFINITY, 1},
        {"exp", -INFINITY, NAN, 0},
        {"exp", -INFINITY, NAN, 1},
        {"exp expm1", INFINITY, INFINITY, 0},
        {"exp expm1", INFINITY, NAN, 0},
        {"expm1", -INFINITY, INFINITY, 1},
        {"expm1", -INFINITY, NAN, 1},
        {"sinh", INFINITY, INFINITY, 0},
        {"sinh", -INFINITY, INFINITY, 0},
        {"sinh", INFINITY, NAN, 0},
        {"sinh", -INFINITY, NAN, 0},
        {"cosh", 0, INFINITY, 1},
        {"cosh", 0, NAN, 1},
        {"cosh", NAN, 0, 1},
        {"tanh", INFINITY, INFINITY, 1},
        {"tanh", -INFINITY, INFINITY, 1},
        {"tanh", INFINITY, NAN, 1},
        {"tanh", -INFINITY, NAN, 1},
        {"sin", INFINITY, INFINITY, 1},
        {"sin", -INFINITY, INFINITY, 1},
        {"sin", NAN, INFINITY, 1},
        {"cos", INFINITY, 0, 1},
        {"cos", -INFINITY, 0, 1},
        {"cos", NAN, 0, 1},
        {"cos", 0, NAN, 1},
        {"tan", INFINITY, INFINITY, 0},
        {"tan", -INFINITY, INFINITY, 0},
        {"tan", NAN, INFINITY, 0},
        {"sqrt", -INFINITY, NAN, 1},
        {"asinh", NAN, INFINITY, 0},
        {"asin", INFINITY, NAN, 1},
        {"asin", -INFINITY, NAN, 1},
        {"acos", INFINITY, NAN, 1},
        {"acos", -INFINITY, NAN, 1},
        {"atanh", NAN, INFINITY, 0},
        {"atan", INFINITY, NAN, 1},
        {"atan", -INFINITY, NAN, 1},
    };
    for (size_t k = 0; k < sizeof open / sizeof open[0]; k++) {
        const char *at = strstr(open[k].names, f->name);
        size_t length = strlen(f->name);
        if (at && (at[length] == ' ' || at[length] == '\0') && same(x[0], open[k].re) &&
            same(fabs(x[1]), open[k].im) && part == open[k].part) {
            return true;
        }
    }
    return false;
}

/* Whether a part is right, within `ulps` of a number as large as `size`. In a product, a difference
 * that should be 0 may be what the rounding of one of its terms leaves. */
static bool part_is_right(precision p, double got, long double expected, long double size,
                          double ulps, bool any_sign, bool difference)
{
    if (isnan(expected) || isnan(got)) {
        return isnan(expected) && isnan(got);
    }
    double large = fabs(rounded(p, size)), e = rounded(p, expected);
    if (any_sign && fabs(got) == fabs(e) && (e == 0 || isinf(e))) {
        return true;
    }
    if ((expected == 0 && !difference) || isinf(e)) {
        return got == e && signbit(got) == signbit(e);
    }
    int exponent = isinf(large) ? formats[p].most - 1
                   : large == 0 ? formats[p].least
                                : (int)fmax(ilogb(large), formats[p].least);
    double room = ulps * ldexp(1, exponent - formats[p].bits + 1);
    return fabs(got - e) <= room && (signbit(got) == signbit(e) || room >= fabs(got));
}

/* The references: one with a range so wide that nothing overflows; for products another in the type
 * itself, where a term may overflow beside a NaN and make the result infinite. */
static int references(const function *f, precision p, const double *x, const double *z, wide *out)
{
    out[0] = out[1] = f->libm(CMPLXL(x[0], x[1]), CMPLXL(z[0], z[1]));
    bool finite = isfinite(x[0]) && isfinite(x[1]) && isfinite(z[0]) && isfinite(z[1]);
    if (!f->spoilt || finite) {
        return 1;
    }
    out[1] = p == SINGLE ? CMPLXF((float)x[0], (float)x[1]) * CMPLXF((float)z[0], (float)z[1])
                         : CMPLX(x[0], x[1]) * CMPLX(z[0], z[1]);
    return 2;
}

/* A dividend with one part close to overflow and one that is barely normal, which loses bits. */
static bool is_lopsided(precision p, const double *x)
{
    double least = ldexp(1, formats[p].least), far = ldexp(1, formats[p].most - 8);
    return fmax(fabs(x[0]), fabs(x[1])) > far && fmin(fabs(x[0]), fabs(x[1])) <= least;
}

static bool is_right(const function *f, precision p, const double *x, const double *z,
                     const double *got, wide expected)
{
    long double parts[2] = {creall(expected), f->real ? 0 : cimagl(expected)};
    long double larger = fmaxl(fabsl(parts[0]), fabsl(parts[1]));
    bool overflows = isinf(rounded(p, larger)), lopsided = f->arity == 2 && is_lopsided(p, x);
    bool difference = f->arity == 2 && x[0] != 0 && x[1] != 0 && z[0] != 0 && z[1] != 0;
    for (int part = 0; part < 2; part++) {
        long double size = f->normwise ? larger : parts[part];
        if ((f->spoilt || lopsided) && overflows && isfinite(parts[part])) {
            continue;
        }
        if (f->arity == 2 && isnan(parts[part]) && isinf(parts[1 - part])) {
            continue; /* infinite, whatever this part is */
        }
        if (!part_is_right(p, got[part], parts[part], size, lopsided ? 16 : f->bound[p],
                           free_sign(f, x, part), difference)) {
            return false;
        }
    }
    return true;
}

static size_t check_function(quern_engine *engine, const function *f, precision p)
{
    size_t room = 2 * (f->arity == 2 ? PARTS * PARTS * PARTS * PARTS : PARTS * PARTS);
    double *x = malloc(room * sizeof *x), *z = malloc(room * sizeof *z),
           *y = malloc(room * sizeof *y);
    size_t count = special_arguments(p, f->arity, x, z), wrong = 0, checked = 0;
    evaluate(engine, f, p, count, x, z, y);
    for (size_t k = 0; k < count; k++) {
        const double *a = &x[2 * k], *b = &z[2 * k], *got = &y[2 * k];
        wide w[2];
        if (f->finite && (isinf(a[0]) || isinf(a[1]) || isinf(b[0]) || isinf(b[1]))) {
            continue;
        }
        checked++;
        int ways = references(f, p, a, b, w);
        if (is_right(f, p, a, b, got, w[0]) || (ways == 2 && is_right(f, p, a, b, got, w[1]))) {
            continue;
        }
        if (wrong++ < SHOWN) {
            printf("%s of %s: (%g, %g)", f->name, formats[p].name, a[0], a[1]);
            if (f->arity == 2) {
                printf(" and (%g, %g)", b[0], b[1]);
            }
            printf(" gave (%a, %a), expected (%La, %La)\n", got[0], got[1], creall(w[0]),
                   cimagl(w[0]));
        }
    }
    printf("%-9s %-10s %zu of %zu wrong\n", f->name, formats[p].name, wrong, checked);
    free(x);
    free(z);
    free(y);
    return wrong;
}

int main(int argc, char **argv)
{
    quern_engine *engine;
    size_t wrong = 0;
    must(quern_open(&engine, NULL), "open");
    for (size_t k = 0; k < function_count; k++) {
        const function *f = &functions[k];
        if (f->libm && (argc < 2 || strcmp(argv[1], f->name) == 0)) {
            wrong += check_function(engine, f, SINGLE) + check_function(engine, f, DOUBLE);
        }
    }
    quern_close(engine);
    printf("special: %zu wrong\n", wrong);
    return wrong != 0;
}
