/* SPDX-License-Identifier: MIT
 *
 * Reductions of which hundreds of blocks share an output: what they leave is combined in bunches,
 * in the order of the elements. By rows, columns, spans and phases, on as many processors as a
 * large GPU has; whole numbers, so that a value that is left out or taken twice shows, and maps
 * that do not commute.
 */
#include "whole.h"
#include <stdio.h>

TestSuite(many_blocks, .init = whole_open_large, .fini = whole_close);

static int32_t value(int64_t at)
{
    return (int32_t)(at * 37 % 1009) - 300;
}

/* int16 or int32: `value` fits into both. */
static quern_array *table_of(quern_dtype dtype, int64_t rows, int64_t columns)
{
    const size_t size = quern_dtype_size(dtype);
    char *host = malloc((size_t)(rows * columns) * size);
    for (int64_t k = 0; k < rows * columns; k++) {
        memcpy(host + (size_t)k * size, &(int32_t){value(k)},
               size); /* the lower bytes come first */
    }
    quern_array *a = array_of(dtype, SHAPE(rows, columns), host);
    free(host);
    return a;
}

/* Along axis 0, by hundreds of blocks for an output. `how`: what else the plan says. */
static void reduce_rows(quern_kernel *k, const quern_value *values, size_t count, const char *how)
{
    quern_call_options options = QUERN_CALL_OPTIONS_INIT;
    options.axes = (int[]){0};
    options.axis_count = 1;
    quern_explanation *e;
    OK(quern_explain(&e, k, values, count, &options));
    cr_expect(strstr(e->plan, how), "%s", e->plan);
    const char *end = strstr(e->plan, " blocks");
    int blocks = 0;
    for (const char *at = e->plan; end && at < end; at++) {
        sscanf(at, "in %d blocks", &blocks);
    }
    cr_expect(blocks > 64, "%s", e->plan);
    quern_explanation_release(e);
    OK(quern_call_n(k, values, count, &options));
}

/* The sums of columns. */
static void sum_columns(quern_dtype dtype, int64_t rows, int64_t columns, const char *how)
{
    quern_kernel *sum;
    OK(quern_reduction(&sum, engine, "T x", "int64 y", "x", "a + b", "y = a", "0", NULL));
    quern_array *x = table_of(dtype, rows, columns), *y = NULL;
    const quern_value v[] = {QUERN_VALUES(x, &y)};
    reduce_rows(sum, v, 2, how);
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
    quern_dtype dtype;
    int64_t rows, columns;
    const char *how;
} sums[] = {
    {QUERN_INT32, 3000000, 1, "by rows"},   {QUERN_INT32, 60000, 8, "by columns"},
    {QUERN_INT32, 20000, 32, "by columns"}, {QUERN_INT32, 9000, 128, "by columns"},
    {QUERN_INT32, 6000, 256, "by columns"}, {QUERN_INT32, 200000, 3, "by spans"},
    {QUERN_INT32, 30000, 50, "by spans"},   {QUERN_INT32, 20000, 163, "phases"},
    {QUERN_INT16, 20000, 301, "by spans"},
};

Test(many_blocks, sums)
{
    for (size_t k = 0; k < sizeof sums / sizeof *sums; k++) {
        sum_columns(sums[k].dtype, sums[k].rows, sums[k].columns, sums[k].how);
    }
}

/* x -> m x + c, one after another: it matters which comes first. */
Test(many_blocks, in_order)
{
    enum { ROWS = 40000, COLUMNS = 64 };
    quern_reduction_options options = QUERN_REDUCTION_OPTIONS_INIT;
    options.preamble = "struct map { unsigned m, c; };\n"
                       "__device__ map then(map a, map b) { return {a.m * b.m, a.c * b.m + b.c}; }";
    options.reduce_type = "map";
    options.ordered = 1;
    quern_kernel *k;
    OK(quern_reduction(&k, engine, "int32 x", "uint32 m, uint32 c",
                       "map{2u * (unsigned)x + 1u, (unsigned)x}", "then(a, b)", "m = a.m; c = a.c",
                       NULL, &options));
    quern_array *x = table_of(QUERN_INT32, ROWS, COLUMNS), *m = NULL, *c = NULL;
    const quern_value v[] = {QUERN_VALUES(x, &m, &c)};
    reduce_rows(k, v, 3, "by columns");
    uint32_t ms[COLUMNS], cs[COLUMNS];
    OK(quern_array_read(m, ms, sizeof ms));
    OK(quern_array_read(c, cs, sizeof cs));
    for (int64_t at = 0; at < COLUMNS; at++) {
        uint32_t product = 1, sum = 0;
        for (int64_t r = 0; r < ROWS; r++) {
            const int32_t next = value(r * COLUMNS + at);
            const uint32_t by = 2u * (uint32_t)next + 1u;
            product *= by;
            sum = sum * by + (uint32_t)next;
        }
        cr_assert(ms[at] == product && cs[at] == sum, "column %ld", (long)at);
    }
    quern_array_release(x);
    quern_array_release(m);
    quern_array_release(c);
    quern_kernel_release(k);
}
