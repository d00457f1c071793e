/* SPDX-License-Identifier: MIT
 *
 * quern_prepare(): what calls need is there before them, whatever the number of threads; failures
 * are each call's own, and one message; progress counts every call once.
 */
#include "engine/engine_internal.h"
#include "whole.h"
#include <quern/prepare.h>
#include <stdio.h>

enum { KERNELS = 8 };

static const int64_t thousand[1] = {1000};

/* What progress said. */
typedef struct told {
    size_t calls, last;
    bool seen[KERNELS];
    int32_t statuses[KERNELS];
    char text[128]; /* of the last error */
} told;

static void progress(void *context, size_t index, size_t done, const quern_error *error)
{
    told *t = context;
    cr_assert_lt(index, KERNELS);
    cr_assert_not(t->seen[index], "call %zu is reported twice", index);
    t->seen[index] = true;
    cr_assert_eq(done, ++t->calls);
    t->last = done;
    if (error) {
        t->statuses[index] = error->status;
        snprintf(t->text, sizeof t->text, "%s", error->text);
    }
}

static uint64_t compiled(void)
{
    quern_cache_stats stats = QUERN_CACHE_STATS_INIT;
    OK(quern_cache_get_stats(&stats, engine));
    return stats.compiled;
}

static quern_kernel *numbered(int number)
{
    char operation[64];
    snprintf(operation, sizeof operation, "z = x + y * %d", number);
    return kernel_of("T x, T y", "T z", operation);
}

Test(prepare, calls_find_what_was_made)
{
    setenv("QUERN_CACHE_DIR", "off", 1);
    whole_open();
    for (uint32_t threads = 0; threads < 9; threads += 4) {
        quern_value values[2] = {quern_value_like(QUERN_FLOAT32, 1, thousand),
                                 quern_value_like(QUERN_FLOAT32, 1, thousand)};
        quern_preparation list[KERNELS] = {{0}};
        told t = {0};
        for (int k = 0; k < KERNELS; k++) {
            list[k].kernel = numbered(100 * (int)threads + k);
            list[k].values = values;
            list[k].count = 2;
            list[k].status = QUERN_ERROR_INTERNAL;
        }
        quern_prepare_options options = QUERN_PREPARE_OPTIONS_INIT;
        options.threads = threads;
        options.progress = progress;
        options.context = &t;
        OK(quern_prepare(list, KERNELS, &options));
        cr_assert_eq(t.last, KERNELS);
        const uint64_t before = compiled();
        quern_array *x, *z = NULL;
        OK(quern_array_new(&x, engine, QUERN_FLOAT32, 1, thousand));
        for (int k = 0; k < KERNELS; k++) {
            cr_assert_eq(list[k].status, QUERN_OK);
            OK(quern_call(list[k].kernel, x, x, &z));
            quern_kernel_release(list[k].kernel);
        }
        cr_assert_eq(compiled(), before, "calls compile nothing more");
        quern_array_release(x);
        quern_array_release(z);
    }
    whole_close();
}

Test(prepare, tells_failures_apart)
{
    whole_open();
    quern_kernel *good = numbered(3), *wrong = kernel_of("T x", "T z", "z = undeclared_name + x");
    quern_value like = quern_value_like(QUERN_FLOAT32, 1, thousand), pair[2] = {like, like};
    quern_preparation list[] = {{.kernel = good, .values = pair, .count = 2},
                                {.kernel = wrong, .values = &like, .count = 1},
                                {.kernel = NULL},
                                {.kernel = good, .values = &like, .count = 1}};
    told t = {0};
    quern_prepare_options options = QUERN_PREPARE_OPTIONS_INIT;
    options.threads = 3;
    options.progress = progress;
    options.context = &t;
    FAILS(QUERN_ERROR_COMPILE, quern_prepare(list, 4, &options));
    SAYS("3 of 4 calls cannot be prepared: 1 (quern_kernel): ");
    SAYS("undeclared_name");
    SAYS("; 2 (no kernel): quern_prepare: kernel is NULL; 3 (quern_kernel): ");
    static const int32_t expected[] = {QUERN_OK, QUERN_ERROR_COMPILE, QUERN_ERROR_INVALID_ARGUMENT,
                                       QUERN_ERROR_ARGUMENT_COUNT};
    for (int k = 0; k < 4; k++) {
        cr_assert_eq(list[k].status, expected[k]);
        cr_assert_eq(t.statuses[k], expected[k]);
    }
    cr_assert_eq(t.calls, 4);
    options.threads = 1;
    options.progress = NULL;
    FAILS(QUERN_ERROR_COMPILE, quern_prepare(list + 1, 1, &options));
    SAYS("1 of 1 calls");
    quern_kernel_release(good);
    quern_kernel_release(wrong);
    whole_close();
}

Test(prepare, takes_options_and_nothing)
{
    whole_open();
    quern_kernel *sum;
    OK(quern_reduction(&sum, engine, "T x", "T y", "x", "a + b", "y = a", "0", NULL));
    const int64_t shape[2] = {50, 40}, empty[1] = {0};
    quern_call_options rows = QUERN_CALL_OPTIONS_INIT;
    rows.axes = (int[]){1};
    rows.axis_count = 1;
    quern_value like = quern_value_like(QUERN_INT32, 2, shape),
                none = quern_value_like(QUERN_INT32, 1, empty);
    quern_preparation list[] = {{.kernel = sum, .values = &like, .count = 1, .options = &rows},
                                {.kernel = sum, .values = &none, .count = 1}};
    OK(quern_prepare(list, 2, NULL));
    OK(quern_prepare(NULL, 0, NULL));
    FAILS(QUERN_ERROR_INVALID_ARGUMENT, quern_prepare(NULL, 1, NULL));
    list[1].reserved = 1;
    FAILS(QUERN_ERROR_INVALID_ARGUMENT, quern_prepare(list, 2, NULL));
    SAYS("list[1].reserved is 1");
    quern_kernel_release(sum);
    whole_close();
}

/* The first that is done interrupts the rest. */
static void interrupt(void *context, size_t index, size_t done, const quern_error *error)
{
    (void)context, (void)index, (void)error;
    if (done == 1) {
        quern_interrupt(engine);
    }
}

Test(prepare, is_interrupted)
{
    whole_open();
    quern_value like = quern_value_like(QUERN_FLOAT32, 1, thousand), pair[2] = {like, like};
    quern_preparation list[KERNELS] = {{0}};
    for (int k = 0; k < KERNELS; k++) {
        list[k] = (quern_preparation){.kernel = numbered(50 + k), .values = pair, .count = 2};
    }
    quern_prepare_options options = QUERN_PREPARE_OPTIONS_INIT;
    options.threads = 1;
    options.progress = interrupt;
    FAILS(QUERN_ERROR_INTERRUPTED, quern_prepare(list, KERNELS, &options));
    cr_assert_eq(list[0].status, QUERN_OK);
    for (int k = 1; k < KERNELS; k++) {
        cr_assert_eq(list[k].status, QUERN_ERROR_INTERRUPTED);
    }
    OK(quern_prepare(list, KERNELS, NULL));
    for (int k = 0; k < KERNELS; k++) {
        quern_kernel_release(list[k].kernel);
    }
    whole_close();
}
