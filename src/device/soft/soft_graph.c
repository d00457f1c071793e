/* SPDX-License-Identifier: MIT
 *
 * Captures and graphs of the software device. In: work on streams that are being captured, with all
 * that it needs copied: parameters of launches, patterns of fills. Out: a list of it, which a
 * launch of the graph does from the first to the last. The thing to know: streams are looked up by
 * their handle, which may be any number, and only while something is being captured; from then on
 * each is a branch of the graph, which knows how much of each branch's work it waits for.
 */
#include "device/soft/soft_device.h"

#include <stdio.h>
#include <string.h>

typedef enum work_kind { COPY, FILL, LAUNCH, CALL, RECORD, WAIT } work_kind;

/* An event that was recorded: how much of each branch's work is before it. */
typedef struct graph_mark {
    uint32_t *done;
    uint32_t count;
    qn_stream_mark *mark; /* of check=streams: in the launch that goes on */
} graph_mark;

typedef struct work {
    struct work *next;
    work_kind kind;
    uint32_t branch;
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
        graph_mark *mark; /* of RECORD its own, of WAIT that of a RECORD before it */
    };
} work;

/* A stream that takes part; the first is the one that the capture began with. */
typedef struct branch {
    void *stream;   /* while it is captured */
    uint32_t *done; /* of each branch, the work that what comes next waits for: `room` numbers */
    uint32_t room;
    soft_stream *alias; /* what check=streams calls it in a launch; NULL: the launch's stream */
} branch;

struct soft_graph {
    struct soft_graph *next; /* of those being recorded */
    uint64_t serial;         /* of all graphs of the process */
    QN_LIST(branch) branches;
    work *first, **last;
    qn_stream_mark *mark; /* of check=streams: behind the last launch */
};

/* ---- which streams are captured ------------------------------------------------------------- */

static branch *branch_of(const soft_graph *graph, const void *stream)
{
    for (uint32_t k = 0; k < graph->branches.count; k++) {
        if (graph->branches.items[k].stream == stream) {
            return &graph->branches.items[k];
        }
    }
    return NULL;
}

/* The branch that a stream is by now; NULL: it is not captured. */
static branch *find_locked(soft_graph **out, const soft_device *device, const void *stream)
{
    branch *found = NULL;
    for (soft_graph *graph = device->captures; graph && !found; graph = graph->next) {
        found = branch_of(graph, stream);
        *out = graph;
    }
    return found;
}

/* ---- how much of each branch is waited for -------------------------------------------------- */

static bool add_branch(soft_graph *graph, void *stream)
{
    if (!QN_ROOM(graph->branches)) {
        return false;
    }
    graph->branches.items[graph->branches.count++] = (branch){.stream = stream};
    return true;
}

/* Room for the numbers of so many branches. */
static bool numbers_room(branch *b, uint32_t count)
{
    if (b->room >= count) {
        return true;
    }
    uint32_t *done = qn_calloc(count, sizeof *done);
    if (!done) {
        return false;
    }
    for (uint32_t k = 0; k < b->room; k++) {
        done[k] = b->done[k];
    }
    qn_free(b->done);
    b->done = done;
    b->room = count;
    return true;
}

static uint32_t done_of(const branch *b, uint32_t other)
{
    return other < b->room ? b->done[other] : 0;
}

/* One more piece of work of a branch. False: out of memory. */
static bool count_work(const soft_graph *graph, branch *b)
{
    const uint32_t own = (uint32_t)(b - graph->branches.items);
    if (!numbers_room(b, own + 1)) {
        return false;
    }
    b->done[own]++;
    return true;
}

/* Does the branch that the capture began with wait, at its end, for all that the others did? */
static bool is_joined(const soft_graph *graph)
{
    const branch *branches = graph->branches.items;
    bool joined = true;
    for (uint32_t k = 1; k < graph->branches.count; k++) {
        joined &= done_of(&branches[k], k) <= done_of(&branches[0], k);
    }
    return joined;
}

/* ---- recording ------------------------------------------------------------------------------ */

static void append(soft_graph *graph, work *w, const branch *b)
{
    w->branch = (uint32_t)(b - graph->branches.items);
    *graph->last = w;
    graph->last = &w->next;
}

