/* SPDX-License-Identifier: MIT
 *
 * Real compilations: images, headers, name expressions, options, errors, threads. Skipped where
 * NVRTC is absent.
 */
#include "compile/compile.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ARCH 90

static void need_nvrtc(void)
{
    qn_compiler_identity identity;
    if (!qn_compiler_find(&identity, NULL)) {
        /* Nothing can stand in for the compiler: these tests are about what it makes and says. Runs
         * wherever NVRTC is: ./dev test fetches it where it is absent. */
        /* It compiles for real. Under ./dev it never skips: NVRTC is fetched where there is none.
         */
        cr_skip_test("NVRTC is not on this machine");
    }
}

static const char plain[] = "extern \"C\" __global__ void k(float *x) { x[threadIdx.x] *= 2; }\n";

static qn_compile_request request_for(const char *source, qn_image_kind kind)
{
    return (qn_compile_request){.source = source,
                                .file_name = "quern_kernel.cu",
                                .arch = ARCH,
                                .kind = kind,
                                .minimal = true};
}

Test(compile, cubin, .init = need_nvrtc)
{
    qn_compile_request request = request_for(plain, QN_IMAGE_CUBIN);
    qn_image image;
    cr_assert_eq(qn_compile(&image, &request, NULL, 0), QUERN_OK, "%s", quern_last_error_text());
    cr_expect_eq(image.kind, QN_IMAGE_CUBIN);
    cr_expect(image.size > 500 && memcmp(image.data, "\177ELF", 4) == 0);
    cr_expect_str_eq(image.log, "");
    cr_expect_gt(image.compile_ms, 0);
    qn_image_free(&image);
    cr_expect_null(image.data);
    int major, minor;
    qn_compiler_version(&major, &minor);
    cr_expect_geq(major, 12);
}

Test(compile, ptx, .init = need_nvrtc)
{
    qn_compile_request request = request_for(plain, QN_IMAGE_PTX);
    request.line_info = true;
    qn_image image;
    cr_assert_eq(qn_compile(&image, &request, NULL, 0), QUERN_OK);
    cr_expect_eq(image.size, strlen(image.data));
    cr_expect(strstr(image.data, ".target sm_90"));
    cr_expect(strstr(image.data, ".loc"), "line information was asked for");
    qn_image_free(&image);
}

Test(compile, headers_and_name_expressions, .init = need_nvrtc)
{
    qn_compile_request request =
        request_for("#include \"two.h\"\n"
                    "template <class T> __global__ void k(T *x) { *x = TWO; }\n"
                    "__constant__ int c[3];\n",
                    QN_IMAGE_PTX);
    static const qn_header headers[] = {{"one.h", "#error not included"},
                                        {"two.h", "#define TWO 2"}};
    static const char *const expressions[] = {"k<float>", "&c", "k<double>"};
    request.headers = headers;
    request.header_count = 2;
    request.expressions = expressions;
    request.expression_count = 3;
    qn_image image;
    cr_assert_eq(qn_compile(&image, &request, NULL, 0), QUERN_OK, "%s", quern_last_error_text());
    cr_assert_eq(image.lowered_count, 3);
    cr_expect_str_eq(image.lowered[0], "_Z1kIfEvPT_");
    cr_expect_str_eq(image.lowered[1], "c");
    cr_expect(strstr(image.data, image.lowered[2]));
    qn_image_free(&image);
}

Test(compile, two_headers_of_one_name, .init = need_nvrtc)
{
    qn_compile_request request = request_for("#include \"two.h\"\n", QN_IMAGE_PTX);
    static const qn_header headers[] = {{"one.h", ""}, {"two.h", ""}, {"one.h", "int x;"}};
    request.headers = headers;
    request.header_count = 3;
    qn_image image;
    cr_assert_eq(qn_compile(&image, &request, NULL, 0), QUERN_ERROR_INVALID_ARGUMENT);
    cr_expect_str_eq(quern_last_error()->message,
                     "the headers 0 and 2 in memory have the same name, \"one.h\"");
    request.header_count = 2;
    cr_assert_eq(qn_compile(&image, &request, NULL, 0), QUERN_OK, "%s", quern_last_error_text());
    qn_image_free(&image);
}

