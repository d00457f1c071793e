/* SPDX-License-Identifier: MIT
 *
 * Scans whose inputs are copied first, since they lie in another order than the output: by calls,
 * bound calls and graphs, and without memory for the copy.
 */
#include "whole.h"

enum { A = 96, B = 128, C = 160, COUNT = A * B * C };

static quern_kernel *cumsum;
static quern_stream *stream;
static quern_array *x, *whole, *y; /* y: a view of `whole`, whose axes lie in the reverse order */
static quern_call_options options;
static const int axis = 1;

/* x itself, by a loop: boxes, which may call map twice, would need no copy. */
static const char *const once = "T v = 0; for (int k = 0; k < 1; k++) v += x; return v;";

static int16_t at(int seed, int n)
{
    return (int16_t)((n * 2654435761u + (unsigned)seed) >> 24);
}

static quern_array *numbers(int seed)
{
    int16_t *host = malloc(COUNT * sizeof *host);
    for (int n = 0; n < COUNT; n++) {
        host[n] = at(seed, n);
    }
    quern_array *made = array_of(QUERN_INT16, SHAPE(A, B, C), host);
    free(host);
    return made;
}

static void open_arranged(void)
{
    whole_open();
    OK(quern_stream_new(&stream, engine));
    OK(quern_scan(&cumsum, engine, "T x", "T y", once, "a + b", "y = a", NULL, NULL));
    x = numbers(1);
    OK(quern_array_new(&whole, engine, QUERN_INT16, SHAPE(C, B, A)));
    OK(quern_array_transpose(&y, whole, NULL));
    options = (quern_call_options)QUERN_CALL_OPTIONS_INIT;
    options.axes = &axis;
    options.axis_count = 1;
    options.stream = stream;
    OK(quern_synchronize(engine));
}

static void close_arranged(void)
{
    quern_array *arrays[] = {x, y, whole};
    for (int k = 0; k < 3; k++) {
        quern_array_release(arrays[k]);
    }
    quern_kernel_release(cumsum);
    quern_stream_release(stream);
    whole_close();
}

TestSuite(arranged_scans, .init = open_arranged, .fini = close_arranged);

/* Compare with the sums along axis 1 of numbers(seed), and forget them. */
static void expect_sums(int seed)
{
    int16_t *sums = malloc(COUNT * sizeof *sums);
    for (int i = 0; i < A; i++) {
        for (int k = 0; k < C; k++) {
            int16_t sum = 0;
            for (int j = 0; j < B; j++) {
                sum += at(seed, (i * B + j) * C + k);
                sums[(k * B + j) * A + i] = sum;
            }
        }
    }
    OK(quern_synchronize(engine));
    expect_bytes(whole, sums, COUNT * sizeof *sums, "sums");
    free(sums);
    OK(quern_array_fill(whole, &(int16_t){-1}, sizeof(int16_t)));
    OK(quern_synchronize(engine)); /* the stream does not wait for the engine's own */
}

static bool is_copied(void)
{
    quern_explanation *e;
    OK(quern_explain(&e, cumsum, (quern_value[]){QUERN_VALUES(x, y)}, 2, &options));
    const bool copied = strstr(e->plan, "copied into it first") != NULL;
    quern_explanation_release(e);
    return copied;
}

Test(arranged_scans, calls)
{
    cr_assert(is_copied());
    for (int n = 0; n < 2; n++) {
        OK(quern_call_n(cumsum, (quern_value[]){QUERN_VALUES(x, y)}, 2, &options));
        expect_sums(1);
    }
}

Test(arranged_scans, bound_calls_copy_at_each_launch)
{
    quern_array *other = numbers(7);
    quern_bound *bound;
    OK(quern_bind(&bound, cumsum, (quern_value[]){QUERN_VALUES(x, y)}, 2, &options));
    OK(quern_launch(bound));
    expect_sums(1);
    OK(quern_array_assign(x, other));
    OK(quern_synchronize(engine));
    OK(quern_launch(bound));
    expect_sums(7);
    quern_array *third = numbers(9);
    OK(quern_synchronize(engine));
    OK(quern_bound_set_array(bound, 0, third));
    OK(quern_launch(bound));
    expect_sums(9);
    quern_array_release(third);
    quern_array_release(other);
    quern_bound_release(bound);
}

/* A graph has copies of its own, of what the input holds at each launch. */
Test(arranged_scans, graphs)
{
    quern_array *other = numbers(7);
    quern_bound *bound;
    quern_graph *graph;
    OK(quern_bind(&bound, cumsum, (quern_value[]){QUERN_VALUES(x, y)}, 2, &options));
    OK(quern_stream_capture(stream));
    OK(quern_launch(bound));
    OK(quern_stream_end_capture(&graph, stream));
    quern_bound_release(bound);
    OK(quern_graph_launch(graph, stream));
    expect_sums(1);
    OK(quern_array_assign(x, other));
    OK(quern_synchronize(engine));
    OK(quern_graph_launch(graph, stream));
    expect_sums(7);
    quern_graph_release(graph);
    quern_array_release(other);
}

Test(arranged_scans, without_memory_for_a_copy_there_is_none)
{
    quern_memory_stats stats = QUERN_MEMORY_STATS_INIT;
    OK(quern_memory_get_stats(&stats, engine));
    OK(quern_memory_set_limit(engine, stats.used + COUNT));
    OK(quern_call_n(cumsum, (quern_value[]){QUERN_VALUES(x, y)}, 2, &options));
    OK(quern_memory_set_limit(engine, 0));
    expect_sums(1);
}
