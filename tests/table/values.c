/* SPDX-License-Identifier: MIT
 *
 * values: dtypes, and their elements on the host.
 */
#include "lang/lang.h"
#include "table.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- sets of dtypes ------------------------------------------------------------------------- */

bool any_dtype(quern_dtype d)
{
    return d != QUERN_DTYPE_NONE;
}

bool any_real(quern_dtype d)
{
    return !complexes(d);
}

bool any_ordered(quern_dtype d)
{
    return d != QUERN_BOOL && !complexes(d);
}

bool any_number(quern_dtype d)
{
    return d != QUERN_BOOL && !halves(d);
}

bool integers(quern_dtype d)
{
    return d >= QUERN_INT8 && d <= QUERN_UINT64;
}

bool narrow_integers(quern_dtype d)
{
    return quern_dtype_size(d) <= 2 && !halves(d);
}

bool wide_floats(quern_dtype d)
{
    return d == QUERN_FLOAT32 || d == QUERN_FLOAT64;
}

bool halves(quern_dtype d) /* and narrower floats */
{
    return d == QUERN_FLOAT16 || d == QUERN_BFLOAT16 || eighths(d);
}

bool eighths(quern_dtype d)
{
    return d == QUERN_FLOAT8_E4M3 || d == QUERN_FLOAT8_E5M2;
}

bool only_float32(quern_dtype d)
{
    return d == QUERN_FLOAT32;
}

bool only_int32(quern_dtype d)
{
    return d == QUERN_INT32;
}

bool complexes(quern_dtype d)
{
    return d == QUERN_COMPLEX64 || d == QUERN_COMPLEX128;
}

quern_dtype output_dtype(const char *list, int output, quern_dtype input)
{
    char type[16];
    for (; output > 0; output--) {
        list = strchr(list, ',') + 2;
    }
    snprintf(type, sizeof type, "%.*s", (int)strcspn(list, " "), list);
    quern_dtype stated = quern_dtype_from_name(type);
    return stated != QUERN_DTYPE_NONE ? stated : input;
}

/* ---- numbers -------------------------------------------------------------------------------- */

number whole(int64_t value)
{
    return (number){(double)value, 0, value};
}

static double saturated(double v, quern_dtype dtype)
{
    const double largest = dtype == QUERN_FLOAT8_E4M3 ? 448 : 57344;
    return isfinite(v) && fabs(v) > largest ? copysign(largest, v) : v;
}

void number_store(void *bytes, quern_dtype dtype, number v)
{
    uint16_t half;
    float f[2] = {(float)v.re, (float)v.im};
    double d[2] = {v.re, v.im};
    switch (dtype) {
    case QUERN_BOOL:
        *(unsigned char *)bytes = v.re != 0;
        break;
    case QUERN_FLOAT8_E4M3:
    case QUERN_FLOAT8_E5M2:
        *(uint8_t *)bytes = qn_double_to_float8(saturated(v.re, dtype), dtype);
        break;
    case QUERN_FLOAT16:
    case QUERN_BFLOAT16:
        half = dtype == QUERN_FLOAT16 ? qn_double_to_half(v.re) : qn_double_to_bfloat16(v.re);
        memcpy(bytes, &half, 2);
        break;
    case QUERN_FLOAT32:
    case QUERN_COMPLEX64:
        memcpy(bytes, f, quern_dtype_size(dtype));
        break;
    case QUERN_FLOAT64:
    case QUERN_COMPLEX128:
        memcpy(bytes, d, quern_dtype_size(dtype));
        break;
    default: /* integers: the low bytes */
        memcpy(bytes, &v.whole, quern_dtype_size(dtype));
    }
}

static int64_t integer_load(const void *bytes, quern_dtype dtype)
{
    size_t size = quern_dtype_size(dtype);
    uint64_t bits = 0;
    memcpy(&bits, bytes, size);
    unsigned unused = 64 - 8 * (unsigned)size;
    bool is_signed = dtype <= QUERN_INT64;
    return is_signed ? (int64_t)(bits << unused) >> unused : (int64_t)bits;
}

number number_load(const void *bytes, quern_dtype dtype)
{
    number v = {0, 0, 0};
    uint16_t half;
    float f[2] = {0, 0};
    switch (dtype) {
    case QUERN_FLOAT8_E4M3:
    case QUERN_FLOAT8_E5M2:
        v.re = qn_float8_to_float(*(const uint8_t *)bytes, dtype);
        break;
    case QUERN_FLOAT16:
    case QUERN_BFLOAT16:
        memcpy(&half, bytes, 2);
        v.re = dtype == QUERN_FLOAT16 ? qn_half_to_float(half) : qn_bfloat16_to_float(half);
        break;
    case QUERN_FLOAT32:
    case QUERN_COMPLEX64:
        memcpy(f, bytes, quern_dtype_size(dtype));
        v.re = f[0];
        v.im = f[1];
        break;
    case QUERN_FLOAT64:
    case QUERN_COMPLEX128:
        memcpy(&v, bytes, quern_dtype_size(dtype));
        break;
    case QUERN_BOOL:
        v.whole = *(const unsigned char *)bytes;
        v.re = (double)v.whole;
        break;
    default:
        v.whole = integer_load(bytes, dtype);
        v.re = (double)v.whole;
    }
    return v;
}

bool number_is(const void *got, quern_dtype dtype, number expected, double reach)
{
    if (reach == 0) {
        unsigned char bytes[16];
        number_store(bytes, dtype, expected);
        return memcmp(bytes, got, quern_dtype_size(dtype)) == 0;
    }
    return fabs(number_load(got, dtype).re - expected.re) <= reach * (1 + fabs(expected.re));
}

void check(quern_status status, const char *what)
{
    if (status != QUERN_OK) {
        fprintf(stderr, "%s: %s", what, quern_last_error_text());
        exit(1);
    }
}
