/* SPDX-License-Identifier: MIT
 *
 * capture_other: captures that other libraries have begun on streams that we wrap, as PyTorch does
 * for its CUDA graphs. In: a wrapped stream, each time it is used. Out: whether its work is
 * recorded now; and what the work uses, held until the other library's graph is gone.
 *
 * Nobody tells us when such a capture begins or ends, so the driver is asked; that its graph can
 * never run again the driver tells, on a thread that may not call it. So a thread of our own then
 * lets go of what the graph used.
 */
#include "device/home/capture_inside.h"

#include <stdlib.h>
#include <time.h>

/* What a driver's number never is: something is captured that we cannot take part in. */
#define UNKNOWN UINT64_MAX

pthread_mutex_t qn_captures_lock = PTHREAD_MUTEX_INITIALIZER;
static qn_deferred *left; /* of captures that are over */

/* ---- letting go ----------------------------------------------------------------------------- */

void qn_kept_release(qn_kept_list *kept)
{
    while (kept->count > 0) {
        const qn_kept last = kept->items[--kept->count];
        last.release(last.object);
    }
    qn_free(kept->items);
    *kept = (qn_kept_list){0};
}

void qn_capture_release(qn_capture *capture)
{
    if (capture && atomic_fetch_sub(&capture->references, 1) == 1) {
        qn_free(capture->joined.items);
        qn_free(capture);
    }
}

/* Without the lock, or that of the homes: what was waiting may release anything. */
void qn_captures_finish(void)
{
    for (;;) {
        pthread_mutex_lock(&qn_captures_lock);
        qn_deferred *first = left;
        left = first ? first->next : NULL;
        pthread_mutex_unlock(&qn_captures_lock);
        if (!first) {
            return;
        }
        first->finish(first);
    }
}

static void count(qn_capture *capture, bool counted)
{
    if (capture->counted != counted) {
        capture->counted = counted;
        atomic_fetch_add(&capture->home->captures, counted ? 1u : -1u);
    }
}

/* The stream no longer takes part. */
static void unlink_stream(qn_capture *capture, uint32_t place)
{
    atomic_store(&capture->joined.items[place]->capture, NULL);
    capture->joined.items[place] = capture->joined.items[--capture->joined.count];
    qn_capture_release(capture);
}

static void finish_later(qn_deferred *deferred)
{
    deferred->next = left;
    left = deferred;
}

static void leave_home(qn_deferred *deferred)
{
    qn_capture *capture = (qn_capture *)(void *)deferred;
    qn_home *home = capture->home;
    qn_capture_release(capture);
    qn_home_release(home); /* last: it may close the device */
}

/* It is over: its streams do their work again, and what was released meanwhile may go. The graph
 * may still hold what it uses. */
static void part(qn_capture *capture)
{
    if (capture->over) {
        return;
    }
    qn_capture **link = &capture->home->capturing;
    while (*link != capture) {
        link = &(*link)->next;
    }
    *link = capture->next;
    capture->over = true;
    count(capture, false);
    while (capture->deferred) {
        qn_deferred *first = capture->deferred;
        capture->deferred = first->next;
        finish_later(first);
    }
    if (capture->holds_home && capture->kept.count == 0 && !capture->used) {
        capture->holds_home = false;
        capture->leave_home.finish = leave_home;
        atomic_fetch_add(&capture->references, 1);
        finish_later(&capture->leave_home);
    }
    while (capture->joined.count > 0) {
        unlink_stream(capture, 0);
    }
    qn_capture_release(capture);
}

/* ---- the end of its graph ------------------------------------------------------------------- */

static _Atomic(qn_capture *) gone; /* captures whose graphs can never run again */

/* The threads that let go. A process that ends waits for them, because they use the driver, which
 * ends with it; from then on nothing is let go any more. */
static pthread_mutex_t threads_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t thread_ended = PTHREAD_COND_INITIALIZER;
static pthread_once_t threads_once = PTHREAD_ONCE_INIT;
static int threads;
static bool ending;

static void wait_for_threads(void)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 10; /* enough to free memory; a driver that hangs is no reason never to end */
    pthread_mutex_lock(&threads_lock);
    ending = true;
    while (threads > 0 && pthread_cond_timedwait(&thread_ended, &threads_lock, &until) == 0) {
    }
    pthread_mutex_unlock(&threads_lock);
}

static void wait_at_exit(void)
{
    atexit(wait_for_threads);
}

/* Whether one more thread may begin. */
static bool thread_begins(void)
{
    pthread_once(&threads_once, wait_at_exit);
    pthread_mutex_lock(&threads_lock);
    const bool may = !ending;
    threads += may;
    pthread_mutex_unlock(&threads_lock);
    return may;
}

