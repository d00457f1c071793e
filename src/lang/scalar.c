/* SPDX-License-Identifier: MIT
 *
 * Scalars that a caller passes, converted to the dtype that their parameter has. In: a quern_value.
 * Out: the bytes of one element.
 *
 * A number must lie in the range of the dtype, even of a float dtype. NaN and infinity fit only
 * floats, and a complex number fits only a complex dtype. Where an integer is wanted, a float loses
 * its fraction, as in NumPy and CuPy; the caller learns of it, and can warn. Any real number fits
 * bool, and only zero is false. A scalar that states a dtype takes that dtype first, by the same
 * rules.
 */
#include "lang/lang.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* A value between dtypes: as wide as any of its kind. */
typedef struct number {
    qn_dtype_kind kind;
    bool negative; /* integers: sign and magnitude, so that both 64-bit kinds fit */
    uint64_t magnitude;
    double real, imag; /* floats and complex */
    bool cut;          /* a float lost its fraction */
} number;

static number read_value(const quern_value *value, const qn_dtype_info *own)
{
    number n = {.kind = own->kind};
    switch (own->kind) {
    case QN_KIND_BOOL:
        n.magnitude = value->as.integer != 0;
        break;
    case QN_KIND_UINT:
        /* a negative number stated as unsigned: messages show it as it was written */
        n.negative = own->size < 8 && value->as.integer < 0;
        n.magnitude = n.negative ? 0 - value->as.natural : value->as.natural;
        break;
    case QN_KIND_INT:
        n.negative = value->as.integer < 0;
        n.magnitude = n.negative ? 0 - (uint64_t)value->as.integer : (uint64_t)value->as.integer;
        break;
    case QN_KIND_FLOAT:
        n.real = value->as.real;
        break;
    case QN_KIND_COMPLEX:
        n.real = value->as.parts[0];
        n.imag = value->as.parts[1];
        break;
    case QN_KIND_RECORD: /* no number: refused before */
        break;
    }
    return n;
}

/* ---- integers ------------------------------------------------------------------------------- */

static bool integer_fits(const number *n, const qn_dtype_info *to)
{
    unsigned bits = to->size * 8;
    if (to->kind == QN_KIND_UINT) {
        return (!n->negative || n->magnitude == 0) && (bits == 64 || n->magnitude >> bits == 0);
    }
    uint64_t limit = UINT64_C(1) << (bits - 1);
    return n->magnitude < limit || (n->negative && n->magnitude == limit);
}

static quern_status fail_range(const number *n, const qn_dtype_info *to, qn_str name)
{
    char range[64];
    unsigned bits = to->size * 8;
    if (to->kind == QN_KIND_UINT) {
        snprintf(range, sizeof range, "0 to %" PRIu64, UINT64_MAX >> (64 - bits));
    } else {
        int64_t most = INT64_MAX >> (64 - bits);
        snprintf(range, sizeof range, "%" PRId64 " to %" PRId64, -most - 1, most);
    }
    if (n->kind == QN_KIND_FLOAT) {
        return qn_fail(QUERN_ERROR_VALUE, "%.15g does not fit parameter \"%.*s\": %s holds %s",
                       n->real, (int)name.length, name.data, to->name, range);
    }
    return qn_fail(QUERN_ERROR_VALUE, "%s%" PRIu64 " does not fit parameter \"%.*s\": %s holds %s",
                   n->negative ? "-" : "", n->magnitude, (int)name.length, name.data, to->name,
                   range);
}

/* Drop the fraction: round towards zero. */
static quern_status float_to_integer(number *n, const qn_dtype_info *to, qn_str name)
{
    if (!isfinite(n->real)) {
        return qn_fail(QUERN_ERROR_VALUE,
                       "%s cannot be given to parameter \"%.*s\": %s holds only finite integers",
                       isnan(n->real) ? "NaN" : "infinity", (int)name.length, name.data, to->name);
    }
    double magnitude = trunc(fabs(n->real));
    if (magnitude >= 0x1p64) {
        return fail_range(n, to, name);
    }
    n->magnitude = (uint64_t)magnitude;
    n->negative = n->real < 0 && n->magnitude > 0;
    n->cut = magnitude != fabs(n->real);
    return integer_fits(n, to) ? QUERN_OK : fail_range(n, to, name);
}

static quern_status write_integer(void *bytes, number *n, const qn_dtype_info *to, qn_str name)
{
    if (n->kind == QN_KIND_FLOAT) {
        QN_TRY(float_to_integer(n, to, name));
    } else if (!integer_fits(n, to)) {
        return fail_range(n, to, name);
    }
    uint64_t value = n->negative ? 0 - n->magnitude : n->magnitude;
    uint8_t value8 = (uint8_t)value;
    uint16_t value16 = (uint16_t)value;
    uint32_t value32 = (uint32_t)value;
    const void *from = to->size == 1   ? (const void *)&value8
                       : to->size == 2 ? (const void *)&value16
                       : to->size == 4 ? (const void *)&value32
                                       : (const void *)&value;
    memcpy(bytes, from, to->size);
    return QUERN_OK;
}

