/* SPDX-License-Identifier: MIT
 *
 * plan_box_cost: what boxes cost beside the other ways to walk. In: boxes as they are chosen so
 * far. Out: bytes of memory for an element. The thing to know: a sector of memory counts as often
 * as it is fetched, and work as the bytes that move meanwhile.
 */
#include "array/plan_boxing.h"

/* Boxes are walked where the other way costs so many percent of the bytes that they move, and more
 * than their instructions: threads wait for each other twice a box. */
#define ENOUGH     165
#define WORK       4 /* of an element for each operand but one, in bytes that move meanwhile */
#define WORK_TILED 1 /* more where it goes by shared memory */
#define SECTOR     QN_BOXING_SECTOR
#define KEPT       2048 /* elements of the walk for which a processor's cache has their sectors */
#define WARP       32
#define LOOKED_UP  9 /* bytes that move while a line is looked up for each element */

/* Walked as the others are, a sector of an operand comes from memory for each of its elements along
 * this dimension: so many of them, unless a processor still has it when the walk comes to them. */
static int64_t again(const qn_boxing *b, size_t k, int d)
{
    const int64_t stride = qn_magnitude(b->plan->stride[k][d]);
    const int last = b->ndim - 1;
    if (d == last || b->plan->stride[k][last] == 0 || stride == 0 || stride >= SECTOR) {
        return 1;
    }
    const int64_t together = QN_MIN(SECTOR / stride, b->plan->extent[d]);
    int64_t walked = together;
    for (int inner = d + 1; inner < b->ndim && walked <= KEPT; inner++) {
        walked *= b->plan->extent[inner];
    }
    return walked > KEPT ? together : 1;
}

int64_t qn_boxing_fetches(const qn_boxing *b, size_t k, bool boxed)
{
    const qn_operand *o = &b->operands[k];
    int64_t times = 1;
    for (int d = 0; d < b->ndim && !o->output && !o->loose; d++) {
        const int64_t all = again(b, k, d);
        times *= boxed ? qn_over(all, b->extent[d]) : all;
    }
    return QN_MIN(times, QN_MAX(SECTOR / (int64_t)o->item_size, (int64_t)1));
}

int64_t qn_boxing_lines(const qn_boxing *b, size_t k)
{
    int64_t lanes = 1, met = 1;
    for (int d = b->ndim - 1; d >= 0 && lanes < WARP; d--) {
        const int64_t along = QN_MIN(b->plan->extent[d], qn_over(WARP, lanes));
        const int64_t span = along * qn_magnitude(b->plan->stride[k][d]);
        met *= QN_MAX(QN_MIN(along, span / QN_LINE_BYTES), (int64_t)1);
        lanes *= along;
    }
    return QN_MIN(met, (int64_t)WARP);
}

int64_t qn_boxing_walk_cost(const qn_boxing *b)
{
    int64_t bytes = 0, met = 0;
    for (size_t k = 0; k < b->operand_count; k++) {
        bytes += qn_boxing_fetches(b, k, false) * b->operands[k].item_size;
        met += qn_boxing_lines(b, k);
    }
    return QN_MAX(bytes, met * LOOKED_UP / WARP);
}

int64_t qn_boxing_box_cost(const qn_boxing *b)
{
    int64_t bytes = 0, work = -WORK, elements = 1;
    for (size_t k = 0; k < b->operand_count; k++) {
        bytes += qn_boxing_fetches(b, k, true) * b->operands[k].item_size;
        work += WORK + (b->tiled[k] ? WORK_TILED : 0);
    }
    for (int d = 0; d < b->ndim; d++) {
        elements *= b->extent[d];
    }
    return QN_MAX(bytes * ENOUGH / 100, work * b->most / elements);
}

int qn_boxing_near_dims(const qn_boxing *b, size_t k, int *order)
{
    int count = 0;
    for (int d = 0; d < b->ndim; d++) {
        const int64_t stride = qn_magnitude(b->plan->stride[k][d]);
        int at = count;
        if (stride == 0 || stride >= SECTOR) {
            continue;
        }
        for (; at > 0 && stride < qn_magnitude(b->plan->stride[k][order[at - 1]]); at--) {
            order[at] = order[at - 1];
        }
        order[at] = d;
        count++;
    }
    return count;
}

int64_t qn_boxing_tile_cost(const qn_boxing *b)
{
    int64_t bytes = 0;
    for (size_t k = 0; k < b->operand_count; k++) {
        int order[QUERN_MAX_NDIM];
        const bool dense =
            b->tiled[k] && qn_boxing_near_dims(b, k, order) > 0 && order[0] == b->across;
        bytes += (dense ? 1 : qn_boxing_fetches(b, k, false)) * b->operands[k].item_size;
    }
    return bytes;
}
