/* SPDX-License-Identifier: MIT
 *
 * plan_boxes: the walk by boxes, for inputs that lie in memory in another order than the walk's
 * and are dense along short dimensions, as (n, 5, 4) -> (4, 5, n). In: a plan with sorted and
 * merged dimensions. Out: the plan with each dimension split into that of the boxes and that
 * inside a box. The thing to know: a box has a run of neighbours for every operand, which its
 * block fetches in the order of the inputs and gives in that of the walk; so each sector of memory
 * is read once, however thin the arrays are.
 */
#include "array/plan_boxing.h"

#define MOST_IN_RUNS  16384 /* elements of a box */
#define LEAST_IN_RUNS 4096
#define SHARED_BYTES  36864 /* of a block, of which a processor has several */
#define BLOCK         256   /* threads */
#define MANY_LINES    16    /* that a warp meets at once */
#define WORTH_IT_ALL  4096  /* elements of a loop, below which boxes do not pay */
#define SHORTEST_RUN  8     /* elements */
#define LONGEST_RUN   1024
#define TILE          64   /* elements of a side of one */
#define BETTER        1.15 /* times as cheap as tiles, which are known best */
#define ENOUGH_FILLED 0.8  /* of all tiles */
#define MANY          8 /* boxes along a dimension, of which a last one that is small is little */

/* An operand that the walk goes through badly, unless its elements are far from each other in any
 * order. */
static bool is_torn(const qn_boxing *b, size_t k)
{
    bool near = false;
    for (int d = 0; d < b->ndim - 1; d++) {
        const int64_t stride = qn_magnitude(b->plan->stride[k][d]);
        near |= stride != 0 && stride < QN_SECTOR_BYTES;
    }
    return near && !b->operands[k].output && !b->operands[k].loose &&
           (qn_boxing_fetches(b, k, false) > 1 || qn_boxing_lines(b, k) >= MANY_LINES);
}

/* An operand that lies side by side along another dimension than the last. */
static bool is_turned(const qn_boxing *b, size_t k)
{
    const int64_t item = b->operands[k].item_size;
    bool dense = false;
    for (int d = 0; d < b->ndim - 1; d++) {
        dense |= qn_magnitude(b->plan->stride[k][d]) == item;
    }
    return dense && !b->operands[k].output && !b->operands[k].loose &&
           qn_magnitude(b->plan->stride[k][b->ndim - 1]) > item;
}

/* Whether dimension `a` should lie outside `c` where tiled operands are fetched: the first with an
 * opinion decides. */
static bool outside(const qn_boxing *b, int a, int c)
{
    for (size_t k = 0; k < b->operand_count; k++) {
        const int64_t sa = qn_magnitude(b->plan->stride[k][a]);
        const int64_t sc = qn_magnitude(b->plan->stride[k][c]);
        if (b->tiled[k] && sa != 0 && sc != 0 && sa != sc) {
            return sa > sc;
        }
    }
    return a < c;
}

static void order_fetching(qn_boxing *b)
{
    for (int d = 0; d < b->ndim; d++) {
        int at = d;
        for (; at > 0 && outside(b, d, b->order[at - 1]); at--) {
            b->order[at] = b->order[at - 1];
        }
        b->order[at] = d;
    }
}

/* Let boxes have runs of `run` elements in the order of fetching, or of the walk. */
static void grow(qn_boxing *b, bool fetching, int64_t run)
{
    int64_t inside = 1;
    for (int at = b->ndim - 1; at >= 0 && inside < run; at--) {
        const int d = fetching ? b->order[at] : at;
        const int64_t extent = b->plan->extent[d];
        b->extent[d] = QN_MAX(b->extent[d], QN_MIN(extent, qn_over(run, inside)));
        inside *= extent;
    }
}

/* How many dimensions have boxes of several elements, and of those, how many several boxes. */
static void count_dims(const qn_boxing *b, int *inside, int *cut)
{
    *inside = *cut = 0;
    for (int d = 0; d < b->ndim; d++) {
        *inside += b->extent[d] > 1;
        *cut += b->extent[d] > 1 && b->extent[d] < b->plan->extent[d];
    }
}

