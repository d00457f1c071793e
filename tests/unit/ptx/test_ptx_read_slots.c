/* SPDX-License-Identifier: MIT
 *
 * Slots: no two registers that are needed at the same time overlap in the frame. What is needed
 * where is found here instruction by instruction, without blocks or spans.
 */
#include "test_ptx_read_corpus.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

typedef struct sets {
    const qn_ptx_function *function;
    uint32_t count;
    bool *reads, *writes, *needed; /* [instruction][register]; needed: before the instruction */
} sets;

static bool *row(const sets *s, bool *of, uint32_t instruction)
{
    return of + (size_t)instruction * s->function->register_count;
}

static void mark(const qn_ptx_operand *operand, bool *reads, bool *writes, bool written)
{
    if (operand->reg >= 0) {
        (written && operand->kind == QN_OPERAND_REGISTER ? writes : reads)[operand->reg] = true;
    }
    for (uint32_t i = 0; i < operand->element_count; i++) {
        mark(&operand->elements[i], reads, writes, written);
    }
}

static bool is(const qn_ptx_instruction *instruction, const char *mnemonic)
{
    size_t length = strcspn(instruction->opcode, ".");
    return length == strlen(mnemonic) && memcmp(instruction->opcode, mnemonic, length) == 0;
}

/* Adds what the instruction at `to` needs, unless instruction `i` gives it. */
static bool need(const sets *s, uint32_t i, uint32_t to)
{
    bool changed = false;
    const bool *later = row(s, s->needed, to), *writes = row(s, s->writes, i);
    bool *needed = row(s, s->needed, i);
    bool guarded = s->function->instructions[i].guard >= 0;
    for (uint32_t r = 0; r < s->function->register_count; r++) {
        bool here = later[r] && (guarded || !writes[r]);
        changed |= here && !needed[r];
        needed[r] |= here;
    }
    return changed;
}

static bool need_before(const sets *s, uint32_t i)
{
    const qn_ptx_instruction *instruction = &s->function->instructions[i];
    bool jumps = is(instruction, "bra"), indexed = is(instruction, "brx");
    bool ends = jumps || indexed || is(instruction, "ret") || is(instruction, "exit") ||
                is(instruction, "trap");
    bool changed = false;
    if (jumps) {
        changed |= need(s, i, instruction->operands[0].target);
    } else if (indexed) {
        const qn_ptx_targets *targets = &s->function->targets[instruction->operands[1].target];
        for (uint32_t k = 0; k < targets->count; k++) {
            changed |= need(s, i, targets->instructions[k]);
        }
    }
    if (!ends || instruction->guard >= 0) {
        changed |= need(s, i, i + 1);
    }
    return changed;
}

static void find_needed(sets *s)
{
    for (uint32_t i = 0; i < s->count; i++) {
        const qn_ptx_instruction *instruction = &s->function->instructions[i];
        for (uint32_t k = 0; k < instruction->operand_count; k++) {
            mark(&instruction->operands[k], row(s, s->reads, i), row(s, s->writes, i),
                 k < instruction->definitions);
        }
        if (instruction->guard >= 0) {
            row(s, s->reads, i)[instruction->guard] = true;
        }
        memcpy(row(s, s->needed, i), row(s, s->reads, i), s->function->register_count);
    }
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = s->count; i-- > 0;) {
            changed |= need_before(s, i);
        }
    }
}

static uint32_t bytes_of(qn_ptx_type type)
{
    return type.letter == 'p' ? 4 : QN_MAX(type.bits, 16) * 4;
}

/* All registers of a row get their bytes; one that is taken already is an overlap. */
static unsigned overlaps(const sets *s, uint32_t i, unsigned char *taken)
{
    unsigned count = 0;
    memset(taken, 0, s->function->frame_bytes);
    for (uint32_t r = 0; r < s->function->register_count; r++) {
        const qn_ptx_register *reg = &s->function->registers[r];
        if (!row(s, s->needed, i)[r] && !row(s, s->writes, i)[r]) {
            continue;
        }
        uint32_t bytes = bytes_of(reg->type);
        cr_assert_leq(reg->slot + bytes, s->function->frame_bytes);
        cr_assert_eq(reg->slot % (bytes == 4 ? 4 : 64), 0);
        count += memchr(taken + reg->slot, 1, bytes) != NULL;
        memset(taken + reg->slot, 1, bytes);
    }
    return count;
}

