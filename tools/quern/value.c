/* SPDX-License-Identifier: MIT
 *
 * VALUE of NAME=VALUE, taken apart; no file is opened.
 *
 *     value := (file | generator) view (":" (path | "-"))? | number | dtype ":" number
 *     file  := a path up to the first ".npy" that ends it or that a view or a colon follows
 */
#include "cli.h"

#include <ctype.h>
#include <string.h>

/* Where the path of a file ends in `text`, or 0 when it names none. */
static size_t path_end(const char *text)
{
    for (const char *p = text; (p = strstr(p, ".npy")); p++) {
        const char *after = p + 4;
        if (p > text && (*after == 0 || *after == ':' || cli_view_begins(after))) {
            return (size_t)(after - text);
        }
    }
    const char *p = strstr(text, ".npy."); /* a method that is misspelt */
    return p > text && isalpha((unsigned char)p[5]) ? (size_t)(p + 4 - text) : 0;
}

/* (":" (path | "-"))? at position `at`. */
static bool parse_save(cli_value *out, const char *text, size_t at, cli_problem *problem)
{
    if (!text[at]) {
        return true;
    }
    if (text[at] != ':') {
        return cli_problem_set(problem, at, strlen(text),
                               "a view such as [::2, 1:] or .T, or :OUT.npy, should stand here");
    }
    size_t length = strlen(text + at + 1);
    const char *path = text + at + 1;
    if (strcmp(path, "-") == 0) {
        out->print = true;
        return true;
    }
    if (length <= 4 || strcmp(path + length - 4, ".npy") != 0) {
        return cli_problem_set(
            problem, at, at + 1 + length,
            "the name of a .npy file, or - to print, should stand after the colon");
    }
    out->save = cli_strdup(path);
    return true;
}

/* DTYPE ":" number */
static bool typed_number(cli_value *out, const char *text, size_t colon, cli_problem *problem)
{
    const char *name = cli_strndup(text, colon);
    quern_dtype dtype = quern_dtype_from_name(name);
    if (dtype == QUERN_DTYPE_NONE) {
        size_t count;
        const char *const *names = cli_dtype_names(&count);
        return cli_problem_set(problem, 0, colon, "there is no dtype \"%s\"%s", name,
                               cli_did_you_mean(name, names, count));
    }
    if (!cli_number_parse(&out->direct, text + colon + 1, dtype, problem)) {
        problem->begin += colon + 1;
        problem->end += colon + 1;
        return false;
    }
    return true;
}

static bool is_name(const char *text, size_t length)
{
    bool name = length > 0;
    for (size_t k = 0; k < length; k++) {
        name &= isalnum((unsigned char)text[k]) || text[k] == '_' || text[k] == ' ';
    }
    return name;
}

bool cli_value_parse(cli_value *out, const char *text, cli_problem *problem)
{
    *out = (cli_value){.kind = CLI_VALUE_DIRECT};
    size_t at = 0, length;
    if (cli_is_generator(text)) {
        out->kind = CLI_VALUE_GENERATOR;
        if (!cli_generator_parse(&out->generator, text, &at, problem)) {
            return false;
        }
    } else if ((at = path_end(text))) {
        out->kind = CLI_VALUE_FILE;
        out->path = cli_strndup(text, at);
    } else if (cli_looks_like_number(text)) {
        return cli_number_parse(&out->direct, text, QUERN_DTYPE_NONE, problem);
    } else if (text[at = strcspn(text, ":")] && is_name(text, at)) {
        return typed_number(out, text, at, problem);
    } else {
        return cli_problem_set(problem, 0, strlen(text),
                               "\"%s\" is neither a .npy file nor a number nor a generator such as "
                               "random:float32:1000x200",
                               text);
    }
    return cli_view_parse(&out->view, text + at, at, &length, problem) &&
           parse_save(out, text, at + length, problem);
}
