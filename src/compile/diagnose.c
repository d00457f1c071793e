/* SPDX-License-Identifier: MIT
 *
 * From the compiler's log to one sentence and a place in the user's own text. In: the log of a
 * failed compilation, such as
 *
 *     operation(1): error: identifier "foo" is undefined
 *         z = foo + 1;
 *             ^
 *
 * and the user's texts, by the names that #line gave them. Out: an error record. Only the first
 * error decides: those after it are often its consequences. A source line is printed after two
 * blanks, tabs kept, and the caret stands under its byte, whatever characters come before it.
 */
#include "compile/nvrtc.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define PRINTED_INDENT 2

/* The first error of a log. Everything points into the log. */
typedef struct finding {
    qn_str file;    /* empty: at the end of the source */
    uint32_t line;  /* 0 likewise */
    qn_str message; /* without "error: " */
    qn_str printed; /* the source line shown below it, or empty */
    size_t caret;   /* byte of `printed` under which the caret stands; SIZE_MAX: not shown */
    qn_str context; /* the lines up to the next blank one: "detected during ..." */
} finding;

/* Cut the first line off `rest`. */
static bool next_line(qn_str *rest, qn_str *line)
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

static const char *find_in(qn_str text, const char *what)
{
    return text.length > 0 ? memmem(text.data, text.length, what, strlen(what)) : NULL;
}

static qn_str from(qn_str text, const char *begin)
{
    return (qn_str){begin, (size_t)(text.data + text.length - begin)};
}

static qn_str trim(qn_str text)
{
    while (text.length > 0 && isspace((unsigned char)text.data[0])) {
        text = (qn_str){text.data + 1, text.length - 1};
    }
    while (text.length > 0 && isspace((unsigned char)text.data[text.length - 1])) {
        text.length--;
    }
    return text;
}

/* "error: text", "catastrophic error: text", "error #20-D: text" -> text */
static bool read_severity(qn_str text, qn_str *message)
{
    static const char *const severities[] = {"error", "catastrophic error", "internal error"};
    for (size_t k = 0; k < QN_COUNT(severities); k++) {
        size_t length = strlen(severities[k]);
        if (text.length > length && memcmp(text.data, severities[k], length) == 0 &&
            (text.data[length] == ':' || text.data[length] == ' ')) {
            const char *colon = memchr(text.data + length, ':', text.length - length);
            *message = colon ? trim(from(text, colon + 1)) : text;
            return true;
        }
    }
    return false;
}

/* FILE(LINE): severity: message */
static bool read_error_line(qn_str line, finding *out)
{
    static const char end_of_source[] = "At end of source: ", options[] = "Command-line error: ";
    if (find_in(line, options) == line.data && line.length > 0) {
        *out = (finding){.file = {"the options", 11},
                         .message = from(line, line.data + strlen(options))};
        return true;
    }
    if (find_in(line, end_of_source) == line.data && line.length > 0) {
        out->file = (qn_str){"", 0};
        out->line = 0;
        return read_severity(from(line, line.data + strlen(end_of_source)), &out->message);
    }
    const char *close = find_in(line, "): ");
    if (!close || !read_severity(from(line, close + 3), &out->message)) {
        return false;
    }
    const char *digits = close;
    while (digits > line.data && isdigit((unsigned char)digits[-1])) {
        digits--;
    }
    if (digits == close || digits == line.data || digits[-1] != '(') {
        return false;
    }
    out->line = (uint32_t)strtoul(digits, NULL, 10);
    out->file = (qn_str){line.data, (size_t)(digits - 1 - line.data)};
    return true;
}

/* The source line and its caret, if they follow; then the context. */
static void read_below(qn_str rest, finding *out)
{
    qn_str printed, caret, after = rest, line;
    out->caret = SIZE_MAX;
    out->printed = out->context = (qn_str){"", 0};
    if (next_line(&after, &printed) && next_line(&after, &caret) && qn_str_is(trim(caret), "^") &&
        printed.length >= PRINTED_INDENT && caret.length > PRINTED_INDENT) {
        size_t position =
            (size_t)((const char *)memchr(caret.data, '^', caret.length) - caret.data);
        out->printed = from(printed, printed.data + PRINTED_INDENT);
        out->caret = position - PRINTED_INDENT;
        rest = after;
    }
    qn_str scan = rest;
    while (next_line(&scan, &line) && trim(line).length > 0) {
        out->context = (qn_str){rest.data, (size_t)(line.data + line.length - rest.data)};
    }
}

