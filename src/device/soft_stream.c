/* SPDX-License-Identifier: MIT
 *
 * Streams and events of the software device. Work is done before the call that queues it returns,
 * so a stream is no more than its name, waiting is over at once, and an event is the time at which
 * it was recorded. The handle of a stream is the address of its name: what names it to programs,
 * and is never looked into where it comes from one.
 */
#include "device/soft_device.h"

#include <stdio.h>
#include <string.h>

quern_status qn_soft_stream_new_with(quern_device *quern, void **out,
                                     const quern_stream_options *options)
{
    soft_device *device = soft_of(quern);
    *out = NULL;
    soft_stream *stream = qn_calloc(1, sizeof *stream);
    if (!stream) {
        return qn_fail_memory("making a stream");
    }
    const unsigned number = atomic_fetch_add(&device->streams, 1);
    if (options->name) {
        snprintf(stream->name, sizeof stream->name, "stream '%s'", options->name);
    } else if (number == 0) {
        snprintf(stream->name, sizeof stream->name, "the engine's own stream");
    } else {
        snprintf(stream->name, sizeof stream->name, "stream %u", number);
    }
    *out = stream;
    return QUERN_OK;
}

quern_status qn_soft_stream_new(quern_device *device, void **out)
{
    static const quern_stream_options none = QUERN_STREAM_OPTIONS_INIT;
    return qn_soft_stream_new_with(device, out, &none);
}

void qn_soft_stream_free(quern_device *device, void *stream)
{
    (void)device;
    qn_free(stream);
}

quern_status qn_soft_stream_call(quern_device *device, void *stream, void (*function)(void *),
                                 void *context)
{
    quern_status status;
    if (qn_soft_captures(device) &&
        qn_soft_record_call(device, function, context, stream, &status)) {
        return status;
    }
    function(context);
    return QUERN_OK;
}

quern_status qn_soft_stream_wait(quern_device *device, void *stream)
{
    (void)device;
    (void)stream;
    return QUERN_OK;
}

quern_status qn_soft_event_new(quern_device *device, void **out)
{
    (void)device;
    *out = qn_calloc(1, sizeof(soft_event));
    return *out ? QUERN_OK : qn_fail_memory("making an event");
}

void qn_soft_event_free(quern_device *device, void *event)
{
    (void)device;
    qn_free(event);
}

quern_status qn_soft_event_record(quern_device *device, void *event, void *stream)
{
    soft_event *mark = event;
    quern_status status;
    if (qn_soft_captures(device) && qn_soft_record_event(device, mark, stream, &status)) {
        return status;
    }
    atomic_store(&mark->captured_on, NULL);
    atomic_store(&mark->at_ms, qn_now_ms());
    atomic_store(&mark->recorded, true);
    return QUERN_OK;
}

quern_status qn_soft_event_wait(quern_device *device, void *event)
{
    (void)device;
    (void)event;
    return QUERN_OK;
}

quern_status qn_soft_event_query(quern_device *device, int *reached, void *event)
{
    (void)device;
    (void)event;
    *reached = 1;
    return QUERN_OK;
}

quern_status qn_soft_stream_wait_event(quern_device *device, void *stream, void *event)
{
    quern_status status;
    return qn_soft_captures(device) && qn_soft_record_wait(device, event, stream, &status)
               ? status
               : QUERN_OK;
}

quern_status qn_soft_event_elapsed(quern_device *device, double *milliseconds, void *begin,
                                   void *end)
{
    (void)device;
    soft_event *from = begin, *to = end;
    *milliseconds = 0;
    if (!atomic_load(&from->recorded) || !atomic_load(&to->recorded)) {
        return qn_fail(QUERN_ERROR_INVALID_ARGUMENT,
                       "the time between two events is known once both have been recorded");
    }
    *milliseconds = atomic_load(&to->at_ms) - atomic_load(&from->at_ms);
    return QUERN_OK;
}

quern_status qn_soft_synchronize(quern_device *device)
{
    (void)device;
    return QUERN_OK;
}
