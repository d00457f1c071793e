/* SPDX-License-Identifier: MIT
 *
 * Keeping. In: a key and its image. Out: a row, written whole or not at all; an image that is
 * larger than the whole cache may be is declined.
 */
#include "cache/store.h"

#define ROW_BYTES 512 /* of a row beside its payload: table image and its indexes */

/* ---- keeping -------------------------------------------------------------------------------- */

int qn_store_remove(qn_store *store, const qn_key *key, const char *compiler)
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

/* An image that can never be kept. Told once as a warning: it is compiled by every process. */
static bool decline(qn_store *store, const qn_key *key, const qn_store_row *row, int64_t bytes)
{
    if ((uint64_t)bytes <= store->limit) {
        return false;
    }
    store->tally[QN_TALLY_DECLINED]++;
    qn_log(&store->logger, store->told_declined ? QN_DEBUG : QN_WARN,
           "kernel %s (%s) is not kept in the cache: it takes %lld bytes, and the limit is %llu; "
           "QUERN_CACHE_LIMIT raises that",
           row->name ? row->name : "", key->hex, (long long)bytes,
           (unsigned long long)store->limit);
    store->told_declined = true;
    return true;
}

static bool put(qn_store *store, const qn_key *key, const qn_image *image, const qn_store_row *row,
                qn_str lowered)
{
    size_t content = key->material_size + lowered.length + image->size + ROW_BYTES;
    int64_t bytes = (int64_t)((content + QN_PAGE - 1) / QN_PAGE * QN_PAGE);
    if (decline(store, key, row, bytes)) {
        return false;
    }
    int code = qn_store_run(qn_store_statement(store, QN_SQL_BEGIN), NULL);
    if (code == SQLITE_OK) {
        code = qn_store_remove(store, key, row->compiler ? row->compiler : "");
        code = code == SQLITE_OK ? add(store, key, image, row, lowered, bytes) : code;
        code =
            code == SQLITE_OK ? qn_store_run(qn_store_statement(store, QN_SQL_COMMIT), NULL) : code;
    }
    if (code != SQLITE_OK && store->db) {
        qn_store_fault(store, code, "keeping a kernel", true);
        qn_store_roll_back(store);
    } else if (code == SQLITE_OK) {
        qn_store_evict(store);
    }
    return code == SQLITE_OK;
}

bool qn_store_put(qn_store *store, const qn_key *key, const qn_image *image,
                  const qn_store_row *row)
{
    qn_text lowered = {0};
    pthread_mutex_lock(&store->lock);
    const bool kept = qn_row_join(&lowered, image->lowered, image->lowered_count) &&
                      qn_row_join_warnings(&lowered, image->log) && qn_store_connect(store) &&
                      !store->read_only &&
                      put(store, key, image, row, (qn_str){lowered.data, lowered.length});
    pthread_mutex_unlock(&store->lock);
    qn_text_free(&lowered);
    return kept;
}
