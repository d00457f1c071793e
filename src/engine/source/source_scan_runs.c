/* SPDX-License-Identifier: MIT
 *
 * source_scan_runs: the CUDA source of a scan whose lanes take runs. In: a call whose fold is
 * planned so. Out: the text of templates/scan_runs.cu with its holes filled. The thing to know:
 * operand k's elements of a warp lie in shared memory at `_quern_lotK`, whose layout is the type
 * `_quern_lot_typeK`; those of this lane from `_quern_on` on at `_quern_runK`. Inputs that are the
 * same for a whole row are `_quern_sameK`.
 */
#include "embedded/templates.h"
#include "engine/source/source_folds.h"

#define MOST_TURNED 4 /* bytes of elements of a word that is turned around */

static const char *type_of(const qn_call *call, uint32_t k)
{
    return qn_source_type(call, call->operand_parameter[k]);
}

/* Elements of a lane that lie in shared memory for an operand at once. */
static uint32_t elements_of(const qn_call *call, uint32_t k)
{
    const qn_fold_form *f = &call->fold.form;
    return call->operands[k].output && f->spread ? f->lanes : f->runs;
}

static bool is_words(const qn_call *call, uint32_t k)
{
    return call->fold.form.access[k] == QN_ACCESS_VECTOR;
}

/* Results go in words where a lane's piece is whole ones. One that is less, of an output narrower
 * than another, has gaps in memory behind it, but where the piece is the whole run. */
static bool goes_in_words(const qn_call *call, uint32_t k)
{
    const uint32_t elements = elements_of(call, k);
    return is_words(call, k) && (elements == call->fold.form.runs ||
                                 elements * call->operands[k].item_size >= QN_ACCESS_BYTES);
}

/* True when what an end of a row leaves whole goes in words, too: units are whole words of all
 * outputs. */
static bool units_go_in_words(const qn_call *call)
{
    bool all = true;
    for (uint32_t k = call->input_operands; k < call->operand_count; k++) {
        all &= goes_in_words(call, k) &&
               call->fold.form.lanes * call->operands[k].item_size % QN_ACCESS_BYTES == 0;
    }
    return all;
}

/* ---- the form ------------------------------------------------------------------------------- */

static void form_hole(qn_text *out, const qn_call *call)
{
    const qn_fold_form *f = &call->fold.form;
    qn_source_index_type(out, f->wide);
    qn_source_number(out, "run", f->runs);
    qn_source_number(out, "lanes", f->lanes);
    qn_source_number(out, "piece", f->spread ? f->lanes : f->runs);
    qn_source_flag(out, "words", units_go_in_words(call));
    qn_source_flag(out, "single", f->kept == 0);
    qn_source_flag(out, "exclusive", call->kernel->exclusive);
}

/* True once, for the room that is more than a text may ask for: the launch does. */
static bool is_launched(const qn_call *call, uint32_t k, bool *done)
{
    const uint32_t bytes = 8 * qn_fold_lot_bytes(call->operands[k].item_size, elements_of(call, k));
    const bool is = call->fold.shared > 0 && bytes == call->fold.shared && !*done;
    *done |= is;
    return is;
}

static void room_hole(qn_text *out, const qn_call *call)
{
    uint8_t lots[QUERN_MAX_PARAMETERS];
    bool done = false;
    qn_fold_lots(lots, &call->fold.form, call->operands, call->operand_count);
    for (uint32_t k = 0; k < call->operand_count; k++) {
        if (qn_source_is_same(call, k)) {
            continue;
        }
        qn_text_printf(out, "    typedef quern::lot<%u, %u> _quern_lot_type%u;\n",
                       call->operands[k].item_size, elements_of(call, k), k);
        if (lots[k] == k) {
            if (is_launched(call, k, &done)) {
                qn_text_printf(out, "    extern __shared__ __align__(%d) uint4 _quern_room%u[];\n",
                               QN_PHASE_BYTES, k);
            } else {
                qn_text_printf(out,
                               "    __shared__ alignas(%d) uint4 _quern_room%u[8 * "
                               "_quern_lot_type%u::bytes / 16];\n",
                               QN_PHASE_BYTES, k, k);
            }
            qn_text_printf(out,
                           "    char *const _quern_lot%u = (char *)_quern_room%u + _quern_warp * "
                           "_quern_lot_type%u::bytes;\n",
                           k, k, k);
        } else {
            qn_text_printf(out, "    char *const _quern_lot%u = _quern_lot%u;\n", k, lots[k]);
        }
    }
}

