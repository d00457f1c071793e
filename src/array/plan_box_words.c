/* SPDX-License-Identifier: MIT
 *
 * plan_box_words: boxes of whole words, for small arrays of a batch that operands have in different
 * orders, such as images with channels last and first. In: a plan with sorted and merged
 * dimensions. Out: the plan with the dimensions of boxes split, as plan_boxes.c has them. The thing
 * to know: every box begins where a word does, in all operands, so a thread has the same words and
 * the same packs of each box, and finds once where they lie.
 */
#include "array/plan_boxing.h"

#define BLOCK         256   /* threads */
#define MOST_BYTES    32768 /* of the inputs that go through shared memory, for a box */
#define BATCH_BYTES   16384 /* the same where a box has several arrays: see choose_batch() */
#define LEAST_SHIFT   5     /* gaps come after 2^5 bytes at least */
#define MOST_ELEMENTS 12288 /* of a box: 48 a thread, whose places wait in registers */
#define MOST_TURNS    16    /* packs of a thread, of which each repeats the code */
#define MOST_BESIDE   64    /* bytes of other inputs that a thread has under way */
#define WIDEST        8     /* bytes of an element that goes through shared memory */
#define LEAST_WORD    8     /* bytes of what a thread moves at once */
#define MOST_PACK     32    /* bytes of a pack, of any operand */
#define ROW           32    /* bytes of a row, where boxes are not one piece of memory: a sector */
#define MANY          1056  /* boxes that keep all processors busy */
#define NEAR          (1 << 30) /* bytes inside of a box */
#define WARP          32
#define BANKS         32 /* of shared memory, and their bytes: */
#define BANK          4
#define HALF          2    /* bytes of an element of which parts of an array do worse */
#define BETTER        1.15 /* times as cheap as walked otherwise */
#define ENOUGH_FILLED 0.9  /* of tiles, which then do as well */
#define MANY_TILES    3    /* of which the last is a small part */
#define FEW           1024 /* elements of a box, for which its threads wait as long as they work */
#define NARROW        0.9  /* of the speed, with words of 8 bytes */
#define RAGGED        12   /* bytes more that rows of an input cost if they end within a sector */
#define BETTER_PART   1.02 /* times as good as a larger part */

typedef struct words {
    const qn_plan *plan;
    const qn_operand *operands;
    size_t operand_count, output;
    int ndim, first;                /* dimensions; the first of the small arrays */
    int64_t elements;               /* of a small array */
    int split;                      /* the dimension of which a box has a part */
    int64_t extent[QUERN_MAX_NDIM]; /* of a box */
    bool turned[QUERN_MAX_PARAMETERS];
    bool repeated[QUERN_MAX_PARAMETERS]; /* the same for all of a small array */
    uint8_t word[QUERN_MAX_PARAMETERS];  /* bytes that operands allow to be moved at once */
    uint8_t moves[QUERN_MAX_PARAMETERS];
    int lanes, turns;
} words;

/* ---- the small arrays ----------------------------------------------------------------------- */

/* The dimension from `first` on along which neighbours are `stride` bytes apart; -1: none. */
static int dimension_of(const words *w, size_t k, int first, int64_t stride)
{
    for (int d = w->ndim - 1; d >= first; d--) {
        if (w->plan->stride[k][d] == stride) {
            return d;
        }
    }
    return -1;
}

/* The operand has the dimensions from `first` on in one piece, or one element for all of it. Says
 * whether it has them in another order than they are walked in. */
static bool is_piece(const words *w, size_t k, int first, bool *turned, bool *repeated)
{
    int64_t stride = w->operands[k].item_size, elements = 1;
    *turned = false;
    *repeated = true;
    for (int d = first; d < w->ndim; d++) {
        *repeated &= w->plan->stride[k][d] == 0;
        elements *= w->plan->extent[d];
    }
    if (*repeated) {
        return !w->operands[k].output;
    }
    for (int d = w->ndim - 1; d >= first; d--) {
        const int at = dimension_of(w, k, first, stride);
        if (at < 0) {
            return false;
        }
        *turned |= at != d;
        stride *= w->plan->extent[at];
    }
    return stride == elements * (int64_t)w->operands[k].item_size;
}

