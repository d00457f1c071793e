/* SPDX-License-Identifier: MIT
 *
 * liveness: for every register the span of instructions, in layout order, in which its value may
 * still be needed on the path of some thread. Frames hold one value per lane and every write is
 * masked by lane, so it is the paths of single threads that count.
 *
 * A guarded write keeps the old value of some lanes, so it ends nothing. A register that a path
 * reads before any write is live from the start of the function: then no other register can share
 * its slot before, and what it reads is merely undefined.
 */
#include "ptx/read/reader.h"

#include <string.h>

#define MOST_BITS                                                                                  \
    (1ull << 30) /* of all sets together; beyond that, spans cover the whole function */

typedef struct liveness {
    const qn_ptx_function *function;
    qn_flow flow;
    qn_span *spans;
    uint32_t *number; /* of registers that are live between blocks, from 1; 0: the others */
    uint32_t numbered;
    uint32_t *registers;         /* by number */
    uint32_t words;              /* of a set */
    uint64_t *in, *out, *writes; /* sets, one per block */
} liveness;

/* ---- visiting registers --------------------------------------------------------------------- */

typedef void (*visitor)(liveness *l, uint32_t reg, bool written, uint32_t at);

static void visit_operand(liveness *l, const qn_ptx_operand *operand, bool written, uint32_t at,
                          visitor visit)
{
    if (operand->kind == QN_OPERAND_REGISTER) {
        visit(l, (uint32_t)operand->reg, written, at);
    } else if (operand->kind == QN_OPERAND_ADDRESS && operand->reg >= 0) {
        visit(l, (uint32_t)operand->reg, false, at);
    }
    for (uint32_t i = 0; i < operand->element_count; i++) {
        bool inside = written && operand->kind != QN_OPERAND_ADDRESS;
        visit_operand(l, &operand->elements[i], inside, at, visit);
    }
}

/* Reads first, then writes: of instruction `at`. */
static void visit_reads(liveness *l, uint32_t at, visitor visit)
{
    const qn_ptx_instruction *instruction = &l->function->instructions[at];
    if (instruction->guard >= 0) {
        visit(l, (uint32_t)instruction->guard, false, at);
    }
    for (uint32_t i = 0; i < instruction->operand_count; i++) {
        const qn_ptx_operand *operand = &instruction->operands[i];
        bool written = i < instruction->definitions;
        if (!written || operand->kind == QN_OPERAND_ADDRESS) {
            visit_operand(l, operand, false, at, visit);
        }
    }
}

static void visit_writes(liveness *l, uint32_t at, visitor visit)
{
    const qn_ptx_instruction *instruction = &l->function->instructions[at];
    for (uint32_t i = 0; i < instruction->definitions; i++) {
        if (instruction->operands[i].kind != QN_OPERAND_ADDRESS) {
            visit_operand(l, &instruction->operands[i], true, at, visit);
        }
    }
}

/* ---- spans inside blocks -------------------------------------------------------------------- */

static void extend(liveness *l, uint32_t reg, uint32_t at)
{
    qn_span *span = &l->spans[reg];
    span->begin = span->used ? QN_MIN(span->begin, at) : at;
    span->end = span->used ? QN_MAX(span->end, at) : at;
    span->used = true;
}

/* `number` serves as the block that a register was last written in, plus one, on this first pass.
 */
static void first_read(liveness *l, uint32_t reg, bool written, uint32_t at)
{
    (void)written;
    extend(l, reg, at);
    if (l->number[reg] != l->flow.block_of[at] + 1) {
        l->spans[reg].crosses = true;
    }
}

static void first_write(liveness *l, uint32_t reg, bool written, uint32_t at)
{
    (void)written;
    extend(l, reg, at);
    if (l->function->instructions[at].guard < 0) {
        l->number[reg] = l->flow.block_of[at] + 1;
    }
}

/* Most registers are written and read inside one block; only the others need sets. */
static void number_crossing(liveness *l)
{
    for (uint32_t i = 0; i < l->function->instruction_count; i++) {
        visit_reads(l, i, first_read);
        visit_writes(l, i, first_write);
    }
    for (uint32_t r = 0; r < l->function->register_count; r++) {
        l->number[r] = l->spans[r].crosses ? ++l->numbered : 0;
        if (l->spans[r].crosses) {
            l->registers[l->numbered] = r;
        }
    }
    l->words = l->numbered / 64 + 1;
}

/* ---- sets between blocks -------------------------------------------------------------------- */

