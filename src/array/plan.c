/* SPDX-License-Identifier: MIT
 *
 * plan: broadcasting, and the walk over the operands' elements. In: shapes,
 * strides, addresses. Out: a qn_plan. The thing to know: packs are chosen last,
 * for the innermost dimension that plan_dims.c has left.
 */
#include "array/plan.h"
#include "array/array_internal.h"
#include <string.h>

#define PACK_BYTES_MAX 32 /* of the widest input: two 16-byte accesses */

/* ---- broadcasting ---------------------------------------------------------------------------- */

static quern_status shapes_clash(const qn_operand *a, const qn_operand *b, const char *what)
{
    qn_text sa = {0}, sb = {0};
    qn_shape_print(&sa, a->ndim, a->shape);
    qn_shape_print(&sb, b->ndim, b->shape);
    quern_status status = qn_fail(QUERN_ERROR_SHAPE, "%s: '%.*s' has shape %s, '%.*s' has shape %s",
                                  what, (int)a->name.length, a->name.data, sa.data ? sa.data : "?",
                                  (int)b->name.length, b->name.data, sb.data ? sb.data : "?");
    qn_text_free(&sa);
    qn_text_free(&sb);
    return status;
}

/* Widen the loop by one operand. False when the extents disagree. */
static bool widen(int *ndim, int64_t *shape, const qn_operand *operand)
{
    if (operand->ndim > *ndim) {
        int more = operand->ndim - *ndim;
        memmove(shape + more, shape, (size_t)*ndim * sizeof *shape);
        for (int d = 0; d < more; d++) {
            shape[d] = 1;
        }
        *ndim = operand->ndim;
    }
    int64_t *tail = shape + *ndim - operand->ndim;
    for (int d = 0; d < operand->ndim; d++) {
        if (operand->shape[d] == tail[d] || operand->shape[d] == 1) {
            continue;
        }
        if (tail[d] != 1) {
            return false;
        }
        tail[d] = operand->shape[d];
    }
    return true;
}

/* Which two operands do not go together: for the message only. */
static quern_status broadcast_fails(const qn_operand *operands, size_t at)
{
    for (size_t other = 0; other < at; other++) {
        int ndim = 0;
        int64_t shape[QUERN_MAX_NDIM];
        if (!widen(&ndim, shape, &operands[other]) || !widen(&ndim, shape, &operands[at])) {
            return shapes_clash(&operands[other], &operands[at],
                                "operands do not broadcast together");
        }
    }
    return qn_fail(QUERN_ERROR_SHAPE, "operands do not broadcast together at '%.*s'",
                   (int)operands[at].name.length, operands[at].name.data);
}

static quern_status output_fails(const qn_operand *output, int ndim, const int64_t *shape)
{
    qn_text has = {0}, needs = {0};
    qn_shape_print(&has, output->ndim, output->shape);
    qn_shape_print(&needs, ndim, shape);
    quern_status status = qn_fail(QUERN_ERROR_SHAPE,
                                  "output '%.*s' has shape %s, but the call gives %s; an output "
                                  "must have exactly that "
                                  "shape",
                                  (int)output->name.length, output->name.data,
                                  has.data ? has.data : "?", needs.data ? needs.data : "?");
    qn_text_free(&has);
    qn_text_free(&needs);
    return status;
}

quern_status qn_plan_shape(int *ndim, int64_t *shape, int64_t *count, const qn_operand *operands,
                           size_t operand_count)
{
    *ndim = 0;
    for (size_t k = 0; k < operand_count; k++) {
        if (!widen(ndim, shape, &operands[k])) {
            return broadcast_fails(operands, k);
        }
    }
    *count = 1;
    for (int d = 0; d < *ndim; d++) {
        if (shape[d] != 0 && *count > INT64_MAX / shape[d]) {
            return qn_fail(QUERN_ERROR_SHAPE, "the operands broadcast to more than 2^63 elements");
        }
        *count *= shape[d];
    }
    return QUERN_OK;
}

quern_status qn_plan_outputs(const qn_operand *operands, size_t operand_count, int ndim,
                             const int64_t *shape)
{
    for (size_t k = 0; k < operand_count; k++) {
        const qn_operand *o = &operands[k];
        if (o->output &&
            (o->ndim != ndim || memcmp(o->shape, shape, (size_t)ndim * sizeof *shape) != 0)) {
            return output_fails(o, ndim, shape);
        }
    }
    return QUERN_OK;
}

