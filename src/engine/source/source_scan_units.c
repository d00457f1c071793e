/* SPDX-License-Identifier: MIT
 *
 * source_scan_units: what a scan does to a unit, in CUDA C++. In: the form of a fold. Out: how the
 * elements of unit `_quern_unit` come into registers and through the map, and how their values go
 * to post and to memory. The thing to know: `_quern_position` is the position of the unit's first
 * element; in a ragged row it may be negative, and lanes outside the row are ignored.
 */
#include "engine/source/source_folds.h"

void qn_source_scan_form(qn_text *out, const qn_call *call)
{
    const qn_fold_form *f = &call->fold.form;
    qn_source_index_type(out, f->wide);
    qn_source_number(out, "steps", f->steps);
    qn_source_number(out, "lanes", f->lanes); /* one where it is staged */
    qn_source_flag(out, "tiles", f->split);
    qn_source_flag(out, "single", f->kept == 0);
    qn_source_flag(out, "exclusive", call->kernel->exclusive);
    qn_text_puts(out, f->split ? "" : "    constexpr char *_quern_workspace = nullptr;\n");
}

/* The value before an output's first element: the identity, or none. */
static void initial_hole(qn_text *out, const qn_call *call)
{
    if (!call->kernel->has_identity) {
        qn_text_puts(out, "    _quern_initial.has = false;\n");
        return;
    }
    qn_text_puts(out, "    _quern_initial.begin(_type_reduce(\n");
    qn_source_closed(out, call, QN_IDENTITY, "));");
}

enum { QN_SCAN_HOLES(QN_HOLE_ID) };

void qn_source_scan_holes(qn_text *holes, const qn_call *call)
{
    qn_source_fold_holes(holes, call);
    qn_source_function(&holes[SCAN], call, QN_REDUCE);
    qn_source_operands(&holes[OPERANDS], call, 0, call->operand_count);
    initial_hole(&holes[INITIAL], call);
}

/* ---- elements ------------------------------------------------------------------------------- */

static bool is_pack(const qn_call *call, uint32_t k)
{
    const qn_fold_form *f = &call->fold.form;
    if (f->lines && f->back != QN_LINES_DIRECT && call->operands[k].output) {
        return true;
    }
    return f->lanes > 1 && (call->operands[k].output ? qn_fold_is_pack(f->access[k])
                                                     : f->access[k] != QN_ACCESS_BROADCAST);
}

static bool is_back(const qn_call *call, uint32_t k)
{
    return call->fold.form.access[k] == QN_ACCESS_BACK;
}

/* The place of a pack in memory, where that of its last element is the first if it lies backwards.
 */
static void pack_element(qn_text *out, const qn_call *call, uint32_t k)
{
    qn_source_fold_element(
        out, call, k, is_back(call, k) ? "_quern_element + _quern_lanes - 1" : "_quern_element");
}

/* A pack that comes from memory, or goes there, is turned around if it lies backwards. */
static void turn(qn_text *out, const qn_call *call, int levels, uint32_t k, const char *step)
{
    if (is_back(call, k)) {
        qn_source_indent(out, levels);
        qn_text_printf(out, "quern::turn(_quern_register%u%s);\n", k, step);
    }
}

static void declare_operand(qn_text *out, const qn_call *call, int levels, uint32_t k)
{
    const char *type = qn_source_type(call, call->operand_parameter[k]);
    qn_source_indent(out, levels);
    if (qn_source_strips_has_words(call, k)) {
        qn_text_printf(out, "quern::held<quern::pack<%s, %d>> _quern_words%u", type,
                       call->fold.form.lanes, k);
    } else if (is_pack(call, k)) {
        qn_text_printf(out, "%s<%s, %d> _quern_register%u", qn_source_pack(call, k), type,
                       call->fold.form.lanes, k);
    } else {
        qn_text_printf(out, "%s _quern_register%u", type, k);
    }
    qn_text_puts(out, call->operands[k].output ? ";\n" : "[_quern_steps];\n");
}

void qn_source_scan_registers(qn_text *out, const qn_call *call)
{
    for (uint32_t k = 0; k < call->input_operands; k++) {
        declare_operand(out, call, 2, k);
    }
}

void qn_source_scan_renew(qn_text *out, const qn_call *call)
{
    for (uint32_t k = 0; k < call->input_operands; k++) {
        if (is_pack(call, k)) {
            qn_source_indent(out, 5);
            qn_text_printf(out, "quern::renew(_quern_register%u[_quern_step]);\n", k);
        }
    }
}

void qn_source_scan_repeat(qn_text *out, const qn_call *call)
{
    for (uint32_t k = 0; k < call->input_operands; k++) {
        qn_source_indent(out, 4);
        qn_text_printf(out, "_quern_register%u[_quern_step] = _quern_register%u[0];\n", k, k);
    }
}

/* Where unit `_quern_unit` lies, for the operands [first, end): `_quern_position`, the position of
 * its first element. */
