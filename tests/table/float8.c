/* SPDX-License-Identifier: MIT
 *
 * float8: all 256 codes of the 8-bit floats as float32, and all float16 numbers, and doubles next
 * to every tie, as 8-bit floats; nextafter of them, and of halves. In: the device from
 * QUERN_DEVICE. Out: a line; status 1 if there was a wrong answer.
 *
 * The reference knows a format by its definition alone: the value of a code by its fields, and the
 * code of a value by looking for the nearest among all, the even one of two that are as near.
 */
#include "table.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CODES = 256, HALVES = 65536, MOST = 70000 };

typedef struct format {
    quern_dtype dtype;
    int exponent_bits, fraction_bits;
    unsigned last; /* the code of the largest finite number */
} format;

static const format formats[] = {{QUERN_FLOAT8_E4M3, 4, 3, 0x7e}, {QUERN_FLOAT8_E5M2, 5, 2, 0x7b}};

static double value_of(const format *f, unsigned code)
{
    const int bias = (1 << (f->exponent_bits - 1)) - 1;
    const int exponent = (int)(code >> f->fraction_bits) & ((1 << f->exponent_bits) - 1);
    const int fraction = (int)code & ((1 << f->fraction_bits) - 1);
    const double sign = code & 0x80 ? -1 : 1;
    if ((code & 0x7f) > f->last) {
        return f->dtype == QUERN_FLOAT8_E5M2 && (code & 0x7f) == 0x7c ? sign * INFINITY : NAN;
    }
    if (exponent == 0) {
        return sign * ldexp(fraction, 1 - bias - f->fraction_bits);
    }
    return sign * ldexp(1 + ldexp(fraction, -f->fraction_bits), exponent - bias);
}

static unsigned code_of(const format *f, double value)
{
    unsigned best = 0;
    const double magnitude = fabs(value);
    if (isnan(value)) {
        return 0x7f;
    }
    if (magnitude >= value_of(f, f->last)) {
        best = f->last;
    }
    for (unsigned code = 1; code <= f->last && best != f->last; code++) {
        double now = fabs(value_of(f, code) - magnitude);
        double before = fabs(value_of(f, best) - magnitude);
        best = now < before || (now == before && code % 2 == 0) ? code : best;
    }
    return best | (signbit(value) ? 0x80 : 0);
}

static double half_value(unsigned bits)
{
    const int exponent = (int)(bits >> 10) & 31, fraction = (int)bits & 1023;
    double v = exponent == 0    ? ldexp(fraction, -24)
               : exponent == 31 ? (fraction ? NAN : INFINITY)
                                : ldexp(1024 + fraction, exponent - 25);
    return bits & 0x8000 ? -v : v;
}

/* ---- running -------------------------------------------------------------------------------- */

static quern_engine *engine;
static long wrong;

static void convert(quern_dtype from, const void *in, int64_t count, quern_dtype to, void *out)
{
    quern_array *x, *y = NULL;
    quern_kernel *kernel;
    check(quern_array_from(&x, engine, from, 1, &count, in), "in");
    check(quern_array_new(&y, engine, to, 1, &count), "out");
    check(quern_elementwise(&kernel, engine, "S x", "T y", "y = T(x)", NULL), "kernel");
    check(
        quern_call_n(kernel, (quern_value[]){quern_value_array(x), quern_value_array(y)}, 2, NULL),
        "call");
    check(quern_array_read(y, out, (size_t)count * quern_dtype_size(to)), "read");
    quern_kernel_release(kernel);
    quern_array_release(x);
    quern_array_release(y);
}

static void say(const format *f, const char *what, double in, double got, double wanted)
{
    if (wrong++ < 20) {
        printf("FAILED: %s, %s of %.17g: %g, not %g\n", quern_dtype_name(f->dtype), what, in, got,
               wanted);
    }
}

static void run_codes(const format *f)
{
    uint8_t codes[CODES];
    float got[CODES];
    for (unsigned k = 0; k < CODES; k++) {
        codes[k] = (uint8_t)k;
    }
    convert(f->dtype, codes, CODES, QUERN_FLOAT32, got);
    for (unsigned k = 0; k < CODES; k++) {
        const double wanted = value_of(f, k);
        if (isnan(wanted) ? !isnan(got[k])
                          : got[k] != wanted || !signbit(got[k]) != !signbit(wanted)) {
            say(f, "value", k, got[k], wanted);
        }
    }
}

