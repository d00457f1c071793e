/* SPDX-License-Identifier: MIT
 *
 * fold_whole: reductions of rows so short that a thread takes several of them whole. In: the plan
 * of a reduction without that. Out: the same plan, or one in which a thread has `lanes` outputs
 * side by side and `form.whole` elements of each, where that costs less. The thing to know: short
 * rows are bound by instructions, so bytes for each of them is what counts. Rows that lie on in
 * memory come in words of up to 16 bytes, whatever their length, and their results go in one.
 *
 * Costs are as in plan_rows.c: instructions of a warp, and four more for each line of memory that
 * an access meets.
 */
#include "array/fold.h"
#include <string.h>

#define WORD          4
#define MOST_BYTES    64 /* of inputs for a thread: with more, lines leave the cache too soon */
#define MOST_RELAYED  96 /* the same through shared memory: with more, too few blocks have room */
#define MOST_ELEMENTS 64 /* of a thread: the code has each of them */
#define MOST_ROWS     16
#define MOST_WAYS     5  /* 16, 8, ... 1 */
#define THREAD_COST   75 /* of a plan by units: its share, where it lies, the turns, the identity */
#define MEET_COST     8  /* the same, each time that half of the threads give theirs to others */
#define WHOLE_COST    40 /* of a thread with whole rows: where they lie, whether all are there */
#define RELAY_COST    10 /* of an input that goes through shared memory */
#define OUTPUT_COST   3  /* the identity, and what post does */
#define MEMORY_COST   6  /* what a byte for each lane of a warp takes where memory is the bound */
#define ENOUGH        0.8 /* of the cost by units: with more, it stays */

/* ---- costs ---------------------------------------------------------------------------------- */

/* `count` accesses of a warp whose lanes are `pitch` bytes apart. */
static double access_cost(double count, int64_t pitch)
{
    return count * (1 + 4 * (double)qn_plan_lines(pitch));
}

/* Elements of `bytes` each, taken from words or put into them, and combined. */
static double element_cost(double count, uint32_t bytes)
{
    return count * (bytes < WORD ? 2 : 1);
}

/* Bytes from one output to the next. */
static int64_t beside(const qn_fold *f, size_t k)
{
    return qn_magnitude(f->stride[k][f->form.kept - 1]);
}

/* An output by the plan as it is. */
static double unit_cost(const qn_fold_making *m)
{
    const qn_fold *f = m->fold;
    const double workers = f->workers, units = (double)f->units / workers;
    double cost = THREAD_COST + OUTPUT_COST + MEET_COST * __builtin_ctz(f->workers);
    for (size_t k = 0; k < m->inputs; k++) {
        const uint32_t item = m->operands[k].item_size;
        const bool vector = f->form.access[k] == QN_ACCESS_VECTOR;
        const int64_t pitch = qn_over(beside(f, k), f->workers);
        cost += access_cost(vector ? units : units * f->form.lanes, pitch);
        cost += access_cost((double)f->rest / workers, pitch);
        cost += element_cost((double)f->length / workers, item);
    }
    cost *= workers;
    for (size_t k = m->inputs; k < m->count; k++) {
        cost += access_cost(1, beside(f, k));
    }
    return cost;
}

/* `bytes` of each thread that go through shared memory: in and out of it, where threads that are an
 * even number of words of 16 bytes apart meet in the same banks. */
static double relay_cost(uint32_t bytes)
{
    const uint32_t word = qn_fold_run_word(bytes), apart = bytes / word;
    const uint32_t meeting = QN_MIN(apart & -apart, QN_LINE_BYTES / QN_ACCESS_BYTES);
    return RELAY_COST + 2 * access_cost((double)bytes / QN_ACCESS_BYTES, QN_ACCESS_BYTES) +
           access_cost((double)apart, meeting * word);
}

/* The same where a thread has whole ones. */
static double whole_cost(const qn_fold_making *m)
{
    const qn_fold *f = m->fold;
    const int rows = f->form.lanes;
    double cost = WHOLE_COST + OUTPUT_COST * rows;
    for (size_t k = 0; k < m->count; k++) {
        const uint32_t item = m->operands[k].item_size;
        const int64_t pitch = rows * beside(f, k);
        const bool input = k < m->inputs;
        const double elements = (double)(input ? f->length * rows : rows);
        const uint32_t word = qn_fold_run_word((uint32_t)elements * item);
        cost += element_cost(elements, item);
        switch (f->form.access[k]) {
        case QN_ACCESS_VECTOR:
            cost += access_cost(elements * item / word, pitch);
            break;
        case QN_ACCESS_TILED:
            cost += relay_cost((uint32_t)elements * item);
            break;
        case QN_ACCESS_WORDS: /* each word is read, shifted, and used twice */
            cost += access_cost(elements * item / WORD + 1, pitch) + elements * item / WORD;
            break;
        case QN_ACCESS_BROADCAST:
            cost += access_cost((double)f->length, 0);
            break;
        default:
            cost += access_cost(elements, pitch) + 2 * elements;
        }
    }
    return cost / rows;
}

