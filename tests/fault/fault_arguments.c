/* SPDX-License-Identifier: MIT
 *
 * Every public function with arguments that it must refuse: NULL, of a wrong size, out of range.
 * The promise: a failure whose message says what is wrong, outputs that are NULL, no crash, and an
 * engine that works as before.
 */
#include "fault/refuse.h"

#include <quern/device.h>
#include <stdint.h>
#include <stdio.h>

TestSuite(arguments, .init = open_one, .fini = whole_close);

static int allocator_calls;
static void *allocate(void *context, size_t bytes, size_t alignment, void *stream)
{
    (void)context, (void)bytes, (void)alignment, (void)stream;
    allocator_calls++;
    return NULL;
}

/* ---- engines -------------------------------------------------------------------------------- */

Test(arguments, engines)
{
    quern_engine *e;
    quern_options o = QUERN_OPTIONS_INIT;
    REFUSE(quern_open(NULL, NULL), "quern_open: out is NULL");
    o.size = 0;
    REFUSE_OUT(e, quern_open(&e, &o), "quern_options.size is 0");
    REFUSE_OUT(e, quern_open(&e, &o), "QUERN_OPTIONS_INIT");
    o = (quern_options)QUERN_OPTIONS_INIT;
    quern_allocator allocator = {sizeof allocator, 0, allocate, NULL, NULL};
    o.allocator = &allocator;
    REFUSE_OUT(e, quern_open(&e, &o), "allocator");
    allocator.size = 3;
    REFUSE_OUT(e, quern_open(&e, &o), "allocator");
    cr_expect_eq(allocator_calls, 0);
    o.allocator = NULL;
    static const char *const devices[] = {"frob",   "soft:x", "soft:-1", "soft:99999999999", ":",
                                          "cuda:x", "SOFT",   "cuda:-1", "soft:1:2"};
    for (size_t k = 0; k < sizeof devices / sizeof *devices; k++) {
        o.device = devices[k];
        e = UNSET;
        cr_expect_neq(quern_open(&e, &o), QUERN_OK, "%s", devices[k]);
        cr_expect_null(e);
        cr_expect_gt(strlen(quern_last_error()->message), 10, "%s", devices[k]);
    }
    REFUSE_OUT(e, quern_open_device(&e, NULL, NULL), "methods");
    quern_device_methods methods = {.size = 8};
    REFUSE_OUT(e, quern_open_device(&e, &methods, NULL), "methods");
    REFUSE(quern_open_device(NULL, &methods, NULL), "quern_open_device: out is NULL");
    REFUSE(quern_synchronize(NULL), "quern_synchronize: engine is NULL");
    quern_interrupt(NULL);
    quern_close(NULL);
}

/* ---- arrays --------------------------------------------------------------------------------- */

