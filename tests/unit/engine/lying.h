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

/* Without gaps, all of the memory between the first and the last element is the operand's. */
static inline layout draw_layout_with(const int64_t *shape, bool repeats, bool gaps)
{
    int order[DIMS] = {0, 1, 2, 3};
    layout l = {.first = rand() % 6};
    int64_t stride = gaps ? 1 + rand() % 4 / 3 : 1;
    shuffle(order);
    for (int at = 0; at < DIMS; at++) {
        const int d = order[at];
        const bool once = repeats && rand() % 4 == 0;
        l.strides[d] = once ? 0 : stride * (rand() % 4 == 0 ? -1 : 1);
        l.first += l.strides[d] < 0 ? -l.strides[d] * (shape[d] - 1) : 0;
        stride *= once ? 1 : shape[d] + (gaps ? rand() % 5 / 3 : 0);
    }
    l.all = l.first + 1;
    for (int d = 0; d < DIMS; d++) {
        l.all += l.strides[d] > 0 ? l.strides[d] * (shape[d] - 1) : 0;
    }
    return l;
}

static inline layout draw_layout(const int64_t *shape, bool repeats)
{
    return draw_layout_with(shape, repeats, true);
}

/* `gap`: elements between rows. */
static inline layout in_c_order(const int64_t *shape, int64_t gap)
{
    layout l = {.first = rand() % 6};
    for (int64_t d = DIMS - 1, stride = 1; d >= 0; d--) {
        l.strides[d] = stride;
        stride = stride * shape[d] + (d == DIMS - 1 ? gap : 0);
    }
    l.all = l.first + shape[0] * l.strides[0];
    return l;
}

/* From then on the same memory from the other end along an axis. */
static inline void turn_around(layout *l, const int64_t *shape, int axis)
{
    l->first += l->strides[axis] * (shape[axis] - 1);
    l->strides[axis] = -l->strides[axis];
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

/* An array of such a layout, in memory whose numbers the host has, too. */
typedef struct lying {
    layout l;
    element type;
    quern_array *memory, *array;
    char *numbers;
} lying;

static inline lying lay(element type, const int64_t *shape, const layout *l)
{
    lying a = {.l = *l, .type = type, .numbers = malloc((size_t)(l->all * type.size))};
    cr_assert(a.numbers);
    fill_numbers(a.numbers, l->all, type.size);
    OK(quern_array_from(&a.memory, engine, type.dtype, SHAPE(l->all), a.numbers));
    a.array = wrap(a.memory, type, shape, l);
    return a;
}

/* The same array once more, with numbers of its own, for an output in its place. */
static inline lying lay_same(const lying *a)
{
    lying same = *a;
    const size_t bytes = (size_t)(a->l.all * a->type.size);
    same.numbers = malloc(bytes);
    cr_assert(same.numbers);
    memcpy(same.numbers, a->numbers, bytes);
    quern_array_retain(same.memory);
    quern_array_retain(same.array);
    return same;
}

/* The place of number `n` of a shape's elements in C order. */
static inline void position_of(int64_t *at, const int64_t *shape, int64_t n)
{
    for (int d = DIMS - 1; d >= 0; d--) {
        at[d] = n % shape[d];
        n /= shape[d];
    }
}

/* What it had in the beginning; and what it should have in the end. */
static inline int64_t lying_at(const lying *a, const int64_t *at)
{
    return number_at(place_of(&a->l, at));
}
static inline void lying_expect(lying *a, const int64_t *at, int64_t value)
{
    memcpy(a->numbers + place_of(&a->l, at) * a->type.size, &value, (size_t)a->type.size);
}

/* Bytes of memory that are other than the host's numbers. */
static inline int64_t lying_differing(const lying *a)
{
    return differing(a->memory, a->numbers, a->l.all * a->type.size);
}

static inline void lying_release(lying *a)
{
    quern_array_release(a->array);
    quern_array_release(a->memory);
    free(a->numbers);
}

#endif /* QUERN_TEST_LYING_H */
