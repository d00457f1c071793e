/* SPDX-License-Identifier: MIT
 *
 * A kernel cache shared by machines, over real servers on this one (redis-server, nginx): look-ups
 * one by one, checking an entry, a server that hangs, many machines that begin at once, and a list
 * spread over a fleet. Machines are threads with connections of their own; a compilation is a pause
 * of 50 ms, and entries are made up, as large as those of real kernels. Those of one machine are
 * signed. Those of many are not: their 80 us for each entry, on as many processors as there are
 * machines, would all be spent on the few of this one.
 *
 *     bench_fleet [--check]      smaller, and fails where something is compiled that need not be
 */
#include "cache/fleet.h"
#include "bench.h"
#include "support/servers.h"

#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define COMPILER   "65be0db342ad51a06876e71e210bccc5aa8322cf"
#define COMPILE_US 50000

static bool check;
static atomic_int wrong;

static void expect(bool holds, const char *what)
{
    if (!holds) {
        fprintf(stderr, "bench_fleet: %s\n", what);
        atomic_store(&wrong, 1);
    }
}

/* ---- kernels -------------------------------------------------------------------------------- */

typedef struct kernel {
    qn_key key;
    qn_image image;
    char name[QN_REMOTE_NAME_BYTES];
} kernel;

static uint32_t draw(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

/* Material of 14 KB and PTX of 12 KB, as a reduction has. */
static void make_kernel(kernel *k, uint32_t number)
{
    qn_text source = {0}, ptx = {0};
    uint32_t state = number;
    while (source.length < 14000) {
        qn_text_printf(&source, "x%u = y%u + z%u;\n", draw(&state) % 97, draw(&state) % 89, number);
    }
    while (ptx.length < 12000) {
        qn_text_printf(&ptx, "\tadd.rn.f32 \t%%f%u, %%f%u, %%f%u;\n", draw(&state) % 61,
                       draw(&state) % 53, draw(&state) % 59);
    }
    bench_check(qn_key_make(
        &k->key, &(qn_key_fields){.source = source.data, .arch = 75, .kind = QN_IMAGE_PTX}));
    k->image = (qn_image){.kind = QN_IMAGE_PTX, .data = ptx.data, .size = ptx.length};
    qn_remote_name(k->name, k->key.hex, COMPILER);
    qn_text_free(&source);
}

static kernel *make_kernels(uint32_t count, uint32_t first)
{
    kernel *all = calloc(count, sizeof *all);
    for (uint32_t k = 0; k < count; k++) {
        make_kernel(&all[k], first + k);
    }
    return all;
}

static void free_kernels(kernel *all, uint32_t count)
{
    for (uint32_t k = 0; k < count; k++) {
        qn_key_free(&all[k].key);
        qn_free(all[k].image.data);
    }
    free(all);
}

static qn_remote *open_remote(const server *s)
{
    qn_remote *remote;
    bench_check(qn_remote_open(&remote, s->url, NULL, NULL));
    expect(remote && !qn_remote_problem(remote)[0], "the remote store is off");
    return remote;
}

static void put(qn_remote *remote, const kernel *k)
{
    qn_store_row row = {"kernel", COMPILER, "NVRTC 13.0", 75};
    qn_remote_put(remote, &k->key, &k->image, &row);
}

static bool find(qn_remote *remote, const kernel *k)
{
    qn_image image;
    bool found = qn_remote_find(remote, &k->key, COMPILER, &image);
    expect(!found ||
               (image.size == k->image.size && memcmp(image.data, k->image.data, image.size) == 0),
           "an image is not what was put");
    qn_image_free(&image);
    return found;
}

/* ---- one machine ---------------------------------------------------------------------------- */

static void bench_lookups(const server *s, server_kind kind, uint32_t count)
{
    kernel *all = make_kernels(count, 1);
    qn_remote *remote = open_remote(s);
    double begin = bench_now_us();
    for (uint32_t k = 0; k < count; k++) {
        put(remote, &all[k]);
        if (k % 256 == 255) {
            qn_queue_flush(remote->queue, 60e3);
        }
    }
    qn_queue_flush(remote->queue, 60e3);
    bench_print("fleet", server_kind_name(kind), "put of an image and its recipe", "us",
                (bench_now_us() - begin) / count);
    qn_remote_close(remote);

    remote = open_remote(s);
    double *times = calloc(count, sizeof *times);
    uint32_t found = 0;
    begin = bench_now_us();
    for (uint32_t k = 0; k < count; k++) {
        double from = bench_now_us();
        found += find(remote, &all[k]);
        times[k] = bench_now_us() - from;
    }
    char what[80];
    snprintf(what, sizeof what, "%u kernels, one by one, with the connection", count);
    bench_print("fleet", server_kind_name(kind), what, "ms", (bench_now_us() - begin) / 1e3);
    bench_print("fleet", server_kind_name(kind), what, "first_ms", times[0] / 1e3);
    bench_print("fleet", server_kind_name(kind), what, "median_us", bench_median(times, count));
    expect(found == count, "a kernel that was put was not found");
    free(times);

    server_hang(s, true);
    begin = bench_now_us();
    found = find(remote, &all[0]);
    bench_print("fleet", server_kind_name(kind), "server that hangs, first look-up", "ms",
                (bench_now_us() - begin) / 1e3);
    expect(!found, "a server that hangs answered");
    begin = bench_now_us();
    found = find(remote, &all[1]);
    bench_print("fleet", server_kind_name(kind), "server that hangs, second look-up", "ms",
                (bench_now_us() - begin) / 1e3);
    server_hang(s, false);
    qn_remote_close(remote);
    free_kernels(all, count);
}

static void bench_verify(void)
{
    enum { RUNS = 500 };
    static double times[RUNS];
    kernel *one = make_kernels(1, 7);
    qn_remote remote = {.trusts = true};
    bench_check(qn_remote_settings(&remote));
    qn_store_row row = {"kernel", COMPILER, "NVRTC 13.0", 75};
    qn_text entry = {0}, value = {0};
    expect(qn_remote_write_image(&entry, &one->key, &one->image, &row), "no memory");
    qn_envelope_seal(&value, QN_CONTENT_IMAGE, (qn_str){entry.data, entry.length}, &remote.signer);
    for (int k = 0; k < RUNS; k++) {
        qn_str bytes;
        qn_image image;
        double begin = bench_now_us();
        qn_verdict verdict = qn_envelope_open(&bytes, QN_CONTENT_IMAGE,
                                              (qn_str){value.data, value.length}, &remote.trust);
        verdict = verdict ? verdict : qn_remote_read_image(&image, &one->key, COMPILER, bytes);
        times[k] = bench_now_us() - begin;
        expect(verdict == QN_SOUND, "an entry was refused");
        qn_image_free(&image);
    }
    bench_print("fleet", "libsodium", "all checks of a signed entry (12 KB of PTX)", "us",
                bench_median(times, RUNS));
    bench_print("fleet", "libsodium", "all checks of a signed entry (12 KB of PTX)", "bytes",
                (double)value.length);
    qn_text_free(&entry);
    qn_text_free(&value);
    qn_free(remote.trust.items);
    free_kernels(one, 1);
}

/* ---- many machines -------------------------------------------------------------------------- */

typedef struct fleet {
    const server *server;
    kernel *kernels;
    uint32_t count;
    bool spread;
    pthread_barrier_t start;
    atomic_int compiled;
} fleet;

typedef struct machine {
    fleet *fleet;
    qn_remote *remote;
    double ready_us;
} machine;

static void compile(machine *m, const kernel *k)
{
    usleep(COMPILE_US);
    atomic_fetch_add(&m->fleet->compiled, 1);
    put(m->remote, k);
}

static bool take(void *context, size_t number, qn_str value)
{
    machine *m = context;
    const kernel *k = &m->fleet->kernels[number];
    qn_str bytes;
    qn_image image;
    bool fine = qn_remote_believe(m->remote, k->name, QN_CONTENT_IMAGE, value, &bytes) &&
                qn_remote_read_image(&image, &k->key, COMPILER, bytes) == QN_SOUND;
    if (fine) {
        qn_image_free(&image);
    }
    expect(fine, "an entry was refused");
    return fine;
}

static void keep(void *context, size_t number)
{
    (void)context, (void)number;
}

static void make(void *context, size_t number)
{
    machine *m = context;
    compile(m, &m->fleet->kernels[number]);
}

static void prewarm(machine *m)
{
    const fleet *f = m->fleet;
    const char **names = calloc(f->count, sizeof *names);
    for (uint32_t k = 0; k < f->count; k++) {
        names[k] = f->kernels[k].name;
    }
    const qn_spread spread = {.remote = m->remote,
                              .count = f->count,
                              .names = names,
                              .take = take,
                              .keep = keep,
                              .make = make,
                              .context = m};
    expect(qn_spread_run(&spread), "no memory");
    free(names);
}

static void *live(void *context)
{
    machine *m = context;
    m->remote = open_remote(m->fleet->server);
    pthread_barrier_wait(&m->fleet->start);
    if (m->fleet->spread) {
        prewarm(m);
    } else {
        for (uint32_t k = 0; k < m->fleet->count; k++) {
            if (!find(m->remote, &m->fleet->kernels[k])) {
                compile(m, &m->fleet->kernels[k]);
            }
        }
    }
    m->ready_us = bench_now_us();
    qn_remote_close(m->remote);
    return NULL;
}

/* What this process has used, the servers' own not counted. */
static double processor_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void bench_machines(const server *s, server_kind kind, uint32_t machines, uint32_t kernels,
                           bool spread)
{
    static uint32_t first = 1000000; /* none of these is there yet */
    first += kernels;
    fleet f = {
        .server = s, .kernels = make_kernels(kernels, first), .count = kernels, .spread = spread};
    machine *all = calloc(machines, sizeof *all);
    pthread_t *threads = calloc(machines, sizeof *threads);
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 256 << 10);
    pthread_barrier_init(&f.start, NULL, machines + 1);
    for (uint32_t k = 0; k < machines; k++) {
        all[k].fleet = &f;
        expect(pthread_create(&threads[k], &small, live, &all[k]) == 0, "no thread");
    }
    pthread_barrier_wait(&f.start);
    double begin = bench_now_us(), last = begin, used = processor_s();
    for (uint32_t k = 0; k < machines; k++) {
        pthread_join(threads[k], NULL);
        last = all[k].ready_us > last ? all[k].ready_us : last;
    }
    char what[80];
    snprintf(what, sizeof what, "%u machines x %u kernels, %s", machines, kernels,
             spread ? "prewarmed" : "as they are met");
    bench_print("fleet", server_kind_name(kind), what, "compiled", atomic_load(&f.compiled));
    bench_print("fleet", server_kind_name(kind), what, "last_ready_s", (last - begin) / 1e6);
    bench_print("fleet", server_kind_name(kind), what, "processor_ms_of_a_machine",
                (processor_s() - used) * 1e3 / machines);
    expect((uint32_t)atomic_load(&f.compiled) == kernels, "a kernel was compiled twice");
    pthread_attr_destroy(&small);
    pthread_barrier_destroy(&f.start);
    free_kernels(f.kernels, kernels);
    free(threads);
    free(all);
}

