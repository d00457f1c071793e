/* SPDX-License-Identifier: MIT
 *
 * indexes: raw arrays that are views, each somewhere inside a larger array: layout x kind of kernel
 * x kind of access x dtype, and in each of these every index of interest, in C order and along the
 * axes. In: `table_indexes [PART/PARTS]`. Out: one line with how many launches were reported
 * rightly under check=bounds, and one for each that was not; status 1 if there was any. An index
 * that the view has gives its element; any other is reported with the parameter, the index and what
 * there is. An address that is only taken, or that a false condition guards, is not reported. Only
 * on the software device: a GPU does not say.
 */
#include "table.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NDIM = 4, NONE = QUERN_MAX_NDIM, MOST = 600 };
#define ALL                                                                                        \
    {                                                                                              \
        QUERN_SLICE_NONE, QUERN_SLICE_NONE, 1                                                      \
    }

/* ---- views ---------------------------------------------------------------------------------- */

/* A base, a part of it, and what is done with that. */
static const struct view {
    const char *name;
    int ndim;
    int64_t extent[NDIM];
    quern_slice part[NDIM];
    int axes[NDIM]; /* in which order they come; all 0: as they are */
    int repeated;   /* how often the first axis, of which the part has 1; 0: it is not */
    bool scalar;    /* the part has one element, of an array without axes */
} views[] = {
    {"whole", 1, {20}, {ALL}, {0}, 0, false},
    {"at the start", 1, {20}, {{0, 3, 1}}, {0}, 0, false},
    {"in the middle", 1, {20}, {{5, 8, 1}}, {0}, 0, false},
    {"at the end", 1, {20}, {{16, 20, 1}}, {0}, 0, false},
    {"one element", 1, {20}, {{7, 8, 1}}, {0}, 0, false},
    {"no element", 1, {20}, {{7, 7, 1}}, {0}, 0, false},
    {"every third", 1, {20}, {{2, 14, 3}}, {0}, 0, false},
    {"backwards", 1, {20}, {{14, 4, -1}}, {0}, 0, false},
    {"backwards by twos", 1, {20}, {{15, 5, -2}}, {0}, 0, false},
    {"no axis", 1, {20}, {{7, 8, 1}}, {0}, 0, true},
    {"repeated", 1, {20}, {{7, 8, 1}}, {0}, 5, false},
    {"matrix", 2, {6, 7}, {ALL, ALL}, {0}, 0, false},
    {"rows", 2, {6, 7}, {{1, 4, 1}, ALL}, {0}, 0, false},
    {"columns", 2, {6, 7}, {ALL, {2, 5, 1}}, {0}, 0, false},
    {"block", 2, {6, 7}, {{1, 4, 1}, {2, 5, 1}}, {0}, 0, false},
    {"steps", 2, {6, 7}, {{0, 6, 2}, {1, 7, 3}}, {0}, 0, false},
    {"turned round", 2, {6, 7}, {{5, 0, -2}, ALL}, {0}, 0, false},
    {"transposed", 2, {6, 7}, {ALL, ALL}, {1, 0}, 0, false},
    {"transposed block", 2, {6, 7}, {{1, 4, 1}, {2, 6, 2}}, {1, 0}, 0, false},
    {"repeated row", 2, {6, 7}, {{2, 3, 1}, {1, 5, 1}}, {0}, 3, false},
    {"no rows", 2, {6, 7}, {{2, 2, 1}, ALL}, {0}, 0, false},
    {"cube", 3, {4, 5, 6}, {{1, 3, 1}, ALL, ALL}, {0}, 0, false},
    {"box", 3, {4, 5, 6}, {{1, 3, 1}, {1, 4, 1}, {2, 6, 2}}, {0}, 0, false},
    {"permuted", 3, {4, 5, 6}, {{1, 4, 1}, {1, 4, 1}, {4, 1, -1}}, {2, 0, 1}, 0, false},
    {"four axes", 4, {4, 3, 4, 3}, {{1, 3, 1}, ALL, ALL, ALL}, {0}, 0, false},
    {"four permuted",
     4,
     {4, 3, 4, 3},
     {{1, 3, 1}, {2, 0, -1}, {0, 4, 2}, ALL},
     {3, 1, 0, 2},
     0,
     false},
};

