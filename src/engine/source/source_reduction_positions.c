/* SPDX-License-Identifier: MIT
 *
 * source_reduction_positions: where elements of a reduction lie among those of their output. In: a
 * call whose fold is planned. Out: expressions for `_J`. The thing to know: positions count in C
 * order, and so do units, unless the walk is reordered: then what a step along each dimension adds
 * to a position stands behind the strides of the operands, and `_quern_located` adds it up.
 */
#include "engine/source/source_folds.h"

bool qn_source_holds_positions(const qn_call *call)
{
    return call->kernel->uses_position && qn_scan_value_size(call) == 0;
}

/* True where the positions of a row's lanes rise or fall by one, or those of a column's units, or
 * of a box's elements, rise. */
static bool is_in_order(const qn_fold_form *f)
{
    return f->joined    ? f->step > 0
           : f->columns ? !f->reordered
                        : f->lanes > 1 && (!f->reordered || f->step != 0);
}

bool qn_source_chooses(const qn_call *call)
{
    const qn_choice *c = &call->kernel->choice;
    const qn_fold_form *f = &call->fold.form;
    return c->field && !f->search && !f->whole && !f->apart && is_in_order(f) &&
           !(c->narrow && f->wide);
}

/* Whether the greatest is chosen and whether the last of equal ones, as the condition says when it
 * is asked about numbers; and whether values may be compared as the bytes of the input that map
 * fills them with: their type has all of that input's numbers in their order. */
void qn_source_ranks(qn_text *out, const qn_call *call)
{
    const qn_choice *c = &call->kernel->choice;
    const int key = qn_call_key(call);
    const bool is_signed =
        key >= 0 && call->types.parameters[call->operand_parameter[key]] == QUERN_INT8;
    qn_text_printf(out,
                   "    constexpr auto _quern_later = [](int _quern_a, int _quern_b) {\n"
                   "        struct _quern_number { int %s; };\n"
                   "        const _quern_number %s{_quern_a}, %s{_quern_b};\n"
                   "        return %s;\n    };\n"
                   "    constexpr bool _quern_greatest = _quern_later(0, 1), _quern_lasts = "
                   "_quern_later(0, 0);\n"
                   "    typedef decltype(_type_reduce::%s) _quern_plain;\n"
                   "    constexpr bool _quern_bytes = %s && _quern_greatest != _quern_later(1, "
                   "0);\n",
                   c->value, c->first, c->second, c->takes_second, c->value,
                   key < 0     ? "false"
                   : is_signed ? "quern::holds_bytes<_quern_plain, true>()"
                               : "quern::holds_bytes<_quern_plain, false>()");
}

/* Where the greatest or least of bytes is chosen: `_quern_key`, a number that is greater, or less,
 * the better the value; of equal ones by the rank, below 16, of the element. Whether the condition
 * wants the greatest or the least, and the first or the last, the compiler finds. On an H200, of a
 * copy's speed, without and with keys: argmax of 2 x 10^8 bool 0.69 and 0.94, of int8 0.82 and
 * 0.97, of rows of 512 bool 0.70 and 0.88; but of 10^8 int16 1.05 and 1.01. */
static void keys(qn_text *out, const qn_call *call)
{
    const qn_choice *c = &call->kernel->choice;
    if (!c->value) {
        return;
    }
    qn_source_ranks(out, call);
    qn_text_printf(
        out,
        "    constexpr bool _quern_keyed = _quern_bytes || (quern::is_narrow<_quern_plain> && "
        "sizeof(_quern_plain) == 1 && _quern_greatest != _quern_later(1, 0));\n"
        "    const auto _quern_key = [](const _type_reduce &_quern_value, int "
        "_quern_rank) {\n"
        "        return (int)_quern_value.%s * 16 + (_quern_greatest != _quern_lasts ? "
        "15 - _quern_rank : _quern_rank);\n    };\n"
        "    const auto _quern_better = [](int _quern_a, int _quern_b) {\n"
        "        return _quern_greatest ? max(_quern_a, _quern_b) : min(_quern_a, "
        "_quern_b);\n    };\n"
        "    const auto _quern_unlocked = [](int _quern_key) -> _quern_nth {\n"
        "        _quern_nth _quern_is = {};\n"
        "        _quern_is.value.%s = (_quern_plain)(_quern_key >> 4);\n"
        "        _quern_is.number = _quern_greatest != _quern_lasts ? 15 - (_quern_key "
        "& 15) : _quern_key & 15;\n"
        "        return _quern_is;\n    };\n",
        c->value, c->value);
}

