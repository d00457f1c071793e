/* SPDX-License-Identifier: MIT
 *
 * Making arrays, counting their references, wrapping foreign memory; nothing is leaked when any of
 * it fails.
 */
#include "tests/support/fake_engine.h"

#include <criterion/criterion.h>
#include <string.h>

#define SHAPE(...) ((const int64_t[]){__VA_ARGS__})

/* Everything that was taken from `engine` has been given back. */
static void expect_at_rest(const quern_engine *engine)
{
    cr_expect_eq(engine->home.references, 1);
    cr_expect_eq(engine->live, 0);
    cr_expect_eq(engine->live_bytes, 0);
    cr_expect_eq(engine->adopted, 0);
}

Test(array, new)
{
    quern_engine engine = FAKE_ENGINE(engine);
    quern_array *a;
    cr_assert_eq(quern_array_new(&a, &engine, QUERN_FLOAT64, 3, SHAPE(2, 3, 4)), QUERN_OK);
    cr_expect_eq(quern_array_dtype(a), QUERN_FLOAT64);
    cr_expect_eq(quern_array_ndim(a), 3);
    cr_expect_eq(quern_array_count(a), 24);
    cr_expect_eq(quern_array_engine(a), &engine);
    cr_expect(quern_array_is_contiguous(a));
    cr_expect_arr_eq(quern_array_shape(a), SHAPE(2, 3, 4), 3 * sizeof(int64_t));
    cr_expect_arr_eq(quern_array_strides(a), SHAPE(96, 32, 8), 3 * sizeof(int64_t));
    cr_expect_eq((uintptr_t)quern_array_pointer(a) % 256, 0);
    cr_expect_eq(engine.live_bytes, 192);
    cr_expect_eq(engine.home.references, 2);
    quern_array_release(a);
    expect_at_rest(&engine);
}

Test(array, without_dimensions_and_without_elements)
{
    quern_engine engine = FAKE_ENGINE(engine);
    quern_array *point, *empty;
    cr_assert_eq(quern_array_new(&point, &engine, QUERN_INT8, 0, NULL), QUERN_OK);
    cr_expect_eq(quern_array_count(point), 1);
    cr_expect_eq(engine.live_bytes, 1);
    cr_assert_eq(quern_array_new(&empty, &engine, QUERN_INT32, 3, SHAPE(2, 0, 5)), QUERN_OK);
    cr_expect_eq(quern_array_count(empty), 0);
    cr_expect(quern_array_is_contiguous(empty));
    cr_expect_arr_eq(quern_array_strides(empty), SHAPE(20, 20, 4), 3 * sizeof(int64_t));
    cr_expect_eq(engine.live, 1, "no memory is asked for when there are no elements");
    quern_array_release(point);
    quern_array_release(empty);
    expect_at_rest(&engine);
}

Test(array, references)
{
    quern_engine engine = FAKE_ENGINE(engine);
    quern_array *a;
    cr_assert_eq(quern_array_new(&a, &engine, QUERN_INT8, 1, SHAPE(4)), QUERN_OK);
    cr_expect_eq(quern_array_retain(a), a);
    quern_array_release(a);
    cr_expect_eq(engine.live, 1);
    quern_array_release(a);
    quern_array_release(NULL);
    cr_expect_null(quern_array_retain(NULL));
    expect_at_rest(&engine);
}

Test(array, getters_of_null)
{
    cr_expect_eq(quern_array_dtype(NULL), QUERN_DTYPE_NONE);
    cr_expect_eq(quern_array_ndim(NULL), 0);
    cr_expect_eq(quern_array_count(NULL), 0);
    cr_expect_null(quern_array_shape(NULL));
    cr_expect_null(quern_array_strides(NULL));
    cr_expect_null(quern_array_pointer(NULL));
    cr_expect_null(quern_array_engine(NULL));
    cr_expect_not(quern_array_is_contiguous(NULL));
}

static const struct {
    int dtype, ndim;
    int64_t shape[3];
    const char *message;
} refused[] = {
    {0, 1, {1}, "0 is not a dtype"},
    {99, 1, {1}, "99 is not a dtype"},
    {QUERN_INT8, -1, {1}, "an array has 0 to 32 dimensions, not -1"},
    {QUERN_INT8, 33, {1}, "an array has 0 to 32 dimensions, not 33"},
    {QUERN_INT8, 2, {3, -1}, "axis 1 of the shape is negative: -1"},
    {QUERN_INT8, 2, {INT64_MIN, 0}, "axis 0 of the shape is negative: -9223372036854775808"},
    {QUERN_INT8,
     2,
     {INT64_MAX, 2},
     "an array of shape (9223372036854775807, 2) is larger than any memory"},
    {QUERN_COMPLEX128,
     1,
     {INT64_MAX / 8},
     "an array of shape (1152921504606846975,) is larger than any memory"},
    /* an empty axis does not hide that the strides would overflow */
    {QUERN_INT8,
     3,
     {INT64_MAX, 0, 2},
     "an array of shape (9223372036854775807, 0, 2) is larger than any memory"},
};

