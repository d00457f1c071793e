/* SPDX-License-Identifier: MIT
 *
 * fold_search: reductions that choose one element, by search. In: the plan of a reduction by rows.
 * Out: the same plan, or one in which warps go over what lies on in memory, whatever the positions
 * there are, and ask of many elements at once whether one of them may be better than the best so
 * far. The thing to know: that is seldom so, and only then the positions of single elements count.
 * All reduced dimensions that lie on are one line then; from a place in it, positions follow by
 * dividing by their extents, which stand behind those of the walk.
 */
#include "array/fold.h"
#include <string.h>

/* On an H200, of a copy's speed, before and so: argmax of (867, 5, 93, 1043) uint8 of which two
 * axes run backwards and all lie in another order, 0.06 and 0.92; argmin of six axes of float32 in
 * another order 0.20 and 0.63; argmax of (2, 32, 4, 262144, 4) bfloat16 0.62 and 0.97. Where
 * positions rise and packs are aligned anyway, rows are as good, but of bytes, which are asked four
 * at a time: 1.25 * 10^8 bool 0.84 and 0.99, 10^8 int8 0.89 and 0.87, 1.06 * 10^8 uint8 0.74 and
 * 0.87. A warp's first step takes longest, so that few of them do not pay: a transposed array of 16
 * MiB takes 15.8 us by rows and 17.8 by search, one of 64 MiB 43.6 and 37.9. */
#define TURNS       4  /* packs of a thread at once: a warp asks for all of them together */
#define LEAST_STEPS 2  /* of a warp, where blocks share an output */
#define FEW_STEPS   4  /* of a warp, if all that are held share the elements: with less, none */
#define MANY_STEPS  12 /* of bytes that rows suit, too */
#define LINE_STEPS  8  /* of a line at least: elements of its first and last may go one by one */
#define WARPS       (QN_FOLD_BLOCK / QN_WARP)

/* True where each input is dense or the same along dimension `d`. */
static bool is_dense(const qn_fold_making *m, int d)
{
    bool any = false;
    for (size_t k = 0; k < m->inputs; k++) {
        const int64_t stride = m->fold->stride[k][d];
        any |= stride != 0;
        if (stride != 0 && stride != m->operands[k].item_size) {
            return false;
        }
    }
    return any;
}

/* True where what lies on along a line of `length` elements lies on along dimension `d`, too. */
static bool lies_on(const qn_fold_making *m, int d, int last, int64_t length)
{
    bool on = true;
    for (size_t k = 0; k < m->inputs; k++) {
        on &= m->fold->stride[k][d] == m->fold->stride[k][last] * length;
    }
    return on;
}

/* Where positions rise as memory is walked, or as it is walked from its end. */
static bool rises(const qn_fold_making *m, int sign)
{
    const qn_fold *f = m->fold;
    int64_t all = sign;
    bool rise = true;
    for (int d = f->form.kept + f->form.reduced - 1; d >= f->form.kept; d--) {
        rise &= f->stride[m->count][d] == all;
        all *= f->extent[d];
    }
    return rise;
}

/* True where positions mostly fall along the walk of a block: along the dimension that counts most
 * of those along which its steps go. Each step would be better than the one before. */
static bool falls(const qn_fold_making *m, int64_t step, int64_t chunk)
{
    const qn_fold *f = m->fold;
    int64_t size = 1, most = 0;
    for (int d = f->form.kept + f->form.reduced - 1; d >= f->form.kept && size < chunk; d--) {
        const int64_t stride = f->stride[m->count][d];
        const bool on = size * f->extent[d] > step;
        most = on && qn_magnitude(stride) > qn_magnitude(most) ? stride : most;
        size *= f->extent[d];
    }
    return most < 0;
}

/* The first operand that is dense; packs are aligned for it. */
static size_t first_dense(const qn_fold_making *m, int d)
{
    size_t k = 0;
    while (m->fold->stride[k][d] == 0) {
        k++;
    }
    return k;
}

static bool may_take(const qn_fold_making *m)
{
    const qn_fold *f = m->fold;
    const qn_fold_rules *r = m->rules;
    const int last = f->form.kept + f->form.reduced - 1;
    return r->ranked && r->counted && !r->ordered && !r->positions && r->repeats &&
           r->pack_bytes != 0 && !f->form.columns && f->form.reduced > 0 && f->outputs > 0 &&
           f->length > 0 && last + 2 < QUERN_MAX_NDIM && is_dense(m, last);
}

/* The dimensions [from, from + count) of all operands and of positions, one further on. */
static void move_on(const qn_fold_making *m, int from, int count)
{
    qn_fold *f = m->fold;
    memmove(f->extent + from + 1, f->extent + from, (size_t)count * sizeof *f->extent);
    for (size_t k = 0; k <= m->count; k++) {
        memmove(f->stride[k] + from + 1, f->stride[k] + from, (size_t)count * sizeof **f->stride);
    }
}

