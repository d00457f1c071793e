/* SPDX-License-Identifier: MIT
 *
 * conversions: every pair of dtypes: assignment, initialization, arithmetic, comparison, conditions
 * and updates compile and are right. In: `table_conversions [PART/PARTS]`, the device from
 * QUERN_DEVICE. Out: one line with how many rows were right, and one for each answer that was not;
 * status 1 if there was any. A row is a pair, with all operators in one kernel; three more rows
 * convert every half to the other kind, and to complex, and some integers that lie between two
 * halves.
 */
#include "lang/lang.h"
#include "table.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 4, MOST = 16, HALVES = 65536 };

typedef struct table {
    quern_engine *engine;
    rows rows;
} table;

/* ---- the operators -------------------------------------------------------------------------- */

/* A pair: S x, T w. */
typedef struct pair {
    quern_dtype s, t;
} pair;

static bool whole_number(quern_dtype d)
{
    return integers(d) || d == QUERN_BOOL;
}

static bool always(pair p)
{
    (void)p;
    return true;
}
/* A complex number does not convert to a real one by itself. */
static bool assigns(pair p)
{
    return !complexes(p.s) || complexes(p.t);
}
/* A float that others narrow to is made by saying so, but of a narrower one. */
static bool initializes(pair p)
{
    const bool narrows = halves(p.s) && halves(p.t) && p.s != p.t;
    return assigns(p) && (!narrows || (eighths(p.s) && !eighths(p.t)));
}
static bool real(pair p)
{
    return !complexes(p.s) && !complexes(p.t);
}
static bool counts(pair p)
{
    return !complexes(p.t) && p.t != QUERN_BOOL;
}
static bool has_sign(pair p)
{
    return !(p.s >= QUERN_UINT8 && p.s <= QUERN_UINT64);
}
/* C++ takes `c ? x : w` where at most one of both converts to the other. */
static bool chooses(pair p)
{
    const bool same = p.s == p.t, both = complexes(p.s) && complexes(p.t);
    const bool one_half = halves(p.s) != halves(p.t) && real(p);
    return same || (!both && !one_half);
}

static number plus(number x, number w, bool in_whole)
{
    (void)in_whole;
    return (number){x.re + w.re, x.im + w.im, 0};
}
static number times(number x, number w, bool in_whole)
{
    (void)in_whole;
    return (number){x.re * w.re - x.im * w.im, x.re * w.im + x.im * w.re, 0};
}
static number over(number x, number w, bool in_whole)
{
    return (number){in_whole ? trunc(x.re / w.re) : x.re / w.re, 0, 0};
}
static number first(number x, number w, bool in_whole)
{
    (void)w;
    (void)in_whole;
    return x;
}
static number negative(number x, number w, bool in_whole)
{
    (void)w;
    (void)in_whole;
    return (number){-x.re, -x.im, 0};
}
static number two_more(number x, number w, bool in_whole)
{
    (void)x;
    (void)in_whole;
    return (number){w.re + 2, 0, 0};
}
static number equal(number x, number w, bool in_whole)
{
    (void)in_whole;
    return whole(x.re == w.re && x.im == w.im);
}
static number differs(number x, number w, bool in_whole)
{
    return whole(equal(x, w, in_whole).whole == 0);
}
static number less(number x, number w, bool in_whole)
{
    (void)in_whole;
    return whole(x.re < w.re);
}
static number at_least(number x, number w, bool in_whole)
{
    (void)in_whole;
    return whole(x.re >= w.re);
}

/* `text` assigns to `u`, a T, when `own`; else it is an expression. */
static const struct operation {
    const char *text;
    bool own;
    bool (*takes)(pair p);
    number (*host)(number x, number w, bool in_whole);
} operations[] = {
    {"u = x", true, assigns, first},
    {"T v = x; u = v", true, initializes, first},
    {"u = same(x)", true, initializes, first},
    {"u = T(x)", true, assigns, first},
    {"u = w; u += x", true, assigns, plus},
    {"u = w; u *= x", true, assigns, times},
    {"u = w; u = u + x", true, assigns, plus},
    {"u = w; ++u; u++", true, counts, two_more},
    {"x + w", false, always, plus},
    {"x * w", false, always, times},
    {"x / w", false, real, over},
    {"-x", false, has_sign, negative},
    {"x == w", false, always, equal},
    {"x != w", false, always, differs},
    {"x < w", false, real, less},
    {"x >= w", false, real, at_least},
    {"i >= 0 ? x : w", false, chooses, first},
};
enum { OPERATIONS = sizeof operations / sizeof *operations };

/* ---- one row -------------------------------------------------------------------------------- */

