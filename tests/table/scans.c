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

/** The value in front of an element while a row is scanned on the host. */
typedef struct front {
    bool some;
    number sum;
    double best;
    uint64_t factor;
    uint32_t matrix[4];
    unsigned char map[16];
} front;

typedef struct scan_operator {
    const char *name;
    bool (*takes)(quern_dtype dtype);
    const char *out, *map, *scan, *post, *identity, *scan_type, *preamble;
    bool exclusive;
    quern_dtype output; /**< QUERN_DTYPE_NONE: that of the input */
    void (*begin)(front *f);
    void (*step)(front *f, number x);
    number (*value)(const front *f, const element *e);
    double tolerance; /**< relative; 0: equal bits */
} scan_operator;

static bool is_half(quern_dtype d)
{
    return d == QUERN_FLOAT16 || d == QUERN_BFLOAT16;
}

static bool exact_sums(quern_dtype d)
{
    return d != QUERN_BOOL && !is_half(d);
}

static bool real_floats(quern_dtype d)
{
    return d == QUERN_FLOAT32 || d == QUERN_FLOAT64;
}

static bool ordered_numbers(quern_dtype d)
{
    return d != QUERN_BOOL && !is_complex(d);
}

static void begin_nothing(front *f)
{
    *f = (front){.factor = 1, .matrix = {1, 0, 0, 1}};
    for (int k = 0; k < 16; k++) {
        f->map[k] = (unsigned char)k;
    }
}

