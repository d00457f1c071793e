/* SPDX-License-Identifier: MIT
 *
 * source_scan: the CUDA source of a scan. In: a call whose types are bound and whose fold is
 * planned. Out: the text of templates/scan.cu with its holes filled. The thing to know: in rows a
 * unit has several elements of one output (a track), lanes take units in turn, and each round of
 * units is scanned by the warp; in columns a unit has one element of each of several outputs, and a
 * lane takes units that follow each other, so that the warp scans once. source_scan_units.c writes
 * what happens to a unit.
 */
#include "embedded/templates.h"
#include "engine/source/source.h"

/* ---- places --------------------------------------------------------------------------------- */

static int track_count(const qn_fold_form *f)
{
    return f->columns ? f->lanes : 1;
}

/** This lane's place among those of its output, and its block's or its tile's part of the work. */
static void place_hole(qn_text *out, const qn_call *call)
{
    const qn_fold_form *f = &call->fold.form;
    qn_text_puts(out,
                 "    const int _quern_lane = threadIdx.x % 32, _quern_warp = threadIdx.x / 32;\n");
    if (f->columns) {
        qn_text_printf(out,
                       "    const int _quern_width = %s, _quern_apart = 32 / _quern_width;\n"
                       "    const int _quern_at = _quern_lane / _quern_apart;\n"
                       "    const int _quern_side = _quern_lane %% _quern_apart;\n",
                       f->block ? "(int)_quern_s.workers" : "1");
    } else {
        qn_text_printf(out,
                       "    const int _quern_width = %s, _quern_apart = 1;\n"
                       "    const int _quern_at = _quern_lane & (_quern_width - 1);\n"
                       "    const int _quern_side = _quern_lane / _quern_width;\n",
                       f->block ? "32" : "(int)_quern_s.workers");
    }
    if (f->split) {
        qn_text_printf(out,
                       "    const int _quern_splits = (int)_quern_s.splits;\n"
                       "    const int _quern_groups = %s;\n"
                       "    const unsigned long long _quern_ticket = "
                       "quern::take_ticket(_quern_w, (int)gridDim.x);\n"
                       "    const int _quern_group = (int)_quern_ticket %% _quern_groups;\n"
                       "    const int _quern_tile = (int)_quern_ticket / _quern_groups;\n",
                       f->kept == 0 ? "1" : "(int)gridDim.x / _quern_splits");
    } else {
        qn_text_puts(out, "    const int _quern_group = blockIdx.x;\n");
    }
    qn_text_printf(
        out,
        "    const int _quern_turn = %s, _quern_pace = %s;\n"
        "    const int _quern_from = %s;\n"
        "    [[maybe_unused]] _quern_index _quern_o = (_quern_index)%s * (32 / _quern_width) + "
        "_quern_side;\n"
        "%s",
        f->block ? "_quern_warp" : "0", f->columns ? "1" : "_quern_width",
        f->columns ? "(_quern_turn * _quern_width + _quern_at) * _quern_steps"
                   : "_quern_turn * _quern_steps * _quern_width + _quern_at",
        f->block ? "_quern_group" : "(_quern_group * 8 + _quern_warp)",
        f->block && !f->columns ? "    constexpr bool _quern_live = true;\n"
                                : "    const bool _quern_live = _quern_o < _quern_s.outputs;\n"
                                  "    _quern_o = min(_quern_o, _quern_s.outputs - 1);\n");
}

/** The units of this lane's output, and how many of them are its own to scan: a lane that has none
 * reads along with the last. Those of a ragged row begin where vectors are aligned, so the first
 * may have `_quern_skip` elements too many. */
static void row_units(qn_text *out, const qn_call *call)
{
    const qn_fold_form *f = &call->fold.form;
    if (!f->ragged) {
        qn_text_puts(out, "    const _quern_index _quern_length = _quern_s.units;\n");
        return;
    }
    uint32_t k = 0;
    while (f->access[k] != QN_ACCESS_VECTOR) {
        k++;
    }
    qn_text_printf(
        out,
        "    const int _quern_skip = (int)((unsigned long long)((const char *)_quern_a%u "
        "+ _quern_k%u) / %u %% %u);\n"
        "    const _quern_index _quern_length = (_quern_s.covered + _quern_skip + %d) / %d;\n",
        call->operand_parameter[k], k, call->operands[k].item_size, f->lanes, f->lanes - 1,
        f->lanes);
}

