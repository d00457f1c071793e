/* SPDX-License-Identifier: MIT
 *
 * source_scan_swaths: the CUDA source of a scan along columns by swaths. In: a call whose fold is
 * planned so. Out: the text of templates/scan_swaths.cu with its holes filled. The thing to know:
 * what the lane has of operand k's next row lies at `_quern_nextK`, and waits at `_quern_rowsK`, as
 * the type `_quern_swathK` says; an output has room for two rows, which take turns.
 */
#include "embedded/templates.h"
#include "engine/source/source_folds.h"

static const char *type_of(const qn_call *call, uint32_t k)
{
    return qn_source_type(call, call->operand_parameter[k]);
}

static void form_hole(qn_text *out, const qn_call *call)
{
    const qn_fold_form *f = &call->fold.form;
    qn_source_index_type(out, f->wide);
    qn_source_number(out, "steps", f->steps);
    qn_source_number(out, "lanes", f->lanes);
    qn_source_flag(out, "exclusive", call->kernel->exclusive);
    qn_text_puts(out, "    constexpr char *_quern_workspace = nullptr;\n");
}

/* A row of operand k's, `_quern_step` of the batch. */
static void row(qn_text *out, const qn_call *call, uint32_t k)
{
    qn_text_printf(out,
                   call->operands[k].output
                       ? "_quern_rows%u + _quern_step %% 2 * _quern_swath%u::bytes"
                       : "_quern_rows%u + _quern_step * _quern_swath%u::bytes",
                   k, k);
}

/* Where what the lane has of that row lies in memory, `_quern_nextK` being that of the batch's
 * first; outputs move on with each row.
 */
static void place(qn_text *out, const qn_call *call, uint32_t k)
{
    if (call->operands[k].output) {
        qn_text_printf(out, "_quern_next%u", k);
        return;
    }
    qn_text_printf(out, "_quern_next%u + (long long)_quern_step * _quern_walk.stride[%u][%d]", k, k,
                   call->fold.form.kept);
}

static void room_hole(qn_text *out, const qn_call *call)
{
    for (uint32_t k = 0; k < call->operand_count; k++) {
        if (qn_source_is_same(call, k)) {
            continue;
        }
        qn_text_printf(
            out,
            "    typedef quern::swath<%s, _quern_lanes> _quern_swath%u;\n"
            "    __shared__ alignas(16) char _quern_room%u[%d][%s * _quern_swath%u::bytes];\n"
            "    char *const _quern_rows%u = _quern_room%u[threadIdx.x / 32] + "
            "threadIdx.x %% 32 * _quern_swath%u::size;\n",
            type_of(call, k), k, k, (int)qn_fold_threads(&call->fold.form) / QN_WARP,
            call->operands[k].output ? "2" : "_quern_steps", k, k, k, k);
    }
}

/* Where what the lane has of the first row lies; and, in bytes, how much of the row lies around it.
 */
static void begin_hole(qn_text *out, const qn_call *call)
{
    for (uint32_t k = 0; k < call->operand_count; k++) {
        const uint32_t size = call->operands[k].item_size;
        const bool output = call->operands[k].output;
        qn_text_printf(out, "    %schar *_quern_next%u = _quern_place%u", output ? "" : "const ", k,
                       k);
        if (qn_source_is_same(call, k)) {
            qn_text_puts(out, ";\n");
            continue;
        }
        qn_text_printf(out,
                       " + (long long)_quern_begin * %u + _quern_mine * _quern_swath%u::size;\n",
                       size, k);
        if (output) {
            qn_text_printf(out,
                           "    const bool _quern_has%u = "
                           "_quern_swath%u::gives_word(_quern_behind * %u);\n",
                           k, k, size);
        } else {
            qn_text_printf(out,
                           "    const int _quern_front%u = _quern_before * %u + _quern_mine * "
                           "_quern_swath%u::size;\n"
                           "    const int _quern_behind%u = _quern_after * %u - _quern_mine * "
                           "_quern_swath%u::size;\n"
                           "    const bool _quern_has%u = _quern_swath%u::has_word(_quern_front%u, "
                           "_quern_behind%u);\n",
                           k, size, k, k, size, k, k, k, k, k);
        }
    }
}

/* Bring words of a row that belong to it whole; or (`some`) the others. */
static void bring_hole(qn_text *out, const qn_call *call, bool some)
{
    for (uint32_t k = 0; k < call->input_operands; k++) {
        if (qn_source_is_same(call, k)) {
            continue;
        }
        qn_text_printf(out,
                       some ? "                    if (!_quern_has%u)\n"
                              "                        _quern_swath%u::bring_some("
                            : "                if (_quern_has%u && _quern_step < _quern_count)\n"
                              "                    _quern_swath%u::bring(",
                       k, k);
        row(out, call, k);
        qn_text_puts(out, ", ");
        place(out, call, k);
        if (some) {
            qn_text_printf(out, ", _quern_front%u, _quern_behind%u, _quern_alone", k, k);
        }
        qn_text_puts(out, ");\n");
    }
}

static void move_hole(qn_text *out, const qn_call *call)
{
    for (uint32_t k = 0; k < call->input_operands; k++) {
        qn_text_printf(out,
                       "        _quern_next%u += (long long)_quern_steps * "
                       "_quern_walk.stride[%u][%d];\n",
                       k, k, call->fold.form.kept);
    }
}

