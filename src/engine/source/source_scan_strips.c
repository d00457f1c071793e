/* SPDX-License-Identifier: MIT
 *
 * source_scan_strips: how the threads of templates/scan_strips.cu go down their columns, in CUDA
 * C++, and those of templates/scan_descend.cu. In: the form of a fold. Out: for each operand the
 * address of a position, from that of the first. The thing to know: what reads and writes a unit
 * (source_scan_units.c) asks for
 * `_quern_placeK`, `_quern_reducedK` and `_quern_element`; inside a unit these names mean the
 * address of its position.
 */
#include "engine/source/source_folds.h"

/* Where the element lies along the lanes is part of that address, unless a text asks for it.
 */
static bool moves_element(const qn_call *call)
{
    return !call->kernel->uses_axes;
}

/* An operand's element at the first position of the thread's strip, or the last one that is there.
 */
static void begin(qn_text *out, const qn_call *call, uint32_t k)
{
    const qn_fold_form *f = &call->fold.form;
    qn_text_printf(out,
                   "_quern_place%u + (long long)min(_quern_from, _quern_last) * "
                   "_quern_walk.stride[%u][%d]",
                   k, k, f->kept);
    if (moves_element(call) && f->access[k] == QN_ACCESS_STRIDED) {
        qn_text_printf(out, " + (long long)_quern_element * _quern_walk.stride[%u][%d]", k,
                       qn_fold_lane_dim(f));
    } else if (moves_element(call) && f->access[k] != QN_ACCESS_BROADCAST) {
        qn_text_printf(out, " + (long long)_quern_element * %u", call->operands[k].item_size);
    }
    qn_text_puts(out, ";\n");
}

/* True for an operand that moves on with each unit; else a unit has its number. */
static bool moves_on(const qn_call *call, uint32_t k)
{
    return call->operands[k].output || call->fold.form.descends;
}

void qn_source_strips_begin(qn_text *out, const qn_call *call)
{
    for (uint32_t k = 0; k < call->operand_count; k++) {
        qn_text_printf(out,
                       call->operands[k].output ? "    char *_quern_next%u = "
                       : moves_on(call, k)      ? "    const char *_quern_next%u = "
                                                : "    const char *const _quern_begin%u = ",
                       k);
        begin(out, call, k);
    }
}

void qn_source_strips_unit(qn_text *out, const qn_call *call, int levels, uint32_t first,
                           uint32_t end)
{
    const int d = call->fold.form.kept;
    for (uint32_t k = first; k < end; k++) {
        qn_source_indent(out, levels);
        if (moves_on(call, k)) {
            qn_text_printf(out,
                           "%schar *const _quern_place%u = _quern_next%u;\n"
                           "%*s_quern_next%u += _quern_walk.stride[%u][%d];\n",
                           call->operands[k].output ? "" : "const ", k, k, 4 * levels, "", k, k, d);
        } else {
            qn_text_printf(out,
                           "const char *const _quern_place%u = _quern_begin%u + quern::product("
                           "(_quern_index)min(_quern_step, _quern_room), "
                           "_quern_walk.stride[%u][%d]);\n",
                           k, k, k, d);
        }
        qn_source_indent(out, levels);
        qn_text_printf(out, "constexpr long long _quern_reduced%u = 0;\n", k);
    }
    if (first < end && moves_element(call)) {
        qn_source_indent(out, levels);
        qn_text_puts(out, "[[maybe_unused]] constexpr _quern_index _quern_element = 0;\n");
    }
    qn_source_position_of(out, call, levels, d, "_quern_unit");
}

bool qn_source_strips_has_words(const qn_call *call, uint32_t k)
{
    const qn_fold_form *f = &call->fold.form;
    const bool narrow = call->operands[k].item_size < 4; /* elements that take a register each */
    return ((f->strips && !f->lines) || (f->descends && narrow)) && !call->operands[k].output &&
           f->lanes > 1 && f->access[k] == QN_ACCESS_VECTOR;
}

void qn_source_strips_recall(qn_text *out, const qn_call *call)
{
    for (uint32_t k = 0; k < call->input_operands; k++) {
        if (qn_source_strips_has_words(call, k)) {
            qn_text_printf(out,
                           "            quern::pack<%s, %d> _quern_register%u[_quern_steps];\n"
                           "            _quern_words%u[_quern_step].give("
                           "_quern_register%u[_quern_step]);\n",
                           qn_source_type(call, call->operand_parameter[k]), call->fold.form.lanes,
                           k, k, k);
        }
    }
}

void qn_source_strips_renew(qn_text *out, const qn_call *call)
{
    for (uint32_t k = 0; k < call->input_operands; k++) {
        if (call->fold.form.access[k] != QN_ACCESS_BROADCAST) {
            qn_text_printf(out, "            quern::renew(_quern_%s%u[_quern_step]);\n",
                           qn_source_strips_has_words(call, k) ? "words" : "register", k);
        }
    }
}

/* ---- held ----------------------------------------------------------------------------------- */

void qn_source_strips_room(qn_text *out, const qn_call *call)
{
    const qn_fold_form *f = &call->fold.form;
    uint32_t at = 0;
    for (uint32_t k = 0; k < call->input_operands; k++) {
        const uint32_t bytes = f->lanes * call->operands[k].item_size;
        qn_text_printf(out,
                       "    quern::stock<%u, _quern_parked, _quern_steps - _quern_parked, %d> "
                       "_quern_stock%u((char *)_quern_words + %u);\n",
                       bytes, QN_FOLD_BLOCK, k, at);
        at += bytes * f->held * QN_FOLD_BLOCK;
    }
}

void qn_source_strips_words(qn_text *out, const qn_call *call, const char *function)
{
    for (uint32_t k = 0; k < call->input_operands; k++) {
        qn_text_printf(out,
                       "        _quern_stock%u.%s(_quern_step, _quern_begin%u + (long long)"
                       "min(_quern_step, _quern_room) * _quern_walk.stride[%u][%d]);\n",
                       k, function, k, k, call->fold.form.kept);
    }
}

void qn_source_strips_taken(qn_text *out, const qn_call *call)
{
    const qn_fold_form *f = &call->fold.form;
    for (uint32_t k = 0; k < call->input_operands; k++) {
        qn_text_printf(out, f->lanes > 1 ? "        quern::pack<%s, %d> " : "        %s ",
                       qn_source_held_type(call, k), f->lanes);
        qn_text_printf(out,
                       "_quern_register%u[_quern_batch];\n"
                       "        _quern_stock%u.take(_quern_registers, _quern_at, "
                       "_quern_register%u);\n",
                       k, k, k);
    }
}
