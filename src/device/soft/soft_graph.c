/* SPDX-License-Identifier: MIT
 *
 * Captures and graphs of the software device. In: work on streams that are being captured, with all
 * that it needs copied: parameters of launches, patterns of fills. Out: a list of it, which a
 * launch of the graph does from the first to the last. The thing to know: streams are looked up by
 * their handle, which may be any number, and only while something is being captured.
 */
#include "device/soft/soft_device.h"

#include <string.h>

typedef enum work_kind { COPY, FILL, LAUNCH, CALL, RECORD, WAIT } work_kind;

typedef struct work {
    struct work *next;
    work_kind kind;
    void *stream;
    union {
        struct {
            void *to;
            const void *from;
            size_t bytes;
            quern_copy_kind kind;
        } copy;
        struct {
            void *to;
            unsigned char pattern[16];
            size_t bytes, count;
        } fill;
        struct {
            void *function;
            quern_launch_config config;
            void **parameters; /* behind the work */
        } launch;
        struct {
            void (*function)(void *);
            void *context;
        } call;
        soft_event *event;
    };
} work;

struct soft_graph {
    struct soft_graph *next; /* of those being recorded */
    void *origin;
    QN_LIST(void *) streams; /* that take part */
    work *first, **last;
    qn_stream_mark *mark; /* of check=streams: behind the last launch */
};

/* ---- which streams are captured ------------------------------------------------------------- */

static bool takes_part(const soft_graph *graph, const void *stream)
{
    for (uint32_t k = 0; k < graph->streams.count; k++) {
        if (graph->streams.items[k] == stream) {
            return true;
        }
    }
    return false;
}

static soft_graph *find_locked(const soft_device *device, const void *stream)
{
    soft_graph *graph = device->captures;
    while (graph && !takes_part(graph, stream)) {
        graph = graph->next;
    }
    return graph;
}

/* ---- recording ------------------------------------------------------------------------------ */

static void append(soft_graph *graph, work *w)
{
    *graph->last = w;
    graph->last = &w->next;
}

/* Keep `w` if its stream is captured. */
static bool record(quern_device *quern, work *w, quern_status *status)
{
    soft_device *device = soft_of(quern);
    pthread_mutex_lock(&device->lock);
    soft_graph *graph = find_locked(device, w->stream);
    work *kept = graph ? qn_alloc(sizeof *kept) : NULL;
    if (kept) {
        *kept = *w;
        append(graph, kept);
    }
    pthread_mutex_unlock(&device->lock);
    *status = !graph || kept ? QUERN_OK : qn_fail_memory("recording work of a stream");
    return graph != NULL;
}

bool qn_soft_record_copy(quern_device *quern, void *to, const void *from, size_t bytes,
                         quern_copy_kind kind, void *stream, quern_status *status)
{
    work w = {.kind = COPY, .stream = stream, .copy = {to, from, bytes, kind}};
    return record(quern, &w, status);
}

bool qn_soft_record_fill(quern_device *quern, void *to, const void *pattern, size_t bytes,
                         size_t count, void *stream, quern_status *status)
{
    work w = {.kind = FILL, .stream = stream, .fill = {.to = to, .bytes = bytes, .count = count}};
    memcpy(w.fill.pattern, pattern, bytes);
    return record(quern, &w, status);
}

bool qn_soft_record_call(quern_device *quern, void (*function)(void *), void *context, void *stream,
                         quern_status *status)
{
    work w = {.kind = CALL, .stream = stream, .call = {function, context}};
    return record(quern, &w, status);
}

/* A launch with a copy of its parameters behind it. */
static work *launch_work(void *handle, const quern_launch_config *config, void **parameters)
{
    const qn_ptx_function *function = handle;
    const size_t pointers = function->param_count * sizeof(void *);
    const size_t head = (sizeof(work) + pointers + 15) / 16 * 16;
    work *w = qn_calloc(1, head + function->param_bytes + 16 * (size_t)function->param_count);
    if (!w) {
        return NULL;
    }
    unsigned char *bytes = (unsigned char *)w + head;
    w->kind = LAUNCH;
    w->stream = config->stream;
    w->launch.function = handle;
    w->launch.config = *config;
    w->launch.parameters = (void **)(w + 1);
    for (uint32_t k = 0; k < function->param_count; k++) {
        memcpy(bytes, parameters[k], function->params[k]->size);
        w->launch.parameters[k] = bytes;
        bytes += (function->params[k]->size + 15) / 16 * 16;
    }
    return w;
}

bool qn_soft_record_launch(quern_device *quern, void *function, const quern_launch_config *config,
                           void **parameters, quern_status *status)
{
    soft_device *device = soft_of(quern);
    pthread_mutex_lock(&device->lock);
    soft_graph *graph = find_locked(device, config->stream);
    work *w = graph ? launch_work(function, config, parameters) : NULL;
    if (w) {
        append(graph, w);
    }
    pthread_mutex_unlock(&device->lock);
    *status = !graph || w ? QUERN_OK : qn_fail_memory("recording a launch");
    return graph != NULL;
}

