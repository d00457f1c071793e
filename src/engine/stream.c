/* SPDX-License-Identifier: MIT
 *
 * stream: streams and events, which are the device's own with a hold on the engine.
 */
#include "engine/engine.h"

struct quern_event {
    quern_engine *engine; /**< retained */
    void *handle;
};

static quern_status fail_null(const char *function, const char *what)
{
    return qn_fail(QUERN_ERROR_INVALID_ARGUMENT, "%s: %s is NULL", function, what);
}

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
    *out = stream;
    return QUERN_OK;
}

quern_status quern_stream_new(quern_stream **out, quern_engine *engine)
{
    qn_error_reset();
    if (out == NULL) {
        return fail_null("quern_stream_new", "out");
    }
    *out = NULL;
    return engine == NULL ? fail_null("quern_stream_new", "engine")
                          : stream_make(out, engine, NULL, false);
}

quern_status quern_stream_wrap(quern_stream **out, quern_engine *engine, void *handle)
{
    qn_error_reset();
    if (out == NULL) {
        return fail_null("quern_stream_wrap", "out");
    }
    *out = NULL;
    return engine == NULL ? fail_null("quern_stream_wrap", "engine")
                          : stream_make(out, engine, handle, true);
}

void *quern_stream_handle(const quern_stream *stream)
{
    return stream->handle;
}

quern_status quern_stream_wait(quern_stream *stream)
{
    qn_error_reset();
    if (stream == NULL) {
        return fail_null("quern_stream_wait", "stream");
    }
    return stream->engine->methods->stream_wait(stream->engine->device, stream->handle);
}

void quern_stream_free(quern_stream *stream)
{
    if (stream == NULL) {
        return;
    }
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
    if (out == NULL) {
        return fail_null("quern_event_new", "out");
    }
    *out = NULL;
    if (engine == NULL) {
        return fail_null("quern_event_new", "engine");
    }
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
    *out = event;
    return QUERN_OK;
}

/** An event and a stream (or none) that belong together. */
static quern_status check_pair(const char *function, const quern_event *event,
                               const quern_stream *stream)
{
    if (event == NULL) {
        return fail_null(function, "event");
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
    if (event == NULL) {
        return fail_null("quern_event_wait", "event");
    }
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
    if (milliseconds == NULL || begin == NULL || end == NULL) {
        return fail_null("quern_event_elapsed", milliseconds == NULL ? "milliseconds" : "an event");
    }
    *milliseconds = 0;
    if (begin->engine != end->engine) {
        return qn_fail(QUERN_ERROR_INVALID_ARGUMENT,
                       "quern_event_elapsed: the events belong to different engines");
    }
    return begin->engine->methods->event_elapsed(begin->engine->device, milliseconds, begin->handle,
                                                 end->handle);
}

void quern_event_free(quern_event *event)
{
    if (event != NULL) {
        event->engine->methods->event_free(event->engine->device, event->handle);
        qn_engine_release(event->engine);
        qn_free(event);
    }
}
