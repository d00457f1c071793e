/* SPDX-License-Identifier: MIT
 *
 * IEEE half, bfloat16 and the two 8-bit floats on the host. In: a double, which any float is
 * without loss. Out: its 16 or 8 bits, rounded once to the nearest, ties to even; and back, which
 * is always exact.
 *
 * All formats share one narrowing, by integers alone: it does not depend on the rounding mode of
 * the processor. What is too large becomes infinity with 16 bits, and with 8 the largest finite
 * number, as GPUs have it.
 */
#include "lang/lang.h"

#include <string.h>

#define DOUBLE_FRACTION 52
#define DOUBLE_BIAS     1023
#define DOUBLE_SPECIAL  0x7ff /* the exponent of infinities and NaNs */

typedef struct format {
    int exponent_bits, fraction_bits;
    unsigned most;      /* the code of the largest finite number */
    unsigned too_large; /* what larger ones become */
    unsigned nan;       /* or NaN, with as much of the payload as there is room for */
    bool payload;
} format;

static const format half_format = {5, 10, 0x7bff, 0x7c00, 0x7e00, true};
static const format bfloat16_format = {8, 7, 0x7f7f, 0x7f80, 0x7fc0, true};
static const format e4m3_format = {4, 3, 0x7e, 0x7e, 0x7f, false};
static const format e5m2_format = {5, 2, 0x7b, 0x7b, 0x7f, false};

static uint16_t narrow(double value, format to)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    unsigned sign = (unsigned)(bits >> 63) << (to.exponent_bits + to.fraction_bits);
    int exponent = (int)(bits >> DOUBLE_FRACTION & DOUBLE_SPECIAL);
    uint64_t fraction = bits & ((UINT64_C(1) << DOUBLE_FRACTION) - 1);
    int shift = DOUBLE_FRACTION - to.fraction_bits;

    if (exponent == DOUBLE_SPECIAL) {
        unsigned payload = to.payload ? (unsigned)(fraction >> shift) : 0;
        return (uint16_t)(fraction == 0 ? sign | to.too_large
                          : to.payload  ? sign | to.nan | payload
                                        : to.nan);
    }
    int target = exponent - DOUBLE_BIAS + (1 << (to.exponent_bits - 1)) - 1;
    /* a subnormal double is far below the smallest of any format: that it has no leading one
     * does not matter */
    uint64_t significand = fraction | UINT64_C(1) << DOUBLE_FRACTION;
    if (target < 1) {
        shift += 1 - target;
        target = 1;
        if (shift > DOUBLE_FRACTION + 1) {
            return (uint16_t)sign;
        }
    }
    uint64_t kept = significand >> shift;
    uint64_t rest = significand & ((UINT64_C(1) << shift) - 1);
    uint64_t tie = UINT64_C(1) << (shift - 1);
    kept += rest > tie || (rest == tie && (kept & 1));
    /* the leading one of a normal number adds the last unit of the exponent, and so does a carry */
    uint64_t code = ((uint64_t)(target - 1) << to.fraction_bits) + kept;
    return (uint16_t)(sign | (code > to.most ? to.too_large : (unsigned)code));
}

uint16_t qn_double_to_half(double value)
{
    return narrow(value, half_format);
}

uint16_t qn_double_to_bfloat16(double value)
{
    return narrow(value, bfloat16_format);
}

uint8_t qn_double_to_float8(double value, quern_dtype dtype)
{
    return (uint8_t)narrow(value, dtype == QUERN_FLOAT8_E4M3 ? e4m3_format : e5m2_format);
}

static float float_of(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

float qn_half_to_float(uint16_t bits)
{
    uint32_t sign = (uint32_t)(bits & 0x8000) << 16;
    uint32_t exponent = bits >> 10 & 0x1f, fraction = bits & 0x3ff;
    if (exponent == 0) {
        float magnitude = (float)fraction * 0x1p-24f;
        return sign ? -magnitude : magnitude;
    }
    uint32_t wide = exponent == 0x1f ? 0xff : exponent + 127 - 15;
    return float_of(sign | wide << 23 | fraction << 13);
}

float qn_bfloat16_to_float(uint16_t bits)
{
    return float_of((uint32_t)bits << 16);
}

float qn_float8_to_float(uint8_t bits, quern_dtype dtype)
{
    if (dtype == QUERN_FLOAT8_E5M2) {
        return qn_half_to_float((uint16_t)(bits << 8)); /* the upper byte of one */
    }
    uint16_t half = (uint16_t)((bits & 0x80) << 8 | (bits & 0x7f) << 7);
    float sign = bits & 0x80 ? -1.0f : 1.0f;
    return (bits & 0x7f) == 0x7f ? float_of(0x7fc00000) * sign : qn_half_to_float(half) * 0x1p8f;
}
