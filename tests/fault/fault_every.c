/* SPDX-License-Identifier: MIT
 *
 * Every function that the headers declare, with each of its parameters bad in turn: NULL, of
 * another kind, freed, of another engine, out of range, too many. The promise: with good parameters
 * a function succeeds; with a bad one it fails, explains itself, and never crashes. The list of
 * functions is generated from the headers: it has every new one, which does not compile here until
 * its types are known.
 */
/* before the globals of every.h, which they would shadow */
#include "device/device_internal.h"
#include "unit/cache/scratch.h"

#include "fault/every.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

quern_engine *engine;
quern_array *x, *none, *another_none, *others_array, *others_none, *records;
quern_kernel *kernel;
quern_bound *bound;
quern_module *module;
quern_function *function;
quern_stream *stream, *others_stream;
quern_event *event, *others_event;
quern_explanation *explanation;
quern_tuning *tuning;
char path[] = "/tmp/quern_every_XXXXXX", pack[sizeof path + 6];

quern_engine *made_engine;
quern_array *made_array;
quern_kernel *made_kernel;
quern_bound *made_bound;
quern_module *made_module;
quern_function *made_function;
quern_stream *made_stream;
quern_event *made_event;
quern_explanation *made_explanation;
quern_tuning *made_tuning;
quern_graph *graph, *made_graph;

const char ptx[] = ".version 7.0\n.target sm_75\n.address_size 64\n"
                   ".visible .global .align 4 .b8 g[16];\n"
                   ".visible .entry f(.param .u64 x) { ret; }\n";
const int64_t shape[2] = {2, 3};
int32_t host[6];
quern_device_methods methods;
quern_value good_values[3], good_arguments[1];
struct every_dead dead = {0x514e4500}; /* as a freed object begins */

/* ---- bad structures ------------------------------------------------------------------------- */

#define OPTIONS_OF(name, type, init)                                                               \
    const type *name(int k)                                                                        \
    {                                                                                              \
        static type o;                                                                             \
        o = (type)init;                                                                            \
        o.size = k == 0 ? 0 : k == 1 ? UINT32_MAX : o.size;                                        \
        o.options = (const char *[]){"-DA"};                                                       \
        o.option_count = SIZE_MAX;                                                                 \
        return &o;                                                                                 \
    }
OPTIONS_OF(bad_kernel, quern_kernel_options, QUERN_KERNEL_OPTIONS_INIT)
OPTIONS_OF(bad_reduction, quern_reduction_options, QUERN_REDUCTION_OPTIONS_INIT)
OPTIONS_OF(bad_scan, quern_scan_options, QUERN_SCAN_OPTIONS_INIT)
OPTIONS_OF(bad_expression, quern_expression_options, QUERN_EXPRESSION_OPTIONS_INIT)

const quern_module_options *bad_module(int k)
{
    static const quern_header header = {"a.h", ""};
    static const char *const texts[] = {"-DA"};
    static quern_module_options o;
    o = (quern_module_options)QUERN_MODULE_OPTIONS_INIT;
    o.size = k == 0 ? 0 : k == 1 ? UINT32_MAX : o.size;
    o.options = texts;
    o.expressions = texts;
    o.headers = &header;
    o.option_count = k == 2 ? SIZE_MAX : 0;
    o.expression_count = k == 3 ? SIZE_MAX : 0;
    o.header_count = k == 4 ? SIZE_MAX : 0;
    return &o;
}

const quern_options *bad_options(int k)
{
    static quern_options o;
    o = (quern_options)QUERN_OPTIONS_INIT;
    o.size = k == 0 ? 0 : k == 1 ? UINT32_MAX : o.size;
    o.reserved = 1;
    return &o;
}

const quern_stream_options *bad_stream(int k)
{
    static quern_stream_options o;
    o = (quern_stream_options)QUERN_STREAM_OPTIONS_INIT;
    o.size = k == 0 ? 0 : o.size;
    o.reserved = k == 1;
    o.non_blocking = k == 2 ? -1 : 0;
    return &o;
}

const quern_call_options *bad_call(int k)
{
    static const int axis = 0;
    static quern_call_options o;
    o = (quern_call_options)QUERN_CALL_OPTIONS_INIT;
    o.size = k == 0 ? 0 : k == 1 ? UINT32_MAX : o.size;
    o.stream = k == 2 ? others_stream : NULL;
    o.axes = k == 3 ? &axis : NULL;
    o.axis_count = k == 3 ? SIZE_MAX : 0;
    return &o;
}

