/* SPDX-License-Identifier: MIT
 *
 * Reductions by spans, whose kept and reduced axes alternate in memory, by phases of rows, and of
 * few elements for each of many outputs: of drawn extents, at any element, with gaps, and with
 * outputs that have gaps. Each element counts by where it lies among those of its output, so that
 * one that is taken twice, or not at all, or with a wrong position, shows. What is expected comes
 * from a loop on the host. The thing to know: an array's memory ends where its last element does,
 * so that the software device finds what is read beyond it.
 */
#include "base/base.h"
#include "draw.h"
#include "numbered.h"
#include "reduced.h"
#include <stdio.h>

TestSuite(drawn_reductions, .init = whole_open_small, .fini = whole_close);

enum { DRAWN = 40, AXES = 4, MOST = 1 << 18 };

/* A view of memory in C order from `offset` on: slabs of the first axis are `gap` elements apart,
 * and the output has every `step` of its last axis. */
typedef struct layout {
    int64_t extent[AXES], offset, gap, step;
    uint32_t reduced;
} layout;

/* What the plans are meant to be. */
typedef enum way { SPANS, APART, PHASES, BOXES } way;

static const char *const words[] = {"by spans", "a block apart", "phases of rows", "by boxes"};

/* One axis is long, so that the whole has some 20000 to 300000 elements: a reduced one, or (APART)
 * a kept one. PHASES: rows are wide. BOXES: the axes inside are, too, and any may be long. */
static layout draw_layout(way w)
{
    static const uint32_t reduced[][8] = {{1, 2, 5, 9, 10, 3, 11, 13},
                                          {1, 5, 1, 5, 1, 5, 1, 5},
                                          {1, 2, 3, 5, 2, 2, 3, 7},
                                          {5, 5, 9, 10, 11, 13, 4, 9}};
    layout l = {.offset = draw(0, 9), .step = draw(1, 2)};
    l.reduced = reduced[w][draw(0, 7)];
    for (int d = 0; d < AXES; d++) {
        l.extent[d] = draw(1, d == 0 ? 5 : 9);
    }
    if (w == PHASES) {
        l.extent[0] = draw(1, 2);
        l.extent[2] = 1;
        l.extent[3] = draw(400, 723);
    }
    if (w == BOXES) {
        l.extent[2] = draw(3, 60);
        l.extent[3] = draw(1, 2) == 1 ? draw(2, 9) : draw(9, 60);
    }
    const int longest = w == APART || (l.reduced & 2) != 0 ? 1 : w == BOXES ? (int)draw(0, 1) : 0;
    int64_t others = 1;
    for (int d = 0; d < AXES; d++) {
        others *= d == longest ? 1 : l.extent[d];
    }
    l.extent[longest] = draw(w == PHASES ? 150000 : 20000, w == PHASES ? 300000 : 90000) / others;
    l.gap = draw(0, 3) == 0 ? 16 * draw(1, 3) : draw(0, 3) == 0 ? draw(1, 9) : 0;
    return l;
}

static int64_t slab(const layout *l)
{
    return l->extent[1] * l->extent[2] * l->extent[3] + l->gap;
}

static quern_array *array_in(quern_dtype dtype, const layout *l)
{
    const int64_t count = l->extent[0] * slab(l);
    quern_array *memory = numbered_memory(dtype, l->offset + count), *run, *table, *part, *all;
    OK(quern_array_slice(&run, memory, 1, (quern_slice[]){{l->offset, l->offset + count, 1}}));
    OK(quern_array_reshape(&table, run, SHAPE(l->extent[0], slab(l))));
    OK(quern_array_slice(&part, table, 2,
                         (quern_slice[]){QUERN_SLICE_ALL, {0, slab(l) - l->gap, 1}}));
    OK(quern_array_reshape(&all, part, AXES, l->extent));
    quern_array_release(memory);
    quern_array_release(run);
    quern_array_release(table);
    quern_array_release(part);
    return all;
}

static quern_array *array_out(const layout *l, quern_array **memory, int64_t *outputs)
{
    int64_t shape[AXES], last = 1;
    int ndim = 0;
    *outputs = 1;
    for (int d = 0; d < AXES; d++) {
        if ((l->reduced >> d & 1) == 0) {
            last = shape[ndim++] = l->extent[d];
            *outputs *= last;
        }
    }
    shape[ndim - 1] = last * l->step;
    OK(quern_array_new(memory, engine, QUERN_INT64, ndim, shape));
    OK(quern_array_fill(*memory, &(int64_t){-1}, sizeof(int64_t)));
    quern_slice slices[AXES];
    for (int d = 0; d < ndim; d++) {
        slices[d] = (quern_slice){0, shape[d], d == ndim - 1 ? l->step : 1};
    }
    quern_array *y;
    OK(quern_array_slice(&y, *memory, ndim, slices));
    return y;
}