/* What an output would take if memory were the bound. */
static double memory_cost(const qn_fold_making *m)
{
    double bytes = 0;
    for (size_t k = 0; k < m->count; k++) {
        bytes += (double)m->operands[k].item_size * (double)(k < m->inputs ? m->fold->length : 1);
    }
    return MEMORY_COST * bytes;
}

/* ---- the plan ------------------------------------------------------------------------------- */

/* True when the rows of input `k` lie on in memory, each in order. */
static bool lies_on(const qn_fold_making *m, size_t k)
{
    const qn_fold *f = m->fold;
    int64_t next = m->operands[k].item_size;
    for (int d = f->form.kept + f->form.reduced - 1; d >= f->form.kept - 1; d--) {
        if (f->stride[k][d] != next) {
            return false;
        }
        next *= f->extent[d];
    }
    return true;
}

static qn_access input_access(const qn_fold_making *m, size_t k, bool relayed)
{
    const qn_fold *f = m->fold;
    const qn_operand *o = &m->operands[k];
    const uint32_t bytes = (uint32_t)(f->form.lanes * f->length) * o->item_size;
    if (beside(f, k) == 0) {
        return QN_ACCESS_BROADCAST;
    }
    if (!o->loose && lies_on(m, k)) {
        if (relayed && f->form.kept == 1 && qn_fold_begins_aligned(f, k, QN_ACCESS_BYTES)) {
            return QN_ACCESS_TILED;
        }
        if (qn_fold_begins_aligned(f, k, qn_fold_run_word(bytes))) {
            return QN_ACCESS_VECTOR;
        }
        if (o->item_size < WORD && bytes % WORD == 0) {
            return QN_ACCESS_WORDS;
        }
    }
    return QN_ACCESS_STRIDED;
}

/* An output's results go in one word, since two of a thread would each write parts of sectors. */
static qn_access output_access(const qn_fold_making *m, size_t k)
{
    const uint32_t bytes = m->fold->form.lanes * m->operands[k].item_size;
    return bytes <= QN_ACCESS_BYTES ? qn_fold_output_access(m, k) : QN_ACCESS_STRIDED;
}

/* Lay out `rows` for a thread, `relayed`: through shared memory; false where that is too much for
 * one, or nothing goes there. */
static bool lay_rows(const qn_fold_making *m, int rows, bool relayed)
{
    qn_fold *f = m->fold;
    const int64_t most = relayed ? MOST_RELAYED : MOST_BYTES;
    bool any = !relayed;
    int64_t bytes = 0;
    f->form.lanes = (uint8_t)rows;
    for (size_t k = 0; k < m->count; k++) {
        const bool input = k < m->inputs;
        f->form.access[k] = (uint8_t)(input ? input_access(m, k, relayed) : output_access(m, k));
        any |= f->form.access[k] == QN_ACCESS_TILED;
        bytes += input ? rows * f->length * m->operands[k].item_size : 0;
    }
    return any && bytes <= most && rows * f->length <= MOST_ELEMENTS;
}

/* A setting of workers is for the plan by units. */
static bool may_take(const qn_fold_making *m)
{
    const qn_fold *f = m->fold;
    if (m->rules->exact && m->rules->setting.workers != 0) {
        return false;
    }
    return f->form.kept > 0 && f->form.reduced > 0 && !f->form.columns && !f->form.split &&
           f->length > 1 && f->length <= MOST_ELEMENTS && !m->rules->positions &&
           m->rules->in_turns && m->rules->pack_bytes == QN_ACCESS_BYTES;
}

void qn_fold_take_whole(const qn_fold_making *m)
{
    qn_fold *f = m->fold;
    if (!may_take(m)) {
        return;
    }
    double best = unit_cost(m);
    if (best <= memory_cost(m)) {
        return;
    }
    f->unit_cost = best;
    best *= ENOUGH;
    qn_fold_decided chosen;
    memcpy(chosen.bytes, f, sizeof chosen.bytes);
    f->form.columns = 1;
    f->form.ragged = f->form.turns = f->form.known = f->form.cut = 0;
    f->form.whole = (uint8_t)f->length;
    f->units = f->chunk = f->length;
    f->head = f->extent[f->form.kept - 1];
    f->rest = 0;
    f->workers = 1;
    for (int way = 0; way < 2 * MOST_WAYS; way++) {
        const int rows = MOST_ROWS >> way / 2;
        const bool relayed = way % 2;
        if (rows > f->head || (rows == 1 && !relayed) || !lay_rows(m, rows, relayed)) {
            continue;
        }
        const double cost = whole_cost(m);
        if (cost < best) {
            best = f->cost = cost;
            f->groups = qn_over(qn_fold_packs(f), QN_FOLD_BLOCK);
            memcpy(chosen.bytes, f, sizeof chosen.bytes);
        }
    }
    memcpy(f, chosen.bytes, sizeof chosen.bytes);
}
