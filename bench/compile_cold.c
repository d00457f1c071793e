/* SPDX-License-Identifier: MIT
 *
 * Cold compilation: from a new snippet to a loaded kernel (signature, source, NVRTC, store, load),
 * and in the same process the floor: bare NVRTC, with its default options, of an equivalent kernel
 * written by hand: elementwise, scalar and with vectors; a reduction; a scan; raw source. Every
 * source is new and NVRTC's own cache is off. The first of a process, which loads NVRTC as well, is
 * taken in processes of their own: Quern's, with the engine open, and bare NVRTC's.
 *
 * usage: bench_compile_cold [RUNS]
 */
#include "base/base.h"
#include "bench.h"
#include "compile/compile.h"
#include <string.h>
#include <unistd.h>

#define MAX_RUNS 200

/* What a person would write: one element per thread. */
static const char scalar[] =
    "extern \"C\" __global__ void k(const float *__restrict__ x, const float *__restrict__ y,\n"
    "                             float *__restrict__ z, int n) {\n"
    "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "  if (i < n) z[i] = 2.0f * x[i] + y[i] + %d.0f;\n"
    "}\n";

/* The equivalent of what the template gives: packs of four, a grid-stride loop, a tail. */
static const char vector[] =
    "struct alignas(16) P { float v[4]; };\n"
    "extern \"C\" __global__ void k(const float *__restrict__ x, const float *__restrict__ y,\n"
    "                             float *__restrict__ z, int n) {\n"
    "  int step = gridDim.x * blockDim.x;\n"
    "  for (int p = blockIdx.x * blockDim.x + threadIdx.x; p < (n + 3) / 4; p += step) {\n"
    "    if (p * 4 + 4 <= n) {\n"
    "      P a = ((const P *)x)[p], b = ((const P *)y)[p], c;\n"
    "#pragma unroll\n"
    "      for (int l = 0; l < 4; l++) c.v[l] = 2.0f * a.v[l] + b.v[l] + %d.0f;\n"
    "      ((P *)z)[p] = c;\n"
    "    } else {\n"
    "#pragma unroll 1\n"
    "      for (int i = p * 4; i < n; i++) z[i] = 2.0f * x[i] + y[i] + %d.0f;\n"
    "    }\n"
    "  }\n"
    "}\n";

/* A sum: packs of four, warps by shuffles, blocks through shared memory, the last block finishes.
 */
static const char sum[] =
    "struct alignas(16) P { float v[4]; };\n"
    "__device__ float warp_sum(float v) {\n"
    "  for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffffu, v, d);\n"
    "  return v;\n"
    "}\n"
    "__device__ float block_sum(float v) {\n"
    "  __shared__ float warps[8];\n"
    "  v = warp_sum(v);\n"
    "  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = v;\n"
    "  __syncthreads();\n"
    "  v = threadIdx.x < 8 ? warps[threadIdx.x] : 0.0f;\n"
    "  return threadIdx.x < 32 ? warp_sum(v) : 0.0f;\n"
    "}\n"
    "extern \"C\" __global__ void k(const float *__restrict__ x, float *__restrict__ y, int n,\n"
    "                             volatile float *parts, unsigned *counter) {\n"
    "  float v = 0.0f;\n"
    "  int i = blockIdx.x * blockDim.x + threadIdx.x, step = gridDim.x * blockDim.x;\n"
    "  if (i < n %% 4) v = x[n - 1 - i] * %d.0f;\n"
    "#pragma unroll 4\n"
    "  for (int p = i; p < n / 4; p += step) {\n"
    "    P a = ((const P *)x)[p];\n"
    "#pragma unroll\n"
    "    for (int l = 0; l < 4; l++) v += a.v[l] * %d.0f;\n"
    "  }\n"
    "  v = block_sum(v);\n"
    "  __shared__ bool last;\n"
    "  if (threadIdx.x == 0) {\n"
    "    parts[blockIdx.x] = v;\n"
    "    __threadfence();\n"
    "    last = atomicAdd(counter, 1u) == gridDim.x - 1;\n"
    "  }\n"
    "  __syncthreads();\n"
    "  if (!last) return;\n"
    "  v = 0.0f;\n"
    "  for (int b = threadIdx.x; b < gridDim.x; b += blockDim.x) v += parts[b];\n"
    "  v = block_sum(v);\n"
    "  if (threadIdx.x == 0) { *y = v; *counter = 0; }\n"
    "}\n";

