/* SPDX-License-Identifier: MIT
 *
 * Lets one process of a machine compile what several ask for. In: a store and a key. Out: one
 * process is told to compile; the others wait until it has, or for as long as is sensible, and are
 * told to look again.
 *
 * A key is one byte of the file quern-1.lock, far beyond its end: locks of bytes need no bytes. The
 * maker holds a write lock on it, which the kernel frees with the last descriptor, so that nobody
 * waits for a process that was killed. Those who wait ask for a read lock: when the maker is done
 * all of them get one at the same moment, and none waits for the next.
 */
#include "cache/store.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define FIRST_PAUSE_US 500
#define LONGEST_US     8000
#define ROUNDS         2 /* waited for a maker that made nothing: then everybody for himself */

struct qn_machine {
    qn_machine *next;
    int file; /* -1 in a forked child: the lock is the parent's */
    off_t byte;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of the list */
static qn_machine *list;
static pthread_once_t handlers_once = PTHREAD_ONCE_INIT;

/* ---- fork: a lock belongs to all who share its descriptor ----------------------------------- */

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
    for (qn_machine *m = list; m; m = m->next) {
        close(m->file);
        m->file = -1;
    }
    pthread_mutex_unlock(&lock);
}

static void add_handlers(void)
{
    pthread_atfork(before_fork, parent_after_fork, child_after_fork);
}

/* ---------------------------------------------------------------------------------------------- */

static qn_machine *hold(int file, off_t byte)
{
    qn_machine *m = qn_calloc(1, sizeof *m);
    if (!m) {
        return NULL;
    }
    m->file = file;
    m->byte = byte;
    pthread_once(&handlers_once, add_handlers);
    pthread_mutex_lock(&lock);
    m->next = list;
    list = m;
    pthread_mutex_unlock(&lock);
    return m;
}

/* Errors of fcntl(2): EAGAIN and EACCES when another process has the byte. */
static int try_lock(int file, off_t byte, short type)
{
    struct flock what = {.l_type = type, .l_whence = SEEK_SET, .l_start = byte, .l_len = 1};
    return fcntl(file, F_OFD_SETLK, &what) == 0 ? 0 : errno;
}

/* Not by closing alone: a child that was forked just now has the descriptor, too. */
static void give_back(int file, off_t byte)
{
    (void)try_lock(file, byte, F_UNLCK);
    close(file);
}

void qn_machine_done(qn_machine *m)
{
    if (!m) {
        return;
    }
    pthread_mutex_lock(&lock);
    for (qn_machine **link = &list; *link; link = &(*link)->next) {
        if (*link == m) {
            *link = m->next;
            break;
        }
    }
    if (m->file >= 0) {
        give_back(m->file, m->byte);
    }
    pthread_mutex_unlock(&lock);
    qn_free(m);
}

static bool is_held(int error)
{
    return error == EAGAIN || error == EACCES;
}

/* Wait while another process makes it; false when that took too long, or cannot be told. */
static bool wait_for_maker(qn_store *store, int file, off_t byte)
{
    const double began = qn_now_ms();
    long pause_us = FIRST_PAUSE_US;
    int error;
    while (is_held(error = try_lock(file, byte, F_RDLCK)) && qn_now_ms() - began < store->wait_ms) {
        nanosleep(&(struct timespec){.tv_nsec = pause_us * 1000}, NULL);
        pause_us = QN_MIN(pause_us * 2, LONGEST_US);
    }
    qn_store_count(store, QN_TALLY_WAITS, 1);
    qn_store_count(store, QN_TALLY_WAITED_US, (uint64_t)((qn_now_ms() - began) * 1e3));
    return error == 0;
}

/* Go on without a lock: the kernel is compiled all the same. */
static bool alone(qn_store *store, int error)
{
    qn_store_count(store, QN_TALLY_ALONE, 1);
    qn_log(&store->logger, QN_DEBUG, "compiling without a lock in %s: %s", store->folder,
           is_held(error) ? "another process makes the same kernel and does not end"
                          : strerror(error));
    return true;
}

bool qn_machine_begin(qn_machine **out, qn_store *store, const qn_key *key, int round)
{
    *out = NULL;
    if (round > ROUNDS || !qn_store_is_written(store)) {
        return true; /* what is made cannot be handed on */
    }
    int file = qn_store_open_beside(store, QN_LOCK_FILE);
    if (file < 0) {
        return alone(store, errno);
    }
    const off_t byte = (off_t)(key->hash[1] & (uint64_t)INT64_MAX >> 1);
    int error = try_lock(file, byte, F_WRLCK);
    if (is_held(error)) {
        if (wait_for_maker(store, file, byte)) {
            give_back(file, byte);
            return false;
        }
    }
    if (error == 0) {
        *out = hold(file, byte);
    }
    if (*out) {
        return true;
    }
    give_back(file, byte);
    return alone(store, error ? error : ENOMEM);
}
