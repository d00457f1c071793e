/* SPDX-License-Identifier: MIT
 *
 * source: the pieces of a kernel's source, by file: source.c the signature and the whole,
 * source_walk.c the walk by packs, source_tiled.c the walk by tiles. Each function writes the text
 * of one hole, or a part of one, for the plan of a call.
 */
#ifndef QN_SOURCE_H
#define QN_SOURCE_H

#include "engine/engine.h"

/* ---- source_walk.c -------------------------------------------------------------------------- */

/** The C++ name of a parameter's type. */
const char *qn_source_type(const qn_call *call, uint32_t parameter);
/** Begin a line, indented as its block is. */
void qn_source_indent(qn_text *out, int levels);
/** The offsets `PREFIXk` of every operand k for the dimensions [0, dims), whose joint position is
 * in
 * `_quern_q`. */
void qn_source_outer(qn_text *out, const qn_call *call, int dims, const char *prefix);
/** One element at `at` of its row: copies in, the operation, copies of the outputs back. */
void qn_source_element(qn_text *out, const qn_call *call, int levels, const char *at);

void qn_source_position(qn_text *out, const qn_call *call);
void qn_source_rest(qn_text *out, const qn_call *call);
void qn_source_body(qn_text *out, const qn_call *call);

/* ---- source_tiled.c ------------------------------------------------------------------------- */

void qn_source_tile_shared(qn_text *out, const qn_call *call);
void qn_source_tile_position(qn_text *out, const qn_call *call);
void qn_source_tile_fetch(qn_text *out, const qn_call *call);
void qn_source_tile_body(qn_text *out, const qn_call *call);

#endif /* QN_SOURCE_H */
