/* SPDX-License-Identifier: MIT
 *
 * Modules of the software device, their functions and launches. In: PTX, or a fatbin with PTX in
 * it. Out: a read module, and launches that are over when the call returns. Functions are never
 * changed once read, so any number of threads may launch them at once.
 */
#include "device/image/image.h"
#include "device/soft/soft_device.h"

#include <stdio.h>
#include <string.h>

/* ---- modules -------------------------------------------------------------------------------- */

static quern_status load_ptx(soft_device *device, void **out, const char *text, size_t length)
{
    qn_ptx_module *module;
    QN_TRY(qn_ptx_read(&module, text, strnlen(text, length)));
    const quern_status status = qn_ptx_check_defined(module);
    if (status != QUERN_OK) {
        qn_ptx_free(module);
        return status;
    }
    if (module->global_bytes > 0 &&
        !qn_memory_map_add(device->memory, module->globals, module->global_bytes,
                           "the module's variables")) {
        qn_ptx_free(module);
        return qn_fail_memory("loading a module");
    }
    *out = module;
    return QUERN_OK;
}

static quern_status load_fatbin(soft_device *device, void **out, const void *image, size_t bytes)
{
    char *text;
    size_t length;
    QN_TRY(qn_fatbin_ptx(&text, &length, image, bytes, SOFT_ARCH));
    quern_status status = load_ptx(device, out, text, length);
    qn_free(text);
    return status;
}

static quern_status fail_cubin(const void *image, size_t bytes)
{
    qn_text targets = {0};
    qn_image_print_targets(&targets, QUERN_IMAGE_CUBIN, image, bytes);
    quern_status status =
        qn_fail(QUERN_ERROR_IMAGE,
                "the software device executes PTX, and this is a cubin for %s; compile it for "
                "compute_%d, or run it on a GPU",
                targets.data ? targets.data : "a GPU", SOFT_ARCH);
    qn_text_free(&targets);
    return status;
}

quern_status qn_soft_module_load(quern_device *quern, void **out, quern_image_kind kind,
                                 const void *image, size_t bytes)
{
    *out = NULL;
    QN_TRY(qn_image_check(kind, image, bytes));
    switch (kind) {
    case QUERN_IMAGE_PTX:
        return load_ptx(soft_of(quern), out, image, bytes);
    case QUERN_IMAGE_FATBIN:
        return load_fatbin(soft_of(quern), out, image, bytes);
    default:
        return fail_cubin(image, bytes);
    }
}

void qn_soft_module_free(quern_device *quern, void *handle)
{
    qn_ptx_module *module = handle;
    if (!module) {
        return;
    }
    if (module->global_bytes > 0) {
        qn_memory_map_remove(soft_of(quern)->memory, module->globals, module->global_bytes);
    }
    qn_ptx_free(module);
}

/* ---- names ---------------------------------------------------------------------------------- */

quern_status qn_soft_module_functions(quern_device *quern, void *handle, size_t *count,
                                      const char **names, size_t capacity)
{
    (void)quern;
    const qn_ptx_module *module = handle;
    *count = 0;
    for (uint32_t k = 0; k < module->function_count; k++) {
        const qn_ptx_function *function = module->functions[k];
        if (!function->is_kernel || !function->has_body) {
            continue;
        }
        if (*count < capacity) {
            names[*count] = function->name;
        }
        ++*count;
    }
    return QUERN_OK;
}

quern_status qn_soft_module_globals(quern_device *quern, void *handle, size_t *count,
                                    const char **names, size_t capacity)
{
    (void)quern;
    const qn_ptx_module *module = handle;
    *count = 0;
    for (uint32_t k = 0; k < module->symbol_count; k++) {
        if (!qn_image_is_variable(module->symbols[k])) {
            continue;
        }
        if (*count < capacity) {
            names[*count] = module->symbols[k]->name;
        }
        ++*count;
    }
    return QUERN_OK;
}

quern_status qn_soft_module_global(quern_device *quern, void **pointer, uint64_t *bytes,
                                   void *module, const char *name)
{
    (void)quern;
    *pointer = NULL;
    *bytes = 0;
    return qn_ptx_global(module, name, pointer, bytes)
               ? QUERN_OK
               : qn_fail(QUERN_ERROR_NAME, "the module has no variable '%s'", name);
}

quern_status qn_soft_function_get(quern_device *quern, void **out, void *module, const char *name)
{
    (void)quern;
    *out = qn_ptx_kernel(module, name);
    return *out ? QUERN_OK : qn_fail(QUERN_ERROR_NAME, "the module has no kernel '%s'", name);
}

/* ---- functions ------------------------------------------------------------------------------ */

static uint32_t static_shared(const qn_ptx_function *function)
{
    return (uint32_t)QN_MIN(qn_ptx_static_shared(function), (uint64_t)UINT32_MAX);
}

static uint32_t max_threads(const qn_ptx_function *function)
{
    return function->max_threads ? QN_MIN(function->max_threads, (uint32_t)SOFT_BLOCK_THREADS)
                                 : SOFT_BLOCK_THREADS;
}

quern_status qn_soft_function_info(quern_device *quern, void *handle, quern_function_info *info)
{
    const uint32_t shared = qn_soft_shared(&soft_of(quern)->options);
    const qn_ptx_function *function = handle;
    QN_TO_GIVE(quern_function_info, facts, info);
    facts = (quern_function_info){
        .size = sizeof facts,
        .shared_bytes = static_shared(function),
        .local_bytes = function->local_bytes,
        .max_threads = max_threads(function),
        .max_dynamic_shared = shared - QN_MIN(static_shared(function), shared),
        .ptx_version = (uint32_t)function->module->target,
        .shared_carveout = -1,
        .parameter_count = function->param_count,
    };
    QN_GIVE(quern_function_info, facts, info);
    return QUERN_OK;
}