/* ---- packs ----------------------------------------------------------------------------------- */

typedef struct walk {
    qn_plan *plan;
    size_t operands;
    int ndim;
    uint32_t widest; /* lanes of a pack */
} walk;

uint32_t qn_pack_lanes(const qn_operand *operands, size_t count, uint32_t pack_bytes)
{
    uint32_t narrow = 16, wide = 1;
    for (size_t k = 0; k < count; k++) {
        narrow = QN_MIN(narrow, operands[k].item_size);
        wide = QN_MAX(wide, operands[k].item_size);
    }
    uint32_t lanes = QN_MAX(1u, pack_bytes / narrow);
    while (lanes > 1 && lanes * wide > PACK_BYTES_MAX) {
        lanes /= 2;
    }
    return lanes;
}

/* Outer strides that keep every row's packs aligned. */
static bool rows_aligned(const walk *w, size_t k, uint64_t alignment)
{
    for (int d = 0; d < w->ndim - 1; d++) {
        if ((uint64_t)qn_magnitude(w->plan->stride[k][d]) % alignment != 0) {
            return false;
        }
    }
    return true;
}

/* The packs of an operand whose elements lie side by side, forwards or backwards, are aligned. */
static bool packs_aligned(const walk *w, const qn_operand *operands, size_t k, int64_t head)
{
    const qn_plan *p = w->plan;
    const int64_t stride = p->stride[k][w->ndim - 1], size = operands[k].item_size;
    const uint64_t alignment = qn_pack_alignment(&operands[k], p->form.lanes);
    const uintptr_t first =
        (uintptr_t)p->base[k] + (uintptr_t)(head * stride) + (uintptr_t)(stride < 0 ? size : 0);
    return p->form.lanes > 1 && !operands[k].loose && first % alignment == 0 &&
           rows_aligned(w, k, alignment);
}

/* Bytes of a pack that is turned around: with fewer a thread has too little under way, and rows do
 * better. */
#define FEWEST_BACK 8

static qn_access access_of(const walk *w, const qn_operand *operands, size_t k, int64_t head)
{
    const qn_plan *p = w->plan;
    int64_t stride = p->stride[k][w->ndim - 1];
    if (stride == 0 && !operands[k].output) {
        return QN_ACCESS_BROADCAST;
    }
    if (stride != operands[k].item_size) {
        const bool back = qn_plan_is_back(&operands[k], stride, p->form.lanes) &&
                          p->form.lanes * operands[k].item_size >= FEWEST_BACK &&
                          packs_aligned(w, operands, k, head);
        return back ? QN_ACCESS_BACK : QN_ACCESS_STRIDED;
    }
    return packs_aligned(w, operands, k, head) ? QN_ACCESS_VECTOR : QN_ACCESS_CONTIGUOUS;
}

/* A pack of an output is one access: threads of a warp that each write two of
 * 16 bytes give the memory halves of sectors, twice. int8 to float32 runs
 * at 3.9 TB/s on an H200, where it ran at 3.0 with 8 lanes; uint8 to float64
 * at 3.9 and 2.6. Reads of two accesses cost nothing: the second finds its line
 * in the cache. */
static uint32_t most_lanes(const qn_operand *operands, size_t count, uint32_t pack_bytes)
{
    uint32_t lanes = qn_pack_lanes(operands, count, pack_bytes);
    for (size_t k = 0; k < count; k++) {
        while (operands[k].output && lanes > 1 && lanes * operands[k].item_size > QN_ACCESS_BYTES) {
            lanes /= 2;
        }
    }
    return lanes;
}

/* How many elements come before the first aligned pack: what the outputs need,
 * else the inputs. With rows, a pack starts where a row does. */
static int64_t choose_head(const walk *w, const qn_operand *operands)
{
    const qn_plan *p = w->plan;
    if (w->ndim > 1 || p->form.lanes == 1) {
        return 0;
    }
    for (int outputs = 1; outputs >= 0; outputs--) {
        for (size_t k = 0; k < w->operands; k++) {
            if (operands[k].output != outputs || p->stride[k][0] != operands[k].item_size) {
                continue;
            }
            int64_t head = qn_pack_head(p->base[k], &operands[k], p->form.lanes);
            if (head >= 0) {
                return head;
            }
        }
    }
    return 0;
}