/* ---- all ------------------------------------------------------------------------------------ */

static void use_key(void)
{
    static char path[] = "/tmp/quern-bench-XXXXXX", file[64];
    quern_public_key key = QUERN_PUBLIC_KEY_INIT;
    expect(mkdtemp(path) != NULL, "no folder");
    snprintf(file, sizeof file, "%s/key", path);
    bench_check(quern_signing_key(&key, file, "bench"));
    setenv("QUERN_REMOTE_SIGN", file, 1);
}

static void remove_key(void)
{
    char folder[64];
    const char *file = getenv("QUERN_REMOTE_SIGN");
    snprintf(folder, sizeof folder, "%.*s", (int)(strlen(file) - strlen("/key")), file);
    unlink(file);
    rmdir(folder);
}

int main(int argc, char **argv)
{
    static const server_kind kinds[] = {SERVER_REDIS, SERVER_REDIS_TLS, SERVER_HTTP, SERVER_HTTPS};
    struct rlimit files = {8192, 8192};
    check = argc > 1 && strcmp(argv[1], "--check") == 0;
    (void)setrlimit(RLIMIT_NOFILE, &files);
    if (!qn_sign_ready(NULL)) {
        fputs("skipped: libsodium is not installed\n", stderr);
        return 77;
    }
    use_key();
    bench_verify();
    int skipped = 0;
    for (size_t k = 0; k < QN_COUNT(kinds); k++) {
        server s;
        setenv("QUERN_REMOTE_TIMEOUT", check ? "1500" : "100", 1);
        if (!server_start(&s, kinds[k])) {
            skipped++;
            continue;
        }
        bench_lookups(&s, kinds[k], check ? 100 : 1000);
        /* all these machines share the processors of this one, which TLS alone would fill */
        if (kinds[k] == SERVER_REDIS || kinds[k] == SERVER_HTTP) {
            char key[64];
            snprintf(key, sizeof key, "%s", getenv("QUERN_REMOTE_SIGN"));
            unsetenv("QUERN_REMOTE_SIGN");
            setenv("QUERN_REMOTE_MODE", "open", 1);
            setenv("QUERN_REMOTE_TIMEOUT", "20000", 1);
            /* a thousand that ask a web server again and again want more than these processors */
            const uint32_t machines = check || kinds[k] == SERVER_HTTP ? 100 : 1000;
            bench_machines(&s, kinds[k], machines, check ? 5 : 20, false);
            bench_machines(&s, kinds[k], check ? 10 : 50, check ? 50 : 1000, true);
            unsetenv("QUERN_REMOTE_MODE");
            setenv("QUERN_REMOTE_SIGN", key, 1);
        }
        server_stop(&s);
    }
    remove_key();
    return atomic_load(&wrong) ? 1 : skipped == (int)QN_COUNT(kinds) ? 77 : 0;
}
