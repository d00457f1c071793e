/* SPDX-License-Identifier: MIT
 *
 * Streams and events of the software device. Work is done before the call that queues it returns,
 * so a stream is no more than its name, waiting is over at once, and an event is the time at which
 * it was recorded. The handle of a stream is the address of its name: what names it to programs,
 * and is never looked into where it comes from one.
 */
#include "device/soft/soft_device.h"

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
    if (device->history) {
        qn_stream_history_add(device->history, stream, stream->name, options->non_blocking != 0);
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
    if (stream && soft_of(device)->history) {
        qn_stream_history_remove(soft_of(device)->history, stream);
    }
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
    /* it may tell the program that what is before it is done */
    return qn_soft_stream_wait(device, stream);
}

quern_status qn_soft_stream_wait(quern_device *device, void *stream)
{
    if (soft_of(device)->history) {
        qn_stream_host_waits(soft_of(device)->history, stream);
        return qn_soft_tell_early(device);
    }
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
    qn_stream_mark_free(event ? ((soft_event *)event)->mark : NULL);
    qn_free(event);
}

quern_status qn_soft_event_record(quern_device *device, void *event, void *stream)
{
    soft_event *mark = event;
    quern_status status;
    if (qn_soft_captures(device) && qn_soft_record_event(device, mark, stream, &status)) {
        return status;
    }
    if (soft_of(device)->history) {
        qn_stream_mark_set(soft_of(device)->history, &mark->mark, stream);
    }
    atomic_store(&mark->at_ms, qn_now_ms());
    return QUERN_OK;
}

quern_status qn_soft_event_wait(quern_device *device, void *event)
{
    if (soft_of(device)->history) {
        qn_stream_host_waits_mark(soft_of(device)->history, &((soft_event *)event)->mark);
    }
    return QUERN_OK;
}

quern_status qn_soft_event_query(quern_device *device, int *reached, void *event)
{
    *reached = 1;
    return qn_soft_event_wait(device, event);
}

quern_status qn_soft_stream_query(quern_device *device, int *done, void *stream)
{
    *done = 1;
    return qn_soft_stream_wait(device, stream);
}

quern_status qn_soft_stream_wait_event(quern_device *device, void *stream, void *event)
{
    quern_status status;
    if (qn_soft_captures(device) && qn_soft_record_wait(device, event, stream, &status)) {
        return status;
    }
    if (soft_of(device)->history) {
        qn_stream_waits(soft_of(device)->history, stream, &((soft_event *)event)->mark);
    }
    return QUERN_OK;
}

quern_status qn_soft_event_elapsed(quern_device *device, double *milliseconds, void *begin,
                                   void *end)
{
    soft_event *from = begin, *to = end;
    *milliseconds = 0;
    *milliseconds = atomic_load(&to->at_ms) - atomic_load(&from->at_ms);
    (void)qn_soft_event_wait(device, begin); /* a time tells that both were reached */
    return qn_soft_event_wait(device, end);
}

quern_status qn_soft_synchronize(quern_device *device)
{
    if (soft_of(device)->history) {
        qn_stream_host_waits_all(soft_of(device)->history);
        return qn_soft_tell_early(device);
    }
    return QUERN_OK;
}
