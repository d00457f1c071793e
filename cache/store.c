/* SPDX-License-Identifier: MIT
 *
 * The store: opening, looking up, keeping. In: keys and images. Out: images, or a miss.
 *
 * Every hit is checked twice: the checksum says that the row is what was written, the key material
 * that it is what was asked for. A row that fails the first is deleted; one that fails the second
 * has the same hash by chance or malice, and is a miss.
 */
#include "cache/store.h"

#include <string.h>

#define DAY         86400
#define PAGE        4096 /* SQLite's */
#define ROW_BYTES   512  /* of a row beside its payload: table image and its indexes */
#define LOW_PERCENT 80   /* of the limit that eviction leaves in use */

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
    return store->problem;
}

/* ---- looking up ----------------------------------------------------------------------------- */

/* The columns of FIND and FIND_ANY. */
enum { ID, COMPILER, KIND, ARCH, CHECKSUM, LAST_USED, MATERIAL, LOWERED, IMAGE };

static bool is_intact(sqlite3_stmt *row, const unsigned char key[16])
{
    unsigned char checksum[16];
    qn_row_checksum(checksum, key, qn_row_bytes(row, COMPILER), sqlite3_column_int64(row, KIND),
                    sqlite3_column_int64(row, ARCH), qn_row_bytes(row, MATERIAL),
                    qn_row_bytes(row, LOWERED), qn_row_bytes(row, IMAGE));
    return qn_str_same(qn_row_bytes(row, CHECKSUM), (qn_str){(const char *)checksum, 16});
}

