/* SPDX-License-Identifier: MIT
 *
 * A view's steps, done to an array on the device. In: an array and a step. Out: the array that the
 * kernel gets. Where NumPy makes a view, so does this: the kernel sees the strides. Where NumPy
 * copies, the copy is in C order.
 */
#include "cli.h"

static quern_status reshape(quern_array **out, quern_array *array, const cli_view_plan *plan)
{
    return quern_array_reshape(out, array, plan->ndim, plan->shape);
}

static quern_status slice(quern_array **out, quern_array *array, const cli_view_plan *plan)
{
    quern_array *sliced;
    quern_status status = quern_array_slice(&sliced, array, quern_array_ndim(array), plan->slices);
    if (status != QUERN_OK || !plan->new_axes) {
        *out = sliced;
        return status;
    }
    status = reshape(out, sliced, plan);
    quern_array_release(sliced);
    return status;
}

static quern_status zeros(quern_array **out, quern_array *array, const cli_view_plan *plan)
{
    const double zero[2] = {0, 0};
    quern_status status =
        quern_array_new(out, quern_array_engine(array), plan->dtype, plan->ndim, plan->shape);
    return status == QUERN_OK
               ? quern_array_fill(*out, zero, quern_dtype_size(quern_array_dtype(*out)))
               : status;
}

/* ---- other dtypes --------------------------------------------------------------------------- */

/* The elements go through the host, where they are converted as NumPy does. */
static quern_status cast(quern_array **out, quern_array *array, const cli_view_plan *plan,
                         cli_problem *problem)
{
    int64_t count = quern_array_count(array);
    size_t from = quern_dtype_size(quern_array_dtype(array)), to = quern_dtype_size(plan->dtype);
    void *before = cli_data_new((size_t)count * from), *after = cli_data_new((size_t)count * to);
    quern_status status = QUERN_ERROR_OUT_OF_MEMORY;
    if (before && after) {
        status = quern_array_read(array, before, (size_t)count * from);
    } else {
        cli_problem_set(problem, plan->item->begin, plan->item->end,
                        "not enough memory for %zu bytes", (size_t)count * (from + to));
    }
    if (status == QUERN_OK) {
        cli_convert(after, plan->dtype, before, quern_array_dtype(array), count);
        status = quern_array_from(out, quern_array_engine(array), plan->dtype, plan->ndim,
                                  plan->shape, after);
    }
    cli_data_free(before);
    cli_data_free(after);
    return status;
}

static void release(void *array)
{
    quern_array_release(array);
}

/* NumPy's condition: elements that are joined or divided lie side by side. */
static bool can_reinterpret(quern_array *array, const cli_view_plan *plan)
{
    int64_t old = (int64_t)quern_dtype_size(quern_array_dtype(array));
    bool one_size = old == (int64_t)quern_dtype_size(plan->dtype);
    return plan->item->method != CLI_VIEW || one_size || quern_array_count(array) == 0 ||
           quern_array_shape(array)[plan->ndim - 1] == 1 ||
           quern_array_strides(array)[plan->ndim - 1] == old;
}

/* Strides of the same bytes under the dtype of the plan; false if they or the address are not
 * multiples of its size. */
static bool reinterpreted_strides(int64_t *strides, quern_array *array, const cli_view_plan *plan)
{
    int64_t size = (int64_t)quern_dtype_size(plan->dtype);
    int64_t old = (int64_t)quern_dtype_size(quern_array_dtype(array));
    bool one_part = plan->item->method != CLI_VIEW;
    bool good = ((uintptr_t)quern_array_pointer(array) + plan->offset) % (size_t)size == 0;
    for (int k = 0; k < plan->ndim; k++) {
        int64_t stride = quern_array_strides(array)[k];
        bool grows = !one_part && k == plan->ndim - 1 && old != size;
        strides[k] = grows ? size : stride;
        good &= strides[k] % size == 0 || plan->shape[k] <= 1;
        strides[k] = strides[k] % size == 0 ? strides[k] : size;
    }
    return good;
}

