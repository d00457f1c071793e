/* SPDX-License-Identifier: MIT
 *
 * Reductions whose output lies in another order than what they read, and is copied to its place
 * afterwards: one axis of three, the kept ones turned round, with and without keepdims, backwards,
 * with a post that leaves elements as they are, and without memory for the copy.
 */
#include "whole.h"

enum { A = 700, B = 2, C = 750, OUTPUTS = A * C };

static quern_kernel *sum, *some;
static quern_array *x, *whole, *y; /* y: a view of `whole`, which is C x A */
static quern_call_options options;
static int axis = 1;
static int32_t host[A * B * C], sums[OUTPUTS];

static int32_t at(int n)
{
    return (int32_t)((n * 2654435761u + 1) >> 24);
}

/* y[i, j] is whole[j, i], or whole[j, A - 1 - i]. */
static void turn(bool back)
{
    quern_array *turned;
    OK(quern_array_transpose(&turned, whole, NULL));
    const quern_slice ahead = {0, A, 1}, behind = {A - 1, QUERN_SLICE_NONE, -1};
    quern_array_release(y);
    OK(quern_array_slice(&y, turned, 2, (quern_slice[]){back ? behind : ahead, {0, C, 1}}));
    quern_array_release(turned);
}

static void open_carried(void)
{
    whole_open_small();
    OK(quern_reduction(&sum, engine, "T x", "T y", "x", "a + b", "y = a", "0", NULL));
    OK(quern_reduction(&some, engine, "T x", "T y", "x", "a + b", "if (a % 3 != 0) y = a", "0",
                       NULL));
    for (int n = 0; n < A * B * C; n++) {
        host[n] = at(n);
    }
    x = array_of(QUERN_INT32, SHAPE(A, B, C), host);
    OK(quern_array_new(&whole, engine, QUERN_INT32, SHAPE(C, A)));
    turn(false);
    options = (quern_call_options)QUERN_CALL_OPTIONS_INIT;
    options.axis_count = 1;
    options.axes = &axis;
}

static void close_carried(void)
{
    quern_array_release(x);
    quern_array_release(y);
    quern_array_release(whole);
    quern_kernel_release(sum);
    quern_kernel_release(some);
    whole_close();
}

TestSuite(carried_reductions, .init = open_carried, .fini = close_carried);

/* Reduce into `to`, a view of `whole`, and compare all of `whole`; `all`: every output is written;
 * `back`: y runs backwards. */
static void expect_sums(quern_kernel *k, quern_array *to, bool all, bool back)
{
    const quern_value values[] = {QUERN_VALUES(x, to)};
    quern_explanation *e;
    OK(quern_array_fill(whole, &(int32_t){-1}, sizeof(int32_t)));
    OK(quern_explain(&e, k, values, 2, &options));
    cr_assert(!whole_is_soft() || strstr(e->plan, "outputs in another order are copied afterwards"),
              "%s", e->plan);
    quern_explanation_release(e);
    OK(quern_call_n(k, values, 2, &options));
    for (int i = 0; i < A; i++) {
        for (int j = 0; j < C; j++) {
            const int32_t value = host[(i * B) * C + j] + host[(i * B + 1) * C + j];
            sums[j * A + (back ? A - 1 - i : i)] = all || value % 3 != 0 ? value : -1;
        }
    }
    expect_bytes(whole, sums, sizeof sums, "sums");
}

Test(carried_reductions, calls)
{
    expect_sums(sum, y, true, false);
    expect_sums(sum, y, true, false);
}

Test(carried_reductions, elements_that_are_left_as_they_are)
{
    expect_sums(some, y, false, false);
}

Test(carried_reductions, backwards)
{
    turn(true);
    expect_sums(sum, y, true, true);
    expect_sums(some, y, false, true);
}

Test(carried_reductions, kept_dimensions)
{
    quern_array *kept;
    OK(quern_array_reshape(&kept, whole, SHAPE(C, 1, A)));
    quern_array *turned;
    OK(quern_array_transpose(&turned, kept, NULL));
    options.keepdims = true;
    expect_sums(sum, turned, true, false);
    quern_array_release(kept);
    quern_array_release(turned);
}

Test(carried_reductions, without_memory_for_a_copy_there_is_none)
{
    quern_memory_stats stats = QUERN_MEMORY_STATS_INIT;
    OK(quern_memory_get_stats(&stats, engine));
    OK(quern_memory_set_limit(engine, stats.used + OUTPUTS));
    expect_sums(sum, y, true, false);
    OK(quern_memory_set_limit(engine, 0));
}
