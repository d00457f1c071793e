/* SPDX-License-Identifier: MIT
 *
 * fold_boxes: scans whose operands lie in memory in different orders, as the sums along the middle
 * axis of x.T. In: the plan of a scan along one axis, and what it costs. Out: the same plan, or one
 * by *boxes*, where that costs less. The thing to know: a box has some scans, side by side along
 * any of the kept dimensions, and all of their elements, or a piece after the other. Its block goes
 * over each operand in the order in which that lies in memory: by runs, which wait in shared memory
 * as they lie (fold_image.c), or by elements, which wait a scan after the other. Then each scan has
 * a thread, or several of which each has a strip of it.
 *
 * Dimensions of such a plan: the kept ones outside (`form.outer`), the numbers of boxes along those
 * that are cut as the last of them; those inside a box, `form.boxed` of them; the scan's.
 */
#include "array/fold_boxing.h"

#include <string.h>

#define MOST_ELEMENTS (1 << 14) /* quern::part divides numbers up to twice that */
#define BLOCKS        4         /* for a processor at least; with more, each has several boxes: */
#define MOST_BLOCKS   40
#define FEW           3  /* operands; and */
#define SOME_BOXES    8  /* of a block, up to which each thread finds them itself */
#define TILES         3  /* pieces with blocks of their own, for a processor at least */
#define MOST_VALUE    16 /* bytes that such blocks leave for each other */
#define SHORTER       8  /* strips of theirs to choose from */
#define MOST_ITEM     16 /* bytes */
#define NARROW        4  /* bytes */
#define NARROW_ROW    64 /* bytes of a row; such ones take so many times what they cost: */
#define NARROW_MORE   4
#define SMALL_TILE    18432 /* bytes; such a one costs so many instructions of a thread more: */
#define TILE_COST     80000

/* ---- choosing ------------------------------------------------------------------------------- */

/* Of maps pieces are boxes, too. */
static int64_t count_boxes(const qn_fold_making *m, const qn_scan_box *b)
{
    const qn_fold *f = m->fold;
    int64_t boxes = 1;
    for (int d = 0; d < f->form.kept + m->rules->map; d++) {
        boxes *= qn_over(f->extent[d], b->extent[d]);
    }
    return boxes;
}

/* False where an operand goes by elements, and their numbers would be too large to divide. */
static bool may_count(const qn_fold_making *m, const qn_scan_box *b)
{
    bool by_runs = true;
    for (size_t k = 0; k < m->count; k++) {
        by_runs &= b->runs[k] > 0 || b->image[k].count == 0;
    }
    return by_runs || b->scans * b->extent[m->fold->form.kept] <= MOST_ELEMENTS;
}

/* Where boxes are few, pieces have blocks of their own. False: there are too few of these, too, or
 * not all boxes are whole. */
static bool split(const qn_fold_making *m, qn_scan_box *b)
{
    const qn_fold *f = m->fold;
    const int64_t pieces = qn_over(f->length, b->extent[f->form.kept]);
    bool whole = !m->rules->map && m->rules->in_turns && m->rules->shared >= QN_FOLD_ROOM &&
                 pieces > 1 && b->value_size <= MOST_VALUE;
    for (int d = 0; d < f->form.kept; d++) {
        whole &= f->extent[d] % b->extent[d] == 0;
    }
    b->split = true;
    return whole && count_boxes(m, b) * pieces >= (int64_t)m->rules->processors * TILES;
}

/* True when elements of a box lie so near to each other that 32 bits count it. */
static bool is_near(const qn_fold_making *m, const qn_scan_box *b)
{
    const qn_fold *f = m->fold;
    bool near = true;
    for (size_t k = 0; k < m->count; k++) {
        double span = 0;
        for (int d = 0; d <= f->form.kept; d++) {
            span += (double)qn_magnitude(f->stride[k][d]) * (double)(b->extent[d] - 1);
        }
        near &= span <= INT32_MAX / 2;
    }
    return near;
}

