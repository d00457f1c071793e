/* SPDX-License-Identifier: MIT
 *
 * plan_flat: the walk by packs that go on across rows. In: a plan whose outputs have no gaps, while
 * some input is repeated, or has gaps, so that the rows of all could not be merged. Out: the plan
 * by flat packs where it costs less. The thing to know: a pack's place is found once, by divisions;
 * from step to step it is counted up, and where a row ends so is the next one's number. A step is
 * one element, or as many as rows have a whole number of, so that operands which are repeated along
 * a row are read once a step, and others that lie side by side in one access. Of rows that are no
 * shorter than packs, a pack has elements of two at most: nothing is counted but where the second
 * one begins. So (n, 3) + (n, 1) of int8 has one division and one write for 16 elements, and (n, 6)
 * + (n, 1) eight reads of the latter. Inputs without gaps come in packs too: aligned ones, or words
 * that are shifted.
 *
 * In phases a thread has several packs, so far apart that each begins at the same place of a row,
 * however long rows are: as many packs on as a row has elements, so many rows on. So all is counted
 * once for them, and what rows share, such as a bias, is read once.
 */
#include "array/plan.h"

#define WORD   4
#define PACKS  8  /* of a thread, one after another */
#define ENOUGH 80 /* percent of the cost by rows or elements from which on packs are flat */

#define PLENTY       70 /* percent of what memory takes: an element that takes less waits for it */
#define PLENTY_KEPT  60 /* the same where rows share an operand, which is quick to read then; */
#define PLENTY_ROWS  45 /* and where each row has ends of its own, before phases are tried */
#define MOST_TURNS   8
#define ELEMENTS     96  /* of all inputs that a thread takes, or of an output */
#define FAR          256 /* elements of a warp's packs: what lies side by side is farther apart */
#define FAR_ELEMENTS 8   /* that a thread takes then */
#define UNDER_WAY    64  /* bytes of inputs that a thread reads at once */
#define LINE_PACKS   3   /* the exponent of packs that are a line of memory: turns begin with one */
#define LEAST_PERIOD 1024 /* packs */
#define LEAST_STRIPS 4    /* of packs that all threads' turns have: of the last some have fewer */

/* The walk's elements lie side by side in this operand. */
static bool is_flat(const qn_plan *p, const qn_operand *operands, size_t k)
{
    const int last = p->form.ndim - 1;
    bool flat = !operands[k].loose && p->stride[k][last] == operands[k].item_size;
    for (int d = 0; flat && d < last; d++) {
        flat = p->stride[k][d] == p->stride[k][d + 1] * p->extent[d + 1];
    }
    return flat;
}

static bool is_one(const qn_plan *p, const qn_operand *operands, size_t k)
{
    bool one = !operands[k].output;
    for (int d = 0; one && d < p->form.ndim; d++) {
        one = p->stride[k][d] == 0;
    }
    return one;
}

/* How far the first elements of two packs lie apart in an operand, about. */
static int64_t pitch_of(const qn_plan *p, size_t k, int64_t lanes)
{
    int64_t pitch = 0;
    for (int d = p->form.ndim - 1; d >= 0; d--) {
        pitch += lanes % p->extent[d] * qn_magnitude(p->stride[k][d]);
        lanes /= p->extent[d];
    }
    return pitch;
}

/* The elements of each step of an operand are aligned as one access. */
static bool steps_aligned(const qn_plan *p, const qn_operand *o, size_t k)
{
    const int last = p->form.ndim - 1;
    const uint64_t alignment = (uint64_t)p->form.step * o->item_size;
    bool aligned = !o->loose && alignment <= QN_ACCESS_BYTES && p->stride[k][last] == o->item_size;
    aligned = aligned && (uintptr_t)p->base[k] % alignment == 0;
    for (int d = 0; aligned && d < last; d++) {
        aligned = (uint64_t)qn_magnitude(p->stride[k][d]) % alignment == 0;
    }
    return aligned;
}

