/* SPDX-License-Identifier: MIT
 *
 * One pack, read. In: a file or memory. Out: its index, and the entries in it, each checked as it
 * is read. The thing to know: a file is read, never mapped, because a process dies when a file that
 * it has mapped is cut short; and any bytes may come in.
 */
#include "cache/little.h"
#include "cache/pack.h"

#define XXH_INLINE_ALL
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

static bool no(const char **why, const char *reason)
{
    *why = reason;
    return false;
}

/* Read exactly `bytes`; false: there are fewer, or they cannot be read. */
static bool read_at(const qn_pack_file *pack, void *to, uint64_t offset, size_t bytes)
{
    if (offset > pack->bytes || bytes > pack->bytes - offset) {
        return false;
    }
    if (pack->file < 0) {
        memcpy(to, pack->data + offset, bytes);
        return true;
    }
    for (size_t done = 0; done < bytes;) {
        ssize_t got = pread(pack->file, (char *)to + done, bytes - done, (off_t)(offset + done));
        if (got == 0 || (got < 0 && errno != EINTR)) {
            return false;
        }
        done += got > 0 ? (size_t)got : 0;
    }
    return true;
}

/* ---- opening -------------------------------------------------------------------------------- */

static bool sum_fits(const char *head, const char *index, size_t index_bytes, const char *tail)
{
    XXH3_state_t state;
    XXH128_canonical_t canonical;
    XXH3_128bits_reset(&state);
    XXH3_128bits_update(&state, head, QN_PACK_HEAD);
    XXH3_128bits_update(&state, index, index_bytes);
    XXH3_128bits_update(&state, tail, QN_PACK_TAIL - sizeof canonical);
    XXH128_canonicalFromHash(&canonical, XXH3_128bits_digest(&state));
    return memcmp(canonical.digest, tail + QN_PACK_TAIL - sizeof canonical, sizeof canonical) == 0;
}

/* The rows lie inside of what the entries take, in the order of their keys. */
static bool take_rows(qn_pack_file *pack, const char *index, uint64_t end)
{
    for (size_t k = 0; k < pack->count; k++) {
        const char *at = index + k * QN_PACK_ROW;
        qn_pack_row *row = &pack->rows[k];
        memcpy(row->key, at, sizeof row->key);
        row->offset = qn_little_get(at + 16, 8);
        row->bytes = qn_little_get(at + 24, 8);
        row->arch = (int)(qn_little_get(at + 32, 4) & INT32_MAX);
        row->kind = (qn_image_kind)(qn_little_get(at + 36, 4) & INT32_MAX);
        if (row->offset < QN_PACK_HEAD || row->offset > end || row->bytes > end - row->offset ||
            (k > 0 && memcmp(row[-1].key, row->key, sizeof row->key) > 0)) {
            return false;
        }
    }
    return true;
}

static bool read_index(qn_pack_file *pack, char *index, const char *tail, const char **why)
{
    char head[QN_PACK_HEAD];
    const uint64_t offset = qn_little_get(tail + 8, 8);
    const size_t bytes = pack->count * QN_PACK_ROW;
    if (!read_at(pack, head, 0, sizeof head) || !read_at(pack, index, offset, bytes)) {
        return no(why, "it cannot be read");
    }
    if (memcmp(head, "QNPK", 4) != 0 || !sum_fits(head, index, bytes, tail)) {
        return no(why, "its index is damaged");
    }
    if (qn_little_get(head + 4, 4) != QN_PACK_FORMAT) {
        return no(why, "it has a format that this Quern does not know");
    }
    return take_rows(pack, index, offset) ? true : no(why, "its index does not fit its entries");
}

