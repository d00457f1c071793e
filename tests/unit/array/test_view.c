/* SPDX-License-Identifier: MIT
 *
 * Views, checked element by element: each array holds its own positions 0, 1, 2, ..., so what a
 * view shows says where it looks.
 */
#include "tests/support/fake_engine.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#define SHAPE(...) ((const int64_t[]){__VA_ARGS__})
#define NONE       QUERN_SLICE_NONE

static quern_engine engine = FAKE_ENGINE(engine);

/* An int32 array of this shape that holds 0, 1, 2, ... in C order. */
static quern_array *positions(int ndim, const int64_t *shape)
{
    quern_array *a;
    cr_assert_eq(quern_array_new(&a, &engine, QUERN_INT32, ndim, shape), QUERN_OK);
    for (int64_t k = 0; k < a->count; k++) {
        ((int32_t *)a->data)[k] = (int32_t)k;
    }
    return a;
}

static void show(qn_text *out, const quern_array *a, int axis, const char *p)
{
    if (axis == a->ndim) {
        qn_text_printf(out, "%d", *(const int32_t *)(const void *)p);
        return;
    }
    qn_text_puts(out, "[");
    for (int64_t k = 0; k < a->shape[axis]; k++) {
        qn_text_puts(out, k > 0 ? " " : "");
        show(out, a, axis + 1, p + k * a->strides[axis]);
    }
    qn_text_puts(out, "]");
}

/* Compare what a view shows, "[[0 1] [2 3]]", and release it. */
static void expect_shows(quern_array *view, const char *expected)
{
    qn_text text = {0};
    show(&text, view, 0, view->data);
    cr_expect_str_eq(text.data, expected);
    qn_text_free(&text);
    quern_array_release(view);
}

/* ---- slices --------------------------------------------------------------------------------- */

static const struct {
    quern_slice slice; /* of 0 1 2 3 4 */
    const char *expected;
} slices[] = {
    {QUERN_SLICE_ALL, "[0 1 2 3 4]"},
    {{1, 3, 1}, "[1 2]"},
    {{NONE, NONE, 2}, "[0 2 4]"},
    {{1, NONE, 2}, "[1 3]"},
    {{NONE, NONE, -1}, "[4 3 2 1 0]"},
    {{NONE, NONE, -2}, "[4 2 0]"},
    {{NONE, NONE, -3}, "[4 1]"},
    {{3, 0, -1}, "[3 2 1]"},
    {{3, NONE, -2}, "[3 1]"},
    {{-2, NONE, 1}, "[3 4]"},
    {{NONE, -2, 1}, "[0 1 2]"},
    {{-2, -4, -1}, "[3 2]"},
    {{2, 2, 1}, "[]"},
    {{3, 1, 1}, "[]"},
    {{1, 3, -1}, "[]"},
    {{-99, 99, 1}, "[0 1 2 3 4]"},
    {{99, -99, -1}, "[4 3 2 1 0]"},
    {{99, NONE, 1}, "[]"},
    {{-99, NONE, -1}, "[]"},
    {{NONE, NONE, 99}, "[0]"},
    {{NONE, NONE, -99}, "[4]"},
    {{NONE, NONE, INT64_MAX}, "[0]"},
    {{NONE, NONE, INT64_MIN}, "[4]"},
    {{INT64_MIN + 1, INT64_MAX, 1}, "[0 1 2 3 4]"},
    {{0, 0, 0}, "0"},
    {{4, 0, 0}, "4"},
    {{-1, 0, 0}, "4"},
    {{-5, 0, 0}, "0"},
};

Test(view, slices)
{
    quern_array *a = positions(1, SHAPE(5)), *view;
    for (size_t k = 0; k < QN_COUNT(slices); k++) {
        cr_assert_eq(quern_array_slice(&view, a, 1, &slices[k].slice), QUERN_OK, "case %zu", k);
        expect_shows(view, slices[k].expected);
    }
    quern_array_release(a);
}

