/* SPDX-License-Identifier: MIT
 *
 * source_reduction_joined: a reduction by boxes of memory. In: a call whose fold is planned so
 * (src/array/fold_joined.c). Out: the holes of templates/reduction_joined.cu. The thing to know: a
 * box is one run of each input, so that an element lies in shared memory as far from the first as
 * in memory. Where texts use positions, they go along as one operand more, whose strides are what
 * each reduced dimension adds to them.
 */
#include "engine/source/source_folds.h"

/* Reduced dimensions that lie outside of boxes; the first dimension inside, which is cut, and that
 * of the box's number along it, if it is one. */
static int outside(const qn_fold_form *f)
{
    return f->reduced - f->joined;
}

static int cut_dim(const qn_fold_form *f)
{
    return f->line ? f->kept + outside(f) : f->outer;
}

/* Inputs, and the positions. */
static bool goes(const qn_call *call, uint32_t k)
{
    return k < call->input_operands || k == call->operand_count;
}

/* Where position `from` of the dimensions [first, last) lies in operands [operand, end): PREFIXk.
 */
static void inside(qn_text *out, int levels, int first, int last, const char *from,
                   const char *type, const char *prefix, const char *lane, uint32_t operand,
                   uint32_t end)
{
    qn_source_indent(out, levels);
    qn_text_printf(out, "_quern_index _quern_beyond = %s, _quern_digit;\n", from);
    for (int d = last - 1; d >= first; d--) {
        qn_source_indent(out, levels);
        if (d > first) {
            qn_text_printf(out,
                           "_quern_digit = _quern_beyond; _quern_beyond = "
                           "_quern_walk.extent[%d].divide(_quern_digit); "
                           "_quern_digit -= _quern_beyond * _quern_walk.extent[%d].value;\n",
                           d, d);
        } else {
            qn_text_puts(out, "_quern_digit = _quern_beyond;\n");
        }
        for (uint32_t k = operand; k < end; k++) {
            qn_source_indent(out, levels);
            qn_text_printf(out, "%s%u%s += (%s)(_quern_digit * (%s)_quern_walk.stride[%u][%d]);\n",
                           prefix, k, lane, type, type, k, d);
        }
    }
}

static void form_hole(qn_text *out, const qn_call *call)
{
    const qn_fold_form *f = &call->fold.form;
    qn_source_number(out, "bytes", f->pool * 512);
    qn_source_number(out, "outputs", f->turns);
    qn_source_flag(out, "along", f->along);
    qn_source_number(out, "counters", QN_FOLD_COUNTER_BYTES);
    qn_source_flag(out, "split", f->split);
    qn_text_puts(out, f->split ? "" : "    constexpr char *_quern_workspace = nullptr;\n");
}

static void ends_hole(qn_text *out, const qn_call *call)
{
    const qn_fold_form *f = &call->fold.form;
    qn_text_printf(out, "    const int _quern_slices = (int)_quern_walk.extent[%d].value;\n",
                   cut_dim(f));
    if (f->line) {
        qn_text_puts(out, "    const int _quern_here = (int)_quern_walk.across;");
        return;
    }
    qn_text_printf(
        out,
        "    const _quern_index _quern_box = _quern_output - "
        "_quern_walk.extent[%d].divide(_quern_output) * _quern_walk.extent[%d].value;\n"
        "    const int _quern_present = (int)min((_quern_index)_quern_slices, "
        "_quern_walk.head - _quern_box * _quern_slices);\n"
        "    const int _quern_here = (int)_quern_walk.across / _quern_slices * _quern_present;",
        f->outer - 1, f->outer - 1);
}

/* Bytes of an input in a box of one slice; where its room begins. */
static void rooms(qn_text *out, const qn_call *call)
{
    const qn_fold_form *f = &call->fold.form;
    for (uint32_t k = 0; k < call->input_operands; k++) {
        qn_text_printf(out, "    const int _quern_slice%u = %u", k, call->operands[k].item_size);
        for (int d = f->outer; d < f->kept + f->reduced; d++) {
            if (d != cut_dim(f) && (d < f->kept || d >= f->kept + outside(f))) {
                qn_text_printf(out,
                               " + (int)((_quern_walk.extent[%d].value - 1) * "
                               "_quern_walk.stride[%u][%d])",
                               d, k, d);
            }
        }
        qn_text_printf(out,
                       ";\n    const int _quern_pace%u = (int)_quern_walk.stride[%u][%d];\n"
                       "    const int _quern_base%u = ",
                       k, k, cut_dim(f), k);
        if (k > 0) {
            qn_text_printf(out,
                           "_quern_base%u + (_quern_slice%u + (_quern_slices - 1) * _quern_pace%u "
                           "+ 255) / 128 * 128;\n",
                           k - 1, k - 1, k - 1);
        } else {
            qn_text_puts(out, "0;\n");
        }
    }
}

