/* SPDX-License-Identifier: MIT
 *
 * Templates to source. In: a template's text and its holes. Out: the text with every `HOLE_name`
 * replaced. What goes into a hole is copied as it is, so that a user's snippet may hold anything.
 * Of lines between `#if HOLE_name` and `#endif`, those are left out that its 0 or 1 says. The thing
 * to know: a hole is an identifier of C, so that a file which defines each as a macro can include a
 * template and be compiled as it is (tests/template).
 */
#include "base/cpp_text.h"
#include "lang/lang.h"

#include <string.h>

static const char prefix[] = "HOLE_", condition[] = "#if ";

/* The name of the hole that begins at `at`, in `text`; empty when none does. */
static qn_str hole_name(qn_str text, const char *at)
{
    const char *name = at + sizeof prefix - 1, *end = name, *last = text.data + text.length;
    while (end < last && qn_is_word(*end)) {
        end++;
    }
    bool inside = at > text.data && qn_is_word(at[-1]);
    return (qn_str){name, inside ? 0 : (size_t)(end - name)};
}

static const qn_hole *find_hole(const qn_hole *holes, size_t hole_count, qn_str name)
{
    for (size_t k = 0; k < hole_count; k++) {
        if (qn_str_is(name, holes[k].name)) {
            return &holes[k];
        }
    }
    return NULL;
}

static qn_str between(const char *begin, const char *end)
{
    return (qn_str){begin, (size_t)(end - begin)};
}

static bool begins_with(qn_str text, const char *word)
{
    const size_t length = strlen(word);
    return text.length >= length && memcmp(text.data, word, length) == 0;
}

/* ---- conditions ----------------------------------------------------------------------------- */

/* True when the hole at `at` is all of an `#if` and its text is 0 or 1. */
static bool is_condition(qn_str text, const char *at, const qn_hole *hole)
{
    const char *line = at - strlen(condition);
    return line >= text.data && begins_with(between(line, at), condition) &&
           (line == text.data || line[-1] == '\n') && hole->text &&
           (strcmp(hole->text, "0") == 0 || strcmp(hole->text, "1") == 0);
}

/* What lies behind an `#if`: the lines before `#else`, those behind it, and what follows `#endif`.
 */
typedef struct branches {
    qn_str yes, no, behind;
    bool ended;
} branches;

static branches read_branches(qn_str text)
{
    branches b = {0};
    const char *begin = text.data, *end = text.data + text.length, *next;
    int depth = 0;
    for (const char *line = begin; line < end && !b.ended; line = next) {
        const qn_str left = between(line, end);
        next = memchr(line, '\n', left.length);
        next = next ? next + 1 : end;
        const bool ends = begins_with(left, "#endif"), turns = begins_with(left, "#else");
        if (depth == 0 && (ends || turns)) {
            *(b.yes.data ? &b.no : &b.yes) = between(begin, line);
            begin = next;
            b.behind = between(next, end);
            b.ended = ends;
        }
        depth += begins_with(left, "#if") - ends;
    }
    return b;
}

/* ---- the whole ------------------------------------------------------------------------------ */

static quern_status expand(qn_text *out, qn_str text, const qn_hole *holes, size_t hole_count)
{
    qn_str rest = text;
    for (const char *at; (at = memmem(rest.data, rest.length, prefix, sizeof prefix - 1));) {
        const char *end = rest.data + rest.length;
        const qn_str name = hole_name(text, at);
        const qn_hole *hole = find_hole(holes, hole_count, name);
        if (name.length > 0 && !hole) {
            return qn_fail(QUERN_ERROR_INTERNAL,
                           "the template has a hole \"%.*s\" that nothing fills", (int)name.length,
                           name.data);
        }
        const char *behind = name.data + name.length;
        if (name.length > 0 && is_condition(text, at, hole)) {
            const branches b = read_branches(between(behind + (behind < end), end));
            if (!b.ended) {
                return qn_fail(QUERN_ERROR_INTERNAL, "the template has no #endif for \"%s\"",
                               hole->name);
            }
            qn_text_add(out, rest.data, (size_t)(at - strlen(condition) - rest.data));
            const qn_str taken = hole->text[0] == '1' ? b.yes : b.no;
            if (taken.length > 0) {
                QN_TRY(expand(out, taken, holes, hole_count));
            }
            rest = b.behind;
            continue;
        }
        qn_text_add(out, rest.data, (size_t)(at - rest.data));
        qn_text_puts(out, name.length == 0 ? prefix : hole->text ? hole->text : "");
        rest = between(behind, end);
    }
    qn_text_add(out, rest.data, rest.length);
    return QUERN_OK;
}

quern_status qn_expand(qn_text *out, const char *template_text, const qn_hole *holes,
                       size_t hole_count)
{
    QN_TRY(expand(out, qn_str_of(template_text), holes, hole_count));
    return out->failed ? qn_fail_memory("expanding a template") : QUERN_OK;
}
