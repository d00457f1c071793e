/* SPDX-License-Identifier: MIT
 *
 * Finding and loading nvJitLink when it is absent, broken, or something else. Each test is a
 * process of its own, because the linker is looked for once.
 */
#include "unit/cache/scratch.h"

#include <criterion/criterion.h>
#include <sys/stat.h>

TestSuite(linker, .init = scratch_make, .fini = scratch_delete);

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    cr_assert(file && fputs(text, file) >= 0);
    fclose(file);
}

static void expect_failure(quern_status status, const char *says)
{
    qn_link_input input = {QN_IMAGE_PTX, "piece", ".version 8.0", 12};
    qn_link_request request = {
        .inputs = &input, .input_count = 1, .arch = 90, .kind = QN_IMAGE_CUBIN};
    for (int turn = 0; turn < 2; turn++) {
        qn_image image;
        cr_expect_eq(qn_link(&image, &request), status, "%s", quern_last_error_text());
        cr_expect(strstr(quern_last_error()->message, says), "%s", quern_last_error()->message);
        cr_expect_str_eq(quern_last_error()->stage, "link");
        cr_expect_null(image.data);
    }
    int major, minor;
    qn_linker_version(&major, &minor);
    cr_expect_eq(major + minor, 0);
}

Test(linker, asked_for_but_absent)
{
    setenv("QUERN_NVJITLINK", "/no/such/libnvJitLink.so.13", 1);
    qn_compiler_identity identity;
    char *looked;
    cr_expect_not(qn_linker_find(&identity, &looked));
    cr_expect_str_eq(looked, "/no/such/libnvJitLink.so.13\n");
    qn_free(looked);
    expect_failure(QUERN_ERROR_NVJITLINK_NOT_FOUND, "QUERN_NVJITLINK is \"/no/such/libnvJitLink");
}

Test(linker, asked_for_folder_without_it)
{
    setenv("QUERN_NVJITLINK", scratch, 1);
    expect_failure(QUERN_ERROR_NVJITLINK_NOT_FOUND, scratch);
}

Test(linker, not_a_library)
{
    setenv("QUERN_NVJITLINK", scratch, 1);
    write_file(scratch_path("libnvJitLink.so.13"), "no library");
    expect_failure(QUERN_ERROR_LINK, scratch_path("libnvJitLink.so.13"));
}

Test(linker, another_library)
{
    setenv("QUERN_NVJITLINK", "/lib/x86_64-linux-gnu/libm.so.6", 1);
    if (!qn_file_exists(getenv("QUERN_NVJITLINK"))) {
        cr_skip_test("libm is elsewhere on this machine");
    }
    expect_failure(QUERN_ERROR_LINK, "is not nvJitLink");
}

Test(linker, beside_the_compiler_before_other_places)
{
    clearenv();
    mkdir(scratch_path("home"), 0700);
    mkdir(scratch_path("home/lib64"), 0700);
    write_file(scratch_path("home/lib64/libnvJitLink.so.13"), "");
    write_file(scratch_path("libnvrtc.so.12"), "");
    write_file(scratch_path("libnvJitLink.so.12"), "");
    setenv("CUDA_HOME", scratch_path("home"), 1);
    setenv("QUERN_NVRTC", scratch, 1);
    qn_compiler_identity identity;
    cr_assert(qn_linker_find(&identity, NULL));
    cr_expect_str_eq(identity.path, scratch_path("libnvJitLink.so.12"));
}

Test(linker, package_of_the_virtual_environment)
{
    clearenv();
    char folder[300];
    snprintf(folder, sizeof folder, "%s",
             scratch_path("lib/python3.12/site-packages/nvidia/"
                          "nvjitlink/lib/libnvJitLink.so.12"));
    for (char *p = folder + strlen(scratch) + 1; *p; p++) {
        if (*p == '/') {
            *p = '\0';
            mkdir(folder, 0700);
            *p = '/';
        }
    }
    write_file(folder, "");
    setenv("VIRTUAL_ENV", scratch, 1);
    setenv("QUERN_NVRTC", "/no/such/file", 1);
    qn_compiler_identity identity;
    cr_assert(qn_linker_find(&identity, NULL));
    cr_expect_str_eq(identity.path, folder);
}

Test(linker, no_compiler_that_can_be_loaded)
{
    qn_compiler_identity identity;
    setenv("QUERN_NVRTC", scratch, 1);
    write_file(scratch_path("libnvrtc.so.13"), "no library");
    if (!qn_linker_find(&identity, NULL)) {
        cr_skip_test("nvJitLink is not on this machine");
    }
    expect_failure(QUERN_ERROR_NVRTC, scratch_path("libnvrtc.so.13"));
}
