/* SPDX-License-Identifier: MIT
 *
 * source_fold: the walk of reductions and scans, in CUDA C++. In: the form of a fold. Out: where an
 * output and a unit lie, and how elements come into registers. The thing to know: `_quern_placeK`
 * is where operand K's elements of the output begin, `_quern_reducedK` what the reduced dimensions
 * add; the dimension along which lanes lie is left out of them, and `_quern_element` is the place
 * of a unit's first element in it. The code for the operands stays text in C: passed to a function
 * of a header as lambdas, it makes NVRTC take a fifth longer over a sum.
 */
#include "engine/source/source_folds.h"

/* `_j`: the position in the input if its reduced axes were moved to the front, as the body of a
 * lambda that the text's own body stands in. */
static void flat_position(qn_text *out, const qn_call *call)
{
    const qn_fold_form *f = &call->fold.form;
    qn_text_puts(out, "    {\n        ptrdiff_t _quern_place = 0;\n");
    for (int d = 0; d < f->kept; d++) {
        int lanes = f->columns && d == qn_fold_lane_dim(f) ? f->lanes : 1;
        qn_text_printf(
            out,
            "        _quern_place = _quern_place * (_quern_walk.extent[%d].value * %d) + "
            "_out_ind.at[%d];\n",
            d, lanes, d);
    }
    qn_text_puts(out, "        const ptrdiff_t _j = _quern_place + _J * _out_ind.count;\n");
}

bool qn_source_adds(const qn_call *call)
{
    const qn_fold_form *f = &call->fold.form;
    return !f->scan && !f->joined && !f->whole && !f->apart && !f->spans && !f->phases &&
           qn_fold_adds_narrow(call);
}

/* The closing brace comes one line past the statements: that is where the compiler misses a
 * return. */
void qn_source_function(qn_text *out, const qn_call *call, qn_text_id id)
{
    const bool flat = id == QN_MAP && (call->kernel->names & QN_NAMES_J);
    if (flat) {
        flat_position(out, call);
    }
    if (qn_text_is_statements(call->kernel->texts[id].text)) {
        qn_text_puts(out, "    {\n");
        qn_source_closed(out, call, id, ";\n}");
    } else if (id == QN_MAP && qn_source_adds(call)) {
        qn_text_puts(out, "    {\n        return quern::mapped<_type_reduce>(\n");
        qn_source_closed_text(out, call, id, qn_fold_uncast(call), ");");
        qn_text_puts(out, "    }");
    } else {
        qn_text_puts(out, "    {\n        return static_cast<_type_reduce>(\n");
        qn_source_closed(out, call, id, ");");
        qn_text_puts(out, "    }");
    }
    qn_text_puts(out, flat ? "\n    }" : "");
}

uint32_t qn_source_anchor(const qn_call *call)
{
    uint32_t k = 0;
    while (!qn_fold_is_pack(call->fold.form.access[k])) {
        k++;
    }
    return k;
}

/* The axis of the inputs' shape that dimension `d` of the fold is; only where none were merged. */
static int axis_of(const qn_call *call, int d)
{
    bool reduced = d >= call->fold.form.kept;
    int left = reduced ? d - call->fold.form.kept : d;
    for (int axis = 0; axis < call->ndim; axis++) {
        if ((call->axes >> axis & 1) == reduced && left-- == 0) {
            return axis;
        }
    }
    return 0;
}

void qn_source_position_of(qn_text *out, const qn_call *call, int levels, int d, const char *at)
{
    if (!call->kernel->uses_axes) {
        return;
    }
    qn_source_indent(out, levels);
    qn_text_printf(out, "_in_ind.at[%d] = %s;\n", axis_of(call, d), at);
    if (d < call->fold.form.kept) {
        qn_source_indent(out, levels);
        qn_text_printf(out, "_out_ind.at[%d] = %s;\n", d, at);
    }
}

/* The place of a unit that may lie further back, and the first lane that is its own; of rows also
 * where it lies among all elements. */
static void cut_element(qn_text *out, int levels, const qn_fold_form *f)
{
    const char *own = f->columns ? "const int _quern_own" : "_quern_owns[_quern_turn]";
    qn_source_indent(out, levels);
    qn_text_printf(out,
                   "_quern_element = min(_quern_coordinate * %d, _quern_walk.head - %d);\n"
                   "%*s%s = (int)(_quern_coordinate * %d - _quern_element);\n",
                   f->lanes, f->lanes, 4 * levels, "", own, f->lanes);
    if (!f->columns) {
        qn_source_indent(out, levels);
        qn_text_puts(out, "_quern_spots[_quern_turn] = "
                          "_quern_outer * _quern_walk.head + _quern_element;\n");
    }
}

