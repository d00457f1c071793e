/* SPDX-License-Identifier: MIT
 *
 * call: one call of a kernel, all stages in order: resolve, specialize, marshal, launch. In:
 * values. Out: queued work and allocated outputs. The thing to know: on the way of a call that was
 * made before, there is no allocation, no lock and no copy of text.
 */
#include "engine/engine.h"
#include <string.h>

#define DEFAULT_BLOCK                                                                              \
    256 /**< threads: any function may have them, and they fill a processor;                       \
           templates/elementwise_tiled.cu counts on this number */
#define WARP 32

static quern_status check_block(const qn_call *call, const qn_specialization *z)
{
    quern_engine *engine = call->kernel->engine;
    quern_function_info info = {0};
    QN_TRY(engine->methods->function_info(engine->device, z->function, &info));
    if (call->block_size > info.max_threads) {
        return qn_fail(QUERN_ERROR_INVALID_ARGUMENT,
                       "a block of %u threads was asked for, but %s can have at most %u on this "
                       "device",
                       call->block_size, call->kernel->name, info.max_threads);
    }
    return QUERN_OK;
}

quern_status qn_call_geometry(quern_launch_config *config, const qn_call *call,
                              const qn_specialization *z)
{
    const qn_plan *plan = &call->plan;
    int64_t threads = QN_MAX(plan->packs, plan->rest); /* at least one */
    uint32_t block = call->block_size;
    if (block != 0) {
        QN_TRY(check_block(call, z));
    } else {
        bool few = threads < DEFAULT_BLOCK && plan->form.tile == 0;
        block = few ? (uint32_t)(threads + WARP - 1) / WARP * WARP : DEFAULT_BLOCK;
    }
    int64_t blocks = plan->form.tile != 0 ? plan->packs : (threads - 1) / block + 1;
    *config = (quern_launch_config){
        .grid = {(uint32_t)QN_MIN(blocks, (int64_t)INT32_MAX), 1, 1},
        .block = {block, 1, 1},
        .stream = call->stream,
    };
    return QUERN_OK;
}

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
    qn_user_text texts[4];
    size_t count = qn_kernel_user_texts(kernel, texts);
    for (size_t t = 0; t < count; t++) {
        size_t begin, end;
        if (strcmp(base_name(file), texts[t].file_name) != 0 ||
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

static quern_status launch(qn_call *call)
{
    if (call->count == 0) {
        return QUERN_OK;
    }
    qn_specialization *z;
    QN_TRY(qn_specialize(&z, call));
    quern_launch_config config;
    QN_TRY(qn_call_geometry(&config, call, z));
    qn_block block;
    QN_TRY(qn_marshal(&block, call));
    quern_engine *engine = call->kernel->engine;
    quern_status status =
        engine->methods->launch(engine->device, z->function, &config, block.pointers);
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
