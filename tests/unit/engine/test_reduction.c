/* SPDX-License-Identifier: MIT
 *
 * Reductions one by one: what each argument means, what is refused, and launches that share a
 * workspace. The table of dtypes, layouts and axes is tests/table.
 */
#include "whole.h"
#include <pthread.h>

TestSuite(reduction, .init = whole_open, .fini = whole_close);

static quern_kernel *sum_of(const char *in, const char *map)
{
    quern_kernel *k;
    OK(quern_reduction(&k, engine, in, "T y", map, "a + b", "y = a", "0", NULL));
    return k;
}

/* Call with axes; `count` < 0: none are named. */
static quern_status call_along(quern_kernel *k, quern_array *x, quern_array **y, int count,
                               const int *axes, bool keepdims)
{
    quern_call_options options = QUERN_CALL_OPTIONS_INIT;
    options.axes = count < 0 ? NULL : axes;
    options.axis_count = count < 0 ? 0 : (size_t)count;
    options.keepdims = keepdims;
    return quern_call_n(k, (quern_value[]){QUERN_VALUES(x, y)}, 2, &options);
}

Test(reduction, axes)
{
    int32_t host[6] = {1, 2, 3, 4, 5, 6};
    quern_array *x = array_of(QUERN_INT32, SHAPE(2, 3), host), *y = NULL;
    quern_kernel *sum = sum_of("T x", "x");
    OK(call_along(sum, x, &y, -1, NULL, false));
    cr_assert_eq(quern_array_ndim(y), 0);
    EXPECT(y, int32_t, 21);
    quern_array_release(y);
    y = NULL;
    OK(call_along(sum, x, &y, 1, (int[]){-1}, true));
    cr_assert(quern_array_ndim(y) == 2 && quern_array_shape(y)[1] == 1);
    EXPECT(y, int32_t, 6, 15);
    OK(call_along(sum, x, &y, 1, (int[]){1}, true)); /* into the same array again */
    FAILS(QUERN_ERROR_SHAPE, call_along(sum, x, &y, 1, (int[]){1}, false));
    SAYS("exactly that shape");
    quern_array_release(y);
    y = NULL;
    OK(call_along(sum, x, &y, 2, (int[]){1, 0}, false));
    EXPECT(y, int32_t, 21);
    quern_array_release(y);
    y = NULL;
    OK(call_along(sum, x, &y, 0, (int[]){0}, false)); /* none: only maps */
    EXPECT(y, int32_t, 1, 2, 3, 4, 5, 6);
    quern_array_release(y);
    y = NULL;
    FAILS(QUERN_ERROR_SHAPE, call_along(sum, x, &y, 1, (int[]){2}, false));
    SAYS("axis 2 is out of range");
    FAILS(QUERN_ERROR_SHAPE, call_along(sum, x, &y, 1, (int[]){-3}, false));
    FAILS(QUERN_ERROR_SHAPE, call_along(sum, x, &y, 2, (int[]){1, -1}, false));
    SAYS("given twice");
    FAILS(QUERN_ERROR_INVALID_ARGUMENT, call_along(sum, x, &y, 2, NULL, false));
    SAYS("axes is NULL, but axis_count is 2");
    cr_assert_null(y);
    quern_kernel_release(sum);
    quern_array_release(x);
}

Test(reduction, identity)
{
    float host[4] = {-3, -1, -2, -7};
    quern_array *x = array_of(QUERN_FLOAT32, SHAPE(4), host), *y = NULL;
    quern_array *none = array_of(QUERN_FLOAT32, SHAPE(0, 3), host);
    quern_kernel *most, *ten;
    OK(quern_reduction(&most, engine, "T x", "T y", "x", "max(a, b)", "y = a", NULL, NULL));
    OK(quern_reduction(&ten, engine, "T x", "T y", "x", "a + b", "y = a", "10", NULL));
    OK(quern_call(most, x, &y));
    EXPECT(y, float, -1);
    FAILS(QUERN_ERROR_SHAPE, quern_call(most, none, y));
    SAYS("no identity");
    OK(quern_call(ten, x, y)); /* counts once */
    EXPECT(y, float, -3);
    OK(quern_call(ten, none, y));
    EXPECT(y, float, 10);
    quern_array_release(y);
    y = NULL;
    OK(call_along(most, none, &y, 1, (int[]){1}, false)); /* no output: nothing to do */
    cr_assert_eq(quern_array_count(y), 0);
    quern_array *all[] = {x, y, none};
    for (int n = 0; n < 3; n++) {
        quern_array_release(all[n]);
    }
    quern_kernel_release(most);
    quern_kernel_release(ten);
}

