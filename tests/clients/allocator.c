/* SPDX-License-Identifier: MIT
 *
 * Quern under somebody else's allocator: a shared library with the interface of PyTorch's pluggable
 * allocators and of RMM (pool.c), over cudaMallocAsync. All memory that Quern's kernels use comes
 * from there and goes back: arrays, outputs, what reductions and scans work in. The library's own
 * count is compared with quern_memory_get_stats().
 *
 * usage: allocator LIBRARY
 */
#include "client.h"
#include "pool.h"

#include <dlfcn.h>

enum { COUNT = 1 << 20, BYTES = COUNT * sizeof(float), STEPS = 20 };

static quern_engine *engine;
static cudaStream_t theirs;
static quern_stream *wrapped;
static quern_call_options on_wrapped = QUERN_CALL_OPTIONS_INIT;
static quern_kernel *twice, *sum, *running;
static pool_stats (*of_pool)(void);
static float first[COUNT], host[COUNT], want[COUNT];

static quern_memory_stats of_engine(void)
{
    quern_memory_stats stats = QUERN_MEMORY_STATS_INIT;
    must(quern_memory_get_stats(&stats, engine));
    return stats;
}

/* Both count the same. */
static void check_same(const char *what)
{
    const pool_stats theirs_now = of_pool();
    const quern_memory_stats ours = of_engine();
    if (ours.used != (uint64_t)theirs_now.bytes || ours.allocations != (uint64_t)theirs_now.live) {
        fprintf(stderr, "the engine counts %d bytes in %d pieces, the library %d in %d\n",
                (int)ours.used, (int)ours.allocations, (int)theirs_now.bytes, theirs_now.live);
        check(0, what);
    }
    check(1, what);
}

static void read_back(quern_array *array)
{
    must(quern_array_read_on(array, host, sizeof host, wrapped));
    must(quern_stream_wait(wrapped));
}

static void arrays_come_from_it(void)
{
    const int64_t count = COUNT;
    quern_array *x, *y = NULL, *total = NULL, *sums = NULL;
    pool_stats now;
    must(quern_array_from(&x, engine, QUERN_FLOAT32, 1, &count, first));
    now = of_pool();
    check(now.live == 1 && now.bytes == BYTES, "an array comes from the library");
    check_same("and both count it");

    must(quern_stream_lead(engine, NULL, theirs));
    must(quern_call_with(twice, &on_wrapped, x, &y));
    now = of_pool();
    check(now.live == 2 && now.last_stream == (void *)theirs,
          "an output comes from it in the order of the call's stream");
    must(quern_call_with(sum, &on_wrapped, y, &total));
    must(quern_call_with(running, &on_wrapped, y, &sums));
    check(of_pool().live > 4, "and so does what reductions and scans work in");
    check_same("both count the same behind kernels");

    float result = -1;
    must(quern_array_read_on(total, &result, sizeof result, wrapped));
    read_back(sums);
    double last = 0;
    for (int k = 0; k < COUNT; k++) {
        last += 2 * (double)first[k];
        want[k] = (float)last;
    }
    check((double)result == last, "a reduction under the allocator");
    check_floats(host, want, COUNT, "a scan under the allocator");
    quern_array_release(total);
    quern_array_release(sums);
    quern_array_release(y);
    must(quern_stream_follow(engine, NULL, theirs));
    quern_array_release(x);
    check_same("both count the same when arrays are released");
    must(quern_memory_trim(engine, 0));
    check(of_pool().live == 0, "a trim gives back what was kept for later launches");
}

/* Each output takes the place of the one before, while the kernels are queued. */
static void memory_goes_round(void)
{
    const int64_t count = COUNT;
    quern_array *x, *y;
    const int before = of_pool().allocated;
    must(quern_array_from(&x, engine, QUERN_FLOAT32, 1, &count, first));
    must(quern_array_copy_on(&y, x, wrapped));
    for (int k = 0; k < STEPS; k++) {
        quern_array *next = NULL;
        must(quern_call_with(twice, &on_wrapped, y, &next));
        quern_array_release(y);
        y = next;
    }
    read_back(y);
    for (int k = 0; k < COUNT; k++) {
        want[k] = first[k] * (1 << STEPS);
    }
    check_floats(host, want, COUNT, "a chain of outputs, each released while it is used");
    check(of_pool().allocated == before + STEPS + 2 && of_pool().live == 2,
          "each was the library's");
    check(of_engine().peak >= 3 * (uint64_t)BYTES, "and the peak counts them");
    quern_array_release(x);
    quern_array_release(y);
}

/* An array goes back where it came from, whatever the allocator is by then. */
static void allocators_change(const quern_allocator *pool)
{
    const int64_t count = COUNT;
    quern_array *old, *own, *out = NULL;
    must(quern_array_from(&old, engine, QUERN_FLOAT32, 1, &count, first));
    must(quern_engine_set_allocator(engine, NULL));
    const int before = of_pool().allocated;
    must(quern_array_copy(&own, old));
    must(quern_call(twice, own, &out));
    check(of_pool().allocated == before, "without an allocator memory comes from the driver");
    check(of_pool().live == 1, "what came from the library before is still there");
    quern_array_release(old);
    check(of_pool().live == 0, "and goes back to it");
    must(quern_engine_set_allocator(engine, pool));
    must(quern_array_read(out, host, sizeof host));
    for (int k = 0; k < COUNT; k++) {
        want[k] = 2 * first[k];
    }
    check_floats(host, want, COUNT, "what came from the driver is still there, too");
    quern_array_release(own);
    quern_array_release(out);
}

int main(int argc, char **argv)
{
    int ordinal;
    quern_allocator pool = QUERN_ALLOCATOR_INIT;
    engine = client_open(&ordinal);
    if (argc != 2) {
        fputs("usage: allocator LIBRARY\n", stderr);
        return 2;
    }
    must(quern_allocator_from_library(&pool, argv[1], "pool_allocate", "pool_deallocate", ordinal));
    must(quern_engine_set_allocator(engine, &pool));
    void *library = dlopen(argv[1], RTLD_NOW);
    *(void **)&of_pool = library ? dlsym(library, "pool_get_stats") : NULL;
    check(of_pool != NULL, "the library is loaded");

    theirs = client_stream();
    must(quern_stream_wrap(&wrapped, engine, theirs));
    on_wrapped.stream = wrapped;
    must(quern_elementwise(&twice, engine, "T x", "T y", "y = 2 * x", NULL));
    must(quern_reduction(&sum, engine, "T x", "T y", "x", "a + b", "y = a", "0", NULL));
    must(quern_scan(&running, engine, "T x", "T y", "x", "a + b", "y = a", NULL, NULL));
    for (int k = 0; k < COUNT; k++) {
        first[k] = (float)(k % 4);
    }

    arrays_come_from_it();
    memory_goes_round();
    allocators_change(&pool);

    quern_kernel_release(twice);
    quern_kernel_release(sum);
    quern_kernel_release(running);
    quern_stream_release(wrapped);
    quern_close(engine);
    const pool_stats last = of_pool();
    check(last.live == 0 && last.bytes == 0, "everything went back");
    check(last.wrong == 0, "each piece with the numbers that it came with");
    check(last.elsewhere == 0 && last.last_device == ordinal, "and on the engine's device");
    cuda(cudaStreamDestroy(theirs));
    return 0;
}
