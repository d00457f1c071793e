/* SPDX-License-Identifier: MIT
 *
 * fold: the walk of a reduction or a scan; fold.h says what it is. In: shapes, strides, addresses,
 * axes. Out: a qn_fold. The thing to know: the kept and the reduced dimensions are settled
 * separately, as two small walks. Only then the lanes of a unit are laid along those in which the
 * inputs are dense.
 */
#include "array/fold.h"
#include <string.h>

#define WORD           4
#define COSTLY_LANES   4  /* of columns whose values are structures, or whose texts have loops */
#define CHOOSING_LANES 8  /* of those that only choose one of their elements */
#define CUT_BYTES      8  /* of a unit of columns that lies anywhere: 2 words, of 3 that are read */
#define CUT_LANES      4  /* of wide elements */
#define CUT_COLUMNS    2  /* elements of its own that a unit of columns has at least, on average */
#define CUT_ROWS       3  /* the same of rows: it has more */
#define CUT_UNITS      16 /* of an output: with fewer, the first and the last are too many of them */
#define RAGGED_UNITS   8  /* of a row: with fewer, elements at its ends cost more than packs save */
#define LINED_UNITS    32 /* the same of a line of several */

/* ---- units ---------------------------------------------------------------------------------- */

/* True when no other dimension moves an operand's units off their alignment. */
static bool others_aligned(const qn_fold *f, size_t k, uint64_t alignment)
{
    for (int d = 0; d < f->form.kept + f->form.reduced; d++) {
        if (d != qn_fold_lane_dim(&f->form) &&
            (uint64_t)qn_magnitude(f->stride[k][d]) % alignment != 0) {
            return false;
        }
    }
    return true;
}

/* True when operand `k` is dense along the lanes. */
static bool is_dense(const qn_fold_making *m, size_t k)
{
    const qn_fold *f = m->fold;
    const int lane = qn_fold_lane_dim(&f->form);
    return lane >= 0 && f->stride[k][lane] == m->operands[k].item_size;
}

/* QN_RAGGED_EACH: the first input whose rows begin at whole elements. Packs are aligned for it;
 * with none, the first. */
static size_t anchor(const qn_fold_making *m)
{
    for (size_t k = 0; k < m->inputs; k++) {
        if (is_dense(m, k) && qn_fold_off_alike(m, k, k)) {
            return k;
        }
    }
    return 0;
}

/* True when units can be read as whole words wherever they lie. Only the first and the last unit
 * of an output may meet the end of the memory: those are read element by element. Where lines are
 * repeated, or nearer to each other than a word, others would meet it too. */
static bool goes_by_words(const qn_fold_making *m, size_t k)
{
    const qn_fold *f = m->fold;
    bool up = true, down = true;
    for (int d = f->form.kept; d < f->form.kept + f->form.reduced; d++) {
        const int64_t least = d == qn_fold_lane_dim(&f->form) ? 1 : WORD;
        up &= f->stride[k][d] >= least;
        down &= f->stride[k][d] <= -least;
    }
    const uint32_t item = m->operands[k].item_size;
    return (up || down) && !m->operands[k].loose && item < WORD && f->form.lanes * item % WORD == 0;
}

static qn_access access_of(const qn_fold_making *m, size_t k)
{
    const qn_fold *f = m->fold;
    const qn_operand *o = &m->operands[k];
    int64_t stride = qn_fold_lane_dim(&f->form) < 0 ? 0 : f->stride[k][qn_fold_lane_dim(&f->form)];
    if (stride == 0) {
        return QN_ACCESS_BROADCAST;
    }
    if (!is_dense(m, k)) {
        return QN_ACCESS_STRIDED;
    }
    if (f->form.cut) {
        return goes_by_words(m, k) ? QN_ACCESS_WORDS : QN_ACCESS_CONTIGUOUS;
    }
    if (f->form.ragged == QN_RAGGED_EACH) {
        return qn_fold_off_alike(m, k, anchor(m)) ? QN_ACCESS_VECTOR : QN_ACCESS_CONTIGUOUS;
    }
    uint64_t alignment = qn_pack_alignment(o, f->form.lanes);
    uintptr_t first = (uintptr_t)f->base[k] + (uintptr_t)(f->head * o->item_size);
    bool aligned = !o->loose && first % alignment == 0 && others_aligned(f, k, alignment);
    return f->form.lanes > 1 && aligned ? QN_ACCESS_VECTOR : QN_ACCESS_CONTIGUOUS;
}

