/* SPDX-License-Identifier: MIT
 *
 * source_scan_units: what a scan does to a unit, in CUDA C++. In: the form of a fold. Out: how the
 * elements of unit `_quern_u` come into registers and through the map, and how their values go to
 * post and to memory. The thing to know: `_quern_n` is the position of the unit's first element; in
 * a ragged row it may be negative, and only those lanes count that the row has.
 */
#include "engine/source/source.h"

/* ---- elements ------------------------------------------------------------------------------- */

static bool is_pack(const qn_call *call, uint32_t k)
{
    const qn_fold_form *f = &call->fold.form;
    return f->lanes > 1 && (call->operands[k].output ? f->access[k] == QN_ACCESS_VECTOR
                                                     : f->access[k] != QN_ACCESS_BROADCAST);
}

static void declare_operand(qn_text *out, const qn_call *call, int levels, uint32_t k)
{
    const char *type = qn_source_type(call, call->operand_parameter[k]);
    qn_source_indent(out, levels);
    if (is_pack(call, k)) {
        qn_text_printf(out, "quern::pack<%s, %d> _quern_x%u", type, call->fold.form.lanes, k);
    } else {
        qn_text_printf(out, "%s _quern_x%u", type, k);
    }
    qn_text_puts(out, call->operands[k].output ? ";\n" : "[_quern_steps];\n");
}

void qn_source_scan_registers(qn_text *out, const qn_call *call)
{
    for (uint32_t k = 0; k < call->input_operands; k++) {
        declare_operand(out, call, 2, k);
    }
}

/** Where unit `_quern_u` lies, for the operands [first, end): `_quern_n`, the position of its first
 * element. */
static void unit(qn_text *out, const qn_call *call, uint32_t first, uint32_t end)
{
    const qn_fold_form *f = &call->fold.form;
    if (!f->columns) {
        qn_text_puts(out, "                [[maybe_unused]] _quern_index _quern_e = 0;\n");
    }
    qn_source_reduced(out, call, 4, first, end);
    if (call->fold.form.ragged) {
        qn_text_puts(out, "                _quern_e -= _quern_skip;\n");
    }
    qn_text_printf(out,
                   "                [[maybe_unused]] const _quern_index _quern_n = _quern_u%s%s;\n",
                   f->columns || f->lanes == 1 ? "" : " * _quern_lanes",
                   call->fold.form.ragged ? " - _quern_skip" : "");
    if (call->fold.form.ragged) {
        qn_text_puts(out, "                [[maybe_unused]] const bool _quern_whole = _quern_n >= "
                          "0 && _quern_n + "
                          "_quern_lanes <= _quern_s.covered;\n");
    }
}

/** A loop over the lanes of a unit, or over those of them that the row has. */
static void each_lane(qn_text *out, const qn_call *call, int levels, bool checked)
{
    qn_text_puts(out, "#pragma unroll\n");
    qn_source_indent(out, levels);
    qn_text_puts(out, "for (int _quern_l = 0; _quern_l < _quern_lanes; _quern_l++)\n");
    if (checked && call->fold.form.ragged) {
        qn_source_indent(out, levels + 1);
        qn_text_puts(out, "if (_quern_n + _quern_l >= 0 && _quern_n + _quern_l < "
                          "_quern_s.covered)\n");
    }
}

/** Where a lane lies along the row. One that the row lacks stands for the nearest that it has. */
static const char *lane_index(const qn_call *call)
{
    return call->fold.form.ragged
               ? "min(max(_quern_e + _quern_l, (_quern_index)0), _quern_s.covered - 1)"
               : "_quern_e + _quern_l";
}

/** Bring an input's elements into registers, all of a unit or one by one. */
static void load_input(qn_text *out, const qn_call *call, int levels, uint32_t k, bool whole)
{
    bool pack = is_pack(call, k), vector = call->fold.form.access[k] == QN_ACCESS_VECTOR;
    if (!pack || (vector && whole)) {
        qn_source_indent(out, levels);
        qn_text_printf(out, pack ? "_quern_x%u[_quern_j].load(&" : "_quern_x%u[_quern_j] = ", k);
        if (pack) {
            qn_source_fold_element(out, call, k, "_quern_e");
            qn_text_puts(out, ");\n");
        } else {
            qn_source_fold_value(out, call, k, "_quern_e");
        }
        return;
    }
    each_lane(out, call, levels, false);
    qn_source_indent(out, levels + 1);
    qn_text_printf(out, "_quern_x%u[_quern_j].v[_quern_l] = ", k);
    qn_source_fold_value(out, call, k, whole ? "_quern_e + _quern_l" : lane_index(call));
}

