/* SPDX-License-Identifier: MIT
 *
 * Calls that are remembered: that the same call is found, also among others, and that what is not
 * the same is not taken for it. test_recall_drawn.c draws calls of all kinds.
 */
#include "engine/recall.h"
#include "whole.h"

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
