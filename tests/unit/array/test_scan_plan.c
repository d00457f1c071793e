/* SPDX-License-Identifier: MIT
 *
 * Plans of scans: which layouts wait in shared memory and how, and that a tile never holds more
 * than its block has room for.
 */
#include "array/fold_scans.h"
#include <criterion/criterion.h>
#include <stdlib.h>

enum { NDIM = 3, PROCESSORS = 132, ALONE = QN_STAGED_ALONE, TOGETHER = QN_STAGED_TOGETHER };

/* An input and an output: strides and offsets in elements. */
typedef struct layout {
    const char *what;
    int ndim, axis;
    int64_t shape[NDIM], strides[2][NDIM];
    int offset[2];
    uint32_t item[2], value;
    int staged, lines; /* lines: of the input and the output 1, of the input alone 2 */
    bool again, spread, repeats;
} layout;

static void make(qn_fold *fold, const layout *l)
{
    qn_operand operands[2];
    int64_t strides[2][NDIM];
    for (int k = 0; k < 2; k++) {
        for (int d = 0; d < l->ndim; d++) {
            strides[k][d] = l->strides[k][d] * l->item[k];
        }
        char *base = (char *)(uintptr_t)((1 + (uint64_t)k) << 40);
        operands[k] = (qn_operand){.shape = l->shape,
                                   .strides = strides[k],
                                   .data = base + l->offset[k] * (int)l->item[k],
                                   .ndim = l->ndim,
                                   .item_size = l->item[k],
                                   .output = k == 1,
                                   .name = QN_STR("x")};
    }
    qn_fold_rules rules = {.axes = 1u << l->axis,
                           .in_turns = true,
                           .repeats = l->repeats,
                           .scan = true,
                           .ordered = true,
                           .pack_bytes = 16,
                           .processors = PROCESSORS,
                           .shared = 227 << 10};
    qn_fold_make_scan(fold, operands, 2, l->ndim, l->shape, &rules, l->value);
}

#define M 1000000
static const layout layouts[] = {
    {"one row", 1, 0, {64 * M}, {{1}, {1}}, {0}, {4, 4}, 4, 0, 0},
    {"one odd row", 1, 0, {64 * M + 1}, {{1}, {1}}, {1, 1}, {4, 4}, 4, 0, 0},
    {"floats off each other", 1, 0, {64 * M}, {{1}, {1}}, {0, 1}, {4, 4}, 4, 0, 0, false, true},
    {"bytes", 1, 0, {100 * M}, {{1}, {1}}, {0}, {1, 1}, 1, 0, 0, false, false},
    {"bytes as ints", 1, 0, {100 * M}, {{1}, {1}}, {0}, {1, 1}, 4, 0, 0, true, false},
    {"bytes off each other", 1, 0, {100 * M}, {{1}, {1}}, {0, 7}, {1, 1}, 4, 0, 0, true, true},
    {"bytes backwards", 1, 0, {100 * M}, {{1}, {-1}}, {0, 0}, {1, 1}, 4, 0, 0, true, true},
    {"every other float", 1, 0, {100 * M}, {{2}, {1}}, {0, 0}, {4, 4}, 4, TOGETHER, 1},
    {"every other byte", 1, 0, {100 * M}, {{2}, {1}}, {0, 0}, {1, 1}, 4, 0, 0, false, false},
    {"rows of 107 halves", 2, 1, {M, 107}, {{107, 1}, {107, 1}}, {0}, {2, 2}, 4, TOGETHER, 1},
    {"rows of 3", 2, 1, {M, 3}, {{3, 1}, {3, 1}}, {0}, {4, 4}, 4, ALONE, 1},
    {"rows of 16", 2, 1, {M, 16}, {{16, 1}, {16, 1}}, {0}, {4, 4}, 4, 0, 0},
    {"rows of 17 halves", 2, 1, {M, 17}, {{17, 1}, {17, 1}}, {0}, {2, 2}, 8, ALONE, 1},
    {"rows of 31 doubles", 2, 1, {M, 31}, {{31, 1}, {31, 1}}, {0}, {8, 8}, 8, ALONE, 1},
    {"rows of 24, every third", 2, 1, {M, 24}, {{24, 1}, {72, 3}}, {0}, {4, 4}, 4, ALONE, 1},
    {"rows of 24 with gaps", 2, 1, {M, 24}, {{24, 1}, {73, 3}}, {0}, {4, 4}, 4, ALONE, 2},
    {"rows of 1000", 2, 1, {M, 1000}, {{1000, 1}, {1000, 1}}, {0}, {4, 4}, 4, 0, 0},
    {"columns", 2, 0, {1000, M}, {{M, 1}, {M, 1}}, {0}, {4, 4}, 4, 0, 0},
    {"values of unknown size", 2, 1, {M, 3}, {{3, 1}, {3, 1}}, {0}, {4, 4}, 0, 0, 0},
};

