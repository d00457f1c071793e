/* SPDX-License-Identifier: MIT
 *
 * quern cache show: one entry, with its source.
 */
#include "cache_commands.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

typedef struct show_options {
    int json;
} show_options;

void cli_cache_entry_json(const quern_cache_entry *entry, bool whole)
{
    cli_json json = {0};
    cli_json_text(&json, "key", entry->key);
    cli_json_text(&json, "name", entry->name);
    cli_json_text(&json, "kind", entry->kind);
    cli_json_text(&json, "target", entry->target);
    cli_json_text(&json, "compiler", entry->compiler);
    cli_json_number(&json, "image_bytes", entry->image_bytes);
    cli_json_real(&json, "compile_ms", entry->compile_ms);
    cli_json_number(&json, "created", (uint64_t)entry->created);
    cli_json_number(&json, "last_used", (uint64_t)entry->last_used);
    cli_json_number(&json, "days", (uint64_t)entry->hits + 1);
    if (whole) {
        cli_json_text(&json, "source", entry->source);
    }
    cli_json_end(&json);
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

static int print_json(void *context, const quern_cache_entry *entry)
{
    (void)context;
    cli_cache_entry_json(entry, true);
    puts("");
    return 0;
}

static int show_entry(quern_engine *engine, const void *given, const cli_list *words)
{
    const int json = ((const show_options *)given)->json;
    const char *prefix = words->items[0];
    search found = {0};
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
    if (quern_cache_visit(engine, found.key, json ? print_json : print_entry, NULL) != QUERN_OK) {
        return cli_fail_library(NULL);
    }
    return CLI_OK;
}

static const cli_option options[] = {
    {"json", NULL, "print an object of JSON", CLI_FLAG, offsetof(show_options, json)},
};

static int run(const cli_command *command, int argc, char **argv)
{
    show_options given = {0};
    cli_list words;
    CLI_TRY(cli_cache_parse(command, &given, argc, argv, &words));
    const char *prefix = words.items[0];
    if (!prefix[0] || prefix[strspn(prefix, "0123456789abcdef")]) {
        return cli_usage(command->name,
                         "\"%s\" is not the beginning of a key: hexadecimal digits, as "
                         "'quern cache list' prints them",
                         prefix);
    }
    return cli_cache_run(show_entry, &given, &words);
}

static const char *const words[] = {"KEY"};

const cli_command cache_show = {
    .name = "cache show",
    .summary = "Print one of them, with its source",
    .usage = " [--json]",
    .words = words,
    .word_count = CLI_COUNT(words),
    .text = "The first digits of the key will do; 'quern cache list' prints them.\n",
    .options = options,
    .option_count = CLI_COUNT(options),
    .run = run,
};