typedef struct subject {
    quern_engine *engine;
    const struct view *view;
    const struct access *access;
    quern_dtype dtype;
    bool by_axes;
    quern_array *base, *array; /* and the view of it */
    int ndim;
    int64_t shape[NDIM], strides[NDIM], first, count;
    unsigned char host[MOST * 16]; /* of the base */
    quern_kernel *kernel;
    char text[300];
} subject;

static void make_array(subject *s)
{
    const struct view *v = s->view;
    const size_t size = quern_dtype_size(s->dtype);
    quern_array *part, *turned;
    int64_t count = 1, repeated[NDIM];
    for (int d = 0; d < v->ndim; d++) {
        count *= v->extent[d];
    }
    for (int64_t n = 0; n < count; n++) {
        number_store(s->host + (size_t)n * size, s->dtype, whole(n % 50 + 1));
    }
    check(quern_array_from(&s->base, s->engine, s->dtype, v->ndim, v->extent, s->host), "base");
    check(quern_array_slice(&part, s->base, v->ndim, v->part), "part");
    memcpy(repeated, quern_array_shape(part), (size_t)v->ndim * sizeof *repeated);
    if (v->scalar) {
        check(quern_array_reshape(&turned, part, 0, NULL), "no axes");
    } else if (v->repeated > 0) {
        repeated[0] = v->repeated;
        check(quern_array_broadcast(&turned, part, v->ndim, repeated), "repeated");
    } else if (v->axes[0] + v->axes[1] > 0) {
        check(quern_array_transpose(&turned, part, v->axes), "turned");
    } else {
        turned = quern_array_retain(part);
    }
    quern_array_release(part);
    s->array = turned;
    s->ndim = quern_array_ndim(turned);
    s->count = quern_array_count(turned);
    s->first = (char *)quern_array_pointer(turned) - (char *)quern_array_pointer(s->base);
    memcpy(s->shape, quern_array_shape(turned), (size_t)s->ndim * sizeof *s->shape);
    memcpy(s->strides, quern_array_strides(turned), (size_t)s->ndim * sizeof *s->shape);
}

/* ---- kernels -------------------------------------------------------------------------------- */

typedef enum kind { ELEMENTWISE, REDUCE, SCAN } kind;

/* Texts, in which `$` is the element: w[k], or w[at]. */
static const struct access {
    kind kind;
    const char *text, *done; /* what a report calls it; NULL: fine, whatever the index */
    bool writes;
    bool by_pointer;    /* the place may be that where the pointer is used */
    bool only_in_order; /* the text itself takes an index in C order */
    bool (*takes)(quern_dtype dtype);
    int added; /* what a text that writes adds to the element; 0: it becomes 7 */
} accesses[] = {
    {ELEMENTWISE, "y = $", "read", false, false, false, any_dtype, 0},
    {ELEMENTWISE, "T z = x; if (x != T(0)) { z = $; } y = z", "read", false, false, false,
     any_dtype, 0},
    {ELEMENTWISE, "y = take(&$)", "read", false, true, false, any_number, 0},
    {ELEMENTWISE, "y = at(w, k)", "read", false, true, true, any_number, 0},
    {ELEMENTWISE, "const T *p = &w[k]; if (x == T(0)) { p = &w[0]; } y = *p", "read", false, true,
     true, any_number, 0},
    {REDUCE, "$", "read", false, false, true, wide_floats, 0},
    {SCAN, "$", "read", false, false, true, wide_floats, 0},
    {ELEMENTWISE, "$ = x", "write", true, false, false, any_dtype, 0},
    {ELEMENTWISE, "T *p = &$; *p = x", "write", true, true, false, any_dtype, 0},
    {ELEMENTWISE, "$ += x", "read", true, false, false, any_number, 7},
    {ELEMENTWISE, "atomicAdd(&$, x)", "atomic access", true, false, false, any_number, 7},
    {ELEMENTWISE, "atomicExch(&$, x)", "atomic access", true, false, false, any_number, 0},
    /* fine, whatever the index */
    {ELEMENTWISE, "const T *p = &$; y = p == nullptr ? T(1) : T(0)", NULL, false, false, false,
     any_number, 0},
    {ELEMENTWISE, "y = w.ndim == 1 && w.size() > 0 ? *(&w[w.size()] - 1) : x", NULL, false, false,
     true, any_number, 0},
    {ELEMENTWISE, "if (o.ndim == 1 && o.size() > 0) { atomicAdd(&o[o.size()] - 1, x); }", NULL,
     true, false, true, any_number, 0},
    {ELEMENTWISE, "y = k >= 0 && k < w.size() ? w[k] : T(0)", NULL, false, false, true, any_dtype,
     0},
    {ELEMENTWISE, "const T *p = &w[k]; y = k >= 0 && k < w.size() ? *p : T(0)", NULL, false, false,
     true, any_number, 0},
    {ELEMENTWISE, "T s = 0; for (ptrdiff_t n = 0; n < w.size(); n++) { s = w[n]; } y = s", NULL,
     false, false, true, any_number, 0},
    {ELEMENTWISE,
     "T s = 0; const T *p = nullptr;\n"
     "for (ptrdiff_t n = 0; n <= w.size(); n++) { if (p) { s = *p; } p = &w[n]; } y = s",
     NULL, false, false, true, any_number, 0},
};

