/* SPDX-License-Identifier: MIT
 *
 * source_scan: the CUDA source of a scan. In: a call whose types are bound and whose fold is
 * planned. Out: the text of templates/scan.cu with its holes filled. The thing to know: in rows a
 * unit has several elements of one output (a track), lanes take units in turn, and each round of
 * units is scanned by the warp; in columns a unit has one element of each of several outputs, and a
 * lane takes units that follow each other, so that the warp scans once. source_scan_units.c writes
 * the loads and stores of a unit.
 */
#include "embedded/templates.h"
#include "engine/source/source_folds.h"

/* ---- the form ------------------------------------------------------------------------------- */

static void form_hole(qn_text *out, const qn_call *call)
{
    const qn_fold_form *f = &call->fold.form;
    uint32_t abreast = 1;
    if (f->columns) {
        abreast = f->split ? qn_fold_tile_width(&call->fold, call->operands) : 32;
    }
    qn_source_scan_form(out, call);
    qn_source_number(out, "tracks", f->columns ? f->lanes : 1);
    qn_source_number(out, "abreast", (int)abreast);
    qn_source_flag(out, "columns", f->columns);
    qn_source_flag(out, "block", f->block);
    qn_source_flag(out, "ragged", f->ragged);
    if (!f->ragged) {
        qn_source_flag(out, "whole", true);
    }
    qn_source_flag(out, "asks", qn_fold_row_asks(f, call->operands, call->input_operands));
    qn_source_flag(out, "again", f->again);
    qn_source_flag(out, "spread", f->spread);
}

/* How many elements of the first unit of a ragged row lie before the row. */
static void skip_hole(qn_text *out, const qn_call *call)
{
    const qn_fold_form *f = &call->fold.form;
    if (!f->ragged) {
        qn_source_number(out, "skip", 0);
        return;
    }
    const uint32_t k = qn_source_anchor(call);
    qn_text_printf(out,
                   "    const int _quern_skip = %s(int)((unsigned long long)((const char *)"
                   "_quern_array%u + _quern_kept%u) / %u %% _quern_lanes);\n",
                   f->access[k] == QN_ACCESS_BACK ? "_quern_lanes - 1 - " : "",
                   call->operand_parameter[k], k, call->operands[k].item_size);
}

/* ---- the whole ------------------------------------------------------------------------------ */

#define HOLES(X)                                                                                   \
    QN_SCAN_HOLES(X)                                                                               \
    X(BOUNDS, bounds)                                                                              \
    X(FORM, form)                                                                                  \
    X(SKIP, skip)                                                                                  \
    X(LIST, list)                                                                                  \
    X(REGISTERS, registers)                                                                        \
    X(LOAD, load)                                                                                  \
    X(LOAD_WHOLE, load_whole)                                                                      \
    X(UNIT, unit)                                                                                  \
    X(RENEW, renew)                                                                                \
    X(BEGIN, begin)                                                                                \
    X(RECALL, recall)                                                                              \
    X(REPEAT, repeat)                                                                              \
    X(LANE, lane)                                                                                  \
    X(ARGUMENTS, arguments)                                                                        \
    X(RESULT, result)                                                                              \
    X(GIVE, give)                                                                                  \
    X(AHEAD, ahead)                                                                                \
    X(SPREAD, spread)

enum { HOLES(QN_HOLE_ID) HOLE_COUNT };
_Static_assert(HOLE_COUNT <= QN_TEMPLATE_HOLES, "room for all holes");

/* Registers of a thread that goes down its columns, for the inputs of a batch and the values so
 * far. With more than so many, and five blocks, some go to memory: columns of float16 went at 0.60
 * of a copy's speed on an H200. */
#define CROWDED 38

static uint32_t input_registers(const qn_call *call)
{
    const qn_fold_form *f = &call->fold.form;
    uint32_t inputs = 0;
    for (uint32_t k = 0; k < call->input_operands; k++) {
        const uint32_t elements = f->access[k] == QN_ACCESS_BROADCAST ? 1 : f->lanes;
        inputs += (elements * call->operands[k].item_size + 3) / 4;
    }
    return f->steps * inputs;
}

static uint32_t descent_registers(const qn_call *call)
{
    return input_registers(call) + call->fold.form.lanes * ((qn_scan_value_size(call) + 3) / 4);
}

/* Blocks of staged scans whose outputs have a thread each: of all registers, a thread's other ones
 * and those of its inputs, which are all under way at once. With one block more, ptxas wrote
 * registers to memory or read few inputs at a time (sm_90). */
static int staged_blocks(const qn_call *call)
{
    const uint32_t inputs = input_registers(call);
    return inputs <= 16 ? 6 : inputs <= 32 ? 5 : inputs <= 48 ? 4 : 3;
}

/* Bytes of values of which several threads of an output, with five blocks, have more than registers
 * for: rows of 67 float64 went at 0.60 of a copy's speed on an H200, with four at 0.89. */
