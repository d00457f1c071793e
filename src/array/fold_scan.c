/* SPDX-License-Identifier: MIT
 *
 * fold_scan: the walk of a scan. In: shapes, strides, addresses, axes. Out: a qn_fold. The thing to
 * know: the threads of an output are lanes of a warp (`workers`), and where outputs are few, all
 * warps of a block work on one, tile by tile; where they are fewer still, each tile has a block of
 * its own, which gets the value before the tile from the blocks before it.
 */
#include "array/fold_scans.h"

#include <math.h>
#include <string.h>

#define WARPS         (QN_FOLD_BLOCK / QN_WARP)
#define MOST_STEPS    8   /* units of a thread at once: each repeats the code */
#define COLUMN_STEPS  32  /* the same for tiles of columns, where one scan of the warp serves all */
#define PARKED_BYTES  128 /* of values that a thread of a tile keeps in shared memory */
#define RAGGED_VALUES 32  /* the same at most, where units may be pieces: their code is long */
#define KEPT_BYTES    128 /* of inputs, in registers */
#define SEGMENT_BYTES 128 /* side by side: with fewer, blocks of columns are slow */
#define TILE_BYTES    64  /* the same for tiles: few values each, since tiles wait for each other */
#define TILE_WIDTH    16  /* the same, in elements, of columns that are not reached by vector */
#define UNKNOWN_LANES 4   /* of values whose size is not known, at most 64 bytes: */
#define STRAY_LANES   2   /* where they go through shared memory to outputs that lie otherwise */

/* Rows that do better in tiles, though they are many. */
#define NARROW     2      /* bytes of an element */
#define NARROW_ROW 40960  /* bytes of inputs, of narrow elements; */
#define RAGGED_ROW 16000  /* of those whose rows begin or end inside a unit, */
#define ONE_TILE   8000   /* or elements: so many do so even if they are one tile; */
#define LONG_ROW   131072 /* of others, where the last blocks fill less of the device than this: */
#define IDLE_WAVES 0.75

/* ---- units ---------------------------------------------------------------------------------- */

/* Choose the lanes: packs need an operand that is reached by vector, and rows that are whole packs
 * or long. */
static void choose_units(const qn_fold_making *m, uint32_t most)
{
    qn_fold *f = m->fold;
    uint32_t lanes = qn_pack_lanes(m->operands, m->count, m->rules->pack_bytes);
    for (lanes = QN_MIN(lanes, most);; lanes /= 2) {
        f->form.lanes = (uint8_t)lanes;
        int vector = qn_fold_choose_access(m);
        int64_t row = qn_fold_lane_dim(&f->form) < 0 ? 1 : f->extent[qn_fold_lane_dim(&f->form)];
        bool whole = lanes == 1 ||
                     (vector >= 0 && row % lanes == 0 && qn_fold_is_aligned(m, (size_t)vector));
        bool longs = vector >= 0 && !f->form.columns && f->form.reduced == 1 && row >= 8 * lanes;
        f->form.ragged = !whole;
        if (whole || longs) {
            break;
        }
    }
    lanes = f->form.lanes;
    f->head = f->rest = 0;
    /* A ragged row may have a piece of a pack at either end. */
    f->units =
        f->form.columns ? f->length : (f->length + (lanes - 1) * (1 + f->form.ragged)) / lanes;
}

/* ---- threads and blocks --------------------------------------------------------------------- */

/* Lanes for a row: few if it is short, but enough that what they read at once lies side by side. */
static uint32_t row_workers(const qn_fold *f)
{
    uint32_t enough = qn_power_of_two(qn_over(f->units, f->form.steps), QN_WARP);
    return QN_MAX(enough, qn_power_of_two(f->units, 4));
}

uint32_t qn_fold_tile_width(const qn_fold *f, const qn_operand *first)
{
    const uint32_t bytes = f->form.lanes * first->item_size;
    return f->form.lanes == 1 ? TILE_WIDTH : qn_power_of_two(TILE_BYTES / bytes, QN_WARP);
}

