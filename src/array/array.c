/* SPDX-License-Identifier: MIT
 *
 * Making arrays, counting their references and reading their properties. In: an engine, a dtype and
 * a shape, or foreign memory. Out: a quern_array, whose shape, strides and pointer never change.
 *
 * All arithmetic on sizes is checked here, so that views and transfers can rely on it: the bytes of
 * an array, counted without gaps, fit a ptrdiff_t, and every element of foreign memory has an
 * address.
 */
#include "array/array_internal.h"
#include "array/plan.h"

#include <string.h>

void qn_shape_print(qn_text *out, int ndim, const int64_t *shape)
{
    qn_text_puts(out, "(");
    for (int k = 0; k < ndim; k++) {
        qn_text_printf(out, k > 0 ? ", %lld" : "%lld", (long long)shape[k]);
    }
    qn_text_puts(out, ndim == 1 ? ",)" : ")");
}

static quern_status refuse_size(int ndim, const int64_t *shape)
{
    qn_text text = {0};
    qn_shape_print(&text, ndim, shape);
    qn_fail(QUERN_ERROR_INVALID_ARGUMENT, "an array of shape %s is larger than any memory",
            text.data ? text.data : "so many elements");
    qn_text_free(&text);
    return QUERN_ERROR_INVALID_ARGUMENT;
}

quern_status qn_shape_check(int64_t *count, int ndim, const int64_t *shape, uint32_t item_size)
{
    *count = 0;
    if (ndim < 0 || ndim > QUERN_MAX_NDIM) {
        return qn_fail(QUERN_ERROR_INVALID_ARGUMENT, "an array has 0 to %d dimensions, not %d",
                       QUERN_MAX_NDIM, ndim);
    }
    if (ndim > 0 && !shape) {
        return qn_fail(QUERN_ERROR_INVALID_ARGUMENT, "the shape is NULL: pass %d extents", ndim);
    }
    int64_t bytes = item_size; /* empty axes count as one element, as in the strides */
    bool empty = false;
    for (int k = 0; k < ndim; k++) {
        if (shape[k] < 0) {
            return qn_fail(QUERN_ERROR_INVALID_ARGUMENT, "axis %d of the shape is negative: %lld",
                           k, (long long)shape[k]);
        }
        empty |= shape[k] == 0;
        if (__builtin_mul_overflow(bytes, QN_MAX(shape[k], 1), &bytes)) {
            return refuse_size(ndim, shape);
        }
    }
    *count = empty ? 0 : bytes / item_size;
    return QUERN_OK;
}

/* ---- headers -------------------------------------------------------------------------------- */

quern_array *qn_array_header(qn_buffer *buffer, quern_dtype dtype, int ndim)
{
    quern_array *array = qn_calloc(1, sizeof *array + 2 * (size_t)ndim * sizeof(int64_t));
    if (!array) {
        return NULL;
    }
    array->object = QN_OBJECT_ARRAY;
    atomic_init(&array->references, 1);
    if (buffer) {
        qn_buffer_retain(buffer);
        array->buffer = buffer;
        array->data = buffer->pointer;
    }
    array->dtype = dtype;
    const qn_dtype_info *info = qn_dtype_find(dtype);
    array->item_size = info->size;
    array->alignment = (uint16_t)info->alignment;
    array->packed = info->packed;
    array->ndim = ndim;
    array->strides = array->shape + ndim;
    return array;
}

bool qn_array_is_narrow(const quern_array *array)
{
    uint64_t most = INT32_MAX, bytes = array->item_size;
    for (int d = 0; d < array->ndim && bytes <= most; d++) {
        const uint64_t steps = array->shape[d] > 0 ? (uint64_t)array->shape[d] - 1 : 0;
        const uint64_t stride = qn_magnitude(array->strides[d]);
        bytes = steps > 0 && stride > most / steps ? most + 1 : bytes + steps * stride;
    }
    return bytes <= most;
}

void qn_array_set_c_strides(quern_array *array)
{
    int64_t stride = array->item_size;
    for (int k = array->ndim - 1; k >= 0; k--) {
        array->strides[k] = stride;
        stride *= QN_MAX(array->shape[k], 1);
    }
}

/* The alignment that all elements have, where that is not the one that their dtype wants: the
 * lowest bit of `off`, all that they lie off by. A record may have more, up to what a thread moves
 * at once; a number's size limits it to its own. */
