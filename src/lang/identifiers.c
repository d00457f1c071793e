/* SPDX-License-Identifier: MIT
 *
 * Looking for identifiers in C-like text without parsing it. In: a user's snippet and a name. Out:
 * whether the snippet uses it, or could reach its memory.
 *
 * The text is read as base/cpp_text.h cuts it. Text that is not C++ gives some answer all the same;
 * NVRTC will complain of it.
 */
#include "base/cpp_text.h"
#include "lang/lang.h"

#include <string.h>

static qn_str behind(qn_str text, size_t bytes)
{
    return (qn_str){text.data + bytes, text.length - bytes};
}

static bool begins_with(qn_str text, char c)
{
    return text.length > 0 && text.data[0] == c;
}

bool qn_text_next_name(qn_str *rest, qn_str *name)
{
    qn_cpp_token t;
    do {
        t = qn_cpp_next(rest);
    } while (t.kind != QN_CPP_WORD && t.kind != QN_CPP_END);
    *name = t.text;
    return t.kind == QN_CPP_WORD;
}

bool qn_text_finds(const char *text, const char *name, size_t *begin, size_t *end)
{
    qn_str rest = qn_str_of(text), used;
    while (qn_text_next_name(&rest, &used)) {
        if (qn_str_is(used, name)) {
            *begin = (size_t)(used.data - text);
            *end = *begin + used.length;
            return true;
        }
    }
    return false;
}

bool qn_text_uses(const char *text, const char *name)
{
    size_t begin, end;
    return qn_text_finds(text, name, &begin, &end);
}

bool qn_text_uses_beyond(const char *text, const char *name, const char *member)
{
    qn_str rest = qn_str_of(text);
    for (;;) {
        qn_cpp_token t = qn_cpp_next(&rest);
        if (t.kind == QN_CPP_END) {
            return false;
        }
        if (t.kind == QN_CPP_WORD && qn_str_is(t.text, name) &&
            !(qn_str_is(qn_cpp_next(&rest).text, ".") &&
              qn_str_is(qn_cpp_next(&rest).text, member))) {
            return true;
        }
    }
}

/* ---- addresses ------------------------------------------------------------------------------ */

/* True when an & after `before` may be unary. After a parenthesis it may be either. */
static bool is_unary_after(qn_cpp_token before)
{
    static const char *const keywords[] = {"return", "else", "do", "case", "throw", "sizeof"};
    switch (before.kind) {
    case QN_CPP_WORD:
        for (size_t k = 0; k < QN_COUNT(keywords); k++) {
            if (qn_str_is(before.text, keywords[k])) {
                return true;
            }
        }
        return false;
    case QN_CPP_NUMBER:
    case QN_CPP_LITERAL:
        return false;
    default:
        return !qn_str_is(before.text, "]");
    }
}

/* True when `name` occurs between the parenthesis before `rest` and its end, or the first comma at
 * its own depth. Inside [] it only chooses an element, and does not count. */
static bool in_parentheses(qn_str rest, const char *name)
{
    int depth = 1, brackets = 0;
    while (depth > 0) {
        qn_cpp_token t = qn_cpp_next(&rest);
        if (t.kind == QN_CPP_END || (depth == 1 && brackets == 0 && qn_str_is(t.text, ","))) {
            return false;
        }
        if (t.kind == QN_CPP_WORD && brackets == 0 && qn_str_is(t.text, name)) {
            return true;
        }
        depth += qn_str_is(t.text, "(") - qn_str_is(t.text, ")");
        brackets += qn_str_is(t.text, "[") - qn_str_is(t.text, "]");
    }
    return false;
}

/* True when what follows a unary & is `name`, or a parenthesis that holds it. */
static bool is_addressed(qn_str rest, const char *name)
{
    qn_cpp_token t = qn_cpp_next(&rest);
    return qn_str_is(t.text, "(") ? in_parentheses(rest, name)
                                  : t.kind == QN_CPP_WORD && qn_str_is(t.text, name);
}

