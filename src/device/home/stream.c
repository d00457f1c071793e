/* SPDX-License-Identifier: MIT
 *
 * stream: streams and events, which are the device's own with a hold on their home. The thing to
 * know: arrays are freed in the order of the stream that they were allocated on, so they and bound
 * calls hold their stream, and quern_stream_release() only drops the program's own hold.
 */
#include "device/device_internal.h"

#include <pthread.h>
#include <string.h>

/* ---- streams -------------------------------------------------------------------------------- */

quern_status qn_stream_refuse(const char *where, const quern_stream *stream, const char *user,
                              const qn_home *home)
{
    if (!qn_object_is(stream, QN_OBJECT_STREAM)) {
        return qn_object_refuse(where, "stream", stream, QN_OBJECT_STREAM);
    }
    qn_fail(QUERN_ERROR_INVALID_ARGUMENT, "%s: the stream belongs to another engine than the %s",
            where, user);
    qn_tell_places(stream->home, home, user);
    return QUERN_ERROR_INVALID_ARGUMENT;
}

/* Our own streams, all engines'. A program may wrap one by its handle, as it does those of others:
 * what is queued through that one holds it too. */
static pthread_mutex_t own_lock = PTHREAD_MUTEX_INITIALIZER;
static quern_stream *own_streams;

static void own_add(quern_stream *stream)
{
    pthread_mutex_lock(&own_lock);
    stream->next = own_streams;
    stream->link = &own_streams;
    if (own_streams) {
        own_streams->link = &stream->next;
    }
    own_streams = stream;
    pthread_mutex_unlock(&own_lock);
}

static void own_remove(quern_stream *stream)
{
    pthread_mutex_lock(&own_lock);
    *stream->link = stream->next;
    if (stream->next) {
        stream->next->link = stream->link;
    }
    pthread_mutex_unlock(&own_lock);
}

/* The one of this device with this handle, retained; NULL: it is none of ours, or about to go. */
static quern_stream *own_find(const qn_home *home, void *handle)
{
    pthread_mutex_lock(&own_lock);
    quern_stream *s = own_streams;
    while (s && (s->handle != handle || strcmp(s->home->place, home->place) != 0)) {
        s = s->next;
    }
    unsigned held = s ? atomic_load(&s->references) : 0;
    while (held > 0 && !atomic_compare_exchange_weak(&s->references, &held, held + 1)) {
    }
    pthread_mutex_unlock(&own_lock);
    return held > 0 ? s : NULL;
}

quern_stream *qn_stream_retain(quern_stream *stream)
{
    if (stream) {
        atomic_fetch_add_explicit(&stream->references, 1, memory_order_relaxed);
    }
    return stream;
}

void qn_stream_release(quern_stream *stream)
{
    if (!stream || atomic_fetch_sub_explicit(&stream->references, 1, memory_order_acq_rel) != 1) {
        return;
    }
    qn_home *home = stream->home;
    qn_object_end(&stream->object);
    if (atomic_load(&stream->capture)) {
        qn_capture_leave(stream);
    }
    home->owner->stream_ended(home, stream->handle);
    if (!stream->foreign) {
        own_remove(stream);
        home->methods->stream_free(home->device, stream->handle);
    }
    qn_stream_release(stream->wraps);
    if (stream->release) {
        stream->release(stream->context);
    }
    qn_free(stream);
    qn_home_release(home); /* last: it may close the device */
}

/* What cannot be had of a device that has no slot for it. */
static quern_status fail_missing(const qn_home *home, const char *what)
{
    return qn_fail(QUERN_ERROR_NOT_SUPPORTED, "the device \"%s\" has no %s", home->methods->name,
                   what);
}

/* The device's own stream. */
static quern_status handle_make(void **out, qn_home *home, const quern_stream_options *o)
{
    const quern_device_methods *m = home->methods;
    if (!o->non_blocking && !o->priority && (!o->name || !m->stream_new_with)) {
        return m->stream_new(home->device, out);
    }
    return m->stream_new_with ? m->stream_new_with(home->device, out, o)
                              : fail_missing(home, "non-blocking streams and none with a priority");
}

/* `options`: of a new one; NULL: around a foreign `handle`. */
static quern_status stream_make(quern_stream **out, qn_home *home, void *handle,
                                const quern_stream_options *options)
{
    quern_stream *stream = qn_calloc(1, sizeof *stream);
    if (!stream) {
        return qn_fail_memory("making a stream");
    }
    stream->handle = handle;
    stream->foreign = !options;
    if (options) {
        quern_status status = handle_make(&stream->handle, home, options);
        if (status != QUERN_OK) {
            qn_free(stream);
            return status;
        }
    }
    if (!options && home->methods->capture_seen) {
        atomic_init(&stream->watched, true);
        atomic_fetch_add(&home->wrapped, 1);
    }
    qn_home_retain(home);
    stream->home = home;
    atomic_init(&stream->references, 1);
    atomic_init(&stream->holds, 1);
    stream->object = QN_OBJECT_STREAM;
    if (options) {
        own_add(stream);
    } else {
        stream->wraps = own_find(home, handle);
    }
    *out = stream;
    return QUERN_OK;
}

