/* SPDX-License-Identifier: MIT
 *
 * Numbers of expressions. In: a token, or integers and an operator. Out: C++, and of integers the
 * value. The thing to know: integers of the text are computed here, so that one that does not fit
 * its array is found, as Python finds it: 200 + 100 is 300, which no uint8 is.
 */
#include "lang/expression_parts.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const qn_value_type weak_int = {QUERN_INT64, true};
static const qn_value_type weak_float = {QUERN_FLOAT64, true};

quern_status qn_part_keep(const char **out, qn_parser *parser, qn_text *text)
{
    *out = text->failed ? NULL : qn_arena_strndup(parser->arena, text->data, text->length);
    qn_text_free(text);
    return *out ? QUERN_OK : qn_fail_memory("parsing an expression");
}

/* ---- integers ------------------------------------------------------------------------------- */

quern_status qn_part_write_integer(qn_part *part, qn_parser *parser)
{
    static const uint64_t limit = UINT64_C(1) << 63;
    qn_text text = {0};
    if (part->negative && part->magnitude == limit) {
        qn_text_puts(&text, "(-9223372036854775807ll - 1)");
    } else if (part->negative) {
        qn_text_printf(&text, "(-%" PRIu64 "ll)", part->magnitude);
    } else {
        qn_text_printf(&text, "%" PRIu64 "%s", part->magnitude,
                       part->magnitude >= limit ? "ull" : "ll");
    }
    return qn_part_keep(&part->text, parser, &text);
}

static unsigned digit_of(char c)
{
    return c <= '9' ? (unsigned)(c - '0') : (unsigned)((c | 0x20) - 'a') + 10;
}

static quern_status integer(qn_part *out, qn_parser *parser, qn_str digits)
{
    const bool hex = digits.length > 1 && (digits.data[1] | 0x20) == 'x';
    const unsigned base = hex ? 16 : 10;
    for (size_t k = hex ? 2 : 0; k < digits.length; k++) {
        if (__builtin_mul_overflow(out->magnitude, (uint64_t)base, &out->magnitude) ||
            __builtin_add_overflow(out->magnitude, (uint64_t)digit_of(digits.data[k]),
                                   &out->magnitude)) {
            return QN_REFUSE(QUERN_ERROR_VALUE, parser->text, out->begin, out->end,
                             "the number fits no integer dtype: write it with a point");
        }
    }
    if (!hex && digits.data[0] == '0' && out->magnitude != 0) {
        return QN_REFUSE(QUERN_ERROR_SIGNATURE, parser->text, out->begin, out->end,
                         "%.*s begins with a 0, which is octal in C and an error in Python",
                         (int)digits.length, digits.data);
    }
    out->type = weak_int;
    out->is_number = out->is_integer = true;
    return qn_part_write_integer(out, parser);
}

/* ---- others --------------------------------------------------------------------------------- */

/* Whether a decimal number is beyond double. Read without a point, so that the locale, which may
 * have another one, does not matter. */
static bool is_infinite(qn_str digits)
{
    char copy[64];
    size_t length = 0;
    long moved = 0;
    bool point = false, leads = true;
    size_t k = 0;
    for (; k < digits.length && (digits.data[k] | 0x20) != 'e'; k++) {
        const char c = digits.data[k];
        leads &= c == '0' || c == '.';
        if (c == '.') {
            point = true;
        } else if (!leads && length < 40) {
            copy[length++] = c;
            moved -= point;
        } else {
            moved += leads ? -(long)point : !point;
        }
    }
    if (length == 0) {
        return false;
    }
    const long exponent = k < digits.length ? strtol(digits.data + k + 1, NULL, 10) : 0;
    const long capped = QN_MAX(QN_MIN(exponent, 1000000000L), -1000000000L);
    snprintf(copy + length, sizeof copy - length, "e%ld", capped + moved);
    return isinf(strtod(copy, NULL)) != 0;
}

static void add_real(qn_text *text, qn_str digits)
{
    if (is_infinite(digits)) {
        qn_text_puts(text, "INFINITY");
        return;
    }
    qn_text_add(text, digits.data, digits.length);
    if (!memchr(digits.data, '.', digits.length) && !memchr(digits.data, 'e', digits.length) &&
        !memchr(digits.data, 'E', digits.length)) {
        qn_text_puts(text, ".0"); /* 2j */
    }
}

quern_status qn_part_number(qn_part *out, qn_parser *parser)
{
    const qn_expression_token *t = &parser->token;
    qn_str digits = {parser->text.data + t->begin, t->end - t->begin};
    *out = (qn_part){.begin = t->begin, .end = t->end};
    if (t->class == QN_CLASS_INTEGER) {
        return integer(out, parser, digits);
    }
    qn_text text = {0};
    out->type = weak_float;
    if (t->class == QN_CLASS_REAL) {
        out->is_number = true;
        add_real(&text, digits);
        return qn_part_keep(&out->text, parser, &text);
    }
    digits.length--;
    if (digits.length > 1 && (digits.data[1] | 0x20) == 'x') {
        return QN_REFUSE(QUERN_ERROR_SIGNATURE, parser->text, t->begin, t->end,
                         "an imaginary number is written with decimal digits");
    }
    out->type.dtype = QUERN_COMPLEX128;
    qn_text_puts(&text, "complex<double>(0.0, ");
    add_real(&text, digits);
    qn_text_puts(&text, ")");
    return qn_part_keep(&out->text, parser, &text);
}

