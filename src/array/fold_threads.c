/* SPDX-License-Identifier: MIT
 *
 * fold_threads: the threads and blocks of a reduction. In: a fold whose units are chosen. Out: how
 * many threads an output has, how many blocks share it, and how many units a thread reads at once.
 * The thing to know: memory is kept busy by bytes that are under way. Narrow columns take their
 * registers for values, so few threads have many bytes each.
 */
#include "array/fold.h"

#define HELD         8  /* blocks of 256 threads that a processor holds */
#define SHORT_UNITS  32 /* of a thread: with no more, a row is short */
#define LINE_UNITS   3  /* of a thread, or as many as 48 bytes: they share lines with others */
#define FEW_WORKERS  8  /* of a row whose values are costly to combine: they read a line together */
#define SOME_WORKERS 32 /* and a warp */
#define NARROW_BYTES 64 /* of outputs side by side: a warp has room for several positions */
#define CUT_TURNS    2  /* of rows: the code of each can read elements one by one */
#define CUT_ROOM     40 /* registers for such units of columns; half, where values are structures */
#define LEAST_VALUE  4  /* bytes of a value that has a register of its own */
#define PACK_TURNS   4  /* packs by spans and phases; of bytes, which take long to unpack, more */
#define FEW_LANES    4  /* of rows that choose: four units at once; with more lanes, no need */
#define FEW_BYTES    32 /* of such packs, where values are structures */
#define LIGHT_VALUES 128 /* bytes of a thread's values of columns that leave it registers */
#define LIGHT_BYTES  128 /* of columns with such values that a thread should have under way */

/* Packs of columns that lie side by side in memory and are short of a line, while what lies behind
 * them are the next reduced elements; else 0. */
static int64_t narrow_packs(const qn_fold_making *m)
{
    const qn_fold *f = m->fold;
    const int lane = f->form.kept - 1, last = lane + f->form.reduced;
    if (f->form.kept < 2 || f->form.reduced == 0) {
        return 0;
    }
    bool any = false;
    for (size_t k = 0; k < m->inputs; k++) {
        const int64_t own = qn_magnitude(f->stride[k][lane]);
        const int64_t behind = qn_magnitude(f->stride[k][last]);
        const int64_t beside = qn_magnitude(f->stride[k][lane - 1]);
        if (own * f->extent[lane] >= NARROW_BYTES || behind >= NARROW_BYTES) {
            return 0;
        }
        any |= own != 0 && behind != 0 && behind < beside;
    }
    return any ? qn_over(f->extent[lane], f->form.lanes) : 0;
}

/* Packs of columns that a block has side by side at most: so few that few threads have none, and
 * that those of a warp lie close together. */
static uint32_t choose_beside(const qn_fold_making *m, int64_t packs)
{
    const int64_t narrow = narrow_packs(m);
    if (narrow > 0) {
        return qn_power_of_two(narrow, 32);
    }
    uint32_t beside = qn_power_of_two(packs, 32);
    while (beside > 8 && qn_over(packs, beside) * beside - packs > packs / 8) {
        beside /= 2;
    }
    return beside;
}

/* Units that a thread should have. Rows off the alignment of 513 to 3001 float32 and float16, on an
 * H200: with 4 and 8 units of 16 bytes 0.88 to 1.09 of a copy's speed, with 6 to 12 of them 1.01 to
 * 1.10. Units of two float64 are enough with 8. */
static int64_t enough_units(const qn_fold_making *m)
{
    const qn_fold_form *f = &m->fold->form;
    const int64_t least = QN_FOLD_LEAST_UNITS;
    return f->columns ? least : f->lanes >= 4 ? 3 * least : least * (4 / f->lanes);
}

/* Threads of a row whose values are no plain numbers. What threads have is costly to combine, but
 * few threads read rows that lie apart, each a line of memory by itself. Least and largest, where
 * the largest is and logsumexp of rows of 64 float32 on an H100: with 16 units a thread 0.72, 0.72
 * and 0.52 of a copy's speed, with 4 of them 0.95, 0.94, 0.86; of 1000 with 8, 1.00, 0.99, 0.88.
 * Variances, which divide, of rows of 128: 0.73 with 4 units, 0.88 with 16. */
