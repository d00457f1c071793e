/* SPDX-License-Identifier: MIT
 *
 * call: one call of a kernel, all stages in order: resolve, specialize, marshal, launch. In:
 * values. Out: queued work and allocated outputs. The thing to know: a call whose specialization
 * exists allocates nothing but its outputs, copies no text, and takes no lock except that of the
 * workspaces, if it needs one.
 */
#include "engine/workspace.h"

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

/* Pack and queue. A launch that failed may have left its counters in the workspace. */
static quern_status queue(const qn_call *call, const qn_specialization *z)
{
    quern_engine *engine = call->kernel->engine;
    qn_parameter_block block;
    quern_launch_config config;
    qn_workspace *workspace;
    QN_TRY(qn_call_pack(&block, &config, &workspace, call, z));
    if (engine->tells_launches) {
        qn_tell_launch(engine, call->kernel->name, &config);
    }
    quern_status status =
        engine->home.methods->launch(engine->home.device, z->function, &config, block.pointers);
    if (status == QUERN_OK) {
        qn_workspace_put(workspace);
    } else {
        qn_workspace_free(workspace);
    }
    return status;
}

static void argument(const void *context, uint32_t index, qn_str *name, const quern_array **array)
{
    const qn_call *call = context;
    const qn_signature *s = &call->kernel->signature;
    if (index < s->count) {
        *name = s->parameters[index].name;
        *array = call->arrays[index];
    }
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

static quern_status launch(qn_call *call)
{
    if (call->empty) {
        return QUERN_OK;
    }
    qn_specialization *z;
    QN_TRY(qn_specialize(&z, call));
    if (qn_stream_captures(call->stream)) {
        QN_TRY(qn_capture_use(call->stream));
        QN_TRY(keep_arrays(call));
    }
    quern_status status = queue(call, z);
    if (status != QUERN_OK) {
        qn_explain_failure(&(qn_failure){call->kernel->texts, QN_TEXTS, argument, call});
    }
    return status;
}

quern_status qn_call_run(quern_kernel *kernel, const quern_value *values, size_t count,
                         const quern_call_options *options)
{
    qn_call call;
    quern_status status = qn_call_begin(&call, kernel, values, count, options, QN_TO_LAUNCH);
    if (status == QUERN_OK) {
        status = launch(&call);
    }
    if (status == QUERN_OK) {
        qn_call_publish(&call);
    }
    qn_call_end(&call);
    return status;
}

quern_status quern_call_n(quern_kernel *kernel, const quern_value *values, size_t count,
                          const quern_call_options *options)
{
    qn_error_reset();
    QN_CHECK_OBJECT(kernel, QN_OBJECT_KERNEL);
    QN_TAKE_IN_PLACE(quern_call_options, options);
    return qn_call_run(kernel, values, count, options);
}