#define WIDE_BYTES 8

/* How many blocks a processor should hold: the more, the more loads are under way, until registers
 * no longer suffice. Pieces of ragged rows take more of them, elements that are mapped again too.
 * Tiles of columns have the most loads each. Where an output has one thread, few registers do. */
static int blocks_wanted(const qn_call *call)
{
    const qn_fold_form *f = &call->fold.form;
    if (f->staged == QN_STAGED_TOGETHER) {
        return qn_scan_value_size(call) >= WIDE_BYTES ? 4 : 5;
    }
    if (f->staged) {
        return staged_blocks(call);
    }
    if (f->descends) {
        const int blocks = qn_fold_descent_blocks(f->steps);
        return blocks > 4 && descent_registers(call) > CROWDED ? 4 : blocks;
    }
    if (!f->split) {
        return 4;
    }
    if (f->columns) {
        return 3;
    }
    if (f->again) {
        return f->lanes * f->steps * (f->ragged ? 2 : 1) > 64 ? 3 : 4;
    }
    return 5;
}

/* Threads of a block, and these. Nothing is asked where the size of a value is unknown. */
static void bounds_hole(qn_text *out, const qn_call *call)
{
    if (qn_scan_value_size(call) == 0) {
        qn_text_printf(out, "%d", QN_FOLD_BLOCK);
    } else {
        qn_source_bounds(out, blocks_wanted(call));
    }
}

typedef quern_status (*writer)(qn_text *, const qn_call *, qn_header *, size_t *);

/* What writes a scan of a template of its own; else NULL. */
static writer writer_of(const qn_fold_form *f)
{
    return f->boxed    ? qn_scan_boxed_source
           : f->swath  ? qn_scan_swaths_source
           : f->parts  ? qn_scan_parts_source
           : f->strips ? qn_scan_columns_source
           : f->apart  ? qn_scan_apart_source
           : f->packed ? qn_scan_packed_source
           : f->runs   ? qn_scan_runs_source
           : f->held   ? qn_scan_held_source
                       : NULL;
}

quern_status qn_scan_source(qn_text *out, const qn_call *call, qn_header *headers,
                            size_t *header_count)
{
    const qn_fold_form *f = &call->fold.form;
    const writer other = writer_of(f);
    if (other) {
        return other(out, call, headers, header_count);
    }
    qn_text t[HOLE_COUNT] = {{0}};
    qn_source_scan_holes(t, call);
    bounds_hole(&t[BOUNDS], call);
    (f->staged     ? qn_source_staged_form
     : f->descends ? qn_source_scan_form
                   : form_hole)(&t[FORM], call);
    qn_source_scan_registers(&t[REGISTERS], call);
    (f->descends ? qn_source_scan_read : qn_source_scan_load)(&t[LOAD], call);
    if (f->ragged) {
        qn_source_scan_load_whole(&t[LOAD_WHOLE], call);
    }
    qn_source_scan_unit(&t[UNIT], call, 0, f->descends ? call->input_operands : 0);
    if (f->staged) {
        qn_source_scan_repeat(&t[REPEAT], call);
        qn_source_staged_list(&t[LIST], &t[KEPT], call);
    } else if (f->descends) {
        qn_source_strips_recall(&t[RECALL], call);
        if (qn_source_goes_down(f)) {
            qn_source_strips_begin(&t[BEGIN], call);
        }
    } else {
        skip_hole(&t[SKIP], call);
        qn_source_scan_renew(&t[RENEW], call);
        qn_source_row_ahead(&t[AHEAD], call);
    }
    qn_source_scan_lane(&t[LANE], call, 5);
    qn_source_scan_arguments(&t[ARGUMENTS], call);
    qn_source_scan_unit(&t[RESULT], call, f->spread ? 0 : call->input_operands,
                        call->operand_count);
    qn_source_scan_give(&t[GIVE], call);
    if (f->spread) {
        qn_source_scan_spread(&t[SPREAD], call);
    }
    const qn_source_template template = {
        .text = f->staged     ? qn_embedded_scan_staged_cu
                : f->descends ? qn_embedded_scan_descend_cu
                              : qn_embedded_scan_cu,
        .hole_names = (const char *const[]){HOLES(QN_HOLE_NAME)},
        .holes = t,
        .hole_count = HOLE_COUNT,
        .headers = QN_FOLD_HEADERS | QN_HEADER(QN_HEADER_SCAN) |
                   (f->staged ? QN_HEADER(QN_HEADER_STAGE) : 0) |
                   (f->lanes > 1 ? QN_HEADER(QN_HEADER_PACK) : 0) |
                   (f->descends && f->lanes > 1 ? QN_HEADER(QN_HEADER_WORDS) : 0),
    };
    return qn_source_expand(out, call, &template, headers, header_count);
}
