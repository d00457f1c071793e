/* SPDX-License-Identifier: MIT
 *
 * plan_print: a plan in words, as --explain has it. In: a plan. Out: a line of text. The thing to
 * know: tests and people read the same words (docs/templates.md has them), and none of them decides
 * anything.
 */
#include "array/plan.h"

/* What a box gives, without what it has before that because it begins early. */
static void print_boxes(qn_text *out, const qn_plan *plan, size_t operand_count)
{
    const qn_plan_form *f = &plan->form;
    int early = -1;
    for (size_t k = 0; k < operand_count && f->pool != 0; k++) {
        const qn_box_way *w = &f->way[k];
        early = f->access[k] == QN_ACCESS_CONTIGUOUS ? w->order[w->count - w->run] : early;
    }
    qn_text_printf(out, "%d dimensions, boxes of ", f->ndim - f->cuts);
    for (int d = f->box; d < f->ndim; d++) {
        const int64_t given = plan->extent[d] - (d == early ? f->slack : 0);
        qn_text_printf(out, "%s%lld", d == f->box ? "" : " x ", (long long)given);
    }
}

void qn_plan_print(qn_text *out, const qn_plan *plan, size_t operand_count)
{
    const qn_plan_form *f = &plan->form;
    bool strided = false;
    for (size_t k = 0; k < operand_count; k++) {
        strided |= f->access[k] == QN_ACCESS_STRIDED;
    }
    if (f->rows || f->flat || f->slab != 0) {
        qn_text_puts(out, f->crosses             ? "across rows: "
                          : f->rows              ? "by rows: "
                          : qn_plan_in_phases(f) ? "flat in phases: "
                          : f->flat              ? "flat: "
                                                 : "by slabs: ");
    }
    if (f->boxed) {
        print_boxes(out, plan, operand_count);
    } else if (f->thin) {
        qn_text_printf(out, "%d dimensions, whole rows of %d", f->ndim, f->thin);
    } else if (f->ndim == 1) {
        qn_text_puts(out, strided ? "one dimension, strided" : "contiguous");
    } else {
        qn_text_printf(out, "%d dimensions, %s rows of %lld", f->ndim,
                       strided ? "strided" : "contiguous", (long long)plan->extent[f->ndim - 1]);
    }
    if (f->slab != 0) {
        qn_text_printf(out, ", slabs of %d", plan->across);
    }
    if (f->tile != 0) {
        qn_text_printf(out, ", tiles of %d x %d", f->tile, f->tile);
        if (f->lanes > 1) {
            qn_text_printf(out, " in squares of %d x %d", f->lanes, f->lanes);
        }
    } else if (f->pool != 0) {
        qn_text_puts(out, " in runs");
    } else if (f->words) {
        qn_text_printf(out, " by words, %d packs of %d a thread", f->turns, f->lanes);
    } else {
        const int elements = f->lanes * f->turns * QN_MAX(f->thin, 1);
        qn_text_printf(out, ", %d element%s a thread%s", elements, elements == 1 ? "" : "s",
                       f->turns > 1 && f->lanes == 1 ? " in turns" : "");
    }
    qn_text_printf(out, ", %d-bit index", f->wide ? 64 : 32);
    if (operand_count != 0) {
        qn_text_puts(out, ", access ");
        qn_text_add(out, (const char *)f->access, operand_count);
    }
    if (f->early != QN_EARLY_NONE) {
        qn_text_puts(out, f->early == QN_EARLY_ENDS ? ", ends early" : ", sectors early");
    }
    if (f->aliased) {
        qn_text_puts(out, ", in place");
    }
    if (plan->other_cost != 0) {
        qn_text_printf(out, ", cost %.1f (by %s %.1f)", (double)plan->cost / 100,
                       f->slab || f->flat ? "others"
                       : f->rows          ? "packs"
                                          : "rows",
                       (double)plan->other_cost / 100);
    }
}
