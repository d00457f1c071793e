/* SPDX-License-Identifier: MIT
 *
 * Fuzz target of PTX: any bytes are read, laid out and given slots, or refused with a sentence;
 * what is read can be walked from end to end and decoded in every form; small kernels, plain and
 * watched, run to an end, a report or the time limit, without touching memory that is not theirs.
 */
#include "ptx/run/run.h"

#include <stdlib.h>
#include <string.h>

enum {
    BUFFER = 1024,            /* bytes that every parameter of 8 bytes points to */
    PARAMETERS = 64,          /* parameters of a kernel that is run, and ... */
    PARAMETER_BYTES = 4096,   /* ... bytes of all of them */
    MEMORY_BYTES = 64 * 1024, /* shared memory, and a thread's local memory */
};

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

static void decode(const qn_ptx_function *function)
{
    for (unsigned kind = 0; kind < QN_CODE_KINDS && function->has_body; kind++) {
        const qn_code *code;
        check(qn_code_get(&code, function, kind) == QUERN_OK && code->count > 0);
    }
}

static bool is_small(const qn_ptx_function *kernel)
{
    return kernel->param_count <= PARAMETERS && kernel->param_bytes <= PARAMETER_BYTES &&
           kernel->local_bytes <= MEMORY_BYTES && qn_ptx_static_shared(kernel) <= MEMORY_BYTES;
}

static void run(qn_ptx_function *kernel, qn_memory_map *map, void *buffer)
{
    static const uint64_t zeros[PARAMETER_BYTES / sizeof(uint64_t)];
    static const uint32_t count = 70; /* more than there are threads */
    void *parameters[PARAMETERS];
    for (uint32_t k = 0; k < kernel->param_count; k++) {
        const uint64_t bytes = kernel->params[k]->size;
        parameters[k] = (void *)(bytes == 8               ? (const void *)&buffer
                                 : bytes == sizeof(count) ? (const void *)&count
                                                          : zeros);
    }
    for (int watched = 0; watched < 2; watched++) {
        const qn_ptx_launch launch = {
            .kernel = kernel,
            .grid = {2, 1, 1},
            .block = {64, 1, 1}, /* warps that wait for each other */
            .dynamic_shared = 256,
            .cooperative = true,
            .parameters = parameters,
            .memory = map,
            .threads = 1,
            .limit = 0.01,
            .aids = {.check_init = watched, .check_races = watched},
        };
        check(qn_ptx_run(&launch) == QUERN_OK || quern_last_error()->message[0] != '\0');
    }
}

static void run_kernels(const qn_ptx_module *module)
{
    qn_memory_map *map = qn_memory_map_new();
    void *buffer = calloc(1, BUFFER);
    check(map && buffer && qn_memory_map_add_unwritten(map, buffer, BUFFER, "buffer"));
    check(module->global_bytes == 0 ||
          qn_memory_map_add(map, module->globals, module->global_bytes, "globals"));
    for (uint32_t i = 0; i < module->function_count; i++) {
        qn_ptx_function *function = module->functions[i];
        if (function->is_kernel && function->has_body && is_small(function)) {
            run(function, map, buffer);
        }
    }
    qn_memory_map_free(map);
    free(buffer);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    qn_ptx_module *module;
    if (qn_ptx_read(&module, (const char *)data, size) != QUERN_OK) {
        check(!module && quern_last_error()->message[0] != '\0');
        return 0;
    }
    for (uint32_t i = 0; i < module->function_count; i++) {
        walk(module->functions[i]);
        decode(module->functions[i]);
    }
    run_kernels(module);
    qn_text places = {0};
    for (uint32_t i = 0; i < module->location_count; i++) {
        qn_ptx_print_location(&places, module, i);
    }
    qn_text_free(&places);
    qn_ptx_free(module);
    return 0;
}
