/* SPDX-License-Identifier: MIT
 *
 * What the compiler warns of in source that it accepts. In: the log that a compilation left, and
 * the user's texts. Out: text for a person, each warning with its place, each once.
 */
#include "compile/nvrtc.h"

#include <string.h>

static void print_warning(qn_text *out, const qn_log_entry *entry, const qn_user_text *text)
{
    qn_str line = qn_text_line(text->text, entry->line);
    const char *place = qn_place_in_line(entry, line);
    qn_str span = place ? qn_token_at(qn_from(line, place)) : qn_trim(line);
    qn_text said = {0}, message = {0};
    qn_log_sentence(&said, entry);
    qn_text_printf(&message, "%s:%u", text->file_name, entry->line);
    if (place) {
        qn_text_printf(&message, ":%zu", (size_t)(place - line.data) + 1);
    }
    qn_text_printf(&message, ": %s", said.data ? said.data : "");
    const uint32_t begin = (uint32_t)(span.data - text->text);
    if (message.data) {
        qn_warning_print(out, &(quern_error){.message = message.data,
                                             .text = text->text,
                                             .text_name = text->file_name,
                                             .begin = begin,
                                             .end = begin + (uint32_t)span.length});
    }
    qn_text_free(&said);
    qn_text_free(&message);
}

void qn_warnings_print(qn_text *out, qn_str log, const qn_user_text *texts, size_t text_count)
{
    qn_log_entry entry;
    while (qn_next_entry(&log, &entry)) {
        const qn_user_text *text = qn_text_kept((qn_user_texts){texts, text_count}, entry.file);
        if (entry.severity != QN_SAID_WARNING || !text || entry.line > qn_text_lines(text->text)) {
            continue;
        }
        qn_text one = {0};
        print_warning(&one, &entry, text);
        if (one.data && (!out->data || !strstr(out->data, one.data))) {
            qn_text_puts(out, one.data);
        }
        qn_text_free(&one);
    }
}
