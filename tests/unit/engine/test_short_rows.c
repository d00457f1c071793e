/* SPDX-License-Identifier: MIT
 *
 * Reductions of short rows, several of which a thread takes whole: an operator to which the order
 * matters, over rows of many lengths, that begin at any element, with and without gaps between
 * them, into outputs with and without gaps. What is expected comes from a loop on the host.
 */
#include "numbered.h"
#include <stdio.h>

TestSuite(short_rows, .init = whole_open, .fini = whole_close);

enum { ROWS = 1100, LONGEST = 61, MOST = ROWS * LONGEST + 8 };

/* Each element is a map v -> 3 * v + x; a row is all of them, one behind the other. */
static quern_kernel *line_of(const char *in, const char *map)
{
    quern_kernel *k;
    quern_reduction_options o = QUERN_REDUCTION_OPTIONS_INIT;
    o.preamble = "struct line { unsigned v, s; };\n"
                 "__device__ line then(line a, line b)\n"
                 "{ return line{a.v * b.s + b.v, a.s * b.s}; }";
    o.reduce_type = "line";
    o.ordered = true;
    OK(quern_reduction(&k, engine, in, "uint32 y, uint8 z", map, "then(a, b)",
                       "y = a.v; z = a.s % 251", "line{7, 1}", &o));
    return k;
}

/* `rows` rows that begin `pitch` elements apart, the first at `offset`. */
static quern_array *rows_of(quern_array *memory, int64_t rows, int64_t length, int64_t pitch,
                            int64_t offset)
{
    quern_array *run, *table, *part;
    OK(quern_array_slice(&run, memory, 1, (quern_slice[]){{offset, offset + rows * pitch, 1}}));
    OK(quern_array_reshape(&table, run, SHAPE(rows, pitch)));
    OK(quern_array_slice(&part, table, 2, (quern_slice[]){{0, rows, 1}, {0, length, 1}}));
    quern_array_release(run);
    quern_array_release(table);
    return part;
}

static void expect_rows(quern_array *y, quern_array *z, int64_t rows, int64_t length, int64_t pitch,
                        int64_t offset, const char *plan)
{
    static uint32_t got[ROWS];
    static uint8_t other[ROWS];
    OK(quern_array_read(y, got, (size_t)rows * 4));
    OK(quern_array_read(z, other, (size_t)rows));
    for (int64_t r = 0; r < rows; r++) {
        unsigned v = 7, s = 1;
        for (int64_t k = 0; k < length; k++) {
            v = v * 3 + numbered(offset + r * pitch + k);
            s *= 3;
        }
        cr_assert_eq(got[r], v, "row %ld of %ld, offset %ld: %s", (long)r, (long)length,
                     (long)offset, plan);
        cr_assert_eq(other[r], s % 251, "row %ld of %ld, offset %ld: %s", (long)r, (long)length,
                     (long)offset, plan);
    }
}

/* Into outputs of every `gap`-th element. Returns whether the plan takes whole rows. */
static bool check(quern_kernel *k, quern_array *memory, int64_t rows, int64_t length, int64_t pitch,
                  int64_t offset, int64_t gap)
{
    quern_array *x = rows_of(memory, rows, length, pitch, offset), *wide[2], *y, *z;
    OK(quern_array_new(&wide[0], engine, QUERN_UINT32, SHAPE(rows * gap)));
    OK(quern_array_new(&wide[1], engine, QUERN_UINT8, SHAPE(rows * gap)));
    OK(quern_array_slice(&y, wide[0], 1, (quern_slice[]){{0, rows * gap, gap}}));
    OK(quern_array_slice(&z, wide[1], 1, (quern_slice[]){{0, rows * gap, gap}}));
    quern_call_options o = QUERN_CALL_OPTIONS_INIT;
    o.axes = (int[]){1};
    o.axis_count = 1;
    const quern_value v[] = {QUERN_VALUES(x, y, z)};
    quern_explanation *e;
    OK(quern_explain(&e, k, v, 3, &o));
    OK(quern_call_n(k, v, 3, &o));
    expect_rows(y, z, rows, length, pitch, offset, e->plan);
    const bool whole = strstr(e->plan, "whole") != NULL;
    quern_explanation_release(e);
    quern_array *all[] = {x, y, z, wide[0], wide[1]};
    for (size_t a = 0; a < sizeof all / sizeof *all; a++) {
        quern_array_release(all[a]);
    }
    return whole;
}

Test(short_rows, of_many_lengths)
{
    static const int64_t lengths[] = {2, 3, 5, 7, 8, 15, 24, 30, 61};
    const quern_dtype dtypes[] = {QUERN_UINT8, QUERN_UINT16, QUERN_FLOAT32};
    quern_kernel *k = line_of("T x", "line{(unsigned)x, 3}");
    int whole = 0, calls = 0;
    for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++) {
        quern_array *memory = numbered_memory(dtypes[d], MOST);
        for (size_t n = 0; n < sizeof lengths / sizeof *lengths; n++) {
            const int64_t length = lengths[n];
            whole += check(k, memory, ROWS - 1, length, length, 0, 1);
            whole += check(k, memory, 65, length, length, 1 + (int64_t)n % 3, 1);
            calls += 2;
        }
        whole += check(k, memory, 1, 3, 3, 2, 1);
        whole += check(k, memory, 500, 3, 4, 1, 1); /* a gap behind each row */
        whole += check(k, memory, 500, 3, 3, 0, 3); /* between outputs */
        quern_array_release(memory);
    }
    cr_assert_geq(whole, calls / 2, "%d of %d", whole, calls);
    quern_kernel_release(k);
}

/* Rows in several dimensions, whose last pack is cut in each, and a position. */
Test(short_rows, in_parts)
{
    quern_kernel *k;
    OK(quern_reduction(&k, engine, "T x, T f", "int64 y", "(long long)x * (_J + 1) * (long long)f",
                       "a + b", "y = a", "0", NULL));
    quern_array *memory = numbered_memory(QUERN_UINT8, MOST), *cut, *table, *part, *f, *y = NULL;
    OK(quern_array_slice(&cut, memory, 1, (quern_slice[]){{3, 3 + 6 * 70 * 3, 1}}));
    OK(quern_array_reshape(&table, cut, SHAPE(6, 70, 3)));
    OK(quern_array_slice(&part, table, 2, (quern_slice[]){{0, 6, 1}, {1, 68, 1}}));
    f = array_of(QUERN_UINT8, SHAPE(3), (uint8_t[]){2, 1, 5});
    quern_call_options o = QUERN_CALL_OPTIONS_INIT;
    o.axes = (int[]){2};
    o.axis_count = 1;
    OK(quern_call_n(k, (quern_value[]){QUERN_VALUES(part, f, &y)}, 3, &o));
    int64_t got[6 * 67];
    OK(quern_array_read(y, got, sizeof got));
    for (int64_t r = 0; r < 6 * 67; r++) {
        const int64_t at = 3 + (r / 67 * 70 + r % 67 + 1) * 3;
        cr_assert_eq(got[r], 2 * numbered(at) + 2 * numbered(at + 1) + 15 * numbered(at + 2));
    }
    quern_array *all[] = {memory, cut, table, part, f, y};
    for (size_t a = 0; a < sizeof all / sizeof *all; a++) {
        quern_array_release(all[a]);
    }
    quern_kernel_release(k);
}
