/* SPDX-License-Identifier: MIT
 *
 * slots: a place in the frame for every register, so that registers that are never needed at the
 * same time share one. A linear scan over the spans of liveness.c takes the lowest free place of
 * the right size, which keeps a warp's frame small enough for the L1 cache.
 *
 * Registers that an instruction reads and those that it writes never share: an operation may write
 * lanes of its result before it has read all lanes of its operands.
 */
#include "ptx/read/reader.h"

#include <stdlib.h>

enum { PREDICATES, LINES_1, LINES_2, LINES_4, LINES_8, CLASSES };
#define PREDICATE_BYTES 4
#define LINE            64

typedef struct interval {
    uint32_t reg, begin, end;
} interval;

typedef struct pool {
    uint32_t *free; /* a stack of slots */
    uint32_t count;
} pool;

static int class_of(qn_ptx_type type)
{
    return type.letter == 'p' ? PREDICATES
           : type.bits <= 16  ? LINES_1
           : type.bits == 32  ? LINES_2
           : type.bits == 64  ? LINES_4
                              : LINES_8;
}

static int by_begin(const void *a, const void *b)
{
    const interval *x = a, *y = b;
    return x->begin != y->begin ? (x->begin > y->begin) - (x->begin < y->begin)
                                : (x->reg > y->reg) - (x->reg < y->reg);
}

static int by_end(const void *a, const void *b)
{
    const interval *x = a, *y = b;
    return x->end != y->end ? (x->end > y->end) - (x->end < y->end)
                            : (x->reg > y->reg) - (x->reg < y->reg);
}

/* A free slot of the class, or new ones at the end of the frame. Predicates come 16 to a line. */
static uint32_t take(pool *pools, int class, uint32_t *frame_bytes)
{
    static const uint32_t lines[CLASSES] = {1, 1, 2, 4, 8};
    pool *from = &pools[class];
    if (from->count > 0) {
        return from->free[--from->count];
    }
    uint32_t slot = *frame_bytes;
    *frame_bytes += lines[class] * LINE;
    if (class == PREDICATES) {
        for (uint32_t at = LINE - PREDICATE_BYTES; at > 0; at -= PREDICATE_BYTES) {
            from->free[from->count++] = slot + at;
        }
    }
    return slot;
}

static void scan(qn_ptx_function *function, const interval *begins, const interval *ends,
                 uint32_t count, pool *pools)
{
    uint32_t ended = 0;
    for (uint32_t i = 0; i < count; i++) {
        for (; ends[ended].end < begins[i].begin; ended++) {
            const qn_ptx_register *done = &function->registers[ends[ended].reg];
            pool *to = &pools[class_of(done->type)];
            to->free[to->count++] = done->slot;
        }
        qn_ptx_register *reg = &function->registers[begins[i].reg];
        reg->slot = take(pools, class_of(reg->type), &function->frame_bytes);
    }
}

static quern_status allocate(qn_ptx_function *function, qn_arena *scratch)
{
    qn_span *spans;
    QN_TRY(qn_liveness(&spans, function, scratch));
    uint32_t count = 0;
    size_t room = (size_t)function->register_count + LINE / PREDICATE_BYTES;
    interval *begins = qn_arena_alloc(scratch, room * sizeof(interval));
    interval *ends = qn_arena_alloc(scratch, room * sizeof(interval));
    pool pools[CLASSES] = {0};
    for (int i = 0; i < CLASSES; i++) {
        pools[i].free = qn_arena_alloc(scratch, room * sizeof(uint32_t));
        if (!pools[i].free) {
            return qn_ptx_memory();
        }
    }
    if (!begins || !ends) {
        return qn_ptx_memory();
    }
    for (uint32_t r = 0; r < function->register_count; r++) {
        if (spans[r].used) {
            begins[count] = ends[count] = (interval){r, spans[r].begin, spans[r].end};
            count++;
        }
    }
    qsort(begins, count, sizeof *begins, by_begin);
    qsort(ends, count, sizeof *ends, by_end);
    function->frame_bytes = 0;
    scan(function, begins, ends, count, pools);
    return QUERN_OK;
}

quern_status qn_ptx_allocate_slots(qn_ptx_function *function, qn_arena *arena)
{
    (void)arena; /* the registers hold all results */
    qn_arena scratch = {0};
    quern_status status = allocate(function, &scratch);
    qn_arena_free(&scratch);
    return status;
}