/* An output whose elements share sectors of memory with others of other packs, or that takes so
 * many for a pack: each sector would be written many times. The threads of a warp had better write
 * to it together, an element each. So with narrow rows that have gaps between them: of a copy's
 * speed on an H200, by packs and by elements, rows of 4 float32 with gaps of 8 0.47 and 0.64, of 12
 * with gaps of 10 0.31 and 0.51, of 4 float16 with gaps of 4 0.44 and 0.69; but of 16 int8 with
 * gaps of 16 0.67 and 0.54. And with packs that are mostly alone in a sector: rows of 4 uint8 21
 * bytes apart 0.24 and 0.56, of 16 int8 58 apart 0.35 and 0.55. The software device, whose memory
 * has no sectors, would take three times as long for rows of 8 float32. */
#define MANY       8
#define NARROW_ROW 48 /* bytes of a narrow row, */
#define BYTE_ROW   24 /* or if its elements are bytes, and no sector has any of another row */
#define BYTE_LANES 4  /* and packs have so many: by two they do better */
static bool is_narrow(const walk *w, const qn_operand *o, size_t k)
{
    const int64_t row = w->plan->extent[w->ndim - 1] * o->item_size;
    if (o->item_size > 1) {
        return row <= NARROW_ROW;
    }
    const int64_t pitch = qn_magnitude(w->plan->stride[k][w->ndim - 2]);
    return row <= BYTE_ROW && pitch >= row + QN_SECTOR_BYTES && w->plan->form.lanes >= BYTE_LANES;
}

/* True where ten of the widest packs of a row meet six sectors or more: then narrower ones are no
 * better. */
static bool packs_apart(const walk *w, const qn_operand *o, size_t k)
{
    const int64_t row = w->plan->extent[w->ndim - 1];
    int64_t lanes = QN_MIN(w->widest, MANY / 2);
    while (row % lanes != 0) {
        lanes /= 2;
    }
    const int64_t pack = lanes * o->item_size, packs = row / lanes;
    const int64_t met =
        QN_MIN((packs - 1) * pack + QN_SECTOR_BYTES, qn_magnitude(w->plan->stride[k][w->ndim - 2]));
    return 10 * met >= 6 * packs * QN_SECTOR_BYTES;
}

static bool scattered(const walk *w, const qn_operand *operands, size_t k, bool torn)
{
    const qn_operand *o = &operands[k];
    const uint8_t access = w->plan->form.access[k];
    const bool rows = torn && w->ndim > 1 && w->plan->form.lanes > 1 &&
                      (is_narrow(w, o, k) || packs_apart(w, o, k));
    const bool many = access == QN_ACCESS_CONTIGUOUS && (rows || w->plan->form.lanes >= MANY);
    return o->output && (access == QN_ACCESS_STRIDED || many) &&
           qn_magnitude(w->plan->stride[k][w->ndim - 1]) < QN_SECTOR_BYTES;
}

/* A pack must pay: at least one operand is reached by vector, and rows are not
 * mostly tails. Strided inputs beside it do no harm: x[:, ::2] + y[:, ::2] of
 * float32 runs at 2.6 TB/s on an H200 with packs, 2.4 without. */
static bool packs_pay(const walk *w, const qn_operand *operands, bool torn)
{
    const qn_plan *p = w->plan;
    for (size_t k = 0; k < w->operands; k++) {
        if (scattered(w, operands, k, torn)) {
            return false;
        }
    }
    for (size_t k = 0; k < w->operands; k++) {
        if (p->form.access[k] == QN_ACCESS_VECTOR) {
            return w->ndim == 1 || p->extent[w->ndim - 1] % p->form.lanes == 0;
        }
    }
    return false;
}

/* Wide packs of narrow elements that lie apart in an input: a warp meets so many lines of the cache
 * with each read that the cache, which gives one at a time, is slower than memory. On an H200, of a
 * copy's speed with packs of 16 and of 8: every second int8 0.67 and 0.93, every fourth 0.58 and
 * 1.03, the sum of two such 0.57 and 0.95; with packs of 4 they have 0.72, 0.95 and 0.81. */
