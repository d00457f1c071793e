/* SPDX-License-Identifier: MIT
 *
 * quern reduce: a value for each element, combined along axes.
 */
#include "cli.h"

typedef struct reduce_options {
    cli_job_options job;
    cli_numbers axis;
    int keepdims, ordered;
    const char *reduce_type, *preamble, *name;
    cli_list options;
    cli_number size;
} reduce_options;

#define FIELD(field) offsetof(reduce_options, field)

static const cli_option table[] = {
    {"axis", "A[,B...]", "axes to reduce; negative: from the end (default: all)", CLI_NUMBERS,
     FIELD(axis), INT32_MIN, INT32_MAX, CLI_NUMBERS_MOST},
    {"keepdims", NULL, "keep the reduced axes, with extent 1", CLI_FLAG, FIELD(keepdims)},
    {"reduce-type", "TYPE", "C++ type of a and b (default: the type of the first output)", CLI_CODE,
     FIELD(reduce_type)},
    {"ordered", NULL, "REDUCE is not commutative: keep the order of the elements", CLI_FLAG,
     FIELD(ordered)},
    {"preamble", "CODE", "device code before the kernel: functions, types", CLI_CODE,
     FIELD(preamble)},
    {"name", "NAME", "name of the kernel in profilers and messages", CLI_TEXT, FIELD(name)},
    CLI_COMPILER_OPTIONS(reduce_options),
    {"size", "N", "number of elements, when all arrays are raw", CLI_NUMBER, FIELD(size)},
    CLI_TUNE_OPTION(reduce_options),
    CLI_SNIPPET_OPTIONS(reduce_options),
    CLI_JOB_OPTIONS(reduce_options),
};

static const char *const words_needed[] = {"IN", "OUT", "MAP", "REDUCE", "POST", "IDENTITY"};

static const char text[] =
    "MAP       makes a value of each element: an expression of the inputs, such as x * x; _J is\n"
    "          the position along the reduced axes, _in_ind.get()[k] that along axis k\n"
    "REDUCE    combines two values a and b, in any order: a + b, max(a, b)\n"
    "POST      statements that assign the outputs from the last value a: y = sqrt(a)\n"
    "IDENTITY  the value that an output starts from: 0; '' for none, and then from its first\n"
    "          element\n"
    "MAP and REDUCE may also be statements that end in: return VALUE;\n";

static const char examples[] =
    "  quern reduce 'T x' 'T y' x 'a + b' 'y = a' 0 x=arange:int64:3x4 --axis=1\n"
    "  quern reduce 'T x' 'T y' 'x * x' 'a + b' 'y = sqrt(a)' 0 x=a.npy y=norm.npy --keepdims\n"
    "  quern reduce 'T x, T w' 'T y' 'x * w' 'a + b' 'y = a' 0 x=a.npy.T w='b.npy[0]'\n"
    "  quern reduce 'T x' 'T y' x 'max(a, b)' 'y = a' '' x=random:float32:1000\n";

static int define(cli_job *job, const void *context, const cli_list *words)
{
    const reduce_options *options = context;
    quern_reduction_options kernel = QUERN_REDUCTION_OPTIONS_INIT;
    kernel.ordered = (uint32_t)options->ordered;
    kernel.name = options->name;
    kernel.preamble = options->preamble;
    kernel.reduce_type = options->reduce_type;
    kernel.options = options->options.items;
    kernel.option_count = options->options.count;
    const char *const *w = words->items;
    if (quern_reduction(&job->kernel, job->engine, w[0], w[1], w[2], w[3], w[4], cli_identity(w[5]),
                        &kernel) != QUERN_OK) {
        return cli_fail_library(NULL);
    }
    CLI_TRY(cli_job_ask(job, words));
    job->call.keepdims = (uint32_t)options->keepdims;
    cli_job_axes(job, &options->axis);
    return cli_job_run_snippet(job, words, &options->size);
}

const cli_command cmd_reduce = {
    .name = "reduce",
    .summary = "Combine the elements of arrays along axes: sums, norms, extremes",
    .usage = " [NAME=VALUE...] [OPTION...]",
    .words = words_needed,
    .word_count = CLI_COUNT(words_needed),
    .text = text,
    .signature = cli_signature_help,
    .values = cli_value_help,
    .examples = examples,
    .options = table,
    .option_count = CLI_COUNT(table),
    .run = cli_job_do,
    .options_size = sizeof(reduce_options),
    .define = define,
};
