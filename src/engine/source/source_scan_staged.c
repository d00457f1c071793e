/* SPDX-License-Identifier: MIT
 *
 * source_scan_staged: what a scan whose tiles wait in shared memory has of its own, in CUDA C++.
 * In: the form of a fold. Out: the constants of templates/scan_staged.cu, and the list of where
 * each output of a tile lies. The thing to know: of several kept dimensions that takes a division
 * each, and elements ask on the way in and on the way out. With a list the block divides once for
 * each output.
 */
#include "engine/source/source_folds.h"

void qn_source_staged_form(qn_text *out, const qn_call *call)
{
    const qn_fold_form *f = &call->fold.form;
    qn_source_scan_form(out, call);
    qn_source_flag(out, "alone", f->staged == QN_STAGED_ALONE);
    qn_source_flag(out, "lone", f->lone);
    qn_source_flag(out, "across_in", f->stage_in);
    qn_source_flag(out, "across_out", f->stage_out);
    qn_source_flag(out, "line_in", f->line_in);
    qn_source_flag(out, "line_out", f->line_out);
    qn_source_flag(out, "paced", f->paced);
}

/* How far each operand's elements of an output lie from where the operand begins: the list's room,
 * and its filling by `kept`. */
static void list_hole(qn_text *out, const qn_text *kept, const qn_call *call)
{
    const int lane = qn_fold_lane_dim(&call->fold.form);
    qn_text_puts(out, "    extern __shared__ long long _quern_list[];\n"
                      "#pragma unroll 1\n"
                      "    for (int _quern_row = threadIdx.x; _quern_row < _quern_beside;\n"
                      "         _quern_row += quern::stage_threads) {\n"
                      "    [[maybe_unused]] _quern_index _quern_element = 0;\n"
                      "    const _quern_index _quern_output = _quern_first + _quern_row;\n");
    qn_text_add(out, kept->data, kept->length);
    for (uint32_t k = 0; k < call->operand_count; k++) {
        qn_text_printf(
            out, "    _quern_list[%u * _quern_walk.workers + _quern_row] = _quern_kept%u", k, k);
        if (lane >= 0 && lane < call->fold.form.kept) {
            qn_text_printf(out, " + (long long)_quern_element * _quern_walk.stride[%u][%d]", k,
                           lane);
        }
        qn_text_puts(out, ";\n");
    }
    qn_text_puts(out, "    }\n    __syncthreads();\n");
}

void qn_source_staged_list(qn_text *list, qn_text *kept, const qn_call *call)
{
    if (!call->fold.form.listed) {
        return;
    }
    list_hole(list, kept, call);
    qn_text_free(kept);
    *kept = (qn_text){0};
    qn_text_puts(kept, "    _quern_element = 0;\n");
    for (uint32_t k = 0; k < call->operand_count; k++) {
        const char *const constant = call->operands[k].output ? "" : "const ";
        qn_text_printf(
            kept,
            "    [[maybe_unused]] %schar *const _quern_place%u = (%schar *)_quern_array%u "
            "+ _quern_list[%u * _quern_walk.workers + _quern_beside_at];\n",
            constant, k, constant, call->operand_parameter[k], k);
    }
}
