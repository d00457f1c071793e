/* SPDX-License-Identifier: MIT
 *
 * What is in a module of the CUDA device, over the stand-in for the driver: functions and variables
 * by name, their facts, all names; with a driver that is too old to know them, and with one that
 * fails.
 */
#include "fake_device.h"
#include "image_data.h"

static void *load_data(quern_device *device, quern_image_kind kind, image_data image)
{
    void *module;
    cr_assert_eq(cuda->module_load(device, &module, kind, image.bytes, image.size), QUERN_OK);
    qn_free(image.bytes);
    return module;
}

static void *function(quern_device *device, void *module)
{
    void *found;
    cr_assert_eq(cuda->function_get(device, &found, module, "saxpy"), QUERN_OK);
    return found;
}

/* ---- by name -------------------------------------------------------------------------------- */

Test(cuda_function, by_name)
{
    fake_cuda *fake = use_fake();
    quern_device *device = open_fake(NULL);
    void *module = load(device), *found = device;
    cr_assert_eq(cuda->function_get(device, &found, module, "nope"), QUERN_ERROR_NAME);
    cr_assert_null(found);
    assert_says("'nope'");
    cr_assert_not_null(function(device, module));
    fake->fail("cuModuleGetFunction", CU_UNKNOWN, 1);
    cr_assert_eq(cuda->function_get(device, &found, module, "saxpy"), QUERN_ERROR_DRIVER);
    cuda->module_free(device, module);
    cuda->module_free(device, NULL);
    cr_assert_eq(fake->calls("cuModuleUnload"), 1);
    cuda->close(device);
}

Test(cuda_function, variables)
{
    fake_cuda *fake = use_fake();
    quern_device *device = open_fake(NULL);
    void *module = load(device), *pointer = device;
    uint64_t bytes = 1;
    const float numbers[4] = {1, 2, 3, 4};
    cr_assert_eq(cuda->module_global(device, &pointer, &bytes, module, "nope"), QUERN_ERROR_NAME);
    cr_assert_null(pointer);
    cr_assert_eq(bytes, 0);
    assert_says("no variable 'nope'");
    cr_assert_eq(cuda->module_global(device, &pointer, &bytes, module, "table"), QUERN_OK);
    cr_assert_eq(bytes, sizeof numbers);
    cr_assert_eq(
        cuda->copy(device, pointer, numbers, sizeof numbers, QUERN_COPY_TO_DEVICE, NULL, 1),
        QUERN_OK);
    fake->fail("cuModuleGetGlobal_v2", CU_UNKNOWN, 1);
    cr_assert_eq(cuda->module_global(device, &pointer, &bytes, module, "table"),
                 QUERN_ERROR_DRIVER);
    cuda->module_free(device, module);
    cuda->close(device);
}

/* ---- all names ------------------------------------------------------------------------------ */

static void assert_names_of_gather(quern_device *device, void *module)
{
    const char *names[3] = {NULL};
    size_t count;
    cr_assert_eq(cuda->module_functions(device, module, &count, names, 3), QUERN_OK);
    cr_assert_eq(count, 1);
    cr_assert_str_eq(names[0], "gather");
    cr_assert_eq(cuda->module_globals(device, module, &count, names, 1), QUERN_OK);
    cr_assert_eq(count, 2);
    cr_assert(strcmp(names[0], "total") == 0 || strcmp(names[0], "scale") == 0);
    cr_assert_null(names[1], "no more than there is room for");
}

Test(cuda_function, names_from_the_image_need_no_new_driver)
{
    (void)use_old_fake();
    quern_device *device = open_fake(NULL);
    static const struct {
        quern_image_kind kind;
        const char *file;
    } images[] = {{QUERN_IMAGE_CUBIN, "gather.cubin"},
                  {QUERN_IMAGE_FATBIN, "plain.fatbin"},
                  {QUERN_IMAGE_FATBIN, "lz4.fatbin"},
                  {QUERN_IMAGE_FATBIN, "zstd.fatbin"}};
    for (size_t k = 0; k < QN_COUNT(images); k++) {
        void *module = load_data(device, images[k].kind, read_image(images[k].file));
        assert_names_of_gather(device, module);
        cuda->module_free(device, module);
    }
    cuda->close(device);
}

Test(cuda_function, names_from_the_driver_where_the_image_cannot_be_unpacked)
{
    fake_cuda *fake = use_fake();
    quern_device *device = open_fake(NULL);
    void *module = load_data(device, QUERN_IMAGE_FATBIN, damage_packed("zstd.fatbin"));
    const char *names[3] = {NULL};
    size_t count;
    fake->also = "scale<double>";
    cr_assert_eq(cuda->module_functions(device, module, &count, names, 1), QUERN_OK);
    cr_assert_eq(count, 2);
    cr_assert_str_eq(names[0], "saxpy");
    cr_assert_null(names[1]);
    cr_assert_eq(cuda->module_functions(device, module, &count, names, 3), QUERN_OK);
    cr_assert_str_eq(names[1], "scale<double>");
    cr_assert_eq(cuda->module_globals(device, module, &count, names, 3), QUERN_OK);
    cr_assert_eq(count, SIZE_MAX, "the driver does not list variables");
    static const char *const failing[] = {"cuModuleGetFunctionCount", "cuModuleEnumerateFunctions",
                                          "cuFuncGetName"};
    for (size_t k = 0; k < QN_COUNT(failing); k++) {
        fake->fail(failing[k], CU_UNKNOWN, 1);
        cr_assert_eq(cuda->module_functions(device, module, &count, names, 3), QUERN_ERROR_DRIVER);
        cr_assert_eq(count, SIZE_MAX);
    }
    cuda->module_free(device, module);
    cuda->close(device);
}