/* Rows that do better in tiles although every block that the device holds, `blocks` in all, has
 * one: of narrow elements, which by runs take fewer instructions; and where the blocks fill less
 * than three quarters of the device in the mean, because the last of them are few. On an H200, of a
 * copy's speed, a block for a row and tiles: rows of 65521 int8 0.39 and 0.79, float16 0.66 and
 * 0.84; of 20001 int8 0.38 and 0.78, of 9001 int8 into int64 0.69 and 0.80, all in one tile, but of
 * 16384 int8 0.70 and 0.55; of 40000 float64, 629 of them, 0.72 and 0.84. */
static bool has_long_rows(const qn_fold_making *m, int64_t blocks)
{
    const qn_fold *f = m->fold;
    uint32_t bytes = 0, widest = 0;
    for (size_t k = 0; k < m->inputs; k++) {
        bytes += m->operands[k].item_size;
        widest = QN_MAX(widest, m->operands[k].item_size);
    }
    const double waves = (double)f->outputs / (double)blocks;
    const bool idle = waves < IDLE_WAVES * ceil(waves);
    const int64_t least = widest > NARROW  ? (idle ? LONG_ROW : INT64_MAX)
                          : f->form.ragged ? QN_MIN(RAGGED_ROW, (int64_t)ONE_TILE * bytes)
                                           : NARROW_ROW;
    return !f->form.columns && f->form.reduced == 1 && m->rules->repeats && !m->rules->positions &&
           m->inputs > 0 && f->length * bytes >= least;
}

/* `tiles`: rows go in tiles, if one is not all of a row. `apart`: columns are split, however many
 * there are. */
static void choose_threads(const qn_fold_making *m, bool tiles, bool apart)
{
    qn_fold *f = m->fold;
    int64_t packs = f->form.columns ? f->outputs / f->form.lanes : f->outputs;
    int64_t blocks = (int64_t)m->rules->processors * 4; /* four keep a processor busy */
    int64_t sweep = QN_WARP * f->form.steps;            /* units of a warp at once */
    uint32_t bytes = f->form.lanes * m->operands[0].item_size;
    uint32_t segment = f->form.columns ? qn_power_of_two(SEGMENT_BYTES / bytes, QN_WARP) : 1;
    bool few = apart || qn_over(packs, segment) < blocks; /* outputs, to keep the device busy */
    if (f->form.columns) {
        uint32_t beside = qn_over(packs, QN_WARP) >= blocks ? QN_WARP : segment;
        beside = few ? qn_fold_tile_width(f, m->operands) : beside;
        f->form.block = apart || packs < blocks * QN_FOLD_BLOCK / 2;
        f->workers = f->form.block ? QN_WARP / QN_MIN(beside, qn_power_of_two(packs, QN_WARP)) : 1;
    } else {
        bool many = !tiles && packs >= blocks * WARPS && f->units <= 16 * sweep;
        f->form.block = f->units > sweep && !many;
        f->workers = f->form.block ? QN_WARP : row_workers(f);
    }
    int64_t abreast = (int64_t)f->workers * (f->form.block ? WARPS : 1);
    f->form.steps = (uint8_t)qn_power_of_two(qn_over(f->units, abreast), f->form.steps);
    f->chunk = abreast * f->form.steps;
    f->groups = qn_over(packs, QN_WARP / f->workers * (f->form.block ? 1 : WARPS));
    const bool longs = has_long_rows(m, blocks), more = f->units > f->chunk;
    f->form.split = f->form.block && (((tiles || few || longs) && more) ||
                                      (longs && f->form.ragged && f->length >= ONE_TILE));
    f->splits = f->form.split ? qn_over(f->units, f->chunk) : 1;
}

/* ---- the whole ------------------------------------------------------------------------------ */

/* Values that a thread holds at once. Those of a tile wait in shared memory, as many as have room:
 * large tiles wait for each other less often. If their size is not known they are structures, most
 * of two or three numbers: with 4 of them in tiles of rows, 32 M segmented sums, whose texts had a
 * costly function, went at 0.30 of a copy's speed on an H100, with 16 at 0.66; columns of 524288 x
 * 64 with 4, 16 and 32 at 0.07, 0.29 and 0.42. */
