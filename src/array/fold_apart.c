/* SPDX-License-Identifier: MIT
 *
 * fold_apart: reductions of few elements for each of many outputs. In: the plan of a reduction by
 * columns. Out: the same plan, or one in which a thread has several outputs that lie a block apart,
 * each whole, where columns would go element by element or in words that lie anywhere. The thing to
 * know: with outputs about as large as what is read, a thread's single output costs more than its
 * elements, and outputs side by side that are no aligned pack are written piece by piece; a block
 * apart, neighbouring threads write neighbouring elements, whatever the alignment is. So with short
 * rows that are no packs: sums of rows of 3 int8 into int64 that lies in another order took 205 us
 * on an H200 with an output a thread, and take 144 so.
 */
#include "array/fold.h"

#define MOST_LENGTH 32 /* elements of an output, whose number the code knows */
#define MOST_COSTLY 64 /* where combining them costs more than reading */
#define MOST_ROW    16 /* of a row that goes element by element */
#define OUTPUTS     4  /* of a thread */
#define MOST_LOADS  64 /* of a thread at once */
#define FEW_LOADS   32 /* where values take registers */
#define FEW_BLOCKS  2  /* for each processor: with fewer, more threads matter more */

/* True where a thread that had outputs side by side would read an input in pieces or in words that
 * lie anywhere, or would write in pieces what is much of all that is moved. */
static bool is_in_pieces(const qn_fold_making *m)
{
    const qn_fold *f = m->fold;
    int64_t read = 0, written = 0;
    bool pieces = f->form.lanes == 1;
    for (size_t k = 0; k < m->count; k++) {
        const int64_t item = m->operands[k].item_size;
        const uint8_t access = f->form.access[k];
        if (k < m->inputs) {
            pieces |= access != QN_ACCESS_VECTOR && access != QN_ACCESS_BROADCAST;
            read += access == QN_ACCESS_BROADCAST ? 0 : item * f->length;
        } else if (access != QN_ACCESS_VECTOR && !f->form.cut) {
            const int64_t pitch = qn_magnitude(f->stride[k][f->form.kept - 1]);
            written += QN_MIN(pitch, QN_SECTOR_BYTES);
        }
    }
    return pieces || 2 * written >= read;
}

/* Elements of an output that are read at once: as many as keep memory busy, in batches of about the
 * same size. Along the middle of (n, 13, 5903) sums of int8, float16 and float32 went at 0.39, 0.53
 * and 0.81 of a copy's speed on an H200 where a thread had 4 of each of its outputs under way, and
 * go at 0.71, 0.87 and 1.02 with all of them; argmax of 45 float16 went at 0.47 by columns, and
 * goes at 0.83 with 8 of them. */
static void choose_batch(const qn_fold_making *m)
{
    qn_fold_form *f = &m->fold->form;
    const int64_t loads = (int64_t)f->apart * (int64_t)QN_MAX(m->inputs, 1);
    const int64_t most = QN_MAX((m->rules->compound ? FEW_LOADS : MOST_LOADS) / loads, 1);
    f->known = (uint8_t)m->fold->length;
    f->turns = (uint8_t)qn_over(m->fold->length, qn_over(m->fold->length, most));
}

static bool may_take(const qn_fold_making *m)
{
    const qn_fold *f = m->fold;
    const qn_fold_rules *r = m->rules;
    const int64_t least = (int64_t)r->processors * FEW_BLOCKS * QN_FOLD_BLOCK * OUTPUTS;
    const bool rows = !f->form.columns && f->form.lanes == 1 && f->workers == 1 &&
                      qn_fold_unit_bytes(&f->form, m->operands, m->inputs) < QN_ACCESS_BYTES;
    const int64_t most = rows ? MOST_ROW : r->compound ? MOST_COSTLY : MOST_LENGTH;
    return (f->form.columns || rows) && f->form.kept > 0 && !f->form.split &&
           (f->workers == 1 || r->compound) && f->length >= 1 && f->length <= most &&
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
    f->form.columns = 1;
    f->form.lanes = 1;
    f->form.cut = 0;
    f->head = f->rest = 0;
    f->units = f->chunk = f->length;
    f->groups = qn_over(f->outputs, QN_FOLD_BLOCK * f->form.apart);
    for (size_t k = 0; k < m->count; k++) {
        f->form.access[k] = QN_ACCESS_STRIDED;
    }
}
