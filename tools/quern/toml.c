/* SPDX-License-Identifier: MIT
 *
 * TOML 1.0 as far as lists of kernels need it: comments, [tables], [[arrays of tables]], and keys
 * with strings of all four kinds, decimal integers, true and false, and lists of those. Keys are
 * bare or, in the names of tables, bare with dots between them. Not here: dotted and quoted keys,
 * inline tables, floats, dates, and integers with another base; each is refused by name. In: a
 * text. Out: its tables, or what is wrong and where.
 */
#include "toml.h"

#include <ctype.h>
#include <string.h>

void toml_place(size_t *line, size_t *column, const char *text, size_t place)
{
    size_t begin = 0;
    *line = 1;
    for (size_t k = 0; k < place; k++) {
        if (text[k] == '\n') {
            ++*line;
            begin = k + 1;
        }
    }
    *column = place - begin + 1;
}

static bool is_bare(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '-';
}

static bool at_end(const toml_reader *r)
{
    return r->at >= r->length;
}

/* A name of bare keys; with `dots`, dots between them. */
static const char *read_name(toml_reader *r, bool dots)
{
    const size_t begin = r->at;
    while (!at_end(r) && (is_bare(r->text[r->at]) || (dots && r->text[r->at] == '.'))) {
        r->at++;
    }
    if (r->at == begin) {
        toml_wrong(r, "a name is expected here: letters, digits, _ and -");
        return NULL;
    }
    return cli_strndup(r->text + begin, r->at - begin);
}

/* Nothing but a comment may follow on a line. */
static bool end_line(toml_reader *r)
{
    if (!toml_skip(r, false)) {
        return false;
    }
    if (at_end(r) || r->text[r->at] == '\n' || r->text[r->at] == '#') {
        return true;
    }
    if (r->text[r->at] == '\r' && r->at + 1 < r->length && r->text[r->at + 1] == '\n') {
        return true;
    }
    return toml_wrong(r, "the line should end here");
}

static bool expect(toml_reader *r, char c)
{
    if (at_end(r) || r->text[r->at] != c) {
        return toml_wrong(r, "\"%c\" is expected here", c);
    }
    r->at++;
    return true;
}

static bool read_header(toml_reader *r, toml_file *out)
{
    toml_table table = {.place = r->at};
    r->at++;
    const bool list = !at_end(r) && r->text[r->at] == '[';
    r->at += list;
    if (!toml_skip(r, false)) {
        return false;
    }
    table.name = read_name(r, true);
    if (!table.name || !toml_skip(r, false) || !expect(r, ']') || (list && !expect(r, ']')) ||
        !end_line(r)) {
        return false;
    }
    for (size_t k = 0; !list && k < out->count; k++) {
        if (strcmp(out->tables[k].name, table.name) == 0) {
            r->at = table.place;
            return toml_wrong(r, "[%s] is there twice; write [[%s]] for one of several", table.name,
                              table.name);
        }
    }
    out->tables = toml_room(out->tables, out->count, sizeof *out->tables);
    out->tables[out->count++] = table;
    return true;
}

static bool read_entry(toml_reader *r, toml_table *table)
{
    toml_entry entry = {.place = r->at};
    entry.key = read_name(r, false);
    if (!entry.key || !toml_skip(r, false)) {
        return false;
    }
    if (!at_end(r) && r->text[r->at] == '.') {
        return toml_wrong(r, "keys with dots are not read here; write a [table]");
    }
    if (!expect(r, '=') || !toml_skip(r, false) || !toml_read_value(r, &entry.value) ||
        !end_line(r)) {
        return false;
    }
    if (toml_find(table, entry.key)) {
        r->at = entry.place;
        return toml_wrong(r, "\"%s\" is given twice", entry.key);
    }
    table->entries = toml_room(table->entries, table->count, sizeof *table->entries);
    table->entries[table->count++] = entry;
    return true;
}

const toml_value *toml_find(const toml_table *table, const char *key)
{
    for (size_t k = 0; k < table->count; k++) {
        if (strcmp(table->entries[k].key, key) == 0) {
            return &table->entries[k].value;
        }
    }
    return NULL;
}

bool toml_parse(toml_file *out, const char *text, size_t length, cli_problem *problem)
{
    toml_reader r = {.text = text, .length = length, .problem = problem};
    *out = (toml_file){.text = text, .length = length};
    out->tables = toml_room(NULL, 0, sizeof *out->tables);
    out->tables[out->count++] = (toml_table){.name = ""};
    if (length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) {
        r.at = 3; /* the mark that some editors put before UTF-8 */
    }
    for (;;) {
        if (!toml_skip(&r, true)) {
            return false;
        }
        if (at_end(&r)) {
            return true;
        }
        bool good = r.text[r.at] == '[' ? read_header(&r, out)
                                        : read_entry(&r, &out->tables[out->count - 1]);
        if (!good) {
            return false;
        }
    }
}
