/* SPDX-License-Identifier: MIT
 *
 * fold_runs: scans along rows whose lanes each take a run of elements that lie on. In: a scan whose
 * rows are planned in tiles. Out: the same by runs, where the texts and operands allow it. The
 * thing to know: a warp's elements wait in shared memory. Results go through the room of an input
 * whose elements are as wide, or through room of their own; where they are wider than all inputs,
 * a piece of each run after the other.
 */
#include "array/fold_scans.h"

#define WARPS          (QN_FOLD_BLOCK / QN_WARP)
#define MOST_RUN       240         /* elements: a byte holds the number */
#define PIECE_BYTES    64          /* of results that a lane gives at once: whole sectors */
#define ROOM           (89 * 512)  /* of a block: five to a processor of an H100 or H200 */
#define LARGER_ROOM    (112 * 512) /* four */
#define WIDEST_APART   2           /* of an output's, where they do not lie side by side; */
#define WIDEST_STEP    4           /* of all, where an input's are some apart */
#define WIDEST_LOCATED 4           /* bytes of an element */
#define NARROW         2
#define WIDE_VALUE     8  /* bytes; wider values take more registers */
#define FEW_TILES      16 /* of a row */

/* How many full tiles each block that a processor holds must have, or others do better: of elements
 * of 2, 4 and 8 bytes; of those that neither packs nor runs suit; and of 16 bytes. Cumsums on an
 * H200, GB/s, by packs and held: 192 MiB of float32 3496 and 3355, of float64 3440 and 3360; 256
 * MiB 3538 and 3487, 3494 and 3496; 384 MiB 3602 and 3607, 3564 and 3672; of complex128 96 MiB 2251
 * and 2670, 1 GiB 2511 and 3393. */
#define HELD_WAVES      4
#define WORD_HELD_WAVES 6
#define WIDE_HELD_WAVES 8
#define FEW_HELD_WAVES  2
#define LEAST_WAVES     1
#define FEW_ROWS        4 /* of which tiles wait for each other longest */

uint32_t qn_fold_lot_bytes(uint32_t item_size, uint32_t elements)
{
    const uint32_t own = item_size * elements;
    return QN_WARP * (own + (own / QN_ACCESS_BYTES % 2 == 0 ? QN_ACCESS_BYTES : 0));
}

void qn_fold_lots(uint8_t *lots, const qn_fold_form *f, const qn_operand *operands, size_t count)
{
    bool used[QUERN_MAX_PARAMETERS] = {false};
    for (size_t k = 0; k < count; k++) {
        lots[k] = (uint8_t)k;
        for (size_t other = 0; operands[k].output && !f->spread && other < k; other++) {
            if (!operands[other].output && !used[other] &&
                f->access[other] != QN_ACCESS_BROADCAST &&
                operands[other].item_size == operands[k].item_size) {
                lots[k] = (uint8_t)other;
                used[other] = true;
                break;
            }
        }
    }
}

/* How far operand `k` is off the alignment of sectors, in elements: its first, or (`d` not
 * negative) a step along dimension `d`. */
static int64_t off_by(const qn_fold_making *m, size_t k, int d)
{
    const qn_fold *f = m->fold;
    const int64_t item = m->operands[k].item_size;
    const int64_t bytes = d < 0 ? (int64_t)((uintptr_t)f->base[k] % QN_SECTOR_BYTES)
                                : f->stride[k][d] % QN_SECTOR_BYTES;
    return bytes / item;
}

/* True when operand `k` is aligned to words, an output to sectors, wherever operand `anchor` is to
 * sectors. One that has more elements in those than the anchor is so only if no row of the anchor
 * is off. */
static bool lies_like(const qn_fold_making *m, size_t k, size_t anchor)
{
    const int64_t bytes = k < m->inputs ? QN_ACCESS_BYTES : QN_SECTOR_BYTES;
    const int64_t lanes = bytes / m->operands[k].item_size;
    const bool follows = QN_SECTOR_BYTES / m->operands[anchor].item_size % lanes == 0;
    for (int d = -1; d < m->fold->form.kept; d++) {
        const int64_t off = off_by(m, anchor, d);
        if ((off_by(m, k, d) - off) % lanes != 0 || (!follows && d >= 0 && off != 0)) {
            return false;
        }
    }
    return true;
}

static bool is_dense(const qn_fold_making *m, size_t k)
{
    return m->fold->form.access[k] == QN_ACCESS_WORDS ||
           m->fold->form.access[k] == QN_ACCESS_VECTOR;
}