Test(reduction, inputs_of_every_sort)
{
    float m[6] = {1, 2, 3, 4, 5, 6}, v[3] = {1, 10, 100}, w[2] = {2, -2};
    quern_array *x = array_of(QUERN_FLOAT32, SHAPE(2, 3), m), *y = NULL;
    quern_array *row = array_of(QUERN_FLOAT32, SHAPE(3), v);
    quern_array *raw = array_of(QUERN_FLOAT32, SHAPE(2), w);
    quern_kernel *k;
    OK(quern_reduction(&k, engine, "T m, T v, raw T w, T s", "T y",
                       "m * v * w[_out_ind.get()[0]] + s", "a + b", "y = a", "0", NULL));
    quern_call_options options = QUERN_CALL_OPTIONS_INIT;
    int last = -1;
    options.axes = &last;
    options.axis_count = 1;
    OK(quern_call_n(k, (quern_value[]){QUERN_VALUES(x, row, raw, 1, &y)}, 5, &options));
    EXPECT(y, float, 2 * 321 + 3, -2 * 654 + 3);
    quern_kernel_release(k);
    OK(quern_reduction(&k, engine, "raw T w", "T y", "w[_J % 2] * _J", "a + b", "y = a", "0",
                       NULL));
    quern_array_release(y);
    y = NULL;
    FAILS(QUERN_ERROR_INVALID_ARGUMENT, quern_call(k, raw, &y)); /* how many? */
    options = (quern_call_options)QUERN_CALL_OPTIONS_INIT;
    options.loop_size = &(int64_t){5};
    OK(quern_call_n(k, (quern_value[]){QUERN_VALUES(raw, &y)}, 2, &options));
    EXPECT(y, float, 2 * (0 + 2 + 4) - 2 * (1 + 3));
    quern_kernel_release(k);
    quern_array *all[] = {x, y, row, raw};
    for (int n = 0; n < 4; n++) {
        quern_array_release(all[n]);
    }
}

