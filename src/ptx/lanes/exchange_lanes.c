/* SPDX-License-Identifier: MIT
 *
 * Shuffles among all 32 lanes of a warp. This file is built once for each CPU level, as the
 * lanes_*.c are; QN_LEVEL names the build. In: registers; out: a register, and who had a source.
 */
#include "ptx/lanes/exchange_lanes.h"
#include "ptx/lanes/levels.h"

#include <string.h>

#ifndef QN_LEVEL
#error "exchange_lanes.c is built with QN_LEVEL set to the name of a CPU level"
#endif

/* A loop for each form, and for each thing that it does: so compilers vectorise them. */
#define DEFINE(name, form)                                                                         \
    static uint32_t name(uint32_t *d, const uint32_t *a, const uint32_t *b, const uint32_t *c)     \
    {                                                                                              \
        uint32_t from[QN_LANES], inside[QN_LANES], result[QN_LANES], valid = 0;                    \
        for (unsigned lane = 0; lane < QN_LANES; lane++) {                                         \
            unsigned source;                                                                       \
            inside[lane] = qn_shuffle_source(&source, form, lane, b[lane], c[lane]);               \
            from[lane] = source;                                                                   \
        }                                                                                          \
        for (unsigned lane = 0; lane < QN_LANES; lane++) {                                         \
            valid |= inside[lane] << lane;                                                         \
        }                                                                                          \
        for (unsigned lane = 0; lane < QN_LANES; lane++) {                                         \
            result[lane] = a[from[lane]];                                                          \
        }                                                                                          \
        memcpy(d, result, sizeof result);                                                          \
        return valid;                                                                              \
    }
DEFINE(shuffle_up, QN_SYNC_SHFL_UP)
DEFINE(shuffle_down, QN_SYNC_SHFL_DOWN)
DEFINE(shuffle_bfly, QN_SYNC_SHFL_BFLY)
DEFINE(shuffle_idx, QN_SYNC_SHFL_IDX)

extern const qn_exchange_lanes QN_OF_LEVEL(qn_exchange_lanes, QN_LEVEL);
const qn_exchange_lanes QN_OF_LEVEL(qn_exchange_lanes, QN_LEVEL) = {
    .shuffle =
        {
            [QN_SYNC_SHFL_UP] = shuffle_up,
            [QN_SYNC_SHFL_DOWN] = shuffle_down,
            [QN_SYNC_SHFL_BFLY] = shuffle_bfly,
            [QN_SYNC_SHFL_IDX] = shuffle_idx,
        },
};