static uint32_t thread_values(const qn_fold_making *m, uint32_t value_size, bool tiles)
{
    const qn_fold_form *f = &m->fold->form;
    if (value_size == 0) {
        return !tiles ? 8 : f->columns ? COLUMN_STEPS : 16;
    }
    return tiles ? QN_MIN(f->ragged ? RAGGED_VALUES : PARKED_BYTES, PARKED_BYTES / value_size)
                 : QN_MIN(16, 64 / value_size);
}

/* Units of a thread whose inputs wait in registers, 32 of them, so that a tile of narrow inputs has
 * more elements than wide values would have room for; 0: a thread does not keep them so. */
static uint32_t input_steps(const qn_fold_making *m)
{
    const qn_fold *f = m->fold;
    uint32_t bytes = 0, steps = 1;
    for (size_t k = 0; k < m->inputs; k++) {
        if (qn_fold_is_pack(f->form.access[k])) {
            bytes += m->operands[k].item_size * f->form.lanes;
        } else if (f->form.access[k] != QN_ACCESS_BROADCAST) {
            return 0;
        }
    }
    if (f->form.columns || !m->rules->in_turns || bytes > KEPT_BYTES) {
        return 0;
    }
    /* The pieces of a ragged row are put together in registers of their own. */
    const uint32_t most = f->form.ragged ? KEPT_BYTES / 2 : KEPT_BYTES;
    while (2 * steps * bytes <= most && 2 * steps <= MOST_STEPS) {
        steps *= 2;
    }
    return steps;
}

/* True when rows have an output that is not reached by vector. */
static bool has_stray(const qn_fold_making *m)
{
    const qn_fold_form *f = &m->fold->form;
    bool stray = false;
    for (size_t k = m->inputs; k < m->count; k++) {
        stray |= !qn_fold_is_pack(f->access[k]);
    }
    return stray && !f->columns && f->lanes > 1;
}

/* Choose the lanes for values of that size, so that they have room in shared memory: columns meet
 * there lane by lane, and there values are exchanged for outputs that stray. */
static void choose_lanes(const qn_fold_making *m, uint32_t value_size, uint32_t values)
{
    const bool columns = m->fold->form.columns;
    choose_units(m, value_size != 0 ? values : columns ? 1 : UNKNOWN_LANES);
    if (value_size == 0 && has_stray(m)) {
        choose_units(m, STRAY_LANES);
    }
}

/* `apart`: columns are split into tiles. */
static void plan(const qn_fold_making *m, uint32_t value_size, bool apart)
{
    qn_fold *fold = m->fold;
    const qn_fold_form dims = {.kept = fold->form.kept, .reduced = fold->form.reduced, .scan = 1};
    fold->form = dims;
    fold->cost = 0;
    fold->form.columns = fold->form.kept > 0 && qn_fold_dense_columns(m);
    uint32_t values = thread_values(m, value_size, false);
    choose_lanes(m, value_size, values);
    fold->form.steps = (uint8_t)QN_MIN(values / fold->form.lanes, MOST_STEPS);
    choose_threads(m, false, apart);
    if (fold->form.split) {
        values = thread_values(m, value_size, true);
        uint32_t most = fold->form.columns ? COLUMN_STEPS : MOST_STEPS;
        uint32_t steps = QN_MIN(values / fold->form.lanes, most), kept = input_steps(m);
        fold->form.again = kept > steps;
        fold->form.steps = (uint8_t)QN_MAX(steps, kept);
        choose_threads(m, true, apart);
        fold->form.again &= fold->form.split;
    }
    /* warps have units enough to exchange */
    fold->form.spread = has_stray(m) && fold->workers == QN_WARP;
    qn_fold_take_strips(m, value_size, apart);
    qn_fold_stage(m, value_size);
    qn_fold_take_packed(m, value_size);
    if (!(apart && fold->form.parts)) {
        qn_fold_take_descents(m);
    }
}

