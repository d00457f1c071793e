/* SPDX-License-Identifier: MIT
 *
 * fold_parts: scans along columns in strips, whose rows lie at any alignment. In: the plan of a
 * scan along columns that is split into tiles. Out: the same plan, or one whose tiles are parts of
 * rows (templates/parts.cuh). The thing to know: the rows of a part come in words of 16 bytes and
 * go back so, though no thread has aligned elements: in shared memory each reads single ones, and a
 * warp those of neighbouring columns.
 *
 * On an H200, of a copy's speed, in strips of single elements and so: 333 columns of int8 0.19 and
 * 0.45, 5903 of them 0.28 and 0.59; 1001 of float16 0.45 and 0.63, of float32 0.69 and 0.80, of
 * uint8 into int32 0.49 and 0.70; as whole lines and so, 217 columns of int8 0.26 and 0.51, of
 * float64 0.33 and 0.69; a thread down each and so, blocks of 1000 x 1001 int8 0.46 and 0.56, of
 * float32 0.64 and 0.77.
 */
#include "array/fold_scans.h"

#include <string.h>

#define MOST_LANES   8
#define MOST_STEPS   64
#define LEAST_STEPS  4
#define OTHER_BYTES  1024 /* of shared memory that a block has beside rows and sums, CUDA's own */
#define VALUE_BYTES  64   /* of a lane's sums */
#define TILES        3    /* for a processor at least: with fewer, some have nothing to do */
#define DIRECT_BYTES 4 /* of results that lanes write themselves, if no input has room for them */

/* Columns from which on parts do better than whole lines: of the same width, and of others. 50 and
 * 57 columns of int8 0.62 and 0.43 as lines, 0.42 and 0.46 so; of bfloat16 into float32 0.69 and
 * 0.64, 0.72 and 0.74. */
#define LINES 56
#define MIXED 42
/* Rows that a thread down each column reads as well, unless they are narrow and as wide as results:
 * 100003 columns of uint8 into int32 0.75 and 0.67, but of int8 0.30 and 0.62. So does it where
 * results are bytes of wider elements: 18531 of int32 into int8 0.98 and 0.60; but 96 of int64 into
 * int32 0.45 and 0.78. */
#define WIDE_ROW (1 << 16)
#define NARROW   2
/* Rows, with fewer of which a tile has little; narrow ones go well in swaths that have columns for
 * most of their lanes. 300 rows of 5903 int8 0.59 and 0.51, of 1001 0.39 and 0.52, of 5903 float32
 * 0.71 and 0.86. */
#define LONG        128
#define LONG_SWATHS 512
#define FULL        0.8
#define WORK        (512 << 10) /* bytes for each processor: with fewer, tiles are small */

/* Instructions, as the generated code has them. */
#define ELEMENT_COST 8
#define ROW_COST     14  /* a row of a strip; */
#define TURN_COST    16  /* what a warp moves at once of its words, both ways; its ends, torn */
#define THREAD_COST  250 /* a thread's strip, and */
#define SUM_COST     60  /* each of its sums, on its way to other tiles, and each word of it */

int qn_fold_part_blocks(const qn_operand *operands, size_t count)
{
    bool bytes = true;
    for (size_t k = 0; k < count; k++) {
        bytes &= operands[k].item_size == 1;
    }
    return bytes ? 3 : 2; /* instructions, or tiles that wait for each other, take the time */
}

/* Bytes from a row to the next in shared memory, at most: as quern::part has it. The last one needs
 * so much that the first may begin anywhere in a word. */
static uint32_t row_bytes(const qn_fold_form *f, uint32_t item_size)
{
    return QN_WARP * f->lanes * item_size + 3 * QN_ACCESS_BYTES - 2;
}

uint32_t qn_fold_part_room(const qn_fold_form *f, uint32_t item_size)
{
    return f->steps * row_bytes(f, item_size) / QN_ACCESS_BYTES * QN_ACCESS_BYTES;
}

int64_t qn_fold_part_columns(const qn_fold_form *f)
{
    return QN_WARP * f->lanes - (f->parts - 1);
}

int64_t qn_fold_row_parts(const qn_fold *f)
{
    const int64_t columns = f->extent[f->form.kept - 1] - (f->form.parts - 1);
    return QN_MAX(1, qn_over(columns, qn_fold_part_columns(&f->form)));
}

/* How operand `k` is reached, 0: not at all: by words, of which lanes take single elements. */
static uint8_t access_of(const qn_fold_making *m, size_t k)
{
    const uint32_t item = m->operands[k].item_size;
    const bool whole =
        (item & (item - 1)) == 0 && item <= 8 && (uintptr_t)m->fold->base[k] % item == 0;
    const uint8_t access = whole ? qn_fold_words_access(m, k) : 0;
    return access == QN_ACCESS_WORDS ? QN_ACCESS_CONTIGUOUS : access;
}