/* Position k of range(start, stop, step) by walking, as Python's manual defines it. */
static void walk(qn_text *out, int64_t extent, quern_slice s)
{
    int64_t start = s.start, stop = s.stop;
    start += start != NONE && start < 0 ? extent : 0;
    stop += stop != NONE && stop < 0 ? extent : 0;
    start = start != NONE ? start : s.step > 0 ? 0 : extent - 1;
    stop = stop != NONE ? stop : s.step > 0 ? extent : -1;
    if (s.stop != NONE && s.step < 0) {
        stop = QN_MAX(stop, -1);
    }
    /* positions outside are clipped to the nearest that counts, then walked from */
    start = s.step > 0 ? QN_MAX(start, 0) : QN_MIN(start, extent - 1);
    qn_text_puts(out, "[");
    bool first = true;
    for (int64_t k = start; s.step > 0 ? k < QN_MIN(stop, extent) : k > stop && k >= 0;
         k += s.step) {
        qn_text_printf(out, "%s%d", first ? "" : " ", (int)k);
        first = false;
    }
    qn_text_puts(out, "]");
}

Test(view, every_small_slice)
{
    const int64_t steps[] = {-3, -2, -1, 1, 2, 3};
    for (int64_t extent = 0; extent <= 4; extent++) {
        quern_array *a = positions(1, &extent);
        for (int64_t k = 0; k < 13 * 13 * 6; k++) {
            int64_t start = k % 13 - 6, stop = k / 13 % 13 - 6;
            quern_slice slice = {start == 6 ? NONE : start, stop == 6 ? NONE : stop,
                                 steps[k / 169]};
            quern_array *view;
            qn_text expected = {0};
            walk(&expected, extent, slice);
            cr_assert_eq(quern_array_slice(&view, a, 1, &slice), QUERN_OK);
            expect_shows(view, expected.data);
            qn_text_free(&expected);
        }
        quern_array_release(a);
    }
}

Test(view, slices_of_several_axes)
{
    quern_array *a = positions(3, SHAPE(2, 3, 4)), *view, *again;
    cr_assert_eq(quern_array_slice(&view, a, 0, NULL), QUERN_OK);
    cr_expect_eq(view->ndim, 3);
    cr_expect(view->contiguous);
    quern_array_release(view);

    const quern_slice rows[] = {{1, 0, 0}, {NONE, NONE, -2}};
    cr_assert_eq(quern_array_slice(&view, a, 2, rows), QUERN_OK);
    cr_expect_not(view->contiguous);
    /* a view of a view */
    const quern_slice columns[] = {QUERN_SLICE_ALL, {3, 0, -2}};
    cr_assert_eq(quern_array_slice(&again, view, 2, columns), QUERN_OK);
    expect_shows(again, "[[23 21] [15 13]]");
    expect_shows(view, "[[20 21 22 23] [12 13 14 15]]");

    const quern_slice point[] = {{1, 0, 0}, {2, 0, 0}, {-1, 0, 0}};
    cr_assert_eq(quern_array_slice(&view, a, 3, point), QUERN_OK);
    cr_expect_eq(view->ndim, 0);
    cr_expect(view->contiguous);
    expect_shows(view, "23");
    quern_array_release(a);
}

Test(view, empty_slices_stay_inside_the_memory)
{
    quern_array *a = positions(2, SHAPE(3, 4)), *view;
    const quern_slice slices_[] = {{3, NONE, 1}, {2, NONE, 1}};
    cr_assert_eq(quern_array_slice(&view, a, 2, slices_), QUERN_OK);
    cr_expect_eq(view->count, 0);
    cr_expect_eq(view->data, a->data);
    expect_shows(view, "[]");
    quern_array_release(a);
}

static void expect_refused(quern_status status, quern_array *view, quern_status expected,
                           const char *message)
{
    cr_expect_eq(status, expected);
    cr_expect_null(view);
    cr_expect_str_eq(quern_last_error()->message, message);
}

Test(view, slices_refused)
{
    quern_array *a = positions(2, SHAPE(3, 4)), *view;
    const quern_slice many[] = {QUERN_SLICE_ALL, QUERN_SLICE_ALL, QUERN_SLICE_ALL};
    quern_status status = quern_array_slice(&view, a, 3, many);
    expect_refused(status, view, QUERN_ERROR_SHAPE, "3 slices for an array with 2 dimensions");
    status = quern_array_slice(&view, a, 1234567890123, many);
    expect_refused(status, view, QUERN_ERROR_SHAPE,
                   "1234567890123 slices for an array with 2 dimensions");
    status = quern_array_slice(&view, a, 2, (quern_slice[]){QUERN_SLICE_ALL, {4, 0, 0}});
    expect_refused(status, view, QUERN_ERROR_SHAPE,
                   "position 4 is outside of axis 1, which has 4 elements");
    status = quern_array_slice(&view, a, 1, (quern_slice[]){{-4, 0, 0}});
    expect_refused(status, view, QUERN_ERROR_SHAPE,
                   "position -4 is outside of axis 0, which has 3 elements");
    status = quern_array_slice(&view, a, 1, (quern_slice[]){{NONE, 0, 0}});
    expect_refused(status, view, QUERN_ERROR_INVALID_ARGUMENT,
                   "slice 0 has neither a step nor a position: a whole axis is QUERN_SLICE_ALL");
    status = quern_array_slice(&view, a, 1, NULL);
    expect_refused(status, view, QUERN_ERROR_INVALID_ARGUMENT, "the slices are NULL");
    status = quern_array_slice(&view, NULL, 0, NULL);
    expect_refused(status, view, QUERN_ERROR_INVALID_ARGUMENT, "quern_array_slice: array is NULL");
    quern_array_release(a);
}

