/* SPDX-License-Identifier: MIT
 *
 * A stand-in for libcuda.so.1, so that the CUDA device is tested on machines without a GPU. It
 * implements the functions of the list over host memory, counts their calls, fails when a test says
 * so, and is strict where the driver is: a function that needs a context refuses to work without
 * the right one, and a set of 4 bytes needs an address that is a multiple of 4.
 *
 * It knows one kernel, saxpy(float a, float *x, float *y, float *z, int n), and one variable, table
 * of four floats. Compiled with FAKE_OLD_DRIVER it lacks the functions that came with CUDA 12.4.
 */
#include "fake_libcuda.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    DEVICES = 4,
    PROCESSORS = 132,
    PROCESSOR_THREADS = 2048,
    CLUSTER = 8,
    SHARED_DEFAULT = 48 * 1024,
    SHARED_OPTIN = 227 * 1024,
    SHARED_STATIC = 1024, /* of every function */
};

#ifdef FAKE_OLD_DRIVER
#undef CU_NEWER_FUNCTIONS
#define CU_NEWER_FUNCTIONS(X)
#endif

#define DECLARE(field, symbol, parameters) cu_result symbol parameters;
CU_FUNCTIONS(DECLARE)
CU_NEWER_FUNCTIONS(DECLARE)
#undef DECLARE
fake_cuda *fake_cuda_get(void);

/* ---- what was asked, what is answered ------------------------------------------------------- */

enum {
#define NUMBER(field, symbol, parameters) AT_##symbol,
    CU_FUNCTIONS(NUMBER) CU_NEWER_FUNCTIONS(NUMBER)
#undef NUMBER
        FUNCTIONS
};

static struct {
    const char *symbol;
    int calls, fail_times;
    cu_result result;
} log_of[] = {
#define NAME(field, symbol, parameters) [AT_##symbol] = {#symbol, 0, 0, CU_SUCCESS},
    CU_FUNCTIONS(NAME) CU_NEWER_FUNCTIONS(NAME)
#undef NAME
};

struct CUctx_st {
    int retained;
};
static struct CUctx_st primaries[DEVICES];
static _Thread_local cu_context current;
static int live;
static int dynamic_shared = SHARED_DEFAULT, carveout = -1, cluster = CLUSTER;

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
    return live;
}

static fake_cuda control = {.calls = calls,
                            .fail = fail,
                            .primary = primary,
                            .retained = retained,
                            .allocations = allocations};

fake_cuda *fake_cuda_get(void)
{
    return &control;
}

static cu_result enter(int function)
{
    log_of[function].calls++;
    if (log_of[function].fail_times == 0) {
        return CU_SUCCESS;
    }
    log_of[function].fail_times -= log_of[function].fail_times > 0;
    return log_of[function].result;
}

