/* SPDX-License-Identifier: MIT
 *
 * tune_search: the measuring. In: a call that has begun, and a time. Out: what was tried, and the
 * fastest. The thing to know: choices are tried one after the other, each beside the best of those
 * before it; settings that come to a launch which was measured already are passed over.
 */
#include "engine/tuning.h"
#include "engine/workspace.h"
#include <quern/stream.h>
#include <string.h>

#define BATCHES   3      /* of launches: the fastest one counts */
#define BATCH_US  1500.0 /* what a batch takes, but for launches that take longer */
#define MOST_RUNS 200    /* launches of a batch */
#define MOST_SEEN 64     /* settings in all */
#define IS_FASTER 0.97   /* of the time: less is noise */
#define IS_SLOW   1.5    /* of the best time: one look is enough */

typedef struct searching {
    qn_search *search;
    const qn_call *call;
    quern_call_options options; /* of the launches */
    qn_scratch scratch;
    quern_event *begin, *end;
    double until;             /* milliseconds of qn_now_ms() */
    uint64_t seen[MOST_SEEN]; /* hashes of launches that were measured */
    uint32_t seen_count;
} searching;

/* ---- one launch ----------------------------------------------------------------------------- */

/* A launch that is packed. */
typedef struct packed {
    qn_parameter_block block;
    quern_launch_config config;
    qn_workspace *workspace;
    void *function;
} packed;

/* `count` launches; *us is what each took. */
static quern_status run(double *us, searching *s, packed *p, int count)
{
    quern_engine *engine = s->call->kernel->engine;
    double ms;
    QN_TRY(quern_event_record(s->begin, s->call->stream));
    for (int k = 0; k < count; k++) {
        QN_TRY(engine->home.methods->launch(engine->home.device, p->function, &p->config,
                                            p->block.pointers));
    }
    QN_TRY(quern_event_record(s->end, s->call->stream));
    QN_TRY(quern_event_wait(s->end));
    QN_TRY(quern_event_elapsed(&ms, s->begin, s->end));
    *us = ms * 1e3 / count;
    return QUERN_OK;
}

static quern_status time_launch(double *us, searching *s, packed *p)
{
    double first, next;
    QN_TRY(run(&first, s, p, 1)); /* warms up */
    QN_TRY(run(us, s, p, 1));
    const double best = s->search->trials.count > 0 ? s->search->best.us : *us;
    const int count = (int)QN_MIN(BATCH_US / QN_MAX(*us, 1.0) + 1, (double)MOST_RUNS);
    for (int k = 0; k < BATCHES && *us < IS_SLOW * best && qn_now_ms() < s->until; k++) {
        QN_TRY(run(&next, s, p, count));
        *us = QN_MIN(*us, next);
    }
    return QUERN_OK;
}

/* ---- one setting ---------------------------------------------------------------------------- */

static uint64_t hash_bytes(uint64_t hash, const void *data, size_t size)
{
    for (size_t k = 0; k < size; k++) {
        hash = (hash ^ ((const unsigned char *)data)[k]) * UINT64_C(0x100000001b3);
    }
    return hash;
}

/* Whether the same launch was measured: the same code, grid and parameters. */
static bool is_seen(searching *s, const packed *p)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    hash = hash_bytes(hash, &p->function, sizeof p->function);
    hash = hash_bytes(hash, p->config.grid, sizeof p->config.grid);
    hash = hash_bytes(hash, p->config.block, sizeof p->config.block);
    hash = hash_bytes(hash, p->block.bytes, p->block.used);
    for (uint32_t k = 0; k < s->seen_count; k++) {
        if (s->seen[k] == hash) {
            return true;
        }
    }
    if (s->seen_count < MOST_SEEN) {
        s->seen[s->seen_count++] = hash;
    }
    return false;
}

static quern_status note(qn_search *search, const qn_setting *setting, double us)
{
    if (!QN_ROOM(search->trials)) {
        return qn_fail_memory("tuning a call");
    }
    const qn_trial trial = {*setting, us};
    if (search->trials.count == 0 || us < search->best.us * IS_FASTER) {
        search->best = trial;
    }
    search->trials.items[search->trials.count++] = trial;
    return QUERN_OK;
}

