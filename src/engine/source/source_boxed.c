/* SPDX-License-Identifier: MIT
 *
 * source_boxed: the walk by boxes, in CUDA C++, for inputs that lie in memory in another order than
 * the walk's. In: the form of a boxed plan. Out: the holes of templates/elementwise_boxed.cu. The
 * thing to know: a thread's elements lie at the same places in every box, so that dimensions are
 * divided once, in front of the loop, into tables in shared memory, of which a thread uses what it
 * wrote: `_quern_fromK` is where a tiled operand's element is fetched, `_quern_slotK` where shared
 * memory has that which the operation takes, and `_quern_keptK` where the others lie;
 * `_quern_boxK` is where the box begins. In registers they left room for one block a processor.
 */
#include "engine/source/source.h"
#include <stdio.h>

static bool is_tiled(const qn_call *call, uint32_t k)
{
    return call->plan.form.access[k] == QN_ACCESS_TILED;
}

/* The walk's members that boxes have no other use for. */
const char *qn_source_box_last(int cut)
{
    static const char *const last[QN_BOX_CUTS] = {
        "((int)_quern_walk.head & 0xffff)",
        "((int)_quern_walk.inner & 0xffff)",
        "((int)_quern_walk.inner >> 16)",
    };
    return last[cut];
}

void qn_source_box_shared(qn_text *out, const qn_call *call)
{
    for (uint32_t k = 0; k < call->operand_count; k++) {
        if (is_tiled(call, k)) {
            const uint32_t bytes = call->operands[k].item_size;
            if (qn_source_box_slot(call, k) == k) {
                qn_text_printf(
                    out, "    __shared__ unsigned short _quern_slot%u[256 * _quern_turns];\n", k);
            }
            qn_text_printf(
                out,
                "    __shared__ %s _quern_tile%u[_quern_spread<%u>(256 * _quern_turns - 1) + 1];\n",
                qn_source_word(bytes), k, bytes);
        }
    }
}

void qn_source_box_values(qn_text *out, const qn_call *call)
{
    const qn_plan_form *f = &call->plan.form;
    const char *type = f->near ? "int" : "long long";
    for (uint32_t k = 0; k < call->operand_count; k++) {
        if (is_tiled(call, k)) {
            qn_text_printf(out, "    __shared__ %s _quern_from%u[256 * _quern_turns];\n", type, k);
        } else {
            qn_text_printf(out, "    __shared__ %s _quern_kept%u[256 * _quern_turns];\n", type, k);
        }
    }
    qn_text_puts(out, "    const _quern_index _quern_place0 = 1;\n");
    for (int j = 1; j < f->ndim - f->box; j++) {
        const int d = f->fetch[f->ndim - f->box - j];
        qn_text_printf(out, "    const _quern_index _quern_place%d = _quern_place%d * ", j, j - 1);
        qn_text_printf(
            out, d == f->ndim - 1 ? "_quern_walk.row.value;\n" : "_quern_walk.outer[%d].value;\n",
            d);
    }
}

/* The next coordinate of `_quern_outer`, along dimension `d` inside of boxes, and what it says of
 * the last box, into `bits`. */
static void coordinate(qn_text *out, const qn_call *call, int d, const char *bits)
{
    const qn_plan_form *f = &call->plan.form;
    char divider[32];
    if (d == f->ndim - 1) {
        snprintf(divider, sizeof divider, "row");
    } else {
        snprintf(divider, sizeof divider, "outer[%d]", d);
    }
    qn_text_printf(out,
                   "            _quern_coordinate = _quern_outer;\n"
                   "            _quern_outer = _quern_walk.%s.divide(_quern_coordinate);\n"
                   "            _quern_coordinate -= _quern_outer * _quern_walk.%s.value;\n",
                   divider, divider);
    for (int c = 0; c < f->cuts; c++) {
        if (f->cut[c] == d) {
            qn_text_printf(out,
                           "            %s[%d] |= (unsigned)(_quern_coordinate < %s) << "
                           "_quern_turn;\n",
                           bits, c, qn_source_box_last(c));
        }
    }
}

/* What the coordinate adds to an offset. */
static void add(qn_text *out, const qn_call *call, uint32_t k, int d, const char *to)
{
    const char *type = call->plan.form.near ? "int" : "long long";
    qn_text_printf(out,
                   "            %s%u[_quern_at] += (%s)_quern_coordinate * "
                   "(%s)_quern_walk.stride[%u][%d];\n",
                   to, k, type, type, k, d);
}

void qn_source_box_fetched(qn_text *out, const qn_call *call)
{
    const qn_plan_form *f = &call->plan.form;
    for (uint32_t k = 0; k < call->operand_count; k++) {
        if (is_tiled(call, k)) {
            qn_text_printf(out, "            _quern_from%u[_quern_at] = 0;\n", k);
        }
    }
    for (int j = f->ndim - f->box - 1; j >= 0; j--) {
        coordinate(out, call, f->fetch[j], "_quern_fetched");
        for (uint32_t k = 0; k < call->operand_count; k++) {
            if (is_tiled(call, k)) {
                add(out, call, k, f->fetch[j], "_quern_from");
            }
        }
    }
}

/* Which factor of `_quern_placeN` dimension `d` has. */
static int place_of(const qn_plan_form *f, int d)
{
    int j = f->ndim - f->box - 1;
    while (j > 0 && f->fetch[j] != d) {
        j--;
    }
    return f->ndim - f->box - 1 - j;
}

