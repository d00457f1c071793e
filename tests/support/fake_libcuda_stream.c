/* SPDX-License-Identifier: MIT
 *
 * The stand-in for libcuda, third part: streams, events and graphs. Work is done when it is queued,
 * unless its stream is being captured: then the graph keeps it, and does it at each launch. As the
 * driver does, it refuses what may not happen in a capture, and ends the capture for it.
 */
#include "fake_libcuda_inside.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

/* What graphs hold for their users. */
struct CUuserObject_st {
    void *pointer;
    void (*destroy)(void *pointer);
    int references;
};

enum { HELD = 16 };

struct CUgraph_st {
    fake_node *first, **last;
    cu_object held[HELD];
    unsigned mode;
    uint64_t number;
    pthread_t thread; /* that began it */
    cu_stream origin;
    bool invalid;
    int device;
    struct CUgraph_st *next; /* of those being captured */
};

struct CUgraphExec_st {
    fake_node *first;
    cu_object held[HELD];
};

struct CUstream_st {
    struct CUgraph_st *graph; /* NULL: is not captured */
    bool joined;              /* all of it is waited for by the origin */
    struct CUstream_st *next;
};

struct CUevent_st {
    cu_stream stream; /* of a capture: whose mark it is */
    struct CUgraph_st *graph;
};

static struct CUgraph_st *captures;
static struct CUstream_st *all_streams;
static int streams, graphs;

int fake_streams(void)
{
    return streams;
}

int fake_graphs(void)
{
    return graphs;
}

/* The default streams, and those that others have made, have no structure here. */
static struct CUstream_st *stream_of(cu_stream stream)
{
    struct CUstream_st *s = all_streams;
    while (s && s != stream) {
        s = s->next;
    }
    return s;
}

bool fake_captures(cu_stream stream)
{
    return stream_of(stream) && stream->graph;
}

bool fake_stop_captures(void)
{
    bool some = false;
    for (struct CUgraph_st *graph = captures; graph; graph = graph->next) {
        const bool here = graph->device == fake_device(fake_current);
        graph->invalid |= here;
        some |= here;
    }
    return some;
}

static _Thread_local unsigned thread_mode = CU_CAPTURE_GLOBAL;

cu_result cuThreadExchangeStreamCaptureMode(unsigned *mode)
{
    FREE(cuThreadExchangeStreamCaptureMode);
    const unsigned old = thread_mode;
    thread_mode = *mode;
    *mode = old;
    return thread_mode <= CU_CAPTURE_RELAXED ? CU_SUCCESS : CU_INVALID_VALUE;
}

/* As cuda.h says of the modes. */
cu_result fake_unsafe(void)
{
    cu_result result = CU_SUCCESS;
    for (struct CUgraph_st *graph = captures; graph; graph = graph->next) {
        const bool own = pthread_equal(graph->thread, pthread_self()) != 0;
        if (thread_mode != CU_CAPTURE_RELAXED &&
            ((own && graph->mode != CU_CAPTURE_RELAXED) ||
             (graph->mode == CU_CAPTURE_GLOBAL && thread_mode == CU_CAPTURE_GLOBAL))) {
            graph->invalid = true;
            result = CU_STREAM_CAPTURE_UNSUPPORTED;
        }
    }
    return result;
}

/* ---- work ----------------------------------------------------------------------------------- */

static void do_node(fake_node *node)
{
    void *pointers[8];
    switch (node->kind) {
    case FAKE_COPY:
        memcpy(node->to, node->from, node->bytes);
        return;
    case FAKE_SET:
        for (size_t row = 0; row < node->height; row++) {
            for (size_t k = 0; k < node->width; k++) {
                memcpy((char *)node->to + row * node->pitch + k * node->bytes, node->value,
                       node->bytes);
            }
        }
        return;
    case FAKE_LAUNCH:
        for (size_t k = 0; k < 8; k++) {
            pointers[k] = node->parameters[k];
        }
        fake_launch(node->function, pointers);
        return;
    case FAKE_CALL:
        node->call(node->context);
        return;
    }
}

