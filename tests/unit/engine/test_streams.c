/* SPDX-License-Identifier: MIT
 *
 * How long streams live, and what waits for them: an engine on the software device that counts its
 * streams and notices any use of one that is gone.
 */
#include "device/device_internal.h"
#include "whole.h"

#define MOST 8

static bool lives[MOST];
static int made, allocations, misuses;
static char handles[MOST];

static quern_status count_new(quern_device *device, void **out)
{
    (void)device;
    cr_assert_lt(made, MOST);
    lives[made] = true;
    *out = &handles[made++];
    return QUERN_OK;
}

static void look_at(const void *stream)
{
    misuses += stream != NULL && !lives[(const char *)stream - handles];
}

static void count_free(quern_device *device, void *stream)
{
    (void)device;
    look_at(stream);
    lives[(char *)stream - handles] = false;
}

static quern_status allocate(quern_device *device, void **out, size_t bytes, void *stream)
{
    look_at(stream);
    allocations++;
    return qn_soft_device.allocate(device, out, bytes, stream);
}

static void release(quern_device *device, void *pointer, size_t bytes, void *stream)
{
    look_at(stream);
    qn_soft_device.release(device, pointer, bytes, stream);
}

static quern_status launch(quern_device *device, void *function, const quern_launch_config *config,
                           void **parameters)
{
    look_at(config->stream);
    return qn_soft_device.launch(device, function, config, parameters);
}

static int living(void)
{
    int count = 0;
    for (int k = 0; k < MOST; k++) {
        count += lives[k];
    }
    return count;
}

static int logged; /* errors */

static void count_errors(void *context, const char *level, const char *message)
{
    (void)context;
    (void)message;
    logged += strcmp(level, "error") == 0;
}

static quern_device_methods methods;

static void open_counted(void)
{
    /* Skips without NVRTC, because the calls whose streams are counted must be compiled; runs
     * wherever ./dev has fetched one. */
    whole_open();
    whole_close();
    methods = qn_soft_device;
    methods.stream_new = count_new;
    methods.stream_free = count_free;
    methods.allocate = allocate;
    methods.release = release;
    methods.launch = launch;
    quern_options options = QUERN_OPTIONS_INIT;
    options.log = count_errors;
    OK(quern_open_device(&engine, &methods, &options));
    cr_assert_eq(living(), 1); /* the engine's own */
}

static void close_counted(void)
{
    whole_close();
    cr_expect_eq(living(), 0);
    cr_expect_eq(misuses, 0);
}

TestSuite(streams, .init = open_counted, .fini = close_counted);

static quern_call_options on(quern_stream *stream)
{
    quern_call_options options = QUERN_CALL_OPTIONS_INIT;
    options.stream = stream;
    return options;
}

Test(streams, an_output_keeps_its_stream)
{
    quern_array *x = array_of(QUERN_FLOAT32, SHAPE(3), (float[]){1, 2, 3}), *y = NULL, *view;
    quern_kernel *k = kernel_of("T x", "T y", "y = x + 1");
    quern_stream *stream;
    OK(quern_stream_new(&stream, engine));
    quern_call_options options = on(stream);
    OK(quern_call_n(k, (quern_value[]){QUERN_VALUES(x, &y)}, 2, &options));
    OK(quern_array_slice(&view, y, 1, &(quern_slice){0, 2, 1}));
    quern_stream_release(stream);
    cr_expect_eq(living(), 2);
    quern_array_release(y);
    EXPECT(view, float, 2, 3);
    quern_array_release(view);
    cr_expect_eq(living(), 1);
    quern_array_release(x);
    quern_kernel_release(k);
}

static void foreign_ends(void *stream)
{
    lives[(char *)stream - handles] = false;
}

/* Its owner hears of it when nothing uses a stream any more, and not before: an array's memory goes
 * back in its order, and where a reduction worked it is cleaned up. */
Test(streams, of_others_stay_as_long_as_they_are_used)
{
    quern_array *x = array_of(QUERN_FLOAT32, SHAPE(3), (float[]){1, 2, 3}), *y = NULL, *sum = NULL;
    quern_kernel *k = kernel_of("T x", "T y", "y = x + 1"), *total;
    quern_stream *stream;
    void *theirs;
    OK(count_new(NULL, &theirs));
    OK(quern_reduction(&total, engine, "T x", "T y", "x", "a + b", "y = a", "0", NULL));
    OK(quern_stream_wrap_owned(&stream, engine, theirs, foreign_ends, theirs));
    quern_call_options options = on(stream);
    OK(quern_call_n(k, (quern_value[]){QUERN_VALUES(x, &y)}, 2, &options));
    OK(quern_call_n(total, (quern_value[]){QUERN_VALUES(y, &sum)}, 2, &options));
    quern_stream_release(stream);
    quern_array_release(y);
    cr_expect_eq(living(), 2);
    quern_array_release(sum);
    cr_expect_eq(living(), 1);
    quern_array_release(x);
    quern_kernel_release(k);
    quern_kernel_release(total);
}

