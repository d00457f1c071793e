/* SPDX-License-Identifier: MIT
 *
 * walks: z = x + y over rows that begin and end anywhere. In: `table_walks [PART/PARTS]`, the
 * device from QUERN_DEVICE. Out: one line with how many rows were right, and one for each answer
 * that was not; status 1 if there was any.
 *
 * Every row of the table is a pair of dtypes and an innermost extent: all small ones, and some on
 * both sides of powers of two and of what a block takes. For each, cases are drawn: one to four
 * dimensions, some of them long and thin, every operand with an offset of up to 15 elements, gaps
 * between its rows, any order of its axes, backwards, steps, inputs broadcast along any axes, the
 * output one of the inputs. The memory beside the output must stay as it is.
 */
#include "table.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NDIM = 4, CASES = 12, OFFSETS = 16, SMALL = 40, TALL = 5000, SQUARE = 250 };

static const struct {
    quern_dtype in, out;
} pairs[] = {
    {QUERN_INT8, QUERN_INT8},
    {QUERN_BOOL, QUERN_INT8},
    {QUERN_UINT8, QUERN_FLOAT32},
    {QUERN_INT8, QUERN_INT16},
    {QUERN_INT16, QUERN_INT16},
    {QUERN_FLOAT16, QUERN_FLOAT16},
    {QUERN_UINT16, QUERN_INT8},
    {QUERN_INT8, QUERN_FLOAT64},
    {QUERN_INT32, QUERN_INT32},
    {QUERN_FLOAT32, QUERN_FLOAT16},
    {QUERN_INT64, QUERN_INT64},
    {QUERN_FLOAT64, QUERN_INT32},
    {QUERN_INT16, QUERN_COMPLEX64},
    {QUERN_BOOL, QUERN_COMPLEX128},
    {QUERN_COMPLEX128, QUERN_COMPLEX128},
};

static const int64_t longer[] = {63, 64, 65, 127, 129, 255, 257, 511, 777, 1025, 4099, 16411};

typedef struct table {
    quern_engine *engine;
    rows rows;
    unsigned seed;
} table;

/* An array over bytes, as the host sees it: `at` is where element (0, ..., 0) lies. */
typedef struct place {
    quern_array *bytes, *array;
    unsigned char *host;
    int64_t room, at, shape[NDIM], strides[NDIM];
    quern_dtype dtype;
    int ndim;
} place;

static unsigned draw(table *t, unsigned below)
{
    t->seed = t->seed * 1664525u + 1013904223u;
    return (t->seed >> 8) % below;
}

/* ---- places --------------------------------------------------------------------------------- */

/* Where element `n` of the loop in C order lies. */
static int64_t place_of(const place *p, const int64_t *extents, int64_t n)
{
    int64_t at = p->at;
    for (int d = p->ndim - 1; d >= 0; d--) {
        at += p->shape[d] == 1 ? 0 : n % extents[d] * p->strides[d];
        n /= extents[d];
    }
    return at;
}

static void shuffle(table *t, int *order, int count)
{
    for (int d = count - 1; d > 0; d--) {
        int other = (int)draw(t, (unsigned)d + 1), axis = order[d];
        order[d] = order[other];
        order[other] = axis;
    }
}

/* Strides for the shape; half of all operands lie plainly but for their offset and the gaps. */
static void lay_out(table *t, place *p)
{
    const int64_t size = (int64_t)quern_dtype_size(p->dtype);
    const bool plain = draw(t, 2) == 0, odd = draw(t, 3) != 0;
    int order[NDIM] = {0, 1, 2, 3};
    int64_t step = size;
    p->at = odd ? draw(t, OFFSETS) * size : 0;
    if (!plain && draw(t, 3) == 0) {
        shuffle(t, order, p->ndim);
    }
    for (int k = p->ndim - 1; k >= 0; k--) {
        const int d = order[k];
        const bool back = !plain && draw(t, 5) == 0;
        step *= !plain && draw(t, 6) == 0 ? 1 + draw(t, 3) : 1;
        p->strides[d] = back ? -step : step;
        p->at += back ? step * (p->shape[d] - 1) : 0;
        step = step * p->shape[d] + (odd ? draw(t, 6) * size : 0);
    }
    p->room = p->at + size; /* nothing lies behind the last element */
    for (int d = 0; d < p->ndim; d++) {
        p->room += p->strides[d] > 0 ? p->strides[d] * (p->shape[d] - 1) : 0;
    }
}

