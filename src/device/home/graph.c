/* SPDX-License-Identifier: MIT
 *
 * graph: what a capture recorded, to be launched. In: a stream whose capture ends. Out: the
 * device's graph with what it holds, queued on any stream of the same device. The thing to know:
 * memory of recorded work is allocated in the order of the home's own stream, so that a launch
 * elsewhere first waits for what was queued there when the capture ended, until that is known to be
 * done.
 */
#include "device/device_internal.h"

struct quern_graph {
    uint32_t object; /* QN_OBJECT_GRAPH */
    atomic_uint references;
    qn_home *home; /* retained */
    void *handle;
    qn_kept_list kept;
    pthread_mutex_t lock; /* of launches: the driver takes one at a time */
    void *ready, *done;   /* events: what was allocated is there; the last launch is over */
    bool is_ready, launched;
};

/* Free what there is of it. */
static void end(quern_graph *graph)
{
    qn_home *home = graph->home;
    const quern_device_methods *m = home->methods;
    if (graph->launched) { /* a failure of its work stays for the next call that waits */
        (void)m->event_wait(home->device, graph->done);
    }
    m->graph_free(home->device, graph->handle);
    if (graph->ready) {
        m->event_free(home->device, graph->ready);
    }
    if (graph->done) {
        m->event_free(home->device, graph->done);
    }
    qn_kept_release(&graph->kept);
    pthread_mutex_destroy(&graph->lock);
    qn_free(graph);
    qn_home_release(home); /* last: it may close the device */
}

static quern_status make_events(quern_graph *graph)
{
    const qn_home *home = graph->home;
    QN_TRY(home->methods->event_new(home->device, &graph->ready));
    QN_TRY(home->methods->event_new(home->device, &graph->done));
    return home->methods->event_record(home->device, graph->ready, home->stream);
}

quern_status quern_stream_end_capture(quern_graph **out, quern_stream *stream)
{
    qn_error_reset();
    QN_CHECK_OUT(out);
    QN_CHECK_OBJECT(stream, QN_OBJECT_STREAM);
    quern_graph *graph = qn_calloc(1, sizeof *graph);
    if (!graph) {
        qn_capture_abandon(stream);
        return qn_fail_memory("making a graph");
    }
    quern_status status = qn_capture_end(&graph->handle, &graph->kept, stream);
    if (status != QUERN_OK) {
        qn_free(graph);
        return status;
    }
    pthread_mutex_init(&graph->lock, NULL);
    atomic_init(&graph->references, 1);
    graph->home = stream->home;
    qn_home_retain(graph->home);
    status = make_events(graph);
    if (status != QUERN_OK) {
        end(graph);
        return status;
    }
    graph->object = QN_OBJECT_GRAPH;
    *out = graph;
    return QUERN_OK;
}

/* ---- launching ------------------------------------------------------------------------------ */

/* Let the stream wait for what was allocated, and find out whether the next one need not. */
static quern_status wait_ready(quern_graph *graph, void *stream)
{
    const qn_home *home = graph->home;
    int reached = 0;
    QN_TRY(home->methods->stream_wait_event(home->device, stream, graph->ready));
    if (home->methods->event_query) {
        QN_TRY(home->methods->event_query(home->device, &reached, graph->ready));
    }
    graph->is_ready = reached != 0;
    return QUERN_OK;
}

static quern_status launch(quern_graph *graph, void *stream)
{
    const qn_home *home = graph->home;
    if (!graph->is_ready) {
        QN_TRY(wait_ready(graph, stream));
    }
    const quern_status status = home->methods->graph_launch(home->device, graph->handle, stream);
    if (status != QUERN_OK) {
        return status;
    }
    graph->launched = true;
    const quern_status marked = home->methods->event_record(home->device, graph->done, stream);
    if (marked != QUERN_OK) { /* nothing else would keep what the graph holds until it is over */
        (void)home->methods->stream_wait(home->device, stream);
    }
    return marked;
}

quern_status quern_graph_launch(quern_graph *graph, quern_stream *stream)
{
    qn_error_reset();
    QN_CHECK_OBJECT(graph, QN_OBJECT_GRAPH);
    if (!qn_stream_fits(stream, graph->home)) {
        return qn_stream_refuse(__func__, stream, "graph", graph->home);
    }
    if (qn_stream_captures(stream)) {
        return qn_capture_refuse(__func__, ", and a graph is no part of another");
    }
    pthread_mutex_lock(&graph->lock);
    const quern_status status = launch(graph, qn_stream_handle(graph->home, stream));
    pthread_mutex_unlock(&graph->lock);
    return status;
}

quern_graph *quern_graph_retain(quern_graph *graph)
{
    if (qn_object_is(graph, QN_OBJECT_GRAPH)) {
        atomic_fetch_add_explicit(&graph->references, 1, memory_order_relaxed);
    }
    return graph;
}

void quern_graph_release(quern_graph *graph)
{
    if (qn_object_can_free(__func__, graph, QN_OBJECT_GRAPH) &&
        atomic_fetch_sub_explicit(&graph->references, 1, memory_order_acq_rel) == 1) {
        qn_object_end(&graph->object);
        end(graph);
    }
}
