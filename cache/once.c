/* SPDX-License-Identifier: MIT
 *
 * Lets one thread of a process compile what several ask for. In: a key. Out: one thread is told to
 * compile; the others wait until it has, and are told to look again.
 *
 * Only the threads that want the same key wait for each other. Few keys are being made at a time,
 * so a list is enough.
 */
#include "cache/cache_internal.h"

#include <string.h>
#include <time.h>

#define WAIT_SECONDS 60 /* for another thread, which may itself wait for another process */

struct qn_once {
    qn_once *next;
    uint64_t hash[2];
    char *compiler;
    int waiting; /* threads that wait; the last one out frees */
    bool done;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of the list and all in it */
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static qn_once *list;
static pthread_once_t handlers_once = PTHREAD_ONCE_INIT;

/* ---- fork: the child has none of the threads that were making things ------------------------ */

static void before_fork(void)
{
    pthread_mutex_lock(&lock);
}

static void parent_after_fork(void)
{
    pthread_mutex_unlock(&lock);
}

static void child_after_fork(void)
{
    /* their makers are gone, or are this thread, which frees its own in qn_once_done */
    for (qn_once *once = list; once; once = once->next) {
        once->done = true;
        once->waiting = 0;
    }
    list = NULL;
    pthread_cond_init(&changed, NULL);
    pthread_mutex_unlock(&lock);
}

static void add_handlers(void)
{
    pthread_atfork(before_fork, parent_after_fork, child_after_fork);
}

/* ---------------------------------------------------------------------------------------------- */

static qn_once *find(const qn_key *key, const char *compiler)
{
    for (qn_once *once = list; once; once = once->next) {
        if (once->hash[0] == key->hash[0] && once->hash[1] == key->hash[1] &&
            strcmp(once->compiler, compiler) == 0) {
            return once;
        }
    }
    return NULL;
}

static qn_once *add(const qn_key *key, const char *compiler)
{
    qn_once *once = qn_calloc(1, sizeof *once);
    char *copy = qn_strdup(compiler);
    if (!once || !copy) {
        qn_free(once);
        qn_free(copy);
        return NULL;
    }
    *once = (qn_once){.next = list, .hash = {key->hash[0], key->hash[1]}, .compiler = copy};
    list = once;
    return once;
}

static void unlink_from_list(const qn_once *once)
{
    for (qn_once **link = &list; *link; link = &(*link)->next) {
        if (*link == once) {
            *link = once->next;
            return;
        }
    }
}

static void destroy(qn_once *once)
{
    qn_free(once->compiler);
    qn_free(once);
}

/* Wait until it is done, or for as long as is sensible. */
static bool wait_until_done(qn_once *once)
{
    struct timespec end;
    clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_sec += WAIT_SECONDS;
    while (!once->done && pthread_cond_clockwait(&changed, &lock, CLOCK_MONOTONIC, &end) == 0) {
    }
    return once->done;
}

bool qn_once_begin(qn_once **out, const qn_key *key, const char *compiler, double *waited_ms)
{
    const double began = qn_now_ms();
    *out = NULL;
    if (waited_ms) {
        *waited_ms = 0;
    }
    compiler = compiler ? compiler : "";
    pthread_once(&handlers_once, add_handlers);
    pthread_mutex_lock(&lock);
    qn_once *once = find(key, compiler);
    if (!once) {
        *out = add(key, compiler);
        pthread_mutex_unlock(&lock);
        return true;
    }
    once->waiting++;
    bool done = wait_until_done(once);
    bool last = --once->waiting == 0 && done;
    pthread_mutex_unlock(&lock);
    if (last) {
        destroy(once);
    }
    if (waited_ms) {
        *waited_ms = qn_now_ms() - began;
    }
    return !done;
}

void qn_once_done(qn_once *once)
{
    if (!once) {
        return;
    }
    pthread_mutex_lock(&lock);
    unlink_from_list(once);
    once->done = true;
    bool nobody = once->waiting == 0;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    if (nobody) {
        destroy(once);
    }
}
