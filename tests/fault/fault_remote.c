/* SPDX-License-Identifier: MIT
 *
 * Remote stores that fail, hang and lie. The promise: in each case the kernel runs, its answer is
 * right, no call waits longer than it may, and what happened is counted.
 */
#include "fault/lying_server.h"
#include "fault/lying_store.h"
#include "unit/cache/scratch.h"

#include <criterion/criterion.h>
#include <quern/quern.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

TestSuite(remote, .init = scratch_make, .fini = scratch_delete, .timeout = 200);

/* ---- a program with one kernel -------------------------------------------------------------- */

typedef struct outcome {
    quern_cache_stats cache;
    quern_remote_stats remote;
    char log[2048];
} outcome;

static void listen_to(void *context, const char *level, const char *message)
{
    outcome *out = context;
    if (strcmp(level, "warn") == 0) {
        size_t at = strlen(out->log);
        snprintf(out->log + at, sizeof out->log - at, "%s\n", message);
    }
}

static const char *cache_folder = "off";

static quern_engine *open_program(outcome *out, const char *url,
                                  const quern_remote_methods *methods)
{
    quern_engine *engine;
    quern_options options = QUERN_OPTIONS_INIT;
    *out = (outcome){0};
    options.device = "soft";
    options.cache_dir = cache_folder;
    options.remote = url;
    options.remote_methods = methods;
    options.log = listen_to;
    options.log_context = out;
    cr_assert_eq(quern_open(&engine, &options), QUERN_OK, "%s", quern_last_error()->message);
    return engine;
}

/* y = x * x + number for x = 3. */
static void compute(quern_engine *engine, int number)
{
    char operation[64];
    double x = 3, y = 0;
    quern_kernel *kernel;
    quern_array *in, *result = NULL;
    snprintf(operation, sizeof operation, "y = x * x + %d", number);
    cr_assert_eq(quern_elementwise(&kernel, engine, "T x", "T y", operation, NULL), QUERN_OK);
    cr_assert_eq(quern_array_from(&in, engine, QUERN_FLOAT64, 1, (int64_t[]){1}, &x), QUERN_OK);
    cr_assert_eq(quern_call(kernel, in, &result), QUERN_OK, "%s", quern_last_error()->message);
    cr_assert_eq(quern_array_read(result, &y, sizeof y), QUERN_OK);
    cr_assert_eq(y, 9 + number);
    quern_kernel_release(kernel);
    quern_array_release(in);
    quern_array_release(result);
}

static void close_program(outcome *out, quern_engine *engine)
{
    out->cache = (quern_cache_stats)QUERN_CACHE_STATS_INIT;
    out->remote = (quern_remote_stats)QUERN_REMOTE_STATS_INIT;
    cr_assert_eq(quern_cache_get_stats(&out->cache, engine), QUERN_OK);
    cr_assert_eq(quern_remote_get_stats(&out->remote, engine), QUERN_OK);
    quern_close(engine);
}

static outcome run_program(const char *url, const quern_remote_methods *methods, int number)
{
    static outcome out;
    quern_engine *engine = open_program(&out, url, methods);
    compute(engine, number);
    close_program(&out, engine);
    return out;
}

/* Two kernels, the second once what was to be written of the first is dealt with. */
static outcome run_two(const char *url)
{
    static outcome out;
    quern_remote_stats stats = QUERN_REMOTE_STATS_INIT;
    quern_engine *engine = open_program(&out, url, NULL);
    for (int number = 1; number <= 2; number++) {
        compute(engine, number);
        for (int k = 0; k < 1000 && stats.dropped < 2 * (uint64_t)number; k++) {
            usleep(10000);
            cr_assert_eq(quern_remote_get_stats(&stats, engine), QUERN_OK);
        }
    }
    close_program(&out, engine);
    return out;
}

/* A new signing key, and whom it is to be believed by. */
static void make_key(const char *name, bool trusted)
{
    static char path[2][512];
    quern_public_key key = QUERN_PUBLIC_KEY_INIT;
    snprintf(path[0], sizeof path[0], "%s/%s", scratch, name);
    snprintf(path[1], sizeof path[1], "%s/trust", scratch);
    cr_assert_eq(quern_signing_key(&key, path[0], name), QUERN_OK, "%s",
                 quern_last_error()->message);
    setenv("QUERN_REMOTE_SIGN", path[0], 1);
    if (trusted) {
        FILE *file = fopen(path[1], "w");
        cr_assert_not_null(file);
        fprintf(file, "# those who write\n%s\n", key.line);
        fclose(file);
        setenv("QUERN_REMOTE_TRUST", path[1], 1);
    }
}

