/* SPDX-License-Identifier: MIT
 *
 * views: every dtype seen as every other, assigned to every other, and copied in every order, over
 * layouts whose elements lie at any byte. In: `table_views [PART/PARTS]`, the device from
 * QUERN_DEVICE. Out: one line with how many rows were right, and one for each answer that was not;
 * status 1 if there was any.
 *
 * Every array is a view of bytes that the host has a copy of. What an array must hold the host
 * finds by address and strides that it computes itself, and NumPy's rules are written down here
 * once more.
 */
#include "table.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NDIM = 3, ROOM = 8192, MOST = 512, SIZE = 16, DTYPES = QUERN_FLOAT8_E5M2 };

typedef struct table {
    quern_engine *engine;
    rows rows;
    unsigned seed;
} table;

/* An array over bytes, as the host sees it: `at` is where element (0, ..., 0) lies. */
typedef struct place {
    quern_array *bytes, *array;
    unsigned char host[ROOM];
    quern_dtype dtype;
    int ndim;
    int64_t at, shape[NDIM], strides[NDIM];
} place;

static unsigned draw(table *t, unsigned below)
{
    t->seed = t->seed * 1664525u + 1013904223u;
    return (t->seed >> 8) % below;
}

/* ---- places --------------------------------------------------------------------------------- */

static void end_place(place *p)
{
    quern_array_release(p->array);
    quern_array_release(p->bytes);
}

static int64_t count_of(const place *p)
{
    int64_t count = 1;
    for (int d = 0; d < p->ndim; d++) {
        count *= p->shape[d];
    }
    return count;
}

/* Where the n-th element in C order lies. */
static int64_t place_of(const place *p, int64_t n)
{
    int64_t at = p->at;
    for (int d = p->ndim - 1; d >= 0; d--) {
        at += n % p->shape[d] * p->strides[d];
        n /= p->shape[d];
    }
    return at;
}

/* Wrap the bytes as the place says. */
static void wrap(table *t, place *p)
{
    check(quern_array_wrap(&p->array, t->engine, p->dtype, p->ndim, p->shape, p->strides,
                           (char *)quern_array_pointer(p->bytes) + p->at, NULL, NULL),
          "wrap");
}

/* Strides of the axes in some order, with gaps of any number of bytes, forwards or backwards. */
static void lay_out(table *t, place *p, bool gaps, bool backwards)
{
    int order[NDIM];
    int64_t step = (int64_t)quern_dtype_size(p->dtype);
    for (int d = 0; d < p->ndim; d++) {
        order[d] = d;
    }
    for (int d = p->ndim - 1; d > 0; d--) {
        int other = (int)draw(t, (unsigned)d + 1), axis = order[d];
        order[d] = order[other];
        order[other] = axis;
    }
    for (int d = p->ndim - 1; d >= 0; d--) {
        int axis = order[d];
        step += gaps ? draw(t, 4) : 0;
        bool back = backwards && draw(t, 2) == 0;
        p->strides[axis] = back ? -step : step;
        p->at += back ? step * (p->shape[axis] - 1) : 0;
        step *= p->shape[axis];
    }
}

/* Fill with numbers that every dtype holds. */
static void fill(table *t, place *p)
{
    for (int k = 0; k < ROOM; k++) {
        p->host[k] = (unsigned char)draw(t, 256);
    }
    for (int64_t n = 0; n < count_of(p); n++) {
        number v = whole((int64_t)draw(t, 4));
        v.im = draw(t, 3);
        number_store(p->host + place_of(p, n), p->dtype, v);
    }
    check(quern_array_write(p->bytes, p->host, ROOM), "write");
}

/* A place of `dtype` and a shape; `kind` chooses how wild it is. */
static void make(table *t, place *p, quern_dtype dtype, int ndim, const int64_t *extents, int kind)
{
    const int64_t room = ROOM;
    p->dtype = dtype;
    p->ndim = ndim;
    memcpy(p->shape, extents, (size_t)ndim * sizeof *extents);
    p->at = kind == 0 ? 0 : draw(t, 17);
    check(quern_array_new(&p->bytes, t->engine, QUERN_UINT8, 1, &room), "bytes");
    lay_out(t, p, kind == 2, kind == 2);
    if (kind == 0) {
        int64_t step = (int64_t)quern_dtype_size(dtype);
        for (int d = ndim - 1; d >= 0; d--) {
            p->strides[d] = step;
            step *= extents[d];
        }
    }
    fill(t, p);
    wrap(t, p);
}

