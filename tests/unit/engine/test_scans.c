/* SPDX-License-Identifier: MIT
 *
 * Scans: what a definition and a call may say, and what the texts see. tests/table has shapes,
 * dtypes and operators by the hundred.
 */
#include "whole.h"

TestSuite(scans, .init = whole_open, .fini = whole_close);

#define LONG_COUNT 300001 /* many tiles, three groups of them, and an odd end */

static quern_kernel *scan_of(const char *in, const char *out, const char *map, const char *scan,
                             const char *post, const char *identity)
{
    quern_kernel *k;
    OK(quern_scan(&k, engine, in, out, map, scan, post, identity, NULL));
    return k;
}

static quern_kernel *cumsum(void)
{
    return scan_of("T x", "T y", "x", "a + b", "y = a", NULL);
}

static quern_call_options along(const int *axis)
{
    quern_call_options options = QUERN_CALL_OPTIONS_INIT;
    options.axes = axis;
    options.axis_count = 1;
    return options;
}

Test(scans, axes_and_order)
{
    static const int axes[] = {0, 1, -1, -2};
    static const int32_t expected[][6] = {
        {1, 2, 3, 5, 7, 9}, {1, 3, 6, 4, 9, 15}, {1, 3, 6, 4, 9, 15}, {1, 2, 3, 5, 7, 9}};
    quern_array *x = array_of(QUERN_INT32, SHAPE(2, 3), (int32_t[]){1, 2, 3, 4, 5, 6});
    quern_kernel *k = cumsum();
    for (int n = 0; n < 4; n++) {
        quern_array *y = NULL;
        quern_call_options options = along(&axes[n]);
        OK(quern_call_n(k, (quern_value[]){QUERN_VALUES(x, &y)}, 2, &options));
        expect_bytes(y, expected[n], sizeof expected[n], "axis");
        quern_array_release(y);
    }
    quern_array *all = NULL, *turned, *turned_sums = NULL;
    OK(quern_call(k, x, &all));
    EXPECT(all, int32_t, 1, 3, 6, 10, 15, 21);
    OK(quern_array_transpose(&turned, x, NULL));
    OK(quern_call(k, turned, &turned_sums)); /* C order of the view: 1 4 2 5 3 6 */
    EXPECT(turned_sums, int32_t, 1, 5, 7, 12, 15, 21);
    quern_array *arrays[] = {x, all, turned, turned_sums};
    for (int n = 0; n < 4; n++) {
        quern_array_release(arrays[n]);
    }
    quern_kernel_release(k);
}

Test(scans, identity_counts_once_and_exclusive_leaves_out)
{
    quern_array *x = array_of(QUERN_INT32, SHAPE(4), (int32_t[]){1, 2, 3, 4});
    quern_array *y = NULL, *before = NULL;
    quern_kernel *k = scan_of("T x", "T y", "x", "a + b", "y = a", "100"), *exclusive;
    OK(quern_call(k, x, &y));
    EXPECT(y, int32_t, 101, 103, 106, 110);
    quern_scan_options options = QUERN_SCAN_OPTIONS_INIT;
    options.exclusive = 1;
    OK(quern_scan(&exclusive, engine, "T x", "T y", "x", "a + b", "y = a", "0", &options));
    OK(quern_call(exclusive, x, &before));
    EXPECT(before, int32_t, 0, 1, 3, 6);
    quern_array *arrays[] = {x, y, before};
    for (int n = 0; n < 3; n++) {
        quern_array_release(arrays[n]);
    }
    quern_kernel_release(k);
    quern_kernel_release(exclusive);
}

