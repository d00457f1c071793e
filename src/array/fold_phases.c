/* SPDX-License-Identifier: MIT
 *
 * fold_phases: reductions by columns whose rows begin anywhere. In: the plan of a reduction by
 * columns. Out: the same plan, or one by *phases*, where packs are not aligned in every row. The
 * thing to know: of as many rows as a pack has lanes, each is as far off the alignment as the row
 * that many further on. So a thread stays in one phase, reads aligned packs, and always has the
 * same columns in its lanes; the columns of all phases meet in shared memory at the end. A block
 * has a pack less of columns than of memory, since they begin anywhere in the first.
 *
 * A unit is one pack of each phase; the last reduced dimension is that of units.
 */
#include "array/fold.h"

#define PACK_BYTES    16
#define LEAST_COLUMNS 128       /* with fewer, too many threads have none */
#define MOST_COLUMNS  (1 << 30) /* the code counts them in 32 bits */
#define LEAST_UNITS   16        /* of a thread */
#define MOST_SPLITS   1024      /* each leaves a value for every column */
#define LEFT_OVER     6         /* one in so many rows may be left over, at most */
#define COUNTERS      8192

static int lane_of(const qn_fold *f)
{
    return f->form.kept - 1;
}

static int line_of(const qn_fold *f)
{
    return f->form.kept + f->form.reduced - 1;
}

static bool is_dense(const qn_fold_making *m, size_t k)
{
    return m->fold->stride[k][lane_of(m->fold)] == m->operands[k].item_size;
}

/* Elements by which `bytes` are off the alignment of packs of operand `k`; -1: not whole ones. */
static int64_t off_by(const qn_fold_making *m, size_t k, int64_t bytes, int64_t lanes)
{
    const int64_t item = m->operands[k].item_size, off = bytes % (item * lanes);
    return off % item != 0 ? -1 : (off / item + lanes) % lanes;
}

/* True where the packs of operand `k` are off the alignment as those of operand `first` are, in
 * each row, and reduced dimensions but the last change nothing. */
static bool goes_along(const qn_fold_making *m, size_t k, size_t first, int64_t lanes)
{
    const qn_fold *f = m->fold;
    const int64_t item = m->operands[k].item_size;
    if (m->operands[k].loose || item > 8 || (item & (item - 1)) != 0 ||
        f->stride[k][line_of(f)] < item * lanes) {
        return false;
    }
    for (int d = -1; d <= line_of(f); d++) {
        if (d == lane_of(f)) {
            continue;
        }
        const int64_t bytes = d < 0 ? (int64_t)((uintptr_t)f->base[k] % 4096) : f->stride[k][d];
        const int64_t other =
            d < 0 ? (int64_t)((uintptr_t)f->base[first] % 4096) : f->stride[first][d];
        const int64_t off = off_by(m, k, bytes, lanes);
        const bool outer = d >= f->form.kept && d < line_of(f);
        if (off < 0 || off != off_by(m, first, other, lanes) ||
            (outer && (off != 0 || bytes < item * lanes))) {
            return false;
        }
    }
    return true;
}

/* Inputs are dense in rows, and off alike, or the same for a whole row. */
static bool may_have(const qn_fold_making *m, int64_t lanes)
{
    size_t first = 0;
    while (first < m->inputs && !is_dense(m, first)) {
        first++;
    }
    bool all = first < m->inputs;
    for (size_t k = 0; k < m->inputs && all; k++) {
        all = is_dense(m, k) ? goes_along(m, k, first, lanes)
                             : m->fold->stride[k][lane_of(m->fold)] == 0;
    }
    return all;
}

/* Bytes of an input that columns read at once. */
static int64_t bytes_at_once(const qn_fold_making *m)
{
    const qn_fold_form *f = &m->fold->form;
    int64_t least = PACK_BYTES;
    for (size_t k = 0; k < m->inputs; k++) {
        const int64_t item = m->operands[k].item_size;
        const int64_t bytes = f->access[k] == QN_ACCESS_VECTOR  ? item * f->lanes
                              : f->access[k] == QN_ACCESS_WORDS ? item * f->lanes / 2
                                                                : item;
        least = is_dense(m, k) ? QN_MIN(least, bytes) : least;
    }
    return least;
}

