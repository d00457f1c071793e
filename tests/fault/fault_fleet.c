/* SPDX-License-Identifier: MIT
 *
 * Whole lists of kernels between a machine and a remote store. The promises: what is counted is
 * what happened, whatever the size of the kernels and whatever the store does not take; who is told
 * of the progress may use the engine; nobody claims what he does not make; and what is asked for is
 * what this machine would look up.
 */
#include "fault/lying_store.h"
#include "support/fake_libcuda.h"
#include "unit/cache/scratch.h"
#include "unit/engine/whole.h"

#include <dlfcn.h>

/* ---- a store that counts -------------------------------------------------------------------- */

static atomic_int claims, images_asked, put_calls, refusals;

static int count_claim(void *context, const char *name, uint32_t ms)
{
    (void)context, (void)name, (void)ms;
    atomic_fetch_add(&claims, 1);
    return 1;
}

static quern_status count_get(void *context, size_t count, const char *const *names,
                              const void **data, size_t *bytes)
{
    for (size_t k = 0; k < count; k++) {
        atomic_fetch_add(&images_asked, !strstr(names[k], "recipe"));
    }
    return memory_get(context, count, names, data, bytes);
}

static const quern_remote_methods counting = {
    .size = sizeof counting,
    .version = QUERN_REMOTE_VERSION,
    .name = "counting",
    .open = memory_open,
    .get = count_get,
    .put = memory_put,
    .claim = count_claim,
    .close = memory_close,
};

/* ---- machines ------------------------------------------------------------------------------- */

static void begin(void)
{
    quern_compiler_info compiler = {.size = sizeof compiler};
    OK(quern_compiler_get_info(&compiler, 0));
    if (!compiler.found) { /* every machine of a fleet compiles; ./dev test fetches NVRTC */
        cr_skip_test("no NVRTC on this machine: %s", compiler.problem);
    }
    scratch_make();
    setenv("QUERN_REMOTE_MODE", "open", 1);
    setenv("QUERN_REMOTE_TIMEOUT", "5000", 1);
    unsetenv("QUERN_REMOTE_SIGN");
    unsetenv("QUERN_REMOTE_TRUST");
}

TestSuite(fleet, .init = begin, .fini = scratch_delete, .timeout = 100);

/* A machine of its own: an engine with an empty cache. */
static void open_machine(const char *device, const char *cache, const quern_remote_methods *methods)
{
    quern_options options = QUERN_OPTIONS_INIT;
    options.device = device;
    options.cache_dir = scratch_path(cache);
    options.remote = methods ? "" : "off";
    options.remote_methods = methods;
    options.log = count_warnings;
    OK(quern_open(&engine, &options));
}

/* y = x + number, without looking at the answer. */
static void call_kernel(int number)
{
    char operation[40];
    quern_kernel *k;
    quern_array *x, *y = NULL;
    quern_kernel_options o = QUERN_KERNEL_OPTIONS_INIT;
    o.name = "sum";
    snprintf(operation, sizeof operation, "y = x + %d", number);
    OK(quern_array_new(&x, engine, QUERN_INT32, SHAPE(4)));
    OK(quern_elementwise(&k, engine, "T x", "T y", operation, &o));
    OK(quern_call(k, x, &y));
    quern_array_release(x);
    quern_array_release(y);
    quern_kernel_release(k);
}

static char listed[8][33];
static const char *keys[8] = {listed[0], listed[1], listed[2], listed[3],
                              listed[4], listed[5], listed[6], listed[7]};

static int list_key(void *context, const quern_cache_entry *entry)
{
    int *count = context;
    snprintf(listed[(*count)++], sizeof listed[0], "%s", entry->key);
    return *count == 8;
}

/* A machine has compiled so many kernels; those are in the store, and their keys in `keys`. */
static void write_kernels(const char *device, int count)
{
    int found = 0;
    open_machine(device, "writer", &counting);
    for (int k = 0; k < count; k++) {
        call_kernel(k);
    }
    OK(quern_cache_visit(engine, NULL, list_key, &found));
    cr_assert_eq(found, count);
    whole_close();
    cr_assert_eq(memory.count, 2 * (size_t)count, "images and recipes");
    atomic_store(&claims, 0);
    atomic_store(&images_asked, 0);
}

static quern_fleet_report warm(size_t count, bool only_receive, quern_fleet_progress progress)
{
    quern_fleet_report report = QUERN_FLEET_REPORT_INIT;
    quern_prewarm_options options = QUERN_PREWARM_OPTIONS_INIT;
    options.only_receive = only_receive;
    options.progress = progress;
    OK(quern_prewarm(&report, engine, keys, count, &options));
    return report;
}

/* The store loses its images and keeps the recipes. */
static void lose_images(void)
{
    for (size_t k = 0; k < memory.count; k++) {
        if (!strstr(memory.items[k].name, "recipe")) {
            snprintf(memory.items[k].name, sizeof memory.items[k].name, "gone %zu", k);
        }
    }
}

