/* SPDX-License-Identifier: MIT
 *
 * scans: the table of scans, row by row. In: `table_scans [PART/PARTS]`, the device from
 * QUERN_DEVICE. Out: one line with how many rows were right, and one for each that was not; status
 * 1 if there was any. Each call is made twice, and its bits must be equal; then once more into an
 * output that is the input itself, or a view that runs backwards.
 */
#include "table.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- operators ------------------------------------------------------------------------------ */

/* The value before an element while a row is scanned on the host. */
typedef struct front {
    element at; /* the element itself */
    bool some;
    number sum;
    double best;
    int64_t best_at;
    uint64_t factor;
    uint32_t matrix[4];
    unsigned char map[16];
} front;

typedef struct scan_operator {
    const char *name;
    bool (*takes)(quern_dtype dtype);
    const char *out, *map, *scan, *post, *identity; /* the input is T x */
    const char *scan_type, *preamble;
    bool exclusive;
    int64_t from; /* where a sum starts: its identity */
    void (*step)(front *f, number x);
    number (*value)(const front *f);
    double tolerance; /* relative; 0: equal bits */
} scan_operator;

static front begin(const scan_operator *op)
{
    front f = {.sum = whole(op->from), .factor = 1, .matrix = {1, 0, 0, 1}};
    for (int k = 0; k < 16; k++) {
        f.map[k] = (unsigned char)k;
    }
    return f;
}

static void step_sum(front *f, number x)
{
    f->sum.re += x.re;
    f->sum.im += x.im;
    f->sum.whole += x.whole;
}

static void step_third(front *f, number x)
{
    f->sum.re += x.re / 3;
}

static void step_best(front *f, number x)
{
    f->best = f->some ? fmax(f->best, x.re) : x.re;
    f->some = true;
}

static void step_place(front *f, number x)
{
    f->best_at = f->some && x.re <= f->best ? f->best_at : f->at.j;
    step_best(f, x);
}

static void step_factor(front *f, number x)
{
    f->factor *= 2 * (uint64_t)x.whole + 1;
}

static void step_matrix(front *f, number x)
{
    const uint32_t *a = f->matrix, v = (uint32_t)x.whole, b[4] = {v + 1, v, 1, 2 * v + 3};
    const uint32_t c[4] = {a[0] * b[0] + a[1] * b[2], a[0] * b[1] + a[1] * b[3],
                           a[2] * b[0] + a[3] * b[2], a[2] * b[1] + a[3] * b[3]};
    memcpy(f->matrix, c, sizeof c);
}

/* Composition with a map of 16 points to themselves that is not a permutation. */
static void step_map(front *f, number x)
{
    unsigned char next[16];
    for (int k = 0; k < 16; k++) {
        unsigned at = f->map[k], turn = (unsigned)x.whole;
        next[k] = (unsigned char)(at == (turn & 15) ? (at * 7) & 15 : (at + turn * 3) & 15);
    }
    memcpy(f->map, next, sizeof next);
}

static number value_sum(const front *f)
{
    return f->sum;
}

static number value_best(const front *f)
{
    return whole((int64_t)f->best);
}

static number value_place(const front *f)
{
    return whole(f->best_at);
}

static number value_factor(const front *f)
{
    return whole((int64_t)f->factor);
}

static number value_matrix(const front *f)
{
    return whole(f->matrix[0] + 3 * f->matrix[1] + 5 * f->matrix[2] + 7 * f->matrix[3]);
}

static number value_map(const front *f)
{
    return whole(f->map[3] * 256 + f->map[0] * 16 + f->map[11]);
}

static number value_places(const front *f)
{
    const element *e = &f->at;
    return whole((int64_t)f->sum.re + 7 * e->j + 11 * (int64_t)e->x.re + 13 * e->in_at[0] +
                 17 * e->in_at[e->ndim - 1]);
}

#define MATRIX                                                                                     \
    "struct matrix { unsigned a, b, c, d; };\n"                                                    \
    "__device__ matrix by(matrix x, matrix y) { return {x.a * y.a + x.b * y.c, x.a * y.b + "       \
    "x.b * y.d, x.c * y.a + x.d * y.c, x.c * y.b + x.d * y.d}; }\n"
