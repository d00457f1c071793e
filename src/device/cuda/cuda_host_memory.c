/* SPDX-License-Identifier: MIT
 *
 * Memory that the host and the GPU both use: page-locked, and managed by the driver. In: sizes and
 * kinds. Out: memory at one address for both, as the unified addressing of every 64-bit driver has
 * it.
 *
 * The driver takes long to lock pages, and to give them back it may wait for all that the GPU does.
 * So a piece that is released is kept with an event in the stream where it was used, and serves
 * again once the event is reached: releasing waits for nothing.
 */
#include "device/cuda/cuda_device.h"

enum { GRANULE = 512 }; /* sizes are multiples, so that more pieces serve again */
static const size_t keep_at_most = (size_t)256 << 20;

/* A piece that nobody has. */
struct cuda_kept {
    cuda_kept *next;
    void *pointer;
    size_t bytes;
    quern_memory memory;
    cu_event event; /* what may still use it; NULL: nothing */
};

static size_t rounded(size_t bytes)
{
    return bytes > SIZE_MAX - GRANULE ? bytes : (bytes + GRANULE - 1) / GRANULE * GRANULE;
}

/* ---- the driver's, in the current context ---------------------------------------------------- */

static cu_result allocate_new(void **out, size_t bytes, quern_memory memory)
{
    if (memory != QUERN_MEMORY_MANAGED) {
        return qn_cuda.host_allocate(
            out, bytes, CU_HOST_PORTABLE | (memory == QUERN_MEMORY_MAPPED ? CU_HOST_MAPPED : 0));
    }
    cu_pointer pointer = 0;
    cu_result result = qn_cuda.managed_allocate(&pointer, bytes, CU_ATTACH_GLOBAL);
    *out = (void *)(uintptr_t)pointer;
    return result;
}

/* After a kernel's failure everything fails, and the context frees it all. */
static void free_now(void *pointer, quern_memory memory)
{
    (void)(memory == QUERN_MEMORY_MANAGED ? qn_cuda.memory_free(cuda_address(pointer))
                                          : qn_cuda.host_free(pointer));
}

static void drop(cuda_device *device, cuda_kept *piece)
{
    if (piece->event) {
        (void)qn_cuda.event_free(piece->event);
    }
    free_now(piece->pointer, piece->memory);
    device->kept_bytes -= piece->bytes;
    qn_free(piece);
}

/* Is nothing queued that may use it? */
static bool is_idle(cuda_kept *piece)
{
    if (piece->event && qn_cuda.event_query(piece->event) != CU_NOT_READY) {
        (void)qn_cuda.event_free(piece->event);
        piece->event = NULL;
    }
    return !piece->event;
}

/* ---- what is kept, under its lock ----------------------------------------------------------- */

/* Free pieces that are idle, the oldest first, until at most `keep` bytes are kept. */
static void trim(cuda_device *device, size_t keep)
{
    for (cuda_kept **link = &device->kept; *link && device->kept_bytes > keep;) {
        cuda_kept *piece = *link;
        if (is_idle(piece)) {
            *link = piece->next;
            drop(device, piece);
        } else {
            link = &piece->next;
        }
    }
}

/* One of this size and kind; NULL: there is none. */
static void *take_kept(cuda_device *device, size_t bytes, quern_memory memory)
{
    for (cuda_kept **link = &device->kept; *link; link = &(*link)->next) {
        cuda_kept *piece = *link;
        if (piece->memory == memory && piece->bytes == bytes && is_idle(piece)) {
            void *pointer = piece->pointer;
            *link = piece->next;
            device->kept_bytes -= piece->bytes;
            qn_free(piece);
            return pointer;
        }
    }
    return NULL;
}

static void keep(cuda_device *device, cuda_kept *piece)
{
    cuda_kept **link = &device->kept;
    while (*link) {
        link = &(*link)->next;
    }
    piece->next = NULL;
    *link = piece;
    device->kept_bytes += piece->bytes;
    trim(device, keep_at_most);
}