/* Keep `w` if its stream is captured. */
static bool record(quern_device *quern, const work *w, void *stream, quern_status *status)
{
    soft_device *device = soft_of(quern);
    soft_graph *graph = NULL;
    pthread_mutex_lock(&device->lock);
    branch *b = find_locked(&graph, device, stream);
    work *kept = b && count_work(graph, b) ? qn_alloc(sizeof *kept) : NULL;
    if (kept) {
        *kept = *w;
        append(graph, kept, b);
    }
    pthread_mutex_unlock(&device->lock);
    *status = !b || kept ? QUERN_OK : qn_fail_memory("recording work of a stream");
    return b != NULL;
}

bool qn_soft_record_copy(quern_device *quern, void *to, const void *from, size_t bytes,
                         quern_copy_kind kind, void *stream, quern_status *status)
{
    const work w = {.kind = COPY, .copy = {to, from, bytes, kind}};
    return record(quern, &w, stream, status);
}

bool qn_soft_record_fill(quern_device *quern, void *to, const void *pattern, size_t bytes,
                         size_t count, void *stream, quern_status *status)
{
    work w = {.kind = FILL, .fill = {.to = to, .bytes = bytes, .count = count}};
    memcpy(w.fill.pattern, pattern, bytes);
    return record(quern, &w, stream, status);
}

bool qn_soft_record_call(quern_device *quern, void (*function)(void *), void *context, void *stream,
                         quern_status *status)
{
    const work w = {.kind = CALL, .call = {function, context}};
    return record(quern, &w, stream, status);
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
    soft_graph *graph = NULL;
    pthread_mutex_lock(&device->lock);
    branch *b = find_locked(&graph, device, config->stream);
    work *w = b && count_work(graph, b) ? launch_work(function, config, parameters) : NULL;
    if (w) {
        append(graph, w, b);
    }
    pthread_mutex_unlock(&device->lock);
    *status = !b || w ? QUERN_OK : qn_fail_memory("recording a launch");
    return b != NULL;
}

/* What the branch waits for now, as a mark behind the work. */
static work *record_work(const branch *b)
{
    work *w = qn_calloc(1, sizeof *w + sizeof(graph_mark) + b->room * sizeof(uint32_t));
    if (!w) {
        return NULL;
    }
    w->kind = RECORD;
    w->mark = (graph_mark *)(w + 1);
    w->mark->done = (uint32_t *)(w->mark + 1);
    w->mark->count = b->room;
    for (uint32_t k = 0; k < b->room; k++) {
        w->mark->done[k] = b->done[k];
    }
    return w;
}

bool qn_soft_record_event(quern_device *quern, soft_event *event, void *stream,
                          quern_status *status)
{
    soft_device *device = soft_of(quern);
    soft_graph *graph = NULL;
    pthread_mutex_lock(&device->lock);
    const branch *b = find_locked(&graph, device, stream);
    work *w = b ? record_work(b) : NULL;
    if (w) {
        append(graph, w, b);
    }
    event->graph = w ? graph->serial : 0;
    event->mark_in_graph = w ? w->mark : NULL;
    pthread_mutex_unlock(&device->lock);
    *status = !b || w ? QUERN_OK : qn_fail_memory("recording an event");
    return b != NULL;
}

/* The branch waits for the mark. */
static quern_status wait_locked(soft_graph *graph, branch *b, graph_mark *mark)
{
    work *w = numbers_room(b, mark->count) ? qn_calloc(1, sizeof *w) : NULL;
    if (!w) {
        return qn_fail_memory("capturing a stream");
    }
    for (uint32_t k = 0; k < mark->count; k++) {
        b->done[k] = QN_MAX(b->done[k], mark->done[k]);
    }
    w->kind = WAIT;
    w->mark = mark;
    append(graph, w, b);
    return QUERN_OK;
}

/* A stream that waits for a mark in a captured one is captured from then on. */
bool qn_soft_record_wait(quern_device *quern, soft_event *event, void *stream, quern_status *status)
{
    soft_device *device = soft_of(quern);
    pthread_mutex_lock(&device->lock);
    soft_graph *graph = device->captures;
    while (graph && graph->serial != event->graph) {
        graph = graph->next;
    }
    if (graph) {
        const bool there = branch_of(graph, stream) || add_branch(graph, stream);
        *status = there ? wait_locked(graph, branch_of(graph, stream), event->mark_in_graph)
                        : qn_fail_memory("capturing a stream");
    }
    pthread_mutex_unlock(&device->lock);
    return graph != NULL;
}

/* ---- the slots ------------------------------------------------------------------------------ */