static void begin(void)
{
    char limit[16];
    snprintf(limit, sizeof limit, "%d", LIMIT_MS);
    setenv("QUERN_REMOTE_TIMEOUT", limit, 1);
    if (!qn_sign_ready(NULL)) {
        cr_skip_test("libsodium is not installed");
    }
    make_key("writer", true);
}

/* ---- what it answers ------------------------------------------------------------------------ */

Test(remote, lies)
{
    begin();
    memory.now = HONEST;
    for (int number = 1; number <= 2; number++) { /* the first program compiles and writes */
        outcome first = run_program("", &memory_methods, number);
        cr_assert_eq(first.cache.compiled, 1);
        cr_assert_eq(first.remote.misses, 1);
    }
    cr_assert_eq(memory.count, 4, "two images and two recipes, not %zu", memory.count);
    for (lie k = 0; k < LIES; k++) {
        memory.now = k;
        setenv("QUERN_REMOTE_MODE", "read-only", 1);
        outcome out = run_program("", &memory_methods, 1);
        const bool faulty = k == FAILS || k == SLOW, refused = k >= GARBAGE;
        cr_expect_eq(out.cache.compiled, k != HONEST, "%s: compiled %d", lie_names[k],
                     (int)out.cache.compiled);
        cr_expect_eq(out.remote.faults, faulty, "%s: faults %d", lie_names[k],
                     (int)out.remote.faults);
        cr_expect_eq(out.remote.refused, refused, "%s: refused %d", lie_names[k],
                     (int)out.remote.refused);
        cr_expect_eq(out.remote.puts, 0, "%s: a reader wrote", lie_names[k]);
        cr_expect_eq(out.log[0] != '\0', faulty || refused, "%s: told \"%s\"", lie_names[k],
                     out.log);
    }
    cr_expect_eq(atomic_load(&memory.opened), atomic_load(&memory.closed));
}

Test(remote, foreign_signature)
{
    begin();
    make_key("stranger", false);
    setenv("QUERN_REMOTE_MODE", "signed", 1);
    cr_assert_eq(run_program("", &memory_methods, 1).cache.compiled, 1);
    make_key("writer", true); /* what the stranger wrote is there, and not believed */
    outcome out = run_program("", &memory_methods, 1);
    cr_expect_eq(out.cache.compiled, 1);
    cr_expect_eq(out.remote.refused, 1);
    cr_expect(strstr(out.log, "QUERN_REMOTE_TRUST does not have"), "%s", out.log);
}

Test(remote, open_mode_believes_all)
{
    begin();
    unsetenv("QUERN_REMOTE_SIGN");
    unsetenv("QUERN_REMOTE_TRUST");
    setenv("QUERN_REMOTE_MODE", "open", 1);
    cr_expect_eq(run_program("", &memory_methods, 1).cache.compiled, 1);
    cr_expect_eq(run_program("", &memory_methods, 1).cache.compiled, 0);
}

Test(remote, nobody_is_believed_unasked)
{
    begin();
    unsetenv("QUERN_REMOTE_SIGN");
    unsetenv("QUERN_REMOTE_TRUST");
    outcome out = run_program("", &memory_methods, 1);
    cr_expect_eq(out.cache.compiled, 1);
    cr_expect_eq(out.remote.enabled, 0);
    cr_expect(strstr(out.log, "who is believed?"), "%s", out.log);
    cr_expect_eq(memory.count, 0);
}

Test(remote, recipes_are_compiled_here)
{
    begin();
    unsetenv("QUERN_REMOTE_TRUST"); /* nobody need be believed */
    setenv("QUERN_REMOTE_MODE", "recipes", 1);
    cr_expect_eq(run_program("", &memory_methods, 1).cache.compiled, 1);
    cr_expect_eq(memory.count, 1);
    cr_expect(strstr(memory.items[0].name, ":recipe"));
    cr_expect_eq(run_program("", &memory_methods, 1).cache.compiled, 1);
}

static int copy_key(void *context, const quern_cache_entry *entry)
{
    snprintf(context, 33, "%s", entry->key);
    return 1;
}

/* What the compiler says of the only entry in a folder. */
static quern_recompiled audit(const char *folder)
{
    quern_engine *engine;
    quern_recompiled result;
    quern_options options = QUERN_OPTIONS_INIT;
    char key[33] = "";
    options.device = "soft";
    options.cache_dir = folder;
    options.remote = "off";
    cr_assert_eq(quern_open(&engine, &options), QUERN_OK);
    cr_assert_eq(quern_cache_visit(engine, NULL, copy_key, key), QUERN_OK);
    cr_assert_eq(quern_cache_recompile(&result, engine, key), QUERN_OK, "%s",
                 quern_last_error()->message);
    quern_close(engine);
    return result;
}

