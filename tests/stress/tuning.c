/* SPDX-License-Identifier: MIT
 *
 * Many threads that ask for tuned calls of the same kernels: one measures, the others wait for it
 * or use what it found, and each checks its own results. Uses only the public interface.
 */
#include <pthread.h>
#include <quern/quern.h>
#include <stdio.h>
#include <stdlib.h>

#define THREADS 8
#define ROUNDS  6
#define COUNT   4000

static quern_engine *engine;
static quern_array *shared_array; /* 0, 1, 2, ... as int32 */
static pthread_barrier_t start;

static void must(quern_status status, const char *doing)
{
    if (status != QUERN_OK) {
        fprintf(stderr, "%s: %s\n", doing, quern_last_error_text());
        exit(1);
    }
}

static void check(quern_array *array, int factor, int offset)
{
    int32_t host[COUNT];
    must(quern_array_read(array, host, sizeof host), "reading");
    for (int k = 0; k < COUNT; k++) {
        if (host[k] != k * factor + offset) {
            fprintf(stderr, "element %d is %d instead of %d\n", k, (int)host[k],
                    k * factor + offset);
            exit(1);
        }
    }
}

/* A kernel that all threads define at once: into an output of the call, then of the thread, and
 * measured again while the others call it. */
static void use(int thread, int round)
{
    char operation[64];
    quern_kernel *kernel;
    quern_array *made = NULL;
    quern_tuning *tuning;
    quern_call_options options = QUERN_CALL_OPTIONS_INIT;
    options.tune = 1;
    options.tune_ms = 20;
    snprintf(operation, sizeof operation, "z = x * %d - %d", round + 2, round);
    must(quern_elementwise(&kernel, engine, "int x", "int z", operation, NULL), "defining");
    must(quern_call_with(kernel, &options, shared_array, &made), "calling a tuned kernel");
    check(made, round + 2, -round);
    quern_value values[] = {quern_value_array(shared_array), quern_value_array(made)};
    if (thread == round) {
        must(quern_tune(&tuning, kernel, values, 2, &options), "tuning");
        quern_tuning_release(tuning);
    }
    must(quern_call_n(kernel, values, 2, &options), "calling it again");
    check(made, round + 2, -round);
    quern_array_release(made);
    quern_kernel_release(kernel);
}

static void *work(void *argument)
{
    for (int round = 0; round < ROUNDS; round++) {
        pthread_barrier_wait(&start);
        use(*(const int *)argument, round);
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
         "the shared array");
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
    quern_array_release(shared_array);
    quern_close(engine);
    printf("%d threads, %d kernels\n", THREADS, ROUNDS);
    return 0;
}
