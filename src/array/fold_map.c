/* SPDX-License-Identifier: MIT
 *
 * fold_map: elementwise kernels whose operands lie in memory in different orders, by boxes as scans
 * have them. In: operands. Out: a fold that has a map in the place of a scan, and what it costs.
 * The thing to know: along one dimension a thread takes elements one after the other, as it would
 * scan them; here that may be any, and pieces of it are boxes of their own.
 */
#include "array/fold_boxing.h"

#include <string.h>

#define TRIED 2 /* dimensions along which threads may go, with all beginnings of boxes */

/* Of a copy's speed on an H200, otherwise and so, of 171 kernels drawn whose operands lie in
 * different orders. By boxes of single elements, where no input goes by elements: 0.49 and 0.57 in
 * the mean of 27 (0.11 and 0.41 at most, 0.94 and 0.85 at least). */
#define BYTE_COST 7    /* instructions while a byte moves, by which plan_box_cost.c counts */
#define MORE      1.2  /* times as much by boxes of single elements, or with at least */
#define SEVERAL   7    /* operands, which have room for few blocks, */
#define MUCH_MORE 1.45 /* or with at most */
#define FEW       4    /* operands, by runs, as much */
/* Boxes in runs of so many operands, all of which go through shared memory: 0.52 and 0.65 in the
 * mean of ten; of all others 0.70 and 0.64. */
#define MANY 4
/* Tiles of single elements, of so many: 0.48 and 0.67 in the mean of three; of four 0.84 and 0.61.
 */
#define TILED 3
/* Flat packs, and elements in turns, where so little is to be done: 0.52 and 0.66 in the mean of
 * nine; where there is more, 0.79 and 0.66. */
#define LITTLE 33
/* Flat packs that cost less, and read what lies on in memory: 0.58 and 0.95 in the mean of three;
 * all others 0.71 and 0.64. What one block reads at about the same time: */
#define SPAN  4096      /* elements, */
#define DENSE 128       /* bytes that lie side by side among them, */
#define SMALL (1 << 20) /* or of an operand that the cache keeps */
/* Elements for each processor, without which it is not worth the 100 us that it takes to plan. */
#define LEAST (1 << 15)

/* It may be worth while to ask for a map where a kernel is planned so. */
static bool may_outdo(const qn_fold_making *m, const qn_plan *p)
{
    const qn_plan_form *f = &p->form;
    bool shared = true;
    if (p->count < (int64_t)m->rules->processors * LEAST) {
        return false;
    }
    for (size_t k = 0; k < m->inputs; k++) {
        shared &= f->access[k] == QN_ACCESS_TILED || f->access[k] == QN_ACCESS_BROADCAST;
    }
    return f->boxed       ? !f->words && (f->pool == 0 || (m->count >= MANY && shared))
           : f->tile != 0 ? f->lanes == 1 && m->count == TILED
                          : f->flat || (f->turns > 1 && !f->rows && f->slab == 0 && f->ndim > 1);
}

/* True where the elements that follow each other in the walk of a plan lie side by side in operand
 * `k`, in whatever order. */
static bool lies_close(const qn_plan *p, const qn_operand *o, size_t k)
{
    int64_t run = o->item_size, span = 1, bytes = o->item_size;
    int first = p->form.ndim;
    while (first > 0 && span < SPAN) {
        span *= p->extent[--first];
    }
    for (int d = 0; d < p->form.ndim; d++) {
        bytes *= p->stride[k][d] != 0 ? p->extent[d] : 1;
    }
    bool more = true;
    while (more && run < DENSE) {
        more = false;
        for (int d = first; d < p->form.ndim; d++) {
            const int64_t stride = qn_magnitude(p->stride[k][d]), reach = stride * p->extent[d];
            if (stride <= 2 * run && reach > run) {
                run = reach;
                more = true;
            }
        }
    }
    return run >= DENSE || bytes <= SMALL;
}

/* True where flat packs cost less, and read whole sectors. */
static bool suits(const qn_fold_making *m, const qn_plan *p)
{
    bool close =
        p->form.flat && !qn_plan_in_phases(&p->form) && (double)p->cost < 100 * m->fold->cost;
    for (size_t k = 0; k < m->count && close; k++) {
        close = lies_close(p, &m->operands[k], k);
    }
    return close;
}

