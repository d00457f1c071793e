/* SPDX-License-Identifier: MIT
 *
 * What a kernel says about itself, and about a call that is not made. Every inferred shape is
 * compared with the one that the call gives.
 */
#include "whole.h"

static void open_soft(void)
{
    quern_options options = QUERN_OPTIONS_INIT;
    options.device = "soft";
    OK(quern_open(&engine, &options));
}

/* Nothing here compiles except the calls, which are compared with what was inferred. */
TestSuite(ask, .init = open_soft, .fini = whole_close);
TestSuite(ask_and_call, .init = whole_open, .fini = whole_close);

/* ---- kernels -------------------------------------------------------------------------------- */

#define EXPECT_TEXT(got, want)                                                                     \
    do {                                                                                           \
        const char *got_ = (got), *want_ = (want);                                                 \
        cr_expect((!got_) == (!want_) && (!got_ || strcmp(got_, want_) == 0), "%s is \"%s\"",      \
                  #got, got_ ? got_ : "NULL");                                                     \
    } while (0)

Test(ask, elementwise)
{
    quern_kernel_options options = QUERN_KERNEL_OPTIONS_INIT;
    options.name = "mix";
    options.loop_prep = "int n = 0";
    quern_kernel *k;
    OK(quern_elementwise(&k, engine, "T x, raw const  unsigned  char w", "float32 y, raw T z",
                         "y = x; z[i] = w[0]", &options));
    quern_kernel_info info = QUERN_KERNEL_INFO_INIT;
    OK(quern_kernel_get_info(&info, k));
    cr_expect_eq(info.kind, QUERN_KERNEL_ELEMENTWISE);
    cr_expect_eq(info.in_count, 2);
    cr_expect_eq(info.out_count, 2);
    cr_expect_eq(info.parameter_count, 4);
    EXPECT_TEXT(info.name, "mix");
    EXPECT_TEXT(info.in, "T x, raw const  unsigned  char w");
    EXPECT_TEXT(info.out, "float32 y, raw T z");
    EXPECT_TEXT(info.operation, "y = x; z[i] = w[0]");
    EXPECT_TEXT(info.loop_prep, "int n = 0");
    EXPECT_TEXT(info.after_loop, NULL);
    EXPECT_TEXT(info.preamble, NULL);
    EXPECT_TEXT(info.map, NULL);
    EXPECT_TEXT(info.reduce, NULL);
    EXPECT_TEXT(info.post, NULL);
    EXPECT_TEXT(info.identity, NULL);
    EXPECT_TEXT(info.reduce_type, NULL);

    static const struct {
        const char *name, *type;
        quern_dtype dtype;
        uint32_t output, raw, constant;
    } wanted[] = {
        {"x", "T", QUERN_DTYPE_NONE, 0, 0, 0},
        {"w", "unsigned  char", QUERN_UINT8, 0, 1, 1},
        {"y", "float32", QUERN_FLOAT32, 1, 0, 0},
        {"z", "T", QUERN_DTYPE_NONE, 1, 1, 0},
    };
    for (size_t p = 0; p < 4; p++) {
        quern_parameter_info is = QUERN_PARAMETER_INFO_INIT;
        OK(quern_kernel_get_parameter(&is, k, p));
        EXPECT_TEXT(is.name, wanted[p].name);
        EXPECT_TEXT(is.type, wanted[p].type);
        cr_expect_eq(is.dtype, (int32_t)wanted[p].dtype);
        cr_expect_eq(is.is_output, wanted[p].output);
        cr_expect_eq(is.is_raw, wanted[p].raw);
        cr_expect_eq(is.is_const, wanted[p].constant);
    }
    quern_parameter_info none = QUERN_PARAMETER_INFO_INIT;
    FAILS(QUERN_ERROR_INVALID_ARGUMENT, quern_kernel_get_parameter(&none, k, 4));
    SAYS("mix has no parameter 4: it has 4, counted from 0");
    quern_kernel_release(k);
}

Test(ask, reductions_and_scans)
{
    quern_reduction_options reduction = QUERN_REDUCTION_OPTIONS_INIT;
    quern_scan_options scan = QUERN_SCAN_OPTIONS_INIT;
    reduction.preamble = "// none";
    scan.scan_type = "double";
    quern_kernel *k[2];
    OK(quern_reduction(&k[0], engine, "T x", "T y", "x", "a + b", "y = a", "0", &reduction));
    OK(quern_scan(&k[1], engine, "T x", "T y", "x", "max(a, b)", "y = a", NULL, &scan));
    quern_kernel_info info = QUERN_KERNEL_INFO_INIT;
    OK(quern_kernel_get_info(&info, k[0]));
    cr_expect_eq(info.kind, QUERN_KERNEL_REDUCTION);
    EXPECT_TEXT(info.name, "quern_reduction");
    EXPECT_TEXT(info.map, "x");
    EXPECT_TEXT(info.reduce, "a + b");
    EXPECT_TEXT(info.post, "y = a");
    EXPECT_TEXT(info.identity, "0");
    EXPECT_TEXT(info.preamble, "// none");
    EXPECT_TEXT(info.reduce_type, NULL);
    EXPECT_TEXT(info.operation, NULL);
    OK(quern_kernel_get_info(&info, k[1]));
    cr_expect_eq(info.kind, QUERN_KERNEL_SCAN);
    EXPECT_TEXT(info.reduce, "max(a, b)");
    EXPECT_TEXT(info.identity, NULL);
    EXPECT_TEXT(info.reduce_type, "double");
    quern_kernel_release(k[0]);
    quern_kernel_release(k[1]);
}

/* ---- outputs of a call that is not made ------------------------------------------------------ */

static void expect_info(const quern_array_info *info, quern_dtype dtype, int ndim,
                        const int64_t *shape)
{
    cr_expect_eq(info->dtype, (int32_t)dtype);
    cr_expect_eq(info->ndim, ndim);
    for (int d = 0; d < QUERN_MAX_NDIM; d++) {
        cr_expect_eq(info->shape[d], d < ndim ? shape[d] : 0, "axis %d: %lld", d,
                     (long long)info->shape[d]);
    }
}

Test(ask, infer_without_memory)
{
    quern_kernel *k;
    OK(quern_elementwise(&k, engine, "T x, U y", "T z, bool less", "z = x; less = x < y", NULL));
    quern_array_info out[2] = {QUERN_ARRAY_INFO_INIT};
    const int64_t huge = INT64_C(1) << 40; /* more than any machine has */
    quern_value values[4] = {
        quern_value_like(QUERN_FLOAT64, 2, (int64_t[]){huge, 1}),
        quern_value_like(QUERN_INT8, 1, (int64_t[]){3}),
    };
    OK(quern_kernel_infer(out, 2, k, values, 2, NULL)); /* inputs alone */
    expect_info(&out[0], QUERN_FLOAT64, 2, (int64_t[]){huge, 3});
    expect_info(&out[1], QUERN_BOOL, 2, (int64_t[]){huge, 3});
    quern_array *z = NULL;
    values[2] = quern_value_output(&z);
    OK(quern_kernel_infer(out, 2, k, values, 4, NULL)); /* a place and nothing */
    expect_info(&out[1], QUERN_BOOL, 2, (int64_t[]){huge, 3});
    cr_expect_null(z);
    values[3] = quern_value_like(QUERN_BOOL, 1, (int64_t[]){3});
    FAILS(QUERN_ERROR_SHAPE, quern_kernel_infer(out, 2, k, values, 4, NULL));
    values[1] = quern_literal_int(3);
    OK(quern_kernel_infer(out, 1, k, values, 2, NULL)); /* of the first output alone */
    expect_info(&out[0], QUERN_FLOAT64, 2, (int64_t[]){huge, 1});
    expect_info(&out[1], QUERN_BOOL, 2, (int64_t[]){huge, 3});
    OK(quern_kernel_infer(NULL, 0, k, values, 2, NULL));
    OK(quern_kernel_infer_with(out, 2, k, NULL, values[0], 3)); /* counted by the macro */
    expect_info(&out[1], QUERN_BOOL, 2, (int64_t[]){huge, 1});
    quern_kernel_release(k);
}

Test(ask, infer_along_axes)
{
    quern_kernel *sum, *running;
    OK(quern_reduction(&sum, engine, "T x", "float64 y", "x", "a + b", "y = a", NULL, NULL));
    OK(quern_scan(&running, engine, "T x", "T y", "x", "a + b", "y = a", NULL, NULL));
    quern_value x = quern_value_like(QUERN_INT16, 3, (int64_t[]){2, 0, 5});
    quern_call_options options = QUERN_CALL_OPTIONS_INIT;
    quern_array_info out = QUERN_ARRAY_INFO_INIT;
    options.axes = (int[]){-1};
    options.axis_count = 1;
    OK(quern_kernel_infer(&out, 1, sum, &x, 1, &options));
    expect_info(&out, QUERN_FLOAT64, 2, (int64_t[]){2, 0});
    options.keepdims = 1;
    OK(quern_kernel_infer(&out, 1, sum, &x, 1, &options));
    expect_info(&out, QUERN_FLOAT64, 3, (int64_t[]){2, 0, 1});
    options.keepdims = 0;
    OK(quern_kernel_infer(&out, 1, running, &x, 1, &options));
    expect_info(&out, QUERN_INT16, 3, (int64_t[]){2, 0, 5});
    FAILS(QUERN_ERROR_SHAPE, quern_kernel_infer(&out, 1, sum, &x, 1, NULL));
    SAYS("nothing to reduce");
    options.axes = (int[]){3};
    FAILS(QUERN_ERROR_SHAPE, quern_kernel_infer(&out, 1, sum, &x, 1, &options));
    quern_kernel_release(sum);
    quern_kernel_release(running);
}

Test(ask, infer_over_nothing_but_a_size)
{
    quern_kernel *k = kernel_of("", "int32 y", "y = i");
    quern_call_options options = QUERN_CALL_OPTIONS_INIT;
    quern_array_info out = QUERN_ARRAY_INFO_INIT;
    options.loop_size = &(int64_t){7};
    OK(quern_kernel_infer(&out, 1, k, NULL, 0, &options));
    expect_info(&out, QUERN_INT32, 1, (int64_t[]){7});
    FAILS(QUERN_ERROR_INVALID_ARGUMENT, quern_kernel_infer(&out, 1, k, NULL, 0, NULL));
    SAYS("undecided");
    quern_kernel_release(k);
}

Test(ask, infer_refuses)
{
    quern_kernel *k = kernel_of("T x, T y", "T z", "z = x + y");
    quern_array_info out = QUERN_ARRAY_INFO_INIT;
    quern_value v[3] = {quern_value_like(QUERN_INT8, 1, (int64_t[]){3}),
                        quern_value_like(QUERN_INT8, 1, (int64_t[]){4})};
    FAILS(QUERN_ERROR_SHAPE, quern_kernel_infer(&out, 1, k, v, 2, NULL));
    v[1] = quern_value_like(QUERN_INT16, 1, (int64_t[]){3});
    FAILS(QUERN_ERROR_TYPE, quern_kernel_infer(&out, 1, k, v, 2, NULL));
    v[1] = quern_value_like((quern_dtype)99, 1, (int64_t[]){3});
    FAILS(QUERN_ERROR_INVALID_ARGUMENT, quern_kernel_infer(&out, 1, k, v, 2, NULL));
    SAYS("'y' (argument 2): 99 is not a dtype");
    v[1] = quern_value_like(QUERN_INT8, 1, (int64_t[]){-3});
    FAILS(QUERN_ERROR_INVALID_ARGUMENT, quern_kernel_infer(&out, 1, k, v, 2, NULL));
    SAYS("'y' (argument 2)");
    v[1] = quern_value_like(QUERN_INT8, 1, NULL);
    FAILS(QUERN_ERROR_INVALID_ARGUMENT, quern_kernel_infer(&out, 1, k, v, 2, NULL));
    SAYS("the shape is NULL");
    v[1] = quern_value_like(QUERN_INT8, QUERN_MAX_NDIM + 1, (int64_t[]){3});
    FAILS(QUERN_ERROR_INVALID_ARGUMENT, quern_kernel_infer(&out, 1, k, v, 2, NULL));
    SAYS("0 to 32 dimensions");
    FAILS(QUERN_ERROR_ARGUMENT_COUNT, quern_kernel_infer(&out, 1, k, v, 1, NULL));
    out.size = 3;
    FAILS(QUERN_ERROR_INVALID_ARGUMENT, quern_kernel_infer(&out, 1, k, v, 2, NULL));
    SAYS("QUERN_ARRAY_INFO_INIT");
    quern_kernel_release(k);
}

/* Calls and functions of modules want memory. */
Test(ask, calls_refuse_what_has_no_memory)
{
    static const char ptx[] = ".version 7.0\n.target sm_75\n.address_size 64\n"
                              ".visible .entry f(.param .u64 x) { ret; }\n";
    quern_kernel *k = kernel_of("T x", "T z", "z = x");
    quern_array *z = NULL;
    quern_value like = quern_value_like(QUERN_INT8, 1, (int64_t[]){3});
    FAILS(QUERN_ERROR_TYPE, quern_call(k, like, &z));
    SAYS("quern_kernel_infer()");
    quern_bound *bound;
    FAILS(QUERN_ERROR_TYPE, quern_bind_with(&bound, k, NULL, like, &z));
    quern_module *module;
    quern_function *f;
    OK(quern_module_load(&module, engine, ptx, sizeof ptx - 1));
    OK(quern_module_function(&f, module, "f"));
    FAILS(QUERN_ERROR_TYPE, quern_function_call(f, NULL, like));
    SAYS("quern_kernel_infer()");
    quern_function_release(f);
    quern_module_release(module);
    quern_kernel_release(k);
}

/* Views, broadcasting, letters, several outputs, axes: the call allocates what was inferred. */
Test(ask_and_call, agree)
{
    static const float host[24] = {0};
    static const struct {
        const char *in, *out, *post;
        int axis; /* 9: all */
        uint32_t keepdims;
    } cases[] = {
        {"T x, T y", "T p, int64 q", "p = a; q = 1", 0, 0},
        {"T x, T y", "T p", "p = a", 1, 1},
        {"T x, T y", "bool p, T q", "p = true; q = a", 9, 0},
        {"T x, T y", "T p", "p = a", 9, 1},
        {"T x, T y", "T p", "p = a", -1, 0},
    };
    quern_array *x = array_of(QUERN_FLOAT32, SHAPE(4, 1, 6), host), *turned, *y;
    OK(quern_array_transpose(&turned, x, NULL));
    y = array_of(QUERN_FLOAT32, SHAPE(3, 1), host);
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        quern_kernel *k;
        quern_array *out[2] = {NULL, NULL};
        quern_array_info info[2] = {QUERN_ARRAY_INFO_INIT};
        quern_kernel_info about = QUERN_KERNEL_INFO_INIT;
        quern_call_options options = QUERN_CALL_OPTIONS_INIT;
        options.axes = cases[c].axis == 9 ? NULL : &cases[c].axis;
        options.axis_count = cases[c].axis != 9;
        options.keepdims = cases[c].keepdims;
        OK(quern_reduction(&k, engine, cases[c].in, cases[c].out, "x + y", "a + b", cases[c].post,
                           "0", NULL));
        OK(quern_kernel_get_info(&about, k));
        quern_value v[4] = {quern_value_array(turned), quern_value_array(y),
                            quern_value_output(&out[0]), quern_value_output(&out[1])};
        OK(quern_kernel_infer(info, 2, k, v, 2, &options));
        OK(quern_call_n(k, v, about.parameter_count, &options));
        for (size_t o = 0; o < about.out_count; o++) {
            expect_info(&info[o], quern_array_dtype(out[o]), quern_array_ndim(out[o]),
                        quern_array_shape(out[o]));
            quern_array_release(out[o]);
        }
        quern_kernel_release(k);
    }
    quern_array_release(x);
    quern_array_release(turned);
    quern_array_release(y);
}

