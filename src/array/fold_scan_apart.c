/* SPDX-License-Identifier: MIT
 *
 * fold_scan_apart: scans of few elements each, of which a thread has several. In: the plan of a
 * scan in which a thread goes down its columns. Out: the same plan, or one in which a thread's
 * columns lie a block apart, and the code has each of their elements, where that costs less. The
 * thing to know: a thread's single column costs more than its few elements; columns side by side
 * that are no aligned packs are reached piece by piece; a block apart, neighbouring threads reach
 * neighbouring elements, whatever the alignment is. Only where the columns are one dimension: of
 * more, the places of several columns take too many registers (on an H200 0.73 of a copy's speed
 * fell to 0.53).
 */
#include "array/fold_scans.h"
#include <string.h>

#define MOST_LENGTH 16 /* elements of a scan */
#define MOST_LOADS  32 /* of a thread at once */
#define MOST_APART  8  /* scans of a thread */
#define FEW_BLOCKS  4  /* for each processor: with fewer, more threads matter more */

/* Instructions, as the generated code has them. */
#define THREAD_COST  30  /* a thread */
#define COLUMN_COST  6   /* a scan: where it lies, whether it is there */
#define ELEMENT_COST 8   /* an element: its address, its accesses, its value */
#define BYTE_TIME    6.5 /* for each byte that memory moves: if others take no more, it is busy */

/* Scans of a thread: as many as have all their elements in registers; 0: none. */
static uint32_t choose_apart(const qn_fold_making *m)
{
    const qn_fold *f = m->fold;
    const qn_fold_rules *r = m->rules;
    if (f->form.kept != 1 || f->length < 1 || f->length > MOST_LENGTH || r->positions ||
        !r->in_turns) {
        return 0;
    }
    const int64_t loads = f->length * (int64_t)QN_MAX(m->inputs, 1);
    uint32_t apart = MOST_APART;
    while (apart > 1 &&
           ((int64_t)apart * loads > MOST_LOADS ||
            f->outputs < (int64_t)r->processors * FEW_BLOCKS * QN_FOLD_BLOCK * apart)) {
        apart /= 2;
    }
    return apart > 1 ? apart : 0;
}

/* Bytes that an element moves. */
static double moved(const qn_fold_making *m)
{
    double bytes = 0;
    for (size_t k = 0; k < m->count; k++) {
        const bool once = m->fold->form.access[k] == QN_ACCESS_BROADCAST;
        bytes += once ? 0 : m->operands[k].item_size;
    }
    return bytes;
}

double qn_fold_take_scans_apart(const qn_fold_making *m, double others)
{
    qn_fold *f = m->fold;
    const uint32_t apart = choose_apart(m);
    qn_fold_decided before;
    if (apart == 0 || others < BYTE_TIME * moved(m)) {
        return others;
    }
    memcpy(before.bytes, f, sizeof before.bytes);
    f->form.lanes = 1;
    for (size_t k = 0; k < m->count; k++) {
        const bool once = f->form.access[k] == QN_ACCESS_BROADCAST;
        f->form.access[k] = once ? QN_ACCESS_BROADCAST : QN_ACCESS_STRIDED;
    }
    const double scan = (double)THREAD_COST / apart + COLUMN_COST;
    const double cost = ELEMENT_COST + scan / (double)f->length + qn_fold_reach_cost(m);
    if (cost >= others) {
        memcpy(f, before.bytes, sizeof before.bytes);
        return others;
    }
    f->form.apart = (uint8_t)apart;
    f->form.steps = (uint8_t)f->length;
    return cost;
}
