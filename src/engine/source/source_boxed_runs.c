/* SPDX-License-Identifier: MIT
 *
 * source_boxed_runs: the walk by boxes whose inputs go in runs, in CUDA C++. In: the form of such a
 * plan. Out: the holes of templates/elementwise_boxed_runs.cu in front of its loop. The thing to
 * know: a box is the same everywhere but for its place, so what lies where in it is written once
 * into tables in shared memory: `_quern_piecesK` has the pieces of an input, `_quern_lineK` where
 * an input has the begin of a run of the output, or where that goes, and for runs of several
 * dimensions `_quern_slotK` where from there an input has each element.
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
    return !call->operands[k].output && way_of(call, k)->count != 0;
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

/* The product of the extents of dimensions [first, end) of an order. */
static void product(qn_text *out, const qn_call *call, const qn_box_way *w, int first, int end)
{
    for (int at = first; at < end; at++) {
        qn_text_puts(out, at == first ? "" : " * ");
        qn_source_runs_extent(out, call, w->order[at]);
    }
    qn_text_puts(out, first < end ? "" : "1");
}

/* Which cut dimension `d` is; -1: it is not cut. */
int qn_source_runs_cut(const qn_plan_form *f, int d)
{
    for (int c = 0; c < f->cuts; c++) {
        if (f->cut[c] == d) {
            return c;
        }
    }
    return -1;
}

/* How an input lies in memory and in shared memory. */
static void input_sizes(qn_text *out, const qn_call *call, uint32_t k)
{
    const qn_box_way *w = way_of(call, k);
    const uint32_t item = call->operands[k].item_size;
    const int inner = w->count - w->run;
    bool odd = false; /* parts that are read across lie inside */
    qn_text_printf(out, "    int _quern_block%u = %u, _quern_lowest%u = 0;\n", k, item, k);
    for (int at = w->count - 1; at >= 0; at--) {
        const int d = w->order[at];
        const bool across = d == call->plan.form.ndim - 1 && item <= 4;
        if (at == inner - 1) {
            qn_text_printf(out, "    const int _quern_bytes%u = _quern_block%u;\n", k, k);
        }
        qn_text_printf(out, "    const int _quern_pitch%u_%d = ", k, d);
        if (at >= inner) {
            qn_text_printf(out, "abs((int)_quern_walk.stride[%u][%d]);\n", k, d);
        } else {
            qn_text_printf(out,
                           "quern::pitch(_quern_block%u, (int)_quern_walk.stride[%u][%d], %s, "
                           "quern::is_odd((int)_quern_walk.stride[%u][%d], %s));\n",
                           k, k, d, across ? "true" : "false", k, call->plan.form.ndim - 1,
                           odd ? "true" : "false");
            odd |= across;
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
                   "    const int _quern_each%u = (_quern_bytes%u + 30) / 16;\n"
                   "    const int _quern_count%u = _quern_each%u * ",
                   k, k, k, k);
    product(out, call, w, 0, inner);
    qn_text_puts(out, ";\n");
}

bool qn_source_runs_across(const qn_call *call, uint32_t k)
{
    const qn_box_way *w = way_of(call, k);
    bool across = false;
    for (int at = 0; at < w->count - w->run; at++) {
        across |= w->order[at] == call->plan.form.ndim - 1;
    }
    return across;
}

/* Threads beside each other take packs of one run, or of four where those would meet in few banks;
 * `_quern_shift` is how many, as an exponent. */
static void groups(qn_text *out, const qn_call *call)
{
    qn_text_puts(out, "    const int _quern_shift = false");
    for (uint32_t k = 0; k < call->operand_count; k++) {
        if (qn_source_runs_fetched(call, k) && qn_source_runs_across(call, k)) {
            qn_text_printf(out, " || _quern_walk.stride[%u][%d] %% 4 == 0", k,
                           call->plan.form.ndim - 1);
        }
    }
    qn_text_puts(out, " ? 2 : 0;\n"
                      "    const int _quern_takes = ((_quern_runs + (1 << _quern_shift) - 1) >> "
                      "_quern_shift << _quern_shift) * _quern_packs.by;\n");
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
    qn_text_printf(out,
                   ";\n    const quern::part _quern_packs((_quern_length + %d) / %d);\n"
                   "    [[maybe_unused]] const int _quern_inner = ",
                   2 * (QN_BOX_PACK - 1), QN_BOX_PACK);
    product(out, call, w, w->count - w->run + 1, w->count);
    qn_text_puts(out, ";\n");
    groups(out, call);
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
        carve(out, "int2", "_quern_pieces", k, count);
        carve(out, "int", "_quern_line", k, "_quern_runs");
        if (way_of(call, y)->run > 1) {
            carve(out, "unsigned short", "_quern_slot", k, "_quern_length");
        }
    }
    carve(out, "int", "_quern_line", y, "_quern_runs");
    carve(out, "unsigned char", "_quern_given", 0, "_quern_runs");
}