/* How dense operands lie where words are aligned for `anchor`. True: all are in words. */
static bool take_anchor(const qn_fold_making *m, size_t anchor)
{
    qn_fold_form *f = &m->fold->form;
    bool all = true;
    f->anchor = (uint8_t)anchor;
    for (size_t k = 0; k < m->count; k++) {
        if (is_dense(m, k)) {
            f->access[k] = lies_like(m, k, anchor) ? QN_ACCESS_VECTOR : QN_ACCESS_WORDS;
            all &= f->access[k] == QN_ACCESS_VECTOR;
        }
    }
    return all;
}

/* Choose the operand for which words are aligned: the narrowest, since wider ones are then more
 * often. If some is not, the widest output: what is written in parts of sectors takes several times
 * as long, what is read at any alignment a few instructions. bool into int32 from an odd address
 * went at 0.26 of a copy's speed on an H200, from an even one at 0.77. */
static void choose_anchor(const qn_fold_making *m)
{
    size_t narrowest = m->count, widest = m->count;
    for (size_t k = 0; k < m->count; k++) {
        const uint32_t item = m->operands[k].item_size;
        if (!is_dense(m, k)) {
            continue;
        }
        if (narrowest == m->count || item < m->operands[narrowest].item_size) {
            narrowest = k;
        }
        if (k >= m->inputs && (widest == m->count || item > m->operands[widest].item_size)) {
            widest = k;
        }
    }
    if (!take_anchor(m, narrowest) && widest < m->count) {
        take_anchor(m, widest);
    }
}

/* How far elements of a row lie from each other in operand `k`. False: that differs. */
static bool find_step(const qn_fold *f, size_t k, int64_t *step)
{
    const int last = f->form.kept + f->form.reduced - 1;
    *step = f->stride[k][last];
    for (int d = last - 1; d >= f->form.kept; d--) {
        if (f->stride[k][d] != f->stride[k][d + 1] * f->extent[d + 1]) {
            return false;
        }
    }
    return true;
}

/* How each operand is reached, and the anchor. False: some cannot be. */
static bool choose_access(const qn_fold_making *m)
{
    qn_fold_form *f = &m->fold->form;
    for (size_t k = 0; k < m->count; k++) {
        const qn_operand *o = &m->operands[k];
        int64_t stride;
        const bool even = find_step(m->fold, k, &stride);
        if (o->loose || o->item_size > QN_ACCESS_BYTES ||
            (o->item_size & (o->item_size - 1)) != 0 || (o->output && even && stride == 0)) {
            return false;
        }
        f->access[k] = !even                              ? QN_ACCESS_LOCATED
                       : stride == o->item_size           ? QN_ACCESS_WORDS
                       : stride == 0                      ? QN_ACCESS_BROADCAST
                       : stride == -(int64_t)o->item_size ? QN_ACCESS_BACK
                                                          : QN_ACCESS_STRIDED;
    }
    choose_anchor(m);
    return true;
}

/* Bytes of shared memory that a block needs, and those of the largest of its rooms. */
static uint32_t block_room(const qn_fold_making *m, uint32_t value_size, uint32_t *largest)
{
    const qn_fold_form *f = &m->fold->form;
    uint8_t lots[QUERN_MAX_PARAMETERS];
    qn_fold_lots(lots, f, m->operands, m->count);
    uint32_t room = (WARPS + 1) * value_size + QN_ACCESS_BYTES;
    *largest = 0;
    for (size_t k = 0; k < m->count; k++) {
        if (lots[k] == k && f->access[k] != QN_ACCESS_BROADCAST) {
            const uint32_t elements = k < m->inputs || !f->spread ? f->runs : f->lanes;
            const uint32_t own = WARPS * qn_fold_lot_bytes(m->operands[k].item_size, elements);
            room += own;
            *largest = QN_MAX(*largest, own);
        }
    }
    return room;
}

/* Elements in step with words of all operands. */
static uint32_t step_of(const qn_fold_making *m)
{
    return QN_MAX(m->fold->form.lanes, QN_ACCESS_BYTES / qn_fold_row_narrowest(m, 0));
}

/* Elements of a run, as many as a block has room for. 0: not whole words of the narrowest. */
static uint32_t longest_run(const qn_fold_making *m, uint32_t value_size, uint32_t room)
{
    const uint32_t step = step_of(m);
    uint32_t run = MOST_RUN / step * step, largest;
    for (; run > 0; run -= step) {
        m->fold->form.runs = (uint8_t)run;
        if (block_room(m, value_size, &largest) <= room) {
            break;
        }
    }
    return run;
}

