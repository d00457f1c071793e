/* SPDX-License-Identifier: MIT
 *
 * Kernels that are called what C++, CUDA, a header, a text or the signature has given to something
 * else: they work, keep their name in messages, and a name that is free stays in the source.
 */
#include "whole.h"
#include <stdio.h>

TestSuite(kernel_names, .init = whole_open, .fini = whole_close);

static const struct named {
    const char *name, *entry; /* what the source has; NULL: the compiler's choice */
    const char *preamble, *option;
} names[] = {
    {"twice", "twice", "", NULL},
    {"y", "y", "", NULL},
    {"log_kernel", "log_kernel", "", NULL},
    /* functions */
    {"log", "log_kernel", "", NULL},
    {"pow", "pow_kernel", "", NULL},
    {"exp", "exp_kernel", "", NULL},
    {"abs", "abs_kernel", "", NULL},
    {"sin", "sin_kernel", "", NULL},
    {"norm", "norm_kernel", "", NULL},
    {"min", "min_kernel", "", NULL},
    {"max", "max_kernel", "", NULL},
    {"printf", "printf_kernel", "", NULL},
    {"memcpy", NULL, "", NULL},
    {"atomicAdd", NULL, "", NULL},
    {"__sinf", "__sinf_kernel", "", NULL},
    {"main", "main_kernel", "", NULL},
    /* words, variables, types, macros, namespaces */
    {"double", "double_kernel", "", NULL},
    {"union", "union_kernel", "", NULL},
    {"not", "not_kernel", "", NULL},
    {"threadIdx", "threadIdx_kernel", "", NULL},
    {"T", "T_kernel", "", NULL},
    {"float4", "float4", "", NULL},
    {"assert", "assert_kernel", "", NULL},
    {"quern", "quern_kernel", "", NULL},
    {"__CUDA_ARCH__", "__CUDA_ARCH___kernel", "", NULL},
    /* what the user's own text has taken */
    {"helper", "helper", "struct helper {};", NULL},
    {"helper", "helper_kernel", "__device__ int helper;", NULL},
    {"helper", "helper_kernel", "extern \"C\" __device__ int helper(int v) { return v; }", NULL},
    {"helper", "helper_kernel", "", "-Dhelper=3"},
    {"helper", "helper_kernel", "#define helper 3", NULL},
};

/* The source that was compiled for a call. */
static void source_has(quern_kernel *kernel, const quern_value *values, const struct named *n)
{
    quern_explanation *e = NULL;
    char text[100];
    OK(quern_explain(&e, kernel, values, 2, NULL));
    snprintf(text, sizeof text, " %s(", n->entry);
    cr_expect_not_null(strstr(e->source, text), "%s: \"%s\" is not in the source", n->name, text);
    quern_explanation_release(e);
}

static quern_kernel *make(int kind, const struct named *n, const char *map)
{
    quern_kernel *kernel = NULL;
    if (kind == 0) {
        quern_kernel_options o = QUERN_KERNEL_OPTIONS_INIT;
        o.name = n->name;
        o.preamble = n->preamble;
        o.options = &n->option;
        o.option_count = n->option != NULL;
        OK(quern_elementwise(&kernel, engine, "T x", "T y", map, &o));
    } else if (kind == 1) {
        quern_reduction_options o = QUERN_REDUCTION_OPTIONS_INIT;
        o.name = n->name;
        o.preamble = n->preamble;
        o.options = &n->option;
        o.option_count = n->option != NULL;
        OK(quern_reduction(&kernel, engine, "T x", "T y", "x", "a + b", "y = a", "0", &o));
    } else {
        quern_scan_options o = QUERN_SCAN_OPTIONS_INIT;
        o.name = n->name;
        o.preamble = n->preamble;
        o.options = &n->option;
        o.option_count = n->option != NULL;
        OK(quern_scan(&kernel, engine, "T x", "T y", "x", "a + b", "y = a", "0", &o));
    }
    return kernel;
}

/* Of every kind, twice: the second call's dtype is another source. */
static void try_kind(int kind, const struct named *n)
{
    static const float expected[] = {7, 5, 5};
    quern_kernel *kernel = make(kind, n, "y = x + 2");
    for (int k = 0; k < 2; k++) {
        const float floats[2] = {2, 3};
        const double doubles[2] = {2, 3};
        quern_array *x = k == 0 ? array_of(QUERN_FLOAT32, SHAPE(2), floats)
                                : array_of(QUERN_FLOAT64, SHAPE(2), doubles);
        quern_array *y = NULL;
        const quern_value values[] = {QUERN_VALUES(x, &y)};
        float got[2];
        double wide[2];
        cr_assert_eq(quern_call_n(kernel, values, 2, NULL), QUERN_OK, "%s: %s", n->name,
                     quern_last_error_text());
        OK(quern_array_read(y, k == 0 ? (void *)got : (void *)wide,
                            kind == 1 ? (k ? 8 : 4) : (k ? 16 : 8)));
        const int last = kind != 1;
        const double element = k == 0 ? got[kind == 0 ? 0 : last] : wide[kind == 0 ? 0 : last];
        cr_expect_eq(element, kind == 0 ? 4 : expected[kind], "%s, kind %d: %g", n->name, kind,
                     element);
        if (n->entry) {
            source_has(kernel, values, n);
        }
        quern_array_release(y);
        quern_array_release(x);
    }
    quern_kernel_release(kernel);
}

Test(kernel_names, taken)
{
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        for (int kind = 0; kind < 3; kind++) {
            try_kind(kind, &names[k]);
        }
    }
}

/* The function is CUDA's in the texts, and so are the messages about them. */
Test(kernel_names, texts)
{
    const struct named n = {"log", "log_kernel", "", NULL};
    quern_kernel *kernel = make(0, &n, "y = log(x)"), *wrong = make(0, &n, "y = logg(x)");
    quern_array *x = array_of(QUERN_FLOAT64, SHAPE(1), (double[]){1}), *y = NULL;
    double got = -1;
    OK(quern_call(kernel, x, &y));
    OK(quern_array_read(y, &got, sizeof got));
    cr_expect_eq(got, 0);
    quern_array_release(y);
    y = NULL;
    FAILS(QUERN_ERROR_COMPILE, quern_call(wrong, x, &y));
    SAYS("operation:1:5: identifier \"logg\" is undefined");
    FAILS(QUERN_ERROR_ARGUMENT_COUNT, quern_call(kernel, x, x, x));
    SAYS("log takes");
    quern_kernel_release(kernel);
    quern_kernel_release(wrong);
    quern_array_release(x);
}

/* What is no identifier is refused, whatever it begins with. */
Test(kernel_names, refused)
{
    static const char *const wrong[] = {"", "3", "a-b", "a b", "log(", "ns::f", "a\n", "\xc3\xa9"};
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        quern_kernel_options o = QUERN_KERNEL_OPTIONS_INIT;
        quern_kernel *kernel = NULL;
        o.name = wrong[k];
        FAILS(QUERN_ERROR_INVALID_ARGUMENT,
              quern_elementwise(&kernel, engine, "T x", "T y", "y = x", &o));
        SAYS("cannot be the name of a kernel");
    }
}