static void thread_ends(void)
{
    pthread_mutex_lock(&threads_lock);
    threads--;
    pthread_cond_signal(&thread_ended);
    pthread_mutex_unlock(&threads_lock);
}

static void *let_go(void *nothing)
{
    (void)nothing;
    qn_capture *capture = atomic_exchange(&gone, NULL);
    while (capture) {
        qn_capture *next = capture->next_gone;
        pthread_mutex_lock(&qn_captures_lock);
        part(capture);
        qn_kept_list kept = capture->kept;
        capture->kept = (qn_kept_list){0};
        qn_home *home = capture->holds_home ? capture->home : NULL;
        pthread_mutex_unlock(&qn_captures_lock);
        qn_captures_finish();
        qn_kept_release(&kept);
        qn_capture_release(capture);
        if (home) {
            qn_home_release(home); /* last: it may close the device */
        }
        capture = next;
    }
    thread_ends();
    return NULL;
}

/* The driver calls this, and must not be called here: hand over to a thread. Where there is none
 * the next one takes it along. */
static void graph_is_gone(void *object)
{
    qn_capture *capture = object;
    pthread_t thread;
    capture->next_gone = atomic_load(&gone);
    while (!atomic_compare_exchange_weak(&gone, &capture->next_gone, capture)) {
    }
    if (!thread_begins()) {
        return;
    }
    if (pthread_create(&thread, NULL, let_go, NULL) == 0) {
        pthread_detach(thread);
    } else {
        thread_ends();
    }
}

/* ---- becoming known ------------------------------------------------------------------------- */

/* The number of the capture that goes on on a handle; 0: none. */
static uint64_t ask(const qn_home *home, void *handle)
{
    uint64_t number = 0;
    const quern_device_methods *m = home->methods;
    return m->capture_seen && m->capture_seen(home->device, handle, &number) == QUERN_OK ? number
                                                                                         : 0;
}

static qn_capture *find(const qn_home *home, uint64_t number)
{
    qn_capture *capture = home->capturing;
    while (capture && (capture->origin || capture->number != number)) {
        capture = capture->next;
    }
    return capture;
}

/* Let the driver say when the graph is gone. */
static bool tell(qn_capture *capture, qn_home *home, void *handle)
{
    const quern_device_methods *m = home->methods;
    atomic_fetch_add(&capture->references, 1);
    qn_home_retain(home);
    capture->holds_home = true;
    capture->told = m->capture_tell &&
                    m->capture_tell(home->device, handle, graph_is_gone, capture) == QUERN_OK;
    if (!capture->told) {
        atomic_fetch_sub(&capture->references, 1);
        atomic_fetch_sub(&home->references, 1); /* not the last: the caller uses it */
    }
    return capture->told;
}

/* NULL: out of memory, or its graph can hold nothing. */
static qn_capture *make(qn_home *home, void *handle, uint64_t number)
{
    qn_capture *capture = qn_calloc(1, sizeof *capture);
    if (!capture) {
        return NULL;
    }
    atomic_init(&capture->references, 1); /* until it is over */
    capture->home = home;
    capture->number = number;
    if (number != UNKNOWN && !tell(capture, home, handle)) {
        qn_free(capture);
        return NULL;
    }
    capture->next = home->capturing;
    home->capturing = capture;
    return capture;
}

static bool takes_part(const qn_capture *capture, const void *handle)
{
    bool takes = capture->origin->handle == handle;
    for (uint32_t k = 0; k < capture->joined.count; k++) {
        takes |= capture->joined.items[k]->handle == handle;
    }
    return takes;
}

/* The capture that we have begun of this handle, which may be wrapped several times. */
static qn_capture *find_own(const qn_home *home, const void *handle)
{
    qn_capture *capture = home->capturing;
    while (capture && !(capture->origin && takes_part(capture, handle))) {
        capture = capture->next;
    }
    return capture;
}

qn_capture *qn_capture_of_handle(qn_home *home, void *handle)
{
    qn_capture *capture = find_own(home, handle);
    if (capture || atomic_load(&home->wrapped) == 0) {
        return capture;
    }
    const uint64_t number = ask(home, handle);
    capture = number ? find(home, number) : NULL;
    return number && !capture && number != UNKNOWN ? make(home, handle, number) : capture;
}

bool qn_capture_link(quern_stream *stream, qn_capture *capture)
{
    if (!QN_ROOM(capture->joined)) {
        return false;
    }
    capture->joined.items[capture->joined.count++] = stream;
    atomic_fetch_add(capture->origin ? &stream->references : &capture->references, 1);
    atomic_store(&stream->capture, capture);
    if (!capture->origin) {
        atomic_store(&stream->watched, true);
        count(capture, true);
    }
    return true;
}

/* ---- looking -------------------------------------------------------------------------------- */