Test(arguments, new_arrays)
{
    static const int64_t huge[] = {INT64_MAX, INT64_MAX}, negative[] = {2, -3};
    int64_t many[QUERN_MAX_NDIM + 1] = {0};
    int32_t host[6] = {0};
    quern_array *a;
    REFUSE(quern_array_new(NULL, engine, QUERN_INT8, 0, NULL), "quern_array_new: out is NULL");
    REFUSE_OUT(a, quern_array_new(&a, NULL, QUERN_INT8, 0, NULL),
               "quern_array_new: engine is NULL");
    REFUSE_OUT(a, quern_array_new(&a, engine, QUERN_DTYPE_NONE, 0, NULL), "0 is not a dtype");
    REFUSE_OUT(a, quern_array_new(&a, engine, (quern_dtype)18, 0, NULL), "18 is not a dtype");
    REFUSE_OUT(a, quern_array_new(&a, engine, (quern_dtype)-1, 0, NULL), "-1 is not a dtype");
    REFUSE_OUT(a, quern_array_new(&a, engine, QUERN_INT8, -1, many), "dimensions, not -1");
    REFUSE_OUT(a, quern_array_new(&a, engine, QUERN_INT8, QUERN_MAX_NDIM + 1, many), "not 33");
    REFUSE_OUT(a, quern_array_new(&a, engine, QUERN_INT8, 2, NULL), "shape is NULL");
    REFUSE_OUT(a, quern_array_new(&a, engine, QUERN_INT8, 2, negative), "negative: -3");
    REFUSE_OUT(a, quern_array_new(&a, engine, QUERN_INT8, 2, huge), "larger than any memory");
    REFUSED_OUT(QUERN_ERROR_DEVICE_MEMORY, a, quern_array_new(&a, engine, QUERN_INT8, 1, huge),
                "9223372036854775807");
    REFUSE(quern_array_from(NULL, engine, QUERN_INT32, SHAPE(6), host), "array_from: out is NULL");
    REFUSE_OUT(a, quern_array_from(&a, NULL, QUERN_INT32, SHAPE(6), host),
               "quern_array_from: engine is NULL");
    REFUSE_OUT(a, quern_array_from(&a, engine, (quern_dtype)99, SHAPE(6), host), "99");
    REFUSE_OUT(a, quern_array_from(&a, engine, QUERN_INT32, SHAPE(6), NULL), "memory is NULL");
    REFUSE(quern_array_wrap(NULL, engine, QUERN_INT32, SHAPE(6), NULL, host, NULL, NULL),
           "quern_array_wrap: out is NULL");
    REFUSE_OUT(a, quern_array_wrap(&a, NULL, QUERN_INT32, SHAPE(6), NULL, host, NULL, NULL),
               "quern_array_wrap: engine is NULL");
    REFUSE_OUT(a, quern_array_wrap(&a, engine, (quern_dtype)99, SHAPE(6), NULL, host, NULL, NULL),
               "99 is not a dtype");
    REFUSE_OUT(a, quern_array_wrap(&a, engine, QUERN_INT32, SHAPE(6), NULL, NULL, NULL, NULL),
               "NULL");
    REFUSE_OUT(a, quern_array_wrap(&a, engine, QUERN_INT32, SHAPE(2), huge, host, NULL, NULL),
               "address space");
    REFUSE_OUT(a, quern_array_wrap(&a, engine, QUERN_INT32, -1, NULL, NULL, host, NULL, NULL),
               "not -1");
}

