/* SPDX-License-Identifier: MIT
 *
 * The CUDA device: opened, described, closed, and its table of functions. In: what cuda_name.c
 * knows after the colon. Out: a device that holds a reference to the primary context, which it
 * shares with the CUDA runtime and every other user in the process. Opening asks the driver only
 * for what it needs: start-up time is what short programs pay for.
 */
#include "device/cuda/cuda_device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- without a context ---------------------------------------------------------------------- */

static int device_count(const char **why)
{
    const char *reason;
    int count = 0;
    if (qn_cuda_load(&reason)) {
        count = qn_cuda.device_count(&count) == CU_SUCCESS ? count : 0;
        reason = "the NVIDIA driver sees no GPU; nvidia-smi may tell more";
    }
    if (why) {
        *why = count > 0 ? NULL : reason;
    }
    return count;
}

quern_status qn_cuda_describe(int ordinal, quern_device_info *info)
{
    cu_device device;
    CUDA_CHECK(qn_cuda_is_forked() ? CU_FORKED : CU_SUCCESS, "asking about the GPU");
    CUDA_CHECK(qn_cuda.device_get(&device, ordinal), "finding the GPU");
    CUDA_CHECK(qn_cuda.device_name(info->name, sizeof info->name, device), "asking the GPU's name");
    qn_cuda_uuid_print(info->uuid, device, info->name);
    size_t bytes = 0;
    CUDA_CHECK(qn_cuda.device_memory(&bytes, device), "asking the GPU's memory");
    snprintf(info->id, sizeof info->id, "cuda:%d", ordinal);
    snprintf(info->target, sizeof info->target, "sm_%d", qn_cuda_arch(device));
    info->memory_bytes = bytes;
    info->processors = (uint32_t)qn_cuda_attribute(device, CU_MULTIPROCESSOR_COUNT);
    info->max_block_threads = (uint32_t)qn_cuda_attribute(device, CU_MAX_THREADS_PER_BLOCK);
    info->max_shared_bytes = (uint32_t)qn_cuda_attribute(device, CU_MAX_SHARED_PER_BLOCK_OPTIN);
    info->warp_size = (uint32_t)qn_cuda_attribute(device, CU_WARP_SIZE);
    info->driver_version = (uint32_t)qn_cuda_version();
    return QUERN_OK;
}

/* ---- opening and closing -------------------------------------------------------------------- */

static quern_status find_device(cuda_device *device, const char *argument)
{
    const char *why = NULL;
    int count = device_count(&why);
    if (count == 0) {
        return qn_fail(
            QUERN_ERROR_NO_DEVICE,
            "%s; or run on the CPU: device \"soft\", or QUERN_DEVICE=soft where no device is named",
            why);
    }
    QN_TRY(qn_cuda_find(&device->ordinal, argument, count));
    CUDA_CHECK(qn_cuda.device_get(&device->handle, device->ordinal), "finding the GPU");
    CUDA_CHECK(qn_cuda.primary_retain(&device->context, device->handle),
               "making the GPU's context");
    return QUERN_OK;
}

static quern_status open_device(quern_device **out, const char *argument,
                                const quern_allocator *allocator)
{
    (void)allocator;
    *out = NULL;
    cuda_device *device = qn_calloc(1, sizeof *device);
    if (!device) {
        return qn_fail_memory("opening the GPU");
    }
    quern_status status = find_device(device, argument);
    if (status != QUERN_OK) {
        qn_free(device);
        return status;
    }
    device->forks = atomic_load(&qn_forks);
    pthread_mutex_init(&device->pool_lock, NULL);
    pthread_mutex_init(&device->kept_lock, NULL);
    *out = (quern_device *)device;
    return QUERN_OK;
}

static void leave_driver(cuda_device *device)
{
    cuda_scope scope;
    if (qn_cuda_enter(&scope, device) == CU_SUCCESS) {
        qn_cuda_host_trim(device, 0);
        if (device->pool) {
            (void)qn_cuda.pool_free(device->pool);
        }
    }
    qn_cuda_leave(&scope, device);
    cu_context current = NULL;
    if (qn_cuda_left == device->context && qn_cuda.context_get(&current) == CU_SUCCESS &&
        current == device->context) {
        (void)qn_cuda.context_set(NULL);
        qn_cuda_left = NULL;
    }
    (void)qn_cuda.primary_release(device->handle);
}

