/* SPDX-License-Identifier: MIT
 *
 * fold_lines: scans along columns in strips that wait in shared memory. In: the plan of a scan
 * along columns that is split into tiles. Out: the same plan, or one whose tiles are of whole
 * lines: all columns side by side, of some positions, which lie on in memory. The thing to know: a
 * run of memory is brought in and taken back in words of 16 bytes, however few columns there are
 * and wherever they lie, so lines of 3 bytes cost no more than others.
 */
#include "array/fold_scans.h"

#define SHARED_BYTES (48 * 1024 - 64)
#define MOST_LENGTH  128 /* lines of a strip */
#define LEAST_LENGTH 4
#define FLIGHT       4  /* lines of a thread at once: each repeats the code */
#define TILES        8  /* for a processor at least: with fewer, some have nothing to do */
#define LONG_BYTES   96 /* a line of so many has few sectors that are written in part */

/* Instructions, as the generated code has them. */
#define UNIT_COST    6   /* a unit: its place, its access */
#define ELEMENT_COST 7   /* an element of a unit */
#define THREAD_COST  450 /* a thread's strip */

uint32_t qn_fold_sums_bytes(const qn_fold *f, uint32_t value_size)
{
    return QN_FOLD_BLOCK * (f->form.lanes + 2u) * value_size;
}

uint32_t qn_fold_lines_room(const qn_fold_form *f, uint32_t item_size)
{
    return QN_FOLD_BLOCK * (uint32_t)f->lines * f->lanes * item_size + QN_PHASE_BYTES;
}

bool qn_fold_lies_in_lines(const qn_fold_making *m)
{
    const qn_fold *f = m->fold;
    const int lane = f->form.kept - 1, d = f->form.kept;
    for (size_t k = 0; k < m->count; k++) {
        const qn_operand *o = &m->operands[k];
        const int64_t item = o->item_size;
        if (o->loose || (item & (item - 1)) != 0 || item > 8 || f->stride[k][lane] != item ||
            f->stride[k][d] != f->extent[lane] * item ||
            (uintptr_t)f->base[k] % (uintptr_t)item != 0) {
            return false;
        }
    }
    return f->extent[lane] <= QN_FOLD_BLOCK;
}

/* How the results go back. Lines of whole sectors, or long ones, are written well by those who have
 * them. Otherwise the first output takes the place of the first input, if their lines are as far
 * off the alignment of words in shared memory. */
static qn_lines_back choose_back(const qn_fold_making *m)
{
    const qn_fold *f = m->fold;
    const size_t first = m->inputs;
    uint64_t off = (uint64_t)(uintptr_t)f->base[0] ^ (uint64_t)(uintptr_t)f->base[first];
    bool direct = true;
    for (int d = 0; d < f->form.kept - 1; d++) {
        off |= (uint64_t)qn_magnitude(f->stride[0][d] - f->stride[first][d]);
    }
    for (size_t k = first; k < m->count; k++) {
        const int64_t line = f->stride[k][f->form.kept];
        direct &= line >= LONG_BYTES ||
                  (line % QN_SECTOR_BYTES == 0 && qn_fold_begins_aligned(f, k, QN_SECTOR_BYTES));
    }
    const bool alike = m->operands[0].item_size == m->operands[first].item_size;
    return direct                                ? QN_LINES_DIRECT
           : alike && off % QN_ACCESS_BYTES == 0 ? QN_LINES_SHARED
                                                 : QN_LINES_ROOM;
}

/* Bank conflicts of a warp that goes down strips of `length` lines. */
static int conflicts(const qn_fold *f, uint32_t item_size, int64_t length)
{
    const int64_t beside = f->workers, pack = f->form.lanes * item_size;
    int64_t places[QN_WARP];
    for (int t = 0; t < QN_WARP; t++) {
        places[t] = t / beside * length * (beside * pack) + t % beside * pack;
    }
    return qn_bank_conflicts(places);
}

/* Lines of a strip, at most `most`: of the last quarter those whose strips lie in different banks.
 */
static int64_t choose_length(const qn_fold_making *m, int64_t most)
{
    int64_t best = most;
    int least = INT32_MAX;
    for (int64_t length = most; length > most - QN_MAX(1, most / 4); length--) {
        int all = 0;
        for (size_t k = 0; k < (m->fold->form.back ? m->count : m->inputs); k++) {
            all += (k < m->inputs ? 2 : 1) * conflicts(m->fold, m->operands[k].item_size, length);
        }
        if (all < least) {
            least = all;
            best = length;
        }
    }
    return best;
}

bool qn_fold_take_lines(const qn_fold_making *m, uint32_t value_size)
{
    qn_fold *f = m->fold;
    if (m->rules->pack_bytes == 0 || !qn_fold_lies_in_lines(m)) {
        return false;
    }
    const qn_lines_back back = choose_back(m);
    const size_t waiting = back == QN_LINES_DIRECT ? m->inputs : m->count;
    uint32_t bytes = 0;
    for (size_t k = 0; k < waiting; k++) {
        const bool shared = k == m->inputs && back == QN_LINES_SHARED;
        bytes += shared ? 0 : m->operands[k].item_size * f->form.lanes;
    }
    if (bytes == 0) {
        return false;
    }
    const int64_t room = (SHARED_BYTES - qn_fold_sums_bytes(f, value_size) -
                          2 * QN_PHASE_BYTES * (int64_t)m->count) /
                         (QN_FOLD_BLOCK * (int64_t)bytes);
    if (room < LEAST_LENGTH) {
        return false;
    }
    f->form.back = (uint8_t)back;
    f->form.lines = (uint8_t)QN_MIN(room, MOST_LENGTH);
    f->form.steps = FLIGHT;
    f->workers = (uint32_t)(f->extent[f->form.kept - 1] / f->form.lanes);
    f->groups = f->outputs / f->extent[f->form.kept - 1];
    const int64_t strips = QN_FOLD_BLOCK / f->workers;
    const int64_t tiles = (int64_t)m->rules->processors * TILES;
    const int64_t length = qn_over(f->groups * f->length, tiles * strips);
    f->chunk = choose_length(m, QN_MIN(QN_MAX(length, LEAST_LENGTH), f->form.lines));
    f->splits = qn_over(f->length, strips * f->chunk);
    int64_t element = 0;
    for (size_t k = 0; k < m->count; k++) {
        element += m->operands[k].item_size;
    }
    const int64_t tile = strips * f->chunk;
    f->beside = qn_fold_tiles_ahead(m, tile * f->workers * f->form.lanes * element) * tile;
    return true;
}

double qn_fold_lines_cost(const qn_fold *f)
{
    const double used = (double)(QN_FOLD_BLOCK / f->workers * f->workers) / QN_FOLD_BLOCK;
    return ((double)UNIT_COST / f->form.lanes + ELEMENT_COST +
            (double)THREAD_COST / (double)(f->form.lanes * f->chunk)) /
           used;
}
