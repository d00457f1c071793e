/* SPDX-License-Identifier: MIT
 *
 * The directory of a zip archive, which is what an .npz file is. In: an open file. Out: its
 * members, and where the bytes of one lie; Zip64 included. What the archive says is checked against
 * the size of the file before it is used. Also writes directories, for members that are stored.
 *
 *     archive   := (local name extra data)* entry* (end64 locator)? end
 */
#include "zip.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
    LOCAL = 0x04034b50,
    ENTRY = 0x02014b50,
    END = 0x06054b50,
    END64 = 0x06064b50,
    LOCATOR = 0x07064b50,
    LOCAL_BYTES = 30,
    ENTRY_BYTES = 46,
    END_BYTES = 22,
    END64_BYTES = 56,
    LOCATOR_BYTES = 20,
    MOST_COMMENT = 65535,
    ENCRYPTED = 1, /* a flag */
    VERSION = 20,
    VERSION64 = 45,
    JANUARY_1980 = 0x21, /* the date in files that NumPy writes */
};
#define FULL32 0xffffffffu

/* ---- bytes ---------------------------------------------------------------------------------- */

static uint64_t get(const uint8_t *p, int bytes)
{
    uint64_t value = 0;
    for (int k = bytes; k-- > 0;) {
        value = value << 8 | p[k];
    }
    return value;
}

static uint8_t *put(uint8_t *p, int bytes, uint64_t value)
{
    for (int k = 0; k < bytes; k++) {
        *p++ = (uint8_t)(value >> 8 * k);
    }
    return p;
}

static bool read_at(int file, uint64_t offset, void *to, size_t bytes)
{
    uint8_t *p = to;
    while (bytes > 0) {
        ssize_t got = pread(file, p, bytes, (off_t)offset);
        if (got <= 0) {
            return false;
        }
        p += got;
        offset += (uint64_t)got;
        bytes -= (size_t)got;
    }
    return true;
}

static bool damaged(cli_problem *problem)
{
    return cli_problem_set(problem, 0, 0, "the archive is damaged: its directory makes no sense");
}

/* ---- reading -------------------------------------------------------------------------------- */

typedef struct directory {
    uint64_t entries, bytes, offset;
    uint64_t end; /* where it must have ended */
} directory;

/* The larger fields of Zip64, where the smaller ones are full. */
static bool find_end64(directory *d, int file, uint64_t end, cli_problem *problem)
{
    uint8_t locator[LOCATOR_BYTES], end64[END64_BYTES];
    if (end < LOCATOR_BYTES || !read_at(file, end - LOCATOR_BYTES, locator, sizeof locator) ||
        get(locator, 4) != LOCATOR) {
        return true;
    }
    uint64_t at = get(locator + 8, 8);
    if (at > end - LOCATOR_BYTES || end - LOCATOR_BYTES - at < END64_BYTES ||
        !read_at(file, at, end64, sizeof end64) || get(end64, 4) != END64) {
        return damaged(problem);
    }
    *d = (directory){get(end64 + 32, 8), get(end64 + 40, 8), get(end64 + 48, 8), at};
    return true;
}

static bool find_end(directory *d, int file, uint64_t size, cli_problem *problem)
{
    static uint8_t tail[END_BYTES + MOST_COMMENT];
    size_t length = size < sizeof tail ? (size_t)size : sizeof tail;
    if (length < END_BYTES || !read_at(file, size - length, tail, length)) {
        return cli_problem_set(problem, 0, 0, "the archive is truncated");
    }
    for (size_t at = length - END_BYTES + 1; at-- > 0;) {
        const uint8_t *p = tail + at;
        if (get(p, 4) == END && at + END_BYTES + get(p + 20, 2) <= length) {
            if (get(p + 4, 2) != get(p + 6, 2) || get(p + 8, 2) != get(p + 10, 2)) {
                return cli_problem_set(problem, 0, 0, "the archive is one part of several");
            }
            uint64_t end = size - length + at;
            *d = (directory){get(p + 10, 2), get(p + 12, 4), get(p + 16, 4), end};
            return find_end64(d, file, end, problem);
        }
    }
    return cli_problem_set(problem, 0, 0, "the archive is truncated: its directory is missing");
}

/* Sizes and an offset that are too large for an entry are in its extra field. */
static bool read_extra64(cli_zip_member *m, const uint8_t *extra, size_t length)
{
    uint64_t *const fields[] = {&m->size, &m->stored, &m->offset};
    while (length >= 4) {
        size_t id = get(extra, 2), bytes = get(extra + 2, 2);
        if (bytes > length - 4) {
            return false;
        }
        const uint8_t *p = extra + 4, *end = p + bytes;
        for (size_t k = 0; id == 1 && k < CLI_COUNT(fields); k++) {
            if (*fields[k] == FULL32 && end - p >= 8) {
                *fields[k] = get(p, 8);
                p += 8;
            }
        }
        extra += 4 + bytes;
        length -= 4 + bytes;
    }
    return true;
}