/* ---- transposition -------------------------------------------------------------------------- */

Test(view, transposes)
{
    quern_array *a = positions(2, SHAPE(2, 3)), *view;
    cr_assert_eq(quern_array_transpose(&view, a, NULL), QUERN_OK);
    cr_expect_not(view->contiguous);
    expect_shows(view, "[[0 3] [1 4] [2 5]]");
    cr_assert_eq(quern_array_transpose(&view, a, (int[]){0, 1}), QUERN_OK);
    cr_expect(view->contiguous);
    quern_array_release(view);
    quern_array_release(a);

    a = positions(3, SHAPE(1, 2, 3));
    cr_assert_eq(quern_array_transpose(&view, a, (int[]){2, 0, 1}), QUERN_OK);
    expect_shows(view, "[[[0 3]] [[1 4]] [[2 5]]]");
    cr_assert_eq(quern_array_transpose(&view, a, (int[]){1, 0, 2}), QUERN_OK);
    cr_expect(view->contiguous, "an axis of one element may stand anywhere");
    quern_array_release(view);
    quern_array_release(a);

    a = positions(0, NULL);
    cr_assert_eq(quern_array_transpose(&view, a, NULL), QUERN_OK);
    expect_shows(view, "0");
    quern_array_release(a);
}

Test(view, transposes_refused)
{
    quern_array *a = positions(2, SHAPE(2, 3)), *view;
    quern_status status = quern_array_transpose(&view, a, (int[]){0, 0});
    expect_refused(status, view, QUERN_ERROR_INVALID_ARGUMENT,
                   "the axes of a transposition are 0 to 1, each once: entry 1 is 0");
    status = quern_array_transpose(&view, a, (int[]){0, 2});
    expect_refused(status, view, QUERN_ERROR_INVALID_ARGUMENT,
                   "the axes of a transposition are 0 to 1, each once: entry 1 is 2");
    status = quern_array_transpose(&view, a, (int[]){-1, 0});
    expect_refused(status, view, QUERN_ERROR_INVALID_ARGUMENT,
                   "the axes of a transposition are 0 to 1, each once: entry 0 is -1");
    status = quern_array_transpose(&view, NULL, NULL);
    expect_refused(status, view, QUERN_ERROR_INVALID_ARGUMENT,
                   "quern_array_transpose: array is NULL");
    quern_array_release(a);
}

/* ---- reshaping ------------------------------------------------------------------------------ */

Test(view, reshapes_of_contiguous_arrays)
{
    quern_array *a = positions(2, SHAPE(2, 6)), *view;
    cr_assert_eq(quern_array_reshape(&view, a, 3, SHAPE(2, 2, 3)), QUERN_OK);
    cr_expect(view->contiguous);
    expect_shows(view, "[[[0 1 2] [3 4 5]] [[6 7 8] [9 10 11]]]");
    cr_assert_eq(quern_array_reshape(&view, a, 1, SHAPE(-1)), QUERN_OK);
    expect_shows(view, "[0 1 2 3 4 5 6 7 8 9 10 11]");
    cr_assert_eq(quern_array_reshape(&view, a, 4, SHAPE(1, 4, -1, 1)), QUERN_OK);
    cr_expect_arr_eq(view->shape, SHAPE(1, 4, 3, 1), 4 * sizeof(int64_t));
    cr_expect_arr_eq(view->strides, SHAPE(48, 12, 4, 4), 4 * sizeof(int64_t));
    quern_array_release(view);
    quern_array_release(a);

    a = positions(1, SHAPE(1));
    cr_assert_eq(quern_array_reshape(&view, a, 0, NULL), QUERN_OK);
    expect_shows(view, "0");
    quern_array_release(a);

    a = positions(2, SHAPE(0, 3));
    cr_assert_eq(quern_array_reshape(&view, a, 2, SHAPE(5, 0)), QUERN_OK);
    cr_expect_eq(view->count, 0);
    quern_array_release(view);
    cr_assert_eq(quern_array_reshape(&view, a, 2, SHAPE(4, -1)), QUERN_OK);
    cr_expect_eq(view->shape[1], 0);
    quern_array_release(view);
    quern_array_release(a);
}

