/* SPDX-License-Identifier: MIT
 *
 * Operations among the lanes of a warp that name their members: shfl, vote, match, redux, elect and
 * bar.warp.sync. Lanes bring their value to warp->exchange; when all live members have come, to the
 * same place or to several, each group computes its result. Until then it waits, and others run.
 * In: a group that reached such an operation; out: its results, or a group that waits.
 */
#include "ptx/watch/watch.h"

#include "ptx/lanes/exchange_lanes.h"
#include "ptx/lanes/levels.h"

#include <string.h>

QN_LEVELS(qn_exchange_lanes, qn_exchange_lanes);

const qn_exchange_lanes *qn_exchange_lanes_level(int level)
{
    return levels[level];
}

static void *frame_at(const qn_frame *frame, qn_place place)
{
    return place & QN_IN_POOL ? frame->pool + (place & ~QN_IN_POOL) : frame->registers + place;
}

/* Put the value of each lane where the other members find it. */
static void contribute(qn_warp *warp, const qn_op *op, uint32_t mask)
{
    if (op->a == QN_NO_PLACE) {
        return;
    }
    const void *a = qn_at(warp, op->a);
    if (op->bits == 32 && mask == QN_ALL_LANES) {
        for (unsigned lane = 0; lane < QN_LANES; lane++) {
            warp->exchange[lane] = ((const uint32_t *)a)[lane];
        }
        return;
    }
    for (; mask; mask &= mask - 1) {
        unsigned lane = qn_first_lane(mask);
        if (op->bits == 1) {
            warp->exchange[lane] = *(const uint32_t *)a >> lane & 1;
        } else if (op->bits == 32) {
            warp->exchange[lane] = ((const uint32_t *)a)[lane];
        } else {
            warp->exchange[lane] = ((const uint64_t *)a)[lane];
        }
    }
}

static void set_u32(const qn_frame *frame, qn_place place, uint32_t mask, uint32_t value)
{
    uint32_t *d = frame_at(frame, place);
    for (; mask; mask &= mask - 1) {
        d[qn_first_lane(mask)] = value;
    }
}

static void set_bits(const qn_frame *frame, qn_place place, uint32_t mask, uint32_t bits)
{
    uint32_t *d = frame_at(frame, place);
    *d = (*d & ~mask) | (bits & mask);
}

/* Fill from[lane] for the lanes of `mask`; returns those whose source is inside. */
static inline uint32_t find_sources(uint8_t from[QN_LANES], uint32_t form, const uint32_t *b,
                                    const uint32_t *c, uint32_t mask, uint32_t members)
{
    uint32_t valid = 0;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        unsigned lane = qn_first_lane(rest), source;
        valid |= (uint32_t)qn_shuffle_source(&source, form, lane, b[lane], c[lane]) << lane;
        /* a source that takes no part leaves the lane its own value */
        from[lane] = (uint8_t)(members >> source & 1 ? source : lane);
    }
    return valid;
}

static void shuffle(qn_warp *warp, const qn_frame *frame, const qn_op *op, uint32_t mask,
                    uint32_t members)
{
    const uint32_t *b = frame_at(frame, op->b), *c = frame_at(frame, op->c);
    uint8_t from[QN_LANES];
    const uint32_t valid = find_sources(from, op->flags, b, c, mask, members);
    if (frame->undefined) {
        qn_shadow_shuffled(warp, frame, op, mask, from);
    }
    if (op->d != QN_NO_PLACE) {
        uint32_t *d = frame_at(frame, op->d);
        for (uint32_t rest = mask; rest; rest &= rest - 1) {
            const unsigned lane = qn_first_lane(rest);
            d[lane] = (uint32_t)warp->exchange[from[lane]];
        }
    }
    if (op->target != QN_NO_PLACE) {
        set_bits(frame, op->target, mask, valid);
    }
}

/* What a vote gives the lanes of `mask`, where those of `ballot` among `members` say yes. */
static void vote(const qn_frame *frame, const qn_op *op, uint32_t mask, uint32_t members,
                 uint32_t ballot)
{
    const bool all = ballot == members, any = ballot != 0;
    switch (op->flags) {
    case QN_SYNC_VOTE_BALLOT:
        set_u32(frame, op->d, mask, ballot);
        break;
    case QN_SYNC_VOTE_ALL:
        set_bits(frame, op->d, mask, all ? mask : 0);
        break;
    case QN_SYNC_VOTE_ANY:
        set_bits(frame, op->d, mask, any ? mask : 0);
        break;
    default:
        set_bits(frame, op->d, mask, all || !any ? mask : 0);
        break;
    }
}

