/* SPDX-License-Identifier: MIT
 *
 * plan_overlap: whether two operands share memory. In: their shapes, strides and addresses. Out:
 * that they do not, that every element of one is the same element of the other, or that they may.
 * The thing to know: ranges of addresses are compared, which errs on the safe side.
 */
#include "array/plan.h"

/* The addresses of an operand's elements. False when it has no elements, or no
 * memory. */
static bool range_of(const qn_operand *o, uintptr_t *low, uintptr_t *high)
{
    bool empty = !o->data;
    *low = *high = (uintptr_t)o->data;
    for (int d = 0; d < o->ndim; d++) {
        int64_t reach = o->strides[d] * (o->shape[d] - 1);
        *(reach < 0 ? low : high) += (uintptr_t)reach;
        empty |= o->shape[d] == 0;
    }
    *high += o->item_size;
    return !empty;
}

qn_overlap qn_operands_overlap(const qn_operand *a, const qn_operand *b)
{
    uintptr_t a_low, a_high, b_low, b_high;
    if (!range_of(a, &a_low, &a_high) || !range_of(b, &b_low, &b_high) || a_high <= b_low ||
        b_high <= a_low) {
        return QN_OVERLAP_NONE;
    }
    bool same = a->data == b->data && a->item_size == b->item_size && a->ndim == b->ndim;
    for (int d = 0; same && d < a->ndim; d++) {
        same = a->shape[d] == b->shape[d] && (a->strides[d] == b->strides[d] || a->shape[d] == 1);
    }
    return same ? QN_OVERLAP_SAME : QN_OVERLAP_PARTIAL;
}