static quern_status measure_planned(searching *s, qn_call *call)
{
    packed p = {.workspace = NULL};
    qn_specialization *z;
    double us;
    QN_TRY(qn_call_lay(call));
    QN_TRY(qn_specialize(&z, call));
    QN_TRY(qn_call_pack(&p.block, &p.config, &p.workspace, call, z));
    p.function = z->function;
    quern_status status = QUERN_OK;
    if (!is_seen(s, &p)) {
        status = time_launch(&us, s, &p);
        status = status == QUERN_OK ? note(s->search, &call->setting, us) : status;
    }
    if (status == QUERN_OK) {
        qn_workspace_put(p.workspace);
    } else { /* a launch that failed may have left its counters in it */
        qn_workspace_free(p.workspace);
    }
    return status;
}

static quern_status measure(searching *s, const qn_setting *setting)
{
    qn_call call;
    const size_t count = s->call->kernel->signature.count;
    quern_status status = qn_call_begin_set(&call, s->call->kernel, s->scratch.values, count,
                                            &s->options, QN_TO_LAUNCH, setting);
    if (status == QUERN_OK) {
        status = measure_planned(s, &call);
    }
    qn_call_end(&call);
    return status;
}

/* ---- all of them ---------------------------------------------------------------------------- */

/* Which choices a kind of kernel has, in the order in which they are tried. */
static size_t choices_of(const qn_setting_field *out[QN_SETTING_FIELDS], const qn_call *call)
{
    const int kind = call->kernel->kind->number;
    size_t count = 0;
    for (size_t k = 0; k < QN_SETTING_FIELDS; k++) {
        const qn_setting_field *f = &qn_setting_fields[k];
        const bool folds = f->offset >= offsetof(qn_setting, workers);
        const bool both = f->offset == offsetof(qn_setting, turns);
        if ((kind == QUERN_KERNEL_ELEMENTWISE && !folds) ||
            (kind == QUERN_KERNEL_REDUCTION && (folds || both))) {
            out[count++] = f;
        }
    }
    return count;
}

/* All values of one choice, beside the best of the others. A variant that cannot be had is left
 * out: it may not compile, or have too few registers for its block. */
static quern_status try_choice(searching *s, const qn_setting_field *f)
{
    const qn_setting best = s->search->best.setting;
    for (unsigned v = f->least; v <= f->most; v = f->words ? v + 1 : 2 * v) {
        if (qn_now_ms() >= s->until) {
            s->search->complete = false;
            return QUERN_OK;
        }
        qn_setting setting = best;
        *qn_setting_at(&setting, f) = (uint16_t)v;
        const quern_status status = measure(s, &setting);
        if (status == QUERN_ERROR_INTERRUPTED || status == QUERN_ERROR_OUT_OF_MEMORY) {
            return status;
        }
        if (status != QUERN_OK) {
            s->search->complete = false;
            qn_error_reset();
        }
    }
    return QUERN_OK;
}

static quern_status search_all(searching *s)
{
    const qn_setting_field *fields[QN_SETTING_FIELDS];
    const size_t count = choices_of(fields, s->call);
    QN_TRY(quern_event_new(&s->begin, s->call->kernel->engine));
    QN_TRY(quern_event_new(&s->end, s->call->kernel->engine));
    QN_TRY(qn_scratch_make(&s->scratch, s->call));
    s->search->complete = true;
    QN_TRY(measure(s, &(qn_setting){0}));
    for (size_t k = 0; k < count; k++) {
        QN_TRY(try_choice(s, fields[k]));
    }
    return QUERN_OK;
}

quern_status qn_tuning_search(qn_search *search, const qn_call *call,
                              const quern_call_options *options, double limit_ms)
{
    searching *s = qn_calloc(1, sizeof *s);
    if (!s) {
        return qn_fail_memory("tuning a call");
    }
    s->search = search;
    s->call = call;
    s->options = (quern_call_options)QUERN_CALL_OPTIONS_INIT;
    if (options) {
        s->options = *options;
        s->options.tune = 0;
    }
    s->until = qn_now_ms() + limit_ms;
    const quern_status status = search_all(s);
    qn_scratch_free(&s->scratch);
    quern_event_release(s->begin);
    quern_event_release(s->end);
    qn_free(s);
    return status;
}
