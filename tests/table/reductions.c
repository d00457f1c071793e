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

/* How many pairs of operator and dtype each layout and set of axes meets. */
enum { PAIRS_OF_A_LAYOUT = 2 };

typedef struct pair {
    const reduction *op;
    quern_dtype dtype;
    quern_kernel *kernel;
} pair;

typedef struct table {
    quern_engine *engine;
    pair *pairs;
    size_t pair_count;
    rows rows;
} table;

static quern_kernel *define(quern_engine *engine, const reduction *op)
{
    quern_kernel *kernel;
    quern_reduction_options options = QUERN_REDUCTION_OPTIONS_INIT;
    options.reduce_type = op->reduce_type;
    options.preamble = op->preamble;
    options.ordered = op->ordered;
    check(quern_reduction(&kernel, engine, "T x", op->out, op->map, op->reduce, op->post,
                          op->identity, &options),
          op->name);
    return kernel;
}

static void list_pairs(table *t)
{
    t->pairs = calloc(table_reduction_count * (QUERN_FLOAT8_E5M2 + 1), sizeof *t->pairs);
    for (size_t o = 0; o < table_reduction_count; o++) {
        const reduction *op = &table_reductions[o];
        quern_kernel *kernel = define(t->engine, op);
        for (quern_dtype d = QUERN_BOOL; d <= QUERN_FLOAT8_E5M2; d++) {
            if (op->takes(d)) {
                t->pairs[t->pair_count++] = (pair){op, d, quern_kernel_retain(kernel)};
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
    unsigned axes; /* bit k: axis k is reduced */
    bool keepdims;
    int64_t outputs, length;
    int output_count; /* that the operator has */
} row;

static void complain(const row *r, const char *what)
{
    rows_complain(what, r->pair->op->name, r->pair->dtype, r->input, r->shape, r->axes);
}

static state fold_on_host(const row *r, int64_t output)
{
    state s = {0};
    int64_t at[TABLE_NDIM] = {0};
    shape_position(r->shape, ~r->axes, output, at);
    for (int d = r->shape->ndim - 1; d >= 0 && r->outputs > 1; d--) {
        s.kept = r->axes >> d & 1 ? s.kept : at[d];
    }
    for (int64_t j = 0; j < r->length; j++) {
        shape_position(r->shape, r->axes, j, at);
        element e = {layout_at(r->input, at), j, at, r->shape->ndim};
        r->pair->op->step(&s, &e);
    }
    return s;
}

/* Call into new arrays and bring them to the host. */
static void call(const row *r, unsigned char *out[2])
{
    quern_array *arrays[2] = {NULL, NULL};
    const char *name = r->pair->op->name;
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
    check(quern_call_n(r->pair->kernel, values, 1 + (size_t)r->output_count, &options), name);
    for (int o = 0; o < r->output_count; o++) {
        size_t bytes = (size_t)r->outputs * quern_dtype_size(quern_array_dtype(arrays[o]));
        if (quern_array_count(arrays[o]) != r->outputs) {
            complain(r, "shape of the output");
            exit(1);
        }
        out[o] = malloc(bytes + 1);
        check(quern_array_read(arrays[o], out[o], bytes), name);
        quern_array_release(arrays[o]);
    }
}

static bool run_row(const row *r)
{
    const reduction *op = r->pair->op;
    double reach = op->tolerance * (1 + sqrt((double)r->length));
    unsigned char *once[2], *again[2];
    bool right = true, same = true;
    call(r, once);
    call(r, again);
    for (int64_t n = 0; n < r->outputs && right; n++) {
        state s = fold_on_host(r, n);
        for (int o = 0; o < r->output_count; o++) {
            quern_dtype dtype = output_dtype(op->out, o, r->pair->dtype);
            right &= number_is(once[o] + (size_t)n * quern_dtype_size(dtype), dtype,
                               op->finish[o](&s), reach);
        }
    }
    for (int o = 0; o < r->output_count; o++) {
        size_t size = quern_dtype_size(output_dtype(op->out, o, r->pair->dtype));
        same &= memcmp(once[o], again[o], (size_t)r->outputs * size) == 0;
        free(once[o]);
        free(again[o]);
    }
    if (!right || !same) {
        complain(r, right ? "second run" : "value");
    }
    return right && same;
}

/* ---- all rows ------------------------------------------------------------------------------- */

/* The layout's input in the dtype of `p`, reduced over `axes`. */
static void try_row(table *t, const pair *p, const shape *s, int view, unsigned axes)
{
    row r = {.pair = p,
             .shape = s,
             .axes = axes,
             .keepdims = t->rows.seen % 3 == 0,
             .outputs = shape_count(s, ~axes),
             .length = shape_count(s, axes),
             .output_count = p->op->finish[1] ? 2 : 1};
    bool nothing = r.length == 0 && r.outputs != 0 && !p->op->identity;
    bool no_axes = strstr(p->op->map, "_in_ind") && s->ndim == 0;
    layout_input input;
    if (nothing || no_axes || !rows_next(&t->rows) ||
        !layout_make(&input, t->engine, p->dtype, s, view, (unsigned)t->rows.seen)) {
        return;
    }
    r.input = &input;
    t->rows.run++;
    t->rows.failed += !run_row(&r);
    layout_free(&input);
}

int main(int argc, char **argv)
{
    static table t;
    t.rows = rows_asked(argc, argv);
    check(quern_open(&t.engine, NULL), "open");
    list_pairs(&t);
    size_t next = 0;
    const size_t stride = rows_stride(t.pair_count);
    for (size_t s = 0; s < table_shape_count; s++) {
        const shape *of = &table_shapes[s];
        for (int view = 0; view < TABLE_VIEWS; view++) {
            for (unsigned axes = 0; axes < 1u << of->ndim; axes++) {
                for (int k = 0; k < PAIRS_OF_A_LAYOUT; k++, next += stride) {
                    try_row(&t, &t.pairs[next % t.pair_count], of, view, axes);
                }
            }
        }
    }
    for (size_t p = 0; p < t.pair_count; p++) {
        quern_kernel_release(t.pairs[p].kernel);
    }
    free(t.pairs);
    quern_close(t.engine);
    return rows_report(&t.rows, "reductions");
}
