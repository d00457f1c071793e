/* SPDX-License-Identifier: MIT
 *
 * The command `quern`: what its files offer each other, with a banner for each. It uses only the
 * public header. A function that can fail prints one message and returns
 * the exit status (CLI_OK, CLI_FAILURE); the parsers of user text, which are also fuzzed, print
 * nothing and describe what is wrong in a cli_problem.
 */
#ifndef QUERN_CLI_H
#define QUERN_CLI_H

#include "views.h"

#include <quern/quern.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CLI_PRINTF(text, first) __attribute__((format(printf, text, first)))
#define CLI_COUNT(array)        (sizeof(array) / sizeof((array)[0]))

/* Exit statuses; functions that can fail return one. */
enum { CLI_OK = 0, CLI_FAILURE = 1, CLI_HELPED = -1 /* help was printed: nothing more to do */ };

/* Pass a failure upward: its message is already printed. */
#define CLI_TRY(call)                                                                              \
    do {                                                                                           \
        int cli_try_status = (call);                                                               \
        if (cli_try_status != CLI_OK) {                                                            \
            return cli_try_status;                                                                 \
        }                                                                                          \
    } while (0)

/* ---- out_of_memory.c ------------------------------------------------------------------------ */

/* Zeroed memory that lives until the command ends. Does not return when there is none. */
void *cli_alloc(size_t size);
char *cli_strdup(const char *text);
char *cli_strndup(const char *text, size_t length);
char *cli_sprintf(const char *format, ...) CLI_PRINTF(1, 2);
/* Free everything that cli_alloc gave. */
void cli_free_all(void);

bool cli_begins_with(const char *text, const char *lead);

/* For data of arrays: NULL when there is not enough. */
void *cli_data_new(size_t size);
void *cli_data_grow(void *data, size_t size); /* frees `data` when it cannot */
void cli_data_free(void *data);

/* ---- message.c ------------------------------------------------------------------------------ */

/* Print "quern: error: ..." and return CLI_FAILURE. */
int cli_fail(const char *format, ...) CLI_PRINTF(1, 2);
/* The same, ending with a pointer to the help of `command` (NULL: the general one); CLI_FAILURE. */
int cli_usage(const char *command, const char *format, ...) CLI_PRINTF(2, 3);
/* The library's last failure; `about` (may be NULL) says what it was about. CLI_FAILURE. */
int cli_fail_library(const char *about);
/* Print the compiler's warnings, whole lines from the library. */
void cli_warn(const char *warnings);
/* Make sure that what was printed has reached standard output. */
int cli_flush(void);

/* What is wrong with a text of the user, and the bytes [begin, end) of it that are wrong. */
typedef struct cli_problem {
    char text[480];
    size_t begin, end;
} cli_problem;

/* Describe a problem; returns false, so that parsers can end with it. */
bool cli_problem_set(cli_problem *problem, size_t begin, size_t end, const char *format, ...)
    CLI_PRINTF(4, 5);
/* Print a problem of argument `name` with a caret under its place in `text`, which stood after
 * `lead` ("x=", or "") in what the user typed. CLI_FAILURE. */
int cli_fail_problem(const char *name, const char *lead, const char *text,
                     const cli_problem *problem);
/* The same, ending with a pointer to the help of `command`. */
int cli_usage_problem(const char *command, const char *name, const char *lead, const char *text,
                      const cli_problem *problem);

/* The candidate that `word` may be a slip for, or NULL. */
const char *cli_nearest(const char *word, const char *const *candidates, size_t count);
/* "; did you mean \"x\"?", or "" when there is nothing near. Lives until the command ends. */
const char *cli_did_you_mean(const char *word, const char *const *candidates, size_t count);
/* The names of all dtypes; *count says how many. */
const char *const *cli_dtype_names(size_t *count);

/* ---- command_options.c ---------------------------------------------------------------------- */

typedef enum cli_option_kind {
    CLI_FLAG,     /* int: 1 when given */
    CLI_CODE,     /* const char *: code or a type, or @FILE with it */
    CLI_TEXT,     /* const char *: the last one given */
    CLI_LIST,     /* cli_list: all that were given, in order */
    CLI_WORDS,    /* cli_list: as above, each split into words as a shell would */
    CLI_NUMBER,   /* cli_number */
    CLI_COUNT_OF, /* cli_number, which may be left out: --name or --name=N */
    CLI_NUMBERS,  /* cli_numbers: separated by commas, in parentheses or not; () for none */
    CLI_TRUTH,    /* cli_number: 1 for True, 0 for False */
} cli_option_kind;

