/* SPDX-License-Identifier: MIT
 *
 * folding: what reductions and scans share. In: definitions, calls. Out: checks, axes, and what a
 * kind gives of itself (engine_internal.h).
 */
#ifndef QN_FOLDING_H
#define QN_FOLDING_H

#include "engine/engine_internal.h"

/* ---- fold_call.c: what reductions and scans share ------------------------------------------- */

#define QN_VALUE_BYTES        64    /**< the most that a reduce_type or scan_type may have */
#define QN_FOLD_COUNTER_BYTES 32768 /**< of a workspace: counters, zero between launches */

/** Refuse a signature without outputs, and one where a parameter that `post` sees (from `seen` on)
 * is called `a`, which is the combined value there. */
quern_status qn_fold_check_signature(const quern_kernel *kernel, uint32_t seen);
/** Refuse definitions that lack a text. */
quern_status qn_fold_check_texts(const char *function, const qn_definition *definition);
/** Set call->axes from the options: all axes if they name none.
 * Errors: QUERN_ERROR_SHAPE for an axis that is out of range or given twice. */
quern_status qn_call_axes(qn_call *call, const quern_call_options *options);
/** Refuse records as values to combine that are too large, or packed. */
quern_status qn_fold_check_value(const qn_call *call);
/** Bytes of the values that are combined, where it is plain from the text and they are numbers;
 * else 0. */
uint32_t qn_scan_value_size(const qn_call *call);
/** What is plain from the text of these values; NULL: nothing. */
const qn_dtype_info *qn_fold_value(const qn_call *call);
/** True where it is plain that they are integers, so that an associative operator gives the same
 * bits in any order. */
bool qn_fold_is_exact(const qn_call *call);
/* narrow.c: */
/** True for the text of a reduce that adds up. */
bool qn_text_adds(const char *text);
/** True where reduce adds up in 64 bits what map may give as integers of 16. */
bool qn_fold_adds_narrow(const qn_call *call);
/** There: the text of map, without a cast of all of it to the type of the values. */
const char *qn_fold_uncast(const qn_call *call);
/** The input of bytes whose values are those of a choice (src/lang/choice.c), in their order, which
 * may be compared by keys; -1: there is none. */
int qn_call_key(const qn_call *call);
/** From this compute capability on one instruction compares two (templates/keys.cuh). */
#define QN_PAIRS_ARCH 90
/** Rows of strides in a walk: boxes have one more where texts use positions, for those. */
uint32_t qn_fold_rows(const qn_call *call);
/* For a kind: */
size_t qn_fold_form_bytes(uint8_t *bytes, const qn_call *call);
quern_status qn_fold_geometry(quern_launch_config *config, const qn_call *call,
                              const qn_specialization *specialization);
char *const *qn_fold_bases(const qn_call *call);
quern_status qn_fold_walk(struct qn_parameter_block *block, const qn_call *call);

#endif /* QN_FOLDING_H */