Test(reduction, output_that_is_an_input)
{
    int32_t host[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
    quern_array *x = array_of(QUERN_INT32, SHAPE(3, 3), host), *row;
    OK(quern_array_slice(&row, x, 1, (quern_slice[]){{1, 0, 0}}));
    quern_kernel *sum = sum_of("T x", "x");
    OK(call_along(sum, x, &row, 1, (int[]){0}, false)); /* as if x had been copied first */
    EXPECT(x, int32_t, 1, 2, 3, 12, 15, 18, 7, 8, 9);
    quern_array_release(row);
    quern_array_release(x);
    quern_kernel_release(sum);
}

/* An array without elements overlaps nothing, wherever it would begin. */
Test(reduction, no_elements_overlap_nothing)
{
    int32_t host[4] = {1, 2, 3, 4};
    quern_array *x = array_of(QUERN_INT32, SHAPE(4), host), *none, *first;
    OK(quern_array_slice(&none, x, 1, &(quern_slice){2, 2, 1}));
    OK(quern_array_slice(&first, x, 1, &(quern_slice){0, 0, 0}));
    quern_kernel *sum = sum_of("T x", "x");
    quern_bound *bound;
    OK(quern_bind(&bound, sum, (quern_value[]){QUERN_VALUES(none, first)}, 2, NULL));
    OK(quern_launch(bound));
    EXPECT(x, int32_t, 0, 2, 3, 4);
    quern_bound_release(bound);
    quern_kernel_release(sum);
    quern_array *all[] = {x, none, first};
    for (int n = 0; n < 3; n++) {
        quern_array_release(all[n]);
    }
}

/* More outputs than can be counted, though there are no inputs. */
Test(reduction, too_many_outputs)
{
    int64_t many = INT64_C(1) << 40;
    quern_array *x, *w, *y = array_of(QUERN_INT32, SHAPE(1), (int32_t[]){0});
    OK(quern_array_new(&x, engine, QUERN_INT32, SHAPE(0, many, 1)));
    OK(quern_array_new(&w, engine, QUERN_INT32, SHAPE(0, 1, many)));
    quern_kernel *k;
    OK(quern_reduction(&k, engine, "T x, T w", "raw T y", "x + w", "a + b", "y[0] = a", "0", NULL));
    quern_call_options options = QUERN_CALL_OPTIONS_INIT;
    options.axes = (int[]){0};
    options.axis_count = 1;
    FAILS(QUERN_ERROR_INVALID_ARGUMENT,
          quern_call_n(k, (quern_value[]){QUERN_VALUES(x, w, y)}, 3, &options));
    SAYS("(1099511627776, 1099511627776)");
    quern_kernel_release(k);
    quern_array *all[] = {x, w, y};
    for (int n = 0; n < 3; n++) {
        quern_array_release(all[n]);
    }
}

/* Nothing is launched, so no memory is needed either. */
Test(reduction, more_blocks_than_a_grid_has)
{
    int64_t many[] = {INT64_C(1) << 58};
    quern_array *one = array_of(QUERN_INT32, SHAPE(1), (int32_t[]){0}), *x;
    OK(quern_array_broadcast(&x, one, 1, many));
    quern_kernel *sum = sum_of("T x", "x");
    quern_call_options options = QUERN_CALL_OPTIONS_INIT;
    options.axes = (int[]){0}; /* none of them */
    quern_explanation *e;
    quern_value values[] = {quern_value_array(x), {QUERN_VALUE_NONE, 0, {0}}};
    FAILS(QUERN_ERROR_NOT_SUPPORTED, quern_explain(&e, sum, values, 2, &options));
    SAYS("more than a grid has");
    cr_assert_null(e);
    quern_kernel_release(sum);
    quern_array_release(x);
    quern_array_release(one);
}

Test(reduction, definitions_that_are_refused)
{
    quern_kernel *k;
    quern_reduction_options o = QUERN_REDUCTION_OPTIONS_INIT;
    FAILS(QUERN_ERROR_INVALID_ARGUMENT,
          quern_reduction(&k, engine, "T x", "T y", NULL, "a + b", "y = a", "0", NULL));
    SAYS("map is NULL");
    FAILS(QUERN_ERROR_INVALID_ARGUMENT,
          quern_reduction(&k, engine, "T x", "T y", "x", " /* what? */ ", "y = a", "0", NULL));
    SAYS("reduce is empty");
    FAILS(QUERN_ERROR_INVALID_ARGUMENT,
          quern_reduction(&k, engine, "T x", "T y", "x", "a + b", "y = a", "", NULL));
    SAYS("pass NULL");
    FAILS(QUERN_ERROR_SIGNATURE,
          quern_reduction(&k, engine, "T x", "T a", "x", "a + b", "a = a", "0", NULL));
    FAILS(QUERN_ERROR_SIGNATURE,
          quern_reduction(&k, engine, "T x", "", "x", "a + b", "y = a", "0", NULL));
    o.size = 3;
    FAILS(QUERN_ERROR_INVALID_ARGUMENT,
          quern_reduction(&k, engine, "T x", "T y", "x", "a + b", "y = a", "0", &o));
    cr_assert_null(k);
}

Test(reduction, texts_that_do_not_compile)
{
    static const struct {
        const char *map, *reduce, *post, *identity, *reduce_type, *says;
    } cases[] = {
        {"x * nope", "a + b", "y = a", "0", NULL, "map:1:5"},
        {"x", "a + c", "y = a", "0", NULL, "reduce:1:5"},
        {"x", "a + b", "y = a +", "0", NULL, "post"},
        {"x", "a + b", "y = a", "none", NULL, "identity:1:1"},
        {"x", "a + b", "y = a", "0", "pair", "reduce_type:1:1"},
        {"x", "a", "y = a.v", NULL, "struct { float v; float &r; }", "map:1:1"},
        {"float v = x;", "a + b", "y = a", "0", NULL, "map:1"},
        {"x", "\n float c = a + b;\n", "y = a", "0", NULL, "reduce:2"},
    };
    float host[2] = {1, 2};
    quern_array *x = array_of(QUERN_FLOAT32, SHAPE(2), host), *y = NULL;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        quern_reduction_options o = QUERN_REDUCTION_OPTIONS_INIT;
        o.reduce_type = cases[c].reduce_type;
        quern_kernel *k;
        OK(quern_reduction(&k, engine, "T x", "T y", cases[c].map, cases[c].reduce, cases[c].post,
                           cases[c].identity, &o));
        FAILS(QUERN_ERROR_COMPILE, quern_call(k, x, &y));
        SAYS(cases[c].says);
        cr_assert_null(y);
        quern_kernel_release(k);
    }
    quern_array_release(x);
}

