/* SPDX-License-Identifier: MIT
 *
 * Many threads on few keys of one store: look-ups, puts, single flight, locks of the machine,
 * clearing, statistics and forks in between. Checks every hit, and that no key is ever made by two
 * threads at once.
 *
 *     stress_cache [SECONDS]
 */
#include "cache/cache_internal.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define THREADS 8
#define KEYS    5
#define BYTES   100000 /* the journal grows long, and is moved beside all this */

static char folder[] = "/tmp/quern-stress-XXXXXX";
static qn_store *store;
static qn_key keys[KEYS];
static atomic_int making[KEYS]; /* threads that make a key at this moment: at most one */
static atomic_long made, hits;
static atomic_bool stop;

static void fail(const char *what)
{
    fprintf(stderr, "stress_cache: %s\n", what);
    abort();
}

static bool take(int number)
{
    qn_image image;
    if (!qn_store_get(store, &keys[number], "abc", &image)) {
        return false;
    }
    for (size_t k = 0; k < image.size; k++) {
        if (image.size != BYTES || image.data[k] != (char)number) {
            fail("a hit gave a wrong image");
        }
    }
    qn_image_free(&image);
    atomic_fetch_add(&hits, 1);
    return true;
}

static void make(int number)
{
    char data[BYTES];
    memset(data, number, sizeof data);
    qn_image image = {.kind = QN_IMAGE_CUBIN, .data = data, .size = sizeof data};
    qn_store_row row = {"k", "abc", "NVRTC", 90};
    if (atomic_fetch_add(&making[number], 1) != 0) {
        fail("two threads make one key");
    }
    usleep(200);
    qn_store_put(store, &keys[number], &image, &row);
    atomic_fetch_sub(&making[number], 1);
    atomic_fetch_add(&made, 1);
}

static void *use(void *context)
{
    unsigned seed = (unsigned)(uintptr_t)context;
    while (!atomic_load(&stop)) {
        int number = rand_r(&seed) % KEYS;
        qn_once *once;
        if (!take(number) && qn_once_begin(&once, &keys[number], "abc", NULL)) {
            qn_machine *machine;
            for (int round = 0; !qn_machine_begin(&machine, store, &keys[number], round); round++) {
            }
            make(number);
            qn_machine_done(machine);
            qn_once_done(once);
            qn_text why = {0};
            qn_store_why(store, &keys[number], &(qn_store_row){.name = "k"}, false, &why);
            qn_text_free(&why);
        }
    }
    return NULL;
}

/* Everything must work in the child, whatever the other threads were doing. */
static void fork_once(void)
{
    pid_t child = fork();
    if (child == 0) {
        qn_once *once;
        atomic_store(&making[0], 0); /* by a thread that the child does not have */
        if (!take(0) && qn_once_begin(&once, &keys[0], "abc", NULL)) {
            make(0);
            qn_once_done(once);
        }
        _exit(0);
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status)) {
        fail("a child died");
    }
}

static void *disturb(void *context)
{
    for (int k = 0; !atomic_load(&stop); k++) {
        quern_cache_stats stats = {.size = sizeof stats};
        if (qn_store_stats(store, &stats) != QUERN_OK) {
            fail("statistics failed");
        }
        if (k % 4 == 0 && qn_store_clear(store, NULL) != QUERN_OK) {
            fprintf(stderr, "%s", quern_last_error_text());
            fail("clearing failed");
        }
        if (k % 4 == 2) {
            qn_store_reject(store, &keys[k % KEYS], "abc");
        }
/* ThreadSanitizer does not support forks of programs with threads; AddressSanitizer may leave its
 * allocator locked in the child (GCC 12), which then waits for ever. */
#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
        if (k % 8 == 6) {
            fork_once();
        }
#endif
        usleep(5000);
    }
    return context;
}

static int delete_one(const char *path, const struct stat *facts, int flag, struct FTW *walk)
{
    (void)facts, (void)flag, (void)walk;
    return remove(path);
}

int main(int count, char **arguments)
{
    int seconds = count > 1 ? atoi(arguments[1]) : 2;
    pthread_t threads[THREADS], disturber;
    (void)fork_once;
    if (!mkdtemp(folder) || qn_store_open(&store, folder, 0, NULL) != QUERN_OK) {
        fail("cannot begin");
    }
    for (int k = 0; k < KEYS; k++) {
        char source[20];
        snprintf(source, sizeof source, "k%d", k);
        if (qn_key_make(&keys[k], &(qn_key_fields){.source = source}) != QUERN_OK) {
            fail("cannot begin");
        }
    }
    for (uintptr_t k = 0; k < THREADS; k++) {
        pthread_create(&threads[k], NULL, use, (void *)(k + 1));
    }
    pthread_create(&disturber, NULL, disturb, NULL);
    sleep((unsigned)seconds);
    atomic_store(&stop, true);
    for (int k = 0; k < THREADS; k++) {
        pthread_join(threads[k], NULL);
    }
    pthread_join(disturber, NULL);

    quern_cache_stats stats = {.size = sizeof stats};
    qn_store_stats(store, &stats);
    printf("hits %ld, made %ld, faults %llu\n", atomic_load(&hits), atomic_load(&made),
           (unsigned long long)stats.faults);
    bool fine = stats.corrupt <= stats.hits && atomic_load(&made) > 0 && atomic_load(&hits) > 0 &&
                !qn_store_problem(store)[0];
    qn_store_close(store);
    for (int k = 0; k < KEYS; k++) {
        qn_key_free(&keys[k]);
    }
    nftw(folder, delete_one, 10, FTW_DEPTH | FTW_PHYS);
    return fine ? 0 : 1;
}
