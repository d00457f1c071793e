/* SPDX-License-Identifier: MIT
 *
 * source_reduction: the CUDA source of a reduction. In: a call whose types are bound and whose fold
 * is planned. Out: the text of templates/reduction.cu with its holes filled. The thing to know:
 * templates/README.md tells what the names in it mean.
 */
#include "embedded/templates.h"
#include "engine/source/source.h"
#include <stdio.h>

/* ---- the user's texts ----------------------------------------------------------------------- */

static void inputs_hole(qn_text *out, const qn_call *call)
{
    qn_source_operands(out, call, 0, call->input_operands);
    qn_text_puts(out, "const ptrdiff_t _J");
}

/* ---- places --------------------------------------------------------------------------------- */

/** This thread's output, its place among the output's workers, and its block's part of the work.
 * A row that several blocks share has all threads of each. */
static void place_hole(qn_text *out, const qn_call *call)
{
    const qn_fold_form *f = &call->fold.form;
    bool whole = f->split && !f->columns;
    if (whole) {
        qn_text_printf(out,
                       "    constexpr int _quern_workers = %d;\n"
                       "    const int _quern_r = threadIdx.x;\n"
                       "    constexpr bool _quern_live = true;\n",
                       QN_FOLD_BLOCK);
        if (call->kernel->ordered) {
            qn_text_printf(out, "    constexpr int _quern_shift = %d;\n", QN_FOLD_BLOCK_SHIFT);
        }
    } else {
        /* By its shift, so that the compiler divides by it without a division. */
        qn_text_puts(out, "    const int _quern_shift = (int)_quern_s.shift, "
                          "_quern_workers = 1 << _quern_shift;\n");
        qn_text_printf(out, "    const int _quern_beside = %d >> _quern_shift;\n", QN_FOLD_BLOCK);
        qn_text_printf(out,
                       f->columns ? "    const int _quern_r = threadIdx.x >> (%d - _quern_shift);\n"
                                    "    const int _quern_at = threadIdx.x & (_quern_beside - 1);\n"
                                  : "    const int _quern_r = threadIdx.x & (_quern_workers - 1);\n"
                                    "    const int _quern_at = threadIdx.x >> _quern_shift;\n",
                       QN_FOLD_BLOCK_SHIFT);
    }
    if (f->split && f->kept > 0) {
        qn_text_puts(out, "    const unsigned _quern_group = blockIdx.x / "
                          "(unsigned)_quern_s.splits;\n"
                          "    const _quern_index _quern_part = blockIdx.x - _quern_group * "
                          "(unsigned)_quern_s.splits;\n");
    } else if (f->split) {
        qn_text_puts(out, "    constexpr unsigned _quern_group = 0;\n"
                          "    const _quern_index _quern_part = blockIdx.x;\n");
    } else {
        qn_text_puts(out, "    const unsigned _quern_group = blockIdx.x;\n");
    }
    qn_text_printf(out, "    const _quern_index _quern_o = (_quern_index)_quern_group%s;\n",
                   whole ? "" : " * _quern_beside + _quern_at");
    if (!whole) {
        qn_text_puts(out, "    const bool _quern_live = _quern_o < _quern_s.outputs;\n");
    }
}

/** The share of this thread of `_quern_count` units, or parts, from `_quern_begin` on. In order: a
 * run of neighbours; else every so many. The workers below `_quern_active` have any. */
static void share(qn_text *out, const qn_call *call, const char *indent)
{
    static const char *const runs[] = {
        "const _quern_index _quern_run = (_quern_count + _quern_workers - 1) >> _quern_shift;\n",
        "const _quern_index _quern_first = _quern_begin + _quern_r * _quern_run;\n",
        "const _quern_index _quern_end = _quern_begin + _quern_count;\n",
        "const _quern_index _quern_last = _quern_end - _quern_first < _quern_run ? "
        "_quern_end : _quern_first + _quern_run;\n",
        "const _quern_index _quern_step = 1;\n",
        "_quern_active = _quern_run > 0 ? (_quern_count + _quern_run - 1) / _quern_run : 0;\n"};
    static const char *const strides[] = {
        "const _quern_index _quern_first = _quern_begin + _quern_r;\n",
        "const _quern_index _quern_last = _quern_begin + _quern_count;\n",
        "const _quern_index _quern_step = _quern_workers;\n", "_quern_active = _quern_count;\n"};
    bool ordered = call->kernel->ordered;
    size_t lines = ordered ? QN_COUNT(runs) : QN_COUNT(strides);
    for (size_t k = 0; k < lines; k++) {
        qn_text_printf(out, "%s%s", indent, ordered ? runs[k] : strides[k]);
    }
}