static uint32_t compound_workers(const qn_fold_making *m)
{
    const int64_t units = QN_MAX(m->fold->units, 1);
    const int64_t each = QN_FOLD_LEAST_UNITS * QN_MAX(1, 4 / m->fold->form.lanes);
    const bool dear = m->rules->dear;
    const uint32_t few = qn_power_of_two(qn_over(units, each), dear ? 2 : FEW_WORKERS);
    const uint32_t some = qn_power_of_two(qn_over(units, 2 * each), dear ? 1 : SOME_WORKERS);
    return QN_MAX(QN_MAX(few, some), qn_power_of_two(qn_over(units, 4 * each), QN_FOLD_BLOCK));
}

/* Threads of a short row whose units lie on, up to those that read a line of memory together: with
 * fewer an access of a warp meets more lines. Rows of 16 float64 are summed at 0.86 of a copy's
 * speed on an H200 where a thread has 128 bytes, at 0.93 where it has 64, and at 1.05 where it
 * has 32. */
static uint32_t line_workers(const qn_fold_making *m, int64_t units)
{
    const uint32_t bytes = QN_MAX(1, qn_fold_unit_bytes(&m->fold->form, m->operands, m->inputs));
    const int64_t each = QN_MAX(LINE_UNITS, LINE_UNITS * QN_ACCESS_BYTES / bytes);
    const int64_t on = m->fold->extent[qn_fold_lane_dim(&m->fold->form)] / m->fold->form.lanes;
    return qn_power_of_two(QN_MIN(qn_over(units, each), on),
                           (uint32_t)qn_over(QN_LINE_BYTES, bytes));
}

/* Threads of a block that work on one output. With few outputs, as many as have a unit each; with
 * many, fewer, so that each has several units. With columns, no more than leave room for
 * neighbouring outputs side by side, whose reads are dense. */
static uint32_t choose_workers(const qn_fold_making *m, int64_t packs, int64_t threads,
                               uint32_t asked, bool *fewer)
{
    const qn_fold *f = m->fold;
    int64_t units = qn_fold_is_lined(&f->form) ? f->units : QN_MAX(f->units, f->rest);
    uint32_t enough = qn_power_of_two(qn_over(units, enough_units(m)), QN_FOLD_BLOCK);
    uint32_t most = qn_power_of_two(units, QN_FOLD_BLOCK);
    if (f->form.columns) {
        uint32_t beside = choose_beside(m, packs);
        most = QN_MIN(most, QN_FOLD_BLOCK / beside);
        enough = QN_MIN(enough, most);
    } else {
        enough = m->rules->compound ? compound_workers(m) : QN_MAX(enough, line_workers(m, units));
    }
    *fewer = asked != 0 && asked < most;
    if (asked != 0) {
        return QN_MIN(asked, most);
    }
    uint32_t workers = packs * enough >= threads ? enough : most;
    while (f->form.columns && workers > 1 && packs * workers > 4 * threads) {
        workers /= 2; /* so many outputs keep the device busy by themselves */
    }
    return workers;
}

/* Sums of columns with 64 and 128 bytes under way, of a copy's speed on an H200: of 1024 and 2000
 * float16 0.85 and 0.80, 0.95 and 0.93; of int8 0.72 and 0.71, 0.75 and 0.81. */
bool qn_fold_is_light(const qn_fold_form *f, uint32_t value_size)
{
    return f->columns && value_size > 0 && value_size * f->lanes <= LIGHT_VALUES;
}

/* How many units that lie anywhere a thread reads at once at most. Of columns the first and the
 * last line go by themselves, and only registers limit the others: with two, a thread has 16 bytes
 * under way, and counts of 45 bool in each column went at 0.53 of a copy's speed on an H200. */
static uint32_t most_cut_turns(const qn_fold_making *m)
{
    if (!m->fold->form.columns) {
        return CUT_TURNS;
    }
    const bool roomy = !m->rules->compound || m->rules->chooses;
    const uint32_t room = roomy ? CUT_ROOM : CUT_ROOM / 2;
    uint32_t turns = 8;
    while (turns > CUT_TURNS && turns * qn_fold_unit_registers(m) > room) {
        turns /= 2;
    }
    return turns;
}