static void close_device(quern_device *quern)
{
    cuda_device *device = cuda_of(quern);
    if (!device) {
        return;
    }
    if (atomic_load(&qn_forks) == device->forks) {
        leave_driver(device);
    }
    qn_cuda_host_forget(device);
    pthread_mutex_destroy(&device->pool_lock);
    pthread_mutex_destroy(&device->kept_lock);
    qn_free(device);
}

static quern_status device_info(quern_device *device, quern_device_info *info)
{
    QN_TO_GIVE(quern_device_info, facts, info);
    QN_TRY(qn_cuda_describe(cuda_of(device)->ordinal, &facts));
    QN_TRY(qn_cuda_stream_priorities(device, &facts.priority_lowest, &facts.priority_highest));
    QN_GIVE(quern_device_info, facts, info);
    return QUERN_OK;
}

static void device_target(quern_device *device, int *arch, int *native)
{
    *arch = qn_cuda_arch(cuda_of(device)->handle);
    *native = 1;
}

const quern_device_methods qn_cuda_device = {
    .size = sizeof(quern_device_methods),
    .version = QUERN_DEVICE_VERSION,
    .name = "cuda",
    .count = device_count,
    .open = open_device,
    .close = close_device,
    .info = device_info,
    .target = device_target,
    .allocate = qn_cuda_allocate,
    .release = qn_cuda_release,
    .copy = qn_cuda_copy,
    .fill = qn_cuda_fill,
    .module_load = qn_cuda_module_load,
    .module_free = qn_cuda_module_free,
    .function_get = qn_cuda_function_get,
    .module_functions = qn_cuda_module_functions,
    .module_global = qn_cuda_module_global,
    .module_globals = qn_cuda_module_globals,
    .function_info = qn_cuda_function_info,
    .function_parameter = qn_cuda_function_parameter,
    .function_set = qn_cuda_function_set,
    .occupancy = qn_cuda_occupancy,
    .launch = qn_cuda_launch,
    .stream_new = qn_cuda_stream_new,
    .stream_free = qn_cuda_stream_free,
    .stream_wait = qn_cuda_stream_wait,
    .event_new = qn_cuda_event_new,
    .event_free = qn_cuda_event_free,
    .event_record = qn_cuda_event_record,
    .event_wait = qn_cuda_event_wait,
    .stream_wait_event = qn_cuda_stream_wait_event,
    .event_elapsed = qn_cuda_event_elapsed,
    .synchronize = qn_cuda_synchronize,
    .module_handle = qn_cuda_module_handle,
    .function_handle = qn_cuda_function_handle,
    .allocate_in = qn_cuda_allocate_in,
    .release_in = qn_cuda_release_in,
    .held = qn_cuda_held,
    .trim = qn_cuda_trim,
    .within = qn_cuda_within,
    .copy_from = qn_cuda_copy_from,
    .place = qn_cuda_place_of,
    .pointer_info = qn_cuda_pointer_info,
    .stream_new_with = qn_cuda_stream_new_with,
    .event_query = qn_cuda_event_query,
    .stream_query = qn_cuda_stream_query,
    .stream_call = qn_cuda_stream_call,
    .capture_begin = qn_cuda_capture_begin,
    .capture_end = qn_cuda_capture_end,
    .graph_launch = qn_cuda_graph_launch,
    .graph_free = qn_cuda_graph_free,
    .capture_seen = qn_cuda_capture_seen,
    .capture_tell = qn_cuda_capture_tell,
    .cuda_array_new = qn_cuda_array_new,
    .cuda_array_free = qn_cuda_array_free,
    .cuda_array_copy = qn_cuda_array_copy,
    .texture_new = qn_cuda_texture_new,
    .texture_free = qn_cuda_texture_free,
    .surface_new = qn_cuda_surface_new,
    .surface_free = qn_cuda_surface_free,
};
