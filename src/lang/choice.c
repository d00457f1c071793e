/* SPDX-License-Identifier: MIT
 *
 * choice: reductions that only choose, as argmax does. In: the texts of a reduction. Out: whether
 * reduce always gives one of its two values and looks at the field that holds the position only to
 * see which is lower; the field; and, as an expression, whether it takes the second of two values
 * of which the first has the lower position. The thing to know: a kernel that goes through
 * positions as they rise needs no position to combine two values, only the number of the one that
 * was chosen; and where all that matters is whose other field is greater, as with argmax, narrow
 * integers and numbers of elements can be compared as one. Text is not parsed, so what is not
 * understood may do more than choose.
 */
#include "base/cpp_text.h"
#include "lang/lang.h"

#include <string.h>

#define MOST_TOKENS 256 /* of a text */
#define MOST_FIELDS 8

typedef struct tokens {
    uint32_t count;
    qn_cpp_token at[MOST_TOKENS];
} tokens;

/* Part of the tokens of a text. */
typedef struct part {
    const qn_cpp_token *at;
    uint32_t count;
} part;

static bool is(part p, uint32_t k, const char *text)
{
    return k < p.count && qn_str_is(p.at[k].text, text);
}

static bool is_same(part p, uint32_t k, qn_str word)
{
    return k < p.count && qn_str_same(p.at[k].text, word);
}

static bool is_word(part p, uint32_t k)
{
    return k < p.count && p.at[k].kind == QN_CPP_WORD;
}

/* True when token `k` follows the one before it without a gap: two marks may be one operator. */
static bool is_joined(part p, uint32_t k)
{
    return k > 0 && k < p.count &&
           p.at[k].text.data == p.at[k - 1].text.data + p.at[k - 1].text.length;
}

static part behind(part p, uint32_t k)
{
    return k < p.count ? (part){p.at + k, p.count - k} : (part){p.at, 0};
}

/* False if there are too many, or a macro may change what words mean. */
static bool cut(tokens *t, const char *text)
{
    qn_str rest = qn_str_of(text);
    for (t->count = 0; t->count < MOST_TOKENS; t->count++) {
        const qn_cpp_token next = qn_cpp_next(&rest);
        if (next.kind == QN_CPP_END) {
            return next.closed;
        }
        if (qn_str_is(next.text, "#") || qn_str_is(next.text, "_Pragma")) {
            return false;
        }
        t->at[t->count] = next;
    }
    return false;
}

/* ---- the structure -------------------------------------------------------------------------- */

typedef struct fields {
    uint32_t count;
    qn_str name[MOST_FIELDS];
    part type[MOST_FIELDS];
} fields;

/* `struct NAME { TYPE field, field; ... };` of numbers, and nothing else between the braces. */
static bool read_fields(fields *out, part preamble, qn_str type)
{
    uint32_t k = 0, found = 0;
    for (uint32_t j = 0; j + 2 < preamble.count; j++) {
        if (is(preamble, j, "struct") && is_same(preamble, j + 1, type) &&
            is(preamble, j + 2, "{")) {
            found++;
            k = j + 3;
        }
    }
    if (found != 1) {
        return false;
    }
    for (out->count = 0; k < preamble.count && !is(preamble, k, "}");) {
        const part words = behind(preamble, k);
        uint32_t type_words = 0;
        while (is_word(words, type_words + 1)) {
            type_words++;
        }
        uint32_t at = type_words;
        do {
            if (type_words == 0 || out->count == MOST_FIELDS || !is_word(words, at)) {
                return false;
            }
            out->type[out->count] = (part){words.at, type_words};
            out->name[out->count++] = words.at[at].text;
            at += 2;
        } while (is(words, at - 1, ","));
        if (!is(words, at - 1, ";")) {
            return false;
        }
        k += at;
    }
    return is(preamble, k, "}") && is(preamble, k + 1, ";");
}

/* Bits of a type of integers that hold positions; 0 for other numbers; -1 for other types, of which
 * one may take several of the values between map's braces. */
