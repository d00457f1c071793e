/* SPDX-License-Identifier: MIT
 *
 * fold_box_cost: what a box of a scan takes (fold_boxing.h). The thing to know: a box is slow where
 * its instructions take longer than memory, where runs of memory are short, so that sectors are
 * moved in part, where the scans of a warp meet in few banks of shared memory, and where a block
 * has so much room that a processor holds few of them.
 */
#include "array/fold_boxing.h"

#include <string.h>

/* Instructions of a thread, as the generated code has them. Where memory takes longer, they cost
 * nothing. qn_fold_run_cost() counts in units of so many of them: */
#define UNIT         1.3
#define COPY_COST    8    /* an element of an operand that goes by elements, and for each */
#define DIM_COST     6    /* dimension of a box */
#define TAKE_COST    3    /* an element of an operand in shared memory, */
#define KNOWN_COST   2    /* and what is done with it, in code of its own or */
#define ELEMENT_COST 5    /* in a loop */
#define SCAN_COST    10   /* a scan or a piece of it, and for each */
#define PLACE_COST   12   /* dimension of a box but the first */
#define SUM_COST     6    /* a sum of a thread in front of another's */
#define BLOCK_COST   110  /* a box or a piece of it, whatever is in it, and for each */
#define HEAD_COST    40   /* operand */
#define CHAIN_COST   450  /* a thread of a tile whose pieces have blocks of their own */
#define WAIT_COST    1500 /* an element of a box of one thread, which waits for each */
#define BANK_COST    5    /* a bank that a warp asks once more */
#define INPUT_TORN   32   /* bytes that are read in vain at the ends of a run, or meanwhile */
#define PIECE_TIME   1.3  /* times as long if a box comes in pieces, each of which waits: */
#define SPLIT_TIME   1.25 /* for a block of its own each */
#define START_COST   6    /* in units */

#define LEAST_STRIP 4  /* elements of a thread, where a scan has several */
#define MOST_SHARES 16 /* of a map's scan */
#define MOST_TURNS  4  /* of a block's threads, by which its scans may be shared out */

/* Bytes of shared memory: five, three, two blocks to a processor; and times as long what is done by
 * fewer takes, whose tiles do not wait for each other, or do: of these, larger ones wait less. */
static const struct room {
    int64_t bytes;
    double time, split_time;
} rooms[] = {{44 << 10, 1, 1}, {74 << 10, 1.2, 1}, {112 << 10, 1.4, 1.05}};

/* ---- how operands lie ----------------------------------------------------------------------- */

static qn_fold_image image_of(const qn_fold *f, const qn_scan_box *b, size_t k)
{
    qn_fold_image i = {0};
    for (int d = 0; d <= f->form.kept; d++) {
        const int64_t stride = qn_magnitude(f->stride[k][d]);
        int at = i.count;
        if (stride == 0 || (d < f->form.kept && b->extent[d] == 1)) {
            continue;
        }
        for (; at > 0 && i.stride[at - 1] > stride; at--) {
            i.dim[at] = i.dim[at - 1];
            i.stride[at] = i.stride[at - 1];
            i.extent[at] = i.extent[at - 1];
        }
        i.dim[at] = d;
        i.stride[at] = stride;
        i.extent[at] = b->extent[d];
        i.count++;
    }
    return i;
}

void qn_box_lay(const qn_fold_making *m, const qn_scan_box *b)
{
    for (size_t k = 0; k < m->count; k++) {
        b->image[k] = image_of(m->fold, b, k);
    }
}

void qn_box_near_last(int *order, const qn_fold_making *m)
{
    const qn_fold *f = m->fold;
    for (int d = 0; d < f->form.kept; d++) {
        const int64_t stride = qn_magnitude(f->stride[m->inputs][d]);
        int at = d;
        for (; at > 0 && qn_magnitude(f->stride[m->inputs][order[at - 1]]) < stride; at--) {
            order[at] = order[at - 1];
        }
        order[at] = d;
    }
}

static int dims_of(const qn_fold *f, const qn_scan_box *b)
{
    int dims = 0;
    for (int d = 0; d < f->form.kept; d++) {
        dims += b->extent[d] > 1;
    }
    return dims;
}

/* The part of a box's elements that operand `k` has: fewer if it is repeated. */
static double share_of(const qn_fold_making *m, const qn_scan_box *b, size_t k)
{
    double elements = 1;
    for (int at = 0; at < b->image[k].count; at++) {
        elements *= (double)b->image[k].extent[at];
    }
    return elements / (double)(b->scans * b->extent[m->fold->form.kept]);
}

