/* SPDX-License-Identifier: MIT
 *
 * Floats as NumPy prints them. In: a value, its dtype, and for a column of values the format chosen
 * for all of them. Out: text.
 *
 * The digits are the fewest that tell a number from its neighbours of the same dtype, and in a
 * column at most eight after the point: numpy's `precision`.
 */
#include "cli.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PRECISION 8

/* Decimal digits that every number of a dtype keeps, those that tell all numbers apart, and the
 * smallest normal number. */
typedef struct float_kind {
    int kept, enough;
    double least_normal;
    double scientific_from; /* numpy's limit in a column */
} float_kind;

static float_kind kind_of(quern_dtype dtype)
{
    switch (dtype) {
    case QUERN_FLOAT16:
        return (float_kind){3, 5, 0x1p-14, 1e3};
    case QUERN_BFLOAT16:
        return (float_kind){2, 4, 0x1p-126, 1e2};
    case QUERN_FLOAT32:
    case QUERN_COMPLEX64:
        return (float_kind){6, 9, 0x1p-126, 1e6};
    default:
        return (float_kind){15, 17, 0x1p-1022, 1e8};
    }
}

/* Is `text` read as `value` in this dtype? */
static bool reads_as(const char *text, double value, quern_dtype dtype)
{
    if (dtype == QUERN_FLOAT16 || dtype == QUERN_BFLOAT16) {
        uint16_t bits = cli_small_from_double(strtod(text, NULL), dtype);
        return cli_small_to_double(bits, dtype) == value;
    }
    if (dtype == QUERN_FLOAT32 || dtype == QUERN_COMPLEX64) {
        return (double)strtof(text, NULL) == value;
    }
    return strtod(text, NULL) == value;
}

void cli_shortest(cli_digits *out, double magnitude, quern_dtype dtype)
{
    if (magnitude == 0) {
        *out = (cli_digits){"0", 1, 1};
        return;
    }
    float_kind kind = kind_of(dtype);
    char text[40];
    /* Fewer digits than `kept` need no try: they come out as zeros at the end. */
    for (int digits = magnitude < kind.least_normal ? 1 : kind.kept; digits <= kind.enough;
         digits++) {
        snprintf(text, sizeof text, "%.*e", digits - 1, magnitude);
        if (digits == kind.enough || reads_as(text, magnitude, dtype)) {
            break;
        }
    }
    char *exponent = strchr(text, 'e');
    out->point = atoi(exponent + 1) + 1;
    out->count = 0;
    for (char *p = text; p < exponent; p++) {
        if (*p != '.') {
            out->digits[out->count++] = *p;
        }
    }
    while (out->count > 1 && out->digits[out->count - 1] == '0') {
        out->count--;
    }
    out->digits[out->count] = 0;
}

/* "123.45" with what digits there are; `precision` < 0: all of them. */
static int positional(char *out, double magnitude, quern_dtype dtype, int precision)
{
    cli_digits d;
    cli_shortest(&d, magnitude, dtype);
    if (precision >= 0 && d.count - d.point > precision) {
        int length = snprintf(out, CLI_NUMBER_TEXT, "%.*f", precision, magnitude);
        while (out[length - 1] == '0') {
            out[--length] = 0;
        }
        return length;
    }
    char *p = out;
    for (int k = 0; k < d.point; k++) {
        *p++ = k < d.count ? d.digits[k] : '0';
    }
    if (d.point <= 0) {
        *p++ = '0';
    }
    *p++ = '.';
    for (int k = d.point; k < 0 && magnitude != 0; k++) {
        *p++ = '0';
    }
    for (int k = d.point > 0 ? d.point : 0; k < d.count; k++) {
        *p++ = d.digits[k];
    }
    *p = 0;
    return (int)(p - out);
}

/* "1.25e+10" with `precision` digits after the point when `padded`, else at most so many. */
static int scientific(char *out, double magnitude, quern_dtype dtype, int precision, bool padded,
                      int exponent_digits)
{
    cli_digits d;
    cli_shortest(&d, magnitude, dtype);
    if (precision >= 0 && d.count > precision + 1) {
        char text[40];
        snprintf(text, sizeof text, "%.*e", precision, magnitude);
        d.point = atoi(strchr(text, 'e') + 1) + 1;
        d.digits[0] = text[0];
        memcpy(d.digits + 1, text + 2, (size_t)precision);
        d.count = precision + 1;
        while (!padded && d.count > 1 && d.digits[d.count - 1] == '0') {
            d.count--;
        }
    }
    char *p = out;
    *p++ = d.digits[0];
    *p++ = '.';
    for (int k = 1; k < d.count || (padded && k <= precision); k++) {
        *p++ = k < d.count ? d.digits[k] : '0';
    }
    int exponent = magnitude == 0 ? 0 : d.point - 1;
    p += sprintf(p, "e%c%0*d", exponent < 0 ? '-' : '+', exponent_digits, abs(exponent));
    return (int)(p - out);
}

