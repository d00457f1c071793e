/* SPDX-License-Identifier: MIT
 *
 * Arrays whose elements tell where they lie: whole numbers that every dtype has, so that an element
 * that is taken twice, or another's, shows in a result. In: a dtype and a count. Out: an array; and
 * what a reduction makes of one.
 */
#ifndef QUERN_TEST_NUMBERED_H
#define QUERN_TEST_NUMBERED_H

#include "whole.h"
#include <stdlib.h>

/** Element `at` of the memory that the arrays look into. */
static inline unsigned numbered(int64_t at)
{
    return (unsigned)(at * 37 % 101);
}

/** Memory of `count` elements of uint8, uint16, int64 or float32; of int8, by 50 less. */
static inline quern_array *numbered_memory(quern_dtype dtype, int64_t count)
{
    void *host = malloc((size_t)count * sizeof(int64_t));
    for (int64_t k = 0; k < count; k++) {
        if (dtype == QUERN_UINT8) {
            ((uint8_t *)host)[k] = (uint8_t)numbered(k);
        } else if (dtype == QUERN_INT8) {
            ((int8_t *)host)[k] = (int8_t)((int)numbered(k) - 50);
        } else if (dtype == QUERN_UINT16) {
            ((uint16_t *)host)[k] = (uint16_t)numbered(k);
        } else if (dtype == QUERN_INT64) {
            ((int64_t *)host)[k] = (int64_t)numbered(k);
        } else {
            ((float *)host)[k] = (float)numbered(k);
        }
    }
    quern_array *a = array_of(dtype, SHAPE(count), host);
    free(host);
    return a;
}

/** The `count` int64 results of a reduction along one axis, which the caller frees, and its plan,
 * which the caller releases. */
static inline int64_t *reduced_along(quern_explanation **plan, quern_kernel *k, quern_array *x,
                                     int axis, int64_t count)
{
    quern_array *y = NULL;
    quern_call_options o = QUERN_CALL_OPTIONS_INIT;
    o.axes = &axis;
    o.axis_count = 1;
    const quern_value values[] = {QUERN_VALUES(x, &y)};
    OK(quern_explain(plan, k, values, 2, &o));
    OK(quern_call_n(k, values, 2, &o));
    int64_t *const got = calloc((size_t)count, sizeof *got);
    cr_assert(got);
    OK(quern_array_read(y, got, (size_t)count * sizeof *got));
    quern_array_release(y);
    return got;
}

#endif /* QUERN_TEST_NUMBERED_H */
