/* SPDX-License-Identifier: MIT
 *
 * quern scan: for each element the combination of all up to it, also called a prefix sum.
 */
#include "cli.h"

typedef struct scan_options {
    cli_job_options job;
    cli_numbers axis;
    int exclusive;
    const char *scan_type, *preamble, *name;
    cli_list options;
    cli_number size;
} scan_options;

#define FIELD(field) offsetof(scan_options, field)

static const cli_option table[] = {
    {"axis", "A", "the axis; negative: from the end (default: all elements in C order)",
     CLI_NUMBERS, FIELD(axis), INT32_MIN, INT32_MAX, 1},
    {"exclusive", NULL, "leave the element itself out of its value; needs an IDENTITY", CLI_FLAG,
     FIELD(exclusive)},
    {"scan-type", "TYPE", "C++ type of a and b (default: the type of the first output)", CLI_CODE,
     FIELD(scan_type)},
    {"preamble", "CODE", "device code before the kernel: functions, types", CLI_CODE,
     FIELD(preamble)},
    {"name", "NAME", "name of the kernel in profilers and messages", CLI_TEXT, FIELD(name)},
    CLI_COMPILER_OPTIONS(scan_options),
    {"size", "N", "number of elements, when all arrays are raw", CLI_NUMBER, FIELD(size)},
    CLI_SNIPPET_OPTIONS(scan_options),
    CLI_JOB_OPTIONS(scan_options),
};

static const char *const words_needed[] = {"IN", "OUT", "MAP", "SCAN", "POST", "IDENTITY"};

static const char text[] =
    "MAP       makes a value of each element: an expression of the inputs, such as x\n"
    "SCAN      combines two values a and b, in the order of the axis: a + b, max(a, b)\n"
    "POST      statements for each element, with a the combination of all up to it: y = a; inputs\n"
    "          and raw outputs are there too: if (x > 0) out[a - 1] = x\n"
    "IDENTITY  the value that an axis starts from: 0; '' for none\n"
    "MAP and SCAN may also be statements that end in: return VALUE;\n"
    "To scan from the end, pass views with a negative step: x='x.npy[::-1]'.\n";

static const char examples[] =
    "  quern scan 'T x' 'T y' x 'a + b' 'y = a' '' x=arange:int64:10\n"
    "  quern scan 'T x' 'T y' x 'a + b' 'y = a' 0 x=a.npy y=starts.npy --axis=1 --exclusive\n"
    "  quern scan 'T x' 'raw T out' 'x > 0.5' 'a + b' 'if (x > 0.5) out[a - 1] = x' 0 \\\n"
    "      --scan-type=int x=random:float64:8 out=zeros:float64:8:-\n";

static int define(cli_job *job, const void *context, const cli_list *words)
{
    const scan_options *options = context;
    quern_scan_options kernel = QUERN_SCAN_OPTIONS_INIT;
    kernel.exclusive = (uint32_t)options->exclusive;
    kernel.name = options->name;
    kernel.preamble = options->preamble;
    kernel.scan_type = options->scan_type;
    kernel.options = options->options.items;
    kernel.option_count = options->options.count;
    const char *const *w = words->items;
    if (quern_scan(&job->kernel, job->engine, w[0], w[1], w[2], w[3], w[4], cli_identity(w[5]),
                   &kernel) != QUERN_OK) {
        return cli_fail_library(NULL);
    }
    CLI_TRY(cli_job_ask(job, words));
    cli_job_axes(job, &options->axis);
    return cli_job_run_snippet(job, words, &options->size);
}

const cli_command cmd_scan = {
    .name = "scan",
    .summary = "Combine the elements up to each: prefix sums, running extremes",
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
    .options_size = sizeof(scan_options),
    .define = define,
};
