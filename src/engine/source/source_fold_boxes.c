/* SPDX-License-Identifier: MIT
 *
 * source_fold_boxes: the CUDA source that boxes of scans and of maps share. In: a call whose fold
 * is planned so. Out: the box at hand, how its operands come and go, and where a thread finds their
 * elements. The thing to know: dimensions inside a box count from 0, and that along which a thread
 * goes is the last. `_quern_partD` divides by the extent of dimension D, and `_quern_hereD` is how
 * much of it this box has; of the last, `_quern_length`. What lies along the last for one position
 * of the others is a scan here, of maps as well. In the room of operand K, `_quern_roomK`, a scan
 * begins `_quern_pitchK` elements behind the one before it. On its way in or out the element at
 * hand is `_quern_offset` bytes from where the box begins, in scan `_quern_row` at `_quern_spot`.
 * Operands that go by runs are those of source_fold_images.c.
 */
#include "engine/source/source_folds.h"
#include <stdio.h>

static uint32_t home(const qn_call *call, uint32_t k)
{
    return (uint32_t)qn_fold_lines_home(&call->fold.form, call->input_operands, k);
}

static bool by_runs(const qn_call *call, uint32_t k)
{
    return qn_fold_way_runs(&call->fold.form, k) > 0;
}

/* An input whose one element is that of the whole box: it stays in memory. */
static bool is_repeated(const qn_call *call, uint32_t k)
{
    return qn_fold_way_moves(&call->fold.form, k) == 0;
}

/* ---- the box -------------------------------------------------------------------------------- */

#define TURNS 4 /* elements of a thread that are under way together */

void qn_source_boxes_form(qn_text *out, const qn_call *call)
{
    const qn_fold_form *f = &call->fold.form;
    qn_source_index_type(out, f->wide);
    qn_source_number(out, "known", f->known);
    qn_source_number(out, "turns", TURNS);
    qn_source_number(out, "together", qn_source_shelves_together(call));
}

/* What is to be known of operand `k`, to find where boxes lie; `finder`: who knows it. */
static void know(qn_text *out, const qn_call *call, uint32_t k, const char *finder)
{
    const qn_fold_form *f = &call->fold.form;
    qn_text_printf(out, "        %s.array = (long long)_quern_array%u;\n        %s.room = ", finder,
                   call->operand_parameter[k], finder);
    if (by_runs(call, k)) {
        qn_text_printf(out, "_quern_room%u;\n", home(call, k));
    } else {
        qn_text_puts(out, "0;\n");
    }
    for (int d = 0; d <= f->boxed; d++) {
        bool moves = false;
        for (int at = 0; by_runs(call, k) && at < qn_fold_way_moves(f, k); at++) {
            moves |= qn_fold_way_dim(f, k, at) == d;
        }
        qn_text_printf(out, "        %s.apart[%d] = ", finder, d);
        if (moves) {
            qn_text_printf(out, "_quern_apart%u_%d;\n", k, d);
        } else {
            qn_text_puts(out, "0;\n");
        }
    }
}

/* Each thread finds boxes by itself. */
static void find_alone(qn_text *out, const qn_call *call)
{
    for (uint32_t k = 0; k < call->operand_count; k++) {
        char finder[32];
        snprintf(finder, sizeof finder, "_quern_finder%u", k);
        qn_text_printf(out, "    quern::finder<%d> %s;\n    {\n", call->fold.form.boxed + 1,
                       finder);
        know(out, call, k, finder);
        qn_text_printf(out, "        %s.begin(_quern_boxes, %u, %u);\n    }\n", finder, k,
                       call->operands[k].item_size);
    }
}