/* ---- answers -------------------------------------------------------------------------------- */

static void complain(table *t, const char *what, const place *p, quern_dtype to)
{
    printf("FAILED: %s of %s, %s, at %lld, shape", what, quern_dtype_name(p->dtype),
           quern_dtype_name(to), (long long)p->at);
    for (int d = 0; d < p->ndim; d++) {
        printf(" %lld", (long long)p->shape[d]);
    }
    printf(", strides");
    for (int d = 0; d < p->ndim; d++) {
        printf(" %lld", (long long)p->strides[d]);
    }
    printf(": %s\n", quern_last_error_text());
    t->rows.failed++;
}

/* The elements of `array` are those that the host has at the place. A kernel that gathers bools
 * makes them 0 or 1. */
static bool holds(quern_array *array, const place *p)
{
    static unsigned char got[MOST * SIZE];
    const size_t size = quern_dtype_size(p->dtype), count = (size_t)count_of(p);
    if (quern_array_read(array, got, count * size) != QUERN_OK) {
        return false;
    }
    for (size_t n = 0; n < count; n++) {
        const unsigned char *is = got + n * size, *wanted = p->host + place_of(p, (int64_t)n);
        if (p->dtype == QUERN_BOOL ? !*is != !*wanted : memcmp(is, wanted, size) != 0) {
            return false;
        }
    }
    return true;
}

/* ---- views by dtype ------------------------------------------------------------------------- */

/* NumPy's rules: what the view is, or false where there is none. */
static bool seen_as(place *out, const place *p, quern_dtype dtype)
{
    const int64_t from = (int64_t)quern_dtype_size(p->dtype), to = (int64_t)quern_dtype_size(dtype);
    const int last = p->ndim - 1;
    *out = *p;
    out->dtype = dtype;
    if (from == to) {
        return true;
    }
    if (p->ndim == 0 || (p->shape[last] != 1 && count_of(p) != 0 && p->strides[last] != from)) {
        return false;
    }
    if ((to < from && from % to != 0) || p->shape[last] * from % to != 0) {
        return false;
    }
    out->shape[last] = p->shape[last] * from / to;
    out->strides[last] = to;
    return true;
}

static void run_view(table *t, quern_dtype from, quern_dtype to, int kind)
{
    static const int64_t shapes[][NDIM] = {{4, 2, 8}, {16, 0, 0}, {3, 5, 0}, {0, 0, 0}, {6, 1, 0}};
    static const int dims[] = {3, 1, 2, 0, 2};
    static place p, seen;
    for (size_t s = 0; s < sizeof dims / sizeof *dims; s++) {
        make(t, &p, from, dims[s], shapes[s], kind);
        const bool there = seen_as(&seen, &p, to);
        quern_array *view;
        quern_status status = quern_array_view(&view, p.array, to);
        bool right = there ? status == QUERN_OK && holds(view, &seen) &&
                                 quern_array_dtype(view) == to &&
                                 quern_array_count(view) == count_of(&seen)
                           : status == QUERN_ERROR_SHAPE;
        if (!right) {
            complain(t, there ? "a view" : "a view that is none", &p, to);
        }
        quern_array_release(view);
        end_place(&p);
    }
}

/* ---- copies with an order ------------------------------------------------------------------- */

/* NumPy's strides of a copy. */
static void copy_strides(int64_t *strides, const place *p, quern_order order)
{
    int axes[NDIM];
    int64_t step = (int64_t)quern_dtype_size(p->dtype), expected = step;
    bool contiguous = true;
    for (int d = p->ndim - 1; d >= 0; d--) {
        contiguous &= p->shape[d] == 1 || p->strides[d] == expected;
        expected *= p->shape[d];
    }
    for (int d = 0; d < p->ndim; d++) { /* outermost first */
        axes[d] = order == QUERN_ORDER_F ? p->ndim - 1 - d : d;
    }
    for (int pass = 0; pass < p->ndim && order == QUERN_ORDER_KEEP && !contiguous; pass++) {
        for (int d = 0; d + 1 < p->ndim; d++) {
            if (llabs(p->strides[axes[d]]) < llabs(p->strides[axes[d + 1]])) {
                int axis = axes[d];
                axes[d] = axes[d + 1];
                axes[d + 1] = axis;
            }
        }
    }
    for (int d = p->ndim - 1; d >= 0; d--) {
        strides[axes[d]] = step;
        step *= p->shape[axes[d]];
    }
}

