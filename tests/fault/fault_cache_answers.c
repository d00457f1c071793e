/* SPDX-License-Identifier: MIT
 *
 * Whatever is wrong with the cache, a kernel runs and its answer is right, and the engine's counts
 * or the reason why the cache is off tell of it: a table of what can be wrong, each of which is
 * done to a cache that has the kernel.
 */
#include "unit/cache/scratch.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <grp.h>
#include <quern/quern.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>

TestSuite(answers, .init = scratch_make, .fini = scratch_delete, .timeout = 240);

static quern_cache_stats stats; /* of the last run */
static char problem[600];

static void note_warning(void *context, const char *level, const char *message)
{
    count_warnings(context, level, message);
}

/* Run the kernel with an engine of its own, and ask the engine what it did. Forked children call
 * it: nothing of Criterion's, whose messages would come from a process that it does not know. */
static quern_status answer(double *y, const char *folder)
{
    double x = 3;
    quern_engine *engine;
    quern_kernel *kernel = NULL;
    quern_array *in = NULL, *out = NULL;
    quern_options options = QUERN_OPTIONS_INIT;
    options.device = "soft";
    options.cache_dir = folder;
    options.log = note_warning;
    *y = 0;
    quern_status status = quern_open(&engine, &options);
    if (status != QUERN_OK) {
        return status;
    }
    status = quern_elementwise(&kernel, engine, "float64 x", "float64 y", "y = x * x + 1", NULL);
    if (status == QUERN_OK) {
        status = quern_array_from(&in, engine, QUERN_FLOAT64, 1, (int64_t[]){1}, &x);
    }
    if (status == QUERN_OK) {
        status = quern_call(kernel, in, &out);
    }
    if (status == QUERN_OK) {
        status = quern_array_read(out, y, sizeof *y);
    }
    stats = (quern_cache_stats)QUERN_CACHE_STATS_INIT;
    (void)quern_cache_get_stats(&stats, engine);
    snprintf(problem, sizeof problem, "%s", quern_cache_problem(engine));
    quern_kernel_release(kernel);
    quern_array_release(in);
    quern_array_release(out);
    quern_close(engine);
    return status;
}

static void expect_answer(const char *folder, const char *what)
{
    double y;
    cr_expect_eq(answer(&y, folder), QUERN_OK, "%s: %s", what, quern_last_error_text());
    cr_expect_eq(y, 10, "%s: %g", what, y);
}

/* ---- what can be wrong ---------------------------------------------------------------------- */

static void overwrite(const char *name, long at, const char *text)
{
    FILE *file = fopen(scratch_path(name), "r+");
    cr_assert(file && fseek(file, at, at < 0 ? SEEK_END : SEEK_SET) == 0);
    fputs(text, file);
    fclose(file);
}

static void damage_first_page(void)
{
    overwrite(QN_CACHE_FILE, 0, "SQLite format 4");
}

static void cut_in_half(void)
{
    cr_assert_eq(truncate(scratch_path(QN_CACHE_FILE), 8192 + 100), 0);
}

static void empty_file(void)
{
    cr_assert_eq(truncate(scratch_path(QN_CACHE_FILE), 0), 0);
}

static void change_image(void)
{
    cr_assert(scratch_sql("UPDATE payload SET image = image || x'00'"));
}

static void change_key_material(void)
{
    cr_assert(scratch_sql("UPDATE payload SET material = zeroblob(length(material))"));
}

/* An image that is what was written, and that the device does not take. */
static void keep_what_is_rejected(void)
{
    sqlite3 *db;
    sqlite3_stmt *row;
    unsigned char sum[16], key[16];
    sqlite3_open(scratch_path(QN_CACHE_FILE), &db);
    cr_assert_eq(sqlite3_prepare_v2(db,
                                    "SELECT key, compiler, kind, arch, material, lowered FROM image"
                                    " AS i JOIN payload AS p ON p.id = i.id",
                                    -1, &row, NULL),
                 SQLITE_OK);
    cr_assert_eq(sqlite3_step(row), SQLITE_ROW);
    memcpy(key, sqlite3_column_blob(row, 0), sizeof key);
    qn_row_checksum(sum, key, qn_row_bytes(row, 1), sqlite3_column_int64(row, 2),
                    sqlite3_column_int64(row, 3), qn_row_bytes(row, 4), qn_row_bytes(row, 5),
                    qn_str_of("this is no PTX"));
    sqlite3_finalize(row);
    cr_assert_eq(sqlite3_exec(db, "UPDATE payload SET image = CAST('this is no PTX' AS BLOB)", NULL,
                              NULL, NULL),
                 SQLITE_OK);
    sqlite3_prepare_v2(db, "UPDATE image SET checksum = ?1", -1, &row, NULL);
    sqlite3_bind_blob(row, 1, sum, sizeof sum, SQLITE_STATIC);
    cr_assert_eq(sqlite3_step(row), SQLITE_DONE);
    sqlite3_finalize(row);
    sqlite3_close(db);
}

