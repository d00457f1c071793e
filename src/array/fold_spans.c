/* SPDX-License-Identifier: MIT
 *
 * fold_spans: reductions whose kept and reduced positions alternate in memory. In: the plan of a
 * reduction by rows or columns. Out: the same plan, or one by *spans*, where that one reads memory
 * in small pieces. The thing to know: a span is a stretch of memory of which the same stretch comes
 * again and again, as many elements further: `across` outputs, each with `run` reduced elements
 * side by side, and of that so many repetitions that a span is whole packs. A thread has a pack of
 * the span, and goes from span to span with a value for each lane, so that memory is read densely
 * whatever the extents are; in the end the lanes of an output meet in shared memory.
 *
 * Dimensions of such a plan: the kept ones outside of spans (`form.outer`), those inside, the lanes
 * of a span; then the reduced ones outside, and the spans of a line if they follow each other.
 */
#include "array/fold_spanning.h"
#include <string.h>

#define MOST_MEETING   32     /* threads of an output in the end, of one warp */
#define ROOM_BYTES     32768  /* of shared memory for the values of a span */
#define LARGEST_VALUE  64     /* bytes, where it is not known */
#define COSTLY_LANES   8      /* of values that are costly to keep or to come by */
#define LEAST_UNITS    4      /* of a thread */
#define MORE_GROUPS    3      /* blocks that may share a span, besides those that must */
#define LEAST_PACKS    32     /* of each of them: they lie on in memory */
#define LEAST_ELEMENTS 16384  /* of a block */
#define LEFT_OVER      32     /* one in so many elements may be left over by spans, at most */
#define MOST_LEFT      262144 /* values that blocks leave for each other */
#define COUNTERS       8192   /* outputs outside of spans that blocks share */

/* True when input `k` is the same along dimension `d`, or goes on there after `before` elements. */
static bool goes_on(const qn_fold_making *m, const qn_fold_span *s, size_t k, int d, int64_t before)
{
    const int64_t stride = m->fold->stride[k][d];
    return s->dense[k] ? stride == before * m->operands[k].item_size : stride == 0;
}

/* The dimension, of the kept or of the reduced ones, along which all inputs go on; or -1. */
static int next_dim(const qn_fold_making *m, const qn_fold_span *s, bool reduced, int64_t before)
{
    const qn_fold *f = m->fold;
    const int first = reduced ? f->form.kept : 0;
    const int last = reduced ? f->form.kept + f->form.reduced : f->form.kept;
    for (int d = first; d < last; d++) {
        bool all = !s->used[d];
        for (size_t k = 0; k < m->inputs && all; k++) {
            all = goes_on(m, s, k, d, before);
        }
        if (all) {
            return d;
        }
    }
    return -1;
}

/* Inputs are dense, or the same along a span. */
static bool sort_inputs(const qn_fold_making *m, qn_fold_span *s)
{
    const qn_fold *f = m->fold;
    bool any = false;
    for (size_t k = 0; k < m->inputs; k++) {
        for (int d = 0; d < f->form.kept + f->form.reduced; d++) {
            s->dense[k] |= f->stride[k][d] == m->operands[k].item_size && f->extent[d] > 1;
        }
        const uint32_t item = m->operands[k].item_size;
        any |= s->dense[k];
        if (s->dense[k] && (item & (item - 1)) != 0) {
            return false;
        }
    }
    return any;
}

