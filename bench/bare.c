/* SPDX-License-Identifier: MIT
 *
 * The floor that Quern is compared with on a GPU: z = 2 x + y over 1024 float32 through the bare
 * Driver API, with nothing in between. In: a cubin for this GPU with the kernel
 *
 *     extern "C" __global__ void saxpy(float a, const float *x, const float *y, float *z, int n)
 *
 * Out: lines of JSON as the other benchmarks print them. Without --launch the program does once
 * what a short program does, so that its whole process can be timed from outside; with it, it
 * measures cuLaunchKernel. `bare CUBIN [--launch] [--kernel NAME]`
 */
#include "device/cuda/cuda_api.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { N = 1024, THREADS = 256, ROUNDS = 9, BATCHES = 20, BATCH = 200 };

static cu_api cuda;

#define CHECK(call) check((call), #call)
static void check(cu_result result, const char *call)
{
    if (result != CU_SUCCESS) {
        const char *text = NULL;
        (void)cuda.error_string(result, &text);
        fprintf(stderr, "bare: %s: %s\n", call, text ? text : "unknown error");
        exit(1);
    }
}

static void load_driver(void)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        fprintf(stderr, "bare: %s\n", dlerror());
        exit(77);
    }
#define RESOLVE(field, symbol, parameters)                                                         \
    do {                                                                                           \
        void *address = dlsym(library, #symbol);                                                   \
        memcpy(&cuda.field, &address, sizeof address);                                             \
    } while (0);
    CU_FUNCTIONS(RESOLVE)
#undef RESOLVE
}

static char *read_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END)) {
        perror(path);
        exit(1);
    }
    long size = ftell(file);
    rewind(file);
    char *data = calloc(1, (size_t)size + 1);
    if (!data || fread(data, 1, (size_t)size, file) != (size_t)size) {
        perror(path);
        exit(1);
    }
    fclose(file);
    return data;
}

static double now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void print(const char *bench, const char *metric, double value)
{
    printf("{\"bench\": \"%s\", \"peer\": \"bare driver\", \"case\": \"2x+y f32 n=%d\", "
           "\"metric\": \"%s\", \"value\": %.4f}\n",
           bench, N, metric, value);
}

static void launch(cu_function function, void **parameters)
{
    CHECK(cuda.launch(function, N / THREADS, 1, 1, THREADS, 1, 1, 0, NULL, parameters, NULL));
}

/* Time of one launch in batches that the queue holds, the median of several rounds. */
static double launch_us(cu_function function, void **parameters)
{
    double rounds[ROUNDS];
    for (int round = 0; round < ROUNDS; round++) {
        double total = 0;
        for (int batch = 0; batch < BATCHES; batch++) {
            double begin = now_us();
            for (int k = 0; k < BATCH; k++) {
                launch(function, parameters);
            }
            total += now_us() - begin;
            CHECK(cuda.context_synchronize());
        }
        rounds[round] = total / (BATCHES * BATCH);
    }
    qsort(rounds, ROUNDS, sizeof *rounds, ascending);
    return rounds[ROUNDS / 2];
}

/* Copy in, launch, copy out; the sum of the results. */
static double compute(cu_function function, int measure)
{
    static float x[N], y[N], z[N];
    for (int k = 0; k < N; k++) {
        x[k] = (float)k;
        y[k] = 1;
    }
    cu_pointer dx, dy, dz;
    CHECK(cuda.memory_allocate(&dx, sizeof x));
    CHECK(cuda.memory_allocate(&dy, sizeof y));
    CHECK(cuda.memory_allocate(&dz, sizeof z));
    CHECK(cuda.copy_to_device(dx, x, sizeof x, NULL));
    CHECK(cuda.copy_to_device(dy, y, sizeof y, NULL));
    float a = 2;
    int n = N;
    void *parameters[] = {&a, &dx, &dy, &dz, &n};
    launch(function, parameters);
    if (measure) {
        print("launch", "us", launch_us(function, parameters));
    }
    CHECK(cuda.copy_to_host(z, dz, sizeof z, NULL));
    CHECK(cuda.stream_synchronize(NULL));
    double sum = 0;
    for (int k = 0; k < N; k++) {
        sum += z[k];
    }
    return sum;
}

int main(int argc, char **argv)
{
    const char *path = NULL, *kernel = "saxpy";
    int measure = 0;
    for (int k = 1; k < argc; k++) {
        if (strcmp(argv[k], "--launch") == 0) {
            measure = 1;
        } else if (strcmp(argv[k], "--kernel") == 0 && k + 1 < argc) {
            kernel = argv[++k];
        } else {
            path = argv[k];
        }
    }
    if (!path) {
        fprintf(stderr, "usage: bare CUBIN [--launch] [--kernel NAME]\n");
        return 1;
    }
    load_driver();
    cu_device device;
    cu_context context;
    cu_module module;
    cu_function function;
    CHECK(cuda.init(0));
    CHECK(cuda.device_get(&device, 0));
    CHECK(cuda.primary_retain(&context, device));
    CHECK(cuda.context_set(context));
    char *image = read_file(path);
    CHECK(cuda.module_load(&module, image, 0, NULL, NULL));
    CHECK(cuda.module_function(&function, module, kernel));
    double sum = compute(function, measure);
    print("warm process", "checksum", sum);
    CHECK(cuda.primary_release(device));
    free(image);
    return sum == (double)N * N ? 0 : 1;
}