static void make(table *t, place *p, quern_dtype dtype, int ndim, const int64_t *extents)
{
    *p = (place){.dtype = dtype, .ndim = ndim};
    memcpy(p->shape, extents, (size_t)ndim * sizeof *extents);
    lay_out(t, p);
    const size_t size = quern_dtype_size(dtype);
    p->host = malloc((size_t)p->room);
    for (int64_t k = 0; k + (int64_t)size <= p->room; k += (int64_t)size) {
        number_store(p->host + k, dtype, whole((int64_t)draw(t, dtype == QUERN_BOOL ? 2 : 50)));
    }
    memset(p->host + (size_t)p->room / size * size, 0, (size_t)p->room % size);
    check(quern_array_new(&p->bytes, t->engine, QUERN_UINT8, 1, &p->room), "bytes");
    check(quern_array_write(p->bytes, p->host, (size_t)p->room), "write");
    check(quern_array_wrap(&p->array, t->engine, dtype, ndim, p->shape, p->strides,
                           (char *)quern_array_pointer(p->bytes) + p->at, NULL, NULL),
          "wrap");
}

static void end_place(place *p)
{
    quern_array_release(p->array);
    quern_array_release(p->bytes);
    free(p->host);
}

/* ---- cases ---------------------------------------------------------------------------------- */

/* Some shapes are long along their first axis: for operands that disagree on the order of their
 * axes these have walks by tiles or boxes, by tiles in squares where they are long along both. */
static void draw_shape(table *t, int64_t *extents, int ndim, int64_t inner)
{
    const bool tall = ndim > 1 && inner < TALL / 8 && draw(t, 8) == 0;
    const bool square = ndim > 1 && inner > 128 && inner < TALL / 8 && draw(t, 4) == 0;
    for (int d = 0; d < ndim - 1; d++) {
        extents[d] = 1 + draw(t, inner > 1000 ? 3 : tall ? 2 : 5);
    }
    if (tall) {
        extents[0] = TALL / inner + draw(t, 70);
    }
    if (square) {
        extents[0] = SQUARE + draw(t, 70);
    }
    extents[ndim - 1] = inner;
}

/* An input: some axes of the shape may be 1. */
static void make_input(table *t, place *p, quern_dtype dtype, int ndim, const int64_t *extents)
{
    int64_t own[NDIM];
    const bool repeats = draw(t, 2) == 0;
    for (int d = 0; d < ndim; d++) {
        own[d] = repeats && draw(t, 3) == 0 ? 1 : extents[d];
    }
    make(t, p, dtype, ndim, own);
}

/* The sum on the host, in the type that C++ adds in: all numbers are small. */
static void add(place *z, const place *x, const place *y, const int64_t *extents)
{
    int64_t count = 1;
    for (int d = 0; d < z->ndim; d++) {
        count *= extents[d];
    }
    unsigned char *result = malloc((size_t)z->room);
    memcpy(result, z->host, (size_t)z->room);
    for (int64_t n = 0; n < count; n++) {
        number a = number_load(x->host + place_of(x, extents, n), x->dtype);
        number b = number_load(y->host + place_of(y, extents, n), y->dtype);
        number sum = {a.re + b.re, a.im + b.im, a.whole + b.whole};
        if (!integers(x->dtype) && x->dtype != QUERN_BOOL) {
            sum.whole = (int64_t)sum.re;
        } else {
            sum.re = (double)sum.whole;
        }
        number_store(result + place_of(z, extents, n), z->dtype, sum);
    }
    memcpy(z->host, result, (size_t)z->room);
    free(result);
}

