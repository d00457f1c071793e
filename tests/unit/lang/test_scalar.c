/* SPDX-License-Identifier: MIT
 *
 * Scalars to the dtype of their parameter: what fits, what is rounded, what is refused.
 */
#include "lang/lang.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#define INT(v)                                                                                     \
    {                                                                                              \
        QUERN_VALUE_LITERAL, QUERN_INT64,                                                          \
        {                                                                                          \
            .integer = (v)                                                                         \
        }                                                                                          \
    }
#define REAL(v)                                                                                    \
    {                                                                                              \
        QUERN_VALUE_LITERAL, QUERN_FLOAT64,                                                        \
        {                                                                                          \
            .real = (v)                                                                            \
        }                                                                                          \
    }
#define BOOL(v)                                                                                    \
    {                                                                                              \
        QUERN_VALUE_LITERAL, QUERN_BOOL,                                                           \
        {                                                                                          \
            .integer = (v)                                                                         \
        }                                                                                          \
    }
#define COMPLEX(r, i)                                                                              \
    {                                                                                              \
        QUERN_VALUE_LITERAL, QUERN_COMPLEX128,                                                     \
        {                                                                                          \
            .parts = {(r), (i) }                                                                   \
        }                                                                                          \
    }
#define STATED_INT(d, v)                                                                           \
    {                                                                                              \
        QUERN_VALUE_SCALAR, (d),                                                                   \
        {                                                                                          \
            .integer = (v)                                                                         \
        }                                                                                          \
    }
#define STATED_NATURAL(d, v)                                                                       \
    {                                                                                              \
        QUERN_VALUE_SCALAR, (d),                                                                   \
        {                                                                                          \
            .natural = (v)                                                                         \
        }                                                                                          \
    }
#define STATED_REAL(d, v)                                                                          \
    {                                                                                              \
        QUERN_VALUE_SCALAR, (d),                                                                   \
        {                                                                                          \
            .real = (v)                                                                            \
        }                                                                                          \
    }
#define STATED_COMPLEX(d, r, i)                                                                    \
    {                                                                                              \
        QUERN_VALUE_SCALAR, (d),                                                                   \
        {                                                                                          \
            .parts = {(r), (i) }                                                                   \
        }                                                                                          \
    }

/* ---- what is given -------------------------------------------------------------------------- */

