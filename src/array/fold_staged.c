/* SPDX-License-Identifier: MIT
 *
 * fold_staged: scans whose tiles wait in shared memory between the order of memory and that of the
 * scan. In: the plan of a scan without that. Out: the same plan, or a staged one where that costs
 * less. The thing to know: without a stage a lane has packs of its own, so what lies otherwise than
 * in aligned packs along the scan, or in rows shorter than a warp likes, wastes accesses and lanes.
 * With one, each element takes more instructions, but every operand is reached as it lies.
 */
#include "array/fold_scans.h"

#define ALONE  64 /* an output of at most so many elements has one thread */
#define BESIDE 32 /* outputs of a tile that lie side by side */

#define LEAST_BUSY   240   /* threads of a block that have elements */
#define LIST_BYTES   49152 /* of a list of outputs at most: one for each two elements of a tile */
#define OTHER_VALUES 5     /* of a thread in shared memory beside its elements: gaps, and parts */

/* Instructions for an element, as the generated code has them for sums of float32. */
#define STAGED_COST    34    /* an element: shared memory four times, its place twice */
#define BLOCK_COST     20000 /* a tile, whatever is in it: what its threads do once */
#define TILE_COST      60    /* an element of small tiles, which wait for each other; */
#define WAIT_COST      20    /* of several outputs, for each byte of a value */
#define WAYS_COST      8     /* an element that comes along scans and goes across them, or so */
#define UNIT_COST      40  /* a unit of a row: its place, its access, its part in the warp's scan */
#define COLUMN_COST    15  /* a unit of a column */
#define TRACK_COST     120 /* an output of a unit of columns, where several lanes share it */
#define KEPT_COST      12  /* a kept dimension of several, for each lane of a scan */
#define ELEMENT_COST   6   /* an element of a unit */
#define PIECE_COST     24  /* a unit that hangs over the end of a row, and each of its elements: */
#define PIECE_ELEMENTS 20
#define SPREAD_COST    6   /* an element that goes through shared memory to its output */
#define SECTOR_COST    128 /* an access of a sector that one lane alone needs */
#define NARROW_BYTES   2   /* elements of which a lane reads several from a sector: */
#define LOOK_COST      1   /* a byte that lanes are apart, where they read sectors in turn */
#define LONE_BYTES     64  /* lanes that are so far from each other seldom share a line: */
#define LONE_COST      400
#define ROW_COST       800 /* a short row of columns, far from the next: its lines are met again */
#define COPY_COST      16  /* an element that a kernel copies by tiles, besides its accesses */

/* What reaching an operand costs for an element, where neighbouring lanes are `apart` bytes from
 * each other. */
static double reach_cost(int64_t apart)
{
    return apart >= LONE_BYTES
               ? LONE_COST
               : (double)SECTOR_COST * (double)QN_MIN(apart, QN_SECTOR_BYTES) / QN_SECTOR_BYTES;
}

/* Bytes from one element to the next, along the last kept or reduced dimension. */
static int64_t inner_stride(const qn_fold *f, size_t k, bool across)
{
    int d = across ? f->form.kept - 1 : f->form.kept + f->form.reduced - 1;
    return d < 0 || (across ? f->form.kept : f->form.reduced) == 0 ? 0
                                                                   : qn_magnitude(f->stride[k][d]);
}

/* The dimension along which an operand is densest, the kept or the reduced one. */
static bool lies_across(const qn_fold *f, size_t k)
{
    if (f->form.kept == 0 || f->form.reduced == 0) {
        return f->form.kept != 0;
    }
    int64_t kept = qn_magnitude(f->stride[k][f->form.kept - 1]);
    int64_t reduced = qn_magnitude(f->stride[k][f->form.kept + f->form.reduced - 1]);
    return kept != 0 && (kept < reduced || reduced == 0);
}

/* Whether the operands [first, end) are walked across outputs: as the first does that moves. */
static bool walk_across(const qn_fold_making *m, size_t first, size_t end)
{
    const qn_fold *f = m->fold;
    for (size_t k = first; k < end; k++) {
        if (inner_stride(f, k, false) != 0 || inner_stride(f, k, true) != 0) {
            return lies_across(f, k);
        }
    }
    return false;
}