/* A thread for each operand does so for all. */
static void find_shared(qn_text *out, const qn_call *call)
{
    const int inside = call->fold.form.boxed + 1;
    qn_text_printf(out,
                   "    __shared__ quern::site _quern_sites[2][%u];\n"
                   "    __shared__ int _quern_haves[2][%d];\n"
                   "    quern::finder<%d> _quern_finder;\n"
                   "    const int _quern_finds = (int)threadIdx.x - %u;\n"
                   "    int _quern_item = 1, _quern_turn = 0;\n",
                   call->operand_count, inside, inside, QN_FOLD_BLOCK - call->operand_count);
    for (uint32_t k = 0; k < call->operand_count; k++) {
        qn_text_printf(out, "    if (_quern_finds == %u) {\n        _quern_item = %u;\n", k,
                       call->operands[k].item_size);
        know(out, call, k, "_quern_finder");
        qn_text_puts(out, "    }\n");
    }
    qn_text_puts(out, "    if (_quern_finds >= 0) {\n"
                      "        _quern_finder.begin(_quern_boxes, _quern_finds, _quern_item);\n"
                      "        _quern_finder.find(_quern_sites[0][_quern_finds], _quern_haves[0], "
                      "_quern_boxes, (_quern_index)blockIdx.x, (_quern_index)0);\n"
                      "    }\n"
                      "    __syncthreads();\n");
}

void qn_source_boxes_find(qn_text *out, const qn_call *call)
{
    const qn_fold_form *f = &call->fold.form;
    qn_text_printf(out,
                   "    const quern::boxes<%d, %d, %d, decltype(_quern_walk)> "
                   "_quern_boxes{_quern_walk};\n",
                   f->outer, f->boxed + 1, f->cuts);
    (f->finds ? find_shared : find_alone)(out, call);
}

void qn_source_boxes_site(qn_text *out, const qn_call *call)
{
    const qn_fold_form *f = &call->fold.form;
    if (f->finds) {
        qn_text_puts(out, "        const quern::site *const _quern_site = "
                          "_quern_sites[_quern_turn];\n"
                          "        const int *const _quern_have = _quern_haves[_quern_turn];\n"
                          "        _quern_turn ^= 1;\n");
    } else {
        qn_text_printf(out,
                       "        quern::site _quern_site[%u];\n"
                       "        int _quern_have[%d];\n",
                       call->operand_count, f->boxed + 1);
        for (uint32_t k = 0; k < call->operand_count; k++) {
            qn_text_printf(out,
                           "        _quern_finder%u.find(_quern_site[%u], _quern_have, "
                           "_quern_boxes, _quern_output, _quern_start);\n",
                           k, k);
        }
    }
    for (int d = 0; d < f->boxed; d++) {
        qn_text_printf(out, "        [[maybe_unused]] const int _quern_here%d = _quern_have[%d];\n",
                       d, d);
    }
    qn_text_printf(out, "        const int _quern_length = %s%d%s;\n",
                   f->known ? "" : "_quern_have[", f->known ? f->known : f->boxed,
                   f->known ? "" : "]");
}

void qn_source_boxes_seek(qn_text *out, const qn_call *call)
{
    if (call->fold.form.finds) {
        qn_text_puts(out, "        if (_quern_finds >= 0 && _quern_next < _quern_walk.beside) {\n"
                          "            _quern_finder.find(_quern_sites[_quern_turn][_quern_finds], "
                          "_quern_haves[_quern_turn], _quern_boxes, _quern_next, _quern_after);\n"
                          "        }\n");
    }
}

/* How numbers of positions divide, and how far scans lie apart. */
static void divide(qn_text *out, const qn_call *call)
{
    const qn_fold_form *f = &call->fold.form;
    for (int d = 0; d < f->boxed; d++) {
        qn_text_printf(out,
                       "    const quern::part _quern_part%d((int)_quern_walk.extent[%d].value);\n",
                       d, f->outer + d);
    }
    qn_text_printf(out, "    const quern::part _quern_part%d((int)_quern_walk.units);\n", f->boxed);
    qn_text_puts(out, "    const int _quern_scans = (int)_quern_walk.chunk;\n"
                      "    const int _quern_all = _quern_scans * (int)_quern_walk.units;\n");
    /* scans from one along a dimension to the next */
    for (int d = f->boxed - 1; d >= 0; d--) {
        if (d == f->boxed - 1) {
            qn_text_printf(out, "    [[maybe_unused]] constexpr int _quern_apart%d = 1;\n", d);
        } else {
            qn_text_printf(out,
                           "    const int _quern_apart%d = _quern_apart%d * _quern_part%d.by;\n", d,
                           d + 1, d + 1);
        }
    }
}

