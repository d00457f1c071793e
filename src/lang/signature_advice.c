/* SPDX-License-Identifier: MIT
 *
 * Wrong parameters, and what to write instead. In: the words of a parameter that the grammar does
 * not take. Out: QUERN_ERROR_SIGNATURE with a sentence and the span it is about.
 *
 * Nothing here decides whether a signature is right: signature.c has done so. These functions guess
 * what the user meant, most telling sign first.
 */
#include "lang/lang.h"

#include <string.h>

#define ADVISE(list, begin, end, ...)                                                              \
    qn_fail_at(QUERN_ERROR_SIGNATURE, (list)->name, (list)->text, (begin), (end), __VA_ARGS__)
#define SHOW(str) (int)(str).length, (str).data

qn_str qn_words_text(const qn_list *list, const qn_words *words, uint32_t first, uint32_t last)
{
    return (qn_str){list->text.data + words->begin[first], words->end[last] - words->begin[first]};
}

bool qn_is_letter(qn_str type)
{
    char lower = type.length == 1 ? (char)(type.data[0] | 0x20) : '\0';
    return lower >= 'a' && lower <= 'z';
}

bool qn_is_type(qn_str type)
{
    return qn_is_letter(type) || qn_dtype_parse(type);
}

static qn_str word(const qn_list *list, const qn_words *words, uint32_t k)
{
    return qn_words_text(list, words, k, k);
}

static bool is_qualifier(qn_str w)
{
    return qn_str_is(w, "raw") || qn_str_is(w, "const");
}

/* ---- characters ----------------------------------------------------------------------------- */

/* The longest first. */
static const struct {
    const char *text, *advice;
} marks[] = {
    {"->", "inputs and outputs are two lists: give what follows \"->\" as the second one"},
    {"...", "a kernel has a fixed number of parameters: write each one with its type and name"},
    {"::", "types are written without a namespace, such as \"int32 x\""},
    {"//", "a signature has no comments"},
    {"/*", "a signature has no comments"},
    {"*", "arrays are not written as pointers: write \"T x\", or \"raw T x\" for an array that is "
          "indexed"},
    {"&", "arrays are not written as references: write \"T x\""},
    {"[", "shapes are not part of a signature: write \"T x\", or \"raw T x\" for an array that is "
          "indexed"},
    {"]", "shapes are not part of a signature: write \"T x\", or \"raw T x\" for an array that is "
          "indexed"},
    {"=", "a parameter has no default value: write \"T x\" and pass the value with each call"},
    {"\"", "the quotes belong around the list, not inside it"},
    {"'", "the quotes belong around the list, not inside it"},
    {"`", "the quotes belong around the list, not inside it"},
    {";", "parameters are separated by commas: write \"T x, T y\""},
    {":", "the type comes before the name: write \"float32 x\""},
    {"(", "a list has no parentheses: write \"T x, T y\""},
    {")", "a list has no parentheses: write \"T x, T y\""},
    {"{", "a list has no braces: write \"T x, T y\""},
    {"}", "a list has no braces: write \"T x, T y\""},
    {"<",
     "templates are not types of parameters: write a dtype such as \"complex64 x\", or a letter "
     "for any dtype"},
    {">",
     "templates are not types of parameters: write a dtype such as \"complex64 x\", or a letter "
     "for any dtype"},
    {".", "types are written without a prefix, such as \"float32 x\""},
    {"#", "a signature has no comments and no directives"},
    {"-", "names consist of letters, digits and underscores"},
};

/* What looks like a plain character and is not. */
static const struct {
    const char *text, *advice;
} unicode_marks[] = {
    {"\xe2\x80\x9c", "this is a typographic quote; write \" around the list"},
    {"\xe2\x80\x9d", "this is a typographic quote; write \" around the list"},
    {"\xe2\x80\x98", "this is a typographic quote; write ' or \" around the list"},
    {"\xe2\x80\x99", "this is a typographic quote; write ' or \" around the list"},
    {"\xc2\xa0", "this is a no-break space; write a plain space"},
    {"\xe3\x80\x80", "this is a wide space; write a plain space"},
    {"\xef\xbc\x8c", "this is a wide comma; write \",\""},
    {"\xe2\x86\x92",
     "inputs and outputs are two lists: give what follows the arrow as the second one"},
    {"\xef\xbb\xbf", "this is a byte order mark; remove it"},
    {"\xe2\x80\x8b", "this is an invisible space; remove it"},
};

