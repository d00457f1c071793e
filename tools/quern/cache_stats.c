/* SPDX-License-Identifier: MIT
 *
 * quern cache stats: how much the cache holds.
 */
#include "cli.h"

#include <inttypes.h>
#include <stdio.h>

static int show_stats(quern_engine *engine, const void *unused, const cli_list *none)
{
    (void)unused;
    (void)none;
    quern_cache_stats stats = {.size = sizeof stats};
    if (quern_cache_get_stats(&stats, engine) != QUERN_OK) {
        return cli_fail_library(NULL);
    }
    if (!stats.enabled) {
        return cli_fail("there is no cache: %s", quern_cache_problem(engine));
    }
    printf("path     %s\n", quern_cache_path(engine));
    printf("entries  %" PRIu64 "\n", stats.entries);
    printf("kept     %s (images, sources and keys, in pages)\n", cli_human_bytes(stats.bytes));
    printf("file     %s (with its journal)\n", cli_human_bytes(stats.file_bytes));
    printf("limit    %s\n", cli_human_bytes(stats.limit));
    if (stats.faults + stats.corrupt > 0) {
        printf("faults   %" PRIu64 ", damaged entries removed %" PRIu64 "\n", stats.faults,
               stats.corrupt);
    }
    return CLI_OK;
}

static int run(const cli_command *command, int argc, char **argv)
{
    return cli_cache_do(command, NULL, argc, argv, show_stats);
}

const cli_command cache_stats = {
    .name = "cache stats",
    .summary = "Print how much it holds",
    .usage = "",
    .run = run,
};
