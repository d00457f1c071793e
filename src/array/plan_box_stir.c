/* SPDX-License-Identifier: MIT
 *
 * plan_box_stir: in which order the threads of a block take the sectors of a box in runs. In: a
 * plan whose boxes and ways are chosen. Out: how many packs threads beside each other take side by
 * side, whole sectors, and how many groups further on that of the next threads lies. The thing to
 * know: threads that have neighbouring sectors read shared memory at places a multiple of 128 bytes
 * apart, if an input has a row for each of 196 columns, and so wait for one bank; those that have
 * sectors 19 apart meet two at a time.
 */
#include "array/plan.h"

#define WARP    32
#define BANKS   32
#define BANK    4  /* bytes */
#define SAMPLES 4  /* warps that are looked at */
#define SPREAD  24 /* turns of the memory unit that 32 packs in sectors of their own cost more */
#define ENOUGH  32 /* turns that are hidden by what moves meanwhile */

/* What decides where an element lies. */
typedef struct stirring {
    const qn_plan *p;
    const qn_box_way *way; /* the output's */
    size_t output;
    int64_t item;              /* bytes of its elements */
    int64_t most;              /* of a sector */
    int64_t length, runs;      /* elements of a run, and runs, of a box */
    int lanes;                 /* elements of a pack */
    int group;                 /* packs that lie side by side */
    int64_t each, all;         /* groups of a run, and of a box */
    int64_t step[QN_BOX_DIMS]; /* in the input that is looked at, along the output's order */
} stirring;

/* Where the input has an element of a run, from the begin of the box. */
static int64_t place(const stirring *s, int64_t run, int64_t element)
{
    int64_t at = 0;
    for (int d = s->way->count - 1; d >= 0; d--) {
        int64_t *const rest = d >= s->way->count - s->way->run ? &element : &run;
        const int64_t extent = s->p->extent[s->way->order[d]];
        at += *rest % extent * s->step[d];
        *rest /= extent;
    }
    return at;
}

/* Elements by which the box gives a run early, since a sector begins there. */
static int64_t early(const stirring *s, int64_t run)
{
    int64_t at = 0;
    for (int d = s->way->count - s->way->run - 1; d >= 0 && s->p->form.slack != 0; d--) {
        const int64_t extent = s->p->extent[s->way->order[d]];
        at += run % extent * s->p->stride[s->output][s->way->order[d]];
        run /= extent;
    }
    return (at & (QN_SECTOR_BYTES - 1)) / s->item;
}

/* Words that the busiest bank gives a warp in turn. */
static int busiest(const int64_t *places)
{
    int used[BANKS] = {0}, most = 0;
    for (int t = 0; t < WARP; t++) {
        bool seen = false;
        for (int other = 0; other < t && !seen; other++) {
            seen = places[other] / BANK == places[t] / BANK;
        }
        int *const bank = &used[places[t] / BANK % BANKS];
        *bank += !seen;
        most = QN_MAX(most, *bank);
    }
    return most;
}

/* The same on the average, for groups `stir` apart. */
static double conflicts(const stirring *s, int64_t stir)
{
    double all = 0;
    for (int sample = 0; sample < SAMPLES; sample++) {
        const int64_t first = s->all / SAMPLES * sample, lane = sample % s->lanes;
        int64_t places[WARP];
        for (int t = 0; t < WARP; t++) {
            const int64_t group = (first + t / s->group) * stir % s->all;
            const int64_t run = group / s->each;
            const int64_t pack = (group - run * s->each) * s->group + t % s->group;
            const int64_t element = QN_MIN(pack * s->lanes, s->length - s->lanes) + lane;
            places[t] = place(s, run, element + (s->most - early(s, run)) % s->most);
        }
        all += busiest(places);
    }
    return all / SAMPLES;
}

/* Along each dimension of the output's order, how far an input's elements lie from each other. */
static void find_steps(stirring *s, size_t k, int64_t item)
{
    const qn_box_way *w = &s->p->form.way[k];
    int64_t pitch[QN_BOX_DIMS];
    (void)qn_plan_box_pitches(pitch, s->p, k, item);
    for (int d = 0; d < s->way->count; d++) {
        s->step[d] = 0;
        for (int at = 0; at < w->count; at++) {
            s->step[d] = w->order[at] == s->way->order[d] ? pitch[at] : s->step[d];
        }
    }
}

/* Turns of the memory unit for a warp's packs. */
static double turns(stirring *s, const qn_operand *operands, size_t operand_count, int64_t stir)
{
    double all = 0;
    for (size_t k = 0; k < operand_count; k++) {
        if (s->p->form.access[k] == QN_ACCESS_TILED) {
            find_steps(s, k, operands[k].item_size);
            all += s->lanes * conflicts(s, stir);
        }
    }
    return QN_MAX(all, ENOUGH);
}

static void find_extents(stirring *s)
{
    const qn_box_way *w = s->way;
    s->length = s->runs = 1;
    for (int d = 0; d < w->count; d++) {
        *(d < w->count - w->run ? &s->runs : &s->length) *= s->p->extent[w->order[d]];
    }
    s->length -= s->length / s->p->extent[w->order[w->count - w->run]] * s->p->form.slack;
}

static void set_group(stirring *s, int exponent)
{
    s->group = 1 << exponent;
    s->each = qn_over(s->length, (int64_t)s->group * s->lanes);
    s->all = s->each * s->runs;
}

void qn_plan_box_stir(qn_plan *p, const qn_operand *operands, size_t operand_count)
{
    /* primes, so that threads take all groups of boxes whose numbers they do not divide */
    static const uint8_t stirs[] = {1, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37};
    size_t y = 0;
    while (!operands[y].output) {
        y++;
    }
    stirring s = {.p = p, .way = &p->form.way[y], .output = y, .lanes = p->form.lanes};
    s.item = operands[y].item_size;
    s.most = QN_SECTOR_BYTES / s.item;
    find_extents(&s);
    double least = 0,
           spread = 2 * SPREAD; /* of the output, and of inputs whose packs lie like its */
    for (size_t k = 0; k < operand_count; k++) {
        spread += p->form.access[k] == QN_ACCESS_VECTOR ? 2 * SPREAD : 0;
    }
    p->stir = 0;
    for (int exponent = 0; exponent < 6; exponent++) {
        set_group(&s, exponent);
        const double idle = (double)(s.each * s.group * s.lanes) / (double)s.length;
        const bool apt = s.group * s.lanes >= s.most && s.group * s.lanes <= 4 * s.most;
        for (size_t n = 0; apt && n < sizeof stirs; n++) {
            /* the last boxes have a group more of a run */
            if (n > 0 && (s.all % stirs[n] == 0 || (s.all + s.runs) % stirs[n] == 0)) {
                continue;
            }
            const double cost = turns(&s, operands, operand_count, stirs[n]) * idle +
                                (n > 0 ? spread / (double)(s.group * s.lanes * s.item / 16) : 0);
            if (p->stir == 0 || cost < least) {
                least = cost;
                p->stir = stirs[n];
                p->group = exponent;
            }
        }
    }
}
