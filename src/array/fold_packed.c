/* SPDX-License-Identifier: MIT
 *
 * fold_packed: scans along rows that lie on in memory, several to a block, and along columns of few
 * beside each other, as of (n, 100, 3) along axis 1. In: the plan of a scan along rows or columns,
 * and what it costs. Out: the same plan, or one whose tiles are whole scans, one run of memory,
 * where that costs less. The thing to know: a run comes to shared memory and goes back in words of
 * 16 bytes, however long its rows are and wherever they begin; there each row has some lanes, and
 * each lane elements that follow each other. If a tile has few rows, each has the lanes of several
 * warps, so that no thread is without elements. Columns take turns in the run: an element of one is
 * as many further on as there are beside each other.
 */
#include "array/fold_scans.h"

#include <math.h>

#define SHARED_BYTES (44 * 1024 - 192) /* of a block, for elements; */
#define OTHER_BYTES  (5 * 1024) /* for what lanes and pieces leave each other, and CUDA's own */
#define LONG_BLOCKS  2          /* of a processor, where a row needs more than SHARED_BYTES */
#define MOST_TILE    32768      /* bytes of the widest operand, if a tile has several rows */
#define LEAST_TILE   1024
#define FEW_ROWS     4   /* for a processor, below which choose_threads() splits them */
#define TILES        8   /* for a processor at least */
#define MOST_BESIDE  256 /* columns that come in pieces */
#define PIECE_TILES  4   /* of these for a processor at least */
#define LEAST_GAP    7   /* bytes between gaps: exponents */
#define MOST_GAP     12
#define MOST_MORE    8 /* elements of a lane beyond its part of a row */
#define WORD         4 /* bytes */
#define KNOWN        8 /* elements of a row, whose number the code knows: then it has no loop */

/* Instructions, as the generated code has them. */
#define ELEMENT_COST 9    /* an element whose row has one lane */
#define KNOWN_COST   6    /* the same where the code knows how many a row has; and such a row */
#define TWICE_COST   13   /* one whose lane goes over it twice */
#define ROW_COST     20   /* a row: its place */
#define LANE_COST    60   /* a lane of a row that has several: its part in the warp's scan, too */
#define STREWN_COST  6    /* a strewn lane, for each of its row: they wait for each other */
#define BLOCK_COST   9000 /* a tile, whatever is in it */
#define GAP_COST     2    /* each access of an element, where there are gaps */
#define WORD_COST    4    /* each word that a bank gives a warp for an element; */
#define MILD_COST    3    /* beside other plans, whose costs leave out what banks take */
#define RAGGED_MORE  1.35 /* times what rows cost that begin or end inside a unit, */
#define WHOLE_MORE   1.23 /* or are whole packs: see others_cost() */

/* What an operand has in shared memory, as quern::packed_room says. */
static int64_t room_of(const qn_fold *f, uint32_t item_size)
{
    const int64_t bytes = f->place * item_size + QN_PHASE_BYTES;
    const int64_t gaps = f->form.gap ? ((bytes >> f->form.gap) + 1) * QN_ACCESS_BYTES : 0;
    return qn_over(bytes + gaps, QN_PHASE_BYTES) * QN_PHASE_BYTES;
}

/* And all of them. */
static int64_t all_rooms(const qn_fold_making *m)
{
    int64_t bytes = 0;
    for (size_t k = 0; k < m->count; k++) {
        const bool own = qn_fold_lines_home(&m->fold->form, m->inputs, k) == k;
        bytes += own ? room_of(m->fold, m->operands[k].item_size) : 0;
    }
    return bytes;
}

/* True when the rows along the last kept dimension follow each other without gaps in all operands;
 * or the columns along it lie side by side, and those of the dimension before it follow, or come in
 * pieces. */