/* One entry at `p`; its length, or 0 when it is damaged. */
static size_t read_entry(cli_zip_member *m, const uint8_t *p, size_t left)
{
    if (left < ENTRY_BYTES || get(p, 4) != ENTRY) {
        return 0;
    }
    size_t name = get(p + 28, 2), extra = get(p + 30, 2);
    size_t length = ENTRY_BYTES + name + extra + get(p + 32, 2);
    if (length > left) {
        return 0;
    }
    *m = (cli_zip_member){
        .name = cli_strndup((const char *)p + ENTRY_BYTES, name),
        .flags = (unsigned)get(p + 8, 2),
        .method = (unsigned)get(p + 10, 2),
        .time = (uint32_t)get(p + 12, 4),
        .crc = (uint32_t)get(p + 16, 4),
        .stored = get(p + 20, 4),
        .size = get(p + 24, 4),
        .attributes = (uint32_t)get(p + 38, 4),
        .offset = get(p + 42, 4),
    };
    return read_extra64(m, p + ENTRY_BYTES + name, extra) ? length : 0;
}

bool cli_zip_open(cli_zip *out, int file, uint64_t size, cli_problem *problem)
{
    directory d = {0};
    *out = (cli_zip){.file = file, .size = size};
    if (!find_end(&d, file, size, problem)) {
        return false;
    }
    if (d.bytes > d.end || d.entries > d.bytes / ENTRY_BYTES) {
        return damaged(problem);
    }
    /* What precedes the archive, such as a program that unpacks it, shifts all of it. */
    uint64_t begin = d.end - d.bytes;
    if (d.offset > begin) {
        return damaged(problem);
    }
    out->base = begin - d.offset;
    uint8_t *entries = cli_alloc(d.bytes + 1);
    out->members = cli_alloc((d.entries + 1) * sizeof *out->members);
    if (!read_at(file, begin, entries, d.bytes)) {
        return damaged(problem);
    }
    for (uint64_t at = 0; out->count < d.entries; out->count++) {
        size_t length = read_entry(&out->members[out->count], entries + at, d.bytes - at);
        if (length == 0) {
            return damaged(problem);
        }
        at += length;
    }
    return true;
}

bool cli_zip_locate(const cli_zip *zip, const cli_zip_member *m, uint64_t *offset,
                    cli_problem *problem)
{
    uint8_t local[LOCAL_BYTES];
    uint64_t at = zip->base + m->offset;
    if (at < m->offset || at > zip->size || zip->size - at < LOCAL_BYTES ||
        !read_at(zip->file, at, local, sizeof local) || get(local, 4) != LOCAL) {
        return damaged(problem);
    }
    at += LOCAL_BYTES + get(local + 26, 2) + get(local + 28, 2);
    if (at > zip->size || m->stored > zip->size - at) {
        return cli_problem_set(problem, 0, 0, "the archive is truncated within \"%s\"", m->name);
    }
    *offset = at;
    return true;
}

/* Whether `name` means the member: with or without .npy. */
bool cli_zip_is(const cli_zip_member *m, const char *name)
{
    size_t length = strlen(name);
    return strncmp(m->name, name, length) == 0 &&
           (m->name[length] == 0 || strcmp(m->name + length, ".npy") == 0);
}

/* "a, b, c": what the archive holds. */
static const char *list(const cli_zip *zip)
{
    const char *text = "";
    for (size_t k = 0; k < zip->count; k++) {
        const char *name = zip->members[k].name;
        size_t length = strlen(name);
        bool npy = length > 4 && strcmp(name + length - 4, ".npy") == 0;
        if (strlen(text) > 300) {
            return cli_sprintf("%s, ...", text);
        }
        text = cli_sprintf("%s%s%.*s", text, k > 0 ? ", " : "", (int)(npy ? length - 4 : length),
                           name);
    }
    return text;
}

const cli_zip_member *cli_zip_find(const cli_zip *zip, const char *name, cli_problem *problem)
{
    const cli_zip_member *found = zip->count == 1 && !name ? &zip->members[0] : NULL;
    for (size_t k = 0; name && k < zip->count && !found; k++) {
        found = cli_zip_is(&zip->members[k], name) ? &zip->members[k] : NULL;
    }
    if (!found && zip->count == 0) {
        cli_problem_set(problem, 0, 0, "the archive is empty");
    } else if (!found && name) {
        cli_problem_set(problem, 0, 0, "the archive holds no \"%s\"; it holds %s", name, list(zip));
    } else if (!found) {
        cli_problem_set(problem, 0, 0,
                        "say which array of the archive is meant, as in x.npz[%s]; "
                        "it holds %s",
                        cli_strndup(list(zip), strcspn(list(zip), ",")), list(zip));
    } else if (found->flags & ENCRYPTED) {
        cli_problem_set(problem, 0, 0, "\"%s\" is encrypted", found->name);
        found = NULL;
    } else if (found->method != CLI_ZIP_STORED && found->method != CLI_ZIP_DEFLATED) {
        cli_problem_set(problem, 0, 0,
                        "\"%s\" is compressed by method %u; what numpy.savez and "
                        "numpy.savez_compressed write can be read",
                        found->name, found->method);
        found = NULL;
    }
    return found;
}

