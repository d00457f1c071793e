/* SPDX-License-Identifier: MIT
 *
 * fold_joined: reductions whose kept and reduced dimensions take turns in memory. In: the plan of a
 * reduction by rows, columns or outputs apart. Out: the same plan, or one by *boxes*, where that
 * costs less. The thing to know: a box is one run of memory, of whatever dimensions, kept and
 * reduced, are innermost there; it comes to shared memory in words of 16 bytes, wherever it begins,
 * and only there threads look for the elements of their outputs. The outermost dimension of a box
 * is cut into slices, some of which a box has. A block stays with the outputs of a box, and goes
 * over those that have others of their elements: while it takes one, the next is on its way.
 *
 * Dimensions of such a plan: the kept ones outside (`form.outer`), with the number of a box along
 * the cut as the last, if that is kept; those inside, the cut first; the same of the reduced ones,
 * of which `form.joined` lie inside. All inputs lie in the same order inside, or are repeated.
 */
#include "array/fold.h"
#include <string.h>

#define MOST_POOL     44 /* KiB of shared memory for two boxes */
#define LEAST_POOL    16
#define POOL_STEP     4
#define MOST_INSIDE   8
#define MOST_OPERANDS 8 /* more would not leave much room for a box of each */
#define MOST_DIMS     12
#define MOST_REDUCED  2 /* of those inside */
#define MOST_OUTPUTS  4 /* of a thread */
#define COUNTERS      8192
#define LEAST_UNITS   4         /* boxes of a block, where blocks share outputs */
#define MOST_LEFT     (1 << 20) /* values that blocks leave for each other */
#define LARGEST_VALUE 64        /* bytes, where it is not known */
#define ENOUGH        0.7       /* of the cost as it is: with more, it stays */

/* ---- boxes ---------------------------------------------------------------------------------- */

/* Dimensions that lie inside, innermost in memory first; the last one is cut. */
typedef struct box {
    int dims[MOST_INSIDE], count;
    int reduced;                         /* of these */
    int64_t slices, outputs, length;     /* of the cut; outputs of a box, elements of each */
    int64_t bytes[QUERN_MAX_PARAMETERS]; /* of each input */
} box;

static bool is_reduced(const qn_fold *f, int d)
{
    return d >= f->form.kept;
}

/* The input that has most elements of its own. */
static size_t widest(const qn_fold_making *m)
{
    const qn_fold *f = m->fold;
    double most = 0;
    size_t found = 0;
    for (size_t k = 0; k < m->inputs; k++) {
        double bytes = m->operands[k].item_size;
        for (int d = 0; d < f->form.kept + f->form.reduced; d++) {
            bytes *= f->stride[k][d] != 0 ? (double)f->extent[d] : 1;
        }
        if (bytes > most) {
            most = bytes;
            found = k;
        }
    }
    return found;
}

/* The dimension along which `first` goes on after so many bytes, and the other inputs after theirs,
 * where they move at all; or -1. */
static int next_dim(const qn_fold_making *m, const box *b, size_t first)
{
    const qn_fold *f = m->fold;
    for (int d = 0; d < f->form.kept + f->form.reduced; d++) {
        bool all = f->extent[d] > 1 && f->stride[first][d] == b->bytes[first];
        for (int n = 0; n < b->count; n++) {
            all &= b->dims[n] != d;
        }
        for (size_t k = 0; k < m->inputs; k++) {
            all &= f->stride[k][d] == 0 || f->stride[k][d] == b->bytes[k];
        }
        if (all) {
            return d;
        }
    }
    return -1;
}

/* Bytes of shared memory for two boxes of so many slices; beyond MOST_POOL: they are too large. */
static int64_t pool_of(const qn_fold_making *m, const box *b, int64_t slices)
{
    const int cut = b->dims[b->count - 1];
    int64_t bytes = 0;
    for (size_t k = 0; k < m->inputs; k++) {
        const int64_t own = b->bytes[k] * (m->fold->stride[k][cut] != 0 ? slices : 1);
        bytes += qn_over(own, QN_PHASE_BYTES) * QN_PHASE_BYTES + QN_PHASE_BYTES;
    }
    return 2 * bytes;
}

/* ---- what is decided ------------------------------------------------------------------------ */

/* Threads side by side, those of an output, and outputs of a thread. */
static void choose_threads(qn_fold_joining *j)
{
    j->beside = QN_MIN(j->outputs, QN_FOLD_BLOCK);
    j->each = qn_over(j->outputs, QN_FOLD_BLOCK);
    j->workers = j->each > 1 ? 1 : QN_MIN(QN_FOLD_BLOCK / j->beside, j->length);
}

