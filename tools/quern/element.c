/* SPDX-License-Identifier: MIT
 *
 * Elements of arrays on the host. In: numbers. Out: bytes, as every GPU has them: little-endian;
 * and what NumPy calls their dtypes. The thing to know: float16 and bfloat16 are converted to and
 * from double by their fields (5 exponent and 10 fraction bits, or 8 and 7). Widening is exact;
 * narrowing rounds once, to nearest with ties to even.
 */
#include "cli.h"

#include <math.h>
#include <string.h>

static const struct {
    const char *code;
    quern_dtype dtype;
} codes[] = {
    {"b1", QUERN_BOOL},      {"i1", QUERN_INT8},        {"i2", QUERN_INT16},
    {"i4", QUERN_INT32},     {"i8", QUERN_INT64},       {"u1", QUERN_UINT8},
    {"u2", QUERN_UINT16},    {"u4", QUERN_UINT32},      {"u8", QUERN_UINT64},
    {"f2", QUERN_FLOAT16},   {"f4", QUERN_FLOAT32},     {"f8", QUERN_FLOAT64},
    {"c8", QUERN_COMPLEX64}, {"c16", QUERN_COMPLEX128},
};

quern_dtype cli_dtype_of_code(const char *code)
{
    for (size_t k = 0; k < CLI_COUNT(codes); k++) {
        if (strcmp(code, codes[k].code) == 0) {
            return codes[k].dtype;
        }
    }
    return QUERN_DTYPE_NONE;
}

const char *cli_dtype_code(quern_dtype dtype)
{
    for (size_t k = 0; k < CLI_COUNT(codes); k++) {
        if (codes[k].dtype == dtype) {
            return codes[k].code;
        }
    }
    return "V2";
}

bool cli_is_complex(quern_dtype dtype)
{
    return dtype == QUERN_COMPLEX64 || dtype == QUERN_COMPLEX128;
}

static int fraction_bits(quern_dtype dtype)
{
    return dtype == QUERN_FLOAT16 ? 10 : 7;
}

double cli_small_to_double(uint16_t bits, quern_dtype dtype)
{
    int fraction = fraction_bits(dtype), bias = (1 << (14 - fraction)) - 1;
    int exponent = (bits & 0x7fff) >> fraction, most = 2 * bias + 1;
    int digits = bits & ((1 << fraction) - 1);
    double value;
    if (exponent == most) {
        value = digits ? NAN : INFINITY;
    } else if (exponent == 0) {
        value = ldexp(digits, 1 - bias - fraction);
    } else {
        value = ldexp(digits | 1 << fraction, exponent - bias - fraction);
    }
    return bits & 0x8000 ? -value : value;
}

uint16_t cli_small_from_double(double value, quern_dtype dtype)
{
    int fraction = fraction_bits(dtype), bias = (1 << (14 - fraction)) - 1;
    uint16_t sign = signbit(value) ? 0x8000 : 0;
    uint16_t infinity = (uint16_t)((2 * bias + 1) << fraction);
    if (isnan(value)) {
        return sign | infinity | (uint16_t)(1 << (fraction - 1));
    }
    if (isinf(value)) {
        return sign | infinity;
    }
    if (value == 0) {
        return sign;
    }
    int exponent;
    frexp(value, &exponent); /* |value| < 2^exponent */
    exponent = exponent < 2 - bias ? 2 - bias : exponent;
    if (exponent - 1 > bias) {
        return sign | infinity;
    }
    /* In units of the last place. A carry out of the fraction is right as it is: it raises the
     * exponent, even from a subnormal to the first normal number and from the largest to
     * infinity. */
    double units = nearbyint(ldexp(fabs(value), fraction + 1 - exponent));
    int field = exponent - 1 + bias;
    return sign | (uint16_t)(units + (double)(field - 1) * (1 << fraction));
}

void cli_element_store(void *to, quern_dtype dtype, double real, double imag, uint64_t bits)
{
    switch (dtype) {
    case QUERN_FLOAT16:
    case QUERN_BFLOAT16:
        memcpy(to, &(uint16_t){cli_small_from_double(real, dtype)}, 2);
        break;
    case QUERN_FLOAT32:
        memcpy(to, &(float){(float)real}, 4);
        break;
    case QUERN_FLOAT64:
        memcpy(to, &real, 8);
        break;
    case QUERN_COMPLEX64:
        memcpy(to, (float[2]){(float)real, (float)imag}, 8);
        break;
    case QUERN_COMPLEX128:
        memcpy(to, (double[2]){real, imag}, 16);
        break;
    default: /* bool and the integers */
        memcpy(to, &bits, quern_dtype_size(dtype));
    }
}
