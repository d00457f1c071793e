/* SPDX-License-Identifier: MIT
 *
 * failure_place: where in the user's text a kernel failed, and over which argument. In: what the
 * device recorded, the texts that it may be in, and the kernel's arguments. Out: the failure with a
 * span, so that a caret can be drawn, and its message in the user's words. Where the compiler has
 * moved the access away from the line that asked for it, the argument's name leads to that line.
 */
#include "engine/modules/modules.h"
#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* A piece of one of the texts. */
typedef struct span {
    const qn_user_text *text; /* NULL: none */
    size_t begin, end;
} span;

/* From the place that the compiler gives, to the end of its line. */
static span recorded_span(const qn_failure *about)
{
    const char *file;
    uint32_t line, column;
    if (!qn_error_get_place(&file, &line, &column)) {
        return (span){0};
    }
    for (size_t t = 0; t < about->text_count; t++) {
        const qn_user_text *text = &about->texts[t];
        if (!text->file_name || strcmp(qn_base_name(file), qn_base_name(text->file_name)) != 0 ||
            line == 0 || line > qn_text_lines(text->text)) {
            continue;
        }
        const qn_str whole = qn_text_line(text->text, line);
        size_t begin = (size_t)(whole.data - text->text), end = begin + whole.length;
        if (column != 0 && begin + column - 1 < end) {
            begin += column - 1;
        }
        return (span){text, begin, end};
    }
    return (span){0};
}

/* ---- uses of a name ------------------------------------------------------------------------- */

/* Skip an index in brackets at `at`, with blanks before it, up to `end`. Returns `at` if there is
 * none. */
static size_t skip_index(const char *text, size_t at, size_t end)
{
    size_t k = at;
    while (k < end && isspace((unsigned char)text[k])) {
        k++;
    }
    int depth = 0;
    for (; k < end && (depth > 0 || text[k] == '['); k++) {
        depth += (text[k] == '[') - (text[k] == ']');
        at = depth == 0 ? k + 1 : at;
    }
    return at;
}

/* The first use of a name from `begin` on, including an index in brackets after it. */
static bool next_use(span *out, const qn_user_text *text, qn_str name, size_t begin, size_t end)
{
    qn_str rest = qn_str_of(text->text + begin), used;
    while (qn_text_next_name(&rest, &used) && used.data < text->text + end) {
        if (qn_str_same(used, name)) {
            const size_t at = (size_t)(used.data - text->text);
            *out = (span){text, at, skip_index(text->text, at + name.length, end)};
            return true;
        }
    }
    return false;
}

/* True when the index after the name is a literal number, as in "w[20]"; *number receives it. */
static bool has_number(const span *use, qn_str name, int64_t *number)
{
    char digits[32];
    const size_t length = use->end - use->begin - name.length;
    int read = 0;
    long long value;
    if (length < 3 || length >= sizeof digits) {
        return false;
    }
    memcpy(digits, use->text->text + use->begin + name.length, length);
    digits[length] = '\0';
    const bool is = sscanf(digits, "[%lld]%n", &value, &read) == 1 && (size_t)read == length;
    *number = is ? value : 0;
    return is;
}

/* The use of a name between two bytes that fits the element best: one whose index is its number,
 * else the first whose index is not a number, else the first without an index. *count: how many are
 * equally good. */
static span best_use(size_t *count, const qn_user_text *text, qn_str name, int64_t element,
                     size_t begin, size_t end)
{
    span best = {0}, use;
    *count = 0;
    for (size_t at = begin; next_use(&use, text, name, at, end); at = use.begin + name.length) {
        int64_t number;
        if (has_number(&use, name, &number)) {
            if (number == element) {
                *count = 1;
                return use;
            }
            if (use.begin == 0 || text->text[use.begin - 1] != '&') {
                continue; /* another element; through its address it could be any */
            }
        }
        const size_t length = use.end - use.begin, best_length = best.end - best.begin;
        if (!best.text || (length > name.length && best_length == name.length)) {
            best = use;
            *count = 1;
        } else {
            *count += (length > name.length) == (best_length > name.length);
        }
    }
    return best;
}

