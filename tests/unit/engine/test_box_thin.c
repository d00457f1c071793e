/* SPDX-License-Identifier: MIT
 *
 * Thin matrices that are turned: of a few columns into as many rows and back, beginning at any
 * element, with rows that end anywhere in a sector of memory, and with an input that lies as the
 * output does beside the one that is turned. Each element counts by where it lies; gaps of the
 * output must stay as they are. The thing to know: boxes in runs begin early, where a sector of the
 * output does, so the first and last ones of a row, and of the array, are not like the others.
 */
#include "base/base.h"
#include "draw.h"
#include "numbered.h"
#include <stdio.h>

enum { ROUNDS = 28, MOST = 20000 * 11 + 20 };

/* The software device looks for threads that write to one place, and for what nobody wrote; with as
 * much shared memory as an H200 has, plans are those of one. */
static void open_watched(void)
{
    whole_open_on("soft:3,shared=227,check=races+init");
}

TestSuite(box_thin, .init = open_watched, .fini = whole_close);

/* A matrix in memory of its own. */
typedef struct matrix {
    int64_t rows, columns, pitch, offset;
    quern_array *memory, *array;
} matrix;

static void open_matrix(matrix *m, quern_dtype dtype, int64_t rows, int64_t columns, int64_t gap,
                        int64_t offset)
{
    *m = (matrix){.rows = rows, .columns = columns, .pitch = columns + gap, .offset = offset};
    const int64_t count = rows * m->pitch;
    quern_array *run, *table;
    m->memory = numbered_memory(dtype, offset + count);
    OK(quern_array_slice(&run, m->memory, 1, (quern_slice[]){{offset, offset + count, 1}}));
    OK(quern_array_reshape(&table, run, SHAPE(rows, m->pitch)));
    OK(quern_array_slice(&m->array, table, 2, (quern_slice[]){QUERN_SLICE_ALL, {0, columns, 1}}));
    quern_array_release(run);
    quern_array_release(table);
}

static void close_matrix(matrix *m)
{
    quern_array_release(m->array);
    quern_array_release(m->memory);
}

static int64_t place(const matrix *m, int64_t row, int64_t column)
{
    return m->offset + row * m->pitch + column;
}

static int64_t bytes_of(quern_dtype dtype)
{
    return dtype == QUERN_UINT8 ? 1 : dtype == QUERN_UINT16 ? 2 : dtype == QUERN_INT64 ? 8 : 4;
}

static unsigned element(const void *memory, quern_dtype dtype, int64_t at)
{
    return dtype == QUERN_UINT8    ? ((const uint8_t *)memory)[at]
           : dtype == QUERN_UINT16 ? ((const uint16_t *)memory)[at]
           : dtype == QUERN_INT64  ? (unsigned)((const int64_t *)memory)[at]
                                   : (unsigned)((const float *)memory)[at];
}

/* y = 2 y + x + z, where x lies by columns and z as y. Returns whether it went by boxes in runs. */
static bool check(quern_kernel *k, const quern_dtype *dtypes, int64_t rows, int64_t columns)
{
    static int64_t got[MOST];
    static bool given[MOST];
    matrix x, y, z;
    const int64_t gap = draw(0, 3) == 0 ? draw(1, 9) : 0, offset = draw(0, 20);
    open_matrix(&x, dtypes[0], columns, rows, draw(0, 3) == 0 ? draw(1, 4) : 0, draw(0, 20));
    open_matrix(&z, dtypes[1], rows, columns, gap, draw(0, 1) ? offset : draw(0, 20));
    open_matrix(&y, dtypes[2], rows, columns, gap, offset);
    quern_array *turned;
    OK(quern_array_transpose(&turned, x.array, NULL));
    const quern_value values[] = {QUERN_VALUES(turned, z.array, y.array)};
    quern_explanation *e;
    OK(quern_explain(&e, k, values, 3, NULL));
    OK(quern_call_n(k, values, 3, NULL));
    const int64_t count = offset + rows * y.pitch;
    cr_assert_leq(count, MOST);
    OK(quern_array_read(y.memory, got, (size_t)(count * bytes_of(dtypes[2]))));
    memset(given, 0, sizeof given);
    const unsigned mask = dtypes[2] == QUERN_UINT8 ? 0xff : 0xffff;
    for (int64_t n = 0; n < rows * columns; n++) {
        const int64_t row = n / columns, column = n % columns, at = place(&y, row, column);
        const unsigned want =
            2 * numbered(at) + numbered(place(&x, column, row)) + numbered(place(&z, row, column));
        given[at] = true;
        cr_assert_eq(element(got, dtypes[2], at), want & mask, "(%ld, %ld) of (%ld, %ld): %s",
                     (long)row, (long)column, (long)rows, (long)columns, e->plan);
    }
    for (int64_t at = 0; at < count; at++) {
        cr_assert(given[at] || element(got, dtypes[2], at) == numbered(at), "gap at %ld: %s",
                  (long)at, e->plan);
    }
    const bool runs = strstr(e->plan, "in runs") != NULL;
    quern_explanation_release(e);
    quern_array_release(turned);
    close_matrix(&x);
    close_matrix(&y);
    close_matrix(&z);
    return runs;
}

/* By its dtypes: of the input that is turned, of the other, of the output. */
static const quern_dtype triples[][3] = {
    {QUERN_UINT8, QUERN_UINT8, QUERN_UINT8},       {QUERN_UINT16, QUERN_UINT16, QUERN_UINT16},
    {QUERN_FLOAT32, QUERN_FLOAT32, QUERN_FLOAT32}, {QUERN_INT64, QUERN_INT64, QUERN_INT64},
    {QUERN_UINT8, QUERN_UINT16, QUERN_FLOAT32},    {QUERN_INT64, QUERN_UINT8, QUERN_UINT16},
    {QUERN_UINT16, QUERN_INT64, QUERN_UINT8},
};

Test(box_thin, of_drawn_extents)
{
    state = 11;
    for (size_t c = 0; c < QN_COUNT(triples); c++) {
        quern_kernel *k = kernel_of("R x, S z", "T y", "y = y * 2 + x + z");
        int runs = 0;
        for (int n = 0; n < drawn(ROUNDS); n++) {
            const int64_t few = draw(2, n % 2 ? 30 : 120), many = draw(12000, 40000) / few;
            runs += n % 4 < 2 ? check(k, triples[c], few, many) : check(k, triples[c], many, few);
        }
        cr_assert_geq(runs, drawn(ROUNDS) / 4, "case %zu: %d of %d", c, runs, drawn(ROUNDS));
        quern_kernel_release(k);
    }
}
