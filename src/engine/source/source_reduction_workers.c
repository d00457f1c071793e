/* SPDX-License-Identifier: MIT
 *
 * source_reduction_workers: a reduction by rows or columns, of which each output has some workers.
 * In: a call whose fold is planned so. Out: the holes of templates/reduction.cu. The thing to know:
 * templates/README.md explains the names in it.
 */
#include "engine/source/source_folds.h"

/* ---- the form ------------------------------------------------------------------------------- */

/* How many units a thread loads at once. Of rows that several blocks share there are enough threads
 * for 16 bytes each to keep memory busy, and one unit compiles fastest; elements of one or two
 * bytes take so long to unpack that two units are better. Columns need more. */
static int units_in_flight(const qn_call *call)
{
    static const int by_lanes[] = {[1] = 4, [2] = 2, [4] = 1, [8] = 2, [16] = 2};
    const qn_fold_form *f = &call->fold.form;
    if (call->kernel->loops || call->kernel->heavy > 0 || f->turns > 0) {
        return 1;
    }
    if (f->known != 0) {
        return 1; /* a thread has one */
    }
    if (f->columns) {
        const uint32_t bytes = qn_fold_unit_bytes(f, call->operands, call->input_operands);
        return (int)qn_power_of_two(QN_FOLD_COLUMN_BYTES / (bytes + 1), 8);
    }
    return f->split || f->lanes > 4 ? by_lanes[f->lanes] : 4;
}

/* True where the lanes of a unit are folded by halves: those of neighbours have positions that are
 * a known step apart. An int8 of argmax takes 14 instructions so and no branch, where it took 20
 * and two branches (sm_90); by steps that are not known, no fewer. */
static bool folds_by_halves(const qn_call *call)
{
    const qn_fold_form *f = &call->fold.form;
    return f->lanes > 1 && !f->columns && !f->cut && (!f->reordered || f->step != 0) &&
           qn_source_holds_positions(call);
}

/* Threads of a block, and the blocks that a processor should hold. By halves, left alone, the
 * compiler takes 51 registers for argmax of int8 backwards, and a processor holds four blocks;
 * asked for six, it takes 39 and spills none. Larger values may need more. Columns with many bytes
 * under way would take so many registers that a processor held two; but with four blocks, and 64 KB
 * under way, argmax of 1024 columns of int16 goes at 0.75 of a copy's speed on an H200, with three
 * at 0.87. */
static void bounds_hole(qn_text *out, const qn_call *call, bool chooses)
{
    const qn_fold_form *f = &call->fold.form;
    const bool light = qn_fold_is_light(f, qn_scan_value_size(call));
    if (folds_by_halves(call)) {
        qn_text_printf(out, "%d, sizeof(_type_reduce) <= 16 ? 6 : 1", QN_FOLD_BLOCK);
    } else if (f->turns > 0 && (light || (chooses && f->columns && !f->cut && f->lanes > 4))) {
        qn_source_bounds(out, QN_FOLD_LIGHT_BLOCKS);
    } else {
        qn_text_printf(out, "%d", QN_FOLD_BLOCK);
    }
}

/* Code that chooses has its own way through a unit, and needs no constants of the other ways. */
static void form_hole(qn_text *out, const qn_call *call, bool chooses)
{
    const qn_fold_form *f = &call->fold.form;
    qn_source_number(out, "lanes", f->lanes);
    qn_source_number(out, "outputs", f->columns ? f->lanes : 1);
    qn_source_number(out, "flight", units_in_flight(call));
    qn_source_number(out, "batch", QN_MAX(f->turns, 1));
    qn_source_number(out, "known", f->known);
    qn_source_shared_form(out, call);
    qn_source_flag(out, "columns", f->columns);
    qn_source_flag(out, "single", f->split && f->kept == 0);
    qn_source_flag(out, "ordered", call->kernel->ordered);
    qn_source_flag(out, "lined", qn_fold_is_lined(f));
    if (chooses) {
        return;
    }
    qn_source_flag(out, "cut", f->cut && !f->columns);
    qn_source_flag(out, "halves", folds_by_halves(call));
    if (!f->cut) {
        qn_source_number(out, "own", 0);
    }
}

/* ---- elements ------------------------------------------------------------------------------- */

/* How many units the output has, elements before the first, and elements that no unit covers. Packs
 * of rows with a head each begin where the first operand that is reached by vector is aligned. */
static void ends_hole(qn_text *out, const qn_call *call)
{
    if (call->fold.form.ragged != QN_RAGGED_EACH || qn_fold_is_lined(&call->fold.form)) {
        qn_text_puts(out, "    const _quern_index _quern_units = _quern_walk.units;\n"
                          "    [[maybe_unused]] const _quern_index _quern_head = _quern_walk.head, "
                          "_quern_rest = _quern_walk.rest;");
        return;
    }
    const uint32_t k = qn_source_anchor(call);
    qn_text_printf(
        out,
        "    const _quern_index _quern_length = _quern_walk.covered + _quern_walk.rest;\n"
        "    const _quern_index _quern_head = (int)(-((unsigned long long)_quern_place%u "
        "/ %u) %% _quern_lanes);\n"
        "    const _quern_index _quern_units = (_quern_length - _quern_head) / "
        "_quern_lanes;\n"
        "    const _quern_index _quern_rest = _quern_length - _quern_units * "
        "_quern_lanes;",
        k, call->operands[k].item_size);
}

/* True when the first and the last elements of an output may be in no unit. */
static bool has_ends(const qn_call *call)
{
    return call->fold.form.ragged != QN_RAGGED_NOT && !qn_fold_is_lined(&call->fold.form);
}

