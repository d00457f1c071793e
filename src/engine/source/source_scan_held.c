/* SPDX-License-Identifier: MIT
 *
 * source_scan_held: the CUDA source of a scan whose blocks hold their tiles. In: a call whose fold
 * is planned so. Out: the text of templates/scan_held.cu with its holes filled. The thing to know:
 * the words of input k wait in `_quern_stockK`, from which a batch of rounds comes as
 * `_quern_batchK`; `_quern_takenK` is the unit of round `_quern_round`. What else the text needs of
 * a row, source_scan_rows.c and source_scan_runs.c write.
 */
#include "embedded/templates.h"
#include "engine/source/source_folds.h"

static bool is_held(const qn_call *call, uint32_t k)
{
    return call->fold.form.access[k] != QN_ACCESS_BROADCAST;
}

static void form_hole(qn_text *out, const qn_call *call)
{
    const qn_fold_form *f = &call->fold.form;
    qn_source_index_type(out, f->wide);
    qn_source_number(out, "lanes", f->lanes);
    qn_source_number(out, "batch", QN_HELD_BATCH);
    qn_source_number(out, "parked", f->held);
    qn_source_number(out, "steps", f->steps);
    qn_source_flag(out, "ragged", f->ragged);
    qn_source_flag(out, "single", f->kept == 0);
    qn_source_flag(out, "exclusive", call->kernel->exclusive);
}

static void room_hole(qn_text *out, const qn_call *call)
{
    const qn_fold_form *f = &call->fold.form;
    uint32_t at = 0;
    for (uint32_t k = 0; k < call->input_operands; k++) {
        if (is_held(call, k)) {
            const uint32_t bytes = f->lanes * call->operands[k].item_size;
            qn_text_printf(out,
                           "    quern::stock<%u, _quern_parked, _quern_steps - _quern_parked, %d> "
                           "_quern_stock%u((char *)_quern_room + %u);\n",
                           bytes, QN_FOLD_BLOCK, k, at);
            at += bytes * f->held * QN_FOLD_BLOCK;
        }
    }
}

/* A unit in words, by one of the functions that quern::stock has for it. */
static void words_hole(qn_text *out, const qn_call *call, const char *function)
{
    for (uint32_t k = 0; k < call->input_operands; k++) {
        if (is_held(call, k)) {
            qn_text_printf(out,
                           "                _quern_stock%u.%s(_quern_step, _quern_place%u + (long "
                           "long)_quern_position * %u);\n",
                           k, function, k, call->operands[k].item_size);
        }
    }
}

/* How many elements of a row lie in front of its first unit. */
static void lead_hole(qn_text *out, const qn_call *call)
{
    if (!call->fold.form.ragged) {
        qn_source_number(out, "lead", 0);
        return;
    }
    qn_source_row_skip(out, call);
    qn_text_puts(out, "    const int _quern_lead = (_quern_lanes - _quern_skip) % _quern_lanes;\n");
}

/* A unit that may hang over the row's end: what is not there repeats the last element. */
static void put_hole(qn_text *out, const qn_call *call)
{
    for (uint32_t k = 0; k < call->input_operands; k++) {
        if (is_held(call, k)) {
            qn_text_printf(out,
                           "            quern::slot<%s> _quern_each%u[_quern_lanes];\n"
                           "#pragma unroll\n"
                           "            for (int _quern_lane = 0; _quern_lane < _quern_lanes; "
                           "_quern_lane++) {\n"
                           "                _quern_each%u[_quern_lane].value = ",
                           qn_source_held_type(call, k), k, k);
            qn_source_fold_value(out, call, k,
                                 "min(_quern_position + _quern_lane, _quern_walk.covered - 1)");
            qn_text_printf(out,
                           "            }\n"
                           "            _quern_stock%u.put(_quern_step, _quern_each%u);\n",
                           k, k);
        }
    }
}

/* The inputs of one element in memory. */
static void one_hole(qn_text *out, const qn_call *call)
{
    for (uint32_t k = 0; k < call->input_operands; k++) {
        if (is_held(call, k)) {
            qn_text_printf(out, "            const %s _quern_input%u = ",
                           qn_source_type(call, call->operand_parameter[k]), k);
            qn_source_fold_value(out, call, k, "_quern_position");
        }
    }
}

static void taken_hole(qn_text *out, const qn_call *call)
{
    for (uint32_t k = 0; k < call->input_operands; k++) {
        if (is_held(call, k)) {
            qn_text_printf(
                out,
                "        %s _quern_batch%u[_quern_batch][_quern_lanes];\n"
                "        _quern_stock%u.take(_quern_registers, _quern_step, _quern_batch%u);\n",
                qn_source_held_type(call, k), k, k, k);
        }
    }
}

