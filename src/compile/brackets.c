/* SPDX-License-Identifier: MIT
 *
 * The bracket without a partner. In: a user's text that is suspected. Out: where it goes wrong.
 *
 * A snippet lies inside generated code, so the compiler finds a bracket that was never closed only
 * in that code, lines later, and complains of something that the user never wrote.
 */
#include "compile/nvrtc.h"

#include <string.h>

#define DEPTH_MAX 256 /* deeper brackets are not looked at */

/* Is this the # of a preprocessor line? The brackets in a macro need not match. */
static bool is_directive(const char *text, const char *p)
{
    if (*p != '#') {
        return false;
    }
    while (p > text && (p[-1] == ' ' || p[-1] == '\t')) {
        p--;
    }
    return p == text || p[-1] == '\n';
}

bool qn_bracket_unmatched(const char *text, size_t *at)
{
    size_t open[DEPTH_MAX];
    size_t depth = 0;
    qn_str rest = qn_str_of(text);
    for (qn_cpp_token t = qn_cpp_next(&rest);; t = qn_cpp_next(&rest)) {
        const char *p = t.text.data, *partner = strchr(")(][}{", *p);
        *at = (size_t)(p - text);
        if (!t.closed) {
            *at += t.kind == QN_CPP_LITERAL ? strcspn(p, "\"'") : 0; /* its quote, not its prefix */
            return true;
        }
        if (t.kind == QN_CPP_END) {
            break;
        }
        if (is_directive(text, p)) {
            rest = qn_cpp_skip_line(rest);
        } else if (*p == '(' || *p == '[' || *p == '{') {
            if (depth == DEPTH_MAX) {
                return false;
            }
            open[depth++] = *at;
        } else if (partner) { /* in the string, each closing bracket precedes its opening one */
            if (depth == 0 || text[open[depth - 1]] != partner[1]) {
                *at = depth > 0 ? open[depth - 1] : *at;
                return true;
            }
            depth--;
        }
    }
    if (depth > 0) {
        *at = open[depth - 1];
    }
    return depth > 0;
}
