/* SPDX-License-Identifier: MIT
 *
 * One call of a list of kernels, made on an engine that only compiles. In: the definition and what
 * the arguments are. Out: an image in the engine's cache. The thing to know: the arrays have
 * addresses, of which the alignment matters, but no memory.
 */
#include "build.h"

#include <string.h>
#include <sys/mman.h>

static const char *text_of(const toml_table *table, const char *key)
{
    const toml_value *value = toml_find(table, key);
    return value ? value->text : NULL;
}

static int64_t number_of(const toml_table *table, const char *key)
{
    const toml_value *value = toml_find(table, key);
    return value ? value->number : 0;
}

static const char *const *texts_of(const toml_table *table, const char *key, size_t *count)
{
    const toml_value *value = toml_find(table, key);
    *count = value ? value->count : 0;
    const char **texts = cli_alloc((*count + 1) * sizeof *texts);
    for (size_t k = 0; k < *count; k++) {
        texts[k] = value->items[k].text;
    }
    return texts;
}

/* "" where the list has nothing: a definition needs it. */
static const char *needed(const toml_table *table, const char *key)
{
    const char *text = text_of(table, key);
    return text ? text : "";
}

/* ---- definitions ---------------------------------------------------------------------------- */

static quern_status define_reduction(quern_kernel **out, quern_engine *engine, const toml_table *t)
{
    quern_reduction_options o = QUERN_REDUCTION_OPTIONS_INIT;
    o.ordered = (uint32_t)number_of(t, "ordered");
    o.name = text_of(t, "name");
    o.preamble = text_of(t, "preamble");
    o.reduce_type = text_of(t, "reduce_type");
    o.options = texts_of(t, "options", &o.option_count);
    return quern_reduction(out, engine, needed(t, "in"), needed(t, "out"), text_of(t, "map"),
                           text_of(t, "reduce"), text_of(t, "post"), text_of(t, "identity"), &o);
}

static quern_status define_scan(quern_kernel **out, quern_engine *engine, const toml_table *t)
{
    quern_scan_options o = QUERN_SCAN_OPTIONS_INIT;
    o.exclusive = (uint32_t)number_of(t, "exclusive");
    o.name = text_of(t, "name");
    o.preamble = text_of(t, "preamble");
    o.scan_type = text_of(t, "scan_type");
    o.options = texts_of(t, "options", &o.option_count);
    return quern_scan(out, engine, needed(t, "in"), needed(t, "out"), text_of(t, "map"),
                      text_of(t, "scan"), text_of(t, "post"), text_of(t, "identity"), &o);
}

static quern_status define_elementwise(quern_kernel **out, quern_engine *engine,
                                       const toml_table *t)
{
    quern_kernel_options o = QUERN_KERNEL_OPTIONS_INIT;
    o.separate_axes = (uint32_t)number_of(t, "separate_axes");
    o.name = text_of(t, "name");
    o.preamble = text_of(t, "preamble");
    o.loop_prep = text_of(t, "loop_prep");
    o.after_loop = text_of(t, "after_loop");
    o.options = texts_of(t, "options", &o.option_count);
    return quern_elementwise(out, engine, needed(t, "in"), needed(t, "out"), needed(t, "operation"),
                             &o);
}

static quern_status define(quern_kernel **out, quern_engine *engine, const toml_table *t)
{
    const char *kind = text_of(t, "kind");
    if (kind && strcmp(kind, "reduction") == 0) {
        return define_reduction(out, engine, t);
    }
    return kind && strcmp(kind, "scan") == 0 ? define_scan(out, engine, t)
                                             : define_elementwise(out, engine, t);
}

/* ---- arguments ------------------------------------------------------------------------------ */

/* Addresses that an array may have. */
typedef struct span {
    char *data;
    size_t bytes;
} span;

typedef struct arguments {
    quern_value values[QUERN_MAX_PARAMETERS];
    quern_array *arrays[QUERN_MAX_PARAMETERS];
    span spans[QUERN_MAX_PARAMETERS];
    size_t count;
} arguments;