void qn_source_scan_unit(qn_text *out, const qn_call *call, uint32_t first, uint32_t end)
{
    const qn_fold_form *f = &call->fold.form;
    if (f->lines) {
        qn_source_lines_unit(out, call, 4, first, end);
    } else if (qn_source_goes_down(f)) {
        qn_source_strips_unit(out, call, 4, first, end);
    } else {
        qn_source_reduced(out, call, 4, first, end);
    }
    if (call->fold.form.ragged) {
        qn_text_puts(out, "                _quern_element -= _quern_skip;\n");
    }
    qn_text_printf(
        out,
        "                [[maybe_unused]] const _quern_index _quern_position = _quern_unit%s%s;\n",
        f->columns || f->lanes == 1 ? "" : " * _quern_lanes",
        call->fold.form.ragged ? " - _quern_skip" : "");
    if (call->fold.form.ragged) {
        qn_text_puts(
            out, "                [[maybe_unused]] const bool _quern_whole = _quern_position >= "
                 "0 && _quern_position + "
                 "_quern_lanes <= _quern_walk.covered;\n");
    }
}

/* A loop over the lanes of a unit or (if `checked`) over those inside the row. */
static void each_lane(qn_text *out, const qn_call *call, int levels, bool checked)
{
    qn_text_puts(out, "#pragma unroll\n");
    qn_source_indent(out, levels);
    qn_text_puts(out, "for (int _quern_lane = 0; _quern_lane < _quern_lanes; _quern_lane++)\n");
    if (checked && call->fold.form.ragged) {
        qn_source_indent(out, levels + 1);
        qn_text_puts(out,
                     "if (_quern_position + _quern_lane >= 0 && _quern_position + _quern_lane < "
                     "_quern_walk.covered)\n");
    }
}

/* Where a lane lies along the row. A lane outside the row reads the nearest element inside. */
static const char *lane_index(const qn_call *call)
{
    return call->fold.form.ragged
               ? "min(max(_quern_element + _quern_lane, (_quern_index)0), _quern_walk.covered - 1)"
               : "_quern_element + _quern_lane";
}

/* Bring an input's elements into registers, all of a unit or one by one. */
static void load_input(qn_text *out, const qn_call *call, int levels, uint32_t k, bool whole)
{
    bool pack = is_pack(call, k), vector = qn_fold_is_pack(call->fold.form.access[k]);
    if (!pack || (vector && whole)) {
        qn_source_indent(out, levels);
        qn_text_printf(out, "_quern_%s%u[_quern_step]%s",
                       qn_source_strips_has_words(call, k) ? "words" : "register", k,
                       pack ? ".load(&" : " = ");
        if (pack) {
            pack_element(out, call, k);
            qn_text_puts(out, ");\n");
            turn(out, call, levels, k, "[_quern_step]");
        } else {
            qn_source_fold_value(out, call, k, "_quern_element");
        }
        return;
    }
    each_lane(out, call, levels, false);
    qn_source_indent(out, levels + 1);
    qn_text_printf(out, "_quern_register%u[_quern_step].v[_quern_lane] = ", k);
    qn_source_fold_value(out, call, k, whole ? "_quern_element + _quern_lane" : lane_index(call));
}

/* The inputs, each followed by a comma. */
static void arguments(qn_text *out, const qn_call *call)
{
    for (uint32_t k = 0; k < call->input_operands; k++) {
        qn_text_printf(out,
                       is_pack(call, k) ? "_quern_register%u[_quern_step].v[_quern_lane], "
                                        : "_quern_register%u[_quern_step], ",
                       k);
    }
}

static const char *position(const qn_call *call)
{
    if (!call->kernel->uses_position) {
        return "0";
    }
    return call->fold.form.columns  ? "_quern_position"
           : call->fold.form.ragged ? lane_index(call)
                                    : "_quern_position + _quern_lane";
}

void qn_source_scan_lane(qn_text *out, const qn_call *call, int levels)
{
    int lane = qn_fold_lane_dim(&call->fold.form);
    if (lane >= 0) {
        qn_source_position_of(out, call, levels, lane, lane_index(call));
    }
}

void qn_source_scan_load(qn_text *out, const qn_call *call)
{
    qn_source_scan_unit(out, call, 0, call->input_operands);
    qn_source_scan_read(out, call);
}

void qn_source_scan_read(qn_text *out, const qn_call *call)
{
    bool ragged = call->fold.form.ragged;
    if (ragged) {
        qn_text_puts(out, "                if (_quern_whole) {\n");
        for (uint32_t k = 0; k < call->input_operands; k++) {
            load_input(out, call, 5, k, true);
        }
        qn_text_puts(out, "                } else {\n");
    }
    for (uint32_t k = 0; k < call->input_operands; k++) {
        load_input(out, call, ragged ? 5 : 4, k, !ragged);
    }
    qn_text_puts(out, ragged ? "                }\n" : "");
}

void qn_source_scan_load_whole(qn_text *out, const qn_call *call)
{
    qn_source_scan_unit(out, call, 0, call->input_operands);
    for (uint32_t k = 0; k < call->input_operands; k++) {
        load_input(out, call, 4, k, true);
    }
}