static quern_status advise_foreign_byte(const qn_list *list, size_t at)
{
    const qn_str rest = {list->text.data + at, list->text.length - at};
    for (size_t k = 0; k < QN_COUNT(unicode_marks); k++) {
        if (qn_str_begins(rest, unicode_marks[k].text)) {
            return ADVISE(list, at, at + strlen(unicode_marks[k].text), "%s",
                          unicode_marks[k].advice);
        }
    }
    size_t end = at + 1;
    while (end < list->text.length && ((unsigned char)list->text.data[end] & 0xc0) == 0x80) {
        end++;
    }
    return ADVISE(list, at, end,
                  "a signature is plain ASCII: names consist of letters, digits and underscores");
}

quern_status qn_advise_character(const qn_list *list, size_t at)
{
    const qn_str rest = {list->text.data + at, list->text.length - at};
    unsigned char c = (unsigned char)list->text.data[at];
    if (c >= 0x80) {
        return advise_foreign_byte(list, at);
    }
    for (size_t k = 0; k < QN_COUNT(marks); k++) {
        if (qn_str_begins(rest, marks[k].text)) {
            return ADVISE(list, at, at + strlen(marks[k].text), "%s", marks[k].advice);
        }
    }
    if (c < 0x20 || c == 0x7f) {
        return ADVISE(list, at, at + 1, "the character with code %d has no place in a signature",
                      c);
    }
    return ADVISE(list, at, at + 1,
                  "\"%c\" has no place in a signature: write a type and a name, such as \"T x\"",
                  c);
}

/* ---- one word where two are needed ---------------------------------------------------------- */

quern_status qn_advise_missing(const qn_list *list, const qn_words *words, uint32_t first)
{
    uint32_t begin = words->begin[QN_MIN(first, words->count - 1)];
    uint32_t end = words->end[words->count - 1];
    qn_str all = qn_words_text(list, words, 0, words->count - 1);
    if (first == words->count) {
        return ADVISE(list, words->begin[0], end,
                      "\"%.*s\" needs a type and a name after it: write \"%.*s T x\"", SHOW(all),
                      SHOW(all));
    }
    qn_str type = qn_words_text(list, words, first, words->count - 1);
    bool capital = type.length == 1 && type.data[0] >= 'A' && type.data[0] <= 'Z';
    if (capital || qn_dtype_parse(type)) {
        return ADVISE(list, begin, end, "type \"%.*s\" has no name after it: write \"%.*s x\"",
                      SHOW(type), SHOW(all));
    }
    qn_str before = {all.data, begin - words->begin[0]};
    const char *meant = qn_is_letter(type) ? NULL : qn_dtype_suggest(type);
    if (meant) {
        return ADVISE(
            list, begin, end,
            "a parameter is a type and a name: write \"%.*s%s x\" if \"%.*s\" is meant to "
            "be its type, \"%.*sT %.*s\" if it is the name",
            SHOW(before), meant, SHOW(type), SHOW(before), SHOW(type));
    }
    return ADVISE(
        list, begin, end,
        "\"%.*s\" has no type before it: write \"%.*sT %.*s\" for any dtype, or a dtype as "
        "in \"%.*sfloat32 %.*s\"",
        SHOW(type), SHOW(before), SHOW(type), SHOW(before), SHOW(type));
}

/* ---- words that are not a type --------------------------------------------------------------- */

static const struct {
    const char *word, *advice;
} known_words[] = {
    {"in", "the list that a parameter is in makes it an input or an output"},
    {"out", "the list that a parameter is in makes it an input or an output"},
    {"inout", "an array that is read and written is an output, which may also be read"},
    {"struct", "a parameter is a number or an array of numbers"},
    {"union", "a parameter is a number or an array of numbers"},
    {"enum", "a parameter is a number or an array of numbers"},
    {"class", "a parameter is a number or an array of numbers"},
    {"volatile", "every parameter is an array that the kernel reads or writes once"},
    {"restrict", "overlap of the arguments is handled by the call"},
    {"__restrict__", "overlap of the arguments is handled by the call"},
    {"__restrict", "overlap of the arguments is handled by the call"},
    {"static", "a parameter has no storage class"},
    {"register", "a parameter has no storage class"},
    {"extern", "a parameter has no storage class"},
    {"mutable", "outputs may be written and inputs may not"},
    {"__shared__", "shared memory is declared in the operation, not in the signature"},
    {"__global__", "a signature has only types and names"},
    {"__device__", "a signature has only types and names"},
    {"__constant__", "a signature has only types and names"},
};

/* Why a word that C or CUDA knows is not used here; NULL for any other. */
static const char *known_advice(qn_str w)
{
    for (size_t k = 0; k < QN_COUNT(known_words); k++) {
        if (qn_str_is(w, known_words[k].word)) {
            return known_words[k].advice;
        }
    }
    return NULL;
}