static const char *const preamble =
    "template <typename V> __device__ V take(const V *p) { return *p; }\n"
    "template <typename A> __device__ auto at(const A &w, ptrdiff_t n) { return w[n]; }\n";

static void make_text(subject *s)
{
    const char *name = s->access->writes ? "o" : "w";
    strcpy(s->text, s->by_axes ? "const ptrdiff_t at[] = {k0, k1, k2, k3};\n" : "");
    for (const char *t = s->access->text; *t; t++) {
        char piece[8] = {*t};
        if (*t == '$') {
            snprintf(piece, sizeof piece, "%s[%s]", name, s->by_axes ? "at" : "k");
        }
        strcat(s->text, piece);
    }
}

#define NUMBERS "int64 k, int64 k0, int64 k1, int64 k2, int64 k3"

static void make_kernel(subject *s)
{
    const struct access *a = s->access;
    const char *in = a->writes ? "T x, " NUMBERS : "T x, raw T w, " NUMBERS;
    const char *out = a->writes ? "raw T o" : "T y";
    const quern_kernel_options options = {.size = sizeof options, .preamble = preamble};
    make_text(s);
    if (a->kind == REDUCE) {
        check(quern_reduction(&s->kernel, s->engine, in, out, s->text, "a + b", "y = a", "0", NULL),
              s->text);
    } else if (a->kind == SCAN) {
        check(quern_scan(&s->kernel, s->engine, in, out, s->text, "a + b", "y = a", NULL, NULL),
              s->text);
    } else {
        check(quern_elementwise(&s->kernel, s->engine, in, out, s->text, &options), s->text);
    }
}

/* ---- one launch ----------------------------------------------------------------------------- */

typedef struct launch {
    int64_t k, at[NDIM];
    int wrong;      /* the first axis that does not have its index; NONE: all do */
    int64_t offset; /* of the element in the base */
} launch;

static void settle(launch *l, const subject *s)
{
    int64_t rest = l->k;
    l->wrong = NONE;
    l->offset = s->first;
    if (!s->by_axes) {
        l->wrong = rest < 0 || rest >= s->count ? 0 : NONE;
        for (int d = s->ndim - 1; d >= 0 && l->wrong == NONE; d--) {
            l->at[d] = rest % s->shape[d];
            rest /= s->shape[d];
        }
    }
    for (int d = 0; d < s->ndim; d++) {
        if (s->by_axes && l->wrong == NONE && (l->at[d] < 0 || l->at[d] >= s->shape[d])) {
            l->wrong = d;
        }
        l->offset += l->at[d] * s->strides[d];
    }
}