static bool first_error(qn_str log, finding *out)
{
    qn_str line;
    while (next_line(&log, &line)) {
        if (read_error_line(line, out)) {
            read_below(log, out);
            return true;
        }
    }
    return false;
}

/* ---- places in user texts ------------------------------------------------------------------- */

typedef struct user_texts {
    const qn_user_text *list;
    size_t count;
} user_texts;

static const qn_user_text *text_named(user_texts texts, qn_str name)
{
    for (size_t k = 0; k < texts.count; k++) {
        if (qn_str_is(name, texts.list[k].file_name)) {
            return &texts.list[k];
        }
    }
    return NULL;
}

/* Line `number` (from 1) of a text; empty at the text's end when there are fewer. */
static qn_str text_line(const char *text, uint32_t number)
{
    for (; number > 1 && *text; number--) {
        text += strcspn(text, "\n");
        text += *text == '\n';
    }
    return (qn_str){text, strcspn(text, "\n")};
}

/* Bytes of the token at the beginning of `rest`. */
static size_t token_length(qn_str rest)
{
    size_t n = 0;
    if (rest.length > 0 && (rest.data[0] == '"' || rest.data[0] == '\'')) {
        const char *end = memchr(rest.data + 1, rest.data[0], rest.length - 1);
        return end ? (size_t)(end + 1 - rest.data) : rest.length;
    }
    while (n < rest.length && (isalnum((unsigned char)rest.data[n]) || rest.data[n] == '_' ||
                               (unsigned char)rest.data[n] >= 0x80)) {
        n++;
    }
    return QN_MAX(n, QN_MIN(rest.length, (size_t)1));
}

static void set_span(const qn_user_text *text, const char *begin, size_t length)
{
    size_t offset = (size_t)(begin - text->text);
    qn_error_span(text->file_name, qn_str_of(text->text), offset, offset + length);
}

/* The column (from 1) of the error in its line of the user's text; 0 when the compiler shows
 * another line than it names, as it does inside a macro of several lines. */
static uint32_t error_column(const finding *found, qn_str line)
{
    bool same = qn_str_same(trim(found->printed), trim(line)) && line.length > 0;
    return same && found->caret <= line.length ? (uint32_t)found->caret + 1 : 0;
}

static quern_status fail_in_text(const finding *found, const qn_user_text *text)
{
    qn_str line = text_line(text->text, found->line);
    uint32_t column = error_column(found, line);
    if (column == 0) {
        qn_str shown = trim(line);
        qn_fail(QUERN_ERROR_COMPILE, "%s:%u: %.*s", text->file_name, found->line,
                (int)found->message.length, found->message.data);
        set_span(text, shown.data, shown.length);
    } else {
        const char *begin = line.data + column - 1;
        qn_fail(QUERN_ERROR_COMPILE, "%s:%u:%u: %.*s", text->file_name, found->line, column,
                (int)found->message.length, found->message.data);
        set_span(text, begin, token_length(from(line, begin)));
    }
    qn_error_place(text->file_name, found->line, column);
    return QUERN_ERROR_COMPILE;
}

static uint32_t count_lines(const char *text)
{
    uint32_t lines = 1;
    for (; *text; text++) {
        lines += *text == '\n';
    }
    return lines;
}

/* Line and column (from 1) of the byte `at` of a text. */
static void place_of(const char *text, const char *at, uint32_t *line, uint32_t *column)
{
    *line = *column = 1;
    for (; text < at; text++) {
        *column = *text == '\n' ? 1 : *column + 1;
        *line += *text == '\n';
    }
}

