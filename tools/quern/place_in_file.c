/* SPDX-License-Identifier: MIT
 *
 * Which part of a value names a file. In: the text of the value. Out: path, member of an archive,
 * view, and where it is saved; no file is opened.
 *
 *     value  := place view (":" output)?
 *     place  := "-" | "-.npy" | path ("[" member "]" after .npz)? | "file:" path
 *     output := "-" (to print) | place
 *     path   := what ends in .npy or .npz, or has a "/"
 *
 * Names may contain dots, brackets and colons: a path ends at the first place after which the rest
 * is a whole view and output. Any other name goes after "file:", to the end of the text.
 */
#include "files.h"

#include <ctype.h>
#include <string.h>

static const char literal[] = "file:";

static bool ends_with(const char *text, size_t length, const char *ending)
{
    size_t tail = strlen(ending);
    return length > tail && memcmp(text + length - tail, ending, tail) == 0;
}

bool cli_is_archive(const char *path)
{
    return ends_with(path, strlen(path), ".npz");
}

/* A path that takes the rest of the text, even the name "-", which is a standard stream
 * elsewhere. */
static char *literal_path(const char *text)
{
    const char *path = text + strlen(literal);
    return cli_sprintf("%s%s", path[0] == '-' ? "./" : "", path);
}

/* Whether what follows `at` allows a path to end there. */
static bool may_end(const char *text, size_t at, bool any_name)
{
    char next = text[at];
    bool follows = !next || next == '[' || next == ':' || next == '.';
    if (at == 1 && text[0] == '-') {
        bool method = next == '.' && isalpha((unsigned char)text[2]); /* else -.5 */
        return next == 0 || next == '[' || next == ':' || (method && text[2] != 'n');
    }
    bool named = ends_with(text, at, ".npy") || ends_with(text, at, ".npz");
    return at > 0 && follows && (named || (any_name && next));
}

/* "[" name "]" with or without quotes, at *at; NULL when it is not closed or empty. */
static char *parse_member(const char *text, size_t *at)
{
    const char *from = text + *at + 1;
    char quote = *from == '\'' || *from == '"' ? *from : 0;
    from += quote != 0;
    const char *to = quote ? strchr(from, quote) : strchr(from, ']');
    if (!to || to == from || to[quote != 0] != ']') {
        return NULL;
    }
    *at = (size_t)(to + (quote != 0) + 1 - text);
    return cli_strndup(from, (size_t)(to - from));
}

/* The path text[begin, *at) and, for an archive, the member after it; *at is moved past both. */
static bool parse_path(char **path, char **member, const char *text, size_t begin, size_t *at,
                       cli_problem *problem)
{
    *path = cli_strndup(text + begin, *at - begin);
    if (cli_is_archive(*path) && text[*at] == '[') {
        size_t open = *at;
        *member = parse_member(text, at);
        return *member || cli_problem_set(problem, open, strlen(text),
                                          "the name of an array of the archive is expected between "
                                          "the brackets, such as [x]");
    }
    return true;
}

/* Where the output goes: text[at...] to its end. */
static bool parse_output(cli_value *out, const char *text, size_t at, cli_problem *problem)
{
    const char *path = text + at;
    size_t length = strlen(path);
    if (strcmp(path, "-") == 0) {
        out->print = true;
        return true;
    }
    if (cli_begins_with(path, literal) && length > strlen(literal)) {
        out->save = literal_path(path);
        return true;
    }
    const char *archive = length > 0 && path[length - 1] == ']' ? strstr(path, ".npz[") : NULL;
    if (archive && archive > path) {
        size_t end = (size_t)(archive + 4 - text);
        return parse_path(&out->save, &out->save_member, text, at, &end, problem) &&
               (!text[end] ||
                cli_problem_set(problem, end, at + length, "nothing can follow the array's name"));
    }
    if (!ends_with(path, length, ".npy") && !ends_with(path, length, ".npz") &&
        !strchr(path, '/')) {
        return cli_problem_set(problem, at - 1, at + length,
                               "the name of a .npy or .npz file, a path with a \"/\", or - to "
                               "print, is expected after the colon");
    }
    out->save = cli_strdup(path);
    return true;
}

bool cli_place_parse_rest(cli_value *out, const char *text, size_t at, cli_problem *problem)
{
    size_t length;
    if (!cli_view_parse(&out->view, text + at, at, &length, problem)) {
        return false;
    }
    at += length;
    if (!text[at]) {
        return true;
    }
    if (text[at] != ':') {
        return cli_problem_set(problem, at, strlen(text),
                               "a view such as [::2, 1:] or .T, or :OUT.npy, is expected here");
    }
    return parse_output(out, text, at + 1, problem);
}

/* Read the text as if its path ended at `at`. */
static bool parse_at(cli_value *out, const char *text, size_t at, cli_problem *problem)
{
    *out = (cli_value){.kind = CLI_VALUE_FILE};
    return parse_path(&out->path, &out->member, text, 0, &at, problem) &&
           cli_place_parse_rest(out, text, at, problem);
}

/* Try each possible end of the path; the problem reported is that of the first. */
static cli_place try_ends(cli_value *out, const char *text, bool any_name, cli_problem *problem)
{
    cli_place found = CLI_NO_PLACE;
    size_t length = strlen(text);
    for (size_t at = 1; at <= length; at++) {
        cli_problem other;
        if (!may_end(text, at, any_name)) {
            continue;
        }
        if (parse_at(out, text, at, found == CLI_NO_PLACE ? problem : &other)) {
            return CLI_PLACE;
        }
        found = CLI_BAD_PLACE;
    }
    return found;
}

cli_place cli_place_parse(cli_value *out, const char *text, cli_problem *problem)
{
    if (cli_begins_with(text, literal) && text[strlen(literal)]) {
        *out = (cli_value){.kind = CLI_VALUE_FILE, .path = literal_path(text)};
        return CLI_PLACE;
    }
    return try_ends(out, text, false, problem);
}

cli_place cli_place_parse_any(cli_value *out, const char *text, cli_problem *problem)
{
    if (!strchr(text, '/')) {
        return CLI_NO_PLACE;
    }
    if (try_ends(out, text, true, problem) != CLI_PLACE) {
        *out = (cli_value){.kind = CLI_VALUE_FILE, .path = cli_strdup(text)};
    }
    return CLI_PLACE;
}
