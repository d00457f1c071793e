/* SPDX-License-Identifier: MIT
 *
 * engine: opening and closing. In: options. Out: one device with its stream, its store and its
 * table of modules. The thing to know: everything made from an engine holds a reference to it, so
 * quern_close() only drops the caller's own.
 */
#include "engine/tuning.h"
#include "engine/workspace.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what the home asks of its engine -------------------------------------------------------- */

/* Wait for all work. A capture of another engine on the same GPU must not see that: nothing but
 * streams of this one that have ended can then be busy. */
static void settle(const qn_home *home)
{
    if (qn_homes_capture(home)) {
        (void)home->methods->stream_wait(home->device, home->stream);
    } else {
        (void)home->methods->synchronize(home->device);
    }
}

/* Nothing holds the engine any longer. */
static void end(qn_home *home)
{
    quern_engine *engine = qn_home_engine(home);
    qn_homes_leave(home);
    qn_object_end(&home->object);
    settle(home);
    for (int how = 0; how < QN_COPIES; how++) {
        qn_kernel_destroy(engine->copies[how]);
    }
    (void)qn_workspaces_forget(engine, NULL, true);
    qn_modules_free(engine);
    qn_home_drop_event(home);
    home->methods->stream_free(home->device, home->stream);
    home->methods->close(home->device);
    qn_remote_close(engine->remote);
    qn_store_close(engine->store);
    qn_packs_close(engine->packs);
    qn_free(engine->listing);
    qn_memory_forget(home);
    pthread_mutex_destroy(&engine->modules_lock);
    pthread_mutex_destroy(&engine->copy_lock);
    pthread_mutex_destroy(&engine->workspaces_lock);
    qn_tunings_free(engine->tunings);
    qn_free(engine);
    qn_images_leave();
}

static void stream_ended(qn_home *home, void *handle)
{
    (void)qn_workspaces_forget(qn_home_engine(home), handle, false);
}

static bool reclaim(qn_home *home)
{
    return qn_workspaces_forget(qn_home_engine(home), NULL, true);
}

static const qn_home_owner owner = {.end = end, .stream_ended = stream_ended, .reclaim = reclaim};

/* ---- opening -------------------------------------------------------------------------------- */

/* The caller's options and allocator, as ours. */
typedef struct taken {
    quern_options options;
    quern_allocator allocator;
    quern_remote_methods remote;
} taken;

static quern_status take_options(taken *out, const quern_options *options)
{
    QN_TAKE_RESERVED(quern_options, o, options);
    quern_allocator allocator;
    QN_TRY(qn_allocator_take(&allocator, o.allocator));
    quern_remote_methods remote;
    QN_TRY(qn_remote_methods_take(&remote, o.remote_methods));
    *out = (taken){o, allocator, remote};
    out->options.allocator = o.allocator ? &out->allocator : NULL;
    out->options.remote_methods = o.remote_methods ? &out->remote : NULL;
    return QUERN_OK;
}

/* A slot that is called without a check, so it must not be NULL. */
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
        if (!function) {
            return qn_fail(QUERN_ERROR_INVALID_ARGUMENT, "quern_device_methods.%s is NULL",
                           required[k].name);
        }
    }
    return QUERN_OK;
}

/* The device's table as ours. */
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

/* The part of opening that can fail. */
static quern_status start(quern_engine *engine, const quern_options *o, quern_device_info *info)
{
    const quern_device_methods *methods = engine->home.methods;
    QN_TRY(methods->open(&engine->home.device, o->device, NULL));
    QN_TRY(methods->stream_new(engine->home.device, &engine->home.stream));
    QN_TRY(methods->info(engine->home.device, info));
    snprintf(engine->home.place, sizeof engine->home.place, "%s",
             info->id[0] ? info->id : methods->name);
    QN_TRY(qn_memory_use(&engine->home, o->allocator));
    if (qn_listing_path() && !(engine->listing = qn_strdup(qn_listing_path()))) {
        return qn_fail_memory("opening an engine");
    }
    qn_compiler_suit_driver((int)info->driver_version);
    engine->processors = QN_MAX(1u, info->processors);
    engine->shared_bytes = info->max_shared_bytes;
    QN_TRY(qn_tunings_new(&engine->tunings));
    QN_TRY(
        qn_packs_open(&engine->packs, o->packs, o->pack_data, o->pack_bytes, &engine->home.logger));
    QN_TRY(qn_remote_open(&engine->remote, o->remote, o->remote_methods, &engine->home.logger));
    return qn_store_open(&engine->store, o->cache_dir, o->cache_limit, &engine->home.logger);
}

