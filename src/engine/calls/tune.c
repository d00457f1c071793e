/* SPDX-License-Identifier: MIT
 *
 * tune: calls that ask for what was measured. In: a planned call. Out: the call planned again with
 * the setting of its class, from the engine's memory, from the cache, or measured now. The thing to
 * know: whatever is wrong with a tuning, the call goes on as it was planned.
 */
#include "engine/tuning.h"
#include <quern/tune.h>
#include <string.h>

#define DEFAULT_MS   2000
#define SETTING_ROOM 128 /* of its text */

/* ---- what an engine knows ------------------------------------------------------------------- */

struct qn_tuned {
    struct qn_tuned *next;
    qn_tuning_key key;
    qn_setting setting;
};

/* The entry of a key, or NULL; with the lock. */
static struct qn_tuned *entry_of(const qn_tunings *tunings, const qn_tuning_key *key)
{
    struct qn_tuned *t = tunings->list;
    while (t && memcmp(&t->key, key, sizeof *key) != 0) {
        t = t->next;
    }
    return t;
}

static bool recall(qn_setting *out, quern_engine *engine, const qn_tuning_key *key)
{
    pthread_mutex_lock(&engine->tunings->lock);
    const struct qn_tuned *t = entry_of(engine->tunings, key);
    *out = t ? t->setting : (qn_setting){0};
    pthread_mutex_unlock(&engine->tunings->lock);
    return t != NULL;
}

/* In the place of what there is, if it is `measured`; what was in the cache may be older than that,
 * which *setting then becomes. Without memory it is found in the cache again. */
static void remember(quern_engine *engine, const qn_tuning_key *key, qn_setting *setting,
                     bool measured)
{
    qn_tunings *tunings = engine->tunings;
    struct qn_tuned *made = qn_alloc(sizeof *made);
    pthread_mutex_lock(&tunings->lock);
    struct qn_tuned *t = entry_of(tunings, key);
    if (t && measured) {
        t->setting = *setting;
    } else if (t) {
        *setting = t->setting;
    } else if (made) {
        *made = (struct qn_tuned){tunings->list, *key, *setting};
        tunings->list = made;
        made = NULL;
    }
    pthread_mutex_unlock(&tunings->lock);
    qn_free(made);
}

/* In memory or in the cache. A text that this library does not write is as good as none. */
static bool find(qn_setting *out, quern_engine *engine, const qn_tuning_key *key)
{
    char text[SETTING_ROOM];
    if (recall(out, engine, key)) {
        return true;
    }
    if (!qn_store_get_tuning(engine->store, key, text, sizeof text) ||
        !qn_setting_read(out, text)) {
        return false;
    }
    remember(engine, key, out, false);
    return true;
}

/* Calls that are remembered with what was measured before are not found any more. */
static void keep(quern_engine *engine, const qn_tuning_class *class, qn_search *search)
{
    qn_text setting = {0};
    qn_setting_print(&setting, &search->best.setting);
    remember(engine, &class->key, &search->best.setting, true);
    atomic_fetch_add(&engine->tunings->changes, 1);
    if (!setting.failed) {
        qn_store_put_tuning(engine->store, &class->key,
                            &(qn_tuning_row){.setting = setting.data ? setting.data : "",
                                             .about = class->about,
                                             .us = search->best.us,
                                             .rule_us = search->trials.items[0].us});
    }
    qn_text_free(&setting);
}

/* ---- a call --------------------------------------------------------------------------------- */

static double limit_of(const quern_call_options *options)
{
    return options && options->tune_ms != 0 ? options->tune_ms : DEFAULT_MS;
}

static void plan_again(qn_call *call, const qn_setting *setting, const char *set_by)
{
    call->setting = *setting;
    call->set_by = set_by;
    if (!qn_setting_is_plain(setting)) {
        call->zeroed_bytes = call->scratch_bytes = 0;
        call->kernel->kind->plan(call);
    }
}