/* The operand whose packs of bytes are compared by two at once; -1: there is none. */
static int paired(const qn_call *call)
{
    const int key = qn_source_keys(call) ? qn_call_key(call) : -1;
    return key >= 0 && call->fold.form.lanes % 4 == 0 &&
                   qn_source_waits_as_words(call, (uint32_t)key)
               ? key
               : -1;
}

/* `_quern_byte_keys`, whether they may be had, and a value and a number from one of them. */
static void pairs(qn_text *out, const qn_call *call)
{
    const int key = paired(call);
    if (key < 0) {
        return;
    }
    const quern_dtype dtype = call->types.parameters[call->operand_parameter[key]];
    qn_text_printf(
        out,
        "    constexpr bool _quern_paired = QUERN_PAIRS && _quern_bytes;\n"
        "    typedef quern::byte_keys<%u, %s, %s, _quern_greatest, !_quern_lasts> "
        "_quern_byte_keys;\n"
        "    const auto _quern_parted = [](int _quern_key) -> _quern_nth {\n"
        "        _quern_nth _quern_is = {};\n"
        "        _quern_is.value.%s = (_quern_plain)_quern_byte_keys::value(_quern_key);\n"
        "        _quern_is.number = _quern_byte_keys::rank(_quern_key);\n"
        "        return _quern_is;\n    };\n",
        call->fold.form.lanes, dtype == QUERN_INT8 ? "true" : "false",
        dtype == QUERN_BOOL ? "true" : "false", call->kernel->choice.value);
}

bool qn_source_pairs(qn_text *is, qn_text *which, const qn_call *call)
{
    const int key = paired(call);
    qn_text_puts(is, key >= 0 ? "1" : "0");
    qn_text_printf(which, "_quern_registers%d[_quern_turn]", QN_MAX(key, 0));
    return key >= 0;
}

bool qn_source_choice(qn_text *out, const qn_call *call)
{
    const qn_choice *c = &call->kernel->choice;
    const qn_fold_form *f = &call->fold.form;
    if (!qn_source_chooses(call)) {
        return false;
    }
    if (!f->spans && !f->phases && !f->joined) {
        qn_source_flag(out, "falls", f->reordered && f->step < 0);
        qn_source_flag(out, "rises", !f->reordered);
    }
    qn_text_printf(out,
                   "    typedef quern::nth<_type_reduce, %s> _quern_nth;\n"
                   "    const auto _quern_nearer = [](const _quern_nth &_quern_a, const _quern_nth "
                   "&_quern_b) {\n"
                   "        [[maybe_unused]] const _type_reduce &%s = _quern_a.value, &%s = "
                   "_quern_b.value;\n"
                   "        return quern::chosen(%s, _quern_a, _quern_b);\n    };\n"
                   "    const auto _quern_placed = [](_type_reduce _quern_value, ptrdiff_t "
                   "_quern_position) {\n"
                   "        _quern_value.%s = _quern_position;\n"
                   "        return _quern_value;\n    };\n",
                   f->reordered || f->joined ? "int" : "_quern_index", c->first, c->second,
                   c->takes_second, c->field);
    if (!f->joined) {
        keys(out, call);
        pairs(out, call);
    }
    return true;
}

