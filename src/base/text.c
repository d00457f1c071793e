/* SPDX-License-Identifier: MIT
 *
 * Growing text, and borrowed pieces of it. In: bytes and formats. Out: one terminated string.
 *
 * A failed allocation is remembered in the text, so that a long series of additions is checked
 * once, at the end.
 */
#include "base/base.h"

#include <stdio.h>
#include <string.h>

qn_str qn_str_of(const char *text)
{
    return text ? (qn_str){text, strlen(text)} : (qn_str){"", 0};
}

const char *qn_behind_mark(const char *text)
{
    static const char mark[] = "\xef\xbb\xbf";
    bool marked = text && qn_begins(text, mark);
    return marked ? text + sizeof mark - 1 : text;
}

bool qn_str_is(qn_str a, const char *text)
{
    return qn_str_same(a, qn_str_of(text));
}

bool qn_str_begins(qn_str text, const char *start)
{
    size_t length = strlen(start);
    return text.length >= length && memcmp(text.data, start, length) == 0;
}

bool qn_str_same(qn_str a, qn_str b)
{
    return a.length == b.length && (a.length == 0 || memcmp(a.data, b.data, a.length) == 0);
}

/* Make room for `more` bytes and the terminator. */
static bool reserve(qn_text *text, size_t more)
{
    if (text->failed) {
        return false;
    }
    if (more >= SIZE_MAX / 4 - text->length) {
        text->failed = true;
        return false;
    }
    size_t needed = text->length + more + 1;
    if (needed <= text->capacity) {
        return true;
    }
    size_t capacity = QN_MAX(needed, QN_MAX((size_t)64, text->capacity * 2));
    char *data = qn_realloc(text->data, capacity);
    if (!data) {
        text->failed = true;
        return false;
    }
    text->data = data;
    text->capacity = capacity;
    return true;
}

void qn_text_add(qn_text *text, const char *data, size_t length)
{
    if (!reserve(text, length)) {
        return;
    }
    if (length > 0) {
        memcpy(text->data + text->length, data, length);
    }
    text->length += length;
    text->data[text->length] = '\0';
}

void qn_text_puts(qn_text *text, const char *string)
{
    qn_text_add(text, string, strlen(string));
}

void qn_text_printf(qn_text *text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    qn_text_vprintf(text, format, arguments);
    va_end(arguments);
}

void qn_text_vprintf(qn_text *text, const char *format, va_list arguments)
{
    va_list again;
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, arguments);
    if (length < 0) {
        text->failed = true;
    } else if (reserve(text, (size_t)length)) {
        vsnprintf(text->data + text->length, (size_t)length + 1, format, again);
        text->length += (size_t)length;
    }
    va_end(again);
}

char *qn_text_take(qn_text *text)
{
    qn_text_add(text, "", 0); /* nothing was added: still a string */
    char *data = text->failed ? NULL : text->data;
    if (!data) {
        qn_free(text->data);
    }
    *text = (qn_text){0};
    return data;
}

void qn_text_free(qn_text *text)
{
    qn_free(text->data);
    *text = (qn_text){0};
}
