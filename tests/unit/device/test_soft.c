/* SPDX-License-Identifier: MIT
 *
 * The software device: opening, modules, launches, streams and events, and what it says when
 * something is wrong.
 */
#include "soft.h"

#include <pthread.h>
#include <sched.h>

/* y[i] = 2 x[i] + 1, for i < n */
static const char twice_plus_one[] =
    ".version 8.0\n.target sm_75\n.address_size 64\n"
    ".visible .entry twice(.param .u64 x, .param .u64 y, .param .u32 n)\n{\n"
    ".reg .pred %p<2>;\n.reg .b32 %r<8>;\n.reg .b64 %rd<8>;\n"
    "ld.param.u64 %rd1, [x];\nld.param.u64 %rd2, [y];\nld.param.u32 %r1, [n];\n"
    "mov.u32 %r2, %ctaid.x;\nmov.u32 %r3, %ntid.x;\nmov.u32 %r4, %tid.x;\n"
    "mad.lo.s32 %r5, %r2, %r3, %r4;\n"
    "setp.ge.s32 %p1, %r5, %r1;\n@%p1 bra done;\n"
    "mul.wide.s32 %rd3, %r5, 4;\nadd.s64 %rd4, %rd1, %rd3;\nadd.s64 %rd5, %rd2, %rd3;\n"
    "ld.global.u32 %r6, [%rd4];\nmad.lo.s32 %r7, %r6, 2, 1;\nst.global.u32 [%rd5], %r7;\n"
    "done:\nret;\n}\n"
    ".visible .entry forever()\n{\nagain:\nbra again;\nret;\n}\n";

static void *load(quern_device *device)
{
    void *module;
    cr_assert_eq(
        soft->module_load(device, &module, QUERN_IMAGE_PTX, twice_plus_one, sizeof twice_plus_one),
        QUERN_OK, "%s", quern_last_error()->message);
    return module;
}

/* ---- opening -------------------------------------------------------------------------------- */

Test(soft, is_always_there)
{
    const char *why = "?";
    cr_assert_eq(soft->count(&why), 1);
    cr_assert_null(why);
    cr_assert_eq(qn_device_find(QN_STR("soft")), soft);
    quern_device *device = open_soft("3");
    int arch, native;
    soft->target(device, &arch, &native);
    cr_assert_eq(arch, 75);
    cr_assert_eq(native, 0);
    quern_device_info info = {.size = sizeof info};
    cr_assert_eq(soft->info(device, &info), QUERN_OK);
    cr_assert_eq(info.processors, 3);
    cr_assert_str_eq(info.name, "software device");
    cr_assert_str_eq(info.id, "soft");
    cr_assert_str_eq(info.target, "compute_75");
    cr_assert_eq(info.max_block_threads, 1024);
    cr_assert_eq(info.warp_size, 32);
    cr_assert_eq(info.size, sizeof info);
    soft->close(device);
    soft->close(NULL);
}

Test(soft, refuses_threads_that_are_no_number)
{
    static const char *const wrong[] = {"", "x", "0", "-1", "4x", "1025", "99999999999999999999"};
    for (size_t k = 0; k < QN_COUNT(wrong); k++) {
        quern_device *device;
        cr_assert_eq(soft->open(&device, wrong[k], NULL), QUERN_ERROR_INVALID_ARGUMENT);
        cr_assert_null(device);
        assert_says("1 to 1024");
    }
}

Test(soft, info_respects_the_callers_size)
{
    quern_device *device = open_soft(NULL);
    quern_device_info info;
    memset(&info, 0x55, sizeof info);
    info.size = offsetof(quern_device_info, id);
    cr_assert_eq(soft->info(device, &info), QUERN_OK);
    cr_assert_str_eq(info.name, "software device");
    cr_assert_eq(info.id[0], 0x55);
    info.size = 0;
    cr_assert_eq(soft->info(device, &info), QUERN_ERROR_INVALID_ARGUMENT);
    soft->close(device);
}

/* ---- modules -------------------------------------------------------------------------------- */

Test(soft, wants_ptx)
{
    quern_device *device = open_soft(NULL);
    void *module = device;
    cr_assert_eq(soft->module_load(device, &module, QUERN_IMAGE_PTX, "nonsense {", 10),
                 QUERN_ERROR_IMAGE);
    cr_assert_null(module);
    soft->module_free(device, NULL);
    soft->close(device);
}