/* With the lock: what the stream was linked to is over, if that is not what goes on now. */
static void look_again(quern_stream *stream, uint64_t number)
{
    qn_capture *known = atomic_load(&stream->capture);
    if (known && !known->origin && known->number != number) {
        part(known);
    }
    if (number == 0 || atomic_load(&stream->capture)) {
        return;
    }
    qn_capture *now = qn_capture_of_handle(stream->home, stream->handle);
    if (!now && number == UNKNOWN) {
        now = make(stream->home, NULL, UNKNOWN); /* for what is released meanwhile */
    }
    if (now) {
        (void)qn_capture_link(stream, now); /* else qn_capture_ensure() says so */
    }
}

bool qn_capture_look(const quern_stream *looked_at)
{
    quern_stream *stream = (quern_stream *)looked_at;
    const uint64_t number = ask(stream->home, stream->handle);
    const qn_capture *known = atomic_load(&stream->capture);
    if (!known && number == 0) {
        return false;
    }
    pthread_mutex_lock(&qn_captures_lock);
    look_again(stream, number);
    known = atomic_load(&stream->capture);
    pthread_mutex_unlock(&qn_captures_lock);
    qn_captures_finish();
    return known || number != 0;
}

void qn_captures_look(qn_home *home)
{
    qn_capture *capture = home->capturing;
    while (capture) {
        qn_capture *next = capture->next;
        if (!capture->origin && capture->joined.count > 0 &&
            ask(home, capture->joined.items[0]->handle) != capture->number) {
            part(capture);
        }
        capture = next;
    }
}

bool qn_capture_goes_on(qn_home *home)
{
    pthread_mutex_lock(&qn_captures_lock);
    qn_captures_look(home);
    pthread_mutex_unlock(&qn_captures_lock);
    return atomic_load(&home->captures) != 0;
}

static quern_status check_locked(const quern_stream *stream, uint64_t number)
{
    if (number == 0 || (number != UNKNOWN && atomic_load(&stream->capture))) {
        return QUERN_OK;
    }
    if (number == UNKNOWN) {
        return qn_fail(QUERN_ERROR_INVALID_ARGUMENT,
                       "the stream cannot be used now: it is being captured by another library, "
                       "whose capture has failed, or it is the legacy default stream while a "
                       "stream that keeps its order is being captured; end that capture first");
    }
    return qn_fail(QUERN_ERROR_DRIVER,
                   "the stream is being captured by another library, and there is no memory for "
                   "what its work uses, or the driver does not let the graph hold it");
}

quern_status qn_capture_ensure(quern_stream *stream)
{
    if (!stream || !atomic_load_explicit(&stream->watched, memory_order_relaxed)) {
        return QUERN_OK;
    }
    pthread_mutex_lock(&qn_captures_lock);
    const uint64_t number = ask(stream->home, stream->handle);
    look_again(stream, number);
    const quern_status status = check_locked(stream, number);
    pthread_mutex_unlock(&qn_captures_lock);
    qn_captures_finish();
    return status;
}

quern_status qn_capture_use(quern_stream *stream)
{
    QN_TRY(qn_capture_ensure(stream));
    pthread_mutex_lock(&qn_captures_lock);
    qn_capture *capture = atomic_load(&stream->capture);
    if (capture) {
        capture->used = true;
    }
    pthread_mutex_unlock(&qn_captures_lock);
    return QUERN_OK;
}

bool qn_capture_is_other(const quern_stream *stream)
{
    bool other = false;
    if (stream && atomic_load(&stream->watched)) {
        pthread_mutex_lock(&qn_captures_lock);
        const qn_capture *capture = atomic_load(&stream->capture);
        other = capture && !capture->origin;
        pthread_mutex_unlock(&qn_captures_lock);
    }
    return other;
}

quern_status qn_capture_settle(qn_home *home, const quern_stream *stream)
{
    return qn_capture_is_other(stream) ? home->methods->stream_wait(home->device, home->stream)
                                       : QUERN_OK;
}

/* Where nobody is left to ask by, its end is not seen, and it no longer stands in the way of those
 * who wait for the whole device: the other library forbids its program that, not we. */
void qn_capture_leave(quern_stream *stream)
{
    pthread_mutex_lock(&qn_captures_lock);
    qn_capture *capture = atomic_load(&stream->capture);
    uint32_t place = 0;
    while (capture && place < capture->joined.count && capture->joined.items[place] != stream) {
        place++;
    }
    if (capture && place < capture->joined.count) {
        unlink_stream(capture, place);
        if (capture->joined.count == 0 && capture->told) {
            count(capture, false);
        } else if (capture->joined.count == 0) {
            part(capture);
        }
    }
    pthread_mutex_unlock(&qn_captures_lock);
    qn_captures_finish();
}
