/* SPDX-License-Identifier: MIT
 *
 * Reductions that use positions, of arrays whose axes lie in memory in any order, run backwards or
 * skip elements: the walk follows memory, and positions still count in C order. Each element counts
 * by its position, so that a wrong one shows. What is expected comes from a loop on the host over
 * where elements lie. Extents are drawn so that each kind of plan has some.
 */
#include "base/base.h"
#include "draw.h"
#include "numbered.h"
#include <stdio.h>

TestSuite(reordered_reductions, .init = whole_open, .fini = whole_close);

enum { DRAWN = 60, AXES = 4 };

/* A view, and where element (i, j, k, l) of it lies: at `first`, and so many elements further along
 * each axis. */
typedef struct view {
    quern_array *array;
    int64_t extent[AXES], step[AXES], first;
} view;

static void replace(quern_array **array, quern_array *by)
{
    quern_array_release(*array);
    *array = by;
}

/* Axis order[k] of the view is axis k of the memory. */
static view draw_view(quern_dtype dtype, int64_t elements)
{
    const int64_t begin = draw(0, 9);
    view v = {.first = begin};
    int order[AXES] = {0, 1, 2, 3}, place[AXES];
    int64_t memory[AXES], count = 1, others = 1;
    quern_slice slices[AXES];
    quern_array *next;
    for (int k = AXES - 1; k > 0; k--) {
        const int other = (int)draw(0, k), own = order[k];
        order[k] = order[other];
        order[other] = own;
    }
    const int longest = (int)draw(0, AXES - 1);
    for (int d = 0; d < AXES; d++) {
        v.extent[d] = draw(0, 3) == 0 ? draw(1, 40) : draw(1, 9);
        others *= d == longest ? 1 : v.extent[d];
    }
    v.extent[longest] = QN_MAX(1, elements / others);
    for (int k = AXES - 1; k >= 0; k--) {
        const int d = order[k];
        const int64_t step = draw(0, 5) == 0 ? 2 : 1, gap = draw(0, 3) == 0 ? draw(1, 5) : 0;
        const bool back = draw(0, 2) == 0;
        memory[k] = v.extent[d] * step + gap;
        const int64_t last = (v.extent[d] - 1) * step;
        slices[k] =
            back ? (quern_slice){last, QUERN_SLICE_NONE, -step} : (quern_slice){0, last + 1, step};
        v.step[d] = back ? -step * count : step * count;
        v.first += back ? last * count : 0;
        count *= memory[k];
        place[d] = k;
    }
    const quern_slice run = {begin, begin + count, 1};
    v.array = numbered_memory(dtype, begin + count);
    OK(quern_array_slice(&next, v.array, 1, &run));
    replace(&v.array, next);
    OK(quern_array_reshape(&next, v.array, AXES, memory));
    replace(&v.array, next);
    OK(quern_array_slice(&next, v.array, AXES, slices));
    replace(&v.array, next);
    OK(quern_array_transpose(&next, v.array, place));
    replace(&v.array, next);
    return v;
}

/* The sum of each output, of each element by its position. */
static void compute(int64_t *sum, const view *v, uint32_t axes)
{
    int64_t at[AXES];
    for (at[0] = 0; at[0] < v->extent[0]; at[0]++) {
        for (at[1] = 0; at[1] < v->extent[1]; at[1]++) {
            for (at[2] = 0; at[2] < v->extent[2]; at[2]++) {
                for (at[3] = 0; at[3] < v->extent[3]; at[3]++) {
                    int64_t y = 0, position = 0, place = v->first;
                    for (int d = 0; d < AXES; d++) {
                        int64_t *const number = axes >> d & 1 ? &position : &y;
                        *number = *number * v->extent[d] + at[d];
                        place += at[d] * v->step[d];
                    }
                    sum[y] += numbered(place) * (position * 3 + 4);
                }
            }
        }
    }
}