typedef struct cli_list {
    const char **items;
    size_t count;
} cli_list;

typedef struct cli_number {
    int64_t value;
    bool given;
} cli_number;

#define CLI_NUMBERS_MOST QUERN_MAX_NDIM
typedef struct cli_numbers {
    int64_t values[CLI_NUMBERS_MOST];
    size_t count;
    bool given;
} cli_numbers;

/* One line of a command's table of options: parsed by it, and printed from it as help. */
typedef struct cli_option {
    const char *name;  /* without the dashes */
    const char *value; /* what the help calls its value; NULL for a flag */
    const char *help;
    cli_option_kind kind;
    size_t offset;       /* of the field in the command's own structure */
    int64_t least, most; /* the smallest and the largest number allowed; `most` 0: any */
    size_t room;         /* how many numbers a list may have */
} cli_option;

typedef struct cli_command cli_command;
typedef struct cli_job cli_job;
struct cli_command {
    const char *name;
    const char *summary;      /* one line of the general help */
    const char *usage;        /* what follows "quern NAME" and its `words` */
    const char *const *words; /* the words that it needs, by their names in the help */
    size_t word_count;
    const char *text;           /* paragraphs of its own help; NULL for none */
    const char *signature;      /* what its IN and OUT are, as cli_signature_help; NULL for none */
    const char *values;         /* what its arguments may be, as cli_value_help; NULL for none */
    const char *examples;       /* whole command lines; NULL for none */
    const char *const *choices; /* what its first word may be; NULL if not one of a list */
    size_t choice_count;
    const cli_command *const *parts; /* the commands in it, one for each of the choices */
    const cli_option *options;
    size_t option_count;
    int (*run)(const cli_command *command, int argc, char **argv);
    /* For the kernel commands, whose `run` is cli_job_do: the size of their own structure of
     * options, which begins with a cli_job_options, and the function that defines the kernel and
     * runs it. */
    size_t options_size;
    int (*define)(cli_job *job, const void *options, const cli_list *words);
};

/* Parse the arguments after the command's name: options into the structure `into`, and all other
 * words, in order, into *words. There are then at least as many as the command needs. */
int cli_options_parse(const cli_command *command, void *into, int argc, char **argv,
                      cli_list *words);
/* Refuse words beyond those that the command needs. */
int cli_no_more_words(const cli_command *command, const cli_list *words);
/* Split `text` into words by the rules of a shell's quotes. */
bool cli_split_words(cli_list *words, const char *text, cli_problem *problem);

/* ---- text_file.c ---------------------------------------------------------------------------- */

/* Read the text that *text names when it is "@FILE"; `name` is what the library calls it. */
int cli_text_read(const char **text, const char *command, const char *name);
/* A message of the library in which the texts that came from files have the names of those
 * files. */
const char *cli_text_name_files(const char *message);

/* ---- help.c --------------------------------------------------------------------------------- */

/* The help of one command. */
void cli_command_help(const cli_command *command);
/* " IN OUT OPERATION": the words that a command needs. */
const char *cli_command_words(const cli_command *command);
/* What IN and OUT are, and what NAME=VALUE may be. */
extern const char cli_signature_help[], cli_value_help[];

/* ---- commands.c ----------------------------------------------------------------------------- */

/* All commands, in the order of the help. */
extern const cli_command *const cli_commands[];
extern const size_t cli_command_count;
const cli_command *cli_command_find(const char *name);
/* The message about a word that is not a command; CLI_FAILURE. */
int cli_unknown_command(const char *name);
/* The command in `command` that `word` (may be NULL) names; NULL when there is none. */
const cli_command *cli_command_part(const cli_command *command, const char *word);

extern const cli_command cmd_elementwise, cmd_reduce, cmd_scan, cmd_eval, cmd_raw, cmd_tune,
    cmd_build, cmd_prewarm, cmd_cache, cmd_devices, cmd_doctor, cmd_help, cmd_version,
    cmd_completion;

/* ---- number.c ------------------------------------------------------------------------------- */