static bool fits(const qn_boxing *b)
{
    int64_t elements = 1;
    for (int d = 0; d < b->ndim; d++) {
        if (b->extent[d] > b->most / elements) {
            return false;
        }
        elements *= b->extent[d];
    }
    int inside, cut;
    count_dims(b, &inside, &cut);
    return inside <= QN_BOX_DIMS && cut <= QN_BOX_CUTS && b->ndim + cut <= QUERN_MAX_NDIM;
}

/* Few boxes along a dimension are of about the same size. */
static void even_out(qn_boxing *b)
{
    for (int d = 0; d < b->ndim; d++) {
        const int64_t boxes = qn_over(b->plan->extent[d], b->extent[d]);
        if (boxes < MANY) {
            b->extent[d] = qn_over(b->plan->extent[d], boxes);
        }
    }
}

/* The same if it fits. */
static bool grow_to_fit(qn_boxing *b, bool fetching, int64_t run)
{
    qn_boxing longer = *b;
    grow(&longer, fetching, run);
    const bool fit = fits(&longer);
    if (fit) {
        *b = longer;
    }
    return fit;
}

static void shrink(qn_boxing *b)
{
    for (int d = 0; d < b->ndim; d++) {
        b->extent[d] = 1;
    }
}

/* Longer runs for both orders, by `step` each time, as long as they fit. */
static void grow_on(qn_boxing *b, int64_t step)
{
    bool walk = true, fetch = true;
    for (int64_t run = 2 * step; run <= LONGEST_RUN && (walk || fetch); run += step) {
        walk = walk && grow_to_fit(b, false, run);
        fetch = fetch && grow_to_fit(b, true, run);
    }
}

/* Runs of so many bytes for each operand in its own order; false: they do not fit. */
static bool grow_each(qn_boxing *b, int64_t bytes)
{
    shrink(b);
    for (size_t k = 0; k < b->operand_count; k++) {
        int order[QUERN_MAX_NDIM];
        const int count =
            b->tiled[k] || b->operands[k].output ? qn_boxing_near_dims(b, k, order) : 0;
        for (int at = 0; at < count; at++) {
            const int64_t stride = qn_magnitude(b->plan->stride[k][order[at]]);
            const int64_t run = QN_MIN(b->plan->extent[order[at]], qn_over(bytes, stride));
            b->extent[order[at]] = QN_MAX(b->extent[order[at]], run);
        }
    }
    return fits(b);
}

/* Sectors of some operand are fetched several times all the same. */
static bool fetches_again(const qn_boxing *b)
{
    bool again = false;
    for (size_t k = 0; k < b->operand_count; k++) {
        again |= qn_boxing_fetches(b, k, true) > 1;
    }
    return again;
}

/* Runs that begin where a sector does, if they fit: for the order of the walk and of fetching. */
static bool choose_two(qn_boxing *b)
{
    uint32_t narrow = 4;
    for (size_t k = 0; k < b->operand_count; k++) {
        narrow = QN_MIN(narrow, b->operands[k].item_size);
    }
    bool grown = false;
    for (int64_t step = QN_SECTOR_BYTES / (int64_t)narrow; step >= SHORTEST_RUN && !grown;
         step /= 2) {
        shrink(b);
        grown = grow_to_fit(b, false, step) && grow_to_fit(b, true, step);
        if (grown) {
            grow_on(b, step);
        }
    }
    even_out(b);
    return grown;
}

/* Runs of whole sectors, or as large a part of them as fits, for the order of each operand. */
static bool choose_each(qn_boxing *b)
{
    for (int64_t bytes = QN_SECTOR_BYTES; bytes >= QN_SECTOR_BYTES / 4; bytes /= 2) {
        if (grow_each(b, bytes)) {
            grow_on(b, SHORTEST_RUN);
            even_out(b);
            return true;
        }
    }
    return false;
}

