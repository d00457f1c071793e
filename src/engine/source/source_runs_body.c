/* SPDX-License-Identifier: MIT
 *
 * source_runs_body: the loop over boxes whose inputs go in runs, in CUDA C++. In: the form of such
 * a plan. Out: the holes of templates/elementwise_boxed_runs.cu inside of its loop. The thing to
 * know: packs of the output are aligned in its memory, wherever its runs begin; what a run has
 * before the first and behind the last of them goes element by element, and with slack only the
 * first and last boxes of a run have any.
 */
#include "engine/source/source.h"

static const qn_box_way *way_of(const qn_call *call, uint32_t k)
{
    return &call->plan.form.way[k];
}

void qn_source_runs_offsets(qn_text *out, const qn_call *call)
{
    const qn_plan_form *f = &call->plan.form;
    const qn_box_way *y = way_of(call, qn_source_runs_output(call));
    qn_text_puts(out, "        _quern_index _quern_outer = _quern_pack;\n");
    qn_source_outer(out, call, f->box, "_quern_base");
    qn_text_puts(out, "        _quern_outer = _quern_pack;\n");
    for (int c = f->cuts - 1; c >= 0; c--) {
        const int d = f->box - f->cuts + c;
        const bool slack = qn_source_runs_slack(call, f->cut[c]) != 0;
        qn_text_printf(out,
                       "        _quern_coordinate = _quern_walk.outer[%d].divide(_quern_outer);\n"
                       "        _quern_outer -= _quern_coordinate * _quern_walk.outer[%d].value;\n"
                       "        _quern_need |= (unsigned)(_quern_outer == "
                       "_quern_walk.outer[%d].value - 1",
                       d, d, d);
        if (slack) { /* the last box has more than others even where it is whole */
            qn_text_printf(out, ") << %d;\n        _quern_first = _quern_outer == 0;\n", c);
        } else {
            qn_text_printf(out, " && %s != ", qn_source_box_last(c));
            qn_source_runs_extent(out, call, f->cut[c]);
            qn_text_printf(out, ") << %d;\n", c);
        }
        qn_text_puts(out, "        _quern_outer = _quern_coordinate;\n");
    }
    for (uint32_t k = 0; k < call->operand_count; k++) {
        qn_text_printf(out, "        _quern_places[%u].begin(_quern_array%u, %s_quern_base%u", k,
                       call->operand_parameter[k], f->near ? "(int)" : "", k);
        if (f->slack != 0) {
            const int d = y->order[y->count - y->run];
            qn_text_printf(out, " - %d * (long long)_quern_walk.stride[%u][%d]", f->slack, k, d);
        }
        if (qn_source_runs_fetched(call, k)) {
            qn_text_printf(out, " + (long long)_quern_lowest%u, _quern_memories[%u]);\n", k, k);
        } else {
            qn_text_puts(out, ", quern::memory{0, 0});\n");
        }
    }
}

/* Copied from shared memory, in which the next box's takes its place. */
void qn_source_runs_boxes(qn_text *out, const qn_call *call)
{
    for (uint32_t k = 0; k < call->operand_count; k++) {
        const char *constant = call->operands[k].output ? "" : "const ";
        const uint32_t p = call->operand_parameter[k];
        qn_text_printf(out, "        const quern::place _quern_place%u = _quern_places[%u];\n", k,
                       k);
        if (!qn_source_runs_fetched(call, k)) {
            qn_text_printf(out,
                           "        [[maybe_unused]] %schar *const _quern_box%u = (%schar *)"
                           "_quern_array%u + (_quern_place%u.at + _quern_place%u.past - "
                           "(long long)_quern_array%u);\n",
                           constant, k, constant, p, k, k, p);
        } else {
            qn_text_printf(out,
                           "        const unsigned char *const _quern_start%u = _quern_tile%u + "
                           "_quern_place%u.past;\n",
                           k, k, k);
        }
    }
}

void qn_source_runs_fetch(qn_text *out, const qn_call *call)
{
    for (uint32_t k = 0; k < call->operand_count; k++) {
        if (qn_source_runs_fetched(call, k)) {
            qn_text_printf(out,
                           "        quern::fetch_runs(_quern_tile%u, _quern_fetched%u, %s, "
                           "_quern_count%u, _quern_pieces%u, _quern_bytes%u, (const char *)"
                           "_quern_array%u, _quern_place%u);\n",
                           k, k, call->plan.form.cuts != 0 ? "_quern_need" : "0", k, k, k,
                           call->operand_parameter[k], k);
        }
    }
}

