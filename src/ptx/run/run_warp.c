/* SPDX-License-Identifier: MIT
 *
 * The loop that executes a warp. It runs one group of lanes through the operations up to `limit`,
 * the place where another group waits to be joined; operations that move lanes about (branches,
 * calls, barriers) are done here or by run_call.c, run_barrier.c and run_sync.c, everything else by
 * a function for 32 lanes.
 */
#include "ptx/run/run.h"

/* Jumps backwards until it is another's turn. So many that a change of warps costs little, and so
 * few that the warps of a block go through memory together: each finds in the cache what the one
 * before has asked for. */
enum { TURN = 24 };

/* What the loop keeps in registers while one group runs. */
typedef struct cursor {
    const qn_op *next, *limit;
    uint32_t mask;
} cursor;

static void save(qn_warp *warp, const cursor *at)
{
    qn_group *group = &warp->groups[warp->current];
    group->next = at->next;
    group->mask = at->mask;
}

static bool resume(qn_warp *warp, cursor *at)
{
    if (!qn_group_pick(warp)) {
        return false;
    }
    const qn_group *group = &warp->groups[warp->current];
    *at = (cursor){group->next, qn_group_limit(warp), group->mask};
    return true;
}

static inline uint32_t truth(const qn_warp *warp, qn_place place, uint32_t flip)
{
    return *(const uint32_t *)qn_at(warp, place) ^ flip;
}

/* If only some lanes branch, the group is split in two. The lower of the two goes on. */
static void branch(qn_warp *warp, cursor *at, const qn_op *op)
{
    const qn_op *target = warp->frame->code->ops + op->target;
    uint32_t taken = at->mask & truth(warp, op->a, op->guard_flip);
    if (taken == at->mask) {
        at->next = target;
    } else if (taken != 0) {
        const bool forward = target > at->next;
        const qn_op *higher = forward ? target : at->next;
        qn_group_add(warp, higher, warp->frame, forward ? taken : at->mask & ~taken);
        at->mask = forward ? at->mask & ~taken : taken;
        at->next = forward ? at->next : target;
        at->limit = higher < at->limit ? higher : at->limit;
    }
}

/* brx.idx: one group for each target. */
static void branch_index(qn_warp *warp, cursor *at, const qn_op *op, uint32_t mask)
{
    const uint32_t *index = qn_at(warp, op->a);
    const uint32_t *targets = op->extra;
    const qn_op *ops = warp->frame->code->ops;
    while (mask) {
        uint32_t wanted = index[qn_first_lane(mask)], same = 0;
        for (uint32_t rest = mask; rest; rest &= rest - 1) {
            unsigned lane = qn_first_lane(rest);
            same |= (uint32_t)(index[lane] == wanted) << lane;
        }
        mask &= ~same;
        if (same == at->mask) {
            at->next = ops + targets[wanted];
        } else {
            at->mask &= ~same;
            qn_group_add(warp, ops + targets[wanted], warp->frame, same);
        }
    }
}

static bool index_in_range(qn_warp *warp, const qn_op *op, uint32_t mask)
{
    const uint32_t *index = qn_at(warp, op->a);
    for (; mask; mask &= mask - 1) {
        unsigned lane = qn_first_lane(mask);
        if (index[lane] >= op->flags) {
            return qn_fault(warp, op, lane, QUERN_ERROR_LAUNCH, "jump to entry %u of a table of %u",
                            index[lane], op->flags);
        }
    }
    return true;
}

/* The group has jumped backwards often enough: one that waits is next. */
static qn_turn turn_over(qn_warp *warp, const cursor *at)
{
    save(warp, at);
    warp->groups[warp->current].stamp = ++warp->stamp;
    warp->fair = warp->count > 1;
    return QN_TURN_OVER;
}

/* Lanes that the guard keeps from a control operation go on as a group of their own. */
static void split_guarded(qn_warp *warp, cursor *at, uint32_t mask)
{
    if (mask != at->mask) {
        qn_group_add(warp, at->next, warp->frame, at->mask & ~mask);
        at->mask = mask;
    }
}

/* Calls, returns, exits, barriers: the groups change, so choose again afterwards. False: a
 * fault. */
static bool control(qn_warp *warp, cursor *at, const qn_op *op, uint32_t mask)
{
    if (op->kind == QN_OP_BRANCH_INDEX) {
        if (!index_in_range(warp, op, mask)) {
            return false;
        }
        uint32_t staying = at->mask & ~mask;
        at->mask = mask;
        if (staying) {
            qn_group_add(warp, at->next, warp->frame, staying);
        }
        branch_index(warp, at, op, mask);
        save(warp, at);
        return true;
    }
    split_guarded(warp, at, mask);
    save(warp, at);
    switch ((qn_op_kind)op->kind) {
    case QN_OP_CALL:
        return qn_run_call(warp, op, mask);
    case QN_OP_RETURN:
        qn_run_return(warp, mask);
        return true;
    case QN_OP_EXIT:
        qn_run_exit(warp, mask);
        return true;
    case QN_OP_BARRIER:
        return qn_run_barrier(warp, op, mask);
    default:
        return qn_run_sync(warp, op, mask);
    }
}

static void lanes_more(qn_warp *warp, const qn_op *op, uint32_t mask)
{
    const qn_lane_more more = {qn_at(warp, op->c), qn_at(warp, op->target)};
    op->lanes(qn_at(warp, op->d), qn_at(warp, op->a), qn_at(warp, op->b), &more, mask,
              &warp->carry);
}

qn_turn qn_warp_run(qn_warp *warp)
{
    cursor at;
    warp->fuel = TURN;
    while (resume(warp, &at)) {
        while (at.next < at.limit) {
            const qn_op *op = at.next++;
            uint32_t mask = at.mask;
            if (op->guard != QN_NO_PLACE) {
                mask &= truth(warp, op->guard, op->guard_flip);
                if (mask == 0) {
                    continue;
                }
            }
            switch ((qn_op_kind)op->kind) {
            case QN_OP_LANES:
                op->lanes(qn_at(warp, op->d), qn_at(warp, op->a), qn_at(warp, op->b),
                          qn_at(warp, op->c), mask, &warp->carry);
                continue;
            case QN_OP_FUNCTION:
                if (op->function(warp, op, mask)) {
                    continue;
                }
                return QN_TURN_FAULT;
            case QN_OP_LANES_MORE:
                lanes_more(warp, op, mask);
                continue;
            case QN_OP_JUMP:
                at.next = warp->frame->code->ops + op->target;
                break;
            case QN_OP_BRANCH:
                branch(warp, &at, op);
                break;
            case QN_OP_SYNC:
                if (qn_sync_at_once(warp, op, mask)) {
                    continue;
                }
                /* fall through */
            default:
                if (!control(warp, &at, op, mask)) {
                    return QN_TURN_FAULT;
                }
                goto choose;
            }
            if (at.next <= op) {
                if (--warp->fuel == 0) {
                    return turn_over(warp, &at);
                }
                if (warp->count > 1) { /* another group may be ahead now */
                    save(warp, &at);
                    at.limit = qn_group_limit(warp);
                }
            }
        }
        save(warp, &at);
    choose:;
    }
    return warp->count > 0 ? QN_TURN_WAITING : QN_TURN_DONE;
}