static uint32_t ballot_of(const qn_warp *warp, uint32_t members)
{
    uint32_t ballot = 0;
    for (uint32_t rest = members; rest; rest &= rest - 1) {
        unsigned lane = qn_first_lane(rest);
        ballot |= (uint32_t)warp->exchange[lane] << lane;
    }
    return ballot;
}

static void match(qn_warp *warp, const qn_frame *frame, const qn_op *op, uint32_t mask,
                  uint32_t members)
{
    uint32_t *d = op->d == QN_NO_PLACE ? NULL : frame_at(frame, op->d);
    uint32_t all = 0;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        unsigned lane = qn_first_lane(rest);
        uint32_t same = 0;
        for (uint32_t others = members; others; others &= others - 1) {
            unsigned other = qn_first_lane(others);
            same |= (uint32_t)(warp->exchange[other] == warp->exchange[lane]) << other;
        }
        all |= (uint32_t)(same == members) << lane;
        if (d) {
            d[lane] = op->flags == QN_SYNC_MATCH_ANY || same == members ? same : 0;
        }
    }
    if (op->target != QN_NO_PLACE) {
        set_bits(frame, op->target, mask, all);
    }
}

static uint32_t combine(uint32_t form, uint32_t x, uint32_t y)
{
    switch (form) {
    case QN_SYNC_REDUX_ADD:
        return x + y;
    case QN_SYNC_REDUX_MIN:
        return (int32_t)x < (int32_t)y ? x : y;
    case QN_SYNC_REDUX_MAX:
        return (int32_t)x > (int32_t)y ? x : y;
    case QN_SYNC_REDUX_UMIN:
        return x < y ? x : y;
    case QN_SYNC_REDUX_UMAX:
        return x > y ? x : y;
    case QN_SYNC_REDUX_AND:
        return x & y;
    case QN_SYNC_REDUX_OR:
        return x | y;
    default:
        return x ^ y;
    }
}

static void redux(qn_warp *warp, const qn_frame *frame, const qn_op *op, uint32_t mask,
                  uint32_t members)
{
    uint32_t result = (uint32_t)warp->exchange[qn_first_lane(members)];
    for (uint32_t rest = members & (members - 1); rest; rest &= rest - 1) {
        result = combine(op->flags, result, (uint32_t)warp->exchange[qn_first_lane(rest)]);
    }
    set_u32(frame, op->d, mask, result);
}

/* All live members are here: compute the result for the lanes of `mask`. */
static void finish(qn_warp *warp, const qn_frame *frame, const qn_op *op, uint32_t mask,
                   uint32_t named, uint32_t members)
{
    if (warp->block->meetings && !qn_check_met(warp, frame, op, mask, named, members)) {
        return;
    }
    if (frame->undefined) {
        qn_shadow_met(warp, frame, op, mask, members);
    }
    switch (op->flags) {
    case QN_SYNC_BARRIER:
        break;
    case QN_SYNC_SHFL_UP:
    case QN_SYNC_SHFL_DOWN:
    case QN_SYNC_SHFL_BFLY:
    case QN_SYNC_SHFL_IDX:
        shuffle(warp, frame, op, mask, members);
        break;
    case QN_SYNC_VOTE_ALL:
    case QN_SYNC_VOTE_ANY:
    case QN_SYNC_VOTE_UNI:
    case QN_SYNC_VOTE_BALLOT:
        vote(frame, op, mask, members, ballot_of(warp, members));
        break;
    case QN_SYNC_MATCH_ANY:
    case QN_SYNC_MATCH_ALL:
        match(warp, frame, op, mask, members);
        break;
    case QN_SYNC_ELECT:
        if (op->d != QN_NO_PLACE) {
            set_u32(frame, op->d, mask, qn_first_lane(members));
        }
        set_bits(frame, op->target, mask, members & -members);
        break;
    default:
        redux(warp, frame, op, mask, members);
        break;
    }
}

