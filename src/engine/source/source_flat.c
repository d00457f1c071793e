/* SPDX-License-Identifier: MIT
 *
 * source_flat: packs that go on across rows, in CUDA C++. In: the form of a flat plan. Out: for
 * templates/elementwise.cu and elementwise_phases.cu where an element lies in each strided operand,
 * and the reads of a pack of them. The thing to know: `_quern_atD` is the position along dimension
 * D, and `_quern_offsetK` the element of operand K there; they are counted up together, step after
 * step.
 */
#include "engine/source/source.h"

/* It is another one in each turn of a thread: all turns are read, one after another. */
static bool in_turns(const qn_call *call, uint32_t k)
{
    return call->plan.form.turns > 1 && !qn_plan_is_kept(&call->plan.form, k);
}

static bool is_counted(const qn_call *call, uint32_t k)
{
    return qn_plan_counts(&call->plan.form, k);
}

/* The divider by the extent of dimension `d`. */
static void divider(qn_text *out, const qn_call *call, int d)
{
    if (d == call->plan.form.ndim - 1) {
        qn_text_puts(out, "_quern_walk.row");
    } else {
        qn_text_printf(out, "_quern_walk.outer[%d]", d);
    }
}

/* Each dimension's position, from that of the element in all. */
static void positions(qn_text *out, const qn_call *call)
{
    qn_text_puts(out, "        _quern_index _quern_at0 = _quern_element;\n");
    for (int d = call->plan.form.ndim - 1; d > 0; d--) {
        qn_text_printf(out,
                       "        _quern_index _quern_at%d = _quern_at0;\n        _quern_at0 = ", d);
        divider(out, call, d);
        qn_text_printf(out, ".divide(_quern_at%d);\n        _quern_at%d -= _quern_at0 * ", d, d);
        divider(out, call, d);
        qn_text_puts(out, ".value;\n");
    }
}

void qn_source_flat_place(qn_text *out, const qn_call *call)
{
    const char *type = qn_source_offset(call);
    positions(out, call);
    for (uint32_t k = 0; k < call->operand_count; k++) {
        if (!is_counted(call, k)) {
            continue;
        }
        qn_text_printf(out, "        %s _quern_offset%u = 0;\n", type, k);
        for (int d = 0; d < call->plan.form.ndim; d++) {
            qn_text_printf(out,
                           "        _quern_offset%u += (%s)_quern_at%d * "
                           "(%s)_quern_walk.stride[%u][%d];\n",
                           k, type, d, type, k, d);
        }
    }
}

/* One step on along dimension `d`, of which the next one inside has just ended; there it has
 * `elements`. */
static void count_up(qn_text *out, const qn_call *call, int d, int elements)
{
    const qn_plan_form *f = &call->plan.form;
    const char *type = qn_source_offset(call);
    const bool rewinds = d + 1 < f->ndim && !(f->whole && d + 2 == f->ndim);
    for (uint32_t k = 0; k < call->operand_count; k++) {
        if (!is_counted(call, k)) {
            continue;
        }
        qn_text_printf(out, "            _quern_offset%u += (%s)_quern_walk.stride[%u][%d]", k,
                       type, k, d);
        if (elements > 1) {
            qn_text_printf(out, " * %d", elements);
        }
        if (rewinds) {
            qn_text_printf(out, " - (%s)", type);
            divider(out, call, d + 1);
            qn_text_printf(out, ".value * (%s)_quern_walk.stride[%u][%d]", type, k, d + 1);
        }
        qn_text_puts(out, ";\n");
    }
    if (d > 0) {
        qn_text_printf(out, "            _quern_at%d += %d;\n            if (_quern_at%d == ", d,
                       elements, d);
        divider(out, call, d);
        qn_text_printf(out, ".value) {\n            _quern_at%d = 0;\n", d);
        count_up(out, call, d - 1, 1);
        qn_text_puts(out, "            }\n");
    }
}

/* The address of a counted operand at the step, or at another `place`. Of paired packs it depends
 * on which of its two rows has the step. */