void qn_source_box_given(qn_text *out, const qn_call *call)
{
    const qn_plan_form *f = &call->plan.form;
    qn_text_puts(out, "            _quern_index _quern_from = 0;\n");
    for (uint32_t k = 0; k < call->operand_count; k++) {
        if (!is_tiled(call, k)) {
            qn_text_printf(out, "            _quern_kept%u[_quern_at] = 0;\n", k);
        }
    }
    for (int d = f->ndim - 1; d >= f->box; d--) {
        coordinate(out, call, d, "_quern_given");
        qn_text_printf(out, "            _quern_from += _quern_coordinate * _quern_place%d;\n",
                       place_of(f, d));
        for (uint32_t k = 0; k < call->operand_count; k++) {
            if (!is_tiled(call, k)) {
                add(out, call, k, d, "_quern_kept");
            }
        }
    }
    for (uint32_t k = 0; k < call->operand_count; k++) {
        if (is_tiled(call, k) && qn_source_box_slot(call, k) == k) {
            qn_text_printf(out,
                           "            _quern_slot%u[_quern_at] = (unsigned short)"
                           "_quern_spread<%u>((int)_quern_from);\n",
                           k, call->operands[k].item_size);
        }
    }
}

/* The address of the box in each operand, and room for what a thread reads. */
static void room(qn_text *out, const qn_call *call)
{
    for (uint32_t k = 0; k < call->operand_count; k++) {
        const uint32_t p = call->operand_parameter[k];
        const char *type = qn_source_type(call, p);
        const char *constant = call->operands[k].output ? "" : "const ";
        qn_text_printf(out,
                       "        %schar *const _quern_box%u = (%schar *)_quern_array%u + "
                       "%s_quern_base%u;\n",
                       constant, k, constant, p, call->plan.form.near ? "(int)" : "", k);
        qn_text_printf(out, "        %s _quern_values%u[_quern_turns];\n", type, k);
        if (is_tiled(call, k)) {
            qn_text_printf(out, "        %s _quern_held%u[_quern_turns];\n",
                           qn_source_word(call->operands[k].item_size), k);
        }
    }
}

/* Where the box begins, and which of the thread's elements it has: the last ones along what is cut
 * may be smaller. */
void qn_source_box_offsets(qn_text *out, const qn_call *call)
{
    const qn_plan_form *f = &call->plan.form;
    qn_text_puts(out, "        _quern_index _quern_outer = _quern_pack;\n");
    qn_source_outer(out, call, f->box, "_quern_base");
    qn_text_puts(out, "        _quern_outer = _quern_pack;\n");
    for (int c = f->cuts - 1; c >= 0; c--) {
        const int d = f->box - f->cuts + c;
        qn_text_printf(out,
                       "        _quern_coordinate = _quern_walk.outer[%d].divide(_quern_outer);\n"
                       "        if (_quern_outer - _quern_coordinate * _quern_walk.outer[%d].value "
                       "== _quern_walk.outer[%d].value - 1) {\n"
                       "            _quern_fetches &= _quern_fetched[%d];\n"
                       "            _quern_gives &= _quern_given[%d];\n"
                       "        }\n"
                       "        _quern_outer = _quern_coordinate;\n",
                       d, d, d, c, c);
    }
    room(out, call);
}

void qn_source_box_fetch(qn_text *out, const qn_call *call)
{
    for (uint32_t k = 0; k < call->operand_count; k++) {
        if (is_tiled(call, k)) {
            qn_source_indent(out, 3);
            qn_text_printf(out,
                           "_quern_held%u[_quern_turn] = *(const %s *)(_quern_box%u + "
                           "(_quern_whole ? _quern_from%u[_quern_at] : 0));\n",
                           k, qn_source_word(call->operands[k].item_size), k, k);
        }
    }
}

/* Values of the operands that are tiled, or of the others. */
static void values(qn_text *out, const qn_call *call, bool tiled)
{
    for (uint32_t k = 0; k < call->operand_count; k++) {
        if (is_tiled(call, k) == tiled) {
            qn_source_load_one(out, call, 3, k, "0");
            qn_source_indent(out, 3);
            qn_text_printf(out, "_quern_values%u[_quern_turn] = _quern_value%u;\n", k, k);
        }
    }
}

void qn_source_box_read(qn_text *out, const qn_call *call)
{
    values(out, call, false);
}

void qn_source_box_keep(qn_text *out, const qn_call *call)
{
    for (uint32_t k = 0; k < call->operand_count; k++) {
        if (is_tiled(call, k)) {
            qn_source_indent(out, 3);
            qn_text_printf(
                out, "_quern_tile%u[_quern_spread<%u>(_quern_at)] = _quern_held%u[_quern_turn];\n",
                k, call->operands[k].item_size, k);
        }
    }
}

void qn_source_box_take(qn_text *out, const qn_call *call)
{
    values(out, call, true);
}

void qn_source_box_body(qn_text *out, const qn_call *call)
{
    for (uint32_t k = 0; k < call->operand_count; k++) {
        qn_source_indent(out, 4);
        qn_text_printf(out, "auto &_quern_value%u = _quern_values%u[_quern_turn];\n", k, k);
    }
    qn_source_operate(out, call, 4, "0");
}
