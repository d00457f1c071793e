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
    switch (call->operands[k].item_size) {
    case 1:
        return "unsigned char";
    case 2:
        return "unsigned short";
    case 4:
        return "unsigned";
    case 8:
        return "uint2";
    default:
        return "uint4";
    }
}

/** The tiles; one column more than is used keeps threads off each other's banks. */
void qn_source_tile_shared(qn_text *out, const qn_call *call)
{
    int tile = call->plan.form.tile;
    for (uint32_t k = 0; k < call->operand_count; k++) {
        if (call->plan.form.access[k] == QN_ACCESS_TILED) {
            qn_text_printf(out, "    __shared__ %s _quern_tile%u[%d][%d];\n", word_of(call, k), k,
                           tile, tile + 1);
        }
    }
}

/** The tile's first element along the last two dimensions, and the offsets of the outer ones. */
void qn_source_tile_position(qn_text *out, const qn_call *call)
{
    int ndim = call->plan.form.ndim, tile = call->plan.form.tile;
    qn_text_printf(out,
                   "        const _quern_index _quern_row = _quern_s.row.divide(_quern_p);\n"
                   "        const _quern_index _quern_e0 = (_quern_p - _quern_row * "
                   "_quern_s.row.value) * %d;\n",
                   tile);
    if (ndim == 2) {
        qn_text_printf(out, "        const _quern_index _quern_t0 = _quern_row * %d;\n", tile);
    } else {
        qn_text_printf(out,
                       "        _quern_index _quern_q = _quern_s.outer[%d].divide(_quern_row);\n"
                       "        const _quern_index _quern_t0 = (_quern_row - _quern_q * "
                       "_quern_s.outer[%d].value) * %d;\n",
                       ndim - 2, ndim - 2, tile);
    }
    qn_source_outer(out, call, ndim - 2, "_quern_b");
}

void qn_source_tile_fetch(qn_text *out, const qn_call *call)
{
    int ndim = call->plan.form.ndim;
    for (uint32_t k = 0; k < call->operand_count; k++) {
        if (call->plan.form.access[k] == QN_ACCESS_TILED) {
            qn_source_indent(out, 4);
            qn_text_printf(
                out,
                "_quern_tile%u[_quern_k][_quern_x] = *(const %s *)((const char *)_quern_a%u "
                "+ _quern_b%u\n",
                k, word_of(call, k), call->operand_parameter[k], k);
            qn_source_indent(out, 5);
            qn_text_printf(
                out,
                "+ (long long)_quern_t * _quern_s.stride[%u][%d] + (long long)_quern_e * "
                "_quern_s.stride[%u][%d]);\n",
                k, ndim - 2, k, ndim - 1);
        }
    }
}

void qn_source_tile_body(qn_text *out, const qn_call *call)
{
    int ndim = call->plan.form.ndim;
    for (uint32_t k = 0; k < call->operand_count; k++) {
        if (call->plan.form.access[k] != QN_ACCESS_TILED) {
            qn_source_indent(out, 4);
            qn_text_printf(out,
                           "const long long _quern_o%u = _quern_b%u + (long long)_quern_t * "
                           "_quern_s.stride[%u][%d];\n",
                           k, k, k, ndim - 2);
        }
    }
    qn_source_element(out, call, 4, "_quern_e");
}
