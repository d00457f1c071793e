/* SPDX-License-Identifier: MIT
 *
 * source_tiled: the walk by tiles, in CUDA C++, for operands that disagree on the fast axis, as in
 * x.T + y. In: the form of a tiled plan. Out: the holes of templates/elementwise_tiled.cu. The
 * thing to know: the last dimension but one is the fast one of the tiled operands. They are fetched
 * along it into shared memory, as plain words so that no constructor runs there; then elements are
 * computed along the last dimension, which is the fast one of all others.
 */
#include "engine/source/source.h"

static const char *word_of(const qn_call *call, uint32_t k)
{
    return qn_source_word(call->operands[k].item_size);
}

/* The tiles; one word more than is used keeps threads off each other's banks. */
void qn_source_tile_shared(qn_text *out, const qn_call *call)
{
    for (uint32_t k = 0; k < call->operand_count; k++) {
        if (call->plan.form.access[k] == QN_ACCESS_TILED) {
            const uint32_t size = call->operands[k].item_size;
            qn_text_printf(
                out,
                "    __shared__ %s _quern_tile%u[_quern_slack + _quern_tile][_quern_tile + %u];\n",
                word_of(call, k), k, size < 4 ? 4 / size : 1);
        }
    }
}

/* Where a thread begins to fetch each tiled operand, `_quern_fromK`: its line of the tile's first
 * column. */
static void starts(qn_text *out, const qn_call *call)
{
    int ndim = call->plan.form.ndim;
    const char *type = qn_source_offset(call);
    for (uint32_t k = 0; k < call->operand_count; k++) {
        if (call->plan.form.access[k] == QN_ACCESS_TILED) {
            qn_text_printf(
                out,
                "        const char *const _quern_from%u = (const char *)_quern_array%u +\n"
                "            %s(_quern_base%u + (%s)(_quern_tile_line + _quern_along) * "
                "(%s)_quern_walk.stride[%u][%d] +\n"
                "            (%s)_quern_tile_element * (%s)_quern_walk.stride[%u][%d]);\n",
                k, call->operand_parameter[k], call->plan.form.near ? "(int)" : "", k, type, type,
                k, ndim - 2, type, type, k, ndim - 1);
        }
    }
}

/* The tile's first element along the last dimension but one, and the offsets of the outer ones. */
void qn_source_tile_offsets(qn_text *out, const qn_call *call)
{
    int ndim = call->plan.form.ndim;
    if (ndim == 2) {
        qn_text_puts(out,
                     "        const _quern_index _quern_tile_line = _quern_row * _quern_tile;\n");
    } else {
        qn_text_printf(
            out,
            "        _quern_index _quern_outer = _quern_walk.outer[%d].divide(_quern_row);\n"
            "        const _quern_index _quern_tile_line = (_quern_row - _quern_outer * "
            "_quern_walk.outer[%d].value) * _quern_tile;\n",
            ndim - 2, ndim - 2);
    }
    qn_source_outer(out, call, ndim - 2, "_quern_base");
    starts(out, call);
}

/* The first column of a line that the tile has: up to `_quern_slack` elements after the first that
 * is fetched, as many as lie between a sector's begin and the output's element. */
void qn_source_tile_aligned(qn_text *out, const qn_call *call)
{
    const qn_plan_form *f = &call->plan.form;
    if (f->slack == 0) {
        qn_text_puts(out, "0");
        return;
    }
    const uint32_t k = f->anchor;
    qn_text_printf(out,
                   "(int)((0u - ((unsigned)(size_t)_quern_array%u + (unsigned)_quern_base%u + "
                   "(unsigned)_quern_line * (unsigned)_quern_walk.stride[%u][%d]) / %uu - "
                   "(unsigned)_quern_tile_element) %% _quern_slack)",
                   call->operand_parameter[k], k, k, f->ndim - 2, call->operands[k].item_size);
}

void qn_source_tile_fetch(qn_text *out, const qn_call *call)
{
    int ndim = call->plan.form.ndim;
    for (uint32_t k = 0; k < call->operand_count; k++) {
        if (call->plan.form.access[k] == QN_ACCESS_TILED) {
            qn_source_indent(out, 4);
            qn_text_printf(
                out,
                "_quern_tile%u[_quern_across][_quern_along] = *(const %s *)(_quern_from%u "
                "+ _quern_across * (long long)_quern_walk.stride[%u][%d]);\n",
                k, word_of(call, k), k, k, ndim - 1);
        }
    }
}

void qn_source_tile_lines(qn_text *out, const qn_call *call)
{
    int ndim = call->plan.form.ndim;
    const char *type = qn_source_offset(call);
    for (uint32_t k = 0; k < call->operand_count; k++) {
        if (call->plan.form.access[k] != QN_ACCESS_TILED) {
            qn_source_indent(out, 4);
            qn_text_printf(out,
                           "const %s _quern_offset%u = _quern_base%u + (%s)_quern_line * "
                           "(%s)_quern_walk.stride[%u][%d];\n",
                           type, k, k, type, type, k, ndim - 2);
        }
    }
}

void qn_source_tile_body(qn_text *out, const qn_call *call)
{
    qn_source_tile_lines(out, call);
    qn_source_element(out, call, 4, "_quern_element");
}
