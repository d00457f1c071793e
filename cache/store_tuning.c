/* SPDX-License-Identifier: MIT
 *
 * The store's table of tunings. In: the key of a class of calls. Out: the setting that was measured
 * to be the fastest for it. As with images, every fault is a miss that is counted and logged.
 */
#include "cache/store.h"

#define XXH_INLINE_ALL
#include <stdio.h>
#include <string.h>
#include <xxhash.h>

#define MOST_ROWS 20000 /* some megabytes */

void qn_tuning_key_of(qn_tuning_key *out, const void *material, size_t size)
{
    XXH128_canonical_t canonical;
    XXH128_canonicalFromHash(&canonical, XXH3_128bits(material, size));
    memcpy(out->bytes, canonical.digest, sizeof out->bytes);
}

static bool has_table(qn_store *store)
{
    int64_t tables = 0;
    return qn_store_run(qn_store_statement(store, QN_SQL_TUNING_IS_THERE), &tables) == SQLITE_OK &&
           tables > 0;
}

/* ---- looking up ----------------------------------------------------------------------------- */

static bool look_up(qn_store *store, const qn_tuning_key *key, char *setting, size_t room)
{
    if (!qn_store_connect(store) || !has_table(store)) {
        return false;
    }
    sqlite3_stmt *row = qn_store_statement(store, QN_SQL_FIND_TUNING);
    if (!row) {
        return false;
    }
    sqlite3_bind_blob(row, 1, key->bytes, sizeof key->bytes, SQLITE_STATIC);
    const int code = sqlite3_step(row);
    bool hit = false;
    if (code == SQLITE_ROW) {
        const bool is_text = sqlite3_column_type(row, 0) == SQLITE_TEXT;
        const char *text = is_text ? (const char *)sqlite3_column_text(row, 0) : NULL;
        hit = text && strlen(text) < room && (size_t)sqlite3_column_bytes(row, 0) == strlen(text);
        snprintf(setting, room, "%s", hit ? text : "");
    }
    sqlite3_reset(row);
    sqlite3_clear_bindings(row);
    if (code != SQLITE_ROW && code != SQLITE_DONE) {
        qn_store_fault(store, code, "looking up a tuning", false);
    }
    return hit;
}

bool qn_store_get_tuning(qn_store *store, const qn_tuning_key *key, char *setting, size_t room)
{
    pthread_mutex_lock(&store->lock);
    const bool hit = look_up(store, key, setting, room);
    pthread_mutex_unlock(&store->lock);
    return hit;
}

/* ---- keeping -------------------------------------------------------------------------------- */

static int add(qn_store *store, const qn_tuning_key *key, const qn_tuning_row *row)
{
    sqlite3_stmt *addition = qn_store_statement(store, QN_SQL_ADD_TUNING);
    sqlite3_stmt *trim = qn_store_statement(store, QN_SQL_TRIM_TUNING);
    if (!addition || !trim) {
        return SQLITE_ERROR;
    }
    sqlite3_bind_blob(addition, 1, key->bytes, sizeof key->bytes, SQLITE_STATIC);
    sqlite3_bind_text(addition, 2, row->setting, -1, SQLITE_STATIC);
    sqlite3_bind_text(addition, 3, row->about, -1, SQLITE_STATIC);
    sqlite3_bind_double(addition, 4, row->us);
    sqlite3_bind_double(addition, 5, row->rule_us);
    sqlite3_bind_int64(addition, 6, qn_now_seconds());
    const int code = qn_store_run(addition, NULL);
    sqlite3_bind_int64(trim, 1, MOST_ROWS);
    return code == SQLITE_OK ? qn_store_run(trim, NULL) : code;
}

void qn_store_put_tuning(qn_store *store, const qn_tuning_key *key, const qn_tuning_row *row)
{
    pthread_mutex_lock(&store->lock);
    if (qn_store_connect(store) && !store->read_only) {
        int code = qn_store_script(store, "TUNING");
        code = code == SQLITE_OK ? add(store, key, row) : code;
        if (code != SQLITE_OK && store->db) {
            qn_store_fault(store, code, "keeping a tuning", true);
        }
    }
    pthread_mutex_unlock(&store->lock);
}

int qn_store_clear_tunings(qn_store *store)
{
    return has_table(store) ? qn_store_script(store, "CLEAR_TUNING") : SQLITE_OK;
}