Test(reduction, types_too_large_or_not_plain)
{
    float host[2] = {1, 2};
    quern_array *x = array_of(QUERN_FLOAT32, SHAPE(2), host), *y = NULL;
    quern_reduction_options o = QUERN_REDUCTION_OPTIONS_INIT;
    quern_kernel *k;
    o.preamble = "struct wide { float v[17]; };\n"
                 "struct odd { float v; __device__ ~odd() {} };";
    o.reduce_type = "wide";
    OK(quern_reduction(&k, engine, "T x", "T y", "wide{x}", "a", "y = a.v[0]", NULL, &o));
    FAILS(QUERN_ERROR_COMPILE, quern_call(k, x, &y));
    SAYS("reduce_type:1");
    SAYS("at most 64 bytes");
    quern_kernel_release(k);
    o.reduce_type = "odd";
    OK(quern_reduction(&k, engine, "T x", "T y", "odd{x}", "a", "y = a.v", NULL, &o));
    FAILS(QUERN_ERROR_COMPILE, quern_call(k, x, &y));
    SAYS("trivially copyable");
    quern_kernel_release(k);
    quern_array_release(x);
}

/* More outputs side by side than have room for their values in shared memory at once, and not a
 * multiple of that number. */
Test(reduction, columns_of_a_type_of_12_bytes)
{
    enum { ROWS = 300, COLUMNS = 32 };
    int8_t host[ROWS * COLUMNS];
    for (int k = 0; k < ROWS * COLUMNS; k++) {
        host[k] = (int8_t)(k % COLUMNS);
    }
    quern_array *x = array_of(QUERN_INT8, SHAPE(ROWS, COLUMNS), host), *y = NULL;
    quern_reduction_options o = QUERN_REDUCTION_OPTIONS_INIT;
    o.preamble = "struct triple { int sum, count, first; };";
    o.reduce_type = "triple";
    quern_kernel *k;
    OK(quern_reduction(&k, engine, "T x", "int32 y", "triple{x, 1, x}",
                       "triple{a.sum + b.sum, a.count + b.count, a.first}",
                       "y = a.sum + 10000 * a.count + a.first", NULL, &o));
    OK(call_along(k, x, &y, 1, (int[]){0}, false));
    int32_t sums[COLUMNS];
    OK(quern_array_read(y, sums, sizeof sums));
    for (int c = 0; c < COLUMNS; c++) {
        cr_expect_eq(sums[c], ROWS * c + 10000 * ROWS + c, "column %d: %d", c, sums[c]);
    }
    quern_array_release(x);
    quern_array_release(y);
    quern_kernel_release(k);
}

