/* SPDX-License-Identifier: MIT
 *
 * The one scanner of C++ text. In: a text. Out: its tokens, one after the other.
 *
 *     token    = word | number | literal | mark      the first of these that fits
 *     word     = letter (letter | digit)*            "_", "$" and bytes >= 0x80 are letters
 *     number   = "."? digit (exponent | letter | digit | "." | "'" (letter | digit))*
 *     exponent = ("e" | "E" | "p" | "P") ("+" | "-")
 *     literal  = raw | quoted
 *     quoted   = quote (joined | "\" any | any but quote and newline)* quote
 *     raw      = ("R" | "LR" | "uR" | "UR" | "u8R") '"' name "(" anything ")" name '"'
 *     name     = up to 16 bytes, no white space, parenthesis or "\"
 *     mark     = "&&" | any
 *
 *     comment  = "//" (joined | any but newline)* | "/" "*" anything "*" "/"
 *     joined   = "\" newline                         joins two lines
 *     newline  = "\n" | "\r\n"
 *
 * White space, joined lines and comments separate tokens and are skipped.
 *
 * A literal or comment without an end is marked as not closed. A quoted literal then stops at the
 * end of its line, and so does a raw one whose name is not valid; any other raw literal, and a
 * comment, stop at the end of the text. Other prefixes of literals (L, u8) are words of their own,
 * and directives are tokens like any others. The thing to know: the text need be neither C++ nor
 * terminated, and may have zeros in it; a word that a backslash cuts comes out as two.
 */
#include "base/cpp_text.h"

#include <string.h>

#define RAW_NAME_MAX 16

enum { LETTER = 1, DIGIT = 2, SPACE = 4, EXPONENT = 8 };

/* A table, because every byte is looked up; not <ctype.h>, whose answers depend on the locale. */
static const unsigned char classes[256] = {
    ['0' ... '9'] = DIGIT,
    ['A' ... 'D'] = LETTER,
    ['E'] = LETTER | EXPONENT,
    ['F' ... 'O'] = LETTER,
    ['P'] = LETTER | EXPONENT,
    ['Q' ... 'Z'] = LETTER,
    ['a' ... 'd'] = LETTER,
    ['e'] = LETTER | EXPONENT,
    ['f' ... 'o'] = LETTER,
    ['p'] = LETTER | EXPONENT,
    ['q' ... 'z'] = LETTER,
    ['_'] = LETTER,
    ['$'] = LETTER,
    [0x80 ... 0xff] = LETTER,
    ['\t' ... '\r'] = SPACE,
    [' '] = SPACE,
};

static unsigned class_of(char c)
{
    return classes[(unsigned char)c];
}

bool qn_is_word(char c)
{
    return class_of(c) & (LETTER | DIGIT);
}

static qn_str from(const char *p, const char *end)
{
    return (qn_str){p, (size_t)(end - p)};
}

/* The length of the backslash and line end at `p` that join two lines; 0: there are none. */
static size_t joined(const char *p, const char *end)
{
    if (end - p >= 2 && p[0] == '\\' && p[1] == '\n') {
        return 2;
    }
    return end - p >= 3 && p[0] == '\\' && p[1] == '\r' && p[2] == '\n' ? 3 : 0;
}

static const char *line_end(const char *p, const char *end)
{
    const char *begin = p;
    while ((p = memchr(p, '\n', (size_t)(end - p))) != NULL) {
        const char *last = p - begin >= 2 && p[-1] == '\r' ? p - 2 : p - 1;
        if (p == begin || *last != '\\') {
            return p;
        }
        p++;
    }
    return end;
}

/* Past the comment at `p`; `p` when there is none; NULL when it has no end. */
static const char *skip_comment(const char *p, const char *end)
{
    if (end - p < 2 || p[0] != '/') {
        return p;
    }
    if (p[1] == '/') {
        return line_end(p, end);
    }
    if (p[1] != '*') {
        return p;
    }
    const char *close = memmem(p + 2, (size_t)(end - p - 2), "*/", 2);
    return close ? close + 2 : NULL;
}