/* The row is there, and the index, in which a byte of the key is changed, does not lead to it. */
static void mislead_the_index(void)
{
    unsigned char page[QN_PAGE];
    FILE *file = fopen(scratch_path(QN_CACHE_FILE), "r+");
    sqlite3 *db;
    sqlite3_stmt *row;
    int changed = 0;
    sqlite3_open(scratch_path(QN_CACHE_FILE), &db);
    sqlite3_prepare_v2(db, "SELECT key FROM image", -1, &row, NULL);
    cr_assert_eq(sqlite3_step(row), SQLITE_ROW);
    for (long at = 0; fseek(file, at, SEEK_SET) == 0 && fread(page, 1, sizeof page, file) > 0;
         at += QN_PAGE) {
        unsigned char *key = memmem(page, sizeof page, sqlite3_column_blob(row, 0), 16);
        if (page[0] == 10 && key) { /* a leaf of an index */
            key[0] ^= 1;
            fseek(file, at, SEEK_SET);
            fwrite(page, 1, sizeof page, file);
            changed++;
        }
    }
    sqlite3_finalize(row);
    sqlite3_close(db);
    fclose(file);
    cr_assert_eq(changed, 1);
}

static void be_of_the_future(void)
{
    cr_assert(scratch_sql("PRAGMA user_version = 7"));
}

static void become_a_folder(void)
{
    remove(scratch_path(QN_CACHE_FILE));
    cr_assert_eq(mkdir(scratch_path(QN_CACHE_FILE), 0700), 0);
}

static void let_others_write(void)
{
    cr_assert_eq(chmod(scratch, 0777), 0);
}

static void belong_to_another(void)
{
    cr_assert_eq(chown(scratch, 12345, 12345), 0);
}

static void have_a_file_of_another(void)
{
    cr_assert_eq(chown(scratch_path(QN_CACHE_FILE), 12345, 12345), 0);
}

static void be_a_link_of_another(void)
{
    char moved[200];
    snprintf(moved, sizeof moved, "%s-moved", scratch);
    cr_assert_eq(rename(scratch, moved), 0);
    cr_assert_eq(symlink(moved, scratch), 0);
    cr_assert_eq(lchown(scratch, 12345, 12345), 0);
}

static void used_in_the_future(void)
{
    cr_assert(scratch_sql("UPDATE image SET last_used = last_used + 100000000, created = last_used "
                          "+ 100000000"));
}

static void have_garbage_beside(void)
{
    scratch_write(QN_LOCK_FILE, "garbage");
    scratch_write(QN_COUNTS_FILE, "garbage");
    scratch_write(QN_CACHE_FILE "-wal", "garbage");
    scratch_write("quern-2.db", "of another format");
}

static const struct {
    const char *what;
    void (*happen)(void);
    bool root;              /* only root can bring it about */
    const char *problem;    /* why the cache is off then; NULL: it is on */
    uint64_t hits, corrupt; /* what is counted */
} wrongs[] = {
    {"nothing", NULL, false, NULL, 1, 0},
    {"the first page is damaged", damage_first_page, false, NULL, 0, 1},
    {"the file is cut off", cut_in_half, false, NULL, 0, 1},
    {"the file is empty", empty_file, false, NULL, 0, 0},
    {"an image has another length", change_image, false, NULL, 0, 1},
    {"the key's material is damaged", change_key_material, false, NULL, 0, 1},
    {"the device rejects the image", keep_what_is_rejected, false, NULL, 1, 1},
    {"the index misleads", mislead_the_index, false, NULL, 0, 1},
    {"a format of the future", be_of_the_future, false, NULL, 0, 1},
    {"the file is a folder", become_a_folder, false, "cannot open", 0, 0},
    {"others may write in the folder", let_others_write, false, "others may write", 0, 0},
    {"the folder of another", belong_to_another, true, "belongs to another user", 0, 0},
    {"the file of another", have_a_file_of_another, true, "belongs to another user", 0, 0},
    {"a link of another", be_a_link_of_another, true, "symbolic link of another", 0, 0},
    {"the clock was ahead", used_in_the_future, false, NULL, 1, 0},
    {"garbage in the files beside it", have_garbage_beside, false, NULL, 1, 0},
};

Test(answers, whatever_is_wrong)
{
    for (size_t k = 0; k < QN_COUNT(wrongs); k++) {
        const char *what = wrongs[k].what;
        if (wrongs[k].root && geteuid() != 0) {
            continue;
        }
        expect_answer(scratch, "a new cache");
        cr_expect_eq(stats.compiled_new, 1);
        if (wrongs[k].happen) {
            wrongs[k].happen();
        }
        expect_answer(scratch, what);
        cr_expect_eq(stats.hits, wrongs[k].hits, "%s: %d hits", what, (int)stats.hits);
        cr_expect_eq(stats.corrupt, wrongs[k].corrupt, "%s: corrupt %d", what, (int)stats.corrupt);
        bool found = stats.hits == 1 && stats.corrupt == 0;
        cr_expect_eq(stats.compiled, !found, "%s: compiled %d", what, (int)stats.compiled);
        if (wrongs[k].problem) {
            cr_expect(strstr(problem, wrongs[k].problem), "%s: %s", what, problem);
            cr_expect_eq(stats.compiled_unread, 1, "%s", what);
        } else {
            cr_expect_str_empty(problem, "%s: %s", what, problem);
            expect_answer(scratch, "again");
            cr_expect_eq(stats.hits, 1, "%s: kept again", what);
            cr_expect_eq(stats.corrupt, 0, "%s", what);
        }
        scratch_delete();
        char moved[200];
        snprintf(moved, sizeof moved, "%s-moved", scratch);
        nftw(moved, scratch_remove, 20, FTW_DEPTH | FTW_PHYS);
        remove(scratch);
        cr_assert_eq(mkdir(scratch, 0700), 0);
    }
}

