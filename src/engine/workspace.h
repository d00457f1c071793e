/* SPDX-License-Identifier: MIT
 *
 * workspace: device memory in which the blocks of one launch meet. In: an engine, a stream, sizes.
 * Out: memory whose first bytes are zeros. The thing to know: it serves launch after launch of its
 * stream, which keeps them apart.
 */
#ifndef QN_WORKSPACE_H
#define QN_WORKSPACE_H

#include "engine/engine_internal.h"

/** Device memory for one launch at a time. Its first `zeroed` bytes (a multiple of 16) begin as
 * zeros. Only kernels of one kind use that many, and each leaves them as the next expects them. */
struct qn_workspace {
    qn_deferred deferred; /**< first: its end, while its stream is being captured */
    struct qn_workspace *next;
    quern_engine *engine; /**< not retained: it lives as long as the engine, or a bound call */
    void *pointer, *stream;
    const qn_source *source;
    size_t zeroed, bytes;
    uint32_t launches; /**< that it has served besides its first */
    bool kept;         /**< by a capture, whose graph it belongs to */
};

/** Take one for a launch on `stream`, or make it: `zeroed` bytes of zeros, then `scratch` bytes. */
quern_status qn_workspace_take(qn_workspace **out, quern_engine *engine, void *stream,
                               size_t zeroed, size_t scratch);
/** The same for one launch that is recorded: it belongs to the graph, which clears it each time. */
quern_status qn_workspace_capture(qn_workspace **out, quern_engine *engine, quern_stream *stream,
                                  size_t zeroed, size_t scratch);
/** Make its first bytes zero again, in the order of its stream: after a launch that failed. */
quern_status qn_workspace_clear(qn_workspace *workspace);
/** Give it back for later launches on the same stream, once the launch is queued. Accepts NULL.
 * What a graph keeps is left alone, here and below. */
void qn_workspace_put(qn_workspace *workspace);
/** Free it, in the order of its stream. Accepts NULL. */
void qn_workspace_free(qn_workspace *workspace);
/** Free those that belong to a stream that ends, or (NULL) all. True: there was one. */
bool qn_workspaces_forget(quern_engine *engine, const void *stream, bool all);

/* ---- queue.c --------------------------------------------------------------------------------- */

/** Launch, and give the workspace (may be NULL) back, or free it where the launch failed.
 * `arrays`: by parameter, for what an error is about. */
quern_status qn_call_queue(const quern_kernel *kernel, quern_array *const *arrays, void *function,
                           const quern_launch_config *config, void **parameters,
                           qn_workspace *workspace);

#endif /* QN_WORKSPACE_H */
