/* SPDX-License-Identifier: MIT
 *
 * plan_slabs: the walk by slabs, for short rows whose inputs have gaps, steps or another facing, so
 * that no packs fit. In: a complete plan. Out: the plan by slabs where it costs less. The thing to
 * know: a slab is the innermost dimensions, as many as a block has threads for; a thread keeps its
 * place in it, which is divided once, and goes from slab to slab, of which it takes several at
 * once; so an element costs little more than its reads and writes.
 *
 * Where slabs have several dimensions outside, a block finds out once for each where it lies.
 *
 * Where outputs have gaps memory reads each sector before it writes a part of it, and is slower for
 * more of them at once: on an H200 copies of int8 to rows of 23 among 69 lost 15 % with eight slabs
 * a thread, and fills of rows of 13 among 26 lost 12 % with four, while comparisons of rows of 23
 * to 23 among 26 gained 7 %. So slabs are only walked there if divisions are what takes long.
 *
 * Costs are those of plan_rows.c. Beside them stands what threads wait for memory.
 */
#include "array/plan.h"

#define ENOUGH     90  /* percent of the other cost from which on slabs are walked */
#define ENOUGH_GAP 80  /* the same, where outputs have gaps */
#define GAP_TURNS  4   /* slabs that a thread takes where outputs have gaps, at most */
#define LIST_COST  4   /* two barriers, for each element */
#define BLOCK      256 /* threads of a block, at most */
#define WARP       32
#define MOST_TURNS 8
#define UNDER_WAY  32 /* bytes of inputs that a thread reads at once */
#define ELEMENTS   16 /* that a thread takes of all inputs */

/* Slabs that a thread takes at once: no more than lanes of the largest packs, which are fewer where
 * texts cost much. */
static uint32_t choose_turns(const qn_operand *operands, size_t operand_count, uint32_t most)
{
    uint32_t bytes = 0, inputs = 0, turns = QN_MIN(most, MOST_TURNS);
    for (size_t k = 0; k < operand_count; k++) {
        bytes += operands[k].output ? 0 : operands[k].item_size;
        inputs += !operands[k].output;
    }
    while (turns > 2 && (turns * bytes > UNDER_WAY || turns * inputs > ELEMENTS)) {
        turns /= 2;
    }
    return turns;
}

/* Slabs of the last `dims` dimensions, which have `elements`. */
static void put(qn_plan *p, size_t operand_count, int dims, int64_t elements, uint32_t turns)
{
    qn_plan_form *f = &p->form;
    *f =
        (qn_plan_form){.ndim = f->ndim, .lanes = 1, .turns = (uint8_t)turns, .slab = (uint8_t)dims};
    memset(f->access, QN_ACCESS_STRIDED, operand_count);
    p->across = (int32_t)elements;
    p->down = (int32_t)(BLOCK / elements);
    p->head = p->count / elements;
    p->packs = (p->head - 1) / (p->down * turns) + 1;
    p->parts = 1;
    p->rest = 0;
}

/* Instructions for an element, in hundredths. */
static int64_t instructions(const qn_plan *p, size_t operand_count)
{
    const int outer = p->form.ndim - p->form.slab, last = p->form.ndim - 1;
    const int64_t finding = qn_plan_finding(operand_count, outer);
    int64_t sum = 2 + (int64_t)operand_count + p->work;
    if (p->form.listed) { /* and an entry of the list is read in words */
        sum += finding / p->across + LIST_COST + 5 * (((int64_t)operand_count + 3) / 4);
    } else {
        sum += finding;
    }
    for (size_t k = 0; k < operand_count; k++) {
        sum += 3 + 4 * qn_plan_lines(qn_magnitude(p->stride[k][last]));
    }
    const int64_t threads = p->across * p->down, held = (threads + WARP - 1) / WARP * WARP;
    return 100 * sum * held / threads;
}

/* Where to find slabs takes so much that memory would wait, each is found once, if that is less. */
static void choose_list(qn_plan *p, const qn_operand *operands, size_t operand_count)
{
    const int64_t alone = instructions(p, operand_count);
    p->form.listed = p->form.ndim - p->form.slab > 1 &&
                     p->down * (int64_t)p->form.turns <= QN_SLABS_LISTED &&
                     alone > qn_plan_memory_cost(p, operands, operand_count);
    p->form.listed = p->form.listed && instructions(p, operand_count) < alone;
}

static int64_t slabs_cost(const qn_plan *p, size_t operand_count)
{
    return instructions(p, operand_count) + QN_PLAN_WAITING / p->form.turns;
}

/* What the plan takes as it is. */
static int64_t other_cost(const qn_plan *p, const qn_operand *operands, size_t operand_count)
{
    const qn_plan_form *f = &p->form;
    const bool costed = f->rows || f->flat;
    const int64_t cost = costed ? p->cost : qn_plan_packs_cost(p, operands, operand_count);
    return cost + 100 * p->work + QN_PLAN_WAITING / (f->lanes * f->turns);
}

/* All elements of an operand lie side by side, whichever way it faces along each dimension. */
static bool is_dense(const qn_plan *p, const qn_operand *operands, size_t k)
{
    int64_t span = operands[k].item_size;
    bool dense = !operands[k].loose;
    for (int d = p->form.ndim - 1; dense && d >= 0; d--) {
        dense = qn_magnitude(p->stride[k][d]) == span;
        span *= p->extent[d];
    }
    return dense;
}

/* Outputs have no gaps. */
static bool all_dense(const qn_plan *p, const qn_operand *operands, size_t operand_count)
{
    bool dense = true;
    for (size_t k = 0; k < operand_count; k++) {
        dense &= !operands[k].output || is_dense(p, operands, k);
    }
    return dense;
}

/* Outputs have gaps, and to find elements takes more than one division, and longer than memory,
 * which reads outputs besides. */
static bool gaps_pay(const qn_plan *p, const qn_operand *operands, size_t operand_count)
{
    return p->form.ndim > 2 && !p->form.rows &&
           qn_plan_packs_cost(p, operands, operand_count) >
               qn_plan_memory_cost(p, operands, operand_count) * 3 / 2;
}

void qn_plan_slabs(qn_plan *plan, const qn_operand *operands, size_t operand_count, uint32_t most)
{
    qn_plan_decided before = qn_plan_decided_of(plan), best = before;
    const int64_t cost = other_cost(plan, operands, operand_count);
    const bool dense = all_dense(plan, operands, operand_count);
    const uint32_t turns = dense ? choose_turns(operands, operand_count, most)
                           : gaps_pay(plan, operands, operand_count)
                               ? choose_turns(operands, operand_count, QN_MIN(most, GAP_TURNS))
                               : 1;
    int64_t elements = 1, least = cost * (dense ? ENOUGH : ENOUGH_GAP) / 100;
    for (int dims = 1; dims < plan->form.ndim && turns > 1; dims++) {
        elements *= plan->extent[plan->form.ndim - dims];
        if (elements > BLOCK) {
            break;
        }
        qn_plan_decide(plan, &before);
        put(plan, operand_count, dims, elements, turns);
        choose_list(plan, operands, operand_count);
        plan->cost = slabs_cost(plan, operand_count);
        plan->other_cost = cost;
        if (plan->cost < least) {
            best = qn_plan_decided_of(plan);
            least = plan->cost;
        }
    }
    qn_plan_decide(plan, &best);
}
