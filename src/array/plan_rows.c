/* SPDX-License-Identifier: MIT
 *
 * plan_rows: the walk by rows, in which a block goes along one row, or a few, and each row has
 * packs that begin where its output is aligned. In: a plan by packs. Out: the plan by rows where it
 * costs less. The thing to know: nothing is divided but a block's number, and rows of any length
 * and pitch are moved in wide accesses: operands that are not aligned where the output is come by
 * aligned words that are shifted (QN_ACCESS_WORDS), if their elements are narrow, or else element
 * by element.
 *
 * Costs are in instructions of a GPU for an element, in hundredths. An access counts as one, and as
 * four more for each line of memory that a warp meets in it: a processor begins four instructions
 * of warps at a time, but looks up one line. Measured on an H200, where it explains what copies of
 * int8 by 16 single bytes a thread take (0.69 of the speed of a copy by words).
 */
#include "array/plan.h"

#define BLOCK       256 /* threads of a block, at most */
#define WARP        32
#define WORD        4
#define FEWEST      24 /* packs of a row: with fewer, its ends are too large a part */
#define THREAD_COST 12 /* where a row's packs begin and end, and which of them is the thread's */
#define ENOUGH      80 /* percent of the cost by packs from which on rows are walked */
#define CLEARLY     90 /* percent of the cost by the rule up to which its alternatives are better */
#define MOST_TURNS  4
#define CACHE_BYTES (32 << 20) /* of what all blocks have moved, what the cache still has */
#define UNDER_WAY   32         /* bytes of inputs that a thread reads at once */
#define LONGEST     96 /* elements of all operands in a thread's text, where turns are tried */
#define ELEMENTS    32 /* that a thread takes of two inputs, unless a pack has more; of more, half */

/* ---- costs ---------------------------------------------------------------------------------- */

int64_t qn_plan_lines(int64_t pitch)
{
    return QN_MAX((int64_t)1, QN_MIN(pitch * WARP / QN_LINE_BYTES, (int64_t)WARP));
}

int64_t qn_plan_moving(const qn_operand *o, qn_access access, int64_t met, int64_t lanes)
{
    const int64_t bytes = lanes * o->item_size;
    switch (access) {
    case QN_ACCESS_VECTOR:
        return 2 + (bytes - 1) / 16 + 1 + 4 * met;
    case QN_ACCESS_WORDS: /* each word is read, shifted, and used twice */
        return 3 + 2 * bytes / WORD + 4 * (bytes / WORD + 1) * met;
    case QN_ACCESS_BACK: /* and turned around */
        return 3 + 3 * bytes / WORD + 4 * (bytes / WORD + 1) * met;
    case QN_ACCESS_BROADCAST:
        return 3 + 4;
    default: { /* narrow elements are put together, or taken apart */
        const int64_t each =
            (access == QN_ACCESS_STRIDED ? 3 : 1) + (lanes > 1 && o->item_size < WORD ? 2 : 0);
        return 2 + lanes * each + 4 * lanes * met;
    }
    }
}

int64_t qn_plan_finding(size_t operand_count, int ndim)
{
    return ndim == 1 ? 0 : 2 + 4 * (ndim - 1) + (int64_t)operand_count * (ndim - 1);
}

/* `rows`: how many of them a warp has. Single elements and words meet a line in each. */
static int64_t moving_all(const qn_plan *p, const qn_operand *operands, size_t operand_count,
                          int64_t rows)
{
    int64_t sum = 0;
    for (size_t k = 0; k < operand_count; k++) {
        const qn_access access = (qn_access)p->form.access[k];
        const bool apart = p->form.lanes == 1 || access == QN_ACCESS_WORDS ||
                           access == QN_ACCESS_BACK || access == QN_ACCESS_STRIDED;
        const int64_t stride = qn_magnitude(p->stride[k][p->form.ndim - 1]);
        const int64_t met = qn_plan_lines(p->form.lanes * stride);
        sum += qn_plan_moving(&operands[k], access, apart ? QN_MAX(met, rows) : met, p->form.lanes);
    }
    return sum;
}

