/* SPDX-License-Identifier: MIT
 *
 * Clocks of streams: who waits for whom. In: work that begins, events, waits of streams and of the
 * host. Out: for each work what it may rely on.
 */
#include "ptx/watch/streams.h"

#include <stdio.h>
#include <string.h>

/* ---- a history ------------------------------------------------------------------------------ */

static void lose(qn_stream_history *history)
{
    atomic_store(&history->lost, true);
}

qn_stream_history *qn_stream_history_new(void)
{
    static atomic_uint_fast64_t serials;
    qn_stream_history *history = qn_calloc(1, sizeof *history);
    if (!history) {
        return NULL;
    }
    history->serial = atomic_fetch_add(&serials, 1) + 1;
    history->past = qn_calloc(QN_PAST_WORKS, sizeof *history->past);
    history->states = qn_calloc(QN_PAST_STATES, sizeof(void *));
    pthread_mutex_init(&history->lock, NULL);
    if (!history->past || !history->states) {
        qn_stream_history_free(history);
        return NULL;
    }
    return history;
}

void qn_stream_history_free(qn_stream_history *history)
{
    if (!history) {
        return;
    }
    for (uint32_t k = 0; k < history->streams.count; k++) {
        qn_free(history->streams.items[k].clocks.items);
    }
    for (uint32_t k = 0; k < history->page_room; k++) {
        qn_free(history->pages[k].states);
    }
    for (uint32_t k = 0; history->states && k < QN_PAST_STATES; k++) {
        qn_free(history->states[k]);
    }
    qn_free(history->streams.items);
    qn_free(history->host.items);
    qn_free(history->pieces.items);
    qn_free(history->pages);
    qn_free(history->states);
    qn_free(history->past);
    pthread_mutex_destroy(&history->lock);
    qn_free(history);
}

/* ---- clocks --------------------------------------------------------------------------------- */

bool qn_clocks_join(qn_stream_history *history, qn_clocks *to, const qn_clocks *from)
{
    while (to->count < from->count) {
        if (!qn_room((void **)&to->items, to->count, &to->capacity, sizeof *to->items)) {
            lose(history);
            return false;
        }
        to->items[to->count++] = 0;
    }
    for (uint32_t k = 0; k < from->count; k++) {
        to->items[k] = QN_MAX(to->items[k], from->items[k]);
    }
    return true;
}

static void name_foreign(char *name, size_t size, const void *handle)
{
    const uintptr_t number = (uintptr_t)handle;
    if (number <= 1) {
        snprintf(name, size, "the legacy default stream");
    } else if (number == 2) {
        snprintf(name, size, "the thread's default stream");
    } else {
        snprintf(name, size, "the foreign stream %p", handle);
    }
}

/* CU_STREAM_LEGACY is NULL by another name. */
static const void *canonical(const void *handle)
{
    return (uintptr_t)handle == 1 ? NULL : handle;
}

/* The index of a stream, which may be a new one; UINT32_MAX: the history is lost. One that is gone
 * leaves its place to the next, whose work then counts as later than its own. */
static uint32_t find(qn_stream_history *history, const void *handle)
{
    uint32_t vacant = UINT32_MAX;
    handle = canonical(handle);
    for (uint32_t k = 0; k < history->streams.count; k++) {
        const qn_known_stream *stream = &history->streams.items[k];
        if (!stream->gone && stream->handle == handle) {
            return k;
        }
        vacant = stream->gone ? k : vacant;
    }
    if (vacant == UINT32_MAX) {
        if (history->streams.count == QN_STREAMS_AT_ONCE || !QN_ROOM(history->streams)) {
            lose(history);
            return UINT32_MAX;
        }
        vacant = history->streams.count++;
        history->streams.items[vacant] = (qn_known_stream){0};
    }
    qn_known_stream *stream = &history->streams.items[vacant];
    stream->handle = handle;
    stream->gone = stream->non_blocking = false;
    name_foreign(stream->name, sizeof stream->name, handle);
    return vacant;
}

static void catch_up_with(qn_stream_history *history, qn_known_stream *stream, bool legacy)
{
    for (uint32_t k = 0; k < history->streams.count; k++) {
        const qn_known_stream *other = &history->streams.items[k];
        if (other != stream && !other->non_blocking && (legacy || !other->handle)) {
            (void)qn_clocks_join(history, &stream->clocks, &other->clocks);
        }
    }
}

/* What is queued on the stream now waits for what the host has waited for, and keeps the order of
 * the legacy default stream. NULL: the history is lost. */
static qn_known_stream *present(qn_stream_history *history, const void *handle, uint32_t *index)
{
    *index = find(history, handle);
    if (*index == UINT32_MAX) {
        return NULL;
    }
    qn_known_stream *stream = &history->streams.items[*index];
    (void)qn_clocks_join(history, &stream->clocks, &history->host);
    if (!stream->non_blocking) {
        catch_up_with(history, stream, !stream->handle);
    }
    return stream;
}

void qn_stream_history_add(qn_stream_history *history, const void *handle, const char *name,
                           bool non_blocking)
{
    pthread_mutex_lock(&history->lock);
    const uint32_t index = find(history, handle);
    if (index != UINT32_MAX) {
        qn_known_stream *stream = &history->streams.items[index];
        snprintf(stream->name, sizeof stream->name, "%s", name);
        stream->non_blocking = non_blocking;
    }
    pthread_mutex_unlock(&history->lock);
}

