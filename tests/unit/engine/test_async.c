/* SPDX-License-Identifier: MIT
 *
 * Transfers on a stream, functions of the host in its order, events that are asked, and streams
 * with options: what programs see on any device.
 */
#include "whole.h"

TestSuite(async, .init = whole_open, .fini = whole_close);

static quern_stream *new_stream(void)
{
    quern_stream *stream;
    OK(quern_stream_new(&stream, engine));
    return stream;
}

static const int32_t six[6] = {1, 2, 3, 4, 5, 6};

static quern_array *table(void)
{
    return array_of(QUERN_INT32, SHAPE(2, 3), six);
}

Test(async, elements_go_to_and_from_the_host_on_a_stream)
{
    quern_stream *stream = new_stream(), *streams[] = {stream, NULL};
    for (int k = 0; k < 2; k++) {
        int32_t got[6] = {0};
        quern_array *x = table(), *turned, *copy;
        OK(quern_array_write_on(x, (int32_t[]){6, 5, 4, 3, 2, 1}, sizeof six, streams[k]));
        OK(quern_array_read_on(x, got, sizeof got, streams[k]));
        OK(quern_array_transpose(&turned, x, NULL));
        OK(quern_array_copy_on(&copy, turned, streams[k]));
        OK(quern_synchronize(engine));
        cr_expect_eq(got[0], 6);
        EXPECT(copy, int32_t, 6, 3, 5, 2, 4, 1);
        quern_array_release(x);
        quern_array_release(turned);
        quern_array_release(copy);
    }
    quern_stream_release(stream);
}

Test(async, arrays_with_gaps_go_on_a_stream_too)
{
    quern_stream *stream = new_stream();
    int32_t got[6] = {0};
    quern_array *x = table(), *turned;
    OK(quern_array_transpose(&turned, x, NULL));
    OK(quern_array_write_on(turned, six, sizeof six, stream));
    OK(quern_array_read_on(turned, got, sizeof got, stream));
    OK(quern_stream_wait(stream));
    for (int k = 0; k < 6; k++) {
        cr_expect_eq(got[k], six[k]);
    }
    EXPECT(x, int32_t, 1, 3, 5, 2, 4, 6);
    OK(quern_array_fill_on(turned, &(int32_t){7}, 4, stream));
    OK(quern_stream_wait(stream));
    EXPECT(x, int32_t, 7, 7, 7, 7, 7, 7);
    OK(quern_array_fill_on(x, &(int32_t){8}, 4, stream));
    OK(quern_stream_wait(stream));
    EXPECT(x, int32_t, 8, 8, 8, 8, 8, 8);
    quern_array_release(x);
    quern_array_release(turned);
    quern_stream_release(stream);
}

Test(async, assigning_and_copies_with_an_order_go_on_a_stream)
{
    quern_stream *stream = new_stream(), *streams[] = {stream, NULL};
    for (int k = 0; k < 2; k++) {
        quern_array *x = table(), *one = array_of(QUERN_INT64, SHAPE(3), ((int64_t[]){7, 8, 9}));
        quern_array *copy;
        OK(quern_array_assign_on(x, one, streams[k]));
        OK(quern_array_copy_order_on(&copy, x, QUERN_ORDER_F, streams[k]));
        OK(quern_synchronize(engine));
        EXPECT(copy, int32_t, 7, 8, 9, 7, 8, 9);
        cr_expect_eq(quern_array_strides(copy)[0], 4);
        quern_array_release(x);
        quern_array_release(one);
        quern_array_release(copy);
    }
    quern_stream_release(stream);
}

Test(async, arrays_are_new_on_a_stream)
{
    quern_stream *stream = new_stream(), *streams[] = {stream, NULL};
    for (int k = 0; k < 2; k++) {
        quern_array *x;
        OK(quern_array_new_on(&x, engine, QUERN_INT32, 2, (const int64_t[]){2, 3}, streams[k]));
        OK(quern_array_fill_on(x, &(int32_t){5}, 4, streams[k]));
        OK(quern_synchronize(engine));
        EXPECT(x, int32_t, 5, 5, 5, 5, 5, 5);
        quern_array_release(x);
    }
    quern_stream_release(stream);
}

