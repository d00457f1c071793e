/* SPDX-License-Identifier: MIT
 *
 * The stand-in for libcuda, second part: modules, functions, launches.
 *
 * It knows one kernel, saxpy(float a, float *x, float *y, float *z, int n), and one variable, table
 * of four floats.
 */
#include "fake_libcuda_inside.h"

#include <stdbool.h>
#include <string.h>

enum {
    PROCESSOR_THREADS = 2048,
    CLUSTER = 8,
    SHARED_DEFAULT = 48 * 1024,
    SHARED_STATIC = 1024, /* of every function */
};

static int dynamic_shared = SHARED_DEFAULT, carveout = -1, cluster = CLUSTER;

/* ---- code ----------------------------------------------------------------------------------- */

cu_result cuModuleLoadDataEx(cu_module *module, const void *image, unsigned option_count,
                             cu_jit_option *options, void **values)
{
    UNSAFE(cuModuleLoadDataEx);
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
    fake_control.cubin = memcmp(image, "\177ELF", 4) == 0;
    return CU_SUCCESS;
}

DOES_NOTHING(cuModuleUnload, (cu_module module), module)

cu_result cuModuleGetFunction(cu_function *function, cu_module module, const char *name)
{
    UNSAFE(cuModuleGetFunction); /* it may be what loads it */
    bool also = fake_control.also && strcmp(name, fake_control.also) == 0;
    *function = also ? (cu_function)(void *)&fake_control : (cu_function)(void *)module;
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
    *count = fake_control.also ? 2 : 1;
    return CU_SUCCESS;
}

cu_result cuModuleEnumerateFunctions(cu_function *functions, unsigned count, cu_module module)
{
    BOUND(cuModuleEnumerateFunctions);
    for (unsigned k = 0; k < count; k++) {
        functions[k] = k == 0 ? (cu_function)(void *)module : (cu_function)(void *)&fake_control;
    }
    return CU_SUCCESS;
}

cu_result cuFuncGetName(const char **name, cu_function function)
{
    BOUND(cuFuncGetName);
    *name = (void *)function == (void *)&fake_control ? fake_control.also : "saxpy";
    return CU_SUCCESS;
}

/* The parameters of saxpy, and as many of 8 bytes as the other function records. */
cu_result cuFuncGetParamInfo(cu_function function, size_t index, size_t *offset, size_t *bytes)
{
    BOUND(cuFuncGetParamInfo);
    static const size_t saxpy_parameters[][2] = {{0, 4}, {8, 8}, {16, 8}, {24, 8}, {32, 4}};
    bool other = (void *)function == (void *)&fake_control;
    if (index >= (other ? fake_control.recorded : 5)) {
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
             : axis >= 0 && axis < 3                 ? (int)fake_control.required_cluster[axis]
                                                     : values[attribute];
    return CU_SUCCESS;
}

cu_result cuFuncSetAttribute(cu_function function, cu_function_attribute attribute, int value)
{
    BOUND(cuFuncSetAttribute);
    (void)function;
    switch (attribute) {
    case CU_FUNC_MAX_DYNAMIC_SHARED:
        if (value > FAKE_SHARED_OPTIN - SHARED_STATIC) {
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
    for (unsigned k = 0; k < fake_control.recorded; k++) {
        memcpy(&fake_control.parameters[k], parameters[k], sizeof fake_control.parameters[k]);
    }
}

void fake_launch(cu_function function, void **parameters)
{
    ((void *)function == (void *)&fake_control ? record : saxpy)(parameters);
}

size_t fake_parameter_bytes(cu_function function, unsigned *count)
{
    *count = (void *)function == (void *)&fake_control ? fake_control.recorded : 5;
    return 8;
}

static cu_result run(cu_function function, const unsigned grid[3], const unsigned block[3],
                     unsigned shared, cu_stream stream, void **parameters)
{
    uint64_t threads = (uint64_t)block[0] * block[1] * block[2];
    if (threads == 0 || threads > 1024 || !grid[0] || !grid[1] || !grid[2] ||
        shared > (unsigned)dynamic_shared) {
        return CU_INVALID_VALUE;
    }
    memcpy(fake_control.last_grid, grid, sizeof fake_control.last_grid);
    memcpy(fake_control.last_block, block, sizeof fake_control.last_block);
    fake_control.last_shared = shared;
    fake_control.launch_context = fake_current;
    return fake_queue(stream, &(fake_node){.kind = FAKE_LAUNCH, .function = function}, parameters);
}

cu_result cuLaunchKernel(cu_function function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                         unsigned block_x, unsigned block_y, unsigned block_z,
                         unsigned shared_bytes, cu_stream stream, void **parameters, void **extra)
{
    BOUND(cuLaunchKernel);
    (void)extra;
    return run(function, (unsigned[]){grid_x, grid_y, grid_z},
               (unsigned[]){block_x, block_y, block_z}, shared_bytes, stream, parameters);
}

/* What the driver refuses of a launch with attributes. */
static cu_result check_attribute(const cu_launch_config *c, const cu_launch_attribute *attribute)
{
    uint64_t threads = (uint64_t)c->block[0] * c->block[1] * c->block[2];
    uint64_t blocks = (uint64_t)c->grid[0] * c->grid[1] * c->grid[2];
    const uint32_t *size = attribute->value.extents;
    switch (attribute->id) {
    case CU_LAUNCH_COOPERATIVE:
        fake_control.last_cooperative = (uint32_t)attribute->value.number;
        return threads && blocks > PROCESSOR_THREADS / threads * FAKE_PROCESSORS
                   ? CU_COOPERATIVE_LAUNCH_TOO_LARGE
                   : CU_SUCCESS;
    case CU_LAUNCH_CLUSTER:
        memcpy(fake_control.last_cluster, size, sizeof fake_control.last_cluster);
        return c->grid[0] % size[0] || c->grid[1] % size[1] || c->grid[2] % size[2] ||
                       size[0] * size[1] * size[2] > (uint32_t)cluster
                   ? CU_INVALID_CLUSTER_SIZE
                   : CU_SUCCESS;
    case CU_LAUNCH_OVERLAP:
        fake_control.last_overlap = (uint32_t)attribute->value.number;
        return CU_SUCCESS;
    case CU_LAUNCH_PRIORITY:
        fake_control.last_priority = attribute->value.number;
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
    return run(function, config->grid, config->block, config->shared_bytes, config->stream,
               parameters);
}
