/* SPDX-License-Identifier: MIT
 *
 * fold_access: how a scan reaches its operands, and what reductions ask of alignment too. In: a
 * fold whose lanes and walk are chosen. Out: the access of each operand, along the lanes. The thing
 * to know: off the alignment, packs of several operands are only taken together where all are off
 * alike.
 */
#include "array/fold_scans.h"

#define WORD         4
#define SHIFTED_MORE 2 /* registers of quern::shifted: a word, and how far it shifts */

/* True when the elements of operand `k` lie side by side from the last to the first. */
static bool is_back(const qn_fold_making *m, size_t k)
{
    const int lane = qn_fold_lane_dim(&m->fold->form);
    return lane >= 0 && m->fold->stride[k][lane] == -(int64_t)m->operands[k].item_size;
}

/* How far operand `k` is off the alignment of packs, in elements that the first pack has in front:
 * its first element, or (`d` not negative) a step along dimension `d`. -1: not by whole elements.
 * Packs that lie backwards begin in memory with their last element. */
static int64_t off_by(const qn_fold_making *m, size_t k, int d)
{
    const qn_fold *f = m->fold;
    if (m->operands[k].loose) {
        return -1;
    }
    int64_t item = m->operands[k].item_size, lanes = f->form.lanes;
    int64_t bytes = d < 0 ? (int64_t)((uintptr_t)f->base[k] % (uintptr_t)(item * lanes))
                          : f->stride[k][d] % (item * lanes);
    if (bytes % item != 0) {
        return -1;
    }
    const int64_t off = is_back(m, k) ? (d < 0 ? lanes - 1 : 0) - bytes / item : bytes / item;
    return (off + lanes) % lanes;
}

bool qn_fold_off_alike(const qn_fold_making *m, size_t k, size_t other)
{
    const qn_fold *f = m->fold;
    for (int d = -1; d < f->form.kept + f->form.reduced; d++) {
        int64_t off = d == qn_fold_lane_dim(&f->form) ? 0 : off_by(m, k, d);
        if (off < 0 || (d != qn_fold_lane_dim(&f->form) && off != off_by(m, other, d))) {
            return false;
        }
    }
    return true;
}

bool qn_fold_is_aligned(const qn_fold_making *m, size_t k)
{
    const qn_fold *f = m->fold;
    for (int d = -1; d < f->form.kept + f->form.reduced; d++) {
        if (d != qn_fold_lane_dim(&f->form) && off_by(m, k, d) != 0) {
            return false;
        }
    }
    return true;
}

bool qn_fold_begins_aligned(const qn_fold *f, size_t k, uint32_t alignment)
{
    uintptr_t all = (uintptr_t)f->base[k];
    for (int d = 0; d < f->form.kept - 1; d++) {
        all |= (uintptr_t)qn_magnitude(f->stride[k][d]);
    }
    return all % alignment == 0;
}

bool qn_fold_rows_begin_with(const qn_fold *f, size_t k, uint32_t bytes)
{
    bool all = (uintptr_t)f->base[k] % bytes == 0;
    for (int d = 0; d < f->form.kept; d++) {
        all &= f->stride[k][d] % bytes == 0;
    }
    return all;
}

qn_access qn_fold_output_access(const qn_fold_making *m, size_t k)
{
    const qn_fold *f = m->fold;
    const qn_operand *o = &m->operands[k];
    const uint32_t bytes = f->form.lanes * o->item_size;
    const bool pack = f->form.lanes > 1 && !o->loose && !m->rules->by_address &&
                      f->stride[k][f->form.kept - 1] == o->item_size;
    return pack && qn_fold_begins_aligned(f, k, QN_MIN(bytes, QN_ACCESS_BYTES)) ? QN_ACCESS_VECTOR
                                                                                : QN_ACCESS_STRIDED;
}

/* Rows of one dimension may begin off the alignment: all vectors are then off alike. Those of rows
 * may lie backwards. */
int qn_fold_choose_access(const qn_fold_making *m)
{
    qn_fold *f = m->fold;
    int lane = qn_fold_lane_dim(&f->form), first = -1;
    bool may_skip = !f->form.columns && f->form.reduced == 1;
    for (size_t k = 0; k < m->count; k++) {
        const qn_operand *o = &m->operands[k];
        int64_t stride = lane < 0 ? 0 : f->stride[k][lane];
        uint8_t *access = &f->form.access[k];
        *access = QN_ACCESS_STRIDED;
        if (stride == 0 && !o->output) {
            *access = QN_ACCESS_BROADCAST;
        } else if (stride == o->item_size || (is_back(m, k) && !f->form.columns)) {
            bool vector = f->form.lanes > 1 &&
                          (may_skip ? qn_fold_off_alike(m, k, first < 0 ? k : (size_t)first)
                                    : qn_fold_is_aligned(m, k));
            *access = stride > 0 ? (vector ? QN_ACCESS_VECTOR : QN_ACCESS_CONTIGUOUS)
                                 : (vector ? QN_ACCESS_BACK : QN_ACCESS_STRIDED);
            first = vector && first < 0 ? (int)k : first;
        }
    }
    return first;
}

uint32_t qn_fold_unit_bytes(const qn_fold_form *form, const qn_operand *operands, size_t inputs)
{
    uint32_t bytes = 0;
    for (size_t k = 0; k < inputs; k++) {
        bytes +=
            operands[k].item_size * (form->access[k] == QN_ACCESS_BROADCAST ? 1u : form->lanes);
    }
    return bytes;
}

uint32_t qn_fold_unit_registers(const qn_fold_making *m)
{
    const qn_fold_form *f = &m->fold->form;
    uint32_t registers = 0;
    for (size_t k = 0; k < m->inputs; k++) {
        const uint32_t item = m->operands[k].item_size, lanes = f->lanes;
        registers += f->access[k] == QN_ACCESS_VECTOR      ? (uint32_t)qn_over(lanes * item, WORD)
                     : f->access[k] == QN_ACCESS_WORDS     ? lanes * item / WORD + SHIFTED_MORE
                     : f->access[k] == QN_ACCESS_BROADCAST ? (uint32_t)qn_over(item, WORD)
                                                           : lanes * (uint32_t)qn_over(item, WORD);
    }
    return registers;
}

uint32_t qn_fold_row_narrowest(const qn_fold_making *m, size_t first)
{
    uint32_t least = QN_ACCESS_BYTES;
    for (size_t k = first; k < m->count; k++) {
        if (m->fold->form.access[k] != QN_ACCESS_BROADCAST) {
            least = QN_MIN(least, m->operands[k].item_size);
        }
    }
    return least;
}
