/* SPDX-License-Identifier: MIT
 *
 * counted_loops: how the elements of an operation go through its loops and its raw arrays. In: the
 * text and the signature. Out: whether loops run alike for neighbouring elements, and where raw
 * arrays are read. The thing to know: text is not parsed, so what is not understood counts as
 * uneven: a thread then has one element, as one would write by hand.
 */
#include "base/cpp_text.h"
#include "lang/lang.h"

typedef struct study {
    qn_loop_facts *facts;
    const qn_signature *signature;
    const char *position;
    qn_str counters[QN_MAX_COUNTERS];
    uint32_t counter_count;
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

static bool is_counter(const study *s, qn_str word)
{
    for (uint32_t k = 0; k < s->counter_count; k++) {
        if (qn_str_same(s->counters[k], word)) {
            return true;
        }
    }
    return false;
}

/* How a word of an expression varies from element to element. */
typedef enum variety {
    VARIES_NOT,      /* a counter, or what an array knows of itself */
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
    const int p = parameter_of(s, word);
    if (is_any(word, types) || is_counter(s, word)) {
        return VARIES_NOT;
    }
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

/* ---- loops ---------------------------------------------------------------------------------- */

/* Note the counters that the head of a `for` has: what is followed by `=` before the first `;`. */
static void note_counters(study *s, qn_str rest)
{
    qn_cpp_token before = qn_cpp_next(&rest);
    while (before.kind != QN_CPP_END && !qn_str_is(before.text, ";")) {
        const qn_cpp_token t = qn_cpp_next(&rest);
        if (before.kind == QN_CPP_WORD && qn_str_is(t.text, "=") &&
            s->counter_count < QN_MAX_COUNTERS) {
            s->counters[s->counter_count++] = before.text;
        }
        before = t;
    }
}

/* The head of a `for`, from behind its parenthesis on: how often it runs. */
static void take_head(study *s, qn_str rest)
{
    for (int depth = 1; depth > 0;) {
        const qn_cpp_token t = qn_cpp_next(&rest);
        depth += qn_str_is(t.text, "(") - qn_str_is(t.text, ")");
        if (t.kind == QN_CPP_END) {
            return;
        }
        const variety v = t.kind == QN_CPP_WORD ? variety_of(s, t.text, &rest) : VARIES_NOT;
        s->facts->even &= v == VARIES_NOT || v == VARIES_BY_VALUE;
        if (v == VARIES_BY_VALUE) {
            s->facts->counts[parameter_of(s, t.text)] = true;
        }
    }
}

static void find_loops(study *s, const char *text)
{
    static const char *const others[] = {"while", "do", "goto", "break", "return", NULL};
    qn_str rest = qn_str_of(text), name;
    while (qn_text_next_name(&rest, &name)) {
        if (qn_str_is(name, "for")) {
            qn_str head = rest;
            qn_cpp_next(&head);
            note_counters(s, head);
            take_head(s, head);
        }
        s->facts->even &= !is_any(name, others);
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

void qn_text_study_loops(qn_loop_facts *out, const char *text, const qn_signature *signature,
                         const char *position)
{
    *out = (qn_loop_facts){.even = true};
    study s = {.facts = out, .signature = signature, .position = position};
    find_loops(&s, text);
    find_subscripts(&s, text);
}
