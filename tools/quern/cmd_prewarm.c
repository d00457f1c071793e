/* SPDX-License-Identifier: MIT
 *
 * quern prewarm: a list of kernels, compiled by a whole fleet, each kernel by one machine of it.
 */
#include "fleet_lists.h"

#include <stddef.h>

static const char *const words[] = {"LIST"};

static const cli_option options[] = {
    {"device", "DEVICE", "for which to compile (default: QUERN_DEVICE, else auto)", CLI_TEXT,
     offsetof(cli_prewarm_options, device)},
};

static int run(const cli_command *command, int argc, char **argv)
{
    return cli_prewarm(command, argc, argv, false);
}

const cli_command cmd_prewarm = {
    .name = "prewarm",
    .summary = "Fill the cache with the kernels of a list, before they are needed",
    .usage = " [--device=DEVICE]",
    .words = words,
    .word_count = CLI_COUNT(words),
    .text =
        "LIST is a file (- for standard input) with a key at the beginning of each line, as "
        "'quern cache\npush' prints it. What the remote store of QUERN_REMOTE has is taken from "
        "there; the rest is compiled\nfrom its recipe, which lies there or in this machine's "
        "cache, and written there. Run it on all\nmachines of a fleet at once: together they "
        "compile each kernel once. What was made for another GPU\nis made for this one.\n",
    .options = options,
    .option_count = CLI_COUNT(options),
    .run = run,
};