/* The map takes less than that. */
static bool outdoes(const qn_fold_making *m, const qn_plan *p)
{
    const qn_plan_form *form = &p->form;
    const qn_fold *f = m->fold;
    bool inputs = true, outputs = true;
    for (size_t k = 0; k < m->count; k++) {
        *(k < m->inputs ? &inputs : &outputs) &= f->form.access[k] != QN_ACCESS_STRIDED;
    }
    if (form->boxed && form->pool == 0) {
        const double otherwise = p->box_cost * BYTE_COST;
        const double times = m->count < SEVERAL ? MORE : MUCH_MORE;
        return inputs &&
               (otherwise > times * f->cost || (outputs && m->count <= FEW && otherwise > f->cost));
    }
    return inputs && outputs && !suits(m, p) &&
           (form->boxed || form->tile != 0 || f->cost < LITTLE);
}

/* The first dimension as that along which threads go, the last one. */
static void turn(qn_fold *f, size_t count)
{
    const int last = f->form.kept;
    const int64_t extent = f->extent[0];
    memmove(f->extent, f->extent + 1, (size_t)last * sizeof extent);
    f->extent[last] = extent;
    for (size_t k = 0; k < count; k++) {
        const int64_t stride = f->stride[k][0];
        memmove(f->stride[k], f->stride[k] + 1, (size_t)last * sizeof stride);
        f->stride[k][last] = stride;
    }
    f->outputs = f->outputs * f->length / extent;
    f->length = extent;
}

/* Have dimension `d` there, in the place of dimension `*at`, of those in their first order. */
static void turn_to(const qn_fold_making *m, int *at, int d)
{
    for (; *at != d; *at = (*at + 1) % (m->fold->form.kept + 1)) {
        turn(m->fold, m->count);
    }
}

/* The box that costs least, and the fold turned so that its threads go along the last dimension;
 * cost 0: there is none. Each dimension has its turn with one beginning, and the best ones with
 * all.
 */
static qn_box_choice choose_along(const qn_fold_making *m, qn_fold_image *image)
{
    const int dims = m->fold->form.kept + 1;
    double cost[QUERN_MAX_NDIM];
    qn_box_choice best = {.cost = 0};
    int along = dims - 1, at = along;
    for (int d = 0; d < dims; d++) {
        turn(m->fold, m->count);
        cost[d] = qn_box_choose(m, 0, image, true).cost;
    }
    for (int n = 0; n < TRIED; n++) {
        int next = -1;
        for (int d = 0; d < dims; d++) {
            next = cost[d] != 0 && (next < 0 || cost[d] < cost[next]) ? d : next;
        }
        if (next < 0) {
            break;
        }
        turn_to(m, &at, next);
        cost[next] = 0;
        const qn_box_choice own = qn_box_choose(m, 0, image, false);
        if (best.cost == 0 || own.cost < best.cost) {
            best = own;
            along = next;
        }
    }
    turn_to(m, &at, along);
    return best;
}

bool qn_fold_make_map(qn_fold *fold, const qn_plan *plan, const qn_operand *operands,
                      size_t operand_count, int ndim, const int64_t *shape, uint32_t processors,
                      uint32_t shared)
{
    const qn_fold_rules rules = {
        .scan = true, .map = true, .processors = processors, .shared = shared};
    const qn_fold_making m = qn_fold_begin(fold, operands, operand_count, &rules);
    qn_fold_image image[QUERN_MAX_PARAMETERS];
    if (m.inputs == 0 || m.inputs == m.count || !may_outdo(&m, plan)) {
        return false;
    }
    qn_fold_dims(&m, ndim, shape);
    if (fold->form.kept < 2) {
        return false;
    }
    fold->form.kept--; /* the last is that along which threads go */
    fold->form.reduced = 1;
    fold->length = fold->extent[fold->form.kept];
    fold->outputs /= fold->length;
    if (!qn_box_lie_otherwise(&m) || !qn_box_may_lie(&m)) {
        return false;
    }
    qn_box_choice best = choose_along(&m, image);
    if (best.cost == 0) {
        return false;
    }
    best.box.image = image;
    qn_box_lay(&m, &best.box);
    qn_box_fill(&m, &best.box);
    fold->cost = best.cost;
    fold->rest = 0;
    fold->form.wide = qn_fold_needs_wide(&m);
    return outdoes(&m, plan);
}

void qn_fold_print_map(qn_text *out, const qn_fold *f, size_t operand_count)
{
    qn_fold_print_boxes(out, f);
    qn_text_printf(out, " of %lld elements, %d-bit index, access ", (long long)f->units,
                   f->form.wide ? 64 : 32);
    qn_text_add(out, (const char *)f->form.access, operand_count);
}