const quern_launch_options *bad_launch(int k)
{
    static quern_launch_options o;
    o = (quern_launch_options)QUERN_LAUNCH_OPTIONS_INIT;
    o.size = k == 0 ? 0 : k == 1 ? UINT32_MAX : o.size;
    o.stream = others_stream;
    return &o;
}

/* NULL, no kernel, values that are none, a word that is not 0, a number too many. */
quern_preparation *preparation(int k)
{
    static quern_preparation p;
    p = (quern_preparation){
        .kernel = k == 1 ? (quern_kernel *)(void *)&dead : kernel,
        .values = k == 2 ? NULL : good_values,
        .count = k == 4 ? SIZE_MAX : 3,
        .reserved = k == 3,
    };
    return k == 0 ? NULL : &p;
}

const quern_prepare_options *bad_prepare(int k)
{
    static quern_prepare_options o;
    o = (quern_prepare_options)QUERN_PREPARE_OPTIONS_INIT;
    o.size = k == 0 ? 0 : UINT32_MAX;
    return &o;
}

const quern_value *bad_values(int k)
{
    static quern_value v[3];
    v[0] = quern_value_array(k == 1 ? others_none : k == 2 ? NULL : none);
    v[0] = k == 3 ? (quern_value){99, 0, {0}} : v[0];
    v[0] = k == 4 ? (quern_value){QUERN_VALUE_OUTPUT, 0, {0}} : v[0];
    v[1] = quern_literal_int(1);
    v[2] = quern_value_array(none);
    return k == 0 ? NULL : v;
}

/* ---- tensors -------------------------------------------------------------------------------- */

static int64_t tensor_shape[] = {2, 3}, bad_shape[] = {-5, INT64_MAX}, far[] = {INT64_MAX, 1};

quern_dl_tensor *good_dltensor(void)
{
    static quern_dl_tensor t;
    t = (quern_dl_tensor){.data = host,
                          .device = {QUERN_DL_CPU, 0},
                          .ndim = 2,
                          .dtype = {QUERN_DL_INT, 32, 1},
                          .shape = tensor_shape};
    return &t;
}

quern_dl_tensor *bad_dltensor(int k)
{
    quern_dl_tensor *t = good_dltensor();
    t->data = k == 1 ? NULL : t->data;
    t->device.device_type = k == 2 ? 4 : t->device.device_type;
    t->ndim = k == 3 ? -1 : t->ndim;
    t->dtype.lanes = k == 4 ? 2 : t->dtype.lanes;
    t->shape = k == 5 ? bad_shape : t->shape;
    t->strides = k == 6 ? far : t->strides;
    return k == 0 ? NULL : t;
}

quern_dl_managed_versioned *good_tensor(void)
{
    static quern_dl_managed_versioned t;
    t = (quern_dl_managed_versioned){.version = {1, 3}, .dl_tensor = *good_dltensor()};
    return &t;
}

quern_dl_managed_versioned *bad_tensor(int k)
{
    quern_dl_managed_versioned *t = good_tensor();
    t->version.major = k == 7 ? 2 : 1;
    t->dl_tensor = k > 0 && k < 7 ? *bad_dltensor(k) : t->dl_tensor;
    return k == 0 ? NULL : t;
}

quern_dl_managed *good_legacy(void)
{
    static quern_dl_managed t;
    t = (quern_dl_managed){.dl_tensor = *good_dltensor()};
    return &t;
}

quern_dl_managed *bad_legacy(int k)
{
    quern_dl_managed *t = good_legacy();
    t->dl_tensor = k > 0 ? *bad_dltensor(k) : t->dl_tensor;
    return k == 0 ? NULL : t;
}

static quern_dl_managed_versioned *last_tensor;
static quern_dl_managed *last_legacy;

quern_dl_managed_versioned **made_tensor(void)
{
    if (last_tensor) {
        last_tensor->deleter(last_tensor);
    }
    last_tensor = NULL;
    return &last_tensor;
}

quern_dl_managed **made_legacy(void)
{
    if (last_legacy) {
        last_legacy->deleter(last_legacy);
    }
    last_legacy = NULL;
    return &last_legacy;
}

static quern_array_interface entries = QUERN_ARRAY_INTERFACE_INIT;

const quern_array_interface *good_interface(void)
{
    entries = (quern_array_interface)QUERN_ARRAY_INTERFACE_INIT;
    entries.ndim = 2;
    entries.shape = tensor_shape;
    memcpy(entries.typestr, "<i4", 3);
    entries.data = host;
    return &entries;
}

