/* SPDX-License-Identifier: MIT
 *
 * Scans along columns, which blocks share or (where they are many) threads go down, and along rows
 * that lie on in memory: drawn extents, at any element, with gaps, backwards, in place, of values
 * of every size. What is expected comes from a loop on the host. The thing to know: memory ends
 * where the last line does, so that the software device finds what is read beyond it; and the
 * operator does not commute, so that a sum that is taken twice, or out of order, shows.
 */
#include "base/base.h"
#include "draw.h"
#include "numbered.h"
#include <stdio.h>

enum { DRAWN = 21, MOST = 1 << 16 };

/* Blocks of lines that are enough for each processor to have several. */
static int64_t many_blocks;

/* On the software device with as many processors on every machine: plans depend on them. */
static void open_columns(void)
{
    whole_open_small();
    quern_device_info info = QUERN_DEVICE_INFO_INIT;
    OK(quern_device_get_info(&info, engine));
    many_blocks = 4 * (int64_t)info.processors;
}

TestSuite(columns, .init = open_columns, .fini = whole_close);

/* `extent`: blocks of lines, lines, columns. Lines are `pitch` elements apart. */
typedef struct view {
    int64_t extent[3], offset, pitch;
    bool up, back; /* along the lines, along the columns */
} view;

static int64_t count_of(const view *v)
{
    return v->extent[0] * v->extent[1] * v->extent[2];
}

/* Fewer columns than lines, more, or many rows: one column in each block; blocks, each of more than
 * a tile has room for; blocks that lie a power of two apart; or rows, or a few columns, of which
 * each has the lanes of several warps. */
typedef enum shapes { FEW, MANY, ROWS, BLOCKS, TWOS, BROAD } shapes;

static view draw_view(shapes of)
{
    static const int64_t columns[] = {1,  2,  3,  4,  5,   7,   8,   16, 20,
                                      23, 36, 64, 65, 127, 180, 256, 300};
    view v = {.offset = draw(0, 1) * draw(1, 9)};
    v.extent[2] = columns[draw(0, QN_COUNT(columns) - 1)];
    v.extent[0] = draw(1, 3);
    v.extent[2] = of == MANY ? draw(500, 2500) : v.extent[2];
    v.extent[1] = of == MANY ? draw(1, 45) : draw(MOST / 4, MOST - 1) / (v.extent[0] * v.extent[2]);
    if (of == ROWS) {
        v.extent[0] = draw(300, 4000);
        v.extent[1] = draw(2, 2 + 60000 / v.extent[0]);
        v.extent[2] = v.pitch = 1;
        return v;
    }
    if (of == BLOCKS) {
        static const int64_t odd[] = {7, 13, 15, 15};
        v.extent[0] = many_blocks;
        v.extent[2] = v.pitch = odd[draw(0, QN_COUNT(odd) - 1)];
        v.extent[1] = draw(35000, 50000) / v.pitch;
        return v;
    }
    if (of == TWOS) {
        v.extent[0] = 128 * many_blocks;
        v.extent[1] = 64;
        v.extent[2] = v.pitch = 2;
        return v;
    }
    if (of == BROAD) {
        static const int64_t few[] = {1, 1, 5, 16, 16};
        v.extent[2] = v.pitch = few[draw(0, QN_COUNT(few) - 1)];
        v.extent[1] = draw(1100, 15000) / v.pitch;
        v.extent[0] = draw(1, 4) * many_blocks;
        return v;
    }
    v.pitch = v.extent[2] + (draw(0, 3) == 0 ? draw(1, 5) : 0);
    v.up = draw(0, 7) == 0;
    v.back = draw(0, 7) == 0;
    return v;
}

static int64_t place(const view *v, int64_t block, int64_t line, int64_t column)
{
    const int64_t y = v->up ? v->extent[1] - 1 - line : line;
    const int64_t x = v->back ? v->extent[2] - 1 - column : column;
    return v->offset + (block * v->extent[1] + y) * v->pitch + x;
}

static quern_array *array_in(quern_dtype dtype, const view *v)
{
    const int64_t length = v->extent[0] * v->extent[1] * v->pitch;
    quern_array *memory = numbered_memory(dtype, v->offset + length), *run, *table, *part;
    OK(quern_array_slice(&run, memory, 1, (quern_slice[]){{v->offset, v->offset + length, 1}}));
    OK(quern_array_reshape(&table, run, SHAPE(v->extent[0], v->extent[1], v->pitch)));
    const int64_t lines = v->extent[1], columns = v->extent[2];
    const quern_slice down = {0, lines, 1}, up = {lines - 1, QUERN_SLICE_NONE, -1};
    const quern_slice ahead = {0, columns, 1}, back = {columns - 1, QUERN_SLICE_NONE, -1};
    OK(quern_array_slice(
        &part, table, 3,
        (quern_slice[]){{0, v->extent[0], 1}, v->up ? up : down, v->back ? back : ahead}));
    quern_array_release(memory);
    quern_array_release(run);
    quern_array_release(table);
    return part;
}

