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
 * error decides: those after it are often its consequences.
 *
 * The thing to know: the generated code after each text has a name of its own (QN_AFTER), so that
 * an error about something missing there is reported for the text that ends too early.
 */
#include "compile/nvrtc.h"

#include <stdlib.h>
#include <string.h>

#define COLUMNS 65536 /* the compiler counts columns modulo this */
#define NEAR    4 /* lines after a text in which the compiler may notice that it ended too early */

static bool quotes(qn_str message, qn_str token)
{
    const char *p = token.length > 0 ? qn_word_in(message, token) : NULL;
    return p && p > message.data && p[-1] == '"' && p[token.length] == '"';
}

const char *qn_place_in_line(const qn_log_entry *found, qn_str line)
{
    bool same = line.length > 0 && qn_str_same(qn_trim(found->printed), qn_trim(line));
    if (!same || found->caret > line.length) {
        return NULL;
    }
    for (size_t at = found->caret; at < line.length; at += COLUMNS) {
        const char *p = line.data + at;
        if (line.length < COLUMNS || quotes(found->message, qn_token_at(qn_from(line, p)))) {
            return p;
        }
    }
    return line.length < COLUMNS ? line.data + found->caret
                                 : NULL; /* better no place than a wrong one */
}

/* ---- in user texts -------------------------------------------------------------------------- */

static quern_status fail_in_text(const qn_log_entry *found, qn_str message,
                                 const qn_user_text *text)
{
    qn_str line = qn_text_line(text->text, found->line);
    const char *place = qn_place_in_line(found, line);
    size_t at;
    qn_str header = qn_missing_header(found, line);
    if (qn_bracket_alone(text, place ? place : line.data + line.length, message, &at)) {
        qn_fail_at_bracket(text, at, message);
    } else if (header.length > 0) {
        qn_fail_at_span(text, header, "%.*s", (int)message.length, message.data);
    } else if (place) {
        qn_fail_at_span(text, qn_token_at(qn_from(line, place)), "%.*s", (int)message.length,
                        message.data);
    } else {
        qn_fail_at_line(text, found->line, "%.*s", (int)message.length, message.data);
    }
    return QUERN_ERROR_COMPILE;
}

/* `... instantiation of "T f(T) [with T=float]" ...` -> f */
static qn_str instantiated(qn_str context, const char *before)
{
    qn_str said = {context.data, (size_t)(before - context.data)};
    const char *newline = memrchr(said.data, '\n', said.length);
    said = newline ? qn_from(said, newline) : said;
    const char *open = memchr(said.data, '"', said.length);
    const char *end = open ? memchr(open, '(', (size_t)(before - open)) : NULL;
    const char *begin = end;
    while (begin && begin > open + 1 && !strchr(" :*&", begin[-1])) {
        begin--;
    }
    return end ? (qn_str){begin, (size_t)(end - begin)} : (qn_str){"", 0};
}

/* The user's line that led to an error elsewhere: "instantiation of ... at line 3 of operation" */
static bool fail_in_context(const qn_log_entry *found, qn_str message, qn_user_texts texts)
{
    static const char at_line[] = " at line ";
    const char *p = qn_find_in(found->context, at_line);
    for (; p; p = qn_find_in(qn_from(found->context, p + 1), at_line)) {
        char *after;
        uint32_t number = (uint32_t)strtoul(p + strlen(at_line), &after, 10);
        qn_str rest = qn_from(found->context, after), name;
        if (!qn_next_line(&rest, &name) || !qn_str_begins(name, " of ")) {
            continue;
        }
        const qn_user_text *text = qn_text_named(texts, qn_trim(qn_from(name, name.data + 4)));
        if (!text) {
            continue;
        }
        qn_str line = qn_text_line(text->text, number);
        qn_str word = instantiated(found->context, p);
        const char *at = qn_word_in(line, word);
        const char *used = at ? "what this uses" : "what this line uses";
        if (at) {
            qn_fail_at_span(text, (qn_str){at, word.length}, "%.*s (in %s, at %.*s:%u)",
                            (int)message.length, message.data, used, (int)found->file.length,
                            found->file.data, found->line);
        } else {
            qn_fail_at_line(text, number, "%.*s (in %s, at %.*s:%u)", (int)message.length,
                            message.data, used, (int)found->file.length, found->file.data,
                            found->line);
        }
        return true;
    }
    return false;
}