/* The sum of each output, of each element by its place among those of it. */
static void compute(int64_t *sum, int64_t *seen, const layout *l)
{
    int64_t at[AXES];
    for (at[0] = 0; at[0] < l->extent[0]; at[0]++) {
        for (at[1] = 0; at[1] < l->extent[1]; at[1]++) {
            for (at[2] = 0; at[2] < l->extent[2]; at[2]++) {
                for (at[3] = 0; at[3] < l->extent[3]; at[3]++) {
                    int64_t y = 0;
                    for (int d = 0; d < AXES; d++) {
                        y = l->reduced >> d & 1 ? y : y * l->extent[d] + at[d];
                    }
                    const int64_t place = l->offset + at[0] * slab(l) +
                                          (at[1] * l->extent[2] + at[2]) * l->extent[3] + at[3];
                    sum[y] += numbered(place) * (++seen[y] * 3 + 1);
                }
            }
        }
    }
}

static void expect(quern_array *memory, const layout *l, int64_t outputs, const char *plan)
{
    int64_t *got = calloc((size_t)(3 * MOST), sizeof *got), *sum = got + MOST, *seen = sum + MOST;
    cr_assert(got && outputs * l->step <= MOST);
    OK(quern_array_read(memory, got, (size_t)(outputs * l->step) * sizeof *got));
    compute(sum, seen, l);
    for (int64_t y = 0; y < outputs * l->step; y++) {
        const int64_t want = y % l->step == 0 ? sum[y / l->step] : -1;
        cr_assert_eq(got[y], want, "%ld of (%ld, %ld, %ld, %ld) over %u, offset %ld, gap %ld: %s",
                     (long)y, (long)l->extent[0], (long)l->extent[1], (long)l->extent[2],
                     (long)l->extent[3], l->reduced, (long)l->offset, (long)l->gap, plan);
    }
    free(got);
}

/* Returns whether the plan says `word`. */
static bool check(quern_kernel *k, quern_dtype dtype, const layout *l, const char *word)
{
    int64_t outputs;
    quern_array *x = array_in(dtype, l), *memory, *y = array_out(l, &memory, &outputs);
    int axes[AXES];
    const quern_call_options o = over_axes(axes, AXES, l->reduced);
    const quern_value values[] = {QUERN_VALUES(x, y)};
    quern_explanation *e;
    OK(quern_explain(&e, k, values, 2, &o));
    OK(quern_call_n(k, values, 2, &o));
    expect(memory, l, outputs, e->plan);
    const bool found = strstr(e->plan, word) != NULL;
    quern_explanation_release(e);
    quern_array_release(x);
    quern_array_release(y);
    quern_array_release(memory);
    return found;
}

static void check_drawn(quern_dtype dtype, const char *type, way w, int least)
{
    quern_kernel *k;
    char map[128];
    snprintf(map, sizeof map, "return (%s)((long long)x * (_J * 3 + 4));", type);
    const quern_reduction_options o = {
        .size = sizeof o,
        .reduce_type = type,
        .preamble = "struct wide {\n"
                    "    long long v, w;\n"
                    "    wide() = default;\n"
                    "    __device__ wide(long long x, long long y = 0) : v(x), w(y) {}\n"
                    "};\n"
                    "__device__ wide operator+(wide a, wide b) { return {a.v + b.v, a.w + 1}; }\n"
                    "__device__ long long out(wide a) { return a.v; }\n"
                    "__device__ long long out(long long a) { return a; }"};
    OK(quern_reduction(&k, engine, "T x", "int64 y", map, "a + b", "y = out(a)", NULL, &o));
    int found = 0;
    for (int n = 0; n < drawn(DRAWN); n++) {
        const layout l = draw_layout(w);
        found += check(k, dtype, &l, words[w]);
    }
    /* A GPU has more processors, and other plans for these sizes. */
    cr_assert(found >= (drawn_part() > 1 ? 1 : least) || !whole_is_soft(), "%d of %d", found,
              drawn(DRAWN));
    quern_kernel_release(k);
}

Test(drawn_reductions, spans_of_bytes)
{
    state = 1;
    check_drawn(QUERN_UINT8, "long long", SPANS, DRAWN / 4);
}

