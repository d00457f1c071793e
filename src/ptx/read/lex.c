/* SPDX-License-Identifier: MIT
 *
 * lex: turns PTX text into tokens, one at a time, and makes the sentences for text that is wrong.
 * Lines are counted here; names come out interned.
 */
#include "ptx/read/reader.h"

#include <stdlib.h>
#include <string.h>

quern_status qn_ptx_memory(void)
{
    return qn_fail_memory("reading PTX");
}

/* ---- errors --------------------------------------------------------------------------------- */

/* Shows the line that holds [begin, begin + length), and the place in it. */
static quern_status fail(const qn_reader *reader, uint32_t line, const char *begin, size_t length,
                         const char *format, va_list arguments)
{
    const char *first = begin, *last = begin;
    while (first > reader->text && first[-1] != '\n' && begin - first < 200) {
        first--;
    }
    while (last < reader->end && *last != '\n' && last - begin < 200) {
        last++;
    }
    size_t from = (size_t)(begin - first);
    size_t to = QN_MIN(from + length, (size_t)(last - first));
    qn_text sentence = {0};
    qn_text_printf(&sentence, "PTX line %u: ", line);
    qn_text_vprintf(&sentence, format, arguments);
    quern_status status = sentence.failed ? qn_ptx_memory()
                                          : qn_fail_at(QUERN_ERROR_IMAGE, "PTX",
                                                       (qn_str){first, (size_t)(last - first)},
                                                       from, QN_MAX(from, to), "%s", sentence.data);
    qn_text_free(&sentence);
    return status;
}

quern_status qn_ptx_error(qn_reader *reader, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const qn_token *token = &reader->token;
    quern_status status = fail(reader, token->line, token->begin, token->length, format, arguments);
    va_end(arguments);
    return status;
}

quern_status qn_ptx_error_line(qn_reader *reader, uint32_t line, const char *format, ...)
{
    const char *at = reader->text;
    for (uint32_t i = 1; i < line && at; i++) {
        const char *newline = memchr(at, '\n', (size_t)(reader->end - at));
        at = newline ? newline + 1 : NULL;
    }
    while (at && at < reader->end && (*at == ' ' || *at == '\t')) {
        at++;
    }
    va_list arguments;
    va_start(arguments, format);
    quern_status status = fail(reader, line, at ? at : reader->end, 0, format, arguments);
    va_end(arguments);
    return status;
}

quern_status qn_ptx_expected(qn_reader *reader, const char *what)
{
    const qn_token *token = &reader->token;
    if (token->kind == QN_TOKEN_END) {
        return qn_ptx_error(reader, "expected %s, but the text ends here; is it cut off?", what);
    }
    return qn_ptx_error(reader, "expected %s, not '%.*s'", what, (int)QN_MIN(token->length, 60),
                        token->begin);
}

/* ---- characters ----------------------------------------------------------------------------- */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_' ||
           c == '$' || c == '%';
}

static int digit_value(char c)
{
    return is_digit(c)              ? c - '0'
           : (c >= 'a' && c <= 'f') ? c - 'a' + 10
           : (c >= 'A' && c <= 'F') ? c - 'A' + 10
                                    : 99;
}

/* Skip blanks, and comments of both sorts. */
static void skip_blanks(qn_reader *reader)
{
    const char *at = reader->at, *end = reader->end;
    while (at < end) {
        char c = *at;
        if (c == '\n') {
            reader->line++;
            at++;
        } else if (c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v') {
            at++;
        } else if (c == '/' && end - at > 1 && at[1] == '/') {
            const char *newline = memchr(at, '\n', (size_t)(end - at));
            at = newline ? newline : end;
        } else if (c == '/' && end - at > 1 && at[1] == '*') {
            for (at += 2; at < end && !(*at == '*' && end - at > 1 && at[1] == '/'); at++) {
                reader->line += *at == '\n';
            }
            at = end - at > 1 ? at + 2 : end;
        } else {
            break;
        }
    }
    reader->at = at;
}

/* ---- numbers -------------------------------------------------------------------------------- */

/* 0f3F800000 and 0d3FF0000000000000: the bits of a float. */
static bool bits_of_float(qn_reader *reader, int digits)
{
    const char *at = reader->at + 2;
    uint64_t bits = 0;
    for (int i = 0; i < digits; i++, at++) {
        int value = at < reader->end ? digit_value(*at) : 99;
        if (value > 15) {
            return false;
        }
        bits = bits << 4 | (uint64_t)value;
    }
    reader->token.kind = QN_TOKEN_FLOAT;
    reader->token.float_bits = (uint8_t)(digits * 4);
    reader->token.bits = bits;
    reader->at = at;
    return true;
}

