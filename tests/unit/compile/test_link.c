/* SPDX-License-Identifier: MIT
 *
 * Linking: every kind of input that can be made here, PTX from LTO-IR, refusals with their reasons.
 * Skipped where NVRTC or nvJitLink is absent.
 */
#include "compile/compile.h"

#include <criterion/criterion.h>
#include <string.h>

#define ARCH 90

static const char caller[] = "extern __device__ int far(int);\n"
                             "extern \"C\" __global__ void k(int *x) { *x = far(*x); }\n";
static const char callee[] = "__device__ int far(int x) { return x * 77; }\n";

static void need_linker(void)
{
    qn_compiler_identity identity;
    if (!qn_compiler_find(&identity, NULL) || !qn_linker_find(&identity, NULL)) {
        /* Pieces to link come from a real NVRTC, and only nvJitLink links them. ./dev fetches both
         * where there is no CUDA Toolkit. */
        cr_skip_test("NVRTC or nvJitLink is not on this machine");
    }
    cr_expect_str_neq(identity.build_id, "");
}

static qn_image compiled(const char *source, qn_image_kind kind)
{
    qn_compile_request request = {
        .source = source, .arch = ARCH, .kind = kind, .relocatable = true};
    qn_image image;
    cr_assert_eq(qn_compile(&image, &request, NULL, 0), QUERN_OK, "%s", quern_last_error_text());
    return image;
}

static quern_status link_two(qn_image *out, qn_image_kind first, qn_image_kind second,
                             qn_image_kind kind)
{
    qn_image images[] = {compiled(caller, first), compiled(callee, second)};
    const qn_link_input inputs[] = {{first, "caller", images[0].data, images[0].size},
                                    {second, "callee", images[1].data, images[1].size}};
    static const char *const options[] = {"-DX=1",           "--maxrregcount=64", "-lineinfo",
                                          "--use_fast_math", "--fmad=false",      "-Ifolder"};
    qn_link_request request = {.inputs = inputs,
                               .input_count = 2,
                               .options = options,
                               .option_count = QN_COUNT(options),
                               .arch = ARCH,
                               .kind = kind,
                               .line_info = true};
    quern_status status = qn_link(out, &request);
    qn_image_free(&images[0]);
    qn_image_free(&images[1]);
    return status;
}

Test(link, every_pair_of_kinds_to_cubin, .init = need_linker)
{
    static const qn_image_kind kinds[] = {QN_IMAGE_CUBIN, QN_IMAGE_PTX, QN_IMAGE_LTO_IR};
    for (size_t a = 0; a < QN_COUNT(kinds); a++) {
        for (size_t b = 0; b < QN_COUNT(kinds); b++) {
            qn_image image;
            cr_expect_eq(link_two(&image, kinds[a], kinds[b], QN_IMAGE_CUBIN), QUERN_OK,
                         "%zu and %zu: %s", a, b, quern_last_error_text());
            cr_expect_eq(qn_image_kind_of(image.data, image.size), QN_IMAGE_CUBIN);
            cr_expect(image.size > 0 && memmem(image.data, image.size, "k", 2));
            qn_image_free(&image);
        }
    }
    int major, minor;
    qn_linker_version(&major, &minor);
    cr_expect_geq(major, 12);
}

/* Code that launches kernels is linked with the device's runtime, whatever it comes as. */
Test(link, kernels_that_launch_kernels, .init = need_linker)
{
    static const char source[] = "__global__ void inner(int *x) { *x = 1; }\n"
                                 "__global__ void outer(int *x) { inner<<<1, 1>>>(x); }\n";
    static const qn_image_kind kinds[] = {QN_IMAGE_CUBIN, QN_IMAGE_PTX, QN_IMAGE_LTO_IR};
    qn_compiler_identity runtime;
    if (!qn_device_runtime_find(&runtime, NULL)) {
        /* it comes with the CUDA Toolkit, or with the package of CUDA's runtime */
        cr_skip_test("libcudadevrt.a is not on this machine");
    }
    for (size_t k = 0; k < QN_COUNT(kinds); k++) {
        qn_image piece = compiled(source, kinds[k]), image;
        const qn_link_input input = {kinds[k], "source", piece.data, piece.size};
        const qn_link_request request = {
            .inputs = &input, .input_count = 1, .arch = ARCH, .kind = QN_IMAGE_CUBIN};
        cr_expect_eq(qn_link(&image, &request), QUERN_OK, "%zu: %s", k, quern_last_error_text());
        cr_expect_eq(quern_last_error()->status, QUERN_OK);
        cr_expect_gt(image.size, 10 * piece.size, "the runtime is in it");
        qn_image_free(&piece);
        qn_image_free(&image);
    }
}

