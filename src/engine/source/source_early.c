/* SPDX-License-Identifier: MIT
 *
 * source_early: sectors of an output that are written in part, asked for early (plan_early.c), in
 * CUDA C++. In: the form of a plan. Out: a prefetch into the L2 cache. The thing to know: each
 * address is that of an element of the output, so nothing else is touched; and a prefetch changes
 * nothing. Where elements that follow each other share a sector, the first of them asks.
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

/* Where element `at` of the row lies. */
static void address(qn_text *out, const qn_call *call, const char *at)
{
    qn_text_puts(out, "(char *)&");
    qn_source_reach(out, call, output_of(call), at, QN_REACH_PLAIN);
}

static void ask(qn_text *out, const qn_call *call, int levels, const char *at)
{
    qn_source_indent(out, levels);
    qn_text_puts(out, "asm volatile(\"prefetch.global.L2 [%0];\" ::\"l\"(");
    address(out, call, at);
    qn_text_puts(out, "));\n");
}

/* Each element, or a pack of those that lie side by side. */
static void ask_all(qn_text *out, const qn_call *call, int levels)
{
    const qn_plan_form *f = &call->plan.form;
    if (f->lanes == 1 || f->access[output_of(call)] != QN_ACCESS_STRIDED) {
        ask(out, call, levels, "_quern_element");
        return;
    }
    qn_text_puts(out, "#pragma unroll\n");
    qn_source_indent(out, levels);
    qn_text_printf(out, "for (int _quern_lane = 0; _quern_lane < %d; _quern_lane++) {\n", f->lanes);
    ask(out, call, levels + 1, "_quern_element + _quern_lane");
    qn_source_indent(out, levels);
    qn_text_puts(out, "}\n");
}

/* How far back the neighbour lies that was walked before: along the row, or at the begin of one in
 * the row before. */
static void back(qn_text *out, const qn_call *call)
{
    const qn_plan_form *f = &call->plan.form;
    const uint32_t k = output_of(call);
    const int last = f->ndim - 1;
    if (last > 0) {
        qn_text_printf(out, "(%s ? (unsigned)_quern_walk.stride[%u][%d] : ",
                       f->slab != 0 ? "_quern_begins" : "_quern_element == 0", k, last - 1);
    }
    qn_text_printf(out, "(unsigned)_quern_walk.stride[%u][%d] * %u%s", k, last, f->lanes,
                   last > 0 ? ")" : "");
}

/* An element or pack, if that neighbour lies in another sector. */
static void ask_first(qn_text *out, const qn_call *call, int levels)
{
    qn_source_indent(out, levels);
    qn_text_puts(out, "char *const _quern_there = ");
    address(out, call, "_quern_element");
    qn_text_puts(out, ";\n");
    qn_source_indent(out, levels);
    qn_text_puts(out, "const unsigned _quern_under = (unsigned)(size_t)_quern_there;\n");
    qn_source_indent(out, levels);
    qn_text_puts(out, "if ((_quern_under ^ (_quern_under - ");
    back(out, call);
    qn_text_puts(out, ")) >= 32) {\n");
    qn_source_indent(out, levels + 1);
    qn_text_puts(out, "asm volatile(\"prefetch.global.L2 [%0];\" ::\"l\"(_quern_there));\n");
    qn_source_indent(out, levels);
    qn_text_puts(out, "}\n");
}

void qn_source_early(qn_text *out, const qn_call *call, int levels)
{
    const qn_plan_form *f = &call->plan.form;
    if (f->early == QN_EARLY_ALL) {
        ask_all(out, call, levels);
    } else if (f->early == QN_EARLY_FIRST) {
        ask_first(out, call, levels);
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