static void address(qn_text *out, const qn_call *call, uint32_t k, const char *place)
{
    const qn_plan_form *f = &call->plan.form;
    const char *near = f->near ? "(int)" : "";
    qn_text_printf(out, "(const char *)_quern_array%u + ", call->operand_parameter[k]);
    if (place) {
        qn_text_printf(out, "%s_quern_%s%u", near, place, k);
    } else if (!f->paired) {
        qn_text_printf(out, "%s_quern_offset%u", near, k);
    } else {
        qn_text_printf(out,
                       "%s(_quern_lane < _quern_left ? _quern_begin%u : _quern_offset%u) + "
                       "_quern_lane * (long long)",
                       near, k, k);
        if (f->access[k] == QN_ACCESS_STEP) {
            qn_text_printf(out, "%u", call->operands[k].item_size);
        } else {
            qn_text_printf(out, "_quern_walk.stride[%u][%d]", k, f->ndim - 1);
        }
    }
    if (in_turns(call, k)) {
        qn_text_printf(out, " + _quern_shift%u[_quern_turn]", k);
    }
}

/* The value of a counted operand there, `beside` elements on along the row. */
static void value(qn_text *out, const qn_call *call, uint32_t k, const char *place, bool beside)
{
    qn_source_read_begin(out, call, k);
    qn_source_place_begin(out, call, k);
    address(out, call, k, place);
    if (beside) {
        qn_text_printf(out, " + _quern_beside * (long long)_quern_walk.stride[%u][%d]", k,
                       call->plan.form.ndim - 1);
    }
    qn_source_place_end(out, call, k);
    qn_source_read_end(out, call, k);
    qn_text_puts(out, ";\n");
}

/* The pack that the elements go to. */
static void pack(qn_text *out, const qn_call *call, uint32_t k)
{
    qn_text_printf(out, in_turns(call, k) ? "_quern_counted%u[_quern_turn]" : "_quern_value%u", k);
}

/* The elements of a step of operand `k`. */
static void fetch_step(qn_text *out, const qn_call *call, uint32_t k)
{
    const qn_plan_form *f = &call->plan.form;
    const char *type = qn_source_type(call, call->operand_parameter[k]);
    if (f->step == 1) {
        qn_text_puts(out, "            ");
        pack(out, call, k);
        qn_text_puts(out, ".v[_quern_lane] = ");
        value(out, call, k, NULL, false);
        return;
    }
    if (f->access[k] == QN_ACCESS_HELD) {
        qn_text_printf(out, "            const %s _quern_step%u = ", type, k);
        value(out, call, k, NULL, false);
    } else if (f->access[k] == QN_ACCESS_STEP) {
        qn_text_printf(out,
                       "            %s<%s, %d> _quern_step%u;\n"
                       "            _quern_step%u.load(",
                       qn_source_pack(call, k), type, f->step, k, k);
        address(out, call, k, NULL);
        qn_text_puts(out, ");\n");
    }
    qn_text_printf(out,
                   "#pragma unroll\n"
                   "            for (int _quern_beside = 0; _quern_beside < %d; "
                   "_quern_beside++) {\n"
                   "                ",
                   f->step);
    pack(out, call, k);
    qn_text_puts(out, ".v[_quern_lane + _quern_beside] = ");
    if (f->access[k] == QN_ACCESS_STRIDED) {
        value(out, call, k, NULL, true);
    } else {
        const char *lane = f->access[k] == QN_ACCESS_STEP ? ".v[_quern_beside]" : "";
        qn_text_printf(out, "_quern_step%u%s;\n", k, lane);
    }
    qn_text_puts(out, "            }\n");
}

/* The loop over the turns that read operand `k`, if it has any, up to its body. */
static void each_turn(qn_text *out, const qn_call *call, uint32_t k)
{
    if (in_turns(call, k)) {
        qn_text_puts(out, "#pragma unroll\n            for (int _quern_turn = 0; "
                          "_quern_turn < _quern_turns; _quern_turn++)\n");
    }
    qn_text_puts(out, "            {\n");
}