/** The inputs, each followed by a comma, and the position. */
static void arguments(qn_text *out, const qn_call *call)
{
    for (uint32_t k = 0; k < call->input_operands; k++) {
        qn_text_printf(
            out, is_pack(call, k) ? "_quern_x%u[_quern_j].v[_quern_l], " : "_quern_x%u[_quern_j], ",
            k);
    }
}

static const char *position(const qn_call *call)
{
    if (!call->kernel->uses_position) {
        return "0";
    }
    return call->fold.form.columns  ? "_quern_n"
           : call->fold.form.ragged ? lane_index(call)
                                    : "_quern_n + _quern_l";
}

static void lane_position(qn_text *out, const qn_call *call, int levels)
{
    int lane = qn_source_lane_dim(&call->fold.form);
    if (lane >= 0) {
        qn_source_position_of(out, call, levels, lane, lane_index(call));
    }
}

void qn_source_scan_load(qn_text *out, const qn_call *call)
{
    bool ragged = call->fold.form.ragged;
    unit(out, call, 0, call->input_operands);
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

void qn_source_scan_take(qn_text *out, const qn_call *call)
{
    const qn_fold_form *f = &call->fold.form;
    if (f->ragged || call->kernel->uses_position || call->kernel->uses_axes) {
        unit(out, call, 0, 0);
    }
    qn_text_puts(out, f->columns
                          ? "                _quern_slot(&_quern_v)[_quern_lanes] = _quern_t[0];\n"
                          : "                _quern_slot _quern_v[_quern_lanes];\n");
    each_lane(out, call, 4, false);
    qn_text_puts(out, "                {\n");
    lane_position(out, call, 5);
    qn_text_puts(out, f->columns ? "                    const _type_reduce _quern_m = _quern_map("
                                 : "                    _quern_v[_quern_l].value = _quern_map(");
    arguments(out, call);
    qn_text_printf(out, "%s);\n", position(call));
    if (f->columns) {
        qn_text_puts(out, "                    if (_quern_j == 0) _quern_v[_quern_l].value = "
                          "_quern_m;\n"
                          "                    else if (_quern_tiles || _quern_i < _quern_units) "
                          "_quern_v[_quern_l].value = "
                          "_quern_scan(_quern_v[_quern_l].value, _quern_m);\n");
    }
    qn_text_puts(out, "                }\n");
    if (!f->columns) {
        if (f->lanes > 1) {
            qn_text_printf(out, "                quern::scan_unit(_quern_v, %s, _quern_scan);\n",
                           f->ragged ? "_quern_n, _quern_s.covered" : "0, _quern_lanes");
        }
        qn_text_puts(out, "                _quern_t[_quern_j][0] = _quern_v[_quern_lanes - 1];\n");
    }
    qn_text_puts(out, "                _quern_shelf.put(_quern_j, _quern_v);");
}

/* ---- results -------------------------------------------------------------------------------- */

/** `_quern_v`, the values of rows. Backwards, because an exclusive one is its left neighbour's. */
static void row_values(qn_text *out, const qn_call *call)
{
    const qn_fold_form *f = &call->fold.form;
    bool exclusive = call->kernel->exclusive;
    qn_text_printf(out,
                   "                _quern_shelf.get(_quern_j, _quern_v);\n"
                   "                quern::front<_type_reduce> _quern_f = _quern_front[0];\n"
                   "                if (_quern_j > 0 || _quern_at > 0) "
                   "_quern_f.append(_quern_t[_quern_j][0], _quern_scan);\n"
                   "%s#pragma unroll\n"
                   "                for (int _quern_l = _quern_lanes - 1; _quern_l >= 0; "
                   "_quern_l--) {\n",
                   exclusive ? "" : "                if (_quern_f.has)\n");
    if (f->ragged) {
        qn_text_puts(out, "                    if (_quern_n + _quern_l < 0 || _quern_n + _quern_l "
                          ">= _quern_s.covered) continue;\n");
    }
    if (!exclusive) {
        qn_text_puts(out, "                    _quern_v[_quern_l].value = "
                          "_quern_scan(_quern_f.value.value, _quern_v[_quern_l].value);\n");
    } else {
        qn_text_puts(out, "                    _quern_v[_quern_l] = _quern_f.value;\n");
    }
    if (exclusive && f->lanes > 1) {
        qn_text_printf(out,
                       "                    if (_quern_l > 0%s) _quern_v[_quern_l].value = "
                       "_quern_scan(_quern_f.value.value, _quern_v[_quern_l - 1].value);\n",
                       f->ragged ? " && _quern_n + _quern_l > 0" : "");
    }
    qn_text_puts(out, "                }\n");
}

/** The same of columns, where the value in front is that of the unit before. */
static void column_values(qn_text *out, const qn_call *call)
{
    bool exclusive = call->kernel->exclusive;
    qn_text_printf(out,
                   "                %s_quern_shelf.get(_quern_j%s, _quern_v);\n"
                   "#pragma unroll\n"
                   "                for (int _quern_l = 0; _quern_l < _quern_lanes; _quern_l++) {\n"
                   "                    quern::front<_type_reduce> _quern_f = "
                   "_quern_front[_quern_l];\n"
                   "                    %s_quern_f.append(_quern_v[_quern_l], _quern_scan);\n"
                   "                    _quern_v[_quern_l] = _quern_f.value;\n"
                   "                }\n",
                   exclusive ? "if (_quern_j > 0) " : "", exclusive ? " - 1" : "",
                   exclusive ? "if (_quern_j > 0) " : "");
}

/** Call post for each lane. Outputs are packs in registers where `packs`, else memory itself. */
static void post_lanes(qn_text *out, const qn_call *call, int levels, bool packs)
{
    each_lane(out, call, levels, !packs);
    qn_source_indent(out, levels);
    qn_text_puts(out, "{\n");
    lane_position(out, call, levels + 1);
    qn_source_indent(out, levels + 1);
    qn_text_puts(out, "_quern_post(");
    arguments(out, call);
    for (uint32_t k = call->input_operands; k < call->operand_count; k++) {
        if (packs && is_pack(call, k)) {
            qn_text_printf(out, "_quern_x%u.v[_quern_l], ", k);
        } else {
            qn_source_fold_output(out, call, k, "_quern_e + _quern_l");
        }
    }
    qn_text_printf(out, "%s, _quern_v[_quern_l].value);\n", position(call));
    qn_source_indent(out, levels);
    qn_text_puts(out, "}\n");
}

/** Whole units: outputs that are reached by vector come into registers and go back. */
static void post_packs(qn_text *out, const qn_call *call, int levels)
{
    for (uint32_t k = call->input_operands; k < call->operand_count; k++) {
        if (is_pack(call, k)) {
            declare_operand(out, call, levels, k);
            qn_source_indent(out, levels);
            qn_text_printf(out, "_quern_x%u.load(&", k);
            qn_source_fold_element(out, call, k, "_quern_e");
            qn_text_puts(out, ");\n");
        }
    }
    post_lanes(out, call, levels, true);
    for (uint32_t k = call->input_operands; k < call->operand_count; k++) {
        if (is_pack(call, k)) {
            qn_source_indent(out, levels);
            qn_text_printf(out, "_quern_x%u.store(&", k);
            qn_source_fold_element(out, call, k, "_quern_e");
            qn_text_puts(out, ");\n");
        }
    }
}

void qn_source_scan_give(qn_text *out, const qn_call *call)
{
    qn_text_puts(out, "                _quern_slot _quern_v[_quern_lanes];\n");
    unit(out, call, call->input_operands, call->operand_count);
    if (call->fold.form.columns) {
        column_values(out, call);
    } else {
        row_values(out, call);
    }
    if (!call->fold.form.ragged) {
        post_packs(out, call, 4);
        return;
    }
    qn_text_puts(out, "                if (_quern_whole) {\n");
    post_packs(out, call, 5);
    qn_text_puts(out, "                } else {\n");
    post_lanes(out, call, 5, false);
    qn_text_puts(out, "                }\n");
}