Test(array, refused)
{
    quern_engine engine = FAKE_ENGINE(engine);
    for (size_t k = 0; k < QN_COUNT(refused); k++) {
        quern_array *a = (quern_array *)&engine;
        cr_expect_eq(quern_array_new(&a, &engine, (quern_dtype)refused[k].dtype, refused[k].ndim,
                                     refused[k].shape),
                     QUERN_ERROR_INVALID_ARGUMENT);
        cr_expect_null(a);
        cr_expect_str_eq(quern_last_error()->message, refused[k].message);
    }
    quern_array *a;
    cr_expect_eq(quern_array_new(&a, NULL, QUERN_INT8, 0, NULL), QUERN_ERROR_INVALID_ARGUMENT);
    cr_expect_str_eq(quern_last_error()->message, "quern_array_new: engine is NULL");
    cr_expect_eq(quern_array_new(&a, &engine, QUERN_INT8, 2, NULL), QUERN_ERROR_INVALID_ARGUMENT);
    cr_expect_str_eq(quern_last_error()->message, "the shape is NULL: pass 2 extents");
    expect_at_rest(&engine);
}

Test(array, device_memory_runs_out)
{
    quern_engine engine = FAKE_ENGINE(engine);
    quern_array *a;
    cr_expect_eq(quern_array_new(&a, &engine, QUERN_INT8, 1, SHAPE(INT64_MAX)),
                 QUERN_ERROR_DEVICE_MEMORY);
    cr_expect_null(a);
    expect_at_rest(&engine);
}

Test(array, host_memory_runs_out)
{
    quern_engine engine = FAKE_ENGINE(engine);
    for (uint64_t n = 1; n <= 3; n++) {
        quern_array *a;
        qn_memory_fail_after(n, false);
        quern_status status = quern_array_new(&a, &engine, QUERN_INT8, 1, SHAPE(8));
        qn_memory_fail_after(0, false);
        cr_expect_neq(status, QUERN_OK);
        cr_expect_null(a);
        expect_at_rest(&engine);
    }
}

Test(array, error_of_an_earlier_call_is_forgotten)
{
    quern_engine engine = FAKE_ENGINE(engine);
    quern_array *a;
    quern_array_new(&a, NULL, QUERN_INT8, 0, NULL);
    cr_assert_eq(quern_array_new(&a, &engine, QUERN_INT8, 0, NULL), QUERN_OK);
    cr_expect_eq(quern_last_error()->status, QUERN_OK);
    quern_array_release(a);
}

/* ---- printing ------------------------------------------------------------------------------- */

Test(array, shapes_print_as_tuples)
{
    static const struct {
        int ndim;
        int64_t shape[3];
        const char *expected;
    } shapes[] = {
        {0, {0}, "()"}, {1, {3}, "(3,)"}, {2, {2, 5}, "(2, 5)"}, {3, {0, 1, -1}, "(0, 1, -1)"}};
    for (size_t k = 0; k < QN_COUNT(shapes); k++) {
        qn_text text = {0};
        qn_shape_print(&text, shapes[k].ndim, shapes[k].shape);
        cr_expect_str_eq(text.data, shapes[k].expected);
        qn_text_free(&text);
    }
}

/* ---- foreign memory ------------------------------------------------------------------------- */

static void count_release(void *context)
{
    ++*(int *)context;
}

static const struct {
    int dtype, ndim;
    int64_t shape[3], strides[3];
    int64_t low, high; /* bytes from element (0, ..., 0) that may be touched */
    int contiguous;
} spans[] = {
    {QUERN_FLOAT32, 1, {5}, {4}, 0, 20, 1},
    {QUERN_FLOAT32, 1, {5}, {8}, 0, 36, 0},
    {QUERN_FLOAT32, 1, {5}, {-4}, -16, 4, 0},
    {QUERN_FLOAT32, 1, {5}, {0}, 0, 4, 0},
    {QUERN_FLOAT32, 0, {0}, {0}, 0, 4, 1},
    {QUERN_INT16, 2, {3, 4}, {8, 2}, 0, 24, 1},
    {QUERN_INT16, 2, {3, 4}, {2, 6}, 0, 24, 0},
    {QUERN_INT16, 2, {3, 4}, {-8, 2}, -16, 8, 0},
    {QUERN_INT16, 2, {3, 4}, {-8, -2}, -22, 2, 0},
    {QUERN_INT16, 2, {1, 4}, {-999, 2}, 0, 8, 1},
    {QUERN_INT16, 3, {2, 1, 4}, {8, 77, 2}, 0, 16, 1},
};

