/* SPDX-License-Identifier: MIT
 *
 * fold_apart: reductions of few elements for each of many outputs. In: the plan of a reduction by
 * columns. Out: the same plan, or one in which a thread has several outputs that lie a block apart,
 * each whole, where columns would go element by element. The thing to know: with outputs about as
 * large as what is read, a thread's single output costs more than its elements, and outputs side by
 * side that are no aligned pack are written piece by piece; a block apart, neighbouring threads
 * write neighbouring elements, whatever the alignment is.
 */
#include "array/fold.h"

#define MOST_LENGTH 32 /* elements of an output */
#define OUTPUTS     4  /* of a thread */
#define MOST_LOADS  16 /* of a thread at once */
#define MOST_WHOLE  10 /* elements of an output that the code has one by one */
#define FEW_BLOCKS  2  /* for each processor: with fewer, more threads matter more */

/* True where a thread's outputs side by side are read or written piece by piece: the outputs, where
 * they are much of what is moved. Bytes in words that lie anywhere are still read faster than one
 * by one, unless combining them costs more than reading: argmax of 23 int8 each goes at 0.54 of a
 * copy's speed on an H100 a block apart, at 0.39 by words. */
static bool is_in_pieces(const qn_fold_making *m)
{
    const qn_fold *f = m->fold;
    int64_t read = 0, written = 0;
    bool pieces = f->form.lanes == 1;
    for (size_t k = 0; k < m->count; k++) {
        const int64_t item = m->operands[k].item_size;
        const uint8_t access = f->form.access[k];
        if (k < m->inputs) {
            pieces |= access == QN_ACCESS_WORDS
                          ? item > 1 || m->rules->compound
                          : access != QN_ACCESS_VECTOR && access != QN_ACCESS_BROADCAST;
            read += access == QN_ACCESS_BROADCAST ? 0 : item * f->length;
        } else if (access != QN_ACCESS_VECTOR && !f->form.cut) {
            const int64_t pitch = qn_magnitude(f->stride[k][f->form.kept - 1]);
            written += QN_MIN(pitch, QN_SECTOR_BYTES);
        }
    }
    return pieces || 2 * written >= read;
}

/* Elements of an output that are read at once: all of few, or as many as keep memory busy. */
static void choose_batch(const qn_fold_making *m)
{
    qn_fold_form *f = &m->fold->form;
    const int64_t loads = (int64_t)f->apart * (int64_t)QN_MAX(m->inputs, 1);
    f->known = m->fold->length <= MOST_WHOLE;
    f->turns = (uint8_t)(f->known ? m->fold->length : QN_MAX(1, MOST_LOADS / loads));
}

static bool may_take(const qn_fold_making *m)
{
    const qn_fold *f = m->fold;
    const qn_fold_rules *r = m->rules;
    const int64_t least = (int64_t)r->processors * FEW_BLOCKS * QN_FOLD_BLOCK * OUTPUTS;
    return f->form.columns && f->form.kept > 0 && !f->form.split &&
           (f->workers == 1 || r->compound) && f->length >= 1 && f->length <= MOST_LENGTH &&
           f->outputs >= least && !r->positions && r->in_turns && r->repeats &&
           r->pack_bytes != 0 && !(r->exact && r->setting.workers != 0);
}

void qn_fold_take_apart(const qn_fold_making *m)
{
    qn_fold *f = m->fold;
    if (!may_take(m) || !is_in_pieces(m)) {
        return;
    }
    f->form.apart = f->length == 1 && f->form.kept == 1 ? 2 * OUTPUTS : OUTPUTS;
    choose_batch(m);
    f->form.lanes = 1;
    f->form.cut = 0;
    f->head = f->rest = 0;
    f->units = f->chunk = f->length;
    f->groups = qn_over(f->outputs, QN_FOLD_BLOCK * f->form.apart);
    for (size_t k = 0; k < m->count; k++) {
        f->form.access[k] = QN_ACCESS_STRIDED;
    }
}
