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