Test(scan_plan, known_layouts)
{
    for (size_t c = 0; c < QN_COUNT(layouts); c++) {
        const layout *l = &layouts[c];
        qn_fold fold;
        make(&fold, l);
        const qn_fold_form *f = &fold.form;
        cr_expect_eq(f->staged, l->staged, "%s: staged %d", l->what, f->staged);
        cr_expect_eq(f->line_in, l->lines > 0, "%s: inputs in a line: %d", l->what, f->line_in);
        cr_expect_eq(f->line_out, l->lines == 1, "%s: outputs in a line: %d", l->what, f->line_out);
        cr_expect_eq(f->again, l->again, "%s: makes values again: %d", l->what, f->again);
        cr_expect_eq(f->spread, l->spread, "%s: spreads values: %d", l->what, f->spread);
    }
}

/* Short rows and columns of any number, dense or not, whatever their types. */
Test(scan_plan, tiles_fit_their_blocks)
{
    static const uint32_t sizes[] = {1, 2, 4, 8, 16};
    int staged = 0, listed = 0, paced = 0;
    srand(7);
    for (int n = 0; n < 20000; n++) {
        int64_t a = 1 + rand() % 50, length = 1 + rand() % (n % 4 == 0 ? 9000 : 80);
        int64_t b = 1 + rand() % 600, gap = rand() % 3;
        layout l = {"drawn",
                    3,
                    rand() % 3,
                    {a, length, b},
                    {{length * b, b, 1}, {(length + gap) * b, b, 1}},
                    {rand() % 5, rand() % 5},
                    {sizes[rand() % 5], sizes[rand() % 5]},
                    sizes[rand() % 5],
                    0,
                    0};
        qn_fold f;
        make(&f, &l);
        if (!f.form.staged) {
            continue;
        }
        staged++;
        int64_t room = (int64_t)QN_FOLD_BLOCK * f.form.steps, tile = f.workers * f.chunk;
        cr_assert_leq(tile, room, "%lld elements in room for %lld", (long long)tile,
                      (long long)room);
        cr_assert_geq(f.chunk * f.splits, f.length);
        cr_assert_lt(f.chunk * (f.splits - 1), f.length);
        cr_assert_geq(f.groups * f.workers, f.outputs);
        cr_assert_eq(f.form.split, f.splits > 1);
        cr_assert(f.form.line_in || !f.form.line_out, "post finds inputs by places of outputs");
        if (f.form.staged == TOGETHER) {
            cr_assert_eq(f.chunk % f.form.steps, 0);
        } else {
            cr_assert_eq(f.splits, 1);
        }
        if (f.form.listed) {
            listed++;
            cr_assert(f.form.kept > 1 && !f.form.split && !f.form.line_in);
            cr_assert_eq(f.shared, f.workers * 2 * 8, "%u bytes of a list for %u outputs, twice",
                         f.shared, f.workers);
        } else {
            cr_assert_eq(f.shared, 0);
        }
        if (f.form.paced) {
            paced++;
            const int64_t rows = QN_FOLD_BLOCK / f.length;
            cr_assert(!f.form.split && f.workers <= rows * f.form.steps,
                      "%u outputs of %lld elements", f.workers, (long long)f.length);
        }
        if (f.form.line_in && f.form.stage_in && f.workers > f.head) {
            cr_assert_eq(f.workers % f.head, 0, "a tile ends inside a row of outputs");
        }
    }
    cr_assert_gt(staged, 2000, "%d of 20000 are staged", staged);
    cr_assert_gt(listed, 100, "%d of 20000 have lists", listed);
    cr_assert_gt(paced, 10, "%d of 20000 go along whole rows", paced);
}