/* ---- modules -------------------------------------------------------------------------------- */

Test(ask_and_call, sources_of_a_kernel)
{
    const char *sources[3] = {NULL, NULL, "kept"};
    size_t count = 9;
    quern_kernel *k;
    OK(quern_elementwise(&k, engine, "T x", "T y", "y = x + x", NULL));
    OK(quern_kernel_sources(&count, NULL, 0, k));
    cr_expect_eq(count, 0);
    quern_array *x = array_of(QUERN_FLOAT32, SHAPE(2), ((float[]){1, 2})), *y = NULL;
    quern_array *n = array_of(QUERN_INT32, SHAPE(2), ((int32_t[]){1, 2})), *m = NULL;
    OK(quern_call(k, x, &y));
    OK(quern_call(k, n, &m));
    OK(quern_kernel_sources(&count, sources, 1, k));
    cr_expect_eq(count, 2);
    cr_expect_null(sources[1]);
    OK(quern_kernel_sources(&count, sources, 3, k));
    cr_expect_not_null(strstr(sources[0], "int"), "the latest is the first");
    cr_expect_not_null(strstr(sources[1], "float"));
    cr_expect_str_eq(sources[2], "kept");
    FAILS(QUERN_ERROR_INVALID_ARGUMENT, quern_kernel_sources(NULL, sources, 3, k));
    FAILS(QUERN_ERROR_INVALID_ARGUMENT, quern_kernel_sources(&count, NULL, 3, k));
    FAILS(QUERN_ERROR_INVALID_ARGUMENT, quern_kernel_sources(&count, sources, 3, NULL));
    cr_expect_eq(count, 0);
    quern_array_release(x);
    quern_array_release(y);
    quern_array_release(n);
    quern_array_release(m);
    quern_kernel_release(k);
}

