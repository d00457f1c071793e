/* SPDX-License-Identifier: MIT
 *
 * Groups: the lanes of a warp that are at the same place. The group to run is the one that is
 * deepest in calls and, among those, lowest in the code; because functions are laid out in
 * loop-aware reverse post-order, this brings lanes together again where their branches meet. A
 * group that has used up its turn by jumping backwards (in a spin lock, say) makes way for the one
 * that has waited longest.
 */
#include "ptx/run/run.h"

void qn_warp_enter(qn_warp *warp, qn_frame *frame)
{
    warp->frame = frame;
    warp->base[0] = frame->registers;
    warp->base[1] = frame->pool;
}

qn_group *qn_group_add(qn_warp *warp, const qn_op *next, qn_frame *frame, uint32_t mask)
{
    qn_group *group = &warp->groups[warp->count++];
    *group = (qn_group){.next = next,
                        .frame = frame,
                        .mask = mask,
                        .stamp = warp->stamp,
                        .depth = (uint16_t)frame->depth,
                        .state = QN_READY};
    return group;
}

void qn_group_remove(qn_warp *warp, uint32_t index)
{
    warp->groups[index] = warp->groups[--warp->count];
    if (warp->current == warp->count) {
        warp->current = index;
    }
}

static bool runs_before(const qn_warp *warp, const qn_group *a, const qn_group *b)
{
    if (warp->fair && a->stamp != b->stamp) {
        return (int32_t)(a->stamp - b->stamp) < 0;
    }
    if (a->depth != b->depth) {
        return a->depth > b->depth;
    }
    return a->next < b->next;
}

bool qn_group_pick(qn_warp *warp)
{
    uint32_t best = QN_LANES;
    for (uint32_t k = 0; k < warp->count; k++) {
        if (warp->groups[k].state == QN_READY &&
            (best == QN_LANES || runs_before(warp, &warp->groups[k], &warp->groups[best]))) {
            best = k;
        }
    }
    if (best == QN_LANES) {
        return false;
    }
    warp->current = best;
    if (warp->fair) { /* this is its turn, even if a short one */
        warp->groups[best].stamp = ++warp->stamp;
        warp->fair = false;
    }
    for (uint32_t k = warp->count; k-- > 0;) {
        qn_group *chosen = &warp->groups[warp->current], *other = &warp->groups[k];
        if (other != chosen && other->state == QN_READY && other->next == chosen->next &&
            other->frame == chosen->frame) {
            chosen->mask |= other->mask;
            qn_group_remove(warp, k);
        }
    }
    qn_warp_enter(warp, warp->groups[warp->current].frame);
    return true;
}

const qn_op *qn_group_limit(const qn_warp *warp)
{
    const qn_group *chosen = &warp->groups[warp->current];
    const qn_op *limit = chosen->frame->code->ops + chosen->frame->code->count;
    for (uint32_t k = 0; k < warp->count; k++) {
        const qn_group *other = &warp->groups[k];
        if (other->state == QN_READY && other->frame == chosen->frame && other != chosen &&
            other->next >= chosen->next && other->next < limit) {
            limit = other->next;
        }
    }
    return limit;
}
