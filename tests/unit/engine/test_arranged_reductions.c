/* SPDX-License-Identifier: MIT
 *
 * Reductions of two inputs of which one is copied first, since it lies in another order than the
 * wider one: of drawn orders and axes, some backwards; called and measured.
 * Results are compared with a loop on the host.
 */
#include "base/base.h"
#include "numbered.h"
#include "reduced.h"

#include <quern/tune.h>

TestSuite(arranged_reductions, .init = whole_open, .fini = whole_close);

enum { A = 130, B = 140, C = 150, COUNT = A * B * C, DRAWN = 12 };

static const int64_t extent[] = {A, B, C};
static uint64_t state = 11;

static int draw(int least, int most)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return least + (int)((state >> 33) % (uint64_t)(most - least + 1));
}

/* An array of the extents whose axes lie in memory in the order `axes`, some backwards. */
static quern_array *draw_array(quern_dtype dtype, int64_t *strides, int64_t *first)
{
    int axes[] = {0, 1, 2}, back[3], inverse[3];
    int64_t shape[3], stride = 1;
    for (int d = 2; d > 0; d--) {
        const int other = draw(0, d), kept = axes[d];
        axes[d] = axes[other];
        axes[other] = kept;
    }
    *first = 0;
    for (int d = 2; d >= 0; d--) {
        shape[d] = extent[axes[d]];
        inverse[axes[d]] = d;
        back[axes[d]] = draw(0, 3) == 0;
        strides[axes[d]] = back[axes[d]] ? -stride : stride;
        *first += back[axes[d]] ? stride * (shape[d] - 1) : 0;
        stride *= shape[d];
    }
    quern_array *flat = numbered_memory(dtype, COUNT), *whole, *turned, *all;
    OK(quern_array_reshape(&whole, flat, 3, shape));
    OK(quern_array_transpose(&turned, whole, inverse));
    quern_slice slices[3];
    for (int d = 0; d < 3; d++) {
        const quern_slice ahead = {0, extent[d], 1}, behind = {extent[d] - 1, QUERN_SLICE_NONE, -1};
        slices[d] = back[d] ? behind : ahead;
    }
    OK(quern_array_slice(&all, turned, 3, slices));
    quern_array_release(flat);
    quern_array_release(whole);
    quern_array_release(turned);
    return all;
}

static void expect(quern_array *y, uint32_t reduced, const int64_t strides[2][3],
                   const int64_t *first, const char *plan)
{
    int64_t *sum = calloc(2 * COUNT, sizeof *sum), *got = sum + COUNT, outputs = 1;
    int64_t at[3];
    cr_assert_not_null(sum);
    for (at[0] = 0; at[0] < A; at[0]++) {
        for (at[1] = 0; at[1] < B; at[1]++) {
            for (at[2] = 0; at[2] < C; at[2]++) {
                int64_t place[2] = {first[0], first[1]}, to = 0;
                for (int d = 0; d < 3; d++) {
                    place[0] += at[d] * strides[0][d];
                    place[1] += at[d] * strides[1][d];
                    to = reduced >> d & 1 ? to : to * extent[d] + at[d];
                }
                outputs = QN_MAX(outputs, to + 1);
                sum[to] += (int64_t)numbered(place[0]) * numbered(place[1]);
            }
        }
    }
    OK(quern_array_read(y, got, (size_t)outputs * sizeof *got));
    for (int64_t k = 0; k < outputs; k++) {
        cr_assert_eq(got[k], sum[k], "output %ld over %u: %ld for %ld: %s", (long)k, reduced,
                     (long)got[k], (long)sum[k], plan);
    }
    free(sum);
}

