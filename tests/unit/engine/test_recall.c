/* SPDX-License-Identifier: MIT
 *
 * Calls that are remembered: that the same call is found, also among others, and that what is not
 * the same is not taken for it. test_recall_drawn.c draws calls of all kinds.
 */
#include "engine/recall.h"
#include "whole.h"
#include <stddef.h>

/* How many of a kernel's calls went the whole way. */
static unsigned missed_by(quern_kernel *kernel)
{
    return atomic_load(&atomic_load(&kernel->recalls)->misses);
}

Test(recall, finds_the_same_call)
{
    whole_open();
    const float host[4] = {1, 2, 3, 4};
    quern_array *x = array_of(QUERN_FLOAT32, SHAPE(4), host), *y = NULL, *z = NULL;
    quern_kernel *k = kernel_of("T x, T a", "T y", "y = x * a");
    OK(quern_call(k, x, 2.0f, &y));
    OK(quern_call(k, x, 3.0f, &z));
    OK(quern_call(k, x, 2.0f, y));
    cr_assert_eq(missed_by(k), 2, "a place and an array are two calls");
    for (int n = 0; n < 5; n++) {
        quern_array *made = NULL;
        OK(quern_call(k, x, (float)n, y));
        OK(quern_call(k, y, (float)n, &made));
        const float f = (float)n;
        EXPECT(y, float, f, 2 * f, 3 * f, 4 * f);
        EXPECT(made, float, f *f, 2 * f * f, 3 * f * f, 4 * f * f);
        quern_array_release(made);
    }
    cr_assert_eq(missed_by(k), 2);
    quern_kernel_release(k);
    quern_array_release(x);
    quern_array_release(y);
    quern_array_release(z);
    whole_close();
}

/* Calls of the same arrays that differ in options or in the dtype of a number. */
Test(recall, finds_calls_that_take_turns)
{
    enum { ROUNDS = 5 };
    static const int axes[] = {0, 1};
    whole_open();
    const int host[4] = {1, 2, 3, 4};
    quern_array *x = array_of(QUERN_INT32, SHAPE(2, 2), host), *sums, *y;
    quern_kernel *scale = kernel_of("T x, U a", "T y", "y = (T)(x * a)"), *sum;
    OK(quern_reduction(&sum, engine, "T x", "T y", "x", "a + b", "y = a", "0", NULL));
    OK(quern_array_new(&sums, engine, QUERN_INT32, SHAPE(2)));
    OK(quern_array_new(&y, engine, QUERN_INT32, SHAPE(2, 2)));
    for (int n = 0; n < ROUNDS; n++) {
        for (int k = 0; k < 2; k++) {
            quern_call_options options = QUERN_CALL_OPTIONS_INIT;
            options.axes = &axes[k];
            options.axis_count = 1;
            OK(quern_call_with(sum, &options, x, sums));
            EXPECT(sums, int, k == 0 ? 4 : 3, k == 0 ? 6 : 7);
        }
        OK(quern_call(scale, x, 3, y));
        EXPECT(y, int, 3, 6, 9, 12);
        OK(quern_call(scale, x, 1.5, y));
        EXPECT(y, int, 1, 3, 4, 6);
    }
    cr_expect_eq(missed_by(sum), 2);
    cr_expect_eq(missed_by(scale), 2);
    quern_kernel_release(sum);
    quern_kernel_release(scale);
    quern_array_release(x);
    quern_array_release(y);
    quern_array_release(sums);
    whole_close();
}