/* True for an operand whose rows lie on without gaps: quern::part.dense, if a part has all of them.
 */
static bool lies_on(const qn_fold_making *m, size_t k)
{
    const qn_fold *f = m->fold;
    return f->stride[k][f->form.kept] == f->extent[f->form.kept - 1] * m->operands[k].item_size;
}

/* How results go back: in the room of the first input, if rows of both lie alike; else in their
 * own, or, where a warp's lie in whole sectors but for the ends, as the lanes write them. */
static qn_lines_back choose_back(const qn_fold_making *m)
{
    const qn_fold *f = m->fold;
    const size_t first = m->inputs;
    uint64_t off = (uint64_t)(uintptr_t)f->base[0] ^ (uint64_t)(uintptr_t)f->base[first];
    for (int d = 0; d <= f->form.kept; d++) {
        const int64_t apart = f->stride[0][d] - f->stride[first][d];
        off |= d == f->form.kept - 1 ? 0 : (uint64_t)qn_magnitude(apart);
    }
    const bool alike = f->form.access[0] == QN_ACCESS_CONTIGUOUS &&
                       lies_on(m, 0) == lies_on(m, first) &&
                       m->operands[0].item_size == m->operands[first].item_size;
    bool wide = true;
    for (size_t k = first; k < m->count; k++) {
        wide &= m->operands[k].item_size >= DIRECT_BYTES;
    }
    return alike && off % QN_ACCESS_BYTES == 0 ? QN_LINES_SHARED
           : wide                              ? QN_LINES_DIRECT
                                               : QN_LINES_ROOM;
}

/* True for an operand that has room of its own in shared memory. */
static bool has_room(const qn_fold_making *m, size_t k)
{
    const qn_fold_form *f = &m->fold->form;
    return k < m->inputs ? f->access[k] == QN_ACCESS_CONTIGUOUS
                         : f->back != QN_LINES_DIRECT && qn_fold_lines_home(f, m->inputs, k) == k;
}

static uint32_t room(const qn_fold_making *m)
{
    uint32_t bytes = 0;
    for (size_t k = 0; k < m->count; k++) {
        bytes += has_room(m, k) ? qn_fold_part_room(&m->fold->form, m->operands[k].item_size) : 0;
    }
    return bytes * (QN_FOLD_BLOCK / QN_WARP);
}

/* Instructions for an element. */
static double element_cost(const qn_fold_making *m, uint32_t value_size)
{
    const qn_fold *f = m->fold;
    const int lanes = f->form.lanes;
    double turns = 0;
    for (size_t k = 0; k < m->count; k++) {
        const uint32_t bytes = QN_WARP * lanes * m->operands[k].item_size;
        const uint32_t words = (bytes + 2 * QN_ACCESS_BYTES - 2) / QN_ACCESS_BYTES;
        const double own = words <= QN_WARP / 2 ? 0.5 : (double)qn_over(words, QN_WARP);
        turns += has_room(m, k) ? own : k >= m->inputs && f->form.back == QN_LINES_DIRECT;
    }
    const double thread = THREAD_COST + SUM_COST * lanes * (1 + (value_size + 3) / 4);
    const double row = ROW_COST + TURN_COST * turns + thread / f->form.steps;
    const double places = (double)(qn_fold_row_parts(f) * QN_WARP * lanes);
    return (ELEMENT_COST + row / lanes) * places / (double)f->extent[f->form.kept - 1];
}

/* Positions of a strip: as many as have room; 0: too few. */
static uint8_t choose_steps(const qn_fold_making *m, uint32_t value_size)
{
    const qn_fold_form *f = &m->fold->form;
    const uint32_t blocks = (uint32_t)qn_fold_part_blocks(m->operands, m->count);
    const uint32_t others = OTHER_BYTES + qn_fold_sums_bytes(m->fold, value_size);
    uint32_t rows = 0;
    for (size_t k = 0; k < m->count; k++) {
        rows += has_room(m, k) ? row_bytes(f, m->operands[k].item_size) : 0;
    }
    rows *= QN_FOLD_BLOCK / QN_WARP;
    const uint32_t each = m->rules->shared / blocks;
    const uint32_t steps = rows == 0 || each <= others ? 0 : (each - others) / rows;
    return steps < LEAST_STEPS ? 0 : (uint8_t)QN_MIN(steps, MOST_STEPS);
}