quern_status quern_stream_new(quern_stream **out, quern_engine *engine)
{
    static const quern_stream_options none = QUERN_STREAM_OPTIONS_INIT;
    qn_error_reset();
    QN_CHECK_OUT(out);
    QN_CHECK_OBJECT(engine, QN_OBJECT_ENGINE);
    return stream_make(out, qn_home_of(engine), NULL, &none);
}

quern_status quern_stream_new_with(quern_stream **out, quern_engine *engine,
                                   const quern_stream_options *options)
{
    qn_error_reset();
    QN_CHECK_OUT(out);
    QN_CHECK_OBJECT(engine, QN_OBJECT_ENGINE);
    QN_TAKE_RESERVED(quern_stream_options, o, options);
    o.size = sizeof o;
    if (o.non_blocking != 0 && o.non_blocking != 1) {
        return qn_fail(QUERN_ERROR_INVALID_ARGUMENT,
                       "quern_stream_options.non_blocking is 0 or 1, not %d", (int)o.non_blocking);
    }
    return stream_make(out, qn_home_of(engine), NULL, &o);
}

quern_status quern_stream_wrap(quern_stream **out, quern_engine *engine, void *handle)
{
    qn_error_reset();
    QN_CHECK_OUT(out);
    QN_CHECK_OBJECT(engine, QN_OBJECT_ENGINE);
    return stream_make(out, qn_home_of(engine), handle, NULL);
}

quern_status quern_stream_wrap_owned(quern_stream **out, quern_engine *engine, void *handle,
                                     void (*release)(void *context), void *context)
{
    qn_error_reset();
    QN_CHECK_OUT(out);
    QN_CHECK_OBJECT(engine, QN_OBJECT_ENGINE);
    QN_CHECK_NOT_NULL(release);
    QN_TRY(stream_make(out, qn_home_of(engine), handle, NULL));
    (*out)->release = release;
    (*out)->context = context;
    return QUERN_OK;
}

void *quern_stream_handle(const quern_stream *stream)
{
    return qn_object_is(stream, QN_OBJECT_STREAM) ? stream->handle : NULL;
}

quern_status quern_stream_wait(quern_stream *stream)
{
    qn_error_reset();
    QN_CHECK_OBJECT(stream, QN_OBJECT_STREAM);
    if (qn_stream_captures(stream)) {
        return qn_capture_refuse(__func__, ", and its work is not done; wait after a launch of the "
                                           "graph");
    }
    return stream->home->methods->stream_wait(stream->home->device, stream->handle);
}

quern_status quern_stream_query(int *done, quern_stream *stream)
{
    qn_error_reset();
    QN_CHECK_NOT_NULL(done);
    *done = 0;
    QN_CHECK_OBJECT(stream, QN_OBJECT_STREAM);
    if (qn_stream_captures(stream)) {
        return qn_capture_refuse(__func__, ", and its work is not done; ask after a launch of the "
                                           "graph");
    }
    const quern_device_methods *m = stream->home->methods;
    return m->stream_query ? m->stream_query(stream->home->device, done, stream->handle)
                           : fail_missing(stream->home, "streams that can be asked: wait for it");
}

quern_status quern_stream_call(quern_stream *stream, void (*function)(void *context), void *context)
{
    qn_error_reset();
    QN_CHECK_OBJECT(stream, QN_OBJECT_STREAM);
    QN_CHECK_NOT_NULL(function);
    const quern_device_methods *m = stream->home->methods;
    if (m->stream_call) {
        return m->stream_call(stream->home->device, stream->handle, function, context);
    }
    QN_TRY(m->stream_wait(stream->home->device, stream->handle));
    function(context);
    return QUERN_OK;
}

quern_stream *quern_stream_retain(quern_stream *stream)
{
    if (qn_object_is(stream, QN_OBJECT_STREAM)) {
        atomic_fetch_add_explicit(&stream->holds, 1, memory_order_relaxed);
    }
    return stream;
}

void quern_stream_release(quern_stream *stream)
{
    if (!qn_object_can_free(__func__, stream, QN_OBJECT_STREAM)) {
        return;
    }
    unsigned holds = atomic_load(&stream->holds);
    do {
        if (holds == 0) { /* something else still holds it */
            qn_log(&stream->home->logger, QN_ERROR,
                   "quern_stream_release: this stream was released before, by all who held it");
            return;
        }
    } while (!atomic_compare_exchange_weak(&stream->holds, &holds, holds - 1));
    if (holds == 1) {
        /* the driver is not asked: a foreign one may be gone */
        if (atomic_load(&stream->capture)) {
            qn_capture_abandon(stream);
        }
        qn_stream_release(stream);
    }
}

/* ---- events --------------------------------------------------------------------------------- */