/* Nothing comes before a single element, so none is read, but by post, or by a macro in it. */
Test(scans, exclusive_of_single_elements)
{
    static const char *const posts[] = {"y = a", "y = a + x", "y = (T)(2 * a)", "y = LAST + a"};
    static const bool reads[] = {false, true, false, true};
    static const int32_t expected[][4] = {
        {9, 9, 9, 9}, {10, 11, 12, 13}, {18, 18, 18, 18}, {10, 11, 12, 13}};
    quern_array *x = array_of(QUERN_INT32, SHAPE(2, 1, 2), (int32_t[]){1, 2, 3, 4});
    quern_scan_options options = QUERN_SCAN_OPTIONS_INIT;
    options.exclusive = 1;
    quern_call_options o = QUERN_CALL_OPTIONS_INIT;
    o.axes = (int[]){1};
    o.axis_count = 1;
    for (int n = 0; n < 4; n++) {
        options.preamble = n == 3 ? "#define LAST x" : NULL;
        quern_array *y = NULL;
        quern_kernel *k;
        quern_explanation *e;
        OK(quern_scan(&k, engine, "T x", "T y", "x", "a + b", posts[n], "9", &options));
        const quern_value values[] = {QUERN_VALUES(x, &y)};
        OK(quern_explain(&e, k, values, 2, &o));
        cr_expect_eq(strstr(e->plan, "access b") == NULL, reads[n], "%s: %s", posts[n], e->plan);
        OK(quern_call_n(k, values, 2, &o));
        expect_bytes(y, expected[n], sizeof expected[n], posts[n]);
        quern_explanation_release(e);
        quern_array_release(y);
        quern_kernel_release(k);
    }
    quern_array_release(x);
}

/* Narrow elements whose values are wide: little of them fits shared memory. */
Test(scans, wide_values_of_narrow_columns)
{
    enum { ROWS = 3000, COLUMNS = 8 };
    static signed char host[ROWS][COLUMNS];
    static double expected[ROWS][COLUMNS][2]; /* complex */
    for (int r = 0; r < ROWS; r++) {
        for (int c = 0; c < COLUMNS; c++) {
            host[r][c] = (signed char)((r * 7 + c * 3) % 11 - 4);
            expected[r][c][0] = (r > 0 ? expected[r - 1][c][0] : 0) + host[r][c];
        }
    }
    static const struct {
        const char *type, *map, *scan, *post;
    } values[] = {
        {NULL, "x", "a + b", "y = a"},
        {"wide", "return wide{{(double)x}};", "return wide{{a.v[0] + b.v[0]}};", "y = a.v[0]"}};
    quern_array *x = array_of(QUERN_INT8, SHAPE(ROWS, COLUMNS), host);
    quern_call_options options = along(&(int){0});
    for (int n = 0; n < 2; n++) {
        quern_scan_options scan = QUERN_SCAN_OPTIONS_INIT;
        scan.scan_type = values[n].type;
        scan.preamble = "struct wide { double v[8]; };";
        quern_kernel *k;
        OK(quern_scan(&k, engine, "T x", "complex128 y", values[n].map, values[n].scan,
                      values[n].post, NULL, &scan));
        quern_array *y = NULL;
        OK(quern_call_n(k, (quern_value[]){QUERN_VALUES(x, &y)}, 2, &options));
        expect_bytes(y, expected, sizeof expected, values[n].map);
        quern_array_release(y);
        quern_kernel_release(k);
    }
    quern_array_release(x);
}

/* Values made of braces alone are what the preamble's structures take. */
Test(scans, identity_in_braces)
{
    quern_array *x = array_of(QUERN_INT32, SHAPE(4), (int32_t[]){3, 1, 4, 2}), *y = NULL;
    quern_scan_options options = QUERN_SCAN_OPTIONS_INIT;
    options.exclusive = 1;
    options.scan_type = "pair";
    options.preamble = "struct pair { int sum, count; };";
    quern_kernel *k;
    OK(quern_scan(&k, engine, "T x", "T y", "return pair{x, 1};",
                  "return pair{a.sum + b.sum, a.count + b.count};", "y = 10 * a.sum + a.count",
                  "{5, 0}", &options));
    OK(quern_call(k, x, &y));
    EXPECT(y, int32_t, 50, 81, 92, 133);
    quern_array_release(x);
    quern_array_release(y);
    quern_kernel_release(k);
}

Test(scans, backwards_through_a_view)
{
    quern_array *x = array_of(QUERN_FLOAT64, SHAPE(4), (double[]){1, 2, 3, 4}), *view, *y = NULL;
    OK(quern_array_slice(&view, x, 1, &(quern_slice){3, QUERN_SLICE_NONE, -1}));
    quern_kernel *k = cumsum();
    OK(quern_call(k, view, &y));
    EXPECT(y, double, 4, 7, 9, 10);
    OK(quern_call(k, view, view)); /* in place */
    EXPECT(x, double, 10, 9, 7, 4);
    quern_array_release(x);
    quern_array_release(view);
    quern_array_release(y);
    quern_kernel_release(k);
}

