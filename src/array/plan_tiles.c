/* SPDX-License-Identifier: MIT
 *
 * plan_tiles: the walk by tiles, for operands that disagree on the fast axis, as in x.T + y. In: a
 * plan with sorted and merged dimensions, the last one dense for the outputs. Out: the plan with
 * the dense dimension of the others moved to the last but one, and their accesses marked as tiled.
 * The thing to know: a tile is fetched along one dimension and used along the other, so that both
 * ways of going through memory are dense; x.T + y of float32 runs at 4.2 TB/s on an H200, at 1.6
 * without tiles. Where lines of the output begin anywhere in a sector of memory, each line of a
 * tile begins a few elements earlier, where a sector does: x.T of 11585 x 11583 float32 to a
 * contiguous array runs at 3.5 TB/s, where it ran at 2.6. Narrow elements are moved as words of
 * several, in squares that threads turn: x.T of 16384 x 16384 int8 runs at 3.8 TB/s, one by one at
 * 2.1.
 */
#include "array/plan.h"

#define WORD         4
#define ENOUGH       135 /* percent of the bytes, which tiles that begin with sectors may take */
#define MANY_ALONG   4 /* tiles of packs along a dimension, of which those at the sides are slow */
#define MANY         1024 /* tiles that keep all processors busy */
#define WORTH_IT     32   /* extents below which tiles are mostly empty */
#define WORTH_IT_ALL 4096 /* elements of a loop, below which tiles do not pay */

int qn_plan_dense(const qn_plan *plan, const qn_operand *operand, size_t k, int ndim)
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

/* What is chosen of the tiles. */
typedef struct tiling {
    bool tiled[QUERN_MAX_PARAMETERS];
    int across;     /* the tiled operands' dense dimension */
    uint64_t bytes; /* of an element in all tiled operands */
    uint64_t plain; /* and in all others */
    int lanes, slack, side, margin;
} tiling;

/* The side of the tiles: the largest that fits shared memory; 0: none does. */
static int choose_side(const tiling *t, int most)
{
    for (int side = most; side >= 32; side /= 2) {
        if (t->bytes * (uint64_t)(side + t->slack) * (uint64_t)(side + 4) <= QN_STATIC_BYTES) {
            return side;
        }
    }
    return 0;
}

/* The first element of an operand and all its strides but the one along `along` are multiples of
 * `bytes`. */
static bool others_aligned(const qn_plan *plan, size_t k, int ndim, int along, uint64_t bytes)
{
    uint64_t all = (uintptr_t)plan->base[k];
    for (int d = 0; d < ndim; d++) {
        all |= d == along ? 0 : (uint64_t)qn_magnitude(plan->stride[k][d]);
    }
    return all % bytes == 0;
}

/* Elements of a sector of the anchor, if its lines are not aligned: tiles that write parts of
 * sectors are a fifth slower. */
static int choose_slack(const qn_plan *plan, const qn_operand *operands, int ndim, int anchor)
{
    return anchor < 0 || others_aligned(plan, (size_t)anchor, ndim, ndim - 1, QN_SECTOR_BYTES)
               ? 0
               : QN_SECTOR_BYTES / (int)operands[anchor].item_size;
}

/* What such tiles fetch again, and have beyond the ends of lines, costs less than they save. */
static bool worth_it(const tiling *t, const qn_plan *plan, int ndim)
{
    const uint64_t inner = (uint64_t)plan->extent[ndim - 1], side = (uint64_t)t->side;
    const uint64_t slack = (uint64_t)t->slack, all = t->bytes + t->plain;
    const uint64_t moved = all * side + t->bytes * slack;
    return t->slack == 0 || moved * ((inner + slack - 1) / side + 1) * 100 <=
                                all * side * ((inner - 1) / side + 1) * ENOUGH;
}

/* The first output that lies densely; -1: none. */
static int choose_anchor(const qn_plan *plan, const qn_operand *operands, size_t operand_count,
                         int ndim)
{
    for (size_t k = 0; k < operand_count; k++) {
        const qn_operand *o = &operands[k];
        if (o->output && !o->loose && plan->stride[k][ndim - 1] == o->item_size) {
            return (int)k;
        }
    }
    return -1;
}

