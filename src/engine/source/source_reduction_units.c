/* SPDX-License-Identifier: MIT
 *
 * source_reduction_units: units of a reduction on their way into registers. In: a call whose fold
 * is planned by rows, columns, spans or phases. Out: the holes of their templates that read a batch
 * of units and give one of them. The thing to know: all reads of a batch come before the first is
 * taken apart, and narrow elements wait as the words that were read.
 */
#include "engine/source/source_folds.h"

void qn_source_shared_form(qn_text *out, const qn_call *call)
{
    const qn_fold_form *f = &call->fold.form;
    qn_source_number(out, "counters", QN_FOLD_COUNTER_BYTES);
    qn_source_flag(out, "split", f->split);
    qn_source_flag(out, "ragged", f->ragged != QN_RAGGED_NOT && !qn_fold_is_lined(f));
    qn_text_puts(out, f->split ? "" : "    constexpr char *_quern_workspace = nullptr;\n");
}

/* Rows whose units may share elements. */
static bool is_cut_rows(const qn_call *call)
{
    return call->fold.form.cut && !call->fold.form.columns;
}

/* Packs of narrow elements wait as the words that were read: the compiler would take each apart
 * before it reads the next. Phases have all packs so, since some are put together from elements. */
bool qn_source_waits_as_words(const qn_call *call, uint32_t k)
{
    const uint8_t access = call->fold.form.access[k];
    return access == QN_ACCESS_WORDS ||
           (access == QN_ACCESS_VECTOR &&
            (call->operands[k].item_size < 4 || call->fold.form.phases));
}

bool qn_source_has_edges(const qn_call *call)
{
    const qn_fold_form *f = &call->fold.form;
    bool words = false;
    for (uint32_t k = 0; k < call->input_operands; k++) {
        words |= f->access[k] == QN_ACCESS_WORDS;
    }
    return words && f->columns;
}

/* A unit on its way, as words. One that lies anywhere shares its first and last with what lies
 * beside: at the ends of the output that may be no memory. Two units of a row may be so near to its
 * end, or its beginning, as they may share elements. */
static void load_words(qn_text *out, const qn_call *call, uint32_t k)
{
    const int near = call->fold.form.columns ? 1 : 2;
    if (call->fold.form.access[k] == QN_ACCESS_WORDS) {
        qn_text_puts(out, "                if (");
        if (qn_source_has_edges(call)) {
            qn_text_puts(out, "_quern_at_edge");
        } else {
            qn_text_printf(out, "_quern_unit < %d || _quern_unit >= _quern_units - %d", near, near);
        }
        qn_text_printf(out, ") _quern_registers%u[_quern_turn].load_each(&", k);
        qn_source_fold_element(out, call, k, "_quern_element");
        qn_text_puts(out, ");\n                else\n    ");
    }
    qn_text_printf(out, "                _quern_registers%u[_quern_turn].load(&", k);
    qn_source_fold_element(out, call, k, "_quern_element");
    qn_text_puts(out, ");\n");
}

/* Columns with one reduced dimension: the next unit is always as far from the one before, so that
 * finding it takes one addition. From the start of the batch it took ten instructions, since the
 * compiler multiplied for each unit. */
static bool has_pace(const qn_call *call)
{
    const qn_fold_form *f = &call->fold.form;
    return f->columns && !f->phases && f->reduced == 1 && !call->kernel->uses_axes;
}

/* Units in turns: the compiler is kept from multiplying. It unrolls no loop in which it is. */
static bool is_opaque(const qn_call *call)
{
    return call->fold.form.turns > 0;
}

/* From the array on, and no pointer: of one that it does not know, or that was made a number, the
 * compiler does not know that nothing writes to its memory. */
void qn_source_unit_paces(qn_text *out, const qn_call *call)
{
    const int d = call->fold.form.kept;
    for (uint32_t k = 0; k < call->input_operands && has_pace(call); k++) {
        qn_text_printf(out,
                       "    const long long _quern_pace%u = %s((long long)_quern_step * "
                       "_quern_walk.stride[%u][%d]);\n"
                       "    const long long _quern_reduced%u = (long long)_quern_first * "
                       "_quern_walk.stride[%u][%d];\n"
                       "    long long _quern_there%u = ",
                       k, is_opaque(call) ? "quern::anew" : "", k, d, k, k, d, k);
        qn_source_fold_offset(out, call, k, "_quern_element");
        qn_text_puts(out, ";\n");
    }
}

