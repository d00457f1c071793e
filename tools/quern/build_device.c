/* SPDX-License-Identifier: MIT
 *
 * A device that is not there: it takes every image and computes nothing, so that an engine compiles
 * for an architecture that this machine may not have. In: "sm_90" and its like. Out: an engine. The
 * software device is there everywhere, and stands for itself.
 */
#include "build.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct absent_device {
    build_target target;
    uint32_t processors;
} absent_device;

static absent_device *of(quern_device *device)
{
    return (absent_device *)device;
}

/* ---- targets -------------------------------------------------------------------------------- */

bool build_target_parse(build_target *out, const char *name)
{
    *out = (build_target){.name = name};
    if (strcmp(name, "soft") == 0) {
        return true;
    }
    out->native = cli_begins_with(name, "sm_");
    if (!out->native && !cli_begins_with(name, "compute_")) {
        return false;
    }
    const char *digits = strchr(name, '_') + 1;
    const size_t length = strspn(digits, "0123456789");
    out->arch = length < 4 ? atoi(digits) : 0;
    return digits[length] == '\0' && length > 1 && out->arch >= 50;
}

const uint32_t *build_processors(const build_target *target)
{
    static const struct {
        int arch;
        uint32_t counts[8];
    } known[] = {
        {70, {80}},
        {72, {8}},
        {75, {14, 30, 40, 48, 68, 72}},
        {80, {56, 98, 108}},
        {86, {16, 28, 48, 58, 72, 84}},
        {87, {8, 16}},
        {89, {20, 34, 58, 76, 128, 142}},
        {90, {114, 132}},
        {100, {148}},
        {103, {160}},
        {110, {20}},
        {120, {26, 50, 70, 84, 170, 188}},
        {121, {48}},
    };
    static const uint32_t usual[] = {16, 48, 80, 132, 0};
    for (size_t k = 0; k < CLI_COUNT(known); k++) {
        if (known[k].arch == target->arch) {
            return known[k].counts;
        }
    }
    return usual;
}

/* ---- the device ----------------------------------------------------------------------------- */

static char nothing; /* handles point here */

static quern_status open_device(quern_device **out, const char *argument,
                                const quern_allocator *allocator)
{
    (void)allocator;
    absent_device *device = calloc(1, sizeof *device);
    char name[32];
    unsigned driver;
    *out = NULL;
    if (!device || !argument ||
        sscanf(argument, "%31[^:]:%u:%u", name, &device->processors, &driver) != 3 ||
        !build_target_parse(&device->target, name)) {
        free(device);
        return QUERN_ERROR_NO_DEVICE;
    }
    device->target.driver = driver;
    *out = (quern_device *)device;
    return QUERN_OK;
}

static void close_device(quern_device *device)
{
    free(device);
}

static quern_status device_info(quern_device *device, quern_device_info *info)
{
    const build_target *target = &of(device)->target;
    const uint32_t size = info->size;
    quern_device_info facts = {.size = size,
                               .processors = of(device)->processors,
                               .name = "a GPU that is compiled for",
                               .id = "absent",
                               .memory_bytes = UINT64_C(1) << 46,
                               .max_block_threads = 1024,
                               .max_shared_bytes = 48 << 10,
                               .warp_size = 32,
                               .driver_version = target->driver};
    snprintf(facts.target, sizeof facts.target, "%s_%d", target->native ? "sm" : "compute",
             target->arch);
    memcpy(info, &facts, size < sizeof facts ? size : sizeof facts);
    return QUERN_OK;
}

static void device_target(quern_device *device, int *arch, int *native)
{
    *arch = of(device)->target.arch;
    *native = of(device)->target.native ? 1 : 2;
}

static quern_status allocate(quern_device *device, void **out, size_t bytes, void *stream)
{
    (void)device, (void)stream;
    *out = aligned_alloc(256, (bytes + 255) / 256 * 256);
    return *out ? QUERN_OK : QUERN_ERROR_DEVICE_MEMORY;
}

static void release(quern_device *device, void *pointer, size_t bytes, void *stream)
{
    (void)device, (void)bytes, (void)stream;
    free(pointer);
}

static quern_status copy(quern_device *device, void *to, const void *from, size_t bytes,
                         quern_copy_kind kind, void *stream, int wait)
{
    (void)device, (void)to, (void)from, (void)bytes, (void)kind, (void)stream, (void)wait;
    return QUERN_OK;
}

static quern_status fill(quern_device *device, void *to, const void *pattern, size_t pattern_bytes,
                         size_t count, void *stream)
{
    (void)device, (void)to, (void)pattern, (void)pattern_bytes, (void)count, (void)stream;
    return QUERN_OK;
}