/* Rows of a tile and its sums have room, in as many blocks as a processor should hold, and parts
 * have each column, the last one one of its own. */
static void check_parts(const qn_fold *f, const layout *l)
{
    const int64_t columns = f->extent[f->form.kept - 1], own = qn_fold_part_columns(&f->form);
    const int64_t all = qn_fold_row_parts(f) * own, over = f->form.parts - 1;
    cr_assert_geq(all + over, columns);
    cr_assert(qn_fold_row_parts(f) == 1 || all - own + over < columns);
    const qn_operand operands[] = {{.item_size = l->item[0]}, {.item_size = l->item[1]}};
    cr_assert_leq((f->shared + qn_fold_sums_bytes(f, l->value) + 1024) *
                      (uint32_t)qn_fold_part_blocks(operands, 2),
                  227u << 10);
}

/* Columns of any number and length, off any alignment, with gaps: a block has threads for its
 * columns, its lines fit shared memory, and its tiles cover all positions, none for nothing. */
Test(scan_plan, strips_fit_their_blocks)
{
    static const uint32_t sizes[] = {1, 2, 4, 8, 16};
    int strips = 0, lines = 0, parts = 0;
    srand(11);
    for (int n = 0; n < 20000; n++) {
        const int64_t a = 1 + rand() % 4, b = 1 + rand() % (n % 3 == 0 ? 6000 : 300);
        const int64_t length = 1000 + rand() % (1 << (9 + rand() % 15)),
                      gap = rand() % 3 * (rand() % 2);
        layout l = {"drawn",
                    3,
                    1,
                    {a, length, b},
                    {{length * (b + gap), b + gap, 1}, {length * b, b, 1}},
                    {rand() % 5, rand() % 5},
                    {sizes[rand() % 5], sizes[rand() % 5]},
                    sizes[rand() % 5],
                    0,
                    0};
        qn_fold f;
        l.repeats = n % 2;
        make(&f, &l);
        if (!f.form.strips || f.form.boxed) {
            cr_assert_eq(f.form.lines, 0);
            cr_assert_eq(f.form.parts, 0);
            continue;
        }
        strips++;
        if (f.form.parts) {
            parts++;
            check_parts(&f, &l);
        }
        const int64_t across = QN_FOLD_BLOCK / f.workers;
        const int64_t tile = f.form.lines ? across * f.chunk : across * f.form.steps;
        cr_assert(f.form.split && f.form.columns && !f.form.staged);
        cr_assert_leq(f.workers * f.form.lanes, QN_FOLD_BLOCK);
        cr_assert_geq(f.groups * f.workers * f.form.lanes, f.outputs);
        cr_assert_geq(tile * f.splits, f.length);
        cr_assert_lt(tile * (f.splits - 1), f.length);
        if (!f.form.lines) {
            continue;
        }
        lines++;
        const uint32_t sums = QN_FOLD_BLOCK * (f.form.lanes + 2u) * l.value;
        uint32_t bytes = sums + qn_fold_lines_room(&f.form, l.item[0]);
        if (f.form.back == QN_LINES_ROOM) {
            bytes += qn_fold_lines_room(&f.form, l.item[1]);
        }
        cr_assert_leq(bytes, 48 * 1024 - 32, "%u bytes in shared memory", bytes);
        cr_assert_leq(f.chunk, f.form.lines);
        cr_assert_eq(f.workers * f.form.lanes, b);
        cr_assert(gap == 0 || length == 1);
    }
    cr_assert_gt(strips, 3000, "%d of 20000 in strips", strips);
    cr_assert_gt(lines, 1000, "%d of whole lines", lines);
    cr_assert_gt(parts, 1000, "%d of parts of rows", parts);
}

