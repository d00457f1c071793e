/* SPDX-License-Identifier: MIT
 *
 * source_boxed_runs: the walk by boxes whose inputs go in runs, in CUDA C++. In: the form of such a
 * plan. Out: the holes of templates/elementwise_boxed_runs.cu in front of its loop. The thing to
 * know: a box is the same everywhere but for its place, so what lies where in it is written once
 * into tables in shared memory: `_quern_fetchedK` has the runs of an input, `_quern_lineK` where an
 * input has the begin of a run of the output, or where that goes. Runs of several dimensions have
 * rows along the last one, in which an input's elements lie `_quern_stepK` from each other. Of two
 * dimensions rows lie `_quern_downK` from each other; of more `_quern_slotK` has where each begins.
 * `_quern_pitchK_D` is how far elements along dimension D lie from each other in shared memory.
 */
#include "engine/source/source.h"
#include <stdio.h>

static const qn_box_way *way_of(const qn_call *call, uint32_t k)
{
    return &call->plan.form.way[k];
}

/* An input that goes through shared memory. */
bool qn_source_runs_fetched(const qn_call *call, uint32_t k)
{
    return call->plan.form.access[k] == QN_ACCESS_TILED;
}

/* The output: there is one. */
uint32_t qn_source_runs_output(const qn_call *call)
{
    uint32_t k = 0;
    while (!call->operands[k].output) {
        k++;
    }
    return k;
}

/* An extent of the walk. */
void qn_source_runs_extent(qn_text *out, const qn_call *call, int d)
{
    if (d == call->plan.form.ndim - 1) {
        qn_text_puts(out, "(int)_quern_walk.row.value");
    } else {
        qn_text_printf(out, "(int)_quern_walk.outer[%d].value", d);
    }
}

int qn_source_runs_slack(const qn_call *call, int d)
{
    const qn_box_way *w = way_of(call, qn_source_runs_output(call));
    return w->order[w->count - w->run] == d ? call->plan.form.slack : 0;
}

/* The product of the extents of dimensions [first, end) of an order. */
static void product(qn_text *out, const qn_call *call, const qn_box_way *w, int first, int end)
{
    for (int at = first; at < end; at++) {
        qn_text_puts(out, at == first ? "" : " * ");
        qn_source_runs_extent(out, call, w->order[at]);
    }
    qn_text_puts(out, first < end ? "" : "1");
}

/* How an input lies in memory and in shared memory. */
static void input_sizes(qn_text *out, const qn_call *call, uint32_t k)
{
    const qn_box_way *w = way_of(call, k);
    const uint32_t item = call->operands[k].item_size;
    const int inner = w->count - w->run;
    qn_text_printf(out, "    int _quern_block%u = %u, _quern_lowest%u = 0;\n", k, item, k);
    for (int at = w->count - 1; at >= 0; at--) {
        const int d = w->order[at];
        if (at == inner - 1) {
            qn_text_printf(out, "    const int _quern_bytes%u = _quern_block%u;\n", k, k);
        }
        qn_text_printf(out, "    const int _quern_pitch%u_%d = ", k, d);
        if (at >= inner) {
            qn_text_printf(out, "abs((int)_quern_walk.stride[%u][%d]);\n", k, d);
        } else {
            qn_text_printf(out, "quern::pitch(_quern_block%u, (int)_quern_walk.stride[%u][%d]);\n",
                           k, k, d);
        }
        qn_text_printf(out, "    _quern_block%u += _quern_pitch%u_%d * (", k, k, d);
        qn_source_runs_extent(out, call, d);
        qn_text_printf(out,
                       " - 1);\n    _quern_lowest%u += min((int)_quern_walk.stride[%u][%d], 0)"
                       " * (",
                       k, k, d);
        qn_source_runs_extent(out, call, d);
        qn_text_puts(out, " - 1);\n");
    }
    if (inner == 0) {
        qn_text_printf(out, "    const int _quern_bytes%u = _quern_block%u;\n", k, k);
    }
    qn_text_printf(out,
                   "    const quern::part _quern_pieces%u((_quern_bytes%u + 30) / 16);\n"
                   "    const int _quern_count%u = ",
                   k, k, k);
    product(out, call, w, 0, inner);
    qn_text_puts(out, ";\n");
}