Test(drawn_reductions, spans_of_two_bytes)
{
    state = 2;
    check_drawn(QUERN_UINT16, "long long", SPANS, DRAWN / 4);
}

Test(drawn_reductions, spans_of_four_bytes)
{
    state = 3;
    check_drawn(QUERN_FLOAT32, "long long", SPANS, DRAWN / 8);
}

Test(drawn_reductions, spans_of_structures)
{
    state = 4;
    check_drawn(QUERN_UINT16, "wide", SPANS, DRAWN / 8);
}

/* So many outputs side by side, or up to twice as many but one. */
static void check_rows(int64_t from, int rows_by_spans)
{
    int found = 0;
    quern_kernel *k;
    const quern_reduction_options o = {.size = sizeof o, .reduce_type = "long long"};
    OK(quern_reduction(&k, engine, "T x", "int64 y", "(long long)x * (_J * 3 + 4)", "a + b",
                       "y = a", NULL, &o));
    for (int n = 0; n < drawn(DRAWN / 2); n++) {
        const int64_t outputs = draw(from, 2 * from - 1) | 1;
        const layout l = {.extent = {1, draw(150000, 250000) / outputs, 1, outputs},
                          .offset = draw(0, 9),
                          .step = draw(1, 2),
                          .reduced = 2};
        found += check(k, n % 2 ? QUERN_UINT8 : QUERN_UINT16, &l, words[SPANS]);
    }
    cr_assert(found >= (drawn_part() > 1 ? 1 : rows_by_spans) || !whole_is_soft(), "%d", found);
    quern_kernel_release(k);
}

/* A span has so many packs that blocks share it, since a block of 256 threads would have one thread
 * for each and no second set. */
Test(drawn_reductions, spans_that_blocks_share)
{
    state = 14;
    check_rows(67, DRAWN / 2);
    check_rows(128, DRAWN / 2);
}

Test(drawn_reductions, spans_of_more_outputs_than_threads)
{
    state = 15;
    check_rows(257, DRAWN / 8);
}

/* Outputs that are too many for a span, of a few elements side by side each: spans have a part of
 * them. Their number is a multiple of few or many, or of none. */
Test(drawn_reductions, spans_of_parts)
{
    quern_kernel *k;
    const quern_reduction_options o = {.size = sizeof o, .reduce_type = "long long"};
    OK(quern_reduction(&k, engine, "T x", "int64 y", "(long long)x * (_J * 3 + 4)", "a + b",
                       "y = a", NULL, &o));
    static const quern_dtype dtypes[] = {QUERN_UINT8, QUERN_UINT16, QUERN_FLOAT32};
    int found = 0;
    state = 16;
    for (int n = 0; n < drawn(DRAWN); n++) {
        static const int64_t multiples[] = {1, 4, 16, 64};
        const int64_t of = multiples[n / 3 % 4], run = draw(2, n % 2 ? 8 : 60);
        const int64_t outputs = of * draw(4000 / run / of + 1, 9000 / run / of + 1);
        const layout l = {.extent = {draw(20, 40), outputs, 1, run},
                          .offset = draw(0, 3) == 0 ? draw(0, 9) : 0,
                          .step = draw(1, 2),
                          .gap = draw(0, 3) == 0 ? 16 * draw(1, 3) : 0,
                          .reduced = 9};
        found += check(k, dtypes[n % 3], &l, words[SPANS]);
    }
    cr_assert(found >= (drawn_part() > 1 ? 1 : DRAWN / 4) || !whole_is_soft(), "%d of %d", found,
              drawn(DRAWN));
    quern_kernel_release(k);
}

Test(drawn_reductions, apart_of_bytes)
{
    state = 5;
    check_drawn(QUERN_UINT8, "long long", APART, DRAWN / 8);
}

Test(drawn_reductions, apart_of_four_bytes)
{
    state = 6;
    check_drawn(QUERN_FLOAT32, "wide", APART, DRAWN / 8);
}

Test(drawn_reductions, phases_of_bytes)
{
    state = 7;
    check_drawn(QUERN_UINT8, "long long", PHASES, DRAWN / 8);
}

Test(drawn_reductions, phases_of_two_bytes)
{
    state = 8;
    check_drawn(QUERN_UINT16, "wide", PHASES, DRAWN / 4);
}

Test(drawn_reductions, phases_of_four_bytes)
{
    state = 9;
    check_drawn(QUERN_FLOAT32, "long long", PHASES, DRAWN / 8);
}