/* Fill in what boxes of so many slices come to; false: they have no room, or too many outputs. */
static bool try_slices(const qn_fold_making *m, const box *b, int64_t slices, qn_fold_joining *j)
{
    const qn_fold *f = m->fold;
    const int cut = b->dims[b->count - 1];
    const int64_t pool = qn_over(pool_of(m, b, slices), 1024 * POOL_STEP) * POOL_STEP;
    *j = (qn_fold_joining){.count = b->count, .outputs = 1, .length = 1, .slices = slices};
    if (pool > MOST_POOL) {
        return false;
    }
    j->pool = QN_MAX(pool, LEAST_POOL);
    for (int n = 0; n < b->count; n++) {
        const int d = b->dims[n];
        const int64_t extent = d == cut ? slices : f->extent[d];
        j->dims[n] = d;
        *(is_reduced(f, d) ? &j->length : &j->outputs) *= extent;
    }
    for (size_t k = 0; k < m->inputs; k++) {
        j->bytes[k] = b->bytes[k] * (f->stride[k][cut] != 0 ? slices : 1);
    }
    choose_threads(j);
    int64_t kept = f->outputs, reduced = f->length;
    for (int n = 0; n < b->count; n++) {
        *(is_reduced(f, b->dims[n]) ? &reduced : &kept) /= f->extent[b->dims[n]];
    }
    const int64_t boxes = qn_over(f->extent[cut], slices);
    j->units = reduced * (is_reduced(f, cut) ? boxes : 1);
    j->groups = kept * (is_reduced(f, cut) ? 1 : boxes);
    /* Threads whose outputs are fewer read elements again. */
    return j->each <= (m->rules->repeats ? MOST_OUTPUTS : 1);
}

/* How full the last round of outputs is, and how much a box has, decide how many slices are best:
 * tried are those that just fill some rounds, and those that leave the last box full. */
static void try_box(const qn_fold_making *m, const box *b, qn_fold_joining *best)
{
    const qn_fold *f = m->fold;
    const int cut = b->dims[b->count - 1];
    int64_t most = f->extent[cut], outputs = 1;
    while (most > 1 && pool_of(m, b, most) > 1024 * MOST_POOL) {
        most = most > 64 ? most - most / 64 : most - 1;
    }
    for (int n = 0; n < b->count - 1; n++) {
        outputs *= is_reduced(f, b->dims[n]) ? 1 : f->extent[b->dims[n]];
    }
    for (int way = 0; way < 3 * MOST_OUTPUTS; way++) {
        const int64_t part = most / (1 + way % MOST_OUTPUTS);
        const int64_t round = QN_FOLD_BLOCK * (1 + way % MOST_OUTPUTS) / outputs;
        int64_t slices = way < MOST_OUTPUTS ? part : QN_MIN(round, most);
        if (way < 2 * MOST_OUTPUTS && slices > 0) {
            slices = qn_over(f->extent[cut], qn_over(f->extent[cut], slices));
        }
        qn_fold_joining j;
        if (slices > 0 && try_slices(m, b, slices, &j)) {
            qn_fold_joined_cost(m, &j);
            if (best->count == 0 || j.cost < best->cost) {
                *best = j;
            }
        }
    }
}

/* The best of all boxes; `count` is 0 where there is none. */
static void find_box(const qn_fold_making *m, qn_fold_joining *best)
{
    const qn_fold *f = m->fold;
    const size_t first = widest(m);
    box b = {.count = 0};
    int kept = 0;
    best->count = 0;
    for (size_t k = 0; k < m->inputs; k++) {
        b.bytes[k] = m->operands[k].item_size;
    }
    while (b.count < MOST_INSIDE) {
        const int d = next_dim(m, &b, first);
        if (d < 0) {
            return;
        }
        b.dims[b.count++] = d;
        b.reduced += is_reduced(f, d);
        kept += !is_reduced(f, d);
        if (b.reduced > MOST_REDUCED) {
            return;
        }
        if (pool_of(m, &b, 1) > 1024 * MOST_POOL) {
            return;
        }
        if (b.reduced > 0 && kept > 0) {
            try_box(m, &b, best);
        }
        for (size_t k = 0; k < m->inputs; k++) {
            b.bytes[k] *= f->stride[k][d] != 0 ? f->extent[d] : 1;
        }
    }
}

/* ---- the plan ------------------------------------------------------------------------------- */

static void put_dim(qn_fold *to, const qn_fold *from, int at, int d, size_t rows)
{
    to->extent[at] = from->extent[d];
    for (size_t k = 0; k < rows; k++) {
        to->stride[k][at] = from->stride[k][d];
    }
}

/* The dimensions [first, last) of the plan as it was, from place `at` on: those outside, then those
 * inside, outermost first. Returns how many lie outside. */
static int lay_dims(const qn_fold_making *m, const qn_fold_joining *j, const qn_fold *from,
                    int first, int last, int *at, size_t rows)
{
    qn_fold *f = m->fold;
    const int cut = j->dims[j->count - 1], begin = *at;
    for (int d = first; d < last; d++) {
        bool inside = false;
        for (int n = 0; n < j->count; n++) {
            inside |= j->dims[n] == d;
        }
        if (!inside) {
            put_dim(f, from, (*at)++, d, rows);
        }
    }
    if (cut >= first && cut < last) { /* the number of a box along it */
        put_dim(f, from, *at, cut, rows);
        f->extent[*at] = qn_over(from->extent[cut], j->slices);
        for (size_t k = 0; k < rows; k++) {
            f->stride[k][*at] *= j->slices;
        }
        (*at)++;
    }
    const int outside = *at - begin;
    for (int n = j->count - 1; n >= 0; n--) {
        const int d = j->dims[n];
        if (d >= first && d < last) {
            put_dim(f, from, *at, d, rows);
            f->extent[*at] = d == cut ? j->slices : from->extent[d];
            (*at)++;
        }
    }
    return outside;
}

