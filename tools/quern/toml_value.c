/* SPDX-License-Identifier: MIT
 *
 * The values of TOML: strings, numbers, truth values, lists. In: a text and a place in it. Out: a
 * value, and the place behind it.
 */
#include "toml.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define MOST_DEPTH 16 /* of lists in lists */

bool toml_wrong(toml_reader *r, const char *format, ...)
{
    char text[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    const size_t at = r->at < r->length ? r->at : r->length;
    return cli_problem_set(r->problem, at, at < r->length ? at + 1 : at, "%s", text);
}

void *toml_room(void *items, size_t count, size_t size)
{
    if (count > 0 && (count < 4 || (count & (count - 1)) != 0)) {
        return items; /* there are 4, 8, 16, ... */
    }
    void *more = cli_alloc((count < 4 ? 4 : 2 * count) * size);
    if (count > 0) {
        memcpy(more, items, count * size);
    }
    return more;
}

static bool is_at(const toml_reader *r, const char *word)
{
    const size_t length = strlen(word);
    return r->length - r->at >= length && memcmp(r->text + r->at, word, length) == 0;
}

/* What no text, comment or string may have, but for ends of lines and tabs. */
static bool is_control(char c)
{
    return ((unsigned char)c < 32 && c != '\t') || c == 127;
}

bool toml_skip(toml_reader *r, bool lines)
{
    while (r->at < r->length) {
        const char c = r->text[r->at];
        const bool ends = c == '\n' || (c == '\r' && is_at(r, "\r\n"));
        if (c == ' ' || c == '\t' || (lines && ends)) {
            r->at++;
        } else if (lines && c == '#') {
            while (r->at < r->length && r->text[r->at] != '\n' && !is_at(r, "\r\n")) {
                if (is_control(r->text[r->at])) {
                    return toml_wrong(r, "a comment has a control character here");
                }
                r->at++;
            }
        } else {
            break;
        }
    }
    return true;
}

/* ---- strings -------------------------------------------------------------------------------- */

typedef struct buffer {
    char *data;
    size_t length, room;
} buffer;

static void put(buffer *b, char c)
{
    if (b->length + 1 >= b->room) {
        char *more = cli_alloc(b->room = b->room ? 2 * b->room : 64);
        if (b->length > 0) {
            memcpy(more, b->data, b->length);
        }
        b->data = more;
    }
    b->data[b->length++] = c;
}

static void put_code(buffer *b, uint32_t code)
{
    if (code < 0x80) {
        put(b, (char)code);
    } else if (code < 0x800) {
        put(b, (char)(0xc0 | code >> 6));
        put(b, (char)(0x80 | (code & 63)));
    } else if (code < 0x10000) {
        put(b, (char)(0xe0 | code >> 12));
        put(b, (char)(0x80 | (code >> 6 & 63)));
        put(b, (char)(0x80 | (code & 63)));
    } else {
        put(b, (char)(0xf0 | code >> 18));
        put(b, (char)(0x80 | (code >> 12 & 63)));
        put(b, (char)(0x80 | (code >> 6 & 63)));
        put(b, (char)(0x80 | (code & 63)));
    }
}

static bool read_code(toml_reader *r, buffer *b, int digits)
{
    uint32_t code = 0;
    for (int k = 0; k < digits; k++, r->at++) {
        if (r->at >= r->length || !isxdigit((unsigned char)r->text[r->at])) {
            return toml_wrong(r, "%d hexadecimal digits are expected here", digits);
        }
        const char c = r->text[r->at];
        code = code << 4 | (uint32_t)(c <= '9' ? c - '0' : (c | 32) - 'a' + 10);
    }
    if (code == 0 || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) {
        return toml_wrong(r, "there is no such character");
    }
    put_code(b, code);
    return true;
}

/* Behind a backslash. */
static bool read_escape(toml_reader *r, buffer *b, bool lines)
{
    static const char letters[] = "btnfr\"\\", means[] = "\b\t\n\f\r\"\\";
    const char c = r->at < r->length ? r->text[r->at] : '\0';
    const char *found = c ? strchr(letters, c) : NULL;
    if (found) {
        r->at++;
        put(b, means[found - letters]);
        return true;
    }
    if (c == 'u' || c == 'U') {
        r->at++;
        return read_code(r, b, c == 'u' ? 4 : 8);
    }
    if (lines && (c == '\n' || c == '\r' || c == ' ' || c == '\t')) {
        const size_t begin = r->at;
        while (r->at < r->length && strchr(" \t\r\n", r->text[r->at]) && r->text[r->at]) {
            r->at++;
        }
        if (memchr(r->text + begin, '\n', r->at - begin)) {
            return true; /* the line goes on behind the next blanks */
        }
        r->at = begin;
    }
    return toml_wrong(r, "a backslash cannot stand before this; write \\\\ for a backslash, or "
                         "put the string into '...'");
}

/* `quote` is its sign; `lines`: there are three of them, and it may have ends of lines. */
static bool read_string(toml_reader *r, toml_value *out, char quote, bool lines)
{
    const char three[] = {quote, quote, quote, '\0'};
    const size_t begin = r->at;
    buffer b = {0};
    r->at += lines ? 3 : 1;
    if (lines) {
        r->at += is_at(r, "\r\n") ? 2 : is_at(r, "\n");
    }
    for (;;) {
        if (r->at >= r->length || (!lines && r->text[r->at] == '\n')) {
            r->at = begin;
            return toml_wrong(r, "this string does not end%s",
                              lines ? "" : " on its line; put one of several lines into '''...'''");
        }
        const char c = r->text[r->at];
        if (lines ? is_at(r, three) : c == quote) {
            break;
        }
        if (is_control(c) && !(lines && (c == '\n' || is_at(r, "\r\n")))) {
            return toml_wrong(r, "a string cannot have this control character; write \\u%04X",
                              (unsigned char)c);
        }
        r->at++;
        if (c == '\\' && quote == '"') {
            if (!read_escape(r, &b, lines)) {
                return false;
            }
        } else {
            put(&b, c);
        }
    }
    r->at += lines ? 3 : 1;
    for (int k = 0; k < 2 && lines && r->at < r->length && r->text[r->at] == quote; k++) {
        put(&b, quote); /* one or two before the three that end it are its own */
        r->at++;
    }
    put(&b, '\0');
    out->kind = TOML_TEXT;
    out->text = b.data;
    return true;
}

/* ---- the others ----------------------------------------------------------------------------- */

static bool read_number(toml_reader *r, toml_value *out)
{
    const size_t begin = r->at;
    const char sign = r->text[r->at];
    uint64_t number = 0;
    r->at += sign == '-' || sign == '+';
    const size_t first = r->at;
    for (; r->at < r->length; r->at++) {
        const char c = r->text[r->at];
        if (c == '_' && r->at > first && r->text[r->at - 1] != '_') {
            continue;
        }
        if (!isdigit((unsigned char)c)) {
            break;
        }
        if (number > (INT64_MAX - 9) / 10) {
            return toml_wrong(r, "this number is too large");
        }
        number = 10 * number + (uint64_t)(c - '0');
    }
    const char next = r->at < r->length ? r->text[r->at] : ' ';
    if (r->at == first || r->text[r->at - 1] == '_' || isalpha((unsigned char)next) ||
        next == '.' || next == '-' || next == ':' || (r->text[first] == '0' && r->at > first + 1)) {
        r->at = begin;
        return toml_wrong(r, "a whole decimal number is expected here");
    }
    out->kind = TOML_NUMBER;
    out->number = sign == '-' ? -(int64_t)number : (int64_t)number;
    return true;
}

static bool read_list(toml_reader *r, toml_value *out)
{
    out->kind = TOML_LIST;
    if (++r->depth > MOST_DEPTH) {
        return toml_wrong(r, "lists are %d deep here, which is too deep", MOST_DEPTH);
    }
    r->at++;
    for (;;) {
        if (!toml_skip(r, true)) {
            return false;
        }
        if (r->at < r->length && r->text[r->at] == ']') {
            r->at++;
            r->depth--;
            return true;
        }
        toml_value item = {0};
        if (!toml_read_value(r, &item) || !toml_skip(r, true)) {
            return false;
        }
        out->items = toml_room(out->items, out->count, sizeof *out->items);
        out->items[out->count++] = item;
        if (r->at < r->length && r->text[r->at] == ',') {
            r->at++;
        } else if (r->at >= r->length || r->text[r->at] != ']') {
            return toml_wrong(r, "\",\" or \"]\" is expected here");
        }
    }
}

static bool read_word(toml_reader *r, toml_value *out)
{
    out->kind = TOML_TRUTH;
    out->number = is_at(r, "true");
    const size_t length = out->number ? 4 : is_at(r, "false") ? 5 : 0;
    const char next = r->at + length < r->length ? r->text[r->at + length] : ' ';
    if (length == 0 || isalnum((unsigned char)next) || next == '_') {
        return toml_wrong(r, "a value is expected here: a string in quotes, a whole number, true, "
                             "false, or a list in [ ]");
    }
    r->at += length;
    return true;
}

bool toml_read_value(toml_reader *r, toml_value *out)
{
    *out = (toml_value){.place = r->at};
    const char c = r->at < r->length ? r->text[r->at] : '\0';
    switch (c) {
    case '"':
        return read_string(r, out, c, is_at(r, "\"\"\""));
    case '\'':
        return read_string(r, out, c, is_at(r, "'''"));
    case '[':
        return read_list(r, out);
    case '{':
        return toml_wrong(r, "tables in { } are not read here; write a [table]");
    default:
        return isdigit((unsigned char)c) || c == '-' || c == '+' ? read_number(r, out)
                                                                 : read_word(r, out);
    }
}
