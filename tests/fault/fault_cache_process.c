/* SPDX-License-Identifier: MIT
 *
 * The cache shared by processes, and without resources: killed writers, forks, locks, read-only
 * folders, a full disk, no memory. The promise is that of fault_cache_file.c.
 */
#include "unit/cache/scratch.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

TestSuite(process, .init = scratch_make, .fini = scratch_delete);

#define SIZE 3000

/* Run `work` in a child; its result is the exit status. */
static pid_t start(int (*work)(void))
{
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        _exit(work());
    }
    cr_assert_geq(child, 0);
    return child;
}

static int result(pid_t child)
{
    int status = -1;
    cr_assert_eq(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static bool database_is_sound(void)
{
    return scratch_sql("CREATE TEMP TABLE sound (x CHECK (x = 'ok'));"
                       "INSERT INTO sound SELECT * FROM pragma_integrity_check;"
                       "CREATE TEMP TABLE sums (same CHECK (same));"
                       "INSERT INTO sums SELECT entries = (SELECT count(*) FROM image) AND"
                       " bytes = (SELECT coalesce(sum(bytes), 0) FROM image) FROM total;"
                       "INSERT INTO sums SELECT (SELECT count(*) FROM image) ="
                       " (SELECT count(*) FROM payload);");
}

/* ---- killed --------------------------------------------------------------------------------- */

static int put_for_ever(void)
{
    qn_store *store = scratch_store(scratch, 300000);
    while (getppid() != 1) {
        for (int k = 0; k < 100; k++) {
            scratch_put(store, k, SIZE, "abc");
        }
    }
    return 0;
}

Test(process, writer_killed)
{
    unsigned seed = 7;
    for (int round = 0; round < 40; round++) {
        pid_t child = start(put_for_ever);
        usleep((useconds_t)(rand_r(&seed) % 20000));
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
        qn_store *store = scratch_store(scratch, 300000);
        for (int k = 0; k < 100; k++) {
            scratch_get(store, k, SIZE, "abc"); /* aborts on a wrong image */
        }
        quern_cache_stats stats = scratch_stats(store);
        cr_expect_eq(stats.corrupt + stats.faults, 0, "round %d", round);
        scratch_put(store, 1000, SIZE, "abc");
        cr_expect(scratch_get(store, 1000, SIZE, "abc"));
        qn_store_close(store);
        cr_expect(database_is_sound());
    }
    cr_expect_eq(warnings, 0, "%s", last_warning);
}

/* ---- forks and neighbours ------------------------------------------------------------------- */

static qn_store *shared;

static int use_after_fork(void)
{
    for (int k = 0; k < 50; k++) {
        scratch_put(shared, k, SIZE, "abc");
        if (!scratch_get(shared, k, SIZE, "abc")) {
            return 1;
        }
    }
    bool fine = scratch_get(shared, 1000, SIZE, "abc") && scratch_stats(shared).faults == 0;
    qn_store_close(shared);
    return fine ? 0 : 2;
}

Test(process, fork_with_an_open_store)
{
    shared = scratch_store(scratch, 0);
    scratch_put(shared, 1000, SIZE, "abc");
    pid_t first = start(use_after_fork), second = start(use_after_fork);
    for (int k = 0; k < 50; k++) {
        scratch_put(shared, k, SIZE, "abc");
        cr_expect(scratch_get(shared, k, SIZE, "abc"));
    }
    cr_expect_eq(result(first), 0);
    cr_expect_eq(result(second), 0);
    cr_expect_eq(scratch_stats(shared).entries, 51);
    cr_expect_eq(scratch_stats(shared).faults, 0);
    qn_store_close(shared);
    cr_expect(database_is_sound());
}

static int open_and_put(void)
{
    qn_store *store = scratch_store(scratch, 0);
    scratch_put(store, 1, SIZE, "abc");
    bool fine =
        scratch_get(store, 1, SIZE, "abc") && scratch_stats(store).faults == 0 && warnings == 0;
    qn_store_close(store);
    return fine ? 0 : 1;
}

Test(process, all_begin_at_once)
{
    for (int round = 0; round < 10; round++) {
        pid_t children[6];
        for (size_t k = 0; k < QN_COUNT(children); k++) {
            children[k] = start(open_and_put); /* makes the database, and all put one key */
        }
        for (size_t k = 0; k < QN_COUNT(children); k++) {
            cr_expect_eq(result(children[k]), 0, "round %d", round);
        }
        cr_expect(database_is_sound());
        remove(scratch_path(QN_CACHE_FILE));
    }
}

static int open_damaged(void)
{
    qn_store *store = scratch_store(scratch, 0);
    scratch_get(store, 1, SIZE, "abc");
    scratch_put(store, 1, SIZE, "abc");
    bool fine = qn_store_problem(store)[0] == '\0';
    if (!fine) {
        fprintf(stderr, "process %d: %s\n", (int)getpid(), qn_store_problem(store));
    }
    qn_store_close(store);
    return fine ? 0 : 1;
}

Test(process, all_find_the_file_damaged)
{
    for (int round = 0; round < 10; round++) {
        FILE *file = fopen(scratch_path(QN_CACHE_FILE), "w");
        fputs("this is not a database, whatever its name may say", file);
        fclose(file);
        pid_t children[6];
        for (size_t k = 0; k < QN_COUNT(children); k++) {
            children[k] = start(open_damaged);
        }
        for (size_t k = 0; k < QN_COUNT(children); k++) {
            cr_expect_eq(result(children[k]), 0, "round %d", round);
        }
        cr_expect(database_is_sound());
        remove(scratch_path(QN_CACHE_FILE));
    }
}

Test(process, locked_by_another)
{
    qn_store *store = scratch_store(scratch, 0);
    scratch_put(store, 1, SIZE, "abc");
    sqlite3 *db;
    sqlite3_open(scratch_path(QN_CACHE_FILE), &db);
    cr_assert_eq(sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
    cr_expect(scratch_get(store, 1, SIZE, "abc"), "readers do not wait");
    double began = qn_now_ms();
    scratch_put(store, 2, SIZE, "abc");
    cr_expect_lt(qn_now_ms() - began, 2 * QN_BUSY_MS, "a writer waits, but not for ever");
    cr_expect_eq(scratch_stats(store).faults, 1);
    sqlite3_close(db);
    scratch_put(store, 2, SIZE, "abc");
    cr_expect(scratch_get(store, 2, SIZE, "abc"), "it passes");
    qn_store_close(store);
}

/* ---- what cannot be written ----------------------------------------------------------------- */

static int use_read_only(void)
{
    if (geteuid() == 0) { /* root may write everywhere */
        if (chown(scratch, 65534, 65534) != 0 ||
            chown(scratch_path(QN_CACHE_FILE), 65534, 65534) != 0 || setgid(65534) != 0 ||
            setuid(65534) != 0) {
            return 10;
        }
    }
    chmod(scratch, 0500);
    qn_store *store = scratch_store(scratch, 0);
    if (!scratch_get(store, 1, SIZE, "abc")) {
        return 1;
    }
    scratch_put(store, 2, SIZE, "abc");
    qn_key key = scratch_key(1);
    qn_store_reject(store, &key, "abc");
    if (scratch_get(store, 2, SIZE, "abc") || !scratch_get(store, 1, SIZE, "abc")) {
        return 2;
    }
    qn_key_free(&key);
    bool refused = qn_store_clear(store, NULL) == QUERN_ERROR_CACHE;
    qn_store_close(store);
    chmod(scratch, 0700);
    return refused && warnings == 0 ? 0 : 3;
}

Test(process, read_only_folder_is_still_read)
{
    qn_store *store = scratch_store(scratch, 0);
    scratch_put(store, 1, SIZE, "abc");
    qn_store_close(store);
    cr_expect_eq(result(start(use_read_only)), 0);
}

static int use_empty_read_only(void)
{
    if (geteuid() == 0 &&
        (chown(scratch, 65534, 65534) != 0 || setgid(65534) != 0 || setuid(65534) != 0)) {
        return 10;
    }
    chmod(scratch, 0500);
    qn_store *store = scratch_store(scratch, 0);
    scratch_put(store, 1, SIZE, "abc");
    bool hit = scratch_get(store, 1, SIZE, "abc");
    bool told = strstr(qn_store_problem(store), "cannot be written") && warnings == 1;
    qn_store_close(store);
    chmod(scratch, 0700);
    return !hit && told ? 0 : 1;
}

Test(process, read_only_folder_without_database)
{
    cr_expect_eq(result(start(use_empty_read_only)), 0);
}

static int fill_small_disk(void)
{
    signal(SIGXFSZ, SIG_IGN);
    qn_store *store = scratch_store(scratch, 0);
    scratch_put(store, 0, SIZE, "abc");
    struct rlimit limit = {200000, 200000};
    setrlimit(RLIMIT_FSIZE, &limit);
    for (int k = 1; k < 200; k++) {
        scratch_put(store, k, SIZE, "abc");
    }
    quern_cache_stats stats = scratch_stats(store);
    if (warnings != 1 || stats.faults != 1 || !strstr(last_warning, "nothing more is written")) {
        return 1;
    }
    bool kept = scratch_get(store, 0, SIZE, "abc") && scratch_get(store, 5, SIZE, "abc");
    qn_store_close(store);
    return kept ? 0 : 2;
}

Test(process, full_disk)
{
    cr_expect_eq(result(start(fill_small_disk)), 0);
    qn_store *store = scratch_store(scratch, 0); /* there is space again */
    cr_expect(scratch_get(store, 0, SIZE, "abc"));
    scratch_put(store, 500, SIZE, "abc");
    cr_expect(scratch_get(store, 500, SIZE, "abc"));
    qn_store_close(store);
    cr_expect(database_is_sound());
}

/* The disk was full before the cache was opened: no journal, no shared memory can be made. */
static int read_on_full_disk(void)
{
    struct rlimit none = {0, 0};
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &none);
    qn_store *store = scratch_store(scratch, 0);
    bool found = scratch_get(store, 1, SIZE, "abc") && scratch_get(store, 2, SIZE, "abc");
    scratch_put(store, 3, SIZE, "abc");
    bool missed = !scratch_get(store, 3, SIZE, "abc");
    bool told = warnings == 1 && strstr(last_warning, "what it holds is used");
    qn_store_close(store);
    return !found ? 1 : !missed ? 2 : !told ? 3 : 0;
}

static int clear_full_disk(void)
{
    struct rlimit none = {0, 0};
    uint64_t removed = 0;
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &none);
    qn_store *store = scratch_store(scratch, 0);
    quern_status status = qn_store_clear(store, &removed);
    bool gone = !scratch_get(store, 1, SIZE, "abc");
    qn_store_close(store);
    return status != QUERN_OK ? 1 : removed != 2 ? 2 : !gone ? 3 : 0;
}

Test(process, full_disk_at_the_start)
{
    qn_store *store = scratch_store(scratch, 0);
    scratch_put(store, 1, SIZE, "abc");
    scratch_put(store, 2, SIZE, "abc");
    qn_store_close(store);
    cr_expect_eq(result(start(read_on_full_disk)), 0);
    cr_expect_eq(result(start(clear_full_disk)), 0);
    store = scratch_store(scratch, 0); /* there is space again */
    scratch_put(store, 4, SIZE, "abc");
    cr_expect(scratch_get(store, 4, SIZE, "abc"));
    cr_expect_eq(scratch_stats(store).entries, 1);
    qn_store_close(store);
    cr_expect(database_is_sound());
}

/* ---- memory --------------------------------------------------------------------------------- */

static int count_entry(void *context, const quern_cache_entry *entry)
{
    *(size_t *)context += strlen(entry->source) + strlen(entry->compiler) + strlen(entry->target);
    return 0;
}

static void use_once(void)
{
    size_t bytes = 0;
    qn_logger logger = {count_warnings, NULL};
    qn_store *store;
    qn_key key = {{1, 2}, "0", (char *)"material", 8};
    char data[100] = "image", *lowered[] = {(char *)"a", (char *)"b"};
    qn_image image = {QN_IMAGE_PTX, data, sizeof data, lowered, 2, NULL, 1.0}, got;
    qn_store_row row = {"k", "abc", "NVRTC", 90};
    quern_cache_stats stats = {.size = sizeof stats};
    if (qn_store_open(&store, scratch, 0, &logger) != QUERN_OK) {
        return;
    }
    qn_store_put(store, &key, &image, &row);
    if (qn_store_get(store, &key, "abc", &got)) {
        cr_assert_eq(got.size, sizeof data);
        cr_assert_eq(got.lowered_count, 2);
    }
    qn_image_free(&got);
    qn_store_stats(store, &stats);
    qn_store_visit(store, "00", count_entry, &bytes);
    qn_store_clear(store, NULL);
    qn_store_close(store);
}

Test(process, every_allocation_fails_once)
{
    use_once();
    qn_memory_fail_after(0, false);
    use_once();
    uint64_t count = qn_memory_fail_after(0, false);
    cr_expect_gt(count, 5);
    for (uint64_t n = 1; n <= count; n++) {
        qn_memory_fail_after(n, false);
        use_once();
        qn_memory_fail_after(n, true);
        use_once();
    }
    qn_memory_fail_after(0, false);
    cr_expect(database_is_sound());
}

static sqlite3_mem_methods real;
static int until_failure;

static void *failing_malloc(int size)
{
    return until_failure > 0 && --until_failure == 0 ? NULL : real.xMalloc(size);
}

static void *failing_realloc(void *pointer, int size)
{
    return until_failure > 0 && --until_failure == 0 ? NULL : real.xRealloc(pointer, size);
}

Test(process, every_allocation_of_sqlite_fails_once)
{
    sqlite3_shutdown();
    cr_assert_eq(sqlite3_config(SQLITE_CONFIG_GETMALLOC, &real), SQLITE_OK);
    sqlite3_mem_methods failing = real;
    failing.xMalloc = failing_malloc;
    failing.xRealloc = failing_realloc;
    cr_assert_eq(sqlite3_config(SQLITE_CONFIG_MALLOC, &failing), SQLITE_OK);
    use_once();
    for (int n = 1;; n++) {
        until_failure = n;
        use_once();
        if (until_failure > 0) {
            cr_expect_gt(n, 100, "only %d allocations?", n);
            break;
        }
    }
    until_failure = 0;
    use_once();
    cr_expect(database_is_sound());
}
