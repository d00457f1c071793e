/* SPDX-License-Identifier: MIT
 *
 * The bracket without a partner. In: a user's text that is suspected. Out: where it goes wrong.
 *
 * A snippet stands inside generated code, so the compiler finds a bracket that was never closed
 * only in that code, lines later, and complains of something that the user never wrote.
 */
#include "compile/nvrtc.h"

#include <string.h>

#define DEPTH_MAX 256 /* deeper brackets are not looked at */

/* Past the comment or literal that begins at `p`; NULL when it has no end. */
static const char *skip_closed(const char *p)
{
    if (p[0] == '/' && p[1] == '*') {
        const char *end = strstr(p + 2, "*/");
        return end ? end + 2 : NULL;
    }
    if (p[0] == '/' && p[1] == '/') {
        return p + strcspn(p, "\n");
    }
    char quote = *p++;
    while (*p && *p != '\n' && *p != quote) {
        p += p[0] == '\\' && p[1] ? 2 : 1;
    }
    return *p == quote ? p + 1 : NULL;
}

/* A ' between digits separates them, as in 1'000'000. */
static bool is_digit_separator(const char *text, const char *p)
{
    return p > text && p[-1] >= '0' && p[-1] <= '9' && p[1] >= '0' && p[1] <= '9';
}

bool qn_bracket_unmatched(const char *text, size_t *at)
{
    size_t open[DEPTH_MAX];
    size_t depth = 0;
    for (const char *p = text; *p;) {
        const char *partner = strchr(")(][}{", *p);
        *at = (size_t)(p - text);
        if ((p[0] == '/' && (p[1] == '*' || p[1] == '/')) || *p == '"' ||
            (*p == '\'' && !is_digit_separator(text, p))) {
            p = skip_closed(p);
            if (!p) {
                return true;
            }
            continue;
        }
        if (*p == '(' || *p == '[' || *p == '{') {
            if (depth == DEPTH_MAX) {
                return false;
            }
            open[depth++] = *at;
        } else if (partner) {
            if (depth == 0 || text[open[depth - 1]] != partner[1]) {
                *at = depth > 0 ? open[depth - 1] : *at;
                return true;
            }
            depth--;
        }
        p++;
    }
    if (depth > 0) {
        *at = open[depth - 1];
    }
    return depth > 0;
}
