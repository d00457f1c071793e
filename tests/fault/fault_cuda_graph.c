/* SPDX-License-Identifier: MIT
 *
 * Captures and graphs on the CUDA device, over the stand-in for the driver, which is as strict as
 * the driver in a capture: what reaches it, what must not, and what a driver that fails leaves
 * behind.
 */
#include "support/fake_libcuda.h"
#include "unit/cache/scratch.h"
#include "unit/engine/whole.h"

#include <dlfcn.h>

static fake_cuda *fake;
static quern_stream *stream;
static quern_module *module;
static quern_function *saxpy;

static const char source[] =
    "extern \"C\" __global__ void saxpy(float a, const float *x, const float *y, float *z, int n)\n"
    "{ int i = threadIdx.x; if (i < n) z[i] = a * x[i] + y[i]; }\n";

static void open_fake(void)
{
    scratch_make();
    setenv("QUERN_CUDA", FAKE_FOLDER, 1);
    setenv("QUERN_CACHE_DIR", scratch, 1);
    setenv("QUERN_DEVICE", "cuda", 1);
    setenv("QUERN_NVRTC_CACHE", "0", 1); /* it asks the driver for what the stand-in lacks */
    void *library = dlopen(FAKE_FOLDER "/libcuda.so.1", RTLD_NOW);
    cr_assert_not_null(library, "%s", dlerror());
    fake_cuda_get_function get;
    void *symbol = dlsym(library, "fake_cuda_get");
    memcpy(&get, &symbol, sizeof symbol);
    fake = get();
    whole_open();
    OK(quern_stream_new(&stream, engine));
    OK(quern_module_new(&module, engine, source, NULL));
    OK(quern_module_function(&saxpy, module, "saxpy"));
}

static void close_fake(void)
{
    quern_function_release(saxpy);
    quern_module_release(module);
    quern_stream_release(stream);
    whole_close();
    cr_expect_eq(fake->allocations(), 0, "device memory is left");
    cr_expect_eq(fake->streams(), 0, "streams are left");
    cr_expect_eq(fake->graphs(), 0, "graphs are left");
    cr_expect_eq(fake->retained(0), 0, "the context is left");
    scratch_delete();
}

TestSuite(cuda_graph, .init = open_fake, .fini = close_fake);

static quern_array *floats(float a, float b)
{
    return array_of(QUERN_FLOAT32, SHAPE(2), (float[]){a, b});
}

static quern_status call(quern_array *x, quern_array *z)
{
    quern_launch_options launch = {.size = sizeof launch, .block = {2}, .stream = stream};
    return quern_function_call(saxpy, &launch, 2.0f, x, x, z, 2);
}

static void note(void *context)
{
    ++*(int *)context;
}

Test(cuda_graph, work_reaches_the_graph_and_not_the_gpu)
{
    quern_array *x = floats(1, 2), *z = floats(0, 0), *copy;
    quern_graph *graph;
    float from[2] = {5, 6}, to[2] = {0};
    int called = 0, frees, launches;
    OK(quern_stream_capture(stream));
    frees = fake->calls("cuMemFreeAsync");
    OK(call(x, z));
    OK(quern_array_write_on(x, from, sizeof from, stream));
    OK(call(x, z));
    OK(quern_array_copy_on(&copy, z, stream));
    OK(quern_array_fill_on(z, &(float){7}, 4, stream));
    OK(quern_array_read_on(copy, to, sizeof to, stream));
    OK(quern_stream_call(stream, note, &called));
    quern_array_release(copy);
    cr_expect_eq(fake->calls("cuMemFreeAsync"), frees, "recorded work uses it");
    OK(quern_stream_end_capture(&graph, stream));
    EXPECT(z, float, 0, 0);
    launches = fake->calls("cuGraphLaunch");
    OK(quern_graph_launch(graph, stream));
    cr_expect_eq(fake->calls("cuGraphLaunch"), launches + 1);
    cr_expect_eq(called, 1);
    cr_expect_eq(to[0], 15);
    cr_expect_eq(to[1], 18);
    EXPECT(z, float, 7, 7);
    int waits = fake->calls("cuEventSynchronize");
    quern_graph_release(graph);
    cr_expect_eq(fake->calls("cuEventSynchronize"), waits + 1, "for the last launch");
    quern_array_release(x);
    quern_array_release(z);
}

Test(cuda_graph, launches_wait_for_memory_until_it_is_known_to_be_there)
{
    quern_array *x = floats(1, 2), *z = floats(0, 0);
    quern_graph *graph;
    OK(quern_stream_capture(stream));
    OK(call(x, z));
    OK(quern_stream_end_capture(&graph, stream));
    int waits = fake->calls("cuStreamWaitEvent");
    fake->not_ready = true;
    OK(quern_graph_launch(graph, stream));
    OK(quern_graph_launch(graph, stream));
    cr_expect_eq(fake->calls("cuStreamWaitEvent"), waits + 2);
    fake->not_ready = false;
    OK(quern_graph_launch(graph, stream));
    cr_expect_eq(fake->calls("cuStreamWaitEvent"), waits + 3);
    OK(quern_graph_launch(graph, stream));
    cr_expect_eq(fake->calls("cuStreamWaitEvent"), waits + 3);
    quern_graph_release(graph);
    quern_array_release(x);
    quern_array_release(z);
}