static void release(arguments *a)
{
    for (size_t k = 0; k < QUERN_MAX_PARAMETERS; k++) { /* also of the one that failed */
        quern_array_release(a->arrays[k]);
        if (a->spans[k].bytes > 0) {
            munmap(a->spans[k].data, a->spans[k].bytes);
        }
    }
}

/* C order, where nothing else is said. */
static void complete_strides(build_argument *argument)
{
    int64_t bytes = (int64_t)quern_dtype_size(argument->dtype);
    for (int k = argument->ndim - 1; !argument->strided && k >= 0; k--) {
        argument->strides[k] = bytes;
        if (argument->shape[k] > 0 && __builtin_mul_overflow(bytes, argument->shape[k], &bytes)) {
            bytes = INT64_MAX;
        }
    }
}

/* How far an array reaches before and behind its first element. */
static bool reach_of(const build_argument *argument, int64_t *before, int64_t *behind)
{
    *before = 0;
    *behind = (int64_t)quern_dtype_size(argument->dtype);
    for (int k = 0; k < argument->ndim; k++) {
        int64_t way;
        const int64_t steps = argument->shape[k] > 0 ? argument->shape[k] - 1 : 0;
        if (__builtin_mul_overflow(steps, argument->strides[k], &way) || way == INT64_MIN) {
            return false;
        }
        int64_t *side = way < 0 ? before : behind;
        if (__builtin_add_overflow(*side, way < 0 ? -way : way, side)) {
            return false;
        }
    }
    return *before < INT64_C(1) << 46 && *behind < INT64_C(1) << 46;
}

/* Addresses for an array that has none of another. */
static char *reserve(span *own, const build_argument *argument, int64_t before, int64_t behind)
{
    const int64_t aligned = 4096, lead = (before + aligned - 1) / aligned * aligned;
    const size_t bytes = (size_t)(lead + behind + argument->at + aligned);
    char *data = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (data == MAP_FAILED) {
        return NULL;
    }
    *own = (span){data, bytes};
    return data + lead + argument->at;
}

/* NULL, or why there is no such array. */
static const char *add_array(arguments *a, quern_engine *engine, build_argument *argument)
{
    int64_t before, behind;
    char *first;
    complete_strides(argument);
    if (!reach_of(argument, &before, &behind)) {
        return "it reaches too far";
    }
    if (argument->same < 0) {
        first = reserve(&a->spans[a->count], argument, before, behind);
    } else if (a->arrays[argument->same]) {
        first = quern_array_pointer(a->arrays[argument->same]);
    } else {
        return "the argument whose memory it is to have is no array";
    }
    if (!first) {
        return "there are no addresses for it";
    }
    quern_array *array;
    if (quern_array_wrap(&array, engine, argument->dtype, argument->ndim, argument->shape,
                         argument->strides, first, NULL, NULL) != QUERN_OK) {
        return quern_last_error()->message;
    }
    a->arrays[a->count] = array;
    a->values[a->count] = quern_value_array(array);
    return NULL;
}

static quern_value number(quern_dtype dtype)
{
    const bool complex = dtype == QUERN_COMPLEX64 || dtype == QUERN_COMPLEX128;
    quern_value value = {.kind = QUERN_VALUE_SCALAR, .dtype = (int32_t)dtype};
    if (complex) {
        return quern_scalar_complex(dtype, 0, 0);
    }
    return value; /* all kinds of zero are zero bits */
}

static int make_arguments(arguments *a, const build_list *list, const toml_table *call,
                          quern_engine *engine)
{
    const toml_value *texts = toml_find(call, "arguments");
    for (size_t k = 0; k < texts->count; k++) {
        build_argument argument;
        cli_problem problem;
        if (!build_argument_parse(&argument, texts->items[k].text, &problem)) {
            return build_list_fail(list, texts->items[k].place, "%s", problem.text);
        }
        if (argument.array) {
            const char *why = add_array(a, engine, &argument);
            if (why) {
                return build_list_fail(list, texts->items[k].place, "no array can be so: %s: %s",
                                       texts->items[k].text, why);
            }
        } else if (argument.dtype != QUERN_DTYPE_NONE) {
            a->values[k] = number(argument.dtype);
        }
        a->count++;
    }
    return CLI_OK;
}