/* Past white space and comments; stops at a comment that has no end. */
static const char *skip_blank(const char *p, const char *end)
{
    for (;;) {
        while (p < end && (class_of(*p) & SPACE)) {
            p++;
        }
        if (p == end || (*p != '/' && *p != '\\')) {
            return p;
        }
        const char *behind = *p == '/' ? skip_comment(p, end) : p + joined(p, end);
        if (!behind || behind == p) {
            return p;
        }
        p = behind;
    }
}

static const char *skip_word(const char *p, const char *end)
{
    while (p < end && qn_is_word(*p)) {
        p++;
    }
    return p;
}

static const char *skip_number(const char *p, const char *end)
{
    while (p < end) {
        const bool more = p + 1 < end;
        if (qn_is_word(*p)) {
            p += (class_of(*p) & EXPONENT) && more && (p[1] == '+' || p[1] == '-') ? 2 : 1;
        } else if (*p == '.' || (*p == '\'' && more && qn_is_word(p[1]))) {
            p++;
        } else {
            break;
        }
    }
    return p;
}

/* Past "..." or '...', from the quote on. */
static const char *skip_quoted(const char *p, const char *end, bool *closed)
{
    char quote = *p++;
    while (p < end && *p != quote && *p != '\n') {
        size_t join = *p == '\\' ? joined(p, end) : 1;
        p += join > 0 ? join : (size_t)QN_MIN(end - p, 2);
    }
    *closed = p < end && *p == quote;
    return p + *closed;
}

/* Past "name( ... )name", from the quote on. */
static const char *skip_raw(const char *quote, const char *end, bool *closed)
{
    char close[RAW_NAME_MAX + 2];
    const char *open = quote + 1;
    while (open < end && open - quote <= RAW_NAME_MAX && !(class_of(*open) & SPACE) &&
           *open != '(' && *open != ')' && *open != '\\') {
        open++;
    }
    if (open == end || *open != '(') {
        const char *behind = skip_quoted(quote, end, closed);
        *closed = false;
        return behind;
    }
    size_t length = (size_t)(open - quote);
    close[0] = ')';
    memcpy(close + 1, quote + 1, length - 1);
    close[length] = '"';
    const char *found = memmem(open, (size_t)(end - open), close, length + 1);
    *closed = found != NULL;
    return found ? found + length + 1 : end;
}

static bool is_raw_prefix(qn_str word)
{
    return qn_str_is(word, "R") || qn_str_is(word, "LR") || qn_str_is(word, "uR") ||
           qn_str_is(word, "UR") || qn_str_is(word, "u8R");
}

qn_cpp_token qn_cpp_next(qn_str *rest)
{
    const char *end = rest->data + rest->length, *p = skip_blank(rest->data, end), *behind = p;
    qn_cpp_token t = {.closed = true};
    if (p == end || (*p == '/' && !skip_comment(p, end))) {
        t.closed = p == end;
        behind = end;
    } else if (class_of(*p) & LETTER) {
        t.kind = QN_CPP_WORD;
        behind = skip_word(p, end);
        if (behind < end && *behind == '"' && is_raw_prefix(from(p, behind))) {
            t.kind = QN_CPP_LITERAL;
            behind = skip_raw(behind, end, &t.closed);
        }
    } else if (class_of(*p) & DIGIT || (*p == '.' && p + 1 < end && class_of(p[1]) & DIGIT)) {
        t.kind = QN_CPP_NUMBER;
        behind = skip_number(p, end);
    } else if (*p == '"' || *p == '\'') {
        t.kind = QN_CPP_LITERAL;
        behind = skip_quoted(p, end, &t.closed);
    } else {
        t.kind = QN_CPP_MARK;
        behind = p + (p[0] == '&' && p + 1 < end && p[1] == '&' ? 2 : 1);
    }
    t.text = from(p, behind);
    *rest = from(behind, end);
    return t;
}

qn_str qn_cpp_skip_blank(qn_str text)
{
    const char *end = text.data + text.length;
    return from(skip_blank(text.data, end), end);
}

qn_str qn_cpp_skip_comment(qn_str text)
{
    const char *end = text.data + text.length, *behind = skip_comment(text.data, end);
    return from(behind ? behind : end, end);
}

qn_str qn_cpp_skip_line(qn_str text)
{
    const char *end = text.data + text.length;
    return from(line_end(text.data, end), end);
}