/* Elements to skip in each row so that the first dense input's packs are aligned. */
static int64_t choose_head(const qn_fold_making *m)
{
    const qn_fold *f = m->fold;
    if (f->form.columns || f->form.reduced != 1 || f->form.lanes == 1 ||
        f->form.ragged != QN_RAGGED_NOT) {
        return 0;
    }
    for (size_t k = 0; k < m->inputs; k++) {
        if (is_dense(m, k)) {
            int64_t head = qn_pack_head(f->base[k], &m->operands[k], f->form.lanes);
            return head > 0 ? QN_MIN(head, f->length) : 0;
        }
    }
    return 0;
}

/* Only rows of one dimension, combined in any order, may have elements left at the ends. */
static bool may_have_ends(const qn_fold_making *m)
{
    const qn_fold_form *f = &m->fold->form;
    return !f->columns && f->reduced == 1 && !m->rules->ordered;
}

/* True where rows, or the lines of rows of several dimensions, should have packs that are aligned
 * in each, whatever lies around them. */
static bool may_have_heads(const qn_fold_making *m, uint32_t lanes)
{
    const qn_fold *f = m->fold;
    if (may_have_ends(m)) {
        return lanes > 2 && f->length >= (int64_t)RAGGED_UNITS * lanes;
    }
    if (f->form.columns || f->form.reduced == 0 || m->rules->ordered || m->rules->counted ||
        m->rules->positions) {
        return false;
    }
    uint32_t widest = 0;
    for (size_t k = 0; k < m->inputs; k++) {
        widest = is_dense(m, k) ? QN_MAX(widest, m->operands[k].item_size) : widest;
    }
    return lanes > 1 && lanes * widest >= QN_ACCESS_BYTES &&
           f->extent[qn_fold_lane_dim(&f->form)] >= (int64_t)LINED_UNITS * lanes;
}

/* True when cut units have enough elements that the one before does not have. */
static bool fills_units(const qn_fold *f)
{
    const int64_t line = f->extent[qn_fold_lane_dim(&f->form)];
    const int64_t units = qn_over(line, f->form.lanes);
    return line >= f->form.lanes &&
           (f->form.columns ? line >= CUT_COLUMNS * units : line > CUT_ROWS * units);
}

/* Packs need an input that is read by vector, and rows that are whole packs, or ends. */
static bool packs_pay(const qn_fold_making *m)
{
    const qn_fold *f = m->fold;
    bool vector = false;
    for (size_t k = 0; k < m->inputs; k++) {
        vector |= f->form.access[k] == QN_ACCESS_VECTOR || f->form.access[k] == QN_ACCESS_WORDS;
    }
    if (f->form.cut) {
        return (vector || !f->form.columns) && fills_units(f);
    }
    bool whole =
        f->head == 0 && f->extent[QN_MAX(qn_fold_lane_dim(&f->form), 0)] % f->form.lanes == 0;
    const int64_t covered = (f->length - f->head) / f->form.lanes * f->form.lanes;
    const bool ends = may_have_ends(m) && 2 * covered > f->length; /* not rows shorter than packs */
    return vector && (whole || ends || f->form.ragged == QN_RAGGED_EACH);
}

/* Lay the lanes, with the same head for all rows or one for each. */
static bool lay_lanes(const qn_fold_making *m, uint32_t lanes, qn_ragged ragged)
{
    qn_fold *f = m->fold;
    f->form.lanes = (uint8_t)lanes;
    f->form.ragged = (uint8_t)ragged;
    f->head = choose_head(m);
    for (size_t k = 0; k < m->inputs; k++) {
        f->form.access[k] = (uint8_t)access_of(m, k);
    }
    return packs_pay(m);
}

/* Where aligned packs would be too small: units that lie anywhere. Those of columns are of narrow
 * elements, and of two words at most; those of rows of several dimensions, of which each unit costs
 * a division, of four elements at least. */
