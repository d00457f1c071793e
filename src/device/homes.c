/* SPDX-License-Identifier: MIT
 *
 * homes: those of this process, so that one that runs out of memory can say who has it, and gets
 * what others only keep. In: homes as they come and go. Out: sums, and memory given back.
 */
#include "device/device_internal.h"

#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static qn_home *first;

void qn_homes_enter(qn_home *home)
{
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

bool qn_homes_reclaim(const qn_home *home)
{
    bool given = false;
    pthread_mutex_lock(&lock);
    for (qn_home *other = first; other; other = other->next) {
        if (is_beside(home, other)) {
            given |= other->owner->reclaim(other);
            given |= other != home && other->methods->trim &&
                     other->methods->trim(other->device, 0) == QUERN_OK;
        }
    }
    pthread_mutex_unlock(&lock);
    return given;
}