/** Shared memory of a block: the values of its warps, then what lies in front of it, of each track.
 * Tiles park the values of threads where there is room. */
static void shared_memory(qn_text *out, const qn_call *call)
{
    const qn_fold_form *f = &call->fold.form;
    uint32_t beside = 1;
    if (f->columns) {
        beside = f->split ? qn_fold_tile_width(f->lanes * call->operands[0].item_size) : 32;
    }
    if (f->block) {
        qn_text_printf(out,
                       "    __shared__ alignas(_type_reduce) char _quern_shared[9 * %u * "
                       "sizeof(_type_reduce)];\n"
                       "    _quern_slot *const _quern_parts = (_quern_slot *)_quern_shared;\n"
                       "    _quern_slot *const _quern_fronts = _quern_parts + 8 * _quern_values;\n",
                       beside * (uint32_t)track_count(f));
    }
    qn_text_printf(out, "    constexpr bool _quern_tiles = %s, _quern_park = %s;\n",
                   f->split ? "true" : "false",
                   f->split ? "quern::can_park(_quern_steps * _quern_lanes * "
                              "(int)sizeof(_type_reduce), (int)sizeof _quern_shared)"
                            : "false");
}

/** What lies in front of an output's first element. */
static void identity(qn_text *out, const qn_call *call)
{
    qn_text_puts(out, "    quern::front<_type_reduce> _quern_initial;\n");
    if (!call->kernel->has_identity) {
        qn_text_puts(out, "    _quern_initial.has = false;\n");
        return;
    }
    qn_text_puts(out, "    _quern_initial.begin(_type_reduce(\n");
    qn_source_closed(out, call, QN_IDENTITY, "));");
}

static void begin_hole(qn_text *out, const qn_call *call)
{
    const qn_fold_form *f = &call->fold.form;
    qn_text_printf(out, "    constexpr int _quern_rounds = %s;\n",
                   f->columns ? "1" : "_quern_steps");
    if (f->block) {
        qn_text_printf(out, "    const int _quern_values = %s;\n",
                       f->columns ? "_quern_tracks * 32 / (int)_quern_s.workers" : "1");
    }
    place_hole(out, call);
    qn_source_kept(out, call, 1);
    row_units(out, call);
    qn_text_puts(out, "    const _quern_index _quern_units = _quern_live ? _quern_length : 0;\n");
    shared_memory(out, call);
    identity(out, call);
    if (!f->block) {
        qn_text_puts(out, "    quern::front<_type_reduce> _quern_front[_quern_tracks];\n"
                          "#pragma unroll\n"
                          "    for (int _quern_l = 0; _quern_l < _quern_tracks; _quern_l++)\n"
                          "        _quern_front[_quern_l] = _quern_initial;\n");
    }
    qn_text_puts(out, f->split ? "    const _quern_index _quern_base = _quern_tile * "
                                 "_quern_s.chunk;"
                               : "    for (_quern_index _quern_base = 0; _quern_base < "
                                 "_quern_s.units; _quern_base += _quern_s.chunk)");
}

/* ---- fronts --------------------------------------------------------------------------------- */

/** How many units an output's lanes have in all rounds; of columns, how many lanes have any. In a
 * tile all count: behind the end of an output are repeated units, and nobody asks for what they
 * come to. */
static void count(qn_text *out, const qn_call *call)
{
    bool columns = call->fold.form.columns;
    if (call->fold.form.split) {
        qn_text_puts(out,
                     "        const int _quern_count = _quern_live ? _quern_width * _quern_rounds "
                     ": 0;\n");
        return;
    }
    qn_text_printf(out,
                   "        const int _quern_count = (int)min(max(%s_quern_units - _quern_base - "
                   "_quern_from%s, (_quern_index)0), (_quern_index)(_quern_width * "
                   "_quern_rounds));\n",
                   columns ? "(" : "",
                   columns ? " + _quern_at * _quern_steps + _quern_steps - 1) / _quern_steps"
                           : " + _quern_at");
}