#define MATRIX_MAP  "unsigned v = (unsigned)x; return matrix{v + 1, v, 1, 2 * v + 3};"
#define MATRIX_POST "y = a.a + 3 * a.b + 5 * a.c + 7 * a.d"
#define POINTS                                                                                     \
    "struct points { unsigned to[16]; };\n"                                                        \
    "__device__ points then(const points &a, const points &b) {\n"                                 \
    "  points c; for (int k = 0; k < 16; k++) c.to[k] = b.to[a.to[k]]; return c; }\n"              \
    "__device__ points turned(unsigned v) {\n"                                                     \
    "  points c; for (unsigned k = 0; k < 16; k++)\n"                                              \
    "    c.to[k] = k == (v & 15) ? (k * 7) & 15 : (k + v * 3) & 15;\n"                             \
    "  return c; }\n"                                                                              \
    "__device__ points same() { points c; for (unsigned k = 0; k < 16; k++) c.to[k] = k; return "  \
    "c; }\n"

#define BEST                                                                                       \
    "struct best { T v; short at; };\n"                                                            \
    "__device__ best better(best a, best b) { return a.v < b.v ? b : a; }\n"
#define POINTS_MAP  "turned((unsigned)x)"
#define POINTS_POST "y = a.to[3] * 256 + a.to[0] * 16 + a.to[11]"

/* clang-format off: a row reads as a command line */
static const scan_operator operators[] = {
    {"sum", any_number, "T y", "x", "a + b", "y = a", .step = step_sum, .value = value_sum},
    {"sum before, from 5", any_number, "T y", "x", "a + b", "y = a", "5", .exclusive = true,
     .from = 5, .step = step_sum, .value = value_sum},
    {"sum in float", halves, "T y", "x", "a + b", "y = a", "5", .scan_type = "float", .from = 5,
     .step = step_sum, .value = value_sum},
    {"sum of thirds", wide_floats, "T y", "x / 3", "a + b", "y = a", .scan_type = "T",
     .step = step_third, .value = value_sum, .tolerance = 3e-6},
    {"maximum", any_ordered, "T y", "x", "max(a, b)", "y = a", .step = step_best,
     .value = value_best},
    {"maximum as float8", any_ordered, "float8_e5m2 y", "x", "max(a, b)", "y = a", .scan_type = "T",
     .step = step_best, .value = value_best},
    {"sum as float8", any_real, "float8_e4m3fn y", "x", "a + b", "y = a", .scan_type = "float",
     .step = step_sum, .value = value_sum},
    {"sum as float16", any_real, "float16 y", "x", "a + b", "y = a", "0", .scan_type = "float",
     .exclusive = true, .step = step_sum, .value = value_sum},
    {"sum of halves in double", halves, "float64 y", "x", "a + b", "y = a", .step = step_sum,
     .value = value_sum},
    {"place of the maximum", any_ordered, "int16 y", "best{x, (short)_J}", "better(a, b)",
     "y = a.at", .scan_type = "best", .preamble = BEST, .step = step_place, .value = value_place},
    {"product", integers, "T y", "x * 2 + 1", "a * b", "y = a", "1", .exclusive = true,
     .step = step_factor, .value = value_factor},
    {"product of matrices", integers, "uint32 y", MATRIX_MAP, "by(a, b)", MATRIX_POST,
     .scan_type = "matrix", .preamble = MATRIX, .step = step_matrix, .value = value_matrix},
    {"product of matrices before", integers, "uint32 y", MATRIX_MAP, "by(a, b)", MATRIX_POST,
     "matrix{1, 0, 0, 1}", .scan_type = "matrix", .preamble = MATRIX, .exclusive = true,
     .step = step_matrix, .value = value_matrix},
    {"composition", integers, "int32 y", POINTS_MAP, "then(a, b)", POINTS_POST,
     .scan_type = "points", .preamble = POINTS, .step = step_map, .value = value_map},
    {"composition before", integers, "int32 y", POINTS_MAP, "then(a, b)", POINTS_POST, "same()",
     .scan_type = "points", .preamble = POINTS, .exclusive = true, .step = step_map,
     .value = value_map},
    {"places", any_ordered, "int64 y", "(long long)x", "a + b",
     "y = a + 7 * _J + 11 * (long long)x + 13 * _in_ind.get()[0] + 17 * _in_ind.get()[NDIM - 1]",
     .step = step_sum, .value = value_places},
};
/* clang-format on */

