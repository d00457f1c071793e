/* SPDX-License-Identifier: MIT
 *
 * The store: opening and looking up. In: keys. Out: images, or a miss.
 *
 * Every hit is checked twice: the checksum says that the row is what was written, the key material
 * that it is what was asked for. A row that fails the first is deleted; one that fails the second
 * has the same hash by chance or malice, and is a miss.
 */
#include "cache/store.h"

#include <string.h>

#define DAY 86400

/* ---- opening -------------------------------------------------------------------------------- */

quern_status qn_store_open(qn_store **out, const char *folder, uint64_t limit,
                           const qn_logger *logger)
{
    *out = NULL;
    qn_store *store = qn_calloc(1, sizeof *store);
    if (!store) {
        return qn_fail_memory("opening the cache");
    }
    store->logger = logger ? *logger : (qn_logger){0};
    store->limit = limit ? limit : qn_store_limit(&store->logger);
    store->wait_ms = QN_WAIT_MS;
    pthread_mutex_init(&store->lock, NULL);
    qn_fork_register(store);
    if (!qn_store_folder(store, folder)) {
        qn_store_close(store);
        return qn_fail_memory("opening the cache");
    }
    *out = store;
    return QUERN_OK;
}

void qn_store_close(qn_store *store)
{
    if (store) {
        qn_fork_forget(store);
        qn_store_drain(store);
        qn_store_add_counts(store);
        qn_store_disconnect(store);
        pthread_mutex_destroy(&store->lock);
        qn_free(store->folder);
        qn_free(store->path);
        qn_free(store);
    }
}

const char *qn_store_path(qn_store *store)
{
    return store->path ? store->path : "";
}

const char *qn_store_problem(qn_store *store)
{
    return atomic_load(&store->is_off) ? store->problem : "";
}

bool qn_store_is_written(qn_store *store)
{
    pthread_mutex_lock(&store->lock);
    bool written = store->folder && !store->problem[0] && !store->read_only;
    pthread_mutex_unlock(&store->lock);
    return written;
}

/* ---- looking up ----------------------------------------------------------------------------- */

/* Remember why a look-up failed, for qn_store_why(). */
static void note_unlucky(qn_store *store, const qn_key *key, qn_tally why)
{
    store->unlucky[store->unlucky_turn++ % QN_UNLUCKY] =
        (qn_unlucky){{key->hash[0], key->hash[1]}, why};
}

bool qn_row_is_intact(sqlite3_stmt *row, const unsigned char key[16])
{
    unsigned char checksum[16];
    qn_row_checksum(checksum, key, qn_row_bytes(row, QN_FIND_COMPILER),
                    sqlite3_column_int64(row, QN_FIND_KIND),
                    sqlite3_column_int64(row, QN_FIND_ARCH), qn_row_bytes(row, QN_FIND_MATERIAL),
                    qn_row_bytes(row, QN_FIND_LOWERED), qn_row_bytes(row, QN_FIND_IMAGE));
    return qn_str_same(qn_row_bytes(row, QN_FIND_CHECKSUM), (qn_str){(const char *)checksum, 16});
}

static bool read_image(qn_image *out, sqlite3_stmt *row)
{
    qn_str image = qn_row_bytes(row, QN_FIND_IMAGE);
    out->kind = (qn_image_kind)sqlite3_column_int64(row, QN_FIND_KIND);
    out->data = qn_alloc(image.length + 1);
    out->log = qn_strdup("");
    if (!out->data || !out->log || !qn_row_split(out, qn_row_bytes(row, QN_FIND_LOWERED))) {
        qn_image_free(out);
        return false;
    }
    memcpy(out->data, image.data, image.length);
    out->data[image.length] = '\0';
    out->size = image.length;
    return true;
}

/* Note that a row was used; once a day is enough to know what is old. A time more than a day in the
 * future, left by a clock that was wrong, is replaced as well. */
static void touch(qn_store *store, int64_t id, int64_t last_used)
{
    int64_t now = qn_now_seconds();
    if (store->read_only || (last_used > now - DAY && last_used < now + DAY)) {
        return;
    }
    sqlite3_stmt *statement = qn_store_statement(store, QN_SQL_TOUCH);
    if (!statement) {
        return;
    }
    sqlite3_bind_int64(statement, 1, id);
    sqlite3_bind_int64(statement, 2, now);
    sqlite3_busy_timeout(store->db, 0); /* nobody waits for this */
    int code = qn_store_run(statement, NULL);
    sqlite3_busy_timeout(store->db, QN_BUSY_MS);
    if (code != SQLITE_OK && (code & 0xff) != SQLITE_BUSY) {
        qn_store_fault(store, code, "noting a use", true);
    }
}

