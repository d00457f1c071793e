/* SPDX-License-Identifier: MIT
 *
 * Several GPUs, over the stand-in for the driver: copies between them and the software device, the
 * caller's context as it was, allocators that are called in theirs, what a driver that fails leaves
 * behind, and a process that is forked.
 */
#include "support/fake_libcuda.h"
#include "unit/cache/scratch.h"
#include "unit/engine/whole.h"

#include <dlfcn.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

static fake_cuda *fake;
static cu_result (*context_get)(cu_context *);
static cu_result (*context_set)(cu_context);
static quern_engine *second, *beside, *soft; /* on cuda:1, on cuda:0 too */

static void find(void *to, void *library, const char *name)
{
    void *symbol = dlsym(library, name);
    cr_assert_not_null(symbol, "%s", name);
    memcpy(to, &symbol, sizeof symbol);
}

static quern_engine *open_one(const char *device)
{
    quern_options o = QUERN_OPTIONS_INIT;
    quern_engine *e;
    o.device = device;
    OK(quern_open(&e, &o));
    return e;
}

static void open_all(void)
{
    scratch_make();
    setenv("QUERN_CUDA", FAKE_FOLDER, 1);
    setenv("QUERN_CACHE_DIR", "off", 1);
    setenv("QUERN_NVRTC_CACHE", "0", 1); /* it asks the driver for what the stand-in lacks */
    void *library = dlopen(FAKE_FOLDER "/libcuda.so.1", RTLD_NOW);
    cr_assert_not_null(library, "%s", dlerror());
    fake_cuda_get_function get;
    find(&get, library, "fake_cuda_get");
    find(&context_get, library, "cuCtxGetCurrent");
    find(&context_set, library, "cuCtxSetCurrent");
    fake = get();
    engine = open_one("cuda:0");
    second = open_one("cuda:GPU-00000000-0001-0203-0405-060708091001");
    beside = open_one("cuda:0");
    soft = open_one("soft");
}

static void close_all(void)
{
    quern_close(soft);
    quern_close(beside);
    quern_close(second);
    whole_close();
    cr_expect_eq(fake->allocations(), 0, "memory is left");
    cr_expect_eq(fake->retained(0) + fake->retained(1), 0, "a context is left");
    scratch_delete();
}

TestSuite(gpus, .init = open_all, .fini = close_all);

static void plain_memory(void)
{
    setenv("FAKE_CUDA_POOLS", "0", 1);
    open_all();
}

static void unconnected(void)
{
    setenv("FAKE_CUDA_PEERS", "0", 1);
    open_all();
}

TestSuite(plain_gpus, .init = plain_memory, .fini = close_all);
TestSuite(unconnected_gpus, .init = unconnected, .fini = close_all);

static const int32_t numbers[4] = {4, 3, 2, 1};

static quern_array *numbers_on(quern_engine *e, quern_memory memory)
{
    quern_array *a;
    OK(quern_array_new_in(&a, e, memory, QUERN_INT32, SHAPE(4)));
    OK(quern_array_write(a, numbers, sizeof numbers));
    return a;
}

/* From each engine in each kind of memory to each. */
static void check_copies(bool direct)
{
    quern_engine *const all[] = {engine, second, beside, soft};
    for (int from = 0; from < 4; from++) {
        for (int m = QUERN_MEMORY_DEVICE; m <= QUERN_MEMORY_MANAGED; m++) {
            quern_array *a = numbers_on(all[from], (quern_memory)m), *b;
            for (int to = 0; to < 4; to++) {
                const int peer = fake->calls("cuMemcpyPeerAsync");
                OK(quern_array_copy_to(&b, a, all[to]));
                EXPECT(b, int32_t, 4, 3, 2, 1);
                const bool between =
                    m == QUERN_MEMORY_DEVICE && from != 3 && to != 3 && (from == 1) != (to == 1);
                cr_expect_eq(fake->calls("cuMemcpyPeerAsync") - peer, between, "%d to %d", from,
                             to);
                cr_expect(!between || fake->direct == direct, "%d to %d", from, to);
                quern_array_release(b);
            }
            quern_array_release(a);
        }
    }
}

