/* SPDX-License-Identifier: MIT
 *
 * Finds instructions that need no work at run time: a register that is written once, by a move of a
 * constant or a load of a kernel's parameter, stands for a place in the pool. This is done for a
 * whole function before anything is emitted, so that uses which come earlier in the layout see it
 * too.
 */
#include "ptx/decode/decode.h"

#include <string.h>

static bool is_written_once(const qn_decoder *decoder, const qn_ptx_operand *operand)
{
    return operand->kind == QN_OPERAND_REGISTER && operand->reg >= 0 &&
           decoder->definitions[operand->reg] == 1;
}

static unsigned register_bits(const qn_decoder *decoder, const qn_ptx_operand *operand)
{
    return qn_register_bits(decoder->function->registers[operand->reg].type);
}

/* mov d, constant; cvta that changes nothing. */
static bool fold_move(qn_decoder *decoder)
{
    const qn_ptx_instruction *instruction = decoder->instruction;
    if (instruction->operand_count != 2 || !is_written_once(decoder, &instruction->operands[0])) {
        return false;
    }
    const int32_t reg = instruction->operands[0].reg;
    const unsigned bits = register_bits(decoder, &instruction->operands[0]);
    const qn_ptx_operand *source = &instruction->operands[1];
    if (source->kind == QN_OPERAND_REGISTER && register_bits(decoder, source) != bits) {
        return false;
    }
    qn_place place = qn_place_stable(decoder, source, bits);
    if (place == QN_NO_PLACE) {
        return false;
    }
    decoder->alias[reg] = place;
    return true;
}

/* ld.param of a kernel: all elements must be foldable, as the instruction goes or stays whole. */
static bool fold_param(qn_decoder *decoder)
{
    const qn_ptx_instruction *instruction = decoder->instruction;
    const char *type = decoder->words.word[decoder->words.count - 1];
    uint64_t offset;
    char letter;
    unsigned bits;
    if (instruction->operand_count != 2 || instruction->operands[1].kind != QN_OPERAND_ADDRESS ||
        instruction->operands[1].reg >= 0 ||
        !qn_is_kernel_param(decoder, &instruction->operands[1], &offset) ||
        !qn_parse_memory_type(type, &letter, &bits)) {
        return false;
    }
    const qn_ptx_operand *target = &instruction->operands[0];
    const bool vector = target->kind == QN_OPERAND_VECTOR;
    const unsigned count = vector ? target->element_count : 1;
    const qn_ptx_operand *elements = vector ? target->elements : target;
    if (offset + (uint64_t)count * bits / 8 > decoder->function->param_bytes) {
        return false;
    }
    for (unsigned k = 0; k < count; k++) {
        if (elements[k].kind != QN_OPERAND_SINK &&
            (!is_written_once(decoder, &elements[k]) ||
             !qn_element_find(bits, letter == 's', register_bits(decoder, &elements[k])))) {
            return false;
        }
    }
    for (unsigned k = 0; k < count; k++) {
        if (elements[k].kind == QN_OPERAND_SINK) {
            continue;
        }
        const int32_t reg = elements[k].reg;
        const qn_patch patch = {
            .kind = QN_PATCH_PARAM,
            .memory_bits = (uint8_t)bits,
            .register_bits = (uint8_t)register_bits(decoder, &elements[k]),
            .is_signed = letter == 's',
            .offset = (int64_t)(offset + k * bits / 8),
        };
        decoder->alias[reg] = qn_place_patch(decoder, &patch);
    }
    return true;
}

bool qn_fold_constants(qn_decoder *decoder)
{
    const qn_opcode_words *words = &decoder->words;
    if (decoder->instruction->guard >= 0) {
        return false;
    }
    if (qn_word_is(words, 0, "mov")) {
        return fold_move(decoder);
    }
    if (qn_word_is(words, 0, "cvta")) {
        return !qn_word_has(words, "shared") && fold_move(decoder);
    }
    return qn_word_is(words, 0, "ld") && qn_word_is(words, 1, "param") && fold_param(decoder);
}
