/* SPDX-License-Identifier: MIT
 *
 * Streams that a program captures itself, as by cudaStreamBeginCapture(), while Quern works on
 * them, over the stand-in for the driver: there memory that is allocated in such a capture is the
 * graph's, and the program is stopped when other memory is freed in it. What Quern works in must be
 * of one capture or of none, nothing may be lost, and what would end the capture is refused by
 * name.
 */
#include "support/fake_libcuda.h"
#include "unit/cache/scratch.h"
#include "unit/engine/whole.h"

#include <dlfcn.h>
#include <quern/interop.h>

enum { GLOBAL, OF_THREAD }; /* modes of a capture */

static void *library;
static fake_cuda *fake;
static quern_kernel *sum;
static quern_array *x, *total;
static cu_stream theirs;
static quern_stream *wrapped;
static quern_call_options on_wrapped = QUERN_CALL_OPTIONS_INIT;

static void find(void *to, const char *name)
{
    void *symbol = dlsym(library, name);
    cr_assert_not_null(symbol, "%s", dlerror());
    memcpy(to, &symbol, sizeof symbol);
}

/* The driver's functions, as the program calls them. */
static cu_result (*stream_new)(cu_stream *, unsigned);
static cu_result (*stream_free)(cu_stream);
static cu_result (*capture_begin)(cu_stream, unsigned);
static cu_result (*capture_end)(cu_stream, cu_graph *);
static cu_result (*graph_free)(cu_graph);
static cu_result (*capture_info)(cu_stream, int *, uint64_t *, cu_graph *, const void **, size_t *);

static void open_fake(void)
{
    scratch_make();
    setenv("QUERN_CUDA", FAKE_FOLDER, 1);
    setenv("QUERN_CACHE_DIR", scratch, 1);
    setenv("QUERN_DEVICE", "cuda", 1);
    setenv("QUERN_NVRTC_CACHE", "0", 1); /* it asks the driver for what the stand-in lacks */
    library = dlopen(FAKE_FOLDER "/libcuda.so.1", RTLD_NOW);
    cr_assert_not_null(library, "%s", dlerror());
    fake_cuda_get_function get;
    find(&get, "fake_cuda_get");
    find(&stream_new, "cuStreamCreate");
    find(&stream_free, "cuStreamDestroy_v2");
    find(&capture_begin, "cuStreamBeginCapture_v2");
    find(&capture_end, "cuStreamEndCapture");
    find(&graph_free, "cuGraphDestroy");
    find(&capture_info, "cuStreamGetCaptureInfo_v2");
    fake = get();
    fake->also = "sum";
    fake->recorded = 1;
    whole_open();
    quern_reduction_options options = QUERN_REDUCTION_OPTIONS_INIT;
    options.name = "sum";
    OK(quern_reduction(&sum, engine, "T x", "T y", "x", "a + b", "y = a", "0", &options));
    OK(quern_array_new(&x, engine, QUERN_FLOAT32, SHAPE(1 << 20)));
    OK(quern_array_new(&total, engine, QUERN_FLOAT32, 0, NULL));
    cr_assert_eq(stream_new(&theirs, CU_STREAM_NON_BLOCKING), CU_SUCCESS);
    OK(quern_stream_wrap(&wrapped, engine, theirs));
    on_wrapped.stream = wrapped;
}

static void close_fake(void)
{
    quern_array_release(x);
    quern_array_release(total);
    quern_kernel_release(sum);
    quern_stream_release(wrapped);
    cr_assert_eq(stream_free(theirs), CU_SUCCESS);
    whole_close();
    cr_expect_eq(fake->allocations(), 0, "device memory is left");
    cr_expect_eq(fake->streams(), 0, "streams are left");
    cr_expect_eq(fake->retained(0), 0, "the context is left");
    scratch_delete();
}

TestSuite(cuda_elsewhere, .init = open_fake, .fini = close_fake);

static void begin(unsigned mode)
{
    cr_assert_eq(capture_begin(theirs, mode), CU_SUCCESS);
}

/* It must be as good as it was at first. */
static void end(void)
{
    cu_graph graph;
    int status = 0;
    cr_assert_eq(capture_info(theirs, &status, NULL, NULL, NULL, NULL), CU_SUCCESS);
    cr_expect_eq(status, 1, "something has ended the capture");
    cr_assert_eq(capture_end(theirs, &graph), CU_SUCCESS);
    cr_assert_eq(graph_free(graph), CU_SUCCESS);
}

static void call(void)
{
    OK(quern_call_with(sum, &on_wrapped, x, total));
}

Test(cuda_elsewhere, a_workspace_belongs_to_one_graph_or_to_none)
{
    quern_stream *second;
    begin(OF_THREAD);
    const int before = fake->allocations();
    call();
    cr_expect_eq(fake->allocations(), before, "it was freed in the capture");
    call();
    end();
    call(); /* makes one for later calls */
    cr_expect_eq(fake->allocations(), before + 1);
    int allocations = fake->calls("cuMemAllocFromPoolAsync");
    call();
    cr_expect_eq(fake->calls("cuMemAllocFromPoolAsync"), allocations, "and they use it");
    begin(OF_THREAD);
    call();
    cr_expect_eq(fake->calls("cuMemAllocFromPoolAsync"), allocations + 1,
                 "but the graph does not: it may be launched beside them");
    OK(quern_stream_wrap(&second, engine, theirs));
    quern_stream_release(second); /* with which workspaces of the stream end: not yet */
    cr_expect_eq(fake->allocations(), before + 1);
    end();
    OK(quern_memory_trim(engine, 0));
    cr_expect_eq(fake->allocations(), before);
}