/* What an operand costs of which `window` neighbours are reached together, and each takes `lone`
 * along dimension `last`. Where that is short they go on along the next one, down to `first`, in
 * which they may lie closer. */
static double closer_cost(const qn_fold *f, size_t k, double lone, int64_t window, int last,
                          int first)
{
    double cost = lone;
    for (int d = last; d > first && window >= 2 * f->extent[d]; d--) {
        window /= f->extent[d];
        const double beside = (double)QN_MIN(window, f->extent[d - 1]);
        const double closer = reach_cost(qn_magnitude(f->stride[k][d - 1]));
        cost = QN_MIN(cost, QN_MAX(closer, lone / beside));
    }
    return cost;
}

/* What reaching an operand costs along rows in which its elements lie side by side. Short ones that
 * lie apart from each other fill no sectors; and where threads go down short rows of columns, each
 * row has a line of its own. */
static double dense_cost(const qn_fold *f, size_t k, uint32_t item)
{
    const int row = f->form.kept + f->form.reduced - 1, column = f->form.kept - 1;
    if (f->form.columns) {
        const bool apart =
            column > 0 && !f->form.strips && qn_magnitude(f->stride[k][column - 1]) > QN_LINE_BYTES;
        return QN_MAX(reach_cost(item), apart ? ROW_COST / (double)f->extent[column] : 0);
    }
    if (f->form.reduced != 1 || f->form.kept == 0 || f->extent[row] * item >= QN_SECTOR_BYTES) {
        return reach_cost(item);
    }
    const double lone = reach_cost(qn_magnitude(f->stride[k][column]));
    const int64_t rows = QN_FOLD_BLOCK * f->form.lanes / f->extent[row]; /* of a block */
    return QN_MAX(reach_cost(item),
                  closer_cost(f, k, lone, rows, column, 0) / (double)f->extent[row]);
}

double qn_fold_run_cost(uint32_t item_size)
{
    return reach_cost(item_size);
}

double qn_fold_copy_cost(uint32_t item_size, int64_t apart)
{
    return COPY_COST + reach_cost(item_size) + reach_cost(QN_MAX(apart, (int64_t)item_size));
}

/* The same for an operand whose elements lie strided along the lanes. What a lane reads of it,
 * element by element, is all of a few sectors where they are narrow, which wait in the processor's
 * cache; each write is one of its own. */
static double strided_cost(const qn_fold_making *m, size_t k, bool across)
{
    const qn_fold *f = m->fold;
    const int first = across ? 0 : f->form.kept;
    const int last = (across ? f->form.kept : f->form.kept + f->form.reduced) - 1;
    const int64_t apart = f->form.lanes * inner_stride(f, k, across);
    const bool waits = k < m->inputs && f->form.access[k] == QN_ACCESS_STRIDED &&
                       m->operands[k].item_size <= NARROW_BYTES && apart < LONE_BYTES;
    const double lone =
        waits ? QN_MAX(reach_cost(inner_stride(f, k, across)), LOOK_COST * (double)apart)
              : reach_cost(apart);
    return closer_cost(f, k, lone, (int64_t)QN_WARP * f->form.lanes, last, first);
}

/* ---- what the plan without a stage costs ---------------------------------------------------- */

static double direct_cost(const qn_fold_making *m)
{
    const qn_fold *f = m->fold;
    const int lanes = f->form.lanes;
    double unit = f->form.columns ? COLUMN_COST : UNIT_COST;
    if (f->form.ragged) {
        /* Two units of a row are pieces: that many warps take both ways. */
        double share = QN_MIN(1.0, 2.0 * QN_WARP / (double)f->units);
        unit += share * (PIECE_COST + PIECE_ELEMENTS * lanes);
    }
    double each = unit / lanes + ELEMENT_COST;
    if (f->form.strips) {
        each = qn_fold_strips_cost(f);
    } else if (f->form.columns && f->form.block) {
        each += (double)TRACK_COST / f->form.steps;
        each += f->form.split && lanes == 1 ? TILE_COST : 0;
    } else if (!f->form.columns && !f->form.block && f->form.kept > 1) {
        each += (double)(KEPT_COST * f->form.kept * f->workers) / (double)f->length;
    }
    /* Places for units that are not there cost as much. */
    int64_t places = qn_over(f->units, f->chunk) * f->chunk * (f->form.columns ? 1 : lanes);
    each *= f->form.block ? 1 : (double)places / (double)f->length;
    return each + qn_fold_reach_cost(m);
}