/* Elements of a word of the narrowest tiled operand; 1: they do not go by words. */
static int choose_lanes(const tiling *t, const qn_plan *plan, const qn_operand *operands,
                        size_t operand_count, uint32_t most)
{
    uint32_t narrow = WORD;
    bool words = true;
    for (size_t k = 0; k < operand_count; k++) {
        if (t->tiled[k]) {
            narrow = QN_MIN(narrow, operands[k].item_size);
            words &=
                operands[k].item_size < WORD && plan->stride[k][t->across] == operands[k].item_size;
        }
    }
    return words && most >= WORD / narrow ? (int)(WORD / narrow) : 1;
}

/* Tiles along a dimension of so many elements are whole, or so many that those at the sides
 * are few. */
static bool is_many(const tiling *t, int64_t extent, int64_t side)
{
    const bool whole = t->margin == 0 && t->slack == 0 && extent % side == 0;
    return whole || extent >= side * MANY_ALONG;
}

/* Tiles of packs, if there are enough that the slow ones at the sides are few. The largest have 32
 * along a side, so that a warp's accesses are 128 bytes long. They are not smaller than those of
 * single elements, which are as fast. */
static bool choose_packs(tiling *t, const qn_plan *plan, const qn_operand *operands,
                         size_t operand_count, int ndim, int anchor, int most)
{
    t->slack = choose_slack(plan, operands, ndim, anchor);
    if (anchor < 0 || t->lanes == 1 || t->slack % t->lanes != 0) {
        return false;
    }
    for (size_t k = 0; k < operand_count; k++) {
        if (t->tiled[k] &&
            !others_aligned(plan, k, ndim, t->across, (uint64_t)t->lanes * operands[k].item_size)) {
            t->margin = t->lanes;
        }
    }
    const int64_t lines = plan->extent[t->across], inner = plan->extent[ndim - 1];
    int side = most / 2 * t->lanes;
    while (side > most && (!is_many(t, lines, side) || !is_many(t, inner, side) ||
                           plan->count / side / side < MANY)) {
        side /= 2;
    }
    t->side = choose_side(t, side);
    return t->side >= most && is_many(t, lines, t->side) && is_many(t, inner, t->side) &&
           worth_it(t, plan, ndim);
}

/* The same with words of two for halves, where all is aligned, or what is given has words of its
 * own. On an H200, of a copy's speed with words and with two: x.T + y of 16384 x 16384 float16 0.97
 * and 1.00, x.T to contiguous 0.93 and 0.98, of 12001 x 12003 to float32 0.65 and 0.85; but of
 * 16383 x 16385 x.T + y 0.84 and 0.75. */
static bool choose_wide_packs(tiling *t, const qn_plan *plan, const qn_operand *operands,
                              size_t operand_count, int ndim, int anchor, int most,
                              uint32_t most_lanes)
{
    tiling wide = *t;
    wide.lanes = 2 * t->lanes;
    if (t->lanes != 2 || wide.lanes > (int)most_lanes ||
        !choose_packs(&wide, plan, operands, operand_count, ndim, anchor, most) ||
        ((wide.slack != 0 || wide.margin != 0) && operands[anchor].item_size < WORD)) {
        return false;
    }
    *t = wide;
    return true;
}

/* Tiles of single elements. */
static bool choose_single(tiling *t, const qn_plan *plan, const qn_operand *operands, int ndim,
                          int anchor, int most)
{
    const bool narrow = anchor >= 0 && operands[anchor].item_size < WORD;
    t->lanes = 1; /* and narrow ones have too many elements to fetch again */
    t->margin = 0;
    t->slack = narrow ? 0 : choose_slack(plan, operands, ndim, anchor);
    t->side = choose_side(t, most);
    if (t->side != 0 && !worth_it(t, plan, ndim)) {
        t->slack = 0;
        t->side = choose_side(t, most);
    }
    return t->side != 0;
}