static int bits_of(part type)
{
    static const struct {
        const char *name;
        int bits;
    } types[] = {
        {"long long", 64},     {"unsigned long long", 64},
        {"long", 64},          {"unsigned long", 64},
        {"ptrdiff_t", 64},     {"size_t", 64},
        {"int64_t", 64},       {"uint64_t", 64},
        {"int", 32},           {"unsigned", 32},
        {"int32_t", 32},       {"uint32_t", 32},
        {"unsigned int", 32},  {"bool", 0},
        {"char", 0},           {"signed char", 0},
        {"unsigned char", 0},  {"short", 0},
        {"unsigned short", 0}, {"float", 0},
        {"double", 0},         {"half", 0},
        {"__half", 0},         {"__nv_bfloat16", 0},
        {"float16", 0},        {"bfloat16", 0},
        {"int8_t", 0},         {"uint8_t", 0},
        {"int16_t", 0},        {"uint16_t", 0},
    };
    for (size_t k = 0; k < QN_COUNT(types); k++) {
        qn_str rest = qn_str_of(types[k].name);
        uint32_t same = 0;
        qn_cpp_token word = qn_cpp_next(&rest);
        while (word.kind != QN_CPP_END && is_same(type, same, word.text)) {
            word = qn_cpp_next(&rest);
            same++;
        }
        if (word.kind == QN_CPP_END && same == type.count) {
            return types[k].bits;
        }
    }
    return -1;
}

/* `NAME{value, ..., position}`: the field that is the position and no more; -1: there is none. A
 * comma between `<` and `>` may be one of a template's. */
static int field_of(part map, const fields *f, qn_str type, const char *position)
{
    if (!is_same(map, 0, type) || !is(map, 1, "{") || !is(map, map.count - 1, "}")) {
        return -1;
    }
    uint32_t depth = 0, field = 0, uses = 0;
    int found = -1;
    for (uint32_t k = 2; k + 1 < map.count; k++) {
        const bool opens = is(map, k, "(") || is(map, k, "{") || is(map, k, "[");
        const bool closes = is(map, k, ")") || is(map, k, "}") || is(map, k, "]");
        if ((closes && depth == 0) || is(map, k, "<")) {
            return -1;
        }
        depth += opens;
        depth -= closes;
        if (is(map, k, position)) {
            uses++;
            const bool first = depth == 0 && (k == 2 || is(map, k - 1, ","));
            const bool last = is(map, k + 1, ",") || k + 2 == map.count;
            found = first && last ? (int)field : found;
        }
        field += depth == 0 && is(map, k, ",");
    }
    return uses == 1 && depth == 0 && field + 1 == f->count ? found : -1;
}

/* The only word of map, but for the type, the position, and casts to numbers; empty if there is
 * another. `cast`: one is to a number that may not have all integers of 16 bits. */
static qn_str word_of(part map, const char *position, bool *cast)
{
    static const char *const aside[] = {"(",    ")",      "{",        "}",    ",",
                                        "int",  "signed", "unsigned", "long", "short",
                                        "char", "float",  "double"};
    qn_str word = {0};
    *cast = false;
    for (uint32_t k = 1; k < map.count; k++) {
        *cast |= is(map, k, "unsigned") || is(map, k, "char");
        bool known = is(map, k, position);
        for (size_t n = 0; n < QN_COUNT(aside); n++) {
            known |= is(map, k, aside[n]);
        }
        if (!known && (word.length > 0 || !is_word(map, k))) {
            return (qn_str){0};
        }
        word = known ? word : map.at[k].text;
    }
    return word;
}

/* ---- the choice ----------------------------------------------------------------------------- */

/* `condition ? one : other`, over the names of two values. */
typedef struct ternary {
    qn_str first, second; /* of the values, in the order of their positions */
    part condition;
    bool takes_second; /* where the condition is true */
} ternary;

/* From the condition on, up to `end`; false unless the names are those of `t`. */
static bool read_ternary(ternary *t, part p, const char *end)
{
    uint32_t k = 0;
    while (k < p.count && !is(p, k, "?")) {
        k++;
    }
    t->condition = (part){p.at, k};
    t->takes_second = is_same(p, k + 1, t->second);
    const qn_str other = t->takes_second ? t->first : t->second;
    return k > 0 && (t->takes_second || is_same(p, k + 1, t->first)) && is(p, k + 2, ":") &&
           is_same(p, k + 3, other) && (end ? is(p, k + 4, end) : p.count == k + 4);
}

/* `TYPE a, const TYPE &b)`, from the first word on. How many tokens that is; 0: it is none. */
static uint32_t read_parameters(ternary *t, part p)
{
    qn_str *const names[] = {&t->first, &t->second};
    static const char *const ends[] = {",", ")"};
    uint32_t k = 0;
    for (int n = 0; n < 2; n++) {
        const uint32_t begin = k;
        while (is_word(p, k) || is(p, k, "&")) {
            k++;
        }
        if (k < begin + 2 || !is_word(p, k - 1) || !is(p, k, ends[n])) {
            return 0;
        }
        *names[n] = p.at[k - 1].text;
        k++;
    }
    return qn_str_same(t->first, t->second) ? 0 : k;
}