Test(reduction, bound_and_explained)
{
    int64_t n = 300000;
    quern_array *x, *y = NULL;
    OK(quern_array_new(&x, engine, QUERN_INT64, 1, &n));
    OK(quern_array_fill(x, &(int64_t){3}, sizeof(int64_t)));
    quern_kernel *sum = sum_of("T x, T f", "x * f");
    quern_bound *bound;
    OK(quern_bind(&bound, sum, (quern_value[]){QUERN_VALUES(x, 1, &y)}, 3, NULL));
    for (int k = 0; k < 3; k++) { /* the workspace is as it was after each */
        OK(quern_launch(bound));
        EXPECT(y, int64_t, 900000);
    }
    OK(quern_bound_set_scalar(bound, 1, quern_literal_int(2)));
    OK(quern_launch(bound));
    EXPECT(y, int64_t, 1800000);
    quern_bound_release(bound);
    quern_explanation *e;
    OK(quern_explain(&e, sum, (quern_value[]){QUERN_VALUES(x, 1, y)}, 3, NULL));
    cr_assert_not_null(strstr(e->plan, "1 output of 300000 elements, by rows"), "%s", e->plan);
    cr_assert_not_null(strstr(e->source, "_quern_map"));
    quern_explanation_release(e);
    quern_kernel_release(sum);
    quern_array_release(x);
    quern_array_release(y);
}

/* `i` is the position in elementwise kernels alone; here it is a name like any other. */
Test(reduction, a_member_called_i)
{
    int64_t shape[] = {30, 20};
    quern_array *x, *turned;
    OK(quern_array_new(&x, engine, QUERN_INT64, 2, shape));
    OK(quern_array_transpose(&turned, x, NULL));
    quern_reduction_options o = QUERN_REDUCTION_OPTIONS_INIT;
    o.preamble = "struct pair { long long i; };\n"
                 "__device__ pair sum(pair a, pair b) { return pair{a.i + b.i}; }";
    o.reduce_type = "pair";
    quern_kernel *k;
    OK(quern_reduction(&k, engine, "T x", "T y", "pair{x}", "sum(a, b)", "y = a.i", NULL, &o));
    quern_explanation *e;
    OK(quern_explain(&e, k, (quern_value[]){QUERN_VALUES(turned), {QUERN_VALUE_NONE, 0, {0}}}, 2,
                     NULL));
    cr_expect_not_null(strstr(e->plan, "access v"), "%s", e->plan); /* as x lies */
    quern_explanation_release(e);
    quern_kernel_release(k);
    quern_array_release(turned);
    quern_array_release(x);
}

Test(reduction, bound_axes_are_its_own)
{
    int32_t host[4] = {1, 2, 3, 4}, other[4] = {5, 6, 7, 8};
    quern_array *x = array_of(QUERN_INT32, SHAPE(2, 2), host), *y = NULL;
    quern_array *z = array_of(QUERN_INT32, SHAPE(2, 2), other);
    quern_kernel *sum = sum_of("T x", "x");
    int axis = 0;
    quern_call_options options = QUERN_CALL_OPTIONS_INIT;
    options.axes = &axis;
    options.axis_count = 1;
    quern_bound *bound;
    OK(quern_bind(&bound, sum, (quern_value[]){QUERN_VALUES(x, &y)}, 2, &options));
    axis = 1;
    OK(quern_bound_set_array(bound, 0, z));
    OK(quern_launch(bound));
    EXPECT(y, int32_t, 12, 14);
    quern_bound_release(bound);
    options.axes = NULL;
    options.axis_count = 0;
    options.block_size = 64;
    FAILS(QUERN_ERROR_INVALID_ARGUMENT,
          quern_call_n(sum, (quern_value[]){QUERN_VALUES(x, &y)}, 2, &options));
    SAYS("block_size");
    quern_kernel_release(sum);
    quern_array *all[] = {x, y, z};
    for (int n = 0; n < 3; n++) {
        quern_array_release(all[n]);
    }
}

