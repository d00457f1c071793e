/* SPDX-License-Identifier: MIT
 *
 * What the frames of the documents' fragments share. A fragment seldom checks a status, so its
 * frame checks the result: the elements of an array against those that are wanted.
 */
#ifndef DOCUMENT_H
#define DOCUMENT_H

#include <math.h>
#include <quern/quern.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline void must(quern_status status)
{
    if (status != QUERN_OK) {
        fputs(quern_last_error_text(), stderr);
        exit(1);
    }
}

static inline void must_be(bool holds, const char *what)
{
    if (!holds) {
        fprintf(stderr, "error: %s\n%s", what, quern_last_error_text());
        exit(1);
    }
}

static inline quern_engine *new_engine(void)
{
    quern_engine *engine;
    must(quern_open(&engine, NULL));
    return engine;
}

/* `rows` x `columns` float32: 1, 2, 3, ...; one dimension where `rows` is 0. */
static inline quern_array *count_up(quern_engine *engine, int64_t rows, int64_t columns)
{
    float host[256];
    int64_t count = (rows ? rows : 1) * columns;
    quern_array *out;
    must_be(count <= 256, "an array of at most 256 elements");
    for (int64_t k = 0; k < count; k++) {
        host[k] = (float)(k + 1);
    }
    must(rows ? quern_array_from(&out, engine, QUERN_FLOAT32, 2, (int64_t[]){rows, columns}, host)
              : quern_array_from(&out, engine, QUERN_FLOAT32, 1, (int64_t[]){columns}, host));
    return out;
}

/* The array is float32, or what `dtype` says, and its elements are those of `want`. */
static inline void must_hold(quern_array *array, quern_dtype dtype, size_t count, const void *want)
{
    char got[4096];
    size_t bytes = count * quern_dtype_size(dtype);
    must_be(array && quern_array_dtype(array) == dtype, "an array of that dtype");
    must_be((size_t)quern_array_count(array) == count && bytes <= sizeof got,
            "an array of that many elements");
    must(quern_array_read(array, got, bytes));
    must_be(memcmp(got, want, bytes) == 0, "the elements that were wanted");
}
#define MUST_HOLD(array, dtype, type, ...)                                                         \
    must_hold(array, dtype, sizeof((type[]){__VA_ARGS__}) / sizeof(type), (type[]){__VA_ARGS__})

#endif /* DOCUMENT_H */