/* `{ return condition ? one : other; }` */
static bool read_body(ternary *t, part p)
{
    return is(p, 0, "{") && is(p, 1, "return") && read_ternary(t, behind(p, 2), ";") &&
           is(p, t->condition.count + 7, "}");
}

/* `NAME(a, b)`: its only mention in the preamble is its definition, behind the type's name. */
static bool read_call(ternary *t, part reduce, part preamble, qn_str type)
{
    const bool called = reduce.count == 6 && is_word(reduce, 0) && is(reduce, 1, "(") &&
                        is(reduce, 2, "a") && is(reduce, 3, ",") && is(reduce, 4, "b") &&
                        is(reduce, 5, ")");
    uint32_t found = 0, at = 0;
    for (uint32_t k = 1; called && k < preamble.count; k++) {
        if (is_same(preamble, k, reduce.at[0].text)) {
            found++;
            at = k;
        }
    }
    if (found != 1 || !is_same(preamble, at - 1, type) || !is(preamble, at + 1, "(")) {
        return false;
    }
    const part p = behind(preamble, at + 2);
    const uint32_t parameters = read_parameters(t, p);
    return parameters > 0 && read_body(t, behind(p, parameters));
}

/* ---- the condition -------------------------------------------------------------------------- */

/* Tokens of the operator at `k`, one that compares; 0: it is none. */
static uint32_t comparison(part p, uint32_t k)
{
    const bool joined = is_joined(p, k + 1), equals = joined && is(p, k + 1, "=");
    if (is(p, k, "<") || is(p, k, ">")) {
        return equals ? 2 : joined && (is(p, k + 1, "<") || is(p, k + 1, ">")) ? 0 : 1;
    }
    return (is(p, k, "=") || is(p, k, "!")) && equals ? 2 : 0;
}

/* `a.field`. */
static bool is_field(const ternary *t, part p, uint32_t k)
{
    return (is_same(p, k, t->first) || is_same(p, k, t->second)) && is(p, k + 1, ".") &&
           is_word(p, k + 2);
}

/* True beside a whole operand of `&&`, `||` and the like: nothing else binds what it ends there. */
static bool is_apart(part p, uint32_t k, const char *bracket)
{
    return is(p, k, bracket) || is(p, k, "&&") || is(p, k, "&") || is(p, k, "|");
}

/* `a.at < b.at` from `k` on, of positions of which the first value's is lower. How many tokens; 0:
 * there is no such thing. */
static uint32_t known_positions(const ternary *t, qn_str field, uint32_t k, bool *holds)
{
    const part p = t->condition;
    const uint32_t marks = comparison(p, k + 3), other = k + 3 + marks, end = other + 3;
    if (marks == 0 || !is_same(p, k + 2, field) || !is_field(t, p, other) ||
        !is_same(p, other + 2, field) || (k > 0 && !is_apart(p, k - 1, "(")) ||
        (end < p.count && !is_apart(p, end, ")"))) {
        return 0;
    }
    const bool same = is_same(p, other, p.at[k].text);
    const bool lower = !same && is_same(p, k, t->first);
    const bool not_equal = is(p, k + 3, "!"), or_equal = marks == 2 && !not_equal;
    *holds = is(p, k + 3, "<")   ? lower || (same && or_equal)
             : is(p, k + 3, ">") ? !same ? !lower : or_equal
                                 : same != not_equal;
    return end - k;
}

/* How many tokens from `k` on are a field that holds no position, or change nothing; 0: none. */
static uint32_t harmless(const ternary *t, qn_str field, uint32_t k)
{
    static const char *const marks[] = {"(", ")", "&&", "&", "|", "!"};
    static const char *const functions[] = {"isnan", "isinf", "abs", "fabs", "fabsf"};
    const part p = t->condition;
    if (is_field(t, p, k)) {
        return is_same(p, k + 2, field) ? 0 : 3;
    }
    const uint32_t compared = comparison(p, k);
    bool known = p.at[k].kind == QN_CPP_NUMBER;
    for (size_t n = 0; n < QN_COUNT(marks); n++) {
        known |= is(p, k, marks[n]);
    }
    for (size_t n = 0; n < QN_COUNT(functions); n++) {
        known |= is(p, k, functions[n]) && is(p, k + 1, "(");
    }
    return compared > 0 ? compared : known;
}

/* `a.value > b.value` from `k` on, or `&&`, `|`, `!`, a bracket: what decides by no more than whose
 * field is greater, and so does all that is made of it. How many tokens; 0: it is something else.
 */
