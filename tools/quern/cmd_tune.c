/* SPDX-License-Identifier: MIT
 *
 * quern tune: measures how a kernel is launched best, and keeps that for calls with --tune. In: the
 * words and options of a kernel command. Out: what was tried and how long each took; no output is
 * computed.
 */
#include "cli.h"

static const char *const names[] = {"elementwise", "reduce", "eval"};
static const cli_command *const parts[] = {&cmd_elementwise, &cmd_reduce, &cmd_eval};

static int run(const cli_command *command, int argc, char **argv)
{
    if (argc == 0) {
        return cli_usage(command->name, "say what to tune: elementwise, reduce or eval, and its "
                                        "arguments");
    }
    const cli_command *part = cli_command_part(command, argv[0]);
    if (!part) {
        return cli_usage(command->name,
                         "\"%s\" has nothing to tune; elementwise, reduce and eval "
                         "have%s",
                         argv[0], cli_did_you_mean(argv[0], names, CLI_COUNT(names)));
    }
    return cli_job_tune(part, argc - 1, argv + 1);
}

const cli_command cmd_tune = {
    .name = "tune",
    .summary = "Measure how a kernel is launched best, and keep that",
    .usage = " elementwise|reduce|eval ARGUMENT... [--tune=MS]",
    .text =
        "The arguments are those of the kernel command; their values do not matter, but their\n"
        "dtypes, shapes and strides do. The kernel runs many times, on copies of its outputs, for\n"
        "about two seconds (--tune=MS says how many milliseconds). What was fastest is kept in "
        "the\n"
        "cache for this kernel, device, layout and size; calls with --tune use it. It changes how\n"
        "long a call takes, never what it computes.\n",
    .examples =
        "  quern tune elementwise 'T x, T y' 'T z' 'z = x * y' x=random:float32:4096x4096 \\\n"
        "      y=random:float32:4096x4096.T\n",
    .choices = names,
    .parts = parts,
    .choice_count = CLI_COUNT(names),
    .run = run,
};
