/* SPDX-License-Identifier: MIT
 *
 * Launches of the CUDA device over the stand-in for the driver: plain ones, those with attributes,
 * and what is reported about those that the driver refuses.
 */
#include "fake_device.h"

Test(cuda_launch, a_plain_one_is_one_call)
{
    fake_cuda *fake = use_fake();
    quern_device *device = open_fake(NULL);
    const quern_launch_config config = {.grid = {3, 2, 1}, .block = {32, 4, 2}};
    cr_assert_eq(launch_with(device, &config), QUERN_OK);
    cr_assert_eq(fake->last_grid[1], 2);
    cr_assert_eq(fake->last_block[2], 2);
    cr_assert_eq(fake->calls("cuLaunchKernel"), 1);
    cr_assert_eq(fake->calls("cuLaunchKernelEx"), 0);
    cr_assert_eq(fake->calls("cuFuncGetAttribute"), 0);
    cuda->close(device);
}

Test(cuda_launch, raises_shared_memory_once)
{
    fake_cuda *fake = use_fake();
    quern_device *device = open_fake(NULL);
    const quern_launch_config config = {
        .grid = {3, 2, 1}, .block = {32, 4, 2}, .shared_bytes = 100000};
    cr_assert_eq(launch_with(device, &config), QUERN_OK);
    cr_assert_eq(fake->last_shared, 100000);
    cr_assert_eq(launch_with(device, &config), QUERN_OK);
    cr_assert_eq(fake->calls("cuFuncSetAttribute"), 1);
    cuda->close(device);
}

Test(cuda_launch, attributes)
{
    fake_cuda *fake = use_fake();
    quern_device *device = open_fake(NULL);
    quern_launch_config config = {.grid = {4, 6, 1},
                                  .block = {32, 1, 1},
                                  .shared_bytes = 64,
                                  .cooperative = 1,
                                  .cluster = {2, 3, 0},
                                  .overlap = 1,
                                  .priority = -5};
    cr_assert_eq(launch_with(device, &config), QUERN_OK, "%s", quern_last_error()->message);
    cr_assert_eq(fake->calls("cuLaunchKernel"), 0);
    cr_assert_eq(fake->last_grid[1], 6);
    cr_assert_eq(fake->last_shared, 64);
    cr_assert_eq(fake->last_cooperative, 1);
    cr_assert_eq(fake->last_cluster[0], 2);
    cr_assert_eq(fake->last_cluster[1], 3);
    cr_assert_eq(fake->last_cluster[2], 1);
    cr_assert_eq(fake->last_overlap, 1);
    cr_assert_eq(fake->last_priority, -5);
    cuda->close(device);
}

Test(cuda_launch, each_attribute_alone)
{
    fake_cuda *fake = use_fake();
    quern_device *device = open_fake(NULL);
    static const quern_launch_config configs[] = {
        {.grid = {1, 1, 1}, .block = {1, 1, 1}, .cooperative = 1},
        {.grid = {1, 1, 1}, .block = {1, 1, 1}, .cluster = {1, 1, 1}},
        {.grid = {1, 1, 1}, .block = {1, 1, 1}, .overlap = 1},
        {.grid = {1, 1, 1}, .block = {1, 1, 1}, .priority = 3},
    };
    for (size_t k = 0; k < QN_COUNT(configs); k++) {
        cr_assert_eq(launch_with(device, &configs[k]), QUERN_OK);
        cr_assert_eq((size_t)fake->calls("cuLaunchKernelEx"), k + 1);
        cr_assert_eq(fake->last_cooperative, configs[0].cooperative);
        cr_assert_eq(fake->last_cluster[0], k >= 1);
        cr_assert_eq(fake->last_overlap, k >= 2);
        cr_assert_eq(fake->last_priority, k >= 3 ? 3 : 0);
    }
    cuda->close(device);
}

