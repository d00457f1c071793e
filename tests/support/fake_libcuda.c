/* SPDX-License-Identifier: MIT
 *
 * A stand-in for libcuda.so.1, so that the CUDA device is tested on machines without a GPU. It
 * implements the functions of the list over host memory, counts their calls, fails when a test says
 * so, and is strict where the driver is: a function that needs a context refuses to work without
 * the right one, and a set of 4 bytes needs an address that is a multiple of 4.
 *
 * Here are the log of calls, devices, contexts, and memory of the device; fake_libcuda_memory.c has
 * where memory comes from, fake_libcuda_code.c modules and launches, and fake_libcuda_stream.c
 * streams, events and graphs.
 */
#include "fake_libcuda_inside.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { DEVICES = 4 };

fake_cuda *fake_cuda_get(void);

/* ---- what was asked, what is answered ------------------------------------------------------- */

static struct {
    const char *symbol;
    int calls, fail_times;
    cu_result result;
} log_of[] = {
#define NAME(field, symbol, parameters) [AT_##symbol] = {#symbol, 0, 0, CU_SUCCESS},
    CU_FUNCTIONS(NAME) CU_NEWER_FUNCTIONS(NAME)
#undef NAME
};

static struct CUctx_st primaries[DEVICES];
_Thread_local cu_context fake_current;

int fake_device(cu_context context)
{
    return (int)(context - primaries);
}

static int find(const char *symbol)
{
    for (int k = 0; k < FUNCTIONS; k++) {
        if (strcmp(log_of[k].symbol, symbol) == 0) {
            return k;
        }
    }
    fprintf(stderr, "fake_libcuda: unknown function %s\n", symbol);
    abort();
}

static int calls(const char *symbol)
{
    return log_of[find(symbol)].calls;
}

static void fail(const char *symbol, cu_result result, int times)
{
    int at = find(symbol);
    log_of[at].result = result;
    log_of[at].fail_times = times;
}

static cu_context primary(int device)
{
    return &primaries[device];
}

static int retained(int device)
{
    return primaries[device].retained;
}

static int allocations(void)
{
    return fake_pieces(~0u);
}

fake_cuda fake_control = {.calls = calls,
                          .fail = fail,
                          .primary = primary,
                          .retained = retained,
                          .allocations = allocations,
                          .declare = fake_declare,
                          .streams = fake_streams,
                          .graphs = fake_graphs,
                          .texels = fake_texels};

fake_cuda *fake_cuda_get(void)
{
    return &fake_control;
}

static pid_t initialised_by;

cu_result fake_readiness(cu_result result)
{
    return result == CU_SUCCESS && fake_control.not_ready ? CU_NOT_READY : result;
}

cu_result fake_enter(int function)
{
    if (initialised_by && initialised_by != getpid()) {
        fprintf(stderr, "fake_libcuda: %s after fork()\n", log_of[function].symbol);
        _exit(99);
    }
    log_of[function].calls++;
    if (log_of[function].fail_times == 0) {
        return CU_SUCCESS;
    }
    log_of[function].fail_times -= log_of[function].fail_times > 0;
    return log_of[function].result;
}

static int setting(const char *name, int otherwise)
{
    const char *value = getenv(name);
    return value ? atoi(value) : otherwise;
}

/* ---- devices and contexts ------------------------------------------------------------------- */

cu_result cuDriverGetVersion(int *version)
{
    FREE(cuDriverGetVersion);
    *version = setting("FAKE_CUDA_VERSION", 13000);
    return CU_SUCCESS;
}

cu_result cuInit(unsigned flags)
{
    FREE(cuInit);
    initialised_by = getpid();
    return flags ? CU_INVALID_VALUE : setting("FAKE_CUDA_INIT", CU_SUCCESS);
}

cu_result cuGetErrorName(cu_result result, const char **name)
{
    FREE(cuGetErrorName);
    *name = result == CU_ILLEGAL_ADDRESS ? "CUDA_ERROR_ILLEGAL_ADDRESS" : "CUDA_ERROR_FAKE";
    return CU_SUCCESS;
}