Test(link, lto_ir_to_ptx, .init = need_linker)
{
    qn_image image;
    cr_assert_eq(link_two(&image, QN_IMAGE_LTO_IR, QN_IMAGE_LTO_IR, QN_IMAGE_PTX), QUERN_OK, "%s",
                 quern_last_error_text());
    cr_expect_eq(image.kind, QN_IMAGE_PTX);
    cr_expect_eq(image.size, strlen(image.data));
    cr_expect(strstr(image.data, ".entry k"));
    cr_expect(strstr(image.data, "77"), "the other piece is in it");
    cr_expect_null(strstr(image.data, "call"), "and is inlined");
    qn_image_free(&image);
}

/* The linker is told what the compiler makes of several options: the last of a kind decides, and
 * before --use_fast_math each that is said by itself. */
Test(link, options_that_shape_code, .init = need_linker)
{
    static const struct {
        const char *options[3];
        bool ftz, approximate, fma;
    } cases[] = {
        {{"-DX"}, false, false, true},
        {{"--use_fast_math"}, true, true, true},
        {{"--ftz", "true", "-G"}, true, false, true},
        {{"--ftz=true", "-ftz=false"}, false, false, true},
        {{"--use_fast_math", "--ftz=false"}, false, true, true},
        {{"--prec-div=true", "--use_fast_math"}, true, false, true},
        {{"-fmad", "false", "-lineinfo"}, false, false, false},
        {{"--maxrregcount=32", "--maxrregcount", "64"}, false, false, true},
    };
    for (size_t k = 0; k < QN_COUNT(cases); k++) {
        const char *const *options = cases[k].options;
        size_t count = 1 + (options[1] != NULL) + (options[2] != NULL);
        qn_compile_request source = {.source = "__global__ void k(float *x, float y)\n"
                                               "{ x[0] = x[1] / y; x[2] = x[3] * y + 1; }\n",
                                     .options = options,
                                     .option_count = count,
                                     .arch = ARCH,
                                     .kind = QN_IMAGE_LTO_IR};
        qn_image piece, image;
        cr_assert_eq(qn_compile(&piece, &source, NULL, 0), QUERN_OK, "%s", quern_last_error_text());
        qn_link_input input = {QN_IMAGE_LTO_IR, "piece", piece.data, piece.size};
        qn_link_request request = {.inputs = &input,
                                   .input_count = 1,
                                   .options = options,
                                   .option_count = count,
                                   .arch = ARCH,
                                   .kind = QN_IMAGE_PTX};
        cr_assert_eq(qn_link(&image, &request), QUERN_OK, "%s: %s", options[0],
                     quern_last_error_text());
        cr_expect_eq(strstr(image.data, ".ftz") != NULL, cases[k].ftz, "%s", options[0]);
        cr_expect_eq(strstr(image.data, "div.approx") != NULL, cases[k].approximate, "%s",
                     options[0]);
        cr_expect_eq(strstr(image.data, "fma.rn") != NULL, cases[k].fma, "%s", options[0]);
        qn_image_free(&piece);
        qn_image_free(&image);
    }
}

Test(link, ptx_needs_lto_ir, .init = need_linker)
{
    qn_image image;
    cr_expect_eq(link_two(&image, QN_IMAGE_LTO_IR, QN_IMAGE_PTX, QN_IMAGE_PTX),
                 QUERN_ERROR_INVALID_ARGUMENT);
    cr_expect(strstr(quern_last_error()->message, "\"callee\" is PTX, which cannot be linked"));
    cr_expect_str_eq(quern_last_error()->stage, "link");
}

Test(link, what_is_not_defined_is_named, .init = need_linker)
{
    qn_image piece = compiled(caller, QN_IMAGE_CUBIN), image;
    qn_link_input input = {QN_IMAGE_CUBIN, "caller", piece.data, piece.size};
    qn_link_request request = {
        .inputs = &input, .input_count = 1, .arch = ARCH, .kind = QN_IMAGE_CUBIN};
    cr_expect_eq(qn_link(&image, &request), QUERN_ERROR_LINK);
    cr_expect(strstr(quern_last_error()->message, "_Z3fari"), "%s", quern_last_error()->message);
    cr_expect(strstr(quern_last_error()->log, "_Z3fari"));
    cr_expect_null(image.data);
    qn_image_free(&piece);
}