Test(wrap, spans)
{
    static _Alignas(16) char memory[256];
    for (size_t k = 0; k < QN_COUNT(spans); k++) {
        quern_engine engine = FAKE_ENGINE(engine);
        quern_array *a;
        int released = 0;
        char *pointer = memory + 128;
        cr_assert_eq(quern_array_wrap(&a, &engine, (quern_dtype)spans[k].dtype, spans[k].ndim,
                                      spans[k].shape, spans[k].strides, pointer, count_release,
                                      &released),
                     QUERN_OK, "case %zu: %s", k, quern_last_error()->message);
        cr_expect_eq(quern_array_pointer(a), pointer);
        cr_expect_eq(quern_array_is_contiguous(a), spans[k].contiguous, "case %zu", k);
        cr_expect_eq(engine.last_adopted, pointer + spans[k].low, "case %zu", k);
        cr_expect_eq((int64_t)engine.last_adopted_bytes, spans[k].high - spans[k].low, "case %zu",
                     k);
        cr_expect_eq(engine.adopted, 1);
        cr_expect_eq(engine.live, 0);
        quern_array_release(a);
        cr_expect_eq(released, 1);
        expect_at_rest(&engine);
    }
}

Test(wrap, strides_may_be_left_out)
{
    quern_engine engine = FAKE_ENGINE(engine);
    quern_array *a;
    float memory[6];
    cr_assert_eq(
        quern_array_wrap(&a, &engine, QUERN_FLOAT32, 2, SHAPE(2, 3), NULL, memory, NULL, NULL),
        QUERN_OK);
    cr_expect_arr_eq(quern_array_strides(a), SHAPE(12, 4), 2 * sizeof(int64_t));
    cr_expect(quern_array_is_contiguous(a));
    quern_array_release(a);
    expect_at_rest(&engine);
}

Test(wrap, views_keep_it_and_the_last_one_releases)
{
    quern_engine engine = FAKE_ENGINE(engine);
    quern_array *a, *view;
    float memory[6];
    int released = 0;
    cr_assert_eq(quern_array_wrap(&a, &engine, QUERN_FLOAT32, 1, SHAPE(6), NULL, memory,
                                  count_release, &released),
                 QUERN_OK);
    cr_assert_eq(quern_array_transpose(&view, a, NULL), QUERN_OK);
    quern_array_release(a);
    cr_expect_eq(released, 0);
    cr_expect_eq(engine.adopted, 1);
    quern_array_release(view);
    cr_expect_eq(released, 1);
    expect_at_rest(&engine);
}

Test(wrap, empty_needs_no_memory)
{
    quern_engine engine = FAKE_ENGINE(engine);
    quern_array *a;
    int released = 0;
    cr_assert_eq(quern_array_wrap(&a, &engine, QUERN_FLOAT32, 2, SHAPE(0, 3), SHAPE(INT64_MAX, 1),
                                  NULL, count_release, &released),
                 QUERN_OK);
    cr_expect_eq(engine.adopted, 0);
    quern_array_release(a);
    cr_expect_eq(released, 1);
    expect_at_rest(&engine);
}

Test(wrap, devices_need_not_adopt)
{
    quern_engine engine = FAKE_ENGINE(engine);
    engine.home.methods = &fake_methods_without_adopt;
    quern_array *a;
    float memory[6];
    cr_assert_eq(
        quern_array_wrap(&a, &engine, QUERN_FLOAT32, 1, SHAPE(6), NULL, memory, NULL, NULL),
        QUERN_OK);
    quern_array_release(a);
    expect_at_rest(&engine);
}

static const struct {
    int ndim;
    int64_t shape[2], strides[2];
    uintptr_t pointer;
    const char *message;
} bad_wraps[] = {
    {1, {4}, {4}, 0, "the memory to wrap is NULL, but there are 4 elements"},
    {1, {INT64_MAX / 8}, {16}, 0x1000, "shape and strides reach outside of the address space"},
    {2,
     {3, 3},
     {INT64_MAX / 2, INT64_MAX / 2},
     0x1000,
     "shape and strides reach outside of the address space"},
    {1, {3}, {INT64_MIN}, 0x1000, "shape and strides reach outside of the address space"},
    {1, {1000}, {-8}, 0x1000, "shape and strides reach outside of the address space"},
    {1, {1000}, {8}, UINTPTR_MAX - 0xfff, "shape and strides reach outside of the address space"},
    {2, {1, -2}, {4, 4}, 0x1000, "axis 1 of the shape is negative: -2"},
};