/* Sums up to each element: packs of four, and a decoupled look-back of the usual kind, which takes
 * what is there first. */
static const char cumsum[] =
    "struct alignas(16) P { float v[4]; };\n"
    "__device__ float warp_scan(float v) {\n"
    "  for (int d = 1; d < 32; d *= 2) { float o = __shfl_up_sync(0xffffffffu, v, d); if "
    "(threadIdx.x %% 32 >= d) v += o; }\n"
    "  return v;\n"
    "}\n"
    "extern \"C\" __global__ void k(const float *__restrict__ x, float *__restrict__ y, "
    "int n, volatile unsigned long long *state, unsigned *ticket) {\n"
    "  __shared__ float warps[8], front; __shared__ int tile;\n"
    "  if (threadIdx.x == 0) tile = atomicAdd(ticket, 1u);\n"
    "  __syncthreads();\n"
    "  P p[4]; int base = tile * 4096 + threadIdx.x * 16; float sum = 0;\n"
    "#pragma unroll\n"
    "  for (int j = 0; j < 4; j++) {\n"
    "    if (base + 4 * j + 4 <= n) p[j] = ((const P *)x)[base / 4 + j];\n"
    "    else for (int l = 0; l < 4; l++) p[j].v[l] = base + 4 * j + l < n ? x[base + 4 * "
    "j + l] : 0.0f;\n"
    "#pragma unroll\n"
    "    for (int l = 0; l < 4; l++) p[j].v[l] = sum += p[j].v[l] * %d.0f;\n"
    "  }\n"
    "  float own = warp_scan(sum), before = own - sum;\n"
    "  if (threadIdx.x %% 32 == 31) warps[threadIdx.x / 32] = own;\n"
    "  __syncthreads();\n"
    "  float all = 0;\n"
    "  for (int w = 0; w < 8; w++) { if (w == threadIdx.x / 32) before += all; all += "
    "warps[w]; }\n"
    "  if (threadIdx.x < 32) {\n"
    "    if (threadIdx.x == 0) state[tile] = (tile == 0 ? 2ull : 1ull) << 32 | "
    "__float_as_uint(all);\n"
    "    float f = 0; int at = tile - 1 - threadIdx.x;\n"
    "    bool done = tile == 0;\n"
    "    while (!done) {\n"
    "      unsigned long long s = at >= 0 ? state[at] : 2ull << 32;\n"
    "      while (__any_sync(0xffffffffu, (s >> 32) == 0)) s = at >= 0 ? state[at] : 2ull "
    "<< 32;\n"
    "      unsigned full = __ballot_sync(0xffffffffu, (s >> 32) == 2);\n"
    "      int last = full ? __ffs(full) - 1 : 31;\n"
    "      float v = threadIdx.x <= last ? __uint_as_float((unsigned)s) : 0.0f;\n"
    "      for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(0xffffffffu, v, d);\n"
    "      f += v; done = full != 0; at -= 32;\n"
    "    }\n"
    "    if (threadIdx.x == 0) { front = f; if (tile > 0) state[tile] = 2ull << 32 | "
    "__float_as_uint(f + all); }\n"
    "  }\n"
    "  __syncthreads();\n"
    "  before += front;\n"
    "#pragma unroll\n"
    "  for (int j = 0; j < 4; j++) {\n"
    "#pragma unroll\n"
    "    for (int l = 0; l < 4; l++) p[j].v[l] += before;\n"
    "    if (base + 4 * j + 4 <= n) ((P *)y)[base / 4 + j] = p[j];\n"
    "    else for (int l = 0; l < 4; l++) if (base + 4 * j + l < n) y[base + 4 * j + l] = "
    "p[j].v[l];\n"
    "  }\n"
    "}\n";

