/* SPDX-License-Identifier: MIT
 *
 * The connection. In: a folder that has been checked. Out: an open database of this format, created
 * when there was none, or else the store switched off or degraded.
 *
 * A folder or file that cannot be written is still read, as SQLite reads what nobody changes; so is
 * a file on a full disk, which has no room for what SQLite writes beside it. A file that is not a
 * database of this format is set aside, and a new one made, once.
 */
#include "cache/store.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#define OPEN_TRIES 3
#define MOVES_MAX  16 /* by other processes, of which each sets a file aside once or twice */

static const char *const names[] = {
#define NAME(name) #name,
    QN_SQL_MAP(NAME)
#undef NAME
};

sqlite3_stmt *qn_store_statement(qn_store *store, qn_sql which)
{
    if (!store->db) {
        return NULL; /* an earlier fault closed the connection */
    }
    sqlite3_stmt **statement = &store->statements[which];
    if (!*statement) {
        qn_str text = qn_sql_text(names[which]);
        int code = sqlite3_prepare_v3(store->db, text.data, (int)text.length,
                                      SQLITE_PREPARE_PERSISTENT, statement, NULL);
        if (code != SQLITE_OK) {
            /* the statement is right, so a table or a column that it names is gone */
            code = code == SQLITE_ERROR ? SQLITE_CORRUPT : code;
            qn_store_fault(store, code, "preparing a statement", false);
            return NULL;
        }
    }
    return *statement;
}

int qn_store_run(sqlite3_stmt *statement, int64_t *number)
{
    if (!statement) {
        return SQLITE_ERROR;
    }
    int code = sqlite3_step(statement);
    if (number) {
        *number = code == SQLITE_ROW ? sqlite3_column_int64(statement, 0) : 0;
    }
    while (code == SQLITE_ROW) {
        code = sqlite3_step(statement);
    }
    sqlite3_reset(statement);
    sqlite3_clear_bindings(statement);
    return code == SQLITE_DONE ? SQLITE_OK : code;
}

void qn_store_roll_back(qn_store *store)
{
    if (store->db && !sqlite3_get_autocommit(store->db)) {
        qn_store_run(qn_store_statement(store, QN_SQL_ROLLBACK), NULL);
    }
}

int qn_store_script(qn_store *store, const char *piece)
{
    qn_str text = qn_sql_text(piece);
    char *sql = qn_strndup(text.data, text.length);
    int code = sql ? sqlite3_exec(store->db, sql, NULL, NULL, NULL) : SQLITE_NOMEM;
    qn_free(sql);
    return code;
}

int qn_store_shrink(qn_store *store)
{
    int code = qn_store_script(store, "SHRINK");
    qn_checkpoint_wait(store); /* which what was just written may have begun */
    return code == SQLITE_OK ? qn_store_script(store, "EMPTY_JOURNAL") : code;
}

void qn_store_disconnect(qn_store *store)
{
    qn_checkpoint_wait(store); /* or it would meet the journal of what takes this file's place */
    for (size_t k = 0; k < QN_SQL_COUNT; k++) {
        sqlite3_finalize(store->statements[k]);
        store->statements[k] = NULL;
    }
    sqlite3_close(store->db);
    store->db = NULL;
}

/* "file:PATH?immutable=1": reads without locks, journal and shared memory, none of which can be
 * made */
static char *immutable_name(const char *path)
{
    qn_text name = {0};
    qn_text_puts(&name, "file:");
    for (const char *p = path; *p; p++) {
        if (*p == '?' || *p == '#' || *p == '%') {
            qn_text_printf(&name, "%%%02x", (unsigned char)*p);
        } else {
            qn_text_add(&name, p, 1);
        }
    }
    qn_text_puts(&name, "?immutable=1");
    return qn_text_take(&name);
}

static int open_file(qn_store *store)
{
    /* Decided once: before a second look another process may have set a damaged file aside. */
    bool writable = !store->read_only && access(store->folder, W_OK) == 0 &&
                    (access(store->path, W_OK) == 0 || errno == ENOENT);
    int flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
    int code;
    if (writable) {
        flags |= SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
        code = sqlite3_open_v2(store->path, &store->db, flags, NULL);
        if (code == SQLITE_OK && store->shared) { /* its journal gets the same */
            (void)!chown(store->path, (uid_t)-1, store->group);
            (void)!chmod(store->path, 0660);
        }
    } else {
        store->read_only = true;
        char *name = immutable_name(store->path);
        flags |= SQLITE_OPEN_READONLY | SQLITE_OPEN_URI;
        code = name ? sqlite3_open_v2(name, &store->db, flags, NULL) : SQLITE_NOMEM;
        qn_free(name);
    }
    return code;
}

