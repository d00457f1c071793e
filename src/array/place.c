/* SPDX-License-Identifier: MIT
 *
 * place: where memory is. In: what a protocol says of it (a kind of device and a number, as DLPack
 * counts them). Out: the address as kernels reach it and the kind of memory, or a failure that
 * names both devices, or what the driver knows of the address.
 */
#include "array/array_internal.h"
#include <quern/interop.h>
#include <stdio.h>

/* ---- words ----------------------------------------------------------------------------------- */

typedef struct words {
    char text[64];
} words;

/* A kind of device and its number, as messages call it. */
static words place_words(int32_t type, int32_t number)
{
    words w;
    switch (type) {
    case QUERN_DL_CPU:
        return (words){"host memory (kDLCPU)"};
    case QUERN_DL_CUDA:
        snprintf(w.text, sizeof w.text, "memory of GPU %d (kDLCUDA)", number);
        return w;
    case QUERN_DL_CUDA_HOST:
        return (words){"pinned host memory (kDLCUDAHost)"};
    case QUERN_DL_CUDA_MANAGED:
        return (words){"managed memory (kDLCUDAManaged)"};
    default:
        snprintf(w.text, sizeof w.text, "memory of a device of kind %d in DLPack's list", type);
        return w;
    }
}

/* What a driver says of an address. */
static words memory_words(const quern_pointer_info *info)
{
    words w;
    switch (info->memory) {
    case QUERN_MEMORY_DEVICE:
        snprintf(w.text, sizeof w.text, "memory of GPU %d", info->device);
        return w;
    case QUERN_MEMORY_PINNED:
    case QUERN_MEMORY_MAPPED:
        return (words){"pinned host memory"};
    case QUERN_MEMORY_MANAGED:
        return (words){"managed memory"};
    default:
        return (words){"nothing that it knows: memory of the host alone, or freed"};
    }
}

/* ---- what the home says ---------------------------------------------------------------------- */

static quern_status place_of_home(int32_t *type, int32_t *number, const qn_home *home)
{
    if (!home->methods->place) {
        return qn_fail(QUERN_ERROR_NOT_SUPPORTED,
                       "the device \"%s\" does not say where its memory is "
                       "(quern_device_methods.place), so no tensor comes in or goes out",
                       home->methods->name);
    }
    home->methods->place(home->device, type, number);
    return QUERN_OK;
}

quern_status qn_memory_place(int32_t *type, int32_t *number, const qn_home *home,
                             quern_memory memory)
{
    QN_TRY(place_of_home(type, number, home));
    if (*type == QN_PLACE_GPU && memory != QUERN_MEMORY_DEVICE) {
        *type = memory == QUERN_MEMORY_MANAGED ? QUERN_DL_CUDA_MANAGED : QUERN_DL_CUDA_HOST;
        *number = 0;
    }
    return QUERN_OK;
}

static quern_status refuse_place(const qn_place_said *said, int32_t type, int32_t number)
{
    const words is = place_words(said->type, said->number), own = place_words(type, number);
    return qn_fail(QUERN_ERROR_NOT_SUPPORTED, "the tensor is in %s, and the engine works in %s%s",
                   is.text, own.text,
                   type == QUERN_DL_CPU ? "; open an engine on the tensor's device, or bring the "
                                          "tensor to the host first"
                                        : "; copy it there first");
}

/* ---- on the host, and on a GPU ----------------------------------------------------------------
 */

/* On a device that works in host memory. */
static quern_status check_host(quern_memory *memory, const qn_place_said *said)
{
    switch (said->anywhere ? QUERN_DL_CPU : said->type) {
    case QUERN_DL_CPU:
        *memory = QUERN_MEMORY_DEVICE;
        return QUERN_OK;
    case QUERN_DL_CUDA_HOST:
        *memory = QUERN_MEMORY_PINNED;
        return QUERN_OK;
    case QUERN_DL_CUDA_MANAGED:
        *memory = QUERN_MEMORY_MANAGED;
        return QUERN_OK;
    default:
        return refuse_place(said, QUERN_DL_CPU, 0);
    }
}

/* Is what the driver says of the address what was said? */
static bool agrees(const qn_place_said *said, const quern_pointer_info *info, int32_t number)
{
    const bool pinned = info->memory == QUERN_MEMORY_PINNED || info->memory == QUERN_MEMORY_MAPPED;
    const bool managed = info->memory == QUERN_MEMORY_MANAGED;
    const bool own = info->memory == QUERN_MEMORY_DEVICE && info->device == number;
    if (said->anywhere) {
        return own || pinned || managed;
    }
    switch (said->type) {
    case QUERN_DL_CUDA:
        return own || managed;
    case QUERN_DL_CUDA_MANAGED:
        return managed;
    default:
        return pinned || managed;
    }
}