#define LEAST_PACK 8 /* bytes */
static bool crowds(const walk *w, const qn_operand *operands)
{
    const qn_plan *p = w->plan;
    int64_t lines = 0, bytes = 0;
    uint32_t narrowest = QN_ACCESS_BYTES;
    for (size_t k = 0; k < w->operands; k++) {
        const int64_t stride = qn_magnitude(p->stride[k][w->ndim - 1]);
        const bool apart = p->form.access[k] == QN_ACCESS_STRIDED && !operands[k].output;
        lines += apart ? qn_plan_lines(p->form.lanes * stride) : 0;
        bytes += QN_MIN(stride, QN_SECTOR_BYTES);
        narrowest = QN_MIN(narrowest, operands[k].item_size);
    }
    return 2 * lines > 3 * bytes && p->form.lanes * narrowest > LEAST_PACK;
}

/* Elements read one by one: with four of a thread under way x[1:, 3:-5] + y of
 * float32 runs at 4.4 TB/s on an H200, where it runs at 2.9 with one; eight are
 * no better. */
#define MOST_TURNS 4
#define MOST_SIDE  64 /* of tiles */

/* Texts that must be taken element by element are, whatever was measured. */
static uint32_t pack_bytes(const qn_plan_rules *rules)
{
    return rules->pack_bytes != 0 && rules->setting.pack != 0 ? rules->setting.pack
                                                              : rules->pack_bytes;
}

static void choose_packs(walk *w, const qn_operand *operands, const qn_plan_rules *rules)
{
    qn_plan *p = w->plan;
    const qn_setting *s = &rules->setting;
    const bool asked = s->turns != 0 && rules->pack_bytes != 0;
    const uint32_t turns =
        asked ? s->turns : qn_pack_lanes(operands, w->operands, rules->pack_bytes);
    uint32_t lanes = w->widest = most_lanes(operands, w->operands, pack_bytes(rules));
    for (;; lanes /= 2) {
        p->form.lanes = (uint8_t)lanes;
        int64_t head = choose_head(w, operands);
        p->head = QN_MIN(head, p->count);
        for (size_t k = 0; k < w->operands; k++) {
            p->form.access[k] = (uint8_t)access_of(w, operands, k, head);
        }
        if (lanes == 1 || (packs_pay(w, operands, rules->torn) && !crowds(w, operands))) {
            break;
        }
    }
    p->form.turns = lanes == 1 ? (uint8_t)QN_MIN(turns, MOST_TURNS) : 1;
    p->packs = (p->count - p->head) / lanes;
    p->rest = p->count - p->packs * lanes;
}

/* 32-bit index arithmetic is safe when positions, packs and strides fit; packs twice, for the
 * loop's last step, which is a whole grid: its last block may reach beyond them by 1024 threads of
 * 4 turns. Offsets are 64 bits wide unless all_near(). */
#define BEYOND (1 << 13)
static bool needs_wide(const walk *w)
{
    const qn_plan *p = w->plan;
    if (p->count > INT32_MAX - (1 << 17) || p->packs > INT32_MAX / 2 - BEYOND) {
        return true;
    }
    for (size_t k = 0; k < w->operands; k++) {
        for (int d = 0; d < w->ndim; d++) {
            if (qn_magnitude(p->stride[k][d]) > INT32_MAX) {
                return true;
            }
        }
    }
    return false;
}

/* Offsets of rows fit 32 bits: an element of x[1:, 3:-5] + y takes 10 to 20
 * instructions of a GPU less than with 64. In one dimension there is nothing to
 * add up. */
static bool all_near(const walk *w)
{
    const qn_plan *p = w->plan;
    for (size_t k = 0; k < w->operands; k++) {
        int64_t reach = 0;
        for (int d = 0; d < w->ndim; d++) {
            /* neither factor is more than 2^31, as needs_wide() has found */
            reach += qn_magnitude(p->stride[k][d]) * QN_MIN(p->extent[d] - 1, INT32_MAX);
            if (reach > INT32_MAX - UINT16_MAX) {
                return false;
            }
        }
    }
    return w->ndim > 1;
}

/* ---- the plan -------------------------------------------------------------------------------- */

/* The walk may have blocks of a shape of its own. */
static bool tiles_or_rows(const qn_plan_rules *rules)
{
    return !rules->keep_dims && !rules->no_tiles && !rules->loops && rules->pack_bytes != 0;
}

/* Over thin rows, or walks through shared memory, the best first: boxes of words, tiles in squares,
 * boxes in runs, and those of single elements. */
