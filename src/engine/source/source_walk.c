/* SPDX-License-Identifier: MIT
 *
 * source_walk: the walk by packs, in CUDA C++. In: the form of a plan. Out: how the elements of a
 * thread's pack, turn or row come into registers, are worked on and go back. The thing to know: it
 * stays text in C, a line for each operand: as a variadic template over classes of operands NVRTC
 * takes 1.8 times as long for 2 * x + y, with the same PTX.
 */
#include "engine/source/source.h"
#include <stdio.h>
#include <string.h>

/* The call of the lambda, and `_ind`'s innermost position before it. */
static void invoke(qn_text *out, const qn_call *call, int levels, const char *at, const char *lane)
{
    const quern_kernel *kernel = call->kernel;
    if (kernel->uses_axes && call->ndim > 0) {
        qn_source_indent(out, levels);
        qn_text_printf(out, "_ind.at[%d] = %s;\n", call->ndim - 1, at);
    }
    qn_source_indent(out, levels);
    qn_text_puts(out, "_quern_operation(");
    for (uint32_t k = 0; k < call->operand_count; k++) {
        bool pack = lane && call->plan.form.access[k] != QN_ACCESS_BROADCAST;
        if (kernel->uses_by_address[call->operand_parameter[k]]) {
            qn_source_reach(out, call, k, at, QN_REACH_PLAIN);
        } else {
            qn_text_printf(out, pack ? "_quern_value%u.v[%s]" : "_quern_value%u", k, lane);
        }
        qn_text_puts(out, ", ");
    }
    if (!kernel->uses_position) {
        qn_text_puts(out, "0");
    } else if (call->plan.form.ndim == 1 || call->plan.form.flat) {
        qn_text_puts(out, at);
    } else if (call->plan.form.slab != 0) {
        qn_text_puts(out, "(ptrdiff_t)_quern_pack * blockDim.x + threadIdx.x");
    } else if (call->plan.form.turns > 1 && !call->plan.form.rows) {
        qn_text_puts(out, "_quern_pack");
    } else {
        qn_text_printf(out, "(ptrdiff_t)_quern_row * _quern_walk.inner + %s", at);
    }
    qn_text_puts(out, ");\n");
}

/* `_quern_valueK`, the value of operand k at `at`. */
void qn_source_load_one(qn_text *out, const qn_call *call, int levels, uint32_t k, const char *at)
{
    qn_source_indent(out, levels);
    const char *type = qn_source_type(call, call->operand_parameter[k]);
    qn_text_printf(out, "%s%s _quern_value%u = ", call->operands[k].output ? "" : "const ", type,
                   k);
    qn_source_read_begin(out, call, k);
    if (call->plan.form.access[k] == QN_ACCESS_TILED && call->plan.form.boxed) {
        qn_text_printf(out, "*(const %s *)&_quern_tile%u[_quern_slot%u[_quern_at]]", type, k,
                       qn_source_box_slot(call, k));
    } else if (call->plan.form.access[k] == QN_ACCESS_TILED && call->plan.form.lanes > 1) {
        qn_text_printf(out,
                       "*(const %s *)&_quern_tile%u[_quern_spot(_quern_across) + _quern_column]",
                       type, k);
    } else if (call->plan.form.access[k] == QN_ACCESS_TILED) {
        qn_text_printf(out, "*(const %s *)&_quern_tile%u[_quern_column][_quern_across]", type, k);
    } else {
        qn_source_reach(out, call, k, at, QN_REACH_PLAIN);
    }
    qn_source_read_end(out, call, k);
    qn_text_puts(out, ";\n");
}

/* The operation on one element that is in registers, and copies of the outputs back. */
static void operate(qn_text *out, const qn_call *call, int levels, const char *at, qn_reach how)
{
    const bool *by_address = call->kernel->uses_by_address;
    invoke(out, call, levels, at, NULL);
    for (uint32_t k = 0; k < call->operand_count; k++) {
        if (call->operands[k].output && !by_address[call->operand_parameter[k]]) {
            qn_source_indent(out, levels);
            qn_source_reach(out, call, k, at, how);
            qn_text_printf(out, " = _quern_value%u;\n", k);
        }
    }
}

