/* SPDX-License-Identifier: MIT
 *
 * Kernels that launch kernels: on a GPU what they compute, with and without an option that asks for
 * relocatable code; on the software device the refusal and its place.
 */
#include "whole.h"

#include <stdio.h>
#include <unistd.h>

TestSuite(launching, .init = whole_open, .fini = whole_close);

enum { INNER = 13, ALL = 169 };

static const char source[] = "extern \"C\" __global__ void child(int *x) { x[threadIdx.x] += 1; }\n"
                             "extern \"C\" __global__ void parent(int *x)\n"
                             "{\n"
                             "    child<<<1, 13>>>(x + 13 * threadIdx.x);\n"
                             "}\n";

static bool on_gpu(void)
{
    quern_device_info info = QUERN_DEVICE_INFO_INIT;
    OK(quern_device_get_info(&info, engine));
    return strncmp(info.id, "cuda", 4) == 0;
}

#define NEEDS_GPU()                                                                                \
    do {                                                                                           \
        if (!on_gpu()) {                                                                           \
            cr_skip_test("the device of QUERN_DEVICE has no launches from kernels: a GPU has");    \
        }                                                                                          \
    } while (0)

/* `parent` of a module adds 1 to all elements. */
static void expect_ones(quern_module *module)
{
    int32_t zeros[ALL] = {0}, got[ALL];
    quern_array *x = array_of(QUERN_INT32, SHAPE(ALL), zeros);
    quern_function *f;
    OK(quern_module_function(&f, module, "parent"));
    OK(quern_function_call(f, &QUERN_GRID(1, INNER), x));
    OK(quern_array_read(x, got, sizeof got));
    for (int k = 0; k < ALL; k++) {
        cr_expect_eq(got[k], 1, "element %d is %d", k, got[k]);
    }
    quern_function_release(f);
    quern_array_release(x);
}

static quern_status make(quern_module **out, const char *text, const char *const *options,
                         size_t count)
{
    quern_module_options o = QUERN_MODULE_OPTIONS_INIT;
    o.options = options;
    o.option_count = count;
    return quern_module_new(out, engine, text, &o);
}

Test(launching, with_and_without_options)
{
    NEEDS_GPU();
    static const char *const options[] = {NULL, "-dc", "-rdc=true",
                                          "--relocatable-device-code=true", "--device-c"};
    for (size_t k = 0; k < sizeof options / sizeof *options; k++) {
        quern_module *m;
        OK(make(&m, source, &options[k], options[k] != NULL));
        expect_ones(m);
        quern_module_release(m);
    }
}

Test(launching, in_templates_and_several_pieces)
{
    NEEDS_GPU();
    static const char one[] = "__global__ void child(int *x) { x[threadIdx.x] += 1; }\n";
    static const char two[] = "__global__ void child(int *x);\n"
                              "extern \"C\" __global__ void parent(int *x)\n"
                              "{ child<<<1, 13>>>(x + 13 * threadIdx.x); }\n";
    const quern_link_input inputs[] = {{"one.cu", one, NULL, 0}, {"two.cu", two, NULL, 0}};
    static const char *const lto[] = {"-dlto"};
    for (size_t k = 0; k < 2; k++) {
        quern_module_options o = QUERN_MODULE_OPTIONS_INIT;
        o.options = lto;
        o.option_count = k;
        quern_module *m;
        OK(quern_module_link(&m, engine, inputs, 2, &o));
        expect_ones(m);
        quern_module_release(m);
    }
    quern_module_options o = QUERN_MODULE_OPTIONS_INIT;
    o.expressions = (const char *const[]){"outer<int>"};
    o.expression_count = 1;
    quern_module *m;
    OK(quern_module_new(&m, engine,
                        "template <typename T> __global__ void inner(T *x) { *x = 7; }\n"
                        "template <typename T> __global__ void outer(T *x)\n"
                        "{ inner<T><<<1, 1>>>(x + threadIdx.x); }\n",
                        &o));
    quern_function *f;
    quern_array *x = array_of(QUERN_INT32, SHAPE(3), (int32_t[3]){0});
    OK(quern_module_function(&f, m, "outer<int>"));
    OK(quern_function_call(f, &QUERN_GRID(1, 3), x));
    EXPECT(x, int32_t, 7, 7, 7);
    quern_function_release(f);
    quern_module_release(m);
    quern_array_release(x);
}

/* A kernel that launches itself, and uses the device's runtime. */
Test(launching, recursion)
{
    NEEDS_GPU();
    quern_module *m;
    OK(make(&m,
            "extern \"C\" __global__ void down(int *x, int depth)\n"
            "{\n"
            "    x[depth] = cudaGetLastError() == cudaSuccess ? depth : -1;\n"
            "    if (depth > 0) down<<<1, 1, 0, cudaStreamTailLaunch>>>(x, depth - 1);\n"
            "}\n",
            NULL, 0));
    quern_function *f;
    quern_array *x = array_of(QUERN_INT32, SHAPE(5), (int32_t[5]){9, 9, 9, 9, 9});
    OK(quern_module_function(&f, m, "down"));
    OK(quern_function_call(f, &QUERN_GRID(1, 1), x, 4));
    EXPECT(x, int32_t, 0, 1, 2, 3, 4);
    quern_function_release(f);
    quern_module_release(m);
    quern_array_release(x);
}

Test(launching, relocatable_code_without_launches)
{
    quern_module *m;
    static const char *const options[] = {"-rdc=true"};
    OK(make(&m,
            "__device__ int g(int x) { return x + 1; }\n"
            "extern \"C\" __global__ void k(int *x) { *x = g(*x); }\n",
            options, 1));
    quern_function *f;
    quern_array *x = array_of(QUERN_INT32, SHAPE(1), (int32_t[]){41});
    OK(quern_module_function(&f, m, "k"));
    OK(quern_function_call(f, &QUERN_GRID(1, 1), x));
    EXPECT(x, int32_t, 42);
    quern_function_release(f);
    quern_module_release(m);
    quern_array_release(x);
}

Test(launching, refused_with_the_place)
{
    if (on_gpu()) {
        cr_skip_test("a GPU launches kernels from kernels");
    }
    static const char *const options[] = {"-dc"};
    quern_module *m;
    FAILS(QUERN_ERROR_COMPILE, make(&m, source, NULL, 0));
    SAYS("kernel.cu:4:5: kernels that launch kernels need a GPU: the device \"soft\"");
    cr_expect_null(m);
    FAILS(QUERN_ERROR_NOT_SUPPORTED, make(&m, source, options, 1));
    SAYS(
        "kernels that launch kernels need a GPU: the software device has no launches from kernels");
    SAYS("line 4, column 5");
    const quern_link_input input = {"one.cu", source, NULL, 0};
    quern_status status = quern_module_link(&m, engine, &input, 1, NULL);
    if (status != QUERN_ERROR_NVJITLINK_NOT_FOUND) {
        cr_expect_eq(status, QUERN_ERROR_NOT_SUPPORTED);
        SAYS("kernels that launch kernels need a GPU");
        SAYS("one.cu, line 4, column 5");
    }
}