/* Nothing is launched, so the whole way would be all that such a call costs. */
Test(recall, finds_calls_without_elements)
{
    static const int axis = 0;
    whole_open();
    quern_kernel *k = kernel_of("T x, T a", "T y", "y = x * a"), *sum;
    OK(quern_reduction(&sum, engine, "T x", "T y", "x", "a + b", "y = a", "7", NULL));
    quern_array *x, *wide, *y = NULL, *sums = NULL;
    OK(quern_array_new(&x, engine, QUERN_FLOAT32, SHAPE(0, 3)));
    OK(quern_array_new(&wide, engine, QUERN_INT32, SHAPE(3, 0)));
    quern_call_options options = QUERN_CALL_OPTIONS_INIT;
    options.axes = &axis;
    options.axis_count = 1;
    OK(quern_call(k, x, 2.0f, &y));
    OK(quern_call(k, x, 2.0f, y));
    OK(quern_call_with(sum, &options, wide, &sums));
    OK(quern_call_with(sum, &options, wide, sums));
    for (int n = 0; n < 3; n++) {
        quern_array *made = NULL, *sums_made = NULL;
        OK(quern_call(k, x, (float)n, y));
        OK(quern_call(k, x, (float)n, x));
        OK(quern_call(k, y, (float)n, &made));
        OK(quern_call_with(sum, &options, wide, sums));
        OK(quern_call_with(sum, &options, wide, &sums_made));
        cr_assert_eq(quern_array_count(made), 0);
        cr_assert_eq(quern_array_shape(made)[1], 3);
        cr_assert_eq(quern_array_count(sums_made), 0);
        quern_array_release(made);
        quern_array_release(sums_made);
    }
    cr_expect_eq(missed_by(k), 2, "and in place is as beside");
    cr_expect_eq(missed_by(sum), 2);
    /* Along the axis that is empty there are outputs, which the identity fills. */
    quern_array *filled = NULL, *fixed;
    int axes = 1;
    options.axes = &axes;
    OK(quern_call_with(sum, &options, wide, &filled));
    EXPECT(filled, int, 7, 7, 7);
    /* What is refused still is. */
    OK(quern_array_read_only(&fixed, y));
    FAILS(QUERN_ERROR_INVALID_ARGUMENT, quern_call(k, x, 2.0f, fixed));
    FAILS(QUERN_ERROR_TYPE, quern_call(k, x, 2.0f, wide));
    quern_kernel_release(k);
    quern_kernel_release(sum);
    for (size_t n = 0; n < 6; n++) {
        quern_array_release((quern_array *[]){x, wide, y, sums, filled, fixed}[n]);
    }
    whole_close();
}

