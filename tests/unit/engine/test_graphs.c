/* SPDX-License-Identifier: MIT
 *
 * Captures and graphs: what is recorded and what a launch does, what a graph holds, and what is
 * refused by name while a stream is being captured.
 */
#include "whole.h"

static quern_stream *stream;

static void open_graphs(void)
{
    whole_open();
    OK(quern_stream_new(&stream, engine));
}

static void close_graphs(void)
{
    quern_stream_release(stream);
    whole_close();
}

TestSuite(graphs, .init = open_graphs, .fini = close_graphs);

static quern_call_options on(quern_stream *s)
{
    quern_call_options options = QUERN_CALL_OPTIONS_INIT;
    options.stream = s;
    return options;
}

static quern_array *numbers(int32_t a, int32_t b, int32_t c)
{
    return array_of(QUERN_INT32, SHAPE(3), (int32_t[]){a, b, c});
}

static quern_graph *end(void)
{
    quern_graph *graph;
    OK(quern_stream_end_capture(&graph, stream));
    return graph;
}

static void launch(quern_graph *graph, quern_stream *s)
{
    OK(quern_graph_launch(graph, s));
    OK(quern_synchronize(engine));
}

Test(graphs, calls_are_recorded_and_done_at_each_launch)
{
    quern_array *x = numbers(1, 2, 3), *y = numbers(0, 0, 0);
    quern_kernel *k = kernel_of("T x, T a", "T y", "y = a * x + 1");
    quern_call_options options = on(stream);
    OK(quern_stream_capture(stream));
    OK(quern_call_with(k, &options, x, 10, y));
    EXPECT(y, int32_t, 0, 0, 0);
    quern_graph *graph = end();
    EXPECT(y, int32_t, 0, 0, 0);
    launch(graph, stream);
    EXPECT(y, int32_t, 11, 21, 31);
    OK(quern_array_write(x, (int32_t[]){4, 5, 6}, 12));
    launch(graph, NULL);
    EXPECT(y, int32_t, 41, 51, 61);
    quern_graph_release(graph);
    quern_array_release(x);
    quern_array_release(y);
    quern_kernel_release(k);
}

Test(graphs, hold_what_they_use)
{
    quern_array *x = numbers(1, 2, 3), *y = NULL, *out = numbers(0, 0, 0);
    quern_kernel *twice = kernel_of("T x", "T y", "y = 2 * x");
    quern_call_options options = on(stream);
    OK(quern_stream_capture(stream));
    OK(quern_call_with(twice, &options, x, &y)); /* y is allocated now, and used later */
    OK(quern_call_with(twice, &options, y, out));
    quern_graph *graph = end();
    quern_array_release(x);
    quern_array_release(y);
    quern_kernel_release(twice);
    launch(graph, NULL);
    EXPECT(out, int32_t, 4, 8, 12);
    quern_graph *same = quern_graph_retain(graph);
    quern_graph_release(graph);
    launch(same, NULL);
    quern_graph_release(same);
    quern_array_release(out);
}

static void count(void *context)
{
    ++*(int *)context;
}

Test(graphs, transfers_and_functions_of_the_host_are_recorded)
{
    int32_t from[3] = {7, 8, 9}, to[3] = {0};
    int called = 0;
    quern_array *x = numbers(0, 0, 0), *gaps,
                *wide = array_of(QUERN_INT32, SHAPE(6), (int32_t[6]){0});
    OK(quern_array_slice(&gaps, wide, 1, &(quern_slice){0, 6, 2}));
    OK(quern_stream_capture(stream));
    OK(quern_array_write_on(x, from, sizeof from, stream));
    OK(quern_array_write_on(gaps, from, sizeof from, stream));
    OK(quern_array_read_on(gaps, to, sizeof to, stream));
    OK(quern_stream_call(stream, count, &called));
    OK(quern_array_fill_on(gaps, &(int32_t){5}, 4, stream));
    quern_graph *graph = end();
    quern_array_release(gaps);
    cr_expect_eq(called, 0);
    from[0] = 6;
    launch(graph, NULL);
    launch(graph, NULL);
    cr_expect_eq(called, 2);
    cr_expect_eq(to[0], 6);
    cr_expect_eq(to[2], 9);
    EXPECT(x, int32_t, 6, 8, 9);
    EXPECT(wide, int32_t, 5, 0, 5, 0, 5, 0);
    quern_graph_release(graph);
    quern_array_release(x);
    quern_array_release(wide);
}