/* Units that a thread reads at once. Those of short rows are, whether or not there are so many:
 * rows of 777 float32 run at 4.4 TB/s on an H200 so, at 1.4 where units are left over one by one.
 * Of columns as many as keep memory busy. Of rows that blocks share there are threads enough for 16
 * bytes each, but narrow elements take so long to unpack that two units are better. */
static uint8_t choose_turns(const qn_fold_making *m, uint32_t asked)
{
    const qn_fold *f = m->fold;
    const int64_t each = qn_over(QN_MIN(f->units, f->chunk), f->workers);
    const bool few = m->rules->chooses && !f->form.columns && f->form.lanes <= FEW_LANES;
    uint32_t most = f->form.lanes == 1 && !few ? 8 : 4;
    if (f->form.columns || f->form.cut) {
        const uint32_t bytes = qn_fold_unit_bytes(&f->form, m->operands, m->inputs);
        const bool light =
            qn_fold_is_light(&f->form, m->rules->value_size) && !m->rules->adds_narrow;
        const uint32_t all = light ? LIGHT_BYTES : QN_FOLD_COLUMN_BYTES;
        most = qn_power_of_two(qn_over(all, QN_MAX(bytes, 1)), f->form.cut ? most_cut_turns(m) : 8);
    } else if (f->form.split) {
        most = f->form.lanes > 4 ? 2 : few ? 4 : 1;
    }
    const uint32_t turns = qn_power_of_two(each, asked != 0 ? asked : most);
    /* Single elements that lie a step apart pay for no question whether each is there, unless the
     * compiler would read each behind the choice of the one before: argmax of rows of 100003
     * float32 went at 0.89 of a copy's speed on an H200 so, and at 0.97 by four at once. */
    const bool asks = f->form.lanes > 1 || f->form.reduced > 1 || m->rules->chooses;
    const bool pays = each <= SHORT_UNITS || f->form.cut || few || (f->form.columns && asks);
    return (uint8_t)(turns > 1 && pays ? turns : 0);
}

/* Sums on an H200, with 4 and 8 packs under way, of a copy's speed: of 333 columns of int8 0.78 and
 * 0.90, along the middle of (n, 236, 217) 0.62 and 0.71, of (n, 1000, 64) of int8 0.84 and 0.94, of
 * int16 1.00 and 0.90. Values that are bytes themselves the compiler packs: with 8, some go to
 * local memory, and `a > b ? a : b` of int8 had 0.22. */
uint8_t qn_fold_pack_turns(const qn_fold_making *m)
{
    const qn_fold_form *f = &m->fold->form;
    const uint32_t bytes = qn_fold_unit_bytes(f, m->operands, m->inputs);
    const bool compound = m->rules->compound && !m->rules->keyed;
    const bool packed = m->rules->value_size > 0 && m->rules->value_size < LEAST_VALUE;
    const bool narrow = bytes == f->lanes && !compound && !packed; /* one input, of bytes */
    const uint32_t all = compound ? FEW_BYTES : (narrow ? 2 : 1) * QN_FOLD_COLUMN_BYTES;
    return (uint8_t)qn_power_of_two(qn_over(all, bytes), narrow ? 2 * PACK_TURNS : PACK_TURNS);
}

void qn_fold_choose_threads(const qn_fold_making *m)
{
    qn_fold *f = m->fold;
    int64_t packs = qn_fold_packs(f);
    const qn_setting none = {.turns = m->rules->setting.turns};
    const qn_setting *s = m->rules->exact ? &m->rules->setting : &none;
    int64_t blocks = (int64_t)m->rules->processors * (s->blocks != 0 ? s->blocks : HELD);
    bool fewer; /* than a block has: then blocks do not share an output */
    f->workers = choose_workers(m, packs, blocks * QN_FOLD_BLOCK, s->workers, &fewer);
    f->groups = (packs - 1) / qn_fold_block_outputs(f) + 1;
    qn_fold_share(f, fewer ? 1 : QN_MAX(1, QN_MIN(blocks / f->groups, qn_fold_most_splits(f))));
    f->form.split = f->splits > 1;
    f->form.turns = m->rules->in_turns ? choose_turns(m, s->turns) : 0;
    const bool few = f->units <= (int64_t)f->workers * SHORT_UNITS;
    if (!f->form.columns && !f->form.split && few) {
        f->form.known = (uint8_t)(1 + __builtin_ctz(f->workers));
    }
}
