/* SPDX-License-Identifier: MIT
 *
 * Inside of cache: the store's parts. A store is one folder and, once something is looked up, one
 * connection to the database in it, used by one thread at a time. schema.sql has all SQL.
 */
#ifndef QN_CACHE_STORE_H
#define QN_CACHE_STORE_H

#include "cache/cache_internal.h"

#include <sqlite3.h>
#include <stdatomic.h>
#include <sys/types.h>

#define QN_CACHE_FORMAT 1
#define QN_CACHE_FILE   "quern-1.db"
#define QN_LOCK_FILE    "quern-1.lock"
#define QN_COUNTS_FILE  "quern-1.counts"
#define QN_WAIT_MS      30000 /* how long to wait for another process that compiles the same */
#define QN_BUSY_MS      2000  /* how long to wait for another writer: many times what a put takes */

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
    X(FUTURE)                                                                                      \
    X(FREE_PAGES)                                                                                  \
    X(GIVE_BACK)                                                                                   \
    X(NAMED)                                                                                       \
    X(BYTES)                                                                                       \
    X(ENTRIES)                                                                                     \
    X(OLDEST)                                                                                      \
    X(PAGES)                                                                                       \
    X(LIST)                                                                                        \
    X(LIST_RANGE)                                                                                  \
    X(CHECK)                                                                                       \
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

/** A look-up that failed, and why: QN_TALLY_DAMAGED or QN_TALLY_UNREAD. */
typedef struct qn_unlucky {
    uint64_t hash[2];
    qn_tally why;
} qn_unlucky;
#define QN_UNLUCKY 8 /* that are remembered, until they are compiled */

/** checkpoint.c's thread. */
typedef struct qn_checkpoint {
    pthread_t thread;
    bool started;            /* and not yet waited for */
    int pages, due;          /* that the journal had; at which the next thread begins */
    atomic_bool done, hurry; /* it has ended; it is waited for */
} qn_checkpoint;

struct qn_store {
    qn_store *next, *previous; /* fork.c's list */
    pthread_mutex_t lock;      /* of all that follows */
    qn_logger logger;
    char *folder, *path;
    char problem[512];  /* why it is off; "" while it is not */
    atomic_bool is_off; /* `problem` is written: read by those who have no lock */
    uint64_t limit;

    sqlite3 *db; /* NULL until the first look-up, and again after a fork */
    sqlite3_stmt *statements[QN_SQL_COUNT];
    bool read_only; /* nothing can be written: a read-only folder, a full disk, a failed write */
    bool warned;    /* a fault was logged at level warn; later ones go to debug */
    int set_aside;  /* files set aside so far: after one too many it is switched off */
    int read_faults;

    qn_checkpoint checkpoint;

    double wait_ms; /* QN_WAIT_MS */
    char why[512];  /* something was last compiled */
    bool draining;  /* eviction goes on, a step a put, until the low mark is reached */
    bool shared;    /* with `group`, which the user trusts */
    gid_t group;
    bool fat;           /* the file is larger than the limit */
    bool summed;        /* the sums were made anew, as they did not fit the file */
    bool told_declined; /* that an image is larger than the limit */
    uint64_t tally[QN_TALLIES];
    uint64_t told[QN_TALLIES];      /* what of it is in the counts file, or another process's */
    qn_unlucky unlucky[QN_UNLUCKY]; /* the last look-ups that found something else than a hit */
    unsigned unlucky_turn;
};

/** True when what is put into the store can be found by other processes: it is on, and written. */
bool qn_store_is_written(qn_store *store);

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
/** Open the file `name` in the folder for reading and writing, and make it where there is none; -1
 * with errno. */
int qn_store_open_beside(const qn_store *store, const char *name);

/* ---- store_open.c: the connection. The lock is held. ---------------------------------------- */

/** Connect, unless there is a connection already; false when it fails (counted and logged). */
bool qn_store_connect(qn_store *store);
/** True when the open file has lost its name: it was set aside, or removed. */
bool qn_has_moved(sqlite3 *db);
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
/** Make the file as small as its contents, and its journal empty. Returns SQLite's code. */
int qn_store_shrink(qn_store *store);

/* ---- checkpoint.c. The lock is held, or nobody else has the store. -------------------------- */

/** Have the journal of the open database moved into it by a thread whenever it is long. */
void qn_checkpoint_watch(qn_store *store);
/** Wait for that thread, if there is one. */
void qn_checkpoint_wait(qn_store *store);
/** The journal grows faster than it is moved: what can wait should. */
bool qn_checkpoint_is_behind(const qn_store *store);

/* ---- store_fault.c: what a failure means. The lock is held. --------------------------------- */

/** The level to log a fault at: a store's first is a warning, later ones are for debugging. */
qn_log_level qn_store_level(qn_store *store);
/** Take note of a failure of SQLite while `doing`: count it, log it, and act on it (set the file
 * aside, stop writing, switch off). The connection may be gone afterwards. */
