/* SPDX-License-Identifier: MIT
 *
 * source_scan_boxed: the CUDA source of a scan by boxes. In: a call whose fold is planned so. Out:
 * the text of templates/scan_boxed.cu, or of scan_boxed_tiles.cu where pieces of a scan have blocks
 * of their own, with its holes filled. The thing to know: dimensions inside a
 * box count from 0, and that of the scan is the last. `_quern_partD` divides by the extent of
 * dimension D, and `_quern_hereD` is how much of it this box has. In the room of operand K,
 * `_quern_roomK`, a scan begins `_quern_pitchK` elements behind the one before it. On its way in or
 * out the element at hand is `_quern_offset` bytes from where the box begins, in scan `_quern_row`
 * at `_quern_spot`. Operands that go by runs are those of source_scan_images.c.
 */
#include "embedded/templates.h"
#include "engine/source/source_folds.h"

#define TURNS 4 /* elements of a thread that are under way together */
#define BOXES 5 /* blocks that a processor should hold: */
#define TILES 3 /* where they wait for each other, too */

static uint32_t home(const qn_call *call, uint32_t k)
{
    return (uint32_t)qn_fold_lines_home(&call->fold.form, call->input_operands, k);
}

static bool by_runs(const qn_call *call, uint32_t k)
{
    return qn_fold_way_runs(&call->fold.form, k) > 0;
}

static bool is_cut(const qn_fold_form *f, int d)
{
    return d == f->boxed ? f->pieces : f->cuts >> d & 1;
}

static void form_hole(qn_text *out, const qn_call *call)
{
    const qn_fold_form *f = &call->fold.form;
    qn_source_index_type(out, f->wide);
    qn_source_flag(out, "exclusive", call->kernel->exclusive);
    qn_source_number(out, "known", f->known);
    qn_source_number(out, "turns", TURNS);
    if (f->split) {
        qn_source_number(out, "lanes", 1);
        qn_source_number(out, "bunch", f->strips);
        qn_source_flag(out, "bundles", f->bundles);
    } else {
        qn_source_flag(out, "pieces", f->pieces);
    }
}

/* ---- the box -------------------------------------------------------------------------------- */

/* The number of the box along what is cut says whether it is the last there. */
static void last_boxes(qn_text *out, const qn_call *call)
{
    static const char *const last[QN_FOLD_BOX_DIMS] = {"head", "across", "run"};
    const qn_fold_form *f = &call->fold.form;
    int cut = __builtin_popcount(f->cuts), outer = f->outer;
    qn_text_puts(out, cut > 0 ? "    _quern_index _quern_left = _quern_output;\n" : "");
    for (int d = f->boxed - 1; d >= 0; d--) {
        if (!is_cut(f, d)) {
            continue;
        }
        qn_text_printf(out,
                       "    if (const _quern_index _quern_own = _quern_left; true) {\n"
                       "        _quern_left = _quern_walk.extent[%d].divide(_quern_own);\n"
                       "        if (_quern_own - _quern_left * _quern_walk.extent[%d].value == "
                       "_quern_walk.extent[%d].value - 1) {\n"
                       "            _quern_here%d = (int)_quern_walk.%s;\n"
                       "        }\n"
                       "    }\n",
                       outer - 1, outer - 1, outer - 1, d, last[cut - 1]);
        outer--;
        cut--;
    }
}

