/* SPDX-License-Identifier: MIT
 *
 * quern cache: the table of its commands, each of which has a file of its own, cache_NAME.c, and
 * what they share: arguments, and an engine to ask.
 */
#include "cache_commands.h"

/* In the order of the help. To add one: a file, its line in cache_commands.h, and its name here. */
#define CACHE_MAP(X)                                                                               \
    X(path)                                                                                        \
    X(stats)                                                                                       \
    X(list)                                                                                        \
    X(show)                                                                                        \
    X(verify)                                                                                      \
    X(prune)                                                                                       \
    X(export)                                                                                      \
    X(import)                                                                                      \
    X(record)                                                                                      \
    X(push)                                                                                        \
    X(pull)                                                                                        \
    X(keys)                                                                                        \
    X(clear)

#define NAME(name) #name,
#define PART(name) &cache_##name,
static const char *const names[] = {CACHE_MAP(NAME)};
static const cli_command *const parts[] = {CACHE_MAP(PART)};

int cli_cache_do(const cli_command *command, void *options, int argc, char **argv,
                 cli_cache_action action)
{
    cli_list words;
    CLI_TRY(cli_cache_parse(command, options, argc, argv, &words));
    return cli_cache_run(action, options, &words);
}

int cli_cache_parse(const cli_command *command, void *options, int argc, char **argv,
                    cli_list *words)
{
    CLI_TRY(cli_options_parse(command, options, argc, argv, words));
    return cli_no_more_words(command, words);
}

int cli_cache_run(cli_cache_action action, const void *options, const cli_list *words)
{
    /* The cache belongs to no device; the software device opens fastest. */
    quern_options with = QUERN_OPTIONS_INIT;
    with.device = "soft";
    quern_engine *engine;
    if (quern_open(&engine, &with) != QUERN_OK) {
        return cli_fail_library(NULL);
    }
    int status = action(engine, options, words);
    quern_close(engine);
    return status;
}

static int run(const cli_command *command, int argc, char **argv)
{
    if (argc == 0) {
        const char *list = "";
        for (size_t k = 0; k < CLI_COUNT(names); k++) {
            list = cli_sprintf("%s%s%s", list, k == 0 ? "" : ", ", names[k]);
        }
        return cli_usage(command->name, "say what: %s", list);
    }
    const cli_command *part = cli_command_part(command, argv[0]);
    if (!part) {
        return cli_usage(command->name, "quern cache has no command \"%s\"%s", argv[0],
                         cli_did_you_mean(argv[0], names, CLI_COUNT(names)));
    }
    return part->run(part, argc - 1, argv + 1);
}

const cli_command cmd_cache = {
    .name = "cache",
    .summary = "Look into the cache of compiled kernels, or clear it",
    .usage = " COMMAND [ARGUMENT...]",
    .text =
        "'quern help cache COMMAND' explains one command. The cache is never needed: kernels are\n"
        "compiled again when it is gone.\n",
    .choices = names,
    .choice_count = CLI_COUNT(names),
    .parts = parts,
    .run = run,
};
