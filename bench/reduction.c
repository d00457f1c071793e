/* SPDX-License-Identifier: MIT
 *
 * Bandwidth of reductions: sums of everything over several dtypes, and over each axis of matrices
 * of very different shapes; argmax with a structure. GB/s counts each input read once and each
 * output written once. The floor is floor_reduction.cu: CUB's device-wide and segmented sums.
 *
 * usage: bench_reduction [MIB]     (of each input; default 1024, for a GPU)
 */
#include "measure.h"

static quern_engine *engine;

/* Reduce `x` over axes and print. */
static void report(const char *what, quern_kernel *kernel, quern_array *x, int axis_count,
                   const int *axes)
{
    quern_array *y = NULL;
    quern_call_options options = QUERN_CALL_OPTIONS_INIT;
    options.axes = axis_count > 0 ? axes : NULL;
    options.axis_count = (size_t)axis_count;
    quern_value values[] = {QUERN_VALUES(x, &y)};
    bench_check(quern_call_n(kernel, values, 2, &options));
    values[1] = quern_value_array(y);
    double ms = bench_call_ms(engine, kernel, values, 2, &options);
    bench_print("reduction", "quern", what, "GB/s", (bench_bytes(x) + bench_bytes(y)) / ms / 1e6);
    quern_array_release(y);
}

static quern_kernel *sum_kernel(void)
{
    quern_kernel *sum;
    bench_check(quern_reduction(&sum, engine, "T x", "T y", "x", "a + b", "y = a", "0", NULL));
    return sum;
}

static void everything(int64_t bytes)
{
    static const quern_dtype dtypes[] = {QUERN_INT8,    QUERN_FLOAT16, QUERN_INT32,
                                         QUERN_FLOAT32, QUERN_FLOAT64, QUERN_COMPLEX64};
    quern_kernel *sum = sum_kernel(), *best;
    for (size_t k = 0; k < sizeof dtypes / sizeof *dtypes; k++) {
        int64_t n = bytes / (int64_t)quern_dtype_size(dtypes[k]);
        quern_array *x = bench_random(engine, dtypes[k], 1, &n);
        char what[64];
        snprintf(what, sizeof what, "sum all %s n=%lld", quern_dtype_name(dtypes[k]), (long long)n);
        report(what, sum, x, 0, NULL);
        quern_array_release(x);
    }
    quern_reduction_options options = QUERN_REDUCTION_OPTIONS_INIT;
    options.reduce_type = "best";
    options.preamble = "struct best { float value; long long at; };\n"
                       "__device__ best better(best a, best b) { return a.value > b.value || "
                       "(a.value == b.value && a.at < b.at) ? a : b; }";
    bench_check(quern_reduction(&best, engine, "float32 x", "int64 y", "best{x, _J}",
                                "better(a, b)", "y = a.at", NULL, &options));
    int64_t n = bytes / 4;
    quern_array *x = bench_random(engine, QUERN_FLOAT32, 1, &n);
    report("argmax all float32", best, x, 0, NULL);
    quern_array_release(x);
    quern_kernel_release(sum);
    quern_kernel_release(best);
}

static void axes(int64_t bytes)
{
    int64_t n = bytes / 4, side = 1;
    while (side * side * 4 <= n) {
        side *= 2;
    }
    const int64_t shapes[][2] = {{side, side},     {n / 256, 256},  {256, n / 256}, {n / 16, 16},
                                 {16, n / 16},     {n / 64, 60},    {n / 4, 3},     {3, n / 4},
                                 {n / 1000, 1000}, {1001, n / 1001}};
    quern_kernel *sum = sum_kernel();
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++) {
        quern_array *x = bench_random(engine, QUERN_FLOAT32, 2, shapes[k]);
        for (int axis = 0; axis < 2; axis++) {
            char what[80];
            snprintf(what, sizeof what, "sum axis=%d float32 %lldx%lld", axis,
                     (long long)shapes[k][0], (long long)shapes[k][1]);
            report(what, sum, x, 1, &axis);
        }
        quern_array_release(x);
    }
    int64_t bytes_shape[] = {n / 1024, 4096}, cube[] = {n / (256 * 1024), 256, 1024};
    quern_array *narrow = bench_random(engine, QUERN_INT8, 2, bytes_shape), *x, *turned;
    report("sum axis=0 int8 rows of 4096", sum, narrow, 1, (int[]){0});
    report("sum axis=1 int8 rows of 4096", sum, narrow, 1, (int[]){1});
    x = bench_random(engine, QUERN_FLOAT32, 3, cube);
    bench_check(quern_array_transpose(&turned, x, NULL));
    report("sum axis=1 float32 x256x1024", sum, x, 1, (int[]){1});
    report("sum axis=0,2 float32 x256x1024", sum, x, 2, (int[]){0, 2});
    report("sum axis=0 float32 transposed", sum, turned, 1, (int[]){0});
    report("sum all float32 transposed", sum, turned, 0, NULL);
    quern_array_release(narrow);
    quern_array_release(x);
    quern_array_release(turned);
    quern_kernel_release(sum);
}

int main(int argc, char **argv)
{
    int64_t mib = argc > 1 ? atoll(argv[1]) : 1024;
    bench_check(quern_open(&engine, NULL));
    everything(mib << 20);
    axes(mib << 20);
    quern_close(engine);
    return 0;
}
