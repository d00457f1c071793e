/* SPDX-License-Identifier: MIT
 *
 * Special registers, read one lane at a time. The frequent ones (%tid, %ctaid, %ntid, ...) are
 * constants of a launch or lines of the kernel's frame, which decode_place.c arranges; this is for
 * the rest, and for called functions.
 */
#include "ptx/run/run.h"

#include <string.h>

typedef enum special {
    TID,
    CTAID = TID + 3,
    NTID = CTAID + 3,
    NCTAID = NTID + 3,
    LANEID = NCTAID + 3,
    WARPID,
    NWARPID,
    ZERO,
    ONE,
    MASK_EQ,
    MASK_LE,
    MASK_LT,
    MASK_GE,
    MASK_GT,
    CLOCK,
    CLOCK_HIGH,
    GLOBALTIMER,
    GLOBALTIMER_HIGH,
    ENVREG1,
    ENVREG2,
    SHARED_DYNAMIC,
    SHARED_TOTAL,
} special;

static const struct {
    const char *name;
    uint8_t bits, special;
} names[] = {
    {"%tid.x", 32, TID},
    {"%tid.y", 32, TID + 1},
    {"%tid.z", 32, TID + 2},
    {"%ctaid.x", 32, CTAID},
    {"%ctaid.y", 32, CTAID + 1},
    {"%ctaid.z", 32, CTAID + 2},
    {"%ntid.x", 32, NTID},
    {"%ntid.y", 32, NTID + 1},
    {"%ntid.z", 32, NTID + 2},
    {"%nctaid.x", 32, NCTAID},
    {"%nctaid.y", 32, NCTAID + 1},
    {"%nctaid.z", 32, NCTAID + 2},
    {"%laneid", 32, LANEID},
    {"%warpid", 32, WARPID},
    {"%nwarpid", 32, NWARPID},
    {"%smid", 32, ZERO},
    {"%nsmid", 32, ONE},
    {"%gridid", 64, ONE},
    {"%lanemask_eq", 32, MASK_EQ},
    {"%lanemask_le", 32, MASK_LE},
    {"%lanemask_lt", 32, MASK_LT},
    {"%lanemask_ge", 32, MASK_GE},
    {"%lanemask_gt", 32, MASK_GT},
    {"%clock", 32, CLOCK},
    {"%clock64", 64, CLOCK},
    {"%clock_hi", 32, CLOCK_HIGH},
    {"%globaltimer", 64, GLOBALTIMER},
    {"%globaltimer_lo", 32, GLOBALTIMER},
    {"%globaltimer_hi", 32, GLOBALTIMER_HIGH},
    {"%envreg1", 32, ENVREG1},
    {"%envreg2", 32, ENVREG2},
    {"%dynamic_smem_size", 32, SHARED_DYNAMIC},
    {"%total_smem_size", 32, SHARED_TOTAL},
    /* every block is a cluster of its own */
    {"%clusterid.x", 32, CTAID},
    {"%clusterid.y", 32, CTAID + 1},
    {"%clusterid.z", 32, CTAID + 2},
    {"%nclusterid.x", 32, NCTAID},
    {"%nclusterid.y", 32, NCTAID + 1},
    {"%nclusterid.z", 32, NCTAID + 2},
    {"%cluster_ctaid.x", 32, ZERO},
    {"%cluster_ctaid.y", 32, ZERO},
    {"%cluster_ctaid.z", 32, ZERO},
    {"%cluster_nctaid.x", 32, ONE},
    {"%cluster_nctaid.y", 32, ONE},
    {"%cluster_nctaid.z", 32, ONE},
    {"%cluster_ctarank", 32, ZERO},
    {"%cluster_nctarank", 32, ONE},
};

int qn_special_find(const char *name, unsigned *bits)
{
    for (size_t k = 0; k < QN_COUNT(names); k++) {
        if (strcmp(name, names[k].name) == 0) {
            *bits = names[k].bits;
            return names[k].special;
        }
    }
    return -1;
}

uint64_t qn_nanoseconds(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static uint64_t value_of(const qn_warp *warp, special which, unsigned lane)
{
    const qn_run *run = warp->run;
    const uint64_t workspace = run->launch->cooperative ? (uint64_t)(uintptr_t)run->workspace : 0;
    switch (which) {
    case LANEID:
        return lane;
    case WARPID:
        return warp->index;
    case NWARPID:
        return warp->block->warp_count;
    case ZERO:
        return 0;
    case ONE:
        return 1;
    case MASK_EQ:
        return 1u << lane;
    case MASK_LE:
        return (2u << lane) - 1;
    case MASK_LT:
        return (1u << lane) - 1;
    case MASK_GE:
        return ~((1u << lane) - 1);
    case MASK_GT:
        return ~((2u << lane) - 1);
    case CLOCK:
        return qn_nanoseconds(CLOCK_MONOTONIC);
    case CLOCK_HIGH:
        return qn_nanoseconds(CLOCK_MONOTONIC) >> 32;
    case GLOBALTIMER:
        return qn_nanoseconds(CLOCK_REALTIME);
    case GLOBALTIMER_HIGH:
        return qn_nanoseconds(CLOCK_REALTIME) >> 32;
    case ENVREG1:
        return workspace >> 32;
    case ENVREG2:
        return (uint32_t)workspace;
    case SHARED_DYNAMIC:
        return run->launch->dynamic_shared;
    case SHARED_TOTAL:
        return run->shared_bytes;
    default:
        break;
    }
    if (which < CTAID) {
        return warp->thread[which - TID][lane];
    }
    if (which < NTID) {
        return warp->block->index[which - CTAID];
    }
    return which < NCTAID ? run->launch->block[which - NTID] : run->launch->grid[which - NCTAID];
}

bool qn_run_special(qn_warp *warp, const qn_op *op, uint32_t mask)
{
    void *d = qn_at(warp, op->d);
    const special which = (special)op->flags;
    /* Read once for the warp, so that all lanes see the same clock. */
    uint64_t value = value_of(warp, which, qn_first_lane(mask));
    const bool varies = which < CTAID || which == LANEID || (which >= MASK_EQ && which <= MASK_GT);
    for (; mask; mask &= mask - 1) {
        unsigned lane = qn_first_lane(mask);
        value = varies ? value_of(warp, which, lane) : value;
        qn_lane_put(d, op->bits, lane, value);
    }
    return true;
}
