/* SPDX-License-Identifier: MIT
 *
 * What the cache did, in numbers. In: events of a store. Out: the counts of this store, and in the
 * file quern-1.counts those of all processes so far, to which a store adds its own when it is
 * closed. The thing to know: the file is only looked at by people. Nothing depends on it; it is
 * not written on a network, where that would cost as much as a look-up; and one that is damaged
 * begins at zero.
 */
#include "cache/store.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <time.h>
#include <unistd.h>

#define MAGIC      0x31544e434e524551u /* "QERNCNT1" */
#define LOCK_TRIES 20                  /* of 1 ms */

typedef struct counts_file {
    uint64_t magic;
    int64_t since; /* seconds since 1970 */
    uint64_t tally[QN_TALLIES];
} counts_file;

void qn_store_count(qn_store *store, qn_tally what, uint64_t amount)
{
    pthread_mutex_lock(&store->lock);
    store->tally[what] += amount;
    pthread_mutex_unlock(&store->lock);
}

/* ---- the file ------------------------------------------------------------------------------- */

static bool lock_whole(int file, short type)
{
    struct flock whole = {.l_type = type, .l_whence = SEEK_SET};
    for (int k = 0; k < LOCK_TRIES; k++) {
        if (fcntl(file, F_OFD_SETLK, &whole) == 0) {
            return true;
        }
        if (errno != EAGAIN && errno != EACCES) {
            return false;
        }
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    return false;
}

/* A shorter file, of an earlier version that counted less, is fine. */
static void read_counts(int file, counts_file *out)
{
    *out = (counts_file){0};
    ssize_t got = pread(file, out, sizeof *out, 0);
    if (got < (ssize_t)offsetof(counts_file, tally) || out->magic != MAGIC) {
        *out = (counts_file){.magic = MAGIC, .since = qn_now_seconds()};
    }
}

void qn_store_add_counts(qn_store *store)
{
    uint64_t news[QN_TALLIES], any = 0;
    for (int k = 0; k < QN_TALLIES; k++) {
        news[k] = store->tally[k] - store->told[k];
        any |= news[k];
    }
    if (!any || !store->path || store->problem[0] || store->read_only ||
        qn_on_network(store->folder)) {
        return;
    }
    int file = qn_store_open_beside(store, QN_COUNTS_FILE);
    if (file < 0) {
        return;
    }
    counts_file counts;
    if (lock_whole(file, F_WRLCK)) {
        read_counts(file, &counts);
        for (int k = 0; k < QN_TALLIES; k++) {
            counts.tally[k] += news[k];
            store->told[k] = store->tally[k];
        }
        ssize_t written = pwrite(file, &counts, sizeof counts, 0);
        (void)written; /* a full disk: they are only numbers */
    }
    close(file);
}

void qn_store_read_counts(qn_store *store, uint64_t tally[QN_TALLIES], int64_t *since)
{
    counts_file counts = {0};
    int file = store->path ? qn_store_open_beside(store, QN_COUNTS_FILE) : -1;
    if (file >= 0) {
        if (lock_whole(file, F_RDLCK)) {
            read_counts(file, &counts);
        }
        close(file);
    }
    *since = counts.since;
    for (int k = 0; k < QN_TALLIES; k++) {
        tally[k] = counts.tally[k] + store->tally[k] - store->told[k];
    }
}

/* ---- for people ----------------------------------------------------------------------------- */

void qn_tally_give(quern_cache_stats *out, const uint64_t tally[QN_TALLIES])
{
    const struct {
        uint64_t *to;
        qn_tally what;
    } numbers[] = {
        {&out->hits, QN_TALLY_HITS},
        {&out->misses, QN_TALLY_MISSES},
        {&out->faults, QN_TALLY_FAULTS},
        {&out->compiled_new, QN_TALLY_NEW},
        {&out->compiled_changed, QN_TALLY_CHANGED},
        {&out->compiled_compiler, QN_TALLY_COMPILER},
        {&out->compiled_damaged, QN_TALLY_DAMAGED},
        {&out->compiled_unread, QN_TALLY_UNREAD},
        {&out->compiled_opaque, QN_TALLY_OPAQUE},
        {&out->rejected, QN_TALLY_REJECTED},
        {&out->set_aside, QN_TALLY_SET_ASIDE},
        {&out->faults_locked, QN_TALLY_LOCKED},
        {&out->faults_full, QN_TALLY_FULL},
        {&out->faults_io, QN_TALLY_IO},
        {&out->evicted, QN_TALLY_EVICTED},
        {&out->declined, QN_TALLY_DECLINED},
        {&out->waits, QN_TALLY_WAITS},
        {&out->unlocked, QN_TALLY_ALONE},
    };
    for (size_t k = 0; k < QN_COUNT(numbers); k++) {
        *numbers[k].to = tally[numbers[k].what];
    }
    out->corrupt =
        tally[QN_TALLY_ROWS_REMOVED] + tally[QN_TALLY_REJECTED] + tally[QN_TALLY_SET_ASIDE];
    out->waited_ms = (double)tally[QN_TALLY_WAITED_US] / 1e3;
    out->saved_ms = (double)tally[QN_TALLY_SAVED_US] / 1e3;
    out->compiled = tally[QN_TALLY_COMPILED];
    out->compile_ms = (double)tally[QN_TALLY_COMPILE_US] / 1e3;
}
