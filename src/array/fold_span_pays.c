/* SPDX-License-Identifier: MIT
 *
 * fold_span_pays: whether a reduction goes by spans. In: a span, and the plan as it is. Out: yes or
 * no; and how much of a dimension that is too long for a span one should have. The thing to know:
 * spans read whole packs, side by side, by all threads; what other plans read at once is found from
 * their accesses, and what else there is was measured.
 */
#include "array/fold_spanning.h"

#define DENSE_BYTES    64  /* of a row's innermost run: with less, outputs share sectors */
#define SHORT_BYTES    512 /* of such a run, whose rows do worse than spans of a part */
#define ROW_BYTES      256
#define IDLE           8      /* one thread in so many, or more, is idle by columns */
#define LEAST_PART     512    /* bytes of a span that has a part of a dimension */
#define LEAST_PACK     4      /* bytes of a pack of such a one */
#define FEW_PACKS      8      /* of wide elements, for which columns do as well */
#define LEAST_BYTES    40960  /* of a block that has all of an output, where columns do as well; */
#define BYTES_OF_BYTES 262144 /* the same of elements that are bytes, of so few */
#define CHOICE_BYTES   4      /* aligned ones, of which columns choose as fast */
#define FEW_COLUMNS    128    /* side by side that they would not go by phases */

/* ---- a part of a dimension ------------------------------------------------------------------ */

/* Bytes of an element of the narrowest input that a span goes along. */
static int64_t narrowest(const qn_fold_making *m, const qn_fold_span *s)
{
    int64_t item = QN_SPAN_PACK;
    for (size_t k = 0; k < m->inputs; k++) {
        item = s->dense[k] ? QN_MIN(item, m->operands[k].item_size) : item;
    }
    return item;
}

bool qn_fold_span_is_long(const qn_fold_making *m, const qn_fold_span *s, int64_t extent)
{
    const int64_t outputs = s->across * extent;
    return s->run > 1 && (outputs > QN_SPAN_OUTPUTS ||
                          outputs * s->run * narrowest(m, s) > QN_FOLD_BLOCK * QN_SPAN_PACK);
}

/* With packs of so many bytes. */
static int64_t part_of_packs(const qn_fold_making *m, const qn_fold_span *s, int64_t extent,
                             int64_t pack)
{
    int64_t best = 0, most = 0;
    for (int64_t part = QN_MIN(extent, QN_FOLD_BLOCK / s->across); part > 1; part--) {
        const int64_t bytes = s->across * s->run * part * narrowest(m, s), packs = bytes / pack;
        const bool whole = extent % part == 0 && bytes % pack == 0 && bytes >= LEAST_PART;
        const int64_t busy = whole && packs <= QN_FOLD_BLOCK ? QN_FOLD_BLOCK / packs * packs : 0;
        if (busy > most) {
            best = part;
            most = busy;
        }
    }
    return most * 4 >= QN_FOLD_BLOCK * 3 ? best : 0;
}

int64_t qn_fold_span_part(const qn_fold_making *m, const qn_fold_span *s, int64_t extent)
{
    int64_t part = 0;
    for (int64_t pack = QN_SPAN_PACK; part == 0 && pack >= LEAST_PACK; pack /= 2) {
        part = part_of_packs(m, s, extent, pack);
    }
    return part;
}

/* ---- whether spans pay ---------------------------------------------------------------------- */

/* Bytes of an input that the plan as it is reads at once, and of which no sector is shared with
 * other outputs' threads. Wide rows of wide elements are read by whole warps. */
static int64_t bytes_at_once(const qn_fold_making *m, const qn_fold_span *s)
{
    const qn_fold_form *f = &m->fold->form;
    int64_t least = QN_SPAN_PACK;
    for (size_t k = 0; k < m->inputs; k++) {
        const int64_t item = m->operands[k].item_size;
        const int64_t bytes = f->access[k] == QN_ACCESS_VECTOR  ? item * f->lanes
                              : f->access[k] == QN_ACCESS_WORDS ? item * f->lanes / 2
                                                                : item;
        const bool wide = f->columns && item >= 4 && s->across * s->run * item >= ROW_BYTES;
        least = s->dense[k] && !wide ? QN_MIN(least, bytes) : least;
        if (s->dense[k] && !f->columns && s->run * item < DENSE_BYTES) {
            least = QN_MIN(least, s->run * item / 2);
        }
    }
    return least;
}