static bool share(walk *w, const qn_operand *operands, const qn_plan_rules *rules)
{
    const int side = rules->setting.tile ? rules->setting.tile : MOST_SIDE;
    const uint32_t lanes = most_lanes(operands, w->operands, pack_bytes(rules));
    if (qn_plan_thin(w->plan, operands, w->operands, w->ndim, rules->torn, true)) {
        return true;
    }
    if (lanes > 1 && qn_plan_box_words(w->plan, operands, w->operands, w->ndim, side)) {
        w->ndim = w->plan->form.ndim;
        return true;
    }
    if (qn_plan_tiles(w->plan, operands, w->operands, w->ndim, side, lanes, false)) {
        return true;
    }
    const bool tiled = qn_plan_is_tiled(w->plan, operands, w->operands, w->ndim, side);
    const bool asked = tiled && rules->setting.tile;
    bool as_it_is = false; /* the walk that suits best */
    if (!asked && qn_plan_runs(w->plan, operands, w->operands, w->ndim, tiled, pack_bytes(rules),
                               rules->torn, &as_it_is)) {
        w->ndim = w->plan->form.ndim;
        return true;
    }
    if (as_it_is) {
        return false;
    }
    if (rules->torn && qn_plan_thin(w->plan, operands, w->operands, w->ndim, true, false)) {
        return true; /* left to boxes in runs, which do not suit */
    }
    if (!asked && qn_plan_boxes(w->plan, operands, w->operands, w->ndim, tiled)) {
        w->ndim = w->plan->form.ndim;
        return true;
    }
    return tiled && !qn_plan_outdoes_tiles(w->plan, operands, w->operands, w->ndim, side) &&
           qn_plan_tiles(w->plan, operands, w->operands, w->ndim, side, lanes, true);
}

void qn_plan_make(qn_plan *plan, const qn_operand *operands, size_t operand_count, int ndim,
                  const int64_t *shape, int64_t count, const qn_plan_rules *rules)
{
    walk w = {plan, operand_count, ndim, 1};
    memset(&plan->form, 0, sizeof plan->form);
    plan->form.turns = 1;
    plan->cost = plan->other_cost = 0;
    plan->stir = plan->group = 0;
    plan->by_runs = false;
    memset(plan->last, 0, sizeof plan->last); /* of dimensions that are not cut */
    plan->work = rules->work;
    plan->box_cost = 0;
    plan->count = count;
    memcpy(plan->extent, shape, (size_t)ndim * sizeof *shape);
    qn_plan_spread(plan, operands, operand_count, ndim);
    if (ndim == 0) {
        w.ndim = 1;
        plan->extent[0] = 1;
        for (size_t k = 0; k < operand_count; k++) {
            plan->stride[k][0] = operands[k].item_size;
        }
    }
    if (!rules->keep_dims) {
        w.ndim =
            qn_plan_settle(plan, operands, operand_count, operand_count, w.ndim, rules->ordered);
        if (!rules->ordered) {
            qn_plan_face(plan, operands, operand_count, w.ndim);
        }
    }
    if (w.ndim == 1 && plan->extent[0] == 1) { /* one element: any stride will do */
        for (size_t k = 0; k < operand_count; k++) {
            plan->stride[k][0] = operands[k].item_size;
        }
    }
    plan->form.ndim = (uint8_t)w.ndim;
    const qn_setting *s = &rules->setting;
    const bool shared = !rules->ordered && tiles_or_rows(rules) && s->walk == QN_WALK_CHOSEN;
    if (!shared || !share(&w, operands, rules)) {
        choose_packs(&w, operands, rules);
    }
    if (plan->form.tile == 0 && !plan->form.boxed && !plan->form.thin && tiles_or_rows(rules)) {
        qn_plan_rows(plan, operands, operand_count,
                     most_lanes(operands, operand_count, pack_bytes(rules)), s);
        if (s->walk == QN_WALK_CHOSEN && !rules->ordered) {
            qn_plan_flat(plan, operands, operand_count,
                         most_lanes(operands, operand_count, pack_bytes(rules)));
        }
        if (s->walk == QN_WALK_CHOSEN && s->turns == 0 && s->pack == 0) {
            qn_plan_slabs(plan, operands, operand_count,
                          qn_pack_lanes(operands, operand_count, rules->pack_bytes));
        }
    }
    qn_plan_early(plan, operands, operand_count);
    plan->form.wide = needs_wide(&w);
    plan->form.near = !plan->form.wide && all_near(&w);
}
