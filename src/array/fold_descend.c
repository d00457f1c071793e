/* SPDX-License-Identifier: MIT
 *
 * fold_descend: scans in which a thread goes down its own columns, from the first position to the
 * last, or along its own rows. In: the plan of a scan, and what it costs, if that is known. Out:
 * the same plan, or one of such threads where that costs less. The thing to know: nothing is
 * shared, so an element takes few instructions and no one waits; but only threads for columns read,
 * each some positions ahead, so columns must be many, or memory has too little to do.
 */
#include "array/fold_scans.h"

#define MOST_STEPS    16 /* positions of a thread at once: each repeats the code */
#define FEW_STEPS     32 /* the same where a processor has few threads, and registers for them: */
#define FEW_THREADS   (2 * QN_FOLD_BLOCK)
#define DEAR_STEPS    4    /* the same where the texts are long */
#define FEW_BLOCKS    4    /* for a processor: with fewer, they are smaller */
#define MOST_ELEMENTS 64   /* of them */
#define REGISTERS     32   /* for their inputs */
#define MEMORY_BYTES  37e3 /* under way for a processor, reads and writes, at memory's speed */
#define TORN          1.5  /* how much longer it takes to write sectors in parts; */
#define WIDE          8    /* bytes of a pack from which on few sectors are written so */

/* Cycles of a processor: */
#define CYCLE_BYTES       19  /* what memory moves in one, */
#define SWATH_CYCLES      300 /* what a warp takes for a row of its swath, */
#define SWATH_LANE_CYCLES 50  /* and for each element of a lane; */
#define WAIT_CYCLES       800 /* until what is read is there, */
#define LANE_CYCLES       25  /* and what a thread takes for each element of a position */
#define LONG              32  /* positions of columns that may be split */
#define STARVING          1.2 /* times as long as memory: then tiles may do better */

/* Instructions, as the generated code has them. */
#define THREAD_COST  30 /* a thread */
#define KEPT_COST    12 /* its place along a kept dimension */
#define UNIT_COST    10 /* a unit: its places, its accesses, conditions */
#define ELEMENT_COST 4  /* an element of a unit */
#define SWATH_COST   25 /* a unit of an operand that is shifted */

/* Of what packed columns cost, below which threads do better that go down. On an H200, of a copy's
 * speed, with costs that were alike, so and packed: blocks of 236 x 217 float16 0.44 and 0.87, of
 * 236 x 50 int8 into int64 0.61 and 0.83, of 1000 x 50 bfloat16 into float32 0.52 and 0.81. */
#define PACKED_LESS 0.9

/* Threads for each processor. */
static double threads(const qn_fold_making *m)
{
    const qn_fold *f = m->fold;
    return (double)(f->outputs / f->form.lanes) / m->rules->processors;
}

/* Positions of a thread at once: as many as their inputs have room for in registers. */
static uint32_t choose_steps(const qn_fold_making *m)
{
    const qn_fold *f = m->fold;
    const uint32_t lanes = f->form.lanes;
    const uint32_t registers = qn_fold_unit_registers(m);
    uint32_t steps = threads(m) <= FEW_THREADS ? FEW_STEPS : MOST_STEPS;
    steps = m->rules->in_turns ? steps : DEAR_STEPS;
    while (steps > 1 && (steps * registers > REGISTERS || steps * lanes > MOST_ELEMENTS)) {
        steps /= 2;
    }
    return qn_power_of_two(f->length, steps);
}

/* Bytes of an element, of the inputs or of all operands. */
static double element_bytes(const qn_fold_making *m, size_t count)
{
    double bytes = 0;
    for (size_t k = 0; k < count; k++) {
        const bool once = m->fold->form.access[k] == QN_ACCESS_BROADCAST;
        bytes += once ? 0 : m->operands[k].item_size;
    }
    return bytes;
}

/* How much longer than memory takes for all columns a thread takes for its own: one position after
 * the other, however few there are beside each other. On an H200 swaths of int8 took 1100 cycles
 * a row, of float16 650, of float32 460: of 887 rows of 35465 int8 0.03 of a copy's speed. */
static double lateness(const qn_fold_making *m)
{
    const qn_fold *f = m->fold;
    const double each = f->form.swath
                            ? SWATH_CYCLES + SWATH_LANE_CYCLES * f->form.lanes
                            : (double)WAIT_CYCLES / f->form.steps + LANE_CYCLES * f->form.lanes;
    const double memory =
        (double)f->outputs * element_bytes(m, m->count) / (m->rules->processors * CYCLE_BYTES);
    const double held = qn_fold_descent_blocks(f->form.steps) * QN_FOLD_BLOCK;
    return threads(m) > held ? 0 : each / memory;
}

/* How much longer than at memory's speed it takes, for want of reads that are under way, or since
 * columns are long and few. */
static double hunger(const qn_fold_making *m)
{
    const qn_fold *f = m->fold;
    const double in = element_bytes(m, m->inputs), all = element_bytes(m, m->count);
    const double held = qn_fold_descent_blocks(f->form.steps) * QN_FOLD_BLOCK;
    const double flying = QN_MIN(threads(m), held) * f->form.steps * f->form.lanes * in;
    return in == 0 ? 1 : QN_MAX(QN_MAX(1, lateness(m)), MEMORY_BYTES * in / all / flying);
}

bool qn_fold_descent_starves(const qn_fold_making *m)
{
    return m->fold->length >= LONG && hunger(m) > STARVING;
}

