/* SPDX-License-Identifier: MIT
 *
 * The cache's file and folder, damaged in every way. The promise: no wrong image is ever returned,
 * nothing crashes, the damage is counted, and afterwards the cache works again or says why not.
 */
#include "unit/cache/scratch.h"

#include <criterion/criterion.h>
#include <pwd.h>
#include <sys/stat.h>

TestSuite(damage, .init = scratch_make, .fini = scratch_delete);
TestSuite(folder, .init = scratch_make, .fini = scratch_delete);

#define SIZE 3000

/* A closed database with three images. */
static void make_database(void)
{
    qn_store *store = scratch_store(scratch, 0);
    for (int k = 1; k <= 3; k++) {
        scratch_put(store, k, SIZE, "abc");
    }
    qn_store_close(store);
}

static void write_file(const char *path, const char *data, size_t size)
{
    FILE *file = fopen(path, "w");
    cr_assert(file && fwrite(data, 1, size, file) == size);
    fclose(file);
}

/* Use all of the store, whatever was done to the file. scratch_get checks every hit. */
static void use_everything(qn_store *store)
{
    quern_cache_stats stats = {.size = sizeof stats};
    for (int k = 1; k <= 3; k++) {
        scratch_get(store, k, SIZE, k == 2 ? "" : "abc");
    }
    scratch_put(store, 4, SIZE, "abc");
    scratch_put(store, 2, SIZE, "abc");
    qn_store_stats(store, &stats);
}

static bool works(qn_store *store)
{
    scratch_put(store, 50, SIZE, "abc");
    return scratch_get(store, 50, SIZE, "abc");
}

/* ---- rows ----------------------------------------------------------------------------------- */

static const struct {
    const char *sql; /* run on one row, number 1 */
    bool hit;        /* still a hit: nothing that it relies on was changed */
    uint64_t corrupt;
} changes[] = {
    {"UPDATE image SET key = zeroblob(16)", false, 0},
    {"UPDATE image SET compiler = 'abd'", false, 0},
    {"UPDATE image SET kind = 2", false, 1},
    {"UPDATE image SET kind = 'x'", false, 1},
    {"UPDATE image SET kind = 1 << 32 | 1", false, 1},
    {"UPDATE image SET arch = 91", false, 1},
    {"UPDATE image SET checksum = zeroblob(16)", false, 1},
    {"UPDATE image SET checksum = substr(checksum, 1, 15)", false, 1},
    {"UPDATE image SET checksum = ''", false, 1},
    {"UPDATE image SET name = x'ff00'", true, 0},
    {"UPDATE image SET compiler_text = zeroblob(1000)", true, 0},
    {"UPDATE image SET compile_ms = 'x'", true, 0},
    {"UPDATE image SET bytes = -5", true, 0},
    {"UPDATE image SET created = 'never'", true, 0},
    {"UPDATE image SET last_used = -9223372036854775807", true, 0},
    {"UPDATE image SET hits = 1e300", true, 0},
    {"UPDATE payload SET material = substr(material, 2)", false, 1},
    {"UPDATE payload SET material = ''", false, 1},
    {"UPDATE payload SET lowered = ''", false, 1},
    {"UPDATE payload SET lowered = x'636363'", false, 1},
    {"UPDATE payload SET image = substr(image, 1, length(image) - 1)", false, 1},
    {"UPDATE payload SET image = CAST(substr(image, 2) || x'00' AS BLOB)", false, 1},
    {"UPDATE payload SET image = 3", false, 1},
    {"DELETE FROM payload", false, 0},
    {"DELETE FROM total", true, 0},
    {"UPDATE total SET bytes = -1, entries = 'x'", true, 0},
};

Test(damage, each_column)
{
    for (size_t k = 0; k < QN_COUNT(changes); k++) {
        qn_store *store = scratch_store(scratch, 0);
        scratch_put(store, 1, SIZE, "abc");
        cr_assert(scratch_sql(changes[k].sql));
        cr_expect_eq(scratch_get(store, 1, SIZE, "abc"), changes[k].hit, "%s", changes[k].sql);
        quern_cache_stats stats = scratch_stats(store);
        cr_expect_eq(stats.corrupt, changes[k].corrupt, "%s: %d", changes[k].sql,
                     (int)stats.corrupt);
        cr_expect(stats.corrupt == 0 || stats.entries == 0, "%s: the row is removed",
                  changes[k].sql);
        scratch_put(store, 1, SIZE, "abc");
        cr_expect(scratch_get(store, 1, SIZE, "abc"), "%s: kept anew", changes[k].sql);
        cr_expect_eq(qn_store_clear(store, NULL), QUERN_OK);
        qn_store_close(store);
        remove(scratch_path(QN_CACHE_FILE));
    }
}

/* ---- bytes of the file ---------------------------------------------------------------------- */

