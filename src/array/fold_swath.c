/* SPDX-License-Identifier: MIT
 *
 * fold_swath: scans along columns whose rows begin, or end, off the alignment of words. In: a fold
 * by columns. Out: units and access of swaths (templates/swath.cuh), where operands allow them. The
 * thing to know: what is written in parts of sectors takes several times as long as whole ones. On
 * an H200 rows of 250409 float32 went at 0.56 of a copy's speed, of 250408 at 0.86.
 */
#include "array/fold_scans.h"

#define NARROW      2    /* bytes of an element: few of them are moved at once elsewhere */
#define NARROW_ROW  256  /* bytes of a row: with fewer, a warp has little of it */
#define WIDE_ROW    4096 /* the same of wider elements, and */
#define WIDE_LENGTH 64   /* rows: the longer, the further apart are warps that share a sector */
#define MOST_STEPS  8
#define LEAST_WARPS 2
#define EVEN        104        /* percent of the least that a processor may have */
#define ROOM        (40 << 10) /* bytes of a block: five to a processor of an H100 or H200, and */
#define BLOCKS      4 /* to one at least: the software device, which has one, loses by it */

uint8_t qn_fold_words_access(const qn_fold_making *m, size_t k)
{
    const qn_fold *f = m->fold;
    const qn_operand *o = &m->operands[k];
    const int64_t stride = f->stride[k][f->form.kept - 1];
    if (stride == 0 && !o->output) {
        return QN_ACCESS_BROADCAST;
    }
    const bool beside = qn_magnitude(f->stride[k][f->form.kept]) >= QN_ACCESS_BYTES || o->output;
    return stride == o->item_size && beside && !o->loose ? QN_ACCESS_WORDS : 0;
}

/* True when packs of as many lanes do. */
static bool packs_do(const qn_fold_making *m)
{
    const qn_fold *f = m->fold;
    bool all = f->extent[f->form.kept - 1] % f->form.lanes == 0;
    for (size_t k = 0; k < m->count; k++) {
        all &= f->form.access[k] != QN_ACCESS_WORDS ||
               (qn_fold_begins_aligned(f, k, QN_ACCESS_BYTES) &&
                f->stride[k][f->form.kept] % QN_ACCESS_BYTES == 0);
    }
    return all;
}

/* Rows for which swaths do better than single elements. On an H200, of a copy's speed, without and
 * with them: 439 rows of 250409 float32 0.56 and 0.72, of 125001 float64 0.69 and 0.78, of 500001
 * float16 0.50 and 0.70, of 1000001 int8 0.42 and 0.56; 7 rows of 2314153 int8 0.55 and 0.80; but
 * 13 of 5903 float32 0.91 and 0.86, and 236 of 217 int64 0.59 and 0.42. Where widths differ a warp
 * has less of a row: 130 of 171032 int16 into int32 0.80 and 0.50. */
static bool has_rows(const qn_fold_making *m, uint32_t item)
{
    const qn_fold *f = m->fold;
    const int64_t row = f->extent[f->form.kept - 1] * item;
    return item <= NARROW ? row >= NARROW_ROW : row >= WIDE_ROW && f->length >= WIDE_LENGTH;
}

/* Rows of a batch, as many as a block has room for, where an output has that of two. */
static uint32_t choose_steps(const qn_fold_making *m)
{
    uint32_t in = 0, out = 0, steps = MOST_STEPS;
    for (size_t k = 0; k < m->count; k++) {
        if (m->fold->form.access[k] == QN_ACCESS_WORDS) {
            *(k < m->inputs ? &in : &out) += QN_FOLD_BLOCK * QN_ACCESS_BYTES;
        }
    }
    while (steps > 1 && steps * in + 2 * out > ROOM) {
        steps /= 2;
    }
    return qn_power_of_two(m->fold->length, steps);
}

/* Warps of a block: as many as leave the processor that has most of them few more than the others
 * have. What swaths of narrow elements take is instructions, so all wait for that one. On an H200,
 * of a copy's speed, with blocks of eight warps and so: 211 rows of 3413 x 157 int16 0.55 and 0.63,
 * 64 of 2097152 int8 0.59 and 0.65, 117 of 1360950 float16 0.65 and 0.71; but 121 of 12645 float32
 * 0.75 and 0.66. */
void qn_fold_share_swaths(const qn_fold_making *m)
{
    qn_fold *f = m->fold;
    const int64_t all = qn_fold_packs(f), processors = m->rules->processors;
    int64_t least = INT64_MAX;
    if (m->operands[m->inputs].item_size > NARROW) {
        return;
    }
    for (int pass = 0; pass < 2; pass++) {
        for (int64_t warps = QN_FOLD_BLOCK / QN_WARP; warps >= LEAST_WARPS; warps--) {
            const int64_t most = qn_over(qn_over(all, warps), processors) * warps;
            if (pass > 0 && most * 100 <= least * EVEN) {
                f->form.warps = (uint8_t)warps;
                return;
            }
            least = QN_MIN(least, most);
        }
    }
}

bool qn_fold_may_share_columns(const qn_fold_making *m)
{
    const qn_fold_rules *r = m->rules;
    return m->inputs < m->count && m->fold->form.kept > 0 && m->fold->form.reduced == 1 &&
           !r->positions && !r->in_place && r->repeats && !r->by_address;
}

bool qn_fold_choose_swaths(const qn_fold_making *m)
{
    qn_fold *f = m->fold;
    if (m->rules->shared < BLOCKS * ROOM || !qn_fold_may_share_columns(m)) {
        return false;
    }
    const uint32_t item = m->operands[m->inputs].item_size;
    if (2 * item > QN_ACCESS_BYTES || QN_ACCESS_BYTES % item != 0 || !has_rows(m, item)) {
        return false;
    }
    bool reached = true;
    f->form.lanes = (uint8_t)(QN_ACCESS_BYTES / item);
    for (size_t k = 0; k < m->count; k++) {
        f->form.access[k] = qn_fold_words_access(m, k);
        reached &= f->form.access[k] == QN_ACCESS_BROADCAST ||
                   (f->form.access[k] == QN_ACCESS_WORDS && m->operands[k].item_size == item);
    }
    const size_t outputs = m->count - m->inputs;
    if (!reached || packs_do(m) || 2 * QN_FOLD_BLOCK * QN_ACCESS_BYTES * outputs > ROOM) {
        return false;
    }
    f->form.swath = 1;
    f->form.steps = (uint8_t)choose_steps(m);
    return true;
}
