/* SPDX-License-Identifier: MIT
 *
 * Copies from one GPU to another. In: addresses on both and a stream of each. Out: a copy that is
 * queued, before and after which the streams wait for each other, and the host for nothing.
 *
 * Two GPUs that are connected copy at ten times the speed once each may use the other's memory.
 * The driver asks for that pool by pool, and of plain memory context by context; both are done by
 * the first copy between the two. Where it cannot be had, the driver takes the way through the
 * host.
 */
#include "device/cuda/cuda_device.h"

/* ---- access --------------------------------------------------------------------------------- */

static uint64_t bit_of(const cuda_device *device)
{
    return device->ordinal < 64 ? (uint64_t)1 << device->ordinal : 0;
}

/* Once, let `user` use memory of `owner`. Failures are not told: the copy is only slower. */
static void open_memory(cuda_device *owner, cuda_device *user)
{
    if (owner->context == user->context || atomic_load(&owner->peers) & bit_of(user)) {
        return;
    }
    int can = 0;
    if (qn_cuda.device_peer(&can, user->handle, owner->handle) == CU_SUCCESS && can) {
        cu_result result;
        if (qn_cuda_has_pool(owner)) {
            const cu_pool_access access = {
                .location_type = 1, .location_id = user->handle, .flags = 3};
            result = qn_cuda.pool_access(owner->pool, &access, 1);
        } else {
            CUDA_IN(user, result, qn_cuda.context_peer(owner->context, 0));
        }
        (void)result;
    }
    atomic_fetch_or(&owner->peers, bit_of(user));
}

/* ---- order ---------------------------------------------------------------------------------- */

/* An event at this point of a stream of `device`. */
static cu_result mark(cuda_device *device, cu_event *event, cu_stream stream)
{
    cu_result result;
    *event = NULL;
    CUDA_IN(device, result, qn_cuda.event_new(event, CU_EVENT_NO_TIMING));
    if (result == CU_SUCCESS) {
        CUDA_IN(device, result, qn_cuda.event_record(*event, stream));
    }
    return result;
}

/* Free it; the driver keeps what still waits for it. */
static void drop(cuda_device *device, cu_event event)
{
    cu_result result;
    if (event) {
        CUDA_IN(device, result, qn_cuda.event_free(event));
        (void)result;
    }
}

/* Let `stream` wait for what is queued on `other_stream`. */
static cu_result follow(cuda_device *device, cu_stream stream, cuda_device *other,
                        cu_stream other_stream)
{
    cu_event event;
    cu_result result = mark(other, &event, other_stream);
    if (result == CU_SUCCESS) {
        CUDA_IN(device, result, qn_cuda.stream_wait_event(stream, event, 0));
    }
    drop(other, event);
    return result;
}

static cu_result copy(cuda_device *device, void *to, const cuda_device *source, const void *from,
                      size_t bytes, cu_stream stream)
{
    return device->context == source->context
               ? qn_cuda.copy_on_device(cuda_address(to), cuda_address(from), bytes, stream)
               : qn_cuda.copy_peer(cuda_address(to), device->context, cuda_address(from),
                                   source->context, bytes, stream);
}

quern_status qn_cuda_copy_from(quern_device *quern, void *to, quern_device *quern_source,
                               const void *from, size_t bytes, void *stream, void *source_stream)
{
    cuda_device *device = cuda_of(quern), *source = cuda_of(quern_source);
    open_memory(source, device);
    open_memory(device, source);
    cu_result result;
    CUDA_CHECK(follow(device, stream, source, source_stream), "waiting for another GPU");
    CUDA_IN(device, result, copy(device, to, source, from, bytes, stream));
    CUDA_CHECK(result, "copying from another GPU");
    if (follow(source, source_stream, device, stream) != CU_SUCCESS) {
        /* nobody else would keep the source in place */
        CUDA_IN(device, result, qn_cuda.stream_synchronize(stream));
        CUDA_CHECK(result, "copying from another GPU");
    }
    return QUERN_OK;
}