/* The only use of the name within the recorded statement, or the statement if there are several. */
static span narrower(size_t *found, const span *recorded, qn_str name, int64_t element)
{
    const char *text = recorded->text->text;
    size_t end = recorded->begin, uses;
    while (end < recorded->end && text[end] != ';') {
        end++;
    }
    span use = best_use(&uses, recorded->text, name, element, recorded->begin, end);
    if (uses == 0) { /* used through a pointer, or in a later statement on the line */
        use = best_use(&uses, recorded->text, name, element, end, recorded->end);
    }
    *found = uses;
    return uses == 1 ? use : *recorded;
}

/* Without a recorded place: the first text that uses the name. The preamble comes last, because the
 * parameters of its functions may have any name. */
static span use_anywhere(const qn_failure *about, qn_str name, int64_t element)
{
    span in_preamble = {0};
    for (size_t t = 0; t < about->text_count; t++) {
        const qn_user_text *text = &about->texts[t];
        size_t uses;
        if (!text->file_name || !text->text) {
            continue;
        }
        const span use = best_use(&uses, text, name, element, 0, strlen(text->text));
        if (use.text && strcmp(text->file_name, "preamble") != 0) {
            return use;
        }
        in_preamble = use.text ? use : in_preamble;
    }
    return in_preamble;
}

/* ---- the whole ------------------------------------------------------------------------------ */

/* Make the message name the place of the span: its column instead of the statement's, or the whole
 * place if the recorded one is in none of the texts. */
static void reword_place(const qn_error_subject *subject, const span *now, bool was_recorded)
{
    const char *file;
    uint32_t line, column;
    char old[300], words[300];
    if (subject->place_end == 0) {
        return;
    }
    qn_place_of(now->text->text, now->text->text + now->begin, &line, &column);
    snprintf(words, sizeof words, "%s:%u:%u", qn_base_name(now->text->file_name), line, column);
    if (!was_recorded || !qn_error_get_place(&file, &line, &column)) {
        qn_error_reword(subject->place_begin, subject->place_end, words);
        return;
    }
    snprintf(old, sizeof old, "%s:%u:%u", qn_base_name(file), line, column);
    const char *said = quern_last_error()->message;
    const char *at = strstr(said + subject->place_begin, old);
    if (at && at < said + subject->place_end) {
        const size_t from = (size_t)(at - said);
        qn_error_reword(from, from + strlen(old), words);
    }
}

void qn_explain_failure(const qn_failure *about)
{
    qn_error_subject subject;
    qn_error_get_subject(&subject);
    const span recorded = recorded_span(about);
    span now = recorded;
    qn_str name = {"", 0};
    const quern_array *array = NULL;
    if (subject.end != 0) {
        about->argument(about->context, subject.parameter, &name, &array);
    }
    /* the place follows the subject in the message: replaced first, it moves none of its bytes */
    int64_t element = qn_subject_element(&subject, array);
    if (name.length > 0) {
        size_t uses = 0;
        now = recorded.text ? narrower(&uses, &recorded, name, element) : recorded;
        if (!recorded.text || (subject.is_use && uses == 0)) {
            const span elsewhere = use_anywhere(about, name, element);
            now = elsewhere.text ? elsewhere : now;
        }
    }
    if (now.text && (!recorded.text || now.begin != recorded.begin)) {
        reword_place(&subject, &now, recorded.text != NULL);
    }
    if (subject.end != 0) {
        qn_explain_subject(&subject, name, array);
    }
    if (now.text) {
        qn_error_span(now.text->file_name, qn_str_of(now.text->text), now.begin, now.end);
    }
}

void qn_explain_undefined(const qn_user_text *texts, size_t count)
{
    const char *said = quern_last_error()->message;
    const char *begin = strchr(said, '\''), *end = begin ? strchr(begin + 1, '\'') : NULL;
    qn_text plain = {0};
    char *own = end ? qn_strndup(begin + 1, (size_t)(end - begin) - 1) : NULL;
    if (own && qn_plain_name(&plain, own) && plain.data) {
        qn_error_reword((size_t)(begin - said) + 1, (size_t)(end - said), plain.data);
    }
    qn_free(own);
    qn_text_free(&plain);
    const span place = recorded_span(&(qn_failure){.texts = texts, .text_count = count});
    if (place.text) {
        qn_error_span(place.text->file_name, qn_str_of(place.text->text), place.begin, place.end);
    }
}
