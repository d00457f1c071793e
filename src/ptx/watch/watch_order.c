/* SPDX-License-Identifier: MIT
 *
 * What happened before what in a block, as vector clocks in two tiers. A warp has a time, which
 * advances whenever some of its lanes meet, and each lane knows, for each other lane, a time before
 * which all that lane did is past. A warp also has an epoch, which advances at barriers and fences,
 * and it knows such an epoch for each other warp. An access is stamped with both; it is in the past
 * of a lane that knows of a later time (same warp) or of that epoch (another warp).
 *
 * When only part of a warp takes part in a barrier, the whole warp learns what the others did:
 * races may then be missed, but no false one is reported.
 */
#include "ptx/run/run_forms.h"
#include "ptx/watch/watch.h"

#include <string.h>

enum {
    BARRIERS = QN_CLUSTER + 1, /* the block's and the cluster's */
    ROWS_OF_WARP = 3,
    ROWS_OF_BLOCK = 2 * BARRIERS + 1,
};

typedef struct warp_order {
    uint32_t time;
    uint32_t known[QN_LANES][QN_LANES]; /* lane k knows what lane j did before known[k][j] */
    uint32_t meeting[QN_LANES];         /* member mask that a lane waits with; 0: it does not */
    uint32_t *epochs;                   /* known of each warp; its own: the present one */
    uint32_t *fenced;                   /* the epochs at the last fence: what an atomic publishes */
    uint32_t *taken; /* epochs found by atomics: the next fence makes them known */
    bool has_taken;
} warp_order;

struct qn_order {
    uint32_t warps;
    uint32_t *arrived[BARRIERS];       /* epochs that have arrived at a barrier */
    uint32_t *arrived_lanes[BARRIERS]; /* of each warp */
    uint32_t *published;               /* by atomics */
    uint32_t *rows;                    /* all of the above */
    warp_order *of;
};

static size_t row_bytes(const qn_order *order)
{
    return (ROWS_OF_BLOCK + (size_t)ROWS_OF_WARP * order->warps) * order->warps * sizeof(uint32_t);
}

qn_order *qn_order_new(uint32_t warps)
{
    qn_order *order = qn_calloc(1, sizeof *order);
    if (!order) {
        return NULL;
    }
    order->warps = warps;
    order->rows = qn_alloc(row_bytes(order));
    order->of = qn_calloc(warps, sizeof *order->of);
    if (!order->rows || !order->of) {
        qn_order_free(order);
        return NULL;
    }
    uint32_t *row = order->rows;
    order->published = row;
    for (unsigned id = 0; id < BARRIERS; id++) {
        order->arrived[id] = row += warps;
        order->arrived_lanes[id] = row += warps;
    }
    for (uint32_t w = 0; w < warps; w++) {
        order->of[w].epochs = row += warps;
        order->of[w].fenced = row += warps;
        order->of[w].taken = row += warps;
    }
    return order;
}

void qn_order_free(qn_order *order)
{
    if (order) {
        qn_free(order->rows);
        qn_free(order->of);
        qn_free(order);
    }
}

void qn_order_begin(qn_order *order)
{
    memset(order->rows, 0, row_bytes(order));
    for (uint32_t w = 0; w < order->warps; w++) {
        warp_order *mine = &order->of[w];
        mine->time = 1;
        mine->has_taken = false;
        memset(mine->known, 0, sizeof mine->known);
        memset(mine->meeting, 0, sizeof mine->meeting);
        mine->epochs[w] = 1;
    }
}

static void learn(const qn_order *order, uint32_t *to, const uint32_t *from)
{
    for (uint32_t w = 0; w < order->warps; w++) {
        to[w] = QN_MAX(to[w], from[w]);
    }
}

qn_stamp qn_order_stamp(const qn_order *order, const qn_warp *warp, const qn_op *op, unsigned lane)
{
    const warp_order *mine = &order->of[warp->index];
    return (qn_stamp){.op = op,
                      .warp = warp->index,
                      .lanes = 1u << lane,
                      .time = mine->time,
                      .epoch = mine->epochs[warp->index]};
}

uint32_t qn_order_unknown(const qn_order *order, const qn_stamp *stamp, const qn_warp *warp,
                          unsigned lane)
{
    const warp_order *mine = &order->of[warp->index];
    if (!stamp->op) {
        return 0;
    }
    if (stamp->warp != warp->index) {
        return mine->epochs[stamp->warp] < stamp->epoch ? stamp->lanes : 0;
    }
    uint32_t unknown = 0;
    for (uint32_t rest = stamp->lanes & ~(1u << lane); rest; rest &= rest - 1) {
        unsigned other = qn_first_lane(rest);
        unknown |= (uint32_t)(mine->known[lane][other] <= stamp->time) << other;
    }
    return unknown;
}

