/* SPDX-License-Identifier: MIT
 *
 * Inside of cache: how the material of a key is written and read (key.c).
 *
 * Material = magic format:u32, then fields tag:u32 length:u64 bytes, all numbers little-endian. A
 * list is its fields one after the other, in order. The source is the first field.
 */
#ifndef QN_CACHE_KEY_TAGS_H
#define QN_CACHE_KEY_TAGS_H

#include "base/base.h"

#define QN_KEY_MAGIC  "QUERNKEY"
#define QN_KEY_FORMAT 1 /* raised when the meaning of a field changes */

enum tag {
    SOURCE = 1,
    OPTION,
    HEADER_NAME,
    HEADER_TEXT,
    EXPRESSION,
    ARCH,
    KIND,
    LINE_INFO,
    MINIMAL,
    FILE_NAME, /* from here on, only what is given leaves a field */
    INCLUDE_NAME,
    INCLUDE_HASH,
    CUDA_HEADERS,
    RELOCATABLE,
    PIECE_KIND,
    PIECE_HASH,
    LINKER
};

typedef struct qn_key_field {
    uint64_t tag;
    qn_str value;
} qn_key_field;
/** What follows a material's head; empty for one of another format. */
qn_str qn_key_fields_of(qn_str material);
/** The next field from *rest on; false: there is none, or it ends early. */
bool qn_key_next(qn_key_field *out, qn_str *rest);

#endif /* QN_CACHE_KEY_TAGS_H */