static bool lies_on(const qn_fold_making *m)
{
    const qn_fold *f = m->fold;
    const int last = f->form.kept - 1, row = last - f->form.woven, d = f->form.kept;
    for (size_t k = 0; k < m->count; k++) {
        const qn_operand *o = &m->operands[k];
        const int64_t item = o->item_size;
        if (row < 0 || o->loose || (item & (item - 1)) != 0 || item > 8 ||
            (uintptr_t)f->base[k] % (uintptr_t)item != 0 || f->stride[k][d] != f->run * item ||
            (!f->form.pieces && f->stride[k][row] != f->length * f->run * item) ||
            (f->form.woven && f->stride[k][last] != item)) {
            return false;
        }
    }
    return true;
}

/* True when the first output's elements can take the place of the first input's: all runs of both
 * lie alike from words. */
static bool shares(const qn_fold_making *m)
{
    const qn_fold *f = m->fold;
    const size_t first = m->inputs;
    uint64_t off = (uint64_t)(uintptr_t)f->base[0] ^ (uint64_t)(uintptr_t)f->base[first];
    for (int d = 0; d < f->form.kept - 1; d++) {
        off |= (uint64_t)qn_magnitude(f->stride[0][d] - f->stride[first][d]);
    }
    return m->operands[0].item_size == m->operands[first].item_size && off % QN_ACCESS_BYTES == 0;
}

static uint32_t widest_of(const qn_fold_making *m)
{
    uint32_t widest = 1;
    for (size_t k = 0; k < m->count; k++) {
        widest = QN_MAX(widest, m->operands[k].item_size);
    }
    return widest;
}

/* Elements of a tile: as many as all operands have room for. 0: too few. */
static int64_t choose_tile(const qn_fold_making *m, int64_t room)
{
    uint32_t bytes = 0;
    for (size_t k = 0; k < m->count; k++) {
        bytes += k == m->inputs && shares(m) ? 0 : m->operands[k].item_size;
    }
    const int64_t most = (room - 2 * QN_PHASE_BYTES * (int64_t)m->count) / QN_MAX(bytes, 1);
    const int64_t several = QN_MIN(most, MOST_TILE / widest_of(m)), row = m->fold->length;
    const int64_t elements = several < row && !m->fold->form.woven ? QN_MIN(most, row) : several;
    return elements >= LEAST_TILE ? elements : 0;
}

/* Lanes of a row that are neighbours: as many as leave no thread of the block without one, if it
 * has elements. */
static uint32_t choose_workers(const qn_fold *f, int64_t rows)
{
    const uint32_t most = (uint32_t)(QN_FOLD_BLOCK / QN_MIN(rows, QN_FOLD_BLOCK));
    uint32_t workers = 1;
    while (2 * workers <= most && 4 * workers <= f->units) {
        workers *= 2;
    }
    return workers;
}

/* Columns of a tile, at most `most`, which are all that lie side by side: as many as leave fewest
 * threads of a block without one. */
static int64_t choose_columns(const qn_fold *f, int64_t most)
{
    int64_t best = 0;
    double part = 0;
    for (int64_t rows = most / f->run * f->run; rows > most / 2 && rows > 0; rows -= f->run) {
        const int64_t threads = rows * choose_workers(f, rows);
        const double own =
            (double)threads / (double)(qn_over(threads, QN_FOLD_BLOCK) * QN_FOLD_BLOCK);
        best = own > part ? rows : best;
        part = QN_MAX(part, own);
    }
    return best;
}

/* Rows of a tile, at most `most`: so many that all threads of a block have one, or a part of one.
 */
static int64_t choose_rows(const qn_fold_making *m, int64_t most)
{
    const int64_t tiles = (int64_t)m->rules->processors * TILES;
    const int64_t rows = QN_MIN(most, qn_over(m->fold->outputs, tiles));
    int64_t part = QN_FOLD_BLOCK;
    if (m->fold->form.woven) {
        return choose_columns(m->fold, QN_MAX(rows, QN_MIN(most, m->fold->run)));
    }
    while (part > rows) {
        part /= 2;
    }
    return rows >= QN_FOLD_BLOCK ? rows / QN_FOLD_BLOCK * QN_FOLD_BLOCK : part;
}

/* Words that the busiest bank gives a warp whose lanes go over their elements: in the mean over the
 * places in a word where these may lie. */
