/* SPDX-License-Identifier: MIT
 *
 * Modules of the software device: images of all kinds, functions and variables by name, their
 * facts, and launches with more than a grid.
 */
#include "image_data.h"
#include "soft.h"

static quern_status load_image(quern_device *device, void **module, quern_image_kind kind,
                               image_data image)
{
    *module = device;
    quern_status status = soft->module_load(device, module, kind, image.bytes, image.size);
    qn_free(image.bytes);
    return status;
}

static void *load(quern_device *device)
{
    void *module;
    cr_assert_eq(load_image(device, &module, QUERN_IMAGE_FATBIN, read_image("plain.fatbin")),
                 QUERN_OK, "%s", quern_last_error()->message);
    return module;
}

static void *variable(quern_device *device, void *module, const char *name)
{
    void *pointer;
    uint64_t bytes;
    cr_assert_eq(soft->module_global(device, &pointer, &bytes, module, name), QUERN_OK, "%s",
                 quern_last_error()->message);
    cr_assert_eq(bytes, 4);
    return pointer;
}

/* gather(to), with total and scale set from the host; what it wrote. */
static int gather(quern_device *device, void *module, int32_t total, float scale)
{
    void *to;
    int32_t result = 0;
    soft->copy(device, variable(device, module, "scale"), &scale, 4, QUERN_COPY_TO_DEVICE, NULL, 1);
    soft->fill(device, variable(device, module, "total"), &total, 4, 1, NULL);
    cr_assert_eq(soft->allocate(device, &to, 4, NULL), QUERN_OK);
    void *parameters[] = {&to};
    const quern_launch_config config = {.grid = {1, 1, 1}, .block = {1, 1, 1}};
    cr_assert_eq(soft->launch(device, function(device, module, "gather"), &config, parameters),
                 QUERN_OK, "%s", quern_last_error()->message);
    soft->copy(device, &result, to, 4, QUERN_COPY_TO_HOST, NULL, 1);
    soft->release(device, to, 4, NULL);
    return result;
}

/* ---- images --------------------------------------------------------------------------------- */

Test(soft_module, runs_the_ptx_in_fatbins)
{
    static const char *const files[] = {"plain.fatbin", "lz4.fatbin", "zstd.fatbin"};
    quern_device *device = open_soft("1");
    for (size_t k = 0; k < QN_COUNT(files); k++) {
        void *module;
        cr_assert_eq(load_image(device, &module, QUERN_IMAGE_FATBIN, read_image(files[k])),
                     QUERN_OK, "%s", quern_last_error()->message);
        cr_assert_eq(gather(device, module, 40, 2.5f), 42);
        soft->module_free(device, module);
    }
    soft->close(device);
}

Test(soft_module, refuses_what_holds_no_ptx)
{
    quern_device *device = open_soft("1");
    image_data cubin = read_image("gather.cubin");
    image_data cut = {qn_strndup(cubin.bytes, 4), 4};
    const struct {
        quern_image_kind kind;
        image_data image;
        const char *says;
    } cases[] = {
        {QUERN_IMAGE_FATBIN, wrap_cubin(cubin, 90), "the fatbin holds none (sm_90)"},
        {QUERN_IMAGE_FATBIN, damage_packed("zstd.fatbin"), "cannot be unpacked"},
        {QUERN_IMAGE_FATBIN, damage_packed("lz4.fatbin"), "cannot be unpacked"},
        {QUERN_IMAGE_CUBIN, cubin, "this is a cubin for sm_90; compile it for compute_75"},
        {QUERN_IMAGE_CUBIN, cut, "damaged"},
        {QUERN_IMAGE_PTX, {qn_strdup("nonsense {"), 10}, "this is not PTX"},
        {(quern_image_kind)7, {qn_strdup(""), 0}, "unknown kind of image: 7"},
    };
    for (size_t k = 0; k < QN_COUNT(cases); k++) {
        void *module;
        cr_assert_eq(load_image(device, &module, cases[k].kind, cases[k].image), QUERN_ERROR_IMAGE);
        cr_assert_null(module);
        assert_says(cases[k].says);
    }
    soft->close(device);
}

/* ---- names ---------------------------------------------------------------------------------- */