/* A branch that is waited for through another, and by a mark that is not its last. */
Test(graphs, branches_may_be_joined_by_others)
{
    quern_array *x = array_of(QUERN_INT32, SHAPE(3), (int32_t[]){1, 2, 3});
    quern_stream *b, *c;
    quern_event *fork, *of_b, *of_c, *later;
    OK(quern_stream_new(&b, engine));
    OK(quern_stream_new(&c, engine));
    quern_event **events[] = {&fork, &of_b, &of_c, &later};
    for (size_t k = 0; k < 4; k++) {
        OK(quern_event_new(events[k], engine));
    }
    OK(quern_synchronize(engine));
    OK(quern_stream_capture(stream));
    OK(quern_event_record(fork, stream));
    OK(quern_stream_wait_event(b, fork));
    OK(quern_array_fill_on(x, &(int32_t){5}, 4, b));
    OK(quern_event_record(of_b, b));
    OK(quern_event_record(later, b));
    OK(quern_stream_wait_event(c, of_b));
    OK(quern_event_record(of_c, c));
    OK(quern_stream_wait_event(stream, of_c));
    quern_graph *graph = end();
    launch(graph, NULL);
    EXPECT(x, int32_t, 5, 5, 5);
    quern_graph_release(graph);
    for (size_t k = 0; k < 4; k++) {
        quern_event_release(*events[k]);
    }
    quern_stream_release(b);
    quern_stream_release(c);
    quern_array_release(x);
}

/* A value that devices do not fill with is there once, and not read again from where it was. */
Test(graphs, fills_keep_values_of_any_size)
{
    quern_record rgb = QUERN_RECORD_INIT;
    quern_dtype dtype;
    quern_array *x;
    int32_t value[3] = {1, 2, 3}, to[6] = {0};
    rgb.name = "rgb";
    rgb.bytes = sizeof value;
    rgb.alignment = 4;
    rgb.definition = "struct rgb { int r, g, b; };";
    OK(quern_record_new(&dtype, &rgb));
    OK(quern_array_new(&x, engine, dtype, SHAPE(2)));
    OK(quern_array_fill(x, value, sizeof value));
    value[0] = 7;
    OK(quern_stream_capture(stream));
    OK(quern_array_fill_on(x, value, sizeof value, stream));
    quern_graph *graph = end();
    value[0] = 8;
    launch(graph, NULL);
    launch(graph, NULL);
    OK(quern_array_read(x, to, sizeof to));
    for (int k = 0; k < 2; k++) {
        cr_expect_eq(to[3 * k], 7, "%d", to[3 * k]);
        cr_expect_eq(to[3 * k + 2], 3);
    }
    quern_graph_release(graph);
    quern_array_release(x);
}

#define LONG_COUNT 200000 /* so many that several blocks reduce them, in a workspace */

Test(graphs, reductions_and_bound_calls_have_workspaces_of_their_own)
{
    quern_array *x, *y = NULL, *z = NULL;
    quern_kernel *sum, *running;
    quern_bound *bound;
    quern_call_options options = on(stream);
    OK(quern_array_new(&x, engine, QUERN_INT64, SHAPE(LONG_COUNT)));
    OK(quern_array_fill(x, &(int64_t){1}, 8));
    OK(quern_synchronize(engine));
    OK(quern_reduction(&sum, engine, "T x", "T y", "x", "a + b", "y = a", "0", NULL));
    OK(quern_scan(&running, engine, "T x", "T y", "x", "a + b", "y = a", "0", NULL));
    OK(quern_bind(&bound, sum, (quern_value[]){QUERN_VALUES(x, &y)}, 2, &options));
    OK(quern_synchronize(engine)); /* y was allocated in the order of the stream */
    OK(quern_stream_capture(stream));
    OK(quern_launch(bound));
    OK(quern_call_with(running, &options, x, &z));
    OK(quern_call_with(sum, &options, z, y));
    quern_graph *graph = end();
    for (int n = 0; n < 3; n++) {
        OK(quern_array_fill(y, &(int64_t){-1}, 8));
        launch(graph, NULL);
        EXPECT(y, int64_t, (int64_t)LONG_COUNT * (LONG_COUNT + 1) / 2);
        OK(quern_launch(bound));
        OK(quern_stream_wait(stream));
        EXPECT(y, int64_t, LONG_COUNT);
    }
    quern_bound_release(bound);
    launch(graph, stream);
    EXPECT(y, int64_t, (int64_t)LONG_COUNT * (LONG_COUNT + 1) / 2);
    quern_graph_release(graph);
    quern_array_release(x);
    quern_array_release(y);
    quern_array_release(z);
    quern_kernel_release(sum);
    quern_kernel_release(running);
}