static const struct {
    quern_value value;
    quern_dtype to;
    uint64_t bits; /* of the first 8 bytes at most */
} given[] = {
    /* integers at the ends of their ranges */
    {INT(127), QUERN_INT8, 0x7f},
    {INT(-128), QUERN_INT8, 0x80},
    {INT(255), QUERN_UINT8, 0xff},
    {INT(0), QUERN_UINT8, 0},
    {INT(-32768), QUERN_INT16, 0x8000},
    {INT(65535), QUERN_UINT16, 0xffff},
    {INT(INT32_MIN), QUERN_INT32, 0x80000000},
    {INT(UINT32_MAX), QUERN_UINT32, 0xffffffff},
    {INT(INT64_MIN), QUERN_INT64, UINT64_C(1) << 63},
    {INT(INT64_MAX), QUERN_UINT64, INT64_MAX},
    {STATED_NATURAL(QUERN_UINT64, UINT64_MAX), QUERN_UINT64, UINT64_MAX},
    {STATED_NATURAL(QUERN_UINT64, 5), QUERN_INT8, 5},
    {STATED_INT(QUERN_INT8, -5), QUERN_INT64, (uint64_t)-5},
    /* floats for integers: without their fraction */
    {REAL(0.5), QUERN_INT32, 0},
    {REAL(-0.5), QUERN_UINT8, 0},
    {REAL(-128.9), QUERN_INT8, 0x80},
    {REAL(255.99), QUERN_UINT8, 255},
    {REAL(2.0), QUERN_INT32, 2},
    {REAL(-0.0), QUERN_UINT8, 0},
    {REAL(255.0), QUERN_UINT8, 255},
    {REAL(-128.0), QUERN_INT8, 0x80},
    {REAL(-0x1p63), QUERN_INT64, UINT64_C(1) << 63},
    {REAL(0x1.fffffffffffffp63), QUERN_UINT64, 0xfffffffffffff800},
    /* any real number is a bool */
    {INT(0), QUERN_BOOL, 0},
    {INT(-7), QUERN_BOOL, 1},
    {REAL(0.1), QUERN_BOOL, 1},
    {REAL(-0.0), QUERN_BOOL, 0},
    {REAL(NAN), QUERN_BOOL, 1},
    {STATED_NATURAL(QUERN_UINT64, UINT64_C(1) << 63), QUERN_BOOL, 1},
    {STATED_INT(QUERN_BOOL, 7), QUERN_BOOL, 1},
    /* a bool is 0 or 1 */
    {BOOL(1), QUERN_INT8, 1},
    {BOOL(1), QUERN_FLOAT32, 0x3f800000},
    /* floats are rounded */
    {REAL(0.1), QUERN_FLOAT64, 0x3fb999999999999a},
    {REAL(0.1), QUERN_FLOAT32, 0x3dcccccd},
    {REAL(0.1), QUERN_FLOAT16, 0x2e66},
    {REAL(0.1), QUERN_BFLOAT16, 0x3dcd},
    {REAL(-INFINITY), QUERN_FLOAT16, 0xfc00},
    {REAL(INFINITY), QUERN_FLOAT32, 0x7f800000},
    {INT(65519), QUERN_FLOAT16, 0x7bff},
    {REAL(3.4028235677973362e38), QUERN_FLOAT32, 0x7f7fffff},
    {REAL(0x1.fefffffffffffp127), QUERN_BFLOAT16, 0x7f7f},
    /* integers are rounded once, whatever their width */
    {INT(16777217), QUERN_FLOAT32, 0x4b800000},
    {INT(-16777219), QUERN_FLOAT32, 0xcb800002},
    {INT((INT64_C(1) << 61) + 1), QUERN_FLOAT64, 0x43c0000000000000},
    {INT((INT64_C(257) << 54) + 1), QUERN_BFLOAT16, 0x5e81},
    {INT(INT64_C(257) << 54), QUERN_BFLOAT16, 0x5e80},
    {STATED_NATURAL(QUERN_UINT64, UINT64_MAX), QUERN_FLOAT32, 0x5f800000},
    /* what is stated is taken first */
    {STATED_REAL(QUERN_FLOAT32, 0.1), QUERN_FLOAT64, 0x3fb99999a0000000},
    {STATED_REAL(QUERN_FLOAT16, 0.1), QUERN_FLOAT64, 0x3fb9980000000000},
    {STATED_REAL(QUERN_BFLOAT16, 0.1), QUERN_FLOAT32, 0x3dcd0000},
    {STATED_REAL(QUERN_FLOAT32, 16777217.0), QUERN_INT32, 16777216},
    /* complex: the real part lies first */
    {COMPLEX(1, 2), QUERN_COMPLEX64, UINT64_C(0x400000003f800000)},
    {INT(3), QUERN_COMPLEX64, UINT64_C(0x0000000040400000)},
    {STATED_COMPLEX(QUERN_COMPLEX64, 0.1, 0.1), QUERN_COMPLEX128, 0x3fb99999a0000000},
};

Test(scalar, given)
{
    for (size_t k = 0; k < QN_COUNT(given); k++) {
        unsigned char bytes[16];
        memset(bytes, 0xa5, sizeof bytes);
        size_t size = quern_dtype_size(given[k].to);
        quern_status status =
            qn_scalar_convert(bytes, given[k].to, &given[k].value, QN_STR("x"), NULL);
        cr_assert_eq(status, QUERN_OK, "case %zu: %s", k, quern_last_error()->message);
        uint64_t bits = 0;
        memcpy(&bits, bytes, QN_MIN(size, sizeof bits));
        cr_expect_eq(bits, given[k].bits, "case %zu: %llx", k, (unsigned long long)bits);
        for (size_t j = size; j < sizeof bytes; j++) {
            cr_expect_eq(bytes[j], 0xa5, "case %zu wrote too much", k);
        }
    }
}