static quern_engine *engine;
static quern_array *x, *y, *z;
static int arch;
static qn_image_kind kind;
static char target[32];
static int number;

static double bare(const char *text)
{
    char source[4096];
    number++;
    snprintf(source, sizeof source, text, number, number);
    qn_compile_request request = {
        .source = source, .file_name = "k.cu", .arch = arch, .kind = kind};
    qn_image image = {0};
    double begin = bench_now_us();
    bench_check(qn_compile(&image, &request, NULL, 0));
    double end = bench_now_us();
    qn_image_free(&image);
    return (end - begin) * 1e-3;
}

/* ---- Quern, each time with a text that is new ----------------------------------------------- */

/* What a call made: freed when its time is taken. */
static struct {
    quern_kernel *kernel;
    quern_array *sum;
    quern_module *module;
    quern_function *function;
} made;

static void quern_elements(void)
{
    char operation[64];
    snprintf(operation, sizeof operation, "z = 2.0f * x + y + %d.0f", ++number);
    bench_check(quern_elementwise(&made.kernel, engine, "T x, T y", "T z", operation, NULL));
    bench_check(quern_call(made.kernel, x, y, z));
}

static void quern_sum(void)
{
    char map[64];
    snprintf(map, sizeof map, "x * %d.0f", ++number);
    bench_check(
        quern_reduction(&made.kernel, engine, "T x", "T y", map, "a + b", "y = a", "0", NULL));
    bench_check(quern_call(made.kernel, x, &made.sum));
}

static void quern_cumsum(void)
{
    char map[64];
    snprintf(map, sizeof map, "x * %d.0f", ++number);
    bench_check(quern_scan(&made.kernel, engine, "T x", "T y", map, "a + b", "y = a", NULL, NULL));
    bench_check(quern_call(made.kernel, x, y));
}

/* Raw source: the scalar kernel as a module. */
static void quern_raw(void)
{
    char source[4096];
    snprintf(source, sizeof source, scalar, ++number);
    bench_check(quern_module_new(&made.module, engine, source, NULL));
    bench_check(quern_module_function(&made.function, made.module, "k"));
    bench_check(quern_function_call(made.function, &QUERN_GRID(1, 32), x, y, z, 32));
}

static double finished(void (*call)(void))
{
    double begin = bench_now_us();
    call();
    bench_check(quern_synchronize(engine));
    double end = bench_now_us();
    quern_kernel_release(made.kernel);
    quern_array_release(made.sum);
    quern_function_release(made.function);
    quern_module_release(made.module);
    memset(&made, 0, sizeof made);
    return (end - begin) * 1e-3;
}

static void open_engine(const char *cache_dir, int64_t n)
{
    quern_options options = QUERN_OPTIONS_INIT;
    options.cache_dir = cache_dir;
    bench_check(quern_open(&engine, &options));
    quern_device_info info = {.size = sizeof info};
    bench_check(quern_device_get_info(&info, engine));
    kind = strncmp(info.target, "sm_", 3) == 0 ? QN_IMAGE_CUBIN : QN_IMAGE_PTX;
    arch = atoi(strchr(info.target, '_') + 1);
    snprintf(target, sizeof target, "%s", info.target);
    bench_check(quern_array_new(&x, engine, QUERN_FLOAT32, 1, &n));
    bench_check(quern_array_new(&y, engine, QUERN_FLOAT32, 1, &n));
    bench_check(quern_array_new(&z, engine, QUERN_FLOAT32, 1, &n));
}

static void close_engine(void)
{
    quern_array_release(x);
    quern_array_release(y);
    quern_array_release(z);
    quern_close(engine);
}

/* ---- the first of a process ----------------------------------------------------------------- */