Test(graphs, other_streams_take_part_by_events)
{
    quern_array *x = numbers(1, 2, 3), *y = numbers(0, 0, 0), *z = numbers(0, 0, 0);
    quern_kernel *k = kernel_of("T x", "T y", "y = x + 1");
    quern_stream *other;
    quern_event *forked, *joined;
    OK(quern_stream_new(&other, engine));
    OK(quern_event_new(&forked, engine));
    OK(quern_event_new(&joined, engine));
    quern_call_options first = on(stream), second = on(other);
    for (int joins = 1; joins >= 0; joins--) {
        quern_graph *graph = NULL;
        OK(quern_stream_capture(stream));
        OK(quern_call_with(k, &first, x, y));
        OK(quern_event_record(forked, stream));
        OK(quern_stream_wait_event(other, forked));
        OK(quern_call_with(k, &second, y, z));
        OK(quern_event_record(joined, other));
        if (joins) {
            OK(quern_stream_wait_event(stream, joined));
            FAILS(QUERN_ERROR_INVALID_ARGUMENT, quern_stream_end_capture(&graph, other));
            SAYS("only takes part");
            graph = end();
            EXPECT(z, int32_t, 0, 0, 0);
            launch(graph, NULL);
            EXPECT(z, int32_t, 3, 4, 5);
            quern_graph_release(graph);
        } else {
            FAILS(QUERN_ERROR_DRIVER, quern_stream_end_capture(&graph, stream));
            SAYS("let the first wait for it");
            cr_expect_null(graph);
        }
        OK(quern_stream_wait(other)); /* it is over */
        OK(quern_stream_wait(stream));
    }
    FAILS(QUERN_ERROR_INVALID_ARGUMENT, quern_stream_wait_event(other, forked));
    SAYS("in a capture that has ended; record it again");
    OK(quern_event_record(forked, NULL));
    OK(quern_stream_wait_event(other, forked));
    quern_event_release(forked);
    quern_event_release(joined);
    quern_stream_release(other);
    quern_array_release(x);
    quern_array_release(y);
    quern_array_release(z);
    quern_kernel_release(k);
}

Test(graphs, what_cannot_be_is_refused_by_name_and_changes_nothing)
{
    quern_array *x = numbers(1, 2, 3), *y = numbers(0, 0, 0);
    quern_kernel *k = kernel_of("T x", "T y", "y = x + 1");
    quern_call_options options = on(stream);
    quern_event *outside, *inside, *never;
    quern_graph *graph, *earlier;
    quern_bound *bound;
    double ms;
    int reached;
    OK(quern_event_new(&outside, engine));
    OK(quern_event_new(&inside, engine));
    OK(quern_event_new(&never, engine));
    OK(quern_event_record(outside, NULL));
    FAILS(QUERN_ERROR_INVALID_ARGUMENT, quern_stream_end_capture(&graph, stream));
    SAYS("the stream is not being captured");
    OK(quern_stream_capture(stream));
    earlier = end();
    OK(quern_stream_capture(stream));
    OK(quern_event_record(inside, stream));
    OK(quern_call_with(k, &options, x, y));
#define REFUSED(part, call)                                                                        \
    FAILS(QUERN_ERROR_INVALID_ARGUMENT, call);                                                     \
    SAYS(part)
    REFUSED("quern_stream_capture: the stream is being captured already",
            quern_stream_capture(stream));
    REFUSED("quern_stream_wait: the stream is being captured", quern_stream_wait(stream));
    REFUSED("quern_synchronize: a stream", quern_synchronize(engine));
    REFUSED("quern_event_wait: the event was recorded in a capture", quern_event_wait(inside));
    REFUSED("quern_event_query: the event", quern_event_query(&reached, inside));
    REFUSED("quern_event_elapsed: the event", quern_event_elapsed(&ms, outside, inside));
    REFUSED("recorded outside of the capture", quern_stream_wait_event(stream, outside));
    REFUSED("the engine's own stream cannot take part", quern_stream_wait_event(NULL, inside));
    REFUSED("quern_bind: the stream is being captured: bind",
            quern_bind_with(&bound, k, &options, x, y));
    REFUSED("a graph is no part of another", quern_graph_launch(earlier, stream));
    OK(quern_stream_wait_event(stream, never)); /* a mark that is nowhere */
    graph = end();
    launch(graph, NULL);
    EXPECT(y, int32_t, 2, 3, 4);
    quern_graph_release(graph);
    launch(earlier, NULL);
    quern_graph_release(earlier);
    quern_event_release(outside);
    quern_event_release(inside);
    quern_event_release(never);
    quern_array_release(x);
    quern_array_release(y);
    quern_kernel_release(k);
}

