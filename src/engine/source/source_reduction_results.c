/* SPDX-License-Identifier: MIT
 *
 * source_reduction_results: what becomes of the value that a reduction has for an output. In: a
 * call whose fold is planned. Out: the holes of all templates that combine it with the identity and
 * give it to post. The thing to know: outputs that lie side by side may go as packs, others are
 * written by post itself.
 */
#include "engine/source/source_folds.h"

void qn_source_identity(qn_text *out, const qn_call *call)
{
    qn_text_puts(out, "        const _type_reduce _quern_identity = _type_reduce(\n");
    qn_source_closed(out, call, QN_IDENTITY, ");");
}

void qn_source_finish(qn_text *out, const qn_call *call, const char *value)
{
    if (call->kernel->has_identity) {
        qn_source_identity(out, call);
        qn_text_printf(out, "        %s = _quern_reduce(_quern_identity, %s);\n", value, value);
    }
}

void qn_source_fold_outputs(qn_text *out, const qn_call *call, const char *at)
{
    for (uint32_t k = call->input_operands; k < call->operand_count; k++) {
        qn_source_fold_output(out, call, k, at);
    }
}

/* ---- outputs that go as packs --------------------------------------------------------------- */

static bool is_pack(const qn_call *call, uint32_t k)
{
    return call->fold.form.access[k] == QN_ACCESS_VECTOR;
}

/* Where the outputs of operand `k` begin. */
static void outputs_place(qn_text *out, const qn_call *call, uint32_t k)
{
    qn_text_printf(out, "_quern_place%u + (long long)_quern_element * %u", k,
                   call->operands[k].item_size);
}

void qn_source_room_for_results(qn_text *out, const qn_call *call)
{
    for (uint32_t k = call->input_operands; k < call->operand_count; k++) {
        if (is_pack(call, k)) {
            qn_text_printf(out, "        quern::pack<%s, %d> _quern_results%u;\n",
                           qn_source_type(call, call->operand_parameter[k]), call->fold.form.lanes,
                           k);
            qn_text_printf(out, "        _quern_results%u.load(", k);
            outputs_place(out, call, k);
            qn_text_puts(out, ");\n");
        }
    }
}

void qn_source_give_results(qn_text *out, const qn_call *call)
{
    for (uint32_t k = call->input_operands; k < call->operand_count; k++) {
        if (is_pack(call, k)) {
            qn_text_printf(out, "        _quern_results%u.store(", k);
            outputs_place(out, call, k);
            qn_text_puts(out, ");\n");
        }
    }
}

void qn_source_results(qn_text *out, const qn_call *call, bool packs)
{
    for (uint32_t k = call->input_operands; k < call->operand_count; k++) {
        if (packs && is_pack(call, k)) {
            qn_text_printf(out, "_quern_results%u.v[_quern_lane], ", k);
        } else {
            qn_source_fold_output(out, call, k, "_quern_element + _quern_lane");
        }
    }
}
