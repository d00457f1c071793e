/* SPDX-License-Identifier: MIT
 *
 * plan_box_runs: boxes whose inputs go through shared memory in runs. In: a plan by boxes. Out: the
 * way of each operand, and the shared memory that they need. The thing to know: of a box an input
 * has runs, bytes that lie on in memory but for small gaps, which are fetched in pieces of 16 bytes
 * whatever the elements are; the output, which lies on along the walk, is given in packs. Where its
 * lines begin anywhere in a sector, boxes begin early, and give of each line whole sectors from
 * there on: memory takes parts of sectors at as little as a fifth of the speed. A box takes some
 * instructions, so small ones are left to threads that take single elements.
 */
#include "array/plan.h"

#define PIECE      16         /* bytes */
#define ENTRY      8          /* of a table, for a run */
#define NEAR       0x3fffffc0 /* bytes inside of a box: with pieces around them below 2^30 */
#define LEAST      2560       /* elements of a box that pay: ten a thread */
#define SPARSE     3  /* times as many bytes as its elements have, that pieces of an input may */
#define GIVEN      16 /* elements of a run of the output that pay, along one dimension */
#define GIVEN_ALL  96 /* and along several, for each of which a table says where inputs are */
#define WIDEST     8  /* bytes of an element */
#define LEAST_PACK 8  /* bytes */
/* elements of a run: shorter ones that tear sectors go one by one, so that the parts of a sector
 * come together */
#define SHORT    128
#define ROUND(n) (((n) + PIECE - 1) / PIECE * PIECE)

bool qn_plan_box_runs(const qn_operand *operands, size_t operand_count)
{
    const qn_operand *output = NULL;
    for (size_t k = 0; k < operand_count; k++) {
        if (operands[k].loose || (operands[k].output && output)) {
            return false;
        }
        output = operands[k].output ? &operands[k] : output;
    }
    for (size_t k = 0; k < operand_count && output; k++) {
        /* pieces have what lies beside a box, which another block may write */
        if (!operands[k].output && qn_operands_overlap(&operands[k], output) != QN_OVERLAP_NONE) {
            return false;
        }
    }
    return output && operand_count <= QN_BOX_WAYS;
}

/* The dimensions of a box along which an operand's elements differ. */
static void order_dims(const qn_plan *p, qn_box_way *w, size_t k, bool output)
{
    for (int d = p->form.box; d < p->form.ndim; d++) {
        const int64_t stride = qn_magnitude(p->stride[k][d]);
        int at = w->count;
        if (stride == 0 && !output) {
            continue;
        }
        for (; at > 0 && !output && stride > qn_magnitude(p->stride[k][w->order[at - 1]]); at--) {
            w->order[at] = w->order[at - 1];
        }
        w->order[at] = (uint8_t)d;
        w->count++;
    }
}

int qn_plan_cut_of(const qn_plan_form *f, int d)
{
    for (int c = 0; c < f->cuts; c++) {
        if (f->cut[c] == d) {
            return c;
        }
    }
    return -1;
}

/* The innermost dimensions of an input whose elements lie on, or nearly so: with what lies between
 * them, they take no more than 5 / 4 of their own bytes. Returns the bytes of all. */
static int64_t find_run(const qn_plan *p, qn_box_way *w, size_t k, int64_t item)
{
    int64_t bytes = item, own = item;
    for (int at = w->count - 1; at >= 0; at--) {
        const int64_t stride = qn_magnitude(p->stride[k][w->order[at]]);
        const int64_t extent = p->extent[w->order[at]], all = bytes + stride * (extent - 1);
        if (stride - bytes >= QN_MAX(bytes / 4, (int64_t)PIECE) || own * extent * 5 < all * 4) {
            break;
        }
        bytes = all;
        own *= extent;
        w->run++;
    }
    return bytes;
}

