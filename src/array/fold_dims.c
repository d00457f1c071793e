/* SPDX-License-Identifier: MIT
 *
 * fold_dims: the dimensions of a reduction or a scan. In: shapes, strides, addresses, axes. Out:
 * kept and reduced dimensions, each group dropped, flipped, sorted and merged by itself. The thing
 * to know: inputs are most of a reduction's traffic, so they decide the order of the dimensions,
 * but where outputs take more bytes; the reduced ones keep theirs when values are combined in
 * order, and where positions, which count in it, gain nothing. Else positions go along as the
 * strides of one more operand.
 */
#include "array/fold_scans.h"
#include <string.h>

static bool is_reduced(const qn_fold_making *m, int axis)
{
    return m->rules->axes >> axis & 1;
}

/* Strides of all operands over the whole shape: outputs of a reduction do not move along reduced
 * axes. */
static void spread(const qn_fold_making *m, qn_plan *whole, int ndim)
{
    size_t moving = qn_fold_moving(&m->fold->form, m->inputs, m->count);
    qn_plan_spread(whole, m->operands, moving, ndim);
    for (size_t k = moving; k < m->count; k++) {
        const qn_operand *o = &m->operands[k];
        whole->base[k] = o->data;
        for (int d = 0, own = 0; d < ndim; d++) {
            whole->stride[k][d] = is_reduced(m, d) ? 0 : o->strides[own];
            own += !is_reduced(m, d) || m->rules->keepdims;
        }
    }
}

/* True when a reduction writes more than it reads. */
static bool writes_more(const qn_fold_making *m, const qn_plan *whole, int ndim)
{
    int64_t length = 1, read = 0, written = 0;
    for (int d = 0; d < ndim; d++) {
        length *= is_reduced(m, d) ? whole->extent[d] : 1;
    }
    for (size_t k = 0; k < m->count; k++) {
        *(k < m->inputs ? &read : &written) += m->operands[k].item_size;
    }
    return !m->rules->scan && length <= written && read * length < written;
}

/* True where the kept dimensions of each input lie in memory in runs of whole lines: then the order
 * of the reduced ones costs nothing. */
static bool keeps_lines(const qn_fold_making *m, const qn_plan *whole, int ndim)
{
    bool lines = true;
    for (size_t k = 0; k < m->inputs; k++) {
        int64_t run = m->operands[k].item_size, before = 0;
        while (run != before) {
            before = run;
            for (int d = 0; d < ndim && run == before; d++) {
                const bool next = !is_reduced(m, d) && whole->extent[d] > 1 &&
                                  qn_magnitude(whole->stride[k][d]) == run;
                run *= next ? whole->extent[d] : 1;
            }
        }
        lines &= run >= QN_LINE_BYTES;
    }
    return lines;
}

/* Positions count in C order: what a step along each dimension adds to them. */
static void count_positions(int64_t *row, const int64_t *extent, int dims)
{
    int64_t all = 1;
    for (int d = dims - 1; d >= 0; d--) {
        row[d] = all;
        all *= extent[d];
    }
}

/* Keep those strides, and find whether the walk goes otherwise. */
static void keep_positions(qn_fold *f, const qn_plan *part, size_t row, int dims)
{
    int64_t all = 1;
    for (int d = dims - 1; d >= 0; d--) {
        const int64_t step = part->stride[row][d];
        f->form.reordered |= step != all;
        f->place += step < 0 ? -step * (part->extent[d] - 1) : 0;
        all *= part->extent[d];
    }
    memset(f->stride[row], 0, sizeof f->stride[row]);
    memcpy(f->stride[row] + f->form.kept, part->stride[row], (size_t)dims * sizeof all);
}

/* Walk kept dimensions so that operands [first, end) lie forwards, though others then lie
 * backwards: of a reduction the inputs, packs of which are most of what is read; of a scan the
 * outputs, since what is written one by one is written in parts of sectors. */
static void face(const qn_fold_making *m, qn_plan *part, int dims, size_t first, size_t end)
{
    for (int d = 0; d < dims; d++) {
        bool negative = false, positive = false;
        for (size_t k = first; k < end; k++) {
            negative |= part->stride[k][d] < 0;
            positive |= part->stride[k][d] > 0;
        }
        if (negative && !positive) {
            qn_plan_flip(part, m->count, d);
        }
    }
}

/* Settle the axes that are reduced, or those that are kept, and append them to the fold's
 * dimensions from `first` on. Returns how many there are. */