static double conflicts(const qn_fold *f, uint32_t item_size)
{
    const uint32_t spots = item_size < WORD ? WORD / item_size : 1;
    const uint32_t abreast = QN_FOLD_BLOCK / f->workers;
    int64_t places[QN_WARP];
    int sum = 0;
    for (uint32_t spot = 0; spot < spots; spot++) {
        for (int t = 0; t < QN_WARP; t++) {
            const int64_t row = f->form.strewn ? t % abreast : t / f->workers;
            const int64_t lane = f->form.strewn ? t / abreast : t % f->workers;
            const int64_t at = lane * f->head * f->run;
            places[t] = (row / f->run * f->units * f->run + row % f->run + at + spot) * item_size;
            places[t] += f->form.gap ? (places[t] >> f->form.gap) * QN_ACCESS_BYTES : 0;
        }
        sum += qn_bank_conflicts(places);
    }
    return (double)sum / spots;
}

/* Times that an element of operand `k` is reached: lanes that share a row go over inputs twice. */
static int passes(const qn_fold_making *m, size_t k)
{
    return k < m->inputs && m->fold->workers > 1 ? 2 : 1;
}

/* Words that banks give a warp, one after the other, for an element of each lane. */
static double words_given(const qn_fold_making *m)
{
    double words = 0, same = 0;
    for (size_t k = 0; k < m->count; k++) {
        const bool alike = k > 0 && m->operands[k].item_size == m->operands[k - 1].item_size;
        same = alike ? same : conflicts(m->fold, m->operands[k].item_size);
        words += passes(m, k) * same;
    }
    return words;
}

static double accesses(const qn_fold_making *m)
{
    int all = 0;
    for (size_t k = 0; k < m->count; k++) {
        all += passes(m, k);
    }
    return all;
}

/* True where the code knows how many elements a row has, of which one lane has all. */
static bool knows_length(const qn_fold *f)
{
    return f->workers == 1 && !f->form.pieces && f->length <= KNOWN;
}

/* What a lane does for an element, and what its part of the row takes. A processor begins four
 * instructions at a time, and looks up one word in each bank. */
static double element_cost(const qn_fold_making *m, double words, int word_cost)
{
    const qn_fold *f = m->fold;
    const bool shared = f->workers > 1;
    const double rows = (double)(qn_over(f->chunk * f->workers, QN_FOLD_BLOCK) * QN_FOLD_BLOCK);
    const bool known = knows_length(f);
    const double instructions = (shared  ? TWICE_COST
                                 : known ? KNOWN_COST
                                         : ELEMENT_COST) +
                                (f->form.gap ? GAP_COST * accesses(m) : 0);
    /* Lanes of which some rows have fewer wait for the others. */
    const double idle = (double)(f->head * f->workers) / (double)f->units *
                        (rows / (double)(f->chunk * f->workers));
    const double lane = shared ? (double)LANE_COST * f->workers : known ? KNOWN_COST : ROW_COST;
    const double strewn = f->form.strewn ? (double)STREWN_COST * f->workers / (double)f->head : 0;
    return QN_MAX(instructions, word_cost * words) * idle + lane / (double)f->units + strewn;
}

/* Elements of a lane, and gaps in shared memory: some more than its part of the row, or gaps as far
 * apart as a power of two, where the lanes of a warp meet in fewer banks so. Returns the cost. */
static double part_lanes(const qn_fold_making *m, int64_t room)
{
    qn_fold *f = m->fold;
    const int64_t part = qn_over(f->units, f->workers);
    int64_t each = part;
    uint8_t gap = 0;
    double least = INFINITY;
    bool meet = true;
    f->form.gap = 0;
    for (f->head = part; f->head <= part + MOST_MORE && meet; f->head++) {
        const double words = words_given(m), cost = element_cost(m, words, WORD_COST);
        each = cost < least ? f->head : each;
        least = QN_MIN(least, cost);
        meet = words > accesses(m); /* else more elements, or gaps, can only cost more */
    }
    f->head = part;
    for (f->form.gap = LEAST_GAP; f->form.gap <= MOST_GAP && meet; f->form.gap++) {
        const double words = words_given(m);
        const double cost = all_rooms(m) <= room ? element_cost(m, words, WORD_COST) : INFINITY;
        each = cost < least ? part : each;
        gap = cost < least ? f->form.gap : gap;
        least = QN_MIN(least, cost);
        meet = words > accesses(m);
    }
    f->head = each;
    f->form.gap = gap;
    return least;
}