int64_t qn_plan_packs_cost(const qn_plan *plan, const qn_operand *operands, size_t operand_count)
{
    return 100 *
           (3 + qn_plan_finding(operand_count, plan->form.ndim) +
            moving_all(plan, operands, operand_count, 1)) /
           plan->form.lanes;
}

/* What a thread by packs does before its first pack: measured on an H200, where packs of two
 * elements took 55 instructions an element, and their own were counted as 33. */
#define PREPARING 4000

int64_t qn_plan_preparing(const qn_plan *p)
{
    return p->form.ndim == 1 ? 0 : PREPARING / (p->form.lanes * p->form.turns);
}

/* Hundredths of an instruction that a processor has for each byte that memory moves, at two
 * thirds of what it can do. */
#define BYTE_TIME 500

int64_t qn_plan_memory_cost(const qn_plan *p, const qn_operand *operands, size_t operand_count)
{
    int64_t bytes = 0;
    for (size_t k = 0; k < operand_count; k++) {
        bool repeated = false;
        for (int d = 0; d < p->form.ndim; d++) {
            repeated |= p->stride[k][d] == 0;
        }
        bytes += repeated ? 0 : operands[k].item_size;
    }
    return BYTE_TIME * bytes;
}

int64_t qn_plan_packs_whole_cost(const qn_plan *p, const qn_operand *operands, size_t operand_count)
{
    const int64_t cost = qn_plan_packs_cost(p, operands, operand_count);
    const int64_t whole = cost + qn_plan_preparing(p);
    return whole > qn_plan_memory_cost(p, operands, operand_count) ? whole : cost;
}

/* Elements at the ends of a row are taken by single threads, while the others of a warp wait. */
static int64_t ends_cost(const qn_plan *p, size_t operand_count)
{
    const int64_t left = p->form.lanes == 1 ? 0 : p->form.lanes - 1 + 2 * p->form.margin;
    const int64_t side_by_side = QN_MIN(p->across, WARP);
    const int64_t times = qn_over(left, side_by_side);
    return times * side_by_side * (6 + 9 * (int64_t)operand_count + p->work);
}

/* Packs are counted with those that threads lack while the others of their warp have one. */
static int64_t rows_cost(const qn_plan *p, const qn_operand *operands, size_t operand_count)
{
    const int64_t inner = p->extent[p->form.ndim - 1], threads = p->parts * p->across;
    const int64_t thread =
        THREAD_COST + 2 * (int64_t)operand_count + qn_plan_finding(operand_count, p->form.ndim);
    const int64_t side_by_side = QN_MIN(p->across, WARP), lanes = p->form.lanes;
    const int64_t packs = qn_over(qn_over(inner, lanes), side_by_side) * side_by_side;
    const int64_t moving = moving_all(p, operands, operand_count, QN_MAX(WARP / p->across, 1));
    return 100 *
           (threads * thread + ends_cost(p, operand_count) + packs * moving +
            (packs * lanes - inner) * p->work) /
           inner;
}

/* ---- packs that begin where the output is aligned -------------------------------------------- */

static bool contiguous(const qn_plan *p, const qn_operand *operands, size_t k)
{
    return !operands[k].loose && p->stride[k][p->form.ndim - 1] == operands[k].item_size;
}

/* Elements from one aligned access of an operand to the next. */
static int64_t aligned_lanes(const qn_operand *o, uint32_t lanes)
{
    return (int64_t)qn_pack_alignment(o, lanes) / o->item_size;
}

bool qn_plan_agree(const qn_plan *p, const qn_operand *operands, size_t a, size_t b, int64_t every)
{
    const int64_t size_a = operands[a].item_size, size_b = operands[b].item_size;
    if (((int64_t)((uintptr_t)p->base[a] / (uintptr_t)size_a) -
         (int64_t)((uintptr_t)p->base[b] / (uintptr_t)size_b)) %
            every !=
        0) {
        return false;
    }
    for (int d = 0; d < p->form.ndim - 1; d++) {
        if ((p->stride[a][d] / size_a - p->stride[b][d] / size_b) % every != 0) {
            return false;
        }
    }
    return true;
}