/* The text ends where more was expected: the place is its last byte. */
static quern_status fail_past_end(const finding *found, const qn_user_text *text)
{
    qn_str whole = trim(qn_str_of(text->text));
    const char *last = whole.length > 0 ? whole.data + whole.length - 1 : text->text;
    uint32_t line, column;
    place_of(text->text, last, &line, &column);
    qn_fail(QUERN_ERROR_COMPILE, "%s:%u:%u: %.*s after this", text->file_name, line, column,
            (int)found->message.length, found->message.data);
    set_span(text, last, whole.length > 0);
    qn_error_place(text->file_name, line, column);
    return QUERN_ERROR_COMPILE;
}

/* The user's line that led to an error elsewhere: "... instantiation of ... at line 3 of operation"
 */
static bool fail_in_context(const finding *found, user_texts texts)
{
    static const char at_line[] = " at line ";
    const char *p = find_in(found->context, at_line);
    for (; p; p = find_in(from(found->context, p + 1), at_line)) {
        char *after;
        uint32_t number = (uint32_t)strtoul(p + strlen(at_line), &after, 10);
        qn_str name = from(found->context, after);
        const char *of = find_in(name, "of ");
        if (of != name.data + 1) {
            continue;
        }
        name = from(name, of + 3);
        name.length =
            strcspn(name.data, "\n") < name.length ? strcspn(name.data, "\n") : name.length;
        const qn_user_text *text = text_named(texts, trim(name));
        if (text) {
            qn_str line = trim(text_line(text->text, number));
            qn_fail(QUERN_ERROR_COMPILE, "%s:%u: %.*s (in what this line uses, at %.*s:%u)",
                    text->file_name, number, (int)found->message.length, found->message.data,
                    (int)found->file.length, found->file.data, found->line);
            set_span(text, line.data, line.length);
            qn_error_place(text->file_name, number, 0);
            return true;
        }
    }
    return false;
}

/* A bracket or a quote of the user's that has no partner, when the compiler stumbled after it. */
static bool fail_at_bracket(const finding *found, user_texts texts)
{
    for (size_t k = 0; k < texts.count; k++) {
        const qn_user_text *text = &texts.list[k];
        size_t at;
        if (!qn_bracket_unmatched(text->text, &at)) {
            continue;
        }
        uint32_t line, column;
        place_of(text->text, text->text + at, &line, &column);
        size_t length = text->text[at] == '/' ? 2 : 1;
        qn_fail(QUERN_ERROR_COMPILE, "%s:%u:%u: this %.*s has no partner (the compiler: %.*s)",
                text->file_name, line, column, (int)length, text->text + at,
                (int)found->message.length, found->message.data);
        set_span(text, text->text + at, length);
        qn_error_place(text->file_name, line, column);
        return true;
    }
    return false;
}

/* ---- outside of user texts ------------------------------------------------------------------ */

static quern_status fail_elsewhere(const finding *found, bool generated)
{
    static const char end[] = "end of the source";
    bool named = found->file.length > 0 || found->line > 0;
    qn_str file = named ? found->file : (qn_str){end, strlen(end)};
    qn_text place = {0};
    qn_text_add(&place, file.data, file.length);
    if (found->line > 0) {
        qn_text_printf(&place, ":%u", found->line);
    }
    qn_fail(QUERN_ERROR_COMPILE, "%s: %.*s%s", place.data ? place.data : end,
            (int)found->message.length, found->message.data,
            generated ? " (in generated code, next to the text given: see the source)" : "");
    if (found->line > 0 && place.data) {
        place.data[file.length] = '\0';
        qn_error_place(place.data, found->line, 0);
    }
    qn_text_free(&place);
    return QUERN_ERROR_COMPILE;
}

/* The compiler turns each name expression into a line of a file of its own. */
static bool fail_at_expression(const finding *found, const qn_compile_request *request)
{
    static const char pragma[] = "#pragma nv_mangled_name ";
    const char *expression = find_in(found->printed, pragma);
    if (!expression) {
        return false;
    }
    qn_str name = trim(from(found->printed, expression + strlen(pragma)));
    qn_text kernels = {0};
    size_t count = qn_source_kernels(&kernels, request->source);
    qn_fail(QUERN_ERROR_NAME, "the name expression \"%.*s\": %.*s; %s%s", (int)name.length,
            name.data, (int)found->message.length, found->message.data,
            count > 0 ? "the source has the kernels " : "the source itself has no kernels",
            kernels.data ? kernels.data : "");
    qn_text_free(&kernels);
    return true;
}