Test(ask, functions_of_a_module)
{
    static const char ptx[] = ".version 7.0\n.target sm_75\n.address_size 64\n"
                              ".visible .entry one() { ret; }\n"
                              ".visible .entry _Z3twoi(.param .u32 n) { ret; }\n";
    const char *names[4] = {NULL, NULL, "kept", NULL};
    size_t count = 9;
    quern_module *module;
    quern_function *f;
    OK(quern_module_load(&module, engine, ptx, sizeof ptx - 1));
    OK(quern_module_function_names(&count, NULL, 0, module));
    cr_expect_eq(count, 2);
    OK(quern_module_function_names(&count, names, 4, module));
    cr_expect_eq(count, 2);
    cr_expect_str_eq(names[0], "one");
    cr_expect_str_eq(names[1], "_Z3twoi");
    cr_expect_str_eq(names[2], "kept");
    for (size_t k = 0; k < count; k++) {
        OK(quern_module_function(&f, module, names[k]));
        cr_expect_str_eq(quern_function_name(f), names[k]);
        cr_expect_null(quern_function_handle(f));
        quern_function_release(f);
    }
    cr_expect_null(quern_module_handle(module));
    cr_expect_null(quern_module_handle(NULL));
    cr_expect_null(quern_function_handle(NULL));
    cr_expect_str_eq(quern_function_name(NULL), "");
    FAILS(QUERN_ERROR_INVALID_ARGUMENT, quern_module_function_names(NULL, names, 4, module));
    FAILS(QUERN_ERROR_INVALID_ARGUMENT, quern_module_function_names(&count, NULL, 4, module));
    FAILS(QUERN_ERROR_INVALID_ARGUMENT, quern_module_function_names(&count, names, 4, NULL));
    cr_expect_eq(count, 0);
    quern_module_release(module);
}

Test(ask_and_call, functions_by_their_expressions)
{
    static const char source[] = "template <typename T> __global__ void twice(T *x) { *x *= 2; }\n"
                                 "extern \"C\" __global__ void none() {}\n";
    quern_module_options options = QUERN_MODULE_OPTIONS_INIT;
    options.expressions = (const char *[]){"twice<float>", "twice<int>"};
    options.expression_count = 2;
    quern_module *module;
    OK(quern_module_new(&module, engine, source, &options));
    const char *names[3];
    size_t count;
    unsigned seen = 0;
    OK(quern_module_function_names(&count, names, 3, module));
    cr_expect_eq(count, 3);
    for (size_t k = 0; k < 3; k++) {
        seen |= strcmp(names[k], "twice<float>") == 0 ? 1u : 0;
        seen |= strcmp(names[k], "twice<int>") == 0 ? 2u : 0;
        seen |= strcmp(names[k], "none") == 0 ? 4u : 0;
    }
    cr_expect_eq(seen, 7u);
    quern_module_release(module);
}