/* How far operand `k` moves in `count` steps along dimension `d`. Where each element of a tile has
 * a row of its own to look up, products are written as one instruction; elsewhere most are the same
 * for the block, and the compiler does better by itself. */
static void strides(qn_text *out, const qn_call *call, uint32_t k, int d, const char *count)
{
    const qn_fold_form *f = &call->fold.form;
    const bool own = f->staged && !f->line_in && !f->stage_in && !f->stage_out;
    qn_text_printf(out,
                   own ? "quern::product(%s, _quern_walk.stride[%u][%d])"
                       : "(long long)(%s) * _quern_walk.stride[%u][%d]",
                   count, k, d);
}

void qn_source_split(qn_text *out, const qn_call *call, int levels, int first, int last,
                     const char *from, const char *prefix, uint32_t operand, uint32_t end)
{
    const qn_fold_form *f = &call->fold.form;
    for (uint32_t k = operand; k < end; k++) {
        qn_source_indent(out, levels);
        qn_text_printf(out, "long long %s%u = 0;\n", prefix, k);
    }
    if (first == last) {
        return;
    }
    qn_source_indent(out, levels);
    qn_text_printf(out, "_quern_index _quern_outer = %s, _quern_coordinate;\n", from);
    for (int d = last - 1; d >= first; d--) {
        qn_source_indent(out, levels);
        if (d > first) {
            qn_text_printf(out,
                           "_quern_coordinate = _quern_outer; _quern_outer = "
                           "_quern_walk.extent[%d].divide(_quern_coordinate); "
                           "_quern_coordinate -= _quern_outer * _quern_walk.extent[%d].value;\n",
                           d, d);
        } else {
            qn_text_puts(out, "_quern_coordinate = _quern_outer;\n");
        }
        if (d == qn_fold_lane_dim(f) && f->cut) {
            cut_element(out, levels, f);
            continue;
        }
        if (d == qn_fold_lane_dim(f)) {
            qn_source_indent(out, levels);
            qn_text_printf(out, "_quern_element = _quern_coordinate * %d%s;\n",
                           f->parts   ? (int)qn_fold_part_columns(f)
                           : f->swath ? QN_SWATH_UNITS * f->lanes
                                      : f->lanes,
                           f->columns || f->lanes == 1 || f->scan || qn_fold_is_lined(f)
                               ? ""
                               : " + _quern_head");
            continue;
        }
        for (uint32_t k = operand; k < end; k++) {
            qn_source_indent(out, levels);
            qn_text_printf(out, "%s%u += ", prefix, k);
            strides(out, call, k, d, "_quern_coordinate");
            qn_text_puts(out, ";\n");
        }
        qn_source_position_of(out, call, levels, d, "_quern_coordinate");
    }
}

static const char *constant(const qn_call *call, uint32_t k)
{
    return call->operands[k].output ? "" : "const ";
}

void qn_source_spots(qn_text *room, qn_text *keep, const qn_call *call)
{
    const int lane = qn_fold_lane_dim(&call->fold.form);
    for (uint32_t k = 0; k < call->operand_count; k++) {
        qn_text_printf(room, "    %schar *_quern_spot%u[_quern_outputs];\n", constant(call, k), k);
        qn_text_printf(keep, "        _quern_spot%u[_quern_lane] = _quern_place%u", k, k);
        if (lane >= 0) {
            qn_text_printf(keep, " + (long long)_quern_element * _quern_walk.stride[%u][%d]", k,
                           lane);
        }
        qn_text_puts(keep, ";\n");
    }
}

void qn_source_spot(qn_text *out, const qn_call *call, int levels, uint32_t k)
{
    qn_source_indent(out, levels);
    qn_text_printf(out, "%schar *const _quern_place%u = _quern_spot%u[_quern_lane];\n",
                   constant(call, k), k, k);
}

void qn_source_reduced(qn_text *out, const qn_call *call, int levels, uint32_t first, uint32_t end)
{
    const qn_fold_form *f = &call->fold.form;
    qn_source_split(out, call, levels, f->kept, f->kept + f->reduced, "_quern_unit",
                    "_quern_reduced", first, end);
}

