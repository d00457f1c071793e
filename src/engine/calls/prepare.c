/* SPDX-License-Identifier: MIT
 *
 * prepare: several kernels compiled ahead. In: calls without their memory. Out: their
 * specializations, made by several threads, of which the caller's is one. The thing to know: the
 * threads take the next call of the list until there is none; what a thread cannot do is the status
 * of that call, and its message is kept for the one error of them all.
 */
#include "engine/engine_internal.h"
#include <quern/prepare.h>
#include <signal.h>
#include <unistd.h>

enum {
    MOST_THREADS = 64,
    MOST_TOLD = 8,                /* messages of one error */
    STACK_BYTES = 8 * 1024 * 1024 /* the compiler goes deep, and some systems give less */
};

/* A list on its way. */
typedef struct preparing {
    quern_preparation *list;
    size_t count;
    quern_prepare_options options;
    uint_fast64_t *interrupts; /* of each call's engine, when it began */
    char **messages;           /* of those that failed; NULL where there was no memory */
    atomic_size_t next;
    pthread_mutex_t lock; /* while one is reported */
    size_t done;
} preparing;

/* ---- one call ------------------------------------------------------------------------------- */

static quern_status make(const preparing *p, size_t k)
{
    const quern_preparation *one = &p->list[k];
    const quern_kernel *kernel = one->kernel;
    if (!qn_object_is(kernel, QN_OBJECT_KERNEL)) {
        return qn_object_refuse("quern_prepare", "kernel", kernel, QN_OBJECT_KERNEL);
    }
    if (atomic_load(&kernel->engine->interrupts) != p->interrupts[k]) {
        return qn_fail(QUERN_ERROR_INTERRUPTED,
                       "quern_prepare was interrupted before it came to %s", kernel->name);
    }
    return qn_kernel_prepare(one->kernel, one->values, one->count, one->options);
}

static void report(preparing *p, size_t k, quern_status status)
{
    const quern_error *error = status == QUERN_OK ? NULL : quern_last_error();
    p->list[k].status = (int32_t)status;
    pthread_mutex_lock(&p->lock);
    p->done++;
    if (error) {
        p->messages[k] = qn_strdup(error->message);
    }
    if (p->options.progress) {
        p->options.progress(p->options.context, k, p->done, error);
    }
    pthread_mutex_unlock(&p->lock);
}

static void *work(void *context)
{
    preparing *p = context;
    for (size_t k; (k = atomic_fetch_add(&p->next, 1)) < p->count;) {
        qn_error_reset();
        report(p, k, make(p, k));
    }
    return NULL;
}

/* ---- threads -------------------------------------------------------------------------------- */

static uint32_t choose_threads(const preparing *p)
{
    uint32_t threads = p->options.threads;
    if (threads == 0) {
        const long online = sysconf(_SC_NPROCESSORS_ONLN);
        threads = online > 0 ? (uint32_t)QN_MIN(online, MOST_THREADS) : 1;
    }
    return (uint32_t)QN_MIN((size_t)QN_MIN(threads, (uint32_t)MOST_THREADS), p->count);
}

/* With helpers where the system gives them; signals are for the program's own threads. */
static void work_together(preparing *p)
{
    pthread_t helpers[MOST_THREADS];
    const uint32_t threads = choose_threads(p);
    uint32_t count = 0;
    sigset_t all, before;
    pthread_attr_t attributes;
    sigfillset(&all);
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (count + 1 < threads && pthread_create(&helpers[count], &attributes, work, p) == 0) {
        count++;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    work(p);
    for (uint32_t k = 0; k < count; k++) {
        pthread_join(helpers[k], NULL);
    }
}

/* ---- the error of them all ------------------------------------------------------------------ */

static void tell_one(qn_text *text, const preparing *p, size_t k)
{
    const quern_preparation *one = &p->list[k];
    const bool named = qn_object_is(one->kernel, QN_OBJECT_KERNEL);
    const char *said = p->messages[k];
    qn_text_printf(text, "%zu (%s): %s", k, named ? one->kernel->name : "no kernel",
                   said ? said : quern_status_text((quern_status)one->status));
}

static quern_status conclude(const preparing *p)
{
    quern_status first = QUERN_OK;
    size_t failed = 0;
    qn_text text = {0};
    for (size_t k = 0; k < p->count; k++) {
        if (p->list[k].status == QUERN_OK) {
            continue;
        }
        first = first == QUERN_OK ? (quern_status)p->list[k].status : first;
        if (failed < MOST_TOLD) {
            qn_text_puts(&text, failed == 0 ? "" : "; ");
            tell_one(&text, p, k);
        }
        failed++;
    }
    if (failed != 0) {
        (void)qn_fail(first, "%zu of %zu calls cannot be prepared: %s%s", failed, p->count,
                      text.data ? text.data : "", failed > MOST_TOLD ? "; and so on" : "");
    } else {
        qn_error_reset();
    }
    qn_text_free(&text);
    return first;
}

/* ---- the whole ------------------------------------------------------------------------------ */

static quern_status prepare(preparing *p)
{
    p->interrupts = qn_calloc(p->count, sizeof *p->interrupts);
    p->messages = qn_calloc(p->count, sizeof *p->messages);
    if (!p->interrupts || !p->messages) {
        return qn_fail_memory("preparing kernels");
    }
    for (size_t k = 0; k < p->count; k++) {
        const quern_kernel *kernel = p->list[k].kernel;
        if (qn_object_is(kernel, QN_OBJECT_KERNEL)) {
            p->interrupts[k] = atomic_load(&kernel->engine->interrupts);
        }
    }
    pthread_mutex_init(&p->lock, NULL);
    work_together(p);
    pthread_mutex_destroy(&p->lock);
    const quern_status status = conclude(p);
    for (size_t k = 0; k < p->count; k++) {
        qn_free(p->messages[k]);
    }
    return status;
}

quern_status quern_prepare(quern_preparation *list, size_t count,
                           const quern_prepare_options *options)
{
    qn_error_reset();
    QN_TAKE(quern_prepare_options, o, options);
    QN_TRY(qn_check_list("count", count));
    if (count == 0) {
        return QUERN_OK;
    }
    QN_CHECK_NOT_NULL(list);
    for (size_t k = 0; k < count; k++) {
        if (list[k].reserved != 0) {
            return qn_fail(QUERN_ERROR_INVALID_ARGUMENT,
                           "list[%zu].reserved is %u: initialise a quern_preparation with zeros", k,
                           list[k].reserved);
        }
    }
    preparing p = {.list = list, .count = count, .options = o};
    const quern_status status = prepare(&p);
    qn_free(p.interrupts);
    qn_free(p.messages);
    return status;
}