quern_status quern_event_new(quern_event **out, quern_engine *engine)
{
    qn_error_reset();
    QN_CHECK_OUT(out);
    QN_CHECK_OBJECT(engine, QN_OBJECT_ENGINE);
    qn_home *home = qn_home_of(engine);
    quern_event *event = qn_calloc(1, sizeof *event);
    if (!event) {
        return qn_fail_memory("making an event");
    }
    quern_status status = home->methods->event_new(home->device, &event->handle);
    if (status != QUERN_OK) {
        qn_free(event);
        return status;
    }
    qn_home_retain(home);
    event->home = home;
    atomic_init(&event->references, 1);
    event->object = QN_OBJECT_EVENT;
    *out = event;
    return QUERN_OK;
}

/* An event and a stream (or none) that belong together. */
static quern_status check_pair(const char *function, const quern_event *event,
                               const quern_stream *stream)
{
    if (!qn_object_is(event, QN_OBJECT_EVENT)) {
        return qn_object_refuse(function, "event", event, QN_OBJECT_EVENT);
    }
    return qn_stream_fits(stream, event->home)
               ? QUERN_OK
               : qn_stream_refuse(function, stream, "event", event->home);
}

quern_status quern_event_record(quern_event *event, quern_stream *stream)
{
    qn_error_reset();
    QN_TRY(check_pair("quern_event_record", event, stream));
    QN_TRY(qn_capture_ensure(stream));
    QN_TRY(event->home->methods->event_record(event->home->device, event->handle,
                                              qn_stream_handle(event->home, stream)));
    atomic_store_explicit(&event->recorded, true, memory_order_relaxed);
    qn_capture_mark(event, stream);
    return QUERN_OK;
}

quern_status quern_event_wait(quern_event *event)
{
    qn_error_reset();
    QN_CHECK_OBJECT(event, QN_OBJECT_EVENT);
    QN_TRY(qn_capture_refuse_event(__func__, event));
    return event->home->methods->event_wait(event->home->device, event->handle);
}

quern_status quern_event_query(int *reached, quern_event *event)
{
    qn_error_reset();
    QN_CHECK_NOT_NULL(reached);
    *reached = 0;
    QN_CHECK_OBJECT(event, QN_OBJECT_EVENT);
    QN_TRY(qn_capture_refuse_event(__func__, event));
    const quern_device_methods *m = event->home->methods;
    return m->event_query ? m->event_query(event->home->device, reached, event->handle)
                          : fail_missing(event->home, "events that can be asked: wait for it");
}

quern_status quern_stream_wait_event(quern_stream *stream, quern_event *event)
{
    qn_error_reset();
    QN_TRY(check_pair("quern_stream_wait_event", event, stream));
    if (qn_stream_captures(stream) || atomic_load(&event->capture)) {
        return qn_capture_wait(stream, event);
    }
    return event->home->methods->stream_wait_event(
        event->home->device, qn_stream_handle(event->home, stream), event->handle);
}

quern_status quern_event_elapsed(double *milliseconds, quern_event *begin, quern_event *end)
{
    qn_error_reset();
    QN_CHECK_NOT_NULL(milliseconds);
    *milliseconds = 0;
    QN_CHECK_OBJECT(begin, QN_OBJECT_EVENT);
    QN_CHECK_OBJECT(end, QN_OBJECT_EVENT);
    if (begin->home != end->home) {
        qn_fail(QUERN_ERROR_INVALID_ARGUMENT,
                "quern_event_elapsed: `end` belongs to another engine than `begin`");
        qn_tell_places(end->home, begin->home, "other");
        return QUERN_ERROR_INVALID_ARGUMENT;
    }
    if (!atomic_load(&begin->recorded) || !atomic_load(&end->recorded)) {
        return qn_fail(
            QUERN_ERROR_INVALID_ARGUMENT,
            "quern_event_elapsed: `%s` was never recorded: call quern_event_record() before "
            "and after the work, and wait for the later event",
            atomic_load(&begin->recorded) ? "end" : "begin");
    }
    QN_TRY(qn_capture_refuse_event(__func__, begin));
    QN_TRY(qn_capture_refuse_event(__func__, end));
    return begin->home->methods->event_elapsed(begin->home->device, milliseconds, begin->handle,
                                               end->handle);
}

quern_event *quern_event_retain(quern_event *event)
{
    if (qn_object_is(event, QN_OBJECT_EVENT)) {
        atomic_fetch_add_explicit(&event->references, 1, memory_order_relaxed);
    }
    return event;
}

void quern_event_release(quern_event *event)
{
    if (qn_object_can_free(__func__, event, QN_OBJECT_EVENT) &&
        atomic_fetch_sub_explicit(&event->references, 1, memory_order_acq_rel) == 1) {
        qn_object_end(&event->object);
        event->home->methods->event_free(event->home->device, event->handle);
        qn_capture_release(atomic_load(&event->capture));
        qn_home_release(event->home);
        qn_free(event);
    }
}
