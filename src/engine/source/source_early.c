/* SPDX-License-Identifier: MIT
 *
 * source_early: sectors of an output that are written in part, asked for early (plan_early.c), in
 * CUDA C++. In: the form of a plan. Out: a prefetch into the L2 cache. The thing to know: each
 * address is that of an element of the output, so nothing else is touched; and a prefetch changes
 * nothing.
 */
#include "engine/source/source.h"
#include <stdio.h>

static uint32_t output_of(const qn_call *call)
{
    uint32_t k = 0;
    while (!call->operands[k].output) {
        k++;
    }
    return k;
}

/* Element `at` of the row. */
static void ask(qn_text *out, const qn_call *call, int levels, const char *at)
{
    const uint32_t k = output_of(call);
    qn_source_indent(out, levels);
    qn_text_printf(out,
                   "asm volatile(\"prefetch.global.L2 [%%0];\" ::\"l\"((char *)_quern_array%u + ",
                   call->operand_parameter[k]);
    qn_text_puts(out, call->plan.form.near ? "(int)(" : "(");
    qn_source_reach_offset(out, call, k, at);
    qn_text_puts(out, ")));\n");
}

void qn_source_early(qn_text *out, const qn_call *call, int levels)
{
    const qn_plan_form *f = &call->plan.form;
    if (f->early == QN_EARLY_ALL) {
        ask(out, call, levels, "_quern_element");
    } else if (f->early == QN_EARLY_ENDS && f->slab != 0) {
        qn_source_indent(out, levels);
        qn_text_puts(out, "if (_quern_low || _quern_high) {\n");
        ask(out, call, levels + 1, "_quern_element");
        qn_source_indent(out, levels);
        qn_text_puts(out, "}\n");
    } else if (f->early == QN_EARLY_ENDS) {
        char last[48];
        snprintf(last, sizeof last, "_quern_element + %d", f->lanes - 1);
        qn_source_indent(out, levels);
        qn_text_puts(out, "if (_quern_element == 0) {\n");
        ask(out, call, levels + 1, "_quern_element");
        qn_source_indent(out, levels);
        qn_text_printf(out, "} else if (_quern_element == _quern_walk.inner - %d) {\n", f->lanes);
        ask(out, call, levels + 1, last);
        qn_source_indent(out, levels);
        qn_text_puts(out, "}\n");
    }
}

void qn_source_early_row(qn_text *out, const qn_call *call)
{
    if (call->plan.form.early == QN_EARLY_ENDS) {
        const uint32_t k = output_of(call);
        qn_text_printf(out,
                       "        if (_quern_part == 0 && threadIdx.x < 2) {\n"
                       "            asm volatile(\"prefetch.global.L2 [%%0];\" ::\"l\"(\n"
                       "                _quern_line%u + (long long)(threadIdx.x == 0 ? 0 : "
                       "_quern_walk.inner - 1) *\n"
                       "                                    %u));\n"
                       "        }\n",
                       k, call->operands[k].item_size);
    }
}
