/* SPDX-License-Identifier: MIT
 *
 * source_thin: the walk over thin rows, in CUDA C++. In: the form of such a plan
 * (src/array/plan_thin.c). Out: for templates/elementwise_thin.cu where an operand's rows begin,
 * how those of a thread come into registers, are worked on and go back, and the same for one
 * element. The thing to know: `_quern_valueK` has the elements of all rows and places in the order
 * in which they come, so each kind of operand finds that of a lane and a place in its own way.
 */
#include "engine/source/source.h"

static const char *type_of(const qn_call *call, uint32_t k)
{
    return qn_source_type(call, call->operand_parameter[k]);
}

/* The address of an element of operand `k`: that in row `at`, at `place`. */
static void address(qn_text *out, const qn_call *call, uint32_t k, const char *at,
                    const char *place)
{
    const qn_plan_form *f = &call->plan.form;
    const uint8_t access = f->access[k];
    const int item = (int)call->operands[k].item_size, row = f->ndim - 1;
    qn_text_printf(out, "(_quern_line%u + (long long)(%s) * ", k, at);
    if (access == QN_ACCESS_WHOLE) {
        qn_text_printf(out, "%d + (%s) * %d)", f->thin * item, place, item);
        return;
    }
    if (access == QN_ACCESS_VECTOR || access == QN_ACCESS_CONTIGUOUS || access == QN_ACCESS_HELD) {
        qn_text_printf(out, "%d", item);
    } else {
        qn_text_printf(out, "_quern_walk.stride[%u][%d]", k, row);
    }
    qn_text_printf(out, " + (long long)(%s) * _quern_walk.stride[%u][%d])", place, k, row - 1);
}

/* An element in memory: its value, and the end of the statement; or what is assigned to. */
static void value(qn_text *out, const qn_call *call, uint32_t k, const char *at, const char *place)
{
    qn_source_read_begin(out, call, k);
    qn_text_printf(out, "*(const %s *)", type_of(call, k));
    address(out, call, k, at, place);
    qn_source_read_end(out, call, k);
    qn_text_puts(out, ";\n");
}

static void target(qn_text *out, const qn_call *call, uint32_t k, const char *at, const char *place)
{
    qn_text_printf(out, "*(%s *)", type_of(call, k));
    address(out, call, k, at, place);
    qn_text_puts(out, " = ");
}

void qn_source_thin_offsets(qn_text *out, const qn_call *call)
{
    if (call->plan.form.ndim > 2) {
        qn_text_puts(out, "        _quern_index _quern_outer = _quern_row;\n");
    }
    qn_source_outer(out, call, call->plan.form.ndim - 2, "_quern_offset");
    for (uint32_t k = 0; k < call->operand_count; k++) {
        const char *constant = call->operands[k].output ? "" : "const ";
        qn_text_printf(out,
                       "        %schar *const _quern_line%u = (%schar *)_quern_array%u + "
                       "%s_quern_offset%u;\n",
                       constant, k, constant, call->operand_parameter[k],
                       call->plan.form.near ? "(int)" : "", k);
    }
}

/* Whole rows of a bool input wait as bytes: in memory any but 0 is true. */
static bool is_bytes(const qn_call *call, uint32_t k)
{
    return call->plan.form.access[k] == QN_ACCESS_WHOLE && qn_source_is_bool(call, k) &&
           !call->operands[k].output;
}

/* Registers for the elements of operand `k`. */
static void declare(qn_text *out, const qn_call *call, uint32_t k)
{
    const qn_plan_form *f = &call->plan.form;
    const int rows = f->lanes * f->thin, bytes = rows * (int)call->operands[k].item_size;
    const int word = bytes & -bytes;
    qn_source_indent(out, 3);
    switch (f->access[k]) {
    case QN_ACCESS_WHOLE:
        qn_text_printf(out, "quern::run<%s, %d, %d> _quern_value%u;\n",
                       is_bytes(call, k) ? "unsigned char" : type_of(call, k), rows,
                       word < QN_ACCESS_BYTES ? word : QN_ACCESS_BYTES, k);
        return;
    case QN_ACCESS_VECTOR:
    case QN_ACCESS_CONTIGUOUS:
        qn_text_printf(out, "%s<%s, %d> _quern_value%u[%d];\n", qn_source_pack(call, k),
                       type_of(call, k), f->lanes, k, f->thin);
        return;
    case QN_ACCESS_HELD:
        qn_text_printf(out, "%s<%s, %d> _quern_value%u;\n", qn_source_pack(call, k),
                       type_of(call, k), f->lanes, k);
        return;
    default:
        qn_text_printf(out, "%s _quern_value%u[%d];\n", type_of(call, k), k,
                       f->access[k] == QN_ACCESS_STRIDED ? rows : f->thin);
    }
}

static void each_place(qn_text *out, int levels)
{
    qn_text_puts(out, "#pragma unroll\n");
    qn_source_indent(out, levels);
    qn_text_puts(out, "for (int _quern_place = 0; _quern_place < _quern_places; _quern_place++)\n");
}

