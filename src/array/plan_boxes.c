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

#define SHARED_BYTES  36864 /* of a block, of which a processor has several */
#define BLOCK         256   /* threads */
#define MANY_LINES    16    /* that a warp meets at once */
#define WORTH_IT_ALL  4096  /* elements of a loop, below which boxes do not pay */
#define SHORTEST_RUN  8     /* elements */
#define LONGEST_RUN   1024
#define TILE          64 /* elements of a side of one */
#define NARROW        2  /* bytes of an element */
#define WORD          4
#define MANY_TILES    3
#define BETTER        1.15 /* times as cheap as tiles, which are known best */
#define SINGLY        1.5  /* times as dear as boxes whose elements go one by one */
#define ENOUGH_FILLED 0.96 /* of all tiles */
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

static int64_t narrowest(const qn_boxing *b)
{
    uint32_t narrow = QN_SECTOR_BYTES;
    for (size_t k = 0; k < b->operand_count; k++) {
        narrow = QN_MIN(narrow, b->operands[k].item_size);
    }
    return narrow;
}

/* Few boxes along a dimension are of about the same size. Those in runs give whole sectors. */
static void even_out(qn_boxing *b)
{
    for (int d = 0; d < b->ndim; d++) {
        const int64_t boxes = qn_over(b->plan->extent[d], b->extent[d]);
        if (boxes < MANY) {
            const int64_t even = qn_over(b->plan->extent[d], boxes);
            const bool sectors = b->runs && boxes > 1 && d == b->ndim - 1;
            const int64_t round = sectors ? QN_SECTOR_BYTES / narrowest(b) : 1;
            b->extent[d] = QN_MIN(b->extent[d], qn_over(even, round) * round);
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
    const int64_t narrow = QN_MIN(narrowest(b), (int64_t)WORD);
    bool grown = false;
    for (int64_t step = QN_SECTOR_BYTES / narrow; step >= SHORTEST_RUN && !grown; step /= 2) {
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
    plan->box_cost = qn_boxing_box_cost(&b);
    qn_boxing_put(plan, &b, &was, turns);
    return true;
}

/* All inputs but those that are repeated are turned. */
static bool all_tiled(const qn_boxing *b)
{
    bool all = true;
    for (size_t k = 0; k < b->operand_count; k++) {
        all &= b->tiled[k] || b->operands[k].output || b->plan->stride[k][b->ndim - 1] == 0;
    }
    return all;
}

/* Tiles of single elements are partly empty. In a batch of matrices whose lines they fill, all but
 * the last of several are not. */
static bool leaves_empty(const qn_boxing *b)
{
    const qn_plan *p = b->plan;
    const bool lines = b->ndim > 2 && narrowest(b) >= WORD && p->extent[b->ndim - 1] % TILE == 0 &&
                       p->extent[b->across] >= MANY_TILES * TILE;
    return !lines && qn_boxing_filled(p, b->ndim, b->across, TILE) < ENOUGH_FILLED;
}

/* Inputs lie in one order, and tiles would be partly empty; or all would be read one by one, which
 * takes long for the bytes of narrow ones. */
static bool suits_matrices(const qn_boxing *b, bool tiled)
{
    return !b->several &&
           (tiled ? leaves_empty(b) : b->ndim == 2 && narrowest(b) <= NARROW && all_tiled(b));
}

/* Boxes of as many whole matrices as fit, or of parts of one: whole along its shorter end, if that
 * leaves whole sectors along the other. A batch of small matrices is one run for all operands then,
 * and tiles would be mostly empty. */
static bool choose_matrices(qn_boxing *b)
{
    const int last = b->ndim - 1;
    shrink(b);
    int64_t *const ends[] = {&b->extent[last], &b->extent[b->across]};
    *ends[0] = b->plan->extent[last];
    *ends[1] = b->plan->extent[b->across];
    const int64_t shorter = QN_MIN(*ends[0], *ends[1]);
    if (*ends[0] * *ends[1] > b->most && shorter * QN_SECTOR_BYTES <= b->most) {
        *ends[*ends[0] < *ends[1]] = b->most / shorter / QN_SECTOR_BYTES * QN_SECTOR_BYTES;
    }
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
    even_out(b);
    return fits(b);
}

/* Boxes in runs of matrices where it would go by tiles, or of anything else where they do better.
 */
static bool choose_runs(qn_boxing *b, const qn_plan *plan, const qn_operand *operands,
                        size_t operand_count, int ndim, bool tiled, bool matrices)
{
    int turns;
    if (!qn_plan_box_runs(operands, operand_count) ||
        !qn_boxing_begin(b, plan, operands, operand_count, ndim, matrices)) {
        return false;
    }
    b->runs = true;
    return matrices ? suits_matrices(b, tiled) : tiled ? b->several : choose_boxes(b, &turns);
}

/* The plan with these boxes, in runs; false: they do not suit. */
static bool take_runs(qn_plan *plan, const qn_boxing *b, const qn_plan *was, uint32_t pack,
                      bool along)
{
    *plan = *was;
    qn_boxing_put(plan, b, was, 1);
    if (!qn_plan_box_ways(plan, b->operands, b->operand_count, pack, along)) {
        return false;
    }
    qn_plan_box_stir(plan, b->operands, b->operand_count);
    return true;
}

/* Groups that lie apart in memory read it badly, which is worth it for outputs of bytes. */
static bool reads_apart(const qn_plan *plan, const qn_boxing *b)
{
    bool wide = true, along = false;
    for (size_t k = 0; k < b->operand_count; k++) {
        wide &= !b->operands[k].output || b->operands[k].item_size > 1;
        along |= plan->form.access[k] == QN_ACCESS_VECTOR;
    }
    return wide && along && plan->stir > 1;
}

/* Runs that are given element by element take longer than the costs say, which count all runs
 * alike, so they pay only where the walk as it is reads memory again and again; else that is best.
 * On an H200, in runs and as it is, us: sin of float16 209 x 1957 x 105 with the inner two
 * dimensions swapped 161 and 87, int32 to float64 of rows of 28 144 and 103, where the walk
 * costs 1.2 times as much as the boxes; 153 and 375, 316 and 509, 389 and 1888, where it costs 2 to
 * 8 times as much. */
static bool pays_singly(const qn_plan *plan, const qn_boxing *b)
{
    return plan->form.lanes > 1 || qn_boxing_walk_cost(b) > SINGLY * qn_boxing_box_cost(b);
}

bool qn_plan_runs(qn_plan *plan, const qn_operand *operands, size_t operand_count, int ndim,
                  bool tiled, uint32_t pack, bool torn, bool *as_it_is)
{
    static const int64_t most[] = {20480, 12288, 8192, 4096}; /* elements of a box */
    qn_boxing b;
    const bool plain = choose_runs(&b, plan, operands, operand_count, ndim, tiled, false);
    if (!plain &&
        ((!tiled && !torn) || !choose_runs(&b, plan, operands, operand_count, ndim, tiled, true))) {
        return false; /* single elements do as well where memory does not mind */
    }
    const qn_plan was = *plan;
    b.plan = &was;
    for (size_t n = 0; n < sizeof most / sizeof *most; n++) {
        b.most = most[n];
        if ((plain ? choose_extents(&b) : choose_matrices(&b)) &&
            take_runs(plan, &b, &was, pack, true) &&
            (!reads_apart(plan, &b) || take_runs(plan, &b, &was, pack, false))) {
            *as_it_is = !pays_singly(plan, &b);
            if (!*as_it_is) {
                return true;
            }
            break;
        }
    }
    *plan = was;
    return false;
}
