/* SPDX-License-Identifier: MIT
 *
 * What in C++ text is no code. In: a place in a text. Out: the place behind the comment, string,
 * character constant or directive that begins there.
 */
#include "compile/nvrtc.h"

#include <ctype.h>
#include <string.h>

static const char *behind(qn_str rest, const char *what, size_t length)
{
    const char *found = memmem(rest.data, rest.length, what, length);
    return found ? found + length : NULL;
}

/* Is the quote at `p` that of R"(...)", u8R"(...)"? */
static bool is_raw(const char *text, const char *p)
{
    if (p == text || p[-1] != 'R') {
        return false;
    }
    const char *word = p - 1;
    while (word > text && qn_is_word(word[-1])) {
        word--;
    }
    qn_str prefix = {word, (size_t)(p - word)};
    return qn_str_is(prefix, "R") || qn_str_is(prefix, "u8R") || qn_str_is(prefix, "uR") ||
           qn_str_is(prefix, "UR") || qn_str_is(prefix, "LR");
}

/* "name( ... )name" */
static const char *skip_raw(qn_str rest)
{
    char close[20]; /* a name has 16 characters at most */
    const char *open = memchr(rest.data, '(', QN_MIN(rest.length, sizeof close - 1));
    if (!open) {
        return NULL;
    }
    size_t length = (size_t)(open - rest.data);
    close[0] = ')';
    memcpy(close + 1, rest.data + 1, length - 1);
    close[length] = '"';
    return behind((qn_str){open, rest.length - length}, close, length + 1);
}

static const char *skip_quoted(qn_str rest)
{
    const char *end = rest.data + rest.length, *p = rest.data + 1;
    while (p < end && *p != '\n' && *p != rest.data[0]) {
        p += p[0] == '\\' && p + 1 < end ? 2 : 1;
    }
    return p < end && *p == rest.data[0] ? p + 1 : NULL;
}

/* A ' between digits separates them, as in 1'000'000 and 0xff'ff. */
static bool is_separator(qn_str text, const char *p)
{
    return p > text.data && p + 1 < text.data + text.length && isxdigit((unsigned char)p[-1]) &&
           isxdigit((unsigned char)p[1]);
}

const char *qn_skip_inert(qn_str text, const char *p)
{
    qn_str rest = {p, text.length - (size_t)(p - text.data)};
    if (rest.length >= 2 && p[0] == '/' && p[1] == '/') {
        const char *newline = memchr(p, '\n', rest.length);
        return newline ? newline : p + rest.length;
    }
    if (rest.length >= 2 && p[0] == '/' && p[1] == '*') {
        return behind((qn_str){p + 2, rest.length - 2}, "*/", 2);
    }
    if (rest.length > 0 && *p == '"') {
        return is_raw(text.data, p) ? skip_raw(rest) : skip_quoted(rest);
    }
    if (rest.length > 0 && *p == '\'' && !is_separator(text, p)) {
        return skip_quoted(rest);
    }
    return p;
}

const char *qn_directive_end(qn_str text, const char *p)
{
    const char *end = text.data + text.length;
    while ((p = memchr(p, '\n', (size_t)(end - p))) != NULL) {
        if (p[p[-1] == '\r' ? -2 : -1] != '\\') {
            return p;
        }
        p++;
    }
    return end;
}
