/* SPDX-License-Identifier: MIT
 *
 * What the host writes is what a kernel reads: every field of quern::space, quern::fold and
 * quern::raw_array, in both widths, for every number of dimensions and operands up to some; and
 * quotients of quern::divider.
 */
#include "device_side.h"
#include "engine/engine_internal.h"
#include <criterion/criterion.h>
#include <string.h>

static qn_call call;
static qn_parameter_block block;
static int64_t drawn;

/* Numbers that differ from each other, and fit 32 bits. */
static int64_t next(void)
{
    return ++drawn * 7919;
}

#define FILL_NUMBER(name) w.name = next();
#define FILL_DIVIDERS(name, n)                                                                     \
    for (int d = 0; d < (n); d++) {                                                                \
        w.name[d] = next();                                                                        \
    }
#define FILL_TABLE(name, n, m)                                                                     \
    for (int k = 0; k < (n); k++) {                                                                \
        for (int d = 0; d < (m); d++) {                                                            \
            table[k][d] = -next();                                                                 \
        }                                                                                          \
    }                                                                                              \
    w.name = (const int64_t(*)[QUERN_MAX_NDIM])table;

#define SAME_NUMBER(name)  cr_expect_eq(read.name, w.name, #name);
#define SAME_DIVIDER(name) cr_expect_eq(read.name.value, w.name, #name);
#define SAME_DIVIDERS(name, n)                                                                     \
    for (int d = 0; d < (n); d++) {                                                                \
        cr_expect_eq(read.name[d].value, w.name[d], #name "[%d]", d);                              \
    }
#define SAME_TABLE(name, n, m)                                                                     \
    for (int k = 0; k < (n); k++) {                                                                \
        for (int d = 0; d < (m); d++) {                                                            \
            cr_expect_eq(read.name[k][d], w.name[k][d], #name "[%d][%d]", k, d);                   \
        }                                                                                          \
    }

static void begin(int operands)
{
    block.count = block.used = block.extra = 0;
    call.operand_count = (uint32_t)operands;
    drawn = 0;
}

static void check_space(bool wide, int dims, int operands)
{
    static int64_t table[DEVICE_OPERANDS][QUERN_MAX_NDIM];
    qn_space w;
    device_space read;
    begin(operands);
    QUERN_SPACE(FILL_NUMBER, FILL_NUMBER, FILL_DIVIDERS, FILL_TABLE, dims, operands)
    cr_assert_eq(qn_put_space(&block, &call, &w, wide, dims), QUERN_OK);
    cr_expect_eq(device_read_space(&read, block.pointers[0], wide, dims, operands), block.used);
    QUERN_SPACE(SAME_NUMBER, SAME_DIVIDER, SAME_DIVIDERS, SAME_TABLE, dims, operands)
}

static void check_fold(bool wide, int dims, int operands)
{
    static int64_t table[DEVICE_OPERANDS][QUERN_MAX_NDIM];
    qn_fold_fields w;
    device_fold read;
    begin(operands);
    QUERN_FOLD(FILL_NUMBER, FILL_DIVIDERS, FILL_TABLE, dims, operands)
    cr_assert_eq(qn_put_fold(&block, &call, &w, wide, dims, operands), QUERN_OK);
    cr_expect_eq(device_read_fold(&read, block.pointers[0], wide, dims, operands), block.used);
    QUERN_FOLD(SAME_NUMBER, SAME_DIVIDERS, SAME_TABLE, dims, operands)
}

Test(layout, walks)
{
    for (int dims = 0; dims <= DEVICE_DIMS; dims++) {
        for (int operands = 0; operands <= DEVICE_OPERANDS; operands++) {
            for (int wide = 0; wide < 2; wide++) {
                check_space(wide, dims, operands);
                check_fold(wide, dims, operands);
            }
        }
    }
}

/* A checked one goes on with the number of its parameter, which does not count. */
static void check_raw_array(bool checked, int dims)
{
    int64_t shape[DEVICE_DIMS], strides[DEVICE_DIMS], parameter = 0;
    char data;
    device_raw_array read;
    begin(0);
    for (int d = 0; d < dims; d++) {
        shape[d] = next() << 32;
        strides[d] = -next();
    }
    const qn_raw_array w = {
        .data = &data, .size = next(), .shape = shape, .strides = strides, .parameter = next()};
    cr_assert_eq(qn_put_raw_array(&block, &call, &w, checked, dims), QUERN_OK);
    const size_t plain = device_read_raw_array(&read, block.pointers[0], dims);
    cr_expect_eq(block.extra, checked ? sizeof parameter : 0);
    cr_expect_eq(block.used, plain + block.extra);
    cr_expect_eq(read.data, w.data);
    cr_expect_eq(read.size, w.size);
    cr_expect_arr_eq(read.shape, shape, (size_t)dims * sizeof *shape);
    cr_expect_arr_eq(read.strides, strides, (size_t)dims * sizeof *strides);
    memcpy(&parameter, (const char *)block.pointers[0] + plain, block.extra);
    cr_expect_eq(parameter, checked ? w.parameter : 0);
}

Test(layout, raw_arrays)
{
    for (int dims = 0; dims <= DEVICE_DIMS; dims++) {
        check_raw_array(false, dims);
        check_raw_array(true, dims);
    }
}

Test(layout, quotients)
{
    static const int64_t divisors[] = {1, 2, 3, 7, 64, 641, 1000003, INT32_MAX};
    static int64_t table[1][QUERN_MAX_NDIM];
    for (size_t k = 0; k < QN_COUNT(divisors); k++) {
        for (int wide = 0; wide < 2; wide++) {
            qn_space w = {.row = divisors[k], .stride = (const int64_t(*)[QUERN_MAX_NDIM])table};
            device_space read;
            begin(1);
            cr_assert_eq(qn_put_space(&block, &call, &w, wide, 0), QUERN_OK);
            device_read_space(&read, block.pointers[0], wide, 0, 1);
            for (int64_t n = 0; n < INT32_MAX; n = n * 5 / 4 + 1) {
                cr_expect_eq(device_divide(&read.row, n), n / divisors[k], "%lld / %lld",
                             (long long)n, (long long)divisors[k]);
            }
        }
    }
}