/* How an operand is reached that has gaps, or is repeated. */
static qn_access counted_access(const qn_plan *p, const qn_operand *o, size_t k)
{
    const int last = p->form.ndim - 1;
    if (p->form.paired && p->stride[k][last] == 0) {
        return QN_ACCESS_PAIR;
    }
    if (p->form.step == 1) {
        return QN_ACCESS_STRIDED;
    }
    return p->stride[k][last] == 0  ? QN_ACCESS_HELD
           : steps_aligned(p, o, k) ? QN_ACCESS_STEP
                                    : QN_ACCESS_STRIDED;
}

static qn_access access_of(const qn_plan *p, const qn_operand *operands, size_t k)
{
    const qn_operand *o = &operands[k];
    if (is_one(p, operands, k)) {
        return QN_ACCESS_BROADCAST;
    }
    if (!is_flat(p, operands, k)) {
        return counted_access(p, o, k);
    }
    const uint64_t alignment = qn_pack_alignment(o, p->form.lanes);
    const uintptr_t first = (uintptr_t)p->base[k] + (uintptr_t)(p->head * o->item_size);
    if (first % alignment == 0) {
        return QN_ACCESS_VECTOR;
    }
    const bool words = !o->output && o->item_size < WORD && p->form.lanes * o->item_size >= WORD;
    return words ? QN_ACCESS_WORDS : QN_ACCESS_CONTIGUOUS;
}

/* ---- costs ---------------------------------------------------------------------------------- */

/* What the reads of an operand take that is counted. */
static int64_t reading_cost(const qn_plan *p, const qn_operand *o, size_t k)
{
    const int64_t lanes = p->form.lanes, steps = lanes / p->form.step;
    const int64_t lines = qn_plan_lines(pitch_of(p, k, lanes));
    const qn_access access = (qn_access)p->form.access[k];
    return access == QN_ACCESS_STRIDED ? qn_plan_moving(o, access, lines, lanes)
           : access == QN_ACCESS_PAIR  ? 2 * (3 + 4 * lines) + lanes
                                      : 2 + steps * (3 + (o->item_size < WORD ? 2 : 0) + 4 * lines);
}

/* What it takes to count one operand up, or the position, in all steps of a pack. */
static int64_t counting_cost(const qn_plan *p)
{
    const int64_t steps = p->form.lanes / p->form.step;
    return p->form.paired ? steps / 2 + 1 : steps * (p->form.ndim - p->form.whole - 1);
}

/* To count up takes three instructions for each dimension and one for each operand there. */
static int64_t cost_of(const qn_plan *p, const qn_operand *operands, size_t operand_count)
{
    const int ndim = p->form.ndim;
    const int64_t lanes = p->form.lanes, turns = p->form.turns;
    const int64_t counting = counting_cost(p);
    int64_t once = 3 + qn_plan_finding(operand_count, ndim) + 2 * counting, each = 0;
    for (size_t k = 0; k < operand_count; k++) {
        const qn_access access = (qn_access)p->form.access[k];
        const int64_t lines = qn_plan_lines(lanes * (int64_t)operands[k].item_size);
        if (qn_plan_counts(&p->form, k)) {
            once += counting;
            *(qn_plan_is_kept(&p->form, k) ? &once : &each) += reading_cost(p, &operands[k], k);
        } else {
            each += qn_plan_moving(&operands[k], access, lines, lanes);
        }
    }
    const int64_t before = qn_plan_preparing(p);
    return 100 * (once + turns * each) / (turns * lanes) + (turns > 1 ? before : before / PACKS);
}

/* ---- the plan ------------------------------------------------------------------------------- */

/* The longest step that rows have a whole number of, and that begins where packs do. */
static uint8_t choose_step(const qn_plan *p, uint32_t lanes)
{
    const int64_t row = p->extent[p->form.ndim - 1];
    uint32_t step = lanes;
    while (row % step != 0 || p->head % step != 0) {
        step /= 2;
    }
    return (uint8_t)step;
}

