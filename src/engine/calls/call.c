/* SPDX-License-Identifier: MIT
 *
 * call: one call of a kernel, all stages in order: resolve, specialize, marshal, launch. In:
 * values. Out: queued work and allocated outputs. The thing to know: a call whose specialization
 * exists allocates nothing but its outputs, copies no text, and takes no lock except that of the
 * workspaces, if it needs one.
 */
#include "engine/recall.h"

quern_status qn_call_pack(qn_parameter_block *block, quern_launch_config *config,
                          qn_workspace **workspace, const qn_call *call, const qn_specialization *z)
{
    quern_engine *engine = call->kernel->engine;
    *workspace = NULL;
    QN_TRY(call->kernel->kind->geometry(config, call, z));
    config->stream = qn_stream_handle(&engine->home, call->stream);
    if (call->zeroed_bytes != 0) {
        QN_TRY(qn_stream_captures(call->stream)
                   ? qn_workspace_capture(workspace, engine, call->stream, call->zeroed_bytes,
                                          call->scratch_bytes)
                   : qn_workspace_take(workspace, engine, config->stream, call->zeroed_bytes,
                                       call->scratch_bytes));
    }
    quern_status status = qn_marshal(block, call, *workspace ? (*workspace)->pointer : NULL);
    if (status != QUERN_OK) {
        qn_workspace_put(*workspace);
        *workspace = NULL;
    }
    return status;
}

/* Pack, queue, and remember it where it is not recorded work. */
static quern_status queue(const qn_call *call, const quern_call_options *options,
                          const qn_specialization *z)
{
    qn_parameter_block block;
    quern_launch_config config;
    qn_workspace *workspace;
    QN_TRY(qn_call_pack(&block, &config, &workspace, call, z));
    QN_TRY(
        qn_call_queue(call->kernel, call->arrays, z->function, &config, block.pointers, workspace));
    if (!qn_stream_captures(call->stream)) {
        qn_recall_keep(call, options, z->function, &config, &block);
    }
    return QUERN_OK;
}

/* Arrays of work that is recorded; those allocated here are kept already. */
static quern_status keep_arrays(const qn_call *call)
{
    for (uint32_t p = 0; p < call->kernel->signature.count; p++) {
        if (call->arrays[p]) {
            QN_TRY(qn_buffer_keep(call->arrays[p]->buffer, call->stream));
        }
    }
    return QUERN_OK;
}

static quern_status launch(qn_call *call, const quern_call_options *options)
{
    if (call->empty) {
        if (!qn_stream_captures(call->stream)) {
            qn_recall_keep(call, options, NULL, NULL, NULL);
        }
        return QUERN_OK;
    }
    qn_specialization *z;
    QN_TRY(qn_call_lay(call));
    QN_TRY(qn_specialize(&z, call));
    if (qn_stream_captures(call->stream)) {
        QN_TRY(qn_capture_use(call->stream));
        QN_TRY(keep_arrays(call));
    }
    QN_TRY(queue(call, options, z));
    return qn_call_carry(call);
}

/* The whole way. */
static quern_status run(quern_kernel *kernel, const quern_value *values, size_t count,
                        const quern_call_options *options)
{
    qn_call call;
    quern_status status = qn_call_begin(&call, kernel, values, count, options, QN_TO_LAUNCH);
    if (status == QUERN_OK) {
        status = launch(&call, options);
    }
    if (status == QUERN_OK) {
        qn_call_publish(&call);
    }
    qn_call_end(&call);
    return status;
}

static quern_status call(quern_kernel *kernel, const quern_value *values, size_t count,
                         const quern_call_options *options, qn_leaving *leaving)
{
    quern_status status;
    if (qn_recall_run(&status, kernel, values, count, options, leaving)) {
        return status;
    }
    qn_leave(leaving);
    return run(kernel, values, count, options);
}

quern_status qn_call_run(quern_kernel *kernel, const quern_value *values, size_t count,
                         const quern_call_options *options)
{
    return call(kernel, values, count, options, &(qn_leaving){NULL, NULL});
}

quern_status quern_call_n(quern_kernel *kernel, const quern_value *values, size_t count,
                          const quern_call_options *options)
{
    qn_error_reset();
    QN_CHECK_OBJECT(kernel, QN_OBJECT_KERNEL);
    QN_TAKE_IN_PLACE(quern_call_options, options);
    qn_leaving leaving = {NULL, NULL};
    if (options) {
        leaving = (qn_leaving){options->leave, options->leave_context};
    }
    return call(kernel, values, count, options, &leaving);
}