/* An input that lies as the output does: its packs come from memory. */
static bool is_along(const qn_call *call, uint32_t k)
{
    return call->plan.form.access[k] == QN_ACCESS_VECTOR;
}

/* Where such inputs have element `_quern_first` of run `_quern_run`, as packs or as elements. */
static void along(qn_text *out, const qn_call *call, uint32_t y, bool packs)
{
    for (uint32_t k = 0; k < call->operand_count; k++) {
        if (!is_along(call, k)) {
            continue;
        }
        const uint32_t item = call->operands[k].item_size;
        qn_text_printf(out,
                       "            const char *const _quern_along%u = _quern_box%u + "
                       "(_quern_line%u[_quern_run] / %u + _quern_first) * %u;\n",
                       k, k, y, call->operands[y].item_size, item);
        if (packs) {
            qn_text_printf(out,
                           "            %s<%s, %d> _quern_pack%u;\n"
                           "            _quern_pack%u.load(_quern_along%u);\n",
                           qn_source_pack(call, k),
                           qn_source_type(call, call->operand_parameter[k]), call->plan.form.lanes,
                           k, k, k);
        }
    }
}

/* The value of input `k`, in shared memory at `_quern_spotK`; of what lies as the output does, from
 * a pack or from memory. */
static void load(qn_text *out, const qn_call *call, uint32_t k, bool packs)
{
    const char *type = qn_source_type(call, call->operand_parameter[k]);
    qn_text_printf(out, "                const %s _quern_value%u = ", type, k);
    qn_source_read_begin(out, call, k);
    if (packs && is_along(call, k)) {
        qn_text_printf(out, "_quern_pack%u.v[_quern_lane]", k);
    } else {
        qn_text_printf(out, "*(const %s *)_quern_%s%u", type,
                       qn_source_runs_fetched(call, k) ? "spot"
                       : is_along(call, k)             ? "along"
                                                       : "box",
                       k);
    }
    qn_source_read_end(out, call, k);
    qn_text_puts(out, ";\n");
}

static void load_inputs(qn_text *out, const qn_call *call, bool packs)
{
    for (uint32_t k = 0; k < call->operand_count; k++) {
        if (!call->operands[k].output) {
            load(out, call, k, packs);
        }
    }
}

/* The elements of this box's runs, of output `y`, and their whole packs. */
static void length_of_run(qn_text *out, const qn_call *call, uint32_t y)
{
    const qn_plan_form *f = &call->plan.form;
    const qn_box_way *w = way_of(call, y);
    const int c = qn_plan_cut_of(f, w->order[w->count - w->run]);
    qn_text_puts(out, "        const int _quern_here = ");
    if (c >= 0) {
        qn_text_printf(out, "_quern_need >> %d & 1 ? %s * _quern_inner : ", c,
                       qn_source_box_last(c));
    }
    qn_text_puts(out, "_quern_length;\n");
    if (f->slack != 0) {
        qn_text_printf(out,
                       "        const bool _quern_ends = _quern_need >> %d & 1;\n"
                       "        const quern::part _quern_groups = _quern_ends ? "
                       "_quern_more : _quern_most;\n",
                       c);
    }
}

/* Where run `_quern_run` lies, and what the box gives of it. */
static void window_of_run(qn_text *out, const qn_call *call, uint32_t y)
{
    const qn_plan_form *f = &call->plan.form;
    qn_text_printf(out,
                   "            const int _quern_offset = _quern_line%u[_quern_run] + "
                   "_quern_place%u.past;\n"
                   "            const quern::window<%u, %d> _quern_window(_quern_offset",
                   y, y, call->operands[y].item_size, f->lanes);
    if (f->slack != 0) {
        qn_text_printf(out,
                       " + (int)(_quern_place%u.at & 16), _quern_here, _quern_early, "
                       "_quern_begins, _quern_ends",
                       y);
    } else {
        qn_text_puts(out, ", _quern_here");
    }
    qn_text_puts(out, ");\n");
}

/* For each input K that goes through shared memory, `text`, in which K stands up to five times. */
static void each_fetched(qn_text *out, const qn_call *call, const char *text)
{
    for (uint32_t k = 0; k < call->operand_count; k++) {
        if (qn_source_runs_fetched(call, k)) {
            qn_text_printf(out, text, k, k, k, k, k);
        }
    }
}

