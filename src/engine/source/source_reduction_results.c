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

/* Packs of several words, which a warp may write together. */
static bool gives_by_warp(const qn_call *call, uint32_t k)
{
    const qn_fold_form *f = &call->fold.form;
    return is_pack(call, k) && f->columns && !f->split &&
           f->lanes * call->operands[k].item_size > QN_ACCESS_BYTES;
}

void qn_source_givers(qn_text *out, const qn_call *call)
{
    for (uint32_t k = call->input_operands; k < call->operand_count; k++) {
        if (gives_by_warp(call, k)) {
            qn_text_puts(out, "    // Threads that share outputs with others use shared memory.\n"
                              "    const bool _quern_all_give =\n"
                              "        __all_sync(~0u, _quern_live && _quern_shift == 0);\n");
            return;
        }
    }
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
        if (gives_by_warp(call, k)) {
            qn_text_printf(
                out,
                "        quern::give_by_warp<sizeof _quern_shared / (16 * _quern_block)>("
                "_quern_results%u, ",
                k);
            outputs_place(out, call, k);
            qn_text_puts(out, ", _quern_all_give, _quern_shared);\n");
        } else if (is_pack(call, k)) {
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
