/* SPDX-License-Identifier: MIT
 *
 * source_reduction_search: a reduction that chooses one element, by search. In: a call whose fold
 * is planned so (src/array/fold_search.c). Out: the holes of templates/reduction_search.cu. The
 * thing to know: a line may be several dimensions; from a place in it, positions follow by dividing
 * by their extents.
 */
#include "engine/source/source_folds.h"

/* The line's dimension of the walk; those that it is made of are behind it. */
static int line_dim(const qn_call *call)
{
    return qn_fold_lane_dim(&call->fold.form);
}

static int last_dim(const qn_call *call)
{
    return line_dim(call) + call->fold.form.placed;
}

/* True where packs may be asked as bytes that lie in memory. */
static bool asks_bytes(const qn_call *call)
{
    const int key = qn_call_key(call);
    return key >= 0 && call->fold.form.lanes >= 4 &&
           call->fold.form.access[key] == QN_ACCESS_VECTOR;
}

/* Of what is made of bytes by `_quern_flip` greater ones are better. Which are above
 * `_quern_limit_of` may be better than the best element, or as good (`ties`). A bool that is true
 * may be any byte but 0. */
static void limit(qn_text *out, const qn_call *call)
{
    const uint32_t key = (uint32_t)qn_call_key(call);
    const quern_dtype dtype = call->types.parameters[call->operand_parameter[key]];
    qn_text_printf(
        out,
        "    constexpr unsigned _quern_flip = %s ^ (_quern_greatest ? 0 : 0xffffffffu);\n"
        "    const auto _quern_limit_of = [&](_quern_plain _quern_level, bool _quern_ties) {\n"
        "        const int _quern_number = (int)_quern_level;\n"
        "        const int _quern_key = (_quern_number ^ (int)_quern_flip) & 255;\n"
        "        return !_quern_ties ? _quern_key : %s ? -1 : _quern_key - 1;\n    };",
        dtype == QUERN_INT8 ? "0x80808080u" : "0u",
        dtype == QUERN_BOOL ? "!_quern_greatest && _quern_number != 0" : "false");
}

/* The other field of values, by which they are compared, and whether of two, the first with the
 * lower position, the second is taken. */
static void rank(qn_text *out, const qn_call *call)
{
    const qn_choice *c = &call->kernel->choice;
    qn_source_ranks(out, call);
    qn_text_printf(out,
                   "    const auto _quern_rank = [](const _type_reduce &_quern_of) {\n"
                   "        return _quern_of.%s;\n    };\n"
                   "    const auto _quern_beats = [](_quern_plain _quern_a, _quern_plain "
                   "_quern_b) {\n"
                   "        struct _quern_number { _quern_plain %s; };\n"
                   "        const _quern_number %s{_quern_a}, %s{_quern_b};\n"
                   "        return %s;\n    };\n",
                   c->value, c->value, c->first, c->second, c->takes_second);
}

static void form_hole(qn_text *out, const qn_call *call)
{
    const qn_fold_form *f = &call->fold.form;
    qn_source_number(out, "lanes", f->lanes);
    qn_source_number(out, "batch", f->turns);
    qn_source_number(out, "outputs", 1);
    qn_source_number(out, "line_dim", line_dim(call));
    qn_source_flag(out, "lines", f->reduced > 1);
    qn_source_flag(out, "rises", f->search == QN_SEARCH_RISING);
    qn_source_flag(out, "turned", f->turned);
    qn_source_flag(out, "columns", false);
    qn_source_flag(out, "ordered", false);
    qn_source_shared_form(out, call);
}

/* The coordinates of `at` along the dimensions of the line, `_quern_PREFIX` and the dimension. */
static void coordinates(qn_text *out, const qn_call *call, const char *at, const char *prefix)
{
    qn_text_printf(out, "        _quern_index _quern_%s = %s;\n", prefix, at);
    for (int d = last_dim(call); d > line_dim(call) + 1; d--) {
        qn_text_printf(out,
                       "        const _quern_index _quern_%s%d = _quern_%s - "
                       "_quern_walk.extent[%d].divide(_quern_%s) * _quern_walk.extent[%d].value;\n"
                       "        _quern_%s = _quern_walk.extent[%d].divide(_quern_%s);\n",
                       prefix, d, prefix, d, prefix, d, prefix, d, prefix);
    }
    qn_text_printf(out, "        const _quern_index _quern_%s%d = _quern_%s;\n", prefix,
                   line_dim(call) + 1, prefix);
}

/* `_quern_located`: what the place of an element in its line adds to its position. */
static void located(qn_text *out, const qn_call *call)
{
    qn_text_puts(out, "    const auto _quern_located = [&](_quern_index _quern_at) -> ptrdiff_t "
                      "{\n");
    coordinates(out, call, "_quern_at", "c");
    qn_text_puts(out, "        return 0");
    for (int d = line_dim(call) + 1; d <= last_dim(call); d++) {
        qn_text_printf(out, " + (ptrdiff_t)_quern_c%d * _quern_walk.stride[%u][%d]", d,
                       call->operand_count, d);
    }
    qn_text_puts(out, ";\n    };\n");
}