static const struct {
    const char *operation;
    const char *message; /* how it begins */
    const char *marked;
} mistakes[] = {
    {"x[0] = foo;", "operation:1:8: identifier \"foo\" is undefined", "foo"},
    {"x[0] = 1;\n\tx[1] = nix(2);", "operation:2:9: identifier \"nix\" is undefined", "nix"},
    {"x[0] = \"\xc3\xa9\"; x[1] = bar;", "operation:1:6: a value of type", "="},
    {"if (x[0] > 1) {", "operation:1:15: this { has no partner", "{"},
    {"x[0] = 1; } {", "operation:1:11: this } has no partner", "}"},
    {"x[0] = sin(", "operation:1:11: this ( has no partner", "("},
    {"x[0] = 1; /*", "operation:1:11: comment unclosed", "/"},
    {"x[0] = twice(threadIdx).x;", "operation:1:8: no operator", "twice"},
    {"x[0] = x[0] @ 2;", "operation:1:13: ", "@"},
    {"int i = 3;\r\nx[0] = nix;\r\n", "operation:2:8: identifier \"nix\"", "nix"},
};

Test(compile, mistakes_are_found_in_the_users_text, .init = need_nvrtc)
{
    for (size_t k = 0; k < QN_COUNT(mistakes); k++) {
        qn_text source = {0};
        qn_text_printf(&source,
                       "template <class T> __device__ T twice(T v) { return v * 2; }\n"
                       "extern \"C\" __global__ void k(float *x)\n{\n"
                       "#line 1 \"operation\"\n%s\n"
                       "#line 7 \"quern_kernel.cu\"\n;\n}\n",
                       mistakes[k].operation);
        qn_compile_request request = request_for(source.data, QN_IMAGE_PTX);
        qn_user_text text = {"operation", mistakes[k].operation};
        qn_image image;
        quern_status status = qn_compile(&image, &request, &text, 1);
        const quern_error *e = quern_last_error();
        cr_expect_eq(status, QUERN_ERROR_COMPILE);
        cr_expect(strncmp(e->message, mistakes[k].message, strlen(mistakes[k].message)) == 0,
                  "case %zu: %s", k, e->message);
        size_t length = e->end - e->begin;
        cr_expect(length == strlen(mistakes[k].marked) &&
                      strncmp(e->text + e->begin, mistakes[k].marked, length) == 0,
                  "case %zu marks \"%.*s\"", k, (int)length, e->text + e->begin);
        cr_expect(strstr(e->log, "error"), "the whole log is kept");
        cr_expect_str_eq(e->source, source.data);
        cr_expect_str_eq(e->stage, "compile");
        cr_expect_null(image.data);
        qn_text_free(&source);
    }
}

static const struct {
    const char *option;
    quern_status status;
    const char *says; /* somewhere in the message */
} options[] = {
    {"--std=c++20", QUERN_OK, ""},
    {"-DX=1", QUERN_OK, ""},
    {"-ftz=true", QUERN_OK, ""},
    {"-lineinfo", QUERN_OK, ""},
    {"--minimal", QUERN_OK, ""},
    {"--bogus", QUERN_ERROR_COMPILE, "\"--bogus\""},
    {"hello", QUERN_ERROR_COMPILE, "\"hello\""},
    {"--std=c++99", QUERN_ERROR_COMPILE, "\"--std=c++99\""},
    {"--maxrregcount=abc", QUERN_ERROR_COMPILE, "\"--maxrregcount=abc\""},
    {"-rdc=true", QUERN_OK, ""},
    {"-dc", QUERN_OK, ""},
    {"-G", QUERN_OK, ""},
    {"-arch=sm_90", QUERN_OK, ""},
    {"--gpu-architecture=compute_80", QUERN_OK, ""},
    {"-arch=sm_90a", QUERN_OK, ""},
    {"-arch=sm_80", QUERN_ERROR_INVALID_ARGUMENT,
     "\"sm_80\" does not run on this device, whose "
     "compute capability is 9.0"},
    {"-arch=compute_100", QUERN_ERROR_INVALID_ARGUMENT, "\"compute_100\" does not run"},
    {"-arch=compute_80a", QUERN_ERROR_INVALID_ARGUMENT, "\"compute_80a\" does not run"},
    {"-arch=native", QUERN_ERROR_INVALID_ARGUMENT, "\"native\" is not a target"},
    {"-arch=sm_", QUERN_ERROR_INVALID_ARGUMENT, "\"sm_\" is not a target"},
    {"-arch=sm_90x", QUERN_ERROR_INVALID_ARGUMENT, "is not a target"},
    {"-arch", QUERN_ERROR_INVALID_ARGUMENT, "\"\" is not a target"},
    {"-dlto", QUERN_ERROR_INVALID_ARGUMENT, "must be linked"},
    {"--dlink-time-opt", QUERN_ERROR_INVALID_ARGUMENT, "must be linked"},
    {"--optix-ir", QUERN_ERROR_INVALID_ARGUMENT, "OptiX"},
};

