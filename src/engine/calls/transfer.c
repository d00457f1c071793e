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

/* Where and how elements move: queued on `stream` (NULL: the engine's own). */
typedef struct moment {
    quern_stream *stream;
    bool wait; /* for copies from and to the host */
} moment;

static const moment at_once = {NULL, true};

/* A new contiguous array of the same dtype and shape. */
static quern_status new_like(quern_array **out, const quern_array *array, quern_stream *stream)
{
    return qn_array_new_on(out, home_of(array), array->dtype, array->ndim, array->shape, stream);
}

/* Copy all bytes of a contiguous array. */
static inline quern_status copy_bytes(const quern_array *array, void *to, const void *from,
                                      quern_copy_kind kind, moment when)
{
    const qn_home *home = home_of(array);
    return home->methods->copy(home->device, to, from, bytes_of(array), kind,
                               qn_stream_handle(home, when.stream),
                               when.wait && kind != QUERN_COPY_ON_DEVICE);
}

/* The stream that a function was given. */
static quern_status check_stream(const char *function, const quern_array *array,
                                 const quern_stream *stream)
{
    return qn_stream_fits(stream, home_of(array))
               ? QUERN_OK
               : qn_stream_refuse(function, stream, "array", home_of(array));
}

/* Recorded work keeps its array. */
static quern_status keep(quern_array *array, quern_stream *stream)
{
    return qn_stream_captures(stream) ? qn_buffer_keep(array->buffer, stream) : QUERN_OK;
}

/* ---- reading -------------------------------------------------------------------------------- */

/* The checks that reading and writing share. */
static inline quern_status check_transfer(const quern_array *array, const void *host, size_t bytes)
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

static quern_status copy_array(quern_array **out, quern_array *array, quern_stream *stream)
{
    *out = NULL;
    quern_array *copy;
    QN_TRY(keep(array, stream));
    QN_TRY(new_like(&copy, array, stream));
    quern_status status = QUERN_OK;
    if (array->count > 0) {
        status = qn_array_copy_to(copy, array, stream);
    }
    if (status != QUERN_OK) {
        quern_array_release(copy);
        return status;
    }
    *out = copy;
    return QUERN_OK;
}

quern_status qn_array_copy(quern_array **out, quern_array *array)
{
    return copy_array(out, array, NULL);
}

quern_status quern_array_copy(quern_array **out, quern_array *array)
{
    qn_error_reset();
    QN_CHECK_OUT(out);
    QN_CHECK_OBJECT(array, QN_OBJECT_ARRAY);
    return copy_array(out, array, NULL);
}

quern_status quern_array_copy_on(quern_array **out, quern_array *array, quern_stream *stream)
{
    qn_error_reset();
    QN_CHECK_OUT(out);
    QN_CHECK_OBJECT(array, QN_OBJECT_ARRAY);
    QN_TRY(check_stream(__func__, array, stream));
    return copy_array(out, array, stream);
}

static inline quern_status read_array(quern_array *array, void *host, size_t bytes, moment when)
{
    QN_TRY(check_transfer(array, host, bytes));
    if (bytes == 0) {
        return QUERN_OK;
    }
    QN_TRY(keep(array, when.stream));
    if (array->contiguous) {
        return copy_bytes(array, host, array->data, QUERN_COPY_TO_HOST, when);
    }
    quern_array *gathered;
    QN_TRY(copy_array(&gathered, array, when.stream));
    quern_status status = copy_bytes(gathered, host, gathered->data, QUERN_COPY_TO_HOST, when);
    quern_array_release(gathered);
    return status;
}

quern_status quern_array_read(quern_array *array, void *host, size_t bytes)
{
    qn_error_reset();
    QN_CHECK_OBJECT(array, QN_OBJECT_ARRAY);
    return read_array(array, host, bytes, at_once);
}

quern_status quern_array_read_on(quern_array *array, void *host, size_t bytes, quern_stream *stream)
{
    qn_error_reset();
    QN_CHECK_OBJECT(array, QN_OBJECT_ARRAY);
    QN_TRY(check_stream(__func__, array, stream));
    return read_array(array, host, bytes, (moment){stream, false});
}

/* ---- writing -------------------------------------------------------------------------------- */

quern_status qn_array_check_distinct(const quern_array *array)
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

static quern_status write_contiguous(quern_array *array, const void *host, moment when)
{
    return copy_bytes(array, array->data, host, QUERN_COPY_TO_DEVICE, when);
}

