/* SPDX-License-Identifier: MIT
 *
 * source_scan_lines: how templates/scan_lines.cu reaches elements, in CUDA C++. In: the form of a
 * fold whose tiles are of whole lines. Out: room in shared memory, the runs of memory that come in
 * and go back, and the place of a unit there. The thing to know: what reads a unit
 * (source_scan_units.c) asks for `_quern_placeK`, `_quern_reducedK` and `_quern_element`; inside a
 * unit an input's mean its place in shared memory. An output's mean memory, of which post may keep
 * what is there.
 */
#include "engine/source/source_folds.h"

/* Where the element lies along the lanes is part of an address, unless a text asks for it. */
static bool moves_element(const qn_call *call)
{
    return !call->kernel->uses_axes;
}

/* True for what waits in shared memory. */
static bool waits(const qn_call *call, uint32_t k)
{
    return !call->operands[k].output || call->fold.form.back != QN_LINES_DIRECT;
}

static uint32_t home(const qn_call *call, uint32_t k)
{
    return (uint32_t)qn_fold_lines_home(&call->fold.form, call->input_operands, k);
}

void qn_source_lines_shared(qn_text *out, const qn_call *call)
{
    const qn_fold_form *f = &call->fold.form;
    for (uint32_t k = 0; k < call->operand_count; k++) {
        if (waits(call, k) && home(call, k) == k) {
            qn_text_printf(out, "    __shared__ alignas(%d) char _quern_room%u[%u];\n",
                           QN_PHASE_BYTES, k, qn_fold_lines_room(f, call->operands[k].item_size));
        }
    }
}

void qn_source_lines_begin(qn_text *out, const qn_call *call)
{
    const int d = call->fold.form.kept;
    for (uint32_t k = 0; k < call->operand_count; k++) {
        const char *constant = call->operands[k].output ? "" : "const ";
        qn_text_printf(out,
                       "    const int _quern_line%u = (int)_quern_walk.stride[%u][%d];\n"
                       "    %schar *const _quern_tile%u = _quern_place%u + "
                       "(long long)_quern_base * _quern_line%u;\n",
                       k, k, d, constant, k, k, k);
        if (waits(call, k)) {
            qn_text_printf(out,
                           "    char *const _quern_shelf%u = _quern_room%u + "
                           "quern::phase(_quern_tile%u) + _quern_above * _quern_line%u",
                           k, home(call, k), home(call, k), k);
            if (moves_element(call)) {
                qn_text_printf(out, " + _quern_element * %u", call->operands[k].item_size);
            }
            qn_text_puts(out, ";\n");
        }
    }
}

void qn_source_lines_fetch(qn_text *out, const qn_call *call)
{
    for (uint32_t k = 0; k < call->input_operands; k++) {
        qn_text_printf(out,
                       "    quern::bring<%u>(_quern_room%u, _quern_tile%u, "
                       "_quern_lines * _quern_line%u);\n",
                       call->operands[k].item_size, k, k, k);
    }
}

void qn_source_lines_ahead(qn_text *out, const qn_call *call)
{
    for (uint32_t k = 0; k < call->input_operands; k++) {
        qn_text_printf(
            out,
            "        quern::ask_ahead<256>(_quern_tile%u + (long long)_quern_walk.beside "
            "* _quern_line%u, _quern_lines * _quern_line%u);\n",
            k, k, k);
    }
}

void qn_source_lines_keep(qn_text *out, const qn_call *call)
{
    if (call->fold.form.back == QN_LINES_DIRECT) {
        return;
    }
    qn_text_puts(out, "    __syncthreads();\n");
    for (uint32_t k = call->input_operands; k < call->operand_count; k++) {
        qn_text_printf(out,
                       "    quern::take_back<%u>(_quern_tile%u, _quern_room%u, "
                       "quern::phase(_quern_tile%u), _quern_lines * _quern_line%u);\n",
                       call->operands[k].item_size, k, home(call, k), home(call, k), k);
    }
}

void qn_source_lines_unit(qn_text *out, const qn_call *call, int levels, uint32_t first,
                          uint32_t end)
{
    qn_source_indent(out, levels);
    qn_text_puts(out, "[[maybe_unused]] const _quern_index _quern_unit = "
                      "_quern_base + _quern_above + _quern_at + _quern_step;\n");
    for (uint32_t k = first; k < end; k++) {
        qn_source_indent(out, levels);
        if (call->operands[k].output) {
            qn_text_printf(out,
                           "char *const _quern_place%u = _quern_tile%u + "
                           "(_quern_above + _quern_at + _quern_step) * _quern_line%u",
                           k, k, k);
            if (moves_element(call)) {
                qn_text_printf(out, " + _quern_element * %u", call->operands[k].item_size);
            }
            qn_text_puts(out, ";\n");
        } else {
            qn_text_printf(out,
                           "const char *const _quern_place%u = _quern_shelf%u + "
                           "(_quern_at + _quern_step) * _quern_line%u;\n",
                           k, k, k);
        }
        qn_source_indent(out, levels);
        qn_text_printf(out, "constexpr long long _quern_reduced%u = 0;\n", k);
    }
    if (first < end && moves_element(call)) {
        qn_source_indent(out, levels);
        qn_text_puts(out, "[[maybe_unused]] constexpr _quern_index _quern_element = 0;\n");
    }
    qn_source_position_of(out, call, levels, call->fold.form.kept, "_quern_unit");
}

/* What is there already, as post's own elements: nobody reads it, unless post leaves it so. */
static void room_for_results(qn_text *out, const qn_call *call, uint32_t k)
{
    qn_text_printf(out,
                   "                quern::pack<%s, %d> _quern_register%u;\n"
                   "#pragma unroll\n"
                   "                for (int _quern_lane = 0; _quern_lane < _quern_lanes; "
                   "_quern_lane++)\n"
                   "                    _quern_register%u.v[_quern_lane] = ",
                   qn_source_type(call, call->operand_parameter[k]), call->fold.form.lanes, k, k);
    qn_source_fold_value(out, call, k, "_quern_element + _quern_lane");
}

static void put_results(qn_text *out, const qn_call *call, uint32_t k)
{
    const qn_fold_form *f = &call->fold.form;
    qn_text_printf(
        out,
        "                {\n                    char *const _quern_to = _quern_shelf%u + "
        "(_quern_at + _quern_step) * _quern_line%u",
        k, k);
    if (!moves_element(call)) {
        qn_text_printf(out, " + _quern_element * %u", call->operands[k].item_size);
    }
    qn_text_puts(out, ";\n");
    if (f->access[k] == QN_ACCESS_VECTOR) {
        qn_text_printf(out, "                    quern::put_pack(_quern_to, _quern_register%u);\n",
                       k);
    } else {
        const char *type = qn_source_type(call, call->operand_parameter[k]);
        qn_text_printf(out,
                       "#pragma unroll\n"
                       "                    for (int _quern_lane = 0; _quern_lane < _quern_lanes; "
                       "_quern_lane++)\n"
                       "                        ((%s *)_quern_to)[_quern_lane] = "
                       "_quern_register%u.v[_quern_lane];\n",
                       type, k);
    }
    qn_text_puts(out, "                }\n");
}

void qn_source_lines_results(qn_text *out, const qn_call *call)
{
    for (uint32_t k = call->input_operands; k < call->operand_count; k++) {
        room_for_results(out, call, k);
    }
}

void qn_source_lines_put(qn_text *out, const qn_call *call)
{
    for (uint32_t k = call->input_operands; k < call->operand_count; k++) {
        put_results(out, call, k);
    }
}
