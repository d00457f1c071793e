/* SPDX-License-Identifier: MIT
 *
 * TOML, as lists of kernels are written in: the part of it that they need (toml.c says which).
 */
#ifndef QUERN_CLI_TOML_H
#define QUERN_CLI_TOML_H

#include "cli.h"

typedef enum toml_kind { TOML_TEXT, TOML_NUMBER, TOML_TRUTH, TOML_LIST } toml_kind;

typedef struct toml_value {
    toml_kind kind;
    size_t place;     /* in the text, where it begins */
    const char *text; /* ended by a zero byte; has no other */
    int64_t number;   /* also a truth value: 0 or 1 */
    struct toml_value *items;
    size_t count;
} toml_value;

typedef struct toml_entry {
    const char *key;
    size_t place;
    toml_value value;
} toml_entry;

/* A [[name]] or [name] and its keys. The first has no name: it is what comes before all others. */
typedef struct toml_table {
    const char *name;
    size_t place;
    toml_entry *entries;
    size_t count;
} toml_table;

typedef struct toml_file {
    const char *text;
    size_t length;
    toml_table *tables;
    size_t count;
} toml_file;

/* The last piece of the text that was looked at, and where; for toml_value.c. */
typedef struct toml_reader {
    const char *text;
    size_t length, at;
    cli_problem *problem;
    int depth; /* of lists in lists */
} toml_reader;

/* ---- toml.c --------------------------------------------------------------------------------- */

/* Read a text; what it gives lives until the command ends. */
bool toml_parse(toml_file *out, const char *text, size_t length, cli_problem *problem);
/* The value of a key; NULL if the table does not have it. */
const toml_value *toml_find(const toml_table *table, const char *key);
/* Line and column, from 1, of a place. */
void toml_place(size_t *line, size_t *column, const char *text, size_t place);

/* ---- toml_value.c --------------------------------------------------------------------------- */

/* Describe what is wrong at the reader's place; returns false. */
bool toml_wrong(toml_reader *r, const char *format, ...) CLI_PRINTF(2, 3);
/* Skip blanks and tabs; with `lines`, also ends of lines and comments. False: a comment has what
 * none may have. */
bool toml_skip(toml_reader *r, bool lines);
bool toml_read_value(toml_reader *r, toml_value *out);
/* Room for one more element of `size` bytes in `items`, which has `count`. */
void *toml_room(void *items, size_t count, size_t size);

#endif /* QUERN_CLI_TOML_H */
