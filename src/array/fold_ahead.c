/* SPDX-License-Identifier: MIT
 *
 * fold_ahead: scans whose tiles ask for the memory of later ones. In: a scan that is planned. Out:
 * whether its tiles ask, and how far on the tile lies for which they do. The thing to know: a tile
 * keeps its room on a processor while it waits for the sums of earlier ones, and then for memory;
 * what has come to the cache of all processors by then makes that shorter.
 */
#include "array/fold_scans.h"

#define NARROW_LANES 8          /* of a word: elements of 2 bytes and less */
#define AHEAD_BYTES  (68 << 10) /* that a processor moves while memory that was asked for comes */
/* Bytes of elements that come one by one: of narrower ones, which take as many instructions for
 * less memory, it was not measured. */
#define LEAST_BYTES 4

bool qn_fold_asks_for(const qn_fold_form *f, const qn_operand *operands, size_t k)
{
    const bool lanes = !f->runs && !f->held;
    return f->access[k] == QN_ACCESS_VECTOR ||
           (lanes && f->access[k] == QN_ACCESS_CONTIGUOUS && operands[k].item_size >= LEAST_BYTES);
}

/* On an H200, of a copy's speed, without and with it: it does not pay where runs pass through
 * registers on their way (bool into int32 off alignment 0.51 and 0.48), nor, where tiles are held,
 * for wide elements (float32 0.89 and 0.89, float16 0.86 and 0.89). */
bool qn_fold_row_asks(const qn_fold_form *f, const qn_operand *operands, size_t inputs)
{
    if (!f->split || f->columns || f->staged || f->boxed || f->reduced == 0) {
        return false;
    }
    const bool lanes = !f->runs && !f->held;
    bool some = false, all = true;
    for (size_t k = 0; k < inputs; k++) {
        const bool asks = qn_fold_asks_for(f, operands, k);
        some |= asks;
        all &= asks || f->access[k] == QN_ACCESS_BROADCAST;
    }
    return lanes ? some : all && (!f->held || f->lanes >= NARROW_LANES);
}

/* Further on, what was asked for drives out what is still to be read: on an H200 float32 went at
 * 0.80 of a copy's speed without, 0.845 with 80 or 100 tiles of 45 KiB on, 0.66 with 640. */
int64_t qn_fold_tiles_ahead(const qn_fold_making *m, int64_t bytes)
{
    const int64_t moved = (int64_t)m->rules->processors * AHEAD_BYTES, groups = m->fold->groups;
    return (QN_MAX(moved / QN_MAX(bytes, 1), 1) + groups / 2) / groups;
}

/* True when elements that follow each other lie ever further on in memory. */
static bool ascends(const qn_fold *f, size_t k)
{
    const int first = f->form.kept, last = first + f->form.reduced - 1;
    for (int d = first; d < last; d++) {
        if (f->stride[k][d] < f->extent[d + 1] * f->stride[k][d + 1]) {
            return false;
        }
    }
    return true;
}

void qn_fold_ask_ahead(const qn_fold_making *m)
{
    qn_fold *f = m->fold;
    if (f->form.boxed || f->form.packed || f->form.lines) {
        return; /* it is another number, or known */
    }
    const bool lanes = !f->form.runs && !f->form.held;
    const int64_t tile = f->chunk * (lanes ? f->form.lanes : 1);
    int64_t bytes = 0;
    bool asks = qn_fold_row_asks(&f->form, m->operands, m->inputs);
    for (size_t k = 0; k < m->count; k++) {
        const bool once = f->form.access[k] == QN_ACCESS_BROADCAST;
        bytes += once ? 0 : tile * m->operands[k].item_size;
        asks &= !lanes || k >= m->inputs || ascends(f, k);
    }
    f->beside = asks ? qn_fold_tiles_ahead(m, bytes) * tile : 0;
}
