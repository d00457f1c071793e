/* SPDX-License-Identifier: MIT
 *
 * What all kernel commands do: open an engine, have the command define its kernel, bring the
 * arguments in, explain or call, read the outputs back, save, print, time.
 */
#include "files.h"

#include <stdio.h>

static int open_job(cli_job *job, const cli_command *command, const cli_job_options *options)
{
    *job = (cli_job){.command = command, .options = *options};
    job->call = (quern_call_options)QUERN_CALL_OPTIONS_INIT;
    job->launch = (quern_launch_options)QUERN_LAUNCH_OPTIONS_INIT;
    quern_options open = QUERN_OPTIONS_INIT;
    open.device = options->device;
    job->call.tune = options->tune.given;
    job->call.tune_ms = (uint32_t)options->tune.value;
    if (quern_open(&job->engine, &open) != QUERN_OK) {
        return cli_fail_library(options->device ? "--device" : NULL);
    }
    return CLI_OK;
}

static void close_job(cli_job *job)
{
    cli_parameters_free(&job->parameters);
    quern_kernel_release(job->kernel);
    quern_function_release(job->function);
    quern_close(job->engine);
}

/* quern tune computes nothing: what else asks for something instead of that is refused. */
static int check_tune(const cli_job_options *o)
{
    const char *other = o->show_source  ? "show-source"
                        : o->show_ptx   ? "show-ptx"
                        : o->explain    ? "explain"
                        : o->time.given ? "time"
                                        : NULL;
    return other ? cli_usage("tune", "quern tune does not take --%s: it prints what it measured",
                             other)
                 : CLI_OK;
}

static int run_command(const cli_command *command, int argc, char **argv, bool tunes)
{
    cli_job_options *options = cli_alloc(command->options_size);
    cli_list words;
    CLI_TRY(cli_options_parse(command, options, argc, argv, &words));
    if (tunes) {
        CLI_TRY(check_tune(options));
    }
    cli_job job;
    int status = open_job(&job, command, options);
    job.tunes = tunes;
    if (status == CLI_OK) {
        status = command->define(&job, options, &words);
    }
    close_job(&job);
    return status;
}

int cli_job_do(const cli_command *command, int argc, char **argv)
{
    return run_command(command, argc, argv, false);
}

int cli_job_tune(const cli_command *command, int argc, char **argv)
{
    return run_command(command, argc, argv, true);
}

const char *cli_identity(const char *word)
{
    return *word ? word : NULL;
}

void cli_job_axes(cli_job *job, const cli_numbers *axes)
{
    int *list = cli_alloc(sizeof *list * CLI_NUMBERS_MOST);
    for (size_t k = 0; k < axes->count; k++) {
        list[k] = (int)axes->values[k];
    }
    job->call.axes = axes->given ? list : NULL; /* none of them: --axis=() */
    job->call.axis_count = axes->count;
}

static void pack(cli_job *job, quern_value *values)
{
    for (size_t k = 0; k < job->parameters.count; k++) {
        cli_parameter *p = &job->parameters.items[k];
        if (p->allocate) {
            values[k] = quern_value_output(&p->array);
        } else if (p->array) {
            values[k] = quern_value_array(p->array);
        } else {
            values[k] = p->value.direct;
        }
    }
}

int cli_job_fail(const cli_job *job)
{
    if (job->options.show_source) {
        fputs(quern_last_error()->source, stdout);
    }
    return cli_fail_library(NULL);
}

/* Print what the compiler warned of in the snippet. */
static void warn(const cli_job *job)
{
    const char *warnings;
    if (job->kernel && !job->options.quiet &&
        quern_kernel_warnings(&warnings, job->kernel) == QUERN_OK) {
        cli_warn(warnings);
    }
}