static int settle(const qn_fold_making *m, const qn_plan *whole, int ndim, bool reduced, int first)
{
    qn_operand operands[QUERN_MAX_PARAMETERS];
    qn_plan part;
    qn_fold *f = m->fold;
    const bool outputs_first = !reduced && writes_more(m, whole, ndim);
    const bool counted = reduced && !m->rules->ordered && m->rules->counted && !m->rules->positions;
    const bool ordered = reduced && (m->rules->ordered || (counted && keeps_lines(m, whole, ndim)));
    int dims = 0;
    for (int d = 0; d < ndim; d++) {
        if (is_reduced(m, d) != reduced) {
            continue;
        }
        part.extent[dims] = whole->extent[d];
        for (size_t k = 0; k < m->count; k++) {
            part.stride[k][dims] = whole->stride[k][d];
        }
        dims++;
    }
    for (size_t k = 0; k < m->count; k++) {
        operands[k] = m->operands[k];
        operands[k].output = m->operands[k].output && outputs_first;
        part.base[k] = f->base[k];
    }
    if (counted) {
        count_positions(part.stride[m->count], part.extent, dims);
    }
    if (!reduced && !outputs_first && !m->rules->positions) {
        const bool scan = m->rules->scan;
        face(m, &part, dims, scan ? m->inputs : 0, scan ? m->count : m->inputs);
    }
    if (!m->rules->positions && dims > 0) {
        dims = qn_plan_settle(&part, operands, m->count, m->count + counted, dims, ordered);
        dims -= dims == 1 && part.extent[0] == 1;
    }
    if (counted) {
        keep_positions(f, &part, m->count, dims);
    }
    memcpy(f->extent + first, part.extent, (size_t)dims * sizeof *part.extent);
    for (size_t k = 0; k < m->count; k++) {
        memcpy(f->stride[k] + first, part.stride[k], (size_t)dims * sizeof **part.stride);
        f->base[k] = part.base[k];
    }
    return dims;
}

static int64_t product(const int64_t *extent, int count)
{
    int64_t all = 1;
    for (int d = 0; d < count; d++) {
        all *= extent[d];
    }
    return all;
}

qn_fold_making qn_fold_begin(qn_fold *fold, const qn_operand *operands, size_t operand_count,
                             const qn_fold_rules *rules)
{
    fold->shared = 0;
    qn_fold_making m = {.fold = fold, .operands = operands, .count = operand_count, .rules = rules};
    while (m.inputs < operand_count && !operands[m.inputs].output) {
        m.inputs++;
    }
    memset(&fold->form, 0, sizeof fold->form);
    fold->form.scan = rules->scan;
    return m;
}

void qn_fold_dims(const qn_fold_making *m, int ndim, const int64_t *shape)
{
    qn_fold *f = m->fold;
    qn_plan whole;
    memcpy(whole.extent, shape, (size_t)ndim * sizeof *shape);
    spread(m, &whole, ndim);
    memcpy(f->base, whole.base, m->count * sizeof *f->base);
    f->place = 0;
    f->form.kept = (uint8_t)settle(m, &whole, ndim, false, 0);
    f->form.reduced = (uint8_t)settle(m, &whole, ndim, true, f->form.kept);
    f->outputs = product(f->extent, f->form.kept);
    f->length = product(f->extent + f->form.kept, f->form.reduced);
}

int64_t qn_fold_packs(const qn_fold *f)
{
    if (f->form.columns && (f->form.whole || f->form.cut)) {
        return f->outputs / f->head * qn_over(f->head, f->form.lanes);
    }
    if (f->form.swath) {
        return f->outputs / f->extent[f->form.kept - 1] * qn_fold_row_swaths(f);
    }
    return f->form.columns ? f->outputs / f->form.lanes : f->outputs;
}

bool qn_fold_dense_columns(const qn_fold_making *m)
{
    const qn_fold *f = m->fold;
    if (f->form.kept == 0 || f->form.reduced == 0) {
        return f->form.reduced == 0;
    }
    int kept = f->form.kept - 1, reduced = f->form.kept + f->form.reduced - 1;
    for (size_t k = 0; k < qn_fold_moving(&f->form, m->inputs, m->count); k++) {
        int64_t a = qn_magnitude(f->stride[k][kept]), b = qn_magnitude(f->stride[k][reduced]);
        if (a != b && a != 0 && b != 0) {
            return a < b;
        }
    }
    return false;
}

bool qn_fold_needs_wide(const qn_fold_making *m)
{
    const qn_fold *f = m->fold;
    int64_t most = INT32_MAX - (1 << 20);
    if (f->length > most || f->outputs > most / QN_MAX(1, f->length)) {
        return true;
    }
    for (size_t k = 0; k < m->count; k++) {
        for (int d = 0; d < f->form.kept + f->form.reduced; d++) {
            if (qn_magnitude(f->stride[k][d]) > INT32_MAX) {
                return true;
            }
        }
    }
    return false;
}
