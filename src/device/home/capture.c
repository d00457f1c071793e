/* SPDX-License-Identifier: MIT
 *
 * capture: what must be known while the work of streams is recorded for a graph. In: streams,
 * events between them, what their work uses. Out: the device's graph and what it holds; refusals,
 * by name, of what a GPU cannot do meanwhile, before the driver ends the capture for it. The thing
 * to know: one lock guards all captures of the process, and is taken only while there are some;
 * what is released in the order of a stream that is being captured waits for the end. What other
 * libraries capture is found out by capture_other.c, and treated alike.
 */
#include "device/home/capture_inside.h"

/* Default streams, which take part in no capture: NULL, CU_STREAM_LEGACY, CU_STREAM_PER_THREAD. */
static bool is_default(const void *handle)
{
    return (uintptr_t)handle <= 2;
}

/* ---- what is held --------------------------------------------------------------------------- */

quern_status qn_capture_keep(quern_stream *stream, void *object, void (*release)(void *object))
{
    QN_TRY(qn_capture_ensure(stream));
    pthread_mutex_lock(&qn_captures_lock);
    qn_capture *capture = atomic_load(&stream->capture);
    const bool room = capture && QN_ROOM(capture->kept);
    if (room) {
        capture->kept.items[capture->kept.count++] = (qn_kept){object, release};
    }
    pthread_mutex_unlock(&qn_captures_lock);
    if (capture && !room) {
        return qn_fail_memory("recording work of a stream");
    }
    if (!capture) { /* another thread has ended it */
        release(object);
    }
    return QUERN_OK;
}

/* ---- what waits for the end ----------------------------------------------------------------- */

/* What the handle's work is recorded in, or (NULL) any capture of the home. */
static qn_capture *capture_of(qn_home *home, void *handle)
{
    if (!handle) {
        qn_captures_look(home);
        return home->capturing;
    }
    return qn_capture_of_handle(home, handle);
}

bool qn_capture_defer(qn_home *home, void *stream, qn_deferred *deferred)
{
    const bool others = stream && stream != home->stream && atomic_load(&home->wrapped) != 0;
    if (atomic_load_explicit(&home->captures, memory_order_acquire) == 0 && !others) {
        return false;
    }
    pthread_mutex_lock(&qn_captures_lock);
    qn_capture *capture = capture_of(home, stream);
    if (capture) {
        deferred->next = capture->deferred;
        capture->deferred = deferred;
    }
    pthread_mutex_unlock(&qn_captures_lock);
    return capture != NULL;
}

/* ---- refusals ------------------------------------------------------------------------------- */

quern_status qn_capture_refuse(const char *function, const char *why)
{
    return qn_fail(QUERN_ERROR_INVALID_ARGUMENT, "%s: the stream is being captured%s", function,
                   why);
}

quern_status qn_capture_refuse_event(const char *function, const quern_event *event)
{
    if (!atomic_load_explicit(&event->capture, memory_order_relaxed)) {
        return QUERN_OK;
    }
    return qn_fail(
        QUERN_ERROR_INVALID_ARGUMENT,
        "%s: the event was recorded in a capture, and marks no work that is done; record "
        "it on a stream that is not being captured",
        function);
}

/* ---- events --------------------------------------------------------------------------------- */

void qn_capture_mark(quern_event *event, const quern_stream *stream)
{
    if (!qn_stream_captures(stream) && !atomic_load(&event->capture)) {
        return;
    }
    pthread_mutex_lock(&qn_captures_lock);
    qn_capture *old = atomic_load(&event->capture);
    qn_capture *now = stream ? atomic_load(&stream->capture) : NULL;
    if (now) {
        atomic_fetch_add(&now->references, 1);
    }
    atomic_store(&event->capture, now);
    pthread_mutex_unlock(&qn_captures_lock);
    qn_capture_release(old);
}

static quern_status check_wait(const quern_stream *stream, const qn_capture *of_stream,
                               const qn_capture *of_event)
{
    static const char function[] = "quern_stream_wait_event";
    if (of_event && of_event->over) {
        return qn_fail(QUERN_ERROR_INVALID_ARGUMENT,
                       "%s: the event was recorded in a capture that has ended; record it again",
                       function);
    }
    if (of_stream && of_stream != of_event) {
        return qn_capture_refuse(function,
                                 of_event ? ", and the event is of another capture"
                                          : ", and the event was recorded outside of the capture: "
                                            "let it wait before quern_stream_capture()");
    }
    if (!of_stream && (!stream || is_default(stream->handle))) {
        return qn_fail(QUERN_ERROR_INVALID_ARGUMENT,
                       "%s: the event is of a capture, in which %s cannot take part", function,
                       stream ? "a default stream" : "the engine's own stream");
    }
    return QUERN_OK;
}

static quern_status wait_locked(quern_stream *stream, quern_event *event)
{
    qn_capture *of_stream = stream ? atomic_load(&stream->capture) : NULL;
    qn_capture *of_event = atomic_load(&event->capture);
    const qn_home *home = event->home;
    if (of_stream && !atomic_load(&event->recorded)) {
        return QUERN_OK; /* a mark that is nowhere: nothing to wait for */
    }
    if (of_stream || of_event) {
        QN_TRY(check_wait(stream, of_stream, of_event));
    }
    const bool joins = of_event && !of_stream;
    if (joins && !QN_ROOM(of_event->joined)) {
        return qn_fail_memory("capturing a stream");
    }
    QN_TRY(home->methods->stream_wait_event(home->device, qn_stream_handle(home, stream),
                                            event->handle));
    if (joins) {
        (void)qn_capture_link(stream, of_event); /* there is room */
    }
    return QUERN_OK;
}

