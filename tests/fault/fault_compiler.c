/* SPDX-License-Identifier: MIT
 *
 * Finding and loading NVRTC when it is absent, broken, elsewhere, or something else. Each test is a
 * process of its own, because the compiler is looked for once.
 */
#include "unit/cache/scratch.h"

#include <criterion/criterion.h>
#include <sys/stat.h>

TestSuite(compiler, .init = scratch_make, .fini = scratch_delete);

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    cr_assert(file && fputs(text, file) >= 0);
    fclose(file);
}

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

Test(compiler, asked_for_but_absent)
{
    setenv("QUERN_NVRTC", "/no/such/libnvrtc.so.13", 1);
    qn_compiler_identity identity;
    char *looked;
    cr_expect_not(qn_compiler_find(&identity, &looked));
    cr_expect_str_eq(looked, "/no/such/libnvrtc.so.13\n");
    cr_expect_str_eq(identity.build_id, "");
    qn_free(looked);
    expect_failure(QUERN_ERROR_NVRTC_NOT_FOUND, "/no/such/libnvrtc.so.13");
}

Test(compiler, asked_for_folder_without_it)
{
    setenv("QUERN_NVRTC", scratch, 1);
    expect_failure(QUERN_ERROR_NVRTC_NOT_FOUND, scratch);
}

Test(compiler, not_a_library)
{
    setenv("QUERN_NVRTC", scratch, 1);
    write_file(scratch_path("libnvrtc.so.13"), "no library");
    qn_compiler_identity identity;
    cr_assert(qn_compiler_find(&identity, NULL));
    cr_expect_str_eq(identity.path, scratch_path("libnvrtc.so.13"));
    cr_expect_eq(strncmp(identity.build_id, "h:", 2), 0, "%s", identity.build_id);
    expect_failure(QUERN_ERROR_NVRTC, scratch_path("libnvrtc.so.13"));
}

Test(compiler, another_library)
{
    setenv("QUERN_NVRTC", "/lib/x86_64-linux-gnu/libm.so.6", 1);
    if (!qn_file_exists(getenv("QUERN_NVRTC"))) {
        cr_skip_test("libm is elsewhere on this machine");
    }
    expect_failure(QUERN_ERROR_NVRTC, "is not NVRTC");
}

Test(compiler, newest_of_a_folder)
{
    static const char *const names[] = {"libnvrtc.so", "libnvrtc.so.12", "libnvrtc.so.13",
                                        "libnvrtc.so.11.2", "libnvrtc.so.9"};
    for (size_t k = 0; k < QN_COUNT(names); k++) {
        write_file(scratch_path(names[k]), "");
    }
    setenv("QUERN_NVRTC", scratch, 1);
    qn_compiler_identity identity;
    cr_assert(qn_compiler_find(&identity, NULL));
    cr_expect_str_eq(identity.path, scratch_path("libnvrtc.so.13"));
}

/* ---- the order of the places ----------------------------------------------------------------- */

static void make_path(const char *path)
{
    char copy[300];
    snprintf(copy, sizeof copy, "%s", path);
    for (char *p = copy + 1; *p; p++) {
        if (*p == '/') {
            *p = '\0';
            mkdir(copy, 0700);
            *p = '/';
        }
    }
    write_file(path, "");
}

static void expect_found(const char *path)
{
    qn_compiler_identity identity;
    cr_assert(qn_compiler_find(&identity, NULL));
    cr_expect_str_eq(identity.path, path);
}

Test(compiler, virtual_environment_newest_package)
{
    clearenv();
    setenv("VIRTUAL_ENV", scratch, 1);
    make_path(scratch_path("lib/python3.11/site-packages/nvidia/cuda_nvrtc/lib/libnvrtc.so.12"));
    expect_found(scratch_path("lib/python3.11/site-packages/nvidia/cuda_nvrtc/lib/libnvrtc.so.12"));
}

Test(compiler, virtual_environment_cuda_13)
{
    clearenv();
    setenv("VIRTUAL_ENV", scratch, 1);
    make_path(scratch_path("lib/python3.12/site-packages/nvidia/cuda_nvrtc/lib/libnvrtc.so.12"));
    make_path(scratch_path("lib/python3.12/site-packages/nvidia/cu13/lib/libnvrtc.so.13"));
    expect_found(scratch_path("lib/python3.12/site-packages/nvidia/cu13/lib/libnvrtc.so.13"));
}

Test(compiler, cuda_home_before_the_library_path)
{
    clearenv();
    setenv("CUDA_HOME", scratch_path("home"), 1);
    char list[500];
    snprintf(list, sizeof list, ":relative:%s", scratch_path("list"));
    setenv("LD_LIBRARY_PATH", list, 1);
    make_path(scratch_path("list/libnvrtc.so.13"));
    make_path(scratch_path("home/lib64/libnvrtc.so.12"));
    expect_found(scratch_path("home/lib64/libnvrtc.so.12"));
}

Test(compiler, library_path)
{
    clearenv();
    char list[500];
    snprintf(list, sizeof list, "/nowhere:%s:", scratch_path("list"));
    setenv("LD_LIBRARY_PATH", list, 1);
    make_path(scratch_path("list/libnvrtc.so.12"));
    expect_found(scratch_path("list/libnvrtc.so.12"));
}

/* ---- elsewhere --------------------------------------------------------------------------------
 */

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