static void remove_row(qn_store *store, int64_t id)
{
    sqlite3_stmt *statement = qn_store_statement(store, QN_SQL_REMOVE_ID);
    if (store->read_only || !statement) {
        return;
    }
    sqlite3_bind_int64(statement, 1, id);
    int code = qn_store_run(statement, NULL);
    if (code != SQLITE_OK) {
        qn_store_fault(store, code, "removing a damaged row", true);
    }
}

/* Judge a row that was found. */
static bool take_row(qn_store *store, sqlite3_stmt *row, const qn_key *key,
                     const unsigned char stored_key[16], qn_image *out)
{
    int64_t id = sqlite3_column_int64(row, QN_FIND_ID),
            last_used = sqlite3_column_int64(row, QN_FIND_LAST_USED);
    bool intact = qn_row_is_intact(row, stored_key);
    bool asked_for = intact && qn_str_same(qn_row_bytes(row, QN_FIND_MATERIAL),
                                           (qn_str){key->material, key->material_size});
    bool hit = asked_for && read_image(out, row);
    double saved_ms = sqlite3_column_double(row, QN_FIND_COMPILE_MS);
    sqlite3_reset(row);
    if (!intact) {
        store->tally[QN_TALLY_ROWS_REMOVED]++;
        note_unlucky(store, key, QN_TALLY_DAMAGED);
        qn_log(&store->logger, QN_INFO, "the cached kernel %s was damaged and is removed",
               key->hex);
        remove_row(store, id);
    }
    if (hit) {
        store->tally[QN_TALLY_SAVED_US] +=
            saved_ms > 0 && saved_ms < 1e9 ? (uint64_t)(saved_ms * 1e3) : 0;
        touch(store, id, last_used);
    }
    return hit;
}

static bool look_up(qn_store *store, const qn_key *key, const char *compiler, qn_image *out)
{
    if (!qn_store_connect(store)) {
        return false;
    }
    bool any = !compiler || !compiler[0];
    sqlite3_stmt *row = qn_store_statement(store, any ? QN_SQL_FIND_ANY : QN_SQL_FIND);
    if (!row) {
        return false;
    }
    unsigned char stored_key[16];
    qn_row_key(stored_key, key);
    sqlite3_bind_blob(row, 1, stored_key, sizeof stored_key, SQLITE_STATIC);
    if (!any) {
        sqlite3_bind_text(row, 2, compiler, -1, SQLITE_STATIC);
    }
    int code = sqlite3_step(row);
    bool hit = code == SQLITE_ROW && take_row(store, row, key, stored_key, out);
    if (store->statements[any ? QN_SQL_FIND_ANY : QN_SQL_FIND] == row) { /* else it is gone */
        sqlite3_reset(row);
        sqlite3_clear_bindings(row);
    }
    if (code != SQLITE_ROW && code != SQLITE_DONE) {
        qn_store_fault(store, code, "looking up a kernel", false);
    }
    return hit;
}

static bool get(qn_store *store, const qn_key *key, const char *compiler, qn_image *out, bool again)
{
    *out = (qn_image){0};
    pthread_mutex_lock(&store->lock);
    uint64_t faults = store->tally[QN_TALLY_FAULTS];
    bool hit = look_up(store, key, compiler, out);
    if (!hit && store->tally[QN_TALLY_FAULTS] != faults) {
        note_unlucky(store, key, QN_TALLY_UNREAD);
    }
    store->tally[QN_TALLY_HITS] += hit;
    store->tally[QN_TALLY_MISSES] += !hit && !again;
    pthread_mutex_unlock(&store->lock);
    return hit;
}

bool qn_store_get(qn_store *store, const qn_key *key, const char *compiler, qn_image *out)
{
    return get(store, key, compiler, out, false);
}

bool qn_store_again(qn_store *store, const qn_key *key, const char *compiler, qn_image *out)
{
    return get(store, key, compiler, out, true);
}

void qn_store_reject(qn_store *store, const qn_key *key, const char *compiler)
{
    pthread_mutex_lock(&store->lock);
    store->tally[QN_TALLY_REJECTED]++;
    note_unlucky(store, key, QN_TALLY_DAMAGED);
    if (qn_store_connect(store) && !store->read_only) {
        int code = qn_store_remove(store, key, compiler);
        if (code != SQLITE_OK && store->db) {
            qn_store_fault(store, code, "removing a rejected kernel", true);
        }
    }
    pthread_mutex_unlock(&store->lock);
}
