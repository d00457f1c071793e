/* SPDX-License-Identifier: MIT
 *
 * source_elementwise: the CUDA source of an elementwise kernel. In: a call whose types are bound
 * and whose walk is planned. Out: the text of templates/elementwise.cu, _tiled.cu or _turns.cu,
 * with its holes filled. The thing to know: only the form of the plan shapes the text; extents,
 * strides and addresses are parameters.
 */
#include "embedded/templates.h"
#include "engine/source/source_folds.h"
#include <stdio.h>

static void parameters_hole(qn_text *out, const qn_call *call)
{
    if (call->mapped) {
        qn_source_fold_parameters(out, call);
        return;
    }
    qn_source_parameters(out, call, !call->plan.form.aliased);
    qn_text_printf(out, "const quern::space<%s, %d, %u> _quern_walk",
                   qn_source_index(call->plan.form.wide), call->plan.form.ndim - 1,
                   call->operand_count);
}

/* The parameters of the lambda: the elements, by the user's names, and the position. */
static void operands_hole(qn_text *out, const qn_call *call)
{
    qn_source_operands(out, call, 0, call->operand_count);
    qn_text_puts(out, "const ptrdiff_t i");
}

/* Statements whose last semicolon may be left out, as in an operation. */
static void close_statements(qn_text *out, const qn_call *call, qn_text_id id)
{
    if (call->kernel->texts[id].text[0] != '\0') {
        qn_source_closed(out, call, id, ";");
    }
}

/* Its shape, where a text may move it: a walk with positions along axes has one dimension for each.
 */
static void indexer_shape(qn_text *out, const qn_call *call)
{
    for (int d = 0; d < call->ndim; d++) {
        if (d + 1 < call->ndim) {
            qn_text_printf(out, "    _ind.extent[%d] = _quern_walk.outer[%d].value;\n", d, d);
        } else {
            qn_text_printf(out, "    _ind.extent[%d] = _quern_walk.inner;\n", d);
        }
    }
}

/* `_raw_x`: the arrays that the texts name so, in the shape of the walk, which has all its
 * dimensions where positions along axes are used. */
static void array_objects(qn_text *out, const qn_call *call)
{
    const quern_kernel *kernel = call->kernel;
    qn_text_puts(out, "    [[maybe_unused]] const ptrdiff_t _quern_shape[] = {");
    for (int d = 0; d + 1 < call->ndim; d++) {
        qn_text_printf(out, "_quern_walk.outer[%d].value, ", d);
    }
    qn_text_puts(out, "_quern_walk.inner};\n");
    for (uint32_t k = 0; k < call->operand_count; k++) {
        const uint32_t p = call->operand_parameter[k];
        const char *type = qn_source_type(call, p), *name = kernel->parameter_names[p];
        if (kernel->uses_array[p]) {
            qn_text_printf(out,
                           "    %sCArray<%s, %d, %s, %s> _raw_%s((%s *)_quern_array%u, "
                           "_quern_shape, _quern_walk.stride[%u]);\n",
                           call->operands[k].output ? "" : "const ", type, call->ndim,
                           qn_call_array_is_contiguous(call, p) ? "true" : "false",
                           qn_call_array_is_narrow(call, p) ? "true" : "false", name, type, p, k);
        }
    }
}

static void loop_prep_hole(qn_text *out, const qn_call *call)
{
    if (call->kernel->uses_axes || call->kernel->counts) {
        qn_text_puts(out, "    ");
        qn_source_indexer(out, call, call->ndim);
        qn_text_puts(out, " _ind;\n    _ind.count = _quern_walk.count;\n");
    }
    if (call->kernel->names & QN_NAMES_SET) {
        indexer_shape(out, call);
    }
    if (call->kernel->names & QN_NAMES_ARRAYS) {
        array_objects(out, call);
    }
    close_statements(out, call, QN_LOOP_PREP);
}

static void operation_hole(qn_text *out, const qn_call *call)
{
    if (call->kernel->names & QN_NAMES_SET) { /* it moves one of its own */
        qn_text_puts(out, "        auto _quern_ind = _ind;\n        auto &_ind = _quern_ind;\n");
    }
    /* The closing semicolon counts as the operation's, so that the compiler points there at what it
     * lacks. */
    qn_source_closed(out, call, QN_OPERATION, ";");
}

/* ---- the whole ------------------------------------------------------------------------------ */

