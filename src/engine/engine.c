/* SPDX-License-Identifier: MIT
 *
 * engine: opening and closing, and what arrays ask of their engine. In: options. Out: one device
 * with its stream, its store and its table of modules. The thing to know: everything made from an
 * engine holds a reference to it, so quern_close() only drops the caller's own.
 */
#include "engine/engine_internal.h"
#include <stdlib.h>
#include <string.h>

/* ---- opening -------------------------------------------------------------------------------- */

quern_status qn_size_refuse(const char *type, uint32_t size, size_t expected, const char *advice)
{
    return qn_fail(QUERN_ERROR_INVALID_ARGUMENT, "%s.size is %u, expected %zu: %s", type, size,
                   expected, advice);
}

static quern_status check_options(const quern_options *options)
{
    if (options == NULL) {
        return QUERN_OK;
    }
    QN_CHECK_OPTIONS(options, quern_options, QUERN_OPTIONS_INIT);
    if (options->allocator != NULL &&
        (options->allocator->size != sizeof *options->allocator ||
         options->allocator->allocate == NULL || options->allocator->release == NULL)) {
        return qn_fail(QUERN_ERROR_INVALID_ARGUMENT,
                       "an allocator needs its size, allocate and release");
    }
    return QUERN_OK;
}

quern_status quern_open_device(quern_engine **out, const quern_device_methods *methods,
                               const quern_options *options)
{
    qn_error_reset();
    QN_CHECK_OUT(out);
    QN_TRY(check_options(options));
    if (methods == NULL || methods->size != sizeof *methods) {
        return qn_fail(QUERN_ERROR_INVALID_ARGUMENT, "a device needs its table of methods");
    }
    quern_options none = QUERN_OPTIONS_INIT;
    const quern_options *o = options != NULL ? options : &none;
    quern_engine *engine = qn_calloc(1, sizeof *engine);
    if (engine == NULL) {
        return qn_fail_memory("opening an engine");
    }
    engine->methods = methods;
    engine->logger = (qn_logger){o->log, o->log_context};
    quern_status status = methods->open(&engine->device, o->device, o->allocator);
    if (status == QUERN_OK) {
        status = methods->stream_new(engine->device, &engine->stream);
    }
    quern_device_info info = QUERN_DEVICE_INFO_INIT;
    if (status == QUERN_OK) {
        status = methods->info(engine->device, &info);
        engine->processors = QN_MAX(1u, info.processors);
    }
    if (status == QUERN_OK) {
        status = qn_store_open(&engine->store, o->cache_dir, o->cache_limit, &engine->logger);
    }
    if (status != QUERN_OK) {
        if (engine->stream != NULL) {
            methods->stream_free(engine->device, engine->stream);
        }
        methods->close(engine->device);
        qn_free(engine);
        return status;
    }
    methods->target(engine->device, &engine->arch, &engine->native);
    pthread_mutex_init(&engine->modules_lock, NULL);
    pthread_mutex_init(&engine->copy_lock, NULL);
    pthread_mutex_init(&engine->workspaces_lock, NULL);
    atomic_init(&engine->references, 1);
    atomic_flag_clear(&engine->closed);
    atomic_flag_clear(&engine->opaque_told);
    engine->object = QN_OBJECT_ENGINE;
    qn_images_enter();
    engine->tells_launches = qn_log_asked(QN_DEBUG);
    qn_tell_opened(engine, &info);
    *out = engine;
    return QUERN_OK;
}

/** Open "name" or "name:argument". */
static quern_status open_named(quern_engine **out, const char *device, const quern_options *options)
{
    const char *colon = strchr(device, ':');
    qn_str name = {device, colon != NULL ? (size_t)(colon - device) : strlen(device)};
    const quern_device_methods *methods = qn_device_find(name);
    if (methods == NULL) {
        return qn_fail(QUERN_ERROR_NO_DEVICE,
                       "unknown device '%s'; write \"auto\", \"cuda\", \"cuda:1\", \"soft\" or "
                       "\"soft:THREADS\"",
                       device);
    }
    quern_options o = *options;
    o.device = colon != NULL ? colon + 1 : NULL;
    return quern_open_device(out, methods, &o);
}

/** The first GPU, else the software device. A GPU that is there but cannot be used is told. */
static quern_status open_auto(quern_engine **out, const quern_options *options)
{
    quern_options o = *options;
    o.device = NULL;
    const char *why = NULL;
    if (qn_cuda_device.count(&why) > 0) {
        if (quern_open_device(out, &qn_cuda_device, &o) == QUERN_OK) {
            return QUERN_OK;
        }
        qn_logger logger = {o.log, o.log_context};
        qn_log(&logger, QN_WARN, "the GPU cannot be used (%s); using the software device",
               quern_last_error()->message);
        qn_error_reset();
    } else if (why != NULL) {
        qn_logger logger = {o.log, o.log_context};
        qn_log(&logger, QN_INFO, "no GPU is used: %s", why);
    }
    return quern_open_device(out, &qn_soft_device, &o);
}

