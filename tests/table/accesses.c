/* SPDX-License-Identifier: MIT
 *
 * accesses: kernels with one deliberate fault each: kind of kernel x place in the text x kind of
 * index x access x dtype x layout. In: `table_accesses [PART/PARTS]`. Out: one line with how many
 * reports named the parameter and the element, with a span inside the faulty expression, and one
 * for each that did not; status 1 if there was any. The texts here mark the faulty expression by
 * `{@` and `@}`. Only on the software device: a GPU does not say.
 */
#include <quern/quern.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 20, ANY = 1 << 20 };

/* ---- what a fault is made of ---------------------------------------------------------------- */

/* An index and the element that it names; ANY: that of whichever thread comes first. */
static const struct {
    const char *text;
    int element;
} indexes[] = {
    {"-1", -1},
    {"20", 20},
    {"% + 20", ANY},
    {"k", 23},
    {"k - 30", -7},
    {"% * 0 + 25", 25},
    {"(ptrdiff_t)real(x) * 0 - 2", -2},
    {"far(k)", 24},
};

static const char *const preamble =
    "template <typename V> __device__ double real(V) { return 1; }\n"
    "__device__ int far(int k) { return k + 1; }\n"
    "template <typename A> __device__ auto at(const A &w, ptrdiff_t n) { return {@w[n]@}; }";

/* Uses of the element; `$` is the index, in which `%` is the position. */
static const struct {
    const char *expression;
    bool is_output, only_numbers, in_preamble;
} accesses[] = {
    {"{@w[$]@}", false, false, false},
    {"*({@&w[0] + ($)@})", false, false, false},
    {"{@at(w, $)@}", false, false, true},
    {"({@o[$]@} = x)", true, false, false},
    {"{@atomicAdd(&o[$], x)@}", true, true, false},
};

/* Statements around it; `#` is the expression. */
static const char *const statements[] = {
    "y = #",
    "y = x; y = #",
    "y = x;\n\n  y = #;\n",
    "if (k > 0) {\n  y = x;\n  y = #;\n}",
    "y = w[3];\ny = #",
    "for (int n = 0; n < 2; n++) { y = x; y = # ; }",
};

/* Statements around it, for maps. */
static const char *const maps[] = {
    "#",
    "x + #",
    "T y = x;\n\n  return y + #;",
    "if (k > 0) {\n  T y = x;\n  return y + #;\n}\nreturn x",
    "T y = w[3];\nreturn y + #",
    "T y = x; for (int n = 0; n < 2; n++) { y = #; } return y;",
};

static const quern_dtype dtypes[] = {QUERN_FLOAT32, QUERN_INT8,    QUERN_FLOAT64,
                                     QUERN_INT32,   QUERN_FLOAT16, QUERN_COMPLEX64};

typedef enum kind { ELEMENTWISE, TILED, REDUCE, REDUCE_ROWS, SCAN, KINDS } kind;
static const char *const kind_names[] = {"elementwise", "tiled", "reduce", "reduce rows", "scan"};
static bool is_fold(kind k)
{
    return k >= REDUCE;
}

typedef enum layout { PLAIN, STEPS, REVERSED, LAYOUTS } layout;

/* ---- texts ---------------------------------------------------------------------------------- */

typedef struct text {
    char data[1000];
    size_t begin, end; /* of the marked piece */
} text;

static void append(char *to, const char *format, char hole, const char *filling)
{
    for (; *format; format++) {
        if (*format == hole) {
            strcat(to, filling);
        } else {
            strncat(to, format, 1);
        }
    }
}

static void take_marks(text *t)
{
    char *begin = strstr(t->data, "{@"), *end;
    t->begin = t->end = 0;
    if (begin) {
        memmove(begin, begin + 2, strlen(begin + 2) + 1);
        end = strstr(begin, "@}");
        memmove(end, end + 2, strlen(end + 2) + 1);
        t->begin = (size_t)(begin - t->data);
        t->end = (size_t)(end - t->data);
    }
}

/* ---- one case ------------------------------------------------------------------------------- */

typedef struct fault {
    quern_engine *engine;
    kind kind;
    size_t statement, index, access;
    quern_dtype dtype;
    layout layout;
    text operation, preamble;
} fault;

