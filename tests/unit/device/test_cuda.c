/* SPDX-License-Identifier: MIT
 *
 * The CUDA device over the stand-in for the driver: contexts, images, streams, failures.
 */
#include "fake_device.h"

#include <elf.h>
#include <pthread.h>

static cu_result (*context_get)(cu_context *);
static cu_result (*context_set)(cu_context);

/* The driver's own view of this thread's context, as another library would have it. */
static void use_contexts(void)
{
    void *library = dlopen(FAKE_FOLDER "/libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    void *get = dlsym(library, "cuCtxGetCurrent"), *set = dlsym(library, "cuCtxSetCurrent");
    memcpy(&context_get, &get, sizeof get);
    memcpy(&context_set, &set, sizeof set);
}

static cu_context current(void)
{
    cu_context context;
    context_get(&context);
    return context;
}

/* ---- opening -------------------------------------------------------------------------------- */

Test(cuda, is_found_and_described)
{
    (void)use_fake();
    const char *why = "?";
    cr_assert_eq(cuda->count(&why), 2);
    cr_assert_null(why);
    cr_assert_eq(qn_device_find(QN_STR("cuda")), cuda);
    cr_assert_null(qn_device_find(QN_STR("cud")));
    quern_device_info infos[3] = {
        {.size = sizeof *infos}, {.size = sizeof *infos}, {.size = sizeof *infos}};
    size_t count;
    cr_assert_eq(quern_device_list(&count, infos, 3), QUERN_OK);
    cr_assert_eq(count, 3);
    cr_assert_str_eq(infos[1].name, "Fake GPU 1");
    cr_assert_str_eq(infos[1].id, "cuda:1");
    cr_assert_str_eq(infos[1].target, "sm_90");
    cr_assert_eq(infos[1].max_shared_bytes, 227 * 1024);
    cr_assert_eq(infos[1].driver_version, 13000);
    cr_assert_str_eq(infos[1].uuid, "GPU-00000000-0001-0203-0405-060708091001");
    cr_assert_str_eq(infos[2].id, "soft");
    cr_assert_str_eq(infos[2].uuid, "");
}

Test(cuda, opens_by_number)
{
    fake_cuda *fake = use_fake();
    quern_device *device = open_fake("1");
    int arch, native;
    cuda->target(device, &arch, &native);
    cr_assert_eq(arch, 90);
    cr_assert_eq(native, 1);
    quern_device_info info = {.size = sizeof info};
    cr_assert_eq(cuda->info(device, &info), QUERN_OK);
    cr_assert_str_eq(info.id, "cuda:1");
    cr_assert_eq(fake->retained(1), 1);
    cuda->close(device);
    cr_assert_eq(fake->retained(1), 0);
    cuda->close(NULL);
}

Test(cuda, refuses_numbers_that_are_none)
{
    (void)use_fake();
    static const struct {
        const char *argument;
        quern_status status;
        const char *says;
    } cases[] = {
        {"2", QUERN_ERROR_NO_DEVICE, "has 2 GPUs"},
        {"x", QUERN_ERROR_INVALID_ARGUMENT, "cuda:x"},
        {"", QUERN_ERROR_INVALID_ARGUMENT, "number"},
        {"1a", QUERN_ERROR_INVALID_ARGUMENT, "number"},
        {"-1", QUERN_ERROR_INVALID_ARGUMENT, "number"},
        {"99999999999999999999", QUERN_ERROR_INVALID_ARGUMENT, "number"},
    };
    for (size_t k = 0; k < QN_COUNT(cases); k++) {
        quern_device *device;
        cr_assert_eq(cuda->open(&device, cases[k].argument, NULL), cases[k].status);
        cr_assert_null(device);
        assert_says(cases[k].says);
    }
}

Test(cuda, opens_by_uuid)
{
    (void)use_fake();
    setenv("FAKE_CUDA_DEVICES", "4", 1);
    static const struct {
        const char *argument, *id;
        quern_status status;
        const char *says;
    } cases[] = {
        {"GPU-00000000-0001-0203-0405-060708091002", "cuda:2", QUERN_OK, NULL},
        {"gpu-AB", "cuda:3", QUERN_OK, NULL},
        {"GPU-0", NULL, QUERN_ERROR_INVALID_ARGUMENT, "\"cuda:GPU-0\" means 3 GPUs; write more"},
        {"GPU-", NULL, QUERN_ERROR_INVALID_ARGUMENT, "means 4 GPUs"},
        {"GPU-ac", NULL, QUERN_ERROR_NO_DEVICE, "no GPU whose UUID begins with \"GPU-ac\""},
        {"MIG-ab", NULL, QUERN_ERROR_NO_DEVICE, "cuda:3 is GPU-ab000000-0001-0203-0405-0607"},
        {"GPU-00000000-0001-0203-0405-0607080910021", NULL, QUERN_ERROR_NO_DEVICE, "no GPU"},
    };
    for (size_t k = 0; k < QN_COUNT(cases); k++) {
        quern_device *device;
        cr_assert_eq(cuda->open(&device, cases[k].argument, NULL), cases[k].status, "%s",
                     cases[k].argument);
        if (cases[k].says) {
            assert_says(cases[k].says);
            continue;
        }
        quern_device_info info = QUERN_DEVICE_INFO_INIT;
        cr_assert_eq(cuda->info(device, &info), QUERN_OK);
        cr_expect_str_eq(info.id, cases[k].id);
        cuda->close(device);
    }
}

Test(cuda, tells_what_hides_others)
{
    (void)use_fake();
    setenv("CUDA_VISIBLE_DEVICES", "4,7", 1);
    quern_device *device;
    cr_assert_eq(cuda->open(&device, "4", NULL), QUERN_ERROR_NO_DEVICE);
    assert_says("there is no cuda:4: this process sees 2 GPUs, numbered from 0, as "
                "CUDA_VISIBLE_DEVICES is \"4,7\"");
    cr_assert_eq(cuda->open(&device, "GPU-77", NULL), QUERN_ERROR_NO_DEVICE);
    assert_says("this process sees 2 GPUs");
}

/* ---- contexts ------------------------------------------------------------------------------- */

Test(cuda, leaves_the_callers_context)
{
    fake_cuda *fake = use_fake();
    use_contexts();
    quern_device *device = open_fake("1");
    cu_context others = fake->primary(3);
    const quern_launch_config config = {.grid = {1, 1, 1}, .block = {32, 1, 1}};
    for (int k = 0; k < 2; k++) { /* another's context, then none */
        cu_context mine = k == 0 ? others : NULL;
        context_set(mine);
        cr_assert_eq(launch_with(device, &config), QUERN_OK);
        cr_assert_eq(fake->launch_context, fake->primary(1));
        cr_assert_eq(current(), mine);
    }
    context_set(others);
    cuda->close(device);
    cr_assert_eq(current(), others);
}

Test(cuda, a_thread_without_context_changes_once)
{
    fake_cuda *fake = use_fake();
    use_contexts();
    quern_device *device = open_fake(NULL);
    const quern_launch_config config = {.grid = {1, 1, 1}, .block = {32, 1, 1}};
    cr_assert_eq(launch_with(device, &config), QUERN_OK);
    int changes = fake->calls("cuCtxSetCurrent");
    cr_assert_eq(launch_with(device, &config), QUERN_OK);
    cr_assert_eq(fake->calls("cuCtxSetCurrent"), changes);
    cuda->close(device);
    cr_assert_null(current());
}

static void *synchronize(void *device)
{
    static _Thread_local quern_status status;
    status = cuda->synchronize(device);
    return status == QUERN_OK ? device : NULL;
}

Test(cuda, works_from_a_new_thread)
{
    (void)use_fake();
    quern_device *device = open_fake("1");
    pthread_t thread;
    void *result;
    pthread_create(&thread, NULL, synchronize, device);
    pthread_join(thread, &result);
    cr_assert_eq(result, device);
    cuda->close(device);
}

/* ---- modules -------------------------------------------------------------------------------- */

Test(cuda, rejected_ptx_gives_the_drivers_log)
{
    (void)use_fake();
    quern_device *device = open_fake(NULL);
    static const char ptx[] = ".version 9.0\n.target sm_100\nreject this";
    void *module = device;
    cr_assert_eq(cuda->module_load(device, &module, QUERN_IMAGE_PTX, ptx, strlen(ptx)),
                 QUERN_ERROR_IMAGE);
    cr_assert_null(module);
    assert_says("sm_100");
    assert_says("sm_90");
    cr_assert(strstr(quern_last_error()->log, "line 3; fatal"));
    cr_assert_str_eq(quern_last_error()->stage, "load");
    cr_assert_eq(cuda->module_load(device, &module, QUERN_IMAGE_PTX, ".version 9.0", 12), QUERN_OK);
    cuda->module_free(device, module);
    cuda->close(device);
}

Test(cuda, damaged_images_never_reach_the_driver)
{
    fake_cuda *fake = use_fake();
    quern_device *device = open_fake(NULL);
    Elf64_Ehdr cut = {.e_shoff = 5000, .e_shnum = 3};
    memcpy(cut.e_ident, ELFMAG, SELFMAG);
    cut.e_ident[EI_CLASS] = ELFCLASS64;
    const struct {
        quern_image_kind kind;
        const void *image;
        size_t bytes;
    } cases[] = {
        {QUERN_IMAGE_CUBIN, &cut, sizeof cut},
        {QUERN_IMAGE_CUBIN, &cut, 20},
        {QUERN_IMAGE_CUBIN, "", 0},
        {QUERN_IMAGE_FATBIN, &cut, sizeof cut},
        {QUERN_IMAGE_FATBIN, "P\xed\x55\xba", 4},
    };
    for (size_t k = 0; k < QN_COUNT(cases); k++) {
        void *module;
        cr_assert_eq(
            cuda->module_load(device, &module, cases[k].kind, cases[k].image, cases[k].bytes),
            QUERN_ERROR_IMAGE);
        assert_says("damaged");
    }
    cr_assert_eq(fake->calls("cuModuleLoadDataEx"), 0);
    cuda->close(device);
}

Test(cuda, image_of_another_gpu_names_both)
{
    fake_cuda *fake = use_fake();
    quern_device *device = open_fake(NULL);
    Elf64_Ehdr header = {.e_flags = 0x6006402}; /* sm_100, as CUDA 13 writes it */
    memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_ABIVERSION] = 8;
    fake->fail("cuModuleLoadDataEx", CU_NO_BINARY_FOR_GPU, 2);
    void *module;
    cr_assert_eq(cuda->module_load(device, &module, QUERN_IMAGE_CUBIN, &header, sizeof header),
                 QUERN_ERROR_IMAGE);
    assert_says("for sm_100 and the GPU is sm_90");
    header.e_ident[EI_ABIVERSION] = 7;
    header.e_flags = 0x500550; /* sm_80, as CUDA 12 writes it */
    cr_assert_eq(cuda->module_load(device, &module, QUERN_IMAGE_CUBIN, &header, sizeof header),
                 QUERN_ERROR_IMAGE);
    assert_says("for sm_80 and the GPU is sm_90");
    cuda->close(device);
}