/* Where a number such as 1.5 or 2e-3 ends, or NULL when this is not one. */
static const char *end_of_decimal_float(const qn_reader *reader)
{
    const char *at = reader->at, *end = reader->end;
    bool is_float = false;
    while (at < end && is_digit(*at)) {
        at++;
    }
    if (end - at > 1 && *at == '.' && is_digit(at[1])) {
        is_float = true;
        for (at++; at < end && is_digit(*at); at++) {
        }
    }
    if (at < end && (*at == 'e' || *at == 'E')) {
        const char *sign = end - at > 1 && (at[1] == '-' || at[1] == '+') ? at + 1 : at;
        if (end - sign > 1 && is_digit(sign[1])) {
            is_float = true;
            for (at = sign + 1; at < end && is_digit(*at); at++) {
            }
        }
    }
    return is_float ? at : NULL;
}

static quern_status decimal_float(qn_reader *reader, const char *last)
{
    char digits[64];
    size_t length = (size_t)(last - reader->at);
    if (length >= sizeof digits) {
        return qn_ptx_error(reader, "this number has too many digits");
    }
    memcpy(digits, reader->at, length);
    digits[length] = '\0';
    double value = strtod(digits, NULL);
    memcpy(&reader->token.bits, &value, sizeof value);
    reader->token.kind = QN_TOKEN_FLOAT;
    reader->token.float_bits = 64;
    reader->at = last;
    return QUERN_OK;
}

static quern_status number(qn_reader *reader)
{
    const char *at = reader->at, *end = reader->end;
    char second = end - at > 1 ? (char)(at[1] | 0x20) : '\0';
    if (*at == '0' && ((second == 'f' && bits_of_float(reader, 8)) ||
                       (second == 'd' && bits_of_float(reader, 16)))) {
        return QUERN_OK;
    }
    const char *float_end = end_of_decimal_float(reader);
    if (float_end && !(*at == '0' && (second == 'x' || second == 'b'))) {
        return decimal_float(reader, float_end);
    }
    unsigned base = 10;
    if (*at == '0' && (second == 'x' || second == 'b')) {
        base = second == 'x' ? 16 : 2;
        at += 2;
    } else if (*at == '0' && is_digit(second)) {
        base = 8;
    }
    uint64_t bits = 0;
    const char *first = at;
    for (; at < end && (unsigned)digit_value(*at) < base; at++) {
        uint64_t digit = (uint64_t)digit_value(*at);
        if (bits > (UINT64_MAX - digit) / base) {
            return qn_ptx_error(reader, "this number does not fit into 64 bits");
        }
        bits = bits * base + digit;
    }
    if (at == first) {
        return qn_ptx_error(reader, "this number has no digits");
    }
    if (at < end && (*at == 'U' || *at == 'u')) {
        at++;
    }
    if (at < end && is_name(*at)) {
        return qn_ptx_error(reader, "'%c' cannot occur in a number", *at);
    }
    reader->token.kind = QN_TOKEN_INTEGER;
    reader->token.bits = bits;
    reader->at = at;
    return QUERN_OK;
}

/* ---- tokens --------------------------------------------------------------------------------- */

static quern_status string(qn_reader *reader)
{
    const char *begin = ++reader->at;
    while (reader->at < reader->end && *reader->at != '"' && *reader->at != '\n') {
        reader->at += *reader->at == '\\' && reader->end - reader->at > 1 ? 2 : 1;
    }
    if (reader->at >= reader->end || *reader->at != '"') {
        return qn_ptx_error(reader, "this string has no end");
    }
    reader->token.kind = QN_TOKEN_STRING;
    reader->token.begin = begin;
    reader->token.length = (uint32_t)(reader->at - begin);
    reader->at++;
    return QUERN_OK;
}

/* `%tid.x` is one name; `.L2::128B` is one directive. */
static quern_status name(qn_reader *reader)
{
    const char *begin = reader->at, *at = begin, *end = reader->end;
    bool directive = *at == '.';
    for (at++; at < end; at++) {
        if (directive && *at == ':' && end - at > 2 && at[1] == ':' && is_name(at[2])) {
            at++;
        } else if (!is_name(*at)) {
            break;
        }
    }
    if (*begin == '%' && end - at > 1 && *at == '.' && at[1] >= 'w' && at[1] <= 'z' &&
        !(end - at > 2 && is_name(at[2]))) {
        at += 2;
    }
    reader->at = at;
    reader->token.kind = directive ? QN_TOKEN_DIRECTIVE : QN_TOKEN_NAME;
    reader->token.length = (uint32_t)(at - begin);
    reader->token.name = qn_names_intern(reader, begin, reader->token.length);
    return reader->token.name ? QUERN_OK : qn_ptx_memory();
}

