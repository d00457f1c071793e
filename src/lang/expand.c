/* SPDX-License-Identifier: MIT
 *
 * Templates to source. In: a template's text and its holes. Out: the text with every `HOLE_name`
 * replaced. What goes into a hole is copied as it is, so that a user's snippet may hold anything.
 * The thing to know: a hole is an identifier of C, so that a file which defines each as a macro can
 * include a template and be compiled as it is (tests/template).
 */
#include "base/cpp_text.h"
#include "lang/lang.h"

#include <string.h>

static const char prefix[] = "HOLE_";

/* The name of the hole that begins at `at`, in `text`; empty when none does. */
static qn_str hole_name(const char *text, const char *at)
{
    const char *name = at + sizeof prefix - 1, *end = name;
    while (qn_is_word(*end)) {
        end++;
    }
    bool inside = at > text && qn_is_word(at[-1]);
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

quern_status qn_expand(qn_text *out, const char *template_text, const qn_hole *holes,
                       size_t hole_count)
{
    const char *rest = template_text;
    for (const char *at; (at = strstr(rest, prefix));) {
        qn_text_add(out, rest, (size_t)(at - rest));
        qn_str name = hole_name(template_text, at);
        if (name.length == 0) {
            qn_text_puts(out, prefix);
            rest = name.data;
            continue;
        }
        const qn_hole *hole = find_hole(holes, hole_count, name);
        if (!hole) {
            return qn_fail(QUERN_ERROR_INTERNAL,
                           "the template has a hole \"%.*s\" that nothing fills", (int)name.length,
                           name.data);
        }
        qn_text_puts(out, hole->text ? hole->text : "");
        rest = name.data + name.length;
    }
    qn_text_puts(out, rest);
    return out->failed ? qn_fail_memory("expanding a template") : QUERN_OK;
}
