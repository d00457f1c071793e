/* SPDX-License-Identifier: MIT
 *
 * Many threads on one remote store: look-ups, puts, claims, a store that fails now and then, and
 * forks in between. Checks every hit, that a connection is used by one thread at a time, and that
 * each that is opened is closed by the process that opened it.
 *
 *     stress_remote [SECONDS]
 */
#include "cache/fleet.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define THREADS  8
#define KEYS     6
#define BYTES    3000
#define COMPILER "abc"

static qn_key keys[KEYS];
static qn_remote *remote;
static atomic_long hits, made, forks;
static atomic_bool stop;

static void fail(const char *what)
{
    fprintf(stderr, "stress_remote: %s\n", what);
    abort();
}

/* ---- a store in memory ---------------------------------------------------------------------- */

typedef struct connection {
    atomic_flag used;
    pid_t owner;
    char *answer[QN_REMOTE_BATCH];
    unsigned calls;
} connection;

static struct {
    pthread_mutex_t lock;
    char name[2 * KEYS][QN_REMOTE_NAME_BYTES];
    char *data[2 * KEYS];
    size_t bytes[2 * KEYS];
    bool claimed[KEYS];
} memory = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void enter(connection *c)
{
    if (atomic_flag_test_and_set(&c->used)) {
        fail("two threads use one connection");
    }
    if (c->owner != getpid()) {
        fail("a connection has crossed a fork");
    }
}

static void leave(connection *c)
{
    atomic_flag_clear(&c->used);
}

static quern_status store_open(void **context, const char *url, uint32_t ms)
{
    (void)url, (void)ms;
    connection *c = calloc(1, sizeof *c);
    c->owner = getpid();
    *context = c;
    return QUERN_OK;
}

static void store_close(void *context)
{
    connection *c = context;
    enter(c);
    for (size_t k = 0; k < QN_REMOTE_BATCH; k++) {
        free(c->answer[k]);
    }
    free(c);
}

static size_t place_of(const char *name)
{
    size_t k = 0;
    while (k < 2 * KEYS && memory.name[k][0] && strcmp(memory.name[k], name) != 0) {
        k++;
    }
    if (k == 2 * KEYS) {
        fail("more names than there are");
    }
    snprintf(memory.name[k], sizeof memory.name[k], "%s", name);
    return k;
}

static quern_status store_get(void *context, size_t count, const char *const *names,
                              const void **data, size_t *bytes)
{
    connection *c = context;
    enter(c);
    pthread_mutex_lock(&memory.lock);
    for (size_t k = 0; k < count; k++) {
        size_t at = place_of(names[k]);
        free(c->answer[k]);
        c->answer[k] = malloc(memory.bytes[at] + 1);
        memcpy(c->answer[k], memory.data[at] ? memory.data[at] : "", memory.bytes[at]);
        data[k] = c->answer[k];
        bytes[k] = memory.bytes[at];
    }
    pthread_mutex_unlock(&memory.lock);
    bool fails = ++c->calls % 1000 == 0;
    leave(c);
    return fails ? QUERN_ERROR_IO : QUERN_OK;
}

static quern_status store_put(void *context, const char *name, const void *data, size_t bytes)
{
    connection *c = context;
    enter(c);
    pthread_mutex_lock(&memory.lock);
    size_t at = place_of(name);
    free(memory.data[at]);
    memory.data[at] = malloc(bytes);
    memcpy(memory.data[at], data, bytes);
    memory.bytes[at] = bytes;
    pthread_mutex_unlock(&memory.lock);
    leave(c);
    return QUERN_OK;
}

static int store_claim(void *context, const char *name, uint32_t ms)
{
    (void)name, (void)ms;
    enter(context);
    leave(context);
    return 1;
}

static const quern_remote_methods methods = {
    .size = sizeof methods,
    .version = QUERN_REMOTE_VERSION,
    .name = "memory",
    .open = store_open,
    .get = store_get,
    .put = store_put,
    .claim = store_claim,
    .close = store_close,
};

/* ---- threads -------------------------------------------------------------------------------- */

static bool take(int number)
{
    qn_image image;
    if (!qn_remote_find(remote, &keys[number], COMPILER, &image)) {
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
    qn_store_row row = {"k", COMPILER, "NVRTC", 90};
    qn_remote_put(remote, &keys[number], &image, &row);
    atomic_fetch_add(&made, 1);
}

static void *work(void *context)
{
    unsigned state = (unsigned)(uintptr_t)context;
    while (!atomic_load(&stop)) {
        int number = (int)(rand_r(&state) % KEYS);
        if (!take(number) || rand_r(&state) % 50 == 0) {
            make(number);
        }
        if (rand_r(&state) % 4000 == 0) { /* the pause of the breaker is over */
            pthread_mutex_lock(&remote->lock);
            qn_breaker_worked(&remote->breaker);
            pthread_mutex_unlock(&remote->lock);
        }
    }
    return NULL;
}

/* Not under AddressSanitizer, which may leave its allocator locked in the child (GCC 12). */
static void *fork_now_and_then(void *unused)
{
    (void)unused;
#ifndef __SANITIZE_ADDRESS__
    while (!atomic_load(&stop)) {
        pid_t child = fork();
        if (child == 0) {
            (void)take(0); /* no put: ThreadSanitizer knows no thread of a child */
            _exit(qn_queue_flush(remote->queue, 0) ? 0 : 1);
        }
        int status = -1;
        if (child < 0 || waitpid(child, &status, 0) != child || status != 0) {
            fail("a child failed");
        }
        atomic_fetch_add(&forks, 1);
        usleep(20000);
    }
#endif
    return NULL;
}

static void ignore(void *context, const char *level, const char *message)
{
    (void)context, (void)level, (void)message;
}

int main(int argc, char **argv)
{
    int seconds = argc > 1 ? atoi(argv[1]) : 2;
    qn_logger quiet = {ignore, NULL};
    setenv("QUERN_REMOTE_MODE", "open", 1);
    setenv("QUERN_REMOTE_TIMEOUT", "60000", 1);
    for (int k = 0; k < KEYS; k++) {
        char source[16];
        snprintf(source, sizeof source, "k%d", k);
        if (qn_key_make(&keys[k], &(qn_key_fields){.source = source}) != QUERN_OK) {
            fail("no key");
        }
    }
    if (qn_remote_open(&remote, "", &methods, &quiet) != QUERN_OK || qn_remote_problem(remote)[0]) {
        fail("no store");
    }
    pthread_t threads[THREADS + 1];
    for (int k = 0; k <= THREADS; k++) {
        if (pthread_create(&threads[k], NULL, k < THREADS ? work : fork_now_and_then,
                           (void *)(uintptr_t)(k + 1)) != 0) {
            fail("no thread");
        }
    }
    sleep((unsigned)seconds);
    atomic_store(&stop, true);
    for (int k = 0; k <= THREADS; k++) {
        pthread_join(threads[k], NULL);
    }
    qn_remote_close(remote);
    printf("%ld hits, %ld made, %ld forks\n", atomic_load(&hits), atomic_load(&made),
           atomic_load(&forks));
    for (int k = 0; k < KEYS; k++) {
        qn_key_free(&keys[k]);
    }
    for (int k = 0; k < 2 * KEYS; k++) {
        free(memory.data[k]);
    }
    return atomic_load(&hits) > 0 && atomic_load(&made) > 0 ? 0 : 1;
}