/* Another dtype over the same memory, which the new array keeps. */
static quern_status reinterpret(quern_array **out, quern_array *array, const cli_view_plan *plan)
{
    int64_t strides[QUERN_MAX_NDIM];
    reinterpreted_strides(strides, array, plan);
    char *pointer = quern_array_pointer(array);
    quern_status status =
        quern_array_wrap(out, quern_array_engine(array), plan->dtype, plan->ndim, plan->shape,
                         strides, pointer + plan->offset, release, array);
    if (status == QUERN_OK) {
        quern_array_retain(array);
    }
    return status;
}

/* ---- all ------------------------------------------------------------------------------------ */

/* Whether the step cannot be a view of this array. */
static bool has_to_copy(quern_array *array, const cli_view_plan *plan)
{
    quern_array *view = NULL;
    int64_t strides[QUERN_MAX_NDIM];
    switch (plan->kind) {
    case CLI_PLAN_RESHAPE: {
        if (plan->item->method == CLI_RAVEL && !quern_array_is_contiguous(array)) {
            return true; /* its result has no gaps */
        }
        bool copies = reshape(&view, array, plan) != QUERN_OK;
        quern_array_release(view);
        return copies;
    }
    case CLI_PLAN_REINTERPRET:
        return quern_array_count(array) > 0 && !reinterpreted_strides(strides, array, plan);
    case CLI_PLAN_COPY:
    case CLI_PLAN_CAST:
    case CLI_PLAN_ZEROS:
        return true;
    default:
        return false;
    }
}

/* A step that makes a view of the array. */
static quern_status make_view(quern_array **out, quern_array *array, const cli_view_plan *plan)
{
    switch (plan->kind) {
    case CLI_PLAN_SLICE:
        return slice(out, array, plan);
    case CLI_PLAN_TRANSPOSE:
        return quern_array_transpose(out, array, plan->axes);
    case CLI_PLAN_REINTERPRET:
        return reinterpret(out, array, plan);
    default:
        return reshape(out, array, plan);
    }
}

/* A step that cannot be a view: new elements, or a view of a copy. */
static quern_status make_copy(quern_array **out, quern_array *array, const cli_view_plan *plan,
                              cli_problem *problem)
{
    if (plan->kind == CLI_PLAN_CAST) {
        return cast(out, array, plan, problem);
    }
    if (plan->kind == CLI_PLAN_ZEROS) {
        return zeros(out, array, plan);
    }
    quern_array *whole;
    quern_status status = quern_array_copy(&whole, array);
    if (status == QUERN_OK) {
        status = make_view(out, whole, plan);
        quern_array_release(whole);
    }
    return status;
}

bool cli_view_apply(quern_array **array, const cli_view *view, unsigned step, bool in_place,
                    cli_problem *problem)
{
    cli_view_plan plan;
    if (!cli_view_plan_step(&plan, view, step, quern_array_dtype(*array), quern_array_ndim(*array),
                            quern_array_shape(*array), problem)) {
        return false;
    }
    if (plan.kind == CLI_PLAN_REINTERPRET && !can_reinterpret(*array, &plan)) {
        return cli_problem_set(problem, plan.item->begin, plan.item->end,
                               "the elements of the last axis do not lie side by side, as they "
                               "must for a dtype of another size: .copy() before it makes them");
    }
    bool copies = has_to_copy(*array, &plan);
    if (copies && in_place) {
        return cli_problem_set(problem, plan.item->begin, plan.item->end,
                               "this makes a copy, and an output is written where it lies: only "
                               "views are allowed here");
    }
    quern_array *next = NULL;
    problem->text[0] = 0;
    quern_status status =
        copies ? make_copy(&next, *array, &plan, problem) : make_view(&next, *array, &plan);
    if (status != QUERN_OK) {
        quern_array_release(next);
        return false;
    }
    quern_array_release(*array);
    *array = next;
    return true;
}
