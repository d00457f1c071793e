/* SPDX-License-Identifier: MIT
 *
 * source_scan_parts: the CUDA source of a scan along columns by parts of rows. In: a call whose
 * fold is planned so. Out: the text of templates/scan_parts.cu with its holes filled. The thing to
 * know: operand k's rows of the warp begin at `_quern_tileK` in memory and lie `_quern_lineK`
 * apart; in shared memory at `_quern_shelfK`, as `_quern_partK` says. A lane has columns that lie
 * 32 apart, so that the warp reads neighbours.
 */
#include "embedded/templates.h"
#include "engine/source/source_folds.h"

static const char *type_of(const qn_call *call, uint32_t k)
{
    return qn_source_type(call, call->operand_parameter[k]);
}

/* True for what waits in shared memory. */
static bool waits(const qn_call *call, uint32_t k)
{
    return !qn_source_is_same(call, k) &&
           (!call->operands[k].output || call->fold.form.back != QN_LINES_DIRECT);
}

static uint32_t home(const qn_call *call, uint32_t k)
{
    return (uint32_t)qn_fold_lines_home(&call->fold.form, call->input_operands, k);
}

static void form_hole(qn_text *out, const qn_call *call)
{
    const qn_fold_form *f = &call->fold.form;
    qn_source_index_type(out, f->wide);
    qn_source_number(out, "steps", f->steps);
    qn_source_number(out, "lanes", f->lanes);
    qn_source_number(out, "over", f->parts - 1);
    qn_source_number(out, "known", QN_WARP);
    qn_source_number(out, "bunch", f->strips);
    qn_source_flag(out, "bundles", f->bundles);
    qn_source_flag(out, "exclusive", call->kernel->exclusive);
}

/* Where the operands' rows of the warp begin. */
static void begin_hole(qn_text *out, const qn_call *call)
{
    const qn_fold_form *f = &call->fold.form;
    uint32_t at = 0;
    for (uint32_t k = 0; k < call->operand_count; k++) {
        const qn_operand *o = &call->operands[k];
        qn_text_printf(out,
                       "    const long long _quern_line%u = _quern_walk.stride[%u][%d];\n"
                       "    %schar *const _quern_tile%u = _quern_place%u + (long long)_quern_from "
                       "* _quern_line%u",
                       k, k, f->kept, o->output ? "" : "const ", k, k, k);
        if (!qn_source_is_same(call, k)) {
            qn_text_printf(out, " + (long long)_quern_element * %u", o->item_size);
        }
        qn_text_puts(out, ";\n");
        if (!waits(call, k)) {
            continue;
        }
        qn_text_printf(out,
                       "    const quern::part<%u, 32 * _quern_lanes> _quern_part%u(_quern_line%u, "
                       "_quern_count, _quern_columns * %u, _quern_mine * %u);\n",
                       o->item_size, k, k, o->item_size, o->item_size);
        if (home(call, k) != k) {
            qn_text_printf(out, "    char *const _quern_shelf%u = _quern_shelf%u;\n", k,
                           home(call, k));
            continue;
        }
        const uint32_t room = qn_fold_part_room(f, o->item_size);
        qn_text_printf(out,
                       "    char *const _quern_shelf%u = (char *)_quern_words + %u + "
                       "threadIdx.x / 32 * %u + (size_t)_quern_tile%u %% 16;\n",
                       k, at, room, k);
        at += room * (QN_FOLD_BLOCK / QN_WARP);
    }
}

static void bring_hole(qn_text *out, const qn_call *call)
{
    for (uint32_t k = 0; k < call->input_operands; k++) {
        if (waits(call, k)) {
            qn_text_printf(out,
                           "    _quern_part%u.bring(_quern_shelf%u, _quern_tile%u, _quern_first, "
                           "_quern_last);\n",
                           k, k, k);
        }
    }
}

static void fill_hole(qn_text *out, const qn_call *call)
{
    for (uint32_t k = 0; k < call->input_operands; k++) {
        if (waits(call, k)) {
            qn_text_printf(out, "        _quern_part%u.fill(_quern_shelf%u);\n", k, k);
        }
    }
}

/* Where the lane's first element of the row lies, in shared memory or not. */
static void place(qn_text *out, const qn_call *call, uint32_t k, bool shared)
{
    const uint32_t size = call->operands[k].item_size;
    qn_text_printf(out, "        [[maybe_unused]] %schar *const _quern_place%u = ",
                   call->operands[k].output ? "" : "const ", k);
    if (shared) {
        qn_text_printf(out,
                       "_quern_shelf%u + _quern_step * _quern_part%u.pitch + _quern_side * %u;\n",
                       k, k, size);
    } else {
        qn_text_printf(out, "_quern_tile%u + _quern_step * _quern_line%u + ", k, k);
        qn_text_printf(out, qn_source_is_same(call, k) ? "0;\n" : "_quern_side * %u;\n", size);
    }
    qn_text_printf(out, "        [[maybe_unused]] constexpr long long _quern_reduced%u = 0;\n", k);
}