void qn_source_invoke(qn_text *out, const qn_call *call, int levels, const char *at)
{
    invoke(out, call, levels, at, NULL);
}

void qn_source_operate(qn_text *out, const qn_call *call, int levels, const char *at)
{
    operate(out, call, levels, at, QN_REACH_PLAIN);
}

/* By rows: the operand's value is that of its row, and loaded. */
static bool is_loaded(const qn_call *call, uint32_t k)
{
    return call->plan.form.rows && call->plan.form.access[k] == QN_ACCESS_BROADCAST;
}

/* One element: copies in, the operation, copies of the outputs back. */
void qn_source_element(qn_text *out, const qn_call *call, int levels, const char *at)
{
    for (uint32_t k = 0; k < call->operand_count; k++) {
        if (!call->kernel->uses_by_address[call->operand_parameter[k]] && !is_loaded(call, k)) {
            qn_source_load_one(out, call, levels, k, at);
        }
    }
    operate(out, call, levels, at, QN_REACH_PLAIN);
}

/* ---- elements in turns ----------------------------------------------------------------------- */

/* With rows a turn keeps where its outputs lie, so that rows are divided once. */
static bool keeps(const qn_call *call, uint32_t k)
{
    return call->plan.form.ndim > 1 && !call->plan.form.rows && call->operands[k].output;
}

/* How an element waits: a bool as its byte, since to ask whether that is 0 is to wait for it. */
static const char *turn_type(const qn_call *call, uint32_t k)
{
    return qn_source_is_bool(call, k) ? "unsigned char"
                                      : qn_source_type(call, call->operand_parameter[k]);
}

/* Room in registers for each operand's elements. */
void qn_source_turn_values(qn_text *out, const qn_call *call)
{
    for (uint32_t k = 0; k < call->operand_count; k++) {
        qn_text_printf(out, "        %s _quern_values%u[_quern_turns];\n", turn_type(call, k), k);
        if (keeps(call, k)) {
            qn_text_printf(out, "        %s _quern_kept%u[_quern_turns];\n", qn_source_offset(call),
                           k);
        }
    }
}

/* The element that a turn takes: its row, and its place in it. */
void qn_source_turn_place(qn_text *out, const qn_call *call)
{
    if (call->plan.form.ndim == 1) {
        qn_text_puts(out, "        const _quern_index _quern_element = _quern_pack;\n");
        return;
    }
    qn_text_puts(out,
                 "        const _quern_index _quern_row = _quern_walk.row.divide(_quern_pack);\n"
                 "        const _quern_index _quern_element =\n"
                 "            _quern_pack - _quern_row * _quern_walk.row.value;\n");
    qn_source_offsets(out, call);
}

/* The same before the operation, where that needs more than the outputs' offsets. */
void qn_source_turn_again(qn_text *out, const qn_call *call)
{
    if (call->plan.form.ndim == 1 || call->kernel->uses_axes) {
        qn_source_turn_place(out, call);
    }
}

void qn_source_turn_fetch(qn_text *out, const qn_call *call)
{
    qn_source_early(out, call, 4);
    for (uint32_t k = 0; k < call->operand_count; k++) {
        qn_text_printf(out, "                _quern_values%u[_quern_turn] = %s", k,
                       qn_source_is_bool(call, k) ? "*(const unsigned char *)&" : "");
        qn_source_reach(out, call, k, "_quern_element", QN_REACH_PLAIN);
        qn_text_puts(out, ";\n");
        if (keeps(call, k)) {
            qn_text_printf(out, "                _quern_kept%u[_quern_turn] = ", k);
            qn_source_reach_offset(out, call, k, "_quern_element");
            qn_text_puts(out, ";\n");
        }
    }
}

