/* SPDX-License-Identifier: MIT
 *
 * Elements from one dtype to another, with NumPy's results. In: elements in C order. Out: the same
 * of another dtype. Integers wrap, floats lose their fraction, complex numbers lose their imaginary
 * part, and anything but zero is True. A float outside the range of the integer, for which C and
 * NumPy promise nothing, gives what NumPy gives on x86-64.
 */
#include "cli.h"

#include <math.h>
#include <string.h>

/* An element between two dtypes. */
typedef struct element {
    bool is_integer, is_negative;
    uint64_t bits; /* of an integer, extended by its sign */
    double re, im;
} element;

static element integer(uint64_t bits, bool is_signed)
{
    bool negative = is_signed && bits >> 63;
    return (element){true, negative, bits, negative ? (double)(int64_t)bits : (double)bits, 0};
}

#define LOAD(type, is_signed)                                                                      \
    {                                                                                              \
        type value;                                                                                \
        memcpy(&value, from, sizeof value);                                                        \
        return integer((uint64_t)value, is_signed);                                                \
    }

static element load(const void *from, quern_dtype dtype)
{
    float single[2] = {0, 0};
    double parts[2] = {0, 0};
    switch (dtype) {
    case QUERN_BOOL:
        return integer(*(const uint8_t *)from != 0, false);
    case QUERN_INT8:
        LOAD(int8_t, true)
    case QUERN_INT16:
        LOAD(int16_t, true)
    case QUERN_INT32:
        LOAD(int32_t, true)
    case QUERN_INT64:
        LOAD(int64_t, true)
    case QUERN_UINT8:
        LOAD(uint8_t, false)
    case QUERN_UINT16:
        LOAD(uint16_t, false)
    case QUERN_UINT32:
        LOAD(uint32_t, false)
    case QUERN_UINT64:
        LOAD(uint64_t, false)
    case QUERN_FLOAT16:
    case QUERN_BFLOAT16:
    case QUERN_FLOAT8_E4M3:
    case QUERN_FLOAT8_E5M2:
        return (element){.re = cli_small_load(from, dtype)};
    case QUERN_FLOAT32:
    case QUERN_COMPLEX64:
        memcpy(single, from, quern_dtype_size(dtype));
        return (element){.re = (double)single[0], .im = (double)single[1]};
    default:
        memcpy(parts, from, quern_dtype_size(dtype));
        return (element){.re = parts[0], .im = parts[1]};
    }
}

/* What x86-64's conversion to a signed integer of `bits` bits gives: the lowest number if it does
 * not fit. */
static uint64_t truncated(double value, int bits)
{
    double limit = ldexp(1, bits - 1), whole = trunc(value);
    bool fits = whole >= -limit && whole < limit;
    return fits ? (uint64_t)(int64_t)whole : (uint64_t)-1 << (bits - 1);
}

static uint64_t integer_of(double value, quern_dtype dtype)
{
    size_t size = quern_dtype_size(dtype);
    if (dtype == QUERN_UINT64) {
        return value >= 0x1p63 ? truncated(value - 0x1p63, 64) ^ UINT64_C(1) << 63
                               : truncated(value, 64);
    }
    return truncated(value, size <= 2 || dtype == QUERN_INT32 ? 32 : 64);
}

static void store(void *to, quern_dtype dtype, const element *e)
{
    if (dtype == QUERN_BOOL) {
        *(uint8_t *)to = e->is_integer ? e->bits != 0 : e->re != 0 || e->im != 0;
        return;
    }
    if (cli_is_whole(dtype)) {
        cli_element_store(to, dtype, 0, 0, e->is_integer ? e->bits : integer_of(e->re, dtype));
        return;
    }
    double re = e->re;
    bool single = dtype == QUERN_FLOAT32 || dtype == QUERN_COMPLEX64 || cli_is_small(dtype);
    if (e->is_integer && single) { /* round to float32 first: NumPy makes float16 from that */
        re = (double)(e->is_negative ? (float)(int64_t)e->bits : (float)e->bits);
    }
    cli_element_store(to, dtype, re, e->im, 0);
}

void cli_convert(void *to, quern_dtype to_dtype, const void *from, quern_dtype from_dtype,
                 int64_t count)
{
    size_t from_size = quern_dtype_size(from_dtype), to_size = quern_dtype_size(to_dtype);
    const char *p = from;
    char *q = to;
    for (int64_t k = 0; k < count; k++, p += from_size, q += to_size) {
        element e = load(p, from_dtype);
        store(q, to_dtype, &e);
    }
}
