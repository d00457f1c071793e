/* SPDX-License-Identifier: MIT
 *
 * Many threads make the same module at once, each its own copy from one compilation, and share a
 * function that they all launch. Uses only the public interface.
 */
#include <inttypes.h>
#include <pthread.h>
#include <quern/quern.h>
#include <stdio.h>
#include <stdlib.h>

#define THREADS 8
#define ROUNDS  6
#define COUNT   256

static quern_engine *engine;
static quern_function *shared; /* of a module that only the function keeps */
static pthread_barrier_t start;

static void must(quern_status status, const char *doing)
{
    if (status != QUERN_OK) {
        fprintf(stderr, "%s: %s\n", doing, quern_last_error_text());
        exit(1);
    }
}

static void require(int condition, const char *what)
{
    if (!condition) {
        fprintf(stderr, "%s\n", what);
        exit(1);
    }
}

/* A source that is new in each round, so that all threads meet at its compilation. */
static quern_module *make(int round)
{
    char source[256];
    quern_module *module;
    snprintf(
        source, sizeof source,
        "__device__ int calls;\n"
        "extern \"C\" __global__ void add(int *x, int n)\n"
        "{ int i = threadIdx.x; if (i < n) x[i] += i + %d; if (i == 0) atomicAdd(&calls, 1); }\n",
        round);
    must(quern_module_new(&module, engine, source, NULL), "making a module");
    return module;
}

static quern_array *zeros(void)
{
    static const int32_t nothing[COUNT];
    quern_array *array;
    must(quern_array_from(&array, engine, QUERN_INT32, 1, (int64_t[]){COUNT}, nothing), "an array");
    return array;
}

static void check(quern_array *array, int32_t factor, int32_t offset)
{
    int32_t host[COUNT];
    must(quern_array_read(array, host, sizeof host), "reading");
    for (int32_t k = 0; k < COUNT; k++) {
        require(host[k] == factor * k + offset, "a result is wrong");
    }
    quern_array_release(array);
}

/* The module of one thread: its global counts only the calls of this thread. */
static void use_own(int round)
{
    quern_module *module = make(round);
    quern_function *add;
    quern_array *x = zeros(), *calls;
    int32_t counted;
    must(quern_module_function(&add, module, "add"), "finding a function");
    must(quern_module_global(&calls, module, "calls", QUERN_INT32, 0, NULL), "finding a global");
    quern_module_release(module);
    for (int k = 0; k < 3; k++) {
        must(quern_function_call(add, &QUERN_GRID(1, COUNT), x, COUNT), "launching");
    }
    quern_function_release(add);
    must(quern_array_read(calls, &counted, sizeof counted), "reading a global");
    require(counted == 3, "another module's calls were counted");
    quern_array_release(calls);
    check(x, 3, 3 * round);
}

static void use_shared(void)
{
    quern_array *x = zeros();
    must(quern_function_call(shared, &QUERN_GRID(1, COUNT), x, COUNT), "launching the shared one");
    check(x, 1, 1000);
    require(quern_function_call(shared, NULL, x) == QUERN_ERROR_ARGUMENT_COUNT, "not refused");
}

static void *work(void *unused)
{
    (void)unused;
    for (int round = 0; round < ROUNDS; round++) {
        pthread_barrier_wait(&start);
        use_own(round);
        use_shared();
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    quern_cache_stats stats = {.size = sizeof stats};
    must(quern_open(&engine, NULL), "opening an engine");
    must(quern_cache_clear(NULL, engine), "clearing the cache");
    quern_module *module = make(1000);
    must(quern_module_function(&shared, module, "add"), "finding a function");
    quern_module_release(module);
    pthread_barrier_init(&start, NULL, THREADS);
    for (int k = 0; k < THREADS; k++) {
        require(pthread_create(&threads[k], NULL, work, NULL) == 0, "no thread");
    }
    for (int k = 0; k < THREADS; k++) {
        pthread_join(threads[k], NULL);
    }
    pthread_barrier_destroy(&start);
    must(quern_cache_get_stats(&stats, engine), "asking for statistics");
    if (stats.compiled != ROUNDS + 1) {
        fprintf(stderr, "%" PRIu64 " compilations instead of %d\n", stats.compiled, ROUNDS + 1);
        return 1;
    }
    quern_function_release(shared);
    quern_close(engine);
    printf("%d threads made and used %d modules each\n", THREADS, ROUNDS);
    return 0;
}
