/* SPDX-License-Identifier: MIT
 *
 * fold_fit: how many blocks share an output of a reduction by rows or columns: as it is planned,
 * and again when it is known how many of them a processor holds. In: a fold, and for the latter its
 * kernel's number. Out: `splits` and `chunk`, which the code does not know. The thing to know: the
 * plan counts on as many blocks as small kernels have; of a kernel with more registers the last
 * ones would run alone, as long as all before them: at 1.33 times what the processors hold, a third
 * of the time is lost. Every block of columns leaves a value for each of them. Where reading them
 * takes longer than combining, there are no more blocks than the processors hold: sums of 16
 * columns of int8 go at 0.93 of a copy's speed on an H200 so, and went at 0.86 by twice as many.
 */
#include "array/fold.h"

#define MOST_WAVES 4    /* of blocks, one after the other: after more, the last one is little */
#define WORTH_IT   0.95 /* of the time otherwise */
#define AS_GOOD    1.03 /* times as long: fewer blocks leave fewer values for each other */

int64_t qn_fold_most_splits(const qn_fold *f)
{
    return f->units / ((int64_t)f->workers * QN_FOLD_LEAST_UNITS);
}

void qn_fold_share(qn_fold *f, int64_t splits)
{
    f->chunk = QN_MAX(1, qn_over(qn_over(f->units, splits), (int64_t)f->workers) * f->workers);
    f->splits = QN_MAX(1, qn_over(f->units, f->chunk));
}

/* The time of a block's work if so many blocks share an output, where one takes 1. */
static double time_of(int64_t splits, int64_t groups, int64_t held)
{
    return (double)qn_over(groups * splits, held) / (double)splits;
}

void qn_fold_fit(qn_fold *f, uint32_t processors, uint32_t blocks, bool light)
{
    const int64_t held = (int64_t)processors * blocks;
    if (!f->form.split || f->form.scan || f->form.search || f->form.spans || f->form.phases ||
        f->form.joined || f->groups * f->splits > MOST_WAVES * held) {
        return;
    }
    const int64_t most = qn_fold_most_splits(f);
    const int64_t once = QN_MIN(held / f->groups, most);
    double least = time_of(f->splits, f->groups, held);
    if (light && once > 0 && once < f->splits && time_of(once, f->groups, held) < least * AS_GOOD) {
        qn_fold_share(f, once);
        return;
    }
    int64_t best = f->splits;
    for (int waves = 1; waves <= MOST_WAVES; waves++) {
        const int64_t splits = QN_MIN(waves * held / f->groups, most);
        if (splits > 0 && time_of(splits, f->groups, held) < least * WORTH_IT) {
            best = splits;
            least = time_of(splits, f->groups, held);
        }
    }
    if (best != f->splits) {
        qn_fold_share(f, best);
    }
}