Test(gpus, copy_from_each_to_each)
{
    check_copies(true);
    cr_expect_eq(fake->calls("cuMemPoolSetAccess"), 3, "each pool, to the other GPU, once");
    cr_expect_eq(fake->calls("cuCtxEnablePeerAccess"), 0);
}

Test(plain_gpus, copy_from_each_to_each)
{
    check_copies(true);
    cr_expect_eq(fake->calls("cuMemPoolSetAccess"), 0);
}

Test(unconnected_gpus, copy_from_each_to_each)
{
    check_copies(false);
    cr_expect_eq(fake->calls("cuMemPoolSetAccess"), 0);
}

Test(gpus, copy_without_waiting)
{
    quern_array *a = numbers_on(engine, QUERN_MEMORY_DEVICE), *b;
    const int waits = fake->calls("cuStreamSynchronize") + fake->calls("cuCtxSynchronize");
    const int follows = fake->calls("cuStreamWaitEvent");
    OK(quern_array_copy_to(&b, a, second));
    cr_expect_eq(fake->calls("cuStreamSynchronize") + fake->calls("cuCtxSynchronize"), waits);
    cr_expect_eq(fake->calls("cuStreamWaitEvent") - follows, 2, "each stream waits for the other");
    quern_array_release(a);
    quern_array_release(b);
}

/* ---- the caller's context ------------------------------------------------------------------- */

Test(gpus, leave_the_callers_context)
{
    for (int k = 0; k < 3; k++) {
        cu_context mine = k == 2 ? NULL : fake->primary(k), now;
        context_set(mine);
        quern_array *a = numbers_on(second, QUERN_MEMORY_PINNED), *b, *c;
        OK(quern_array_copy_to(&b, a, second));
        quern_memory_stats stats = QUERN_MEMORY_STATS_INIT;
        OK(quern_memory_get_stats(&stats, second));
        OK(quern_memory_trim(second, 0));
        context_get(&now);
        cr_expect_eq(now, mine);
        context_set(fake->primary(1));
        OK(quern_array_copy_to(&c, b, engine));
        quern_array_release(a);
        quern_array_release(b);
        quern_array_release(c);
        context_get(&now);
        cr_expect_eq(now, fake->primary(1));
    }
    context_set(NULL);
}

static void *allocate_there(void *context, size_t bytes, size_t alignment, void *stream)
{
    (void)stream;
    cu_context now;
    context_get(&now);
    cr_expect_eq(now, context, "called in the device's context");
    return aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}

static void release_there(void *context, void *pointer, size_t bytes, void *stream)
{
    (void)bytes, (void)stream;
    cu_context now;
    context_get(&now);
    cr_expect_eq(now, context, "called in the device's context");
    free(pointer);
}

Test(gpus, call_allocators_in_their_context)
{
    quern_allocator a = {sizeof a, 0, allocate_there, release_there, fake->primary(1)};
    OK(quern_engine_set_allocator(second, &a));
    context_set(fake->primary(0));
    quern_array *x = numbers_on(second, QUERN_MEMORY_DEVICE);
    EXPECT(x, int32_t, 4, 3, 2, 1);
    quern_array_release(x);
    cu_context now;
    context_get(&now);
    cr_expect_eq(now, fake->primary(0));
    context_set(NULL);
}

/* ---- memory --------------------------------------------------------------------------------- */

Test(gpus, tell_who_holds_their_memory)
{
    quern_array *a = numbers_on(engine, QUERN_MEMORY_DEVICE), *huge;
    quern_array *b = numbers_on(beside, QUERN_MEMORY_DEVICE);
    quern_array *c = numbers_on(beside, QUERN_MEMORY_DEVICE);
    quern_array_release(c);
    const int trims = fake->calls("cuMemPoolTrimTo");
    FAILS(QUERN_ERROR_DEVICE_MEMORY,
          quern_array_new(&huge, engine, QUERN_INT8, SHAPE((int64_t)1 << 40)));
    SAYS("1000 of the GPU's 2000 are free; this engine uses 16 bytes in 1 piece; other "
         "engines of this process have 16");
    cr_expect_geq(fake->calls("cuMemPoolTrimTo") - trims, 2, "the other engine's pool, too");
    quern_array_release(a);
    quern_array_release(b);
}