Test(async, assigning_is_recorded_and_keeps_its_arrays)
{
    quern_stream *stream = new_stream();
    quern_graph *graph;
    quern_array *x = table(), *y = table(),
                *z = array_of(QUERN_INT64, SHAPE(3), ((int64_t[]){7, 8, 9})), *copy;
    OK(quern_array_fill(y, &(int32_t){0}, 4));
    OK(quern_stream_capture(stream));
    OK(quern_array_assign_on(y, x, stream));
    OK(quern_array_assign_on(x, z, stream));
    OK(quern_array_copy_order_on(&copy, y, QUERN_ORDER_F, stream));
    OK(quern_stream_end_capture(&graph, stream));
    EXPECT(y, int32_t, 0, 0, 0, 0, 0, 0);
    quern_array_release(z);
    OK(quern_graph_launch(graph, stream));
    OK(quern_stream_wait(stream));
    EXPECT(y, int32_t, 1, 2, 3, 4, 5, 6);
    EXPECT(x, int32_t, 7, 8, 9, 7, 8, 9);
    EXPECT(copy, int32_t, 1, 2, 3, 4, 5, 6);
    quern_graph_release(graph);
    quern_array_release(x);
    quern_array_release(y);
    quern_array_release(copy);
    quern_stream_release(stream);
}

Test(async, a_stream_of_another_engine_is_refused_by_name)
{
    quern_engine *other;
    quern_stream *stream;
    quern_array *x = table(), *copy;
    int32_t got[6];
    OK(quern_open(&other, NULL));
    OK(quern_stream_new(&stream, other));
    FAILS(QUERN_ERROR_INVALID_ARGUMENT, quern_array_read_on(x, got, sizeof got, stream));
    SAYS("quern_array_read_on: the stream belongs to another engine than the array");
    FAILS(QUERN_ERROR_INVALID_ARGUMENT, quern_array_write_on(x, six, sizeof six, stream));
    FAILS(QUERN_ERROR_INVALID_ARGUMENT, quern_array_fill_on(x, six, 4, stream));
    FAILS(QUERN_ERROR_INVALID_ARGUMENT, quern_array_copy_on(&copy, x, stream));
    cr_expect_null(copy);
    FAILS(QUERN_ERROR_INVALID_ARGUMENT,
          quern_array_new_on(&copy, engine, QUERN_INT8, 0, NULL, stream));
    cr_expect_null(copy);
    SAYS("quern_array_new_on: the stream belongs to another engine than the array");
    FAILS(QUERN_ERROR_INVALID_ARGUMENT, quern_array_assign_on(x, x, stream));
    SAYS("quern_array_assign_on: the stream belongs to another engine than the array");
    FAILS(QUERN_ERROR_INVALID_ARGUMENT, quern_array_copy_order_on(&copy, x, QUERN_ORDER_F, stream));
    cr_expect_null(copy);
    quern_array_release(x);
    quern_stream_release(stream);
    quern_close(other);
}

typedef struct noted {
    int32_t seen[3];
    int count;
    const int32_t *from;
} noted;

static void note(void *context)
{
    noted *n = context;
    n->seen[n->count++] = *n->from;
}

Test(async, functions_are_called_in_the_order_of_the_stream)
{
    quern_stream *stream = new_stream();
    quern_array *x = array_of(QUERN_INT32, SHAPE(1), six);
    int32_t host = 0;
    noted n = {.from = &host};
    for (int k = 0; k < 3; k++) {
        OK(quern_array_fill_on(x, &(int32_t){10 + k}, 4, stream));
        OK(quern_array_read_on(x, &host, 4, stream));
        OK(quern_stream_call(stream, note, &n));
    }
    OK(quern_stream_wait(stream));
    cr_assert_eq(n.count, 3);
    cr_expect_eq(n.seen[0], 10);
    cr_expect_eq(n.seen[2], 12);
    FAILS(QUERN_ERROR_INVALID_ARGUMENT, quern_stream_call(stream, NULL, NULL));
    SAYS("function is NULL");
    quern_array_release(x);
    quern_stream_release(stream);
}

