/* SPDX-License-Identifier: MIT
 *
 * When to leave a failing store alone, and how long one call of it may take. In: the outcomes of
 * calls, and the time. Out: yes or no; milliseconds left.
 *
 * A slow store is worse than a dead one: so the whole of a call is limited, not each of its parts,
 * and the limit only grows by what has really arrived.
 */
#include "cache/fleet.h"

#include <math.h>
#include <signal.h>
#include <time.h>

bool qn_breaker_is_off(const qn_breaker *breaker, double now)
{
    return now < breaker->off_until;
}

void qn_breaker_failed(qn_breaker *breaker, double now)
{
    double pause = breaker->pause_ms > 0 ? 2 * breaker->pause_ms : QN_BREAKER_FIRST_MS;
    breaker->pause_ms = QN_MIN(pause, QN_BREAKER_LAST_MS);
    breaker->off_until = now + breaker->pause_ms;
}

void qn_breaker_worked(qn_breaker *breaker)
{
    *breaker = (qn_breaker){0};
}

/* ---- how long a call may take --------------------------------------------------------------- */

qn_deadline qn_deadline_begin(uint32_t limit_ms)
{
    return (qn_deadline){qn_now_ms(), limit_ms};
}

int qn_deadline_left(const qn_deadline *deadline, size_t bytes)
{
    double limit = deadline->limit_ms + (double)bytes / QN_REMOTE_BYTES_PER_MS;
    double left = limit - (qn_now_ms() - deadline->begin);
    return left > 0 ? (int)ceil(left) : 0;
}

/* ---- SIGPIPE -------------------------------------------------------------------------------- */

/* TLS libraries write with write(2), which raises it. It goes to the thread that wrote, so it can
 * be blocked there and taken off again; one that was pending before is somebody else's. */
_Static_assert(sizeof(sigset_t) <= sizeof((qn_pipe_guard){0}).saved, "room for a set of signals");

static sigset_t pipe_set(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGPIPE);
    return set;
}

void qn_pipe_guard_begin(qn_pipe_guard *guard)
{
    sigset_t waiting, set = pipe_set(), saved;
    sigemptyset(&waiting);
    sigpending(&waiting);
    guard->pending = sigismember(&waiting, SIGPIPE) == 1;
    pthread_sigmask(SIG_BLOCK, &set, &saved);
    memcpy(guard->saved, &saved, sizeof saved);
}

void qn_pipe_guard_end(qn_pipe_guard *guard)
{
    sigset_t set = pipe_set(), saved;
    const struct timespec at_once = {0, 0};
    if (!guard->pending) {
        (void)sigtimedwait(&set, NULL, &at_once);
    }
    memcpy(&saved, guard->saved, sizeof saved);
    pthread_sigmask(SIG_SETMASK, &saved, NULL);
}