/* Share out the positions of each dimension, and settle the rest. False: there is no such box. */
static bool finish(const qn_fold_making *m, qn_scan_box *b)
{
    const qn_fold *f = m->fold;
    int inside = 0, outside = 0, cut = 0;
    b->split = false;
    b->scans = 1;
    for (int d = 0; d <= f->form.kept; d++) {
        const int64_t all = f->extent[d];
        b->extent[d] = qn_over(all, qn_over(all, QN_MIN(b->extent[d], all)));
        if (d < f->form.kept) {
            b->scans *= b->extent[d];
            inside += b->extent[d] > 1;
            outside += b->extent[d] < all;
            cut += b->extent[d] > 1 && b->extent[d] < all;
        }
        if (b->scans > MOST_ELEMENTS) {
            return false;
        }
    }
    if (inside > QN_FOLD_BOX_DIMS || cut > QN_FOLD_BOX_CUTS ||
        inside + outside + 1 > QUERN_MAX_NDIM || b->scans < 2 ||
        (!m->rules->map && b->extent[f->form.kept] < f->length && b->scans > QN_FOLD_BLOCK) ||
        (count_boxes(m, b) < (int64_t)m->rules->processors * BLOCKS && !split(m, b)) ||
        !is_near(m, b)) {
        return false;
    }
    qn_box_lay(m, b);
    qn_box_settle(m, b);
    return may_count(m, b) && qn_box_fits(m, b);
}

/* Runs of so many bytes for each operand in its own order; a box of them may not fit. */
static void reach(const qn_fold_making *m, qn_scan_box *b, int64_t bytes)
{
    const qn_fold *f = m->fold;
    for (int d = 0; d <= f->form.kept; d++) {
        b->extent[d] = 1;
        for (size_t k = 0; k < m->count; k++) {
            const int64_t stride = qn_magnitude(f->stride[k][d]);
            const int64_t need = stride > 0 ? qn_over(bytes, stride) : 1;
            b->extent[d] = QN_MAX(b->extent[d], QN_MIN(f->extent[d], need));
        }
    }
}

static void keep_better(const qn_fold_making *m, const qn_scan_box *b, qn_box_choice *best)
{
    const double cost = qn_box_cost(m, b) + qn_box_banks_cost(m, b);
    if (best->cost == 0 || cost < best->cost) {
        *best = (qn_box_choice){*b, cost};
    }
}

/* `cost`: of the box wherever scans meet. Where pieces have blocks of their own, somewhat shorter
 * ones may have the strips of their threads in other banks. */
static void compare(const qn_fold_making *m, qn_scan_box b, double cost, qn_box_choice *best)
{
    if (best->cost != 0 && cost >= best->cost) {
        return;
    }
    qn_box_part_banks(m, &b);
    keep_better(m, &b, best);
    int64_t *const piece = &b.extent[m->fold->form.kept];
    const int64_t strip = *piece / b.threads;
    for (int64_t n = 0; b.split && n < QN_MIN(SHORTER, strip / 4); n++) {
        *piece = (strip - n) * b.threads;
        qn_box_lay(m, &b);
        keep_better(m, &b, best);
    }
}

/* Let the box have twice as much along that dimension of which it costs least, as long as it fits.
 */
static void grow(const qn_fold_making *m, qn_scan_box b, qn_box_choice *best)
{
    const qn_fold *f = m->fold;
    for (int grown = 0; grown >= 0;) {
        double least = 0;
        grown = -1;
        for (int d = 0; d <= f->form.kept; d++) {
            qn_scan_box more = b;
            more.extent[d] *= 2;
            if (b.extent[d] >= f->extent[d] || !finish(m, &more)) {
                continue;
            }
            const double cost = qn_box_cost(m, &more);
            if (grown < 0 || cost < least) {
                least = cost;
                grown = d;
            }
            compare(m, more, cost, best);
        }
        if (grown >= 0) {
            b.extent[grown] *= 2;
        }
    }
}

/* The best of those that grow from runs of different lengths, or from the first that has any. */
qn_box_choice qn_box_choose(const qn_fold_making *m, uint32_t value_size, qn_fold_image *image,
                            bool once)
{
    static const int64_t all[] = {1, 8, 64, 512}, likely[] = {64, 8, 1, 512}; /* bytes of runs */
    const int64_t *const runs = once ? likely : all;
    qn_box_choice best = {.cost = 0};
    for (size_t n = 0; n < QN_COUNT(all) && !(once && best.cost != 0); n++) {
        qn_scan_box b = {.value_size = value_size, .image = image};
        reach(m, &b, runs[n]);
        grow(m, b, &best);
    }
    return best;
}

