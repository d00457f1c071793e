/* SPDX-License-Identifier: MIT
 *
 * plan_box_cost: what boxes cost beside the other ways to walk. In: boxes as they are chosen so
 * far. Out: bytes of memory for an element. The thing to know: whatever a way takes most of counts,
 * work and accesses as the bytes that move meanwhile: so two ways can be compared.
 */
#include "array/plan_boxing.h"

/* Fitted to 724 kernels of 224 cases on an H200, each walked as it is, by tiles and by boxes: of
 * two ways these choose one that takes 1.02 times as long as the better one, on the average. */
#define BURST      64        /* bytes that memory reads at least */
#define KEPT       3072      /* elements of the walk for which a processor's cache has sectors */
#define KEPT_BOXES 2048      /* the same where boxes are walked */
#define HELD       (8 << 20) /* bytes of the walk for which the cache of all processors has them */
#define AGAIN      1.6       /* a byte that is read again, elsewhere than what is read beside it */
#define FETCHED    0.85      /* a byte that a processor's cache is given */
#define LOOKED_UP  7.0       /* a line of its own for each element, which is looked up */
#define BESIDE     0.9       /* a byte that moves beside that */
#define WARP       32
#define BOXED      1.2  /* a byte by boxes, whose threads wait for each other twice a box */
#define WORK       2.0  /* of an element by boxes, and for each operand */
#define WORK_TILED 2.0  /* more where it goes by shared memory */
#define WORK_RUNS  4.6  /* of an element in runs, for each operand that is not repeated */
#define HIDDEN     0.05 /* of what takes less, which does not quite go on meanwhile */
#define BY_WORDS   1.1  /* a byte by boxes of words */
#define WORK_WORDS 2.5  /* of an element by these */
#define TILED      1.2  /* a byte by tiles */
#define WORK_TILES 8.0  /* of an element by tiles */
#define EMPTY      0.8  /* more of all that, by tiles that are wholly empty */

/* Elements of an operand along dimension `d` that share `bytes` of memory. */
static int64_t sharing(const qn_boxing *b, size_t k, int d, int64_t bytes)
{
    const int64_t stride = qn_magnitude(b->plan->stride[k][d]);
    const int last = b->ndim - 1;
    return d == last || b->plan->stride[k][last] == 0 || stride == 0 || stride >= bytes
               ? 1
               : QN_MIN(bytes / stride, b->plan->extent[d]);
}

/* Elements of the walk until it has come to all of `sharing` ones. By tiles dimension `across` lies
 * inside of the others; -1: none. */
static double walked(const qn_boxing *b, int d, int across, int64_t sharing)
{
    double elements = (double)sharing;
    for (int other = d + 1; other < b->ndim; other++) {
        elements *= (double)b->plan->extent[other];
    }
    if (across >= 0 && across < d) {
        elements *= (double)b->plan->extent[across];
    }
    return elements;
}

/* Walked as the others are, a sector of an operand comes from memory for each of its elements along
 * this dimension: so many of them, unless a processor still has it when the walk comes to them. */
static int64_t again(const qn_boxing *b, size_t k, int d)
{
    const int64_t together = sharing(b, k, d, QN_SECTOR_BYTES);
    return walked(b, d, -1, together) > KEPT_BOXES ? together : 1;
}

