/* SPDX-License-Identifier: MIT
 *
 * source_flat: packs that go on across rows, in CUDA C++. In: the form of a flat plan. Out: for
 * templates/elementwise.cu where an element lies in each strided operand, and the reads of a pack
 * of them. The thing to know: `_quern_atD` is the position along dimension D, and `_quern_offsetK`
 * the element of operand K there; they are counted up together, step after step.
 */
#include "engine/source/source.h"

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

/* The address of a counted operand at the step. */
static void address(qn_text *out, const qn_call *call, uint32_t k)
{
    qn_text_printf(out, "(const char *)_quern_array%u + %s_quern_offset%u",
                   call->operand_parameter[k], call->plan.form.near ? "(int)" : "", k);
}

/* The value of a counted operand there, `beside` elements on along the row. */
static void value(qn_text *out, const qn_call *call, uint32_t k, bool beside)
{
    qn_source_read_begin(out, call, k);
    qn_source_place_begin(out, call, k);
    address(out, call, k);
    if (beside) {
        qn_text_printf(out, " + _quern_beside * (long long)_quern_walk.stride[%u][%d]", k,
                       call->plan.form.ndim - 1);
    }
    qn_source_place_end(out, call, k);
    qn_source_read_end(out, call, k);
    qn_text_puts(out, ";\n");
}

/* The elements of a step of operand `k`. */
static void fetch_step(qn_text *out, const qn_call *call, uint32_t k)
{
    const qn_plan_form *f = &call->plan.form;
    const char *type = qn_source_type(call, call->operand_parameter[k]);
    if (f->step == 1) {
        qn_text_printf(out, "            _quern_value%u.v[_quern_lane] = ", k);
        value(out, call, k, false);
        return;
    }
    if (f->access[k] == QN_ACCESS_HELD) {
        qn_text_printf(out, "            const %s _quern_step%u = ", type, k);
        value(out, call, k, false);
    } else if (f->access[k] == QN_ACCESS_STEP) {
        qn_text_printf(out,
                       "            %s<%s, %d> _quern_step%u;\n"
                       "            _quern_step%u.load(",
                       qn_source_pack(call, k), type, f->step, k, k);
        address(out, call, k);
        qn_text_puts(out, ");\n");
    }
    qn_text_printf(out,
                   "#pragma unroll\n"
                   "            for (int _quern_beside = 0; _quern_beside < %d; "
                   "_quern_beside++) {\n"
                   "                _quern_value%u.v[_quern_lane + _quern_beside] = ",
                   f->step, k);
    if (f->access[k] == QN_ACCESS_STRIDED) {
        value(out, call, k, true);
    } else {
        const char *lane = f->access[k] == QN_ACCESS_STEP ? ".v[_quern_beside]" : "";
        qn_text_printf(out, "_quern_step%u%s;\n", k, lane);
    }
    qn_text_puts(out, "            }\n");
}

void qn_source_flat_fetch(qn_text *out, const qn_call *call)
{
    const qn_plan_form *f = &call->plan.form;
    for (uint32_t k = 0; k < call->operand_count; k++) {
        if (is_counted(call, k)) {
            qn_text_printf(out, "        %s<%s, %d> _quern_value%u;\n", qn_source_pack(call, k),
                           qn_source_type(call, call->operand_parameter[k]), f->lanes, k);
        }
    }
    qn_text_printf(out,
                   "#pragma unroll\n"
                   "        for (int _quern_lane = 0; _quern_lane < %d; _quern_lane += %d) {\n",
                   f->lanes, f->step);
    for (uint32_t k = 0; k < call->operand_count; k++) {
        if (is_counted(call, k)) {
            fetch_step(out, call, k);
        }
    }
    if (f->whole) { /* and the next row begins */
        count_up(out, call, f->ndim - 2, 1);
    } else {
        count_up(out, call, f->ndim - 1, f->step);
    }
    qn_text_puts(out, "        }\n");
}