/* By columns, of the threads side by side one in so many or more has no pack. Where these are few,
 * or outputs are many, spans gain nothing all the same: 12 columns of float32 are summed at 0.94 of
 * a copy's speed on an H200 by spans, at 0.98 by columns; 36 of float64 at 0.97 and 0.83. */
static bool leaves_idle(const qn_fold *f)
{
    if (!f->form.columns || !f->form.split || f->form.lanes == 1) {
        return false;
    }
    const int64_t packs = qn_over(f->extent[f->form.kept - 1], f->form.lanes);
    const int64_t beside = QN_FOLD_BLOCK / f->workers;
    return (packs > FEW_PACKS || f->form.lanes > 4) &&
           (qn_over(packs, beside) * beside - packs) * IDLE > packs;
}

/* Of more outputs than a block has threads, phases do as well where they leave few threads idle: a
 * block has a pack less of columns than threads, and all have as many. On an H200, of a copy's
 * speed, sums of float16 by spans and by phases: 333 columns 0.93 and 0.90, 350 0.90 and 0.92, 383
 * 0.90 and 0.94; the least of int8: 383 columns 0.83 and 0.77. */
static bool phases_do(const qn_fold_making *m, const qn_fold_span *s, const qn_fold_span_way *w)
{
    const int64_t all = QN_FOLD_BLOCK - w->lanes + 1;
    const int64_t columns = qn_over(s->across, all) * all;
    bool bytes = true;
    for (size_t k = 0; k < m->inputs; k++) {
        bytes &= !s->dense[k] || m->operands[k].item_size == 1;
    }
    return s->across > QN_FOLD_BLOCK && s->across * 100 >= columns * (bytes ? 90 : 68);
}

/* True where spans read more at once, or by more threads, or short runs by neighbours: on an H200,
 * of a copy's speed by rows and by spans, sums along axes 0, 2 and 3 of (n, 768, 14, 14) float16
 * 0.72 and 1.03, by boxes and by spans the least along 0 and 2 of (n, 4096, 4) bool 0.31 and 0.87.
 * Choices: argmax of 290 columns of float16 goes at 0.84 of a copy's speed on an H200 by columns of
 * two, at 0.72 by spans; of int8 at 0.43 and 0.67. */
static bool reads_more(const qn_fold_making *m, const qn_fold_span *s, const qn_fold_span_way *w)
{
    int64_t bytes = QN_SPAN_PACK;
    for (size_t k = 0; k < m->inputs; k++) {
        if (s->dense[k]) {
            bytes = QN_MIN(bytes, (int64_t)w->lanes * m->operands[k].item_size);
        }
    }
    const int64_t otherwise = bytes_at_once(m, s);
    bool aligned = true;
    for (size_t k = 0; k < m->inputs; k++) {
        aligned &= !s->dense[k] || m->fold->form.access[k] == QN_ACCESS_VECTOR;
    }
    if (m->rules->chooses && aligned && s->across > QN_FOLD_BLOCK && otherwise >= CHOICE_BYTES) {
        return false;
    }
    if (s->part != 0 && s->run * narrowest(m, s) < SHORT_BYTES && !m->fold->form.columns) {
        return true;
    }
    return bytes >= 2 * otherwise || (bytes >= otherwise && leaves_idle(m->fold));
}

/* True where columns do as well, since each block has few bytes: it begins and ends about as long
 * as it reads. On an H200, of a copy's speed, lines summed by spans and by columns: (n, 480, 36)
 * int8 0.31 and 0.66, float16 0.73 and 0.86; (n, 480, 100) int8 0.52 and 0.68, float16 0.91 and
 * 0.86; (n, 2000, 12) int8 0.34 and 0.71, float16 0.86 and 0.85. */
static bool columns_do(const qn_fold_making *m, const qn_fold_span *s)
{
    const qn_fold *f = m->fold;
    uint32_t bytes = 0;
    for (size_t k = 0; k < m->inputs; k++) {
        bytes = s->dense[k] ? QN_MAX(bytes, m->operands[k].item_size) : bytes;
    }
    const int64_t least = bytes == 1 && s->across < FEW_COLUMNS ? BYTES_OF_BYTES : LEAST_BYTES;
    return f->form.columns && !f->form.split && f->form.lanes > 1 &&
           f->length * s->across * bytes < least;
}

bool qn_fold_span_pays(const qn_fold_making *m, const qn_fold_span *s, const qn_fold_span_way *w)
{
    return reads_more(m, s, w) && !columns_do(m, s) && !phases_do(m, s, w);
}
