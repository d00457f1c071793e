/* SPDX-License-Identifier: MIT
 *
 * Bound calls, explanations, streams and events, kernel options.
 */
#include "whole.h"
#include <stdlib.h>

TestSuite(bound, .init = whole_open, .fini = whole_close);

Test(bound, launch_and_replace)
{
    float a[4] = {1, 2, 3, 4}, b[4] = {10, 20, 30, 40};
    quern_array *x = array_of(QUERN_FLOAT32, SHAPE(4), a),
                *y = array_of(QUERN_FLOAT32, SHAPE(4), b);
    quern_array *z = NULL;
    quern_kernel *k = kernel_of("T x, T a", "T z", "z = a * x");
    quern_bound *bound;
    OK(quern_bind(&bound, k, (quern_value[]){QUERN_VALUES(x, 2, &z)}, 3, NULL));
    OK(quern_launch(bound));
    EXPECT(z, float, 2, 4, 6, 8);
    OK(quern_bound_set_scalar(bound, 1, quern_literal_double(0.5)));
    OK(quern_bound_set_array(bound, 0, y));
    OK(quern_launch(bound));
    EXPECT(z, float, 5, 10, 15, 20);
    FAILS(QUERN_ERROR_TYPE, quern_bound_set_scalar(bound, 0, quern_literal_int(1)));
    FAILS(QUERN_ERROR_TYPE, quern_bound_set_array(bound, 1, y));
    FAILS(QUERN_ERROR_INVALID_ARGUMENT, quern_bound_set_array(bound, 7, y));
    FAILS(QUERN_ERROR_TYPE, quern_bound_set_scalar(bound, 1, quern_literal_complex(1, 2)));
    OK(quern_launch(bound));
    EXPECT(z, float, 5, 10, 15, 20);

    quern_array *view, *longer = array_of(QUERN_FLOAT32, SHAPE(2, 2), a);
    FAILS(QUERN_ERROR_SHAPE, quern_bound_set_array(bound, 0, longer));
    SAYS("argument 0 was bound with shape (4,), but this array has (2, 2)");
    quern_array *wide = array_of(QUERN_FLOAT64, SHAPE(4), (double[4]){0}), *back;
    FAILS(QUERN_ERROR_SHAPE, quern_bound_set_array(bound, 0, wide));
    SAYS("was bound with dtype float32, but this array has float64");
    OK(quern_array_slice(&back, x, 1, &(quern_slice){QUERN_SLICE_NONE, QUERN_SLICE_NONE, -1}));
    FAILS(QUERN_ERROR_SHAPE, quern_bound_set_array(bound, 0, back));
    SAYS("was bound with strides (4,) in bytes, but this array has (-4,)");
    quern_array_release(wide);
    quern_array_release(back);
    float many[5] = {9, 1, 2, 3, 4};
    quern_array *host = array_of(QUERN_FLOAT32, SHAPE(5), many);
    OK(quern_array_slice(&view, host, 1, &(quern_slice){1, 5, 1}));
    OK(quern_bound_set_array(bound, 0, view)); /* another alignment */
    quern_kernel_release(k);
    OK(quern_launch(bound));
    EXPECT(z, float, .5f, 1, 1.5f, 2);
    quern_bound_release(bound);
    quern_array *all[] = {x, y, z, view, longer, host};
    for (int n = 0; n < 6; n++) {
        quern_array_release(all[n]);
    }
}

Test(bound, a_new_number_keeps_the_type)
{
    float a[2] = {1, 2};
    quern_array *x = array_of(QUERN_FLOAT32, SHAPE(2), a), *z = NULL;
    quern_array *w = array_of(QUERN_FLOAT32, SHAPE(2), a);
    quern_kernel *k = kernel_of("A a, T x", "T z", "z = x + a / 2");
    quern_bound *bound;
    OK(quern_bind(&bound, k, (quern_value[]){QUERN_VALUES(1.0f, x, &z)}, 3, NULL));
    OK(quern_bound_set_scalar(bound, 0, quern_literal_int(3)));
    OK(quern_bound_set_array(bound, 1, w)); /* binds the types again */
    OK(quern_launch(bound));
    EXPECT(z, float, 2.5f, 3.5f);
    quern_bound_release(bound);
    quern_kernel_release(k);
    quern_array *all[] = {x, z, w};
    for (int n = 0; n < 3; n++) {
        quern_array_release(all[n]);
    }
}

