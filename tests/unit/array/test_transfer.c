/* SPDX-License-Identifier: MIT
 *
 * Elements in and out: contiguous and strided, with every failure on the way, and nothing leaked.
 */
#include "tests/support/fake_engine.h"

#include <criterion/criterion.h>
#include <string.h>

#define SHAPE(...) ((const int64_t[]){__VA_ARGS__})

static const int32_t host[6] = {10, 11, 12, 13, 14, 15};

/* A 2 x 3 array of `host`, and its transpose. */
static void make(quern_engine *engine, quern_array **a, quern_array **turned)
{
    cr_assert_eq(quern_array_from(a, engine, QUERN_INT32, 2, SHAPE(2, 3), host), QUERN_OK);
    cr_assert_eq(quern_array_transpose(turned, *a, NULL), QUERN_OK);
}

/* Release both; everything has been given back. */
static void drop(quern_engine *engine, quern_array *a, quern_array *turned)
{
    quern_array_release(a);
    quern_array_release(turned);
    cr_expect_eq(engine->live, 0);
    cr_expect_eq(engine->home.references, 1);
}

static void expect_holds(quern_array *a, const int32_t *expected)
{
    int32_t got[6] = {0};
    cr_assert_eq(quern_array_read(a, got, sizeof got), QUERN_OK);
    cr_expect_arr_eq(got, expected, sizeof got);
}

Test(transfer, contiguous_is_one_copy)
{
    quern_engine engine = FAKE_ENGINE(engine);
    quern_array *a, *turned;
    make(&engine, &a, &turned);
    cr_expect_eq(engine.copies, 1);
    expect_holds(a, host);
    cr_expect_eq(engine.copies, 2);
    cr_expect_eq(engine.strided, 0);
    drop(&engine, a, turned);
}

Test(transfer, strided_read)
{
    quern_engine engine = FAKE_ENGINE(engine);
    quern_array *a, *turned;
    make(&engine, &a, &turned);
    expect_holds(turned, (const int32_t[]){10, 13, 11, 14, 12, 15});
    cr_expect_eq(engine.strided, 1);
    cr_expect_eq(engine.live, 1, "the array beside it is gone");
    drop(&engine, a, turned);
}

Test(transfer, strided_write)
{
    quern_engine engine = FAKE_ENGINE(engine);
    quern_array *a, *turned;
    make(&engine, &a, &turned);
    cr_assert_eq(quern_array_write(turned, (const int32_t[]){0, 1, 2, 3, 4, 5}, 24), QUERN_OK);
    expect_holds(a, (const int32_t[]){0, 2, 4, 1, 3, 5});
    drop(&engine, a, turned);
}

Test(transfer, write_to_a_part)
{
    quern_engine engine = FAKE_ENGINE(engine);
    quern_array *a, *turned, *part;
    make(&engine, &a, &turned);
    const quern_slice slices[] = {QUERN_SLICE_ALL, {QUERN_SLICE_NONE, QUERN_SLICE_NONE, -2}};
    cr_assert_eq(quern_array_slice(&part, a, 2, slices), QUERN_OK);
    cr_assert_eq(quern_array_write(part, (const int32_t[]){1, 2, 3, 4}, 16), QUERN_OK);
    expect_holds(a, (const int32_t[]){2, 11, 1, 4, 14, 3});
    quern_array_release(part);
    drop(&engine, a, turned);
}

Test(transfer, copies_are_contiguous_and_apart)
{
    quern_engine engine = FAKE_ENGINE(engine);
    quern_array *a, *turned, *copy, *straight;
    make(&engine, &a, &turned);
    cr_assert_eq(quern_array_copy(&copy, turned), QUERN_OK);
    cr_expect(quern_array_is_contiguous(copy));
    cr_expect_arr_eq(quern_array_shape(copy), SHAPE(3, 2), 2 * sizeof(int64_t));
    cr_assert_eq(quern_array_copy(&straight, a), QUERN_OK);
    cr_assert_eq(quern_array_fill(a, &(int32_t){0}, sizeof(int32_t)), QUERN_OK);
    expect_holds(copy, (const int32_t[]){10, 13, 11, 14, 12, 15});
    expect_holds(straight, host);
    quern_array_release(copy);
    quern_array_release(straight);
    drop(&engine, a, turned);
}

Test(transfer, fills)
{
    quern_engine engine = FAKE_ENGINE(engine);
    quern_array *a, *turned, *column;
    make(&engine, &a, &turned);
    cr_assert_eq(quern_array_fill(a, &(int32_t){7}, sizeof(int32_t)), QUERN_OK);
    expect_holds(a, (const int32_t[]){7, 7, 7, 7, 7, 7});
    const quern_slice slices[] = {QUERN_SLICE_ALL, {1, 0, 0}};
    cr_assert_eq(quern_array_slice(&column, a, 2, slices), QUERN_OK);
    cr_assert_eq(quern_array_fill(column, &(int32_t){9}, sizeof(int32_t)), QUERN_OK);
    expect_holds(a, (const int32_t[]){7, 9, 7, 7, 9, 7});
    cr_expect_eq(engine.live, 1);
    quern_array_release(column);
    drop(&engine, a, turned);
}

