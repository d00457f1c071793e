/* SPDX-License-Identifier: MIT
 *
 * A GPU that cannot be used: each reason is a status and a sentence that says what to do.
 */
#include "fake_device.h"

#include <sys/stat.h>
#include <unistd.h>

static void refused(const char *says)
{
    quern_device *device = (quern_device *)1;
    const char *why = NULL;
    cr_assert_eq(cuda->count(&why), 0);
    cr_assert(why && strstr(why, says), "wanted '%s' in: %s", says, why ? why : "nothing");
    cr_assert_eq(cuda->open(&device, NULL, NULL), QUERN_ERROR_NO_DEVICE);
    cr_assert_null(device);
    assert_says(says);
    assert_says("QUERN_DEVICE=soft");
}

Test(cuda_absent, a_named_library_that_is_not_there)
{
    setenv("QUERN_CUDA", "/nowhere/libcuda.so.1", 1);
    refused("QUERN_CUDA names cannot be loaded");
    refused("/nowhere/libcuda.so.1");
}

Test(cuda_absent, an_empty_folder)
{
    char folder[] = "/tmp/quern-no-cuda-XXXXXX";
    cr_assert(mkdtemp(folder));
    setenv("QUERN_CUDA", folder, 1);
    refused("libcuda.so.1");
    rmdir(folder);
}

Test(cuda_absent, a_library_that_is_not_the_driver)
{
    setenv("QUERN_CUDA", "libm.so.6", 1);
    refused("is not a CUDA driver library");
}

Test(cuda_absent, an_old_driver_is_refused_with_both_versions)
{
    (void)use_fake();
    setenv("FAKE_CUDA_VERSION", "11080", 1);
    refused("CUDA 11.8");
    refused("CUDA 12.0");
}

static const struct {
    const char *result, *says;
} inits[] = {
    {"100", "sees no GPU"},
    {"803", "different versions"},
    {"34", "stub"},
    {"999", "cannot be initialised (CUDA_ERROR_FAKE, 999)"},
};

#define INIT_TEST(k)                                                                               \
    Test(cuda_absent, initialising_fails_##k)                                                      \
    {                                                                                              \
        fake_cuda *fake = use_fake();                                                              \
        setenv("FAKE_CUDA_INIT", inits[k].result, 1);                                              \
        refused(inits[k].says);                                                                    \
        cr_assert_eq(fake->calls("cuInit"), 1, "the answer is remembered");                        \
    }
INIT_TEST(0)
INIT_TEST(1)
INIT_TEST(2)
INIT_TEST(3)

Test(cuda_absent, hidden_devices_are_mentioned)
{
    (void)use_fake();
    setenv("FAKE_CUDA_INIT", "100", 1);
    setenv("CUDA_VISIBLE_DEVICES", "7", 1);
    refused("CUDA_VISIBLE_DEVICES is \"7\"");
}

Test(cuda_absent, no_devices)
{
    (void)use_fake();
    setenv("FAKE_CUDA_DEVICES", "0", 1);
    refused("sees no GPU");
}

Test(cuda_absent, the_list_says_why)
{
    (void)use_fake();
    setenv("FAKE_CUDA_VERSION", "11080", 1);
    quern_device_info infos[4] = {{.size = sizeof *infos}, {.size = sizeof *infos}};
    size_t count;
    cr_assert_eq(quern_device_list(&count, infos, 2), QUERN_OK);
    cr_assert_eq(count, 2);
    cr_assert_str_eq(infos[0].id, "cuda");
    cr_assert(strstr(infos[0].note, "too old"));
    cr_assert_eq(infos[0].driver_version, 11080);
    cr_assert_str_eq(infos[1].id, "soft");
    cr_assert_str_eq(infos[1].note, "");
}

Test(cuda_absent, without_a_driver_the_list_has_the_software_device)
{
    setenv("QUERN_CUDA", "/nowhere", 1);
    quern_device_info info = {.size = sizeof info};
    size_t count;
    cr_assert_eq(quern_device_list(&count, &info, 1), QUERN_OK);
    cr_assert_eq(count, 1);
    cr_assert_str_eq(info.id, "soft");
    cr_assert_gt(info.memory_bytes, 0);
}