/* ---- the plan ------------------------------------------------------------------------------- */

/* The order in which operand `k` lies, of the dimensions inside and, as the last, the scan's: three
 * bits each, nearest in memory first. What does not move comes last. */
static uint32_t way_of(const qn_fold *f, size_t k)
{
    const int inside = f->form.boxed, first = f->form.outer;
    int order[QN_FOLD_BOX_DIMS + 1];
    uint32_t way = 0;
    for (int d = 0; d <= inside; d++) {
        const int64_t own = f->stride[k][first + d];
        int at = d;
        for (; at > 0 && own != 0; at--) {
            const int64_t other = f->stride[k][first + order[at - 1]];
            if (other != 0 && qn_magnitude(other) <= qn_magnitude(own)) {
                break;
            }
            order[at] = order[at - 1];
        }
        order[at] = d;
    }
    for (int at = 0; at <= inside; at++) {
        way |= (uint32_t)order[at] << 3 * at;
    }
    return way;
}

/* Dimension `d` of the plan `from`, in steps of `step` positions, as the next one. */
static void put_dim(const qn_fold_making *m, const qn_fold *from, int d, int64_t extent,
                    int64_t step)
{
    qn_fold *f = m->fold;
    const int to = f->form.kept++;
    f->extent[to] = extent;
    for (size_t k = 0; k < m->count; k++) {
        f->stride[k][to] = from->stride[k][d] * step;
    }
}

/* Split the dimensions into those outside and inside of boxes; the kept ones in that order. */
static void split_dims(const qn_fold_making *m, const qn_scan_box *b, const qn_fold *from,
                       const int *order)
{
    qn_fold *f = m->fold;
    const int kept = from->form.kept;
    int64_t *const last[QN_FOLD_BOX_CUTS] = {&f->head, &f->across, &f->run};
    int cuts = 0;
    f->form.kept = 0;
    for (int cut = 0; cut <= 1; cut++) {
        for (int at = 0; at < kept; at++) {
            const int d = order[at];
            if (b->extent[d] < from->extent[d] && (b->extent[d] > 1) == cut) {
                put_dim(m, from, d, qn_over(from->extent[d], b->extent[d]), b->extent[d]);
            }
        }
    }
    const int64_t pieces = qn_over(from->extent[kept], b->extent[kept]);
    const bool cut_last = m->rules->map && pieces > 1;
    if (cut_last) {
        put_dim(m, from, kept, pieces, b->extent[kept]);
    }
    f->form.outer = f->form.kept;
    f->form.cuts = 0;
    for (int at = 0; at < kept; at++) {
        const int d = order[at];
        if (b->extent[d] > 1) {
            if (b->extent[d] < from->extent[d]) {
                const int64_t boxes = qn_over(from->extent[d], b->extent[d]);
                *last[cuts++] = from->extent[d] - (boxes - 1) * b->extent[d];
                f->form.cuts |= (uint8_t)(1 << (f->form.kept - f->form.outer));
            }
            put_dim(m, from, d, b->extent[d], 1);
        }
    }
    f->form.boxed = f->form.kept - f->form.outer;
    f->form.cuts |= (uint8_t)(cut_last << f->form.boxed);
    put_dim(m, from, kept, from->extent[kept], 1);
    f->form.kept--;
}

