/* SPDX-License-Identifier: MIT
 *
 * quern build: kernels of a list, compiled for GPUs that need not be there, as one file.
 */
#include "build.h"
#include "cache_commands.h"
#include "processes.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define MOST_TARGETS 32

typedef struct build_options {
    cli_list arch;
    const char *output;
    cli_number jobs, level;
    int without_source;
} build_options;

#define FIELD(field) offsetof(build_options, field)

static const cli_option table[] = {
    {"arch", "NAME[,NAME...]", "what to compile for: sm_90, compute_90 (PTX), soft", CLI_LIST,
     FIELD(arch)},
    {"output", "FILE", "the pack to write; -o FILE is the same", CLI_TEXT, FIELD(output)},
    {"jobs", "N", "processes that compile (default: one for each processor)", CLI_NUMBER,
     FIELD(jobs), 1, 64},
    CLI_PACK_OPTIONS(build_options),
};

typedef struct target_list {
    build_target items[MOST_TARGETS];
    size_t count;
} target_list;

static int add_target(target_list *targets, const cli_command *command, const char *name)
{
    build_target target;
    if (!build_target_parse(&target, name)) {
        return cli_usage(command->name,
                         "\"%s\" is not what kernels are compiled for; write sm_90, compute_90 or "
                         "soft",
                         name);
    }
    for (size_t k = 0; k < targets->count; k++) {
        if (strcmp(targets->items[k].name, name) == 0) {
            return CLI_OK;
        }
    }
    if (targets->count == MOST_TARGETS) {
        return cli_usage(command->name, "--arch has more than %d names", MOST_TARGETS);
    }
    targets->items[targets->count++] = target;
    return CLI_OK;
}

static int read_targets(target_list *out, const cli_command *command, const cli_list *lists)
{
    for (size_t k = 0; k < lists->count; k++) {
        for (const char *at = lists->items[k];;) {
            const size_t length = strcspn(at, ",");
            CLI_TRY(add_target(out, command, cli_strndup(at, length)));
            if (at[length] == '\0') {
                break;
            }
            at += length + 1;
        }
    }
    return out->count > 0
               ? CLI_OK
               : cli_usage(command->name, "what for? add --arch=sm_90, or several with commas");
}

static int export_all(const build_options *o, const char *cache, uint64_t *written)
{
    quern_options with = QUERN_OPTIONS_INIT;
    quern_export_options how = QUERN_EXPORT_OPTIONS_INIT;
    quern_engine *engine;
    with.device = "soft";
    with.cache_dir = cache;
    how.without_source = (uint32_t)o->without_source;
    how.level = cli_pack_level(&o->level);
    if (quern_open(&engine, &with) != QUERN_OK) {
        cli_stay_if_interrupted();
        return cli_fail_library(NULL);
    }
    const quern_status status = quern_cache_export(written, engine, o->output, &how);
    quern_close(engine);
    cli_stay_if_interrupted();
    return status == QUERN_OK ? CLI_OK : cli_fail_library(NULL);
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static int build(const build_options *o, const target_list *targets, const build_list *list)
{
    const char *cache;
    uint64_t written = 0;
    const double begin = seconds();
    CLI_TRY(build_folder_make(&cache));
    int status = build_work(list, targets->items, targets->count, cache, cli_processes(&o->jobs));
    if (status == CLI_OK) {
        status = export_all(o, cache, &written);
    }
    build_folder_remove();
    if (status != CLI_OK) {
        return status;
    }
    struct stat facts;
    const uint64_t bytes = stat(o->output, &facts) == 0 ? (uint64_t)facts.st_size : 0;
    printf("%s: %" PRIu64 " compiled kernel%s, %s, in %.1f s\n", o->output, written,
           written == 1 ? "" : "s", cli_human_bytes(bytes), seconds() - begin);
    return CLI_OK;
}

/* The processes' cache is a folder of their own, and everything is made here: what is in another
 * pack or in a remote store is wanted in this pack as well. */
static void leave_environment(void)
{
    static const char *const names[] = {"QUERN_PACKS", "QUERN_RECORD", "QUERN_CACHE_LIMIT",
                                        "QUERN_REMOTE", "QUERN_CACHE_GROUP"};
    for (size_t k = 0; k < CLI_COUNT(names); k++) {
        unsetenv(names[k]);
    }
}

static int run(const cli_command *command, int argc, char **argv)
{
    build_options options = {0};
    target_list targets = {.count = 0};
    build_list list;
    cli_list words;
    CLI_TRY(cli_options_parse(command, &options, argc, argv, &words));
    CLI_TRY(cli_no_more_words(command, &words));
    if (!options.output) {
        return cli_usage(command->name, "where to? add --output=FILE");
    }
    CLI_TRY(read_targets(&targets, command, &options.arch));
    CLI_TRY(build_list_read(&list, words.items[0]));
    leave_environment();
    return build(&options, &targets, &list);
}

static const char *const words[] = {"KERNELS"};

const cli_command cmd_build = {
    .name = "build",
    .summary = "Compile a list of kernels for GPUs that need not be there, as a pack",
    .usage = " --arch=NAME[,NAME...] --output=FILE [OPTION...]",
    .words = words,
    .word_count = CLI_COUNT(words),
    .text = "KERNELS is a list of kernels and of the calls that a program makes of them, in TOML:\n"
            "'quern cache record' writes one from a run of the program. A program that opens the\n"
            "pack needs no NVRTC for what is in it, and no folder to write to. docs/packs.md has\n"
            "the format of the list, and tells how to put a pack into a program.\n",
    .examples = "  quern build KERNELS.toml --arch=sm_80,sm_90,compute_90 --output=app.qpack\n"
                "  QUERN_PACKS=app.qpack ./app\n",
    .options = table,
    .option_count = CLI_COUNT(table),
    .run = run,
};