static void run_copies(table *t, quern_dtype dtype, int kind)
{
    static const int64_t shapes[][NDIM] = {{4, 3, 5}, {7, 3, 0}, {9, 0, 0}, {1, 6, 1}};
    static const int dims[] = {3, 2, 1, 3};
    static place p;
    for (size_t s = 0; s < sizeof dims / sizeof *dims; s++) {
        make(t, &p, dtype, dims[s], shapes[s], kind);
        for (int order = QUERN_ORDER_C; order <= QUERN_ORDER_KEEP; order++) {
            int64_t strides[NDIM];
            quern_array *copy;
            copy_strides(strides, &p, (quern_order)order);
            bool right = quern_array_copy_order(&copy, p.array, (quern_order)order) == QUERN_OK &&
                         holds(copy, &p);
            for (int d = 0; d < p.ndim && right; d++) {
                right = p.shape[d] == 1 || quern_array_strides(copy)[d] == strides[d];
            }
            if (!right) {
                complain(t,
                         order == 0   ? "C order"
                         : order == 1 ? "F order"
                                      : "kept order",
                         &p, dtype);
            }
            quern_array_release(copy);
        }
        end_place(&p);
    }
}

/* ---- assignment ----------------------------------------------------------------------------- */

/* What a value of one dtype becomes in another. */
static number converted(number v, quern_dtype from, quern_dtype to)
{
    const bool parts = complexes(from);
    const double re = integers(from) || from == QUERN_BOOL ? (double)v.whole : v.re;
    if (to == QUERN_BOOL) {
        return whole(re != 0 || (parts && v.im != 0));
    }
    return (number){re, parts && complexes(to) ? v.im : 0, (int64_t)re};
}

/* The elements of `to` become those of `from`, broadcast: on the host. */
static void assign(place *to, const place *from, const unsigned char *before)
{
    for (int64_t n = 0; n < count_of(to); n++) {
        int64_t at = from->at, rest = n;
        for (int d = to->ndim - 1, f = from->ndim - 1; d >= 0; d--, f--) {
            at += f >= 0 && from->shape[f] != 1 ? rest % to->shape[d] * from->strides[f] : 0;
            rest /= to->shape[d];
        }
        if (from->dtype == to->dtype) {
            memcpy(to->host + place_of(to, n), before + at, quern_dtype_size(to->dtype));
        } else {
            number_store(to->host + place_of(to, n), to->dtype,
                         converted(number_load(before + at, from->dtype), from->dtype, to->dtype));
        }
    }
}

/* Every byte of the target's memory: what no element has must be as it was. */
static bool unharmed(const place *p)
{
    static unsigned char got[ROOM];
    return quern_array_read(p->bytes, got, ROOM) == QUERN_OK && memcmp(got, p->host, ROOM) == 0;
}

static void run_assignment(table *t, quern_dtype from, quern_dtype to, int kind)
{
    static const int64_t extents[NDIM] = {5, 3, 4};
    static const int64_t sources[][NDIM] = {{5, 3, 4}, {3, 1, 0}, {1, 0, 0}, {4, 0, 0}};
    static const int dims[] = {3, 2, 0, 1};
    static place target, source;
    const size_t s = draw(t, 4);
    make(t, &target, to, 3, extents, kind);
    make(t, &source, from, dims[s], sources[s], (int)draw(t, 3));
    quern_status status = quern_array_assign(target.array, source.array);
    assign(&target, &source, source.host);
    if (status != QUERN_OK || !unharmed(&target)) {
        complain(t, "assigned to", &target, from);
    }
    end_place(&target);
    end_place(&source);
}

/* Both are views of the same bytes, some elements apart. */
static void run_overlap(table *t, quern_dtype from, quern_dtype to)
{
    static place target, source;
    static unsigned char before[ROOM];
    const int64_t extents[] = {40};
    make(t, &target, to, 1, extents, 0);
    source = target;
    source.dtype = from;
    target.at = draw(t, 2) * 24 + 8 * (int64_t)quern_dtype_size(to);
    source.strides[0] = (int64_t)quern_dtype_size(from);
    source.at = source.strides[0] * (int64_t)draw(t, 16);
    fill(t, &source);
    memcpy(before, source.host, ROOM);
    memcpy(target.host, source.host, ROOM);
    quern_array_release(target.array);
    wrap(t, &source);
    wrap(t, &target);
    quern_status status = quern_array_assign(target.array, source.array);
    assign(&target, &source, before);
    if (status != QUERN_OK || !unharmed(&target)) {
        complain(t, "assigned, overlapping, to", &target, from);
    }
    quern_array_release(source.array);
    end_place(&target);
}

