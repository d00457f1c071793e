/* SPDX-License-Identifier: MIT
 *
 * Numbers as arguments: 2, 0x10, 2.5, 1e-3, -inf, nan, 1+2j, true. In: the text, and the dtype that
 * was stated before it, if any. Out: a value for the library.
 *
 *     number    := truth | component | component "j" | component sign unsigned "j"
 *     component := sign? unsigned
 *     unsigned  := "inf" | "nan" | "0x" hex+
 *                | digits ("." digits?)? exponent? | "." digits exponent?
 */
#include "cli.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One real number as it was written. */
typedef struct component {
    bool whole;    /* an integer; `magnitude` is valid when it fits */
    bool too_long; /* an integer of more than 64 bits */
    bool negative;
    bool beyond; /* finite as it was written, and larger than any double */
    uint64_t magnitude;
    double value;
} component;

static bool truth_word(const char *text, bool *truth)
{
    *truth = strcmp(text, "true") == 0 || strcmp(text, "True") == 0;
    return *truth || strcmp(text, "false") == 0 || strcmp(text, "False") == 0;
}

static const char *special_word(const char *p)
{
    static const char *const words[] = {"infinity", "inf", "Infinity", "Inf", "nan", "NaN"};
    for (size_t k = 0; k < CLI_COUNT(words); k++) {
        if (cli_begins_with(p, words[k])) {
            return p + strlen(words[k]);
        }
    }
    return NULL;
}

bool cli_looks_like_number(const char *text)
{
    bool truth;
    const char *p = text + (*text == '+' || *text == '-');
    return truth_word(text, &truth) || isdigit((unsigned char)*p) || *p == '.' ||
           special_word(p) != NULL;
}

static const char *scan_whole(component *out, const char *p)
{
    unsigned base = p[0] == '0' && (p[1] == 'x' || p[1] == 'X') ? 16 : 10;
    p += base == 16 ? 2 : 0;
    for (; base == 16 ? isxdigit((unsigned char)*p) : isdigit((unsigned char)*p); p++) {
        unsigned digit = *p <= '9' ? (unsigned)(*p - '0') : (unsigned)((*p | 32) - 'a') + 10;
        out->too_long |= out->magnitude > (UINT64_MAX - digit) / base;
        out->magnitude = out->magnitude * base + digit;
        out->value = out->value * base + digit;
    }
    out->whole = true;
    return p;
}

static const char *skip_digits(const char *p)
{
    while (isdigit((unsigned char)*p)) {
        p++;
    }
    return p;
}

/* The end of a decimal number with a fraction or an exponent, or NULL when it has neither. */
static const char *decimal_end(const char *p)
{
    const char *whole = skip_digits(p), *end = whole;
    if (*end == '.') {
        end = skip_digits(end + 1);
    }
    if ((*end | 32) == 'e') {
        const char *digits = end + 1 + (end[1] == '+' || end[1] == '-');
        if (isdigit((unsigned char)*digits)) {
            end = skip_digits(digits);
        }
    }
    return end > whole ? end : NULL;
}

/* The end of the component that `p` begins with, or NULL when there is none. */
static const char *scan_component(component *out, const char *p)
{
    *out = (component){.negative = *p == '-'};
    p += *p == '+' || *p == '-';
    const char *end = special_word(p);
    bool special = end != NULL;
    bool hexadecimal = p[0] == '0' && (p[1] | 32) == 'x';
    if (!end && !hexadecimal) {
        bool has_digit = isdigit((unsigned char)p[p[0] == '.']);
        if (!has_digit) {
            return NULL;
        }
        end = decimal_end(p);
    } else if (hexadecimal && !isxdigit((unsigned char)p[2])) {
        return NULL;
    }
    if (end) {
        out->value = strtod(p, NULL);
    } else {
        end = scan_whole(out, p);
        if (!hexadecimal) {
            out->value = strtod(p, NULL); /* rounds once */
        }
    }
    if (out->negative) {
        out->value = -out->value;
    }
    out->beyond = !special && isinf(out->value);
    return end;
}

/* The whole text as one number: real, or with an imaginary part. */
static bool scan(component *real, component *imag, bool *is_complex, const char *text,
                 cli_problem *problem)
{
    *imag = (component){.whole = true};
    *is_complex = false;
    const char *p = scan_component(real, text);
    if (p && *p == 'j') {
        *imag = *real;
        *real = (component){.whole = true};
        *is_complex = true;
        p++;
    } else if (p && (*p == '+' || *p == '-')) {
        p = scan_component(imag, p);
        *is_complex = true;
        p = p && *p == 'j' ? p + 1 : NULL;
    }
    if (!p || *p) {
        return cli_problem_set(problem, 0, strlen(text),
                               "\"%s\" is not a number such as 2, 2.5, 1e-3, 0x10, 1+2j, inf or "
                               "true",
                               text);
    }
    return true;
}

static bool literal(quern_value *out, const component *real, const char *text, cli_problem *problem)
{
    if (!real->whole) {
        *out = quern_literal_double(real->value);
        return true;
    }
    uint64_t limit = (uint64_t)INT64_MAX + 1;
    if (real->too_long || (real->negative && real->magnitude > limit)) {
        return cli_problem_set(problem, 0, strlen(text),
                               "%s does not fit into 64 bits; write it with a point for a float64",
                               text);
    }
    if (real->negative) {
        *out = quern_literal_int((int64_t)(0 - real->magnitude));
    } else {
        *out = quern_literal_uint(real->magnitude);
    }
    return true;
}

