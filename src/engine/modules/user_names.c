/* SPDX-License-Identifier: MIT
 *
 * names: what a program calls a function or a variable of a module, turned into what the image
 * calls it. In: a name, the name expressions that the module was compiled with, and the image's own
 * names. Out: one of these names, or a failure with those that there are. The thing to know: of a
 * mangled name only the qualified name is read, not the parameters after it; names that cannot be
 * read are known by their mangled form alone.
 */
#include "base/cpp_text.h"
#include "engine/modules/modules.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define LISTED_BYTES 600 /* of names in a message */

/* ---- plain names ---------------------------------------------------------------------------- */

/* source-name = digits identifier. The number is the length of the identifier; a larger one than
 * the rest of the text has is refused before it overflows. NULL: `at` is not a source-name. */
static const char *source_name(const char *at, qn_str *out)
{
    size_t length = 0, room = strlen(at);
    if (!isdigit((unsigned char)*at)) {
        return NULL;
    }
    for (; isdigit((unsigned char)*at) && length <= room; at++) {
        length = length * 10 + (size_t)(*at - '0');
    }
    if (length == 0 || length > strlen(at)) {
        return NULL;
    }
    *out = (qn_str){at, length};
    return at + length;
}

/* Names that the compiler gives to what has none: an unnamed namespace, a file. */
static bool is_invented(qn_str name)
{
    static const char *const prefixes[] = {"_GLOBAL__N_", "_INTERNAL_"};
    for (size_t k = 0; k < QN_COUNT(prefixes); k++) {
        if (qn_str_begins(name, prefixes[k])) {
            return true;
        }
    }
    return false;
}

/* Relocatable code gives static names a prefix with the name of their file:
 * prefix = "__nv_static_" number "_" as many characters "_". */
static const char *skip_file(const char *name)
{
    static const char prefix[] = "__nv_static_";
    if (!qn_begins(name, prefix)) {
        return name;
    }
    char *at;
    unsigned long length = strtoul(name + strlen(prefix), &at, 10);
    bool whole = *at == '_' && strlen(at) > length && at[length] != '\0' && at[length + 1] == '_';
    return whole ? at + length + 2 : name;
}

/* name = prefix? ("_Z" ("N" ("L"? source-name)+ ("I" | "E") | "L"? source-name) anything | plain)
 */
bool qn_plain_name(qn_text *out, const char *own)
{
    const char *mangled = skip_file(own);
    if (!qn_begins(mangled, "_Z")) {
        qn_text_puts(out, mangled != own ? mangled : "");
        return mangled != own;
    }
    bool nested = mangled[2] == 'N', first = true;
    const char *at = mangled + 2 + nested;
    do {
        qn_str name;
        at = source_name(at + (*at == 'L'), &name);
        if (!at) {
            return false;
        }
        if (!is_invented(name)) {
            qn_text_printf(out, "%s%.*s", first ? "" : "::", (int)name.length, name.data);
            first = false;
        }
    } while (nested && *at != 'I' && *at != 'E');
    return !first;
}

/* ---- matching ------------------------------------------------------------------------------- */

/* The next character that matters: blanks matter only between words. */
static const char *skip_blanks(const char *at, char before)
{
    const char *end = at + strspn(at, " \t");
    return end > at && qn_is_word(before) && qn_is_word(*end) ? end - 1 : end;
}

/* "scale<double,3>" is "scale< double, 3 >". */
static bool same_expression(const char *a, const char *b)
{
    char before = '\0';
    for (;; a++, b++) {
        a = skip_blanks(a, before);
        b = skip_blanks(b, before);
        if (*a != *b) {
            return false;
        }
        if (*a == '\0') {
            return true;
        }
        before = *a;
    }
}

/* The whole qualified name, or its last components. */
static bool is_plain_name_of(const char *mangled, const char *name)
{
    qn_text plain = {0};
    size_t length = strlen(name);
    bool same = false;
    if (qn_plain_name(&plain, mangled) && !plain.failed && plain.length >= length) {
        const char *tail = plain.data + plain.length - length;
        same =
            strcmp(tail, name) == 0 && (tail == plain.data || (name[0] != ':' && tail[-1] == ':'));
    }
    qn_text_free(&plain);
    return same;
}