static void compare(const format *f, const char *what, const double *in, const uint8_t *got,
                    size_t count)
{
    for (size_t k = 0; k < count; k++) {
        const unsigned wanted = code_of(f, in[k]);
        if (got[k] != wanted) {
            say(f, what, in[k], got[k], wanted);
        }
    }
}

static void run_halves(const format *f)
{
    static uint16_t bits[HALVES];
    static double in[HALVES];
    static uint8_t got[HALVES];
    for (unsigned k = 0; k < HALVES; k++) {
        bits[k] = (uint16_t)k;
        in[k] = half_value(k);
    }
    convert(QUERN_FLOAT16, bits, HALVES, f->dtype, got);
    compare(f, "float16", in, got, HALVES);
}

/* Numbers on both sides of every tie, closer than a float tells apart, and far out. */
static size_t nasty(const format *f, double *out)
{
    static const double far[] = {1e300, -1e300, 1e-300, -1e-300, 3.4e38, 1e30, -1e30, 0.0, -0.0};
    size_t count = 0;
    for (unsigned code = 0; code < f->last; code++) {
        double tie = (value_of(f, code) + value_of(f, code + 1)) / 2;
        const double around[] = {tie, nextafter(tie, 0), nextafter(tie, INFINITY), tie * 0.999999,
                                 value_of(f, code)};
        for (size_t k = 0; k < sizeof around / sizeof *around; k++) {
            out[count++] = around[k];
            out[count++] = -around[k];
        }
    }
    for (size_t k = 0; k < sizeof far / sizeof *far; k++) {
        out[count++] = far[k];
    }
    out[count++] = INFINITY;
    out[count++] = -INFINITY;
    out[count++] = NAN;
    return count;
}

static void run_nasty(const format *f)
{
    static double in[MOST];
    static float single[MOST];
    static uint8_t got[MOST];
    const size_t count = nasty(f, in);
    convert(QUERN_FLOAT64, in, (int64_t)count, f->dtype, got);
    compare(f, "float64", in, got, count);
    for (size_t k = 0; k < count; k++) {
        single[k] = (float)in[k];
        in[k] = single[k];
    }
    convert(QUERN_FLOAT32, single, (int64_t)count, f->dtype, got);
    compare(f, "float32", in, got, count);
}

/* Scalars: the same rounding, but what is too large is refused. */
static void run_scalars(const format *f)
{
    static double in[MOST];
    const size_t count = nasty(f, in);
    quern_kernel *kernel;
    quern_array *y = NULL;
    const int64_t one = 1;
    char list[32];
    snprintf(list, sizeof list, "%s x", quern_dtype_name(f->dtype));
    check(quern_elementwise(&kernel, engine, list, "T y", "y = x", NULL), "kernel");
    check(quern_array_new(&y, engine, f->dtype, 1, &one), "out");
    const double largest = value_of(f, f->last), below = value_of(f, f->last - 1);
    const double limit = largest + (largest - below) / 2; /* the tie with what would come next */
    for (size_t k = 0; k < count; k++) {
        uint8_t got = 0;
        const bool infinite = isinf(in[k]) && f->dtype == QUERN_FLOAT8_E5M2;
        const bool tie_is_odd = f->last % 2 == 1;
        const bool fits =
            infinite || !(fabs(in[k]) > limit || (fabs(in[k]) == limit && tie_is_odd));
        quern_status status = quern_call_n(
            kernel, (quern_value[]){quern_literal_double(in[k]), quern_value_array(y)}, 2, NULL);
        const unsigned wanted =
            infinite ? 0x7cu | (signbit(in[k]) ? 0x80u : 0u) : code_of(f, in[k]);
        if (status == QUERN_OK) {
            check(quern_array_read(y, &got, 1), "read");
        }
        if (fits ? status != QUERN_OK || got != wanted : status != QUERN_ERROR_VALUE) {
            say(f, "scalar", in[k], status == QUERN_OK ? got : -1, wanted);
        }
    }
    quern_kernel_release(kernel);
    quern_array_release(y);
}