Test(cuda_graph, a_launch_that_nothing_marks_is_waited_for)
{
    quern_array *x = floats(1, 2), *z = floats(0, 0);
    quern_graph *graph;
    OK(quern_stream_capture(stream));
    OK(call(x, z));
    OK(quern_stream_end_capture(&graph, stream));
    int waits = fake->calls("cuStreamSynchronize");
    fake->fail("cuEventRecord", CU_UNKNOWN, 1);
    FAILS(QUERN_ERROR_DRIVER, quern_graph_launch(graph, stream));
    cr_expect_eq(fake->calls("cuStreamSynchronize"), waits + 1, "it uses what the graph holds");
    quern_graph_release(graph);
    quern_array_release(x);
    quern_array_release(z);
}

/* The stand-in stops the program when memory is freed in the order of a stream that is captured,
 * and ends the capture when anybody waits for the whole context. */
Test(cuda_graph, releases_during_a_capture_wait_for_its_end)
{
    quern_array *x = floats(1, 2), *z = floats(0, 0), *copy, *more;
    quern_module *other;
    quern_graph *graph;
    OK(quern_array_copy_on(&copy, x, stream));
    OK(quern_module_new(&other, engine, source, NULL));
    OK(quern_stream_capture(stream));
    OK(call(x, z));
    int frees = fake->calls("cuMemFreeAsync"), unloads = fake->calls("cuModuleUnload");
    quern_array_release(copy);
    quern_module_release(other);
    cr_expect_eq(fake->calls("cuMemFreeAsync"), frees);
    cr_expect_eq(fake->calls("cuModuleUnload"), unloads);
    fake->fail("cuMemAllocFromPoolAsync", CU_OUT_OF_MEMORY, 1);
    int waits = fake->calls("cuCtxSynchronize");
    (void)quern_array_new(&more, engine, QUERN_INT8, SHAPE(100));
    quern_array_release(more);
    cr_expect_eq(fake->calls("cuCtxSynchronize"), waits);
    OK(quern_stream_end_capture(&graph, stream));
    cr_expect_eq(fake->calls("cuModuleUnload"), unloads + 1);
    cr_expect_geq(fake->calls("cuMemFreeAsync"), frees + 1);
    quern_graph_release(graph);
    quern_array_release(x);
    quern_array_release(z);
}

Test(cuda_graph, what_others_do_to_a_capture_is_told)
{
    quern_array *x = floats(1, 2), *z = floats(0, 0);
    quern_graph *graph;
    OK(quern_stream_capture(stream));
    OK(call(x, z));
    cu_result (*synchronize)(void);
    void *library = dlopen(FAKE_FOLDER "/libcuda.so.1", RTLD_NOW);
    void *symbol = dlsym(library, "cuCtxSynchronize");
    memcpy(&synchronize, &symbol, sizeof symbol);
    (void)synchronize();
    FAILS(QUERN_ERROR_DRIVER, quern_stream_end_capture(&graph, stream));
    SAYS("has waited for the whole GPU");
    cr_expect_null(graph);
    OK(quern_stream_wait(stream));
    quern_array_release(x);
    quern_array_release(z);
}

/* Every function of the driver that a capture may come to, failing once. */
static const char *const fragile[] = {
    "cuStreamBeginCapture_v2", "cuLaunchKernel",
    "cuMemAllocFromPoolAsync", "cuMemcpyDtoDAsync_v2",
    "cuMemsetD8Async",         "cuLaunchHostFunc",
    "cuStreamEndCapture",      "cuGraphInstantiateWithFlags",
    "cuEventCreate",           "cuEventRecord",
    "cuStreamWaitEvent",       "cuEventQuery",
    "cuGraphLaunch",
};

static quern_status whole_life(quern_array *x)
{
    quern_array *copy = NULL;
    quern_graph *graph = NULL;
    int called = 0;
    quern_status status = quern_stream_capture(stream);
    if (status == QUERN_OK) {
        status = quern_array_copy_on(&copy, x, stream);
        status = status == QUERN_OK ? call(x, x) : status;
        status = status == QUERN_OK ? quern_array_fill_on(x, &(float){0}, 4, stream) : status;
        status = status == QUERN_OK ? quern_stream_call(stream, note, &called) : status;
        const quern_status ended = quern_stream_end_capture(&graph, stream);
        status = status == QUERN_OK ? ended : status;
    }
    if (status == QUERN_OK) {
        status = quern_graph_launch(graph, stream);
    }
    quern_graph_release(graph);
    quern_array_release(copy);
    return status;
}

Test(cuda_graph, driver_fails_once)
{
    quern_array *x = floats(1, 2);
    OK(whole_life(x));
    int before = fake->allocations();
    for (size_t k = 0; k < sizeof fragile / sizeof *fragile; k++) {
        fake->fail(fragile[k], CU_UNKNOWN, 1);
        quern_status status = whole_life(x);
        fake->fail(fragile[k], CU_SUCCESS, 0);
        cr_expect_neq(status, QUERN_OK, "%s", fragile[k]);
        cr_expect_eq(fake->graphs(), 0, "%s", fragile[k]);
        OK(whole_life(x));
        cr_expect_eq(fake->allocations(), before, "%s", fragile[k]);
    }
    quern_array_release(x);
}
