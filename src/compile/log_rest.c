/* SPDX-License-Identifier: MIT
 *
 * What a compiler's log says besides the place of its first error. In: its entries. Out: the
 * message of one as a sentence, with the types and the candidates that it lists; what is left to
 * read once the first error has been reported; the warnings about the user's own texts.
 *
 * The thing to know: what is wrong in a user's text has consequences in the generated code around
 * it. They are left out, for the user wrote none of it.
 */
#include "compile/nvrtc.h"

#include <string.h>

#define MOST_CANDIDATES 4 /* in a sentence */
#define MOST_NOTES      8 /* below one error */

/* ---- a sentence ----------------------------------------------------------------------------- */

/* `function "sqrt(float)" (declared implicitly)` -> sqrt(float); empty: not a candidate */
static qn_str candidate(qn_str line)
{
    if (!qn_str_begins(line, "function ") && !qn_str_begins(line, "built-in ")) {
        return (qn_str){"", 0};
    }
    const char *open = memchr(line.data, '"', line.length), *end = line.data + line.length;
    const char *close = open ? memrchr(line.data, '"', line.length) : NULL;
    if (open && close > open) {
        return (qn_str){open + 1, (size_t)(close - open - 1)};
    }
    return (qn_str){line.data, (size_t)(end - line.data)};
}

void qn_log_sentence(qn_text *out, const qn_log_entry *entry)
{
    qn_str message = qn_trim(entry->message), rest = entry->details, line;
    if (message.length > 0 && message.data[message.length - 1] == ':') {
        message.length--;
    }
    qn_text_add(out, message.data, message.length);
    while (qn_next_line(&rest, &line)) {
        line = qn_trim(line);
        if (line.length > 0 && candidate(line).length == 0) {
            qn_text_printf(out, "; %.*s", (int)line.length, line.data);
        }
    }
    size_t count = 0;
    for (rest = entry->details; qn_next_line(&rest, &line);) {
        qn_str name = candidate(qn_trim(line));
        if (name.length > 0 && count++ < MOST_CANDIDATES) {
            qn_text_printf(out, "%s%.*s", count == 1 ? "; candidates: " : ", ", (int)name.length,
                           name.data);
        }
    }
    if (count > MOST_CANDIDATES) {
        qn_text_printf(out, " and %zu more", count - MOST_CANDIDATES);
    }
}

/* ---- what is left to read ------------------------------------------------------------------- */

static void add_lines(qn_text *out, qn_str lines)
{
    if (lines.length > 0) {
        qn_text_add(out, lines.data, lines.length);
        qn_text_puts(out, "\n");
    }
}

/* Did the user write what this entry is about? Quern's headers and the code around a snippet are
 * Quern's; all else is the user's, or CUDA's. */
static bool is_theirs(const qn_log_entry *entry, qn_user_texts texts, const qn_compile_request *r)
{
    const qn_user_text *text = qn_text_named(texts, entry->file);
    if (text) {
        return entry->line <= qn_text_lines(text->text);
    }
    return !qn_is_ours(entry->file, r);
}

/* Counts and advice of the compiler: "2 errors detected ...", "Remark: ..." */
static bool is_chatter(const qn_log_entry *entry)
{
    return entry->severity == QN_SAID_OTHER &&
           (qn_str_begins(entry->whole, "Remark: ") ||
            qn_find_in(entry->whole, " detected in the ") ||
            qn_str_begins(entry->whole, "Compilation terminated"));
}

static void tell_cut(qn_text *out, size_t notes)
{
    if (notes > 0) {
        qn_text_printf(out, "(%zu more note%s)\n", notes, notes == 1 ? "" : "s");
    }
}

void qn_log_rest(qn_text *out, qn_str log, bool told, qn_user_texts texts,
                 const qn_compile_request *request)
{
    qn_log_entry entry;
    bool first = true, kept = true;
    size_t notes = 0, cut = 0;
    while (qn_next_entry(&log, &entry)) {
        if (qn_str_begins(entry.message, "to match this ") && entry.severity == QN_SAID_NOTE &&
            told) {
            continue; /* the bracket itself has been reported */
        }
        if (entry.severity == QN_SAID_NOTE && kept) {
            cut += ++notes > MOST_NOTES;
            add_lines(out, notes > MOST_NOTES ? (qn_str){"", 0} : entry.whole);
            continue;
        }
        tell_cut(out, cut);
        notes = cut = 0;
        bool error = entry.severity == QN_SAID_ERROR;
        if (error && first) {
            add_lines(out, told ? entry.context : entry.whole);
            first = false;
            kept = true;
            continue;
        }
        kept = !is_chatter(&entry) && entry.severity != QN_SAID_NOTE &&
               (!told || is_theirs(&entry, texts, request));
        add_lines(out, kept ? entry.whole : (qn_str){"", 0});
    }
    tell_cut(out, cut);
}

void qn_log_warnings(qn_text *out, qn_str log, qn_user_texts texts)
{
    qn_log_entry entry;
    while (qn_find_in(log, "warning") && qn_next_entry(&log, &entry)) {
        const qn_user_text *text = qn_text_named(texts, entry.file);
        if (entry.severity == QN_SAID_WARNING && text && entry.line <= qn_text_lines(text->text)) {
            add_lines(out, entry.whole);
        }
    }
}
