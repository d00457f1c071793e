/* SPDX-License-Identifier: MIT
 *
 * Threads that prepare the same list at the same time, each with helpers of its own, while others
 * call the kernels. Uses only the public interface.
 */
#include <pthread.h>
#include <quern/quern.h>
#include <stdio.h>
#include <stdlib.h>

enum { KERNELS = 5, THREADS = 4, COUNT = 100 };

static quern_engine *engine;
static quern_kernel *kernels[KERNELS];
static quern_array *ones;
static pthread_barrier_t start;

static void must(quern_status status, const char *doing)
{
    if (status != QUERN_OK) {
        fprintf(stderr, "%s: %s\n", doing, quern_last_error_text());
        exit(1);
    }
}

static void count(void *context, size_t index, size_t done, const quern_error *error)
{
    size_t *last = context;
    (void)index;
    if (error || done != *last + 1) {
        fprintf(stderr, "progress: %zu after %zu: %s\n", done, *last, error ? error->message : "");
        exit(1);
    }
    *last = done;
}

static void prepare(void)
{
    const int64_t shape[1] = {COUNT};
    quern_value like = quern_value_like(QUERN_INT32, 1, shape);
    quern_preparation list[KERNELS] = {{0}};
    size_t last = 0;
    for (int k = 0; k < KERNELS; k++) {
        list[k].kernel = kernels[k];
        list[k].values = &like;
        list[k].count = 1;
    }
    quern_prepare_options options = QUERN_PREPARE_OPTIONS_INIT;
    options.threads = 3;
    options.progress = count;
    options.context = &last;
    must(quern_prepare(list, KERNELS, &options), "preparing");
}

static void call(void)
{
    for (int k = 0; k < KERNELS; k++) {
        quern_array *y = NULL;
        int32_t got[COUNT];
        must(quern_call(kernels[k], ones, &y), "calling");
        must(quern_array_read(y, got, sizeof got), "reading");
        if (got[COUNT - 1] != k + 1) {
            fprintf(stderr, "kernel %d gives %d\n", k, (int)got[COUNT - 1]);
            exit(1);
        }
        quern_array_release(y);
    }
}

static void *work(void *argument)
{
    pthread_barrier_wait(&start);
    (argument ? prepare : call)();
    return NULL;
}

int main(void)
{
    quern_compiler_info compiler = QUERN_COMPILER_INFO_INIT;
    must(quern_compiler_get_info(&compiler, 0), "asking for the compiler");
    if (!compiler.found) {
        fprintf(stderr, "no NVRTC on this machine: %s\n", compiler.problem);
        return 77;
    }
    must(quern_open(&engine, NULL), "opening");
    must(quern_cache_clear(NULL, engine), "clearing the cache");
    must(quern_array_new(&ones, engine, QUERN_INT32, 1, (int64_t[]){COUNT}), "an array");
    must(quern_array_fill(ones, &(int32_t){1}, sizeof(int32_t)), "filling it");
    for (int k = 0; k < KERNELS; k++) {
        char operation[64];
        snprintf(operation, sizeof operation, "y = x + %d", k);
        must(quern_elementwise(&kernels[k], engine, "T x", "T y", operation, NULL), "defining");
    }
    pthread_barrier_init(&start, NULL, THREADS);
    pthread_t threads[THREADS];
    for (int t = 0; t < THREADS; t++) {
        pthread_create(&threads[t], NULL, work, t % 2 ? &threads[t] : NULL);
    }
    for (int t = 0; t < THREADS; t++) {
        pthread_join(threads[t], NULL);
    }
    for (int k = 0; k < KERNELS; k++) {
        quern_kernel_release(kernels[k]);
    }
    quern_array_release(ones);
    quern_close(engine);
    return 0;
}
