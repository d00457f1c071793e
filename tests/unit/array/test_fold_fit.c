/* SPDX-License-Identifier: MIT
 *
 * How many blocks share an output once it is known how many a processor holds: every plan still
 * covers its units, none takes longer, and what cannot be shared out is left alone.
 */
#include "array/fold.h"
#include <criterion/criterion.h>

enum { PROCESSORS = 132 };

static qn_fold planned(int64_t units, uint32_t workers, int64_t groups, int64_t splits)
{
    qn_fold f;
    memset(&f, 0, offsetof(qn_fold, extent));
    f.units = units;
    f.workers = workers;
    f.groups = groups;
    f.chunk = qn_over(qn_over(units, splits), (int64_t)workers) * workers;
    f.splits = qn_over(units, f.chunk);
    f.form.split = 1;
    return f;
}

/* Waves of blocks, each as long as a block's chunk. */
static int64_t time_of(const qn_fold *f, int64_t held)
{
    return qn_over(f->groups * f->splits, held) * f->chunk;
}

Test(fold_fit, the_last_blocks_do_not_run_alone)
{
    /* A sum of 31 columns: 1050 blocks, of which 792 are held. */
    qn_fold f = planned(361156, 8, 1, 1050);
    qn_fold_fit(&f, PROCESSORS, 6, false);
    cr_assert(f.splits <= 792 && f.splits > 700, "%ld", (long)f.splits);
    /* 410 groups of 2 blocks: a wave of 792, and one of 28. */
    f = planned(6051, 8, 410, 2);
    qn_fold_fit(&f, PROCESSORS, 6, false);
    cr_assert(f.splits > 4, "%ld", (long)f.splits);
}

Test(fold_fit, light_columns_go_in_one_wave)
{
    /* Sums of 256 columns of int8: 1041 blocks, in two waves of 528 as long as one. */
    qn_fold f = planned(1048576, 16, 1, 1041);
    qn_fold_fit(&f, PROCESSORS, 4, false);
    cr_assert(f.splits > 1000, "%ld", (long)f.splits);
    qn_fold_fit(&f, PROCESSORS, 4, true);
    cr_assert(f.splits <= 528 && f.splits > 500, "%ld", (long)f.splits);
    /* 2 blocks for each of 150 groups would leave processors idle. */
    f = planned(262144, 8, 150, 5);
    qn_fold_fit(&f, PROCESSORS, 3, true);
    cr_assert(f.splits >= 5, "%ld", (long)f.splits);
}

Test(fold_fit, units_are_covered_and_none_takes_longer)
{
    uint64_t state = 3;
    int changed = 0;
    for (int n = 0; n < 20000; n++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        const uint64_t r = state >> 20;
        const uint32_t workers = 1u << (r & 7), blocks = 1 + (uint32_t)(r >> 3 & 7);
        const int64_t groups = 1 + (int64_t)(r >> 6 & 1023),
                      units = 1 + (int64_t)(r >> 16 & 0xfffff);
        const qn_fold before = planned(units, workers, groups, 2 + (int64_t)(r >> 36 & 255));
        qn_fold f = before;
        const bool light = (r >> 44 & 1) != 0;
        qn_fold_fit(&f, PROCESSORS, blocks, light);
        const int64_t held = (int64_t)PROCESSORS * blocks;
        cr_assert(f.splits >= 1 && f.chunk % workers == 0);
        cr_assert(f.chunk * f.splits >= units && f.chunk * (f.splits - 1) < units);
        const double most = (double)time_of(&before, held) * (light ? 1.04 : 1) + light * workers;
        cr_assert(f.splits == before.splits || (double)time_of(&f, held) <= most,
                  "%ld units, %u workers, %ld groups, %ld splits, now %ld", (long)units, workers,
                  (long)groups, (long)before.splits, (long)f.splits);
        changed += f.splits != before.splits;
    }
    cr_assert(changed > 300, "%d", changed);
}

Test(fold_fit, other_kinds_are_left_alone)
{
    for (int kind = 0; kind < 6; kind++) {
        qn_fold f = planned(361156, 8, 1, 1050);
        f.form.scan = kind == 0;
        f.form.spans = kind == 1;
        f.form.phases = kind == 2;
        f.form.joined = kind == 3;
        f.form.split = kind != 4;
        const int64_t before = f.splits;
        qn_fold_fit(&f, PROCESSORS, kind == 5 ? 0 : 6, false);
        cr_assert_eq(f.splits, before, "%d", kind);
    }
}
