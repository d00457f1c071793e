/* SPDX-License-Identifier: MIT
 *
 * source_reach: where an element of an operand lies, in CUDA C++. In: the form of a plan. Out: what
 * the outer dimensions add to an operand's address, and the element there. The thing to know:
 * `_quern_element` is the element within the innermost dimension, and `_quern_offsetK` what the
 * outer ones add to the address of operand K.
 */
#include "engine/source/source.h"

const char *qn_source_offset(const qn_call *call)
{
    return call->plan.form.near ? "unsigned" : "long long";
}

void qn_source_outer(qn_text *out, const qn_call *call, int dims, const char *prefix)
{
    bool axes = call->kernel->uses_axes && call->ndim > 0;
    const char *type = qn_source_offset(call);
    for (uint32_t k = 0; k < call->operand_count; k++) {
        qn_text_printf(out, "        %s %s%u = 0;\n", type, prefix, k);
    }
    if (dims > 0) {
        qn_text_puts(out, "        _quern_index _quern_coordinate;\n");
    }
    for (int d = dims - 1; d >= 0; d--) {
        if (d > 0) {
            qn_text_printf(
                out,
                "        _quern_coordinate = _quern_outer;\n"
                "        _quern_outer = _quern_walk.outer[%d].divide(_quern_coordinate);\n"
                "        _quern_coordinate -= _quern_outer * _quern_walk.outer[%d].value;\n",
                d, d);
        } else {
            qn_text_puts(out, "        _quern_coordinate = _quern_outer;\n");
        }
        for (uint32_t k = 0; k < call->operand_count; k++) {
            qn_text_printf(out,
                           "        %s%u += (%s)_quern_coordinate * "
                           "(%s)_quern_walk.stride[%u][%d];\n",
                           prefix, k, type, type, k, d);
        }
        if (axes) {
            qn_text_printf(out, "        _ind.at[%d] = _quern_coordinate;\n", d);
        }
    }
}

/* What the outer dimensions add to the address of each operand: `_quern_offsetK`. */
void qn_source_offsets(qn_text *out, const qn_call *call)
{
    int ndim = call->plan.form.ndim;
    if (ndim > 1) {
        qn_text_puts(out, "        _quern_index _quern_outer = _quern_row;\n");
        qn_source_outer(out, call, ndim - 1, "_quern_offset");
    }
}

/* Where element `at` of the row lies from the operand's first, in bytes, in the type of offsets. */
void qn_source_reach_offset(qn_text *out, const qn_call *call, uint32_t k, const char *at)
{
    const qn_plan_form *f = &call->plan.form;
    const bool rows = f->ndim > 1 && (!f->flat || qn_plan_counts(f, k));
    const char *type = qn_source_offset(call), *plus = rows ? " + " : "";
    if (rows) {
        qn_text_printf(out, "_quern_offset%u", k);
    }
    if ((f->flat && rows) || f->slab != 0) { /* that of the element */
        return;
    }
    switch ((qn_access)f->access[k]) {
    case QN_ACCESS_VECTOR:
    case QN_ACCESS_CONTIGUOUS:
    case QN_ACCESS_WORDS:
    case QN_ACCESS_WHOLE:
        qn_text_printf(out, "%s(%s)(%s) * %u", plus, type, at, call->operands[k].item_size);
        break;
    case QN_ACCESS_BACK:
        qn_text_printf(out, " - (%s)(%s) * %u", type, at, call->operands[k].item_size);
        break;
    case QN_ACCESS_STRIDED:
        qn_text_printf(out, "%s(%s)(%s) * (%s)_quern_walk.stride[%u][%d]", plus, type, at, type, k,
                       f->ndim - 1);
        break;
    case QN_ACCESS_BROADCAST:
    case QN_ACCESS_TILED:
    case QN_ACCESS_STEP:
    case QN_ACCESS_HELD:
    case QN_ACCESS_PAIR:
    case QN_ACCESS_LOCATED: /* of scans */
        qn_text_puts(out, rows ? "" : "0");
        break;
    }
}

/* What a lane adds to that. It stays out of the sum in 32 bits, so that the compiler may make it
 * part of the access. */
static void lane_offset(qn_text *out, const qn_call *call, uint32_t k)
{
    if (call->plan.form.access[k] == QN_ACCESS_STRIDED) {
        qn_text_printf(out, " + _quern_lane * (long long)_quern_walk.stride[%u][%d]", k,
                       call->plan.form.ndim - 1);
    } else {
        qn_text_printf(out, " + _quern_lane * %u", call->operands[k].item_size);
    }
}

/* Offsets in 32 bits are added up unsigned, whose wrapping is defined: else the compiler extends
 * each part of the sum by itself. */
static void element_of_array(qn_text *out, const qn_call *call, uint32_t k, const char *at,
                             qn_reach how)
{
    qn_text_printf(out, "(%schar *)_quern_array%u + ", call->operands[k].output ? "" : "const ",
                   call->operand_parameter[k]);
    qn_text_puts(out, call->plan.form.near ? "(int)(" : "(");
    if (how == QN_REACH_KEPT) {
        qn_text_printf(out, "_quern_kept%u[_quern_turn]", k);
    } else {
        qn_source_reach_offset(out, call, k, at);
    }
    qn_text_puts(out, ")");
}

/* By rows: from where the row begins. */
static void element_of_line(qn_text *out, const qn_call *call, uint32_t k, const char *at)
{
    const qn_plan_form *f = &call->plan.form;
    qn_text_printf(out, "_quern_line%u", k);
    if (f->access[k] == QN_ACCESS_STRIDED) {
        qn_text_printf(out, " + (long long)(%s) * _quern_walk.stride[%u][%d]", at, k, f->ndim - 1);
    } else if (f->access[k] != QN_ACCESS_BROADCAST) {
        qn_text_printf(out, " %c (long long)(%s) * %u", f->access[k] == QN_ACCESS_BACK ? '-' : '+',
                       at, call->operands[k].item_size);
    }
}

/* The address of operand `k`'s element, as a dereferenced pointer. */
void qn_source_reach(qn_text *out, const qn_call *call, uint32_t k, const char *at, qn_reach how)
{
    qn_source_place_begin(out, call, k);
    if (call->plan.form.rows) {
        element_of_line(out, call, k, at);
    } else if (call->plan.form.boxed) {
        qn_text_printf(out, "_quern_box%u + (_quern_whole ? _quern_kept%u[_quern_at] : 0)", k, k);
    } else {
        element_of_array(out, call, k, at, how);
    }
    if (how == QN_REACH_LANE) {
        lane_offset(out, call, k);
    }
    qn_source_place_end(out, call, k);
}

uint32_t qn_source_box_slot(const qn_call *call, uint32_t k)
{
    uint32_t first = 0;
    while (call->plan.form.access[first] != QN_ACCESS_TILED ||
           call->operands[first].item_size != call->operands[k].item_size) {
        first++;
    }
    return first;
}
