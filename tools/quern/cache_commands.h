/* SPDX-License-Identifier: MIT
 *
 * What the commands of quern cache share, and quern prewarm, with a banner for each file.
 */
#ifndef QUERN_CLI_CACHE_COMMANDS_H
#define QUERN_CLI_CACHE_COMMANDS_H

#include "cli.h"

/* ---- cmd_cache.c: the table of quern cache; each command in it has a file, cache_NAME.c ----- */

extern const cli_command cache_path, cache_stats, cache_list, cache_show, cache_verify, cache_prune,
    cache_clear, cache_export, cache_import, cache_record, cache_push, cache_pull, cache_keys;

/* An entry as JSON, with its source if it is to be `whole`: cache_show.c. */
void cli_cache_entry_json(const quern_cache_entry *entry, bool whole);

/* Options of what writes a pack. */
#define CLI_PACK_OPTIONS(structure)                                                                \
    {"level",                                                                                      \
     "N",                                                                                          \
     "how hard zstd packs: 1 fastest to 19 smallest (default), 0 not",                             \
     CLI_NUMBER,                                                                                   \
     offsetof(structure, level),                                                                   \
     0,                                                                                            \
     19},                                                                                          \
    {                                                                                              \
        "without-source", NULL, "smaller; nobody reads the sources, and it cannot be imported",    \
            CLI_FLAG, offsetof(structure, without_source)                                          \
    }

/* That of quern_export_options, where 0 means that nothing was said. */
static inline int32_t cli_pack_level(const cli_number *given)
{
    return !given->given ? 0 : given->value > 0 ? (int32_t)given->value : -1;
}

/* What a command of quern cache does with an engine, and the words that it was given. */
typedef int (*cli_cache_action)(quern_engine *engine, const void *options, const cli_list *words);
/* Parse the arguments, refuse words that the command does not take, and do it with an engine that
 * is opened for it. */
int cli_cache_do(const cli_command *command, void *options, int argc, char **argv,
                 cli_cache_action action);
/* Its two halves, for a command that has more to check before an engine is opened. */
int cli_cache_parse(const cli_command *command, void *options, int argc, char **argv,
                    cli_list *words);
int cli_cache_run(cli_cache_action action, const void *options, const cli_list *words);

/* ---- kernel_list.c: lists of keys ----------------------------------------------------------- */

/* Read the keys of a file. Prints what is wrong; CLI_FAILURE. */
int cli_keys_read(cli_list *out, const char *command, const char *path);
/* Take those that the remote store has, and print what came of them. */
int cli_pull(const char *device, const cli_list *keys);
/* Print that; CLI_FAILURE where some could not be had. */
int cli_keys_report(const quern_fleet_report *report, const char *advice);
/* "3 kernels" */
const char *cli_kernels(uint64_t count);

/* ---- prewarm_work.c: lists compiled for a device by several processes ------------------------ */

struct build_list;
/* A list of keys, or of kernels and calls (the other is NULL), for a device (NULL: the usual). */
int cli_prewarm(const char *device, const cli_list *keys, const struct build_list *list,
                size_t processes);

/* ---- recompile.c ----------------------------------------------------------------------------- */

/* "1%" or "1": more than 0, at most 100. */
int cli_percent(double *out, const char *command, const char *text);
/* Compile so many of the cache's entries again, compare, and print what was found. */
int cli_recompile(quern_engine *engine, double percent);

#endif /* QUERN_CLI_CACHE_COMMANDS_H */
