/* SPDX-License-Identifier: MIT
 *
 * fold_strips: scans along columns that are split into tiles, in strips: a thread has positions of
 * its columns that follow each other, all of which it reads at once, and goes down them twice in
 * its registers. In: the plan of a scan whose columns are split into tiles. Out: the same plan, or
 * one in strips. The thing to know: the sums of tiles are folded by all threads of a block at once
 * (templates/strips.cuh), so a tile may have many columns side by side and few positions.
 */
#include "array/fold.h"

#define SEGMENT_BYTES 64 /* of columns side by side that a block takes at least */
#define MOST_BESIDE   64 /* threads side by side: with more, few strips share the sums in front */
#define TRIES         16 /* parts of the columns to choose from */
#define MOST_STEPS    32 /* positions of a thread: each repeats the code */
#define LEAST_STEPS   4
#define MOST_ELEMENTS 64 /* of a thread */
#define REGISTERS     32 /* for inputs */
#define VALUE_BYTES   32 /* that a thread has of a position */
#define TILES         3  /* for a processor at least: with fewer, some have nothing to do */
#define LEAST_BUNCH   4  /* 16 tiles */
#define FEW_BUNCH     5  /* 32 tiles, of so few in all: */
#define MANY_TILES    2000
#define MOST_BUNCH    8
#define FEW_TILES     64 /* of a column */
#define MOST_VALUE    16 /* bytes */
#define WORD          4

/* Instructions, as the generated code has them. */
#define UNIT_COST    8   /* a unit: its place, its access */
#define ELEMENT_COST 6   /* an element of a unit */
#define THREAD_COST  350 /* a thread's strip */

/* Packs that threads may have side by side: those of the last kept dimension or, if these are few
 * bytes, of as many dimensions as it takes. */
static int64_t packs_beside(const qn_fold *f, uint32_t bytes)
{
    int d = f->form.kept - 1;
    int64_t packs = f->extent[d] / f->form.lanes;
    while (d > 0 && packs * bytes < SEGMENT_BYTES) {
        packs *= f->extent[--d];
    }
    return packs;
}

/* Threads side by side: as many as columns lie side by side, or an even part of them, so that few
 * threads of a block have none. */
static int64_t choose_beside(int64_t packs, uint32_t bytes, uint32_t lanes)
{
    int64_t parts = qn_over(packs, QN_MIN(MOST_BESIDE, QN_FOLD_BLOCK / lanes)), best = 0;
    double most = 0;
    for (int n = 0; n < TRIES; n++, parts++) {
        const int64_t beside = qn_over(packs, parts);
        if (best != 0 && beside * bytes < SEGMENT_BYTES) {
            break;
        }
        const double used = (double)packs / (double)(parts * beside) *
                            (double)(QN_FOLD_BLOCK / beside * beside) / QN_FOLD_BLOCK;
        if (used > most + 0.02) {
            most = used;
            best = beside;
        }
    }
    return best;
}

/* Packs of no more than 16 bytes of an output: a thread would write halves of sectors. */
static void narrow_lanes(const qn_fold_making *m, uint32_t value_size)
{
    qn_fold *f = m->fold;
    uint32_t item = value_size * QN_ACCESS_BYTES / VALUE_BYTES;
    for (size_t k = m->inputs; k < m->count; k++) {
        item = QN_MAX(item, m->operands[k].item_size);
    }
    while (f->form.lanes > 1 && f->form.lanes * item > QN_ACCESS_BYTES) {
        f->form.lanes /= 2;
    }
    qn_fold_choose_access(m);
}

/* Positions of a thread: as many as their inputs have room for in registers. */
static uint32_t choose_steps(const qn_fold_making *m)
{
    const qn_fold *f = m->fold;
    const uint32_t registers = qn_fold_unit_registers(m);
    uint32_t steps = MOST_STEPS;
    while (steps > LEAST_STEPS &&
           (steps * registers > REGISTERS || steps * f->form.lanes > MOST_ELEMENTS)) {
        steps /= 2;
    }
    return steps;
}

/* Choose the tiles of a bunch. With fewer in each, a tile folds fewer sums, and more tiles wait for
 * others that wait. Bunches make bundles where there are more of them than tiles in a bunch. */
static void choose_bunches(qn_fold *f)
{
    uint8_t n = f->splits < MANY_TILES ? FEW_BUNCH : LEAST_BUNCH;
    while (n < MOST_BUNCH && f->splits >> (2 * n + 1) > (int64_t)1 << n) {
        n++;
    }
    f->form.strips = n;
    f->form.bundles = f->splits > (int64_t)1 << 2 * n;
}

/* True where tiles of whole packs do as well: few tiles of a column to ask, and 4 values of each
 * thread that travel together. 2352 columns of 24886 int32, 49 tiles each, run at 0.74 of a copy's
 * speed on an H200. */
static bool tiles_do(const qn_fold_making *m, uint32_t value_size)
{
    const qn_fold *f = m->fold;
    bool whole = f->splits <= FEW_TILES && value_size * f->form.lanes == QN_ACCESS_BYTES;
    for (size_t k = 0; k < m->count; k++) {
        whole &= f->form.access[k] == QN_ACCESS_VECTOR &&
                 m->operands[k].item_size * f->form.lanes == QN_ACCESS_BYTES;
    }
    return whole && value_size <= WORD;
}

void qn_fold_take_strips(const qn_fold_making *m, uint32_t value_size)
{
    qn_fold *f = m->fold;
    if (!f->form.columns || !f->form.split || f->form.reduced != 1 || value_size == 0 ||
        value_size > MOST_VALUE || !m->rules->in_turns || tiles_do(m, value_size)) {
        return;
    }
    narrow_lanes(m, value_size);
    if (qn_fold_take_lines(m, value_size)) {
        choose_bunches(f);
        return;
    }
    const uint32_t bytes = QN_MAX(1, qn_fold_unit_bytes(&f->form, m->operands, m->inputs));
    const int64_t packs = f->outputs / f->form.lanes;
    const int64_t beside = choose_beside(packs_beside(f, bytes), bytes, f->form.lanes);
    const int64_t strips = QN_FOLD_BLOCK / beside, least = (int64_t)m->rules->processors * TILES;
    uint32_t steps = choose_steps(m);
    f->groups = qn_over(packs, beside);
    while (steps > LEAST_STEPS && f->groups * qn_over(f->length, strips * steps) < least) {
        steps /= 2;
    }
    f->splits = qn_over(f->length, strips * steps);
    f->chunk = strips * steps;
    f->workers = (uint32_t)beside;
    f->form.steps = (uint8_t)steps;
    choose_bunches(f);
}

double qn_fold_strips_cost(const qn_fold *f)
{
    if (f->form.lines) {
        return qn_fold_lines_cost(f);
    }
    return (double)UNIT_COST / f->form.lanes + ELEMENT_COST +
           (double)THREAD_COST / (f->form.lanes * f->form.steps);
}

int64_t qn_fold_strips_values(const qn_fold *f)
{
    const int64_t bunches = qn_over(f->splits, (int64_t)1 << f->form.strips);
    const int64_t bundles = qn_over(bunches, (int64_t)1 << f->form.strips);
    return f->groups * (f->splits + bunches + bundles) * f->workers * f->form.lanes;
}