quern_status quern_open(quern_engine **out, const quern_options *options)
{
    qn_error_reset();
    QN_CHECK_OUT(out);
    QN_TRY(check_options(options));
    quern_options none = QUERN_OPTIONS_INIT;
    const quern_options *o = options != NULL ? options : &none;
    const char *device = o->device != NULL ? o->device : getenv("QUERN_DEVICE");
    if (device == NULL || device[0] == '\0' || strcmp(device, "auto") == 0) {
        return open_auto(out, o);
    }
    return open_named(out, device, o);
}

/* ---- lifetime ------------------------------------------------------------------------------- */

void qn_engine_retain(quern_engine *engine)
{
    atomic_fetch_add_explicit(&engine->references, 1, memory_order_relaxed);
}

void qn_engine_release(quern_engine *engine)
{
    if (atomic_fetch_sub_explicit(&engine->references, 1, memory_order_acq_rel) != 1) {
        return;
    }
    qn_object_end(&engine->object);
    (void)engine->methods->synchronize(engine->device);
    qn_kernel_destroy(engine->copy);
    qn_workspaces_forget(engine, NULL, true);
    qn_modules_free(engine);
    engine->methods->stream_free(engine->device, engine->stream);
    engine->methods->close(engine->device);
    qn_store_close(engine->store);
    pthread_mutex_destroy(&engine->modules_lock);
    pthread_mutex_destroy(&engine->copy_lock);
    pthread_mutex_destroy(&engine->workspaces_lock);
    qn_free(engine);
    qn_images_leave();
}

void quern_close(quern_engine *engine)
{
    if (!qn_object_can_free(__func__, engine, QN_OBJECT_ENGINE)) {
        return;
    }
    if (atomic_flag_test_and_set(&engine->closed)) {
        qn_log(&engine->logger, QN_ERROR, "quern_close: this engine was closed before");
        return;
    }
    qn_engine_release(engine);
}

quern_status quern_synchronize(quern_engine *engine)
{
    qn_error_reset();
    QN_CHECK_OBJECT(engine, QN_OBJECT_ENGINE);
    return engine->methods->synchronize(engine->device);
}

void quern_interrupt(quern_engine *engine)
{
    if (qn_object_is(engine, QN_OBJECT_ENGINE) && engine->methods->interrupt != NULL) {
        engine->methods->interrupt(engine->device);
    }
}

/* ---- what arrays ask ------------------------------------------------------------------------ */

const quern_device_methods *qn_engine_methods(quern_engine *engine)
{
    return engine->methods;
}

quern_device *qn_engine_device(quern_engine *engine)
{
    return engine->device;
}

/** The kernel that copies any dtype and layout. Made once; it belongs to the engine, and so gives
 * back the reference that a kernel holds. */
static quern_status copy_kernel(quern_kernel **out, quern_engine *engine)
{
    pthread_mutex_lock(&engine->copy_lock);
    quern_status status = QUERN_OK;
    if (engine->copy == NULL) {
        status = qn_kernel_new(&engine->copy, engine,
                               &(qn_definition){.kind = &qn_elementwise_kind,
                                                .in = "T x",
                                                .result = "T y",
                                                .name = "quern_copy",
                                                .texts[QN_OPERATION] = {"operation", "y = x"}});
        if (status == QUERN_OK) {
            qn_engine_release(engine);
        }
    }
    *out = engine->copy;
    pthread_mutex_unlock(&engine->copy_lock);
    return status;
}

quern_status qn_engine_copy_on(quern_engine *engine, quern_array *to, quern_array *from,
                               quern_stream *stream)
{
    if (to->contiguous && from->contiguous) {
        return engine->methods->copy(engine->device, to->data, from->data,
                                     (size_t)to->count * to->item_size, QUERN_COPY_ON_DEVICE,
                                     qn_stream_handle(engine, stream), 0);
    }
    quern_kernel *kernel;
    QN_TRY(copy_kernel(&kernel, engine));
    quern_call_options options = QUERN_CALL_OPTIONS_INIT;
    options.stream = stream;
    return qn_call_run(kernel, (quern_value[]){quern_value_array(from), quern_value_array(to)}, 2,
                       &options);
}

quern_status qn_engine_copy(quern_engine *engine, quern_array *to, quern_array *from)
{
    return qn_engine_copy_on(engine, to, from, NULL);
}
