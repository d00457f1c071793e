/* SPDX-License-Identifier: MIT
 *
 * dlpack_in: a tensor of another library becomes an array. In: one of DLPack's three structures.
 * Out: an array over the same memory, which calls the deleter when it ends. The thing to know:
 * nothing of a tensor is believed before it is looked at, and after a failure it is still the
 * caller's.
 */
#include "array/dlpack.h"

/* ---- what all three have in common ------------------------------------------------------------
 */

/* How many elements; negative extents are left to those who refuse them. */
static bool has_elements(const quern_dl_tensor *t)
{
    bool some = true;
    for (int k = 0; k < t->ndim && t->shape; k++) {
        some &= t->shape[k] != 0;
    }
    return some;
}

static quern_status check_tensor(const quern_dl_tensor *t)
{
    if (t->ndim < 0 || t->ndim > QUERN_MAX_NDIM) {
        return qn_fail(QUERN_ERROR_INVALID_ARGUMENT,
                       "the tensor has %d dimensions; an array has 0 to %d", (int)t->ndim,
                       QUERN_MAX_NDIM);
    }
    if (t->ndim > 0 && !t->shape) {
        return qn_fail(QUERN_ERROR_INVALID_ARGUMENT,
                       "the tensor has %d dimensions, and its shape is NULL", (int)t->ndim);
    }
    return QUERN_OK;
}

/* The address of the first element. */
static quern_status first_element(void **out, const quern_dl_tensor *t, bool elements)
{
    uintptr_t address;
    *out = NULL;
    if (!elements) {
        return QUERN_OK;
    }
    if (!t->data) {
        return qn_fail(
            QUERN_ERROR_INVALID_ARGUMENT,
            "the tensor's data is NULL, but it has elements: it has no memory, as inside "
            "of a compilation or a trace");
    }
    if (__builtin_add_overflow((uintptr_t)t->data, t->byte_offset, &address)) {
        return qn_fail(QUERN_ERROR_INVALID_ARGUMENT,
                       "the tensor's byte_offset, %llu, leads outside of the address space",
                       (unsigned long long)t->byte_offset);
    }
    *out = (void *)address;
    return QUERN_OK;
}

static quern_status import(quern_array **out, quern_engine *engine, const quern_dl_tensor *t,
                           uint64_t flags, void (*release)(void *context), void *context)
{
    qn_home *home = qn_home_of(engine);
    QN_TRY(check_tensor(t));
    const bool elements = has_elements(t);
    qn_foreign f = {.ndim = t->ndim,
                    .shape = t->shape,
                    .strides = t->strides,
                    .in_elements = true,
                    .read_only = (flags & QUERN_DL_READ_ONLY) != 0,
                    .release = release,
                    .context = context};
    QN_TRY(qn_dtype_from_dl(&f.dtype, t->dtype));
    QN_TRY(first_element(&f.pointer, t, elements));
    const bool asks = elements && !(flags & QUERN_DL_TRUSTED);
    QN_TRY(qn_memory_find(
        &f.pointer, &f.memory, home,
        &(qn_place_said){false, (int32_t)t->device.device_type, t->device.device_id}, asks));
    return qn_array_adopt(out, home, &f);
}

static quern_status refuse_twice(const char *function)
{
    return qn_fail(QUERN_ERROR_INVALID_ARGUMENT,
                   "%s: this tensor was taken before; one consumer alone may take a tensor",
                   function);
}

/* ---- versioned --------------------------------------------------------------------------------
 */

static void delete_versioned(void *context)
{
    quern_dl_managed_versioned *tensor = context;
    if (tensor->deleter) {
        tensor->deleter(tensor);
    }
}

quern_status quern_array_from_dlpack(quern_array **out, quern_engine *engine,
                                     quern_dl_managed_versioned *tensor)
{
    qn_error_reset();
    QN_CHECK_OUT(out);
    QN_CHECK_OBJECT(engine, QN_OBJECT_ENGINE);
    QN_CHECK_NOT_NULL(tensor);
    if (tensor->version.major != QN_DL_MAJOR) {
        return qn_fail(QUERN_ERROR_NOT_SUPPORTED,
                       "the tensor is of DLPack %u.%u, whose structures are others; %d.x is taken",
                       tensor->version.major, tensor->version.minor, QN_DL_MAJOR);
    }
    if (!qn_export_take(tensor)) {
        return refuse_twice(__func__);
    }
    quern_status status = import(out, engine, &tensor->dl_tensor,
                                 tensor->flags & QUERN_DL_READ_ONLY, delete_versioned, tensor);
    if (status != QUERN_OK) {
        qn_export_untake(tensor);
    }
    return status;
}

/* ---- legacy -----------------------------------------------------------------------------------
 */

static void delete_legacy(void *context)
{
    quern_dl_managed *tensor = context;
    if (tensor->deleter) {
        tensor->deleter(tensor);
    }
}

quern_status quern_array_from_dlpack_legacy(quern_array **out, quern_engine *engine,
                                            quern_dl_managed *tensor)
{
    qn_error_reset();
    QN_CHECK_OUT(out);
    QN_CHECK_OBJECT(engine, QN_OBJECT_ENGINE);
    QN_CHECK_NOT_NULL(tensor);
    if (!qn_export_take_legacy(tensor)) {
        return refuse_twice(__func__);
    }
    quern_status status = import(out, engine, &tensor->dl_tensor, 0, delete_legacy, tensor);
    if (status != QUERN_OK) {
        qn_export_untake_legacy(tensor);
    }
    return status;
}

/* ---- borrowed ---------------------------------------------------------------------------------
 */

quern_status quern_array_from_dltensor(quern_array **out, quern_engine *engine,
                                       const quern_dl_tensor *tensor, uint64_t flags,
                                       void (*release)(void *context), void *context)
{
    qn_error_reset();
    QN_CHECK_OUT(out);
    QN_CHECK_OBJECT(engine, QN_OBJECT_ENGINE);
    QN_CHECK_NOT_NULL(tensor);
    if (flags & ~(QUERN_DL_READ_ONLY | QUERN_DL_TRUSTED)) {
        return qn_fail(QUERN_ERROR_INVALID_ARGUMENT,
                       "quern_array_from_dltensor: flags is 0x%llx; of a tensor that is lent only "
                       "QUERN_DL_READ_ONLY and QUERN_DL_TRUSTED can be said",
                       (unsigned long long)flags);
    }
    return import(out, engine, tensor, flags, release, context);
}