static quern_status run(const subject *s, const launch *l, void *result)
{
    const int64_t one = 1;
    unsigned char seven[16];
    quern_array *x, *y = NULL;
    quern_value values[8];
    size_t n = 0;
    number_store(seven, s->dtype, whole(7));
    check(quern_array_from(&x, s->engine, s->dtype, 1, &one, seven), "x");
    values[n++] = quern_value_array(x);
    if (!s->access->writes) {
        values[n++] = quern_value_array(s->array);
    }
    values[n++] = quern_scalar_int(QUERN_INT64, l->k);
    for (int d = 0; d < NDIM; d++) {
        values[n++] = quern_scalar_int(QUERN_INT64, l->at[d]);
    }
    values[n++] = s->access->writes ? quern_value_array(s->array) : quern_value_output(&y);
    const quern_status status = quern_call_n(s->kernel, values, n, NULL);
    if (status == QUERN_OK && !s->access->writes) {
        check(quern_array_read(y, result, quern_dtype_size(s->dtype)), "y");
    }
    quern_array_release(x);
    quern_array_release(y);
    return status;
}

/* ---- what came of it ------------------------------------------------------------------------ */

static bool element_is(const subject *s, const launch *l, const unsigned char *result)
{
    const size_t size = quern_dtype_size(s->dtype);
    number expected = number_load(s->host + l->offset, s->dtype);
    if (s->access->writes) {
        unsigned char now[MOST * 16];
        check(quern_array_read(s->base, now, (size_t)quern_array_count(s->base) * size), "base");
        number seven = whole(7);
        if (s->access->added) {
            seven = (number){expected.re + 7, expected.im, expected.whole + 7};
        }
        const bool is = number_is(now + l->offset, s->dtype, seven, 0);
        check(quern_array_write(s->base, s->host, (size_t)quern_array_count(s->base) * size),
              "base");
        return is;
    }
    return number_is(result, s->dtype, expected, 0);
}

static bool says_place(const subject *s, const quern_error *error)
{
    const char *at = error->text ? error->text + error->begin : "";
    const char name = s->access->writes ? 'o' : 'w';
    return error->end > error->begin && (s->access->by_pointer || (at[0] == name && at[1] == '['));
}

/* "read of 4 bytes at ..., element 15 of 'w', which has 3", or
 * "..., index 5 along axis 1 of 'w', of shape (3, 4)". */
static bool says_index(const subject *s, const launch *l, const char *said)
{
    const char name = s->access->writes ? 'o' : 'w';
    char expected[200], extents[100] = "(";
    for (int d = 0; d < s->ndim; d++) {
        sprintf(extents + strlen(extents), d ? ", %d" : "%d", (int)s->shape[d]);
    }
    strcat(extents, s->ndim == 1 ? ",)" : ")");
    if (s->by_axes) {
        snprintf(expected, sizeof expected, ", index %lld along axis %d of '%c', of shape %s",
                 (long long)l->at[l->wrong], l->wrong, name, extents);
    } else {
        snprintf(expected, sizeof expected, ", element %lld of '%c', which has %lld",
                 (long long)l->k, name, (long long)s->count);
    }
    const char *done = s->access->done, *thread = strstr(said, "): ");
    if (done[0] == 'a' && thread && strncmp(thread + 3, "read", 4) == 0) {
        done = "read"; /* a loop begins with one */
    }
    return strstr(said, expected) && thread && strncmp(thread + 3, done, strlen(done)) == 0;
}

static bool try(const subject *s, launch *l)
{
    unsigned char result[16];
    settle(l, s);
    const quern_status status = run(s, l, result);
    const quern_error *error = quern_last_error();
    bool ok;
    if (!s->access->done) {
        ok = status == QUERN_OK;
    } else if (l->wrong == NONE) {
        ok = status == QUERN_OK && element_is(s, l, result);
    } else {
        ok = status == QUERN_ERROR_ACCESS && says_index(s, l, error->message) &&
             says_place(s, error);
    }
    if (!ok || getenv("TABLE_LOUD")) {
        printf("%s: %s, %s, k %lld, at %lld %lld %lld %lld:\n  %s\n%s\n", ok ? "right" : "WRONG",
               s->view->name, quern_dtype_name(s->dtype), (long long)l->k, (long long)l->at[0],
               (long long)l->at[1], (long long)l->at[2], (long long)l->at[3], s->text,
               status == QUERN_OK ? "  no error\n" : quern_last_error_text());
    }
    return ok;
}

