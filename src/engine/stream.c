/* SPDX-License-Identifier: MIT
 *
 * stream: streams and events, which are the device's own with a hold on the engine.
 */
#include "engine/engine.h"

struct quern_event {
    uint32_t object;      /**< QN_OBJECT_EVENT */
    quern_engine *engine; /**< retained */
    void *handle;
};

/* ---- streams -------------------------------------------------------------------------------- */

static quern_status stream_make(quern_stream **out, quern_engine *engine, void *handle,
                                bool foreign)
{
    quern_stream *stream = qn_calloc(1, sizeof *stream);
    if (stream == NULL) {
        return qn_fail_memory("making a stream");
    }
    stream->handle = handle;
    stream->foreign = foreign;
    if (!foreign) {
        quern_status status = engine->methods->stream_new(engine->device, &stream->handle);
        if (status != QUERN_OK) {
            qn_free(stream);
            return status;
        }
    }
    qn_engine_retain(engine);
    stream->engine = engine;
    stream->object = QN_OBJECT_STREAM;
    *out = stream;
    return QUERN_OK;
}

quern_status quern_stream_new(quern_stream **out, quern_engine *engine)
{
    qn_error_reset();
    QN_CHECK_OUT(out);
    QN_CHECK_OBJECT(engine, QN_OBJECT_ENGINE);
    return stream_make(out, engine, NULL, false);
}

#define CU_STREAM_PER_THREAD ((void *)2) /* cuda.h */

quern_status quern_stream_wrap(quern_stream **out, quern_engine *engine, void *handle)
{
    qn_error_reset();
    QN_CHECK_OUT(out);
    QN_CHECK_OBJECT(engine, QN_OBJECT_ENGINE);
    if (handle == CU_STREAM_PER_THREAD) {
        return qn_fail(QUERN_ERROR_INVALID_ARGUMENT,
                       "CU_STREAM_PER_THREAD is another stream in each thread, and so no stream to "
                       "wrap: make one with quern_stream_new()");
    }
    return stream_make(out, engine, handle, true);
}

void *quern_stream_handle(const quern_stream *stream)
{
    return qn_object_is(stream, QN_OBJECT_STREAM) ? stream->handle : NULL;
}

quern_status quern_stream_wait(quern_stream *stream)
{
    qn_error_reset();
    QN_CHECK_OBJECT(stream, QN_OBJECT_STREAM);
    return stream->engine->methods->stream_wait(stream->engine->device, stream->handle);
}

void quern_stream_free(quern_stream *stream)
{
    if (!qn_object_can_free(__func__, stream, QN_OBJECT_STREAM)) {
        return;
    }
    qn_object_end(&stream->object);
    qn_workspaces_forget(stream->engine, stream->handle, false);
    if (!stream->foreign) {
        stream->engine->methods->stream_free(stream->engine->device, stream->handle);
    }
    qn_engine_release(stream->engine);
    qn_free(stream);
}

/* ---- events --------------------------------------------------------------------------------- */

quern_status quern_event_new(quern_event **out, quern_engine *engine)
{
    qn_error_reset();
    QN_CHECK_OUT(out);
    QN_CHECK_OBJECT(engine, QN_OBJECT_ENGINE);
    quern_event *event = qn_calloc(1, sizeof *event);
    if (event == NULL) {
        return qn_fail_memory("making an event");
    }
    quern_status status = engine->methods->event_new(engine->device, &event->handle);
    if (status != QUERN_OK) {
        qn_free(event);
        return status;
    }
    qn_engine_retain(engine);
    event->engine = engine;
    event->object = QN_OBJECT_EVENT;
    *out = event;
    return QUERN_OK;
}

/** An event and a stream (or none) that belong together. */
static quern_status check_pair(const char *function, const quern_event *event,
                               const quern_stream *stream)
{
    if (!qn_object_is(event, QN_OBJECT_EVENT)) {
        return qn_object_refuse(function, "event", event, QN_OBJECT_EVENT);
    }
    if (stream != NULL && !qn_object_is(stream, QN_OBJECT_STREAM)) {
        return qn_object_refuse(function, "stream", stream, QN_OBJECT_STREAM);
    }
    if (stream != NULL && stream->engine != event->engine) {
        return qn_fail(QUERN_ERROR_INVALID_ARGUMENT,
                       "%s: the stream belongs to another engine than the event", function);
    }
    return QUERN_OK;
}

quern_status quern_event_record(quern_event *event, quern_stream *stream)
{
    qn_error_reset();
    QN_TRY(check_pair("quern_event_record", event, stream));
    return event->engine->methods->event_record(event->engine->device, event->handle,
                                                qn_stream_handle(event->engine, stream));
}

quern_status quern_event_wait(quern_event *event)
{
    qn_error_reset();
    QN_CHECK_OBJECT(event, QN_OBJECT_EVENT);
    return event->engine->methods->event_wait(event->engine->device, event->handle);
}

quern_status quern_stream_wait_event(quern_stream *stream, quern_event *event)
{
    qn_error_reset();
    QN_TRY(check_pair("quern_stream_wait_event", event, stream));
    return event->engine->methods->stream_wait_event(
        event->engine->device, qn_stream_handle(event->engine, stream), event->handle);
}

quern_status quern_event_elapsed(double *milliseconds, quern_event *begin, quern_event *end)
{
    qn_error_reset();
    QN_CHECK_NOT_NULL(milliseconds);
    *milliseconds = 0;
    QN_CHECK_OBJECT(begin, QN_OBJECT_EVENT);
    QN_CHECK_OBJECT(end, QN_OBJECT_EVENT);
    if (begin->engine != end->engine) {
        return qn_fail(QUERN_ERROR_INVALID_ARGUMENT,
                       "quern_event_elapsed: the events belong to different engines");
    }
    return begin->engine->methods->event_elapsed(begin->engine->device, milliseconds, begin->handle,
                                                 end->handle);
}

void quern_event_free(quern_event *event)
{
    if (qn_object_can_free(__func__, event, QN_OBJECT_EVENT)) {
        qn_object_end(&event->object);
        event->engine->methods->event_free(event->engine->device, event->handle);
        qn_engine_release(event->engine);
        qn_free(event);
    }
}
