/* SPDX-License-Identifier: MIT
 *
 * quern prewarm: a list of kernels, compiled by a whole fleet, each kernel by one machine of it.
 */
#include "build.h"
#include "cache_commands.h"
#include "processes.h"

#include <stddef.h>
#include <string.h>

typedef struct prewarm_options {
    const char *device;
    cli_number jobs;
} prewarm_options;

static const char *const words[] = {"LIST"};

static const cli_option options[] = {
    {"device", "DEVICE", "for which to compile (default: QUERN_DEVICE, else auto)", CLI_TEXT,
     offsetof(prewarm_options, device)},
    {"jobs", "N", "processes that compile (default: one for each processor)", CLI_NUMBER,
     offsetof(prewarm_options, jobs), 1, 64},
};

static bool is_toml(const char *path)
{
    const size_t length = strlen(path);
    return length > 5 && strcmp(path + length - 5, ".toml") == 0;
}

static int run(const cli_command *command, int argc, char **argv)
{
    prewarm_options given = {0};
    cli_list named, keys;
    build_list list;
    CLI_TRY(cli_options_parse(command, &given, argc, argv, &named));
    CLI_TRY(cli_no_more_words(command, &named));
    const bool toml = is_toml(named.items[0]);
    CLI_TRY(toml ? build_list_read(&list, named.items[0])
                 : cli_keys_read(&keys, command->name, named.items[0]));
    return cli_prewarm(given.device, toml ? NULL : &keys, toml ? &list : NULL,
                       cli_processes(&given.jobs));
}

const cli_command cmd_prewarm = {
    .name = "prewarm",
    .summary = "Fill the cache with the kernels of a list, before they are needed",
    .usage = " [--device=DEVICE] [--jobs=N]",
    .words = words,
    .word_count = CLI_COUNT(words),
    .text =
        "LIST is a file (- for standard input) with a key at the beginning of each line, as "
        "'quern cache\npush' prints it; or KERNELS.toml, the calls that a program makes, as "
        "'quern cache record' writes\nthem and 'quern build' takes them. What the remote store of "
        "QUERN_REMOTE has is taken from there;\nthe rest is compiled, keys from their recipes, "
        "which lie there or in this machine's cache, and\nwritten there. Run it on all machines of "
        "a fleet at once: together they compile each kernel once.\nWhat was made for another GPU "
        "is made for this one. No kernel is launched.\n",
    .examples = "  quern cache record --output=KERNELS.toml -- ./app\n"
                "  quern prewarm KERNELS.toml\n",
    .options = options,
    .option_count = CLI_COUNT(options),
    .run = run,
};
