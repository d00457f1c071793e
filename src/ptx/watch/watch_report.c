/* SPDX-License-Identifier: MIT
 *
 * Describes addresses and variables in words. In: an access, where it landed. Out: its offset in
 * shared or local memory and the variable there, or its array in device memory. The names are found
 * by looking through the instructions of the module, since only those that are used matter, and
 * only a report needs them.
 */
#include "ptx/run/owner.h"
#include "ptx/watch/watch.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* "_ZZ6kernelPfE4tile" is tile, a variable inside a function. */
static qn_str readable(const char *name)
{
    if (qn_begins(name, "_ZZ")) {
        for (const char *p = strchr(name, 'E'); p; p = strchr(p + 1, 'E')) {
            char *after;
            const unsigned long length =
                isdigit((unsigned char)p[1]) ? strtoul(p + 1, &after, 10) : 0;
            const size_t rest = length ? strlen(after) : 0;
            if (length > 0 && length <= rest && (after[length] == '\0' || after[length] == '_')) {
                return (qn_str){after, length};
            }
        }
    }
    return qn_str_of(name);
}

static const qn_code *decoded(const qn_run *run, const qn_ptx_function *function)
{
    return __atomic_load_n(&function->decoded[run->code->kind], __ATOMIC_ACQUIRE);
}

/* A shared variable and where it begins. */
typedef struct variable {
    const qn_ptx_symbol *symbol; /* NULL: none */
    uint64_t begin;
} variable;

static bool holds(const qn_run *run, const qn_ptx_function *function, const qn_ptx_symbol *symbol,
                  uint64_t address, variable *out)
{
    const qn_code *code = decoded(run, function);
    *out = (variable){symbol, symbol->external ? run->dynamic_base : symbol->offset};
    if (!symbol->external && !symbol->outside) {
        out->begin += function->shared_base;
    }
    return code && address >= out->begin &&
           (symbol->external || address - out->begin < symbol->size);
}

static bool find_in(const qn_run *run, const qn_ptx_function *function,
                    const qn_ptx_operand *operand, uint64_t address, variable *out)
{
    const qn_ptx_symbol *symbol = operand->symbol;
    if (symbol && symbol->space == QN_SPACE_SHARED && holds(run, function, symbol, address, out)) {
        return true;
    }
    for (unsigned k = 0; k < operand->element_count; k++) {
        if (find_in(run, function, &operand->elements[k], address, out)) {
            return true;
        }
    }
    return false;
}

static variable find_shared(const qn_run *run, uint64_t address)
{
    const qn_ptx_module *module = run->kernel->module;
    variable found;
    for (uint32_t f = 0; f < module->function_count; f++) {
        const qn_ptx_function *function = module->functions[f];
        if (function != run->kernel && (function->is_kernel || !run->kernel->calls)) {
            continue; /* its shared memory lies at the same offsets */
        }
        for (uint32_t i = 0; i < function->instruction_count; i++) {
            const qn_ptx_instruction *instruction = &function->instructions[i];
            for (unsigned k = 0; k < instruction->operand_count; k++) {
                if (find_in(run, function, &instruction->operands[k], address, &found)) {
                    return found;
                }
            }
        }
    }
    return (variable){0};
}

static void print_shared(qn_text *out, const qn_run *run, uint64_t address)
{
    const variable found = find_shared(run, address);
    qn_text_printf(out, "offset %llu of ", (unsigned long long)(address - found.begin));
    if (found.symbol) {
        const qn_str name = readable(found.symbol->name);
        qn_text_printf(out, "'%.*s' in ", (int)name.length, name.data);
    }
    qn_text_puts(out, "shared memory");
}

void qn_print_touch(qn_text *out, const qn_touch *touch)
{
    const qn_warp *warp = touch->warp;
    qn_text_printf(out, "%s of %u byte%s at ", qn_access_name(touch->kind), touch->bytes,
                   touch->bytes == 1 ? "" : "s");
    if (touch->space == QN_SPACE_SHARED) {
        print_shared(out, warp->run, touch->address);
    } else if (touch->space == QN_SPACE_LOCAL) {
        const uint64_t offset = touch->address - (uint64_t)(uintptr_t)warp->block->local;
        qn_text_printf(out, "offset %llu of the thread's local memory",
                       (unsigned long long)(offset % warp->run->local_stride));
    } else {
        qn_range piece;
        const qn_range *range = qn_access_range(warp, touch->address, &piece);
        qn_text_printf(out, "0x%llx", (unsigned long long)touch->address);
        qn_print_owner(out, warp, touch->op, touch->address);
        if (range) { /* NULL: freed since the value was copied from it */
            qn_text_printf(out, ", offset %llu of ",
                           (unsigned long long)(touch->address - range->begin));
            qn_print_range(out, range);
        }
    }
}

/* The decoded function that holds `op`. */
static const qn_code *code_of(const qn_run *run, const qn_op *op)
{
    const qn_ptx_module *module = run->kernel->module;
    for (uint32_t k = 0; k < module->function_count; k++) {
        const qn_code *code = decoded(run, module->functions[k]);
        if (code && op >= code->ops && op < code->ops + code->count) {
            return code;
        }
    }
    return run->code;
}

void qn_print_stamp(qn_text *out, const qn_block *block, const qn_stamp *stamp, uint32_t lanes)
{
    const qn_warp *warp = &block->warps[stamp->warp];
    const unsigned lane = qn_first_lane(lanes);
    const qn_frame frame = {.code = code_of(block->run, stamp->op)};
    qn_text_printf(out, "thread (%u,%u,%u) at ", warp->thread[0][lane], warp->thread[1][lane],
                   warp->thread[2][lane]);
    qn_print_place(out, &frame, stamp->op);
}
