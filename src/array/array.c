/* SPDX-License-Identifier: MIT
 *
 * Making arrays, counting their references and reading their properties. In: an engine, a dtype and
 * a shape. Out: a quern_array, whose shape, strides and pointer never change.
 *
 * The arithmetic on sizes is checked here, so that views and transfers can rely on it: the bytes of
 * an array, counted without gaps, fit a ptrdiff_t.
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

quern_array *qn_array_header_with(quern_dtype dtype, int ndim, size_t room)
{
    /* Not qn_calloc(): glibc's calloc passes by its own cache of what this thread has freed. */
    quern_array *array = qn_alloc(sizeof *array + 3 * (size_t)ndim * sizeof(int64_t) + room);
    if (!array) {
        return NULL;
    }
    *array = (quern_array){.object = QN_OBJECT_ARRAY};
    atomic_init(&array->references, 1);
    array->dtype = dtype;
    const qn_dtype_info *info = qn_dtype_find(dtype);
    array->item_size = info->size;
    array->alignment = (uint16_t)info->alignment;
    array->packed = info->packed;
    array->ndim = ndim;
    array->strides = array->shape + ndim;
    array->steps = array->strides + ndim;
    return array;
}

quern_array *qn_array_header(qn_buffer *buffer, quern_dtype dtype, int ndim)
{
    quern_array *array = qn_array_header_with(dtype, ndim, 0);
    if (array && buffer) {
        qn_buffer_retain(buffer);
        array->buffer = buffer;
        array->data = buffer->pointer;
    }
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
    const uint32_t size = array->item_size;
    const bool shifts = (size & (size - 1)) == 0;
    const int shift = __builtin_ctz(size);
    int64_t count = 1, stride = array->item_size;
    uint64_t off = (uintptr_t)array->data; /* the bits of all that elements lie off by */
    bool contiguous = true;
    for (int k = array->ndim - 1; k >= 0; k--) {
        int64_t extent = array->shape[k];
        array->steps[k] = shifts ? array->strides[k] >> shift : array->strides[k] / (int64_t)size;
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

/* A C-contiguous array, or (in no memory: QUERN_MEMORY_HOST) what such an array looks like. */
static quern_status new_array(quern_array **out, qn_home *home, quern_dtype dtype, int ndim,
                              const int64_t *shape, quern_stream *stream, quern_memory memory)
{
    *out = NULL;
    int64_t count;
    QN_TRY(check_dtype(dtype));
    uint32_t item_size = (uint32_t)quern_dtype_size(dtype);
    QN_TRY(qn_shape_check(&count, ndim, shape, item_size));
    qn_buffer *buffer;
    QN_TRY(qn_buffer_new(&buffer, home, memory ? (size_t)count * item_size : 0, memory, stream));
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
    return new_array(out, home, dtype, ndim, shape, stream, QUERN_MEMORY_DEVICE);
}

quern_status qn_array_without_memory(quern_array **out, qn_home *home, quern_dtype dtype, int ndim,
                                     const int64_t *shape)
{
    return new_array(out, home, dtype, ndim, shape, NULL, QUERN_MEMORY_HOST);
}

quern_status quern_array_new(quern_array **out, quern_engine *engine, quern_dtype dtype, int ndim,
                             const int64_t *shape)
{
    qn_error_reset();
    QN_CHECK_OUT(out);
    QN_CHECK_OBJECT(engine, QN_OBJECT_ENGINE);
    return qn_array_new_on(out, qn_home_of(engine), dtype, ndim, shape, NULL);
}

quern_status quern_array_new_on(quern_array **out, quern_engine *engine, quern_dtype dtype,
                                int ndim, const int64_t *shape, quern_stream *stream)
{
    qn_error_reset();
    QN_CHECK_OUT(out);
    QN_CHECK_OBJECT(engine, QN_OBJECT_ENGINE);
    qn_home *home = qn_home_of(engine);
    if (!qn_stream_fits(stream, home)) {
        return qn_stream_refuse(__func__, stream, "array", home);
    }
    return qn_array_new_on(out, home, dtype, ndim, shape, stream);
}

quern_status quern_array_new_in(quern_array **out, quern_engine *engine, quern_memory memory,
                                quern_dtype dtype, int ndim, const int64_t *shape)
{
    qn_error_reset();
    QN_CHECK_OUT(out);
    QN_CHECK_OBJECT(engine, QN_OBJECT_ENGINE);
    if (memory < QUERN_MEMORY_DEVICE || memory > QUERN_MEMORY_MANAGED) {
        return qn_fail(QUERN_ERROR_INVALID_ARGUMENT,
                       "%d is no kind of memory for a new array: it is QUERN_MEMORY_DEVICE (%d), "
                       "_PINNED (%d), _MAPPED (%d) or _MANAGED (%d)",
                       (int)memory, QUERN_MEMORY_DEVICE, QUERN_MEMORY_PINNED, QUERN_MEMORY_MAPPED,
                       QUERN_MEMORY_MANAGED);
    }
    return new_array(out, qn_home_of(engine), dtype, ndim, shape, NULL, memory);
}

/* ---- references and properties -------------------------------------------------------------- */

/* A handle that a getter can answer for. */
static bool lives(const quern_array *array)
{
    return qn_object_is(array, QN_OBJECT_ARRAY);
}

quern_status qn_array_refuse(const quern_array *array, const char *user, const qn_home *home)
{
    if (!array) {
        return qn_fail(QUERN_ERROR_INVALID_ARGUMENT, "the array is NULL");
    }
    if (!lives(array)) {
        return qn_fail(QUERN_ERROR_INVALID_ARGUMENT,
                       "what was passed is not an array, or one that was freed");
    }
    qn_fail(QUERN_ERROR_INVALID_ARGUMENT, "the array belongs to another engine than the %s", user);
    qn_tell_places(array->buffer->home, home, user);
    qn_error_suffix("; quern_array_copy_to() copies it");
    return QUERN_ERROR_INVALID_ARGUMENT;
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
        qn_buffer *buffer = array->buffer;
        qn_object_end(&array->object);
        if (!array->is_block) {
            qn_free(array);
        }
        qn_buffer_release(buffer); /* last: it may call the memory's owner */
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

void *quern_array_host_pointer(const quern_array *array)
{
    if (!lives(array) || !array->data) {
        return NULL;
    }
    const qn_home *home = array->buffer->home;
    if (qn_buffer_memory(array->buffer) != QUERN_MEMORY_DEVICE) {
        return array->data;
    }
    return home->methods->host_pointer ? home->methods->host_pointer(home->device, array->data)
                                       : NULL;
}

quern_memory quern_array_memory(const quern_array *array)
{
    return lives(array) ? qn_buffer_memory(array->buffer) : QUERN_MEMORY_HOST;
}

int quern_array_is_contiguous(const quern_array *array)
{
    return lives(array) && array->contiguous;
}

int quern_array_is_read_only(const quern_array *array)
{
    return lives(array) && array->read_only;
}

quern_engine *quern_array_engine(const quern_array *array)
{
    return lives(array) ? qn_home_engine(array->buffer->home) : NULL;
}