/* Instructions for an element of a box for operand `k` on its way in or out. By elements, what is
 * repeated is copied as often. */
static double copy_cost(const qn_fold_making *m, const qn_scan_box *b, size_t k, int runs)
{
    const qn_fold_image *const i = &b->image[k];
    return i->count == 0 ? 0
           : runs == 0   ? COPY_COST + DIM_COST * (1 + dims_of(m->fold, b))
                         : qn_fold_image_cost(i, runs, m->operands[k].item_size, k >= m->inputs) *
                             share_of(m, b, k);
}

/* True when every run of operand `k` begins and ends with a whole sector. */
static bool has_whole_sectors(const qn_fold_making *m, const qn_scan_box *b, size_t k)
{
    const qn_fold *f = m->fold;
    const qn_fold_image *const i = &b->image[k];
    const int runs = qn_fold_image_runs(i, m->operands[k].item_size, true);
    uint64_t off = (uint64_t)(uintptr_t)f->base[k];
    for (int d = 0; d <= f->form.kept; d++) {
        bool inside = false;
        for (int at = 0; at < runs; at++) {
            inside |= i->dim[at] == d;
        }
        off |= (uint64_t)qn_magnitude(f->stride[k][d]) * (inside ? (uint64_t)b->extent[d] : 1);
    }
    return off % QN_SECTOR_BYTES == 0;
}

/* What is moved of an operand for an element, and what is torn at the ends of its runs. */
static double run_cost(const qn_fold_making *m, const qn_scan_box *b, size_t k, int runs)
{
    const uint32_t item = m->operands[k].item_size;
    const qn_fold_image *const i = &b->image[k];
    if (k >= m->inputs) {
        return qn_fold_run_cost(QN_SECTOR_BYTES) *
               qn_fold_image_writes(i, runs, item, has_whole_sectors(m, b, k));
    }
    const int64_t step = i->count > 0 ? i->stride[0] : item;
    int64_t run = item;
    for (int at = 0; at < i->count; at++) {
        if (at > 0 && i->stride[at] > run + item) {
            break;
        }
        run = i->stride[at] * i->extent[at];
    }
    const uint32_t bytes = (uint32_t)QN_MIN(QN_MAX(step, item), QN_SECTOR_BYTES);
    return qn_fold_run_cost(bytes) * (1 + INPUT_TORN / (double)run) * share_of(m, b, k);
}

/* What a scan's threads cost, and those without elements, which wait for the others. */
static double shared_cost(const qn_scan_box *b, int64_t piece, int64_t threads, double scan)
{
    const int64_t turns = qn_over(b->scans * threads, QN_FOLD_BLOCK);
    const double elements = (double)(b->scans * piece);
    return scan * (double)threads / (double)piece +
           WAIT_COST * (double)(turns * qn_over(piece, threads)) / elements;
}

static double map_scan_cost(const qn_fold_making *m, const qn_scan_box *b)
{
    return SCAN_COST + PLACE_COST * (dims_of(m->fold, b) - 1);
}

/* The same of a map, whose scans may have several threads each, and need no second look. */
static double map_cost(const qn_fold_making *m, const qn_scan_box *b)
{
    const int64_t piece = b->extent[m->fold->form.kept];
    const bool known = m->fold->length <= QN_BOX_KNOWN && b->threads == 1;
    return (known ? KNOWN_COST : ELEMENT_COST) + TAKE_COST * (double)m->count +
           shared_cost(b, piece, b->threads, map_scan_cost(m, b)) -
           WAIT_COST * (1.0 / QN_FOLD_BLOCK);
}

/* Share each scan of a map out to as many threads as are best, of those that just fill some turns
 * of a block. On an H200, of a copy's speed, with a thread for each of 29 x 31, 61 and 126 scans,
 * and so: 0.48 and 0.64, 0.46 and 0.56, 0.57 and 0.69. */
static void share_out(const qn_fold_making *m, qn_scan_box *b)
{
    const int64_t piece = b->extent[m->fold->form.kept];
    const int64_t most = QN_MIN(MOST_SHARES, piece / LEAST_STRIP);
    const double scan = map_scan_cost(m, b);
    double least = shared_cost(b, piece, 1, scan);
    if (m->fold->length <= QN_BOX_KNOWN) {
        least -= ELEMENT_COST - KNOWN_COST;
    }
    b->threads = 1;
    for (int64_t turns = 1; turns <= MOST_TURNS && b->scans <= MOST_TURNS * QN_FOLD_BLOCK;
         turns++) {
        const int64_t threads = QN_MIN(most, turns * QN_FOLD_BLOCK / b->scans);
        const double cost = threads > b->threads ? shared_cost(b, piece, threads, scan) : least;
        if (cost < least) {
            least = cost;
            b->threads = threads;
        }
    }
}