/* Make the tables in an empty file, in one transaction: another process may be doing the same. */
static int create(qn_store *store, int64_t *version)
{
    int lock;
    int64_t objects = 0;
    qn_folder_lock(store, &lock);
    int code = qn_store_script(store, "EMPTY");
    code = code == SQLITE_OK ? qn_store_run(qn_store_statement(store, QN_SQL_BEGIN), NULL) : code;
    if (code == SQLITE_OK) {
        code = qn_store_run(qn_store_statement(store, QN_SQL_VERSION), version);
    }
    if (code == SQLITE_OK && *version == 0) {
        code = qn_store_run(qn_store_statement(store, QN_SQL_SCHEMA_SIZE), &objects);
    }
    if (code == SQLITE_OK && *version == 0 && objects == 0) {
        code = qn_store_script(store, "CREATE");
        *version = QN_CACHE_FORMAT;
    }
    if (code == SQLITE_OK) {
        code = qn_store_run(qn_store_statement(store, QN_SQL_COMMIT), NULL);
    }
    if (code != SQLITE_OK) {
        qn_store_roll_back(store);
    }
    qn_folder_unlock(lock);
    return code;
}

/* Is it a database of this format? Makes one of an empty file. */
static int check_format(qn_store *store)
{
    int64_t version = 0;
    int code = qn_store_run(qn_store_statement(store, QN_SQL_VERSION), &version);
    if (code == SQLITE_OK && version == 0) {
        code = store->read_only ? SQLITE_CANTOPEN : create(store, &version);
    }
    if (code == SQLITE_OK && version != QN_CACHE_FORMAT) {
        code = SQLITE_NOTADB;
    }
    return code;
}

static int open_database(qn_store *store)
{
    int code = open_file(store);
    if (code == SQLITE_OK) {
        sqlite3_busy_timeout(store->db, QN_BUSY_MS);
        code = qn_store_script(store, "SETTINGS");
    }
    if (code == SQLITE_OK) {
        code = check_format(store);
    }
    if (code == SQLITE_OK && !store->read_only) {
        bool network = qn_on_network(store->folder);
        int keep = 1; /* the journal stays for the next process, which need not make it again */
        sqlite3_file_control(store->db, "main", SQLITE_FCNTL_PERSIST_WAL, &keep);
        code = qn_store_script(store, network ? "JOURNAL_NETWORK" : "JOURNAL_LOCAL");
        qn_checkpoint_watch(store);
        /* busy: another process uses it as it is; the next to open it alone changes it */
        code = (code & 0xff) == SQLITE_BUSY ? SQLITE_OK : code;
    }
    return code;
}

/* Has the open file meanwhile lost its name or its journal to another process, which sets it aside?
 * What else that process may have been in the middle of is looked at once more, too. */
static bool was_moved(const qn_store *store, int code, bool first)
{
    const bool failed = (code & 0xff) == SQLITE_IOERR;
    return qn_store_lost_file(code) || (failed && (first || qn_has_moved(store->db)));
}

static bool is_file(const char *path)
{
    struct stat facts;
    return stat(path, &facts) == 0 && S_ISREG(facts.st_mode) && facts.st_size > 0;
}

/* Does the code say that files beside the database cannot be made or written: a full disk? */
static bool no_room(int code)
{
    code &= 0xff;
    return code == SQLITE_FULL || code == SQLITE_IOERR || code == SQLITE_CANTOPEN;
}

/* Go on reading what is there, which needs no file beside it. */
static void read_on(qn_store *store, int code)
{
    qn_store_disconnect(store);
    store->read_only = true;
    store->tally[QN_TALLY_FAULTS]++;
    store->tally[(code & 0xff) == SQLITE_FULL ? QN_TALLY_FULL : QN_TALLY_IO]++;
    qn_log(&store->logger, qn_store_level(store),
           "the cache of compiled kernels %s cannot be written (%s); what it holds is used",
           store->path, sqlite3_errstr(code));
}

bool qn_has_moved(sqlite3 *db)
{
    int moved = 0;
    return sqlite3_file_control(db, "main", SQLITE_FCNTL_HAS_MOVED, &moved) == SQLITE_OK && moved;
}

bool qn_store_connect(qn_store *store)
{
    if (store->db && qn_has_moved(store->db)) { /* nobody would find what is written to it */
        qn_store_disconnect(store);
        qn_store_check_folder(store);
    }
    /* again, because the fault sets a damaged file aside, and then a new one can be made; and
     * because another process may do that at the same time */
    for (int attempt = 0, moves = 0; attempt < OPEN_TRIES && !store->problem[0]; attempt++) {
        if (store->db) {
            return true;
        }
        int code = open_database(store);
        if (code == SQLITE_OK) {
            return store->db != NULL;
        }
        if (store->db && moves < MOVES_MAX && was_moved(store, code, attempt + moves == 0)) {
            qn_store_disconnect(store);
            moves++;
            attempt--; /* others did that: it says nothing of the file that is there now */
            continue;
        }
        if (store->db && !store->read_only && no_room(code) && attempt + 1 < OPEN_TRIES &&
            is_file(store->path)) {
            read_on(store, code);
            continue;
        }
        if (store->db) {
            qn_store_fault(store, code, "opening it", false);
        }
        if (store->db) { /* the fault changed nothing: the file is not there, or cannot be read */
            bool passes = (code & 0xff) == SQLITE_BUSY || (code & 0xff) == SQLITE_NOMEM;
            qn_store_disconnect(store);
            if (passes) {
                return false; /* perhaps next time */
            }
            qn_store_switch_off(store, "cannot open %s: %s%s", store->path, sqlite3_errstr(code),
                                store->read_only ? " (the folder cannot be written)" : "");
        }
    }
    return store->db != NULL;
}
