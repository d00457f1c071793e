/* SPDX-License-Identifier: MIT
 *
 * The store for people: what is in it. In: a store. Out: numbers and entries, or an error, because
 * here the user asks about the cache itself.
 */
#include "cache/store.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* A connection, or the reason why there is none. */
quern_status qn_store_need(qn_store *store)
{
    if (qn_store_connect(store)) {
        return QUERN_OK;
    }
    return qn_fail(QUERN_ERROR_CACHE, "the cache of compiled kernels is not used: %s",
                   store->problem[0] ? store->problem : "it is locked by another process");
}

quern_status qn_store_need_writable(qn_store *store)
{
    QN_TRY(qn_store_need(store));
    return store->read_only ? qn_fail(QUERN_ERROR_CACHE,
                                      "%s cannot be written: look at its permissions and at the "
                                      "room on its disk, or name another folder in QUERN_CACHE_DIR",
                                      store->path)
                            : QUERN_OK;
}

quern_status qn_store_failed(qn_store *store, int code, const char *doing)
{
    quern_status status = qn_fail(QUERN_ERROR_CACHE, "%s failed while %s: %s", store->path, doing,
                                  sqlite3_errstr(code));
    if (store->db) {
        qn_store_fault(store, code, doing, false);
    }
    return status;
}

/* ---- numbers -------------------------------------------------------------------------------- */

static uint64_t file_bytes(const qn_store *store)
{
    static const char *const suffixes[] = {"", "-wal"};
    uint64_t sum = 0;
    for (size_t k = 0; k < QN_COUNT(suffixes); k++) {
        qn_text name = {0};
        struct stat facts;
        qn_text_printf(&name, "%s%s", store->path, suffixes[k]);
        sum += !name.failed && stat(name.data, &facts) == 0 ? (uint64_t)facts.st_size : 0;
        qn_text_free(&name);
    }
    return sum;
}

static quern_status read_totals(qn_store *store, quern_cache_stats *stats)
{
    QN_TRY(qn_store_need(store));
    int64_t entries = 0, bytes = 0;
    int code = qn_store_run(qn_store_statement(store, QN_SQL_ENTRIES), &entries);
    code = code == SQLITE_OK ? qn_store_run(qn_store_statement(store, QN_SQL_BYTES), &bytes) : code;
    if (code != SQLITE_OK) {
        return qn_store_failed(store, code, "counting");
    }
    stats->enabled = 1;
    stats->entries = (uint64_t)entries;
    stats->bytes = (uint64_t)bytes;
    stats->file_bytes = file_bytes(store);
    return QUERN_OK;
}

quern_status qn_store_stats(qn_store *store, quern_cache_stats *stats)
{
    pthread_mutex_lock(&store->lock);
    stats->enabled = 0;
    stats->entries = stats->bytes = stats->file_bytes = 0;
    stats->limit = store->limit;
    quern_status status = strcmp(store->problem, "off") == 0 ? QUERN_OK : read_totals(store, stats);
    qn_tally_give(stats, store->tally);
    pthread_mutex_unlock(&store->lock);
    return status;
}

quern_status qn_store_totals(qn_store *store, quern_cache_stats *stats)
{
    uint64_t tally[QN_TALLIES];
    QN_TRY(qn_store_stats(store, stats));
    pthread_mutex_lock(&store->lock);
    qn_store_read_counts(store, tally, &stats->since);
    pthread_mutex_unlock(&store->lock);
    qn_tally_give(stats, tally);
    return QUERN_OK;
}

/* ---- entries -------------------------------------------------------------------------------- */

/* The value of a hexadecimal digit; -1: it is none. */
static int digit(char c)
{
    const int lower = tolower((unsigned char)c);
    return !isxdigit((unsigned char)c) ? -1 : lower <= '9' ? lower - '0' : lower - 'a' + 10;
}

quern_status qn_store_prefix(qn_key_range *out, const char *prefix)
{
    *out = (qn_key_range){.all = !prefix || !prefix[0]};
    memset(out->high, 0xff, sizeof out->high);
    for (size_t k = 0; prefix && prefix[k]; k++) {
        const int value = digit(prefix[k]), shift = k % 2 ? 0 : 4;
        if (k == 2 * sizeof out->low || value < 0) {
            return qn_fail(QUERN_ERROR_INVALID_ARGUMENT,
                           "\"%.40s\" is not the beginning of a key, which has 32 hexadecimal "
                           "digits",
                           prefix);
        }
        out->low[k / 2] = (unsigned char)(out->low[k / 2] | value << shift);
        out->high[k / 2] = (unsigned char)(out->high[k / 2] & ~((15 - value) << shift));
    }
    return QUERN_OK;
}

quern_status qn_store_list(qn_store *store, const qn_key_range *range, qn_row_ids *ids)
{
    QN_TRY(qn_store_need(store));
    sqlite3_stmt *row = qn_store_statement(store, range->all ? QN_SQL_LIST : QN_SQL_LIST_RANGE);
    if (!row) {
        return qn_store_failed(store, SQLITE_ERROR, "listing");
    }
    quern_status status = QUERN_OK;
    if (!range->all) {
        sqlite3_bind_blob(row, 1, range->low, sizeof range->low, SQLITE_STATIC);
        sqlite3_bind_blob(row, 2, range->high, sizeof range->high, SQLITE_STATIC);
    }
    int code;
    while ((code = sqlite3_step(row)) == SQLITE_ROW && status == QUERN_OK) {
        if (!QN_ROOM(*ids)) {
            status = qn_fail_memory("listing the cache");
            break;
        }
        ids->items[ids->count++] = sqlite3_column_int64(row, 0);
    }
    sqlite3_reset(row);
    sqlite3_clear_bindings(row);
    return status == QUERN_OK && code != SQLITE_DONE ? qn_store_failed(store, code, "listing")
                                                     : status;
}

