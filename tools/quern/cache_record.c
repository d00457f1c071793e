/* SPDX-License-Identifier: MIT
 *
 * quern cache record: runs a program and notes the kernels that it asks for. In: a command line.
 * Out: a list of kernels, as 'quern build' takes it. The library does the noting (QUERN_RECORD).
 */
#include "cache_commands.h"
#include "files.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct record_options {
    const char *output;
} record_options;

static const cli_option table[] = {
    {"output", "FILE", "the list to write, or to add to (default: KERNELS.toml)", CLI_TEXT,
     offsetof(record_options, output)},
};

/* The same file from wherever the program goes. */
static const char *whole_path(const char *path)
{
    char *here = path[0] == '/' ? NULL : getcwd(NULL, 0);
    const char *whole = here ? cli_sprintf("%s/%s", here, path) : path;
    free(here);
    return whole;
}

static int run(const cli_command *command, int argc, char **argv)
{
    record_options options = {0};
    cli_list words;
    int own = 0; /* words before the program, which has options of its own */
    while (own < argc && strcmp(argv[own], "--") != 0) {
        own++;
    }
    char **program = argv + own + 1;
    if (own + 1 >= argc) {
        return cli_usage(
            command->name, "%s quern cache record [--output=FILE] -- PROGRAM [ARGUMENT...]",
            own == argc && argc > 0 ? "-- is missing before the program:" : "which program?");
    }
    CLI_TRY(cli_options_parse(command, &options, own, argv, &words));
    CLI_TRY(cli_no_more_words(command, &words));
    const char *path = whole_path(options.output ? options.output : "KERNELS.toml");
    setenv("QUERN_RECORD", path, 1);
    cli_signals_as_before();
    execvp(program[0], program);
    return cli_fail_errno(NULL, "run", program[0]);
}

const cli_command cache_record = {
    .name = "cache record",
    .summary = "Run a program and list the kernels that it asks for",
    .usage = " [--output=FILE] -- PROGRAM [ARGUMENT...]",
    .text = "The list is for 'quern build'. Kernels that are in it already stay as they are, so "
            "that\n"
            "several runs can add to one list. QUERN_RECORD=FILE does the same without this "
            "command.\n",
    .options = table,
    .option_count = CLI_COUNT(table),
    .run = run,
};