/* The lane's elements of a row of each input. */
static void load_hole(qn_text *out, const qn_call *call)
{
    for (uint32_t k = 0; k < call->input_operands; k++) {
        const bool same = qn_source_is_same(call, k);
        place(out, call, k, !same);
        if (same) {
            qn_text_printf(out, "        const %s _quern_register%u = ", type_of(call, k), k);
            qn_source_fold_value(out, call, k, "0");
        } else {
            qn_text_printf(out,
                           "        %s _quern_register%u[_quern_lanes];\n"
                           "#pragma unroll\n"
                           "        for (int _quern_lane = 0; _quern_lane < _quern_lanes; "
                           "_quern_lane++)\n"
                           "            _quern_register%u[_quern_lane] = ",
                           type_of(call, k), k, k);
            qn_source_fold_value(out, call, k,
                                 "_quern_lane + 1 < _quern_lanes ? 32 * _quern_lane : "
                                 "min(32 * _quern_lane, _quern_columns - 1 - _quern_side)");
        }
    }
}

static void result_hole(qn_text *out, const qn_call *call)
{
    for (uint32_t k = call->input_operands; k < call->operand_count; k++) {
        place(out, call, k, false);
        qn_text_printf(out, "        %s _quern_results%u[_quern_lanes];\n", type_of(call, k), k);
    }
}

/* Results to memory, or to shared memory, where they may take the place of inputs: lanes without a
 * column have read another's. */
static void store_hole(qn_text *out, const qn_call *call)
{
    if (call->fold.form.back == QN_LINES_SHARED) {
        qn_text_puts(out, "        __syncwarp();\n");
    }
    for (uint32_t k = call->input_operands; k < call->operand_count; k++) {
        const bool shared = waits(call, k);
        qn_text_puts(out, "#pragma unroll\n"
                          "        for (int _quern_lane = 0; _quern_lane < _quern_lanes; "
                          "_quern_lane++)\n");
        if (shared) {
            qn_text_printf(
                out,
                "            if (_quern_lane + 1 < _quern_lanes || _quern_side + 32 * "
                "_quern_lane < _quern_columns)\n"
                "                *(%s *)(_quern_shelf%u + _quern_step * _quern_part%u.pitch + "
                "(_quern_side + 32 * _quern_lane) * %u) = ",
                type_of(call, k), k, k, call->operands[k].item_size);
        } else {
            qn_text_printf(out,
                           "            if (_quern_side + 32 * _quern_lane < _quern_mine)\n"
                           "                *(%s *)(_quern_place%u + 32 * _quern_lane * %u) = ",
                           type_of(call, k), k, call->operands[k].item_size);
        }
        qn_text_printf(out, "_quern_results%u[_quern_lane];\n", k);
    }
}

static void keep_hole(qn_text *out, const qn_call *call)
{
    for (uint32_t k = call->input_operands; k < call->operand_count; k++) {
        if (waits(call, k)) {
            qn_text_printf(out,
                           "    _quern_part%u.take_back(_quern_tile%u, _quern_shelf%u, "
                           "_quern_begins, _quern_ends);\n",
                           k, k, k);
        }
    }
}

/* ---- the whole ------------------------------------------------------------------------------ */

#define HOLES(X)                                                                                   \
    QN_SCAN_HOLES(X)                                                                               \
    X(BOUNDS, bounds)                                                                              \
    X(FORM, form)                                                                                  \
    X(BEGIN, begin)                                                                                \
    X(BRING, bring)                                                                                \
    X(FILL, fill)                                                                                  \
    X(LOAD, load)                                                                                  \
    X(ARGUMENTS, arguments)                                                                        \
    X(RESULT, result)                                                                              \
    X(GIVE, give)                                                                                  \
    X(STORE, store)                                                                                \
    X(KEEP, keep)

enum { HOLES(QN_HOLE_ID) HOLE_COUNT };
_Static_assert(HOLE_COUNT <= QN_TEMPLATE_HOLES, "room for all holes");

quern_status qn_scan_parts_source(qn_text *out, const qn_call *call, qn_header *headers,
                                  size_t *header_count)
{
    qn_text t[HOLE_COUNT] = {{0}};
    qn_source_scan_holes(t, call);
    qn_source_bounds(&t[BOUNDS], qn_fold_part_blocks(call->operands, call->operand_count));
    form_hole(&t[FORM], call);
    begin_hole(&t[BEGIN], call);
    bring_hole(&t[BRING], call);
    fill_hole(&t[FILL], call);
    load_hole(&t[LOAD], call);
    qn_source_scan_lane_arguments(&t[ARGUMENTS], call, "");
    result_hole(&t[RESULT], call);
    qn_source_scan_lane_give(&t[GIVE], call, "",
                             "min(32 * _quern_lane, _quern_columns - 1 - _quern_side)");
    store_hole(&t[STORE], call);
    keep_hole(&t[KEEP], call);
    const qn_source_template template = {
        .text = qn_embedded_scan_parts_cu,
        .hole_names = (const char *const[]){HOLES(QN_HOLE_NAME)},
        .holes = t,
        .hole_count = HOLE_COUNT,
        .headers = QN_FOLD_HEADERS | QN_HEADER(QN_HEADER_SCAN) | QN_HEADER(QN_HEADER_STRIPS) |
                   QN_HEADER(QN_HEADER_PARTS) | QN_HEADER(QN_HEADER_PACK),
    };
    return qn_source_expand(out, call, &template, headers, header_count);
}
