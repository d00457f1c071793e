/* SPDX-License-Identifier: MIT
 *
 * flow: finds the basic blocks of a function and the edges between them, as one thread sees them.
 */
#include "ptx/read/reader.h"

qn_flow_kind qn_flow_kind_of(const qn_ptx_instruction *instruction)
{
    static const struct {
        const char *mnemonic;
        qn_flow_kind kind;
    } kinds[] = {{"bra", QN_FLOW_BRANCH},
                 {"brx", QN_FLOW_INDEX},
                 {"ret", QN_FLOW_END},
                 {"exit", QN_FLOW_END},
                 {"trap", QN_FLOW_END}};
    for (size_t i = 0; i < QN_COUNT(kinds); i++) {
        if (qn_opcode_of(instruction->opcode, kinds[i].mnemonic)) {
            return kinds[i].kind;
        }
    }
    return QN_FLOW_NEXT;
}

/* Marks the instructions that begin a block; returns how many edges there can be at most. */
static uint64_t mark_leaders(const qn_ptx_function *function, bool *leader)
{
    uint64_t edges = function->instruction_count; /* running on */
    leader[0] = true;
    for (uint32_t i = 0; i < function->instruction_count; i++) {
        const qn_ptx_instruction *instruction = &function->instructions[i];
        qn_flow_kind kind = qn_flow_kind_of(instruction);
        if (kind == QN_FLOW_BRANCH) {
            leader[instruction->operands[0].target] = true;
            edges++;
        } else if (kind == QN_FLOW_INDEX) {
            edges += function->targets[instruction->operands[1].target].count;
        }
        if (kind != QN_FLOW_NEXT) {
            leader[i + 1] = true;
        }
    }
    for (uint32_t i = 0; i < function->targets_count; i++) {
        for (uint32_t k = 0; k < function->targets[i].count; k++) {
            leader[function->targets[i].instructions[k]] = true;
        }
    }
    return edges;
}

/* Compilers give each indexed branch a list of its own. A text that uses a list many times could
 * make a graph far larger than itself, and is refused. */
static quern_status check_edges(const qn_ptx_function *function, uint64_t edges)
{
    uint64_t most = 1024 + 4 * (uint64_t)function->instruction_count;
    for (uint32_t i = 0; i < function->targets_count; i++) {
        most += 4 * (uint64_t)function->targets[i].count;
    }
    return edges <= most
               ? QUERN_OK
               : qn_fail(QUERN_ERROR_IMAGE,
                         "function '%s' of the PTX has too many indexed branches over the "
                         "same lists of labels",
                         function->name);
}

static void add_edges(qn_flow *flow, const qn_ptx_function *function, qn_flow_block *block)
{
    const qn_ptx_instruction *last = &function->instructions[block->end - 1];
    qn_flow_kind kind = qn_flow_kind_of(last);
    block->first = flow->edge_count;
    if (kind == QN_FLOW_BRANCH) {
        flow->edges[flow->edge_count++] = flow->block_of[last->operands[0].target];
    } else if (kind == QN_FLOW_INDEX) {
        const qn_ptx_targets *targets = &function->targets[last->operands[1].target];
        for (uint32_t k = 0; k < targets->count; k++) {
            flow->edges[flow->edge_count++] = flow->block_of[targets->instructions[k]];
        }
    }
    block->falls = kind == QN_FLOW_NEXT || last->guard >= 0;
    if (block->falls) {
        flow->edges[flow->edge_count++] = flow->block_of[block->end];
    }
    block->count = flow->edge_count - block->first;
}

quern_status qn_flow_build(qn_flow *flow, const qn_ptx_function *function, qn_arena *scratch)
{
    *flow = (qn_flow){0};
    uint32_t count = function->instruction_count;
    bool *leader = qn_arena_alloc(scratch, count + 1);
    flow->block_of = qn_arena_alloc(scratch, count * sizeof(uint32_t));
    if (!leader || !flow->block_of) {
        return qn_ptx_memory();
    }
    uint64_t edges = mark_leaders(function, leader);
    QN_TRY(check_edges(function, edges));
    for (uint32_t i = 0; i < count; i++) {
        flow->block_count += leader[i];
    }
    flow->blocks = qn_arena_alloc(scratch, flow->block_count * sizeof(qn_flow_block));
    flow->edges = qn_arena_alloc(scratch, edges * sizeof(uint32_t));
    if (!flow->blocks || !flow->edges) {
        return qn_ptx_memory();
    }
    uint32_t block = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (leader[i] && i > 0) {
            flow->blocks[block++].end = i;
        }
        flow->block_of[i] = block;
        if (leader[i]) {
            flow->blocks[block].begin = i;
        }
    }
    flow->blocks[block].end = count;
    for (uint32_t b = 0; b < flow->block_count; b++) {
        add_edges(flow, function, &flow->blocks[b]);
    }
    return QUERN_OK;
}