const quern_array_interface *bad_interface(int k)
{
    (void)good_interface();
    entries.size = k == 1 ? 0 : entries.size;
    entries.version = k == 2 ? 4 : 3;
    entries.shape = k == 3 ? bad_shape : tensor_shape;
    entries.strides = k == 4 ? far : NULL;
    entries.typestr[0] = k == 5 ? '>' : '<';
    entries.data = k == 6 ? NULL : host;
    entries.mask = k == 7 ? host : NULL;
    entries.has_stream = k == 8;
    return k == 0 ? NULL : &entries;
}

const quern_record *good_record(void)
{
    static const quern_field field = {"a", QUERN_FLOAT32, 0, NULL, 0};
    static quern_record record;
    record = (quern_record)QUERN_RECORD_INIT;
    record.name = "Good";
    record.fields = &field;
    record.field_count = 1;
    return &record;
}

const quern_record *bad_record(int k)
{
    static quern_record record;
    record = *good_record();
    record.size = k == 1 ? 0 : k == 2 ? UINT32_MAX : record.size;
    record.field_count = k == 3 ? SIZE_MAX : record.field_count;
    return k == 0 ? NULL : &record;
}

int visit(void *context, const quern_cache_entry *entry)
{
    (void)context, (void)entry;
    return 0;
}

void released(void *context)
{
    (void)context;
}

void told(void *context, const char *kind, const char *message)
{
    (void)context;
    cr_expect_gt(strlen(kind), 5);
    cr_expect_gt(strlen(message), 10);
}

quern_engine *opened(void)
{
    quern_options options = QUERN_OPTIONS_INIT;
    options.device = "soft";
    options.remote_methods = &no_remote;
    setenv("QUERN_REMOTE_MODE", "open", 1);
    quern_engine *out;
    cr_assert_eq(quern_open(&out, &options), QUERN_OK, "%s", quern_last_error_text());
    return out;
}

quern_stream *fresh(int captured)
{
    quern_stream_release(made_stream);
    made_stream = NULL;
    cr_assert_eq(quern_stream_new(&made_stream, engine), QUERN_OK, "%s", quern_last_error_text());
    if (captured) {
        cr_assert_eq(quern_stream_capture(made_stream), QUERN_OK, "%s", quern_last_error_text());
    }
    return made_stream;
}

/* ---- the list ------------------------------------------------------------------------------- */

typedef struct every_function {
    const char *name;
    int is_status; /* it returns a status */
    int count;
    /* Call it with bad argument `bad` for parameter `which`, counted from 1; 0: with good ones
     * only. */
    quern_status (*call)(int which, int bad);
    struct {
        const char *name;
        int bads, any;
    } parameters[12];
} every_function;

#include "every.inc"

/* ---- the walk ------------------------------------------------------------------------------- */

#define OK(call) cr_assert_eq((call), QUERN_OK, "%s: %s", #call, quern_last_error_text())

static void make_path(void)
{
    int file = mkstemp(path);
    snprintf(pack, sizeof pack, "%s.qpack", path);
    cr_assert_geq(file, 0);
    cr_assert_eq(write(file, ptx, sizeof ptx - 1), (ssize_t)sizeof ptx - 1);
    close(file);
}

static void make_all(void)
{
    quern_compiler_info compiler = QUERN_COMPILER_INFO_INIT;
    OK(quern_compiler_get_info(&compiler, 0));
    if (!compiler.found) {
        cr_skip_test("no NVRTC on this machine: %s", compiler.problem);
    }
    scratch_make();
    setenv("QUERN_CACHE_DIR", scratch, 1); /* what is cleared here is not the other tests' */
    engine = opened();
    methods = qn_soft_device;
    quern_engine *other = opened();
    const int64_t zero = 0;
    OK(quern_array_from(&x, engine, QUERN_INT32, 2, shape, host));
    OK(quern_array_new(&none, engine, QUERN_INT32, 1, &zero));
    quern_dtype record;
    OK(quern_record_new(&record, good_record()));
    OK(quern_array_new(&records, engine, record, 1, shape));
    OK(quern_array_new(&another_none, engine, QUERN_INT32, 1, &zero));
    OK(quern_array_new(&others_array, other, QUERN_INT32, 1, &zero));
    OK(quern_array_new(&others_none, other, QUERN_INT32, 1, &zero));
    OK(quern_stream_new(&stream, engine));
    OK(quern_stream_new(&others_stream, other));
    OK(quern_event_new(&event, engine));
    OK(quern_event_new(&others_event, other));
    OK(quern_event_record(event, NULL));
    OK(quern_event_record(others_event, NULL));
    OK(quern_elementwise(&kernel, engine, "T x, int32 s", "T z", "z = x + s", NULL));
    OK(quern_module_load(&module, engine, ptx, strlen(ptx)));
    OK(quern_module_function(&function, module, "f"));
    quern_close(other);
    make_path();
    good_values[0] = good_values[2] = quern_value_array(none);
    good_values[1] = quern_literal_int(1);
    good_arguments[0] = quern_value_pointer(NULL);
    OK(quern_bind(&bound, kernel, good_values, 3, NULL));
    OK(quern_stream_capture(stream));
    OK(quern_stream_end_capture(&graph, stream));
    OK(quern_explain(&explanation, kernel, good_values, 3, NULL));
    OK(quern_tune(&tuning, kernel, good_values, 3, NULL));
    make_textures();
}

