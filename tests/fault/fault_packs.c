/* SPDX-License-Identifier: MIT
 *
 * Packs of compiled kernels. The promises: what `quern build` compiles is what an engine on that
 * device looks up, so a program with a pack compiles nothing; and a pack that is damaged anywhere
 * costs a compilation or a look-up in the cache, which is counted, and never a wrong answer.
 */
#include "engine/engine_internal.h"
#include "support/fake_libcuda.h"
#include "unit/cache/scratch.h"
#include "unit/engine/whole.h"

#include <dlfcn.h>

/* ---- what the tests share ------------------------------------------------------------------- */

static void need_compiler(void)
{
    quern_compiler_info compiler = {.size = sizeof compiler};
    OK(quern_compiler_get_info(&compiler, 0));
    if (!compiler.found) {
        cr_skip_test("no NVRTC on this machine: %s", compiler.problem);
    }
}

static void open_with(const char *device, const char *cache, const char *const *packs,
                      const void *data, size_t bytes)
{
    quern_options options = QUERN_OPTIONS_INIT;
    options.device = device;
    options.cache_dir = cache;
    options.packs = packs;
    options.pack_data = data;
    options.pack_bytes = bytes;
    options.log = count_warnings;
    OK(quern_open(&engine, &options));
}

static quern_cache_stats stats_now(void)
{
    quern_cache_stats stats = QUERN_CACHE_STATS_INIT;
    OK(quern_cache_get_stats(&stats, engine));
    return stats;
}

/* z = 3 * x of four numbers, checked. */
static void triple(void)
{
    quern_kernel *k;
    quern_array *x = array_of(QUERN_INT32, SHAPE(4), (int32_t[]){1, 2, 3, 4}), *z = NULL;
    int32_t numbers[4];
    OK(quern_elementwise(&k, engine, "T x", "T z", "z = 3 * x", NULL));
    OK(quern_call(k, x, &z));
    OK(quern_array_read(z, numbers, sizeof numbers));
    cr_assert(numbers[0] == 3 && numbers[1] == 6 && numbers[2] == 9 && numbers[3] == 12);
    quern_array_release(x);
    quern_array_release(z);
    quern_kernel_release(k);
}

static char *read_pack(const char *path, size_t *bytes)
{
    char *data;
    OK(qn_file_read(path, &data, bytes));
    return data;
}

static void write_pack(const char *path, const char *data, size_t bytes)
{
    FILE *file = fopen(path, "wb");
    cr_assert(file && fwrite(data, 1, bytes, file) == bytes && fclose(file) == 0);
}

/* ---- on the software device ----------------------------------------------------------------- */

static const char *folder, *pack_path;

static void make_pack(void)
{
    need_compiler();
    scratch_make();
    folder = strdup(scratch_path("cache"));
    pack_path = strdup(scratch_path("small.qpack"));
    unsetenv("QUERN_PACKS");
    open_with("soft:1", folder, NULL, NULL, 0);
    triple();
    uint64_t written;
    quern_export_options options = QUERN_EXPORT_OPTIONS_INIT;
    options.without_source = 1;
    OK(quern_cache_export(&written, engine, pack_path, &options));
    cr_assert_eq(written, 1);
    quern_close(engine);
}

TestSuite(packs, .init = make_pack, .fini = scratch_delete);

Test(packs, a_pack_answers)
{
    size_t bytes;
    char *data = read_pack(pack_path, &bytes);
    for (int in_memory = 0; in_memory < 2; in_memory++) {
        open_with("soft:1", "off", in_memory ? NULL : (const char *[]){pack_path, NULL},
                  in_memory ? data : NULL, bytes);
        triple();
        quern_cache_stats stats = stats_now();
        cr_expect(stats.packs == 1 && stats.pack_entries == 1 && stats.pack_hits == 1 &&
                  stats.pack_faults == 0 && stats.compiled == 0);
        OK(quern_cache_get_totals(&stats, engine));
        cr_expect(stats.packs == 1 && stats.pack_entries == 1 && stats.pack_hits == 1);
        quern_close(engine);
    }
    qn_free(data);
}

Test(packs, every_byte_altered)
{
    size_t bytes;
    char *data = read_pack(pack_path, &bytes);
    for (size_t k = 0; k < bytes; k++) {
        data[k] ^= (char)(1 << k % 8);
        open_with("soft:1", folder, NULL, data, bytes);
        triple();
        quern_cache_stats stats = stats_now();
        cr_assert_eq(stats.pack_faults, 1, "byte %zu", k);
        cr_assert_eq(stats.pack_hits, 0, "byte %zu", k);
        cr_assert_eq(stats.compiled, 0, "byte %zu", k);
        quern_close(engine);
        data[k] ^= (char)(1 << k % 8);
    }
    qn_free(data);
}