/* ---- floats --------------------------------------------------------------------------------- */

static bool is_integer(const number *n)
{
    return n->kind == QN_KIND_BOOL || n->kind == QN_KIND_INT || n->kind == QN_KIND_UINT;
}

/* A double that rounds to 16 bits as the number itself would: the low bits of an integer wider than
 * a double's significand are folded into one, which keeps it off the ties. */
static double to_double_for_narrowing(const number *n)
{
    if (!is_integer(n)) {
        return n->real;
    }
    uint64_t magnitude = n->magnitude;
    if (magnitude >> 53) {
        uint64_t low = magnitude & 0xfff;
        magnitude = (magnitude & ~UINT64_C(0xfff)) | (low ? 0x800 : 0);
    }
    return n->negative ? -(double)magnitude : (double)magnitude;
}

static double to_double(const number *n)
{
    if (!is_integer(n)) {
        return n->real;
    }
    return n->negative ? -(double)n->magnitude : (double)n->magnitude;
}

static float to_float(const number *n)
{
    if (!is_integer(n)) {
        return (float)n->real;
    }
    return n->negative ? -(float)n->magnitude : (float)n->magnitude;
}

static quern_status fail_magnitude(double value, const qn_dtype_info *to, qn_str name)
{
    const char *most = to->dtype == QUERN_FLOAT16       ? "65504"
                       : to->dtype == QUERN_BFLOAT16    ? "3.3895314e+38"
                       : to->dtype == QUERN_FLOAT8_E4M3 ? "448"
                       : to->dtype == QUERN_FLOAT8_E5M2 ? "57344"
                                                        : "3.4028235e+38";
    if (to->dtype == QUERN_FLOAT8_E4M3) {
        return qn_fail(QUERN_ERROR_VALUE,
                       "%.15g does not fit parameter \"%.*s\": %s holds -%s to %s, NaN and no "
                       "infinity",
                       value, (int)name.length, name.data, to->name, most, most);
    }
    return qn_fail(QUERN_ERROR_VALUE,
                   "%.15g does not fit parameter \"%.*s\": %s holds -%s to %s, and infinity where "
                   "that is passed",
                   value, (int)name.length, name.data, to->name, most, most);
}

/* Only infinity is infinity. */
static bool overflows(double before, double after)
{
    return isinf(after) && !isinf(before);
}

/* Of a number that is too large device code makes the largest; a scalar is refused, as of any
 * dtype. What rounds to the largest still fits; infinity does where the dtype has it. */
static quern_status write_float8(void *bytes, double wide, const qn_dtype_info *to, qn_str name)
{
    const bool e4m3 = to->dtype == QUERN_FLOAT8_E4M3, infinite = isinf(wide) && !e4m3;
    if (!infinite && (e4m3 ? fabs(wide) > 464 : fabs(wide) >= 61440)) {
        return fail_magnitude(wide, to, name);
    }
    *(uint8_t *)bytes =
        !infinite ? qn_double_to_float8(wide, to->dtype) : (uint8_t)(wide < 0 ? 0xfc : 0x7c);
    return QUERN_OK;
}

static quern_status write_float(void *bytes, const number *n, const qn_dtype_info *to, qn_str name)
{
    if (to->dtype == QUERN_FLOAT64) {
        memcpy(bytes, &(double){to_double(n)}, sizeof(double));
        return QUERN_OK;
    }
    double wide = to_double_for_narrowing(n), narrow;
    if (to->size == 1) {
        return write_float8(bytes, wide, to, name);
    }
    if (to->dtype == QUERN_FLOAT32) {
        float single = to_float(n);
        narrow = (double)single;
        memcpy(bytes, &single, sizeof single);
    } else {
        bool half = to->dtype == QUERN_FLOAT16;
        uint16_t bits = half ? qn_double_to_half(wide) : qn_double_to_bfloat16(wide);
        narrow = (double)(half ? qn_half_to_float(bits) : qn_bfloat16_to_float(bits));
        memcpy(bytes, &bits, sizeof bits);
    }
    return overflows(wide, narrow) ? fail_magnitude(wide, to, name) : QUERN_OK;
}

static quern_status write_complex(void *bytes, const number *n, const qn_dtype_info *to,
                                  qn_str name)
{
    if (to->dtype == QUERN_COMPLEX128) {
        memcpy(bytes, (double[2]){to_double(n), n->imag}, 2 * sizeof(double));
        return QUERN_OK;
    }
    const double wide[2] = {to_double(n), n->imag};
    const float parts[2] = {to_float(n), (float)n->imag};
    memcpy(bytes, parts, sizeof parts);
    for (int k = 0; k < 2; k++) {
        if (overflows(wide[k], (double)parts[k])) {
            return fail_magnitude(wide[k], to, name);
        }
    }
    return QUERN_OK;
}

/* ---- all ------------------------------------------------------------------------------------ */