static bool read_tail(qn_pack_file *pack, char tail[QN_PACK_TAIL], const char **why)
{
    if (pack->bytes < QN_PACK_HEAD + QN_PACK_TAIL) {
        return no(why, "it is too short to be a pack");
    }
    if (!read_at(pack, tail, pack->bytes - QN_PACK_TAIL, QN_PACK_TAIL)) {
        return no(why, "it cannot be read");
    }
    const uint64_t count = qn_little_get(tail, 8), offset = qn_little_get(tail + 8, 8),
                   most = (pack->bytes - QN_PACK_HEAD - QN_PACK_TAIL) / QN_PACK_ROW;
    if (memcmp(tail + 24, "QNPKTAIL", 8) != 0 || qn_little_get(tail + 16, 8) != pack->bytes ||
        count > most || offset != pack->bytes - QN_PACK_TAIL - count * QN_PACK_ROW) {
        return no(why, "it is not a pack, or was cut short");
    }
    pack->count = (size_t)count;
    return true;
}

/* The pack has its bytes; it is closed when this fails. */
static bool open_rest(qn_pack_file *pack, const char **why)
{
    char tail[QN_PACK_TAIL];
    bool good = read_tail(pack, tail, why);
    if (good) {
        pack->rows = qn_calloc(pack->count + 1, sizeof *pack->rows);
        char *index = qn_alloc(pack->count * QN_PACK_ROW + 1);
        good = pack->rows && index ? read_index(pack, index, tail, why)
                                   : no(why, "there is not enough memory for its index");
        qn_free(index);
    }
    if (!good) {
        qn_pack_file_close(pack);
    }
    return good;
}

bool qn_pack_memory_open(qn_pack_file *out, const void *data, size_t bytes, const char **why)
{
    *out = (qn_pack_file){.file = -1, .data = data, .bytes = bytes};
    return open_rest(out, why);
}

bool qn_pack_file_open(qn_pack_file *out, const char *path, const char **why)
{
    struct stat facts;
    *out = (qn_pack_file){.file = open(path, O_RDONLY | O_CLOEXEC)};
    if (out->file < 0) {
        return no(why, strerror(errno));
    }
    if (fstat(out->file, &facts) != 0 || !S_ISREG(facts.st_mode)) {
        qn_pack_file_close(out);
        return no(why, "it is not a file");
    }
    out->bytes = (uint64_t)facts.st_size;
    return open_rest(out, why);
}

void qn_pack_file_close(qn_pack_file *pack)
{
    if (pack->file >= 0) {
        close(pack->file);
    }
    qn_free(pack->rows);
    *pack = (qn_pack_file){.file = -1};
}

/* ---- looking up ----------------------------------------------------------------------------- */

size_t qn_pack_file_find(const qn_pack_file *pack, const unsigned char key[16])
{
    size_t begin = 0, end = pack->count;
    while (begin < end) {
        size_t middle = begin + (end - begin) / 2;
        if (memcmp(pack->rows[middle].key, key, 16) < 0) {
            begin = middle + 1;
        } else {
            end = middle;
        }
    }
    bool found = begin < pack->count && memcmp(pack->rows[begin].key, key, 16) == 0;
    return found ? begin : pack->count;
}

bool qn_pack_file_entry(qn_entry *out, char **room, const qn_pack_file *pack, size_t row,
                        const char **why)
{
    const qn_pack_row *r = &pack->rows[row];
    qn_str bytes = {NULL, (size_t)r->bytes};
    *room = NULL;
    if (pack->file < 0) {
        bytes.data = pack->data + r->offset;
    } else {
        *room = qn_alloc((size_t)r->bytes);
        if (!*room) {
            return no(why, "there is not enough memory to read it");
        }
        if (!read_at(pack, *room, r->offset, (size_t)r->bytes)) {
            qn_free(*room);
            *room = NULL;
            return no(why, "it cannot be read");
        }
        bytes.data = *room;
    }
    if (qn_entry_read(out, bytes, why) &&
        (memcmp(out->key, r->key, sizeof r->key) == 0 || no(why, "it is in another's place"))) {
        return true;
    }
    qn_free(*room);
    *room = NULL;
    return false;
}