/** What lies in front of each warp of a block, from the warps before and the front of the block. */
static void block_fronts(qn_text *out, const qn_call *call)
{
    const qn_fold_form *f = &call->fold.form;
    qn_text_puts(out, "#pragma unroll\n"
                      "        for (int _quern_l = 0; _quern_l < _quern_tracks; _quern_l++)\n"
                      "            if (_quern_at == 0 && _quern_count > 0)\n"
                      "                _quern_parts[_quern_warp * _quern_values + _quern_side * "
                      "_quern_tracks + _quern_l] = _quern_total[_quern_l];\n");
    qn_text_printf(out, "        const int _quern_used = %s;\n",
                   f->columns ? "(int)min(_quern_s.results - (_quern_index)_quern_group * "
                                "_quern_values, (_quern_index)_quern_values)"
                              : "1");
    if (f->split) {
        qn_text_puts(
            out, "        const quern::board<_type_reduce, _quern_tracks> _quern_board(_quern_w, "
                 "_quern_ticket, _quern_groups, _quern_splits, _quern_values);\n"
                 "        _quern_board.fronts(_quern_fronts, _quern_initial, _quern_parts, "
                 "_quern_values, _quern_used, _quern_group, _quern_tile, _quern_scan);\n");
    } else {
        qn_text_printf(
            out,
            "        const int _quern_abreast = _quern_steps * _quern_width;\n"
            "        const int _quern_warps = (int)min(max(%s - _quern_base + _quern_abreast - 1, "
            "(_quern_index)0) / _quern_abreast, (_quern_index)quern::scan_warps);\n"
            "        quern::pass_block(_quern_fronts, _quern_initial, _quern_base > "
            "0, _quern_parts, _quern_values, _quern_used, _quern_warps, "
            "_quern_scan);\n",
            f->columns ? "_quern_s.units" : "_quern_units");
    }
}

/** `_quern_front`, what lies in front of each track of a warp; of columns, of a lane. */
static void fronts_hole(qn_text *out, const qn_call *call)
{
    const qn_fold_form *f = &call->fold.form;
    if (!f->block) {
        return;
    }
    block_fronts(out, call);
    qn_text_puts(out, "        quern::front<_type_reduce> _quern_front[_quern_tracks];\n"
                      "#pragma unroll\n"
                      "        for (int _quern_l = 0; _quern_l < _quern_tracks; _quern_l++) {\n"
                      "            const int _quern_k = _quern_side * _quern_tracks + _quern_l;\n"
                      "            const _quern_slot &_quern_part = _quern_parts[_quern_warp * "
                      "_quern_values + _quern_k];\n");
    if (f->split) {
        qn_text_puts(out, "            _quern_front[_quern_l].value = _quern_fronts[_quern_k];\n"
                          "            _quern_front[_quern_l].has = _quern_initial.has || "
                          "_quern_tile > 0;\n"
                          "            if (_quern_warp > 0 && _quern_count > 0) "
                          "_quern_front[_quern_l].append(_quern_part, _quern_scan);\n");
    } else {
        qn_text_puts(out, "            _quern_front[_quern_l].value = _quern_part;\n"
                          "            _quern_front[_quern_l].has = _quern_initial.has || "
                          "_quern_base > 0 || _quern_warp > 0;\n");
    }
    if (f->columns) {
        qn_text_puts(out, "            if (_quern_at > 0 && _quern_at < _quern_count) "
                          "_quern_front[_quern_l].append(_quern_t[0][_quern_l], "
                          "_quern_scan);\n");
    }
    qn_text_puts(out, "        }\n");
}

/** The front of the next units of a warp that goes along its outputs alone. */
static void advance_hole(qn_text *out, const qn_call *call)
{
    if (!call->fold.form.block) {
        qn_text_puts(out, "#pragma unroll\n"
                          "        for (int _quern_l = 0; _quern_l < _quern_tracks; _quern_l++)\n"
                          "            if (_quern_count > 0) _quern_front[_quern_l].append("
                          "_quern_total[_quern_l], _quern_scan);\n");
    }
}

