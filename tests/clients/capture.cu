/* SPDX-License-Identifier: MIT
 *
 * Graphs of the CUDA runtime with Quern's work in them: the program captures its own stream
 * (cudaStreamBeginCapture), and Quern, which has wrapped that stream, is not told. What Quern works
 * in besides the arrays must then belong to the graph, and to nothing else: calls on the same
 * stream before, between and after launches must be right, and so must a graph that is never
 * launched. And the other way: kernels and copies of the program in a graph of Quern's.
 */
#include "client.h"

#include <time.h>

enum { COUNT = 1 << 20, BLOCK = 256, BYTES = COUNT * sizeof(float), LAUNCHES = 3 };

static quern_engine *engine;
static cudaStream_t theirs;
static quern_stream *wrapped; /* the same one, as Quern's */
static quern_call_options on_wrapped = QUERN_CALL_OPTIONS_INIT;
static quern_kernel *twice, *sum, *running;
static quern_array *x, *y, *total, *sums;
static float first[COUNT], host[COUNT], want[COUNT];

static __global__ void add(float *data, float number, int count)
{
    const int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k < count) {
        data[k] += number;
    }
}

static void add_on(cudaStream_t stream, quern_array *to, float number)
{
    add<<<COUNT / BLOCK, BLOCK, 0, stream>>>((float *)quern_array_pointer(to), number, COUNT);
    cuda(cudaGetLastError());
}

/* x[k] is k % 4 + `more` from now on, in the order of the stream: sums of them are exact. */
static void put(float more)
{
    for (int k = 0; k < COUNT; k++) {
        first[k] = (float)(k % 4) + more;
    }
    must(quern_array_write_on(x, first, sizeof first, wrapped));
    must(quern_stream_wait(wrapped));
}

static double sum_of(double more)
{
    return COUNT * (1.5 + more);
}

static void check_total(double should, const char *what)
{
    float got = -1;
    must(quern_array_read_on(total, &got, sizeof got, wrapped));
    must(quern_stream_wait(wrapped));
    if ((double)got != should) {
        fprintf(stderr, "the sum is %.1f and not %.1f\n", (double)got, should);
    }
    check((double)got == should, what);
}

static void check_last(double should, const char *what)
{
    must(quern_array_read_on(sums, host, sizeof host, wrapped));
    must(quern_stream_wait(wrapped));
    if ((double)host[COUNT - 1] != should) {
        fprintf(stderr, "the last sum is %.1f and not %.1f\n", (double)host[COUNT - 1], should);
    }
    check((double)host[COUNT - 1] == should && (double)host[4] == 6 + 5 * first[0], what);
}

static cudaGraphExec_t end_capture(void)
{
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cuda(cudaStreamEndCapture(theirs, &graph));
    cuda(cudaGraphInstantiateWithFlags(&exec, graph, 0));
    cuda(cudaGraphDestroy(graph));
    return exec;
}

static void launch(cudaGraphExec_t exec)
{
    cuda(cudaGraphLaunch(exec, theirs));
    cuda(cudaStreamSynchronize(theirs));
}

static void end_graph(cudaGraphExec_t exec)
{
    cuda(cudaStreamSynchronize(theirs));
    cuda(cudaGraphExecDestroy(exec));
}

/* ---- the program's graph ----------------------------------------------------------------------
 */

/* x += 1; y = 2 x; y += 1. With `cold` the kernel is compiled and loaded during the capture. */
static void kernels_are_recorded(cudaStreamCaptureMode mode, const char *what, int cold)
{
    quern_kernel *kernel = quern_kernel_retain(twice);
    if (cold) {
        char operation[80];
        snprintf(operation, sizeof operation, "y = x + x + T(%d) * 0", (int)mode);
        quern_kernel_release(kernel);
        must(quern_elementwise(&kernel, engine, "T x", "T y", operation, NULL));
    }
    put(0);
    cuda(cudaStreamBeginCapture(theirs, mode));
    add_on(theirs, x, 1);
    must(quern_call_with(kernel, &on_wrapped, x, y));
    add_on(theirs, y, 1);
    cudaGraphExec_t exec = end_capture();
    for (int k = 0; k < LAUNCHES; k++) {
        launch(exec);
    }
    must(quern_array_read_on(y, host, sizeof host, wrapped));
    must(quern_stream_wait(wrapped));
    for (int k = 0; k < COUNT; k++) {
        want[k] = 2 * (first[k] + LAUNCHES) + 1;
    }
    check_floats(host, want, COUNT, what);
    end_graph(exec);
    quern_kernel_release(kernel);
}

