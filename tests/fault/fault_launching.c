/* SPDX-License-Identifier: MIT
 *
 * Kernels that launch kernels, over the stand-in for the driver, with the real compiler and linker:
 * what is made for a GPU, that it is found again, and what is said where the device's runtime is
 * not found. What they compute is in tests/unit/engine/test_launching.c.
 */
#include "support/fake_libcuda.h"
#include "unit/cache/scratch.h"
#include "unit/engine/whole.h"

#include <dlfcn.h>

static fake_cuda *fake;

static void open_fake(void)
{
    scratch_make();
    setenv("QUERN_CUDA", FAKE_FOLDER, 1);
    setenv("QUERN_CACHE_DIR", scratch, 1);
    setenv("QUERN_DEVICE", "cuda", 1);
    setenv("QUERN_NVRTC_CACHE", "0", 1); /* it asks the driver for things that the stand-in lacks */
    unsetenv("QUERN_CUDADEVRT");
    void *library = dlopen(FAKE_FOLDER "/libcuda.so.1", RTLD_NOW);
    cr_assert_not_null(library, "%s", dlerror());
    fake_cuda_get_function get;
    void *symbol = dlsym(library, "fake_cuda_get");
    memcpy(&get, &symbol, sizeof symbol);
    fake = get();
    whole_open();
}

static void close_fake(void)
{
    whole_close();
    scratch_delete();
}

TestSuite(launching, .init = open_fake, .fini = close_fake);

static const char source[] = "extern \"C\" __global__ void child(int *x) { x[threadIdx.x] += 1; }\n"
                             "extern \"C\" __global__ void parent(int *x)\n"
                             "{ child<<<1, 13>>>(x + 13 * threadIdx.x); }\n";

/* Make it. Skips where a machine has no linker, or no runtime to link with, which `./dev` fetches:
 * what is tested is what they do. */
static quern_module *made(const char *text, const char *option)
{
    quern_module_options o = QUERN_MODULE_OPTIONS_INIT;
    o.options = &option;
    o.option_count = option != NULL;
    quern_module *m;
    quern_status status = quern_module_new(&m, engine, text, &o);
    if (status == QUERN_ERROR_NVJITLINK_NOT_FOUND ||
        (status == QUERN_ERROR_LINK &&
         strstr(quern_last_error()->message, "libcudadevrt.a, which was not found"))) {
        cr_skip_test("this machine cannot link such kernels: %s", quern_last_error()->message);
    }
    cr_assert_eq(status, QUERN_OK, "%s", quern_last_error_text());
    return m;
}

static uint64_t compilations(void)
{
    quern_cache_stats stats = QUERN_CACHE_STATS_INIT;
    OK(quern_cache_get_stats(&stats, engine));
    return stats.compiled;
}

static void expect_two(quern_module *m)
{
    const char *names[8];
    size_t count;
    cr_expect(fake->cubin, "native code is loaded");
    OK(quern_module_function_names(&count, names, 8, m));
    cr_expect_eq(count, 2, "the runtime's own kernels are nobody's business");
    for (size_t k = 0; k < count && k < 8; k++) {
        cr_expect(strcmp(names[k], "child") == 0 || strcmp(names[k], "parent") == 0, "%s",
                  names[k]);
    }
}

Test(launching, is_linked_and_found_again)
{
    static const char *const options[] = {NULL, "-dc", "-rdc=true"};
    for (size_t k = 0; k < sizeof options / sizeof *options; k++) {
        quern_module *m = made(source, options[k]);
        expect_two(m);
        cr_expect_str_eq(quern_last_error()->message, "");
        quern_module_release(m);
        const uint64_t before = compilations();
        m = made(source, options[k]);
        cr_expect_eq(compilations(), before, "what was linked is not compiled again");
        quern_module_release(m);
    }
}

/* The launch may be where nobody sees it but the compiler. */
Test(launching, in_a_header)
{
    FILE *file;
    char path[4096], option[4200];
    snprintf(path, sizeof path, "%s/launch.h", scratch);
    cr_assert_not_null(file = fopen(path, "w"));
    fputs("#define LAUNCH(f) f<<<1, 13>>>\n", file);
    fclose(file);
    snprintf(option, sizeof option, "-I%s", scratch);
    quern_module *m = made("#include \"launch.h\"\n"
                           "extern \"C\" __global__ void child(int *x) { x[threadIdx.x] += 1; }\n"
                           "extern \"C\" __global__ void parent(int *x)\n"
                           "{ LAUNCH(child)(x + 13 * threadIdx.x); }\n",
                           option);
    expect_two(m);
    quern_module_release(m);
}

/* Functions and names of the device's runtime are there only where code is relocatable. */
Test(launching, with_the_devices_runtime)
{
    quern_module *m =
        made("extern \"C\" __global__ void child(int *x, int depth)\n"
             "{\n"
             "    x[depth] = cudaGetLastError() == cudaSuccess ? depth : -1;\n"
             "    if (depth > 0) child<<<1, 1, 0, cudaStreamTailLaunch>>>(x, depth - 1);\n"
             "}\n"
             "template <typename T> __global__ void inner(T *x) { *x = 7; }\n"
             "extern \"C\" __global__ void parent(int *x) { inner<int><<<1, 1>>>(x); }\n",
             NULL);
    cr_expect(fake->cubin);
    quern_module_release(m);
}

/* The word alone makes nothing else of a source. */
Test(launching, what_only_looks_like_it)
{
    quern_module *m = made("#ifndef __CUDACC_RTC__\n"
                           "void host(void) { child<<<1, 13>>>(0); }\n"
                           "#endif\n"
                           "extern \"C\" __global__ void child(int *x) { x[threadIdx.x] += 1; }\n"
                           "extern \"C\" __global__ void parent(int *x) { x[0] = 1; }\n",
                           NULL);
    expect_two(m);
    const uint64_t before = compilations();
    quern_module_release(m);
    cr_expect_eq(before, 1);
}

Test(launching, other_errors_stay)
{
    quern_module *m;
    FAILS(QUERN_ERROR_COMPILE,
          quern_module_new(&m, engine,
                           "__global__ void child(int *x) { }\n"
                           "__global__ void parent(int *x) { child<<<1, 1>>>(nothing); }\n",
                           NULL));
    SAYS("identifier \"nothing\" is undefined");
    SAYS("line 2, column");
}

static void expect_no_runtime(const char *says)
{
    quern_module *m;
    const quern_status status = quern_module_new(&m, engine, source, NULL);
    if (status == QUERN_ERROR_NVJITLINK_NOT_FOUND) { /* the linker is what misses the runtime */
        cr_skip_test("no nvJitLink on this machine: %s", quern_last_error()->message);
    }
    cr_expect_eq(status, QUERN_ERROR_LINK);
    SAYS(says);
    cr_expect_str_eq(quern_last_error()->stage, "link");
}

Test(launching, the_runtime_is_named_wrongly)
{
    setenv("QUERN_CUDADEVRT", "/nowhere", 1);
    expect_no_runtime("QUERN_CUDADEVRT is \"/nowhere\", but it is not there");
}

Test(launching, the_runtime_is_something_else)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/libcudadevrt.a", scratch);
    FILE *file = fopen(path, "w");
    cr_assert_not_null(file);
    fputs("not an archive", file);
    fclose(file);
    setenv("QUERN_CUDADEVRT", scratch, 1);
    expect_no_runtime("libcudadevrt.a is not a static library");
}
