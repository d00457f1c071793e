/* SPDX-License-Identifier: MIT
 *
 * Streams of another library that it captures itself, as PyTorch does for its CUDA graphs, over the
 * stand-in for the driver, which is as strict as each mode of a capture: what our calls record,
 * what they are refused, and when what they use is released. After each the capture must be whole.
 */
#include "support/fake_libcuda.h"
#include "unit/cache/scratch.h"
#include "unit/engine/whole.h"

#include <dlfcn.h>
#include <quern/interop.h>
#include <time.h>

static fake_cuda *fake;
static cu_stream theirs; /* the other library's */
static quern_stream *stream;
static quern_module *module;
static quern_function *saxpy;

/* What the other library calls. */
static struct driver {
    cu_result (*context_set)(cu_context);
    cu_result (*stream_new)(cu_stream *, unsigned);
    cu_result (*stream_free)(cu_stream);
    cu_result (*begin)(cu_stream, unsigned mode);
    cu_result (*end)(cu_stream, cu_graph *);
    cu_result (*instantiate)(cu_graph_exec *, cu_graph, unsigned long long);
    cu_result (*launch)(cu_graph_exec, cu_stream);
    cu_result (*graph_free)(cu_graph);
    cu_result (*exec_free)(cu_graph_exec);
    cu_result (*synchronize)(void);
} driver;

static const char source[] =
    "extern \"C\" __global__ void saxpy(float a, const float *x, const float *y, float *z, int n)\n"
    "{ int i = threadIdx.x; if (i < n) z[i] = a * x[i] + y[i]; }\n";

static void find(void *to, void *library, const char *name)
{
    void *symbol = dlsym(library, name);
    cr_assert_not_null(symbol, "%s", name);
    memcpy(to, &symbol, sizeof symbol);
}

static void find_driver(void)
{
    fake_cuda_get_function get;
    void *library = dlopen(FAKE_FOLDER "/libcuda.so.1", RTLD_NOW);
    cr_assert_not_null(library, "%s", dlerror());
    find(&get, library, "fake_cuda_get");
    fake = get();
    find(&driver.context_set, library, "cuCtxSetCurrent");
    find(&driver.stream_new, library, "cuStreamCreate");
    find(&driver.stream_free, library, "cuStreamDestroy_v2");
    find(&driver.begin, library, "cuStreamBeginCapture_v2");
    find(&driver.end, library, "cuStreamEndCapture");
    find(&driver.instantiate, library, "cuGraphInstantiateWithFlags");
    find(&driver.launch, library, "cuGraphLaunch");
    find(&driver.graph_free, library, "cuGraphDestroy");
    find(&driver.exec_free, library, "cuGraphExecDestroy");
    find(&driver.synchronize, library, "cuCtxSynchronize");
}

#define DRIVER(call) cr_assert_eq(driver.call, CU_SUCCESS, #call)

static void open_fake(void)
{
    scratch_make();
    setenv("QUERN_CUDA", FAKE_FOLDER, 1);
    setenv("QUERN_CACHE_DIR", scratch, 1);
    setenv("QUERN_DEVICE", "cuda", 1);
    setenv("QUERN_NVRTC_CACHE", "0", 1); /* it asks the driver for what the stand-in lacks */
    find_driver();
    whole_open();
    DRIVER(context_set(fake->primary(0)));
    DRIVER(stream_new(&theirs, CU_STREAM_NON_BLOCKING));
    OK(quern_stream_wrap(&stream, engine, theirs));
    OK(quern_module_new(&module, engine, source, NULL));
    OK(quern_module_function(&saxpy, module, "saxpy"));
}