static void check(quern_status status, const char *what)
{
    if (status != QUERN_OK) {
        fprintf(stderr, "%s: %s", what, quern_last_error_text());
        exit(1);
    }
}

static void write_texts(fault *f)
{
    char index[100] = "", expression[300] = "";
    f->operation = f->preamble = (text){""};
    append(index, indexes[f->index].text, '%', is_fold(f->kind) ? "_J" : "i");
    append(expression, accesses[f->access].expression, '$', index);
    if (is_fold(f->kind)) {
        append(f->operation.data, maps[f->statement], '#', expression);
    } else {
        append(f->operation.data, statements[f->statement], '#', expression);
    }
    strcpy(f->preamble.data, preamble);
    take_marks(&f->operation);
    take_marks(&f->preamble);
}

/* w, or o: a view of 20 elements in an array that is just large enough. */
static quern_array *make_view(const fault *f)
{
    static const unsigned char zeros[16];
    const int64_t step = f->layout == STEPS ? 2 : 1, n = step * (COUNT - 1) + 1;
    const quern_slice slice = {QUERN_SLICE_NONE, QUERN_SLICE_NONE,
                               f->layout == REVERSED ? -1 : step};
    quern_array *base, *view;
    check(quern_array_new(&base, f->engine, f->dtype, 1, &n), "w");
    check(quern_array_fill(base, zeros, quern_dtype_size(quern_array_dtype(base))), "filling w");
    check(quern_array_slice(&view, base, 1, &slice), "a view of w");
    quern_array_release(base);
    return view;
}

/* x: 20 elements; two axes, and transposed, where it matters. */
static quern_array *make_input(const fault *f)
{
    static const unsigned char zeros[16];
    const int64_t few[] = {COUNT}, square[] = {64, 64};
    const bool flat = f->kind == ELEMENTWISE || f->kind == REDUCE || f->kind == SCAN;
    quern_array *x, *turned;
    check(quern_array_new(&x, f->engine, f->dtype, flat ? 1 : 2, flat ? few : square), "x");
    check(quern_array_fill(x, zeros, quern_dtype_size(quern_array_dtype(x))), "filling x");
    if (f->kind != TILED) {
        return x;
    }
    check(quern_array_transpose(&turned, x, NULL), "x.T");
    quern_array_release(x);
    return turned;
}

static quern_status run(const fault *f)
{
    quern_array *x = make_input(f), *w = make_view(f), *o = make_view(f), *y = NULL;
    quern_kernel *kernel;
    const quern_kernel_options options = {.size = sizeof options, .preamble = f->preamble.data};
    const quern_reduction_options reduction = {.size = sizeof reduction,
                                               .preamble = f->preamble.data};
    const quern_scan_options scan = {.size = sizeof scan, .preamble = f->preamble.data};
    quern_call_options call = QUERN_CALL_OPTIONS_INIT;
    if (f->kind == REDUCE_ROWS) {
        static const int axes[] = {1};
        call.axes = axes;
        call.axis_count = 1;
    }
    const char *in = "T x, raw T w, int k", *map = f->operation.data;
    if (f->kind == SCAN) {
        check(quern_scan(&kernel, f->engine, in, "T y", map, "a + b", "y = a", NULL, &scan), map);
    } else if (is_fold(f->kind)) {
        check(
            quern_reduction(&kernel, f->engine, in, "T y", map, "a + b", "y = a", "0", &reduction),
            map);
    } else {
        check(quern_elementwise(&kernel, f->engine, in, "T y, raw T o", map, &options), map);
    }
    const quern_value values[] = {quern_value_array(x), quern_value_array(w),
                                  quern_scalar_int(QUERN_INT32, 23), quern_value_output(&y),
                                  quern_value_array(o)};
    quern_status status = quern_call_n(kernel, values, is_fold(f->kind) ? 4 : 5, &call);
    quern_kernel_release(kernel);
    quern_array_release(x);
    quern_array_release(w);
    quern_array_release(o);
    quern_array_release(y);
    return status;
}

/* ---- what the report says ------------------------------------------------------------------- */