/* Stream compaction: what post sees, and raw outputs that it stores to where it likes. */
Test(scans, post_sees_inputs_scalars_positions_and_raw_arrays)
{
    int32_t *host = malloc(LONG_COUNT * sizeof *host), *kept = calloc(LONG_COUNT, sizeof *kept);
    int64_t n = LONG_COUNT, count = 0;
    for (int64_t k = 0; k < n; k++) {
        host[k] = (int32_t)((k * 2654435761) >> 5 & 1023) - 512;
        if (host[k] > 300) {
            kept[count++] = host[k] + 2 * (int32_t)k;
        }
    }
    quern_array *x = array_of(QUERN_INT32, 1, &n, host), *out;
    memset(host, 0, (size_t)n * sizeof *host);
    out = array_of(QUERN_INT32, 1, &n, host);
    quern_array *total = array_of(QUERN_INT64, SHAPE(1), (int64_t[]){0});
    quern_scan_options options = QUERN_SCAN_OPTIONS_INIT;
    options.exclusive = 1;
    options.scan_type = "long long";
    quern_kernel *k;
    OK(quern_scan(&k, engine, "T x, T limit", "raw T out, raw int64 total", "x > limit ? 1 : 0",
                  "a + b",
                  "if (x > limit) out[a] = x + 2 * (T)_J;\n"
                  "if (_J == _in_ind.size() - 1) total[0] = a + (x > limit);",
                  "0", &options));
    OK(quern_call(k, x, 300, out, total));
    EXPECT(total, int64_t, count);
    expect_bytes(out, kept, (size_t)n * sizeof *kept, "compacted");
    quern_array_release(x);
    quern_array_release(out);
    quern_array_release(total);
    quern_kernel_release(k);
    free(host);
    free(kept);
}

Test(scans, several_inputs_and_outputs_broadcast)
{
    quern_array *x = array_of(QUERN_INT32, SHAPE(2, 3), (int32_t[]){1, 2, 3, 4, 5, 6});
    quern_array *w = array_of(QUERN_INT32, SHAPE(3), (int32_t[]){1, 10, 100}), *y = NULL, *z = NULL;
    quern_kernel *k = scan_of("T x, T w", "T y, float z", "return x * w;", "T c = a + b; return c;",
                              "y = a; z = x + 0.5f", NULL);
    quern_call_options options = along(&(int){1});
    OK(quern_call_n(k, (quern_value[]){QUERN_VALUES(x, w, &y, &z)}, 4, &options));
    EXPECT(y, int32_t, 1, 21, 321, 4, 54, 654);
    EXPECT(z, float, 1.5f, 2.5f, 3.5f, 4.5f, 5.5f, 6.5f);
    quern_array *arrays[] = {x, w, y, z};
    for (int n = 0; n < 4; n++) {
        quern_array_release(arrays[n]);
    }
    quern_kernel_release(k);
}

Test(scans, all_arrays_raw)
{
    quern_array *x = array_of(QUERN_INT32, SHAPE(5), (int32_t[]){1, 2, 3, 4, 5});
    quern_array *y = array_of(QUERN_INT32, SHAPE(5), (int32_t[]){0, 0, 0, 0, 0});
    quern_kernel *k = scan_of("raw T x", "raw T y", "x[_J]", "a * b", "y[4 - _J] = a", NULL);
    quern_call_options options = QUERN_CALL_OPTIONS_INIT;
    options.loop_size = &(int64_t){5};
    OK(quern_call_n(k, (quern_value[]){QUERN_VALUES(x, y)}, 2, &options));
    EXPECT(y, int32_t, 120, 24, 6, 2, 1);
    FAILS(QUERN_ERROR_INVALID_ARGUMENT, quern_call(k, x, y));
    quern_array_release(x);
    quern_array_release(y);
    quern_kernel_release(k);
}