static void *copy_of(const void *from, size_t bytes)
{
    void *to = malloc(bytes);
    if (!to) {
        abort();
    }
    return memcpy(to, from, bytes);
}

cu_result fake_queue(cu_stream stream, const fake_node *node, void **parameters)
{
    fake_node *kept = copy_of(node, sizeof *node);
    unsigned count = 0;
    if (parameters) {
        size_t bytes = fake_parameter_bytes(node->function, &count);
        for (unsigned k = 0; k < count; k++) {
            /* saxpy has two of 4 bytes, of which the memory behind them may be read */
            memcpy(kept->parameters[k], parameters[k], count == 5 && k % 4 == 0 ? 4 : bytes);
        }
    }
    if (!fake_captures(stream)) {
        do_node(kept);
        free(kept);
        return CU_SUCCESS;
    }
    stream->joined = false;
    *stream->graph->last = kept;
    stream->graph->last = &kept->next;
    return CU_SUCCESS;
}

/* What may not happen to a stream that is captured. */
static cu_result refuse_captured(cu_stream stream, cu_result result)
{
    if (!fake_captures(stream)) {
        return CU_SUCCESS;
    }
    stream->graph->invalid = true;
    return result;
}

/* ---- streams -------------------------------------------------------------------------------- */

static cu_result make_stream(cu_stream *out, unsigned flags, int priority)
{
    static const struct CUstream_st none;
    *out = copy_of(&none, sizeof none);
    (*out)->next = all_streams;
    all_streams = *out;
    streams++;
    fake_control.last_stream_flags = flags;
    fake_control.last_stream_priority = priority;
    return flags <= CU_STREAM_NON_BLOCKING ? CU_SUCCESS : CU_INVALID_VALUE;
}

cu_result cuStreamCreate(cu_stream *out, unsigned flags)
{
    BOUND(cuStreamCreate);
    return make_stream(out, flags, 0);
}

cu_result cuStreamCreateWithPriority(cu_stream *out, unsigned flags, int priority)
{
    BOUND(cuStreamCreateWithPriority);
    return make_stream(out, flags, priority);
}

cu_result cuStreamDestroy_v2(cu_stream stream)
{
    BOUND(cuStreamDestroy_v2);
    struct CUstream_st **link = &all_streams;
    while (*link && *link != stream) {
        link = &(*link)->next;
    }
    if (!*link || stream->graph) {
        fprintf(stderr, "fake_libcuda: a stream is destroyed that is none, or is being captured\n");
        abort();
    }
    *link = stream->next;
    free(stream);
    streams--;
    return CU_SUCCESS;
}

static cu_result look_at_stream(cu_stream stream)
{
    return fake_captures(stream) ? refuse_captured(stream, CU_STREAM_CAPTURE_UNSUPPORTED)
                                 : fake_unsafe();
}

cu_result cuStreamSynchronize(cu_stream stream)
{
    BOUND(cuStreamSynchronize);
    return look_at_stream(stream);
}

cu_result cuStreamQuery(cu_stream stream)
{
    BOUND(cuStreamQuery);
    return fake_readiness(look_at_stream(stream));
}

cu_result cuLaunchHostFunc(cu_stream stream, void (*function)(void *), void *context)
{
    BOUND(cuLaunchHostFunc);
    return fake_queue(stream, &(fake_node){.kind = FAKE_CALL, .call = function, .context = context},
                      NULL);
}

/* ---- events --------------------------------------------------------------------------------- */

cu_result cuEventCreate(cu_event *out, unsigned flags)
{
    BOUND(cuEventCreate);
    static const struct CUevent_st none;
    *out = copy_of(&none, sizeof none);
    return flags & ~(unsigned)CU_EVENT_NO_TIMING ? CU_INVALID_VALUE : CU_SUCCESS;
}

