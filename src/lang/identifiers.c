/* SPDX-License-Identifier: MIT
 *
 * Looking for identifiers in C-like text without parsing it. In: a user's snippet and a name. Out:
 * whether the snippet uses it, or could reach its memory.
 *
 * The text is cut into the tokens that C++ has, roughly: comments and white space vanish, strings
 * and character constants are one token that matches no name. Text that is not C++ gives some
 * tokens all the same; NVRTC will complain of it.
 */
#include "lang/lang.h"

#include <ctype.h>
#include <string.h>

typedef enum token_kind { END, IDENTIFIER, NUMBER, LITERAL, PUNCTUATION } token_kind;

typedef struct token {
    token_kind kind;
    qn_str text;
} token;

static bool is_identifier_start(char c)
{
    return isalpha((unsigned char)c) || c == '_' || c == '$' || (unsigned char)c >= 0x80;
}

static bool is_identifier_part(char c)
{
    return is_identifier_start(c) || isdigit((unsigned char)c);
}

static const char *skip_comment(const char *p)
{
    if (p[1] == '*') {
        const char *end = strstr(p + 2, "*/");
        return end ? end + 2 : p + strlen(p);
    }
    while (*p && *p != '\n') {
        p += p[0] == '\\' && p[1] ? 2 : 1; /* a backslash joins the next line */
    }
    return p;
}

static const char *skip_blank(const char *p)
{
    for (;;) {
        if (isspace((unsigned char)*p) || (p[0] == '\\' && (p[1] == '\n' || p[1] == '\r'))) {
            p++;
        } else if (p[0] == '/' && (p[1] == '/' || p[1] == '*')) {
            p = skip_comment(p);
        } else {
            return p;
        }
    }
}

/* Past "..." or '...'; an unfinished one ends with its line. */
static const char *skip_quoted(const char *p)
{
    char quote = *p++;
    while (*p && *p != quote && *p != '\n') {
        p += p[0] == '\\' && p[1] ? 2 : 1;
    }
    return *p == quote ? p + 1 : p;
}

/* Past R"delimiter( ... )delimiter", from the quote on. */
static const char *skip_raw_string(const char *quote)
{
    const char *open = quote + 1 + strcspn(quote + 1, "(\n");
    if (*open != '(') {
        return skip_quoted(quote);
    }
    size_t length = (size_t)(open - quote - 1);
    for (const char *p = open; (p = strchr(p, ')')); p++) {
        if (strncmp(p + 1, quote + 1, length) == 0 && p[1 + length] == '"') {
            return p + length + 2;
        }
    }
    return open + strlen(open);
}

/* Past a number as the preprocessor sees it: 0x1F, 1e-5f, 1'000. */
static const char *skip_number(const char *p)
{
    while (is_identifier_part(*p) || *p == '.' || (*p == '\'' && is_identifier_part(p[1]))) {
        bool exponent = strchr("eEpP", *p) && (p[1] == '+' || p[1] == '-');
        p += exponent ? 2 : 1;
    }
    return p;
}

static bool is_raw_prefix(qn_str word)
{
    return qn_str_is(word, "R") || qn_str_is(word, "LR") || qn_str_is(word, "uR") ||
           qn_str_is(word, "UR") || qn_str_is(word, "u8R");
}

/* The token at *rest, which moves past it. */
static token next_token(const char **rest)
{
    const char *p = skip_blank(*rest), *end = p;
    token_kind kind;
    if (*p == '\0') {
        kind = END;
    } else if (is_identifier_start(*p)) {
        kind = IDENTIFIER;
        while (is_identifier_part(*end)) {
            end++;
        }
        if (*end == '"' && is_raw_prefix((qn_str){p, (size_t)(end - p)})) {
            kind = LITERAL;
            end = skip_raw_string(end);
        }
    } else if (isdigit((unsigned char)*p) || (*p == '.' && isdigit((unsigned char)p[1]))) {
        kind = NUMBER;
        end = skip_number(p);
    } else if (*p == '"' || *p == '\'') {
        kind = LITERAL;
        end = skip_quoted(p);
    } else {
        kind = PUNCTUATION;
        end = p + (p[0] == '&' && p[1] == '&' ? 2 : 1);
    }
    *rest = end;
    return (token){kind, {p, (size_t)(end - p)}};
}

