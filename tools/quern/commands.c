/* SPDX-License-Identifier: MIT
 *
 * The table of subcommands, each of which has a file of its own.
 */
#include "cache_commands.h"

#include <string.h>

const cli_command *const cli_commands[] = {
    &cmd_elementwise, &cmd_reduce,     &cmd_scan,  &cmd_eval,    &cmd_raw,
    &cmd_tune,        &cmd_build,      &cmd_cache, &cmd_prewarm, &cmd_devices,
    &cmd_doctor,      &cmd_completion, &cmd_help,  &cmd_version,
};
const size_t cli_command_count = CLI_COUNT(cli_commands);

const cli_command *cli_command_find(const char *name)
{
    for (size_t k = 0; k < cli_command_count; k++) {
        if (strcmp(cli_commands[k]->name, name) == 0) {
            return cli_commands[k];
        }
    }
    return NULL;
}

const cli_command *cli_command_part(const cli_command *command, const char *word)
{
    for (size_t k = 0; word && command->parts && k < command->choice_count; k++) {
        if (strcmp(command->choices[k], word) == 0) {
            return command->parts[k];
        }
    }
    return NULL;
}

int cli_unknown_command(const char *name)
{
    const char *names[CLI_COUNT(cli_commands)];
    for (size_t k = 0; k < cli_command_count; k++) {
        names[k] = cli_commands[k]->name;
    }
    return cli_usage(NULL, "quern has no command \"%s\"%s", name,
                     cli_did_you_mean(name, names, cli_command_count));
}
