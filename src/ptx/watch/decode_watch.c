/* SPDX-License-Identifier: MIT
 *
 * Puts in operations that inform the watch of a block where threads meet. In: the barriers and the
 * operations among lanes that were just bound. Out: the same, with those operations around them in
 * code that is decoded for a watch.
 */
#include "ptx/decode/decode.h"

#include "ptx/watch/watch.h"

#include <string.h>

/* Put in, at `at`, a copy of operation `like` that calls `function`. */
static void insert(qn_decoder *decoder, uint32_t at, uint32_t like, qn_op_function function,
                   qn_place guard)
{
    qn_emit_function(decoder, function);
    if (decoder->failed) {
        return;
    }
    qn_op *ops = decoder->code->ops;
    qn_op op = ops[like];
    op.kind = QN_OP_FUNCTION;
    op.function = function;
    op.guard = guard;
    memmove(ops + at + 1, ops + at, (decoder->code->count - 1 - at) * sizeof *ops);
    ops[at] = op;
}

void qn_watch_meetings(qn_decoder *decoder, uint32_t first)
{
    const qn_code *code = decoder->code;
    if (!(code->kind & QN_CODE_WATCHED)) {
        return;
    }
    for (uint32_t k = first; k < code->count && !decoder->failed; k++) {
        const bool is_sync = code->ops[k].kind == QN_OP_SYNC;
        const qn_place guard = code->ops[k].guard;
        if (is_sync) {
            /* no guard: the operation may have overwritten it, and this one finds out who met */
            insert(decoder, k + 1, k, qn_run_watch_met, QN_NO_PLACE);
        }
        if (is_sync || code->ops[k].kind == QN_OP_BARRIER) {
            insert(decoder, k, k, is_sync ? qn_run_watch_meet : qn_run_watch_arrive, guard);
            k += is_sync ? 2 : 1;
        }
    }
}
