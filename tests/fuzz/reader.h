/* SPDX-License-Identifier: MIT
 *
 * The bytes of an input as arguments, taken one after the other; past the end they are zeros.
 */
#ifndef FUZZ_READER_H
#define FUZZ_READER_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct reader {
    const uint8_t *data;
    size_t size;
} reader;

static inline void take(reader *r, void *to, size_t bytes)
{
    size_t there = bytes < r->size ? bytes : r->size;
    memset(to, 0, bytes);
    memcpy(to, r->data, there);
    r->data += there;
    r->size -= there;
}

static inline uint8_t take_byte(reader *r)
{
    uint8_t byte;
    take(r, &byte, 1);
    return byte;
}

#endif /* FUZZ_READER_H */
