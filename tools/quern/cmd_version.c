/* SPDX-License-Identifier: MIT
 *
 * quern version: the version of the library that runs.
 */
#include "cli.h"

#include <stdio.h>

static int run(const cli_command *command, int argc, char **argv)
{
    cli_list words;
    CLI_TRY(cli_options_parse(command, NULL, argc, argv, &words));
    CLI_TRY(cli_no_more_words(command, &words));
    int version = quern_version();
    printf("quern %d.%d.%d\n", version / 10000, version / 100 % 100, version % 100);
    return CLI_OK;
}

const cli_command cmd_version = {
    .name = "version",
    .summary = "Print the version",
    .usage = "",
    .run = run,
};
