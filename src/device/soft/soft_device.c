/* SPDX-License-Identifier: MIT
 *
 * The software device: opened, described, closed, and its table of functions. In: what follows
 * "soft:". Out: a device of compute capability 7.5 that executes PTX on the CPU, in host memory,
 * with every access of a kernel checked against the arrays that exist.
 */
#include "device/soft/soft_device.h"

#include <stdio.h>
#include <unistd.h>

static int device_count(const char **why)
{
    if (why) {
        *why = NULL;
    }
    return 1;
}

static void close_device(quern_device *quern)
{
    if (quern) {
        qn_memory_map_free(soft_of(quern)->memory);
        qn_stream_history_free(soft_of(quern)->history);
        pthread_mutex_destroy(&soft_of(quern)->lock);
        qn_free(quern);
    }
}

static quern_status open_device(quern_device **out, const char *argument,
                                const quern_allocator *allocator)
{
    (void)allocator;
    *out = NULL;
    soft_options options;
    QN_TRY(qn_soft_options_read(&options, argument));
    soft_device *device = qn_calloc(1, sizeof *device);
    qn_memory_map *memory = device ? qn_memory_map_new() : NULL;
    if (!memory) {
        qn_free(device);
        return qn_fail_memory("opening the software device");
    }
    device->memory = memory;
    device->options = options;
    pthread_mutex_init(&device->lock, NULL);
    if (options.aids.check_streams) {
        device->history = qn_stream_history_new();
    }
    if (options.aids.check_streams && !device->history) {
        close_device((quern_device *)device);
        return qn_fail_memory("opening the software device");
    }
    *out = (quern_device *)device;
    return QUERN_OK;
}

void qn_soft_describe(const soft_options *options, quern_device_info *info)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    uint64_t available;
    *info = (quern_device_info){
        .processors = options->threads ? options->threads : (uint32_t)QN_MAX(cores, 1),
        .name = "software device",
        .id = "soft",
        .max_block_threads = SOFT_BLOCK_THREADS,
        .max_shared_bytes = qn_soft_shared(options),
        .warp_size = QN_LANES,
    };
    snprintf(info->target, sizeof info->target, "compute_%d", SOFT_ARCH);
    qn_soft_host_memory(&available, &info->memory_bytes);
}

static quern_status device_info(quern_device *device, quern_device_info *info)
{
    QN_TO_GIVE(quern_device_info, facts, info);
    qn_soft_describe(&soft_of(device)->options, &facts);
    QN_GIVE(quern_device_info, facts, info);
    return QUERN_OK;
}

static void device_target(quern_device *device, int *arch, int *native)
{
    (void)device;
    *arch = SOFT_ARCH;
    *native = 0;
}

bool qn_device_checks_bounds(const quern_device_methods *methods, quern_device *device)
{
    return methods == &qn_soft_device && soft_of(device)->options.aids.check_bounds;
}

const quern_device_methods qn_soft_device = {
    .size = sizeof(quern_device_methods),
    .version = QUERN_DEVICE_VERSION,
    .name = "soft",
    .count = device_count,
    .open = open_device,
    .close = close_device,
    .info = device_info,
    .target = device_target,
    .allocate = qn_soft_allocate,
    .release = qn_soft_release,
    .adopt = qn_soft_adopt,
    .disown = qn_soft_disown,
    .copy = qn_soft_copy,
    .fill = qn_soft_fill,
    .module_load = qn_soft_module_load,
    .module_free = qn_soft_module_free,
    .function_get = qn_soft_function_get,
    .module_functions = qn_soft_module_functions,
    .module_global = qn_soft_module_global,
    .module_globals = qn_soft_module_globals,
    .function_info = qn_soft_function_info,
    .function_parameter = qn_soft_function_parameter,
    .function_set = qn_soft_function_set,
    .occupancy = qn_soft_occupancy,
    .launch = qn_soft_launch,
    .stream_new = qn_soft_stream_new,
    .stream_free = qn_soft_stream_free,
    .stream_wait = qn_soft_stream_wait,
    .event_new = qn_soft_event_new,
    .event_free = qn_soft_event_free,
    .event_record = qn_soft_event_record,
    .event_wait = qn_soft_event_wait,
    .stream_wait_event = qn_soft_stream_wait_event,
    .event_elapsed = qn_soft_event_elapsed,
    .synchronize = qn_soft_synchronize,
    .interrupt = qn_soft_interrupt,
    .allocate_in = qn_soft_allocate_in,
    .release_in = qn_soft_release_in,
    .host_pointer = qn_soft_host_pointer,
    .copy_from = qn_soft_copy_from,
    .place = qn_soft_place,
    .pointer_info = qn_soft_pointer_info,
    .stream_new_with = qn_soft_stream_new_with,
    .event_query = qn_soft_event_query,
    .stream_query = qn_soft_stream_query,
    .stream_call = qn_soft_stream_call,
    .capture_begin = qn_soft_capture_begin,
    .capture_end = qn_soft_capture_end,
    .graph_launch = qn_soft_graph_launch,
    .graph_free = qn_soft_graph_free,
};