/* A macro of the user's that changes the generated code. */
static bool fail_at_macro(const qn_log_entry *found, qn_str message, qn_user_texts texts)
{
    static const char define[] = "define";
    for (size_t k = 0; k < texts.count; k++) {
        const qn_user_text *text = &texts.list[k];
        qn_str rest = qn_str_of(text->file_name ? text->text : ""), line;
        while (qn_next_line(&rest, &line)) {
            qn_str word = qn_trim(line);
            if (!qn_str_begins(word, "#")) {
                continue;
            }
            word = qn_trim(qn_from(word, word.data + 1));
            if (!qn_str_begins(word, define)) {
                continue;
            }
            word = qn_token_at(qn_trim(qn_from(word, word.data + strlen(define))));
            if (qn_word_in(found->printed, word)) {
                qn_fail_at_span(text, word,
                                "this macro changes the code that Quern generates around the "
                                "texts: give it another name (the compiler: %.*s)",
                                (int)message.length, message.data);
                return true;
            }
        }
    }
    return false;
}

/* The same for an option: -DNAME, or -D NAME, or the long form of either. */
static bool fail_at_option(const qn_log_entry *found, qn_str message,
                           const qn_compile_request *request)
{
    static const char *const forms[] = {"-D", "--define-macro=", "--define-macro"};
    for (size_t k = 0; k < request->option_count; k++) {
        qn_str option = qn_str_of(request->options[k]), name = option;
        for (size_t f = 0; f < QN_COUNT(forms) && name.data == option.data; f++) {
            if (qn_str_begins(option, forms[f])) {
                name = qn_from(option, option.data + strlen(forms[f]));
            }
        }
        if (name.data == option.data) {
            continue;
        }
        if (name.length == 0 && k + 1 < request->option_count) {
            name = qn_str_of(request->options[++k]);
        }
        name = qn_token_at(name);
        if (name.length > 0 && qn_word_in(found->printed, name)) {
            qn_fail(QUERN_ERROR_COMPILE,
                    "the option that defines '%.*s' changes Quern's own code: give the macro "
                    "another name (the compiler: %.*s)",
                    (int)name.length, name.data, (int)message.length, message.data);
            return true;
        }
    }
    return false;
}

/* ---- outside user texts --------------------------------------------------------------------- */

static quern_status fail_elsewhere(const qn_log_entry *found, qn_str message, bool generated)
{
    static const char end[] = "end of the source";
    bool named = found->file.length > 0 || found->line > 0;
    qn_str file = named ? found->file : (qn_str){end, strlen(end)};
    qn_text place = {0};
    qn_text_add(&place, file.data, file.length);
    if (found->line > 0) {
        qn_text_printf(&place, ":%u", found->line);
    }
    qn_fail(QUERN_ERROR_COMPILE, "%s: %.*s%s", place.data ? place.data : end, (int)message.length,
            message.data,
            generated ? " (in generated code, next to the text given: see the source)" : "");
    if (found->line > 0 && place.data) {
        place.data[file.length] = '\0';
        qn_error_place(place.data, found->line, 0);
    }
    qn_text_free(&place);
    return QUERN_ERROR_COMPILE;
}

/* The compiler turns each name expression into a line of a file of its own. */
static bool fail_at_expression(const qn_log_entry *found, const qn_compile_request *request)
{
    static const char pragma[] = "#pragma nv_mangled_name ";
    const char *expression = qn_find_in(found->printed, pragma);
    if (!expression) {
        return false;
    }
    qn_str name = qn_trim(qn_from(found->printed, expression + strlen(pragma)));
    qn_text kernels = {0};
    size_t count = qn_source_kernels(&kernels, request->source);
    qn_fail(QUERN_ERROR_NAME, "the name expression \"%.*s\": %.*s; %s%s", (int)name.length,
            name.data, (int)found->message.length, found->message.data,
            count > 0 ? "the source has the kernels " : "the source itself has no kernels",
            kernels.data ? kernels.data : "");
    qn_text_free(&kernels);
    return true;
}

/* The user's name for the kernel is already taken: by CUDA, a header or a type letter. */
static bool fail_at_kernel_name(const qn_log_entry *found, qn_str message)
{
    static const char before[] = "extern \"C\" __global__ void ", bounds[] = "__launch_bounds__(";
    if (!qn_str_begins(found->printed, before)) {
        return false;
    }
    qn_str name = qn_from(found->printed, found->printed.data + strlen(before));
    const char *close = qn_find_in(name, ") ");
    name = qn_token_at(qn_str_begins(name, bounds) && close ? qn_from(name, close + 2) : name);
    if (found->caret != (size_t)(name.data - found->printed.data) && !qn_word_in(message, name)) {
        return false;
    }
    qn_fail_at(QUERN_ERROR_COMPILE, QN_KERNEL_NAME, name, 0, name.length,
               "'%.*s' cannot be the name of the kernel: %.*s", (int)name.length, name.data,
               (int)message.length, message.data);
    return true;
}