Test(scans, overlap_is_copied_first)
{
    int32_t host[6] = {1, 2, 3, 4, 5, 6};
    quern_array *x = array_of(QUERN_INT32, SHAPE(6), host), *head, *tail;
    OK(quern_array_slice(&head, x, 1, &(quern_slice){0, 5, 1}));
    OK(quern_array_slice(&tail, x, 1, &(quern_slice){1, 6, 1}));
    quern_kernel *k = cumsum();
    quern_bound *bound;
    OK(quern_call(k, head, tail));
    EXPECT(x, int32_t, 1, 1, 3, 6, 10, 15);
    FAILS(QUERN_ERROR_INVALID_ARGUMENT,
          quern_bind(&bound, k, (quern_value[]){QUERN_VALUES(head, tail)}, 2, NULL));
    quern_array_release(x);
    quern_array_release(head);
    quern_array_release(tail);
    quern_kernel_release(k);
}

/* Launch after launch finds its words as it needs them, even with other sizes in between. */
Test(scans, bound_and_other_calls_in_turn)
{
    float *host = malloc(LONG_COUNT * sizeof *host), *first = malloc(LONG_COUNT * sizeof *host);
    for (int64_t k = 0; k < LONG_COUNT; k++) {
        host[k] = 1.0f / (float)(k % 1000 + 1);
    }
    int64_t sizes[] = {LONG_COUNT, LONG_COUNT - 70001, 100000}, shape[] = {2, 150000};
    quern_kernel *k = cumsum();
    quern_array *x[3], *y[3] = {NULL}, *rows, *sums = NULL;
    for (int n = 0; n < 3; n++) {
        x[n] = array_of(QUERN_FLOAT32, 1, &sizes[n], host);
    }
    rows = array_of(QUERN_FLOAT32, 2, shape, host);
    quern_bound *bound;
    OK(quern_bind(&bound, k, (quern_value[]){QUERN_VALUES(x[0], &y[0])}, 2, NULL));
    quern_call_options options = along(&(int){1});
    for (int turn = 0; turn < 3; turn++) {
        OK(quern_launch(bound));
        OK(quern_call(k, x[1], &y[1]));
        OK(quern_call(k, x[2], &y[2]));
        OK(quern_call_n(k, (quern_value[]){QUERN_VALUES(rows, &sums)}, 2, &options));
        if (turn == 0) {
            OK(quern_array_read(y[0], first, LONG_COUNT * sizeof *first));
        }
        expect_bytes(y[0], first, LONG_COUNT * sizeof *first, "the same bits");
        expect_bytes(y[2], first, 100000 * sizeof *first, "a shorter scan, the same tiles");
    }
    double sum = 0;
    for (int64_t n = 0; n < LONG_COUNT; n++) {
        sum += host[n];
        cr_assert_float_eq(first[n], sum, 1e-4 * sum + 1e-6, "at %lld: %g, not %g", (long long)n,
                           first[n], sum);
    }
    quern_bound_release(bound);
    for (int n = 0; n < 3; n++) {
        quern_array_release(x[n]);
        quern_array_release(y[n]);
    }
    quern_array_release(rows);
    quern_array_release(sums);
    quern_kernel_release(k);
    free(host);
    free(first);
}

Test(scans, nothing_and_one)
{
    quern_array *none, *one = array_of(QUERN_INT32, 0, NULL, (int32_t[]){7}), *y = NULL, *z = NULL;
    OK(quern_array_new(&none, engine, QUERN_INT32, SHAPE(3, 0)));
    quern_kernel *k = cumsum();
    OK(quern_call(k, none, &y));
    cr_assert_eq(quern_array_count(y), 0);
    OK(quern_call(k, one, &z));
    EXPECT(z, int32_t, 7);
    quern_array_release(none);
    quern_array_release(one);
    quern_array_release(y);
    quern_array_release(z);
    quern_kernel_release(k);
}

Test(scans, outputs_by_address)
{
    quern_array *x = array_of(QUERN_INT32, SHAPE(8), (int32_t[]){1, 1, 1, 1, 1, 1, 1, 1});
    quern_array *y = array_of(QUERN_INT32, SHAPE(8), (int32_t[]){10, 20, 30, 40, 50, 60, 70, 80});
    quern_kernel *k = scan_of("T x", "T y", "x", "a + b", "atomicAdd(&y, a)", NULL);
    OK(quern_call(k, x, y));
    EXPECT(y, int32_t, 11, 22, 33, 44, 55, 66, 77, 88);
    quern_array_release(x);
    quern_array_release(y);
    quern_kernel_release(k);
}