/* In place, then beside, then overlapping: three calls, of which the last has a copy made. */
Test(recall, tells_overlaps_apart)
{
    whole_open();
    const float host[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
    quern_kernel *k = kernel_of("T x", "T y", "y = x + 1");
    quern_array *x = array_of(QUERN_FLOAT32, SHAPE(9), host), *front, *back, *other = NULL;
    OK(quern_array_slice(&front, x, 1, &(quern_slice){0, 8, 1}));
    OK(quern_array_slice(&back, x, 1, &(quern_slice){1, 9, 1}));
    OK(quern_call(k, front, &other));
    for (int n = 0; n < 3; n++) {
        OK(quern_array_write(x, host, sizeof host));
        OK(quern_call(k, front, other));
        OK(quern_call(k, front, front));
        OK(quern_call(k, front, back));
        EXPECT(other, float, 2, 3, 4, 5, 6, 7, 8, 9);
        EXPECT(x, float, 2, 3, 4, 5, 6, 7, 8, 9, 10);
    }
    quern_kernel_release(k);
    quern_array_release(front);
    quern_array_release(back);
    quern_array_release(other);
    quern_array_release(x);
    whole_close();
}

static void count_leaving(void *context)
{
    ++*(int *)context;
}

/* Call, and say how often that said that it may take long. */
static int leaves(quern_kernel *k, quern_status expected, const quern_value *values, size_t count)
{
    int times = 0;
    quern_call_options options = QUERN_CALL_OPTIONS_INIT;
    options.leave = count_leaving;
    options.leave_context = &times;
    FAILS(expected, quern_call_n(k, values, count, &options));
    return times;
}
#define LEAVES(k, ...)                                                                             \
    leaves((k), QUERN_OK, (quern_value[]){QUERN_VALUES(__VA_ARGS__)}, QUERN_COUNT(__VA_ARGS__))

/* Once before all that may last, and never where nothing does. */
Test(recall, says_once_that_it_may_take_long)
{
    whole_open();
    const float host[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    quern_array *x = array_of(QUERN_FLOAT32, SHAPE(8), host), *front, *back, *none, *other = NULL;
    quern_kernel *k = kernel_of("T x", "T y", "y = x + 1"), *sum;
    quern_kernel *idle = kernel_of("T x", "T y", "y = x + 1"); /* so that slots are not shared */
    OK(quern_reduction(&sum, engine, "T x", "T y", "x", "a + b", "y = a", "0", NULL));
    OK(quern_array_slice(&front, x, 1, &(quern_slice){0, 7, 1}));
    OK(quern_array_slice(&back, x, 1, &(quern_slice){1, 8, 1}));
    OK(quern_array_new(&none, engine, QUERN_FLOAT32, SHAPE(0)));
    OK(quern_call(k, front, &other));
    cr_expect_eq(LEAVES(k, x, x), 1, "it compiles, and is launched");
    for (int n = 0; n < 3; n++) {
        quern_array *made = NULL, *total = NULL, *empty = NULL;
        cr_expect_eq(LEAVES(k, front, other), 1, "it is launched");
        cr_expect_eq(LEAVES(k, front, back), 1, "it looks like the last one, and is not");
        cr_expect_eq(LEAVES(k, x, &made), 1, "it allocates");
        cr_expect_eq(LEAVES(sum, x, &total), 1, "it needs a workspace");
        cr_expect_eq(LEAVES(sum, none, &empty), 1, "there is an output to fill");
        quern_array_release(made);
        quern_array_release(total);
        quern_array_release(empty);
        made = NULL;
        cr_expect_eq(LEAVES(idle, none, none), n == 0, "nothing is launched");
        cr_expect_eq(LEAVES(idle, none, &made), n == 0, "nor is memory asked for");
        quern_array_release(made);
    }
    /* Calls that fail, and old options, which have no such field. */
    const quern_value narrow[] = {QUERN_VALUES(x, front)}, same[] = {QUERN_VALUES(x, x)};
    cr_expect_eq(leaves(k, QUERN_ERROR_SHAPE, narrow, 2), 1);
    cr_expect_leq(leaves(k, QUERN_ERROR_ARGUMENT_COUNT, narrow, 1), 1);
    int times = 0;
    quern_call_options options = QUERN_CALL_OPTIONS_INIT;
    options.leave = count_leaving;
    options.leave_context = &times;
    options.size = offsetof(quern_call_options, leave);
    OK(quern_call_with(k, &options, x, x));
    options.size = sizeof options;
    /* It is of calls alone. */
    quern_bound *bound;
    quern_explanation *explanation;
    OK(quern_bind_with(&bound, k, &options, front, other));
    OK(quern_launch(bound));
    OK(quern_explain(&explanation, k, same, 2, &options));
    cr_expect_eq(times, 0);
    quern_bound_release(bound);
    quern_explanation_release(explanation);
    quern_kernel_release(k);
    quern_kernel_release(idle);
    quern_kernel_release(sum);
    for (size_t n = 0; n < 5; n++) {
        quern_array_release((quern_array *[]){x, front, back, none, other}[n]);
    }
    whole_close();
}

Test(recall, refuses_what_is_wrong)
{
    whole_open();
    const float host[4] = {1, 2, 3, 4};
    quern_array *x = array_of(QUERN_FLOAT32, SHAPE(4), host), *y = NULL, *fixed, *none = NULL;
    quern_kernel *k = kernel_of("T x, T a", "T y", "y = x * a");
    OK(quern_call(k, x, 2, &y));
    OK(quern_array_read_only(&fixed, y));
    OK(quern_call(k, x, 2, y));
    FAILS(QUERN_ERROR_INVALID_ARGUMENT, quern_call(k, x, 2, fixed));
    FAILS(QUERN_ERROR_ARGUMENT_COUNT, quern_call(k, x, y));
    FAILS(QUERN_ERROR_INVALID_ARGUMENT, quern_call(k, none, 2, y));
    FAILS(QUERN_ERROR_VALUE, quern_call(k, x, 1e300, y));
    FAILS(QUERN_ERROR_TYPE, quern_call(k, x, y, 2));
    FAILS(QUERN_ERROR_INVALID_ARGUMENT, quern_call_n(k, NULL, 3, NULL));
    EXPECT(y, float, 2, 4, 6, 8);
    quern_kernel_release(k);
    quern_array_release(fixed);
    quern_array_release(x);
    quern_array_release(y);
    whole_close();
}
