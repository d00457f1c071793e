/* SPDX-License-Identifier: MIT
 *
 * Elements in and out of arrays: from and to the host, between arrays, and filling.
 *
 * A contiguous array takes one copy of the device. Any other goes through a temporary contiguous
 * array and a kernel that copies between layouts (copy.c), so the host never moves single elements.
 */
#include "engine/engine_internal.h"

#include <string.h>

static qn_home *home_of(const quern_array *array)
{
    return array->buffer->home;
}

static size_t bytes_of(const quern_array *array)
{
    return (size_t)array->count * array->item_size;
}

/* A new contiguous array of the same dtype and shape, on the engine's stream. */
static quern_status new_like(quern_array **out, const quern_array *array)
{
    return qn_array_new_on(out, home_of(array), array->dtype, array->ndim, array->shape, NULL);
}

/* Copy all bytes of a contiguous array. */
static quern_status copy_bytes(const quern_array *array, void *to, const void *from,
                               quern_copy_kind kind)
{
    const qn_home *home = home_of(array);
    return home->methods->copy(home->device, to, from, bytes_of(array), kind, home->stream,
                               kind != QUERN_COPY_ON_DEVICE);
}

/* ---- reading -------------------------------------------------------------------------------- */

/* The checks that reading and writing share. */
static quern_status check_transfer(const quern_array *array, const void *host, size_t bytes)
{
    if (bytes != bytes_of(array)) {
        return qn_fail(QUERN_ERROR_INVALID_ARGUMENT,
                       "the array has %zu bytes (%lld elements of %s), not %zu", bytes_of(array),
                       (long long)array->count, quern_dtype_name(array->dtype), bytes);
    }
    if (!host && bytes > 0) {
        return qn_fail(QUERN_ERROR_INVALID_ARGUMENT, "the host memory is NULL");
    }
    return QUERN_OK;
}

static quern_status copy_array(quern_array **out, quern_array *array)
{
    *out = NULL;
    quern_array *copy;
    QN_TRY(new_like(&copy, array));
    quern_status status = QUERN_OK;
    if (array->count > 0) {
        status = array->contiguous
                     ? copy_bytes(array, copy->data, array->data, QUERN_COPY_ON_DEVICE)
                     : qn_array_copy_to(copy, array, NULL);
    }
    if (status != QUERN_OK) {
        quern_array_release(copy);
        return status;
    }
    *out = copy;
    return QUERN_OK;
}

quern_status quern_array_copy(quern_array **out, quern_array *array)
{
    qn_error_reset();
    QN_CHECK_OUT(out);
    QN_CHECK_OBJECT(array, QN_OBJECT_ARRAY);
    return copy_array(out, array);
}

quern_status quern_array_read(quern_array *array, void *host, size_t bytes)
{
    qn_error_reset();
    QN_CHECK_OBJECT(array, QN_OBJECT_ARRAY);
    QN_TRY(check_transfer(array, host, bytes));
    if (bytes == 0) {
        return QUERN_OK;
    }
    if (array->contiguous) {
        return copy_bytes(array, host, array->data, QUERN_COPY_TO_HOST);
    }
    quern_array *gathered;
    QN_TRY(copy_array(&gathered, array));
    quern_status status = copy_bytes(gathered, host, gathered->data, QUERN_COPY_TO_HOST);
    quern_array_release(gathered);
    return status;
}

/* ---- writing -------------------------------------------------------------------------------- */

quern_status qn_array_check_writable(const quern_array *array)
{
    for (int k = 0; k < array->ndim; k++) {
        if (array->shape[k] > 1 && array->strides[k] == 0) {
            return qn_fail(QUERN_ERROR_INVALID_ARGUMENT,
                           "a broadcast array cannot be written to: the elements along axis %d are "
                           "one; copy it first",
                           k);
        }
    }
    return QUERN_OK;
}

static quern_status write_contiguous(quern_array *array, const void *host)
{
    return copy_bytes(array, array->data, host, QUERN_COPY_TO_DEVICE);
}

quern_status quern_array_write(quern_array *array, const void *host, size_t bytes)
{
    qn_error_reset();
    QN_CHECK_OBJECT(array, QN_OBJECT_ARRAY);
    QN_TRY(check_transfer(array, host, bytes));
    if (bytes == 0) {
        return QUERN_OK;
    }
    QN_TRY(qn_array_check_writable(array));
    if (array->contiguous) {
        return write_contiguous(array, host);
    }
    quern_array *staged;
    QN_TRY(new_like(&staged, array));
    quern_status status = write_contiguous(staged, host);
    if (status == QUERN_OK) {
        status = qn_array_copy_to(array, staged, NULL);
    }
    quern_array_release(staged);
    return status;
}

quern_status quern_array_from(quern_array **out, quern_engine *engine, quern_dtype dtype, int ndim,
                              const int64_t *shape, const void *host)
{
    qn_error_reset();
    QN_CHECK_OUT(out);
    QN_CHECK_OBJECT(engine, QN_OBJECT_ENGINE);
    quern_array *array;
    QN_TRY(qn_array_new_on(&array, qn_home_of(engine), dtype, ndim, shape, NULL));
    size_t bytes = bytes_of(array);
    quern_status status = check_transfer(array, host, bytes);
    if (status == QUERN_OK && bytes > 0) {
        status = write_contiguous(array, host);
    }
    if (status != QUERN_OK) {
        quern_array_release(array);
        return status;
    }
    *out = array;
    return QUERN_OK;
}

/* ---- filling -------------------------------------------------------------------------------- */

static quern_status fill_contiguous(quern_array *array, const void *value)
{
    const qn_home *home = home_of(array);
    return home->methods->fill(home->device, array->data, value, array->item_size,
                               (size_t)array->count, home->stream);
}

/* Spread one element over all of `array`. */
static quern_status spread(quern_array *array, quern_array *one)
{
    quern_array *repeated;
    QN_TRY(quern_array_broadcast(&repeated, one, array->ndim, array->shape));
    quern_status status = qn_array_copy_to(array, repeated, NULL);
    quern_array_release(repeated);
    return status;
}

quern_status quern_array_fill(quern_array *array, const void *value, size_t bytes)
{
    qn_error_reset();
    QN_CHECK_OBJECT(array, QN_OBJECT_ARRAY);
    QN_CHECK_NOT_NULL(value);
    if (bytes != array->item_size) {
        return qn_fail(QUERN_ERROR_INVALID_ARGUMENT,
                       "the value has %zu bytes, and an element of %s has %u", bytes,
                       quern_dtype_name(array->dtype), array->item_size);
    }
    QN_TRY(qn_array_check_writable(array));
    if (array->count == 0) {
        return QUERN_OK;
    }
    const bool pattern = bytes <= 16 && (bytes & (bytes - 1)) == 0; /* that devices fill with */
    if (array->contiguous && pattern) {
        return fill_contiguous(array, value);
    }
    quern_array *one;
    QN_TRY(qn_array_new_on(&one, home_of(array), array->dtype, 0, NULL, NULL));
    quern_status status = write_contiguous(one, value);
    if (status == QUERN_OK) {
        status = spread(array, one);
    }
    quern_array_release(one);
    return status;
}