cu_result cuGetErrorString(cu_result result, const char **text)
{
    *text = result == CU_ILLEGAL_ADDRESS ? "an illegal memory access was encountered" : "fake";
    return CU_SUCCESS;
}

cu_result cuDeviceGetCount(int *count)
{
    FREE(cuDeviceGetCount);
    *count = setting("FAKE_CUDA_DEVICES", 2);
    return CU_SUCCESS;
}

cu_result cuDeviceGet(cu_device *device, int ordinal)
{
    FREE(cuDeviceGet);
    *device = ordinal;
    return ordinal < DEVICES ? CU_SUCCESS : CU_INVALID_DEVICE;
}

cu_result cuDeviceGetName(char *name, int size, cu_device device)
{
    FREE(cuDeviceGetName);
    snprintf(name, (size_t)size, "Fake GPU %d", device);
    return CU_SUCCESS;
}

cu_result cuDeviceGetAttribute(int *value, cu_device_attribute attribute, cu_device device)
{
    FREE(cuDeviceGetAttribute);
    (void)device;
    const struct {
        int attribute, value;
    } values[] = {
        {CU_MAX_THREADS_PER_BLOCK, 1024},
        {CU_MAX_BLOCK_DIM_X, 1024},
        {CU_MAX_BLOCK_DIM_X + 1, 1024},
        {CU_MAX_BLOCK_DIM_X + 2, 64},
        {CU_MAX_GRID_DIM_X, INT32_MAX},
        {CU_MAX_GRID_DIM_X + 1, 65535},
        {CU_MAX_GRID_DIM_X + 2, 65535},
        {CU_WARP_SIZE, 32},
        {CU_MULTIPROCESSOR_COUNT, FAKE_PROCESSORS},
        {CU_COMPUTE_CAPABILITY_MAJOR, setting("FAKE_CUDA_ARCH", 9)},
        {CU_MAX_SHARED_PER_BLOCK_OPTIN, FAKE_SHARED_OPTIN},
        {CU_TEXTURE_ALIGNMENT, 256},
        {CU_TEXTURE_PITCH_ALIGNMENT, 32},
        {CU_MAX_TEXTURE_1D, 131072},
        {CU_MAX_TEXTURE_2D, 131072},
        {CU_MAX_TEXTURE_2D + 1, 65536},
        {CU_MAX_TEXTURE_2D_LAYERED, 32768},
        {CU_MAX_TEXTURE_2D_LAYERED + 1, 32768},
        {CU_MAX_TEXTURE_2D_LAYERED + 2, 2048},
    };
    *value = attribute == CU_MEMORY_POOLS_SUPPORTED ? setting("FAKE_CUDA_POOLS", 1) : 0;
    for (size_t k = 0; k < sizeof values / sizeof *values; k++) {
        *value = values[k].attribute == (int)attribute ? values[k].value : *value;
    }
    return CU_SUCCESS;
}

cu_result cuDeviceTotalMem_v2(size_t *bytes, cu_device device)
{
    FREE(cuDeviceTotalMem_v2);
    (void)device;
    *bytes = (size_t)1 << 37;
    return CU_SUCCESS;
}

/* 00000000-0001-0203-0405-0607080910NN, the number at the end; for device 3 also at the beginning.
 */
cu_result cuDeviceGetUuid_v2(cu_uuid *uuid, cu_device device)
{
    FREE(cuDeviceGetUuid_v2);
    static const unsigned char bytes[16] = {0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0x10};
    memcpy(uuid->bytes, bytes, sizeof bytes);
    uuid->bytes[15] = (unsigned char)device;
    uuid->bytes[0] = device == 3 ? 0xab : 0;
    return CU_SUCCESS;
}

cu_result cuDevicePrimaryCtxRetain(cu_context *context, cu_device device)
{
    FREE(cuDevicePrimaryCtxRetain);
    primaries[device].retained++;
    *context = &primaries[device];
    return CU_SUCCESS;
}

cu_result cuDevicePrimaryCtxRelease_v2(cu_device device)
{
    FREE(cuDevicePrimaryCtxRelease_v2);
    primaries[device].retained--;
    return CU_SUCCESS;
}