/* What a graph held is let go on a thread. */
static void wait_until(int (*count)(void), int wanted)
{
    for (int k = 0; k < 2000 && count() != wanted; k++) {
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    cr_expect_eq(count(), wanted);
}

static int contexts(void)
{
    return fake->retained(0);
}

static void close_fake(void)
{
    quern_function_release(saxpy);
    quern_module_release(module);
    quern_stream_release(stream);
    DRIVER(stream_free(theirs));
    DRIVER(context_set(NULL));
    whole_close();
    wait_until(contexts, 0);
    cr_expect_eq(fake->allocations(), 0, "device memory is left");
    cr_expect_eq(fake->streams(), 0, "streams are left");
    cr_expect_eq(fake->graphs(), 0, "graphs are left");
    scratch_delete();
}

TestSuite(cuda_other, .init = open_fake, .fini = close_fake);

static quern_array *floats(float a, float b)
{
    return array_of(QUERN_FLOAT32, SHAPE(2), (float[]){a, b});
}

static quern_status call_on(quern_stream *on, quern_array *x, quern_array *z)
{
    quern_launch_options launch = {.size = sizeof launch, .block = {2}, .stream = on};
    return quern_function_call(saxpy, &launch, 2.0f, x, x, z, 2);
}

/* The capture is whole: make what can be launched of it. */
static cu_graph_exec end_capture(void)
{
    cu_graph graph;
    cu_graph_exec exec;
    DRIVER(end(theirs, &graph));
    DRIVER(instantiate(&exec, graph, 0));
    DRIVER(graph_free(graph));
    return exec;
}

/* ---- what is recorded ----------------------------------------------------------------------- */

static void note(void *context)
{
    ++*(int *)context;
}

static void record_and_launch(unsigned mode)
{
    quern_array *x = floats(1, 2), *z = floats(0, 0), *copy, *before;
    quern_module *other;
    quern_function *function;
    float from[2] = {5, 6}, to[2] = {0};
    int called = 0;
    OK(quern_array_copy_on(&before, x, stream));
    const int held = fake->allocations();
    DRIVER(begin(theirs, mode));
    OK(quern_module_new(&other, engine, source, NULL)); /* compiled and loaded meanwhile */
    OK(quern_module_function(&function, other, "saxpy"));
    quern_launch_options launch = {.size = sizeof launch, .block = {2}, .stream = stream};
    OK(quern_array_write_on(x, from, sizeof from, stream));
    OK(quern_function_call(function, &launch, 2.0f, x, x, z, 2));
    OK(quern_array_copy_on(&copy, z, stream));
    OK(quern_array_fill_on(z, &(float){7}, 4, stream));
    OK(quern_array_read_on(copy, to, sizeof to, stream));
    OK(quern_stream_call(stream, note, &called));
    quern_array_release(copy);
    quern_array_release(before); /* in the order of the stream, which would make it the graph's */
    quern_array_release(x);
    quern_function_release(function);
    quern_module_release(other);
    cu_graph_exec exec = end_capture();
    cr_expect_eq(called, 0);
    EXPECT(z, float, 0, 0);
    from[0] = 8; /* read at each launch */
    DRIVER(launch(exec, theirs));
    cr_expect_eq(called, 1);
    cr_expect_eq(to[0], 24);
    cr_expect_eq(to[1], 18);
    EXPECT(z, float, 7, 7);
    OK(quern_stream_wait(stream)); /* it is seen that the capture is over */
    cr_expect_eq(fake->allocations(), held, "x and the copy are there, `before` is not");
    DRIVER(exec_free(exec));
    wait_until(fake->allocations, 1);
    EXPECT(z, float, 7, 7);
    quern_array_release(z);
}

Test(cuda_other, work_is_recorded_in_each_mode)
{
    static const unsigned modes[] = {CU_CAPTURE_GLOBAL, CU_CAPTURE_THREAD, CU_CAPTURE_RELAXED};
    for (size_t k = 0; k < sizeof modes / sizeof *modes; k++) {
        record_and_launch(modes[k]);
    }
}

/* The wrapper, the arrays and even the engine may be gone while the graph lives. */
Test(cuda_other, graphs_outlive_what_made_them)
{
    quern_array *x = floats(1, 2), *z = floats(0, 0);
    DRIVER(begin(theirs, CU_CAPTURE_GLOBAL));
    OK(call_on(stream, x, z));
    quern_stream_release(stream);
    quern_array_release(x);
    quern_array_release(z);
    quern_function_release(saxpy);
    quern_module_release(module);
    cu_graph_exec exec = end_capture();
    OK(quern_synchronize(engine));
    whole_close();
    cr_expect_eq(contexts(), 1);
    cr_expect_eq(fake->allocations(), 2);
    DRIVER(launch(exec, theirs));
    DRIVER(exec_free(exec));
    wait_until(contexts, 0);
    whole_open();
    OK(quern_stream_wrap(&stream, engine, theirs));
    OK(quern_module_new(&module, engine, source, NULL));
    OK(quern_module_function(&saxpy, module, "saxpy"));
}

Test(cuda_other, a_capture_that_is_thrown_away_holds_nothing)
{
    quern_array *x = floats(1, 2), *z;
    cu_graph graph;
    DRIVER(begin(theirs, CU_CAPTURE_GLOBAL));
    OK(quern_array_copy_on(&z, x, stream));
    quern_array_release(z);
    DRIVER(end(theirs, &graph));
    DRIVER(graph_free(graph));
    wait_until(fake->allocations, 1);
    OK(quern_array_copy_on(&z, x, stream)); /* the stream does its work again */
    EXPECT(z, float, 1, 2);
    quern_array_release(z);
    quern_array_release(x);
}

/* Streams that wait for an event of the capture take part in it: wrapped ones and our own. */
Test(cuda_other, other_streams_join)
{
    quern_array *x = floats(1, 2), *z = floats(0, 0);
    quern_event *fork, *join;
    cu_stream more;
    DRIVER(stream_new(&more, CU_STREAM_NON_BLOCKING));
    OK(quern_event_new(&fork, engine));
    OK(quern_event_new(&join, engine));
    for (int wrapped = 0; wrapped < 2; wrapped++) {
        quern_stream *branch;
        OK(wrapped ? quern_stream_wrap(&branch, engine, more) : quern_stream_new(&branch, engine));
        DRIVER(begin(theirs, CU_CAPTURE_GLOBAL));
        OK(quern_event_record(fork, stream));
        OK(quern_stream_wait_event(branch, fork));
        OK(call_on(branch, x, z));
        FAILS(QUERN_ERROR_INVALID_ARGUMENT, quern_stream_wait(branch));
        FAILS(QUERN_ERROR_INVALID_ARGUMENT, quern_event_wait(fork));
        SAYS("recorded in a capture");
        FAILS(QUERN_ERROR_INVALID_ARGUMENT, quern_stream_wait_event(NULL, fork));
        SAYS("the engine's own stream");
        OK(quern_event_record(join, branch));
        OK(quern_stream_wait_event(stream, join));
        cu_graph_exec exec = end_capture();
        OK(quern_stream_wait(branch));
        OK(quern_stream_wait(stream));
        FAILS(QUERN_ERROR_INVALID_ARGUMENT, quern_stream_wait_event(branch, fork));
        SAYS("a capture that has ended");
        DRIVER(launch(exec, theirs));
        EXPECT(z, float, 3, 6);
        OK(quern_array_fill(z, &(float){0}, 4));
        DRIVER(exec_free(exec));
        quern_stream_release(branch);
    }
    quern_event_release(fork);
    quern_event_release(join);
    DRIVER(stream_free(more));
    quern_array_release(x);
    quern_array_release(z);
}

/* ---- what is refused ------------------------------------------------------------------------ */

Test(cuda_other, what_would_end_the_capture_is_refused)
{
    quern_array *x = floats(1, 2), *z = floats(0, 0), *huge;
    quern_stream *own;
    quern_graph *graph;
    quern_event *event;
    int reached;
    OK(quern_stream_new(&own, engine));
    OK(quern_event_new(&event, engine));
    OK(quern_stream_capture(own));
    OK(call_on(own, x, z));
    OK(quern_stream_end_capture(&graph, own));
    DRIVER(begin(theirs, CU_CAPTURE_GLOBAL));
    FAILS(QUERN_ERROR_INVALID_ARGUMENT, quern_stream_wait(stream));
    FAILS(QUERN_ERROR_INVALID_ARGUMENT, quern_stream_query(&reached, stream));
    FAILS(QUERN_ERROR_INVALID_ARGUMENT, quern_graph_launch(graph, stream));
    FAILS(QUERN_ERROR_INVALID_ARGUMENT, quern_stream_capture(stream));
    SAYS("being captured already");
    FAILS(QUERN_ERROR_INVALID_ARGUMENT, quern_stream_end_capture(&graph, stream));
    SAYS("another library has begun the capture");
    FAILS(QUERN_ERROR_INVALID_ARGUMENT, quern_stream_follow(engine, NULL, theirs));
    SAYS("is being captured by another library");
    FAILS(QUERN_ERROR_INVALID_ARGUMENT, quern_stream_lead(engine, own, theirs));
    OK(quern_stream_follow(engine, stream, theirs)); /* one and the same */
    OK(quern_event_record(event, stream));
    FAILS(QUERN_ERROR_INVALID_ARGUMENT, quern_event_query(&reached, event));
    FAILS(QUERN_ERROR_INVALID_ARGUMENT, quern_stream_wait_event(own, NULL));
    OK(quern_event_record(event, own));
    FAILS(QUERN_ERROR_INVALID_ARGUMENT, quern_stream_wait_event(stream, event));
    FAILS(QUERN_ERROR_INVALID_ARGUMENT, quern_synchronize(engine));
    SAYS("quern_synchronize: a stream of cuda:0 is being captured");
    FAILS(QUERN_ERROR_INVALID_ARGUMENT, quern_memory_trim(engine, 0));
    const int waits = fake->calls("cuCtxSynchronize");
    fake->fail("cuMemAllocFromPoolAsync", CU_OUT_OF_MEMORY, 1);
    FAILS(QUERN_ERROR_DEVICE_MEMORY, quern_array_copy_on(&huge, x, stream));
    cr_expect_eq(fake->calls("cuCtxSynchronize"), waits);
    OK(call_on(stream, x, z));
    cu_graph_exec exec = end_capture();
    OK(quern_synchronize(engine));
    OK(quern_memory_trim(engine, 0));
    DRIVER(exec_free(exec));
    quern_event_release(event);
    quern_stream_release(own);
    quern_array_release(x);
    quern_array_release(z);
}

/* Our own work goes on beside a capture that forbids all that is unsafe on any thread. */
Test(cuda_other, own_streams_work_meanwhile)
{
    quern_array *x = floats(1, 2), *z = floats(0, 0), *more, *pinned;
    quern_stream *own;
    quern_event *event;
    int reached;
    OK(quern_stream_new(&own, engine));
    OK(quern_event_new(&event, engine));
    DRIVER(begin(theirs, CU_CAPTURE_GLOBAL));
    OK(call_on(stream, x, z));
    OK(call_on(own, x, z));
    OK(quern_event_record(event, own));
    OK(quern_event_query(&reached, event));
    OK(quern_array_copy_on(&more, z, own));
    OK(quern_stream_wait(own));
    EXPECT(more, float, 3, 6);
    OK(quern_array_new_in(&pinned, engine, QUERN_MEMORY_PINNED, QUERN_INT8, SHAPE(10)));
    quern_array_release(pinned);
    quern_array_release(more);
    cu_graph_exec exec = end_capture();
    DRIVER(exec_free(exec));
    const int asked = fake->calls("cuStreamGetCaptureInfo_v2");
    OK(call_on(own, x, z));
    OK(call_on(NULL, x, z));
    cr_expect_eq(fake->calls("cuStreamGetCaptureInfo_v2"), asked, "no question on own streams");
    quern_event_release(event);
    quern_stream_release(own);
    quern_array_release(x);
    quern_array_release(z);
}

/* Somebody has ended the capture by what may not be done: it is told, and nothing is lost. */
Test(cuda_other, a_capture_that_has_failed_is_told)
{
    quern_array *x = floats(1, 2), *z = floats(0, 0), *before;
    cu_graph graph;
    OK(quern_array_copy_on(&before, x, stream));
    DRIVER(begin(theirs, CU_CAPTURE_GLOBAL));
    (void)driver.synchronize();
    FAILS(QUERN_ERROR_INVALID_ARGUMENT, call_on(stream, x, z));
    SAYS("whose capture has failed");
    quern_array_release(before);
    cr_expect_neq(driver.end(theirs, &graph), CU_SUCCESS);
    OK(call_on(stream, x, z));
    EXPECT(z, float, 3, 6);
    cr_expect_eq(fake->allocations(), 2);
    quern_array_release(x);
    quern_array_release(z);
}

/* ---- failures ------------------------------------------------------------------------------- */

Test(cuda_other, a_graph_that_holds_nothing_is_given_no_work)
{
    static const char *const fragile[] = {"cuUserObjectCreate", "cuGraphRetainUserObject"};
    quern_array *x = floats(1, 2), *z = floats(0, 0);
    for (size_t k = 0; k < sizeof fragile / sizeof *fragile; k++) {
        DRIVER(begin(theirs, CU_CAPTURE_GLOBAL));
        fake->fail(fragile[k], CU_UNKNOWN, -1);
        FAILS(QUERN_ERROR_DRIVER, call_on(stream, x, z));
        fake->fail(fragile[k], CU_SUCCESS, 0);
        cu_graph_exec exec = end_capture();
        OK(call_on(stream, x, z));
        DRIVER(exec_free(exec));
        cr_expect_eq(fake->allocations(), 2, "%s", fragile[k]);
    }
    quern_array_release(x);
    quern_array_release(z);
}

/* A handle that is wrapped twice is one stream, also where we have begun its capture. */
Test(cuda_other, two_wrappers_are_one_stream)
{
    quern_array *x = floats(1, 2), *z = floats(0, 0), *before;
    quern_stream *again;
    quern_graph *graph;
    OK(quern_stream_wrap(&again, engine, theirs));
    OK(quern_array_copy_on(&before, x, again));
    OK(quern_stream_capture(stream));
    OK(call_on(again, x, z));
    quern_array_release(before);
    FAILS(QUERN_ERROR_INVALID_ARGUMENT, quern_stream_wait(again));
    OK(quern_stream_end_capture(&graph, stream));
    EXPECT(z, float, 0, 0);
    OK(quern_graph_launch(graph, again));
    EXPECT(z, float, 3, 6);
    cr_expect_eq(fake->allocations(), 2);
    quern_graph_release(graph);
    quern_stream_release(again);
    quern_array_release(x);
    quern_array_release(z);
}