/* ---- the whole ------------------------------------------------------------------------------ */

static int fail(const build_list *list, const toml_table *table)
{
    return build_list_fail(list, table->place, "%s", quern_last_error()->message);
}

static int call_kernel(const build_list *list, quern_kernel *kernel, const toml_table *call,
                       arguments *a, const build_target *wanted)
{
    quern_call_options o = QUERN_CALL_OPTIONS_INIT;
    const toml_value *axes = toml_find(call, "axes"), *size = toml_find(call, "loop_size");
    int numbers[QUERN_MAX_NDIM];
    for (size_t k = 0; axes && k < axes->count; k++) {
        numbers[k] = (int)axes->items[k].number;
    }
    o.axes = axes ? numbers : NULL;
    o.axis_count = axes ? axes->count : 0;
    o.loop_size = size ? &size->number : NULL;
    o.block_size = (uint32_t)number_of(call, "block_size");
    o.keepdims = (uint32_t)number_of(call, "keepdims");
    quern_explanation *explanation;
    if (quern_explain(&explanation, kernel, a->values, a->count, &o) != QUERN_OK) {
        return fail(list, call);
    }
    const char *target = cli_strdup(explanation->target);
    quern_explanation_release(explanation);
    if (wanted->arch != 0 && *target && strcmp(target, wanted->name) != 0) {
        return cli_fail("this NVRTC cannot compile for %s, only for %s; 'quern doctor' says which "
                        "NVRTC is used",
                        wanted->name, target);
    }
    return CLI_OK;
}

static int replay_kernel(const build_list *list, const build_item *item, size_t part,
                         quern_engine *engine, const build_target *wanted)
{
    quern_kernel *kernel;
    if (define(&kernel, engine, item->table) != QUERN_OK) {
        return fail(list, item->table);
    }
    arguments a = {.count = 0};
    int status = make_arguments(&a, list, &item->parts[part], engine);
    if (status == CLI_OK) {
        status = call_kernel(list, kernel, &item->parts[part], &a, wanted);
    }
    release(&a);
    quern_kernel_release(kernel);
    return status;
}

/* A path in the list is seen from the list. */
static const char *beside(const build_list *list, const char *path)
{
    const char *slash = strrchr(list->path, '/');
    return path[0] == '/' || !slash
               ? path
               : cli_sprintf("%.*s%s", (int)(slash + 1 - list->path), list->path, path);
}

static int replay_module(const build_list *list, const build_item *item, quern_engine *engine)
{
    const toml_table *t = item->table;
    quern_module_options o = QUERN_MODULE_OPTIONS_INIT;
    quern_header *headers = cli_alloc((item->part_count + 1) * sizeof *headers);
    for (size_t k = 0; k < item->part_count; k++) {
        headers[k].name = needed(&item->parts[k], "name");
        headers[k].text = needed(&item->parts[k], "text");
    }
    o.headers = headers;
    o.header_count = item->part_count;
    o.options = texts_of(t, "options", &o.option_count);
    o.expressions = texts_of(t, "expressions", &o.expression_count);
    o.translate_cucomplex = (uint32_t)number_of(t, "translate_cucomplex");
    o.file_name = text_of(t, "name");
    const char *file = text_of(t, "file");
    quern_module *module;
    quern_status status = file ? quern_module_open(&module, engine, beside(list, file), &o)
                               : quern_module_new(&module, engine, needed(t, "source"), &o);
    if (status != QUERN_OK) {
        return fail(list, t);
    }
    quern_module_release(module);
    return CLI_OK;
}

int build_replay(const build_list *list, const build_item *item, size_t part, quern_engine *engine,
                 const build_target *wanted)
{
    return item->module ? replay_module(list, item, engine)
                        : replay_kernel(list, item, part, engine, wanted);
}
