/* SPDX-License-Identifier: MIT
 *
 * source_scan_packed: the CUDA source of a scan whose blocks take several rows as one run of
 * memory. In: a call whose fold is planned so. Out: the text of templates/scan_packed.cu with its
 * holes filled. The thing to know: operand K's elements of the tile lie in `_quern_roomK`
 * from `_quern_phaseK` on; the element at hand is number `_quern_line` and `_quern_spot` times
 * `_quern_apart` there, and in memory, of which post may keep what is there.
 */
#include "embedded/templates.h"
#include "engine/source/source_folds.h"

#define ELEMENT "_quern_line + _quern_spot * _quern_apart"

static void form_hole(qn_text *out, const qn_call *call)
{
    qn_source_index_type(out, call->fold.form.wide);
    qn_source_flag(out, "exclusive", call->kernel->exclusive);
    qn_source_flag(out, "again", call->fold.form.again);
    qn_source_flag(out, "broad", call->fold.form.broad);
    qn_source_flag(out, "strewn", call->fold.form.strewn);
    qn_source_flag(out, "woven", call->fold.form.woven);
    qn_source_flag(out, "pieces", call->fold.form.pieces);
    qn_source_number(out, "known", call->fold.form.known);
    qn_source_number(out, "together", qn_source_shelves_together(call));
    qn_source_number(out, "gap", call->fold.form.gap ? 1 << call->fold.form.gap : 0);
}

/* Where the row of a piece begins; the piece. */
static void outer_hole(qn_text *out, const qn_call *call)
{
    for (uint32_t k = 0; k < call->operand_count; k++) {
        qn_text_printf(out, "    auto *const _quern_outer%u = _quern_place%u;\n", k, k);
    }
}

static void piece_hole(qn_text *out, const qn_call *call)
{
    for (uint32_t k = 0; k < call->operand_count; k++) {
        qn_text_printf(out,
                       "        auto *const _quern_place%u = _quern_outer%u + (long "
                       "long)_quern_start * _quern_apart * %u;\n",
                       k, k, call->operands[k].item_size);
    }
}

static uint32_t home(const qn_call *call, uint32_t k)
{
    return (uint32_t)qn_fold_lines_home(&call->fold.form, call->input_operands, k);
}

static void shared_hole(qn_text *out, const qn_call *call)
{
    qn_text_puts(out, "        char *_quern_after = _quern_rooms;\n");
    for (uint32_t k = 0; k < call->operand_count; k++) {
        if (home(call, k) == k) {
            qn_text_printf(out,
                           "        char *const _quern_room%u = _quern_after;\n"
                           "        _quern_after += quern::packed_room<_quern_gap>("
                           "(int)_quern_walk.place * %u);\n"
                           "        const int _quern_phase%u = quern::phase(_quern_place%u);\n",
                           k, call->operands[k].item_size, k, k);
        }
    }
}

static void fetch_hole(qn_text *out, const qn_call *call)
{
    for (uint32_t k = 0; k < call->input_operands; k++) {
        const uint32_t size = call->operands[k].item_size;
        qn_text_printf(out,
                       "        quern::bring<%u, _quern_gap>(_quern_room%u, _quern_place%u, "
                       "_quern_count * %u);\n",
                       size, k, k, size);
    }
}

static void keep_hole(qn_text *out, const qn_call *call)
{
    for (uint32_t k = call->input_operands; k < call->operand_count; k++) {
        const uint32_t size = call->operands[k].item_size;
        qn_text_printf(out,
                       "        quern::take_back<%u, _quern_gap>(_quern_place%u, _quern_room%u, "
                       "_quern_phase%u, _quern_count * %u);\n",
                       size, k, home(call, k), home(call, k), size);
    }
}

/* The address of the element in shared memory. */
static void shelf(qn_text *out, const qn_call *call, uint32_t k)
{
    qn_text_printf(out,
                   "(_quern_room%u + quern::spot<_quern_gap>(_quern_phase%u + (" ELEMENT ") * %u))",
                   home(call, k), home(call, k), call->operands[k].item_size);
}

#define HOLES(X)                                                                                   \
    QN_SCAN_HOLES(X)                                                                               \
    X(BOUNDS, bounds)                                                                              \
    X(FORM, form)                                                                                  \
    X(OUTER, outer)                                                                                \
    X(PIECE, piece)                                                                                \
    X(SHARED, shared)                                                                              \
    X(FETCH, fetch)                                                                                \
    X(TAKE, take)                                                                                  \
    X(ITEM, item)                                                                                  \
    X(ARGUMENTS, arguments)                                                                        \
    X(GIVE, give)                                                                                  \
    X(KEEP, keep)

enum { HOLES(QN_HOLE_ID) HOLE_COUNT };
_Static_assert(HOLE_COUNT <= QN_TEMPLATE_HOLES, "room for all holes");

quern_status qn_scan_packed_source(qn_text *out, const qn_call *call, qn_header *headers,
                                   size_t *header_count)
{
    qn_text t[HOLE_COUNT] = {{0}};
    qn_source_scan_holes(t, call);
    qn_source_bounds(&t[BOUNDS], 5);
    form_hole(&t[FORM], call);
    outer_hole(&t[OUTER], call);
    piece_hole(&t[PIECE], call);
    shared_hole(&t[SHARED], call);
    fetch_hole(&t[FETCH], call);
    qn_source_shelves_take(&t[TAKE], call, shelf);
    qn_source_shelves_item(&t[ITEM], call, "_quern_input");
    qn_source_shelves_arguments(&t[ARGUMENTS], call);
    qn_source_shelves_give(&t[GIVE], call, shelf, ELEMENT);
    keep_hole(&t[KEEP], call);
    const qn_source_template template = {
        .text = qn_embedded_scan_packed_cu,
        .hole_names = (const char *const[]){HOLES(QN_HOLE_NAME)},
        .holes = t,
        .hole_count = HOLE_COUNT,
        .headers = QN_FOLD_HEADERS | QN_HEADER(QN_HEADER_SCAN) | QN_HEADER(QN_HEADER_LINES) |
                   QN_HEADER(QN_HEADER_PACKED) | QN_HEADER(QN_HEADER_PACK),
    };
    return qn_source_expand(out, call, &template, headers, header_count);
}
