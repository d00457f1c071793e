/* SPDX-License-Identifier: MIT
 *
 * An array copied from one device to another: GB/s of quern_array_copy_to(). The floor, where there
 * are two GPUs, is cuMemcpyPeer of memory of cuMemAlloc between contexts that may use each other's
 * memory, in the same process and in turn.
 *
 * usage: bench_between [FROM TO [MIB]]     (cuda:0 cuda:1 256; "soft soft" runs anywhere)
 */
#include <dlfcn.h>
#include <string.h>

#include "bench.h"

#define BATCHES 15
#define COPIES  8

static quern_engine *from, *to;
static quern_array *source;
static size_t bytes;

static void copy_to(void)
{
    quern_array *copy;
    bench_check(quern_array_copy_to(&copy, source, to));
    quern_array_release(copy);
}

static void wait_for_copies(void)
{
    bench_check(quern_synchronize(to));
}

/* ---- the floor: the driver alone ------------------------------------------------------------ */

static int (*cu_copy)(uint64_t, void *, uint64_t, void *, size_t);
static int (*cu_set)(void *), (*cu_wait)(void);
static void *contexts[2];
static uint64_t memory[2];

static void driver(void)
{
    if (cu_copy(memory[1], contexts[1], memory[0], contexts[0], bytes) != 0) {
        fputs("bench_between: cuMemcpyPeer failed\n", stderr);
        exit(1);
    }
}

static void driver_wait(void)
{
    (void)(cu_set(contexts[1]) == 0 && cu_wait() == 0);
}

static void find(void *to_function, void *library, const char *name)
{
    void *symbol = dlsym(library, name);
    memcpy(to_function, &symbol, sizeof symbol);
}

/* Without two GPUs there is no floor: returns 0. */
static int find_driver(void)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    int (*retain)(void **, int), (*enable)(void *, unsigned), (*allocate)(uint64_t *, size_t);
    if (!library) {
        return 0;
    }
    find(&retain, library, "cuDevicePrimaryCtxRetain");
    find(&enable, library, "cuCtxEnablePeerAccess");
    find(&allocate, library, "cuMemAlloc_v2");
    find(&cu_copy, library, "cuMemcpyPeer");
    find(&cu_set, library, "cuCtxSetCurrent");
    find(&cu_wait, library, "cuCtxSynchronize");
    for (int k = 0; k < 2; k++) {
        if (retain(&contexts[k], k) != 0 || cu_set(contexts[k]) != 0 ||
            allocate(&memory[k], bytes) != 0) {
            return 0;
        }
    }
    return enable(contexts[0], 0) == 0; /* of the second, which is current */
}

/* ---- measuring ------------------------------------------------------------------------------ */

typedef struct peer {
    const char *name;
    void (*copy)(void), (*wait)(void);
    double gb_per_s[BATCHES];
} peer;

static peer peers[] = {{.name = "quern_array_copy_to", .copy = copy_to, .wait = wait_for_copies},
                       {.name = "cuMemcpyPeer", .copy = driver, .wait = driver_wait}};

static double batch(const peer *p)
{
    p->wait();
    double begin = bench_now_us();
    for (int k = 0; k < COPIES; k++) {
        p->copy();
    }
    p->wait();
    return (double)bytes * COPIES / (bench_now_us() - begin) * 1e-3;
}

static quern_engine *open_one(const char *device)
{
    quern_options options = QUERN_OPTIONS_INIT;
    quern_engine *engine;
    options.device = device;
    bench_check(quern_open(&engine, &options));
    return engine;
}

int main(int argc, char **argv)
{
    const char *first = argc > 2 ? argv[1] : "cuda:0", *second = argc > 2 ? argv[2] : "cuda:1";
    bytes = (size_t)(argc > 3 ? atoi(argv[3]) : 256) << 20;
    from = open_one(first);
    to = open_one(second);
    bench_check(quern_array_new(&source, from, QUERN_UINT8, 1, (int64_t[]){(int64_t)bytes}));
    bench_check(quern_array_fill(source, &(uint8_t){7}, 1));
    int count = strncmp(first, "cuda", 4) == 0 && find_driver() ? 2 : 1;
    copy_to(); /* opens the pools to each other */
    for (int b = 0; b < BATCHES; b++) {
        for (int p = 0; p < count; p++) {
            peers[p].gb_per_s[b] = batch(&peers[p]);
        }
    }
    for (int p = 0; p < count; p++) {
        bench_print("between", peers[p].name, "uint8", "GB/s",
                    bench_median(peers[p].gb_per_s, BATCHES));
    }
    quern_array_release(source);
    quern_close(from);
    quern_close(to);
    return 0;
}
