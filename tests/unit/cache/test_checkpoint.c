/* SPDX-License-Identifier: MIT
 *
 * The journal: it is moved into the database beside the puts, stays short, and is in the way of no
 * fork and no end.
 */
#include "scratch.h"

#include <criterion/criterion.h>
#include <sys/wait.h>

#define IMAGE_BYTES 1000000
#define LONG_ENOUGH 20 /* images: more than a journal may hold before a thread begins */

TestSuite(checkpoint, .init = scratch_make, .fini = scratch_delete);

static off_t size_of(const char *name)
{
    struct stat facts;
    return stat(scratch_path(name), &facts) == 0 ? facts.st_size : -1;
}

static void put_some(qn_store *store, int first, int count)
{
    for (int k = 0; k < count; k++) {
        scratch_put(store, first + k, IMAGE_BYTES, "abc");
    }
}

static bool all_there(qn_store *store, int count)
{
    for (int k = 0; k < count; k++) {
        if (!scratch_get(store, k, IMAGE_BYTES, "abc")) {
            return false;
        }
    }
    return true;
}

Test(checkpoint, a_long_journal_is_moved_by_a_thread)
{
    qn_store *store = scratch_store(scratch, 0);
    put_some(store, 0, LONG_ENOUGH);
    cr_assert(store->checkpoint.started);
    qn_checkpoint_wait(store);
    cr_expect_geq(size_of(QN_CACHE_FILE), 10 * IMAGE_BYTES, "it is in the file");
    put_some(store, LONG_ENOUGH, 5 * LONG_ENOUGH);
    cr_expect_leq(size_of(QN_CACHE_FILE "-wal"), 68 << 20, "however fast it grows");
    cr_expect(all_there(store, 6 * LONG_ENOUGH));
    cr_expect_eq(warnings, 0, "%s", last_warning);
    qn_store_close(store);
}

/* As where writers are always ahead of the thread: whoever makes the journal too long moves it. */
Test(checkpoint, a_journal_that_is_too_long_is_moved_by_its_writer)
{
    qn_store *store = scratch_store(scratch, 0);
    qn_store *reader = scratch_store(scratch, 0);
    scratch_put(store, 0, IMAGE_BYTES, "abc");
    sqlite3_wal_hook(store->db, NULL, NULL); /* nobody looks */
    put_some(store, 1, 70);
    cr_expect_geq(size_of(QN_CACHE_FILE "-wal"), 70 * IMAGE_BYTES);
    cr_expect(all_there(reader, 71));
    scratch_put(reader, 71, 100, "abc"); /* its hook sees the length */
    cr_expect_not(reader->checkpoint.started);
    cr_expect_geq(size_of(QN_CACHE_FILE), 70 * IMAGE_BYTES);
    cr_expect_eq(warnings, 0, "%s", last_warning);
    qn_store_close(reader);
    qn_store_close(store);
}

Test(checkpoint, a_fork_waits_for_it)
{
    for (int round = 0; round < 5; round++) {
        qn_store *store = scratch_store(scratch, 0);
        put_some(store, round * LONG_ENOUGH, LONG_ENOUGH);
        pid_t child = fork();
        if (child == 0) {
            bool good = all_there(store, (round + 1) * LONG_ENOUGH);
            scratch_put(store, 1000 + round, 5000, "abc");
            qn_store_close(store);
            _exit(good && warnings == 0 ? 0 : 1);
        }
        cr_expect_not(store->checkpoint.started);
        int status;
        cr_assert_eq(waitpid(child, &status, 0), child);
        cr_expect_eq(status, 0);
        cr_expect(scratch_get(store, 1000 + round, 5000, "abc"));
        qn_store_close(store); /* also while a thread is at work */
    }
}

/* The process ends while the thread is at work: nothing is lost. */
Test(checkpoint, an_end_without_a_close)
{
    for (int round = 0; round < 5; round++) {
        pid_t child = fork();
        if (child == 0) {
            qn_store *store = scratch_store(scratch, 0);
            put_some(store, round * LONG_ENOUGH, LONG_ENOUGH);
            _exit(round > 0 || store->checkpoint.started ? 0 : 1); /* later it is too long */
        }
        int status;
        cr_assert_eq(waitpid(child, &status, 0), child);
        cr_expect_eq(status, 0);
    }
    qn_store *store = scratch_store(scratch, 0);
    cr_expect(all_there(store, 5 * LONG_ENOUGH));
    cr_expect_eq(warnings, 0, "%s", last_warning);
    qn_store_close(store);
}