cu_result cuEventDestroy_v2(cu_event event)
{
    BOUND(cuEventDestroy_v2);
    free(event);
    return CU_SUCCESS;
}

cu_result cuEventRecord(cu_event event, cu_stream stream)
{
    BOUND(cuEventRecord);
    *event = (struct CUevent_st){0};
    if (fake_captures(stream)) {
        *event = (struct CUevent_st){stream, stream->graph};
    }
    return CU_SUCCESS;
}

cu_result cuStreamWaitEvent(cu_stream stream, cu_event event, unsigned flags)
{
    BOUND(cuStreamWaitEvent);
    bool captured = fake_captures(stream);
    if (flags || (captured && event->graph != stream->graph)) {
        return flags ? CU_INVALID_VALUE : refuse_captured(stream, CU_STREAM_CAPTURE_ISOLATION);
    }
    if (!event->graph) {
        return CU_SUCCESS;
    }
    if (!stream_of(stream)) {
        event->graph->invalid = true;
        return CU_STREAM_CAPTURE_IMPLICIT;
    }
    if (event->graph->origin == stream) {
        event->stream->joined = true;
    } else {
        stream->graph = event->graph;
        stream->joined = false;
    }
    return CU_SUCCESS;
}

static cu_result look_at_event(cu_event event)
{
    if (event->graph) {
        event->graph->invalid = true;
        return CU_CAPTURED_EVENT;
    }
    return CU_SUCCESS;
}

cu_result cuEventQuery(cu_event event)
{
    UNSAFE(cuEventQuery);
    return fake_readiness(look_at_event(event));
}

cu_result cuEventSynchronize(cu_event event)
{
    BOUND(cuEventSynchronize);
    return look_at_event(event);
}

/* ---- graphs --------------------------------------------------------------------------------- */

cu_result cuStreamBeginCapture_v2(cu_stream stream, unsigned mode)
{
    BOUND(cuStreamBeginCapture_v2);
    static const struct CUgraph_st none;
    static uint64_t numbers;
    if (!stream_of(stream) || stream->graph || mode > CU_CAPTURE_RELAXED) {
        return CU_INVALID_VALUE;
    }
    stream->graph = copy_of(&none, sizeof none);
    stream->graph->last = &stream->graph->first;
    stream->graph->origin = stream;
    stream->graph->device = fake_device(fake_current);
    stream->graph->mode = mode;
    stream->graph->thread = pthread_self();
    stream->graph->number = ++numbers;
    stream->graph->next = captures;
    captures = stream->graph;
    graphs++;
    return CU_SUCCESS;
}

/* Its streams are captured no longer; true: one of them was not waited for. */
static bool end_capture(cu_graph graph)
{
    bool unjoined = false;
    for (struct CUstream_st *s = all_streams; s; s = s->next) {
        if (s->graph == graph) {
            unjoined |= s != graph->origin && !s->joined;
            s->graph = NULL;
        }
    }
    struct CUgraph_st **link = &captures;
    while (*link != graph) {
        link = &(*link)->next;
    }
    *link = graph->next;
    return unjoined;
}

cu_result cuStreamEndCapture(cu_stream stream, cu_graph *out)
{
    cu_result told = fake_enter(AT_cuStreamEndCapture); /* the capture is over even so */
    *out = NULL;
    if (told != CU_SUCCESS && fake_captures(stream)) {
        stream->graph->invalid = true;
    }
    if (!fake_captures(stream) || stream->graph->origin != stream) {
        return CU_STREAM_CAPTURE_UNMATCHED;
    }
    cu_graph graph = stream->graph;
    bool unjoined = end_capture(graph);
    if (graph->invalid || unjoined) {
        bool invalid = graph->invalid;
        (void)cuGraphDestroy(graph);
        return told != CU_SUCCESS ? told
               : invalid          ? CU_STREAM_CAPTURE_INVALIDATED
                                  : CU_STREAM_CAPTURE_UNJOINED;
    }
    *out = graph;
    return CU_SUCCESS;
}