/* Returns whether the walk goes by memory. */
static bool check(quern_kernel *k, quern_dtype dtype, int64_t elements)
{
    view v = draw_view(dtype, elements);
    const uint32_t axes = (uint32_t)(draw(0, 3) == 0 ? 15 : draw(1, 15));
    quern_call_options o = QUERN_CALL_OPTIONS_INIT;
    int reduced[AXES];
    int64_t outputs = 1;
    for (int d = 0; d < AXES; d++) {
        if (axes >> d & 1) {
            reduced[o.axis_count++] = d;
        } else {
            outputs *= v.extent[d];
        }
    }
    o.axes = reduced;
    quern_array *y = NULL;
    const quern_value values[] = {QUERN_VALUES(v.array, &y)};
    quern_explanation *e;
    OK(quern_explain(&e, k, values, 2, &o));
    OK(quern_call_n(k, values, 2, &o));
    int64_t *const got = calloc((size_t)(2 * outputs), sizeof *got), *const want = got + outputs;
    cr_assert(got);
    OK(quern_array_read(y, got, (size_t)outputs * sizeof *got));
    compute(want, &v, axes);
    for (int64_t n = 0; n < outputs; n++) {
        cr_assert_eq(
            got[n], want[n], "%ld of (%ld, %ld, %ld, %ld) over %u, steps %ld %ld %ld %ld: %s",
            (long)n, (long)v.extent[0], (long)v.extent[1], (long)v.extent[2], (long)v.extent[3],
            axes, (long)v.step[0], (long)v.step[1], (long)v.step[2], (long)v.step[3], e->plan);
    }
    free(got);
    const bool found = strstr(e->plan, "in the order of memory") != NULL;
    quern_explanation_release(e);
    quern_array_release(v.array);
    quern_array_release(y);
    return found;
}

static void check_drawn(quern_dtype dtype, int64_t elements)
{
    quern_kernel *k;
    const quern_reduction_options o = {.size = sizeof o, .reduce_type = "long long"};
    OK(quern_reduction(&k, engine, "T x", "int64 y", "return (long long)x * (_J * 3 + 4);", "a + b",
                       "y = a", NULL, &o));
    const int count = drawn(DRAWN);
    int found = 0;
    for (int n = 0; n < count; n++) {
        found += check(k, dtype, elements);
    }
    cr_assert(found >= count / 4 && found < count, "%d of %d", found, count);
    quern_kernel_release(k);
}

Test(reordered_reductions, of_bytes)
{
    state = 1;
    check_drawn(QUERN_UINT8, 20000);
}

Test(reordered_reductions, of_two_bytes)
{
    state = 2;
    check_drawn(QUERN_UINT16, 60000);
}

Test(reordered_reductions, of_four_bytes)
{
    state = 3;
    check_drawn(QUERN_FLOAT32, 3000);
}

Test(reordered_reductions, of_eight_bytes)
{
    state = 4;
    check_drawn(QUERN_INT64, 20000);
}

/* In order they stay as they are: what is combined with what must not change. */
Test(reordered_reductions, not_in_order)
{
    quern_kernel *k;
    const quern_reduction_options o = {.size = sizeof o, .ordered = 1};
    OK(quern_reduction(&k, engine, "T x", "int64 y", "x + _J * 0", "b", "y = a", NULL, &o));
    state = 5;
    for (int n = 0; n < 10; n++) {
        view v = draw_view(QUERN_INT64, 5000);
        quern_array *y = NULL;
        int64_t got, place = v.first;
        OK(quern_call(k, v.array, &y));
        OK(quern_array_read(y, &got, sizeof got));
        for (int d = 0; d < AXES; d++) {
            place += (v.extent[d] - 1) * v.step[d];
        }
        cr_assert_eq(got, numbered(place));
        quern_array_release(v.array);
        quern_array_release(y);
    }
    quern_kernel_release(k);
}