void qn_source_turn_body(qn_text *out, const qn_call *call)
{
    for (uint32_t k = 0; k < call->operand_count; k++) {
        const bool is_bool = qn_source_is_bool(call, k);
        qn_text_printf(out,
                       "                %s %s_quern_value%u = _quern_values%u[_quern_turn]%s;\n",
                       qn_source_type(call, call->operand_parameter[k]), is_bool ? "" : "&", k, k,
                       is_bool ? " != 0" : "");
    }
    operate(out, call, 4, "_quern_element",
            call->plan.form.ndim > 1 ? QN_REACH_KEPT : QN_REACH_PLAIN);
}

/* ---- packs ----------------------------------------------------------------------------------- */

/* The head of a loop over the lanes of a pack. */
static void each_lane(qn_text *out, const qn_call *call, int levels)
{
    qn_text_puts(out, "#pragma unroll\n");
    qn_source_indent(out, levels);
    qn_text_printf(out, "for (int _quern_lane = 0; _quern_lane < %d; _quern_lane++) {\n",
                   call->plan.form.lanes);
}

/* The pack of a tiled operand from shared memory, where it lies anywhere if the tile has slack. */
static void take_pack(qn_text *out, const qn_call *call, int levels, uint32_t k)
{
    qn_source_indent(out, levels);
    if (call->plan.form.slack == 0) {
        qn_text_printf(out, "_quern_value%u", k);
    } else {
        qn_text_printf(out, "quern::shifted<decltype(_quern_value%u)> _quern_held%u;\n", k, k);
        qn_source_indent(out, levels);
        qn_text_printf(out, "_quern_held%u", k);
    }
    qn_text_printf(out, ".load(&_quern_tile%u[_quern_spot(_quern_across) + _quern_column]);\n", k);
    if (call->plan.form.slack != 0) {
        qn_source_indent(out, levels);
        qn_text_printf(out, "_quern_held%u.give(_quern_value%u);\n", k, k);
    }
}

/* Read what a pack that waits in registers is made of: one that lies backwards begins where its
 * last element does. */
static void read_held(qn_text *out, const qn_call *call, uint32_t k)
{
    char last[48];
    snprintf(last, sizeof last, "_quern_element + %d", call->plan.form.lanes - 1);
    qn_text_puts(out, ".load(&");
    qn_source_reach(out, call, k,
                    call->plan.form.access[k] == QN_ACCESS_BACK ? last : "_quern_element",
                    QN_REACH_PLAIN);
    qn_text_puts(out, ");\n");
}

/* The pack of an operand that lies backwards, and is aligned, or of one that is not. */
static void turn_pack(qn_text *out, const qn_call *call, int levels, uint32_t k)
{
    qn_source_indent(out, levels);
    if (call->plan.form.access[k] == QN_ACCESS_WORDS) {
        qn_text_printf(out, "quern::shifted<decltype(_quern_value%u)> _quern_held%u;\n", k, k);
    } else {
        qn_text_printf(out,
                       "quern::turned<quern::held, decltype(_quern_value%u), %u> _quern_held%u;\n",
                       k, call->operands[k].item_size, k);
    }
    qn_source_indent(out, levels);
    qn_text_printf(out, "_quern_held%u", k);
    read_held(out, call, k);
    qn_source_indent(out, levels);
    qn_text_printf(out, "_quern_held%u.give(_quern_value%u);\n", k, k);
}