Test(cuda, fatbin_without_a_fitting_entry_names_what_it_holds)
{
    fake_cuda *fake = use_fake();
    quern_device *device = open_fake(NULL);
    const struct {
        uint32_t magic;
        uint16_t version, header_bytes;
        uint64_t bytes;
        struct {
            uint16_t kind, version;
            uint32_t header_bytes;
            uint64_t bytes, packed_and_options;
            uint32_t version_of_code, arch;
            uint64_t name, flags, reserved, unpacked_bytes;
        } entries[2];
    } fatbin = {
        0xba55ed50,
        1,
        16,
        128,
        {{2, 0x101, 64, 0, 0, 0, 80, 0, 0, 0, 0}, {1, 0x101, 64, 0, 0, 0, 100, 0, 0, 0, 0}}};
    void *module;
    fake->fail("cuModuleLoadDataEx", CU_NO_BINARY_FOR_GPU, 1);
    cr_assert_eq(cuda->module_load(device, &module, QUERN_IMAGE_FATBIN, &fatbin, sizeof fatbin),
                 QUERN_ERROR_IMAGE);
    cr_assert_null(module);
    assert_says("for sm_80, compute_100 and the GPU is sm_90");
    fake->fail("cuModuleLoadDataEx", CU_OUT_OF_MEMORY, 1);
    cr_assert_eq(cuda->module_load(device, &module, QUERN_IMAGE_FATBIN, &fatbin, sizeof fatbin),
                 QUERN_ERROR_DEVICE_MEMORY);
    cr_assert_null(strstr(quern_last_error()->message, "sm_80"), "that was not the reason");
    cuda->close(device);
}

