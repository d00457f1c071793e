/* SPDX-License-Identifier: MIT
 *
 * The compiler's log, one finding after another. In: a log such as
 *
 *     operation(1): error: no instance of overloaded function "f" matches the argument list
 *                 argument types are: (const int, float)
 *       y = 1 + f(x, y)
 *               ^
 *               detected during instantiation of ...
 *
 * Out: its entries. An entry is a line that begins at the margin and the indented ones below it:
 * the rest of the message, then a source line with a caret, then how the compiler came there. A
 * source line is printed after two blanks, tabs kept, and the caret is under its byte, whatever
 * characters come before it.
 */
#include "compile/nvrtc.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define PRINTED_INDENT 2

bool qn_next_line(qn_str *rest, qn_str *line)
{
    if (rest->length == 0) {
        return false;
    }
    const char *end = memchr(rest->data, '\n', rest->length);
    size_t length = end ? (size_t)(end - rest->data) : rest->length;
    *line = (qn_str){rest->data, length};
    size_t step = length + (end != NULL);
    *rest = (qn_str){rest->data + step, rest->length - step};
    return true;
}

const char *qn_find_in(qn_str text, const char *what)
{
    return text.length > 0 ? memmem(text.data, text.length, what, strlen(what)) : NULL;
}

qn_str qn_from(qn_str text, const char *begin)
{
    return (qn_str){begin, (size_t)(text.data + text.length - begin)};
}

qn_str qn_trim(qn_str text)
{
    while (text.length > 0 && isspace((unsigned char)text.data[0])) {
        text = (qn_str){text.data + 1, text.length - 1};
    }
    while (text.length > 0 && isspace((unsigned char)text.data[text.length - 1])) {
        text.length--;
    }
    return text;
}

/* ---- the first line of an entry ------------------------------------------------------------- */

/* "error: text", "catastrophic error: text", "warning #20-D: text" -> text */
static bool read_severity(qn_str text, qn_log_entry *out)
{
    static const struct {
        const char *word;
        qn_severity severity;
    } severities[] = {{"error", QN_SAID_ERROR},
                      {"catastrophic error", QN_SAID_ERROR},
                      {"internal error", QN_SAID_ERROR},
                      {"warning", QN_SAID_WARNING},
                      {"note", QN_SAID_NOTE},
                      {"remark", QN_SAID_NOTE}};
    for (size_t k = 0; k < QN_COUNT(severities); k++) {
        size_t length = strlen(severities[k].word);
        if (text.length > length && memcmp(text.data, severities[k].word, length) == 0 &&
            (text.data[length] == ':' || text.data[length] == ' ')) {
            const char *colon = memchr(text.data + length, ':', text.length - length);
            out->message = colon ? qn_trim(qn_from(text, colon + 1)) : text;
            out->severity = severities[k].severity;
            return true;
        }
    }
    return false;
}

/* FILE(LINE): severity: message */
static bool read_first_line(qn_str line, qn_log_entry *out)
{
    static const char end_of_source[] = "At end of source: ", options[] = "Command-line error: ";
    if (qn_str_begins(line, options)) {
        *out = (qn_log_entry){.severity = QN_SAID_ERROR,
                              .file = QN_STR("the options"),
                              .message = qn_from(line, line.data + strlen(options))};
        return true;
    }
    if (qn_str_begins(line, end_of_source)) {
        return read_severity(qn_from(line, line.data + strlen(end_of_source)), out);
    }
    const char *close = qn_find_in(line, "): ");
    if (!close || !read_severity(qn_from(line, close + 3), out)) {
        return false;
    }
    const char *digits = close;
    while (digits > line.data && isdigit((unsigned char)digits[-1])) {
        digits--;
    }
    if (digits == close || digits == line.data || digits[-1] != '(') {
        out->severity = QN_SAID_OTHER;
        return false;
    }
    out->line = (uint32_t)strtoul(digits, NULL, 10);
    out->file = (qn_str){line.data, (size_t)(digits - 1 - line.data)};
    return true;
}

/* ---- the lines below ------------------------------------------------------------------------ */

static bool is_caret(qn_str line)
{
    return qn_str_is(qn_trim(line), "^") && line.length > PRINTED_INDENT;
}

/* Text without the blank lines at its end. */
static qn_str lines_between(const char *begin, const char *end)
{
    while (end > begin && isspace((unsigned char)end[-1])) {
        end--;
    }
    return end > begin ? (qn_str){begin, (size_t)(end - begin)} : (qn_str){"", 0};
}

/* The rest of the message, the source line and its caret, the context. */
static void read_below(qn_str below, qn_log_entry *out)
{
    static const char during[] = "detected during";
    qn_str rest = below, line, before = {NULL, 0};
    const char *end = below.data + below.length, *details = end, *context = end;
    out->caret = SIZE_MAX;
    out->printed = (qn_str){"", 0};
    while (qn_next_line(&rest, &line)) {
        qn_str ahead = rest, next;
        bool caret = before.data && is_caret(line) &&
                     !(qn_next_line(&ahead, &next) && is_caret(next)); /* the source may be "^" */
        if (caret && before.length >= PRINTED_INDENT) {
            size_t at = (size_t)((const char *)memchr(line.data, '^', line.length) - line.data);
            out->printed = qn_from(before, before.data + PRINTED_INDENT);
            out->caret = at - PRINTED_INDENT;
            details = before.data;
            context = rest.data;
            break;
        }
        if (qn_str_begins(qn_trim(line), during)) {
            details = context = line.data;
            break;
        }
        before = line;
    }
    out->details = lines_between(below.data, details);
    out->context = lines_between(context, end);
}

bool qn_next_entry(qn_str *log, qn_log_entry *out)
{
    qn_str line;
    do {
        if (!qn_next_line(log, &line)) {
            return false;
        }
    } while (qn_trim(line).length == 0);
    *out = (qn_log_entry){.severity = QN_SAID_OTHER, .file = {"", 0}, .message = line};
    bool read = read_first_line(line, out);
    qn_str below = {log->data, 0}, rest = *log, next;
    while (qn_next_line(&rest, &next) &&
           (next.length == 0 || isspace((unsigned char)next.data[0]))) {
        below.length = (size_t)(rest.data - below.data);
        *log = rest;
    }
    if (read) {
        read_below(below, out);
    }
    out->whole = lines_between(line.data, below.data + below.length);
    return true;
}

bool qn_first_error(qn_str log, qn_log_entry *out)
{
    do {
        if (!qn_next_entry(&log, out)) {
            return false;
        }
    } while (out->severity != QN_SAID_ERROR);
    qn_log_entry note; /* the last of its notes may have the context */
    while (out->context.length == 0 && qn_next_entry(&log, &note) &&
           note.severity == QN_SAID_NOTE) {
        out->context = note.context;
    }
    return true;
}
