/* SPDX-License-Identifier: MIT
 *
 * outputs: finds outputs that a kernel never assigns, and whose memory nobody would write. In: a
 * kernel's texts. Out: if it assigns none of its outputs, an error at the place where one is only
 * read, or about the whole text; if it assigns some, a warning about the first of the others,
 * because an array that is passed may be left as it is on purpose. Also whether the text sees no
 * input. The thing to know: only what is certain is said, because a macro, a reference or a
 * function of the preamble may assign.
 */
#include "engine/engine_internal.h"
#include <string.h>

/* True when a word of the text may be a macro of a header: it is neither a parameter nor one of
 * Quern's own names. */
static bool has_other_words(const quern_kernel *kernel, const char *text)
{
    static const char *const given[] = {"i", "a", "_J"};
    qn_str rest = qn_str_of(text), word;
    bool known = true;
    while (known && qn_text_next_name(&rest, &word)) {
        known = false;
        for (size_t k = 0; k < QN_COUNT(given); k++) {
            known |= qn_str_is(word, given[k]);
        }
        for (uint32_t p = 0; p < kernel->signature.count; p++) {
            known |= qn_str_same(word, kernel->signature.parameters[p].name);
        }
    }
    return !known;
}

/* Could a macro of another text, of the options or of a header name the parameter? */
static bool macro_may_name(const quern_kernel *kernel, const char *text, const char *name)
{
    for (int t = 0; t < QN_TEXTS; t++) {
        const char *other = kernel->texts[t].text;
        if (other != text && strchr(other, '#') &&
            (qn_text_uses(other, name) || strstr(other, "##"))) {
            return true;
        }
    }
    for (uint32_t o = 0; o < kernel->option_count; o++) {
        if (qn_text_uses(kernel->options[o], name) || strstr(kernel->options[o], "##")) {
            return true;
        }
    }
    return qn_kernel_includes(kernel) && has_other_words(kernel, text);
}

/* The text that assigns the outputs. */
static const qn_user_text *assigning_text(const quern_kernel *kernel)
{
    bool fold = kernel->texts[QN_POST].text[0] != '\0';
    return &kernel->texts[fold ? QN_POST : QN_OPERATION];
}

quern_status qn_outputs_judge(const quern_kernel *kernel)
{
    const qn_user_text *text = assigning_text(kernel);
    const char *name = kernel->unassigned;
    if (!name) {
        return QUERN_OK;
    }
    if (kernel->assigns_some) {
        qn_log(&kernel->engine->home.logger, QN_WARN,
               "the %s never assigns the output \"%s\", which keeps what its memory holds",
               text->file_name, name);
        return QUERN_OK;
    }
    qn_str whole = qn_str_of(text->text);
    size_t begin = strspn(text->text, " \t\n"), end = whole.length;
    bool read = qn_text_finds(text->text, name, &begin, &end);
    const char *behind = text->text + end + strspn(text->text + end, " ");
    const char *only = !read                     ? ""
                       : qn_begins(behind, "==") ? ", it only compares it"
                                                 : ", it only reads it";
    return qn_fail_at(QUERN_ERROR_INVALID_ARGUMENT, text->file_name, whole, begin, end,
                      "the %s never assigns the output \"%s\"%s: write %s = ...", text->file_name,
                      name, only, name);
}

void qn_outputs_study(quern_kernel *kernel)
{
    const char *text = assigning_text(kernel)->text;
    bool functions =
        !qn_text_is_blank(kernel->texts[QN_PREAMBLE].text) || qn_kernel_includes(kernel);
    for (uint32_t p = kernel->signature.input_count; p < kernel->signature.count; p++) {
        const char *name = kernel->parameter_names[p];
        if (kernel->signature.parameters[p].raw || kernel->uses_array[p] ||
            qn_text_may_assign(text, name, functions) || macro_may_name(kernel, text, name)) {
            kernel->assigns_some = true;
        } else if (!kernel->unassigned) {
            kernel->unassigned = name;
        }
    }
    kernel->blind = true;
    for (uint32_t p = 0; p < kernel->signature.input_count; p++) {
        const char *name = kernel->parameter_names[p];
        kernel->blind &= !qn_text_uses(text, name) && !macro_may_name(kernel, text, name);
    }
}