void qn_fold_make_scan(qn_fold *fold, const qn_operand *operands, size_t operand_count, int ndim,
                       const int64_t *shape, const qn_fold_rules *rules, uint32_t value_size)
{
    qn_fold_making m = qn_fold_begin(fold, operands, operand_count, rules);
    qn_fold_dims(&m, ndim, shape);
    plan(&m, value_size, false);
    const bool parts = qn_fold_parts_outdo(&m);
    if (parts || (fold->form.descends && qn_fold_descent_starves(&m))) {
        qn_fold_decided whole;
        const double cost = fold->cost;
        memcpy(whole.bytes, fold, sizeof whole.bytes);
        plan(&m, value_size, true);
        if (!(parts && fold->form.parts) && fold->cost >= cost) {
            memcpy(fold, whole.bytes, sizeof whole.bytes);
        }
    }
    qn_fold_take_boxes(&m, value_size);
    if (!fold->form.boxed) {
        qn_fold_take_rows(&m, value_size);
        qn_fold_hold_columns(&m, value_size);
    }
    fold->form.wide = qn_fold_needs_wide(&m);
    qn_fold_ask_ahead(&m);
    if (fold->form.staged && !fold->form.boxed) {
        qn_fold_settle_stage(&m, value_size);
    }
}

void qn_fold_print_scan(qn_text *out, const qn_fold *f, size_t operand_count)
{
    qn_text_printf(out, "%lld scan%s of %lld element%s, ", (long long)f->outputs,
                   f->outputs == 1 ? "" : "s", (long long)f->length, f->length == 1 ? "" : "s");
    if (f->form.boxed) {
        qn_fold_print_boxes(out, f);
    } else if (f->form.runs) {
        qn_fold_print_runs(out, f);
    } else if (f->form.held && !f->form.strips) {
        qn_fold_print_held(out, f);
    } else if (f->form.staged) {
        static const char *const along[] = {"rows", "columns"};
        qn_text_printf(out, "in shared memory, %u scan%s a block%s%s, in by %s, out by %s",
                       f->workers, f->workers == 1 ? "" : "s", f->form.listed ? " from a list" : "",
                       f->form.paced ? ", whole rows at a time" : "", along[f->form.stage_in],
                       along[f->form.stage_out]);
    } else if (f->form.packed) {
        static const char *const of[] = {"row", "column"};
        const char *const one = of[f->form.woven];
        qn_text_printf(out, "by %ss, %lld a block as one run of memory, %u lane%s a %s", one,
                       (long long)f->chunk, f->workers, f->workers == 1 ? "" : "s", one);
        if (f->form.pieces) {
            qn_text_printf(out, ", in pieces of %lld", (long long)f->units);
        }
    } else if (f->form.apart) {
        qn_text_printf(out, "%d scans a thread, a block apart", f->form.apart);
    } else if (f->form.descends) {
        qn_text_printf(out, "by columns, a thread down each, %d element%s at once%s, %d time%s",
                       f->form.lanes, f->form.lanes == 1 ? "" : "s",
                       f->form.swath ? " in swaths" : "", f->form.steps,
                       f->form.steps == 1 ? "" : "s");
    } else if (f->form.strips) {
        qn_text_printf(
            out, "by columns in strips of %lld, %d element%s at once, %u thread%s side by side%s",
            f->form.lines ? (long long)f->chunk : (long long)f->form.steps, f->form.lanes,
            f->form.lanes == 1 ? "" : "s", f->workers, f->workers == 1 ? "" : "s",
            f->form.lines   ? ", whole lines in shared memory"
            : f->form.parts ? ", parts of rows in shared memory"
            : f->form.held  ? ", held"
                            : "");
    } else {
        qn_text_printf(out, "by %s, %d element%s at once, %d time%s, %u lane%s of %s a scan",
                       f->form.columns ? "columns" : "rows", f->form.lanes,
                       f->form.lanes == 1 ? "" : "s", f->form.steps, f->form.steps == 1 ? "" : "s",
                       f->workers, f->workers == 1 ? "" : "s",
                       f->form.block ? "each warp" : "one warp");
    }
    if (f->form.split && !f->form.runs && (!f->form.held || f->form.strips)) {
        qn_text_printf(out, ", %lld tiles", (long long)f->splits);
    }
    qn_text_printf(out, ", %d-bit index", f->form.wide ? 64 : 32);
    qn_text_puts(out, ", access ");
    qn_text_add(out, (const char *)f->form.access, operand_count);
}
