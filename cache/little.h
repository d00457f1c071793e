/* SPDX-License-Identifier: MIT
 *
 * Inside of cache: numbers as they are written, little end first, in files, keys and values. In: a
 * number and its bytes. Out: the other.
 */
#ifndef QN_CACHE_LITTLE_H
#define QN_CACHE_LITTLE_H

#include "base/base.h"

/** The number in so many bytes, 8 at most. */
static inline uint64_t qn_little_get(const void *from, size_t bytes)
{
    const unsigned char *at = from;
    uint64_t number = 0;
    for (size_t k = 0; k < bytes; k++) {
        number |= (uint64_t)at[k] << (8 * k);
    }
    return number;
}

static inline void qn_little_put(void *to, uint64_t number, size_t bytes)
{
    unsigned char *at = to;
    for (size_t k = 0; k < bytes; k++) {
        at[k] = (unsigned char)(number >> (8 * k));
    }
}

/** Append. */
static inline void qn_little_add(qn_text *out, uint64_t number, size_t bytes)
{
    char little[8];
    qn_little_put(little, number, bytes);
    qn_text_add(out, little, bytes);
}

#endif /* QN_CACHE_LITTLE_H */