/* A thread that goes down its own column, in which the input lies on: whole sectors, if its steps
 * read them at once, but a line for each thread to look up. */
static double descent_cost(const qn_fold *f, size_t k)
{
    const double apart = (double)QN_MIN(inner_stride(f, k, true), (int64_t)QN_LINE_BYTES);
    const double read = (double)(inner_stride(f, k, false) * f->form.steps);
    const double whole = QN_MIN(1.0, read / QN_SECTOR_BYTES);
    return SECTOR_COST * apart / QN_LINE_BYTES + (LONE_COST - SECTOR_COST) * (1 - whole);
}

double qn_fold_reach_cost(const qn_fold_making *m)
{
    const qn_fold *f = m->fold;
    double reach = 0;
    for (size_t k = 0; k < m->count; k++) {
        const uint32_t item = m->operands[k].item_size;
        const bool in_words = f->form.access[k] == QN_ACCESS_WORDS ||
                              (f->form.parts && f->form.access[k] == QN_ACCESS_CONTIGUOUS);
        if (in_words || qn_fold_is_pack(f->form.access[k])) {
            reach += dense_cost(f, k, item);
        } else if (f->form.spread && k >= m->inputs) {
            reach += SPREAD_COST + reach_cost(inner_stride(f, k, false));
        } else if (f->form.access[k] != QN_ACCESS_BROADCAST) {
            const bool dense = f->form.access[k] == QN_ACCESS_CONTIGUOUS;
            const int64_t along = inner_stride(f, k, false);
            const bool lies_on = f->form.descends && f->form.lanes == 1 && k < m->inputs &&
                                 along < QN_SECTOR_BYTES && along < inner_stride(f, k, true);
            const double strided = strided_cost(m, k, f->form.columns);
            const double own = dense ? QN_MAX(strided, dense_cost(f, k, item)) : strided;
            reach += lies_on ? QN_MIN(own, descent_cost(f, k)) : own;
        }
    }
    return reach;
}

/* ---- the staged plan ------------------------------------------------------------------------ */

/* Elements of a thread: what a block holds at once in shared memory. */
static uint32_t thread_elements(uint32_t value_size)
{
    return value_size <= 8 ? 16 : 8;
}

/* True when what the operands [first, end) have in a tile of whole outputs, or of all `inner` side
 * by side, lies in one line: elements that follow each other are one stride apart. */
static bool lies_in_line(const qn_fold_making *m, size_t first, size_t end, bool across)
{
    const qn_fold *f = m->fold;
    const int kept = f->form.kept - 1, reduced = f->form.kept;
    if (m->rules->located || kept < 0 || f->form.reduced != 1 || (!across && kept > 0)) {
        return false;
    }
    for (size_t k = first; k < end; k++) {
        const int64_t *s = f->stride[k];
        bool line =
            across ? s[reduced] == f->extent[kept] * s[kept] : s[kept] == f->length * s[reduced];
        if (!line) {
            return false;
        }
    }
    return true;
}

/* True when, besides, the outer ones follow in the same line. */
static bool lies_on(const qn_fold *f, size_t count)
{
    const int outer = f->form.kept - 2;
    for (size_t k = 0; k < count && outer >= 0; k++) {
        if (f->stride[k][outer] != f->length * f->stride[k][f->form.kept]) {
            return false;
        }
    }
    return outer == 0;
}

static bool all_lie_across(const qn_fold_making *m)
{
    bool all = true;
    for (size_t k = 0; k < m->count; k++) {
        all &= lies_across(m->fold, k);
    }
    return all;
}

