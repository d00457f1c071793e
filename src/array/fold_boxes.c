/* SPDX-License-Identifier: MIT
 *
 * fold_boxes: scans whose operands lie in memory in different orders, as the sums along the middle
 * axis of x.T. In: the plan of a scan along one axis, and what it costs. Out: the same plan, or one
 * by *boxes*, where that costs less. The thing to know: a box has some scans, side by side along
 * any of the kept dimensions, and all of their elements, or a piece after the other. Its block goes
 * over each operand in the order in which that lies in memory; in shared memory all lie alike, a
 * scan after the other, and each scan has a thread.
 *
 * Dimensions of such a plan: the kept ones outside (`form.outer`), the numbers of boxes along those
 * that are cut as the last of them; those inside a box, `form.boxed` of them; the scan's.
 */
#include "array/fold_scans.h"
#include <string.h>

#define ROOM          (44 << 10) /* bytes of shared memory: five blocks to a processor */
#define MOST_ELEMENTS (1 << 14)  /* quern::part divides numbers up to twice that */
#define MOST_RUN      512        /* bytes that lie side by side, as far as they fit */
#define LEAST_RUN     16
#define ALL           64 /* elements of a scan that come at once, if they fit */
#define BLOCKS        4  /* for a processor at least */
#define LEAST_ITEM    4  /* bytes of an element; of narrower ones a copy goes by words */
#define MOST_ITEM     16

/* Instructions, as the generated code has them. Where memory takes longer, they cost nothing.
 * qn_fold_run_cost() counts in units of so many of them: */
#define UNIT         1.7
#define COPY_COST    8    /* an element of an operand, on its way in or out, and for each */
#define DIM_COST     6    /* dimension of a box */
#define ELEMENT_COST 9    /* an element: its accesses in shared memory, its value */
#define WAIT_COST    512  /* the same of a box of one scan, whose thread waits for each */
#define BLOCK_COST   9000 /* a box, whatever is in it */
#define INPUT_TORN   12   /* bytes that are read in vain at the ends of a run */
#define OUTPUT_TORN  24   /* the same of one that is written, where memory reads them first */
#define PIECE_TIME   1.3  /* times as long if a box comes in pieces, each of which waits */
#define START_COST   10   /* in units */

/* Extents of a box along the kept dimensions, then the elements of a scan that come at once. */
typedef struct scan_box {
    int64_t extent[QUERN_MAX_NDIM], scans;
} scan_box;

/* Dimensions along which an operand has several elements in a box, nearest in memory first. */
static int order_dims(int *order, const qn_fold *f, const scan_box *b, size_t k)
{
    int count = 0;
    for (int d = 0; d <= f->form.kept; d++) {
        const int64_t stride = qn_magnitude(f->stride[k][d]);
        int at = count;
        if (stride == 0 || (b && b->extent[d] == 1) || f->extent[d] == 1) {
            continue;
        }
        for (; at > 0 && qn_magnitude(f->stride[k][order[at - 1]]) > stride; at--) {
            order[at] = order[at - 1];
        }
        order[at] = d;
        count++;
    }
    return count;
}

/* ---- what fits ------------------------------------------------------------------------------ */

static size_t home_of(const qn_fold_making *m, size_t k)
{
    const bool shares = k == m->inputs && m->operands[0].item_size == m->operands[k].item_size;
    return shares ? 0 : k;
}

static int64_t room_of(const qn_fold_making *m, const scan_box *b)
{
    const int64_t piece = b->extent[m->fold->form.kept];
    int64_t bytes = 0;
    for (size_t k = 0; k < m->count; k++) {
        const uint32_t item = m->operands[k].item_size;
        const int64_t own = b->scans * qn_fold_box_pitch(piece, item) * item;
        bytes += home_of(m, k) == k ? qn_over(own, QN_ACCESS_BYTES) * QN_ACCESS_BYTES : 0;
    }
    return bytes;
}

static bool fits(const qn_fold_making *m, scan_box *b)
{
    const qn_fold *f = m->fold;
    const int64_t piece = b->extent[f->form.kept];
    int inside = 0, outside = 0;
    b->scans = 1;
    for (int d = 0; d < f->form.kept && b->scans <= MOST_ELEMENTS; d++) {
        b->scans *= b->extent[d];
        inside += b->extent[d] > 1;
        outside += b->extent[d] < f->extent[d];
    }
    return inside <= QN_FOLD_BOX_DIMS && inside + outside + 1 <= QUERN_MAX_NDIM &&
           b->scans * piece <= MOST_ELEMENTS && room_of(m, b) <= ROOM &&
           (piece == f->length || b->scans <= QN_FOLD_BLOCK);
}

static int64_t count_boxes(const qn_fold *f, const scan_box *b)
{
    int64_t boxes = 1;
    for (int d = 0; d < f->form.kept; d++) {
        boxes *= qn_over(f->extent[d], b->extent[d]);
    }
    return boxes;
}