quern_status qn_soft_capture_begin(quern_device *quern, void *stream)
{
    static atomic_uint_fast64_t serials;
    soft_device *device = soft_of(quern);
    soft_graph *graph = qn_calloc(1, sizeof *graph);
    if (!graph || !add_branch(graph, stream)) {
        qn_free(graph);
        return qn_fail_memory("capturing a stream");
    }
    graph->last = &graph->first;
    graph->serial = atomic_fetch_add(&serials, 1) + 1;
    pthread_mutex_lock(&device->lock);
    graph->next = device->captures;
    device->captures = graph;
    atomic_fetch_add(&device->capturing, 1);
    pthread_mutex_unlock(&device->lock);
    return QUERN_OK;
}

void qn_soft_graph_free(quern_device *quern, void *handle)
{
    soft_graph *graph = handle;
    while (graph && graph->first) {
        work *w = graph->first;
        graph->first = w->next;
        if (w->kind == RECORD) {
            qn_stream_mark_free(w->mark->mark);
        }
        qn_free(w);
    }
    for (uint32_t k = 0; graph && k < graph->branches.count; k++) {
        qn_soft_stream_free(quern, graph->branches.items[k].alias);
        qn_free(graph->branches.items[k].done);
    }
    if (graph) {
        qn_stream_mark_free(graph->mark);
        qn_free(graph->branches.items);
        qn_free(graph);
    }
}

/* Names by which check=streams knows the branches. */
static quern_status name_branches(const soft_device *device, const soft_graph *graph)
{
    for (uint32_t k = 1; device->history && k < graph->branches.count; k++) {
        soft_stream *alias = qn_calloc(1, sizeof *alias);
        if (!alias) {
            return qn_fail_memory("making a graph");
        }
        snprintf(alias->name, sizeof alias->name, "branch %u of a graph", k + 1);
        qn_stream_history_add(device->history, alias, alias->name, true);
        graph->branches.items[k].alias = alias;
    }
    return QUERN_OK;
}

static soft_graph *take_out(soft_device *device, const void *stream)
{
    soft_graph *graph = NULL;
    pthread_mutex_lock(&device->lock);
    (void)find_locked(&graph, device, stream);
    soft_graph **link = &device->captures;
    while (*link != graph) {
        link = &(*link)->next;
    }
    *link = graph->next;
    atomic_fetch_sub(&device->capturing, 1);
    pthread_mutex_unlock(&device->lock);
    return graph;
}

quern_status qn_soft_capture_end(quern_device *quern, void *stream, void **out)
{
    soft_graph *graph = take_out(soft_of(quern), stream);
    quern_status status = QUERN_OK;
    if (!is_joined(graph)) {
        status = qn_fail(QUERN_ERROR_DRIVER,
                         "making a graph of a capture failed: another stream takes part in it, and "
                         "the one that it began with does not wait for all that the other does: "
                         "record an event there, and let the first wait for it");
    } else if (out) {
        status = name_branches(soft_of(quern), graph);
    }
    if (!out || status != QUERN_OK) {
        qn_soft_graph_free(quern, graph);
        return status;
    }
    *out = graph;
    return QUERN_OK;
}

/* ---- launching ------------------------------------------------------------------------------ */

static quern_status do_work(quern_device *quern, const work *w, void *stream)
{
    qn_stream_history *history = soft_of(quern)->history;
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
    case RECORD: /* the order of the list is one that these allow */
        if (history) {
            qn_stream_mark_set(history, &w->mark->mark, stream);
        }
        break;
    case WAIT:
        if (history) {
            qn_stream_waits(history, stream, &w->mark->mark);
        }
        break;
    }
    return QUERN_OK;
}

/* A launch is over when all its branches are. */
static void join_branches(qn_stream_history *history, soft_graph *graph, void *stream)
{
    for (uint32_t k = 1; k < graph->branches.count; k++) {
        qn_stream_mark_set(history, &graph->mark, graph->branches.items[k].alias);
        qn_stream_waits(history, stream, &graph->mark);
    }
    qn_stream_mark_set(history, &graph->mark, stream);
}

quern_status qn_soft_graph_launch(quern_device *quern, void *handle, void *stream)
{
    soft_graph *graph = handle;
    qn_stream_history *history = soft_of(quern)->history;
    quern_status status = QUERN_OK;
    if (history) {
        qn_stream_waits(history, stream, &graph->mark);
    }
    for (const work *w = graph->first; w && status == QUERN_OK; w = w->next) {
        soft_stream *alias = graph->branches.items[w->branch].alias;
        status = do_work(quern, w, alias ? (void *)alias : stream);
    }
    if (history) {
        join_branches(history, graph, stream);
    }
    return status;
}