/* Where shared memory has of each input the element `_quern_first` of a run of `dims` dimensions.
 */
static void spots_of_run(qn_text *out, const qn_call *call, int dims)
{
    if (dims == 1) {
        each_fetched(out, call,
                     "            const unsigned char *_quern_spot%u = _quern_start%u + "
                     "(_quern_line%u[_quern_run] + _quern_first * _quern_step%u);\n");
        return;
    }
    qn_text_puts(out, "            const int _quern_row = _quern_row_length.of(_quern_first);\n"
                      "            int _quern_column = _quern_first - _quern_row * "
                      "_quern_row_length.by;\n");
    if (dims == QN_BOX_EVEN) {
        each_fetched(out, call,
                     "            const unsigned char *_quern_spot%u = _quern_start%u + "
                     "(_quern_line%u[_quern_run] + _quern_row * _quern_down%u + _quern_column * "
                     "_quern_step%u);\n");
        return;
    }
    each_fetched(out, call,
                 "            const unsigned char *const _quern_begin%u = _quern_start%u + "
                 "_quern_line%u[_quern_run];\n");
    each_fetched(out, call, "            const int *_quern_next%u = _quern_slot%u + _quern_row;\n");
    each_fetched(out, call,
                 "            const unsigned char *_quern_spot%u = _quern_begin%u + "
                 "(*_quern_next%u++ + _quern_column * _quern_step%u);\n");
}

/* On to the next element. */
static void next_spots(qn_text *out, const qn_call *call, int dims)
{
    if (dims == 1) {
        each_fetched(out, call, "                _quern_spot%u += _quern_step%u;\n");
        return;
    }
    qn_text_puts(out, "                const bool _quern_over = ++_quern_column == "
                      "_quern_row_length.by;\n");
    if (dims == QN_BOX_EVEN) {
        each_fetched(out, call,
                     "                _quern_spot%u += _quern_over ? _quern_jump%u : "
                     "_quern_step%u;\n");
    } else {
        each_fetched(out, call,
                     "                _quern_spot%u = _quern_over ? _quern_begin%u + "
                     "*_quern_next%u++ : _quern_spot%u + _quern_step%u;\n");
    }
    if (!call->plan.form.paired) {
        qn_text_puts(out, "                _quern_column = _quern_over ? 0 : _quern_column;\n");
    }
}

/* Packs that are aligned and whole. Groups of threads take them in an order in which those of a
 * warp meet other banks. */
static void packs(qn_text *out, const qn_call *call, uint32_t y)
{
    const uint32_t item = call->operands[y].item_size;
    const int lanes = call->plan.form.lanes;
    const char *type = qn_source_type(call, call->operand_parameter[y]);
    const int dims = way_of(call, y)->run;
    qn_text_puts(out,
                 "        const int _quern_all = _quern_runs * _quern_groups.by;\n"
                 "        const quern::part _quern_turned = "
                 "_quern_by_runs ? _quern_each_run : _quern_groups;\n"
                 "        const int _quern_on = (256 >> _quern_group) * _quern_stir % _quern_all;\n"
                 "        int _quern_mine = (int)(threadIdx.x >> _quern_group) * _quern_stir % "
                 "_quern_all;\n"
                 "#pragma unroll 1\n"
                 "        for (int _quern_at = threadIdx.x; _quern_at < _quern_all << "
                 "_quern_group; _quern_at += 256) {\n"
                 "            const int _quern_times = _quern_turned.of(_quern_mine);\n"
                 "            const int _quern_over = _quern_mine - _quern_times * "
                 "_quern_turned.by;\n"
                 "            const int _quern_run = _quern_by_runs ? _quern_over : _quern_times;\n"
                 "            const int _quern_pack = ((_quern_by_runs ? _quern_times : "
                 "_quern_over) << _quern_group) + (_quern_at & (1 << _quern_group) - 1);\n"
                 "            _quern_mine += _quern_on;\n"
                 "            _quern_mine -= _quern_mine >= _quern_all ? _quern_all : 0;\n"
                 "            if (_quern_need != 0 && "
                 "(_quern_given0[_quern_run] & _quern_need) != _quern_need) {\n"
                 "                continue;\n"
                 "            }\n");
    window_of_run(out, call, y);
    qn_text_printf(out,
                   "            const int _quern_first = _quern_window.head + _quern_pack * %d;\n"
                   "            if (_quern_first + %d > _quern_window.high) {\n"
                   "                continue;\n"
                   "            }\n"
                   "            void *const _quern_there = _quern_begin + (_quern_offset + "
                   "_quern_first * %u);\n",
                   lanes, lanes, item);
    spots_of_run(out, call, dims);
    along(out, call, y, true);
    qn_text_printf(out,
                   "            %s<%s, %d> _quern_pack%u;\n"
                   "            _quern_pack%u.load(_quern_there);\n"
                   "#pragma unroll\n"
                   "            for (int _quern_lane = 0; _quern_lane < %d; _quern_lane++) {\n",
                   qn_source_pack(call, y), type, lanes, y, y, lanes);
    load_inputs(out, call, true);
    qn_text_printf(out, "                %s &_quern_value%u = _quern_pack%u.v[_quern_lane];\n",
                   type, y, y);
    qn_source_invoke(out, call, 4, "0");
    next_spots(out, call, dims);
    qn_text_printf(out,
                   "            }\n            _quern_pack%u.store(_quern_there);\n        }\n", y);
}

