/* SPDX-License-Identifier: MIT
 *
 * Launches on the GPU. In: a function, a grid, parameters. Out: queued work. This path runs up to a
 * million times a second, so nothing is checked before the driver is asked; only a launch that it
 * refuses is examined, to say which size was wrong.
 */
#include "device/cuda/cuda_device.h"

/* Let a function use more dynamic shared memory than the 48 KiB that every GPU gives unasked: all
 * that there is, so that launches from several threads never lower it for each other. */
static cu_result raise_shared(cu_device device, cu_function function, uint32_t bytes)
{
    int allowed = 0, fixed = 0;
    cu_result result = qn_cuda.function_get(&allowed, CU_FUNC_MAX_DYNAMIC_SHARED, function);
    if (result != CU_SUCCESS || (int64_t)bytes <= allowed) {
        return result;
    }
    result = qn_cuda.function_get(&fixed, CU_FUNC_SHARED_BYTES, function);
    int most = qn_cuda_attribute(device, CU_MAX_SHARED_PER_BLOCK_OPTIN) - fixed;
    return result == CU_SUCCESS
               ? qn_cuda.function_set(function, CU_FUNC_MAX_DYNAMIC_SHARED, QN_MAX(most, 0))
               : result;
}

enum { MOST_ATTRIBUTES = 4, FIRST_ARCH_OF_CLUSTERS = 90 };

/* The configuration of a launch that asks for more than a grid: clusters, for example. */
static void extend(cu_launch_config *config, cu_launch_attribute attributes[MOST_ATTRIBUTES],
                   const quern_launch_config *c)
{
    *config = (cu_launch_config){
        .grid = {c->grid[0], c->grid[1], c->grid[2]},
        .block = {c->block[0], c->block[1], c->block[2]},
        .shared_bytes = c->shared_bytes,
        .stream = c->stream,
        .attributes = attributes,
    };
    if (c->cooperative) {
        attributes[config->attribute_count++] =
            (cu_launch_attribute){.id = CU_LAUNCH_COOPERATIVE, .value.number = 1};
    }
    if (c->cluster[0]) {
        attributes[config->attribute_count++] = (cu_launch_attribute){
            .id = CU_LAUNCH_CLUSTER,
            .value.extents = {c->cluster[0], QN_MAX(c->cluster[1], 1u), QN_MAX(c->cluster[2], 1u)}};
    }
    if (c->overlap) {
        attributes[config->attribute_count++] =
            (cu_launch_attribute){.id = CU_LAUNCH_OVERLAP, .value.number = 1};
    }
    if (c->priority) {
        attributes[config->attribute_count++] =
            (cu_launch_attribute){.id = CU_LAUNCH_PRIORITY, .value.number = c->priority};
    }
}

static cu_result launch_with(cu_function function, const quern_launch_config *c, void **parameters)
{
    cu_launch_config config;
    cu_launch_attribute attributes[MOST_ATTRIBUTES];
    extend(&config, attributes, c);
    return qn_cuda.launch_with(&config, function, parameters, NULL);
}

static cu_result launch(cu_device device, cu_function function, const quern_launch_config *c,
                        void **parameters)
{
    if (c->shared_bytes) {
        cu_result result = raise_shared(device, function, c->shared_bytes);
        if (result != CU_SUCCESS) {
            return result;
        }
    }
    if (c->cooperative || c->cluster[0] || c->overlap || c->priority) {
        return launch_with(function, c, parameters);
    }
    return qn_cuda.launch(function, c->grid[0], c->grid[1], c->grid[2], c->block[0], c->block[1],
                          c->block[2], c->shared_bytes, c->stream, parameters, NULL);
}

/* How large a cluster of this launch may be; 8 where the driver does not say, as every GPU that has
 * clusters allows that many. */
static uint32_t most_in_cluster(cuda_device *device, cu_function function,
                                const quern_launch_config *c)
{
    if (qn_cuda_arch(device->handle) < FIRST_ARCH_OF_CLUSTERS) {
        return 1;
    }
    quern_launch_config without = *c;
    without.cluster[0] = 0;
    cu_launch_config config;
    cu_launch_attribute attributes[MOST_ATTRIBUTES];
    extend(&config, attributes, &without);
    int blocks = 0;
    cu_result result;
    CUDA_IN(device, result, qn_cuda.occupancy_cluster(&blocks, function, &config));
    return result == CU_SUCCESS && blocks > 0 ? (uint32_t)blocks : 8;
}

