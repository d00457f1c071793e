/* SPDX-License-Identifier: MIT
 *
 * counted_loops: how the elements of an operation go through its loops and its raw arrays. In: the
 * text, the preamble with what it calls, and the signature. Out: whether loops run alike for
 * neighbouring elements, and where raw arrays are read. The thing to know: text is not parsed, so
 * what is not understood counts as uneven: a thread then has one element, as one would write by
 * hand.
 */
#include "base/cpp_text.h"
#include "lang/lang.h"

#include <string.h>

typedef struct study {
    qn_loop_facts *facts;
    const qn_signature *signature;
    const char *position;
    bool apart; /* a function's text, whose names are not the parameters' */
    qn_str known[QN_MAX_KNOWN];
    uint32_t known_count;
} study;

static bool is_any(qn_str word, const char *const *of)
{
    while (*of && !qn_str_is(word, *of)) {
        of++;
    }
    return *of != NULL;
}

static int parameter_of(const study *s, qn_str word)
{
    for (uint32_t p = 0; p < s->signature->count; p++) {
        if (qn_str_same(s->signature->parameters[p].name, word)) {
            return (int)p;
        }
    }
    return -1;
}

static bool is_known(const study *s, qn_str word)
{
    for (uint32_t k = 0; k < s->known_count; k++) {
        if (qn_str_same(s->known[k], word)) {
            return true;
        }
    }
    return false;
}

static void note(study *s, qn_str word)
{
    if (s->known_count < QN_MAX_KNOWN && !is_known(s, word)) {
        s->known[s->known_count++] = word;
    }
}

/* How a word of an expression varies from element to element. */
typedef enum variety {
    VARIES_NOT,      /* a counter, a constant, or what an array knows of itself */
    VARIES_BY_VALUE, /* a parameter's value: not at all, if it is a scalar */
    VARIES_BY_PLACE, /* the position */
    VARIES_SOMEHOW,  /* what is not known */
} variety;

/* `rest`: what follows the word. Past the member of an array. */
static variety variety_of(const study *s, qn_str word, qn_str *rest)
{
    static const char *const types[] = {"int",       "unsigned", "long",  "short",  "const",
                                        "auto",      "size_t",   "int32", "uint32", "int64",
                                        "ptrdiff_t", "uint64",   "float", "double", NULL};
    static const char *const members[] = {"size", "shape", "strides", "ndim", NULL};
    if (is_any(word, types) || is_known(s, word)) {
        return VARIES_NOT;
    }
    if (s->apart) {
        return VARIES_SOMEHOW;
    }
    const int p = parameter_of(s, word);
    if (qn_str_is(word, s->position)) {
        return VARIES_BY_PLACE;
    }
    if (p >= 0 && s->signature->parameters[p].raw) {
        qn_str next = *rest;
        if (qn_str_is(qn_cpp_next(&next).text, ".") && is_any(qn_cpp_next(&next).text, members)) {
            *rest = next;
            return VARIES_NOT;
        }
        return VARIES_SOMEHOW;
    }
    return p >= 0 ? VARIES_BY_VALUE : VARIES_SOMEHOW;
}

/* ---- constants ------------------------------------------------------------------------------ */

/* `#define NAME 8`, from behind the `#` on. */
static void note_macro(study *s, qn_str rest)
{
    if (!qn_str_is(qn_cpp_next(&rest).text, "define")) {
        return;
    }
    const qn_cpp_token name = qn_cpp_next(&rest), value = qn_cpp_next(&rest);
    const char *end = qn_cpp_skip_line(rest).data, *more = qn_cpp_skip_blank(rest).data;
    if (name.kind == QN_CPP_WORD && value.kind == QN_CPP_NUMBER && more >= end) {
        note(s, name.text);
    }
}

