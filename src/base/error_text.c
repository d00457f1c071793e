/* SPDX-License-Identifier: MIT
 *
 * A recorded failure as text for a person.
 *
 *     error: there is no type "float31"; did you mean "float32"?
 *       in, line 1, column 6:
 *         T x, float31 y
 *              ^~~~~~~
 *
 * In: a quern_error. Out: lines. A line of the user's text is shown as *cells*: one for each
 * character, with tabs widened and bytes that a terminal should not see escaped, so that the caret
 * is under the right place whatever the text holds. Characters are taken to be one column wide.
 */
#include "base/base.h"

#include <string.h>

#define MAX_COLUMNS  100 /* of the user's line; a longer one is cut around the span */
#define LEAD_COLUMNS 30  /* shown before the span when the line is cut */
#define TAB_WIDTH    4
#define INDENT       "    "

/* Bytes of the UTF-8 character at `p`; 0 when it is not a printable one. */
static size_t character_length(const char *p, const char *end)
{
    unsigned char c = (unsigned char)*p;
    if (c < 0x80) {
        return c >= 0x20 && c != 0x7f;
    }
    size_t length = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : 2;
    if (c < 0xc2 || c > 0xf4 || (size_t)(end - p) < length) {
        return 0;
    }
    for (size_t k = 1; k < length; k++) {
        if (((unsigned char)p[k] & 0xc0) != 0x80) {
            return 0;
        }
    }
    return c == 0xc2 && (unsigned char)p[1] < 0xa0 ? 0 : length; /* C1 controls */
}

/* One cell of a line: the bytes it stands for and how it is shown. */
typedef struct cell {
    size_t bytes, columns;
    char shown[8];
} cell;

static cell cell_at(const char *p, const char *end, size_t column)
{
    cell c = {character_length(p, end), 1, ""};
    if (c.bytes > 0) {
        memcpy(c.shown, p, c.bytes);
    } else if (*p == '\t') {
        c.bytes = 1;
        c.columns = TAB_WIDTH - column % TAB_WIDTH;
        memset(c.shown, ' ', c.columns);
    } else {
        static const char digits[] = "0123456789abcdef";
        unsigned char byte = (unsigned char)*p;
        c.bytes = 1;
        c.columns = 4;
        memcpy(c.shown, "\\x", 2);
        c.shown[2] = digits[byte >> 4];
        c.shown[3] = digits[byte & 15];
    }
    return c;
}

/* The screen column of byte `position` of a line, and the number of characters before it. */
static size_t screen_column(qn_str line, size_t position, size_t *characters)
{
    size_t column = 0, count = 0;
    const char *end = line.data + line.length;
    for (size_t k = 0; k < position && k < line.length; count++) {
        cell c = cell_at(line.data + k, end, column);
        k += c.bytes;
        column += c.columns;
    }
    *characters = count;
    return column;
}

/* Print the columns [first, last) of a line. */
static void print_window(qn_text *out, qn_str line, size_t first, size_t last)
{
    size_t column = 0;
    const char *end = line.data + line.length;
    for (const char *p = line.data; p < end && column < last;) {
        cell c = cell_at(p, end, column);
        if (column >= first && column + c.columns <= last) {
            qn_text_puts(out, c.shown);
        } else if (column + c.columns > first) {
            /* a wide cell on the edge: blanks keep what follows in its column */
            size_t shown = QN_MIN(column + c.columns, last) - QN_MAX(column, first);
            qn_text_printf(out, "%*s", (int)shown, "");
        }
        p += c.bytes;
        column += c.columns;
    }
}

static void print_repeated(qn_text *out, char c, size_t count)
{
    for (size_t k = 0; k < count; k++) {
        qn_text_add(out, &c, 1);
    }
}

/* Print the line with its caret; `begin` and `end` are positions in it. */
static void print_line(qn_text *out, qn_str line, size_t begin, size_t end)
{
    size_t unused;
    size_t from = screen_column(line, begin, &unused);
    size_t to = QN_MAX(screen_column(line, end, &unused), from + 1);
    size_t width = screen_column(line, line.length, &unused);
    size_t first = 0, last = width;
    if (width > MAX_COLUMNS) {
        first = from > LEAD_COLUMNS ? from - LEAD_COLUMNS : 0;
        first = QN_MIN(first, width - MAX_COLUMNS);
        last = first + MAX_COLUMNS;
        to = QN_MIN(to, QN_MAX(last, from + 1));
    }
    const char *before = first > 0 ? "..." : "";
    qn_text_printf(out, INDENT "%s", before);
    print_window(out, line, first, last);
    qn_text_puts(out, last < width ? "...\n" : "\n");
    print_repeated(out, ' ', strlen(INDENT) + strlen(before) + from - first);
    qn_text_puts(out, "^");
    print_repeated(out, '~', to - from - 1);
    qn_text_puts(out, "\n");
}

static void print_place(qn_text *out, const quern_error *error)
{
    const char *text = error->text;
    size_t number = 1, start = 0;
    for (size_t k = 0; k < error->begin; k++) {
        if (text[k] == '\n') {
            number++;
            start = k + 1;
        }
    }
    qn_str line = {text + start, strcspn(text + start, "\r\n")};
    size_t begin = QN_MIN(error->begin - start, line.length);
    size_t end = QN_MIN(error->end - start, line.length);
    size_t characters;
    screen_column(line, begin, &characters);
    qn_text_printf(out, "  %s, line %zu, column %zu:\n", error->text_name, number, characters + 1);
    print_line(out, line, begin, end);
}

void qn_warning_print(qn_text *out, const quern_error *warning)
{
    qn_text_printf(out, "warning: %s\n", warning->message);
    if (warning->begin < warning->end) {
        print_place(out, warning);
    }
}

void qn_error_print(qn_text *out, const quern_error *error, const char *log)
{
    qn_text_printf(out, "error: %s\n", error->message);
    if (error->begin < error->end) {
        print_place(out, error);
    }
    if (log[0]) {
        qn_text_puts(out, log);
        if (log[strlen(log) - 1] != '\n') {
            qn_text_puts(out, "\n");
        }
    }
}
