/* SPDX-License-Identifier: MIT
 *
 * fold_held: scans along rows whose blocks hold large tiles. In: a scan whose rows are planned in
 * tiles. Out: the same with tiles that wait in shared memory and in registers, where all operands
 * go in aligned words and there is enough for every processor. The thing to know: tiles wait for
 * those in front, and how fast a scan goes follows from how many bytes all blocks hold meanwhile.
 */
#include "array/fold_scans.h"

#define PARKED_WORDS 18 /* of 16 bytes that a thread has in shared memory: three blocks fit */
#define OWNED_WORDS  9  /* and in registers */
#define FEWER_OWNED  6  /* where the values of a unit take many, too */
#define FEWEST_BYTES 2  /* of an element: narrower ones like runs, which take fewer instructions */

/* Words of a unit of `lanes` elements that a thread holds: one of each input, so that the words of
 * a warp lie on in memory. 0: some operand does not go so. */
static uint32_t words_held(const qn_fold_making *m, uint32_t lanes)
{
    uint32_t words = 0;
    for (size_t k = 0; k < m->count; k++) {
        const uint8_t access = m->fold->form.access[k];
        if (access != QN_ACCESS_VECTOR && (access != QN_ACCESS_BROADCAST || k >= m->inputs)) {
            return 0;
        }
        if (k < m->inputs && access == QN_ACCESS_VECTOR) {
            if (lanes * m->operands[k].item_size != QN_ACCESS_BYTES) {
                return 0;
            }
            words++;
        }
    }
    return words;
}

/* True when rows may begin or end inside a unit. */
static bool is_ragged(const qn_fold_making *m, uint32_t lanes)
{
    const qn_fold *f = m->fold;
    return f->length % lanes != 0 || !qn_fold_rows_begin_with(f, f->form.anchor, QN_ACCESS_BYTES);
}

bool qn_fold_hold(const qn_fold_making *m, uint32_t value_size, int waves)
{
    qn_fold *f = m->fold;
    const uint32_t item = qn_fold_row_narrowest(m, 0);
    if (item < FEWEST_BYTES || value_size > QN_ACCESS_BYTES) {
        return false;
    }
    const uint32_t lanes = QN_ACCESS_BYTES / item, words = words_held(m, lanes);
    const bool many = lanes * QN_MAX(value_size, 4) > QN_ACCESS_BYTES || value_size > 8;
    const uint32_t owned = many ? FEWER_OWNED : OWNED_WORDS;
    if (words == 0 || owned / words < QN_HELD_BATCH) {
        return false;
    }
    const uint32_t held = qn_fold_batches(PARKED_WORDS / words, QN_HELD_BATCH);
    const int64_t steps = held + qn_fold_batches(owned / words, QN_HELD_BATCH);
    const uint32_t shared = held * words * QN_ACCESS_BYTES * QN_FOLD_BLOCK;
    /* Of a row, full tiles, then what is left, of one of these at most, by tiles in shared memory
     * alone: all units in registers are whole. Some elements may lie in front of the units. */
    const bool ragged = is_ragged(m, lanes);
    const int64_t round = (int64_t)QN_FOLD_BLOCK * lanes;
    const int64_t full = (qn_over(f->length - (ragged ? lanes - 1 : 0), round) - 1) / steps;
    if (QN_HELD_BLOCKS * (shared + QN_HELD_OTHER_BYTES) > m->rules->shared ||
        f->outputs * full < (int64_t)m->rules->processors * QN_HELD_BLOCKS * waves) {
        return false;
    }
    f->form.lanes = (uint8_t)lanes;
    f->form.held = (uint8_t)held;
    f->form.steps = (uint8_t)steps;
    f->form.ragged = ragged;
    f->form.spread = 0;
    f->shared = shared;
    f->units = f->length;
    f->workers = QN_WARP;
    f->chunk = round * steps;
    f->head = full;
    f->groups = f->outputs;
    f->splits = full + qn_over(qn_over(f->length, round) - full * steps, held);
    return true;
}

void qn_fold_print_held(qn_text *out, const qn_fold *f)
{
    qn_text_printf(out, "by rows, %lld elements a thread, %d at once, held in %lld tiles",
                   (long long)(f->chunk / QN_FOLD_BLOCK), f->form.lanes, (long long)f->splits);
}