/* What makes the whole call fail, and not only its tuning. */
static bool is_fatal(quern_status status)
{
    return status == QUERN_ERROR_INTERRUPTED || status == QUERN_ERROR_OUT_OF_MEMORY;
}

/* One thread measures at a time, or both would measure each other; so nothing is kept between the
 * setting that is found here and call->tuned_at. */
static quern_status measure(qn_call *call, const qn_tuning_class *class,
                            const quern_call_options *options)
{
    quern_engine *engine = call->kernel->engine;
    qn_search search = {.complete = false};
    qn_setting setting;
    quern_status status = QUERN_OK;
    pthread_mutex_lock(&engine->tunings->measuring);
    if (recall(&setting, engine, &class->key)) { /* another thread was faster */
        plan_again(call, &setting, "measured before");
    } else {
        status = qn_tuning_search(&search, call, options, limit_of(options));
        if (status == QUERN_OK) {
            keep(engine, class, &search);
            plan_again(call, &search.best.setting, "measured now");
        }
    }
    call->tuned_at = atomic_load(&engine->tunings->changes);
    pthread_mutex_unlock(&engine->tunings->measuring);
    qn_free(search.trials.items);
    if (status != QUERN_OK && !is_fatal(status)) { /* if it is the call's own, that will say so */
        qn_log(&engine->home.logger, QN_INFO, "%s is not tuned: %s", call->kernel->name,
               quern_last_error()->message);
        qn_error_reset();
        return QUERN_OK;
    }
    return status;
}

static quern_status tune_call(qn_call *call, const quern_call_options *options)
{
    qn_setting setting;
    qn_tuning_class class;
    QN_TRY(qn_tuning_class_of(&class, call));
    call->tuned_at = atomic_load(&call->kernel->engine->tunings->changes); /* before it is found */
    if (find(&setting, call->kernel->engine, &class.key)) {
        plan_again(call, &setting, "measured before");
        return QUERN_OK;
    }
    if (call->dry || qn_stream_captures(call->stream)) {
        call->set_by = "nothing was measured yet";
        return QUERN_OK;
    }
    return measure(call, &class, options);
}

quern_status qn_tunings_new(qn_tunings **out)
{
    *out = qn_calloc(1, sizeof **out);
    if (!*out) {
        return qn_fail_memory("opening an engine");
    }
    pthread_mutex_init(&(*out)->lock, NULL);
    pthread_mutex_init(&(*out)->measuring, NULL);
    (*out)->tune = tune_call;
    return QUERN_OK;
}

void qn_tunings_free(qn_tunings *tunings)
{
    if (!tunings) {
        return;
    }
    while (tunings->list) {
        struct qn_tuned *next = tunings->list->next;
        qn_free(tunings->list);
        tunings->list = next;
    }
    pthread_mutex_destroy(&tunings->lock);
    pthread_mutex_destroy(&tunings->measuring);
    qn_free(tunings);
}

/* ---- quern_tune ----------------------------------------------------------------------------- */

typedef struct tuning {
    quern_tuning public; /* first: the caller's pointer is to this */
    atomic_uint references;
    qn_arena arena; /* all its strings and trials */
} tuning;

static const char *keep_text(tuning *t, qn_text *text)
{
    const char *kept =
        text->failed ? NULL
                     : qn_arena_strndup(&t->arena, text->data ? text->data : "", text->length);
    qn_text_free(text);
    return kept;
}

static const char *setting_text(tuning *t, const qn_setting *setting)
{
    qn_text text = {0};
    qn_setting_print(&text, setting);
    return keep_text(t, &text);
}

static const char *name_of(const char *setting)
{
    return setting[0] ? setting : "by rule";
}