/* The address of the first element of a tile, in bytes off the alignment of words. */
static int64_t off_words(const qn_fold *f, const layout *l, int k, int64_t row)
{
    const int a = f->form.anchor;
    const int64_t lanes = QN_ACCESS_BYTES / (int64_t)l->item[a];
    const int64_t begin[2] = {(int64_t)(uintptr_t)f->base[0] + row * f->stride[0][0],
                              (int64_t)(uintptr_t)f->base[1] + row * f->stride[1][0]};
    const int64_t ahead = begin[a] / (int64_t)l->item[a] % lanes;
    return (begin[k] - ahead * (int64_t)l->item[k]) % QN_ACCESS_BYTES;
}

/* Runs: all elements have a tile, a block has room, and what is reached in words is aligned in
 * every row. */
Test(scan_plan, runs_fit_and_words_are_aligned)
{
    static const uint32_t sizes[] = {1, 2, 4, 8, 16};
    int runs = 0, words = 0;
    srand(8);
    for (int n = 0; n < 20000; n++) {
        const int64_t rows = 2 + rand() % 4, length = 20000 + rand() % 5000000;
        layout l = {.what = "drawn",
                    .ndim = 2,
                    .axis = 1,
                    .shape = {rows, length},
                    .strides = {{length + rand() % 40, 1}, {length + rand() % 40, 1}},
                    .offset = {rand() % 20, rand() % 20},
                    .item = {sizes[rand() % 5], sizes[rand() % 5]},
                    .value = sizes[rand() % 5],
                    .repeats = rand() % 8 != 0};
        qn_fold f;
        make(&f, &l);
        cr_assert(l.repeats || !f.form.runs, "map is called twice");
        if (!f.form.runs) {
            continue;
        }
        runs++;
        cr_assert_eq(f.chunk, QN_FOLD_BLOCK * f.form.runs);
        cr_assert_geq(f.chunk * f.splits, f.length);
        cr_assert_eq(f.form.runs % f.form.lanes, 0);
        cr_assert_leq(8 * qn_fold_lot_bytes(l.item[0], f.form.runs), 48 * 1024);
        for (int k = 0; k < 2; k++) {
            for (int64_t row = 0; row < rows && f.form.access[k] == QN_ACCESS_VECTOR; row++) {
                words++;
                cr_assert_eq(off_words(&f, &l, k, row), 0, "operand %d of row %lld", k,
                             (long long)row);
            }
        }
    }
    cr_assert_gt(runs, 10000, "%d of 20000 by runs", runs);
    cr_assert_gt(words, runs, "%d operands and rows in words", words);
}

/* Tiles ask for the memory of whole tiles further on, so far that not much more moves meanwhile
 * than processors hold, where words of that come to shared memory as they are. */
