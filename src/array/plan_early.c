/* SPDX-License-Identifier: MIT
 *
 * plan_early: outputs with gaps, whose sectors of memory are written in part. In: a plan that is
 * complete. Out: whether, and where, its kernel asks for these sectors before it reads its inputs.
 * The thing to know: memory has to read such a sector before it can write it. Asked for early, that
 * is under way beside the reads of inputs, and what is written meets it in the L2 cache; else it
 * happens when the sector leaves the cache, one by one. On an H200 a fill of int8 rows of 13 with
 * as long gaps took 77 us with it and 101 without, where reading and writing all took 73; and int64
 * rows of 25 took 220 us where rows of whole sectors took 87.
 */
#include "array/plan.h"

#define SHORT 96   /* bytes of a run, of which every sector is asked for: few are written whole */
#define LONG  8192 /* bytes of a run from which on its ends do not matter */
#define FEW   16   /* sectors: fewer, and one that nobody asks for matters */

/* Bytes of an output that lie side by side, and of how many dimensions, the innermost. */
static int64_t run_of(const qn_plan *p, const qn_operand *o, size_t k, int *dims)
{
    int64_t run = o->item_size;
    int d = p->form.ndim - 1;
    while (d >= 0 && qn_magnitude(p->stride[k][d]) == run) {
        run *= p->extent[d--];
    }
    *dims = p->form.ndim - 1 - d;
    return run;
}

/* Runs begin and end where sectors do. */
static bool of_whole_sectors(const qn_plan *p, size_t k, int64_t run, int dims)
{
    bool whole = run % QN_SECTOR_BYTES == 0 && (uintptr_t)p->base[k] % QN_SECTOR_BYTES == 0;
    for (int d = 0; d < p->form.ndim - dims; d++) {
        whole &= p->stride[k][d] % QN_SECTOR_BYTES == 0;
    }
    return whole;
}

/* Elements, or packs, that follow each other in the walk lie in one sector of operand `k`, so that
 * only the first of them need ask. At the begin of a row that is known from the row before: where a
 * dimension of rows so short is short as well, all ask. */
static bool is_shared(const qn_plan *p, size_t k)
{
    const qn_plan_form *f = &p->form;
    const int last = f->ndim - 1;
    const int64_t step = f->lanes * qn_magnitude(p->stride[k][last]);
    const int64_t pitch = last > 0 ? qn_magnitude(p->stride[k][last - 1]) : QN_SECTOR_BYTES;
    if ((f->rows && f->lanes > 1) || (pitch < QN_SECTOR_BYTES && last > 1 &&
                                      p->extent[last - 1] * pitch < FEW * QN_SECTOR_BYTES)) {
        return false;
    }
    return pitch < QN_SECTOR_BYTES || (step < QN_SECTOR_BYTES && p->extent[last] > f->lanes);
}

void qn_plan_early(qn_plan *plan, const qn_operand *operands, size_t operand_count)
{
    const qn_plan_form *f = &plan->form;
    size_t output = 0, outputs = 0;
    for (size_t k = 0; k < operand_count; k++) {
        output = operands[k].output ? k : output;
        outputs += operands[k].output;
    }
    if (outputs != 1 || f->tile != 0 || f->boxed || f->thin || f->flat || f->ndim == 0) {
        return;
    }
    int dims;
    const int64_t run = run_of(plan, &operands[output], output, &dims);
    if (dims == f->ndim || run >= LONG || of_whole_sectors(plan, output, run, dims)) {
        return;
    }
    const bool forwards = plan->stride[output][f->ndim - 1] == operands[output].item_size;
    const bool ends = f->slab != 0 ? dims <= f->slab : dims == 1 && (forwards || !f->rows);
    const qn_early all = is_shared(plan, output) ? QN_EARLY_FIRST : QN_EARLY_ALL;
    plan->form.early = (uint8_t)(run <= SHORT && !(f->rows && ends) ? all
                                 : ends                             ? QN_EARLY_ENDS
                                                                    : QN_EARLY_NONE);
    plan->form.run = plan->form.early == QN_EARLY_ENDS ? (uint8_t)dims : 0;
}
