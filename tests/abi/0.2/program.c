/* SPDX-License-Identifier: MIT
 *
 * A program of 0.2: every kind of object and structure, on the software device. It is compiled
 * against the headers of 0.2 beside it, and must go on as it does with every later library. It
 * stays as it is, and so does what it prints.
 */
#include <quern/quern.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static quern_engine *engine;

static void must(quern_status status, const char *what)
{
    if (status != QUERN_OK) {
        printf("%s: %s", what, quern_last_error_text());
        exit(1);
    }
}

/* Integers of an array of any shape. */
static void print(const char *what, quern_array *array)
{
    int64_t count = quern_array_count(array);
    int32_t *host = calloc((size_t)count, sizeof *host);
    must(quern_array_read(array, host, (size_t)count * sizeof *host), "reading");
    printf("%s:", what);
    for (int64_t k = 0; k < count; k++) {
        printf(" %d", host[k]);
    }
    printf("\n");
    free(host);
}

/* ---- numbers keep their meaning ------------------------------------------------------------- */

static void numbers(void)
{
#define STATUS(name, code, text)                                                                   \
    printf("%d %s\n", code,                                                                        \
           strcmp(quern_status_text(name), quern_status_text((quern_status)9999)) == 0 ? "unknown" \
                                                                                       : #name);
    QUERN_STATUS_MAP(STATUS)
#define DTYPE(name, code, text)                                                                    \
    printf("%d %s %zu\n", code, quern_dtype_name(name), quern_dtype_size(name));
    QUERN_DTYPE_MAP(DTYPE)
}

/* ---- objects -------------------------------------------------------------------------------- */

static void kernels(void)
{
    const int32_t host[6] = {1, 2, 3, 4, 5, 6};
    const int64_t shape[2] = {2, 3};
    quern_array *x, *turned, *column, *y = NULL, *sums = NULL, *running = NULL;
    quern_kernel *scale, *sum, *scan;
    must(quern_array_from(&x, engine, QUERN_INT32, 2, shape, host), "an array");
    must(quern_array_transpose(&turned, x, NULL), "transposing");
    must(quern_array_slice(&column, x, 2, (quern_slice[]){QUERN_SLICE_ALL, {1, 0, 0}}), "slicing");

    quern_kernel_options options = QUERN_KERNEL_OPTIONS_INIT;
    options.name = "scaled";
    options.preamble = "__device__ int twice(int v) { return 2 * v; }";
    options.options = (const char *[]){"-DADDED=100"};
    options.option_count = 1;
    must(quern_elementwise(&scale, engine, "T x, int32 s", "T y", "y = s * twice(x) + ADDED",
                           &options),
         "defining");
    must(quern_call(scale, turned, 3, &y), "calling");
    print("scaled", y);

    must(quern_reduction(&sum, engine, "T x", "T y", "x", "a + b", "y = a", "0", NULL), "defining");
    quern_call_options rows = QUERN_CALL_OPTIONS_INIT;
    rows.axes = (int[]){-1};
    rows.axis_count = 1;
    rows.keepdims = 1;
    quern_array_info info = QUERN_ARRAY_INFO_INIT;
    must(quern_kernel_infer(&info, 1, sum, (quern_value[]){QUERN_VALUES(x)}, 1, &rows),
         "inferring");
    printf("inferred: %s %d: %d %d\n", quern_dtype_name((quern_dtype)info.dtype), info.ndim,
           (int)info.shape[0], (int)info.shape[1]);
    must(quern_call_with(sum, &rows, x, &sums), "reducing");
    print("sums", sums);

    quern_scan_options exclusive = QUERN_SCAN_OPTIONS_INIT;
    exclusive.exclusive = 1;
    must(quern_scan(&scan, engine, "T x", "T y", "x", "a + b", "y = a", "0", &exclusive), "scan");
    must(quern_call(scan, column, &running), "scanning");
    print("running", running);

    quern_kernel_info about = QUERN_KERNEL_INFO_INIT;
    quern_parameter_info second = QUERN_PARAMETER_INFO_INIT;
    must(quern_kernel_get_info(&about, scale), "asking");
    must(quern_kernel_get_parameter(&second, scale, 1), "asking");
    printf("%s %d: %zu in, %zu out; %s %s; %s\n", about.name, about.kind, about.in_count,
           about.out_count, second.type, second.name, about.operation);

    quern_bound *bound;
    must(quern_bind_with(&bound, scale, NULL, turned, 1, y), "binding");
    must(quern_bound_set_scalar(bound, 1, quern_literal_int(-1)), "replacing");
    must(quern_launch(bound), "launching");
    print("bound", y);
    quern_bound_release(bound);
    quern_kernel_release(scale);
    quern_kernel_release(sum);
    quern_kernel_release(scan);
    quern_array_release(x);
    quern_array_release(turned);
    quern_array_release(column);
    quern_array_release(y);
    quern_array_release(sums);
    quern_array_release(running);
}

static void modules(void)
{
    static const char source[] = "extern \"C\" __global__ void add(int *x, int n, float f) {\n"
                                 "    x[threadIdx.x] = n + (int)f + FROM_HEADER; }\n"
                                 "template <int N> __global__ void set(int *x) { *x = N; }\n"
                                 "__device__ int seen[2];\n"
                                 "__global__ void use() { seen[0] = 1; }\n";
    const quern_header header = {"h.h", "#define FROM_HEADER 10\n"};
    quern_module_options options = QUERN_MODULE_OPTIONS_INIT;
    options.options = (const char *[]){"-include=h.h"};
    options.option_count = 1;
    options.expressions = (const char *[]){"set<7>"};
    options.expression_count = 1;
    options.headers = &header;
    options.header_count = 1;
    quern_module *module;
    quern_function *add, *set;
    quern_array *x, *seen;
    must(quern_module_new(&module, engine, source, &options), "a module");
    must(quern_module_function(&add, module, "add"), "a function");
    must(quern_module_function(&set, module, "set<7>"), "an instance");
    must(quern_module_global(&seen, module, "seen", QUERN_INT32, 0, NULL), "a variable");
    must(quern_array_new(&x, engine, QUERN_INT32, 1, (int64_t[]){2}), "an array");
    quern_stream *stream;
    quern_event *event;
    must(quern_stream_new(&stream, engine), "a stream");
    must(quern_event_new(&event, engine), "an event");
    quern_launch_options launch = QUERN_LAUNCH_OPTIONS_INIT;
    launch.block[0] = 2;
    launch.stream = stream;
    must(quern_function_call(add, &launch, x, 5, 2.0f), "launching");
    must(quern_event_record(event, stream), "recording");
    must(quern_event_wait(event), "waiting");
    print("added", x);
    must(quern_function_call(set, &QUERN_GRID(1, 1), x), "launching");
    print("set", x);
    quern_function_info info = QUERN_FUNCTION_INFO_INIT;
    uint64_t offset, bytes;
    must(quern_function_get_info(&info, add), "asking");
    must(quern_function_get_parameter(&offset, &bytes, add, 2), "asking");
    printf("%s: %zu parameters, the last one %d bytes at %d\n", quern_function_name(add),
           info.parameter_count, (int)bytes, (int)offset);
    quern_event_release(event);
    quern_stream_release(stream);
    quern_array_release(x);
    quern_array_release(seen);
    quern_function_release(add);
    quern_function_release(set);
    quern_module_release(module);
}

static void machine(void)
{
    quern_device_info device = QUERN_DEVICE_INFO_INIT;
    quern_cache_stats stats = QUERN_CACHE_STATS_INIT;
    must(quern_device_get_info(&device, engine), "asking");
    must(quern_cache_get_stats(&stats, engine), "asking");
    printf("%s, %s, warps of %u\n", device.name, device.id, device.warp_size);
}

/* ---- structures of other lengths --------------------------------------------------------------
 */

/* As a program would have it that was compiled with a header of later on. */
typedef struct longer {
    quern_call_options options;
    uint64_t more[8];
} longer;

static void lengths(void)
{
    quern_kernel *k;
    quern_array *y = NULL;
    must(quern_elementwise(&k, engine, "", "int32 y", "y = i", NULL), "defining");
    longer later = {QUERN_CALL_OPTIONS_INIT, {0}};
    later.options.size = sizeof later;
    later.options.loop_size = &(int64_t){3};
    must(quern_call_with(k, &later.options, &y), "calling with longer options");
    print("longer", y);
    later.more[7] = 1;
    quern_status status = quern_call_with(k, &later.options, &y);
    printf("with what is unknown: %d, %s\n", status,
           strstr(quern_last_error()->message, "byte 112 is not 0") ? "told by its byte"
                                                                    : quern_last_error()->message);
    later.options.size = offsetof(quern_call_options, stream);
    later.options.stream = (quern_stream *)(void *)k; /* past the end: not looked at */
    later.options.loop_size = NULL;
    must(quern_call_with(k, &later.options, y), "calling with shorter options");
    print("shorter", y);
    later.options = (quern_call_options)QUERN_CALL_OPTIONS_INIT;
    later.options.loop_size = &(int64_t){3};
    later.options.reserved = 1;
    status = quern_call_with(k, &later.options, &y);
    printf("reserved: %d, %s\n", status,
           strstr(quern_last_error()->message, "reserved") ? "told by its name"
                                                           : quern_last_error()->message);

    struct {
        quern_device_info info;
        char more[64];
    } device;
    memset(&device, 0x55, sizeof device);
    device.info.size = sizeof device;
    must(quern_device_get_info(&device.info, engine), "asking with a longer structure");
    printf("longer: %s, size kept: %d\n", device.info.id, device.info.size == sizeof device);
    device.info.size = 8;
    memset(device.info.name, 'x', 3);
    must(quern_device_get_info(&device.info, engine), "asking with a shorter structure");
    printf("shorter: %.3s\n", device.info.name);
    quern_array_release(y);
    quern_kernel_release(k);
}

int main(void)
{
    quern_compiler_info compiler = QUERN_COMPILER_INFO_INIT;
    must(quern_compiler_get_info(&compiler, 0), "asking");
    if (!compiler.found) {
        printf("no NVRTC on this machine: %s\n", compiler.problem);
        return 77;
    }
    quern_options options = QUERN_OPTIONS_INIT;
    options.device = "soft";
    must(quern_open(&engine, &options), "opening");
    printf("%s\n", quern_version() >= QUERN_VERSION_NUMBER ? "0.2 or later" : "earlier than 0.2");
    numbers();
    kernels();
    modules();
    machine();
    lengths();
    quern_close(engine);
    return 0;
}