/* The columns of a lane that cost least; false: none have room. */
static bool choose_lanes(const qn_fold_making *m, uint32_t value_size)
{
    qn_fold *f = m->fold;
    uint8_t best = 0, steps = 0;
    for (uint8_t lanes = 1; lanes <= MOST_LANES && lanes * value_size <= VALUE_BYTES; lanes++) {
        f->form.lanes = lanes;
        f->form.steps = choose_steps(m, value_size);
        if (qn_fold_part_columns(&f->form) <= 0 || f->form.steps == 0) {
            continue;
        }
        const double cost = element_cost(m, value_size);
        if (best == 0 || cost < f->cost) {
            best = lanes;
            steps = f->form.steps;
            f->cost = cost;
        }
    }
    f->form.lanes = best;
    f->form.steps = steps;
    return best != 0;
}

/* Tiles that are as long as each other, and enough of them. */
static void share_out(const qn_fold_making *m)
{
    qn_fold *f = m->fold;
    const int64_t strips = QN_FOLD_BLOCK / QN_WARP, steps = f->form.steps;
    const int64_t tiles = qn_over((int64_t)m->rules->processors * TILES, f->groups);
    f->splits = QN_MAX(qn_over(f->length, strips * steps), tiles);
    f->form.steps =
        (uint8_t)QN_MAX(qn_over(f->length, f->splits * strips), QN_MIN(steps, LEAST_STEPS));
    f->chunk = strips * f->form.steps;
    f->splits = qn_over(f->length, f->chunk);
}

/* True where rows of all operands lie so, are long enough, and are no whole sectors, in which other
 * strips do better. */
static bool lies_so(const qn_fold_making *m)
{
    const qn_fold *f = m->fold;
    if (m->inputs == 0 || m->rules->shared < QN_FOLD_ROOM || m->rules->pack_bytes == 0 ||
        !qn_fold_may_share_columns(m) || f->length < LONG) {
        return false;
    }
    bool alike = true, sectors = true;
    for (size_t k = 0; k < m->count; k++) {
        const uint8_t access = access_of(m, k);
        if (access == 0) {
            return false;
        }
        alike &= m->operands[k].item_size == m->operands[0].item_size;
        sectors &= access == QN_ACCESS_BROADCAST ||
                   (qn_fold_begins_aligned(f, k, QN_SECTOR_BYTES) &&
                    qn_magnitude(f->stride[k][f->form.kept]) % QN_SECTOR_BYTES == 0);
    }
    return f->extent[f->form.kept - 1] > (alike ? LINES : MIXED) && !sectors;
}

bool qn_fold_take_parts(const qn_fold_making *m, uint32_t value_size)
{
    qn_fold *f = m->fold;
    if (!lies_so(m)) {
        return false;
    }
    for (size_t k = 0; k < m->count; k++) {
        f->form.access[k] = access_of(m, k);
    }
    f->form.back = (uint8_t)choose_back(m);
    uint32_t over = 0;
    for (size_t k = m->inputs; k < m->count && f->form.back != QN_LINES_DIRECT; k++) {
        over = QN_MAX(over, QN_ACCESS_BYTES / m->operands[k].item_size);
    }
    f->form.parts = (uint8_t)(1 + over);
    if (!choose_lanes(m, value_size)) {
        return false;
    }
    f->workers = QN_WARP;
    f->head = f->extent[f->form.kept - 1];
    f->groups = f->outputs / f->head * qn_fold_row_parts(f);
    share_out(m);
    f->shared = room(m);
    return true;
}

bool qn_fold_parts_outdo(const qn_fold_making *m)
{
    const qn_fold *f = m->fold;
    if (!lies_so(m)) {
        return false;
    }
    const uint32_t item = m->operands[0].item_size;
    const bool narrow = item <= NARROW && item == m->operands[m->inputs].item_size;
    const bool down = f->form.descends || (f->form.columns && f->form.block && !f->form.split);
    const int64_t row = f->extent[f->form.kept - 1];
    const bool full =
        f->form.swath &&
        (double)row >= FULL * (double)(qn_fold_row_swaths(f) * QN_SWATH_UNITS * f->form.lanes);
    double work = 0;
    for (size_t k = 0; k < m->count; k++) {
        work += (double)f->outputs * (double)f->length * m->operands[k].item_size;
    }
    work /= m->rules->processors;
    const bool bytes = item > 1 && m->operands[m->inputs].item_size == 1;
    return down && work >= WORK && !bytes && !(narrow && full && f->length < LONG_SWATHS) &&
           (row < WIDE_ROW || (narrow && !f->form.swath));
}
