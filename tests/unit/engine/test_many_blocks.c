/* SPDX-License-Identifier: MIT
 *
 * Reductions of which hundreds of blocks share an output: what they leave is combined in bunches,
 * in the order of the elements. By rows, columns, spans and phases, on as many processors as a
 * large GPU has; whole numbers, so that a value that is left out or taken twice shows, and maps
 * that do not commute.
 */
#include "whole.h"
#include <stdio.h>

/* A GPU, where the tests run on one. */
static void open_large(void)
{
    const char *device = getenv("QUERN_DEVICE");
    if (!device || strncmp(device, "cuda", 4) != 0) {
        setenv("QUERN_DEVICE", "soft:132", 1);
    }
    whole_open();
}

TestSuite(many_blocks, .init = open_large, .fini = whole_close);

static int32_t value(int64_t at)
{
    return (int32_t)(at * 37 % 1009) - 300;
}

static quern_array *table_of(int64_t rows, int64_t columns)
{
    int32_t *host = malloc((size_t)(rows * columns) * sizeof *host);
    for (int64_t k = 0; k < rows * columns; k++) {
        host[k] = value(k);
    }
    quern_array *a = array_of(QUERN_INT32, SHAPE(rows, columns), host);
    free(host);
    return a;
}

/* The sums of columns. `how`: what the plan says of it. */
static void sum_columns(int64_t rows, int64_t columns, const char *how)
{
    quern_kernel *sum;
    OK(quern_reduction(&sum, engine, "int32 x", "int64 y", "x", "a + b", "y = a", "0", NULL));
    quern_array *x = table_of(rows, columns), *y = NULL;
    const quern_value v[] = {QUERN_VALUES(x, &y)};
    quern_call_options options = QUERN_CALL_OPTIONS_INIT;
    options.axes = (int[]){0};
    options.axis_count = 1;
    quern_explanation *e;
    OK(quern_explain(&e, sum, v, 2, &options));
    cr_expect(strstr(e->plan, how), "%s", e->plan);
    const char *end = strstr(e->plan, " blocks");
    int blocks = 0;
    for (const char *at = e->plan; end && at < end; at++) {
        sscanf(at, "in %d blocks", &blocks);
    }
    cr_expect(blocks > 64, "%s", e->plan);
    quern_explanation_release(e);
    OK(quern_call_n(sum, v, 2, &options));
    int64_t *got = malloc((size_t)columns * sizeof *got);
    OK(quern_array_read(y, got, (size_t)columns * sizeof *got));
    for (int64_t c = 0; c < columns; c++) {
        int64_t expected = 0;
        for (int64_t r = 0; r < rows; r++) {
            expected += value(r * columns + c);
        }
        cr_assert_eq(got[c], expected, "column %ld of %ld x %ld", (long)c, (long)rows,
                     (long)columns);
    }
    free(got);
    quern_array_release(x);
    quern_array_release(y);
    quern_kernel_release(sum);
}

static const struct {
    int64_t rows, columns;
    const char *how;
} sums[] = {
    {3000000, 1, "by rows"},   {60000, 8, "by columns"},  {20000, 32, "by columns"},
    {9000, 128, "by columns"}, {6000, 256, "by columns"}, {200000, 3, "by spans"},
    {30000, 50, "by spans"},   {20000, 163, "phases"},
};

Test(many_blocks, sums)
{
    for (size_t k = 0; k < sizeof sums / sizeof *sums; k++) {
        sum_columns(sums[k].rows, sums[k].columns, sums[k].how);
    }
}

/* x -> m x + c, one after another: it matters which comes first. */
Test(many_blocks, in_order)
{
    enum { COUNT = 1500000 };
    quern_reduction_options options = QUERN_REDUCTION_OPTIONS_INIT;
    options.preamble = "struct map { unsigned m, c; };\n"
                       "__device__ map then(map a, map b) { return {a.m * b.m, a.c * b.m + b.c}; }";
    options.reduce_type = "map";
    options.ordered = 1;
    quern_kernel *k;
    OK(quern_reduction(&k, engine, "int32 x", "uint32 m, uint32 c",
                       "map{2u * (unsigned)x + 1u, (unsigned)x}", "then(a, b)", "m = a.m; c = a.c",
                       NULL, &options));
    quern_array *x = table_of(COUNT, 1), *m = NULL, *c = NULL;
    const quern_value v[] = {QUERN_VALUES(x, &m, &c)};
    OK(quern_call_n(k, v, 3, NULL));
    uint32_t got[2], expected[2] = {1, 0};
    OK(quern_array_read(m, &got[0], sizeof *got));
    OK(quern_array_read(c, &got[1], sizeof *got));
    for (int64_t n = 0; n < COUNT; n++) {
        const uint32_t by = 2u * (uint32_t)value(n) + 1u;
        expected[0] *= by;
        expected[1] = expected[1] * by + (uint32_t)value(n);
    }
    cr_expect_eq(got[0], expected[0]);
    cr_expect_eq(got[1], expected[1]);
    quern_array_release(x);
    quern_array_release(m);
    quern_array_release(c);
    quern_kernel_release(k);
}