static quern_status module_load(quern_device *device, void **out, quern_image_kind kind,
                                const void *image, size_t bytes)
{
    (void)device, (void)kind, (void)image, (void)bytes;
    *out = &nothing;
    return QUERN_OK;
}

static void free_handle(quern_device *device, void *handle)
{
    (void)device, (void)handle;
}

static quern_status function_get(quern_device *device, void **out, void *module, const char *name)
{
    (void)device, (void)module, (void)name;
    *out = &nothing;
    return QUERN_OK;
}

static quern_status module_functions(quern_device *device, void *module, size_t *count,
                                     const char **names, size_t capacity)
{
    (void)device, (void)module, (void)names, (void)capacity;
    *count = SIZE_MAX;
    return QUERN_OK;
}

static quern_status module_global(quern_device *device, void **pointer, uint64_t *bytes,
                                  void *module, const char *name)
{
    (void)device, (void)module, (void)name;
    *pointer = &nothing;
    *bytes = 1;
    return QUERN_OK;
}

static quern_status function_info(quern_device *device, void *function, quern_function_info *info)
{
    (void)device, (void)function;
    const uint32_t size = info->size;
    const quern_function_info facts = {.size = size,
                                       .max_threads = 1024,
                                       .max_dynamic_shared = 48 << 10,
                                       .shared_carveout = -1,
                                       .parameter_count = SIZE_MAX};
    memcpy(info, &facts, size < sizeof facts ? size : sizeof facts);
    return QUERN_OK;
}

static quern_status function_parameter(quern_device *device, void *function, size_t index,
                                       uint64_t *offset, uint64_t *bytes)
{
    (void)device, (void)function, (void)index;
    *offset = *bytes = 0;
    return QUERN_OK;
}

static quern_status function_set(quern_device *device, void *function,
                                 quern_function_property property, int32_t value)
{
    (void)device, (void)function, (void)property, (void)value;
    return QUERN_OK;
}

static quern_status occupancy(quern_device *device, void *function, uint32_t block_threads,
                              uint32_t shared_bytes, uint32_t *blocks)
{
    (void)device, (void)function, (void)block_threads, (void)shared_bytes;
    *blocks = 0;
    return QUERN_OK;
}

static quern_status launch(quern_device *device, void *function, const quern_launch_config *config,
                           void **parameters)
{
    (void)device, (void)function, (void)config, (void)parameters;
    return QUERN_OK;
}

static quern_status new_handle(quern_device *device, void **out)
{
    (void)device;
    *out = &nothing;
    return QUERN_OK;
}

static quern_status wait_for(quern_device *device, void *handle)
{
    (void)device, (void)handle;
    return QUERN_OK;
}

static quern_status wait_for_both(quern_device *device, void *one, void *other)
{
    (void)device, (void)one, (void)other;
    return QUERN_OK;
}

static quern_status elapsed(quern_device *device, double *milliseconds, void *begin, void *end)
{
    (void)device, (void)begin, (void)end;
    *milliseconds = 0;
    return QUERN_OK;
}

static quern_status synchronize(quern_device *device)
{
    (void)device;
    return QUERN_OK;
}

const quern_device_methods build_absent_device = {
    .size = sizeof(quern_device_methods),
    .version = QUERN_DEVICE_VERSION,
    .name = "absent",
    .open = open_device,
    .close = close_device,
    .info = device_info,
    .target = device_target,
    .allocate = allocate,
    .release = release,
    .copy = copy,
    .fill = fill,
    .module_load = module_load,
    .module_free = free_handle,
    .function_get = function_get,
    .module_functions = module_functions,
    .module_global = module_global,
    .function_info = function_info,
    .function_parameter = function_parameter,
    .function_set = function_set,
    .occupancy = occupancy,
    .launch = launch,
    .stream_new = new_handle,
    .stream_free = free_handle,
    .stream_wait = wait_for,
    .event_new = new_handle,
    .event_free = free_handle,
    .event_record = wait_for_both,
    .event_wait = wait_for,
    .stream_wait_event = wait_for_both,
    .event_elapsed = elapsed,
    .synchronize = synchronize,
};

quern_status build_engine_open(quern_engine **out, const build_target *target, uint32_t processors,
                               const quern_options *with)
{
    quern_options options = *with;
    char argument[64];
    if (target->arch == 0) {
        options.device = "soft";
        return quern_open(out, &options);
    }
    snprintf(argument, sizeof argument, "%s:%u:%u", target->name, processors, target->driver);
    options.device = argument;
    return quern_open_device(out, &build_absent_device, &options);
}
