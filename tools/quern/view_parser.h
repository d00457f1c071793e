/* SPDX-License-Identifier: MIT
 *
 * What view_parse.c and view_method.c share: the parser of views, and how steps are planned.
 */
#ifndef QUERN_CLI_VIEW_PARSER_H
#define QUERN_CLI_VIEW_PARSER_H

#include "cli.h"

/* Where the parser is, and what it reads. */
typedef struct cli_view_parser {
    const char *text;
    size_t at; /* added to positions */
    cli_view *view;
    cli_problem *problem;
} cli_view_parser;

bool cli_view_wrong(const cli_view_parser *p, const char *from, const char *to, const char *format,
                    ...) CLI_PRINTF(4, 5);
/* One more item of this step, or NULL with a problem. */
cli_view_item *cli_view_add(cli_view_parser *p, const char *s);
const char *cli_skip_space(const char *s);
/* integer := ("+" | "-")? digit+ ; numbers beyond 64 bits become the largest ones. */
bool cli_view_integer(const char **rest, const char *s, int64_t *out);
/* True when `s` begins with a dot and a method's name. */
bool cli_method_begins(const char *s);
/* The method that `s`, which is a dot and a letter, begins with, and its arguments. */
bool cli_method_parse(cli_view_parser *p, const char **rest, const char *s);
/* What it does: `items` are the method and its `count` - 1 numbers; `out` has dtype and item. */
bool cli_method_plan(cli_view_plan *out, const cli_view_item *items, unsigned count, int ndim,
                     const int64_t *shape, cli_problem *problem);

#endif /* QUERN_CLI_VIEW_PARSER_H */