/* Give back what start() made of an engine that is not opened. */
static void stop(quern_engine *engine)
{
    if (engine->home.stream) {
        engine->home.methods->stream_free(engine->home.device, engine->home.stream);
    }
    engine->home.methods->close(engine->home.device);
    qn_memory_forget(&engine->home);
    qn_tunings_free(engine->tunings);
    qn_packs_close(engine->packs);
    qn_remote_close(engine->remote);
    qn_free(engine->listing);
    qn_free(engine);
}

/* Options and methods are taken already. */
static quern_status open_device(quern_engine **out, const quern_device_methods *methods,
                                const quern_options *o)
{
    quern_engine *engine = qn_calloc(1, sizeof *engine);
    if (!engine) {
        return qn_fail_memory("opening an engine");
    }
    engine->table = *methods;
    engine->home.methods = &engine->table;
    engine->home.logger = (qn_logger){o->log, o->log_context};
    engine->home.owner = &owner;
    quern_device_info info = QUERN_DEVICE_INFO_INIT;
    quern_status status = start(engine, o, &info);
    if (status != QUERN_OK) {
        stop(engine);
        return status;
    }
    engine->home.methods->target(engine->home.device, &engine->arch, &engine->native);
    engine->checks_bounds = qn_device_checks_bounds(methods, engine->home.device);
    pthread_mutex_init(&engine->modules_lock, NULL);
    pthread_mutex_init(&engine->copy_lock, NULL);
    pthread_mutex_init(&engine->workspaces_lock, NULL);
    atomic_init(&engine->home.references, 1);
    atomic_flag_clear(&engine->closed);
    atomic_flag_clear(&engine->opaque_told);
    engine->home.object = QN_OBJECT_ENGINE;
    qn_images_enter();
    qn_homes_enter(&engine->home);
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

/* Open "name" or "name:argument". */
static quern_status open_named(quern_engine **out, const char *device, const quern_options *options)
{
    const char *colon = strchr(device, ':');
    qn_str name = {device, colon ? (size_t)(colon - device) : strlen(device)};
    const quern_device_methods *methods = qn_device_find(name);
    if (!methods) {
        return qn_fail(QUERN_ERROR_NO_DEVICE,
                       "unknown device '%s'; write \"auto\", \"cuda\", \"cuda:1\", "
                       "\"cuda:UUID\", \"soft\" or \"soft:THREADS\"",
                       device);
    }
    quern_options o = *options;
    o.device = colon ? colon + 1 : NULL;
    return open_device(out, methods, &o);
}

/* The first GPU, else the software device. A GPU that exists but cannot be used is reported to the
 * log. */
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
    } else if (why) {
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
    const char *device = o.options.device ? o.options.device : getenv("QUERN_DEVICE");
    if (!device || device[0] == '\0' || strcmp(device, "auto") == 0) {
        return open_auto(out, &o.options);
    }
    return open_named(out, device, &o.options);
}

/* ---- lifetime ------------------------------------------------------------------------------- */

void quern_close(quern_engine *engine)
{
    if (!qn_object_can_free(__func__, engine, QN_OBJECT_ENGINE)) {
        return;
    }
    if (atomic_flag_test_and_set(&engine->closed)) {
        qn_log(&engine->home.logger, QN_ERROR, "quern_close: this engine was closed before");
        return;
    }
    (void)qn_homes_capture(&engine->home); /* one of another library may be over, unseen */
    qn_home_release(&engine->home);
}

quern_status quern_synchronize(quern_engine *engine)
{
    qn_error_reset();
    QN_CHECK_OBJECT(engine, QN_OBJECT_ENGINE);
    QN_TRY(qn_homes_refuse_captured(__func__, &engine->home));
    return engine->home.methods->synchronize(engine->home.device);
}

void quern_interrupt(quern_engine *engine)
{
    if (!qn_object_is(engine, QN_OBJECT_ENGINE)) {
        return;
    }
    atomic_fetch_add(&engine->interrupts, 1);
    if (engine->home.methods->interrupt) {
        engine->home.methods->interrupt(engine->home.device);
    }
}