/* Groups of threads for what a box gives of a run, and the last box, to which the rest is left. */
static void groups_of_run(qn_text *out, const qn_call *call)
{
    const qn_plan_form *f = &call->plan.form;
    qn_text_printf(out,
                   "    const int _quern_side = %d << _quern_group;\n"
                   "    const quern::part _quern_each_run(_quern_runs);\n",
                   f->lanes);
    if (f->slack == 0) {
        qn_text_puts(out, "    const quern::part _quern_groups((_quern_length + _quern_side - 1) / "
                          "_quern_side);\n");
        return;
    }
    qn_text_printf(
        out,
        "    const int _quern_early = %d * _quern_inner;\n"
        "    const quern::part _quern_most((_quern_length - _quern_early + _quern_side - "
        "1) / _quern_side), _quern_more(_quern_most.by + 1);\n",
        f->slack);
}

void qn_source_runs_sizes(qn_text *out, const qn_call *call)
{
    const qn_box_way *w = way_of(call, qn_source_runs_output(call));
    for (uint32_t k = 0; k < call->operand_count; k++) {
        if (qn_source_runs_fetched(call, k)) {
            input_sizes(out, call, k);
        }
    }
    qn_text_puts(out, "    const int _quern_length = ");
    product(out, call, w, w->count - w->run, w->count);
    qn_text_puts(out, ", _quern_runs = ");
    product(out, call, w, 0, w->count - w->run);
    qn_text_puts(out, ";\n    [[maybe_unused]] const int _quern_inner = ");
    product(out, call, w, w->count - w->run + 1, w->count);
    qn_text_puts(out, ";\n");
    groups_of_run(out, call);
    if (w->run > 1) {
        qn_text_puts(
            out,
            "    [[maybe_unused]] const quern::part "
            "_quern_row_length((int)_quern_walk.row.value);\n"
            "    [[maybe_unused]] const int _quern_rows = _quern_row_length.of(_quern_length);\n");
    }
}

/* A part of the pool: `count` elements of a type. */
static void carve(qn_text *out, const char *type, const char *name, uint32_t k, const char *count)
{
    qn_text_printf(out,
                   "    %s *const %s%u = (%s *)(_quern_pool + _quern_next);\n"
                   "    _quern_next += (int)(sizeof(%s) * (%s) + 15) & ~15;\n",
                   type, name, k, type, type, count);
}

void qn_source_runs_pool(qn_text *out, const qn_call *call)
{
    const uint32_t y = qn_source_runs_output(call);
    qn_text_puts(out, "    int _quern_next = 0;\n");
    for (uint32_t k = 0; k < call->operand_count; k++) {
        char count[32];
        if (!qn_source_runs_fetched(call, k)) {
            continue;
        }
        snprintf(count, sizeof count, "_quern_block%u + 30", k);
        carve(out, "unsigned char", "_quern_tile", k, count);
        snprintf(count, sizeof count, "_quern_count%u", k);
        carve(out, "int2", "_quern_fetched", k, count);
        carve(out, "int", "_quern_line", k, "_quern_runs");
        if (way_of(call, y)->run > QN_BOX_EVEN) {
            carve(out, "int", "_quern_slot", k, "_quern_rows + 1"); /* one is behind the last */
        }
    }
    carve(out, "int", "_quern_line", y, "_quern_runs");
    carve(out, "unsigned char", "_quern_given", 0, "_quern_runs");
}

/* The next coordinate of `_quern_outer`, along dimension `d`, and if it is cut, whether the last
 * box has it. */
static void coordinate(qn_text *out, const qn_call *call, int d)
{
    const int c = qn_plan_cut_of(&call->plan.form, d);
    qn_text_puts(out, "        _quern_coordinate = _quern_outer;\n");
    if (d == call->plan.form.ndim - 1) {
        qn_text_puts(out,
                     "        _quern_outer = (int)_quern_walk.row.divide(_quern_coordinate);\n");
    } else {
        qn_text_printf(
            out, "        _quern_outer = (int)_quern_walk.outer[%d].divide(_quern_coordinate);\n",
            d);
    }
    qn_text_puts(out, "        _quern_coordinate -= _quern_outer * ");
    qn_source_runs_extent(out, call, d);
    qn_text_puts(out, ";\n");
    if (c >= 0) {
        qn_text_printf(out, "        _quern_part |= (unsigned)(_quern_coordinate < %s) << %d;\n",
                       qn_source_box_last(c), c);
    }
}

/* Bits of the cuts along which the runs of an operand do not differ: all boxes have them. */
static unsigned other_cuts(const qn_plan_form *f, const qn_box_way *w)
{
    unsigned bits = (1u << f->cuts) - 1;
    for (int at = 0; at < w->count - w->run; at++) {
        const int c = qn_plan_cut_of(f, w->order[at]);
        bits &= ~(c < 0 ? 0 : 1u << c);
    }
    return bits;
}

