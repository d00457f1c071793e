/* SPDX-License-Identifier: MIT
 *
 * Bandwidth of elementwise kernels: `2x+y` over contiguous arrays of several dtypes, and layouts
 * that are not contiguous. GB/s counts each input read once and each output written once. The floor
 * is floor_elementwise.cu: the same kernels with vectors by hand.
 *
 * usage: bench_elementwise [MIB]     (of each array; default 1024, for a GPU)
 */
#include "measure.h"

static quern_engine *engine;

static void report(const char *what, const char *operation, quern_array *x, quern_array *y)
{
    quern_kernel *kernel;
    quern_array *z = NULL;
    bench_check(quern_elementwise(&kernel, engine, "T x, T y", "T z", operation, NULL));
    bench_check(quern_call(kernel, x, y, &z));
    const quern_value values[] = {QUERN_VALUES(x, y, z)};
    double ms = bench_call_ms(engine, kernel, values, 3, NULL);
    bench_print("elementwise", "quern", what, "GB/s",
                (bench_bytes(x) + bench_bytes(y) + bench_bytes(z)) / ms / 1e6);
    quern_array_release(z);
    quern_kernel_release(kernel);
}

static void contiguous(int64_t bytes)
{
    static const quern_dtype dtypes[] = {QUERN_INT8,    QUERN_FLOAT16, QUERN_BFLOAT16, QUERN_INT32,
                                         QUERN_FLOAT32, QUERN_FLOAT64, QUERN_COMPLEX64};
    for (size_t k = 0; k < sizeof dtypes / sizeof *dtypes; k++) {
        int64_t n = bytes / (int64_t)quern_dtype_size(dtypes[k]);
        quern_array *x = bench_random(engine, dtypes[k], 1, &n),
                    *y = bench_random(engine, dtypes[k], 1, &n);
        char what[64];
        snprintf(what, sizeof what, "2x+y %s n=%lld", quern_dtype_name(dtypes[k]), (long long)n);
        report(what, "z = T(2) * x + y", x, y);
        if (dtypes[k] == QUERN_FLOAT32) {
            report("exp(sin)+tanh float32", "z = exp(sin(x)) + tanh(y)", x, y);
        }
        quern_array_release(x);
        quern_array_release(y);
    }
}

static void bools(int64_t n)
{
    quern_array *x = bench_random(engine, QUERN_BOOL, 1, &n),
                *y = bench_random(engine, QUERN_BOOL, 1, &n);
    report("x & y bool", "z = x & y", x, y);
    report("x ^ !y bool", "z = x ^ !y", x, y);
    report("x || y bool", "z = x || y", x, y);
    quern_array *number = bench_random(engine, QUERN_FLOAT32, 1, &n), *z = NULL;
    quern_kernel *kernel;
    bench_check(
        quern_elementwise(&kernel, engine, "bool x, float y", "float z", "z = x ? y : -y", NULL));
    bench_check(quern_call(kernel, x, number, &z));
    const quern_value values[] = {QUERN_VALUES(x, number, z)};
    bench_print("elementwise", "quern", "bool ? y : -y float32", "GB/s",
                (bench_bytes(x) + bench_bytes(number) + bench_bytes(z)) /
                    bench_call_ms(engine, kernel, values, 3, NULL) / 1e6);
    quern_kernel_release(kernel);
    quern_array *all[] = {x, y, number, z};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        quern_array_release(all[k]);
    }
}

static void strided(int64_t side)
{
    int64_t square[] = {side, side}, row[] = {side}, column[] = {side, 1};
    quern_array *x = bench_random(engine, QUERN_FLOAT32, 2, square), *xt, *half_x, *half_y;
    quern_array *y = bench_random(engine, QUERN_FLOAT32, 2, square), *yt;
    quern_array *r = bench_random(engine, QUERN_FLOAT32, 1, row),
                *c = bench_random(engine, QUERN_FLOAT32, 2, column);
    bench_check(quern_array_transpose(&xt, x, NULL));
    bench_check(quern_array_transpose(&yt, y, NULL));
    quern_slice every_other[] = {QUERN_SLICE_ALL, {QUERN_SLICE_NONE, QUERN_SLICE_NONE, 2}};
    bench_check(quern_array_slice(&half_x, x, 2, every_other));
    bench_check(quern_array_slice(&half_y, y, 2, every_other));
    report("x.T + y float32", "z = x + y", xt, y);
    report("x.T + y.T float32", "z = x + y", xt, yt);
    report("x + row float32", "z = x + y", x, r);
    report("x + column float32", "z = x + y", x, c);
    report("x[:, ::2] + y[:, ::2] float32", "z = x + y", half_x, half_y);
    quern_array *all[] = {x, xt, half_x, half_y, y, yt, r, c};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        quern_array_release(all[k]);
    }
}

int main(int argc, char **argv)
{
    int64_t mib = argc > 1 ? atoll(argv[1]) : 1024, side = 32;
    while (side * side * 4 * 4 <= mib << 20) {
        side *= 2;
    }
    bench_check(quern_open(&engine, NULL));
    contiguous(mib << 20);
    bools(mib << 18);
    strided(side);
    quern_close(engine);
    return 0;
}