/* How many elements at once, and the run: where five blocks leave room for little, that of four. */
static bool choose_run(const qn_fold_making *m, uint32_t value_size)
{
    qn_fold_form *f = &m->fold->form;
    uint32_t widest_in = 1, widest_out = 1;
    for (size_t k = 0; k < m->count; k++) {
        const uint32_t item = m->operands[k].item_size;
        if (f->access[k] != QN_ACCESS_BROADCAST) {
            uint32_t *widest = k < m->inputs ? &widest_in : &widest_out;
            *widest = QN_MAX(*widest, item);
        }
    }
    f->spread = widest_out > widest_in;
    const uint32_t word = QN_ACCESS_BYTES / qn_fold_row_narrowest(m, 0); /* elements */
    const uint32_t piece = QN_MAX(PIECE_BYTES / QN_MAX(widest_in, widest_out), 1);
    const uint32_t least = f->spread ? QN_ACCESS_BYTES / qn_fold_row_narrowest(m, m->inputs) : 1;
    f->lanes = (uint8_t)QN_MAX(QN_MIN(word, piece), least);
    f->steps = 1;
    const uint32_t run = longest_run(m, value_size, ROOM);
    const uint32_t longer =
        m->rules->shared >= LARGER_ROOM ? longest_run(m, value_size, LARGER_ROOM) : 0;
    f->runs = (uint8_t)(2 * longer >= 3 * run ? longer : run);
    return f->runs > 0;
}

/* Elements of the first tile that may lie before a row, so that sectors are whole. */
static int64_t most_skipped(const qn_fold_making *m)
{
    const size_t k = m->fold->form.anchor;
    if (k >= m->count || qn_fold_rows_begin_with(m->fold, k, QN_SECTOR_BYTES)) {
        return 0;
    }
    return QN_SECTOR_BYTES / m->operands[k].item_size - 1;
}

/* The tiles of rows of `length`: where a row has few, shorter runs that fill the last one, too. */
static void even_out(const qn_fold_making *m, int64_t length)
{
    qn_fold *f = m->fold;
    const int64_t step = step_of(m);
    f->splits = qn_over(length, (int64_t)QN_FOLD_BLOCK * f->form.runs);
    if (f->splits <= FEW_TILES) {
        const int64_t run = qn_over(length, f->splits * QN_FOLD_BLOCK);
        f->form.runs = (uint8_t)(qn_over(run, step) * step);
    }
    f->chunk = (int64_t)QN_FOLD_BLOCK * f->form.runs;
    f->splits = qn_over(length, f->chunk);
}

uint32_t qn_fold_run_blocks(const qn_fold *f, uint32_t value_size)
{
    return value_size > WIDE_VALUE || f->shared > 0 ? 4 : 5;
}

/* The other ways for rows of several dimensions are element by element, and packs along the last
 * one. Runs find each element by its position, which takes about as many instructions as all the
 * rest, so they pay except where they would give up packs of inputs. On an H200, of a
 * copy's speed, element by element and by runs, 128 MiB of rows of 83 of which a gap follows each
 * in x and y: int8 0.13 and 0.19, float16 0.24 and 0.36, float32 0.42 and 0.57; of y alone 0.13 and
 * 0.33, 0.23 and 0.51, 0.41 and 0.65. Rows of 500 backwards in x, by packs and by runs: int8 0.34
 * and 0.13, float32 0.75 and 0.47. */
static bool pays_located(const qn_fold_making *m, bool packs)
{
    bool located = false;
    uint32_t widest = 0;
    for (size_t k = 0; k < m->count; k++) {
        const uint8_t access = m->fold->form.access[k];
        if (access != QN_ACCESS_BROADCAST) {
            widest = QN_MAX(widest, m->operands[k].item_size);
        }
        located |= k < m->inputs && access == QN_ACCESS_LOCATED;
    }
    return widest <= WIDEST_LOCATED && !(located && packs);
}

/* Whether an operand whose elements do not lie on can go so. On an H200, of a copy's speed, other
 * ways and by runs: sums of x[::2] of float16 0.49 and 0.65, of float32 0.69 and 0.76, of int8 into
 * int64 0.51 and 0.70; but of float64 0.87 and 0.83, of int32 into int64 0.76 and 0.75. Of x[::-1],
 * which has packs: greatest of int8 0.26 and 0.57, sums of float32 0.76 and 0.64. Into y[::-1]:
 * float32 0.70 and 0.77, int32 into int64 0.76 and 0.21. */
static bool pays_apart(const qn_fold_making *m, size_t k)
{
    const uint8_t access = m->fold->form.access[k];
    const uint32_t item = m->operands[k].item_size;
    uint32_t widest = 0, others = 0;
    for (size_t j = 0; j < m->count; j++) {
        widest = QN_MAX(widest, m->operands[j].item_size);
        others |= m->operands[j].item_size ^ item;
    }
    if (k < m->inputs) {
        return m->inputs == 1 &&
               (access == QN_ACCESS_BACK ? item <= NARROW
                                         : widest <= WIDEST_STEP || item <= NARROW);
    }
    const bool alike = access == QN_ACCESS_BACK && others == 0 && item <= WIDEST_STEP;
    return item <= WIDEST_APART || (m->inputs == 1 && alike);
}

