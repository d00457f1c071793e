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

/** The caller's options and allocator, as ours. */
typedef struct taken {
    quern_options options;
    quern_allocator allocator;
} taken;

static quern_status take_options(taken *out, const quern_options *options)
{
    QN_TAKE_RESERVED(quern_options, o, options);
    QN_TAKE_RESERVED(quern_allocator, allocator, o.allocator);
    if (o.allocator != NULL && (allocator.allocate == NULL || allocator.release == NULL)) {
        return qn_fail(QUERN_ERROR_INVALID_ARGUMENT, "an allocator needs allocate and release");
    }
    *out = (taken){o, allocator};
    out->options.allocator = o.allocator != NULL ? &out->allocator : NULL;
    return QUERN_OK;
}

/** A slot that is called without a look whether it is there. */
typedef struct slot {
    const char *name;
    size_t offset;
} slot;

#define SLOT(name)                                                                                 \
    {                                                                                              \
#name, offsetof(quern_device_methods, name)                                                \
    }

static quern_status check_slots(const quern_device_methods *methods)
{
    static const slot required[] = {
        SLOT(name),
        SLOT(open),
        SLOT(close),
        SLOT(info),
        SLOT(target),
        SLOT(allocate),
        SLOT(release),
        SLOT(copy),
        SLOT(fill),
        SLOT(module_load),
        SLOT(module_free),
        SLOT(function_get),
        SLOT(module_functions),
        SLOT(module_global),
        SLOT(function_info),
        SLOT(function_parameter),
        SLOT(function_set),
        SLOT(occupancy),
        SLOT(launch),
        SLOT(stream_new),
        SLOT(stream_free),
        SLOT(stream_wait),
        SLOT(event_new),
        SLOT(event_free),
        SLOT(event_record),
        SLOT(event_wait),
        SLOT(stream_wait_event),
        SLOT(event_elapsed),
        SLOT(synchronize),
    };
    for (size_t k = 0; k < QN_COUNT(required); k++) {
        void (*function)(void);
        memcpy(&function, (const char *)methods + required[k].offset, sizeof function);
        if (function == NULL) {
            return qn_fail(QUERN_ERROR_INVALID_ARGUMENT, "quern_device_methods.%s is NULL",
                           required[k].name);
        }
    }
    return QUERN_OK;
}

/** The device's table as ours. */
static quern_status take_methods(quern_device_methods *out, const quern_device_methods *methods)
{
    QN_TRY(qn_prefix_take(out, QN_PREFIX(quern_device_methods), methods));
    if (out->version < 1 || out->version > QUERN_DEVICE_VERSION) {
        return qn_fail(QUERN_ERROR_INVALID_ARGUMENT,
                       "quern_device_methods.version is %u, and this library, %s, knows 1 to %d",
                       out->version, QUERN_VERSION_STRING, QUERN_DEVICE_VERSION);
    }
    return check_slots(out);
}

/** What can fail of opening. */
static quern_status start(quern_engine *engine, const quern_options *o, quern_device_info *info)
{
    const quern_device_methods *methods = engine->methods;
    QN_TRY(methods->open(&engine->device, o->device, o->allocator));
    QN_TRY(methods->stream_new(engine->device, &engine->stream));
    QN_TRY(methods->info(engine->device, info));
    engine->processors = QN_MAX(1u, info->processors);
    return qn_store_open(&engine->store, o->cache_dir, o->cache_limit, &engine->logger);
}

/** Give back what start() made of an engine that is not opened. */
static void stop(quern_engine *engine)
{
    if (engine->stream != NULL) {
        engine->methods->stream_free(engine->device, engine->stream);
    }
    engine->methods->close(engine->device);
    qn_free(engine);
}

/** Options and methods are taken already. */
static quern_status open_device(quern_engine **out, const quern_device_methods *methods,
                                const quern_options *o)
{
    quern_engine *engine = qn_calloc(1, sizeof *engine);
    if (engine == NULL) {
        return qn_fail_memory("opening an engine");
    }
    engine->table = *methods;
    engine->methods = &engine->table;
    engine->logger = (qn_logger){o->log, o->log_context};
    quern_device_info info = QUERN_DEVICE_INFO_INIT;
    quern_status status = start(engine, o, &info);
    if (status != QUERN_OK) {
        stop(engine);
        return status;
    }
    engine->methods->target(engine->device, &engine->arch, &engine->native);
    engine->checks_bounds = qn_device_checks_bounds(methods, engine->device);
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

quern_status quern_open_device(quern_engine **out, const quern_device_methods *methods,
                               const quern_options *options)
{
    qn_error_reset();
    QN_CHECK_OUT(out);
    QN_CHECK_NOT_NULL(methods);
    taken o;
    quern_device_methods table;
    QN_TRY(take_options(&o, options));
    QN_TRY(take_methods(&table, methods));
    return open_device(out, &table, &o.options);
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
    return open_device(out, methods, &o);
}

/** The first GPU, else the software device. A GPU that is there but cannot be used is told. */
static quern_status open_auto(quern_engine **out, const quern_options *options)
{
    quern_options o = *options;
    o.device = NULL;
    const char *why = NULL;
    if (qn_cuda_device.count(&why) > 0) {
        if (open_device(out, &qn_cuda_device, &o) == QUERN_OK) {
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
    return open_device(out, &qn_soft_device, &o);
}

quern_status quern_open(quern_engine **out, const quern_options *options)
{
    qn_error_reset();
    QN_CHECK_OUT(out);
    taken o;
    QN_TRY(take_options(&o, options));
    const char *device = o.options.device != NULL ? o.options.device : getenv("QUERN_DEVICE");
    if (device == NULL || device[0] == '\0' || strcmp(device, "auto") == 0) {
        return open_auto(out, &o.options);
    }
    return open_named(out, device, &o.options);
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

quern_status qn_engine_function_info(quern_function_info *out, quern_engine *engine, void *function)
{
    *out = (quern_function_info)QUERN_FUNCTION_INFO_INIT;
    return engine->methods->function_info(engine->device, function, out);
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
                                                .out = "T y",
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
