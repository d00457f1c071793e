/* SPDX-License-Identifier: MIT
 *
 * Options: a command's arguments are parsed by its table of options. `--name=value` and `--name
 * value` are the same, and options may be anywhere. After `--` every word is plain; so is a snippet
 * that begins with one dash, such as -x.
 */
#include "cli.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static void list_add(cli_list *list, const char *item)
{
    if ((list->count & (list->count - 1)) == 0) { /* full at every power of two */
        const char **items = cli_alloc((list->count ? list->count * 2 : 1) * sizeof *items);
        if (list->count > 0) {
            memcpy(items, list->items, list->count * sizeof *items);
        }
        list->items = items;
    }
    list->items[list->count++] = item;
}

/* The word of a shell's command line that `p` begins with, its quotes removed. */
static const char *shell_word(const char **rest, const char *p, const char *text,
                              cli_problem *problem)
{
    char *word = cli_alloc(strlen(p) + 1), *to = word;
    char quote = 0;
    const char *opened = p;
    for (; *p && (quote || !strchr(" \t\n", *p)); p++) {
        bool escapes = *p == '\\' && quote != '\'' && p[1];
        if (escapes && (!quote || strchr("\"\\$`", p[1]))) {
            *to++ = *++p;
        } else if (*p == quote) {
            quote = 0;
        } else if (!quote && (*p == '\'' || *p == '"')) {
            quote = *p;
            opened = p;
        } else {
            *to++ = *p;
        }
    }
    *rest = p;
    if (quote) {
        size_t at = (size_t)(opened - text);
        cli_problem_set(problem, at, at + 1, "the quote is not closed");
        return NULL;
    }
    return word;
}

bool cli_split_words(cli_list *words, const char *text, cli_problem *problem)
{
    const char *p = text;
    while (*(p += strspn(p, " \t\n"))) {
        const char *word = shell_word(&p, p, text, problem);
        if (!word) {
            return false;
        }
        list_add(words, word);
    }
    return true;
}

static int parse_number(const cli_command *command, const cli_option *option, int64_t *out,
                        const char *text)
{
    char *end;
    errno = 0;
    long long number = strtoll(text, &end, 10);
    if (end == text || *end) {
        return cli_usage(command->name, "--%s: \"%s\" is not a whole number", option->name, text);
    }
    const long long most = option->most ? option->most : INT64_MAX;
    if (errno == ERANGE ? number > 0 : number > most) {
        return cli_usage(command->name, "--%s: %s is out of range; the largest is %lld",
                         option->name, text, most);
    }
    if (errno == ERANGE || number < option->least) {
        return cli_usage(command->name, "--%s: %s is out of range; the smallest is %lld",
                         option->name, text, (long long)option->least);
    }
    *out = number;
    return CLI_OK;
}

static int set_number(const cli_command *command, const cli_option *option, cli_number *into,
                      const char *value)
{
    into->given = true;
    return parse_number(command, option, &into->value, value);
}

static int set_numbers(const cli_command *command, const cli_option *option, cli_numbers *into,
                       const char *value)
{
    size_t last = strlen(value) - (*value != 0);
    bool tuple = value[0] == '(' && value[last] == ')'; /* as NumPy writes them */
    const char *list = tuple ? cli_strndup(value + 1, last - 1) : value;
    into->given = true;
    if (tuple && !*list && option->least < 0) { /* "no axes" is an answer, "no block" is not */
        return CLI_OK;
    }
    for (const char *p = list;; p++) {
        if (into->count == option->room) {
            return cli_usage(command->name, "--%s: %s has more than %zu number%s", option->name,
                             value, option->room, option->room == 1 ? "" : "s");
        }
        size_t length = strcspn(p, ",");
        const char *number = cli_strndup(p, length);
        CLI_TRY(parse_number(command, option, &into->values[into->count++], number));
        p += length;
        if (!*p || (tuple && !p[1])) { /* (0,) */
            return CLI_OK;
        }
    }
}

static int set_truth(const cli_command *command, const cli_option *option, cli_number *into,
                     const char *value)
{
    bool truth = strcasecmp(value, "true") == 0;
    if (!truth && strcasecmp(value, "false") != 0) {
        return cli_usage(command->name, "--%s: \"%s\" is neither True nor False", option->name,
                         value);
    }
    *into = (cli_number){truth, true};
    return CLI_OK;
}

/* The library's name for a text: loop_prep for loop-prep, operation for OPERATION. */
static const char *library_name(const char *name)
{
    char *lower = cli_strdup(name);
    for (char *p = lower; *p; p++) {
        *p = *p == '-' ? '_' : (char)tolower((unsigned char)*p);
    }
    return lower;
}

/* The texts of a snippet may lie in files. */
static int read_texts(const cli_command *command, cli_list *words)
{
    bool is_snippet = command->word_count >= 3 || command == &cmd_eval; /* IN, OUT and code */
    for (size_t k = 0; k < command->word_count && is_snippet; k++) {
        CLI_TRY(cli_text_read(&words->items[k], command->name, library_name(command->words[k])));
    }
    return CLI_OK;
}

