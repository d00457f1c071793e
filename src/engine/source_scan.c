/* SPDX-License-Identifier: MIT
 *
 * source_scan: the CUDA source of a scan. In: a call whose types are bound and whose fold is
 * planned. Out: the text of templates/scan.cu with its holes filled. The thing to know: in rows a
 * unit has several elements of one output (a track); in columns it has one element of each of
 * several. source_scan_units.c writes what happens to a unit.
 */
#include "embedded/templates.h"
#include "engine/source.h"

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
        qn_text_puts(out, "    const int _quern_splits = (int)_quern_s.splits;\n"
                          "    const int _quern_ticket = quern::take_tile(_quern_w);\n"
                          "    const int _quern_group = _quern_ticket / _quern_splits;\n"
                          "    const int _quern_tile = _quern_ticket % _quern_splits;\n"
                          "    const _quern_index _quern_first = _quern_tile * _quern_s.chunk;\n"
                          "    const _quern_index _quern_last = _quern_first + 1;\n");
    } else {
        qn_text_puts(out,
                     "    const int _quern_group = blockIdx.x;\n"
                     "    const _quern_index _quern_first = 0, _quern_last = _quern_s.units;\n");
    }
    qn_text_printf(out,
                   "    const int _quern_turn = %s;\n"
                   "    const _quern_index _quern_o = (_quern_index)%s * (32 / _quern_width) + "
                   "_quern_side;\n"
                   "    const bool _quern_live = _quern_o < _quern_s.outputs;\n",
                   f->block ? "_quern_warp" : "0",
                   f->block ? "_quern_group" : "(_quern_group * 8 + _quern_warp)");
}

/** The units of this lane's output. Those of a ragged row begin where vectors are aligned, so the
 * first may have `_quern_skip` elements too many. */
static void row_units(qn_text *out, const qn_call *call)
{
    const qn_fold_form *f = &call->fold.form;
    if (!f->ragged) {
        qn_text_puts(out,
                     "    const _quern_index _quern_units = _quern_live ? _quern_s.units : 0;\n");
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
        "    const _quern_index _quern_units = _quern_live ? (_quern_s.covered + "
        "_quern_skip + %d) / %d : 0;\n",
        call->operand_parameter[k], k, call->operands[k].item_size, f->lanes, f->lanes - 1,
        f->lanes);
}

/** Shared memory of a block: the values of its warps, for each track; and what lies in front of a
 * tile, or a second set, for the next tile. */
static void shared_memory(qn_text *out, const qn_call *call)
{
    const qn_fold_form *f = &call->fold.form;
    if (!f->block) {
        return;
    }
    int most = f->columns ? 32 * f->lanes : 1;
    qn_text_printf(out,
                   "    __shared__ alignas(_type_reduce) char _quern_shared[%d * "
                   "sizeof(_type_reduce)];\n"
                   "    _quern_slot *_quern_parts = (_quern_slot *)_quern_shared;\n",
                   (f->split ? 9 : 16) * most);
}

/** What lies in front of an output's first element. */
static void identity(qn_text *out, const qn_call *call)
{
    qn_text_puts(out, "    quern::front<_type_reduce> _quern_front[_quern_tracks];\n");
    if (call->kernel->has_identity) {
        qn_text_puts(out, "    const _type_reduce _quern_i = static_cast<_type_reduce>(\n");
        qn_source_user(out, call, QN_IDENTITY);
        qn_text_puts(out, "    );\n");
    }
    qn_text_printf(out,
                   "#pragma unroll\n"
                   "    for (int _quern_l = 0; _quern_l < _quern_tracks; _quern_l++)\n"
                   "        %s;\n",
                   call->kernel->has_identity ? "_quern_front[_quern_l].begin(_quern_i)"
                                              : "_quern_front[_quern_l].has = false");
}

static void begin_hole(qn_text *out, const qn_call *call)
{
    const qn_fold_form *f = &call->fold.form;
    if (f->block) {
        qn_text_printf(out, "    const int _quern_values = %s;\n",
                       f->columns ? "_quern_tracks * 32 / (int)_quern_s.workers" : "1");
    }
    place_hole(out, call);
    qn_source_kept(out, call, 1);
    row_units(out, call);
    shared_memory(out, call);
    identity(out, call);
}

/* ---- fronts --------------------------------------------------------------------------------- */