/* An output for each thread, or for several in turn. */
static void choose_alone(const qn_fold_making *m, int64_t room)
{
    qn_fold *f = m->fold;
    const bool across = f->form.stage_in && f->form.stage_out;
    const int64_t inner = across ? f->extent[f->form.kept - 1] : 1;
    f->form.staged = QN_STAGED_ALONE;
    f->chunk = f->length;
    int64_t beside = QN_MIN(room / f->length, f->outputs);
    bool line = lies_in_line(m, 0, m->count, f->form.stage_in);
    if (across && line && inner <= beside && (beside < 2 * inner || lies_on(f, m->count))) {
        beside = beside / inner * inner;
        f->head = inner;
    } else {
        /* one row, or several where one leaves threads without elements */
        const int64_t row = QN_MIN(beside, inner);
        const bool one = row * f->length >= LEAST_BUSY || !all_lie_across(m);
        f->head = beside = !across ? beside : one ? row : beside / row * row;
    }
    f->workers = (uint32_t)beside;
}

/* Outputs that lie side by side in a tile at most: for wide elements those of a line. */
static int64_t most_beside(const qn_fold_making *m)
{
    uint32_t widest = 1;
    for (size_t k = 0; k < m->count; k++) {
        widest = QN_MAX(widest, m->operands[k].item_size);
    }
    const int64_t line = QN_MIN(QN_LINE_BYTES / widest, BESIDE);
    return line + line / 4;
}

/* Outputs of a tile whose outputs have several threads: as many as lie side by side, if an operand
 * lies across them, and several such rows where they are short. */
static void choose_together(const qn_fold_making *m)
{
    qn_fold *f = m->fold;
    const int64_t steps = f->form.steps;
    int64_t beside = QN_MAX(1, QN_FOLD_BLOCK / qn_over(f->length, steps));
    bool lines = false; /* whole rows, which lie on in memory */
    if (f->form.stage_in || f->form.stage_out) {
        const int64_t row = f->extent[f->form.kept - 1], pieces = qn_over(row, most_beside(m));
        const int64_t piece = qn_over(row, pieces);
        beside = pieces == 1 ? QN_MAX(beside / row, 1) * row : QN_MAX(beside, piece);
        lines = pieces == 1 && f->form.columns && lies_in_line(m, 0, m->count, true) &&
                lies_on(f, m->count);
    }
    beside = QN_MIN(beside, QN_MIN(f->outputs, QN_FOLD_BLOCK));
    f->form.staged = QN_STAGED_TOGETHER;
    f->workers = (uint32_t)beside;
    f->head = lines ? f->extent[f->form.kept - 1] : beside;
    int64_t most = QN_FOLD_BLOCK / beside * steps;
    f->splits = qn_over(f->length, most);
    f->chunk = qn_over(qn_over(f->length, f->splits), steps) * steps;
}

static void choose_tiles(const qn_fold_making *m)
{
    qn_fold *f = m->fold;
    if (f->length <= ALONE) {
        choose_alone(m, QN_FOLD_BLOCK * f->form.steps);
    } else {
        choose_together(m);
    }
    f->splits = qn_over(f->length, f->chunk);
    f->groups = qn_over(f->outputs, f->workers);
    f->form.split = f->splits > 1;
    f->form.lone = f->workers == 1;
    if (f->form.lone) {
        f->form.stage_in = f->form.stage_out = f->form.columns = 0;
    }
    /* A tile of some of the outputs that lie side by side is not in a line. */
    bool whole = f->form.stage_in ? f->form.kept > 0 && f->head == f->extent[f->form.kept - 1]
                                  : !f->form.split;
    whole &= f->form.stage_in == f->form.columns;
    f->form.line_in = f->form.lone || (whole && lies_in_line(m, 0, m->inputs, f->form.stage_in));
    /* Post may ask for inputs at the places of outputs, so those lie in a line too. */
    f->form.line_out = f->form.line_in &&
                       (f->form.lone || (whole && f->form.stage_out == f->form.stage_in &&
                                         lies_in_line(m, m->inputs, m->count, f->form.stage_out)));
}