Test(streams, are_freed_once)
{
    quern_stream *stream;
    quern_array *y = NULL;
    quern_kernel *k = kernel_of("", "int32 y", "y = i");
    OK(quern_stream_new(&stream, engine));
    quern_call_options options = on(stream);
    options.loop_size = &(int64_t){4};
    OK(quern_call_n(k, (quern_value[]){QUERN_VALUES(&y)}, 1, &options));
    quern_stream_release(stream);
    quern_stream_release(stream);
    cr_expect_eq(logged, 1);
    cr_expect_eq(living(), 2);
    EXPECT(y, int32_t, 0, 1, 2, 3);
    quern_array_release(y);
    cr_expect_eq(living(), 1);
    quern_kernel_release(k);
}

Test(streams, are_counted)
{
    quern_stream *stream;
    quern_event *event;
    OK(quern_stream_new(&stream, engine));
    OK(quern_event_new(&event, engine));
    cr_expect_eq(quern_stream_retain(stream), stream);
    cr_expect_eq(quern_event_retain(event), event);
    quern_stream_release(stream);
    quern_event_release(event);
    cr_expect_eq(living(), 2);
    OK(quern_event_record(event, stream));
    OK(quern_stream_wait(stream));
    quern_stream_release(stream);
    quern_event_release(event);
    cr_expect_eq(living(), 1);
    cr_expect_null(quern_stream_retain(NULL));
    cr_expect_null(quern_event_retain(NULL));
    cr_expect_eq(logged, 0);
}

#define LONG_COUNT 200000 /* so many that several blocks reduce them, in a workspace */

static quern_array *ones(void)
{
    quern_array *x;
    OK(quern_array_new(&x, engine, QUERN_INT64, SHAPE(LONG_COUNT)));
    OK(quern_array_fill(x, &(int64_t){1}, sizeof(int64_t)));
    return x;
}

static quern_kernel *sum(void)
{
    quern_kernel *k;
    OK(quern_reduction(&k, engine, "T x", "T y", "x", "a + b", "y = a", "0", NULL));
    return k;
}

Test(streams, a_bound_call_keeps_its_stream)
{
    quern_array *x = ones(), *other = ones(), *y = NULL;
    quern_kernel *k = sum();
    quern_stream *stream;
    quern_bound *bound;
    OK(quern_stream_new(&stream, engine));
    quern_call_options options = on(stream);
    OK(quern_bind(&bound, k, (quern_value[]){QUERN_VALUES(x, &y)}, 2, &options));
    quern_stream_release(stream);
    OK(quern_launch(bound));
    OK(quern_bound_set_array(bound, 0, other));
    OK(quern_launch(bound));
    EXPECT(y, int64_t, LONG_COUNT);
    quern_bound_release(bound);
    quern_array_release(y);
    cr_expect_eq(living(), 1);
    quern_array_release(x);
    quern_array_release(other);
    quern_kernel_release(k);
}

Test(streams, workspaces_serve_again)
{
    quern_array *x = ones(), *other = ones(), *y = NULL;
    quern_kernel *k = sum();
    quern_bound *bound;
    OK(quern_call(k, x, &y));
    int before = allocations;
    for (int n = 0; n < 5; n++) {
        OK(quern_call(k, x, y));
    }
    cr_expect_eq(allocations, before);
    OK(quern_bind(&bound, k, (quern_value[]){QUERN_VALUES(x, y)}, 2, NULL));
    OK(quern_bound_set_array(bound, 0, other));
    before = allocations;
    for (int n = 0; n < 5; n++) {
        OK(quern_bound_set_array(bound, 0, n % 2 == 0 ? x : other));
        OK(quern_launch(bound));
        EXPECT(y, int64_t, LONG_COUNT);
    }
    cr_expect_eq(allocations, before);
    quern_bound_release(bound);
    quern_array *all[] = {x, other, y};
    for (int n = 0; n < 3; n++) {
        quern_array_release(all[n]);
    }
    quern_kernel_release(k);
}
