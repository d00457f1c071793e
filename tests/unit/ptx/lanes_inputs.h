/* SPDX-License-Identifier: MIT
 *
 * lanes_inputs: the operands that lane-wise operations are tested with, the same on every machine,
 * and one run of a form over them. Used by the tests and by record_lanes, which asks a GPU.
 */
#ifndef QN_TEST_LANES_INPUTS_H
#define QN_TEST_LANES_INPUTS_H

#include "ptx/lanes/lanes.h"

#define LANES_VECTORS 1024 /* a multiple of 32 */

/** Operands as raw bits, in 64-bit words. Predicates are 0 or 1; `e` is the fourth source, whose
 * low bit is also the condition code. For lop3 all of `e` is one table. */
typedef struct lanes_inputs {
    uint64_t a[LANES_VECTORS], b[LANES_VECTORS], c[LANES_VECTORS], e[LANES_VECTORS];
} lanes_inputs;

/** What a form gives: predicates as 0 or 1; q, or a carry that it writes, in the upper word. */
typedef struct lanes_results {
    uint64_t d[LANES_VECTORS];
} lanes_results;

/** Edge values with edge values and random ones, chosen by the form's name. */
void lanes_make_inputs(lanes_inputs *in, const qn_lane_form *form);

/** Whether the form reads or writes the condition code; `*writes`: it writes it. */
bool lanes_uses_carry(const qn_lane_form *form, bool *writes);

/** Run over all inputs with `mask`; lanes outside it give what `before` has for every lane. */
void lanes_run(lanes_results *out, const qn_lane_form *form, const lanes_inputs *in, uint32_t mask,
               uint64_t before);

/** FNV-1a over the results. */
uint64_t lanes_hash(const lanes_results *results);

#endif /* QN_TEST_LANES_INPUTS_H */
