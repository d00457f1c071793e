/* SPDX-License-Identifier: MIT
 *
 * plan_box_runs: boxes whose inputs go through shared memory in runs. In: a plan by boxes. Out: the
 * way of each operand, and the shared memory that they need. The thing to know: of a box an input
 * has runs, bytes that lie on in memory but for small gaps, which are fetched in pieces of 16 bytes
 * whatever the elements are; the output, which lies on along the walk, is given in packs. A box
 * takes some instructions, so small ones are left to threads that take single elements.
 */
#include "array/plan.h"

#define PIECE     16         /* bytes */
#define WORD      4          /* of elements that may lie an odd number of words from each other */
#define ENTRY     8          /* of a table, for a piece */
#define NEAR      0x3fffffc0 /* bytes inside of a box: with pieces around them below 2^30 */
#define LEAST     2560       /* elements of a box that pay: ten a thread */
#define SPARSE    3  /* times as many bytes as its elements have, that pieces of an input may */
#define GIVEN     16 /* elements of a run of the output that pay, along one dimension */
#define GIVEN_ALL 96 /* and along several, for each of which a table says where inputs are */
#define WIDEST    4  /* elements of packs */
#define NARROW    4  /* bytes of elements for which boxes in runs do better */
#define ROUND(n)  (((n) + PIECE - 1) / PIECE * PIECE)

bool qn_plan_box_runs(const qn_operand *operands, size_t operand_count, bool matrices)
{
    const qn_operand *output = NULL;
    bool narrow = false;
    for (size_t k = 0; k < operand_count; k++) {
        if (operands[k].loose || (operands[k].output && output)) {
            return false;
        }
        output = operands[k].output ? &operands[k] : output;
        narrow |= operands[k].item_size < (matrices ? WIDEST + 1 : NARROW);
    }
    for (size_t k = 0; k < operand_count && output; k++) {
        /* pieces have what lies beside a box, which another block may write */
        if (!operands[k].output && qn_operands_overlap(&operands[k], output) != QN_OVERLAP_NONE) {
            return false;
        }
    }
    return narrow && output && operand_count <= QN_BOX_WAYS;
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

static bool is_cut(const qn_plan_form *f, int d)
{
    bool cut = false;
    for (int c = 0; c < f->cuts; c++) {
        cut |= f->cut[c] == d;
    }
    return cut;
}

/* The innermost dimensions of an input whose elements lie on, or nearly so. Returns their bytes. */
static int64_t find_run(const qn_plan *p, qn_box_way *w, size_t k, int64_t item)
{
    int64_t bytes = item;
    for (int at = w->count - 1; at >= 0; at--) {
        const int64_t stride = qn_magnitude(p->stride[k][w->order[at]]);
        const bool across = w->order[at] == p->form.ndim - 1 && at != w->count - 1;
        if (stride - bytes >= QN_MAX(bytes / 4, (int64_t)PIECE) ||
            (across && item <= WORD && stride % 8 == 0)) {
            break; /* or threads would meet in few banks */
        }
        bytes += stride * (p->extent[w->order[at]] - 1);
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
        if (is_cut(&p->form, w->order[at])) {
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

/* How far parts of `bytes` lie from each other along dimension `d`: pitch() of box.cuh. `odd`: in,
 * whether there are parts inside that lie off the alignment; out, the same of these. */
static int64_t pitch_of(bool *odd, const qn_plan *p, size_t k, int d, int64_t item, int64_t bytes)
{
    const int64_t stride = qn_magnitude(p->stride[k][d]);
    const bool own = d == p->form.ndim - 1 && item <= WORD && stride % 8 == 0;
    const int64_t least = bytes + (own || *odd ? 2 : 1) * (PIECE - 1);
    *odd |= own;
    return least + (own ? (4 - least) & 7 : (stride - least) & (PIECE - 1));
}

/* Choose the runs of an input; false: they have gaps, or are so short that their pieces are many
 * times as long. Adds the shared memory that it and the table of its pieces take:
 * source_boxed_runs.c has the same on the device. */
static bool choose_input(int64_t *bytes, const qn_plan *p, qn_box_way *w, size_t k, int64_t item)
{
    const int64_t run = find_run(p, w, k, item);
    const int inner = w->count - w->run;
    const int64_t runs = elements_of(p, w, 0, inner);
    if (w->run == 0 || elements_of(p, w, inner, w->count) * item * 5 < run * 4) {
        return false;
    }
    const int64_t pieces = runs * ((run + 2 * PIECE - 2) / PIECE);
    if (pieces * PIECE > SPARSE * box_elements(p) * item) {
        return false;
    }
    int64_t block = run;
    bool odd = false;
    for (int at = inner - 1; at >= 0; at--) {
        const int d = w->order[at];
        block += pitch_of(&odd, p, k, d, item, block) * (p->extent[d] - 1);
    }
    *bytes += ROUND(block + 2 * PIECE - 2) + ROUND(pieces * ENTRY);
    return true;
}

/* The same of the output and the tables of its runs. */
static bool choose_output(int64_t *bytes, const qn_plan *p, qn_box_way *w, size_t k,
                          const qn_operand *o, size_t operand_count)
{
    if (o->item_size > WIDEST) {
        return false;
    }
    const int64_t elements = box_elements(p);
    const int64_t run = find_given(p, w, k, o->item_size), tables = (int64_t)operand_count;
    *bytes += ROUND(elements / run * 4) * tables + ROUND(elements / run);
    *bytes += w->run > 1 ? ROUND(run * 2) * tables : 0;
    return run >= (w->run > 1 ? GIVEN_ALL : GIVEN) && elements >= LEAST;
}

static bool is_near(const qn_plan *p, const qn_box_way *w, size_t k)
{
    int64_t reach = 0;
    for (int at = 0; at < w->count; at++) {
        reach += qn_magnitude(p->stride[k][w->order[at]]) * (p->extent[w->order[at]] - 1);
    }
    return reach < NEAR;
}

bool qn_plan_box_ways(qn_plan *p, const qn_operand *operands, size_t operand_count)
{
    int64_t bytes = 0;
    for (size_t k = 0; k < operand_count; k++) {
        const qn_operand *o = &operands[k];
        qn_box_way *w = &p->form.way[k];
        order_dims(p, w, k, o->output);
        if (!is_near(p, w, k)) {
            return false;
        }
        if (!o->output && w->count == 0) {
            p->form.access[k] = QN_ACCESS_BROADCAST;
        } else if (o->output) {
            p->form.access[k] = QN_ACCESS_CONTIGUOUS;
            if (!choose_output(&bytes, p, w, k, o, operand_count)) {
                return false;
            }
        } else if (!choose_input(&bytes, p, w, k, o->item_size)) {
            return false;
        } else {
            p->form.access[k] = QN_ACCESS_TILED;
        }
    }
    /* a multiple of 4, so that few kernels are compiled */
    p->form.pool = (uint8_t)QN_MIN(qn_over(bytes, 4096) * 4, INT64_C(64));
    return p->form.pool <= QN_BOX_POOL;
}