#define HOLES(X)                                                                                   \
    X(PARAMETERS, parameters)                                                                      \
    X(LOOP_PREP, loop_prep)                                                                        \
    X(OPERANDS, operands)                                                                          \
    X(OPERATION, operation)                                                                        \
    X(FORM, form)                                                                                  \
    X(BOUNDS, bounds)                                                                              \
    X(SHARED, shared)                                                                              \
    X(ALIGNED, aligned)                                                                            \
    X(SINGLE, single)                                                                              \
    X(VALUES, values)                                                                              \
    X(PLACE, place)                                                                                \
    X(AGAIN, again)                                                                                \
    X(OFFSETS, offsets)                                                                            \
    X(KEEP, keep)                                                                                  \
    X(GIVE, give)                                                                                  \
    X(FETCH, fetch)                                                                                \
    X(BODY, body)                                                                                  \
    X(AFTER_LOOP, after_loop)

enum { HOLES(QN_HOLE_ID) HOLE_COUNT };
_Static_assert(HOLE_COUNT <= QN_TEMPLATE_HOLES, "room for all holes");

/* Packs of one dimension may leave elements over at both ends. */
bool qn_source_is_ragged(const qn_call *call)
{
    return call->plan.form.flat || (call->plan.form.lanes > 1 && call->plan.form.ndim == 1);
}

/* Each turn of a thread may ask for a sector; those at the ends of rows are asked for once a row.
 */
static bool asks_in_turns(const qn_plan_form *f)
{
    return f->lanes == 1 && f->early != QN_EARLY_NONE && !(f->rows && f->early == QN_EARLY_ENDS);
}

static void form_hole(qn_text *out, const qn_call *call)
{
    const qn_plan_form *f = &call->plan.form;
    if (call->mapped) {
        qn_source_boxes_form(out, call);
        return;
    }
    qn_source_index_type(out, f->wide);
    if (f->tile != 0) {
        qn_source_number(out, "tile", f->tile);
        qn_source_number(out, "slack", f->slack);
        if (f->lanes > 1) {
            qn_source_number(out, "lanes", f->lanes);
            qn_source_number(out, "margin", f->margin);
        }
        return;
    }
    if (f->thin != 0) {
        qn_source_number(out, "lanes", f->lanes);
        qn_source_number(out, "places", f->thin);
        qn_source_flag(out, "rows", f->ndim > 2);
        return;
    }
    if (f->pool != 0) {
        qn_source_number(out, "bytes", f->pool * 1024);
        qn_source_number(out, "operands", (int)call->operand_count);
        return;
    }
    if (f->turns > 1 || f->rows || f->boxed) {
        qn_source_number(out, "turns", f->turns);
    }
    if (f->boxed && !f->words) {
        qn_source_number(out, "cuts", f->cuts);
    }
    if (f->words) {
        qn_source_number(out, "lanes", f->lanes);
        return;
    }
    if (f->slab != 0) {
        qn_source_flag(out, "listed", f->listed);
    } else if ((f->turns > 1 || f->rows) && !f->boxed && !f->flat) {
        qn_source_flag(out, "early", asks_in_turns(f));
    }
    if ((f->turns > 1 && !f->rows && !f->flat) || f->boxed) {
        return;
    }
    qn_source_number(out, "lanes", f->lanes);
    if (f->rows) {
        qn_source_number(out, "margin", f->margin);
        qn_source_flag(out, "crosses", f->crosses);
        return;
    }
    if (qn_plan_in_phases(f)) {
        return;
    }
    qn_source_flag(out, "rows", f->ndim > 1 && !f->flat);
    qn_source_flag(out, "ragged", qn_source_is_ragged(call));
}

static void tiled_holes(qn_text *texts, const qn_call *call)
{
    qn_source_tile_shared(&texts[SHARED], call);
    qn_source_tile_offsets(&texts[OFFSETS], call);
    qn_source_tile_aligned(&texts[ALIGNED], call);
    qn_source_tile_fetch(&texts[FETCH], call);
    qn_source_tile_body(&texts[BODY], call);
}

static void square_holes(qn_text *texts, const qn_call *call)
{
    qn_source_square_shared(&texts[SHARED], call);
    qn_source_tile_offsets(&texts[OFFSETS], call);
    qn_source_tile_aligned(&texts[ALIGNED], call);
    qn_source_square_room(&texts[AGAIN], call);
    qn_source_square_fetch(&texts[FETCH], call);
    qn_source_square_give(&texts[GIVE], call);
    qn_source_square_body(&texts[BODY], call);
    qn_source_square_values(&texts[VALUES], call);
    qn_source_square_place(&texts[PLACE], call);
    qn_source_square_keep(&texts[KEEP], call);
    qn_source_square_single(&texts[SINGLE], call);
}

