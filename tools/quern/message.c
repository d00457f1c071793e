/* SPDX-License-Identifier: MIT
 *
 * What the command says when something is wrong: one sentence, the place in the user's text with a
 * caret under it, and the word that may have been meant.
 */
#include "cli.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define LONGEST_WORD 64  /* longer ones are not compared */
#define SHOWN        100 /* bytes of the user's text around a caret */

int cli_fail(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fputs("quern: error: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    return CLI_FAILURE;
}

int cli_usage(const char *command, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fputs("quern: error: ", stderr);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fprintf(stderr, "\nsee 'quern help%s%s'\n", command ? " " : "", command ? command : "");
    return CLI_FAILURE;
}

int cli_fail_library(const char *about)
{
    const char *text = cli_text_name_files(quern_last_error_text());
    static const char lead[] = "error: ";
    if (about && cli_begins_with(text, lead)) {
        fprintf(stderr, "quern: error: %s: %s", about, text + sizeof lead - 1);
    } else {
        fprintf(stderr, "quern: %s", text[0] ? text : "error: failed without a message\n");
    }
    return CLI_FAILURE;
}

void cli_warn(const char *warnings)
{
    static const char lead[] = "warning: ";
    for (const char *line = warnings ? cli_text_name_files(warnings) : ""; *line;) {
        size_t length = strcspn(line, "\n");
        fprintf(stderr, "%s%.*s\n", cli_begins_with(line, lead) ? "quern: " : "", (int)length,
                line);
        line += length + (line[length] != 0);
    }
}

int cli_flush(void)
{
    if (fflush(stdout) != 0 || ferror(stdout)) {
        return cli_fail("cannot write to standard output: %s", strerror(errno));
    }
    return CLI_OK;
}

bool cli_problem_set(cli_problem *problem, size_t begin, size_t end, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(problem->text, sizeof problem->text, format, arguments);
    va_end(arguments);
    problem->begin = begin;
    problem->end = end;
    return false;
}

/* One byte of the user's text, safe for a terminal. */
static char shown(char c)
{
    return (unsigned char)c < 0x20 || c == 0x7f ? '?' : c;
}

/* Columns are counted in characters: the bytes that continue one in UTF-8 take none. */
static bool takes_column(char c)
{
    return ((unsigned char)c & 0xc0) != 0x80;
}

static void print_place(const char *before, const char *text, size_t begin, size_t end)
{
    size_t length = strlen(text);
    size_t from = begin > SHOWN / 2 ? begin - SHOWN / 2 : 0;
    size_t until = length - from > SHOWN ? from + SHOWN : length;
    for (; from < begin && !takes_column(text[from]); from++) { /* characters are shown whole */
    }
    for (; until > begin + 1 && !takes_column(text[until]); until--) {
    }
    int lead = fprintf(stderr, "    %s%s", before, from > 0 ? "..." : "");
    for (size_t k = from; k < until; k++) {
        fputc(shown(text[k]), stderr);
    }
    fprintf(stderr, "%s\n%*s", until < length ? "..." : "", lead, "");
    for (size_t k = from; k < begin; k++) {
        if (takes_column(text[k])) {
            fputc(' ', stderr);
        }
    }
    fputc('^', stderr);
    for (size_t k = begin + 1; k < end && k < until; k++) {
        if (takes_column(text[k])) {
            fputc('~', stderr);
        }
    }
    fputc('\n', stderr);
}

int cli_fail_problem(const char *name, const char *lead, const char *text,
                     const cli_problem *problem)
{
    fprintf(stderr, "quern: error: %s: %s\n", name, problem->text);
    if (problem->begin < problem->end) {
        print_place(lead, text, problem->begin, problem->end);
    }
    return CLI_FAILURE;
}

int cli_usage_problem(const char *command, const char *name, const char *lead, const char *text,
                      const cli_problem *problem)
{
    cli_fail_problem(name, lead, text, problem);
    fprintf(stderr, "see 'quern help %s'\n", command);
    return CLI_FAILURE;
}

/* Edits (insert, delete, replace, swap neighbours) from `a` to `b`. */
static size_t distance(const char *a, const char *b)
{
    size_t la = strlen(a), lb = strlen(b);
    unsigned rows[3][LONGEST_WORD + 1];
    unsigned *before = rows[0], *last = rows[1], *row = rows[2];
    for (size_t j = 0; j <= lb; j++) {
        last[j] = (unsigned)j;
    }
    for (size_t i = 1; i <= la; i++) {
        row[0] = (unsigned)i;
        for (size_t j = 1; j <= lb; j++) {
            unsigned best = last[j - 1] + (a[i - 1] != b[j - 1]);
            best = last[j] + 1 < best ? last[j] + 1 : best;
            best = row[j - 1] + 1 < best ? row[j - 1] + 1 : best;
            bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if (swapped && before[j - 2] + 1 < best) {
                best = before[j - 2] + 1;
            }
            row[j] = best;
        }
        unsigned *oldest = before;
        before = last;
        last = row;
        row = oldest;
    }
    return last[lb];
}

const char *cli_nearest(const char *word, const char *const *candidates, size_t count)
{
    size_t length = strlen(word);
    if (length == 0 || length > LONGEST_WORD) {
        return NULL;
    }
    const char *best = NULL;
    size_t least = length < 4 ? 1 : length < 8 ? 2 : 3;
    for (size_t k = 0; k < count; k++) {
        if (strlen(candidates[k]) > LONGEST_WORD) {
            continue;
        }
        size_t edits = distance(word, candidates[k]);
        if (edits < length && (best ? edits < least : edits <= least)) {
            best = candidates[k];
            least = edits;
        }
    }
    return best;
}

const char *cli_did_you_mean(const char *word, const char *const *candidates, size_t count)
{
    const char *best = cli_nearest(word, candidates, count);
    return best ? cli_sprintf("; did you mean \"%s\"?", best) : "";
}

const char *const *cli_dtype_names(size_t *count)
{
    static const char *const names[] = {
#define NAME(code, number, text) text,
        QUERN_DTYPE_MAP(NAME)
#undef NAME
    };
    *count = CLI_COUNT(names);
    return names;
}
