/* SPDX-License-Identifier: MIT
 *
 * quern raw: a CUDA kernel as it is, from source or from an image, launched with a grid.
 */
#include "cli.h"

#include <string.h>

typedef struct raw_options {
    cli_job_options job;
    const char *kernel;
    cli_numbers grid, block, cluster;
    cli_number shared;
    int cooperative, any_strides, translate_cucomplex;
    cli_list options;
} raw_options;

#define FIELD(field) offsetof(raw_options, field)

static const cli_option table[] = {
    {"kernel", "NAME", "its name, or an instance of a template: 'scale<double, 3>'", CLI_TEXT,
     FIELD(kernel)},
    {"grid", "X[,Y[,Z]]", "how many blocks", CLI_NUMBERS, FIELD(grid), 1, UINT32_MAX, 3},
    {"block", "X[,Y[,Z]]", "threads of a block", CLI_NUMBERS, FIELD(block), 1, UINT32_MAX, 3},
    {"shared", "BYTES", "dynamic shared memory of a block", CLI_NUMBER, FIELD(shared), 0,
     UINT32_MAX},
    {"cooperative", NULL, "all blocks run at once, so that they may wait for each other", CLI_FLAG,
     FIELD(cooperative)},
    {"cluster", "X[,Y[,Z]]", "blocks of a cluster", CLI_NUMBERS, FIELD(cluster), 1, UINT32_MAX, 3},
    {"any-strides", NULL, "the kernel knows the strides: pass views that have gaps", CLI_FLAG,
     FIELD(any_strides)},
    {"translate-cucomplex", NULL, "<cuComplex.h> gives complex numbers with operators", CLI_FLAG,
     FIELD(translate_cucomplex)},
    CLI_COMPILER_OPTIONS(raw_options),
    CLI_JOB_OPTIONS(raw_options),
};

static const char *const words_needed[] = {"FILE"};

static const char text[] =
    "FILE is CUDA source (.cu), or compiled: .ptx, .cubin, .fatbin. VALUEs are the parameters of\n"
    "the kernel, in order; their number and sizes are checked against it.\n";

static const char values[] =
    "VALUE:\n"
    "  x.npy                  the address of an array, with a view in NumPy's syntax: x.npy[2:]\n"
    "  KIND:DTYPE:SHAPE       one that is generated: empty, zeros, ones, arange or random, such "
    "as\n"
    "                         zeros:int32:64; also with a view\n"
    "  IN[VIEW]:out.npy       either of these, saved when the kernel is done\n"
    "  IN[VIEW]:-             the same, printed\n"
    "  int32:100, float32:2   a number; its type has to be stated\n"
    "  struct:T:N,T:N...      a structure or vector by value, laid out as C does:\n"
    "                         struct:float32:1,float32:2,int32:7\n"
    "  bytes:0000803f         by value, byte for byte\n"
    "  null                   a null pointer\n"
    "\n"
    "With --show-source or --explain nothing is computed, and only FILE and --kernel are needed.\n"
    "--time saves and prints what the first launch computes, and then repeats it on the same "
    "arrays.\n"
    "Put what has < > ( ) [ ] * or & into quotes.\n";

static const char examples[] =
    "  quern raw saxpy.cu --kernel saxpy --grid 4 --block 256 \\\n"
    "      float32:2 x.npy y.npy empty:float32:1000:z.npy int32:1000\n"
    "  quern raw k.cu --kernel 'scale<double, 3>' --grid 2 --block 64 \\\n"
    "      arange:float64:100 empty:float64:100:- int32:100\n";

/* Whether this is a name, maybe with its namespaces; else it is an expression, such as an instance
 * of a template. */
static bool is_name(const char *kernel)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                  "0123456789_$:";
    return kernel[strspn(kernel, letters)] == 0;
}

static void set_extents(uint32_t out[3], const cli_numbers *extents)
{
    for (size_t k = 0; k < extents->count; k++) {
        out[k] = (uint32_t)extents->values[k];
    }
}

static int set_launch(cli_job *job, const raw_options *options)
{
    const char *command = job->command->name;
    bool shows = options->job.show_source || options->job.explain;
    bool launches = !shows || options->job.time.given;
    if (!options->kernel) {
        return cli_usage(command, "which kernel of the file? add --kernel=NAME");
    }
    if (launches && options->grid.count == 0) {
        return cli_usage(command, "how many blocks? add --grid=X, --grid=X,Y or --grid=X,Y,Z");
    }
    if (launches && options->block.count == 0) {
        return cli_usage(command, "how many threads has a block? add --block=X, --block=X,Y or "
                                  "--block=X,Y,Z");
    }
    set_extents(job->launch.grid, &options->grid);
    set_extents(job->launch.block, &options->block);
    set_extents(job->launch.cluster, &options->cluster);
    job->launch.shared_bytes = (uint32_t)options->shared.value;
    job->launch.cooperative = (uint32_t)options->cooperative;
    job->launch.any_strides = (uint32_t)options->any_strides;
    return CLI_OK;
}

static int open_function(cli_job *job, const raw_options *options, const char *path)
{
    quern_module_options compile = QUERN_MODULE_OPTIONS_INIT;
    compile.options = options->options.items;
    compile.option_count = options->options.count;
    compile.expressions = &options->kernel;
    compile.expression_count = !is_name(options->kernel);
    compile.translate_cucomplex = (uint32_t)options->translate_cucomplex;
    quern_module *module;
    if (quern_module_open(&module, job->engine, path, &compile) != QUERN_OK) {
        return cli_job_fail(job);
    }
    const char *warnings;
    if (!options->job.quiet && quern_module_warnings(&warnings, module) == QUERN_OK) {
        cli_warn(warnings);
    }
    quern_status status = quern_module_function(&job->function, module, options->kernel);
    quern_module_release(module); /* the function keeps it */
    return status == QUERN_OK ? CLI_OK : cli_fail_library(NULL);
}

static int define(cli_job *job, const void *context, const cli_list *words)
{
    const raw_options *options = context;
    const char *path = words->items[0];
    const cli_list arguments = {words->items + 1, words->count - 1};
    CLI_TRY(set_launch(job, options));
    CLI_TRY(cli_parameters_in_order(&job->parameters, job->command->name, &arguments));
    CLI_TRY(open_function(job, options, path));
    if (options->job.explain) {
        CLI_TRY(cli_explain_function(job, options->kernel));
    }
    if (options->job.show_source) {
        CLI_TRY(cli_show_file(path));
    }
    bool shows = options->job.explain || options->job.show_source;
    return shows && !options->job.time.given ? CLI_OK : cli_job_run(job);
}

const cli_command cmd_raw = {
    .name = "raw",
    .summary = "Launch a CUDA kernel of your own, from source or compiled",
    .usage = " --kernel=NAME --grid=X[,Y[,Z]] --block=X[,Y[,Z]] [VALUE...] [OPTION...]",
    .words = words_needed,
    .word_count = CLI_COUNT(words_needed),
    .text = text,
    .values = values,
    .examples = examples,
    .options = table,
    .option_count = CLI_COUNT(table),
    .run = cli_job_do,
    .options_size = sizeof(raw_options),
    .define = define,
};
