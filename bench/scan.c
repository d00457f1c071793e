/* SPDX-License-Identifier: MIT
 *
 * Bandwidth of scans: sums of everything up to each element over several dtypes, along each axis of
 * matrices of very different shapes, and products of rotations, 2 x 2 matrices. GB/s counts each
 * input read once and each output written once; each case is scanned twice and the bits must be
 * equal. The floor is floor_scan.cu: CUB's device-wide scan.
 *
 * usage: bench_scan [MIB]     (of each input; default 1024, for a GPU)
 */
#include "measure.h"

static quern_engine *engine;
static quern_kernel *differ;

/* End the program when two arrays of ordinary numbers are not the same. */
static void check_same(const char *what, quern_array *a, quern_array *b)
{
    quern_array *different = NULL;
    int64_t count;
    bench_check(quern_call(differ, a, b, &different));
    bench_check(quern_array_read(different, &count, sizeof count));
    quern_array_release(different);
    if (count != 0) {
        fprintf(stderr, "%s: %lld elements differ from one run to the next\n", what,
                (long long)count);
        exit(1);
    }
}

/* Scan `x` along an axis (-1: in C order) and print. */
static void report(const char *what, quern_kernel *kernel, quern_array *x, int axis)
{
    quern_array *y = NULL, *again = NULL;
    quern_call_options options = QUERN_CALL_OPTIONS_INIT;
    options.axes = axis >= 0 ? &axis : NULL;
    options.axis_count = axis >= 0;
    bench_check(quern_call_n(kernel, (quern_value[]){QUERN_VALUES(x, &again)}, 2, &options));
    bench_check(quern_call_n(kernel, (quern_value[]){QUERN_VALUES(x, &y)}, 2, &options));
    double ms = bench_call_ms(engine, kernel, (quern_value[]){QUERN_VALUES(x, y)}, 2, &options);
    check_same(what, y, again);
    bench_print("scan", "quern", what, "GB/s", (bench_bytes(x) + bench_bytes(y)) / ms / 1e6);
    quern_array_release(y);
    quern_array_release(again);
}

static quern_kernel *sum_kernel(void)
{
    quern_kernel *sum;
    bench_check(quern_scan(&sum, engine, "T x", "T y", "x", "a + b", "y = a", NULL, NULL));
    return sum;
}

static void everything(int64_t bytes)
{
    static const quern_dtype dtypes[] = {QUERN_INT8,    QUERN_INT32,   QUERN_FLOAT16,
                                         QUERN_FLOAT32, QUERN_FLOAT64, QUERN_COMPLEX64};
    quern_kernel *sum = sum_kernel();
    for (size_t k = 0; k < sizeof dtypes / sizeof *dtypes; k++) {
        int64_t n = bytes / (int64_t)quern_dtype_size(dtypes[k]);
        char what[64];
        for (int odd = 0; odd < 2; odd++) { /* also with packs that do not fit */
            int64_t count = n - 3 * odd;
            quern_array *x = bench_random(engine, dtypes[k], 1, &count);
            snprintf(what, sizeof what, "cumsum %s n=%lld", quern_dtype_name(dtypes[k]),
                     (long long)count);
            report(what, sum, x, -1);
            quern_array_release(x);
        }
    }
    quern_kernel_release(sum);
}

static void matrices(int64_t bytes)
{
    quern_kernel *product;
    quern_scan_options options = QUERN_SCAN_OPTIONS_INIT;
    options.scan_type = "matrix";
    options.preamble = "struct matrix { float a, b, c, d; };\n"
                       "__device__ matrix by(matrix x, matrix y) { return {x.a * y.a + x.b * y.c, "
                       "x.a * y.b + x.b * y.d, x.c * y.a + x.d * y.c, x.c * y.b + x.d * y.d}; }";
    bench_check(
        quern_scan(&product, engine, "T x", "T y",
                   "float s = 0.5f * (x - 1), c = sqrtf(1 - s * s); return matrix{c, -s, s, c};",
                   "by(a, b)", "y = a.a + a.d", NULL, &options));
    int64_t n = bytes / 4;
    quern_array *x = bench_random(engine, QUERN_FLOAT32, 1, &n);
    report("product of rotations float32", product, x, -1);
    quern_array_release(x);
    quern_kernel_release(product);
}

static void axes(int64_t bytes)
{
    int64_t n = bytes / 4;
    const int64_t shapes[][2] = {{4096, n / 4096}, {n / 4096, 4096}, {64, n / 64},     {n / 64, 64},
                                 {16, n / 16},     {n / 16, 16},     {n / 1000, 1000}, {n / 60, 60},
                                 {n / 3, 3},       {3, n / 3},       {1001, n / 1001}};
    quern_kernel *sum = sum_kernel();
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++) {
        quern_array *x = bench_random(engine, QUERN_FLOAT32, 2, shapes[k]);
        for (int axis = 0; axis < 2; axis++) {
            char what[80];
            snprintf(what, sizeof what, "cumsum axis=%d float32 %lldx%lld", axis,
                     (long long)shapes[k][0], (long long)shapes[k][1]);
            report(what, sum, x, axis);
        }
        quern_array_release(x);
    }
    quern_kernel_release(sum);
}

int main(int argc, char **argv)
{
    int64_t mib = argc > 1 ? atoll(argv[1]) : 1024;
    bench_check(quern_open(&engine, NULL));
    bench_check(quern_reduction(&differ, engine, "T x, T y", "int64 z", "x == y ? 0 : 1", "a + b",
                                "z = a", "0", NULL));
    everything(mib << 20);
    matrices(mib << 20);
    axes(mib << 20);
    quern_kernel_release(differ);
    quern_close(engine);
    return 0;
}