Test(gpus, get_what_their_pools_keep)
{
    static const char *const symbols[] = {"cuMemAllocFromPoolAsync", "cuMemHostAlloc",
                                          "cuMemAllocManaged"};
    static const quern_memory kinds[] = {QUERN_MEMORY_DEVICE, QUERN_MEMORY_PINNED,
                                         QUERN_MEMORY_MANAGED};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        const int trims = fake->calls("cuMemPoolTrimTo");
        quern_array_release(numbers_on(engine, QUERN_MEMORY_DEVICE));
        fake->fail(symbols[k], CU_OUT_OF_MEMORY, 1);
        quern_array_release(numbers_on(engine, kinds[k]));
        cr_expect_gt(fake->calls("cuMemPoolTrimTo"), trims, "%s", symbols[k]);
    }
}

/* Memory goes back to an allocator that opens an engine meanwhile, as others may on any thread. */
static void *take_plain(void *context, size_t bytes, size_t alignment, void *handle)
{
    (void)context, (void)handle;
    return aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}

static void open_and_free(void *context, void *pointer, size_t bytes, void *handle)
{
    (void)bytes, (void)handle;
    quern_close(open_one("cuda:0"));
    ++*(int *)context;
    free(pointer);
}

Test(gpus, give_back_without_a_lock)
{
    int freed = 0;
    const quern_allocator allocator = {sizeof allocator, 0, take_plain, open_and_free, &freed};
    quern_array *x, *y = NULL, *huge;
    quern_kernel *sum;
    OK(quern_engine_set_allocator(soft, &allocator));
    OK(quern_array_new(&x, soft, QUERN_INT64, SHAPE(200000)));
    OK(quern_array_fill(x, &(int64_t){1}, 8));
    OK(quern_reduction(&sum, soft, "T x", "T y", "x", "a + b", "y = a", "0", NULL));
    OK(quern_call(sum, x, &y)); /* several blocks: their workspace is kept */
    OK(quern_engine_set_allocator(soft, NULL));
    FAILS(QUERN_ERROR_DEVICE_MEMORY,
          quern_array_new(&huge, soft, QUERN_INT8, SHAPE((int64_t)1 << 47)));
    cr_expect_eq(freed, 1);
    quern_kernel_release(sum);
    quern_array_release(x);
    quern_array_release(y);
}

/* To wait for a whole context ends each capture in it, whoever has begun it: the stand-in says so
 * when the capture ends. */
Test(gpus, leave_the_captures_of_other_engines_alone)
{
    static const char source[] = "extern \"C\" __global__ void saxpy() {}";
    quern_stream *captured;
    quern_graph *graph;
    quern_module *module;
    quern_array *none;
    quern_engine *third = open_one("cuda:0");
    OK(quern_module_new(&module, engine, source, NULL));
    OK(quern_stream_new(&captured, beside));
    OK(quern_stream_capture(captured));
    const int waits = fake->calls("cuCtxSynchronize"), unloads = fake->calls("cuModuleUnload");
    FAILS(QUERN_ERROR_INVALID_ARGUMENT, quern_synchronize(engine));
    SAYS("quern_synchronize: a stream of cuda:0 is being captured");
    FAILS(QUERN_ERROR_INVALID_ARGUMENT, quern_memory_trim(engine, 0));
    SAYS("quern_memory_trim: a stream of cuda:0 is being captured");
    OK(quern_synchronize(second));
    fake->fail("cuMemAllocFromPoolAsync", CU_OUT_OF_MEMORY, 1);
    FAILS(QUERN_ERROR_DEVICE_MEMORY, quern_array_new(&none, engine, QUERN_INT8, SHAPE(8)));
    fake->fail("cuMemHostAlloc", CU_OUT_OF_MEMORY, 1);
    FAILS(QUERN_ERROR_DEVICE_MEMORY,
          quern_array_new_in(&none, engine, QUERN_MEMORY_PINNED, QUERN_INT8, SHAPE(8)));
    quern_module_release(module);
    quern_close(third);
    cr_expect_eq(fake->calls("cuCtxSynchronize"), waits + 1, "of the second GPU");
    cr_expect_eq(fake->calls("cuModuleUnload"), unloads);
    OK(quern_stream_end_capture(&graph, captured));
    cr_expect_eq(fake->calls("cuModuleUnload"), unloads + 1);
    OK(quern_synchronize(engine));
    quern_graph_release(graph);
    quern_stream_release(captured);
}