/* A scalar that is read from its bytes is of that dtype, and gives them again. */
Test(scalar, there_and_back)
{
    for (size_t k = 0; k < QN_COUNT(given); k++) {
        unsigned char bytes[16] = {0}, again[16] = {0};
        cr_assert_eq(qn_scalar_convert(bytes, given[k].to, &given[k].value, QN_STR("x"), NULL),
                     QUERN_OK);
        quern_value value = qn_scalar_value(given[k].to, bytes);
        cr_expect_eq(value.kind, QUERN_VALUE_SCALAR);
        cr_expect_eq(value.dtype, (int32_t)given[k].to);
        cr_assert_eq(qn_scalar_convert(again, given[k].to, &value, QN_STR("x"), NULL), QUERN_OK,
                     "case %zu: %s", k, quern_last_error()->message);
        cr_expect_arr_eq(bytes, again, sizeof bytes, "case %zu", k);
    }
}

Test(scalar, complex128_whole)
{
    double parts[2];
    quern_value value = COMPLEX(1.5, -2.5);
    cr_assert_eq(qn_scalar_convert(parts, QUERN_COMPLEX128, &value, QN_STR("x"), NULL), QUERN_OK);
    cr_expect_eq(parts[0], 1.5);
    cr_expect_eq(parts[1], -2.5);
}

/* ---- what is refused ------------------------------------------------------------------------ */

static const struct {
    quern_value value;
    quern_dtype to;
    quern_status status;
    const char *message;
} refused[] = {
    {INT(300), QUERN_INT8, QUERN_ERROR_VALUE,
     "300 does not fit parameter \"x\": int8 holds -128 to 127"},
    {INT(128), QUERN_INT8, QUERN_ERROR_VALUE,
     "128 does not fit parameter \"x\": int8 holds -128 to 127"},
    {INT(-129), QUERN_INT8, QUERN_ERROR_VALUE,
     "-129 does not fit parameter \"x\": int8 holds -128 to 127"},
    {INT(-1), QUERN_UINT64, QUERN_ERROR_VALUE,
     "-1 does not fit parameter \"x\": uint64 holds 0 to 18446744073709551615"},
    {INT(256), QUERN_UINT8, QUERN_ERROR_VALUE,
     "256 does not fit parameter \"x\": uint8 holds 0 to 255"},
    {STATED_NATURAL(QUERN_UINT64, UINT64_MAX), QUERN_INT64, QUERN_ERROR_VALUE,
     "18446744073709551615 does not fit parameter \"x\": int64 holds -9223372036854775808 to "
     "9223372036854775807"},
    {STATED_INT(QUERN_UINT8, -1), QUERN_UINT8, QUERN_ERROR_VALUE,
     "-1 does not fit parameter \"x\": uint8 holds 0 to 255"},
    {STATED_INT(QUERN_UINT8, 300), QUERN_INT64, QUERN_ERROR_VALUE,
     "300 does not fit parameter \"x\": uint8 holds 0 to 255"},
    {REAL(1e10), QUERN_INT32, QUERN_ERROR_VALUE,
     "10000000000 does not fit parameter \"x\": int32 holds -2147483648 to 2147483647"},
    {REAL(1e300), QUERN_INT64, QUERN_ERROR_VALUE,
     "1e+300 does not fit parameter \"x\": int64 holds -9223372036854775808 to "
     "9223372036854775807"},
    {REAL(-2.0), QUERN_UINT8, QUERN_ERROR_VALUE,
     "-2 does not fit parameter \"x\": uint8 holds 0 to 255"},
    {REAL(0x1p63), QUERN_INT64, QUERN_ERROR_VALUE,
     "9.22337203685478e+18 does not fit parameter \"x\": int64 holds -9223372036854775808 to "
     "9223372036854775807"},
    {REAL(NAN), QUERN_INT32, QUERN_ERROR_VALUE,
     "NaN cannot be given to parameter \"x\": int32 holds only finite integers"},
    {REAL(-INFINITY), QUERN_UINT8, QUERN_ERROR_VALUE,
     "infinity cannot be given to parameter \"x\": uint8 holds only finite integers"},
    {INT(70000), QUERN_FLOAT16, QUERN_ERROR_VALUE,
     "70000 does not fit parameter \"x\": float16 holds -65504 to 65504, and infinity where that "
     "is passed"},
    {REAL(-65520), QUERN_FLOAT16, QUERN_ERROR_VALUE,
     "-65520 does not fit parameter \"x\": float16 holds -65504 to 65504, and infinity where that "
     "is passed"},
    {REAL(1e39), QUERN_BFLOAT16, QUERN_ERROR_VALUE,
     "1e+39 does not fit parameter \"x\": bfloat16 holds -3.3895314e+38 to 3.3895314e+38, and "
     "infinity where that is passed"},
    {REAL(1e300), QUERN_FLOAT32, QUERN_ERROR_VALUE,
     "1e+300 does not fit parameter \"x\": float32 holds -3.4028235e+38 to 3.4028235e+38, and "
     "infinity where that is passed"},
    {STATED_REAL(QUERN_FLOAT32, 1e39), QUERN_FLOAT64, QUERN_ERROR_VALUE,
     "1e+39 does not fit parameter \"x\": float32 holds -3.4028235e+38 to 3.4028235e+38, and "
     "infinity where that is passed"},
    {COMPLEX(1, -1e39), QUERN_COMPLEX64, QUERN_ERROR_VALUE,
     "-1e+39 does not fit parameter \"x\": complex64 holds -3.4028235e+38 to 3.4028235e+38, and "
     "infinity where that is passed"},
    {COMPLEX(0, 0), QUERN_BOOL, QUERN_ERROR_TYPE,
     "a complex number cannot be given to parameter \"x\", which is bool: pass its real part, or "
     "make the parameter complex"},
    {COMPLEX(1, 0), QUERN_FLOAT64, QUERN_ERROR_TYPE,
     "a complex number cannot be given to parameter \"x\", which is float64: pass its real part, "
     "or make the parameter complex"},
    {COMPLEX(1, 0), QUERN_INT8, QUERN_ERROR_TYPE,
     "a complex number cannot be given to parameter \"x\", which is int8: pass its real part, or "
     "make the parameter complex"},
    {{QUERN_VALUE_NONE, 0, {0}},
     QUERN_INT8,
     QUERN_ERROR_TYPE,
     "the argument of parameter \"x\" is not a number"},
    {{QUERN_VALUE_SCALAR, 99, {0}},
     QUERN_INT8,
     QUERN_ERROR_TYPE,
     "the argument of parameter \"x\" is not a number"},
    {INT(1), QUERN_DTYPE_NONE, QUERN_ERROR_INTERNAL, "parameter \"x\" has no dtype"},
};