/* How an operand that is not tiled is reached. */
static qn_access plain_access(const tiling *t, const qn_plan *plan, const qn_operand *operands,
                              size_t k, int ndim)
{
    const qn_operand *o = &operands[k];
    const int64_t stride = plan->stride[k][ndim - 1];
    if (stride == 0 && !o->output) {
        return QN_ACCESS_BROADCAST;
    }
    if (stride != o->item_size) {
        return QN_ACCESS_STRIDED;
    }
    if (t->lanes == 1 || o->loose) {
        return QN_ACCESS_CONTIGUOUS;
    }
    const int64_t every = (int64_t)qn_pack_alignment(o, (uint32_t)t->lanes) / o->item_size;
    return qn_plan_agree(plan, operands, plan->form.anchor, k, every) ? QN_ACCESS_VECTOR
                                                                      : QN_ACCESS_CONTIGUOUS;
}

/* The operands that are tiled: those that are dense along the same dimension as the first. */
static bool choose_tiled(tiling *t, const qn_plan *plan, const qn_operand *operands,
                         size_t operand_count, int ndim)
{
    t->across = -1;
    for (size_t k = 0; k < operand_count; k++) {
        int d = qn_plan_dense(plan, &operands[k], k, ndim);
        t->across = t->across < 0 ? d : t->across;
        t->tiled[k] = d >= 0 && d == t->across;
        *(t->tiled[k] ? &t->bytes : &t->plain) += operands[k].item_size;
    }
    return t->across >= 0;
}

bool qn_plan_is_tiled(const qn_plan *plan, const qn_operand *operands, size_t operand_count,
                      int ndim, int most)
{
    tiling t = {.across = -1};
    return ndim > 1 && plan->extent[ndim - 1] >= WORTH_IT && plan->count >= WORTH_IT_ALL &&
           choose_tiled(&t, plan, operands, operand_count, ndim) &&
           choose_single(&t, plan, operands, ndim,
                         choose_anchor(plan, operands, operand_count, ndim), most);
}

bool qn_plan_tiles(qn_plan *plan, const qn_operand *operands, size_t operand_count, int ndim,
                   int most, uint32_t most_lanes, bool single)
{
    tiling t = {.across = -1};
    if (ndim < 2 || plan->extent[ndim - 1] < WORTH_IT || plan->count < WORTH_IT_ALL ||
        !choose_tiled(&t, plan, operands, operand_count, ndim)) {
        return false;
    }
    const int anchor = choose_anchor(plan, operands, operand_count, ndim);
    t.lanes = choose_lanes(&t, plan, operands, operand_count, most_lanes);
    if (!choose_wide_packs(&t, plan, operands, operand_count, ndim, anchor, most, most_lanes) &&
        !choose_packs(&t, plan, operands, operand_count, ndim, anchor, most) &&
        (!single || !choose_single(&t, plan, operands, ndim, anchor, most))) {
        return false;
    }
    plan->form.anchor = (uint8_t)QN_MAX(anchor, 0);
    for (int d = t.across; d < ndim - 2; d++) {
        qn_plan_swap(plan, operand_count, d, d + 1);
    }
    for (size_t k = 0; k < operand_count; k++) {
        plan->form.access[k] =
            (uint8_t)(t.tiled[k] ? QN_ACCESS_TILED : plain_access(&t, plan, operands, k, ndim));
    }
    const int64_t inner = plan->extent[ndim - 1], second = plan->extent[ndim - 2];
    plan->form.tile = (uint8_t)t.side;
    plan->form.slack = (uint8_t)t.slack;
    plan->form.margin = (uint8_t)t.margin;
    plan->form.lanes = (uint8_t)t.lanes;
    plan->head = second;
    plan->rest = 0;
    plan->packs = ((inner + t.slack - 1) / t.side + 1) * ((second - 1) / t.side + 1) *
                  (plan->count / inner / second);
    return true;
}