/* The cluster that a function was compiled for (__cluster_dims__), where the launch asks for none.
 */
static void take_required_cluster(cuda_device *device, cu_function function,
                                  quern_launch_config *config)
{
    for (int k = 0; k < 3 && config->cluster[k] == 0; k++) {
        int extent = 0;
        cu_result result;
        CUDA_IN(device, result,
                qn_cuda.function_get(
                    &extent, (cu_function_attribute)(CU_FUNC_REQUIRED_CLUSTER_X + k), function));
        config->cluster[k] = result == CU_SUCCESS && extent > 0 ? (uint32_t)extent : 0;
    }
}

/* The limits of a launch of `function`: device attributes 1 to 7 and the function's own. */
static quern_status check_limits(quern_device *quern, void *function,
                                 const quern_launch_config *config)
{
    quern_function_info info = QUERN_FUNCTION_INFO_INIT;
    QN_TRY(qn_cuda_function_info(quern, function, &info));
    cu_device handle = cuda_of(quern)->handle;
    qn_launch_limits limits = {
        .block_threads = info.max_threads,
        .shared_bytes = (uint32_t)qn_cuda_attribute(handle, CU_MAX_SHARED_PER_BLOCK_OPTIN),
        .static_shared = info.shared_bytes,
        .cluster_blocks = most_in_cluster(cuda_of(quern), function, config),
        .processors = (uint32_t)qn_cuda_attribute(handle, CU_MULTIPROCESSOR_COUNT),
        .resident_blocks = UINT32_MAX,
    };
    for (int k = 0; k < 3; k++) {
        limits.block[k] = (uint32_t)qn_cuda_attribute(handle, CU_MAX_BLOCK_DIM_X + k);
        limits.grid[k] = (uint32_t)qn_cuda_attribute(handle, CU_MAX_GRID_DIM_X + k);
    }
    if (config->cooperative) {
        uint32_t threads = config->block[0] * config->block[1] * config->block[2];
        if (qn_cuda_occupancy(quern, function, threads, config->shared_bytes,
                              &limits.resident_blocks) != QUERN_OK) {
            limits.resident_blocks = UINT32_MAX; /* a block that is too large is reported first */
        }
    }
    quern_launch_config whole = *config;
    take_required_cluster(cuda_of(quern), function, &whole);
    return qn_launch_check(&whole, &limits);
}

static bool may_be_a_limit(cu_result result)
{
    return result == CU_INVALID_VALUE || result == CU_LAUNCH_OUT_OF_RESOURCES ||
           result == CU_COOPERATIVE_LAUNCH_TOO_LARGE || result == CU_INVALID_CLUSTER_SIZE ||
           result == CU_NOT_SUPPORTED;
}

static quern_status fail_launch(quern_device *quern, cu_result result, void *function,
                                const quern_launch_config *config)
{
    quern_status status = may_be_a_limit(result) ? check_limits(quern, function, config) : QUERN_OK;
    if (status == QUERN_OK) {
        status = qn_cuda_fail(result, "launching the kernel");
    }
    qn_error_stage("launch");
    return status;
}

quern_status qn_cuda_launch(quern_device *quern, void *function, const quern_launch_config *config,
                            void **parameters)
{
    cu_result result;
    CUDA_IN(cuda_of(quern), result, launch(cuda_of(quern)->handle, function, config, parameters));
    return __builtin_expect(result == CU_SUCCESS, 1) ? QUERN_OK
                                                     : fail_launch(quern, result, function, config);
}

quern_status qn_cuda_occupancy(quern_device *quern, void *function, uint32_t block_threads,
                               uint32_t shared_bytes, uint32_t *blocks)
{
    int count = 0;
    cu_result result;
    CUDA_IN(cuda_of(quern), result,
            qn_cuda.occupancy(&count, function, (int)block_threads, shared_bytes));
    *blocks = result == CU_SUCCESS ? (uint32_t)count : 0;
    return result == CU_SUCCESS ? QUERN_OK : qn_cuda_fail(result, "asking for the occupancy");
}
