/* SPDX-License-Identifier: MIT
 *
 * fold_strips: scans along columns that are split into tiles, in strips: a thread has positions of
 * its columns that follow each other, all of which it reads at once, and goes down them twice in
 * its registers, or in shared memory and registers. In: the plan of a scan whose columns are split
 * into tiles. Out: the same plan, or one in strips. The thing to know: the sums of tiles are folded
 * by all threads of a block at once (templates/strips.cuh), so a tile may have many columns side by
 * side and few positions.
 */
#include "array/fold_scans.h"

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

/* Of tiles that blocks hold. */
#define PARKED_BYTES 256 /* of a thread in shared memory: three blocks fit */
#define OWNED_BYTES  64  /* and in registers */
#define SIDE_BYTES   256 /* of columns side by side: on an H200 256 outdo 64 and 1024 */
#define NARROW_BYTES 64  /* of a row; narrower ones, or of half words, go by lines */
#define MANY_STRIPS  8   /* of a block that goes by lines */
#define HALF_WORD    8

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
 * threads of a block have none; no more than `widest`. */
static int64_t choose_beside(int64_t packs, uint32_t bytes, uint32_t lanes, int64_t widest)
{
    int64_t parts = qn_over(packs, QN_MIN(widest, QN_FOLD_BLOCK / lanes)), best = 0;
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

/* With fewer tiles in each, a tile folds fewer sums, and more tiles wait for others that wait.
 * Bunches make bundles where there are more of them than tiles in a bunch. */
void qn_fold_choose_bunches(qn_fold *f)
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

static void set_steps(qn_fold *f, uint32_t steps)
{
    f->form.steps = (uint8_t)steps;
    f->chunk = QN_FOLD_BLOCK / f->workers * steps;
    f->splits = qn_over(f->length, f->chunk);
}

/* Tiles of strips of `steps` positions, of which a thread reads `bytes` each. */
static void put_strips(const qn_fold_making *m, uint32_t bytes, int64_t widest, uint32_t steps)
{
    qn_fold *f = m->fold;
    const int64_t beside =
        choose_beside(packs_beside(f, bytes), bytes, f->form.lanes, QN_MIN(widest, MOST_BESIDE));
    f->groups = qn_over(f->outputs / f->form.lanes, beside);
    f->workers = (uint32_t)beside;
    set_steps(f, steps);
}

static bool has_few_tiles(const qn_fold_making *m)
{
    return m->fold->groups * m->fold->splits < (int64_t)m->rules->processors * TILES;
}

/* By parts of rows, whether they are split or not. */
static bool take_parts(const qn_fold_making *m, uint32_t value_size)
{
    qn_fold *f = m->fold;
    qn_fold_decided before;
    memcpy(before.bytes, f, sizeof before.bytes);
    if (!qn_fold_take_parts(m, value_size)) {
        memcpy(f, before.bytes, sizeof before.bytes);
        return false;
    }
    f->form.block = f->form.split = 1;
    qn_fold_choose_bunches(f);
    return true;
}

void qn_fold_take_strips(const qn_fold_making *m, uint32_t value_size, bool apart)
{
    qn_fold *f = m->fold;
    if (!f->form.columns || !(f->form.split || apart) || f->form.reduced != 1 || value_size == 0 ||
        value_size > MOST_VALUE || !m->rules->in_turns ||
        (f->form.split && tiles_do(m, value_size)) || take_parts(m, value_size) || !f->form.split) {
        return;
    }
    narrow_lanes(m, value_size);
    if (qn_fold_take_lines(m, value_size)) {
        qn_fold_choose_bunches(f);
        return;
    }
    const uint32_t bytes = QN_MAX(1, qn_fold_unit_bytes(&f->form, m->operands, m->inputs));
    put_strips(m, bytes, MOST_BESIDE, choose_steps(m));
    uint32_t steps = f->form.steps;
    while (steps > LEAST_STEPS && has_few_tiles(m)) {
        steps /= 2;
        set_steps(f, steps);
    }
    qn_fold_choose_bunches(f);
}

/* ---- held ----------------------------------------------------------------------------------- */

/* True when an operand's columns begin, at each position, on a multiple of `bytes`. */
static bool begins_with(const qn_fold *f, size_t k, uint32_t bytes)
{
    return qn_fold_begins_aligned(f, k, bytes) &&
           qn_magnitude(f->stride[k][f->form.kept]) % bytes == 0;
}

/* Bytes that a thread holds of a position; 0: an input does not come in aligned words, of `least`
 * bytes at least. */
static uint32_t bytes_held(const qn_fold_making *m, uint32_t least)
{
    const qn_fold *f = m->fold;
    uint32_t all = 0;
    for (size_t k = 0; k < m->inputs; k++) {
        const uint32_t bytes = f->form.lanes * m->operands[k].item_size;
        const bool one = f->form.lanes == 1 && f->form.access[k] == QN_ACCESS_CONTIGUOUS;
        const uint32_t word = QN_MIN(bytes, QN_ACCESS_BYTES);
        if ((f->form.access[k] != QN_ACCESS_VECTOR && !one) || word < least || bytes % word != 0 ||
            !begins_with(f, k, word)) {
            return 0;
        }
        all += bytes;
    }
    return all;
}

/* True when the columns of all operands begin with a sector at each position. */
static bool begin_with_sectors(const qn_fold_making *m)
{
    bool all = true;
    for (size_t k = 0; k < m->count; k++) {
        all &= begins_with(m->fold, k, QN_SECTOR_BYTES);
    }
    return all;
}

/* Tiles of strips of which `held` units wait in shared memory and `owned` in registers. Where
 * `sectors`, blocks take whole ones of each position. */
static void put_held(const qn_fold_making *m, uint32_t bytes, uint32_t held, uint32_t owned,
                     bool sectors)
{
    qn_fold *f = m->fold;
    put_strips(m, bytes, QN_MAX(1, SIDE_BYTES / bytes), held + owned);
    if (sectors) {
        const uint32_t packs = QN_MAX(1, QN_SECTOR_BYTES / bytes);
        f->workers = (uint32_t)qn_over(f->workers, packs) * packs;
        f->groups = qn_over(f->outputs / f->form.lanes, f->workers);
        set_steps(f, held + owned);
    }
    while (held > QN_STRIPS_BATCH && has_few_tiles(m)) {
        held = qn_fold_batches(held / 2, QN_STRIPS_BATCH);
        set_steps(f, held + owned);
    }
    f->form.held = (uint8_t)held;
    f->shared = held * bytes * QN_FOLD_BLOCK;
    qn_fold_choose_bunches(f);
}

/* Lanes of whole packs, of rows that were planned by parts. */
static void choose_pack_lanes(const qn_fold_making *m)
{
    qn_fold *f = m->fold;
    f->form.lanes = (uint8_t)qn_pack_lanes(m->operands, m->count, m->rules->pack_bytes);
    while (f->extent[f->form.kept - 1] % f->form.lanes != 0) {
        f->form.lanes /= 2;
    }
}

/* Results go in packs. One by one, blocks of 1994 x 262 float32 had 0.37 of a copy's speed, of 322
 * x 72 int32 into int8 0.13. */
static bool gives_packs(const qn_fold_making *m)
{
    bool packs = true;
    for (size_t k = m->inputs; k < m->count; k++) {
        packs &= qn_fold_is_pack(m->fold->form.access[k]);
    }
    return packs;
}

/* Plan the tiles; false: operands do not lie so, or there is no room. Where columns do not begin
 * with a sector, blocks read and write those at their edges in part, which whole lines do not:
 * words then do better only if a block would have few strips of lines. */
static bool plan_held(const qn_fold_making *m, uint32_t value_size)
{
    qn_fold *f = m->fold;
    const bool parts = f->form.parts, lines = (f->form.lines || parts) && qn_fold_lies_in_lines(m);
    if (parts) {
        choose_pack_lanes(m);
    }
    f->form.lines = f->form.back = f->form.again = f->form.parts = 0;
    f->head = 0;
    narrow_lanes(m, value_size);
    const int64_t packs = f->extent[f->form.kept - 1] / f->form.lanes;
    const bool many = lines && QN_FOLD_BLOCK / packs >= MANY_STRIPS;
    const bool sectors = begin_with_sectors(m), halves = f->form.lanes > 1 && (sectors || !lines);
    const uint32_t bytes =
        sectors || !many ? bytes_held(m, halves ? HALF_WORD : QN_ACCESS_BYTES) : 0;
    const uint32_t others = QN_HELD_OTHER_BYTES + qn_fold_sums_bytes(f, value_size);
    const uint32_t each = m->rules->shared / QN_HELD_BLOCKS;
    const uint32_t narrow = bytes < QN_ACCESS_BYTES ? 2 * NARROW_BYTES : NARROW_BYTES;
    if (bytes == 0 || each <= others || packs * bytes < narrow) {
        return false;
    }
    const uint32_t room = QN_MIN(PARKED_BYTES, (each - others) / QN_FOLD_BLOCK);
    const uint32_t held = qn_fold_batches(room / bytes, QN_STRIPS_BATCH);
    if (held * bytes < PARKED_BYTES / 2) {
        return false;
    }
    put_held(m, bytes, held, qn_fold_batches(OWNED_BYTES / bytes, QN_STRIPS_BATCH), sectors);
    return !parts || gives_packs(m);
}

void qn_fold_hold_columns(const qn_fold_making *m, uint32_t value_size)
{
    qn_fold *f = m->fold;
    if (!f->form.columns || !f->form.split || f->form.staged || f->form.reduced != 1 ||
        value_size == 0 || value_size > MOST_VALUE || !m->rules->in_turns) {
        return;
    }
    qn_fold_decided before;
    memcpy(before.bytes, f, sizeof before.bytes);
    if (!plan_held(m, value_size)) {
        memcpy(f, before.bytes, sizeof before.bytes);
    }
}

double qn_fold_strips_cost(const qn_fold *f)
{
    if (f->form.parts) {
        return f->cost;
    }
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
