/* SPDX-License-Identifier: MIT
 *
 * quern cache pull: a list of kernels from the remote store, nothing of it compiled.
 */
#include "cache_commands.h"

#include <stddef.h>

typedef struct pull_options {
    const char *device;
} pull_options;

static const char *const words[] = {"LIST"};

static const cli_option options[] = {
    {"device", "DEVICE", "for which they are (default: QUERN_DEVICE, else auto)", CLI_TEXT,
     offsetof(pull_options, device)},
};

static int run(const cli_command *command, int argc, char **argv)
{
    pull_options given = {0};
    cli_list named, keys;
    CLI_TRY(cli_options_parse(command, &given, argc, argv, &named));
    CLI_TRY(cli_no_more_words(command, &named));
    CLI_TRY(cli_keys_read(&keys, command->name, named.items[0]));
    return cli_pull(given.device, &keys);
}

const cli_command cache_pull = {
    .name = "cache pull",
    .summary = "Take the kernels of a list from the remote store",
    .usage = " [--device=DEVICE]",
    .words = words,
    .word_count = CLI_COUNT(words),
    .text = "LIST is a file (- for standard input) with a key at the beginning of each line, as "
            "'quern cache\npush' prints it. QUERN_REMOTE says where the store is.\n",
    .options = options,
    .option_count = CLI_COUNT(options),
    .run = run,
};