static bool read_image(qn_image *out, sqlite3_stmt *row)
{
    qn_str image = qn_row_bytes(row, IMAGE);
    out->kind = (qn_image_kind)sqlite3_column_int64(row, KIND);
    out->data = qn_alloc(image.length + 1);
    out->log = qn_strdup("");
    if (!out->data || !out->log || !qn_row_split(out, qn_row_bytes(row, LOWERED))) {
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
    int64_t id = sqlite3_column_int64(row, ID), last_used = sqlite3_column_int64(row, LAST_USED);
    bool intact = is_intact(row, stored_key);
    bool asked_for = intact && qn_str_same(qn_row_bytes(row, MATERIAL),
                                           (qn_str){key->material, key->material_size});
    bool hit = asked_for && read_image(out, row);
    sqlite3_reset(row);
    if (!intact) {
        store->corrupt++;
        qn_log(&store->logger, QN_INFO, "the cached kernel %s was damaged and is removed",
               key->hex);
        remove_row(store, id);
    }
    if (hit) {
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

bool qn_store_get(qn_store *store, const qn_key *key, const char *compiler, qn_image *out)
{
    *out = (qn_image){0};
    pthread_mutex_lock(&store->lock);
    bool hit = look_up(store, key, compiler, out);
    store->hits += hit;
    store->misses += !hit;
    pthread_mutex_unlock(&store->lock);
    return hit;
}

/* ---- keeping -------------------------------------------------------------------------------- */

/* Make room for `bytes`, in the transaction of the put; *evicted says whether rows were removed.
 * Each row has a DELETE of its own, because SQLite holds in memory all that one statement
 * changes. */
static int evict(qn_store *store, int64_t bytes, bool *evicted)
{
    int64_t used = 0;
    int code = qn_store_run(qn_store_statement(store, QN_SQL_BYTES), &used);
    int64_t limit = (int64_t)QN_MIN(store->limit, (uint64_t)INT64_MAX);
    if (code != SQLITE_OK || used <= limit - bytes) {
        return code;
    }
    sqlite3_stmt *oldest = qn_store_statement(store, QN_SQL_OLDEST);
    sqlite3_stmt *removal = qn_store_statement(store, QN_SQL_REMOVE_ID);
    if (!oldest || !removal) {
        return SQLITE_ERROR;
    }
    int64_t low = limit / 100 * LOW_PERCENT;
    sqlite3_bind_int64(oldest, 1, used + bytes - QN_MAX(low, bytes));
    sqlite3_bind_int64(oldest, 2, qn_now_seconds());
    *evicted = true;
    while (code == SQLITE_OK && (code = sqlite3_step(oldest)) == SQLITE_ROW) {
        sqlite3_bind_int64(removal, 1, sqlite3_column_int64(oldest, 0));
        code = qn_store_run(removal, NULL);
    }
    sqlite3_reset(oldest);
    sqlite3_clear_bindings(oldest);
    return code == SQLITE_DONE ? SQLITE_OK : code;
}

/* Eviction leaves free pages, which the next images fill. Only a file that is larger than its
 * limit, because the limit was lowered, gives them back to the system. Failure does no harm: the
 * next eviction tries again. */
static void give_back(qn_store *store)
{
    int64_t pages = 0, mode = 0;
    int code = qn_store_run(qn_store_statement(store, QN_SQL_PAGES), &pages);
    code = code == SQLITE_OK ? qn_store_run(qn_store_statement(store, QN_SQL_VACUUM_MODE), &mode)
                             : code;
    if (code == SQLITE_OK && (uint64_t)pages * PAGE > store->limit) {
        code = qn_store_script(store, mode == 0 ? "REWRITE" : "GIVE_BACK");
        bool done = code == SQLITE_OK;
        qn_log(&store->logger, QN_DEBUG, "%s was %smade smaller%s%s", store->path,
               done ? "" : "not ", done ? "" : ": ", done ? "" : sqlite3_errstr(code));
    }
}

static int remove_key(qn_store *store, const qn_key *key, const char *compiler)
{
    sqlite3_stmt *statement = qn_store_statement(store, QN_SQL_REMOVE);
    if (!statement) {
        return SQLITE_ERROR;
    }
    unsigned char stored_key[16];
    qn_row_key(stored_key, key);
    sqlite3_bind_blob(statement, 1, stored_key, sizeof stored_key, SQLITE_STATIC);
    if (compiler && compiler[0]) {
        sqlite3_bind_text(statement, 2, compiler, -1, SQLITE_STATIC);
    }
    return qn_store_run(statement, NULL);
}

static void bind_bytes(sqlite3_stmt *statement, int parameter, qn_str bytes)
{
    sqlite3_bind_blob64(statement, parameter, bytes.length ? bytes.data : "", bytes.length,
                        SQLITE_STATIC);
}

static int add(qn_store *store, const qn_key *key, const qn_image *image, const qn_store_row *row,
               qn_str lowered, int64_t bytes)
{
    sqlite3_stmt *small = qn_store_statement(store, QN_SQL_ADD_IMAGE);
    sqlite3_stmt *large = qn_store_statement(store, QN_SQL_ADD_PAYLOAD);
    if (!small || !large) {
        return SQLITE_ERROR;
    }
    qn_str material = {key->material, key->material_size}, code = {image->data, image->size};
    unsigned char stored_key[16], checksum[16];
    qn_row_key(stored_key, key);
    qn_row_checksum(checksum, stored_key, qn_str_of(row->compiler), image->kind, row->arch,
                    material, lowered, code);
    sqlite3_bind_blob(small, 1, stored_key, sizeof stored_key, SQLITE_STATIC);
    sqlite3_bind_text(small, 2, row->compiler ? row->compiler : "", -1, SQLITE_STATIC);
    sqlite3_bind_text(small, 3, row->compiler_text ? row->compiler_text : "", -1, SQLITE_STATIC);
    sqlite3_bind_int64(small, 4, image->kind);
    sqlite3_bind_int64(small, 5, row->arch);
    sqlite3_bind_blob(small, 6, checksum, sizeof checksum, SQLITE_STATIC);
    sqlite3_bind_text(small, 7, row->name ? row->name : "", -1, SQLITE_STATIC);
    sqlite3_bind_double(small, 8, image->compile_ms);
    sqlite3_bind_int64(small, 9, bytes);
    sqlite3_bind_int64(small, 10, qn_now_seconds());
    int result = qn_store_run(small, NULL);
    if (result != SQLITE_OK) {
        return result;
    }
    bind_bytes(large, 1, material);
    bind_bytes(large, 2, lowered);
    bind_bytes(large, 3, code);
    return qn_store_run(large, NULL);
}

static void put(qn_store *store, const qn_key *key, const qn_image *image, const qn_store_row *row,
                qn_str lowered)
{
    size_t content = key->material_size + lowered.length + image->size + ROW_BYTES;
    int64_t bytes = (int64_t)((content + PAGE - 1) / PAGE * PAGE);
    if ((uint64_t)bytes > store->limit) {
        qn_log(&store->logger, QN_INFO,
               "kernel %s is not kept: it has %lld bytes, and the limit of the cache is %llu",
               key->hex, (long long)bytes, (unsigned long long)store->limit);
        return;
    }
    bool evicted = false;
    int code = qn_store_run(qn_store_statement(store, QN_SQL_BEGIN), NULL);
    if (code == SQLITE_OK) {
        code = remove_key(store, key, row->compiler ? row->compiler : "");
        code = code == SQLITE_OK ? evict(store, bytes, &evicted) : code;
        code = code == SQLITE_OK ? add(store, key, image, row, lowered, bytes) : code;
        code =
            code == SQLITE_OK ? qn_store_run(qn_store_statement(store, QN_SQL_COMMIT), NULL) : code;
    }
    if (code != SQLITE_OK && store->db) {
        qn_store_fault(store, code, "keeping a kernel", true);
        qn_store_roll_back(store);
    } else if (code == SQLITE_OK && evicted) {
        give_back(store);
    }
}

void qn_store_put(qn_store *store, const qn_key *key, const qn_image *image,
                  const qn_store_row *row)
{
    qn_text lowered = {0};
    pthread_mutex_lock(&store->lock);
    if (qn_row_join(&lowered, image->lowered, image->lowered_count) &&
        qn_row_join_warnings(&lowered, image->log) && qn_store_connect(store) &&
        !store->read_only) {
        put(store, key, image, row, (qn_str){lowered.data, lowered.length});
    }
    pthread_mutex_unlock(&store->lock);
    qn_text_free(&lowered);
}

void qn_store_reject(qn_store *store, const qn_key *key, const char *compiler)
{
    pthread_mutex_lock(&store->lock);
    store->corrupt++;
    if (qn_store_connect(store) && !store->read_only) {
        int code = remove_key(store, key, compiler);
        if (code != SQLITE_OK && store->db) {
            qn_store_fault(store, code, "removing a rejected kernel", true);
        }
    }
    pthread_mutex_unlock(&store->lock);
}