Test(soft, names_the_kernels_there_are)
{
    quern_device *device = open_soft(NULL);
    void *module = load(device), *found = device;
    cr_assert_eq(soft->function_get(device, &found, module, "once"), QUERN_ERROR_NAME);
    cr_assert_null(found);
    assert_says("no kernel 'once'");
    const char *names[3] = {NULL};
    size_t count = 0;
    cr_assert_eq(soft->module_functions(device, module, &count, names, 2), QUERN_OK);
    cr_assert_eq(count, 2u);
    cr_assert_str_eq(names[0], "twice");
    cr_assert_str_eq(names[1], "forever");
    cr_assert_null(names[2]);
    quern_function_info info = QUERN_FUNCTION_INFO_INIT;
    cr_assert_eq(soft->function_info(device, function(device, module, "twice"), &info), QUERN_OK);
    cr_assert_eq(info.max_threads, 1024);
    cr_assert_eq(info.shared_bytes, 0);
    uint32_t blocks;
    cr_assert_eq(soft->occupancy(device, function(device, module, "twice"), 256, 0, &blocks),
                 QUERN_OK);
    cr_assert_eq(blocks, 1);
    cr_assert_eq(soft->occupancy(device, function(device, module, "twice"), 256, 1 << 20, &blocks),
                 QUERN_OK);
    cr_assert_eq(blocks, 0);
    soft->module_free(device, module);
    soft->close(device);
}

/* ---- launches ------------------------------------------------------------------------------- */

enum { N = 1000 };

/* Launch `kernel` over new arrays with room for `room` numbers and check the first N. */
static quern_status twice(quern_device *device, void *kernel, size_t room)
{
    void *x, *y;
    int32_t host[N], n = N;
    for (int k = 0; k < N; k++) {
        host[k] = k;
    }
    cr_assert_eq(soft->allocate(device, &x, sizeof host, NULL), QUERN_OK);
    cr_assert_eq(soft->allocate(device, &y, room * 4, NULL), QUERN_OK);
    soft->copy(device, x, host, sizeof host, QUERN_COPY_TO_DEVICE, NULL, 1);
    void *parameters[] = {&x, &y, &n};
    const quern_launch_config config = {.grid = {4, 1, 1}, .block = {256, 1, 1}};
    quern_status status = soft->launch(device, kernel, &config, parameters);
    if (status == QUERN_OK) {
        soft->copy(device, host, y, sizeof host, QUERN_COPY_TO_HOST, NULL, 1);
        for (int k = 0; k < N; k++) {
            cr_assert_eq(host[k], 2 * k + 1);
        }
    }
    soft->release(device, x, sizeof host, NULL);
    soft->release(device, y, room * 4, NULL);
    return status;
}

Test(soft, launches)
{
    quern_device *device = open_soft("2");
    void *module = load(device);
    cr_assert_eq(twice(device, function(device, module, "twice"), N), QUERN_OK, "%s",
                 quern_last_error()->message);
    soft->module_free(device, module);
    soft->close(device);
}

Test(soft, an_overrun_is_reported)
{
    quern_device *device = open_soft("1");
    void *module = load(device);
    cr_assert_eq(twice(device, function(device, module, "twice"), N - 1), QUERN_ERROR_ACCESS);
    assert_says("twice");
    assert_says("array of 3996 bytes");
    cr_assert_str_eq(quern_last_error()->stage, "launch");
    soft->module_free(device, module);
    soft->close(device);
}

typedef struct job {
    quern_device *device;
    void *kernel;
    bool failed;
} job;

static void *many(void *argument)
{
    job *mine = argument;
    for (int k = 0; k < 20; k++) {
        mine->failed |= twice(mine->device, mine->kernel, N) != QUERN_OK;
    }
    return NULL;
}

Test(soft, launches_from_several_threads)
{
    quern_device *device = open_soft(NULL);
    void *module = load(device);
    job jobs[4];
    pthread_t threads[QN_COUNT(jobs)];
    for (size_t k = 0; k < QN_COUNT(jobs); k++) {
        jobs[k] = (job){device, function(device, module, "twice"), false};
        pthread_create(&threads[k], NULL, many, &jobs[k]);
    }
    for (size_t k = 0; k < QN_COUNT(jobs); k++) {
        pthread_join(threads[k], NULL);
        cr_assert(!jobs[k].failed);
    }
    soft->module_free(device, module);
    soft->close(device);
}

static void *stop_it(void *argument)
{
    job *mine = argument;
    while (!__atomic_load_n(
        &mine->failed,
        __ATOMIC_SEQ_CST)) { /* the launch may not have begun: ask until it has ended */
        soft->interrupt(mine->device);
        sched_yield();
    }
    return NULL;
}