void qn_source_scan_arguments(qn_text *out, const qn_call *call)
{
    arguments(out, call);
    qn_text_puts(out, position(call));
}

/* ---- results -------------------------------------------------------------------------------- */

void qn_source_scan_post(qn_text *out, const qn_call *call, int levels, bool packs)
{
    each_lane(out, call, levels, !packs);
    qn_source_indent(out, levels);
    qn_text_puts(out, "{\n");
    qn_source_scan_lane(out, call, levels + 1);
    qn_source_indent(out, levels + 1);
    qn_text_puts(out, "_quern_post(");
    arguments(out, call);
    for (uint32_t k = call->input_operands; k < call->operand_count; k++) {
        if (packs && is_pack(call, k)) {
            qn_text_printf(out, "_quern_register%u.v[_quern_lane], ", k);
        } else {
            qn_source_fold_output(out, call, k, "_quern_element + _quern_lane");
        }
    }
    qn_text_printf(out, "%s, _quern_values[_quern_lane].value);\n", position(call));
    qn_source_indent(out, levels);
    qn_text_puts(out, "}\n");
}

/* Whole units: outputs that are reached by vector come into registers and go back. */
static void post_packs(qn_text *out, const qn_call *call, int levels)
{
    for (uint32_t k = call->input_operands; k < call->operand_count; k++) {
        if (is_pack(call, k)) {
            declare_operand(out, call, levels, k);
            qn_source_indent(out, levels);
            qn_text_printf(out, "_quern_register%u.load(&", k);
            pack_element(out, call, k);
            qn_text_puts(out, ");\n");
            turn(out, call, levels, k, "");
        }
    }
    qn_source_scan_post(out, call, levels, true);
    for (uint32_t k = call->input_operands; k < call->operand_count; k++) {
        if (is_pack(call, k)) {
            turn(out, call, levels, k, "");
            qn_source_indent(out, levels);
            qn_text_printf(out, "_quern_register%u.store(&", k);
            pack_element(out, call, k);
            qn_text_puts(out, ");\n");
        }
    }
}

void qn_source_scan_give(qn_text *out, const qn_call *call)
{
    if (!call->fold.form.ragged) {
        post_packs(out, call, 4);
        return;
    }
    qn_text_puts(out, "                if (_quern_whole) {\n");
    post_packs(out, call, 5);
    qn_text_puts(out, "                } else {\n");
    qn_source_scan_post(out, call, 5, false);
    qn_text_puts(out, "                }\n");
}

void qn_source_scan_spread(qn_text *out, const qn_call *call)
{
    qn_source_scan_lane(out, call, 7);
    for (uint32_t k = 0; k < call->input_operands; k++) {
        qn_source_indent(out, 7);
        qn_text_printf(out, "[[maybe_unused]] const %s _quern_input%u = ",
                       qn_source_type(call, call->operand_parameter[k]), k);
        qn_source_fold_value(out, call, k, "_quern_element + _quern_lane");
    }
    qn_source_indent(out, 7);
    qn_text_puts(out, "_quern_post(");
    for (uint32_t k = 0; k < call->operand_count; k++) {
        if (k < call->input_operands) {
            qn_text_printf(out, "_quern_input%u, ", k);
        } else {
            qn_source_fold_output(out, call, k, "_quern_element + _quern_lane");
        }
    }
    qn_text_printf(out, "%s, _quern_value.value);\n",
                   call->kernel->uses_position ? "_quern_position + _quern_lane" : "0");
}

/* ---- rows of which a lane has columns (swaths, parts) ---------------------------------------- */

static void lane_inputs(qn_text *out, const qn_call *call, const char *member)
{
    for (uint32_t k = 0; k < call->input_operands; k++) {
        qn_text_printf(out, "_quern_register%u", k);
        if (!qn_source_is_same(call, k)) {
            qn_text_printf(out, "%s[_quern_lane]", member);
        }
        qn_text_puts(out, ", ");
    }
}

void qn_source_scan_lane_arguments(qn_text *out, const qn_call *call, const char *member)
{
    lane_inputs(out, call, member);
    qn_text_puts(out, position(call));
}

/* Post may leave an output as it is: then memory keeps what it has. The read goes where no one asks
 * for what it brings. */
void qn_source_scan_lane_give(qn_text *out, const qn_call *call, const char *member, const char *at)
{
    for (uint32_t k = call->input_operands; k < call->operand_count; k++) {
        qn_text_printf(out, "                _quern_results%u%s[_quern_lane] = ", k, member);
        qn_source_fold_value(out, call, k, at);
    }
    qn_text_puts(out, "                _quern_post(");
    lane_inputs(out, call, member);
    for (uint32_t k = call->input_operands; k < call->operand_count; k++) {
        qn_text_printf(out, "_quern_results%u%s[_quern_lane], ", k, member);
    }
    qn_text_printf(out, "%s, _quern_value.value);\n", position(call));
}
