/* SPDX-License-Identifier: MIT
 *
 * Scans of rows that lie in memory in drawn ways, beside sums made on the host: those whose lanes
 * take runs (src/array/fold_runs.c) or packs, backwards too, and short ones in shared memory
 * (fold_staged.c). Post leaves elements as they are, and sees the input of each.
 */
#include "draw.h"
#include "whole.h"

TestSuite(scan_layouts, .init = whole_open, .fini = whole_close);

enum { RUN_MEMORY = 3 * 70000 + 200 }; /* elements of an array */

/* Rows of `length` elements in memory: from `offset` on, `pitch` apart, up or down. */
typedef struct run_rows {
    int64_t offset, pitch, step;
} run_rows;

static run_rows draw_rows(int64_t length)
{
    static const int64_t steps[] = {1, 1, 1, -1, -1};
    return (run_rows){rand() % 40, length + rand() % 20, steps[rand() % 5]};
}

static int64_t place_of(const run_rows *r, int64_t length, int64_t row, int64_t k)
{
    return r->offset + row * r->pitch + (r->step > 0 ? k : length - 1 - k);
}

/* Elements of one integer type: numbers fit all of them, and sums wrap around. */
typedef struct element {
    quern_dtype dtype;
    int64_t size;
} element;

static quern_array *rows_of(quern_array *memory, element t, const run_rows *r, int64_t rows,
                            int64_t length)
{
    quern_array *view;
    char *first = (char *)quern_array_pointer(memory) + place_of(r, length, 0, 0) * t.size;
    OK(quern_array_wrap(&view, engine, t.dtype, SHAPE(rows, length),
                        (int64_t[]){r->pitch * t.size, r->step * t.size}, first, NULL, NULL));
    return view;
}

static void put(char *memory, element t, int64_t at, int64_t value)
{
    memcpy(memory + at * t.size, &value, (size_t)t.size);
}

/* The memory of the output, with sums of every row; where a sum is odd, and around the rows, it has
 * what it had. Returns how many elements are wrong. */
static int wrong_rows(quern_kernel *kernel, element t, int64_t rows, int64_t length, int *packs)
{
    static char from[8 * RUN_MEMORY], expected[8 * RUN_MEMORY], got[8 * RUN_MEMORY];
    const run_rows in = draw_rows(length), out = draw_rows(length);
    int wrong = 0;
    for (int64_t k = 0; k < RUN_MEMORY; k++) {
        put(from, t, k, k * 7 % 11 - 5);
        put(expected, t, k, k % 100);
    }
    quern_array *x, *y;
    OK(quern_array_from(&x, engine, t.dtype, SHAPE(RUN_MEMORY), from));
    OK(quern_array_from(&y, engine, t.dtype, SHAPE(RUN_MEMORY), expected));
    quern_array *x_rows = rows_of(x, t, &in, rows, length);
    quern_array *y_rows = rows_of(y, t, &out, rows, length);
    quern_call_options options = QUERN_CALL_OPTIONS_INIT;
    options.axes = (int[]){1};
    options.axis_count = 1;
    const quern_value values[] = {QUERN_VALUES(x_rows, y_rows)};
    quern_explanation *e;
    OK(quern_explain(&e, kernel, values, 2, &options));
    *packs += strstr(e->plan, "access r") != NULL;
    quern_explanation_release(e);
    OK(quern_call_n(kernel, values, 2, &options));
    OK(quern_array_read(y, got, (size_t)(RUN_MEMORY * t.size)));
    for (int64_t row = 0; row < rows; row++) {
        int64_t sum = 0;
        for (int64_t k = 0; k < length; k++) {
            sum += place_of(&in, length, row, k) * 7 % 11 - 5;
            if (sum % 2 == 0) {
                put(expected, t, place_of(&out, length, row, k), sum);
            }
        }
    }
    for (int64_t k = 0; k < RUN_MEMORY; k++) {
        wrong += memcmp(got + k * t.size, expected + k * t.size, (size_t)t.size) != 0;
    }
    quern_array *arrays[] = {x_rows, y_rows, x, y};
    for (int n = 0; n < 4; n++) {
        quern_array_release(arrays[n]);
    }
    return wrong;
}

/* Any alignment, either direction, ends of rows anywhere in a tile, and a post that leaves elements
 * as they are: by runs, and, of wider elements that lie backwards, by packs. */
Test(scan_layouts, drawn_rows)
{
    static const element types[] = {
        {QUERN_INT8, 1}, {QUERN_INT16, 2}, {QUERN_INT32, 4}, {QUERN_INT64, 8}};
    quern_kernel *kernel;
    int packs = 0;
    srand(11);
    OK(quern_scan(&kernel, engine, "T x", "T y", "x", "a + b", "if (a % 2 == 0) y = a", "0", NULL));
    for (int n = 0; n < drawn(60); n++) {
        const element t = types[n % 4];
        const int64_t rows = 1 + rand() % 3;
        const int64_t length = n % 8 < 4 ? 4000 + rand() % 66000 : 1 + rand() % 2000;
        cr_expect_eq(wrong_rows(kernel, t, rows, length, &packs), 0,
                     "case %d: %lld rows of %lld, %lld bytes", n, (long long)rows,
                     (long long)length, (long long)t.size);
    }
    cr_expect_geq(packs, drawn(5));
    quern_kernel_release(kernel);
}

