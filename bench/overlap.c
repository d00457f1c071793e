/* SPDX-License-Identifier: MIT
 *
 * Copies that do not wait. First their speed: pinned host memory to and from an array by
 * quern_array_write_on() and quern_array_read_on(), beside the driver's own copy of the same bytes
 * on the same stream, in turn. Then overlap: a kernel on one stream and copies on another, each
 * alone and both at once; the whole should take little more than the longer one. Then what a launch
 * of a graph of 20 calls costs the host, beside the 20 calls.
 *
 * usage: bench_overlap [MEGABYTES]
 */
#include <dlfcn.h>

#include "bench.h"

#define ROUNDS 15
#define CALLS  20

static quern_engine *engine;
static quern_stream *first, *second;
static quern_array *x, *y;
static quern_kernel *kernel;
static void *pinned;
static size_t bytes;
static int (*copy_in)(unsigned long long, const void *, size_t, void *);
static int (*copy_out)(void *, unsigned long long, size_t, void *);

/* Pinned memory of the driver; without a GPU ordinary memory, and no driver to compare with. */
static int find_driver(void)
{
    int (*retain)(void **, int), (*set)(void *), (*allocate)(void **, size_t, unsigned);
    void *library = dlopen("libcuda.so.1", RTLD_NOW), *context;
    if (!library) {
        return 0;
    }
    *(void **)&retain = dlsym(library, "cuDevicePrimaryCtxRetain");
    *(void **)&set = dlsym(library, "cuCtxSetCurrent");
    *(void **)&allocate = dlsym(library, "cuMemHostAlloc");
    *(void **)&copy_in = dlsym(library, "cuMemcpyHtoDAsync_v2");
    *(void **)&copy_out = dlsym(library, "cuMemcpyDtoHAsync_v2");
    return retain(&context, 0) == 0 && set(context) == 0 && allocate(&pinned, bytes, 1) == 0;
}

/* ---- what is measured ----------------------------------------------------------------------- */

static void quern_in(void)
{
    bench_check(quern_array_write_on(x, pinned, bytes, second));
}

static void quern_out(void)
{
    bench_check(quern_array_read_on(x, pinned, bytes, second));
}

static void driver_in(void)
{
    (void)copy_in((unsigned long long)(uintptr_t)quern_array_pointer(x), pinned, bytes,
                  quern_stream_handle(second));
}

static void driver_out(void)
{
    (void)copy_out(pinned, (unsigned long long)(uintptr_t)quern_array_pointer(x), bytes,
                   quern_stream_handle(second));
}

static void compute(void)
{
    quern_call_options options = QUERN_CALL_OPTIONS_INIT;
    options.stream = first;
    bench_check(quern_call_with(kernel, &options, y, y));
}

static void both(void)
{
    compute();
    quern_in();
}

/* Median milliseconds until all of it is done, as the host sees it. */
static double wall_ms(void (*work)(void))
{
    double times[ROUNDS];
    for (int k = -2; k < ROUNDS; k++) {
        bench_check(quern_synchronize(engine));
        const double begin = bench_now_us();
        work();
        bench_check(quern_synchronize(engine));
        if (k >= 0) {
            times[k] = (bench_now_us() - begin) / 1000;
        }
    }
    return bench_median(times, ROUNDS);
}

static void print_copy(const char *name, double ours, void (*driver)(void))
{
    printf("{\"bench\": \"overlap\", \"what\": \"%s\", \"bytes\": %zu, \"quern_ms\": %.4f, "
           "\"gb_per_s\": %.2f",
           name, bytes, ours, (double)bytes / ours / 1e6);
    if (driver) {
        const double theirs = wall_ms(driver);
        printf(", \"driver_ms\": %.4f, \"speed_of_driver\": %.3f", theirs, theirs / ours);
    }
    puts("}");
}

/* ---- graphs --------------------------------------------------------------------------------- */

static quern_graph *graph;

static void calls(void)
{
    for (int k = 0; k < CALLS; k++) {
        compute();
    }
}

static void launch(void)
{
    bench_check(quern_graph_launch(graph, first));
}

/* Microseconds of the host, the wait not counted. */
static double host_us(void (*work)(void))
{
    double times[ROUNDS];
    for (int k = -2; k < ROUNDS; k++) {
        bench_check(quern_synchronize(engine));
        const double begin = bench_now_us();
        work();
        if (k >= 0) {
            times[k] = bench_now_us() - begin;
        }
    }
    return bench_median(times, ROUNDS);
}

static void measure_graph(void)
{
    bench_check(quern_stream_capture(first));
    calls();
    bench_check(quern_stream_end_capture(&graph, first));
    printf("{\"bench\": \"overlap\", \"what\": \"graph of %d calls\", \"calls_us\": %.2f, "
           "\"launch_us\": %.2f, ",
           CALLS, host_us(calls), host_us(launch));
    printf("\"calls_ms\": %.4f, \"launch_ms\": %.4f}\n", wall_ms(calls), wall_ms(launch));
    quern_graph_release(graph);
}

int main(int argc, char **argv)
{
    const int64_t count = (int64_t)((argc > 1 ? atof(argv[1]) : 256) * 1e6 / 4);
    quern_stream_options options = QUERN_STREAM_OPTIONS_INIT;
    options.non_blocking = 1;
    bytes = (size_t)count * 4;
    bench_check(quern_open(&engine, NULL));
    const int driver = find_driver();
    pinned = driver ? pinned : calloc(1, bytes);
    bench_check(quern_stream_new_with(&first, engine, &options));
    bench_check(quern_stream_new_with(&second, engine, &options));
    bench_check(quern_array_new(&x, engine, QUERN_FLOAT32, 1, &count));
    bench_check(quern_array_new(&y, engine, QUERN_FLOAT32, 1, &count));
    bench_check(quern_array_fill(y, &(float){1}, sizeof(float)));
    bench_check(quern_elementwise(
        &kernel, engine, "T x", "T y",
        "T v = x; for (int k = 0; k < 400; k++) v = v * v + T(0.1); y = v", NULL));
    bench_check(quern_synchronize(engine));

    print_copy("pinned to device", wall_ms(quern_in), driver ? driver_in : NULL);
    print_copy("device to pinned", wall_ms(quern_out), driver ? driver_out : NULL);
    const double kernel_ms = wall_ms(compute), copy_ms = wall_ms(quern_in), both_ms = wall_ms(both);
    printf("{\"bench\": \"overlap\", \"what\": \"kernel beside copy\", \"kernel_ms\": %.4f, "
           "\"copy_ms\": %.4f, \"both_ms\": %.4f, \"of_longer\": %.3f}\n",
           kernel_ms, copy_ms, both_ms, both_ms / (kernel_ms > copy_ms ? kernel_ms : copy_ms));
    measure_graph();

    quern_array_release(x);
    quern_array_release(y);
    quern_kernel_release(kernel);
    quern_stream_release(first);
    quern_stream_release(second);
    quern_close(engine);
    return 0;
}
