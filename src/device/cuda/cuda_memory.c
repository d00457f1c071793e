/* SPDX-License-Identifier: MIT
 *
 * Memory of the GPU: allocated in the order of a stream, released in it, copied. In: sizes and
 * addresses. Out: memory of a pool of our own in the driver, or (where the driver has no pools) of
 * plain cuMemAlloc.
 *
 * The pool is ours, so that keeping freed memory for the next array (its release threshold is
 * without limit) changes nothing for other users of the device's default pool. It is made by the
 * first allocation.
 */
#include "device/cuda/cuda_device.h"

/* ---- the pool ------------------------------------------------------------------------------- */

static cuda_memory make_pool(cuda_device *device)
{
    if (!qn_cuda_attribute(device->handle, CU_MEMORY_POOLS_SUPPORTED)) {
        return CUDA_MEMORY_PLAIN;
    }
    cu_pool_props props = {.allocation_type = 1, .location_type = 1, .location_id = device->handle};
    if (qn_cuda.pool_new(&device->pool, &props) != CU_SUCCESS) {
        device->pool = NULL;
        return CUDA_MEMORY_PLAIN;
    }
    atomic_store(&device->peers, 0); /* what they may use was other memory */
    uint64_t threshold = UINT64_MAX;
    (void)qn_cuda.pool_set(device->pool, CU_POOL_RELEASE_THRESHOLD, &threshold);
    return CUDA_MEMORY_POOL;
}

static cuda_memory memory_of(cuda_device *device)
{
    cuda_memory memory = atomic_load_explicit(&device->memory, memory_order_acquire);
    if (memory == CUDA_MEMORY_UNKNOWN) {
        pthread_mutex_lock(&device->pool_lock);
        memory = atomic_load_explicit(&device->memory, memory_order_relaxed);
        if (memory == CUDA_MEMORY_UNKNOWN) {
            memory = make_pool(device);
            atomic_store_explicit(&device->memory, memory, memory_order_release);
        }
        pthread_mutex_unlock(&device->pool_lock);
    }
    return memory;
}

/* ---- allocating ----------------------------------------------------------------------------- */

/* From the driver, in the current context. */
static cu_result allocate(cuda_device *device, cu_pointer *pointer, size_t bytes, cu_stream stream)
{
    return memory_of(device) == CUDA_MEMORY_POOL
               ? qn_cuda.pool_allocate(pointer, bytes, device->pool, stream)
               : qn_cuda.memory_allocate(pointer, bytes);
}

static quern_status fail_allocation(cuda_device *device, cu_result result, size_t bytes)
{
    if (result != CU_OUT_OF_MEMORY) {
        return qn_cuda_fail(result, "allocating device memory");
    }
    size_t available = 0, total = 0;
    cu_result asked;
    CUDA_IN(device, asked, qn_cuda.memory_info(&available, &total));
    if (asked != CU_SUCCESS) {
        return qn_fail(QUERN_ERROR_DEVICE_MEMORY, "%zu bytes of device memory were asked for",
                       bytes);
    }
    return qn_fail(QUERN_ERROR_DEVICE_MEMORY,
                   "%zu bytes of device memory were asked for; %zu of the GPU's %zu are free",
                   bytes, available, total);
}

/* A multiple of 4: atomics on elements of one byte swap the aligned bytes around it, and those
 * must be there (templates/atomic.cuh). */
static size_t padded(size_t bytes)
{
    return bytes > SIZE_MAX - 3 ? bytes : (bytes + 3) / 4 * 4;
}

bool qn_cuda_has_pool(cuda_device *device)
{
    return atomic_load_explicit(&device->memory, memory_order_acquire) == CUDA_MEMORY_POOL;
}

/* May the driver call it unsafe during a capture of somebody? */
static bool is_unsafe(cuda_device *device)
{
    return qn_cuda_sees_others() || !qn_cuda_has_pool(device);
}

quern_status qn_cuda_allocate(quern_device *quern, void **out, size_t bytes, void *stream)
{
    cuda_device *device = cuda_of(quern);
    *out = NULL;
    if (bytes == 0) {
        return QUERN_OK;
    }
    bytes = padded(bytes);
    cu_pointer pointer = 0;
    cu_result result;
    CUDA_IN_RELAXED(device, result, is_unsafe(device), allocate(device, &pointer, bytes, stream));
    if (result != CU_SUCCESS) {
        return fail_allocation(device, result, bytes);
    }
    *out = (void *)(uintptr_t)pointer;
    return QUERN_OK;
}