static bool names_element(const fault *f, const char *said)
{
    const char name = accesses[f->access].is_output ? 'o' : 'w';
    const char *at = strstr(said, ", element ");
    long long element;
    char called;
    return at && sscanf(at, ", element %lld of '%c', which has 20", &element, &called) == 2 &&
           called == name && (element < 0 || element >= COUNT) &&
           (indexes[f->index].element == ANY || element == indexes[f->index].element);
}

/* The span begins inside the marked piece, or at the statement that has it. */
static bool has_place(const fault *f, const quern_error *error)
{
    const bool in_preamble = strcmp(error->text_name, "preamble") == 0;
    const text *t = in_preamble ? &f->preamble : &f->operation;
    if (in_preamble && !accesses[f->access].in_preamble) {
        return false;
    }
    size_t statement = t->begin;
    while (statement > 0 && !strchr(";{}\n", t->data[statement - 1])) {
        statement--;
    }
    return error->begin >= statement && error->begin < t->end && error->end >= t->begin &&
           error->end > error->begin;
}

static bool try(const fault *f, bool loud)
{
    const quern_status status = run(f);
    const quern_error *error = quern_last_error();
    const bool ok =
        status == QUERN_ERROR_ACCESS && names_element(f, error->message) && has_place(f, error);
    if (!ok || loud) {
        printf("%s: %s, %s, layout %d:\n  %s\n%s\n", ok ? "right" : "WRONG", kind_names[f->kind],
               quern_dtype_name(f->dtype), f->layout, f->operation.data,
               status == QUERN_OK ? "  no error\n" : quern_last_error_text());
    }
    return ok;
}

/* ---- all of them ---------------------------------------------------------------------------- */

static bool applies(const fault *f)
{
    const bool numbers =
        f->dtype == QUERN_FLOAT32 || f->dtype == QUERN_FLOAT64 || f->dtype == QUERN_INT32;
    if (accesses[f->access].is_output && is_fold(f->kind)) {
        return false;
    }
    return (numbers || !accesses[f->access].only_numbers) &&
           (f->access != 1 || f->layout == PLAIN); /* a pointer knows of no strides */
}

/* The n-th combination; false after the last. */
static bool combine(fault *f, size_t n)
{
    f->kind = n % KINDS, n /= KINDS;
    f->statement = n % (sizeof statements / sizeof statements[0]);
    n /= sizeof statements / sizeof statements[0];
    f->index = n % (sizeof indexes / sizeof indexes[0]);
    n /= sizeof indexes / sizeof indexes[0];
    f->access = n % (sizeof accesses / sizeof accesses[0]);
    n /= sizeof accesses / sizeof accesses[0];
    f->dtype = dtypes[n % (sizeof dtypes / sizeof dtypes[0])];
    n /= sizeof dtypes / sizeof dtypes[0];
    f->layout = n % LAYOUTS;
    return n < LAYOUTS;
}

int main(int count, char **arguments)
{
    unsigned part = 1, parts = 1;
    size_t right = 0, wrong = 0;
    fault f = {0};
    const char *device = getenv("QUERN_DEVICE");
    if (device && strncmp(device, "soft", 4) != 0) {
        printf("skipped: only the software device reports accesses by element\n");
        return 77;
    }
    if (count > 1 && (sscanf(arguments[1], "%u/%u", &part, &parts) != 2 || part < 1)) {
        fprintf(stderr, "usage: table_accesses [PART/PARTS]\n");
        return 2;
    }
    quern_engine
        *engines[2]; /* with the checks that are always made, and with every index checked */
    const quern_options plain = {.size = sizeof plain, .device = "soft"};
    const quern_options bounds = {.size = sizeof bounds, .device = "soft:check=bounds"};
    check(quern_open(&engines[0], &plain), "opening the software device");
    check(quern_open(&engines[1], &bounds), "opening the software device");
    for (size_t n = 0; combine(&f, n); n++) {
        if (applies(&f) && n % parts == part - 1) {
            f.engine = engines[n / parts % 2];
            write_texts(&f);
            const bool ok = try(&f, getenv("TABLE_LOUD") != NULL);
            right += ok;
            wrong += !ok;
        }
    }
    printf("accesses: %zu right, %zu wrong\n", right, wrong);
    quern_close(engines[0]);
    quern_close(engines[1]);
    return wrong > 0;
}