static void take_hole(qn_text *out, const qn_call *call)
{
    for (uint32_t k = 0; k < call->input_operands; k++) {
        if (qn_source_is_same(call, k)) {
            qn_text_printf(out, "                const %s _quern_register%u = ", type_of(call, k),
                           k);
            qn_source_fold_value(out, call, k, "0");
            continue;
        }
        qn_text_printf(out,
                       "                quern::pack<%s, _quern_lanes> _quern_register%u;\n"
                       "                _quern_swath%u::take(_quern_register%u, ",
                       type_of(call, k), k, k, k);
        row(out, call, k);
        qn_text_printf(out,
                       " + _quern_aside * _quern_swath%u::size, (unsigned)(size_t)_quern_next%u + "
                       "(unsigned)_quern_step * (unsigned)_quern_walk.stride[%u][%d], "
                       "_quern_filled);\n",
                       k, k, k, call->fold.form.kept);
    }
}

/* Where an operand lies that a text may ask for by itself: an output, or what an input has for all
 * columns. */
static void places(qn_text *out, const qn_call *call, uint32_t k)
{
    qn_text_printf(out, "            [[maybe_unused]] %schar *const _quern_place%u = ",
                   call->operands[k].output ? "" : "const ", k);
    place(out, call, k);
    qn_text_printf(
        out, ";\n            [[maybe_unused]] constexpr long long _quern_reduced%u = 0;\n", k);
}

static void same_hole(qn_text *out, const qn_call *call)
{
    for (uint32_t k = 0; k < call->input_operands; k++) {
        if (qn_source_is_same(call, k)) {
            places(out, call, k);
        }
    }
}

/* Room for the results. */
static void results_hole(qn_text *out, const qn_call *call)
{
    for (uint32_t k = call->input_operands; k < call->operand_count; k++) {
        places(out, call, k);
        qn_text_printf(out, "            quern::pack<%s, _quern_lanes> _quern_results%u = {};\n",
                       type_of(call, k), k);
    }
}

static void store_hole(qn_text *out, const qn_call *call)
{
    for (uint32_t k = call->input_operands; k < call->operand_count; k++) {
        qn_text_printf(out, "            _quern_swath%u::give(_quern_place%u, _quern_results%u, ",
                       k, k, k);
        row(out, call, k);
        qn_text_printf(out, ", _quern_behind * %u, _quern_has%u, _quern_first);\n",
                       call->operands[k].item_size, k);
        qn_text_printf(out, "            _quern_next%u += _quern_walk.stride[%u][%d];\n", k, k,
                       call->fold.form.kept);
    }
}

/* ---- the whole ------------------------------------------------------------------------------ */

#define HOLES(X)                                                                                   \
    QN_SCAN_HOLES(X)                                                                               \
    X(BOUNDS, bounds)                                                                              \
    X(FORM, form)                                                                                  \
    X(ROOM, room)                                                                                  \
    X(BEGIN, begin)                                                                                \
    X(BRING, bring)                                                                                \
    X(BRING_SOME, bring_some)                                                                      \
    X(MOVE, move)                                                                                  \
    X(SAME, same)                                                                                  \
    X(RESULTS, results)                                                                            \
    X(TAKE, take)                                                                                  \
    X(ARGUMENTS, arguments)                                                                        \
    X(GIVE, give)                                                                                  \
    X(STORE, store)

enum { HOLES(QN_HOLE_ID) HOLE_COUNT };
_Static_assert(HOLE_COUNT <= QN_TEMPLATE_HOLES, "room for all holes");

quern_status qn_scan_swaths_source(qn_text *out, const qn_call *call, qn_header *headers,
                                   size_t *header_count)
{
    qn_text t[HOLE_COUNT] = {{0}};
    qn_source_scan_holes(t, call);
    qn_source_bounds(&t[BOUNDS], 5);
    form_hole(&t[FORM], call);
    room_hole(&t[ROOM], call);
    begin_hole(&t[BEGIN], call);
    bring_hole(&t[BRING], call, false);
    bring_hole(&t[BRING_SOME], call, true);
    move_hole(&t[MOVE], call);
    same_hole(&t[SAME], call);
    results_hole(&t[RESULTS], call);
    take_hole(&t[TAKE], call);
    qn_source_scan_lane_arguments(&t[ARGUMENTS], call, ".v");
    qn_source_scan_lane_give(&t[GIVE], call, ".v",
                             "min(_quern_lane, _quern_filled - 1) + _quern_aside * _quern_lanes");
    store_hole(&t[STORE], call);
    const qn_source_template template = {
        .text = qn_embedded_scan_swaths_cu,
        .hole_names = (const char *const[]){HOLES(QN_HOLE_NAME)},
        .holes = t,
        .hole_count = HOLE_COUNT,
        .headers = QN_FOLD_HEADERS | QN_HEADER(QN_HEADER_SCAN) | QN_HEADER(QN_HEADER_SWATH) |
                   QN_HEADER(QN_HEADER_PACK),
    };
    return qn_source_expand(out, call, &template, headers, header_count);
}
