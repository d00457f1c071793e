/* SPDX-License-Identifier: MIT
 *
 * Instructions, operands and values of registers as text. In: the PTX as it was read, since its
 * text is gone. Out: the instruction as one would write it (a label is shown as its line), and
 * values in the type that the instruction gives them.
 */
#include "ptx/watch/trace.h"

#include <inttypes.h>
#include <string.h>

static const char *register_name(const qn_ptx_function *function, int32_t reg)
{
    return function->registers[reg].name;
}

static void print_immediate(qn_text *out, const qn_ptx_operand *operand)
{
    if (!operand->is_float) {
        qn_text_printf(out, "%" PRId64, (int64_t)operand->bits);
    } else if (operand->float_bits == 32) {
        float value;
        memcpy(&value, &operand->bits, sizeof value);
        qn_text_printf(out, "%.9g", (double)value);
    } else {
        double value;
        memcpy(&value, &operand->bits, sizeof value);
        qn_text_printf(out, "%.17g", value);
    }
}

static void print_offset(qn_text *out, int64_t offset)
{
    if (offset != 0) {
        qn_text_printf(out, "%+" PRId64, offset);
    }
}

static void print_operand(qn_text *out, const qn_ptx_function *function,
                          const qn_ptx_operand *operand);

static void print_elements(qn_text *out, const qn_ptx_function *function,
                           const qn_ptx_operand *operand, const char *between)
{
    for (unsigned k = 0; k < operand->element_count; k++) {
        qn_text_puts(out, k ? between : "");
        print_operand(out, function, &operand->elements[k]);
    }
}

static void print_address(qn_text *out, const qn_ptx_function *function,
                          const qn_ptx_operand *operand)
{
    qn_text_puts(out, "[");
    if (operand->reg >= 0) {
        qn_text_puts(out, register_name(function, operand->reg));
        print_offset(out, operand->offset);
    } else if (operand->symbol) {
        qn_text_puts(out, operand->symbol->name);
        print_offset(out, operand->offset);
    } else {
        qn_text_printf(out, "%" PRId64, operand->offset);
    }
    qn_text_puts(out, "]");
}

static void print_label(qn_text *out, const qn_ptx_function *function, uint32_t target)
{
    if (target < function->instruction_count) {
        qn_text_printf(out, "line %u", function->instructions[target].line);
    } else {
        qn_text_puts(out, "the end");
    }
}

static void print_operand(qn_text *out, const qn_ptx_function *function,
                          const qn_ptx_operand *operand)
{
    qn_text_puts(out, operand->negated ? "!" : "");
    switch (operand->kind) {
    case QN_OPERAND_REGISTER:
        qn_text_puts(out, operand->reg >= 0 ? register_name(function, operand->reg) : "_");
        break;
    case QN_OPERAND_IMMEDIATE:
        print_immediate(out, operand);
        break;
    case QN_OPERAND_SPECIAL:
        qn_text_puts(out, operand->name);
        break;
    case QN_OPERAND_SYMBOL:
        qn_text_puts(out, operand->symbol ? operand->symbol->name : "?");
        print_offset(out, operand->offset);
        break;
    case QN_OPERAND_ADDRESS:
        print_address(out, function, operand);
        break;
    case QN_OPERAND_VECTOR:
        qn_text_puts(out, "{");
        print_elements(out, function, operand, ", ");
        qn_text_puts(out, "}");
        break;
    case QN_OPERAND_PAIR:
        print_elements(out, function, operand, "|");
        break;
    case QN_OPERAND_LABEL:
        print_label(out, function, operand->target);
        break;
    case QN_OPERAND_SINK:
        qn_text_puts(out, "_");
        break;
    case QN_OPERAND_LIST:
        if (operand->name) {
            qn_text_puts(out, operand->name);
        } else {
            qn_text_puts(out, "(");
            print_elements(out, function, operand, ", ");
            qn_text_puts(out, ")");
        }
        break;
    }
}

void qn_print_instruction(qn_text *out, const qn_ptx_function *function,
                          const qn_ptx_instruction *instruction)
{
    if (instruction->guard >= 0) {
        qn_text_printf(out, "@%s%s ", instruction->guard_negated ? "!" : "",
                       register_name(function, instruction->guard));
    }
    qn_text_puts(out, instruction->opcode);
    for (unsigned k = 0; k < instruction->operand_count; k++) {
        qn_text_puts(out, k ? ", " : " ");
        print_operand(out, function, &instruction->operands[k]);
    }
}

/* ---- values --------------------------------------------------------------------------------- */

/* Print large numbers in hexadecimal: they are more likely addresses than counts. */
static void print_integer(qn_text *out, uint64_t bits, unsigned width, char letter)
{
    const int64_t value =
        width < 64 ? (int64_t)(bits << (64 - width)) >> (64 - width) : (int64_t)bits;
    if (letter == 's' && value > INT32_MIN && value <= INT32_MAX) {
        qn_text_printf(out, "%" PRId64, value);
    } else if (letter == 'u' && bits <= UINT32_MAX) {
        qn_text_printf(out, "%" PRIu64, bits);
    } else {
        qn_text_printf(out, "0x%" PRIx64, bits);
    }
}

void qn_print_value(qn_text *out, const qn_warp *warp, const qn_traced_value *value, unsigned lane)
{
    const void *place = qn_at(warp, value->place);
    const uint64_t bits = qn_lane_value(place, value->register_bits, lane);
    qn_text_printf(out, "%s = ", value->name);
    if (value->register_bits == 1) {
        qn_text_puts(out, bits ? "true" : "false");
    } else if (value->register_bits == 128) {
        qn_text_printf(out, "0x%" PRIx64 "%016" PRIx64, ((const uint64_t *)place)[QN_LANES + lane],
                       bits);
    } else if (value->type.letter == 'f' && value->type.bits == 32 && value->register_bits == 32) {
        float number;
        memcpy(&number, &bits, sizeof number);
        qn_text_printf(out, "%.9g", (double)number);
    } else if (value->type.letter == 'f' && value->type.bits == 64 && value->register_bits == 64) {
        double number;
        memcpy(&number, &bits, sizeof number);
        qn_text_printf(out, "%.17g", number);
    } else {
        print_integer(out, bits, value->register_bits, value->type.letter);
    }
}
