/* SPDX-License-Identifier: MIT
 *
 * quern cache clear: an empty cache.
 */
#include "cache_commands.h"

#include <inttypes.h>
#include <stdio.h>

static int clear(quern_engine *engine, const void *unused, const cli_list *none)
{
    (void)unused;
    (void)none;
    uint64_t removed = 0;
    if (quern_cache_clear(&removed, engine) != QUERN_OK) {
        return cli_fail_library(NULL);
    }
    printf("removed %" PRIu64 " %s\n", removed, removed == 1 ? "entry" : "entries");
    return CLI_OK;
}

static int run(const cli_command *command, int argc, char **argv)
{
    return cli_cache_do(command, NULL, argc, argv, clear);
}

const cli_command cache_clear = {
    .name = "cache clear",
    .summary = "Remove all of them",
    .usage = "",
    .run = run,
};