bool qn_part_constant(qn_part *out, qn_str name, size_t begin, size_t end)
{
    *out = (qn_part){.begin = begin, .end = end};
    if (qn_str_is(name, "pi")) {
        out->type = weak_float;
        out->text = "3.141592653589793";
        out->is_number = true;
        return true;
    }
    const bool yes = qn_str_is(name, "true") || qn_str_is(name, "True");
    out->type.dtype = QUERN_BOOL;
    out->is_truth = true;
    out->text = yes ? "true" : "false";
    return yes || qn_str_is(name, "false") || qn_str_is(name, "False");
}

quern_status qn_part_negate(qn_part *out, qn_parser *parser, const qn_part *number, size_t begin)
{
    qn_part made = *number;
    made.begin = begin;
    made.mark = NULL;
    if (!number->is_integer) {
        qn_text text = {0};
        qn_text_printf(&text, "(-%s)", number->text);
        QN_TRY(qn_part_keep(&made.text, parser, &text));
        *out = made;
        return QUERN_OK;
    }
    made.negative = number->magnitude != 0 && !number->negative;
    if (made.negative && made.magnitude > UINT64_C(1) << 63) {
        return QN_REFUSE(QUERN_ERROR_VALUE, parser->text, begin, number->end,
                         "the number fits no integer dtype: write it with a point");
    }
    *out = made;
    return qn_part_write_integer(out, parser);
}

quern_status qn_part_count_truth(qn_part *part, qn_parser *parser)
{
    const bool yes = strcmp(part->text, "true") == 0;
    part->is_truth = false;
    part->type = weak_int;
    if (yes || strcmp(part->text, "false") == 0) {
        part->is_number = part->is_integer = true;
        part->magnitude = yes;
        return qn_part_write_integer(part, parser);
    }
    qn_text text = {0};
    qn_text_printf(&text, "static_cast<long long>(%s)", part->text);
    return qn_part_keep(&part->text, parser, &text);
}

/* ---- computing ------------------------------------------------------------------------------ */

static bool power(int64_t *out, int64_t x, int64_t n)
{
    *out = 1;
    if (n < 0 || n > 63) {
        return false;
    }
    for (; n > 0; n--) {
        if (__builtin_mul_overflow(*out, x, out)) {
            return false;
        }
    }
    return true;
}

static bool quotient(int64_t *out, int64_t x, int64_t y)
{
    if (y == 0 || (x == INT64_MIN && y == -1)) {
        return false;
    }
    *out = x / y - (x % y != 0 && (x < 0) != (y < 0));
    return true;
}

static bool compute(int64_t *out, qn_str operator, int64_t x, int64_t y)
{
    if (qn_str_is(operator, "+")) {
        return !__builtin_add_overflow(x, y, out);
    }
    if (qn_str_is(operator, "-")) {
        return !__builtin_sub_overflow(x, y, out);
    }
    if (qn_str_is(operator, "*")) {
        return !__builtin_mul_overflow(x, y, out);
    }
    if (qn_str_is(operator, "**")) {
        return power(out, x, y);
    }
    if (qn_str_is(operator, "<<")) {
        return y < 63 && power(out, 2, y) && !__builtin_mul_overflow(*out, x, out);
    }
    if (qn_str_is(operator, "//")) {
        return quotient(out, x, y);
    }
    if (qn_str_is(operator, "%") && quotient(out, x, y)) {
        *out = x - *out * y;
        return true;
    }
    return false;
}

quern_status qn_part_compute(bool *computed, qn_part *out, qn_parser *parser,
                             const qn_operation *operation, const qn_part *parts)
{
    int64_t values[2], result;
    *computed = false;
    for (size_t k = 0; k < 2; k++) {
        if (!parts[k].is_integer || parts[k].magnitude > INT64_MAX) {
            return QUERN_OK;
        }
        values[k] = parts[k].negative ? -(int64_t)parts[k].magnitude : (int64_t)parts[k].magnitude;
    }
    if (!compute(&result, qn_str_of(operation->name), values[0], values[1])) {
        return QUERN_OK;
    }
    *computed = true;
    *out = (qn_part){.type = weak_int, .is_number = true, .is_integer = true};
    out->negative = result < 0;
    out->magnitude = out->negative ? 0 - (uint64_t)result : (uint64_t)result;
    return qn_part_write_integer(out, parser);
}
