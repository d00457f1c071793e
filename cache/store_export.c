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

static quern_status fail_store(const qn_store *store, const char *doing)
{
    return qn_fail(QUERN_ERROR_CACHE, "%s: the cache of compiled kernels is not used: %s", doing,
                   store->problem[0] ? store->problem : "it is locked by another process");
}

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

static bool write_row(qn_text *out, sqlite3_stmt *row, qn_str key,
                      const quern_export_options *options)
{
    qn_entry entry = {
        .compiler = qn_row_bytes(row, COMPILER),
        .compiler_text = qn_row_bytes(row, COMPILER_TEXT),
        .name = qn_row_bytes(row, NAME),
        .kind = (qn_image_kind)sqlite3_column_int64(row, KIND),
        .arch = (int)sqlite3_column_int64(row, ARCH),
        .compile_ms = sqlite3_column_double(row, COMPILE_MS),
        .material_bytes = qn_row_bytes(row, MATERIAL).length,
        .has_material = !options->without_source,
    };
    const qn_entry_body body = {.lowered = qn_row_bytes(row, LOWERED),
                                .material = qn_row_bytes(row, MATERIAL),
                                .image = qn_row_bytes(row, IMAGE)};
    memcpy(entry.key, key.data, sizeof entry.key);
    return qn_entry_write_row(out, &entry, &body, options->level);
}

/* The lock is held. */
static quern_status next_entry(qn_text *out, qn_store *store, int64_t *id,
                               const quern_export_options *options)
{
    static const char doing[] = "reading the cache";
    sqlite3_stmt *row = qn_store_connect(store) ? qn_store_statement(store, QN_SQL_EXPORT) : NULL;
    if (!row) {
        return fail_store(store, doing);
    }
    sqlite3_bind_int64(row, 1, *id);
    sqlite3_bind_text(row, 2, options->key_prefix ? options->key_prefix : "", -1, SQLITE_STATIC);
    int code;
    bool written = false, room = true;
    while (!written && room && (code = sqlite3_step(row)) == SQLITE_ROW) {
        const qn_str key = qn_row_bytes(row, KEY);
        *id = sqlite3_column_int64(row, ID);
        if (is_intact(row, key)) {
            written = room = write_row(out, row, key, options);
        }
    }
    sqlite3_reset(row);
    sqlite3_clear_bindings(row);
    if (!room) {
        return qn_fail_memory(doing);
    }
    if (!written && code != SQLITE_DONE) {
        qn_fail(QUERN_ERROR_CACHE, "%s failed while it was read: %s", store->path,
                sqlite3_errstr(code));
        qn_store_fault(store, code, doing, false);
        return QUERN_ERROR_CACHE;
    }
    return QUERN_OK;
}

quern_status qn_store_next(qn_text *out, qn_store *store, int64_t *id,
                           const quern_export_options *options)
{
    pthread_mutex_lock(&store->lock);
    quern_status status = next_entry(out, store, id, options);
    pthread_mutex_unlock(&store->lock);
    return status;
}

static quern_status export_rows(qn_pack_writer *writer, qn_store *store,
                                const quern_export_options *options, uint64_t *written)
{
    int64_t id = INT64_MIN;
    for (;;) {
        qn_text entry = {0};
        quern_status status = qn_store_next(&entry, store, &id, options);
        const bool done = entry.length == 0;
        if (status == QUERN_OK && !done) {
            status = qn_pack_writer_add(writer, (qn_str){entry.data, entry.length});
        }
        qn_text_free(&entry);
        if (status != QUERN_OK || done) {
            return status;
        }
        ++*written;
    }
}

quern_status qn_store_export(qn_store *store, const char *path, const quern_export_options *options,
                             uint64_t *written)
{
    *written = 0;
    if (options->level < 0 || options->level > MOST_LEVEL) {
        return qn_fail(QUERN_ERROR_INVALID_ARGUMENT,
                       "quern_export_options.level is %d; write 0 for not packed, or 1 to %d",
                       options->level, MOST_LEVEL);
    }
    qn_pack_writer writer;
    QN_TRY(qn_pack_writer_begin(&writer, path));
    return qn_pack_writer_end(&writer, export_rows(&writer, store, options, written));
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

static char *copy(qn_arena *arena, qn_str text)
{
    return qn_arena_strndup(arena, text.data, text.length);
}

/* Put it unless it is there. */
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
        qn_image known = {0};
        if (!qn_store_get(store, &key, row.compiler, &known)) {
            qn_store_put(store, &key, &image, &row);
            ++*added;
        }
        qn_image_free(&known);
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
    quern_status status = qn_store_connect(store) ? QUERN_OK : fail_store(store, "importing");
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
