/* SPDX-License-Identifier: MIT
 *
 * Inside of cache: the store's parts. A store is one folder and, once something is looked up, one
 * connection to the database in it, used by one thread at a time. schema.sql has all SQL.
 */
#ifndef QN_CACHE_STORE_H
#define QN_CACHE_STORE_H

#include "cache/cache_internal.h"

#include <sqlite3.h>

#define QN_CACHE_FORMAT 1
#define QN_CACHE_FILE   "quern-1.db"
#define QN_BUSY_MS      2000 /* how long to wait for another writer: many times what a put takes */

/* ---- sql.c: the named pieces of schema.sql -------------------------------------------------- */

/** Statements that a connection keeps prepared. */
#define QN_SQL_MAP(X)                                                                              \
    X(FIND)                                                                                        \
    X(FIND_ANY)                                                                                    \
    X(TOUCH)                                                                                       \
    X(REMOVE_ID)                                                                                   \
    X(REMOVE)                                                                                      \
    X(ADD_IMAGE)                                                                                   \
    X(ADD_PAYLOAD)                                                                                 \
    X(BYTES)                                                                                       \
    X(ENTRIES)                                                                                     \
    X(OLDEST)                                                                                      \
    X(PAGES)                                                                                       \
    X(VACUUM_MODE)                                                                                 \
    X(LIST)                                                                                        \
    X(SHOW)                                                                                        \
    X(EXPORT)                                                                                      \
    X(VERSION)                                                                                     \
    X(SCHEMA_SIZE)                                                                                 \
    X(BEGIN)                                                                                       \
    X(COMMIT)                                                                                      \
    X(ROLLBACK)                                                                                    \
    X(TUNING_IS_THERE)                                                                             \
    X(FIND_TUNING)                                                                                 \
    X(ADD_TUNING)                                                                                  \
    X(TRIM_TUNING)

typedef enum qn_sql {
#define QN_SQL_ENUM(name) QN_SQL_##name,
    QN_SQL_MAP(QN_SQL_ENUM)
#undef QN_SQL_ENUM
        QN_SQL_COUNT
} qn_sql;

/** The text of the piece `name` of schema.sql; empty if there is none. */
qn_str qn_sql_text(const char *name);

/* ---- the store ------------------------------------------------------------------------------ */

struct qn_store {
    qn_store *next, *previous; /* fork.c's list */
    pthread_mutex_t lock;      /* of all that follows */
    qn_logger logger;
    char *folder, *path;
    char problem[512]; /* why it is off; "" while it is not */
    uint64_t limit;

    sqlite3 *db; /* NULL until the first look-up, and again after a fork */
    sqlite3_stmt *statements[QN_SQL_COUNT];
    bool read_only; /* nothing can be written: a read-only folder, a full disk, a failed write */
    bool warned;    /* a fault was logged at level warn; later ones go to debug */
    int set_aside;  /* files set aside so far: after one too many it is switched off */
    int read_faults;

    uint64_t hits, misses, faults, corrupt;
};

/** Switch off for good, with the reason; warns. The lock is held or the store is not yet shared. */
void qn_store_switch_off(qn_store *store, const char *format, ...) QN_PRINTF(2, 3);

/* ---- store_folder.c ------------------------------------------------------------------------- */

/** Choose, create and check the folder: fills folder and path, or switches off. False: no
 * memory. */
bool qn_store_folder(qn_store *store, const char *asked);
/** Make the chosen folder if it does not exist, and check it; switches off if it may not be
 * used. */
void qn_store_check_folder(qn_store *store);
/** The size limit from QUERN_CACHE_LIMIT, or the default. */
uint64_t qn_store_limit(const qn_logger *logger);
/** True when `path` is on a network file system. */
bool qn_on_network(const char *path);

/* ---- store_open.c: the connection. The lock is held. ---------------------------------------- */

/** Connect, unless there is a connection already; false when it fails (counted and logged). */
bool qn_store_connect(qn_store *store);
/** True when the open file has lost its name: it was set aside, or removed. */
bool qn_store_has_moved(const qn_store *store);
void qn_store_disconnect(qn_store *store);
/** A prepared statement, ready to bind; NULL when it cannot be prepared (counted and logged). */
sqlite3_stmt *qn_store_statement(qn_store *store, qn_sql which);
/** Run a statement to its end and reset it. Returns SQLite's code, SQLITE_OK when it was run;
 * *number (may be NULL) is the first column of its first row. A NULL statement gives SQLITE_ERROR.
 */
int qn_store_run(sqlite3_stmt *statement, int64_t *number);
/** End a transaction that failed, if there is one still. */
void qn_store_roll_back(qn_store *store);
/** Run all statements of a piece of schema.sql. Returns SQLite's code. */
int qn_store_script(qn_store *store, const char *piece);

/* ---- store_fault.c: what a failure means. The lock is held. --------------------------------- */

/** The level to log a fault at: a store's first is a warning, later ones are for debugging. */
qn_log_level qn_store_level(qn_store *store);
/** Take note of a failure of SQLite while `doing`: count it, log it, and act on it (set the file
 * aside, stop writing, switch off). The connection may be gone afterwards. */
void qn_store_fault(qn_store *store, int code, const char *doing, bool writing);
/** Rename the database file out of the way, so that a new one can be made. */
void qn_store_set_aside(qn_store *store, const char *why);
/** Remove the database file, so that a new one can be made; false, with errno, when the folder does
 * not allow it. */
bool qn_store_remove_file(qn_store *store);
/** Lock the folder against other processes, waiting a few seconds at most; pass *lock to
 * qn_folder_unlock. The system releases it when the process ends. */
void qn_folder_lock(qn_store *store, int *lock);
void qn_folder_unlock(int lock);

/* ---- store_row.c: a row's contents ---------------------------------------------------------- */

/** XXH3-128 over all that a hit relies on, in canonical bytes. */
void qn_row_checksum(unsigned char out[16], const unsigned char key[16], qn_str compiler,
                     int64_t kind, int64_t arch, qn_str material, qn_str lowered, qn_str image);
/** The key as it is stored. */
void qn_row_key(unsigned char out[16], const qn_key *key);
/** A column's bytes; empty for NULL. */
qn_str qn_row_bytes(sqlite3_stmt *statement, int column);
/** Names joined, each ended by a zero byte; false: out of memory. */
bool qn_row_join(qn_text *out, char *const *names, size_t count);
/** Add the compiler's warnings after the names. */
bool qn_row_join_warnings(qn_text *out, const char *warnings);
/** The reverse, into `out`. */
bool qn_row_split(qn_image *out, qn_str lowered);

/* ---- store_tuning.c: the lock is held ------------------------------------------------------- */

/** Remove all tunings. Returns SQLite's code. */
int qn_store_clear_tunings(qn_store *store);

/* ---- fork.c: no connection crosses a fork --------------------------------------------------- */

void qn_fork_register(qn_store *store);
void qn_fork_forget(qn_store *store);

#endif /* QN_CACHE_STORE_H */
