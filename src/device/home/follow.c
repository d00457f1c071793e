/* SPDX-License-Identifier: MIT
 *
 * follow: our streams and those of other libraries wait for each other. In: a stream of ours and a
 * foreign handle. Out: queued waits, by an event; nothing is waited for on the host. The thing to
 * know: what a stream waits for is settled when the wait is queued, so an event is free for the
 * next at once; one of them is kept for it.
 */
#include "device/device_internal.h"
#include <quern/interop.h>

static quern_status take_event(void **event, qn_home *home)
{
    *event = atomic_exchange(&home->spare_event, NULL);
    return *event ? QUERN_OK : home->methods->event_new(home->device, event);
}

static void give_event(qn_home *home, void *event)
{
    void *none = NULL;
    if (!atomic_compare_exchange_strong(&home->spare_event, &none, event)) {
        home->methods->event_free(home->device, event);
    }
}

void qn_home_drop_event(qn_home *home)
{
    void *event = atomic_exchange(&home->spare_event, NULL);
    if (event) {
        home->methods->event_free(home->device, event);
    }
}

static quern_status refuse_null(void)
{
    return qn_fail(QUERN_ERROR_INVALID_ARGUMENT,
                   "the handle is NULL, which may mean two streams: pass 1 for the legacy default "
                   "stream, 2 for that of the thread, or a CUstream");
}

/* A stream that is being captured waits for none outside of the capture, nor one outside for it:
 * the driver would end the capture, or capture ours along. */
static quern_status check_captures(const qn_home *home, void *earlier, void *later)
{
    const quern_device_methods *m = home->methods;
    uint64_t of_earlier = 0, of_later = 0;
    if (!m->capture_seen) {
        return QUERN_OK;
    }
    QN_TRY(m->capture_seen(home->device, earlier, &of_earlier));
    QN_TRY(m->capture_seen(home->device, later, &of_later));
    return of_earlier == of_later
               ? QUERN_OK
               : qn_fail(QUERN_ERROR_INVALID_ARGUMENT,
                         "the stream %p is being captured by another library, and waits for no "
                         "stream outside of the capture, nor such a stream for it: wrap it "
                         "(quern_stream_wrap), and pass it to the calls",
                         of_earlier ? earlier : later);
}

/* Let `later` wait for what is queued on `earlier` by now. */
static quern_status order(qn_home *home, void *earlier, void *later)
{
    void *event;
    if (earlier == later) {
        return QUERN_OK;
    }
    QN_TRY(check_captures(home, earlier, later));
    QN_TRY(take_event(&event, home));
    quern_status status = home->methods->event_record(home->device, event, earlier);
    if (status == QUERN_OK) {
        status = home->methods->stream_wait_event(home->device, later, event);
    }
    if (status != QUERN_OK) {
        qn_error_suffix("; is the handle a stream of the engine's device?");
    }
    give_event(home, event);
    return status;
}

quern_status qn_stream_follow(qn_home *home, const quern_stream *stream, void *handle)
{
    return handle ? order(home, handle, qn_stream_handle(home, stream)) : refuse_null();
}

/* Can the engine order work between this stream of its own and foreign ones? */
static quern_status check_own(const char *function, const quern_stream *stream, const qn_home *home)
{
    if (!qn_stream_fits(stream, home)) {
        return qn_stream_refuse(function, stream, "engine", home);
    }
    return qn_stream_captures(stream) && !qn_capture_is_other(stream)
               ? qn_capture_refuse(function, ", and a graph waits for no stream outside of it")
               : QUERN_OK;
}

quern_status quern_stream_follow(quern_engine *engine, quern_stream *stream, void *handle)
{
    qn_error_reset();
    QN_CHECK_OBJECT(engine, QN_OBJECT_ENGINE);
    QN_TRY(check_own(__func__, stream, qn_home_of(engine)));
    return qn_stream_follow(qn_home_of(engine), stream, handle);
}

quern_status quern_stream_lead(quern_engine *engine, quern_stream *stream, void *handle)
{
    qn_error_reset();
    QN_CHECK_OBJECT(engine, QN_OBJECT_ENGINE);
    qn_home *home = qn_home_of(engine);
    QN_TRY(check_own(__func__, stream, home));
    return handle ? order(home, qn_stream_handle(home, stream), handle) : refuse_null();
}