static uint8_t reach_of(const quern_array *array, uint64_t off)
{
    const uint64_t widest = 16;
    uint64_t bits = off | array->item_size | QN_MAX(widest, array->alignment);
    uint64_t reach = bits & (0 - bits);
    return (uint8_t)(reach == array->alignment && !array->packed ? 0 : QN_MIN(reach, widest));
}

void qn_array_finish(quern_array *array)
{
    int64_t count = 1, stride = array->item_size;
    uint64_t off = (uintptr_t)array->data; /* the bits of all that elements lie off by */
    bool contiguous = true;
    for (int k = array->ndim - 1; k >= 0; k--) {
        int64_t extent = array->shape[k];
        if (extent != 1) { /* the stride of an axis with one element is never used */
            contiguous &= array->strides[k] == stride;
            stride *= QN_MAX(extent, 1);
            off |= (uint64_t)array->strides[k];
        }
        count *= extent;
    }
    array->count = count;
    array->contiguous = contiguous || count == 0;
    array->reach = count == 0 ? 0 : reach_of(array, off);
    array->loose = array->reach != 0 || array->alignment != array->item_size;
}

/* ---- new arrays ----------------------------------------------------------------------------- */

static quern_status check_dtype(quern_dtype dtype)
{
    if (!qn_dtype_find(dtype)) {
        return qn_fail(QUERN_ERROR_INVALID_ARGUMENT, "%d is not a dtype", (int)dtype);
    }
    return QUERN_OK;
}

/* A C-contiguous array, or (unless `memory`) what such an array looks like. */
static quern_status new_array(quern_array **out, qn_home *home, quern_dtype dtype, int ndim,
                              const int64_t *shape, quern_stream *stream, bool memory)
{
    *out = NULL;
    int64_t count;
    QN_TRY(check_dtype(dtype));
    uint32_t item_size = (uint32_t)quern_dtype_size(dtype);
    QN_TRY(qn_shape_check(&count, ndim, shape, item_size));
    qn_buffer *buffer;
    QN_TRY(qn_buffer_new(&buffer, home, memory ? (size_t)count * item_size : 0, stream));
    quern_array *array = qn_array_header(buffer, dtype, ndim);
    qn_buffer_release(buffer);
    if (!array) {
        return qn_fail_memory("making an array");
    }
    if (ndim > 0) {
        memcpy(array->shape, shape, (size_t)ndim * sizeof *shape);
    }
    qn_array_set_c_strides(array);
    qn_array_finish(array);
    *out = array;
    return QUERN_OK;
}

quern_status qn_array_new_on(quern_array **out, qn_home *home, quern_dtype dtype, int ndim,
                             const int64_t *shape, quern_stream *stream)
{
    return new_array(out, home, dtype, ndim, shape, stream, true);
}

quern_status qn_array_without_memory(quern_array **out, qn_home *home, quern_dtype dtype, int ndim,
                                     const int64_t *shape)
{
    return new_array(out, home, dtype, ndim, shape, NULL, false);
}

quern_status quern_array_new(quern_array **out, quern_engine *engine, quern_dtype dtype, int ndim,
                             const int64_t *shape)
{
    qn_error_reset();
    QN_CHECK_OUT(out);
    QN_CHECK_OBJECT(engine, QN_OBJECT_ENGINE);
    return qn_array_new_on(out, qn_home_of(engine), dtype, ndim, shape, NULL);
}

/* ---- foreign memory ------------------------------------------------------------------------- */

/* The bytes that the elements span, relative to element (0, ..., 0). False when they overflow. */
static bool byte_span(int ndim, const int64_t *shape, const int64_t *strides, uint32_t item_size,
                      int64_t *low, int64_t *high)
{
    *low = 0;
    *high = item_size;
    for (int k = 0; k < ndim; k++) {
        int64_t reach;
        if (__builtin_mul_overflow(shape[k] - 1, strides[k], &reach) ||
            __builtin_add_overflow(reach < 0 ? *low : *high, reach, reach < 0 ? low : high)) {
            return false;
        }
    }
    return true;
}