Test(damage, flipped_bytes)
{
    char *data;
    size_t size;
    make_database();
    cr_assert_eq(qn_file_read(scratch_path(QN_CACHE_FILE), &data, &size), QUERN_OK);
    unsigned seed = 1;
    for (int round = 0; round < 400; round++) {
        /* the first page is the most delicate: every round of the first 100 there */
        size_t at = (size_t)rand_r(&seed) % (round < 100 ? 100 : size);
        char before = data[at];
        data[at] ^= (char)(1 << rand_r(&seed) % 8);
        write_file(scratch_path(QN_CACHE_FILE), data, size);
        data[at] = before;
        qn_store *store = scratch_store(scratch, 0);
        use_everything(store);
        cr_expect(works(store) || qn_store_problem(store)[0] || scratch_stats(store).faults > 0,
                  "byte %zu: it neither works nor says why", at);
        qn_store_close(store);
    }
    qn_free(data);
}

Test(damage, truncated)
{
    char *data;
    size_t size;
    make_database();
    cr_assert_eq(qn_file_read(scratch_path(QN_CACHE_FILE), &data, &size), QUERN_OK);
    for (size_t length = 0; length < size; length += length < 200 ? 9 : 1500) {
        write_file(scratch_path(QN_CACHE_FILE), data, length);
        qn_store *store = scratch_store(scratch, 0);
        use_everything(store);
        cr_expect(works(store), "cut to %zu bytes: %s", length, qn_store_problem(store));
        qn_store_close(store);
    }
    qn_free(data);
}

static const struct {
    const char *name, *sql; /* done to a good file; NULL: the file is `name` itself, as text */
} strangers[] = {
    {"this is not a database, but a text of some length", NULL},
    {"a newer format under this name", "PRAGMA user_version = 2"},
    {"an unknown format", "PRAGMA user_version = -7"},
    {"someone else's database", "DROP TABLE image; DROP TABLE payload; DROP TABLE total;"
                                "PRAGMA user_version = 0; CREATE TABLE theirs (x);"},
    {"a table is gone", "DROP TABLE payload"},
    {"a column has another name", "ALTER TABLE payload RENAME COLUMN image TO picture"},
};

Test(damage, strangers_are_set_aside)
{
    for (size_t k = 0; k < QN_COUNT(strangers); k++) {
        if (strangers[k].sql) {
            make_database();
            cr_assert(scratch_sql(strangers[k].sql));
        } else {
            write_file(scratch_path(QN_CACHE_FILE), strangers[k].name, strlen(strangers[k].name));
        }
        warnings = 0;
        qn_store *store = scratch_store(scratch, 0);
        cr_expect_not(scratch_get(store, 1, SIZE, "abc"), "%s", strangers[k].name);
        cr_expect(works(store), "%s: %s", strangers[k].name, qn_store_problem(store));
        quern_cache_stats stats = scratch_stats(store);
        cr_expect_eq(stats.corrupt, 1, "%s: corrupt %d", strangers[k].name, (int)stats.corrupt);
        cr_expect_eq(warnings, 1, "%s: %d warnings", strangers[k].name, warnings);
        cr_expect(strstr(last_warning, "set aside"), "%s", last_warning);
        qn_store_close(store);

        glob_t aside;
        cr_expect_eq(glob(scratch_path(QN_CACHE_FILE ".corrupt-*"), 0, NULL, &aside), 0);
        cr_expect_eq(aside.gl_pathc, 1, "one is kept, however often it happens");
        globfree(&aside);
        remove(scratch_path(QN_CACHE_FILE));
    }
}

Test(damage, the_file_is_a_folder)
{
    cr_assert_eq(mkdir(scratch_path(QN_CACHE_FILE), 0700), 0);
    qn_store *store = scratch_store(scratch, 0);
    cr_expect_not(works(store));
    cr_expect(qn_store_problem(store)[0]);
    cr_expect_eq(warnings, 1);
    quern_cache_stats stats = {.size = sizeof stats};
    cr_expect_eq(qn_store_stats(store, &stats), QUERN_ERROR_CACHE);
    qn_store_close(store);
}

Test(damage, removed_while_open)
{
    qn_store *store = scratch_store(scratch, 0);
    scratch_put(store, 1, SIZE, "abc");
    remove(scratch_path(QN_CACHE_FILE));
    remove(scratch_path(QN_CACHE_FILE "-wal"));
    use_everything(store);
    qn_store_close(store);
    store = scratch_store(scratch, 0);
    cr_expect(works(store));
    qn_store_close(store);
}

/* ---- the folder ----------------------------------------------------------------------------- */

static void expect_off(const char *folder, const char *why)
{
    warnings = 0;
    qn_store *store = scratch_store(folder, 0);
    cr_expect(strstr(qn_store_problem(store), why), "%s: %s", why, qn_store_problem(store));
    cr_expect_not(works(store));
    cr_expect_eq(warnings, 1, "told once");
    cr_expect(strstr(last_warning, why));
    quern_cache_stats stats = {.size = sizeof stats};
    cr_expect_eq(qn_store_stats(store, &stats), QUERN_ERROR_CACHE);
    cr_expect_eq(stats.enabled, 0);
    cr_expect_eq(qn_store_clear(store, NULL), QUERN_ERROR_CACHE);
    qn_store_close(store);
}

