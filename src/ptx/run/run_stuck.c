/* SPDX-License-Identifier: MIT
 *
 * Reports about threads that make no progress: a block of which every thread waits, and a launch
 * that ran longer than its limit. In: a block; out: a fault that says where its threads are, each
 * place once with all warps that are there, and what they wait for.
 */
#include "ptx/run/run.h"

enum { ENOUGH = 1500 }; /* bytes of places; a block may have 1024 of them */

/* A group that waits is one past its operation; one that runs is at it. */
static const qn_op *place_of(const qn_group *group)
{
    return group->state == QN_READY ? group->next : group->next - 1;
}

/* The lanes that a group waits for at an operation of its warp. */
static uint32_t awaited(const qn_warp *warp, const qn_group *group)
{
    return group->members & warp->live & ~group->mask;
}

/* ---- who is at one place -------------------------------------------------------------------- */

/* Threads that are reported together. */
typedef struct crowd {
    const qn_warp *warp; /* the first */
    const qn_group *group;
    uint32_t warps; /* of the block, one bit each */
    uint32_t lanes; /* of the first warp */
    uint32_t threads;
} crowd;

static bool is_alike(const crowd *c, const qn_warp *warp, const qn_group *group)
{
    if (group->state != c->group->state || group->next != c->group->next) {
        return false;
    }
    return group->state == QN_READY ||
           (group->state == QN_AT_SYNC
                ? awaited(warp, group) == awaited(c->warp, c->group) || warp == c->warp
                : group->barrier == c->group->barrier);
}

/* Collect all threads that are where this group is. False: an earlier group has reported them. */
static bool gather(crowd *out, const qn_warp *warp, const qn_group *group)
{
    const qn_block *block = warp->block;
    *out = (crowd){.warp = warp, .group = group};
    for (uint32_t w = 0; w < block->warp_count; w++) {
        const qn_warp *other = &block->warps[w];
        for (uint32_t k = 0; k < other->count; k++) {
            const qn_group *there = &other->groups[k];
            if (!is_alike(out, other, there)) {
                continue;
            }
            if (w < warp->index || (w == warp->index && there < group)) {
                return false;
            }
            out->warps |= 1u << w;
            out->lanes |= w == warp->index ? there->mask : 0;
            out->threads += (uint32_t)__builtin_popcount(there->mask);
        }
    }
    return true;
}

/* "warps 0 to 3, 7" */
static void print_warps(qn_text *out, uint32_t warps)
{
    const char *before = "warps ";
    for (unsigned w = 0; w < 32; w++) {
        const unsigned begin = w;
        if (!(warps >> w & 1)) {
            continue;
        }
        while (w + 1 < 32 && warps >> (w + 1) & 1) {
            w++;
        }
        qn_text_printf(out, w > begin ? "%s%u to %u" : "%s%u", before, begin, w);
        before = ", ";
    }
}

static void print_crowd(qn_text *out, const crowd *c)
{
    const qn_group *group = c->group;
    if (c->warps & (c->warps - 1)) {
        qn_text_puts(out, "; ");
        print_warps(out, c->warps);
        qn_text_printf(out, ", %u threads, ", c->threads);
    } else {
        qn_text_printf(out, "; warp %u lanes 0x%08x ", c->warp->index, c->lanes);
    }
    if (group->state == QN_READY) {
        qn_text_puts(out, "run at ");
    } else if (group->state == QN_AT_SYNC) {
        qn_text_printf(out, "wait for lanes 0x%08x at ", awaited(c->warp, group));
    } else if (group->barrier == QN_CLUSTER) {
        qn_text_puts(out, "wait at the cluster's barrier, at ");
    } else {
        const qn_block *block = c->warp->block;
        const qn_barrier *barrier = &block->barriers[group->barrier];
        qn_text_printf(out, "wait at barrier %u, which %u of %u threads have reached, at ",
                       group->barrier, barrier->arrived,
                       barrier->expected ? barrier->expected : block->live);
    }
    qn_print_place(out, group->frame, place_of(group));
}

static void print_block(qn_text *out, const qn_block *block)
{
    for (uint32_t w = 0; w < block->warp_count; w++) {
        const qn_warp *warp = &block->warps[w];
        for (uint32_t k = 0; k < warp->count; k++) {
            crowd c;
            if (!gather(&c, warp, &warp->groups[k])) {
                continue;
            }
            if (out->length > ENOUGH) {
                qn_text_puts(out, "; and so on");
                return;
            }
            print_crowd(out, &c);
        }
    }
    const uint32_t gone = block->run->block_threads - block->live;
    if (gone > 0) {
        qn_text_printf(out, "; %u of the block's %u threads have exited", gone,
                       block->run->block_threads);
    }
}

/* A fault at the place of a group, with `what` and where all others of the block are. */
static bool report(qn_warp *warp, const qn_group *group, const char *what)
{
    qn_text text = {0};
    qn_text_puts(&text, what);
    print_block(&text, warp->block);
    qn_warp_enter(warp, group->frame);
    qn_fault_placed(warp, place_of(group), qn_first_lane(group->mask), QUERN_ERROR_LAUNCH,
                    text.data ? text.data : what);
    qn_text_free(&text);
    return false;
}

/* The first group of the block in this state; else the first of all. */
static bool report_first(qn_block *block, qn_group_state state, const char *what)
{
    qn_warp *first = NULL;
    for (uint32_t w = 0; w < block->warp_count; w++) {
        qn_warp *warp = &block->warps[w];
        for (uint32_t k = 0; k < warp->count; k++) {
            if (warp->groups[k].state == state) {
                return report(warp, &warp->groups[k], what);
            }
            first = first ? first : warp;
        }
    }
    return first && report(first, &first->groups[0], what);
}

bool qn_report_deadlock(qn_block *block)
{
    return report_first(block, QN_AT_SYNC, "deadlock: all threads wait, and none can go on");
}

bool qn_report_limit(qn_block *block)
{
    qn_text what = {0};
    qn_text_printf(&what, "the launch ran longer than its limit of %g seconds",
                   block->run->launch->limit);
    report_first(block, QN_READY, what.data ? what.data : "the launch ran longer than its limit");
    qn_text_free(&what);
    return false;
}
