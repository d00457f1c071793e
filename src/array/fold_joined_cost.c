/* SPDX-License-Identifier: MIT
 *
 * fold_joined_cost: what reductions cost whose kept and reduced dimensions take turns in memory.
 * In: a plan by units or outputs apart, or how boxes would be. Out: what an element takes, in
 * instructions of a thread. The thing to know: a processor gets a byte from memory in the time of
 * eight of them. What takes longest counts: memory, by sectors; instructions; lines of memory that
 * warps meet; banks of shared memory.
 */
#include "array/fold.h"

#define BYTE_COST 8.0 /* of memory, for a processor that begins 128 instructions meanwhile */
#define LINE_COST 4.0 /* of each line that a warp meets, for each of its threads */
#define BANK_COST 4.0 /* the same of each word that the busiest bank gives */
#define WORD      4
#define UNDER_WAY 40960 /* bytes that keep memory busy for a processor */

/* Units: instructions of a load and what waits for it, of finding a position along each further
 * dimension, and of an element. */
#define LOAD_COST    24.0
#define DIVIDE_COST  8.0
#define ELEMENT_COST 4.0

/* Boxes: of a box; of its words, of an input; of an element, and of each input; of stepping along
 * two dimensions; of an output's beginning in each box; of the end. */
#define BOX_COST      60.0
#define WORD_COST     10.0
#define INPUT_COST    20.0
#define TAKE_COST     4.0
#define FETCH_COST    3.0
#define STEP_COST     4.0
#define START_COST    12.0
#define END_COST      300.0
#define POSITION_COST 2.0

/* ---- plans as they are ---------------------------------------------------------------------- */

/* Where thread `t` of a block begins to read input `k`: bytes from where the block does. */
static int64_t begins(const qn_fold *f, size_t k, int t)
{
    const qn_fold_form *form = &f->form;
    const int lane = qn_fold_lane_dim(form), dims = form->kept + form->reduced;
    const int beside = form->apart ? QN_FOLD_BLOCK : (int)qn_fold_block_outputs(f);
    int64_t output = form->columns ? t % beside : t / (int)f->workers;
    int64_t unit = form->columns ? t / beside : t % (int)f->workers, at = 0;
    for (int d = dims - 1; d >= 0; d--) {
        const int64_t each = d == lane ? form->lanes : 1;
        const int64_t extent = QN_MAX(1, f->extent[d] / each);
        int64_t *const position = d >= form->kept ? &unit : &output;
        at += *position % extent * each * f->stride[k][d];
        *position /= extent;
    }
    return at;
}

/* Lines of memory, or sectors, of so many bytes that a warp meets when each thread reads `bytes`.
 */
static int pieces_met(const qn_fold *f, size_t k, int64_t bytes, int64_t piece)
{
    int64_t met[2 * QN_WARP] = {0};
    const int64_t front = (int64_t)((uintptr_t)f->base[k] % (uintptr_t)piece);
    int count = 0;
    for (int t = 0; t < QN_WARP; t++) {
        const int64_t at = begins(f, k, t) + front + (INT64_MAX / 4 / piece) * piece;
        const int64_t ends[] = {at / piece, (at + bytes - 1) / piece};
        for (int e = 0; e < 2; e++) {
            bool seen = false;
            for (int n = 0; n < count && !seen; n++) {
                seen = met[n] == ends[e];
            }
            if (!seen) {
                met[count++] = ends[e];
            }
        }
    }
    return count;
}

/* Accesses for a unit. */
static double accesses(const qn_fold *f, size_t k, uint32_t item)
{
    const double bytes = (double)f->form.lanes * item;
    switch (f->form.access[k]) {
    case QN_ACCESS_VECTOR:
        return bytes > QN_ACCESS_BYTES ? bytes / QN_ACCESS_BYTES : 1;
    case QN_ACCESS_WORDS:
        return bytes / WORD + 1;
    case QN_ACCESS_BROADCAST:
        return 1;
    default:
        return f->form.lanes;
    }
}

/* The alignment that runs of input `k` have which are left when dimensions inside are not. */
static int64_t alignment(const qn_fold *f, size_t k, const bool *inside, int64_t run)
{
    uint64_t all = (uint64_t)(uintptr_t)f->base[k] | (uint64_t)run;
    for (int d = 0; d < f->form.kept + f->form.reduced; d++) {
        all |= inside[d] ? 0 : (uint64_t)qn_magnitude(f->stride[k][d]);
    }
    all |= QN_SECTOR_BYTES;
    return (int64_t)(all & -all);
}

/* Sectors that rows meet for each that they fill: those at the ends of a run of reduced elements
 * have outputs of other threads, too, if not of the same warp. Columns find the rest of a sector in
 * the cache. */
