/* SPDX-License-Identifier: MIT
 *
 * quern elementwise: a snippet that runs for every element of its broadcast operands.
 */
#include "cli.h"

typedef struct elementwise_options {
    cli_job_options job;
    const char *preamble, *loop_prep, *after_loop, *name;
    cli_list options;
    cli_number size, block_size, reduce_dims;
} elementwise_options;

#define FIELD(field) offsetof(elementwise_options, field)

static const cli_option table[] = {
    {"preamble", "CODE", "device code before the kernel: functions, types", CLI_CODE,
     FIELD(preamble)},
    {"loop-prep", "CODE", "statements before the loop over the elements", CLI_CODE,
     FIELD(loop_prep)},
    {"after-loop", "CODE", "statements after the loop over the elements", CLI_CODE,
     FIELD(after_loop)},
    CLI_COMPILER_OPTIONS(elementwise_options),
    {"size", "N", "number of elements, when all arrays are raw", CLI_NUMBER, FIELD(size)},
    {"name", "NAME", "name of the kernel in profilers and messages", CLI_TEXT, FIELD(name)},
    {"reduce-dims", "True|False", "join dimensions where strides allow it (default True)",
     CLI_TRUTH, FIELD(reduce_dims)},
    {"block-size", "N", "threads of a block (default: chosen)", CLI_NUMBER, FIELD(block_size), 1,
     UINT32_MAX},
    CLI_TUNE_OPTION(elementwise_options),
    CLI_SNIPPET_OPTIONS(elementwise_options),
    CLI_JOB_OPTIONS(elementwise_options),
};

static const char *const words_needed[] = {"IN", "OUT", "OPERATION"};

static const char examples[] =
    "  quern elementwise 'T x, T y' 'T z' 'z = (x - y) * (x - y)' x=a.npy y='b.npy[::-1]' z=c.npy\n"
    "  quern elementwise 'float32 x' 'float32 y' 'y = sqrtf(x)' x=arange:float32:10\n";

/* Define the kernel and give its parameters their arguments. */
static int define(cli_job *job, const void *context, const cli_list *words)
{
    const elementwise_options *options = context;
    quern_kernel_options kernel = QUERN_KERNEL_OPTIONS_INIT;
    kernel.name = options->name;
    kernel.preamble = options->preamble;
    kernel.loop_prep = options->loop_prep;
    kernel.after_loop = options->after_loop;
    kernel.options = options->options.items;
    kernel.option_count = options->options.count;
    kernel.separate_axes = options->reduce_dims.given && !options->reduce_dims.value;
    const char *in = words->items[0], *out = words->items[1], *operation = words->items[2];
    if (quern_elementwise(&job->kernel, job->engine, in, out, operation, &kernel) != QUERN_OK) {
        return cli_fail_library(NULL);
    }
    CLI_TRY(cli_job_ask(job, words));
    job->call.block_size = (uint32_t)options->block_size.value;
    return cli_job_run_snippet(job, words, &options->size);
}

const cli_command cmd_elementwise = {
    .name = "elementwise",
    .summary = "Run a snippet for every element of its arrays",
    .usage = " [NAME=VALUE...] [OPTION...]",
    .words = words_needed,
    .word_count = CLI_COUNT(words_needed),
    .signature = cli_signature_help,
    .values = cli_value_help,
    .examples = examples,
    .options = table,
    .option_count = CLI_COUNT(table),
    .run = cli_job_do,
    .options_size = sizeof(elementwise_options),
    .define = define,
};
