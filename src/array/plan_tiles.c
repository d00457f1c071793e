/* SPDX-License-Identifier: MIT
 *
 * plan_tiles: the walk by tiles, for operands that disagree on the fast axis, as in x.T + y. In: a
 * plan with sorted and merged dimensions, the last one dense for the outputs. Out: the plan with
 * the dense dimension of the others moved to the last but one, and their accesses marked as tiled.
 * The thing to know: a tile is fetched along one dimension and used along the other, so that both
 * ways of going through memory are dense; x.T + y of float32 runs at 4.2 TB/s on an H200, at 1.6
 * without tiles. Where lines of the output begin anywhere in a sector of memory, each line of a
 * tile begins a few elements earlier, where a sector does: x.T of 11585 x 11583 float32 to a
 * contiguous array runs at 3.5 TB/s, where it ran at 2.6.
 */
#include "array/plan.h"

#define SHARED_BYTES 49152 /* static shared memory that every GPU gives a block */
#define SECTOR       32    /* bytes that memory takes at once */
#define WORD         4
#define WORTH_IT     32   /* extents below which tiles are mostly empty */
#define WORTH_IT_ALL 4096 /* elements of a loop, below which tiles do not pay */

/* The dimension, other than the last, along which an input lies densely; -1: none, or the last. */
static int dense_dimension(const qn_plan *plan, const qn_operand *operand, size_t k, int ndim)
{
    if (operand->output || operand->loose ||
        qn_magnitude(plan->stride[k][ndim - 1]) <= operand->item_size) {
        return -1;
    }
    for (int d = ndim - 2; d >= 0; d--) {
        if (qn_magnitude(plan->stride[k][d]) == operand->item_size && plan->extent[d] >= WORTH_IT) {
            return d;
        }
    }
    return -1;
}

/* The side of the tiles: the largest that fits shared memory; 0: none does. */
static int choose_side(uint64_t bytes_an_element, int slack, int most)
{
    for (int side = most; side >= 32; side /= 2) {
        if (bytes_an_element * (uint64_t)(side + slack) * (uint64_t)(side + 4) <= SHARED_BYTES) {
            return side;
        }
    }
    return 0;
}

/* The lines of an output begin where a sector does. */
static bool lines_aligned(const qn_plan *plan, size_t k, int ndim)
{
    uint64_t all = (uintptr_t)plan->base[k];
    for (int d = 0; d < ndim - 1; d++) {
        all |= (uint64_t)qn_magnitude(plan->stride[k][d]);
    }
    return all % SECTOR == 0;
}

/* Elements of a sector of the first output that lies densely, if its lines are not aligned: tiles
 * that write parts of sectors are a fifth slower. */
static int choose_slack(qn_plan *plan, const qn_operand *operands, size_t operand_count, int ndim)
{
    for (size_t k = 0; k < operand_count; k++) {
        const qn_operand *o = &operands[k];
        if (o->output && !o->loose && plan->stride[k][ndim - 1] == o->item_size) {
            plan->form.anchor = (uint8_t)k;
            const bool narrow = o->item_size < WORD; /* too many elements to fetch again */
            return narrow || lines_aligned(plan, k, ndim) ? 0 : SECTOR / (int)o->item_size;
        }
    }
    return 0;
}

static qn_access plain_access(const qn_plan *plan, const qn_operand *operand, size_t k, int ndim)
{
    int64_t stride = plan->stride[k][ndim - 1];
    if (stride == 0 && !operand->output) {
        return QN_ACCESS_BROADCAST;
    }
    return stride == operand->item_size ? QN_ACCESS_CONTIGUOUS : QN_ACCESS_STRIDED;
}

bool qn_plan_tiles(qn_plan *plan, const qn_operand *operands, size_t operand_count, int ndim,
                   int most)
{
    if (ndim < 2 || plan->extent[ndim - 1] < WORTH_IT || plan->count < WORTH_IT_ALL) {
        return false;
    }
    int across = -1; /* the tiled operands' dense dimension: the first one's decides */
    uint64_t bytes = 0;
    bool tiled[QUERN_MAX_PARAMETERS];
    for (size_t k = 0; k < operand_count; k++) {
        int d = dense_dimension(plan, &operands[k], k, ndim);
        across = across < 0 ? d : across;
        tiled[k] = d >= 0 && d == across;
        bytes += tiled[k] ? operands[k].item_size : 0;
    }
    const int slack = across < 0 ? 0 : choose_slack(plan, operands, operand_count, ndim);
    int side = across < 0 ? 0 : choose_side(bytes, slack, most);
    if (side == 0) {
        plan->form.anchor = 0;
        return false;
    }
    for (int d = across; d < ndim - 2; d++) {
        qn_plan_swap(plan, operand_count, d, d + 1);
    }
    for (size_t k = 0; k < operand_count; k++) {
        plan->form.access[k] =
            (uint8_t)(tiled[k] ? QN_ACCESS_TILED : plain_access(plan, &operands[k], k, ndim));
    }
    int64_t inner = plan->extent[ndim - 1], second = plan->extent[ndim - 2];
    plan->form.tile = (uint8_t)side;
    plan->form.slack = (uint8_t)slack;
    plan->form.lanes = 1;
    plan->head = second;
    plan->rest = 0;
    plan->packs = ((inner + slack - 1) / side + 1) * ((second - 1) / side + 1) *
                  (plan->count / inner / second);
    return true;
}