/* ---- neighbours ----------------------------------------------------------------------------- */

/* The number next to x on the way to w, among all codes. */
static double next_of(const format *f, double x, double w)
{
    double best = NAN;
    if (isnan(x) || isnan(w) || x == w) {
        return isnan(x) ? x : w;
    }
    for (unsigned code = 0; code < CODES; code++) {
        const double v = value_of(f, code);
        const bool beyond = x < w ? v > x && !(v >= best) : v < x && !(v <= best);
        best = beyond ? v : best;
    }
    return best;
}

static void run_next(const format *f)
{
    uint8_t codes[CODES];
    static uint8_t got[CODES * CODES];
    const int64_t row[] = {CODES}, square[] = {CODES, CODES};
    quern_array *w, *x, *z = NULL;
    quern_kernel *kernel;
    for (unsigned k = 0; k < CODES; k++) {
        codes[k] = (uint8_t)k;
    }
    check(quern_array_from(&w, engine, f->dtype, 1, row, codes), "w");
    check(quern_array_reshape(&x, w, 2, (const int64_t[]){CODES, 1}), "x");
    check(quern_array_new(&z, engine, f->dtype, 2, square), "z");
    check(quern_elementwise(&kernel, engine, "T x, T w", "T z", "z = nextafter(x, w)", NULL),
          "nextafter");
    const quern_value values[] = {quern_value_array(x), quern_value_array(w), quern_value_array(z)};
    check(quern_call_n(kernel, values, 3, NULL), "nextafter");
    check(quern_array_read(z, got, sizeof got), "read");
    for (unsigned k = 0; k < CODES * CODES; k++) {
        const double from = value_of(f, k / CODES), to = value_of(f, k % CODES);
        const double is = value_of(f, got[k]), wanted = next_of(f, from, to);
        if (isnan(wanted) ? !isnan(is) : is != wanted) {
            say(f, "neighbour", from, is, wanted);
        }
    }
    quern_kernel_release(kernel);
    quern_array_release(w);
    quern_array_release(x);
    quern_array_release(z);
}

/* Of every half on the way to an infinity: they are as far from each other as their codes. */
static void run_next_halves(quern_dtype dtype, int infinity)
{
    static uint16_t bits[HALVES], got[HALVES];
    const int64_t count = HALVES;
    quern_array *x, *z = NULL;
    quern_kernel *kernel;
    for (int k = 0; k < HALVES; k++) {
        bits[k] = (uint16_t)k;
    }
    check(quern_array_from(&x, engine, dtype, 1, &count, bits), "x");
    check(quern_array_new(&z, engine, dtype, 1, &count), "z");
    check(quern_elementwise(&kernel, engine, "T x", "T z", "z = nextafter(x, T(-INFINITY))", NULL),
          "nextafter");
    check(quern_call(kernel, x, z), "nextafter");
    check(quern_array_read(z, got, sizeof got), "read");
    for (int k = 0; k < HALVES; k++) {
        const int place = k & 0x8000 ? -(k & 0x7fff) : k;
        const int is = got[k] & 0x8000 ? -(got[k] & 0x7fff) : got[k];
        const int wanted = place > -infinity ? place - 1 : place;
        const bool nan = (k & 0x7fff) > infinity;
        if (nan ? (got[k] & 0x7fff) <= infinity : is != wanted) {
            printf("FAILED: neighbour of the %s %04x: %04x\n", quern_dtype_name(dtype), (unsigned)k,
                   got[k]);
            wrong++;
        }
    }
    quern_kernel_release(kernel);
    quern_array_release(x);
    quern_array_release(z);
}

int main(void)
{
    check(quern_open(&engine, NULL), "open");
    for (size_t f = 0; f < sizeof formats / sizeof *formats; f++) {
        run_codes(&formats[f]);
        run_halves(&formats[f]);
        run_nasty(&formats[f]);
        run_scalars(&formats[f]);
        run_next(&formats[f]);
    }
    run_next_halves(QUERN_FLOAT16, 0x7c00);
    run_next_halves(QUERN_BFLOAT16, 0x7f80);
    quern_close(engine);
    printf("8-bit floats: %s\n", wrong == 0 ? "all right" : "FAILED");
    return wrong != 0;
}
