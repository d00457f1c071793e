/* SPDX-License-Identifier: MIT
 *
 * Moving the journal into the database waits for the disk, and a put stands before a launch: so a
 * thread does it. In: commits that make the journal longer. Out: a short journal, some time later.
 *
 * SQLite begins a journal anew only once all of it has been moved, and what is put meanwhile
 * counts: so the thread goes on with what came until nothing did. It has a connection of its own,
 * holds nothing that a put needs, and SQLite's passive checkpoint makes no reader or writer wait.
 * It is waited for where it would be in the way: before a fork, and before the store is gone. A
 * process that ends meanwhile loses nothing, because the journal stays until all of it has been
 * moved.
 */
#include "cache/store.h"

#include <signal.h>

#define LONG_PAGES     4000  /* 16 MB: a thread begins */
#define BEHIND_PAGES   8000  /* it does not keep up: eviction, which writes most, waits */
#define TOO_LONG_PAGES 16000 /* whoever writes that much waits for once */
#define PASSES         20    /* of a thread, each over what came during the one before */

/* Returns how many pages the journal had when that began. What fails is left in it, and a later
 * commit tries again. */
static int move_journal(sqlite3 *db)
{
    int pages = 0;
    (void)sqlite3_wal_checkpoint_v2(db, NULL, SQLITE_CHECKPOINT_PASSIVE, &pages, NULL);
    return pages;
}

/* A connection knows of the journal once it has read. The journal is found by its name: if the file
 * was set aside meanwhile, it is another file's, and is left alone. */
static bool has_own_journal(sqlite3 *db)
{
    qn_str text = qn_sql_text("LOOK_AT_JOURNAL");
    char *sql = qn_strndup(text.data, text.length);
    const bool looked = sql && sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK;
    qn_free(sql);
    return looked && !qn_has_moved(db);
}

static void move_all(qn_store *store, sqlite3 *db)
{
    int before = -1;
    for (int k = 0; k < PASSES && !atomic_load(&store->checkpoint.hurry); k++) {
        const int pages = has_own_journal(db) ? move_journal(db) : before;
        if (pages == before) {
            return; /* nothing came meanwhile */
        }
        before = pages;
    }
}

/* On the thread. */
static void *run(void *context)
{
    qn_store *store = context;
    sqlite3 *db = NULL;
    int keep = 1;
    if (sqlite3_open_v2(store->path, &db, SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_READWRITE, NULL) ==
        SQLITE_OK) {
        sqlite3_file_control(db, "main", SQLITE_FCNTL_PERSIST_WAL, &keep);
        sqlite3_db_config(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
        move_all(store, db);
    }
    sqlite3_close(db);
    atomic_store(&store->checkpoint.done, true);
    return NULL;
}

/* Start the thread, with the program's signals left to the program's own. */
static bool start(qn_store *store)
{
    sigset_t all, before;
    atomic_store(&store->checkpoint.done, false);
    atomic_store(&store->checkpoint.hurry, false);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool started =
        sqlite3_threadsafe() && pthread_create(&store->checkpoint.thread, NULL, run, store) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

/* SQLite calls this after each commit, with the pages that the journal has now. What was written
 * while a thread was at work is left to the next, so that they do not follow each other closely. */
static int after_commit(void *context, sqlite3 *db, const char *name, int pages)
{
    (void)name;
    qn_store *store = context;
    qn_checkpoint *c = &store->checkpoint;
    const bool works = c->started && !atomic_load(&c->done);
    c->due = pages < c->pages || c->due == 0 ? LONG_PAGES : c->due; /* it began anew */
    c->pages = pages;
    if (pages < c->due || (works && pages < TOO_LONG_PAGES)) {
        return SQLITE_OK;
    }
    qn_checkpoint_wait(store);
    c->due = pages + LONG_PAGES;
    c->due = pages < TOO_LONG_PAGES ? QN_MIN(c->due, TOO_LONG_PAGES) : c->due;
    c->started = pages < TOO_LONG_PAGES && start(store);
    if (!c->started) {
        (void)move_journal(db);
    }
    return SQLITE_OK;
}

void qn_checkpoint_watch(qn_store *store)
{
    sqlite3_wal_hook(store->db, after_commit, store);
}

bool qn_checkpoint_is_behind(const qn_store *store)
{
    return store->checkpoint.pages >= BEHIND_PAGES;
}

void qn_checkpoint_wait(qn_store *store)
{
    if (store->checkpoint.started) {
        atomic_store(&store->checkpoint.hurry, true);
        pthread_join(store->checkpoint.thread, NULL);
        store->checkpoint.started = false;
    }
}