Test(link, garbage, .init = need_linker)
{
    static const char bytes[] = "\177ELF and no more than that, which is no image of any kind ...";
    for (int kind = QN_IMAGE_CUBIN; kind <= QN_IMAGE_LTO_IR; kind++) {
        qn_image image;
        qn_link_input input = {(qn_image_kind)kind, "noise", bytes, sizeof bytes};
        qn_link_request request = {
            .inputs = &input, .input_count = 1, .arch = ARCH, .kind = QN_IMAGE_CUBIN};
        cr_expect_eq(qn_link(&image, &request), QUERN_ERROR_LINK, "kind %d", kind);
        cr_expect(strstr(quern_last_error()->message, "nvJitLink"), "%s",
                  quern_last_error()->message);
    }
}

Test(link, requests_that_make_no_sense)
{
    qn_image image;
    qn_link_request nothing = {.arch = ARCH, .kind = QN_IMAGE_CUBIN};
    cr_expect_eq(qn_link(&image, &nothing), QUERN_ERROR_INVALID_ARGUMENT);
    cr_expect(strstr(quern_last_error()->message, "nothing to link"));
    nothing.kind = QN_IMAGE_FATBIN;
    cr_expect_eq(qn_link(&image, &nothing), QUERN_ERROR_INVALID_ARGUMENT);
    cr_expect(strstr(quern_last_error()->message, "not fatbin"));
}

Test(link, another_target, .init = need_linker)
{
    qn_image piece = compiled(callee, QN_IMAGE_CUBIN), image;
    qn_link_input input = {QN_IMAGE_CUBIN, "callee", piece.data, piece.size};
    qn_link_request request = {
        .inputs = &input, .input_count = 1, .arch = 80, .kind = QN_IMAGE_CUBIN};
    cr_expect_eq(qn_link(&image, &request), QUERN_ERROR_LINK);
    cr_expect(strstr(quern_last_error()->message, "callee"), "%s", quern_last_error()->message);
    qn_image_free(&piece);
}

Test(link, a_target_among_the_options, .init = need_linker)
{
    static const char *const options[] = {"-arch=sm_90a", "--gpu-architecture=compute_80",
                                          "-arch=sm_80"};
    for (size_t k = 0; k < QN_COUNT(options); k++) {
        qn_compile_request source = {.source = callee,
                                     .options = &options[k],
                                     .option_count = 1,
                                     .arch = ARCH,
                                     .kind = QN_IMAGE_CUBIN,
                                     .relocatable = true};
        qn_image piece, image;
        bool runs = k < 2;
        quern_status wanted = runs ? QUERN_OK : QUERN_ERROR_INVALID_ARGUMENT;
        cr_assert_eq(qn_compile(&piece, &source, NULL, 0), wanted);
        qn_link_input input = {runs ? piece.kind : QN_IMAGE_PTX, "callee",
                               runs ? piece.data : callee, runs ? piece.size : 1};
        qn_link_request request = {.inputs = &input,
                                   .input_count = 1,
                                   .options = &options[k],
                                   .option_count = 1,
                                   .arch = ARCH,
                                   .kind = QN_IMAGE_CUBIN};
        cr_expect_eq(qn_link(&image, &request), wanted, "%s: %s", options[k],
                     quern_last_error_text());
        qn_image_free(&piece);
        qn_image_free(&image);
    }
}

Test(link, out_of_memory_is_told, .init = need_linker)
{
    qn_image piece = compiled(callee, QN_IMAGE_CUBIN), image;
    qn_link_input input = {QN_IMAGE_CUBIN, "callee", piece.data, piece.size};
    qn_link_request request = {
        .inputs = &input, .input_count = 1, .arch = ARCH, .kind = QN_IMAGE_CUBIN};
    cr_assert_eq(qn_link(&image, &request), QUERN_OK, "%s", quern_last_error_text());
    qn_image_free(&image);
    quern_status status = QUERN_ERROR_OUT_OF_MEMORY;
    for (uint64_t n = 1; n < 20 && status != QUERN_OK; n++) {
        qn_memory_fail_after(n, true);
        status = qn_link(&image, &request);
        qn_memory_fail_after(0, false);
        cr_expect(status == QUERN_OK ? n > 2 : status == QUERN_ERROR_OUT_OF_MEMORY);
        qn_image_free(&image);
    }
    cr_expect_eq(status, QUERN_OK, "it never succeeded");
    qn_image_free(&piece);
}
