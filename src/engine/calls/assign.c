/* SPDX-License-Identifier: MIT
 *
 * assign: elements of one array to another, by NumPy's rules, and copies whose axes lie in memory
 * in a chosen order. In: arrays. Out: queued work. The thing to know: what has to be walked is one
 * of a few kernels of the engine, so overlap, strides and alignment are those of any call.
 */
#include "engine/engine_internal.h"
#include <string.h>

/* The stream that a function was given; recorded work keeps its array. */
static quern_status prepare(const char *function, quern_array *array, quern_stream *stream)
{
    if (!qn_stream_fits(stream, array->buffer->home)) {
        return qn_stream_refuse(function, stream, "array", array->buffer->home);
    }
    return qn_stream_captures(stream) ? qn_buffer_keep(array->buffer, stream) : QUERN_OK;
}

/* ---- copies with an order ------------------------------------------------------------------- */

static int64_t distance(const quern_array *array, int axis)
{
    int64_t stride = array->strides[axis];
    return stride < 0 ? -stride : stride;
}

/* axes[k]: the axis of `array` that lies k-th in memory, outermost first. */
static void order_axes(int *axes, const quern_array *array, quern_order order)
{
    const int ndim = array->ndim;
    for (int k = 0; k < ndim; k++) {
        axes[k] = order == QUERN_ORDER_F ? ndim - 1 - k : k;
    }
    if (order != QUERN_ORDER_KEEP || array->contiguous) {
        return;
    }
    for (int k = 1; k < ndim; k++) { /* insertion sort: stable, and few axes */
        for (int at = k; at > 0 && distance(array, axes[at - 1]) < distance(array, axes[at]);
             at--) {
            int axis = axes[at];
            axes[at] = axes[at - 1];
            axes[at - 1] = axis;
        }
    }
}

/* The copy of `from`, whose axes are those of `array` as they shall lie, seen as the array is. */
static quern_status copy_turned(quern_array **out, quern_array *array, quern_array *from,
                                const int *axes, quern_stream *stream)
{
    int back[QUERN_MAX_NDIM];
    for (int k = 0; k < array->ndim; k++) {
        back[axes[k]] = k;
    }
    quern_array *copy;
    QN_TRY(
        qn_array_new_on(&copy, from->buffer->home, from->dtype, from->ndim, from->shape, stream));
    quern_status status = from->count == 0 ? QUERN_OK : qn_array_copy_to(copy, from, stream);
    if (status == QUERN_OK) {
        status = quern_array_transpose(out, copy, back);
    }
    quern_array_release(copy);
    return status;
}

static quern_status copy_order(quern_array **out, quern_array *array, quern_order order,
                               quern_stream *stream)
{
    if ((int)order < QUERN_ORDER_C || order > QUERN_ORDER_KEEP) {
        return qn_fail(QUERN_ERROR_INVALID_ARGUMENT,
                       "%d is not an order: use QUERN_ORDER_C, QUERN_ORDER_F or QUERN_ORDER_KEEP",
                       (int)order);
    }
    int axes[QUERN_MAX_NDIM];
    order_axes(axes, array, order);
    quern_array *turned;
    QN_TRY(quern_array_transpose(&turned, array, axes));
    quern_status status = copy_turned(out, array, turned, axes, stream);
    quern_array_release(turned);
    return status;
}

quern_status quern_array_copy_order(quern_array **out, quern_array *array, quern_order order)
{
    qn_error_reset();
    QN_CHECK_OUT(out);
    QN_CHECK_OBJECT(array, QN_OBJECT_ARRAY);
    return copy_order(out, array, order, NULL);
}

quern_status quern_array_copy_order_on(quern_array **out, quern_array *array, quern_order order,
                                       quern_stream *stream)
{
    qn_error_reset();
    QN_CHECK_OUT(out);
    QN_CHECK_OBJECT(array, QN_OBJECT_ARRAY);
    QN_TRY(prepare(__func__, array, stream));
    return copy_order(out, array, order, stream);
}

