/* SPDX-License-Identifier: MIT
 *
 * source_slabs: the walk by slabs, in CUDA C++. In: the form of a plan by slabs. Out: for
 * templates/elementwise_slabs.cu where a thread's place in a slab lies, and where the slab does.
 * The thing to know: the place is divided once, in front of the loop, into `_quern_insideK`; reads,
 * values and writes are those of elements in turns (source_walk.c).
 */
#include "engine/source/source.h"
#include <stdio.h>

void qn_source_slab_inside(qn_text *out, const qn_call *call)
{
    const qn_plan_form *f = &call->plan.form;
    const char *type = qn_source_offset(call);
    qn_text_puts(out, "    _quern_index _quern_within = threadIdx.x, _quern_spot;\n");
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
        for (uint32_t k = 0; k < call->operand_count; k++) {
            qn_text_printf(out,
                           "    _quern_inside%u += (%s)_quern_spot * "
                           "(%s)_quern_walk.stride[%u][%d];\n",
                           k, type, type, k, d);
        }
    }
}

void qn_source_slab_place(qn_text *out, const qn_call *call)
{
    const qn_plan_form *f = &call->plan.form;
    qn_text_puts(out, "        _quern_index _quern_outer = _quern_pack;\n");
    qn_source_outer(out, call, f->ndim - f->slab, "_quern_offset");
    for (uint32_t k = 0; k < call->operand_count; k++) {
        qn_text_printf(out, "        _quern_offset%u += _quern_inside%u;\n", k, k);
    }
}