static void choose_blocks(const qn_fold_making *m, const qn_fold_joining *j)
{
    qn_fold *f = m->fold;
    const int64_t blocks =
        (int64_t)m->rules->processors * qn_fold_joined_held((uint32_t)j->each, (uint32_t)j->pool);
    int64_t splits = QN_MIN(blocks / j->groups, MOST_LEFT / (j->groups * j->outputs));
    splits = QN_MAX(1, QN_MIN(splits, j->units / LEAST_UNITS));
    splits = j->groups > COUNTERS ? 1 : splits;
    f->groups = j->groups;
    f->chunk = qn_over(j->units, splits);
    f->splits = qn_over(j->units, f->chunk);
    f->form.split = f->splits > 1;
}

static void lay(const qn_fold_making *m, const qn_fold_joining *j)
{
    qn_fold *f = m->fold;
    const int cut = j->dims[j->count - 1];
    const qn_fold from = *f;
    const int dims = from.form.kept + from.form.reduced;
    const size_t rows = m->count + m->rules->counted;
    int at = 0;
    f->form.outer = (uint8_t)lay_dims(m, j, &from, 0, from.form.kept, &at, rows);
    f->form.kept = (uint8_t)at;
    const int outside = lay_dims(m, j, &from, from.form.kept, dims, &at, rows);
    f->form.reduced = (uint8_t)(at - f->form.kept);
    f->form.joined = (uint8_t)(f->form.reduced - outside);
    f->form.line = is_reduced(&from, cut);
    f->form.pool = (uint8_t)j->pool;
    f->form.along = j->along;
    f->form.turns = (uint8_t)j->each;
    f->form.columns = 1;
    f->form.lanes = 1;
    f->form.ragged = f->form.known = f->form.cut = f->form.apart = 0;
    f->across = j->outputs;
    f->run = j->length;
    f->beside = j->beside;
    f->head = from.extent[cut];
    f->rest = 0;
    f->workers = (uint32_t)j->workers;
    f->units = j->units;
    f->cost = j->cost;
    for (size_t k = 0; k < m->count; k++) {
        f->form.access[k] = k < m->inputs ? QN_ACCESS_TILED : 0;
    }
    choose_blocks(m, j);
}

/* Elements lie where their width asks for. */
static bool lies_so(const qn_fold_making *m)
{
    const qn_fold *f = m->fold;
    for (size_t k = 0; k < m->inputs; k++) {
        const uint32_t item = m->operands[k].item_size;
        if (m->operands[k].loose || item > QN_ACCESS_BYTES || (item & (item - 1)) != 0 ||
            (uintptr_t)f->base[k] % item != 0) {
            return false;
        }
    }
    return true;
}

/* Every input is repeated for some outputs, as where the distances of all pairs are found: there
 * are more elements than memory has, most of which caches give. */
static bool all_repeated(const qn_fold_making *m)
{
    const qn_fold *f = m->fold;
    bool all = true;
    for (size_t k = 0; k < m->inputs; k++) {
        bool repeated = false;
        for (int d = 0; d < f->form.kept; d++) {
            repeated |= f->stride[k][d] == 0 && f->extent[d] > 1;
        }
        all &= repeated;
    }
    return all;
}

static bool may_take(const qn_fold_making *m)
{
    const qn_fold *f = m->fold;
    const qn_fold_rules *r = m->rules;
    return f->form.kept > 0 && f->form.reduced > 0 && f->outputs > 0 && f->length > 1 &&
           m->inputs > 0 && !r->ordered && !r->positions && r->in_turns &&
           r->pack_bytes == QN_ACCESS_BYTES && !(r->exact && r->setting.workers != 0) &&
           m->count <= MOST_OPERANDS && f->form.kept + f->form.reduced <= MOST_DIMS && lies_so(m) &&
           !all_repeated(m);
}

void qn_fold_take_joined(const qn_fold_making *m)
{
    qn_fold *f = m->fold;
    qn_fold_joining j;
    if (!may_take(m)) {
        return;
    }
    find_box(m, &j);
    if (j.count == 0) {
        return;
    }
    const double others = qn_fold_units_cost(m);
    if (j.cost < ENOUGH * others) {
        f->unit_cost = others;
        lay(m, &j);
    }
}

int64_t qn_fold_joined_left(const qn_fold *f, uint32_t value_size)
{
    return f->groups * f->splits * f->across * (value_size != 0 ? value_size : LARGEST_VALUE);
}