/* ---- assigning ------------------------------------------------------------------------------ */

/* Which kernel converts. */
static quern_status choose(qn_copy *out, const quern_array *target, const quern_array *source)
{
    const qn_dtype_info *to = qn_dtype_find(target->dtype), *from = qn_dtype_find(source->dtype);
    *out = QN_COPY_SAME;
    if (to->dtype == from->dtype) {
        return QUERN_OK;
    }
    if (to->kind == QN_KIND_RECORD || from->kind == QN_KIND_RECORD) {
        return qn_fail(QUERN_ERROR_TYPE,
                       "%s is assigned to %s: a record is converted to nothing else; assign field "
                       "by field (quern_array_field), or with a kernel",
                       from->name, to->name);
    }
    *out = from->kind != QN_KIND_COMPLEX || to->kind == QN_KIND_COMPLEX ? QN_COPY_CONVERT
           : to->kind == QN_KIND_BOOL                                   ? QN_COPY_TRUTH
                                                                        : QN_COPY_REAL_PART;
    return QUERN_OK;
}

/* The source without the leading extents of 1 that the target lacks, repeated over its shape. */
static quern_status spread(quern_array **out, const quern_array *target, quern_array *source)
{
    quern_slice first[QUERN_MAX_NDIM];
    size_t more = 0;
    while (source->ndim - (int)more > target->ndim && source->shape[more] == 1) {
        first[more++] = (quern_slice){0, 0, 0};
    }
    quern_array *fewer;
    QN_TRY(quern_array_slice(&fewer, source, more, first));
    quern_status status = quern_array_broadcast(out, fewer, target->ndim, target->shape);
    quern_array_release(fewer);
    return status;
}

static qn_operand operand_of(const quern_array *a)
{
    return (qn_operand){.shape = a->shape,
                        .strides = a->strides,
                        .data = a->data,
                        .ndim = a->ndim,
                        .item_size = a->item_size};
}

static quern_status assign(quern_array *target, quern_array *source, qn_copy how,
                           quern_stream *stream)
{
    const qn_operand to = operand_of(target), from = operand_of(source);
    qn_overlap overlap = qn_operands_overlap(&to, &from);
    if (how == QN_COPY_SAME && overlap == QN_OVERLAP_SAME) {
        return QUERN_OK;
    }
    if (how == QN_COPY_SAME && overlap == QN_OVERLAP_NONE) {
        return qn_array_copy_to(target, source, stream);
    }
    return qn_array_convert_to(target, source, how, stream);
}

/* `function`: what messages call it. */
static quern_status check_and_assign(const char *function, quern_array *target, quern_array *source,
                                     quern_stream *stream)
{
    QN_CHECK_OBJECT(target, QN_OBJECT_ARRAY);
    QN_CHECK_OBJECT(source, QN_OBJECT_ARRAY);
    if (!qn_array_fits(source, target->buffer->home)) {
        return qn_fail(QUERN_ERROR_INVALID_ARGUMENT,
                       "target and source belong to different engines");
    }
    qn_copy how;
    QN_TRY(choose(&how, target, source));
    QN_TRY(qn_array_check_writable(target, function));
    QN_TRY(qn_array_check_distinct(target));
    QN_TRY(prepare(function, target, stream));
    QN_TRY(prepare(function, source, stream));
    quern_array *spreaded;
    QN_TRY(spread(&spreaded, target, source));
    quern_status status = target->count == 0 ? QUERN_OK : assign(target, spreaded, how, stream);
    quern_array_release(spreaded);
    return status;
}

quern_status quern_array_assign(quern_array *target, quern_array *source)
{
    qn_error_reset();
    return check_and_assign(__func__, target, source, NULL);
}

quern_status quern_array_assign_on(quern_array *target, quern_array *source, quern_stream *stream)
{
    qn_error_reset();
    return check_and_assign(__func__, target, source, stream);
}