/* These lanes meet, so each learns what all of them know. Exited lanes take part in every meeting:
 * all that they did is past. */
static void synchronize(qn_order *order, const qn_warp *warp, uint32_t lanes)
{
    warp_order *mine = &order->of[warp->index];
    uint32_t all[QN_LANES] = {0};
    lanes |= warp->lanes & ~warp->live;
    mine->time++;
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        const uint32_t *known = mine->known[qn_first_lane(rest)];
        for (unsigned k = 0; k < QN_LANES; k++) {
            all[k] = QN_MAX(all[k], known[k]);
        }
    }
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        all[qn_first_lane(rest)] = mine->time;
    }
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        memcpy(mine->known[qn_first_lane(rest)], all, sizeof all);
    }
}

static void arrive(qn_order *order, const qn_warp *warp, unsigned barrier, uint32_t lanes)
{
    warp_order *mine = &order->of[warp->index];
    learn(order, order->arrived[barrier], mine->epochs);
    order->arrived_lanes[barrier][warp->index] |= lanes;
    mine->epochs[warp->index]++;
}

bool qn_run_watch_arrive(qn_warp *warp, const qn_op *op, uint32_t mask)
{
    qn_order *order = warp->block->watch->order;
    if (op->flags == QN_BARRIER_CLUSTER_ARRIVE) {
        arrive(order, warp, QN_CLUSTER, mask);
    } else if (op->flags != QN_BARRIER_CLUSTER_WAIT) {
        const uint32_t id = ((const uint32_t *)qn_at(warp, op->a))[qn_first_lane(mask)];
        if (id < QN_BARRIERS) { /* else the barrier itself reports it */
            arrive(order, warp, id, mask);
        }
    }
    return true;
}

bool qn_run_watch_meet(qn_warp *warp, const qn_op *op, uint32_t mask)
{
    uint32_t *meeting = warp->block->watch->order->of[warp->index].meeting;
    const uint32_t *members = qn_at(warp, op->members);
    for (; mask; mask &= mask - 1) {
        const unsigned lane = qn_first_lane(mask);
        meeting[lane] = members[lane];
    }
    return true;
}

/* The first lanes to go on do this for all members, which are still where they met. */
bool qn_run_watch_met(qn_warp *warp, const qn_op *op, uint32_t mask)
{
    qn_order *order = warp->block->watch->order;
    uint32_t *meeting = order->of[warp->index].meeting;
    (void)op;
    for (; mask; mask &= mask - 1) {
        const uint32_t members = meeting[qn_first_lane(mask)] & warp->lanes;
        if (members) {
            synchronize(order, warp, members);
        }
        for (uint32_t rest = members; rest; rest &= rest - 1) {
            meeting[qn_first_lane(rest)] = 0;
        }
    }
    return true;
}

void qn_order_release(qn_order *order, const qn_block *block, unsigned barrier)
{
    uint32_t *arrived = order->arrived[barrier], *lanes = order->arrived_lanes[barrier];
    for (uint32_t w = 0; w < order->warps; w++) {
        if (block->warps[w].live == 0) {
            learn(order, arrived, order->of[w].epochs);
        }
    }
    for (uint32_t w = 0; w < order->warps; w++) {
        const qn_warp *warp = &block->warps[w];
        bool waits = barrier == QN_CLUSTER; /* or its wait, which comes later, will not block */
        for (uint32_t k = 0; k < warp->count; k++) {
            const qn_group *group = &warp->groups[k];
            waits |= group->state == QN_AT_BARRIER && group->barrier == barrier;
        }
        if (waits) {
            learn(order, order->of[w].epochs, arrived);
            synchronize(order, warp, lanes[w]);
        }
    }
    memset(arrived, 0, order->warps * sizeof *arrived);
    memset(lanes, 0, order->warps * sizeof *lanes);
}

void qn_order_fence(qn_order *order, const qn_warp *warp)
{
    warp_order *mine = &order->of[warp->index];
    if (mine->has_taken) {
        learn(order, mine->epochs, mine->taken);
        mine->has_taken = false;
        synchronize(order, warp, warp->lanes);
    }
    memcpy(mine->fenced, mine->epochs, order->warps * sizeof *mine->fenced);
    mine->epochs[warp->index]++;
}

void qn_order_atomic(qn_order *order, const qn_warp *warp)
{
    warp_order *mine = &order->of[warp->index];
    learn(order, order->published, mine->fenced);
    learn(order, mine->taken, order->published);
    mine->has_taken = true;
}