Test(cuda, ptx_for_older_gpus_is_not_blamed_on_its_target)
{
    (void)use_fake();
    quern_device *device = open_fake(NULL);
    static const char ptx[] = ".version 9.0\n.target sm_75\nreject this";
    void *module;
    cr_assert_eq(cuda->module_load(device, &module, QUERN_IMAGE_PTX, ptx, strlen(ptx)),
                 QUERN_ERROR_IMAGE);
    cr_assert_null(strstr(quern_last_error()->message, "sm_75"));
    cuda->close(device);
}

/* ---- failures of kernels -------------------------------------------------------------------- */

Test(cuda, a_bad_access_advises_the_software_device)
{
    fake_cuda *fake = use_fake();
    quern_device *device = open_fake(NULL);
    fake->fail("cuStreamSynchronize", CU_ILLEGAL_ADDRESS, 1);
    cr_assert_eq(cuda->stream_wait(device, NULL), QUERN_ERROR_ACCESS);
    assert_says("CUDA_ERROR_ILLEGAL_ADDRESS");
    assert_says("QUERN_DEVICE=soft");
    fake->fail("cuLaunchKernel", CU_LAUNCH_FAILED, 1);
    const quern_launch_config config = {.grid = {1, 1, 1}, .block = {1, 1, 1}};
    cr_assert_eq(launch_with(device, &config), QUERN_ERROR_LAUNCH);
    fake->fail("cuCtxSynchronize", CU_UNKNOWN, 1);
    cr_assert_eq(cuda->synchronize(device), QUERN_ERROR_DRIVER);
    assert_says("waiting for the GPU failed");
    cuda->close(device);
}

