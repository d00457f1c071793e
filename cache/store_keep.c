/* SPDX-License-Identifier: MIT
 *
 * The store in order: verified, pruned, emptied, by people who ask for it. In: a store. Out: what
 * was removed, or an error.
 *
 * Nothing here holds the database for long: entries are read one by one, and removed and given back
 * in transactions of some milliseconds, between which others look up and keep.
 */
#include "cache/store.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define DAY        86400
#define BETWEEN_MS 5.0 /* of one transaction */

/* ---- verifying ------------------------------------------------------------------------------ */

typedef struct check {
    bool found, intact;
} check;

static int check_row(qn_store *store, int64_t id, check *out)
{
    *out = (check){0};
    sqlite3_stmt *row = qn_store_statement(store, QN_SQL_CHECK);
    if (!row) {
        return SQLITE_ERROR;
    }
    sqlite3_bind_int64(row, 1, id);
    int code = sqlite3_step(row);
    if (code == SQLITE_ROW) {
        qn_str key = qn_row_bytes(row, QN_FIND_KEY);
        unsigned char expected[16];
        qn_row_key_of(expected, qn_row_bytes(row, QN_FIND_MATERIAL));
        out->found = true;
        out->intact = qn_str_same(key, (qn_str){(const char *)expected, sizeof expected}) &&
                      qn_row_is_intact(row, expected);
        code = SQLITE_DONE;
    }
    sqlite3_reset(row);
    return code == SQLITE_DONE ? SQLITE_OK : code;
}

static quern_status verify_one(qn_store *store, int64_t id, uint64_t *checked, uint64_t *removed)
{
    check result;
    QN_TRY(qn_store_need(store));
    int code = check_row(store, id, &result);
    if (code == SQLITE_OK && result.found && !result.intact) {
        sqlite3_stmt *removal = qn_store_statement(store, QN_SQL_REMOVE_ID);
        if (removal) {
            sqlite3_bind_int64(removal, 1, id);
        }
        code = qn_store_run(removal, NULL);
        store->tally[QN_TALLY_ROWS_REMOVED]++;
        *removed += code == SQLITE_OK;
    }
    *checked += result.found;
    return code == SQLITE_OK ? QUERN_OK : qn_store_failed(store, code, "verifying");
}

static int note_text(void *context, int count, char **values, char **names)
{
    (void)names;
    char *said = context;
    if (count > 0 && values[0]) {
        snprintf(said, 200, "%s", values[0]);
    }
    return 0;
}

/* The pages and indexes of the file, then the sums. A damaged file is set aside. */
static quern_status verify_structure(qn_store *store)
{
    char said[200] = "";
    QN_TRY(qn_store_need(store));
    qn_str text = qn_sql_text("STRUCTURE");
    char *sql = qn_strndup(text.data, text.length);
    int code = sql ? sqlite3_exec(store->db, sql, note_text, said, NULL) : SQLITE_NOMEM;
    qn_free(sql);
    if (code == SQLITE_OK && strcmp(said, "ok") != 0) {
        code = SQLITE_CORRUPT;
    }
    if (code == SQLITE_OK) {
        code = qn_store_run(qn_store_statement(store, QN_SQL_BEGIN), NULL);
        code = code == SQLITE_OK ? qn_store_script(store, "MEND") : code;
        code = code == SQLITE_OK ? qn_store_script(store, "SUM") : code;
        code =
            code == SQLITE_OK ? qn_store_run(qn_store_statement(store, QN_SQL_COMMIT), NULL) : code;
        qn_store_roll_back(store);
    }
    if ((code & 0xff) == SQLITE_CORRUPT || (code & 0xff) == SQLITE_NOTADB) {
        qn_store_fault(store, code, "verifying", false);
        return qn_store_need(store);
    }
    return code == SQLITE_OK ? QUERN_OK : qn_store_failed(store, code, "verifying");
}

quern_status qn_store_verify(qn_store *store, uint64_t *checked, uint64_t *removed,
                             quern_cache_progress progress, void *context)
{
    const qn_key_range all = {.all = true};
    qn_row_ids ids = {0};
    *checked = *removed = 0;
    pthread_mutex_lock(&store->lock);
    quern_status status = qn_store_need_writable(store);
    status = status == QUERN_OK ? verify_structure(store) : status;
    status = status == QUERN_OK ? qn_store_list(store, &all, &ids) : status;
    pthread_mutex_unlock(&store->lock);
    for (size_t k = 0; k < ids.count && status == QUERN_OK; k++) {
        pthread_mutex_lock(&store->lock);
        status = verify_one(store, ids.items[k], checked, removed);
        pthread_mutex_unlock(&store->lock);
        if (progress && progress(context, k + 1, ids.count) != 0) {
            break;
        }
    }
    qn_free(ids.items);
    return status;
}

/* ---- pruning -------------------------------------------------------------------------------- */