/** Rows of one dimension: packs may leave elements over at both ends. */
static bool has_rest(const qn_call *call)
{
    const qn_fold_form *f = &call->fold.form;
    return !f->columns && f->reduced == 1 && f->lanes > 1 && !call->kernel->ordered;
}

/** The units of this thread: `_quern_first`, `_quern_last`, `_quern_step`. */
static void share_hole(qn_text *out, const qn_call *call)
{
    const qn_fold_form *f = &call->fold.form;
    qn_text_puts(out, "    _quern_index _quern_active;\n");
    if (f->split) {
        qn_text_puts(out, "    const _quern_index _quern_begin = _quern_part * _quern_s.chunk;\n"
                          "    const _quern_index _quern_ahead = _quern_s.units - _quern_begin;\n"
                          "    const _quern_index _quern_count =\n        !_quern_live ? 0 : "
                          "_quern_ahead < _quern_s.chunk ? _quern_ahead : _quern_s.chunk;\n");
    } else {
        qn_text_puts(out, "    constexpr _quern_index _quern_begin = 0;\n"
                          "    const _quern_index _quern_count = _quern_live ? _quern_s.units : "
                          "0;\n");
    }
    share(out, call, "    ");
    if (has_rest(call)) {
        qn_text_printf(out, "    const _quern_index _quern_rest = %s ? _quern_s.rest : 0;\n",
                       f->split ? "_quern_part == 0" : "_quern_live");
    }
    if (has_rest(call) && !f->split) {
        qn_text_puts(out, "    if (_quern_rest > _quern_active) _quern_active = _quern_rest;\n");
    }
}

/* ---- elements ------------------------------------------------------------------------------- */

/** Take the element whose operands are in `_quern_xK`. `lane`: one of a pack. */
static void take(qn_text *out, const qn_call *call, int levels, bool lane, const char *position)
{
    const qn_fold_form *f = &call->fold.form;
    qn_source_indent(out, levels);
    if (!lane) {
        qn_text_puts(out, "_quern_take(_quern_v[0], _quern_has, _quern_map(");
    } else if (f->columns) {
        qn_text_puts(out, "_quern_take(_quern_v[_quern_l], _quern_has, _quern_map(");
    } else {
        qn_text_puts(out, "_quern_take(_quern_v[0], _quern_has || _quern_l > 0, _quern_map(");
    }
    qn_source_arguments(out, call, lane);
    qn_text_printf(out, "%s));\n", call->kernel->uses_position ? position : "0");
}

/** Rows: the elements in front of the first unit and behind the last. A block that has all threads
 * for a row has one for each. */
static void rest_hole(qn_text *out, const qn_call *call)
{
    const qn_fold_form *f = &call->fold.form;
    if (!has_rest(call)) {
        return;
    }
    qn_text_puts(out, f->split
                          ? "    if (_quern_r < _quern_rest) {\n"
                            "        const _quern_index _quern_u = _quern_r;\n"
                          : "#pragma unroll 1\n"
                            "    for (_quern_index _quern_u = _quern_r; _quern_u < _quern_rest; "
                            "_quern_u += _quern_workers) {\n");
    qn_text_puts(out, "        const _quern_index _quern_e = _quern_u < _quern_s.head ? _quern_u "
                      ": _quern_u + _quern_s.covered;\n");
    for (uint32_t k = 0; k < call->input_operands; k++) {
        qn_text_printf(out, "        const long long _quern_j%u = 0;\n", k);
    }
    qn_source_load(out, call, 2, "_quern_e", false);
    qn_source_position_of(out, call, 2, qn_source_lane_dim(f), "_quern_e");
    take(out, call, 2, false, "_quern_e");
    qn_text_puts(out, "        _quern_has = true;\n    }\n");
}

/** One unit: a pack, or a single element. */
static void unit_hole(qn_text *out, const qn_call *call)
{
    const qn_fold_form *f = &call->fold.form;
    int lane = qn_source_lane_dim(f);
    if (!f->columns) {
        qn_text_puts(out, "        _quern_index _quern_e = 0;\n");
    }
    qn_source_reduced(out, call, 2, 0, call->input_operands);
    if (f->lanes == 1) {
        if (lane >= 0) {
            qn_source_position_of(out, call, 2, lane, "_quern_e");
        }
        qn_source_load(out, call, 2, "_quern_e", false);
        take(out, call, 2, false, "_quern_u");
        return;
    }
    qn_source_load(out, call, 2, "_quern_e", true);
    qn_text_puts(out, "#pragma unroll\n");
    qn_text_printf(out, "        for (int _quern_l = 0; _quern_l < %d; _quern_l++) {\n", f->lanes);
    qn_source_position_of(out, call, 3, lane, "_quern_e + _quern_l");
    char position[80];
    snprintf(position, sizeof position,
             f->columns ? "_quern_u" : "(ptrdiff_t)_quern_u * %d + _quern_s.head + _quern_l",
             f->lanes);
    take(out, call, 3, true, position);
    qn_text_puts(out, "        }");
}

