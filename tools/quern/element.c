/* SPDX-License-Identifier: MIT
 *
 * Elements of arrays on the host. In: numbers. Out: bytes, as every GPU has them: little-endian.
 * The thing to know: small floats go to and from double by their fields; exact one way, and rounded
 * once, to nearest with ties to even, the other.
 */
#include "elements.h"

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

cli_small cli_small_of(quern_dtype dtype)
{
    switch (dtype) {
    case QUERN_FLOAT16:
        return (cli_small){5, 10, 0x7c00, 0};
    case QUERN_BFLOAT16:
        return (cli_small){8, 7, 0x7f80, 0};
    case QUERN_FLOAT8_E4M3:
        return (cli_small){4, 3, 0x7f, 1};
    default:
        return (cli_small){5, 2, 0x7c, 1};
    }
}

double cli_small_to_double(uint16_t bits, quern_dtype dtype)
{
    const cli_small f = cli_small_of(dtype);
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
    return (uint16_t)cli_small_code(value, cli_small_of(dtype));
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