/* "  812.3 us   block=128" for each, the chosen one with a star. */
static const char *summary(tuning *t)
{
    const quern_tuning *x = &t->public;
    qn_text text = {0};
    qn_text_printf(&text, "class:     %s\n", x->about);
    for (size_t k = 0; k < x->trial_count; k++) {
        const bool chosen = strcmp(x->trials[k].setting, x->setting) == 0;
        qn_text_printf(&text, "tried:     %10.2f us  %s%s\n", x->trials[k].us,
                       name_of(x->trials[k].setting), chosen ? "  <- kept" : "");
    }
    qn_text_printf(&text, "setting:   %s, %.2f times as fast as by rule%s\n", name_of(x->setting),
                   x->us > 0 ? x->rule_us / x->us : 1.0, x->complete ? "" : "; not all was tried");
    return keep_text(t, &text);
}

static quern_status fill(tuning *t, const qn_tuning_class *class, const qn_search *search)
{
    quern_tuning *x = &t->public;
    quern_tuning_trial *trials =
        qn_arena_alloc(&t->arena, QN_MAX(search->trials.count, 1u) * sizeof *trials);
    x->size = sizeof *x;
    x->complete = search->complete;
    x->trials = trials;
    x->trial_count = search->trials.count;
    x->setting = setting_text(t, &search->best.setting);
    x->about = qn_arena_strndup(&t->arena, class->about, strlen(class->about));
    x->us = search->best.us;
    bool good = trials && x->setting && x->about;
    for (uint32_t k = 0; k < search->trials.count && good; k++) {
        trials[k].us = search->trials.items[k].us;
        trials[k].setting = setting_text(t, &search->trials.items[k].setting);
        good = trials[k].setting != NULL;
    }
    x->rule_us = good && x->trial_count > 0 ? trials[0].us : 0;
    x->text = good ? summary(t) : NULL;
    return x->text ? QUERN_OK : qn_fail_memory("tuning a call");
}

static quern_status tune(tuning *t, qn_call *call, const quern_call_options *options)
{
    quern_engine *engine = call->kernel->engine;
    qn_tuning_class class = {.about = "no elements"};
    qn_search search = {.complete = true};
    quern_status status = QUERN_OK;
    if (!call->empty) {
        QN_TRY(qn_tuning_class_of(&class, call));
        pthread_mutex_lock(&engine->tunings->measuring);
        status = qn_tuning_search(&search, call, options, limit_of(options));
        if (status == QUERN_OK) {
            keep(engine, &class, &search);
        }
        pthread_mutex_unlock(&engine->tunings->measuring);
    }
    status = status == QUERN_OK ? fill(t, &class, &search) : status;
    qn_free(search.trials.items);
    return status;
}

quern_status quern_tune(quern_tuning **out, quern_kernel *kernel, const quern_value *values,
                        size_t count, const quern_call_options *options)
{
    qn_error_reset();
    QN_CHECK_OUT(out);
    QN_CHECK_OBJECT(kernel, QN_OBJECT_KERNEL);
    QN_TAKE_IN_PLACE(quern_call_options, options);
    if (options && qn_object_is(options->stream, QN_OBJECT_STREAM) &&
        qn_stream_captures(options->stream)) {
        return qn_capture_refuse(__func__, ", which launches and waits: tune before the capture");
    }
    tuning *t = qn_calloc(1, sizeof *t);
    if (!t) {
        return qn_fail_memory("tuning a call");
    }
    atomic_init(&t->references, 1);
    qn_call call;
    quern_status status =
        qn_call_begin_set(&call, kernel, values, count, options, QN_TO_LAUNCH, &(qn_setting){0});
    if (status == QUERN_OK) {
        status = tune(t, &call, options);
    }
    qn_call_end(&call);
    if (status != QUERN_OK) {
        quern_tuning_release(&t->public);
        return status;
    }
    *out = &t->public;
    return QUERN_OK;
}

quern_tuning *quern_tuning_retain(quern_tuning *x)
{
    if (x) {
        atomic_fetch_add_explicit(&((tuning *)x)->references, 1, memory_order_relaxed);
    }
    return x;
}

void quern_tuning_release(quern_tuning *x)
{
    tuning *t = (tuning *)x;
    if (t && atomic_fetch_sub_explicit(&t->references, 1, memory_order_acq_rel) == 1) {
        qn_arena_free(&t->arena);
        qn_free(t);
    }
}
