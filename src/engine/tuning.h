/* SPDX-License-Identifier: MIT
 *
 * tuning: settings of walks that are measured. A call that asks for it looks for the setting of its
 * class: in the engine, then in the cache; then it measures. Nothing here decides an answer: a
 * setting is a wish to the planner (array/setting.h).
 *
 *     call --qn_tuning_class--> class --find--> setting --plan again--> call
 *                                  | none: --qn_tuning_search--> setting --keep--> engine, cache
 */
#ifndef QN_TUNING_H
#define QN_TUNING_H

#include "engine/engine_internal.h"

/* ---- tune.c: what an engine knows, and calls that ask --------------------------------------- */

typedef struct qn_tunings {
    pthread_mutex_t lock; /**< of the list */
    pthread_mutex_t
        measuring;         /**< one thread measures at a time, or both would measure each other */
    struct qn_tuned *list; /**< one for each class; only grows, by a few entries in a process */
    atomic_uint changes;   /**< how often a setting was measured and kept */
    /** Plan a call again with what was measured for such calls; measure first where nothing was,
     * unless the call is dry. A pointer, because calls are what it measures. Errors: out of memory,
     * interrupted. */
    quern_status (*tune)(qn_call *call, const quern_call_options *options);
} qn_tunings;
quern_status qn_tunings_new(qn_tunings **out);
/** Accepts NULL. */
void qn_tunings_free(qn_tunings *tunings);

/* ---- tune_class.c: calls that have a setting in common -------------------------------------- */

typedef struct qn_tuning_class {
    qn_tuning_key key;
    char about[160]; /**< "3 operands of 2^20, float32": for people */
} qn_tuning_class;
/** The class of a call that is planned by rule: its device, its kernel, its dtypes, the form of its
 * walk, and its extents to powers of two. */
quern_status qn_tuning_class_of(qn_tuning_class *out, const qn_call *call);

/* ---- tune_scratch.c: arguments that may be written ------------------------------------------ */

/** The arguments of a call, with copies in the place of the outputs that its caller gave. */
typedef struct qn_scratch {
    quern_value values[QUERN_MAX_PARAMETERS];
    quern_array *copies[QUERN_MAX_PARAMETERS]; /**< owned; NULL: the call's own */
} qn_scratch;
/** qn_scratch_free must follow, also after a failure. */
quern_status qn_scratch_make(qn_scratch *out, const qn_call *call);
void qn_scratch_free(qn_scratch *scratch);

/* ---- tune_search.c: measuring --------------------------------------------------------------- */

typedef struct qn_trial {
    qn_setting setting;
    double us;
} qn_trial;

typedef struct qn_search {
    QN_LIST(qn_trial) trials; /**< the first is the rules' */
    qn_trial best;
    bool complete;
} qn_search;
/** Measure for `limit_ms`, about. Errors: out of memory, interrupted, or those of the call itself;
 * whatever else fails ends the search. `search` is zeroed; its trials are the caller's to free. */
quern_status qn_tuning_search(qn_search *search, const qn_call *call,
                              const quern_call_options *options, double limit_ms);

#endif /* QN_TUNING_H */