Test(transfer, nothing_to_move)
{
    quern_engine engine = FAKE_ENGINE(engine);
    quern_array *a, *copy;
    cr_assert_eq(quern_array_from(&a, &engine, QUERN_INT32, 2, SHAPE(3, 0), NULL), QUERN_OK);
    cr_expect_eq(quern_array_read(a, NULL, 0), QUERN_OK);
    cr_expect_eq(quern_array_write(a, NULL, 0), QUERN_OK);
    cr_expect_eq(quern_array_fill(a, &(int32_t){1}, sizeof(int32_t)), QUERN_OK);
    cr_assert_eq(quern_array_copy(&copy, a), QUERN_OK);
    cr_expect_eq(engine.copies + engine.strided, 0);
    quern_array_release(copy);
    quern_array_release(a);
    cr_expect_eq(engine.home.references, 1);
}

static void expect_refused(quern_status status, const char *message)
{
    cr_expect_eq(status, QUERN_ERROR_INVALID_ARGUMENT);
    cr_expect_str_eq(quern_last_error()->message, message);
}

Test(transfer, refused)
{
    quern_engine engine = FAKE_ENGINE(engine);
    quern_array *a, *turned, *wide, *out;
    int32_t buffer[8] = {0};
    make(&engine, &a, &turned);
    expect_refused(quern_array_read(a, buffer, 20),
                   "the array has 24 bytes (6 elements of int32), not 20");
    expect_refused(quern_array_write(a, buffer, 32),
                   "the array has 24 bytes (6 elements of int32), not 32");
    expect_refused(quern_array_read(a, NULL, 24), "the host memory is NULL");
    expect_refused(quern_array_read(NULL, buffer, 24), "quern_array_read: array is NULL");
    expect_refused(quern_array_write(NULL, buffer, 24), "quern_array_write: array is NULL");
    expect_refused(quern_array_fill(NULL, buffer, 4), "quern_array_fill: array is NULL");
    expect_refused(quern_array_fill(a, NULL, 4), "quern_array_fill: value is NULL");
    expect_refused(quern_array_copy(&out, NULL), "quern_array_copy: array is NULL");
    expect_refused(quern_array_from(&out, &engine, QUERN_INT32, 1, SHAPE(2), NULL),
                   "the host memory is NULL");
    cr_expect_null(out);
    cr_assert_eq(quern_array_broadcast(&wide, a, 3, SHAPE(2, 2, 3)), QUERN_OK);
    const char *told = "a broadcast array cannot be written to: the elements along axis 0 are one; "
                       "copy it first";
    expect_refused(quern_array_fill(wide, &(int32_t){1}, sizeof(int32_t)), told);
    int32_t many[12] = {0};
    expect_refused(quern_array_write(wide, many, sizeof many), told);
    cr_expect_eq(quern_array_read(wide, many, sizeof many), QUERN_OK);
    quern_array_release(wide);
    drop(&engine, a, turned);
}

/* ---- failures on the way -------------------------------------------------------------------- */

static quern_status one_of_each(quern_engine *engine, quern_array *turned, int which)
{
    quern_array *out = NULL;
    int32_t buffer[6] = {0};
    quern_status status = QUERN_OK;
    switch (which) {
    case 0:
        status = quern_array_read(turned, buffer, sizeof buffer);
        break;
    case 1:
        status = quern_array_write(turned, buffer, sizeof buffer);
        break;
    case 2:
        status = quern_array_fill(turned, buffer, quern_dtype_size(quern_array_dtype(turned)));
        break;
    case 3:
        status = quern_array_copy(&out, turned);
        break;
    default:
        status = quern_array_from(&out, engine, QUERN_INT32, 1, SHAPE(6), host);
        break;
    }
    cr_expect_eq(!out, status != QUERN_OK || which < 3);
    quern_array_release(out);
    return status;
}

Test(transfer, every_failure_of_the_device)
{
    for (int which = 0; which < 5; which++) {
        int failures = 0;
        for (int n = 1; n < 10; n++) {
            quern_engine engine = FAKE_ENGINE(engine);
            quern_array *a, *turned;
            make(&engine, &a, &turned);
            engine.fail_after = n;
            quern_status status = one_of_each(&engine, turned, which);
            cr_expect(status == QUERN_OK || status == QUERN_ERROR_DEVICE_MEMORY);
            failures += status != QUERN_OK;
            drop(&engine, a, turned);
        }
        cr_expect_geq(failures, 2, "operation %d failed %d times", which, failures);
        cr_expect_leq(failures, 3);
    }
}

Test(transfer, every_failure_of_host_memory)
{
    for (int which = 0; which < 5; which++) {
        int failures = 0;
        for (uint64_t n = 1; n < 10; n++) {
            quern_engine engine = FAKE_ENGINE(engine);
            quern_array *a, *turned;
            make(&engine, &a, &turned);
            qn_memory_fail_after(n, false);
            failures += one_of_each(&engine, turned, which) != QUERN_OK;
            qn_memory_fail_after(0, false);
            drop(&engine, a, turned);
        }
        cr_expect_geq(failures, 3, "operation %d failed %d times", which, failures);
        cr_expect_leq(failures, 5);
    }
}