void qn_box_fill(const qn_fold_making *m, const qn_scan_box *b)
{
    qn_fold *f = m->fold;
    const qn_fold from = *f;
    const int64_t boxes = count_boxes(m, b);
    const bool shared = qn_box_home(m, b, m->inputs) == 0;
    int moves[QUERN_MAX_PARAMETERS] = {0}, order[QUERN_MAX_NDIM];
    qn_box_near_last(order, m);
    for (size_t k = 0; k < m->count; k++) {
        moves[k] = b->image[k].count;
    }
    f->shared = (uint32_t)qn_box_room(m, b);
    memset(&f->form, 0, sizeof f->form);
    f->form.scan = f->form.reduced = f->form.lanes = f->form.steps = 1;
    f->head = f->rest = f->across = f->run = 0;
    split_dims(m, b, &from, order);
    for (size_t k = 0; k < m->count; k++) {
        f->form.access[k] = (uint8_t)(b->runs[k] > 0  ? QN_ACCESS_TILED
                                      : moves[k] == 0 ? QN_ACCESS_BROADCAST
                                                      : QN_ACCESS_STRIDED);
        f->form.way[k] = way_of(f, k) | (uint32_t)b->runs[k] << 18 | (uint32_t)moves[k] << 21;
    }
    f->form.back = shared ? QN_LINES_SHARED : QN_LINES_ROOM;
    f->units = b->extent[from.form.kept];
    f->form.pieces = !m->rules->map && f->units < f->length;
    f->chunk = b->scans;
    f->workers = (uint32_t)b->threads;
    f->beside = boxes;
    f->groups = QN_MIN(f->beside, (int64_t)m->rules->processors * MOST_BLOCKS);
    f->form.again = b->threads > 1 && !b->split;
    const int64_t pieces = f->form.pieces ? qn_over(f->length, f->units) : 1;
    f->form.finds = !b->split && (m->count > FEW || pieces * f->beside >= f->groups * SOME_BOXES);
    const bool known = f->units == f->length && f->length <= QN_BOX_KNOWN && !f->form.again;
    f->form.known = known ? (uint8_t)f->length : 0;
    f->splits = 1;
    if (b->split) {
        f->workers = (uint32_t)b->scans;
        f->groups = f->beside;
        f->splits = qn_over(f->length, f->units);
        f->form.block = f->form.split = 1;
        qn_fold_choose_bunches(f);
    }
}

/* True when two operands lie in different orders: along one of two dimensions an operand is denser
 * than along the other, and another is not. */
bool qn_box_lie_otherwise(const qn_fold_making *m)
{
    const qn_fold *f = m->fold;
    bool otherwise = false;
    for (int d = 1; d <= f->form.kept; d++) {
        for (int e = 0; e < d; e++) {
            bool less = false, more = false;
            for (size_t k = 0; k < m->count; k++) {
                const int64_t a = qn_magnitude(f->stride[k][d]);
                const int64_t b = qn_magnitude(f->stride[k][e]);
                less |= a != 0 && b != 0 && a < b;
                more |= a != 0 && b != 0 && a > b;
            }
            otherwise |= less && more && f->extent[d] > 1 && f->extent[e] > 1;
        }
    }
    return otherwise;
}

/* Bytes of operand `k` that lie on side by side for each position. */
static int64_t bytes_beside(const qn_fold_making *m, size_t k)
{
    const qn_fold *f = m->fold;
    int64_t run = m->operands[k].item_size;
    for (int d = f->form.kept - 1; d >= 0; d--) {
        run *= qn_magnitude(f->stride[k][d]) == run ? f->extent[d] : 1;
    }
    return run;
}

/* True where strips, or threads down columns, have rows of few bytes in all operands: a warp's
 * elements are in as many sectors as it has strips. On an H200 boxes have 0.85 to 6.8 times the
 * speed for 2 to 7 columns of 1 to 8 bytes with gaps, 1.8 in the median of 64. */
static bool has_narrow_rows(const qn_fold_making *m)
{
    const qn_fold_form *f = &m->fold->form;
    bool narrow = (f->strips && !f->lines && !f->parts) || (f->descends && !f->swath);
    for (size_t k = 0; k < m->count && narrow; k++) {
        narrow = bytes_beside(m, k) < NARROW_ROW;
    }
    return narrow;
}

/* Elements of a tile of packed rows that has few bytes, as where an operand has gaps between short
 * pieces, or 0: blocks wait longer for memory than such a tile has work. */
static int64_t small_tile(const qn_fold_making *m)
{
    const qn_fold *f = m->fold;
    int64_t bytes = 0;
    for (size_t k = 0; k < m->count; k++) {
        bytes += m->operands[k].item_size;
    }
    const int64_t elements = QN_MIN(f->chunk, f->across) * f->units;
    return f->form.packed && elements * bytes < SMALL_TILE ? elements : 0;
}

