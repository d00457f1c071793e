/* SPDX-License-Identifier: MIT
 *
 * The command `quern`: finds the subcommand and runs it. In: arguments. Out: what the subcommand
 * prints and writes; exit status 0, or 1 for a failure of any kind.
 */
#include "files.h"

#include <signal.h>
#include <string.h>

/* --help anywhere, or -h at either end; between them -h is an option unless code is expected
 * there. */
static bool asks_for_help(int argc, char **argv)
{
    for (int k = 0; k < argc && strcmp(argv[k], "--") != 0; k++) {
        bool at_an_end = k == 0 || k == argc - 1;
        if (strcmp(argv[k], "--help") == 0 || (at_an_end && strcmp(argv[k], "-h") == 0)) {
            return true;
        }
    }
    return false;
}

static int run(int argc, char **argv)
{
    if (argc < 2) {
        return cli_usage(NULL, "no command was given");
    }
    const char *name = argv[1];
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) {
        name = "help";
    } else if (strcmp(name, "--version") == 0 || strcmp(name, "-v") == 0 ||
               strcmp(name, "-V") == 0) {
        name = "version";
    }
    const cli_command *command = cli_command_find(name);
    if (!command) {
        return cli_unknown_command(name);
    }
    if (asks_for_help(argc - 2, argv + 2)) {
        const cli_command *part = cli_command_part(command, argv[2]);
        cli_command_help(part ? part : command);
        return CLI_OK;
    }
    return command->run(command, argc - 2, argv + 2);
}

int main(int argc, char **argv)
{
    cli_descriptors_note();
    signal(SIGXFSZ, SIG_IGN); /* a file that grows too large is a failed write with a message */
    cli_interrupt_install();
    int status = run(argc, argv);
    if (status == CLI_OK || status == CLI_HELPED) {
        status = cli_flush();
    }
    cli_free_all();
    return status;
}
