/* SPDX-License-Identifier: MIT
 *
 * Processes that begin together and need the same kernels. The promise: each kernel is compiled
 * once on the machine, whoever is killed or stopped meanwhile; nobody waits for ever; every process
 * gets the right answer.
 */
#include "fault/whole.h"
#include "unit/cache/scratch.h"

#include <criterion/criterion.h>
#include <quern/quern.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

TestSuite(together, .init = scratch_make, .fini = scratch_delete, .timeout = 240);

#define KERNELS 5

/* What the processes tell: summed over them. */
typedef struct told {
    atomic_int ready, wrong;
    atomic_uint_fast64_t compiled, hits, waits, unlocked, faults;
} told;

static told *sums;

static void share(void)
{
    sums = mmap(NULL, sizeof *sums, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    cr_assert_neq(sums, MAP_FAILED);
    memset(sums, 0, sizeof *sums);
}

/* y = x * x + number, for x = 3 */
static bool is_right(quern_engine *engine, int number)
{
    char name[16], operation[64];
    double x = 3, y = 0;
    quern_kernel *kernel = NULL;
    quern_array *in = NULL, *out = NULL;
    snprintf(name, sizeof name, "k%d", number);
    snprintf(operation, sizeof operation, "y = x * x + %d", number);
    quern_kernel_options options = QUERN_KERNEL_OPTIONS_INIT;
    options.name = name;
    bool right =
        quern_elementwise(&kernel, engine, "T x", "T y", operation, &options) == QUERN_OK &&
        quern_array_from(&in, engine, QUERN_FLOAT64, 1, (int64_t[]){1}, &x) == QUERN_OK &&
        quern_call(kernel, in, &out) == QUERN_OK &&
        quern_array_read(out, &y, sizeof y) == QUERN_OK && y == 9 + number;
    quern_kernel_release(kernel);
    quern_array_release(in);
    quern_array_release(out);
    return right;
}

static void use_kernels(int count)
{
    quern_options options = QUERN_OPTIONS_INIT;
    options.device = "soft";
    options.cache_dir = scratch;
    quern_engine *engine;
    if (quern_open(&engine, &options) != QUERN_OK) {
        atomic_fetch_add(&sums->wrong, 1);
        return;
    }
    for (int k = 0; k < count; k++) {
        atomic_fetch_add(&sums->wrong, !is_right(engine, k));
    }
    quern_cache_stats stats = QUERN_CACHE_STATS_INIT;
    quern_cache_get_stats(&stats, engine);
    atomic_fetch_add(&sums->compiled, stats.compiled);
    atomic_fetch_add(&sums->hits, stats.hits);
    atomic_fetch_add(&sums->waits, stats.waits);
    atomic_fetch_add(&sums->unlocked, stats.unlocked);
    atomic_fetch_add(&sums->faults, stats.faults);
    quern_close(engine);
    atomic_fetch_add(&sums->ready, 1);
}

static pid_t start(int kernels)
{
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        use_kernels(kernels);
        _exit(0);
    }
    cr_assert_geq(child, 0);
    return child;
}

static double run_processes(int count)
{
    pid_t children[64];
    double began = qn_now_ms();
    share();
    for (int k = 0; k < count; k++) {
        children[k] = start(KERNELS);
    }
    for (int k = 0; k < count; k++) {
        waitpid(children[k], NULL, 0);
    }
    return qn_now_ms() - began;
}

Test(together, one_compilation_for_all)
{
    const int count = whole_or(64, 16);
    double alone_ms = run_processes(1);
    cr_expect_eq(sums->compiled, KERNELS);
    scratch_delete();
    mkdir(scratch, 0700);
    double all_ms = run_processes(count);
    cr_expect_eq(sums->wrong, 0);
    cr_expect_eq(sums->ready, count);
    cr_expect_eq(sums->compiled, KERNELS, "%d", (int)sums->compiled);
    cr_expect_eq(sums->hits, (count - 1) * KERNELS, "%d", (int)sums->hits);
    cr_expect_eq(sums->unlocked + sums->faults, 0);
    fprintf(stderr, "%d processes: %.0f ms, one alone %.0f ms, %d waits\n", count, all_ms, alone_ms,
            (int)sums->waits);
    cr_expect(!getenv("QUERN_WHOLE") || all_ms < 1.5 * alone_ms + 500, "%.0f ms, alone %.0f ms",
              all_ms, alone_ms);
}

/* Whoever is making a kernel is killed: another takes its place. */
Test(together, the_maker_is_killed)
{
    for (int round = 0; round < whole_or(50, 5); round++) {
        pid_t children[6];
        share();
        for (size_t k = 0; k < QN_COUNT(children); k++) {
            children[k] = start(1);
        }
        usleep((useconds_t)(10000 + round * 3000 % 40000));
        kill(children[round % 3], SIGKILL);
        for (size_t k = 0; k < QN_COUNT(children); k++) {
            waitpid(children[k], NULL, 0);
        }
        cr_expect_geq(sums->ready, (int)QN_COUNT(children) - 1);
        cr_expect_eq(sums->wrong, 0);
        cr_expect_leq(sums->compiled, 2, "round %d: %d", round, (int)sums->compiled);
        scratch_delete();
        mkdir(scratch, 0700);
    }
}

/* ---- the lock itself ------------------------------------------------------------------------ */

static pid_t hold_for_ever(int number)
{
    int ready[2];
    char byte;
    cr_assert_eq(pipe(ready), 0);
    pid_t child = fork();
    if (child == 0) {
        qn_store *store = scratch_store(scratch, 0);
        qn_key key = scratch_key(number);
        qn_machine *machine;
        bool maker = qn_machine_begin(&machine, store, &key, 0);
        if (write(ready[1], maker ? "y" : "n", 1) == 1) {
            pause();
        }
        _exit(0);
    }
    cr_assert_eq(read(ready[0], &byte, 1), 1);
    cr_assert_eq(byte, 'y');
    close(ready[0]);
    close(ready[1]);
    return child;
}