static bool has(const uint64_t *set, uint32_t bit)
{
    return set[bit / 64] >> bit % 64 & 1;
}

static void note_read(liveness *l, uint32_t reg, bool written, uint32_t at)
{
    (void)written;
    size_t set = (size_t)l->flow.block_of[at] * l->words;
    uint32_t bit = l->number[reg];
    if (bit > 0 && !has(l->writes + set, bit)) {
        l->in[set + bit / 64] |= 1ull << bit % 64;
    }
}

static void note_write(liveness *l, uint32_t reg, bool written, uint32_t at)
{
    (void)written;
    uint32_t bit = l->number[reg];
    if (bit > 0 && l->function->instructions[at].guard < 0) {
        l->writes[(size_t)l->flow.block_of[at] * l->words + bit / 64] |= 1ull << bit % 64;
    }
}

/* What is live after a block is what its successors need. The block itself needs that, except for
 * what it writes, and whatever it reads before writing (already in `in`). True when something was
 * added. */
static bool flow_back(liveness *l, uint32_t b)
{
    const qn_flow_block *block = &l->flow.blocks[b];
    uint64_t *in = l->in + (size_t)b * l->words, *out = l->out + (size_t)b * l->words;
    const uint64_t *writes = l->writes + (size_t)b * l->words;
    bool changed = false;
    for (uint32_t k = 0; k < block->count; k++) {
        const uint64_t *next = l->in + (size_t)l->flow.edges[block->first + k] * l->words;
        for (uint32_t w = 0; w < l->words; w++) {
            out[w] |= next[w];
        }
    }
    for (uint32_t w = 0; w < l->words; w++) {
        uint64_t needed = in[w] | (out[w] & ~writes[w]);
        changed |= needed != in[w];
        in[w] = needed;
    }
    return changed;
}

static void extend_by_sets(liveness *l)
{
    for (uint32_t b = 0; b < l->flow.block_count; b++) {
        const qn_flow_block *block = &l->flow.blocks[b];
        for (uint32_t w = 0; w < l->words; w++) {
            size_t at = (size_t)b * l->words + w;
            for (uint64_t set = l->in[at]; set; set &= set - 1) {
                extend(l, l->registers[w * 64 + (uint32_t)__builtin_ctzll(set)], block->begin);
            }
            for (uint64_t set = l->out[at]; set; set &= set - 1) {
                extend(l, l->registers[w * 64 + (uint32_t)__builtin_ctzll(set)], block->end - 1);
            }
        }
    }
}

static quern_status spread(liveness *l, qn_arena *scratch)
{
    size_t words = (size_t)l->flow.block_count * l->words;
    if (words * 64 * 3 > MOST_BITS) {
        for (uint32_t n = 1; n <= l->numbered; n++) {
            extend(l, l->registers[n], 0);
            extend(l, l->registers[n], l->function->instruction_count - 1);
        }
        return QUERN_OK;
    }
    l->in = qn_arena_alloc(scratch, words * sizeof(uint64_t));
    l->out = qn_arena_alloc(scratch, words * sizeof(uint64_t));
    l->writes = qn_arena_alloc(scratch, words * sizeof(uint64_t));
    if (!l->in || !l->out || !l->writes) {
        return qn_ptx_memory();
    }
    for (uint32_t i = 0; i < l->function->instruction_count; i++) {
        visit_reads(l, i, note_read);
        visit_writes(l, i, note_write);
    }
    bool changed = true;
    while (changed) {
        changed = false;
        for (uint32_t b = l->flow.block_count; b-- > 0;) {
            changed |= flow_back(l, b);
        }
    }
    extend_by_sets(l);
    return QUERN_OK;
}

quern_status qn_liveness(qn_span **spans, const qn_ptx_function *function, qn_arena *scratch)
{
    *spans = NULL;
    liveness l = {.function = function};
    QN_TRY(qn_flow_build(&l.flow, function, scratch));
    size_t count = (size_t)function->register_count + 1;
    l.spans = qn_arena_alloc(scratch, count * sizeof(qn_span));
    l.number = qn_arena_alloc(scratch, count * sizeof(uint32_t));
    l.registers = qn_arena_alloc(scratch, count * sizeof(uint32_t));
    if (!l.spans || !l.number || !l.registers) {
        return qn_ptx_memory();
    }
    number_crossing(&l);
    QN_TRY(spread(&l, scratch));
    *spans = l.spans;
    return QUERN_OK;
}
