/* SPDX-License-Identifier: MIT
 *
 * source_reduction_spans: a reduction by spans. In: a call whose fold is planned so
 * (src/array/fold_spans.c). Out: the holes of templates/reduction_spans.cu. The thing to know:
 * units are those of columns, of which the lanes are those of a span; where an output lies is found
 * at the end, when the lanes have met.
 */
#include "engine/source/source_folds.h"

/* The dimension of a line's spans; -1: a line is one. */
static int spans_dim(const qn_fold_form *f)
{
    return f->line ? f->kept + f->reduced - 1 : -1;
}

static void ends_hole(qn_text *out, const qn_call *call)
{
    const qn_fold_form *f = &call->fold.form;
    const int spans = spans_dim(f);
    qn_text_printf(out, "    const int _quern_packs = _quern_walk.extent[%d].value;\n",
                   f->kept - 1);
    qn_text_puts(out, "    [[maybe_unused]] const int _quern_span = _quern_packs * _quern_lanes;\n"
                      "    [[maybe_unused]] const _quern_index _quern_spans = ");
    if (spans >= 0) {
        qn_text_printf(out, "_quern_walk.extent[%d].value;\n", spans);
    } else {
        qn_text_puts(out, "1;\n");
    }
    if (f->ragged != QN_RAGGED_EACH) {
        qn_text_puts(out, "    constexpr int _quern_head = 0;");
        return;
    }
    const uint32_t k = qn_source_anchor(call);
    qn_text_printf(
        out,
        "    const int _quern_head = (int)(-((unsigned long long)_quern_place%u / %u) %% "
        "_quern_lanes);",
        k, call->operands[k].item_size);
}

/* Where texts use positions: where each lane lies among the elements of its output in one span, and
 * how many elements an output has in a span and behind the spans of a line. */
static void spots_hole(qn_text *out, const qn_call *call)
{
    if (!call->kernel->uses_position) {
        return;
    }
    qn_text_puts(
        out,
        "    const int _quern_in_span = _quern_span / (int)_quern_walk.across;\n"
        "    [[maybe_unused]] const _quern_index _quern_beyond = "
        "_quern_walk.rest / _quern_walk.across;\n"
        "    int _quern_spots[_quern_lanes];\n"
        "#pragma unroll\n"
        "    for (int _quern_lane = 0; _quern_lane < _quern_lanes; _quern_lane++) {\n"
        "        const int _quern_x = (int)_quern_element + _quern_lane;\n"
        "        const int _quern_row = _quern_x / (int)(_quern_walk.across * _quern_walk.run);\n"
        "        _quern_spots[_quern_lane] = _quern_row * (int)_quern_walk.run + "
        "_quern_x % (int)_quern_walk.run;\n"
        "    }");
}

/* Where the output's elements of a unit begin among them all. */
static void position_hole(qn_text *out, const qn_call *call)
{
    const qn_fold_form *f = &call->fold.form;
    if (!call->kernel->uses_position) {
        return;
    }
    qn_text_puts(out, "            const _quern_index _quern_base = _quern_unit * _quern_in_span");
    if (f->ragged != QN_RAGGED_NOT && f->reduced > 1) {
        qn_text_printf(out, " + _quern_walk.extent[%d].divide(_quern_unit) * _quern_beyond",
                       spans_dim(f));
    }
    qn_text_puts(out, ";");
}

/* An element that no span covers. */
static void take_element_hole(qn_text *out, const qn_call *call)
{
    if (call->fold.form.ragged == QN_RAGGED_NOT) {
        return;
    }
    qn_source_reduced(out, call, 4, 0, call->input_operands);
    for (uint32_t k = 0; k < call->input_operands; k++) {
        qn_source_load_input(out, call, 4, k, "_quern_element", false);
    }
    qn_text_puts(out, "                _quern_take(_quern_own, _quern_has, _quern_map(");
    qn_source_arguments(out, call, false);
    qn_text_puts(out, call->kernel->uses_position
                          ? "_quern_line * (_quern_spans * _quern_in_span + _quern_beyond) + "
                            "_quern_row * _quern_run + _quern_in_run"
                          : "0");
    qn_text_puts(out, "));");
}

/* Combine with the identity, once; and where the output lies. */
static void finish_hole(qn_text *out, const qn_call *call)
{
    const qn_fold_form *f = &call->fold.form;
    const uint32_t first = call->input_operands, end = call->operand_count;
    qn_source_finish(out, call, "_quern_own.value");
    qn_source_split(out, call, 2, f->outer, f->kept - 1, "_quern_mine", "_quern_given", first, end);
    for (uint32_t k = first; k < end; k++) {
        qn_text_printf(out,
                       "        char *const _quern_found%u = _quern_place%u + _quern_given%u;\n", k,
                       k, k);
    }
    qn_text_puts(out, "        {\n");
    for (uint32_t k = first; k < end; k++) {
        qn_text_printf(out, "        char *const _quern_place%u = _quern_found%u;\n", k, k);
    }
}

/* ---- the whole ------------------------------------------------------------------------------ */

enum { QN_REDUCTION_HOLES(QN_HOLE_ID) };

void qn_source_spans_holes(qn_text *t, const qn_call *call)
{
    qn_source_number(&t[FORM], "room", 1 << call->fold.form.room);
    qn_source_number(&t[FORM], "ends", call->fold.form.known);
    ends_hole(&t[ENDS], call);
    spots_hole(&t[SPOTS], call);
    qn_source_unit_load(&t[LOAD], call);
    position_hole(&t[POSITION], call);
    qn_source_arguments(&t[ARGUMENTS], call, true);
    qn_text_puts(&t[SPOT],
                 call->kernel->uses_position ? "_quern_base + _quern_spots[_quern_lane]" : "0");
    take_element_hole(&t[TAKE_ELEMENT], call);
    finish_hole(&t[FINISH], call);
    qn_source_fold_outputs(&t[RESULTS], call, "0");
    qn_text_puts(&t[GIVE], "        }");
}
