/* SPDX-License-Identifier: MIT
 *
 * Views: other shapes and strides over the same memory. In: an array and a description. Out: a new
 * array that keeps the memory alive. Nothing is copied.
 *
 * An empty view keeps the address of its array: an offset could lead outside of the memory.
 */
#include "array/array_internal.h"

#include <string.h>

/* A view of `array` with `ndim` axes that are still to be set. */
static quern_status new_view(quern_array **out, const quern_array *array, int ndim)
{
    *out = qn_array_header(array->buffer, array->dtype, ndim);
    if (!*out) {
        return qn_fail_memory("making a view");
    }
    (*out)->data = array->data;
    (*out)->read_only = array->read_only;
    return QUERN_OK;
}

/* Record a failure that shows two shapes: `format` has two %s. */
static quern_status fail_shapes(quern_status status, const char *before, int ndim,
                                const int64_t *shape, const char *between, int other_ndim,
                                const int64_t *other_shape, const char *after)
{
    qn_text text = {0};
    qn_text_puts(&text, before);
    qn_shape_print(&text, ndim, shape);
    qn_text_puts(&text, between);
    qn_shape_print(&text, other_ndim, other_shape);
    qn_text_puts(&text, after);
    qn_fail(status, "%s", text.data && !text.failed ? text.data : quern_status_text(status));
    qn_text_free(&text);
    return status;
}

/* ---- slices --------------------------------------------------------------------------------- */

/* One axis of a view: its extent and stride, and how far its first element lies from the array's.
 */
typedef struct axis {
    int64_t extent, stride, offset;
} axis;

/* Count negative positions from the end, and clip to [low, high]. */
static int64_t clip(int64_t position, int64_t extent, int64_t low, int64_t high)
{
    position += position < 0 ? extent : 0;
    return QN_MAX(low, QN_MIN(position, high));
}

/* start:stop:step of an axis, by Python's rules. */
static axis slice_range(int64_t extent, int64_t stride, quern_slice slice)
{
    bool back = slice.step < 0;
    int64_t low = back ? -1 : 0, high = back ? extent - 1 : extent;
    int64_t start = back ? high : low, stop = back ? low : high;
    if (slice.start != QUERN_SLICE_NONE) {
        start = clip(slice.start, extent, low, high);
    }
    if (slice.stop != QUERN_SLICE_NONE) {
        stop = clip(slice.stop, extent, low, high);
    }
    int64_t distance = back ? start - stop : stop - start;
    uint64_t step = back ? 0 - (uint64_t)slice.step : (uint64_t)slice.step;
    axis a = {0, stride, 0};
    if (distance > 0) {
        a.extent = (int64_t)((uint64_t)(distance - 1) / step) + 1;
        a.offset = start * stride;
    }
    if (a.extent > 1) { /* only then is the step short enough to be multiplied */
        a.stride = stride * slice.step;
    }
    return a;
}

/* The one element that a slice with step 0 takes. */
static quern_status slice_index(axis *out, int number, int64_t extent, int64_t stride,
                                int64_t position)
{
    int64_t from_start = position < 0 ? position + extent : position;
    if (from_start < 0 || from_start >= extent) {
        return qn_fail(QUERN_ERROR_SHAPE,
                       "position %lld is outside of axis %d, which has %lld "
                       "elements",
                       (long long)position, number, (long long)extent);
    }
    *out = (axis){1, stride, from_start * stride};
    return QUERN_OK;
}

static quern_status check_slices(const quern_array *array, size_t count, const quern_slice *slices)
{
    if (count > (size_t)array->ndim) {
        return qn_fail(QUERN_ERROR_SHAPE, "%zu slices for an array with %d dimensions", count,
                       array->ndim);
    }
    if (count > 0 && !slices) {
        return qn_fail(QUERN_ERROR_INVALID_ARGUMENT, "the slices are NULL");
    }
    for (size_t k = 0; k < count; k++) {
        if (slices[k].step == 0 && slices[k].start == QUERN_SLICE_NONE) {
            return qn_fail(QUERN_ERROR_INVALID_ARGUMENT,
                           "slice %zu has neither a step nor a position: a whole axis is "
                           "QUERN_SLICE_ALL",
                           k);
        }
    }
    return QUERN_OK;
}

