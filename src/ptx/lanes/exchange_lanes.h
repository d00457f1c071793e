/* SPDX-License-Identifier: MIT
 *
 * exchange_lanes: shuffles among all 32 lanes of a warp. Built once for each CPU level
 * (exchange_lanes.c).
 */
#ifndef QN_EXCHANGE_LANES_H
#define QN_EXCHANGE_LANES_H

#include "ptx/ptx.h"
#include "ptx/run/run_forms.h"

/** Which lane a shuffle gives to `lane`: its own where that is false. PTX: c holds the segment mask
 * in bits 8 to 12 and the clamp in bits 0 to 4. */
static inline bool qn_shuffle_source(unsigned *source, uint32_t form, unsigned lane, uint32_t b,
                                     uint32_t c)
{
    const uint32_t segment = c >> 8 & 31, clamp = c & 31;
    const uint32_t lowest = lane & segment, highest = lowest | (clamp & ~segment);
    b &= 31;
    *source = form == QN_SYNC_SHFL_UP     ? lane - b
              : form == QN_SYNC_SHFL_DOWN ? lane + b
              : form == QN_SYNC_SHFL_BFLY ? lane ^ b
                                          : lowest | (b & ~segment);
    const bool inside = form == QN_SYNC_SHFL_UP ? (int)*source >= (int)highest : *source <= highest;
    *source = inside ? *source : lane;
    return inside;
}

/** A shuffle of the register `a` in which all lanes take part; b, c: as the instruction has them.
 * The result goes to `d`, which may be one of them. Returns the lanes whose source is inside. */
typedef uint32_t (*qn_shuffle_function)(uint32_t *d, const uint32_t *a, const uint32_t *b,
                                        const uint32_t *c);

/** By enum qn_sync_form. */
typedef struct qn_exchange_lanes {
    qn_shuffle_function shuffle[QN_SYNC_SHFL_IDX + 1];
} qn_exchange_lanes;

/** For any level less than qn_lane_level_count(), in run_sync.c. */
const qn_exchange_lanes *qn_exchange_lanes_level(int level);

#endif /* QN_EXCHANGE_LANES_H */
