/* SPDX-License-Identifier: MIT
 *
 * What python/bench/call.py compares with: the same calls from C, in the same process. In: rounds.
 * Out: the least nanoseconds of one call over some batches. The thing to know: call.py compiles
 * this file when it runs and loads it by ctypes, so that it uses the library that the extension
 * uses.
 */
#include <quern/interop.h>
#include <quern/quern.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static quern_engine *engine;
static quern_kernel *kernel;
static quern_array *own[3];
static quern_dl_tensor bare[3];

static void check(quern_status status)
{
    if (status != QUERN_OK) {
        fprintf(stderr, "%s", quern_last_error_text());
        exit(1);
    }
}

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

void floor_open(const char *device, const char *operation)
{
    static const int64_t shape[] = {0};
    quern_options options = QUERN_OPTIONS_INIT;
    options.device = device;
    check(quern_open(&engine, &options));
    check(quern_elementwise(&kernel, engine, "T x, T y", "T z", operation, NULL));
    for (int k = 0; k < 3; k++) {
        check(quern_array_new(&own[k], engine, QUERN_FLOAT32, 1, shape));
        check(quern_array_to_dltensor(&bare[k], own[k]));
    }
}

static void call_given(void)
{
    check(quern_call(kernel, own[0], own[1], own[2]));
}

static void call_allocated(void)
{
    quern_array *z = NULL;
    check(quern_call(kernel, own[0], own[1], &z));
    quern_array_release(z);
}

static void call_wrapped(void)
{
    quern_array *a[3];
    for (int k = 0; k < 3; k++) {
        check(quern_array_from_dltensor(&a[k], engine, &bare[k], 0, NULL, NULL));
    }
    check(quern_call(kernel, a[0], a[1], a[2]));
    for (int k = 0; k < 3; k++) {
        quern_array_release(a[k]);
    }
}

/* `what`: 0 output given, 1 output allocated, 2 three tensors wrapped first. */
double floor_call(int what, int rounds)
{
    void (*const calls[])(void) = {call_given, call_allocated, call_wrapped};
    const double begin = now_ns();
    for (int k = 0; k < rounds; k++) {
        calls[what]();
    }
    const double ns = (now_ns() - begin) / rounds;
    check(quern_synchronize(engine));
    return ns;
}
