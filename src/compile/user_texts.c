/* SPDX-License-Identifier: MIT
 *
 * Places in the user's texts. In: what the compiler calls a place: a name that #line gave, a line.
 * Out: the text, the line, the token there; and failures that begin with the place and mark it.
 */
#include "compile/nvrtc.h"

#include <string.h>

const qn_user_text *qn_text_named(qn_user_texts texts, qn_str name)
{
    for (size_t k = 0; k < texts.count && name.length > 0; k++) {
        if (texts.list[k].file_name && qn_str_is(name, texts.list[k].file_name)) {
            return &texts.list[k];
        }
    }
    return NULL;
}

const qn_user_text *qn_text_kept(qn_user_texts texts, qn_str name)
{
    const qn_user_text *text = qn_text_named(texts, name);
    const char *slash = name.length > 0 ? memrchr(name.data, '/', name.length) : NULL;
    qn_str base = slash ? qn_from(name, slash + 1) : name;
    for (size_t k = 0; k < texts.count && base.length > 0 && !text; k++) {
        const char *file_name = texts.list[k].file_name;
        bool is = file_name && qn_str_is(base, qn_base_name(file_name));
        text = is ? &texts.list[k] : NULL;
    }
    return text;
}

const qn_user_text *qn_text_before(qn_user_texts texts, qn_str name)
{
    static const char after[] = QN_AFTER;
    if (!qn_str_begins(name, after) || name.data[name.length - 1] != '>') {
        return NULL;
    }
    name = qn_from(name, name.data + strlen(after));
    name.length--;
    return qn_text_named(texts, name);
}

qn_str qn_text_line(const char *text, uint32_t number)
{
    for (; number > 1 && *text; number--) {
        text += strcspn(text, "\n");
        text += *text == '\n';
    }
    return (qn_str){text, strcspn(text, "\n")};
}

uint32_t qn_text_lines(const char *text)
{
    uint32_t lines = 1;
    for (; *text; text++) {
        lines += *text == '\n';
    }
    return lines;
}

void qn_place_of(const char *text, const char *at, uint32_t *line, uint32_t *column)
{
    *line = *column = 1;
    for (; text < at; text++) {
        *column = *text == '\n' ? 1 : *column + 1;
        *line += *text == '\n';
    }
}

qn_str qn_token_at(qn_str rest)
{
    size_t n = 0;
    if (rest.length > 0 && (rest.data[0] == '"' || rest.data[0] == '\'')) {
        const char *end = memchr(rest.data + 1, rest.data[0], rest.length - 1);
        return (qn_str){rest.data, end ? (size_t)(end + 1 - rest.data) : 1};
    }
    while (n < rest.length && qn_is_word(rest.data[n])) {
        n++;
    }
    return (qn_str){rest.data, QN_MAX(n, QN_MIN(rest.length, (size_t)1))};
}

const char *qn_word_in(qn_str text, qn_str word)
{
    const char *p = text.data, *end = text.data + text.length;
    while (word.length > 0 && p < end &&
           (p = memmem(p, (size_t)(end - p), word.data, word.length)) != NULL) {
        const char *behind = p + word.length;
        if ((p == text.data || !qn_is_word(p[-1])) && (behind == end || !qn_is_word(*behind))) {
            return p;
        }
        p++;
    }
    return NULL;
}

qn_str qn_last_token(const char *text)
{
    qn_str rest = qn_str_of(text), last = {text, 0};
    for (qn_cpp_token t = qn_cpp_next(&rest); t.kind != QN_CPP_END; t = qn_cpp_next(&rest)) {
        last = t.text;
    }
    return last;
}

static quern_status fail(const qn_user_text *text, qn_str span, uint32_t line, uint32_t column,
                         const char *format, va_list arguments)
{
    qn_text said = {0};
    qn_text_vprintf(&said, format, arguments);
    const char *message = said.data ? said.data : "";
    if (column > 0) {
        qn_fail(QUERN_ERROR_COMPILE, "%s:%u:%u: %s", text->file_name, line, column, message);
    } else {
        qn_fail(QUERN_ERROR_COMPILE, "%s:%u: %s", text->file_name, line, message);
    }
    qn_text_free(&said);
    size_t offset = (size_t)(span.data - text->text);
    qn_error_span(text->file_name, qn_str_of(text->text), offset, offset + span.length);
    qn_error_place(text->file_name, line, column);
    return QUERN_ERROR_COMPILE;
}

quern_status qn_fail_at_span(const qn_user_text *text, qn_str span, const char *format, ...)
{
    uint32_t line, column;
    qn_place_of(text->text, span.data, &line, &column);
    va_list arguments;
    va_start(arguments, format);
    fail(text, span, line, column, format, arguments);
    va_end(arguments);
    return QUERN_ERROR_COMPILE;
}

quern_status qn_fail_at_line(const qn_user_text *text, uint32_t line, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fail(text, qn_trim(qn_text_line(text->text, line)), line, 0, format, arguments);
    va_end(arguments);
    return QUERN_ERROR_COMPILE;
}

qn_str qn_missing_header(const qn_log_entry *found, qn_str line)
{
    const char *at = line.data;
    qn_directive d = {.name = {"", 0}};
    bool missing = qn_find_in(found->message, "open source file") && qn_next_include(line, &at, &d);
    return missing ? d.name : (qn_str){"", 0};
}