Test(wrap, refused)
{
    for (size_t k = 0; k < QN_COUNT(bad_wraps); k++) {
        quern_engine engine = FAKE_ENGINE(engine);
        quern_array *a;
        int released = 0;
        cr_expect_eq(quern_array_wrap(&a, &engine, QUERN_FLOAT32, bad_wraps[k].ndim,
                                      bad_wraps[k].shape, bad_wraps[k].strides,
                                      (void *)bad_wraps[k].pointer, count_release, &released),
                     QUERN_ERROR_INVALID_ARGUMENT, "case %zu", k);
        cr_expect_null(a);
        cr_expect_str_eq(quern_last_error()->message, bad_wraps[k].message);
        cr_expect_eq(released, 0, "the memory stays the caller's");
        expect_at_rest(&engine);
    }
}

static const struct {
    quern_dtype dtype;
    int64_t shape[2], strides[2];
    uintptr_t pointer;
    uint8_t reach;
} reaches[] = {
    {QUERN_FLOAT32, {4, 2}, {8, 4}, 0x1000, 0},     {QUERN_FLOAT32, {4, 2}, {8, 4}, 0x1002, 2},
    {QUERN_FLOAT32, {4, 2}, {8, 4}, 0x1001, 1},     {QUERN_FLOAT32, {4, 2}, {4, 6}, 0x1000, 2},
    {QUERN_FLOAT32, {4, 1}, {4, 6}, 0x1000, 0},     {QUERN_FLOAT32, {4, 2}, {-7, 4}, 0x1000, 1},
    {QUERN_FLOAT32, {0, 2}, {7, 7}, 0x1001, 0},     {QUERN_FLOAT64, {4, 2}, {12, 8}, 0x1000, 4},
    {QUERN_COMPLEX128, {4, 2}, {24, 0}, 0x1000, 8}, {QUERN_INT8, {4, 2}, {3, 1}, 0x1001, 0},
};

Test(wrap, elements_may_lie_anywhere)
{
    for (size_t k = 0; k < QN_COUNT(reaches); k++) {
        quern_engine engine = FAKE_ENGINE(engine);
        quern_array *a;
        cr_assert_eq(quern_array_wrap(&a, &engine, reaches[k].dtype, 2, reaches[k].shape,
                                      reaches[k].strides, (void *)reaches[k].pointer, NULL, NULL),
                     QUERN_OK);
        cr_expect_eq(a->reach, reaches[k].reach, "case %zu: %d", k, a->reach);
        quern_array_release(a);
    }
}

Test(wrap, failures_leave_nothing_behind)
{
    float memory[6];
    quern_engine engine = FAKE_ENGINE(engine);
    quern_array *a;
    int released = 0;
    qn_memory_fail_after(1, false); /* the only allocation */
    cr_expect_eq(quern_array_wrap(&a, &engine, QUERN_FLOAT32, 1, SHAPE(6), NULL, memory,
                                  count_release, &released),
                 QUERN_ERROR_OUT_OF_MEMORY);
    qn_memory_fail_after(0, false);
    cr_expect_eq(released, 0);
    expect_at_rest(&engine);
    engine.fail_after = 1;
    cr_expect_eq(
        quern_array_wrap(&a, &engine, QUERN_FLOAT32, 1, SHAPE(6), NULL, memory, NULL, NULL),
        QUERN_ERROR_DEVICE_MEMORY);
    expect_at_rest(&engine);
}

Test(array, arrays_of_others_do_not_fit)
{
    quern_engine engine = FAKE_ENGINE(engine), other = FAKE_ENGINE(other),
                 beside = FAKE_ENGINE(beside);
    strcpy(engine.home.place, "cuda:1");
    strcpy(beside.home.place, "cuda:1");
    strcpy(other.home.place, "soft");
    quern_array *a;
    cr_assert_eq(quern_array_new(&a, &engine, QUERN_INT8, 1, SHAPE(4)), QUERN_OK);
    const struct {
        const quern_array *array;
        const qn_home *home;
        const char *message; /* NULL: it fits */
    } cases[] = {
        {a, &engine.home, NULL},
        {a, &other.home,
         "the array belongs to another engine than the kernel: it is on cuda:1, the kernel on "
         "soft; quern_array_copy_to() copies it"},
        {a, &beside.home,
         "the array belongs to another engine than the kernel; both are on cuda:1; "
         "quern_array_copy_to() copies it"},
        {NULL, &engine.home, "the array is NULL"},
        {(const quern_array *)(const void *)&engine, &engine.home,
         "what was passed is not an array, or one that was freed"},
    };
    for (size_t k = 0; k < QN_COUNT(cases); k++) {
        cr_expect_eq(qn_array_fits(cases[k].array, cases[k].home), !cases[k].message);
        if (cases[k].message) {
            cr_expect_eq(qn_array_refuse(cases[k].array, "kernel", cases[k].home),
                         QUERN_ERROR_INVALID_ARGUMENT);
            cr_expect_str_eq(quern_last_error()->message, cases[k].message);
        }
    }
    quern_array_release(a);
    expect_at_rest(&engine);
}
