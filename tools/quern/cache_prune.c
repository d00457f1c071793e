/* SPDX-License-Identifier: MIT
 *
 * quern cache prune: a smaller cache.
 */
#include "cache_commands.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct prune_options {
    const char *to;
    uint64_t bytes; /* what `to` says */
    cli_number days;
} prune_options;

/* "500M": a whole number of bytes, with K, M, G or T after it. */
static bool parse_size(uint64_t *out, const char *text)
{
    static const char suffixes[] = "KMGT";
    char *end;
    uint64_t number = strtoull(text, &end, 10);
    const char *suffix = *end ? strchr(suffixes, *end) : NULL;
    int shift = suffix ? 10 * (int)(suffix - suffixes + 1) : 0;
    end += suffix != NULL;
    if (text[0] < '0' || text[0] > '9' || *end || number > (UINT64_MAX >> 1) >> shift) {
        return false;
    }
    *out = number << shift;
    return true;
}

static int prune(quern_engine *engine, const void *given, const cli_list *none)
{
    (void)none;
    const prune_options *o = given;
    quern_cache_stats stats = QUERN_CACHE_STATS_INIT;
    if (quern_cache_get_stats(&stats, engine) != QUERN_OK) {
        return cli_fail_library(NULL);
    }
    uint64_t removed;
    if (quern_cache_prune(&removed, engine, o->to ? o->bytes : stats.limit,
                          (uint32_t)o->days.value) != QUERN_OK ||
        quern_cache_get_stats(&stats, engine) != QUERN_OK) {
        return cli_fail_library(NULL);
    }
    printf("removed %" PRIu64 " %s; %" PRIu64 " left, %s\n", removed,
           removed == 1 ? "entry" : "entries", stats.entries, cli_human_bytes(stats.bytes));
    return CLI_OK;
}

static const cli_option options[] = {
    {"to", "SIZE",
     "remove the least recently used until this is left: 500M, 2G (default: the limit)", CLI_TEXT,
     offsetof(prune_options, to)},
    {"unused", "DAYS", "remove all that were not used for so many days", CLI_NUMBER,
     offsetof(prune_options, days), 1, 100000},
};

static int run(const cli_command *command, int argc, char **argv)
{
    prune_options given = {0};
    cli_list words;
    CLI_TRY(cli_cache_parse(command, &given, argc, argv, &words));
    if (given.to && !parse_size(&given.bytes, given.to)) {
        return cli_usage(command->name, "--to: \"%s\" is not a size, such as 500M or 2G", given.to);
    }
    return cli_cache_run(prune, &given, &words);
}

const cli_command cache_prune = {
    .name = "cache prune",
    .summary = "Remove what was not used for long, and give the space back",
    .usage = " [--to=SIZE] [--unused=DAYS]",
    .text =
        "The cache does this by itself when it reaches its limit. Others wait for milliseconds.\n",
    .options = options,
    .option_count = CLI_COUNT(options),
    .run = run,
};
