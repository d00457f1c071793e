/* SPDX-License-Identifier: MIT
 *
 * Running sums over all elements of views of three dimensions, in C order, or along one of them,
 * where the steps along the dimensions differ. In: views of drawn extents, with gaps, steps, and
 * axes that have changed places. Out: each sum, and memory beside the results as it was. The thing
 * to know: sums wrap around in narrow types, so that an element that is taken twice or too late
 * shows in all sums behind it.
 */
#include "base/base.h"
#include "draw.h"
#include "numbered.h"
#include <stdio.h>

static void open_held(void)
{
    whole_open_on("soft:4,shared=227");
}

TestSuite(view_scans, .init = open_held, .fini = whole_close);

enum { DRAWN = 30, NDIM = 3, SPARE = 4 };

/* How a view lies in memory of `whole` elements along each dimension. */
typedef struct lie {
    int64_t whole[NDIM], first[NDIM], step[NDIM];
    int axes[NDIM]; /* the view's axis `k` is the memory's axis axes[k] */
} lie;

static lie draw_lie(const int64_t *shape)
{
    lie l = {.axes = {0, 1, 2}};
    if (draw(0, 3) == 0) {
        const int k = (int)draw(0, 1);
        l.axes[k] = k + 1;
        l.axes[k + 1] = k;
    }
    for (int k = 0; k < NDIM; k++) {
        const int d = l.axes[k];
        l.step[d] = draw(0, 3) == 0 ? draw(2, 3) : 1;
        l.first[d] = draw(0, 2) == 0 ? draw(1, SPARE) : 0;
        const int64_t end = l.first[d] + (shape[k] - 1) * l.step[d] + 1;
        l.whole[d] = end + (draw(0, 1) == 0 ? draw(1, SPARE) : 0);
    }
    return l;
}

static int64_t place_of(const lie *l, const int64_t *at)
{
    int64_t place[NDIM];
    for (int k = 0; k < NDIM; k++) {
        place[l->axes[k]] = l->first[l->axes[k]] + at[k] * l->step[l->axes[k]];
    }
    return (place[0] * l->whole[1] + place[1]) * l->whole[2] + place[2];
}

static quern_array *view_of(quern_array *memory, const lie *l, const int64_t *shape)
{
    quern_slice cut[NDIM];
    quern_array *whole, *part, *view;
    for (int k = 0; k < NDIM; k++) {
        const int d = l->axes[k];
        cut[d] =
            (quern_slice){l->first[d], l->first[d] + (shape[k] - 1) * l->step[d] + 1, l->step[d]};
    }
    OK(quern_array_reshape(&whole, memory, NDIM, l->whole));
    OK(quern_array_slice(&part, whole, NDIM, cut));
    OK(quern_array_transpose(&view, part, l->axes));
    quern_array_release(whole);
    quern_array_release(part);
    return view;
}

static double value_of(quern_dtype dtype, const void *memory, int64_t at)
{
    return dtype == QUERN_UINT8    ? ((const uint8_t *)memory)[at]
           : dtype == QUERN_UINT16 ? ((const uint16_t *)memory)[at]
                                   : ((const float *)memory)[at];
}

static double wrapped(quern_dtype dtype, double sum)
{
    const int64_t whole = (int64_t)sum;
    return dtype == QUERN_UINT8    ? (double)(whole & 0xff)
           : dtype == QUERN_UINT16 ? (double)(whole & 0xffff)
                                   : sum;
}