static void here_hole(qn_text *out, const qn_call *call)
{
    for (int d = 0; d < call->fold.form.boxed; d++) {
        qn_text_printf(out, "    [[maybe_unused]] int _quern_here%d = _quern_part%d.by;\n", d, d);
    }
    last_boxes(out, call);
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

static void room_hole(qn_text *out, const qn_call *call)
{
    divide(out, call);
    qn_text_puts(out, "    int _quern_used = 0;\n");
    for (uint32_t k = 0; k < call->operand_count; k++) {
        const uint32_t size = call->operands[k].item_size;
        if (by_runs(call, k)) {
            qn_source_image_room(out, call, k, home(call, k));
        } else if (home(call, k) == k) {
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
    if (is_cut(f, d)) {
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

/* Where the piece begins in memory; and, by runs, in shared memory. */
static void place_piece(qn_text *out, const qn_call *call, uint32_t k)
{
    const qn_fold_form *f = &call->fold.form;
    qn_text_printf(out, "        auto *const _quern_piece%u = _quern_place%u", k, k);
    if (f->pieces) {
        qn_text_printf(out, " + (long long)_quern_start * _quern_walk.stride[%u][%d]", k, f->kept);
    }
    qn_text_puts(out, ";\n");
    if (by_runs(call, k)) {
        qn_source_image_place(out, call, k, home(call, k));
    }
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

static void fetch_hole(qn_text *out, const qn_call *call)
{
    for (uint32_t k = 0; k < call->operand_count; k++) {
        place_piece(out, call, k);
    }
    for (uint32_t k = 0; k < call->input_operands; k++) {
        if (by_runs(call, k)) {
            qn_source_image_bring(out, call, k);
        } else {
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

static void keep_hole(qn_text *out, const qn_call *call)
{
    for (uint32_t k = call->input_operands; k < call->operand_count; k++) {
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

/* Whether scan `_quern_number` is there; where it begins in the outputs' memory, for what post may
 * keep of that; and, by runs, in shared memory, `_quern_scanK`. */
static void row_hole(qn_text *out, const qn_call *call)
{
    const qn_fold_form *f = &call->fold.form;
    for (uint32_t k = 0; k < call->operand_count; k++) {
        if (k >= call->input_operands) {
            qn_text_printf(out, "            [[maybe_unused]] long long _quern_reduced%u = 0;\n",
                           k);
        }
        if (by_runs(call, k)) {
            qn_text_printf(out, "            char *_quern_scan%u = _quern_shelf%u;\n", k, k);
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
static void shelf(qn_text *out, const qn_call *call, uint32_t k)
{
    const qn_fold_form *f = &call->fold.form;
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

#define HOLES(X)                                                                                   \
    QN_SCAN_HOLES(X)                                                                               \
    X(BOUNDS, bounds)                                                                              \
    X(FORM, form)                                                                                  \
    X(STRIPS, strips)                                                                              \
    X(HERE, here)                                                                                  \
    X(ROOM, room)                                                                                  \
    X(FETCH, fetch)                                                                                \
    X(ROW, row)                                                                                    \
    X(TAKE, take)                                                                                  \
    X(ARGUMENTS, arguments)                                                                        \
    X(GIVE, give)                                                                                  \
    X(KEEP, keep)

enum { HOLES(QN_HOLE_ID) HOLE_COUNT };
_Static_assert(HOLE_COUNT <= QN_TEMPLATE_HOLES, "room for all holes");

quern_status qn_scan_boxed_source(qn_text *out, const qn_call *call, qn_header *headers,
                                  size_t *header_count)
{
    const bool split = call->fold.form.split;
    qn_text t[HOLE_COUNT] = {{0}};
    qn_source_scan_holes(t, call);
    qn_text_printf(&t[BOUNDS], "%d, %d", QN_FOLD_BLOCK, split ? TILES : BOXES);
    form_hole(&t[FORM], call);
    qn_text_puts(&t[STRIPS], call->fold.form.again ? "1" : "0");
    here_hole(&t[HERE], call);
    room_hole(&t[ROOM], call);
    fetch_hole(&t[FETCH], call);
    row_hole(&t[ROW], call);
    qn_source_shelves_take(&t[TAKE], call, shelf);
    qn_source_shelves_arguments(&t[ARGUMENTS], call);
    qn_source_shelves_give(&t[GIVE], call, shelf, "_quern_start + _quern_spot");
    keep_hole(&t[KEEP], call);
    const qn_source_template template = {
        .text = split ? qn_embedded_scan_boxed_tiles_cu : qn_embedded_scan_boxed_cu,
        .hole_names = (const char *const[]){HOLES(QN_HOLE_NAME)},
        .holes = t,
        .hole_count = HOLE_COUNT,
        .headers = QN_FOLD_HEADERS | QN_HEADER(QN_HEADER_SCAN) | QN_HEADER(QN_HEADER_BOX) |
                   QN_HEADER(QN_HEADER_LINES) | QN_HEADER(QN_HEADER_IMAGE) |
                   QN_HEADER(QN_HEADER_PACK) | (split ? QN_HEADER(QN_HEADER_STRIPS) : 0),
    };
    return qn_source_expand(out, call, &template, headers, header_count);
}
