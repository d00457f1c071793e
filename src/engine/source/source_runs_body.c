/* SPDX-License-Identifier: MIT
 *
 * source_runs_body: the loop over boxes whose inputs go in runs, in CUDA C++. In: the form of such
 * a plan. Out: the holes of templates/elementwise_boxed_runs.cu inside of its loop. The thing to
 * know: packs of the output are aligned in its memory, wherever its runs begin; what a run has
 * before the first and behind the last of them goes element by element.
 */
#include "engine/source/source.h"

#define HELD 4 /* pieces of a thread under way at once */

static const qn_box_way *way_of(const qn_call *call, uint32_t k)
{
    return &call->plan.form.way[k];
}

void qn_source_runs_offsets(qn_text *out, const qn_call *call)
{
    const qn_plan_form *f = &call->plan.form;
    qn_text_puts(out, "        _quern_index _quern_outer = _quern_pack;\n");
    qn_source_outer(out, call, f->box, "_quern_base");
    qn_text_puts(out, "        _quern_outer = _quern_pack;\n");
    for (int c = f->cuts - 1; c >= 0; c--) {
        const int d = f->box - f->cuts + c;
        qn_text_printf(out,
                       "        _quern_coordinate = _quern_walk.outer[%d].divide(_quern_outer);\n"
                       "        _quern_need |= (unsigned)(_quern_outer - _quern_coordinate * "
                       "_quern_walk.outer[%d].value == _quern_walk.outer[%d].value - 1 && "
                       "%s != ",
                       d, d, d, qn_source_box_last(c));
        qn_source_runs_extent(out, call, f->cut[c]);
        qn_text_printf(out, ") << %d;\n        _quern_outer = _quern_coordinate;\n", c);
    }
    for (uint32_t k = 0; k < call->operand_count; k++) {
        qn_text_printf(out, "        _quern_places[%u].begin(_quern_array%u, %s_quern_base%u", k,
                       call->operand_parameter[k], f->near ? "(int)" : "", k);
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
            const bool across = qn_source_runs_across(call, k) && call->operands[k].item_size <= 4;
            qn_text_printf(out,
                           "        quern::fetch_pieces<%d>(_quern_tile%u, _quern_pieces%u, %s, "
                           "_quern_count%u, !quern::is_odd((int)_quern_walk.stride[%u][%d], %s), "
                           "(const char *)_quern_array%u, _quern_place%u);\n",
                           HELD, k, k, call->plan.form.cuts != 0 ? "_quern_need" : "0", k, k,
                           call->plan.form.ndim - 1, across ? "true" : "false",
                           call->operand_parameter[k], k);
        }
    }
}

/* The value of input `k`; `spot`: where it is from `_quern_spotK`. */
static void load(qn_text *out, const qn_call *call, uint32_t k, const char *spot)
{
    const char *type = qn_source_type(call, call->operand_parameter[k]);
    qn_text_printf(out, "                const %s _quern_value%u = ", type, k);
    qn_source_read_begin(out, call, k);
    if (qn_source_runs_fetched(call, k)) {
        qn_text_printf(out, "*(const %s *)(_quern_spot%u + ", type, k);
        qn_text_printf(out, spot, k);
        qn_text_puts(out, ")");
    } else {
        qn_text_printf(out, "*(const %s *)_quern_box%u", type, k);
    }
    qn_source_read_end(out, call, k);
    qn_text_puts(out, ";\n");
}

static void load_inputs(qn_text *out, const qn_call *call, const char *spot)
{
    for (uint32_t k = 0; k < call->operand_count; k++) {
        if (!call->operands[k].output) {
            load(out, call, k, spot);
        }
    }
}

/* The elements of this box's runs, of output `y`. */
static void length_of_run(qn_text *out, const qn_call *call, uint32_t y)
{
    const qn_box_way *w = way_of(call, y);
    const int c = qn_source_runs_cut(&call->plan.form, w->order[w->count - w->run]);
    qn_text_puts(out, "        const int _quern_here = ");
    if (c >= 0) {
        qn_text_printf(out, "_quern_need >> %d & 1 ? %s * _quern_inner : ", c,
                       qn_source_box_last(c));
    }
    qn_text_puts(out, "_quern_length;\n");
}

/* Where shared memory has of each input the element `_quern_first` of a run, or the begin of one.
 */
static void spots_of_run(qn_text *out, const qn_call *call, bool one)
{
    for (uint32_t k = 0; k < call->operand_count; k++) {
        if (qn_source_runs_fetched(call, k)) {
            qn_text_printf(
                out,
                "            const unsigned char *const _quern_spot%u = _quern_start%u + "
                "_quern_line%u[_quern_run]",
                k, k, k);
            qn_text_printf(out, one ? " + _quern_first * _quern_step%u;\n" : ";\n", k);
        }
    }
}

