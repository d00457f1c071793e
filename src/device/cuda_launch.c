/* SPDX-License-Identifier: MIT
 *
 * Launches on the GPU. In: a function, a grid, parameters. Out: queued work. This is the path that
 * is walked a million times a second, so nothing is checked before the driver is asked; only what
 * the driver refuses is looked into, to say which size was wrong.
 */
#include "device/cuda_device.h"

/** Let a function use more dynamic shared memory than the 48 KiB that every GPU gives unasked. */
static cu_result raise_shared(cu_function function, uint32_t bytes)
{
    int allowed = 0;
    cu_result result = qn_cuda.function_get(&allowed, CU_FUNC_MAX_DYNAMIC_SHARED, function);
    if (result == CU_SUCCESS && (int64_t)bytes > allowed) {
        result = qn_cuda.function_set(function, CU_FUNC_MAX_DYNAMIC_SHARED, (int)bytes);
    }
    return result;
}

static cu_result launch(cu_function function, const quern_launch_config *c, void **parameters)
{
    if (c->shared_bytes) {
        cu_result result = raise_shared(function, c->shared_bytes);
        if (result != CU_SUCCESS) {
            return result;
        }
    }
    if (c->cooperative) {
        return qn_cuda.launch_cooperative(function, c->grid[0], c->grid[1], c->grid[2], c->block[0],
                                          c->block[1], c->block[2], c->shared_bytes, c->stream,
                                          parameters);
    }
    return qn_cuda.launch(function, c->grid[0], c->grid[1], c->grid[2], c->block[0], c->block[1],
                          c->block[2], c->shared_bytes, c->stream, parameters, NULL);
}

/** The limits of a launch of `function`: device attributes 1 to 7 and the function's own. */
static quern_status check_limits(quern_device *quern, void *function,
                                 const quern_launch_config *config)
{
    quern_function_info info;
    QN_TRY(qn_cuda_function_info(quern, function, &info));
    cu_device handle = cuda_of(quern)->handle;
    qn_launch_limits limits = {
        .block_threads = info.max_threads,
        .shared_bytes = (uint32_t)qn_cuda_attribute(handle, CU_MAX_SHARED_PER_BLOCK_OPTIN),
        .static_shared = info.shared_bytes,
    };
    for (int k = 0; k < 3; k++) {
        limits.block[k] = (uint32_t)qn_cuda_attribute(handle, CU_MAX_BLOCK_DIM_X + k);
        limits.grid[k] = (uint32_t)qn_cuda_attribute(handle, CU_MAX_GRID_DIM_X + k);
    }
    return qn_launch_check(config, &limits);
}

static quern_status fail_launch(quern_device *quern, cu_result result, void *function,
                                const quern_launch_config *config)
{
    quern_status status = QUERN_OK;
    if (result == CU_INVALID_VALUE || result == CU_LAUNCH_OUT_OF_RESOURCES) {
        status = check_limits(quern, function, config);
    }
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
    CUDA_IN(cuda_of(quern), result, launch(function, config, parameters));
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
