/* SPDX-License-Identifier: MIT
 *
 * Views that see the same bytes as elements of another dtype. In: an array and a dtype. Out: a new
 * array that keeps the memory alive, by NumPy's rules: of the same size any layout will do; of
 * another, the elements along the last axis must lie side by side, and are cut or put together.
 * And views of a field of records, by its name.
 */
#include "array/array_internal.h"
#include "lang/records.h"

#include <string.h>

/* What the last axis of the view is. */
typedef struct axis {
    int64_t extent, stride;
} axis;

static quern_status refuse(const quern_array *array, const qn_dtype_info *info, const char *why)
{
    return qn_fail(QUERN_ERROR_SHAPE,
                   "elements of %s, %u byte%s each, cannot be seen as %s, %u: %s",
                   quern_dtype_name(array->dtype), array->item_size,
                   array->item_size == 1 ? "" : "s", info->name, info->size, why);
}

static quern_status last_axis(axis *out, const quern_array *array, const qn_dtype_info *info)
{
    const int64_t from = array->item_size, to = info->size;
    if (array->ndim == 0) {
        return refuse(array, info, "an array without dimensions keeps the size of its element");
    }
    const int64_t extent = array->shape[array->ndim - 1], stride = array->strides[array->ndim - 1];
    if (extent != 1 && array->count != 0 && stride != from) {
        return refuse(array, info,
                      "along the last axis they do not lie side by side; copy the array first");
    }
    if (to < from && from % to != 0) {
        return refuse(array, info, "the one size is no multiple of the other");
    }
    int64_t bytes;
    if (__builtin_mul_overflow(extent, from, &bytes) || bytes % to != 0) {
        return refuse(array, info, "the bytes along the last axis are no multiple of the new size");
    }
    *out = (axis){bytes / to, to};
    return QUERN_OK;
}

quern_status quern_array_view(quern_array **out, quern_array *array, quern_dtype dtype)
{
    qn_error_reset();
    QN_CHECK_OUT(out);
    QN_CHECK_OBJECT(array, QN_OBJECT_ARRAY);
    const qn_dtype_info *info = qn_dtype_find(dtype);
    if (!info) {
        return qn_fail(QUERN_ERROR_INVALID_ARGUMENT, "%d is not a dtype", (int)dtype);
    }
    axis last = {0};
    if (info->size != array->item_size) {
        QN_TRY(last_axis(&last, array, info));
    }
    quern_array *view = qn_array_header(array->buffer, dtype, array->ndim);
    if (!view) {
        return qn_fail_memory("making a view");
    }
    view->data = array->data;
    memcpy(view->shape, array->shape, 2 * (size_t)array->ndim * sizeof *array->shape);
    if (info->size != array->item_size) {
        view->shape[array->ndim - 1] = last.extent;
        view->strides[array->ndim - 1] = last.stride;
    }
    qn_array_finish(view);
    *out = view;
    return QUERN_OK;
}

/* ---- fields --------------------------------------------------------------------------------- */

static quern_status refuse_field(const quern_array *array, const qn_record *record,
                                 const char *name)
{
    if (!record) {
        return qn_fail(QUERN_ERROR_TYPE, "the elements are %s, which has no fields",
                       quern_dtype_name(array->dtype));
    }
    qn_text names = {0};
    for (size_t k = 0; k < record->field_count; k++) {
        qn_text_printf(&names, "%s%s", k > 0 ? ", " : "", record->fields[k].name);
    }
    quern_status status =
        qn_fail(QUERN_ERROR_NAME, "%s has no field \"%s\"; it has %s", record->info.name, name,
                names.data ? names.data : "none that are known");
    qn_text_free(&names);
    return status;
}

/* The axes of a field that is an array, C-contiguous in each record. */
static void set_field_axes(quern_array *view, const quern_field *field, int first)
{
    int64_t stride = view->item_size;
    for (int d = field->ndim - 1; d >= 0; d--) {
        view->shape[first + d] = field->shape[d];
        view->strides[first + d] = stride;
        stride *= field->shape[d];
    }
}

quern_status quern_array_field(quern_array **out, quern_array *array, const char *name)
{
    qn_error_reset();
    QN_CHECK_OUT(out);
    QN_CHECK_OBJECT(array, QN_OBJECT_ARRAY);
    QN_CHECK_NOT_NULL(name);
    const qn_record *record = qn_record_find(array->dtype);
    const quern_field *field = record ? qn_record_field(record, qn_str_of(name)) : NULL;
    if (!field) {
        return refuse_field(array, record, name);
    }
    if (array->ndim + field->ndim > QUERN_MAX_NDIM) {
        return qn_fail(QUERN_ERROR_SHAPE,
                       "field \"%s\" has %d dimensions, with the array's %d more than the %d that "
                       "there may be",
                       name, field->ndim, array->ndim, QUERN_MAX_NDIM);
    }
    quern_array *view =
        qn_array_header(array->buffer, (quern_dtype)field->dtype, array->ndim + field->ndim);
    if (!view) {
        return qn_fail_memory("making a view");
    }
    view->data = (char *)array->data + (array->count > 0 ? field->offset : 0);
    for (int k = 0; k < array->ndim; k++) {
        view->shape[k] = array->shape[k];
        view->strides[k] = array->strides[k];
    }
    set_field_axes(view, field, array->ndim);
    qn_array_finish(view);
    *out = view;
    return QUERN_OK;
}
