/* SPDX-License-Identifier: MIT
 *
 * For tests of operands that lie in memory in different orders: drawn layouts of four axes. In:
 * shapes, and rand(). Out: strides and places in elements, arrays with those strides.
 */
#ifndef QUERN_TEST_LYING_H
#define QUERN_TEST_LYING_H

#include "held.h"

enum { DIMS = 4 };

/* How an operand lies: elements from one position along an axis to the next, and to the first. */
typedef struct layout {
    int64_t strides[DIMS], first, all;
} layout;

static inline void shuffle(int *order)
{
    for (int d = DIMS - 1; d > 0; d--) {
        const int other = rand() % (d + 1), kept = order[d];
        order[d] = order[other];
        order[other] = kept;
    }
}

static inline layout draw_layout(const int64_t *shape, bool repeats)
{
    int order[DIMS] = {0, 1, 2, 3};
    layout l = {.first = rand() % 6};
    int64_t stride = 1 + rand() % 4 / 3;
    shuffle(order);
    for (int at = 0; at < DIMS; at++) {
        const int d = order[at];
        const bool once = repeats && rand() % 4 == 0;
        l.strides[d] = once ? 0 : stride * (rand() % 4 == 0 ? -1 : 1);
        l.first += l.strides[d] < 0 ? -l.strides[d] * (shape[d] - 1) : 0;
        stride *= once ? 1 : shape[d] + rand() % 5 / 3;
    }
    l.all = l.first + 1;
    for (int d = 0; d < DIMS; d++) {
        l.all += l.strides[d] > 0 ? l.strides[d] * (shape[d] - 1) : 0;
    }
    return l;
}

static inline int64_t place_of(const layout *l, const int64_t *at)
{
    int64_t place = l->first;
    for (int d = 0; d < DIMS; d++) {
        place += l->strides[d] * at[d];
    }
    return place;
}

static inline quern_array *wrap(quern_array *memory, element t, const int64_t *shape,
                                const layout *l)
{
    quern_array *a;
    int64_t strides[DIMS];
    for (int d = 0; d < DIMS; d++) {
        strides[d] = l->strides[d] * t.size;
    }
    OK(quern_array_wrap(&a, engine, t.dtype, DIMS, shape, strides,
                        (char *)quern_array_pointer(memory) + l->first * t.size, NULL, NULL));
    return a;
}

#endif /* QUERN_TEST_LYING_H */