/* The same of an output, elements; only the outermost dimension may be cut. */
static int64_t find_given(const qn_plan *p, qn_box_way *w, size_t k, int64_t item)
{
    int64_t elements = 1;
    for (int at = w->count - 1; at >= 0 && p->stride[k][w->order[at]] == elements * item; at--) {
        elements *= p->extent[w->order[at]];
        w->run++;
        if (qn_plan_cut_of(&p->form, w->order[at]) >= 0) {
            break;
        }
    }
    return elements;
}

/* Elements of the dimensions [first, end) of an order. */
static int64_t elements_of(const qn_plan *p, const qn_box_way *w, int first, int end)
{
    int64_t elements = 1;
    for (int at = first; at < end; at++) {
        elements *= p->extent[w->order[at]];
    }
    return elements;
}

static int64_t box_elements(const qn_plan *p)
{
    int64_t elements = 1;
    for (int d = p->form.box; d < p->form.ndim; d++) {
        elements *= p->extent[d];
    }
    return elements;
}

int64_t qn_plan_box_pitches(int64_t *pitch, const qn_plan *p, size_t k, int64_t item)
{
    const qn_box_way *w = &p->form.way[k];
    const int inner = w->count - w->run;
    int64_t block = item;
    for (int at = w->count - 1; at >= 0; at--) {
        const int64_t stride = qn_magnitude(p->stride[k][w->order[at]]);
        const int64_t least = block + PIECE - 1, near = least + ((stride - least) & (PIECE - 1));
        pitch[at] = at >= inner ? stride : near % (2 * PIECE) == 0 ? near + PIECE : near;
        block += pitch[at] * (p->extent[w->order[at]] - 1);
    }
    return block;
}

/* Choose the runs of an input; false: they have gaps, or are so short that their pieces are many
 * times as long. Adds the shared memory that it and the table of its runs take:
 * source_boxed_runs.c has the same on the device. */
static bool choose_input(int64_t *bytes, const qn_plan *p, qn_box_way *w, size_t k, int64_t item)
{
    const int64_t run = find_run(p, w, k, item);
    const int inner = w->count - w->run;
    const int64_t runs = elements_of(p, w, 0, inner);
    if (w->run == 0) {
        return false;
    }
    const int64_t pieces = runs * ((run + 2 * PIECE - 2) / PIECE);
    if (pieces * PIECE > SPARSE * box_elements(p) * item) {
        return false;
    }
    int64_t pitch[QN_BOX_DIMS];
    const int64_t block = qn_plan_box_pitches(pitch, p, k, item);
    *bytes += ROUND(block + 2 * PIECE - 2) + ROUND(runs * ENTRY);
    return true;
}

/* True when runs that are not cut, and boxes along those that are, begin where a sector does. */
static bool begin_with_sectors(const qn_plan *p, const qn_box_way *w, size_t k)
{
    uint64_t all = (uintptr_t)p->base[k];
    for (int d = 0; d < p->form.ndim; d++) {
        bool inside = false;
        for (int at = w->count - w->run; at < w->count; at++) {
            inside |= w->order[at] == d;
        }
        all |= inside ? 0 : (uint64_t)qn_magnitude(p->stride[k][d]);
    }
    return all % QN_SECTOR_BYTES == 0;
}

/* Let boxes of parts of runs begin early, by as much as whole sectors may lie before, if they give
 * whole sectors then. */
static void choose_slack(qn_plan *p, const qn_box_way *w, size_t k, int64_t item, int64_t run)
{
    const int d = w->order[w->count - w->run], c = qn_plan_cut_of(&p->form, d);
    if (c < 0 || run * item % QN_SECTOR_BYTES != 0 || begin_with_sectors(p, w, k)) {
        return;
    }
    const int64_t inner = run / p->extent[d];
    p->form.slack = (uint8_t)qn_over(QN_SECTOR_BYTES / item - 1, inner);
    p->extent[d] += p->form.slack;
    p->last[c] += p->form.slack;
}

/* The runs of the output, and how they are given; false: too short. Adds the shared memory that the
 * tables of them take. */