/* ---- all of them ---------------------------------------------------------------------------- */

typedef struct tally {
    size_t right, wrong;
} tally;

static void count(tally *t, bool ok)
{
    t->right += ok;
    t->wrong += !ok;
}

static void try_in_order(tally *t, const subject *s)
{
    const int64_t n = s->count;
    const int64_t indexes[] = {0, n / 2, n - 1,       -1,           n,        n + 1, -n,
                               3, 2 * n, n * 100 + 7, -(2LL << 32), 5LL << 32};
    for (size_t k = 0; k < sizeof indexes / sizeof *indexes; k++) {
        launch l = {.k = indexes[k]};
        count(t, try(s, &l));
    }
}

/* Along each axis: the ends, and what lies beyond them. */
static void try_by_axes(tally *t, const subject *s)
{
    int positions = 1;
    for (int d = 0; d < s->ndim; d++) {
        positions *= 5;
    }
    const int step = positions > 125 ? 7 : 1;
    for (int n = 0; n < positions; n += step) {
        launch l = {.k = 0};
        for (int d = 0, rest = n; d < s->ndim; d++, rest /= 5) {
            const int64_t extent = s->shape[d];
            l.at[d] = (int64_t[]){0, extent - 1, extent, -1, extent + 2}[rest % 5];
        }
        count(t, try(s, &l));
    }
}

static bool applies(const subject *s)
{
    const struct access *a = s->access;
    return a->takes(s->dtype) && !(s->by_axes && (a->only_in_order || s->view->scalar)) &&
           !(a->writes && s->view->repeated > 0) &&
           !(strncmp(a->text, "atomicExch", 10) == 0 && complexes(s->dtype));
}

/* The n-th combination; false after the last. */
static bool combine(subject *s, size_t n)
{
    static const quern_dtype dtypes[] = {QUERN_FLOAT32, QUERN_INT8,  QUERN_COMPLEX64, QUERN_FLOAT64,
                                         QUERN_BOOL,    QUERN_INT16, QUERN_COMPLEX128};
    s->access = &accesses[n % (sizeof accesses / sizeof *accesses)];
    n /= sizeof accesses / sizeof *accesses;
    s->by_axes = n % 2, n /= 2;
    s->dtype = dtypes[n % (sizeof dtypes / sizeof *dtypes)];
    n /= sizeof dtypes / sizeof *dtypes;
    s->view = &views[n % (sizeof views / sizeof *views)];
    return n < sizeof views / sizeof *views;
}

static void try_all(tally *t, subject *s)
{
    make_array(s);
    make_kernel(s);
    if (s->by_axes) {
        try_by_axes(t, s);
    } else {
        try_in_order(t, s);
    }
    quern_kernel_release(s->kernel);
    quern_array_release(s->array);
    quern_array_release(s->base);
}

int main(int argument_count, char **arguments)
{
    static subject s;
    unsigned part = 1, parts = 1;
    tally t = {0};
    const char *device = getenv("QUERN_DEVICE");
    if (device && strncmp(device, "soft", 4) != 0) {
        printf("skipped: only the software device looks at indexes\n");
        return 77;
    }
    if (argument_count > 1 && (sscanf(arguments[1], "%u/%u", &part, &parts) != 2 || part < 1)) {
        fprintf(stderr, "usage: table_indexes [PART/PARTS]\n");
        return 2;
    }
    for (int all = 0; all < 2; all++) {
        const quern_options options = {.size = sizeof options,
                                       .device = all ? "soft:1,check=all" : "soft:1,check=bounds"};
        check(quern_open(&s.engine, &options), "opening the software device");
        for (size_t n = 0; combine(&s, n); n++) {
            if (applies(&s) && (n + (size_t)all * (parts / 2)) % parts == part - 1) {
                try_all(&t, &s);
            }
        }
        quern_close(s.engine);
    }
    printf("indexes: %zu right, %zu wrong\n", t.right, t.wrong);
    return t.wrong > 0;
}