bool qn_text_next_name(const char **text, qn_str *name)
{
    token t;
    do {
        t = next_token(text);
    } while (t.kind != IDENTIFIER && t.kind != END);
    *name = t.text;
    return t.kind == IDENTIFIER;
}

bool qn_text_finds(const char *text, const char *name, size_t *begin, size_t *end)
{
    const char *rest = text;
    qn_str used;
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

/* ---- addresses ------------------------------------------------------------------------------ */

/* True when an & behind `before` is unary. Behind a parenthesis it may be either. */
static bool is_unary_after(token before)
{
    static const char *const keywords[] = {"return", "else", "do", "case", "throw", "sizeof"};
    switch (before.kind) {
    case IDENTIFIER:
        for (size_t k = 0; k < QN_COUNT(keywords); k++) {
            if (qn_str_is(before.text, keywords[k])) {
                return true;
            }
        }
        return false;
    case NUMBER:
    case LITERAL:
        return false;
    default:
        return !qn_str_is(before.text, "]");
    }
}

/* True when `name` stands between the parenthesis before `p` and its end, or the first comma at its
 * own depth. Inside [] it only chooses an element, and does not count. */
static bool in_parentheses(const char *p, const char *name)
{
    int depth = 1, brackets = 0;
    while (depth > 0) {
        token t = next_token(&p);
        if (t.kind == END || (depth == 1 && brackets == 0 && qn_str_is(t.text, ","))) {
            return false;
        }
        if (t.kind == IDENTIFIER && brackets == 0 && qn_str_is(t.text, name)) {
            return true;
        }
        depth += qn_str_is(t.text, "(") - qn_str_is(t.text, ")");
        brackets += qn_str_is(t.text, "[") - qn_str_is(t.text, "]");
    }
    return false;
}

/* True when what follows a unary & is `name`, or a parenthesis that holds it. */
static bool is_addressed(const char *p, const char *name)
{
    token t = next_token(&p);
    return qn_str_is(t.text, "(") ? in_parentheses(p, name)
                                  : t.kind == IDENTIFIER && qn_str_is(t.text, name);
}

bool qn_text_takes_address(const char *text, const char *name)
{
    token before = {PUNCTUATION, QN_STR(";")};
    bool atomic = false; /* the token before is the name of an atomic function */
    for (;;) {
        token t = next_token(&text);
        if (t.kind == END) {
            return false;
        }
        if (qn_str_is(t.text, "&") && is_unary_after(before) && is_addressed(text, name)) {
            return true;
        }
        if (atomic && qn_str_is(t.text, "(") && in_parentheses(text, name)) {
            return true;
        }
        atomic = t.kind == IDENTIFIER && t.text.length > 6 && memcmp(t.text.data, "atomic", 6) == 0;
        before = t;
    }
}

/* ---- references ----------------------------------------------------------------------------- */

static bool is_one_of(token t, const char *characters)
{
    return t.kind == PUNCTUATION && strchr(characters, t.text.data[0]) != NULL;
}

bool qn_text_declares_reference(const char *text, bool parameters)
{
    token back[3] = {{END, {"", 0}}}; /* the three before, the nearest first */
    for (token t = next_token(&text);; t = next_token(&text)) {
        bool begins =
            is_one_of(t, parameters ? "({:,)" : "({:") || (qn_str_is(t.text, "=") && *text != '=');
        bool typed = back[2].kind == IDENTIFIER || is_one_of(back[2], ">[,"); /* [&r = y] */
        if (begins && back[0].kind == IDENTIFIER && is_one_of(back[1], "&") && typed) {
            return true;
        }
        if (t.kind == END) {
            return false;
        }
        back[2] = back[1];
        back[1] = back[0];
        back[0] = t;
    }
}

/* Could the text have a function or a member of its own that is a reference: a lambda, a class? */
static bool defines_functions(const char *text)
{
    static const char *const classes[] = {"struct", "class", "union"};
    bool defines = false;
    for (size_t k = 0; k < QN_COUNT(classes); k++) {
        defines |= qn_text_uses(text, classes[k]);
    }
    token before = next_token(&text);
    for (token t = before; t.kind != END && !defines; t = next_token(&text)) {
        defines = qn_str_is(before.text, "]") && qn_str_is(t.text, "(");
        before = t;
    }
    return defines;
}

/* ---- assignments ---------------------------------------------------------------------------- */

/* Does an operator that assigns stand at `p`: = += <<= ++ and their like? */
static bool is_assignment(const char *p)
{
    p = skip_blank(p);
    bool doubled = p[0] != '\0' && p[0] == p[1];
    if (doubled && (p[0] == '+' || p[0] == '-')) {
        return true;
    }
    if (doubled && (p[0] == '<' || p[0] == '>')) {
        p += 2;
    } else if (p[0] != '\0' && strchr("+-*/%&|^", p[0]) != NULL) {
        p++;
    }
    return p[0] == '=' && p[1] != '=';
}

/* Past [...], .member and the parentheses that close around a name; *method: a method is called. */
static const char *skip_access(const char *p, bool *method)
{
    for (;;) {
        const char *next = p;
        token t = next_token(&next);
        if (qn_str_is(t.text, "[")) {
            for (int depth = 1; depth > 0 && t.kind != END;) {
                t = next_token(&next);
                depth += qn_str_is(t.text, "[") - qn_str_is(t.text, "]");
            }
        } else if (qn_str_is(t.text, ".")) {
            t = next_token(&next);
            const char *behind = next;
            *method |= t.kind == IDENTIFIER && qn_str_is(next_token(&behind).text, "(");
        } else if (!qn_str_is(t.text, ")")) {
            return p;
        }
        p = next;
    }
}

/* Might the name between `back`, the tokens before it with the nearest first, and `rest` be written
 * to? As an argument it might where there are functions that take a reference. */
static bool may_write_here(const token back[2], const char *rest, bool functions)
{
    bool method = false;
    const char *behind = skip_access(rest, &method);
    token t = next_token(&rest);
    bool argument = is_one_of(back[0], "(,{") && is_one_of(t, "),}");
    bool stepped = is_one_of(back[0], "+-") && back[1].kind == PUNCTUATION &&
                   back[1].text.data + 1 == back[0].text.data &&
                   back[1].text.data[0] == back[0].text.data[0];
    return method || stepped || is_assignment(behind) || is_one_of(back[0], "&)?:*") ||
           (argument && functions);
}

bool qn_text_may_assign(const char *text, const char *name, bool functions)
{
    static const char *const anything[] = {"asm", "__asm", "__asm__", "define"};
    bool any = strstr(text, "##") != NULL || qn_text_declares_reference(text, false);
    for (size_t k = 0; k < QN_COUNT(anything) && !any; k++) {
        any = qn_text_uses(text, anything[k]);
    }
    functions = functions || defines_functions(text);
    bool used = false;
    token back[3] = {{END, {"", 0}}}; /* the three before, the nearest first */
    for (token t = next_token(&text); t.kind != END; t = next_token(&text)) {
        bool member = qn_str_is(back[0].text, ".") || qn_str_is(back[0].text, ">");
        if (t.kind == IDENTIFIER && qn_str_is(t.text, name)) {
            used = true;
            bool to_reference = qn_str_is(back[2].text, "&&") || qn_str_is(back[1].text, "]");
            any |= to_reference && qn_str_is(back[0].text, "="); /* auto &&r = y */
            if (!member && may_write_here(back, text, functions)) {
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
    return next_token(&text).kind == END;
}

/* True for a token that can only begin a statement. */
static bool begins_statement(token t)
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
    token t = next_token(&text);
    bool statements = begins_statement(t), semicolon = false;
    int depth = 0;
    for (; t.kind != END && !statements; t = next_token(&text)) {
        if (t.kind == PUNCTUATION) {
            depth += strchr("([{", t.text.data[0]) != NULL;
            depth -= strchr(")]}", t.text.data[0]) != NULL;
            semicolon |= t.text.data[0] == ';';
            statements = depth <= 0 && t.text.data[0] == ';';
        }
    }
    return statements || (semicolon && depth > 0); /* a bracket that lacks its partner hides it */
}
