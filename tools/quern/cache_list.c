/* SPDX-License-Identifier: MIT
 *
 * quern cache list: a line for each compiled kernel.
 */
#include "cli.h"

#include <inttypes.h>
#include <stdio.h>

#define SHOWN_DIGITS 12 /* of a key in the list: enough to name an entry */

static int print_row(void *context, const quern_cache_entry *entry)
{
    size_t *count = context;
    if ((*count)++ == 0) {
        printf("%-*s %-5s %-11s %10s %-16s %5s %s\n", SHOWN_DIGITS, "KEY", "KIND", "TARGET", "SIZE",
               "LAST USED", "DAYS", "NAME");
    }
    printf("%-*.*s %-5s %-11s %10s %-16s %5u %s\n", SHOWN_DIGITS, SHOWN_DIGITS, entry->key,
           entry->kind, entry->target, cli_human_bytes(entry->image_bytes),
           cli_human_time(entry->last_used), entry->hits + 1, entry->name);
    return 0;
}

static int show_list(quern_engine *engine, const void *unused, const cli_list *none)
{
    (void)unused;
    (void)none;
    size_t count = 0;
    if (quern_cache_visit(engine, NULL, print_row, &count) != QUERN_OK) {
        return cli_fail_library(NULL);
    }
    if (count == 0) {
        puts("the cache is empty");
    }
    return CLI_OK;
}

static int run(const cli_command *command, int argc, char **argv)
{
    return cli_cache_do(command, NULL, argc, argv, show_list);
}

const cli_command cache_list = {
    .name = "cache list",
    .summary = "Print a line for each compiled kernel, the last used first",
    .usage = "",
    .text =
        "DAYS is the number of days on which a kernel was used; LAST USED is precise to a day.\n",
    .run = run,
};