Test(cuda_elsewhere, kernels_are_loaded_in_any_capture)
{
    begin(GLOBAL);
    call();
    end();
}

Test(cuda_elsewhere, arrays_are_freed_where_they_were_allocated)
{
    quern_array *old, *inside, *kept, *later;
    OK(quern_array_copy_on(&old, x, wrapped));
    const int before = fake->allocations();
    begin(OF_THREAD);
    OK(quern_array_copy_on(&inside, x, wrapped));
    OK(quern_array_copy_on(&kept, x, wrapped));
    quern_array_release(inside);
    cr_expect_eq(fake->allocations(), before + 1, "memory of the graph is freed in it");
    int frees = fake->calls("cuMemFreeAsync");
    quern_array_release(old);
    cr_expect_eq(fake->calls("cuMemFreeAsync"), frees, "other memory is not");
    OK(quern_array_new(&later, engine, QUERN_INT8, SHAPE(4)));
    quern_array_release(later);
    end();
    quern_array_release(kept);
    OK(quern_array_new(&later, engine, QUERN_INT8, SHAPE(4)));
    quern_array_release(later);
    cr_expect_eq(fake->allocations(), before - 1, "it is freed when the capture is over");
}

Test(cuda_elsewhere, closing_frees_what_was_put_off)
{
    quern_array *old;
    OK(quern_array_copy_on(&old, x, wrapped));
    begin(OF_THREAD);
    quern_array_release(old);
    end(); /* and close_fake() counts */
}

Test(cuda_elsewhere, the_next_capture_is_another_one)
{
    quern_array *kept, *later;
    begin(OF_THREAD);
    OK(quern_array_copy_on(&kept, x, wrapped));
    end();
    begin(OF_THREAD);
    quern_array_release(kept); /* the stand-in would stop the program */
    end();
    OK(quern_array_new(&later, engine, QUERN_INT8, SHAPE(4)));
    quern_array_release(later);
}

Test(cuda_elsewhere, what_would_end_it_is_refused)
{
    static const char words[] = "the stream is being captured, and not by Quern";
    quern_event *event;
    quern_graph *graph;
    quern_bound *bound;
    quern_stream *own;
    void *spoiled = NULL;
    OK(quern_stream_new(&own, engine));
    OK(quern_event_new(&event, engine));
    OK(quern_event_record(event, own));
    OK(quern_stream_capture(own));
    OK(quern_stream_end_capture(&graph, own));
    begin(OF_THREAD);
    const quern_value values[] = {quern_value_array(x), quern_value_array(total)};
    FAILS(QUERN_ERROR_INVALID_ARGUMENT, quern_stream_wait(wrapped));
    SAYS(words);
    FAILS(QUERN_ERROR_INVALID_ARGUMENT, quern_event_record(event, wrapped));
    SAYS(words);
    FAILS(QUERN_ERROR_INVALID_ARGUMENT, quern_stream_wait_event(wrapped, event));
    SAYS(words);
    FAILS(QUERN_ERROR_INVALID_ARGUMENT, quern_graph_launch(graph, wrapped));
    SAYS(words);
    FAILS(QUERN_ERROR_INVALID_ARGUMENT, quern_stream_capture(wrapped));
    SAYS(words);
    FAILS(QUERN_ERROR_INVALID_ARGUMENT, quern_bind(&bound, sum, values, 2, &on_wrapped));
    SAYS(words);
    FAILS(QUERN_ERROR_INVALID_ARGUMENT, quern_stream_follow(engine, NULL, theirs));
    SAYS("one of the two streams is being captured");
    FAILS(QUERN_ERROR_INVALID_ARGUMENT, quern_stream_lead(engine, own, theirs));
    SAYS("one of the two streams is being captured");
    FAILS(QUERN_ERROR_INVALID_ARGUMENT,
          quern_stream_follow(engine, wrapped, quern_stream_handle(own)));
    SAYS("one of the two streams is being captured");
    OK(quern_stream_follow(engine, wrapped, theirs));
    fake->fail("cuMemAllocFromPoolAsync", CU_OUT_OF_MEMORY, 1);
    int waits = fake->calls("cuCtxSynchronize");
    FAILS(QUERN_ERROR_DEVICE_MEMORY, quern_array_copy_on((quern_array **)&spoiled, x, wrapped));
    cr_expect_eq(fake->calls("cuCtxSynchronize"), waits, "nobody waits for all of the GPU");
    end();
    OK(quern_stream_wait(wrapped));
    OK(quern_stream_follow(engine, NULL, theirs));
    quern_graph_release(graph);
    quern_event_release(event);
    quern_stream_release(own);
}
