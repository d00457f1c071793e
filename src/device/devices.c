/* SPDX-License-Identifier: MIT
 *
 * All devices: by name, and as a list of what this machine has. Listing opens nothing: it asks the
 * driver for facts that need no context.
 */
#include "base/prefix.h"
#include "device/cuda/cuda_device.h"
#include "device/soft/soft_device.h"

#include <stdio.h>

const quern_device_methods *qn_device_find(qn_str name)
{
    static const quern_device_methods *const all[] = {&qn_cuda_device, &qn_soft_device};
    for (size_t k = 0; k < QN_COUNT(all); k++) {
        if (qn_str_is(name, all[k]->name)) {
            return all[k];
        }
    }
    return NULL;
}

/* Facts of GPU `ordinal`; the note says what could not be asked. */
static void describe_gpu(int ordinal, quern_device_info *info)
{
    if (qn_cuda_describe(ordinal, info) != QUERN_OK) {
        snprintf(info->id, sizeof info->id, "cuda:%d", ordinal);
        snprintf(info->note, sizeof info->note, "%s", quern_last_error()->message);
        qn_error_reset();
    }
}

static void describe_driver(const char *why, quern_device_info *info)
{
    snprintf(info->name, sizeof info->name, "NVIDIA driver");
    snprintf(info->id, sizeof info->id, "cuda");
    snprintf(info->note, sizeof info->note, "%s", why);
    info->driver_version = (uint32_t)qn_cuda_version();
}

quern_status qn_devices_list(size_t *count, quern_device_info *infos, size_t capacity)
{
    const char *why = NULL;
    size_t gpus = (size_t)qn_cuda_device.count(&why);
    size_t entries = gpus == 0 && qn_cuda_present() ? 1 : gpus;
    *count = entries + 1;
    for (size_t k = 0; k < *count && k < capacity; k++) {
        quern_device_info info = {0};
        if (k == entries) {
            qn_soft_describe(&(soft_options){0}, &info);
        } else if (gpus > 0) {
            describe_gpu((int)k, &info);
        } else {
            describe_driver(why, &info);
        }
        /* the caller's entries are as large as the first one says, which may differ from ours */
        uint32_t stride = infos[0].size;
        quern_device_info *to = (quern_device_info *)((unsigned char *)infos + k * stride);
        to->size = stride;
        QN_GIVE(quern_device_info, info, to);
    }
    return QUERN_OK;
}

quern_status quern_device_list(size_t *count, quern_device_info *infos, size_t capacity)
{
    qn_error_reset();
    if (!count) {
        return qn_fail(QUERN_ERROR_INVALID_ARGUMENT, "quern_device_list: count is NULL");
    }
    *count = 0;
    if (capacity > 0) {
        QN_TRY(qn_prefix_check(QN_PREFIX(quern_device_info), __func__, "infos", infos));
    }
    return qn_devices_list(count, infos, capacity);
}