/* Free pages go back to the system, some at a time. Those of a file of Quern 0.1 can only go all at
 * once. */
static quern_status give_back(qn_store *store)
{
    int64_t pages = INT64_MAX, before, left = 0;
    int code;
    do {
        before = pages;
        code = qn_store_run(qn_store_statement(store, QN_SQL_GIVE_BACK), NULL);
        code = code == SQLITE_OK ? qn_store_run(qn_store_statement(store, QN_SQL_PAGES), &pages)
                                 : code;
    } while (code == SQLITE_OK && pages < before);
    code = code == SQLITE_OK ? qn_store_run(qn_store_statement(store, QN_SQL_FREE_PAGES), &left)
                             : code;
    if (code == SQLITE_OK && left > 0) {
        code = qn_store_shrink(store);
    }
    if (code != SQLITE_OK) { /* the space will be used again */
        qn_log(&store->logger, QN_INFO, "%s was not made smaller: %s; new kernels take the space",
               store->path, sqlite3_errmsg(store->db));
    }
    return QUERN_OK;
}

quern_status qn_store_prune(qn_store *store, uint64_t *removed, uint64_t bytes, uint32_t days)
{
    qn_drain d = {.target = (int64_t)QN_MIN(bytes, (uint64_t)INT64_MAX),
                  .before = days > 0 ? qn_now_seconds() - (int64_t)days * DAY : 0};
    quern_status status = QUERN_OK;
    while (status == QUERN_OK && !d.finished) {
        pthread_mutex_lock(&store->lock);
        status = qn_store_need_writable(store);
        if (status == QUERN_OK) {
            d.until = qn_now_ms() + BETWEEN_MS;
            int code = qn_store_remove_until(store, &d);
            status = code == SQLITE_OK ? QUERN_OK
                                       : qn_fail(QUERN_ERROR_CACHE,
                                                 "%s failed while pruning: %s; what was removed so "
                                                 "far is gone, and another try goes on from there",
                                                 store->path, sqlite3_errstr(code));
        }
        pthread_mutex_unlock(&store->lock);
    }
    if (status == QUERN_OK) {
        pthread_mutex_lock(&store->lock);
        status = qn_store_need(store);
        status = status == QUERN_OK ? give_back(store) : status;
        pthread_mutex_unlock(&store->lock);
    }
    *removed = d.removed;
    return status;
}

/* ---- emptying ------------------------------------------------------------------------------- */

/* Without room for a journal nothing can be deleted from the file, but all of it can go. */
static quern_status clear_file(qn_store *store, uint64_t *removed)
{
    int64_t rows = 0;
    qn_store_run(qn_store_statement(store, QN_SQL_ENTRIES), &rows);
    if (!qn_store_remove_file(store)) {
        return qn_fail(QUERN_ERROR_CACHE,
                       "%s cannot be removed: %s; its folder must be one that you may write in",
                       store->path, strerror(errno));
    }
    *removed = (uint64_t)rows;
    return QUERN_OK;
}

static int delete_all(qn_store *store, int64_t *rows)
{
    int code = qn_store_run(qn_store_statement(store, QN_SQL_BEGIN), NULL);
    code = code == SQLITE_OK ? qn_store_run(qn_store_statement(store, QN_SQL_ENTRIES), rows) : code;
    code = code == SQLITE_OK ? qn_store_script(store, "CLEAR") : code;
    code = code == SQLITE_OK ? qn_store_clear_tunings(store) : code;
    code = code == SQLITE_OK ? qn_store_run(qn_store_statement(store, QN_SQL_COMMIT), NULL) : code;
    return code;
}

static quern_status clear(qn_store *store, uint64_t *removed)
{
    QN_TRY(qn_store_need(store));
    if (store->read_only) {
        return clear_file(store, removed);
    }
    int64_t rows = 0;
    int code = delete_all(store, &rows);
    if (code != SQLITE_OK) {
        bool no_room = (code & 0xff) == SQLITE_FULL || (code & 0xff) == SQLITE_IOERR;
        qn_store_roll_back(store);
        return no_room ? clear_file(store, removed) : qn_store_failed(store, code, "clearing");
    }
    *removed = (uint64_t)rows;
    code = qn_store_shrink(store);
    if (code != SQLITE_OK) { /* it is empty all the same: the space will be used again */
        qn_log(&store->logger, QN_INFO, "%s was not made smaller: %s; new kernels take the space",
               store->path, sqlite3_errmsg(store->db));
    }
    return QUERN_OK;
}

quern_status qn_store_clear(qn_store *store, uint64_t *removed)
{
    uint64_t count = 0;
    pthread_mutex_lock(&store->lock);
    quern_status status = clear(store, &count);
    pthread_mutex_unlock(&store->lock);
    if (removed) {
        *removed = count;
    }
    return status;
}