Test(arguments, views_and_transfers)
{
    quern_array *a = numbers(), *v;
    quern_slice all = QUERN_SLICE_ALL, none = {QUERN_SLICE_NONE, 0, 0};
    int32_t host[6];
    REFUSE(quern_array_slice(NULL, a, 1, &all), "quern_array_slice: out is NULL");
    REFUSE_OUT(v, quern_array_slice(&v, NULL, 1, &all), "quern_array_slice: array is NULL");
    REFUSE_OUT(v, quern_array_slice(&v, a, 1, NULL), "slices are NULL");
    REFUSE_OUT(v, quern_array_slice(&v, a, 1, &none), "slice 0");
    REFUSED_OUT(QUERN_ERROR_SHAPE, v, quern_array_slice(&v, a, SIZE_MAX, &all), " slices");
    REFUSED_OUT(QUERN_ERROR_SHAPE, v, quern_array_slice(&v, a, 3, &all), "3 slices");
    REFUSE(quern_array_transpose(NULL, a, NULL), "quern_array_transpose: out is NULL");
    REFUSE_OUT(v, quern_array_transpose(&v, NULL, NULL), "quern_array_transpose: array is NULL");
    REFUSE_OUT(v, quern_array_transpose(&v, a, (int[]){0, 0}), "entry 1 is 0");
    REFUSE_OUT(v, quern_array_transpose(&v, a, (int[]){0, INT32_MIN}), "entry 1 is -2147483648");
    REFUSE(quern_array_reshape(NULL, a, SHAPE(6)), "quern_array_reshape: out is NULL");
    REFUSE_OUT(v, quern_array_reshape(&v, NULL, SHAPE(6)), "quern_array_reshape: array is NULL");
    REFUSE_OUT(v, quern_array_reshape(&v, a, 2, NULL), "shape is NULL");
    REFUSE_OUT(v, quern_array_reshape(&v, a, SHAPE(-1, -1)), "-1");
    REFUSE_OUT(v, quern_array_reshape(&v, a, SHAPE(-2, 3)), "negative");
    REFUSE_OUT(v, quern_array_reshape(&v, a, -5, NULL), "not -5");
    REFUSE(quern_array_broadcast(NULL, a, SHAPE(2, 3)), "quern_array_broadcast: out is NULL");
    REFUSE_OUT(v, quern_array_broadcast(&v, NULL, SHAPE(6)), "broadcast: array is NULL");
    REFUSE_OUT(v, quern_array_broadcast(&v, a, 2, NULL), "shape is NULL");
    REFUSE_OUT(v, quern_array_broadcast(&v, a, SHAPE(INT64_MAX, 2, 3)), "larger than any memory");
    REFUSE(quern_array_copy(NULL, a), "quern_array_copy: out is NULL");
    REFUSE_OUT(v, quern_array_copy(&v, NULL), "quern_array_copy: array is NULL");
    REFUSE(quern_array_fill(NULL, host, 4), "quern_array_fill: array is NULL");
    REFUSE(quern_array_fill(a, NULL, 4), "quern_array_fill: value is NULL");
    REFUSE(quern_array_fill(a, host, 8), "the value has 8 bytes, and an element of int32 has 4");
    REFUSE(quern_array_read(NULL, host, 24), "quern_array_read: array is NULL");
    REFUSE(quern_array_read(a, NULL, 24), "memory is NULL");
    REFUSE(quern_array_read(a, host, 23), "24 bytes");
    REFUSE(quern_array_read(a, host, SIZE_MAX), "24 bytes");
    REFUSE(quern_array_write(NULL, host, 24), "quern_array_write: array is NULL");
    REFUSE(quern_array_write(a, NULL, 24), "memory is NULL");
    quern_array_release(a);
    quern_array_release(NULL);
}

Test(arguments, getters_answer_for_nothing)
{
    cr_expect_null(quern_array_retain(NULL));
    cr_expect_eq(quern_array_dtype(NULL), QUERN_DTYPE_NONE);
    cr_expect_eq(quern_array_ndim(NULL), 0);
    cr_expect_null(quern_array_shape(NULL));
    cr_expect_null(quern_array_strides(NULL));
    cr_expect_eq(quern_array_count(NULL), 0);
    cr_expect_null(quern_array_pointer(NULL));
    cr_expect_eq(quern_array_is_contiguous(NULL), 0);
    cr_expect_null(quern_array_engine(NULL));
    cr_expect_null(quern_kernel_retain(NULL));
    cr_expect_null(quern_stream_handle(NULL));
    cr_expect_str_eq(quern_cache_path(NULL), "");
    cr_expect_gt(strlen(quern_cache_problem(NULL)), 5);
    cr_expect_str_eq(quern_dtype_name((quern_dtype)-7), "none");
    cr_expect_eq(quern_dtype_size((quern_dtype)1000), 0);
    cr_expect_eq(quern_dtype_from_name(NULL), QUERN_DTYPE_NONE);
    cr_expect_eq(quern_dtype_from_name(""), QUERN_DTYPE_NONE);
    cr_expect_gt(strlen(quern_status_text((quern_status)-1)), 5);
}

/* ---- kernels and calls ---------------------------------------------------------------------- */

