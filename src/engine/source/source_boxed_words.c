/* SPDX-License-Identifier: MIT
 *
 * source_boxed_words: the walk by boxes of words, in CUDA C++. In: the form of such a plan
 * (src/array/plan_box_words.c). Out: the holes of templates/elementwise_boxed_words.cu. The thing
 * to know: `_quern_freightK` has an input's words and where they lie in a box, `_quern_berthsK`
 * where shared memory has the elements of the thread's packs, and `_quern_keptK` where the packs of
 * the other operands lie; `_quern_baseK` is where a box begins.
 */
#include "engine/source/source.h"
#include "engine/source/source_folds.h"

#define WORDS_BYTES  256 /* under way together of a thread of each block that a processor holds */
#define MOST_BLOCKS  4
#define LEAST_BLOCKS 2

static bool goes(const qn_call *call, uint32_t k)
{
    return call->plan.form.access[k] == QN_ACCESS_TILED;
}

static bool has_packs(const qn_call *call, uint32_t k)
{
    return call->plan.form.access[k] == QN_ACCESS_VECTOR;
}

/* It has a place for each pack. */
static bool is_kept(const qn_call *call, uint32_t k)
{
    return has_packs(call, k) || call->plan.form.access[k] == QN_ACCESS_HELD;
}

static const char *type_of(const qn_call *call, uint32_t k)
{
    return qn_source_type(call, call->operand_parameter[k]);
}

/* A dimension's divider. */
static void divider(qn_text *out, const qn_call *call, int d)
{
    if (d == call->plan.form.ndim - 1) {
        qn_text_puts(out, "_quern_walk.row");
    } else {
        qn_text_printf(out, "_quern_walk.outer[%d]", d);
    }
}

/* The coordinate of `_quern_outer` along dimension `d`, which is divided by its extent. */
static void coordinate(qn_text *out, const qn_call *call, int d)
{
    qn_text_printf(out, "        int _quern_at%d = (int)_quern_outer;\n        _quern_outer = ", d);
    divider(out, call, d);
    qn_text_printf(out, ".divide(_quern_outer);\n        _quern_at%d -= (int)(_quern_outer * ", d);
    divider(out, call, d);
    qn_text_puts(out, ".value);\n");
}

/* A bit of `bits` if the last box of a batch has the turn. */
static void note_last(qn_text *out, const qn_call *call, const char *bits, uint32_t k)
{
    const qn_plan_form *f = &call->plan.form;
    qn_text_puts(out, "        ");
    qn_text_printf(out, bits, k);
    if (f->cuts != 0) {
        qn_text_printf(out, " |= (unsigned)(_quern_at%d < %s) << _quern_turn;\n", f->cut[0],
                       qn_source_box_last(0));
    } else {
        qn_text_puts(out, " |= 1u << _quern_turn;\n");
    }
}

/* Words that are under way wait in registers: the more of them a thread has, the fewer blocks a
 * processor has room for. */
void qn_source_words_bounds(qn_text *out, const qn_call *call)
{
    int bytes = 0;
    for (uint32_t k = 0; k < call->operand_count; k++) {
        const qn_box_way *w = &call->plan.form.way[k];
        bytes += goes(call, k) ? w->word * w->moves : 0;
    }
    qn_source_bounds(out,
                     QN_MAX(QN_MIN(WORDS_BYTES / QN_MAX(bytes, 1), MOST_BLOCKS), LEAST_BLOCKS));
}

void qn_source_words_shared(qn_text *out, const qn_call *call)
{
    for (uint32_t k = 0; k < call->operand_count; k++) {
        const qn_box_way *w = &call->plan.form.way[k];
        if (goes(call, k)) {
            qn_text_printf(out,
                           "    quern::freight<%u, %d, %d, %d> _quern_freight%u;\n"
                           "    __shared__ alignas(16) unsigned char "
                           "_quern_tile%u[_quern_freight%u.room];\n"
                           "    quern::berths<_quern_turns * _quern_lanes> _quern_berths%u;\n",
                           call->operands[k].item_size, call->plan.form.gaps, w->word, w->moves, k,
                           k, k, k);
        } else if (is_kept(call, k)) {
            qn_text_printf(out, "    int _quern_kept%u[_quern_turns];\n", k);
        }
    }
}

