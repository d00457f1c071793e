/* SPDX-License-Identifier: MIT
 *
 * What a launch that is watched must know of registers: which of them only carry a value from
 * memory to memory, as a copied structure's do, and which are loaded and never used. In: all
 * instructions of a function. Out: for the registers of a load or store, the places where it
 * is kept what is known of such values.
 */
#include "ptx/decode.h"

#include <string.h>

enum { LOADED = 1, STORED = 2, OTHERWISE = 4 }; /* how a register is defined and used */

static void note(qn_decoder *decoder, const qn_ptx_operand *operand, uint8_t how)
{
    const bool is_value =
        operand->kind == QN_OPERAND_REGISTER || operand->kind == QN_OPERAND_VECTOR;
    if (operand->kind != QN_OPERAND_VECTOR && operand->reg >= 0) {
        decoder->uses[operand->reg] |= is_value ? how : OTHERWISE;
    }
    for (unsigned k = 0; k < operand->element_count; k++) {
        note(decoder, &operand->elements[k], is_value ? how : OTHERWISE);
    }
}

static bool begins_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

/* Parameters are not memory that is watched: what comes from there is always written. */
static void note_instruction(qn_decoder *decoder, const qn_ptx_instruction *instruction)
{
    const bool is_param = strstr(instruction->opcode, ".param") != NULL;
    const bool loads = begins_with(instruction->opcode, "ld.") && !is_param;
    const bool stores = begins_with(instruction->opcode, "st.") && !is_param;
    if (instruction->guard >= 0) {
        decoder->uses[instruction->guard] |= OTHERWISE;
    }
    for (unsigned k = 0; k < instruction->operand_count; k++) {
        const uint8_t how = loads && k == 0 ? LOADED : stores && k == 1 ? STORED : OTHERWISE;
        note(decoder, &instruction->operands[k], how);
    }
}

bool qn_watch_decode(qn_decoder *decoder)
{
    const qn_ptx_function *function = decoder->function;
    const uint32_t count = function->register_count;
    if (!(decoder->code->kind & QN_CODE_WATCHED)) {
        return true;
    }
    decoder->uses = qn_decode_alloc(decoder, count + 1);
    decoder->copies = qn_decode_alloc(decoder, (count + 1) * sizeof *decoder->copies);
    if (decoder->failed) {
        return false;
    }
    for (uint32_t k = 0; k < function->instruction_count; k++) {
        note_instruction(decoder, &function->instructions[k]);
    }
    return true;
}

/* Where it is kept what is known of a register's value. Place 0 of a frame is a register's: it
 * means none here yet. */
static qn_place copy_of(qn_decoder *decoder, const qn_ptx_operand *operand)
{
    if (operand->kind == QN_OPERAND_SINK) {
        return QN_UNUSED;
    }
    if (operand->kind != QN_OPERAND_REGISTER || operand->reg < 0) {
        return QN_NO_PLACE;
    }
    const uint8_t uses = decoder->uses[operand->reg];
    if (uses == LOADED) {
        return QN_UNUSED;
    }
    if (uses != (LOADED | STORED)) {
        return QN_NO_PLACE;
    }
    qn_place *copy = &decoder->copies[operand->reg];
    if (!*copy) {
        *copy = qn_place_scratch(decoder, 128);
    }
    return *copy;
}

void qn_watch_bind(qn_decoder *decoder, const qn_ptx_operand *elements, unsigned count,
                   qn_access *access)
{
    for (unsigned k = 0; k < count && decoder->uses; k++) {
        access->copies[k] = copy_of(decoder, &elements[k]);
    }
}
