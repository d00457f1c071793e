/* SPDX-License-Identifier: MIT
 *
 * lanes: what the executor must know to call lane-wise operations, and the helpers that both sides
 * share. The operations are rows in lanes_*.c (lanes_op.h), compiled once per CPU level.
 */
#ifndef QN_LANES_H
#define QN_LANES_H

#include "ptx/ptx.h"

/** bfi and lop3, which have four operands after d: the executor passes `c` as a pointer to this.
 * The fourth is 32 bits wide. A form says so by `fourth`. */
typedef struct qn_lane_more {
    const void *c, *d;
} qn_lane_more;

/* What the executor must know about forms:
 *
 * - d may overlap any source in any way; every source has 32 readable lanes, whatever the mask.
 * - Widths in a form are those of the instruction's types; 8-bit types use the 16-bit register form
 *   and read its low 8 bits. PTX lets operands of cvt, and d of set, be in wider registers. Then go
 *   through a scratch register: cut a wide source with qn_lane_resize(wide, form->a_bits), call the
 *   form, and widen its result into d with qn_lane_resize(form->d_bits, wide).
 * - `carry` is read and written by add.cc and its family only; it must always point to a word.
 * - setp p|q: call `second` for q before p's function, or keep the sources apart: q is computed
 *   from the same sources, and p may overlap c. For setp.*.f16x2 and bf16x2, p is the low half's
 *   result and q (`second`) the high half's. A negated predicate source (!c) must be passed
 *   inverted.
 * - mov to and from vectors ({lo, hi}) and mov of addresses are the executor's own. */

/** The function that copies a register of `from_bits` into one of `to_bits` (16, 32, 64): cut to
 * the low bits, or widened by sign or by zeros. Never NULL for these widths. */
qn_lane_function qn_lane_resize(unsigned from_bits, unsigned to_bits, bool is_signed);

/* For tests: how many of the builds (v2, v3, v4; elsewhere one) this CPU can run, and the forms of
 * a build, in an order that is the same for all; NULL past the end. */
int qn_lane_level_count(void);
const qn_lane_form *qn_lane_level_form(int level, size_t index);

#endif /* QN_LANES_H */