Test(bound, overlap_is_refused)
{
    float a[4] = {1, 2, 3, 4};
    quern_array *x = array_of(QUERN_FLOAT32, SHAPE(4), a), *head, *tail;
    OK(quern_array_slice(&head, x, 1, &(quern_slice){0, 3, 1}));
    OK(quern_array_slice(&tail, x, 1, &(quern_slice){1, 4, 1}));
    quern_kernel *k = kernel_of("T x", "T z", "z = x");
    quern_bound *bound;
    FAILS(QUERN_ERROR_INVALID_ARGUMENT,
          quern_bind(&bound, k, (quern_value[]){QUERN_VALUES(head, tail)}, 2, NULL));
    cr_assert_null(bound);
    quern_array_release(x);
    quern_array_release(head);
    quern_array_release(tail);
    quern_kernel_release(k);
}

Test(bound, explain)
{
    float a[1000] = {0};
    quern_array *x = array_of(QUERN_FLOAT32, SHAPE(10, 100), a), *z = NULL;
    quern_kernel *k = kernel_of("T x", "T z", "z = x * 3");
    quern_explanation *e;
    OK(quern_explain(&e, k, (quern_value[]){QUERN_VALUES(x, &z)}, 2, NULL));
    cr_assert_null(z);
    cr_assert_str_eq(e->types, "T=float32");
    cr_assert_str_eq(e->plan, "contiguous, 4 elements a thread, 32-bit index, access vv");
    cr_assert_eq(e->elements, 1000);
    cr_assert_eq(strlen(e->key), 32u);
    cr_assert_not_null(strstr(e->source, "z = x * 3"));
    cr_assert_not_null(strstr(e->text, "loop:      (10, 100), 1000 elements"));
    cr_assert_eq(e->block[0], 256u);
    quern_explanation_release(e);
    quern_explanation_release(NULL);
    quern_array_release(x);
    quern_kernel_release(k);
}

/* What is copied first is planned with the layout of the copy, which no output overlaps. */
Test(bound, explain_overlap)
{
    static const float a[64 * 64];
    quern_array *x = array_of(QUERN_FLOAT32, SHAPE(64, 64), a), *turned, *copy;
    OK(quern_array_transpose(&turned, x, NULL));
    OK(quern_array_copy(&copy, turned));
    quern_kernel *k = kernel_of("T x", "T y, T z", "y = z = x + 1");
    quern_array *inputs[] = {copy, turned};
    quern_explanation *e[2];
    for (int n = 0; n < 2; n++) {
        quern_value values[] = {
            quern_value_array(inputs[n]), quern_value_array(x), {QUERN_VALUE_NONE, 0, {0}}};
        OK(quern_explain(&e[n], k, values, 3, NULL));
    }
    cr_expect_str_eq(e[0]->plan, "contiguous, 4 elements a thread, 32-bit index, access vvv");
    cr_expect_str_eq(e[1]->plan, "contiguous, 4 elements a thread, 32-bit index, access vvv, "
                                 "inputs that an output overlaps are copied first");
    cr_expect_str_eq(e[0]->key, e[1]->key);
    quern_explanation_release(e[0]);
    quern_explanation_release(e[1]);
    quern_array *all[] = {x, turned, copy};
    for (int n = 0; n < 3; n++) {
        quern_array_release(all[n]);
    }
    quern_kernel_release(k);
}

Test(bound, streams_and_events)
{
    float a[1000] = {0};
    quern_array *x = array_of(QUERN_FLOAT32, SHAPE(1000), a);
    quern_kernel *k = kernel_of("", "T z", "z += 1");
    quern_stream *stream, *wrapped;
    quern_event *begin, *end;
    double ms = -1;
    OK(quern_synchronize(engine));
    OK(quern_stream_new(&stream, engine));
    OK(quern_event_new(&begin, engine));
    OK(quern_event_new(&end, engine));
    OK(quern_event_record(begin, stream));
    quern_call_options options = QUERN_CALL_OPTIONS_INIT;
    options.stream = stream;
    for (int n = 0; n < 5; n++) {
        OK(quern_call_n(k, (quern_value[]){QUERN_VALUES(x)}, 1, &options));
    }
    OK(quern_event_record(end, stream));
    OK(quern_stream_wait_event(NULL, end));
    OK(quern_event_wait(end));
    OK(quern_event_elapsed(&ms, begin, end));
    cr_assert_geq(ms, 0.0);
    OK(quern_stream_wrap(&wrapped, engine, quern_stream_handle(stream)));
    OK(quern_stream_wait(wrapped));
    for (int n = 0; n < 1000; n++) {
        a[n] = 5;
    }
    expect_bytes(x, a, sizeof a, "five additions on a stream");
    quern_stream_release(wrapped);
    quern_stream_release(stream);
    quern_event_release(begin);
    quern_event_release(end);
    quern_array_release(x);
    quern_kernel_release(k);
}

