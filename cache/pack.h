/* SPDX-License-Identifier: MIT
 *
 * Inside of cache: packs, files of compiled kernels that are shipped with a program and only read.
 *
 *     "QNPK" format:4 0:8                                              the head
 *     entries, as entry.h has them
 *     for each, sorted by key: key:16 offset:8 bytes:8 arch:4 kind:4   the index
 *     count:8 offset-of-index:8 bytes-of-file:8 "QNPKTAIL"             the tail
 *     XXH3-128 of head, index and tail:16
 *
 * All numbers are little-endian, but for the keys and the hash, whose big end is first.
 */
#ifndef QN_CACHE_PACK_H
#define QN_CACHE_PACK_H

#include "cache/entry.h"

#define QN_PACK_FORMAT 1

enum { QN_PACK_HEAD = 16, QN_PACK_ROW = 40, QN_PACK_TAIL = 48 };

/** A line of the index. */
typedef struct qn_pack_row {
    unsigned char key[16];
    uint64_t offset, bytes;
    int arch;
    qn_image_kind kind;
} qn_pack_row;

/* ---- pack_file.c: one pack, read ------------------------------------------------------------ */

/** An open pack: a file, or memory. */
typedef struct qn_pack_file {
    int file;         /**< -1: in memory */
    const char *data; /**< in memory */
    uint64_t bytes;
    qn_pack_row *rows;
    size_t count;
} qn_pack_file;

/** Open a file, or `bytes` of memory at `data` that stay as long as the pack is open, and check
 * its index. False: *why says what is wrong, and nothing is open. */
bool qn_pack_file_open(qn_pack_file *out, const char *path, const char **why);
bool qn_pack_memory_open(qn_pack_file *out, const void *data, size_t bytes, const char **why);
void qn_pack_file_close(qn_pack_file *pack);
/** The first row of this key; `count` if there is none. Others follow it. */
size_t qn_pack_file_find(const qn_pack_file *pack, const unsigned char key[16]);
/** The entry of a row, checked. *room, to be freed, has its bytes where they are not in memory
 * already. False: *why says what is wrong. */
bool qn_pack_file_entry(qn_entry *out, char **room, const qn_pack_file *pack, size_t row,
                        const char **why);

/* ---- pack_write.c: one pack, written -------------------------------------------------------- */

/** A pack on its way: a file beside the one that it becomes. Zero-initialise. */
typedef struct qn_pack_writer {
    char *path, *partial;
    int file;
    bool nameless; /* until it is whole; else it is `partial` */
    uint64_t at;
    QN_LIST(qn_pack_row) rows;
} qn_pack_writer;

/** Begin; qn_pack_writer_end() must follow if it succeeds. Errors: QUERN_ERROR_IO. */
quern_status qn_pack_writer_begin(qn_pack_writer *writer, const char *path);
/** Add the bytes of an entry. */
quern_status qn_pack_writer_add(qn_pack_writer *writer, qn_str entry);
/** With QUERN_OK: write the index, and give the file its name in one step. With a failure: remove
 * it. Returns `status`, or what failed. */
quern_status qn_pack_writer_end(qn_pack_writer *writer, quern_status status);

#endif /* QN_CACHE_PACK_H */
