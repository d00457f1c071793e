/* SPDX-License-Identifier: MIT
 *
 * What every client does: open an engine on a GPU, or end as skipped where there is none; print one
 * line for each check, and end at the first that is wrong. For C and for CUDA C++.
 */
#ifndef CLIENT_H
#define CLIENT_H

#include <cuda_runtime_api.h>
#include <quern/interop.h>
#include <quern/quern.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CLIENT_SKIPPED = 77 };

/* How long the long kernels take, in clocks: 20 ms of a GPU, before which all work without a wait
 * is done. */
static inline int64_t client_cycles(void)
{
    const char *wanted = getenv("CLIENT_CYCLES");
    return wanted ? atoll(wanted) : 40000000;
}

/* A failure of Quern's: explained, and the end. */
static inline void must(quern_status status)
{
    if (status != QUERN_OK) {
        fputs(quern_last_error_text(), stderr);
        exit(1);
    }
}

/* The same of the CUDA runtime's. */
#define cuda(call) client_cuda(call, #call, __LINE__)
static inline void client_cuda(cudaError_t error, const char *what, int line)
{
    if (error != cudaSuccess) {
        fprintf(stderr, "error: line %d: %s: %s\n", line, what, cudaGetErrorString(error));
        exit(1);
    }
}

/* One check, in words. */
static inline void check(int right, const char *what)
{
    printf("%s: %s\n", right ? "ok" : "WRONG", what);
    fflush(stdout);
    if (!right) {
        exit(1);
    }
}

/* `count` numbers, and what they must be. */
static inline void check_floats(const float *got, const float *want, size_t count, const char *what)
{
    for (size_t k = 0; k < count; k++) {
        if (got[k] != want[k]) {
            fprintf(stderr, "element %zu is %g and not %g\n", k, got[k], want[k]);
            check(0, what);
        }
    }
    check(1, what);
}

/* What no check depends on, such as what happens where a wait is missing. */
static inline void tell(const char *what, int yes)
{
    printf("seen: %s: %s\n", what, yes ? "yes" : "no");
}

/* End, and say why. A client is skipped where there is no GPU, or the software device was asked
 * for: it runs kernels of its own by the CUDA runtime, which works on nothing else. */
static inline void client_skip(const char *why)
{
    printf("skipped: %s\n", why);
    exit(CLIENT_SKIPPED);
}

/* An engine on the GPU that QUERN_DEVICE names, or the first, and the runtime on the same one. */
static inline quern_engine *client_open(int *ordinal)
{
    quern_engine *engine;
    quern_device_info info = QUERN_DEVICE_INFO_INIT;
    int count = 0;
    const cudaError_t error = cudaGetDeviceCount(&count);
    if (error != cudaSuccess || count == 0) {
        client_skip(error != cudaSuccess ? cudaGetErrorString(error) : "there is no GPU");
    }
    must(quern_open(&engine, NULL));
    must(quern_device_get_info(&info, engine));
    if (strncmp(info.id, "cuda", 4) != 0) {
        client_skip("this needs a GPU, and QUERN_DEVICE names the software device");
    }
    *ordinal = info.id[4] == ':' ? atoi(info.id + 5) : 0;
    cuda(cudaSetDevice(*ordinal));
    printf("on %s\n", info.name);
    return engine;
}

/* A stream of the runtime's that keeps no order with any other. */
static inline cudaStream_t client_stream(void)
{
    cudaStream_t stream;
    cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    return stream;
}

static inline quern_array *client_array(quern_engine *engine, quern_dtype dtype, int64_t count)
{
    quern_array *array;
    must(quern_array_new(&array, engine, dtype, 1, &count));
    return array;
}

/* Quern's own long kernel: what comes later on its stream comes late. */
typedef struct client_delay {
    quern_kernel *kernel;
    quern_array *cycles, *done;
} client_delay;

static inline client_delay client_delay_new(quern_engine *engine)
{
    client_delay delay;
    const int64_t one = 1, cycles = client_cycles();
    must(quern_elementwise(&delay.kernel, engine, "int64 cycles", "int64 done",
                           "long long begin = clock64();"
                           "while (clock64() - begin < cycles) { }"
                           "done = clock64() - begin",
                           NULL));
    must(quern_array_from(&delay.cycles, engine, QUERN_INT64, 1, &one, &cycles));
    delay.done = client_array(engine, QUERN_INT64, 1);
    return delay;
}

/* `stream` NULL: the engine's own. */
static inline void client_delay_on(const client_delay *delay, quern_stream *stream)
{
    quern_call_options options = QUERN_CALL_OPTIONS_INIT;
    options.stream = stream;
    must(quern_call_with(delay->kernel, &options, delay->cycles, delay->done));
}

static inline void client_delay_free(client_delay *delay)
{
    quern_array_release(delay->cycles);
    quern_array_release(delay->done);
    quern_kernel_release(delay->kernel);
}

#endif /* CLIENT_H */