static bool does_not_fit(cli_problem *problem, const char *text, quern_dtype dtype)
{
    return cli_problem_set(problem, 0, strlen(text), "%s does not fit into %s", text,
                           quern_dtype_name(dtype));
}

/* A whole number that is written with a point or an exponent: 2.0, 1e3. */
static bool make_whole(component *real)
{
    double magnitude = fabs(real->value);
    if (real->whole || !isfinite(magnitude) || magnitude != trunc(magnitude)) {
        return real->whole;
    }
    real->too_long = magnitude >= 0x1p64;
    real->magnitude = real->too_long ? 0 : (uint64_t)magnitude;
    real->whole = true;
    return true;
}

static bool integer_of(quern_value *out, component *real, quern_dtype dtype, const char *text,
                       cli_problem *problem)
{
    if (!make_whole(real)) {
        return cli_problem_set(problem, 0, strlen(text), "%s is not a whole number, as %s needs",
                               text, quern_dtype_name(dtype));
    }
    bool is_signed = dtype >= QUERN_INT8 && dtype <= QUERN_INT64;
    unsigned bits = (unsigned)quern_dtype_size(dtype) * 8;
    uint64_t most = UINT64_MAX >> (64 - bits + is_signed);
    uint64_t least = is_signed ? most + 1 : 0; /* the magnitude of the smallest number */
    if (real->too_long || real->magnitude > (real->negative ? least : most)) {
        return does_not_fit(problem, text, dtype);
    }
    *out = quern_scalar_int(dtype, 0);
    if (is_signed) {
        out->as.integer = (int64_t)(real->negative ? 0 - real->magnitude : real->magnitude);
    } else {
        out->as.natural = real->magnitude;
    }
    return true;
}

bool cli_number_fits(double value, quern_dtype dtype)
{
    if (dtype == QUERN_BOOL) {
        return true;
    }
    if (cli_is_whole(dtype)) {
        bool is_signed = dtype <= QUERN_INT64;
        double beyond = ldexp(1, 8 * (int)quern_dtype_size(dtype) - is_signed);
        return floor(value) >= (is_signed ? -beyond : 0) && floor(value) < beyond;
    }
    bool small = cli_is_small(dtype);
    bool single = dtype == QUERN_FLOAT32 || dtype == QUERN_COMPLEX64;
    double rounded = small    ? cli_small_to_double(cli_small_from_double(value, dtype), dtype)
                     : single ? (double)(float)value
                              : value;
    if (quern_dtype_size(dtype) ==
        1) { /* a finite number too large is not rounded to the largest */
        bool e4m3 = dtype == QUERN_FLOAT8_E4M3;
        return isnan(value) || (isinf(value) ? !e4m3
                                : e4m3       ? fabs(value) <= 464
                                             : fabs(value) < 61440);
    }
    return !isinf(rounded) || isinf(value);
}

/* The value of one of the words true and false. */
static void truth_of(quern_value *out, bool truth, quern_dtype dtype)
{
    *out = quern_literal_bool(truth);
    if (cli_is_complex(dtype)) {
        *out = quern_scalar_complex(dtype, truth, 0);
    } else if (dtype != QUERN_DTYPE_NONE && !cli_is_whole(dtype)) {
        *out = quern_scalar_real(dtype, truth);
    } else if (dtype != QUERN_DTYPE_NONE) {
        *out = quern_scalar_int(dtype, truth);
    }
}

bool cli_number_parse(quern_value *out, const char *text, quern_dtype dtype, cli_problem *problem)
{
    bool truth;
    if (truth_word(text, &truth)) {
        truth_of(out, truth, dtype);
        return true;
    }
    component real, imag;
    bool is_complex;
    if (!scan(&real, &imag, &is_complex, text, problem)) {
        return false;
    }
    bool takes_complex = cli_is_complex(dtype);
    if (is_complex && dtype != QUERN_DTYPE_NONE && !takes_complex) {
        return cli_problem_set(problem, 0, strlen(text), "%s is complex, and %s is not", text,
                               quern_dtype_name(dtype));
    }
    if (real.beyond || imag.beyond) {
        return does_not_fit(problem, text, is_complex ? QUERN_COMPLEX128 : QUERN_FLOAT64);
    }
    if (dtype != QUERN_DTYPE_NONE && !cli_is_whole(dtype) &&
        !(cli_number_fits(real.value, dtype) && cli_number_fits(imag.value, dtype))) {
        return does_not_fit(problem, text, dtype);
    }
    if (takes_complex) {
        *out = quern_scalar_complex(dtype, real.value, imag.value);
    } else if (is_complex) {
        *out = quern_literal_complex(real.value, imag.value);
    } else if (dtype == QUERN_DTYPE_NONE) {
        return literal(out, &real, text, problem);
    } else if (!cli_is_whole(dtype)) {
        *out = quern_scalar_real(dtype, real.value);
    } else if (dtype == QUERN_BOOL) {
        *out = quern_scalar_int(dtype, real.value != 0);
    } else {
        return integer_of(out, &real, dtype, text, problem);
    }
    return true;
}
