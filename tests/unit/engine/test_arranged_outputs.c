/* SPDX-License-Identifier: MIT
 *
 * Scans of all elements whose outputs lie in another order than the scan, and are copied to their
 * places afterwards: by calls, bound calls and graphs, in place, without memory for the copy, and
 * with a post that leaves elements as they are.
 */
#include "whole.h"

enum { A = 96, B = 128, C = 160, COUNT = A * B * C };

static quern_kernel *cumsum, *some;
static quern_stream *stream;
static quern_array *x, *whole, *y; /* y: a view of `whole`, whose axes lie in the reverse order */
static quern_call_options options;
static int32_t sums[COUNT], host[COUNT];

static int32_t at(int seed, int n)
{
    return (int32_t)((n * 2654435761u + (unsigned)seed) >> 24);
}

static quern_array *numbers(int seed)
{
    for (int n = 0; n < COUNT; n++) {
        host[n] = at(seed, n);
    }
    return array_of(QUERN_INT32, SHAPE(A, B, C), host);
}

/* The work of the tests is on a stream of its own, which does not wait for that of the engine. */
static void forget(void)
{
    OK(quern_array_fill(whole, &(int32_t){-1}, sizeof(int32_t)));
    OK(quern_synchronize(engine));
}

static void assign(quern_array *to, quern_array *from)
{
    OK(quern_array_assign(to, from));
    OK(quern_synchronize(engine));
}

static void open_arranged(void)
{
    whole_open();
    OK(quern_stream_new(&stream, engine));
    OK(quern_scan(&cumsum, engine, "T x", "T y", "x", "a + b", " y = a", NULL, NULL));
    OK(quern_scan(&some, engine, "T x", "T y", "x", "a + b", "if (a % 3 != 0) y = a", NULL, NULL));
    x = numbers(1);
    OK(quern_array_new(&whole, engine, QUERN_INT32, SHAPE(C, B, A)));
    OK(quern_array_transpose(&y, whole, NULL));
    options = (quern_call_options)QUERN_CALL_OPTIONS_INIT;
    options.stream = stream;
    forget();
}

static void close_arranged(void)
{
    quern_array *arrays[] = {x, y, whole};
    for (int k = 0; k < 3; k++) {
        quern_array_release(arrays[k]);
    }
    quern_kernel_release(cumsum);
    quern_kernel_release(some);
    quern_stream_release(stream);
    whole_close();
}

TestSuite(arranged_outputs, .init = open_arranged, .fini = close_arranged);

/* Compare `whole` with the sums of numbers(seed), where they are written, and forget them. */
static void expect_sums(int seed, bool all)
{
    int32_t sum = 0;
    for (int n = 0; n < COUNT; n++) {
        const int i = n / C / B, j = n / C % B, k = n % C;
        sum += at(seed, n);
        sums[(k * B + j) * A + i] = all || sum % 3 != 0 ? sum : -1;
    }
    OK(quern_synchronize(engine));
    expect_bytes(whole, sums, sizeof sums, "sums");
    forget();
}

static void expect_copied(quern_kernel *k, quern_array *from)
{
    quern_explanation *e;
    OK(quern_explain(&e, k, (quern_value[]){QUERN_VALUES(from, y)}, 2, &options));
    cr_assert(strstr(e->plan, "outputs in another order are copied afterwards"), "%s", e->plan);
    quern_explanation_release(e);
}

Test(arranged_outputs, calls)
{
    expect_copied(cumsum, x);
    for (int n = 0; n < 2; n++) {
        OK(quern_call_n(cumsum, (quern_value[]){QUERN_VALUES(x, y)}, 2, &options));
        expect_sums(1, true);
    }
}

Test(arranged_outputs, elements_that_are_left_as_they_are)
{
    expect_copied(some, x);
    OK(quern_call_n(some, (quern_value[]){QUERN_VALUES(x, y)}, 2, &options));
    expect_sums(1, false);
}

Test(arranged_outputs, in_place)
{
    assign(y, x);
    expect_copied(cumsum, y);
    OK(quern_call_n(cumsum, (quern_value[]){QUERN_VALUES(y, y)}, 2, &options));
    expect_sums(1, true);
}

/* Of two outputs one lies as the scan does. */
Test(arranged_outputs, one_of_two)
{
    quern_kernel *both;
    quern_array *z = NULL;
    OK(quern_scan(&both, engine, "T x", "T y, T z", "x", "a + b", "y = a; z = x", NULL, NULL));
    OK(quern_call_n(both, (quern_value[]){QUERN_VALUES(x, y, &z)}, 3, &options));
    expect_sums(1, true);
    quern_array *same = numbers(1);
    expect_bytes(z, host, sizeof host, "the other output");
    quern_array_release(same);
    quern_array_release(z);
    quern_kernel_release(both);
}

Test(arranged_outputs, bound_calls_and_graphs)
{
    quern_array *other = numbers(7);
    quern_bound *bound;
    quern_graph *graph;
    OK(quern_bind(&bound, cumsum, (quern_value[]){QUERN_VALUES(x, y)}, 2, &options));
    OK(quern_launch(bound));
    expect_sums(1, true);
    OK(quern_stream_capture(stream));
    OK(quern_launch(bound));
    OK(quern_stream_end_capture(&graph, stream));
    assign(x, other);
    OK(quern_graph_launch(graph, stream));
    expect_sums(7, true);
    OK(quern_launch(bound));
    expect_sums(7, true);
    quern_bound_release(bound);
    quern_graph_release(graph);
    quern_array_release(other);
}

Test(arranged_outputs, without_memory_for_a_copy_there_is_none)
{
    quern_memory_stats stats = QUERN_MEMORY_STATS_INIT;
    OK(quern_memory_get_stats(&stats, engine));
    OK(quern_memory_set_limit(engine, stats.used + COUNT));
    OK(quern_call_n(cumsum, (quern_value[]){QUERN_VALUES(x, y)}, 2, &options));
    OK(quern_memory_set_limit(engine, 0));
    expect_sums(1, true);
}
