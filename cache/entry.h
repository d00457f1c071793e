/* SPDX-License-Identifier: MIT
 *
 * Inside of cache: one image as bytes that can leave this machine. Packs are made of such entries,
 * and a cache over the network keeps them. entry.c has the layout.
 */
#ifndef QN_CACHE_ENTRY_H
#define QN_CACHE_ENTRY_H

#include "cache/cache_internal.h"

/** How the body is packed. */
typedef enum qn_packing { QN_PACKED_NOT = 0, QN_PACKED_ZSTD = 1 } qn_packing;

#define QN_ENTRY_HASH_BYTES 32

/** What an entry says of its image, and its body: lowered names, key material, image, in this
 * order. All text is borrowed. */
typedef struct qn_entry {
    unsigned char key[16]; /**< XXH3-128 of the key material, big end first, as in the database */
    /** A hash of the key material that stands against malice; all zero where none was made. What
     * hash it is, is between those who write entries and those who read them. */
    unsigned char material_hash[QN_ENTRY_HASH_BYTES];
    qn_str compiler;      /**< build id */
    qn_str compiler_text; /**< "NVRTC 13.0" */
    qn_str name;          /**< of the kernel */
    qn_image_kind kind;
    int arch;
    double compile_ms;
    uint64_t material_bytes; /**< of the key material, also when the body is without it */
    bool has_material;       /**< the body has it */
    qn_packing packing;
    uint64_t lowered_bytes, image_bytes; /**< in the body, unpacked */
    qn_str body;                         /**< as it is stored */
} qn_entry;

/** The three parts of a body. Borrowed from the entry, or from `room`. */
typedef struct qn_entry_body {
    qn_str lowered;  /**< as store_row.c joins names and warnings */
    qn_str material; /**< empty where the entry is without it */
    qn_str image;
    char *room; /**< what was unpacked; free with qn_entry_body_free() */
} qn_entry_body;

/** What to write. */
typedef struct qn_entry_source {
    const qn_key *key;
    const qn_image *image;
    const qn_store_row *row;
    const unsigned char *material_hash; /**< QN_ENTRY_HASH_BYTES, or NULL for zeros */
    bool without_material; /**< the body shall not have it: smaller, without the source; such an
                              entry cannot be put into a database */
    int level; /**< of zstd, 1 to 19; 0: not packed. Not packed where there is no zstd */
} qn_entry_source;

/** Add an entry to `out`. False: out of memory. */
bool qn_entry_write(qn_text *out, const qn_entry_source *source);
/** The same of a row that the database has, whose parts are in `body`. Of `entry` all counts but
 * packing, lengths and body, which are made. */
bool qn_entry_write_row(qn_text *out, const qn_entry *entry, const qn_entry_body *body, int level);

/** Read an entry that fills `bytes` exactly, checking everything but what is packed. Allocates
 * nothing. False: *why says what is wrong. */
bool qn_entry_read(qn_entry *out, qn_str bytes, const char **why);
/** The length that the head of an entry states, for who reads it from a stream; 0: not an entry.
 * `bytes` needs QN_ENTRY_HEAD_BYTES only. */
uint64_t qn_entry_length(qn_str bytes);
#define QN_ENTRY_HEAD_BYTES 120

/** Unpack the body and check the material in it against the key. False: *why says what is wrong. */
bool qn_entry_open(qn_entry_body *out, const qn_entry *entry, const char **why);
void qn_entry_body_free(qn_entry_body *body);

/** Whether it is the image of `key` by `compiler` (a build id, "" or NULL for any), as far as the
 * head tells: the material is compared by qn_entry_image(). */
bool qn_entry_is(const qn_entry *entry, const qn_key *key, const char *compiler);
/** The image. `key`, unless NULL, must be that of the entry: its material is compared where the
 * entry has it. False: *why says what is wrong. */
bool qn_entry_image(qn_image *out, const qn_entry *entry, const qn_key *key, const char **why);

#endif /* QN_CACHE_ENTRY_H */