cu_result cuCtxGetCurrent(cu_context *context)
{
    FREE(cuCtxGetCurrent);
    *context = fake_current;
    return CU_SUCCESS;
}

cu_result cuCtxSetCurrent(cu_context context)
{
    FREE(cuCtxSetCurrent);
    fake_current = context;
    return CU_SUCCESS;
}

cu_result cuCtxGetStreamPriorityRange(int *lowest, int *highest)
{
    BOUND(cuCtxGetStreamPriorityRange);
    *lowest = 0;
    *highest = -5;
    return CU_SUCCESS;
}

cu_result cuEventElapsedTime(float *milliseconds, cu_event begin, cu_event end)
{
    BOUND(cuEventElapsedTime);
    *milliseconds = 1.5f;
    return begin && end ? CU_SUCCESS : CU_INVALID_VALUE;
}

cu_result cuCtxSynchronize(void)
{
    BOUND(cuCtxSynchronize);
    return fake_stop_captures() ? CU_STREAM_CAPTURE_UNSUPPORTED : CU_SUCCESS;
}

/* ---- memory --------------------------------------------------------------------------------- */

static void *host(cu_pointer pointer)
{
    return (void *)(uintptr_t)pointer;
}

cu_result cuMemGetInfo_v2(size_t *available, size_t *total)
{
    BOUND(cuMemGetInfo_v2);
    *available = 1000;
    *total = 2000;
    return CU_SUCCESS;
}

cu_result cuMemAlloc_v2(cu_pointer *pointer, size_t bytes)
{
    UNSAFE(cuMemAlloc_v2);
    return fake_take(pointer, bytes, FAKE_PLAIN);
}

cu_result cuMemFree_v2(cu_pointer pointer)
{
    UNSAFE(cuMemFree_v2);
    return fake_give(pointer, 1u << FAKE_PLAIN | 1u << FAKE_MANAGED);
}

#define COPIER(symbol, to_type, to_pointer, from_type, from_pointer)                               \
    cu_result symbol(to_type to, from_type from, size_t bytes, cu_stream stream)                   \
    {                                                                                              \
        BOUND(symbol);                                                                             \
        return fake_queue(                                                                         \
            stream,                                                                                \
            &(fake_node){                                                                          \
                .kind = FAKE_COPY, .to = to_pointer, .from = from_pointer, .bytes = bytes},        \
            NULL);                                                                                 \
    }
COPIER(cuMemcpyHtoDAsync_v2, cu_pointer, host(to), const void *, from)
COPIER(cuMemcpyDtoHAsync_v2, void *, to, cu_pointer, host(from))
COPIER(cuMemcpyDtoDAsync_v2, cu_pointer, host(to), cu_pointer, host(from))

/* Set `height` rows of `width` units; both the address and the pitch must fit the unit. */
static cu_result set(cu_pointer to, size_t pitch, const void *value, size_t unit, size_t width,
                     size_t height, cu_stream stream)
{
    if (to % unit || pitch % unit || width == 0 || height == 0) {
        return CU_INVALID_VALUE;
    }
    fake_node node = {.kind = FAKE_SET,
                      .to = host(to),
                      .pitch = pitch,
                      .bytes = unit,
                      .width = width,
                      .height = height};
    memcpy(node.value, value, unit);
    return fake_queue(stream, &node, NULL);
}

#define SETTER(bits, type)                                                                         \
    cu_result cuMemsetD##bits##Async(cu_pointer to, type value, size_t count, cu_stream stream)    \
    {                                                                                              \
        BOUND(cuMemsetD##bits##Async);                                                             \
        return set(to, 0, &value, sizeof value, count, 1, stream);                                 \
    }                                                                                              \
    cu_result cuMemsetD2D##bits##Async(cu_pointer to, size_t pitch, type value, size_t width,      \
                                       size_t height, cu_stream stream)                            \
    {                                                                                              \
        BOUND(cuMemsetD2D##bits##Async);                                                           \
        return set(to, pitch, &value, sizeof value, width, height, stream);                        \
    }
SETTER(8, unsigned char)
SETTER(16, unsigned short)
SETTER(32, unsigned int)
