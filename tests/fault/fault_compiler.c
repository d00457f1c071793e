/* SPDX-License-Identifier: MIT
 *
 * Finding and loading NVRTC when it is absent, broken, elsewhere, or something else. Each test is a
 * process of its own, because the compiler is looked for once.
 */
#include "loading.h"

TestSuite(compiler, .init = scratch_make, .fini = scratch_delete);

static void expect_failure(quern_status status, const char *says)
{
    qn_image image;
    qn_compile_request request = {.source = "", .arch = 90, .kind = QN_IMAGE_PTX};
    cr_expect_eq(qn_compile(&image, &request, NULL, 0), status, "%s", quern_last_error_text());
    cr_expect(strstr(quern_last_error()->message, says), "%s", quern_last_error()->message);
    cr_expect_eq(qn_compiler_load(), status, "the second time as well");
    int major, minor;
    qn_compiler_version(&major, &minor);
    cr_expect_eq(major + minor, 0);
}

static const loading compiler = {
    .name = "NVRTC",
    .file = "libnvrtc.so.13",
    .variable = "QUERN_NVRTC",
    .not_found = QUERN_ERROR_NVRTC_NOT_FOUND,
    .unusable = QUERN_ERROR_NVRTC,
    .find = qn_compiler_find,
    .expect_failure = expect_failure,
};

Test(compiler, asked_for_but_absent)
{
    fails_asked_for_but_absent(&compiler);
}

Test(compiler, asked_for_folder_without_it)
{
    fails_asked_for_folder_without_it(&compiler);
}

Test(compiler, not_a_library)
{
    fails_not_a_library(&compiler);
}

Test(compiler, another_library)
{
    fails_another_library(&compiler);
}

Test(compiler, newest_of_a_folder)
{
    static const char *const names[] = {"libnvrtc.so", "libnvrtc.so.12", "libnvrtc.so.13",
                                        "libnvrtc.so.11.2", "libnvrtc.so.9"};
    for (size_t k = 0; k < QN_COUNT(names); k++) {
        scratch_write(names[k], "");
    }
    setenv("QUERN_NVRTC", scratch, 1);
    expect_found(&compiler, scratch_path("libnvrtc.so.13"));
}

/* ---- the order of the places ---------------------------------------------------------------- */

Test(compiler, virtual_environment_newest_package)
{
    clearenv();
    setenv("VIRTUAL_ENV", scratch, 1);
    scratch_write("lib/python3.11/site-packages/nvidia/cuda_nvrtc/lib/libnvrtc.so.12", "");
    expect_found(&compiler,
                 scratch_path("lib/python3.11/site-packages/nvidia/cuda_nvrtc/lib/libnvrtc.so.12"));
}

Test(compiler, virtual_environment_cuda_13)
{
    clearenv();
    setenv("VIRTUAL_ENV", scratch, 1);
    scratch_write("lib/python3.12/site-packages/nvidia/cuda_nvrtc/lib/libnvrtc.so.12", "");
    scratch_write("lib/python3.12/site-packages/nvidia/cu13/lib/libnvrtc.so.13", "");
    expect_found(&compiler,
                 scratch_path("lib/python3.12/site-packages/nvidia/cu13/lib/libnvrtc.so.13"));
}

Test(compiler, cuda_home_before_the_library_path)
{
    clearenv();
    setenv("CUDA_HOME", scratch_path("home"), 1);
    char list[500];
    snprintf(list, sizeof list, ":relative:%s", scratch_path("list"));
    setenv("LD_LIBRARY_PATH", list, 1);
    scratch_write("list/libnvrtc.so.13", "");
    scratch_write("home/lib64/libnvrtc.so.12", "");
    expect_found(&compiler, scratch_path("home/lib64/libnvrtc.so.12"));
}

Test(compiler, library_path)
{
    clearenv();
    char list[500];
    snprintf(list, sizeof list, "/nowhere:%s:", scratch_path("list"));
    setenv("LD_LIBRARY_PATH", list, 1);
    scratch_write("list/libnvrtc.so.12", "");
    expect_found(&compiler, scratch_path("list/libnvrtc.so.12"));
}

/* ---- elsewhere ------------------------------------------------------------------------------ */

static void link_file(const char *folder, const char *name)
{
    char from[600];
    snprintf(from, sizeof from, "%s/%s", folder, name);
    cr_assert_eq(symlink(from, scratch_path(name)), 0);
}

Test(compiler, both_libraries_in_a_folder_that_the_loader_does_not_know)
{
    qn_compiler_identity real;
    qn_image image;
    qn_compile_request request = {.source = "__global__ void k(float *x) { *x = sinf(*x); }",
                                  .arch = 90,
                                  .kind = QN_IMAGE_CUBIN};
    /* in a child, so that this process has not looked yet */
    int ends[2];
    cr_assert_eq(pipe(ends), 0);
    if (fork() == 0) {
        memset(&real, 0, sizeof real);
        qn_compiler_find(&real, NULL);
        _exit(write(ends[1], &real, sizeof real) == (ssize_t)sizeof real ? 0 : 1);
    }
    cr_assert_eq(read(ends[0], &real, sizeof real), (ssize_t)sizeof real);
    if (!real.path[0]) {
        /* The test is about how a real NVRTC finds its second library, so nothing can stand in for
         * it. Runs wherever NVRTC is: ./dev test fetches it where it is absent. */
        cr_skip_test("NVRTC is not on this machine");
    }
    char *slash = strrchr(real.path, '/');
    *slash = '\0';
    link_file(real.path, slash + 1);
    glob_t builtins;
    char pattern[600];
    snprintf(pattern, sizeof pattern, "%s/libnvrtc-builtins.so.*", real.path);
    cr_assert_eq(glob(pattern, 0, NULL, &builtins), 0);
    for (size_t k = 0; k < builtins.gl_pathc; k++) {
        link_file(real.path, strrchr(builtins.gl_pathv[k], '/') + 1);
    }
    globfree(&builtins);

    clearenv();
    setenv("QUERN_NVRTC", scratch, 1);
    cr_expect_eq(qn_compile(&image, &request, NULL, 0), QUERN_OK, "%s", quern_last_error_text());
    qn_compiler_identity linked;
    cr_assert(qn_compiler_find(&linked, NULL));
    cr_expect_str_eq(linked.build_id, real.build_id, "the same build by another name");
    qn_image_free(&image);
}