/* ---- writing -------------------------------------------------------------------------------- */

/* Zip64's field of a local header or an entry, for values that do not fit there. */
static uint8_t *put_extra64(uint8_t *p, const cli_zip_member *m, bool entry)
{
    p = put(put(p, 2, 1), 2, entry ? 24 : 16);
    p = put(put(p, 8, m->size), 8, m->stored);
    return entry ? put(p, 8, m->offset) : p;
}

static bool is_large(const cli_zip_member *m)
{
    return m->size >= FULL32 || m->stored >= FULL32 || m->offset >= FULL32;
}

/* What a local header and an entry share: the fields from the needed version to the length of the
 * name. */
static uint8_t *put_common(uint8_t *p, const cli_zip_member *m)
{
    bool large = is_large(m);
    p = put(p, 2, large ? VERSION64 : VERSION);
    p = put(put(p, 2, m->flags), 2, m->method);
    p = put(put(p, 4, m->time), 4, m->crc);
    p = put(put(p, 4, large ? FULL32 : m->stored), 4, large ? FULL32 : m->size);
    return put(p, 2, strlen(m->name));
}

cli_piece cli_zip_local(const cli_zip_member *m)
{
    size_t name = strlen(m->name);
    uint8_t *header = cli_alloc(LOCAL_BYTES + name + 64), *p = header;
    p = put_common(put(p, 4, LOCAL), m);
    p = put(p, 2, is_large(m) ? 20 : 0);
    memcpy(p, m->name, name);
    p += name;
    p = is_large(m) ? put_extra64(p, m, false) : p;
    return (cli_piece){header, (size_t)(p - header)};
}

static uint8_t *put_entry(uint8_t *p, const cli_zip_member *m)
{
    size_t name = strlen(m->name);
    p = put(put(p, 4, ENTRY), 2, VERSION64 | 3 << 8); /* made on Unix */
    p = put_common(p, m);
    p = put(p, 2, is_large(m) ? 28 : 0);
    p = put(put(put(p, 2, 0), 2, 0), 2, 0);
    p = put(put(p, 4, m->attributes), 4, is_large(m) ? FULL32 : m->offset);
    memcpy(p, m->name, name);
    p += name;
    return is_large(m) ? put_extra64(p, m, true) : p;
}

cli_piece cli_zip_end(const cli_zip_member *members, size_t count, uint64_t offset)
{
    size_t room = END_BYTES + END64_BYTES + LOCATOR_BYTES;
    for (size_t k = 0; k < count; k++) {
        room += ENTRY_BYTES + strlen(members[k].name) + 64;
    }
    uint8_t *begin = cli_alloc(room), *p = begin;
    for (size_t k = 0; k < count; k++) {
        p = put_entry(p, &members[k]);
    }
    uint64_t bytes = (uint64_t)(p - begin), end64 = offset + bytes;
    bool large = end64 >= FULL32 || count >= 0xffff;
    if (large) {
        p = put(put(p, 4, END64), 8, END64_BYTES - 12);
        p = put(put(p, 2, VERSION64), 2, VERSION64);
        p = put(put(p, 4, 0), 4, 0);
        p = put(put(put(put(p, 8, count), 8, count), 8, bytes), 8, offset);
        p = put(put(put(put(p, 4, LOCATOR), 4, 0), 8, end64), 4, 1);
    }
    p = put(put(p, 4, END), 4, 0);
    p = put(put(p, 2, large ? 0xffff : count), 2, large ? 0xffff : count);
    p = put(put(p, 4, large ? FULL32 : bytes), 4, large ? FULL32 : offset);
    p = put(p, 2, 0);
    return (cli_piece){begin, (size_t)(p - begin)};
}

cli_zip_member cli_zip_new(const char *name, uint64_t offset, uint64_t bytes, uint32_t crc)
{
    return (cli_zip_member){
        .name = cli_sprintf("%s.npy", name),
        .method = CLI_ZIP_STORED,
        .time = (uint32_t)JANUARY_1980 << 16,
        .crc = crc,
        .stored = bytes,
        .size = bytes,
        .attributes = 0600u << 16,
        .offset = offset,
    };
}