Test(reduction, places_named_by_options)
{
    static const char *const option = "-DPLACE=_J";
    int64_t host[4] = {1, 1, 1, 1};
    quern_array *x = array_of(QUERN_INT64, SHAPE(4), host), *y = NULL;
    quern_reduction_options o = QUERN_REDUCTION_OPTIONS_INIT;
    o.options = &option;
    o.option_count = 1;
    quern_kernel *k;
    OK(quern_reduction(&k, engine, "T x", "T y", "x * PLACE", "a + b", "y = a", "0", &o));
    OK(quern_call(k, x, &y));
    EXPECT(y, int64_t, 6);
    quern_kernel_release(k);
    quern_array_release(x);
    quern_array_release(y);
}

Test(reduction, one_place_for_two_outputs)
{
    float host[2] = {1, 2};
    quern_array *x = array_of(QUERN_FLOAT32, SHAPE(2), host), *y = NULL;
    quern_kernel *k;
    OK(quern_reduction(&k, engine, "T x", "T low, T high", "x", "a + b", "low = high = a", "0",
                       NULL));
    FAILS(QUERN_ERROR_INVALID_ARGUMENT, quern_call(k, x, &y, &y));
    SAYS("same place");
    cr_assert_null(y);
    quern_kernel_release(k);
    quern_array_release(x);
}

/* ---- several threads ------------------------------------------------------------------------ */

typedef struct caller {
    pthread_t thread;
    quern_kernel *sum;
    quern_array *x;
    int wrong;
} caller;

static void *call_often(void *context)
{
    caller *c = context;
    for (int k = 0; k < 20; k++) {
        int64_t got = 0;
        quern_array *y = NULL;
        if (quern_call(c->sum, c->x, &y) != QUERN_OK ||
            quern_array_read(y, &got, sizeof got) != QUERN_OK || got != 200000) {
            c->wrong++;
        }
        quern_array_release(y);
    }
    return NULL;
}

Test(reduction, threads_have_workspaces_of_their_own)
{
    int64_t n = 200000;
    caller callers[4];
    quern_array *x;
    OK(quern_array_new(&x, engine, QUERN_INT64, 1, &n));
    OK(quern_array_fill(x, &(int64_t){1}, sizeof(int64_t)));
    quern_kernel *sum = sum_of("T x", "x");
    for (int c = 0; c < 4; c++) {
        callers[c] = (caller){.sum = sum, .x = x};
        pthread_create(&callers[c].thread, NULL, call_often, &callers[c]);
    }
    for (int c = 0; c < 4; c++) {
        pthread_join(callers[c].thread, NULL);
        cr_assert_eq(callers[c].wrong, 0);
    }
    quern_kernel_release(sum);
    quern_array_release(x);
}

Test(reduction, a_failed_launch_leaves_the_next_one_right)
{
    quern_device_info info = {.size = sizeof info};
    OK(quern_device_get_info(&info, engine));
    if (strncmp(info.id, "soft", 4) != 0) {
        cr_skip_test("a GPU's context does not survive a bad access");
    }
    int64_t n = 200000;
    quern_array *x, *flag, *y = NULL;
    OK(quern_array_new(&x, engine, QUERN_INT64, 1, &n));
    OK(quern_array_fill(x, &(int64_t){1}, sizeof(int64_t)));
    flag = array_of(QUERN_INT64, SHAPE(1), &(int64_t){0});
    quern_kernel *k = sum_of("T x, raw T f, T far", "x + f[_J == 150000 ? far : 0]");
    FAILS(QUERN_ERROR_ACCESS, quern_call(k, x, flag, 1 << 20, &y));
    SAYS("map");
    OK(quern_call(k, x, flag, 0, &y));
    EXPECT(y, int64_t, 200000);
    quern_bound *bound;
    OK(quern_bind(&bound, k, (quern_value[]){QUERN_VALUES(x, flag, 1 << 20, y)}, 4, NULL));
    FAILS(QUERN_ERROR_ACCESS, quern_launch(bound));
    OK(quern_bound_set_scalar(bound, 2, quern_literal_int(0)));
    OK(quern_launch(bound));
    EXPECT(y, int64_t, 200000);
    quern_bound_release(bound);
    quern_kernel_release(k);
    quern_array *all[] = {x, y, flag};
    for (int a = 0; a < 3; a++) {
        quern_array_release(all[a]);
    }
}