typedef struct texts {
    const char *map, *scan, *post, *identity;
    bool exclusive;
} texts;

static const texts all_texts[] = {
    {"x", "a + b", "y = a", NULL, false},
    {"x + _J % 5", "b % 7 == 0 ? a : b", "y = a", "1000", false},
    {"x", "b % 7 == 0 ? a : b", "y = a + x + _J % 3", "1000", true},
    {"x", "a + b", "if (x % 3 == 0) y = a", "0", false},
};

static int64_t combine(int t, int64_t a, int64_t b)
{
    return t == 1 || t == 2 ? (b % 7 == 0 ? a : b) : a + b;
}

/* What post leaves of `was`, for element `x` at `line` with `a`. */
static int64_t result(int t, int64_t x, int64_t line, int64_t a, int64_t was)
{
    return t == 2 ? a + x + line % 3 : t == 3 && x % 3 != 0 ? was : a;
}

static uint64_t as_output(quern_dtype dtype, int64_t value)
{
    return dtype == QUERN_UINT8    ? (uint8_t)value
           : dtype == QUERN_UINT16 ? (uint16_t)value
                                   : (uint64_t)value;
}

static uint64_t got_at(quern_dtype dtype, const void *got, int64_t at)
{
    return dtype == QUERN_UINT8    ? ((const uint8_t *)got)[at]
           : dtype == QUERN_UINT16 ? ((const uint16_t *)got)[at]
                                   : (uint64_t)((const int64_t *)got)[at];
}

static void expect(int t, quern_dtype out, const void *got, const view *v, const view *to,
                   bool in_place, const char *plan)
{
    for (int64_t column = 0; column < v->extent[0] * v->extent[2]; column++) {
        const int64_t block = column / v->extent[2], x = column % v->extent[2];
        int64_t a = t == 0 || t == 3 ? 0 : 1000;
        for (int64_t line = 0; line < v->extent[1]; line++) {
            const int64_t element = numbered(place(v, block, line, x));
            const int64_t before = a;
            a = combine(t, a, element + (t == 1 ? line % 5 : 0));
            const int64_t was = in_place ? element : numbered(place(to, block, line, x));
            const int64_t want = result(t, element, line, all_texts[t].exclusive ? before : a, was);
            const int64_t at = (block * v->extent[1] + line) * v->extent[2] + x;
            cr_assert_eq(got_at(out, got, at), as_output(out, want),
                         "line %ld of column %ld of (%ld, %ld, %ld), texts %d: %s", (long)line,
                         (long)column, (long)v->extent[0], (long)v->extent[1], (long)v->extent[2],
                         t, plan);
        }
    }
}

/* Returns 1 where strips wait in registers, 2 where in shared memory, 3 where a thread goes down
 * each column, 4 where rows are one run of memory, 5 where that is in pieces, 6 where it has
 * gaps in shared memory, 7 where a row of it has the lanes of several warps, 8 where they are
 * strewn, else 0. */
static int check_view(quern_kernel *k, int t, quern_dtype in, quern_dtype out, bool in_place,
                      view v, view to)
{
    quern_array *x = array_in(in, &v), *y = in_place ? x : array_in(out, &to);
    quern_call_options o = QUERN_CALL_OPTIONS_INIT;
    o.axes = (int[]){1};
    o.axis_count = 1;
    const quern_value values[] = {QUERN_VALUES(x, y)};
    quern_explanation *e;
    OK(quern_explain(&e, k, values, 2, &o));
    for (int n = in_place ? 1 : 0; n < 2; n++) {
        OK(quern_call_n(k, values, 2, &o)); /* the second time in the workspace of the first */
    }
    const size_t bytes = (size_t)count_of(&v) * sizeof(int64_t);
    void *got = malloc(bytes);
    const size_t item = out == QUERN_UINT8 ? 1 : out == QUERN_UINT16 ? 2 : 8;
    OK(quern_array_read(y, got, (size_t)count_of(&v) * item));
    expect(t, out, got, &v, &to, in_place, e->plan);
    const char *gap = strstr(e->source, "_quern_gap = ");
    const int kind = strstr(e->source, "_quern_strewn = true")  ? 8
                     : strstr(e->source, "_quern_broad = true") ? 7
                     : strstr(e->plan, "in pieces")             ? 5
                     : gap && strncmp(gap + 13, "0;", 2) != 0   ? 6
                     : strstr(e->plan, "one run of memory")     ? 4
                     : strstr(e->plan, "a thread down each")    ? 3
                     : strstr(e->plan, "whole lines")           ? 2
                     : strstr(e->plan, "in strips")             ? 1
                                                                : 0;
    free(got);
    quern_explanation_release(e);
    if (!in_place) {
        quern_array_release(y);
    }
    quern_array_release(x);
    return kind;
}

static int check(quern_kernel *k, int t, quern_dtype in, quern_dtype out, bool in_place, shapes of)
{
    const view v = draw_view(of);
    view to = draw_view(of);
    memcpy(to.extent, v.extent, sizeof v.extent);
    to.pitch = v.extent[2] + (of != ROWS && draw(0, 3) == 0 ? draw(1, 5) : 0);
    return check_view(k, t, in, out, in_place, v, to);
}