/* `_quern_utmost`: none of the elements from one to another has a lower position, or, where the
 * last of equal ones is wanted, a higher one. Along a dimension in which both have the same place,
 * along the first in which they have not, elements are between the two; along those inside of it,
 * anywhere. */
static void utmost(qn_text *out, const qn_call *call)
{
    const unsigned row = call->operand_count;
    qn_text_puts(out, "    const auto _quern_utmost = [&](_quern_index _quern_from, _quern_index "
                      "_quern_to) -> ptrdiff_t {\n");
    coordinates(out, call, "_quern_from", "f");
    coordinates(out, call, "_quern_to", "t");
    qn_text_puts(out, "        ptrdiff_t _quern_sum = 0;\n"
                      "        bool _quern_alike = true;\n");
    for (int d = line_dim(call) + 1; d <= last_dim(call); d++) {
        qn_text_printf(out,
                       "        _quern_sum += (ptrdiff_t)_quern_walk.stride[%u][%d] *\n"
                       "            ((_quern_walk.stride[%u][%d] > 0) != _quern_lasts\n"
                       "             ? (_quern_alike ? _quern_f%d : 0)\n"
                       "             : _quern_alike ? _quern_t%d : _quern_walk.extent[%d].value - "
                       "1);\n"
                       "        _quern_alike = _quern_alike && _quern_f%d == _quern_t%d;\n",
                       row, d, row, d, d, d, d, d, d);
    }
    qn_text_puts(out, "        return _quern_sum;\n    };\n");
}

/* `_quern_rest`: for how many elements positions rise or fall evenly from one on. `_quern_climbs`:
 * they rise. */
static void rest(qn_text *out, const qn_call *call)
{
    const int last = last_dim(call);
    qn_text_puts(out,
                 "    const auto _quern_rest = [&](_quern_index _quern_at) {\n        return ");
    if (call->fold.form.placed > 1) {
        qn_text_printf(out,
                       "(_quern_walk.extent[%d].divide(_quern_at) + 1) * "
                       "_quern_walk.extent[%d].value - _quern_at",
                       last, last);
    } else {
        qn_text_puts(out, "_quern_length - _quern_at");
    }
    qn_text_printf(out,
                   ";\n    };\n    const bool _quern_climbs = _quern_walk.stride[%u][%d] > 0;\n",
                   call->operand_count, last);
}

/* Where line `_quern_line` begins: in memory, among positions, and behind an aligned element. */
static void ends_hole(qn_text *out, const qn_call *call)
{
    const qn_fold_form *f = &call->fold.form;
    const uint32_t anchor = qn_source_anchor(call);
    qn_source_split(out, call, 2, f->kept, line_dim(call), "_quern_line", "_quern_reduced", 0,
                    call->operand_count + 1);
    qn_text_printf(out,
                   "        [[maybe_unused]] const int _quern_off = (int)((unsigned long "
                   "long)(_quern_place%u + _quern_reduced%u) / %u %% _quern_lanes);\n"
                   "        const ptrdiff_t _quern_base = _quern_walk.place + _quern_reduced%u",
                   anchor, anchor, call->operands[anchor].item_size, call->operand_count);
    qn_text_puts(out, ";");
}

enum { QN_REDUCTION_HOLES(QN_HOLE_ID) };

void qn_source_search_holes(qn_text *t, const qn_call *call)
{
    qn_source_bounds(&t[BOUNDS], QN_FOLD_SEARCH_HELD);
    form_hole(&t[FORM], call);
    rank(&t[FORM], call);
    located(&t[SPOTS], call);
    utmost(&t[SPOTS], call);
    rest(&t[SPOTS], call);
    if (asks_bytes(call)) {
        limit(&t[PACES], call);
        qn_text_printf(&t[KEEP], "_quern_registers%d[_quern_turn]", qn_call_key(call));
    }
    ends_hole(&t[ENDS], call);
    qn_source_unit_registers(&t[REGISTERS], call);
    qn_source_unit_fetch(&t[LOAD], call);
    qn_source_unit_recall(&t[RECALL], call);
    qn_source_arguments(&t[LANE], call, true);
    qn_source_load(&t[LOAD_ELEMENT], call, 5, "_quern_element", false);
    qn_source_arguments(&t[ARGUMENTS], call, false);
    qn_text_puts(&t[SPOT], call->kernel->choice.field);
    qn_source_finish(&t[FINISH], call, "_quern_values[_quern_lane].value");
    qn_source_results(&t[RESULTS], call, true);
}
