/* SPDX-License-Identifier: MIT
 *
 * call: one call of a kernel, all stages in order: resolve, specialize, marshal, launch. In:
 * values. Out: queued work and allocated outputs. The thing to know: on the way of a call that was
 * made before, there is no allocation, no lock and no copy of text.
 */
#include "engine/engine.h"
#include <string.h>

/* ---- places in snippets --------------------------------------------------------------------- */

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

/** Bytes of line `line` (from 1) of a text. False when it has no such line. */
static bool line_of(const char *text, uint32_t line, size_t *begin, size_t *end)
{
    const char *at = text;
    for (uint32_t n = 1; n < line; n++) {
        at = strchr(at, '\n');
        if (at == NULL) {
            return false;
        }
        at++;
    }
    *begin = (size_t)(at - text);
    *end = *begin + strcspn(at, "\n");
    return true;
}

void qn_explain_place(const quern_kernel *kernel)
{
    const char *file;
    uint32_t line, column;
    if (!qn_error_get_place(&file, &line, &column)) {
        return;
    }
    const qn_user_text *texts = kernel->texts;
    for (size_t t = 0; t < QN_TEXTS; t++) {
        size_t begin, end;
        if (texts[t].file_name == NULL || strcmp(base_name(file), texts[t].file_name) != 0 ||
            !line_of(texts[t].text, line, &begin, &end)) {
            continue;
        }
        if (column != 0 && begin + column - 1 < end) {
            begin += column - 1;
        }
        qn_error_span(texts[t].file_name, qn_str_of(texts[t].text), begin, end);
        return;
    }
}

/* ---- calling -------------------------------------------------------------------------------- */

/** Pack and queue. The workspace is kept for later calls, unless the launch failed. */
static quern_status queue(const qn_call *call, const qn_specialization *z)
{
    quern_engine *engine = call->kernel->engine;
    quern_launch_config config;
    QN_TRY(call->kernel->kind->geometry(&config, call, z));
    qn_workspace *workspace = NULL;
    if (call->zeroed_bytes != 0) {
        QN_TRY(qn_workspace_take(&workspace, engine, call->stream, call->zeroed_bytes,
                                 call->scratch_bytes));
    }
    qn_block block;
    quern_status status = qn_marshal(&block, call, workspace != NULL ? workspace->pointer : NULL);
    if (status == QUERN_OK) {
        status = engine->methods->launch(engine->device, z->function, &config, block.pointers);
    }
    if (status != QUERN_OK) {
        qn_workspace_free(workspace);
    } else if (workspace != NULL) {
        qn_workspace_put(workspace);
    }
    return status;
}

static quern_status launch(qn_call *call)
{
    if (call->empty) {
        return QUERN_OK;
    }
    qn_specialization *z;
    QN_TRY(qn_specialize(&z, call));
    quern_status status = queue(call, z);
    if (status != QUERN_OK) {
        qn_explain_place(call->kernel);
    }
    return status;
}

quern_status qn_call_run(quern_kernel *kernel, const quern_value *values, size_t count,
                         const quern_call_options *options)
{
    qn_call call;
    quern_status status = qn_call_begin(&call, kernel, values, count, options, false);
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
    return qn_call_run(kernel, values, count, options);
}
