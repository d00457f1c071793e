/* SPDX-License-Identifier: MIT
 *
 * plan_box_split: a plan by boxes once these are chosen. In: the plan as it was, and the extents of
 * a box. Out: the plan whose dimensions are those outside of boxes, the numbers of boxes along each
 * that is cut, and those inside. The thing to know: a dimension that is cut stands there twice, its
 * boxes before its elements in one.
 */
#include "array/plan_boxing.h"

/* Take over a dimension of the plan as it was: its boxes, or the inside of one. */
static void put_dim(qn_plan *plan, const qn_boxing *b, const qn_plan *was, int at, int d,
                    bool inside)
{
    const int64_t side = b->extent[d];
    plan->extent[at] = inside ? side : qn_over(was->extent[d], side);
    for (size_t k = 0; k < b->operand_count; k++) {
        plan->stride[k][at] = was->stride[k][d] * (inside ? 1 : side);
    }
}

/* The plan's dimensions: those outside of boxes, the numbers of boxes along those that are cut,
 * and those inside. */
static void split(qn_plan *plan, const qn_boxing *b, const qn_plan *was)
{
    qn_plan_form *f = &plan->form;
    int at = 0, cuts = 0, place[QUERN_MAX_NDIM];
    for (int d = 0; d < b->ndim; d++) {
        if (b->extent[d] == 1) {
            put_dim(plan, b, was, at++, d, false);
        }
    }
    for (int d = 0; d < b->ndim; d++) {
        if (b->extent[d] > 1 && b->extent[d] < was->extent[d]) {
            plan->last[cuts++] =
                was->extent[d] - (was->extent[d] - 1) / b->extent[d] * b->extent[d];
            put_dim(plan, b, was, at++, d, false);
        }
    }
    f->box = (uint8_t)at;
    f->cuts = (uint8_t)cuts;
    cuts = 0;
    for (int d = 0; d < b->ndim; d++) {
        if (b->extent[d] > 1) {
            if (b->extent[d] < was->extent[d]) {
                f->cut[cuts++] = (uint8_t)at;
            }
            place[d] = at;
            put_dim(plan, b, was, at++, d, true);
        }
    }
    f->ndim = (uint8_t)at;
    for (int d = 0, n = 0; d < b->ndim; d++) {
        if (b->extent[b->order[d]] > 1) {
            f->fetch[n++] = (uint8_t)place[b->order[d]];
        }
    }
}

void qn_boxing_put(qn_plan *plan, const qn_boxing *b, const qn_plan *was, int turns)
{
    split(plan, b, was);
    plan->form.boxed = 1;
    plan->form.turns = (uint8_t)turns;
    plan->form.lanes = 1;
    plan->packs = 1;
    for (int d = 0; d < plan->form.box; d++) {
        plan->packs *= plan->extent[d];
    }
    plan->head = plan->rest = 0;
    for (size_t k = 0; k < b->operand_count; k++) {
        plan->form.access[k] = (uint8_t)(b->tiled[k] ? QN_ACCESS_TILED : QN_ACCESS_STRIDED);
    }
}