Test(remote, audit_finds_what_was_altered)
{
    begin();
    memory.now = HONEST;
    run_program("", &memory_methods, 1);
    cache_folder = scratch_path("honest");
    cr_assert_eq(run_program("", &memory_methods, 1).remote.hits, 1);
    cr_assert_eq(chdir("/"), 0); /* line information has the folder in which it was compiled */
    cr_expect_eq(audit(cache_folder), QUERN_RECOMPILED_SAME);
    memory.now = ALTERED;
    cache_folder = scratch_path("altered");
    cr_assert_eq(run_program("", &memory_methods, 1).remote.hits, 1);
    cr_expect_eq(audit(cache_folder), QUERN_RECOMPILED_DIFFERENT);
}

/* ---- servers that are no servers ------------------------------------------------------------ */

static void try_tricks(const char *scheme, bool redis)
{
    for (trick t = 0; t < TRICKS; t++) {
        server s;
        char url[64];
        start(&s, t, redis);
        snprintf(url, sizeof url, "%s://127.0.0.1:%d", scheme, s.port);
        outcome out = run_program(url, NULL, 1);
        cr_expect_eq(out.cache.compiled, 1, "%s %s", scheme, trick_names[t]);
        cr_expect_eq(out.remote.faults, 1, "%s %s: faults %d", scheme, trick_names[t],
                     (int)out.remote.faults);
        cr_expect_eq(out.remote.hits, 0);
        cr_expect_lt(out.remote.looking_ms, 3 * LIMIT_MS, "%s %s: %.0f ms", scheme, trick_names[t],
                     out.remote.looking_ms);
        cr_expect(strstr(out.log, "is left alone for 10 s"), "%s", out.log);
        stop(&s);
    }
}

Test(remote, tricks_over_http)
{
    begin();
    try_tricks("http", false);
}

/* ./dev test installs hiredis; without it Redis cannot be asked at all. */
static void begin_with_redis(void)
{
    void *library;
    begin();
    if (qn_redis_methods.open(&library, "redis://127.0.0.1:1", 100) == QUERN_ERROR_NOT_SUPPORTED) {
        cr_skip_test("hiredis is not installed");
    }
}

Test(remote, tricks_over_redis)
{
    begin_with_redis();
    try_tricks("redis", true);
}

/* Its look-ups go on. */
Test(remote, a_server_that_refuses_to_write_is_not_left_alone)
{
    server s;
    char url[64];
    begin();
    setenv("QUERN_REMOTE_TIMEOUT", "5000", 1);
    start(&s, REFUSES, false);
    snprintf(url, sizeof url, "http://127.0.0.1:%d", s.port);
    const outcome out = run_two(url);
    cr_expect_eq(out.remote.misses, 2);
    cr_expect_eq(out.remote.faults, 0, "%s", out.log);
    cr_expect_eq(out.remote.skipped, 0);
    cr_expect_eq(out.remote.dropped, 4, "two images and two recipes, not %d",
                 (int)out.remote.dropped);
    const char *told = strstr(out.log, "with 413: let it take larger values");
    cr_expect(told && !strstr(told + 1, "with 413"), "told once: %s", out.log);
    stop(&s);
}

Test(remote, a_redis_without_room_is_not_left_alone)
{
    server s;
    char url[64];
    begin_with_redis();
    setenv("QUERN_REMOTE_TIMEOUT", "5000", 1);
    start(&s, REFUSES, true);
    snprintf(url, sizeof url, "redis://127.0.0.1:%d", s.port);
    const outcome out = run_two(url);
    cr_expect_eq(out.remote.misses, 2);
    cr_expect_eq(out.remote.faults, 0, "%s", out.log);
    cr_expect_eq(out.remote.skipped, 0);
    cr_expect_eq(out.remote.dropped, 4, "two images and two recipes, not %d",
                 (int)out.remote.dropped);
    stop(&s);
}

Test(remote, nobody_listens)
{
    begin();
    outcome out = run_program("http://127.0.0.1:9", NULL, 1);
    cr_expect_eq(out.cache.compiled, 1);
    cr_expect_eq(out.remote.faults, 1);
    out = run_program("http://no-such-host.invalid/", NULL, 1);
    cr_expect_eq(out.remote.faults, 1);
    cr_expect_lt(out.remote.looking_ms, 3 * LIMIT_MS);
}