Test(async, events_can_be_asked)
{
    quern_event *event;
    int reached = 7;
    OK(quern_event_new(&event, engine));
    OK(quern_event_query(&reached, event));
    cr_expect_eq(reached, 1, "never recorded");
    OK(quern_event_record(event, NULL));
    OK(quern_event_wait(event));
    OK(quern_event_query(&reached, event));
    cr_expect_eq(reached, 1);
    quern_event_release(event);
}

Test(async, streams_are_asked)
{
    quern_stream *stream = new_stream();
    quern_array *x = table();
    int done = 7;
    OK(quern_stream_query(&done, stream));
    cr_expect_eq(done, 1, "nothing was queued");
    OK(quern_array_fill_on(x, &(int32_t){8}, 4, stream));
    OK(quern_stream_wait(stream));
    OK(quern_stream_query(&done, stream));
    cr_expect_eq(done, 1, "its work was waited for");
    quern_array_release(x);
    quern_stream_release(stream);
}

Test(async, the_time_between_marks_needs_marks)
{
    quern_event *never, *once;
    double milliseconds = 7;
    OK(quern_event_new(&never, engine));
    OK(quern_event_new(&once, engine));
    OK(quern_event_record(once, NULL));
    FAILS(QUERN_ERROR_INVALID_ARGUMENT, quern_event_elapsed(&milliseconds, once, never));
    SAYS("quern_event_elapsed: `end` was never recorded");
    FAILS(QUERN_ERROR_INVALID_ARGUMENT, quern_event_elapsed(&milliseconds, never, once));
    SAYS("quern_event_elapsed: `begin` was never recorded");
    cr_expect_eq(milliseconds, 0);
    quern_event_release(never);
    quern_event_release(once);
}

Test(async, streams_have_options)
{
    quern_device_info info = QUERN_DEVICE_INFO_INIT;
    OK(quern_device_get_info(&info, engine));
    cr_expect_leq(info.priority_highest, info.priority_lowest);
    quern_stream_options options = QUERN_STREAM_OPTIONS_INIT;
    options.non_blocking = 1;
    options.priority = info.priority_highest;
    options.name = "urgent";
    quern_stream *stream;
    OK(quern_stream_new_with(&stream, engine, &options));
    OK(quern_stream_wait(stream));
    quern_stream_release(stream);
    OK(quern_stream_new_with(&stream, engine, NULL));
    quern_stream_release(stream);
    options.non_blocking = 2;
    FAILS(QUERN_ERROR_INVALID_ARGUMENT, quern_stream_new_with(&stream, engine, &options));
    SAYS("non_blocking is 0 or 1, not 2");
    cr_expect_null(stream);
}

Test(async, the_default_streams_can_be_wrapped)
{
    for (uintptr_t handle = 0; handle <= 2; handle++) {
        quern_stream *stream;
        quern_array *x = array_of(QUERN_INT32, SHAPE(6), six), *y = NULL;
        quern_kernel *sum;
        OK(quern_stream_wrap(&stream, engine, (void *)handle));
        cr_expect_eq((uintptr_t)quern_stream_handle(stream), handle);
        OK(quern_reduction(&sum, engine, "T x", "T y", "x", "a + b", "y = a", "0", NULL));
        quern_call_options options = QUERN_CALL_OPTIONS_INIT;
        options.stream = stream;
        OK(quern_call_with(sum, &options, x, &y));
        OK(quern_stream_wait(stream));
        EXPECT(y, int32_t, 21);
        quern_array_release(x);
        quern_array_release(y);
        quern_kernel_release(sum);
        quern_stream_release(stream);
    }
}