/* ---- one row -------------------------------------------------------------------------------- */

typedef struct row {
    const scan_operator *op;
    quern_kernel *kernel;
    const layout_input *input;
    const shape *shape;
    int axis;      /* -1: all elements in C order */
    unsigned axes; /* the same as a set */
    quern_dtype dtype, output;
    int64_t count;
} row;

/* Call into `*array`, made where it is NULL, and bring it to the host. */
static unsigned char *call(const row *r, quern_array **array)
{
    quern_value values[2] = {quern_value_array(r->input->view), quern_value_output(array)};
    quern_call_options options = QUERN_CALL_OPTIONS_INIT;
    options.axes = r->axis < 0 ? NULL : &r->axis;
    options.axis_count = r->axis < 0 ? 0 : 1;
    check(quern_call_n(r->kernel, values, 2, &options), r->op->name);
    size_t bytes = (size_t)r->count * quern_dtype_size(r->output);
    unsigned char *host = malloc(bytes + 1);
    check(quern_array_read(*array, host, bytes), r->op->name);
    return host;
}

/* An output that runs backwards along all axes, with gaps. */
static quern_array *backwards(const row *r, quern_engine *engine)
{
    int64_t extent[TABLE_NDIM];
    quern_slice slices[TABLE_NDIM];
    quern_array *base, *view;
    for (int d = 0; d < r->shape->ndim; d++) {
        int64_t n = r->shape->extent[d];
        extent[d] = 2 * n + 1;
        slices[d] = (quern_slice){2 * n - 1, n == 0 ? 2 * n - 1 : 0, -2};
    }
    check(quern_array_new(&base, engine, r->output, r->shape->ndim, extent), "array");
    check(quern_array_slice(&view, base, r->shape->ndim, slices), "slice");
    quern_array_release(base);
    return view;
}

/* Scan the n-th row on the host, and compare `got` with it. */
static bool row_is_right(const row *r, int64_t n, int64_t length, const unsigned char *got)
{
    const shape *s = r->shape;
    int64_t at[TABLE_NDIM] = {0};
    double reach = r->op->tolerance * sqrt((double)r->count);
    front f = begin(r->op);
    bool right = true;
    shape_position(s, ~r->axes, n, at);
    for (int64_t j = 0; j < length && right; j++) {
        int64_t place = 0;
        shape_position(s, r->axes, j, at);
        for (int d = 0; d < s->ndim; d++) {
            place = place * s->extent[d] + at[d];
        }
        f.at = (element){layout_at(r->input, at), j, at, s->ndim};
        front before = f;
        r->op->step(&f, f.at.x);
        right = number_is(got + (size_t)place * quern_dtype_size(r->output), r->output,
                          r->op->value(r->op->exclusive ? &before : &f), reach);
    }
    return right;
}

static bool is_right(const row *r, const unsigned char *got)
{
    int64_t length = shape_count(r->shape, r->axes);
    bool right = true;
    for (int64_t n = 0; length > 0 && n < r->count / length && right; n++) {
        right = row_is_right(r, n, length, got);
    }
    return right;
}

/* If there is one right answer, a third call has another output: the input itself if that was asked
 * for and is possible, else one that runs backwards. */
static bool run_row(const row *r, quern_engine *engine, bool in_place)
{
    size_t bytes = (size_t)r->count * quern_dtype_size(r->output);
    quern_array *once = NULL, *again = NULL, *other = NULL;
    unsigned char *first = call(r, &once), *second = call(r, &again);
    const char *wrong = !is_right(r, first)                 ? "value"
                        : memcmp(first, second, bytes) != 0 ? "second run"
                                                            : NULL;
    in_place &= r->output == r->dtype && strcmp(r->input->name, "repeated") != 0;
    if (r->op->tolerance == 0) {
        other = in_place ? quern_array_retain(r->input->view) : backwards(r, engine);
        unsigned char *third = call(r, &other);
        if (!wrong && memcmp(first, third, bytes) != 0) {
            wrong = in_place ? "in place" : "output that runs backwards";
        }
        free(third);
    }
    if (wrong) {
        rows_complain(wrong, r->op->name, r->dtype, r->input, r->shape, r->axes);
    }
    quern_array_release(once);
    quern_array_release(again);
    quern_array_release(other);
    free(first);
    free(second);
    return !wrong;
}

