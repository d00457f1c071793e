/* SPDX-License-Identifier: MIT
 *
 * plan_flat: the walk by packs that go on across rows. In: a plan whose outputs have no gaps, while
 * some input is repeated, or has gaps, so that the rows of all could not be merged. Out: the plan
 * by flat packs where it costs less. The thing to know: a pack's place is found once, by divisions;
 * from element to element it is counted up, and where a row ends so is the next one's number. So
 * (n, 3) + (n, 1) of int8 has one division and one write for 16 elements.
 */
#include "array/plan.h"

#define ENOUGH 80 /* percent of the cost by rows or elements from which on packs are flat */

/* The walk's elements lie side by side in this operand. */
static bool is_flat(const qn_plan *p, const qn_operand *operands, size_t k)
{
    const int last = p->form.ndim - 1;
    bool flat = !operands[k].loose && p->stride[k][last] == operands[k].item_size;
    for (int d = 0; flat && d < last; d++) {
        flat = p->stride[k][d] == p->stride[k][d + 1] * p->extent[d + 1];
    }
    return flat;
}

static bool is_one(const qn_plan *p, const qn_operand *operands, size_t k)
{
    bool one = !operands[k].output;
    for (int d = 0; one && d < p->form.ndim; d++) {
        one = p->stride[k][d] == 0;
    }
    return one;
}

/* How far the first elements of two packs lie apart in an operand, about. */
static int64_t pitch_of(const qn_plan *p, size_t k, int64_t lanes)
{
    int64_t pitch = 0;
    for (int d = p->form.ndim - 1; d >= 0; d--) {
        pitch += lanes % p->extent[d] * qn_magnitude(p->stride[k][d]);
        lanes /= p->extent[d];
    }
    return pitch;
}

static qn_access access_of(const qn_plan *p, const qn_operand *operands, size_t k)
{
    if (is_one(p, operands, k)) {
        return QN_ACCESS_BROADCAST;
    }
    if (!is_flat(p, operands, k)) {
        return QN_ACCESS_STRIDED;
    }
    const uint64_t alignment = qn_pack_alignment(&operands[k], p->form.lanes);
    const uintptr_t first = (uintptr_t)p->base[k] + (uintptr_t)(p->head * operands[k].item_size);
    return first % alignment == 0 ? QN_ACCESS_VECTOR : QN_ACCESS_CONTIGUOUS;
}

/* To count up takes three instructions for each dimension and one for each operand there. */
static int64_t cost_of(const qn_plan *p, const qn_operand *operands, size_t operand_count)
{
    const int ndim = p->form.ndim;
    const int64_t lanes = p->form.lanes;
    int64_t sum = 3 + qn_plan_finding(operand_count, ndim) + 2 * lanes * (ndim - 1);
    for (size_t k = 0; k < operand_count; k++) {
        const qn_access access = (qn_access)p->form.access[k];
        const bool counted = access == QN_ACCESS_STRIDED;
        const int64_t pitch =
            counted ? pitch_of(p, k, lanes) : lanes * (int64_t)operands[k].item_size;
        sum += qn_plan_moving(&operands[k], access, qn_plan_lines(pitch), lanes) +
               counted * lanes * (ndim - 1);
    }
    return 100 * sum / lanes;
}

/* The flat plan with so many lanes; false: there is none. */
static bool with_lanes(qn_plan *p, const qn_operand *operands, size_t operand_count, uint32_t lanes)
{
    const qn_operand *output = NULL;
    p->head = 0;
    for (size_t k = 0; k < operand_count; k++) {
        if (operands[k].output && !output) {
            output = &operands[k];
            p->head = qn_pack_head(p->base[k], output, lanes);
        }
    }
    if (!output || p->head < 0 || p->count < p->head + (int64_t)lanes) {
        return false;
    }
    qn_plan_form *f = &p->form;
    *f = (qn_plan_form){.ndim = f->ndim, .lanes = (uint8_t)lanes, .turns = 1, .flat = 1};
    for (size_t k = 0; k < operand_count; k++) {
        f->access[k] = (uint8_t)access_of(p, operands, k);
        if (operands[k].output && f->access[k] != QN_ACCESS_VECTOR) {
            return false;
        }
    }
    p->packs = (p->count - p->head) / lanes;
    p->rest = p->count - p->packs * lanes;
    return true;
}

void qn_plan_flat(qn_plan *plan, const qn_operand *operands, size_t operand_count, uint32_t most)
{
    qn_plan_decided before = qn_plan_decided_of(plan), best = before;
    const int64_t cost =
        plan->form.rows ? plan->cost : qn_plan_packs_cost(plan, operands, operand_count);
    int64_t least = cost * ENOUGH / 100;
    for (uint32_t lanes = most; lanes > 1 && plan->form.ndim > 1; lanes /= 2) {
        qn_plan_decide(plan, &before);
        if (with_lanes(plan, operands, operand_count, lanes)) {
            plan->cost = cost_of(plan, operands, operand_count);
            plan->other_cost = cost;
            if (plan->cost < least) {
                best = qn_plan_decided_of(plan);
                least = plan->cost;
            }
        }
    }
    qn_plan_decide(plan, &best);
}
