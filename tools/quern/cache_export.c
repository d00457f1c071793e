/* SPDX-License-Identifier: MIT
 *
 * quern cache export: compiled kernels as a pack, a file that programs are shipped with.
 */
#include "cache_commands.h"

#include <inttypes.h>
#include <stdio.h>

typedef struct export_options {
    const char *output, *key;
    cli_number level;
    int without_source;
} export_options;

#define FIELD(field) offsetof(export_options, field)

static const cli_option table[] = {
    {"output", "FILE", "the pack to write; -o FILE is the same", CLI_TEXT, FIELD(output)},
    {"key", "DIGITS", "only kernels whose key begins so (default: all)", CLI_TEXT, FIELD(key)},
    CLI_PACK_OPTIONS(export_options),
};

static int write_pack(quern_engine *engine, const void *context, const cli_list *none)
{
    const export_options *o = context;
    quern_export_options options = QUERN_EXPORT_OPTIONS_INIT;
    uint64_t written;
    (void)none;
    options.key_prefix = o->key;
    options.without_source = (uint32_t)o->without_source;
    options.level = cli_pack_level(&o->level);
    if (quern_cache_export(&written, engine, o->output, &options) != QUERN_OK) {
        return cli_fail_library(NULL);
    }
    printf("%s: %" PRIu64 " compiled kernel%s\n", o->output, written, written == 1 ? "" : "s");
    return CLI_OK;
}

static int run(const cli_command *command, int argc, char **argv)
{
    export_options options = {0};
    cli_list words;
    CLI_TRY(cli_cache_parse(command, &options, argc, argv, &words));
    if (!options.output) {
        return cli_usage(command->name, "where to? add --output=FILE");
    }
    return cli_cache_run(write_pack, &options, &words);
}

const cli_command cache_export = {
    .name = "cache export",
    .summary = "Write compiled kernels to a pack, to be shipped with a program",
    .usage = " --output=FILE [OPTION...]",
    .text = "A program opens the pack with quern_options.packs or QUERN_PACKS=FILE; then it needs\n"
            "neither NVRTC nor a cache. docs/packs.md tells more.\n",
    .options = table,
    .option_count = CLI_COUNT(table),
    .run = run,
};
