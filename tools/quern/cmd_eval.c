/* SPDX-License-Identifier: MIT
 *
 * quern eval: an expression over its broadcast operands, whose types decide that of the result. The
 * thing to know: the kernel is defined when the arguments are loaded, because files have their
 * dtypes in them.
 */
#include "cli.h"

#include <string.h>

#define RESULT "result" /* the name of the output */

typedef struct eval_options {
    cli_job_options job;
    const char *dtype;
    cli_list options;
    const char *name, *expression; /* the second is no option: it is for define_loaded() */
} eval_options;

#define FIELD(field) offsetof(eval_options, field)

static const cli_option table[] = {
    {"dtype", "DTYPE", "dtype of the result (default: as NumPy's rules say)", CLI_TEXT,
     FIELD(dtype)},
    CLI_COMPILER_OPTIONS(eval_options),
    {"name", "NAME", "name of the kernel in profilers and messages", CLI_TEXT, FIELD(name)},
    CLI_TUNE_OPTION(eval_options),
    CLI_SNIPPET_OPTIONS(eval_options),
    CLI_JOB_OPTIONS(eval_options),
};

static const char *const words_needed[] = {"EXPRESSION"};

static const char text[] =
    "EXPRESSION is in the manner of C, with ** and // of Python; each name in it is given a "
    "value.\n"
    "Every operation has the dtype and the meaning that NumPy gives it; a number widens no array.\n"
    "Functions: sqrt cbrt exp exp2 expm1 log log2 log10 log1p sin cos tan asin acos atan atan2 "
    "sinh\n"
    "cosh tanh asinh acosh atanh hypot pow copysign fmod abs fabs sign floor ceil trunc rint "
    "round\n"
    "min max clip fmin fmax where isnan isinf isfinite signbit real imag conj; float32(x) and "
    "other\n"
    "dtypes convert. The output is called result.\n";

static const char examples[] =
    "  quern eval 'sqrt(x*x + y*y)' x=a.npy y='b.npy[::-1]' result=c.npy\n"
    "  quern eval 'clip(n / 2, low, 1)' n=arange:int16:5 low=0.25\n";

static int fail_dtype(const char *dtype)
{
    return cli_usage(cmd_eval.name, "--dtype: there is no dtype \"%s\"", dtype);
}

/* Define the kernel by the dtypes that the arguments have. */
static int define_loaded(cli_job *job, const quern_value *values)
{
    const eval_options *options = job->context;
    const char *names[QUERN_MAX_PARAMETERS];
    size_t count = job->parameters.count - 1; /* the last one is the output */
    quern_expression_options o = QUERN_EXPRESSION_OPTIONS_INIT;
    for (size_t k = 0; k < count; k++) {
        names[k] = job->parameters.items[k].name;
    }
    if (options->dtype) {
        o.dtype = (int32_t)quern_dtype_from_name(options->dtype);
        if (o.dtype == QUERN_DTYPE_NONE) {
            return fail_dtype(options->dtype);
        }
    } else if (values[count].kind == QUERN_VALUE_ARRAY) { /* which the user has made */
        o.dtype = (int32_t)quern_array_dtype(values[count].as.array);
    }
    o.name = options->name;
    o.options = options->options.items;
    o.option_count = options->options.count;
    if (quern_expression(&job->kernel, job->engine, options->expression, names, values, count,
                         &o) != QUERN_OK) {
        return cli_fail_library(NULL);
    }
    return CLI_OK;
}

static bool is_known(const cli_parameters *parameters, const char *name)
{
    for (size_t k = 0; k < parameters->count; k++) {
        if (strcmp(parameters->items[k].name, name) == 0) {
            return true;
        }
    }
    return false;
}

/* The parameters are the names that are given values, and the result. */
static int add_parameters(cli_job *job, const cli_list *words)
{
    cli_parameters *parameters = &job->parameters;
    for (size_t k = 1; k < words->count; k++) {
        const char *word = words->items[k], *equals = strchr(word, '=');
        if (!equals || equals == word) {
            return cli_usage(job->command->name, "\"%s\" is not of the form NAME=VALUE", word);
        }
        const char *name = cli_strndup(word, (size_t)(equals - word));
        if (strcmp(name, RESULT) == 0 || is_known(parameters, name)) {
            continue; /* what is wrong with it is found when it is given its value */
        }
        if (parameters->count == QUERN_MAX_PARAMETERS - 1) {
            return cli_usage(job->command->name, "more than the %d values that can be given",
                             QUERN_MAX_PARAMETERS - 1);
        }
        /* two-byte void elements of a file are taken as bfloat16 */
        cli_parameters_add(parameters, name)->dtype = QUERN_BFLOAT16;
    }
    cli_parameters_add(parameters, RESULT)->output = true;
    return CLI_OK;
}

static int define(cli_job *job, const void *context, const cli_list *words)
{
    const cli_number no_size = {0};
    eval_options *options = cli_alloc(sizeof *options);
    *options = *(const eval_options *)context;
    options->expression = words->items[0];
    job->context = options;
    job->define_loaded = define_loaded;
    CLI_TRY(add_parameters(job, words));
    if (job->parameters.count == 1) { /* no value: the expression says what is missing */
        const quern_value none = {0};
        return define_loaded(job, &none);
    }
    return cli_job_run_snippet(job, words, &no_size);
}

const cli_command cmd_eval = {
    .name = "eval",
    .summary = "Compute an expression, with NumPy's types",
    .usage = " [NAME=VALUE...] [OPTION...]",
    .words = words_needed,
    .word_count = CLI_COUNT(words_needed),
    .text = text,
    .values = cli_value_help,
    .examples = examples,
    .options = table,
    .option_count = CLI_COUNT(table),
    .run = cli_job_do,
    .options_size = sizeof(eval_options),
    .define = define,
};