/* What the coordinate adds to the place of an input in shared memory. Runs lie as in memory, from
 * the lowest address on. */
static void add_spot(qn_text *out, const qn_call *call, uint32_t k, int d)
{
    const qn_box_way *w = way_of(call, k);
    for (int at = 0; at < w->count; at++) {
        if (w->order[at] == d) {
            qn_text_printf(out, "        _quern_spot%u += (_quern_walk.stride[%u][%d] < 0 ? ", k, k,
                           d);
            qn_source_runs_extent(out, call, d);
            qn_text_printf(
                out, " - 1 - _quern_coordinate : _quern_coordinate) * _quern_pitch%u_%d;\n", k, d);
        }
    }
}

static void begin_loop(qn_text *out, const char *count, uint32_t k, unsigned part)
{
    qn_text_puts(out, "#pragma unroll 1\n    for (int _quern_at = threadIdx.x; _quern_at < ");
    qn_text_printf(out, count, k);
    qn_text_printf(out,
                   "; _quern_at += 256) {\n"
                   "        [[maybe_unused]] int _quern_outer = _quern_at, _quern_coordinate;\n"
                   "        [[maybe_unused]] unsigned _quern_part = %u;\n",
                   part);
}

/* The runs of an input. */
static void place_fetched(qn_text *out, const qn_call *call, uint32_t k)
{
    const qn_box_way *w = way_of(call, k);
    begin_loop(out, "_quern_count%u", k, other_cuts(&call->plan.form, w));
    qn_text_printf(out, "        int _quern_spot%u = 0, _quern_offset = -_quern_lowest%u;\n", k, k);
    for (int at = w->count - w->run; at < w->count; at++) {
        qn_text_printf(out, "        _quern_offset += min((int)_quern_walk.stride[%u][%d], 0) * (",
                       k, w->order[at]);
        qn_source_runs_extent(out, call, w->order[at]);
        qn_text_puts(out, " - 1);\n");
    }
    for (int at = w->count - w->run - 1; at >= 0; at--) {
        const int d = w->order[at];
        coordinate(out, call, d);
        qn_text_printf(
            out, "        _quern_offset += _quern_coordinate * (int)_quern_walk.stride[%u][%d];\n",
            k, d);
        add_spot(out, call, k, d);
    }
    qn_text_printf(
        out,
        "        _quern_fetched%u[_quern_at] = quern::box_run(_quern_offset, _quern_spot%u, "
        "_quern_part);\n    }\n",
        k, k);
}

/* Where inputs have what lies along the dimensions [first, end) of the walk's order `w`, and where
 * outputs have it. */
static void spots(qn_text *out, const qn_call *call, const qn_box_way *w, int first, int end)
{
    for (uint32_t k = 0; k < call->operand_count; k++) {
        if (qn_source_runs_fetched(call, k) || call->operands[k].output) {
            qn_text_printf(out, "        [[maybe_unused]] int _quern_spot%u = 0;\n", k);
        }
    }
    for (int at = end - 1; at >= first; at--) {
        const int d = w->order[at];
        coordinate(out, call, d);
        for (uint32_t k = 0; k < call->operand_count; k++) {
            if (qn_source_runs_fetched(call, k)) {
                add_spot(out, call, k, d);
            } else if (call->operands[k].output) {
                qn_text_printf(out,
                               "        _quern_spot%u += _quern_coordinate * "
                               "(int)_quern_walk.stride[%u][%d];\n",
                               k, k, d);
            }
        }
    }
}

/* What is added to the begin of runs or rows, along dimensions [first, end) of the output's order:
 * that of the first element, which lies behind the others where an input lies backwards. */
static void begin_along(qn_text *out, const qn_call *call, const qn_box_way *w, int first, int end)
{
    qn_text_puts(out, "        _quern_coordinate = 0;\n");
    for (uint32_t k = 0; k < call->operand_count; k++) {
        for (int at = first; qn_source_runs_fetched(call, k) && at < end; at++) {
            add_spot(out, call, k, w->order[at]);
        }
    }
}