/* Every reshape of every view of a small array: right elements, or refused for good reason. */
Test(view, reshapes_of_views)
{
    static const quern_slice cuts[][3] = {
        {QUERN_SLICE_ALL, QUERN_SLICE_ALL, QUERN_SLICE_ALL},
        {QUERN_SLICE_ALL, QUERN_SLICE_ALL, {NONE, NONE, 2}},
        {QUERN_SLICE_ALL, {NONE, NONE, -1}, QUERN_SLICE_ALL},
        {{NONE, NONE, -1}, {NONE, NONE, -1}, {NONE, NONE, -1}},
        {QUERN_SLICE_ALL, {0, 1, 1}, QUERN_SLICE_ALL},
        {{1, 2, 1}, QUERN_SLICE_ALL, {0, 2, 1}},
    };
    static const int orders[][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {2, 1, 0}};
    int taken = 0, refused = 0;
    quern_array *a = positions(3, SHAPE(2, 3, 4));
    for (size_t c = 0; c < QN_COUNT(cuts) * QN_COUNT(orders); c++) {
        quern_array *cut, *base, *copy, *view, *expected;
        cr_assert_eq(quern_array_slice(&cut, a, 3, cuts[c / QN_COUNT(orders)]), QUERN_OK);
        cr_assert_eq(quern_array_transpose(&base, cut, orders[c % QN_COUNT(orders)]), QUERN_OK);
        cr_assert_eq(quern_array_copy(&copy, base), QUERN_OK);
        for (int64_t rows = 1; rows <= base->count; rows++) {
            if (base->count % rows != 0) {
                continue;
            }
            for (int64_t depth = 1; depth <= base->count / rows; depth++) {
                if (base->count / rows % depth != 0) {
                    continue;
                }
                const int64_t shape[] = {rows, base->count / rows / depth, depth};
                cr_assert_eq(quern_array_reshape(&expected, copy, 3, shape), QUERN_OK);
                quern_status status = quern_array_reshape(&view, base, 3, shape);
                if (status == QUERN_OK) {
                    qn_text text = {0};
                    show(&text, expected, 0, expected->data);
                    expect_shows(view, text.data);
                    qn_text_free(&text);
                    taken++;
                } else {
                    cr_expect_eq(status, QUERN_ERROR_SHAPE);
                    cr_expect_not(base->contiguous);
                    refused++;
                }
                quern_array_release(expected);
            }
        }
        quern_array_release(copy);
        quern_array_release(base);
        quern_array_release(cut);
    }
    quern_array_release(a);
    /* as many as NumPy takes and refuses */
    cr_expect_eq(taken, 119, "%d", taken);
    cr_expect_eq(refused, 389, "%d", refused);
}

Test(view, reshapes_refused)
{
    quern_array *a = positions(2, SHAPE(2, 6)), *turned, *view;
    quern_status status = quern_array_reshape(&view, a, 2, SHAPE(5, 2));
    expect_refused(status, view, QUERN_ERROR_SHAPE,
                   "an array of shape (2, 6) cannot take shape (5, 2): the numbers of elements "
                   "differ");
    status = quern_array_reshape(&view, a, 2, SHAPE(5, -1));
    expect_refused(status, view, QUERN_ERROR_SHAPE,
                   "an array of shape (2, 6) cannot take shape (5, -1): the numbers of elements "
                   "differ");
    status = quern_array_reshape(&view, a, 2, SHAPE(0, -1));
    expect_refused(status, view, QUERN_ERROR_SHAPE,
                   "an array of shape (2, 6) cannot take shape (0, -1): beside an extent of 0 "
                   "nothing decides what -1 is");
    status = quern_array_reshape(&view, a, 2, SHAPE(-1, -1));
    expect_refused(status, view, QUERN_ERROR_INVALID_ARGUMENT,
                   "only one extent of a shape may be -1, not both 0 and 1");
    status = quern_array_reshape(&view, a, 2, SHAPE(-2, -6));
    expect_refused(status, view, QUERN_ERROR_INVALID_ARGUMENT,
                   "axis 0 of the shape is negative: -2");
    status = quern_array_reshape(&view, a, 33, SHAPE(1));
    expect_refused(status, view, QUERN_ERROR_INVALID_ARGUMENT,
                   "an array has 0 to 32 dimensions, not 33");
    status = quern_array_reshape(&view, NULL, 1, SHAPE(1));
    expect_refused(status, view, QUERN_ERROR_INVALID_ARGUMENT,
                   "quern_array_reshape: array is NULL");
    cr_assert_eq(quern_array_transpose(&turned, a, NULL), QUERN_OK);
    status = quern_array_reshape(&view, turned, 1, SHAPE(12));
    expect_refused(status, view, QUERN_ERROR_SHAPE,
                   "an array of shape (6, 2) with these strides has no view of shape (12,): copy "
                   "it first");
    quern_array_release(turned);
    quern_array_release(a);
}