static double descent_cost(const qn_fold_making *m)
{
    const qn_fold *f = m->fold;
    const double places = (double)(qn_over(f->length, f->form.steps) * f->form.steps);
    const double thread = THREAD_COST + KEPT_COST * f->form.kept;
    double unit = UNIT_COST;
    for (size_t k = 0; k < m->count; k++) {
        unit += f->form.access[k] == QN_ACCESS_WORDS ? SWATH_COST : 0;
    }
    return ELEMENT_COST + unit / f->form.lanes * places / (double)f->length +
           thread / (double)(f->form.lanes * f->length) + qn_fold_reach_cost(m);
}

/* Plan with so many lanes. Returns the cost, or a negative number where rows are no whole packs, or
 * no operand has them. */
static double plan_lanes(const qn_fold_making *m, uint32_t lanes)
{
    qn_fold *f = m->fold;
    f->form.lanes = (uint8_t)lanes;
    const bool packs = qn_fold_choose_access(m) >= 0 && f->extent[f->form.kept - 1] % lanes == 0;
    if (lanes > 1 && !packs) {
        return -1;
    }
    f->form.steps = (uint8_t)choose_steps(m);
    return descent_cost(m) * hunger(m);
}

/* Plan with the lanes that cost least: packs take fewer instructions, but have fewer threads, and
 * leave gaps where an operand has no packs. Off the alignment, by swaths. Returns the cost. */
static double plan_best(const qn_fold_making *m)
{
    qn_fold *f = m->fold;
    uint32_t widest = 1, best = 1;
    for (size_t k = 0; k < m->count; k++) {
        widest = QN_MAX(widest, m->operands[k].item_size);
    }
    uint32_t lanes = qn_pack_lanes(m->operands, m->count, m->rules->pack_bytes);
    double least = plan_lanes(m, 1);
    for (lanes = QN_MIN(lanes, QN_ACCESS_BYTES / widest); lanes > 1; lanes /= 2) {
        const double cost = plan_lanes(m, lanes);
        if (cost >= 0 && cost < least) {
            best = lanes;
            least = cost;
        }
    }
    if (qn_fold_choose_swaths(m)) {
        const bool torn = best == 1 || best * m->operands[m->inputs].item_size < WIDE;
        const double cost = descent_cost(m) * hunger(m);
        if (cost < least * (torn ? TORN : 1)) {
            return cost;
        }
        f->form.swath = 0;
    }
    return plan_lanes(m, best);
}

/* True when the columns' rows begin in the middle of a sector, and few bytes of it are one
 * thread's.
 */
static bool shares_sectors(const qn_fold_making *m)
{
    const qn_fold *f = m->fold;
    const size_t k = m->inputs;
    return k < m->count && f->form.lanes * m->operands[k].item_size < WIDE &&
           f->stride[k][f->form.kept] % QN_SECTOR_BYTES != 0;
}

/* Smaller blocks where there are few threads, so that all processors have some: 16384 columns of
 * int8 went at 0.47 of a copy's speed on an H200 with blocks of 256 threads, at 0.63 with those
 * of 32. But blocks keep in step what shares sectors: 62039 columns of float32 went at 0.51 with
 * those of 64, at 0.74 with those of 256. */
static void choose_warps(const qn_fold_making *m)
{
    qn_fold *f = m->fold;
    const int64_t warps = qn_over(f->outputs / f->form.lanes, QN_WARP);
    const int64_t blocks = (int64_t)m->rules->processors * (shares_sectors(m) ? 1 : FEW_BLOCKS);
    uint8_t each = QN_FOLD_BLOCK / QN_WARP;
    while (each > 1 && warps < blocks * each) {
        each /= 2;
    }
    f->form.warps = each < QN_FOLD_BLOCK / QN_WARP && f->form.apart == 0 ? each : 0;
}

void qn_fold_take_descents(const qn_fold_making *m)
{
    qn_fold *f = m->fold;
    /* rows that lie on in memory come in one run, which nothing outdoes */
    if (f->form.kept == 0 || f->outputs == 0 || (f->form.packed && !f->form.woven)) {
        return;
    }
    const bool plain = f->form.columns && !f->form.block && !f->form.staged;
    const double others = f->cost * (f->form.packed ? PACKED_LESS : 1);
    qn_fold_decided before;
    memcpy(before.bytes, f, sizeof before.bytes);
    f->form.columns = f->form.descends = 1;
    f->form.staged = f->form.lone = f->form.stage_in = f->form.stage_out = 0;
    f->form.line_in = f->form.line_out = 0;
    f->form.block = f->form.ragged = f->form.split = f->form.again = f->form.spread = 0;
    f->form.strips = f->form.bundles = f->form.lines = f->form.parts = f->form.back =
        f->form.apart = 0;
    f->form.packed = f->form.broad = f->form.strewn = f->form.woven = 0;
    f->form.swath = f->form.warps = f->form.gap = f->form.pieces = 0;
    f->head = f->rest = f->place = f->shared = 0;
    double descent = plan_best(m);
    if (f->form.swath) {
        f->head = f->extent[f->form.kept - 1];
        qn_fold_share_swaths(m);
        f->groups = qn_over(qn_fold_packs(f), qn_fold_threads(&f->form) / QN_WARP);
    } else {
        descent = qn_fold_take_scans_apart(m, descent);
        choose_warps(m);
        f->groups = qn_over(f->outputs / f->form.lanes,
                            qn_fold_threads(&f->form) * QN_MAX(f->form.apart, 1));
    }
    f->units = f->chunk = f->length;
    f->workers = 1;
    f->splits = 1;
    if (!plain && (others == 0 || descent >= others)) {
        memcpy(f, before.bytes, sizeof before.bytes);
    } else {
        f->cost = descent;
    }
}