/* What the dimensions, but for the cut, add to where the memory of input `k` begins, or ends; those
 * outside of boxes may go backwards. Along the cut the number of a box has the last of them. */
static void reach(qn_text *out, const qn_call *call, uint32_t k, const char *which)
{
    const qn_fold_form *f = &call->fold.form;
    const int number = f->line ? f->kept + outside(f) - 1 : f->outer - 1;
    for (int d = 0; d < f->kept + f->reduced; d++) {
        if (d != number && d != cut_dim(f)) {
            qn_text_printf(out,
                           " + %s((long long)(_quern_walk.extent[%d].value - 1) * "
                           "_quern_walk.stride[%u][%d], 0ll)",
                           which, d, k, d);
        }
    }
    qn_text_puts(out, ";\n");
}

/* Where the memory of an input begins and ends. */
static void memory_ends(qn_text *out, const qn_call *call)
{
    const int cut = cut_dim(&call->fold.form);
    for (uint32_t k = 0; k < call->input_operands; k++) {
        qn_text_printf(out, "    const char *const _quern_low%u = (const char *)_quern_array%u", k,
                       call->operand_parameter[k]);
        reach(out, call, k, "min");
        qn_text_printf(out,
                       "    const char *const _quern_end%u = (const char *)_quern_array%u + %u + "
                       "(long long)(_quern_walk.head - 1) * _quern_walk.stride[%u][%d]",
                       k, call->operand_parameter[k], call->operands[k].item_size, k, cut);
        reach(out, call, k, "max");
    }
}

/* Where the thread's elements of a box begin, and how far apart they lie: along two dimensions the
 * inner one begins again where it ends. */
static void steps(qn_text *out, const qn_call *call)
{
    const qn_fold_form *f = &call->fold.form;
    const int last = f->kept + f->reduced - 1;
    if (f->joined > 1) {
        qn_text_printf(out,
                       "    const int _quern_width = (int)_quern_walk.extent[%d].value;\n"
                       "    const int _quern_row = _quern_worker / _quern_width, "
                       "_quern_begin = _quern_worker - _quern_row * _quern_width;\n"
                       "    const int _quern_down = _quern_workers / _quern_width, "
                       "_quern_on = _quern_workers - _quern_down * _quern_width;\n",
                       last);
    }
    for (uint32_t k = 0; k < qn_fold_rows(call); k++) {
        if (!goes(call, k)) {
            continue;
        }
        if (f->joined > 1) {
            qn_text_printf(
                out,
                "    const int _quern_own%u = (int)_quern_walk.stride[%u][%d], "
                "_quern_other%u = (int)_quern_walk.stride[%u][%d];\n"
                "    const int _quern_from%u = _quern_begin * _quern_own%u + _quern_row * "
                "_quern_other%u;\n"
                "    const int _quern_step%u = _quern_on * _quern_own%u + _quern_down * "
                "_quern_other%u, _quern_back%u = _quern_other%u - _quern_width * _quern_own%u;\n",
                k, k, last, k, k, last - 1, k, k, k, k, k, k, k, k, k);
        } else {
            qn_text_printf(out,
                           "    const int _quern_own%u = (int)_quern_walk.stride[%u][%d], "
                           "_quern_from%u = _quern_worker * _quern_own%u, "
                           "_quern_step%u = _quern_workers * _quern_own%u;\n",
                           k, k, last, k, k, k, k);
        }
    }
}

