/* SPDX-License-Identifier: MIT
 *
 * place: where in a user's own text a kernel failed. In: the place that the device recorded, and
 * the texts that it may be in. Out: the failure with a span, so that a caret can be drawn. Nothing
 * happens when the text is not at hand.
 */
#include "engine/engine.h"
#include <string.h>

/** Bytes of line `line` (from 1) of a text. False when it has no such line. */
static bool line_of(const char *text, uint32_t line, size_t *begin, size_t *end)
{
    const char *at = text;
    for (uint32_t n = 1; n < line; n++) {
        at = strchr(at, '\n');
        if (at == NULL) {
            return false;
        }
        at++;
    }
    *begin = (size_t)(at - text);
    *end = *begin + strcspn(at, "\n");
    return true;
}

void qn_explain_place(const qn_user_text *texts, size_t count)
{
    const char *file;
    uint32_t line, column;
    if (!qn_error_get_place(&file, &line, &column)) {
        return;
    }
    for (size_t t = 0; t < count; t++) {
        size_t begin, end;
        if (texts[t].file_name == NULL ||
            strcmp(qn_base_name(file), qn_base_name(texts[t].file_name)) != 0 ||
            !line_of(texts[t].text, line, &begin, &end)) {
            continue;
        }
        if (column != 0 && begin + column - 1 < end) {
            begin += column - 1;
        }
        qn_error_span(texts[t].file_name, qn_str_of(texts[t].text), begin, end);
        return;
    }
}