Test(graphs, what_is_released_during_a_capture_waits_for_its_end)
{
    quern_array *x = numbers(1, 2, 3), *y = NULL, *sum = NULL, *large;
    quern_kernel *k = kernel_of("T x", "T y", "y = x + 1"), *add;
    quern_call_options options = on(stream);
    OK(quern_reduction(&add, engine, "T x", "T y", "x", "a + b", "y = a", "0", NULL));
    OK(quern_array_new(&large, engine, QUERN_INT32, SHAPE(LONG_COUNT)));
    OK(quern_array_fill(large, &(int32_t){1}, 4));
    OK(quern_synchronize(engine));
    OK(quern_call_with(k, &options, x, &y)); /* in the order of the stream */
    OK(quern_call_with(add, &options, large, &sum));
    OK(quern_stream_wait(stream));
    OK(quern_stream_capture(stream));
    quern_array_release(y);
    quern_array_release(sum);
    quern_graph *graph = end();
    quern_graph_release(graph);
    quern_array_release(large);
    quern_array_release(x);
    quern_kernel_release(k);
    quern_kernel_release(add);
}

Test(graphs, a_stream_that_is_given_back_ends_its_capture)
{
    quern_stream *other;
    quern_array *x = numbers(1, 2, 3), *y = NULL;
    quern_kernel *k = kernel_of("T x", "T y", "y = x + 1");
    OK(quern_stream_new(&other, engine));
    quern_call_options options = on(other);
    OK(quern_stream_capture(other));
    OK(quern_call_with(k, &options, x, &y));
    quern_stream_release(other);
    OK(quern_synchronize(engine));
    quern_array_release(x);
    quern_array_release(y);
    quern_kernel_release(k);
}

Test(graphs, modules_stay_as_long_as_graphs)
{
    quern_module *module;
    quern_function *function;
    quern_array *x = numbers(1, 2, 3);
    OK(quern_module_new(&module, engine,
                        "extern \"C\" __global__ void f(int *x) { x[threadIdx.x] += 1; }", NULL));
    OK(quern_module_function(&function, module, "f"));
    quern_launch_options options = QUERN_LAUNCH_OPTIONS_INIT;
    options.block[0] = 3;
    options.stream = stream;
    OK(quern_stream_capture(stream));
    OK(quern_function_call(function, &options, x));
    quern_function_release(function);
    quern_module_release(module);
    quern_graph *graph = end();
    launch(graph, stream);
    launch(graph, stream);
    EXPECT(x, int32_t, 3, 4, 5);
    quern_graph_release(graph);
    quern_array_release(x);
}

Test(graphs, default_streams_cannot_be_captured)
{
    for (uintptr_t handle = 0; handle <= 2; handle++) {
        quern_stream *wrapped;
        OK(quern_stream_wrap(&wrapped, engine, (void *)handle));
        FAILS(QUERN_ERROR_INVALID_ARGUMENT, quern_stream_capture(wrapped));
        SAYS("a default stream cannot be captured");
        quern_stream_release(wrapped);
    }
}