/* The innermost dimensions that every operand has in one piece, some in another order. */
static bool find_small(words *w)
{
    for (w->first = w->ndim - 2; w->first > 0; w->first--) {
        bool pieces = true, any = false;
        for (size_t k = 0; k < w->operand_count && pieces; k++) {
            pieces = is_piece(w, k, w->first, &w->turned[k], &w->repeated[k]);
            any |= w->turned[k];
        }
        if (pieces && any) {
            w->elements = 1;
            for (int d = w->first; d < w->ndim; d++) {
                w->elements *= w->plan->extent[d];
            }
            return true;
        }
    }
    return false;
}

/* ---- a box ---------------------------------------------------------------------------------- */

/* Bytes of a row of the operand in a box: what lies on in memory. `inside`: a bit for each
 * dimension of these. */
static int64_t row_of(const words *w, size_t k, unsigned *inside)
{
    int64_t stride = w->operands[k].item_size;
    const int first = QN_MIN(w->split, w->first);
    *inside = 0;
    for (int at = dimension_of(w, k, first, stride); at >= 0;
         at = dimension_of(w, k, first, stride)) {
        if (*inside >> at & 1) {
            break;
        }
        *inside |= 1u << at;
        stride *= w->extent[at];
    }
    return stride;
}

/* The widest words that rows of the operand are made of, wherever a box begins. */
static int64_t word_of(const words *w, size_t k)
{
    unsigned inside;
    uint64_t all = (uint64_t)row_of(w, k, &inside) | (uintptr_t)w->plan->base[k];
    for (int d = 0; d < w->ndim; d++) {
        const bool boxes = d == w->split || d < w->first;
        if (!(inside >> d & 1)) {
            all |= (uint64_t)qn_magnitude(w->plan->stride[k][d]);
        } else if (boxes) {
            all |= (uint64_t)(w->plan->stride[k][d] * w->extent[d]);
        }
    }
    return (int64_t)QN_MIN(all & -all, (uint64_t)QN_ACCESS_BYTES);
}

static int64_t box_elements(const words *w)
{
    int64_t elements = w->split < w->first ? w->extent[w->split] : 1;
    for (int d = w->first; d < w->ndim; d++) {
        elements *= w->extent[d];
    }
    return elements;
}

/* One element for each small array, of which a box has several: one for a pack. */
static bool is_held(const words *w, size_t k)
{
    return w->repeated[k] && w->extent[w->split] > 1 && w->plan->stride[k][w->split] != 0;
}

/* Shared memory for words of so many bytes, with all gaps that choose_gaps() may want. */
static int64_t room_of(int64_t bytes, int64_t item)
{
    const int64_t gaps = (bytes >> LEAST_SHIFT) + (bytes >> (LEAST_SHIFT + 5));
    return bytes + gaps * QN_MAX(item, (int64_t)BANK);
}

/* All operands go by words, no thread has too many, and shared memory has room. */
static bool fits(words *w)
{
    const int64_t elements = box_elements(w);
    const int64_t item = w->operands[w->output].item_size;
    int64_t lanes = word_of(w, w->output) / item, bytes = 0, room = 0, beside = 0;
    for (size_t k = 0; k < w->operand_count; k++) {
        const int64_t apart = w->plan->stride[k][w->split], count = w->extent[w->split];
        if (count > 1 && ((w->turned[k] && apart <= 0) || qn_magnitude(apart) >= NEAR / count)) {
            return false;
        }
        const int64_t own = w->operands[k].item_size;
        const int64_t word = w->repeated[k] ? QN_ACCESS_BYTES : word_of(w, k);
        unsigned inside;
        if (!w->repeated[k] &&
            (word < QN_MAX(own, (int64_t)LEAST_WORD) ||
             (row_of(w, k, &inside) < ROW && row_of(w, k, &inside) < elements * own))) {
            return false;
        }
        w->word[k] = (uint8_t)word;
        if (w->turned[k]) {
            bytes += elements * own;
            w->moves[k] = (uint8_t)qn_over(elements * own, word * BLOCK);
            room += room_of(w->moves[k] * word * BLOCK, own);
        } else if (w->repeated[k]) {
            while (is_held(w, k) && w->elements % lanes != 0) {
                lanes /= 2;
            }
        } else {
            beside += w->operands[k].output ? 0 : own;
            while (lanes > 1 && (lanes * own > MOST_PACK ||
                                 word < QN_MIN(lanes * own, (int64_t)QN_ACCESS_BYTES))) {
                lanes /= 2;
            }
        }
    }
    /* the last box of a batch has whole words, too */
    const int64_t part = w->plan->extent[w->split] % w->extent[w->split];
    for (size_t k = 0; k < w->operand_count && part != 0; k++) {
        if (!w->repeated[k] && w->elements * w->operands[k].item_size % w->word[k] != 0) {
            return false;
        }
    }
    w->lanes = (int)lanes;
    w->turns = (int)qn_over(elements, lanes * BLOCK);
    return lanes * item >= LEAST_WORD && (part == 0 || w->elements % lanes == 0) &&
           w->turns <= MOST_TURNS && w->turns * lanes * BLOCK <= MOST_ELEMENTS &&
           bytes <= MOST_BYTES && room <= QN_STATIC_BYTES &&
           w->turns * lanes * beside <= MOST_BESIDE;
}