/* The operand at whose alignment packs begin: an output, or an input that is aligned more seldom
 * and where the output is. -1: no output lies side by side. */
static int choose_anchor(const qn_plan *p, const qn_operand *operands, size_t operand_count,
                         uint32_t lanes)
{
    int anchor = -1;
    for (size_t k = 0; k < operand_count && anchor < 0; k++) {
        anchor = operands[k].output && contiguous(p, operands, k) ? (int)k : -1;
    }
    for (size_t k = 0; k < operand_count && anchor >= 0; k++) {
        int64_t every = aligned_lanes(&operands[anchor], lanes);
        if (contiguous(p, operands, k) && aligned_lanes(&operands[k], lanes) > every &&
            qn_plan_agree(p, operands, (size_t)anchor, k, every)) {
            anchor = (int)k;
        }
    }
    return anchor;
}

bool qn_plan_is_back(const qn_operand *operand, int64_t stride, uint32_t lanes)
{
    return stride == -(int64_t)operand->item_size && !operand->output && !operand->loose &&
           operand->item_size < WORD && lanes * operand->item_size >= WORD;
}

static qn_access access_of(const qn_plan *p, const qn_operand *operands, size_t k)
{
    const qn_operand *o = &operands[k];
    const int64_t stride = p->stride[k][p->form.ndim - 1];
    const uint32_t lanes = p->form.lanes;
    if (stride == 0 && !o->output) {
        return QN_ACCESS_BROADCAST;
    }
    if (stride != o->item_size) {
        return qn_plan_is_back(o, stride, lanes) ? QN_ACCESS_BACK : QN_ACCESS_STRIDED;
    }
    if (lanes == 1 || o->loose) {
        return QN_ACCESS_CONTIGUOUS;
    }
    const int64_t every = aligned_lanes(o, lanes);
    if (every <= aligned_lanes(&operands[p->form.anchor], lanes) &&
        qn_plan_agree(p, operands, p->form.anchor, k, every)) {
        return QN_ACCESS_VECTOR;
    }
    bool words = !o->output && o->item_size < WORD && lanes * o->item_size >= WORD;
    return words ? QN_ACCESS_WORDS : QN_ACCESS_CONTIGUOUS;
}

/* ---- threads -------------------------------------------------------------------------------- */

/* Packs that a thread takes: enough bytes of inputs for reads to be under way, and not so many
 * elements that the text grows long, which the operation has for each. Of several inputs of which
 * one has less than 16 bytes in a pack, twice as many, but no more elements than the widest packs
 * have, or twice as many as those where an input is narrower still: on an H200 a sum of six
 * bfloat16 by 8 bytes 0.90 and 1.06 of a copy's speed, comparing two int8 by 8 0.54 and 0.68. */
static uint8_t choose_turns(const qn_plan *p, const qn_operand *operands, size_t operand_count)
{
    const uint32_t lanes = p->form.lanes;
    uint32_t bytes = 0, inputs = 0, turns = MOST_TURNS, narrowest = QN_ACCESS_BYTES, widest = 1;
    for (size_t k = 0; k < operand_count; k++) {
        widest = QN_MAX(widest, operands[k].item_size);
        if (p->form.access[k] != QN_ACCESS_BROADCAST && !operands[k].output) {
            bytes += lanes * operands[k].item_size;
            narrowest = QN_MIN(narrowest, operands[k].item_size);
            inputs++;
        }
    }
    const uint32_t pack = QN_MAX(1, QN_ACCESS_BYTES / widest); /* elements of the widest packs */
    const uint32_t most = inputs > 2 ? ELEMENTS / 2 : ELEMENTS;
    const bool bytes_apart = narrowest == 1 || pack * narrowest < QN_ACCESS_BYTES;
    const uint32_t cap = bytes_apart ? 2 * pack : pack;
    const bool small = inputs > 1 && lanes * narrowest < QN_ACCESS_BYTES;
    for (; turns > 1 && lanes > 1; turns /= 2) {
        const uint32_t times = small && turns * lanes <= cap ? 2 : 1;
        if (turns * bytes <= times * UNDER_WAY &&
            turns * lanes * QN_MAX(inputs, 1u) <= times * most) {
            break;
        }
    }
    return (uint8_t)turns;
}