static void spots_hole(qn_text *out, const qn_call *call)
{
    const qn_fold_form *f = &call->fold.form;
    rooms(out, call);
    memory_ends(out, call);
    steps(out, call);
    for (uint32_t k = 0; k < call->input_operands; k++) {
        qn_text_printf(out, "    int _quern_spot%u[_quern_outputs] = {};\n", k);
    }
    qn_text_puts(out,
                 "#pragma unroll\n"
                 "    for (int _quern_lane = 0; _quern_lane < _quern_outputs; _quern_lane++) {\n");
    qn_text_puts(out,
                 "        const int _quern_mine = _quern_at + 256 * _quern_lane < _quern_here ? "
                 "_quern_at + 256 * _quern_lane : _quern_at;\n");
    inside(out, 2, f->outer, f->kept, "_quern_mine", "int", "_quern_spot", "[_quern_lane]", 0,
           call->input_operands);
    qn_text_puts(out, "    }");
}

/* Where positions rise, so that none are compared, they have 32 bits (src/array/fold.c). */
static const char *position_type(const qn_call *call)
{
    return qn_source_chooses(call) ? "int" : "long long";
}

/* What is known of a box from when it is on its way. */
static void registers_hole(qn_text *out, const qn_call *call)
{
    for (uint32_t k = 0; k < call->input_operands; k++) {
        qn_text_printf(out, "    int _quern_shelf%u = 0, _quern_next_shelf%u = 0;\n", k, k);
    }
    if (call->kernel->uses_position) {
        qn_text_printf(out, "    %s _quern_place = 0, _quern_next_place = 0;\n",
                       position_type(call));
    }
}

static void load_hole(qn_text *out, const qn_call *call)
{
    const qn_fold_form *f = &call->fold.form;
    const int number = f->kept + outside(f) - 1;
    const uint32_t rows = qn_fold_rows(call);
    qn_source_split(out, call, 3, f->kept, f->kept + outside(f), "_quern_unit", "_quern_reduced", 0,
                    rows > call->operand_count ? rows : call->input_operands);
    if (f->line) {
        qn_text_printf(
            out,
            "            const _quern_index _quern_box = _quern_unit - "
            "_quern_walk.extent[%d].divide(_quern_unit) * _quern_walk.extent[%d].value;\n"
            "            const int _quern_present = (int)min((_quern_index)_quern_slices, "
            "_quern_walk.head - _quern_box * _quern_slices);\n"
            "            _quern_next_count = _quern_run / _quern_slices * "
            "_quern_present;\n",
            number, number);
    }
    for (uint32_t k = 0; k < call->input_operands; k++) {
        qn_text_printf(
            out,
            "            const char *const _quern_start%u = _quern_place%u + _quern_reduced%u;\n"
            "            quern::bring_words<%u>(_quern_pool + _quern_room + _quern_base%u, "
            "_quern_start%u, _quern_slice%u + (_quern_present - 1) * _quern_pace%u, "
            "_quern_low%u, _quern_end%u);\n"
            "            _quern_next_shelf%u = _quern_room + _quern_base%u + "
            "quern::phase(_quern_start%u);\n",
            k, k, k, call->operands[k].item_size, k, k, k, k, k, k, k, k, k);
    }
    if (call->kernel->uses_position) {
        qn_text_printf(
            out, "            _quern_next_place = (%s)(_quern_walk.place + _quern_reduced%u);\n",
            position_type(call), call->operand_count);
    }
}

static void keep_hole(qn_text *out, const qn_call *call)
{
    for (uint32_t k = 0; k < call->input_operands; k++) {
        qn_text_printf(out, "        _quern_shelf%u = _quern_next_shelf%u;\n", k, k);
    }
    if (call->kernel->uses_position) {
        qn_text_puts(out, "        _quern_place = _quern_next_place;\n");
    }
}

/* Where the thread's outputs lie in the box at hand, and its elements from there. */
static void paces_hole(qn_text *out, const qn_call *call)
{
    for (uint32_t k = 0; k < call->input_operands; k++) {
        qn_text_printf(out,
                       "            int _quern_rack%u[_quern_outputs];\n"
                       "#pragma unroll\n"
                       "            for (int _quern_lane = 0; _quern_lane < _quern_outputs; "
                       "_quern_lane++) {\n"
                       "                _quern_rack%u[_quern_lane] = _quern_shelf%u + "
                       "_quern_spot%u[_quern_lane];\n"
                       "            }\n"
                       "            int _quern_lies%u = _quern_from%u;\n",
                       k, k, k, k, k, k);
    }
    if (call->kernel->uses_position) {
        qn_text_printf(out, "            %s _quern_lies%u = _quern_place + _quern_from%u;\n",
                       position_type(call), call->operand_count, call->operand_count);
    }
    if (call->fold.form.joined > 1) {
        qn_text_puts(out, "            int _quern_column = _quern_begin;\n");
    }
}

