/* SPDX-License-Identifier: MIT
 *
 * The rows of a store one after the other, as entries. In: a store and a place in it. Out: the next
 * intact row. Between two rows nothing is held, so that the store is free meanwhile.
 */
#include "cache/entry.h"
#include "cache/fleet.h"
#include "cache/store.h"

/* The columns of NEXT. */
enum {
    ID,
    KEY,
    NAME,
    KIND,
    ARCH,
    COMPILER,
    COMPILER_TEXT,
    COMPILE_MS,
    CHECKSUM,
    MATERIAL,
    LOWERED,
    IMAGE
};

static bool is_intact(sqlite3_stmt *row)
{
    unsigned char sum[16];
    qn_str key = qn_row_bytes(row, KEY);
    if (key.length != sizeof sum) {
        return false;
    }
    qn_row_checksum(sum, (const unsigned char *)key.data, qn_row_bytes(row, COMPILER),
                    sqlite3_column_int64(row, KIND), sqlite3_column_int64(row, ARCH),
                    qn_row_bytes(row, MATERIAL), qn_row_bytes(row, LOWERED),
                    qn_row_bytes(row, IMAGE));
    return qn_str_same(qn_row_bytes(row, CHECKSUM), (qn_str){(const char *)sum, sizeof sum});
}

static bool write_row(qn_text *out, sqlite3_stmt *row)
{
    qn_entry entry = {
        .compiler = qn_row_bytes(row, COMPILER),
        .compiler_text = qn_row_bytes(row, COMPILER_TEXT),
        .name = qn_row_bytes(row, NAME),
        .kind = (qn_image_kind)sqlite3_column_int64(row, KIND),
        .arch = (int)sqlite3_column_int64(row, ARCH),
        .compile_ms = sqlite3_column_double(row, COMPILE_MS),
        .has_material = true,
    };
    const qn_entry_body body = {.lowered = qn_row_bytes(row, LOWERED),
                                .material = qn_row_bytes(row, MATERIAL),
                                .image = qn_row_bytes(row, IMAGE)};
    memcpy(entry.key, qn_row_bytes(row, KEY).data, sizeof entry.key);
    return qn_entry_write_row(out, &entry, &body, 0);
}

/* The lock is held. */
static quern_status step(qn_text *out, qn_store *store, int64_t *id, const char *prefix)
{
    sqlite3_stmt *row = qn_store_connect(store) ? qn_store_statement(store, QN_SQL_NEXT) : NULL;
    if (!row) {
        return qn_fail(QUERN_ERROR_CACHE, "the cache of compiled kernels is not used: %s",
                       store->problem[0] ? store->problem : "it is locked by another process");
    }
    sqlite3_bind_int64(row, 1, *id);
    sqlite3_bind_text(row, 2, prefix ? prefix : "", -1, SQLITE_STATIC);
    bool room = true;
    int code;
    while (room && out->length == 0 && (code = sqlite3_step(row)) == SQLITE_ROW) {
        *id = sqlite3_column_int64(row, ID);
        room = !is_intact(row) || write_row(out, row);
    }
    sqlite3_reset(row);
    sqlite3_clear_bindings(row);
    return room ? QUERN_OK : qn_fail_memory("reading the cache");
}

quern_status qn_store_next(qn_text *out, qn_store *store, int64_t *id, const char *prefix)
{
    pthread_mutex_lock(&store->lock);
    quern_status status = step(out, store, id, prefix);
    pthread_mutex_unlock(&store->lock);
    return status;
}
