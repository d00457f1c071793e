/* SPDX-License-Identifier: MIT
 *
 * Half and bfloat16: every value there and back, and rounding against its definition.
 */
#include "lang/lang.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

typedef struct narrow_format {
    const char *name;
    uint16_t (*from_double)(double value);
    float (*to_float)(uint16_t bits);
    uint16_t infinity;
} narrow_format;

static const narrow_format formats[] = {
    {"half", qn_double_to_half, qn_half_to_float, 0x7c00},
    {"bfloat16", qn_double_to_bfloat16, qn_bfloat16_to_float, 0x7f80},
};

Test(half, every_value_there_and_back)
{
    for (size_t f = 0; f < QN_COUNT(formats); f++) {
        const narrow_format *format = &formats[f];
        for (uint32_t bits = 0; bits <= 0xffff; bits++) {
            float value = format->to_float((uint16_t)bits);
            bool is_nan = (bits & 0x7fff) > format->infinity;
            cr_assert_eq(isnan(value) != 0, is_nan);
            cr_assert_eq(signbit(value) != 0, bits >> 15);
            if (!is_nan) {
                cr_assert_eq(format->from_double((double)value), bits, "%s %04x", format->name,
                             bits);
            } else {
                cr_assert_gt(format->from_double((double)value) & 0x7fff, format->infinity);
            }
        }
    }
}

/* The exact midpoint of two neighbours goes to the even one, the doubles beside it to the nearer.
 */
Test(half, rounds_once_to_nearest_even)
{
    for (size_t f = 0; f < QN_COUNT(formats); f++) {
        const narrow_format *format = &formats[f];
        for (uint16_t bits = 0; bits + 1 < format->infinity; bits++) {
            double low = (double)format->to_float(bits);
            double high = (double)format->to_float((uint16_t)(bits + 1));
            double middle = low + (high - low) / 2; /* exact in a double */
            uint16_t even = (uint16_t)(bits + (bits & 1));
            cr_assert_eq(format->from_double(middle), even, "%s %04x", format->name, bits);
            cr_assert_eq(format->from_double(nextafter(middle, 0)), bits);
            cr_assert_eq(format->from_double(nextafter(middle, INFINITY)), bits + 1);
            cr_assert_eq(format->from_double(-middle), even | 0x8000);
        }
    }
}

Test(half, overflow_and_underflow)
{
    for (size_t f = 0; f < QN_COUNT(formats); f++) {
        const narrow_format *format = &formats[f];
        double most = (double)format->to_float((uint16_t)(format->infinity - 1));
        double before = (double)format->to_float((uint16_t)(format->infinity - 2));
        double limit = most + (most - before) / 2;
        double least = (double)format->to_float(1);
        cr_expect_eq(format->from_double(limit), format->infinity);
        cr_expect_eq(format->from_double(nextafter(limit, 0)), format->infinity - 1);
        cr_expect_eq(format->from_double(1e300), format->infinity);
        cr_expect_eq(format->from_double(-INFINITY), format->infinity | 0x8000);
        cr_expect_eq(format->from_double(least / 2), 0);
        cr_expect_eq(format->from_double(nextafter(least / 2, 1)), 1);
        cr_expect_eq(format->from_double(4.9e-324), 0);
        cr_expect_eq(format->from_double(-4.9e-324), 0x8000);
        cr_expect_eq(format->from_double(-0.0), 0x8000);
    }
}

Test(half, nan_keeps_its_payload)
{
    cr_expect_eq(qn_double_to_half(NAN) & 0x7fff, 0x7e00);
    cr_expect_eq(qn_double_to_bfloat16(NAN) & 0x7fff, 0x7fc0);
    for (uint16_t bits = 0x7e00; bits < 0x7fff; bits++) {
        cr_expect_eq(qn_double_to_half((double)qn_half_to_float(bits)), bits);
    }
}

Test(half, known_values)
{
    cr_expect_eq(qn_double_to_half(1.0), 0x3c00);
    cr_expect_eq(qn_double_to_half(-2.5), 0xc100);
    cr_expect_eq(qn_double_to_half(65504.0), 0x7bff);
    cr_expect_eq(qn_double_to_half(0x1p-24), 0x0001);
    cr_expect_eq(qn_double_to_bfloat16(1.0), 0x3f80);
    cr_expect_eq(qn_double_to_bfloat16(3.14159274), 0x4049);
    /* through a float first, this would round twice and give 0x3c01 */
    cr_expect_eq(qn_double_to_half(1.0 + 0x1p-11 + 0x1p-40), 0x3c01);
    cr_expect_eq(qn_double_to_half(1.0 + 0x1p-11), 0x3c00);
    cr_expect_eq(qn_double_to_half(1.0 + 0x3p-11 - 0x1p-40), 0x3c01);
}
