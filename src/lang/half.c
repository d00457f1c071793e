/* SPDX-License-Identifier: MIT
 *
 * IEEE half and bfloat16 on the host. In: a double, which any float is without loss. Out: its 16
 * bits, rounded once to the nearest, ties to even; and back, which is always exact.
 *
 * Both formats share one narrowing, by integers alone: it does not depend on the rounding mode of
 * the processor.
 */
#include "lang/lang.h"

#include <string.h>

#define DOUBLE_FRACTION 52
#define DOUBLE_BIAS     1023
#define DOUBLE_SPECIAL  0x7ff /* the exponent of infinities and NaNs */

typedef struct format {
    int exponent_bits, fraction_bits;
} format;

static const format half_format = {5, 10}, bfloat16_format = {8, 7};

static uint16_t narrow(double value, format to)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    uint16_t sign = (uint16_t)(bits >> 63 << 15);
    int exponent = (int)(bits >> DOUBLE_FRACTION & DOUBLE_SPECIAL);
    uint64_t fraction = bits & ((UINT64_C(1) << DOUBLE_FRACTION) - 1);
    int special = (1 << to.exponent_bits) - 1;
    uint16_t infinity = (uint16_t)(special << to.fraction_bits);

    if (exponent == DOUBLE_SPECIAL) {
        if (fraction == 0) {
            return sign | infinity;
        }
        uint16_t quiet = (uint16_t)(1 << (to.fraction_bits - 1));
        return sign | infinity | quiet |
               (uint16_t)(fraction >> (DOUBLE_FRACTION - to.fraction_bits));
    }
    int target = exponent - DOUBLE_BIAS + (special >> 1);
    if (target >= special) {
        return sign | infinity;
    }
    /* a subnormal double is far below the smallest of either format: that it has no leading one
     * does not matter */
    uint64_t significand = fraction | UINT64_C(1) << DOUBLE_FRACTION;
    int shift = DOUBLE_FRACTION - to.fraction_bits;
    if (target < 1) {
        shift += 1 - target;
        target = 1;
        if (shift > DOUBLE_FRACTION + 1) {
            return sign;
        }
    }
    uint64_t kept = significand >> shift;
    uint64_t rest = significand & ((UINT64_C(1) << shift) - 1);
    uint64_t tie = UINT64_C(1) << (shift - 1);
    kept += rest > tie || (rest == tie && (kept & 1));
    /* the leading one of a normal number adds the last unit of the exponent, and so does a carry */
    return sign | (uint16_t)(((uint64_t)(target - 1) << to.fraction_bits) + kept);
}

uint16_t qn_double_to_half(double value)
{
    return narrow(value, half_format);
}

uint16_t qn_double_to_bfloat16(double value)
{
    return narrow(value, bfloat16_format);
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