quern_status quern_array_slice(quern_array **out, quern_array *array, size_t count,
                               const quern_slice *slices)
{
    qn_error_reset();
    QN_CHECK_OUT(out);
    QN_CHECK_OBJECT(array, QN_OBJECT_ARRAY);
    QN_TRY(check_slices(array, count, slices));
    axis axes[QUERN_MAX_NDIM];
    int ndim = 0;
    int64_t offset = 0;
    for (int k = 0; k < array->ndim; k++) {
        int64_t extent = array->shape[k], stride = array->strides[k];
        if ((size_t)k < count && slices[k].step == 0) {
            axis dropped = {0};
            QN_TRY(slice_index(&dropped, k, extent, stride, slices[k].start));
            offset += dropped.offset;
            continue;
        }
        quern_slice all = QUERN_SLICE_ALL;
        axes[ndim] = slice_range(extent, stride, (size_t)k < count ? slices[k] : all);
        offset += axes[ndim++].offset;
    }
    quern_array *view;
    QN_TRY(new_view(&view, array, ndim));
    bool empty = false;
    for (int k = 0; k < ndim; k++) {
        view->shape[k] = axes[k].extent;
        view->strides[k] = axes[k].stride;
        empty |= axes[k].extent == 0;
    }
    if (!empty) {
        view->data = (void *)((uintptr_t)array->data + (uintptr_t)offset);
    }
    qn_array_finish(view);
    *out = view;
    return QUERN_OK;
}

/* ---- transposition -------------------------------------------------------------------------- */

quern_status quern_array_transpose(quern_array **out, quern_array *array, const int *axes)
{
    qn_error_reset();
    QN_CHECK_OUT(out);
    QN_CHECK_OBJECT(array, QN_OBJECT_ARRAY);
    int ndim = array->ndim;
    uint64_t seen = 0;
    for (int k = 0; k < ndim && axes; k++) {
        if (axes[k] < 0 || axes[k] >= ndim || (seen >> axes[k] & 1)) {
            return qn_fail(QUERN_ERROR_INVALID_ARGUMENT,
                           "the axes of a transposition are 0 to %d, each once: entry %d is %d",
                           ndim - 1, k, axes[k]);
        }
        seen |= UINT64_C(1) << axes[k];
    }
    quern_array *view;
    QN_TRY(new_view(&view, array, ndim));
    for (int k = 0; k < ndim; k++) {
        int from = axes ? axes[k] : ndim - 1 - k;
        view->shape[k] = array->shape[from];
        view->strides[k] = array->strides[from];
    }
    qn_array_finish(view);
    *out = view;
    return QUERN_OK;
}

/* ---- reshaping ------------------------------------------------------------------------------ */

/* Copy `shape` to `known` with an extent of -1 worked out. */
static quern_status complete_shape(int64_t *known, const quern_array *array, int ndim,
                                   const int64_t *shape)
{
    int unknown = -1;
    for (int k = 0; k < ndim; k++) {
        known[k] = shape[k];
        if (shape[k] == -1) {
            if (unknown >= 0) {
                return qn_fail(QUERN_ERROR_INVALID_ARGUMENT,
                               "only one extent of a shape may be -1, not both %d and %d", unknown,
                               k);
            }
            unknown = k;
            known[k] = 1;
        }
    }
    int64_t count;
    QN_TRY(qn_shape_check(&count, ndim, known, array->item_size));
    if (unknown >= 0 && count == 0) {
        return fail_shapes(QUERN_ERROR_SHAPE, "an array of shape ", array->ndim, array->shape,
                           " cannot take shape ", ndim, shape,
                           ": beside an extent of 0 nothing decides what -1 is");
    }
    if (unknown >= 0 && array->count % count == 0) {
        known[unknown] = array->count / count;
        count = array->count;
    }
    if (count != array->count) {
        return fail_shapes(QUERN_ERROR_SHAPE, "an array of shape ", array->ndim, array->shape,
                           " cannot take shape ", ndim, shape, ": the numbers of elements differ");
    }
    return QUERN_OK;
}

/* Axes that can be walked as one. */
typedef struct run {
    int64_t count, stride;
} run;

/* The array's axes as few runs as possible; returns how many. */
static int find_runs(run *runs, const quern_array *array)
{
    int count = 0;
    for (int k = 0; k < array->ndim; k++) {
        int64_t extent = array->shape[k], stride = array->strides[k];
        if (extent == 1) {
            continue;
        }
        int64_t whole; /* an axis of foreign memory may be so long that this overflows */
        bool follows = count > 0 && !__builtin_mul_overflow(stride, extent, &whole) &&
                       runs[count - 1].stride == whole;
        if (follows) {
            runs[count - 1] = (run){runs[count - 1].count * extent, stride};
        } else {
            runs[count++] = (run){extent, stride};
        }
    }
    return count;
}

