/* SPDX-License-Identifier: MIT
 *
 * fold_descend: scans in which a thread goes down its own columns, from the first position to the
 * last, or along its own rows. In: the plan of a scan, and what it costs, if that is known. Out:
 * the same plan, or one of such threads where that costs less. The thing to know: nothing is
 * shared, so an element takes few instructions and no one waits; but only threads for columns read,
 * each some positions ahead, so columns must be many, or memory has too little to do.
 */
#include "array/fold.h"

#define MOST_STEPS    16 /* positions of a thread at once: each repeats the code */
#define FEW_STEPS     32 /* the same where a processor has few threads, and registers for them: */
#define FEW_THREADS   (2 * QN_FOLD_BLOCK)
#define DEAR_STEPS    4    /* the same where the texts are long */
#define MOST_ELEMENTS 64   /* of them */
#define REGISTERS     32   /* for their inputs */
#define MEMORY_BYTES  40e3 /* under way for a processor, reads and writes, at memory's speed */
#define TORN          1.5  /* how much longer it takes to write sectors in parts; */
#define WIDE          8    /* bytes of a pack from which on few sectors are written so */

/* Instructions, as the generated code has them. */
#define THREAD_COST  30 /* a thread */
#define KEPT_COST    12 /* its place along a kept dimension */
#define UNIT_COST    10 /* a unit: its places, its accesses, conditions */
#define ELEMENT_COST 4  /* an element of a unit */
#define SWATH_COST   25 /* a unit of an operand that is shifted */

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

/* How much longer than at memory's speed it takes, for want of reads that are under way. */
static double hunger(const qn_fold_making *m)
{
    const qn_fold *f = m->fold;
    double in = 0, all = 0;
    for (size_t k = 0; k < m->count; k++) {
        const double bytes = f->form.access[k] == QN_ACCESS_BROADCAST
                                 ? 0
                                 : (double)m->operands[k].item_size * f->form.lanes;
        in += k < m->inputs ? bytes : 0;
        all += bytes;
    }
    const double held = qn_fold_descent_blocks(f->form.steps) * QN_FOLD_BLOCK;
    const double flying = QN_MIN(threads(m), held) * f->form.steps * in;
    return in == 0 ? 1 : QN_MAX(1, MEMORY_BYTES * in / all / flying);
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

void qn_fold_take_descents(const qn_fold_making *m)
{
    qn_fold *f = m->fold;
    /* rows that lie on in memory come in one run, which nothing outdoes */
    if (f->form.kept == 0 || f->outputs == 0 || (f->form.packed && !f->form.woven)) {
        return;
    }
    const bool plain = f->form.columns && !f->form.block && !f->form.staged;
    const double others = f->cost;
    qn_fold_decided before;
    memcpy(before.bytes, f, sizeof before.bytes);
    f->form.columns = f->form.descends = 1;
    f->form.staged = f->form.lone = f->form.stage_in = f->form.stage_out = 0;
    f->form.line_in = f->form.line_out = 0;
    f->form.block = f->form.ragged = f->form.split = f->form.again = f->form.spread = 0;
    f->form.strips = f->form.bundles = f->form.lines = f->form.back = f->form.apart = 0;
    f->form.packed = f->form.woven = f->form.swath = 0;
    f->head = f->rest = 0;
    double descent = plan_best(m);
    if (f->form.swath) {
        f->head = f->extent[f->form.kept - 1];
        f->groups = qn_over(qn_fold_packs(f), QN_FOLD_BLOCK / QN_WARP);
    } else {
        descent = qn_fold_take_scans_apart(m, descent);
        f->groups = qn_over(f->outputs / f->form.lanes, QN_FOLD_BLOCK * QN_MAX(f->form.apart, 1));
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
