/* SPDX-License-Identifier: MIT
 *
 * layout: the order in which a function's instructions lie. The executor always runs the lanes at
 * the lowest position, so lanes that diverged meet again if every path between lies before the
 * meeting point. Two things ensure that: blocks are in topological order (back edges aside), and
 * all blocks of a loop come before everything after the loop.
 *
 * Both come from one depth-first walk over a graph with an extra node for the end of each loop:
 * every block of the loop leads to that node, and the node leads to where the loop's exits go. The
 * blocks in reverse post-order are the layout; a block that follows its predecessor saves the jump.
 */
#include "ptx/read/reader.h"

#include <string.h>

/* The graph with loop ends: node b is block b, node block_count + h the end of the loop of h. */
typedef struct graph {
    const qn_flow *flow;
    qn_loops loops;
    uint32_t *exit_first; /* of each loop: its exits in `exits`, up to the next one's */
    uint32_t *exits;
    uint32_t *order; /* the layout */
    uint32_t count;  /* blocks in it */
} graph;

/* ---- the order ------------------------------------------------------------------------------ */

/* For all edges that leave loops: the block they go to, by the outermost loop they leave. */
static quern_status find_exits(graph *g, qn_arena *scratch)
{
    const qn_flow *flow = g->flow;
    uint32_t count = flow->block_count;
    uint32_t *left = qn_arena_alloc(scratch, flow->edge_count * sizeof(uint32_t));
    uint32_t *fill = qn_arena_alloc(scratch, count * sizeof(uint32_t));
    g->exit_first = qn_arena_alloc(scratch, (count + 1) * sizeof(uint32_t));
    g->exits = qn_arena_alloc(scratch, flow->edge_count * sizeof(uint32_t));
    if (!left || !fill || !g->exit_first || !g->exits) {
        return qn_ptx_memory();
    }
    for (uint32_t b = 0; b < count; b++) {
        const qn_flow_block *block = &flow->blocks[b];
        for (uint32_t k = block->first; k < block->first + block->count; k++) {
            left[k] =
                g->loops.reached[b] ? qn_loops_left(&g->loops, b, flow->edges[k]) : QN_NO_BLOCK;
            if (left[k] != QN_NO_BLOCK) {
                g->exit_first[left[k] + 1]++;
            }
        }
    }
    for (uint32_t b = 0; b < count; b++) {
        g->exit_first[b + 1] += g->exit_first[b];
        fill[b] = g->exit_first[b];
    }
    for (uint32_t k = 0; k < flow->edge_count; k++) {
        if (left[k] != QN_NO_BLOCK) {
            g->exits[fill[left[k]]++] = flow->edges[k];
        }
    }
    return QUERN_OK;
}

/* The k-th node that `node` leads to; QN_NO_BLOCK: skip this k; false: there are no more. What is
 * visited first comes last in the layout: so loop ends are visited first, and the block that is run
 * on to last. */
static bool successor(const graph *g, uint32_t node, uint32_t k, uint32_t *out)
{
    uint32_t count = g->flow->block_count;
    bool is_end = node >= count;
    uint32_t loop = is_end ? g->loops.parent[node - count] : g->loops.loop[node];
    if (k == 0) {
        *out = loop == QN_NO_BLOCK ? QN_NO_BLOCK : count + loop;
        return true;
    }
    if (is_end) {
        uint32_t at = g->exit_first[node - count] + k - 1;
        *out = at < g->exit_first[node - count + 1] ? g->exits[at] : QN_NO_BLOCK;
        return at < g->exit_first[node - count + 1];
    }
    const qn_flow_block *block = &g->flow->blocks[node];
    if (k > block->count) {
        return false;
    }
    uint32_t to = g->flow->edges[block->first + k - 1];
    bool leaves = loop != QN_NO_BLOCK && qn_loops_left(&g->loops, node, to) != QN_NO_BLOCK;
    *out = leaves ? QN_NO_BLOCK : to; /* the loop's end leads there */
    return true;
}

static quern_status order_blocks(graph *g, qn_arena *scratch)
{
    uint32_t count = g->flow->block_count, nodes = 2 * count;
    uint32_t *stack = qn_arena_alloc(scratch, nodes * sizeof(uint32_t));
    uint32_t *cursor = qn_arena_alloc(scratch, nodes * sizeof(uint32_t));
    bool *seen = qn_arena_alloc(scratch, nodes);
    g->order = qn_arena_alloc(scratch, count * sizeof(uint32_t));
    if (!stack || !cursor || !seen || !g->order) {
        return qn_ptx_memory();
    }
    uint32_t depth = 1, place = count;
    stack[0] = 0;
    seen[0] = true;
    while (depth > 0) {
        uint32_t node = stack[depth - 1], next;
        if (successor(g, node, cursor[node], &next)) {
            cursor[node]++;
            if (next != QN_NO_BLOCK && !seen[next]) {
                seen[next] = true;
                stack[depth++] = next;
            }
            continue;
        }
        depth--;
        if (node < count) {
            g->order[--place] = node; /* filled from the end: reverse post-order */
        }
    }
    g->count = count - place;
    memmove(g->order, g->order + place, g->count * sizeof(uint32_t));
    return QUERN_OK;
}