static quern_status write_number(void *bytes, number *n, const qn_dtype_info *to, qn_str name)
{
    if (to->kind == QN_KIND_COMPLEX) {
        return write_complex(bytes, n, to, name);
    }
    if (n->kind == QN_KIND_COMPLEX) {
        return qn_fail(QUERN_ERROR_TYPE,
                       "a complex number cannot be given to parameter \"%.*s\", which is %s: pass "
                       "its real part, or make the parameter complex",
                       (int)name.length, name.data, to->name);
    }
    if (to->kind == QN_KIND_BOOL) {
        *(uint8_t *)bytes = n->magnitude != 0 || n->real != 0;
        return QUERN_OK;
    }
    if (to->kind == QN_KIND_FLOAT) {
        return write_float(bytes, n, to, name);
    }
    return write_integer(bytes, n, to, name);
}

/* Give a scalar the precision or range of the dtype that it states. */
static quern_status take_own_dtype(number *n, const qn_dtype_info *own, qn_str name)
{
    unsigned char bytes[16];
    QN_TRY(write_number(bytes, n, own, name));
    float parts[2];
    uint16_t bits;
    switch (own->dtype) {
    case QUERN_FLOAT16:
        memcpy(&bits, bytes, sizeof bits);
        n->real = (double)qn_half_to_float(bits);
        break;
    case QUERN_BFLOAT16:
        memcpy(&bits, bytes, sizeof bits);
        n->real = (double)qn_bfloat16_to_float(bits);
        break;
    case QUERN_FLOAT8_E4M3:
    case QUERN_FLOAT8_E5M2:
        n->real = (double)qn_float8_to_float(bytes[0], own->dtype);
        break;
    case QUERN_FLOAT32:
        n->real = (double)(float)n->real;
        break;
    case QUERN_COMPLEX64:
        memcpy(parts, bytes, sizeof parts);
        n->real = (double)parts[0];
        n->imag = (double)parts[1];
        break;
    default:
        break;
    }
    return QUERN_OK;
}

quern_status qn_scalar_convert(void *bytes, quern_dtype to, const quern_value *value, qn_str name,
                               bool *cut)
{
    const qn_dtype_info *own = qn_dtype_find((quern_dtype)value->dtype);
    const qn_dtype_info *target = qn_dtype_find(to);
    if ((value->kind != QUERN_VALUE_LITERAL && value->kind != QUERN_VALUE_SCALAR) || !own ||
        own->kind == QN_KIND_RECORD) {
        return qn_fail(QUERN_ERROR_TYPE, "the argument of parameter \"%.*s\" is not a number",
                       (int)name.length, name.data);
    }
    if (!target) {
        return qn_fail(QUERN_ERROR_INTERNAL, "parameter \"%.*s\" has no dtype", (int)name.length,
                       name.data);
    }
    if (target->kind == QN_KIND_RECORD) {
        return qn_fail(
            QUERN_ERROR_TYPE,
            "a number cannot be given to parameter \"%.*s\", which is the record %s: pass "
            "quern_value_struct()",
            (int)name.length, name.data, target->name);
    }
    number n = read_value(value, own);
    if (value->kind == QUERN_VALUE_SCALAR) {
        QN_TRY(take_own_dtype(&n, own, name));
    }
    QN_TRY(write_number(bytes, &n, target, name));
    if (cut) {
        *cut = n.cut;
    }
    return QUERN_OK;
}

/* ---- the reverse ---------------------------------------------------------------------------- */

static double load_real(uint32_t size, quern_dtype dtype, const void *bytes)
{
    uint16_t half;
    float single;
    double real;
    switch (size) {
    case 1:
        return qn_float8_to_float(*(const uint8_t *)bytes, dtype);
    case 2:
        memcpy(&half, bytes, 2);
        return dtype == QUERN_FLOAT16 ? qn_half_to_float(half) : qn_bfloat16_to_float(half);
    case 4:
        memcpy(&single, bytes, 4);
        return single;
    default:
        memcpy(&real, bytes, 8);
        return real;
    }
}

quern_value qn_scalar_value(quern_dtype dtype, const void *bytes)
{
    const qn_dtype_info *info = qn_dtype_find(dtype);
    quern_value v = {QUERN_VALUE_SCALAR, (int32_t)dtype, {0}};
    uint32_t part = info->size / 2;
    unsigned unused = 64 - 8 * info->size;
    switch (info->kind) {
    case QN_KIND_FLOAT:
        v.as.real = load_real(info->size, dtype, bytes);
        break;
    case QN_KIND_COMPLEX:
        v.as.parts[0] = load_real(part, QUERN_DTYPE_NONE, bytes);
        v.as.parts[1] = load_real(part, QUERN_DTYPE_NONE, (const char *)bytes + part);
        break;
    default:
        memcpy(&v.as.natural, bytes, info->size);
        if (info->kind == QN_KIND_INT) {
            v.as.integer = (int64_t)(v.as.natural << unused) >> unused;
        }
    }
    return v;
}