static int explain(cli_job *job, const quern_value *values)
{
    quern_explanation *explanation;
    if (quern_explain(&explanation, job->kernel, values, job->parameters.count, &job->call) !=
        QUERN_OK) {
        return cli_job_fail(job);
    }
    warn(job);
    if (job->options.explain) {
        fputs(explanation->text, stdout);
    }
    if (job->options.show_source) {
        fputs(explanation->source, stdout);
    }
    int status = CLI_OK;
    if (job->options.show_ptx && !explanation->ptx[0]) {
        status = cli_fail("--show-ptx: the kernel is compiled to machine code of %s, without PTX; "
                          "--device=soft shows what is made of the same source",
                          explanation->target);
    } else if (job->options.show_ptx) {
        fputs(explanation->ptx, stdout);
    }
    quern_explanation_release(explanation);
    return status;
}

/* Numbers alone give an array without dimensions, but the call counts one element. */
static quern_status set_dimensions(cli_job *job, int ndim)
{
    static const int64_t one[] = {1};
    quern_status status = QUERN_OK;
    for (size_t k = 0; k < job->parameters.count && job->single && status == QUERN_OK; k++) {
        quern_array *array = job->parameters.items[k].array;
        if (array && quern_array_ndim(array) != ndim) {
            status = quern_array_reshape(&job->parameters.items[k].array, array, ndim, one);
            quern_array_release(array);
        }
    }
    return status;
}

quern_status cli_job_call(const cli_job *job, const quern_value *values)
{
    size_t count = job->parameters.count;
    return job->function ? quern_function_call_n(job->function, values, count, &job->launch)
                         : quern_call_n(job->kernel, values, count, &job->call);
}

/* --time: the same call again. The results are safe: it may change arrays that it also reads. */
static int repeat(cli_job *job, quern_value *values)
{
    const bool is_elementwise = job->command == &cmd_elementwise || job->command == &cmd_eval;
    for (size_t k = 0; k < job->parameters.count; k++) {
        cli_parameter *p = &job->parameters.items[k];
        bool decides = p->allocate && !p->raw && is_elementwise;
        if (decides) { /* the first call has made the output, which now says how many */
            job->call.loop_size = NULL;
        }
        p->allocate = false;
    }
    if (job->command == &cmd_scan && set_dimensions(job, 1) != QUERN_OK) {
        return cli_fail_library(NULL);
    }
    pack(job, values);
    return cli_time(job, values);
}

static int compute(cli_job *job, quern_value *values)
{
    cli_parameters *parameters = &job->parameters;
    cli_launch_begins(job->engine);
    bool good = cli_job_call(job, values) == QUERN_OK &&
                quern_synchronize(job->engine) == QUERN_OK && set_dimensions(job, 0) == QUERN_OK;
    cli_launch_ends();
    if (!good) {
        return cli_job_fail(job);
    }
    warn(job);
    for (size_t k = 0; job->options.quiet && k < parameters->count; k++) {
        parameters->items[k].print = false;
    }
    CLI_TRY(cli_parameters_read(parameters));
    CLI_TRY(cli_parameters_save(parameters, job->options.quiet));
    cli_parameters_print(parameters);
    if (!job->options.time.given) {
        return CLI_OK;
    }
    CLI_TRY(cli_flush());
    return repeat(job, values);
}

/* quern tune: measure, and print what was tried. */
static int tune(cli_job *job, const quern_value *values)
{
    quern_tuning *tuning;
    cli_launch_begins(job->engine);
    const quern_status status =
        quern_tune(&tuning, job->kernel, values, job->parameters.count, &job->call);
    cli_launch_ends();
    if (status != QUERN_OK) {
        return cli_job_fail(job);
    }
    warn(job);
    if (!job->options.quiet) {
        fputs(tuning->text, stdout);
    }
    quern_tuning_release(tuning);
    return CLI_OK;
}

/* A function of a module gets only addresses. */
static int check_contiguous(const cli_job *job)
{
    for (size_t k = 0; k < job->parameters.count; k++) {
        const cli_parameter *p = &job->parameters.items[k];
        if (p->array && !quern_array_is_contiguous(p->array)) {
            return cli_usage(job->command->name,
                             "%s: the elements of %s do not lie in C order without gaps, and the "
                             "kernel gets only the address of the first; if it knows the strides, "
                             "add --any-strides",
                             p->name, p->text);
        }
    }
    return CLI_OK;
}

