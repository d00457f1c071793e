/* SPDX-License-Identifier: MIT
 *
 * source_reduction: the CUDA source of a reduction. In: a call whose types are bound and whose fold
 * is planned. Out: the text of one of templates/reduction*.cu with its holes filled. The thing to
 * know: the plan chooses the kind; a file for each, source_reduction_KIND.c, fills what its
 * template has of its own.
 */
#include "embedded/templates.h"
#include "engine/source/source_folds.h"

enum { QN_REDUCTION_HOLES(QN_HOLE_ID) HOLE_COUNT };
_Static_assert(HOLE_COUNT <= QN_TEMPLATE_HOLES, "room for all holes");

/* ---- spans and phases: alike from unit to unit ---------------------------------------------- */

static void wide_holes(qn_text *t, const qn_call *call)
{
    const qn_fold_form *f = &call->fold.form;
    qn_source_bounds(&t[BOUNDS], qn_fold_spans_held(f->lanes, qn_scan_value_size(call)));
    qn_source_number(&t[FORM], "lanes", f->lanes);
    qn_source_number(&t[FORM], "batch", f->turns);
    qn_source_shared_form(&t[FORM], call);
    qn_text_puts(&t[CHOOSES], qn_source_choice(&t[FORM], call) ? "1" : "0");
    qn_source_unit_paces(&t[PACES], call);
    qn_source_unit_advance(&t[ADVANCE], call);
    qn_source_unit_registers(&t[REGISTERS], call);
    qn_source_unit_recall(&t[RECALL], call);
}

static void span_holes(qn_text *t, const qn_call *call)
{
    wide_holes(t, call);
    qn_source_spans_holes(t, call);
}

static void phase_holes(qn_text *t, const qn_call *call)
{
    wide_holes(t, call);
    qn_source_phases_holes(t, call);
}

/* ---- the whole ------------------------------------------------------------------------------ */

/* A kind of reduction: its template, what fills the holes that others do not have, whether it has
 * packs, and headers that it needs besides. */
typedef struct kind {
    const char *text;
    void (*fill)(qn_text *t, const qn_call *call);
    bool packs;
    qn_header_set more;
} kind;

static kind kind_of(const qn_fold_form *f)
{
    return f->joined   ? (kind){qn_embedded_reduction_joined_cu, qn_source_joined_holes, true,
                                QN_HEADER(QN_HEADER_LINES)}
           : f->search ? (kind){qn_embedded_reduction_search_cu, qn_source_search_holes, true, 0}
           : f->whole  ? (kind){qn_embedded_reduction_whole_cu, qn_source_whole_holes, true, 0}
           : f->apart  ? (kind){qn_embedded_reduction_apart_cu, qn_source_apart_holes, false, 0}
           : f->phases ? (kind){qn_embedded_reduction_phases_cu, phase_holes, true, 0}
           : f->spans  ? (kind){qn_embedded_reduction_spans_cu, span_holes, true, 0}
                       : (kind){qn_embedded_reduction_cu, qn_source_workers_holes, f->lanes > 1, 0};
}

/* What map returns, and whether the sums of units are narrow. */
static void adds_holes(qn_text *t, const qn_call *call)
{
    const bool adds = qn_source_adds(call);
    qn_text_puts(&t[ADDS], adds ? "1" : "0");
    if (!adds) {
        qn_text_puts(&t[MAPPED], "-> _type_reduce");
        return;
    }
    qn_text_puts(&t[FORM], "    constexpr bool _quern_narrow = sizeof(_quern_map(");
    for (uint32_t k = 0; k < call->input_operands; k++) {
        qn_text_printf(&t[FORM], "*(const %s *)nullptr, ",
                       qn_source_type(call, call->operand_parameter[k]));
    }
    qn_text_puts(&t[FORM], "0)) == 4;\n");
}

quern_status qn_reduction_source(qn_text *out, const qn_call *call, qn_header *headers,
                                 size_t *header_count)
{
    const kind chosen = kind_of(&call->fold.form);
    qn_text t[HOLE_COUNT] = {{0}};
    qn_source_fold_holes(t, call);
    qn_source_function(&t[REDUCE], call, QN_REDUCE);
    qn_source_operands(&t[OUTPUTS], call, call->input_operands,
                       call->operand_count - call->input_operands);
    qn_source_index_type(&t[FORM], call->fold.form.wide);
    chosen.fill(t, call);
    if (!call->fold.form.search) {
        qn_source_located(&t[FORM], call);
    }
    adds_holes(t, call);
    const bool keys = call->fold.form.search ? t[KEEP].length > 0 : qn_source_keys(call);
    qn_text_puts(&t[KEYS], keys ? "1" : "0");
    const bool pairs = qn_source_pairs(&t[PAIRS], &t[KEY], call);
    const qn_source_template template = {
        .text = chosen.text,
        .hole_names = (const char *const[]){QN_REDUCTION_HOLES(QN_HOLE_NAME)},
        .holes = t,
        .hole_count = HOLE_COUNT,
        .headers = QN_FOLD_HEADERS | chosen.more | (pairs ? QN_HEADER(QN_HEADER_KEYS) : 0) |
                   (chosen.packs ? QN_HEADER(QN_HEADER_PACK) | QN_HEADER(QN_HEADER_WORDS) : 0),
    };
    return qn_source_expand(out, call, &template, headers, header_count);
}