/* Room for an element that no unit covers. */
static void element_registers_hole(qn_text *out, const qn_call *call)
{
    for (uint32_t k = 0; k < call->input_operands && has_ends(call); k++) {
        qn_text_puts(out, "    ");
        qn_source_register_type(out, call, k, false);
        qn_text_printf(out, " _quern_single%u;\n", k);
    }
}

static void load_element_hole(qn_text *out, const qn_call *call)
{
    if (!has_ends(call)) {
        return;
    }
    for (uint32_t k = 0; k < call->input_operands; k++) {
        qn_text_printf(out, "            const long long _quern_reduced%u = 0;\n", k);
    }
    qn_source_load(out, call, 3, "_quern_element", false);
    for (uint32_t k = 0; k < call->input_operands; k++) {
        qn_text_printf(out, "            _quern_single%u = _quern_register%u;\n", k, k);
    }
}

static void take_element_hole(qn_text *out, const qn_call *call)
{
    if (!has_ends(call)) {
        return;
    }
    for (uint32_t k = 0; k < call->input_operands; k++) {
        qn_text_printf(out, "            const auto &_quern_register%u = _quern_single%u;\n", k, k);
    }
    qn_source_position_of(out, call, 3, qn_fold_lane_dim(&call->fold.form), "_quern_element");
    qn_text_puts(out, "            _quern_take(_quern_values[0], _quern_has, _quern_map(");
    qn_source_arguments(out, call, false);
    qn_source_element_position(out, call);
    qn_text_puts(out, "));");
}

/* The same of all lines: the ends of each count as if they were two units. */
static void take_line_end_hole(qn_text *out, const qn_call *call)
{
    const qn_fold_form *f = &call->fold.form;
    if (!qn_fold_is_lined(f)) {
        return;
    }
    qn_source_split(out, call, 3, f->kept, qn_fold_lane_dim(f), "_quern_unit / (2 * _quern_lanes)",
                    "_quern_reduced", 0, call->input_operands);
    qn_text_puts(out, "            const int _quern_at = (int)(_quern_unit % (2 * _quern_lanes));\n"
                      "            const int _quern_front = ");
    qn_source_line_head(out, call);
    qn_text_printf(out,
                   "            if (_quern_at >= _quern_walk.head) {\n"
                   "                continue;\n"
                   "            }\n"
                   "            const _quern_index _quern_element = _quern_at < _quern_front\n"
                   "                ? _quern_at : _quern_at + _quern_walk.extent[%d].value * "
                   "_quern_lanes;\n",
                   qn_fold_lane_dim(f));
    qn_source_load(out, call, 3, "_quern_element", false);
    qn_text_puts(out, "            _quern_take(_quern_values[0], true, _quern_map(");
    qn_source_arguments(out, call, false);
    qn_text_puts(out, "0));");
}

static void lane_hole(qn_text *out, const qn_call *call)
{
    int lane = qn_fold_lane_dim(&call->fold.form);
    if (lane >= 0) {
        qn_source_position_of(out, call, 3, lane, "_quern_element + _quern_lane");
    }
}

/* Combine each result with the identity, once. */
static void finish_hole(qn_text *out, const qn_call *call)
{
    if (call->fold.form.columns) {
        lane_hole(out, call);
    }
    if (call->fold.form.cut && call->fold.form.columns) {
        qn_text_puts(out, "            if (_quern_lane < _quern_own) {\n"
                          "                continue;\n"
                          "            }\n");
    }
    if (call->kernel->has_identity) {
        qn_source_identity(out, call);
        qn_text_puts(out, "            _quern_values[_quern_lane].value =\n"
                          "                _quern_walk.units + _quern_walk.rest > 0\n"
                          "                    ? _quern_reduce(_quern_identity, "
                          "_quern_values[_quern_lane].value)\n"
                          "                    : _quern_identity;");
    }
}

/* ---- the whole ------------------------------------------------------------------------------ */

enum { QN_REDUCTION_HOLES(QN_HOLE_ID) };

void qn_source_workers_holes(qn_text *t, const qn_call *call)
{
    const bool chooses = qn_source_choice(&t[FORM], call);
    bounds_hole(&t[BOUNDS], call, chooses);
    form_hole(&t[FORM], call, chooses);
    ends_hole(&t[ENDS], call);
    element_registers_hole(&t[ELEMENT_REGISTERS], call);
    load_element_hole(&t[LOAD_ELEMENT], call);
    take_element_hole(&t[TAKE_ELEMENT], call);
    take_line_end_hole(&t[TAKE_LINE_END], call);
    qn_text_puts(&t[CHOOSES], chooses ? "1" : "0");
    qn_text_puts(&t[EDGED], qn_source_has_edges(call) ? "1" : "0");
    qn_source_unit_paces(&t[PACES], call);
    qn_source_unit_advance(&t[ADVANCE], call);
    qn_source_unit_registers(&t[REGISTERS], call);
    qn_source_unit_load(&t[LOAD], call);
    qn_source_unit_recall(&t[RECALL], call);
    qn_source_unit_base(&t[RECALL], call);
    qn_source_lane_position(&t[POSITION], call);
    lane_hole(&t[LANE], call);
    qn_source_arguments(&t[ARGUMENTS], call, call->fold.form.lanes > 1);
    qn_text_puts(&t[ARGUMENTS], call->kernel->uses_position ? "_quern_position" : "0");
    finish_hole(&t[FINISH], call);
    qn_source_givers(&t[GIVERS], call);
    qn_source_room_for_results(&t[ROOM], call);
    qn_source_results(&t[RESULTS], call, true);
    qn_source_give_results(&t[GIVE], call);
}