Test(soft, an_endless_loop_can_be_stopped, .timeout = 60)
{
    quern_device *device = open_soft("2");
    void *module = load(device);
    job stopper = {device, NULL, false};
    pthread_t thread;
    pthread_create(&thread, NULL, stop_it, &stopper);
    const quern_launch_config config = {.grid = {4, 1, 1}, .block = {64, 1, 1}};
    cr_assert_eq(soft->launch(device, function(device, module, "forever"), &config, NULL),
                 QUERN_ERROR_INTERRUPTED);
    __atomic_store_n(&stopper.failed, true, __ATOMIC_SEQ_CST);
    pthread_join(thread, NULL);
    soft->interrupt(device); /* none runs, and those to come are not meant */
    cr_assert_eq(twice(device, function(device, module, "twice"), N), QUERN_OK);
    soft->module_free(device, module);
    soft->close(device);
}

Test(soft, a_limit_ends_a_launch_and_says_where_it_was)
{
    quern_device *device = open_soft("1,limit=0.1");
    void *module = load(device);
    const quern_launch_config config = {.grid = {4, 1, 1}, .block = {33, 1, 1}};
    cr_assert_eq(soft->launch(device, function(device, module, "forever"), &config, NULL),
                 QUERN_ERROR_LAUNCH);
    assert_says(
        "thread (0,0,0): the launch ran longer than its limit of 0.1 seconds; warps 0 to 1, "
        "33 threads, run at ('bra.uni'");
    cr_assert_eq(twice(device, function(device, module, "twice"), N), QUERN_OK);
    soft->module_free(device, module);
    soft->close(device);
}

Test(soft, refuses_launches_that_no_gpu_could_do)
{
    quern_device *device = open_soft(NULL);
    void *module = load(device), *kernel = function(device, module, "twice");
    static const struct {
        quern_launch_config config;
        const char *says;
    } cases[] = {
        {{.grid = {0, 1, 1}, .block = {1, 1, 1}}, "grid is 0 x 1 x 1"},
        {{.grid = {1, 70000, 1}, .block = {1, 1, 1}}, "along y this device allows at most 65535"},
        {{.grid = {1, 1, 1}, .block = {1, 1, 0}}, "block is 1 x 1 x 0"},
        {{.grid = {1, 1, 1}, .block = {1, 1, 65}}, "along z this device allows at most 64"},
        {{.grid = {1, 1, 1}, .block = {32, 33, 1}}, "1056 threads (32 x 33 x 1)"},
        {{.grid = {1, 1, 1}, .block = {1, 1, 1}, .shared_bytes = 65537}, "this device has 65536"},
    };
    for (size_t k = 0; k < QN_COUNT(cases); k++) {
        cr_assert_eq(soft->launch(device, kernel, &cases[k].config, NULL),
                     QUERN_ERROR_INVALID_ARGUMENT);
        assert_says(cases[k].says);
    }
    soft->module_free(device, module);
    soft->close(device);
}

/* ---- streams and events --------------------------------------------------------------------- */

Test(soft, streams_are_names_and_events_are_times)
{
    quern_device *device = open_soft(NULL);
    void *stream = device, *begin, *end;
    double ms = -1;
    cr_assert_eq(soft->stream_new(device, &stream), QUERN_OK);
    cr_assert_not_null(stream);
    cr_assert_neq(stream, device);
    cr_assert_eq(soft->event_new(device, &begin), QUERN_OK);
    cr_assert_eq(soft->event_new(device, &end), QUERN_OK);
    cr_assert_eq(soft->event_record(device, begin, stream), QUERN_OK);
    cr_assert_eq(soft->event_record(device, end, stream), QUERN_OK);
    cr_assert_eq(soft->event_elapsed(device, &ms, begin, end), QUERN_OK);
    cr_assert(ms >= 0 && ms < 60000);
    cr_assert_eq(soft->stream_wait_event(device, stream, end), QUERN_OK);
    cr_assert_eq(soft->event_wait(device, end), QUERN_OK);
    cr_assert_eq(soft->stream_wait(device, stream), QUERN_OK);
    cr_assert_eq(soft->synchronize(device), QUERN_OK);
    soft->event_free(device, begin);
    soft->event_free(device, end);
    soft->event_free(device, NULL);
    soft->stream_free(device, stream);
    soft->close(device);
}