/* Two orders will do, unless inputs lie in several and so would be fetched again. */
static bool choose_extents(qn_boxing *b)
{
    qn_boxing each = *b;
    const bool two = choose_two(b);
    if ((!two || fetches_again(b)) && choose_each(&each) &&
        (!two || qn_boxing_box_cost(&each) < qn_boxing_box_cost(b))) {
        *b = each;
        return true;
    }
    return two;
}

/* Bytes that an offset takes. */
static int64_t offset_bytes(const qn_boxing *b)
{
    for (size_t k = 0; k < b->operand_count; k++) {
        int64_t reach = 0;
        for (int d = 0; d < b->ndim; d++) {
            reach += qn_magnitude(b->plan->stride[k][d]) * b->plan->extent[d];
        }
        if (reach > INT32_MAX - UINT16_MAX) {
            return 8;
        }
    }
    return 4;
}

/* Elements that a thread takes of a box: enough narrow ones for their bytes to keep the memory
 * busy, and as many as shared memory holds, with where they lie. */
static int choose_turns(const qn_boxing *b)
{
    const int64_t offset = offset_bytes(b);
    int64_t bytes = 2;
    uint32_t widest = 1;
    for (size_t k = 0; k < b->operand_count; k++) {
        bytes += offset + (b->tiled[k] ? b->operands[k].item_size * 8 / 7 + 1 : 0);
        widest = QN_MAX(widest, b->operands[k].item_size);
    }
    int turns = widest < 4 ? QN_BOX_TURNS : QN_BOX_TURNS / 2;
    while (bytes * turns * BLOCK > SHARED_BYTES) {
        turns--;
    }
    return turns;
}

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