static quern_kernel *define(table *t, pair p)
{
    static char text[8192];
    const bool complex = complexes(p.s) || complexes(p.t);
    const char *wide = complex ? "complex<double>" : "double";
    size_t used = (size_t)snprintf(text, sizeof text, "T u;\n");
    for (size_t o = 0; o < OPERATIONS; o++) {
        if (operations[o].takes(p)) {
            used += (size_t)snprintf(text + used, sizeof text - used,
                                     operations[o].own ? "%s; z[%zu + i] = %s(u);\n"
                                                       : "z[%2$zu + i] = %3$s(%1$s);\n",
                                     operations[o].text, o * COUNT, wide);
        }
    }
    quern_kernel *kernel;
    quern_kernel_options options = QUERN_KERNEL_OPTIONS_INIT;
    options.preamble = "__device__ T same(T v) { return v; }";
    check(quern_elementwise(&kernel, t->engine, "S x, T w",
                            complex ? "raw complex128 z" : "raw float64 z", text, &options),
          "kernel");
    return kernel;
}

static quern_array *numbers(table *t, quern_dtype dtype, int step, number *values)
{
    static const int whole_numbers[2][COUNT] = {{1, 3, 5, 2}, {1, 2, 4, 2}};
    unsigned char bytes[COUNT * 16];
    const size_t size = quern_dtype_size(dtype);
    const int64_t count = COUNT;
    quern_array *array;
    for (int k = 0; k < COUNT; k++) {
        number v = whole(whole_numbers[step][k]);
        v.im = complexes(dtype) ? k % 2 : 0;
        number_store(bytes + (size_t)k * size, dtype, v);
        values[k] = number_load(bytes + (size_t)k * size, dtype);
    }
    check(quern_array_from(&array, t->engine, dtype, 1, &count, bytes), "numbers");
    return array;
}

/* What T makes of the host's answer. */
static number as_own(number v, quern_dtype dtype)
{
    unsigned char bytes[16];
    v.whole = (int64_t)v.re;
    number_store(bytes, dtype, v);
    return number_load(bytes, dtype);
}

static void run_row(table *t, pair p)
{
    const bool complex = complexes(p.s) || complexes(p.t);
    const bool in_whole = whole_number(p.s) && whole_number(p.t);
    const quern_dtype wide = complex ? QUERN_COMPLEX128 : QUERN_FLOAT64;
    const int64_t length = OPERATIONS * COUNT;
    number x[COUNT], w[COUNT];
    static unsigned char got[OPERATIONS * COUNT * 16];
    quern_array *z = NULL, *one = numbers(t, p.s, 0, x), *other = numbers(t, p.t, 1, w);
    quern_kernel *kernel = define(t, p);
    check(quern_array_new(&z, t->engine, wide, 1, &length), "answers");
    const quern_value values[] = {quern_value_array(one), quern_value_array(other),
                                  quern_value_array(z)};
    t->rows.run++;
    if (quern_call_n(kernel, values, 3, NULL) != QUERN_OK) {
        printf("FAILED: %s and %s: %s", quern_dtype_name(p.s), quern_dtype_name(p.t),
               quern_last_error_text());
        t->rows.failed++;
    } else {
        check(quern_array_read(z, got, (size_t)length * quern_dtype_size(wide)), "read");
        for (size_t at = 0; at < OPERATIONS * COUNT; at++) {
            const struct operation *o = &operations[at / COUNT];
            const size_t k = at % COUNT;
            number expected = o->host(x[k], w[k], in_whole);
            expected = o->own ? as_own(expected, p.t) : expected;
            const number is = number_load(got + at * quern_dtype_size(wide), wide);
            if (o->takes(p) && (is.re != expected.re || is.im != expected.im)) {
                printf("FAILED: %s, x %s %g, w %s %g: %g\n", o->text, quern_dtype_name(p.s),
                       x[k].re, quern_dtype_name(p.t), w[k].re, is.re);
                t->rows.failed++;
            }
        }
    }
    quern_kernel_release(kernel);
    quern_array_release(one);
    quern_array_release(other);
    quern_array_release(z);
}

/* Every value of a half, as another dtype. */
static void run_halves(table *t, quern_dtype from, quern_dtype to)
{
    static uint16_t bits[HALVES];
    static unsigned char got[HALVES * 8];
    const int64_t count = HALVES;
    const size_t size = quern_dtype_size(to);
    quern_array *x, *y = NULL;
    quern_kernel *kernel;
    for (int k = 0; k < HALVES; k++) {
        bits[k] = (uint16_t)k;
    }
    check(quern_array_from(&x, t->engine, from, 1, &count, bits), "halves");
    check(quern_array_new(&y, t->engine, to, 1, &count), "answers");
    check(quern_elementwise(&kernel, t->engine, "S x", "T y", "y = x", NULL), "y = x");
    const quern_value values[] = {quern_value_array(x), quern_value_array(y)};
    check(quern_call_n(kernel, values, 2, NULL), "halves");
    check(quern_array_read(y, got, HALVES * size), "read");
    t->rows.run++;
    for (int k = 0; k < HALVES; k++) {
        const number v = number_load(&bits[k], from);
        const number is = number_load(got + (size_t)k * size, to);
        if (isnan(v.re) ? !isnan(is.re) : !number_is(got + (size_t)k * size, to, v, 0)) {
            printf("FAILED: %s %04x as %s: %g\n", quern_dtype_name(from), (unsigned)k,
                   quern_dtype_name(to), is.re);
            t->rows.failed++;
        }
    }
    quern_kernel_release(kernel);
    quern_array_release(x);
    quern_array_release(y);
}

