/* SPDX-License-Identifier: MIT
 *
 * Reports about threads that do not get on: a block of which every thread waits, and a launch that
 * ran longer than its limit. In: a block; out: a fault that says where its threads are, each place
 * once for a warp, with what they wait for there.
 */
#include "ptx/run.h"

enum { ENOUGH = 1500 }; /* bytes of places; a block may have 1024 of them */

/* A group that waits has its operation behind it, one that runs has it ahead. */
static const qn_op *place_of(const qn_group *group)
{
    return group->state == QN_READY ? group->next : group->next - 1;
}

static void print_group(qn_text *out, const qn_warp *warp, const qn_group *group)
{
    qn_text_printf(out, "; warp %u lanes 0x%08x ", warp->index, group->mask);
    if (group->state == QN_READY) {
        qn_text_puts(out, "run at ");
    } else if (group->state == QN_AT_SYNC) {
        qn_text_printf(out, "wait for lanes 0x%08x at ",
                       group->members & warp->live & ~group->mask);
    } else if (group->barrier == QN_CLUSTER) {
        qn_text_puts(out, "wait at the cluster's barrier, at ");
    } else {
        const qn_barrier *barrier = &warp->block->barriers[group->barrier];
        qn_text_printf(out, "wait at barrier %u, to which %u of %u threads have come, at ",
                       group->barrier, barrier->arrived,
                       barrier->expected ? barrier->expected : warp->block->live);
    }
    qn_print_place(out, group->frame, place_of(group));
}

static void print_block(qn_text *out, const qn_block *block)
{
    for (uint32_t w = 0; w < block->warp_count; w++) {
        const qn_warp *warp = &block->warps[w];
        for (uint32_t k = 0; k < warp->count; k++) {
            if (out->length > ENOUGH) {
                qn_text_puts(out, "; and so on");
                return;
            }
            print_group(out, warp, &warp->groups[k]);
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