static int set_option(const cli_command *command, const cli_option *option, void *into,
                      const char *value)
{
    void *field = (char *)into + option->offset;
    cli_problem problem;
    switch (option->kind) {
    case CLI_FLAG:
        *(int *)field = 1;
        return CLI_OK;
    case CLI_CODE:
        CLI_TRY(cli_text_read(&value, command->name, library_name(option->name)));
        *(const char **)field = value;
        return CLI_OK;
    case CLI_TEXT:
        *(const char **)field = value;
        return CLI_OK;
    case CLI_LIST:
        list_add(field, value);
        return CLI_OK;
    case CLI_WORDS:
        if (!cli_split_words(field, value, &problem)) {
            const char *name = cli_sprintf("--%s", option->name);
            return cli_usage_problem(command->name, name, cli_sprintf("%s=", name), value,
                                     &problem);
        }
        return CLI_OK;
    case CLI_NUMBER:
        return set_number(command, option, field, value);
    case CLI_COUNT_OF:
        ((cli_number *)field)->given = true;
        return value ? set_number(command, option, field, value) : CLI_OK;
    case CLI_NUMBERS:
        return set_numbers(command, option, field, value);
    case CLI_TRUTH:
        return set_truth(command, option, field, value);
    }
    return CLI_OK;
}

static int unknown_option(const cli_command *command, const char *word, size_t length)
{
    const char *name = cli_strndup(word, length);
    const char **names = cli_alloc((command->option_count + 1) * sizeof *names);
    for (size_t k = 0; k < command->option_count; k++) {
        names[k] = cli_sprintf("--%s", command->options[k].name);
    }
    return cli_usage(command->name, "quern %s has no option %s%s", command->name, name,
                     cli_did_you_mean(name, names, command->option_count));
}

static const cli_option *find_option(const cli_command *command, const char *name, size_t length)
{
    for (size_t k = 0; k < command->option_count; k++) {
        const char *candidate = command->options[k].name;
        if (strlen(candidate) == length && memcmp(candidate, name, length) == 0) {
            return &command->options[k];
        }
    }
    return NULL;
}

/* An option is given once, unless it is a list of them. */
static int check_once(const cli_command *command, const cli_option *option, const char **given,
                      const char *word)
{
    const char **before = &given[option - command->options];
    bool once = *before && option->kind != CLI_LIST && option->kind != CLI_WORDS;
    if (once && option->kind == CLI_NUMBERS && option->room > 1 && strcmp(*before, word) != 0) {
        return cli_usage(
            command->name,
            "--%s is given twice: %s and %s; put several numbers into one, separated by commas",
            option->name, *before, word);
    }
    if (once) {
        return cli_usage(command->name, "--%s is given twice%s", option->name,
                         strcmp(*before, word) != 0 ? cli_sprintf(": %s and %s", *before, word)
                                                    : "");
    }
    *before = word;
    return CLI_OK;
}

/* One option; *next is the index of the word after it. `given` has the word of each so far. */
static int parse_option(const cli_command *command, void *into, const char **given, int *next,
                        int argc, char **argv)
{
    const char *word = argv[(*next)++];
    if (strcmp(word, "-h") == 0) {
        cli_command_help(command);
        return CLI_HELPED;
    }
    if (strcmp(word, "-o") == 0 && find_option(command, "output", strlen("output"))) {
        word = "--output"; /* as with every compiler */
    }
    size_t length = strcspn(word, "=");
    const cli_option *option = word[1] == '-' ? find_option(command, word + 2, length - 2) : NULL;
    if (!option) {
        return unknown_option(command, word, length);
    }
    const char *value = word[length] == '=' ? word + length + 1 : NULL;
    if (!option->value && value) {
        return cli_usage(command->name, "--%s takes no value", option->name);
    }
    if (option->value && !value && option->kind != CLI_COUNT_OF) {
        if (*next >= argc) {
            return cli_usage(command->name, "--%s needs a value: --%s=%s", option->name,
                             option->name, option->value);
        }
        value = argv[(*next)++];
    }
    const char *said = value ? cli_sprintf("--%s=%s", option->name, value) : word;
    CLI_TRY(check_once(command, option, given, said));
    return set_option(command, option, into, value);
}

/* Whether a word is an option. Code, which follows IN and OUT, may begin with a dash; so may an
 * argument that is standard input for a raw kernel: -, -[::2], -:out.npy. */
static bool is_option(const cli_command *command, const char *word, size_t words)
{
    bool is_code = words >= 2 && words < command->word_count && word[1] != '-';
    bool is_stream = word[1] == 0 || strchr("[.:", word[1]);
    return word[0] == '-' && !is_stream && !is_code;
}

int cli_no_more_words(const cli_command *command, const cli_list *words)
{
    return words->count > command->word_count
               ? cli_usage(command->name, "quern %s does not take \"%s\"", command->name,
                           words->items[command->word_count])
               : CLI_OK;
}

int cli_options_parse(const cli_command *command, void *into, int argc, char **argv,
                      cli_list *words)
{
    const char **given = cli_alloc((command->option_count + 1) * sizeof *given);
    *words = (cli_list){0};
    bool plain = false;
    for (int k = 0; k < argc;) {
        if (plain || !is_option(command, argv[k], words->count)) {
            list_add(words, argv[k++]);
        } else if (strcmp(argv[k], "--") == 0) {
            plain = true;
            k++;
        } else {
            CLI_TRY(parse_option(command, into, given, &k, argc, argv));
        }
    }
    if (words->count < command->word_count) {
        return cli_usage(command->name, "%s is missing: quern %s%s%s", command->words[words->count],
                         command->name, cli_command_words(command), command->usage);
    }
    return read_texts(command, words);
}
