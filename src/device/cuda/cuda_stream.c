/* SPDX-License-Identifier: MIT
 *
 * Streams and events of the GPU: the driver's, one call each.
 *
 * Unless asked otherwise streams are made with the driver's default flag and not as "non-blocking":
 * they keep the order with the legacy default stream, where the CUDA runtime and PyTorch work
 * unless told otherwise, so memory that comes from there is ready without an event.
 */
#include "device/cuda/cuda_device.h"

/* Do one driver call in the device's context and return its failure. */
#define DO(device, call, doing)                                                                    \
    do {                                                                                           \
        cu_result do_result_;                                                                      \
        CUDA_IN(cuda_of(device), do_result_, call);                                                \
        CUDA_CHECK(do_result_, doing);                                                             \
    } while (0)

quern_status qn_cuda_stream_new(quern_device *device, void **out)
{
    *out = NULL;
    cu_stream stream = NULL;
    DO(device, qn_cuda.stream_new(&stream, CU_STREAM_DEFAULT), "making a stream");
    *out = stream;
    return QUERN_OK;
}

/* The driver takes a priority outside of the range as the nearer end. */
quern_status qn_cuda_stream_new_with(quern_device *device, void **out,
                                     const quern_stream_options *options)
{
    const unsigned flags = options->non_blocking ? CU_STREAM_NON_BLOCKING : CU_STREAM_DEFAULT;
    *out = NULL;
    cu_stream stream = NULL;
    DO(device, qn_cuda.stream_new_with(&stream, flags, options->priority), "making a stream");
    *out = stream;
    return QUERN_OK;
}

quern_status qn_cuda_stream_priorities(quern_device *device, int32_t *lowest, int32_t *highest)
{
    int low = 0, high = 0;
    DO(device, qn_cuda.stream_priorities(&low, &high), "asking for the priorities of streams");
    *lowest = low;
    *highest = high;
    return QUERN_OK;
}

quern_status qn_cuda_stream_call(quern_device *device, void *stream, void (*function)(void *),
                                 void *context)
{
    DO(device, qn_cuda.stream_call(stream, function, context), "queueing a function of the host");
    return QUERN_OK;
}

void qn_cuda_stream_free(quern_device *device, void *stream)
{
    cu_result result;
    if (stream) {
        CUDA_IN(cuda_of(device), result, qn_cuda.stream_free(stream));
        (void)result; /* an earlier kernel's failure, which the call that waited has reported */
    }
}

quern_status qn_cuda_stream_wait(quern_device *device, void *stream)
{
    cu_result result;
    CUDA_IN_RELAXED(cuda_of(device), result, qn_cuda_sees_others(),
                    qn_cuda.stream_synchronize(stream));
    return result == CU_SUCCESS ? QUERN_OK : qn_cuda_fail(result, "waiting for a stream");
}

quern_status qn_cuda_event_new(quern_device *device, void **out)
{
    *out = NULL;
    cu_event event = NULL;
    DO(device, qn_cuda.event_new(&event, CU_EVENT_DEFAULT), "making an event");
    *out = event;
    return QUERN_OK;
}

void qn_cuda_event_free(quern_device *device, void *event)
{
    cu_result result;
    if (event) {
        CUDA_IN(cuda_of(device), result, qn_cuda.event_free(event));
        (void)result; /* an earlier kernel's failure, which the call that waited has reported */
    }
}

quern_status qn_cuda_event_record(quern_device *device, void *event, void *stream)
{
    DO(device, qn_cuda.event_record(event, stream), "recording an event");
    return QUERN_OK;
}

quern_status qn_cuda_event_wait(quern_device *device, void *event)
{
    DO(device, qn_cuda.event_synchronize(event), "waiting for an event");
    return QUERN_OK;
}

/* What the driver answers when it is asked whether something is done. */
static quern_status answer(int *yes, cu_result result, const char *doing)
{
    *yes = result == CU_SUCCESS;
    return result == CU_SUCCESS || result == CU_NOT_READY ? QUERN_OK : qn_cuda_fail(result, doing);
}

quern_status qn_cuda_event_query(quern_device *device, int *reached, void *event)
{
    cu_result result;
    CUDA_IN_RELAXED(cuda_of(device), result, true, qn_cuda.event_query(event));
    return answer(reached, result, "asking whether an event is reached");
}

quern_status qn_cuda_stream_query(quern_device *device, int *done, void *stream)
{
    cu_result result;
    CUDA_IN_RELAXED(cuda_of(device), result, true, qn_cuda.stream_query(stream));
    return answer(done, result, "asking whether a stream is done");
}

quern_status qn_cuda_stream_wait_event(quern_device *device, void *stream, void *event)
{
    DO(device, qn_cuda.stream_wait_event(stream, event, 0), "letting a stream wait for an event");
    return QUERN_OK;
}

quern_status qn_cuda_event_elapsed(quern_device *device, double *milliseconds, void *begin,
                                   void *end)
{
    float elapsed = 0;
    *milliseconds = 0;
    DO(device, qn_cuda.event_elapsed(&elapsed, begin, end), "taking the time between two events");
    *milliseconds = elapsed;
    return QUERN_OK;
}

/* The driver waits for a whole context: other users' work in it is waited for too. */
quern_status qn_cuda_synchronize(quern_device *device)
{
    DO(device, qn_cuda.context_synchronize(), "waiting for the GPU");
    return QUERN_OK;
}