/* Sums along `axis`, or (-1) over all. Returns the plan. */
static const char *check(quern_kernel *k, quern_dtype dtype, int axis, const int64_t *shape)
{
    static char plan[1000];
    const size_t item = dtype == QUERN_UINT8 ? 1 : dtype == QUERN_UINT16 ? 2 : 4;
    const lie from = draw_lie(shape), to = draw_lie(shape);
    const int64_t in = from.whole[0] * from.whole[1] * from.whole[2];
    const int64_t out = to.whole[0] * to.whole[1] * to.whole[2];
    quern_array *const memory = numbered_memory(dtype, in), *given = numbered_memory(dtype, out);
    quern_array *const x = view_of(memory, &from, shape);
    quern_array *y = view_of(given, &to, shape);
    const quern_value values[] = {QUERN_VALUES(x, &y)};
    quern_call_options options = QUERN_CALL_OPTIONS_INIT;
    options.axes = &axis;
    options.axis_count = 1;
    const quern_call_options *const given_axis = axis < 0 ? NULL : &options;
    quern_explanation *e;
    OK(quern_explain(&e, k, values, 2, given_axis));
    OK(quern_call_n(k, values, 2, given_axis));
    void *const got = malloc((size_t)out * item);
    double *const want = malloc((size_t)out * sizeof *want);
    cr_assert(got && want);
    OK(quern_array_read(given, got, (size_t)out * item));
    for (int64_t n = 0; n < out; n++) {
        want[n] = numbered(n);
    }
    const int last = axis < 0 ? 2 : axis, first = axis == 0, second = first + 1 + (last == 1);
    double sum = 0;
    int64_t at[NDIM];
    for (at[first] = 0; at[first] < shape[first]; at[first]++) {
        for (at[second] = 0; at[second] < shape[second]; at[second]++) {
            sum = axis < 0 ? sum : 0;
            for (at[last] = 0; at[last] < shape[last]; at[last]++) {
                sum += numbered(place_of(&from, at));
                want[place_of(&to, at)] = wrapped(dtype, sum);
            }
        }
    }
    for (int64_t n = 0; n < out; n++) {
        cr_assert(value_of(dtype, got, n) == want[n], "%g for %g: place %ld of %ld, %s",
                  value_of(dtype, got, n), want[n], (long)n, (long)out, e->plan);
    }
    snprintf(plan, sizeof plan, "%s", e->plan);
    free(got);
    free(want);
    quern_explanation_release(e);
    quern_array *const arrays[] = {x, y, memory, given};
    for (size_t n = 0; n < QN_COUNT(arrays); n++) {
        quern_array_release(arrays[n]);
    }
    return plan;
}

static const quern_dtype dtypes[] = {QUERN_UINT8, QUERN_UINT16, QUERN_FLOAT32};

static quern_kernel *running_sum(void)
{
    quern_kernel *k;
    OK(quern_scan(&k, engine, "T x", "T y", "x", "a + b", "y = a", NULL, NULL));
    return k;
}

/* Of some, elements are located one by one, in runs. */
Test(view_scans, of_each_size)
{
    quern_kernel *const k = running_sum();
    for (size_t d = 0; d < QN_COUNT(dtypes); d++) {
        state = d + 1;
        int located = 0;
        for (int n = 0; n < drawn(DRAWN); n++) {
            const int64_t shape[] = {draw(2, 90), draw(1, 20), draw(1, 60)};
            const char *access = strstr(check(k, dtypes[d], -1, shape), "access ");
            located += access && strchr(access + 7, 'l') != NULL;
        }
        cr_assert(6 * located >= drawn(DRAWN) || !whole_is_soft(), "%d of %d", located,
                  drawn(DRAWN));
    }
    quern_kernel_release(k);
}

/* Scans of `least` to `most` elements, many side by side, along drawn axes. Returns of how many the
 * plan has these words. */
static int count(quern_kernel *k, quern_dtype dtype, int64_t least, int64_t most, const char *words)
{
    int found = 0;
    for (int n = 0; n < drawn(DRAWN); n++) {
        const int axis = (int)draw(0, 2);
        int64_t shape[] = {draw(20, 60), draw(8, 30), draw(8, 30)};
        shape[axis] = draw(least, most);
        found += strstr(check(k, dtype, axis, shape), words) != NULL;
    }
    return found;
}

/* Short ones, of each dtype. `plans`: of some, a block lists where the scans of its tile lie; of
 * some it takes whole rows at a time. */
static void check_short(bool plans)
{
    quern_kernel *const k = running_sum();
    for (size_t d = 0; d < QN_COUNT(dtypes); d++) {
        state = d + 11;
        const int listed = count(k, dtypes[d], 2, 40, "from a list");
        const int paced = count(k, dtypes[d], 120, 128, "whole rows at a time");
        cr_assert((6 * listed >= drawn(DRAWN) && 10 * paced >= drawn(DRAWN)) || !plans,
                  "%d and %d of %d", listed, paced, drawn(DRAWN));
    }
    quern_kernel_release(k);
}

Test(view_scans, short_ones_along_each_axis)
{
    check_short(false);
}

/* With more shared memory some go by boxes. */
Test(view_scans, short_ones_with_less_shared_memory)
{
    whole_close();
    whole_open_on("soft:4,shared=90");
    check_short(whole_is_soft());
}
