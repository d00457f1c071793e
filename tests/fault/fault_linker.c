/* SPDX-License-Identifier: MIT
 *
 * Finding and loading nvJitLink when it is absent, broken, or something else. Each test is a
 * process of its own, because the linker is looked for once.
 */
#include "loading.h"

TestSuite(linker, .init = scratch_make, .fini = scratch_delete);

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

static const loading linker = {
    .name = "nvJitLink",
    .file = "libnvJitLink.so.13",
    .variable = "QUERN_NVJITLINK",
    .not_found = QUERN_ERROR_NVJITLINK_NOT_FOUND,
    .unusable = QUERN_ERROR_LINK,
    .find = qn_linker_find,
    .expect_failure = expect_failure,
};

Test(linker, asked_for_but_absent)
{
    fails_asked_for_but_absent(&linker);
}

Test(linker, asked_for_folder_without_it)
{
    fails_asked_for_folder_without_it(&linker);
}

Test(linker, not_a_library)
{
    fails_not_a_library(&linker);
}

Test(linker, another_library)
{
    fails_another_library(&linker);
}

Test(linker, beside_the_compiler_before_other_places)
{
    clearenv();
    scratch_write("home/lib64/libnvJitLink.so.13", "");
    scratch_write("libnvrtc.so.12", "");
    scratch_write("libnvJitLink.so.12", "");
    setenv("CUDA_HOME", scratch_path("home"), 1);
    setenv("QUERN_NVRTC", scratch, 1);
    expect_found(&linker, scratch_path("libnvJitLink.so.12"));
}

Test(linker, package_of_the_virtual_environment)
{
    static const char package[] =
        "lib/python3.12/site-packages/nvidia/nvjitlink/lib/libnvJitLink.so.12";
    clearenv();
    scratch_write(package, "");
    setenv("VIRTUAL_ENV", scratch, 1);
    setenv("QUERN_NVRTC", "/no/such/file", 1);
    expect_found(&linker, scratch_path(package));
}

Test(linker, no_compiler_that_can_be_loaded)
{
    qn_compiler_identity identity;
    setenv("QUERN_NVRTC", scratch, 1);
    scratch_write("libnvrtc.so.13", "no library");
    if (!qn_linker_find(&identity, NULL)) {
        /* NVRTC is asked for only after a real nvJitLink has reported its version; nothing can
         * stand in for it. Runs where the CUDA Toolkit or the Python package nvidia-nvjitlink
         * is. */
        cr_skip_test("nvJitLink is not on this machine");
    }
    expect_failure(QUERN_ERROR_NVRTC, scratch_path("libnvrtc.so.13"));
}
