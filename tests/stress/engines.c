/* SPDX-License-Identifier: MIT
 *
 * Two engines and eight threads: all race for the first call of the same kernels, which are
 * compiled once in the process; kernels are released while others are called, the cache is cleared
 * in between, and launches are interrupted from another thread. Uses only the public interface.
 */
#include <inttypes.h>
#include <pthread.h>
#include <quern/quern.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ENGINES  2
#define THREADS  8 /* the first half uses the first engine */
#define ROUNDS   10
#define COUNT    3000
#define VARIANTS 2 /* dtypes that each round's kernel is called with */

typedef struct place {
    quern_engine *engine;
    quern_array *numbers[VARIANTS]; /* 0, 1, 2, ... as int32 and as float64 */
    quern_kernel *shared[ROUNDS];
} place;

static place places[ENGINES];
static pthread_barrier_t start;
static const quern_dtype dtypes[VARIANTS] = {QUERN_INT32, QUERN_FLOAT64};

static void must(quern_status status, const char *doing)
{
    if (status != QUERN_OK) {
        fprintf(stderr, "%s: %s\n", doing, quern_last_error_text());
        exit(1);
    }
}

static void expect(int good, const char *what)
{
    if (!good) {
        fprintf(stderr, "%s\n", what);
        exit(1);
    }
}

static double element(const void *host, int variant, int k)
{
    return variant == 0 ? ((const int32_t *)host)[k] : ((const double *)host)[k];
}

/* result[k] == k * factor + 1 for all k, and free the array. */
static void check(quern_array *array, int variant, int factor)
{
    static _Thread_local double host[COUNT];
    must(quern_array_read(array, host, COUNT * quern_dtype_size(dtypes[variant])), "reading");
    for (int k = 0; k < COUNT; k++) {
        expect(element(host, variant, k) == k * (double)factor + 1, "a wrong result");
    }
    quern_array_release(array);
}

static void define(quern_kernel **out, place *at, int round)
{
    char operation[64];
    snprintf(operation, sizeof operation, "z = x * %d + 1", round + 2);
    must(quern_elementwise(out, at->engine, "T x", "T z", operation, NULL), "defining");
}

/* All threads at once make the first call of this round's kernel. Half of them call their own
 * definition of it, which they release while others call theirs. */
static void race(place *at, int thread, int round)
{
    quern_kernel *kernel = at->shared[round];
    if (thread % 2 != 0) {
        define(&kernel, at, round);
    }
    pthread_barrier_wait(&start);
    for (int n = 0; n < VARIANTS; n++) {
        int variant = (thread / 2 + n) % VARIANTS;
        quern_array *result = NULL;
        must(quern_call(kernel, at->numbers[variant], &result), "calling");
        check(result, variant, round + 2);
    }
    if (thread % 2 != 0) {
        quern_kernel_release(kernel);
    }
}

/* Views and bound calls of arrays that others use too. */
static void share(place *at, int round)
{
    quern_array *reversed, *result = NULL;
    quern_slice back = {QUERN_SLICE_NONE, QUERN_SLICE_NONE, -1};
    quern_bound *bound;
    must(quern_array_slice(&reversed, at->numbers[0], 1, &back), "slicing");
    must(quern_array_copy(&result, reversed), "copying");
    quern_array_release(reversed);
    must(quern_array_slice(&reversed, result, 1, &back), "slicing");
    quern_array_release(result);
    result = NULL;
    must(quern_bind(&bound, at->shared[round],
                    (quern_value[]){quern_value_array(at->numbers[0]), quern_value_output(&result)},
                    2, NULL),
         "binding");
    must(quern_launch(bound), "launching");
    must(quern_launch(bound), "launching again");
    quern_bound_release(bound);
    check(result, 0, round + 2);
    quern_array_release(reversed);
}

static void *work(void *argument)
{
    int thread = *(const int *)argument;
    place *at = &places[thread * ENGINES / THREADS];
    for (int round = 0; round < ROUNDS; round++) {
        if (thread == round % THREADS) {
            must(quern_cache_clear(NULL, at->engine), "clearing the cache");
        }
        race(at, thread, round);
        share(at, round);
    }
    return NULL;
}

