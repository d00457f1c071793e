/* SPDX-License-Identifier: MIT
 *
 * quern cache import: the kernels of a pack into the cache.
 */
#include "cache_commands.h"

#include <inttypes.h>
#include <stdio.h>

static int read_pack(quern_engine *engine, const void *unused, const cli_list *words)
{
    uint64_t added;
    (void)unused;
    if (quern_cache_import(&added, engine, words->items[0]) != QUERN_OK) {
        return cli_fail_library(NULL);
    }
    printf("%" PRIu64 " compiled kernel%s added\n", added, added == 1 ? "" : "s");
    return CLI_OK;
}

static int run(const cli_command *command, int argc, char **argv)
{
    return cli_cache_do(command, NULL, argc, argv, read_pack);
}

static const char *const words[] = {"PACK"};

const cli_command cache_import = {
    .name = "cache import",
    .summary = "Put the kernels of a pack into the cache",
    .usage = "",
    .words = words,
    .word_count = CLI_COUNT(words),
    .text = "Import only what you would run: a pack is code. Kernels that the cache has stay.\n",
    .run = run,
};