static void release_all(void)
{
    release_textures();
    quern_close(made_engine);
    quern_array_release(made_array);
    quern_kernel_release(made_kernel);
    quern_bound_release(made_bound);
    quern_module_release(made_module);
    quern_function_release(made_function);
    quern_stream_release(made_stream);
    quern_event_release(made_event);
    quern_explanation_release(made_explanation);
    quern_tuning_release(made_tuning);
    (void)made_tensor();
    (void)made_legacy();
    cr_expect_eq(quern_dlpack_use(NULL), QUERN_OK);
    quern_graph_release(made_graph);
    for (int k = 0; k < 2; k++) { /* once for the _retain in the list */
        quern_array_release(x);
        quern_kernel_release(kernel);
        quern_bound_release(bound);
        quern_module_release(module);
        quern_function_release(function);
        quern_stream_release(stream);
        quern_event_release(event);
        quern_explanation_release(explanation);
        quern_tuning_release(tuning);
        quern_graph_release(graph);
    }
    quern_array_release(none);
    quern_array_release(records);
    quern_array_release(another_none);
    quern_array_release(others_array);
    quern_array_release(others_none);
    quern_stream_release(others_stream);
    quern_event_release(others_event);
    quern_close(engine);
    unlink(path);
    unlink(pack);
    unlink(key_path());
    scratch_delete();
}

TestSuite(every, .init = make_all, .fini = release_all);

/* A library that a machine may lack, and that it is told to install. */
static bool is_for_want_of_a_library(quern_status status)
{
    return status == QUERN_ERROR_NVJITLINK_NOT_FOUND ||
           (status == QUERN_ERROR_NOT_SUPPORTED &&
            strstr(quern_last_error()->message, "install libsodium"));
}

static void expect_good(const every_function *f)
{
    quern_status status = f->call(0, 0);
    cr_expect(status == QUERN_OK || is_for_want_of_a_library(status), "%s with good arguments: %s",
              f->name, quern_last_error_text());
}

static void expect_refused(const every_function *f, int which, int bad)
{
    const char *parameter = f->parameters[which - 1].name;
    quern_status status = f->call(which, bad);
    if (!f->is_status || (f->parameters[which - 1].any >> bad & 1) != 0) {
        return;
    }
    const quern_error *error = quern_last_error();
    cr_expect_neq(status, QUERN_OK, "%s: bad %s number %d was taken", f->name, parameter, bad);
    cr_expect_eq(error->status, (int32_t)status, "%s: %s %d", f->name, parameter, bad);
    cr_expect_neq(status, QUERN_ERROR_INTERNAL, "%s: %s %d: %s", f->name, parameter, bad,
                  error->message);
    cr_expect_gt(strlen(error->message), 10, "%s: %s %d: \"%s\"", f->name, parameter, bad,
                 error->message);
    if (getenv("QUERN_TELL")) {
        fprintf(stderr, "%s, %s %d: %s\n", f->name, parameter, bad, error->message);
    }
}

Test(every, function_with_each_bad_argument)
{
    size_t count = sizeof all_functions / sizeof *all_functions;
    cr_assert_gt(count, 80);
    for (size_t k = 0; k < count; k++) {
        const every_function *f = &all_functions[k];
        expect_good(f);
        for (int which = 1; which <= f->count; which++) {
            for (int bad = 0; bad < f->parameters[which - 1].bads; bad++) {
                expect_refused(f, which, bad);
            }
        }
        (void)fresh(0); /* one that is being captured stands in the way of other functions */
    }
}