static bool holds(const place *p)
{
    unsigned char *got = malloc((size_t)p->room);
    bool right = quern_array_read(p->bytes, got, (size_t)p->room) == QUERN_OK &&
                 memcmp(got, p->host, (size_t)p->room) == 0;
    free(got);
    return right;
}

static void complain(table *t, const place *const *places, const int64_t *extents)
{
    static const char *const names[] = {"x", "y", "z"};
    printf("FAILED: shape");
    for (int d = 0; d < places[0]->ndim; d++) {
        printf(" %lld", (long long)extents[d]);
    }
    for (int k = 0; k < 3; k++) {
        printf("; %s %s at %lld, strides", names[k], quern_dtype_name(places[k]->dtype),
               (long long)places[k]->at);
        for (int d = 0; d < places[k]->ndim; d++) {
            printf(" %lld", places[k]->shape[d] == 1 ? 0 : (long long)places[k]->strides[d]);
        }
    }
    printf(": %s\n", quern_last_error_text());
    t->rows.failed++;
}

static void run_case(table *t, quern_kernel *kernel, quern_dtype in, quern_dtype out, int64_t inner)
{
    const int ndim = 1 + (int)draw(t, inner > 1000 ? 3 : NDIM);
    int64_t extents[NDIM];
    place x, y, z;
    draw_shape(t, extents, ndim, inner);
    make_input(t, &x, in, ndim, extents);
    make(t, &z, out, ndim, extents);
    const bool in_place = in == out && draw(t, 4) == 0;
    if (in_place) {
        y = z;
    } else {
        make_input(t, &y, in, ndim, extents);
    }
    add(&z, &x, &y, extents);
    quern_status status =
        quern_call_n(kernel,
                     (quern_value[]){quern_value_array(x.array), quern_value_array(y.array),
                                     quern_value_array(z.array)},
                     3, NULL);
    if (status != QUERN_OK || !holds(&z)) {
        complain(t, (const place *const[]){&x, &y, &z}, extents);
    }
    end_place(&x);
    end_place(&z);
    if (!in_place) {
        end_place(&y);
    }
}

static void run_row(table *t, size_t pair, int64_t inner)
{
    char ins[64], outs[32];
    quern_kernel *kernel;
    snprintf(ins, sizeof ins, "%s x, %s y", quern_dtype_name(pairs[pair].in),
             quern_dtype_name(pairs[pair].in));
    snprintf(outs, sizeof outs, "%s z", quern_dtype_name(pairs[pair].out));
    const bool parts = complexes(pairs[pair].out) && !complexes(pairs[pair].in);
    check(quern_elementwise(&kernel, t->engine, ins, outs, parts ? "z = float(x + y)" : "z = x + y",
                            NULL),
          "kernel");
    t->seed = (unsigned)(pair * 100003 + (size_t)inner);
    for (int c = 0; c < CASES; c++) {
        run_case(t, kernel, pairs[pair].in, pairs[pair].out, inner);
    }
    quern_kernel_release(kernel);
}

int main(int argc, char **argv)
{
    table t = {.rows = rows_asked(argc, argv)};
    check(quern_open(&t.engine, NULL), "open");
    for (size_t p = 0; p < sizeof pairs / sizeof *pairs; p++) {
        for (size_t k = 0; k < SMALL + sizeof longer / sizeof *longer; k++) {
            if (rows_next(&t.rows)) {
                t.rows.run++;
                run_row(&t, p, k < SMALL ? (int64_t)k + 1 : longer[k - SMALL]);
            }
        }
    }
    quern_close(t.engine);
    return rows_report(&t.rows, "rows of walks");
}