/* The unit of a round, and where it lies. */
static void round_hole(qn_text *out, const qn_call *call)
{
    for (uint32_t k = 0; k < call->input_operands; k++) {
        if (is_held(call, k)) {
            qn_text_printf(out,
                           "            [[maybe_unused]] const %s(&_quern_taken%u)[_quern_lanes] = "
                           "_quern_batch%u[_quern_round];\n",
                           qn_source_held_type(call, k), k, k);
        }
    }
    qn_text_puts(out, "            [[maybe_unused]] const _quern_index _quern_position =\n"
                      "                min(_quern_first + 32 * (_quern_step + _quern_round), "
                      "_quern_end) * _quern_lanes + _quern_lead;\n");
}

static void store_hole(qn_text *out, const qn_call *call)
{
    for (uint32_t k = call->input_operands; k < call->operand_count; k++) {
        if (call->fold.form.ragged) {
            qn_text_puts(out, "                if (!_quern_registers && _quern_position + "
                              "_quern_lanes > _quern_walk.covered) {\n"
                              "#pragma unroll\n"
                              "                    for (int _quern_lane = 0; _quern_lane < "
                              "_quern_lanes; _quern_lane++) {\n"
                              "                        if (_quern_position + _quern_lane < "
                              "_quern_walk.covered) {\n"
                              "                            ");
            qn_source_fold_element(out, call, k, "_quern_position + _quern_lane");
            qn_text_printf(out,
                           " = _quern_results%u[_quern_lane];\n"
                           "                        }\n"
                           "                    }\n"
                           "                } else\n    ",
                           k);
        }
        qn_text_printf(out,
                       "                quern::give_words(_quern_place%u + (long "
                       "long)_quern_position * %u, _quern_results%u);\n",
                       k, call->operands[k].item_size, k);
    }
}

#define HOLES(X)                                                                                   \
    QN_SCAN_HOLES(X)                                                                               \
    X(BOUNDS, bounds)                                                                              \
    X(FORM, form)                                                                                  \
    X(ROOM, room)                                                                                  \
    X(LEAD, lead)                                                                                  \
    X(SAME, same)                                                                                  \
    X(BATCH, batch)                                                                                \
    X(BRING, bring)                                                                                \
    X(LOAD, load)                                                                                  \
    X(AHEAD, ahead)                                                                                \
    X(PUT, put)                                                                                    \
    X(ONE, one)                                                                                    \
    X(GIVE_ONE, give_one)                                                                          \
    X(TAKEN, taken)                                                                                \
    X(ROUND, round)                                                                                \
    X(ELEMENT, element)                                                                            \
    X(ARGUMENTS, arguments)                                                                        \
    X(RESULTS, results)                                                                            \
    X(GIVE, give)                                                                                  \
    X(STORE, store)

enum { HOLES(QN_HOLE_ID) HOLE_COUNT };
_Static_assert(HOLE_COUNT <= QN_TEMPLATE_HOLES, "room for all holes");

quern_status qn_scan_held_source(qn_text *out, const qn_call *call, qn_header *headers,
                                 size_t *header_count)
{
    qn_text t[HOLE_COUNT] = {{0}};
    qn_source_scan_holes(t, call);
    qn_source_bounds(&t[BOUNDS], QN_HELD_BLOCKS);
    form_hole(&t[FORM], call);
    room_hole(&t[ROOM], call);
    lead_hole(&t[LEAD], call);
    qn_source_row_same(&t[SAME], call);
    qn_text_printf(&t[BATCH], "%d", QN_HELD_BATCH);
    words_hole(&t[BRING], call, "bring");
    words_hole(&t[LOAD], call, "load");
    qn_source_row_ahead(&t[AHEAD], call);
    if (call->fold.form.ragged) {
        put_hole(&t[PUT], call);
    }
    one_hole(&t[ONE], call);
    qn_source_row_give_one(&t[GIVE_ONE], call);
    taken_hole(&t[TAKEN], call);
    round_hole(&t[ROUND], call);
    qn_source_row_take(&t[ELEMENT], call);
    qn_source_row_arguments(&t[ARGUMENTS], call);
    qn_source_row_results(&t[RESULTS], call);
    qn_source_row_give(&t[GIVE], call);
    store_hole(&t[STORE], call);
    const qn_source_template template = {
        .text = qn_embedded_scan_held_cu,
        .hole_names = (const char *const[]){HOLES(QN_HOLE_NAME)},
        .holes = t,
        .hole_count = HOLE_COUNT,
        .headers = QN_FOLD_HEADERS | QN_HEADER(QN_HEADER_SCAN) | QN_HEADER(QN_HEADER_STOCK) |
                   QN_HEADER(QN_HEADER_PACK),
    };
    return qn_source_expand(out, call, &template, headers, header_count);
}