void qn_cuda_release(quern_device *quern, void *pointer, size_t bytes, void *stream)
{
    (void)bytes;
    cuda_device *device = cuda_of(quern);
    if (!pointer) {
        return;
    }
    cu_result result;
    CUDA_IN_RELAXED(device, result, is_unsafe(device),
                    memory_of(device) == CUDA_MEMORY_POOL
                        ? qn_cuda.free_async(cuda_address(pointer), stream)
                        : qn_cuda.memory_free(cuda_address(pointer)));
    (void)result; /* after a kernel's failure everything fails, and the context frees it all */
}

uint64_t qn_cuda_held(quern_device *quern)
{
    cuda_device *device = cuda_of(quern);
    uint64_t bytes = 0;
    cu_result result = CU_SUCCESS;
    if (qn_cuda_has_pool(device)) {
        CUDA_IN(device, result, qn_cuda.pool_get(device->pool, CU_POOL_RESERVED, &bytes));
    }
    return result == CU_SUCCESS ? bytes : 0;
}

static cu_result trim(cuda_device *device, size_t keep)
{
    cu_result result = qn_cuda.context_synchronize();
    qn_cuda_host_trim(device, 0);
    if (result == CU_SUCCESS && qn_cuda_has_pool(device)) {
        result = qn_cuda.pool_trim(device->pool, keep);
    }
    return result;
}

quern_status qn_cuda_trim(quern_device *quern, size_t keep)
{
    cu_result result;
    CUDA_IN_RELAXED(cuda_of(quern), result, true, trim(cuda_of(quern), keep));
    return result == CU_SUCCESS ? QUERN_OK : qn_cuda_fail(result, "giving back memory");
}

void qn_cuda_within(quern_device *quern, void (*function)(void *context), void *context)
{
    cu_result result;
    CUDA_IN(cuda_of(quern), result, (function(context), CU_SUCCESS));
    if (result != CU_SUCCESS) { /* the function was not called */
        (void)qn_cuda_fail(result, "calling the program's allocator");
    }
}

/* ---- copying -------------------------------------------------------------------------------- */

static cu_result copy(void *to, const void *from, size_t bytes, quern_copy_kind kind,
                      cu_stream stream, int wait)
{
    cu_result result = CU_INVALID_VALUE;
    switch (kind) {
    case QUERN_COPY_TO_DEVICE:
        result = qn_cuda.copy_to_device(cuda_address(to), from, bytes, stream);
        break;
    case QUERN_COPY_TO_HOST:
        result = qn_cuda.copy_to_host(to, cuda_address(from), bytes, stream);
        break;
    case QUERN_COPY_ON_DEVICE:
        result = qn_cuda.copy_on_device(cuda_address(to), cuda_address(from), bytes, stream);
        break;
    }
    /* pageable memory may or may not have been staged when the driver returns: only waiting is sure
     */
    return result == CU_SUCCESS && wait ? qn_cuda.stream_synchronize(stream) : result;
}

quern_status qn_cuda_copy(quern_device *quern, void *to, const void *from, size_t bytes,
                          quern_copy_kind kind, void *stream, int wait)
{
    static const char *const doing[] = {
        [QUERN_COPY_TO_DEVICE] = "copying to the device",
        [QUERN_COPY_TO_HOST] = "copying from the device",
        [QUERN_COPY_ON_DEVICE] = "copying on the device",
    };
    if (kind < QUERN_COPY_TO_DEVICE || kind > QUERN_COPY_ON_DEVICE) {
        return qn_fail(QUERN_ERROR_INTERNAL, "unknown kind of copy: %d", (int)kind);
    }
    if (bytes == 0) {
        return wait ? qn_cuda_stream_wait(quern, stream) : QUERN_OK;
    }
    cu_result result;
    CUDA_IN_RELAXED(cuda_of(quern), result, wait && qn_cuda_sees_others(),
                    copy(to, from, bytes, kind, stream, wait));
    return result == CU_SUCCESS ? QUERN_OK : qn_cuda_fail(result, doing[kind]);
}
