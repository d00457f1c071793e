/* SPDX-License-Identifier: MIT
 *
 * source_slabs: the walk by slabs, in CUDA C++. In: the form of a plan by slabs. Out: for
 * templates/elementwise_slabs.cu where a thread's place in a slab lies, and where the slab does.
 * The thing to know: the place is divided once, in front of the loop, into `_quern_insideK`; where
 * slabs lie that have several dimensions outside is divided once for each, into a list in shared
 * memory; reads, values and writes are those of elements in turns (source_walk.c).
 */
#include "engine/source/source.h"
#include <stdio.h>

/* What lies side by side in the output begins, or ends, at the place: it does along dimension `d`.
 */
static void at_an_end(qn_text *out, const qn_call *call, int d)
{
    uint32_t k = 0;
    while (!call->operands[k].output) {
        k++;
    }
    char extent[48] = "_quern_walk.inner";
    if (d < call->plan.form.ndim - 1) {
        snprintf(extent, sizeof extent, "_quern_walk.outer[%d].value", d);
    }
    qn_text_printf(
        out,
        "    _quern_low &= _quern_spot == (_quern_walk.stride[%u][%d] > 0 ? 0 : %s - 1);\n"
        "    _quern_high &= _quern_spot == (_quern_walk.stride[%u][%d] > 0 ? %s - 1 : 0);\n",
        k, d, extent, k, d, extent);
}

void qn_source_slab_inside(qn_text *out, const qn_call *call)
{
    const qn_plan_form *f = &call->plan.form;
    const char *type = qn_source_offset(call);
    qn_text_puts(out, "    _quern_index _quern_within = threadIdx.x, _quern_spot;\n");
    if (f->run != 0) {
        qn_text_puts(out, "    bool _quern_low = true, _quern_high = true;\n");
    }
    for (uint32_t k = 0; k < call->operand_count; k++) {
        qn_text_printf(out, "    %s _quern_inside%u = 0;\n", type, k);
    }
    for (int d = f->ndim - 1; d >= f->ndim - f->slab; d--) {
        char divider[32] = "row";
        if (d < f->ndim - 1) {
            snprintf(divider, sizeof divider, "outer[%d]", d);
        }
        qn_text_puts(out, "    _quern_spot = _quern_within;\n");
        if (d > f->ndim - f->slab) {
            qn_text_printf(out,
                           "    _quern_within = _quern_walk.%s.divide(_quern_spot);\n"
                           "    _quern_spot -= _quern_within * _quern_walk.%s.value;\n",
                           divider, divider);
        }
        if (d >= f->ndim - f->run) {
            at_an_end(out, call, d);
        }
        if (d == f->ndim - 1 && f->early == QN_EARLY_FIRST) {
            qn_text_puts(out, "    const bool _quern_begins = _quern_spot == 0;\n");
        }
        for (uint32_t k = 0; k < call->operand_count; k++) {
            qn_text_printf(out,
                           "    _quern_inside%u += (%s)_quern_spot * "
                           "(%s)_quern_walk.stride[%u][%d];\n",
                           k, type, type, k, d);
        }
    }
}

/* Offsets of a slab, padded so that they are read in words of 16 bytes. */
void qn_source_slab_shared(qn_text *out, const qn_call *call)
{
    if (call->plan.form.listed) {
        const char *type = qn_source_offset(call);
        const unsigned word = call->plan.form.near ? 4 : 2;
        qn_text_printf(out,
                       "    struct alignas(16) _quern_entry {\n        %s at[%u];\n    };\n"
                       "    __shared__ _quern_entry _quern_list[%d];\n",
                       type, (call->operand_count + word - 1) / word * word, QN_SLABS_LISTED);
    }
}

void qn_source_slab_offsets(qn_text *out, const qn_call *call)
{
    const qn_plan_form *f = &call->plan.form;
    if (!f->listed) {
        return;
    }
    qn_text_puts(out, "        _quern_index _quern_outer = _quern_pack;\n");
    qn_source_outer(out, call, f->ndim - f->slab, "_quern_offset");
    for (uint32_t k = 0; k < call->operand_count; k++) {
        qn_text_printf(out, "        _quern_list[_quern_at].at[%u] = _quern_offset%u;\n", k, k);
    }
}

void qn_source_slab_place(qn_text *out, const qn_call *call)
{
    const qn_plan_form *f = &call->plan.form;
    if (f->listed) {
        qn_text_puts(out, "        const _quern_entry _quern_slab = "
                          "_quern_list[_quern_pack - _quern_first];\n");
        for (uint32_t k = 0; k < call->operand_count; k++) {
            qn_text_printf(out,
                           "        const %s _quern_offset%u = _quern_slab.at[%u] + "
                           "_quern_inside%u;\n",
                           qn_source_offset(call), k, k, k);
        }
        return;
    }
    qn_text_puts(out, "        _quern_index _quern_outer = _quern_pack;\n");
    qn_source_outer(out, call, f->ndim - f->slab, "_quern_offset");
    for (uint32_t k = 0; k < call->operand_count; k++) {
        qn_text_printf(out, "        _quern_offset%u += _quern_inside%u;\n", k, k);
    }
}