/* How far the element of operand `k` at place `at` lies from where its output begins. */
static void add_offset(qn_text *out, const qn_call *call, uint32_t k, const char *at)
{
    const qn_operand *o = &call->operands[k];
    const qn_fold_form *f = &call->fold.form;
    bool moves = k < qn_fold_moving(f, call->input_operands, call->operand_count);
    int lane = qn_fold_lane_dim(f);
    if (moves && !f->runs && !f->held && !f->packed) { /* those count along one reduced dimension */
        qn_text_printf(out, " + _quern_reduced%u", k);
    }
    if (moves && f->access[k] == QN_ACCESS_LOCATED) {
        qn_text_printf(out, " + _quern_located%u(%s)", k, at);
        return;
    }
    if (lane >= 0 && (moves || f->columns)) {
        uint8_t access = moves ? f->access[k] : QN_ACCESS_STRIDED;
        if (f->boxed || (f->whole && access != QN_ACCESS_BROADCAST)) {
            /* in boxes rows lie as they lie; of whole ones lanes are a row apart */
            access = QN_ACCESS_STRIDED;
        }
        if (access == QN_ACCESS_STRIDED || access == QN_ACCESS_BACK) {
            qn_text_puts(out, " + ");
            strides(out, call, k, lane, at);
        } else if (access != QN_ACCESS_BROADCAST) {
            qn_text_printf(out, " + (long long)(%s) * %u", at, o->item_size);
        }
    }
}

static void address(qn_text *out, const qn_call *call, uint32_t k, const char *at)
{
    qn_text_printf(out, "_quern_place%u", k);
    add_offset(out, call, k, at);
}

void qn_source_fold_offset(qn_text *out, const qn_call *call, uint32_t k, const char *at)
{
    qn_text_printf(out, "_quern_kept%u", k);
    add_offset(out, call, k, at);
}

void qn_source_fold_element(qn_text *out, const qn_call *call, uint32_t k, const char *at)
{
    qn_source_place_begin(out, call, k);
    address(out, call, k, at);
    qn_source_place_end(out, call, k);
}

void qn_source_fold_value(qn_text *out, const qn_call *call, uint32_t k, const char *at)
{
    qn_source_read_begin(out, call, k);
    qn_source_fold_element(out, call, k, at);
    qn_source_read_end(out, call, k);
    qn_text_puts(out, ";\n");
}

void qn_source_fold_output(qn_text *out, const qn_call *call, uint32_t k, const char *at)
{
    uint32_t p = call->operand_parameter[k];
    bool copied = call->types.parameters[p] == QUERN_BOOL && !call->kernel->uses_by_address[p];
    if (qn_array_is_packed(call->arrays[p])) {
        const char *type = qn_source_type(call, p);
        qn_text_printf(out, "quern::packed_output<%s, %s>(", type,
                       qn_source_word(call->arrays[p]->reach));
        address(out, call, k, at);
        qn_text_puts(out, "), ");
        return;
    }
    qn_text_puts(out, copied ? "quern::bool_output(&" : "");
    qn_source_fold_element(out, call, k, at);
    qn_text_puts(out, copied ? "), " : ", ");
}

void qn_source_register_type(qn_text *out, const qn_call *call, uint32_t k, bool pack)
{
    const char *type = qn_source_type(call, call->operand_parameter[k]);
    if (pack && call->fold.form.access[k] != QN_ACCESS_BROADCAST) {
        qn_text_printf(out, "%s<%s, %d>", qn_source_pack(call, k), type, call->fold.form.lanes);
    } else {
        qn_text_puts(out, type);
    }
}

void qn_source_load_input(qn_text *out, const qn_call *call, int levels, uint32_t k, const char *at,
                          bool pack)
{
    const qn_fold_form *f = &call->fold.form;
    qn_source_indent(out, levels);
    if (!pack || f->access[k] == QN_ACCESS_BROADCAST) {
        qn_text_printf(out, "const %s _quern_register%u = ",
                       qn_source_type(call, call->operand_parameter[k]), k);
        qn_source_fold_value(out, call, k, at);
        return;
    }
    qn_source_register_type(out, call, k, true);
    qn_text_printf(out, " _quern_register%u;\n", k);
    qn_source_indent(out, levels);
    if (f->access[k] == QN_ACCESS_VECTOR) {
        qn_text_printf(out, "_quern_register%u.load(&", k);
        qn_source_fold_element(out, call, k, at);
        qn_text_puts(out, ");\n");
        return;
    }
    qn_text_printf(out,
                   "for (int _quern_lane = 0; _quern_lane < %d; _quern_lane++) "
                   "_quern_register%u.v[_quern_lane] = ",
                   f->lanes, k);
    qn_source_fold_value(out, call, k, "_quern_element + _quern_lane");
}

void qn_source_load(qn_text *out, const qn_call *call, int levels, const char *at, bool pack)
{
    for (uint32_t k = 0; k < call->input_operands; k++) {
        qn_source_load_input(out, call, levels, k, at, pack);
    }
}

