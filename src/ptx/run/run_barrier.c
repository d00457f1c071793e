/* SPDX-License-Identifier: MIT
 *
 * Barriers of a block: bar.sync, barrier.sync, bar.arrive and bar.red. Lanes are counted one by
 * one, so that a barrier may be reached by parts of a warp and from different places; lanes that
 * have exited are no longer waited for. When a barrier is complete its groups become ready.
 */
#include "ptx/run/run_forms.h"
#include "ptx/watch/watch.h"

/* The lanes of a warp that wait at a barrier. */
static uint32_t waiting_at(const qn_warp *warp, unsigned id)
{
    uint32_t mask = 0;
    for (uint32_t k = 0; k < warp->count; k++) {
        const qn_group *group = &warp->groups[k];
        mask |= group->state == QN_AT_BARRIER && group->barrier == id ? group->mask : 0;
    }
    return mask;
}

/* A barrier's count is in whole warps: if all live lanes of a warp wait, its other lanes count
 * too. */
static uint32_t absent_lanes(const qn_block *block, unsigned id)
{
    uint32_t count = 0;
    for (uint32_t w = 0; w < block->warp_count; w++) {
        const qn_warp *warp = &block->warps[w];
        if (warp->live && waiting_at(warp, id) == warp->live) {
            count += QN_LANES - (uint32_t)__builtin_popcount(warp->live);
        }
    }
    return count;
}

static bool is_complete(const qn_block *block, unsigned id)
{
    const qn_barrier *barrier = &block->barriers[id];
    if (barrier->arrived == 0) {
        return false;
    }
    if (barrier->expected == 0) {
        return barrier->arrived >= block->live;
    }
    return barrier->arrived >= barrier->expected ||
           barrier->arrived + absent_lanes(block, id) >= barrier->expected;
}

static void write_result(const qn_group *group, const qn_op *op, const qn_barrier *barrier)
{
    unsigned char *d = group->frame->registers + op->d;
    if (op->flags == QN_BARRIER_POPC) {
        for (uint32_t rest = group->mask; rest; rest &= rest - 1) {
            ((uint32_t *)d)[qn_first_lane(rest)] = barrier->trues;
        }
    } else {
        bool value =
            op->flags == QN_BARRIER_AND ? barrier->trues == barrier->arrived : barrier->trues > 0;
        uint32_t *bits = (uint32_t *)d;
        *bits = (*bits & ~group->mask) | (value ? group->mask : 0);
    }
}

static void release(qn_block *block, unsigned id)
{
    qn_watch_release(block, id);
    if (block->meetings && !qn_check_barrier(block, id)) {
        return;
    }
    for (uint32_t w = 0; w < block->warp_count; w++) {
        qn_warp *warp = &block->warps[w];
        for (uint32_t k = 0; k < warp->count; k++) {
            qn_group *group = &warp->groups[k];
            if (group->state == QN_AT_BARRIER && group->barrier == id) {
                const qn_op *op = group->next - 1;
                if (op->flags >= QN_BARRIER_POPC) {
                    write_result(group, op, &block->barriers[id]);
                }
                group->state = QN_READY;
            }
        }
    }
    block->barriers[id] = (qn_barrier){0};
}

/* ---- the cluster's barrier: arriving and waiting are two steps ------------------------------ */

static void release_cluster(qn_block *block)
{
    for (uint32_t w = 0; w < block->warp_count; w++) {
        if (block->warps[w].live & ~block->warps[w].cluster_arrived) {
            return;
        }
    }
    qn_watch_release(block, QN_CLUSTER);
    for (uint32_t w = 0; w < block->warp_count; w++) {
        qn_warp *warp = &block->warps[w];
        warp->cluster_arrived = 0;
        for (uint32_t k = 0; k < warp->count; k++) {
            qn_group *group = &warp->groups[k];
            if (group->state == QN_AT_BARRIER && group->barrier == QN_CLUSTER) {
                group->state = QN_READY;
            }
        }
    }
}

/* Lanes whose arrival is no longer noted need not wait: the barrier has completed since. */
static bool run_cluster(qn_warp *warp, const qn_op *op, uint32_t mask)
{
    if (op->flags == QN_BARRIER_CLUSTER_ARRIVE) {
        const uint32_t twice = warp->cluster_arrived & mask;
        if (twice) {
            return qn_fault(warp, op, qn_first_lane(twice), QUERN_ERROR_LAUNCH,
                            "this thread arrives twice at the cluster's barrier without a wait");
        }
        warp->cluster_arrived |= mask;
        release_cluster(warp->block);
        return true;
    }
    const uint32_t waiting = warp->cluster_arrived & mask;
    qn_group *group = &warp->groups[warp->current];
    if (waiting && waiting != mask) {
        group->mask &= ~waiting;
        group = qn_group_add(warp, group->next, group->frame, waiting);
    }
    if (waiting) {
        group->state = QN_AT_BARRIER;
        group->barrier = QN_CLUSTER;
    }
    return true;
}

/* ---- barriers of the block ------------------------------------------------------------------ */

bool qn_run_barrier(qn_warp *warp, const qn_op *op, uint32_t mask)
{
    qn_block *block = warp->block;
    unsigned lane = qn_first_lane(mask);
    if (op->flags >= QN_BARRIER_CLUSTER_ARRIVE) {
        return run_cluster(warp, op, mask);
    }
    uint32_t id = ((const uint32_t *)qn_at(warp, op->a))[lane];
    if (id >= QN_BARRIERS) {
        return qn_fault(warp, op, lane, QUERN_ERROR_LAUNCH,
                        "there is no barrier %u: a block has %d", id, QN_BARRIERS);
    }
    qn_barrier *barrier = &block->barriers[id];
    uint32_t arriving = (uint32_t)__builtin_popcount(mask);
    if (op->b != QN_NO_PLACE) {
        barrier->expected = ((const uint32_t *)qn_at(warp, op->b))[lane];
        if (barrier->expected == 0 || barrier->expected % QN_LANES != 0) {
            return qn_fault(warp, op, lane, QUERN_ERROR_LAUNCH,
                            "barrier for %u threads; it must be a multiple of 32",
                            barrier->expected);
        }
        if (op->flags == QN_BARRIER_ARRIVE && mask == warp->live) {
            arriving = QN_LANES;
        }
    }
    barrier->arrived += arriving;
    if (op->flags >= QN_BARRIER_POPC) {
        uint32_t truth = *(const uint32_t *)qn_at(warp, op->c) & mask;
        barrier->trues += (uint32_t)__builtin_popcount(truth);
    }
    if (op->flags != QN_BARRIER_ARRIVE) {
        qn_group *group = &warp->groups[warp->current];
        group->state = QN_AT_BARRIER;
        group->barrier = (uint8_t)id;
    }
    if (is_complete(block, id)) {
        release(block, id);
    }
    return true;
}

void qn_barrier_recheck(qn_block *block)
{
    for (unsigned id = 0; id < QN_BARRIERS; id++) {
        if (is_complete(block, id) && block->live > 0) {
            release(block, id);
        }
    }
    release_cluster(block);
}