/* ---- lists ---------------------------------------------------------------------------------- */

static int use_engine(void *context, const quern_fleet_report *report, const char *key,
                      const char *name)
{
    (void)context, (void)report, (void)key;
    static int number = 100;
    cr_expect_str_eq(name, "sum");
    call_kernel(number++); /* which looks into the same store */
    return 0;
}

Test(fleet, who_is_told_may_use_the_engine)
{
    write_kernels("soft", 3);
    open_machine("soft", "reader", &counting);
    quern_fleet_report r = warm(3, false, use_engine);
    cr_expect_eq(r.received, 3);
    cr_expect_eq(r.wanted, 3);
    whole_close();
}

Test(fleet, who_only_receives_claims_nothing)
{
    write_kernels("soft", 2);
    lose_images();
    open_machine("soft", "reader", &counting);
    quern_fleet_report r = warm(2, true, NULL);
    cr_expect_eq(r.left, 2);
    cr_expect_eq(atomic_load(&images_asked), 2);
    cr_expect_eq(atomic_load(&claims), 0);
    r = warm(2, false, NULL);
    cr_expect_eq(r.compiled, 2);
    cr_expect_eq(atomic_load(&claims), 2);
    whole_close();
}

Test(fleet, where_recipes_are_shared_no_image_is_asked_for)
{
    write_kernels("soft", 2);
    setenv("QUERN_REMOTE_MODE", "recipes", 1);
    open_machine("soft", "reader", &counting);
    quern_fleet_report r = warm(2, false, NULL);
    cr_expect_eq(r.compiled, 2);
    cr_expect_eq(atomic_load(&images_asked), 0);
    cr_expect_eq(atomic_load(&claims), 0);
    whole_close();
}

Test(fleet, without_a_store_what_is_here_is_found)
{
    write_kernels("soft", 2);
    open_machine("soft", "writer", NULL);
    quern_fleet_report r = warm(2, false, NULL);
    cr_expect_eq(r.had, 2);
    whole_close();
}

Test(fleet, long_lists_in_parts)
{
    enum { ALL = 1300 };
    static char digits[ALL][33];
    static const char *list[ALL];
    quern_fleet_report r = QUERN_FLEET_REPORT_INIT;
    write_kernels("soft", 3);
    for (int k = 0; k < ALL; k++) {
        snprintf(digits[k], sizeof digits[k], "%032x", (unsigned)k);
        list[k] = k % 600 == 5 ? keys[k / 600] : digits[k];
    }
    open_machine("soft", "reader", &counting);
    OK(quern_prewarm(&r, engine, list, ALL, NULL));
    cr_expect_eq(r.wanted, ALL);
    cr_expect_eq(r.received, 3);
    cr_expect_eq(r.left, ALL - 3);
    whole_close();
}

/* ---- what a machine looks up ---------------------------------------------------------------- */

static fake_cuda *load_driver(const char *major)
{
    setenv("QUERN_CUDA", FAKE_FOLDER, 1);
    setenv("FAKE_CUDA_ARCH", major, 1);
    setenv("QUERN_NVRTC_CACHE", "0", 1); /* it asks the driver for things that the stand-in lacks */
    void *library = dlopen(FAKE_FOLDER "/libcuda.so.1", RTLD_NOW);
    cr_assert_not_null(library, "%s", dlerror());
    void *symbol = dlsym(library, "fake_cuda_get");
    fake_cuda_get_function get;
    cr_assert_not_null(symbol);
    memcpy(&get, &symbol, sizeof get);
    fake_cuda *fake = get();
    fake->also = "sum";
    fake->recorded = 1;
    return fake;
}

/* A compiler that is older than the GPU makes PTX, which has another key. */
Test(fleet, a_gpu_that_is_newer_than_the_compiler)
{
    fake_cuda *fake = load_driver("90");
    write_kernels("cuda", 2);
    cr_expect_not(fake->cubin);
    open_machine("cuda", "reader", &counting);
    quern_fleet_report r = warm(2, true, NULL);
    cr_expect_eq(r.received, 2, "%d left", (int)r.left);
    r = warm(2, false, NULL);
    cr_expect_eq(r.had, 2);
    whole_close();
}

/* It is loaded once, too, though it has not the key that is asked for. */
Test(fleet, a_kernel_for_an_older_gpu_is_loaded_once)
{
    fake_cuda *fake = load_driver("90");
    open_machine("cuda", "writer", NULL);
    call_kernel(1);
    const int loaded = fake->calls("cuModuleLoadDataEx");
    cr_assert_gt(loaded, 0);
    call_kernel(1); /* another kernel of the same source */
    cr_expect_eq(fake->calls("cuModuleLoadDataEx"), loaded);
    whole_close();
}