cu_result cuStreamGetCaptureInfo_v2(cu_stream stream, unsigned *state, uint64_t *number,
                                    cu_graph *graph, const void **nodes, size_t *node_count)
{
    BOUND(cuStreamGetCaptureInfo_v2);
    if (nodes || node_count) {
        return CU_NOT_SUPPORTED;
    }
    *state = CU_CAPTURE_NONE;
    if (fake_captures(stream)) {
        *state = stream->graph->invalid ? CU_CAPTURE_BROKEN : CU_CAPTURE_ACTIVE;
        number ? *number = stream->graph->number : 0;
        graph ? *graph = stream->graph : NULL;
    }
    return CU_SUCCESS;
}

cu_result cuUserObjectCreate(cu_object *out, void *pointer, void (*destroy)(void *pointer),
                             unsigned references, unsigned flags)
{
    BOUND(cuUserObjectCreate);
    *out = copy_of(&(struct CUuserObject_st){pointer, destroy, (int)references}, sizeof **out);
    return flags == CU_OBJECT_NO_SYNC ? CU_SUCCESS : CU_INVALID_VALUE;
}

/* The references are moved to the graph. */
cu_result cuGraphRetainUserObject(cu_graph graph, cu_object object, unsigned references,
                                  unsigned flags)
{
    BOUND(cuGraphRetainUserObject);
    int k = 0;
    while (graph->held[k]) {
        k++;
    }
    graph->held[k] = object;
    return references == 1 && flags == CU_OBJECT_MOVE ? CU_SUCCESS : CU_INVALID_VALUE;
}

static void drop_held(cu_object held[HELD])
{
    for (int k = 0; k < HELD && held[k]; k++) {
        if (--held[k]->references == 0) {
            held[k]->destroy(held[k]->pointer);
            free(held[k]);
        }
    }
}

static void free_nodes(fake_node *first)
{
    while (first) {
        fake_node *next = first->next;
        free(first);
        first = next;
    }
}

cu_result cuGraphDestroy(cu_graph graph)
{
    BOUND(cuGraphDestroy);
    free_nodes(graph->first);
    drop_held(graph->held);
    free(graph);
    graphs--;
    return CU_SUCCESS;
}

cu_result cuGraphInstantiateWithFlags(cu_graph_exec *out, cu_graph graph, unsigned long long flags)
{
    BOUND(cuGraphInstantiateWithFlags);
    static const struct CUgraphExec_st none;
    *out = copy_of(&none, sizeof none);
    fake_node **last = &(*out)->first;
    for (const fake_node *node = graph->first; node; node = node->next) {
        *last = copy_of(node, sizeof *node);
        (*last)->next = NULL;
        last = &(*last)->next;
    }
    for (int k = 0; k < HELD && graph->held[k]; k++) {
        (*out)->held[k] = graph->held[k];
        graph->held[k]->references++;
    }
    graphs++;
    return flags == 0 ? CU_SUCCESS : CU_INVALID_VALUE;
}

cu_result cuGraphLaunch(cu_graph_exec exec, cu_stream stream)
{
    BOUND(cuGraphLaunch);
    if (fake_captures(stream)) {
        return refuse_captured(stream, CU_STREAM_CAPTURE_UNSUPPORTED);
    }
    for (fake_node *node = exec->first; node; node = node->next) {
        do_node(node);
    }
    return CU_SUCCESS;
}

cu_result cuGraphExecDestroy(cu_graph_exec exec)
{
    BOUND(cuGraphExecDestroy);
    free_nodes(exec->first);
    drop_held(exec->held);
    free(exec);
    graphs--;
    return CU_SUCCESS;
}
