/* SPDX-License-Identifier: MIT
 *
 * Elements of arrays on the host. In: numbers. Out: bytes, as every GPU has them: little-endian.
 * The thing to know: small floats go to and from double by their fields; exact one way, and rounded
 * once, to nearest with ties to even, the other.
 */
#include "cli.h"

#include <math.h>
#include <string.h>

bool cli_is_complex(quern_dtype dtype)
{
    return dtype == QUERN_COMPLEX64 || dtype == QUERN_COMPLEX128;
}

bool cli_is_whole(quern_dtype dtype)
{
    return dtype >= QUERN_BOOL && dtype <= QUERN_UINT64;
}

bool cli_is_small(quern_dtype dtype)
{
    return dtype == QUERN_FLOAT16 || dtype == QUERN_BFLOAT16 || dtype == QUERN_FLOAT8_E4M3 ||
           dtype == QUERN_FLOAT8_E5M2;
}

bool cli_is_record(quern_dtype dtype)
{
    return dtype >= QUERN_DTYPE_RECORD;
}

quern_dtype cli_dtype_of_code(const char *code)
{
    for (int d = QUERN_BOOL; quern_dtype_size((quern_dtype)d) > 0 && code[0] != 'V'; d++) {
        if (strcmp(code, quern_dtype_descr((quern_dtype)d) + 1) == 0) {
            return (quern_dtype)d;
        }
    }
    return QUERN_DTYPE_NONE;
}

/* ---- small floats --------------------------------------------------------------------------- */

typedef struct format {
    int exponent, fraction; /* bits of them */
    unsigned infinity;      /* the code of it; of e4m3, which has none, that of NaN */
    bool saturates;         /* finite numbers that are too large become the largest */
} format;

static format format_of(quern_dtype dtype)
{
    switch (dtype) {
    case QUERN_FLOAT16:
        return (format){5, 10, 0x7c00, false};
    case QUERN_BFLOAT16:
        return (format){8, 7, 0x7f80, false};
    case QUERN_FLOAT8_E4M3:
        return (format){4, 3, 0x7f, true};
    default:
        return (format){5, 2, 0x7c, true};
    }
}

double cli_small_to_double(uint16_t bits, quern_dtype dtype)
{
    const format f = format_of(dtype);
    const unsigned sign = 1u << (f.exponent + f.fraction), code = bits & (sign - 1);
    const int bias = (1 << (f.exponent - 1)) - 1, exponent = (int)(code >> f.fraction);
    const int digits = (int)(code & ((1u << f.fraction) - 1));
    double value;
    if (code >= f.infinity) {
        value = code > f.infinity || dtype == QUERN_FLOAT8_E4M3 ? NAN : INFINITY;
    } else if (exponent == 0) {
        value = ldexp(digits, 1 - bias - f.fraction);
    } else {
        value = ldexp(digits | 1 << f.fraction, exponent - bias - f.fraction);
    }
    return bits & sign ? -value : value;
}

uint16_t cli_small_from_double(double value, quern_dtype dtype)
{
    const format f = format_of(dtype);
    const int bias = (1 << (f.exponent - 1)) - 1;
    const unsigned sign = signbit(value) ? 1u << (f.exponent + f.fraction) : 0;
    const unsigned quiet = dtype == QUERN_FLOAT8_E4M3 ? 0 : 1u << (f.fraction - 1);
    const unsigned most = f.infinity - f.saturates; /* what is too large becomes that */
    if (isnan(value)) {
        return (uint16_t)(sign | f.infinity | quiet);
    }
    if (isinf(value)) {
        return (uint16_t)(sign | (dtype == QUERN_FLOAT8_E4M3 ? most : f.infinity));
    }
    if (value == 0) {
        return (uint16_t)sign;
    }
    int exponent;
    frexp(value, &exponent); /* |value| < 2^exponent */
    exponent = exponent < 2 - bias ? 2 - bias : exponent;
    if (exponent - 1 > bias + 1) {
        return (uint16_t)(sign | most);
    }
    /* In units of the last place. A carry out of the fraction is right as it is: it raises the
     * exponent, even from a subnormal to the first normal number and from the largest to
     * infinity. */
    double units = nearbyint(ldexp(fabs(value), f.fraction + 1 - exponent));
    int field = exponent - 1 + bias;
    unsigned code = (unsigned)(units + (double)(field - 1) * (1 << f.fraction));
    return (uint16_t)(sign | (code > most ? most : code));
}

double cli_small_load(const void *from, quern_dtype dtype)
{
    uint16_t bits = 0;
    memcpy(&bits, from, quern_dtype_size(dtype));
    return cli_small_to_double(bits, dtype);
}

void cli_element_store(void *to, quern_dtype dtype, double real, double imag, uint64_t bits)
{
    switch (dtype) {
    case QUERN_FLOAT16:
    case QUERN_BFLOAT16:
    case QUERN_FLOAT8_E4M3:
    case QUERN_FLOAT8_E5M2:
        memcpy(to, &(uint16_t){cli_small_from_double(real, dtype)}, quern_dtype_size(dtype));
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