static void prewarm(const char *list, const char *cache)
{
    char line[900];
    setenv("QUERN_CACHE_DIR", scratch_path(cache), 1);
    snprintf(line, sizeof line, "%s prewarm %s --device=cuda --jobs=2 >/dev/null", QUERN_COMMAND,
             list);
    cr_assert_eq(system(line), 0, "%s", line);
}

/* What the command compiles from a list of calls, or of keys, without the GPU, is what a program
 * looks up on it. */
static void expect_prewarmed(const char *major)
{
    (void)load_driver(major);
    setenv("QUERN_RECORD", scratch_path("calls.toml"), 1);
    write_kernels("cuda", 3);
    unsetenv("QUERN_RECORD");
    FILE *file = fopen(scratch_path("keys.txt"), "w");
    fprintf(file, "%s\n%s\n%s\n", keys[0], keys[1], keys[2]);
    fclose(file);
    setenv("QUERN_REMOTE", "off", 1);
    prewarm(scratch_path("calls.toml"), "called");
    prewarm(scratch_path("keys.txt"), "writer");
    open_machine("cuda", "called", NULL);
    for (int k = 0; k < 3; k++) {
        call_kernel(k);
    }
    quern_cache_stats stats = QUERN_CACHE_STATS_INIT;
    OK(quern_cache_get_stats(&stats, engine));
    cr_expect_eq(stats.compiled, 0);
    cr_expect_eq(stats.hits, 3);
    whole_close();
}

Test(fleet, prewarmed_for_a_gpu)
{
    expect_prewarmed("9");
}

Test(fleet, prewarmed_for_a_gpu_that_is_newer_than_the_compiler)
{
    expect_prewarmed("90");
}

/* ---- pushing -------------------------------------------------------------------------------- */

static quern_status nothing_there(void *context, size_t count, const char *const *names,
                                  const void **data, size_t *bytes)
{
    (void)context, (void)names, (void)data;
    memset(bytes, 0, count * sizeof *bytes);
    return QUERN_OK;
}

/* A store that is slower than who pushes, and does not take the first values. */
static quern_status take_slowly(void *context, const char *name, const void *data, size_t bytes)
{
    (void)context, (void)name, (void)data, (void)bytes;
    usleep(3000);
    if (atomic_fetch_add(&put_calls, 1) < atomic_load(&refusals)) {
        return QUERN_ERROR_NOT_SUPPORTED;
    }
    return QUERN_OK;
}

static const quern_remote_methods heavy = {
    .size = sizeof heavy,
    .version = QUERN_REMOTE_VERSION,
    .name = "heavy",
    .open = memory_open,
    .get = nothing_there,
    .put = take_slowly,
    .close = memory_close,
};

/* Images that zstd cannot make smaller, more than 64 MiB of them together. */
static void keep_heavy_images(int count, size_t size)
{
    unsigned seed = 1;
    qn_store *store = scratch_store(scratch_path("heavy"), 0);
    for (int k = 0; k < count; k++) {
        qn_key key = scratch_key(k);
        qn_image image = scratch_image(k, size);
        const qn_store_row row = {"k", "abc", "NVRTC 13.0", 90};
        for (size_t at = 0; at + sizeof(int) <= size; at += 2) {
            const int drawn = rand_r(&seed);
            memcpy(image.data + at, &drawn, sizeof(short));
        }
        cr_assert(qn_store_put(store, &key, &image, &row));
        qn_image_free(&image);
        qn_key_free(&key);
    }
    qn_store_close(store);
}

Test(fleet, what_is_counted_as_sent_is_there)
{
    enum { COUNT = 30, REFUSED = 2 };
    quern_fleet_report r = QUERN_FLEET_REPORT_INIT;
    quern_remote_stats stats = QUERN_REMOTE_STATS_INIT;
    keep_heavy_images(COUNT, (size_t)3 << 20);
    open_machine("soft", "heavy", &heavy);
    OK(quern_cache_push(&r, engine, NULL, NULL, NULL));
    cr_expect_eq(r.sent, COUNT, "%d sent, %d left", (int)r.sent, (int)r.left);
    OK(quern_remote_get_stats(&stats, engine));
    cr_expect_eq(stats.puts, 2 * COUNT, "images and recipes");
    cr_expect_eq(stats.dropped, 0);

    atomic_store(&put_calls, 0);
    atomic_store(&refusals, REFUSED);
    r = (quern_fleet_report)QUERN_FLEET_REPORT_INIT;
    OK(quern_cache_push(&r, engine, NULL, NULL, NULL));
    cr_expect_eq(r.sent, COUNT - REFUSED);
    cr_expect_eq(r.left, REFUSED);
    OK(quern_remote_get_stats(&stats, engine));
    cr_expect_eq(stats.faults, 0, "a store that does not take a value is well");
    cr_expect_eq(stats.dropped, REFUSED);
    cr_expect_eq(warnings, 1, "told once: %s", last_warning);
    whole_close();
}