void qn_cuda_host_trim(cuda_device *device, size_t bytes)
{
    pthread_mutex_lock(&device->kept_lock);
    trim(device, bytes);
    pthread_mutex_unlock(&device->kept_lock);
}

void qn_cuda_host_forget(cuda_device *device)
{
    while (device->kept) {
        cuda_kept *piece = device->kept;
        device->kept = piece->next;
        qn_free(piece);
    }
}

/* ---- the slots ------------------------------------------------------------------------------ */

static cu_result allocate(cuda_device *device, void **out, size_t bytes, quern_memory memory)
{
    pthread_mutex_lock(&device->kept_lock);
    *out = take_kept(device, bytes, memory);
    pthread_mutex_unlock(&device->kept_lock);
    if (*out) {
        return CU_SUCCESS;
    }
    return allocate_new(out, bytes, memory);
}

quern_status qn_cuda_allocate_in(quern_device *quern, void **out, size_t bytes, quern_memory memory,
                                 void *stream)
{
    (void)stream;
    static const char *const kinds[] = {[QUERN_MEMORY_PINNED] = "page-locked",
                                        [QUERN_MEMORY_MAPPED] = "mapped page-locked",
                                        [QUERN_MEMORY_MANAGED] = "managed"};
    *out = NULL;
    void *pointer = NULL;
    cu_result result;
    CUDA_IN_RELAXED(cuda_of(quern), result, true,
                    allocate(cuda_of(quern), &pointer, rounded(bytes), memory));
    if (result == CU_SUCCESS) {
        *out = pointer;
        return QUERN_OK;
    }
    if (result == CU_OUT_OF_MEMORY) {
        return qn_fail(QUERN_ERROR_DEVICE_MEMORY,
                       "%zu bytes of %s memory were asked for, and the driver has no more of it",
                       bytes, kinds[memory]);
    }
    if (result == CU_NOT_SUPPORTED) {
        return qn_fail(QUERN_ERROR_NOT_SUPPORTED, "this GPU has no %s memory", kinds[memory]);
    }
    return qn_cuda_fail(result, "allocating memory of the host");
}

/* Mark in the stream where `piece` was last used; the driver has done so, or it is idle. */
static cu_result mark(cuda_kept *piece, cu_stream stream)
{
    cu_result result = qn_cuda.event_new(&piece->event, CU_EVENT_NO_TIMING);
    if (result != CU_SUCCESS) {
        piece->event = NULL;
        return qn_cuda.stream_synchronize(stream);
    }
    return qn_cuda.event_record(piece->event, stream);
}

static cu_result release(cuda_device *device, cuda_kept *piece, cu_stream stream)
{
    (void)mark(piece, stream); /* fails after a kernel's failure, when nothing runs any longer */
    pthread_mutex_lock(&device->kept_lock);
    keep(device, piece);
    pthread_mutex_unlock(&device->kept_lock);
    return CU_SUCCESS;
}

static cu_result release_waiting(void *pointer, quern_memory memory, cu_stream stream)
{
    cu_result result = qn_cuda.stream_synchronize(stream);
    free_now(pointer, memory);
    return result;
}

void qn_cuda_release_in(quern_device *quern, void *pointer, size_t bytes, quern_memory memory,
                        void *stream)
{
    cuda_kept *piece = qn_calloc(1, sizeof *piece);
    cu_result result;
    if (piece) {
        *piece = (cuda_kept){.pointer = pointer, .bytes = rounded(bytes), .memory = memory};
        CUDA_IN_RELAXED(cuda_of(quern), result, true, release(cuda_of(quern), piece, stream));
    } else {
        CUDA_IN_RELAXED(cuda_of(quern), result, true, release_waiting(pointer, memory, stream));
    }
    if (result != CU_SUCCESS) {
        qn_free(piece); /* the context is gone, and the memory with it */
    }
}
