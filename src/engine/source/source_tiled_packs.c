/* SPDX-License-Identifier: MIT
 *
 * source_tiled_packs: the walk by tiles whose threads take packs, in CUDA C++, for narrow operands
 * that disagree on the fast axis. In: the form of a tiled plan with several lanes. Out: those holes
 * of templates/elementwise_tiled_packs.cu that elementwise_tiled.cu has otherwise. The thing to
 * know: a tiled operand is fetched in squares, `_quern_squareK`, as words of several elements; at
 * the sides of an array element by element.
 */
#include "engine/source/source.h"

static bool is_tiled(const qn_call *call, uint32_t k)
{
    return call->plan.form.access[k] == QN_ACCESS_TILED;
}

void qn_source_square_shared(qn_text *out, const qn_call *call)
{
    for (uint32_t k = 0; k < call->operand_count; k++) {
        if (is_tiled(call, k)) {
            qn_text_printf(
                out, "    __shared__ alignas(16) %s _quern_tile%u[_quern_tile * _quern_pitch];\n",
                qn_source_word(call->operands[k].item_size), k);
        }
    }
}

void qn_source_square_room(qn_text *out, const qn_call *call)
{
    for (uint32_t k = 0; k < call->operand_count; k++) {
        if (is_tiled(call, k)) {
            qn_text_printf(
                out,
                "            quern::square<%u, _quern_lanes> _quern_square%u[_quern_squares];\n",
                call->operands[k].item_size, k);
        }
    }
}

void qn_source_square_fetch(qn_text *out, const qn_call *call)
{
    const qn_plan_form *f = &call->plan.form;
    for (uint32_t k = 0; k < call->operand_count; k++) {
        if (is_tiled(call, k)) {
            qn_source_indent(out, 5);
            qn_text_printf(out,
                           "_quern_square%u[_quern_turn].%s(_quern_from%u + _quern_across * "
                           "(long long)_quern_walk.stride[%u][%d], _quern_walk.stride[%u][%d]);\n",
                           k, f->margin ? "load_shifted" : "load", k, k, f->ndim - 1, k,
                           f->ndim - 1);
        }
    }
}

void qn_source_square_give(qn_text *out, const qn_call *call)
{
    for (uint32_t k = 0; k < call->operand_count; k++) {
        if (is_tiled(call, k)) {
            qn_source_indent(out, 5);
            qn_text_printf(out,
                           "_quern_square%u[_quern_turn].store(&_quern_tile%u[_quern_spot("
                           "_quern_along) + _quern_across], _quern_side * _quern_pitch * %u);\n",
                           k, k, call->operands[k].item_size);
        }
    }
}

/* Room for the elements of a thread that are on their way. */
void qn_source_square_values(qn_text *out, const qn_call *call)
{
    for (uint32_t k = 0; k < call->operand_count; k++) {
        if (is_tiled(call, k)) {
            qn_text_printf(out, "                %s _quern_held%u[_quern_turns];\n",
                           qn_source_word(call->operands[k].item_size), k);
        }
    }
}

void qn_source_square_place(qn_text *out, const qn_call *call)
{
    const qn_plan_form *f = &call->plan.form;
    const char *type = qn_source_offset(call);
    for (uint32_t k = 0; k < call->operand_count; k++) {
        if (is_tiled(call, k)) {
            qn_source_indent(out, 5);
            qn_text_printf(out,
                           "_quern_held%u[_quern_turn] = *(const %s *)((const char *)_quern_array%u"
                           " + %s(_quern_base%u + (%s)_quern_line * (%s)_quern_walk.stride[%u][%d] "
                           "+ (%s)_quern_element * (%s)_quern_walk.stride[%u][%d]));\n",
                           k, qn_source_word(call->operands[k].item_size),
                           call->operand_parameter[k], f->near ? "(int)" : "", k, type, type, k,
                           f->ndim - 2, type, type, k, f->ndim - 1);
        }
    }
}

void qn_source_square_keep(qn_text *out, const qn_call *call)
{
    for (uint32_t k = 0; k < call->operand_count; k++) {
        if (is_tiled(call, k)) {
            qn_source_indent(out, 6);
            qn_text_printf(out,
                           "_quern_tile%u[_quern_spot(_quern_beside) + _quern_across] = "
                           "_quern_held%u[_quern_turn];\n",
                           k, k);
        }
    }
}

void qn_source_square_body(qn_text *out, const qn_call *call)
{
    qn_source_tile_lines(out, call);
    qn_source_in_packs(out, call, 4);
}

void qn_source_square_single(qn_text *out, const qn_call *call)
{
    qn_source_tile_lines(out, call);
    qn_source_element(out, call, 5, "_quern_element");
}
