/* SPDX-License-Identifier: MIT
 *
 * dlpack_out: an array becomes a tensor. In: an array. Out: one of DLPack's three structures, which
 * lies in one piece of memory with its shape and strides and holds the array until it is deleted.
 * The thing to know: a deleter may run in any thread, long after the engine was closed.
 */
#include "array/dlpack.h"

#include <string.h>

/* What a tensor is made of; `managed` is what consumers see. */
typedef struct exported {
    union {
        quern_dl_managed_versioned versioned;
        quern_dl_managed legacy;
    } managed;
    uint32_t object; /* QN_OBJECT_TENSOR */
    atomic_flag taken;
    int64_t numbers[]; /* shape, then strides in elements */
} exported;

/* ---- the tensor itself ------------------------------------------------------------------------
 */

/* DLPack counts strides in elements. */
static quern_status check_steps(const quern_array *array)
{
    for (int k = 0; k < array->ndim; k++) {
        if (array->shape[k] > 1 && array->strides[k] != array->steps[k] * array->item_size) {
            return qn_fail(QUERN_ERROR_NOT_SUPPORTED,
                           "the stride of axis %d, %lld bytes, is no multiple of the element's %u: "
                           "DLPack counts in elements; copy the array (quern_array_copy)",
                           k, (long long)array->strides[k], array->item_size);
        }
    }
    return QUERN_OK;
}

/* All but shape and strides, which are the array's. */
static quern_status describe(quern_dl_tensor *out, const quern_array *array)
{
    int32_t type, number;
    QN_TRY(qn_memory_place(&type, &number, array->buffer->home, qn_buffer_memory(array->buffer)));
    QN_TRY(check_steps(array));
    QN_TRY(qn_dtype_to_dl(&out->dtype, array->dtype));
    out->data = array->count > 0 ? array->data : NULL;
    out->device.device_type = (quern_dl_device_type)type;
    out->device.device_id = number;
    out->ndim = array->ndim;
    out->shape = (int64_t *)array->shape;
    out->strides = array->steps;
    out->byte_offset = 0;
    return QUERN_OK;
}

quern_status quern_array_to_dltensor(quern_dl_tensor *out, quern_array *array)
{
    qn_error_reset();
    QN_CHECK_NOT_NULL(out);
    memset(out, 0, sizeof *out);
    QN_CHECK_OBJECT(array, QN_OBJECT_ARRAY);
    quern_dl_tensor tensor = {0};
    QN_TRY(describe(&tensor, array));
    *out = tensor;
    return QUERN_OK;
}

/* ---- with an owner ----------------------------------------------------------------------------
 */

/* Room for a tensor of `array`, which is not held yet. */
static quern_status make(exported **out, quern_dl_tensor *tensor, const quern_array *array)
{
    *out = NULL;
    QN_TRY(describe(tensor, array));
    const size_t bytes = 2 * (size_t)array->ndim * sizeof(int64_t);
    exported *made = qn_alloc(sizeof *made + bytes);
    if (!made) {
        return qn_fail_memory("making a tensor");
    }
    made->object = QN_OBJECT_TENSOR;
    atomic_flag_clear(&made->taken);
    memcpy(made->numbers, array->shape, bytes / 2);
    memcpy(made->numbers + array->ndim, array->steps, bytes / 2);
    tensor->shape = made->numbers;
    tensor->strides = made->numbers + array->ndim;
    *out = made;
    return QUERN_OK;
}

static void end(void *managed, quern_array *array)
{
    exported *made = managed;
    if (!made || made->object != QN_OBJECT_TENSOR) {
        if (made) {
            qn_log(NULL, QN_ERROR, "a tensor's deleter was called twice; nothing is freed");
        }
        return;
    }
    qn_object_end(&made->object);
    qn_free(made);
    quern_array_release(array);
}

static void delete_versioned(quern_dl_managed_versioned *self)
{
    end(self, self ? self->manager_ctx : NULL);
}

static void delete_legacy(quern_dl_managed *self)
{
    end(self, self ? self->manager_ctx : NULL);
}

quern_status qn_array_to_dlpack(quern_dl_managed_versioned **out, quern_array *array,
                                uint64_t flags)
{
    exported *made;
    quern_dl_tensor tensor;
    QN_TRY(make(&made, &tensor, array));
    made->managed.versioned = (quern_dl_managed_versioned){
        .version = {QN_DL_MAJOR, QN_DL_MINOR},
        .manager_ctx = quern_array_retain(array),
        .deleter = delete_versioned,
        .flags = flags | (array->read_only ? QUERN_DL_READ_ONLY : 0),
        .dl_tensor = tensor,
    };
    *out = &made->managed.versioned;
    return QUERN_OK;
}

quern_status quern_array_to_dlpack(quern_dl_managed_versioned **out, quern_array *array,
                                   uint64_t flags)
{
    qn_error_reset();
    QN_CHECK_OUT(out);
    QN_CHECK_OBJECT(array, QN_OBJECT_ARRAY);
    if (flags & ~(QUERN_DL_READ_ONLY | QUERN_DL_IS_COPIED)) {
        return qn_fail(QUERN_ERROR_INVALID_ARGUMENT,
                       "quern_array_to_dlpack: flags is 0x%llx; known are QUERN_DL_READ_ONLY and "
                       "QUERN_DL_IS_COPIED",
                       (unsigned long long)flags);
    }
    return qn_array_to_dlpack(out, array, flags);
}

quern_status quern_array_to_dlpack_legacy(quern_dl_managed **out, quern_array *array)
{
    qn_error_reset();
    QN_CHECK_OUT(out);
    QN_CHECK_OBJECT(array, QN_OBJECT_ARRAY);
    if (array->read_only) {
        return qn_fail(QUERN_ERROR_NOT_SUPPORTED,
                       "the array is read-only, which the older structure cannot say; use "
                       "quern_array_to_dlpack(), or copy the array");
    }
    exported *made;
    quern_dl_tensor tensor;
    QN_TRY(make(&made, &tensor, array));
    made->managed.legacy = (quern_dl_managed){
        .dl_tensor = tensor, .manager_ctx = quern_array_retain(array), .deleter = delete_legacy};
    *out = &made->managed.legacy;
    return QUERN_OK;
}

/* ---- taken once -------------------------------------------------------------------------------
 */

bool qn_export_take(quern_dl_managed_versioned *tensor)
{
    return tensor->deleter != delete_versioned ||
           !atomic_flag_test_and_set(&((exported *)(void *)tensor)->taken);
}

bool qn_export_take_legacy(quern_dl_managed *tensor)
{
    return tensor->deleter != delete_legacy ||
           !atomic_flag_test_and_set(&((exported *)(void *)tensor)->taken);
}

void qn_export_untake(quern_dl_managed_versioned *tensor)
{
    if (tensor->deleter == delete_versioned) {
        atomic_flag_clear(&((exported *)(void *)tensor)->taken);
    }
}

void qn_export_untake_legacy(quern_dl_managed *tensor)
{
    if (tensor->deleter == delete_legacy) {
        atomic_flag_clear(&((exported *)(void *)tensor)->taken);
    }
}