/* ---- all rows ------------------------------------------------------------------------------- */

typedef struct pair {
    const scan_operator *op;
    quern_dtype dtype;
} pair;

typedef struct table {
    quern_engine *engine;
    pair *pairs;
    size_t pair_count;
    rows rows;
} table;

static quern_kernel *define(quern_engine *engine, const scan_operator *op, int ndim)
{
    char ndim_option[32];
    const char *list[] = {ndim_option};
    snprintf(ndim_option, sizeof ndim_option, "-DNDIM=%d", ndim);
    quern_kernel *kernel;
    quern_scan_options options = QUERN_SCAN_OPTIONS_INIT;
    options.scan_type = op->scan_type;
    options.preamble = op->preamble;
    options.exclusive = op->exclusive;
    options.options = list;
    options.option_count = strstr(op->post, "NDIM") != NULL;
    check(quern_scan(&kernel, engine, "T x", op->out, op->map, op->scan, op->post, op->identity,
                     &options),
          op->name);
    return kernel;
}

static void list_pairs(table *t)
{
    const size_t count = sizeof operators / sizeof *operators;
    t->pairs = calloc(count * (QUERN_FLOAT8_E5M2 + 1), sizeof *t->pairs);
    for (size_t o = 0; o < count; o++) {
        for (quern_dtype d = QUERN_BOOL; d <= QUERN_FLOAT8_E5M2; d++) {
            if (operators[o].takes(d)) {
                t->pairs[t->pair_count++] = (pair){&operators[o], d};
            }
        }
    }
}

static void try_row(table *t, const pair *p, const shape *s, int view, int axis)
{
    const scan_operator *op = p->op;
    row r = {.op = op,
             .shape = s,
             .axis = axis,
             .axes = axis < 0 ? ~0u : 1u << axis,
             .dtype = p->dtype,
             .output = output_dtype(op->out, 0, p->dtype),
             .count = shape_count(s, ~0u)};
    bool no_axes = strstr(op->post, "_in_ind") && s->ndim == 0;
    layout_input input;
    if (no_axes || !rows_next(&t->rows) ||
        !layout_make(&input, t->engine, r.dtype, s, view, (unsigned)t->rows.seen)) {
        return;
    }
    r.input = &input;
    r.kernel = define(t->engine, op, s->ndim);
    t->rows.failed += !run_row(&r, t->engine, t->rows.run++ % 2 == 0);
    quern_kernel_release(r.kernel);
    layout_free(&input);
}

/* Rows and columns of every length up to LONGEST: with each a whole array, one whose rows begin off
 * the alignment, and another view; the dtypes in turn. */
static void try_short(table *t, size_t stride)
{
    enum { LONGEST = 70, OFFSET = 3 };
    size_t next = 0;
    for (int length = 1; length <= LONGEST; length++) {
        const shape along = {2, {301 - length % 5, length}}, across = {3, {3, length, 41}};
        const int views[] = {0, OFFSET, length % TABLE_VIEWS};
        for (size_t v = 0; v < sizeof views / sizeof *views; v++, next += stride) {
            try_row(t, &t->pairs[next % t->pair_count], &along, views[v], 1);
        }
        next += stride;
        try_row(t, &t->pairs[next % t->pair_count], &across, length % TABLE_VIEWS, 1);
    }
}

/* One row of several tiles, of each operator and dtype: whole, off the alignment, backwards. */
static void try_long(table *t)
{
    static const shape line = {1, {50021}};
    static const int views[] = {0, 3, 5};
    for (size_t n = 0; n < t->pair_count; n++) {
        try_row(t, &t->pairs[n], &line, views[n % (sizeof views / sizeof *views)], 0);
    }
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
        for (int view = 0; view < TABLE_VIEWS; view++) {
            for (int axis = -1; axis < table_shapes[s].ndim; axis++, next += stride) {
                try_row(&t, &t.pairs[next % t.pair_count], &table_shapes[s], view, axis);
            }
        }
    }
    try_short(&t, stride);
    try_long(&t);
    free(t.pairs);
    quern_close(t.engine);
    return rows_report(&t.rows, "scans");
}