Test(packs, every_length)
{
    size_t bytes;
    char *data = read_pack(pack_path, &bytes);
    const char *const cut[] = {scratch_path("cut.qpack"), NULL};
    for (size_t k = 0; k < bytes; k++) {
        write_pack(cut[0], data, k);
        open_with("soft:1", folder, cut, NULL, 0);
        triple();
        quern_cache_stats stats = stats_now();
        cr_assert(stats.packs == 0 && stats.pack_faults == 1 && stats.compiled == 0, "%zu bytes",
                  k);
        quern_close(engine);
    }
    qn_free(data);
}

/* The file is cut while it is open: what was to be read is not there any more. */
Test(packs, cut_while_open)
{
    open_with("soft:1", folder, (const char *[]){pack_path, NULL}, NULL, 0);
    cr_assert_eq(truncate(pack_path, 100), 0);
    triple();
    cr_expect_eq(stats_now().pack_faults, 1);
    quern_close(engine);
}

Test(packs, absent_ones_and_folders_are_told)
{
    open_with("soft:1", folder, (const char *[]){"/no/such.qpack", scratch, pack_path, NULL}, NULL,
              0);
    triple();
    quern_cache_stats stats = stats_now();
    cr_expect(stats.packs == 1 && stats.pack_faults == 2 && stats.pack_hits == 1);
    cr_expect_eq(warnings, 1, "the first is told, others are for debugging");
    cr_expect_not_null(strstr(last_warning, "/no/such.qpack"), "%s", last_warning);
    quern_close(engine);
}

Test(packs, of_the_environment)
{
    char list[300];
    snprintf(list, sizeof list, ":%s:", pack_path);
    setenv("QUERN_PACKS", list, 1);
    open_with("soft:1", "off", NULL, NULL, 0);
    triple();
    cr_expect_eq(stats_now().pack_hits, 1);
    quern_close(engine);
}

Test(packs, come_in_and_go_out)
{
    uint64_t written, added;
    const char *path = scratch_path("whole.qpack");
    open_with("soft:1", folder, NULL, NULL, 0);
    OK(quern_cache_export(&written, engine, path, NULL));
    quern_close(engine);
    open_with("soft:1", scratch_path("other"), NULL, NULL, 0);
    OK(quern_cache_import(&added, engine, path));
    cr_expect_eq(added, 1);
    OK(quern_cache_import(&added, engine, path));
    cr_expect_eq(added, 0);
    triple();
    cr_expect_eq(stats_now().compiled, 0);
    cr_expect_eq(quern_cache_import(&added, engine, pack_path), QUERN_ERROR_IO);
    cr_expect_not_null(strstr(quern_last_error()->message, "without their sources"));
    quern_close(engine);
}

Test(packs, an_engine_that_opens_notes_its_calls)
{
    quern_options options = QUERN_OPTIONS_INIT;
    options.device = "soft:1";
    options.cache_dir = "off";
    setenv("QUERN_RECORD", scratch_path("noted.toml"), 1);
    int failed = 0;
    for (uint64_t n = 1, left = 3; left > 0 && n < 1000; n++) {
        qn_memory_fail_after(n, false);
        const quern_status status = quern_open(&engine, &options);
        qn_memory_fail_after(0, false);
        if (status == QUERN_OK) {
            cr_expect_not_null(engine->listing, "allocation %d", (int)n);
            quern_close(engine);
            left--;
        } else {
            cr_expect_eq(status, QUERN_ERROR_OUT_OF_MEMORY);
            left = 3;
            failed++;
        }
    }
    cr_expect_gt(failed, 3);
}

/* ---- over the stand-in for the driver: built here, looked up there --------------------------- */

static fake_cuda *fake;

static void load_fake(const char *major)
{
    need_compiler();
    scratch_make();
    setenv("QUERN_CUDA", FAKE_FOLDER, 1);
    setenv("FAKE_CUDA_ARCH", major, 1);
    setenv("QUERN_NVRTC_CACHE", "0", 1); /* it asks the driver for things that the stand-in lacks */
    unsetenv("QUERN_PACKS");
    void *library = dlopen(FAKE_FOLDER "/libcuda.so.1", RTLD_NOW);
    cr_assert_not_null(library, "%s", dlerror());
    void *symbol = dlsym(library, "fake_cuda_get");
    fake_cuda_get_function get;
    cr_assert_not_null(symbol);
    memcpy(&get, &symbol, sizeof get);
    fake = get();
    fake->also = "sum";
    fake->recorded = 1;
}