Test(together, the_maker_does_not_end)
{
    pid_t child = hold_for_ever(1);
    qn_store *store = scratch_store(scratch, 0);
    qn_key key = scratch_key(1), other = scratch_key(2);
    qn_machine *machine, *second;
    store->wait_ms = 50;
    double began = qn_now_ms();
    cr_expect(qn_machine_begin(&machine, store, &key, 0), "compiles it all the same");
    cr_expect_null(machine);
    cr_expect_geq(qn_now_ms() - began, 50);
    cr_expect_lt(qn_now_ms() - began, 2000);
    quern_cache_stats stats = scratch_stats(store);
    cr_expect_eq(stats.waits, 1);
    cr_expect_eq(stats.unlocked, 1);
    cr_expect_geq(stats.waited_ms, 50);
    cr_expect(qn_machine_begin(&second, store, &other, 0), "another key is free");
    cr_expect_not_null(second);
    qn_machine_done(second);

    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    cr_expect(qn_machine_begin(&machine, store, &key, 0), "the kernel has freed the lock");
    cr_expect_not_null(machine);
    qn_machine_done(machine);
    qn_key_free(&key);
    qn_key_free(&other);
    qn_store_close(store);
}

Test(together, a_forked_child_does_not_keep_the_lock)
{
    qn_store *store = scratch_store(scratch, 0);
    qn_key key = scratch_key(1);
    qn_machine *machine, *again;
    cr_assert(qn_machine_begin(&machine, store, &key, 0));
    cr_assert_not_null(machine);
    pid_t child = fork();
    if (child == 0) {
        pause();
    }
    cr_assert_gt(child, 0);
    qn_machine_done(machine);
    store->wait_ms = 1000;
    cr_expect(qn_machine_begin(&again, store, &key, 0));
    cr_expect_not_null(again);
    cr_expect_eq(scratch_stats(store).waits, 0);
    qn_machine_done(again);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    qn_key_free(&key);
    qn_store_close(store);
}

static void *wait_for_maker(void *store)
{
    qn_key key = scratch_key(1);
    qn_machine *machine;
    const bool maker = qn_machine_begin(&machine, store, &key, 0);
    qn_machine_done(machine);
    qn_key_free(&key);
    return maker ? store : NULL;
}

/* The lock that who waits gets at last is in the child, too. */
Test(together, a_child_of_who_waits_does_not_keep_the_lock)
{
    qn_store *store = scratch_store(scratch, 0);
    qn_key key = scratch_key(1);
    qn_machine *machine;
    pthread_t waiting;
    void *made;
    cr_assert(qn_machine_begin(&machine, store, &key, 0));
    cr_assert_not_null(machine);
    cr_assert_eq(pthread_create(&waiting, NULL, wait_for_maker, store), 0);
    usleep(500000); /* it waits by now, on a busy machine, too */
    pid_t child = fork();
    if (child == 0) {
        pause();
    }
    cr_assert_gt(child, 0);
    qn_machine_done(machine);
    pthread_join(waiting, &made);
    cr_expect_null(made, "it waited for the maker");
    store->wait_ms = 1000;
    cr_expect(qn_machine_begin(&machine, store, &key, 0));
    cr_expect_not_null(machine, "nobody has the lock");
    cr_expect_eq(scratch_stats(store).waits, 1);
    qn_machine_done(machine);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    qn_key_free(&key);
    qn_store_close(store);
}

/* A file system without locks, a folder that cannot be written: compiled without. */
Test(together, no_lock_can_be_had)
{
    qn_store *store = scratch_store(scratch, 0);
    qn_key key = scratch_key(1);
    qn_machine *machine;
    mkdir(scratch_path(QN_LOCK_FILE), 0700); /* cannot be opened as a file */
    cr_expect(qn_machine_begin(&machine, store, &key, 0));
    cr_expect_null(machine);
    cr_expect_eq(scratch_stats(store).unlocked, 1);
    store->read_only = true;
    cr_expect(qn_machine_begin(&machine, store, &key, 0), "nothing can be handed on");
    cr_expect_eq(scratch_stats(store).unlocked, 1);
    store->read_only = false;
    qn_key_free(&key);
    qn_store_close(store);
}

/* ---- many writers --------------------------------------------------------------------------- */

static int put_many(int first, int count)
{
    qn_store *store = scratch_store(scratch, 0);
    int bad = 0;
    for (int k = 0; k < count; k++) {
        scratch_put(store, first + k, 3000, "abc");
        bad += !scratch_get(store, first + k, 3000, "abc");
    }
    bad += warnings > 0 || scratch_stats(store).faults > 0;
    qn_store_close(store);
    return bad == 0 ? 0 : 1;
}

Test(together, eight_processes_keep_a_thousand_kernels_each)
{
    pid_t children[8];
    const int count = whole_or(1000, 200);
    fflush(NULL);
    for (size_t k = 0; k < QN_COUNT(children); k++) {
        children[k] = fork();
        if (children[k] == 0) {
            _exit(put_many((int)k * count, count));
        }
    }
    for (size_t k = 0; k < QN_COUNT(children); k++) {
        int status = -1;
        waitpid(children[k], &status, 0);
        cr_expect_eq(status, 0, "no fault, nothing locked, all found");
    }
    qn_store *store = scratch_store(scratch, 0);
    cr_expect_eq(scratch_stats(store).entries, 8 * (uint64_t)count);
    qn_store_close(store);
}