static bool find_span(const qn_fold_making *m, qn_fold_span *s)
{
    const qn_fold *f = m->fold;
    *s = (qn_fold_span){.across = 1, .run = 1};
    if (!sort_inputs(m, s)) {
        return false;
    }
    s->inner = next_dim(m, s, true, 1);
    if (s->inner >= 0) {
        s->used[s->inner] = true;
        s->run = f->extent[s->inner];
    }
    for (int d; (d = next_dim(m, s, false, s->across * s->run)) >= 0;) {
        s->used[d] = true;
        s->inside[s->count++] = d;
        if (qn_fold_span_is_long(m, s, f->extent[d])) {
            s->part = qn_fold_span_part(m, s, f->extent[d]);
            s->across *= s->part;
            break;
        }
        s->across *= f->extent[d];
    }
    s->line = s->count > 0 && s->part == 0 ? next_dim(m, s, true, s->across * s->run) : -1;
    s->elements = s->across * s->run;
    if (s->line >= 0) {
        s->used[s->line] = true;
        s->elements *= f->extent[s->line];
    }
    return s->count > 0 && s->across > 1 && s->across <= QN_SPAN_OUTPUTS;
}

/* Positions in C order: the last of the reduced dimensions is the run, the one before it lines. */
static bool is_in_order(const qn_fold_making *m, const qn_fold_span *s)
{
    int last = m->fold->form.kept + m->fold->form.reduced - 1;
    if (s->inner >= 0 && s->inner != last--) {
        return false;
    }
    return s->line < 0 || s->line == last;
}

/* Elements by which `bytes` are off the alignment of packs of operand `k`; -1: not whole ones. */
static int64_t off_by(const qn_fold_making *m, size_t k, uint64_t bytes, uint32_t lanes)
{
    const uint64_t item = m->operands[k].item_size, off = bytes % (item * lanes);
    return off % item != 0 ? -1 : (int64_t)(off / item);
}

/* Whether packs of so many lanes are aligned: in all lines, or in each behind its first elements.
 * Those that are read together are off alike. */
static bool choose_heads(const qn_fold_making *m, const qn_fold_span *s, uint32_t lanes,
                         bool *heads)
{
    const qn_fold *f = m->fold;
    size_t first = 0;
    *heads = false;
    while (!s->dense[first]) {
        first++;
    }
    for (int d = -1; d < f->form.kept + f->form.reduced; d++) {
        if (d >= 0 && s->used[d]) {
            continue;
        }
        int64_t off = -1;
        for (size_t k = first; k < m->inputs; k++) {
            const uint64_t bytes =
                d < 0 ? (uint64_t)(uintptr_t)f->base[k] : (uint64_t)f->stride[k][d];
            const int64_t own = s->dense[k] ? off_by(m, k, bytes, lanes) : off;
            if (m->operands[k].loose || own < 0 || (k > first && own != off)) {
                return false;
            }
            off = own;
        }
        if (off != 0 && d >= f->form.kept) {
            return false;
        }
        *heads |= off != 0;
    }
    return true;
}

