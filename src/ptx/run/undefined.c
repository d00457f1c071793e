/* SPDX-License-Identifier: MIT
 *
 * Finds what a module uses and does not define. In: a module that has been read. Out: QUERN_OK, or
 * the first function or variable without a definition, with the place that uses it. The functions
 * that the device provides count as defined. Those that launch kernels need a GPU, and say so.
 */
#include "ptx/run/run.h"
#include <string.h>

static bool is_known(const char *name)
{
    static const char *const families[] = {"cuda", "cnp", "__cuda"};
    for (size_t k = 0; k < QN_COUNT(families); k++) {
        if (qn_begins(name, families[k])) {
            return true;
        }
    }
    return qn_builtin_is(name);
}

/* What kernels call to launch others. */
static bool launches(const char *name)
{
    return strstr(name, "cuda") &&
           (strstr(name, "LaunchDevice") || strstr(name, "ParameterBuffer"));
}

/* A variable or function that an operand names and nobody defines; NULL: none. */
static const qn_ptx_symbol *undefined_in(const qn_ptx_operand *operand)
{
    const qn_ptx_symbol *symbol = operand->symbol;
    if (symbol && symbol->function && !symbol->function->has_body &&
        (!is_known(symbol->name) || launches(symbol->name))) {
        return symbol;
    }
    if (symbol && symbol->external && symbol->outside &&
        (symbol->space == QN_SPACE_GLOBAL || symbol->space == QN_SPACE_CONST)) {
        return symbol;
    }
    for (unsigned k = 0; k < operand->element_count; k++) {
        symbol = undefined_in(&operand->elements[k]);
        if (symbol) {
            return symbol;
        }
    }
    return NULL;
}

static quern_status fail(const qn_ptx_symbol *symbol, const qn_ptx_function *function,
                         const qn_ptx_instruction *instruction)
{
    qn_text place = {0};
    const qn_ptx_location *location = NULL;
    if (instruction && instruction->location) {
        qn_text_puts(&place, ", at ");
        qn_ptx_print_location(&place, function->module, instruction->location);
        const uint32_t user = qn_user_location(function->module, instruction->location);
        location = &function->module->locations[user ? user : instruction->location];
    }
    quern_status status;
    if (symbol->function && launches(symbol->name)) {
        status = qn_fail(QUERN_ERROR_NOT_SUPPORTED,
                         "kernels that launch kernels need a GPU: the software device has no "
                         "launches from kernels (%s)%s",
                         symbol->name, place.data ? place.data : "");
    } else {
        status = qn_fail(
            QUERN_ERROR_LINK, "the %s '%s' is declared and used%s, but nothing defines it",
            symbol->function ? "function" : "variable", symbol->name, place.data ? place.data : "");
    }
    if (location && location->file) {
        qn_error_place(location->file, location->line, location->column);
    }
    qn_text_free(&place);
    return status;
}

quern_status qn_ptx_check_defined(const qn_ptx_module *module)
{
    for (uint32_t f = 0; f < module->function_count; f++) {
        const qn_ptx_function *function = module->functions[f];
        for (uint32_t i = 0; i < function->instruction_count; i++) {
            const qn_ptx_instruction *instruction = &function->instructions[i];
            for (unsigned k = 0; k < instruction->operand_count; k++) {
                const qn_ptx_symbol *symbol = undefined_in(&instruction->operands[k]);
                if (symbol) {
                    return fail(symbol, function, instruction);
                }
            }
        }
    }
    for (uint32_t k = 0; k < module->symbol_count; k++) {
        const qn_ptx_symbol *symbol = module->symbols[k]; /* in the initial value of another */
        if (symbol->external &&
            (symbol->space == QN_SPACE_GLOBAL || symbol->space == QN_SPACE_CONST)) {
            return fail(symbol, NULL, NULL);
        }
    }
    return QUERN_OK;
}