Test(arguments, kernels)
{
    quern_kernel *k;
    quern_kernel_options o = QUERN_KERNEL_OPTIONS_INIT;
    REFUSE(quern_elementwise(NULL, engine, "T x", "T y", "y = x", NULL), "wise: kernel is NULL");
    REFUSE_OUT(k, quern_elementwise(&k, NULL, "T x", "T y", "y = x", NULL), "wise: engine is NULL");
    REFUSE_OUT(k, quern_elementwise(&k, engine, NULL, "T y", "y = x", NULL), "wise: in is NULL");
    REFUSE_OUT(k, quern_elementwise(&k, engine, "T x", NULL, "y = x", NULL), "out is NULL");
    REFUSE_OUT(k, quern_elementwise(&k, engine, "T x", "T y", NULL, NULL), "operation is NULL");
    o.size = 1;
    REFUSE_OUT(k, quern_elementwise(&k, engine, "T x", "T y", "y = x", &o), "size is 1");
    o = (quern_kernel_options)QUERN_KERNEL_OPTIONS_INIT;
    static const char *const names[] = {"", "1st", "a b", "na\xc3\xafve", "x\ny"};
    for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
        o.name = names[n];
        REFUSE_OUT(k, quern_elementwise(&k, engine, "T x", "T y", "y = x", &o), "name");
    }
    o.name = NULL;
    o.option_count = 2;
    REFUSE_OUT(k, quern_elementwise(&k, engine, "T x", "T y", "y = x", &o), "option 0 is NULL");
    o.options = (const char *[]){"-DA", NULL};
    REFUSE_OUT(k, quern_elementwise(&k, engine, "T x", "T y", "y = x", &o), "option 1 is NULL");
    quern_kernel_release(NULL);

    char many[16 * (QUERN_MAX_PARAMETERS + 2)] = "";
    for (int n = 0; n <= QUERN_MAX_PARAMETERS; n++) {
        snprintf(many + strlen(many), 16, "%sint x%d", n == 0 ? "" : ", ", n);
    }
    REFUSED_OUT(QUERN_ERROR_SIGNATURE, k, quern_elementwise(&k, engine, many, "", "", NULL), "64");
}

Test(arguments, expressions)
{
    quern_kernel *k;
    quern_array *x = numbers();
    const char *names[] = {"x", "y"};
    quern_value v[] = {quern_value_array(x), quern_literal_int(2)};
    quern_expression_options o = QUERN_EXPRESSION_OPTIONS_INIT;
    o.dtype = QUERN_FLOAT8_E5M2;
    REFUSED_OUT(QUERN_ERROR_TYPE, k, quern_expression(&k, engine, "x+y", names, v, 2, &o),
                "the output of an expression cannot be of dtype 17 (float8_e5m2)");
    o.dtype = -1;
    REFUSED_OUT(QUERN_ERROR_TYPE, k, quern_expression(&k, engine, "x+y", names, v, 2, &o), "-1");
    static const char *const bad[] = {"", "2x", "x y", "x ", "x+y", "#"};
    for (size_t n = 0; n < sizeof bad / sizeof *bad; n++) {
        names[0] = bad[n];
        REFUSED_OUT(QUERN_ERROR_NAME, k, quern_expression(&k, engine, "x+y", names, v, 2, NULL),
                    "cannot be a name");
    }
    names[0] = "y";
    REFUSED_OUT(QUERN_ERROR_NAME, k, quern_expression(&k, engine, "x+y", names, v, 2, NULL),
                "\"y\" is given two values");
    names[0] = NULL;
    REFUSE_OUT(k, quern_expression(&k, engine, "x+y", names, v, 2, NULL), "name 0 is NULL");
    names[0] = "x";
    REFUSED_OUT(QUERN_ERROR_ARGUMENT_COUNT, k,
                quern_expression(&k, engine, "x+y", names, v, QUERN_MAX_PARAMETERS, NULL), "63");
    v[1].dtype = QUERN_INT8;
    REFUSED_OUT(QUERN_ERROR_TYPE, k, quern_expression(&k, engine, "x+y", names, v, 2, NULL),
                "int8");
    v[1] = quern_value_like(QUERN_FLOAT8_E4M3, 0, NULL);
    REFUSED_OUT(QUERN_ERROR_TYPE, k, quern_expression(&k, engine, "x+y", names, v, 2, NULL),
                "\"y\" is float8_e4m3fn, which expressions do not know");
    v[1] = quern_value_output(&x);
    REFUSED_OUT(QUERN_ERROR_TYPE, k, quern_expression(&k, engine, "x+y", names, v, 2, NULL),
                "neither an array nor a number");
    REFUSED_OUT(QUERN_ERROR_SIGNATURE, k, quern_expression(&k, engine, "1", NULL, NULL, 0, NULL),
                "no names");
    quern_array_release(x);
}