/** Units whose loads a thread has on their way together. Where several blocks share an output there
 * are threads enough that one of 16 bytes keeps memory busy, and it compiles fastest; elements of a
 * byte or two take so long to unpack that two are better. */
static int units_in_flight(const qn_call *call)
{
    static const int by_lanes[] = {[1] = 4, [2] = 2, [4] = 1, [8] = 2, [16] = 2};
    const qn_fold_form *f = &call->fold.form;
    if (call->kernel->loops || call->kernel->heavy > 0) {
        return 1;
    }
    return f->split || f->lanes > 4 ? by_lanes[f->lanes] : 4;
}

/* ---- combining and finishing ---------------------------------------------------------------- */

/** The shared memory of combining. Columns: as many outputs side by side are combined at once as
 * need no more of it than a single one of the largest type. */
static void shared_hole(qn_text *out, const qn_call *call)
{
    if (call->fold.form.columns) {
        qn_text_printf(out,
                       "    constexpr int _quern_most = 64 / sizeof(_type_reduce);\n"
                       "    constexpr int _quern_together = _quern_most < %d ? _quern_most : %d;\n",
                       call->fold.form.lanes, call->fold.form.lanes);
    }
    qn_text_puts(out, "    __shared__ alignas(_type_reduce) char _quern_shared[");
    qn_text_printf(out, call->fold.form.columns ? "%d * _quern_together" : "%d",
                   call->fold.form.columns ? QN_FOLD_BLOCK : QN_FOLD_BLOCK / 32);
    qn_text_puts(out, " * sizeof(_type_reduce)];");
}

static void combine(qn_text *out, const qn_call *call, const char *indent)
{
    if (call->fold.form.columns) {
        qn_text_printf(out,
                       "%squern::combine_columns<%d, _quern_together>(_quern_v, _quern_r, "
                       "_quern_active,\n%s    _quern_workers, _quern_beside",
                       indent, QN_FOLD_BLOCK, indent);
    } else {
        qn_text_printf(out,
                       "%squern::combine_rows(_quern_v[0], _quern_r, _quern_active, _quern_workers",
                       indent);
    }
    qn_text_puts(out, ", _quern_reduce, (_quern_slot *)_quern_shared);\n");
}

/** Several blocks an output: each leaves its value, and the last one shares them out to its threads
 * and combines once more. A loop, so that the code that combines is there once. */
static void combine_hole(qn_text *out, const qn_call *call)
{
    const qn_fold_form *f = &call->fold.form;
    int values = f->columns ? f->lanes : 1;
    if (!f->split) {
        combine(out, call, "    ");
        return;
    }
    qn_text_puts(out, "#pragma unroll 1\n"
                      "    for (bool _quern_ended = false;; _quern_ended = true) {\n");
    combine(out, call, "        ");
    qn_text_printf(out,
                   "        if (_quern_ended) break;\n"
                   "        _quern_slot *const _quern_left = (_quern_slot *)(_quern_w + %d)\n"
                   "            + (long long)_quern_o * _quern_s.splits * %d;\n"
                   "        if (_quern_live && _quern_r == 0) {\n",
                   QN_FOLD_COUNTER_BYTES, values);
    for (int l = 0; l < values; l++) {
        qn_text_printf(out, "            _quern_left[_quern_part * %d + %d] = _quern_v[%d];\n",
                       values, l, l);
    }
    qn_text_puts(out,
                 "        }\n"
                 "        if (!quern::is_last_block((unsigned *)_quern_w + _quern_group, "
                 "(unsigned)_quern_s.splits)) return;\n"
                 "        constexpr _quern_index _quern_begin = 0;\n"
                 "        const _quern_index _quern_count = _quern_live ? _quern_s.splits : 0;\n");
    share(out, call, "        ");
    qn_text_puts(out, "#pragma unroll 1\n"
                      "        for (_quern_index _quern_u = _quern_first; _quern_u < _quern_last; "
                      "_quern_u += _quern_step) {\n");
    for (int l = 0; l < values; l++) {
        qn_text_printf(out,
                       "            _quern_take(_quern_v[%d], _quern_u > _quern_first, "
                       "_quern_left[_quern_u * %d + %d].value);\n",
                       l, values, l);
    }
    qn_text_puts(out, "        }\n    }");
}

