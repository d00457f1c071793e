/* SPDX-License-Identifier: MIT
 *
 * source_reduction_phases: the CUDA source of a reduction by phases. In: a call whose fold is
 * planned so (src/array/fold_phases.c). Out: the text of templates/reduction_phases.cu with its
 * holes filled. The thing to know: units are those of columns, each thread's a row of its phase
 * further on; packs wait as words, also at the edges, where they are put together from elements.
 */
#include "embedded/templates.h"
#include "engine/folding.h"
#include "engine/source/source.h"
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

static void form_hole(qn_text *out, const qn_call *call)
{
    const qn_fold_form *f = &call->fold.form;
    qn_source_index_type(out, f->wide);
    qn_source_number(out, "lanes", f->lanes);
    qn_source_number(out, "batch", f->turns);
    qn_source_number(out, "counters", QN_FOLD_COUNTER_BYTES);
    qn_source_flag(out, "split", f->split);
    qn_source_flag(out, "ragged", f->ragged != QN_RAGGED_NOT);
    qn_source_flag(out, "careful", is_careful(call));
    qn_text_puts(out, f->split ? "" : "    constexpr char *_quern_workspace = nullptr;\n");
}

static bool is_pack(const qn_call *call, uint32_t k)
{
    return call->fold.form.access[k] == QN_ACCESS_VECTOR;
}

/* How many elements the block's first column is behind an aligned one, in phase 0, and how many
 * more in each phase; units of a line. And where the rows of the thread's phase begin. */
static void ends_hole(qn_text *out, const qn_call *call)
{
    const qn_fold_form *f = &call->fold.form;
    const int line = f->kept + f->reduced - 1;
    uint32_t k = 0;
    while (!is_pack(call, k)) {
        k++;
    }
    const uint32_t item = call->operands[k].item_size;
    qn_text_printf(out,
                   "    const int _quern_off = (int)(((unsigned long long)_quern_place%u / %u + "
                   "_quern_front) %% _quern_lanes);\n"
                   "    const int _quern_shift = (int)(_quern_walk.stride[%u][%d] / %u / "
                   "_quern_lanes %% _quern_lanes);\n"
                   "    [[maybe_unused]] const _quern_index _quern_spans = "
                   "_quern_walk.extent[%d].value;\n",
                   k, item, k, line, item, line);
    for (k = 0; k < call->input_operands; k++) {
        qn_text_printf(
            out,
            "    const char *const _quern_row%u = _quern_place%u + (long long)(threadIdx.x "
            "/ _quern_beside) * (_quern_walk.stride[%u][%d] / _quern_lanes);\n",
            k, k, k, line);
    }
}

