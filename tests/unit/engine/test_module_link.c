/* SPDX-License-Identifier: MIT
 *
 * Modules of several pieces: one may use what another defines, and what cannot be linked is named.
 */
#include "whole.h"

/* Skips where no nvJitLink is found: it alone links, so that no module of several pieces comes
 * into being and nothing below could run. It comes with the CUDA Toolkit, its Python package, and
 * what ./dev fetches where there is no Toolkit. */
static void open_with_linker(void)
{
    whole_open();
    quern_module *module;
    quern_link_input empty = {.name = "empty.cu", .source = "__device__ int nothing;"};
    if (quern_module_link(&module, engine, &empty, 1, NULL) == QUERN_ERROR_NVJITLINK_NOT_FOUND) {
        cr_skip_test("no nvJitLink on this machine: %s", quern_last_error()->message);
    }
    quern_module_release(module);
}

TestSuite(module_link, .init = open_with_linker, .fini = whole_close);

static const quern_link_input pieces[] = {
    {.name = "main.cu",
     .source = "extern __device__ int weight; __device__ int scale(int x);\n"
               "extern \"C\" __global__ void run(int *x)\n"
               "{ x[threadIdx.x] = scale(x[threadIdx.x]) + weight; }\n"},
    {.name = "scale.cu",
     .source = "__device__ int weight = 100;\n"
               "__device__ int scale(int x) { return FACTOR * x; }\n"},
};

static void expect_run(quern_module *module, const char *name, int32_t first, int32_t second)
{
    quern_array *x = array_of(QUERN_INT32, SHAPE(2), (int32_t[]){1, 2});
    quern_function *f;
    OK(quern_module_function(&f, module, name));
    OK(quern_function_call(f, &QUERN_GRID(1, 2), x));
    EXPECT(x, int32_t, first, second);
    quern_function_release(f);
    quern_array_release(x);
}

Test(module_link, sources)
{
    quern_module *module;
    quern_module_options o = QUERN_MODULE_OPTIONS_INIT;
    o.options = (const char *[]){"-DFACTOR=3"};
    o.option_count = 1;
    quern_cache_stats before = {.size = sizeof before}, after = before;
    OK(quern_module_link(&module, engine, pieces, 2, &o));
    expect_run(module, "run", 103, 106);
    quern_array *weight;
    OK(quern_module_global(&weight, module, "weight", QUERN_INT32, 0, NULL));
    OK(quern_array_fill(weight, &(int32_t){-1}, sizeof(int32_t)));
    expect_run(module, "run", 2, 5);
    quern_array_release(weight);
    quern_module_release(module);
    OK(quern_cache_get_stats(&before, engine));
    OK(quern_module_link(&module, engine, pieces, 2, &o)); /* known by now */
    OK(quern_cache_get_stats(&after, engine));
    cr_expect_eq(after.compiled, before.compiled);
    expect_run(module, "run", 103, 106);
    quern_module_release(module);
    o.options = (const char *[]){"-DFACTOR=3", "-dlto"};
    o.option_count = 2;
    OK(quern_module_link(&module, engine, pieces, 2, &o));
    expect_run(module, "run", 103, 106);
    quern_module_release(module);
}

Test(module_link, expressions)
{
    quern_module *module;
    quern_module_options o = QUERN_MODULE_OPTIONS_INIT;
    o.expressions = (const char *[]){"add<5>"};
    o.expression_count = 1;
    quern_link_input one = {
        .name = "add.cu",
        .source = "template <int N> __global__ void add(int *x) { x[threadIdx.x] += N; }"};
    OK(quern_module_link(&module, engine, &one, 1, &o));
    expect_run(module, "add<5>", 6, 7);
    quern_module_release(module);
}

Test(module_link, failures)
{
    quern_module *module;
    FAILS(QUERN_ERROR_COMPILE, quern_module_link(&module, engine, pieces, 2, NULL));
    cr_expect_null(module);
    SAYS("scale.cu:2:38: identifier \"FACTOR\" is undefined");
    FAILS(QUERN_ERROR_LINK, quern_module_link(&module, engine, pieces, 1, NULL));
    cr_expect_null(module);
    SAYS("weight");
    quern_link_input broken = {
        .name = "broken.ptx", .image = ".version nonsense", .image_bytes = 17};
    cr_expect_neq(quern_module_link(&module, engine, &broken, 1, NULL), QUERN_OK);
    cr_expect_null(module);
    SAYS("broken.ptx");
}

static bool on_software_device(void)
{
    quern_device_info info = QUERN_DEVICE_INFO_INIT;
    OK(quern_device_get_info(&info, engine));
    return strcmp(info.id, "soft") == 0;
}

/* One piece, or several, that use what none defines: refused when it is linked, with the place. */
Test(module_link, what_nothing_defines)
{
    static const struct {
        const char *first, *second, *name;
    } cases[] = {
        {"__device__ int f(int);\nextern \"C\" __global__ void k(int *x) { *x = f(1); }", NULL,
         "f"},
        {"extern __device__ int v;\nextern \"C\" __global__ void k(int *x) { *x = v; }", NULL, "v"},
        {"__device__ int f(int);\nextern \"C\" __global__ void k(int *x) { *x = f(1); }",
         "__device__ int g(int); __device__ int f(int x) { return g(x); }", "g"},
        {"__device__ int f(int);\nextern \"C\" __global__ void k(int *x) { *x = f(1); }",
         "__device__ int f(int x) { return x; }", NULL},
        {"extern \"C\" __global__ void k(int *x)\n"
         "{ if (*x == 9) { printf(\"%d\", *x); free(malloc(9)); } }",
         NULL, NULL},
    };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        for (uint32_t dlto = 0; dlto < 2; dlto++) {
            const quern_link_input inputs[] = {{.name = "a.cu", .source = cases[k].first},
                                               {.name = "b.cu", .source = cases[k].second}};
            quern_module_options o = QUERN_MODULE_OPTIONS_INIT;
            o.options = (const char *[]){"-dlto"};
            o.option_count = dlto;
            quern_module *module;
            const quern_status status =
                quern_module_link(&module, engine, inputs, cases[k].second ? 2 : 1, &o);
            if (status == QUERN_OK && k == 1 && !on_software_device()) {
                quern_module_release(module); /* nvJitLink 13.0 linked it on an H200 */
                continue;
            }
            cr_expect_eq(status, cases[k].name ? QUERN_ERROR_LINK : QUERN_OK, "case %zu: %s", k,
                         quern_last_error()->message);
            if (cases[k].name) {
                SAYS(cases[k].name);
            }
            quern_module_release(module);
        }
    }
}