/* Where an input has lane `_quern_lane` of what begins at `_quern_first`, from `_quern_spotK`. */
static const char *lane_of(bool one)
{
    return one ? "_quern_lane * _quern_step%u" : "_quern_slot%u[_quern_first + _quern_lane]";
}

/* Packs that are aligned and whole. */
static void packs(qn_text *out, const qn_call *call, uint32_t y)
{
    const uint32_t item = call->operands[y].item_size;
    const char *type = qn_source_type(call, call->operand_parameter[y]);
    const bool one = way_of(call, y)->run == 1;
    qn_text_printf(
        out,
        "#pragma unroll 2\n"
        "        for (int _quern_at = threadIdx.x; _quern_at < _quern_takes; "
        "_quern_at += 256) {\n"
        "            const int _quern_group = _quern_packs.of(_quern_at >> _quern_shift);\n"
        "            const int _quern_run = (_quern_group << _quern_shift) + "
        "(_quern_at & ((1 << _quern_shift) - 1));\n"
        "            const int _quern_offset = _quern_line%u[min(_quern_run, "
        "_quern_runs - 1)] + _quern_place%u.past;\n",
        y, y);
    qn_text_printf(
        out,
        "            const int _quern_first = ((_quern_at >> _quern_shift) - _quern_group "
        "* _quern_packs.by) * %d - (_quern_offset & %u) / %u;\n"
        "            if (_quern_run >= _quern_runs || _quern_first < 0 || "
        "_quern_first + %d > _quern_here || "
        "(_quern_need != 0 && (_quern_given0[_quern_run] & _quern_need) != "
        "_quern_need)) {\n"
        "                continue;\n"
        "            }\n"
        "            void *const _quern_there = _quern_begin + (_quern_offset + "
        "_quern_first * %u);\n",
        QN_BOX_PACK, QN_BOX_PACK * item - 1, item, QN_BOX_PACK, item);
    spots_of_run(out, call, one);
    qn_text_printf(out,
                   "            %s<%s, %d> _quern_pack%u;\n"
                   "            _quern_pack%u.load(_quern_there);\n"
                   "#pragma unroll\n"
                   "            for (int _quern_lane = 0; _quern_lane < %d; _quern_lane++) {\n",
                   qn_source_pack(call, y), type, QN_BOX_PACK, y, y, QN_BOX_PACK);
    load_inputs(out, call, lane_of(one));
    qn_text_printf(out, "                %s &_quern_value%u = _quern_pack%u.v[_quern_lane];\n",
                   type, y, y);
    qn_source_invoke(out, call, 4, "0");
    qn_text_printf(out,
                   "            }\n            _quern_pack%u.store(_quern_there);\n        }\n", y);
}

/* What a run has before its first pack and behind its last, one by one. */
static void ends(qn_text *out, const qn_call *call, uint32_t y)
{
    const uint32_t item = call->operands[y].item_size;
    const char *type = qn_source_type(call, call->operand_parameter[y]);
    const bool one = way_of(call, y)->run == 1;
    qn_text_printf(out,
                   "#pragma unroll 1\n"
                   "        for (int _quern_at = threadIdx.x; _quern_at < 2 * _quern_runs; "
                   "_quern_at += 256) {\n"
                   "            const int _quern_run = _quern_at >> 1;\n"
                   "            const int _quern_offset = _quern_line%u[_quern_run] + "
                   "_quern_place%u.past;\n"
                   "            const int _quern_head = min((-_quern_offset & %u) / %u, "
                   "_quern_here);\n"
                   "            if ((_quern_given0[_quern_run] & _quern_need) != _quern_need) {\n"
                   "                continue;\n"
                   "            }\n",
                   y, y, QN_BOX_PACK * item - 1, item);
    qn_text_printf(out,
                   "            const int _quern_end = _quern_at & 1 ? _quern_here : _quern_head;\n"
                   "            int _quern_first = _quern_at & 1 ? _quern_head + "
                   "((_quern_here - _quern_head) & ~%d) : 0;\n"
                   "#pragma unroll 1\n"
                   "            for (; _quern_first < _quern_end; _quern_first++) {\n"
                   "                constexpr int _quern_lane = 0;\n",
                   QN_BOX_PACK - 1);
    spots_of_run(out, call, one);
    load_inputs(out, call, lane_of(one));
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
    ends(out, call, y);
}