/* Finish the waiting groups for which everyone has come by now. */
void qn_sync_recheck(qn_warp *warp)
{
    for (uint32_t k = 0; k < warp->count; k++) {
        const qn_group *group = &warp->groups[k];
        if (group->state != QN_AT_SYNC) {
            continue;
        }
        const uint32_t named = group->members, form = (group->next - 1)->flags;
        uint32_t present = 0;
        for (uint32_t j = 0; j < warp->count; j++) {
            const qn_group *other = &warp->groups[j];
            if (other->state == QN_AT_SYNC && other->members == named &&
                (other->next - 1)->flags == form) {
                present |= other->mask;
            }
        }
        if (present != (named & warp->live)) {
            continue;
        }
        for (uint32_t j = 0; j < warp->count; j++) {
            qn_group *other = &warp->groups[j];
            if (other->state == QN_AT_SYNC && other->members == named &&
                (other->next - 1)->flags == form) {
                finish(warp, other->frame, other->next - 1, other->mask, named, present);
                other->state = QN_READY;
            }
        }
    }
}

/* The lanes of `mask` that name the same members as its first lane. */
static uint32_t same_members(const uint32_t *members, uint32_t mask)
{
    uint32_t first = members[qn_first_lane(mask)], same = 0;
    if (mask == QN_ALL_LANES &&
        memcmp(members, members + 1, (QN_LANES - 1) * sizeof *members) == 0) {
        return mask;
    }
    for (; mask; mask &= mask - 1) {
        unsigned lane = qn_first_lane(mask);
        same |= (uint32_t)(members[lane] == first) << lane;
    }
    return same;
}

bool qn_sync_at_once(const qn_warp *warp, const qn_op *op, uint32_t mask)
{
    const uint32_t form = op->flags;
    const qn_frame *frame = warp->frame;
    if (mask != QN_ALL_LANES || form > QN_SYNC_VOTE_BALLOT || warp->block->meetings ||
        frame->undefined) {
        return false;
    }
    const uint32_t *members = qn_at(warp, op->members);
    uint32_t named = QN_ALL_LANES;
    for (unsigned lane = 0; lane < QN_LANES; lane++) {
        named &= members[lane];
    }
    if (named != QN_ALL_LANES) {
        return false;
    }
    if (form >= QN_SYNC_VOTE_ALL) {
        vote(frame, op, mask, mask, *(const uint32_t *)qn_at(warp, op->a));
    } else if (form != QN_SYNC_BARRIER) {
        const qn_exchange_lanes *exchange = op->extra;
        uint32_t unused[QN_LANES];
        uint32_t *d = op->d == QN_NO_PLACE ? unused : qn_at(warp, op->d);
        const uint32_t valid =
            exchange->shuffle[form](d, qn_at(warp, op->a), qn_at(warp, op->b), qn_at(warp, op->c));
        if (op->target != QN_NO_PLACE) {
            set_bits(frame, op->target, mask, valid);
        }
    }
    return true;
}

bool qn_run_sync(qn_warp *warp, const qn_op *op, uint32_t mask)
{
    uint32_t members[QN_LANES]; /* a copy: results may overlap it */
    memcpy(members, qn_at(warp, op->members), sizeof members);
    if (warp->block->meetings && !qn_check_masks(warp, op, mask, members)) {
        return false;
    }
    contribute(warp, op, mask);
    while (mask) {
        uint32_t named = members[qn_first_lane(mask)];
        uint32_t same = same_members(members, mask);
        if (same & ~named) {
            return qn_fault(warp, op, qn_first_lane(same & ~named), QUERN_ERROR_LAUNCH,
                            "this thread is not in the member mask 0x%08x it gives", named);
        }
        mask &= ~same;
        qn_group *group = &warp->groups[warp->current];
        if (same == (named & warp->live)) {
            finish(warp, group->frame, op, same, named, same);
            continue;
        }
        if (group->mask != same) { /* the others of this group go on, or wait for others */
            group->mask &= ~same;
            group = qn_group_add(warp, group->next, group->frame, same);
        }
        group->state = QN_AT_SYNC;
        group->members = named;
    }
    qn_sync_recheck(warp);
    return true;
}
