/* SPDX-License-Identifier: MIT
 *
 * The store to a pack, and back. In: a store and a path. Out: a pack of its intact rows, or rows
 * for the entries of a pack. Rows are read one at a time, so that the store is free in between.
 */
#include "cache/pack.h"
#include "cache/store.h"

#include <stdio.h>
#include <string.h>

#define MOST_LEVEL 19 /* of zstd without its "ultra" ones, which need much memory to unpack */

/* The columns of EXPORT. */
enum {
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

/* ---- export --------------------------------------------------------------------------------- */

static bool is_intact(sqlite3_stmt *row, qn_str key)
{
    unsigned char sum[16];
    if (key.length != 16) {
        return false;
    }
    qn_row_checksum(sum, (const unsigned char *)key.data, qn_row_bytes(row, COMPILER),
                    sqlite3_column_int64(row, KIND), sqlite3_column_int64(row, ARCH),
                    qn_row_bytes(row, MATERIAL), qn_row_bytes(row, LOWERED),
                    qn_row_bytes(row, IMAGE));
    return qn_str_same(qn_row_bytes(row, CHECKSUM), (qn_str){(const char *)sum, 16});
}

static bool write_row(qn_text *out, sqlite3_stmt *row, qn_str key, int level, bool has_material)
{
    qn_entry entry = {
        .compiler = qn_row_bytes(row, COMPILER),
        .compiler_text = qn_row_bytes(row, COMPILER_TEXT),
        .name = qn_row_bytes(row, NAME),
        .kind = (qn_image_kind)sqlite3_column_int64(row, KIND),
        .arch = (int)sqlite3_column_int64(row, ARCH),
        .compile_ms = sqlite3_column_double(row, COMPILE_MS),
        .material_bytes = qn_row_bytes(row, MATERIAL).length,
        .has_material = has_material,
    };
    const qn_entry_body body = {.lowered = qn_row_bytes(row, LOWERED),
                                .material = qn_row_bytes(row, MATERIAL),
                                .image = qn_row_bytes(row, IMAGE)};
    memcpy(entry.key, key.data, sizeof entry.key);
    return qn_entry_write_row(out, &entry, &body, level);
}

/* The lock is held. */
static quern_status read_entry(qn_text *out, qn_store *store, int64_t id, int level,
                               bool has_material)
{
    static const char doing[] = "reading an entry";
    QN_TRY(qn_store_need(store));
    sqlite3_stmt *row = qn_store_statement(store, QN_SQL_EXPORT);
    if (!row) {
        return qn_store_failed(store, SQLITE_ERROR, doing);
    }
    sqlite3_bind_int64(row, 1, id);
    const int code = sqlite3_step(row);
    bool room = true;
    if (code == SQLITE_ROW) {
        const qn_str key = qn_row_bytes(row, KEY);
        room = !is_intact(row, key) || write_row(out, row, key, level, has_material);
    }
    sqlite3_reset(row);
    if (code != SQLITE_ROW && code != SQLITE_DONE) {
        return qn_store_failed(store, code, doing);
    }
    return room ? QUERN_OK : qn_fail_memory("reading an entry of the cache");
}

quern_status qn_store_entry(qn_text *out, qn_store *store, int64_t id, int level, bool has_material)
{
    pthread_mutex_lock(&store->lock);
    quern_status status = read_entry(out, store, id, level, has_material);
    pthread_mutex_unlock(&store->lock);
    return status;
}

static quern_status export_rows(qn_pack_writer *writer, qn_store *store, const qn_row_ids *ids,
                                const quern_export_options *options, uint64_t *written)
{
    const int level = options->level == 0 ? MOST_LEVEL : QN_MAX(options->level, 0);
    for (size_t k = 0; k < ids->count; k++) {
        qn_text entry = {0};
        quern_status status =
            qn_store_entry(&entry, store, ids->items[k], level, !options->without_source);
        if (status == QUERN_OK && entry.length > 0) {
            status = qn_pack_writer_add(writer, (qn_str){entry.data, entry.length});
            *written += status == QUERN_OK;
        }
        qn_text_free(&entry);
        QN_TRY(status);
    }
    return QUERN_OK;
}

quern_status qn_store_export(qn_store *store, const char *path, const quern_export_options *options,
                             uint64_t *written)
{
    qn_key_range range;
    qn_row_ids ids = {0};
    *written = 0;
    if (options->level < -1 || options->level > MOST_LEVEL) {
        return qn_fail(QUERN_ERROR_INVALID_ARGUMENT,
                       "quern_export_options.level is %d; write 1 to %d, 0 for %d, or -1 for not "
                       "packed",
                       options->level, MOST_LEVEL, MOST_LEVEL);
    }
    QN_TRY(qn_store_prefix(&range, options->key_prefix));
    qn_pack_writer writer;
    QN_TRY(qn_pack_writer_begin(&writer, path));
    quern_status status = qn_store_ids(store, &range, &ids);
    if (status == QUERN_OK) {
        status = export_rows(&writer, store, &ids, options, written);
    }
    qn_free(ids.items);
    return qn_pack_writer_end(&writer, status);
}

/* ---- import --------------------------------------------------------------------------------- */

/* A key that borrows its material from the entry's body. */
static qn_key key_of(const qn_entry *entry, const qn_entry_body *body)
{
    qn_key key = {.material = (char *)body->material.data, .material_size = body->material.length};
    for (int k = 0; k < 16; k++) {
        key.hash[k / 8] = key.hash[k / 8] << 8 | entry->key[k];
        snprintf(key.hex + 2 * k, 3, "%02x", entry->key[k]);
    }
    return key;
}

static uint64_t count_declined(qn_store *store)
{
    pthread_mutex_lock(&store->lock);
    const uint64_t count = store->tally[QN_TALLY_DECLINED];
    pthread_mutex_unlock(&store->lock);
    return count;
}

/* Something was not kept. */
static quern_status why_not(qn_store *store)
{
    pthread_mutex_lock(&store->lock);
    quern_status status = qn_store_need_writable(store);
    pthread_mutex_unlock(&store->lock);
    return status != QUERN_OK ? status
                              : qn_fail(QUERN_ERROR_CACHE,
                                        "%s has not taken all of the pack; QUERN_LOG=debug shows "
                                        "what failed: try again when others do not lock it",
                                        store->path);
}

static char *copy(qn_arena *arena, qn_str text)
{
    return qn_arena_strndup(arena, text.data, text.length);
}

/* Put it unless it is there. One that is larger than the whole cache may be is left out, which
 * the log has said. */
static quern_status import_image(qn_store *store, const qn_key *key, const qn_image *image,
                                 const qn_store_row *row, uint64_t *added)
{
    qn_image known = {0};
    const uint64_t declined = count_declined(store);
    const bool had = qn_store_again(store, key, row->compiler, &known),
               put = !had && qn_store_put(store, key, image, row);
    qn_image_free(&known);
    *added += put;
    return had || put || count_declined(store) > declined ? QUERN_OK : why_not(store);
}

static quern_status import_body(qn_store *store, const qn_entry *entry, const qn_entry_body *body,
                                uint64_t *added)
{
    qn_arena arena = {0};
    qn_image image = {0};
    const char *why = NULL;
    qn_key key = key_of(entry, body);
    const qn_store_row row = {.name = copy(&arena, entry->name),
                              .compiler = copy(&arena, entry->compiler),
                              .compiler_text = copy(&arena, entry->compiler_text),
                              .arch = entry->arch};
    quern_status status = QUERN_OK;
    if (!row.name || !row.compiler || !row.compiler_text ||
        !qn_entry_image(&image, entry, &key, &why)) {
        status = why ? qn_fail(QUERN_ERROR_IO, "an entry of the pack cannot be used: %s", why)
                     : qn_fail_memory("importing a pack");
    } else {
        status = import_image(store, &key, &image, &row, added);
    }
    qn_image_free(&image);
    qn_arena_free(&arena);
    return status;
}

static quern_status import_entry(qn_store *store, const qn_entry *entry, uint64_t *added)
{
    qn_entry_body body;
    const char *why;
    if (!entry->has_material) {
        return qn_fail(QUERN_ERROR_IO, "its kernels are without their sources, which the cache "
                                       "needs; open the pack as it is (QUERN_PACKS)");
    }
    if (!qn_entry_open(&body, entry, &why)) {
        return qn_fail(QUERN_ERROR_IO, "an entry of the pack cannot be used: %s", why);
    }
    quern_status status = import_body(store, entry, &body, added);
    qn_entry_body_free(&body);
    return status;
}

quern_status qn_store_import(qn_store *store, const char *path, uint64_t *added)
{
    qn_pack_file pack;
    const char *why;
    *added = 0;
    if (!qn_pack_file_open(&pack, path, &why)) {
        return qn_fail(QUERN_ERROR_IO, "the pack %s cannot be used: %s", path, why);
    }
    pthread_mutex_lock(&store->lock);
    quern_status status = qn_store_need_writable(store);
    pthread_mutex_unlock(&store->lock);
    for (size_t k = 0; k < pack.count && status == QUERN_OK; k++) {
        qn_entry entry;
        char *room;
        if (qn_pack_file_entry(&entry, &room, &pack, k, &why)) {
            status = import_entry(store, &entry, added);
            qn_free(room);
            if (status == QUERN_ERROR_IO) {
                qn_error_prefix("%s: ", path);
            }
        } else {
            status = qn_fail(QUERN_ERROR_IO, "entry %zu of the pack %s cannot be used: %s", k, path,
                             why);
        }
    }
    qn_pack_file_close(&pack);
    return status;
}
