/* SPDX-License-Identifier: MIT
 *
 * quern cache push: what this machine has compiled, to the remote store.
 */
#include "cache_commands.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>

typedef struct push_options {
    const char *key;
} push_options;

static int print_kernel(void *context, const quern_fleet_report *report, const char *key,
                        const char *name)
{
    (void)context, (void)report;
    printf("%s %s\n", key, name);
    return 0;
}

static int push(quern_engine *engine, const void *given, const cli_list *none)
{
    (void)none;
    quern_fleet_report r = QUERN_FLEET_REPORT_INIT;
    const push_options *o = given;
    if (quern_cache_push(&r, engine, o->key, print_kernel, NULL) != QUERN_OK) {
        return cli_fail_library(NULL);
    }
    fprintf(stderr, "%" PRIu64 " sent, %" PRIu64 " there already", r.sent, r.had);
    if (r.left >
        0) { /* damaged, linked where only recipes are shared, or not taken: the log says */
        fprintf(stderr, ", %" PRIu64 " left out", r.left);
    }
    fputs("\n", stderr);
    return CLI_OK;
}

static const cli_option options[] = {
    {"key", "DIGITS", "only the kernels whose keys begin so", CLI_TEXT,
     offsetof(push_options, key)},
};

static int run(const cli_command *command, int argc, char **argv)
{
    push_options given = {0};
    return cli_cache_do(command, &given, argc, argv, push);
}

const cli_command cache_push = {
    .name = "cache push",
    .summary = "Write all of them to the remote store, and print their list",
    .usage = " [--key=DIGITS]",
    .text = "QUERN_REMOTE says where the store is, QUERN_REMOTE_SIGN with which key to sign. The "
            "list, a key and\na name on each line, is what 'quern prewarm' and 'quern cache pull' "
            "take.\n",
    .options = options,
    .option_count = CLI_COUNT(options),
    .run = run,
};