Test(gpus, count_what_the_pool_holds)
{
    quern_array *a = numbers_on(engine, QUERN_MEMORY_DEVICE);
    quern_array *m = numbers_on(engine, QUERN_MEMORY_MANAGED);
    quern_array_release(numbers_on(engine, QUERN_MEMORY_DEVICE));
    quern_memory_stats s = QUERN_MEMORY_STATS_INIT;
    OK(quern_memory_get_stats(&s, engine));
    cr_expect_eq(s.used, 32);
    cr_expect_eq(s.held, 48);
    cr_expect_eq(s.peak, 48);
    OK(quern_memory_trim(engine, 0));
    OK(quern_memory_get_stats(&s, engine));
    cr_expect_eq(s.held, 32);
    quern_array_release(m);
    quern_array_release(a);
}

/* ---- failures of the driver ----------------------------------------------------------------- */

/* Each function that a copy between GPUs may come to, failing once: an error or a copy, and nothing
 * that is left over. */
Test(gpus, survive_a_driver_that_fails_once)
{
    static const struct {
        const char *name;
        bool survived;
    } fragile[] = {
        {"cuDeviceCanAccessPeer", true},    {"cuMemPoolSetAccess", true},
        {"cuEventCreate", false},           {"cuEventRecord", false},
        {"cuStreamWaitEvent", false},       {"cuMemcpyPeerAsync", false},
        {"cuMemAllocFromPoolAsync", false}, {"cuCtxSetCurrent", false},
    };
    for (size_t k = 0; k < sizeof fragile / sizeof *fragile; k++) {
        quern_engine *e = open_one("cuda:1");
        quern_array *a = numbers_on(engine, QUERN_MEMORY_DEVICE), *b;
        const int before = fake->calls(fragile[k].name);
        fake->fail(fragile[k].name, CU_UNKNOWN, 1);
        const quern_status status = quern_array_copy_to(&b, a, e);
        cr_expect_gt(fake->calls(fragile[k].name), before, "%s was not called", fragile[k].name);
        cr_expect_eq(status == QUERN_OK, fragile[k].survived, "%s: %s", fragile[k].name,
                     quern_last_error_text());
        cr_expect_eq(status == QUERN_OK, b != NULL);
        quern_array_release(b);
        OK(quern_array_copy_to(&b, a, e));
        EXPECT(b, int32_t, 4, 3, 2, 1);
        quern_array_release(b);
        quern_array_release(a);
        quern_close(e);
    }
}

/* ---- fork() --------------------------------------------------------------------------------- */

/* In a child nothing is said to Criterion: what does not hold is printed, and ends it. */
#define HOLDS(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "in the child: %s: %s", #condition, quern_last_error_text());          \
            _exit(1);                                                                              \
        }                                                                                          \
    } while (0)
#define REFUSED(status, call) HOLDS((call) == (status))
#define SAID(part)            HOLDS(strstr(quern_last_error_text(), (part)))