/* `<int N, typename T>` of a template, from behind `template` on: the numbers among them. */
static void note_template(study *s, qn_str rest)
{
    qn_cpp_token type = {0}, name = qn_cpp_next(&rest);
    while (name.kind != QN_CPP_END && !qn_str_is(name.text, ">")) {
        const qn_cpp_token next = qn_cpp_next(&rest);
        const bool typed = type.kind == QN_CPP_WORD && !qn_str_is(type.text, "typename") &&
                           !qn_str_is(type.text, "class");
        if (typed && name.kind == QN_CPP_WORD && next.kind == QN_CPP_MARK) {
            note(s, name.text);
        }
        type = name;
        name = next;
    }
}

/* Is what follows one number alone? */
static bool is_number(qn_str rest)
{
    const bool number = qn_cpp_next(&rest).kind == QN_CPP_NUMBER;
    const qn_str end = qn_cpp_next(&rest).text;
    return number && (qn_str_is(end, ";") || qn_str_is(end, ","));
}

/* What is the same for all elements because the compiler knows it: `constexpr` and enumerators, and
 * what is `const` and a number. */
static void note_constants(study *s, const char *text)
{
    qn_str rest = qn_str_of(text);
    qn_cpp_token t = qn_cpp_next(&rest), before = {0};
    bool constant = false, fixed = false;
    while (t.kind != QN_CPP_END) {
        if (qn_str_is(t.text, "#")) {
            note_macro(s, rest);
        } else if (qn_str_is(t.text, "template")) {
            note_template(s, rest);
        } else if (qn_str_is(t.text, "constexpr") || qn_str_is(t.text, "enum")) {
            constant = true;
        } else if (qn_str_is(t.text, "const")) {
            fixed = true;
        } else if (qn_str_is(t.text, "=") && before.kind == QN_CPP_WORD &&
                   (constant || (fixed && is_number(rest)))) {
            note(s, before.text);
        }
        constant &= !qn_str_is(t.text, ";") && !qn_str_is(t.text, ")");
        fixed &= !qn_str_is(t.text, ";") && !qn_str_is(t.text, ")");
        before = t;
        t = qn_cpp_next(&rest);
    }
}

/* `-DNAME=8`, `--define-macro=NAME=8` */
static void note_option(study *s, const char *option)
{
    static const char *const heads[] = {"-D", "--define-macro="};
    for (size_t k = 0; k < QN_COUNT(heads); k++) {
        const size_t length = strlen(heads[k]);
        if (strncmp(option, heads[k], length) != 0) {
            continue;
        }
        qn_str rest = qn_str_of(option + length);
        const qn_cpp_token name = qn_cpp_next(&rest);
        if (name.kind == QN_CPP_WORD && qn_str_is(qn_cpp_next(&rest).text, "=") &&
            qn_cpp_next(&rest).kind == QN_CPP_NUMBER && qn_cpp_next(&rest).kind == QN_CPP_END) {
            note(s, name.text);
        }
    }
}

/* ---- loops ---------------------------------------------------------------------------------- */

/* Note the counters that the head of a `for` has: what is followed by `=` before the first `;`. */
static void note_counters(study *s, qn_str rest)
{
    qn_cpp_token before = qn_cpp_next(&rest);
    while (before.kind != QN_CPP_END && !qn_str_is(before.text, ";")) {
        const qn_cpp_token t = qn_cpp_next(&rest);
        if (before.kind == QN_CPP_WORD && qn_str_is(t.text, "=")) {
            note(s, before.text);
        }
        before = t;
    }
}

/* The head of a `for`, from behind its parenthesis on: how often it runs. */
static void take_head(study *s, qn_str *rest)
{
    for (int depth = 1; depth > 0;) {
        const qn_cpp_token t = qn_cpp_next(rest);
        depth += qn_str_is(t.text, "(") - qn_str_is(t.text, ")");
        if (t.kind == QN_CPP_END) {
            return;
        }
        const variety v = t.kind == QN_CPP_WORD ? variety_of(s, t.text, rest) : VARIES_NOT;
        s->facts->even &= v == VARIES_NOT || v == VARIES_BY_VALUE;
        if (v == VARIES_BY_VALUE) {
            s->facts->counts[parameter_of(s, t.text)] = true;
        }
    }
}