Test(arguments, values)
{
    quern_array *x = numbers(), *y = NULL;
    quern_kernel *k = kernel_of("T x, T s", "T y", "y = x + s");
    quern_value v[3] = {quern_value_array(x), quern_literal_int(2), quern_value_output(&y)};
    quern_value many[QUERN_MAX_PARAMETERS + 9] = {v[0]};
    quern_explanation *e;
    quern_bound *b;
    REFUSE(quern_call_n(NULL, v, 3, NULL), "quern_call_n: kernel is NULL");
    REFUSE(quern_call_n(k, NULL, 3, NULL), "values is NULL");
    REFUSED(QUERN_ERROR_ARGUMENT_COUNT, quern_call_n(k, v, 2, NULL), "but 2");
    REFUSED(QUERN_ERROR_ARGUMENT_COUNT, quern_call_n(k, NULL, 0, NULL), "but 0");
    REFUSED(QUERN_ERROR_ARGUMENT_COUNT, quern_call_n(k, many, QUERN_MAX_PARAMETERS + 9, NULL),
            "73");
    REFUSED(QUERN_ERROR_ARGUMENT_COUNT, quern_call_n(k, v, SIZE_MAX, NULL), "3 arguments");
    REFUSE(quern_bind(NULL, k, v, 3, NULL), "quern_bind: bound is NULL");
    REFUSE_OUT(b, quern_bind(&b, NULL, v, 3, NULL), "quern_bind: kernel is NULL");
    REFUSE_OUT(b, quern_bind(&b, k, NULL, 3, NULL), "values is NULL");
    REFUSE(quern_explain(NULL, k, v, 3, NULL), "quern_explain: out is NULL");
    REFUSE_OUT(e, quern_explain(&e, NULL, v, 3, NULL), "quern_explain: kernel is NULL");
    REFUSE_OUT(e, quern_explain(&e, k, NULL, 3, NULL), "values is NULL");
    static const struct {
        int at;
        quern_value value;
        quern_status status;
        const char *says;
    } wrong[] = {
        {0,
         {QUERN_VALUE_ARRAY, 0, {0}},
         QUERN_ERROR_INVALID_ARGUMENT,
         "'x' (argument 1): the array"},
        {0, {QUERN_VALUE_OUTPUT, 0, {0}}, QUERN_ERROR_INVALID_ARGUMENT, "an input cannot"},
        {0, {QUERN_VALUE_NONE, 0, {0}}, QUERN_ERROR_INVALID_ARGUMENT, "the input is missing"},
        {0, {QUERN_VALUE_POINTER, 0, {0}}, QUERN_ERROR_TYPE, "a pointer is for functions"},
        {0,
         {QUERN_VALUE_STRUCT, 0, {0}},
         QUERN_ERROR_INVALID_ARGUMENT,
         "structure's address is NULL"},
        {0, {QUERN_VALUE_STRUCT, 0, {.block = {"1234", 4}}}, QUERN_ERROR_TYPE, "is for records"},
        {0,
         {QUERN_VALUE_STRUCT, 1023, {.block = {"1234", 4}}},
         QUERN_ERROR_INVALID_ARGUMENT,
         "the structure's dtype is not a record"},
        {0, {77, 0, {0}}, QUERN_ERROR_INVALID_ARGUMENT, "kind is unknown"},
        {0, {-1, 0, {0}}, QUERN_ERROR_INVALID_ARGUMENT, "kind is unknown"},
        {1, {QUERN_VALUE_LITERAL, 0, {0}}, QUERN_ERROR_INVALID_ARGUMENT, "a literal is"},
        {1, {QUERN_VALUE_LITERAL, QUERN_INT8, {0}}, QUERN_ERROR_INVALID_ARGUMENT, "a literal is"},
        {1, {QUERN_VALUE_LITERAL, 99, {0}}, QUERN_ERROR_INVALID_ARGUMENT, "a literal is"},
        {1, {QUERN_VALUE_SCALAR, 0, {0}}, QUERN_ERROR_INVALID_ARGUMENT, "dtype is unknown"},
        {1, {QUERN_VALUE_SCALAR, 99, {0}}, QUERN_ERROR_INVALID_ARGUMENT, "dtype is unknown"},
        {1, {QUERN_VALUE_SCALAR, INT32_MIN, {0}}, QUERN_ERROR_INVALID_ARGUMENT, "dtype is unknown"},
        {2, {QUERN_VALUE_OUTPUT, 0, {0}}, QUERN_ERROR_INVALID_ARGUMENT, "the output is NULL"},
        {2, {QUERN_VALUE_LITERAL, QUERN_INT64, {0}}, QUERN_ERROR_TYPE, "must be an array"},
        {2, {QUERN_VALUE_ARRAY, 0, {0}}, QUERN_ERROR_INVALID_ARGUMENT, "the array is NULL"},
    };
    for (size_t n = 0; n < sizeof wrong / sizeof *wrong; n++) {
        quern_value these[3] = {v[0], v[1], v[2]};
        these[wrong[n].at] = wrong[n].value;
        REFUSED(wrong[n].status, quern_call_n(k, these, 3, NULL), wrong[n].says);
        REFUSED_OUT(wrong[n].status, b, quern_bind(&b, k, these, 3, NULL), wrong[n].says);
        REFUSED_OUT(wrong[n].status, e, quern_explain(&e, k, these, 3, NULL), wrong[n].says);
        cr_expect_null(y);
    }
    quern_kernel_release(k);
    quern_array_release(x);
}

