/* SPDX-License-Identifier: MIT
 *
 * fold_reach: what reaching the operands of a reduction costs. In: a planned reduction. Out: its
 * `reach`, for an element, as scans count (fold_staged.c). The thing to know: an input that lies in
 * another order than the walk is read by sectors, of which each element needs its own; only where
 * the walk is back at the sector's other elements before the cache has lost it are they shared.
 */
#include "array/fold.h"

#define BYTE_COST   4         /* as in fold_staged.c: 128 for a sector that is used, */
#define LONE_COST   400       /* and so much for one of which one element is */
#define LINE_COST   100       /* of a line of the processor's cache for each element */
#define HELD        8         /* blocks of a processor */
#define CACHE_BYTES (8 << 20) /* of what all blocks have been at, what the cache still has */

/* The dimension of the walk at place `at`, innermost first: with columns the lanes lie along a kept
 * dimension, and the reduced ones are inside the other kept ones. */
static int dim_of_walk(const qn_fold *f, int at)
{
    const int last = f->form.kept + f->form.reduced - 1;
    if (!f->form.columns) {
        return last - at;
    }
    return at == 0 ? f->form.kept - 1 : at <= f->form.reduced ? last + 1 - at : last - at;
}

/* Elements that a block walks over before it is back at the sector of one of input `k`; 0: each is
 * as far from all others. */
static int64_t walked_before(const qn_fold *f, size_t k)
{
    int64_t walked = 1, least = INT64_MAX, found = 0;
    for (int at = 0; at < f->form.kept + f->form.reduced; at++) {
        const int d = dim_of_walk(f, at);
        const int64_t stride = qn_magnitude(f->stride[k][d]);
        if (stride != 0 && stride < least && f->extent[d] > 1) {
            least = stride;
            found = walked;
        }
        walked *= at == 0 && f->form.columns ? QN_MIN(f->extent[d], QN_FOLD_BLOCK) : f->extent[d];
    }
    return least < QN_SECTOR_BYTES ? found : 0;
}

static double reach_cost(const qn_fold_making *m, size_t k)
{
    const qn_fold *f = m->fold;
    const int lane = qn_fold_lane_dim(&f->form);
    const int64_t item = m->operands[k].item_size;
    const int64_t stride = lane < 0 ? 0 : qn_magnitude(f->stride[k][lane]);
    const int64_t blocks = QN_MIN(f->groups * f->splits, (int64_t)m->rules->processors * HELD);
    const int64_t chunk = f->chunk * f->form.lanes * (f->form.split ? 1 : f->groups / blocks + 1);
    const int64_t walked = QN_MIN(walked_before(f, k), chunk);
    if (walked <= CACHE_BYTES / QN_SECTOR_BYTES / blocks) {
        const double own = BYTE_COST * (double)item;
        /* threads of a warp that lie along kept dimensions look up a line each */
        const bool apart = f->form.columns && f->workers < QN_WARP && stride >= QN_LINE_BYTES;
        return apart ? QN_MAX(own, LINE_COST) : own;
    }
    return stride < QN_SECTOR_BYTES ? BYTE_COST * (double)QN_MAX(item, stride) : LONE_COST;
}

/* The same for an output: those of neighbouring threads are written at about the same time, and few
 * wait in the cache for each other. */
static double given_cost(const qn_fold_making *m, size_t k)
{
    const qn_fold *f = m->fold;
    int64_t beside = 1;
    bool near = f->outputs <= CACHE_BYTES / QN_SECTOR_BYTES;
    for (int d = f->form.kept - 1; d >= 0 && beside < QN_SECTOR_BYTES; d--) {
        near |= f->extent[d] > 1 && qn_magnitude(f->stride[k][d]) < QN_SECTOR_BYTES;
        beside *= f->extent[d];
    }
    return near ? BYTE_COST * (double)m->operands[k].item_size : LONE_COST;
}

void qn_fold_count_reach(const qn_fold_making *m)
{
    qn_fold *f = m->fold;
    const bool near = f->form.search || f->form.whole || f->form.apart || f->form.spans ||
                      f->form.phases || f->form.joined;
    f->reach = 0;
    for (size_t k = 0; k < m->inputs; k++) {
        const bool dense = near || f->form.access[k] != QN_ACCESS_STRIDED;
        if (f->form.access[k] != QN_ACCESS_BROADCAST) {
            f->reach += dense ? BYTE_COST * (double)m->operands[k].item_size : reach_cost(m, k);
        }
    }
    for (size_t k = m->inputs; k < m->count; k++) {
        f->reach += given_cost(m, k) / (double)QN_MAX(f->length, 1);
    }
}
