/* SPDX-License-Identifier: MIT
 *
 * homes: those of this process, so that one that runs out of memory can say who has it, and gets
 * what others only keep; and how often this process was forked, because a driver that was in use
 * before is of no use to the child. In: homes as they come and go. Out: sums, and memory given
 * back.
 */
#include "device/home/capture_inside.h"

#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static qn_home *first;

/* ---- fork() --------------------------------------------------------------------------------- */

atomic_uint qn_forks;
static pthread_once_t watched = PTHREAD_ONCE_INIT;

static void before_fork(void)
{
    pthread_mutex_lock(&lock);
    pthread_mutex_lock(&qn_captures_lock);
}

static void after_fork(void)
{
    pthread_mutex_unlock(&qn_captures_lock);
    pthread_mutex_unlock(&lock);
}

static void in_child(void)
{
    atomic_fetch_add(&qn_forks, 1);
    after_fork();
}

static void watch(void)
{
    pthread_atfork(before_fork, after_fork, in_child);
}

void qn_forks_watch(void)
{
    pthread_once(&watched, watch);
}

/* ---- the list ------------------------------------------------------------------------------- */

void qn_homes_enter(qn_home *home)
{
    qn_forks_watch();
    pthread_mutex_lock(&lock);
    home->next = first;
    first = home;
    pthread_mutex_unlock(&lock);
}

void qn_homes_leave(const qn_home *home)
{
    pthread_mutex_lock(&lock);
    qn_home **link = &first;
    while (*link && *link != home) {
        link = &(*link)->next;
    }
    if (*link) {
        *link = home->next;
    }
    pthread_mutex_unlock(&lock);
}

/* Two homes of one device share its memory. */
static bool is_beside(const qn_home *home, const qn_home *other)
{
    return strcmp(home->place, other->place) == 0;
}

uint64_t qn_homes_hold(const qn_home *home)
{
    uint64_t held = 0;
    pthread_mutex_lock(&lock);
    for (const qn_home *other = first; other; other = other->next) {
        held += other != home && is_beside(home, other) ? qn_memory_held(other) : 0;
    }
    pthread_mutex_unlock(&lock);
    return held;
}

bool qn_homes_capture(const qn_home *home)
{
    bool captures = false;
    pthread_mutex_lock(&lock);
    for (qn_home *other = first; other; other = other->next) {
        if (is_beside(home, other) && atomic_load(&other->captures) != 0) {
            captures |= qn_capture_goes_on(other);
        }
    }
    pthread_mutex_unlock(&lock);
    qn_captures_finish();
    return captures;
}

bool qn_homes_defer(const qn_home *home, qn_deferred *deferred)
{
    bool deferring = false;
    pthread_mutex_lock(&lock);
    for (qn_home *other = first; other && !deferring; other = other->next) {
        deferring = is_beside(home, other) && qn_capture_defer(other, NULL, deferred);
    }
    pthread_mutex_unlock(&lock);
    qn_captures_finish();
    return deferring;
}

quern_status qn_homes_refuse_captured(const char *function, const qn_home *home)
{
    return qn_homes_capture(home)
               ? qn_fail(QUERN_ERROR_INVALID_ARGUMENT,
                         "%s: a stream of %s is being captured, and a GPU cannot wait for all work "
                         "meanwhile; end the capture first",
                         function, home->place[0] ? home->place : "the engine")
               : QUERN_OK;
}

/* ---- giving back ---------------------------------------------------------------------------- */

/* A home that is on its way out is left alone. */
static bool try_retain(qn_home *home)
{
    unsigned references = atomic_load(&home->references);
    while (references > 0 &&
           !atomic_compare_exchange_weak(&home->references, &references, references + 1)) {
    }
    return references > 0;
}

/* One beside `home` that this round has not come to, retained; NULL: that was all. */
static qn_home *next_of(const qn_home *home, uint64_t round)
{
    pthread_mutex_lock(&lock);
    qn_home *other = first;
    while (other && (other->round >= round || !is_beside(home, other) || !try_retain(other))) {
        other = other->next;
    }
    if (other) {
        other->round = round;
    }
    pthread_mutex_unlock(&lock);
    return other;
}

static bool give_back(qn_home *home, bool may_wait)
{
    const quern_device_methods *m = home->methods;
    const bool given = home->owner->reclaim(home);
    return (may_wait && m->trim && m->trim(home->device, 0) == QUERN_OK) || given;
}

/* Without the lock: memory goes back to allocators of the program, which may open engines. */
bool qn_homes_reclaim(const qn_home *home)
{
    static atomic_uint_fast64_t rounds;
    const uint64_t round = atomic_fetch_add(&rounds, 1) + 1;
    const bool may_wait = !qn_homes_capture(home);
    bool given = false;
    for (qn_home *other = next_of(home, round); other; other = next_of(home, round)) {
        given |= give_back(other, may_wait);
        qn_home_release(other);
    }
    return given;
}

/* ---- what belongs together ------------------------------------------------------------------ */

void qn_tell_places(const qn_home *own, const qn_home *users, const char *user)
{
    if (!own->place[0] || !users->place[0]) {
        return;
    }
    if (is_beside(own, users)) {
        qn_error_suffix("; both are on %s", own->place);
    } else {
        qn_error_suffix(": it is on %s, the %s on %s", own->place, user, users->place);
    }
}