Test(bound, kernel_options)
{
    quern_kernel_options o = QUERN_KERNEL_OPTIONS_INIT;
    static const char *const options[] = {"-DN=5", "--use_fast_math"};
    o.name = "my_kernel";
    o.preamble = "__device__ float twice(float v) { return 2 * v; }";
    o.loop_prep = "float base = N;";
    o.after_loop = "base = 0;";
    o.options = options;
    o.option_count = 2;
    float a[3] = {1, 2, 3};
    quern_array *x = array_of(QUERN_FLOAT32, SHAPE(3), a), *z = NULL;
    quern_kernel *k;
    OK(quern_elementwise(&k, engine, "T x", "T z", "z = twice(x) + base", &o));
    OK(quern_call(k, x, &z));
    EXPECT(z, float, 7, 9, 11);
    quern_kernel_release(k);
    o.name = "1st";
    FAILS(QUERN_ERROR_INVALID_ARGUMENT, quern_elementwise(&k, engine, "T x", "T z", "z = x", &o));
    cr_assert_null(k);
    static const char *const wrong[] = {"--no-such-option"};
    o.name = NULL;
    o.options = wrong;
    o.option_count = 1;
    OK(quern_elementwise(&k, engine, "T x", "T z", "z = x", &o));
    quern_array_release(z);
    z = NULL;
    cr_assert_neq(quern_call(k, x, &z), QUERN_OK);
    SAYS("--no-such-option");
    quern_kernel_release(k);
    quern_array_release(x);
}

Test(bound, everything_keeps_its_engine)
{
    float a[3] = {1, 2, 3};
    quern_engine *own;
    quern_array *x, *z = NULL;
    quern_kernel *k;
    OK(quern_open(&own, NULL));
    OK(quern_array_from(&x, own, QUERN_FLOAT32, 1, (int64_t[]){3}, a));
    OK(quern_elementwise(&k, own, "T x", "T z", "z = x + x", NULL));
    quern_close(own);
    OK(quern_call(k, x, &z));
    quern_kernel_release(k);
    EXPECT(z, float, 2, 4, 6);
    quern_array *mine = array_of(QUERN_FLOAT32, SHAPE(3), a);
    quern_kernel *other = kernel_of("T x", "T z", "z = x");
    FAILS(QUERN_ERROR_INVALID_ARGUMENT, quern_call(other, x, mine));
    SAYS("another engine");
    quern_kernel_release(other);
    quern_array_release(mine);
    quern_array_release(x);
    quern_array_release(z);
}

Test(bound, calls_and_explanations_are_counted)
{
    float a[3] = {1, 2, 3};
    quern_array *x = array_of(QUERN_FLOAT32, SHAPE(3), a), *z = NULL;
    quern_kernel *k = kernel_of("T x", "T z", "z = x + x");
    quern_bound *bound;
    quern_explanation *e;
    OK(quern_bind_with(&bound, k, NULL, x, &z));
    OK(quern_explain(&e, k, (quern_value[]){QUERN_VALUES(x, z)}, 2, NULL));
    cr_expect_eq(quern_bound_retain(bound), bound);
    cr_expect_eq(quern_explanation_retain(e), e);
    quern_bound_release(bound);
    quern_explanation_release(e);
    OK(quern_launch(bound));
    EXPECT(z, float, 2, 4, 6);
    cr_expect_eq(e->elements, 3);
    quern_bound_release(bound);
    quern_explanation_release(e);
    cr_expect_null(quern_bound_retain(NULL));
    cr_expect_null(quern_explanation_retain(NULL));
    quern_kernel_release(k);
    quern_array_release(x);
    quern_array_release(z);
}

/* A bound call keeps what its options point to. */
Test(bound, options_are_copied)
{
    quern_kernel *k = kernel_of("", "raw int32 z", "z[i] = i");
    quern_array *z, *other;
    OK(quern_array_new(&z, engine, QUERN_INT32, SHAPE(3)));
    OK(quern_array_new(&other, engine, QUERN_INT32, SHAPE(3)));
    int64_t size = 3;
    quern_call_options options = QUERN_CALL_OPTIONS_INIT;
    options.loop_size = &size;
    quern_bound *bound;
    OK(quern_bind_with(&bound, k, &options, z));
    size = -1;
    OK(quern_bound_set_array(bound, 0, other));
    OK(quern_launch(bound));
    EXPECT(other, int32_t, 0, 1, 2);
    quern_bound_release(bound);
    quern_kernel_release(k);
    quern_array_release(z);
    quern_array_release(other);
}
