/* SPDX-License-Identifier: MIT
 *
 * lanes: operations with four sources, and the helpers that lane-wise code and the rest of the
 * executor share. The operations themselves are in lanes_*.c, compiled once per CPU level.
 */
#ifndef QN_LANES_H
#define QN_LANES_H

#include "ptx/ptx.h"

/** bfi, dp4a and others with four operands after d: the executor passes `c` as a pointer to this. */
typedef struct qn_lane_more {
    const void *c, *d;
} qn_lane_more;

#endif /* QN_LANES_H */
