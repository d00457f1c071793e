/* SPDX-License-Identifier: MIT
 *
 * The cost of a launch on the host: quern_call with its output given, a bound call, and a call of a
 * function of a module, for a saxpy of 1024 elements. The floor, where there is a GPU, is
 * cuLaunchKernel of a saxpy by hand, in the same process, on the same arrays and stream, measured
 * in turn.
 *
 * usage: bench_launch
 */
#include <dlfcn.h>

#include "bench.h"

#define ROUNDS   9
#define BATCHES  20
#define LAUNCHES 200

static quern_engine *engine;
static quern_kernel *kernel;
static quern_bound *bound;
static quern_function *function;
static quern_array *x, *y, *z;

static void call(void)
{
    bench_check(quern_call(kernel, 2.0f, x, y, z));
}

static void launch(void)
{
    bench_check(quern_launch(bound));
}

static void function_call(void)
{
    bench_check(quern_function_call(function, &QUERN_GRID(4, 256), 2.0f, x, y, z, 1024));
}

/* ---- the floor: the driver alone ------------------------------------------------------------ */

static const char saxpy_ptx[] =
    ".version 7.0\n.target sm_75\n.address_size 64\n"
    ".visible .entry saxpy(.param .f32 a, .param .u64 x, .param .u64 y, .param .u64 z, .param .u32 "
    "n)\n"
    "{\n"
    ".reg .pred %p; .reg .b32 %r<6>; .reg .f32 %f<5>; .reg .b64 %d<5>;\n"
    "ld.param.f32 %f1, [a]; ld.param.u64 %d1, [x]; ld.param.u64 %d2, [y]; ld.param.u64 %d3, [z];\n"
    "ld.param.u32 %r1, [n]; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x;\n"
    "mad.lo.s32 %r5, %r2, %r3, %r4; setp.ge.s32 %p, %r5, %r1; @%p ret;\n"
    "mul.wide.s32 %d4, %r5, 4; add.s64 %d1, %d1, %d4; add.s64 %d2, %d2, %d4; add.s64 %d3, %d3, "
    "%d4;\n"
    "ld.global.f32 %f2, [%d1]; ld.global.f32 %f3, [%d2]; fma.rn.f32 %f4, %f1, %f2, %f3;\n"
    "st.global.f32 [%d3], %f4; ret;\n}\n";

static int (*cu_launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                        unsigned, void *, void **, void **);
static void *cu_function;
static quern_stream *cu_stream;

static void driver(void)
{
    float a = 2.0f;
    int n = 1024;
    void *px = quern_array_pointer(x), *py = quern_array_pointer(y), *pz = quern_array_pointer(z);
    void *parameters[] = {&a, &px, &py, &pz, &n};
    if (cu_launch(cu_function, 4, 1, 1, 256, 1, 1, 0, quern_stream_handle(cu_stream), parameters,
                  NULL) != 0) {
        fputs("bench_launch: cuLaunchKernel failed\n", stderr);
        exit(1);
    }
}

/* Without a GPU there is no floor: returns 0. */
static int find_driver(void)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    int (*retain)(void **, int), (*set)(void *), (*load)(void **, const void *);
    int (*get)(void **, void *, const char *);
    void *context, *module;
    if (!library) {
        return 0;
    }
    *(void **)&retain = dlsym(library, "cuDevicePrimaryCtxRetain");
    *(void **)&set = dlsym(library, "cuCtxSetCurrent");
    *(void **)&load = dlsym(library, "cuModuleLoadData");
    *(void **)&get = dlsym(library, "cuModuleGetFunction");
    *(void **)&cu_launch = dlsym(library, "cuLaunchKernel");
    return retain(&context, 0) == 0 && set(context) == 0 && load(&module, saxpy_ptx) == 0 &&
           get(&cu_function, module, "saxpy") == 0;
}

/* ---- measuring ------------------------------------------------------------------------------ */

typedef struct peer {
    const char *name;
    void (*launch)(void);
    double us[BATCHES]; /* a launch, by batch */
} peer;

static peer peers[] = {{.name = "quern bound call", .launch = launch},
                       {.name = "quern_call", .launch = call},
                       {.name = "quern_function_call", .launch = function_call},
                       {.name = "cuLaunchKernel", .launch = driver}};

/* Microseconds of one launch in a batch that does not fill the queue; the wait is not counted. */
static double batch_us(void (*once)(void))
{
    double begin = bench_now_us();
    for (int k = 0; k < LAUNCHES; k++) {
        once();
    }
    double us = (bench_now_us() - begin) / LAUNCHES;
    bench_check(quern_synchronize(engine));
    return us;
}

/* The peers take turns, batch by batch, so that a drift of the machine meets all alike. */
static void measure(int count)
{
    for (int b = 0; b < BATCHES; b++) {
        for (int p = 0; p < count; p++) {
            peer *at = &peers[(p + b) % count];
            at->us[b] = batch_us(at->launch);
        }
    }
    for (int p = 0; p < count; p++) {
        bench_print("launch", peers[p].name, "saxpy n=1024", "us",
                    bench_median(peers[p].us, BATCHES));
    }
}

int main(void)
{
    int64_t n = 1024;
    float host[1024] = {0};
    bench_check(quern_open(&engine, NULL));
    bench_check(quern_array_from(&x, engine, QUERN_FLOAT32, 1, &n, host));
    bench_check(quern_array_from(&y, engine, QUERN_FLOAT32, 1, &n, host));
    bench_check(quern_array_new(&z, engine, QUERN_FLOAT32, 1, &n));
    bench_check(quern_elementwise(&kernel, engine, "T a, T x, T y", "T z", "z = a * x + y", NULL));
    bench_check(quern_bind(&bound, kernel, (quern_value[]){QUERN_VALUES(2.0f, x, y, z)}, 4, NULL));
    launch();
    bench_check(quern_synchronize(engine));
    quern_module *module;
    bench_check(quern_module_load(&module, engine, saxpy_ptx, sizeof saxpy_ptx - 1));
    bench_check(quern_module_function(&function, module, "saxpy"));
    quern_module_release(module);
    int floor = find_driver();
    bench_check(quern_stream_new(&cu_stream, engine));
    measure(floor ? 4 : 3);
    measure(floor ? 4 : 3);
    quern_stream_release(cu_stream);
    quern_function_release(function);
    quern_bound_release(bound);
    quern_kernel_release(kernel);
    quern_array_release(x);
    quern_array_release(y);
    quern_array_release(z);
    quern_close(engine);
    return 0;
}