/* ---- writing the instructions in that order ------------------------------------------------- */

typedef struct writer {
    qn_ptx_instruction *out;
    uint32_t count;
    qn_ptx_operand *spare; /* for the labels of added branches */
} writer;

static void add_branch(writer *w, const qn_ptx_instruction *behind, uint32_t to)
{
    qn_ptx_operand *label = w->spare++;
    *label = (qn_ptx_operand){.kind = QN_OPERAND_LABEL, .reg = -1, .target = to};
    w->out[w->count++] = (qn_ptx_instruction){.opcode = "bra.uni",
                                              .operands = label,
                                              .operand_count = 1,
                                              .guard = -1,
                                              .line = behind->line,
                                              .location = behind->location};
}

/* The last instruction of a block, and a branch where the next block is not the one it runs on to.
 * Labels hold blocks for now. */
static void write_last(writer *w, const qn_flow *flow, const qn_flow_block *block,
                       const qn_ptx_instruction *last, uint32_t next)
{
    const uint32_t *edges = flow->edges + block->first;
    uint32_t runs_on = block->falls ? edges[block->count - 1] : QN_NO_BLOCK;
    if (qn_flow_kind_of(last) != QN_FLOW_BRANCH) {
        w->out[w->count++] = *last;
    } else if (!block->falls) {
        runs_on = edges[0];
    } else if (edges[0] != runs_on) {
        qn_ptx_instruction *branch = &w->out[w->count++];
        *branch = *last;
        branch->operands[0].target = edges[0];
        if (edges[0] == next) { /* with its guard negated, it needs no second branch */
            branch->guard_negated = !branch->guard_negated;
            branch->operands[0].target = runs_on;
            runs_on = next;
        }
    }
    if (runs_on != QN_NO_BLOCK && runs_on != next) {
        add_branch(w, last, runs_on);
    }
}

static quern_status write_blocks(const graph *g, qn_ptx_function *function, qn_arena *arena,
                                 qn_arena *scratch)
{
    const qn_flow *flow = g->flow;
    size_t most = (size_t)function->instruction_count + g->count;
    uint32_t *place = qn_arena_alloc(scratch, flow->block_count * sizeof(uint32_t));
    writer w = {.out = qn_arena_alloc(scratch, most * sizeof(qn_ptx_instruction)),
                .spare = qn_arena_alloc(arena, g->count * sizeof(qn_ptx_operand))};
    if (!place || !w.out || !w.spare) {
        return qn_ptx_memory();
    }
    for (uint32_t i = 0; i < g->count; i++) {
        const qn_flow_block *block = &flow->blocks[g->order[i]];
        uint32_t body = block->end - block->begin - 1;
        place[g->order[i]] = w.count;
        memcpy(w.out + w.count, function->instructions + block->begin,
               body * sizeof(qn_ptx_instruction));
        w.count += body;
        write_last(&w, flow, block, &function->instructions[block->end - 1],
                   i + 1 < g->count ? g->order[i + 1] : QN_NO_BLOCK);
    }
    for (uint32_t i = 0; i < w.count; i++) {
        if (qn_flow_kind_of(&w.out[i]) == QN_FLOW_BRANCH) {
            w.out[i].operands[0].target = place[w.out[i].operands[0].target];
        }
    }
    for (uint32_t i = 0; i < function->targets_count; i++) {
        const qn_ptx_targets *targets = &function->targets[i];
        for (uint32_t k = 0; k < targets->count; k++) {
            targets->instructions[k] = place[flow->block_of[targets->instructions[k]]];
        }
    }
    function->instructions = qn_arena_alloc(arena, w.count * sizeof(qn_ptx_instruction));
    if (!function->instructions) {
        return qn_ptx_memory();
    }
    memcpy(function->instructions, w.out, w.count * sizeof(qn_ptx_instruction));
    function->instruction_count = w.count;
    return QUERN_OK;
}

static quern_status lay_out(qn_ptx_function *function, qn_arena *arena, qn_arena *scratch)
{
    qn_flow flow;
    QN_TRY(qn_flow_build(&flow, function, scratch));
    graph g = {.flow = &flow};
    QN_TRY(qn_loops_find(&g.loops, &flow, scratch));
    QN_TRY(find_exits(&g, scratch));
    QN_TRY(order_blocks(&g, scratch));
    return write_blocks(&g, function, arena, scratch);
}

quern_status qn_ptx_layout(qn_ptx_function *function, qn_arena *arena)
{
    qn_arena scratch = {0};
    quern_status status = lay_out(function, arena, &scratch);
    qn_arena_free(&scratch);
    return status;
}