/* Whether this box has elements of runs that are in no pack. */
static void ragged(qn_text *out, const qn_call *call, uint32_t y)
{
    const qn_plan_form *f = &call->plan.form;
    const qn_box_way *w = way_of(call, y);
    qn_text_puts(out, "        const bool _quern_ragged = ");
    if (f->slack != 0) {
        qn_text_puts(out, "_quern_begins || _quern_ends;\n");
    } else if (f->whole) {
        qn_text_printf(out, "_quern_need >> %d & 1;\n",
                       qn_plan_cut_of(f, w->order[w->count - w->run]));
    } else {
        qn_text_puts(out, "true;\n");
    }
}

/* What the box gives of a run before its first pack and behind its last: a thread for each element
 * that may be there, so that the parts of a sector come together. */
static void ends(qn_text *out, const qn_call *call, uint32_t y)
{
    const uint32_t item = call->operands[y].item_size;
    const int lanes = call->plan.form.lanes;
    const char *type = qn_source_type(call, call->operand_parameter[y]);
    const int dims = way_of(call, y)->run;
    ragged(out, call, y);
    qn_text_printf(
        out,
        "        const int _quern_most_ends = _quern_ragged ? %d * _quern_runs : 0;\n"
        "#pragma unroll 1\n"
        "        for (int _quern_at = threadIdx.x; _quern_at < _quern_most_ends; "
        "_quern_at += 256) {\n"
        "            const int _quern_run = _quern_at / %d, _quern_end = _quern_at %% %d;\n"
        "            if ((_quern_given0[_quern_run] & _quern_need) != _quern_need) {\n"
        "                continue;\n"
        "            }\n",
        2 * lanes, 2 * lanes, 2 * lanes);
    window_of_run(out, call, y);
    qn_text_printf(out, "            const int _quern_first = _quern_window.end(_quern_end);\n"
                        "            if (_quern_first >= 0) {\n"
                        "                constexpr int _quern_lane = 0;\n");
    spots_of_run(out, call, dims);
    along(out, call, y, false);
    load_inputs(out, call, false);
    qn_text_printf(
        out,
        "                %s *const _quern_there = (%s *)(_quern_begin + (_quern_offset + "
        "_quern_first * %u));\n"
        "                %s _quern_value%u = ",
        type, type, item, type, y);
    qn_source_read_begin(out, call, y);
    qn_text_puts(out, "*_quern_there");
    qn_source_read_end(out, call, y);
    qn_text_puts(out, ";\n");
    qn_source_invoke(out, call, 4, "0");
    qn_text_printf(
        out, "                *_quern_there = _quern_value%u;\n            }\n        }\n", y);
}

void qn_source_runs_body(qn_text *out, const qn_call *call)
{
    const uint32_t y = qn_source_runs_output(call), p = call->operand_parameter[y];
    length_of_run(out, call, y);
    qn_text_printf(
        out,
        "        char *const _quern_begin = (char *)_quern_array%u + (_quern_place%u.at - "
        "(long long)_quern_array%u);\n",
        p, y, p);
    packs(out, call, y);
    const qn_plan_form *f = &call->plan.form;
    const qn_box_way *w = way_of(call, y);
    if (f->lanes > 1 && !(f->whole && qn_plan_cut_of(f, w->order[w->count - w->run]) < 0)) {
        ends(out, call, y);
    }
}
