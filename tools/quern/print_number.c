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

#define PRECISION  8
#define ALL_DIGITS 24

/* How many decimal digits every number of a dtype keeps, how many are enough to tell all numbers
 * apart, and the smallest normal number. */
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
    case QUERN_FLOAT8_E4M3:
        return (float_kind){1, 3, 0x1p-6, 1e3};
    case QUERN_FLOAT8_E5M2:
        return (float_kind){1, 2, 0x1p-14, 1e3};
    case QUERN_FLOAT32:
    case QUERN_COMPLEX64:
        return (float_kind){6, 9, 0x1p-126, 1e6};
    default:
        return (float_kind){15, 17, 0x1p-1022, 1e8};
    }
}

/* True when `text` reads as `value` in this dtype. */
static bool reads_as(const char *text, double value, quern_dtype dtype)
{
    if (cli_is_small(dtype)) {
        uint16_t bits = cli_small_from_double(strtod(text, NULL), dtype);
        return cli_small_to_double(bits, dtype) == value;
    }
    if (dtype == QUERN_FLOAT32 || dtype == QUERN_COMPLEX64) {
        return (double)strtof(text, NULL) == value;
    }
    return strtod(text, NULL) == value;
}

/* The digits of text such as "1.2500e+03", without zeros at the end. */
static void split_digits(cli_digits *out, const char *text)
{
    const char *exponent = strchr(text, 'e');
    out->point = atoi(exponent + 1) + 1;
    out->count = 0;
    for (const char *p = text; p < exponent; p++) {
        if (*p != '.') {
            out->digits[out->count++] = *p;
        }
    }
    while (out->count > 1 && out->digits[out->count - 1] == '0') {
        out->count--;
    }
    out->digits[out->count] = 0;
}

void cli_shortest(cli_digits *out, double magnitude, quern_dtype dtype)
{
    if (magnitude == 0) {
        *out = (cli_digits){"0", 1, 1};
        return;
    }
    float_kind kind = kind_of(dtype);
    char text[40];
    /* Fewer digits than `kept` need not be tried: they come out as zeros at the end. */
    for (int digits = magnitude < kind.least_normal ? 1 : kind.kept; digits <= kind.enough;
         digits++) {
        snprintf(text, sizeof text, "%.*e", digits - 1, magnitude);
        if (digits == kind.enough || reads_as(text, magnitude, dtype)) {
            break;
        }
    }
    split_digits(out, text);
}

/* "123.45" with the digits there are, at most `most` after the point; returns its length. */
static int positional(char *out, double magnitude, quern_dtype dtype, int most)
{
    cli_digits d;
    cli_shortest(&d, magnitude, dtype);
    if (d.count - d.point > most) {
        int length = snprintf(out, CLI_NUMBER_TEXT, "%.*f", most, magnitude);
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

/* "1.25e+10": the exponent has at least `exponent_digits`. */
static void scientific_text(char *out, const char *digits, int count, int exponent,
                            int exponent_digits)
{
    sprintf(out, "%c.%.*se%c%0*d", digits[0], count - 1, digits + 1, exponent < 0 ? '-' : '+',
            exponent_digits, abs(exponent));
}

/* With the digits there are, at most `most` after the point. */
static void scientific(char *out, double magnitude, quern_dtype dtype, int most)
{
    cli_digits d;
    cli_shortest(&d, magnitude, dtype);
    if (d.count > most + 1) {
        char text[40];
        snprintf(text, sizeof text, "%.*e", most, magnitude);
        split_digits(&d, text);
    }
    scientific_text(out, d.digits, d.count, magnitude == 0 ? 0 : d.point - 1, 2);
}

/* With exactly `precision` digits after the point: beyond the shortest ones NumPy prints those of
 * the exact value. */
static void scientific_padded(char *out, double magnitude, int precision, int exponent_digits)
{
    char text[40], digits[24];
    snprintf(text, sizeof text, "%.*e", precision, magnitude);
    int exponent = atoi(strchr(text, 'e') + 1);
    digits[0] = text[0];
    memcpy(digits + 1, text + 2, (size_t)precision);
    scientific_text(out, digits, precision + 1, exponent, exponent_digits);
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
        int length = positional(out, magnitude, dtype, ALL_DIGITS);
        if (out[length - 1] == '.') {
            strcpy(out + length - !one_zero, one_zero ? "0" : "");
        }
    } else {
        scientific(out, magnitude, dtype, ALL_DIGITS);
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
            scientific(text, fabs(value), dtype, PRECISION);
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
        scientific_padded(text, fabs(value), format->precision, format->exponent_digits);
        sprintf(out, "%*s%s", format->left - 1, sign, text);
    } else {
        int length = positional(text, fabs(value), format->dtype, PRECISION);
        int whole = (int)(strchr(text, '.') - text);
        int blanks = format->left - whole - (int)strlen(sign);
        int after = format->right - (length - whole - 1);
        sprintf(out, "%*s%s%s%*s", blanks, "", sign, text, after, "");
    }
}