void cli_scalar_text(char *out, double value, quern_dtype dtype, bool one_zero)
{
    double magnitude = fabs(value);
    if (signbit(value) && !isnan(value)) {
        *out++ = '-';
    }
    if (!isfinite(value)) {
        strcpy(out, isnan(value) ? "nan" : "inf");
    } else if (magnitude == 0 || (magnitude >= 1e-4 && magnitude < 1e16)) {
        int length = positional(out, magnitude, dtype, -1);
        if (out[length - 1] == '.') {
            strcpy(out + length - !one_zero, one_zero ? "0" : "");
        }
    } else {
        scientific(out, magnitude, dtype, -1, false, 2);
        char *point = strstr(out, ".e");
        if (point) {
            memmove(point, point + 1, strlen(point));
        }
    }
}

/* Whether a column is printed with exponents: numpy's rule on its largest and smallest number. */
static bool wants_exponents(const double *values, size_t count, size_t stride, quern_dtype dtype)
{
    double most = 0, least = INFINITY;
    for (size_t k = 0; k < count; k++) {
        double magnitude = fabs(values[k * stride]);
        if (isfinite(magnitude) && magnitude != 0) {
            most = magnitude > most ? magnitude : most;
            least = magnitude < least ? magnitude : least;
        }
    }
    return most > 0 &&
           (most >= kind_of(dtype).scientific_from || least < 1e-4 || most / least > 1000);
}

static int larger(int a, int b)
{
    return a > b ? a : b;
}

void cli_float_format_choose(cli_float_format *out, const double *values, size_t count,
                             size_t stride, quern_dtype dtype, bool plus)
{
    *out = (cli_float_format){.dtype = dtype, .plus = plus};
    out->scientific = wants_exponents(values, count, stride, dtype);
    bool any_other = false, any_negative_infinity = false;
    for (size_t k = 0; k < count; k++) {
        double value = values[k * stride];
        if (!isfinite(value)) {
            any_other = true;
            any_negative_infinity |= isinf(value) && value < 0;
            continue;
        }
        char text[CLI_NUMBER_TEXT];
        int sign = plus || signbit(value);
        if (out->scientific) {
            scientific(text, fabs(value), dtype, PRECISION, false, 2);
            int fraction = (int)(strchr(text, 'e') - text) - 2;
            out->precision = larger(out->precision, fraction);
            out->exponent_digits = larger(out->exponent_digits, (int)strlen(strchr(text, 'e')) - 2);
            out->left = larger(out->left, 1 + sign);
        } else {
            int length = positional(text, fabs(value), dtype, PRECISION);
            int whole = (int)(strchr(text, '.') - text);
            out->left = larger(out->left, whole + sign);
            out->right = larger(out->right, length - whole - 1);
        }
    }
    if (out->scientific) {
        out->right = out->precision + 2 + out->exponent_digits; /* what follows the point */
    }
    if (any_other) {
        int inf = 3 + (plus || any_negative_infinity), room = out->right + 1;
        out->left = larger(out->left, larger(3 - room, inf - room));
    }
}

void cli_float_text(char *out, const cli_float_format *format, double value)
{
    char text[CLI_NUMBER_TEXT];
    const char *sign = signbit(value) && !isnan(value) ? "-" : format->plus ? "+" : "";
    if (!isfinite(value)) {
        snprintf(text, sizeof text, "%s%s", sign, isnan(value) ? "nan" : "inf");
        sprintf(out, "%*s", format->left + format->right + 1, text);
    } else if (format->scientific) {
        scientific(text, fabs(value), format->dtype, format->precision, true,
                   format->exponent_digits);
        sprintf(out, "%*s%s", format->left - 1, sign, text);
    } else {
        int length = positional(text, fabs(value), format->dtype, PRECISION);
        int whole = (int)(strchr(text, '.') - text);
        int blanks = format->left - whole - (int)strlen(sign);
        int after = format->right - (length - whole - 1);
        sprintf(out, "%*s%s%s%*s", blanks, "", sign, text, after, "");
    }
}
