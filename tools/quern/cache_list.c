/* SPDX-License-Identifier: MIT
 *
 * quern cache list: a line for each compiled kernel.
 */
#include "cache_commands.h"

#include <stdio.h>

#define SHOWN_DIGITS 12 /* of a key in the list: enough to name an entry */

typedef struct list_options {
    int json;
} list_options;

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

static int print_object(void *context, const quern_cache_entry *entry)
{
    size_t *count = context;
    puts((*count)++ == 0 ? "[" : ",");
    cli_cache_entry_json(entry, false);
    return 0;
}

static int show_list(quern_engine *engine, const void *given, const cli_list *none)
{
    (void)none;
    const int json = ((const list_options *)given)->json;
    size_t count = 0;
    if (quern_cache_visit(engine, NULL, json ? print_object : print_row, &count) != QUERN_OK) {
        return cli_fail_library(NULL);
    }
    if (json) {
        puts(count == 0 ? "[]" : "\n]");
    } else if (count == 0) {
        puts("the cache is empty");
    }
    return CLI_OK;
}

static const cli_option options[] = {
    {"json", NULL, "print an array of JSON, without the sources", CLI_FLAG,
     offsetof(list_options, json)},
};

static int run(const cli_command *command, int argc, char **argv)
{
    list_options given = {0};
    return cli_cache_do(command, &given, argc, argv, show_list);
}

const cli_command cache_list = {
    .name = "cache list",
    .summary = "Print a line for each compiled kernel, the last used first",
    .usage = " [--json]",
    .text =
        "DAYS is the number of days on which a kernel was used; LAST USED is precise to a day.\n",
    .options = options,
    .option_count = CLI_COUNT(options),
    .run = run,
};
