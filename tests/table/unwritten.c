/* SPDX-License-Identifier: MIT
 *
 * unwritten: elements that nobody wrote, in Quern's own kernels: kind of kernel x what is read and
 * how x which elements are missing x dtype x layout, with check=all. In: `table_unwritten
 * [PART/PARTS]`. Out: one line with how many were judged right, and one for each that was not;
 * status 1 if there was any. If the element has an effect, the report must name it and its
 * parameter and put the caret under the name; if not, there must be no report. Only on the software
 * device: a GPU does not check.
 */
#include "table.h"

#include <quern/quern.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HOLE = 13, MANY = 61, FIRST = 40, SECOND = 35 };

typedef enum kind { ELEMENTWISE, TILED, REDUCE, ROWS, COLUMNS, SCAN, SCAN_COLUMNS, KINDS } kind;
static const char *const kind_names[] = {"elementwise",    "tiled", "reduce",         "reduce rows",
                                         "reduce columns", "scan",  "scan of columns"};

/* Operations and maps, in which `%` is the position. `subject`: the parameter whose missing element
 * has an effect; 0: it has none. */
typedef struct text {
    const char *operation, *map;
    char subject;
    bool numbers; /* not of complex numbers */
} text;

static const text texts[] = {
    {"y = x", "x", 'x', false},
    {"y = x + x", "x + x", 'x', false},
    {"T t = x;\n  y = t;", "T t = x;\n  return t;", 'x', false},
    {"if (x > T(2)) y = T(1); else y = T(3)", "x > T(2) ? T(1) : T(3)", 'x', true},
    {"z = x; y = T(1)", "T(0) + x", 'x', false},
    {"y = w[13]", "w[13] + T(0)", 'w', false},
    {"y = w[%]", "w[%]", 'w', false},
    {"y = x;\n  y += w[%]", "x + w[%]", 'w', false},
    {"y = x + at(w, %)", "x + at(w, %)", 'w', false},
    {"y += x", NULL, 'y', false},
    {"y = x; z = y; z += z", "x", 'x', false},
    /* no effect */
    {"y = % == 13 ? T(1) : x", "% == 13 ? T(1) : x", 0, false},
    {"if (% != 13) y = x; else y = T(4)", "if (% != 13) return x; else return T(4);", 0, false},
    {"if (% != 13) y = x", NULL, 0, false},
    {"if (% % 3 == 1) y = T(2); if (% % 3 == 2) y = T(1)", NULL, 0, false},
    {"if (% > 20) y = x; if (% <= 20) y = T(5)", NULL, 0, false},
    {"if (% & 1) y = T(1); else z = T(2)", NULL, 0, false},
    {"T t = x; y = T(1); if (% > 20) { y = t; z = t; }", "T t = x; return % > 20 ? t : T(1);", 0,
     false},
    {"y = T(0); if (% > 20 && x > T(0)) y = x", "% > 20 && x > T(0) ? x : T(2)", 0, true},
    {"y = % == 13 ? T(1) : w[%]", "% == 13 ? T(1) : w[%]", 0, false},
    {"y = w[% == 13 ? 0 : %]", "w[% == 13 ? 0 : %]", 0, false},
    {"y = T(1)", "T(1)", 0, false},
};

static const quern_dtype dtypes[] = {
    QUERN_FLOAT32,   QUERN_INT8,  QUERN_FLOAT64, QUERN_UINT16, QUERN_COMPLEX128, QUERN_FLOAT16,
    QUERN_COMPLEX64, QUERN_INT64, QUERN_UINT8,   QUERN_INT32,  QUERN_BFLOAT16,   QUERN_BOOL,
};

typedef enum layout { PLAIN, OFFSET, STEPS, REVERSED, WRAPPED, LAYOUTS } layout;

typedef struct row {
    quern_engine *engine;
    kind kind;
    const text *text;
    quern_dtype dtype;
    layout layout;
    bool all; /* nothing was written, and not only one element missing */
    char operation[300];
} row;

static bool is_fold(const row *r)
{
    return r->kind >= REDUCE;
}

static bool is_of_columns(const row *r)
{
    return r->kind == COLUMNS || r->kind == SCAN_COLUMNS;
}

static bool is_flat(const row *r)
{
    return r->kind == ELEMENTWISE || r->kind == REDUCE || r->kind == SCAN;
}

/* ---- arrays --------------------------------------------------------------------------------- */

static void fill(quern_array *array, int count, const quern_slice *slices)
{
    static const unsigned char ones[16] = {1};
    quern_array *view;
    check(quern_array_slice(&view, array, count, slices), "a view");
    check(quern_array_fill(view, ones, quern_dtype_size(quern_array_dtype(view))), "filling");
    quern_array_release(view);
}