Test(compile, options, .init = need_nvrtc)
{
    for (size_t k = 0; k < QN_COUNT(options); k++) {
        qn_compile_request request = request_for(plain, QN_IMAGE_PTX);
        request.options = &options[k].option;
        request.option_count = 1;
        qn_image image;
        quern_status status = qn_compile(&image, &request, NULL, 0);
        cr_expect_eq(status, options[k].status, "%s", options[k].option);
        cr_expect(status == QUERN_OK || strstr(quern_last_error()->message, options[k].says), "%s",
                  quern_last_error()->message);
        qn_image_free(&image);
    }
}

Test(compile, a_target_among_the_options, .init = need_nvrtc)
{
    static const struct {
        const char *options[2];
        qn_image_kind kind; /* of the image */
        const char *says;   /* in it, when it is PTX */
    } cases[] = {
        {{"-arch=compute_80", "-DX"}, QN_IMAGE_PTX, ".target sm_80"},
        {{"-arch", "compute_90"}, QN_IMAGE_PTX, ".target sm_90"},
        {{"--gpu-architecture", "sm_90a"}, QN_IMAGE_CUBIN, ""},
    };
    for (size_t k = 0; k < QN_COUNT(cases); k++) {
        qn_compile_request request = request_for(plain, QN_IMAGE_CUBIN);
        request.options = cases[k].options;
        request.option_count = 2;
        qn_image image;
        cr_assert_eq(qn_compile(&image, &request, NULL, 0), QUERN_OK, "%s",
                     quern_last_error_text());
        cr_expect_eq(image.kind, cases[k].kind);
        cr_expect(image.kind == QN_IMAGE_CUBIN || strstr(image.data, cases[k].says));
        qn_image_free(&image);
    }
}

Test(compile, kinds_to_be_linked, .init = need_nvrtc)
{
    static const struct {
        qn_image_kind kind;
        bool relocatable;
    } cases[] = {{QN_IMAGE_LTO_IR, false}, {QN_IMAGE_CUBIN, true}, {QN_IMAGE_PTX, true}};
    for (size_t k = 0; k < QN_COUNT(cases); k++) {
        qn_compile_request request = request_for(
            "extern __device__ int far(int); __global__ void k(int *x) { *x = far(*x); }",
            cases[k].kind);
        request.relocatable = cases[k].relocatable;
        qn_image image;
        cr_assert_eq(qn_compile(&image, &request, NULL, 0), QUERN_OK, "%s",
                     quern_last_error_text());
        cr_expect_eq(image.kind, cases[k].kind);
        cr_expect_eq(qn_image_kind_of(image.data, image.size), cases[k].kind);
        qn_image_free(&image);
    }
    qn_compile_request request = request_for(plain, QN_IMAGE_OBJECT);
    qn_image image;
    cr_expect_eq(qn_compile(&image, &request, NULL, 0), QUERN_ERROR_INVALID_ARGUMENT);
}

