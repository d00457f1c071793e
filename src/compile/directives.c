/* SPDX-License-Identifier: MIT
 *
 * Where a text says that it includes something. In: a text of C++. Out: the names in its #include
 * lines and after its __has_include, one after the other. The thing to know: conditionals are not
 * evaluated and macros not expanded; a name that a macro gives comes out empty.
 */
#include "compile/nvrtc.h"

#include <string.h>

static const char has_include[] = "__has_include";

/* Past blanks and comments, which may span lines, but not past the end of a line outside them. */
static const char *skip_blanks(qn_str text, const char *p)
{
    const char *end = text.data + text.length;
    for (;;) {
        if (p < end && strchr(" \t\v\f", *p) && *p) {
            p++;
        } else if (end - p >= 2 && p[0] == '/' && p[1] == '*') {
            p = qn_cpp_skip_comment(qn_from(text, p)).data;
        } else {
            return p;
        }
    }
}

/* Read "name" or <name> at `p`. Returns where reading stopped. */
static const char *read_name(qn_str text, const char *p, qn_directive *out)
{
    const char *end = text.data + text.length;
    *out = (qn_directive){.name = {"", 0}};
    if (p == end || (*p != '"' && *p != '<')) {
        return p;
    }
    out->quoted = *p == '"';
    const char *begin = ++p;
    while (p < end && *p != '\n' && *p != (out->quoted ? '"' : '>')) {
        p++;
    }
    if (p < end && *p != '\n') {
        out->name = (qn_str){begin, (size_t)(p - begin)};
    }
    return p < end ? p + 1 : p;
}

/* Past `word`, if the text goes on with it; else NULL. */
static const char *behind_word(qn_str text, const char *p, const char *word)
{
    size_t length = strlen(word), left = (size_t)(text.data + text.length - p);
    bool is = left >= length && memcmp(p, word, length) == 0 &&
              (left == length || !qn_is_word(p[length]));
    return is ? p + length : NULL;
}

/* Past what the quote at `p` belongs to: a literal, or a number with a ' in it; the word before it
 * says which. Past the quote alone when it has no partner. */
static const char *skip_quote(qn_str text, const char *p)
{
    const char *word = p;
    while (word > text.data && qn_is_word(word[-1])) {
        word--;
    }
    qn_str rest = qn_from(text, word);
    qn_cpp_token t;
    do {
        t = qn_cpp_next(&rest);
    } while (rest.data <= p);
    return t.closed ? rest.data : p + 1;
}

/* The next #include from *at on; %: is another way to write #. */
bool qn_next_include(qn_str text, const char **at, qn_directive *out)
{
    const char *p = *at, *end = text.data + text.length;
    while (p < end) {
        p += strcspn(p, "#%/\"'"); /* the text is terminated, but may have zeros in it */
        if (p >= end) {
            break;
        }
        if (*p == '#' || (*p == '%' && p + 1 < end && p[1] == ':')) {
            p = skip_blanks(text, p + (*p == '#' ? 1 : 2));
            const char *plain = behind_word(text, p, "include");
            const char *behind = plain ? plain : behind_word(text, p, "include_next");
            if (behind) {
                *at = read_name(text, skip_blanks(text, behind), out);
                out->further = !plain;
                return true;
            }
            continue;
        }
        const char *behind = *p == '"' || *p == '\'' ? skip_quote(text, p)
                                                     : qn_cpp_skip_comment(qn_from(text, p)).data;
        p = QN_MAX(behind, p + 1);
    }
    return false;
}

/* Does the text before `p` ask whether the word there is defined: #ifdef, defined( ? */
static bool asks_if_defined(qn_str text, const char *p)
{
    static const char *const words[] = {"ifdef", "ifndef", "defined"};
    while (p > text.data && (p[-1] == ' ' || p[-1] == '\t' || p[-1] == '(')) {
        p--;
    }
    bool asks = false;
    for (size_t k = 0; k < QN_COUNT(words); k++) {
        size_t length = strlen(words[k]);
        asks |= (size_t)(p - text.data) >= length && memcmp(p - length, words[k], length) == 0;
    }
    return asks;
}

/* The next __has_include from *at on, wherever it is: what macros make of it is not known. */
bool qn_next_question(qn_str text, const char **at, qn_directive *out)
{
    const char *end = text.data + text.length, *p = *at;
    while ((p = memmem(p, (size_t)(end - p), has_include, strlen(has_include))) != NULL) {
        const char *behind = p + strlen(has_include);
        if (!asks_if_defined(text, p)) {
            *at = skip_blanks(text, behind);
            *out = (qn_directive){.name = {"", 0}};
            if (*at < end && **at == '(') {
                *at = read_name(text, skip_blanks(text, *at + 1), out);
            }
            return true;
        }
        p = behind;
    }
    return false;
}

/* ---- continued lines ------------------------------------------------------------------------ */

/* The next backslash that ends a line, from `p` on; *behind is set past the line's end. NULL:
 * none. */
static const char *next_splice(const char *p, const char *end, const char **behind)
{
    while ((p = memchr(p, '\\', (size_t)(end - p))) != NULL) {
        const char *newline = p + 1 + (p + 1 < end && p[1] == '\r');
        if (newline < end && *newline == '\n') {
            *behind = newline + 1;
            return p;
        }
        p++;
    }
    return NULL;
}

bool qn_join_lines(qn_str *text, char **copy)
{
    const char *p = text->data, *end = p + text->length, *behind;
    const char *cut = next_splice(p, end, &behind);
    *copy = NULL;
    if (!cut) {
        return true;
    }
    char *to = *copy = qn_alloc(text->length + 1);
    if (!to) {
        return false;
    }
    for (; cut; cut = next_splice(p, end, &behind)) {
        memcpy(to, p, (size_t)(cut - p));
        to += cut - p;
        p = behind;
    }
    memcpy(to, p, (size_t)(end - p));
    to += end - p;
    *to = '\0';
    *text = (qn_str){*copy, (size_t)(to - *copy)};
    return true;
}
