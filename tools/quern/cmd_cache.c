/* SPDX-License-Identifier: MIT
 *
 * quern cache: what the cache of compiled kernels holds.
 */
#include "cli.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define SHOWN_DIGITS 12 /* of a key in the list: enough to name an entry */

static int show_path(quern_engine *engine, const char *unused)
{
    (void)unused;
    const char *path = quern_cache_path(engine);
    if (!path[0]) {
        return cli_fail("there is no cache: %s", quern_cache_problem(engine));
    }
    puts(path);
    return CLI_OK;
}

static int show_stats(quern_engine *engine, const char *unused)
{
    (void)unused;
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

static int show_list(quern_engine *engine, const char *unused)
{
    (void)unused;
    size_t count = 0;
    if (quern_cache_visit(engine, NULL, print_row, &count) != QUERN_OK) {
        return cli_fail_library(NULL);
    }
    if (count == 0) {
        puts("the cache is empty");
    }
    return CLI_OK;
}

/* How many entries a prefix names, and the key of the first. */
typedef struct search {
    size_t count;
    char key[40];
} search;

static int note_entry(void *context, const quern_cache_entry *entry)
{
    search *found = context;
    if (found->count++ == 0) {
        snprintf(found->key, sizeof found->key, "%s", entry->key);
    }
    return found->count > 1;
}

static int print_entry(void *context, const quern_cache_entry *entry)
{
    (void)context;
    printf("key        %s\n", entry->key);
    printf("name       %s\n", entry->name);
    printf("kind       %s\n", entry->kind);
    printf("target     %s\n", entry->target);
    printf("compiler   %s\n", entry->compiler);
    printf("image      %" PRIu64 " bytes\n", entry->image_bytes);
    printf("compiled   in %.1f ms, %s\n", entry->compile_ms, cli_human_time(entry->created));
    printf("last used  %s\n", cli_human_time(entry->last_used));
    printf("used on    %u %s\n", entry->hits + 1, entry->hits == 0 ? "day" : "days");
    printf("source\n%s", entry->source);
    size_t length = strlen(entry->source);
    if (length > 0 && entry->source[length - 1] != '\n') {
        putchar('\n');
    }
    return 0;
}

static int show_entry(quern_engine *engine, const char *prefix)
{
    search found = {0};
    if (!prefix[0] || prefix[strspn(prefix, "0123456789abcdef")]) {
        return cli_usage("cache",
                         "\"%s\" is not the beginning of a key: hexadecimal digits, as "
                         "'quern cache list' prints them",
                         prefix);
    }
    if (quern_cache_visit(engine, prefix, note_entry, &found) != QUERN_OK) {
        return cli_fail_library(NULL);
    }
    if (found.count == 0) {
        return cli_fail("no key in the cache begins with \"%s\"; 'quern cache list' lists them",
                        prefix);
    }
    if (found.count > 1) {
        return cli_fail("more than one key begins with \"%s\"; give more digits", prefix);
    }
    if (quern_cache_visit(engine, found.key, print_entry, NULL) != QUERN_OK) {
        return cli_fail_library(NULL);
    }
    return CLI_OK;
}

static int clear(quern_engine *engine, const char *unused)
{
    (void)unused;
    uint64_t removed = 0;
    if (quern_cache_clear(&removed, engine) != QUERN_OK) {
        return cli_fail_library(NULL);
    }
    printf("removed %" PRIu64 " %s\n", removed, removed == 1 ? "entry" : "entries");
    return CLI_OK;
}

static const char *const names[] = {"path", "stats", "list", "show", "clear"};

static const struct {
    const char *argument; /* what it takes; NULL for nothing */
    int (*run)(quern_engine *engine, const char *argument);
} actions[CLI_COUNT(names)] = {
    {NULL, show_path}, {NULL, show_stats}, {NULL, show_list}, {"KEY", show_entry}, {NULL, clear},
};

/* The cache belongs to no device; the software device opens fastest. */
static int run_action(size_t action, const char *argument)
{
    quern_options options = QUERN_OPTIONS_INIT;
    options.device = "soft";
    quern_engine *engine;
    if (quern_open(&engine, &options) != QUERN_OK) {
        return cli_fail_library(NULL);
    }
    int status = actions[action].run(engine, argument);
    quern_close(engine);
    return status;
}

static int run(const cli_command *command, int argc, char **argv)
{
    cli_list words;
    CLI_TRY(cli_options_parse(command, NULL, argc, argv, &words));
    if (words.count == 0) {
        return cli_usage(command->name, "say what: path, stats, list, show KEY or clear");
    }
    const char *name = words.items[0];
    for (size_t k = 0; k < CLI_COUNT(actions); k++) {
        if (strcmp(names[k], name) != 0) {
            continue;
        }
        size_t wanted = 1 + (actions[k].argument != NULL);
        if (words.count < wanted) {
            return cli_usage(command->name, "quern cache %s needs a %s", name, actions[k].argument);
        }
        if (words.count > wanted) {
            return cli_usage(command->name, "quern cache %s does not take \"%s\"", name,
                             words.items[wanted]);
        }
        return run_action(k, wanted > 1 ? words.items[1] : NULL);
    }
    return cli_usage(command->name, "quern cache has no command \"%s\"%s", name,
                     cli_did_you_mean(name, names, CLI_COUNT(names)));
}

const cli_command cmd_cache = {
    .name = "cache",
    .summary = "Look into the cache of compiled kernels, or clear it",
    .usage = " path | stats | list | show KEY | clear",
    .text = "  path      print the path of the database\n"
            "  stats     print how much it holds\n"
            "  list      print a line for each compiled kernel, the last used first; DAYS is the "
            "number\n"
            "            of days on which it was used, and LAST USED is precise to a day\n"
            "  show KEY  print one of them, with its source; the first digits of the key will do\n"
            "  clear     remove all of them\n"
            "\n"
            "The cache is never needed: kernels are compiled again when it is gone.\n",
    .choices = names,
    .choice_count = CLI_COUNT(names),
    .run = run,
};