/* Say more about "cannot open source file "NAME"" and the like. */
static void explain_missing(qn_text *out, const qn_log_entry *found,
                            const qn_compile_request *request)
{
    static const char before[] = "open source file \"";
    const char *name = qn_find_in(found->message, before);
    if (!name) {
        return;
    }
    qn_str rest = qn_from(found->message, name + strlen(before));
    const char *end = memchr(rest.data, '"', rest.length);
    if (end) {
        bool angled = qn_find_in(found->printed, "<") && !qn_find_in(found->printed, "\"");
        qn_explain_missing(out, (qn_str){rest.data, (size_t)(end - rest.data)},
                           angled ? NULL : &found->file, request);
    }
}

/* The assembler's messages look different: "ptxas error   : text", "ptxas ... line 26; fatal   :
 * text". */
static bool fail_in_assembler(qn_str log)
{
    qn_str line;
    while (qn_next_line(&log, &line)) {
        if (qn_find_in(line, "ptxas") == line.data && line.length > 0 &&
            (qn_find_in(line, "error ") || qn_find_in(line, "fatal "))) {
            const char *colon = qn_find_in(line, " : ");
            qn_str said = colon ? qn_trim(qn_from(line, colon + 3)) : line;
            qn_fail(QUERN_ERROR_COMPILE, "the assembler: %.*s", (int)said.length, said.data);
            return true;
        }
    }
    return false;
}

static quern_status fail_somewhere(const qn_log_entry *found, qn_str message, qn_user_texts texts,
                                   const qn_compile_request *request)
{
    const qn_user_text *text = qn_text_named(texts, found->file);
    const qn_user_text *before = qn_text_before(texts, found->file);
    bool own = request->file_name && qn_text_named(texts, qn_str_of(request->file_name));
    if (qn_fail_in_ended_header(found, message, texts, request)) {
        return QUERN_ERROR_COMPILE;
    }
    if (text && found->line <= qn_text_lines(text->text)) {
        return fail_in_text(found, message, text);
    }
    if ((!text && qn_fail_in_header(found, message, texts, request, false)) ||
        fail_in_context(found, message, texts) ||
        (!text && qn_fail_in_header(found, message, texts, request, true)) ||
        qn_fail_at_brackets(message, text ? text : before, texts) ||
        (!text && (fail_at_kernel_name(found, message) || fail_at_macro(found, message, texts) ||
                   (!own && fail_at_option(found, message, request))))) {
        return QUERN_ERROR_COMPILE;
    }
    if (text || (before && found->line <= NEAR)) {
        return qn_fail_past_end(message, text ? text : before);
    }
    return fail_elsewhere(found, message, texts.count > 0 && !own);
}

quern_status qn_diagnose(qn_str log, const qn_compile_request *request, const qn_user_text *texts,
                         size_t text_count)
{
    qn_log_entry found;
    if (!qn_first_error(log, &found)) {
        return fail_in_assembler(log)
                   ? QUERN_ERROR_COMPILE
                   : qn_fail(QUERN_ERROR_COMPILE, "the compiler failed without an error message");
    }
    if (fail_at_expression(&found, request)) {
        return QUERN_ERROR_NAME;
    }
    qn_text said = {0};
    explain_missing(&said, &found, request);
    if (!said.data) {
        qn_log_sentence(&said, &found);
    }
    qn_str message = said.failed || !said.data ? found.message : (qn_str){said.data, said.length};
    quern_status status =
        fail_somewhere(&found, message, (qn_user_texts){texts, text_count}, request);
    qn_text_free(&said);
    return status;
}

quern_status qn_diagnose_option(qn_str log, const qn_compile_request *request,
                                const qn_nvrtc *nvrtc)
{
    const char *error = qn_find_in(log, "error: ");
    qn_str said = error ? qn_from(log, error + strlen("error: ")) : log;
    said.length = QN_MIN(said.length, strcspn(said.data, "\n"));
    const char *culprit = NULL;
    for (size_t k = 0; k < request->option_count && !culprit; k++) {
        const char *option = request->options[k];
        qn_text name = {0};
        qn_text_add(&name, option, strcspn(option, "="));
        culprit = name.data && qn_find_in(said, name.data) ? option : NULL;
        qn_text_free(&name);
    }
    return qn_fail(QUERN_ERROR_COMPILE, "NVRTC %d.%d does not accept the option%s%s%s: %.*s",
                   nvrtc->major, nvrtc->minor, culprit ? " \"" : "s", culprit ? culprit : "",
                   culprit ? "\"" : "", (int)said.length, said.data);
}