Test(scan_plan, tiles_ask_ahead)
{
    static const uint32_t sizes[] = {1, 2, 4, 8, 16};
    int ask = 0, by_lanes = 0;
    srand(9);
    for (int n = 0; n < 20000; n++) {
        const int64_t rows = 1 + rand() % 300, length = 20000 + rand() % 50000000 / rows;
        const uint32_t item = sizes[rand() % 5];
        layout l = {.what = "drawn",
                    .ndim = 2,
                    .axis = 1,
                    .shape = {rows, length},
                    .strides = {{length + rand() % 3, 1}, {length + rand() % 3, 1}},
                    .item = {item, rand() % 2 ? item : sizes[rand() % 5]},
                    .value = sizes[rand() % 5],
                    .repeats = true};
        qn_fold f;
        make(&f, &l);
        const qn_operand x = {.item_size = l.item[0]};
        if (!qn_fold_row_asks(&f.form, &x, 1)) {
            cr_assert(f.beside == 0 || f.form.packed || f.form.boxed, "tiles ask that never do");
            continue;
        }
        const bool lanes = f.form.runs == 0 && !f.form.held;
        const int64_t tile = f.chunk * (lanes ? f.form.lanes : 1);
        const int64_t blocks = f.beside / tile * f.groups;
        cr_assert_eq(f.beside % tile, 0);
        cr_assert(lanes || f.beside == 0 || f.form.access[0] == QN_ACCESS_VECTOR);
        cr_assert_leq(blocks * tile * (l.item[0] + l.item[1]), 2 * (int64_t)PROCESSORS * 68 * 1024,
                      "%lld rows of %lld", (long long)rows, (long long)length);
        ask += f.beside > 0;
        by_lanes += lanes && f.beside > 0;
    }
    cr_assert_gt(ask, 1000, "%d of 20000", ask);
    cr_assert_gt(by_lanes, 100, "%d of 20000 by lanes", by_lanes);
}

/* The same of narrow columns, whose tiles are whole lines. */
Test(scan_plan, lines_ask_ahead)
{
    static const uint32_t sizes[] = {1, 2, 4, 8};
    int ask = 0;
    srand(10);
    for (int n = 0; n < 5000; n++) {
        const int64_t outer = 1 + rand() % 6, columns = 2 + rand() % 30,
                      length = 50000 + rand() % M;
        const int64_t matrix = length * columns;
        layout l = {.what = "drawn",
                    .ndim = 3,
                    .axis = 1,
                    .shape = {outer, length, columns},
                    .strides = {{matrix, columns, 1}, {matrix, columns, 1}},
                    .item = {sizes[rand() % 4], sizes[rand() % 4]},
                    .value = sizes[rand() % 4],
                    .repeats = true};
        qn_fold f;
        make(&f, &l);
        if (!f.form.lines) {
            continue;
        }
        const int64_t tile = QN_FOLD_BLOCK / f.workers * f.chunk; /* lines */
        const int64_t moved = f.beside * columns * (l.item[0] + l.item[1]) * f.groups;
        cr_assert_eq(f.beside % tile, 0);
        cr_assert_leq(moved, 2 * (int64_t)PROCESSORS * 68 * 1024, "%lld x %lld x %lld",
                      (long long)outer, (long long)length, (long long)columns);
        ask += f.beside > 0;
    }
    cr_assert_gt(ask, 1000, "%d of 5000", ask);
}

/* How an axis is gone down whose columns are long for as many as there are: by threads that each go
 * down all of some, or in tiles, and not by warps that would take a row after the other. */
Test(scan_plan, long_columns_are_split)
{
    static const struct {
        int64_t length, count;
        uint32_t item;
        bool swath, split;
    } columns[] = {
        {13, 16131939, 1, true, false}, {97, 1081007, 2, true, false},
        {97, 324301, 1, false, false},  {887, 236433, 1, false, true},
        {4001, 52415, 1, false, true},  {4001, 7863, 1, false, true},
        {4001, 26207, 2, false, true},  {4001, 3931, 2, false, true},
        {887, 59109, 4, false, true},   {887, 159109, 4, true, false},
    };
    for (size_t n = 0; n < QN_COUNT(columns); n++) {
        const int64_t length = columns[n].length, count = columns[n].count;
        const uint32_t item = columns[n].item;
        layout l = {"columns",    2, 0, {length, count}, {{count + 2, 1}, {count, 1}}, {3, 0},
                    {item, item}, 4};
        l.repeats = true;
        qn_fold f;
        make(&f, &l);
        cr_expect_eq(f.form.swath, columns[n].swath, "%lld x %lld of %u: in swaths: %d",
                     (long long)length, (long long)count, item, f.form.swath);
        cr_expect_eq(f.form.split, columns[n].split, "%lld x %lld of %u: in tiles: %d",
                     (long long)length, (long long)count, item, f.form.split);
    }
}

