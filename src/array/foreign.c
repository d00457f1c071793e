/* SPDX-License-Identifier: MIT
 *
 * foreign: memory of somebody else as an array. In: an address, a shape and strides, from whichever
 * protocol. Out: an array that owns the memory from then on and gives it back when it ends.
 *
 * All that can be wrong with shape, strides and address is found here, so that what is built on
 * arrays can rely on it: every element has an address. It need not be one that its dtype is aligned
 * to: qn_array_finish() finds that out.
 */
#include "array/array_internal.h"

#include <string.h>

/* ---- what the elements span ------------------------------------------------------------------ */

/* The bytes that the elements span, relative to element (0, ..., 0). False when they overflow. */
static bool byte_span(const quern_array *array, int64_t *low, int64_t *high)
{
    *low = 0;
    *high = array->item_size;
    for (int k = 0; k < array->ndim; k++) {
        int64_t reach;
        if (__builtin_mul_overflow(array->shape[k] - 1, array->strides[k], &reach) ||
            __builtin_add_overflow(reach < 0 ? *low : *high, reach, reach < 0 ? low : high)) {
            return false;
        }
    }
    return true;
}

static quern_status refuse_reach(void)
{
    return qn_fail(QUERN_ERROR_INVALID_ARGUMENT,
                   "shape and strides reach outside of the address space");
}

/* Where the elements lie: *base and *bytes, or nothing when there are none. */
static quern_status foreign_bytes(const quern_array *array, void *pointer, void **base,
                                  size_t *bytes)
{
    *base = NULL;
    *bytes = 0;
    if (array->count == 0) {
        return QUERN_OK;
    }
    if (!pointer) {
        return qn_fail(QUERN_ERROR_INVALID_ARGUMENT,
                       "the memory to wrap is NULL, but there are %lld elements",
                       (long long)array->count);
    }
    int64_t low, high;
    uintptr_t first, past;
    if (!byte_span(array, &low, &high) || __builtin_add_overflow((uintptr_t)pointer, low, &first) ||
        __builtin_add_overflow((uintptr_t)pointer, high, &past)) {
        return refuse_reach();
    }
    *base = (void *)first;
    *bytes = past - first;
    return QUERN_OK;
}

/* ---- the array ------------------------------------------------------------------------------- */

/* Strides in bytes from what was given; those of an empty array are C order's, whatever was. */
static quern_status set_strides(quern_array *array, const qn_foreign *f, int64_t count)
{
    if (!f->strides || count == 0) {
        qn_array_set_c_strides(array);
        return QUERN_OK;
    }
    const int64_t unit = f->in_elements ? array->item_size : 1;
    for (int k = 0; k < f->ndim; k++) {
        if (__builtin_mul_overflow(f->strides[k], unit, &array->strides[k])) {
            if (array->shape[k] > 1) {
                return refuse_reach();
            }
            array->strides[k] = 0; /* of an axis with one element it is never used */
        }
    }
    return QUERN_OK;
}

/* Make `array` own the memory, by a buffer in the room behind it: one allocation for both. */
static quern_status adopt(quern_array *array, qn_home *home, const qn_foreign *f, int64_t count)
{
    void *base;
    size_t bytes;
    QN_TRY(set_strides(array, f, count));
    array->data = f->pointer;
    qn_array_finish(array);
    QN_TRY(foreign_bytes(array, f->pointer, &base, &bytes));
    qn_buffer *buffer = (qn_buffer *)(void *)(array->steps + array->ndim);
    QN_TRY(qn_buffer_adopt(buffer, array, home, base, bytes, f->release, f->context));
    atomic_init(&buffer->memory, (int)f->memory);
    array->buffer = buffer;
    array->is_block = true;
    return QUERN_OK;
}

quern_status qn_array_adopt(quern_array **out, qn_home *home, const qn_foreign *f)
{
    *out = NULL;
    const qn_dtype_info *dtype = qn_dtype_find(f->dtype);
    if (!dtype) {
        return qn_fail(QUERN_ERROR_INVALID_ARGUMENT, "%d is not a dtype", (int)f->dtype);
    }
    int64_t count;
    QN_TRY(qn_shape_check(&count, f->ndim, f->shape, dtype->size));
    quern_array *array = qn_array_header_with(f->dtype, f->ndim, sizeof(qn_buffer));
    if (!array) {
        return qn_fail_memory("wrapping an array");
    }
    if (f->ndim > 0) {
        memcpy(array->shape, f->shape, (size_t)f->ndim * sizeof *f->shape);
    }
    array->read_only = f->read_only;
    quern_status status = adopt(array, home, f, count);
    if (status != QUERN_OK) {
        qn_free(array);
        return status;
    }
    *out = array;
    return QUERN_OK;
}

quern_status quern_array_wrap(quern_array **out, quern_engine *engine, quern_dtype dtype, int ndim,
                              const int64_t *shape, const int64_t *strides, void *pointer,
                              void (*release)(void *context), void *context)
{
    qn_error_reset();
    QN_CHECK_OUT(out);
    QN_CHECK_OBJECT(engine, QN_OBJECT_ENGINE);
    return qn_array_adopt(out, qn_home_of(engine),
                          &(qn_foreign){.dtype = dtype,
                                        .ndim = ndim,
                                        .shape = shape,
                                        .strides = strides,
                                        .pointer = pointer,
                                        .release = release,
                                        .context = context});
}