static void lane_hole(qn_text *out, const qn_call *call)
{
    const bool two = call->fold.form.joined > 1;
    if (two) {
        qn_text_puts(out, "                    _quern_column += _quern_on;\n"
                          "                    const bool _quern_over = _quern_column >= "
                          "_quern_width;\n"
                          "                    _quern_column -= _quern_over ? _quern_width : 0;\n");
    }
    for (uint32_t k = 0; k < qn_fold_rows(call); k++) {
        if (goes(call, k)) {
            qn_text_printf(out, "                    _quern_lies%u += _quern_step%u", k, k);
            if (two) {
                qn_text_printf(out, " + (_quern_over ? _quern_back%u : 0)", k);
            }
            qn_text_puts(out, ";\n");
        }
    }
}

static void recall_hole(qn_text *out, const qn_call *call)
{
    for (uint32_t k = 0; k < call->input_operands; k++) {
        const char *type = qn_source_type(call, call->operand_parameter[k]);
        qn_text_printf(out, "                    const %s _quern_register%u = ", type, k);
        if (qn_source_is_bool(call, k)) {
            qn_text_puts(out, "quern::truth");
        } else {
            qn_text_printf(out, "*(const %s *)", type);
        }
        qn_text_printf(out, "(_quern_pool + _quern_rack%u[_quern_lane] + _quern_lies%u);\n", k, k);
    }
}

static void arguments_hole(qn_text *out, const qn_call *call)
{
    qn_source_arguments(out, call, false);
    if (call->kernel->uses_position) {
        qn_text_printf(out, "_quern_lies%u", call->operand_count);
    } else {
        qn_text_puts(out, "0");
    }
}

/* Combine with the identity, once; and where the output lies. */
static void finish_hole(qn_text *out, const qn_call *call)
{
    const qn_fold_form *f = &call->fold.form;
    const uint32_t first = call->input_operands, end = call->operand_count;
    qn_source_finish(out, call, "_quern_values[_quern_lane].value");
    for (uint32_t k = first; k < end; k++) {
        qn_text_printf(out, "            long long _quern_given%u = 0;\n", k);
    }
    inside(out, 3, f->outer, f->kept, "_quern_mine", "long long", "_quern_given", "", first, end);
    for (uint32_t k = first; k < end; k++) {
        qn_text_printf(
            out, "            char *const _quern_found%u = _quern_place%u + _quern_given%u;\n", k,
            k, k);
    }
    qn_text_puts(out, "            {\n");
    for (uint32_t k = first; k < end; k++) {
        qn_text_printf(out, "            char *const _quern_place%u = _quern_found%u;\n", k, k);
    }
}

/* ---- the whole ------------------------------------------------------------------------------ */

enum { QN_REDUCTION_HOLES(QN_HOLE_ID) };

void qn_source_joined_holes(qn_text *t, const qn_call *call)
{
    const qn_fold_form *f = &call->fold.form;
    qn_source_bounds(&t[BOUNDS], qn_fold_joined_held(f->turns, f->pool));
    form_hole(&t[FORM], call);
    qn_text_puts(&t[CHOOSES], qn_source_choice(&t[FORM], call) ? "1" : "0");
    ends_hole(&t[ENDS], call);
    spots_hole(&t[SPOTS], call);
    registers_hole(&t[REGISTERS], call);
    load_hole(&t[LOAD], call);
    keep_hole(&t[KEEP], call);
    paces_hole(&t[PACES], call);
    recall_hole(&t[RECALL], call);
    lane_hole(&t[LANE], call);
    arguments_hole(&t[ARGUMENTS], call);
    qn_text_printf(&t[POSITION], "_quern_lies%u", call->operand_count);
    finish_hole(&t[FINISH], call);
    qn_source_fold_outputs(&t[RESULTS], call, "0");
    qn_text_puts(&t[GIVE], "            }");
}