static void cut_lanes(const qn_fold_making *m, uint32_t aligned)
{
    qn_fold *f = m->fold;
    const bool columns = f->form.columns;
    uint32_t narrow = WORD;
    for (size_t k = 0; k < m->inputs; k++) {
        narrow = is_dense(m, k) ? QN_MIN(narrow, m->operands[k].item_size) : narrow;
    }
    if (m->rules->positions || m->rules->ordered || f->length < CUT_UNITS ||
        qn_fold_is_lined(&f->form) ||
        (columns ? aligned * narrow >= WORD : aligned > 2 || f->form.reduced < 2)) {
        return;
    }
    f->form.cut = 1;
    uint32_t lanes = narrow < WORD || columns ? CUT_BYTES / narrow : CUT_LANES;
    for (; lanes > 1 && lanes * narrow >= WORD; lanes /= 2) {
        if (lay_lanes(m, lanes, QN_RAGGED_NOT)) {
            return;
        }
    }
    f->form.cut = 0;
    lay_lanes(m, aligned, QN_RAGGED_NOT);
}

/* Units of an output, and elements that no unit covers. */
static void count_units(qn_fold *f)
{
    const int64_t lanes = f->form.lanes;
    if (f->form.cut) {
        f->head = f->extent[qn_fold_lane_dim(&f->form)];
    }
    if (f->form.columns) {
        f->units = f->length;
        f->rest = 0;
    } else if (f->form.cut) {
        f->units = f->length / f->head * qn_over(f->head, lanes);
        f->rest = 0;
    } else if (qn_fold_is_lined(&f->form)) {
        const int64_t line = f->extent[qn_fold_lane_dim(&f->form)];
        f->head = line - qn_fold_line_units(f) * lanes;
        f->units = f->length / line * qn_fold_line_units(f);
        f->rest = f->length / line * f->head;
    } else {
        const bool each = f->form.ragged == QN_RAGGED_EACH; /* a row may have one unit more */
        f->units = (f->length - (each ? lanes - 1 : f->head)) / lanes;
        f->rest = f->length - f->units * lanes;
        f->form.ragged = !each && f->rest > 0 ? QN_RAGGED_ALIKE : f->form.ragged;
    }
}

/* Of columns each lane has a value of its own, and code of its own for it: sums of squares of
 * float16 go at 0.71 of a copy's speed on an H100 with four lanes, at 0.47 with eight, those of
 * int8 at 0.41 and, with 16, at 0.21; a polynomial by a loop of float16 at 0.80 and 0.76. One that
 * only chooses keeps two words for each: argmax of 64 columns of int16 between others, on an H200,
 * goes at 0.84 with four and at 0.98 with eight. */
static uint32_t most_lanes(const qn_fold_making *m)
{
    const uint32_t lanes = qn_pack_lanes(m->operands, m->inputs, m->rules->pack_bytes);
    const bool chooses = m->rules->chooses && !m->fold->form.reordered;
    return m->fold->form.columns && qn_fold_is_costly(m->rules)
               ? QN_MIN(lanes, chooses ? CHOOSING_LANES : COSTLY_LANES)
               : lanes;
}

static void choose_units(const qn_fold_making *m)
{
    qn_fold *f = m->fold;
    uint32_t lanes = most_lanes(m);
    for (; lanes > 1; lanes /= 2) {
        if (lay_lanes(m, lanes, QN_RAGGED_NOT) ||
            (may_have_heads(m, lanes) && lay_lanes(m, lanes, QN_RAGGED_EACH))) {
            break;
        }
    }
    if (lanes == 1) {
        lay_lanes(m, 1, QN_RAGGED_NOT);
    }
    cut_lanes(m, lanes);
    count_units(f);
}

/* Of boxes: positions rise from each element of an output to its next, and have 32 bits. */
static bool rises(const qn_fold_making *m)
{
    const qn_fold *f = m->fold;
    int64_t inner = 0; /* what lies between the first and the last of an inner dimension */
    bool rise = m->rules->counted && f->length <= INT32_MAX;
    for (int d = f->form.kept + f->form.reduced - 1; d >= f->form.kept && rise; d--) {
        const int64_t step = f->stride[m->count][d];
        rise = f->extent[d] == 1 || step > inner;
        inner += step * (f->extent[d] - 1);
    }
    return rise;
}