/* True where a thread goes down columns, and reads or writes less than a word for each position. */
static bool goes_down_narrow(const qn_fold_making *m)
{
    const qn_fold *f = m->fold;
    uint32_t least = NARROW;
    for (size_t k = 0; k < m->count; k++) {
        least = QN_MIN(least, m->operands[k].item_size * f->form.lanes);
    }
    return f->form.descends && !f->form.swath && least < NARROW;
}

/* True where a box may do better than what is planned although operands lie alike. */
static bool may_outdo(const qn_fold_making *m)
{
    return m->fold->form.staged || goes_down_narrow(m) || has_narrow_rows(m) || small_tile(m) > 0;
}

/* True where one does. On an H200, of a copy's speed, staged and by boxes: bfloat16 by int8 along
 * rows of 127 0.50 and 0.80, pairs of uint8 along (283572, 3, 31, 2) with gaps 0.15 and 0.43; down
 * columns, 2 uint8 into int32 0.64 and 0.81; in strips, 5 columns of int8 backwards 0.10 and 0.48,
 * 3 of float16 into rows of 5 0.16 and 0.42; packed, tiles of 1359 bfloat16 0.36 and 0.74. But
 * staged, rows of 4 int16 with gaps 0.58 and 0.50. */
static bool outdoes(const qn_fold_making *m, const qn_scan_box *b)
{
    const qn_fold *f = m->fold;
    bool by_runs = true;
    for (size_t k = m->inputs; k < m->count; k++) {
        by_runs &= b->runs[k] > 0;
    }
    return f->form.staged ? f->form.kept > 1 || by_runs : may_outdo(m);
}

/* True when all elements lie where their width asks for. */
bool qn_box_may_lie(const qn_fold_making *m)
{
    const qn_fold *f = m->fold;
    for (size_t k = 0; k < m->count; k++) {
        const qn_operand *o = &m->operands[k];
        const int64_t item = o->item_size;
        uint64_t off = (uint64_t)(uintptr_t)f->base[k];
        for (int d = 0; d <= f->form.kept; d++) {
            off |= (uint64_t)qn_magnitude(f->stride[k][d]);
        }
        if (o->loose || item > MOST_ITEM || (item & (item - 1)) != 0 || off % (uint64_t)item != 0) {
            return false;
        }
    }
    return true;
}

void qn_fold_take_boxes(const qn_fold_making *m, uint32_t value_size)
{
    qn_fold *f = m->fold;
    const qn_fold_rules *r = m->rules;
    if (f->form.kept == 0 || f->form.reduced != 1 || f->length < 2 || f->outputs == 0 ||
        f->cost == 0 || value_size == 0 || r->positions || r->by_address || r->pack_bytes == 0 ||
        m->inputs == 0 || m->inputs == m->count || !r->repeats) {
        return;
    }
    const bool otherwise = qn_box_lie_otherwise(m);
    if ((!otherwise && (r->shared < QN_FOLD_ROOM || !may_outdo(m))) || !qn_box_may_lie(m)) {
        return;
    }
    const int64_t tile = small_tile(m);
    f->cost *= has_narrow_rows(m) ? NARROW_MORE : 1;
    f->cost += tile > 0 ? TILE_COST / (double)tile : 0;
    qn_fold_image image[QUERN_MAX_PARAMETERS];
    const qn_box_choice best = qn_box_choose(m, value_size, image, false);
    if (best.cost != 0 && best.cost < f->cost && (otherwise || outdoes(m, &best.box))) {
        qn_box_lay(m, &best.box);
        qn_box_fill(m, &best.box);
        f->cost = best.cost;
    }
}

void qn_fold_print_boxes(qn_text *out, const qn_fold *f)
{
    qn_text_puts(out, "by boxes of ");
    for (int d = 0; d < f->form.boxed; d++) {
        qn_text_printf(out, "%s%lld", d > 0 ? " x " : "", (long long)f->extent[f->form.outer + d]);
    }
    qn_text_puts(out, " scans");
    if (f->form.again) {
        qn_text_printf(out, ", %u threads a scan", f->workers);
    }
    if (f->form.pieces) {
        qn_text_printf(out, ", in pieces of %lld", (long long)f->units);
    }
}