/* ---- streams and events --------------------------------------------------------------------- */

Test(cuda, streams_and_events)
{
    fake_cuda *fake = use_fake();
    quern_device *device = open_fake("1");
    void *stream, *begin, *end;
    double ms;
    cr_assert_eq(cuda->stream_new(device, &stream), QUERN_OK, "an ordinary stream");
    cr_assert_eq(cuda->event_new(device, &begin), QUERN_OK);
    cr_assert_eq(cuda->event_new(device, &end), QUERN_OK);
    cr_assert_eq(cuda->event_record(device, begin, stream), QUERN_OK);
    cr_assert_eq(cuda->event_record(device, end, stream), QUERN_OK);
    cr_assert_eq(cuda->event_wait(device, end), QUERN_OK);
    cr_assert_eq(cuda->stream_wait_event(device, stream, end), QUERN_OK);
    cr_assert_eq(cuda->event_elapsed(device, &ms, begin, end), QUERN_OK);
    cr_assert_eq(ms, 1.5);
    cr_assert_eq(cuda->stream_wait(device, stream), QUERN_OK);
    cuda->event_free(device, begin);
    cuda->event_free(device, end);
    cuda->stream_free(device, stream);
    cr_assert_eq(fake->calls("cuEventDestroy_v2"), 2);
    cr_assert_eq(fake->calls("cuStreamDestroy_v2"), 1);
    fake->fail("cuStreamCreate", CU_UNKNOWN, 1);
    cr_assert_eq(cuda->stream_new(device, &stream), QUERN_ERROR_DRIVER);
    cr_assert_null(stream);
    cuda->close(device);
}