quern_status qn_capture_wait(quern_stream *stream, quern_event *event)
{
    QN_TRY(qn_capture_ensure(stream));
    pthread_mutex_lock(&qn_captures_lock);
    const quern_status status = wait_locked(stream, event);
    pthread_mutex_unlock(&qn_captures_lock);
    return status;
}

/* ---- beginning ------------------------------------------------------------------------------ */

static quern_status begin_locked(qn_capture *capture, quern_stream *stream, const char *function)
{
    qn_home *home = stream->home;
    if (atomic_load(&stream->capture)) {
        return qn_capture_refuse(function, " already");
    }
    QN_TRY(home->methods->capture_begin(home->device, stream->handle));
    capture->origin = qn_stream_retain(stream);
    capture->next = home->capturing;
    home->capturing = capture;
    atomic_fetch_add(&home->captures, 1);
    atomic_store(&stream->capture, capture);
    return QUERN_OK;
}

quern_status quern_stream_capture(quern_stream *stream)
{
    qn_error_reset();
    QN_CHECK_OBJECT(stream, QN_OBJECT_STREAM);
    qn_home *home = stream->home;
    if (!home->methods->capture_begin || !home->methods->capture_end ||
        !home->methods->graph_launch || !home->methods->graph_free) {
        return qn_fail(QUERN_ERROR_NOT_SUPPORTED, "the device \"%s\" has no graphs",
                       home->methods->name);
    }
    if (is_default(stream->handle)) {
        return qn_fail(QUERN_ERROR_INVALID_ARGUMENT,
                       "%s: a default stream cannot be captured; make one with quern_stream_new()",
                       __func__);
    }
    if (qn_stream_captures(stream)) {
        return qn_capture_refuse(__func__, " already");
    }
    qn_capture *capture = qn_calloc(1, sizeof *capture);
    if (!capture) {
        return qn_fail_memory("capturing a stream");
    }
    atomic_init(&capture->references, 1);
    capture->home = home;
    pthread_mutex_lock(&qn_captures_lock);
    const quern_status status = begin_locked(capture, stream, __func__);
    pthread_mutex_unlock(&qn_captures_lock);
    if (status != QUERN_OK) {
        qn_free(capture);
    }
    return status;
}

/* ---- ending --------------------------------------------------------------------------------- */

/* The streams do their work again. */
static void part(qn_capture *capture)
{
    qn_capture **link = &capture->home->capturing;
    while (*link != capture) {
        link = &(*link)->next;
    }
    *link = capture->next;
    atomic_fetch_sub(&capture->home->captures, 1);
    for (uint32_t k = 0; k < capture->joined.count; k++) {
        atomic_store(&capture->joined.items[k]->capture, NULL);
    }
    atomic_store(&capture->origin->capture, NULL);
    capture->over = true;
}

/* Without the lock: what was waiting may release anything. */
static void finish(qn_capture *capture)
{
    while (capture->deferred) {
        qn_deferred *first = capture->deferred;
        capture->deferred = first->next;
        first->finish(first);
    }
    while (capture->joined.count > 0) {
        qn_stream_release(capture->joined.items[--capture->joined.count]);
    }
    qn_stream_release(capture->origin);
    qn_capture_release(capture);
}

/* Take the stream's capture out of the lists; `graph` NULL: forget it. */
static quern_status end_locked(qn_capture **out, void **graph, quern_stream *stream)
{
    qn_capture *capture = atomic_load(&stream->capture);
    const qn_home *home = stream->home;
    *out = NULL;
    if (!capture) {
        return qn_fail(QUERN_ERROR_INVALID_ARGUMENT,
                       "quern_stream_end_capture: the stream is not being captured");
    }
    if (!capture->origin) {
        return qn_fail(
            QUERN_ERROR_INVALID_ARGUMENT,
            "quern_stream_end_capture: another library has begun the capture; it ends it");
    }
    if (capture->origin != stream) {
        return qn_fail(QUERN_ERROR_INVALID_ARGUMENT,
                       "quern_stream_end_capture: the stream only takes part in a capture, which "
                       "ends with the stream that it began with");
    }
    const quern_status status = home->methods->capture_end(home->device, stream->handle, graph);
    part(capture);
    *out = capture;
    return status;
}

quern_status qn_capture_end(void **graph, qn_kept_list *kept, quern_stream *stream)
{
    qn_capture *capture;
    qn_kept_list own = {0};
    *kept = own;
    (void)qn_capture_ensure(stream); /* it may be another library's */
    pthread_mutex_lock(&qn_captures_lock);
    const quern_status status = end_locked(&capture, graph, stream);
    if (capture) {
        own = capture->kept;
    }
    pthread_mutex_unlock(&qn_captures_lock);
    if (capture) {
        finish(capture);
    }
    if (status != QUERN_OK) {
        qn_kept_release(&own);
    }
    *kept = own;
    return status;
}

void qn_capture_abandon(quern_stream *stream)
{
    qn_capture *capture = NULL;
    pthread_mutex_lock(&qn_captures_lock);
    qn_capture *own = atomic_load(&stream->capture);
    if (own && own->origin == stream) {
        (void)end_locked(&capture, NULL, stream);
    }
    pthread_mutex_unlock(&qn_captures_lock);
    if (capture) {
        qn_kept_list kept = capture->kept;
        finish(capture);
        qn_kept_release(&kept);
    }
}