bool qn_text_takes_address(const char *text, const char *name)
{
    qn_str rest = qn_str_of(text);
    qn_cpp_token before = {.kind = QN_CPP_MARK, .text = QN_STR(";")};
    bool atomic = false; /* the qn_cpp_token before is the name of an atomic function */
    for (;;) {
        qn_cpp_token t = qn_cpp_next(&rest);
        if (t.kind == QN_CPP_END) {
            return false;
        }
        if (qn_str_is(t.text, "&") && is_unary_after(before) && is_addressed(rest, name)) {
            return true;
        }
        if (atomic && qn_str_is(t.text, "(") && in_parentheses(rest, name)) {
            return true;
        }
        atomic =
            t.kind == QN_CPP_WORD && t.text.length > 6 && memcmp(t.text.data, "atomic", 6) == 0;
        before = t;
    }
}

/* ---- references ----------------------------------------------------------------------------- */

static bool is_one_of(qn_cpp_token t, const char *characters)
{
    return t.kind == QN_CPP_MARK && strchr(characters, t.text.data[0]);
}

bool qn_text_declares_reference(const char *text, bool parameters)
{
    qn_str rest = qn_str_of(text);
    qn_cpp_token back[3] = {{.kind = QN_CPP_END}}; /* the three before, the nearest first */
    for (qn_cpp_token t = qn_cpp_next(&rest);; t = qn_cpp_next(&rest)) {
        bool begins = is_one_of(t, parameters ? "({:,)" : "({:") ||
                      (qn_str_is(t.text, "=") && !begins_with(rest, '='));
        bool typed = back[2].kind == QN_CPP_WORD || is_one_of(back[2], ">[,"); /* [&r = y] */
        if (begins && back[0].kind == QN_CPP_WORD && is_one_of(back[1], "&") && typed) {
            return true;
        }
        if (t.kind == QN_CPP_END) {
            return false;
        }
        back[2] = back[1];
        back[1] = back[0];
        back[0] = t;
    }
}

/* True when the text defines a lambda or a class: they can have parameters or members that are
 * references. */
static bool defines_functions(const char *text)
{
    static const char *const classes[] = {"struct", "class", "union"};
    bool defines = false;
    for (size_t k = 0; k < QN_COUNT(classes); k++) {
        defines |= qn_text_uses(text, classes[k]);
    }
    qn_str rest = qn_str_of(text);
    qn_cpp_token before = qn_cpp_next(&rest);
    for (qn_cpp_token t = before; t.kind != QN_CPP_END && !defines; t = qn_cpp_next(&rest)) {
        defines = qn_str_is(before.text, "]") && qn_str_is(t.text, "(");
        before = t;
    }
    return defines;
}

/* ---- assignments ---------------------------------------------------------------------------- */

/* Does `rest` begin with an operator that assigns: = += <<= ++ and their like? */
static bool is_assignment(qn_str rest)
{
    qn_str s = qn_cpp_skip_blank(rest);
    bool doubled = s.length > 1 && s.data[0] == s.data[1];
    if (doubled && (s.data[0] == '+' || s.data[0] == '-')) {
        return true;
    }
    if (doubled && (s.data[0] == '<' || s.data[0] == '>')) {
        s = behind(s, 2);
    } else if (s.length > 0 && strchr("+-*/%&|^", s.data[0])) {
        s = behind(s, 1);
    }
    return begins_with(s, '=') && !begins_with(behind(s, 1), '=');
}

/* Past [...], .member and the parentheses that close around a name; *method: a method is called. */
static qn_str skip_access(qn_str rest, bool *method)
{
    for (;;) {
        qn_str next = rest;
        qn_cpp_token t = qn_cpp_next(&next);
        if (qn_str_is(t.text, "[")) {
            for (int depth = 1; depth > 0 && t.kind != QN_CPP_END;) {
                t = qn_cpp_next(&next);
                depth += qn_str_is(t.text, "[") - qn_str_is(t.text, "]");
            }
        } else if (qn_str_is(t.text, ".")) {
            t = qn_cpp_next(&next);
            qn_str further = next;
            *method |= t.kind == QN_CPP_WORD && qn_str_is(qn_cpp_next(&further).text, "(");
        } else if (!qn_str_is(t.text, ")")) {
            return rest;
        }
        rest = next;
    }
}