/* Give each new axis a stride, last axis first, by cutting it off the last run that is left. False
 * when an axis would span two runs. */
static bool cut_runs(quern_array *view, const quern_array *array)
{
    run runs[QUERN_MAX_NDIM];
    int last = find_runs(runs, array) - 1;
    int64_t stride = array->item_size;
    int64_t left = 1; /* elements left of the run that is being cut */
    for (int k = view->ndim - 1; k >= 0; k--) {
        int64_t extent = view->shape[k];
        if (left == 1 && extent > 1) {
            left = runs[last].count;
            stride = runs[last--].stride;
        }
        if (left % extent != 0) {
            return false;
        }
        view->strides[k] = stride;
        left /= extent;
        stride *= left > 1 ? extent : 1; /* no axis uses the last one, which could overflow */
    }
    return true;
}

quern_status quern_array_reshape(quern_array **out, quern_array *array, int ndim,
                                 const int64_t *shape)
{
    qn_error_reset();
    QN_CHECK_OUT(out);
    QN_CHECK_OBJECT(array, QN_OBJECT_ARRAY);
    int64_t known[QUERN_MAX_NDIM];
    if (ndim < 0 || ndim > QUERN_MAX_NDIM || (ndim > 0 && !shape)) {
        int64_t unused;
        return qn_shape_check(&unused, ndim, shape, array->item_size);
    }
    QN_TRY(complete_shape(known, array, ndim, shape));
    quern_array *view;
    QN_TRY(new_view(&view, array, ndim));
    if (ndim > 0) {
        memcpy(view->shape, known, (size_t)ndim * sizeof *known);
    }
    if (array->contiguous) {
        qn_array_set_c_strides(view);
    } else if (!cut_runs(view, array)) {
        quern_array_release(view);
        return fail_shapes(QUERN_ERROR_SHAPE, "an array of shape ", array->ndim, array->shape,
                           " with these strides has no view of shape ", ndim, known,
                           ": copy it first");
    }
    qn_array_finish(view);
    *out = view;
    return QUERN_OK;
}

/* ---- broadcasting --------------------------------------------------------------------------- */

quern_status quern_array_broadcast(quern_array **out, quern_array *array, int ndim,
                                   const int64_t *shape)
{
    qn_error_reset();
    QN_CHECK_OUT(out);
    QN_CHECK_OBJECT(array, QN_OBJECT_ARRAY);
    int64_t count;
    QN_TRY(qn_shape_check(&count, ndim, shape, array->item_size));
    int added = ndim - array->ndim;
    bool fits = added >= 0;
    for (int k = 0; k < array->ndim && fits; k++) {
        fits = array->shape[k] == 1 || array->shape[k] == shape[added + k];
    }
    if (!fits) {
        return fail_shapes(QUERN_ERROR_SHAPE, "shape ", array->ndim, array->shape,
                           " does not broadcast to ", ndim, shape, "");
    }
    quern_array *view;
    QN_TRY(new_view(&view, array, ndim));
    for (int k = 0; k < ndim; k++) {
        bool repeated = k < added || (array->shape[k - added] == 1 && shape[k] != 1);
        view->shape[k] = shape[k];
        view->strides[k] = repeated ? 0 : array->strides[k - added];
    }
    qn_array_finish(view);
    *out = view;
    return QUERN_OK;
}

/* ---- read-only ------------------------------------------------------------------------------ */

quern_status qn_array_check_writable(const quern_array *array, const char *user)
{
    return array->read_only ? qn_fail(QUERN_ERROR_INVALID_ARGUMENT,
                                      "%s: the array is read-only; write to a copy of it "
                                      "(quern_array_copy)",
                                      user)
                            : QUERN_OK;
}

quern_status quern_array_read_only(quern_array **out, quern_array *array)
{
    qn_error_reset();
    QN_CHECK_OUT(out);
    QN_CHECK_OBJECT(array, QN_OBJECT_ARRAY);
    quern_array *view;
    QN_TRY(new_view(&view, array, array->ndim));
    memcpy(view->shape, array->shape, 2 * (size_t)array->ndim * sizeof *array->shape);
    qn_array_finish(view);
    view->read_only = true;
    *out = view;
    return QUERN_OK;
}
