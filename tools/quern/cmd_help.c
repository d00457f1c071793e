/* SPDX-License-Identifier: MIT
 *
 * quern help: all commands, or one.
 */
#include "cli.h"

#include <stdio.h>

static void general_help(void)
{
    puts("usage: quern COMMAND [ARGUMENT...]\n"
         "\n"
         "Runs C-like snippets as GPU kernels over NumPy files; without a GPU, on the CPU.\n"
         "\n"
         "  quern elementwise 'T x, T y' 'T z' 'z = (x - y) * (x - y)' x=a.npy y=2.5 z=out.npy\n"
         "\n"
         "commands:");
    for (size_t k = 0; k < cli_command_count; k++) {
        printf("  %-12s %s\n", cli_commands[k]->name, cli_commands[k]->summary);
    }
    puts("\n"
         "environment:\n"
         "  QUERN_DEVICE         auto, cuda, cuda:1, cuda:UUID, soft, or soft:4,limit=10 (threads, "
         "seconds)\n"
         "  QUERN_CACHE_DIR      folder of the compiled kernels, or off\n"
         "  QUERN_CACHE_LIMIT    bytes that they may take, such as 2G\n"
         "  QUERN_CACHE_GROUP    a group that may share the folder\n"
         "  QUERN_NVRTC          path of the NVRTC library\n"
         "  QUERN_NVJITLINK      path of nvJitLink, which links modules\n"
         "  QUERN_CUDADEVRT      path of libcudadevrt.a, for kernels that launch kernels\n"
         "  QUERN_CUDA           path of the CUDA driver library\n"
         "  QUERN_NVRTC_CACHE    0: NVRTC keeps no cache of its own\n"
         "  QUERN_PCH            0: no precompiled headers\n"
         "  QUERN_PACKS          packs of compiled kernels, with : between them\n"
         "  QUERN_RECORD         file in which to list kernels, for 'quern build'\n"
         "  QUERN_REMOTE         a store that machines share, such as redis://HOST; 'man quern' "
         "and\n"
         "                       docs/fleet.md have QUERN_REMOTE_TRUST and others of its kind\n"
         "  QUERN_LOG            error, warn, info or debug\n"
         "\n"
         "'quern help COMMAND' explains one command.");
}

static int run(const cli_command *command, int argc, char **argv)
{
    cli_list words;
    CLI_TRY(cli_options_parse(command, NULL, argc, argv, &words));
    if (words.count == 0) {
        general_help();
        return CLI_OK;
    }
    const cli_command *about = cli_command_find(words.items[0]);
    if (!about) {
        return cli_unknown_command(words.items[0]);
    }
    const cli_command *part = cli_command_part(about, words.count > 1 ? words.items[1] : NULL);
    size_t taken = 1 + (part != NULL);
    if (words.count > taken) {
        return cli_usage(NULL, "help takes one command, not \"%s\" too", words.items[taken]);
    }
    about = part ? part : about;
    cli_command_help(about);
    return CLI_OK;
}

const cli_command cmd_help = {
    .name = "help",
    .summary = "Explain the commands, or one of them",
    .usage = " [COMMAND]",
    .run = run,
};