/* The line that ends with the last dimension, and how many dimensions it is. */
static int count_line(const qn_fold_making *m, int64_t *line)
{
    const qn_fold *f = m->fold;
    const int last = f->form.kept + f->form.reduced - 1;
    int inner = last;
    *line = f->extent[inner];
    while (inner > f->form.kept && lies_on(m, inner - 1, last, *line)) {
        *line *= f->extent[--inner];
    }
    return last + 1 - inner;
}

/* Let the last `placed` dimensions be one in the walk. */
static void lay_line(const qn_fold_making *m, int placed, int64_t line)
{
    qn_fold *f = m->fold;
    const int end = f->form.kept + f->form.reduced, inner = end - placed;
    move_on(m, inner, placed);
    f->extent[inner] = line;
    for (size_t k = 0; k <= m->count; k++) {
        f->stride[k][inner] = k < m->inputs ? f->stride[k][end] : 0;
    }
    f->form.placed = (uint8_t)placed;
    f->form.reduced = (uint8_t)(f->form.reduced + 1 - placed);
}

/* Steps of a line, and how many of all a block has. */
static void share(const qn_fold_making *m, int64_t line, int64_t step)
{
    qn_fold *f = m->fold;
    f->head = qn_over(line + f->form.lanes - 1, step);
    f->units = f->length / line * f->head;
    f->rest = 0;
    const int64_t blocks = (int64_t)m->rules->processors * QN_FOLD_SEARCH_HELD / f->outputs;
    const int64_t chunk = QN_MAX(qn_over(f->units, QN_MAX(blocks, 1)), WARPS * LEAST_STEPS);
    f->chunk = qn_over(chunk, WARPS) * WARPS;
    f->workers = QN_FOLD_BLOCK;
    f->groups = f->outputs;
    f->splits = qn_over(f->units, f->chunk);
    f->form.split = f->splits > 1;
}

/* True where elements are so many steps of each warp, if as many are at work as the device holds.
 */
static bool has_steps(const qn_fold_making *m, int64_t steps, uint32_t lanes)
{
    const qn_fold *f = m->fold;
    const int64_t warps = (int64_t)m->rules->processors * QN_FOLD_SEARCH_HELD * WARPS;
    return f->length >= steps * warps * TURNS * QN_WARP * lanes / f->outputs;
}

/* True where rows are as good: positions rise, and packs are aligned and as wide. */
static bool rows_suit(const qn_fold_making *m, size_t anchor, uint32_t lanes)
{
    const qn_fold_form *f = &m->fold->form;
    return !(m->rules->keyed && has_steps(m, MANY_STEPS, lanes)) && f->lanes == lanes &&
           f->access[anchor] == QN_ACCESS_VECTOR;
}

void qn_fold_take_search(const qn_fold_making *m)
{
    qn_fold *f = m->fold;
    if (!may_take(m)) {
        return;
    }
    int64_t line;
    const int placed = count_line(m, &line);
    const size_t anchor = first_dense(m, qn_fold_lane_dim(&f->form));
    const uint32_t before = f->form.lanes;
    const uint32_t lanes = qn_pack_lanes(m->operands, m->inputs, m->rules->pack_bytes);
    const int64_t step = (int64_t)TURNS * QN_WARP * lanes;
    const bool up = rises(m, 1), down = rises(m, -1);
    if (lanes == 1 || line < LINE_STEPS * step || !has_steps(m, FEW_STEPS, lanes) ||
        ((up || down) && rows_suit(m, anchor, lanes))) {
        return;
    }
    f->form.lanes = (uint8_t)lanes;
    if (!qn_fold_off_alike(m, anchor, anchor)) {
        f->form.lanes = (uint8_t)before;
        return;
    }
    f->form.search = up || down ? QN_SEARCH_RISING : QN_SEARCH_ANY;
    f->form.reordered = 1;
    f->form.turns = TURNS;
    f->form.known = f->form.cut = f->form.ragged = 0;
    share(m, line, step);
    f->form.turned = down || (!up && falls(m, step, f->chunk * step));
    lay_line(m, placed, line);
    for (size_t k = 0; k < m->inputs; k++) {
        const bool moves = f->stride[k][qn_fold_lane_dim(&f->form)] != 0;
        f->form.access[k] = !moves                            ? QN_ACCESS_BROADCAST
                            : qn_fold_off_alike(m, k, anchor) ? QN_ACCESS_VECTOR
                                                              : QN_ACCESS_CONTIGUOUS;
    }
}