/* The next coordinate of `_quern_outer`, along dimension `d`, and if it is cut, whether the last
 * box has it. */
static void coordinate(qn_text *out, const qn_call *call, int d)
{
    const int c = qn_source_runs_cut(&call->plan.form, d);
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
        const int c = qn_source_runs_cut(f, w->order[at]);
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

/* The pieces of an input. */
static void place_pieces(qn_text *out, const qn_call *call, uint32_t k)
{
    const qn_box_way *w = way_of(call, k);
    begin_loop(out, "_quern_count%u", k, other_cuts(&call->plan.form, w));
    qn_text_printf(out,
                   "        int _quern_spot%u = 0, _quern_offset = -_quern_lowest%u;\n"
                   "        _quern_outer = _quern_at / _quern_each%u;\n"
                   "        const int _quern_before = _quern_at - _quern_outer * _quern_each%u;\n",
                   k, k, k, k);
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
        "        _quern_pieces%u[_quern_at] = quern::piece(_quern_offset, _quern_spot%u, "
        "_quern_before, _quern_bytes%u, _quern_part);\n    }\n",
        k, k, k);
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

/* The tables by runs of the output. A run of one dimension needs none inside: what is added there
 * is the begin of its first element, which lies behind the others where an input lies backwards. */
static void place_lines(qn_text *out, const qn_call *call, uint32_t y)
{
    const qn_box_way *w = way_of(call, y);
    begin_loop(out, "_quern_runs", 0, other_cuts(&call->plan.form, w));
    spots(out, call, w, 0, w->count - w->run);
    for (uint32_t k = 0; k < call->operand_count; k++) {
        if (w->run == 1 && qn_source_runs_fetched(call, k)) {
            qn_text_puts(out, "        _quern_coordinate = 0;\n");
            add_spot(out, call, k, w->order[w->count - 1]);
        }
        if (qn_source_runs_fetched(call, k) || k == y) {
            qn_text_printf(out, "        _quern_line%u[_quern_at] = _quern_spot%u;\n", k, k);
        }
    }
    qn_text_puts(out, "        _quern_given0[_quern_at] = (unsigned char)_quern_part;\n    }\n");
    if (w->run > 1) {
        begin_loop(out, "_quern_length", 0, 0);
        spots(out, call, w, w->count - w->run, w->count);
        for (uint32_t k = 0; k < call->operand_count; k++) {
            if (qn_source_runs_fetched(call, k)) {
                qn_text_printf(
                    out, "        _quern_slot%u[_quern_at] = (unsigned short)_quern_spot%u;\n", k,
                    k);
            }
        }
        qn_text_puts(out, "    }\n");
    }
}

/* How far neighbours of a run of the output lie from each other in an input. */
static void steps(qn_text *out, const qn_call *call, uint32_t y)
{
    const qn_box_way *run = way_of(call, y);
    const int d = run->order[run->count - 1];
    for (uint32_t k = 0; k < call->operand_count; k++) {
        const qn_box_way *w = way_of(call, k);
        bool has = false;
        for (int at = 0; at < w->count; at++) {
            has |= w->order[at] == d;
        }
        if (!qn_source_runs_fetched(call, k)) {
            continue;
        }
        qn_text_printf(out, "    const int _quern_step%u = ", k);
        if (has) {
            qn_text_printf(out, "_quern_walk.stride[%u][%d] < 0 ? -_quern_pitch%u_%d : ", k, d, k,
                           d);
            qn_text_printf(out, "_quern_pitch%u_%d;\n", k, d);
        } else {
            qn_text_puts(out, "0;\n");
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
        const int c = qn_source_runs_cut(f, d), numbers = f->box - f->cuts;
        if (d >= numbers && d < f->box) {
            continue;
        }
        qn_text_printf(out, "        _quern_has%u.reach(", k);
        if (c >= 0) {
            qn_text_printf(out,
                           "(_quern_walk.outer[%d].value - 1) * (long long)"
                           "_quern_walk.stride[%u][%d] + (%s - 1) * ",
                           numbers + c, k, numbers + c, qn_source_box_last(c));
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
            place_pieces(out, call, k);
        }
    }
    place_lines(out, call, y);
    if (way_of(call, y)->run == 1) {
        steps(out, call, y);
    }
    qn_text_puts(out, "    __shared__ quern::memory _quern_memories[_quern_operands];\n"
                      "    if (threadIdx.x == 255) {\n");
    for (uint32_t k = 0; k < call->operand_count; k++) {
        if (qn_source_runs_fetched(call, k)) {
            memory(out, call, k);
        }
    }
    qn_text_puts(out, "    }\n");
}
