/* SPDX-License-Identifier: MIT
 *
 * plan_boxing: boxes while they are chosen: what plan_boxes.c chooses by what plan_box_cost.c says
 * of it, plan_box_words.c beside them. Private to these.
 */
#ifndef QN_PLAN_BOXING_H
#define QN_PLAN_BOXING_H

#include "array/plan.h"

typedef struct qn_boxing {
    const qn_plan *plan;
    const qn_operand *operands;
    size_t operand_count;
    int ndim;
    int64_t most;                   /* elements of a box */
    int64_t extent[QUERN_MAX_NDIM]; /* of a box */
    int order[QUERN_MAX_NDIM];      /* dimensions in the order of fetching, outermost first */
    bool tiled[QUERN_MAX_PARAMETERS];
    int across; /* the dimension along which the first tiled operand lies side by side; -1: none */
    bool runs;  /* boxes go in runs */
    bool several; /* others lie side by side along another */
} qn_boxing;

/** What is asked of all kinds of boxes: an input that the walk goes through badly, or (if `tiled`)
 * that lies side by side along another dimension. False: there is nothing to gain. */
bool qn_boxing_begin(qn_boxing *b, const qn_plan *plan, const qn_operand *operands,
                     size_t operand_count, int ndim, bool tiled);

/** Take over the boxes into the plan, which `was` so before. `turns`: of a thread. */
void qn_boxing_put(qn_plan *plan, const qn_boxing *b, const qn_plan *was, int turns);

/** How often a sector of an operand comes from memory, walked as it is, or by boxes. */
int64_t qn_boxing_fetches(const qn_boxing *b, size_t k, bool boxed);
/** Lines of memory that a warp meets when it reads an operand walked as it is. */
int64_t qn_boxing_lines(const qn_boxing *b, size_t k);
/** The dimensions along which neighbours of an operand may share a sector, as it lies in memory,
 * innermost first. Returns how many. */
int qn_boxing_near_dims(const qn_boxing *b, size_t k, int *order);

/** What an element takes, in bytes that move meanwhile, walked as it is. */
double qn_boxing_walk_cost(const qn_boxing *b);
/** The same by boxes. Threads beyond the last element of a box do its
 * work for nothing. */
double qn_boxing_box_cost(const qn_boxing *b);
/** The same by boxes of words. */
double qn_boxing_words_cost(const qn_boxing *b);
/** The same by tiles of `side` elements, for inputs that lie side by side along one dimension;
 * others are fetched as the walk goes. */
double qn_boxing_tile_cost(const qn_boxing *b, int64_t side);
/** The part of tiles along dimension `across` and the last that has elements. */
double qn_boxing_filled(const qn_plan *plan, int ndim, int across, int64_t side);

#endif /* QN_PLAN_BOXING_H */
