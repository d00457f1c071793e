/* SPDX-License-Identifier: MIT
 *
 * quern cache stats: how much the cache holds, and what it has done for all processes so far.
 */
#include "cache_commands.h"

#include <inttypes.h>
#include <stdio.h>

typedef struct stats_options {
    int json;
} stats_options;

static void print_json(quern_engine *engine, const quern_cache_stats *s)
{
    const struct {
        const char *name;
        uint64_t number;
    } numbers[] = {
        {"entries", s->entries},
        {"bytes", s->bytes},
        {"file_bytes", s->file_bytes},
        {"limit", s->limit},
        {"since", (uint64_t)s->since},
        {"hits", s->hits},
        {"misses", s->misses},
        {"compiled", s->compiled},
        {"compiled_new", s->compiled_new},
        {"compiled_changed", s->compiled_changed},
        {"compiled_compiler", s->compiled_compiler},
        {"compiled_damaged", s->compiled_damaged},
        {"compiled_unread", s->compiled_unread},
        {"compiled_opaque", s->compiled_opaque},
        {"faults", s->faults},
        {"faults_locked", s->faults_locked},
        {"faults_full", s->faults_full},
        {"faults_io", s->faults_io},
        {"corrupt", s->corrupt},
        {"rejected", s->rejected},
        {"set_aside", s->set_aside},
        {"evicted", s->evicted},
        {"declined", s->declined},
        {"waits", s->waits},
        {"unlocked", s->unlocked},
    };
    cli_json json = {0};
    cli_json_text(&json, "path", quern_cache_path(engine));
    for (size_t k = 0; k < CLI_COUNT(numbers); k++) {
        cli_json_number(&json, numbers[k].name, numbers[k].number);
    }
    cli_json_real(&json, "compile_ms", s->compile_ms);
    cli_json_real(&json, "saved_ms", s->saved_ms);
    cli_json_real(&json, "waited_ms", s->waited_ms);
    cli_json_end(&json);
    puts("");
}

/* ", 3 changed", once for each kind that there is any of. */
typedef struct kind {
    uint64_t count;
    const char *what;
} kind;

static void print_kinds(const kind *kinds, size_t count)
{
    const char *lead = ": ";
    for (size_t k = 0; k < count; k++) {
        if (kinds[k].count > 0) {
            printf("%s%" PRIu64 " %s", lead, kinds[k].count, kinds[k].what);
            lead = ", ";
        }
    }
    puts("");
}

static void print_done(const quern_cache_stats *s)
{
    const kind reasons[] = {
        {s->compiled_new, "new"},
        {s->compiled_changed, "changed"},
        {s->compiled_compiler, "for another NVRTC"},
        {s->compiled_damaged, "damaged or rejected"},
        {s->compiled_unread, "without a cache"},
        {s->compiled_opaque, "never kept"},
    };
    const kind faults[] = {{s->faults_locked, "locked"},
                           {s->faults_full, "disk full"},
                           {s->faults_io, "reading or writing"}};
    const kind damages[] = {{s->corrupt - s->rejected - s->set_aside, "entries"},
                            {s->rejected, "rejected by a device"},
                            {s->set_aside, "files set aside"}};
    if (s->since == 0) {
        return;
    }
    printf("since    %s, by all processes:\n", cli_human_time(s->since));
    printf("hits     %" PRIu64 ", which saved %.1f s of compiling\n", s->hits, s->saved_ms / 1e3);
    printf("compiled %" PRIu64 " in %.1f s", s->compiled, s->compile_ms / 1e3);
    print_kinds(reasons, CLI_COUNT(reasons));
    printf("waits    %" PRIu64 " for others, %.1f s; compiled without a lock %" PRIu64 "\n",
           s->waits, s->waited_ms / 1e3, s->unlocked);
    printf("evicted  %" PRIu64 ", declined as too large %" PRIu64 "\n", s->evicted, s->declined);
    printf("faults   %" PRIu64, s->faults);
    print_kinds(faults, CLI_COUNT(faults));
    printf("damaged  %" PRIu64, s->corrupt);
    print_kinds(damages, CLI_COUNT(damages));
}

static int show_stats(quern_engine *engine, const void *options, const cli_list *none)
{
    (void)none;
    quern_cache_stats stats = QUERN_CACHE_STATS_INIT;
    if (quern_cache_get_totals(&stats, engine) != QUERN_OK) {
        return cli_fail_library(NULL);
    }
    if (!stats.enabled) {
        return cli_fail("there is no cache: %s", quern_cache_problem(engine));
    }
    if (((const stats_options *)options)->json) {
        print_json(engine, &stats);
        return CLI_OK;
    }
    printf("path     %s\n", quern_cache_path(engine));
    printf("entries  %" PRIu64 "\n", stats.entries);
    printf("kept     %s (images, sources and keys, in pages)\n", cli_human_bytes(stats.bytes));
    printf("file     %s (with its journal)\n", cli_human_bytes(stats.file_bytes));
    printf("limit    %s\n", cli_human_bytes(stats.limit));
    print_done(&stats);
    return CLI_OK;
}

static const cli_option options[] = {
    {"json", NULL, "print an object of JSON", CLI_FLAG, offsetof(stats_options, json)},
};

static int run(const cli_command *command, int argc, char **argv)
{
    stats_options given = {0};
    return cli_cache_do(command, &given, argc, argv, show_stats);
}

const cli_command cache_stats = {
    .name = "cache stats",
    .summary = "Print how much it holds, and what it has done",
    .usage = " [--json]",
    .text =
        "Every process adds what it did when it ends. Compilations are told by their reason: new, "
        "or\nchanged: an entry of that name is there, and something in its key differs;\n"
        "QUERN_LOG=debug says what.\n",
    .options = options,
    .option_count = CLI_COUNT(options),
    .run = run,
};