/* True when a name may be written to, given `back`, the tokens before it (nearest first), and
 * `rest`, the text after it. As an argument it may, if there are functions that take references. */
static bool may_write_here(const qn_cpp_token back[2], qn_str rest, bool functions)
{
    bool method = false;
    qn_str accessed = skip_access(rest, &method);
    qn_cpp_token t = qn_cpp_next(&rest);
    bool argument = is_one_of(back[0], "(,{") && is_one_of(t, "),}");
    bool stepped = is_one_of(back[0], "+-") && back[1].kind == QN_CPP_MARK &&
                   back[1].text.data + 1 == back[0].text.data &&
                   back[1].text.data[0] == back[0].text.data[0];
    return method || stepped || is_assignment(accessed) || is_one_of(back[0], "&)?:*") ||
           (argument && functions);
}

bool qn_text_may_assign(const char *text, const char *name, bool functions)
{
    static const char *const anything[] = {"asm", "__asm", "__asm__", "define"};
    bool any = strstr(text, "##") || qn_text_declares_reference(text, false);
    for (size_t k = 0; k < QN_COUNT(anything) && !any; k++) {
        any = qn_text_uses(text, anything[k]);
    }
    functions = functions || defines_functions(text);
    bool used = false;
    qn_str rest = qn_str_of(text);
    qn_cpp_token back[3] = {{.kind = QN_CPP_END}}; /* the three before, the nearest first */
    for (qn_cpp_token t = qn_cpp_next(&rest); t.kind != QN_CPP_END; t = qn_cpp_next(&rest)) {
        bool member = qn_str_is(back[0].text, ".") || qn_str_is(back[0].text, ">");
        if (t.kind == QN_CPP_WORD && qn_str_is(t.text, name)) {
            used = true;
            bool to_reference = qn_str_is(back[2].text, "&&") || qn_str_is(back[1].text, "]");
            any |= to_reference && qn_str_is(back[0].text, "="); /* auto &&r = y */
            if (!member && may_write_here(back, rest, functions)) {
                return true;
            }
        }
        back[2] = back[1];
        back[1] = back[0];
        back[0] = t;
    }
    return any && used;
}

/* ---- expressions and statements ------------------------------------------------------------- */

bool qn_text_is_blank(const char *text)
{
    qn_str rest = qn_str_of(text);
    return qn_cpp_next(&rest).kind == QN_CPP_END;
}

/* True for a token that can only begin a statement. */
static bool begins_statement(qn_cpp_token t)
{
    static const char *const begins[] = {"{", "if", "for", "while", "do", "switch", "return"};
    for (size_t k = 0; k < QN_COUNT(begins); k++) {
        if (qn_str_is(t.text, begins[k])) {
            return true;
        }
    }
    return false;
}

bool qn_text_is_statements(const char *text)
{
    qn_str rest = qn_str_of(text);
    qn_cpp_token t = qn_cpp_next(&rest);
    bool statements = begins_statement(t), semicolon = false;
    int depth = 0;
    for (; t.kind != QN_CPP_END && !statements; t = qn_cpp_next(&rest)) {
        if (t.kind == QN_CPP_MARK) {
            depth += strchr("([{", t.text.data[0]) != NULL;
            depth -= strchr(")]}", t.text.data[0]) != NULL;
            semicolon |= t.text.data[0] == ';';
            statements = depth <= 0 && t.text.data[0] == ';';
        }
    }
    return statements || (semicolon && depth > 0); /* an unclosed bracket hides the semicolon */
}