/* What a way to share rows out costs; it is kept in *best where that is less than *least. */
static void try_lanes(const qn_fold_making *m, int64_t room, qn_fold_decided *best, double *least)
{
    const double cost = part_lanes(m, room);
    if (cost < *least) {
        memcpy(best->bytes, m->fold, sizeof best->bytes);
        *least = cost;
    }
}

/* Lanes of a row, and what they take. Neighbours: of those that leave no thread without elements,
 * and of twice as many and so on up to a warp, with which rows come in turns and lanes meet in
 * other banks. Strewn, if all columns are under way at once: all threads. */
static void choose_lanes(const qn_fold_making *m, int64_t room)
{
    qn_fold *f = m->fold;
    qn_fold_decided best;
    double least = INFINITY;
    const uint32_t fill = choose_workers(f, f->chunk);
    f->form.strewn = 0;
    for (uint32_t workers = fill;
         workers == fill || (workers <= QN_WARP && 4 * workers <= f->units); workers *= 2) {
        f->workers = workers;
        try_lanes(m, room, &best, &least);
    }
    f->workers = (uint32_t)QN_MIN(QN_FOLD_BLOCK / f->chunk, f->units / 4);
    if (f->form.woven && f->workers > 1) {
        f->form.strewn = 1;
        try_lanes(m, room, &best, &least);
    }
    memcpy(f, best.bytes, sizeof best.bytes);
}

static double packed_cost(const qn_fold_making *m)
{
    const qn_fold *f = m->fold;
    double cost = element_cost(m, words_given(m), MILD_COST);
    for (size_t k = 0; k < m->count; k++) {
        cost += qn_fold_run_cost(m->operands[k].item_size);
    }
    const double tile = (double)f->outputs / (double)f->groups * (double)f->units; /* in the mean */
    return cost + BLOCK_COST / tile;
}

/* True where rows are whole packs of some operand's 16 bytes, of which few leave a warp's lanes
 * idle. */
static bool has_wide_packs(const qn_fold_making *m)
{
    const qn_fold_form *f = &m->fold->form;
    uint32_t widest = 0;
    for (size_t k = 0; k < m->count; k++) {
        widest = QN_MAX(widest, f->access[k] == QN_ACCESS_VECTOR ? m->operands[k].item_size : 0u);
    }
    return !f->staged && !f->ragged && f->lanes > 1 && f->lanes * widest >= QN_ACCESS_BYTES;
}

/* Lay whole rows in tiles. False: not even the columns that lie side by side have room in one. */
static bool lay_rows(const qn_fold_making *m, int64_t elements)
{
    qn_fold *f = m->fold;
    f->form.pieces = 0;
    if (elements == 0 || !lies_on(m)) {
        return false;
    }
    f->units = f->length;
    f->chunk = choose_rows(m, elements / f->length);
    if (f->chunk == 0) {
        return false;
    }
    f->across = f->extent[f->form.kept - 1];
    f->across *= f->form.woven ? f->extent[f->form.kept - 2] : 1;
    f->beside = qn_over(f->across, f->chunk);
    return true;
}

/* Lay the columns that lie side by side in pieces, one after the other. */
static bool lay_pieces(const qn_fold_making *m, int64_t elements)
{
    qn_fold *f = m->fold;
    f->form.pieces = 1;
    if (elements == 0 || !f->form.woven || f->run > MOST_BESIDE || !lies_on(m) ||
        f->outputs / f->run < (int64_t)m->rules->processors * PIECE_TILES) {
        return false;
    }
    f->units = qn_over(f->length, qn_over(f->length, elements / f->run)); /* alike */
    f->chunk = f->across = f->run;
    f->beside = 1;
    return true;
}