static void each_lane(qn_text *out, int levels)
{
    qn_text_puts(out, "#pragma unroll\n");
    qn_source_indent(out, levels);
    qn_text_puts(out, "for (int _quern_lane = 0; _quern_lane < _quern_lanes; _quern_lane++)\n");
}

/* Elements that come one by one. */
static void load_each(qn_text *out, const qn_call *call, uint32_t k)
{
    const bool strided = call->plan.form.access[k] == QN_ACCESS_STRIDED;
    if (strided) {
        each_lane(out, 3);
    }
    each_place(out, 3);
    qn_source_indent(out, 4);
    qn_text_printf(out, "_quern_value%u[%s] = ", k,
                   strided ? "_quern_lane * _quern_places + _quern_place" : "_quern_place");
    value(out, call, k, strided ? "_quern_element + _quern_lane" : "_quern_element",
          "_quern_place");
}

/* The neighbours of each plane, one by one: they begin off the alignment. */
static void move_each(qn_text *out, const qn_call *call, uint32_t k, bool store)
{
    each_place(out, 3);
    each_lane(out, 3);
    qn_source_indent(out, 4);
    if (store) {
        target(out, call, k, "_quern_element + _quern_lane", "_quern_place");
    }
    qn_text_printf(out, "_quern_value%u[_quern_place].v[_quern_lane]%s", k, store ? ";\n" : " = ");
    if (!store) {
        value(out, call, k, "_quern_element + _quern_lane", "_quern_place");
    }
}

/* Bring what a thread has of operand `k`, or (if `store`) take it back. */
static void move(qn_text *out, const qn_call *call, uint32_t k, bool store)
{
    const char *way = store ? "store" : "load";
    switch (call->plan.form.access[k]) {
    case QN_ACCESS_WHOLE:
    case QN_ACCESS_HELD:
        qn_source_indent(out, 3);
        qn_text_printf(out, "_quern_value%u.%s(", k, way);
        address(out, call, k, "_quern_element", "0");
        qn_text_puts(out, ");\n");
        return;
    case QN_ACCESS_VECTOR:
        each_place(out, 3);
        qn_source_indent(out, 4);
        qn_text_printf(out, "_quern_value%u[_quern_place].%s(", k, way);
        address(out, call, k, "_quern_element", "_quern_place");
        qn_text_puts(out, ");\n");
        return;
    case QN_ACCESS_CONTIGUOUS:
        move_each(out, call, k, store);
        return;
    default:
        load_each(out, call, k);
    }
}

/* The element of `_quern_lane` and `_quern_place`. */
static void element(qn_text *out, const qn_call *call, uint32_t k)
{
    static const char rows[] = "_quern_lane * _quern_places + _quern_place";
    switch (call->plan.form.access[k]) {
    case QN_ACCESS_WHOLE:
        qn_text_printf(out, "_quern_value%u.v[%s]%s, ", k, rows, is_bytes(call, k) ? " != 0" : "");
        return;
    case QN_ACCESS_VECTOR:
    case QN_ACCESS_CONTIGUOUS:
        qn_text_printf(out, "_quern_value%u[_quern_place].v[_quern_lane], ", k);
        return;
    case QN_ACCESS_HELD:
        qn_text_printf(out, "_quern_value%u.v[_quern_lane], ", k);
        return;
    case QN_ACCESS_STRIDED:
        qn_text_printf(out, "_quern_value%u[%s], ", k, rows);
        return;
    default:
        qn_text_printf(out, "_quern_value%u[_quern_place], ", k);
    }
}

void qn_source_thin_body(qn_text *out, const qn_call *call)
{
    for (uint32_t k = 0; k < call->operand_count; k++) {
        declare(out, call, k);
        move(out, call, k, false);
    }
    each_place(out, 3);
    each_lane(out, 3);
    qn_source_indent(out, 4);
    qn_text_puts(out, "_quern_operation(");
    for (uint32_t k = 0; k < call->operand_count; k++) {
        element(out, call, k);
    }
    qn_text_puts(out, "0);\n");
    for (uint32_t k = 0; k < call->operand_count; k++) {
        if (call->operands[k].output) {
            move(out, call, k, true);
        }
    }
}

void qn_source_thin_single(qn_text *out, const qn_call *call)
{
    for (uint32_t k = 0; k < call->operand_count; k++) {
        const bool output = call->operands[k].output;
        qn_source_indent(out, 5);
        qn_text_printf(out, "%s%s _quern_value%u = ", output ? "" : "const ", type_of(call, k), k);
        value(out, call, k, "_quern_at", "_quern_place");
    }
    qn_source_indent(out, 5);
    qn_text_puts(out, "_quern_operation(");
    for (uint32_t k = 0; k < call->operand_count; k++) {
        qn_text_printf(out, "_quern_value%u, ", k);
    }
    qn_text_puts(out, "0);\n");
    for (uint32_t k = 0; k < call->operand_count; k++) {
        if (call->operands[k].output) {
            qn_source_indent(out, 5);
            target(out, call, k, "_quern_at", "_quern_place");
            qn_text_printf(out, "_quern_value%u;\n", k);
        }
    }
}