/* A reduction and a scan of many blocks need memory to meet in. `before`: calls on the stream have
 * left some for later calls. */
static void folds_are_recorded(int before)
{
    put(0);
    if (before) {
        must(quern_call_with(sum, &on_wrapped, x, total));
        must(quern_call_with(running, &on_wrapped, x, sums));
        check_total(sum_of(0), "a reduction before the capture");
        check_last(sum_of(0), "a scan before the capture");
    }
    cuda(cudaStreamBeginCapture(theirs, cudaStreamCaptureModeThreadLocal));
    must(quern_call_with(sum, &on_wrapped, x, total));
    must(quern_call_with(running, &on_wrapped, x, sums));
    cudaGraphExec_t exec = end_capture();

    /* nothing of the graph has been done: what these calls work in must not be the graph's */
    must(quern_call_with(sum, &on_wrapped, x, total));
    must(quern_call_with(running, &on_wrapped, x, sums));
    check_total(sum_of(0), "a reduction on the stream, in front of the first launch");
    check_last(sum_of(0), "a scan on the stream, in front of the first launch");
    for (int k = 1; k <= LAUNCHES; k++) {
        put((float)k);
        launch(exec);
        check_total(sum_of(k), "the reduction of the graph");
        check_last(sum_of(k), "the scan of the graph");
        put((float)k + 1);
        must(quern_call_with(sum, &on_wrapped, x, total));
        must(quern_call_with(running, &on_wrapped, x, sums));
        check_total(sum_of(k + 1), "a reduction on the stream, between launches");
        check_last(sum_of(k + 1), "a scan on the stream, between launches");
    }
    end_graph(exec);
    put(0);
    must(quern_call_with(sum, &on_wrapped, x, total));
    check_total(sum_of(0), "a reduction on the stream, after the graph");
}

/* A graph that is thrown away took nothing with it. */
static void forgotten_graph(void)
{
    cudaGraph_t graph;
    put(1);
    cuda(cudaStreamBeginCapture(theirs, cudaStreamCaptureModeThreadLocal));
    must(quern_call_with(sum, &on_wrapped, x, total));
    cuda(cudaStreamEndCapture(theirs, &graph));
    cuda(cudaGraphDestroy(graph));
    must(quern_call_with(sum, &on_wrapped, x, total));
    check_total(sum_of(1), "a reduction behind a graph that was never launched");
}

/* What is used in the capture is there as long as the graph; what was allocated before and is
 * released in it is freed later. */
static void arrays_come_and_go(void)
{
    quern_array *old = NULL, *between = NULL;
    quern_memory_stats before = QUERN_MEMORY_STATS_INIT, after = QUERN_MEMORY_STATS_INIT;
    must(quern_memory_get_stats(&before, engine));
    put(0);
    must(quern_call_with(twice, &on_wrapped, x, &old));
    cuda(cudaStreamBeginCapture(theirs, cudaStreamCaptureModeThreadLocal));
    must(quern_call_with(twice, &on_wrapped, x, &between));
    must(quern_call_with(twice, &on_wrapped, between, y));
    quern_array_release(between);
    quern_array_release(old);
    cudaGraphExec_t exec = end_capture();
    for (int k = 0; k < LAUNCHES; k++) {
        put((float)k);
        launch(exec);
        must(quern_array_read_on(y, host, sizeof host, wrapped));
        must(quern_stream_wait(wrapped));
        for (int n = 0; n < COUNT; n++) {
            want[n] = 4 * first[n];
        }
        check_floats(host, want, COUNT, "an array that is allocated and released within the graph");
    }
    end_graph(exec);

    must(quern_stream_wait(wrapped)); /* the stream is used: the capture is seen to be over */
    for (int k = 0; k < 2000; k++) {  /* what the graph held is let go on a thread */
        must(quern_memory_get_stats(&after, engine));
        if (after.allocations == before.allocations) {
            break;
        }
        const struct timespec millisecond = {0, 1000000};
        nanosleep(&millisecond, NULL);
    }
    check(after.allocations == before.allocations && after.used == before.used,
          "what the graph held, and what was released during the capture, is freed after it");
}