/* Bring the pack of operand `k` in, or (when `store`) take it back. */
static void move_pack(qn_text *out, const qn_call *call, int levels, uint32_t k, bool store)
{
    uint8_t access = call->plan.form.access[k];
    if (access == QN_ACCESS_BROADCAST) {
        qn_source_load_one(out, call, levels, k, "_quern_element");
        return;
    }
    if (!store) {
        qn_source_indent(out, levels);
        qn_text_printf(out, "%s<%s, %d> _quern_value%u;\n", qn_source_pack(call, k),
                       qn_source_type(call, call->operand_parameter[k]), call->plan.form.lanes, k);
    }
    if (access == QN_ACCESS_TILED) {
        take_pack(out, call, levels, k);
        return;
    }
    if (access == QN_ACCESS_BACK || access == QN_ACCESS_WORDS) {
        turn_pack(out, call, levels, k);
        return;
    }
    if (access == QN_ACCESS_VECTOR) {
        qn_source_indent(out, levels);
        qn_text_printf(out, "_quern_value%u.%s(&", k, store ? "store" : "load");
        qn_source_reach(out, call, k, "_quern_element", QN_REACH_PLAIN);
        qn_text_puts(out, ");\n");
        return;
    }
    each_lane(out, call, levels);
    qn_source_indent(out, levels + 1);
    if (store) {
        qn_source_reach(out, call, k, "_quern_element", QN_REACH_LANE);
        qn_text_printf(out, " = _quern_value%u.v[_quern_lane];\n", k);
    } else {
        qn_text_printf(out, "_quern_value%u.v[_quern_lane] = ", k);
        qn_source_read_begin(out, call, k);
        qn_source_reach(out, call, k, "_quern_element", QN_REACH_LANE);
        qn_source_read_end(out, call, k);
        qn_text_puts(out, ";\n");
    }
    qn_source_indent(out, levels);
    qn_text_puts(out, "}\n");
}

/* The operation on each lane of a pack that is in registers, and the outputs back. */
static void operate_pack(qn_text *out, const qn_call *call, int levels)
{
    each_lane(out, call, levels);
    invoke(out, call, levels + 1, "_quern_element + _quern_lane", "_quern_lane");
    qn_source_indent(out, levels);
    qn_text_puts(out, "}\n");
    for (uint32_t k = 0; k < call->operand_count; k++) {
        if (call->operands[k].output) {
            move_pack(out, call, levels, k, true);
        }
    }
}

void qn_source_in_packs(qn_text *out, const qn_call *call, int levels)
{
    const qn_plan_form *f = &call->plan.form;
    qn_source_early(out, call, levels);
    for (uint32_t k = 0; k < call->operand_count; k++) {
        if (!f->flat || !qn_plan_counts(f, k)) {
            move_pack(out, call, levels, k, false);
        }
    }
    if (f->flat) {
        qn_source_flat_fetch(out, call);
    }
    operate_pack(out, call, levels);
}