/* What the plan has of boxes, once its dimensions are split. */
static void fill(qn_plan *plan, const qn_boxing *b, int turns)
{
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

/* Inputs may lie side by side along several dimensions, of which tiles have one. */
static void find_across(qn_boxing *b)
{
    b->across = -1;
    for (size_t k = 0; k < b->operand_count; k++) {
        int order[QUERN_MAX_NDIM];
        if (b->tiled[k] && qn_boxing_near_dims(b, k, order) > 0) {
            b->across = b->across < 0 ? order[0] : b->across;
            b->several |= order[0] != b->across;
        }
    }
}

bool qn_boxing_begin(qn_boxing *b, const qn_plan *plan, const qn_operand *operands,
                     size_t operand_count, int ndim, bool tiled)
{
    bool any = false;
    *b = (qn_boxing){
        .plan = plan, .operands = operands, .operand_count = operand_count, .ndim = ndim};
    for (size_t k = 0; k < operand_count && ndim > 1; k++) {
        b->tiled[k] = is_torn(b, k) || (tiled && is_turned(b, k));
        any |= b->tiled[k];
    }
    order_fetching(b);
    find_across(b);
    return any && plan->count >= WORTH_IT_ALL;
}

/* Boxes of single elements: as many as threads take, if they cost less than the walk as it is. */
static bool choose_boxes(qn_boxing *b, int *turns)
{
    *turns = choose_turns(b);
    b->most = (int64_t)*turns * BLOCK;
    return *turns != 0 && choose_extents(b) && qn_boxing_walk_cost(b) >= qn_boxing_box_cost(b);
}

/* Such boxes, where it would go by tiles otherwise. */
static bool outdo_tiles(qn_boxing *b, int *turns)
{
    return choose_boxes(b, turns) && qn_boxing_tile_cost(b, TILE) > BETTER * qn_boxing_box_cost(b);
}

bool qn_plan_outdoes_tiles(const qn_plan *plan, const qn_operand *operands, size_t operand_count,
                           int ndim, int side)
{
    qn_boxing b;
    return qn_boxing_begin(&b, plan, operands, operand_count, ndim, true) &&
           qn_boxing_tile_cost(&b, side) > BETTER * qn_boxing_walk_cost(&b);
}

bool qn_plan_boxes(qn_plan *plan, const qn_operand *operands, size_t operand_count, int ndim,
                   bool tiled)
{
    qn_boxing b;
    int turns;
    if (!qn_boxing_begin(&b, plan, operands, operand_count, ndim, false) ||
        !(tiled ? outdo_tiles(&b, &turns) : choose_boxes(&b, &turns))) {
        return false;
    }
    const qn_plan was = *plan;
    split(plan, &b, &was);
    fill(plan, &b, turns);
    return true;
}

/* Tiles do better for bytes, whose boxes have short runs, and where lines of an input are multiples
 * of 8 bytes apart, so that those of a box would share banks. */
static bool better_tiled(const qn_boxing *b)
{
    bool better = false;
    for (size_t k = 0; k < b->operand_count; k++) {
        better |= b->tiled[k] &&
                  (b->operands[k].item_size == 1 || b->plan->stride[k][b->ndim - 1] % 8 == 0);
    }
    return better && !b->several;
}

/* Tiles of single elements would be partly empty; inputs lie in one order, and their lines are not
 * multiples of 8 bytes apart, which in boxes share banks. */
static bool suits_matrices(const qn_boxing *b)
{
    const int last = b->ndim - 1;
    bool suits = qn_boxing_filled(b->plan, b->ndim, b->across, TILE) < ENOUGH_FILLED && !b->several;
    for (size_t k = 0; k < b->operand_count; k++) {
        suits &= !b->tiled[k] || b->plan->stride[k][last] % 8 != 0;
    }
    return suits;
}

/* Boxes of as many whole matrices as fit, or of parts of one. A batch of small matrices is one run
 * for all operands then, and tiles would be mostly empty. */
static bool choose_matrices(qn_boxing *b)
{
    const int last = b->ndim - 1;
    shrink(b);
    int64_t *const ends[] = {&b->extent[last], &b->extent[b->across]};
    *ends[0] = b->plan->extent[last];
    *ends[1] = b->plan->extent[b->across];
    while (*ends[0] * *ends[1] > b->most) {
        int64_t *const longer = ends[*ends[0] < *ends[1]];
        *longer = qn_over(*longer, 2 * QN_SECTOR_BYTES) * QN_SECTOR_BYTES;
    }
    const int64_t matrix = *ends[0] * *ends[1];
    const bool whole = *ends[0] == b->plan->extent[last] && *ends[1] == b->plan->extent[b->across];
    for (int d = last - 1; d >= 0 && whole; d--) {
        if (d != b->across && b->plan->extent[d] > 1) {
            b->extent[d] = QN_MIN(b->plan->extent[d], b->most / matrix);
            break;
        }
    }
    return fits(b);
}

/* Boxes in runs of matrices where it would go by tiles, or of anything else where they do better.
 */
static bool choose_runs(qn_boxing *b, const qn_plan *plan, const qn_operand *operands,
                        size_t operand_count, int ndim, bool tiled, bool matrices)
{
    int turns;
    if (!qn_plan_box_runs(operands, operand_count, matrices) ||
        !qn_boxing_begin(b, plan, operands, operand_count, ndim, matrices)) {
        return false;
    }
    b->runs = true;
    return matrices ? tiled && suits_matrices(b)
           : tiled  ? !better_tiled(b)
                    : choose_boxes(b, &turns);
}

bool qn_plan_runs(qn_plan *plan, const qn_operand *operands, size_t operand_count, int ndim,
                  bool tiled)
{
    qn_boxing b;
    const bool plain = choose_runs(&b, plan, operands, operand_count, ndim, tiled, false);
    if (!plain && !choose_runs(&b, plan, operands, operand_count, ndim, tiled, true)) {
        return false;
    }
    const qn_plan was = *plan;
    b.plan = &was;
    for (b.most = MOST_IN_RUNS; b.most >= LEAST_IN_RUNS; b.most /= 2) {
        if (plain ? choose_extents(&b) : choose_matrices(&b)) {
            split(plan, &b, &was);
            fill(plan, &b, 1);
            if (qn_plan_box_ways(plan, operands, operand_count)) {
                return true;
            }
            *plan = was;
        }
    }
    return false;
}
