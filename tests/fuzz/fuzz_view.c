/* SPDX-License-Identifier: MIT
 *
 * Fuzz target: everything that an argument may be, above all views. In: any text. Holds: a problem
 * lies within the text; a view that is accepted for a shape gives as many elements as the array
 * has, or fewer where it slices; a structure by value is no larger than its text allows.
 */
#include "cli.h"

#include <stdlib.h>
#include <string.h>

#define LONGEST 4096

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool condition)
{
    if (!condition) {
        abort();
    }
}

/* A problem that says nothing: otherwise what an earlier text left on the stack would look like
 * one. */
static cli_problem no_problem(void)
{
    return (cli_problem){.begin = SIZE_MAX};
}

static void check_problem(const cli_problem *problem, size_t length)
{
    check(problem->text[0] != 0 && problem->begin <= problem->end && problem->end <= length + 1);
}

/* What a step may do to the number of elements. */
static void check_count(const cli_view_plan *plan, quern_dtype dtype, int ndim,
                        const int64_t *shape)
{
    int64_t before, after;
    size_t from = quern_dtype_size(dtype), to = quern_dtype_size(plan->dtype);
    bool whole = plan->kind == CLI_PLAN_REINTERPRET && plan->item->method == CLI_VIEW;
    if (!cli_shape_bytes(&before, ndim, shape, whole ? from : 1)) {
        return;
    }
    check(cli_shape_bytes(&after, plan->ndim, plan->shape, whole ? to : 1));
    check(plan->kind == CLI_PLAN_SLICE ? after <= before : after == before);
}

/* Apply all steps of a view to a shape. */
static void check_view(const cli_view *view, int ndim, const int64_t *extents, size_t length)
{
    static const quern_dtype dtypes[] = {QUERN_UINT8, QUERN_INT32, QUERN_COMPLEX128};
    int64_t shape[QUERN_MAX_NDIM];
    quern_dtype dtype = dtypes[ndim % 3];
    for (int k = 0; k < ndim; k++) {
        shape[k] = extents[k];
    }
    for (unsigned step = 0; step < view->steps; step++) {
        cli_view_plan plan;
        cli_problem problem = no_problem();
        if (!cli_view_plan_step(&plan, view, step, dtype, ndim, shape, &problem)) {
            check_problem(&problem, length);
            return;
        }
        check(plan.ndim >= 0 && plan.ndim <= QUERN_MAX_NDIM);
        check(quern_dtype_size(plan.dtype) > 0);
        check_count(&plan, dtype, ndim, shape);
        ndim = plan.ndim;
        dtype = plan.dtype;
        for (int k = 0; k < ndim; k++) {
            check(plan.shape[k] >= 0);
            shape[k] = plan.shape[k];
        }
    }
}

static void check_structure(const char *text, size_t length)
{
    quern_value value;
    cli_problem problem = no_problem();
    if (!cli_structure_parse(&value, text, &problem)) {
        check_problem(&problem, length);
    } else if (value.kind == QUERN_VALUE_STRUCT) {
        uint64_t bytes = value.as.block.bytes;
        check(bytes > 0 && bytes <= length * 16); /* of the widest number */
        const uint8_t *data = value.as.block.data;
        unsigned sum = 0;
        for (uint64_t k = 0; k < bytes; k++) {
            sum += data[k]; /* reads past its memory are the sanitizer's to find */
        }
        check(sum <= bytes * 255);
    } else {
        check(value.kind == QUERN_VALUE_POINTER);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const int64_t shapes[][4] = {{5, 4, 3, 2}, {0, 1, 7, 0}, {INT64_MAX, 1, 2, 3}};
    if (size > LONGEST) {
        return 0;
    }
    char *text = cli_strndup((const char *)data, size);
    size_t length = strlen(text), used;
    cli_view view;
    cli_value value;
    cli_problem problem = no_problem();
    if (cli_view_parse(&view, text, 0, &used, &problem)) {
        check(used <= length && view.count <= CLI_VIEW_ITEMS);
        for (size_t k = 0; k < CLI_COUNT(shapes); k++) {
            for (int ndim = 0; ndim <= 4; ndim++) {
                check_view(&view, ndim, shapes[k], length);
            }
        }
    } else {
        check_problem(&problem, length);
    }
    problem = no_problem();
    if (!cli_value_parse(&value, text, &problem)) {
        check_problem(&problem, length);
    }
    if (cli_is_structure(text)) {
        check_structure(text, length);
    }
    cli_free_all();
    return 0;
}