Test(arguments, call_options)
{
    quern_array *x = numbers(), *y = NULL;
    quern_kernel *k = kernel_of("T x", "T y", "y = x"),
                 *raw = kernel_of("raw T x", "raw T y", "y[i] = x[i]");
    quern_value v[2] = {quern_value_array(x), quern_value_output(&y)};
    quern_value both[2] = {quern_value_array(x), quern_value_array(x)};
    quern_call_options o = QUERN_CALL_OPTIONS_INIT;
    o.size--;
    REFUSE(quern_call_n(k, v, 2, &o), "quern_call_options.size");
    o = (quern_call_options)QUERN_CALL_OPTIONS_INIT;
    o.loop_size = &(int64_t){3};
    REFUSE(quern_call_n(k, v, 2, &o), "'x' already");
    o.loop_size = &(int64_t){-1};
    REFUSE(quern_call_n(raw, both, 2, &o), "must not be negative");
    o.loop_size = NULL;
    REFUSE(quern_call_n(raw, both, 2, &o), "undecided");
    o.stream = (quern_stream *)(void *)x;
    REFUSE(quern_call_n(k, v, 2, &o), "stream is a quern_array");
    o.stream = NULL;
    o.block_size = UINT32_MAX;
    quern_compiler_info compiler = {.size = sizeof compiler};
    OK(quern_compiler_get_info(&compiler, 0));
    if (compiler.found) {
        REFUSE(quern_call_n(k, v, 2, &o), "4294967295 threads");
        o = (quern_call_options)QUERN_CALL_OPTIONS_INIT;
        o.loop_size = &(int64_t){INT64_MAX};
        quern_explanation *e;
        OK(quern_explain(&e, raw, both, 2, &o));
        cr_expect_eq(e->elements, INT64_MAX);
        quern_explanation_release(e);
    }
    cr_expect_null(y);
    quern_kernel_release(k);
    quern_kernel_release(raw);
    quern_array_release(x);
    quern_explanation_release(NULL);
}

