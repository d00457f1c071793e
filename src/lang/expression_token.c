/* SPDX-License-Identifier: MIT
 *
 * The tokens of expressions. In: a text, and a place in it. Out: the token there.
 *
 *     number = "0x" hex+ | (digit+ ("." digit*)? | "." digit+) (("e" | "E") ("+" | "-")? digit+)?
 *              and perhaps "j" after it
 *     name   = letter (letter | digit)*         "_" and bytes >= 0x80 are letters
 *
 * White space separates tokens. Not the scanner of C++ (base/cpp_text.h), because ** and // are
 * operators here, and 1j a number.
 */
#include "lang/expressions.h"

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_hex(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (unsigned char)c >= 0x80;
}

/* The byte at a place; 0 past the end. */
static char byte_at(qn_str text, size_t at)
{
    return at < text.length ? text.data[at] : '\0';
}

static size_t skip_digits(qn_str text, size_t at)
{
    while (is_digit(byte_at(text, at))) {
        at++;
    }
    return at;
}

/* ---- numbers -------------------------------------------------------------------------------- */

static size_t skip_exponent(qn_str text, size_t at)
{
    const char sign = byte_at(text, at + 1);
    const size_t from = at + 1 + (sign == '+' || sign == '-');
    const bool has = (byte_at(text, at) | 0x20) == 'e' && is_digit(byte_at(text, from));
    return has ? skip_digits(text, from) : at;
}

static void number(qn_expression_token *out, qn_str text, size_t at)
{
    out->class = QN_CLASS_INTEGER;
    if (byte_at(text, at) == '0' && (byte_at(text, at + 1) | 0x20) == 'x' &&
        is_hex(byte_at(text, at + 2))) {
        for (at += 2; is_hex(byte_at(text, at)); at++) {
        }
    } else {
        size_t whole = skip_digits(text, at);
        at = byte_at(text, whole) == '.' ? skip_digits(text, whole + 1) : whole;
        at = skip_exponent(text, at);
        out->class = at != whole ? QN_CLASS_REAL : QN_CLASS_INTEGER;
    }
    if ((byte_at(text, at) | 0x20) == 'j') {
        out->class = QN_CLASS_IMAGINARY;
        at++;
    }
    out->end = at;
}

/* ---- operators ------------------------------------------------------------------------------ */

static size_t operator_length(qn_str text, size_t at)
{
    static const char *const two[] = {"**", "//", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||"};
    const qn_str rest = {text.data + at, text.length - at};
    for (size_t k = 0; k < QN_COUNT(two); k++) {
        if (qn_str_begins(rest, two[k])) {
            return 2;
        }
    }
    return strchr("-+*/%&|^~!<>?:(),", rest.data[0]) != NULL;
}

/* A byte that begins no token, shown as it is, or by its number where it is a control character. */
static quern_status refuse(qn_str text, size_t at)
{
    const unsigned char c = (unsigned char)text.data[at];
    if (c < 0x20 || c == 0x7f) {
        return QN_REFUSE(QUERN_ERROR_SIGNATURE, text, at, at + 1,
                         "the character 0x%02x has no meaning here", c);
    }
    return QN_REFUSE(QUERN_ERROR_SIGNATURE, text, at, at + 1, "\"%c\" has no meaning here", c);
}

quern_status qn_expression_next(qn_expression_token *out, qn_str text, size_t at)
{
    while (byte_at(text, at) == ' ' || (byte_at(text, at) >= '\t' && byte_at(text, at) <= '\r')) {
        at++;
    }
    *out = (qn_expression_token){QN_CLASS_END, at, at};
    if (at == text.length) {
        return QUERN_OK;
    }
    const char c = text.data[at];
    if (is_digit(c) || (c == '.' && is_digit(byte_at(text, at + 1)))) {
        number(out, text, at);
        return QUERN_OK;
    }
    if (is_letter(c)) {
        for (out->end = at + 1;
             is_letter(byte_at(text, out->end)) || is_digit(byte_at(text, out->end)); out->end++) {
        }
        out->class = QN_CLASS_NAME;
        return QUERN_OK;
    }
    out->end = at + operator_length(text, at);
    out->class = QN_CLASS_OPERATOR;
    return out->end > at ? QUERN_OK : refuse(text, at);
}
