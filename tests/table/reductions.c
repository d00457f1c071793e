/* SPDX-License-Identifier: MIT
 *
 * reductions: the table, row by row. In: `table_reductions [PART/PARTS]`, the device from
 * QUERN_DEVICE. Out: one line with how many rows were right, and one for each that was not; status
 * 1 if there was any. Each call is made twice, and its bits must be equal.
 */
#include "table.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROWS_OF_A_LAYOUT                                                                           \
    2 /**< pairs of operator and dtype that each layout and set of axes meets */
#define MAX_PAIRS 256

typedef struct pair {
    const operator* op;
    quern_dtype dtype;
    quern_kernel *kernel;
} pair;

typedef struct table {
    quern_engine *engine;
    pair pairs[MAX_PAIRS];
    size_t pair_count;
    long part, parts;
    long rows, run, failed;
} table;

static quern_kernel *define(quern_engine *engine, const operator* op)
{
    quern_kernel *kernel;
    quern_reduction_options options = QUERN_REDUCTION_OPTIONS_INIT;
    options.reduce_type = op->reduce_type;
    options.preamble = op->preamble;
    options.ordered = op->ordered;
    check(quern_reduction(&kernel, engine, op->in, op->out, op->map, op->reduce, op->post,
                          op->identity, &options),
          op->name);
    return kernel;
}

static void list_pairs(table *t)
{
    for (size_t o = 0; o < table_operator_count; o++) {
        quern_kernel *kernel = define(t->engine, &table_operators[o]);
        for (quern_dtype d = QUERN_BOOL; d <= QUERN_COMPLEX128; d++) {
            if (table_operators[o].takes(d)) {
                t->pairs[t->pair_count++] =
                    (pair){&table_operators[o], d, quern_kernel_retain(kernel)};
            }
        }
        quern_kernel_release(kernel);
    }
}

/* ---- one row -------------------------------------------------------------------------------- */

typedef struct row {
    const pair *pair;
    const layout_input *input;
    const shape *shape;
    unsigned axes; /**< bit k: axis k is reduced */
    bool keepdims;
    int64_t outputs, length;
} row;

static void describe(const row *r, const char *what)
{
    printf("FAILED %s: %s %s, %s, shape (", what, r->pair->op->name,
           quern_dtype_name(r->pair->dtype), r->input->name);
    for (int d = 0; d < r->shape->ndim; d++) {
        printf("%s%lld%s", d == 0 ? "" : ", ", (long long)r->shape->extent[d],
               r->axes >> d & 1 ? "*" : "");
    }
    printf(")%s\n", r->keepdims ? ", keepdims" : "");
}

/** Position `n` over those axes whose bit of `axes` is `bit`, into `at`. */
static void unravel(const shape *s, unsigned axes, unsigned bit, int64_t n, int64_t *at)
{
    for (int d = s->ndim - 1; d >= 0; d--) {
        if ((axes >> d & 1) == bit) {
            at[d] = n % s->extent[d];
            n /= s->extent[d];
        }
    }
}

static void fold_on_host(const row *r, int64_t output, number *expected)
{
    state s = {0};
    int64_t at[TABLE_NDIM] = {0}, kept = 0;
    unravel(r->shape, r->axes, 0, output, at);
    for (int d = r->shape->ndim - 1; d >= 0; d--) {
        kept = r->axes >> d & 1 ? kept : at[d];
    }
    for (int64_t j = 0; j < r->length; j++) {
        unravel(r->shape, r->axes, 1, j, at);
        element e = {layout_at(r->input, at), j, at, r->shape->ndim};
        r->pair->op->step(&s, &e);
    }
    r->pair->op->finish(expected, &s, r->outputs > 1 ? kept : 0);
}

static bool is_right(const row *r, const void *got, quern_dtype dtype, number expected)
{
    unsigned char bytes[16];
    if (r->pair->op->tolerance == 0) {
        number_store(bytes, dtype, expected);
        return memcmp(bytes, got, quern_dtype_size(dtype)) == 0;
    }
    double reach = r->pair->op->tolerance * (1 + sqrt((double)r->length));
    return fabs(number_load(got, dtype).re - expected.re) <= reach * (1 + fabs(expected.re));
}

