/* SPDX-License-Identifier: MIT
 *
 * Kernels with more values than registers are compiled for fewer blocks at once. Compared with what
 * one compilation gives for a number of blocks; and what is no sound cubin is left as it is.
 */
#include "compile/nvrtc.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static void need_nvrtc(void)
{
    qn_compiler_identity identity;
    if (!qn_compiler_find(&identity, NULL)) {
        /* Nothing can stand in for the compiler. Under ./dev it never skips: NVRTC is fetched. */
        cr_skip_test("NVRTC is not on this machine");
    }
}

/* A thread has VALUES doubles at once, which the compiler cannot read a second time. */
static const char source[] =
    "#ifndef QUERN_FEWER_BLOCKS\n#define QUERN_FEWER_BLOCKS 0\n#endif\n"
    "#define QUERN_BLOCKS(n) ((n) - QUERN_FEWER_BLOCKS)\n"
    "extern \"C\" __global__ void __launch_bounds__(256, QUERN_BLOCKS(5)) k(double *x) {\n"
    "    double v[VALUES];\n"
    "    for (int i = 0; i < VALUES; i++) v[i] = x[i * 256 + threadIdx.x];\n"
    "    for (int i = 0; i < VALUES; i++) asm volatile(\"\" : \"+d\"(v[i]));\n"
    "    __syncthreads();\n"
    "    for (int i = 0; i < VALUES; i++) x[i * 256 + threadIdx.x] = v[i] * v[(i * 5 + 3) % "
    "VALUES];\n"
    "}\n";

static void compile_both(const char *values, int fewer)
{
    const char *options[] = {values};
    qn_compile_request request = {.source = source,
                                  .file_name = "k.cu",
                                  .options = options,
                                  .option_count = 1,
                                  .arch = 90,
                                  .kind = QN_IMAGE_CUBIN};
    qn_image chosen, once;
    cr_assert_eq(qn_compile(&chosen, &request, NULL, 0), QUERN_OK, "%s", quern_last_error_text());
    request.fewer_blocks = fewer;
    cr_assert_eq(qn_compile_once(&once, &request, NULL, 0), QUERN_OK);
    cr_expect(chosen.size == once.size && memcmp(chosen.data, once.data, once.size) == 0,
              "%s: not as for %d blocks fewer", values, fewer);
    qn_image_free(&chosen);
    qn_image_free(&once);
}

/* Five blocks leave 48 registers for a thread, four 64, three 80. */
Test(roomier, fewer_blocks_where_values_do_not_fit, .init = need_nvrtc)
{
    compile_both("-DVALUES=8", 0);
    compile_both("-DVALUES=24", 1);
    compile_both("-DVALUES=32", 2);
}

/* Registers for all of them would leave room for two blocks only. */
Test(roomier, two_tries_are_enough, .init = need_nvrtc)
{
    compile_both("-DVALUES=60", 2);
}

/* An array that is asked by a number is in memory however many registers there are. */
Test(roomier, arrays_change_nothing, .init = need_nvrtc)
{
    static const char asked[] =
        "#define QUERN_BLOCKS(n) n\n"
        "extern \"C\" __global__ void __launch_bounds__(256, QUERN_BLOCKS(5)) k(int *x, int n) {\n"
        "    int v[32];\n"
        "    for (int i = 0; i < 32; i++) v[i] = x[i];\n"
        "    for (int i = 0; i < n; i++) v[x[i] & 31] += i;\n"
        "    for (int i = 0; i < 32; i++) x[i] = v[i];\n"
        "}\n";
    qn_compile_request request = {
        .source = asked, .file_name = "k.cu", .arch = 90, .kind = QN_IMAGE_CUBIN};
    qn_image chosen, once;
    cr_assert_eq(qn_compile(&chosen, &request, NULL, 0), QUERN_OK, "%s", quern_last_error_text());
    cr_assert_eq(qn_compile_once(&once, &request, NULL, 0), QUERN_OK);
    cr_expect(chosen.size == once.size && memcmp(chosen.data, once.data, once.size) == 0);
    qn_image_free(&chosen);
    qn_image_free(&once);
}