/* Ways to call kernels: each makes its own source. */
static void call_all(void)
{
    quern_kernel_options o = QUERN_KERNEL_OPTIONS_INIT;
    quern_reduction_options r = QUERN_REDUCTION_OPTIONS_INIT;
    quern_kernel *k, *total;
    quern_array *x, *y, *z = NULL, *t = NULL, *all = NULL;
    o.name = r.name = "sum";
    o.preamble = "__device__ int three()\n{\n    return '\\x03';\n}\n";
    OK(quern_elementwise(&k, engine, "T x, S y", "T z", "z = x + y * three()", &o));
    OK(quern_reduction(&total, engine, "T x", "T z", "x", "a + b", "z = a", "0", &r));
    OK(quern_array_new(&x, engine, QUERN_FLOAT32, SHAPE(100, 64)));
    OK(quern_array_new(&y, engine, QUERN_INT16, SHAPE(64)));
    OK(quern_call(k, x, y, &z));
    OK(quern_call(k, x, 2.5f, z));
    OK(quern_call(k, z, x, z));
    OK(quern_array_transpose(&t, x, NULL));
    quern_array *column;
    OK(quern_array_slice(&column, t, 1, &(quern_slice){.start = 3, .stop = 4, .step = 1}));
    quern_array *other = NULL;
    OK(quern_call(k, column, column, &other));
    OK(quern_call(total, x, &all));
    quern_array_release(other);
    quern_array_release(column);
    quern_array_release(all);
    quern_array_release(t);
    quern_array_release(z);
    quern_array_release(y);
    quern_array_release(x);
    quern_kernel_release(total);
    quern_kernel_release(k);
}

static void record_and_build(void (*call)(void), const char *arch, const char *list,
                             const char *pack)
{
    char line[900];
    setenv("QUERN_RECORD", list, 1);
    open_with("cuda", "off", NULL, NULL, 0);
    call();
    cr_expect_gt(stats_now().compiled, 0);
    quern_close(engine);
    unsetenv("QUERN_RECORD");
    snprintf(line, sizeof line, "%s build %s --arch=%s --output=%s --level=3 >/dev/null",
             QUERN_COMMAND, list, arch, pack);
    cr_assert_eq(system(line), 0, "%s", line);
}

static void expect_nothing_compiled(const char *pack)
{
    open_with("cuda", "off", (const char *[]){pack, NULL}, NULL, 0);
    call_all();
    quern_cache_stats stats = stats_now();
    cr_expect_eq(stats.compiled, 0);
    cr_expect_eq(stats.pack_faults, 0);
    cr_expect_gt(stats.pack_hits, 4);
    quern_close(engine);
    scratch_delete();
}

Test(packs_of_gpus, what_is_built_is_what_is_looked_up)
{
    load_fake("9");
    record_and_build(call_all, "sm_90", scratch_path("k.toml"), scratch_path("k.qpack"));
    expect_nothing_compiled(scratch_path("k.qpack"));
    cr_expect(fake->cubin, "native code");
}

Test(packs_of_gpus, ptx_for_an_older_one)
{
    load_fake("9");
    record_and_build(call_all, "sm_80,compute_80,compute_75,sm_100", scratch_path("k.toml"),
                     scratch_path("k.qpack"));
    expect_nothing_compiled(scratch_path("k.qpack"));
    cr_expect_not(fake->cubin, "PTX, which the driver compiles");
}

/* z = x, with a name in the PTX that makes the stand-in reject it. */
static void call_rejected(void)
{
    quern_kernel_options o = QUERN_KERNEL_OPTIONS_INIT;
    quern_kernel *k;
    quern_array *x, *z = NULL;
    o.name = "sum";
    o.preamble = "extern \"C\" __device__ int reject[4];\n__device__ int reject[4];\n";
    OK(quern_array_new(&x, engine, QUERN_INT32, SHAPE(4)));
    OK(quern_elementwise(&k, engine, "T x", "T z", "z = x + reject[i]", &o));
    OK(quern_call(k, x, &z));
    quern_array_release(x);
    quern_array_release(z);
    quern_kernel_release(k);
}

Test(packs_of_gpus, rejected_by_the_driver)
{
    load_fake("9");
    const char *list = scratch_path("k.toml"), *pack = scratch_path("k.qpack");
    record_and_build(call_rejected, "compute_90", list, pack);
    open_with("cuda", "off", (const char *[]){pack, NULL}, NULL, 0);
    call_rejected();
    quern_cache_stats stats = stats_now();
    cr_expect(fake->cubin, "compiled, as native code");
    cr_expect_eq(stats.compiled, 1);
    cr_expect_eq(stats.pack_faults, 1);
    cr_expect_not_null(strstr(last_warning, "rejected"), "%s", last_warning);
    quern_close(engine);
    scratch_delete();
}