static const char *by_expression(const qn_user_names *names, const char *name)
{
    for (size_t k = 0; k < names->expression_count; k++) {
        const char *expression = names->expressions[k];
        if (same_expression(expression, name) ||
            (expression[0] == '&' && same_expression(expression + 1, name))) {
            return names->lowered[k];
        }
    }
    return NULL;
}

static size_t by_plain_name(const qn_user_names *names, const char *name, const char **found)
{
    size_t count = 0;
    for (size_t k = 0; k < names->count; k++) {
        if (is_plain_name_of(names->own[k], name)) {
            *found = names->own[k];
            count++;
        }
    }
    return count;
}

const char *qn_name_find(const qn_user_names *names, const char *name)
{
    const char *found = by_expression(names, name);
    for (size_t k = 0; !found && k < names->count; k++) {
        found = strcmp(names->own[k], name) == 0 ? names->own[k] : NULL;
    }
    if (!found && by_plain_name(names, name, &found) > 1) {
        found = NULL;
    }
    return found;
}

/* ---- messages ------------------------------------------------------------------------------- */

/* What a user would write for the name `own` of the image; NULL when out of memory. */
static const char *usual_name(const qn_user_names *names, const char *own, qn_arena *arena)
{
    for (size_t k = 0; k < names->expression_count; k++) {
        if (strcmp(names->lowered[k], own) == 0) {
            return names->expressions[k];
        }
    }
    qn_text plain = {0};
    const char *found, *usual = own;
    if (qn_plain_name(&plain, own) && !plain.failed &&
        by_plain_name(names, plain.data, &found) == 1) {
        usual = qn_arena_strndup(arena, plain.data, plain.length);
    }
    qn_text_free(&plain);
    return usual;
}

/* A list of names, as long as it is short enough to be read. */
static void print_list(qn_text *out, const char *const *list, size_t count)
{
    size_t begin = out->length;
    for (size_t k = 0; k < count; k++) {
        qn_text_puts(out, k > 0 ? ", " : "");
        if (out->length - begin > LISTED_BYTES) {
            qn_text_printf(out, "and %zu more", count - k);
            return;
        }
        qn_text_puts(out, list[k]);
    }
}

static void explain_unknown(qn_text *out, const qn_user_names *names, const char *name,
                            const char *const *usual)
{
    qn_text_printf(out, "the module has no %s '%s'", names->what, name);
    const char *near = qn_name_suggest(qn_str_of(name), usual, names->count);
    if (near) {
        qn_text_printf(out, "; did you mean '%s'?", near);
    }
    qn_text_puts(out, near ? " It has: " : "; it has: ");
    print_list(out, usual, names->count);
    qn_text_puts(out, names->count == 0 ? "none" : "");
}

static void explain_ambiguous(qn_text *out, const qn_user_names *names, const char *name,
                              const char **list)
{
    size_t count = 0;
    for (size_t k = 0; k < names->count; k++) {
        if (is_plain_name_of(names->own[k], name)) {
            list[count++] = names->own[k];
        }
    }
    qn_text_printf(out,
                   "the module has %zu %ss '%s'; ask for one of them by its name expression, or "
                   "by its mangled name: ",
                   count, names->what, name);
    print_list(out, list, count);
}

quern_status qn_name_refuse(const qn_user_names *names, const char *name)
{
    qn_arena arena = {0};
    qn_text said = {0};
    const char *found;
    const char **list = qn_arena_alloc(&arena, (names->count + 1) * sizeof *list);
    said.failed = !list;
    for (size_t k = 0; !said.failed && k < names->count; k++) {
        list[k] = usual_name(names, names->own[k], &arena);
        said.failed = !list[k];
    }
    if (!said.failed && by_plain_name(names, name, &found) > 1) {
        explain_ambiguous(&said, names, name, list);
    } else if (!said.failed) {
        explain_unknown(&said, names, name, list);
    }
    quern_status status = said.failed ? qn_fail_memory("looking up a name")
                                      : qn_fail(QUERN_ERROR_NAME, "%s", said.data);
    qn_text_free(&said);
    qn_arena_free(&arena);
    return status;
}
