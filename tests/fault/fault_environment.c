/* SPDX-License-Identifier: MIT
 *
 * A program in a bad environment, from its first call to its result: caches that cannot be used, no
 * compiler or another library in its place, no driver or an old one. The promise: what can still
 * run does so, and the log says what is wrong; what cannot run fails and says what to do about it.
 * Each test is a process of its own.
 */
#include "unit/cache/scratch.h"
#include "unit/engine/whole.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

static void prepare(void)
{
    scratch_make();
    /* Skips without NVRTC, because these tests run kernels to their results; runs wherever ./dev
     * has fetched one. */
    whole_open();
    whole_close();
    warnings = 0;
}

TestSuite(environment, .init = prepare, .fini = scratch_delete);

static quern_engine *open_with(const char *cache)
{
    quern_engine *e;
    quern_options o = QUERN_OPTIONS_INIT;
    o.device = "soft";
    o.cache_dir = cache;
    o.log = count_warnings;
    OK(quern_open(&e, &o));
    return e;
}

/* Define and call a kernel. */
static quern_status compute(quern_engine *e, quern_array **y)
{
    quern_array *x;
    quern_kernel *k;
    OK(quern_array_from(&x, e, QUERN_INT32, SHAPE(3), (int32_t[]){1, 2, 3}));
    OK(quern_elementwise(&k, e, "T x", "T y", "y = x * 3", NULL));
    *y = NULL;
    quern_status status = quern_call(k, x, y);
    quern_kernel_release(k);
    quern_array_release(x);
    return status;
}

/* A kernel runs with this cache, and at least `expected` warnings are logged. */
static void runs_with(const char *cache, int expected)
{
    quern_engine *e = open_with(cache);
    quern_array *y;
    OK(compute(e, &y));
    EXPECT(y, int32_t, 3, 6, 9);
    quern_array_release(y);
    cr_expect_geq(warnings, expected, "%s: %d warnings", cache, warnings);
    cr_expect(expected > 0 || warnings == 0, "%s: %s", cache, last_warning);
    quern_close(e);
}

/* ---- the cache ------------------------------------------------------------------------------ */

static const struct {
    const char *name;
    mode_t mode;
    int warnings;
} folders[] = {{"good", 0700, 0}, {"for-everyone", 0777, 1}};

Test(environment, cache_folders)
{
    for (size_t k = 0; k < sizeof folders / sizeof *folders; k++) {
        warnings = 0;
        const char *path = scratch_path(folders[k].name);
        cr_assert_eq(mkdir(path, 0700), 0);
        cr_assert_eq(chmod(path, folders[k].mode), 0);
        runs_with(path, folders[k].warnings);
    }
    warnings = 0;
    runs_with("off", 0);
    runs_with("/dev/null", 1);
    warnings = 0;
    runs_with("/proc/nowhere", 1);
}

Test(environment, cache_of_someone_else)
{
    const char *path = "/usr"; /* root's; if we are root, we make one and give it away */
    if (geteuid() == 0) {
        path = scratch_path("theirs");
        cr_assert_eq(mkdir(path, 0700), 0);
        cr_assert_eq(chown(path, 12345, 12345), 0);
    }
    runs_with(path, 1);
    quern_engine *e = open_with(path);
    cr_expect_gt(strlen(quern_cache_problem(e)), 10);
    quern_close(e);
}

Test(environment, cache_that_is_no_database)
{
    quern_engine *e = open_with(scratch);
    char path[500];
    snprintf(path, sizeof path, "%s", quern_cache_path(e));
    quern_close(e);
    FILE *file = fopen(path, "w");
    cr_assert(file && fputs("these are my notes\n", file) >= 0);
    fclose(file);
    runs_with(scratch, 1);
    warnings = 0;
    runs_with(scratch, 0); /* it was set aside, and there is a cache again */
}

Test(environment, full_disk)
{
    signal(SIGXFSZ, SIG_IGN);
    struct rlimit before, none = {0, 0};
    cr_assert_eq(getrlimit(RLIMIT_FSIZE, &before), 0);
    none.rlim_max = before.rlim_max;
    cr_assert_eq(setrlimit(RLIMIT_FSIZE, &none), 0);
    quern_engine *e = open_with(scratch);
    quern_array *y;
    quern_status status = compute(e, &y);
    cr_assert_eq(setrlimit(RLIMIT_FSIZE, &before), 0); /* the test's own report needs it */
    cr_assert_eq(status, QUERN_OK, "%s", quern_last_error_text());
    EXPECT(y, int32_t, 3, 6, 9);
    cr_expect_geq(warnings, 1);
    quern_array_release(y);
    quern_close(e);
}

/* ---- the compiler and the driver: looked for once, so each has a process -------------------- */

TestSuite(absent, .init = scratch_make, .fini = scratch_delete);

static void does_not_compile(quern_status expected, const char *says)
{
    quern_engine *e = open_with(scratch);
    quern_array *y;
    for (int again = 0; again < 2; again++) {
        cr_expect_eq(compute(e, &y), expected, "%s", quern_last_error_text());
        cr_expect_null(y);
        SAYS(says);
    }
    OK(quern_array_from(&y, e, QUERN_INT32, SHAPE(2), (int32_t[]){7, 8}));
    EXPECT(y, int32_t, 7, 8);
    quern_array_release(y);
    quern_close(e);
}

Test(absent, compiler)
{
    setenv("QUERN_NVRTC", "/no/such/libnvrtc.so.13", 1);
    does_not_compile(QUERN_ERROR_NVRTC_NOT_FOUND, "/no/such/libnvrtc.so.13");
}

Test(absent, compiler_is_another_library)
{
    setenv("QUERN_NVRTC", FAKE_FOLDER "/libcuda.so.1", 1);
    does_not_compile(QUERN_ERROR_NVRTC, "is not NVRTC");
}

/* Without a choice, the software device is used; asking for the GPU fails, and the failure says
 * `says`. */
static void no_gpu(const char *says)
{
    quern_engine *e;
    quern_options o = QUERN_OPTIONS_INIT;
    quern_device_info info = {.size = sizeof info};
    o.device = "cuda";
    FAILS(QUERN_ERROR_NO_DEVICE, quern_open(&e, &o));
    cr_expect_null(e);
    SAYS(says);
    o.device = "auto";
    OK(quern_open(&e, &o));
    OK(quern_device_get_info(&info, e));
    cr_expect_str_eq(info.id, "soft");
    quern_close(e);
}

Test(absent, driver)
{
    setenv("QUERN_CUDA", scratch, 1);
    no_gpu("QUERN_CUDA");
}

Test(absent, driver_is_old)
{
    setenv("QUERN_CUDA", FAKE_FOLDER, 1);
    setenv("FAKE_CUDA_VERSION", "11040", 1);
    no_gpu("CUDA 11.4");
}

Test(absent, driver_sees_no_gpu)
{
    setenv("QUERN_CUDA", FAKE_FOLDER, 1);
    setenv("FAKE_CUDA_INIT", "100", 1);
    no_gpu("sees no GPU");
}
