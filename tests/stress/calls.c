/* SPDX-License-Identifier: MIT
 *
 * Many threads, one engine: they share kernels, arrays and the cache, meet at the same compilation,
 * and each checks its own results. Uses only the public interface.
 */
#include <inttypes.h>
#include <pthread.h>
#include <quern/quern.h>
#include <stdio.h>
#include <stdlib.h>

#define THREADS 8
#define ROUNDS  12
#define COUNT   1000

static quern_engine *engine;
static quern_array *shared_array; /* 0, 1, 2, ... as int32 */
static quern_kernel *add;         /* generic: its specializations are compiled while it is in use */
static pthread_barrier_t start;

static void must(quern_status status, const char *doing)
{
    if (status != QUERN_OK) {
        fprintf(stderr, "%s: %s\n", doing, quern_last_error_text());
        exit(1);
    }
}

/* result[k] == k * factor + offset for all k, and free the array. */
static void check(quern_array *array, int64_t factor, int64_t offset)
{
    int32_t host[COUNT];
    must(quern_array_read(array, host, sizeof host), "reading");
    for (int64_t k = 0; k < COUNT; k++) {
        if (host[k] != k * factor + offset) {
            fprintf(stderr, "element %" PRId64 " is %" PRId32 " instead of %" PRId64 "\n", k,
                    host[k], k * factor + offset);
            exit(1);
        }
    }
    quern_array_release(array);
}

/* The shared kernel with the shared array; and with arrays of another dtype in between. */
static void use_shared(int64_t thread)
{
    quern_array *sum = NULL, *floats, *float_sum = NULL;
    must(quern_call(add, shared_array, thread, &sum), "calling the shared kernel");
    check(sum, 1, thread);

    must(quern_array_new(&floats, engine, thread % 2 ? QUERN_FLOAT32 : QUERN_FLOAT64, 1,
                         (int64_t[]){COUNT}),
         "a new array");
    must(quern_array_fill(floats, &(double){0}, quern_dtype_size(quern_array_dtype(floats))),
         "filling it");
    must(quern_call(add, floats, 1, &float_sum), "calling it with floats");
    quern_array_release(floats);
    quern_array_release(float_sum);
}

/* A kernel that all threads define at once, and that is new in each round. */
static void use_new(int round)
{
    char operation[64];
    quern_kernel *kernel;
    quern_array *result = NULL;
    snprintf(operation, sizeof operation, "z = x * %d + %d", round + 2, round);
    must(quern_elementwise(&kernel, engine, "int x", "int z", operation, NULL), "defining");
    must(quern_call(kernel, shared_array, &result), "calling a new kernel");
    quern_kernel_release(kernel);
    check(result, round + 2, round);
}

/* Failures are told apart: each thread sees its own. */
static void fail(int64_t thread)
{
    char in[32];
    quern_kernel *kernel;
    snprintf(in, sizeof in, "wrong%d x", (int)thread);
    quern_status status = quern_elementwise(&kernel, engine, in, "int z", "z = x", NULL);
    const quern_error *error = quern_last_error();
    if (status != QUERN_ERROR_SIGNATURE || error->end != 6 || error->text[5] != in[5]) {
        fprintf(stderr, "thread %d was told of another's error: %s\n", (int)thread,
                quern_last_error_text());
        exit(1);
    }
}

static void *work(void *argument)
{
    int64_t thread = *(const int *)argument;
    for (int round = 0; round < ROUNDS; round++) {
        pthread_barrier_wait(&start);
        use_new(round);
        use_shared(thread);
        fail(thread);
    }
    return NULL;
}

int main(void)
{
    int32_t host[COUNT];
    pthread_t threads[THREADS];
    int numbers[THREADS];
    for (int k = 0; k < COUNT; k++) {
        host[k] = k;
    }
    must(quern_open(&engine, NULL), "opening");
    must(quern_cache_clear(NULL, engine), "clearing the cache of the run before");
    must(quern_array_from(&shared_array, engine, QUERN_INT32, 1, (int64_t[]){COUNT}, host),
         "an array");
    must(quern_elementwise(&add, engine, "T x, T y", "T z", "z = x + y", NULL), "defining");

    pthread_barrier_init(&start, NULL, THREADS);
    for (int k = 0; k < THREADS; k++) {
        numbers[k] = k;
        if (pthread_create(&threads[k], NULL, work, &numbers[k]) != 0) {
            return 1;
        }
    }
    for (int k = 0; k < THREADS; k++) {
        pthread_join(threads[k], NULL);
    }
    pthread_barrier_destroy(&start);

    quern_cache_stats stats = {.size = sizeof stats};
    must(quern_cache_get_stats(&stats, engine), "asking for the counts");
    quern_kernel_release(add);
    quern_array_release(shared_array);
    quern_close(engine);
    printf("%d threads, %" PRIu64 " compilations\n", THREADS, stats.compiled);
    if (stats.compiled > ROUNDS + 3) { /* each round's kernel, and add for three dtypes */
        fprintf(stderr, "one thing was compiled more than once\n");
        return 1;
    }
    return 0;
}
