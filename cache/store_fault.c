/* SPDX-License-Identifier: MIT
 *
 * What a failure of the database means. In: SQLite's code and what was being done. Out: a count,
 * one warning, and the consequence:
 *
 *   damaged file              renamed, and a new one begun; once, then the cache is off
 *   disk full, write failed   nothing more is written; what is there is still read, as when it
 *                             cannot be opened for writing (store_open.c)
 *   read failed, repeatedly   off
 *   locked, out of memory     nothing: a miss this time
 *
 * The kernel is compiled instead, so none of it reaches the caller.
 */
#include "cache/store.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define SET_ASIDE_MAX   1
#define READ_FAULTS_MAX 3
#define LOCK_TRIES      200 /* of 10 ms */

void qn_store_switch_off(qn_store *store, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(store->problem, sizeof store->problem, format, arguments);
    va_end(arguments);
    atomic_store(&store->is_off, true);
    qn_store_disconnect(store);
    qn_log(&store->logger, QN_WARN, "the cache of compiled kernels is not used: %s",
           store->problem);
    store->warned = true;
}

qn_log_level qn_store_level(qn_store *store)
{
    qn_log_level result = store->warned ? QN_DEBUG : QN_WARN;
    store->warned = true;
    return result;
}

void qn_folder_lock(qn_store *store, int *lock)
{
    *lock = open(store->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (int k = 0; *lock >= 0 && k < LOCK_TRIES; k++) {
        if (flock(*lock, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) {
            return; /* a file system without such locks: SQLite's own must do */
        }
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    }
}

void qn_folder_unlock(int lock)
{
    if (lock >= 0) {
        close(lock);
    }
}

/* One damaged file is kept for whoever wants to know what happened; older ones are removed. */
static void remove_older(qn_store *store)
{
    glob_t files;
    qn_text pattern = {0};
    qn_text_printf(&pattern, "%s.corrupt-*", store->path);
    if (pattern.data && !pattern.failed && glob(pattern.data, GLOB_NOSORT, NULL, &files) == 0) {
        for (size_t k = 0; k < files.gl_pathc; k++) {
            unlink(files.gl_pathv[k]);
        }
        globfree(&files);
    }
    qn_text_free(&pattern);
}

/* The journals go first: once the name is free, those that are there may be the new file's. */
static void remove_journals(const qn_store *store)
{
    static const char *const suffixes[] = {"-wal", "-shm", "-journal"};
    for (size_t k = 0; k < QN_COUNT(suffixes); k++) {
        qn_text journal = {0};
        qn_text_printf(&journal, "%s%s", store->path, suffixes[k]);
        if (!journal.failed) {
            unlink(journal.data);
        }
        qn_text_free(&journal);
    }
}

static bool move_away(qn_store *store)
{
    remove_journals(store);
    qn_text target = {0};
    qn_text_printf(&target, "%s.corrupt-%lld", store->path, (long long)qn_now_seconds());
    remove_older(store);
    bool moved = !target.failed && rename(store->path, target.data) == 0;
    qn_text_free(&target);
    return moved;
}

bool qn_store_remove_file(qn_store *store)
{
    int lock;
    qn_folder_lock(store, &lock);
    qn_store_disconnect(store);
    remove_journals(store);
    bool removed = unlink(store->path) == 0 || errno == ENOENT;
    qn_folder_unlock(lock);
    store->read_only &= !removed;
    return removed;
}

void qn_store_set_aside(qn_store *store, const char *why)
{
    int lock;
    qn_folder_lock(store, &lock);
    bool moved = !store->db || qn_has_moved(store->db); /* another process did it: not counted */
    if (!moved) {
        store->tally[QN_TALLY_SET_ASIDE]++;
        store->set_aside++;
    }
    bool hopeless = store->read_only || store->set_aside > SET_ASIDE_MAX;
    qn_store_disconnect(store);
    bool fine = moved || hopeless || move_away(store);
    qn_folder_unlock(lock);
    if (hopeless) {
        qn_store_switch_off(store, "%s is damaged (%s)", store->path, why);
        return;
    }
    if (!fine) {
        qn_store_switch_off(store, "%s is damaged (%s) and cannot be renamed: %s", store->path, why,
                            strerror(errno));
        return;
    }
    qn_log(&store->logger, qn_store_level(store),
           "the cache of compiled kernels %s was damaged (%s): it was set aside as %s.corrupt-..., "
           "and a new one begun",
           store->path, why, QN_CACHE_FILE);
}

static void stop_writing(qn_store *store, const char *doing, const char *said)
{
    store->read_only = true;
    qn_log(&store->logger, qn_store_level(store),
           "the cache of compiled kernels %s failed while %s: %s; nothing more is written to it",
           store->path, doing, said);
}

static void count_fault(qn_store *store, int code)
{
    store->tally[QN_TALLY_FAULTS]++;
    switch (code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_PROTOCOL:
        store->tally[QN_TALLY_LOCKED]++;
        break;
    case SQLITE_FULL:
        store->tally[QN_TALLY_FULL]++;
        break;
    case SQLITE_IOERR:
    case SQLITE_CANTOPEN:
    case SQLITE_READONLY:
    case SQLITE_PERM:
        store->tally[QN_TALLY_IO]++;
        break;
    default: /* damaged, out of memory */
        break;
    }
}

bool qn_store_lost_file(int code)
{
    return code == SQLITE_READONLY_DBMOVED || code == SQLITE_IOERR_DELETE_NOENT;
}

void qn_store_fault(qn_store *store, int code, const char *doing, bool writing)
{
    char said[200];
    bool known = store->db && sqlite3_errcode(store->db) != SQLITE_OK;
    snprintf(said, sizeof said, "%s", known ? sqlite3_errmsg(store->db) : sqlite3_errstr(code));
    count_fault(store, code);
    bool is_stuck = (code & 0xff) == SQLITE_PROTOCOL; /* SQLite waited for 10 s, and would again */
    const bool lost = qn_store_lost_file(code);
    if (lost || is_stuck) { /* the next time it is opened anew */
        qn_store_disconnect(store);
    }
    if (is_stuck && store->tally[QN_TALLY_LOCKED] > 1) {
        qn_store_switch_off(store, "%s: its locks do not work", store->path);
        return;
    }
    switch (lost ? SQLITE_OK : code & 0xff) {
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
        qn_store_set_aside(store, said);
        return;
    case SQLITE_FULL:
    case SQLITE_IOERR:
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
        if (writing && store->db) {
            stop_writing(store, doing, said);
            return;
        }
        if (++store->read_faults >= READ_FAULTS_MAX) {
            qn_store_switch_off(store, "%s fails again and again: %s", store->path, said);
            return;
        }
        break;
    default: /* locked, out of memory, set aside by another process: it passes */
        break;
    }
    qn_log(&store->logger, QN_DEBUG, "the cache of compiled kernels %s failed while %s: %s",
           store->path, doing, said);
}