/* The rest of such a plan. */
static void fill(const qn_fold_making *m, int64_t room)
{
    qn_fold *f = m->fold;
    f->form.lanes = 1;
    f->form.columns = f->form.strips = f->form.bundles = f->form.lines = f->form.parts = 0;
    f->form.staged = f->form.lone = f->form.line_in = f->form.line_out = 0;
    f->form.ragged = f->form.block = f->form.split = f->form.again = f->form.spread = 0;
    f->form.back = shares(m) ? QN_LINES_SHARED : QN_LINES_ROOM;
    f->form.steps = 1;
    f->rest = 0;
    memset(f->form.access, QN_ACCESS_CONTIGUOUS, m->count);
    f->place = f->chunk * f->units;
    choose_lanes(m, room);
    f->shared = (uint32_t)all_rooms(m);
    f->splits = 1;
    f->groups = f->outputs / f->across * f->beside;
    f->form.again = f->workers > 1;
    f->form.known = knows_length(f) ? (uint8_t)f->length : 0;
    f->form.broad = !f->form.strewn && f->workers > QN_WARP;
}

/* What is planned costs. Divided by these, packed rows have 7 units of time and others fewer: those
 * of whole wide packs 5.7 on an H200, those that begin or end inside a unit 5.2, and 2.8 where a
 * block has one. Of a copy's speed, so and packed: rows of 4086 float16 0.75 and 0.96, of 8190 0.70
 * and 0.96, of 16384 0.89 and 0.97, of 8190 int8 0.29 and 0.81, of 4086 int8 into int64 0.75 and
 * 0.92, of 8192 0.84 and 0.93, of 12000 uint8 into int32 0.69 and 0.86; but of 512 float16 0.97 and
 * 0.92, of 4096 int8 0.80 and 0.74. Bytes alone, of which a tile has no two rows, go by runs. */
static double others_cost(const qn_fold_making *m)
{
    const qn_fold *f = m->fold;
    const bool runs = f->form.split && widest_of(m) == 1 && f->length > MOST_TILE / 2;
    const double more = runs                                    ? 1
                        : f->form.ragged                        ? RAGGED_MORE
                        : !f->form.columns && has_wide_packs(m) ? WHOLE_MORE
                                                                : 1;
    return more * f->cost;
}

/* Rows that are split because they are too few for all processors. */
static bool has_few_rows(const qn_fold_making *m)
{
    const qn_fold *f = m->fold;
    return !f->form.columns && f->form.split &&
           f->outputs < (int64_t)m->rules->processors * FEW_ROWS;
}

void qn_fold_take_packed(const qn_fold_making *m, uint32_t value_size)
{
    qn_fold *f = m->fold;
    if (f->form.kept == 0 || f->form.reduced != 1 || f->length < 2 || has_few_rows(m) ||
        value_size == 0 || m->rules->positions || m->rules->pack_bytes == 0 || m->inputs == 0 ||
        m->inputs == m->count || !m->rules->repeats) {
        return;
    }
    const double others = others_cost(m);
    qn_fold_decided before;
    memcpy(before.bytes, f, sizeof before.bytes);
    f->form.woven = f->form.columns;
    f->run = f->form.woven ? f->extent[f->form.kept - 1] : 1;
    f->form.packed = 1;
    const int64_t shared = m->rules->shared;
    const int64_t larger = shared / LONG_BLOCKS - OTHER_BYTES;
    /* Strewn lanes and pieces of columns leave each other a value for each thread of the block. */
    const bool wide_values = f->form.woven && value_size > 8;
    int64_t room = QN_MIN(SHARED_BYTES - (wide_values ? OTHER_BYTES : 0), shared - OTHER_BYTES);
    bool laid = lay_rows(m, choose_tile(m, room));
    if (!laid && !f->form.woven && larger > room) {
        room = larger;
        laid = lay_rows(m, choose_tile(m, room));
    }
    if (laid || lay_pieces(m, choose_tile(m, room))) {
        fill(m, room);
        f->cost = packed_cost(m);
        if (f->cost < others) {
            return;
        }
    }
    memcpy(f, before.bytes, sizeof before.bytes);
}