Test(scalar, refused)
{
    for (size_t k = 0; k < QN_COUNT(refused); k++) {
        unsigned char bytes[16];
        quern_status status =
            qn_scalar_convert(bytes, refused[k].to, &refused[k].value, QN_STR("x"), NULL);
        cr_expect_eq(status, refused[k].status, "case %zu", k);
        cr_expect_str_eq(quern_last_error()->message, refused[k].message);
    }
}

Test(scalar, tells_of_a_fraction_that_is_lost)
{
    const struct {
        quern_value value;
        quern_dtype to;
        bool lost;
    } cases[] = {
        {REAL(0.5), QUERN_INT32, true},
        {REAL(-0.25), QUERN_UINT64, true},
        {REAL(2.0), QUERN_INT32, false},
        {REAL(0.5), QUERN_FLOAT16, false},
        {REAL(0.5), QUERN_BOOL, false},
        {REAL(0.5), QUERN_COMPLEX64, false},
        {INT(3), QUERN_INT8, false},
        {STATED_REAL(QUERN_FLOAT32, 1.5), QUERN_INT8, true},
        {STATED_REAL(QUERN_FLOAT16, 1.0001), QUERN_INT8, false}, /* it is 1 as a float16 */
    };
    for (size_t k = 0; k < QN_COUNT(cases); k++) {
        unsigned char bytes[16];
        bool cut = !cases[k].lost;
        cr_assert_eq(qn_scalar_convert(bytes, cases[k].to, &cases[k].value, QN_STR("x"), &cut),
                     QUERN_OK, "case %zu", k);
        cr_expect_eq(cut, cases[k].lost, "case %zu", k);
    }
}
