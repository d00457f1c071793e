/* SPDX-License-Identifier: MIT
 *
 * source_reduction_phases: a reduction by phases. In: a call whose fold is planned so
 * (src/array/fold_phases.c). Out: the holes of templates/reduction_phases.cu. The thing to know:
 * units are those of columns, each thread's a row of its phase further on; packs wait as words,
 * also at the edges, where they are put together from elements.
 */
#include "engine/source/source_folds.h"
#include <string.h>

/* True when a text may do harm with the value of an element that is not the row's: look something
 * up by it, or call what does. */
static bool is_careful(const qn_call *call)
{
    const quern_kernel *kernel = call->kernel;
    bool careful = !qn_text_is_blank(kernel->texts[QN_PREAMBLE].text) ||
                   strchr(kernel->texts[QN_MAP].text, '[') ||
                   strchr(kernel->texts[QN_REDUCE].text, '[');
    for (uint32_t p = 0; p < kernel->signature.count; p++) {
        careful |= kernel->signature.parameters[p].raw;
    }
    return careful;
}

/* How many elements the block's first column is behind an aligned one, in phase 0, and how many
 * more in each phase; units of a line. And where the rows of the thread's phase begin. */
static void ends_hole(qn_text *out, const qn_call *call)
{
    const qn_fold_form *f = &call->fold.form;
    const int line = f->kept + f->reduced - 1;
    const uint32_t anchor = qn_source_anchor(call), item = call->operands[anchor].item_size;
    qn_text_printf(out,
                   "    const int _quern_off = (int)(((unsigned long long)_quern_place%u / %u + "
                   "_quern_front) %% _quern_lanes);\n"
                   "    const int _quern_shift = (int)(_quern_walk.stride[%u][%d] / %u / "
                   "_quern_lanes %% _quern_lanes);\n"
                   "    [[maybe_unused]] const _quern_index _quern_spans = "
                   "_quern_walk.extent[%d].value;\n",
                   anchor, item, anchor, line, item, line);
    for (uint32_t k = 0; k < call->input_operands; k++) {
        qn_text_printf(
            out,
            "    const char *const _quern_row%u = _quern_place%u + (long long)(threadIdx.x "
            "/ _quern_beside) * (_quern_walk.stride[%u][%d] / _quern_lanes);\n",
            k, k, k, line);
    }
}

/* Where texts use positions: how many elements an output has behind the units of a line. */
static void spots_hole(qn_text *out)
{
    qn_text_puts(out, "    [[maybe_unused]] const int _quern_beyond = (int)_quern_walk.rest;");
}

/* Lines before the one that unit `_quern_unit` is in. */
static void lines_before(qn_text *out, const qn_call *call)
{
    const qn_fold_form *f = &call->fold.form;
    if (f->reduced > 1) {
        qn_text_printf(out, "_quern_walk.extent[%d].divide(_quern_unit)", f->kept + f->reduced - 1);
    } else {
        qn_text_puts(out, "0");
    }
}

static void position_hole(qn_text *out, const qn_call *call)
{
    if (call->kernel->uses_position) {
        qn_text_puts(out,
                     "            const _quern_index _quern_base = _quern_unit * _quern_lanes + "
                     "_quern_phase + _quern_beyond * ");
        lines_before(out, call);
        qn_text_puts(out, ";");
    }
}

/* A pack that reaches over an edge of all rows, where may be no memory, comes in part. */
static void load_hole(qn_text *out, const qn_call *call)
{
    qn_text_puts(out, "                const bool _quern_edge =\n"
                      "                    (_quern_first_edge && _quern_unit == 0) ||\n"
                      "                    (_quern_last_edge && "
                      "_quern_unit == _quern_walk.units - 1);\n");
    qn_source_unit_offsets(out, call);
    for (uint32_t k = 0; k < call->input_operands; k++) {
        qn_text_printf(out,
                       "                {\n                const char *const _quern_place%u = "
                       "_quern_row%u;\n",
                       k, k);
        if (call->fold.form.access[k] == QN_ACCESS_VECTOR) {
            qn_text_printf(out, "                const void *const _quern_from = &");
            qn_source_fold_element(out, call, k, "_quern_element");
            qn_text_printf(
                out,
                ";\n                if (_quern_edge) {\n"
                "                    _quern_registers%u[_quern_turn].load_some(_quern_from, "
                "_quern_low, _quern_high);\n"
                "                } else {\n"
                "                    _quern_registers%u[_quern_turn].load(_quern_from);\n"
                "                }\n",
                k, k);
        } else {
            qn_source_load_input(out, call, 4, k, "_quern_element", true);
            qn_text_printf(out,
                           "                _quern_registers%u[_quern_turn] = _quern_register%u;\n",
                           k, k);
        }
        qn_text_puts(out, "                }\n");
    }
}

/* An element of a row that no unit has: `_quern_row` rows behind the last unit of the line. */
static void take_element_hole(qn_text *out, const qn_call *call)
{
    const qn_fold_form *f = &call->fold.form;
    if (f->ragged == QN_RAGGED_NOT) {
        return;
    }
    qn_source_reduced(out, call, 4, 0, call->input_operands);
    qn_text_puts(out, "                {\n");
    for (uint32_t k = 0; k < call->input_operands; k++) {
        qn_text_printf(out,
                       "                const char *const _quern_behind%u = _quern_place%u + "
                       "(long long)(_quern_lanes + _quern_row) * "
                       "(_quern_walk.stride[%u][%d] / _quern_lanes);\n",
                       k, k, k, f->kept + f->reduced - 1);
    }
    qn_text_puts(out, "                {\n");
    for (uint32_t k = 0; k < call->input_operands; k++) {
        qn_text_printf(out, "                const char *const _quern_place%u = _quern_behind%u;\n",
                       k, k);
        qn_source_load_input(out, call, 4, k, "_quern_element", false);
    }
    qn_text_puts(out, "                _quern_take(_quern_own, true, _quern_map(");
    qn_source_arguments(out, call, false);
    if (call->kernel->uses_position) {
        qn_text_puts(out, "(_quern_unit + 1) * _quern_lanes + _quern_row + _quern_beyond * "
                          "_quern_line");
    } else {
        qn_text_puts(out, "0");
    }
    qn_text_puts(out, "));\n                }\n                }");
}

/* ---- the whole ------------------------------------------------------------------------------ */

enum { QN_REDUCTION_HOLES(QN_HOLE_ID) };

void qn_source_phases_holes(qn_text *t, const qn_call *call)
{
    qn_source_flag(&t[FORM], "careful", is_careful(call));
    ends_hole(&t[ENDS], call);
    spots_hole(&t[SPOTS]);
    load_hole(&t[LOAD], call);
    position_hole(&t[POSITION], call);
    qn_source_arguments(&t[ARGUMENTS], call, true);
    qn_text_puts(&t[SPOT], call->kernel->uses_position ? "_quern_base" : "0");
    take_element_hole(&t[TAKE_ELEMENT], call);
    qn_source_finish(&t[FINISH], call, "_quern_own.value");
    qn_source_fold_outputs(&t[RESULTS], call, "_quern_element");
}
