/* SPDX-License-Identifier: MIT
 *
 * A list of kernels over a fleet. In: their names in the remote store, and how to make one. Out:
 * all of them are had, and each was made by one machine of those that do this at the same time.
 *
 * Each machine goes through the list in an order of its own: so there is nearly always one that
 * nobody is at, and none waits before all are claimed. What is claimed by another is looked for
 * again at the end; one whose maker is gone is made here.
 */
#include "cache/fleet.h"

#include <time.h>
#include <unistd.h>

#define GIVE_UP_MS 2000.0 /* without anything having come */
#define REST_MS    15

typedef struct walk {
    const qn_spread *spread;
    size_t *order; /* those that are still wanted */
    size_t count;
    const size_t *batch; /* the one that is being looked at */
    bool *came;
} walk;

/* Different on each machine, and in each process of it. */
static uint64_t seed(void)
{
    struct timespec now;
    char host[65] = "";
    (void)gethostname(host, sizeof host - 1);
    clock_gettime(CLOCK_REALTIME, &now);
    uint64_t state = (uint64_t)now.tv_nsec ^ (uint64_t)getpid() << 32 ^ (uintptr_t)&now;
    for (const char *c = host; *c; c++) {
        state = (state ^ (unsigned char)*c) * 0x100000001b3u;
    }
    return state;
}

static uint64_t draw(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

size_t *qn_spread_order(size_t count)
{
    size_t *order = qn_calloc(count + 1, sizeof *order);
    uint64_t state = seed();
    for (size_t k = 0; order && k < count; k++) {
        size_t at = (size_t)(draw(&state) % (k + 1));
        order[k] = order[at];
        order[at] = k;
    }
    return order;
}

/* All that are wanted, shuffled. */
static bool begin(walk *w, const qn_spread *spread)
{
    *w = (walk){.spread = spread};
    w->order = qn_spread_order(spread->count);
    w->came = qn_calloc(spread->count + 1, sizeof *w->came);
    if (!w->order || !w->came) {
        return false;
    }
    for (size_t k = 0; k < spread->count; k++) {
        if (spread->names[w->order[k]]) {
            w->order[w->count++] = w->order[k];
        }
    }
    return true;
}

static void take_value(void *context, size_t number, qn_str value)
{
    walk *w = context;
    const size_t k = w->batch[number];
    w->came[k] = value.length > 0 && w->spread->take(w->spread->context, k, value);
}

/* Ask for a batch. */
static bool look(walk *w, const size_t *batch, size_t count)
{
    const char *names[QN_REMOTE_BATCH];
    if (!w->spread->remote) {
        return false;
    }
    for (size_t k = 0; k < count; k++) {
        names[k] = w->spread->names[batch[k]];
    }
    w->batch = batch;
    return qn_remote_look(w->spread->remote, count, names, take_value, w);
}

static bool is_stopped(const walk *w)
{
    return w->spread->stop && w->spread->stop(w->spread->context);
}

/* One that did not come: is it this machine's to make? */
static bool is_ours(const walk *w, size_t item, bool answered, bool claims)
{
    const qn_spread *s = w->spread;
    return !answered || s->only_take || (claims && qn_remote_claim(s->remote, s->names[item]) == 1);
}

/* Go once through all that are wanted: those that came are kept, those that nobody is at are made
 * (where `claims`), the rest is left for later. Returns how many came or were made. */
static size_t go(walk *w, bool claims)
{
    const qn_spread *s = w->spread;
    size_t later = 0;
    const size_t before = w->count;
    for (size_t at = 0; at < before; at += QN_REMOTE_BATCH) {
        size_t batch[QN_REMOTE_BATCH], count = QN_MIN((size_t)QN_REMOTE_BATCH, before - at);
        memcpy(batch, w->order + at, count * sizeof *batch);
        const bool answered = !is_stopped(w) && look(w, batch, count);
        for (size_t k = 0; k < count && !is_stopped(w); k++) {
            const size_t item = batch[k];
            if (answered && w->came[item]) {
                s->keep(s->context, item);
            } else if (is_ours(w, item, answered, claims)) {
                s->make(s->context, item);
            } else {
                w->order[later++] = item;
            }
        }
    }
    w->count = later;
    return before - later;
}

static void run(walk *w)
{
    const struct timespec pause = {0, REST_MS * 1000000};
    double last = qn_now_ms();
    for (bool first = true; w->count > 0 && !is_stopped(w); first = false) {
        if (go(w, first) > 0) {
            last = qn_now_ms();
        } else if (qn_now_ms() - last > GIVE_UP_MS) { /* their makers are gone */
            w->spread->make(w->spread->context, w->order[--w->count]);
        } else {
            (void)nanosleep(&pause, NULL);
        }
    }
}

bool qn_spread_run(const qn_spread *spread)
{
    walk w;
    const bool begun = begin(&w, spread);
    if (begun) {
        run(&w);
    }
    qn_free(w.order);
    qn_free(w.came);
    return begun;
}