static bool choose_output(int64_t *bytes, qn_plan *p, qn_box_way *w, size_t k, const qn_operand *o,
                          size_t operand_count, uint32_t pack)
{
    if (o->item_size > WIDEST || box_elements(p) < LEAST) {
        return false;
    }
    const int64_t run = find_given(p, w, k, o->item_size), tables = (int64_t)operand_count;
    if (run < (w->run > 1 ? GIVEN_ALL : GIVEN)) {
        return false;
    }
    choose_slack(p, w, k, o->item_size, run);
    const bool torn = p->form.slack == 0 && !begin_with_sectors(p, w, k);
    p->form.lanes = (uint8_t)(torn && run < SHORT ? 1 : QN_MAX(pack / o->item_size, 1));
    p->form.whole = p->form.slack == 0 && !torn && run % p->form.lanes == 0;
    p->form.paired = w->run > 1 && p->extent[p->form.ndim - 1] >= p->form.lanes;
    const int64_t inner = elements_of(p, w, w->count - w->run, w->count);
    *bytes += ROUND(box_elements(p) / inner * 4) * tables + ROUND(box_elements(p) / inner);
    *bytes +=
        w->run > QN_BOX_EVEN ? ROUND((inner / p->extent[p->form.ndim - 1] + 1) * 4) * tables : 0;
    return true;
}

static bool is_near(const qn_plan *p, const qn_box_way *w, size_t k)
{
    int64_t reach = 0;
    for (int at = 0; at < w->count; at++) {
        reach += qn_magnitude(p->stride[k][w->order[at]]) * (p->extent[w->order[at]] - 1);
    }
    return reach < NEAR;
}

/* An input lies as the output does, wherever that is: where packs of the output are aligned, its
 * own are. Those of few bytes do better in runs. */
static bool lies_like(const qn_plan *p, const qn_operand *operands, size_t k, size_t y)
{
    const int64_t item = operands[k].item_size, other = operands[y].item_size;
    const int64_t pack = item * p->form.lanes, access = QN_MIN(pack, (int64_t)QN_ACCESS_BYTES);
    const uint64_t first = (uintptr_t)p->base[k], others = (uintptr_t)p->base[y];
    const uint64_t there = others / (uint64_t)other * (uint64_t)item;
    bool alike = item <= WIDEST && pack >= LEAST_PACK && (first - there) % (uint64_t)access == 0;
    for (int d = 0; d < p->form.ndim; d++) {
        alike &= p->stride[k][d] * other == p->stride[y][d] * item;
    }
    return alike;
}

bool qn_plan_box_ways(qn_plan *p, const qn_operand *operands, size_t operand_count, uint32_t pack,
                      bool along)
{
    int64_t bytes = 0;
    size_t y = 0;
    for (size_t k = 0; k < operand_count; k++) {
        order_dims(p, &p->form.way[k], k, operands[k].output);
        y = operands[k].output ? k : y;
    }
    if (!choose_output(&bytes, p, &p->form.way[y], y, &operands[y], operand_count, pack)) {
        return false;
    }
    p->form.access[y] = QN_ACCESS_CONTIGUOUS;
    for (size_t k = 0; k < operand_count; k++) { /* of boxes as the output has them */
        if (!is_near(p, &p->form.way[k], k)) {
            return false;
        }
        if (k == y) {
            continue;
        }
        p->form.access[k] = (uint8_t)(p->form.way[k].count == 0               ? QN_ACCESS_BROADCAST
                                      : along && lies_like(p, operands, k, y) ? QN_ACCESS_VECTOR
                                                                              : QN_ACCESS_TILED);
        if (p->form.access[k] == QN_ACCESS_TILED &&
            !choose_input(&bytes, p, &p->form.way[k], k, operands[k].item_size)) {
            return false;
        }
    }
    /* a multiple of 4, so that few kernels are compiled */
    p->form.pool = (uint8_t)QN_MIN(qn_over(bytes, 4096) * 4, INT64_C(64));
    return p->form.pool <= QN_BOX_POOL;
}