/* Runs save instructions, of which narrow elements leave few, and conditions at the ends of rows
 * and outputs off alignment. Where all goes in words and the results of one input take its room,
 * tiles are larger than elsewhere, which wide elements like, too. On an H200, of a copy's speed, by
 * packs and by runs: sums of int8 0.64 and 0.80, of an odd number of int16 0.63 and 0.81, of
 * float32 0.76 and 0.82; but products of two float32 0.80 and 0.77, float64 to float32 0.79 and
 * 0.54. */
static bool pays(const qn_fold_making *m, uint32_t value_size, const qn_fold_form *before)
{
    const qn_fold_form *f = &m->fold->form;
    const uint32_t least = qn_fold_row_narrowest(m, 0);
    bool vectors = true, alike = true, steps = false;
    size_t inputs = 0;
    if (f->reduced > 1) {
        return pays_located(m, before->lanes > 1);
    }
    for (size_t k = 0; k < m->count; k++) {
        const bool apart = f->access[k] == QN_ACCESS_STRIDED || f->access[k] == QN_ACCESS_BACK;
        if (apart && !pays_apart(m, k)) {
            return false;
        }
        steps |= apart;
        if (f->access[k] != QN_ACCESS_BROADCAST) {
            vectors &= f->access[k] == QN_ACCESS_VECTOR;
            alike &= m->operands[k].item_size == least;
            inputs += k < m->inputs;
        }
    }
    if (least <= 2) {
        return least == 1 || inputs == 1 || before->ragged || !vectors;
    }
    return (vectors || steps) && alike && inputs == 1 && value_size <= WIDE_VALUE;
}

/* Packs take long where values are wider than elements. */
static int held_waves(uint32_t item, uint32_t value_size)
{
    return item <= NARROW || value_size > item ? HELD_WAVES
           : item <= 4                         ? WORD_HELD_WAVES
                                               : WIDE_HELD_WAVES;
}

/* True where packs do as well as anything but large tiles: few scans of elements of 4 or 8 bytes,
 * all of which go in aligned packs. On an H200, GB/s, by packs and by runs: 64 MiB of float32 3040
 * and 2896, of float64 2991 and 2855; 128 MiB 3336 and 3286, 3354 and 3355. */
static bool packs_suit(const qn_fold_making *m, uint32_t lanes, uint32_t value_size)
{
    const qn_fold *f = m->fold;
    const uint32_t item = m->operands[0].item_size;
    bool suit = f->outputs <= FEW_ROWS && m->inputs == 1 && lanes > 1 && item > NARROW &&
                value_size <= item;
    for (size_t k = 0; k < m->count && suit; k++) {
        suit = f->form.access[k] == QN_ACCESS_VECTOR && m->operands[k].item_size == item;
    }
    return suit;
}

void qn_fold_take_rows(const qn_fold_making *m, uint32_t value_size)
{
    qn_fold *f = m->fold;
    if (!f->form.split || f->form.columns || (f->form.staged && !f->form.lone) ||
        f->form.reduced == 0 || value_size == 0 || m->rules->positions || !m->rules->repeats) {
        return;
    }
    const qn_fold_form before = f->form;
    f->form.ragged = f->form.again = 0;
    f->form.staged = f->form.lone = f->form.line_in = f->form.line_out = 0;
    const bool reached = choose_access(m);
    const bool may_hold = reached && f->form.reduced == 1;
    const uint32_t item = qn_fold_row_narrowest(m, 0);
    if (may_hold && qn_fold_hold(m, value_size, held_waves(item, value_size))) {
        return;
    }
    if (packs_suit(m, before.lanes, value_size)) {
        f->form = before;
        return;
    }
    const int few = item < QN_ACCESS_BYTES ? FEW_HELD_WAVES : LEAST_WAVES;
    if (!reached || !pays(m, value_size, &before) || !choose_run(m, value_size)) {
        if (!may_hold || f->outputs > FEW_ROWS || !qn_fold_hold(m, value_size, few)) {
            f->form = before;
        }
        return;
    }
    f->units = f->length;
    f->workers = QN_WARP;
    f->groups = f->outputs;
    even_out(m, f->length + most_skipped(m));
    uint32_t largest;
    f->shared = block_room(m, value_size, &largest) > ROOM ? largest : 0;
}

void qn_fold_print_runs(qn_text *out, const qn_fold *f)
{
    qn_text_printf(out, "by rows, runs of %d elements a lane, %d at once, %lld tile%s",
                   f->form.runs, f->form.lanes, (long long)f->splits, f->splits == 1 ? "" : "s");
}