/* True when all processors have boxes enough. */
static bool has_boxes(const qn_fold_making *m, const scan_box *b)
{
    return count_boxes(m->fold, b) >= (int64_t)m->rules->processors * BLOCKS;
}

/* ---- choosing ------------------------------------------------------------------------------- */

/* Runs of so many bytes for each operand in its own order. */
static void reach(const qn_fold_making *m, scan_box *b, int64_t bytes)
{
    const qn_fold *f = m->fold;
    for (int d = 0; d <= f->form.kept; d++) {
        b->extent[d] = 1;
    }
    for (size_t k = 0; k < m->count; k++) {
        int order[QUERN_MAX_NDIM];
        const int count = order_dims(order, f, NULL, k);
        for (int at = 0; at < count; at++) {
            const int d = order[at];
            const int64_t need = qn_over(bytes, qn_magnitude(f->stride[k][d]));
            b->extent[d] = QN_MAX(b->extent[d], QN_MIN(f->extent[d], need));
        }
    }
}

/* Let a box have twice as much along a dimension, or all; false: it does not fit, has all, or there
 * would be few boxes. */
static bool grow(const qn_fold_making *m, scan_box *b, int d, bool all)
{
    const int64_t whole = m->fold->extent[d];
    scan_box more = *b;
    more.extent[d] = all ? whole : QN_MIN(2 * b->extent[d], whole);
    if (b->extent[d] == whole || !fits(m, &more) || !has_boxes(m, &more)) {
        return false;
    }
    *b = more;
    return true;
}

/* The same along the kept dimension in which the outputs lie nearest to each other. */
static bool grow_beside(const qn_fold_making *m, scan_box *b)
{
    int order[QUERN_MAX_NDIM];
    const int count = order_dims(order, m->fold, NULL, m->inputs);
    bool grown = false;
    for (int at = 0; at < count && !grown; at++) {
        grown = order[at] < m->fold->form.kept && grow(m, b, order[at], false);
    }
    return grown;
}

/* The longest runs that fit, then scans for all threads, then what else has room. False: not even
 * two scans. */
static bool choose_box(const qn_fold_making *m, scan_box *b)
{
    const qn_fold *f = m->fold;
    const int along = f->form.kept;
    int64_t bytes = MOST_RUN;
    for (; bytes >= LEAST_RUN; bytes /= 2) {
        reach(m, b, bytes);
        if (fits(m, b)) {
            break;
        }
    }
    if (bytes < LEAST_RUN) {
        return false;
    }
    if (f->length <= ALL) {
        grow(m, b, along, true);
    }
    while (b->scans < QN_FOLD_BLOCK && grow_beside(m, b)) {
    }
    while (grow(m, b, along, false)) {
    }
    while (grow_beside(m, b)) {
    }
    for (int d = 0; d <= along; d++) {
        b->extent[d] = qn_over(f->extent[d], qn_over(f->extent[d], b->extent[d]));
    }
    return fits(m, b) && b->scans > 1;
}

/* ---- cost ----------------------------------------------------------------------------------- */

/* What reaching an operand costs for an element: as run by run, and what is torn at their ends. */
static double run_cost(const qn_fold_making *m, const scan_box *b, size_t k)
{
    const qn_fold *f = m->fold;
    const uint32_t item = m->operands[k].item_size;
    int order[QUERN_MAX_NDIM];
    const int count = order_dims(order, f, b, k);
    const int64_t step = count > 0 ? qn_magnitude(f->stride[k][order[0]]) : item;
    int64_t run = item;
    for (int at = 0; at < count; at++) {
        const int64_t stride = qn_magnitude(f->stride[k][order[at]]);
        if (at > 0 && stride > run + item) {
            break;
        }
        run = stride * b->extent[order[at]];
    }
    const double torn = k < m->inputs ? INPUT_TORN : OUTPUT_TORN;
    const uint32_t bytes = (uint32_t)QN_MIN(QN_MAX(step, item), QN_SECTOR_BYTES);
    return qn_fold_run_cost(bytes) * (1 + torn / (double)run);
}

/* On an H200, of a copy's speed, with inputs that are copied first and by boxes: float64 of
 * (26, 4099, 156, 3) with three axes reversed 0.26 and 0.85; complex128 in pairs 0.47 and 0.72;
 * products of (19, n) with one factor transposed 0.52 and 0.97; but bfloat16 0.41 and 0.29, int8
 * 0.39 and 0.19. */
static double box_cost(const qn_fold_making *m, const scan_box *b)
{
    const qn_fold *f = m->fold;
    const double elements = (double)b->scans * (double)f->length;
    const double block = BLOCK_COST / elements;
    double code = QN_MAX(ELEMENT_COST, WAIT_COST / (double)b->scans), memory = 0;
    int dims = 0;
    for (int d = 0; d <= f->form.kept; d++) {
        dims += b->extent[d] > 1;
    }
    for (size_t k = 0; k < m->count; k++) {
        code += COPY_COST + DIM_COST * dims;
        memory += run_cost(m, b, k);
    }
    memory *= b->extent[f->form.kept] < f->length ? PIECE_TIME : 1;
    return START_COST + block / UNIT + QN_MAX(code / UNIT, memory);
}