Test(compile, a_name_expression_without_a_match, .init = need_nvrtc)
{
    static const char *const expressions[] = {"ns::scale<float>", "ns::shift<int>"};
    qn_compile_request request =
        request_for("namespace ns { template <class T> __global__ void scale(T *x) { *x = 2; } }\n"
                    "__global__ void plain() {}\n",
                    QN_IMAGE_PTX);
    request.expressions = expressions;
    request.expression_count = 2;
    qn_image image;
    cr_expect_eq(qn_compile(&image, &request, NULL, 0), QUERN_ERROR_NAME);
    cr_expect_str_eq(quern_last_error()->message,
                     "the name expression \"ns::shift<int>\": namespace \"ns\" has no member "
                     "\"shift\"; the source has the kernels ns::scale<...>, plain");
    cr_expect(strstr(quern_last_error()->log, "nv_mangled_name ns::shift<int>"));
}

Test(compile, unknown_targets, .init = need_nvrtc)
{
    bool native;
    int newest;
    cr_assert_eq(qn_compiler_supports(ARCH, &native, &newest), QUERN_OK);
    cr_expect(native);
    cr_expect_geq(newest, ARCH);
    qn_compiler_supports(newest + 100, &native, &newest);
    cr_expect_not(native);

    static const struct {
        int arch;
        const char *says;
    } cases[] = {{991, "99.1, only for some of"}, {991, "a newer"}, {20, "an older"}};
    for (size_t k = 0; k < QN_COUNT(cases); k++) {
        qn_compile_request request = request_for(plain, QN_IMAGE_CUBIN);
        request.arch = cases[k].arch;
        qn_image image;
        cr_expect_eq(qn_compile(&image, &request, NULL, 0), QUERN_ERROR_NVRTC);
        cr_expect(strstr(quern_last_error()->message, cases[k].says), "%s",
                  quern_last_error()->message);
    }
}

static void *compile_some(void *context)
{
    uintptr_t me = (uintptr_t)context;
    for (int k = 0; k < 4; k++) {
        qn_text source = {0};
        qn_text_printf(&source, "__global__ void k(int *x) { *x = %d; }", (int)me * 10 + k);
        qn_compile_request request = request_for(source.data, QN_IMAGE_PTX);
        qn_image image;
        bool right = qn_compile(&image, &request, NULL, 0) == QUERN_OK;
        char wanted[32];
        snprintf(wanted, sizeof wanted, ", %d;", (int)me * 10 + k);
        right = right && strstr(image.data, wanted);
        qn_image_free(&image);
        qn_text_free(&source);
        if (!right) {
            return NULL;
        }
    }
    return context;
}

Test(compile, threads_at_once, .init = need_nvrtc)
{
    pthread_t threads[4];
    for (uintptr_t k = 0; k < 4; k++) {
        cr_assert_eq(pthread_create(&threads[k], NULL, compile_some, (void *)(k + 1)), 0);
    }
    for (uintptr_t k = 0; k < 4; k++) {
        void *result;
        pthread_join(threads[k], &result);
        cr_expect_eq(result, (void *)(k + 1), "thread %zu compiled something else", (size_t)k);
    }
}

Test(compile, out_of_memory_is_told, .init = need_nvrtc)
{
    cr_assert_eq(qn_compiler_load(), QUERN_OK);
    static const char *const expressions[] = {"k<int>"};
    qn_compile_request request =
        request_for("template <class T> __global__ void k(T *x) { *x = 1; }", QN_IMAGE_PTX);
    request.expressions = expressions;
    request.expression_count = 1;
    for (uint64_t n = 1; n < 50; n++) {
        qn_image image;
        qn_memory_fail_after(n, true);
        quern_status status = qn_compile(&image, &request, NULL, 0);
        qn_memory_fail_after(0, false);
        qn_image_free(&image);
        if (status == QUERN_OK) {
            cr_expect_gt(n, 4, "nothing was allocated?");
            return;
        }
        cr_expect_eq(status, QUERN_ERROR_OUT_OF_MEMORY, "allocation %d", (int)n);
    }
    cr_assert_fail("it never succeeded");
}