/* Swaths of bytes and halves are shared out to processors, and those of wider elements in whole
 * blocks. */
Test(scan_plan, swaths_are_shared_out_evenly)
{
    static const uint32_t items[] = {1, 2, 4};
    int swaths = 0, uneven = 0;
    for (int64_t n = 0; n < 300; n++) {
        const uint32_t item = items[n % 3];
        const int64_t length = 64 + n, count = 300001 + 9973 * n;
        layout l = {"columns",    2, 0, {length, count}, {{count + 2, 1}, {count, 1}}, {3, 0},
                    {item, item}, 4};
        l.repeats = true;
        qn_fold f;
        make(&f, &l);
        const int64_t warps = f.form.warps ? f.form.warps : 8;
        const int64_t most = (f.groups + PROCESSORS - 1) / PROCESSORS * warps;
        const double mean = (double)(f.groups * warps) / PROCESSORS;
        if (f.form.swath) {
            swaths++;
            uneven += item < 4 && (double)most > 1.1 * mean + 2;
            cr_expect(item < 4 || f.form.warps == 0);
        }
    }
    cr_expect_gt(swaths, 50, "%d", swaths);
    cr_expect_eq(uneven, 0, "%d of %d", uneven, swaths);
}

/* Few scans whose elements are far from each other everywhere: a box of one would be no box. */
Test(scan_plan, boxes_have_several_scans)
{
    int boxes = 0;
    for (int a = 10; a < 80; a++) {
        const int64_t length = 1000, apart = 80, rows = a, columns = 30;
        layout l = {"far apart",
                    3,
                    2,
                    {rows, columns, length},
                    {{length * apart, rows * length * apart, apart},
                     {columns * length * apart, length * apart, apart}},
                    {0, 0},
                    {8, 8},
                    8};
        l.repeats = true;
        qn_fold f;
        make(&f, &l);
        int64_t kept = 1;
        for (int d = 0; d < f.form.kept; d++) {
            kept *= f.extent[d];
        }
        cr_expect_geq(kept, rows * columns, "%d rows", a);
        cr_expect(f.form.outer == 0 || f.form.boxed > 0, "%d rows: a box of one scan", a);
        boxes += f.form.boxed > 0;
    }
    cr_expect_gt(boxes, 10);
}

/* Long scans side by side in rows of less than 64 bytes, some with gaps between them: where lines
 * do not lie on in memory, boxes take them. */
Test(scan_plan, narrow_rows_with_gaps_go_by_boxes)
{
    for (int64_t columns = 2; columns <= 7; columns++) {
        for (uint32_t item = 1; item <= 8; item *= 2) {
            for (int64_t gap = 0; gap <= 3; gap++) {
                layout l = {"narrow",
                            2,
                            0,
                            {20 * M / columns, columns},
                            {{columns, 1}, {columns + gap, 1}},
                            {0, 0},
                            {item, item},
                            item};
                l.repeats = true;
                qn_fold f;
                make(&f, &l);
                cr_expect_eq(f.form.boxed > 0, gap > 0, "%lld columns of %u bytes, %lld apart",
                             (long long)columns, item, (long long)(columns + gap));
            }
        }
    }
}

/* Short scans in pieces of memory with gaps between them: boxes go over several pieces, where tiles
 * of one would be small. */
Test(scan_plan, small_tiles_go_by_boxes)
{
    for (int64_t rows = 50; rows <= 3200; rows *= 2) {
        layout l = {
            "pieces", 3,      2, {20 * M / rows, rows, 3}, {{6 * rows, 3, 1}, {3 * rows, 3, 1}},
            {0, 0},   {2, 2}, 4};
        l.repeats = true;
        qn_fold f;
        make(&f, &l);
        cr_expect_eq(f.form.boxed > 0, rows < 1600, "pieces of %lld rows", (long long)rows);
    }
}