/* ---- the plan ------------------------------------------------------------------------------- */

/* The order in which operand `k` lies, of the dimensions inside and, as the last, the scan's: two
 * bits each, nearest in memory first. What does not move comes last. */
static uint8_t way_of(const qn_fold *f, size_t k)
{
    const int inside = f->form.boxed, first = f->form.outer;
    int order[QN_FOLD_BOX_DIMS + 1];
    uint8_t way = 0;
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
        way |= (uint8_t)(order[at] << 2 * at);
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

/* Split the dimensions into those outside and inside of boxes. */
static void split_dims(const qn_fold_making *m, const scan_box *b, const qn_fold *from)
{
    qn_fold *f = m->fold;
    const int kept = from->form.kept;
    int64_t *const last[QN_FOLD_BOX_DIMS] = {&f->head, &f->across, &f->run};
    int cuts = 0;
    f->form.kept = 0;
    for (int cut = 0; cut <= 1; cut++) {
        for (int d = 0; d < kept; d++) {
            if (b->extent[d] < from->extent[d] && (b->extent[d] > 1) == cut) {
                put_dim(m, from, d, qn_over(from->extent[d], b->extent[d]), b->extent[d]);
            }
        }
    }
    f->form.outer = f->form.kept;
    f->form.cuts = 0;
    for (int d = 0; d < kept; d++) {
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
    put_dim(m, from, kept, from->extent[kept], 1);
    f->form.kept--;
}

static void fill(const qn_fold_making *m, const scan_box *b)
{
    qn_fold *f = m->fold;
    const qn_fold from = *f;
    f->shared = (uint32_t)room_of(m, b);
    memset(&f->form, 0, sizeof f->form);
    f->form.scan = f->form.reduced = f->form.lanes = f->form.steps = 1;
    f->head = f->rest = f->across = f->run = f->beside = 0;
    split_dims(m, b, &from);
    memset(f->form.access, QN_ACCESS_STRIDED, m->count);
    for (size_t k = 0; k < m->count; k++) {
        f->form.way[k] = way_of(f, k);
    }
    f->form.back = home_of(m, m->inputs) == 0 ? QN_LINES_SHARED : QN_LINES_ROOM;
    f->units = b->extent[from.form.kept];
    f->form.pieces = f->units < f->length;
    f->chunk = b->scans;
    f->workers = 1;
    f->groups = count_boxes(&from, b);
    f->splits = 1;
}

/* True when two operands lie in different orders: along one of two dimensions an operand is denser
 * than along the other, and another is not. */
static bool lie_otherwise(const qn_fold_making *m)
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

/* True when all elements lie where their width asks for, and not too far apart in a box. */
static bool lies_well(const qn_fold_making *m, const scan_box *b)
{
    const qn_fold *f = m->fold;
    for (size_t k = 0; k < m->count; k++) {
        const qn_operand *o = &m->operands[k];
        const int64_t item = o->item_size;
        uint64_t off = (uint64_t)(uintptr_t)f->base[k];
        int64_t span = 0;
        for (int d = 0; d <= f->form.kept; d++) {
            const int64_t stride = qn_magnitude(f->stride[k][d]);
            off |= (uint64_t)stride;
            span += stride > INT32_MAX ? INT32_MAX : stride * b->extent[d];
        }
        if (o->loose || item < LEAST_ITEM || item > MOST_ITEM || (item & (item - 1)) != 0 ||
            off % (uint64_t)item != 0 || span > INT32_MAX / 2) {
            return false;
        }
    }
    return true;
}

void qn_fold_take_boxes(const qn_fold_making *m, uint32_t value_size)
{
    qn_fold *f = m->fold;
    const qn_fold_rules *r = m->rules;
    scan_box b;
    if (f->form.kept == 0 || f->form.reduced != 1 || f->length < 2 || f->outputs == 0 ||
        f->cost == 0 || value_size == 0 || r->positions || r->by_address || r->pack_bytes == 0 ||
        m->inputs == 0 || m->inputs == m->count || !r->repeats || !lie_otherwise(m) ||
        !choose_box(m, &b) || !lies_well(m, &b) || !has_boxes(m, &b)) {
        return;
    }
    const double cost = box_cost(m, &b);
    if (cost < f->cost) {
        fill(m, &b);
        f->cost = cost;
    }
}

void qn_fold_print_boxes(qn_text *out, const qn_fold *f)
{
    qn_text_puts(out, "by boxes of ");
    for (int d = 0; d < f->form.boxed; d++) {
        qn_text_printf(out, "%s%lld", d > 0 ? " x " : "", (long long)f->extent[f->form.outer + d]);
    }
    qn_text_puts(out, " scans");
    if (f->form.pieces) {
        qn_text_printf(out, ", in pieces of %lld", (long long)f->units);
    }
}