/* Instructions for an element, in shared memory; and what it waits there, for one after the other.
 */
static double scan_cost(const qn_fold_making *m, const qn_scan_box *b)
{
    const qn_fold *f = m->fold;
    const double piece = (double)b->extent[f->form.kept], threads = (double)b->threads;
    const double scan = SCAN_COST + PLACE_COST * (dims_of(f, b) - 1);
    const double each = f->length <= QN_BOX_KNOWN ? KNOWN_COST : ELEMENT_COST;
    double cost = each + TAKE_COST * (double)m->count + scan * threads / piece;
    if (b->threads > 1 || b->split) { /* twice, with what lies in front of each thread between */
        cost += each + TAKE_COST * (double)m->inputs;
        cost += (b->split ? CHAIN_COST : SUM_COST * threads / 2) * threads / piece;
    }
    const double live = QN_MIN(threads * (double)b->scans, (double)QN_FOLD_BLOCK);
    return cost + (b->threads > 1 ? 2 : 1) * WAIT_COST * (1 / live - 1.0 / QN_FOLD_BLOCK);
}

/* Runs of as many dimensions as lie on, or elements, which cost less where those are short. */
void qn_box_settle(const qn_fold_making *m, qn_scan_box *b)
{
    for (size_t k = 0; k < m->count; k++) {
        const qn_fold_image *const i = &b->image[k];
        const int runs = qn_fold_image_runs(i, m->operands[k].item_size, k >= m->inputs);
        const double by_runs = copy_cost(m, b, k, runs) / UNIT + run_cost(m, b, k, runs);
        const double by_elements = copy_cost(m, b, k, 0) / UNIT + run_cost(m, b, k, 0);
        b->runs[k] = by_runs < by_elements ? (uint8_t)runs : 0;
    }
    const int64_t piece = b->extent[m->fold->form.kept];
    const int64_t most = QN_MIN(QN_FOLD_BLOCK / b->scans, piece / LEAST_STRIP);
    b->threads = 1;
    if (m->rules->map) {
        share_out(m, b);
    } else if (b->split) {
        b->threads = QN_FOLD_BLOCK / b->scans;
    } else if (m->fold->length > QN_BOX_KNOWN && most > 1 && m->rules->shared >= QN_FOLD_ROOM) {
        const double alone = scan_cost(m, b);
        b->threads = most;
        b->threads = scan_cost(m, b) < alone ? most : 1;
    }
}

/* ---- banks ---------------------------------------------------------------------------------- */

/* How far operand `k`'s elements lie apart along dimension `d` of the walk, if they do. */
static int64_t apart_along(const qn_fold_image *i, const int64_t *apart, int d)
{
    int64_t along = 0;
    for (int at = 0; at < i->count; at++) {
        along = i->dim[at] == d ? apart[at] : along;
    }
    return along;
}

/* How often a warp asks the busiest bank for its elements of operand `k`. Threads have scans as
 * these are counted, the last dimension first, and behind the last scan the next strip of the
 * first. */
static int conflicts(const qn_fold_making *m, const qn_scan_box *b, size_t k, int runs)
{
    const qn_fold *f = m->fold;
    const qn_fold_image *const i = &b->image[k];
    int64_t apart[QN_FOLD_BOX_DIMS + 1], places[QN_WARP], place = 0;
    int64_t extent[QN_FOLD_BOX_DIMS], step[QN_FOLD_BOX_DIMS], at[QN_FOLD_BOX_DIMS] = {0};
    int order[QUERN_MAX_NDIM], dims = 0;
    if (runs == 0) {
        return 1; /* qn_fold_box_pitch() sees to that */
    }
    (void)qn_fold_image_bytes(i, runs, m->operands[k].item_size, apart);
    qn_box_near_last(order, m);
    for (int n = f->form.kept - 1; n >= 0; n--) {
        if (b->extent[order[n]] > 1) {
            extent[dims] = b->extent[order[n]];
            step[dims++] = apart_along(i, apart, order[n]);
        }
    }
    const int64_t strip = qn_over(b->extent[f->form.kept], b->threads);
    for (int t = 0; t < QN_WARP; t++) {
        places[t] = place;
        int d = 0;
        for (; d < dims; d++) {
            place += step[d];
            if (++at[d] < extent[d]) {
                break;
            }
            place -= step[d] * extent[d];
            at[d] = 0;
        }
        place += d == dims ? strip * apart_along(i, apart, f->form.kept) : 0;
    }
    return qn_bank_conflicts(places);
}