/* Words that have elements of a pack of operand `k` have only the operand's, if so many elements at
 * both ends are in no pack. */
static void choose_margin(qn_plan *p, const qn_operand *o, size_t k)
{
    if (p->form.access[k] == QN_ACCESS_WORDS) {
        p->form.margin = (uint8_t)QN_MAX(p->form.margin, WORD / o->item_size - 1);
    }
}

int64_t qn_plan_period(const qn_plan *p)
{
    return p->count / p->extent[0] << p->form.period;
}

int64_t qn_plan_threads(const qn_plan *p)
{
    return qn_over(p->packs, qn_plan_period(p) * p->form.turns) * qn_plan_period(p);
}

/* How far elements that lie side by side in an operand are apart in the walk, where that is not
 * along its last dimension; else 0. What flat packs read of it at once may not stay in the cache
 * until the others are read. */
static int64_t spread_of(const qn_plan *p, size_t k)
{
    const int last = p->form.ndim - 1;
    int64_t elements = p->extent[last];
    if (qn_magnitude(p->stride[k][last]) < QN_SECTOR_BYTES) {
        return 0;
    }
    for (int d = last - 1; d >= 0; d--) {
        if (p->stride[k][d] != 0 && qn_magnitude(p->stride[k][d]) < QN_SECTOR_BYTES) {
            return elements;
        }
        elements *= p->extent[d];
    }
    return 0;
}

/* The most packs that a thread may have: so that few of them are missing at the end, and its inputs
 * do not take too many registers. */
static int64_t most_turns(const qn_plan *p, const qn_operand *operands, size_t operand_count)
{
    const int64_t lanes = p->form.lanes;
    int64_t bytes = 0, inputs = 0, turns = 1;
    bool far = false;
    for (size_t k = 0; k < operand_count; k++) {
        const uint8_t access = p->form.access[k];
        if (qn_plan_counts(&p->form, k)) {
            turns = MOST_TURNS;
        }
        if (!qn_plan_is_kept(&p->form, k) && !operands[k].output && access != QN_ACCESS_BROADCAST) {
            bytes += access == QN_ACCESS_PAIR ? 0 : lanes * (int64_t)operands[k].item_size;
            inputs++;
        }
        far |= spread_of(p, k) > FAR;
    }
    while (turns > 1 &&
           (turns * bytes > UNDER_WAY || turns * lanes * QN_MAX(inputs, 1) > ELEMENTS ||
            (far && turns * lanes > FAR_ELEMENTS) ||
            qn_plan_period(p) * turns * LEAST_STRIPS > p->packs)) {
        turns /= 2;
    }
    return turns;
}

/* How many packs a thread has, and how far apart: no more than it takes to be faster than memory.
 */
static void choose_phases(qn_plan *p, const qn_operand *operands, size_t operand_count,
                          int64_t plenty)
{
    for (size_t k = 0; k < operand_count; k++) {
        const bool kept = qn_plan_counts(&p->form, k) && p->stride[k][0] == 0;
        p->form.kept |= (uint64_t)kept << k;
    }
    p->form.period = LINE_PACKS;
    while (qn_plan_period(p) < LEAST_PERIOD) {
        p->form.period++;
    }
    const int64_t most = most_turns(p, operands, operand_count);
    const int64_t least = plenty == INT64_MAX ? 1 : 2;
    while (p->form.turns < most &&
           (p->form.turns < least || cost_of(p, operands, operand_count) > plenty)) {
        p->form.turns *= 2;
    }
    if (p->form.turns == 1) {
        p->form.period = 0;
        p->form.kept = 0;
    }
}