Test(scans, definitions_that_are_refused)
{
    quern_kernel *k;
    quern_scan_options exclusive = QUERN_SCAN_OPTIONS_INIT, wrong = QUERN_SCAN_OPTIONS_INIT;
    exclusive.exclusive = 1;
    wrong.size = 3;
    static const struct {
        const char *in, *out, *map, *scan, *post, *identity, *says;
    } bad[] = {
        {NULL, "T y", "x", "a + b", "y = a", NULL, "in is NULL"},
        {"T x", "T y", NULL, "a + b", "y = a", NULL, "map is NULL"},
        {"T x", "T y", "x", NULL, "y = a", NULL, "scan is NULL"},
        {"T x", "T y", "x", " ", "y = a", NULL, "scan is empty"},
        {"T x", "T y", "x", "a + b", "", NULL, "post is empty"},
        {"T x", "T y", "x", "a + b", "y = a", "", "identity is empty"},
    };
    for (size_t n = 0; n < sizeof bad / sizeof *bad; n++) {
        FAILS(QUERN_ERROR_INVALID_ARGUMENT,
              quern_scan(&k, engine, bad[n].in, bad[n].out, bad[n].map, bad[n].scan, bad[n].post,
                         bad[n].identity, NULL));
        SAYS(bad[n].says);
        cr_assert_null(k);
    }
    FAILS(QUERN_ERROR_INVALID_ARGUMENT,
          quern_scan(&k, engine, "T x", "T y", "x", "a + b", "y = a", NULL, &exclusive));
    SAYS("needs an identity");
    FAILS(QUERN_ERROR_INVALID_ARGUMENT,
          quern_scan(&k, engine, "T x", "T y", "x", "a + b", "y = a", NULL, &wrong));
    SAYS("QUERN_SCAN_OPTIONS_INIT");
    FAILS(QUERN_ERROR_SIGNATURE,
          quern_scan(&k, engine, "T x", "", "x", "a + b", "(void)a", NULL, NULL));
    SAYS("has no output");
    FAILS(QUERN_ERROR_SIGNATURE,
          quern_scan(&k, engine, "T a", "T y", "a", "a + b", "y = a", NULL, NULL));
    SAYS("is the combined value");
    FAILS(QUERN_ERROR_SIGNATURE, quern_scan(&k, engine, "T", "T y", "x", "a", "y = a", NULL, NULL));
}

Test(scans, calls_that_are_refused)
{
    quern_array *x = array_of(QUERN_INT32, SHAPE(2, 3), (int32_t[]){1, 2, 3, 4, 5, 6}), *y = NULL;
    quern_array *flat = array_of(QUERN_INT32, SHAPE(6), (int32_t[]){1, 2, 3, 4, 5, 6}), *many;
    OK(quern_array_broadcast(&many, flat, 2, (int64_t[]){2, 6}));
    quern_kernel *k = cumsum();
    quern_value values[] = {QUERN_VALUES(x, &y)};
    quern_call_options options = along((int[]){0, 1});
    options.axis_count = 2;
    FAILS(QUERN_ERROR_SHAPE, quern_call_n(k, values, 2, &options));
    SAYS("one axis");
    options.axis_count = 0;
    FAILS(QUERN_ERROR_SHAPE, quern_call_n(k, values, 2, &options));
    SAYS("0 axes were given");
    options = along(&(int){2});
    FAILS(QUERN_ERROR_SHAPE, quern_call_n(k, values, 2, &options));
    SAYS("out of range");
    options = along(&(int){1});
    options.keepdims = 1;
    FAILS(QUERN_ERROR_INVALID_ARGUMENT, quern_call_n(k, values, 2, &options));
    SAYS("keepdims");
    FAILS(QUERN_ERROR_SHAPE, quern_call(k, x, flat));
    FAILS(QUERN_ERROR_SHAPE, quern_call(k, many, many));
    FAILS(QUERN_ERROR_ARGUMENT_COUNT, quern_call(k, x));
    cr_assert_null(y);
    quern_array_release(x);
    quern_array_release(flat);
    quern_array_release(many);
    quern_kernel_release(k);
}