/* Elements of a box of `count` along the split dimension, of those for which threads have room;
 * 0: it does not fit. */
static double filled(words *w, int64_t count)
{
    w->extent[w->split] = count;
    if (!fits(w)) {
        return 0;
    }
    double part = (double)box_elements(w) / ((double)w->turns * w->lanes * BLOCK);
    return w->plan->count / box_elements(w) < MANY ? part / 2 : part;
}

/* As many small arrays as threads are busy with: of `most` elements together, or one. Larger boxes
 * of several gain 1 % on an H200, of halves 3 %, for twice the code. */
static bool choose_batch(words *w, int64_t most)
{
    int64_t best = 0;
    double part = 0;
    w->split = w->first - 1;
    const int64_t fit = QN_MAX(most / w->elements, INT64_C(1));
    for (int64_t count = QN_MIN(fit, w->plan->extent[w->split]); count > 0; count--) {
        const double own = filled(w, count);
        if (own > part * BETTER_PART) {
            part = own;
            best = count;
        }
    }
    return best > 0 && filled(w, best) > 0;
}

/* What a part of so many is worth: threads that have room for its elements, and much to do from box
 * to box; the widest words; rows that fill sectors, of the output above all, which memory reads
 * before it writes parts of them. */
static double worth(words *w, int64_t count)
{
    double part = filled(w, count);
    part *= part > 0 ? (double)box_elements(w) / (double)(box_elements(w) + FEW) : 1;
    for (size_t k = 0; k < w->operand_count && part > 0; k++) {
        unsigned inside;
        const int64_t row = row_of(w, k, &inside);
        if (w->repeated[k]) {
            continue;
        }
        part *= w->word[k] == QN_ACCESS_BYTES ? 1 : NARROW;
        if (row % QN_SECTOR_BYTES != 0) {
            const int64_t more = w->operands[k].output ? 2 * QN_SECTOR_BYTES : RAGGED;
            part *= (double)row / (double)(row + more);
        }
    }
    return part;
}

/* Parts of a small array that is too large, all alike: the one that is worth most, and of such the
 * one with the longest rows. */
static bool choose_part(words *w, int64_t most)
{
    int64_t count = 0;
    int split = w->first;
    double best = 0;
    for (w->split = w->first; w->split < w->ndim; w->split++) {
        const int64_t whole = w->plan->extent[w->split], beside = w->elements / whole;
        for (int64_t own = QN_MIN(most / beside, whole - 1); own > 1; own--) {
            const double part = whole % own == 0 ? worth(w, own) : 0;
            if (part > best * BETTER_PART) {
                best = part;
                count = own;
                split = w->split;
            }
        }
        w->extent[w->split] = whole;
    }
    w->split = split;
    return best > 0 && filled(w, count) > 0;
}