/* ---- interrupts ----------------------------------------------------------------------------- */

static atomic_int ended;

static void *run_for_ever(void *argument)
{
    place *at = argument;
    quern_kernel *endless;
    quern_array *result = NULL;
    must(quern_elementwise(&endless, at->engine, "int x", "int z",
                           "z = 0; while (z >= 0) z = (z + x) & 1", NULL),
         "defining");
    quern_status status = quern_call(endless, at->numbers[0], &result);
    expect(status == QUERN_ERROR_INTERRUPTED && !result, "the loop was not interrupted");
    expect(quern_last_error()->status == QUERN_ERROR_INTERRUPTED, "another's failure was told");
    quern_kernel_release(endless);
    atomic_fetch_add(&ended, 1);
    return NULL;
}

/* Endless loops on one engine are interrupted; the other engine's calls go on. */
static void interrupt_one(void)
{
    pthread_t threads[2];
    for (int k = 0; k < 2; k++) {
        expect(pthread_create(&threads[k], NULL, run_for_ever, &places[0]) == 0, "no thread");
    }
    while (atomic_load(&ended) < 2) {
        quern_array *result = NULL;
        quern_interrupt(places[0].engine);
        must(quern_call(places[1].shared[0], places[1].numbers[0], &result),
             "calling on the other engine");
        check(result, 0, 2);
    }
    for (int k = 0; k < 2; k++) {
        pthread_join(threads[k], NULL);
    }
    quern_array *result = NULL;
    must(quern_call(places[0].shared[0], places[0].numbers[0], &result), "calling after all");
    check(result, 0, 2);
}

/* ---- the whole ------------------------------------------------------------------------------ */

static void open_place(place *at)
{
    static int32_t integers[COUNT];
    static double reals[COUNT];
    for (int k = 0; k < COUNT; k++) {
        reals[k] = integers[k] = k;
    }
    quern_options options = QUERN_OPTIONS_INIT;
    options.device = "soft:2";
    must(quern_open(&at->engine, &options), "opening");
    must(quern_cache_clear(NULL, at->engine), "clearing the cache of the run before");
    for (int variant = 0; variant < VARIANTS; variant++) {
        must(quern_array_from(&at->numbers[variant], at->engine, dtypes[variant], 1,
                              (int64_t[]){COUNT}, variant == 0 ? (void *)integers : (void *)reals),
             "an array");
    }
    for (int round = 0; round < ROUNDS; round++) {
        define(&at->shared[round], at, round);
    }
}

/* Close, and return how many compilations this engine made. The arrays outlive the handle. */
static uint64_t close_place(place *at)
{
    quern_cache_stats stats = {.size = sizeof stats};
    must(quern_cache_get_stats(&stats, at->engine), "asking for the counts");
    quern_close(at->engine);
    for (int round = 0; round < ROUNDS; round++) {
        quern_kernel_release(at->shared[round]);
    }
    for (int variant = 0; variant < VARIANTS; variant++) {
        quern_array_release(at->numbers[variant]);
    }
    return stats.compiled;
}

int main(void)
{
    pthread_t threads[THREADS];
    int numbers[THREADS];
    for (int k = 0; k < ENGINES; k++) {
        open_place(&places[k]);
    }
    pthread_barrier_init(&start, NULL, THREADS);
    for (int k = 0; k < THREADS; k++) {
        numbers[k] = k;
        expect(pthread_create(&threads[k], NULL, work, &numbers[k]) == 0, "no thread");
    }
    for (int k = 0; k < THREADS; k++) {
        pthread_join(threads[k], NULL);
    }
    pthread_barrier_destroy(&start);
    interrupt_one();
    uint64_t compiled = 0;
    for (int k = 0; k < ENGINES; k++) {
        compiled += close_place(&places[k]);
    }
    /* each round's kernel, the engine's own copy of a reversed view, and the endless loop */
    uint64_t expected = ROUNDS * VARIANTS + 2;
    printf("%d engines, %d threads, %" PRIu64 " compilations\n", ENGINES, THREADS, compiled);
    expect(compiled == expected, "something was not compiled exactly once");
    return 0;
}