/* How a row is shared out: among `across` threads of a block side by side, in `parts` blocks. If
 * `tight`, no thread is without a pack, and a warp may have the end of a row and the beginning of
 * the next; else warps begin where rows do, which suits memory better. */
static void share_out(qn_plan *p, bool tight)
{
    const int64_t packs = p->extent[p->form.ndim - 1] / p->form.lanes;
    const int64_t threads = (packs - 1) / p->form.turns + 1;
    p->parts = (threads - 1) / BLOCK + 1;
    int64_t across = (threads - 1) / p->parts + 1;
    if (!tight) {
        across = across > WARP ? (across + WARP - 1) / WARP * WARP : qn_power_of_two(across, WARP);
    }
    p->across = (int32_t)across;
    p->down = (int32_t)(BLOCK / across);
}

/* The plan by rows with so many lanes; false: there is none. `turns`: asked for, or 0. */
static bool with_lanes(qn_plan *p, const qn_operand *operands, size_t operand_count, uint32_t lanes,
                       uint32_t turns, bool tight)
{
    const int ndim = p->form.ndim;
    const int anchor = choose_anchor(p, operands, operand_count, lanes);
    if (p->extent[ndim - 1] < (int64_t)FEWEST * lanes || (lanes > 1) != (anchor >= 0)) {
        return false;
    }
    p->form.rows = 1;
    p->form.lanes = (uint8_t)lanes;
    p->form.anchor = (uint8_t)QN_MAX(anchor, 0);
    p->form.margin = 0;
    for (size_t k = 0; k < operand_count; k++) {
        p->form.access[k] = (uint8_t)access_of(p, operands, k);
        if (p->form.access[k] == QN_ACCESS_WORDS || p->form.access[k] == QN_ACCESS_BACK) {
            const uint8_t beside = (uint8_t)(WORD / operands[k].item_size - 1);
            p->form.margin = QN_MAX(p->form.margin, beside);
        }
    }
    p->form.turns =
        turns != 0 ? (uint8_t)QN_MIN(turns, MOST_TURNS) : choose_turns(p, operands, operand_count);
    share_out(p, tight);
    p->head = p->count / p->extent[ndim - 1];
    p->packs = ((p->head - 1) / p->down + 1) * p->parts;
    p->rest = 0;
    return true;
}

/* ---- an input that many rows share ----------------------------------------------------------- */

/* Bytes that are moved between two reads of the same elements of an input, which rows share along
 * dimension `d`: blocks go on along a row, or (if `crosses`) over the rows first. */
static double moved_between(const qn_plan *p, const qn_operand *operands, size_t operand_count,
                            int d, bool crosses)
{
    const int inner = p->form.ndim - 1;
    double bytes = 0, elements = (double)p->extent[inner] / (crosses ? (double)p->parts : 1);
    for (size_t k = 0; k < operand_count; k++) {
        bytes += p->stride[k][inner] == 0 ? 0 : operands[k].item_size;
    }
    for (int within = d + 1; within < inner; within++) {
        elements *= (double)p->extent[within];
    }
    return elements * bytes;
}

/* The cache has lost what rows share when the next of them comes: outer sums and biases of long
 * rows. `mended`: it would not have in the other order. */
static bool loses_shared(const qn_plan *p, const qn_operand *operands, size_t operand_count,
                         bool mended)
{
    const int inner = p->form.ndim - 1;
    bool lost = false;
    for (size_t k = 0; k < operand_count; k++) {
        for (int d = 0; d < inner && p->stride[k][inner] != 0; d++) {
            lost |= p->stride[k][d] == 0 && p->extent[d] > 1 &&
                    moved_between(p, operands, operand_count, d, false) > CACHE_BYTES &&
                    (!mended || moved_between(p, operands, operand_count, d, true) < CACHE_BYTES);
        }
    }
    return lost;
}