/* ---- integers that round -----------------------------------------------------------------------
 */

/* `u` to the nearest number of so many significant bits, of two the even one. */
static double rounded(uint64_t u, int significant)
{
    int bits = 0;
    while (bits < 64 && u >> bits != 0) {
        bits++;
    }
    if (bits <= significant) {
        return (double)u;
    }
    const int less = bits - significant;
    const uint64_t rest = u & ((UINT64_C(1) << less) - 1), half = UINT64_C(1) << (less - 1);
    const uint64_t kept = u >> less;
    return ldexp((double)(kept + (rest > half || (rest == half && (kept & 1) != 0))), less);
}

/* The `k`th integer of so many bits: on or beside the middle between two numbers of `significant`.
 */
static uint64_t beside_middle(int k, int width, int significant)
{
    const int bits = 1 + k % width, less = bits - significant - 1;
    const uint64_t drawn = UINT64_C(0x9e3779b97f4a7c15) * (uint64_t)(k + 1);
    const uint64_t top = UINT64_C(1) << (bits - 1), low = drawn & (top - 1);
    if (less < 0) {
        return top | low;
    }
    const uint64_t middle = top | (low >> less << less) | UINT64_C(1) << less;
    return middle + (uint64_t)(k / width % 3) - 1;
}

/* An integer without its sign. */
static uint64_t magnitude(const unsigned char *at, quern_dtype dtype, bool *negative)
{
    const size_t size = quern_dtype_size(dtype);
    uint64_t u = 0;
    memcpy(&u, at, size);
    *negative = has_sign((pair){.s = dtype}) && (u >> (8 * size - 1) & 1) != 0;
    return *negative ? (0 - u) & UINT64_MAX >> (64 - 8 * size) : u;
}

/* Integers on and beside the middle of two halves, all of whose bits decide. */
static void run_integers(table *t, quern_dtype from, quern_dtype to)
{
    enum { INTEGERS = 8192 };
    static unsigned char in[INTEGERS * 8], got[INTEGERS * 2];
    const int64_t count = INTEGERS;
    const size_t size = quern_dtype_size(from);
    const int significant = to == QUERN_FLOAT16 ? 11 : 8;
    quern_array *x, *y = NULL;
    quern_kernel *kernel;
    for (int k = 0; k < INTEGERS; k++) {
        uint64_t u = beside_middle(k, 8 * (int)size, significant);
        u = has_sign((pair){.s = from}) && k % 2 == 1 ? 0 - u : u;
        memcpy(in + (size_t)k * size, &u, size);
    }
    check(quern_array_from(&x, t->engine, from, 1, &count, in), "integers");
    check(quern_array_new(&y, t->engine, to, 1, &count), "answers");
    check(quern_elementwise(&kernel, t->engine, "S x", "T y", "y = x", NULL), "y = x");
    const quern_value values[] = {quern_value_array(x), quern_value_array(y)};
    check(quern_call_n(kernel, values, 2, NULL), "integers");
    check(quern_array_read(y, got, sizeof got), "read");
    t->rows.run++;
    for (int k = 0; k < INTEGERS; k++) {
        bool negative;
        const uint64_t u = magnitude(in + (size_t)k * size, from, &negative);
        double v = rounded(u, significant);
        v = to == QUERN_FLOAT16 && v > 65504 ? INFINITY : v;
        const number is = number_load(got + (size_t)k * 2, to);
        if (is.re != (negative ? -v : v)) {
            printf("FAILED: %s %s%" PRIu64 " as %s: %g\n", quern_dtype_name(from),
                   negative ? "-" : "", u, quern_dtype_name(to), is.re);
            t->rows.failed++;
        }
    }
    quern_kernel_release(kernel);
    quern_array_release(x);
    quern_array_release(y);
}

int main(int argc, char **argv)
{
    table t = {.rows = rows_asked(argc, argv)};
    check(quern_open(&t.engine, NULL), "open");
    for (quern_dtype s = QUERN_BOOL; s <= QUERN_FLOAT8_E5M2; s++) {
        for (quern_dtype d = QUERN_BOOL; d <= QUERN_FLOAT8_E5M2; d++) {
            if (rows_next(&t.rows)) {
                run_row(&t, (pair){s, d});
            }
        }
    }
    run_halves(&t, QUERN_FLOAT16, QUERN_BFLOAT16);
    run_halves(&t, QUERN_BFLOAT16, QUERN_FLOAT16);
    run_halves(&t, QUERN_BFLOAT16, QUERN_COMPLEX64);
    for (quern_dtype d = QUERN_INT8; d <= QUERN_UINT64; d++) {
        run_integers(&t, d, QUERN_FLOAT16);
        run_integers(&t, d, QUERN_BFLOAT16);
    }
    quern_close(t.engine);
    return rows_report(&t.rows, "rows of conversions");
}
