/* SPDX-License-Identifier: MIT
 *
 * What the commands of a fleet's cache share, with a banner for each file.
 */
#ifndef QUERN_CLI_FLEET_LISTS_H
#define QUERN_CLI_FLEET_LISTS_H

#include "cli.h"

extern const cli_command cmd_prewarm, cache_push, cache_pull, cache_keys;

/* ---- kernel_list.c: lists of keys ----------------------------------------------------------- */

typedef struct cli_prewarm_options {
    const char *device;
} cli_prewarm_options;
/* What 'prewarm' does, and 'cache pull', which compiles nothing. */
int cli_prewarm(const cli_command *command, int argc, char **argv, bool only_receive);

/* ---- recompile.c ------------------------------------------------------------------------------
 */

/* "1%" or "1": more than 0, at most 100. */
int cli_percent(double *out, const char *command, const char *text);
/* Compile so many of the cache's entries again, compare, and print what was found. */
int cli_recompile(quern_engine *engine, double percent);

#endif /* QUERN_CLI_FLEET_LISTS_H */