static uint32_t compares(const ternary *t, uint32_t k)
{
    static const char *const marks[] = {"(", ")", "&&", "&", "|", "!"};
    const part p = t->condition;
    for (size_t n = 0; n < QN_COUNT(marks); n++) {
        if (is(p, k, marks[n])) {
            return 1;
        }
    }
    const uint32_t compared = is_field(t, p, k) ? comparison(p, k + 3) : 0, end = k + compared + 6;
    const bool alone = compared > 0 && is_field(t, p, k + 3 + compared) &&
                       (k == 0 || is_apart(p, k - 1, "(")) &&
                       (end == p.count || is_apart(p, end, ")"));
    return alone ? end - k : 0;
}

/* The condition, with what is known of positions. `plain`: all that matters is whose field is
 * greater. */
static bool write_condition(qn_text *out, const ternary *t, qn_str field, bool *plain)
{
    const part p = t->condition;
    uint32_t taken = 0;
    uint32_t read = 0; /* as comparisons */
    *plain = true;
    for (uint32_t k = 0; k < p.count; k += taken) {
        qn_text_puts(out, k == 0 || is_joined(p, k) ? "" : " ");
        bool holds = false;
        taken = is_field(t, p, k) ? known_positions(t, field, k, &holds) : 0;
        if (taken > 0) {
            qn_text_puts(out, holds ? "true" : "false");
            read = k + taken;
            continue;
        }
        read += k == read ? compares(t, k) : 0;
        *plain &= k < read;
        taken = harmless(t, field, k);
        if (taken == 0) {
            return false;
        }
        for (uint32_t j = k; j < k + taken; j++) {
            qn_text_add(out, p.at[j].text.data, p.at[j].text.length);
        }
    }
    return !out->failed;
}

/* ---- the whole ------------------------------------------------------------------------------ */

static bool keep(qn_choice *out, qn_arena *arena, const ternary *t, const fields *f, int position,
                 int bits, part map, const char *of_element)
{
    const qn_str field = f->name[position];
    qn_text condition = {0};
    bool plain;
    if (!write_condition(&condition, t, field, &plain)) {
        qn_text_free(&condition);
        return false;
    }
    qn_text text = {0};
    qn_text_printf(&text, t->takes_second ? "%s" : "!(%s)", condition.data);
    qn_text_free(&condition);
    out->first = qn_arena_strndup(arena, t->first.data, t->first.length);
    out->second = qn_arena_strndup(arena, t->second.data, t->second.length);
    out->takes_second = text.failed ? NULL : qn_arena_strndup(arena, text.data, text.length);
    out->field = qn_arena_strndup(arena, field.data, field.length);
    out->narrow = bits == 32;
    if (plain && f->count == 2) {
        const qn_str value = f->name[1 - position];
        out->value = qn_arena_strndup(arena, value.data, value.length);
        const qn_str filled = word_of(map, of_element, &out->cast);
        out->filled = filled.length ? qn_arena_strndup(arena, filled.data, filled.length) : NULL;
    }
    qn_text_free(&text);
    return out->first && out->second && out->takes_second && out->field;
}

bool qn_text_study_choice(qn_choice *out, qn_arena *arena, const qn_choice_texts *texts,
                          const char *position)
{
    *out = (qn_choice){0};
    tokens map, reduce, preamble;
    const qn_str type = qn_str_of(texts->type);
    if (type.length == 0 || texts->preamble[0] == '\0') { /* most reductions combine numbers */
        return false;
    }
    if (!cut(&map, texts->map) || !cut(&reduce, texts->reduce) ||
        !cut(&preamble, texts->preamble)) {
        return false;
    }
    const part maps = {map.at, map.count}, reduces = {reduce.at, reduce.count};
    const part functions = {preamble.at, preamble.count};
    fields f;
    const int field = read_fields(&f, functions, type) ? field_of(maps, &f, type, position) : -1;
    int bits = field >= 0 ? bits_of(f.type[field]) : 0;
    for (uint32_t k = 0; field >= 0 && k < f.count; k++) {
        bits = bits_of(f.type[k]) < 0 ? 0 : bits;
    }
    ternary t = {.first = qn_str_of("a"), .second = qn_str_of("b")};
    if (bits == 0 ||
        (!read_ternary(&t, reduces, NULL) && !read_call(&t, reduces, functions, type)) ||
        !keep(out, arena, &t, &f, field, bits, maps, position)) {
        *out = (qn_choice){0};
        return false;
    }
    return true;
}