Test(soft_module, lists_functions_and_variables)
{
    quern_device *device = open_soft("1");
    void *module = load(device), *found = device;
    const char *names[3] = {NULL};
    size_t count;
    cr_assert_eq(soft->module_functions(device, module, &count, names, 3), QUERN_OK);
    cr_assert_eq(count, 1);
    cr_assert_str_eq(names[0], "gather");
    cr_assert_eq(soft->module_globals(device, module, &count, names, 1), QUERN_OK);
    cr_assert_eq(count, 2);
    cr_assert_null(names[1]);
    uint64_t bytes = 1;
    cr_assert_eq(soft->function_get(device, &found, module, "total"), QUERN_ERROR_NAME);
    cr_assert_null(found);
    found = device;
    cr_assert_eq(soft->module_global(device, &found, &bytes, module, "gather"), QUERN_ERROR_NAME);
    cr_assert_null(found);
    cr_assert_eq(bytes, 0);
    assert_says("no variable 'gather'");
    soft->module_free(device, module);
    soft->close(device);
}

Test(soft_module, a_wrapped_variable_stays_the_modules)
{
    quern_device *device = open_soft("1");
    void *module = load(device), *total = variable(device, module, "total");
    cr_assert_eq(soft->adopt(device, total, 4), QUERN_OK);
    cr_assert_eq(gather(device, module, 1, 1), 2);
    soft->disown(device, total, 4);
    cr_assert_eq(gather(device, module, 2, 3), 5, "kernels may still touch it");
    soft->module_free(device, module);
    soft->close(device);
}

/* ---- facts ---------------------------------------------------------------------------------- */