/* True where packs are aligned as it is, and small because more lanes would cost too much. Choices
 * are as quick by words that lie anywhere: argmax of 333 columns of int8 on an H200 goes at 0.44 of
 * a copy's speed so, by phases at 0.21; of float16 at 0.64 and 0.45. */
static bool is_fine(const qn_fold_making *m)
{
    bool fine = qn_fold_is_costly(m->rules);
    for (size_t k = 0; k < m->inputs; k++) {
        const uint8_t access = m->fold->form.access[k];
        fine &= !is_dense(m, k) || access == QN_ACCESS_VECTOR ||
                (access == QN_ACCESS_WORDS && m->rules->chooses);
    }
    return fine;
}

static bool may_take(const qn_fold_making *m)
{
    const qn_fold *f = m->fold;
    const qn_fold_rules *r = m->rules;
    return f->form.columns && f->form.kept > 0 && f->form.reduced > 0 && f->length > 0 &&
           !f->form.reordered && f->outputs > 0 && f->extent[lane_of(f)] >= LEAST_COLUMNS &&
           f->extent[lane_of(f)] <= MOST_COLUMNS && !r->ordered && !r->positions && r->in_turns &&
           r->pack_bytes == QN_ACCESS_BYTES && !is_fine(m) &&
           !(r->exact && r->setting.workers != 0);
}

static void lay(const qn_fold_making *m, int64_t lanes, int64_t groups)
{
    qn_fold *f = m->fold;
    const int line = line_of(f);
    const int64_t rows = f->extent[line], across = f->extent[lane_of(f)];
    f->form.phases = 1;
    f->form.lanes = (uint8_t)lanes;
    f->form.outer = (uint8_t)(f->form.kept - 1);
    f->form.cut = f->form.known = 0;
    f->across = across;
    f->beside = groups / (f->outputs / across);
    f->run = 1;
    f->head = 0;
    f->rest = rows % lanes;
    f->form.ragged = f->rest > 0 ? QN_RAGGED_ALIKE : QN_RAGGED_NOT;
    f->extent[line] = rows / lanes;
    f->units = f->length / rows * (rows / lanes);
    for (size_t k = 0; k < m->count; k++) {
        f->stride[k][line] *= lanes;
        f->form.access[k] = k >= m->inputs   ? 0
                            : is_dense(m, k) ? QN_ACCESS_VECTOR
                                             : QN_ACCESS_BROADCAST;
    }
    f->form.turns = qn_fold_pack_turns(m);
    const int64_t held = qn_fold_spans_held(f->form.lanes, m->rules->value_size);
    int64_t splits = QN_MIN(m->rules->processors * held / groups, f->units / LEAST_UNITS);
    splits = groups > COUNTERS ? 1 : QN_MAX(1, QN_MIN(splits, MOST_SPLITS));
    f->workers = 1;
    f->groups = groups;
    f->chunk = qn_over(f->units, splits);
    f->splits = qn_over(f->units, f->chunk);
    f->form.split = f->splits > 1;
}

void qn_fold_take_phases(const qn_fold_making *m)
{
    const qn_fold *f = m->fold;
    if (!may_take(m)) {
        return;
    }
    const int64_t lanes = qn_pack_lanes(m->operands, m->inputs, m->rules->pack_bytes);
    const int64_t rows = f->extent[line_of(f)], across = f->extent[lane_of(f)];
    if (lanes < 2 || !may_have(m, lanes) || rows / lanes < 1 || rows % lanes * LEFT_OVER > rows ||
        f->length < LEAST_UNITS * lanes) {
        return;
    }
    int64_t bytes = PACK_BYTES;
    for (size_t k = 0; k < m->inputs; k++) {
        bytes = is_dense(m, k) ? QN_MIN(bytes, lanes * m->operands[k].item_size) : bytes;
    }
    const int64_t groups = f->outputs / across * qn_over(across, QN_FOLD_BLOCK - lanes + 1);
    if (bytes >= 4 * bytes_at_once(m) && groups * 3 * QN_FOLD_BLOCK <= 5 * f->outputs) {
        lay(m, lanes, groups);
    }
}
