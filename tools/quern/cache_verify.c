/* SPDX-License-Identifier: MIT
 *
 * quern cache verify: every entry is read and checked, and what is damaged removed.
 */
#include "cli.h"

#include <inttypes.h>
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

static int verify(quern_engine *engine, const void *unused, const cli_list *none)
{
    (void)unused;
    (void)none;
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
    return stats.set_aside > 0
               ? cli_fail("the database was damaged: it was set aside, and a new one begun")
               : CLI_OK;
}

static int run(const cli_command *command, int argc, char **argv)
{
    return cli_cache_do(command, NULL, argc, argv, verify);
}

const cli_command cache_verify = {
    .name = "cache verify",
    .summary = "Check every entry, and remove what is damaged",
    .usage = "",
    .text =
        "A look-up checks what it finds in the same way, so this is never needed; it says how the "
        "disk is\ndoing. Others may use the cache meanwhile.\n",
    .run = run,
};