static void boxed_holes(qn_text *texts, const qn_call *call)
{
    qn_source_box_shared(&texts[SHARED], call);
    qn_source_box_values(&texts[VALUES], call);
    qn_source_box_fetched(&texts[PLACE], call);
    qn_source_box_given(&texts[ALIGNED], call);
    qn_source_box_offsets(&texts[OFFSETS], call);
    qn_source_box_fetch(&texts[FETCH], call);
    qn_source_box_read(&texts[SINGLE], call);
    qn_source_box_keep(&texts[KEEP], call);
    qn_source_box_take(&texts[AGAIN], call);
    qn_source_box_body(&texts[BODY], call);
}

static void run_holes(qn_text *texts, const qn_call *call)
{
    qn_source_runs_sizes(&texts[SHARED], call);
    qn_source_runs_pool(&texts[VALUES], call);
    qn_source_runs_place(&texts[PLACE], call);
    qn_source_runs_offsets(&texts[OFFSETS], call);
    qn_source_runs_boxes(&texts[AGAIN], call);
    qn_source_runs_fetch(&texts[FETCH], call);
    qn_source_runs_body(&texts[BODY], call);
}

static void word_holes(qn_text *texts, const qn_call *call)
{
    qn_source_words_bounds(&texts[BOUNDS], call);
    qn_source_words_shared(&texts[SHARED], call);
    qn_source_words_place(&texts[PLACE], call);
    qn_source_words_given(&texts[ALIGNED], call);
    qn_source_words_offsets(&texts[OFFSETS], call);
    qn_source_words_fetch(&texts[FETCH], call);
    qn_source_words_read(&texts[SINGLE], call);
    qn_source_words_keep(&texts[KEEP], call);
    qn_source_words_body(&texts[BODY], call);
}

static void row_holes(qn_text *texts, const qn_call *call)
{
    if (call->plan.form.lanes > 1) {
        qn_source_element(&texts[SINGLE], call, 5, "_quern_element");
    }
    qn_source_row_aligned(&texts[ALIGNED], call);
    qn_source_row_lines(&texts[OFFSETS], call);
    qn_source_row_values(&texts[VALUES], call);
    qn_source_row_fetch(&texts[FETCH], call);
    qn_source_row_body(&texts[BODY], call);
}

static void phase_holes(qn_text *texts, const qn_call *call)
{
    qn_source_flat_place(&texts[SINGLE], call);
    qn_source_element(&texts[SINGLE], call, 3, "_quern_element");
    qn_source_flat_place(&texts[OFFSETS], call);
    qn_source_row_values(&texts[VALUES], call);
    qn_source_phase_values(&texts[VALUES], call);
    qn_source_row_fetch(&texts[FETCH], call);
    qn_source_flat_fetch(&texts[KEEP], call);
    qn_source_row_body(&texts[BODY], call);
}

static void turn_holes(qn_text *texts, const qn_call *call)
{
    qn_source_turn_values(&texts[VALUES], call);
    qn_source_turn_place(&texts[PLACE], call);
    qn_source_turn_again(&texts[AGAIN], call);
    qn_source_turn_fetch(&texts[FETCH], call);
    qn_source_turn_body(&texts[BODY], call);
}

static void slab_holes(qn_text *texts, const qn_call *call)
{
    qn_source_slab_shared(&texts[SHARED], call);
    qn_source_slab_inside(&texts[ALIGNED], call);
    qn_source_slab_offsets(&texts[OFFSETS], call);
    qn_source_turn_values(&texts[VALUES], call);
    qn_source_slab_place(&texts[PLACE], call);
    qn_source_turn_fetch(&texts[FETCH], call);
    qn_source_turn_body(&texts[BODY], call);
}

static void thin_holes(qn_text *texts, const qn_call *call)
{
    qn_source_thin_offsets(&texts[OFFSETS], call);
    qn_source_thin_body(&texts[BODY], call);
    qn_source_thin_single(&texts[SINGLE], call);
}

static void pack_holes(qn_text *texts, const qn_call *call)
{
    const bool flat = call->plan.form.flat;
    if (flat) {
        qn_source_flat_place(&texts[SINGLE], call);
    }
    if (qn_source_is_ragged(call)) {
        qn_source_element(&texts[SINGLE], call, 3, "_quern_element");
    }
    (flat ? qn_source_flat_place : qn_source_offsets)(&texts[OFFSETS], call);
    qn_source_body(&texts[BODY], call);
}

