/* SPDX-License-Identifier: MIT
 *
 * plan_dims: the dimensions of a walk. In: the operands' strides over the loop's shape. Out: fewer
 * dimensions, in the best order. The thing to know: they are permuted, flipped, dropped and merged
 * only in ways that every operand agrees with, so the same elements meet whatever the walk; only
 * their order changes, and with `ordered` not even that.
 */
#include "array/plan.h"

/* Rows of strides behind those of the operands follow them. */
typedef struct walk {
    qn_plan *plan;
    size_t operands, rows;
    int ndim;
} walk;

void qn_plan_swap(qn_plan *p, size_t operand_count, int a, int b)
{
    int64_t extent = p->extent[a];
    p->extent[a] = p->extent[b];
    p->extent[b] = extent;
    for (size_t k = 0; k < operand_count; k++) {
        int64_t stride = p->stride[k][a];
        p->stride[k][a] = p->stride[k][b];
        p->stride[k][b] = stride;
    }
}

static void drop_dim(walk *w, int at)
{
    qn_plan *p = w->plan;
    for (int d = at; d + 1 < w->ndim; d++) {
        p->extent[d] = p->extent[d + 1];
        for (size_t k = 0; k < w->rows; k++) {
            p->stride[k][d] = p->stride[k][d + 1];
        }
    }
    w->ndim--;
}

static void drop_ones(walk *w)
{
    for (int d = w->ndim - 1; d >= 0; d--) {
        if (w->plan->extent[d] == 1 && w->ndim > 1) {
            drop_dim(w, d);
        }
    }
}

void qn_plan_flip(qn_plan *p, size_t operand_count, int d)
{
    for (size_t k = 0; k < operand_count; k++) {
        p->base[k] += p->stride[k][d] * (p->extent[d] - 1);
        p->stride[k][d] = -p->stride[k][d];
    }
}

/* Walk dimension `d` backwards where no operand objects: all its strides are negative or zero. */
static void flip_negative(walk *w)
{
    const qn_plan *p = w->plan;
    for (int d = 0; d < w->ndim; d++) {
        bool negative = false, positive = false;
        for (size_t k = 0; k < w->operands; k++) {
            negative |= p->stride[k][d] < 0;
            positive |= p->stride[k][d] > 0;
        }
        if (negative && !positive) {
            qn_plan_flip(w->plan, w->operands, d);
            for (size_t k = w->operands; k < w->rows; k++) {
                w->plan->stride[k][d] = -w->plan->stride[k][d];
            }
        }
    }
}

/* Whether dimension `a` should lie outside `b`: the first operand with an opinion decides, outputs
 * before inputs (writes suffer most from a bad order). 0: no opinion. */
static int outer_of(const walk *w, const qn_operand *operands, int a, int b)
{
    for (int outputs = 1; outputs >= 0; outputs--) {
        for (size_t k = 0; k < w->operands; k++) {
            int64_t sa = qn_magnitude(w->plan->stride[k][a]),
                    sb = qn_magnitude(w->plan->stride[k][b]);
            if (operands[k].output == outputs && sa != 0 && sb != 0 && sa != sb) {
                return sa > sb ? 1 : -1;
            }
        }
    }
    return 0;
}

/* Insertion sort: stable, and few dimensions. */
static void sort_dims(walk *w, const qn_operand *operands)
{
    for (int d = 1; d < w->ndim; d++) {
        for (int at = d; at > 0 && outer_of(w, operands, at - 1, at) < 0; at--) {
            qn_plan_swap(w->plan, w->rows, at - 1, at);
        }
    }
}

/* Merge dimensions d and d + 1 if, for every row of strides, one step of the outer spans the inner
 * exactly. */
static void merge_dims(walk *w)
{
    qn_plan *p = w->plan;
    for (int d = w->ndim - 2; d >= 0; d--) {
        bool fits = true;
        for (size_t k = 0; fits && k < w->rows; k++) {
            fits = p->stride[k][d] == p->stride[k][d + 1] * p->extent[d + 1];
        }
        if (fits) {
            p->extent[d + 1] *= p->extent[d];
            drop_dim(w, d);
        }
    }
}

void qn_plan_spread(qn_plan *plan, const qn_operand *operands, size_t operand_count, int ndim)
{
    for (size_t k = 0; k < operand_count; k++) {
        const qn_operand *o = &operands[k];
        int missing = ndim - o->ndim;
        plan->base[k] = o->data;
        for (int d = 0; d < ndim; d++) {
            bool repeated = d < missing || (o->shape[d - missing] == 1);
            plan->stride[k][d] = repeated ? 0 : o->strides[d - missing];
        }
    }
}

void qn_plan_face(qn_plan *plan, const qn_operand *operands, size_t operand_count, int ndim)
{
    size_t k = 0;
    while (k < operand_count && !operands[k].output) {
        k++;
    }
    for (int d = 0; k < operand_count && d < ndim; d++) {
        if (plan->stride[k][d] < 0) {
            qn_plan_flip(plan, operand_count, d);
        }
    }
}

int qn_plan_settle(qn_plan *plan, const qn_operand *operands, size_t operand_count, size_t rows,
                   int ndim, bool ordered)
{
    walk w = {plan, operand_count, rows, ndim};
    drop_ones(&w);
    if (!ordered) {
        flip_negative(&w);
        sort_dims(&w, operands);
    }
    merge_dims(&w);
    return w.ndim;
}