/* An input's words. */
static void place_words(qn_text *out, const qn_call *call, uint32_t k)
{
    const qn_box_way *w = &call->plan.form.way[k];
    qn_text_printf(out,
                   "    _quern_freight%u.whole = _quern_freight%u.last = 0;\n"
                   "#pragma unroll\n"
                   "    for (int _quern_turn = 0; _quern_turn < %d; _quern_turn++) {\n"
                   "        _quern_index _quern_outer = ((int)threadIdx.x + 256 * _quern_turn) * "
                   "%u;\n",
                   k, k, w->moves, w->word / call->operands[k].item_size);
    for (int j = w->count - 1; j >= 0; j--) {
        coordinate(out, call, w->order[j]);
    }
    qn_text_printf(out, "        _quern_freight%u.from[_quern_turn] = 0", k);
    for (int j = 0; j < w->count; j++) {
        qn_text_printf(out, " + _quern_at%d * (int)_quern_walk.stride[%u][%d]", w->order[j], k,
                       w->order[j]);
    }
    qn_text_printf(out,
                   ";\n        _quern_freight%u.whole |= (unsigned)(_quern_outer == 0) << "
                   "_quern_turn;\n",
                   k);
    note_last(out, call, "_quern_freight%u.last", k);
    qn_text_printf(out, "    }\n    _quern_freight%u.last &= _quern_freight%u.whole;\n", k, k);
}

void qn_source_words_place(qn_text *out, const qn_call *call)
{
    for (uint32_t k = 0; k < call->operand_count; k++) {
        if (goes(call, k)) {
            place_words(out, call, k);
        }
    }
}

/* The element that follows, along the walk. */
static void step(qn_text *out, const qn_call *call)
{
    const qn_plan_form *f = &call->plan.form;
    for (int d = f->ndim - 1; d > f->box; d--) {
        qn_text_printf(out, "            if (++_quern_at%d == (int)", d);
        divider(out, call, d);
        qn_text_printf(out, ".value) {\n            _quern_at%d = 0;\n", d);
    }
    qn_text_printf(out, "            ++_quern_at%d;\n            ", f->box);
    for (int d = f->ndim - 1; d > f->box; d--) {
        qn_text_puts(out, "}");
    }
    qn_text_puts(out, "\n");
}

/* Where shared memory has the element of an input. */
static void berth(qn_text *out, const qn_call *call, uint32_t k)
{
    const qn_box_way *w = &call->plan.form.way[k];
    qn_text_printf(out,
                   "            _quern_berths%u.set(_quern_turn * _quern_lanes + _quern_lane, "
                   "quern::berth<%u, %d>(",
                   k, call->operands[k].item_size, call->plan.form.gaps);
    for (int j = 1; j < w->count; j++) {
        qn_text_puts(out, "(");
    }
    for (int j = 0; j < w->count; j++) {
        if (j > 0) {
            qn_text_puts(out, " * (int)");
            divider(out, call, w->order[j]);
            qn_text_puts(out, ".value + ");
        }
        qn_text_printf(out, "_quern_at%d%s", w->order[j], j > 0 ? ")" : "");
    }
    qn_text_printf(out, " * %u));\n", call->operands[k].item_size);
}

void qn_source_words_given(qn_text *out, const qn_call *call)
{
    const qn_plan_form *f = &call->plan.form;
    for (int d = f->ndim - 1; d >= f->box; d--) {
        coordinate(out, call, d);
    }
    qn_text_puts(out, "        _quern_whole |= (unsigned)(_quern_outer == 0) << _quern_turn;\n");
    note_last(out, call, "_quern_last", 0);
    for (uint32_t k = 0; k < call->operand_count; k++) {
        if (!is_kept(call, k)) {
            continue;
        }
        qn_text_printf(out, "        _quern_kept%u[_quern_turn] = 0", k);
        for (int d = f->box; d < f->ndim; d++) {
            qn_text_printf(out, " + _quern_at%d * (int)_quern_walk.stride[%u][%d]", d, k, d);
        }
        qn_text_puts(out, ";\n");
    }
    qn_text_puts(out,
                 "#pragma unroll\n"
                 "        for (int _quern_lane = 0; _quern_lane < _quern_lanes; _quern_lane++) "
                 "{\n");
    for (uint32_t k = 0; k < call->operand_count; k++) {
        if (goes(call, k)) {
            berth(out, call, k);
        }
    }
    step(out, call);
    qn_text_puts(out, "        }\n");
}

