/* SPDX-License-Identifier: MIT
 *
 * Puts, by a thread of their own. In: values to write. Out: they are written, one after the other,
 * while the program goes on; or dropped, when more wait than there is room for.
 *
 * The thread begins with the first put and has no signals, so that a program without a remote store
 * has no thread, and handlers run where they did.
 */
#include "cache/fleet.h"

#include <errno.h>
#include <signal.h>
#include <time.h>

#define MOST_PUTS  1024
#define MOST_BYTES ((size_t)64 << 20)

struct qn_queue {
    qn_putter putter;
    void *context;
    pthread_mutex_t writing; /* held while one is written */
    pthread_mutex_t lock;    /* of all that follows */
    pthread_cond_t changed;
    pthread_t thread;
    bool has_thread, ending;
    bool busy; /* one is being written */
    qn_put *first, *last;
    size_t count, bytes;
};

static void put_free(qn_put *put)
{
    qn_text_free(&put->bytes);
    qn_free(put);
}

static void init_condition(pthread_cond_t *condition)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(condition, &attributes);
    pthread_condattr_destroy(&attributes);
}

qn_queue *qn_queue_new(qn_putter putter, void *context)
{
    qn_queue *queue = qn_calloc(1, sizeof *queue);
    if (!queue) {
        return NULL;
    }
    queue->putter = putter;
    queue->context = context;
    pthread_mutex_init(&queue->lock, NULL);
    pthread_mutex_init(&queue->writing, NULL);
    init_condition(&queue->changed);
    return queue;
}

/* The next one, or NULL at the end. The lock is held. */
static qn_put *take(qn_queue *queue)
{
    while (!queue->first && !queue->ending) {
        pthread_cond_wait(&queue->changed, &queue->lock);
    }
    qn_put *put = queue->first;
    if (put) {
        queue->first = put->next;
        queue->last = put->next ? queue->last : NULL;
        queue->count--;
        queue->bytes -= put->bytes.length;
        queue->busy = true;
    }
    return put;
}

static void *work(void *context)
{
    qn_queue *queue = context;
    pthread_mutex_lock(&queue->lock);
    for (qn_put *put; (put = take(queue));) {
        pthread_mutex_unlock(&queue->lock);
        pthread_mutex_lock(&queue->writing);
        (void)queue->putter(queue->context, put);
        pthread_mutex_unlock(&queue->writing);
        put_free(put);
        pthread_mutex_lock(&queue->lock);
        queue->busy = false;
        pthread_cond_broadcast(&queue->changed);
    }
    pthread_mutex_unlock(&queue->lock);
    return NULL;
}

static bool start_thread(qn_queue *queue)
{
    sigset_t all, saved;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &saved);
    queue->has_thread = pthread_create(&queue->thread, NULL, work, queue) == 0;
    pthread_sigmask(SIG_SETMASK, &saved, NULL);
    return queue->has_thread;
}

bool qn_queue_add(qn_queue *queue, qn_put *put)
{
    pthread_mutex_lock(&queue->lock);
    bool room = queue->count < MOST_PUTS && queue->bytes + put->bytes.length <= MOST_BYTES &&
                !queue->ending && (queue->has_thread || start_thread(queue));
    if (room) {
        put->next = NULL;
        *(queue->last ? &queue->last->next : &queue->first) = put;
        queue->last = put;
        queue->count++;
        queue->bytes += put->bytes.length;
        pthread_cond_broadcast(&queue->changed);
    }
    pthread_mutex_unlock(&queue->lock);
    if (!room) {
        put_free(put);
    }
    return room;
}

bool qn_queue_write(qn_queue *queue, qn_put *put)
{
    pthread_mutex_lock(&queue->writing);
    const bool written = queue->putter(queue->context, put);
    pthread_mutex_unlock(&queue->writing);
    put_free(put);
    return written;
}

/* The lock is held. */
static bool wait_until_idle(qn_queue *queue, double ms)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    int64_t nanoseconds = until.tv_nsec + (int64_t)(ms * 1e6);
    until.tv_sec += nanoseconds / 1000000000;
    until.tv_nsec = nanoseconds % 1000000000;
    while (queue->first || queue->busy) {
        if (pthread_cond_timedwait(&queue->changed, &queue->lock, &until) == ETIMEDOUT) {
            return !queue->first && !queue->busy;
        }
    }
    return true;
}

bool qn_queue_flush(qn_queue *queue, double ms)
{
    pthread_mutex_lock(&queue->lock);
    bool idle = wait_until_idle(queue, ms);
    pthread_mutex_unlock(&queue->lock);
    return idle;
}

/* Forget what waits. The lock is held. */
static uint64_t drop_all(qn_queue *queue)
{
    uint64_t dropped = queue->count;
    for (qn_put *put = queue->first, *next; put; put = next) {
        next = put->next;
        put_free(put);
    }
    queue->first = queue->last = NULL;
    queue->count = queue->bytes = 0;
    return dropped;
}

uint64_t qn_queue_end(qn_queue *queue)
{
    pthread_mutex_lock(&queue->lock);
    uint64_t dropped = drop_all(queue);
    queue->ending = true;
    pthread_cond_broadcast(&queue->changed);
    pthread_mutex_unlock(&queue->lock);
    if (queue->has_thread) {
        pthread_join(queue->thread, NULL); /* one call of the store at most */
    }
    pthread_cond_destroy(&queue->changed);
    pthread_mutex_destroy(&queue->writing);
    pthread_mutex_destroy(&queue->lock);
    qn_free(queue);
    return dropped;
}

/* ---- fork ----------------------------------------------------------------------------------- */

void qn_queue_before_fork(qn_queue *queue)
{
    pthread_mutex_lock(&queue->writing); /* one that is under way is finished first */
    pthread_mutex_lock(&queue->lock);
}

void qn_queue_after_fork(qn_queue *queue, bool child)
{
    if (child) { /* what waits is the parent's to write, by its thread */
        (void)drop_all(queue);
        queue->has_thread = queue->busy = false;
        init_condition(&queue->changed);
    }
    pthread_mutex_unlock(&queue->lock);
    pthread_mutex_unlock(&queue->writing);
}