/* ---- the whole ------------------------------------------------------------------------------ */

enum {
    SCAN_TYPE,
    PARAMETERS,
    POSITIONS,
    INPUTS,
    MAP,
    SCAN,
    OPERANDS,
    POST,
    INDEX,
    BLOCK,
    STEPS,
    TRACKS,
    LANES,
    BEGIN,
    REGISTERS,
    LOAD,
    TAKE,
    FRONTS,
    GIVE,
    ADVANCE,
    HOLES
};

static const char *const hole_names[HOLES] = {
    [SCAN_TYPE] = "scan_type",
    [PARAMETERS] = "parameters",
    [POSITIONS] = "positions",
    [INPUTS] = "inputs",
    [MAP] = "map",
    [SCAN] = "scan",
    [OPERANDS] = "operands",
    [POST] = "post",
    [INDEX] = "index",
    [BLOCK] = "block",
    [STEPS] = "steps",
    [TRACKS] = "tracks",
    [LANES] = "lanes",
    [BEGIN] = "begin",
    [REGISTERS] = "registers",
    [LOAD] = "load",
    [TAKE] = "take",
    [FRONTS] = "fronts",
    [GIVE] = "give",
    [ADVANCE] = "advance",
};

/** Threads of a block, and how many blocks a processor should hold: a fifth one of tiles pays, a
 * sixth would have to keep in memory what fits no register. Any number where values may not fit. */
static void block_hole(qn_text *out, const qn_call *call)
{
    const qn_fold_form *f = &call->fold.form;
    if (qn_scan_value_size(call) == 0) {
        qn_text_printf(out, "%d", QN_FOLD_BLOCK);
    } else {
        qn_text_printf(out, "%d, %d", QN_FOLD_BLOCK, f->split ? 5 : 4);
    }
}

quern_status qn_scan_source(qn_text *out, const qn_call *call, qn_header *headers,
                            size_t *header_count)
{
    const qn_fold_form *f = &call->fold.form;
    qn_text t[HOLES] = {{0}};
    qn_source_value_type(&t[SCAN_TYPE], call);
    qn_source_fold_parameters(&t[PARAMETERS], call);
    qn_text_puts(&t[PARAMETERS], f->split ? ", char *_quern_w" : "");
    qn_source_positions(&t[POSITIONS], call);
    qn_source_operands(&t[INPUTS], call, 0, call->input_operands);
    qn_text_puts(&t[INPUTS], "const ptrdiff_t _J");
    qn_source_function(&t[MAP], call, QN_MAP);
    qn_source_function(&t[SCAN], call, QN_REDUCE);
    qn_source_operands(&t[OPERANDS], call, 0, call->operand_count);
    qn_text_puts(&t[OPERANDS], "const ptrdiff_t _J, ");
    qn_source_post(&t[POST], call);
    qn_text_puts(&t[INDEX], qn_source_index(f->wide));
    block_hole(&t[BLOCK], call);
    qn_text_printf(&t[STEPS], "%d", f->steps);
    qn_text_printf(&t[TRACKS], "%d", track_count(f));
    qn_text_printf(&t[LANES], "%d", f->lanes);
    begin_hole(&t[BEGIN], call);
    count(&t[REGISTERS], call);
    qn_source_scan_registers(&t[REGISTERS], call);
    qn_source_scan_load(&t[LOAD], call);
    qn_source_scan_take(&t[TAKE], call);
    fronts_hole(&t[FRONTS], call);
    qn_source_scan_give(&t[GIVE], call);
    advance_hole(&t[ADVANCE], call);
    const qn_source_template template = {
        .text = qn_embedded_scan_cu,
        .hole_names = hole_names,
        .holes = t,
        .hole_count = HOLES,
        .headers = 1u << QN_HEADER_INDEX | 1u << QN_HEADER_FOLD | 1u << QN_HEADER_SCAN |
                   (f->lanes > 1 ? 1u << QN_HEADER_PACK : 0),
    };
    return qn_source_expand(out, call, &template, headers, header_count);
}