/* "cannot open source file "NAME"", and the like: say more. The text must outlive *found. */
static void explain_missing(finding *found, const qn_compile_request *request, qn_text *text)
{
    static const char before[] = "open source file \"";
    const char *name = find_in(found->message, before);
    if (!name) {
        return;
    }
    qn_str rest = from(found->message, name + strlen(before));
    const char *end = memchr(rest.data, '"', rest.length);
    if (end) {
        bool angled = find_in(found->printed, "<") && !find_in(found->printed, "\"");
        qn_explain_missing(text, (qn_str){rest.data, (size_t)(end - rest.data)},
                           angled ? NULL : &found->file, request);
        found->message = text->data ? (qn_str){text->data, text->length} : found->message;
    }
}

/* The assembler speaks otherwise: "ptxas error   : text", "ptxas ... line 26; fatal   : text". */
static bool fail_in_assembler(qn_str log)
{
    qn_str line;
    while (next_line(&log, &line)) {
        if (find_in(line, "ptxas") == line.data && line.length > 0 &&
            (find_in(line, "error ") || find_in(line, "fatal "))) {
            const char *colon = find_in(line, " : ");
            qn_str said = colon ? trim(from(line, colon + 3)) : line;
            qn_fail(QUERN_ERROR_COMPILE, "the assembler: %.*s", (int)said.length, said.data);
            return true;
        }
    }
    return false;
}

static quern_status fail_somewhere(const finding *found, user_texts texts, bool generated)
{
    const qn_user_text *text = text_named(texts, found->file);
    if (text && found->line <= count_lines(text->text)) {
        return fail_in_text(found, text);
    }
    if (fail_in_context(found, texts) || fail_at_bracket(found, texts)) {
        return QUERN_ERROR_COMPILE;
    }
    return text ? fail_past_end(found, text) : fail_elsewhere(found, generated);
}

quern_status qn_diagnose(qn_str log, const qn_compile_request *request, const qn_user_text *texts,
                         size_t text_count)
{
    finding found;
    if (!first_error(log, &found)) {
        return fail_in_assembler(log)
                   ? QUERN_ERROR_COMPILE
                   : qn_fail(QUERN_ERROR_COMPILE, "the compiler failed without an error message");
    }
    if (fail_at_expression(&found, request)) {
        return QUERN_ERROR_NAME;
    }
    qn_text missing = {0};
    explain_missing(&found, request, &missing);
    user_texts all = {texts, text_count};
    bool generated =
        text_count > 0 && !(request->file_name && text_named(all, qn_str_of(request->file_name)));
    quern_status status = fail_somewhere(&found, all, generated);
    qn_text_free(&missing);
    return status;
}

quern_status qn_diagnose_option(qn_str log, const qn_compile_request *request,
                                const qn_nvrtc *nvrtc)
{
    const char *error = find_in(log, "error: ");
    qn_str said = error ? from(log, error + strlen("error: ")) : log;
    said.length = QN_MIN(said.length, strcspn(said.data, "\n"));
    const char *culprit = NULL;
    for (size_t k = 0; k < request->option_count && !culprit; k++) {
        const char *option = request->options[k];
        qn_text name = {0};
        qn_text_add(&name, option, strcspn(option, "="));
        culprit = name.data && find_in(said, name.data) ? option : NULL;
        qn_text_free(&name);
    }
    return qn_fail(QUERN_ERROR_COMPILE, "NVRTC %d.%d does not accept the option%s%s%s: %.*s",
                   nvrtc->major, nvrtc->minor, culprit ? " \"" : "s", culprit ? culprit : "",
                   culprit ? "\"" : "", (int)said.length, said.data);
}