/* Returns whether an input is copied first. */
static bool check(quern_kernel *k)
{
    int64_t strides[2][3], first[2];
    quern_array *x = draw_array(QUERN_FLOAT32, strides[0], &first[0]);
    quern_array *w = draw_array(QUERN_UINT16, strides[1], &first[1]), *y = NULL;
    const uint32_t reduced = (uint32_t)draw(1, 7);
    int axes[3];
    const quern_call_options o = over_axes(axes, 3, reduced);
    const quern_value values[] = {QUERN_VALUES(x, w, &y)};
    quern_explanation *e;
    OK(quern_explain(&e, k, values, 3, &o));
    OK(quern_call_n(k, values, 3, &o));
    expect(y, reduced, (const int64_t(*)[3])strides, first, e->plan);
    quern_tuning *tuning;
    quern_call_options measured = o;
    measured.tune_ms = 20;
    OK(quern_tune(&tuning, k, values, 3, &measured));
    quern_tuning_release(tuning);
    expect(y, reduced, (const int64_t(*)[3])strides, first, e->plan);
    const bool copied = strstr(e->plan, "copied into it first") != NULL;
    quern_explanation_release(e);
    quern_array_release(x);
    quern_array_release(w);
    quern_array_release(y);
    return copied;
}

Test(arranged_reductions, of_drawn_orders)
{
    quern_kernel *k;
    OK(quern_reduction(&k, engine, "T x, S w", "int64 y", "(long long)x * w", "a + b", "y = a", "0",
                       NULL));
    int copied = 0;
    for (int n = 0; n < DRAWN; n++) {
        copied += check(k);
    }
    cr_assert(copied > 0 && copied < DRAWN, "%d of %d", copied, DRAWN);
    quern_kernel_release(k);
}

/* How many threads an output has follows from how many processors there are. */
static void open_two(void)
{
    whole_open_small();
}

TestSuite(reductions_on_two, .init = open_two, .fini = whole_close);

/* Sums along axes 1, 2 and 3 of products. Along the last axis, along which neighbouring threads
 * lie, the second input's elements are far apart; along axis 2 they lie side by side, so each is in
 * the cache when its turn comes, but in a line of its own, which takes long. */
Test(reductions_on_two, of_a_line_for_each_element)
{
    enum { P = 24, Q = 4, R = 23, S = 11, T = 15, ALL = P * Q * R * S * T };
    static int64_t got[P * T], sum[P * T];
    quern_kernel *k;
    OK(quern_reduction(&k, engine, "T x, S w", "int64 y", "(long long)x * w", "a + b", "y = a", "0",
                       NULL));
    quern_array *flat[2] = {numbered_memory(QUERN_UINT16, ALL), numbered_memory(QUERN_UINT16, ALL)};
    quern_array *x, *whole, *w, *y = NULL;
    OK(quern_array_reshape(&x, flat[0], SHAPE(P, Q, R, S, T)));
    OK(quern_array_reshape(&whole, flat[1], SHAPE(T, P, Q, S, R)));
    OK(quern_array_transpose(&w, whole, (int[]){1, 2, 4, 3, 0}));
    int axes[] = {1, 2, 3};
    quern_call_options o = QUERN_CALL_OPTIONS_INIT;
    o.axes = axes;
    o.axis_count = 3;
    const quern_value values[] = {QUERN_VALUES(x, w, &y)};
    quern_explanation *e;
    OK(quern_explain(&e, k, values, 3, &o));
    cr_expect(!whole_is_soft() || strstr(e->plan, "copied into it first"), "%s", e->plan);
    quern_explanation_release(e);
    OK(quern_call_n(k, values, 3, &o));
    OK(quern_array_read(y, got, sizeof got));
    for (int n = 0; n < ALL; n++) {
        const int t = n % T, s = n / T % S, r = n / (T * S) % R, q = n / (T * S * R) % Q,
                  p = n / (T * S * R * Q);
        sum[p * T + t] += (int64_t)numbered(n) * numbered((((t * P + p) * Q + q) * S + s) * R + r);
    }
    cr_expect_arr_eq(got, sum, sizeof got);
    quern_array *all[] = {flat[0], flat[1], x, whole, w, y};
    for (size_t a = 0; a < QN_COUNT(all); a++) {
        quern_array_release(all[a]);
    }
    quern_kernel_release(k);
}