/* ---- broadcasting --------------------------------------------------------------------------- */

Test(view, broadcasts)
{
    quern_array *a = positions(2, SHAPE(3, 1)), *view;
    cr_assert_eq(quern_array_broadcast(&view, a, 2, SHAPE(3, 2)), QUERN_OK);
    cr_expect_arr_eq(view->strides, SHAPE(4, 0), 2 * sizeof(int64_t));
    expect_shows(view, "[[0 0] [1 1] [2 2]]");
    cr_assert_eq(quern_array_broadcast(&view, a, 3, SHAPE(2, 3, 1)), QUERN_OK);
    expect_shows(view, "[[[0] [1] [2]] [[0] [1] [2]]]");
    cr_assert_eq(quern_array_broadcast(&view, a, 2, SHAPE(3, 0)), QUERN_OK);
    expect_shows(view, "[[] [] []]");
    quern_array_release(a);
    a = positions(0, NULL);
    cr_assert_eq(quern_array_broadcast(&view, a, 2, SHAPE(2, 2)), QUERN_OK);
    expect_shows(view, "[[0 0] [0 0]]");
    cr_assert_eq(quern_array_broadcast(&view, a, 0, NULL), QUERN_OK);
    expect_shows(view, "0");
    quern_array_release(a);
}

Test(view, broadcasts_refused)
{
    quern_array *a = positions(2, SHAPE(3, 2)), *view;
    quern_status status = quern_array_broadcast(&view, a, 2, SHAPE(3, 4));
    expect_refused(status, view, QUERN_ERROR_SHAPE, "shape (3, 2) does not broadcast to (3, 4)");
    status = quern_array_broadcast(&view, NULL, 1, SHAPE(2));
    expect_refused(status, view, QUERN_ERROR_INVALID_ARGUMENT,
                   "quern_array_broadcast: array is NULL");
    status = quern_array_broadcast(&view, a, 1, SHAPE(2));
    expect_refused(status, view, QUERN_ERROR_SHAPE, "shape (3, 2) does not broadcast to (2,)");
    status = quern_array_broadcast(&view, a, 2, SHAPE(3, -2));
    expect_refused(status, view, QUERN_ERROR_INVALID_ARGUMENT,
                   "axis 1 of the shape is negative: -2");
    status = quern_array_broadcast(&view, a, 3, SHAPE(INT64_MAX, 3, 2));
    expect_refused(status, view, QUERN_ERROR_INVALID_ARGUMENT,
                   "an array of shape (9223372036854775807, 3, 2) is larger than any memory");
    quern_array_release(a);
}

/* ---- memory --------------------------------------------------------------------------------- */

Test(view, failed_allocations)
{
    quern_array *a = positions(2, SHAPE(2, 3)), *view;
    unsigned references = a->buffer->references;
    qn_memory_fail_after(1, true);
    quern_status statuses[] = {
        quern_array_slice(&view, a, 0, NULL),
        quern_array_transpose(&view, a, NULL),
        quern_array_reshape(&view, a, 1, SHAPE(6)),
        quern_array_broadcast(&view, a, 2, SHAPE(2, 3)),
    };
    qn_memory_fail_after(0, false);
    for (size_t k = 0; k < QN_COUNT(statuses); k++) {
        cr_expect_eq(statuses[k], QUERN_ERROR_OUT_OF_MEMORY);
    }
    cr_expect_null(view);
    cr_expect_eq(a->buffer->references, references);
    quern_array_release(a);
    cr_expect_eq(engine.home.references, 1);
}
