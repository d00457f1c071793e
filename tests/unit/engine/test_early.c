/* SPDX-License-Identifier: MIT
 *
 * Sectors of outputs with gaps that are asked for early: those that are written in part are, few of
 * them twice, and nothing else is. Drawn outputs have steps, gaps behind rows and any begin. The
 * thing to know: a macro in the preamble, which stands before the prefetches, adds a count of its
 * sector to each of them.
 */
#include "draw.h"
#include "whole.h"
#include <stdio.h>

TestSuite(early, .init = whole_open, .fini = whole_close);

enum { SECTOR = 32, MOST = 1 << 20, CALLS = 40 };

/* An output: `rows` in each of `parts`, of `length` elements `step` apart, and `gap` behind each.
 */
typedef struct output {
    int64_t parts, rows, length, step, gap, offset;
    bool back;
    quern_dtype dtype;
    int64_t item;
    quern_array *memory, *array;
} output;

static output draw_output(void)
{
    static const quern_dtype dtypes[] = {QUERN_UINT8, QUERN_UINT16, QUERN_FLOAT32, QUERN_INT64};
    const int at = (int)draw(0, 3);
    output y = {draw(1, 3),      draw(260, 300), draw(1, 40), draw(1, 5), draw(0, 20), draw(0, 40),
                draw(0, 3) == 0, dtypes[at],     1 << at,     NULL,       NULL};
    const int64_t pitch = y.length * y.step + y.gap;
    const int64_t count = y.parts * (y.rows * pitch + 1);
    quern_array *run, *parts, *cut, *table;
    OK(quern_array_new(&y.memory, engine, y.dtype, SHAPE(y.offset + count)));
    OK(quern_array_slice(&run, y.memory, 1, (quern_slice[]){{y.offset, y.offset + count, 1}}));
    OK(quern_array_reshape(&parts, run, SHAPE(y.parts, y.rows * pitch + 1)));
    OK(quern_array_slice(&cut, parts, 2, (quern_slice[]){QUERN_SLICE_ALL, {0, y.rows * pitch, 1}}));
    OK(quern_array_reshape(&table, cut, SHAPE(y.parts, y.rows, pitch)));
    const int64_t last = (y.length - 1) * y.step;
    const quern_slice ahead = {0, last + 1, y.step}, back = {last, QUERN_SLICE_NONE, -y.step};
    OK(quern_array_slice(&y.array, table, 3,
                         (quern_slice[]){QUERN_SLICE_ALL, QUERN_SLICE_ALL, y.back ? back : ahead}));
    quern_array *all[] = {run, parts, cut, table};
    for (size_t a = 0; a < sizeof all / sizeof *all; a++) {
        quern_array_release(all[a]);
    }
    return y;
}

/* Bytes that the output has in each sector of its memory. Returns how many sectors there are. */
static int64_t sectors_of(int *bytes, const output *y)
{
    const int64_t pitch = y->length * y->step + y->gap;
    const int64_t begin = (int64_t)((uintptr_t)quern_array_pointer(y->memory) % SECTOR);
    const int64_t count = y->offset + y->parts * (y->rows * pitch + 1);
    memset(bytes, 0, MOST * sizeof *bytes);
    for (int64_t n = 0; n < y->parts * y->rows * y->length; n++) {
        const int64_t row = n / y->length, part = row / y->rows;
        const int64_t at = y->offset + row * pitch + part + n % y->length * y->step;
        for (int64_t b = 0; b < y->item; b++) {
            bytes[(begin + at * y->item + b) / SECTOR]++;
        }
    }
    return (begin + count * y->item) / SECTOR + 1;
}

/* A kernel whose prefetches count in `marks` how often each sector of `memory` is asked for. */
static quern_kernel *counting(quern_array *memory, quern_array *marks)
{
    char text[800];
    const unsigned long long begin = (uintptr_t)quern_array_pointer(memory) / SECTOR * SECTOR;
    snprintf(text, sizeof text,
             "#define volatile(...) volatile(\"{ .reg .u64 a; sub.u64 a, %%0, %llu; "
             "shr.u64 a, a, 5; shl.b64 a, a, 2; add.u64 a, a, %llu; "
             "red.global.add.u32 [a], 1; } \" __VA_ARGS__)\n",
             begin, (unsigned long long)(uintptr_t)quern_array_pointer(marks));
    quern_kernel *k;
    quern_kernel_options options = QUERN_KERNEL_OPTIONS_INIT;
    options.preamble = text;
    OK(quern_elementwise(&k, engine, "int32 x", "T y", "y = x", &options));
    return k;
}

/* Returns whether the plan asks for all sectors. */
static bool check(void)
{
    static int bytes[MOST];
    static uint32_t asked[MOST];
    output y = draw_output();
    const int64_t sectors = sectors_of(bytes, &y);
    quern_array *marks, *x;
    OK(quern_array_new(&marks, engine, QUERN_UINT32, SHAPE(sectors)));
    OK(quern_array_fill(marks, &(uint32_t){0}, 4));
    OK(quern_array_new(&x, engine, QUERN_INT32, SHAPE(y.parts, y.rows, y.length)));
    OK(quern_array_fill(x, &(int32_t){1}, 4));
    quern_kernel *k = counting(y.memory, marks);
    const quern_value values[] = {QUERN_VALUES(x, y.array)};
    quern_explanation *e;
    OK(quern_explain(&e, k, values, 2, NULL));
    OK(quern_call_n(k, values, 2, NULL));
    OK(quern_array_read(marks, asked, (size_t)sectors * 4));
    int64_t touched = 0, missed = 0, asks = 0;
    for (int64_t s = 0; s < sectors; s++) {
        cr_assert(bytes[s] > 0 || asked[s] == 0, "sector %ld is none of the output's: %s", (long)s,
                  e->plan);
        touched += bytes[s] > 0;
        missed += bytes[s] > 0 && bytes[s] < SECTOR && asked[s] == 0;
        asks += asked[s];
    }
    const bool all = strstr(e->plan, "sectors early") != NULL;
    if (all) {
        cr_expect(missed * 32 <= touched, "%ld of %ld missed, (%ld, %ld, %ld) by %ld: %s",
                  (long)missed, (long)touched, (long)y.parts, (long)y.rows, (long)y.length,
                  (long)y.step, e->plan);
        cr_expect(asks <= 2 * touched, "%ld asks for %ld, (%ld, %ld, %ld) by %ld and %ld: %s",
                  (long)asks, (long)touched, (long)y.parts, (long)y.rows, (long)y.length,
                  (long)y.step, (long)y.gap, e->plan);
    }
    quern_explanation_release(e);
    quern_kernel_release(k);
    quern_array *arrays[] = {marks, x, y.array, y.memory};
    for (size_t a = 0; a < sizeof arrays / sizeof *arrays; a++) {
        quern_array_release(arrays[a]);
    }
    return all;
}

Test(early, each_sector_once)
{
    int all = 0;
    for (int n = 0; n < CALLS; n++) {
        all += check();
    }
    cr_expect_geq(all, CALLS / 2, "%d of %d", all, CALLS);
}