/* One element, or a pack in registers. */
void qn_source_body(qn_text *out, const qn_call *call)
{
    if (call->plan.form.lanes == 1) {
        qn_source_early(out, call, 2);
        qn_source_element(out, call, 2, "_quern_element");
    } else {
        qn_source_in_packs(out, call, 2);
    }
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* Where the row of each operand begins, `_quern_lineK`, and the values that whole rows share. */
void qn_source_row_lines(qn_text *out, const qn_call *call)
{
    const qn_plan_form *f = &call->plan.form;
    qn_source_offsets(out, call);
    for (uint32_t k = 0; k < call->operand_count; k++) {
        const char *constant = call->operands[k].output ? "" : "const ";
        qn_text_printf(out, "        %schar *const _quern_line%u = (%schar *)_quern_array%u",
                       constant, k, constant, call->operand_parameter[k]);
        if (f->ndim > 1) {
            qn_text_printf(out, " + %s_quern_offset%u", f->near ? "(int)" : "", k);
        }
        qn_text_puts(out, ";\n");
        if (is_loaded(call, k)) {
            qn_source_load_one(out, call, 2, k, "0");
        }
    }
    qn_source_early_row(out, call);
}

/* Elements up to the first at which the anchor is aligned. */
void qn_source_row_aligned(qn_text *out, const qn_call *call)
{
    const qn_plan_form *f = &call->plan.form;
    const qn_operand *o = &call->operands[f->anchor];
    if (f->lanes == 1) {
        qn_text_puts(out, "0");
        return;
    }
    qn_text_printf(out, "(_quern_index)(-(size_t)_quern_line%u & %u) / %u", f->anchor,
                   (unsigned)qn_pack_alignment(o, f->lanes) - 1, o->item_size);
}

/* How packs of the operand wait in registers: as the words that were read, or NULL for elements. */
static const char *held_as(const qn_call *call, uint32_t k)
{
    const qn_plan_form *f = &call->plan.form;
    return f->lanes == 1                      ? NULL
           : f->access[k] == QN_ACCESS_WORDS  ? "quern::shifted"
           : f->access[k] == QN_ACCESS_BACK   ? "quern::turned"
           : f->access[k] == QN_ACCESS_VECTOR ? "quern::held"
                                              : NULL;
}

/* The type of an operand's pack, or element. */
static void unit_type(qn_text *out, const qn_call *call, uint32_t k)
{
    const char *type = qn_source_type(call, call->operand_parameter[k]);
    if (call->plan.form.lanes == 1 || call->plan.form.access[k] == QN_ACCESS_BROADCAST) {
        qn_text_puts(out, type);
    } else {
        qn_text_printf(out, "%s<%s, %d>", qn_source_pack(call, k), type, call->plan.form.lanes);
    }
}

/* The operand does not come in turns: it is that of its row; or, of flat packs, it is counted. */
static bool has_no_turns(const qn_call *call, uint32_t k)
{
    return is_loaded(call, k) || (call->plan.form.flat && qn_plan_counts(&call->plan.form, k));
}

/* Room in registers for each operand's packs, or elements. */
void qn_source_row_values(qn_text *out, const qn_call *call)
{
    for (uint32_t k = 0; k < call->operand_count; k++) {
        if (!has_no_turns(call, k)) {
            const char *held = held_as(call, k);
            qn_source_indent(out, 2);
            const bool back = call->plan.form.access[k] == QN_ACCESS_BACK;
            qn_text_printf(out, "%s%s%s", held ? held : "", held ? "<" : "",
                           back ? "quern::shifted, " : "");
            unit_type(out, call, k);
            if (back) {
                qn_text_printf(out, ", %u", call->operands[k].item_size);
            }
            qn_text_printf(out, "%s _quern_values%u[_quern_turns];\n", held ? ">" : "", k);
        }
    }
}

void qn_source_row_fetch(qn_text *out, const qn_call *call)
{
    if (call->plan.form.early != QN_EARLY_ENDS) {
        qn_source_early(out, call, 4);
    }
    for (uint32_t k = 0; k < call->operand_count; k++) {
        if (has_no_turns(call, k)) {
            continue;
        }
        if (held_as(call, k)) {
            qn_source_indent(out, 4);
            qn_text_printf(out, "_quern_values%u[_quern_turn]", k);
            read_held(out, call, k);
            continue;
        }
        if (call->plan.form.lanes == 1) {
            qn_source_load_one(out, call, 4, k, "_quern_element");
        } else {
            move_pack(out, call, 4, k, false);
        }
        qn_source_indent(out, 4);
        qn_text_printf(out, "_quern_values%u[_quern_turn] = _quern_value%u;\n", k, k);
    }
}

void qn_source_row_body(qn_text *out, const qn_call *call)
{
    for (uint32_t k = 0; k < call->operand_count; k++) {
        if (has_no_turns(call, k)) {
            if (call->plan.form.flat && !qn_plan_is_kept(&call->plan.form, k)) {
                qn_source_indent(out, 4);
                qn_text_printf(out, "auto &_quern_value%u = _quern_counted%u[_quern_turn];\n", k,
                               k);
            }
            continue;
        }
        qn_source_indent(out, 4);
        if (held_as(call, k)) {
            unit_type(out, call, k);
            qn_text_printf(out, " _quern_value%u;\n", k);
            qn_source_indent(out, 4);
            qn_text_printf(out, "_quern_values%u[_quern_turn].give(_quern_value%u);\n", k, k);
        } else {
            qn_text_printf(out, "auto &_quern_value%u = _quern_values%u[_quern_turn];\n", k, k);
        }
    }
    if (call->plan.form.lanes == 1) {
        operate(out, call, 4, "_quern_element", QN_REACH_PLAIN);
    } else {
        operate_pack(out, call, 4);
    }
}