/* Rows that end at the end of a tile, an element before and an element behind it: a tile has 44 KB
 * of an input. */
Test(scan_layouts, ends_of_tiles)
{
    static const element types[] = {
        {QUERN_INT8, 1}, {QUERN_INT16, 2}, {QUERN_INT32, 4}, {QUERN_INT64, 8}};
    quern_kernel *kernel;
    int packs = 0;
    OK(quern_scan(&kernel, engine, "T x", "T y", "x", "a + b", "if (a % 2 == 0) y = a", "0", NULL));
    for (int n = 0; n < 4 * 6; n++) {
        const element t = types[n % 4];
        const int64_t length = (1 + n / 12) * (int64_t)(44 << 10) / t.size + n / 4 % 3 - 1;
        cr_expect_eq(wrong_rows(kernel, t, 1 + n % 2, length, &packs), 0, "%lld of %lld bytes",
                     (long long)length, (long long)t.size);
    }
    quern_kernel_release(kernel);
}

/* Outputs of other widths than the input, of which the widest goes in pieces: a piece of the
 * narrowest is less than a word. Their names are those of costly functions too, and cost nothing.
 */
Test(scan_layouts, runs_of_two_outputs)
{
    enum { MOST = 45000 };
    static int8_t from[MOST], narrow[MOST];
    static int64_t wide[MOST];
    quern_kernel *kernel;
    OK(quern_scan(&kernel, engine, "int8 x", "int64 y0, int8 y1", "x", "a + b",
                  "y0 = a; y1 = (signed char)-a", "0", NULL));
    for (int k = 0; k < MOST; k++) {
        from[k] = (int8_t)(k * 7 % 11 - 5);
    }
    for (int64_t length = MOST - 6; length <= MOST; length += 3) {
        quern_array *x, *y = NULL, *z = NULL;
        OK(quern_array_from(&x, engine, QUERN_INT8, SHAPE(length), from));
        const quern_value values[] = {QUERN_VALUES(x, &y, &z)};
        quern_explanation *e;
        OK(quern_explain(&e, kernel, values, 3, NULL));
        cr_expect(strstr(e->plan, "runs of") || !whole_is_soft(), "%s", e->plan);
        quern_explanation_release(e);
        OK(quern_call_n(kernel, values, 3, NULL));
        OK(quern_array_read(y, wide, (size_t)length * sizeof *wide));
        OK(quern_array_read(z, narrow, (size_t)length));
        int64_t sum = 0, wrong = 0;
        for (int64_t k = 0; k < length; k++) {
            sum += from[k];
            wrong += wide[k] != sum || narrow[k] != (int8_t)-sum;
        }
        cr_expect_eq(wrong, 0, "%lld of %lld", (long long)wrong, (long long)length);
        quern_array_release(x);
        quern_array_release(y);
        quern_array_release(z);
    }
    quern_kernel_release(kernel);
}

/* ---- short rows in shared memory ------------------------------------------------------------- */

/* Rows of inputs and outputs lie in memory in other ways, and post sees the input: of each element
 * its own. */
Test(scan_layouts, post_sees_inputs_of_short_rows)
{
    enum { ROWS = 900, MOST = 40 };
    static const int lengths[] = {2, 3, 7, 24, MOST};
    static int32_t from[ROWS * MOST];
    static int64_t zeros[ROWS * MOST], got[ROWS * MOST];
    quern_kernel *k;
    OK(quern_scan(&k, engine, "int32 x", "int64 y", "x", "a + b", "if (x % 3 == 0) y = a", "0",
                  NULL));
    quern_call_options o = QUERN_CALL_OPTIONS_INIT;
    o.axes = (int[]){1};
    o.axis_count = 1;
    for (int32_t n = 0; n < ROWS * MOST; n++) {
        from[n] = n;
    }
    for (size_t c = 0; c < 2 * (sizeof lengths / sizeof *lengths); c++) {
        const int64_t length = lengths[c / 2];
        const bool back = c % 2 == 0; /* else the last element of a row is left out */
        quern_array *all, *x, *y;
        OK(quern_array_from(&all, engine, QUERN_INT32, SHAPE(ROWS, length), from));
        const int64_t taken = back ? length : length - 1;
        OK(quern_array_slice(&x, all, 2,
                             (quern_slice[]){{0, ROWS, 1},
                                             back ? (quern_slice){length - 1, QUERN_SLICE_NONE, -1}
                                                  : (quern_slice){0, taken, 1}}));
        OK(quern_array_from(&y, engine, QUERN_INT64, SHAPE(ROWS, taken), zeros));
        OK(quern_call_with(k, &o, x, y));
        OK(quern_array_read(y, got, (size_t)(ROWS * taken) * sizeof *got));
        for (int64_t row = 0; row < ROWS; row++) {
            int64_t sum = 0;
            for (int64_t n = 0; n < taken; n++) {
                const int32_t value = from[row * length + (back ? length - 1 - n : n)];
                sum += value;
                cr_assert_eq(got[row * taken + n], value % 3 == 0 ? sum : 0,
                             "row %ld of %ld, element %ld", (long)row, (long)taken, (long)n);
            }
        }
        quern_array_release(all);
        quern_array_release(x);
        quern_array_release(y);
    }
    quern_kernel_release(k);
}
