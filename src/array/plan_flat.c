/* SPDX-License-Identifier: MIT
 *
 * plan_flat: the walk by packs that go on across rows. In: a plan whose outputs have no gaps, while
 * some input is repeated, or has gaps, so that the rows of all could not be merged. Out: the plan
 * by flat packs where it costs less. The thing to know: a pack's place is found once, by divisions;
 * from step to step it is counted up, and where a row ends so is the next one's number. A step is
 * one element, or as many as rows have a whole number of, so that operands which are repeated along
 * a row are read once a step, and others that lie side by side in one access. So (n, 3) + (n, 1) of
 * int8 has one division and one write for 16 elements, and (n, 6) + (n, 1) eight reads of the
 * latter. Inputs without gaps come in packs too: aligned ones, or words that are shifted.
 */
#include "array/plan.h"

#define WORD   4
#define PACKS  8  /* of a thread, one after another */
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

/* The elements of each step of an operand are aligned as one access. */
static bool steps_aligned(const qn_plan *p, const qn_operand *o, size_t k)
{
    const int last = p->form.ndim - 1;
    const uint64_t alignment = (uint64_t)p->form.step * o->item_size;
    bool aligned = !o->loose && alignment <= QN_ACCESS_BYTES && p->stride[k][last] == o->item_size;
    aligned = aligned && (uintptr_t)p->base[k] % alignment == 0;
    for (int d = 0; aligned && d < last; d++) {
        aligned = (uint64_t)qn_magnitude(p->stride[k][d]) % alignment == 0;
    }
    return aligned;
}

/* How an operand is reached that has gaps, or is repeated. */
static qn_access counted_access(const qn_plan *p, const qn_operand *o, size_t k)
{
    if (p->form.step == 1) {
        return QN_ACCESS_STRIDED;
    }
    return p->stride[k][p->form.ndim - 1] == 0 ? QN_ACCESS_HELD
           : steps_aligned(p, o, k)            ? QN_ACCESS_STEP
                                               : QN_ACCESS_STRIDED;
}

static qn_access access_of(const qn_plan *p, const qn_operand *operands, size_t k)
{
    const qn_operand *o = &operands[k];
    if (is_one(p, operands, k)) {
        return QN_ACCESS_BROADCAST;
    }
    if (!is_flat(p, operands, k)) {
        return counted_access(p, o, k);
    }
    const uint64_t alignment = qn_pack_alignment(o, p->form.lanes);
    const uintptr_t first = (uintptr_t)p->base[k] + (uintptr_t)(p->head * o->item_size);
    if (first % alignment == 0) {
        return QN_ACCESS_VECTOR;
    }
    const bool words = !o->output && o->item_size < WORD && p->form.lanes * o->item_size >= WORD;
    return words ? QN_ACCESS_WORDS : QN_ACCESS_CONTIGUOUS;
}

/* ---- costs ---------------------------------------------------------------------------------- */

/* What the reads of an operand take that is counted. */
static int64_t counted_cost(const qn_plan *p, const qn_operand *o, size_t k)
{
    const int64_t lanes = p->form.lanes, steps = lanes / p->form.step;
    const int64_t lines = qn_plan_lines(pitch_of(p, k, lanes));
    const qn_access access = (qn_access)p->form.access[k];
    const int64_t counting = steps * (p->form.ndim - p->form.whole - 1);
    return counting + (access == QN_ACCESS_STRIDED
                           ? qn_plan_moving(o, access, lines, lanes)
                           : 2 + steps * (3 + (o->item_size < WORD ? 2 : 0) + 4 * lines));
}

/* To count up takes three instructions for each dimension and one for each operand there. */
static int64_t cost_of(const qn_plan *p, const qn_operand *operands, size_t operand_count)
{
    const int ndim = p->form.ndim;
    const int64_t lanes = p->form.lanes, steps = lanes / p->form.step;
    int64_t sum = 3 + qn_plan_finding(operand_count, ndim) + 2 * steps * (ndim - p->form.whole - 1);
    for (size_t k = 0; k < operand_count; k++) {
        const qn_access access = (qn_access)p->form.access[k];
        const int64_t lines = qn_plan_lines(lanes * (int64_t)operands[k].item_size);
        sum += qn_plan_counts(&p->form, k) ? counted_cost(p, &operands[k], k)
                                           : qn_plan_moving(&operands[k], access, lines, lanes);
    }
    return 100 * sum / lanes + qn_plan_preparing(p) / PACKS;
}

/* ---- the plan ------------------------------------------------------------------------------- */

/* The longest step that rows have a whole number of, and that begins where packs do. */
static uint8_t choose_step(const qn_plan *p, uint32_t lanes)
{
    const int64_t row = p->extent[p->form.ndim - 1];
    uint32_t step = lanes;
    while (row % step != 0 || p->head % step != 0) {
        step /= 2;
    }
    return (uint8_t)step;
}

/* Words that have elements of a pack of operand `k` have only the operand's, if so many elements at
 * both ends are in no pack. */
static void choose_margin(qn_plan *p, const qn_operand *o, size_t k)
{
    if (p->form.access[k] == QN_ACCESS_WORDS) {
        p->form.margin = (uint8_t)QN_MAX(p->form.margin, WORD / o->item_size - 1);
    }
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
    if (!output || p->head < 0 || p->count < p->head + 4 * (int64_t)lanes) {
        return false;
    }
    qn_plan_form *f = &p->form;
    *f = (qn_plan_form){.ndim = f->ndim, .lanes = (uint8_t)lanes, .turns = 1, .flat = 1};
    f->step = choose_step(p, lanes);
    f->whole = f->step > 1 && f->step == p->extent[f->ndim - 1];
    for (size_t k = 0; k < operand_count; k++) {
        f->access[k] = (uint8_t)access_of(p, operands, k);
        choose_margin(p, &operands[k], k);
        if (operands[k].output && f->access[k] != QN_ACCESS_VECTOR) {
            return false;
        }
    }
    p->head += p->head < f->margin ? lanes : 0;
    p->packs = (p->count - p->head - f->margin) / lanes;
    p->rest = p->count - p->packs * lanes;
    return true;
}

/* What the plan takes as it is: by rows, or by packs, or elements in turns. */
static int64_t other_cost(const qn_plan *p, const qn_operand *operands, size_t operand_count)
{
    const qn_plan_form *f = &p->form;
    return f->rows ? p->cost : qn_plan_packs_whole_cost(p, operands, operand_count);
}

/* Packs of more elements than the plan has, if it is by packs. Of those that cost less, those are
 * best whose threads wait least as well. */
void qn_plan_flat(qn_plan *plan, const qn_operand *operands, size_t operand_count, uint32_t most)
{
    qn_plan_decided before = qn_plan_decided_of(plan), best = before;
    const int64_t cost = other_cost(plan, operands, operand_count);
    const uint32_t fewest = plan->form.rows ? 2 : plan->form.lanes + 1u;
    int64_t least = INT64_MAX;
    for (uint32_t lanes = most; lanes >= fewest && plan->form.ndim > 1; lanes /= 2) {
        qn_plan_decide(plan, &before);
        if (with_lanes(plan, operands, operand_count, lanes)) {
            plan->cost = cost_of(plan, operands, operand_count);
            plan->other_cost = cost;
            const int64_t all = plan->cost + QN_PLAN_WAITING / lanes;
            if (plan->cost * 100 < cost * ENOUGH && all < least) {
                best = qn_plan_decided_of(plan);
                least = all;
            }
        }
    }
    qn_plan_decide(plan, &best);
}
