/* SPDX-License-Identifier: MIT
 *
 * Memory of streams that a program captures itself, as by cudaStreamBeginCapture(), while Quern
 * works on them, over the stand-in for the driver: it stops the program when memory is freed in the
 * order of such a stream. What a reduction works in must be of one graph or of none, and nothing
 * may be lost. fault_cuda_other has the rest.
 */
#include "support/fake_libcuda.h"
#include "unit/cache/scratch.h"
#include "unit/engine/whole.h"

#include <dlfcn.h>
#include <time.h>

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
static cu_result (*capture_info)(cu_stream, unsigned *, uint64_t *, cu_graph *, const void **,
                                 size_t *);

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
    unsigned status = 0;
    cr_assert_eq(capture_info(theirs, &status, NULL, NULL, NULL, NULL), CU_SUCCESS);
    cr_expect_eq(status, 1, "something has ended the capture");
    cr_assert_eq(capture_end(theirs, &graph), CU_SUCCESS);
    cr_assert_eq(graph_free(graph), CU_SUCCESS);
}

static void call(void)
{
    OK(quern_call_with(sum, &on_wrapped, x, total));
}

/* What a graph held is let go on a thread. */
static void expect_allocations(int wanted)
{
    for (int k = 0; k < 2000 && fake->allocations() != wanted; k++) {
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    cr_expect_eq(fake->allocations(), wanted, "%d", fake->allocations());
}

/* Its owner may have ended a stream by the time that the last hold on it goes: a driver that is
 * asked about it then may crash. */
Test(cuda_elsewhere, a_stream_that_is_let_go_is_not_asked_about)
{
    quern_stream *again;
    OK(quern_stream_wrap(&again, engine, theirs));
    const int asked = fake->calls("cuStreamGetCaptureInfo_v2");
    quern_stream_release(again);
    cr_expect_eq(fake->calls("cuStreamGetCaptureInfo_v2"), asked);
}

Test(cuda_elsewhere, a_workspace_belongs_to_one_graph_or_to_none)
{
    quern_stream *second;
    begin(OF_THREAD);
    const int before = fake->allocations();
    call();
    call();
    cr_expect_eq(fake->allocations(), before + 2, "the graph has one for each");
    end();
    expect_allocations(before);
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
    cr_expect_eq(fake->allocations(), before + 2);
    end();
    expect_allocations(before);
    OK(quern_memory_trim(engine, 0));
    cr_expect_eq(fake->allocations(), before);
}

Test(cuda_elsewhere, kernels_are_loaded_in_any_capture)
{
    begin(GLOBAL);
    call();
    end();
}

Test(cuda_elsewhere, closing_frees_what_was_put_off)
{
    quern_array *old;
    cu_graph graph;
    OK(quern_array_copy_on(&old, x, wrapped));
    begin(OF_THREAD);
    quern_array_release(old);
    cr_assert_eq(capture_end(theirs, &graph), CU_SUCCESS);
    quern_array_release(x);
    quern_array_release(total);
    quern_kernel_release(sum);
    quern_stream_release(wrapped);
    whole_close();
    cr_expect_eq(fake->allocations(), 0, "although the graph is there");
    cr_expect_eq(fake->retained(0), 0);
    x = total = NULL;
    sum = NULL;
    wrapped = NULL;
    whole_open();
    cr_assert_eq(graph_free(graph), CU_SUCCESS);
}

Test(cuda_elsewhere, the_next_capture_is_another_one)
{
    quern_array *kept, *old;
    const int before = fake->allocations();
    begin(OF_THREAD);
    OK(quern_array_copy_on(&kept, x, wrapped));
    end();
    OK(quern_array_copy_on(&old, x, wrapped));
    begin(OF_THREAD);
    quern_array_release(kept); /* the stand-in would stop the program */
    quern_array_release(old);
    end();
    expect_allocations(before);
}
