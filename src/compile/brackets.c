/* SPDX-License-Identifier: MIT
 *
 * The bracket without a partner. In: a user's text that is suspected, and what the compiler says.
 * Out: where it goes wrong, and the failure that says so; or that the text ends too early.
 *
 * A snippet lies inside generated code, so the compiler finds a bracket that was never closed only
 * in that code, lines later, and complains of something that the user never wrote.
 */
#include "compile/nvrtc.h"

#include <string.h>

#define DEPTH_MAX 256 /* deeper brackets are not looked at */

/* Is this the # of a preprocessor line? The brackets in a macro need not match. */
static bool is_directive(const char *text, const char *p)
{
    if (*p != '#') {
        return false;
    }
    while (p > text && (p[-1] == ' ' || p[-1] == '\t')) {
        p--;
    }
    return p == text || p[-1] == '\n';
}

bool qn_bracket_unmatched(const char *text, size_t *at)
{
    size_t open[DEPTH_MAX];
    size_t depth = 0;
    qn_str rest = qn_str_of(text);
    for (qn_cpp_token t = qn_cpp_next(&rest);; t = qn_cpp_next(&rest)) {
        const char *p = t.text.data, *partner = strchr(")(][}{", *p);
        *at = (size_t)(p - text);
        if (!t.closed) {
            *at += t.kind == QN_CPP_LITERAL ? strcspn(p, "\"'") : 0; /* its quote, not its prefix */
            return true;
        }
        if (t.kind == QN_CPP_END) {
            break;
        }
        if (is_directive(text, p)) {
            rest = qn_cpp_skip_line(rest);
        } else if (*p == '(' || *p == '[' || *p == '{') {
            if (depth == DEPTH_MAX) {
                return false;
            }
            open[depth++] = *at;
        } else if (partner) { /* in the string, each closing bracket precedes its opening one */
            if (depth == 0 || text[open[depth - 1]] != partner[1]) {
                *at = depth > 0 ? open[depth - 1] : *at;
                return true;
            }
            depth--;
        }
    }
    if (depth > 0) {
        *at = open[depth - 1];
    }
    return depth > 0;
}

/* ---- as failures ---------------------------------------------------------------------------- */

void qn_fail_at_bracket(const qn_user_text *text, size_t at, qn_str message)
{
    qn_str span = {text->text + at, text->text[at] == '/' ? 2 : 1};
    qn_fail_at_span(text, span, "this %.*s has no partner (the compiler: %.*s)", (int)span.length,
                    span.data, (int)message.length, message.data);
}

bool qn_fail_at_brackets(qn_str message, const qn_user_text *first, qn_user_texts texts)
{
    size_t at;
    if (first && qn_bracket_unmatched(first->text, &at)) {
        qn_fail_at_bracket(first, at, message);
        return true;
    }
    for (size_t k = 0; k < texts.count; k++) {
        if (texts.list[k].file_name && qn_bracket_unmatched(texts.list[k].text, &at)) {
            qn_fail_at_bracket(&texts.list[k], at, message);
            return true;
        }
    }
    return false;
}

/* Does the compiler stumble at a bracket that closes nothing, or at the token after it? The latter
 * when a } of the user's has closed the code around the text. */
static bool closes_nothing(const char *bracket, const char *place, qn_str message)
{
    return strchr(")]}", *bracket) && qn_str_begins(message, "expected ") && bracket <= place &&
           strspn(bracket + 1, " \t\r\n") + 1 >= (size_t)(place - bracket);
}

bool qn_bracket_alone(const qn_user_text *text, const char *place, qn_str message, size_t *at)
{
    if (strstr(text->text, "#el") || !qn_bracket_unmatched(text->text, at)) {
        return false;
    }
    const char *bracket = text->text + *at;
    bool brace = *bracket == '{';
    bool further = bracket < place && (!brace || memchr(bracket, '\n', (size_t)(place - bracket)));
    if (brace) {
        return qn_str_begins(message, "closing brace of ") ||
               (further &&
                (qn_str_begins(message, "expected a") || qn_str_begins(message, "linkage spec") ||
                 qn_find_in(message, "not allowed")));
    }
    return closes_nothing(bracket, place, message) ||
           (further && ((*bracket == '(' && qn_str_begins(message, "expected a \")\"")) ||
                        (*bracket == '[' && qn_str_begins(message, "expected a \"]\""))));
}

quern_status qn_fail_past_end(qn_str message, const qn_user_text *text)
{
    static const char no_return[] = "missing return statement";
    qn_str last = qn_last_token(text->text);
    size_t at;
    if (qn_bracket_unmatched(text->text, &at)) {
        qn_fail_at_bracket(text, at, message);
        return QUERN_ERROR_COMPILE;
    }
    if (qn_str_begins(message, no_return)) {
        return qn_fail_at_span(text, last,
                               "no value is returned: leave out the \";\" of an expression, or "
                               "have statements \"return ...;\" on every path");
    }
    return qn_fail_at_span(text, last,
                           qn_str_begins(message, "expected ")
                               ? "%.*s after this"
                               : "more is expected after this (the compiler: %.*s)",
                           (int)message.length, message.data);
}