/* Where the second row of paired packs begins, as far before it as the first has elements. */
static void find_second(qn_text *out, const qn_call *call)
{
    const qn_plan_form *f = &call->plan.form;
    qn_text_printf(
        out, "        const _quern_index _quern_left = _quern_walk.row.value - _quern_at%d;\n",
        f->ndim - 1);
    for (uint32_t k = 0; k < call->operand_count; k++) {
        if (is_counted(call, k)) {
            qn_text_printf(out, "        const auto _quern_begin%u = _quern_offset%u;\n", k, k);
        }
    }
    count_up(out, call, f->ndim - 2, 1);
    for (uint32_t k = 0; k < call->operand_count; k++) {
        if (f->access[k] == QN_ACCESS_PAIR) { /* read in any case */
            qn_text_printf(out,
                           "        _quern_offset%u = _quern_left < %d ? _quern_offset%u : "
                           "_quern_begin%u;\n",
                           k, f->lanes, k, k);
        }
    }
}

/* Those elements of a pack that are of the first row, `_quern_left` of them, and the others. */
static void take_pair(qn_text *out, const qn_call *call, uint32_t k)
{
    const char *type = qn_source_type(call, call->operand_parameter[k]);
    each_turn(out, call, k);
    qn_text_printf(out, "            const %s _quern_here = ", type);
    value(out, call, k, "begin", false);
    qn_text_printf(out, "            const %s _quern_there = ", type);
    value(out, call, k, "offset", false);
    qn_text_printf(out,
                   "#pragma unroll\n"
                   "            for (int _quern_lane = 0; _quern_lane < %d; _quern_lane++) {\n"
                   "                ",
                   call->plan.form.lanes);
    pack(out, call, k);
    qn_text_puts(out, ".v[_quern_lane] =\n                    _quern_lane < _quern_left ? "
                      "_quern_here : _quern_there;\n            }\n            }\n");
}

void qn_source_flat_fetch(qn_text *out, const qn_call *call)
{
    const qn_plan_form *f = &call->plan.form;
    for (uint32_t k = 0; k < call->operand_count; k++) {
        if (is_counted(call, k) && !in_turns(call, k)) {
            qn_text_printf(out, "        %s<%s, %d> _quern_value%u;\n", qn_source_pack(call, k),
                           qn_source_type(call, call->operand_parameter[k]), f->lanes, k);
        }
    }
    if (f->paired) {
        find_second(out, call);
    }
    qn_text_printf(out,
                   "#pragma unroll\n"
                   "        for (int _quern_lane = 0; _quern_lane < %d; _quern_lane += %d) {\n",
                   f->lanes, f->step);
    for (uint32_t k = 0; k < call->operand_count; k++) {
        if (is_counted(call, k) && f->access[k] != QN_ACCESS_PAIR) {
            each_turn(out, call, k);
            fetch_step(out, call, k);
            qn_text_puts(out, "            }\n");
        }
    }
    if (f->whole) { /* and the next row begins */
        count_up(out, call, f->ndim - 2, 1);
    } else if (!f->paired) {
        count_up(out, call, f->ndim - 1, f->step);
    }
    qn_text_puts(out, "        }\n");
    for (uint32_t k = 0; k < call->operand_count; k++) {
        if (f->access[k] == QN_ACCESS_PAIR) {
            take_pair(out, call, k);
        }
    }
}

/* A turn that is not there reads what the first one does. */
void qn_source_phase_values(qn_text *out, const qn_call *call)
{
    const qn_plan_form *f = &call->plan.form;
    for (uint32_t k = 0; k < call->operand_count; k++) {
        if (!is_counted(call, k) || !in_turns(call, k)) {
            continue;
        }
        qn_text_printf(out,
                       "        %s<%s, %d> _quern_counted%u[_quern_turns];\n"
                       "        long long _quern_shift%u[_quern_turns];\n"
                       "#pragma unroll\n"
                       "        for (int _quern_turn = 0; _quern_turn < _quern_turns; "
                       "_quern_turn++) {\n"
                       "            _quern_shift%u[_quern_turn] = _quern_has(_quern_turn)\n"
                       "                ? (long long)(_quern_turn * %d) * _quern_walk.stride[%u][0]"
                       " : 0;\n        }\n",
                       qn_source_pack(call, k), qn_source_type(call, call->operand_parameter[k]),
                       f->lanes, k, k, k, f->lanes << f->period, k);
    }
}