/* Does the statement behind the head of a loop return? */
static bool body_returns(qn_str rest)
{
    bool returns = false;
    int round = 0, curly = 0;
    qn_cpp_token t = qn_cpp_next(&rest);
    while (t.kind != QN_CPP_END) {
        round += qn_str_is(t.text, "(") - qn_str_is(t.text, ")");
        curly += qn_str_is(t.text, "{") - qn_str_is(t.text, "}");
        returns |= qn_str_is(t.text, "return");
        if (round <= 0 && curly <= 0 && (qn_str_is(t.text, ";") || qn_str_is(t.text, "}"))) {
            return returns;
        }
        t = qn_cpp_next(&rest);
    }
    return returns;
}

/* A function returns behind its loops; an operation that returns leaves them. */
static void find_loops(study *s, const char *text)
{
    static const char *const others[] = {"while", "do", "goto", "break", NULL};
    qn_str rest = qn_str_of(text), name;
    while (qn_text_next_name(&rest, &name)) {
        if (qn_str_is(name, "for")) {
            qn_str head = rest;
            qn_cpp_next(&head);
            note_counters(s, head);
            take_head(s, &head);
            s->facts->even &= !body_returns(head);
        }
        s->facts->even &= !is_any(name, others) && (s->apart || !qn_str_is(name, "return"));
    }
}

/* ---- raw arrays ----------------------------------------------------------------------------- */

static bool joins(qn_cpp_token t)
{
    return qn_str_is(t.text, "[") || qn_str_is(t.text, "]") || qn_str_is(t.text, "+") ||
           qn_str_is(t.text, "-");
}

/* A subscript, from behind its bracket on. Neighbouring elements read side by side if the position
 * is added to what all have in common. */
static void take_subscript(study *s, qn_str *rest)
{
    qn_cpp_token before = {.kind = QN_CPP_MARK, .text = QN_STR("[")};
    for (int brackets = 1, depth = 0; brackets > 0;) {
        const qn_cpp_token t = qn_cpp_next(rest);
        if (t.kind == QN_CPP_END) {
            return;
        }
        depth += qn_str_is(t.text, "(") - qn_str_is(t.text, ")");
        brackets += qn_str_is(t.text, "[") - qn_str_is(t.text, "]");
        const variety v = t.kind == QN_CPP_WORD ? variety_of(s, t.text, rest) : VARIES_NOT;
        if (v == VARIES_BY_VALUE) {
            s->facts->counts[parameter_of(s, t.text)] = true;
        } else if (v != VARIES_NOT) {
            qn_str next = *rest;
            const bool beside = v == VARIES_BY_PLACE && depth == 0 && brackets == 1 &&
                                joins(before) && joins(qn_cpp_next(&next));
            s->facts->even &= beside;
            s->facts->placed = true;
        }
        before = t;
    }
}

static void find_subscripts(study *s, const char *text)
{
    qn_str rest = qn_str_of(text), name;
    while (qn_text_next_name(&rest, &name)) {
        const int p = parameter_of(s, name);
        if (p < 0 || !s->signature->parameters[p].raw) {
            continue;
        }
        qn_str next = rest;
        if (qn_str_is(qn_cpp_next(&next).text, "[")) {
            s->facts->even &= !s->signature->parameters[p].output;
            take_subscript(s, &next);
            rest = next;
        } else {
            const bool known = variety_of(s, name, &rest) == VARIES_NOT;
            s->facts->even &= known;
            s->facts->placed |= !known;
        }
    }
}

void qn_text_study_loops(qn_loop_facts *out, const qn_loop_texts *texts,
                         const qn_signature *signature, const char *position)
{
    *out = (qn_loop_facts){.even = true};
    study s = {.facts = out, .signature = signature, .position = position};
    note_constants(&s, texts->preamble);
    for (size_t k = 0; k < texts->option_count; k++) {
        note_option(&s, texts->options[k]);
    }
    study functions = s;
    functions.apart = true;
    find_loops(&functions, texts->preamble);
    note_constants(&s, texts->operation);
    find_loops(&s, texts->operation);
    find_subscripts(&s, texts->operation);
}