void qn_box_part_banks(const qn_fold_making *m, qn_scan_box *b)
{
    uint8_t before[QUERN_MAX_PARAMETERS];
    memcpy(before, b->runs, m->count);
    for (size_t k = 0; k < m->count; k++) {
        double least = 0;
        const int most = b->runs[k];
        for (int runs = most; runs > 0; runs--) {
            const double cost = copy_cost(m, b, k, runs) + BANK_COST * conflicts(m, b, k, runs);
            if (runs == most || cost < least) {
                least = cost;
                b->runs[k] = (uint8_t)runs;
            }
        }
    }
    if (!qn_box_fits(m, b)) {
        memcpy(b->runs, before, m->count);
    }
}

/* ---- room ----------------------------------------------------------------------------------- */

size_t qn_box_home(const qn_fold_making *m, const qn_scan_box *b, size_t k)
{
    const qn_fold *f = m->fold;
    if (k != m->inputs || m->operands[0].item_size != m->operands[k].item_size ||
        b->image[0].count == 0) {
        return k;
    }
    const int runs = b->runs[k];
    bool alike = runs == b->runs[0];
    uint64_t off = (uint64_t)(uintptr_t)f->base[0] ^ (uint64_t)(uintptr_t)f->base[k];
    for (int d = 0; d <= f->form.kept && runs > 0; d++) {
        off |= (uint64_t)(f->stride[0][d] - f->stride[k][d]);
        alike &= b->extent[d] == 1 || f->stride[0][d] == f->stride[k][d];
    }
    return alike && (runs == 0 || off % QN_ACCESS_BYTES == 0) ? 0 : k;
}

int64_t qn_box_room(const qn_fold_making *m, const qn_scan_box *b)
{
    const int64_t piece = b->extent[m->fold->form.kept];
    int64_t bytes = 0;
    for (size_t k = 0; k < m->count; k++) {
        const uint32_t item = m->operands[k].item_size;
        const qn_fold_image *const i = &b->image[k];
        const int64_t own = i->count == 0    ? 0
                            : b->runs[k] > 0 ? qn_fold_image_bytes(i, b->runs[k], item, NULL)
                                             : b->scans * qn_fold_box_pitch(piece, item) * item;
        bytes += qn_box_home(m, b, k) == k ? qn_over(own, QN_ACCESS_BYTES) * QN_ACCESS_BYTES : 0;
    }
    return bytes;
}

/* The least room that the box fits, beside sums of threads; NULL: none does. */
static const struct room *room_for(const qn_fold_making *m, const qn_scan_box *b)
{
    const int64_t sums = b->split                           ? 3 * QN_FOLD_BLOCK
                         : b->threads > 1 && !m->rules->map ? QN_BOX_SUMS
                                                            : 0;
    const int64_t bytes = qn_box_room(m, b) + sums * b->value_size;
    for (size_t r = 0; r < QN_COUNT(rooms); r++) {
        if (bytes <= rooms[r].bytes && (r == 0 || rooms[r].bytes <= m->rules->shared)) {
            return &rooms[r];
        }
    }
    return NULL;
}

bool qn_box_fits(const qn_fold_making *m, const qn_scan_box *b)
{
    return room_for(m, b) != NULL;
}

/* ---- cost ----------------------------------------------------------------------------------- */

double qn_box_cost(const qn_fold_making *m, const qn_scan_box *b)
{
    const qn_fold *f = m->fold;
    const int64_t piece = b->extent[f->form.kept];
    const double elements = (double)(b->scans * piece);
    double code = (m->rules->map ? map_cost : scan_cost)(m, b), memory = 0;
    code += (BLOCK_COST + HEAD_COST * (double)m->count) * QN_FOLD_BLOCK / elements;
    for (size_t k = 0; k < m->count; k++) {
        code += copy_cost(m, b, k, b->runs[k]);
        memory += run_cost(m, b, k, b->runs[k]);
    }
    memory *= b->split ? SPLIT_TIME : !m->rules->map && piece < f->length ? PIECE_TIME : 1;
    const struct room *room = room_for(m, b);
    return START_COST + (b->split ? room->split_time : room->time) * QN_MAX(code / UNIT, memory);
}

double qn_box_banks_cost(const qn_fold_making *m, const qn_scan_box *b)
{
    double cost = 0;
    for (size_t k = 0; k < m->count; k++) {
        const int often = k < m->inputs && b->threads > 1 && !m->rules->map ? 2 : 1;
        cost += BANK_COST * often * (conflicts(m, b, k, b->runs[k]) - 1);
    }
    return cost / UNIT;
}
