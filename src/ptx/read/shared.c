/* SPDX-License-Identifier: MIT
 *
 * Static shared memory. In: a module with its functions. Out: where the variables of each function
 * begin in a block's shared memory: first those of the module, then those of all functions that can
 * be called, then the kernel's own. In a kernel that calls nothing, its own come directly after the
 * module's.
 */
#include "ptx/read/reader.h"

static uint64_t aligned(uint64_t at)
{
    return (at + 15) & ~UINT64_C(15);
}

/* Does it call anything? A call through a register may reach any function. */
static bool calls(const qn_ptx_function *function)
{
    for (uint32_t i = 0; i < function->instruction_count; i++) {
        const qn_ptx_instruction *instruction = &function->instructions[i];
        const bool is_call = qn_begins(instruction->opcode, "call");
        for (unsigned k = 0; is_call && k < instruction->operand_count; k++) {
            const qn_ptx_operand *operand = &instruction->operands[k];
            const qn_ptx_function *callee = operand->symbol ? operand->symbol->function : NULL;
            if (operand->kind == QN_OPERAND_REGISTER || (callee && callee->has_body)) {
                return true;
            }
        }
    }
    return false;
}

void qn_ptx_place_shared(qn_ptx_module *module)
{
    uint64_t at = module->module_shared_bytes;
    for (uint32_t k = 0; k < module->function_count; k++) {
        qn_ptx_function *function = module->functions[k];
        if (!function->is_kernel && function->shared_bytes > 0) {
            function->shared_base = aligned(at);
            at = function->shared_base + function->shared_bytes;
        }
    }
    for (uint32_t k = 0; k < module->function_count; k++) {
        qn_ptx_function *function = module->functions[k];
        if (function->is_kernel) {
            function->calls = calls(function);
            const uint64_t base = function->calls ? at : module->module_shared_bytes;
            function->shared_base = function->shared_bytes > 0 ? aligned(base) : base;
        }
    }
}

uint64_t qn_ptx_static_shared(const qn_ptx_function *kernel)
{
    return kernel->shared_base + kernel->shared_bytes;
}