/* True when `text` looks like a number or truth value, well-formed or not. */
bool cli_looks_like_number(const char *text);
/* A number as the value of an argument: a literal when `dtype` is QUERN_DTYPE_NONE, else a scalar
 * of that dtype, which must hold it. */
bool cli_number_parse(quern_value *out, const char *text, quern_dtype dtype, cli_problem *problem);
/* Whether an element of `dtype` can hold the number, rounded (downwards if the dtype is an
 * integer). */
bool cli_number_fits(double value, quern_dtype dtype);

/* ---- element.c ------------------------------------------------------------------------------ */

bool cli_is_complex(quern_dtype dtype);
bool cli_is_whole(quern_dtype dtype); /* bool and the integers */
bool cli_is_small(quern_dtype dtype); /* floats of 16 and of 8 bits */
bool cli_is_record(quern_dtype dtype);
/* Write an element of an array: a float or complex one from its parts, rounded; a bool or an
 * integer from the low bytes of `bits`. */
void cli_element_store(void *to, quern_dtype dtype, double real, double imag, uint64_t bits);
/* The dtype of NumPy's name of one without its byte order, "f4"; QUERN_DTYPE_NONE, also of "V2". */
quern_dtype cli_dtype_of_code(const char *code);
/* Small floats as their 16 or 8 bits; what they consist of is in elements.h. */
struct cli_small cli_small_of(quern_dtype dtype);
double cli_small_to_double(uint16_t bits, quern_dtype dtype);
/* To nearest, ties to even. A finite number that is too large for 8 bits becomes the largest. */
uint16_t cli_small_from_double(double value, quern_dtype dtype);
double cli_small_load(const void *from, quern_dtype dtype); /* an element of an array */

/* ---- value.c -------------------------------------------------------------------------------- */

typedef enum cli_value_kind {
    CLI_VALUE_FILE,
    CLI_VALUE_GENERATOR,
    CLI_VALUE_DIRECT, /* not an array: a number or, for a raw kernel, a structure or null */
} cli_value_kind;

/* The text after `NAME=`, taken apart. */
typedef struct cli_value {
    cli_value_kind kind;
    char *path;              /* of a file */
    char *member;            /* of an archive; NULL for its only one */
    cli_generator generator; /* of a generator */
    quern_value direct;      /* what is passed if it is not an array */
    cli_view view;           /* of a file or generator */
    char *save;              /* the file to save to; NULL when there is none */
    char *save_member;       /* of an archive */
    bool print;              /* ":-" takes the place of a file to save to */
} cli_value;

bool cli_value_parse(cli_value *out, const char *text, cli_problem *problem);

/* ---- structure.c ---------------------------------------------------------------------------- */

/* True when `text` is what only a raw kernel takes: struct:..., bytes:... or null. */
bool cli_is_structure(const char *text);
/* Parse it. What it holds lives until the command ends. */
bool cli_structure_parse(quern_value *out, const char *text, cli_problem *problem);

/* ---- print_number.c ------------------------------------------------------------------------- */

/* The fewest decimal digits that tell a number from its neighbours: 0.d1d2d3... x 10^point. */
typedef struct cli_digits {
    char digits[24];
    int count;
    int point;
} cli_digits;
void cli_shortest(cli_digits *out, double magnitude, quern_dtype dtype);

#define CLI_NUMBER_TEXT 400
/* A float on its own, as NumPy prints a scalar. */
void cli_scalar_text(char *out, double value, quern_dtype dtype, bool one_zero);

/* How a column of floats is printed: filled by cli_float_format_choose, used by cli_float_text. */
typedef struct cli_float_format {
    quern_dtype dtype;
    bool scientific, plus;
    int left, right, precision, exponent_digits;
} cli_float_format;
/* Choose the format for `count` values, `stride` doubles apart. */
void cli_float_format_choose(cli_float_format *out, const double *values, size_t count,
                             size_t stride, quern_dtype dtype, bool plus);
void cli_float_text(char *out, const cli_float_format *format, double value);

/* ---- print_element.c ------------------------------------------------------------------------ */

/* How the elements of an array are printed, so that all are as wide. */
typedef struct cli_column {
    quern_dtype dtype;
    int width; /* of an integer */
    cli_float_format real, imag;
    struct cli_column *fields; /* of a record */
} cli_column;
/* Choose it for `count` elements; false: not enough memory. */
bool cli_column_choose(cli_column *out, quern_dtype dtype, const char *const *elements,
                       size_t count);