static bool choose(words *w)
{
    int64_t item = 0;
    bool halves = true;
    for (size_t k = 0; k < w->operand_count; k++) {
        item += w->turned[k] ? w->operands[k].item_size : 0;
        halves &= w->operands[k].item_size == HALF;
    }
    item = QN_MAX(item, INT64_C(1));
    const int64_t most = QN_MIN((int64_t)MOST_ELEMENTS, MOST_BYTES / item);
    for (int d = 0; d < w->ndim; d++) {
        w->extent[d] = d < w->first ? 1 : w->plan->extent[d];
    }
    if (w->elements > most && halves && qn_plan_box_runs(w->operands, w->operand_count)) {
        return false; /* in runs 196 x 64 float16 go at 0.86 of a copy's speed on an H200, in parts
                         of 16 KB at 0.74 */
    }
    return (w->elements <= most && choose_batch(w, BATCH_BYTES / item)) || choose_part(w, most);
}

/* ---- where shared memory has elements ------------------------------------------------------- */

/* Where a box has element `at` of the walk, of an operand, in the order of memory. */
static int64_t place_of(const qn_plan *p, const qn_box_way *way, int64_t at)
{
    int64_t coordinate[QUERN_MAX_NDIM] = {0}, place = 0;
    for (int d = p->form.ndim - 1; d >= p->form.box; d--) {
        coordinate[d] = at % p->extent[d];
        at /= p->extent[d];
    }
    for (int j = 0; j < way->count; j++) {
        place = place * p->extent[way->order[j]] + coordinate[way->order[j]];
    }
    return place;
}

/* How often the threads of a warp meet in a bank, when each takes the elements of its pack one
 * after another, with gaps after 2^`shift` bytes: berth() of freight.cuh. */
static int conflicts(const qn_plan *p, size_t k, int64_t item, int shift)
{
    const int64_t grain = QN_MAX(item, (int64_t)BANK);
    int met = 0;
    for (int lane = 0; lane < p->form.lanes; lane++) {
        int64_t word[WARP];
        int users[BANKS] = {0}, most = 0;
        for (int thread = 0; thread < WARP; thread++) {
            const int64_t at = item * place_of(p, &p->form.way[k], thread * p->form.lanes + lane);
            word[thread] = (at + ((at >> shift) + (at >> (shift + 5))) * grain) / grain;
            bool shared = false;
            for (int other = 0; other < thread && !shared; other++) {
                shared = word[other] == word[thread];
            }
            int *const bank = &users[word[thread] % (BANKS * BANK / grain)];
            *bank += !shared;
            most = QN_MAX(most, *bank);
        }
        met += most;
    }
    return met;
}

/* Gaps with which threads meet least. */
static void choose_gaps(qn_plan *p, const words *w)
{
    static const uint8_t shifts[] = {7, LEAST_SHIFT};
    int least = INT32_MAX;
    for (size_t s = 0; s < sizeof shifts; s++) {
        int met = 0;
        for (size_t k = 0; k < w->operand_count; k++) {
            met += w->turned[k] ? conflicts(p, k, w->operands[k].item_size, shifts[s]) : 0;
        }
        if (met < least) {
            least = met;
            p->form.gaps = shifts[s];
        }
    }
}

/* ---- the plan ------------------------------------------------------------------------------- */

static bool may_be(words *w)
{
    size_t outputs = 0;
    for (size_t k = 0; k < w->operand_count; k++) {
        const qn_operand *o = &w->operands[k];
        outputs += o->output;
        w->output = o->output ? k : w->output;
        if (o->loose || o->item_size > 2 * WIDEST) {
            return false;
        }
    }
    if (outputs != 1 || w->operand_count > QN_BOX_WAYS || !find_small(w) || w->turned[w->output]) {
        return false;
    }
    for (size_t k = 0; k < w->operand_count; k++) {
        const bool wide = w->operands[k].item_size > WIDEST;
        if (w->turned[k] &&
            (wide ||
             qn_operands_overlap(&w->operands[k], &w->operands[w->output]) != QN_OVERLAP_NONE)) {
            return false;
        }
    }
    return w->ndim - w->first + 1 <= QN_BOX_DIMS && w->elements < NEAR;
}