/** Call into new arrays and bring them to the host. */
static void call(const row *r, unsigned char *out[2])
{
    quern_array *arrays[2] = {NULL, NULL};
    const operator* op = r->pair->op;
    quern_value values[3] = {quern_value_array(r->input->view), quern_value_output(&arrays[0]),
                             quern_value_output(&arrays[1])};
    int axes[TABLE_NDIM];
    quern_call_options options = QUERN_CALL_OPTIONS_INIT;
    options.axes = axes;
    options.keepdims = r->keepdims;
    for (int d = 0; d < r->shape->ndim; d++) {
        if (r->axes >> d & 1) { /* every other one counted from the end */
            axes[options.axis_count++] = d % 2 == 0 ? d : d - r->shape->ndim;
        }
    }
    check(quern_call_n(r->pair->kernel, values, 1 + (size_t)op->outputs, &options), op->name);
    for (int o = 0; o < op->outputs; o++) {
        size_t bytes = (size_t)r->outputs * quern_dtype_size(quern_array_dtype(arrays[o]));
        if (quern_array_count(arrays[o]) != r->outputs) {
            describe(r, "shape of the output");
            exit(1);
        }
        out[o] = malloc(bytes + 1);
        check(quern_array_read(arrays[o], out[o], bytes), op->name);
        quern_array_release(arrays[o]);
    }
}

static bool run_row(const row *r)
{
    const operator* op = r->pair->op;
    quern_dtype dtype = op->output != QUERN_DTYPE_NONE ? op->output : r->pair->dtype;
    size_t size = quern_dtype_size(dtype);
    unsigned char *once[2], *again[2];
    bool right = true, same = true;
    call(r, once);
    call(r, again);
    for (int64_t n = 0; n < r->outputs && right; n++) {
        number expected[2];
        fold_on_host(r, n, expected);
        for (int o = 0; o < op->outputs; o++) {
            right &= is_right(r, once[o] + (size_t)n * size, dtype, expected[o]);
        }
    }
    for (int o = 0; o < op->outputs; o++) {
        same &= memcmp(once[o], again[o], (size_t)r->outputs * size) == 0;
        free(once[o]);
        free(again[o]);
    }
    if (!right || !same) {
        describe(r, right ? "second run" : "value");
    }
    return right && same;
}

/* ---- all rows ------------------------------------------------------------------------------- */

/** The layout's input in the dtype of `p`, reduced over `axes`. */
static void try_row(table *t, const pair *p, const shape *s, int view, unsigned axes)
{
    row r = {.pair = p,
             .shape = s,
             .axes = axes,
             .keepdims = t->rows % 3 == 0,
             .outputs = 1,
             .length = 1};
    for (int d = 0; d < s->ndim; d++) {
        *(axes >> d & 1 ? &r.length : &r.outputs) *= s->extent[d];
    }
    bool nothing = r.length == 0 && r.outputs != 0 && p->op->identity == NULL;
    bool no_axes = strstr(p->op->map, "_in_ind") != NULL && s->ndim == 0;
    layout_input input;
    if (nothing || no_axes || t->rows++ % t->parts != t->part ||
        !layout_make(&input, t->engine, p->dtype, s, view, (unsigned)t->rows)) {
        return;
    }
    r.input = &input;
    t->run++;
    t->failed += !run_row(&r);
    layout_free(&input);
}

int main(int argc, char **argv)
{
    static table t = {.parts = 1};
    if (argc > 1 && (sscanf(argv[1], "%ld/%ld", &t.part, &t.parts) != 2 || t.part-- < 1)) {
        fprintf(stderr, "usage: table_reductions [PART/PARTS]\n");
        return 2;
    }
    check(quern_open(&t.engine, NULL), "open");
    list_pairs(&t);
    size_t next = 0;
    for (size_t s = 0; s < table_shape_count; s++) {
        const shape *of = &table_shapes[s];
        for (int view = 0; view < TABLE_VIEWS; view++) {
            for (unsigned axes = 0; axes < 1u << of->ndim; axes++) {
                for (int k = 0; k < ROWS_OF_A_LAYOUT; k++, next += 7) {
                    try_row(&t, &t.pairs[next % t.pair_count], of, view, axes);
                }
            }
        }
    }
    printf("%ld reductions, %ld failed\n", t.run, t.failed);
    for (size_t p = 0; p < t.pair_count; p++) {
        quern_kernel_release(t.pairs[p].kernel);
    }
    quern_close(t.engine);
    return t.failed != 0;
}