/* Refuse to mix text and the bytes of a file on standard output. */
static int check_standard_output(const cli_job *job)
{
    const cli_parameter *printed = NULL, *written = NULL;
    for (size_t k = 0; k < job->parameters.count; k++) {
        const cli_parameter *p = &job->parameters.items[k];
        printed = p->print ? p : printed;
        written = p->value.save && cli_descriptor_of(p->value.save, true) == 1 ? p : written;
    }
    if (!printed || !written || job->options.quiet) {
        return CLI_OK;
    }
    return cli_usage(job->command->name,
                     "%s would be printed into the file that %s makes of standard output: save %s "
                     "as well, or add --quiet",
                     printed->name, written->name, printed->name);
}

int cli_job_run(cli_job *job)
{
    CLI_TRY(check_standard_output(job));
    CLI_TRY(cli_parameters_load(&job->parameters, job->engine, (uint64_t)job->options.seed.value));
    if (job->function && !job->launch.any_strides) {
        CLI_TRY(check_contiguous(job));
    }
    quern_value values[QUERN_MAX_PARAMETERS];
    pack(job, values);
    if (job->define_loaded) {
        CLI_TRY(job->define_loaded(job, values));
    }
    if (job->tunes) {
        return tune(job, values);
    }
    bool shows = job->options.show_source || job->options.show_ptx || job->options.explain;
    if (job->kernel && shows) {
        CLI_TRY(explain(job, values));
        CLI_TRY(cli_flush());
    }
    return shows && !job->options.time.given ? CLI_OK : compute(job, values);
}

int cli_job_ask(cli_job *job, const cli_list *words)
{
    const cli_command *command = job->command;
    if (!cli_parameters_ask(&job->parameters, job->kernel)) {
        return cli_fail_library(NULL);
    }
    for (size_t k = 2; k < command->word_count; k++) {
        /* if a word was left out, an argument has taken its place */
        if (cli_parameters_is_assignment(&job->parameters, words->items[k])) {
            return cli_usage(command->name, "%s is missing before \"%s\": quern %s%s%s",
                             command->words[k], words->items[k], command->name,
                             cli_command_words(command), command->usage);
        }
    }
    return CLI_OK;
}

static int assign(cli_job *job, const cli_list *words)
{
    const cli_command *command = job->command;
    size_t used = command->word_count;
    const cli_list assignments = {words->items + used, words->count - used};
    return cli_parameters_assign(&job->parameters, command->name, &assignments);
}

/* Whether an array among the arguments says how many elements there are. */
static bool has_shape(const cli_job *job)
{
    bool found = false;
    for (size_t k = 0; k < job->parameters.count; k++) {
        const cli_parameter *p = &job->parameters.items[k];
        found |= !p->raw && !p->allocate && p->value.kind != CLI_VALUE_DIRECT;
    }
    return found;
}

/* Whether the arguments are all numbers, so that nothing can be counted. */
static bool is_single(const cli_job *job)
{
    bool numbers = false, others = false;
    for (size_t k = 0; k < job->parameters.count; k++) {
        const cli_parameter *p = &job->parameters.items[k];
        bool number = !p->allocate && p->value.kind == CLI_VALUE_DIRECT;
        numbers |= number;
        others |= !number && (p->raw || !p->allocate);
    }
    return numbers && !others;
}

int cli_job_run_snippet(cli_job *job, const cli_list *words, const cli_number *size)
{
    CLI_TRY(assign(job, words));
    job->single = !size->given && is_single(job);
    if (job->single) {
        job->loop_size = 1;
        job->call.loop_size = &job->loop_size;
        return cli_job_run(job);
    }
    if (!size->given && !has_shape(job)) {
        return cli_usage(job->command->name, "nothing says how many elements there are: add "
                                             "--size=N, or pass an array that is not raw");
    }
    job->loop_size = size->value;
    job->call.loop_size = size->given ? &job->loop_size : NULL;
    return cli_job_run(job);
}
