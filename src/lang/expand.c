/* SPDX-License-Identifier: MIT
 *
 * Templates to source. In: a template's text and its holes. Out: the text with every `@name@`
 * replaced. What goes into a hole is copied as it is, so that a user's snippet may hold anything;
 * an
 * `@` that does not open a hole (inline PTX has such) stays.
 */
#include "lang/lang.h"

#include <string.h>

static bool is_hole_character(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

/* The name of the hole that opens at `at`, an '@'; empty when none does. */
static qn_str hole_name(const char *at)
{
    const char *end = at + 1;
    while (is_hole_character(*end)) {
        end++;
    }
    size_t length = *end == '@' ? (size_t)(end - at - 1) : 0;
    return (qn_str){at + 1, length};
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

quern_status qn_expand(qn_text *out, const char *template_text, const qn_hole *holes,
                       size_t hole_count)
{
    const char *rest = template_text;
    for (const char *at; (at = strchr(rest, '@'));) {
        qn_text_add(out, rest, (size_t)(at - rest));
        qn_str name = hole_name(at);
        if (name.length == 0) {
            qn_text_add(out, at, 1);
            rest = at + 1;
            continue;
        }
        const qn_hole *hole = find_hole(holes, hole_count, name);
        if (!hole) {
            return qn_fail(QUERN_ERROR_INTERNAL,
                           "the template has a hole \"%.*s\" that nothing fills", (int)name.length,
                           name.data);
        }
        qn_text_puts(out, hole->text ? hole->text : "");
        rest = name.data + name.length + 1;
    }
    qn_text_puts(out, rest);
    return out->failed ? qn_fail_memory("expanding a template") : QUERN_OK;
}