int64_t qn_boxing_fetches(const qn_boxing *b, size_t k, bool boxed)
{
    const qn_operand *o = &b->operands[k];
    int64_t times = 1;
    for (int d = 0; d < b->ndim && !o->output && !o->loose; d++) {
        const int64_t all = again(b, k, d);
        times *= boxed ? qn_over(all, b->extent[d]) : all;
    }
    return QN_MIN(times, QN_MAX(QN_SECTOR_BYTES / (int64_t)o->item_size, (int64_t)1));
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

/* Bytes of an operand for an element, with those that lie in between in the same sectors. */
static double moved(const qn_boxing *b, size_t k)
{
    const int64_t item = b->operands[k].item_size;
    int64_t nearest = INT64_MAX;
    double elements = 1;
    for (int d = 0; d < b->ndim; d++) {
        const int64_t stride = qn_magnitude(b->plan->stride[k][d]);
        elements *= stride == 0 ? (double)b->plan->extent[d] : 1;
        nearest = stride == 0 ? nearest : QN_MIN(nearest, stride);
    }
    return (double)QN_MIN(QN_MAX(nearest, item), QN_MAX(QN_SECTOR_BYTES, item)) / elements;
}

/* How often `bytes` that lie together come again to a cache for which elements of the walk are held
 * as long as less than `most` of it was walked, in elements. */
static double times(const qn_boxing *b, size_t k, int across, int64_t bytes, double most)
{
    double product = 1;
    for (int d = 0; d < b->ndim; d++) {
        const int64_t together = sharing(b, k, d, bytes);
        product *= walked(b, d, across, together) > most ? (double)together : 1;
    }
    return QN_MIN(product, QN_MAX((double)bytes / b->operands[k].item_size, 1.0));
}

/* What operands take that are reached as the walk goes, for an element. */
typedef struct reach {
    double once, more, fetched, lines;
} reach;

static void add_walked(reach *r, const qn_boxing *b, size_t k, int across)
{
    const double bytes = moved(b, k);
    double all = 0;
    for (size_t i = 0; i < b->operand_count; i++) {
        all += b->operands[i].item_size;
    }
    r->once += bytes;
    r->more += bytes * (times(b, k, across, BURST, HELD / all) - 1);
    r->fetched += bytes * times(b, k, across, QN_SECTOR_BYTES, KEPT);
    r->lines += (double)qn_boxing_lines(b, k) / WARP;
}

static double reach_cost(const reach *r)
{
    return QN_MAX(r->once + AGAIN * r->more,
                  QN_MAX(FETCHED * r->fetched, LOOKED_UP * r->lines + BESIDE * r->once));
}

double qn_boxing_walk_cost(const qn_boxing *b)
{
    reach r = {0};
    for (size_t k = 0; k < b->operand_count; k++) {
        add_walked(&r, b, k, -1);
    }
    return reach_cost(&r);
}

double qn_boxing_box_cost(const qn_boxing *b)
{
    double bytes = 0, work = WORK, elements = 1;
    size_t whole = 0;
    for (size_t k = 0; k < b->operand_count; k++) {
        bytes += moved(b, k) * (1 + AGAIN * (double)(qn_boxing_fetches(b, k, true) - 1));
        work += WORK + (b->tiled[k] ? WORK_TILED : 0);
        whole += moved(b, k) >= 1;
    }
    for (int d = 0; d < b->ndim; d++) {
        elements *= (double)b->extent[d];
    }
    work = b->runs ? WORK_RUNS * (double)whole : work * (double)b->most / elements;
    return QN_MAX(bytes * BOXED, work) + HIDDEN * QN_MIN(bytes * BOXED, work);
}

int qn_boxing_near_dims(const qn_boxing *b, size_t k, int *order)
{
    int count = 0;
    for (int d = 0; d < b->ndim; d++) {
        const int64_t stride = qn_magnitude(b->plan->stride[k][d]);
        int at = count;
        if (stride == 0 || stride >= QN_SECTOR_BYTES) {
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

double qn_boxing_words_cost(const qn_boxing *b)
{
    double bytes = 0;
    for (size_t k = 0; k < b->operand_count; k++) {
        bytes += moved(b, k);
    }
    return QN_MAX(bytes * BY_WORDS, WORK_WORDS);
}

double qn_boxing_filled(const qn_plan *plan, int ndim, int across, int64_t side)
{
    const int sides[] = {ndim - 1, across};
    double filled = 1;
    for (int s = 0; s < 2; s++) {
        const int64_t extent = plan->extent[sides[s]];
        filled *= (double)extent / (double)(qn_over(extent, side) * side);
    }
    return filled;
}

double qn_boxing_tile_cost(const qn_boxing *b, int64_t side)
{
    reach r = {0};
    int across = -1;
    for (size_t k = 0; k < b->operand_count; k++) {
        const int d = qn_plan_dense(b->plan, &b->operands[k], k, b->ndim);
        across = across < 0 ? d : across;
        if (d >= 0 && d == across) {
            r.once += moved(b, k);
        } else {
            add_walked(&r, b, k, across);
        }
    }
    const double whole = QN_MAX(r.once * TILED, QN_MAX(WORK_TILES, reach_cost(&r)));
    return whole * (1 + EMPTY * (1 - qn_boxing_filled(b->plan, b->ndim, QN_MAX(across, 0), side)));
}