/* Parameters with gaps between them, a structure, static shared memory and a bound on threads. */
static const char facts[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry facts(.param .u8 a, .param .f64 b, .param .align 4 .b8 c[12], .param .u16 d)\n"
    ".maxntid 128, 2, 1\n{\n"
    ".shared .align 16 .b8 tile[2048];\n"
    ".local .align 8 .b8 depot[24];\n"
    ".reg .b64 %rd<3>;\n"
    "mov.u64 %rd1, tile;\nmov.u64 %rd2, depot;\nret;\n}\n";

Test(soft_module, facts)
{
    quern_device *device = open_soft("1");
    void *module;
    cr_assert_eq(soft->module_load(device, &module, QUERN_IMAGE_PTX, facts, sizeof facts), QUERN_OK,
                 "%s", quern_last_error()->message);
    void *kernel = function(device, module, "facts");
    quern_function_info info = QUERN_FUNCTION_INFO_INIT;
    cr_assert_eq(soft->function_info(device, kernel, &info), QUERN_OK);
    cr_assert_eq(info.size, sizeof info);
    cr_assert_eq(info.registers, 0);
    cr_assert_eq(info.shared_bytes, 2048);
    cr_assert_eq(info.local_bytes, 24);
    cr_assert_eq(info.max_threads, 256);
    cr_assert_eq(info.max_dynamic_shared, 62 * 1024);
    cr_assert_eq(info.ptx_version, 80);
    cr_assert_eq(info.binary_version, 0);
    cr_assert_eq(info.shared_carveout, -1);
    cr_assert_eq(info.parameter_count, 4);
    static const uint64_t parameters[][2] = {{0, 1}, {8, 8}, {16, 12}, {28, 2}};
    for (uint32_t k = 0; k < 4; k++) {
        uint64_t offset, bytes;
        cr_assert_eq(soft->function_parameter(device, kernel, k, &offset, &bytes), QUERN_OK);
        cr_assert_eq(offset, parameters[k][0]);
        cr_assert_eq(bytes, parameters[k][1]);
    }
    cr_assert_eq(soft->function_set(device, kernel, QUERN_FUNCTION_SHARED_CARVEOUT, 50), QUERN_OK);
    cr_assert_eq(soft->function_set(device, kernel, QUERN_FUNCTION_NON_PORTABLE_CLUSTER, 1),
                 QUERN_OK);
    soft->module_free(device, module);
    soft->close(device);
}

/* ---- static shared memory of functions ------------------------------------------------------ */

/* `count` functions with `bytes` of shared memory each; kernels with 100 bytes, one of which calls
 * the first function; and 20 bytes that all share. */
static char *functions_with_shared(unsigned count, unsigned bytes)
{
    static const char body[] = "{\n.shared .align 4 .b8 own[%u];\n.reg .b32 %%r<2>;\n"
                               "mov.u32 %%r1, own;\nst.shared.u32 [%%r1], %%r1;\n%sret;\n}\n";
    qn_text text = {0};
    qn_text_puts(&text, ".version 8.0\n.target sm_75\n.address_size 64\n"
                        ".shared .align 4 .b8 of_module[20];\n");
    for (unsigned k = 0; k < count; k++) {
        qn_text_printf(&text, ".visible .func f%u()\n", k);
        qn_text_printf(&text, body, bytes, "");
    }
    qn_text_puts(&text, ".visible .entry calls()\n");
    qn_text_printf(&text, body, 100, "call f0;\n");
    qn_text_puts(&text, ".visible .entry alone()\n");
    qn_text_printf(&text, body, 100, "");
    return qn_text_take(&text);
}

/* Each begins at a multiple of 16. */
Test(soft_module, shared_memory_of_functions)
{
    static const struct {
        unsigned functions, bytes;
        const char *kernel;
        uint32_t all;
        const char *says;
    } cases[] = {
        {1, 40, "calls", 32 + 48 + 100, NULL},
        {1, 40, "alone", 32 + 100, NULL},
        {2, 40000, "alone", 32 + 100, NULL},
        {2, 40000, "calls", 32 + 80000 + 100, "80132 static); this device has 65536"},
        {4, 1 << 30, "calls", UINT32_MAX, "this device has 65536"},
    };
    quern_device *device = open_soft("1");
    for (size_t k = 0; k < QN_COUNT(cases); k++) {
        const quern_launch_config config = {.grid = {1, 1, 1}, .block = {1, 1, 1}};
        char *text = functions_with_shared(cases[k].functions, cases[k].bytes);
        void *module;
        cr_assert_eq(soft->module_load(device, &module, QUERN_IMAGE_PTX, text, strlen(text) + 1),
                     QUERN_OK, "%s", quern_last_error()->message);
        void *kernel = function(device, module, cases[k].kernel);
        quern_function_info info = QUERN_FUNCTION_INFO_INIT;
        cr_assert_eq(soft->function_info(device, kernel, &info), QUERN_OK);
        cr_assert_eq(info.shared_bytes, cases[k].all, "%u", info.shared_bytes);
        cr_assert_eq(info.max_dynamic_shared, cases[k].says ? 0 : 65536 - cases[k].all);
        const quern_status status = soft->launch(device, kernel, &config, NULL);
        if (cases[k].says) {
            cr_assert_eq(status, QUERN_ERROR_INVALID_ARGUMENT);
            assert_says(cases[k].says);
        } else {
            cr_assert_eq(status, QUERN_OK, "%s", quern_last_error()->message);
        }
        soft->module_free(device, module);
        qn_free(text);
    }
    soft->close(device);
}

/* ---- launches with more than a grid --------------------------------------------------------- */

Test(soft_module, launches_with_attributes)
{
    quern_device *device = open_soft("1");
    static const struct {
        quern_launch_config config;
        quern_status status;
        const char *says;
    } cases[] = {
        {{.cluster = {1, 1, 1}}, QUERN_OK, NULL},
        {{.overlap = 1, .priority = -3}, QUERN_OK, NULL},
        {{.cooperative = 1}, QUERN_OK, NULL},
        {{.cluster = {2, 1, 1}},
         QUERN_ERROR_NOT_SUPPORTED,
         "a cluster of 2 blocks (2 x 1 x 1), and this device has no clusters"},
        {{.cluster = {1, 3, 1}},
         QUERN_ERROR_INVALID_ARGUMENT,
         "along y clusters of 3 blocks do not divide the grid of 2"},
        {{.shared_bytes = 1 << 20}, QUERN_ERROR_INVALID_ARGUMENT, "1048576 dynamic"},
    };
    void *module = load(device), *to;
    cr_assert_eq(soft->allocate(device, &to, 4, NULL), QUERN_OK);
    void *parameters[] = {&to};
    for (size_t k = 0; k < QN_COUNT(cases); k++) {
        quern_launch_config config = cases[k].config;
        for (int axis = 0; axis < 3; axis++) {
            config.grid[axis] = config.block[axis] = 2;
        }
        cr_assert_eq(soft->launch(device, function(device, module, "gather"), &config, parameters),
                     cases[k].status, "%s", quern_last_error()->message);
        if (cases[k].says) {
            assert_says(cases[k].says);
            cr_assert_str_eq(quern_last_error()->stage, "launch");
        }
    }
    soft->release(device, to, 4, NULL);
    soft->module_free(device, module);
    soft->close(device);
}