/* Messages speak of the user's own texts. */
Test(scans, texts_that_do_not_compile)
{
    static const char *const types[] = {"struct large", "no_such_type"};
    static const struct {
        const char *map, *scan, *post, *identity, *name, *said;
    } bad[] = {
        {"x + oops", "a + b", "y = a", NULL, "map", "map:1:5"},
        {"x", "a + oops", "y = a", NULL, "scan", "scan:1:5"},
        {"x", "a + b", "y = nothing", NULL, "post", "post:1:5"},
        {"x", "a + b", "y = a", "zero", "identity", "identity:1:1"},
        {"int c = x;", "a + b", "y = a", NULL, "map", "map:1:10: no value is returned"},
        {"x", "int c = a;\nc += b;", "y = a", NULL, "scan", "scan:2:7: no value is returned"}};
    quern_array *x = array_of(QUERN_INT32, SHAPE(3), (int32_t[]){1, 2, 3}), *y = NULL;
    for (size_t n = 0; n < sizeof bad / sizeof *bad; n++) {
        quern_kernel *k =
            scan_of("T x", "T y", bad[n].map, bad[n].scan, bad[n].post, bad[n].identity);
        FAILS(QUERN_ERROR_COMPILE, quern_call(k, x, &y));
        cr_assert_str_eq(quern_last_error()->text_name, bad[n].name);
        SAYS(bad[n].said);
        quern_kernel_release(k);
    }
    for (int n = 0; n < 2; n++) {
        quern_kernel *k;
        quern_scan_options options = QUERN_SCAN_OPTIONS_INIT;
        options.preamble = "struct large { int v[17]; };";
        options.scan_type = types[n];
        OK(quern_scan(&k, engine, "T x", "T y", "x", "a", "y = 1", NULL, &options));
        FAILS(QUERN_ERROR_COMPILE, quern_call(k, x, &y));
        SAYS("scan_type");
        quern_kernel_release(k);
    }
    cr_assert_null(y);
    quern_array_release(x);
}

/* ---- several shapes by one kernel ------------------------------------------------------------ */

/* Running sums of rows into an output that begins one element after its memory: how many are wrong.
 */
static int wrong_sums(quern_kernel *kernel, int64_t rows, int64_t length)
{
    const int64_t count = rows * length;
    int64_t *from = malloc((size_t)count * sizeof *from);
    int8_t *got = malloc((size_t)count + 1);
    quern_array *x, *memory, *z;
    int wrong = 0;
    cr_assert(from && got);
    for (int64_t k = 0; k < count; k++) {
        from[k] = k * 7 % 11 - 5;
    }
    OK(quern_array_from(&x, engine, QUERN_INT64, SHAPE(rows, length), from));
    OK(quern_array_new(&memory, engine, QUERN_INT8, SHAPE(count + 1)));
    OK(quern_array_wrap(&z, engine, QUERN_INT8, SHAPE(rows, length), NULL,
                        (int8_t *)quern_array_pointer(memory) + 1, NULL, NULL));
    quern_call_options options = QUERN_CALL_OPTIONS_INIT;
    options.axes = (int[]){1};
    options.axis_count = 1;
    OK(quern_call_with(kernel, &options, x, z));
    OK(quern_array_read(z, got, (size_t)count));
    for (int64_t row = 0; row < rows; row++) {
        int64_t sum = 0;
        for (int64_t k = 0; k < length; k++) {
            sum += from[row * length + k];
            wrong += got[row * length + k] != (int8_t)sum;
        }
    }
    quern_array_release(z);
    quern_array_release(memory);
    quern_array_release(x);
    free(from);
    free(got);
    return wrong;
}

/* What is compiled for one shape must not be taken for another that needs other code. */
Test(scans, shapes_that_differ_only_in_extents)
{
    static const int64_t lengths[] = {192, 116, 24, 100, 33, 64, 16, 300, 7, 2};
    quern_kernel *kernel;
    quern_scan_options options = QUERN_SCAN_OPTIONS_INIT;
    options.scan_type = "long long";
    OK(quern_scan(&kernel, engine, "int64 x", "int8 z", "x", "a + b", "z = a", "0", &options));
    for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++) {
        cr_expect_eq(wrong_sums(kernel, 400 / (int64_t)(k + 1), lengths[k]), 0, "rows of %lld",
                     (long long)lengths[k]);
    }
    quern_kernel_release(kernel);
}