/* So many elements, of which some are missing. */
static quern_array *make_flat(const row *r, int64_t count, bool missing)
{
    const int64_t step = r->layout == STEPS ? 3 : 1, first = r->layout == OFFSET;
    const int64_t length = first + step * count;
    const quern_slice slice = {first, QUERN_SLICE_NONE, step};
    const quern_slice back = {QUERN_SLICE_NONE, QUERN_SLICE_NONE, -1};
    quern_array *base, *view, *turned;
    check(quern_array_new(&base, r->engine, r->dtype, 1, &length), "an array");
    check(quern_array_slice(&view, base, 1, &slice), "a view");
    quern_array_release(base);
    if (r->layout == REVERSED) {
        check(quern_array_slice(&turned, view, 1, &back), "turning");
        quern_array_release(view);
        view = turned;
    }
    if (!missing || !r->all) {
        fill(view, 1, &(quern_slice){0, missing ? HOLE : count, 1});
    }
    if (missing && !r->all) {
        fill(view, 1, &(quern_slice){HOLE + 1, count, 1});
    }
    return view;
}

/* 40 x 35 elements, or transposed. The element that is missing is at position 13 of its axis. */
static quern_array *make_table(const row *r, bool missing)
{
    const int64_t extents[] = {FIRST, SECOND}, turned_extents[] = {SECOND, FIRST};
    const bool turned = r->kind == TILED;
    quern_array *base, *view;
    check(quern_array_new(&base, r->engine, r->dtype, 2, turned ? turned_extents : extents),
          "an array");
    view = base;
    if (turned) {
        check(quern_array_transpose(&view, base, NULL), "transposing");
        quern_array_release(base);
    }
    const quern_slice one = {0, 1, 1}, low = {0, HOLE, 1}, high = {HOLE + 1, QUERN_SLICE_NONE, 1};
    const quern_slice all = {QUERN_SLICE_NONE, QUERN_SLICE_NONE, 1};
    const quern_slice others = {missing, QUERN_SLICE_NONE, 1};
    const bool columns = is_of_columns(r);
    const quern_slice before[] = {columns ? low : one, columns ? one : low};
    const quern_slice behind[] = {columns ? high : one, columns ? one : high};
    const quern_slice rest[] = {columns ? all : others, columns ? others : all};
    if (!missing || !r->all) {
        fill(view, 2, rest);
    }
    if (missing && !r->all) {
        fill(view, 2, before);
        fill(view, 2, behind);
    }
    return view;
}

/* Memory of the program's own: it may be written. */
static quern_array *wrap(const row *r)
{
    static unsigned char memory[16 * MANY];
    quern_array *array;
    check(quern_array_wrap(&array, r->engine, r->dtype, 1, (int64_t[]){MANY}, NULL, memory, NULL,
                           NULL),
          "wrapping");
    return array;
}

static quern_array *make(const row *r, bool missing)
{
    return !is_flat(r)                       ? make_table(r, missing)
           : missing && r->layout == WRAPPED ? wrap(r)
                                             : make_flat(r, MANY, missing);
}

/* ---- one row -------------------------------------------------------------------------------- */

static quern_status run(const row *r)
{
    static const char *const preamble =
        "template <typename A> __device__ auto at(const A &w, ptrdiff_t n) { return w[n]; }";
    static const int first_axis[] = {0}, last_axis[] = {1};
    const char *in = "T x, raw T w", *map = r->operation;
    const char subject = r->text->subject;
    const bool given = subject == 'y' || subject == 0;
    const quern_kernel_options options = {.size = sizeof options, .preamble = preamble};
    const quern_reduction_options reducing = {.size = sizeof reducing, .preamble = preamble};
    const quern_scan_options scanning = {.size = sizeof scanning, .preamble = preamble};
    quern_array *x = make(r, subject == 'x' || subject == 0), *y = NULL, *z = NULL;
    quern_array *w =
        subject == 'w' && r->layout == WRAPPED && is_flat(r)
            ? wrap(r)
            : make_flat(r, is_flat(r) ? MANY : FIRST * SECOND, subject == 'w' || subject == 0);
    quern_call_options call = QUERN_CALL_OPTIONS_INIT;
    quern_kernel *kernel;
    if (r->kind == ROWS || is_of_columns(r)) {
        call.axes = r->kind == ROWS ? last_axis : first_axis;
        call.axis_count = 1;
    }
    if (r->kind >= SCAN) {
        check(quern_scan(&kernel, r->engine, in, "T y", map, "a + b", "y = a", NULL, &scanning),
              map);
    } else if (is_fold(r)) {
        check(quern_reduction(&kernel, r->engine, in, "T y", map, "a + b", "y = a", "0", &reducing),
              map);
    } else {
        check(quern_elementwise(&kernel, r->engine, in, "T y, T z", map, &options), map);
        y = given ? make(r, true) : NULL;
        z = given ? make(r, true) : NULL;
    }
    const quern_value values[] = {quern_value_array(x), quern_value_array(w),
                                  given && y ? quern_value_array(y) : quern_value_output(&y),
                                  given && z ? quern_value_array(z) : quern_value_output(&z)};
    quern_status status = quern_call_n(kernel, values, is_fold(r) ? 3 : 4, &call);
    quern_kernel_release(kernel);
    quern_array_release(x);
    quern_array_release(w);
    quern_array_release(y);
    quern_array_release(z);
    return status;
}