/* Word `k` is where a qualifier or a type should be. */
static quern_status advise_qualifier(const qn_list *list, const qn_words *words, uint32_t k)
{
    qn_str w = word(list, words, k);
    const char *advice = known_advice(w);
    if (advice) {
        return ADVISE(list, words->begin[k], words->end[k], "\"%.*s\" is not used here: %s",
                      SHOW(w), advice);
    }
    for (const char *const *q = (const char *const[]){"raw", "const", NULL}; *q; q++) {
        if (w.length == strlen(*q) && strncasecmp(w.data, *q, w.length) == 0) {
            return ADVISE(list, words->begin[k], words->end[k], "write \"%s\" in small letters",
                          *q);
        }
    }
    return ADVISE(list, words->begin[k], words->end[k],
                  "\"%.*s\" is not a qualifier: only \"raw\" and \"const\" may stand before a type",
                  SHOW(w));
}

/* The first `length` words from `first` on are a type, and more than a name follows it. */
static quern_status advise_rest(const qn_list *list, const qn_words *words, uint32_t first,
                                uint32_t length)
{
    uint32_t second = first + length, last = words->count - 1;
    qn_str type = qn_words_text(list, words, first, second - 1);
    qn_str next = word(list, words, second);
    if (is_qualifier(next)) {
        return ADVISE(list, words->begin[second], words->end[second],
                      "qualifiers come before the type: write \"%.*s %.*s %.*s\"", SHOW(next),
                      SHOW(type), SHOW(word(list, words, last)));
    }
    qn_str second_type = qn_words_text(list, words, second, last - 1);
    if (qn_dtype_parse(second_type)) {
        return ADVISE(list, words->begin[first], words->end[last - 1],
                      "two types, \"%.*s\" and \"%.*s\", for one name: keep one of them, as in "
                      "\"%.*s %.*s\"",
                      SHOW(type), SHOW(second_type), SHOW(second_type),
                      SHOW(word(list, words, last)));
    }
    if (second + 1 == last) {
        return ADVISE(list, words->begin[second], words->end[last],
                      "two names, \"%.*s\" and \"%.*s\", for one type: write \"%.*s %.*s, %.*s "
                      "%.*s\" for two parameters",
                      SHOW(next), SHOW(word(list, words, last)), SHOW(type), SHOW(next), SHOW(type),
                      SHOW(word(list, words, last)));
    }
    qn_str rest = qn_words_text(list, words, second + 1, last);
    return ADVISE(list, words->begin[second + 1], words->end[second + 1],
                  "a comma is missing: write \"%.*s %.*s, %.*s\"", SHOW(type), SHOW(next),
                  SHOW(rest));
}

static quern_status advise_unknown_type(const qn_list *list, const qn_words *words, uint32_t first)
{
    uint32_t last = words->count - 2;
    uint32_t begin = words->begin[first], end = words->end[last];
    qn_str type = qn_words_text(list, words, first, last);
    const char *meant = qn_dtype_suggest(type);
    if (meant) {
        return ADVISE(list, begin, end, "there is no type \"%.*s\"; did you mean \"%s\"?",
                      SHOW(type), meant);
    }
    if (qn_str_is(type, "void") || qn_str_is(type, "auto")) {
        return ADVISE(list, begin, end,
                      "\"%.*s\" is not an element type: write a letter such as T for any dtype, or "
                      "a dtype such as float32",
                      SHOW(type));
    }
    if (type.length <= 3 && type.data[0] >= 'A' && type.data[0] <= 'Z') {
        return ADVISE(
            list, begin, end,
            "there is no type \"%.*s\": what stands for any dtype is a single letter, such "
            "as \"%c\"",
            SHOW(type), type.data[0]);
    }
    return ADVISE(list, begin, end,
                  "there is no type \"%.*s\": write a dtype (float32, int64, complex64, ...), a C "
                  "type (float, unsigned char, ...) or a letter such as T for any dtype",
                  SHOW(type));
}

quern_status qn_advise_type(const qn_list *list, const qn_words *words, uint32_t first)
{
    uint32_t last = words->count - 1;
    if (qn_dtype_suggest(qn_words_text(list, words, first, last - 1))) {
        return advise_unknown_type(list, words, first);
    }
    for (uint32_t length = last - first - 1; length >= 1; length--) {
        if (qn_is_type(qn_words_text(list, words, first, first + length - 1))) {
            return advise_rest(list, words, first, length);
        }
    }
    if (known_advice(word(list, words, first))) {
        return advise_qualifier(list, words, first);
    }
    for (uint32_t k = first + 1; k < last; k++) {
        if (qn_is_type(qn_words_text(list, words, k, last - 1)) ||
            is_qualifier(word(list, words, k))) {
            return advise_qualifier(list, words, first);
        }
    }
    return advise_unknown_type(list, words, first);
}
