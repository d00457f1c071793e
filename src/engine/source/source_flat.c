/* SPDX-License-Identifier: MIT
 *
 * source_flat: packs that go on across rows, in CUDA C++. In: the form of a flat plan. Out: for
 * templates/elementwise.cu where an element lies in each strided operand, and the reads of a pack
 * of them. The thing to know: `_quern_atD` is the position along dimension D, and `_quern_offsetK`
 * the element of operand K there; they are counted up together, lane after lane.
 */
#include "engine/source/source.h"

static bool is_counted(const qn_call *call, uint32_t k)
{
    return call->plan.form.access[k] == QN_ACCESS_STRIDED;
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

/* One element on along dimension `d`, of which the next one inside has just ended. */
static void step(qn_text *out, const qn_call *call, int d)
{
    const char *type = qn_source_offset(call);
    const int ndim = call->plan.form.ndim;
    for (uint32_t k = 0; k < call->operand_count; k++) {
        if (!is_counted(call, k)) {
            continue;
        }
        qn_text_printf(out, "            _quern_offset%u += (%s)_quern_walk.stride[%u][%d]", k,
                       type, k, d);
        if (d + 1 < ndim) {
            qn_text_puts(out, " - (");
            qn_text_printf(out, "%s)", type);
            divider(out, call, d + 1);
            qn_text_printf(out, ".value * (%s)_quern_walk.stride[%u][%d]", type, k, d + 1);
        }
        qn_text_puts(out, ";\n");
    }
    if (d > 0) {
        qn_text_printf(out, "            if (++_quern_at%d == ", d);
        divider(out, call, d);
        qn_text_printf(out, ".value) {\n            _quern_at%d = 0;\n", d);
        step(out, call, d - 1);
        qn_text_puts(out, "            }\n");
    }
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
                   "        for (int _quern_lane = 0; _quern_lane < %d; _quern_lane++) {\n",
                   f->lanes);
    for (uint32_t k = 0; k < call->operand_count; k++) {
        if (!is_counted(call, k)) {
            continue;
        }
        qn_text_printf(out, "            _quern_value%u.v[_quern_lane] = ", k);
        qn_source_read_begin(out, call, k);
        qn_source_place_begin(out, call, k);
        qn_text_printf(out, "(const char *)_quern_array%u + %s_quern_offset%u",
                       call->operand_parameter[k], f->near ? "(int)" : "", k);
        qn_source_place_end(out, call, k);
        qn_source_read_end(out, call, k);
        qn_text_puts(out, ";\n");
    }
    step(out, call, f->ndim - 1);
    qn_text_puts(out, "        }\n");
}