/* The element that is missing, and the caret under the name of its parameter, or under the
 * statement that has it twice. */
static bool is_found(const row *r)
{
    const quern_error *error = quern_last_error();
    const char subject = r->text->subject;
    char wanted[100];
    if (r->all) {
        snprintf(wanted, sizeof wanted, " of '%c', ", subject);
    } else if (is_flat(r) || subject == 'w') {
        snprintf(wanted, sizeof wanted, ", element %d of '%c', which has %d,", HOLE, subject,
                 is_flat(r) ? MANY : FIRST * SECOND);
    } else {
        snprintf(wanted, sizeof wanted, ", element (%d, %d) of '%c', of shape (%d, %d),",
                 is_of_columns(r) ? HOLE : 0, is_of_columns(r) ? 0 : HOLE, subject, FIRST, SECOND);
    }
    return error->status == QUERN_ERROR_ACCESS && strstr(error->message, wanted) &&
           strstr(error->message, ", element ") && error->end > error->begin &&
           memchr(error->text + error->begin, subject, error->end - error->begin);
}

static bool try(const row *r)
{
    const bool nothing = r->text->subject == 0 || (r->layout == WRAPPED && is_flat(r));
    const quern_status status = run(r);
    const bool ok = nothing ? status == QUERN_OK : status != QUERN_OK && is_found(r);
    if (!ok || getenv("TABLE_LOUD")) {
        printf("%s: %s, %s, layout %d, %s missing:\n  %s\n%s\n", ok ? "right" : "WRONG",
               kind_names[r->kind], quern_dtype_name(r->dtype), r->layout, r->all ? "all" : "one",
               r->operation, status == QUERN_OK ? "  no report\n" : quern_last_error_text());
    }
    return ok;
}

/* ---- all of them ---------------------------------------------------------------------------- */

#define OPTIONS(list) (sizeof(list) / sizeof *(list))

/* The n-th combination; false behind the last. */
static bool combine(row *r, size_t n)
{
    r->text = &texts[n % OPTIONS(texts)], n /= OPTIONS(texts);
    r->kind = n % KINDS, n /= KINDS;
    r->dtype = dtypes[n % OPTIONS(dtypes)], n /= OPTIONS(dtypes);
    r->layout = n % LAYOUTS, n /= LAYOUTS;
    r->all = n % 2;
    return n / 2 == 0;
}

static bool applies(const row *r)
{
    const bool complex = r->dtype == QUERN_COMPLEX64 || r->dtype == QUERN_COMPLEX128;
    /* true + anything is true, and no bool is greater than 2 */
    const bool decided =
        r->dtype == QUERN_BOOL && (is_fold(r) || r->text->numbers || r->text->subject == 'y');
    return !decided && !(complex && r->text->numbers) && !(is_fold(r) && !r->text->map) &&
           !(r->all && r->text->subject == 0) && (is_flat(r) || r->layout == PLAIN);
}

static void write_text(row *r)
{
    const char *from = is_fold(r) ? r->text->map : r->text->operation, *at = from;
    r->operation[0] = '\0';
    for (; *at; at++) {
        if (*at == '%' && (at == from || at[1] != ' ' || at[2] != '3')) {
            strcat(r->operation, is_fold(r) ? "_J" : "i");
        } else {
            strncat(r->operation, at, 1);
        }
    }
}

int main(int argc, char **argv)
{
    const quern_options options = {.size = sizeof options, .device = "soft:check=all"};
    const char *device = getenv("QUERN_DEVICE");
    rows part = rows_asked(argc, argv);
    size_t right = 0, wrong = 0;
    row r = {0};
    if (device && strncmp(device, "soft", 4) != 0) {
        printf("skipped: only the software device looks for memory that nobody wrote\n");
        return 77;
    }
    check(quern_open(&r.engine, &options), "opening the software device");
    for (size_t n = 0; combine(&r, n); n++) {
        if (applies(&r) && rows_next(&part)) {
            write_text(&r);
            const bool ok = try(&r);
            right += ok;
            wrong += !ok;
        }
    }
    printf("unwritten: %zu right, %zu wrong\n", right, wrong);
    quern_close(r.engine);
    return wrong > 0;
}