/* How an operand that goes through shared memory lies in a box. */
static void choose_way(qn_plan *p, const words *w, size_t k)
{
    qn_box_way *way = &p->form.way[k];
    for (int d = p->form.box; d < p->form.ndim; d++) {
        int at = way->count++;
        for (; at > 0 && p->stride[k][d] > p->stride[k][way->order[at - 1]]; at--) {
            way->order[at] = way->order[at - 1];
        }
        way->order[at] = (uint8_t)d;
    }
    way->word = w->word[k];
    way->moves = w->moves[k];
}

static void put_dim(qn_plan *p, const words *w, const qn_plan *was, int at, int d, bool inside)
{
    p->extent[at] = inside ? w->extent[d] : qn_over(was->extent[d], w->extent[d]);
    for (size_t k = 0; k < w->operand_count; k++) {
        p->stride[k][at] = was->stride[k][d] * (inside ? 1 : w->extent[d]);
    }
}

/* Dimensions outside of boxes, of which the last numbers the boxes along what is split, and those
 * inside. */
static void put(qn_plan *p, const words *w, const qn_plan *was)
{
    qn_plan_form *f = &p->form;
    const int64_t whole = was->extent[w->split], count = w->extent[w->split];
    int at = 0;
    for (int d = 0; d < w->first; d++) {
        if (d != w->split) {
            put_dim(p, w, was, at++, d, false);
        }
    }
    put_dim(p, w, was, at++, w->split, false);
    f->box = (uint8_t)at;
    if (whole % count != 0) {
        f->cuts = 1;
        f->cut[0] = (uint8_t)at;
        p->last[0] = whole % count;
    }
    for (int d = QN_MIN(w->first, w->split); d < w->ndim; d++) {
        if (w->extent[d] > 1) {
            put_dim(p, w, was, at++, d, true);
        }
    }
    f->ndim = (uint8_t)at;
    f->boxed = f->words = 1;
    f->lanes = (uint8_t)w->lanes;
    f->turns = (uint8_t)w->turns;
    p->head = p->rest = 0;
    p->packs = 1;
    for (int d = 0; d < f->box; d++) {
        p->packs *= p->extent[d];
    }
    for (size_t k = 0; k < w->operand_count; k++) {
        f->access[k] = (uint8_t)(w->turned[k]     ? QN_ACCESS_TILED
                                 : is_held(w, k)  ? QN_ACCESS_HELD
                                 : w->repeated[k] ? QN_ACCESS_BROADCAST
                                                  : QN_ACCESS_VECTOR);
        if (w->turned[k]) {
            choose_way(p, w, k);
        }
    }
}

/* Tiles, which have twice the side for bytes, are filled; or, of elements of a word or more, which
 * go by tiles one by one, all but the last of several. */
static bool fills_tiles(const words *w, int side)
{
    for (size_t k = 0; k < w->operand_count; k++) {
        const int d = qn_plan_dense(w->plan, &w->operands[k], k, w->ndim);
        if (d < 0) {
            continue;
        }
        const uint32_t item = w->operands[k].item_size;
        const int64_t inner = w->plan->extent[w->ndim - 1], own = item == 1 ? 2 * side : side;
        const double filled = qn_boxing_filled(w->plan, w->ndim, d, own);
        const double line = (double)inner / (double)(qn_over(inner, own) * own);
        return filled >= ENOUGH_FILLED ||
               (item >= BANK && line >= ENOUGH_FILLED && w->plan->extent[d] >= MANY_TILES * own);
    }
    return false;
}

bool qn_plan_box_words(qn_plan *plan, const qn_operand *operands, size_t operand_count, int ndim,
                       int side)
{
    words w = {.plan = plan, .operands = operands, .operand_count = operand_count, .ndim = ndim};
    qn_boxing b;
    if (ndim < 3 || ndim == QUERN_MAX_NDIM ||
        !qn_boxing_begin(&b, plan, operands, operand_count, ndim, true) ||
        qn_boxing_walk_cost(&b) < BETTER * qn_boxing_words_cost(&b) || fills_tiles(&w, side) ||
        !may_be(&w) || !choose(&w)) {
        return false;
    }
    const qn_plan was = *plan;
    put(plan, &w, &was);
    choose_gaps(plan, &w);
    return true;
}