/* ---- kernels -------------------------------------------------------------------------------- */

/* y = x, a maximum, a running last element and raw inputs, of elements that lie anywhere. */
static void run_kernels(table *t, quern_dtype dtype, int kind)
{
    static place x, y;
    static const int64_t extents[] = {6, 33};
    static const char *const texts[] = {"y = x", "y = x[i]"};
    for (int raw = 0; raw < 2; raw++) {
        quern_kernel *kernel;
        make(t, &x, dtype, 2, extents, kind);
        make(t, &y, dtype, 2, extents, raw ? 0 : 1 + (int)draw(t, 2));
        check(
            quern_elementwise(&kernel, t->engine, raw ? "raw T x" : "T x", "T y", texts[raw], NULL),
            "kernel");
        quern_status status = quern_call_n(
            kernel, (quern_value[]){quern_value_array(x.array), quern_value_array(y.array)}, 2,
            NULL);
        assign(&y, &x, x.host);
        if (status != QUERN_OK || !(dtype == QUERN_BOOL || unharmed(&y))) {
            complain(t, texts[raw], &x, dtype);
        }
        quern_kernel_release(kernel);
        end_place(&x);
        end_place(&y);
    }
}

static void run_folds(table *t, quern_dtype dtype, int kind)
{
    static place x, y;
    static const int64_t extents[] = {6, 33};
    for (int scan = 0; scan < 2; scan++) {
        quern_kernel *kernel;
        const int axis = (int)draw(t, 2);
        make(t, &x, dtype, 2, extents, kind);
        make(t, &y, dtype, scan ? 2 : 1, scan ? extents : &extents[1 - axis], 1 + (int)draw(t, 2));
        check(scan ? quern_scan(&kernel, t->engine, "T x", "T y", "x", "b", "y = a", NULL, NULL)
                   : quern_reduction(&kernel, t->engine, "T x", "T y", "x", "b", "y = a", NULL,
                                     &(quern_reduction_options){
                                         .size = sizeof(quern_reduction_options), .ordered = 1}),
              "fold");
        quern_call_options options = QUERN_CALL_OPTIONS_INIT;
        options.axes = &axis;
        options.axis_count = 1;
        quern_status status = quern_call_n(
            kernel, (quern_value[]){quern_value_array(x.array), quern_value_array(y.array)}, 2,
            &options);
        place last = x; /* a reduction keeps the last element along the axis */
        if (!scan) {
            last.at += x.strides[axis] * (x.shape[axis] - 1);
            last.ndim = 1;
            last.shape[0] = x.shape[1 - axis];
            last.strides[0] = x.strides[1 - axis];
        }
        assign(&y, &last, x.host);
        if (status != QUERN_OK || !(dtype == QUERN_BOOL || unharmed(&y))) {
            complain(t, scan ? "a scan" : "a reduction", &x, dtype);
        }
        quern_kernel_release(kernel);
        end_place(&x);
        end_place(&y);
    }
}

/* ---- all ------------------------------------------------------------------------------------ */

int main(int argc, char **argv)
{
    table t = {.rows = rows_asked(argc, argv)};
    check(quern_open(&t.engine, NULL), "open");
    for (int d = QUERN_BOOL; d <= DTYPES; d++) {
        for (int e = QUERN_BOOL; e <= DTYPES; e++) {
            for (int kind = 0; kind < 3; kind++) {
                t.seed = (unsigned)(d * 1000 + e * 10 + kind);
                if (!rows_next(&t.rows)) {
                    continue;
                }
                t.rows.run++;
                run_view(&t, (quern_dtype)d, (quern_dtype)e, kind);
                run_assignment(&t, (quern_dtype)d, (quern_dtype)e, kind);
                run_overlap(&t, (quern_dtype)d, (quern_dtype)e);
            }
        }
        for (int kind = 0; kind < 3; kind++) {
            t.seed = (unsigned)(d * 10 + kind);
            if (rows_next(&t.rows)) {
                t.rows.run++;
                run_copies(&t, (quern_dtype)d, kind);
                run_kernels(&t, (quern_dtype)d, kind);
                run_folds(&t, (quern_dtype)d, kind);
            }
        }
    }
    quern_close(t.engine);
    return rows_report(&t.rows, "rows of views");
}
