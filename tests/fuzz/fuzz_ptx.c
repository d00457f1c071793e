/* SPDX-License-Identifier: MIT
 *
 * Fuzz target of the PTX reader: any bytes are read, laid out and given slots, or refused with a
 * sentence; and what is read can be walked from end to end.
 */
#include "ptx/ptx.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds)
{
    if (!holds) {
        abort();
    }
}

static void walk_operand(const qn_ptx_function *function, const qn_ptx_operand *operand)
{
    check(operand->reg < (int32_t)function->register_count);
    check(operand->kind != QN_OPERAND_REGISTER || operand->reg >= 0);
    check(operand->kind != QN_OPERAND_LABEL || operand->target < function->instruction_count);
    check(operand->kind != QN_OPERAND_SYMBOL || operand->symbol);
    for (uint32_t i = 0; i < operand->element_count; i++) {
        walk_operand(function, &operand->elements[i]);
    }
}

static void walk(const qn_ptx_function *function)
{
    check(function->frame_bytes % 64 == 0);
    for (uint32_t i = 0; i < function->instruction_count; i++) {
        const qn_ptx_instruction *instruction = &function->instructions[i];
        check(instruction->definitions <= instruction->operand_count);
        check(instruction->guard < (int32_t)function->register_count);
        for (uint32_t k = 0; k < instruction->operand_count; k++) {
            walk_operand(function, &instruction->operands[k]);
        }
    }
    for (uint32_t i = 0; i < function->register_count; i++) {
        check(function->registers[i].slot <= function->frame_bytes);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    qn_ptx_module *module;
    if (qn_ptx_read(&module, (const char *)data, size) != QUERN_OK) {
        check(module == NULL && quern_last_error()->message[0] != '\0');
        return 0;
    }
    for (uint32_t i = 0; i < module->function_count; i++) {
        walk(module->functions[i]);
    }
    qn_text places = {0};
    for (uint32_t i = 0; i < module->location_count; i++) {
        qn_ptx_print_location(&places, module, i);
    }
    qn_text_free(&places);
    qn_ptx_free(module);
    return 0;
}
