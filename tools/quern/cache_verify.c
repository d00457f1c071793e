/* SPDX-License-Identifier: MIT
 *
 * quern cache verify: every entry is read and checked, and what is damaged removed.
 */
#include "cache_commands.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>

#define STEPS 100 /* that progress is shown in */

static int show_progress(void *context, uint64_t done, uint64_t all)
{
    (void)context;
    if (done == all || done * STEPS / all != (done - 1) * STEPS / all) {
        fprintf(stderr, "\r%" PRIu64 " of %" PRIu64 "%s", done, all, done == all ? "\n" : "");
    }
    return 0;
}

typedef struct verify_options {
    const char *recompile;
} verify_options;

static int verify(quern_engine *engine, const void *given, const cli_list *none)
{
    (void)none;
    const verify_options *o = given;
    double percent = 0;
    if (o->recompile) {
        CLI_TRY(cli_percent(&percent, "cache verify", o->recompile));
    }
    uint64_t checked = 0, removed = 0;
    bool watched = isatty(STDERR_FILENO) == 1;
    if (quern_cache_verify(&checked, &removed, engine, watched ? show_progress : NULL, NULL) !=
        QUERN_OK) {
        return cli_fail_library(NULL);
    }
    quern_cache_stats stats = QUERN_CACHE_STATS_INIT;
    if (quern_cache_get_stats(&stats, engine) != QUERN_OK) {
        return cli_fail_library(NULL);
    }
    printf("%" PRIu64 " %s checked, %" PRIu64 " damaged and removed\n", checked,
           checked == 1 ? "entry" : "entries", removed);
    if (stats.set_aside > 0) {
        return cli_fail("the database was damaged: it was set aside, and a new one begun");
    }
    return o->recompile ? cli_recompile(engine, percent) : CLI_OK;
}

static const cli_option options[] = {
    {"recompile", "PERCENT", "compile as many of them again, and compare", CLI_TEXT,
     offsetof(verify_options, recompile)},
};

static int run(const cli_command *command, int argc, char **argv)
{
    verify_options given = {0};
    return cli_cache_do(command, &given, argc, argv, verify);
}

const cli_command cache_verify = {
    .name = "cache verify",
    .summary = "Check every entry, and remove what is damaged",
    .usage = " [--recompile=PERCENT]",
    .text =
        "A look-up checks what it finds in the same way, so this is never needed; it says how the "
        "disk is\ndoing. Others may use the cache meanwhile. With --recompile=1% a hundredth of "
        "the "
        "entries, drawn by\nchance, is compiled again: who has altered an entry, here or in a "
        "remote store, is found so.\n",
    .options = options,
    .option_count = CLI_COUNT(options),
    .run = run,
};
