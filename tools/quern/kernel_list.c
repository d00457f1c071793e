/* SPDX-License-Identifier: MIT
 *
 * What 'quern prewarm' and 'quern cache pull' share: a list of kernels in a file, a whole key at
 * the beginning of each line, as 'quern cache push' prints it; and what came of them. In: a path.
 * Out: the keys; kernels that were received.
 */
#include "cache_commands.h"

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

const char *cli_kernels(uint64_t count)
{
    return cli_sprintf("%" PRIu64 " %s", count, count == 1 ? "kernel" : "kernels");
}

int cli_keys_read(cli_list *out, const char *command, const char *path)
{
    const char *text = cli_sprintf("@%s", path);
    *out = (cli_list){0};
    CLI_TRY(cli_text_read(&text, command, "LIST"));
    return read_keys(out, command, path, text);
}

int cli_keys_report(const quern_fleet_report *r, const char *advice)
{
    printf("%s: %" PRIu64 " here already, %" PRIu64 " received, %" PRIu64 " compiled\n",
           cli_kernels(r->wanted), r->had, r->received, r->compiled);
    return r->left == 0 ? CLI_OK : cli_fail("%s could not be had%s", cli_kernels(r->left), advice);
}

int cli_pull(const char *device, const cli_list *keys)
{
    quern_options with = QUERN_OPTIONS_INIT;
    quern_engine *engine;
    with.device = device;
    if (quern_open(&engine, &with) != QUERN_OK) {
        return cli_fail_library(device ? "--device" : NULL);
    }
    quern_prewarm_options options = QUERN_PREWARM_OPTIONS_INIT;
    quern_fleet_report r = QUERN_FLEET_REPORT_INIT;
    options.only_receive = 1;
    options.progress = isatty(STDERR_FILENO) == 1 ? show_progress : NULL;
    int status = quern_prewarm(&r, engine, keys->items, keys->count, &options) == QUERN_OK
                     ? CLI_OK
                     : cli_fail_library(NULL);
    quern_close(engine);
    return status == CLI_OK ? cli_keys_report(&r, "; 'quern prewarm' compiles what is missing")
                            : status;
}