/* Where texts use positions: how many elements an output has behind the units of a line. */
static void spots_hole(qn_text *out, const qn_call *call)
{
    (void)call;
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

static void arguments_hole(qn_text *out, const qn_call *call)
{
    qn_source_arguments(out, call, true);
    qn_text_puts(out, call->kernel->uses_position ? "_quern_base" : "0");
}

static void registers_hole(qn_text *out, const qn_call *call)
{
    qn_source_unit_starts(out, call);
    for (uint32_t k = 0; k < call->input_operands; k++) {
        qn_text_printf(out, "        %s", is_pack(call, k) ? "quern::held<" : "");
        qn_source_register_type(out, call, k, true);
        qn_text_printf(out, "%s _quern_registers%u[_quern_batch];\n", is_pack(call, k) ? ">" : "",
                       k);
    }
}

static void load_hole(qn_text *out, const qn_call *call)
{
    qn_source_unit_offsets(out, call);
    for (uint32_t k = 0; k < call->input_operands; k++) {
        qn_text_printf(out,
                       "                {\n                const char *const _quern_place%u = "
                       "_quern_row%u;\n",
                       k, k);
        if (is_pack(call, k)) {
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

static void recall_hole(qn_text *out, const qn_call *call)
{
    for (uint32_t k = 0; k < call->input_operands; k++) {
        if (is_pack(call, k)) {
            qn_text_puts(out, "            ");
            qn_source_register_type(out, call, k, true);
            qn_text_printf(out,
                           " _quern_register%u;\n"
                           "            _quern_registers%u[_quern_turn].give(_quern_register%u);\n",
                           k, k, k);
        } else {
            qn_text_printf(out,
                           "            const auto &_quern_register%u = "
                           "_quern_registers%u[_quern_turn];\n",
                           k, k);
        }
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

/* Combine with the identity, once. */
static void finish_hole(qn_text *out, const qn_call *call)
{
    if (call->kernel->has_identity) {
        qn_text_puts(out, "        const _type_reduce _quern_identity = _type_reduce(\n");
        qn_source_closed(out, call, QN_IDENTITY, ");");
        qn_text_puts(out, "        _quern_own.value = _quern_reduce(_quern_identity, "
                          "_quern_own.value);");
    }
}

static void results_hole(qn_text *out, const qn_call *call)
{
    for (uint32_t k = call->input_operands; k < call->operand_count; k++) {
        qn_source_fold_output(out, call, k, "_quern_element");
    }
}

/* ---- the whole ------------------------------------------------------------------------------ */

#define HOLES(X)                                                                                   \
    QN_FOLD_HOLES(X)                                                                               \
    X(REDUCE, reduce)                                                                              \
    X(OUTPUTS, outputs)                                                                            \
    X(BOUNDS, bounds)                                                                              \
    X(FORM, form)                                                                                  \
    X(ENDS, ends)                                                                                  \
    X(SPOTS, spots)                                                                                \
    X(PACES, paces)                                                                                \
    X(REGISTERS, registers)                                                                        \
    X(LOAD, load)                                                                                  \
    X(RECALL, recall)                                                                              \
    X(POSITION, position)                                                                          \
    X(ARGUMENTS, arguments)                                                                        \
    X(TAKE_ELEMENT, take_element)                                                                  \
    X(FINISH, finish)                                                                              \
    X(RESULTS, results)

enum { HOLES(QN_HOLE_ID) HOLE_COUNT };
_Static_assert(HOLE_COUNT <= QN_TEMPLATE_HOLES, "room for all holes");

quern_status qn_reduction_phases_source(qn_text *out, const qn_call *call, qn_header *headers,
                                        size_t *header_count)
{
    qn_text t[HOLE_COUNT] = {{0}};
    qn_source_fold_holes(t, call);
    qn_source_function(&t[REDUCE], call, QN_REDUCE);
    qn_source_operands(&t[OUTPUTS], call, call->input_operands,
                       call->operand_count - call->input_operands);
    qn_text_printf(&t[BOUNDS], "%d, %d", QN_FOLD_BLOCK,
                   qn_fold_spans_held(call->fold.form.lanes, qn_scan_value_size(call)));
    form_hole(&t[FORM], call);
    ends_hole(&t[ENDS], call);
    spots_hole(&t[SPOTS], call);
    qn_source_unit_paces(&t[PACES], call);
    registers_hole(&t[REGISTERS], call);
    load_hole(&t[LOAD], call);
    recall_hole(&t[RECALL], call);
    position_hole(&t[POSITION], call);
    arguments_hole(&t[ARGUMENTS], call);
    take_element_hole(&t[TAKE_ELEMENT], call);
    finish_hole(&t[FINISH], call);
    results_hole(&t[RESULTS], call);
    const qn_source_template template = {
        .text = qn_embedded_reduction_phases_cu,
        .hole_names = (const char *const[]){HOLES(QN_HOLE_NAME)},
        .holes = t,
        .hole_count = HOLE_COUNT,
        .headers = QN_FOLD_HEADERS | QN_HEADER(QN_HEADER_PACK) | QN_HEADER(QN_HEADER_WORDS),
    };
    return qn_source_expand(out, call, &template, headers, header_count);
}
