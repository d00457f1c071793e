/* SPDX-License-Identifier: MIT
 *
 * quern cache keys: the key that entries of a remote store are signed with.
 */
#include "cache_commands.h"

#include <stddef.h>
#include <stdio.h>

typedef struct keys_options {
    const char *name;
} keys_options;

static const char *const words[] = {"FILE"};

static const cli_option options[] = {
    {"name", "NAME", "whose it is (default: the file's name)", CLI_TEXT,
     offsetof(keys_options, name)},
};

static int run(const cli_command *command, int argc, char **argv)
{
    keys_options given = {0};
    cli_list list;
    quern_public_key key = QUERN_PUBLIC_KEY_INIT;
    CLI_TRY(cli_options_parse(command, &given, argc, argv, &list));
    CLI_TRY(cli_no_more_words(command, &list));
    if (quern_signing_key(&key, list.items[0], given.name) != QUERN_OK) {
        return cli_fail_library(NULL);
    }
    puts(key.line);
    return CLI_OK;
}

const cli_command cache_keys = {
    .name = "cache keys",
    .summary = "Make a key to sign with, and print its public half",
    .usage = " [--name=NAME]",
    .words = words,
    .word_count = CLI_COUNT(words),
    .text =
        "FILE holds the secret half; it is made, with mode 0600, where there is none. Machines "
        "that write to\nthe remote store have it (QUERN_REMOTE_SIGN=FILE); the printed line goes "
        "into the file of those that\nread (QUERN_REMOTE_TRUST).\n",
    .options = options,
    .option_count = CLI_COUNT(options),
    .run = run,
};
