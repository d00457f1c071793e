/* SPDX-License-Identifier: MIT
 *
 * What 'quern prewarm' and 'quern cache pull' share: a list of kernels in a file, a whole key at
 * the beginning of each line, as 'quern cache push' prints it; and what came of them.
 */
#include "fleet_lists.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define KEY_DIGITS 32

/* The keys in a text. */
static int read_keys(cli_list *out, const char *command, const char *file, const char *text)
{
    size_t lines = 1;
    for (const char *c = text; *c; c++) {
        lines += *c == '\n';
    }
    out->items = cli_alloc(lines * sizeof *out->items);
    for (size_t number = 1; *text; number++) {
        const size_t length = strcspn(text, "\n"), lead = strspn(text, " \t\r");
        const char *line = text + lead;
        text += length + (text[length] == '\n');
        if (lead >= length || *line == '#') {
            continue;
        }
        const size_t digits = strspn(line, "0123456789abcdef");
        if (digits != KEY_DIGITS || !strchr(" \t\r\n", line[digits])) {
            return cli_usage(command,
                             "%s, line %zu: \"%.*s\" is not a key, which has 32 hexadecimal "
                             "digits; 'quern cache push' prints a list of them",
                             file, number, (int)strcspn(line, " \t\r\n"), line);
        }
        out->items[out->count++] = cli_strndup(line, KEY_DIGITS);
    }
    return CLI_OK;
}

static int show_progress(void *context, const quern_fleet_report *r, const char *key,
                         const char *name)
{
    (void)context;
    const uint64_t done = r->had + r->received + r->compiled + r->left;
    fprintf(stderr, "\r%" PRIu64 " of %" PRIu64 ": %.12s %-40.40s%s", done, r->wanted, key, name,
            done == r->wanted ? "\n" : "");
    return 0;
}

static const char *kernels(uint64_t count)
{
    return cli_sprintf("%" PRIu64 " %s", count, count == 1 ? "kernel" : "kernels");
}

int cli_prewarm(const cli_command *command, int argc, char **argv, bool only_receive)
{
    cli_prewarm_options given = {0};
    cli_list words, keys = {0};
    CLI_TRY(cli_options_parse(command, &given, argc, argv, &words));
    if (words.count > command->word_count) {
        return cli_usage(command->name, "quern %s does not take \"%s\"", command->name,
                         words.items[command->word_count]);
    }
    const char *text = cli_sprintf("@%s", words.items[0]);
    CLI_TRY(cli_text_read(&text, command->name, "LIST"));
    CLI_TRY(read_keys(&keys, command->name, words.items[0], text));
    quern_options with = QUERN_OPTIONS_INIT;
    with.device = given.device;
    quern_engine *engine;
    if (quern_open(&engine, &with) != QUERN_OK) {
        return cli_fail_library(given.device ? "--device" : NULL);
    }
    quern_prewarm_options options = QUERN_PREWARM_OPTIONS_INIT;
    quern_fleet_report r = QUERN_FLEET_REPORT_INIT;
    options.only_receive = only_receive;
    options.progress = isatty(STDERR_FILENO) == 1 ? show_progress : NULL;
    int status = quern_prewarm(&r, engine, keys.items, keys.count, &options) == QUERN_OK
                     ? CLI_OK
                     : cli_fail_library(NULL);
    quern_close(engine);
    if (status != CLI_OK) {
        return status;
    }
    printf("%s: %" PRIu64 " here already, %" PRIu64 " received, %" PRIu64 " compiled\n",
           kernels(r.wanted), r.had, r.received, r.compiled);
    return r.left == 0 ? CLI_OK
                       : cli_fail("%s could not be had%s", kernels(r.left),
                                  only_receive ? "; 'quern prewarm' compiles what is missing" : "");
}