#define FREE(symbol)                                                                               \
    do {                                                                                           \
        cu_result entered_ = enter(AT_##symbol);                                                   \
        if (entered_ != CU_SUCCESS) {                                                              \
            return entered_;                                                                       \
        }                                                                                          \
    } while (0)
#define BOUND(symbol)                                                                              \
    FREE(symbol);                                                                                  \
    if (!current || current->retained == 0) {                                                      \
        return CU_INVALID_CONTEXT;                                                                 \
    }                                                                                              \
    (void)0

#define DOES_NOTHING(symbol, parameters, handle)                                                   \
    cu_result symbol parameters                                                                    \
    {                                                                                              \
        BOUND(symbol);                                                                             \
        (void)(handle);                                                                            \
        return CU_SUCCESS;                                                                         \
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
    return flags ? CU_INVALID_VALUE : setting("FAKE_CUDA_INIT", CU_SUCCESS);
}

cu_result cuGetErrorName(cu_result result, const char **name)
{
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
        {CU_MULTIPROCESSOR_COUNT, PROCESSORS},
        {CU_COMPUTE_CAPABILITY_MAJOR, setting("FAKE_CUDA_ARCH", 9)},
        {CU_MAX_SHARED_PER_BLOCK_OPTIN, SHARED_OPTIN},
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
    *context = current;
    return CU_SUCCESS;
}

cu_result cuCtxSetCurrent(cu_context context)
{
    FREE(cuCtxSetCurrent);
    current = context;
    return CU_SUCCESS;
}

DOES_NOTHING(cuCtxSynchronize, (void), 0)

/* ---- memory --------------------------------------------------------------------------------- */

static void *host(cu_pointer pointer)
{
    return (void *)(uintptr_t)pointer;
}

static cu_result take(cu_pointer *pointer, size_t bytes)
{
    void *memory = bytes < (size_t)1 << 30 ? aligned_alloc(256, (bytes + 255) / 256 * 256) : NULL;
    *pointer = (cu_pointer)(uintptr_t)memory;
    live += memory != NULL;
    return memory ? CU_SUCCESS : CU_OUT_OF_MEMORY;
}

#define DROPPER(symbol, parameters, pointer)                                                       \
    cu_result symbol parameters                                                                    \
    {                                                                                              \
        BOUND(symbol);                                                                             \
        free(host(pointer));                                                                       \
        live--;                                                                                    \
        return CU_SUCCESS;                                                                         \
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
    BOUND(cuMemAlloc_v2);
    return take(pointer, bytes);
}

DROPPER(cuMemFree_v2, (cu_pointer pointer), pointer)

cu_result cuMemPoolCreate(cu_pool *pool, const cu_pool_props *props)
{
    FREE(cuMemPoolCreate);
    static char only;
    *pool = (cu_pool)(void *)&only;
    return props->allocation_type == 1 && props->location_type == 1 ? CU_SUCCESS : CU_INVALID_VALUE;
}

DOES_NOTHING(cuMemPoolDestroy, (cu_pool pool), pool)
cu_result cuMemPoolSetAttribute(cu_pool pool, cu_pool_attribute attribute, void *value)
{
    FREE(cuMemPoolSetAttribute);
    bool right = pool && attribute == CU_POOL_RELEASE_THRESHOLD && *(uint64_t *)value == UINT64_MAX;
    return right ? CU_SUCCESS : CU_INVALID_VALUE;
}

DOES_NOTHING(cuMemPoolTrimTo, (cu_pool pool, size_t bytes), ((void)pool, bytes))

cu_result cuMemAllocFromPoolAsync(cu_pointer *pointer, size_t bytes, cu_pool pool, cu_stream stream)
{
    BOUND(cuMemAllocFromPoolAsync);
    (void)stream;
    return pool ? take(pointer, bytes) : CU_INVALID_VALUE;
}

DROPPER(cuMemFreeAsync, (cu_pointer pointer, cu_stream stream), ((void)stream, pointer))

#define COPIER(symbol, to_type, to_pointer, from_type, from_pointer)                               \
    cu_result symbol(to_type to, from_type from, size_t bytes, cu_stream stream)                   \
    {                                                                                              \
        BOUND(symbol);                                                                             \
        (void)stream;                                                                              \
        memcpy(to_pointer, from_pointer, bytes);                                                   \
        return CU_SUCCESS;                                                                         \
    }
COPIER(cuMemcpyHtoDAsync_v2, cu_pointer, host(to), const void *, from)
COPIER(cuMemcpyDtoHAsync_v2, void *, to, cu_pointer, host(from))
COPIER(cuMemcpyDtoDAsync_v2, cu_pointer, host(to), cu_pointer, host(from))

/** Set `height` rows of `width` units; both the address and the pitch must fit the unit. */
static cu_result set(cu_pointer to, size_t pitch, const void *value, size_t unit, size_t width,
                     size_t height)
{
    if (to % unit || pitch % unit || width == 0 || height == 0) {
        return CU_INVALID_VALUE;
    }
    for (size_t row = 0; row < height; row++) {
        for (size_t k = 0; k < width; k++) {
            memcpy((char *)host(to) + row * pitch + k * unit, value, unit);
        }
    }
    return CU_SUCCESS;
}

#define SETTER(bits, type)                                                                         \
    cu_result cuMemsetD##bits##Async(cu_pointer to, type value, size_t count, cu_stream stream)    \
    {                                                                                              \
        BOUND(cuMemsetD##bits##Async);                                                             \
        (void)stream;                                                                              \
        return set(to, 0, &value, sizeof value, count, 1);                                         \
    }                                                                                              \
    cu_result cuMemsetD2D##bits##Async(cu_pointer to, size_t pitch, type value, size_t width,      \
                                       size_t height, cu_stream stream)                            \
    {                                                                                              \
        BOUND(cuMemsetD2D##bits##Async);                                                           \
        (void)stream;                                                                              \
        return set(to, pitch, &value, sizeof value, width, height);                                \
    }
SETTER(8, unsigned char)
SETTER(16, unsigned short)
SETTER(32, unsigned int)

/* ---- code ----------------------------------------------------------------------------------- */

cu_result cuModuleLoadDataEx(cu_module *module, const void *image, unsigned option_count,
                             cu_jit_option *options, void **values)
{
    BOUND(cuModuleLoadDataEx);
    static char only;
    if (memcmp(image, "\177ELF", 4) != 0 && strstr(image, "reject")) {
        for (unsigned k = 0; k < option_count; k++) {
            if (options[k] == CU_JIT_ERROR_LOG) {
                strcpy(values[k], "ptxas application ptx input, line 3; fatal: rejected");
            }
        }
        return CU_INVALID_PTX;
    }
    *module = (cu_module)(void *)&only;
    control.cubin = memcmp(image, "\177ELF", 4) == 0;
    return CU_SUCCESS;
}

DOES_NOTHING(cuModuleUnload, (cu_module module), module)

cu_result cuModuleGetFunction(cu_function *function, cu_module module, const char *name)
{
    BOUND(cuModuleGetFunction);
    bool also = control.also && strcmp(name, control.also) == 0;
    *function = also ? (cu_function)(void *)&control : (cu_function)(void *)module;
    return also || strcmp(name, "saxpy") == 0 ? CU_SUCCESS : CU_NOT_FOUND;
}

cu_result cuModuleGetGlobal_v2(cu_pointer *pointer, size_t *bytes, cu_module module,
                               const char *name)
{
    BOUND(cuModuleGetGlobal_v2);
    static float table[4];
    (void)module;
    *pointer = (cu_pointer)(uintptr_t)table;
    *bytes = sizeof table;
    return strcmp(name, "table") == 0 ? CU_SUCCESS : CU_NOT_FOUND;
}

#ifndef FAKE_OLD_DRIVER
cu_result cuModuleGetFunctionCount(unsigned *count, cu_module module)
{
    BOUND(cuModuleGetFunctionCount);
    (void)module;
    *count = control.also ? 2 : 1;
    return CU_SUCCESS;
}

cu_result cuModuleEnumerateFunctions(cu_function *functions, unsigned count, cu_module module)
{
    BOUND(cuModuleEnumerateFunctions);
    for (unsigned k = 0; k < count; k++) {
        functions[k] = k == 0 ? (cu_function)(void *)module : (cu_function)(void *)&control;
    }
    return CU_SUCCESS;
}

cu_result cuFuncGetName(const char **name, cu_function function)
{
    BOUND(cuFuncGetName);
    *name = (void *)function == (void *)&control ? control.also : "saxpy";
    return CU_SUCCESS;
}

/** The parameters of saxpy, and as many of 8 bytes as the other function records. */
cu_result cuFuncGetParamInfo(cu_function function, size_t index, size_t *offset, size_t *bytes)
{
    BOUND(cuFuncGetParamInfo);
    static const size_t saxpy_parameters[][2] = {{0, 4}, {8, 8}, {16, 8}, {24, 8}, {32, 4}};
    bool other = (void *)function == (void *)&control;
    if (index >= (other ? control.recorded : 5)) {
        return CU_INVALID_VALUE;
    }
    *offset = other ? 8 * index : saxpy_parameters[index][0];
    *bytes = other ? 8 : saxpy_parameters[index][1];
    return CU_SUCCESS;
}
#endif

cu_result cuFuncGetAttribute(int *value, cu_function_attribute attribute, cu_function function)
{
    BOUND(cuFuncGetAttribute);
    (void)function;
    static const int values[] = {[CU_FUNC_MAX_THREADS] = 1024,
                                 [CU_FUNC_REGISTERS] = 16,
                                 [CU_FUNC_PTX_VERSION] = 90,
                                 [CU_FUNC_BINARY_VERSION] = 90,
                                 [CU_FUNC_SHARED_BYTES] = SHARED_STATIC,
                                 [CU_FUNC_CONSTANT_BYTES] = 16,
                                 [CU_FUNC_LOCAL_BYTES] = 8};
    int axis = (int)attribute - CU_FUNC_REQUIRED_CLUSTER_X;
    *value = attribute == CU_FUNC_MAX_DYNAMIC_SHARED ? dynamic_shared
             : attribute == CU_FUNC_SHARED_CARVEOUT  ? carveout
             : axis >= 0 && axis < 3                 ? (int)control.required_cluster[axis]
                                                     : values[attribute];
    return CU_SUCCESS;
}

cu_result cuFuncSetAttribute(cu_function function, cu_function_attribute attribute, int value)
{
    BOUND(cuFuncSetAttribute);
    (void)function;
    switch (attribute) {
    case CU_FUNC_MAX_DYNAMIC_SHARED:
        if (value > SHARED_OPTIN - SHARED_STATIC) {
            return CU_INVALID_VALUE;
        }
        dynamic_shared = value;
        return CU_SUCCESS;
    case CU_FUNC_SHARED_CARVEOUT:
        carveout = value;
        return CU_SUCCESS;
    case CU_FUNC_NON_PORTABLE_CLUSTER:
        cluster = value ? 2 * CLUSTER : CLUSTER;
        return CU_SUCCESS;
    default:
        return CU_INVALID_VALUE;
    }
}

cu_result cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, cu_function function,
                                                      int block_threads, size_t shared_bytes)
{
    BOUND(cuOccupancyMaxActiveBlocksPerMultiprocessor);
    (void)function, (void)shared_bytes;
    *blocks = PROCESSOR_THREADS / block_threads;
    return CU_SUCCESS;
}

cu_result cuOccupancyMaxPotentialClusterSize(int *blocks, cu_function function,
                                             const cu_launch_config *config)
{
    BOUND(cuOccupancyMaxPotentialClusterSize);
    (void)function, (void)config;
    *blocks = cluster;
    return CU_SUCCESS;
}

static void saxpy(void **p)
{
    float a = *(float *)p[0], *x = *(float **)p[1], *y = *(float **)p[2], *z = *(float **)p[3];
    for (int k = 0; k < *(int *)p[4]; k++) {
        z[k] = a * x[k] + y[k];
    }
}

static void record(void **parameters)
{
    for (unsigned k = 0; k < control.recorded; k++) {
        memcpy(&control.parameters[k], parameters[k], sizeof control.parameters[k]);
    }
}

static cu_result run(cu_function function, const unsigned grid[3], const unsigned block[3],
                     unsigned shared, void **parameters)
{
    uint64_t threads = (uint64_t)block[0] * block[1] * block[2];
    if (threads == 0 || threads > 1024 || !grid[0] || !grid[1] || !grid[2] ||
        shared > (unsigned)dynamic_shared) {
        return CU_INVALID_VALUE;
    }
    memcpy(control.last_grid, grid, sizeof control.last_grid);
    memcpy(control.last_block, block, sizeof control.last_block);
    control.last_shared = shared;
    control.launch_context = current;
    ((void *)function == (void *)&control ? record : saxpy)(parameters);
    return CU_SUCCESS;
}

cu_result cuLaunchKernel(cu_function function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                         unsigned block_x, unsigned block_y, unsigned block_z,
                         unsigned shared_bytes, cu_stream stream, void **parameters, void **extra)
{
    BOUND(cuLaunchKernel);
    (void)stream, (void)extra;
    return run(function, (unsigned[]){grid_x, grid_y, grid_z},
               (unsigned[]){block_x, block_y, block_z}, shared_bytes, parameters);
}

/** What the driver refuses of a launch with attributes. */
static cu_result check_attribute(const cu_launch_config *c, const cu_launch_attribute *attribute)
{
    uint64_t threads = (uint64_t)c->block[0] * c->block[1] * c->block[2];
    uint64_t blocks = (uint64_t)c->grid[0] * c->grid[1] * c->grid[2];
    const uint32_t *size = attribute->value.extents;
    switch (attribute->id) {
    case CU_LAUNCH_COOPERATIVE:
        control.last_cooperative = (uint32_t)attribute->value.number;
        return threads && blocks > PROCESSOR_THREADS / threads * PROCESSORS
                   ? CU_COOPERATIVE_LAUNCH_TOO_LARGE
                   : CU_SUCCESS;
    case CU_LAUNCH_CLUSTER:
        memcpy(control.last_cluster, size, sizeof control.last_cluster);
        return c->grid[0] % size[0] || c->grid[1] % size[1] || c->grid[2] % size[2] ||
                       size[0] * size[1] * size[2] > (uint32_t)cluster
                   ? CU_INVALID_CLUSTER_SIZE
                   : CU_SUCCESS;
    case CU_LAUNCH_OVERLAP:
        control.last_overlap = (uint32_t)attribute->value.number;
        return CU_SUCCESS;
    case CU_LAUNCH_PRIORITY:
        control.last_priority = attribute->value.number;
        return CU_SUCCESS;
    default:
        return CU_INVALID_VALUE;
    }
}

cu_result cuLaunchKernelEx(const cu_launch_config *config, cu_function function, void **parameters,
                           void **extra)
{
    BOUND(cuLaunchKernelEx);
    (void)extra;
    for (unsigned k = 0; k < config->attribute_count; k++) {
        cu_result result = check_attribute(config, &config->attributes[k]);
        if (result != CU_SUCCESS) {
            return result;
        }
    }
    return run(function, config->grid, config->block, config->shared_bytes, parameters);
}

/* ---- streams and events --------------------------------------------------------------------- */

#define CREATOR(symbol, type, plain)                                                               \
    cu_result symbol(type *out, unsigned flags)                                                    \
    {                                                                                              \
        BOUND(symbol);                                                                             \
        static char only;                                                                          \
        *out = (type)(void *)&only;                                                                \
        return flags == plain ? CU_SUCCESS : CU_INVALID_VALUE;                                     \
    }
CREATOR(cuStreamCreate, cu_stream, CU_STREAM_DEFAULT)
CREATOR(cuEventCreate, cu_event, CU_EVENT_DEFAULT)
DOES_NOTHING(cuStreamDestroy_v2, (cu_stream stream), stream)
DOES_NOTHING(cuStreamSynchronize, (cu_stream stream), stream)
DOES_NOTHING(cuStreamWaitEvent, (cu_stream stream, cu_event event, unsigned flags),
             ((void)stream, (void)flags, event))
DOES_NOTHING(cuEventDestroy_v2, (cu_event event), event)
DOES_NOTHING(cuEventRecord, (cu_event event, cu_stream stream), ((void)event, stream))
DOES_NOTHING(cuEventSynchronize, (cu_event event), event)

cu_result cuEventElapsedTime(float *milliseconds, cu_event begin, cu_event end)
{
    BOUND(cuEventElapsedTime);
    *milliseconds = 1.5f;
    return begin && end ? CU_SUCCESS : CU_INVALID_VALUE;
}