quern_status qn_soft_function_parameter(quern_device *quern, void *handle, size_t index,
                                        uint64_t *offset, uint64_t *bytes)
{
    (void)quern;
    const qn_ptx_symbol *parameter = ((const qn_ptx_function *)handle)->params[index];
    *offset = parameter->offset;
    *bytes = parameter->size;
    return QUERN_OK;
}

/* There is neither a first-level cache to divide nor a cluster. */
quern_status qn_soft_function_set(quern_device *quern, void *function,
                                  quern_function_property property, int32_t value)
{
    (void)quern, (void)function, (void)property, (void)value;
    return QUERN_OK;
}

/* A host thread runs one block at a time. */
quern_status qn_soft_occupancy(quern_device *quern, void *function, uint32_t block_threads,
                               uint32_t shared_bytes, uint32_t *blocks)
{
    const uint64_t shared = (uint64_t)static_shared(function) + shared_bytes;
    *blocks = block_threads <= max_threads(function) &&
              shared <= qn_soft_shared(&soft_of(quern)->options);
    return QUERN_OK;
}

/* ---- launches ------------------------------------------------------------------------------- */

/* The limits that check=limits imposes, those of an H100 or H200 (compute capability 9.0). The
 * first holds for every GPU; no earlier GPU has more of the others. */
enum {
    GPU_LOCAL_BYTES = 512 * 1024, /* of a thread */
    GPU_PROCESSORS = 132,
    GPU_THREADS = 2048, /* of a processor, as are those that follow */
    GPU_BLOCKS = 32,
    GPU_SHARED_BYTES = 228 * 1024,
    GPU_SHARED_OF_BLOCK = 1024, /* that each block takes besides its own */
};

static quern_status check_local(const qn_ptx_function *function)
{
    if (function->local_bytes <= GPU_LOCAL_BYTES) {
        return QUERN_OK;
    }
    return qn_fail(QUERN_ERROR_LAUNCH,
                   "kernel '%s' has %u bytes of local memory a thread, and a GPU allows at most %d "
                   "(check=limits): put large arrays into device memory",
                   function->name, function->local_bytes, GPU_LOCAL_BYTES);
}

/* How many blocks of a launch run at once on the GPU. Registers are not counted, since only the
 * native compiler assigns them: they may leave room for fewer blocks. */
static void limit_as_gpu(qn_launch_limits *limits, const quern_launch_config *config)
{
    const uint64_t threads = (uint64_t)config->block[0] * config->block[1] * config->block[2];
    const uint64_t shared = (uint64_t)limits->static_shared + config->shared_bytes;
    const uint64_t by_threads = GPU_THREADS / QN_MAX((threads + 31) / 32 * 32, UINT64_C(1));
    const uint64_t by_shared = GPU_SHARED_BYTES / (shared + GPU_SHARED_OF_BLOCK);
    limits->processors = GPU_PROCESSORS;
    limits->resident_blocks = (uint32_t)QN_MIN(QN_MIN(by_threads, by_shared), (uint64_t)GPU_BLOCKS);
    limits->device = "an H100, whose limits check=limits applies";
}

/* Execute a launch; with check=streams it is work of its stream. */
static quern_status run(soft_device *device, qn_ptx_launch *launch, const void *stream)
{
    if (!device->history) {
        return qn_ptx_run(launch);
    }
    QN_TRY(qn_soft_tell_early((quern_device *)device));
    char what[64];
    snprintf(what, sizeof what, "kernel '%s'", launch->kernel->name);
    qn_stream_work work;
    qn_stream_work_begin(&work, device->history, stream, what);
    launch->work = work.history ? &work : NULL;
    const quern_status status = qn_ptx_run(launch);
    qn_stream_work_end(&work);
    return status;
}

quern_status qn_soft_launch(quern_device *quern, void *handle, const quern_launch_config *config,
                            void **parameters)
{
    soft_device *device = soft_of(quern);
    qn_ptx_function *function = handle;
    qn_launch_limits limits = {
        .grid = {INT32_MAX, 65535, 65535},
        .block = {SOFT_BLOCK_THREADS, SOFT_BLOCK_THREADS, 64},
        .block_threads = max_threads(function),
        .shared_bytes = qn_soft_shared(&device->options),
        .static_shared = static_shared(function),
        .cluster_blocks = 1,
        .resident_blocks = UINT32_MAX,
    };
    if (device->options.aids.check_limits) {
        limit_as_gpu(&limits, config);
    }
    quern_status status = qn_launch_check(config, &limits);
    if (status == QUERN_OK && device->options.aids.check_limits) {
        status = check_local(function);
    }
    if (status == QUERN_OK && qn_soft_captures(quern) &&
        qn_soft_record_launch(quern, handle, config, parameters, &status)) {
        return status;
    }
    if (status == QUERN_OK) {
        qn_ptx_launch launch = {
            .kernel = function,
            .grid = {config->grid[0], config->grid[1], config->grid[2]},
            .block = {config->block[0], config->block[1], config->block[2]},
            .dynamic_shared = config->shared_bytes,
            .cooperative = config->cooperative != 0,
            .parameters = parameters,
            .memory = device->memory,
            .threads = device->options.threads,
            .limit = device->options.limit,
            .interrupts = &device->interrupts,
            .aids = device->options.aids,
        };
        status = run(device, &launch, config->stream);
    }
    if (status != QUERN_OK) {
        qn_error_stage("launch");
    }
    return status;
}

void qn_soft_interrupt(quern_device *quern)
{
    atomic_fetch_add(&soft_of(quern)->interrupts, 1);
}