quern_status qn_ptx_next(qn_reader *reader)
{
    skip_blanks(reader);
    const char *at = reader->at;
    reader->token = (qn_token){.kind = QN_TOKEN_END, .line = reader->line, .begin = at};
    if (at >= reader->end) {
        return QUERN_OK;
    }
    char c = *at;
    reader->token.length = 1;
    if (is_digit(c)) {
        QN_TRY(number(reader));
        reader->token.length = (uint32_t)(reader->at - at);
        return QUERN_OK;
    }
    if (is_name(c) || (c == '.' && reader->end - at > 1 && is_name(at[1]))) {
        return name(reader);
    }
    if (c == '"') {
        return string(reader);
    }
    if (c < ' ' || c > '~') {
        return qn_ptx_error(reader, "byte 0x%02x cannot occur in PTX; is this a text?",
                            (unsigned char)c);
    }
    reader->token.kind = QN_TOKEN_MARK;
    reader->token.mark = c;
    reader->at = at + 1;
    return QUERN_OK;
}

/* ---- what the grammar asks for -------------------------------------------------------------- */

quern_status qn_ptx_take(qn_reader *reader, char mark, bool *taken)
{
    *taken = qn_ptx_is(reader, mark);
    return *taken ? qn_ptx_next(reader) : QUERN_OK;
}

quern_status qn_ptx_expect(qn_reader *reader, char mark)
{
    if (!qn_ptx_is(reader, mark)) {
        return qn_ptx_expected(reader, (char[]){'\'', mark, '\'', '\0'});
    }
    return qn_ptx_next(reader);
}

quern_status qn_ptx_integer(qn_reader *reader, int64_t *value)
{
    bool minus;
    QN_TRY(qn_ptx_take(reader, '-', &minus));
    if (reader->token.kind != QN_TOKEN_INTEGER) {
        return qn_ptx_expected(reader, "an integer");
    }
    *value = (int64_t)(minus ? 0 - reader->token.bits : reader->token.bits);
    return qn_ptx_next(reader);
}

quern_status qn_ptx_skip_statement(qn_reader *reader)
{
    while (!qn_ptx_is(reader, ';')) {
        if (reader->token.kind == QN_TOKEN_END) {
            return qn_ptx_expected(reader, "';'");
        }
        if (qn_ptx_is(reader, '{')) {
            QN_TRY(qn_ptx_skip_braces(reader));
        } else {
            QN_TRY(qn_ptx_next(reader));
        }
    }
    return qn_ptx_next(reader);
}

/* It ends with its line when no `;` ends it, so that it never swallows an instruction. */
quern_status qn_ptx_skip_directive(qn_reader *reader)
{
    uint32_t line = reader->token.line;
    while (reader->token.kind != QN_TOKEN_END && reader->token.line == line) {
        bool done = qn_ptx_is(reader, '}'); /* of the enclosing function */
        if (!done) {
            QN_TRY(qn_ptx_take(reader, ';', &done));
        }
        if (done) {
            return QUERN_OK;
        }
        if (qn_ptx_is(reader, '{')) {
            return qn_ptx_skip_braces(reader);
        }
        QN_TRY(qn_ptx_next(reader));
    }
    return QUERN_OK;
}

quern_status qn_ptx_skip_braces(qn_reader *reader)
{
    uint32_t open = 0;
    do {
        if (reader->token.kind == QN_TOKEN_END) {
            return qn_ptx_expected(reader, "'}'");
        }
        open += qn_ptx_is(reader, '{');
        open -= qn_ptx_is(reader, '}');
        QN_TRY(qn_ptx_next(reader));
    } while (open > 0);
    return QUERN_OK;
}

/* The rest of an opcode with blanks before its dots. */
static quern_status opcode_in_pieces(qn_reader *reader, qn_str first, qn_name **opcode)
{
    qn_text whole = {0};
    quern_status status = QUERN_OK;
    qn_text_add(&whole, first.data, first.length);
    while (status == QUERN_OK && reader->token.kind == QN_TOKEN_DIRECTIVE) {
        qn_text_puts(&whole, reader->token.name->text);
        status = qn_ptx_next(reader);
    }
    if (status == QUERN_OK) {
        *opcode = whole.failed ? NULL : qn_names_intern(reader, whole.data, whole.length);
        status = *opcode ? QUERN_OK : qn_ptx_memory();
    }
    qn_text_free(&whole);
    return status;
}

/* opcode = name { "." modifier }, blanks allowed before the dots. The token is the name. */
quern_status qn_ptx_opcode(qn_reader *reader, qn_name **opcode)
{
    const char *begin = reader->token.begin, *at = reader->at, *end = reader->end;
    while (at < end && (is_name(*at) || *at == '.' ||
                        (*at == ':' && end - at > 2 && at[1] == ':' && at[2] != ':'))) {
        at += *at == ':' ? 2 : 1;
    }
    reader->at = at;
    QN_TRY(qn_ptx_next(reader));
    if (reader->token.kind == QN_TOKEN_DIRECTIVE) {
        return opcode_in_pieces(reader, (qn_str){begin, (size_t)(at - begin)}, opcode);
    }
    *opcode = qn_names_intern(reader, begin, (size_t)(at - begin));
    return *opcode ? QUERN_OK : qn_ptx_memory();
}