/* The tables by runs of the output, and by rows of one. */
static void place_lines(qn_text *out, const qn_call *call, uint32_t y)
{
    const qn_box_way *w = way_of(call, y);
    const int first = w->count - w->run;
    begin_loop(out, "_quern_runs", 0, other_cuts(&call->plan.form, w));
    spots(out, call, w, 0, first);
    if (w->run <= QN_BOX_EVEN) {
        begin_along(out, call, w, first, w->count);
    }
    for (uint32_t k = 0; k < call->operand_count; k++) {
        if (qn_source_runs_fetched(call, k) || k == y) {
            qn_text_printf(out, "        _quern_line%u[_quern_at] = _quern_spot%u;\n", k, k);
        }
    }
    qn_text_puts(out, "        _quern_given0[_quern_at] = (unsigned char)_quern_part;\n    }\n");
    if (w->run > QN_BOX_EVEN) {
        begin_loop(out, "_quern_rows + 1", 0, 0);
        spots(out, call, w, first, w->count - 1);
        begin_along(out, call, w, w->count - 1, w->count);
        for (uint32_t k = 0; k < call->operand_count; k++) {
            if (qn_source_runs_fetched(call, k)) {
                qn_text_printf(out, "        _quern_slot%u[_quern_at] = _quern_spot%u;\n", k, k);
            }
        }
        qn_text_puts(out, "    }\n");
    }
}

/* How far neighbours along dimension `d` lie from each other in an input. */
static void step_along(qn_text *out, const qn_call *call, uint32_t k, const char *name, int d)
{
    const qn_box_way *w = way_of(call, k);
    bool has = false;
    for (int at = 0; at < w->count; at++) {
        has |= w->order[at] == d;
    }
    qn_text_printf(out, "    const int %s%u = ", name, k);
    if (has) {
        qn_text_printf(out,
                       "_quern_walk.stride[%u][%d] < 0 ? -_quern_pitch%u_%d : _quern_pitch%u_%d;\n",
                       k, d, k, d, k, d);
    } else {
        qn_text_puts(out, "0;\n");
    }
}

/* The same along a row of a run of the output, and of two dimensions from row to row, and from the
 * last of a row to the first of the next. */
static void steps(qn_text *out, const qn_call *call, uint32_t y)
{
    const qn_box_way *run = way_of(call, y);
    for (uint32_t k = 0; k < call->operand_count; k++) {
        if (!qn_source_runs_fetched(call, k)) {
            continue;
        }
        step_along(out, call, k, "_quern_step", run->order[run->count - 1]);
        if (run->run == QN_BOX_EVEN) {
            step_along(out, call, k, "_quern_down", run->order[run->count - 2]);
            qn_text_printf(
                out,
                "    const int _quern_jump%u = _quern_down%u - (_quern_row_length.by - 1) "
                "* _quern_step%u;\n",
                k, k, k);
        }
    }
}

/* All memory of an input, by its extents; what is cut goes with the number of its box. */
static void memory(qn_text *out, const qn_call *call, uint32_t k)
{
    const qn_plan_form *f = &call->plan.form;
    qn_text_printf(out, "        quern::memory _quern_has%u{0, %u};\n", k,
                   call->operands[k].item_size);
    for (int d = 0; d < f->ndim; d++) {
        const int c = qn_plan_cut_of(f, d), numbers = f->box - f->cuts;
        if (d >= numbers && d < f->box) {
            continue;
        }
        qn_text_printf(out, "        _quern_has%u.reach(", k);
        if (c >= 0) {
            qn_text_printf(out,
                           "(_quern_walk.outer[%d].value - 1) * (long long)"
                           "_quern_walk.stride[%u][%d] + (%s - %d) * ",
                           numbers + c, k, numbers + c, qn_source_box_last(c),
                           1 + qn_source_runs_slack(call, d));
        } else {
            qn_text_puts(out, "(");
            qn_source_runs_extent(out, call, d);
            qn_text_puts(out, " - 1) * ");
        }
        qn_text_printf(out, "(long long)_quern_walk.stride[%u][%d]);\n", k, d);
    }
    qn_text_printf(out, "        _quern_memories[%u] = _quern_has%u;\n", k, k);
}

void qn_source_runs_place(qn_text *out, const qn_call *call)
{
    const uint32_t y = qn_source_runs_output(call);
    for (uint32_t k = 0; k < call->operand_count; k++) {
        if (qn_source_runs_fetched(call, k)) {
            place_fetched(out, call, k);
        }
    }
    place_lines(out, call, y);
    steps(out, call, y);
    qn_text_puts(out, "    __shared__ quern::memory _quern_memories[_quern_operands];\n"
                      "    if (threadIdx.x == 255) {\n");
    for (uint32_t k = 0; k < call->operand_count; k++) {
        if (qn_source_runs_fetched(call, k)) {
            memory(out, call, k);
        }
    }
    qn_text_puts(out, "    }\n");
}
