/* SPDX-License-Identifier: MIT
 *
 * The grammar of signatures. In: the two lists as the user wrote them. Out: parameters, each with
 * its place in the text.
 *
 *     list      = [parameter ("," parameter)*]
 *     parameter = qualifier* type name
 *     qualifier = "raw" | "const"                     each at most once
 *     type      = letter | dtype | record             a dtype may be several words
 *
 * Each rule has a function of its name. What they refuse is explained by signature_advice.c and
 * reserved_names.c.
 */
#include "lang/lang.h"

#include <string.h>

#define REFUSE(list, begin, end, ...)                                                              \
    qn_fail_at(QUERN_ERROR_SIGNATURE, (list)->name, (list)->text, (begin), (end), __VA_ARGS__)
#define SHOW(str) (int)(str).length, (str).data

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool is_word_character(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* ---- words ---------------------------------------------------------------------------------- */

/* The words between bytes `begin` and `end`. */
static quern_status cut_words(qn_words *out, const qn_list *list, size_t begin, size_t end)
{
    const char *text = list->text.data;
    out->count = 0;
    for (size_t k = begin; k < end;) {
        if (is_space(text[k])) {
            k++;
            continue;
        }
        if (!is_word_character(text[k])) {
            return qn_advise_character(list, k);
        }
        size_t first = k;
        while (k < end && is_word_character(text[k])) {
            k++;
        }
        if (out->count == QN_MAX_WORDS) {
            return REFUSE(list, first, k, "too many words for one parameter: is a comma missing?");
        }
        out->begin[out->count] = (uint32_t)first;
        out->end[out->count++] = (uint32_t)k;
    }
    return QUERN_OK;
}

/* ---- qualifier ------------------------------------------------------------------------------ */

/* Take the qualifiers; *rest is the first word that is not one. */
static quern_status qualifiers(qn_parameter *out, uint32_t *rest, const qn_list *list,
                               const qn_words *words)
{
    uint32_t k = 0;
    for (; k < words->count; k++) {
        qn_str w = qn_words_text(list, words, k, k);
        bool *flag = qn_str_is(w, "raw")     ? &out->raw
                     : qn_str_is(w, "const") ? &out->is_const
                                             : NULL;
        if (!flag) {
            break;
        }
        if (*flag) {
            return REFUSE(list, words->begin[k], words->end[k], "\"%.*s\" is written twice",
                          SHOW(w));
        }
        if (flag == &out->is_const && out->output) {
            return REFUSE(list, words->begin[k], words->end[k],
                          "an output is written to: remove \"const\", or make it an input");
        }
        *flag = true;
    }
    *rest = k;
    return QUERN_OK;
}

/* ---- type name ------------------------------------------------------------------------------ */

static quern_status type(qn_parameter *out, const qn_list *list, const qn_words *words,
                         uint32_t first)
{
    uint32_t last = words->count - 2;
    out->type = qn_words_text(list, words, first, last);
    out->type_begin = words->begin[first];
    out->type_end = words->end[last];
    out->letter = -1;
    if (qn_is_letter(out->type)) {
        const char *reason = qn_name_refusal(out->type);
        if (reason) {
            return REFUSE(list, out->type_begin, out->type_end,
                          "\"%.*s\" %s: take another letter, such as T", SHOW(out->type), reason);
        }
        return QUERN_OK;
    }
    const qn_dtype_info *info = qn_dtype_parse(out->type);
    info = info ? info : qn_record_named(out->type);
    if (!info) {
        return qn_advise_type(list, words, first);
    }
    out->dtype = info->dtype;
    return QUERN_OK;
}

static quern_status name(qn_parameter *out, const qn_list *list, const qn_words *words)
{
    uint32_t last = words->count - 1;
    out->name = qn_words_text(list, words, last, last);
    out->name_begin = words->begin[last];
    out->name_end = words->end[last];
    if (out->name.data[0] >= '0' && out->name.data[0] <= '9') {
        return REFUSE(list, out->name_begin, out->name_end,
                      "a name begins with a letter: write \"%.*s x%.*s\"", SHOW(out->type),
                      SHOW(out->name));
    }
    const char *reason = qn_name_refusal(out->name);
    if (reason) {
        return REFUSE(list, out->name_begin, out->name_end,
                      "a parameter cannot be called \"%.*s\", which %s: take another name",
                      SHOW(out->name), reason);
    }
    return QUERN_OK;
}

/* True when the words from `first` on are a type that no name follows: "raw unsigned int". */
static bool name_is_missing(const qn_list *list, const qn_words *words, uint32_t first)
{
    if (words->count < first + 2) {
        return true;
    }
    return qn_dtype_parse(qn_words_text(list, words, first, words->count - 1)) != NULL;
}

/* parameter = qualifier* type name, between bytes `begin` and `end` */
static quern_status parameter(qn_parameter *out, const qn_list *list, size_t begin, size_t end)
{
    qn_words words;
    uint32_t first = 0;
    QN_TRY(cut_words(&words, list, begin, end));
    QN_TRY(qualifiers(out, &first, list, &words));
    if (name_is_missing(list, &words, first)) {
        return qn_advise_missing(list, &words, first);
    }
    QN_TRY(type(out, list, &words, first));
    return name(out, list, &words);
}

/* ---- list ----------------------------------------------------------------------------------- */

static bool is_blank(qn_str text, size_t begin, size_t end)
{
    while (begin < end && is_space(text.data[begin])) {
        begin++;
    }
    return begin == end;
}

/* Nothing but space between two commas, or a comma and an end. */
static quern_status refuse_empty(const qn_list *list, size_t begin, size_t end)
{
    bool comma_before = begin > 0, comma_after = end < list->text.length;
    if (comma_before && comma_after) {
        return REFUSE(list, begin - 1, end + 1,
                      "there is no parameter between two commas: remove one");
    }
    return comma_before ? REFUSE(list, begin - 1, begin,
                                 "no parameter follows the last comma: remove the comma")
                        : REFUSE(list, end, end + 1,
                                 "there is no parameter before the first comma: remove the comma");
}

/* A name belongs to one parameter only. */
static quern_status check_name(const qn_signature *s, const qn_parameter *p, const qn_list *list)
{
    for (const qn_parameter *q = s->parameters; q < s->parameters + s->count; q++) {
        if (qn_str_same(p->name, q->name)) {
            return REFUSE(list, p->name_begin, p->name_end,
                          "there are two parameters called \"%.*s\"%s: take another name for one",
                          SHOW(p->name), p->output && !q->output ? ", an input and an output" : "");
        }
    }
    return QUERN_OK;
}

/* Number the letter of `p`, which may be new. */
static void take_letter(qn_signature *s, qn_parameter *p)
{
    if (p->dtype != QUERN_DTYPE_NONE) {
        return;
    }
    const char *known = memchr(s->letters, p->type.data[0], s->letter_count);
    p->letter = known ? (int)(known - s->letters) : (int)s->letter_count;
    if (!known) {
        s->letters[s->letter_count++] = p->type.data[0];
    }
}

/* list = [parameter ("," parameter)*] */
static quern_status parameters(qn_signature *s, const qn_list *list, bool output)
{
    size_t length = list->text.length;
    if (is_blank(list->text, 0, length)) {
        return QUERN_OK;
    }
    for (size_t begin = 0; begin <= length;) {
        const char *comma = memchr(list->text.data + begin, ',', length - begin);
        size_t end = comma ? (size_t)(comma - list->text.data) : length;
        if (is_blank(list->text, begin, end)) {
            return refuse_empty(list, begin, end);
        }
        qn_parameter p = {.output = output};
        QN_TRY(parameter(&p, list, begin, end));
        if (s->count == QUERN_MAX_PARAMETERS) {
            return REFUSE(list, p.type_begin, p.name_end,
                          "a kernel has at most %d parameters, inputs and outputs together",
                          QUERN_MAX_PARAMETERS);
        }
        QN_TRY(check_name(s, &p, list));
        take_letter(s, &p);
        s->names_records |= p.dtype >= QUERN_DTYPE_RECORD;
        s->parameters[s->count++] = p;
        begin = end + 1;
    }
    return QUERN_OK;
}

/* ---- both lists ----------------------------------------------------------------------------- */

/* A letter that is also a name would be both in the generated source. */
static quern_status check_letters(const qn_signature *s, const qn_list *in, const qn_list *out)
{
    for (const qn_parameter *p = s->parameters; p < s->parameters + s->count; p++) {
        if (p->name.length == 1 && memchr(s->letters, p->name.data[0], s->letter_count)) {
            return REFUSE(
                p->output ? out : in, p->name_begin, p->name_end,
                "\"%.*s\" is both a parameter and the letter of a type: take another name "
                "or another letter",
                SHOW(p->name));
        }
    }
    return QUERN_OK;
}

/* So is the name of a record that the signature writes. */
static quern_status check_record_names(const qn_signature *s, const qn_list *in, const qn_list *out)
{
    for (const qn_parameter *p = s->parameters; s->names_records && p < s->parameters + s->count;
         p++) {
        for (const qn_parameter *q = s->parameters; q < s->parameters + s->count; q++) {
            if (q->dtype >= QUERN_DTYPE_RECORD && qn_str_same(p->name, q->type)) {
                return REFUSE(p->output ? out : in, p->name_begin, p->name_end,
                              "\"%.*s\" is both a parameter and a record: take another name",
                              SHOW(p->name));
            }
        }
    }
    return QUERN_OK;
}

static quern_status parse_lists(qn_signature *s, const qn_list *in, const qn_list *out)
{
    if (in->text.length > UINT32_MAX || out->text.length > UINT32_MAX) {
        return qn_fail(QUERN_ERROR_SIGNATURE, "the signature is longer than 4 GiB");
    }
    QN_TRY(parameters(s, in, false));
    s->input_count = s->count;
    QN_TRY(parameters(s, out, true));
    QN_TRY(check_letters(s, in, out));
    return check_record_names(s, in, out);
}

quern_status qn_signature_parse(qn_signature *out, qn_arena *arena, const char *in,
                                const char *result)
{
    qn_str in_str = qn_str_of(in), out_str = qn_str_of(result);
    *out = (qn_signature){0};
    qn_signature s = {
        .in_text = qn_arena_strndup(arena, in_str.data, in_str.length),
        .out_text = qn_arena_strndup(arena, out_str.data, out_str.length),
        .parameters = qn_arena_alloc(arena, QUERN_MAX_PARAMETERS * sizeof(qn_parameter)),
    };
    if (!s.in_text || !s.out_text || !s.parameters) {
        return qn_fail_memory("parsing a signature");
    }
    const qn_list in_list = {"in", {s.in_text, in_str.length}};
    const qn_list out_list = {"out", {s.out_text, out_str.length}};
    quern_status status = parse_lists(&s, &in_list, &out_list);
    if (status != QUERN_OK) {
        qn_error_stage("signature");
        return status;
    }
    *out = s;
    return QUERN_OK;
}