/* The same of a tile, outputs side by side first: rows that do not follow each other. */
static double across_cost(const qn_fold *f, size_t k)
{
    const int64_t apart = inner_stride(f, k, true), next = inner_stride(f, k, false);
    const int64_t extent = f->extent[QN_MAX(f->form.kept, 1) - 1];
    const bool follows = next == apart * extent || next <= QN_SECTOR_BYTES;
    return QN_MAX(reach_cost(apart), follows ? 0 : reach_cost(next) / (double)extent);
}

static double staged_cost(const qn_fold_making *m, uint32_t value_size)
{
    const qn_fold *f = m->fold;
    /* A tile that is the whole of its outputs waits for none. */
    const double wait = f->form.lone ? TILE_COST : WAIT_COST * value_size;
    double cost = STAGED_COST + (f->form.split ? wait : 0);
    cost += f->form.stage_in != f->form.stage_out ? WAYS_COST : 0;
    cost += (double)BLOCK_COST / ((double)f->workers * (double)f->chunk);
    for (size_t k = 0; k < m->count; k++) {
        const uint32_t item = m->operands[k].item_size;
        const bool across = k < m->inputs ? f->form.stage_in : f->form.stage_out;
        const int64_t apart = inner_stride(f, k, across);
        cost += across          ? across_cost(f, k)
                : apart == item ? dense_cost(f, k, item)
                                : reach_cost(apart);
    }
    return cost;
}

void qn_fold_stage(const qn_fold_making *m, uint32_t value_size)
{
    qn_fold *f = m->fold;
    if (value_size == 0 || value_size > 16 || f->length < 2 || f->outputs == 0) {
        return;
    }
    const double direct = direct_cost(m);
    if (f->form.parts) { /* single elements, but in words */
        f->cost = direct;
        return;
    }
    qn_fold_decided before;
    memcpy(before.bytes, f, sizeof before.bytes);
    f->form.lanes = 1;
    f->form.columns = f->form.ragged = f->form.block = 0;
    f->form.again = f->form.spread = 0;
    f->form.strips = f->form.bundles = f->form.lines = f->form.back = 0;
    f->form.steps = (uint8_t)thread_elements(value_size);
    f->units = f->length;
    f->form.stage_in = walk_across(m, 0, m->inputs);
    f->form.stage_out = walk_across(m, m->inputs, m->count);
    f->form.columns = f->form.stage_in && f->form.stage_out;
    choose_tiles(m);
    qn_fold_choose_access(m);
    const double staged = staged_cost(m, value_size);
    if (staged >= direct) {
        memcpy(f, before.bytes, sizeof before.bytes);
    }
    f->cost = QN_MIN(staged, direct);
}

/* Where a block goes along rows that are not one line, whole rows at a time, if few threads are
 * left over then. An output's only thread has too few registers for it: on an H200 rows of 15
 * float16 went at 0.36 of a copy's speed so, at 0.72 without; rows of 128 uint8 into int32 at 0.77
 * and 0.49. */
static void choose_pace(const qn_fold_making *m)
{
    qn_fold *f = m->fold;
    const int64_t rows = QN_FOLD_BLOCK / f->length;
    const bool in = !f->form.stage_in && !f->form.line_in,
               out = !f->form.stage_out && !f->form.line_out;
    f->form.paced = f->form.staged == QN_STAGED_TOGETHER && (in || out) && !f->form.split &&
                    rows * f->length >= LEAST_BUSY && f->workers <= rows * f->form.steps;
}

/* Where the outputs of a tile lie takes divisions for several kept dimensions, and each element
 * asks twice. A list has it once for each output. Tiles that look back lost by it. */
static void choose_list(const qn_fold_making *m, uint32_t value_size)
{
    qn_fold *f = m->fold;
    const uint32_t list = (uint32_t)(f->workers * m->count * sizeof(int64_t));
    const uint32_t tile = QN_FOLD_BLOCK * (f->form.steps + OTHER_VALUES) * value_size;
    f->form.listed = f->form.kept > 1 && !f->form.split && !f->form.line_in && !m->rules->located &&
                     list <= LIST_BYTES && tile + list <= m->rules->shared;
    f->shared = f->form.listed ? list : 0;
}

void qn_fold_settle_stage(const qn_fold_making *m, uint32_t value_size)
{
    choose_pace(m);
    choose_list(m, value_size);
}