/* What a child does with what its parent had; the stand-in ends it when it is asked anything. */
static void be_a_child(quern_array *a, quern_array *pinned, quern_stream *stream,
                       quern_stream *wrapped, quern_stream *captured)
{
    quern_graph *graph;
    quern_array *b;
    quern_engine *e;
    int32_t host[4];
    quern_options cuda = QUERN_OPTIONS_INIT;
    cuda.device = "cuda";
    REFUSED(QUERN_ERROR_DRIVER, quern_array_read(a, host, sizeof host));
    SAID("forked after its parent had used the GPU");
    REFUSED(QUERN_ERROR_DRIVER, quern_array_new(&b, engine, QUERN_INT8, SHAPE(1)));
    REFUSED(QUERN_ERROR_DRIVER, quern_array_copy(&b, a));
    REFUSED(QUERN_ERROR_DRIVER, quern_array_copy_to(&b, a, second));
    REFUSED(QUERN_ERROR_DRIVER, quern_stream_wait(stream));
    REFUSED(QUERN_ERROR_INVALID_ARGUMENT, quern_synchronize(engine)); /* beside the capture */
    REFUSED(QUERN_ERROR_DRIVER, quern_synchronize(second));
    REFUSED(QUERN_ERROR_DRIVER, quern_memory_trim(second, 0));
    const quern_allocator plain = {sizeof plain, 0, take_plain, open_and_free, NULL};
    HOLDS(quern_engine_set_allocator(engine, &plain) == QUERN_OK);
    REFUSED(QUERN_ERROR_DRIVER, quern_array_new(&b, engine, QUERN_INT8, SHAPE(1)));
    SAID("forked after its parent had used the GPU");
    REFUSED(QUERN_ERROR_DRIVER, quern_array_copy_on(&b, a, wrapped));
    SAID("forked after its parent had used the GPU");
    REFUSED(QUERN_ERROR_DRIVER, quern_stream_wait(wrapped));
    REFUSED(QUERN_ERROR_DRIVER, quern_stream_end_capture(&graph, captured));
    quern_stream_release(wrapped);
    quern_stream_release(captured);
    quern_device_info info = QUERN_DEVICE_INFO_INIT, infos[3] = {QUERN_DEVICE_INFO_INIT};
    REFUSED(QUERN_ERROR_DRIVER, quern_device_get_info(&info, engine));
    quern_memory_stats stats = QUERN_MEMORY_STATS_INIT;
    HOLDS(quern_memory_get_stats(&stats, engine) == QUERN_OK);
    size_t count;
    HOLDS(quern_device_list(&count, infos, 3) == QUERN_OK);
    HOLDS(count == 2);
    HOLDS(strstr(infos[0].note, "before this process was forked"));
    REFUSED(QUERN_ERROR_NO_DEVICE, quern_open(&e, &cuda));
    SAID("before this process was forked, which CUDA does not survive");
    cuda.device = "auto";
    HOLDS(quern_open(&e, &cuda) == QUERN_OK); /* the software device, then */
    HOLDS(quern_array_new(&b, e, QUERN_INT8, SHAPE(1)) == QUERN_OK);
    quern_array_release(b);
    quern_close(e);
    quern_array_release(a);
    quern_array_release(pinned);
    quern_stream_release(stream);
    quern_close(beside);
    quern_close(second);
    quern_close(soft);
    quern_close(engine);
}

Test(gpus, are_refused_in_the_child_of_fork)
{
    quern_array *a = numbers_on(engine, QUERN_MEMORY_DEVICE);
    quern_array *pinned = numbers_on(engine, QUERN_MEMORY_PINNED);
    quern_array_release(numbers_on(engine, QUERN_MEMORY_PINNED)); /* kept for later */
    quern_stream *stream;
    OK(quern_stream_new(&stream, engine));
    quern_stream *wrapped, *captured;
    OK(quern_stream_wrap(&wrapped, engine, quern_stream_handle(stream)));
    OK(quern_stream_new(&captured, beside));
    OK(quern_stream_capture(captured));
    const pid_t child = fork();
    if (child == 0) {
        be_a_child(a, pinned, stream, wrapped, captured);
        _exit(0);
    }
    quern_stream_release(wrapped);
    quern_stream_release(captured);
    int status;
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the child ended with %x", status);
    EXPECT(a, int32_t, 4, 3, 2, 1);
    quern_stream_release(stream);
    quern_array_release(a);
    quern_array_release(pinned);
}