/* Where the elements of a wrapped array lie: *base and *bytes, or nothing when it is empty. */
static quern_status foreign_bytes(const quern_array *array, void *pointer, void **base,
                                  size_t *bytes)
{
    *base = NULL;
    *bytes = 0;
    if (array->count == 0) {
        return QUERN_OK;
    }
    if (!pointer) {
        return qn_fail(QUERN_ERROR_INVALID_ARGUMENT, "the memory to wrap is NULL");
    }
    int64_t low, high;
    uintptr_t first, past;
    if (!byte_span(array->ndim, array->shape, array->strides, array->item_size, &low, &high) ||
        __builtin_add_overflow((uintptr_t)pointer, low, &first) ||
        __builtin_add_overflow((uintptr_t)pointer, high, &past)) {
        return qn_fail(QUERN_ERROR_INVALID_ARGUMENT,
                       "shape and strides reach outside of the address space");
    }
    *base = (void *)first;
    *bytes = past - first;
    return QUERN_OK;
}

/* Make `array` (without a buffer so far) own the foreign memory. */
static quern_status adopt(quern_array *array, qn_home *home, void *pointer,
                          void (*release)(void *context), void *context)
{
    void *base;
    size_t bytes;
    QN_TRY(foreign_bytes(array, pointer, &base, &bytes));
    return qn_buffer_adopt(&array->buffer, home, base, bytes, release, context);
}

quern_status quern_array_wrap(quern_array **out, quern_engine *engine, quern_dtype dtype, int ndim,
                              const int64_t *shape, const int64_t *strides, void *pointer,
                              void (*release)(void *context), void *context)
{
    qn_error_reset();
    QN_CHECK_OUT(out);
    QN_CHECK_OBJECT(engine, QN_OBJECT_ENGINE);
    QN_TRY(check_dtype(dtype));
    int64_t count;
    QN_TRY(qn_shape_check(&count, ndim, shape, (uint32_t)quern_dtype_size(dtype)));
    quern_array *array = qn_array_header(NULL, dtype, ndim);
    if (!array) {
        return qn_fail_memory("wrapping an array");
    }
    if (ndim > 0) {
        memcpy(array->shape, shape, (size_t)ndim * sizeof *shape);
    }
    qn_array_set_c_strides(array);
    if (strides && count > 0 && ndim > 0) { /* an empty array has no use for others */
        memcpy(array->strides, strides, (size_t)ndim * sizeof *strides);
    }
    array->data = pointer;
    qn_array_finish(array);
    quern_status status = adopt(array, qn_home_of(engine), pointer, release, context);
    if (status != QUERN_OK) {
        qn_free(array);
        return status;
    }
    *out = array;
    return QUERN_OK;
}

/* ---- references and properties -------------------------------------------------------------- */

/* A handle that a getter can answer for. */
static bool lives(const quern_array *array)
{
    return qn_object_is(array, QN_OBJECT_ARRAY);
}

quern_status qn_array_refuse(const quern_array *array, const char *user)
{
    if (!array) {
        return qn_fail(QUERN_ERROR_INVALID_ARGUMENT, "the array is NULL");
    }
    if (!lives(array)) {
        return qn_fail(QUERN_ERROR_INVALID_ARGUMENT,
                       "what was passed is not an array, or one that was freed");
    }
    return qn_fail(QUERN_ERROR_INVALID_ARGUMENT, "the array belongs to another engine than the %s",
                   user);
}

quern_array *quern_array_retain(quern_array *array)
{
    if (lives(array)) {
        atomic_fetch_add_explicit(&array->references, 1, memory_order_relaxed);
    }
    return array;
}

void quern_array_release(quern_array *array)
{
    if (qn_object_can_free(__func__, array, QN_OBJECT_ARRAY) &&
        atomic_fetch_sub_explicit(&array->references, 1, memory_order_acq_rel) == 1) {
        qn_object_end(&array->object);
        qn_buffer_release(array->buffer);
        qn_free(array);
    }
}

quern_dtype quern_array_dtype(const quern_array *array)
{
    return lives(array) ? array->dtype : QUERN_DTYPE_NONE;
}

int quern_array_ndim(const quern_array *array)
{
    return lives(array) ? array->ndim : 0;
}

const int64_t *quern_array_shape(const quern_array *array)
{
    return lives(array) ? array->shape : NULL;
}

const int64_t *quern_array_strides(const quern_array *array)
{
    return lives(array) ? array->strides : NULL;
}

int64_t quern_array_count(const quern_array *array)
{
    return lives(array) ? array->count : 0;
}

void *quern_array_pointer(const quern_array *array)
{
    return lives(array) ? array->data : NULL;
}

int quern_array_is_contiguous(const quern_array *array)
{
    return lives(array) && array->contiguous;
}

quern_engine *quern_array_engine(const quern_array *array)
{
    return lives(array) ? qn_home_engine(array->buffer->home) : NULL;
}