/** The front of a tile, from the tiles before it. */
static void look_back(qn_text *out, const qn_call *call)
{
    qn_text_printf(
        out,
        "        _quern_slot *const _quern_fronts = _quern_parts + 8 * _quern_values;\n"
        "        const quern::board<_type_reduce> _quern_board(_quern_w, (int)gridDim.x / "
        "_quern_splits, _quern_splits, _quern_values);\n"
        "        _quern_board.fronts(_quern_fronts, _quern_front[0], _quern_parts, _quern_warps, "
        "(int)min(_quern_s.results - (_quern_index)_quern_group * _quern_values, "
        "(_quern_index)_quern_values), _quern_group, _quern_tile, _quern_scan);\n"
        "#pragma unroll\n"
        "        for (int _quern_l = 0; _quern_l < _quern_tracks; _quern_l++)\n"
        "            if (_quern_live && (_quern_tile > 0 || %s)) "
        "_quern_front[_quern_l].begin(_quern_fronts[_quern_side * _quern_tracks + "
        "_quern_l].value);\n",
        call->kernel->has_identity ? "true" : "false");
}

/** What lies in front of each warp of a block. */
static void fronts_hole(qn_text *out, const qn_call *call)
{
    const qn_fold_form *f = &call->fold.form;
    if (!f->block) {
        return;
    }
    qn_text_printf(
        out,
        "#pragma unroll\n"
        "        for (int _quern_l = 0; _quern_l < _quern_tracks; _quern_l++)\n"
        "            if (_quern_at == 0 && _quern_count[0] > 0)\n"
        "                _quern_parts[_quern_warp * _quern_values + _quern_side * _quern_tracks + "
        "_quern_l] = _quern_total[_quern_l];\n"
        "        __syncthreads();\n"
        "        const int _quern_abreast = _quern_steps * _quern_width;\n"
        "        const int _quern_warps = (int)min(max(%s - _quern_base + _quern_abreast - 1, "
        "(_quern_index)0) / _quern_abreast, (_quern_index)8);\n",
        f->columns ? "_quern_s.units" : "_quern_units");
    if (f->split) {
        look_back(out, call);
    }
    qn_text_puts(out,
                 "        quern::front<_type_reduce> _quern_next[_quern_tracks];\n"
                 "#pragma unroll\n"
                 "        for (int _quern_l = 0; _quern_l < _quern_tracks; _quern_l++)\n"
                 "            _quern_next[_quern_l] = quern::pass_warps(_quern_front[_quern_l], "
                 "_quern_parts + _quern_side * _quern_tracks + _quern_l, _quern_values, "
                 "_quern_live ? _quern_warps : 0, _quern_scan);");
}

/** The front of the next units. */
static void advance_hole(qn_text *out, const qn_call *call)
{
    const qn_fold_form *f = &call->fold.form;
    if (f->split) {
        return;
    }
    qn_text_printf(out,
                   "#pragma unroll\n"
                   "        for (int _quern_l = 0; _quern_l < _quern_tracks; _quern_l++)\n"
                   "            %s\n",
                   f->block
                       ? "_quern_front[_quern_l] = _quern_next[_quern_l];"
                       : "if (_quern_count[0] > 0) "
                         "_quern_front[_quern_l].append(_quern_total[_quern_l], _quern_scan);");
    if (f->block) {
        /* The other set, so that no warp overwrites what another still reads. */
        qn_text_puts(out, "        _quern_parts = (_quern_slot *)_quern_shared + (_quern_parts == "
                          "(_quern_slot *)_quern_shared ? 8 * _quern_values : 0);");
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
    TAKE,
    FRONTS,
    GIVE,
    ADVANCE,
    HOLES
};

static const char *const hole_names[HOLES] = {
    "scan_type", "parameters", "positions", "inputs", "map",    "scan",  "operands",
    "post",      "index",      "block",     "steps",  "tracks", "lanes", "begin",
    "registers", "take",       "fronts",    "give",   "advance"};

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
    /* Four blocks a processor, unless values may be so wide that they would not fit registers. */
    qn_text_printf(&t[BLOCK], qn_scan_value_size(call) != 0 ? "%d, 4" : "%d", QN_FOLD_BLOCK);
    qn_text_printf(&t[STEPS], "%d", f->steps);
    qn_text_printf(&t[TRACKS], "%d", track_count(f));
    qn_text_printf(&t[LANES], "%d", f->lanes);
    begin_hole(&t[BEGIN], call);
    qn_source_scan_registers(&t[REGISTERS], call);
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