Test(cuda_launch, refused_ones_say_which_size)
{
    (void)use_fake();
    quern_device *device = open_fake(NULL);
    static const struct {
        quern_launch_config config;
        const char *says;
    } cases[] = {
        {{.grid = {1, 0, 1}, .block = {1, 1, 1}}, "grid is 1 x 0 x 1"},
        {{.grid = {1, 1, 1}, .block = {2048, 1, 1}}, "along x this device allows at most 1024"},
        {{.grid = {1, 1, 1}, .block = {64, 64, 1}}, "4096 threads (64 x 64 x 1)"},
        {{.grid = {1, 1, 1}, .block = {1, 1, 1}, .shared_bytes = 300000}, "this device has 232448"},
        {{.grid = {1, 1, 1}, .block = {1, 1, 1}, .shared_bytes = 232000, .overlap = 1},
         "(232000 dynamic, 1024 static)"},
        {{.grid = {1057, 1, 1}, .block = {256, 1, 1}, .cooperative = 1},
         "cooperative launch of 1057 blocks"},
        {{.grid = {2000, 1, 1}, .block = {256, 1, 1}, .cooperative = 1},
         "256 threads and 0 bytes of dynamic shared memory a block, 1056 fit this device (8 on "
         "each of its 132 processors)"},
        {{.grid = {65536, 65535, 65535}, .block = {1, 1, 1}, .cooperative = 1},
         "cooperative launch of 281466386841600 blocks"},
        {{.grid = {8, 1, 1}, .block = {64, 64, 1}, .cooperative = 1}, "4096 threads (64 x 64 x 1)"},
        {{.grid = {8, 9, 1}, .block = {1, 1, 1}, .cluster = {2, 2, 1}},
         "along y clusters of 2 blocks do not divide the grid of 9"},
        {{.grid = {64, 64, 1}, .block = {1, 1, 1}, .cluster = {4, 4, 1}},
         "a cluster of 16 blocks (4 x 4 x 1); this kernel can be launched with at most 8 on this "
         "device; more than 8 need QUERN_FUNCTION_NON_PORTABLE_CLUSTER"},
        {{.grid = {65536, 65535, 65535}, .block = {1, 1, 1}, .cluster = {65536, 65535, 65535}},
         "a cluster of 281466386841600 blocks"},
    };
    for (size_t k = 0; k < QN_COUNT(cases); k++) {
        cr_assert_eq(launch_with(device, &cases[k].config), QUERN_ERROR_INVALID_ARGUMENT, "%s",
                     cases[k].says);
        assert_says(cases[k].says);
        cr_assert_str_eq(quern_last_error()->stage, "launch");
    }
    cuda->close(device);
}

Test(cuda_launch, larger_clusters_once_they_are_allowed)
{
    (void)use_fake();
    quern_device *device = open_fake(NULL);
    const quern_launch_config config = {
        .grid = {64, 1, 1}, .block = {1, 1, 1}, .cluster = {16, 1, 1}};
    cr_assert_eq(launch_with(device, &config), QUERN_ERROR_INVALID_ARGUMENT);
    void *module = load(device), *saxpy;
    cr_assert_eq(cuda->function_get(device, &saxpy, module, "saxpy"), QUERN_OK);
    cr_assert_eq(cuda->function_set(device, saxpy, QUERN_FUNCTION_NON_PORTABLE_CLUSTER, 1),
                 QUERN_OK);
    cuda->module_free(device, module);
    cr_assert_eq(launch_with(device, &config), QUERN_OK);
    cuda->close(device);
}

Test(cuda_launch, a_cluster_that_the_function_was_compiled_for)
{
    fake_cuda *fake = use_fake();
    quern_device *device = open_fake(NULL);
    const quern_launch_config config = {.grid = {3, 1, 1}, .block = {1, 1, 1}};
    fake->required_cluster[0] = 2;
    fake->required_cluster[1] = fake->required_cluster[2] = 1;
    fake->fail("cuLaunchKernel", CU_INVALID_CLUSTER_SIZE, 1);
    cr_assert_eq(launch_with(device, &config), QUERN_ERROR_INVALID_ARGUMENT);
    assert_says("along x clusters of 2 blocks do not divide the grid of 3");
    cuda->close(device);
}

Test(cuda_launch, gpus_before_90_have_no_clusters)
{
    setenv("FAKE_CUDA_ARCH", "8", 1);
    fake_cuda *fake = use_fake();
    quern_device *device = open_fake(NULL);
    const quern_launch_config config = {
        .grid = {2, 1, 1}, .block = {1, 1, 1}, .cluster = {2, 1, 1}};
    fake->fail("cuLaunchKernelEx", CU_NOT_SUPPORTED, 1);
    cr_assert_eq(launch_with(device, &config), QUERN_ERROR_NOT_SUPPORTED);
    assert_says("compute capability 9.0");
    cuda->close(device);
}

Test(cuda_launch, a_refusal_within_the_limits_is_the_drivers)
{
    fake_cuda *fake = use_fake();
    quern_device *device = open_fake(NULL);
    const quern_launch_config config = {.grid = {1, 1, 1}, .block = {1, 1, 1}, .cooperative = 1};
    fake->fail("cuLaunchKernelEx", CU_NOT_SUPPORTED, 1);
    cr_assert_eq(launch_with(device, &config), QUERN_ERROR_DRIVER);
    assert_says("launching the kernel failed");
    fake->fail("cuLaunchKernelEx", CU_COOPERATIVE_LAUNCH_TOO_LARGE, 1);
    fake->fail("cuOccupancyMaxActiveBlocksPerMultiprocessor", CU_UNKNOWN, 1);
    cr_assert_eq(launch_with(device, &config), QUERN_ERROR_LAUNCH);
    assert_says("must all fit the GPU at once");
    cuda->close(device);
}