static void map_holes(qn_text *texts, const qn_call *call)
{
    qn_source_boxes_room(&texts[SHARED], call);
    qn_source_map_shares(&texts[SHARED], call);
    qn_source_boxes_find(&texts[OFFSETS], call);
    qn_source_boxes_site(&texts[PLACE], call);
    qn_source_boxes_seek(&texts[AGAIN], call);
    qn_source_boxes_fetch(&texts[FETCH], call);
    qn_source_boxes_row(&texts[ALIGNED], call);
    qn_source_shelves_take(&texts[SINGLE], call, qn_source_boxes_shelf);
    qn_source_map_body(&texts[BODY], call);
    qn_source_boxes_keep(&texts[KEEP], call);
}

/* A way to walk: its template, and what fills the holes that the others do not have. */
typedef struct walk {
    const char *text;
    void (*fill)(qn_text *texts, const qn_call *call);
} walk;

static walk walk_of(const qn_call *call)
{
    const qn_plan_form *f = &call->plan.form;
    if (call->mapped) {
        return (walk){qn_embedded_elementwise_images_cu, map_holes};
    }
    const bool squares = f->tile != 0 && f->lanes > 1;
    return squares                ? (walk){qn_embedded_elementwise_tiled_packs_cu, square_holes}
           : f->tile != 0         ? (walk){qn_embedded_elementwise_tiled_cu, tiled_holes}
           : f->pool != 0         ? (walk){qn_embedded_elementwise_boxed_runs_cu, run_holes}
           : f->words             ? (walk){qn_embedded_elementwise_boxed_words_cu, word_holes}
           : f->boxed             ? (walk){qn_embedded_elementwise_boxed_cu, boxed_holes}
           : f->thin != 0         ? (walk){qn_embedded_elementwise_thin_cu, thin_holes}
           : f->rows              ? (walk){qn_embedded_elementwise_rows_cu, row_holes}
           : qn_plan_in_phases(f) ? (walk){qn_embedded_elementwise_phases_cu, phase_holes}
           : f->slab != 0         ? (walk){qn_embedded_elementwise_slabs_cu, slab_holes}
           : f->turns > 1         ? (walk){qn_embedded_elementwise_turns_cu, turn_holes}
                                  : (walk){qn_embedded_elementwise_cu, pack_holes};
}

/* Packs wait in registers as words. */
static bool holds_words(const qn_call *call)
{
    const qn_plan_form *f = &call->plan.form;
    bool words = false;
    for (uint32_t k = 0; k < call->operand_count; k++) {
        words |= f->access[k] == QN_ACCESS_BACK || f->access[k] == QN_ACCESS_WORDS;
    }
    return f->lanes > 1 && (f->rows || qn_plan_in_phases(f) || f->tile != 0 || words);
}

/* The headers that the walk includes. */
static qn_header_set headers_of(const qn_call *call)
{
    const qn_plan_form *f = &call->plan.form;
    if (call->mapped) {
        return QN_FOLD_HEADERS | QN_HEADER(QN_HEADER_BOX) | QN_HEADER(QN_HEADER_LINES) |
               QN_HEADER(QN_HEADER_SITE) | QN_HEADER(QN_HEADER_IMAGE) | QN_HEADER(QN_HEADER_PACK);
    }
    return QN_HEADER(QN_HEADER_INDEX) |
           (f->lanes > 1 || f->pool != 0 || f->thin ? QN_HEADER(QN_HEADER_PACK) : 0) |
           (f->pool != 0 ? QN_HEADER(QN_HEADER_BOX) : 0) |
           (f->words ? QN_HEADER(QN_HEADER_PACK) | QN_HEADER(QN_HEADER_FREIGHT) : 0) |
           (holds_words(call) || f->thin ? QN_HEADER(QN_HEADER_WORDS) : 0) |
           (f->tile != 0 && f->lanes > 1 ? QN_HEADER(QN_HEADER_SQUARE) : 0);
}

quern_status qn_elementwise_source(qn_text *out, const qn_call *call, qn_header *headers,
                                   size_t *header_count)
{
    const walk chosen = walk_of(call);
    qn_text texts[HOLE_COUNT] = {{0}};
    parameters_hole(&texts[PARAMETERS], call);
    loop_prep_hole(&texts[LOOP_PREP], call);
    operands_hole(&texts[OPERANDS], call);
    operation_hole(&texts[OPERATION], call);
    form_hole(&texts[FORM], call);
    chosen.fill(texts, call);
    close_statements(&texts[AFTER_LOOP], call, QN_AFTER_LOOP);
    const qn_source_template template = {
        .text = chosen.text,
        .hole_names = (const char *const[]){HOLES(QN_HOLE_NAME)},
        .holes = texts,
        .hole_count = HOLE_COUNT,
        .headers = headers_of(call),
    };
    return qn_source_expand(out, call, &template, headers, header_count);
}
