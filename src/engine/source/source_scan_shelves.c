/* SPDX-License-Identifier: MIT
 *
 * source_scan_shelves: elements of a scan that wait in shared memory while they are scanned, each
 * by itself. In: a call, and what writes the address of the element at hand for an operand. Out:
 * its inputs as `_quern_inputK`, and post for it. The thing to know: results go to the place of an
 * element that no one asks for again, and to memory only when all are there.
 */
#include "engine/source/source_folds.h"

static const char *type_of(const qn_call *call, uint32_t k)
{
    return qn_source_type(call, call->operand_parameter[k]);
}

void qn_source_shelf_value(qn_text *out, const qn_call *call, uint32_t k, qn_shelf_writer *shelf)
{
    if (qn_source_is_bool(call, k)) {
        qn_text_puts(out, "quern::truth");
    } else {
        qn_text_printf(out, "*(const %s *)", type_of(call, k));
    }
    shelf(out, call, k);
}

void qn_source_shelves_take(qn_text *out, const qn_call *call, qn_shelf_writer *shelf,
                            const char *name)
{
    for (uint32_t k = 0; k < call->input_operands; k++) {
        qn_source_indent(out, 4);
        qn_text_printf(out, "const %s %s%u = ", type_of(call, k), name, k);
        qn_source_shelf_value(out, call, k, shelf);
        qn_text_puts(out, ";\n");
    }
}

static void inputs(qn_text *out, const qn_call *call)
{
    for (uint32_t k = 0; k < call->input_operands; k++) {
        qn_text_printf(out, "_quern_input%u, ", k);
    }
}

static const char *position(const qn_call *call)
{
    return call->kernel->uses_position ? "_quern_start + _quern_spot" : "0";
}

void qn_source_shelves_arguments(qn_text *out, const qn_call *call)
{
    inputs(out, call);
    qn_text_puts(out, position(call));
}

void qn_source_shelves_put(qn_text *out, const qn_call *call, qn_shelf_writer *shelf,
                           const char *name)
{
    for (uint32_t k = call->input_operands; k < call->operand_count; k++) {
        qn_source_indent(out, 4);
        qn_text_printf(out, "*(%s *)", type_of(call, k));
        shelf(out, call, k);
        qn_text_printf(out, " = %s%u;\n", name, k);
    }
}

/* Post may leave an output as it is: then memory keeps what it has. */
void qn_source_shelves_give(qn_text *out, const qn_call *call, qn_shelf_writer *shelf,
                            const char *at)
{
    const uint32_t first = call->input_operands, end = call->operand_count;
    for (uint32_t k = first; k < end; k++) {
        qn_source_indent(out, 4);
        qn_text_printf(out, "%s _quern_result%u = ", type_of(call, k), k);
        qn_source_fold_value(out, call, k, at);
    }
    qn_source_indent(out, 4);
    qn_text_puts(out, "_quern_post(");
    inputs(out, call);
    for (uint32_t k = first; k < end; k++) {
        qn_text_printf(out, "_quern_result%u, ", k);
    }
    qn_text_printf(out, "%s, _quern_value.value);\n", position(call));
    qn_source_shelves_put(out, call, shelf, "_quern_result");
}