/* Compiled, stored and loaded, but not launched: the first launch of a process is the driver's. */
static void quern_ready(void)
{
    char operation[64];
    snprintf(operation, sizeof operation, "z = 2.0f * x + y + %d.0f", ++number);
    bench_check(quern_elementwise(&made.kernel, engine, "T x, T y", "T z", operation, NULL));
    const quern_value values[] = {quern_value_array(x), quern_value_array(y), quern_value_array(z)};
    quern_preparation one = {.kernel = made.kernel, .values = values, .count = 3};
    bench_check(quern_prepare(&one, 1, NULL));
}

/* In a process of its own: "quern", or an arch and a kind of image for bare NVRTC. */
static int print_first(char **words)
{
    double ms;
    number = (int)getpid() * 100;
    if (strcmp(words[0], "quern") == 0) {
        open_engine(words[1], 1000);
        ms = finished(quern_ready);
        close_engine();
    } else {
        arch = atoi(words[0]);
        kind = (qn_image_kind)atoi(words[1]);
        ms = bare(vector);
    }
    printf("%.6f\n", ms);
    return 0;
}

static double median_of_first(const char *one, const char *two)
{
    enum { RUNS = 15 };
    double times[RUNS];
    char self[256], line[512];
    const ssize_t length = readlink("/proc/self/exe", self, sizeof self);
    snprintf(line, sizeof line, "'%.*s' --first %s %s", (int)length, self, one, two);
    for (int k = 0; k < RUNS; k++) {
        FILE *answer = popen(line, "r");
        if (!answer || fscanf(answer, "%lf", &times[k]) != 1 || pclose(answer) != 0) {
            fprintf(stderr, "bench_compile_cold: %s failed\n", line);
            exit(1);
        }
    }
    return bench_median(times, RUNS);
}

static void measure_first(const char *folder)
{
    char one[16], two[16];
    snprintf(one, sizeof one, "%d", arch);
    snprintf(two, sizeof two, "%d", (int)kind);
    const double quern = median_of_first("quern", folder), floor = median_of_first(one, two);
    bench_print("cold compile", "quern", "first in the process", "ms", quern);
    bench_print("cold compile", "bare NVRTC, vector", "first in the process", "ms", floor);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *what, *name;
        const char *source; /* for bare NVRTC; NULL: `call` */
        void (*call)(void);
    } peers[] = {
        {"2x+y", "bare NVRTC, scalar", scalar, NULL},
        {"2x+y", "bare NVRTC, vector", vector, NULL},
        {"2x+y", "quern", NULL, quern_elements},
        {"sum", "bare NVRTC", sum, NULL},
        {"sum", "quern", NULL, quern_sum},
        {"cumsum", "bare NVRTC", cumsum, NULL},
        {"cumsum", "quern", NULL, quern_cumsum},
        {"raw 2x+y", "quern", NULL, quern_raw},
    };
    enum { PEERS = sizeof peers / sizeof *peers };
    static double times[PEERS][MAX_RUNS];
    setenv("QUERN_NVRTC_CACHE", "0", 1);
    if (argc == 4 && strcmp(argv[1], "--first") == 0) {
        return print_first(argv + 2);
    }
    int runs = argc > 1 ? atoi(argv[1]) : 25;
    runs = runs < 1 || runs > MAX_RUNS ? 25 : runs;
    char folder[] = "/tmp/quern-bench-XXXXXX";
    if (!mkdtemp(folder)) {
        perror(folder);
        return 1;
    }
    open_engine(folder, 1000000);
    measure_first(folder);
    (void)finished(quern_elements); /* loads NVRTC */
    bare(scalar);
    for (int r = 0; r < runs; r++) {
        for (int p = 0; p < PEERS; p++) {
            times[p][r] = peers[p].source ? bare(peers[p].source) : finished(peers[p].call);
        }
    }
    for (int p = 0; p < PEERS; p++) {
        char what[64];
        snprintf(what, sizeof what, "%s float32 to %s", peers[p].what, target);
        bench_print("cold compile", peers[p].name, what, "ms",
                    bench_median(times[p], (size_t)runs));
    }
    bench_check(quern_cache_clear(NULL, engine));
    close_engine();
    return 0;
}