Test(arguments, bound_calls)
{
    whole_close();
    /* Skips without NVRTC, because a bound call must be compiled before it can be misused; runs
     * wherever ./dev has fetched one. */
    whole_open();
    quern_array *x = numbers(), *y = NULL, *small = array_of(QUERN_INT32, SHAPE(1), (int32_t[]){1});
    quern_kernel *k = kernel_of("T x, T s", "T y", "y = x + s");
    quern_bound *b;
    OK(quern_bind(
        &b, k, (quern_value[]){quern_value_array(x), quern_literal_int(2), quern_value_output(&y)},
        3, NULL));
    REFUSE(quern_launch(NULL), "quern_launch: bound is NULL");
    REFUSE(quern_bound_set_array(NULL, 0, x), "quern_bound_set_array: bound is NULL");
    REFUSE(quern_bound_set_array(b, 0, NULL), "quern_bound_set_array: array is NULL");
    REFUSE(quern_bound_set_array(b, 3, x), "no argument 3");
    REFUSE(quern_bound_set_array(b, SIZE_MAX, x), "no argument 18446744073709551615");
    REFUSED(QUERN_ERROR_TYPE, quern_bound_set_array(b, 1, x), "as a number");
    REFUSED(QUERN_ERROR_SHAPE, quern_bound_set_array(b, 0, small), "same dtype");
    REFUSE(quern_bound_set_scalar(NULL, 1, quern_literal_int(1)), "set_scalar: bound is NULL");
    REFUSE(quern_bound_set_scalar(b, 3, quern_literal_int(1)), "no argument 3");
    REFUSED(QUERN_ERROR_TYPE, quern_bound_set_scalar(b, 0, quern_literal_int(1)), "as an array");
    REFUSED(QUERN_ERROR_TYPE, quern_bound_set_scalar(b, 1, quern_value_array(x)), "a number");
    REFUSED(QUERN_ERROR_TYPE, quern_bound_set_scalar(b, 1, quern_scalar_int((quern_dtype)99, 1)),
            "not a number");
    REFUSED(QUERN_ERROR_VALUE, quern_bound_set_scalar(b, 1, quern_literal_int(1LL << 40)), "\"s\"");
    OK(quern_launch(b));
    EXPECT(y, int32_t, 2, 3, 4, 5, 6, 7);
    quern_bound_release(b);
    quern_bound_release(NULL);
    quern_kernel_release(k);
    quern_array_release(x);
    quern_array_release(y);
    quern_array_release(small);
}

/* ---- streams, events, cache, set-up --------------------------------------------------------- */