static unsigned check_function(const qn_ptx_function *function)
{
    sets s = {.function = function, .count = function->instruction_count};
    size_t cells = (size_t)s.count * function->register_count + 1;
    s.reads = qn_calloc(cells, 1);
    s.writes = qn_calloc(cells, 1);
    s.needed = qn_calloc(cells, 1);
    unsigned char *taken = qn_calloc(function->frame_bytes, 1);
    cr_assert(s.reads && s.writes && s.needed && taken);
    find_needed(&s);
    unsigned count = 0;
    for (uint32_t i = 0; i < s.count; i++) {
        count += overlaps(&s, i, taken);
    }
    qn_free(s.reads);
    qn_free(s.writes);
    qn_free(s.needed);
    qn_free(taken);
    return count;
}

static void check_module(const char *path, const qn_ptx_module *module, void *context)
{
    unsigned *functions = context;
    for (uint32_t i = 0; i < module->function_count; i++) {
        const qn_ptx_function *function = module->functions[i];
        if (function->has_body) {
            unsigned count = check_function(function);
            cr_expect_eq(count, 0, "%s: %s: %u overlaps", path, function->name, count);
            ++*functions;
        }
    }
}

Test(ptx_read_slots, needed_registers_do_not_overlap)
{
    unsigned functions = 0;
    cr_expect_gt(corpus_visit(check_module, &functions), 20);
    cr_expect_gt(functions, 30);
}

#define KERNEL(text)                                                                               \
    ".version 9.0\n.target sm_75\n.address_size 64\n.visible .entry k(.param .u64 a)\n"            \
    "{ .reg .pred %p<20>; .reg .b32 %r<20>; .reg .b64 %d<9>; .reg .b16 %h<9>;\n" text " ret; }\n"

typedef struct frame_case {
    const char *text;
    uint32_t frame_bytes;
} frame_case;

static const frame_case cases[] = {
    {KERNEL(""), 0},
    {KERNEL("mov.b32 %r1, 1;"), 128},
    /* one after the other shares; at the same time does not */
    {KERNEL("mov.b32 %r1, 1; mov.b32 %r2, 2;"), 128},
    {KERNEL("mov.b32 %r1, 1; mov.b32 %r2, %r1;"), 256},
    {KERNEL("mov.b32 %r1, 1; mov.b32 %r2, %r1; mov.b32 %r3, %r2; mov.b32 %r4, %r3;"), 256},
    {KERNEL("mov.b64 %d1, 1; mov.b16 %h1, 1;"), 256 + 64},
    /* sixteen predicates in a line */
    {KERNEL("setp.eq.s32 %p1|%p2, 1, 1; and.pred %p3, %p1, %p2;"), 64},
    /* a guarded write keeps the old value: r1 is needed before, r2 has its own place */
    {KERNEL("mov.b32 %r1, 1; mov.b32 %r2, 2; st.local.u32 [%r2], %r2; @%p1 mov.b32 %r1, 3; "
            "st.local.u32 [0], %r1;"),
     64 + 256},
    /* around a loop */
    {KERNEL("mov.b32 %r1, 1; L: mov.b32 %r2, 2; mov.b32 %r3, 3; @%p1 bra L; "
            "st.local.u32 [0], %r1;"),
     64 + 256},
};

Test(ptx_read_slots, frames)
{
    for (size_t i = 0; i < QN_COUNT(cases); i++) {
        qn_ptx_module *module = corpus_read(cases[i].text);
        const qn_ptx_function *k = qn_ptx_kernel(module, "k");
        cr_expect_eq(k->frame_bytes, cases[i].frame_bytes, "%s: %u", cases[i].text, k->frame_bytes);
        cr_expect_eq(check_function(k), 0);
        qn_ptx_free(module);
    }
}

Test(ptx_read_slots, the_check_sees_an_overlap)
{
    qn_ptx_module *module = corpus_read(KERNEL("mov.b32 %r1, 1; mov.b32 %r2, %r1;"));
    qn_ptx_function *k = qn_ptx_kernel(module, "k");
    k->registers[1].slot = k->registers[0].slot;
    cr_expect_gt(check_function(k), 0);
    qn_ptx_free(module);
}