bool qn_soft_record_event(quern_device *quern, soft_event *event, void *stream,
                          quern_status *status)
{
    work w = {.kind = RECORD, .stream = stream, .event = event};
    const bool recorded = record(quern, &w, status);
    if (recorded) {
        atomic_store(&event->captured_on, stream);
    }
    return recorded;
}

/* A stream that waits for a mark in a captured one is captured from then on. */
bool qn_soft_record_wait(quern_device *quern, soft_event *event, void *stream, quern_status *status)
{
    soft_device *device = soft_of(quern);
    work w = {.kind = WAIT, .stream = stream, .event = event};
    pthread_mutex_lock(&device->lock);
    const void *other = atomic_load(&event->captured_on);
    soft_graph *graph = other ? find_locked(device, other) : NULL;
    bool room = true;
    if (graph && !takes_part(graph, stream)) {
        room = QN_ROOM(graph->streams);
        if (room) {
            graph->streams.items[graph->streams.count++] = stream;
        }
    }
    pthread_mutex_unlock(&device->lock);
    if (!room) {
        *status = qn_fail_memory("capturing a stream");
        return true;
    }
    return record(quern, &w, status);
}

/* ---- the slots ------------------------------------------------------------------------------ */

quern_status qn_soft_capture_begin(quern_device *quern, void *stream)
{
    soft_device *device = soft_of(quern);
    soft_graph *graph = qn_calloc(1, sizeof *graph);
    if (!graph || !QN_ROOM(graph->streams)) {
        qn_free(graph);
        return qn_fail_memory("capturing a stream");
    }
    graph->last = &graph->first;
    graph->origin = stream;
    graph->streams.items[graph->streams.count++] = stream;
    pthread_mutex_lock(&device->lock);
    graph->next = device->captures;
    device->captures = graph;
    atomic_fetch_add(&device->capturing, 1);
    pthread_mutex_unlock(&device->lock);
    return QUERN_OK;
}

void qn_soft_graph_free(quern_device *quern, void *handle)
{
    (void)quern;
    soft_graph *graph = handle;
    while (graph && graph->first) {
        work *next = graph->first->next;
        qn_free(graph->first);
        graph->first = next;
    }
    if (graph) {
        qn_stream_mark_free(graph->mark);
        qn_free(graph->streams.items);
        qn_free(graph);
    }
}

/* Does the stream that the capture began with wait, at its end, for all that `stream` did? */
static bool is_joined(const soft_graph *graph, const void *stream)
{
    bool joined = true;
    const soft_event *last_mark = NULL;
    for (const work *w = graph->first; w; w = w->next) {
        if (w->stream == stream) {
            joined = false;
            last_mark = w->kind == RECORD ? w->event : NULL;
        } else if (w->kind == WAIT && w->event == last_mark && w->stream == graph->origin) {
            joined = true;
        }
    }
    return joined;
}

quern_status qn_soft_capture_end(quern_device *quern, void *stream, void **out)
{
    soft_device *device = soft_of(quern);
    pthread_mutex_lock(&device->lock);
    soft_graph *graph = find_locked(device, stream);
    soft_graph **link = &device->captures;
    while (*link != graph) {
        link = &(*link)->next;
    }
    *link = graph->next;
    atomic_fetch_sub(&device->capturing, 1);
    pthread_mutex_unlock(&device->lock);
    bool joined = true;
    for (uint32_t k = 0; k < graph->streams.count; k++) {
        const void *other = graph->streams.items[k];
        joined &= other == graph->origin || is_joined(graph, other);
    }
    if (!out || !joined) {
        qn_soft_graph_free(quern, graph);
        return joined ? QUERN_OK
                      : qn_fail(QUERN_ERROR_DRIVER,
                                "making a graph of a capture failed: another stream takes part in "
                                "it, and the one that it began with does not wait for all that the "
                                "other does: record an event there, and let the first wait for it");
    }
    *out = graph;
    return QUERN_OK;
}

static quern_status do_work(quern_device *quern, const work *w, void *stream)
{
    quern_launch_config config;
    switch (w->kind) {
    case COPY:
        return qn_soft_copy(quern, w->copy.to, w->copy.from, w->copy.bytes, w->copy.kind, stream,
                            0);
    case FILL:
        return qn_soft_fill(quern, w->fill.to, w->fill.pattern, w->fill.bytes, w->fill.count,
                            stream);
    case LAUNCH:
        config = w->launch.config;
        config.stream = stream;
        return qn_soft_launch(quern, w->launch.function, &config, w->launch.parameters);
    case CALL:
        return qn_soft_stream_call(quern, stream, w->call.function, w->call.context);
    case RECORD:
    case WAIT:
        break; /* the order of the list is one that they allow */
    }
    return QUERN_OK;
}

quern_status qn_soft_graph_launch(quern_device *quern, void *handle, void *stream)
{
    soft_graph *graph = handle;
    qn_stream_history *history = soft_of(quern)->history;
    if (history) {
        qn_stream_waits(history, stream, &graph->mark);
    }
    for (const work *w = graph->first; w; w = w->next) {
        QN_TRY(do_work(quern, w, stream));
    }
    if (history) {
        qn_stream_mark_set(history, &graph->mark, stream);
    }
    return QUERN_OK;
}