/* The bytes that the text of an element may take. */
size_t cli_column_room(quern_dtype dtype);
void cli_column_text(char *out, const cli_column *column, const char *p);
/* An element on its own, as NumPy prints a scalar. */
void cli_element_text(char *out, quern_dtype dtype, const void *data);

/* ---- print_array.c -------------------------------------------------------------------------- */

/* Print an array in C order as NumPy prints it, after `label`. */
void cli_print_array(const char *label, quern_dtype dtype, int ndim, const int64_t *shape,
                     const void *data);

/* ---- parameters.c --------------------------------------------------------------------------- */

/* One parameter of a kernel with the argument that the user gave for it. */
typedef struct cli_parameter {
    const char *name;
    quern_dtype dtype; /* QUERN_DTYPE_NONE when it is a letter, or not known */
    bool output, raw;
    const char *lead; /* what precedes the value: "x=", or "" */
    const char *text; /* the value; NULL when left out */
    cli_value value;
    bool allocate;      /* an output that the call allocates */
    bool print;         /* an output that is printed */
    size_t archive;     /* of an output that goes into one: the first output that does */
    quern_array *array; /* what the kernel gets */
    void *result;       /* the output's data on the host */
    size_t bytes;
} cli_parameter;

typedef struct cli_parameters {
    cli_parameter items[QUERN_MAX_PARAMETERS];
    size_t count;
} cli_parameters;

/* Add one, of any dtype. */
cli_parameter *cli_parameters_add(cli_parameters *parameters, const char *name);
/* Add the parameters of a kernel. False when the library failed. */
bool cli_parameters_ask(cli_parameters *parameters, quern_kernel *kernel);
/* Whether `word` reads INPUT=VALUE, which no code does. */
bool cli_parameters_is_assignment(const cli_parameters *parameters, const char *word);
/* Give the NAME=VALUE words to their parameters, and decide what happens to each output. */
int cli_parameters_assign(cli_parameters *parameters, const char *command, const cli_list *words);
/* The parameters of a raw kernel, which have no names: a VALUE word for each, in order. */
int cli_parameters_in_order(cli_parameters *parameters, const char *command, const cli_list *words);

/* ---- load_file.c ---------------------------------------------------------------------------- */

/* Bring the arguments to the device. */
int cli_parameters_load(cli_parameters *parameters, quern_engine *engine, uint64_t seed);
/* Copy the outputs back to the host. */
int cli_parameters_read(cli_parameters *parameters);
/* Write the files that were asked for; `quiet` leaves out notes about them. */
int cli_parameters_save(const cli_parameters *parameters, bool quiet);
/* Print the outputs that nothing was said about. */
void cli_parameters_print(const cli_parameters *parameters);
void cli_parameters_free(cli_parameters *parameters);

/* ---- human.c -------------------------------------------------------------------------------- */

/* "12.5 MiB"; the text lives until the command ends. */
const char *cli_human_bytes(uint64_t bytes);
/* "2026-03-01 14:05", local time. */
const char *cli_human_time(int64_t seconds);

/* ---- json.c: an object with a member on each line ------------------------------------------- */

typedef struct cli_json {
    size_t members;
} cli_json;

void cli_json_text(cli_json *json, const char *name, const char *text);
void cli_json_number(cli_json *json, const char *name, uint64_t number);
void cli_json_real(cli_json *json, const char *name, double number);
void cli_json_end(cli_json *json);

/* ---- job.c: what all kernel commands do ----------------------------------------------------- */

typedef struct cli_job_options {
    const char *device;
    cli_number seed;
    int show_source, show_ptx, explain, quiet;
    cli_number time; /* how many runs; 0: chosen */
    cli_number tune; /* for how many milliseconds; 0: chosen */
} cli_job_options;

