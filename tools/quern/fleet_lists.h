/* SPDX-License-Identifier: MIT
 *
 * What the commands of a fleet's cache share, with a banner for each file.
 */
#ifndef QUERN_CLI_FLEET_LISTS_H
#define QUERN_CLI_FLEET_LISTS_H

#include "cli.h"

extern const cli_command cmd_prewarm, cache_push, cache_pull, cache_keys;

/* ---- kernel_list.c: lists of keys ----------------------------------------------------------- */

/* Read the keys of a file. Prints what is wrong; CLI_FAILURE. */
int cli_keys_read(cli_list *out, const char *command, const char *path);
/* Take those that the remote store has, and print what came of them. */
int cli_pull(const char *device, const cli_list *keys);
/* Print that; CLI_FAILURE where some could not be had. */
int cli_keys_report(const quern_fleet_report *report, const char *advice);
/* "3 kernels" */
const char *cli_kernels(uint64_t count);

/* ---- prewarm_work.c: lists compiled for a device by several processes -------------------------
 */

struct build_list;
/* A list of keys, or of kernels and calls (the other is NULL), for a device (NULL: the usual). */
int cli_prewarm(const char *device, const cli_list *keys, const struct build_list *list,
                size_t processes);

/* ---- recompile.c ------------------------------------------------------------------------------
 */

/* "1%" or "1": more than 0, at most 100. */
int cli_percent(double *out, const char *command, const char *text);
/* Compile so many of the cache's entries again, compare, and print what was found. */
int cli_recompile(quern_engine *engine, double percent);

#endif /* QUERN_CLI_FLEET_LISTS_H */
