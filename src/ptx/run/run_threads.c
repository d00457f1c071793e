/* SPDX-License-Identifier: MIT
 *
 * Host threads that help with launches. They are started when a launch first asks for help and then
 * wait for more work until the process ends, because starting a thread costs more than a small
 * launch. The caller always works too, so that nothing depends on a helper being free.
 */
#include "ptx/run/run.h"

#include <unistd.h>

enum { HELPERS = 255 };

/* Work that helpers may join; lives on the caller's stack. */
typedef struct job {
    struct job *next;
    void (*work)(void *context);
    void *context;
    unsigned wanted;  /* helpers that may still join */
    unsigned working; /* helpers inside */
    pthread_cond_t done;
} job;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t posted = PTHREAD_COND_INITIALIZER;
static job *jobs;
static unsigned helpers, idle;

/* Asked once: the answer comes out of a file, which takes longer than a small launch. */
unsigned qn_threads_available(void)
{
    static atomic_uint known;
    unsigned count = atomic_load_explicit(&known, memory_order_relaxed);
    if (count == 0) {
        long online = sysconf(_SC_NPROCESSORS_ONLN);
        count = online > 0 ? (unsigned)QN_MIN(online, HELPERS + 1) : 1;
        atomic_store_explicit(&known, count, memory_order_relaxed);
    }
    return count;
}

/* Join a job that still wants helpers; a job that has enough leaves the list. */
static job *next_job(void)
{
    job *first = jobs;
    if (first && --first->wanted == 0) {
        jobs = first->next;
    }
    return first;
}

static void *helper(void *unused)
{
    pthread_mutex_lock(&lock);
    for (;;) {
        job *mine = next_job();
        if (!mine) {
            idle++;
            pthread_cond_wait(&posted, &lock);
            idle--;
            continue;
        }
        mine->working++;
        pthread_mutex_unlock(&lock);
        mine->work(mine->context);
        pthread_mutex_lock(&lock);
        if (--mine->working == 0) {
            pthread_cond_signal(&mine->done);
        }
    }
    return unused;
}

/* After fork the child has no helpers. */
static void forget_helpers(void)
{
    pthread_mutex_init(&lock, NULL);
    pthread_cond_init(&posted, NULL);
    jobs = NULL;
    helpers = idle = 0;
}

static void watch_fork(void)
{
    pthread_atfork(NULL, NULL, forget_helpers);
}

static void start_helpers(unsigned wanted)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, watch_fork);
    while (idle < wanted && helpers < HELPERS && helpers < wanted) {
        pthread_t thread;
        pthread_attr_t attributes;
        pthread_attr_init(&attributes);
        pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
        int failed = pthread_create(&thread, &attributes, helper, NULL);
        pthread_attr_destroy(&attributes);
        if (failed) {
            return;
        }
        helpers++;
    }
}

static void withdraw(const job *mine)
{
    for (job **link = &jobs; *link; link = &(*link)->next) {
        if (*link == mine) {
            *link = mine->next;
            return;
        }
    }
}

void qn_threads_run(unsigned extra, void (*work)(void *context), void *context)
{
    if (extra == 0) {
        work(context);
        return;
    }
    job mine = {.work = work, .context = context, .wanted = extra};
    pthread_cond_init(&mine.done, NULL);
    pthread_mutex_lock(&lock);
    start_helpers(extra);
    mine.next = jobs;
    jobs = &mine;
    pthread_cond_broadcast(&posted);
    pthread_mutex_unlock(&lock);
    work(context);
    pthread_mutex_lock(&lock);
    withdraw(&mine);
    while (mine.working > 0) {
        pthread_cond_wait(&mine.done, &lock);
    }
    pthread_mutex_unlock(&lock);
    pthread_cond_destroy(&mine.done);
}