static quern_status write_array(quern_array *array, const void *host, size_t bytes, moment when)
{
    QN_TRY(check_transfer(array, host, bytes));
    if (bytes == 0) {
        return QUERN_OK;
    }
    QN_TRY(qn_array_check_distinct(array));
    QN_TRY(keep(array, when.stream));
    if (array->contiguous) {
        return write_contiguous(array, host, when);
    }
    quern_array *staged;
    QN_TRY(new_like(&staged, array, when.stream));
    quern_status status = write_contiguous(staged, host, when);
    if (status == QUERN_OK) {
        status = qn_array_copy_to(array, staged, when.stream);
    }
    quern_array_release(staged);
    return status;
}

quern_status quern_array_write(quern_array *array, const void *host, size_t bytes)
{
    qn_error_reset();
    QN_CHECK_OBJECT(array, QN_OBJECT_ARRAY);
    QN_TRY(qn_array_check_writable(array, __func__));
    return write_array(array, host, bytes, at_once);
}

quern_status quern_array_write_on(quern_array *array, const void *host, size_t bytes,
                                  quern_stream *stream)
{
    qn_error_reset();
    QN_CHECK_OBJECT(array, QN_OBJECT_ARRAY);
    QN_TRY(qn_array_check_writable(array, __func__));
    QN_TRY(check_stream(__func__, array, stream));
    return write_array(array, host, bytes, (moment){stream, false});
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
        status = write_contiguous(array, host, at_once);
    }
    if (status != QUERN_OK) {
        quern_array_release(array);
        return status;
    }
    *out = array;
    return QUERN_OK;
}

/* ---- filling -------------------------------------------------------------------------------- */

static quern_status fill_contiguous(quern_array *array, const void *value, quern_stream *stream)
{
    const qn_home *home = home_of(array);
    return home->methods->fill(home->device, array->data, value, array->item_size,
                               (size_t)array->count, qn_stream_handle(home, stream));
}

/* Spread one element over all of `array`. */
static quern_status spread(quern_array *array, quern_array *one, quern_stream *stream)
{
    quern_array *repeated;
    QN_TRY(quern_array_broadcast(&repeated, one, array->ndim, array->shape));
    quern_status status = qn_array_copy_to(array, repeated, stream);
    quern_array_release(repeated);
    return status;
}

static quern_status fill_array(quern_array *array, const void *value, size_t bytes,
                               quern_stream *stream)
{
    if (bytes != array->item_size) {
        return qn_fail(QUERN_ERROR_INVALID_ARGUMENT,
                       "the value has %zu bytes, and an element of %s has %u", bytes,
                       quern_dtype_name(array->dtype), array->item_size);
    }
    QN_TRY(qn_array_check_distinct(array));
    if (array->count == 0) {
        return QUERN_OK;
    }
    QN_TRY(keep(array, stream));
    const bool pattern = bytes <= 16 && (bytes & (bytes - 1)) == 0; /* that devices fill with */
    if (array->contiguous && pattern) {
        return fill_contiguous(array, value, stream);
    }
    quern_array *one;
    QN_TRY(qn_array_new_on(&one, home_of(array), array->dtype, 0, NULL, stream));
    /* a recorded copy would read the value at each launch, and nobody may wait for it */
    const moment when = qn_stream_captures(stream) ? at_once : (moment){stream, true};
    quern_status status =
        pattern ? fill_contiguous(one, value, stream) : write_contiguous(one, value, when);
    if (status == QUERN_OK) {
        status = spread(array, one, stream);
    }
    quern_array_release(one);
    return status;
}

quern_status quern_array_fill(quern_array *array, const void *value, size_t bytes)
{
    qn_error_reset();
    QN_CHECK_OBJECT(array, QN_OBJECT_ARRAY);
    QN_CHECK_NOT_NULL(value);
    QN_TRY(qn_array_check_writable(array, __func__));
    return fill_array(array, value, bytes, NULL);
}

quern_status quern_array_fill_on(quern_array *array, const void *value, size_t bytes,
                                 quern_stream *stream)
{
    qn_error_reset();
    QN_CHECK_OBJECT(array, QN_OBJECT_ARRAY);
    QN_CHECK_NOT_NULL(value);
    QN_TRY(qn_array_check_writable(array, __func__));
    QN_TRY(check_stream(__func__, array, stream));
    return fill_array(array, value, bytes, stream);
}