void qn_source_boxes_room(qn_text *out, const qn_call *call)
{
    divide(out, call);
    qn_text_puts(out, "    int _quern_used = 0;\n");
    for (uint32_t k = 0; k < call->operand_count; k++) {
        const uint32_t size = call->operands[k].item_size;
        if (by_runs(call, k)) {
            qn_source_image_room(out, call, k, home(call, k));
        } else if (home(call, k) == k && !is_repeated(call, k)) {
            qn_text_printf(
                out,
                "    const int _quern_pitch%u = quern::box_pitch<%u>((int)_quern_walk.units);\n"
                "    char *const _quern_room%u = _quern_memory + _quern_used;\n"
                "    _quern_used += (_quern_scans * _quern_pitch%u * %u + 15) & ~15;\n",
                k, size, k, k, size);
        }
    }
}

/* ---- on the way in and out ------------------------------------------------------------------ */

/* The coordinate along dimension `d`, of what is left of a number; the last one is all of it. */
static void next_coordinate(qn_text *out, const qn_fold_form *f, int levels, int d, bool last)
{
    if (!last) {
        qn_source_indent(out, levels);
        qn_text_printf(out, "_quern_outer = _quern_part%d.of(_quern_rest);\n", d);
        qn_source_indent(out, levels);
        qn_text_printf(out, "_quern_rest -= _quern_outer * _quern_part%d.by;\n", d);
    }
    if (qn_fold_box_varies(f, d)) {
        qn_source_indent(out, levels);
        if (d == f->boxed) {
            qn_text_puts(out, "_quern_inside &= _quern_rest < _quern_length;\n");
        } else {
            qn_text_printf(out, "_quern_inside &= _quern_rest < _quern_here%d;\n", d);
        }
    }
}

/* Where the element of number `_quern_own` lies, counted in the operand's own order. */
static void locate(qn_text *out, const qn_call *call, uint32_t k)
{
    const qn_fold_form *f = &call->fold.form;
    qn_text_puts(out, "                const int _quern_own = _quern_at + 256 * _quern_turn;\n"
                      "                [[maybe_unused]] int _quern_outer, _quern_rest = "
                      "_quern_own;\n"
                      "                int _quern_offset = 0, _quern_row = 0, _quern_spot = 0;\n"
                      "                bool _quern_inside = _quern_own < _quern_all;\n");
    for (int at = 0; at <= f->boxed; at++) {
        const int d = qn_fold_way_dim(f, k, at);
        const bool last = at == f->boxed;
        next_coordinate(out, f, 4, d, last);
        qn_text_printf(out,
                       "                _quern_offset += _quern_rest * "
                       "(int)_quern_walk.stride[%u][%d];\n",
                       k, f->outer + d);
        if (d == f->boxed) {
            qn_text_puts(out, "                _quern_spot = _quern_rest;\n");
        } else {
            qn_text_printf(out, "                _quern_row += _quern_rest * _quern_apart%d;\n", d);
        }
        qn_text_puts(out, last ? "" : "                _quern_rest = _quern_outer;\n");
    }
}

static void begin_loop(qn_text *out)
{
    qn_text_puts(out, "#pragma unroll 1\n"
                      "        for (int _quern_at = threadIdx.x; _quern_at < _quern_all; "
                      "_quern_at += 256 * _quern_turns) {\n");
}

