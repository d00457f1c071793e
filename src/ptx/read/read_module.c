/* SPDX-License-Identifier: MIT
 *
 * read_module: reads a whole PTX text into a module, finds things in it, frees it.
 */
#include "ptx/read/reader.h"

#include <string.h>

static quern_status read_text(qn_reader *reader)
{
    QN_TRY(qn_names_start(reader));
    QN_TRY(qn_parse_module(reader));
    QN_TRY(qn_globals_write(reader));
    QN_TRY(qn_locations_finish(reader));
    qn_ptx_module *module = reader->module;
    size_t symbols = reader->symbols.count * sizeof(qn_ptx_symbol *);
    size_t functions = reader->functions.count * sizeof(qn_ptx_function *);
    module->symbols = qn_arena_alloc(&module->arena, symbols);
    module->functions = qn_arena_alloc(&module->arena, functions);
    if (!module->symbols || !module->functions) {
        return qn_ptx_memory();
    }
    if (symbols > 0) {
        memcpy(module->symbols, reader->symbols.items, symbols);
    }
    if (functions > 0) {
        memcpy(module->functions, reader->functions.items, functions);
    }
    module->symbol_count = reader->symbols.count;
    module->function_count = reader->functions.count;
    qn_ptx_place_shared(module);
    return QUERN_OK;
}

static void free_reader(qn_reader *reader)
{
    qn_names_free(reader);
    qn_locations_free(reader);
    qn_free(reader->functions.items);
    qn_free(reader->symbols.items);
    qn_free(reader->used.items);
    qn_free(reader->registers.items);
    qn_free(reader->instructions.items);
    qn_free(reader->operands.items);
    qn_free(reader->pending.items);
    qn_free(reader->targets.items);
    qn_arena_free(&reader->arena);
}

quern_status qn_ptx_read(qn_ptx_module **out, const char *text, size_t length)
{
    *out = NULL;
    if (length > QN_PTX_TEXT) {
        return qn_fail(QUERN_ERROR_IMAGE, "a PTX text of more than %u MiB", QN_PTX_TEXT >> 20);
    }
    while (length > 0 && text[length - 1] == '\0') {
        length--; /* NVRTC counts the end of the string */
    }
    qn_ptx_module *module = qn_calloc(1, sizeof *module);
    if (!module) {
        return qn_ptx_memory();
    }
    qn_reader reader = {
        .module = module, .text = text, .at = text, .end = text + length, .line = 1};
    quern_status status = read_text(&reader);
    free_reader(&reader);
    if (status != QUERN_OK) {
        qn_ptx_free(module);
        return status;
    }
    *out = module;
    return QUERN_OK;
}

void qn_ptx_free(qn_ptx_module *module)
{
    if (!module) {
        return;
    }
    for (uint32_t i = 0; i < module->function_count; i++) {
        qn_ptx_undecode(module->functions[i]);
    }
    qn_free(module->globals_block);
    qn_arena_free(&module->arena);
    qn_free(module);
}

qn_ptx_function *qn_ptx_kernel(qn_ptx_module *module, const char *name)
{
    for (uint32_t i = 0; i < module->function_count; i++) {
        qn_ptx_function *function = module->functions[i];
        if (function->is_kernel && function->has_body && strcmp(function->name, name) == 0) {
            return function;
        }
    }
    return NULL;
}

bool qn_ptx_global(qn_ptx_module *module, const char *name, void **pointer, uint64_t *bytes)
{
    for (uint32_t i = 0; i < module->symbol_count; i++) {
        const qn_ptx_symbol *symbol = module->symbols[i];
        bool here = symbol->space == QN_SPACE_GLOBAL || symbol->space == QN_SPACE_CONST;
        if (here && !symbol->external && strcmp(symbol->name, name) == 0) {
            *pointer = module->globals + symbol->offset;
            *bytes = symbol->size;
            return true;
        }
    }
    return false;
}