/* The lines of the option table that all kernel commands share; `type` has a field `job`. */
#define CLI_JOB_OPTIONS(type)                                                                      \
    {"device", "NAME",                                                                             \
     "auto, cuda, cuda:1, cuda:UUID, soft, or soft:4,limit=10 (threads, seconds)", CLI_TEXT,       \
     offsetof(type, job.device)},                                                                  \
        {"seed", "N", "choose the numbers of random:... (default 0)", CLI_NUMBER,                  \
         offsetof(type, job.seed)},                                                                \
        {"show-source", NULL, "print the CUDA source instead of computing", CLI_FLAG,              \
         offsetof(type, job.show_source)},                                                         \
        {"explain", NULL, "print what would run, and what it takes, instead of computing",         \
         CLI_FLAG, offsetof(type, job.explain)},                                                   \
        {"time",                                                                                   \
         "N",                                                                                      \
         "repeat the call (N times) and print its device time on standard error",                  \
         CLI_COUNT_OF,                                                                             \
         offsetof(type, job.time),                                                                 \
         1,                                                                                        \
         1000000},                                                                                 \
    {                                                                                              \
        "quiet", NULL, "print neither outputs nor the compiler's warnings", CLI_FLAG,              \
            offsetof(type, job.quiet)                                                              \
    }

/* The line of the kernels that have something to choose. */
#define CLI_TUNE_OPTION(type)                                                                      \
    {                                                                                              \
        "tune", "MS", "launch as was measured to be the fastest; measure once, for MS (2000)",     \
            CLI_COUNT_OF, offsetof(type, job.tune), 1, 1000000                                     \
    }

/* The line that the commands of snippets have in addition. */
#define CLI_SNIPPET_OPTIONS(type)                                                                  \
    {                                                                                              \
        "show-ptx", NULL, "print the PTX instead of computing", CLI_FLAG,                          \
            offsetof(type, job.show_ptx)                                                           \
    }

/* The lines about NVRTC's options; `type` has a cli_list `options`. */
#define CLI_COMPILER_OPTIONS(type)                                                                 \
    {"option", "OPTION", "one more NVRTC option, such as -DN=3; may be repeated", CLI_LIST,        \
     offsetof(type, options)},                                                                     \
    {                                                                                              \
        "options", "OPTIONS", "several of them, split as a shell splits words", CLI_WORDS,         \
            offsetof(type, options)                                                                \
    }

/* A kernel with its arguments: of a snippet, or a function of a module. */
struct cli_job {
    const cli_command *command;
    cli_job_options options;
    quern_engine *engine;
    cli_parameters parameters;
    quern_kernel *kernel; /* NULL where there is a function */
    /* Defines the kernel once the arguments are loaded; NULL where that was done before. */
    int (*define_loaded)(cli_job *job, const quern_value *values);
    const void *context; /* of that function */
    bool single;         /* all arguments are numbers: outputs have no dimensions */
    bool tunes;          /* measure instead of computing */
    quern_call_options call;
    int64_t loop_size; /**< that `call` points to */
    quern_function *function;
    quern_launch_options launch;
};

/* A kernel command from its arguments to its end. */
int cli_job_do(const cli_command *command, int argc, char **argv);
/* The same, but tune the kernel instead of calling it. */
int cli_job_tune(const cli_command *command, int argc, char **argv);
/* The identity that the word says; NULL for none. */
const char *cli_identity(const char *word);
/* Reduce or scan along these axes; along all when there are none. */
void cli_job_axes(cli_job *job, const cli_numbers *axes);
/* Load the arguments that the parameters were given, and do what the options ask for. */
int cli_job_run(cli_job *job);
/* Once a snippet is defined: ask it for its parameters, and check that no word was left out. */
int cli_job_ask(cli_job *job, const cli_list *words);
/* The same for a snippet: the arguments of its parameters are the words that the command did not
 * need itself; `size` is that of --size. */
int cli_job_run_snippet(cli_job *job, const cli_list *words, const cli_number *size);
/* The library's failure; with --show-source also the source that did not compile. CLI_FAILURE. */
int cli_job_fail(const cli_job *job);
/* Queue one call. */
quern_status cli_job_call(const cli_job *job, const quern_value *values);

/* ---- explain_raw.c: --explain and --show-source of raw kernels ------------------------------ */

/* Print what is known of the job's function, which the user calls `name`. */
int cli_explain_function(const cli_job *job, const char *name);
/* Print a file of source or PTX. */
int cli_show_file(const char *path);

/* ---- timing.c ------------------------------------------------------------------------------- */

/* Repeat the call and print the line of --time. */
int cli_time(const cli_job *job, const quern_value *values);

#endif /* QUERN_CLI_H */