static int compare_ids(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

quern_status qn_store_ids(qn_store *store, const qn_key_range *range, qn_row_ids *ids)
{
    pthread_mutex_lock(&store->lock);
    quern_status status = qn_store_list(store, range, ids);
    pthread_mutex_unlock(&store->lock);
    if (ids->count > 0) {
        qsort(ids->items, ids->count, sizeof *ids->items, compare_ids);
    }
    return status;
}

/* The columns of SHOW. */
enum {
    KEY,
    NAME,
    KIND,
    ARCH,
    COMPILER,
    COMPILER_TEXT,
    COMPILE_MS,
    CREATED,
    USED,
    HITS,
    MATERIAL,
    IMAGE
};

static const char *kind_name(int64_t kind)
{
    return kind == QN_IMAGE_CUBIN ? "cubin" : kind == QN_IMAGE_PTX ? "ptx" : "fatbin";
}

static char *copy(qn_arena *arena, qn_str text)
{
    return qn_arena_strndup(arena, text.data, text.length);
}

/* An entry whose texts lie in `arena`. */
static bool fill(quern_cache_entry *out, qn_arena *arena, sqlite3_stmt *row)
{
    qn_str key = qn_row_bytes(row, KEY), compiler = qn_row_bytes(row, COMPILER);
    qn_str image = qn_row_bytes(row, IMAGE);
    int64_t kind = sqlite3_column_int64(row, KIND);
    qn_text hex = {0}, target = {0}, made_by = {0};
    for (size_t k = 0; k < key.length; k++) {
        qn_text_printf(&hex, "%02x", (unsigned char)key.data[k]);
    }
    qn_text_printf(&target, "%s_%lld", kind == QN_IMAGE_PTX ? "compute" : "sm",
                   (long long)sqlite3_column_int64(row, ARCH));
    qn_text_add(&made_by, qn_row_bytes(row, COMPILER_TEXT).data,
                qn_row_bytes(row, COMPILER_TEXT).length);
    qn_text_printf(&made_by, "%s%.*s", made_by.length && compiler.length ? " " : "",
                   (int)compiler.length, compiler.data);
    *out = (quern_cache_entry){
        .size = sizeof *out,
        .hits = (uint32_t)sqlite3_column_int64(row, HITS),
        .key = copy(arena, qn_str_of(hex.data)),
        .name = copy(arena, qn_row_bytes(row, NAME)),
        .kind = kind_name(kind),
        .target = copy(arena, qn_str_of(target.data)),
        .compiler = copy(arena, qn_str_of(made_by.data)),
        .source = copy(arena, qn_key_source(qn_row_bytes(row, MATERIAL))),
        .image = copy(arena, image),
        .image_bytes = image.length,
        .created = sqlite3_column_int64(row, CREATED),
        .last_used = sqlite3_column_int64(row, USED),
        .compile_ms = sqlite3_column_double(row, COMPILE_MS),
    };
    bool complete = !hex.failed && !target.failed && !made_by.failed && out->key && out->name &&
                    out->target && out->compiler && out->source && out->image;
    qn_text_free(&hex);
    qn_text_free(&target);
    qn_text_free(&made_by);
    return complete;
}

/* Read one entry; *found is false when it is gone by now. */
static quern_status show(qn_store *store, int64_t id, quern_cache_entry *out, qn_arena *arena,
                         bool *found)
{
    *found = false;
    QN_TRY(qn_store_need(store));
    sqlite3_stmt *row = qn_store_statement(store, QN_SQL_SHOW);
    if (!row) {
        return qn_store_failed(store, SQLITE_ERROR, "reading an entry");
    }
    sqlite3_bind_int64(row, 1, id);
    int code = sqlite3_step(row);
    *found = code == SQLITE_ROW;
    bool complete = !*found || fill(out, arena, row);
    sqlite3_reset(row);
    if (code != SQLITE_ROW && code != SQLITE_DONE) {
        return qn_store_failed(store, code, "reading an entry");
    }
    return complete ? QUERN_OK : qn_fail_memory("reading an entry of the cache");
}

quern_status qn_store_visit(qn_store *store, const char *key_prefix, quern_cache_visitor visitor,
                            void *context)
{
    qn_key_range range;
    qn_row_ids ids = {0};
    QN_TRY(qn_store_prefix(&range, key_prefix));
    pthread_mutex_lock(&store->lock);
    quern_status status = qn_store_list(store, &range, &ids);
    pthread_mutex_unlock(&store->lock);
    bool stopped = false;
    for (size_t k = 0; k < ids.count && status == QUERN_OK && !stopped; k++) {
        qn_arena arena = {0};
        quern_cache_entry entry;
        bool found;
        pthread_mutex_lock(&store->lock);
        status = show(store, ids.items[k], &entry, &arena, &found);
        pthread_mutex_unlock(&store->lock);
        stopped = status == QUERN_OK && found && visitor(context, &entry) != 0;
        qn_arena_free(&arena);
    }
    qn_free(ids.items);
    return status;
}
