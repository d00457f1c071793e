/* SPDX-License-Identifier: MIT
 *
 * quern cache path: where the database is.
 */
#include "cache_commands.h"

#include <stdio.h>

static int show_path(quern_engine *engine, const void *unused, const cli_list *none)
{
    (void)unused;
    (void)none;
    const char *path = quern_cache_path(engine);
    if (!path[0]) {
        return cli_fail("there is no cache: %s", quern_cache_problem(engine));
    }
    puts(path);
    return CLI_OK;
}

static int run(const cli_command *command, int argc, char **argv)
{
    return cli_cache_do(command, NULL, argc, argv, show_path);
}

const cli_command cache_path = {
    .name = "cache path",
    .summary = "Print the path of the database",
    .usage = "",
    .run = run,
};