/* And whether it is the last one of a batch, and smaller. */
void qn_source_words_offsets(qn_text *out, const qn_call *call)
{
    const qn_plan_form *f = &call->plan.form;
    qn_text_puts(out, "        _quern_index _quern_outer = _quern_pack;\n");
    qn_source_outer(out, call, f->box, "_quern_base");
    qn_text_puts(out, "        const bool _quern_part = ");
    if (f->cuts != 0) {
        const int d = f->box - 1;
        qn_text_printf(out,
                       "_quern_pack - _quern_walk.outer[%d].divide(_quern_pack) * "
                       "_quern_walk.outer[%d].value == _quern_walk.outer[%d].value - 1;\n",
                       d, d, d);
    } else {
        qn_text_puts(out, "false;\n");
    }
}

/* The address where the box begins. */
static void box_of(qn_text *out, const qn_call *call, uint32_t k)
{
    qn_text_printf(out, "(%schar *)_quern_array%u + %s_quern_base%u",
                   call->operands[k].output ? "" : "const ", call->operand_parameter[k],
                   call->plan.form.near ? "(int)" : "", k);
}

void qn_source_words_fetch(qn_text *out, const qn_call *call)
{
    for (uint32_t k = 0; k < call->operand_count; k++) {
        if (goes(call, k)) {
            qn_text_printf(out, "        _quern_freight%u.load(", k);
            box_of(out, call, k);
            qn_text_puts(out, ", _quern_part);\n");
        }
    }
}

void qn_source_words_keep(qn_text *out, const qn_call *call)
{
    for (uint32_t k = 0; k < call->operand_count; k++) {
        if (goes(call, k)) {
            qn_text_printf(out, "        _quern_freight%u.put(_quern_tile%u);\n", k, k);
        }
    }
}

/* The address of the thread's pack. */
static void pack_of(qn_text *out, const qn_call *call, uint32_t k)
{
    box_of(out, call, k);
    qn_text_printf(out, " + _quern_kept%u[_quern_turn]", k);
}

/* The value of lane `_quern_lane`. */
static void value(qn_text *out, const qn_call *call, uint32_t k)
{
    const char *type = type_of(call, k);
    qn_source_indent(out, 5);
    if (call->operands[k].output) {
        qn_text_printf(out, "%s &_quern_value%u = _quern_packs%u[_quern_turn].v[_quern_lane];\n",
                       type, k, k);
        return;
    }
    qn_text_printf(out, "const %s _quern_value%u = ", type, k);
    if (has_packs(call, k)) {
        qn_text_printf(out, "_quern_packs%u[_quern_turn].v[_quern_lane]", k);
    } else {
        qn_source_read_begin(out, call, k);
        qn_text_printf(out, "*(const %s *)(", type);
        if (goes(call, k)) {
            qn_text_printf(out,
                           "_quern_tile%u + _quern_berths%u[_quern_turn * _quern_lanes + "
                           "_quern_lane]",
                           k, k);
        } else if (is_kept(call, k)) {
            pack_of(out, call, k);
        } else {
            box_of(out, call, k);
        }
        qn_text_puts(out, ")");
        qn_source_read_end(out, call, k);
    }
    qn_text_puts(out, ";\n");
}

void qn_source_words_read(qn_text *out, const qn_call *call)
{
    for (uint32_t k = 0; k < call->operand_count; k++) {
        if (has_packs(call, k)) {
            qn_text_printf(out,
                           "        %s<%s, _quern_lanes> _quern_packs%u[_quern_turns];\n"
                           "#pragma unroll\n"
                           "        for (int _quern_turn = 0; _quern_turn < _quern_turns; "
                           "_quern_turn++) {\n"
                           "            if (_quern_gives >> _quern_turn & 1) {\n"
                           "                _quern_packs%u[_quern_turn].load(",
                           qn_source_pack(call, k), type_of(call, k), k, k);
            pack_of(out, call, k);
            qn_text_puts(out, ");\n            }\n        }\n");
        }
    }
}

void qn_source_words_body(qn_text *out, const qn_call *call)
{
    qn_text_puts(out, "#pragma unroll\n"
                      "                for (int _quern_lane = 0; _quern_lane < _quern_lanes; "
                      "_quern_lane++) {\n");
    for (uint32_t k = 0; k < call->operand_count; k++) {
        value(out, call, k);
    }
    qn_source_invoke(out, call, 5, "0");
    qn_text_puts(out, "                }\n");
    for (uint32_t k = 0; k < call->operand_count; k++) {
        if (call->operands[k].output) {
            qn_text_printf(out, "                _quern_packs%u[_quern_turn].store(", k);
            pack_of(out, call, k);
            qn_text_puts(out, ");\n");
        }
    }
}