/** The identity, once, and the outputs. */
static void finish_hole(qn_text *out, const qn_call *call)
{
    const qn_fold_form *f = &call->fold.form;
    int lane = qn_source_lane_dim(f);
    qn_text_printf(out,
                   f->columns && f->lanes > 1
                       ? "#pragma unroll\n"
                         "        for (int _quern_l = 0; _quern_l < %d; _quern_l++) {\n"
                       : "        {\n            constexpr int _quern_l = 0;\n",
                   f->lanes);
    if (f->columns && lane >= 0) {
        qn_source_position_of(out, call, 3, lane, "_quern_e + _quern_l");
    }
    if (call->kernel->has_identity) {
        qn_text_puts(out, "            const _type_reduce _quern_i = _type_reduce(\n");
        qn_source_closed(out, call, QN_IDENTITY, ");");
        qn_text_puts(out,
                     "            _quern_v[_quern_l].value = _quern_s.units + _quern_s.rest > 0 "
                     "? _quern_reduce(_quern_i, _quern_v[_quern_l].value) : _quern_i;\n");
    }
    qn_text_puts(out, "            _quern_post(");
    for (uint32_t k = call->input_operands; k < call->operand_count; k++) {
        qn_source_fold_output(out, call, k, "_quern_e + _quern_l");
    }
    qn_text_puts(out, "_quern_v[_quern_l].value);\n        }");
}

/* ---- the whole ------------------------------------------------------------------------------ */

enum {
    REDUCE_TYPE,
    PARAMETERS,
    POSITIONS,
    INPUTS,
    MAP,
    REDUCE,
    OUTPUTS,
    POST,
    INDEX,
    BLOCK,
    SHARED,
    VALUES,
    UNROLL,
    PLACE,
    SHARE,
    KEPT,
    REST,
    UNIT,
    COMBINE,
    FINISH,
    HOLES
};

static const char *const hole_names[HOLES] = {
    [REDUCE_TYPE] = "reduce_type",
    [PARAMETERS] = "parameters",
    [POSITIONS] = "positions",
    [INPUTS] = "inputs",
    [MAP] = "map",
    [REDUCE] = "reduce",
    [OUTPUTS] = "outputs",
    [POST] = "post",
    [INDEX] = "index",
    [BLOCK] = "block",
    [SHARED] = "shared",
    [VALUES] = "values",
    [UNROLL] = "unroll",
    [PLACE] = "place",
    [SHARE] = "share",
    [KEPT] = "kept",
    [REST] = "rest",
    [UNIT] = "unit",
    [COMBINE] = "combine",
    [FINISH] = "finish",
};

quern_status qn_reduction_source(qn_text *out, const qn_call *call, qn_header *headers,
                                 size_t *header_count)
{
    const qn_fold_form *f = &call->fold.form;
    qn_text t[HOLES] = {{0}};
    qn_source_value_type(&t[REDUCE_TYPE], call);
    qn_source_fold_parameters(&t[PARAMETERS], call);
    qn_text_puts(&t[PARAMETERS], f->split ? ", char *_quern_w" : "");
    qn_source_positions(&t[POSITIONS], call);
    inputs_hole(&t[INPUTS], call);
    qn_source_function(&t[MAP], call, QN_MAP);
    qn_source_function(&t[REDUCE], call, QN_REDUCE);
    qn_source_operands(&t[OUTPUTS], call, call->input_operands,
                       call->operand_count - call->input_operands);
    qn_source_post(&t[POST], call);
    qn_text_puts(&t[INDEX], qn_source_index(f->wide));
    qn_text_printf(&t[BLOCK], "%d", QN_FOLD_BLOCK);
    shared_hole(&t[SHARED], call);
    qn_text_printf(&t[VALUES], "%d", f->columns ? f->lanes : 1);
    qn_text_printf(&t[UNROLL], "%d", units_in_flight(call));
    place_hole(&t[PLACE], call);
    share_hole(&t[SHARE], call);
    qn_source_kept(&t[KEPT], call, 1);
    rest_hole(&t[REST], call);
    unit_hole(&t[UNIT], call);
    combine_hole(&t[COMBINE], call);
    finish_hole(&t[FINISH], call);
    const qn_source_template template = {
        .text = qn_embedded_reduction_cu,
        .hole_names = hole_names,
        .holes = t,
        .hole_count = HOLES,
        .headers = 1u << QN_HEADER_INDEX | 1u << QN_HEADER_FOLD |
                   (f->lanes > 1 ? 1u << QN_HEADER_PACK : 0),
    };
    return qn_source_expand(out, call, &template, headers, header_count);
}
