/* SPDX-License-Identifier: MIT
 *
 * source_scan_columns: the CUDA source of a scan along columns in strips. In: a call whose types
 * are bound and whose fold is planned so. Out: the text of templates/scan_strips.cu, where a
 * thread's strip waits in its registers, of templates/scan_lines.cu, where it waits in shared
 * memory, or of templates/scan_strips_held.cu, where it waits in both. The thing to know: they have
 * the same holes, and differ in what brings a unit and takes it back.
 */
#include "embedded/templates.h"
#include "engine/source/source_folds.h"

#define HOLES(X)                                                                                   \
    QN_SCAN_HOLES(X)                                                                               \
    X(BOUNDS, bounds)                                                                              \
    X(FORM, form)                                                                                  \
    X(SHARED, shared)                                                                              \
    X(ROOM, room)                                                                                  \
    X(BATCH, batch)                                                                                \
    X(BRING, bring)                                                                                \
    X(TAKEN, taken)                                                                                \
    X(BEGIN, begin)                                                                                \
    X(FETCH, fetch)                                                                                \
    X(AHEAD, ahead)                                                                                \
    X(REGISTERS, registers)                                                                        \
    X(LOAD, load)                                                                                  \
    X(UNIT, unit)                                                                                  \
    X(RENEW, renew)                                                                                \
    X(RECALL, recall)                                                                              \
    X(LANE, lane)                                                                                  \
    X(ARGUMENTS, arguments)                                                                        \
    X(RESULT, result)                                                                              \
    X(GIVE, give)                                                                                  \
    X(KEEP, keep)

enum { HOLES(QN_HOLE_ID) HOLE_COUNT };
_Static_assert(HOLE_COUNT <= QN_TEMPLATE_HOLES, "room for all holes");

static void form_hole(qn_text *out, const qn_call *call)
{
    const qn_fold_form *f = &call->fold.form;
    qn_source_index_type(out, f->wide);
    qn_source_number(out, "steps", f->steps);
    if (f->held) {
        qn_source_number(out, "parked", f->held);
        qn_source_number(out, "batch", QN_STRIPS_BATCH);
    }
    qn_source_number(out, "lanes", f->lanes);
    qn_source_number(out, "known", 0);
    qn_source_number(out, "bunch", f->strips);
    qn_source_flag(out, "bundles", f->bundles);
    qn_source_flag(out, "exclusive", call->kernel->exclusive);
}

/* Threads of a block, and blocks that a processor should hold: in registers as many as have their
 * inputs there. */
static void bounds_hole(qn_text *out, const qn_call *call)
{
    qn_source_bounds(out, call->fold.form.lines ? 4 : 3);
}

/* Call post, and write the results or leave them in shared memory. */
static void lines_give_hole(qn_text *out, const qn_call *call)
{
    if (call->fold.form.back == QN_LINES_DIRECT) {
        qn_source_scan_give(out, call);
    } else {
        qn_source_lines_results(out, call);
        qn_source_scan_post(out, call, 4, true);
        qn_source_lines_put(out, call);
    }
}

/* Those of units that a thread holds. */
static void held_holes(qn_text *t, const qn_call *call)
{
    qn_source_strips_room(&t[ROOM], call);
    qn_text_printf(&t[BATCH], "%d", QN_STRIPS_BATCH);
    qn_source_strips_words(&t[BRING], call, "bring");
    qn_source_strips_words(&t[LOAD], call, "load");
    qn_source_strips_taken(&t[TAKEN], call);
}

quern_status qn_scan_columns_source(qn_text *out, const qn_call *call, qn_header *headers,
                                    size_t *header_count)
{
    const qn_fold_form *f = &call->fold.form;
    const uint32_t inputs = call->input_operands, count = call->operand_count;
    qn_text t[HOLE_COUNT] = {{0}};
    qn_source_scan_holes(t, call);
    bounds_hole(&t[BOUNDS], call);
    form_hole(&t[FORM], call);
    qn_source_scan_unit(&t[UNIT], call, 0, 0);
    qn_source_scan_lane(&t[LANE], call, 5);
    qn_source_scan_arguments(&t[ARGUMENTS], call);
    qn_source_scan_unit(&t[RESULT], call, inputs, count);
    if (!f->held) {
        qn_source_scan_registers(&t[REGISTERS], call);
        qn_source_scan_load(&t[LOAD], call);
    }
    if (f->lines) {
        qn_source_lines_shared(&t[SHARED], call);
        qn_source_lines_begin(&t[BEGIN], call);
        qn_source_lines_fetch(&t[FETCH], call);
        qn_source_lines_ahead(&t[AHEAD], call);
        lines_give_hole(&t[GIVE], call);
        qn_source_lines_keep(&t[KEEP], call);
    } else {
        qn_source_strips_begin(&t[BEGIN], call);
        qn_source_scan_give(&t[GIVE], call);
    }
    if (f->held) {
        held_holes(t, call);
    } else if (!f->lines) {
        qn_source_strips_renew(&t[RENEW], call);
        qn_source_strips_recall(&t[RECALL], call);
    }
    const qn_source_template template = {
        .text = f->lines  ? qn_embedded_scan_lines_cu
                : f->held ? qn_embedded_scan_strips_held_cu
                          : qn_embedded_scan_strips_cu,
        .hole_names = (const char *const[]){HOLES(QN_HOLE_NAME)},
        .holes = t,
        .hole_count = HOLE_COUNT,
        .headers = QN_FOLD_HEADERS | QN_HEADER(QN_HEADER_SCAN) | QN_HEADER(QN_HEADER_STRIPS) |
                   (f->lines ? QN_HEADER(QN_HEADER_LINES) | QN_HEADER(QN_HEADER_PACK) : 0) |
                   (f->held ? QN_HEADER(QN_HEADER_STOCK) | QN_HEADER(QN_HEADER_PACK) : 0) |
                   (f->lanes > 1 ? QN_HEADER(QN_HEADER_PACK) | QN_HEADER(QN_HEADER_WORDS) : 0),
    };
    return qn_source_expand(out, call, &template, headers, header_count);
}