Test(cuda, streams_with_options)
{
    fake_cuda *fake = use_fake();
    quern_device *device = open_fake(NULL);
    quern_stream_options options = QUERN_STREAM_OPTIONS_INIT;
    quern_device_info info = QUERN_DEVICE_INFO_INIT;
    void *stream;
    cr_assert_eq(cuda->info(device, &info), QUERN_OK);
    cr_expect_eq(info.priority_lowest, 0);
    cr_expect_eq(info.priority_highest, -5);
    options.priority = -3;
    options.non_blocking = 1;
    cr_assert_eq(cuda->stream_new_with(device, &stream, &options), QUERN_OK);
    cr_expect_eq(fake->last_stream_priority, -3);
    cr_expect_eq(fake->last_stream_flags, 1);
    cuda->stream_free(device, stream);
    options.non_blocking = 0;
    cr_assert_eq(cuda->stream_new_with(device, &stream, &options), QUERN_OK);
    cr_expect_eq(fake->last_stream_flags, 0);
    cuda->stream_free(device, stream);
    cr_expect_eq(fake->streams(), 0);
    fake->fail("cuStreamCreateWithPriority", CU_UNKNOWN, 1);
    cr_assert_eq(cuda->stream_new_with(device, &stream, &options), QUERN_ERROR_DRIVER);
    cr_assert_null(stream);
    cuda->close(device);
}

static void count(void *context)
{
    ++*(int *)context;
}

Test(cuda, events_are_asked_and_functions_called)
{
    fake_cuda *fake = use_fake();
    quern_device *device = open_fake(NULL);
    void *event;
    int reached, called = 0;
    cr_assert_eq(cuda->event_new(device, &event), QUERN_OK);
    cr_assert_eq(cuda->event_query(device, &reached, event), QUERN_OK);
    cr_expect_eq(reached, 1);
    fake->not_ready = true;
    cr_assert_eq(cuda->event_query(device, &reached, event), QUERN_OK);
    cr_expect_eq(reached, 0);
    fake->fail("cuEventQuery", CU_ILLEGAL_ADDRESS, 1);
    cr_assert_eq(cuda->event_query(device, &reached, event), QUERN_ERROR_ACCESS);
    cr_expect_eq(reached, 0);
    cr_assert_eq(cuda->stream_query(device, &reached, NULL), QUERN_OK);
    cr_expect_eq(reached, 0);
    fake->not_ready = false;
    cr_assert_eq(cuda->stream_query(device, &reached, NULL), QUERN_OK);
    cr_expect_eq(reached, 1);
    fake->fail("cuStreamQuery", CU_ILLEGAL_ADDRESS, 1);
    cr_assert_eq(cuda->stream_query(device, &reached, NULL), QUERN_ERROR_ACCESS);
    cr_assert_eq(cuda->stream_call(device, NULL, count, &called), QUERN_OK);
    cr_expect_eq(called, 1);
    fake->fail("cuLaunchHostFunc", CU_UNKNOWN, 1);
    cr_assert_eq(cuda->stream_call(device, NULL, count, &called), QUERN_ERROR_DRIVER);
    cuda->event_free(device, event);
    cuda->close(device);
}