Test(folder, refused)
{
    cr_assert_eq(chmod(scratch, 0777), 0);
    expect_off(scratch, "others may write");
    cr_assert_eq(chmod(scratch, 0720), 0);
    expect_off(scratch, "others may write");
    cr_assert_eq(chmod(scratch, 0700), 0);
    write_file(scratch_path("file"), "x", 1);
    expect_off(scratch_path("file"), "not a folder");
    expect_off(scratch_path("file/below"), "cannot make the folder");
    expect_off("/proc/quern", "cannot make the folder");
    if (geteuid() == 0) {
        cr_assert_eq(chown(scratch, 12345, 12345), 0);
        expect_off(scratch, "belongs to another user");
    }
}

Test(folder, chosen_by_the_environment)
{
    unsetenv("QUERN_CACHE_DIR");
    setenv("HOME", scratch_path("home"), 1);
    setenv("XDG_CACHE_HOME", scratch_path("xdg/deep"), 1);
    qn_store *store = scratch_store(NULL, 0);
    cr_expect_str_eq(qn_store_path(store), scratch_path("xdg/deep/quern/" QN_CACHE_FILE));
    cr_expect(works(store));
    qn_store_close(store);
    struct stat facts;
    cr_assert_eq(stat(scratch_path("xdg/deep/quern"), &facts), 0);
    cr_expect_eq(facts.st_mode & 07777, 0700);

    setenv("XDG_CACHE_HOME", "relative", 1); /* the specification says: ignore */
    cr_assert_eq(mkdir(scratch_path("home"), 0700), 0);
    store = scratch_store(NULL, 0);
    cr_expect_str_eq(qn_store_path(store), scratch_path("home/.cache/quern/" QN_CACHE_FILE));
    qn_store_close(store);

    setenv("QUERN_CACHE_DIR", scratch_path("asked"), 1);
    store = scratch_store(NULL, 0);
    cr_expect_str_eq(qn_store_path(store), scratch_path("asked/" QN_CACHE_FILE));
    qn_store_close(store);

    setenv("QUERN_CACHE_DIR", "off", 1);
    store = scratch_store(NULL, 0);
    cr_expect_str_eq(qn_store_path(store), "");
    cr_expect_str_eq(qn_store_problem(store), "off");
    cr_expect_not(works(store));
    quern_cache_stats stats = {.size = sizeof stats};
    cr_expect_eq(qn_store_stats(store, &stats), QUERN_OK, "off as asked is no error");
    qn_store_close(store);
    cr_expect_eq(warnings, 0, "%s", last_warning);

    unsetenv("QUERN_CACHE_DIR");
    setenv("XDG_CACHE_HOME", "", 1);
    setenv("HOME", scratch_path("nowhere"), 1);
    store = scratch_store(NULL, 0);
    cr_expect(strstr(qn_store_problem(store), "there is no home folder"));
    cr_expect_neq(stat(scratch_path("nowhere"), &facts), 0, "and none is made");
    qn_store_close(store);
}

/* The list of users knows the home; looked at only where there is a cache in it already. */
Test(folder, of_the_user_without_HOME)
{
    const struct passwd *user = getpwuid(geteuid());
    char path[4096];
    struct stat facts;
    if (!user || snprintf(path, sizeof path, "%s/.cache/quern", user->pw_dir) < 0 ||
        stat(path, &facts) != 0 || facts.st_uid != geteuid()) {
        cr_skip_test("there is no cache in the user's home");
    }
    unsetenv("QUERN_CACHE_DIR");
    unsetenv("XDG_CACHE_HOME");
    unsetenv("HOME");
    qn_store *store = scratch_store(NULL, 0);
    cr_expect_eq(strncmp(qn_store_path(store), path, strlen(path)), 0);
    qn_store_close(store);
}

static const struct {
    const char *text;
    uint64_t limit;
    int warnings;
} limits[] = {
    {"", 2ull << 30, 0},
    {"1000", 1000, 0},
    {"3K", 3072, 0},
    {"2G", 2ull << 30, 0},
    {"1T", 1ull << 40, 0},
    {"0", 2ull << 30, 1},
    {"-1", 2ull << 30, 1},
    {"2GB", 2ull << 30, 1},
    {"lots", 2ull << 30, 1},
    {"99999999999999999999", 2ull << 30, 1},
    {"9999999999T", 2ull << 30, 1},
};

Test(folder, limit_from_the_environment)
{
    qn_logger logger = {count_warnings, NULL};
    for (size_t k = 0; k < QN_COUNT(limits); k++) {
        warnings = 0;
        setenv("QUERN_CACHE_LIMIT", limits[k].text, 1);
        cr_expect_eq(qn_store_limit(&logger), limits[k].limit, "%s", limits[k].text);
        cr_expect_eq(warnings, limits[k].warnings, "%s", limits[k].text);
    }
}

Test(folder, kinds_of_file_systems)
{
    cr_expect_not(qn_on_network("/proc"));
    cr_expect(qn_on_network("/no/such/folder"), "unknown: careful");
}
