/* SPDX-License-Identifier: MIT
 *
 * The journal: it is moved into the database beside the puts, stays short, and is in the way of no
 * fork and no end.
 */
#include "scratch.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <sys/socket.h>
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

/* Not qn_checkpoint_wait: it hurries the thread, which may not have begun on a busy machine. */
static void await_thread(qn_store *store)
{
    cr_assert(store->checkpoint.started);
    while (!atomic_load(&store->checkpoint.done)) {
        usleep(1000);
    }
}

Test(checkpoint, a_long_journal_is_moved_by_a_thread)
{
    qn_store *store = scratch_store(scratch, 0);
    put_some(store, 0, LONG_ENOUGH);
    await_thread(store);
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

/* Eviction writes most of what is written: where the thread does not keep up, it is left for later,
 * and what is kept meanwhile passes the limit. */
Test(checkpoint, eviction_waits_for_a_journal_that_is_behind)
{
    qn_store *store = scratch_store(scratch, 4 * IMAGE_BYTES);
    put_some(store, 0, 3);
    sqlite3_wal_hook(store->db, NULL, NULL); /* nobody looks: the length is what is said here */
    store->checkpoint.pages = 8000;
    cr_expect(qn_checkpoint_is_behind(store));
    put_some(store, 3, 6);
    cr_expect(all_there(store, 9));
    cr_expect_eq(store->tally[QN_TALLY_EVICTED], 0);
    store->checkpoint.pages = 7999;
    for (int k = 0; k < 9; k++) { /* some with each put */
        scratch_put(store, 9, 100, "abc");
    }
    cr_expect_geq(store->tally[QN_TALLY_EVICTED], 5);
    cr_expect_not(scratch_get(store, 0, IMAGE_BYTES, "abc"));
    cr_expect(scratch_get(store, 8, IMAGE_BYTES, "abc"));
    qn_store_close(store);
}

/* ---- what comes while the thread is at work ------------------------------------------------- */

static pthread_t tester;
static atomic_int stage; /* 1: the thread has begun to write, and waits; 2: it may go on */

static ssize_t write_when_told(int file, const void *data, size_t size, off_t at)
{
    int none = 0;
    if (!pthread_equal(pthread_self(), tester) &&
        atomic_compare_exchange_strong(&stage, &none, 1)) {
        while (atomic_load(&stage) == 1) {
            usleep(1000);
        }
    }
    return pwrite(file, data, size, at);
}

/* Pages of the journal that are not in the file yet: its length and how much of that was moved
 * stand in the -shm file (sqlite.org/walformat.html, 2.1 and 2.3). */
static int64_t pages_left(void)
{
    uint32_t words[25] = {0};
    FILE *file = fopen(scratch_path(QN_CACHE_FILE "-shm"), "re");
    cr_assert(file && fread(words, sizeof words, 1, file) == 1);
    fclose(file);
    return (int64_t)words[4] - words[24];
}

Test(checkpoint, what_came_meanwhile_is_moved_as_well)
{
    static const char *const writes[] = {"pwrite", "pwrite64"}; /* it has one of them */
    sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);
    tester = pthread_self();
    for (size_t k = 0; k < QN_COUNT(writes); k++) {
        (void)vfs->xSetSystemCall(vfs, writes[k], (sqlite3_syscall_ptr)write_when_told);
    }
    qn_store *store = scratch_store(scratch, 0);
    put_some(store, 0, LONG_ENOUGH);
    cr_assert(store->checkpoint.started);
    while (atomic_load(&stage) == 0) {
        usleep(1000);
    }
    put_some(store, LONG_ENOUGH, 5);
    cr_expect_gt(pages_left(), 5 * IMAGE_BYTES / QN_PAGE);
    atomic_store(&stage, 2);
    await_thread(store);
    cr_expect_eq(pages_left(), 0);
    cr_expect(all_there(store, LONG_ENOUGH + 5));
    cr_expect_eq(warnings, 0, "%s", last_warning);
    qn_store_close(store);
}

/* ---- in the way of nobody -------------------------------------------------------------------- */

/* A process that stands for the thread's work: when it is told so, it takes the lock of checkpoints
 * for 300 ms, the second of the bytes of locks in the -shm file (sqlite.org/walformat.html, 2.3.1).
 */
static void work(int talk)
{
    char byte;
    struct flock lock = {.l_type = F_WRLCK, .l_start = 121, .l_len = 1};
    if (read(talk, &byte, 1) != 1) {
        _exit(1);
    }
    int file = open(scratch_path(QN_CACHE_FILE "-shm"), O_RDWR);
    if (fcntl(file, F_SETLK, &lock) != 0 || write(talk, "", 1) != 1) {
        _exit(1);
    }
    usleep(300000);
    _exit(0);
}

static void *end_with(void *context)
{
    int status;
    waitpid((pid_t)(intptr_t)context, &status, 0);
    return NULL;
}

/* SQLite refuses to empty a journal that somebody moves, and does not say so. */
Test(checkpoint, who_clears_meanwhile_leaves_no_journal)
{
    uint64_t removed;
    qn_store *store = scratch_store(scratch, 0);
    scratch_put(store, 0, IMAGE_BYTES, "abc");
    int talk[2];
    char byte;
    cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, talk), 0);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        close(talk[0]);
        work(talk[1]);
    }
    close(talk[1]);
    cr_assert(scratch_get(store, 0, IMAGE_BYTES, "abc")); /* connected again after the fork */
    cr_assert_eq(write(talk[0], "", 1), 1);
    cr_assert_eq(read(talk[0], &byte, 1), 1, "it has the lock");
    close(talk[0]);
    cr_assert_eq(pthread_create(&store->checkpoint.thread, NULL, end_with, (void *)(intptr_t)child),
                 0);
    store->checkpoint.started = true;
    cr_assert_eq(qn_store_clear(store, &removed), QUERN_OK);
    cr_expect_not(store->checkpoint.started);
    cr_expect_eq(size_of(QN_CACHE_FILE "-wal"), 0);
    cr_expect_lt(size_of(QN_CACHE_FILE), IMAGE_BYTES);
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