static quern_kernel *kernel_for(const texts *s, const char *in_name, const char *out_name)
{
    char x[32], y[32];
    snprintf(x, sizeof x, "%s x", in_name);
    snprintf(y, sizeof y, "%s y", out_name);
    quern_scan_options o = QUERN_SCAN_OPTIONS_INIT;
    o.exclusive = s->exclusive;
    o.scan_type = "long long";
    quern_kernel *k;
    OK(quern_scan(&k, engine, x, y, s->map, s->scan, s->post, s->identity, &o));
    return k;
}

static void check_drawn(quern_dtype in, quern_dtype out, const char *in_name, const char *out_name,
                        bool in_place)
{
    static const shapes of[] = {FEW, FEW, FEW, MANY, ROWS, BLOCKS, BLOCKS};
    int kinds[9] = {0};
    for (int t = 0; t < (int)QN_COUNT(all_texts); t++) {
        quern_kernel *k = kernel_for(&all_texts[t], in_name, out_name);
        for (int n = 0; n < DRAWN; n += drawn_part()) {
            kinds[check(k, t, in, out, in_place, of[n / 3])]++;
        }
        quern_kernel_release(k);
    }
    /* a GPU has more processors, and other plans for these sizes; a part need not have them all */
    if (!whole_is_soft() || drawn_part() > 1) {
        return;
    }
    cr_assert_gt(kinds[1], 2, "%d of strips in registers", kinds[1]);
    cr_assert_gt(kinds[2], 3, "%d of whole lines", kinds[2]);
    cr_assert_gt(kinds[3], 5, "%d that threads go down", kinds[3]);
    cr_assert_gt(kinds[4], 1, "%d of rows in one run", kinds[4]);
    cr_assert_gt(kinds[5], 2, "%d in pieces", kinds[5]);
}

Test(columns, bytes)
{
    state = 1;
    check_drawn(QUERN_UINT8, QUERN_UINT8, "uint8", "uint8", false);
}
Test(columns, bytes_in_place)
{
    state = 2;
    check_drawn(QUERN_UINT8, QUERN_UINT8, "uint8", "uint8", true);
}
Test(columns, halves_to_int64)
{
    state = 3;
    check_drawn(QUERN_UINT16, QUERN_INT64, "uint16", "int64", false);
}
Test(columns, bytes_to_halves)
{
    state = 4;
    check_drawn(QUERN_UINT8, QUERN_UINT16, "uint8", "uint16", false);
}

/* Lanes of blocks that lie a power of two apart would meet in one bank. */
Test(columns, gaps)
{
    int gaps = 0;
    state = 5;
    for (int t = 0; t < (int)QN_COUNT(all_texts); t++) {
        quern_kernel *k = kernel_for(&all_texts[t], "uint16", "uint16");
        for (int n = 0; n < 3; n++) {
            gaps += check(k, t, QUERN_UINT16, QUERN_UINT16, n == 2, TWOS) == 6;
        }
        quern_kernel_release(k);
    }
    cr_assert_gt(gaps, 5, "%d with gaps", gaps);
}

/* Warps of one row, and strewn lanes of one column, learn from each other what lies in front. */
Test(columns, rows_of_several_warps)
{
    int kinds[9] = {0}, calls = 0;
    state = 6;
    for (int t = 0; t < (int)QN_COUNT(all_texts); t++) {
        quern_kernel *bytes = kernel_for(&all_texts[t], "uint8", "uint8");
        quern_kernel *wide = kernel_for(&all_texts[t], "uint16", "int64");
        for (int n = 0; n < 6; n += drawn_part(), calls += 2) {
            kinds[check(bytes, t, QUERN_UINT8, QUERN_UINT8, n == 2, BROAD)]++;
            kinds[check(wide, t, QUERN_UINT16, QUERN_INT64, false, BROAD)]++;
        }
        quern_kernel_release(bytes);
        quern_kernel_release(wide);
    }
    cr_assert(drawn_part() > 1 || (kinds[7] > calls / 10 && kinds[8] > calls / 10),
              "%d of several warps and %d strewn of %d", kinds[7], kinds[8], calls);
}

/* A device whose blocks have 8 KiB of shared memory is asked for no more. */
static void open_little(void)
{
    whole_open_on("soft:2,shared=8");
}

Test(columns, in_little_shared_memory, .init = open_little, .fini = whole_close)
{
    static const int64_t lengths[] = {900, 9000, 20000};
    for (int t = 0; t < (int)QN_COUNT(all_texts); t++) {
        quern_kernel *k = kernel_for(&all_texts[t], "uint16", "int64");
        for (size_t n = 0; n < QN_COUNT(lengths); n++) {
            const view v = {.extent = {18, lengths[n], 1}, .pitch = 1};
            check_view(k, t, QUERN_UINT16, QUERN_INT64, false, v, v);
        }
        quern_kernel_release(k);
    }
}
