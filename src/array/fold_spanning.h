/* SPDX-License-Identifier: MIT
 *
 * fold_spanning: a plan by spans on its way. In: the plan of a reduction by rows or columns. Out:
 * how many positions of a dimension that is too long for a span one has, and whether spans would be
 * faster. The thing to know: qn_fold_take_spans() finds the span first, then its packs, then asks.
 */
#ifndef QN_FOLD_SPANNING_H
#define QN_FOLD_SPANNING_H

#include "array/fold.h"

/** Bytes of a pack: less is what other plans have too. */
#define QN_SPAN_PACK 16
/** Outputs of a span, at most: in the end a thread has two. */
#define QN_SPAN_OUTPUTS 512

/** How the dimensions of a plan are told apart. */
typedef struct qn_fold_span {
    int inside[QUERN_MAX_NDIM]; /**< kept dimensions inside, innermost first */
    int inner, line;            /**< reduced dimensions: the run, and that of lines; or -1 */
    int count;                  /**< of `inside` */
    int64_t part;               /**< positions inside along the last of them; 0: all */
    int64_t across, run;
    int64_t elements; /**< of a line: where there is none, of a span */
    bool used[QUERN_MAX_NDIM];
    bool dense[QUERN_MAX_PARAMETERS];
} qn_fold_span;

/** What is decided before anything is changed. */
typedef struct qn_fold_span_way {
    uint32_t lanes;
    bool heads;
    int64_t beside, whole, spans; /**< packs of a block; elements of a span; spans of a line */
} qn_fold_span_way;

/** Whether a span of `across` outputs along `extent` more positions would have too many outputs, or
 * more packs than a block has threads; of runs of elements only. */
bool qn_fold_span_is_long(const qn_fold_making *m, const qn_fold_span *s, int64_t extent);
/** Of `extent` positions that is too much for a span, how many one has: so many whole packs that
 * most threads have one, in all spans as many; 0: there is no such number. */
int64_t qn_fold_span_part(const qn_fold_making *m, const qn_fold_span *s, int64_t extent);
/** True where spans are faster than the plan as it is, and than phases. */
bool qn_fold_span_pays(const qn_fold_making *m, const qn_fold_span *s, const qn_fold_span_way *w);

#endif /* QN_FOLD_SPANNING_H */