void qn_stream_history_remove(qn_stream_history *history, const void *handle)
{
    pthread_mutex_lock(&history->lock);
    for (uint32_t k = 0; k < history->streams.count; k++) {
        qn_known_stream *stream = &history->streams.items[k];
        stream->gone |= !stream->gone && stream->handle == canonical(handle);
    }
    pthread_mutex_unlock(&history->lock);
}

/* ---- waits ---------------------------------------------------------------------------------- */

void qn_stream_mark_set(qn_stream_history *history, qn_stream_mark **mark, const void *handle)
{
    uint32_t index;
    pthread_mutex_lock(&history->lock);
    const qn_known_stream *stream = present(history, handle, &index);
    if (!*mark) {
        *mark = qn_calloc(1, sizeof **mark);
    }
    if (!*mark) {
        lose(history);
    } else if (stream) {
        (*mark)->count = 0;
        (void)qn_clocks_join(history, *mark, &stream->clocks);
    }
    pthread_mutex_unlock(&history->lock);
}

void qn_stream_mark_free(qn_stream_mark *mark)
{
    if (mark) {
        qn_free(mark->items);
        qn_free(mark);
    }
}

void qn_stream_waits(qn_stream_history *history, const void *handle, qn_stream_mark *const *mark)
{
    pthread_mutex_lock(&history->lock);
    const uint32_t index = find(history, handle);
    if (index != UINT32_MAX && *mark) {
        (void)qn_clocks_join(history, &history->streams.items[index].clocks, *mark);
    }
    pthread_mutex_unlock(&history->lock);
}

void qn_stream_host_waits(qn_stream_history *history, const void *handle)
{
    uint32_t index;
    pthread_mutex_lock(&history->lock);
    const qn_known_stream *stream = present(history, handle, &index);
    if (stream) {
        (void)qn_clocks_join(history, &history->host, &stream->clocks);
    }
    pthread_mutex_unlock(&history->lock);
}

void qn_stream_host_waits_mark(qn_stream_history *history, qn_stream_mark *const *mark)
{
    pthread_mutex_lock(&history->lock);
    if (*mark) {
        (void)qn_clocks_join(history, &history->host, *mark);
    }
    pthread_mutex_unlock(&history->lock);
}

void qn_stream_host_waits_all(qn_stream_history *history)
{
    pthread_mutex_lock(&history->lock);
    for (uint32_t k = 0; k < history->streams.count; k++) {
        (void)qn_clocks_join(history, &history->host, &history->streams.items[k].clocks);
    }
    pthread_mutex_unlock(&history->lock);
}

/* ---- work ----------------------------------------------------------------------------------- */

/* The stream's own number, one more. */
static uint32_t tick(qn_stream_history *history, qn_known_stream *stream, uint32_t index)
{
    static const uint32_t zero;
    while (stream->clocks.count <= index) {
        if (!qn_room((void **)&stream->clocks.items, stream->clocks.count, &stream->clocks.capacity,
                     sizeof zero)) {
            lose(history);
            return 0;
        }
        stream->clocks.items[stream->clocks.count++] = zero;
    }
    return ++stream->clocks.items[index];
}

static bool begin_locked(qn_stream_work *work, qn_stream_history *history, const void *handle,
                         const char *what)
{
    uint32_t index;
    qn_known_stream *stream = present(history, handle, &index);
    if (!stream || history->works >= UINT32_MAX / 2 - 1) {
        lose(history);
        return false;
    }
    const uint32_t clock = tick(history, stream, index);
    work->clocks = qn_calloc(1, sizeof *work->clocks);
    if (clock == 0 || !work->clocks || !qn_clocks_join(history, work->clocks, &stream->clocks)) {
        lose(history);
        return false;
    }
    work->number = ++history->works;
    work->stream = index;
    qn_past_work *past = &history->past[work->number % QN_PAST_WORKS];
    *past = (qn_past_work){.number = work->number, .stream = index, .clock = clock};
    snprintf(past->what, sizeof past->what, "%.48s on %.60s", what, stream->name);
    snprintf(work->stream_name, sizeof work->stream_name, "%s", stream->name);
    return true;
}

void qn_stream_work_begin(qn_stream_work *work, qn_stream_history *history, const void *handle,
                          const char *what)
{
    static atomic_uint_fast64_t serials;
    *work = (qn_stream_work){0};
    if (!history || atomic_load(&history->lost)) {
        return;
    }
    pthread_mutex_lock(&history->lock);
    if (begin_locked(work, history, handle, what)) {
        work->history = history;
        work->serial = atomic_fetch_add(&serials, 1) + 1;
    } else {
        qn_stream_mark_free(work->clocks);
        work->clocks = NULL;
    }
    pthread_mutex_unlock(&history->lock);
}

void qn_stream_work_end(qn_stream_work *work)
{
    qn_stream_mark_free(work->clocks);
    work->clocks = NULL;
    work->history = NULL;
}

bool qn_stream_in_order(const qn_stream_work *work, uint32_t number)
{
    const qn_past_work *past = &work->history->past[number % QN_PAST_WORKS];
    return number == 0 || number == work->number || past->number != number ||
           (past->stream < work->clocks->count && past->clock <= work->clocks->items[past->stream]);
}

void qn_stream_learn(qn_stream_work *work, uint32_t number)
{
    qn_stream_history *history = work->history;
    const qn_past_work *past = &history->past[number % QN_PAST_WORKS];
    if (past->number == number) {
        const qn_clocks *from = &history->streams.items[past->stream].clocks;
        (void)qn_clocks_join(history, work->clocks, from);
        (void)qn_clocks_join(history, &history->streams.items[work->stream].clocks, from);
    }
}