Test(arguments, streams_and_events)
{
    quern_stream *s;
    quern_event *e;
    double ms;
    int done;
    REFUSE(quern_stream_new(NULL, engine), "quern_stream_new: out is NULL");
    REFUSE_OUT(s, quern_stream_new(&s, NULL), "quern_stream_new: engine is NULL");
    REFUSE(quern_stream_wrap(NULL, engine, NULL), "quern_stream_wrap: out is NULL");
    REFUSE_OUT(s, quern_stream_wrap(&s, NULL, NULL), "quern_stream_wrap: engine is NULL");
    REFUSE_OUT(s, quern_stream_wrap_owned(&s, engine, NULL, NULL, NULL),
               "quern_stream_wrap_owned: release is NULL");
    REFUSE(quern_stream_wait(NULL), "quern_stream_wait: stream is NULL");
    REFUSE(quern_stream_query(&done, NULL), "quern_stream_query: stream is NULL");
    REFUSE(quern_event_new(NULL, engine), "quern_event_new: out is NULL");
    REFUSE_OUT(e, quern_event_new(&e, NULL), "quern_event_new: engine is NULL");
    OK(quern_event_new(&e, engine));
    OK(quern_stream_new(&s, engine));
    REFUSE(quern_event_record(NULL, s), "quern_event_record: event is NULL");
    REFUSE(quern_event_record(e, (quern_stream *)(void *)e), "stream is a quern_event");
    REFUSE(quern_event_wait(NULL), "quern_event_wait: event is NULL");
    REFUSE(quern_stream_wait_event(s, NULL), "quern_stream_wait_event: event is NULL");
    REFUSE(quern_event_elapsed(NULL, e, e), "quern_event_elapsed: milliseconds is NULL");
    REFUSE(quern_event_elapsed(&ms, NULL, e), "quern_event_elapsed: begin is NULL");
    REFUSE(quern_event_elapsed(&ms, e, NULL), "quern_event_elapsed: end is NULL");
    cr_expect_neq(quern_event_elapsed(&ms, e, e), QUERN_OK, "neither was recorded");
    quern_engine *other;
    OK(quern_open(&other, NULL));
    quern_stream *elsewhere;
    OK(quern_stream_new(&elsewhere, other));
    REFUSE(quern_event_record(e, elsewhere), "another engine");
    REFUSE(quern_stream_wait_event(elsewhere, e), "another engine");
    quern_stream_release(elsewhere);
    quern_close(other);
    quern_event_release(e);
    quern_stream_release(s);
    quern_event_release(NULL);
    quern_stream_release(NULL);
}

static int visit(void *context, const quern_cache_entry *entry)
{
    (void)context, (void)entry;
    return 0;
}

Test(arguments, cache_and_set_up)
{
    quern_cache_stats stats = {.size = 0};
    quern_device_info info = {.size = 4};
    quern_compiler_info compiler = {.size = 12345};
    size_t count;
    REFUSE(quern_cache_get_stats(&stats, NULL), "quern_cache_get_stats: engine is NULL");
    REFUSE(quern_cache_get_stats(NULL, engine), "quern_cache_get_stats: ");
    REFUSE(quern_cache_get_stats(&stats, engine), "quern_cache_stats.size is 0");
    REFUSE(quern_cache_visit(NULL, NULL, visit, NULL), "quern_cache_visit: engine is NULL");
    REFUSE(quern_cache_visit(engine, NULL, NULL, NULL), "quern_cache_visit: visitor is NULL");
    REFUSE(quern_cache_clear(NULL, NULL), "quern_cache_clear: engine is NULL");
    REFUSE(quern_cache_export(NULL, NULL, "x", NULL), "quern_cache_export: engine is NULL");
    REFUSE(quern_cache_export(NULL, engine, NULL, NULL), "quern_cache_export: path is NULL");
    REFUSE(quern_cache_import(NULL, NULL, "x"), "quern_cache_import: engine is NULL");
    REFUSE(quern_cache_import(NULL, engine, NULL), "quern_cache_import: path is NULL");
    quern_export_options export = QUERN_EXPORT_OPTIONS_INIT;
    export.level = 20;
    REFUSE(quern_cache_export(NULL, engine, "x", &export), "level is 20");
    export.level = -2;
    REFUSE(quern_cache_export(NULL, engine, "x", &export), "level is -2");
    REFUSE(quern_device_get_info(&info, NULL), "quern_device_get_info: engine is NULL");
    REFUSE(quern_device_get_info(NULL, engine), "quern_device_get_info: ");
    REFUSE(quern_device_get_info(&info, engine), "quern_device_info.size is 4");
    REFUSE(quern_device_list(NULL, &info, 1), "quern_device_list: count is NULL");
    REFUSE(quern_device_list(&count, NULL, 1), "quern_device_list: infos is NULL");
    info.size = 0;
    REFUSE(quern_device_list(&count, &info, 1), "quern_device_info.size is 0");
    REFUSE(quern_compiler_get_info(NULL, 0), "quern_compiler_get_info: ");
    REFUSE(quern_compiler_get_info(&compiler, 0), "quern_compiler_info.size is 12345");
}
