/* SPDX-License-Identifier: MIT
 *
 * What python/bench/call.py compares with: the same calls from C, in the same process. In: rounds.
 * Out: the least nanoseconds of one call over some batches. The thing to know: call.py compiles
 * this file when it runs and loads it by ctypes, so that it uses the library that the extension
 * uses.
 */
#include <dlfcn.h>
#include <quern/interop.h>
#include <quern/quern.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static quern_engine *engine;
static quern_kernel *kernel;
static quern_array *own[3];
static quern_dl_tensor bare[3];

static void check(quern_status status)
{
    if (status != QUERN_OK) {
        fprintf(stderr, "%s", quern_last_error_text());
        exit(1);
    }
}

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* ---- the driver alone, where there is a GPU -------------------------------------------------- */

static const char by_hand[] =
    "extern \"C\" __global__ void by_hand(const float *x, const float *y, float *z, int n)\n"
    "{\n"
    "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "    if (i < n) { z[i] = (x[i] - y[i]) * (x[i] - y[i]); }\n"
    "}\n";

static int (*launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                     void *, void **, void **);
static void *cu_function;
static int elements;

static void find_driver(void)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    quern_module *module;
    quern_function *function;
    if (!library) {
        return;
    }
    *(void **)&launch = dlsym(library, "cuLaunchKernel");
    check(quern_module_new(&module, engine, by_hand, NULL));
    check(quern_module_function(&function, module, "by_hand"));
    cu_function = quern_function_handle(function);
}

static void call_driver(void)
{
    void *pointers[3];
    void *parameters[] = {&pointers[0], &pointers[1], &pointers[2], &elements};
    for (int k = 0; k < 3; k++) {
        pointers[k] = quern_array_pointer(own[k]);
    }
    if (launch(cu_function, ((unsigned)elements + 255) / 256, 1, 1, 256, 1, 1, 0, NULL, parameters,
               NULL) != 0) {
        fputs("floor.c: cuLaunchKernel failed\n", stderr);
        exit(1);
    }
}

/* ---- Quern from C ---------------------------------------------------------------------------- */

/* Whether there is a driver to launch by hand with. */
int floor_open(const char *device, const char *operation, int64_t size)
{
    quern_options options = QUERN_OPTIONS_INIT;
    options.device = device;
    check(quern_open(&engine, &options));
    check(quern_elementwise(&kernel, engine, "T x, T y", "T z", operation, NULL));
    for (int k = 0; k < 3; k++) {
        check(quern_array_new(&own[k], engine, QUERN_FLOAT32, 1, &size));
        check(quern_array_to_dltensor(&bare[k], own[k]));
    }
    elements = (int)size;
    if (size > 0) {
        find_driver();
    }
    return cu_function != NULL;
}

static void call_given(void)
{
    check(quern_call(kernel, own[0], own[1], own[2]));
}

static void call_allocated(void)
{
    quern_array *z = NULL;
    check(quern_call(kernel, own[0], own[1], &z));
    quern_array_release(z);
}

static void call_wrapped(void)
{
    quern_array *a[3];
    for (int k = 0; k < 3; k++) {
        check(quern_array_from_dltensor(&a[k], engine, &bare[k], 0, NULL, NULL));
    }
    check(quern_call(kernel, a[0], a[1], a[2]));
    for (int k = 0; k < 3; k++) {
        quern_array_release(a[k]);
    }
}

/* `what`: 0 output given, 1 output allocated, 2 three tensors wrapped first, 3 the driver alone. */
double floor_call(int what, int rounds)
{
    void (*const calls[])(void) = {call_given, call_allocated, call_wrapped, call_driver};
    const double begin = now_ns();
    for (int k = 0; k < rounds; k++) {
        calls[what]();
    }
    const double ns = (now_ns() - begin) / rounds;
    check(quern_synchronize(engine));
    return ns;
}