void qn_source_arguments(qn_text *out, const qn_call *call, bool pack)
{
    for (uint32_t k = 0; k < call->input_operands; k++) {
        bool lane = pack && call->fold.form.access[k] != QN_ACCESS_BROADCAST;
        qn_text_printf(out, lane ? "_quern_register%u.v[_quern_lane], " : "_quern_register%u, ", k);
    }
}

/* ---- the holes of both ---------------------------------------------------------------------- */

/* `_type_reduce`, the type of the values that are combined: the user's, or that of the first
 * output. */
static void value_type_hole(qn_text *out, const qn_call *call)
{
    const qn_user_text *type = &call->kernel->texts[QN_REDUCE_TYPE];
    if (type->text[0] == '\0') {
        qn_text_printf(out, "typedef %s _type_reduce;",
                       qn_source_type(call, call->kernel->signature.input_count));
        return;
    }
    qn_text_puts(out, "typedef\n");
    qn_source_closed(out, call, QN_REDUCE_TYPE, "_type_reduce;");
    qn_text_printf(out,
                   "#line 1 \"%s\"\n"
                   "static_assert(__is_trivially_copyable(_type_reduce),"
                   " \"%s must be trivially copyable\");\n"
                   "#line 1 \"%s\"\n"
                   "static_assert(sizeof(_type_reduce) <= %d,"
                   " \"%s must have at most %d bytes\");\n"
                   "#line 2 \"" QN_AFTER "%s>\"",
                   type->file_name, type->file_name, type->file_name, QN_VALUE_BYTES,
                   type->file_name, QN_VALUE_BYTES, type->file_name);
}

/* Those of the signature, the walk, and the workspace. */
void qn_source_fold_parameters(qn_text *out, const qn_call *call)
{
    const qn_fold_form *f = &call->fold.form;
    qn_source_parameters(out, call, !call->aliased);
    qn_text_printf(out, "const quern::fold<%s, %d, %u> _quern_walk", qn_source_index(f->wide),
                   f->kept + f->reduced + f->placed, qn_fold_rows(call));
    qn_text_puts(out, f->split ? ", char *_quern_workspace" : "");
}

/* `_in_ind` and `_out_ind`, where a text uses them. */
static void positions_hole(qn_text *out, const qn_call *call)
{
    if (call->kernel->uses_axes || call->kernel->counts) {
        qn_text_puts(out, "    ");
        qn_source_indexer(out, call, call->ndim);
        qn_text_puts(out, " _in_ind;\n    ");
        qn_source_indexer(out, call, call->fold.form.kept);
        qn_text_puts(out, " _out_ind;\n"
                          "    _out_ind.count = _quern_walk.results;\n"
                          "    _in_ind.count = (ptrdiff_t)_quern_walk.results * "
                          "(_quern_walk.covered + _quern_walk.rest);\n");
    }
}

/* Offsets `_quern_keptK` of output `_quern_output`, and `_quern_element` where lanes lie along it.
 */
static void kept_hole(qn_text *out, const qn_call *call)
{
    const qn_fold_form *f = &call->fold.form;
    qn_source_split(out, call, 1, 0,
                    f->spans || f->phases || f->joined || f->boxed ? f->outer : f->kept,
                    "_quern_output", "_quern_kept", 0, call->operand_count);
    for (uint32_t k = 0; k < call->operand_count; k++) {
        const char *constant = call->operands[k].output ? "" : "const ";
        qn_text_printf(
            out,
            "    [[maybe_unused]] %schar *const _quern_place%u = (%schar *)_quern_array%u + "
            "_quern_kept%u;\n",
            constant, k, constant, call->operand_parameter[k], k);
    }
}

void qn_source_bounds(qn_text *out, int blocks)
{
    qn_text_printf(out, "%d, QUERN_BLOCKS(%d)", QN_FOLD_BLOCK, blocks);
}

enum { QN_FOLD_HOLES(QN_HOLE_ID) };

void qn_source_fold_holes(qn_text *holes, const qn_call *call)
{
    value_type_hole(&holes[VALUE_TYPE], call);
    qn_source_fold_parameters(&holes[PARAMETERS], call);
    positions_hole(&holes[POSITIONS], call);
    qn_source_operands(&holes[INPUTS], call, 0, call->input_operands);
    qn_source_function(&holes[MAP], call, QN_MAP);
    qn_source_closed(&holes[POST], call, QN_POST, ";");
    kept_hole(&holes[KEPT], call);
}