static void begin_turns(qn_text *out)
{
    qn_text_puts(out, "#pragma unroll\n"
                      "            for (int _quern_turn = 0; _quern_turn < _quern_turns; "
                      "_quern_turn++) {\n");
}

/* Where the piece begins in memory. */
static void place_piece(qn_text *out, const qn_call *call, uint32_t k)
{
    const char *constant = call->operands[k].output ? "" : "const ";
    qn_text_printf(out,
                   "        const quern::site _quern_lies%u = _quern_site[%u];\n"
                   "        [[maybe_unused]] %schar *const _quern_piece%u = (%schar "
                   "*)_quern_array%u + _quern_lies%u.first;\n",
                   k, k, constant, k, constant, call->operand_parameter[k], k);
}

static void fetch(qn_text *out, const qn_call *call, uint32_t k)
{
    const uint32_t size = call->operands[k].item_size;
    begin_loop(out);
    begin_turns(out);
    locate(out, call, k);
    qn_text_printf(out,
                   "                if (_quern_inside) {\n"
                   "                    quern::bring_element<%u>(_quern_room%u + (_quern_row * "
                   "_quern_pitch%u + _quern_spot) * %u, _quern_piece%u + _quern_offset);\n"
                   "                }\n"
                   "            }\n"
                   "        }\n",
                   size, home(call, k), home(call, k), size, k);
}

void qn_source_boxes_fetch(qn_text *out, const qn_call *call)
{
    for (uint32_t k = 0; k < call->input_operands; k++) {
        place_piece(out, call, k);
        if (by_runs(call, k)) {
            qn_source_image_bring(out, call, k);
        } else if (!is_repeated(call, k)) {
            fetch(out, call, k);
        }
    }
}

static void keep(qn_text *out, const qn_call *call, uint32_t k)
{
    const uint32_t size = call->operands[k].item_size;
    const char *word = qn_source_word(size);
    begin_loop(out);
    begin_turns(out);
    locate(out, call, k);
    qn_text_printf(out,
                   "                if (_quern_inside) {\n"
                   "                    *(%s *)(_quern_piece%u + _quern_offset) = *(const %s "
                   "*)(_quern_room%u + (_quern_row * _quern_pitch%u + _quern_spot) * %u);\n"
                   "                }\n"
                   "            }\n"
                   "        }\n",
                   word, k, word, home(call, k), home(call, k), size);
}

void qn_source_boxes_keep(qn_text *out, const qn_call *call)
{
    for (uint32_t k = call->input_operands; k < call->operand_count; k++) {
        place_piece(out, call, k);
        if (by_runs(call, k)) {
            qn_source_image_take(out, call, k);
        } else {
            keep(out, call, k);
        }
    }
}

/* ---- scanning ------------------------------------------------------------------------------- */

/* What the coordinate along dimension `d` adds to where a scan begins. */
static void count_along(qn_text *out, const qn_call *call, int d)
{
    const qn_fold_form *f = &call->fold.form;
    for (uint32_t k = 0; k < call->operand_count; k++) {
        if (k >= call->input_operands) {
            qn_text_printf(out,
                           "            _quern_reduced%u += (long long)_quern_rest * "
                           "_quern_walk.stride[%u][%d];\n",
                           k, k, f->outer + d);
        }
        for (int at = 0; by_runs(call, k) && at < qn_fold_way_moves(f, k); at++) {
            if (qn_fold_way_dim(f, k, at) == d) {
                qn_text_printf(out,
                               "            _quern_scan%u += _quern_rest * _quern_apart%u_%d;\n", k,
                               k, d);
            }
        }
    }
}