/* Where the element at a position of a row lies, of operands whose steps differ. */
static void located_hole(qn_text *out, const qn_call *call)
{
    const qn_fold_form *f = &call->fold.form;
    const int last = f->kept + f->reduced - 1;
    for (uint32_t k = 0; k < call->operand_count; k++) {
        if (f->access[k] != QN_ACCESS_LOCATED) {
            continue;
        }
        qn_text_printf(out,
                       "    const auto _quern_located%u = [&](_quern_index _quern_outer) -> long "
                       "long {\n"
                       "        long long _quern_spot = 0;\n"
                       "        _quern_index _quern_inner;\n",
                       k);
        for (int d = last; d > f->kept; d--) {
            qn_text_printf(out,
                           "        _quern_inner = _quern_outer;\n"
                           "        _quern_outer = _quern_walk.extent[%d].divide(_quern_inner);\n"
                           "        _quern_spot += (long long)(_quern_inner - _quern_outer * "
                           "_quern_walk.extent[%d].value) * _quern_walk.stride[%u][%d];\n",
                           d, d, k, d);
        }
        qn_text_printf(out,
                       "        return _quern_spot + (long long)_quern_outer * "
                       "_quern_walk.stride[%u][%d];\n    };\n",
                       k, f->kept);
    }
}

/* ---- elements ------------------------------------------------------------------------------- */

/* The words of a warp whose elements the row has all, or of which it has a `part`. */
static void bring_hole(qn_text *out, const qn_call *call, bool part)
{
    for (uint32_t k = 0; k < call->input_operands; k++) {
        const uint32_t size = call->operands[k].item_size;
        if (is_words(call, k)) {
            qn_text_printf(out,
                           "        _quern_lot_type%u::%s(_quern_lot%u, _quern_place%u + (long "
                           "long)_quern_start * %u",
                           k, part ? "bring_part" : "bring", k, k, size);
            qn_text_printf(out, part ? ", _quern_low * %u, _quern_high * %u);\n" : ");\n", size,
                           size);
        }
    }
}

static void await_hole(qn_text *out, const qn_call *call)
{
    for (uint32_t k = 0; k < call->input_operands; k++) {
        if (is_words(call, k)) {
            qn_text_puts(out, "    quern::await_words();\n");
            return;
        }
    }
}

/* Elements that lie on, but off the alignment, or narrow ones that lie backwards: in words that are
 * shifted, where the row has those at both ends whole. */
static bool is_shifted(const qn_call *call, uint32_t k)
{
    const uint8_t access = call->fold.form.access[k];
    return access == QN_ACCESS_WORDS ||
           (access == QN_ACCESS_BACK && call->operands[k].item_size <= MOST_TURNED);
}

static void bring_shifted(qn_text *out, const qn_call *call, uint32_t k)
{
    const uint32_t size = call->operands[k].item_size, lanes = QN_ACCESS_BYTES / size;
    const bool back = call->fold.form.access[k] == QN_ACCESS_BACK;
    qn_text_printf(
        out,
        "    if (_quern_whole && _quern_start >= %u && _quern_walk.covered - _quern_start "
        ">= _quern_share + %u) {\n"
        "        _quern_lot_type%u::%s(_quern_lot%u, _quern_place%u %c (long "
        "long)_quern_start * %u);\n"
        "    } else\n",
        lanes, lanes, k, back ? "bring_back" : "bring_off", k, k, back ? '-' : '+', size);
}

static void put_each_hole(qn_text *out, const qn_call *call)
{
    for (uint32_t k = 0; k < call->input_operands; k++) {
        if (!qn_source_is_same(call, k) && !is_words(call, k)) {
            if (is_shifted(call, k)) {
                bring_shifted(out, call, k);
            }
            qn_text_printf(out,
                           "    _quern_lot_type%u::put_each<8>(_quern_lot%u, _quern_low, "
                           "_quern_high, [&](const int _quern_lane) { return (%s)",
                           k, k, type_of(call, k));
            qn_source_fold_value(out, call, k, "_quern_start + _quern_lane");
            qn_text_puts(out, "    });\n");
        }
    }
}

