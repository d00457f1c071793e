/* SPDX-License-Identifier: MIT
 *
 * The end of a process, and fork(), while other threads compile. In: where a compilation begins and
 * ends. Out: whether it may begin. The thing to know: NVRTC and nvJitLink take down what is theirs
 * when the process exits, and a compilation that still runs then crashes. So exit() waits for those
 * that run, and none begins any more. exit() calls first what was registered last, and compilers
 * register more as they work: so the wait is registered again, ever more rarely.
 *
 * NVRTC holds a lock while it compiles, which in a child that was forked meanwhile nobody gives
 * back: the child would hang in its own compilation, or in exit(). So fork() waits as well.
 * atexit() holds a lock of the C library, that exit() takes: so it is called with ours, that fork()
 * takes.
 */
#include "compile/nvrtc.h"

#include <stdlib.h>
#include <time.h>

enum { MOST_SECONDS = 10 }; /* a compiler that hangs is no reason never to end */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t compiled = PTHREAD_COND_INITIALIZER;
static pthread_once_t forks_once = PTHREAD_ONCE_INIT;
static unsigned running, ended, forks;
static bool ending, gave_up;

static struct timespec end_of_patience(void)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += MOST_SECONDS;
    return until;
}

/* ---- exit() --------------------------------------------------------------------------------- */

/* `last`: from now on none begins. A wait that was in vain is not repeated by the next that was
 * registered. */
static void wait_for_all(bool last)
{
    bool in_time = true;
    const struct timespec until = end_of_patience();
    pthread_mutex_lock(&lock);
    ending |= last;
    while (running > 0 && in_time && !(last && gave_up)) {
        in_time = pthread_cond_timedwait(&compiled, &lock, &until) == 0;
    }
    gave_up |= last && !in_time;
    pthread_mutex_unlock(&lock);
}

void qn_compiling_wait(void)
{
    wait_for_all(false);
}

static void at_exit(void)
{
    wait_for_all(true);
}

/* ---- fork() --------------------------------------------------------------------------------- */

/* None begins until the process is forked. The lock is held meanwhile. */
static void before_fork(void)
{
    const struct timespec until = end_of_patience();
    bool in_time = true;
    pthread_mutex_lock(&lock);
    forks++;
    while (running > 0 && in_time) {
        in_time = pthread_cond_timedwait(&compiled, &lock, &until) == 0;
    }
}

static void parent_after_fork(void)
{
    forks--;
    pthread_cond_broadcast(&compiled);
    pthread_mutex_unlock(&lock);
}

static void child_after_fork(void)
{
    running = forks = 0; /* of threads that are not here */
    pthread_cond_init(&compiled, NULL);
    pthread_mutex_unlock(&lock);
}

static void watch_forks(void)
{
    pthread_atfork(before_fork, parent_after_fork, child_after_fork);
}

void qn_compiling_wait_at_exit(void)
{
    pthread_once(&forks_once, watch_forks);
    pthread_mutex_lock(&lock);
    atexit(at_exit);
    pthread_mutex_unlock(&lock);
}

/* ---- compilations --------------------------------------------------------------------------- */

quern_status qn_compiling_begin(const char *what)
{
    pthread_once(&forks_once, watch_forks);
    pthread_mutex_lock(&lock);
    while (forks > 0 && !ending) {
        pthread_cond_wait(&compiled, &lock);
    }
    const bool may = !ending;
    running += may;
    pthread_mutex_unlock(&lock);
    return may ? QUERN_OK
               : qn_fail(QUERN_ERROR_NOT_SUPPORTED, "%s no more: the process is ending", what);
}

void qn_compiling_end(void)
{
    pthread_mutex_lock(&lock);
    running--;
    ended++;
    const bool again = !ending && (ended & (ended - 1)) == 0; /* 1, 2, 4, 8, ... */
    if (again) {
        atexit(at_exit);
    }
    pthread_cond_broadcast(&compiled);
    pthread_mutex_unlock(&lock);
}
