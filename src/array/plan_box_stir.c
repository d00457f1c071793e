/* SPDX-License-Identifier: MIT
 *
 * plan_box_stir: in which order the threads of a block take the sectors of a box in runs. In: a
 * plan whose boxes and ways are chosen. Out: how many packs threads beside each other take side by
 * side, whole sectors, and how many groups further on that of the next threads lies; groups are
 * numbered along runs or from run to run. The thing to know: threads that have neighbouring sectors
 * read shared memory at places a multiple of 128 bytes apart, if an input has a row for each of 196
 * columns, and so wait for one bank; those that have sectors 19 apart meet two at a time. Of an
 * input that lies on from run to run, as 16 columns of bytes, threads with the same sector of
 * neighbouring runs find a word for four of them.
 */
#include "array/plan.h"

#define SAMPLES 4  /* warps that are looked at */
#define SPREAD  24 /* turns of the memory unit that 32 packs in sectors of their own cost more */
#define ENOUGH  32 /* turns that are hidden by what moves meanwhile */

/* What decides where an element lies; a box has few bytes, so all of it is small. */
typedef struct stirring {
    const qn_plan *p;
    const qn_box_way *way; /* the output's */
    size_t output;
    int64_t item;                       /* bytes of its elements */
    int64_t most;                       /* of a sector */
    int64_t length, runs;               /* elements of a run, and runs, of a box */
    int lanes;                          /* elements of a pack */
    int group;                          /* packs that lie side by side */
    int each, all;                      /* groups of a run, and of a box */
    bool across;                        /* they are numbered from run to run */
    int step[QN_BOX_WAYS][QN_BOX_DIMS]; /* of inputs along the output's order */
} stirring;

/* Where input `k` has an element of a run, from the begin of the box. */
static int place(const stirring *s, size_t k, int run, int element)
{
    int at = 0;
    for (int d = s->way->count - 1; d >= 0; d--) {
        int *const rest = d >= s->way->count - s->way->run ? &element : &run;
        const int extent = (int)s->p->extent[s->way->order[d]];
        at += *rest % extent * s->step[k][d];
        *rest /= extent;
    }
    return at;
}

/* Elements by which the box gives a run early, since a sector begins there. */
static int early(const stirring *s, int run)
{
    int64_t at = 0;
    for (int d = s->way->count - s->way->run - 1; d >= 0 && s->p->form.slack != 0; d--) {
        const int extent = (int)s->p->extent[s->way->order[d]];
        at += run % extent * s->p->stride[s->output][s->way->order[d]];
        run /= extent;
    }
    return (int)(at & (QN_SECTOR_BYTES - 1)) / s->item;
}

/* Words of input `k` that the busiest bank gives a warp in turn, on the average, for groups `stir`
 * apart. */
static double conflicts(const stirring *s, size_t k, int stir)
{
    double all = 0;
    for (int sample = 0; sample < SAMPLES; sample++) {
        const int first = s->all / SAMPLES * sample, lane = sample % s->lanes;
        int64_t places[QN_WARP];
        for (int t = 0; t < QN_WARP; t++) {
            const int group = (first + t / s->group) * stir % s->all;
            const int run = s->across ? group % s->runs : group / s->each;
            const int own = s->across ? group / s->runs : group % s->each;
            const int pack = own * s->group + t % s->group;
            const int element = QN_MIN(pack * s->lanes, s->length - s->lanes) + lane;
            places[t] = place(s, k, run, element + (s->most - early(s, run)) % s->most);
        }
        all += qn_bank_conflicts(places);
    }
    return all / SAMPLES;
}

/* Turns of the memory unit for a warp's packs. */
static double turns(const stirring *s, size_t operand_count, int stir)
{
    double all = 0;
    for (size_t k = 0; k < operand_count; k++) {
        all += s->p->form.access[k] == QN_ACCESS_TILED ? s->lanes * conflicts(s, k, stir) : 0;
    }
    return QN_MAX(all, ENOUGH);
}

/* How far elements of input `k` lie from each other along each dimension of the output's order. */
static void find_steps(stirring *s, size_t k, int64_t item)
{
    const qn_box_way *w = &s->p->form.way[k];
    int64_t pitch[QN_BOX_DIMS];
    (void)qn_plan_box_pitches(pitch, s->p, k, item);
    for (int d = 0; d < s->way->count; d++) {
        for (int at = 0; at < w->count; at++) {
            s->step[k][d] = w->order[at] == s->way->order[d] ? (int)pitch[at] : s->step[k][d];
        }
    }
}

static void find_extents(stirring *s)
{
    const qn_box_way *w = s->way;
    s->length = s->runs = 1;
    for (int d = 0; d < w->count; d++) {
        *(d < w->count - w->run ? &s->runs : &s->length) *= (int)s->p->extent[w->order[d]];
    }
    s->length -= s->length / (int)s->p->extent[w->order[w->count - w->run]] * s->p->form.slack;
}

static void set_group(stirring *s, int exponent)
{
    s->group = 1 << exponent;
    s->each = (int)qn_over(s->length, s->group * s->lanes);
    s->all = s->each * s->runs;
}

void qn_plan_box_stir(qn_plan *p, const qn_operand *operands, size_t operand_count)
{
    /* primes, so that threads take all groups of boxes whose numbers they do not divide; behind
     * them, from run to run */
    static const uint8_t stirs[] = {1, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37};
    size_t y = 0;
    while (!operands[y].output) {
        y++;
    }
    stirring s = {.p = p, .way = &p->form.way[y], .output = y, .lanes = p->form.lanes};
    s.item = (int)operands[y].item_size;
    s.most = QN_SECTOR_BYTES / s.item;
    find_extents(&s);
    double least = 0, spread = 2 * SPREAD; /* of the output */
    for (size_t k = 0; k < operand_count; k++) {
        if (p->form.access[k] == QN_ACCESS_TILED) {
            find_steps(&s, k, operands[k].item_size);
        }
        spread += p->form.access[k] == QN_ACCESS_VECTOR ? 2 * SPREAD : 0; /* and of those like it */
    }
    p->stir = 0;
    p->by_runs = false;
    for (int exponent = 0; exponent < 6; exponent++) {
        set_group(&s, exponent);
        const double idle = (double)(s.each * s.group * s.lanes) / (double)s.length;
        const bool apt = s.group * s.lanes >= s.most && s.group * s.lanes <= 4 * s.most;
        for (size_t n = 0; apt && n <= sizeof stirs; n++) {
            /* the last boxes have a group more of a run */
            const uint8_t stir = n < sizeof stirs ? stirs[n] : 1;
            if (stir > 1 && (s.all % stir == 0 || (s.all + s.runs) % stir == 0)) {
                continue;
            }
            s.across = n == sizeof stirs;
            const double cost = turns(&s, operand_count, stir) * idle +
                                (n > 0 ? spread / (double)(s.group * s.lanes * s.item / 16) : 0);
            if (p->stir == 0 || cost < least) {
                least = cost;
                p->stir = stir;
                p->by_runs = s.across;
                p->group = exponent;
            }
            if (least <= ENOUGH) {
                return; /* no other costs less */
            }
        }
    }
}