static void begin_five(front *f)
{
    begin_nothing(f);
    f->sum = (number){5, 0, 5};
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

/** Composition with a map of 16 points to themselves that is no permutation. */
static void step_map(front *f, number x)
{
    unsigned char next[16];
    for (int k = 0; k < 16; k++) {
        unsigned at = f->map[k], turn = (unsigned)x.whole;
        next[k] = (unsigned char)(at == (turn & 15) ? (at * 7) & 15 : (at + turn * 3) & 15);
    }
    memcpy(f->map, next, sizeof next);
}

static number value_sum(const front *f, const element *e)
{
    (void)e;
    return f->sum;
}

static number value_best(const front *f, const element *e)
{
    (void)e;
    return (number){f->best, 0, (int64_t)f->best};
}

static number value_factor(const front *f, const element *e)
{
    (void)e;
    return (number){0, 0, (int64_t)f->factor};
}

static number value_matrix(const front *f, const element *e)
{
    (void)e;
    return (number){0, 0, f->matrix[0] + 3 * f->matrix[1] + 5 * f->matrix[2] + 7 * f->matrix[3]};
}

static number value_map(const front *f, const element *e)
{
    (void)e;
    return (number){0, 0, f->map[3] * 256 + f->map[0] * 16 + f->map[11]};
}

static number value_places(const front *f, const element *e)
{
    int64_t whole = (int64_t)f->sum.re + 7 * e->j + 11 * (int64_t)e->x.re + 13 * e->in_at[0] +
                    17 * e->in_at[e->ndim - 1];
    return (number){(double)whole, 0, whole};
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

static const scan_operator operators[] = {
    {"sum", exact_sums, "T y", "x", "a + b", "y = a", NULL, NULL, NULL, false, QUERN_DTYPE_NONE,
     begin_nothing, step_sum, value_sum, 0},
    {"sum before, from 5", exact_sums, "T y", "x", "a + b", "y = a", "5", NULL, NULL, true,
     QUERN_DTYPE_NONE, begin_five, step_sum, value_sum, 0},
    {"sum in float", is_half, "T y", "x", "a + b", "y = a", "5", "float", NULL, false,
     QUERN_DTYPE_NONE, begin_five, step_sum, value_sum, 0},
    {"sum of thirds", real_floats, "T y", "x / 3", "a + b", "y = a", NULL, "T", NULL, false,
     QUERN_DTYPE_NONE, begin_nothing, step_third, value_sum, 3e-6},
    {"maximum", ordered_numbers, "T y", "x", "max(a, b)", "y = a", NULL, NULL, NULL, false,
     QUERN_DTYPE_NONE, begin_nothing, step_best, value_best, 0},
    {"product", is_integer, "T y", "x * 2 + 1", "a * b", "y = a", "1", NULL, NULL, true,
     QUERN_DTYPE_NONE, begin_nothing, step_factor, value_factor, 0},
    {"product of matrices", is_integer, "uint32 y", MATRIX_MAP, "by(a, b)", MATRIX_POST, NULL,
     "matrix", MATRIX, false, QUERN_UINT32, begin_nothing, step_matrix, value_matrix, 0},
    {"product of matrices before", is_integer, "uint32 y", MATRIX_MAP, "by(a, b)", MATRIX_POST,
     "matrix{1, 0, 0, 1}", "matrix", MATRIX, true, QUERN_UINT32, begin_nothing, step_matrix,
     value_matrix, 0},
    {"composition", is_integer, "int32 y", "turned((unsigned)x)", "then(a, b)",
     "y = a.to[3] * 256 + a.to[0] * 16 + a.to[11]", NULL, "points", POINTS, false, QUERN_INT32,
     begin_nothing, step_map, value_map, 0},
    {"composition before", is_integer, "int32 y", "turned((unsigned)x)", "then(a, b)",
     "y = a.to[3] * 256 + a.to[0] * 16 + a.to[11]", "same()", "points", POINTS, true, QUERN_INT32,
     begin_nothing, step_map, value_map, 0},
    {"places", ordered_numbers, "int64 y", "(long long)x", "a + b",
     "y = a + 7 * _J + 11 * (long long)x + 13 * _in_ind.get()[0] + 17 * _in_ind.get()[NDIM - 1]",
     NULL, NULL, NULL, false, QUERN_INT64, begin_nothing, step_sum, value_places, 0},
};

/* ---- one row -------------------------------------------------------------------------------- */

enum { INPUT_ITSELF, BACKWARDS, OUTPUTS };

typedef struct row {
    const scan_operator *op;
    quern_kernel *kernel;
    const layout_input *input;
    const shape *shape;
    int axis; /**< -1: all elements in C order */
    quern_dtype dtype, output;
    int64_t count;
} row;

static void describe(const row *r, const char *what)
{
    printf("FAILED %s: %s %s, %s, shape (", what, r->op->name, quern_dtype_name(r->dtype),
           r->input->name);
    for (int d = 0; d < r->shape->ndim; d++) {
        printf("%s%lld", d == 0 ? "" : ", ", (long long)r->shape->extent[d]);
    }
    printf("), axis %d\n", r->axis);
}

/** Call into `*array`, made where it is NULL, and bring it to the host. */
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

/** An output that runs backwards along all axes, with gaps. */
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

static bool is_right(const row *r, const void *got, number expected)
{
    if (r->op->tolerance == 0) {
        unsigned char bytes[16];
        number_store(bytes, r->output, expected);
        return memcmp(bytes, got, quern_dtype_size(r->output)) == 0;
    }
    return fabs(number_load(got, r->output).re - expected.re) <=
           r->op->tolerance * sqrt((double)r->count) * (1 + fabs(expected.re));
}

/** Scan the row that begins at position `at`, and hold `got` against it. */
static bool scan_row(const row *r, int64_t length, int64_t *at, const unsigned char *got)
{
    const shape *s = r->shape;
    front f;
    r->op->begin(&f);
    bool right = true;
    for (int64_t j = 0; j < length && right; j++) {
        int64_t place = 0;
        for (int d = s->ndim - 1, all = r->axis < 0; d >= 0 && all; d--) {
            int64_t rest = d == s->ndim - 1 ? j : place;
            at[d] = rest % s->extent[d];
            place = rest / s->extent[d];
        }
        if (r->axis >= 0) {
            at[r->axis] = j;
        }
        place = 0;
        for (int d = 0; d < s->ndim; d++) {
            place = place * s->extent[d] + at[d];
        }
        element e = {layout_at(r->input, at), j, at, s->ndim};
        front before = f;
        r->op->step(&f, e.x);
        right = is_right(r, got + (size_t)place * quern_dtype_size(r->output),
                         r->op->value(r->op->exclusive ? &before : &f, &e));
    }
    return right;
}

static bool compare(const row *r, const unsigned char *got)
{
    const shape *s = r->shape;
    int64_t length = r->axis < 0 ? r->count : s->extent[r->axis];
    bool right = true;
    for (int64_t n = 0; length > 0 && n < r->count / length && right; n++) {
        int64_t at[TABLE_NDIM] = {0}, rest = n;
        for (int d = s->ndim - 1; d >= 0 && r->axis >= 0; d--) {
            if (d != r->axis) {
                at[d] = rest % s->extent[d];
                rest /= s->extent[d];
            }
        }
        right = scan_row(r, length, at, got);
    }
    return right;
}

static bool run_row(const row *r, quern_engine *engine, int output)
{
    size_t bytes = (size_t)r->count * quern_dtype_size(r->output);
    quern_array *once = NULL, *again = NULL, *other = NULL;
    unsigned char *first = call(r, &once), *second = call(r, &again);
    const char *wrong = !compare(r, first)                  ? "value"
                        : memcmp(first, second, bytes) != 0 ? "second run"
                                                            : NULL;
    bool in_place =
        output == INPUT_ITSELF && r->output == r->dtype && strcmp(r->input->name, "repeated") != 0;
    if (r->op->tolerance == 0) {
        other = in_place ? quern_array_retain(r->input->view) : backwards(r, engine);
        unsigned char *third = call(r, &other);
        if (wrong == NULL && memcmp(first, third, bytes) != 0) {
            wrong = in_place ? "in place" : "output that runs backwards";
        }
        free(third);
    }
    if (wrong != NULL) {
        describe(r, wrong);
    }
    quern_array_release(once);
    quern_array_release(again);
    quern_array_release(other);
    free(first);
    free(second);
    return wrong == NULL;
}

/* ---- all rows ------------------------------------------------------------------------------- */

#define MAX_PAIRS 128

typedef struct table {
    quern_engine *engine;
    struct {
        const scan_operator *op;
        quern_dtype dtype;
    } pairs[MAX_PAIRS];
    size_t pair_count;
    long part, parts;
    long rows, run, failed;
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

static void try_row(table *t, size_t pair, const shape *s, int view, int axis)
{
    const scan_operator *op = t->pairs[pair].op;
    row r = {.op = op, .shape = s, .axis = axis, .dtype = t->pairs[pair].dtype, .count = 1};
    r.output = op->output != QUERN_DTYPE_NONE ? op->output : r.dtype;
    for (int d = 0; d < s->ndim; d++) {
        r.count *= s->extent[d];
    }
    bool no_axes = strstr(op->post, "_in_ind") != NULL && s->ndim == 0;
    layout_input input;
    if (no_axes || t->rows++ % t->parts != t->part ||
        !layout_make(&input, t->engine, r.dtype, s, view, (unsigned)t->rows)) {
        return;
    }
    r.input = &input;
    r.kernel = define(t->engine, op, s->ndim);
    t->run++;
    t->failed += !run_row(&r, t->engine, (int)(t->rows % OUTPUTS));
    quern_kernel_release(r.kernel);
    layout_free(&input);
}

int main(int argc, char **argv)
{
    static table t = {.parts = 1};
    if (argc > 1 && (sscanf(argv[1], "%ld/%ld", &t.part, &t.parts) != 2 || t.part-- < 1)) {
        fprintf(stderr, "usage: table_scans [PART/PARTS]\n");
        return 2;
    }
    check(quern_open(&t.engine, NULL), "open");
    for (size_t o = 0; o < sizeof operators / sizeof *operators; o++) {
        for (quern_dtype d = QUERN_BOOL; d <= QUERN_COMPLEX128; d++) {
            if (operators[o].takes(d)) {
                t.pairs[t.pair_count].op = &operators[o];
                t.pairs[t.pair_count++].dtype = d;
            }
        }
    }
    size_t next = 0;
    for (size_t s = 0; s < table_shape_count; s++) {
        for (int view = 0; view < TABLE_VIEWS; view++) {
            for (int axis = -1; axis < table_shapes[s].ndim; axis++, next += 7) {
                try_row(&t, next % t.pair_count, &table_shapes[s], view, axis);
            }
        }
    }
    printf("%ld scans, %ld failed\n", t.run, t.failed);
    quern_close(t.engine);
    return t.failed != 0;
}
