/* SPDX-License-Identifier: MIT
 *
 * One pack, written. In: entries, one after the other. Out: a file that appears under its name when
 * it is whole. Until then it has no name, so that whoever ends meanwhile leaves nothing; where the
 * file system knows no such files, it lies beside its place.
 */
#include "cache/little.h"
#include "cache/pack.h"

#define XXH_INLINE_ALL
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

static void make_head(char head[QN_PACK_HEAD])
{
    memset(head, 0, QN_PACK_HEAD);
    memcpy(head, "QNPK", 4);
    head[4] = QN_PACK_FORMAT;
}

/* By key; the same key of several compilers as they came. */
static int compare(const void *a, const void *b)
{
    const qn_pack_row *x = a, *y = b;
    int order = memcmp(x->key, y->key, sizeof x->key);
    return order != 0 ? order : (x->offset > y->offset) - (x->offset < y->offset);
}

/* Length, index and tail of a pack whose entries are known. */
static bool finish(qn_text *out, qn_pack_row *rows, size_t count, uint64_t at)
{
    const size_t begin = out->length;
    if (count > 0) {
        qsort(rows, count, sizeof *rows, compare);
    }
    for (size_t k = 0; k < count; k++) {
        qn_text_add(out, (const char *)rows[k].key, sizeof rows[k].key);
        qn_little_add(out, rows[k].offset, 8);
        qn_little_add(out, rows[k].bytes, 8);
        qn_little_add(out, (uint64_t)rows[k].arch, 4);
        qn_little_add(out, (uint64_t)rows[k].kind, 4);
    }
    qn_little_add(out, count, 8);
    qn_little_add(out, at, 8);
    qn_little_add(out, at + count * QN_PACK_ROW + QN_PACK_TAIL, 8);
    qn_text_puts(out, "QNPKTAIL");
    if (out->failed) {
        return false;
    }
    char head[QN_PACK_HEAD];
    XXH3_state_t state;
    XXH128_canonical_t canonical;
    make_head(head);
    XXH3_128bits_reset(&state);
    XXH3_128bits_update(&state, head, sizeof head);
    XXH3_128bits_update(&state, out->data + begin, out->length - begin);
    XXH128_canonicalFromHash(&canonical, XXH3_128bits_digest(&state));
    qn_text_add(out, (const char *)canonical.digest, sizeof canonical.digest);
    return !out->failed;
}

/* ---- the file ------------------------------------------------------------------------------- */

static quern_status fail_writing(const char *path, int error)
{
    return qn_fail(QUERN_ERROR_IO, "cannot write %s: %s", path, strerror(error));
}

static quern_status add_bytes(qn_pack_writer *w, qn_str bytes)
{
    if (!qn_write_all(w->file, bytes)) {
        return fail_writing(w->path, errno);
    }
    w->at += bytes.length;
    return QUERN_OK;
}

static quern_status forget(qn_pack_writer *w, quern_status status)
{
    qn_free(w->path);
    qn_free(w->partial);
    qn_free(w->rows.items);
    *w = (qn_pack_writer){.file = -1};
    return status;
}

/* A file without a name, in the folder of `path`; -1: there is none to be had, or without /proc it
 * could not be given one. */
static int open_nameless(const char *path)
{
    if (access("/proc/self/fd", X_OK) != 0) {
        return -1;
    }
    const char *slash = strrchr(path, '/');
    char *folder = !slash          ? qn_strdup(".")
                   : slash == path ? qn_strdup("/")
                                   : qn_strndup(path, (size_t)(slash - path));
    int file = folder ? open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666) : -1;
    qn_free(folder);
    return file;
}

/* Under the name beside its place, from which it is moved to its place. */
static bool give_name(const qn_pack_writer *w)
{
    char own[64];
    snprintf(own, sizeof own, "/proc/self/fd/%d", w->file);
    return linkat(AT_FDCWD, own, AT_FDCWD, w->partial, AT_SYMLINK_FOLLOW) == 0;
}

quern_status qn_pack_writer_begin(qn_pack_writer *w, const char *path)
{
    *w = (qn_pack_writer){.file = -1, .path = qn_strdup(path)};
    static atomic_uint turn;
    qn_text partial = {0};
    qn_text_printf(&partial, "%s.partial-%ld-%u", path, (long)getpid(), atomic_fetch_add(&turn, 1));
    w->partial = qn_text_take(&partial);
    if (!w->path || !w->partial) {
        return forget(w, qn_fail_memory("writing a pack"));
    }
    w->file = open_nameless(path);
    w->nameless = w->file >= 0;
    if (!w->nameless) {
        w->file = open(w->partial, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    }
    if (w->file < 0) {
        return forget(w, fail_writing(path, errno));
    }
    char head[QN_PACK_HEAD];
    make_head(head);
    quern_status status = add_bytes(w, (qn_str){head, sizeof head});
    return status == QUERN_OK ? status : qn_pack_writer_end(w, status);
}

quern_status qn_pack_writer_add(qn_pack_writer *w, qn_str bytes)
{
    qn_entry entry;
    const char *why;
    if (!qn_entry_read(&entry, bytes, &why)) {
        return qn_fail(QUERN_ERROR_INTERNAL, "an entry of %s is not right: %s", w->path, why);
    }
    if (!QN_ROOM(w->rows)) {
        return qn_fail_memory("writing a pack");
    }
    qn_pack_row *row = &w->rows.items[w->rows.count++];
    *row = (qn_pack_row){
        .offset = w->at, .bytes = bytes.length, .arch = entry.arch, .kind = entry.kind};
    memcpy(row->key, entry.key, sizeof row->key);
    return add_bytes(w, bytes);
}

static quern_status write_end(qn_pack_writer *w)
{
    qn_text end = {0};
    quern_status status = finish(&end, w->rows.items, w->rows.count, w->at)
                              ? add_bytes(w, (qn_str){end.data, end.length})
                              : qn_fail_memory("writing a pack");
    qn_text_free(&end);
    return status;
}

quern_status qn_pack_writer_end(qn_pack_writer *w, quern_status status)
{
    if (status == QUERN_OK) {
        status = write_end(w);
    }
    if (status == QUERN_OK && w->nameless && !give_name(w)) {
        status = fail_writing(w->path, errno);
    }
    if (close(w->file) != 0 && status == QUERN_OK) {
        status = fail_writing(w->path, errno);
    }
    if (status == QUERN_OK && rename(w->partial, w->path) != 0) {
        status = fail_writing(w->path, errno);
    }
    if (status != QUERN_OK) {
        (void)unlink(w->partial);
    }
    return forget(w, status);
}