/* A unit at an end of memory is not on the way of the others. */
void qn_source_unit_advance(qn_text *out, const qn_call *call)
{
    const int d = call->fold.form.kept;
    for (uint32_t k = 0; k < call->input_operands && has_pace(call); k++) {
        const bool edges = qn_source_has_edges(call);
        qn_text_printf(out, "            long long _quern_here%u = _quern_there%u;\n", k, k);
        if (edges) {
            qn_text_printf(out,
                           "            if constexpr (_quern_at_edge) {\n"
                           "                _quern_here%u += ((long long)_quern_start - "
                           "_quern_first) * _quern_walk.stride[%u][%d];\n"
                           "            } else\n    ",
                           k, k, d);
        }
        qn_text_printf(out,
                       is_opaque(call)
                           ? "            _quern_there%u = quern::anew(_quern_there%u + "
                             "_quern_pace%u);\n"
                           : "            _quern_there%u = _quern_there%u + _quern_pace%u;\n",
                       k, k, k);
    }
}

/* Elements of the line at `_quern_reducedK` that are before its first unit: the first operand that
 * is reached by vector is aligned behind them. */
void qn_source_line_head(qn_text *out, const qn_call *call)
{
    const uint32_t k = qn_source_anchor(call);
    qn_text_printf(out,
                   "(int)(-((unsigned long long)(_quern_place%u + _quern_reduced%u) / %u) "
                   "%% _quern_lanes);\n",
                   k, k, call->operands[k].item_size);
}

void qn_source_unit_offsets(qn_text *out, const qn_call *call)
{
    if (!has_pace(call)) {
        qn_source_reduced(out, call, 4, 0, call->input_operands);
        if (qn_fold_is_lined(&call->fold.form)) {
            qn_text_puts(out, "                _quern_element += ");
            qn_source_line_head(out, call);
        }
        return;
    }
    qn_text_puts(out, "                constexpr int _quern_element = 0;\n");
    for (uint32_t k = 0; k < call->input_operands; k++) {
        qn_text_printf(out,
                       "                const char *const _quern_place%u = (const char "
                       "*)_quern_array%u + _quern_here%u;\n"
                       "                constexpr long long _quern_reduced%u = 0;\n",
                       k, call->operand_parameter[k], k, k);
    }
}

/* Room for a batch of units. */
void qn_source_unit_registers(qn_text *out, const qn_call *call)
{
    if (is_cut_rows(call)) {
        qn_text_puts(out, "        int _quern_owns[_quern_batch];\n"
                          "        [[maybe_unused]] _quern_index _quern_spots[_quern_batch];\n");
    }
    for (uint32_t k = 0; k < call->input_operands; k++) {
        const bool words = qn_source_waits_as_words(call, k);
        const bool shifted = call->fold.form.access[k] == QN_ACCESS_WORDS;
        qn_text_printf(out, "        %s",
                       shifted ? "quern::shifted<"
                       : words ? "quern::held<"
                               : "");
        qn_source_register_type(out, call, k, call->fold.form.lanes > 1);
        qn_text_printf(out, "%s _quern_registers%u[_quern_batch];\n", words ? ">" : "", k);
    }
}

void qn_source_unit_load(qn_text *out, const qn_call *call)
{
    qn_source_unit_offsets(out, call);
    qn_source_unit_fetch(out, call);
}

void qn_source_unit_fetch(qn_text *out, const qn_call *call)
{
    for (uint32_t k = 0; k < call->input_operands; k++) {
        if (qn_source_waits_as_words(call, k)) {
            load_words(out, call, k);
            continue;
        }
        qn_source_load_input(out, call, 4, k, "_quern_element", call->fold.form.lanes > 1);
        qn_text_printf(
            out, "                _quern_registers%u[_quern_turn] = _quern_register%u;\n", k, k);
    }
}

/* The unit that was read, and where it lay. */
void qn_source_unit_recall(qn_text *out, const qn_call *call)
{
    if (is_cut_rows(call)) {
        qn_text_puts(
            out, "            [[maybe_unused]] const int _quern_own = _quern_owns[_quern_turn];\n");
    }
    for (uint32_t k = 0; k < call->input_operands; k++) {
        if (qn_source_waits_as_words(call, k)) {
            qn_text_puts(out, "            ");
            qn_source_register_type(out, call, k, true);
            qn_text_printf(out,
                           " _quern_register%u;\n"
                           "            _quern_registers%u[_quern_turn].give(_quern_register%u);\n",
                           k, k, k);
            continue;
        }
        qn_text_printf(
            out, "            const auto &_quern_register%u = _quern_registers%u[_quern_turn];\n",
            k, k);
    }
    if (call->kernel->uses_axes) {
        qn_source_reduced(out, call, 3, 0, 0);
    }
}
