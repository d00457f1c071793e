/* SPDX-License-Identifier: MIT
 *
 * fold: the walk of a reduction or a scan; fold.h says what it is. In: shapes, strides, addresses,
 * axes. Out: a qn_fold. The thing to know: the kept and the reduced dimensions are settled
 * separately, as two small walks. Only then the lanes of a unit are laid along those in which the
 * inputs are dense.
 */
#include "array/fold.h"
#include <string.h>

#define LEAST_UNITS                                                                                \
    4 /* of a thread: with fewer, more threads or blocks cost more to combine than they gain */
#define HELD        8  /* blocks of 256 threads that a processor holds */
#define SHORT_UNITS 32 /* of a thread: with no more, a row is short */

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

static qn_access access_of(const qn_fold_making *m, size_t k)
{
    const qn_fold *f = m->fold;
    const qn_operand *o = &m->operands[k];
    int64_t stride = qn_fold_lane_dim(&f->form) < 0 ? 0 : f->stride[k][qn_fold_lane_dim(&f->form)];
    if (stride == 0) {
        return QN_ACCESS_BROADCAST;
    }
    if (stride != o->item_size) {
        return QN_ACCESS_STRIDED;
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
    if (f->form.columns || f->form.reduced != 1 || f->form.lanes == 1) {
        return 0;
    }
    for (size_t k = 0; k < m->inputs; k++) {
        if (f->stride[k][qn_fold_lane_dim(&f->form)] == m->operands[k].item_size) {
            int64_t head = qn_pack_head(f->base[k], &m->operands[k], f->form.lanes);
            return head > 0 ? QN_MIN(head, f->length) : 0;
        }
    }
    return 0;
}

/* Packs need an input that is read by vector, and rows that are whole packs; only rows of one
 * dimension, combined in any order, may have elements left at the ends. */
static bool packs_pay(const qn_fold_making *m)
{
    const qn_fold *f = m->fold;
    bool vector = false;
    for (size_t k = 0; k < m->inputs; k++) {
        vector |= f->form.access[k] == QN_ACCESS_VECTOR;
    }
    bool whole =
        f->head == 0 && f->extent[QN_MAX(qn_fold_lane_dim(&f->form), 0)] % f->form.lanes == 0;
    bool ends = !f->form.columns && f->form.reduced == 1 && !m->rules->ordered;
    return vector && (whole || ends);
}

static void choose_units(const qn_fold_making *m)
{
    qn_fold *f = m->fold;
    uint32_t lanes = qn_pack_lanes(m->operands, m->inputs, m->rules->pack_bytes);
    for (;; lanes /= 2) {
        f->form.lanes = (uint8_t)lanes;
        f->head = choose_head(m);
        for (size_t k = 0; k < m->inputs; k++) {
            f->form.access[k] = (uint8_t)access_of(m, k);
        }
        if (lanes == 1 || packs_pay(m)) {
            break;
        }
    }
    f->units = f->form.columns ? f->length : (f->length - f->head) / lanes;
    f->rest = f->form.columns ? 0 : f->length - f->units * lanes;
}

/* ---- threads and blocks --------------------------------------------------------------------- */

/* Threads of a block that work on one output. With few outputs, as many as have a unit each; with
 * many, fewer, so that each has several units, some 64 bytes of float32. With columns, no more than
 * leave room for neighbouring outputs side by side, whose reads are dense. */
static uint32_t choose_workers(const qn_fold *f, int64_t packs, int64_t threads, uint32_t asked,
                               bool *fewer)
{
    int64_t units = QN_MAX(f->units, f->rest);
    const int64_t each = f->form.columns ? LEAST_UNITS : LEAST_UNITS * QN_MAX(1, 4 / f->form.lanes);
    uint32_t enough = qn_power_of_two(qn_over(units, each), QN_FOLD_BLOCK);
    uint32_t most = qn_power_of_two(units, QN_FOLD_BLOCK);
    if (f->form.columns) {
        uint32_t beside = qn_power_of_two(packs, 32);
        most = QN_MIN(most, QN_FOLD_BLOCK / beside);
        enough = QN_MIN(enough, most);
    }
    *fewer = asked != 0 && asked < most;
    if (asked != 0) {
        return QN_MIN(asked, most);
    }
    uint32_t workers = packs * enough >= threads ? enough : most;
    while (f->form.columns && workers > 1 && packs * workers > 4 * threads) {
        workers /= 2; /* so many outputs keep the device busy by themselves */
    }
    return workers;
}

/* Short rows: their units are read several at once, whether or not there are so many. Rows of 777
 * float32 run at 4.4 TB/s on an H200 so, at 1.4 where units are left over one by one. */
static uint8_t choose_turns(const qn_fold *f, uint32_t asked)
{
    const int64_t each = qn_over(f->units, f->workers);
    if (f->form.columns || f->form.split || each < 2 || each > SHORT_UNITS) {
        return 0;
    }
    const uint32_t most = asked != 0 ? asked : f->form.lanes == 1 ? 8 : 4;
    return (uint8_t)qn_power_of_two(each, most);
}

static void choose_threads(const qn_fold_making *m)
{
    qn_fold *f = m->fold;
    int64_t packs = f->form.columns ? f->outputs / f->form.lanes : f->outputs;
    const qn_setting none = {.turns = m->rules->setting.turns};
    const qn_setting *s = m->rules->exact ? &m->rules->setting : &none;
    int64_t blocks = (int64_t)m->rules->processors * (s->blocks != 0 ? s->blocks : HELD);
    bool fewer; /* than a block has: then blocks do not share an output */
    f->workers = choose_workers(f, packs, blocks * QN_FOLD_BLOCK, s->workers, &fewer);
    f->groups = (packs - 1) / qn_fold_block_outputs(f) + 1;
    int64_t most = f->units / ((int64_t)f->workers * LEAST_UNITS);
    f->splits = fewer ? 1 : QN_MAX(1, QN_MIN(blocks / f->groups, most));
    f->chunk = (f->units + f->splits - 1) / f->splits;
    f->chunk = QN_MAX(1, (f->chunk + f->workers - 1) / f->workers * f->workers);
    f->splits = QN_MAX(1, (f->units + f->chunk - 1) / f->chunk);
    f->form.split = f->splits > 1;
    f->form.turns = m->rules->in_turns ? choose_turns(f, s->turns) : 0;
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
    choose_threads(&m);
    fold->form.wide = qn_fold_needs_wide(&m);
}

void qn_fold_print(qn_text *out, const qn_fold *f, size_t input_count)
{
    qn_text_printf(out, "%lld output%s of %lld element%s, ", (long long)f->outputs,
                   f->outputs == 1 ? "" : "s", (long long)f->length, f->length == 1 ? "" : "s");
    qn_text_printf(out, "by %s, %d element%s at once, %u thread%s an output",
                   f->form.columns ? "columns" : "rows", f->form.lanes,
                   f->form.lanes == 1 ? "" : "s", f->workers, f->workers == 1 ? "" : "s");
    if (f->form.split) {
        qn_text_printf(out, " in %lld blocks", (long long)f->splits);
    }
    qn_text_printf(out, ", %d-bit index", f->form.wide ? 64 : 32);
    if (input_count != 0) {
        qn_text_puts(out, ", access ");
        qn_text_add(out, (const char *)f->form.access, input_count);
    }
}
