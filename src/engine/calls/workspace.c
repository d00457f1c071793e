/* SPDX-License-Identifier: MIT
 *
 * workspace: device memory in which the blocks of one launch meet, as when several blocks reduce
 * one output. In: how many bytes, and a stream. Out: memory whose first bytes are as the kernel
 * expects them. The thing to know: kernels accept zeros there, or what the previous launch left, so
 * a workspace is cleared once and then serves launch after launch of its stream, which keeps them
 * apart in time. Reductions leave zeros; scans leave the number of launches, which tells them what
 * is their own.
 */
#include "engine/workspace.h"

#define KEPT     8          /* workspaces that wait for later launches; more are freed */
#define LAUNCHES (1u << 30) /* launches that one serves: scans count them in 31 bits */

/* CU_STREAM_PER_THREAD is another stream in each thread: nothing keeps launches of several threads
 * apart, so none of its workspaces is kept. */
#define PER_THREAD ((const void *)2)

static bool serves(const qn_workspace *w, const void *stream, size_t zeroed, size_t scratch)
{
    return w->stream == stream && stream != PER_THREAD && w->zeroed == zeroed &&
           w->bytes - w->zeroed >= scratch;
}

/* Take the first that fits out of the engine's list. */
static qn_workspace *find(quern_engine *engine, const void *stream, size_t zeroed, size_t scratch)
{
    pthread_mutex_lock(&engine->workspaces_lock);
    qn_workspace **link = &engine->workspaces, *found = NULL;
    while (*link && !serves(*link, stream, zeroed, scratch)) {
        link = &(*link)->next;
    }
    if (*link) {
        found = *link;
        *link = found->next;
    }
    pthread_mutex_unlock(&engine->workspaces_lock);
    return found;
}

static void end(qn_deferred *deferred)
{
    qn_workspace *w = (qn_workspace *)(void *)deferred;
    qn_memory_free(w->pointer, w->source, &w->engine->home, w->bytes, QUERN_MEMORY_DEVICE,
                   w->stream);
    qn_free(w);
}

/* One whose bytes are as they come. */
static quern_status make(qn_workspace **out, quern_engine *engine, void *stream, size_t zeroed,
                         size_t scratch)
{
    *out = NULL;
    qn_workspace *w = qn_calloc(1, sizeof *w);
    if (!w) {
        return qn_fail_memory("preparing a launch");
    }
    *w = (qn_workspace){.deferred.finish = end,
                        .engine = engine,
                        .stream = stream,
                        .zeroed = zeroed,
                        .bytes = zeroed + scratch};
    quern_status status = qn_memory_new(&w->pointer, &w->source, &engine->home, w->bytes,
                                        QUERN_MEMORY_DEVICE, stream);
    if (status != QUERN_OK) {
        qn_free(w);
        return status;
    }
    *out = w;
    return QUERN_OK;
}

static quern_status clear_on(const qn_workspace *w, void *stream)
{
    static const uint64_t zero[2] = {0, 0};
    return w->engine->home.methods->fill(w->engine->home.device, w->pointer, zero, sizeof zero,
                                         w->zeroed / sizeof zero, stream);
}

quern_status qn_workspace_take(qn_workspace **out, quern_engine *engine, void *stream,
                               size_t zeroed, size_t scratch)
{
    *out = find(engine, stream, zeroed, scratch);
    if (*out && ++(*out)->launches < LAUNCHES) {
        return QUERN_OK;
    }
    qn_workspace_free(*out);
    *out = NULL;
    qn_workspace *w;
    QN_TRY(make(&w, engine, stream, zeroed, scratch));
    quern_status status = qn_workspace_clear(w);
    if (status != QUERN_OK) {
        qn_workspace_free(w);
        return status;
    }
    *out = w;
    return QUERN_OK;
}

static void drop_kept(void *workspace)
{
    end(workspace);
}

quern_status qn_workspace_capture(qn_workspace **out, quern_engine *engine, quern_stream *stream,
                                  size_t zeroed, size_t scratch)
{
    qn_workspace *w;
    *out = NULL;
    QN_TRY(make(&w, engine, engine->home.stream, zeroed, scratch));
    quern_status status = qn_capture_keep(stream, w, drop_kept);
    if (status != QUERN_OK) {
        qn_workspace_free(w);
        return status;
    }
    w->kept = true;
    QN_TRY(qn_capture_settle(&engine->home, stream));
    QN_TRY(clear_on(w, stream->handle));
    *out = w;
    return QUERN_OK;
}

quern_status qn_workspace_clear(qn_workspace *w)
{
    return clear_on(w, w->stream);
}

void qn_workspace_put(qn_workspace *w)
{
    if (!w || w->kept) {
        return;
    }
    if (w->stream == PER_THREAD) {
        qn_workspace_free(w);
        return;
    }
    quern_engine *engine = w->engine;
    pthread_mutex_lock(&engine->workspaces_lock);
    w->next = engine->workspaces;
    engine->workspaces = w;
    qn_workspace **link = &engine->workspaces;
    for (int k = 0; k < KEPT && *link; k++) {
        link = &(*link)->next;
    }
    qn_workspace *oldest = *link; /* NULL, or the one too many: each put adds one */
    *link = NULL;
    pthread_mutex_unlock(&engine->workspaces_lock);
    qn_workspace_free(oldest);
}

void qn_workspace_free(qn_workspace *w)
{
    if (w && !w->kept && !qn_capture_defer(&w->engine->home, w->stream, &w->deferred)) {
        end(&w->deferred);
    }
}

bool qn_workspaces_forget(quern_engine *engine, const void *stream, bool all)
{
    pthread_mutex_lock(&engine->workspaces_lock);
    qn_workspace **link = &engine->workspaces, *ended = NULL;
    while (*link) {
        qn_workspace *w = *link;
        if (all || w->stream == stream) {
            *link = w->next;
            w->next = ended;
            ended = w;
        } else {
            link = &w->next;
        }
    }
    pthread_mutex_unlock(&engine->workspaces_lock);
    const bool some = ended != NULL;
    while (ended) {
        qn_workspace *next = ended->next;
        qn_workspace_free(ended);
        ended = next;
    }
    return some;
}