static double sectors_met(const qn_fold *f, size_t k, uint32_t item)
{
    bool inside[QUERN_MAX_NDIM] = {false};
    int64_t run = item;
    if (f->form.columns) {
        return 1;
    }
    for (int d = f->form.kept + f->form.reduced - 1; d >= f->form.kept; d--) {
        if (qn_magnitude(f->stride[k][d]) == run) {
            inside[d] = true;
            run *= f->extent[d];
        }
    }
    const double own = (double)(run + QN_SECTOR_BYTES - alignment(f, k, inside, run)) / (double)run;
    const int64_t bytes = (int64_t)f->form.lanes * item;
    const double warp = (double)(pieces_met(f, k, bytes, QN_SECTOR_BYTES) * QN_SECTOR_BYTES) /
                        (double)(bytes * QN_WARP);
    return QN_MAX(1, QN_MIN(own, warp));
}

double qn_fold_units_cost(const qn_fold_making *m)
{
    const qn_fold *f = m->fold;
    const double lanes = f->form.lanes, outputs = f->form.apart ? f->form.apart : 1;
    const int further = f->form.reduced > 1 ? f->form.reduced - 1 : 0;
    double memory = 0, lines = 0, work = ELEMENT_COST + DIVIDE_COST * further / lanes / outputs;
    for (size_t k = 0; k < m->inputs; k++) {
        const uint32_t item = m->operands[k].item_size;
        const double loads = accesses(f, k, item) / lanes;
        const bool moves = f->form.access[k] != QN_ACCESS_BROADCAST;
        work += LOAD_COST * loads;
        lines += LINE_COST * loads * pieces_met(f, k, item, QN_LINE_BYTES);
        memory += moves ? BYTE_COST * item * sectors_met(f, k, item) : 0;
    }
    return QN_MAX(QN_MAX(memory, lines), work);
}

/* ---- boxes ---------------------------------------------------------------------------------- */

/* Where an output, or a reduced position, of a box lies in the run of input `k`. */
static int64_t place_of(const qn_fold *f, const qn_fold_joining *j, size_t k, bool reduced,
                        int64_t number)
{
    int64_t at = 0;
    for (int n = 0; n < j->count; n++) {
        const int d = j->dims[n];
        if ((d >= f->form.kept) == reduced) {
            const int64_t extent = n == j->count - 1 ? j->slices : f->extent[d];
            at += number % extent * f->stride[k][d];
            number /= extent;
        }
    }
    return at;
}

/* Words that the busiest bank gives a warp, of all inputs, where neighbours have neighbouring
 * outputs, or (`along`) reduced positions. */
static int conflicts(const qn_fold_making *m, const qn_fold_joining *j, bool along)
{
    int all = 0;
    for (size_t k = 0; k < m->inputs; k++) {
        int64_t places[QN_WARP];
        for (int t = 0; t < QN_WARP; t++) {
            const int64_t output = along ? t / j->workers : t % j->beside;
            const int64_t position = along ? t % j->workers : t / j->beside % j->workers;
            places[t] =
                place_of(m->fold, j, k, false, output) + place_of(m->fold, j, k, true, position);
        }
        all += qn_bank_conflicts(places);
    }
    return all;
}

void qn_fold_joined_cost(const qn_fold_making *m, qn_fold_joining *j)
{
    const double elements = (double)(j->outputs * j->length);
    const double rounds = (double)(qn_over(j->length, j->workers) * j->each);
    const double share = QN_FOLD_BLOCK / elements; /* of what each thread does, for an element */
    const int64_t held = qn_fold_joined_held((uint32_t)j->each, (uint32_t)j->pool);
    const int apart = conflicts(m, j, false),
              along = j->workers > 1 ? conflicts(m, j, true) : apart;
    int reduced = 0;
    double memory = 0, all = 0, thread = BOX_COST + START_COST * (double)j->each;
    double take = TAKE_COST + (m->rules->counted ? POSITION_COST : 0);
    for (int n = 0; n < j->count; n++) {
        reduced += j->dims[n] >= m->fold->form.kept;
    }
    for (size_t k = 0; k < m->inputs; k++) {
        const double bytes = (double)j->bytes[k];
        memory += BYTE_COST * bytes / elements;
        all += bytes;
        thread += INPUT_COST + WORD_COST * (double)qn_over(j->bytes[k], 16 * QN_FOLD_BLOCK);
        take += FETCH_COST + (reduced > 1 ? STEP_COST / 2 : 0);
    }
    take += reduced > 1 ? STEP_COST / 2 : 0;
    thread += rounds * take + (END_COST + 2 * START_COST * (double)j->each) / (double)j->units;
    all *= (double)held;
    memory *= all < UNDER_WAY ? UNDER_WAY / all : 1;
    j->along = along < apart;
    const double banks = BANK_COST * QN_MIN(along, apart) * rounds * share;
    j->cost = QN_MAX(QN_MAX(memory, banks), thread * share);
}