Test(cuda_function, names_are_unknown_where_neither_tells)
{
    (void)use_old_fake();
    quern_device *device = open_fake(NULL);
    void *module = load_data(device, QUERN_IMAGE_FATBIN, damage_packed("zstd.fatbin"));
    const char *names[1];
    size_t count;
    cr_assert_eq(cuda->module_functions(device, module, &count, names, 1), QUERN_OK);
    cr_assert_eq(count, SIZE_MAX);
    cuda->module_free(device, module);
    cuda->close(device);
}

/* ---- facts ---------------------------------------------------------------------------------- */

Test(cuda_function, facts)
{
    fake_cuda *fake = use_fake();
    quern_device *device = open_fake(NULL);
    void *module = load(device), *saxpy_function = function(device, module);
    quern_function_info info = QUERN_FUNCTION_INFO_INIT;
    cr_assert_eq(cuda->function_info(device, saxpy_function, &info), QUERN_OK);
    cr_assert_eq(info.size, sizeof info);
    cr_assert_eq(info.registers, 16);
    cr_assert_eq(info.shared_bytes, 1024);
    cr_assert_eq(info.local_bytes, 8);
    cr_assert_eq(info.constant_bytes, 16);
    cr_assert_eq(info.max_threads, 1024);
    cr_assert_eq(info.max_dynamic_shared, 226 * 1024);
    cr_assert_eq(info.ptx_version, 90);
    cr_assert_eq(info.binary_version, 90);
    cr_assert_eq(info.shared_carveout, -1);
    cr_assert_eq(info.parameter_count, 5);
    static const char *const failing[] = {"cuFuncGetAttribute", "cuFuncGetParamInfo"};
    for (size_t k = 0; k < QN_COUNT(failing); k++) {
        fake->fail(failing[k], CU_UNKNOWN, 1);
        cr_assert_eq(cuda->function_info(device, saxpy_function, &info), QUERN_ERROR_DRIVER);
    }
    uint32_t blocks;
    cr_assert_eq(cuda->occupancy(device, saxpy_function, 256, 0, &blocks), QUERN_OK);
    cr_assert_eq(blocks, 8);
    cuda->module_free(device, module);
    cuda->close(device);
}

Test(cuda_function, parameters)
{
    fake_cuda *fake = use_fake();
    quern_device *device = open_fake(NULL);
    void *module = load(device), *saxpy_function = function(device, module);
    uint64_t offset, bytes;
    cr_assert_eq(cuda->function_parameter(device, saxpy_function, 4, &offset, &bytes), QUERN_OK);
    cr_assert_eq(offset, 32);
    cr_assert_eq(bytes, 4);
    fake->fail("cuFuncGetParamInfo", CU_UNKNOWN, 1);
    cr_assert_eq(cuda->function_parameter(device, saxpy_function, 0, &offset, &bytes),
                 QUERN_ERROR_DRIVER);
    cuda->module_free(device, module);
    cuda->close(device);
}

Test(cuda_function, an_old_driver_knows_no_parameters)
{
    (void)use_old_fake();
    quern_device *device = open_fake(NULL);
    void *module = load(device);
    quern_function_info info = QUERN_FUNCTION_INFO_INIT;
    cr_assert_eq(cuda->function_info(device, function(device, module), &info), QUERN_OK);
    cr_assert_eq(info.parameter_count, SIZE_MAX);
    cr_assert_eq(info.registers, 16);
    cuda->module_free(device, module);
    cuda->close(device);
}

Test(cuda_function, properties)
{
    fake_cuda *fake = use_fake();
    quern_device *device = open_fake(NULL);
    void *module = load(device), *saxpy_function = function(device, module);
    quern_function_info info = QUERN_FUNCTION_INFO_INIT;
    cr_assert_eq(cuda->function_set(device, saxpy_function, QUERN_FUNCTION_SHARED_CARVEOUT, 50),
                 QUERN_OK);
    cr_assert_eq(cuda->function_info(device, saxpy_function, &info), QUERN_OK);
    cr_assert_eq(info.shared_carveout, 50);
    cr_assert_eq(cuda->function_set(device, saxpy_function, QUERN_FUNCTION_NON_PORTABLE_CLUSTER, 1),
                 QUERN_OK);
    fake->fail("cuFuncSetAttribute", CU_NOT_SUPPORTED, 1);
    cr_assert_eq(cuda->function_set(device, saxpy_function, QUERN_FUNCTION_SHARED_CARVEOUT, 50),
                 QUERN_ERROR_DRIVER);
    cuda->module_free(device, module);
    cuda->close(device);
}
