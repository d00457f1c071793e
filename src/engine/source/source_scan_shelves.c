/* SPDX-License-Identifier: MIT
 *
 * source_scan_shelves: elements of a scan or a map that wait in shared memory, of which a thread
 * takes a few at once. In: a call, and what writes the address of the element at hand for an
 * operand. Out: the inputs of a batch, those of each of its elements, and post for it. The thing to
 * know: results go to the place of an element that no one asks for again, and to memory only when
 * all are there.
 */
#include "engine/source/source_folds.h"

static const char *type_of(const qn_call *call, uint32_t k)
{
    return qn_source_type(call, call->operand_parameter[k]);
}

void qn_source_shelves_take(qn_text *out, const qn_call *call, qn_shelf_writer *shelf)
{
    for (uint32_t k = 0; k < call->input_operands; k++) {
        const char *type = type_of(call, k);
        qn_text_printf(out,
                       "                quern::slot<%s> _quern_taken%u[_quern_together];\n"
                       "#pragma unroll\n"
                       "                for (int _quern_item = 0; _quern_item < _quern_batch; "
                       "_quern_item++) {\n"
                       "                    [[maybe_unused]] const int _quern_spot = _quern_at + "
                       "_quern_item;\n"
                       "                    _quern_taken%u[_quern_item].value = ",
                       type, k, k);
        if (qn_source_is_bool(call, k)) {
            qn_text_puts(out, "quern::truth");
        } else {
            qn_text_printf(out, "*(const %s *)", type);
        }
        shelf(out, call, k);
        qn_text_puts(out, ";\n                }\n");
    }
}

/* Copies, since a text may choose between two by address, and arrays would go to memory then. */
void qn_source_shelves_item(qn_text *out, const qn_call *call, const char *name)
{
    for (uint32_t k = 0; k < call->input_operands; k++) {
        qn_source_indent(out, 5);
        qn_text_printf(out, "const %s %s%u = _quern_taken%u[_quern_item].value;\n",
                       type_of(call, k), name, k, k);
    }
}

/* A thread of 256 that share a processor with four other blocks has 48 registers. */
#define TAKEN 12 /* of them for inputs */

int qn_source_shelves_together(const qn_call *call)
{
    uint32_t registers = 0;
    for (uint32_t k = 0; k < call->input_operands; k++) {
        registers += qn_over(call->operands[k].item_size, 4);
    }
    const int most = registers <= TAKEN / 4 ? 4 : registers <= TAKEN / 2 ? 2 : 1;
    const int known = call->fold.form.known;
    return known > 0 && known < most ? known : most;
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