static void run_hole(qn_text *out, const qn_call *call)
{
    for (uint32_t k = 0; k < call->operand_count; k++) {
        if (qn_source_is_same(call, k)) {
            continue;
        }
        const bool piece = call->operands[k].output && call->fold.form.spread;
        qn_text_printf(out,
                       "                [[maybe_unused]] char *const _quern_run%u = "
                       "_quern_lot%u + _quern_mine * _quern_lot_type%u::pace",
                       k, k, k);
        qn_text_printf(out, piece ? ";\n" : " + _quern_on * %u;\n", call->operands[k].item_size);
        if (k < call->input_operands) {
            qn_text_printf(out,
                           "                %s _quern_taken%u[_quern_lanes];\n"
                           "                _quern_lot_type%u::take(_quern_taken%u, "
                           "_quern_run%u);\n",
                           qn_source_held_type(call, k), k, k, k, k);
        }
    }
    qn_text_puts(out, "                [[maybe_unused]] const _quern_index "
                      "_quern_position = _quern_start + _quern_first + _quern_on;\n");
}

void qn_source_row_take(qn_text *out, const qn_call *call)
{
    for (uint32_t k = 0; k < call->input_operands; k++) {
        if (!qn_source_is_same(call, k)) {
            qn_text_printf(out,
                           qn_source_is_bool(call, k)
                               ? "                    const %s _quern_input%u = "
                                 "_quern_taken%u[_quern_lane] != 0;\n"
                               : "                    const %s &_quern_input%u = "
                                 "_quern_taken%u[_quern_lane];\n",
                           type_of(call, k), k, k);
        }
    }
}

static void inputs(qn_text *out, const qn_call *call)
{
    for (uint32_t k = 0; k < call->input_operands; k++) {
        qn_text_printf(out, qn_source_is_same(call, k) ? "_quern_same%u, " : "_quern_input%u, ", k);
    }
}

static const char *position(const qn_call *call)
{
    return call->kernel->uses_position ? "_quern_position + _quern_lane" : "0";
}

void qn_source_row_arguments(qn_text *out, const qn_call *call)
{
    inputs(out, call);
    qn_text_puts(out, position(call));
}

/* ---- results -------------------------------------------------------------------------------- */

void qn_source_row_results(qn_text *out, const qn_call *call)
{
    for (uint32_t k = call->input_operands; k < call->operand_count; k++) {
        qn_text_printf(out, "                %s _quern_results%u[_quern_lanes];\n",
                       type_of(call, k), k);
    }
}

/* Post may leave an output as it is: then memory keeps what it has. The read goes where no one
 * asks for what it brings. */
void qn_source_row_give(qn_text *out, const qn_call *call)
{
    for (uint32_t k = call->input_operands; k < call->operand_count; k++) {
        qn_text_printf(out, "                                _quern_results%u[_quern_lane] = ", k);
        qn_source_fold_value(out, call, k, "_quern_position + _quern_lane");
    }
    qn_text_puts(out, "                                _quern_post(");
    inputs(out, call);
    for (uint32_t k = call->input_operands; k < call->operand_count; k++) {
        qn_text_printf(out, "_quern_results%u[_quern_lane], ", k);
    }
    qn_text_printf(out, "%s, _quern_value.value);\n", position(call));
}

void qn_source_row_give_one(qn_text *out, const qn_call *call)
{
    qn_text_puts(out, "                        _quern_post(");
    inputs(out, call);
    for (uint32_t k = call->input_operands; k < call->operand_count; k++) {
        qn_source_fold_output(out, call, k, "_quern_position");
    }
    qn_text_printf(out, "%s, _quern_value.value);\n", position(call));
}

static void keep_hole(qn_text *out, const qn_call *call)
{
    for (uint32_t k = call->input_operands; k < call->operand_count; k++) {
        qn_text_printf(out,
                       "                            _quern_lot_type%u::keep(_quern_run%u, "
                       "_quern_results%u);\n",
                       k, k, k);
    }
}

/* Elements of a piece one by one. */
static void store_each(qn_text *out, const qn_call *call, uint32_t k)
{
    qn_text_printf(out,
                   "                        _quern_lot_type%u::give_each(_quern_lot%u, [&](const "
                   "int _quern_lane, const int _quern_at, const char *const _quern_value) {\n"
                   "                            ",
                   k, k);
    qn_source_fold_element(out, call, k,
                           "_quern_start + _quern_from + _quern_lane * _quern_run + _quern_at");
    qn_text_printf(out,
                   " = *(const %s *)_quern_value;\n"
                   "                        });\n",
                   type_of(call, k));
}