Test(drawn_reductions, boxes_of_bytes)
{
    state = 10;
    check_drawn(QUERN_UINT8, "long long", BOXES, DRAWN / 8);
}

Test(drawn_reductions, boxes_of_two_bytes)
{
    state = 11;
    check_drawn(QUERN_UINT16, "long long", BOXES, DRAWN / 8);
}

Test(drawn_reductions, boxes_of_structures)
{
    state = 12;
    check_drawn(QUERN_UINT8, "wide", BOXES, DRAWN / 8);
}

/* The axes of an array, in C order from `offset` on; those of `dropped` have extent 1. */
static quern_array *array_of_some(quern_dtype dtype, const int64_t *extent, uint32_t dropped,
                                  int64_t offset)
{
    int64_t own[AXES], count = 1;
    for (int d = 0; d < AXES; d++) {
        own[d] = dropped >> d & 1 ? 1 : extent[d];
        count *= own[d];
    }
    quern_array *memory = numbered_memory(dtype, offset + count), *run, *all;
    OK(quern_array_slice(&run, memory, 1, (quern_slice[]){{offset, offset + count, 1}}));
    OK(quern_array_reshape(&all, run, AXES, own));
    quern_array_release(memory);
    quern_array_release(run);
    return all;
}

/* What an input has at a position, by its place in the memory. */
static int64_t number_at(const int64_t *extent, uint32_t dropped, int64_t offset, const int64_t *at)
{
    int64_t place = 0;
    for (int d = 0; d < AXES; d++) {
        place = dropped >> d & 1 ? place : place * extent[d] + at[d];
    }
    return numbered(offset + place);
}

/* Two inputs of which one is repeated, along axes 0 and 2, with two outputs. */
static bool check_two(quern_kernel *k, const int64_t *extent, uint32_t dropped, int64_t offset)
{
    const int64_t outputs = extent[1] * extent[3];
    quern_array *x = array_of_some(QUERN_UINT8, extent, 0, offset);
    quern_array *w = array_of_some(QUERN_UINT16, extent, dropped, 9 - offset);
    quern_array *y = NULL, *n = NULL;
    quern_call_options o = QUERN_CALL_OPTIONS_INIT;
    o.axes = (const int[]){0, 2};
    o.axis_count = 2;
    const quern_value values[] = {QUERN_VALUES(x, w, &y, &n)};
    quern_explanation *e;
    OK(quern_explain(&e, k, values, 4, &o));
    OK(quern_call_n(k, values, 4, &o));
    int64_t *got = calloc((size_t)(3 * outputs), sizeof *got), *want = got + outputs, at[AXES];
    int32_t *last = (int32_t *)(want + outputs);
    cr_assert(got);
    OK(quern_array_read(y, got, (size_t)outputs * sizeof *got));
    OK(quern_array_read(n, last, (size_t)outputs * sizeof *last));
    for (at[0] = 0; at[0] < extent[0]; at[0]++) {
        for (at[1] = 0; at[1] < extent[1]; at[1]++) {
            for (at[2] = 0; at[2] < extent[2]; at[2]++) {
                for (at[3] = 0; at[3] < extent[3]; at[3]++) {
                    want[at[1] * extent[3] + at[3]] += number_at(extent, 0, offset, at) *
                                                       (number_at(extent, dropped, 9 - offset, at) +
                                                        3 * (at[0] * extent[2] + at[2]));
                }
            }
        }
    }
    for (int64_t p = 0; p < outputs; p++) {
        cr_assert(got[p] == want[p] && last[p] == (int32_t)(want[p] % 1000),
                  "%ld of (%ld, %ld, %ld, %ld) without %u, offset %ld: %s", (long)p,
                  (long)extent[0], (long)extent[1], (long)extent[2], (long)extent[3], dropped,
                  (long)offset, e->plan);
    }
    const bool found = strstr(e->plan, words[BOXES]) != NULL;
    quern_explanation_release(e);
    quern_array *all[] = {x, w, y, n};
    for (size_t m = 0; m < QN_COUNT(all); m++) {
        quern_array_release(all[m]);
    }
    free(got);
    return found;
}