static int64_t common_divisor(int64_t a, int64_t b)
{
    while (b != 0) {
        const int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Bytes of a value that is combined, at most. */
static int64_t value_bytes(const qn_fold_making *m)
{
    return m->rules->value_size != 0 ? m->rules->value_size : LARGEST_VALUE;
}

/* Threads of a block that have something to do, on average, if `groups` blocks share a span. */
static double busy_threads(int64_t packs, int64_t groups)
{
    const int64_t each = qn_over(packs, groups);
    return (double)(QN_FOLD_BLOCK / each * packs) / (double)groups;
}

/* Packs of a span that a block has, and the span's elements; 0 where the values of one block would
 * not have room, or not all outputs would be in each. More blocks than must share a span where each
 * then has an eighth more threads at work: a block of 256 has no second thread for each of 133. */
static int64_t choose_packs(const qn_fold_making *m, const qn_fold_span *s, uint32_t lanes,
                            int64_t *whole)
{
    const int64_t period = s->across * s->run;
    const int64_t packs = period / common_divisor(period, lanes);
    *whole = packs * lanes;
    const int64_t most = QN_MIN(QN_FOLD_BLOCK, qn_over(ROOM_BYTES, value_bytes(m)) / lanes);
    const int64_t least = qn_over(packs, most);
    int64_t best = 0;
    for (int64_t groups = least; groups <= least + MORE_GROUPS; groups++) {
        const int64_t each = qn_over(packs, groups), rest = packs - (groups - 1) * each;
        const bool fits = groups == 1 || rest * lanes >= period + s->run;
        const bool long_enough = groups == least || each >= LEAST_PACKS;
        if (fits && long_enough &&
            (best == 0 || busy_threads(packs, groups) * 8 > busy_threads(packs, best) * 9)) {
            best = groups;
        }
    }
    return best > 0 ? qn_over(packs, best) : 0;
}

/* ---- the plan ------------------------------------------------------------------------------- */

static bool find_way(const qn_fold_making *m, const qn_fold_span *s, qn_fold_span_way *w)
{
    uint32_t lanes = qn_pack_lanes(m->operands, m->inputs, m->rules->pack_bytes);
    if (qn_fold_is_costly(m->rules) && !m->rules->paired) {
        lanes = QN_MIN(lanes, COSTLY_LANES);
    }
    for (; lanes > 1; lanes /= 2) {
        *w = (qn_fold_span_way){.lanes = lanes};
        if (!choose_heads(m, s, lanes, &w->heads)) {
            continue;
        }
        w->beside = choose_packs(m, s, lanes, &w->whole);
        const int64_t ahead = w->heads ? lanes - 1 : 0;
        w->spans = s->elements > ahead ? (s->elements - ahead) / w->whole : 0;
        const int64_t rest = s->elements - w->spans * w->whole;
        if (w->beside > 0 && w->spans > 0 && rest * LEFT_OVER <= s->elements &&
            (s->line >= 0 || rest == 0)) {
            return true;
        }
    }
    return false;
}

static void put_dim(qn_fold *to, const qn_fold *from, int at, int d, size_t count)
{
    to->extent[at] = from->extent[d];
    for (size_t k = 0; k < count; k++) {
        to->stride[k][at] = from->stride[k][d];
    }
}

/* The dimension of lanes (`each`: elements from one to the next is 1) or of spans. */
static void make_dim(const qn_fold_making *m, const qn_fold_span *s, int at, int64_t extent,
                     int64_t each)
{
    m->fold->extent[at] = extent;
    for (size_t k = 0; k < m->count; k++) {
        const bool moves = k < m->inputs && s->dense[k];
        m->fold->stride[k][at] = moves ? each * m->operands[k].item_size : 0;
    }
}

/* Lay the dimensions as the file's beginning says. */
static void lay_dims(const qn_fold_making *m, const qn_fold_span *s, const qn_fold_span_way *w)
{
    qn_fold *f = m->fold;
    const qn_fold from = *f;
    int at = 0;
    for (int d = 0; d < from.form.kept; d++) {
        const bool cut = s->part != 0 && d == s->inside[s->count - 1];
        if (!s->used[d] || cut) {
            put_dim(f, &from, at, d, m->count);
            for (size_t k = 0; k < m->count && cut; k++) {
                f->stride[k][at] *= s->part;
            }
            f->extent[at++] /= cut ? s->part : 1;
        }
    }
    f->form.outer = (uint8_t)at;
    for (int n = s->count - 1; n >= 0; n--) {
        put_dim(f, &from, at, s->inside[n], m->count);
        f->extent[at] = n == s->count - 1 && s->part != 0 ? s->part : f->extent[at];
        at++;
    }
    make_dim(m, s, at++, w->whole, 1);
    f->form.kept = (uint8_t)at;
    for (int d = from.form.kept; d < from.form.kept + from.form.reduced; d++) {
        if (!s->used[d]) {
            put_dim(f, &from, at++, d, m->count);
        }
    }
    if (s->line >= 0) {
        make_dim(m, s, at++, w->spans, w->whole);
    }
    f->form.reduced = (uint8_t)(at - f->form.kept);
}

/* Blocks that share an output, and spans of each. */
static void choose_blocks(const qn_fold_making *m, const qn_fold_span *s, const qn_fold_span_way *w)
{
    qn_fold *f = m->fold;
    const int64_t groups = qn_over(w->whole / w->lanes, w->beside);
    const int64_t blocks =
        (int64_t)m->rules->processors * qn_fold_spans_held(w->lanes, m->rules->value_size);
    const int64_t left = MOST_LEFT / s->across / groups;
    int64_t shares = QN_MIN(blocks / (f->groups * groups), left);
    shares = QN_MAX(1, QN_MIN(shares, f->units / ((int64_t)f->workers * LEAST_UNITS)));
    f->chunk = qn_over(qn_over(f->units, shares), f->workers) * f->workers;
    f->splits = groups * qn_over(f->units, f->chunk);
    f->form.split = f->splits > 1;
}

static void lay(const qn_fold_making *m, const qn_fold_span *s, const qn_fold_span_way *w)
{
    qn_fold *f = m->fold;
    const int64_t lines = f->length / (s->elements / s->across);
    lay_dims(m, s, w);
    f->form.lanes = (uint8_t)w->lanes;
    f->form.columns = f->form.spans = 1;
    f->form.cut = 0;
    f->form.known = (uint8_t)qn_over(s->across, QN_FOLD_BLOCK);
    f->form.line = s->line >= 0;
    while (1 << f->form.room < w->beside * w->lanes) {
        f->form.room++;
    }
    f->across = s->across;
    f->run = s->run;
    f->beside = w->beside;
    f->head = 0;
    f->rest = s->elements - w->spans * w->whole;
    f->form.ragged = w->heads ? QN_RAGGED_EACH : f->rest > 0 ? QN_RAGGED_ALIKE : QN_RAGGED_NOT;
    f->units = lines * w->spans;
    f->workers = (uint32_t)(QN_FOLD_BLOCK / w->beside);
    f->groups = f->outputs / s->across;
    for (size_t k = 0; k < m->count; k++) {
        f->form.access[k] = k >= m->inputs ? 0
                            : s->dense[k]  ? QN_ACCESS_VECTOR
                                           : QN_ACCESS_BROADCAST;
    }
    f->form.turns = qn_fold_pack_turns(m);
    choose_blocks(m, s, w);
}

static bool may_take(const qn_fold_making *m)
{
    const qn_fold *f = m->fold;
    const qn_fold_rules *r = m->rules;
    return f->form.kept > 0 && f->form.reduced > 0 && f->outputs > 0 && f->length > 0 &&
           !r->ordered && !r->positions && r->in_turns && r->pack_bytes == QN_ACCESS_BYTES &&
           !(r->exact && r->setting.workers != 0) &&
           f->form.kept + f->form.reduced + 3 <= QUERN_MAX_NDIM;
}

void qn_fold_take_spans(const qn_fold_making *m)
{
    const qn_fold *f = m->fold;
    qn_fold_span s;
    qn_fold_span_way w;
    if (!may_take(m) || !find_span(m, &s) ||
        (m->rules->counted && (f->form.reordered || !is_in_order(m, &s))) || !find_way(m, &s, &w) ||
        !qn_fold_span_pays(m, &s, &w)) {
        return;
    }
    const int64_t outputs = f->outputs / s.across, lines = f->length / (s.elements / s.across);
    const int64_t units = lines * w.spans, workers = QN_FOLD_BLOCK / w.beside;
    const int64_t groups = qn_over(w.whole / w.lanes, w.beside);
    /* A bunch of blocks has a counter, and there may be two rounds of bunches (fold.cuh). */
    if (units < workers * LEAST_UNITS || f->length * s.across < LEAST_ELEMENTS * groups ||
        (groups > 1 && outputs * (groups > 8 ? groups / 32 + 3 : 1) > COUNTERS)) {
        return;
    }
    lay(m, &s, &w);
}

/* The exponent of how many threads an output has in the end. */
int qn_fold_span_meeting(const qn_fold *f)
{
    int shift = 0;
    while (2 << shift <= MOST_MEETING && f->across << (shift + 1) <= QN_FOLD_BLOCK) {
        shift++;
    }
    return shift;
}