void qn_store_fault(qn_store *store, int code, const char *doing, bool writing);
/** Whether SQLite's code says that another process has taken the file or its journal away. */
bool qn_store_lost_file(int code);
/** Rename the database file out of the way, so that a new one can be made. */
void qn_store_set_aside(qn_store *store, const char *why);
/** Remove the database file, so that a new one can be made; false, with errno, when the folder does
 * not allow it. */
bool qn_store_remove_file(qn_store *store);
/** Lock the folder against other processes, waiting a few seconds at most; pass *lock to
 * qn_folder_unlock. The system releases it when the process ends. */
void qn_folder_lock(qn_store *store, int *lock);
void qn_folder_unlock(int lock);

/* ---- store_put.c, store_evict.c. The lock is held. ------------------------------------------ */

#define QN_PAGE 4096 /* SQLite's */

/** Remove the rows of a key; `compiler` NULL or "": of all compilers. Returns SQLite's code. */
int qn_store_remove(qn_store *store, const qn_key *key, const char *compiler);
/** After a put: if there is more than may be, remove what is oldest for some milliseconds. */
void qn_store_evict(qn_store *store);
/** Before the end: go on with that for longer. */
void qn_store_drain(qn_store *store);

/** How much is to go, and until when. */
typedef struct qn_drain {
    int64_t target; /**< bytes in use at the end */
    int64_t before; /**< rows last used earlier go, whatever is in use; 0: none for that */
    double until;   /**< on the clock; a row more may go */
    uint64_t removed;
    bool finished; /**< out: nothing is left to be removed */
} qn_drain;
/** Remove rows in a transaction of their own. Returns SQLite's code; a failure was counted. */
int qn_store_remove_until(qn_store *store, qn_drain *drain);

/* ---- store_query.c, for its neighbours. The lock is held. --------------------------------------
 */

/** A connection, or the reason why there is none. */
quern_status qn_store_need(qn_store *store);
/** The same, and it can be written. */
quern_status qn_store_need_writable(qn_store *store);
/** Explain SQLite's code to the user, and act on it. */
quern_status qn_store_failed(qn_store *store, int code, const char *doing);
/** The ids of the rows of some keys, the most recently used first. Whoever goes through them may
 * use the cache itself, so nothing is left open. Free ids->items. */
quern_status qn_store_list(qn_store *store, const qn_key_range *range, qn_row_ids *ids);

/* ---- store.c -------------------------------------------------------------------------------- */

/** The columns of FIND, FIND_ANY and CHECK. */
enum {
    QN_FIND_ID,
    QN_FIND_COMPILER,
    QN_FIND_KIND,
    QN_FIND_ARCH,
    QN_FIND_CHECKSUM,
    QN_FIND_LAST_USED,
    QN_FIND_MATERIAL,
    QN_FIND_LOWERED,
    QN_FIND_IMAGE,
    QN_FIND_COMPILE_MS,
    QN_FIND_KEY /**< of CHECK only */
};
/** Whether a row is what was written under that key. */
bool qn_row_is_intact(sqlite3_stmt *row, const unsigned char key[16]);

/* ---- store_row.c: a row's contents ---------------------------------------------------------- */

/** XXH3-128 over all that a hit relies on, in canonical bytes. */
void qn_row_checksum(unsigned char out[16], const unsigned char key[16], qn_str compiler,
                     int64_t kind, int64_t arch, qn_str material, qn_str lowered, qn_str image);
/** The key as it is stored: of a qn_key, and of its material. */
void qn_row_key(unsigned char out[16], const qn_key *key);
void qn_row_key_of(unsigned char out[16], qn_str material);
/** A column's bytes; empty for NULL. */
qn_str qn_row_bytes(sqlite3_stmt *statement, int column);
/** Names joined, each ended by a zero byte; false: out of memory. */
bool qn_row_join(qn_text *out, char *const *names, size_t count);
/** Add the compiler's warnings after the names. */
bool qn_row_join_warnings(qn_text *out, const char *warnings);
/** The reverse, into `out`. */
bool qn_row_split(qn_image *out, qn_str lowered);

/* ---- why.c ---------------------------------------------------------------------------------- */

/** Append what differs between the materials of two keys; returns how many things. */
size_t qn_key_difference(qn_text *out, qn_str mine, qn_str other);

/* ---- tally.c: the file with the counts of all processes -------------------------------------- */

/** Add what this store has counted. The lock is held, or nobody else has the store. */
void qn_store_add_counts(qn_store *store);
/** All that was counted, with this store's. */
void qn_store_read_counts(qn_store *store, uint64_t tally[QN_TALLIES], int64_t *since);
void qn_tally_give(quern_cache_stats *out, const uint64_t tally[QN_TALLIES]);

/* ---- store_tuning.c: the lock is held ------------------------------------------------------- */

/** Remove all tunings. Returns SQLite's code. */
int qn_store_clear_tunings(qn_store *store);

/* ---- fork.c: no connection crosses a fork --------------------------------------------------- */

void qn_fork_register(qn_store *store);
void qn_fork_forget(qn_store *store);

#endif /* QN_CACHE_STORE_H */