/* The capture spreads to another stream by an event, and with it Quern's work there. */
static void second_stream_joins(void)
{
    cudaStream_t side = client_stream();
    quern_stream *wrapped_side;
    quern_call_options on_side = QUERN_CALL_OPTIONS_INIT;
    cudaEvent_t fork, join;
    cuda(cudaEventCreateWithFlags(&fork, cudaEventDisableTiming));
    cuda(cudaEventCreateWithFlags(&join, cudaEventDisableTiming));
    must(quern_stream_wrap(&wrapped_side, engine, side));
    on_side.stream = wrapped_side;
    put(2);
    cuda(cudaStreamBeginCapture(theirs, cudaStreamCaptureModeThreadLocal));
    cuda(cudaEventRecord(fork, theirs));
    cuda(cudaStreamWaitEvent(side, fork, 0));
    must(quern_call_with(sum, &on_side, x, total));
    must(quern_call_with(twice, &on_wrapped, x, y));
    cuda(cudaEventRecord(join, side));
    cuda(cudaStreamWaitEvent(theirs, join, 0));
    cudaGraphExec_t exec = end_capture();
    launch(exec);
    check_total(sum_of(2), "a reduction on a second stream of the capture");
    must(quern_call_with(sum, &on_side, y, total));
    must(quern_stream_wait(wrapped_side));
    check_total(2 * sum_of(2), "the same stream is as before when it is over");
    end_graph(exec);
    quern_stream_release(wrapped_side);
    cuda(cudaEventDestroy(fork));
    cuda(cudaEventDestroy(join));
    cuda(cudaStreamDestroy(side));
}

/* ---- Quern's graph ----------------------------------------------------------------------------
 */

static void their_work_is_recorded(void)
{
    quern_graph *graph;
    put(0);
    must(quern_array_fill_on(y, &first[0], sizeof(float), wrapped));
    must(quern_stream_capture(wrapped));
    add_on(theirs, x, 1);
    must(quern_call_with(sum, &on_wrapped, x, total));
    cuda(cudaMemcpyAsync(quern_array_pointer(y), quern_array_pointer(x), BYTES,
                         cudaMemcpyDeviceToDevice, theirs));
    must(quern_stream_end_capture(&graph, wrapped));
    for (int k = 1; k <= LAUNCHES; k++) {
        must(quern_graph_launch(graph, wrapped));
        check_total(sum_of(k), "a kernel of the program in a graph of Quern's");
    }
    must(quern_array_read_on(y, host, sizeof host, wrapped));
    must(quern_stream_wait(wrapped));
    for (int k = 0; k < COUNT; k++) {
        want[k] = first[k] + LAUNCHES;
    }
    check_floats(host, want, COUNT, "a copy of the program in a graph of Quern's");
    quern_graph_release(graph);
}

int main(void)
{
    int ordinal;
    engine = client_open(&ordinal);
    theirs = client_stream();
    must(quern_stream_wrap(&wrapped, engine, theirs));
    on_wrapped.stream = wrapped;
    x = client_array(engine, QUERN_FLOAT32, COUNT);
    y = client_array(engine, QUERN_FLOAT32, COUNT);
    sums = client_array(engine, QUERN_FLOAT32, COUNT);
    must(quern_array_new(&total, engine, QUERN_FLOAT32, 0, NULL));
    must(quern_elementwise(&twice, engine, "T x", "T y", "y = 2 * x", NULL));
    must(quern_reduction(&sum, engine, "T x", "T y", "x", "a + b", "y = a", "0", NULL));
    must(quern_scan(&running, engine, "T x", "T y", "x", "a + b", "y = a", NULL, NULL));
    must(quern_synchronize(engine)); /* the arrays are there */
    put(0);
    /* compiled and loaded on another stream, where what they work in stays, too */
    must(quern_call(twice, x, y));
    must(quern_call(sum, x, total));
    must(quern_call(running, x, sums));
    must(quern_synchronize(engine));

    folds_are_recorded(0);
    folds_are_recorded(1);
    forgotten_graph();
    kernels_are_recorded(cudaStreamCaptureModeRelaxed, "a relaxed capture", 0);
    kernels_are_recorded(cudaStreamCaptureModeThreadLocal, "a capture of the thread", 0);
    kernels_are_recorded(cudaStreamCaptureModeGlobal, "a global capture", 0);
    arrays_come_and_go();
    second_stream_joins();
    their_work_is_recorded();
    kernels_are_recorded(cudaStreamCaptureModeRelaxed,
                         "a kernel that is loaded in a relaxed capture", 1);
    kernels_are_recorded(cudaStreamCaptureModeThreadLocal,
                         "a kernel that is loaded in one of the thread", 1);
    kernels_are_recorded(cudaStreamCaptureModeGlobal, "a kernel that is loaded in a global one", 1);

    quern_array_release(x);
    quern_array_release(y);
    quern_array_release(sums);
    quern_array_release(total);
    quern_kernel_release(twice);
    quern_kernel_release(sum);
    quern_kernel_release(running);
    quern_stream_release(wrapped);
    quern_close(engine);
    cuda(cudaStreamDestroy(theirs));
    return 0;
}
