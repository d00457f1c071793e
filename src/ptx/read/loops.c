/* SPDX-License-Identifier: MIT
 *
 * loops: which blocks of a graph form loops, and how loops nest, found in one walk over the graph
 * that carries the headers of open loops along (T. Wei and others, "A New Algorithm for Identifying
 * Loops in Decompilation", 2007). For reducible graphs, which are all that compilers emit from
 * structured code, these are the natural loops; an irreducible loop gets one of its entries as
 * header, which is enough: the order of its blocks is then less good but never wrong.
 */
#include "ptx/read/reader.h"

typedef struct walk {
    const qn_flow *flow;
    uint32_t *around;   /* innermost loop that a block lies in and is not the header of */
    uint32_t *position; /* on the current path, from 1; 0: not on it */
    bool *reached, *header;
    uint32_t *stack, *cursor;
} walk;

/* Block `block` lies in the loop of `header`: weave it into the chain of loops around the block. */
static void nest(walk *w, uint32_t block, uint32_t header)
{
    if (header == QN_NO_BLOCK || block == header) {
        return;
    }
    uint32_t inner = block, outer = header;
    while (w->around[inner] != QN_NO_BLOCK) {
        uint32_t next = w->around[inner];
        if (next == outer) {
            return;
        }
        if (w->position[next] < w->position[outer]) {
            w->around[inner] = outer;
            inner = outer;
            outer = next;
        } else {
            inner = next;
        }
    }
    w->around[inner] = outer;
}

/* An edge to a block that was seen before. */
static void meet(walk *w, uint32_t from, uint32_t to)
{
    if (w->position[to] > 0) { /* back to a block on the path: a loop */
        w->header[to] = true;
        nest(w, from, to);
        return;
    }
    uint32_t header = w->around[to];
    while (header != QN_NO_BLOCK && w->position[header] == 0) {
        header = w->around[header]; /* loops that are entered past their header */
    }
    nest(w, from, header);
}

static void run(walk *w)
{
    uint32_t depth = 1;
    w->stack[0] = 0;
    w->reached[0] = true;
    w->position[0] = 1;
    while (depth > 0) {
        uint32_t block = w->stack[depth - 1];
        const qn_flow_block *here = &w->flow->blocks[block];
        if (w->cursor[block] < here->count) {
            uint32_t next = w->flow->edges[here->first + w->cursor[block]++];
            if (w->reached[next]) {
                meet(w, block, next);
            } else {
                w->reached[next] = true;
                w->stack[depth++] = next;
                w->position[next] = depth;
            }
            continue;
        }
        w->position[block] = 0;
        depth--;
        if (depth > 0) {
            nest(w, w->stack[depth - 1], w->around[block]);
        }
    }
}

static uint32_t depth_of(qn_loops *loops, uint32_t header)
{
    uint32_t depth = 0, at = header;
    while (at != QN_NO_BLOCK && loops->depth[at] == 0) {
        at = loops->parent[at];
        depth++;
    }
    depth += at == QN_NO_BLOCK ? 0 : loops->depth[at];
    for (at = header; at != QN_NO_BLOCK && loops->depth[at] == 0; at = loops->parent[at]) {
        loops->depth[at] = depth--;
    }
    return loops->depth[header];
}

quern_status qn_loops_find(qn_loops *loops, const qn_flow *flow, qn_arena *scratch)
{
    uint32_t count = flow->block_count;
    size_t bytes = count * sizeof(uint32_t);
    walk w = {.flow = flow,
              .around = qn_arena_alloc(scratch, bytes),
              .position = qn_arena_alloc(scratch, bytes),
              .reached = qn_arena_alloc(scratch, count),
              .header = qn_arena_alloc(scratch, count),
              .stack = qn_arena_alloc(scratch, bytes),
              .cursor = qn_arena_alloc(scratch, bytes)};
    *loops = (qn_loops){.loop = qn_arena_alloc(scratch, bytes),
                        .parent = w.around,
                        .depth = qn_arena_alloc(scratch, bytes),
                        .reached = w.reached};
    if (!w.around || !w.position || !w.reached || !w.header || !w.stack || !w.cursor ||
        !loops->loop || !loops->depth) {
        return qn_ptx_memory();
    }
    for (uint32_t b = 0; b < count; b++) {
        w.around[b] = QN_NO_BLOCK;
    }
    run(&w);
    for (uint32_t b = 0; b < count; b++) {
        loops->loop[b] = w.header[b] ? b : w.around[b];
    }
    for (uint32_t b = 0; b < count; b++) {
        if (w.header[b]) {
            (void)depth_of(loops, b);
        }
    }
    return QUERN_OK;
}

static uint32_t depth_or_none(const qn_loops *loops, uint32_t loop)
{
    return loop == QN_NO_BLOCK ? 0 : loops->depth[loop];
}

uint32_t qn_loops_left(const qn_loops *loops, uint32_t from, uint32_t to)
{
    uint32_t a = loops->loop[from], b = loops->loop[to], left = QN_NO_BLOCK;
    while (a != b) {
        if (depth_or_none(loops, b) > depth_or_none(loops, a)) {
            b = loops->parent[b];
        } else {
            left = a;
            a = loops->parent[a];
        }
    }
    return left;
}
