/* SPDX-License-Identifier: MIT
 *
 * VALUE of NAME=VALUE, taken apart; no file is opened.
 *
 *     value := (file | generator) view (":" output)? | number | dtype ":" number
 *
 * place_in_file.c says what a file may be.
 */
#include "files.h"

#include <ctype.h>
#include <string.h>

/* The word before the colon is neither a dtype nor a generator. */
static bool refuse_word(const char *text, const char *word, cli_problem *problem)
{
    size_t dtype_count, kind_count, length = strlen(word);
    const char *const *dtypes = cli_dtype_names(&dtype_count);
    const char *const *kinds = cli_generator_names(&kind_count);
    const char *behind = text + length + 1;
    bool generator = strchr(behind, ':') || quern_dtype_from_name(behind) != QUERN_DTYPE_NONE;
    if (cli_nearest(word, dtypes, dtype_count) || !generator) {
        return cli_problem_set(problem, 0, length, "there is no dtype \"%s\"%s", word,
                               cli_did_you_mean(word, dtypes, dtype_count));
    }
    return cli_problem_set(problem, 0, length, "there is no generator \"%s\"%s", word,
                           cli_did_you_mean(word, kinds, kind_count));
}

/* DTYPE ":" number */
static bool typed_number(cli_value *out, const char *text, size_t colon, cli_problem *problem)
{
    const char *name = cli_strndup(text, colon);
    quern_dtype dtype = quern_dtype_from_name(name);
    if (dtype == QUERN_DTYPE_NONE) {
        return refuse_word(text, name, problem);
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
    size_t at = 0;
    if (cli_is_generator(text)) {
        out->kind = CLI_VALUE_GENERATOR;
        return cli_generator_parse(&out->generator, text, &at, problem) &&
               cli_place_parse_rest(out, text, at, problem);
    }
    cli_place place = cli_place_parse(out, text, problem);
    if (place != CLI_NO_PLACE) {
        return place == CLI_PLACE;
    }
    if (text[at = strcspn(text, ":")] && is_name(text, at)) {
        return typed_number(out, text, at, problem);
    }
    if (cli_place_parse_any(out, text, problem) == CLI_PLACE) {
        return true;
    }
    if (cli_looks_like_number(text)) {
        return cli_number_parse(&out->direct, text, QUERN_DTYPE_NONE, problem);
    }
    return cli_problem_set(problem, 0, strlen(text),
                           "\"%s\" is neither a .npy file nor a number nor a generator such as "
                           "random:float32:1000x200%s",
                           text,
                           isalpha((unsigned char)text[0])
                               ? "; a file without that ending is named with its folder, as in ./x"
                               : "");
}