static bool should_cross(const qn_plan *p, const qn_operand *operands, size_t operand_count)
{
    return p->form.rows && p->parts > 1 && p->down == 1 &&
           loses_shared(p, operands, operand_count, true);
}

/* Rows have something to mend: an operand that packs reach element by element. In one dimension,
 * where packs divide nothing, only words can be better. */
static bool worth_a_look(const qn_plan *plan, const qn_operand *operands, size_t operand_count)
{
    bool single = false, narrow = false;
    for (size_t k = 0; k < operand_count; k++) {
        const uint8_t access = plan->form.access[k];
        single |= access == QN_ACCESS_CONTIGUOUS || access == QN_ACCESS_STRIDED;
        narrow |= access == QN_ACCESS_CONTIGUOUS && operands[k].item_size < WORD;
        narrow |= access == QN_ACCESS_STRIDED &&
                  qn_plan_is_back(&operands[k], plan->stride[k][plan->form.ndim - 1], WORD);
    }
    return plan->form.ndim == 1 ? narrow : single;
}

/* What has been looked at: `packs` is the plan to begin from, `best` the cheapest by rows. */
typedef struct search {
    const qn_operand *operands;
    size_t operand_count;
    uint32_t most;
    qn_plan_decided packs, best;
    int64_t cost;     /* 0: there is none yet */
    uint32_t longest; /* elements of all operands in a thread's text that are tried; 0: any */
} search;

static void look(search *s, qn_plan *plan, uint32_t turns, bool tight)
{
    for (uint32_t lanes = s->most; lanes > 0; lanes /= 2) {
        qn_plan_decide(plan, &s->packs);
        if ((s->longest == 0 || turns * lanes * s->operand_count <= s->longest) &&
            with_lanes(plan, s->operands, s->operand_count, lanes, turns, tight) &&
            (plan->form.ndim > 1 || plan->form.margin > 0)) {
            const int64_t cost = rows_cost(plan, s->operands, s->operand_count);
            if (s->cost == 0 || cost < s->cost) {
                s->best = qn_plan_decided_of(plan);
                s->cost = cost;
            }
        }
    }
}

/* The rule for turns and warps is the best for memory. Where instructions take longer than memory,
 * whatever has clearly fewer is better, as long as the text stays short. */
static void look_further(search *s, qn_plan *plan)
{
    const search ruled = *s;
    s->longest = LONGEST;
    look(s, plan, 0, true);
    for (uint32_t turns = 1; turns <= MOST_TURNS && plan->work == 0; turns *= 2) {
        look(s, plan, turns, false);
        look(s, plan, turns, true);
    }
    if (s->cost * 100 > ruled.cost * CLEARLY) {
        *s = ruled;
    }
}

void qn_plan_rows(qn_plan *plan, const qn_operand *operands, size_t operand_count, uint32_t most,
                  const qn_setting *setting)
{
    const bool asked = setting->walk == QN_WALK_ROWS;
    if (setting->walk == QN_WALK_PACKS || (!asked && !worth_a_look(plan, operands, operand_count) &&
                                           !loses_shared(plan, operands, operand_count, false))) {
        return;
    }
    const int64_t by_packs = qn_plan_packs_whole_cost(plan, operands, operand_count);
    const int64_t memory = qn_plan_memory_cost(plan, operands, operand_count);
    search s = {operands, operand_count, most, .packs = qn_plan_decided_of(plan)};
    s.best = s.packs;
    look(&s, plan, setting->turns, false);
    if (setting->turns == 0 && s.cost > memory) {
        look_further(&s, plan);
    }
    const int64_t by_rows = s.cost;
    qn_plan_decide(plan, &s.best);
    const bool crosses = should_cross(plan, operands, operand_count) && by_rows < memory;
    const bool rows = by_rows > 0 && (asked || crosses || by_rows * 100 < by_packs * ENOUGH);
    plan->form.crosses = rows && should_cross(plan, operands, operand_count);
    if (!rows) {
        qn_plan_decide(plan, &s.packs);
    }
    plan->cost = rows ? by_rows : by_packs;
    plan->other_cost = rows ? by_packs : by_rows;
}
