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
#define FEW_BLOCKS  2  /* for each processor: with fewer, more threads matter more */

/* True where a thread's outputs side by side are read or written piece by piece. */
static bool is_in_pieces(const qn_fold_making *m)
{
    const qn_fold_form *f = &m->fold->form;
    if (f->lanes == 1) {
        return true;
    }
    for (size_t k = 0; k < m->count; k++) {
        const bool wide = m->operands[k].item_size > 1;
        if (f->access[k] == QN_ACCESS_WORDS
                ? wide
                : f->access[k] != QN_ACCESS_VECTOR && f->access[k] != QN_ACCESS_BROADCAST) {
            return true;
        }
    }
    return false;
}

void qn_fold_take_apart(const qn_fold_making *m)
{
    qn_fold *f = m->fold;
    const qn_fold_rules *r = m->rules;
    const int64_t least = (int64_t)r->processors * FEW_BLOCKS * QN_FOLD_BLOCK * OUTPUTS;
    if (!f->form.columns || f->form.kept == 0 || f->form.split || f->workers != 1 ||
        f->length < 1 || f->length > MOST_LENGTH || f->outputs < least || r->positions ||
        !r->in_turns || r->pack_bytes == 0 || (r->exact && r->setting.workers != 0) ||
        !is_in_pieces(m)) {
        return;
    }
    const int64_t inputs = (int64_t)QN_MAX(m->inputs, 1);
    f->form.apart = f->length == 1 ? 2 * OUTPUTS : OUTPUTS;
    const int64_t batch = QN_MAX(1, MOST_LOADS / (f->form.apart * inputs));
    f->form.known = f->length <= QN_MAX(batch, MOST_LOADS / 2);
    f->form.turns = (uint8_t)(f->form.known ? f->length : batch);
    f->form.lanes = 1;
    f->form.cut = 0;
    f->head = f->rest = 0;
    f->units = f->chunk = f->length;
    f->groups = qn_over(f->outputs, QN_FOLD_BLOCK * f->form.apart);
    for (size_t k = 0; k < m->count; k++) {
        f->form.access[k] = QN_ACCESS_STRIDED;
    }
}
