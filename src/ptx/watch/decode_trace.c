/* SPDX-License-Identifier: MIT
 *
 * Emits the operations of a trace: for the current instruction, where its registers are and with
 * which types it sees them. An instruction that was folded into a constant has no other operations.
 */
#include "ptx/watch/trace.h"

#include "ptx/decode/decode.h"

static qn_place place_of(qn_decoder *decoder, int32_t reg)
{
    const qn_place alias = decoder->alias[reg];
    return alias != QN_NO_PLACE ? alias : decoder->function->registers[reg].slot;
}

/* The number of registers in an operand and its elements; those of addresses are shown as
 * addresses. */
static uint32_t count_registers(const qn_ptx_operand *operand)
{
    uint32_t count = operand->kind == QN_OPERAND_REGISTER && operand->reg >= 0;
    for (unsigned k = 0; k < operand->element_count; k++) {
        count += count_registers(&operand->elements[k]);
    }
    return count;
}

static void add_values(qn_decoder *decoder, const qn_ptx_operand *operand, qn_ptx_type type,
                       qn_traced_value *values, uint32_t *count)
{
    if (operand->kind == QN_OPERAND_REGISTER && operand->reg >= 0) {
        const qn_ptx_register *reg = &decoder->function->registers[operand->reg];
        values[(*count)++] =
            (qn_traced_value){.name = reg->name,
                              .place = place_of(decoder, operand->reg),
                              .register_bits = (uint8_t)qn_register_bits(reg->type),
                              .type = type};
    }
    for (unsigned k = 0; k < operand->element_count; k++) {
        add_values(decoder, &operand->elements[k], type, values, count);
    }
}

/* What an instruction writes has the first type in its name, what it reads the last. */
static void find_types(const qn_opcode_words *words, qn_ptx_type *written, qn_ptx_type *read)
{
    *written = *read = (qn_ptx_type){.letter = 'b'};
    for (unsigned k = words->count; k-- > 1;) {
        char letter;
        unsigned bits;
        if (qn_parse_memory_type(words->word[k], &letter, &bits)) {
            *written = (qn_ptx_type){.letter = letter, .bits = (uint8_t)bits};
            *read = read->bits ? *read : *written;
        }
    }
}

/* Find where the base of an address is, if that is known before the instruction. */
static void find_address(qn_decoder *decoder, const qn_ptx_operand *operand, qn_traced *traced)
{
    if (operand->reg >= 0) {
        traced->address = place_of(decoder, operand->reg);
        traced->address_bits =
            (uint8_t)qn_register_bits(decoder->function->registers[operand->reg].type);
    } else if (operand->symbol) {
        const qn_ptx_operand base = {.kind = QN_OPERAND_SYMBOL, .symbol = operand->symbol};
        traced->address = qn_place_stable(decoder, &base, 64);
        traced->address_bits = 64;
    }
    traced->address_offset = operand->offset;
}

static qn_traced *describe(qn_decoder *decoder)
{
    const qn_ptx_instruction *instruction = decoder->instruction;
    uint32_t registers = 0, count = 0;
    qn_ptx_type written, read;
    for (unsigned k = 0; k < instruction->operand_count; k++) {
        registers += count_registers(&instruction->operands[k]);
    }
    qn_traced *traced = qn_decode_alloc(decoder, sizeof *traced);
    qn_traced_value *values = qn_decode_alloc(decoder, (registers + 1) * sizeof *values);
    if (!traced || !values) {
        return NULL;
    }
    *traced = (qn_traced){.function = decoder->function,
                          .instruction = instruction,
                          .guard = QN_NO_PLACE,
                          .address = QN_NO_PLACE,
                          .values = values};
    if (instruction->guard >= 0) {
        traced->guard = place_of(decoder, instruction->guard);
    }
    find_types(&decoder->words, &written, &read);
    for (unsigned k = instruction->definitions; k < instruction->operand_count; k++) {
        if (instruction->operands[k].kind == QN_OPERAND_ADDRESS && traced->address == QN_NO_PLACE) {
            find_address(decoder, &instruction->operands[k], traced);
        }
        add_values(decoder, &instruction->operands[k], read, values, &count);
    }
    traced->read_count = count;
    for (unsigned k = 0; k < instruction->definitions && k < instruction->operand_count; k++) {
        add_values(decoder, &instruction->operands[k], written, values, &count);
    }
    traced->written_count = count - traced->read_count;
    return traced;
}

static void emit(qn_decoder *decoder, qn_op_function function, const qn_traced *traced)
{
    qn_op *op = qn_emit_function(decoder, function);
    op->guard = QN_NO_PLACE;
    op->extra = traced;
}

const qn_traced *qn_trace_decode_before(qn_decoder *decoder)
{
    if (!(decoder->code->kind & QN_CODE_TRACED)) {
        return NULL;
    }
    const qn_traced *traced = describe(decoder);
    if (traced) {
        emit(decoder, qn_run_trace_before, traced);
    }
    return traced;
}

void qn_trace_decode_behind(qn_decoder *decoder, const qn_traced *traced)
{
    if (traced && traced->written_count > 0) {
        emit(decoder, qn_run_trace_behind, traced);
    }
}