/* Where its scans begin in the output's memory, of which the piece may be a later one. */
static void place_output(qn_text *out, const qn_call *call, uint32_t k)
{
    const qn_fold_form *f = &call->fold.form;
    qn_text_printf(out,
                   "            [[maybe_unused]] char *const _quern_place%u = (char "
                   "*)_quern_array%u + (_quern_site[%u].first",
                   k, call->operand_parameter[k], k);
    if (f->pieces) {
        qn_text_printf(out, " - (long long)_quern_start * _quern_walk.stride[%u][%d]", k, f->kept);
    }
    qn_text_puts(out, ");\n");
}

/* Whether scan `_quern_number` is there; where it begins in the outputs' memory, for what post may
 * keep of that; and, by runs, in shared memory, `_quern_scanK`. */
void qn_source_boxes_row(qn_text *out, const qn_call *call)
{
    const qn_fold_form *f = &call->fold.form;
    for (uint32_t k = 0; k < call->operand_count; k++) {
        if (k >= call->input_operands) {
            qn_text_printf(out, "            [[maybe_unused]] long long _quern_reduced%u = 0;\n",
                           k);
            place_output(out, call, k);
        }
        if (by_runs(call, k)) {
            qn_text_printf(out,
                           "            char *_quern_scan%u = _quern_memory + "
                           "_quern_site[%u].shelf;\n",
                           k, k);
        }
    }
    qn_text_puts(out,
                 "            bool _quern_inside = true;\n"
                 "            {\n"
                 "            [[maybe_unused]] int _quern_outer, _quern_rest = _quern_number;\n");
    for (int d = f->boxed - 1; d >= 0; d--) {
        next_coordinate(out, f, 3, d, d == 0);
        count_along(out, call, d);
        qn_text_puts(out, d > 0 ? "            _quern_rest = _quern_outer;\n" : "");
    }
    qn_text_puts(out, "            }\n");
}

/* The address of the element in shared memory. */
void qn_source_boxes_shelf(qn_text *out, const qn_call *call, uint32_t k)
{
    const qn_fold_form *f = &call->fold.form;
    if (is_repeated(call, k)) {
        qn_text_printf(out, "(_quern_piece%u)", k);
        return;
    }
    if (!by_runs(call, k)) {
        qn_text_printf(out, "(_quern_room%u + (_quern_number * _quern_pitch%u + _quern_spot) * %u)",
                       home(call, k), home(call, k), call->operands[k].item_size);
        return;
    }
    qn_text_printf(out, "(_quern_scan%u", k);
    for (int at = 0; at < qn_fold_way_moves(f, k); at++) {
        if (qn_fold_way_dim(f, k, at) == f->boxed) {
            qn_text_printf(out, " + _quern_spot * _quern_apart%u_%d", k, f->boxed);
        }
    }
    qn_text_puts(out, ")");
}

/* ---- maps ----------------------------------------------------------------------------------- */

void qn_source_map_shares(qn_text *out, const qn_call *call)
{
    if (call->fold.form.again) {
        qn_text_puts(out, "    const int _quern_shares = (int)_quern_walk.workers;\n"
                          "    const int _quern_each = ((int)_quern_walk.units + _quern_shares - "
                          "1) / _quern_shares;\n");
    } else {
        qn_text_puts(out, "    constexpr int _quern_shares = 1;\n"
                          "    const int _quern_each = (int)_quern_walk.units;\n");
    }
    qn_text_puts(out, "    const quern::part _quern_sharing(_quern_scans);\n");
}

/* An operation may leave an output as it is: then memory keeps what it has. */
void qn_source_map_body(qn_text *out, const qn_call *call)
{
    qn_source_shelves_item(out, call, "_quern_value");
    for (uint32_t k = call->input_operands; k < call->operand_count; k++) {
        qn_source_indent(out, 4);
        qn_text_printf(out,
                       "%s _quern_value%u = ", qn_source_type(call, call->operand_parameter[k]), k);
        qn_source_fold_value(out, call, k, "_quern_spot");
    }
    qn_source_invoke(out, call, 4, "0");
    qn_source_shelves_put(out, call, qn_source_boxes_shelf, "_quern_value");
}
