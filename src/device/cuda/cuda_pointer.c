/* SPDX-License-Identifier: MIT
 *
 * What an address is, as the driver knows it. In: any address. Out: the kind of memory, the GPU
 * that it belongs to, and where kernels reach it. The thing to know: the driver knows all memory of
 * CUDA in the process, whoever allocated it, and calls all else unknown, which is no failure.
 */
#include "device/cuda/cuda_device.h"

void qn_cuda_place_of(quern_device *device, int32_t *type, int32_t *number)
{
    *type = QN_PLACE_GPU;
    *number = cuda_of(device)->ordinal;
}

/* What is asked. The driver writes 4 bytes for a number. */
typedef struct answers {
    uint32_t type, managed;
    int32_t ordinal;
    cu_pointer pointer;
} answers;

static cu_result ask(answers *a, const void *pointer)
{
    cu_pointer_attribute attributes[] = {CU_POINTER_MEMORY_TYPE, CU_POINTER_IS_MANAGED,
                                         CU_POINTER_DEVICE_ORDINAL, CU_POINTER_DEVICE_POINTER};
    void *values[] = {&a->type, &a->managed, &a->ordinal, &a->pointer};
    return qn_cuda.pointer_attributes(QN_COUNT(attributes), attributes, values,
                                      cuda_address(pointer));
}

/* Pinned memory: was it asked for that kernels reach it? */
static quern_memory kind_of_host(const void *pointer)
{
    unsigned flags = 0;
    const cu_result result = qn_cuda.host_flags(&flags, (void *)pointer);
    return result == CU_SUCCESS && (flags & CU_HOST_DEVICE_MAP) ? QUERN_MEMORY_MAPPED
                                                                : QUERN_MEMORY_PINNED;
}

static quern_memory kind_of(const answers *a, const void *pointer)
{
    if (a->managed) {
        return QUERN_MEMORY_MANAGED;
    }
    switch (a->type) {
    case CU_MEMORY_DEVICE:
        return QUERN_MEMORY_DEVICE;
    case CU_MEMORY_HOST:
        return kind_of_host(pointer);
    default:
        return QUERN_MEMORY_HOST;
    }
}

static cu_result describe(const void *pointer, quern_pointer_info *info)
{
    answers a = {.ordinal = -1};
    const cu_result result = ask(&a, pointer);
    if (result == CU_SUCCESS) {
        const quern_memory memory = kind_of(&a, pointer);
        info->memory = memory;
        info->device = memory == QUERN_MEMORY_HOST || a.ordinal < 0 ? -1 : a.ordinal;
        info->device_pointer = memory == QUERN_MEMORY_HOST ? NULL : (void *)(uintptr_t)a.pointer;
    }
    return result;
}

quern_status qn_cuda_pointer_info(quern_device *device, const void *pointer,
                                  quern_pointer_info *info)
{
    QN_TO_GIVE(quern_pointer_info, facts, info);
    cu_result result;
    CUDA_IN(cuda_of(device), result, describe(pointer, &facts));
    if (result != CU_SUCCESS) {
        return qn_cuda_fail(result, "asking what an address is");
    }
    QN_GIVE(quern_pointer_info, facts, info);
    return QUERN_OK;
}