/* What the text knows of the positions of a unit's lanes where they count in another order. */
static int8_t lane_step(const qn_fold_making *m)
{
    const qn_fold *f = m->fold;
    if (f->form.joined) {
        return rises(m);
    }
    if (f->form.search || !f->form.reordered || f->form.columns || f->form.lanes == 1) {
        return 0;
    }
    const int64_t step = f->stride[m->count][qn_fold_lane_dim(&f->form)];
    return (int8_t)(qn_magnitude(step) == 1 ? step : 0);
}

/* ---- the whole ------------------------------------------------------------------------------ */

void qn_fold_make(qn_fold *fold, const qn_operand *operands, size_t operand_count, int ndim,
                  const int64_t *shape, const qn_fold_rules *rules)
{
    qn_fold_making m = qn_fold_begin(fold, operands, operand_count, rules);
    fold->head = 0;
    qn_fold_dims(&m, ndim, shape);
    fold->form.columns = qn_fold_dense_columns(&m);
    choose_units(&m);
    for (size_t k = m.inputs; k < m.count && fold->form.columns && !fold->form.cut; k++) {
        fold->form.access[k] = (uint8_t)qn_fold_output_access(&m, k);
    }
    qn_fold_choose_threads(&m);
    qn_fold_take_search(&m);
    if (!fold->form.search) {
        qn_fold_take_whole(&m);
    }
    if (!fold->form.search && !fold->form.whole) {
        qn_fold_take_spans(&m);
    }
    if (!fold->form.search && !fold->form.whole && !fold->form.spans) {
        qn_fold_take_apart(&m);
        if (!fold->form.apart) {
            qn_fold_take_phases(&m);
        }
        if (!fold->form.phases) {
            qn_fold_take_joined(&m);
        }
    }
    fold->form.step = lane_step(&m);
    qn_fold_count_reach(&m);
    fold->form.wide = qn_fold_needs_wide(&m);
}

void qn_fold_print(qn_text *out, const qn_fold *f, size_t input_count)
{
    qn_text_printf(out, "%lld output%s of %lld element%s, ", (long long)f->outputs,
                   f->outputs == 1 ? "" : "s", (long long)f->length, f->length == 1 ? "" : "s");
    if (f->form.joined) {
        qn_text_printf(out,
                       "by boxes of %lld outputs with %lld elements, %lld threads an output, %d "
                       "output%s a thread",
                       (long long)f->across, (long long)f->run, (long long)f->workers,
                       f->form.turns, f->form.turns == 1 ? "" : "s");
    } else if (f->form.search) {
        qn_text_printf(out, "by search, %d times %d elements at once", f->form.turns,
                       f->form.lanes);
    } else if (f->form.whole) {
        qn_text_printf(out, "%d whole outputs a thread", f->form.lanes);
    } else if (f->form.apart) {
        qn_text_printf(out, "%d outputs a thread, a block apart, %d element%s at once",
                       f->form.apart, f->form.turns, f->form.turns == 1 ? "" : "s");
    } else if (f->form.phases) {
        qn_text_printf(out, "by columns in %d phases of rows, %d elements at once", f->form.lanes,
                       f->form.lanes);
    } else if (f->form.spans) {
        qn_text_printf(out,
                       "by spans of %lld elements with %lld outputs, %d elements at once, "
                       "%u threads a pack",
                       (long long)f->extent[f->form.kept - 1], (long long)f->across, f->form.lanes,
                       f->workers);
    } else {
        qn_text_printf(
            out, "by %s, %d element%s%s at once, %u thread%s an output",
            f->form.columns ? "columns" : "rows", f->form.lanes, f->form.lanes == 1 ? "" : "s",
            qn_fold_is_lined(&f->form) ? " of a line" : "", f->workers, f->workers == 1 ? "" : "s");
    }
    if (f->form.split) {
        qn_text_printf(out, " in %lld blocks", (long long)f->splits);
    }
    qn_text_printf(out, ", %d-bit index", f->form.wide ? 64 : 32);
    if (input_count != 0) {
        qn_text_puts(out, ", access ");
        qn_text_add(out, (const char *)f->form.access, input_count);
    }
    if (f->form.reordered && f->form.search != QN_SEARCH_RISING) {
        qn_text_puts(out, ", in the order of memory");
    }
    if (f->form.whole || f->form.joined) {
        qn_text_printf(out, ", cost %.0f (%s %.0f)", f->cost,
                       f->form.whole ? "by units" : "otherwise", f->unit_cost);
    }
}