/* ---- a full disk ---------------------------------------------------------------------------- */

static int fill_disk(void)
{
    if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("tmpfs", scratch, "tmpfs", 0, "size=300k,mode=0700") != 0) {
        return 77;
    }
    double y;
    if (answer(&y, scratch) != QUERN_OK || y != 10 || stats.compiled != 1) {
        return 1;
    }
    FILE *file = fopen(scratch_path("filler"), "w");
    while (file && fputc('x', file) != EOF && fflush(file) == 0) {
    }
    if (answer(&y, scratch) != QUERN_OK || y != 10) {
        return 5;
    }
    bool found = stats.hits == 1 && stats.compiled == 0;
    qn_store *store = scratch_store(scratch, 0);
    for (int k = 0; k < 20; k++) {
        scratch_put(store, k, 30000, "abc");
    }
    bool counted = scratch_stats(store).faults_full + scratch_stats(store).faults_io > 0;
    bool told = strstr(last_warning, "written") != NULL;
    qn_store_close(store);
    umount(scratch);
    return !found ? 2 : !counted ? 3 : !told ? 4 : 0;
}

Test(answers, a_full_disk)
{
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        _exit(fill_disk());
    }
    int status = -1;
    waitpid(child, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77) {
        /* No disk is full otherwise, and filling a real one is not for a test. `.ci/run` and
         * tests/bare run it as root; fault_cache_calls has every call fail for want of room. */
        cr_skip_test("mounting a small file system needs root and a kernel that lets it");
    }
    cr_expect_eq(status, 0, "%d", WEXITSTATUS(status));
}

/* ---- folders that a group shares ------------------------------------------------------------ */

/* The store alone: a compiler that lies in root's home is out of these users' reach. */
static int use_as(uid_t user)
{
    if (setgroups(0, NULL) != 0 || setgid(54321) != 0 || setuid(user) != 0) {
        return 10;
    }
    qn_store *store = scratch_store(scratch, 0);
    bool found = scratch_get(store, 1, 5000, "abc");
    if (!found) {
        scratch_put(store, 1, 5000, "abc");
    }
    bool used = !qn_store_problem(store)[0];
    qn_store_close(store);
    return used ? found : 50;
}

static int run_as(uid_t user)
{
    int status = -1;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        _exit(use_as(user));
    }
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Skipped for other users: they cannot be somebody else. `.ci/run` and tests/bare run it as root.
 */
Test(answers, a_group_shares_only_when_asked)
{
    if (geteuid() != 0) {
        cr_skip_test("only root can take the ids of two users");
    }
    cr_assert_eq(chown(scratch, 1111, 54321), 0);
    cr_assert_eq(chmod(scratch, 02770), 0);
    cr_expect_eq(run_as(1111), 50, "others may write: not used");
    setenv("QUERN_CACHE_GROUP", "54321", 1);
    cr_expect_eq(run_as(1111), 0, "put there");
    cr_expect_eq(run_as(2222), 1, "found by another of the group");
    cr_expect_eq(run_as(1111), 1);
    cr_assert_eq(chmod(scratch, 02777), 0);
    cr_expect_eq(run_as(1111), 50, "all may write: not used");
    setenv("QUERN_CACHE_GROUP", "no such group", 1);
    cr_assert_eq(chmod(scratch, 02770), 0);
    cr_expect_eq(run_as(1111), 50);
}

/* ---- formats side by side ------------------------------------------------------------------- */

Test(answers, two_formats_in_one_folder)
{
    char *before, *after;
    size_t size, size_after;
    qn_store *store = scratch_store(scratch, 0);
    scratch_put(store, 1, 100, "abc");
    qn_store_close(store);
    cr_assert_eq(rename(scratch_path(QN_CACHE_FILE), scratch_path("quern-2.db")), 0);
    cr_assert_eq(qn_file_read(scratch_path("quern-2.db"), &before, &size), QUERN_OK);
    expect_answer(scratch, "beside another format");
    expect_answer(scratch, "beside another format");
    cr_expect_eq(stats.hits, 1);
    cr_assert_eq(qn_file_read(scratch_path("quern-2.db"), &after, &size_after), QUERN_OK);
    cr_expect(size == size_after && memcmp(before, after, size) == 0, "it is left alone");
    qn_free(before);
    qn_free(after);
}