/* Of a warp whose elements the row has in part, those that were kept. */
static void give_words(qn_text *out, const qn_call *call, uint32_t k)
{
    const uint32_t size = call->operands[k].item_size;
    static const char *const functions[] = {"if (_quern_whole) {", "} else if (_quern_words) {"};
    for (int part = 0; part < 2; part++) {
        qn_text_printf(out,
                       "            %s\n"
                       "                _quern_lot_type%u::%s(_quern_lot%u, _quern_place%u + (long "
                       "long)(_quern_start + _quern_from) * %u, _quern_run * %u",
                       functions[part], k, part ? "give_part" : "give", k, k, size, size);
        if (part) {
            qn_text_printf(out,
                           ", (_quern_kept_low - _quern_from) * %u, (_quern_kept_high - "
                           "_quern_from) * %u",
                           size, size);
        }
        qn_text_puts(out, ");\n");
    }
    qn_text_puts(out, "            }\n");
}

static void store_hole(qn_text *out, const qn_call *call)
{
    const qn_fold_form *f = &call->fold.form;
    for (uint32_t k = call->input_operands; k < call->operand_count; k++) {
        const uint32_t size = call->operands[k].item_size;
        if (goes_in_words(call, k)) {
            give_words(out, call, k);
            continue;
        }
        qn_text_puts(out, "            if (_quern_whole) {\n");
        const bool back = f->access[k] == QN_ACCESS_BACK;
        if (size <= 2 && !f->spread && (back || f->access[k] == QN_ACCESS_WORDS)) {
            qn_text_printf(out,
                           "                _quern_lot_type%u::give_narrow<%s>(_quern_lot%u, "
                           "_quern_place%u %c (long long)_quern_start * %u);\n",
                           k, back ? "true" : "false", k, k, back ? '-' : '+', size);
        } else {
            store_each(out, call, k);
        }
        qn_text_puts(out, "            }\n");
    }
}

/* ---- the whole ------------------------------------------------------------------------------ */

#define HOLES(X)                                                                                   \
    QN_SCAN_HOLES(X)                                                                               \
    X(BOUNDS, bounds)                                                                              \
    X(FORM, form)                                                                                  \
    X(ROOM, room)                                                                                  \
    X(LOCATED, located)                                                                            \
    X(SKIP, skip)                                                                                  \
    X(BRING, bring)                                                                                \
    X(BRING_PART, bring_part)                                                                      \
    X(SAME, same)                                                                                  \
    X(PUT_EACH, put_each)                                                                          \
    X(AHEAD, ahead)                                                                                \
    X(AWAIT, await)                                                                                \
    X(RUN, run)                                                                                    \
    X(TAKE, take)                                                                                  \
    X(ARGUMENTS, arguments)                                                                        \
    X(RESULTS, results)                                                                            \
    X(GIVE, give)                                                                                  \
    X(GIVE_ONE, give_one)                                                                          \
    X(KEEP, keep)                                                                                  \
    X(STORE, store)

enum { HOLES(QN_HOLE_ID) HOLE_COUNT };
_Static_assert(HOLE_COUNT <= QN_TEMPLATE_HOLES, "room for all holes");

quern_status qn_scan_runs_source(qn_text *out, const qn_call *call, qn_header *headers,
                                 size_t *header_count)
{
    qn_text t[HOLE_COUNT] = {{0}};
    qn_source_scan_holes(t, call);
    qn_source_bounds(&t[BOUNDS], qn_fold_run_blocks(&call->fold, qn_scan_value_size(call)));
    form_hole(&t[FORM], call);
    room_hole(&t[ROOM], call);
    qn_source_row_skip(&t[SKIP], call);
    located_hole(&t[LOCATED], call);
    bring_hole(&t[BRING], call, false);
    bring_hole(&t[BRING_PART], call, true);
    qn_source_row_same(&t[SAME], call);
    put_each_hole(&t[PUT_EACH], call);
    qn_source_row_ahead(&t[AHEAD], call);
    await_hole(&t[AWAIT], call);
    run_hole(&t[RUN], call);
    qn_source_row_take(&t[TAKE], call);
    qn_source_row_arguments(&t[ARGUMENTS], call);
    qn_source_row_results(&t[RESULTS], call);
    qn_source_row_give(&t[GIVE], call);
    qn_source_row_give_one(&t[GIVE_ONE], call);
    keep_hole(&t[KEEP], call);
    store_hole(&t[STORE], call);
    const qn_source_template template = {
        .text = qn_embedded_scan_runs_cu,
        .hole_names = (const char *const[]){HOLES(QN_HOLE_NAME)},
        .holes = t,
        .hole_count = HOLE_COUNT,
        .headers = QN_FOLD_HEADERS | QN_HEADER(QN_HEADER_SCAN) | QN_HEADER(QN_HEADER_RUNS) |
                   QN_HEADER(QN_HEADER_PACK),
    };
    return qn_source_expand(out, call, &template, headers, header_count);
}