static quern_status refuse_address(const void *pointer, const qn_place_said *said,
                                   const quern_pointer_info *info, int32_t number)
{
    const words is = memory_words(info);
    if (said->anywhere) {
        const words own = place_words(QUERN_DL_CUDA, number);
        return qn_fail(QUERN_ERROR_INVALID_ARGUMENT,
                       "the driver says that %p is %s, and the engine works in %s", pointer,
                       is.text, own.text);
    }
    const words told = place_words(said->type, said->number);
    if (said->type == QUERN_DL_CPU && info->memory == QUERN_MEMORY_HOST) {
        return qn_fail(
            QUERN_ERROR_NOT_SUPPORTED,
            "the tensor is in %s that is not pinned, which GPU %d does not reach; copy it "
            "(quern_array_from), or allocate it pinned",
            told.text, number);
    }
    return qn_fail(
        QUERN_ERROR_INVALID_ARGUMENT,
        "the tensor says that its data at %p is in %s, but the driver says that it is %s", pointer,
        told.text, is.text);
}

static bool gpu_reaches(const qn_place_said *said, int32_t number)
{
    return said->anywhere || said->type == QUERN_DL_CPU || said->type == QUERN_DL_CUDA_HOST ||
           said->type == QUERN_DL_CUDA_MANAGED ||
           (said->type == QUERN_DL_CUDA && said->number == number);
}

/* The kind of memory where no driver can be asked. */
static quern_memory kind_said(const qn_place_said *said)
{
    if (said->anywhere || said->type == QUERN_DL_CUDA) {
        return QUERN_MEMORY_DEVICE;
    }
    return said->type == QUERN_DL_CUDA_MANAGED ? QUERN_MEMORY_MANAGED : QUERN_MEMORY_PINNED;
}

/* On a GPU: `number`. */
static quern_status check_gpu(void **pointer, quern_memory *memory, const qn_home *home,
                              const qn_place_said *said, int32_t number, bool asks)
{
    if (!gpu_reaches(said, number)) {
        return refuse_place(said, QUERN_DL_CUDA, number);
    }
    *memory = kind_said(said);
    if (!asks || !home->methods->pointer_info) {
        return QUERN_OK;
    }
    quern_pointer_info info = QUERN_POINTER_INFO_INIT;
    QN_TRY(home->methods->pointer_info(home->device, *pointer, &info));
    if (!agrees(said, &info, number) || !info.device_pointer) {
        return refuse_address(*pointer, said, &info, number);
    }
    *pointer = info.device_pointer;
    *memory = (quern_memory)info.memory;
    return QUERN_OK;
}

quern_status qn_memory_find(void **pointer, quern_memory *memory, const qn_home *home,
                            const qn_place_said *said, bool asks)
{
    int32_t type, number;
    QN_TRY(place_of_home(&type, &number, home));
    if (type == QN_PLACE_GPU) {
        return check_gpu(pointer, memory, home, said, number, asks);
    }
    if (type == QN_PLACE_HOST) {
        return check_host(memory, said);
    }
    *memory = QUERN_MEMORY_DEVICE; /* of one that others have added */
    return said->anywhere || (said->type == type && said->number == number)
               ? QUERN_OK
               : refuse_place(said, type, number);
}

/* ---- asking ------------------------------------------------------------------------------------
 */

quern_status quern_pointer_get_info(quern_pointer_info *out, quern_engine *engine,
                                    const void *pointer)
{
    qn_error_reset();
    QN_TO_GIVE(quern_pointer_info, info, out);
    QN_GIVE(quern_pointer_info, info, out);
    QN_CHECK_OBJECT(engine, QN_OBJECT_ENGINE);
    const qn_home *home = qn_home_of(engine);
    if (!home->methods->pointer_info) {
        return qn_fail(QUERN_ERROR_NOT_SUPPORTED,
                       "the device \"%s\" does not tell what an address is "
                       "(quern_device_methods.pointer_info)",
                       home->methods->name);
    }
    info.device = -1;
    QN_TRY(home->methods->pointer_info(home->device, pointer, &info));
    QN_GIVE(quern_pointer_info, info, out);
    return QUERN_OK;
}