/* The flat plan with so many lanes; false: there is none. `paired`: packs may be. */
static bool make(qn_plan *p, const qn_operand *operands, size_t operand_count, uint32_t lanes,
                 bool paired, int64_t plenty)
{
    const qn_operand *output = NULL;
    p->head = 0;
    for (size_t k = 0; k < operand_count; k++) {
        if (operands[k].output && !output) {
            output = &operands[k];
            p->head = qn_pack_head(p->base[k], output, lanes);
        }
    }
    if (!output || p->head < 0 || p->count < p->head + 4 * (int64_t)lanes) {
        return false;
    }
    qn_plan_form *f = &p->form;
    *f = (qn_plan_form){.ndim = f->ndim, .lanes = (uint8_t)lanes, .turns = 1, .flat = 1};
    f->step = choose_step(p, lanes);
    f->whole = f->step > 1 && f->step == p->extent[f->ndim - 1];
    f->paired = paired && f->step < lanes && p->extent[f->ndim - 1] >= (int64_t)lanes;
    for (size_t k = 0; k < operand_count; k++) {
        f->access[k] = (uint8_t)access_of(p, operands, k);
        choose_margin(p, &operands[k], k);
        if (operands[k].output && f->access[k] != QN_ACCESS_VECTOR) {
            return false;
        }
    }
    p->head += p->head < f->margin ? lanes : 0;
    p->packs = (p->count - p->head - f->margin) / lanes;
    p->rest = p->count - p->packs * lanes;
    choose_phases(p, operands, operand_count, plenty);
    return true;
}

/* The same, but packs of one turn are not paired where an operand is spread: they would be quick
 * for the processors, which wait for memory. */
static bool with_lanes(qn_plan *p, const qn_operand *operands, size_t operand_count, uint32_t lanes,
                       int64_t plenty)
{
    const qn_plan_decided before = qn_plan_decided_of(p);
    bool made = make(p, operands, operand_count, lanes, true, plenty), spread = false;
    for (size_t k = 0; k < operand_count; k++) {
        spread |= spread_of(p, k) > 0;
    }
    if (made && p->form.turns == 1 && p->form.paired && spread) {
        qn_plan_decide(p, &before);
        made = make(p, operands, operand_count, lanes, false, plenty);
    }
    return made;
}

/* What the plan takes as it is: by rows, or by packs, or elements in turns. */
static int64_t other_cost(const qn_plan *p, const qn_operand *operands, size_t operand_count)
{
    const qn_plan_form *f = &p->form;
    return f->rows ? p->cost : qn_plan_packs_whole_cost(p, operands, operand_count);
}

/* Packs of more elements than the plan has, if it is by packs. Of those that cost less, those are
 * best whose threads wait least as well. */
void qn_plan_flat(qn_plan *plan, const qn_operand *operands, size_t operand_count, uint32_t most)
{
    if (plan->form.ndim < 2) {
        return;
    }
    qn_plan_decided before = qn_plan_decided_of(plan), best = before;
    const int64_t cost = other_cost(plan, operands, operand_count);
    const uint32_t fewest = plan->form.rows ? 2 : plan->form.lanes + 1u;
    bool shares = false;
    for (size_t k = 0; k < operand_count; k++) {
        shares |= plan->stride[k][0] == 0 && !is_one(plan, operands, k);
    }
    const int64_t memory = qn_plan_memory_cost(plan, operands, operand_count);
    const int64_t part = shares ? PLENTY_KEPT : PLENTY;
    const bool slow = cost > memory * (shares && plan->form.rows ? PLENTY_ROWS : part) / 100;
    const int64_t plenty = slow ? memory * part / 100 : INT64_MAX;
    int64_t least = INT64_MAX;
    for (uint32_t lanes = most; lanes >= fewest; lanes /= 2) {
        qn_plan_decide(plan, &before);
        if (with_lanes(plan, operands, operand_count, lanes, plenty)) {
            plan->cost = cost_of(plan, operands, operand_count);
            plan->other_cost = cost;
            const int64_t all = plan->cost + QN_PLAN_WAITING / lanes;
            const int64_t enough = plan->form.turns > 1 ? 100 : ENOUGH;
            if (plan->cost * 100 < cost * enough && all < least) {
                best = qn_plan_decided_of(plan);
                least = all;
            }
        }
    }
    qn_plan_decide(plan, &best);
}