Test(drawn_reductions, boxes_of_several_inputs)
{
    quern_kernel *k;
    const quern_reduction_options o = {.size = sizeof o, .reduce_type = "long long"};
    OK(quern_reduction(&k, engine, "uint8 x, uint16 w", "int64 y, int32 n",
                       "(long long)x * (w + _J * 3)", "a + b", "y = a; n = a % 1000", NULL, &o));
    int found = 0;
    state = 13;
    for (int n = 0; n < drawn(DRAWN / 2); n++) {
        const int64_t extent[AXES] = {draw(20, 90), draw(5, 30), draw(3, 20), draw(2, 9)};
        found += check_two(k, extent, (uint32_t)draw(0, 15), draw(0, 9));
    }
    quern_kernel_release(k);
    cr_assert(found >= drawn(DRAWN / 8) || !whole_is_soft(), "%d of %d", found, drawn(DRAWN / 2));
}

/* Rows with a gap, in which elements have no entry in the table. Only those of rows may be looked
 * up, at the edges of the memory too. */
Test(drawn_reductions, phases_look_up_no_neighbours)
{
    enum { ROWS = 3001, COLUMNS = 341, PITCH = 344, OFFSET = 3 };
    uint8_t *host = malloc(OFFSET + ROWS * PITCH);
    const int32_t table[] = {11, 12, 13, 14};
    int64_t want[COLUMNS] = {0}, got[COLUMNS];
    for (int64_t k = 0; k < OFFSET + ROWS * PITCH; k++) {
        const int64_t column = k < OFFSET ? COLUMNS : (k - OFFSET) % PITCH;
        host[k] = column < COLUMNS ? (uint8_t)(1 + k % 4) : 250;
        if (column < COLUMNS) {
            want[column] += table[host[k] - 1];
        }
    }
    quern_array *memory = array_of(QUERN_UINT8, SHAPE(OFFSET + ROWS * PITCH), host), *run, *rows,
                *x;
    quern_array *w = array_of(QUERN_INT32, SHAPE(4), table), *y = NULL;
    OK(quern_array_slice(&run, memory, 1, (quern_slice[]){{OFFSET, OFFSET + ROWS * PITCH, 1}}));
    OK(quern_array_reshape(&rows, run, SHAPE(ROWS, PITCH)));
    OK(quern_array_slice(&x, rows, 2, (quern_slice[]){QUERN_SLICE_ALL, {0, COLUMNS, 1}}));
    quern_kernel *k;
    OK(quern_reduction(&k, engine, "uint8 x, raw int32 w", "int64 y", "w[x - 1]", "a + b", "y = a",
                       NULL, NULL));
    quern_call_options o = QUERN_CALL_OPTIONS_INIT;
    o.axes = (const int[]){0};
    o.axis_count = 1;
    const quern_value values[] = {QUERN_VALUES(x, w, &y)};
    quern_explanation *e;
    OK(quern_explain(&e, k, values, 3, &o));
    cr_assert(strstr(e->plan, words[PHASES]) || !whole_is_soft(), "%s", e->plan);
    quern_explanation_release(e);
    OK(quern_call_n(k, values, 3, &o));
    OK(quern_array_read(y, got, sizeof got));
    cr_assert_arr_eq(got, want, sizeof got);
    quern_array *all[] = {memory, run, rows, x, w, y};
    for (size_t n = 0; n < QN_COUNT(all); n++) {
        quern_array_release(all[n]);
    }
    quern_kernel_release(k);
    free(host);
}

/* A map that counts its calls is called once for each element. */
Test(drawn_reductions, maps_with_effects_run_once)
{
    enum { LENGTH = 5, OUTPUTS = 100003 };
    quern_array *x = numbered_memory(QUERN_UINT8, LENGTH * OUTPUTS), *table, *y = NULL, *n = NULL;
    OK(quern_array_reshape(&table, x, SHAPE(LENGTH, OUTPUTS)));
    OK(quern_array_new(&n, engine, QUERN_INT32, SHAPE(1)));
    OK(quern_array_fill(n, &(int32_t){0}, sizeof(int32_t)));
    quern_kernel *k;
    OK(quern_reduction(&k, engine, "uint8 x", "int64 y, raw int32 n",
                       "atomicAdd(&n[0], 1); return x;", "a + b", "y = a", NULL, NULL));
    quern_call_options o = QUERN_CALL_OPTIONS_INIT;
    o.axes = (const int[]){0};
    o.axis_count = 1;
    const quern_value values[] = {QUERN_VALUES(table, &y, n)};
    OK(quern_call_n(k, values, 3, &o));
    int32_t calls;
    OK(quern_array_read(n, &calls, sizeof calls));
    cr_assert_eq(calls, LENGTH * OUTPUTS);
    quern_array *all[] = {x, table, y, n};
    for (size_t m = 0; m < QN_COUNT(all); m++) {
        quern_array_release(all[m]);
    }
    quern_kernel_release(k);
}
