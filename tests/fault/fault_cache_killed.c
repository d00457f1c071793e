/* SPDX-License-Identifier: MIT
 *
 * The cache when its processes are killed at any moment, with eight of them writing. The promise:
 * the database stays sound, no image is wrong, and whoever comes next can look up and keep.
 */
#include "fault/whole.h"
#include "unit/cache/scratch.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <sys/wait.h>

TestSuite(killed, .init = scratch_make, .fini = scratch_delete, .timeout = 600);

#define SIZE    5000
#define WRITERS 8
#define KEYS    100
#define LIMIT   500000 /* so that they evict, too */

static int write_for_ever(unsigned seed)
{
    qn_store *store = scratch_store(scratch, LIMIT);
    while (getppid() != 1) {
        int number = rand_r(&seed) % KEYS;
        if (!scratch_get(store, number, SIZE, "abc")) {
            qn_key key = scratch_key(number);
            qn_machine *machine;
            bool maker = qn_machine_begin(&machine, store, &key, 0);
            if (maker && !scratch_get(store, number, SIZE, "abc")) {
                scratch_put(store, number, SIZE, "abc");
            }
            qn_machine_done(machine);
            qn_key_free(&key);
        }
        if (rand_r(&seed) % 50 == 0) { /* opens and closes */
            qn_store_close(store);
            store = scratch_store(scratch, LIMIT);
        }
    }
    return 0;
}

static pid_t start(unsigned seed)
{
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        _exit(write_for_ever(seed));
    }
    cr_assert_geq(child, 0);
    return child;
}

static void check(int round)
{
    warnings = 0;
    qn_store *store = scratch_store(scratch, LIMIT);
    for (int k = 0; k < KEYS; k++) {
        scratch_get(store, k, SIZE, "abc"); /* aborts on a wrong image */
    }
    quern_cache_stats stats = scratch_stats(store);
    cr_expect_eq(stats.corrupt + stats.faults, 0, "round %d: %s", round, last_warning);
    bool found = false; /* the others may evict it at once, if this process has to wait meanwhile */
    for (int k = 0; k < 50 && !found; k++) {
        scratch_put(store, 1000, SIZE, "abc");
        found = scratch_get(store, 1000, SIZE, "abc");
    }
    cr_expect(found, "round %d", round);
    qn_store_close(store);
}

Test(killed, at_random_moments)
{
    pid_t writers[WRITERS];
    const int kills = whole_or(500, 60);
    unsigned seed = 17;
    for (unsigned k = 0; k < WRITERS; k++) {
        writers[k] = start(k);
    }
    for (int round = 0; round < kills; round++) {
        usleep((useconds_t)(rand_r(&seed) % 20000));
        pid_t *victim = &writers[rand_r(&seed) % WRITERS];
        kill(*victim, SIGKILL);
        waitpid(*victim, NULL, 0);
        *victim = start((unsigned)round + WRITERS);
        if (round % 10 == 0) {
            check(round);
        }
    }
    for (int k = 0; k < WRITERS; k++) { /* all that is left of them: their journal */
        kill(writers[k], SIGKILL);
        waitpid(writers[k], NULL, 0);
    }
    check(kills);
    uint64_t checked, removed;
    qn_store *store = scratch_store(scratch, LIMIT);
    cr_expect_eq(qn_store_verify(store, &checked, &removed, NULL, NULL), QUERN_OK);
    cr_expect_eq(removed, 0);
    cr_expect_eq(scratch_stats(store).set_aside, 0);
    cr_expect_eq(scratch_stats(store).entries, checked);
    qn_store_close(store);
}