bool qn_source_keys(const qn_call *call)
{
    return qn_source_chooses(call) && call->kernel->choice.value && !call->fold.form.joined;
}

/* `_quern_located(unit, first)`: the position of the first element of a unit; `first` elements are
 * in front of the first unit. */
void qn_source_located(qn_text *out, const qn_call *call)
{
    const qn_fold_form *f = &call->fold.form;
    const uint32_t row = call->operand_count;
    if (!f->reordered) {
        return;
    }
    qn_text_puts(out, "    const auto _quern_located = [&](_quern_index _quern_outer, "
                      "[[maybe_unused]] _quern_index _quern_first) -> ptrdiff_t {\n"
                      "        ptrdiff_t _quern_spot = _quern_walk.place;\n"
                      "        _quern_index _quern_digit;\n");
    for (int d = f->kept + f->reduced - 1; d >= f->kept; d--) {
        if (d > f->kept) {
            qn_text_printf(out,
                           "        _quern_digit = _quern_outer; _quern_outer = "
                           "_quern_walk.extent[%d].divide(_quern_digit); "
                           "_quern_digit -= _quern_outer * _quern_walk.extent[%d].value;\n",
                           d, d);
        } else {
            qn_text_puts(out, "        _quern_digit = _quern_outer;\n");
        }
        const bool lanes = d == qn_fold_lane_dim(f) && f->lanes > 1;
        if (lanes && f->cut) {
            qn_text_printf(
                out, "        _quern_digit = min(_quern_digit * %d, _quern_walk.head - %d);\n",
                f->lanes, f->lanes);
        } else if (lanes) {
            qn_text_printf(out, "        _quern_digit = _quern_digit * %d + _quern_first;\n",
                           f->lanes);
        }
        qn_text_printf(
            out, "        _quern_spot += (ptrdiff_t)_quern_digit * _quern_walk.stride[%u][%d];\n",
            row, d);
    }
    qn_text_puts(out, "        return _quern_spot;\n    };\n");
}

void qn_source_unit_position(qn_text *out, const qn_call *call)
{
    qn_text_puts(out, !call->kernel->uses_position ? "0"
                      : call->fold.form.reordered  ? "_quern_located(_quern_unit, 0)"
                                                   : "_quern_unit");
}

void qn_source_unit_base(qn_text *out, const qn_call *call)
{
    if (call->fold.form.reordered) {
        qn_text_puts(out, "            const ptrdiff_t _quern_base = "
                          "_quern_located(_quern_unit, _quern_head);\n");
    }
}

void qn_source_lane_position(qn_text *out, const qn_call *call)
{
    const qn_fold_form *f = &call->fold.form;
    const bool alone = f->columns || f->lanes == 1;
    if (f->reordered) {
        qn_text_puts(out, "_quern_base");
        if (f->step != 0) {
            qn_text_puts(out, f->step > 0 ? " + _quern_lane" : " - _quern_lane");
        } else if (!alone) {
            qn_text_printf(out, " + (ptrdiff_t)_quern_lane * _quern_walk.stride[%u][%d]",
                           call->operand_count, qn_fold_lane_dim(f));
        }
        return;
    }
    qn_text_puts(out, alone    ? "_quern_unit"
                      : f->cut ? "(ptrdiff_t)_quern_spots[_quern_turn] + _quern_lane"
                               : "(ptrdiff_t)_quern_unit * _quern_lanes + _quern_head + "
                                 "_quern_lane");
}

void qn_source_element_position(qn_text *out, const qn_call *call)
{
    const qn_fold_form *f = &call->fold.form;
    if (f->reordered) {
        qn_text_printf(out,
                       "_quern_walk.place + (ptrdiff_t)_quern_element * _quern_walk.stride[%u][%d]",
                       call->operand_count, f->kept);
    } else {
        qn_text_puts(out, call->kernel->uses_position ? "_quern_element" : "0");
    }
}
